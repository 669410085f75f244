"""Every Python block of the documentation runs, and every page and object has its place."""

import doctest
import inspect
import posixpath
import re
from decimal import ROUND_HALF_UP, Decimal
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from docs.extensions.reference import entries, escape, plain, public_modules, write_pages
from pengp import penalized_path
from tests.problems import reference

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("tutorials", "reference", "backreferences")  # folders that the build writes
OWN = [p for p in sorted(DOCS.rglob("*.md")) if p.relative_to(DOCS).parts[0] not in MADE]
PAGES = [ROOT / "README.md", *OWN]
TUTORIALS = sorted((ROOT / "examples" / "tutorials").glob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.DOTALL | re.MULTILINE)
WITH_CODE = [p for p in PAGES if BLOCK.search(p.read_text(encoding="utf-8"))]
OBJECTS = {e.page: getattr(import_module(e.module), e.name) for e in entries()}
DOCSTRINGS = {
    page: inspect.getdoc(found) or ""
    for page, found in OBJECTS.items()
    if inspect.isclass(found) or inspect.isroutine(found)
}
#: Records and protocols that hold no example; each names, under See Also, an object that does.
SHOWN_ELSEWHERE = {
    *("FullLogLik", "LogLik", "Posterior", "BatchPrediction", "JointPenalty", "JointTerms"),
    *("Diagnosis", "Finding", "diagnose_view", "Law", "Dataset"),
    *("Validation", "Difference", "JointErrors", "Comparison", "Judged", "GoodEnough"),
    *("Axis", "Curve", "Surface"),
    *("Effects", "Estimate", "NextRuns", "Step", "Optimum", "Place", "Propagation"),
    *("Row", "Verdict", "LambdaAxis", "Explained", "LeaveOneOut", "PathFit"),
}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_the_code_of_a_page_does_what_it_says(page: Path) -> None:
    names: dict[str, Any] = {}
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
        label = f"{name_of(page)}, block {number}"
        if ">>>" not in block:
            exec(compile(block, label, "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, label, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
        assert runner.failures == 0, label


@pytest.mark.parametrize("page", [page for page, text in DOCSTRINGS.items() if ">>>" in text])
def test_the_example_of_an_object_does_what_it_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    names = {"__name__": "__main__"}  # an example imports what it uses
    test = doctest.DocTestParser().get_doctest(DOCSTRINGS[page], names, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test)
    plt.close("all")
    assert runner.failures == 0, page


def test_every_object_has_an_example_or_names_one_that_has() -> None:
    for page, text in DOCSTRINGS.items():
        elsewhere = page.rpartition(".")[2] in SHOWN_ELSEWHERE
        assert elsewhere != ("\nExamples\n--------\n" in text), page
        if elsewhere:
            named = re.findall(r"\nSee Also\n--------\n(?:pengp\.)?(\w+)", text)
            shown = [p for p in DOCSTRINGS if p.rpartition(".")[2] in named]
            assert any(">>>" in DOCSTRINGS[p] for p in shown), page


#: Rows of README's table of methods, by their names on the page that has all of them.
OF_METHODS = {
    "average, the default": "average (default)",
    "DPE with the one-standard-error (SE) rule, the paper's": "DPE 1SE (the paper)",
    "maximum likelihood, Matérn 5/2": "MLE, Matérn 5/2",
    "one theta, kept from extremes by a prior, as in RobustGaSP": "jointly robust mode",
    "scikit-learn, Matérn 5/2": "scikit-learn, Matérn 5/2",
    "libKriging, maximum likelihood": "libKriging, LL",
}


def rows_of(page: Path, heading: str) -> dict[str, list[str]]:
    """Return the cells of the table below the row of this name, by the first of each row."""
    lines = page.read_text(encoding="utf-8").partition(f"\n| {heading} |")[2].splitlines()[2:]
    table = takewhile(lambda line: line.startswith("|"), lines)
    cells = ([c.strip(" *") for c in line.strip("|").split("|")] for line in table)
    return {name: others for name, *others in cells}


def in_whole_numbers(text: str) -> list[int]:
    """Return the numbers of an entry such as -16.5 ± 1.3, halves away from zero."""
    return [int(Decimal(s).quantize(Decimal(1), ROUND_HALF_UP)) for s in text.split(" ± ")]


def test_the_first_table_is_the_one_of_the_methods_in_round_numbers() -> None:
    shown, full = rows_of(ROOT / "README.md", "method"), rows_of(DOCS / "methods.md", "method")
    assert list(shown) == list(OF_METHODS)
    for name, cells in shown.items():
        confirm = [full[OF_METHODS[name]][i] for i in (2, 3, 6, 7)]
        for cell, entry in zip(cells[::2], confirm[::2], strict=True):
            assert in_whole_numbers(cell) == in_whole_numbers(entry.split(" / ")[1]), name
        assert cells[1::2] == [entry.split(" (")[0] for entry in confirm[1::2]], name


def test_the_estimates_of_gppenalty_and_ours_are_as_the_page_says() -> None:
    text = (DOCS / "migration.md").read_text(encoding="utf-8").partition("| data set |")[2]
    lines = list(takewhile(lambda line: line.startswith("|"), text.splitlines()[2:]))
    assert len(lines) == 10
    for line in lines:
        label, lam, *shown = [cell.strip() for cell in line.strip("|").split("|")]
        record = reference()[label.split(",")[0]]
        y = np.array(record["y"])
        X = np.array(record["x"]).reshape(len(y), -1)
        theirs = next(
            o for o in record["optima"] if o["penalty"] == "lasso" and f"{o['lambda']:.4g}" == lam
        )
        ours = penalized_path(X, y, [theirs["lambda"]], nugget=1e-5, random_state=0)
        found = theirs["objective"], ours.objective[0], np.max(theirs["theta"]), ours.theta.max()
        assert label.startswith(f"{record['name']}, {len(y)} runs, {X.shape[1]} input")
        for cell, value, unit in zip(shown, found, (1e-4, 1e-4, 1e-3, 1e-3), strict=True):
            assert abs(float(cell) - value) <= unit, line


def in_toctrees(page: Path) -> list[str]:
    """Return the pages that a page's tables of contents name, from docs on."""
    folder = "/" + page.relative_to(DOCS).parent.as_posix()
    lines = "".join(TOCTREE.findall(page.read_text(encoding="utf-8"))).splitlines()
    named = [re.sub(r".*<(.*)>$", r"\1", line) for line in lines if line and line[0] != ":"]
    return [posixpath.normpath(posixpath.join(folder, name)).lstrip("/") for name in named]


def test_every_page_stands_in_one_table_of_contents() -> None:
    named = [name for page in OWN for name in in_toctrees(page)]
    written = [p.relative_to(DOCS).with_suffix("").as_posix() for p in OWN]
    made = ["tutorials/index", "reference/*"]  # written by the build
    assert sorted([*named, "index"]) == sorted([*written, *made])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_to_pages_and_images_lead_somewhere(page: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text(encoding="utf-8"))
    tutorials = {f"tutorials/{path.stem}" for path in TUTORIALS}
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        path = posixpath.normpath(posixpath.join(page.relative_to(ROOT).parent.as_posix(), target))
        made = path.removeprefix("docs/")
        if "://" not in target and not made.startswith("reference/"):
            assert (ROOT / path).exists() or made in tutorials, target


def test_every_image_has_words_that_stand_for_it() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert "![](" not in text, page
        assert text.count("{image}") == text.count(":alt:"), page
        assert text.count(":img-bottom:") == text.count(":img-alt:"), page


def test_the_reference_has_a_page_for_every_public_object(tmp_path: Path) -> None:
    write_pages(tmp_path)
    described = {p.stem for p in (tmp_path / "objects").iterdir()}
    for module in public_modules():
        page = (tmp_path / f"{module}.rst").read_text(encoding="utf-8")
        for name in import_module(module).__all__:
            assert f"`{name} <pengp" in page, f"{module}.{name}"
            assert {f"pengp.{name}", f"{module}.{name}"} & described, f"{module}.{name}"
    for entry in entries():  # each has a first sentence
        assert f"<{entry.page}>`\n     - \n" not in (tmp_path / f"{entry.module}.rst").read_text()


def test_the_first_page_of_the_reference_names_every_public_module() -> None:
    page = (DOCS / "reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[`([\w.]+)`\]\(reference/\1\.rst\)", page, re.MULTILINE)
    assert sorted(listed) == sorted(public_modules())


def test_the_equations_of_the_paper_have_its_numbers() -> None:
    """Eqs. (1) to (6), in this order: Sphinx counts them."""
    page = (DOCS / "explanations" / "mathematics.md").read_text(encoding="utf-8")
    labels = ["covariance", "posterior", "profile", "penalized", "dpe-limit", "limit-numerator"]
    assert re.findall(r"^:label: (\S+)$", page, re.MULTILINE) == labels
    named = set(re.findall(r"\{py:obj\}`([\w.]+)`", page))
    assert named <= set(OBJECTS) | {f"{e.module}.{e.name}" for e in entries()}
    assert {"pengp.model.correlation", "pengp.model.condition", "pengp.penalized_path"} <= named


def test_docstrings_are_plain_text() -> None:
    assert plain("the lam_ of |x| and theta_p") == r"the lam\_ of \|x\| and theta_p"
    assert plain("`lam_`, ``a|b``") == "`lam_`, ``a|b``"
    assert plain("lam_ : float") == "lam_ : float"
    code = [">>> lam_ | x", "lam_ | x", "", "lam_ | x"]
    assert escape(code) == [*code[:3], r"lam\_ \| x"]


@pytest.mark.parametrize("script", TUTORIALS, ids=lambda path: path.name)
def test_a_tutorial_has_a_title_and_titled_figures(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    title, under = text.splitlines()[1:3]
    assert len(title) == len(under), title
    assert re.search(r"set_title\(|suptitle\(|title=", text), (
        "a figure without a title has no words"
    )
