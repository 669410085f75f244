"""Model files: what is loaded is what was saved, bit for bit."""

import dataclasses
import json
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline

import pengp
from pengp import PenalizedGPRegressor, PenalizedGPRegressorCV, load, save
from pengp._core.arrays import FloatArray
from pengp.choosing.folds import FoldPlan, random_folds
from pengp.choosing.metrics import FOLD_METRICS, FoldMetric
from pengp.choosing.rules import RULES, one_se_index
from pengp.datasets import load_piston_slap
from pengp.exceptions import FileError, InputError, PengpWarning
from pengp.model.kernels import Matern32, SquaredExponential
from pengp.model.means import ConstantMean, LinearMean
from pengp.path.penalties import SCAD, Lasso
from pengp.persistence import read_info
from pengp.persistence.averages import LEFT_OUT, POSTERIOR, PREDICTION
from pengp.persistence.container import pack
from pengp.persistence.schema import MODEL, RUNS, TABLE
from pengp.persistence.state import to_state
from tests.problems import DATA

DOCS = Path(__file__).parents[2] / "docs"
LAMS = [0.0, 0.01, 0.1, 1.0]
Maker = Callable[[], Any]


def runs(d: int = 3) -> tuple[FloatArray, FloatArray]:
    """Return 11 runs with d inputs, in units of their own."""
    X = np.random.default_rng(7).random((11, d))
    return 40.0 + 10.0 * X, 1e3 * (np.sin(5.0 * X[:, 0]) + X[:, -1] ** 2)


def frame() -> tuple[pd.DataFrame, FloatArray]:
    """Return the runs in a frame, whose columns lie one after the other in memory."""
    X, y = runs()
    return pd.DataFrame(X, columns=["speed", "Höhe", "a, b"]), y


def wide_frame() -> tuple[pd.DataFrame, FloatArray]:
    """Return runs with so many inputs that sums over them depend on how they lie in memory."""
    X, y = runs(20)
    return pd.DataFrame(X, columns=[f"x{p}" for p in range(20)]), y


def two_outputs() -> tuple[FloatArray, FloatArray]:
    """Return the runs with two responses."""
    X, y = runs()
    return X, np.column_stack([y, X[:, 1] ** 2])


def fitted(X: Any, y: Any, **settings: Any) -> PenalizedGPRegressor:
    """Return a fitted model."""
    settings = {"lam": 0.1, "random_state": 1, **settings}
    return PenalizedGPRegressor(**settings).fit(X, y)


def fitted_cv(X: Any, y: Any, **settings: Any) -> PenalizedGPRegressorCV:
    """Return a model whose lambda was chosen from a few."""
    settings = {"lams": LAMS, "cv": 4, "random_state": 1, **settings}
    return PenalizedGPRegressorCV(**settings).fit(X, y)


def with_constants(several: bool) -> Any:
    """Return a model of a constant column, and of a constant response alone or among others."""
    X, y = runs()
    X[:, 1] = 5.0
    constant = np.full(len(y), 2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)
        return fitted_cv(X, np.column_stack([y, constant]) if several else constant)


def conditioned() -> Any:
    """Return a model in a frame's units that learned further runs at another lambda."""
    X, y = frame()
    model = fitted_cv(X[:9], y[:9], mean="constant", input_bounds=[[40.0, 50.0]] * 3)
    return model.at_lambda(0.01).condition_on(X[9:], y[9:])


MODELS: dict[str, Maker] = {
    "plain": lambda: fitted(*runs()),
    "cv": lambda: fitted_cv(*runs()),
    "frame": lambda: fitted_cv(*frame()),
    "wide frame": lambda: fitted(*wide_frame(), lam=0.01),
    "two outputs": lambda: fitted_cv(*two_outputs(), cv="stratified:3"),
    "two outputs, no cv": lambda: fitted(*two_outputs(), mean="constant"),
    "one column of outputs": lambda: fitted(runs()[0], runs()[1][:, None]),
    "constants": lambda: with_constants(False),
    "constants among others": lambda: with_constants(True),
    "matern52, scad": lambda: fitted(*frame(), kernel="matern52", penalty=SCAD(a=4.5)),
    "matern32, ridge": lambda: fitted_cv(*runs(), kernel=Matern32(), penalty="ridge"),
    "no penalty": lambda: fitted(*runs(), penalty="none", nugget=np.float64(1e-6)),
    "isotropic": lambda: fitted_cv(*runs(), isotropic=True, metric="score", rule="min"),
    "nugget": lambda: fitted(*runs(), nugget="estimate", mean="constant"),
    "linear mean": lambda: fitted_cv(*frame(), mean="linear"),
    "mean with a prior": lambda: fitted(*runs(), mean=LinearMean(variance=2.0)),
    "one input": lambda: fitted(*runs(1), n_starts=np.array([[0.5], [2.0]])),
    "arrays": lambda: fitted_cv(
        *runs(), lams=np.array(LAMS), input_bounds=np.array([[30.0, 60.0]] * 3), nugget=1e-4
    ),
    "repeats": lambda: fitted_cv(*runs(), cv=random_folds(11, 3, repeats=2, random_state=3)),
    "at another lambda": lambda: fitted_cv(*frame()).at_lambda(1.0),
    "conditioned": conditioned,
    "more runs than Newton takes": lambda: fitted(
        np.random.default_rng(0).random((101, 2)), np.arange(101.0) ** 0.5, n_starts=2
    ),
}


@pytest.fixture(scope="module", params=MODELS, ids=lambda name: name)
def model(request: pytest.FixtureRequest) -> Any:
    return MODELS[request.param]()


def round_trip(model: Any, tmp_path: Path) -> Any:
    """Return the model as it comes back from a file."""
    save(model, tmp_path / "model.pengp")
    return load(tmp_path / "model.pengp")


def assert_same(a: Any, b: Any, where: str = "it") -> None:
    """Assert that two results are of one type and have the same bits, all the way down."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), where
        assert a.tobytes() == b.tobytes() if a.dtype != object else (a == b).all(), where
    elif dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_same(a[key], b[key], f"{where}[{key}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for k, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_same(one, other, f"{where}[{k}]")
    else:
        assert a == b or repr(a) == repr(b), where


def new_inputs(model: Any, m: int) -> Any:
    """Return m inputs, named if the model's are."""
    low, high = model.X_train_.min(0) - 1.0, model.X_train_.max(0) + 1.0
    X = low + np.random.default_rng(m).random((m, len(low))) * (high - low)
    names = getattr(model, "feature_names_in_", None)
    return X if names is None else pd.DataFrame(X, columns=list(names))


def answers(model: Any) -> dict[str, Any]:
    """Return everything that a model can be asked, with few and with many new inputs."""
    few, many = new_inputs(model, 3), new_inputs(model, 150)
    return {
        "few": model.predict(few, return_std=True),
        "many": model.predict(many, return_std=True),
        "mean": model.predict(many),
        "cov": model.predict(few, return_cov=True),
        "interval": model.predict_interval(few, 0.9),
        "gradient": model.predict_gradient(many),
        "sample": model.sample_y(few, n_samples=4, random_state=5),
        "modes": model.modes_,
        "flat": model.flat_,
        "flat along the path": model.path_.flat,
        "loo": model.loo_,
    }


def test_a_loaded_model_has_the_same_attributes_and_parameters(model: Any, tmp_path: Path) -> None:
    loaded = round_trip(model, tmp_path)
    assert set(vars(loaded)) == set(vars(model))
    for name, value in vars(model).items():
        assert_same(value, getattr(loaded, name), name)
    assert str(loaded) == str(model)


def test_a_loaded_model_gives_the_same_answers(model: Any, tmp_path: Path) -> None:
    assert_same(answers(model), answers(round_trip(model, tmp_path)))


def test_a_loaded_model_goes_on_like_the_saved_one(model: Any, tmp_path: Path) -> None:
    loaded, few = round_trip(model, tmp_path), new_inputs(model, 3)
    lam = float(model.path_.lams[-1])
    assert_same(answers(model.at_lambda(lam)), answers(loaded.at_lambda(lam)))
    if model.input_bounds is None and not model._surrogate.response.constant.any():
        y = model.predict(few) + 1.0
        before, after = (m.condition_on(few, y) for m in (model, loaded))
        assert_same(answers(before), answers(after))
        assert_same(before.mean_, after.mean_)


def test_a_loaded_table_gives_the_same_answers(model: Any, tmp_path: Path) -> None:
    found = [getattr(m, "cv_table_", None) for m in (model, round_trip(model, tmp_path))]
    tables = [t if isinstance(t, list) else [t] for t in found]
    for a, b in ((a, b) for a, b in zip(*tables, strict=True) if a is not None):
        for metric in FOLD_METRICS:
            for ask in ("mean_of", "se_of", "best", "one_se", "select", "stability"):
                assert_same(getattr(a, ask)(metric), getattr(b, ask)(metric), f"{ask} {metric}")
        assert_same(list(a.plan), list(b.plan))
        assert_same(a.repeat(0), b.repeat(0))
        pd.testing.assert_frame_equal(a.to_frame(), b.to_frame(), check_exact=True)


def test_the_same_model_gives_the_same_bytes(model: Any, tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{k}.pengp" for k in range(3))
    save(model, first, info={"response": "y"})
    save(model, second, info={"response": "y"})
    save(load(first), third, info={"response": "y"})
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()


def test_a_loaded_model_can_be_fitted_again(tmp_path: Path) -> None:
    model = fitted_cv(*frame())
    loaded: Any = round_trip(model, tmp_path)
    again = clone(loaded).fit(*frame())
    for name, value in vars(model).items():
        assert_same(value, getattr(again, name), name)


def test_loaded_arrays_belong_to_the_model(tmp_path: Path) -> None:
    loaded = round_trip(fitted(*runs()), tmp_path)
    again = load(tmp_path / "model.pengp")
    loaded.X_train_[:] = 0.0
    assert not np.array_equal(loaded.X_train_, again.X_train_)


def test_a_new_process_gives_the_same_bits(tmp_path: Path) -> None:
    model = fitted_cv(*frame(), mean="constant")
    few = new_inputs(model, 40)
    few.to_pickle(tmp_path / "few")
    save(model, tmp_path / "model.pengp")
    code = (
        "import sys, pandas, pengp; model = pengp.load('model.pengp');"
        "mean, std = model.predict(pandas.read_pickle('few'), return_std=True);"
        "sys.stdout.buffer.write(mean.tobytes() + std.tobytes() + model.sample_y("
        "pandas.read_pickle('few')).tobytes())"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    mean, std = model.predict(few, return_std=True)
    assert done.stdout == mean.tobytes() + std.tobytes() + model.sample_y(few).tobytes()


def test_what_is_shown_is_what_predicts(tmp_path: Path) -> None:
    # Each fact stands in the file once, so that a changed theta changes all that follows from it.
    model = fitted(*runs())
    header, arrays = to_state(model)
    arrays["path.theta"] = 2.0 * arrays["path.theta"]
    arrays["modes.theta"] = 2.0 * arrays["modes.theta"]
    (tmp_path / "model.pengp").write_bytes(pack({"pengp": "", "info": {}, **header}, arrays))
    loaded: Any = load(tmp_path / "model.pengp")
    np.testing.assert_array_equal(loaded.theta_, 2.0 * model.theta_)
    np.testing.assert_allclose(loaded.lengthscale_, model.lengthscale_ / np.sqrt(2.0))
    posterior = loaded._surrogate.posteriors[0]
    np.testing.assert_array_equal(posterior.theta, loaded.theta_)
    s = (loaded.theta_ * (posterior.X[:, None] - posterior.X) ** 2).sum(-1)
    R = np.exp(-s) + posterior.nugget * np.eye(len(s))
    np.testing.assert_allclose(posterior.L @ posterior.L.T, R, atol=1e-14)


@pytest.mark.parametrize("sizes", [(1,), (2, 1), (1, 1, 3)])
def test_runs_learned_later_come_back_with_the_same_bits(
    sizes: tuple[int, ...], tmp_path: Path
) -> None:
    model = fitted_cv(*runs(), mean="constant")
    rng = np.random.default_rng(len(sizes))
    for size in sizes:
        model = model.condition_on(new_inputs(model, 40)[:size] + rng.random(1), rng.random(size))
    X = new_inputs(model, 50)
    for known in (model, model.at_lambda(model.path_.lams[1])):
        again = round_trip(known, tmp_path)
        for one, other in zip(known.predict(X, True), again.predict(X, True), strict=True):
            assert one.tobytes() == other.tobytes()


INFO = {
    "response": "noise, dB",
    "source": "Läufe/\udcff.csv",
    "seed": 3,
    "created": "2031-01-02T03:04:05Z",
    "command": ["fit", "--lam", 0.1],
    "nested": {"z": None, "a": [True, 1.5e-300, 2**70]},
}


def test_info_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "model.pengp"
    save(fitted_cv(*runs()), path, info=INFO)
    about = read_info(path)
    assert about["info"] == INFO
    assert list(about["info"]) == list(INFO)
    assert about["class_name"] == "PenalizedGPRegressorCV"
    assert about["pengp_version"] == pengp.__version__
    assert about["format_version"] == 2
    save(fitted(*runs()), path)
    assert read_info(path)["info"] == {}
    assert read_info(path)["class_name"] == "PenalizedGPRegressor"


@pytest.mark.parametrize(
    "info", [{"a": {1, 2}}, {1: "a"}, {"a": (1, 2)}, {"a": np.nan}, {"a": Path("b")}]
)
def test_info_that_would_come_back_changed_is_refused(info: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^info must hold only what JSON can"):
        save(fitted(*runs()), tmp_path / "model.pengp", info=info)
    assert not list(tmp_path.iterdir())


def test_endless_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"take 5\.0 MB as text.*shorten info"):
        save(fitted(*runs()), tmp_path / "model.pengp", info={"a": "b" * 5_000_000})


def my_metric(r: FloatArray, R: FloatArray, sigma2: float) -> float:
    """Return the largest residual."""
    return float(np.abs(r).max())


def my_rule(lams: FloatArray, values: FloatArray) -> int:
    """Choose the second lambda."""
    return 1


class MyKernel(SquaredExponential):
    """A kernel that the package does not know."""


class MyMean(ConstantMean):
    """A mean that the package does not know."""


def my_basis(X: FloatArray) -> FloatArray:
    """Return a basis that the package does not know."""
    return X[:, :1] ** 2


class MyPenalty(Lasso):
    """A penalty that the package does not know."""


def test_of_the_callers_own_metric_and_rule_the_name_is_kept(tmp_path: Path) -> None:
    model = fitted_cv(*runs(), metric=my_metric, rule=my_rule)
    loaded: Any = round_trip(model, tmp_path)
    assert loaded.lam_ == LAMS[1]
    assert loaded.metric == "my_metric"
    assert loaded.rule == "my_rule"
    assert_same(model.cv_table_, loaded.cv_table_)
    assert_same(model.cv_table_.mean_of("my_metric"), loaded.cv_table_.mean_of("my_metric"))
    assert_same(answers(model), answers(loaded))
    with pytest.raises(InputError, match="metric='my_metric' is unknown"):
        clone(loaded).fit(*runs())
    with pytest.raises(InputError, match="rule='my_rule' is unknown"):
        clone(loaded).set_params(metric="pe").fit(*runs())


def test_pengps_own_metric_and_rule_come_back_as_objects(tmp_path: Path) -> None:
    model = fitted_cv(*runs(), metric=FOLD_METRICS["pe"], rule=one_se_index)
    loaded: Any = round_trip(model, tmp_path)
    assert loaded.metric is FOLD_METRICS["pe"]
    assert loaded.rule is RULES["1se"]


def test_a_name_that_would_be_taken_for_pengps_own_is_refused(tmp_path: Path) -> None:
    def dpe(r: FloatArray, R: FloatArray, sigma2: float) -> float:
        return float(r @ r)

    with pytest.raises(InputError, match="metric is a function of your own that is called 'dpe'"):
        save(fitted_cv(*runs(), metric=dpe), tmp_path / "model.pengp")
    greater = FoldMetric.from_function(my_metric, name="md")
    with pytest.raises(InputError, match="called 'md'"):
        save(fitted_cv(*runs(), metric=greater), tmp_path / "model.pengp")


@pytest.mark.parametrize("cv", [KFold(3), TimeSeriesSplit(3), iter(KFold(3).split(runs()[0]))])
def test_of_a_splitter_the_folds_are_kept(cv: Any, tmp_path: Path) -> None:
    model = fitted_cv(*runs(), cv=cv)
    loaded: Any = round_trip(model, tmp_path)
    assert_same(loaded.cv, model.cv_table_.plan)
    again = clone(loaded).fit(*runs())
    assert_same(again.cv_table_.values, model.cv_table_.values)


@pytest.mark.parametrize(
    ("cv", "back"),
    [
        (np.arange(11) % 3, np.arange(11) % 3),
        (np.arange(11, dtype=np.uint8) % 3, np.arange(11) % 3),
        (pd.Series(["b", "a"] * 5 + ["b"]), np.array(["b", "a"] * 5 + ["b"], dtype=object)),
        ([(np.arange(8), np.arange(8, 11))], [(np.arange(8), np.arange(8, 11))]),
        (list("abababababa"), list("abababababa")),
        (np.int64(4), np.int64(4)),
    ],
)
def test_folds_that_are_data_are_kept(cv: Any, back: Any, tmp_path: Path) -> None:
    loaded: Any = round_trip(fitted_cv(*runs(), cv=cv), tmp_path)
    assert_same(loaded.cv, back)


def test_a_generator_becomes_none(tmp_path: Path) -> None:
    for random_state in (np.random.default_rng(1), np.random.RandomState(1)):
        loaded = round_trip(fitted(*runs(), random_state=random_state), tmp_path)
        assert loaded.random_state is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": MyKernel()}, "parameter kernel is a MyKernel, .* use one of sqexp, matern52"),
        ({"mean": my_basis}, "parameter mean is a BasisMean, .* use one of zero, constant, linear"),
        ({"mean": MyMean()}, "parameter mean is a MyMean, .* use one of zero, constant, linear"),
        ({"penalty": MyPenalty()}, "parameter penalty is a MyPenalty, .* use one of none, lasso"),
    ],
)
def test_code_that_the_model_needs_is_refused(settings: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        save(fitted(*runs(), **settings), tmp_path / "model.pengp")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": MyKernel()}, "parameter kernel is a MyKernel"),
        ({"lams": range(3)}, "parameter lams is a range"),
        ({"lams": np.array([1j])}, "parameter lams is a ndarray"),
        ({"lams": np.array([np.inf])}, "parameter lams is a ndarray"),
        ({"lams": [np.nan]}, "parameter lams is nan"),
        ({"n_starts": np.array([2**64 - 1], dtype=np.uint64)}, "parameter n_starts"),
        ({"cv": random_folds(30, 3)}, "cv holds folds for 30 runs, but the model was fitted to 11"),
        ({"cv": FoldPlan(11, (np.arange(3),), settings={"a": {1}})}, "settings of the folds"),
    ],
)
def test_parameters_changed_later_are_refused_by_name(
    settings: Any, words: str, tmp_path: Path
) -> None:
    model = fitted_cv(*runs()).set_params(**settings)
    with pytest.raises(InputError, match=words):
        save(model, tmp_path / "model.pengp")


def test_what_is_no_fitted_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the model is not fitted.*call fit first"):
        save(PenalizedGPRegressorCV(), tmp_path / "model.pengp")
    others: Iterable[Any] = (
        make_pipeline(fitted(*runs())),
        None,
        type("Sub", (PenalizedGPRegressor,), {})(),
    )
    for other in others:
        with pytest.raises(InputError, match=f"not a {type(other).__name__}"):
            save(other, tmp_path / "model.pengp")


def test_an_unsound_fit_is_not_saved(tmp_path: Path) -> None:
    model = fitted(*runs())
    model.path_.theta[0, 0] = np.nan
    with pytest.raises(InputError, match=r"the fit is not sound.*path\.theta"):
        save(model, tmp_path / "model.pengp")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nowhere.model\.pengp: its directory does not exist"):
        save(fitted(*runs()), tmp_path / "nowhere" / "model.pengp")


def test_the_stored_model_of_version_1_predicts_what_it_did(tmp_path: Path) -> None:
    expected = json.loads((DATA / "model_v1.json").read_text())
    shutil.copy(DATA / "model_v1.pengp", tmp_path)
    model: Any = load(tmp_path / "model_v1.pengp")
    X = pd.DataFrame(expected["X"], columns=expected["names"])
    mean, std = model.predict(X, return_std=True)
    found = {
        "mean": mean,
        "std": std,
        "gradient": model.predict_gradient(X),
        "loo": model.loo_.mean,
        "theta": model.theta_,
        "lengthscale": model.lengthscale_,
        "dpe": model.cv_table_.mean_of("dpe"),
        "modes": model.modes_.objective[: model.modes_.count],
        "flat": model.flat_.upper,
        "mean at 0": model.at_lambda(0.0).predict(X),
    }
    for name, value in found.items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-12, err_msg=name)
    runs = load_piston_slap()
    assert np.array_equal(model.X_train_, runs.X)
    assert np.array_equal(model.y_train_, runs.y)
    assert list(model.feature_names_in_) == expected["names"] == list(runs.input_names)
    given = {"metric": "dpe", "rule": "1se", **expected["parameters"]}  # defaults then
    assert model.get_params() == PenalizedGPRegressorCV(**given).get_params()
    assert read_info(DATA / "model_v1.pengp") == expected["about"]


def test_the_documentation_lists_every_array() -> None:
    page = (DOCS / "model-files.md").read_text()
    named = {f"tables.k.{n}": f for n, f in TABLE.items()}
    averaged = PREDICTION | POSTERIOR | LEFT_OUT
    named |= {f"outputs.k.{n}": f for n, f in averaged.items()}
    for name, field in (RUNS | MODEL | named).items():
        shape = ", ".join(field.shape.split())
        assert f"| `{name}` | {field.type}{8 if field.type != 'b' else 1} | `[{shape}]` |" in page
