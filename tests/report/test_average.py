"""The report on an average: the model's own numbers, and the paper's choice beside it."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pengp import BayesianGPRegressor, PenalizedGPRegressorCV, load, save
from pengp.choosing.folds import random_folds
from pengp.datasets import load_piston_slap
from pengp.decisions import effects, next_runs
from pengp.estimators.view import view_of
from pengp.plots.posterior import label_of
from pengp.report import write_report
from pengp.report.beside import difference, paper_fit
from pengp.report.text import number, percent
from tests.report.test_page import Page, check_bindings, read

RUNS = load_piston_slap()
FRAME = pd.DataFrame(RUNS.X, columns=list(RUNS.input_names))


@cache
def average() -> BayesianGPRegressor:
    """Return the average of the piston-slap runs."""
    return BayesianGPRegressor(random_state=0).fit(FRAME, RUNS.y)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Return the report on it."""
    path = tmp_path_factory.mktemp("average") / "average.html"
    (told,) = write_report(average(), path, info={"response": "noise"})
    assert path.stat().st_size < 4e6
    found = read(path)
    assert " ".join(told.split()) in found.words
    return found


def test_accuracy_is_that_of_held_out_runs_and_comes_first(page: Page) -> None:
    scores = average().held_out().scores()
    text = f"typically {number(scores['rmse'], 3)} (RMSE)"
    assert text in page.words
    assert page.words.index("Accuracy.") < page.words.index("Inputs.")
    table = page.text[page.text.index('<table id="o0-held">') :]
    table = table[: table.index("</table>")]
    for name in ("rmse", "q2", "crps", "interval_score"):
        assert f">{number(scores[name])}<" in table
    assert f">{percent(scores['coverage'])}<" in table
    assert "flatters" not in table


def test_bands_are_the_quantiles_of_the_mixture(page: Page) -> None:
    model, held = average(), average().held_out()
    x, labels = page.array("o0-slice.x"), page.array("o0-slice.label")
    for k, name in enumerate(labels):
        points = np.tile(RUNS.X.mean(0), (len(x[k]), 1))
        points[:, list(FRAME.columns).index(name)] = x[k]
        new = pd.DataFrame(points, columns=FRAME.columns)
        ends = model.predict_quantiles(new, [0.025, 0.975])
        for side, name_of_array in enumerate(("lower", "upper")):
            shown = page.array(f"o0-slice.{name_of_array}")[0, k]
            np.testing.assert_allclose(shown, ends[:, side], rtol=1e-5)
    above, below = (page.array(f"o0-loo.{side}")[0] for side in ("above", "below"))
    np.testing.assert_allclose(above, held.upper - held.mean, rtol=1e-4)
    np.testing.assert_allclose(below, held.mean - held.lower, rtol=1e-4)
    assert not np.allclose(above, below, rtol=1e-3)  # these laws are not symmetric


def test_kernels_explanations_and_inputs_have_their_weights(page: Page) -> None:
    model, view = average(), view_of(average())
    for name, weight in model.kernel_weights_.items():
        assert f"{label_of(name)} {percent(round(weight, 2))}" in page.words
    table = page.text[page.text.index('<table id="o0-explained">') :]
    for one in view.average.explanations:
        assert f">{percent(round(one.weight, 3))}<" in table
    for name, probability in zip(FRAME.columns, model.activity_.probability, strict=True):
        assert f"{name} ({percent(round(float(probability), 2))}, lengthscale " in page.words
    for text in (f"{model.effective_size_:.1f} of", f"{model.pareto_shape_:.3f}"):
        assert text in page.words
    assert f"{model.log_evidence_!r} ± {model.log_evidence_error_!r}" in page.words


def test_the_paper_s_choice_is_that_of_the_penalized_estimator(page: Page) -> None:
    plan = random_folds(12, 5, repeats=10, random_state=0)
    paper = PenalizedGPRegressorCV(cv=plan, random_state=0).fit(RUNS.X, RUNS.y)
    path = page.data["figures"]["p0-path"]["data"][0]
    assert len(path["x"]["bdata"]) > 0
    assert f"λ\xa0=\xa0{number(paper.lam_, 3)} was chosen among 41 values" in page.text
    assert page.by_id("p0-cv")["aria-label"]
    slices, labels = page.array("o0-slice.beside"), page.array("o0-slice.label")
    x = page.array("o0-slice.beside-x")
    for k, name in enumerate(labels):
        points = np.tile(RUNS.X.mean(0), (len(x[k]), 1))
        points[:, list(FRAME.columns).index(name)] = x[k]
        np.testing.assert_allclose(slices[k], paper.predict(points), rtol=1e-5)
    assert page.data["state"]["p0.lam"] == np.flatnonzero(np.sort(paper.path_.lams) == paper.lam_)


def test_the_difference_is_measured_in_the_average_s_standard_deviations() -> None:
    own, paper = view_of(average()), view_of(paper_fit(average()))
    found = difference(own, paper)
    X = np.random.default_rng(0).uniform(RUNS.X.min(0), RUNS.X.max(0), (2000, 6))
    new = pd.DataFrame(X, columns=FRAME.columns)
    mean, std = average().predict(new, return_std=True)
    away = (paper.estimator.predict(X) - mean) / std
    assert found.typical == pytest.approx(np.sqrt(np.mean(away**2)), rel=0.1)
    assert found.typical < found.largest
    low, high = average().predict_interval(new)
    other = np.ptp(paper.estimator.predict_interval(X), axis=0)
    assert found.width == pytest.approx(np.median(other / (high - low)), rel=0.1)


def test_the_paper_s_choice_has_the_scales_of_the_average() -> None:
    X = np.geomspace(1.0, 100.0, 8)[:, None]
    frame = pd.DataFrame({"load": X[:, 0], "gap": np.roll(X[:, 0], 3)})
    model = BayesianGPRegressor(
        kernels="sqexp", input_transforms={"load": "log"}, response_transform="log", random_state=0
    ).fit(frame, X[:, 0] ** 2 * frame["gap"])
    paper = paper_fit(model)
    assert paper.input_transforms_ == model.input_transforms_
    assert paper.response_transform_ == model.response_transform_
    assert (paper.predict(frame.to_numpy()) > 0.0).all()


def test_every_binding_fits_and_every_figure_has_alternative_text(page: Page) -> None:
    check_bindings(page)
    for tag, attributes in page.tags:
        if tag == "div" and "canvas" in (attributes.get("class") or ""):
            assert re.search(r"\d", attributes.get("aria-label") or "")


def test_a_model_read_back_gives_the_same_bytes(tmp_path: Path) -> None:
    X = RUNS.X[:, :2]
    made = BayesianGPRegressor(effective_size=100.0, random_state=0).fit(X, RUNS.y)
    save(made, tmp_path / "m.pengp")
    pages = [tmp_path / "first.html", tmp_path / "second.html"]
    for model, path in zip((made, load(tmp_path / "m.pengp")), pages, strict=True):
        write_report(model, path)
    assert pages[0].read_bytes() == pages[1].read_bytes()


@pytest.mark.filterwarnings("ignore::pengp.PengpWarning")  # few draws, constant columns
def test_averages_of_every_kind_have_a_report(tmp_path: Path) -> None:
    quick: dict[str, Any] = {
        "kernels": "sqexp",
        "nugget": 1e-5,
        "effective_size": 100.0,
        "random_state": 0,
    }
    X = np.random.default_rng(1).random((9, 2))
    y = np.sin(4.0 * X[:, 0])
    several = BayesianGPRegressor(**quick).fit(X, np.column_stack([y, X[:, 1] ** 2, 0.0 * y]))
    cases = {
        "three outputs, one constant": several,
        "one input": BayesianGPRegressor(**quick).fit(X[:, :1], y),
        "three runs": BayesianGPRegressor(**quick).fit(X[:3], y[:3]),
        "a constant input": BayesianGPRegressor(**quick).fit(np.column_stack([X, 0 * y]), y),
        "constant": BayesianGPRegressor(**quick).fit(X, 0.0 * y),
        "learned more": BayesianGPRegressor(**quick).fit(X[:7], y[:7]).condition_on(X[7:], y[7:]),
    }
    for name, model in cases.items():
        path = tmp_path / "report.html"
        told = write_report(model, path, info={"response": "yield"})
        outputs = np.atleast_2d(model.y_train_.T)
        starts = (
            ["yield, output 1: Over", "yield, output 2: Over"] if len(outputs) > 1 else ["Over"]
        )
        assert all(one.startswith(start) for one, start in zip(told, starts, strict=False)), told
        found = read(path)
        check_bindings(found)
        assert len(told) == {"constant": 0, "three outputs, one constant": 2}.get(name, 1), name
        assert not re.search(r">\s*(nan|inf|-inf)\s*<", found.text), name
    assert "posterior was sampled from the first 7" in found.words


def test_next_runs_and_interactions_are_those_of_the_library(page: Page) -> None:
    found = next_runs(average(), 2)
    table = page.text[page.text.index('<table id="o0-next">') :]
    table = table[: table.index("</table>")]
    for x in found.X.ravel():
        assert f">{number(float(x), 5)}<" in table
    widths = page.text[page.text.index('<table id="o0-steps">') :]
    for step in found.steps:
        assert f">{number(step.width)}<" in widths
    told = effects(average())
    shown = [p for p in told.order()[:6] if told.total.mean[p] >= 0.01]
    assert page.text.count('id="o0-main-') == len(shown) > 0
    for p in shown:
        mean = told.curves[p].mean
        assert f"Main effect of {told.names[p]} on" in page.text
        assert f"highest {number(float(mean.max()))} at" in page.text
    surfaces = told.surfaces
    assert page.text.count("-interaction-") >= len(surfaces) > 0
    for surface in surfaces:
        assert f"{' and '.join(surface.names)} together" in page.words
