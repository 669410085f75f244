"""The report in a real browser: it runs without errors, follows its controls, and stays inert."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

from pengp import PenalizedGPRegressorCV
from pengp.report import write_report
from pengp.report.text import number
from tests.problems import smooth_runs
from tests.report.test_average import average
from tests.report.test_page import HOSTILE, piston

CHROMIUM = os.environ.get("PENGP_CHROMIUM") or shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
MEDIA_BOX, A4 = rb"/MediaBox \[0 0 ([.\d]+) ([.\d]+)\]", (595, 842)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on the path, and PENGP_CHROMIUM is not set"
)


class Opened(NamedTuple):
    """A report in the browser, and what it did."""

    page: Page
    complaints: list[str]
    requests: list[str]

    def settle(self) -> None:
        """Wait until every figure is drawn."""
        self.page.wait_for_selector("html[data-ready=true]", state="attached", timeout=90_000)

    def trace(self, figure: str, trace: int, key: str) -> Any:
        """Return what a figure shows, as plotly has it after drawing."""
        code = "([id, k, key]) => Array.from(document.getElementById(id)._fullData[k][key])"
        return np.array(self.page.evaluate(code, [figure, trace, key]), dtype=float)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "piston.html"
    write_report(piston(), path, info={"response": "noise", "source": "runs.csv"})
    return path


def open_report(browser: Browser, path: Path, **options: Any) -> Opened:
    """Open a report and wait for its figures; dialogs and errors count as complaints."""
    size = {"width": 1200, "height": 900}
    page = browser.new_page(**{"viewport": size, "reduced_motion": "reduce", **options})
    opened = Opened(page, [], [])

    def refuse(dialog: Dialog) -> None:
        opened.complaints.append(dialog.message)
        dialog.dismiss()

    page.on("console", lambda m: opened.complaints.append(m.text))
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.on("dialog", refuse)
    page.goto(path.as_uri())
    opened.settle()
    return opened


@pytest.fixture(scope="module")
def opened(browser: Browser, report: Path) -> Iterator[Opened]:
    found = open_report(browser, report)
    yield found
    found.page.close()


def test_the_page_opens_without_errors_and_asks_for_nothing_else(
    opened: Opened, report: Path
) -> None:
    assert opened.complaints == []
    assert set(opened.requests) - {"data:,"} == {report.as_uri()}


def test_every_figure_is_drawn_and_has_alternative_text(opened: Opened) -> None:
    canvases = opened.page.locator(".canvas")
    assert canvases.count() == 30
    for k in range(canvases.count()):
        canvas = canvases.nth(k)
        assert canvas.get_attribute("role") == "img"
        assert re.search(r"\d", canvas.get_attribute("aria-label") or "")
        assert canvas.locator("svg.main-svg").count() > 0


def test_the_slider_moves_everything_to_another_lambda_by_keyboard(opened: Opened) -> None:
    model, page = piston(), opened.page
    slider, lams = page.locator("#o0-slider"), np.sort(model.path_.lams)
    place = int(np.flatnonzero(lams == model.lam_)[0])
    before = opened.trace("o0-loo", 1, "y")
    np.testing.assert_allclose(before, model.loo_.mean, rtol=1e-6)
    slider.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    opened.settle()
    at = model.at_lambda(lams[place + 6])
    check_shown(opened, at)
    words = f"λ\xa0=\xa0{number(at.lam_, 3)}"
    assert slider.get_attribute("aria-valuetext") == words
    assert page.locator("#o0-slider-shown").text_content() == words
    page.keyboard.press("End")
    opened.settle()
    check_shown(opened, model.at_lambda(lams[-1]))
    page.get_by_role("button", name="Back to chosen").press("Enter")
    opened.settle()
    check_shown(opened, model)
    np.testing.assert_allclose(opened.trace("o0-loo", 1, "y"), before, rtol=1e-6)


def check_shown(opened: Opened, at: PenalizedGPRegressorCV) -> None:
    """Check that figures and tables show a model's numbers."""
    page, names = opened.page, list(at.feature_names_in_)
    order = [names.index(n) for n in page.locator("#o0-inputs tbody th").all_text_contents()]
    assert order[:3] == np.argsort(-piston().theta_)[:3].tolist()
    inside, outside = (opened.trace("o0-loo", k, "y") for k in (1, 2))
    shown = np.where(np.isnan(inside), outside, inside)
    np.testing.assert_allclose(shown, at.loo_.mean, rtol=1e-6)
    np.testing.assert_allclose(
        opened.trace("o0-residuals", 0, "y"), at.loo_.standardized_residual, rtol=1e-5
    )
    # The last trace of the path, and of the curve, marks the lambda that is shown.
    np.testing.assert_allclose(opened.trace("o0-path", 6, "y"), at.theta_[order], rtol=1e-6)
    line = page.evaluate("document.getElementById('o0-cv').layout.shapes[0].x0")
    if at.lam_ > 0.0:
        assert line == pytest.approx(np.log10(at.lam_), abs=1e-6)
    table = at.cv_table_
    mean = table.mean_of("dpe")[table.lams == at.lam_]
    np.testing.assert_allclose(opened.trace("o0-cv", 5, "y"), mean, rtol=1e-6)
    x, y = opened.trace("o0-slice0", 2, "x"), opened.trace("o0-slice0", 2, "y")
    X = np.tile(at.X_train_.mean(axis=0), (len(x), 1))
    X[:, order[0]] = x
    predicted = at.predict(pd.DataFrame(X, columns=at.feature_names_in_))
    np.testing.assert_allclose(y, predicted, rtol=2e-6)
    for p in range(6):
        cell = page.locator(f"#o0-input{p}-theta")
        assert cell.text_content() == number(at.theta_[p])
        assert float(cell.get_attribute("data-value") or "") == pytest.approx(at.theta_[p])
    rmse = number(float(np.sqrt(np.mean(at.loo_.residual**2))), 3)
    assert f"RMSE {rmse}," in (page.locator("#o0-score-line").text_content() or "")
    assert f"RMSE {rmse}," in (page.locator("#o0-loo").get_attribute("aria-label") or "")


def test_selectors_change_their_figures(opened: Opened) -> None:
    model, page = piston(), opened.page
    order = np.argsort(-model.theta_, kind="stable")
    page.select_option("#o0-contour-mean-pair", label="cylinder liner and skirt length")
    page.select_option("#o0-input-select", label="skirt length")
    opened.settle()
    for figure in ("o0-contour-mean", "o0-contour-width"):
        assert page.locator(f"#{figure} .ytitle").text_content() == "skirt length"
        assert opened.trace(figure, 0, "y")[-1] == pytest.approx(model.X_train_[:, 2].max())
    assert order[2] == 2
    np.testing.assert_allclose(opened.trace("o0-input", 2, "x"), [model.theta_[2]], rtol=1e-6)
    assert "theta of skirt length" in (page.locator("#o0-input").get_attribute("aria-label") or "")


def test_the_theme_follows_the_system_until_it_is_chosen(opened: Opened) -> None:
    page, seen = opened.page, []
    schemes: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")

    def look(theme: str) -> None:
        page.wait_for_selector(f"html[data-theme={theme}]", state="attached")
        opened.settle()
        body = page.evaluate("getComputedStyle(document.body).backgroundColor")
        line = page.evaluate("document.getElementById('o0-slice0')._fullData[2].line.color")
        button = page.locator("#theme").text_content()
        seen.append((body, line.upper(), button))

    look("light")
    page.emulate_media(color_scheme="dark")
    look("dark")
    page.get_by_role("button", name="Light theme").press("Enter")
    look("light")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.evaluate("() => new Promise(r => requestAnimationFrame(() => setTimeout(r, 20)))")
    look("light")
    light = ("rgb(255, 255, 255)", "#0072B2", "Dark theme")
    dark = ("rgb(20, 23, 27)", "#4AA8E0", "Light theme")
    assert seen == [light, dark, light, light]
    assert opened.complaints == []


def test_tables_are_sorted_by_their_headings(opened: Opened) -> None:
    page, y = opened.page, piston().y_train_
    heading = page.locator("#o0-runs th", has_text="noise")
    rows = page.locator("#o0-runs tbody th")
    for order, expected in (("ascending", np.argsort(y)), ("descending", np.argsort(-y))):
        heading.get_by_role("button").press("Enter")
        assert heading.get_attribute("aria-sort") == order
        assert rows.all_text_contents() == [str(i + 1) for i in expected]
    page.locator("#o0-runs th", has_text="Run").get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "none"
    assert rows.all_text_contents() == [str(i + 1) for i in range(12)]


def test_the_keyboard_reaches_every_control_and_shows_where_it_is(opened: Opened) -> None:
    page = opened.page
    page.evaluate("document.querySelector('.skip').focus()")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the findings"
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
    reached = set()
    for _ in range(130):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break  # after the last one; older versions of plotly have fewer
        code = "e => [e.id || e.textContent.trim(), getComputedStyle(e).outlineStyle]"
        name, outline = page.evaluate(f"({code})(document.activeElement)")
        assert outline == "solid", name
        reached.add(name)
    wanted = {"theme", "o0-slider", "Back to chosen", "o0-contour-mean-pair", "o0-input-select"}
    assert wanted <= reached


def test_nothing_sticks_out_on_a_phone(browser: Browser, report: Path) -> None:
    opened = open_report(browser, report, viewport={"width": 375, "height": 700})
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    widths = page.evaluate(
        "[...document.querySelectorAll('svg.main-svg')].map(s => s.getBoundingClientRect().right)"
    )
    assert max(widths) <= 375
    assert opened.complaints == []
    page.close()


def test_no_column_is_hidden_on_a_desktop_and_a_phone_says_so(
    browser: Browser, report: Path, tmp_path: Path
) -> None:
    write_report(average(), tmp_path / "average.html", info={"response": "noise"})
    code = "() => [...document.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth)"
    shown = "() => [...document.querySelectorAll('.hint')].map(e => !e.hidden)"
    for path in (report, tmp_path / "average.html"):
        desktop = open_report(browser, path, viewport={"width": 1400, "height": 1000})
        assert max(desktop.page.evaluate(code)) <= 0
        assert not any(desktop.page.evaluate(shown))
        assert desktop.complaints == []
        desktop.page.close()
        phone = open_report(browser, path, viewport={"width": 390, "height": 840})
        hidden = [more > 1 for more in phone.page.evaluate(code)]
        assert any(hidden)
        assert phone.page.evaluate(shown) == hidden
        assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
        phone.page.close()


def test_hostile_names_are_text_and_nothing_else(browser: Browser, tmp_path: Path) -> None:
    X, y = smooth_runs(10, len(HOSTILE))
    frame = pd.DataFrame(X, columns=HOSTILE)
    model = PenalizedGPRegressorCV(lams=[0.0, 0.001, 0.1], random_state=0).fit(frame, y)
    info = {"response": HOSTILE[4], "source": HOSTILE[2], "command": HOSTILE[1]}
    path = tmp_path / "report.html"
    write_report(model, path, info=info)
    opened = open_report(browser, path)
    page = opened.page
    assert opened.complaints == []
    assert set(opened.requests) - {"data:,"} == {path.as_uri()}
    assert page.locator("h1").text_content() == f"Surrogate of {HOSTILE[4]}"
    names = page.locator("#o0-inputs tbody th").all_text_contents()
    assert HOSTILE[0] in names
    assert page.locator("img, a[href^=javascript], svg a").count() == 0
    ranked = [names.index(name) for name in HOSTILE[:5]]
    for name, k in zip(HOSTILE[:5], ranked, strict=True):
        title = page.locator(f"#o0-slice{k} .xtitle").text_content() or ""
        assert title == (name if len(name) <= 38 else f"{name[:37]}…")
        page.evaluate("k => Plotly.Fx.hover('o0-path', [{curveNumber: k, pointNumber: 2}])", k)
        hover = page.locator("#o0-path .hoverlayer .nums").text_content() or ""
        assert hover.startswith(title)
        page.evaluate("Plotly.Fx.unhover('o0-path')")
    assert page.locator("img, a[href^=javascript], svg a").count() == 0
    assert opened.complaints == []
    page.close()


def test_on_paper_controls_are_gone_and_figures_fit(opened: Opened, tmp_path: Path) -> None:
    page = opened.page
    page.emulate_media(media="print")
    assert not page.locator(".lambda-bar").is_visible()
    assert not page.locator("#theme").is_visible()
    code = "() => { window.dispatchEvent(new Event('beforeprint')); return [...document"
    code += ".querySelectorAll('.canvas')].map(c => [c.dataset.size, c._fullLayout.width]); }"
    widths = {"full": 660, "half": 322, "third": 212}
    for size, width in page.evaluate(code):
        assert width == widths[size]
    page.set_viewport_size({"width": 665, "height": 941})  # A4 without its margins
    widest = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size({"width": 1200, "height": 900})
    assert widest <= 667  # else all of it is printed smaller
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    opened.settle()
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    pdf = (tmp_path / "report.pdf").read_bytes()
    assert {(round(float(w)), round(float(h))) for w, h in re.findall(MEDIA_BOX, pdf)} == {A4}
    assert opened.complaints == []
