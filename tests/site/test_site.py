"""The built documentation, opened from disk in a real browser; `make docs` runs this."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urldefrag

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.report.test_browser import CHROMIUM, FLAGS

SITE = Path(os.environ.get("PENGP_SITE", "site")).resolve()
BUILT = sorted(SITE.rglob("*.html")) if "PENGP_SITE" in os.environ else []
PAGES = [page for page in BUILT if "_static" not in page.parts]  # there the theme has a template
pytestmark = pytest.mark.skipif(not PAGES, reason="PENGP_SITE names no site that was built")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path")
LINK = re.compile(r'<(?:a|link|script|img)\b[^>]*?\b(?:href|src)="([^"]+)"')
IMAGE = re.compile(r"<img\b[^>]*>")
Theme = Literal["light", "dark"]
#: What the first page's cards lead to, and what stands there.
CARDS = {
    "Fit": ".fit(runs.X, runs.y)",
    "Predict": "pengp predict",
    "Validate": "pengp validate",
    "Save": "save(model",
    "Cite": "@article",
}
#: Pages of every kind, for what takes long.
KINDS = [
    *("index", "start/index", "tutorials/index", "tutorials/plot_01_python", "guides/index"),
    *("command-line", "explanations/mathematics", "coming-from/other-packages"),
    *("extending/index", "reference", "reference/pengp", "search"),
    *("reference/objects/pengp.BayesianGPRegressor", "reference/objects/pengp.model.KERNELS"),
]
PALE = (Path(__file__).parent / "pale.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def test_links_inside_the_site_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            path = unquote(urldefrag(link)[0].split("?")[0])
            outside = "://" in path or path.startswith(("mailto:", "data:"))
            if path and not outside and not (page.parent / path).exists():
                broken.append(f"{page.relative_to(SITE)}: {link}")
    assert not broken


def test_images_have_words_for_those_who_do_not_see_them() -> None:
    for page in PAGES:
        for image in IMAGE.findall(page.read_text(encoding="utf-8")):
            assert re.search(r'\balt="', image), f"{page.name}: {image}"


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_load_from_disk_without_errors_requests_or_sideways_scroll(
    browser: Browser, theme: Theme
) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 800}, color_scheme=theme, bypass_csp=False
    )
    page, complaints = context.new_page(), []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url),
    )
    for path in PAGES:
        page.goto(path.as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            complaints.append(f"{path.relative_to(SITE)} is {width} px wide")
    context.close()
    assert not complaints


@needs_browser
def test_search_works_from_disk(browser: Browser) -> None:
    page = browser.new_page()
    page.goto((SITE / "search.html").as_uri() + "?q=BayesianGPRegressor")
    found = page.locator("#search-results a")
    found.first.wait_for(timeout=20_000)
    assert any("BayesianGPRegressor" in text for text in found.all_inner_texts())
    page.close()


@needs_browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_contrasts_with_its_background(browser: Browser, theme: Theme) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme=theme)
    page, pale = context.new_page(), dict[str, list[str]]()
    for name in KINDS:
        page.goto((SITE / f"{name}.html").as_uri())
        if found := page.evaluate(PALE):
            pale[name] = found
    context.close()
    assert not pale


@needs_browser
@pytest.mark.parametrize("card", CARDS)
def test_what_most_come_for_is_one_click_from_the_first_page(browser: Browser, card: str) -> None:
    page = browser.new_page()
    page.goto((SITE / "index.html").as_uri())
    page.locator(".sd-card").filter(has=page.get_by_text(card, exact=True)).click()
    assert CARDS[card] in page.locator("article").inner_text()
    page.close()


@needs_browser
def test_the_site_can_be_used_without_a_mouse(browser: Browser) -> None:
    page = browser.new_page()
    page.goto((SITE / "which-method.html").as_uri())
    focused = "document.activeElement"
    page.keyboard.press("Tab")
    assert "main content" in page.evaluate(f"{focused}.innerText").lower()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(f"{focused}.closest('#main-content') !== null")
    for _ in range(3):
        assert page.evaluate(f"getComputedStyle({focused}).outlineStyle") != "none"
        page.keyboard.press("Tab")
    page.keyboard.press("Control+k")
    page.keyboard.type("BayesianGPRegressor")
    page.keyboard.press("Enter")
    page.locator("#search-results a").first.wait_for(timeout=20_000)
    page.close()


def test_a_page_has_a_language_and_one_first_heading() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert '<html lang="en"' in text, page
        assert text.count("<h1") == 1, page
