"""What a fit tells of itself, and the surrogate inside pipelines."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pengp import (
    BayesianGPRegressor,
    DoubtWarning,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    diagnose,
    load,
    load_piston_slap,
    save,
)
from pengp.plots import LeaveOneOutDisplay
from pengp.report import write_report
from tests.problems import correlation

RUNS = load_piston_slap()
FRAME = pd.DataFrame(RUNS.X, columns=[f"<{p}>" for p in "abcdef"])


@pytest.mark.parametrize("kind", [BayesianGPRegressor, PenalizedGPRegressorCV])
def test_a_useless_fit_warns_once_and_its_summary_says_all(kind: Any) -> None:
    with pytest.warns(DoubtWarning, match="no better than by their mean") as caught:
        model = kind(random_state=0).fit(FRAME, RUNS.y)
    assert len(caught) == 1
    summary, found = model.summary(), diagnose(model)
    assert found.held_out is not None
    text, html = str(summary), summary._repr_html_()
    assert f"Q2 {found.held_out.scores()['q2']:.4g}" in text
    assert all(finding.message in text for finding in found.findings)
    assert "<a>" in text
    assert "<a>" not in html
    assert "&lt;a&gt;" in html


def test_a_sound_average_is_silent() -> None:
    X = np.linspace(0.0, 1.0, 12)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesianGPRegressor(random_state=0).fit(X, np.sin(6.0 * X[:, 0]))


def test_a_sound_fit_does_not_warn() -> None:
    X = np.linspace(0.0, 1.0, 20)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PenalizedGPRegressorCV(random_state=0).fit(X, np.sin(5.0 * X[:, 0]))
    assert "Beware" not in str(model.summary())


def test_each_output_has_its_part_of_the_summary() -> None:
    X = np.linspace(0.0, 1.0, 12)[:, None]
    y = np.c_[np.sin(5.0 * X[:, 0]), np.tile([-1.0, 1.0], 6)]
    text = str(PenalizedGPRegressor(random_state=0).fit(X, y).summary())
    assert "output 0: Held-out runs" in text
    assert "output 1: Predictions of runs that were held out are no better" in text


def test_another_mode_predicts_as_the_process_at_its_theta(tmp_path: Path) -> None:
    model = PenalizedGPRegressorCV(random_state=0).fit(FRAME, RUNS.y)
    other, modes = model.at_mode(2), model.modes_
    assert np.array_equal(other.theta_, modes.theta[1])
    assert np.array_equal(other.modes_.theta[:2], modes.theta[[1, 0]])
    low, high, middle = RUNS.X.min(0), RUNS.X.max(0), FRAME.mean().to_frame().T
    X, new = ((a - low) / (high - low) for a in (RUNS.X, middle.to_numpy()))
    both = correlation(np.concatenate([X, new]), modes.theta[1], 1e-5, "sqexp")
    weights = np.linalg.solve(both[:-1, :-1], both[:-1, -1])
    expected = RUNS.y.mean() + weights @ (RUNS.y - RUNS.y.mean())
    assert other.predict(middle) == pytest.approx(expected, rel=1e-9)
    save(other, tmp_path / "other.pengp")
    assert np.array_equal(load(tmp_path / "other.pengp").predict(middle), other.predict(middle))
    assert np.array_equal(model.at_mode(1).predict(middle), model.predict(middle))
    assert np.array_equal(
        model.modes_.theta, modes.theta, equal_nan=True
    )  # the model itself is as it was
    with pytest.raises(InputError, match=r"there is no mode 99; at lambda 0\.0\d+ \d+ were found"):
        model.at_mode(99)


def test_the_surrogate_inside_a_pipeline_is_found_with_its_names(tmp_path: Path) -> None:
    own = PenalizedGPRegressor(0.01, random_state=0)
    target = TransformedTargetRegressor(own, transformer=StandardScaler())
    pipeline = make_pipeline(StandardScaler(), target).fit(FRAME, RUNS.y)
    inside = pipeline[-1].regressor_
    assert diagnose(pipeline).scores == diagnose(inside).scores
    plain = make_pipeline(StandardScaler(), own).fit(FRAME, RUNS.y)
    assert LeaveOneOutDisplay.from_estimator(plain).plot().ax_ is not None
    write_report(plain, tmp_path / "page.html")
    assert "&lt;a&gt;" in (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="or a pipeline that ends in one, not a StandardScaler"):
        diagnose(make_pipeline(own, StandardScaler()))


def test_an_average_has_a_summary() -> None:
    model = BayesianGPRegressor(kernels="sqexp", random_state=0).fit(FRAME, RUNS.y)
    assert "Held-out runs (each run left out in turn): RMSE" in str(model.summary())
