"""How the methods compare: mean log ratios of their scores to those of maximum likelihood."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from pengp.study.methods.catalogue import LABELS, METHODS, RIVALS
from pengp.study.methods.sizes import FUNCTION_RUNS, PISTON_SLAP, SIMULATORS, halves
from pengp.study.report_rows import MissingRowsError, Rows

#: What all methods are compared with.
YARDSTICK = "mle"
#: The paper's four functions, and the others of two or more inputs.
FOUR = ("lim", "franke", "piston", "borehole")
SEVEN = tuple(name for name in FUNCTION_RUNS if name not in (*FOUR, "forrester"))
_SCORES = ("rmse", "crps", "interval_score")
#: The half on which choices were made, the one that confirms them, and both together.
HALVES = ("half of choices", "half that confirms", "all")


def log_ratios(rows: Rows, part: str, method: str, score: str) -> pd.Series:
    """Return 100 log(score / yardstick's score) by repetition; negative is better."""
    own = rows.by_repetition(_home(part, method), method, score)
    base = rows.by_repetition(part, YARDSTICK, score)
    both = pd.concat([own, base], axis=1, join="inner")
    ratios: pd.Series = both.iloc[:, 0] / both.iloc[:, 1]
    return ratios.map(lambda ratio: 100.0 * np.log(ratio))


def _home(part: str, method: str) -> str:
    """Return the part in which the rows of a method are: other packages have their own."""
    return part.replace("methods", "methods-rivals", 1) if method in RIVALS else part


def by_problem(rows: Rows, parts: Iterable[str]) -> pd.DataFrame:
    """Return mean log ratios with standard errors, coverage and seconds, by part and method."""
    found = []
    for part in parts:
        if not rows.has(part):
            continue
        for method in (*METHODS, *RIVALS):
            try:
                ratios = {score: log_ratios(rows, part, method, score) for score in _SCORES}
            except MissingRowsError:
                continue
            where = _home(part, method)
            line: dict[str, object] = {"problem": part.split("/")[1], "method": method}
            for score, values in ratios.items():
                line |= {score: values.mean(), f"{score} SE": values.sem()}
            line["coverage"] = rows.by_repetition(where, method, "coverage").mean()
            line["seconds"] = rows.by_repetition(where, method, "rmse", "seconds").median()
            line["designs"] = len(ratios["rmse"])
            found.append(line)
    if not found:
        raise MissingRowsError("no rows of methods")
    return pd.DataFrame(found)


def over(table: pd.DataFrame, problems: Sequence[str]) -> pd.DataFrame:
    """Average a table of `by_problem` over some problems: one line a method.

    Standard errors are those of the mean over these problems, each of which counts once.
    """
    some = table[table["problem"].isin(problems)]
    lines = []
    for method, group in some.groupby("method", sort=False):
        line: dict[str, object] = {"method": method, "problems": len(group)}
        for score in _SCORES:
            line[score] = group[score].mean()
            line[f"{score} SE"] = _error_of_mean(group[f"{score} SE"])
            line[f"worst {score}"] = group[score].max()
        line |= {"coverage": group["coverage"].mean(), "lowest": group["coverage"].min()}
        line["designs"] = group["designs"].min()
        lines.append(line | {"seconds": group["seconds"].median()})
    return pd.DataFrame(lines)


def _error_of_mean(errors: pd.Series) -> float:
    """Return the standard error of a mean over problems from theirs; nan if one is unknown."""
    return float(np.linalg.norm(errors.to_numpy(dtype=np.float64)) / len(errors))


def by_function(rows: Rows) -> pd.DataFrame:
    """Return the comparison on each test function."""
    return by_problem(rows, [f"methods/{name}" for name in FUNCTION_RUNS])


def by_response(rows: Rows) -> pd.DataFrame:
    """Return the comparison on each response and size of the real simulators."""
    return by_problem(rows, rows.parts("methods-real"))


def summary(rows: Rows) -> pd.DataFrame:
    """Return the comparison over groups of test functions."""
    groups = {"four": FOUR, "seven": SEVEN, "forrester": ("forrester",)}
    return _grouped(by_function(rows), groups | function_halves())


def simulator_summary(rows: Rows) -> pd.DataFrame:
    """Return the comparison over the real simulators, each response and size counted once."""
    table = by_response(rows)
    return _grouped(table, simulator_halves(table))


def function_halves() -> dict[str, tuple[str, ...]]:
    """Return the test functions of each half, and all."""
    return dict(zip(HALVES, (*halves(FUNCTION_RUNS), tuple(FUNCTION_RUNS)), strict=True))


def simulator_halves(table: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the problems of each half of the simulators in a table of `by_response`, and all."""
    simulator = table["problem"].str.split(".").str[0]
    groups = zip(HALVES, (*halves(SIMULATORS), tuple(SIMULATORS)), strict=True)
    return {name: tuple(table["problem"][simulator.isin(members)]) for name, members in groups}


def overview(rows: Rows) -> pd.DataFrame:
    """Return RMSE / CRPS / interval score, coverage and seconds of every method, in both halves.

    One line a method, in the words of the documentation, with the standard error of the CRPS, and
    the worst CRPS and the lowest coverage of a problem in brackets; functions and simulators as far
    as there are rows of them. Seconds are the median of the problems' medians.
    """
    found: dict[str, dict[str, str]] = {}
    for title, make in {"functions": summary, "simulators": simulator_summary}.items():
        try:
            table = make(rows)
        except MissingRowsError:
            continue
        for line in table[table["group"].isin(HALVES)].to_dict("records"):
            words = found.setdefault(str(line["method"]), {"method": LABELS[str(line["method"])]})
            if line["group"] == HALVES[-1]:
                words[f"seconds, {title}"] = f"{line['seconds']:.2g}"
                continue
            error = "" if pd.isna(line["crps SE"]) else f" ± {line['crps SE']:.1f}"
            words[f"{title}, {line['group']}"] = (
                f"{line['rmse']:z.1f} / {line['crps']:z.1f}{error} / "
                f"{line['interval_score']:z.0f} ({line['worst crps']:+z.0f})"
            )
            words[f"coverage, {title}, {line['group']}"] = (
                f"{line['coverage']:.2f} ({line['lowest']:.2f})"
            )
    if not found:
        raise MissingRowsError("no rows of methods")
    return pd.DataFrame([found[m] for m in LABELS if m in found]).fillna("")


def piston_slap(rows: Rows) -> pd.DataFrame:
    """Return the scores on the test runs of the piston-slap simulator, method by method."""
    scores = ("rmse", "crps", "coverage", "interval_score")
    studies = {"methods": METHODS, "methods-rivals": RIVALS}
    found = [
        {"method": m} | {s: rows.number(f"{study}/{PISTON_SLAP}", m, s) for s in scores}
        for study, methods in studies.items()
        for m in (methods if rows.has(f"{study}/{PISTON_SLAP}") else ())
    ]
    if not found:
        raise MissingRowsError("no rows of methods/piston-slap")
    return pd.DataFrame(found)


def _grouped(table: pd.DataFrame, groups: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return `over` for each group of problems, below each other."""
    parts = []
    for name, problems in groups.items():
        part = over(table, problems)
        if len(part):
            part.insert(0, "group", name)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)
