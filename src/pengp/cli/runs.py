"""Runs from a table: inputs and response, checked in the words of the command line."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pengp._core.datasets import MOST_INPUTS, find_duplicates
from pengp._core.rows import first_of_each
from pengp.cli.levels import find_levels, read_inputs
from pengp.cli.noise import Noise, columns_of, noise_in, read_noise
from pengp.cli.printing import note
from pengp.cli.reading import Reading
from pengp.cli.suspects import like_responses
from pengp.cli.tables import Table, read_table
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import FloatArray
    from pengp.model.elementary import Transform
    from pengp.model.levels import Levels

#: Columns of text that are named.
_MOST_NAMES = 20
#: Different runs from which repeated ones are merged, and repeats that are named.
_FEWEST_MERGED, _MOST_REPEATS = 3, 3
#: Nuggets that runs with the same inputs decide: of a penalized fit and of an average.
_ESTIMATED = ("estimate", "sample")
#: Names of columns that count the runs more often than they are inputs.
_COUNTERS = {"#", "case", "id", "index", "no", "no.", "nr", "number", "row", "run", "sample"}


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs as read.

    Attributes
    ----------
    source : str
        Name of the file.
    X : frame [n, d]
        Inputs; the index is the rows' numbers in the file, from 1.
    y : [n], or [n, q] for several
        Response.
    levels : mapping
        Levels of the inputs that are factors; X has their values.
    noise_sd : [n], or [n, q] for several, or None
        Known standard deviations of y.
    noise : mapping
        What they are for each response, a number or a column.
    """

    source: str
    X: "pd.DataFrame"
    y: "FloatArray"
    levels: "Mapping[str, Levels]" = field(default_factory=dict)
    noise_sd: "FloatArray | None" = None
    noise: Noise = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the inputs."""
        return [str(name) for name in self.X.columns]

    def each(self) -> "list[Runs]":
        """Return the runs of every response by itself."""
        columns = self.y.reshape(len(self.X), -1).T
        sds = self.noise_sd
        noise = [None] * len(columns) if sds is None else list(sds.reshape(len(self.X), -1).T)
        pairs = zip(columns, noise, strict=True)
        return [replace(self, y=y, noise_sd=sd) for y, sd in pairs]


def read_runs(
    path: str | Path,
    responses: Sequence[str],
    inputs: Sequence[str] | None,
    *,
    factors: "Sequence[str] | Mapping[str, Levels]" = (),
    fewest: int = 1,
    reading: Reading | None = None,
    noise: Sequence[str] | Mapping[str, float | str] = (),
) -> Runs:
    """Read a table of at least so many runs; by default all other columns are inputs.

    Factors are named, or their levels are known. The noise of the responses is as ``--noise-sd``
    gives it, or known by response.
    """
    table = read_table(path, reading)
    known = dict(noise) if isinstance(noise, Mapping) else read_noise(noise, responses, table.names)
    spoken_for = [*responses, *columns_of(known)]
    for response in responses:
        if inputs is not None and response in inputs:
            raise InputError(f"{response!r} is the response and cannot be an input too.")
    for column in columns_of(known):
        if inputs is not None and column in inputs:
            raise InputError(f"{column!r} is the noise of a response and cannot be an input too.")
    y, noise_sd = table.numbers(responses).to_numpy(), noise_in(table, known, responses)
    count = len(table.names) - len(spoken_for) if inputs is None else len(inputs)
    if count > MOST_INPUTS:
        raise InputError(
            f"{table.source} has {count:,} inputs, and a model takes {MOST_INPUTS:,} at most; "
            "name those that matter: --inputs A,B,..."
        )
    names = _all_but(table, spoken_for, factors) if inputs is None else inputs
    levels = factors if isinstance(factors, Mapping) else find_levels(table, factors, names)
    X = read_inputs(table, names, levels)
    if len(y) < fewest:
        raise InputError(
            f"{table.source} has {'one run' if len(y) == 1 else f'{len(y)} runs'} only; a model "
            f"needs {fewest} and deserves more, 10 for each input that matters."
        )
    if len(responses) == 1:
        y, noise_sd = y[:, 0], None if noise_sd is None else noise_sd[:, 0]
    return Runs(table.source, X, y, levels, noise_sd, known if noise_sd is not None else {})


def _all_but(table: Table, others: Sequence[str], factors: Collection[str]) -> list[str]:
    """Return all names but those of responses and their noise, as inputs."""
    names = [name for name in table.names if name not in others]
    if not names:
        shown = ", ".join(map(repr, others))
        raise InputError(f"{table.source} has no column besides {shown}; the inputs are missing.")
    check_texts(table, [name for name in names if name not in factors])
    return names


def note_suspects(runs: Runs, transforms: "Mapping[str, Transform]") -> None:
    """Say which inputs only count the rows, and which look like responses.

    Of the latter as they are, and on the scales by which some of them enter.
    """
    X = runs.X[[name for name in runs.names if name not in runs.levels]]
    names = [str(name) for name in X]
    for name in names:
        if name.lower() in _COUNTERS and (np.diff(X[name]) == 1.0).all() and len(X) > 1:
            note(
                f"the column {name!r} counts the rows and is taken for an input; if it is none, "
                "name those that are: --inputs A,B,..."
            )
    scaled = {
        name: transforms[name].forward(X[name].to_numpy()) for name in names if name in transforms
    }
    found = like_responses(X.to_numpy())
    if scaled:
        found = sorted({*found, *like_responses(X.assign(**scaled).to_numpy())})
    for p in found:
        note(
            f"the column {names[p]!r} follows the other inputs as a response would and is taken "
            f"for an input; if nobody set it, leave it out: --ignore {shlex.quote(names[p])}"
        )


def check_texts(table: Table, names: Sequence[str]) -> None:
    """Raise an InputError about all columns that hold text where numbers are wanted."""
    texts = [name for name in names if table.is_text(name)]
    if not texts:
        return
    several, shown = len(texts) > 1, ", ".join(map(repr, texts[:_MOST_NAMES]))
    more = f" and {len(texts) - _MOST_NAMES} more" if len(texts) > _MOST_NAMES else ""
    ignore = " ".join(f"--ignore {shlex.quote(name)}" for name in texts[:_MOST_NAMES])
    raise InputError(
        f"{table.source}: the column{'s' * several} {shown}{more} {'hold' if several else 'holds'} "
        f"text, and inputs are numbers; leave {'them' if several else 'it'} out with {ignore}"
        f"{' ...' if more else ''}, name the inputs: --inputs A,B,..., or name what has levels "
        f"without an order, as in --factor {shlex.quote(texts[0])}."
    )


def merge_runs(runs: Runs, nugget: float | str | None) -> Runs:
    """Return the runs without those that repeat others, and say so; all if the nugget is estimated.

    Fewer than 3 runs are not left. Where their noise is known, runs with the same inputs become
    their mean.
    """
    if runs.noise_sd is not None:
        return _averaged(runs, runs.noise_sd)
    first = first_of_each(np.column_stack([runs.X, runs.y]))
    kept, repeats = np.unique(first), np.flatnonzero(first != np.arange(len(first)))
    if nugget in _ESTIMATED or not len(repeats) or len(kept) < _FEWEST_MERGED:
        return runs
    rows = runs.X.index
    pairs = [f"row {rows[j]} repeats row {rows[first[j]]}" for j in repeats[:_MOST_REPEATS]]
    more = len(repeats) - len(pairs)
    note(
        f"{runs.source}: {', '.join(pairs)}{f' and {more} more likewise' if more else ''}; a run "
        "that is given twice counts once (rows are counted from 1 below the header)."
    )
    return replace(runs, X=runs.X.iloc[kept], y=runs.y[kept])


def _averaged(runs: Runs, noise_sd: "FloatArray") -> Runs:
    """Return the runs with those of the same inputs replaced by their mean, and say so."""
    from pengp.estimators.noise import merged_replicates

    columns = (a.reshape(len(runs.X), -1) for a in (runs.y, noise_sd))
    _, *merged = merged_replicates(runs.X.to_numpy(), *columns)
    y, sd = (a[:, 0] if runs.y.ndim == 1 else a for a in merged)
    if len(y) == len(runs.X):
        return runs
    first = first_of_each(runs.X.to_numpy())
    kept = np.unique(first)
    note(
        f"{runs.source}: {len(first)} runs have {len(kept)} different inputs; runs with the same "
        "inputs are replaced by their mean, whose noise is that of a mean."
    )
    return replace(runs, X=runs.X.iloc[kept], y=y, noise_sd=sd)


def check_runs(runs: Runs, nugget: float | str | None) -> None:
    """Raise an InputError if runs contradict each other, unless scatter is accounted for."""
    if nugget in _ESTIMATED or runs.noise_sd is not None:
        return
    match find_duplicates(runs.X.to_numpy(), runs.y):
        case i, j, (first, second):
            raise InputError(
                f"{runs.source}: rows {i + 1} and {j + 1} have the same inputs but different "
                f"responses, {first:.9g} and {second:.9g} (rows are counted from 1 below the "
                "header); delete one, give their standard deviation with --noise-sd, or use "
                "--nugget estimate."
            )


def check_new_runs(new: Runs, known: "FloatArray", nugget: float | str | None) -> None:
    """Raise an InputError if a new run is one of those known [n, d], unless these may differ."""
    check_runs(new, nugget)
    if nugget in _ESTIMATED or new.noise_sd is not None:
        return
    number = {tuple(run): k for k, run in enumerate(known.tolist(), start=1)}
    for row, run in zip(new.X.index, new.X.to_numpy().tolist(), strict=True):
        if tuple(run) in number:
            raise InputError(
                f"{new.source}: row {row} has the inputs of run {number[tuple(run)]}, which the "
                "model knows already (rows are counted from 1 below the header); delete that row."
            )


def check_bounds(runs: Runs, bounds: "FloatArray") -> None:
    """Raise an InputError if a run lies outside the bounds [d, 2] of the inputs."""
    X = runs.X.to_numpy()
    outside = (bounds[:, 0] > X) | (bounds[:, 1] < X)
    if outside.any():
        i, p = (int(k) for k in np.argwhere(outside)[0])
        low, high = bounds[p]
        raise InputError(
            f"{runs.source}: row {runs.X.index[i]}, column {runs.names[p]!r} holds {X[i, p]:g}, "
            f"outside its bounds {low:g} to {high:g} (rows are counted from 1 below the header); "
            "widen the bounds or delete that row."
        )
