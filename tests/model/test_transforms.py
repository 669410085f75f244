"""Transforms of a column: formulas by hand, slopes by finite differences, ends of the domains."""

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer, PowerTransformer

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model.elementary import Log, Log10, Logit, Sqrt, Transform
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.model.transforms import IDENTITY, TRANSFORMS, BoxCox, Wrapped, YeoJohnson, get_transform

POSITIVE = np.array([1e-6, 0.03, 0.4, 1.0, 2.5, 80.0, 1e7])
INSIDE = np.array([2.1, 2.5, 3.0, 4.4, 4.99])
ANY = np.array([-40.0, -1.5, -0.2, 0.0, 0.3, 1.0, 25.0])
CASES: list[tuple[Transform, FloatArray]] = [
    (IDENTITY, ANY),
    (Log(), POSITIVE),
    (Log10(), POSITIVE),
    (Sqrt(), POSITIVE),
    (Logit(2.0, 5.0), INSIDE),
    *((BoxCox(p), POSITIVE[1:]) for p in (0.0, 0.3, 1.0, 2.0)),
    *((YeoJohnson(p), ANY) for p in (0.0, 0.3, 1.0, 2.0)),
]


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (Log(), np.log),
        (Log10(), lambda x: np.log(x) / np.log(10.0)),
        (Sqrt(), lambda x: x**0.5),
        (Logit(-1.0, 1e8), lambda x: np.log((x + 1.0) / (1e8 - x))),
        (BoxCox(0.3), lambda x: (x**0.3 - 1.0) / 0.3),
        (BoxCox(0.0), np.log),
        (BoxCox(1.0), lambda x: x - 1.0),
        (YeoJohnson(0.3), lambda x: ((1.0 + x) ** 0.3 - 1.0) / 0.3),
    ],
)
def test_the_formulas_hold(transform: Transform, expected: object) -> None:
    assert callable(expected)
    np.testing.assert_allclose(transform.forward(POSITIVE), expected(POSITIVE), rtol=1e-9)


def test_yeo_and_johnson_turn_negative_numbers_around() -> None:
    x = np.array([-3.0, -0.5])
    expected = -((1.0 - x) ** 1.7 - 1.0) / 1.7
    np.testing.assert_allclose(YeoJohnson(0.3).forward(x), expected, rtol=1e-13)
    np.testing.assert_allclose(YeoJohnson(1.0).forward(ANY), ANY, rtol=1e-13)


@pytest.mark.parametrize(("transform", "x"), CASES)
def test_the_inverse_undoes_and_both_increase(transform: Transform, x: FloatArray) -> None:
    z = transform.forward(x)
    assert (np.diff(z) > 0.0).all()
    np.testing.assert_allclose(transform.inverse(z), x, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(("transform", "x"), CASES)
def test_the_slopes_are_those_of_finite_differences(transform: Transform, x: FloatArray) -> None:
    x = x[np.abs(x) > 1e-12]
    h = 1e-6 * np.abs(x)
    if isinstance(transform, Logit):
        h = np.minimum(h, 1e-4 * np.minimum(x - transform.low, transform.high - x))
    quotient = (transform.forward(x + h) - transform.forward(x - h)) / (2.0 * h)
    np.testing.assert_allclose(transform.slope(x), quotient, rtol=1e-5)
    z = transform.forward(x)
    np.testing.assert_allclose(transform.inverse_slope(z), 1.0 / quotient, rtol=1e-5)


@pytest.mark.parametrize(
    ("transform", "outside", "inside"),
    [
        (Log(), [0.0, -1.0], 1e-300),
        (Sqrt(), [-1e-9], 0.0),
        (Logit(2.0, 5.0), [2.0, 5.0, 1.0, 6.0], 4.999),
        (BoxCox(0.5), [0.0, -2.0], 1e-9),
    ],
)
def test_domains_have_their_ends(transform: Transform, outside: list[float], inside: float) -> None:
    assert not transform.accepts(np.array(outside)).any()
    assert transform.accepts(np.array([inside])).all()


@pytest.mark.parametrize("transform", [Sqrt(), BoxCox(0.5), BoxCox(1.0), BoxCox(1.5), BoxCox(2.0)])
def test_beyond_the_range_the_inverse_is_the_end_and_flat(transform: Transform) -> None:
    z = np.array([-50.0, -3.0])
    np.testing.assert_array_equal(transform.inverse(z), [0.0, 0.0])
    np.testing.assert_array_equal(transform.inverse_slope(z), [0.0, 0.0])


def test_a_scikit_learn_transformer_is_copied_and_fitted() -> None:
    given = PowerTransformer()
    own = get_transform(given).fitted(POSITIVE[1:-1])
    assert not hasattr(given, "lambdas_")
    assert isinstance(own, Wrapped)
    x = POSITIVE[1:-1]
    expected = own.transformer.transform(x[:, None])[:, 0]
    np.testing.assert_array_equal(own.forward(x), expected)
    np.testing.assert_allclose(own.inverse(own.forward(x)), x, rtol=1e-8)
    log = get_transform(FunctionTransformer(np.log, np.exp)).fitted(x)
    np.testing.assert_allclose(log.slope(x), 1.0 / x, rtol=1e-8)


@pytest.mark.parametrize(
    ("power", "limit"), [(-2.0, 10.0**0.5 * 61.0 - 1.0), (-0.07, 60.0 + 10.0 * 59.0)]
)
def test_a_transformer_is_held_short_of_an_end_at_infinity(power: float, limit: float) -> None:
    # Yeo and Johnson's z = ((1 + x)^p - 1) / p ends at -1 / p for p < 0: nine tenths of the way
    # there from x = 60, (1 + x)^p is a tenth. The second has 10 ranges nearer.
    x = np.array([1.0, 1.2, 1.25, 1.3, 2.0, 60.0])
    power_of = PowerTransformer("yeo-johnson", standardize=False).fit(x[:, None])
    power_of.lambdas_[:] = power
    own = Wrapped(power_of)._with_ends(x)
    z = own.forward(x)
    far = np.array([z[-1], z[-1] + 50.0, 1e300])
    np.testing.assert_allclose(own.inverse(far), [60.0, limit, limit], rtol=1e-8)
    np.testing.assert_array_equal(own.inverse_slope(far[1:]), [0.0, 0.0])
    np.testing.assert_allclose(own.inverse(z), x, rtol=1e-8)  # as it was, up to there
    assert own.accepts(np.array([1.0, 1e4])).all()


def test_a_transformer_with_a_finite_end_is_held_there() -> None:
    x = np.array([1.0, 2.0, 3.0, 3.5, 4.0, 4.1])
    own = get_transform(PowerTransformer("box-cox")).fitted(x)
    assert isinstance(own, Wrapped)
    assert own.transformer.lambdas_[0] > 0.0
    np.testing.assert_allclose(own.inverse(np.array([-1e6])), 0.0, atol=1e-3)
    assert own.accepts(np.array([-1.0, 0.0, 1.0])).tolist() == [False, False, True]
    plain = get_transform(FunctionTransformer(np.log, np.exp)).fitted(x)
    assert plain.inverse(np.array([700.0])) == np.exp(700.0)  # has no end


def test_the_slope_of_a_transformer_does_not_depend_on_the_unit() -> None:
    for unit in (1e-9, 1e9):
        x = unit * np.array([0.0, 0.5, 3.0, 8.0])
        log = get_transform(FunctionTransformer(np.log, np.exp)).fitted(x[1:])
        np.testing.assert_allclose(log.slope(x[1:]), 1.0 / x[1:], rtol=1e-8)
        arsinh = FunctionTransformer(lambda v, u=unit: np.arcsinh(v / u), check_inverse=False)
        slope = get_transform(arsinh).fitted(x).slope(x)
        np.testing.assert_allclose(slope, 1.0 / np.hypot(x, unit), rtol=1e-8)


@pytest.mark.parametrize(("transform", "x"), CASES)
def test_even_points_are_even_on_the_scale(transform: Transform, x: FloatArray) -> None:
    u = np.linspace(0.0, 1.0, 5)
    z = transform.forward(transform.spread(u, x[0], x[-1]))
    np.testing.assert_allclose(np.diff(z), (z[-1] - z[0]) / 4.0, rtol=1e-6)
    np.testing.assert_allclose([z[0], z[-1]], transform.forward(x[[0, -1]]), rtol=1e-9, atol=1e-12)


def test_a_transformer_has_to_increase() -> None:
    with pytest.raises(InputError, match="FunctionTransformer does not increase"):
        get_transform(FunctionTransformer(np.negative, np.negative)).fitted(POSITIVE)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="low < high"):
        Logit(3.0, 3.0)
    with pytest.raises(InputError, match="power from 0 to 2"):
        BoxCox(-0.5)
    with pytest.raises(InputError, match="no power yet"):
        YeoJohnson().forward(ANY)
    with pytest.raises(InputError, match="use one of none, log, log10, sqrt"):
        get_transform("cube")  # type: ignore[arg-type]


def test_only_powers_are_to_be_estimated() -> None:
    families = [t.name for t in TRANSFORMS.values() if len(t.candidates()) > 1]
    assert families == ["boxcox", "yeojohnson"]
    powers = [t.p for t in BoxCox().candidates() if isinstance(t, BoxCox)]
    assert {0.0, 0.5, 1.0, 2.0} <= set(powers)


def test_scalers_transform_first() -> None:
    X = np.column_stack([10.0 ** np.array([-6.0, -2.0, 2.0]), [1.0, 2.0, 5.0]])
    scaler = InputScaler.from_data(X, [[1e-6, 1e2], [0.0, 10.0]], (Log10(), IDENTITY))
    np.testing.assert_allclose(scaler.transform(X), [[0.0, 0.1], [0.5, 0.2], [1.0, 0.5]])
    np.testing.assert_allclose(scaler.inverse(scaler.transform(X)), X, rtol=1e-12)
    np.testing.assert_allclose(scaler.lengthscale(np.array([4.0, 4.0])), [4.0, 5.0])
    h = 1e-6 * X
    quotient = (scaler.transform(X + h) - scaler.transform(X - h)) / (2.0 * h)
    np.testing.assert_allclose(scaler.slope(X), quotient, rtol=1e-8)
    y = np.array([[1.0], [np.e**2], [np.e**4]])
    response = ResponseScaler.from_data(y, (Log(),))
    assert response.mean.item() == pytest.approx(2.0)
    assert response.sd.item() == pytest.approx(2.0)
    np.testing.assert_allclose(response.inverse(response.transform(y)), y)
