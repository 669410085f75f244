"""The estimators keep scikit-learn's contract: checks, frames, searches, representations."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from pengp import InputError
from pengp.datasets import load_piston_slap
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV

CHEAP: dict[str, Any] = {"n_starts": 1}
RUNS = load_piston_slap()
NAMES = [f"<{name}>" for name in RUNS.input_names]


@pytest.mark.filterwarnings("ignore:row .* of X and y repeats row:pengp.PengpWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]  # scikit-learn ships no types
    [
        PenalizedGPRegressor(**CHEAP),
        PenalizedGPRegressor(0.01, mean="constant", nugget="estimate", isotropic=True, **CHEAP),
        PenalizedGPRegressorCV(lams=[0.0, 0.01], cv=2, **CHEAP),
    ]
)
def test_scikit_learn_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(frame: Any) -> None:
    data = frame(dict(zip(NAMES, RUNS.X.T, strict=True)))
    plain = PenalizedGPRegressor(0.05, random_state=0).fit(RUNS.X, RUNS.y)
    model = PenalizedGPRegressor(0.05, random_state=0).fit(data, data[NAMES[0]] * 0 + RUNS.y)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.predict(data), plain.predict(RUNS.X))
    np.testing.assert_array_equal(model.predict_gradient(data), plain.predict_gradient(RUNS.X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(data[NAMES[::-1]])
    more = model.condition_on(data[:1], RUNS.y[:1])
    assert len(more.loo_.mean) == 13


def test_names_are_used_in_messages() -> None:
    data = pd.DataFrame(RUNS.X, columns=NAMES)
    bounds = np.c_[RUNS.X.min(0), RUNS.X.max(0)]
    bounds[2, 1] -= 0.5
    row = int(np.argmax(RUNS.X[:, 2] > bounds[2, 1]))
    with pytest.raises(InputError, match=rf"row {row}, column 2 \('<skirt length>'\), outside"):
        PenalizedGPRegressor(input_bounds=bounds).fit(data, RUNS.y)


def test_before_fit_nothing_is_known() -> None:
    model = PenalizedGPRegressorCV()
    for call in (lambda: model.predict(RUNS.X), lambda: model.loo_, lambda: model.flat_):
        with pytest.raises(NotFittedError):
            call()
    assert str(model) == repr(model) == "PenalizedGPRegressorCV()"


def test_fit_rewrites_no_parameter() -> None:
    settings: dict[str, Any] = {
        "lams": [0.0, 0.1],
        "cv": [0, 1, 2] * 4,
        "n_starts": np.ones((2, 6)),
    }
    model = PenalizedGPRegressorCV(random_state=0, **settings).fit(RUNS.X, RUNS.y)
    for name, value in settings.items():
        assert getattr(model, name) is value
    assert not hasattr(clone(model), "theta_")


def test_grid_search_over_any_parameter() -> None:
    grid = {
        "lam": [0.0, 0.05],
        "kernel": ["sqexp", "matern52"],
        "penalty": ["scad"],
        "isotropic": [True],
        "nugget": [1e-5, "estimate"],
        "mean": ["constant"],
        "theta_bounds": [(1e-2, 10.0)],
        "input_bounds": [np.c_[RUNS.X.min(0) - 1.0, RUNS.X.max(0)]],
        "n_starts": [2],
    }
    search = GridSearchCV(PenalizedGPRegressor(random_state=0), grid, cv=3, error_score="raise")
    search.fit(RUNS.X, RUNS.y)
    assert len(search.cv_results_["params"]) == 8
    assert search.best_estimator_.theta_.max() <= 10.0
    cv = PenalizedGPRegressorCV(lams=[0.0, 0.1], isotropic=True, random_state=0)
    choices = {"metric": ["dpe", "pe"], "rule": ["min", "1se"], "cv": [3, "loo", LeaveOneOut()]}
    GridSearchCV(cv, choices, cv=2, error_score="raise").fit(RUNS.X, RUNS.y)


def test_pipelines_pass_through() -> None:
    shifted = make_pipeline(
        FunctionTransformer(lambda X: 2.0 * X - 1.0), PenalizedGPRegressor(0.05, random_state=0)
    ).fit(RUNS.X, RUNS.y)
    plain = PenalizedGPRegressor(0.05, random_state=0).fit(RUNS.X, RUNS.y)
    new = RUNS.X[:4] + 0.1
    mean, std = shifted.predict(new, return_std=True)
    np.testing.assert_allclose(mean, plain.predict(new), rtol=1e-6)
    np.testing.assert_allclose(std, plain.predict(new, return_std=True)[1], rtol=1e-5)
    # R2 by hand.
    y, mu = RUNS.y, plain.predict(RUNS.X)
    r2 = 1.0 - ((y - mu) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert plain.score(RUNS.X, y) == pytest.approx(r2, rel=1e-12)


def test_representations_show_the_fit_and_escape_names() -> None:
    data = pd.DataFrame(RUNS.X, columns=NAMES)
    model = PenalizedGPRegressor(0.05, random_state=0).fit(data, RUNS.y)
    text, html = str(model), model._repr_html_()
    assert text.startswith("PenalizedGPRegressor(lam=0.05, random_state=0)\nlambda = 0.05, ")
    line = next(line for line in text.splitlines() if line.startswith("<skirt profile>"))
    assert line.split()[-2:] == [f"{model.theta_[3]:.4g}", f"{model.lengthscale_[3]:.4g}"]
    assert "<td>&lt;skirt profile&gt;</td>" in html
    assert f"<td>{model.theta_[3]:.4g}</td>" in html
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == text
    assert "pengp-fitted" in bundle["text/html"]
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()
    assert "pengp-fitted" not in PenalizedGPRegressor()._repr_html_()


def test_representation_of_many_rows_is_cut() -> None:
    X = np.random.default_rng(0).random((6, 4))
    y = np.random.default_rng(1).random((6, 20))
    model = PenalizedGPRegressor(0.1, isotropic=True, n_starts=0, random_state=0).fit(X, y)
    text = str(model)
    assert "output 19: lambda = 0.1" in text
    assert text.endswith("... and 20 more rows")
    assert "output  input  theta" in text
