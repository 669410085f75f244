"""The command `pengp design`: where to run the simulator."""

import math
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.bounds import RangesOption, read_bounds
from pengp.cli.files import same_file
from pengp.cli.levels import IntegerOption, check_whole, labels_at, read_levels
from pengp.cli.options import JsonSummaryOption, TableOption
from pengp.cli.printing import note, paragraph, show, show_json
from pengp.cli.reading import DecimalOption, Reading, ThousandsOption
from pengp.cli.tables import TableWriter
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from pengp._core.arrays import FloatArray

_SLICE = "slice"
_EXACT = 2.0**53  # whole numbers below are exact as floats, and safe as integers


class Kind(StrEnum):
    """Designs that can be asked for."""

    MAXIMIN = "maximin"
    RANDOM = "random"
    SLICED = "sliced"


CountOption = Annotated[int, typer.Option("--n", "-n", min=1, help="Number of runs.")]
SpacingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--log", metavar="NAME", help="Input to be spaced by its logarithm; may be repeated."
    ),
]
LevelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--factor",
        metavar="NAME=A,B,...",
        help="Input with these levels, which have no order; may be repeated.",
    ),
]
KindOption = Annotated[
    Kind,
    typer.Option(
        help="maximin keeps runs far apart; random does not; sliced consists of smaller "
        "designs, for runs in stages."
    ),
]
SlicesOption = Annotated[
    int | None, typer.Option(min=1, help="Number of slices, with --kind sliced.")
]
SeedOption = Annotated[int, typer.Option(min=0, help="The same seed gives the same design.")]
DigitsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=15,
        help="Round values, for typing them: with 2, an input that ranges over 100 gets steps "
        "of 1, one that ranges over 0.1 steps of 0.001.",
    ),
]


def design(
    n: CountOption,
    bounds: RangesOption,
    log: SpacingOption = None,
    integer: IntegerOption = None,
    factor: LevelsOption = None,
    kind: KindOption = Kind.MAXIMIN,
    slices: SlicesOption = None,
    seed: SeedOption = 0,
    digits: DigitsOption = None,
    output: TableOption = "-",
    decimal: DecimalOption = None,
    thousands: ThousandsOption = None,
    as_json: JsonSummaryOption = False,
) -> None:
    """Plan the runs of the simulator: a Latin hypercube within the ranges of the inputs.

    Each run is a row, each input a column. Add the simulator's response as one more column, then
    fit it: pengp fit design.csv --response NAME
    """
    if as_json and output == "-":
        raise InputError("--json needs --output FILE; without it the design goes to stdout.")
    if output != "-" and any(same_file(Path(output), Path(option)) for option in bounds):
        raise InputError(f"--output {output} would replace the bounds; choose another name.")
    ranges = read_bounds(bounds, reading=Reading(decimal, thousands))
    levels = read_levels(factor or [], ranges)
    inputs = [*ranges, *levels]
    _check_slices(n, kind, slices, inputs)
    _check_log(log or [], ranges)
    check_whole(integer or [], ranges)
    with working("Designing ...", quiet=as_json):
        unit = _unit_design(n, len(inputs), kind, slices, seed)
        frame = _design(unit, ranges, log or [], integer or [], digits)
    for p, (name, labels) in enumerate(levels.items(), start=len(ranges)):
        frame[name] = labels_at(unit[:, p], labels)
    _finish(frame, slices, repeats_allowed=bool(integer or levels), digits=digits)
    with TableWriter(output) as writer:
        writer.write(frame)
    if as_json:
        made = {"output": output, "runs": n, "inputs": inputs, "log": log or [], "seed": seed}
        made |= {"integer": integer or [], "factors": levels}
        show_json({**made, "kind": kind.value, "slices": slices})
    elif output != "-":
        text = _summary(n, len(inputs), kind, slices, seed, output)
        given = {"log": log or [], "integer": integer or [], "factor": levels}
        pairs = [(option, name) for option, names in given.items() for name in names]
        options = "".join(f" --{option} {shlex.quote(name)}" for option, name in pairs)
        show(paragraph(text + options) + "\n")


def _check_slices(n: int, kind: Kind, slices: int | None, inputs: list[str]) -> None:
    """Raise an InputError unless the number of slices goes with the other options."""
    if kind is not Kind.SLICED:
        if slices is not None:
            raise InputError(f"--slices goes with --kind sliced, not with --kind {kind}.")
        return
    if slices is None:
        raise InputError("--kind sliced needs --slices, the number of slices, such as --slices 3.")
    if n % slices:
        sizes = [size for size in (n - n % slices, n - n % slices + slices) if size]
        raise InputError(
            f"{n} runs cannot be split into {slices} slices of one size; use "
            f"{' or '.join(f'--n {size}' for size in sizes)}."
        )
    if _SLICE in inputs:
        raise InputError(
            f"an input is named {_SLICE!r}, as is the column that numbers the slices; rename it."
        )


def _check_log(log: list[str], ranges: dict[str, tuple[float, float]]) -> None:
    """Raise an InputError unless these inputs are there and positive."""
    for name in log:
        if name not in ranges:
            raise InputError(
                f"--log {name}: there is no such input; there are {', '.join(ranges)}."
            )
        if ranges[name][0] <= 0.0:
            raise InputError(
                f"--log {name}: its range starts at {ranges[name][0]:g}, and a logarithm needs "
                "values above 0; raise the lower end."
            )


def _unit_design(n: int, d: int, kind: Kind, slices: int | None, seed: int) -> "FloatArray":
    """Return the design [n, d] in the unit cube."""
    from pengp.datasets.designs import latin_hypercube

    return latin_hypercube(n, d, method=kind.value, slices=slices, random_state=seed)


def _design(
    unit: "FloatArray",
    ranges: dict[str, tuple[float, float]],
    log: list[str],
    integer: list[str],
    digits: int | None,
) -> "pd.DataFrame":
    """Return the design [n, d or more] as a column for every input that has a range."""
    import numpy as np
    import pandas as pd

    from pengp.datasets.designs import scale_design
    from pengp.model.transforms import TRANSFORMS

    log10 = TRANSFORMS["log10"]
    # Half a step more on either side makes the whole numbers at the ends as frequent as others.
    wider = {n: (a - 0.5, b + 0.5) if n in integer else (a, b) for n, (a, b) in ranges.items()}
    ends = [(name in log, np.array(pair)) for name, pair in wider.items()]
    spaced = np.array([log10.forward(pair) if by_log else pair for by_log, pair in ends])
    frame = pd.DataFrame(scale_design(unit[:, : len(ranges)], spaced), columns=pd.Index(ranges))
    for name in log:
        frame[name] = np.clip(log10.inverse(frame[name].to_numpy()), *wider[name])
    for name, (lower, upper) in ranges.items():
        values = frame[name].to_numpy()
        if name in integer:
            frame[name] = np.clip(np.rint(values), lower, upper).astype(np.int64)
        elif digits is not None:
            round_to = _significant if name in log else _rounded
            frame[name] = round_to(values, lower, upper, digits)
    return frame


def _finish(
    frame: "pd.DataFrame", slices: int | None, *, repeats_allowed: bool, digits: int | None
) -> None:
    """Judge runs that coincide, and add the number of the slice."""
    repeats = int(frame.duplicated().sum())
    if repeats and not repeats_allowed:
        raise InputError(f"with --digits {digits} some runs coincide; ask for more digits.")
    if repeats:
        note(
            f"{repeats} of {len(frame)} runs have the inputs of others, since inputs with few "
            "values do not allow more different ones here; a deterministic simulator needs each "
            "once: leave them out, or try another --seed or --n."
        )
    if slices is not None:
        frame[_SLICE] = [1 + i * slices // len(frame) for i in range(len(frame))]


def _rounded(values: "FloatArray", lower: float, upper: float, digits: int) -> "NDArray[Any]":
    """Round values [n] in [lower, upper] to a multiple of a power of ten that also lies there.

    The power is the range's width, rounded up to a power of ten, less so many digits; it is
    narrower than the range, which therefore holds a multiple of it.
    """
    import numpy as np

    decades = math.ceil(round(math.log10(upper - lower), 9))  # 1.1 - 1.0 is a little over 0.1
    places = digits - decades
    step = 10.0**-places
    rounded = np.round(values, places)
    rounded = np.where(rounded < lower, np.round(rounded + step, places), rounded)
    rounded = np.where(rounded > upper, np.round(rounded - step, places), rounded)
    whole = places <= 0 and np.abs(rounded).max() < _EXACT
    return rounded.astype(np.int64) if whole else rounded


def _significant(values: "FloatArray", lower: float, upper: float, digits: int) -> "NDArray[Any]":
    """Round values [n] to so many significant digits, within [lower, upper]."""
    import numpy as np

    rounded = np.array([float(f"{value:.{digits - 1}e}") for value in values])
    return np.clip(rounded, lower, upper)


def _summary(n: int, d: int, kind: Kind, slices: int | None, seed: int, output: str) -> str:
    """Say what was written and what to do with it."""
    parts = f"sliced Latin hypercube of {slices} slices" if slices else f"{kind} Latin hypercube"
    return (
        f"{n} runs of {d} input{'s' * (d > 1)} written to {output} ({parts}, seed {seed}). Run the "
        "simulator at each row, add its response as a column, then: pengp fit "
        f"{output} --response NAME"
    )
