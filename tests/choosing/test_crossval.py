"""The table against a loop over folds and lambdas, and what can be asked of it."""

import pickle
import sys
import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from pengp import penalized_path
from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable, cross_validate_path
from pengp.choosing.folds import FoldPlan, leave_one_out, make_folds, random_folds
from pengp.choosing.metrics import FOLD_METRICS, FoldMetric, MetricLike
from pengp.choosing.rules import one_se_index
from pengp.exceptions import InputError, PengpWarning
from pengp.model.means import MeanName
from pengp.path.grids import lambda_grid
from tests.problems import correlation, piston_slap_runs, smooth_runs

LAMS = np.array([0.02, 0.0, 0.3, 2.0])
TOL = 1e-8
ESTIMATES = ("theta", "nugget", "sigma2", "mean", "converged")


def precise_inverse(A: FloatArray) -> Any:
    """Return the inverse in long doubles: a plain one, improved by Newton's V <- V (2 I - A V)."""
    V = np.linalg.inv(A).astype(np.longdouble)
    for _ in range(2):
        V = V @ (2.0 * np.eye(len(A)) - A.astype(np.longdouble) @ V)
    return V


def slow_fold(
    X: FloatArray, y: FloatArray, train: Any, test: Any, theta: FloatArray, g: float, **model: Any
) -> dict[str, float]:
    """Return the metrics of one fold, prediction and formulas typed again with plain inverses."""
    n = len(train)
    both = correlation(X[np.r_[train, test]], theta, 0.0, model.get("kernel", "sqexp"))
    inverse = precise_inverse(both[:n, :n] + g * np.eye(n))
    r, one = both[n:, :n], np.ones(n)
    constant = model.get("mean") == "constant"
    mu = one @ inverse @ y[train] / (one @ inverse @ one) if constant else 0.0
    R = both[n:, n:] + g * np.eye(len(test)) - r @ inverse @ r.T
    if constant:
        u = 1.0 - r @ inverse @ one
        R = R + np.outer(u, u) / (one @ inverse @ one)
    sigma2 = (y[train] - mu) @ inverse @ (y[train] - mu) / n
    e = y[test] - mu - r @ inverse @ (y[train] - mu)
    R = R.astype(np.float64)
    dpe = e @ precise_inverse(R) @ e
    score = dpe / sigma2 + np.linalg.slogdet(float(sigma2) * R)[1]
    found = {"pe": e @ e, "md": dpe / sigma2, "score": score, "dpe": dpe, "root_dpe": dpe**0.5}
    found |= {"scaled_score": -score / len(test), "sigma2": sigma2, "mean": mu}
    return {name: float(value) for name, value in found.items()}


def assert_equals_a_loop(X: FloatArray, y: FloatArray, plan: FoldPlan, **model: Any) -> None:
    table = cross_validate_path(X, y, LAMS, folds=plan, random_state=3, **model)
    assert set(table.values) == set(FOLD_METRICS)
    for k, (train, test) in enumerate(plan):
        path = penalized_path(X[train], y[train], LAMS, random_state=3, **model)
        np.testing.assert_array_equal(table.theta[:, k], path.theta)
        for i in range(len(LAMS)):
            g = float(path.nugget[i])
            expected = slow_fold(X, y, train, test, path.theta[i], g, **model)
            for name in FOLD_METRICS:
                assert table.values[name][i, k] == pytest.approx(expected[name], rel=TOL, abs=TOL)
            assert table.nugget[i, k] == g
            assert table.sigma2[i, k] == pytest.approx(expected["sigma2"], rel=TOL)
            assert table.mean[i, k] == pytest.approx(expected["mean"], rel=TOL, abs=TOL)
    assert np.ptp(table.values["dpe"], axis=0).min() > 0.0  # lambda matters in every fold


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"isotropic": True, "penalty": "scad"},
        {"mean": "constant", "kernel": "matern52"},
        {"isotropic": True, "mean": "constant"},
        {"penalty": "scad", "nugget": 1e-4, "theta_bounds": (0.01, 50.0)},
        {"nugget": "estimate"},
    ],
)
def test_k_folds_of_unequal_sizes_equal_a_loop(model: dict[str, Any]) -> None:
    X, y = smooth_runs(11, 2)
    plan = random_folds(11, 3, random_state=0)
    assert len({len(test) for test in plan.test}) == 2
    assert_equals_a_loop(X, y, plan, **model)


@pytest.mark.parametrize("model", [{}, {"isotropic": True, "mean": "constant"}])
def test_leave_one_out_equals_a_loop(model: dict[str, Any]) -> None:
    X, y = smooth_runs(7, 2)
    assert_equals_a_loop(X, y, leave_one_out(7), **model)


def test_training_sets_smaller_than_the_rest_equal_a_loop() -> None:
    X, y = smooth_runs(10, 1)
    splitter = ShuffleSplit(3, train_size=6, test_size=2, random_state=0)
    assert_equals_a_loop(X, y, make_folds(splitter, X, y))


def test_groups_too_large_for_memory_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = smooth_runs(9, 2)
    whole = cross_validate_path(X, y, LAMS, folds="loo", random_state=0)
    monkeypatch.setattr("pengp.choosing.splits._GROUP_ELEMENTS", 200)
    assert_same(cross_validate_path(X, y, LAMS, folds="loo", random_state=0), whole)


def assert_same(a: CVTable, b: CVTable) -> None:
    """Assert equality to the bit."""
    assert list(a.values) == list(b.values)
    assert a.plan.to_dict() == b.plan.to_dict()
    for name in a.values:
        np.testing.assert_array_equal(a.values[name], b.values[name], strict=True)
        np.testing.assert_array_equal(a.mean_of(name), b.mean_of(name), strict=True)
    for name in ESTIMATES:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), strict=True)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_jobs_do_not_change_a_bit(backend: str) -> None:
    X, y = piston_slap_runs()
    settings: dict[str, Any] = {
        "folds": random_folds(12, 5, repeats=2, random_state=0),
        "random_state": 7,
    }
    lams = lambda_grid("paper", n=12)
    alone = cross_validate_path(X, y, lams, **settings)
    with joblib.parallel_config(backend=backend):
        for n_jobs in (2, 3):
            assert_same(cross_validate_path(X, y, lams, n_jobs=n_jobs, **settings), alone)


def test_dask_does_not_change_a_bit() -> None:
    distributed = pytest.importorskip("distributed")
    X, y = smooth_runs(9, 2)
    alone = cross_validate_path(X, y, LAMS, folds="loo", random_state=7)
    cluster = {"n_workers": 1, "threads_per_worker": 2, "processes": False}
    with distributed.Client(**cluster, dashboard_address=":0"), joblib.parallel_config("dask"):
        assert_same(cross_validate_path(X, y, LAMS, folds="loo", random_state=7, n_jobs=2), alone)


@pytest.mark.parametrize("mean", ["constant", "linear"])
def test_an_offset_costs_no_digits(mean: MeanName) -> None:
    X, y = smooth_runs(12, 2)
    X[6:8] = X[:2] + 1e-6  # almost the same runs, which make the metrics sensitive
    y = np.round(np.concatenate([y[:6], y[:2], y[8:]]) * 2**20) / 2**20  # y + 1e8 is no rounding
    tables = [
        cross_validate_path(X, y + offset, LAMS, folds=3, mean=mean, n_starts=2, random_state=0)
        for offset in (0.0, 1e8)
    ]
    for name, values in tables[0].values.items():
        assert np.allclose(tables[1].values[name], values, rtol=TOL, atol=0.0)
    assert np.allclose(tables[1].mean - 1e8, tables[0].mean, rtol=0.0, atol=1e-7)


def test_the_seed_makes_folds_and_starts() -> None:
    X, y = smooth_runs(9, 2)
    tables = [cross_validate_path(X, y, LAMS, folds=3, random_state=s) for s in (5, 5, 6)]
    assert_same(tables[0], tables[1])
    expected = make_folds(3, X, y, random_state=5)
    assert tables[0].plan.to_dict() == expected.to_dict() != tables[2].plan.to_dict()
    states: list[Any] = [np.random.default_rng(1), np.random.RandomState(1)]
    plans = [cross_validate_path(X, y, [0.1], folds=3, random_state=s).plan for s in states]
    assert plans[0].settings["seed"] == np.random.default_rng(1).integers(2**32)
    assert plans[1].settings["seed"] == np.random.RandomState(1).randint(2**31 - 1)


@pytest.mark.parametrize("folds", ["loo", "space-filling:3", "stratified:3", [0, 1, 2] * 3])
def test_all_kinds_of_folds_are_taken(folds: Any) -> None:
    X, y = smooth_runs(9, 2)
    table = cross_validate_path(X, y, [0.1], folds=folds, random_state=2)
    assert table.plan.to_dict() == make_folds(folds, X, y, random_state=2).to_dict()


def made_table(values: FloatArray, repeats: int = 1, greater: bool = False) -> CVTable:
    """Return a table with given values [L, K] of one metric, "m"."""
    L, K = values.shape
    labels = np.tile(np.arange(K // repeats), (repeats, 1))
    plan = make_folds(labels, np.zeros((K // repeats, 1)))
    blank = np.zeros((L, K))
    lams = np.array([0.5, 0.0, 2.0, 1.0])[:L]
    sure = np.ones((L, K), dtype=bool)
    return CVTable(
        lams, plan, {"m": values}, blank[..., None], blank, blank, blank, sure, {"m": greater}
    )


def test_mean_standard_error_and_rules_by_hand() -> None:
    # means 2, 1, 1.5, 5; SE at the best (lambda 0) is sd(0, 1, 2) / sqrt(3) = 0.577
    values = np.array([[1.0, 2, 3], [0, 1, 2], [1.5, 1.5, 1.5], [5, 5, 5]])
    table = made_table(values)
    np.testing.assert_allclose(table.mean_of("m"), [2.0, 1.0, 1.5, 5.0])
    np.testing.assert_allclose(table.se_of("m"), [3**-0.5, 3**-0.5, 0.0, 0.0], atol=1e-15)
    assert table.best("m") == table.select("m", "min") == 0.0
    assert table.one_se("m") == table.select("m", "1se") == 2.0  # beyond lambda 1, which is worse
    assert table.select("m", lambda lams, _: int(np.argmin(np.abs(lams - 1.0)))) == 1.0
    turned = made_table(-values, greater=True)
    assert (turned.best("m"), turned.one_se("m")) == (0.0, 2.0)
    assert made_table(values, greater=True).best("m") == 1.0


def test_repeats_do_not_shrink_the_standard_error() -> None:
    once = np.array([[1.0, 2, 3], [0, 1, 2], [1.4, 1.5, 1.6], [5, 5, 6]])
    table = made_table(np.tile(once, 100), repeats=100)
    np.testing.assert_allclose(table.se_of("m"), made_table(once).se_of("m"))
    assert one_se_index(table.lams, table.values["m"]) == 1  # as if 300 folds were independent
    assert table.one_se("m") == table.select("m", "1se") == made_table(once).one_se("m") == 2.0
    turned = made_table(-np.tile(once, 100), repeats=100, greater=True)
    assert turned.one_se("m") == 2.0


def test_the_standard_error_over_repeats_is_the_mean_of_theirs() -> None:
    values = np.array([[0.0, 2, 0, 0], [9, 9, 9, 9], [1, 1, 1, 1.2], [1, 1, 1, 1.6]])
    table = made_table(values, repeats=2)
    assert table.se_of("m")[0] == pytest.approx((1.0 + 0.0) / 2)
    assert table.best("m") == 0.5  # means 0.5, 9, 1.05, 1.15; the bound is 0.5 + 0.5
    assert table.one_se("m") == 0.5
    closer = values - np.array([[0.0], [0.0], [0.1], [0.0]])  # lambda 2: 0.95
    assert made_table(closer, repeats=2).one_se("m") == 2.0


def test_values_that_are_not_finite_in_repeats() -> None:
    values = np.array([[0.0, 2, 0, 0], [9, 9, 9, 9], [0, 1, np.inf, 1], [1, 1, 1, 1.2]])
    assert made_table(values, repeats=2).one_se("m") == 0.5
    values[:, 3] = np.nan  # a fold that says nothing is left out: means 2/3, 9, inf, 1
    with pytest.warns(PengpWarning, match=r"folds \[3\]"):
        assert made_table(values, repeats=2).one_se("m") == 1.0


def test_a_repeat_is_a_table_and_stability_one_call() -> None:
    X, y = piston_slap_runs()
    plan = random_folds(12, 4, repeats=3, random_state=1)
    lams = lambda_grid("paper", n=12)
    table = cross_validate_path(X, y, lams, folds=plan, random_state=0, isotropic=True)
    for r in range(3):
        alone = cross_validate_path(
            X, y, lams, folds=plan.repeat(r), random_state=0, isotropic=True
        )
        assert_same(table.repeat(r), alone)
        assert table.stability()[r] == alone.one_se()
        assert table.stability("pe", "min")[r] == alone.best("pe")
    by_repeat = np.mean([table.repeat(r).se_of("md") for r in range(3)], axis=0)
    np.testing.assert_allclose(table.se_of("md"), by_repeat, rtol=1e-12)
    with pytest.raises(InputError, match="repeat 3 does not exist"):
        table.repeat(3)


def small_table(metrics: Any = None) -> CVTable:
    """Return a table of two repeats of unequal folds."""
    X, y = smooth_runs(7, 2)
    plan = random_folds(7, 3, repeats=2, random_state=0)
    return cross_validate_path(X, y, LAMS, folds=plan, random_state=0, metrics=metrics)


def test_a_table_survives_pickling() -> None:
    table = small_table()
    assert_same(pickle.loads(pickle.dumps(table)), table)


def test_the_frame_holds_every_value_in_its_place() -> None:
    table = small_table()
    frame = table.to_frame()
    assert list(frame.columns) == ["lam", "repeat", "fold", "metric", "value"]
    assert len(frame) == len(FOLD_METRICS) * 4 * 6
    for name, values in table.values.items():
        mine = frame[frame["metric"] == name]
        wide = mine.pivot(index="lam", columns=["repeat", "fold"], values="value")
        splits = np.array(wide.columns.to_list())
        np.testing.assert_array_equal(splits, [(r, f) for r in range(2) for f in range(3)])
        np.testing.assert_array_equal(wide.loc[LAMS].to_numpy(), values)


def test_the_frame_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        small_table(["pe"]).to_frame()


def worst(r: FloatArray, R: FloatArray, sigma2: float) -> float:
    """Return the largest residual."""
    return float(np.abs(r).max())


def test_metrics_of_the_caller() -> None:
    closeness = FoldMetric("closeness", lambda parts: -(parts.r**2).sum(-1), greater_is_better=True)
    table = small_table(["pe", closeness, worst])
    assert table.greater_is_better == {"pe": False, "closeness": True, "worst": False}
    np.testing.assert_array_equal(table.values["closeness"], -table.values["pe"])
    larger = np.sqrt(table.values["pe"])
    assert (table.values["worst"] <= larger * (1 + 1e-12)).all()
    assert (table.values["worst"] >= larger / 2).all()
    assert table.best("closeness") == table.best("pe")
    assert table.one_se("closeness") == table.one_se("pe")
    np.testing.assert_array_equal(table.stability("closeness"), table.stability("pe"))
    assert list(small_table("dpe").values) == ["dpe"]


def test_a_registered_metric_is_computed_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FOLD_METRICS, "worst", FoldMetric.from_function(worst))
    assert "worst" in small_table().values


def test_metrics_of_the_caller_reach_other_processes() -> None:
    X, y = smooth_runs(8, 1)
    metrics: list[MetricLike] = [lambda r, R, sigma2: float(r.sum())]
    tables = [
        cross_validate_path(X, y, LAMS, folds="loo", random_state=0, metrics=metrics, n_jobs=jobs)
        for jobs in (None, 2)
    ]
    assert_same(*tables)


def test_a_column_that_is_constant_in_a_fold_only_raises_no_warning() -> None:
    X, y = smooth_runs(8, 2)
    X[:, 1] = 0.0
    X[:2, 1] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = cross_validate_path(X, y, LAMS, folds=[0, 0, 1, 1, 2, 2, 3, 3], random_state=0)
    np.testing.assert_array_equal(table.theta[:, 0, 1], 1e-3)
    assert (table.theta[:, 1:, 1] != 1e-3).any()


def test_a_training_set_equal_to_its_mean_has_no_spread() -> None:
    X, y = smooth_runs(6, 1)
    y[:4] = 0.5
    table = cross_validate_path(
        X, y, LAMS, folds=[0, 0, 0, 0, 1, 1], mean="constant", random_state=0
    )
    np.testing.assert_array_equal(table.sigma2[:, 1], 0.0)
    np.testing.assert_array_equal(table.mean[:, 1], 0.5)
    np.testing.assert_allclose(table.values["pe"][:, 1], ((y[4:] - 0.5) ** 2).sum())
    assert np.isposinf(table.values["md"][:, 1]).all()


def call_with(**changes: Any) -> Callable[[], CVTable]:
    """Return a call with one mistake in it."""
    X, y = smooth_runs(6, 1)
    settings = {"X": X, "y": y, "lams": LAMS, "folds": 3, "random_state": 0, **changes}
    return lambda: cross_validate_path(**settings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"folds": [0, 0, 0, 0, 0, 1]}, r"folds \[0\].*2 are needed"),
        ({"folds": leave_one_out(7)}, "made for 7 runs but the data have 6"),
        ({"folds": 7}, "only 6 runs"),
        ({"metrics": ["dpe", "rmsd"]}, "metric='rmsd' is unknown"),
        ({"metrics": ["dpe", "dpe"]}, "different names"),
        ({"metrics": []}, "one or more"),
        ({"y": np.zeros((2, 6))}, "one data set"),
        ({"y": np.zeros(5)}, "runs must match"),
        ({"lams": [-1.0]}, "from 0 to 1e.50, but lams holds -1"),
        ({"X": np.full((6, 1), 3.0)}, "unit cube"),
        ({"n_starts": 1.5}, "n_starts"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call_with(**changes)()


def test_a_metric_that_the_table_lacks_is_named() -> None:
    table = small_table(["pe"])
    for ask in (table.best, table.one_se, table.mean_of, table.se_of, table.stability):
        with pytest.raises(InputError, match=r"no metric 'dpe', only \['pe'\]"):
            ask("dpe")
    with pytest.raises(InputError, match="rule='2se' is unknown"):
        table.select("pe", "2se")  # type: ignore[arg-type]
