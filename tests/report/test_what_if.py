"""The page's own predictions are those of the model, at any inputs."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser
from sklearn.base import clone

from pengp import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV, PengpWarning
from pengp._core.arrays import FloatArray
from pengp.datasets import latin_hypercube
from pengp.model import BoxCox, Logit, YeoJohnson
from pengp.plots import ContourDisplay
from pengp.report import write_report
from tests.report.test_browser import browser, open_report, pytestmark  # noqa: F401
from tests.report.test_page import check_bindings, read

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
NOISE = np.linspace(0.1, 2.0, 12)
CASES = {
    "linear": (MODELS[0], None),
    "matern32": (MODELS[1], None),
    "average": (MODELS[2], None),
    "noisy": (MODELS[0], NOISE),
    "noisy-average": (MODELS[2], NOISE),
}


@pytest.mark.filterwarnings("ignore:the posterior cannot be trusted")  # few draws are enough
@pytest.mark.parametrize("case", CASES)
def test_the_page_predicts_as_the_model_does(
    case: str,
    browser: Browser,  # noqa: F811
    tmp_path: Path,
) -> None:
    X = BOUNDS[:, 0] + latin_hypercube(12, 3, random_state=0) * np.ptp(BOUNDS, axis=1)
    y = 50.0 + 10.0 * np.sin(0.5 * X[:, 0]) + X[:, 1] * (X[:, 2] - 5.5)
    chosen, noise_sd = CASES[case]
    model = clone(chosen).fit(X, y, noise_sd=noise_sd)
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


TRANSFORMED = {
    "log": (MODELS[0], "log", None),
    "log10-noisy-average": (MODELS[2], "log10", NOISE / 50.0),
    "log-average": (MODELS[2], "log", None),
    "sqrt": (MODELS[0], "sqrt", None),
    "logit": (MODELS[1], Logit(0.0, 90.0), None),
    "boxcox-average": (MODELS[2], BoxCox(0.3), None),
    "yeojohnson": (MODELS[1], YeoJohnson(0.4), None),
}
SCALES = (Logit(-2.0, 12.0), YeoJohnson(0.3), BoxCox(0.5))


@pytest.mark.filterwarnings("ignore:the posterior cannot be trusted")  # few draws are enough
@pytest.mark.parametrize("case", TRANSFORMED)
def test_a_transformed_response_is_predicted_in_its_unit(
    case: str,
    browser: Browser,  # noqa: F811
    tmp_path: Path,
) -> None:
    X = BOUNDS[:, 0] + latin_hypercube(12, 3, random_state=0) * np.ptp(BOUNDS, axis=1)
    y = 30.0 + 20.0 * np.sin(0.5 * X[:, 0]) + X[:, 1] * (X[:, 2] - 5.5)
    chosen, transform, noise_sd = TRANSFORMED[case]
    model = clone(chosen).set_params(
        response_transform=transform, input_transforms=dict(enumerate(SCALES))
    )
    model.fit(X, y, noise_sd=noise_sd)
    write_report(model, tmp_path / "page.html", info={"response": "y"})
    ends = np.array([t.forward(b) for t, b in zip(SCALES, BOUNDS, strict=True)])
    width = np.ptp(ends, axis=1)
    low, high = ends[:, 0] - 0.1 * width, ends[:, 1] + 0.1 * width
    places = np.random.default_rng(0).uniform(low, high, (200, 3))
    points = np.column_stack([t.inverse(z) for t, z in zip(SCALES, places.T, strict=True)])
    opened = open_report(browser, tmp_path / "page.html")
    found = np.array(opened.page.evaluate(PREDICT, ["o0-what-if", places.tolist()]))
    assert opened.complaints == []
    opened.page.close()
    expected = np.column_stack([model.predict(points), *model.predict_interval(points)])
    np.testing.assert_allclose(found[:, :3], expected, rtol=1e-6)


def mixed_runs() -> tuple[pd.DataFrame, FloatArray]:
    """Return 24 runs of an input over eight decades, one of whole numbers, a factor and a load."""
    U = latin_hypercube(24, 4, random_state=3)
    metals = np.array(["aluminium", "steel", "titanium"])[(3.0 * U[:, 2]).astype(int)]
    columns = {
        "k": 10.0 ** (8.0 * U[:, 0] - 6.0),
        "bolts": np.rint(2.0 + 6.0 * U[:, 1]).astype(int),
        "metal": metals,
        "load": 10.0 + 40.0 * U[:, 3],
    }
    y = 3.0 * np.tanh(8.0 * U[:, 0] - 4.0) + 0.5 * columns["bolts"] + 2.0 * (metals == "steel")
    return pd.DataFrame(columns), np.asarray(y + 0.002 * columns["load"] ** 2)


MIXED: dict[str, Any] = {
    "input_transforms": {"k": "log10"},
    "integer_inputs": ["bolts"],
    "random_state": 0,
}
WHAT = ("mean", "width")
SHOWN = "(id) => Array.from(document.getElementById(id)._fullData[0].z, (row) => Array.from(row))"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[PenalizedGPRegressorCV, Path]:
    X, y = mixed_runs()
    model = PenalizedGPRegressorCV(cv=4, lams=[0.0, 0.01, 0.3], **MIXED).fit(X, y)
    path = tmp_path_factory.mktemp("mixed") / "page.html"
    write_report(model, path, info={"response": "stress"})
    check_bindings(read(path))
    return model, path


def test_scales_whole_numbers_and_levels_are_the_model_s(
    mixed: tuple[PenalizedGPRegressorCV, Path],
    browser: Browser,  # noqa: F811
) -> None:
    model, path = mixed
    opened = open_report(browser, path)
    asked = [[-4.0, 3, "2.0", 20.0], [-0.5, 8, "0.0", 11.0], [2.3, 5, "1.0", 49.0]]
    found = opened.page.evaluate(PREDICT, ["o0-what-if", asked])
    options = opened.page.locator("#o0-what-if-2 option").all_text_contents()
    assert options == ["aluminium", "steel", "titanium"]
    whole = opened.page.locator("#o0-what-if-1")
    assert [whole.get_attribute(a) for a in ("min", "max", "step")] == ["2", "8", "1"]
    X = pd.DataFrame(asked, columns=["k", "bolts", "metal", "load"])
    X["k"] = 10.0 ** X["k"]
    X["metal"] = [options[int(float(level))] for level in X["metal"]]
    expected = np.column_stack([model.predict(X), *model.predict_interval(X)])
    np.testing.assert_allclose(np.array(found)[:, :3], expected, rtol=1e-6)
    assert opened.page.locator("#o0-what-if-0-shown").text_content() == "199.5"
    ticks = opened.page.locator(".third .xtick, .half .xtick").all_text_contents()
    assert {"aluminium", "steel", "titanium"} <= set(ticks)
    assert opened.page.locator("#o0-runs td", has_text="titanium").count() > 0
    assert opened.complaints == []
    opened.page.close()


def test_contours_follow_the_sliders_of_the_inputs_and_of_lambda(
    mixed: tuple[PenalizedGPRegressorCV, Path],
    browser: Browser,  # noqa: F811
) -> None:
    model, path = mixed
    opened = open_report(browser, path)
    pair = opened.page.locator("#o0-contour-mean-pair option").all_text_contents()
    names = re.split(" and ", pair[0])
    held = {"k": 1e-3, "bolts": 3.0, "load": 15.0, "metal": 2.0}

    def contours(lam: float) -> ContourDisplay:
        others = {name: held[name] for name in held if name not in names}
        at_lam = model.at_lambda(lam)
        return ContourDisplay.from_estimator(
            at_lam, inputs=(names[0], names[1]), at=others, grid_size=31
        )

    def shown() -> dict[str, FloatArray]:
        opened.settle()
        return {w: np.array(opened.page.evaluate(SHOWN, f"o0-contour-{w}")) for w in WHAT}

    before = shown()
    opened.page.evaluate(PREDICT, ["o0-what-if", [[-3.0, 3, "2.0", 15.0]]])
    after, expected = shown(), contours(model.lam_)
    for what in WHAT:
        wanted = getattr(expected, what)
        np.testing.assert_allclose(after[what], wanted, rtol=1e-6, atol=1e-6 * np.ptp(wanted))
    assert np.abs(after["mean"] - before["mean"]).max() > 0.5
    slider = opened.page.locator("#o0-slider")
    other = 2 if model.lam_ < 0.3 else 0
    slider.evaluate("(s, k) => { s.value = k; s.dispatchEvent(new Event('input')); }", other)
    moved, expected = shown(), contours([0.0, 0.01, 0.3][other])
    for what in WHAT:
        wanted = getattr(expected, what)
        np.testing.assert_allclose(moved[what], wanted, rtol=1e-6, atol=1e-6 * np.ptp(wanted))
    assert opened.complaints == []
    opened.page.close()


def test_contours_of_an_average_follow_too(
    browser: Browser,  # noqa: F811
    tmp_path: Path,
) -> None:
    X, y = mixed_runs()
    model = BayesianGPRegressor(effective_size=200, **MIXED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)  # few draws are enough
        model.fit(X, y)
    write_report(model, tmp_path / "page.html", info={"response": "stress"})
    opened = open_report(browser, tmp_path / "page.html")
    names = opened.page.locator("#o0-contour-mean-pair option").first.text_content()
    opened.page.evaluate(PREDICT, ["o0-what-if", [[-3.0, 3, "0.0", 15.0]]])
    opened.settle()
    held = {"k": 1e-3, "bolts": 3.0, "load": 15.0, "metal": 0.0}
    pair = (names or "").split(" and ")
    others = {name: held[name] for name in held if name not in pair}
    expected = ContourDisplay.from_estimator(
        model, inputs=(pair[0], pair[1]), at=others, grid_size=31
    )
    for what, digits in (("mean", 1e-6), ("width", 3e-3)):  # intervals are found in few steps
        shown, wanted = opened.page.evaluate(SHOWN, f"o0-contour-{what}"), getattr(expected, what)
        np.testing.assert_allclose(shown, wanted, rtol=digits, atol=1e-6 * np.ptp(wanted))
    assert opened.complaints == []
    opened.page.close()
