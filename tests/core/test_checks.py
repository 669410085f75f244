"""Bad input to the path gets one clear sentence, or a sensible result and a warning."""

import warnings
from typing import Any

import numpy as np
import pytest

from pengp import InputError, PengpWarning, penalized_path
from pengp._core.arrays import FloatArray, as_floats
from pengp._core.checks import check_choice, check_flag
from tests.problems import slow_loglik, smooth_runs

X, Y = smooth_runs(8, 2)
LAMS = [0.0, 0.05]


def fit_of(
    inputs: Any = X, response: Any = Y, lams: Any = LAMS, random_state: Any = 0, **options: Any
) -> Any:
    """Fit with one part replaced."""
    return penalized_path(inputs, response, lams, random_state=random_state, **options)


def with_value(array: FloatArray, place: Any, value: Any) -> FloatArray:
    """Return a copy with one value replaced."""
    copy = array.copy()
    copy[place] = value
    return copy


BAD_DATA: dict[str, tuple[Any, Any, str]] = {
    "nan in X": (with_value(X, (3, 1), np.nan), Y, "X has nan in row 3, column 1"),
    "inf in X": (with_value(X, (0, 0), np.inf), Y, "X has inf in row 0, column 0"),
    "nan in y": (X, with_value(Y, 5, np.nan), "y has nan in row 5"),
    "inf in y": (X, with_value(Y, 2, -np.inf), "y has -inf in row 2"),
    "X without a column axis": (X[:, 0], Y, r"X must have shape \[n, d\].*X\[:, None\]"),
    "X a number": (0.5, Y, r"X must have shape \[n, d\]"),
    "X empty": ([], Y, r"X must have shape \[n, d\]"),
    "X of text": ([["a", "b"], ["c", "d"]], Y[:2], "X must be a numeric array"),
    "y of text": (X, ["low"] * 8, "y must be a numeric array"),
    "X ragged": ([[0.1, 0.2], [0.3]], Y[:2], "X must be a numeric array"),
    "list of ragged X": ([[[0.1, 0.2], [0.3]], [[0.1, 0.2], [0.3, 0.4]]], [Y[:2]] * 2, "X must be"),
    "too few y": (X, Y[:7], r"X has shape \(8, 2\) but y has \(7,\): runs must match"),
    "y as a column": (X, Y[:, None], "runs must match"),
    "y a number": (X, 1.0, "runs must match"),
    "leading axes": (np.stack([X, X]), np.stack([Y, Y, Y]), "do not fit together"),
    "no data set": (np.empty((0, 8, 2)), np.empty((0, 8)), "at least one data set"),
    "one run": (X[:1], Y[:1], "at least 2 runs"),
    "no run": (X[:0], Y[:0], "at least 2 runs"),
    "no input": (X[:, :0], Y, "1 input"),
    "above the cube": (with_value(X, (4, 0), 1.2), Y, "unit cube, but row 4, column 0 is 1.2"),
    "below the cube": (with_value(X, (4, 1), -0.1), Y, "unit cube, but row 4, column 1 is -0.1"),
    "repeated run": (
        with_value(X, 6, X[1]),
        Y,
        "rows 1 and 6 of X have the same inputs.*different",
    ),
    "list and array": ([X, X], Y, "y must be a list of as many"),
    "unequal lists": ([X, X], [Y], "y must be a list of as many"),
    "list with other d": ([X, X[:, :1]], [Y, Y], "same d"),
    "nan in the second": ([X, with_value(X, (0, 1), np.nan)], [Y, Y], "X of data set 1 has nan"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(case: str) -> None:
    inputs, response, words = BAD_DATA[case]
    with pytest.raises(InputError, match=words):
        fit_of(inputs, response)


BAD_ARGUMENTS: dict[str, tuple[dict[str, Any], str]] = {
    "negative lambda": ({"lams": [0.1, -0.2]}, "but lams holds -0.2"),
    "nan lambda": ({"lams": [np.nan]}, "lams holds nan"),
    "infinite lambda": ({"lams": [0.0, np.inf]}, "lams holds inf"),
    "no lambda": ({"lams": []}, "lams must be a list of at least one number"),
    "lams with two axes": ({"lams": [[0.1]]}, "lams must be a list"),
    "lams of text": ({"lams": "paper"}, "lams must be numbers"),
    "lams None": ({"lams": None}, "lams"),
    "negative nugget": ({"nugget": -1e-5}, "nugget must be a number from 0 up to"),
    "nan nugget": ({"nugget": np.nan}, "nugget must be"),
    "infinite nugget": ({"nugget": np.inf}, "nugget must be"),
    "nugget of text": ({"nugget": "fit"}, "nugget must be.*'fit'"),
    "nugget None": ({"nugget": None}, "nugget must be"),
    "several nuggets": ({"nugget": np.array([1e-5, 1e-4])}, "nugget must be"),
    "complex nugget": ({"nugget": 1j}, "nugget must be"),
    "bounds reversed": ({"theta_bounds": (10.0, 1.0)}, "1e-50 <= lower <= upper <= .*, not"),
    "bound zero": ({"theta_bounds": (0.0, 1.0)}, "1e-50 <= lower <= upper"),
    "bound infinite": ({"theta_bounds": (1e-3, np.inf)}, "theta_bounds must satisfy"),
    "bound nan": ({"theta_bounds": (np.nan, 1.0)}, "theta_bounds must satisfy"),
    "one bound": ({"theta_bounds": 3.0}, "theta_bounds must be two numbers"),
    "three bounds": ({"theta_bounds": (1, 2, 3)}, "theta_bounds must be two numbers"),
    "unknown mean": ({"mean": "constnat"}, "mean='constnat' is unknown"),
    "unknown kernel": ({"kernel": "rbf"}, "kernel='rbf' is unknown"),
    "kernel no kernel": ({"kernel": 3}, "kernel=3"),
    "unknown penalty": ({"penalty": "l1"}, "penalty='l1' is unknown"),
    "penalty None": ({"penalty": None}, "penalty=None"),
    "negative starts": ({"n_starts": -1}, "n_starts must be a whole number from 0 to 10,000"),
    "half a start": ({"n_starts": 1.5}, "n_starts must be a whole number"),
    "seed of text": ({"random_state": "today"}, "random_state='today' is not a seed"),
    "negative seed": ({"random_state": -1}, "random_state=-1 is not a seed"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_arguments(case: str) -> None:
    options, words = BAD_ARGUMENTS[case]
    with pytest.raises(InputError, match=words):
        fit_of(**options)


def test_words_flags_and_numbers_are_checked_by_one_rule() -> None:
    assert check_choice(np.str_("min"), "rule", ("1se", "min")) == "min"
    assert check_flag(np.True_, "each") is True
    wrong: list[Any] = [np.zeros(0), np.array("min"), None, 1, [], {}, "max", 10**400]
    for value in wrong:
        with pytest.raises(InputError, match=r"rule=.* is none of 1se, min"):
            check_choice(value, "rule", ("1se", "min"))
        with pytest.raises(InputError, match="each must be True or False, not "):
            check_flag(value, "each")
    no_arrays: list[Any] = [10**400, [10**400], {}, object(), "max"]
    for value in no_arrays:
        with pytest.raises(InputError, match="y must be a numeric array"):
            as_floats(value, "y")


def test_round_off_may_leave_the_cube() -> None:
    assert fit_of(with_value(X, (4, 0), 1.0 + 1e-12)).converged.all()


def test_a_single_lambda_is_a_path_of_one() -> None:
    assert fit_of(lams=0.05).theta.shape == (1, 2)


def test_a_constant_response_around_an_estimated_mean() -> None:
    with pytest.warns(PengpWarning, match="y is constant.*around the estimated mean"):
        fit = fit_of(response=np.full(8, 4.0), mean="constant")
    assert (fit.theta == 1e-3).all()
    assert (fit.at_bound == -1).all()
    assert (fit.mean == 4.0).all()
    assert (fit.sigma2 == 0.0).all()
    assert (fit.objective == np.inf).all()
    assert (fit.modes.count == 1).all()


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_a_constant_response_around_zero(value: float) -> None:
    with pytest.warns(PengpWarning, match="y is constant.*around a zero mean"):
        fit = fit_of(response=np.full(8, value))
    assert (fit.theta == 1e-3).all()
    assert (fit.mean == 0.0).all()
    if value:
        sigma2 = slow_loglik(X, np.full(8, value), np.full(2, 1e-3))[1]
        assert np.allclose(fit.sigma2, sigma2, rtol=1e-8)
    else:
        assert (fit.sigma2 == 0.0).all()


def test_a_constant_response_beside_others() -> None:
    with pytest.warns(PengpWarning, match="y of data set 1 is constant"):
        fit = fit_of([X, X, X[:6]], [Y, np.ones(8), Y[:6]], mean="constant")
    alone = [fit_of(mean="constant"), fit_of(X[:6], Y[:6], mean="constant")]
    assert np.allclose(fit.theta[[0, 2]], [a.theta for a in alone], rtol=1e-8)
    assert (fit.theta[1] == 1e-3).all()
    assert (fit.mean[1] == 1.0).all()


def test_a_constant_column_stays_at_the_lower_bound() -> None:
    inputs = with_value(X, (slice(None), 1), 0.25)
    with pytest.warns(PengpWarning, match="column 1 of X is constant"):
        fit = fit_of(inputs)
    alone = fit_of(inputs[:, :1])
    assert (fit.theta[:, 1] == 1e-3).all()
    assert np.allclose(fit.theta[:, 0], alone.theta[:, 0], rtol=1e-6)
    assert np.allclose(fit.loglik, alone.loglik, atol=1e-9)
    assert (fit.at_bound[:, 1] == -1).all()


def test_a_constant_column_of_an_isotropic_fit_changes_nothing() -> None:
    inputs = with_value(X, (slice(None), 1), 0.25)
    with pytest.warns(PengpWarning, match="column 1 of X is constant"):
        fit = fit_of(inputs, isotropic=True)
    alone = fit_of(inputs[:, :1])
    assert np.allclose(fit.theta[:, 0], alone.theta[:, 0], rtol=1e-6)


def test_all_columns_constant() -> None:
    with pytest.raises(InputError, match=r"rows 0 and \d of X have the same inputs"):
        fit_of(np.full((8, 2), 0.5))


def test_a_repeated_run_with_the_same_response() -> None:
    inputs, response = np.vstack([X, X[3]]), np.append(Y, Y[3])
    fit = fit_of(inputs, response)
    assert fit.converged.all()
    value = slow_loglik(inputs, response, fit.theta[0])[0]
    assert fit.loglik[0] == pytest.approx(value, abs=1e-7)
    with (
        pytest.warns(PengpWarning, match="nugget=0"),
        pytest.raises(
            InputError, match=r"rows 3 and 8 of X have the same inputs.*singular with nugget=0"
        ),
    ):
        fit_of(inputs, response, nugget=0.0)


def test_a_repeated_run_with_another_response_can_have_its_nugget_estimated() -> None:
    inputs, response = np.vstack([X, X[3]]), np.append(Y, Y[3] + 0.5)
    with pytest.raises(InputError, match=r"rows 3 and 8.*different.*nugget='estimate'"):
        fit_of(inputs, response)
    fit = fit_of(inputs, response, nugget="estimate")
    assert fit.converged.all()
    assert (fit.nugget > 1e-4).all()


@pytest.mark.parametrize("n", [8, 60, 70])
def test_without_a_nugget(n: int) -> None:
    inputs = np.linspace(0.0, 1.0, n)[:, None]
    response = np.sin(9.0 * inputs[:, 0])
    with pytest.warns(PengpWarning, match="nugget=0"):
        fit = fit_of(inputs, response, nugget=0.0, kernel="matern32", n_starts=2)
    assert np.isfinite(fit.theta).all()
    assert np.isfinite(fit.objective).all()
    value = slow_loglik(inputs, response, fit.theta[0], 0.0, "matern32")[0]
    assert fit.loglik[0] == pytest.approx(value, rel=1e-5)


def test_no_estimate_at_all_is_not_silent() -> None:
    """Sixty runs on a line, squared exponential, no nugget: R is singular for every theta."""
    inputs = np.linspace(0.0, 1.0, 60)[:, None]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = fit_of(inputs, np.sin(9.0 * inputs[:, 0]), nugget=0.0, theta_bounds=(1e-3, 10.0))
        except InputError:
            return
    assert all(issubclass(w.category, PengpWarning) for w in caught)
    assert any("singular for every theta" in str(w.message) for w in caught) or (
        np.isfinite(fit.theta).all()
    )


def test_a_huge_lambda_sends_every_theta_to_the_lower_bound() -> None:
    for penalty in ("lasso", "scad", "ridge"):
        fit = fit_of(lams=[1e12], penalty=penalty)
        assert (fit.theta == 1e-3).all()
        assert (fit.at_bound == -1).all()


def test_warnings_point_at_the_caller() -> None:
    with pytest.warns(PengpWarning, match="constant") as caught:
        penalized_path(X, np.ones(8), [0.1], random_state=0)
    assert caught[0].filename == __file__
