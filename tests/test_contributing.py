"""CONTRIBUTING shows the package as it is: its layers, its folders, the code of its records."""

import ast
import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import FrameType

import pytest

import pengp

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pengp"
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LAYER = re.compile(r"^\| (\d) \| ((?:`\w+` ?)+)\|", re.MULTILINE)
SHOWN = re.compile(r"From `([\w/]+\.py)`:\n\n```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PARTS = sorted(
    path.stem
    for path in SOURCE.iterdir()
    if (path.is_dir() and (path / "__init__.py").exists()) or path.suffix == ".py"
)
PUBLIC = [name for name in PARTS if not name.startswith("_")]
FOLDERS = [name for name in PUBLIC if (SOURCE / name).is_dir()]


def test_the_layers_are_those_of_the_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    layers = [set(re.findall(r"\w+", layer)) for layer in contract["layers"]]
    shown = [(int(n), set(re.findall(r"\w+", names))) for n, names in LAYER.findall(TEXT)]
    assert shown == list(zip(range(len(layers), 0, -1), layers, strict=True))
    assert set().union(*layers) == set(PARTS) - {"__init__"}


def test_the_folders_are_few() -> None:
    assert len(set(PARTS) - {"__init__", "__main__"}) <= 15


def test_tests_lie_in_folders_of_the_same_names() -> None:
    tested = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert {path.name.lstrip("_") for path in SOURCE.iterdir() if path.name in PARTS} <= tested


def _code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function, signature counted, docstring not."""
    lines = function.end_lineno - function.lineno + 1  # type: ignore[operator]  # None of made trees
    if ast.get_docstring(function) is None:
        return lines
    said = function.body[0]
    return lines - (said.end_lineno - said.lineno + 1)  # type: ignore[operator]  # likewise


def test_modules_and_functions_are_as_short_as_is_said() -> None:
    said = re.search(r"at most (\d+) lines and a function at most (\d+),", TEXT)
    assert said is not None
    most_of_module, most_of_function = map(int, said.groups())
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") <= most_of_module, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert _code_lines(node) <= most_of_function, f"{path}: {node.name}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_names_what_is_public(folder: str) -> None:
    module = import_module(f"pengp.{folder}")
    assert len(set(module.__all__)) == len(module.__all__) > 0
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_the_code_of_every_record_is_the_packages_own() -> None:
    shown = SHOWN.findall(TEXT)
    assert {path for path, _ in shown} >= {
        "model/kernels.py",
        "model/means.py",
        "path/penalties.py",
        "choosing/metrics.py",
        "choosing/rules.py",
    }
    assert len(shown) == TEXT.count("```python")
    for path, code in shown:
        source = (SOURCE / path).read_text(encoding="utf-8")
        for piece in re.split(r"\n\n\n+", code):
            assert piece.strip("\n") in source, f"{path}: {piece}"


def _entered_by_a_fit() -> set[str]:
    """Return the modules whose functions a fit calls, its last question left out."""
    runs, entered = pengp.load_piston_slap(), set[str]()

    class Estimator(pengp.PenalizedGPRegressor):
        def _warn_of_doubts(self) -> None:
            pass

    def watch(frame: FrameType, event: str, arg: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and SOURCE in path.parents and frame.f_code.co_name != "<module>":
            entered.add(path.relative_to(SOURCE).as_posix())

    sys.setprofile(watch)
    try:
        Estimator(lam=0.01, random_state=0).fit(runs.X, runs.y)
    finally:
        sys.setprofile(None)
    return entered


def test_one_fit_is_followed_through_twenty_modules() -> None:
    (section,) = re.findall(r"### Following one fit\n(.*?)^## ", TEXT, re.DOTALL | re.MULTILINE)
    table, _, aside = section.partition("What else it enters")
    way, beside = (re.findall(r"`(\w+/\w+\.py)`", text) for text in (table, aside))
    entered = _entered_by_a_fit()
    assert len(set(way)) == len(way) == 20
    assert set(way) <= entered <= {*way, *beside}


def test_every_file_that_is_named_exists() -> None:
    named = re.findall(r"`(\w+/\w+\.py)`", TEXT)
    assert len(named) > 5
    for path in named:
        assert (SOURCE / path).is_file() or (ROOT / path).is_file(), path


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/notation.md"])
def test_links_to_files_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target
