"""Selections from the rows of a results file; claims, figures and tables see rows only this way."""

from typing import Any

import numpy as np
import pandas as pd

from pengp.study.definitions import get_study

#: Share of a part's repetitions in the paper that an average over them needs.
ENOUGH = 0.95
_DIGITS = 9  # inputs of two methods that agree to so many decimals are the same input


class MissingRowsError(Exception):
    """The rows that a claim, a figure or a table needs are not there; says which."""


class Rows:
    """The rows of a results file; a part is named "study/function".

    Parameters
    ----------
    frame : DataFrame
        Columns study, function, repetition, method, lam, metric, x, value.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        keys = ["study", "function", "method", "metric"]
        groups: Any = frame.groupby(keys, sort=False)
        self._groups: dict[tuple[str, ...], pd.DataFrame] = dict(list(groups))
        self._counts = frame.groupby(["study", "function"], sort=False)["repetition"].nunique()

    def studies(self) -> set[str]:
        """Return the names of the studies that have rows."""
        return {str(study) for study, _ in self._counts.index}

    def parts(self, study: str) -> list[str]:
        """Return the parts of a study that have rows."""
        return [f"{name}/{part}" for name, part in self._counts.index if name == study]

    def pick(self, part: str, method: str, metric: str) -> pd.DataFrame:
        """Return the rows of one method and metric."""
        study, function = part.split("/")
        found = self._groups.get((study, function, method, metric))
        if found is None:
            raise MissingRowsError(f"no rows of {part} ({method}, {metric})")
        return found

    def has(self, part: str) -> bool:
        """Return whether there are rows of a part."""
        return tuple(part.split("/")) in self._counts.index

    def number(self, part: str, method: str, metric: str) -> float:
        """Return a metric of which there is one row."""
        return float(self.pick(part, method, metric)["value"].iloc[0])

    def along_x(self, part: str, method: str, metric: str) -> pd.Series:
        """Return a curve, its index x ascending."""
        found = self.pick(part, method, metric)
        return _series(found["value"].to_numpy(), found["x"].round(_DIGITS).to_numpy())

    def along_lam(self, part: str, method: str, metric: str) -> pd.Series:
        """Return a curve, its index lambda ascending."""
        found = self.pick(part, method, metric)
        return _series(found["value"].to_numpy(), found["lam"].to_numpy())

    def by_repetition(
        self, part: str, method: str, metric: str, column: str = "value"
    ) -> pd.Series:
        """Return a metric (or its ``lam``) of each repetition, its index the repetition."""
        found = self.pick(part, method, metric)
        return _series(found[column].to_numpy(), found["repetition"].to_numpy())

    def grid(self, part: str, method: str, metric: str, columns: str) -> pd.DataFrame:
        """Return a metric as a table of lambda (rows) and ``columns`` ("repetition" or "x")."""
        found = self.pick(part, method, metric)
        return found.pivot_table(index="lam", columns=columns, values="value", aggfunc="first")

    def formulas(self, study: str) -> list[tuple[str, str, int, float]]:
        """Return part, metric, repetition and value of each row with the method "formula"."""
        found = [g for key, g in self._groups.items() if key[0] == study and key[2] == "formula"]
        columns = ["function", "metric", "repetition", "value"]
        return [tuple(row) for group in found for row in group[columns].to_numpy().tolist()]

    def repetitions(self, part: str) -> tuple[int, int]:
        """Return how many repetitions of a part are there, and how many the paper has."""
        study, function = part.split("/")
        have = int(self._counts.get((study, function), 0))
        return have, get_study(study).sizes["paper"][function]

    def need_repetitions(self, *parts: str) -> None:
        """Raise a MissingRowsError unless (nearly) all repetitions of the paper are there."""
        for part in parts:
            have, want = self.repetitions(part)
            if have < ENOUGH * want:
                raise MissingRowsError(f"{have} of {want} repetitions of {part}")


def nearest(curve: pd.Series, lam: float) -> tuple[float, float]:
    """Return the lambda of a curve that is nearest to a printed one, and the value there."""
    lams = curve.index.to_numpy(dtype=float)
    i = int(np.abs(lams - lam).argmin())
    return float(lams[i]), float(curve.to_numpy()[i])


def _series(values: Any, index: Any) -> pd.Series:
    """Return a series of floats, its index ascending."""
    return pd.Series(values, index=index, dtype=float).sort_index(kind="stable")
