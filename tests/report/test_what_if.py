"""The page's own predictions are those of the model, at any inputs."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser

from pengp import BayesianGPRegressor, PenalizedGPRegressor
from pengp.datasets import latin_hypercube
from pengp.report import write_report
from tests.report.test_browser import browser, open_report, pytestmark  # noqa: F401

BOUNDS = np.array([[0.0, 10.0], [-1.0, 1.0], [5.0, 6.0]])
PREDICT = """([id, points]) => {
  const section = document.getElementById(id);
  section.scrollIntoView();
  const value = (role) => Number(section.querySelector(`[data-role=${role}]`).dataset.value);
  return points.map((point) => {
    point.forEach((x, p) => { document.getElementById(`${id}-${p}`).value = String(x); });
    document.getElementById(`${id}-0`).dispatchEvent(new Event("input"));
    const outside = section.querySelector("[data-role=outside]");
    return [value("mean"), value("lower"), value("upper"), outside.hidden ? 0 : 1];
  });
}"""
MODELS = [
    PenalizedGPRegressor(0.01, random_state=0, input_bounds=BOUNDS, mean="linear"),
    PenalizedGPRegressor(0.01, random_state=0, input_bounds=BOUNDS, kernel="matern32", mean="zero"),
    BayesianGPRegressor(input_bounds=BOUNDS, effective_size=200, random_state=0),
]


@pytest.mark.filterwarnings("ignore:the posterior cannot be trusted")  # few draws are enough
@pytest.mark.parametrize("model", MODELS, ids=["linear", "matern32", "average"])
def test_the_page_predicts_as_the_model_does(
    model: BayesianGPRegressor | PenalizedGPRegressor,
    browser: Browser,  # noqa: F811
    tmp_path: Path,
) -> None:
    X = BOUNDS[:, 0] + latin_hypercube(12, 3, random_state=0) * np.ptp(BOUNDS, axis=1)
    y = 50.0 + 10.0 * np.sin(0.5 * X[:, 0]) + X[:, 1] * (X[:, 2] - 5.5)
    model.fit(X, y)
    write_report(model, tmp_path / "page.html", info={"response": "y"})
    assert (tmp_path / "page.html").stat().st_size < 4_000_000
    width = np.ptp(BOUNDS, axis=1)
    low, high = BOUNDS[:, 0] - 0.1 * width, BOUNDS[:, 1] + 0.1 * width
    points = np.random.default_rng(0).uniform(low, high, (200, 3))
    opened = open_report(browser, tmp_path / "page.html")
    found = np.array(opened.page.evaluate(PREDICT, ["o0-what-if", points.tolist()]))
    assert opened.complaints == []
    opened.page.close()
    expected = np.column_stack([model.predict(points), *model.predict_interval(points)])
    np.testing.assert_allclose(found[:, :3], expected, rtol=1e-6)
    outside = ((points < X.min(0)) | (points > X.max(0))).any(1)
    np.testing.assert_array_equal(found[:, 3] == 1.0, outside)
    assert 0 < outside.sum() < 200
