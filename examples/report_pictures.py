"""Draw the pictures of reports on the piston-slap runs that the documentation shows."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

import pandas as pd
from playwright.sync_api import Browser, sync_playwright

from pengp import BayesianGPRegressor, PenalizedGPRegressorCV, load_piston_slap
from pengp.report import write_report

INFO = {"response": "noise", "source": "piston_slap.csv"}
#: Picture, its height, report, theme, section at the top, and the step that lambda's slider is on.
PICTURES: tuple[tuple[str, int, str, Literal["light", "dark"], str | None, str | None], ...] = (
    ("findings", 980, "average", "light", None, None),
    ("what_if", 520, "average", "light", "section.what-if", None),
    ("slider", 980, "penalized", "dark", "section[id$=inputs-section]", "25"),
)


def photograph(browser: Browser, folder: Path, target: Path) -> None:
    """Save the pictures of the reports in a folder."""
    for name, height, report, theme, section, step in PICTURES:
        page = browser.new_page(viewport={"width": 1180, "height": height}, color_scheme=theme)
        page.goto((folder / f"{report}.html").as_uri())
        page.wait_for_selector(".main-svg")
        if step is not None:
            page.locator(".lambda-bar input").first.fill(step)
        if section is not None:
            page.locator(section).first.evaluate("e => e.scrollIntoView()")
            page.wait_for_timeout(3000)  # figures are drawn when they come into view
        page.screenshot(path=target / f"{name}.png")
        page.close()
        print(target / f"{name}.png")


def main(directory: str) -> None:
    """Fit an average and the paper's choice of lambda, write their reports, and take pictures."""
    runs = load_piston_slap()
    table = pd.DataFrame(runs.X, columns=runs.input_names)
    models: dict[str, BayesianGPRegressor | PenalizedGPRegressorCV] = {
        "average": BayesianGPRegressor(random_state=0).fit(table, runs.y),
        "penalized": PenalizedGPRegressorCV(cv=4, random_state=0).fit(table, runs.y),
    }
    chromium = os.environ.get("PENGP_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        for report, model in models.items():
            write_report(model, folder / f"{report}.html", info=INFO)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        photograph(browser, folder, Path(directory))
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/report_pictures.py DIRECTORY")
    main(sys.argv[1])
