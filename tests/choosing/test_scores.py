"""Validation scores against values by hand, their definitions as integrals, and scoringrules."""

from typing import Any

import numpy as np
import pytest
import scoringrules
from scipy import stats
from scipy.integrate import quad

from pengp.choosing.laws import NormalLaw
from pengp.choosing.scores import (
    coverage,
    crps_normal,
    crps_normal_values,
    crps_student_t,
    crps_student_t_values,
    interval_score,
    interval_score_values,
    log_score,
    log_score_values,
    q2,
    rmse,
)
from pengp.choosing.validation import VALIDATION_SCORES
from pengp.exceptions import InputError

Y = np.array([0.3, -1.2, 2.0, 0.0, 5.0])
MEAN = np.array([0.1, -1.0, 2.0, 0.5, 1.0])
STD = np.array([0.5, 1.0, 2.0, 1e-3, 0.7])


def test_rmse_and_q2_by_hand() -> None:
    # errors 1, 0, -2; mean of y 2, SST = 1 + 0 + 1
    assert rmse([1.0, 2.0, 3.0], [0.0, 2.0, 5.0]) == pytest.approx(np.sqrt(5.0 / 3.0), rel=1e-15)
    assert q2([1.0, 2.0, 3.0], [0.0, 2.0, 5.0]) == pytest.approx(1.0 - 5.0 / 2.0, rel=1e-15)
    assert q2(Y, np.full(5, Y.mean())) == pytest.approx(0.0, abs=1e-15)
    assert q2(Y, Y) == 1.0
    assert (q2([1.0, 1.0], [1.0, 1.0]), q2([1.0, 1.0], [1.0, 2.0])) == (1.0, -np.inf)


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_rmse_and_q2_in_any_unit(unit: float) -> None:
    assert rmse(Y * unit, MEAN * unit) == pytest.approx(rmse(Y, MEAN) * unit, rel=1e-14)
    assert q2(Y * unit, MEAN * unit) == pytest.approx(q2(Y, MEAN), rel=1e-14)


def test_crps_by_hand() -> None:
    # y = mean: std (sqrt(2) - 1)/sqrt(pi); one std off: 2 Phi(1) - 1 + 2 phi(1) - 1/sqrt(pi)
    assert crps_normal([3.0], [3.0], [2.0]) == pytest.approx(2.0 * 0.2336949772551091, rel=1e-14)
    assert crps_normal([1.0], [0.0], [1.0]) == pytest.approx(0.6024413576, abs=1e-10)
    # df = 2 at its centre: sqrt(2) (1 - pi/4)
    expected = 3.0 * np.sqrt(2.0) * (1.0 - np.pi / 4.0)
    assert crps_student_t([1.0], [1.0], [3.0], 2.0) == pytest.approx(expected, rel=1e-14)


def crps_integral(cdf: Any, y: float) -> float:
    """CRPS by its definition, the integral of (F(x) - 1{x >= y})^2."""
    below = quad(lambda x: cdf(x) ** 2, -np.inf, y, epsabs=1e-12, epsrel=1e-12)[0]
    above = quad(lambda x: (1.0 - cdf(x)) ** 2, y, np.inf, epsabs=1e-12, epsrel=1e-12)[0]
    return float(below + above)


@pytest.mark.parametrize(("y", "mean", "std"), [(0.3, 0.1, 0.5), (-1.2, 1.0, 2.0), (4.0, 1.0, 0.7)])
def test_crps_is_the_integral_of_its_definition(y: float, mean: float, std: float) -> None:
    normal = crps_integral(stats.norm(mean, std).cdf, y)
    assert crps_normal([y], [mean], [std]) == pytest.approx(normal, rel=1e-7)
    for df in (2.5, 7.0):
        student = crps_integral(stats.t(df, mean, std).cdf, y)
        assert crps_student_t([y], [mean], [std], df) == pytest.approx(student, rel=1e-6)


def test_scores_agree_with_scoringrules() -> None:
    lower, upper = MEAN - STD, MEAN + 2.0 * STD
    np.testing.assert_allclose(
        crps_normal_values(Y, MEAN, STD), scoringrules.crps_normal(Y, MEAN, STD), rtol=1e-10
    )
    for df in (1.5, 3.0, 40.0):
        np.testing.assert_allclose(
            crps_student_t_values(Y, MEAN, STD, df),
            scoringrules.crps_t(Y, df, MEAN, STD),
            rtol=1e-9,
        )
    std = np.maximum(STD, 0.1)  # scoringrules takes the logarithm of a density that underflows
    np.testing.assert_allclose(
        log_score_values(Y, MEAN, std), scoringrules.logs_normal(Y, MEAN, std), rtol=1e-10
    )
    np.testing.assert_allclose(
        interval_score_values(Y, lower, upper, level=0.9),
        scoringrules.interval_score(Y, lower, upper, 0.1),
        rtol=1e-12,
    )


def test_means_are_the_means_of_the_points() -> None:
    lower, upper = MEAN - STD, MEAN + STD
    assert crps_normal(Y, MEAN, STD) == crps_normal_values(Y, MEAN, STD).mean()
    assert crps_student_t(Y, MEAN, STD, 3.0) == crps_student_t_values(Y, MEAN, STD, 3.0).mean()
    assert log_score(Y, MEAN, STD) == log_score_values(Y, MEAN, STD).mean()
    assert interval_score(Y, lower, upper) == interval_score_values(Y, lower, upper).mean()


def test_student_t_becomes_normal() -> None:
    normal = crps_normal_values(Y, MEAN, STD)
    assert np.array_equal(crps_student_t_values(Y, MEAN, STD, np.inf), normal)
    np.testing.assert_allclose(crps_student_t_values(Y, MEAN, STD, 1e7), normal, rtol=1e-5)


def test_log_score_by_hand() -> None:
    # N(1, 2^2) at 3: log 2 + log(2 pi)/2 + 1/2
    expected = np.log(2.0) + 0.5 * np.log(2.0 * np.pi) + 0.5
    assert log_score([3.0], [1.0], [2.0]) == pytest.approx(expected, rel=1e-15)


def test_interval_score_and_coverage_by_hand() -> None:
    # alpha = 0.2: inside 2; 0.5 below 2 + 5; 1 above 2 + 10
    values = interval_score_values([0.0, -1.5, 2.0], -1.0, 1.0, level=0.8)
    np.testing.assert_allclose(values, [2.0, 7.0, 12.0], rtol=1e-14)
    assert interval_score([0.0, -1.5, 2.0], -1.0, 1.0, level=0.8) == pytest.approx(7.0, rel=1e-14)
    assert coverage([0.0, -1.5, 2.0, 1.0], -1.0, 1.0) == 0.5  # the ends count as inside


def test_an_interval_with_infinite_ends_has_the_score_of_its_limit() -> None:
    lower, upper = np.array([-np.inf, 0.0, 5.0, np.inf]), np.array([np.inf, np.inf, 5.0, np.inf])
    values = interval_score_values(np.ones(4), lower, upper, level=0.5)
    assert values.tolist() == [np.inf, np.inf, 2.0 / 0.5 * 4.0, np.inf]


def test_huge_predictions_have_infinite_scores_and_no_warning() -> None:
    """Of two values of 1e308 the sum is too large for a number."""
    law = NormalLaw(np.zeros(2), np.full(2, 1e308))
    scores = {name: score([1e308, 1e308], law) for name, score in VALIDATION_SCORES.items()}
    assert scores["coverage"] == 1.0
    assert scores["interval_score"] == np.inf
    assert not np.isnan(list(scores.values())).any()
    for level in (1.0, 1.0 - 1e-16, 0.0):  # where 0.5 + level / 2 is 1
        with pytest.raises(InputError, match="level must lie between 0 and 1"):
            law.interval(level)
    with pytest.raises(InputError, match="missing or infinite"):
        crps_normal([0.0], [np.inf], [0.0])


def test_without_spread_the_scores_take_their_limits() -> None:
    y, mean = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, 7.0])
    error = np.abs(y - mean)
    assert np.array_equal(crps_normal_values(y, mean, 0.0), error)
    assert np.array_equal(crps_student_t_values(y, mean, 0.0, 3.0), error)
    for tiny in (1e-12, 1e-200, 5e-324):
        np.testing.assert_allclose(crps_normal_values(y, mean, tiny), error, atol=1e-11)
        for df in (1.1, 3.0, 300.0):
            values = crps_student_t_values(y, mean, tiny, df)
            np.testing.assert_allclose(values, error, atol=1e-10)
    assert log_score_values(y, mean, 0.0).tolist() == [-np.inf, np.inf, np.inf]
    assert log_score(y, mean, 0.0) == np.inf
    assert log_score(y, y, 0.0) == -np.inf


@pytest.mark.parametrize("name", VALIDATION_SCORES)
def test_a_perfect_prediction_ranks_first_under_every_score(name: str) -> None:
    score = VALIDATION_SCORES[name]
    rng = np.random.default_rng(2)
    others = [score(Y, NormalLaw(Y + rng.normal(size=5), rng.random(5) + 0.01)) for _ in range(50)]
    perfect = [score(Y, NormalLaw(Y, np.full(5, std))) for std in (0.0, 1e-6)]
    if score.greater_is_better is None:
        assert name == "coverage"
        assert perfect == [1.0, 1.0]
        return
    sign = -1.0 if score.greater_is_better else 1.0
    assert sign * max(perfect, key=lambda value: sign * value) < min(sign * v for v in others)


def test_named_scores_are_those_of_normal_intervals() -> None:
    half = stats.norm.ppf(0.975) * STD
    expected = {
        "rmse": rmse(Y, MEAN),
        "q2": q2(Y, MEAN),
        "crps": crps_normal(Y, MEAN, STD),
        "log_score": log_score(Y, MEAN, STD),
        "interval_score": interval_score(Y, MEAN - half, MEAN + half, level=0.95),
        "coverage": 3 / 5,
    }
    law = NormalLaw(MEAN, STD)
    assert {name: score(Y, law) for name, score in VALIDATION_SCORES.items()} == expected


def test_faulty_scores_are_explained() -> None:
    with pytest.raises(InputError, match=r"\(5,\) and \(5, 1\)"):
        rmse(Y, MEAN[:, None])
    with pytest.raises(InputError, match="negative"):
        crps_normal(Y, MEAN, -STD)
    with pytest.raises(InputError, match="more than 1 degree"):
        crps_student_t(Y, MEAN, STD, 1.0)
    with pytest.raises(InputError, match=r"level must lie between 0 and 1, .* and is 95"):
        interval_score(Y, MEAN, MEAN, level=95)
    with pytest.raises(InputError, match="lower > upper"):
        interval_score(Y, MEAN + 1.0, MEAN)
