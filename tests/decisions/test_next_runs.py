"""Next runs against slow references: runs that are added, formulas by hand, batches one by one."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import erf
from scipy.stats import norm, qmc
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pengp import (
    BayesianGPRegressor,
    PenalizedGPRegressor,
    get_function,
    latin_hypercube,
    load_piston_slap,
    scale_design,
)
from pengp.decisions import next_runs
from pengp.decisions.beliefs import conditioned
from pengp.decisions.candidates import separable
from pengp.decisions.criteria import (
    between_over_within,
    integrated_variance_fall,
    log_expected_improvement,
    vigf,
)
from pengp.decisions.goals import explanations_of
from pengp.decisions.processes import Processes, processes_of
from pengp.estimators.view import view_of
from pengp.exceptions import InputError, PengpWarning

FUNCTION = get_function("franke")
X = latin_hypercube(9, 2, random_state=3)
Y = FUNCTION(scale_design(X, FUNCTION.bounds))
NEW = latin_hypercube(40, 2, random_state=4)


@pytest.fixture(scope="module")
def average() -> BayesianGPRegressor:
    return BayesianGPRegressor(input_bounds=[(0, 1), (0, 1)], random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def processes(average: BayesianGPRegressor) -> Processes:
    return processes_of(average)


@pytest.fixture(scope="module")
def penalized() -> PenalizedGPRegressor:
    return PenalizedGPRegressor(lam=0.01, mean="constant", random_state=0).fit(X, Y)


@pytest.mark.parametrize("which", ["average", "penalized"])
def test_fall_is_what_adding_the_run_takes_away(which: str, request: pytest.FixtureRequest) -> None:
    model = processes_of(request.getfixturevalue(which))
    reference = qmc.Sobol(2, scramble=False).random(64)
    fall = integrated_variance_fall(reference)(model, NEW[:5])

    def variance(some: Processes) -> float:
        squares = some.means_and_scales(reference)[1]
        return float((some.weight @ (some.inflation * squares)).mean())

    for x, value in zip(NEW[:5], fall, strict=True):
        after = variance(conditioned(model, x[None], np.array([1.234])))
        assert variance(model) - after == pytest.approx(value, rel=1e-6)


def test_fall_of_a_squared_exponential_is_the_closed_form() -> None:
    found = processes_of(
        PenalizedGPRegressor(lam=0.01, random_state=0, input_bounds=[(0, 1), (0, 1)]).fit(X, Y)
    )
    (process,) = found.components
    reference = (qmc.Sobol(2, scramble=False).random(1 << 14) + 0.3) % 1.0
    points = np.concatenate([process.X, NEW[:3]])
    W = np.ones((len(points), len(points)))  # E k(Z, a) k(Z, b), input by input
    for p, theta in enumerate(process.theta):
        a, root = points[:, p], np.sqrt(2.0 * theta)
        centre = 0.5 * (a[:, None] + a)
        ends = erf(root * (1.0 - centre)) + erf(root * centre)
        W *= np.exp(-0.5 * theta * (a[:, None] - a) ** 2) * np.sqrt(np.pi) / (2.0 * root) * ends
    n = len(process.X)
    for k in range(n, len(points)):
        r = np.exp(-((points[k] - process.X) ** 2) @ process.theta)
        a = np.linalg.solve(process.L.T, np.linalg.solve(process.L, r))
        numerator = W[k, k] - 2.0 * a @ W[:n, k] + a @ W[:n, :n] @ a
        expected = process.sigma2 * numerator / (1.0 - r @ a + process.nugget)
        value = integrated_variance_fall(reference)(found, points[[k]])[0]
        assert value == pytest.approx(expected, rel=2e-3)


def test_vigf_by_hand(processes: Processes) -> None:
    expected = 0.0
    x = NEW[0]
    near = processes.y[int(np.argmin(((processes.X - x) ** 2).sum(1)))]
    n = len(processes.y)
    for w, process in zip(processes.weight, processes.components, strict=True):
        mean, scaled = process.predict(x[None])
        v = n / (n - 2.0) * process.sigma2 * (scaled[0] - process.nugget)
        expected += w * (4.0 * v * (mean[0] - near) ** 2 + 2.0 * v**2)
    assert vigf(processes, x[None])[0] == pytest.approx(expected, rel=1e-9)


def test_expected_improvement_is_that_of_draws(processes: Processes) -> None:
    draws = processes.draws(NEW, 40_000, np.random.default_rng(0))
    for sign, target in ((1.0, None), (-1.0, None), (1.0, 0.2)):
        score = sign * draws if target is None else np.abs(draws - target)
        known = sign * processes.y if target is None else np.abs(processes.y - target)
        gain = np.maximum(known.min() - score, 0.0)
        often = (gain > 0.0).sum(0) > 100  # seldom enough, the mean of draws says nothing
        assert often.sum() > 3
        found = np.exp(log_expected_improvement(sign, target)(processes, NEW))
        error = gain.std(0) / np.sqrt(len(gain))
        assert (np.abs(found - gain.mean(0))[often] < 5.0 * error[often]).all()


def test_spread_of_two_explanations_by_hand(processes: Processes) -> None:
    two = replace(processes, components=processes.components[:2], weight=np.array([0.25, 0.75]))
    means, squares = two.means_and_scales(NEW[:4])
    noise = [p.sigma2 * p.nugget for p in two.components]
    between = 0.25 * 0.75 * (means[0] - means[1]) ** 2
    within = 0.25 * (two.inflation * squares[0] + noise[0])
    within += 0.75 * (two.inflation * squares[1] + noise[1])
    np.testing.assert_allclose(between_over_within(two, NEW[:4]), between / within, rtol=1e-9)


@pytest.mark.parametrize("method", ["average", "penalized"])
def test_modes_of_both_kinds_of_fit_are_told_apart(method: str) -> None:
    runs = load_piston_slap()
    model = (
        BayesianGPRegressor(random_state=0)
        if method == "average"
        else PenalizedGPRegressor(lam=0.2, random_state=0)
    ).fit(runs.X, runs.y)
    known = processes_of(model)
    apart = explanations_of(view_of(model), known)
    assert len(apart.weight) > 1
    assert apart.weight.sum() == pytest.approx(1.0)
    found = next_runs(model, 1, goal="modes")
    x = known.to_unit(found.X)
    best = between_over_within(apart, x)[0]
    assert found.value[0] == pytest.approx(best, rel=1e-9)
    assert best >= between_over_within(apart, np.random.default_rng(1).random((500, 6))).max()
    # Once the run is believed, little is left to tell apart there.
    after = conditioned(apart, x, apart.weight @ apart.means(x))
    means, still = apart.means(x)[:, 0], after.means(x)[:, 0]
    assert np.ptp(still) < 0.01 * np.ptp(means)


@pytest.mark.parametrize("goal", ["accuracy", "optimum", "threshold"])
def test_a_batch_is_one_run_after_the_other(average: BayesianGPRegressor, goal: str) -> None:
    options: dict[str, Any] = {"threshold": 0.4} if goal == "threshold" else {}
    options |= {"goal": goal, "candidates": NEW}
    batch = next_runs(average, 3, **options)
    assert len({tuple(x) for x in batch.X}) == 3
    first = next_runs(average, 1, **options)
    np.testing.assert_array_equal(first.X, batch.X[:1])
    for k in (1, 2):
        then = next_runs(average, 1, planned=batch.X[:k], **options)
        np.testing.assert_array_equal(then.X, batch.X[k : k + 1])
        assert then.value[0] == pytest.approx(batch.value[k], rel=1e-9)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize(
    ("where", "limit"), [("x1 < 0.6", 0.6), ("x1 < 0.4", 0.4), ("x1 < 0.05", 0.05)]
)
def test_the_run_to_beat_meets_the_conditions(where: str, limit: float, maximize: bool) -> None:
    """Only x1 < 0.05 is met by no run; there the best of the means is to be beaten."""
    model = PenalizedGPRegressor(lam=0.01, random_state=0, input_bounds=[(0, 1), (0, 1)]).fit(X, Y)
    many = latin_hypercube(400, 2, random_state=6)
    allowed, sign = many[many[:, 0] < limit], -1.0 if maximize else 1.0
    known = processes_of(model)
    means, squares = known.means_and_scales(allowed)
    met = X[:, 0] < limit
    assert met.any() == (limit > 0.05)
    to_beat = (sign * (known.y[met] if met.any() else means[0])).min()
    s = np.sqrt(squares[0])
    z = (to_beat - sign * means[0]) / s
    improvement = s * (z * norm.cdf(z) + norm.pdf(z))
    options: dict[str, Any] = {"goal": "optimum", "maximize": maximize, "where": where}
    found = next_runs(model, 2, candidates=many, **options)
    np.testing.assert_allclose(found.X[0], allowed[improvement.argmax()])
    assert found.value[0] == pytest.approx(np.log(improvement.max()), abs=1e-6)
    then = next_runs(model, 1, candidates=many, planned=found.X[:1], **options)
    np.testing.assert_allclose(then.X[0], found.X[1])


def test_a_target_is_come_close_to_where_the_conditions_are_met() -> None:
    model = PenalizedGPRegressor(lam=0.01, random_state=0, input_bounds=[(0, 1), (0, 1)]).fit(X, Y)
    many = latin_hypercube(400, 2, random_state=6)
    allowed, known = many[many[:, 0] < 0.4], processes_of(model)
    target = (0.172 - known.origin) / known.unit  # the response of a run with x1 = 0.7
    nearest = np.abs(known.y[X[:, 0] < 0.4] - target).min()
    draws = known.draws(allowed, 40_000, np.random.default_rng(0))
    gain = np.maximum(nearest - np.abs(draws - target), 0.0).mean(0)
    found = next_runs(model, 1, goal="optimum", target=0.172, where="x1 < 0.4", candidates=many)
    assert np.exp(found.value[0]) == pytest.approx(gain.max(), rel=0.02)


def test_candidates_are_judged_by_all_that_there_are(average: BayesianGPRegressor) -> None:
    found = next_runs(average, 1, candidates=NEW, criterion="VIGF")
    processes = processes_of(average)
    value = vigf(processes, NEW)
    # Few processes stand for all: what they choose is nearly the best for all of them.
    chosen = int(np.argmin(np.abs(NEW - found.X).sum(1)))
    assert value[chosen] >= 0.9 * value.max()


def test_search_beats_the_points_it_starts_from(average: BayesianGPRegressor) -> None:
    free, tied = next_runs(average, 1), next_runs(average, 1, candidates=NEW)
    assert free.value[0] > tied.value[0]


def test_planned_failed_and_forbidden_places_are_kept_away_from(
    average: BayesianGPRegressor,
) -> None:
    many = latin_hypercube(300, 2, random_state=5)
    first = next_runs(average, 1, candidates=many)
    cases: list[tuple[dict[str, Any], float]] = [
        ({"planned": first.X}, 0.01),
        ({"avoid": first.X, "radius": 0.2}, 0.2),
        ({"where": f"x1 {'>' if first.X[0, 0] < 0.5 else '<'} 0.5"}, 0.0),
    ]
    for options, least in cases:
        other = next_runs(average, 1, candidates=many, **options)
        assert np.linalg.norm(other.X - first.X) > least
    left = next_runs(average, 1, where=["x1 + x2 <= 0.5", "x1 >= 0.2"])
    assert left.X.sum() <= 0.5
    assert left.X[0, 0] >= 0.2
    fewer = next_runs(average, 1, candidates=many, planned=NEW[:3])
    assert fewer.steps[0].width < first.steps[0].width


def test_widths_fall_with_more_runs(average: BayesianGPRegressor) -> None:
    steps = next_runs(average, 2).steps
    assert [step.runs for step in steps] == [0, 1, 2, 4, 8]
    assert (np.diff([step.width for step in steps]) < 0.0).all()
    middles = (np.arange(16) + 0.5) / 16.0
    grid = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    lower, upper = average.predict_interval(grid)
    assert steps[0].width == pytest.approx((upper - lower).mean(), rel=0.05)


def test_runs_that_the_nugget_cannot_separate_are_not_proposed(
    average: BayesianGPRegressor, processes: Processes
) -> None:
    close = X + 1e-9
    assert not separable(processes, close).any()
    assert separable(processes, NEW).all()
    found = next_runs(average, 1, candidates=np.concatenate([close, NEW[:1]]))
    np.testing.assert_array_equal(found.X, NEW[:1])
    with pytest.raises(InputError, match="closer to a run than the nugget can separate"):
        next_runs(average, 1, candidates=close)


def test_units_and_pipelines_do_not_matter() -> None:
    low, width = np.array([100.0, -3.0]), np.array([50.0, 0.02])
    frame = pd.DataFrame(low + width * X, columns=["a", "b"])
    bounds = np.column_stack([low, low + width])
    plain = BayesianGPRegressor(input_bounds=[(0, 1), (0, 1)], random_state=0).fit(X, Y)
    named = BayesianGPRegressor(input_bounds=bounds, random_state=0).fit(frame, 7.0 + 1e4 * Y)
    one, other = next_runs(plain, 2), next_runs(named, 2)
    assert other.names == ("a", "b")
    np.testing.assert_allclose((other.X - low) / width, one.X, atol=1e-6)
    np.testing.assert_allclose(other.mean, 7.0 + 1e4 * one.mean, rtol=1e-6)
    frame_of = other.to_frame()
    assert list(frame_of) == ["a", "b", "response_mean", "response_std", "value"]
    pipeline = make_pipeline(StandardScaler(), BayesianGPRegressor(random_state=0)).fit(frame, Y)
    proposed = next_runs(pipeline, 1).X[0]
    assert (frame.min().to_numpy() <= proposed).all()
    assert (proposed <= frame.max().to_numpy()).all()


def test_a_constant_input_keeps_its_value() -> None:
    X3 = np.column_stack([X, np.full(len(X), 2.5)])
    model = BayesianGPRegressor(input_bounds=[(0, 1), (0, 1), (0, 10)], random_state=0)
    with pytest.warns(PengpWarning, match="constant in column 2"):
        model.fit(X3, Y)
    found = next_runs(model, 2, where="x3 > 2")
    np.testing.assert_array_equal(found.X[:, 2], 2.5)
    assert found.importance[2] == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": "speed"}, "goal='speed' is none of accuracy, modes"),
        ({"goal": "optimum", "criterion": "VIGF"}, "goes with goal='accuracy'"),
        ({"criterion": "ALM"}, "criterion='ALM' is none of integrated variance, VIGF"),
        ({"maximize": True}, "go with goal='optimum'"),
        ({"goal": "optimum", "maximize": True, "target": 1.0}, "not both"),
        ({"goal": "threshold"}, "go together"),
        ({"goal": "threshold", "threshold": np.nan}, "finite number"),
        ({"n": 0}, "n must be a whole number from 1 to 1,000"),
        ({"radius": -1.0}, "radius"),
        ({"where": "x1 > 2"}, "satisfies 'x1 > 2'"),
        ({"where": "x1 > 0.5", "candidates": [[0.1, 0.1]]}, "no candidate satisfies"),
        ({"avoid": [[0.5, 0.5]], "radius": 3.0}, "smaller radius"),
        ({"candidates": [[0.1]]}, r"shape \[m, 2\]"),
        ({"candidates": np.empty((0, 2))}, "no rows"),
    ],
)
def test_wrong_options_are_told_in_a_sentence(
    average: BayesianGPRegressor, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        next_runs(average, **options)


def test_more_runs_than_candidates_are_told_in_a_sentence(average: BayesianGPRegressor) -> None:
    twice = np.concatenate([NEW[:3], NEW[:1], X[:1]])
    assert len(next_runs(average, 3, candidates=twice).X) == 3
    with pytest.raises(InputError, match=r"n=5 runs .* have only 3 that can be told"):
        next_runs(average, 5, candidates=twice)


def test_a_radius_of_0_forbids_the_runs_themselves(average: BayesianGPRegressor) -> None:
    found = next_runs(average, 1, candidates=NEW[:2], avoid=NEW[:1], radius=0.0)
    np.testing.assert_array_equal(found.X, NEW[1:2])
    with pytest.raises(InputError, match=r"is a run that is to be kept .* give other candidates"):
        next_runs(average, 1, candidates=NEW[:1], avoid=NEW[:1], radius=0.0)


def test_an_impossible_threshold_gives_the_sentence_alone() -> None:
    bounds = [(0, 1), (0, 1)]
    model = BayesianGPRegressor(input_bounds=bounds, response_transform="log10", random_state=0)
    model.fit(X, np.exp(Y))
    with pytest.raises(InputError, match=r"-2\.0 is no value that the transformed response"):
        next_runs(model, goal="threshold", threshold=-2.0)


def test_one_explanation_has_nothing_to_tell_apart() -> None:
    line = np.linspace(0.0, 1.0, 8)[:, None]
    model = PenalizedGPRegressor(lam=0.0, random_state=0).fit(line, np.sin(3.0 * line[:, 0]))
    with pytest.raises(InputError, match="one explanation alone"):
        next_runs(model, 1, goal="modes")


def test_transformed_inputs_and_responses() -> None:
    bounds = [(1.0, 100.0), (0.0, 1.0)]
    raw = np.column_stack([10.0 ** (2.0 * X[:, 0]), X[:, 1]])
    logged = BayesianGPRegressor(
        input_bounds=bounds,
        input_transforms={0: "log10"},
        response_transform="log",
        random_state=0,
    ).fit(raw, np.exp(Y))
    plain = BayesianGPRegressor(input_bounds=[(0, 1), (0, 1)], random_state=0).fit(X, Y)
    for options in ({}, {"goal": "threshold", "threshold": 0.5}, {"goal": "optimum"}):
        mine = dict(options)
        if "threshold" in options:
            mine["threshold"] = np.exp(0.5)
        one, other = next_runs(plain, 1, **options), next_runs(logged, 1, **mine)  # type: ignore[arg-type]
        expected = np.column_stack([10.0 ** (2.0 * one.X[:, 0]), one.X[:, 1]])
        np.testing.assert_allclose(other.X, expected, rtol=1e-4)
        np.testing.assert_allclose(other.mean, np.exp(one.mean), rtol=1e-4)
    with pytest.raises(InputError, match="values of x1 that are not above 0"):
        next_runs(logged, 1, candidates=[[-1.0, 0.5]])


def test_a_constant_response_is_refused() -> None:
    model = BayesianGPRegressor(random_state=0)
    with pytest.warns(PengpWarning, match="y is constant"):
        model.fit(X, np.ones(len(X)))
    with pytest.raises(InputError, match="the same response"):
        next_runs(model)
