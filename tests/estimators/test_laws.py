"""Laws mapped back to the user's unit, against closed forms, brute force and draws."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from pengp._core.arrays import FloatArray
from pengp.bayes.law import MixtureLaw
from pengp.choosing.laws import NormalLaw
from pengp.choosing.scores import crps_normal_values
from pengp.estimators.laws import MappedLaw
from pengp.model.elementary import Log, Log10, Logit, Sqrt, Transform
from pengp.model.transforms import IDENTITY, BoxCox, YeoJohnson

MEAN, STD = np.array([0.3, -1.0, 2.0]), np.array([0.4, 1.0, 1e-5])
SHIFT, STRETCH = 1.5, 0.8


def normal(transform: Transform) -> MappedLaw:
    return MappedLaw(NormalLaw(MEAN, STD), SHIFT, STRETCH, transform)


def mixture(transform: Transform, df: int = 9) -> MappedLaw:
    location, scale = np.array([[0.0, 0.5, -0.2]]), np.array([[0.3, 0.1, 0.6]])
    law = MixtureLaw(location, scale, np.array([0.5, 0.3, 0.2]), df)
    return MappedLaw(law, SHIFT, STRETCH, transform)


@pytest.mark.parametrize("transform", [Log(), Log10()])
def test_a_mixture_of_normal_laws_through_a_logarithm(transform: Transform) -> None:
    base: Any = mixture(transform).base
    law = MappedLaw(replace(base, df=np.inf), SHIFT, STRETCH, transform)
    rate = STRETCH * (1.0 if transform.name == "log" else np.log(10.0))
    mu = np.log(transform.inverse(SHIFT + STRETCH * base.location[0]))
    sigma = rate * base.scale[0]
    means = np.exp(mu + 0.5 * sigma**2)
    mean = base.weights @ means
    second = base.weights @ (means**2 * np.exp(sigma**2))
    np.testing.assert_allclose(np.ravel(law.moments()), [mean, np.sqrt(second - mean**2)])
    slopes = rate * base.weights * means
    np.testing.assert_allclose(law.mean_slopes()[0][0], slopes)
    np.testing.assert_allclose(law.mean_slopes()[1][0], slopes * sigma)


TRANSFORMS = [Log10(), Sqrt(), Logit(-2.0, 9.0), BoxCox(0.5), YeoJohnson(0.4)]


def test_a_log_law_is_log_normal() -> None:
    law = normal(Log())
    known = stats.lognorm(STRETCH * STD, scale=np.exp(SHIFT + STRETCH * MEAN))
    mean, std = law.moments()
    np.testing.assert_allclose(mean, known.mean(), rtol=1e-12)
    np.testing.assert_allclose(std, known.std(), rtol=1e-6)  # scipy's cancels for the narrow one
    y = np.array([3.0, 1.1, 22.2])
    np.testing.assert_allclose(law.log_density(y)[:2], known.logpdf(y)[:2], rtol=1e-12)
    np.testing.assert_allclose(law.cdf(y), known.cdf(y), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(law.quantiles([0.1, 0.9]).T, known.ppf([[0.1], [0.9]]), rtol=1e-12)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("made", [normal, mixture])
def test_quantiles_are_the_maps_of_quantiles(made: Any, transform: Transform) -> None:
    levels = np.linspace(0.01, 0.99, 9)
    law = made(transform)
    expected = transform.inverse(SHIFT + STRETCH * law.base.quantiles(levels))
    np.testing.assert_array_equal(law.quantiles(levels), expected)
    inside = expected[0] > transform.inverse(np.array([-1e9]))
    back = np.array([law.cdf(q)[0] for q in law.quantiles(levels).T])
    np.testing.assert_allclose(back[inside], levels[inside], atol=1e-9)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_moments_of_a_mapped_normal_are_those_of_an_integral(transform: Transform) -> None:
    mean, std = normal(transform).moments()
    for k in range(2):
        m, s = SHIFT + STRETCH * MEAN[k], STRETCH * STD[k]
        x = np.linspace(m - 12.0 * s, m + 12.0 * s, 400_001)
        weight = stats.norm.pdf(x, m, s) * (x[1] - x[0])
        y = transform.inverse(x)
        first = (weight * y).sum()
        assert mean[k] == pytest.approx(first, rel=2e-5)
        assert std[k] == pytest.approx(np.sqrt((weight * (y - first) ** 2).sum()), rel=2e-4)


def test_moments_of_a_mapped_mixture_are_those_of_its_cut_components() -> None:
    law, end = mixture(Log()), stats.t.ppf(1.0 - 1e-4, 9)

    def cut(power: int, loc: float, scale: float) -> float:
        def integrand(x: float) -> float:
            y = np.exp(power * (SHIFT + STRETCH * (loc + scale * x)))
            return float(y * stats.t.pdf(x, 9))

        return float(integrate.quad(integrand, -end, end, limit=200)[0] / (1.0 - 2e-4))

    parts = list(zip(law.parts.location[0], law.parts.scale[0], law.parts.weights, strict=True))
    mean, square = (sum(w * cut(k, a, b) for a, b, w in parts) for k in (1, 2))
    got, std = law.moments()
    assert got[0] == pytest.approx(mean, rel=1e-10)
    assert std[0] == pytest.approx(np.sqrt(square - mean**2), rel=1e-9)


def test_the_moments_of_a_narrow_law_are_the_map_and_its_slope() -> None:
    law = mixture(Log())
    narrow = MixtureLaw(np.array([[0.4]]), np.array([[1e-7]]), np.ones(1), 9)
    mean, std = MappedLaw(narrow, SHIFT, STRETCH, law.transform).moments()
    value = np.exp(SHIFT + STRETCH * 0.4)
    cut = stats.t.ppf(1e-4, 9)
    p = np.linspace(1e-4, 1 - 1e-4, 200_001)
    spread = np.sqrt(np.mean(stats.t.ppf(p, 9) ** 2))
    assert abs(cut) < 8.0
    assert mean[0] == pytest.approx(value, rel=1e-9)
    assert std[0] == pytest.approx(value * STRETCH * 1e-7 * spread, rel=1e-3)


@pytest.mark.parametrize("transform", [Log(), *TRANSFORMS])
@pytest.mark.parametrize("made", [normal, mixture])
def test_slopes_of_the_mean_are_those_of_differences(made: Any, transform: Transform) -> None:
    law, h = made(transform), 1e-5
    in_location, in_scale = law.mean_slopes()
    for name, slopes in (("location", in_location), ("scale", in_scale)):
        values = getattr(law.base, name)
        for j in range(slopes.shape[1]):
            step = h * (np.arange(slopes.shape[1]) == j) if values.ndim > 1 else h
            high, low = (_moved(law, name, values + s * step).mean() for s in (1.0, -1.0))
            np.testing.assert_allclose(slopes[:, j], (high - low) / (2 * h), rtol=1e-4, atol=1e-7)


def _moved(law: MappedLaw, name: str, values: FloatArray) -> MappedLaw:
    base: Any = law.base
    return replace(law, base=replace(base, **{name: values}))


@pytest.mark.parametrize("transform", [Log(), *TRANSFORMS])
@pytest.mark.parametrize("made", [normal, mixture])
@pytest.mark.parametrize("y", [0.5, 5.0, 8.9])
def test_the_crps_is_the_integral_of_its_definition(
    made: Any, transform: Transform, y: float
) -> None:
    law = made(transform)
    low, high = law.quantiles([1e-4, 1.0 - 1e-4])[0]
    ends = np.array([low, *law.quantiles([0.01, 0.2, 0.5, 0.8, 0.99])[0], y, high])
    ends = np.unique(np.append(ends, [min(low, y), max(high, y)]))
    full = np.full(len(law.base.location), y)

    def square(x: float) -> float:
        return float((law.cdf(np.full(len(full), x))[0] - (x >= y)) ** 2)

    pairs = itertools.pairwise(ends)
    expected = sum(integrate.quad(square, a, b, limit=200)[0] for a, b in pairs)
    assert law.crps(full)[0] == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("transform", "stretch"),
    [(Log(), 200.0), (Log10(), 90.0), (Sqrt(), 1e50), (BoxCox(0.5), 1e50), (BoxCox(2.0), 1e199)],
)
def test_laws_beyond_the_largest_number_have_numbers(transform: Transform, stretch: float) -> None:
    """Of responses up to 1e100, far from them; they are cut at 1e150."""
    mixture = MixtureLaw(np.array([[0.0, 900.0]]), np.array([[1.0, 400.0]]), np.full(2, 0.5), 5.0)
    for base in (NormalLaw(np.array([400.0]), np.array([400.0])), mixture):
        law = MappedLaw(base, 1.0, stretch, transform)
        found = [law.mean(), law.std(), *law.mean_slopes(), law.interval(0.9), law.crps(np.ones(1))]
        assert all(np.isfinite(values).all() for values in found)
        assert law.mean().item() >= 1e80


def test_without_a_transform_nothing_is_approximated() -> None:
    law, y = normal(IDENTITY), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(law.moments(), [SHIFT + STRETCH * MEAN, STRETCH * STD], rtol=1e-15)
    expected = crps_normal_values(y, SHIFT + STRETCH * MEAN, STRETCH * STD)
    np.testing.assert_allclose(law.crps(y), expected, rtol=1e-12)


def test_a_response_outside_the_domain_has_no_density_and_a_finite_score() -> None:
    law, y = normal(Log()), np.array([-1.0, 0.0, 1.0])
    assert np.isneginf(law.log_density(y)[:2]).all()
    np.testing.assert_array_equal(law.cdf(y)[:2], [0.0, 0.0])
    crps = law.crps(y)
    assert np.isfinite(crps).all()
    # Below all values, E|X - y| grows with slope one.
    assert crps[0] == pytest.approx(law.crps(np.zeros(3))[0] + 1.0, rel=1e-12)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("made", [normal, mixture])
def test_a_law_that_oversteps_the_end_of_a_power_has_finite_scores(made: Any, power: float) -> None:
    law = replace(made(BoxCox(power)), shift=0.0)
    end = (-1.0 / power - law.shift) / law.stretch
    assert (law.base.cdf(np.full(len(law.mean()), end)) > 0.001).any()
    y = np.full(len(law.mean()), 1.2)
    levels = (np.arange(4000) + 0.5) / 4000
    draws = law.quantiles(levels)  # ascending
    weight = (2.0 * np.arange(4000) - 3999.0) / 4000**2
    expected = np.abs(draws - y[:, None]).mean(1) - draws @ weight
    np.testing.assert_allclose(law.crps(y), expected, rtol=1e-4)
    assert np.isfinite(law.mean_slopes()).all()
