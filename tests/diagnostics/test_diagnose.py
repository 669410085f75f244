"""What is said about a surrogate, against data made to deserve it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from pengp import (
    BayesianGPRegressor,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    diagnose,
    random_folds,
)
from pengp._core.arrays import FloatArray
from pengp.bayes.insight import Explanation
from pengp.datasets import load_piston_slap
from pengp.diagnostics import IntervalCheck, score_predictions
from tests.problems import slow_loglik

RUNS = load_piston_slap()
NAMES = [f"x{p}" for p in range(1, 7)]
FRAME = pd.DataFrame(RUNS.X, columns=NAMES)


def codes(model: Any, **options: Any) -> set[str]:
    return {finding.code for finding in diagnose(model, **options).findings}


def message(model: Any, code: str) -> str:
    return next(f.message for f in diagnose(model).findings if f.code == code)


@pytest.fixture(scope="module")
def repeated() -> PenalizedGPRegressorCV:
    folds = random_folds(12, 4, repeats=20, random_state=0)
    return PenalizedGPRegressorCV(cv=folds, random_state=0).fit(FRAME, RUNS.y)


def test_scores_are_those_of_refits_without_each_run(repeated: PenalizedGPRegressorCV) -> None:
    loo, scores = repeated.loo_, diagnose(repeated, level=0.8).scores
    half = norm.ppf(0.9) * loo.std
    lower, upper = loo.mean - half, loo.mean + half
    outside = np.maximum(lower - RUNS.y, 0) + np.maximum(RUNS.y - upper, 0)
    assert scores["rmse"] == pytest.approx(np.sqrt((loo.residual**2).mean()), rel=1e-12)
    assert scores["q2"] == pytest.approx(
        1 - (loo.residual**2).sum() / ((RUNS.y - RUNS.y.mean()) ** 2).sum(), rel=1e-12
    )
    assert scores["coverage"] == np.mean((lower <= RUNS.y) & (RUNS.y <= upper)) < 1.0
    assert scores["interval_score"] == pytest.approx(
        (upper - lower + 2 / 0.2 * outside).mean(), rel=1e-12
    )
    z = loo.residual / loo.std
    crps = loo.std * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert scores["crps"] == pytest.approx(crps.mean(), rel=1e-12)
    surprise = -np.mean(norm.logpdf(RUNS.y, loo.mean, loo.std))
    assert scores["log_score"] == pytest.approx(surprise, rel=1e-12)


def test_a_level_that_is_no_probability_is_refused() -> None:
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        score_predictions([1.0], [1.0], [1.0], level=95)


def test_an_unstable_choice_is_told_with_its_range(repeated: PenalizedGPRegressorCV) -> None:
    diagnosis = diagnose(repeated)
    assert diagnosis.stability is not None
    assert np.array_equal(diagnosis.stability, repeated.cv_table_.stability("dpe", "1se"))
    low, high = diagnosis.stability.min(), diagnosis.stability.max()
    assert high > 10 * low
    assert f"from {low:.3g} to {high:.3g}" in message(repeated, "unstable")
    once = PenalizedGPRegressorCV(cv=4, random_state=0).fit(FRAME, RUNS.y)
    assert diagnose(once).stability is None


def test_another_mode_that_is_nearly_as_good_is_told(repeated: PenalizedGPRegressorCV) -> None:
    modes, records = repeated.modes_, diagnose(repeated).modes
    assert len(records) == modes.count > 1
    assert np.array_equal(records[0].theta, repeated.theta_)
    deficits = modes.objective[0] - modes.objective[: modes.count]
    assert [m.deficit for m in records] == deficits.tolist()
    assert deficits[1] < 1.92
    used = ", ".join(np.array(NAMES)[modes.theta[1] > 1.0001e-3])
    assert f"lower by {deficits[1]:.2f}): one that uses {used}." in message(repeated, "modes")


def test_modes_that_are_far_below_or_use_the_same_inputs_are_not_told(
    repeated: PenalizedGPRegressorCV,
) -> None:
    seen = set()
    for lam in repeated.lams_:
        model = repeated.at_lambda(lam)
        best, *others = diagnose(model).modes
        wanted = any(m.deficit < 1.92 and (m.active != best.active).any() for m in others)
        assert ("modes" in codes(model)) == wanted
        seen.add(wanted)
    assert seen == {True, False}


def test_a_choice_that_hardly_varies_is_stable() -> None:
    x = np.linspace(0.0, 1.0, 12)[:, None]
    folds = random_folds(12, 4, repeats=5, random_state=0)
    lams = [0.01, 0.02, 0.05]
    model = PenalizedGPRegressorCV(lams=lams, cv=folds, random_state=0).fit(x, np.sin(9 * x[:, 0]))
    stability = diagnose(model).stability
    assert stability is not None
    assert stability.max() <= 10 * stability.min()
    assert "unstable" not in codes(model)


def test_what_flatters_does_not_hide_that_a_surrogate_is_useless(
    repeated: PenalizedGPRegressorCV,
) -> None:
    found = diagnose(repeated)
    assert found.held_out is not None
    assert 0.0 < found.scores["q2"] < 0.6  # theta has seen the runs
    assert found.held_out.scores()["q2"] < 0.0
    assert "useless" in codes(repeated)


def test_a_rule_that_is_only_known_by_name_judges_no_stability(
    repeated: PenalizedGPRegressorCV,
) -> None:
    model = repeated.at_lambda(repeated.lam_)
    model.set_params(rule="a rule of my own")
    assert diagnose(model).stability is None


def test_inactive_inputs_are_those_at_the_lower_bound(repeated: PenalizedGPRegressorCV) -> None:
    for lam in repeated.lams_:
        model = repeated.at_lambda(lam)
        assert diagnose(model).active.tolist() == (model.theta_ > 1e-3).tolist()
    assert diagnose(repeated).active.tolist() == [True, False, True, False, False, True]


def supported_from(model: PenalizedGPRegressor) -> FloatArray:
    """The smallest c theta_ whose log likelihood is 1.92 below the best, by bisection."""
    data = model.path_._data

    def loglik(c: float) -> float:
        theta = np.clip(c * model.theta_, 1e-3, 1e3)
        return slow_loglik(data.X[0], data.y[0], theta, 1e-5)[0]

    cs = np.geomspace(1e-3 / model.theta_.max(), 1e3 / model.theta_.min(), 501)
    values = np.array([loglik(c) for c in cs])
    top = int(values.argmax())
    low, high = cs[np.flatnonzero(values[:top] < values.max() - 1.92)[-1]], cs[top]
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if loglik(middle) < values.max() - 1.92 else (low, middle)
    return np.asarray(np.clip(high * model.theta_, 1e-3, 1e3))


def test_a_flat_likelihood_is_told() -> None:
    model = PenalizedGPRegressor(isotropic=True, random_state=0).fit(FRAME, RUNS.y)
    assert {"flat", "useless"} <= codes(model)
    lower = supported_from(model)[0]
    assert f"every theta from {lower:.3g} to its upper bound 1000 fits" in message(model, "flat")


def test_a_flat_likelihood_is_told_of_the_most_active_input() -> None:
    x = np.linspace(0.0, 1.0, 8)
    X = np.c_[x, np.tile([0.0, 1.0], 4)]
    y = (6 * 1.25 * x - 2) ** 2 * np.sin(12 * 1.25 * x - 4)
    model = PenalizedGPRegressor(0.001, random_state=0).fit(X, y)
    assert model.theta_[0] > model.theta_[1] > 1e-3
    assert f"every theta of x1 from {supported_from(model)[0]:.3g} to" in message(model, "flat")


def test_a_theta_at_its_upper_bound_is_told() -> None:
    x = np.linspace(0.0, 1.25, 8)[:, None]
    y = (6 * x[:, 0] - 2) ** 2 * np.sin(12 * x[:, 0] - 4)
    model = PenalizedGPRegressor(theta_bounds=(1e-3, 50.0), random_state=0).fit(x, y)
    assert model.theta_[0] == 50.0
    assert "at its upper bound 50 for x1" in message(model, "bound")


def test_intervals_are_contradicted_by_too_many_runs_outside() -> None:
    x = np.linspace(0.0, 1.0, 30)
    rough = np.where(x > 0.8, 1.5 * (-1.0) ** np.arange(30), 0.0)  # smooth, but for one corner
    model = PenalizedGPRegressor(random_state=0).fit(x[:, None], np.sin(4 * x) + rough)
    z = np.abs(model.loo_.standardized_residual)
    outside = int((z > norm.ppf(0.975)).sum())
    told = "intervals" in codes(model)
    assert told == (two_sided(30 - outside, 30, 0.95) < 0.01)
    assert told
    assert f"{outside} of 30 runs lie outside their 95 % interval" in message(model, "intervals")
    assert f"(run {z.argmax() + 1} is {z.max():.1f} standard" in message(model, "intervals")


def two_sided(inside: int, n: int, level: float) -> float:
    """Add up the probabilities of all numbers that are no likelier than this one."""
    each = binom.pmf(np.arange(n + 1), n, level)
    return float(each[each <= each[inside] * (1 + 1e-7)].sum())


def test_one_rule_tells_whether_runs_contradict_intervals() -> None:
    for inside, n, verdict in ((135, 150, ""), (134, 150, "narrow"), (150, 150, "wide")):
        check = IntervalCheck(inside, n, 0.95)
        assert check.p_value == pytest.approx(two_sided(inside, n, 0.95), rel=1e-9)
        assert check.contradicted == bool(verdict)
        assert check.too == (verdict or "narrow")
    # Of the 15 of 150 outside, a one-sided rule would make a contradiction.
    assert binom.cdf(135, 150, 0.95) < 0.01 < IntervalCheck(135, 150, 0.95).p_value


def test_a_sound_surrogate_raises_no_finding() -> None:
    rng = np.random.default_rng(0)
    X = (np.argsort(rng.random((25, 2)), axis=0) + 0.5) / 25
    y = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 * X[:, 0] + np.cos(3 * X[:, 1])
    model = PenalizedGPRegressorCV(cv=5, random_state=0).fit(X, y)
    assert diagnose(model).scores["q2"] > 0.9
    assert codes(model) == set()


def test_each_output_is_judged_by_itself() -> None:
    y = np.c_[RUNS.y, RUNS.X[:, 0] + 0.1 * RUNS.X[:, 1] ** 2]
    both = PenalizedGPRegressorCV(cv=4, random_state=0).fit(FRAME, y)
    for k in range(2):
        alone = PenalizedGPRegressorCV(cv=4, random_state=0).fit(FRAME, y[:, k])
        mine, other = diagnose(both, output=k), diagnose(alone)
        assert mine.scores == pytest.approx(other.scores, rel=1e-6)
        assert [f.code for f in mine.findings] == [f.code for f in other.findings]
    with pytest.raises(InputError, match="output=2 does not exist; there are 2"):
        diagnose(both, output=2)


def test_an_estimate_that_is_no_maximum_is_told(repeated: PenalizedGPRegressorCV) -> None:
    spoiled = repeated.at_lambda(repeated.lam_)
    path = spoiled.path_
    path.converged[:] = False
    try:
        assert "converged" in codes(spoiled)
    finally:
        path.converged[:] = True
    assert "converged" not in codes(repeated)


def test_an_average_is_judged_by_its_held_out_runs() -> None:
    model = BayesianGPRegressor(random_state=0).fit(FRAME, RUNS.y)
    found, held = diagnose(model, level=0.9), model.held_out(level=0.9).scores()
    assert {name: found.scores[name] for name in held} == held
    log_density = model.held_out().log_density
    assert found.scores["log_score"] == pytest.approx(-log_density.mean())
    assert found.modes == ()
    assert ("useless" in codes(model)) == (held["q2"] <= 0.0)
    assert found.active.tolist() == (model.activity_.probability > 0.5).tolist()


@pytest.mark.filterwarnings("ignore::pengp.PengpWarning")  # it is what is told
def test_draws_that_cannot_be_trusted_are_told() -> None:
    few = BayesianGPRegressor(
        kernels="sqexp", nugget=1e-5, effective_size=5.0, max_points=60, random_state=0
    ).fit(FRAME, RUNS.y)
    assert few._averages[0] is not None
    sentences = few._averages[0].problems
    assert sentences
    told = [f.message for f in diagnose(few).findings if f.code == "draws"]
    assert told == [f"The posterior cannot be trusted: {sentence}" for sentence in sentences]


@pytest.mark.parametrize(("weights", "told"), [((0.6, 0.4), True), ((0.97, 0.03), False)])
def test_explanations_with_other_inputs_are_told_with_their_weights(
    weights: tuple[float, float], told: bool
) -> None:
    X = pd.DataFrame(np.random.default_rng(0).random((9, 2)), columns=["a", "b"])
    model = BayesianGPRegressor(kernels="sqexp", nugget=1e-5, mean="zero", random_state=0)
    model.fit(X, np.sin(4.0 * X["a"]) + X["b"])
    thetas = np.array([2.0, 1e-9]), np.array([2.0, 3.0])  # b does not matter, and matters
    modes = [Explanation(0, theta, 1e-5, w) for theta, w in zip(thetas, weights, strict=True)]
    (average,) = model._averages
    assert average is not None
    model._averages = (replace(average, explanations=tuple(modes)),)
    assert ("modes" in codes(model)) == told
    if told:
        assert "of the posterior, 60 % uses a; 40 % uses a, b." in message(model, "modes")
