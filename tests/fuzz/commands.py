"""Command lines, sound and hostile, and a folder of files for them to work on."""

import codecs
import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import typer
from hypothesis import strategies as st
from typer.testing import CliRunner

from pengp import BayesianGPRegressor, save
from pengp.cli.app import app
from pengp.decisions.goals import CRITERIA
from tests.fuzz.arguments import fitted
from tests.fuzz.inputs import no_hang

#: Byte order marks with what they mark; that of UTF-16 begins like that of UTF-32.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
#: Exit codes that the documentation names: done, wrong usage, unusable, file.
CODES = (0, 2, 3, 4)
TEXTS = ["", " ", "x1", "x2", "y", "nope", "-1", "0", "1e999", "nan", "a,b", "\x1b[31m", "ü", "{}"]
NUMBERS = ["0.5", "0.95", "0.1", "0", "1", "2", "-1", "1e-300", "1e300", "nan", "inf", "x", "1,5"]
COUNTS = ["1", "2", "3", "0", "-1", "2.5", "x", ""]
TABLES = [
    "runs.csv",
    "new.csv",
    "semicolons.csv",
    "empty.csv",
    "text.csv",
    "holes.csv",
    "model.bin",
]
MODELS = ["pen.pengp", "cv.pengp", "average.pengp", "cut.pengp", "runs.csv", "missing.pengp", "."]
CONDITIONS = ["x1 < 0.5", "x1+x2<1", "x1 <", "x9 < 1", "__import__('os')", "x1 < 1e999", "1/0 > x1"]
LAWS = ["x1=0.2:0.8", "x1=normal(0.5,0.1)", "x1=", "x9=1:2", "x1=2:1", "x1=normal(0,-1)", "y=0:1"]
BOUNDS = ["x1=0:1", "x1=0:1,x2=0:1", "x1=1:0", "x1=0:inf", "x1=a:b", "=", "x1=0:0", "x9=0:1"]

#: Values of options by their names; any other option takes a text.
VALUES: dict[str, list[str]] = {
    "--response": ["y", "y", "y", "x1", "nope", ""],
    "--inputs": ["x1", "x1,x2", "x2,x2", "y", "nope", ""],
    "--bounds": BOUNDS,
    "--where": CONDITIONS,
    "--constraint": ["y<0.5", "<0.5", "y<", "x1<0.5", "y<nan", "y<0.5,y>0"],
    "--law": LAWS,
    "--log": ["x1", "x1,x2", "y", "nope"],
    "--integer": ["x1", "nope"],
    "--factor": ["x1", "c", "c=a:b", "nope"],
    "--transform": ["log", "sqrt", "nope", "x1=log"],
    "--method": ["penalized", "penalized", "bayes", "nope"],
    "--kernel": ["sqexp", "matern52", "matern52_additive", "nope"],
    "--penalty": ["lasso", "scad", "nope"],
    "--metric": ["dpe", "score", "nope"],
    "--rule": ["1se", "min", "nope"],
    "--mean": ["zero", "constant", "linear", "constnat"],
    "--folds": ["2", "loo", "3", "0", "-1", "99", "x"],
    "--nugget": ["1e-5", "estimate", "0", "-1", "1e300", "x"],
    "--lambda": ["0", "0.01", "cv", "1e308", "-1", "x"],
    "--lambda-grid": ["paper", "log", "0.1,1", "x", ""],
    "--theta-bounds": ["0.1:10", "1e300:1e308", "1:0.1", "x"],
    "--starts": ["0", "1", "2", "-1", "x"],
    "--seed": ["0", "1", "-1", "x", "99999999999999999999999"],
    "--level": NUMBERS,
    "--tolerance": NUMBERS,
    "--radius": NUMBERS,
    "--target": NUMBERS,
    "--value": NUMBERS,
    "--mode": COUNTS,
    "--digits": COUNTS,
    "--slices": COUNTS,
    "--repeats": ["1", "2", "0", "x"],
    "--n": COUNTS,
    "-n": COUNTS,
    "--kind": ["maximin", "random", "nope"],
    "--goal": ["accuracy", "modes", "optimum", "threshold", "nope"],
    "--criterion": [*CRITERIA, "nope"],
    "--intervals": ["model", "loo", "jackknife", "nope"],
    "--decimal": [".", ",", ";", "", "x"],
    "--thousands": [",", ".", "'", "", "x"],
    "--sheet": ["0", "runs", "nope"],
    "--ignore": ["x1", "note", "nope"],
    "--model": MODELS,
    "--candidates": TABLES,
    "--plot": ["plot.png", "plot.nope", "no/where.png"],
    "--report": ["report.html", "no/where.html"],
    "--output": ["out.pengp", "out.csv", "out.xlsx", "out.html", "no/where.csv", ".", "runs.csv"],
    "--output-dir": ["out", "runs.csv"],
    "--jobs": ["1", "0", "x"],
    "--size": ["smoke", "nope"],
    "--seeds": ["1", "0", "x"],
    "--scheduler": ["nope"],
    "--test-runs": TABLES,
    "--real": [".", "runs.csv", "nope"],
}
#: Values of arguments by their names.
ARGUMENTS: dict[str, list[str]] = {
    "data": TABLES,
    "new": TABLES,
    "test": TABLES,
    "model": MODELS,
    "file": ["runs.csv", "study.sqlite", "missing.sqlite"],
    "name": ["nope", "", "forrester?"],
    "names": ["nope", ""],
    "files": [*MODELS, *TABLES],
}


def commands(group: Any = None, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return all commands by the words that call them."""
    found: dict[tuple[str, ...], Any] = {}
    root: Any = group or typer.main.get_command(app)
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        found |= commands(command, (*path, name)) if inner else {(*path, name): command}
    return found


def make_folder(folder: Path) -> None:
    """Write the files that the command lines name."""
    rng = np.random.default_rng(7)
    X, y = rng.random((8, 2)), rng.random(8)
    rows = [f"{a:.6f},{b:.6f},{c:.6f}" for (a, b), c in zip(X, y, strict=True)]
    text = "\n".join(["x1,x2,y", *rows, ""])
    (folder / "runs.csv").write_text(text)
    (folder / "new.csv").write_text("x1,x2\n0.5,0.5\n0.1,0.9\n")
    (folder / "semicolons.csv").write_text(text.replace(",", ";").replace(".", ","))
    (folder / "empty.csv").write_text("")
    (folder / "text.csv").write_text("x1,x2,y\na,b,c\n=1+1,nan,inf\n")
    (folder / "holes.csv").write_text(text.replace(rows[3], ",,") + "\n\n1,2\n")
    (folder / "model.bin").write_bytes(bytes(range(256)))
    few: dict[str, Any] = {"effective_size": 20, "max_points": 400, "n_components": 4}
    average = BayesianGPRegressor(kernels="sqexp", random_state=0, **few)
    for name, model in (("pen", fitted(0)), ("cv", fitted(1)), ("average", average.fit(X, y))):
        save(model, folder / f"{name}.pengp", info={"response": "y"})
    (folder / "cut.pengp").write_bytes((folder / "pen.pengp").read_bytes()[:-9])


@st.composite
def lines(draw: st.DrawFn, words: tuple[str, ...], command: Any) -> list[str]:
    """Return the words of a command line: arguments as they should be, some options, some noise."""
    line = [*words]
    names = [max(parameter.opts, key=len) for parameter in command.params]
    options = [name for name in names if name.startswith("-")]
    chosen = draw(st.lists(st.sampled_from(options), max_size=4)) if options else []
    for name, parameter in zip(names, command.params, strict=True):
        if name in options and not (parameter.required or name in (*chosen, "--response")):
            continue
        if name in options:
            line.append(name)
        if name in options and parameter.is_flag:
            continue
        pool = VALUES.get(name, ARGUMENTS.get(name, TEXTS))
        sound = st.sampled_from(pool[: max(1, len(pool) // 3)])
        any_of = st.sampled_from([*pool, *TEXTS])
        # Without names `study seeds` runs the paper's studies twenty times, which takes an hour.
        times = draw(st.integers(int(name == "names"), 3)) if parameter.nargs == -1 else 1
        line += [draw(any_of if draw(st.integers(0, 5)) == 0 else sound) for _ in range(times)]
    if draw(st.integers(0, 19)) == 0:
        line.insert(draw(st.integers(0, len(line))), draw(st.text(max_size=6)))
    return line


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Make a folder the working directory for as long as the block runs."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run(line: list[str], stdin: bytes = b"") -> tuple[int, str, str]:
    """Run a command line in this process; return its exit code, output and messages."""
    with warnings.catch_warnings(), no_hang():
        warnings.simplefilter("error")
        done = CliRunner().invoke(app, line, input=stdin)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, decoded(done.stdout_bytes), done.stderr


def decoded(output: bytes) -> str:
    """Return output as text; a table is written in the encoding of the one that was read."""
    wide = next((name for mark, name in _MARKS.items() if output.startswith(mark)), "utf-8")
    return output.decode(wide, errors="replace").replace("\r\n", "\n")
