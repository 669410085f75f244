"""Every call that the migration table offers runs, and a few are compared by value."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pengp
from pengp.choosing.metrics import get_metric
from pengp.datasets import load_piston_slap
from pengp.model.kernels import correlation, get_kernel
from pengp.model.means import get_mean
from pengp.model.posterior import condition
from pengp.model.scaling import InputScaler, ResponseScaler
from tests.problems import reference

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
ROW = re.compile(r"^\| `(?P<theirs>.*?)` .*\| `(?P<ours>[^|]*)` \|$", re.MULTILINE)
CALLS = [match.group("ours") for match in ROW.finditer(PAGE.read_text())]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    runs = load_piston_slap()
    X = InputScaler.from_data(runs.X).transform(runs.X)
    y = ResponseScaler.from_data(runs.y).transform(runs.y)
    theta = np.array([0.387, 0.001, 0.001, 0.906, 0.019, 0.428])
    X_new, y_new = np.full((3, 6), 0.4) + 0.1 * np.eye(3, 6), np.array([0.1, 0.2, -0.3])
    posterior = condition(X, y, theta, kernel=get_kernel("sqexp"), nugget=1e-5)
    mu, R = posterior.predict_cov(X_new)
    found: dict[str, Any] = {
        "X": X,
        "y": y,
        "theta": theta,
        "X_new": X_new,
        "y_new": y_new,
        "mu": mu,
        "R": R,
    }
    found |= {"Sigma": posterior.sigma2 * R, "lams": pengp.lambda_grid("paper", n=6)}
    found |= {name: getattr(pengp, name) for name in pengp.__all__}
    found |= {"correlation": correlation, "get_kernel": get_kernel, "condition": condition}
    return found | {"get_metric": get_metric}


def test_the_table_names_every_function_and_argument_of_gppenalty() -> None:
    text = PAGE.read_text()
    functions = ("mle_gp(", "mle_penalty(", "gp_cv(", "predict_gp(", "score(", "dpe(", "kernel(")
    arguments = "sep mu g fixed_g profile initialvals n_init penalty scad lambda theta_lower k"
    for word in functions:
        assert f"`{word}" in text
    for word in (*arguments.split(), "theta_upper", "metric", "one.se", "ncores"):
        assert f"{word} = " in text
    assert len(CALLS) >= 30


@pytest.mark.parametrize("call", sorted(set(CALLS)))
def test_a_call_of_the_table_runs(call: str, names: dict[str, Any]) -> None:
    result = eval(call, dict(names))
    if isinstance(result, pengp.PathFit):
        assert result.converged.all()
        assert np.isfinite(result.theta).all()
    elif isinstance(result, float | np.ndarray):
        assert np.isfinite(result).all()
    else:
        assert result is not None


def test_the_metrics_are_those_of_the_r_functions(names: dict[str, Any]) -> None:
    r = names["y_new"] - names["mu"]
    quadratic = r @ np.linalg.solve(names["R"], r)
    root = eval('get_metric("root_dpe")(y_new - mu, R, 1.0)', dict(names))
    np.testing.assert_allclose(root, np.sqrt(quadratic), rtol=1e-10)
    Sigma = names["Sigma"]
    by_hand = -(np.linalg.slogdet(Sigma)[1] + r @ np.linalg.solve(Sigma, r)) / 3.0
    score = eval('get_metric("scaled_score")(y_new - mu, Sigma, 1.0)', dict(names))
    np.testing.assert_allclose(score, by_hand, rtol=1e-10)


def test_the_kernel_is_that_of_the_r_function(names: dict[str, Any]) -> None:
    X, theta, X_new = names["X"], names["theta"], names["X_new"]
    s = sum(theta[p] * np.subtract.outer(X[:, p], X[:, p]) ** 2 for p in range(6))
    np.testing.assert_allclose(correlation(X, theta), np.exp(-s) + 1e-5 * np.eye(12), rtol=1e-13)
    one = np.exp(-np.sum(0.7 * (X_new[1] - X[4]) ** 2))
    np.testing.assert_allclose(correlation(X, 0.7, X_new)[1, 4], one, rtol=1e-13)


def test_how_much_smaller_variances_are_without_the_term_of_the_estimated_mean() -> None:
    shares = []
    for record in reference().values():
        X, y, X_new = (np.array(record[name], dtype=float) for name in ("x", "y", "x_test"))
        theta = pengp.penalized_path(X, y, [0.0], mean="constant", random_state=0).theta[0]
        R, r, one = correlation(X, theta), correlation(X, theta, X_new), np.ones(len(y))
        u = 1.0 - np.linalg.solve(R, r.T).T @ one
        without = 1.0 + 1e-5 - np.sum(r * np.linalg.solve(R, r.T).T, axis=1)
        term = u * u / (one @ np.linalg.solve(R, one))
        settings: dict[str, Any] = {"kernel": get_kernel("sqexp"), "nugget": 1e-5}
        ours = condition(X, y, theta, mean=get_mean("constant"), **settings).predict(X_new)[1]
        np.testing.assert_allclose(ours, without + term, rtol=1e-9)
        shares.append(100.0 * term / (without + term))
    means = [share.mean() for share in shares]
    most = max(share.max() for share in shares)
    said = f"{min(means):.1f} to {max(means):.1f} % smaller on average over the test points"
    assert f"{said} and {most:.0f} % at most" in " ".join(PAGE.read_text().split())
