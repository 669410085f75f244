"""Scales as the command line takes them: ``--log x1``, ``--transform y=sqrt``, ``--log auto``."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.levels import IntegerOption, level_settings
from pengp.cli.printing import note
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp.cli.runs import Runs
    from pengp.model.elementary import Transform

_AUTO = "auto"

LogOption = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        metavar="NAME|auto",
        help="Input that enters by its logarithm; may be repeated. With auto, inputs and response "
        "for which that raises the log score of left-out runs.",
    ),
]
LogResponseOption = Annotated[
    bool,
    typer.Option(
        "--log-response", help="Model the logarithm of the response; results stay in its unit."
    ),
]
TransformOption = Annotated[
    list[str] | None,
    typer.Option(
        "--transform",
        metavar="NAME=KIND",
        help="Scale of an input or of the response: log, log10, sqrt, logit:LOW:HIGH, boxcox:POWER "
        "or yeojohnson:POWER, of a response also without a power, which is estimated; may be "
        "repeated.",
    ),
]


@dataclass(frozen=True)
class Scales:
    """Scales of the inputs and of the response; each field is an option of `fit` and `next`."""

    log: LogOption = None
    log_response: LogResponseOption = False
    transform: TransformOption = None
    integer: IntegerOption = None

    @property
    def any(self) -> bool:
        """Whether any was given."""
        return bool(self.log or self.log_response or self.transform or self.integer)

    def settings(self, runs: "Runs", responses: Sequence[str]) -> dict[str, Any]:
        """Return the estimators' parameters for the scales and levels of inputs and responses."""
        return _transforms(runs, responses, self) | level_settings(runs, self.integer or [])


def _transforms(runs: "Runs", responses: Sequence[str], scales: Scales) -> dict[str, Any]:
    """Return the estimators' parameters input_transforms and response_transform.

    Mistakes are told in the words of the runs.
    """
    log = scales.log or []
    names = [name for name in log if name != _AUTO]
    asked = [(name, "log10") for name in names]
    asked += [(response, "log10") for response in responses if scales.log_response]
    asked += [_pair(option) for option in scales.transform or []]
    found: dict[str, Transform] = {}
    for name, kind in asked:
        _check_name(name, [*runs.names, *([] if name in names else responses)])
        if name in found:
            raise InputError(f"{name!r} has two transforms; give one.")
        found[name] = parse_transform(kind)
    if _AUTO in log:
        if len(responses) > 1:
            raise InputError("--log auto judges one response at a time; fit each on its own.")
        found |= _advised(runs, responses[0], found)
    columns = dict(zip(responses, runs.y.reshape(len(runs.y), -1).T, strict=True))
    check_domains(runs.source, runs.X.assign(**columns), found)
    each = [found.pop(response, None) for response in responses]
    several = each if any(each) else None
    of_response = each[0] if len(each) == 1 else several
    return {"input_transforms": found or None, "response_transform": of_response}


def parse_transform(text: str) -> "Transform":
    """Return the transform that ``KIND`` or ``KIND:NUMBER:...`` names."""
    from pengp.model.transforms import TRANSFORMS

    kind, *settings = text.split(":")
    if kind not in TRANSFORMS:
        raise InputError(f"there is no transform {kind!r}; use one of {', '.join(TRANSFORMS)}.")
    try:
        made: Transform = type(TRANSFORMS[kind])(*map(float, settings))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the transform {text!r} is not understood: write {kind}, or its numbers behind it, "
            "as in logit:0:100 or boxcox:0.5."
        ) from error
    return made


def check_domains(source: str, frame: "pd.DataFrame", transforms: "dict[str, Transform]") -> None:
    """Raise an InputError if a value in a column of the frame, rows as in the file, has none."""
    for name, transform in transforms.items():
        if name not in frame:
            continue
        known = transform.candidates()[0]
        outside = ~known.accepts(frame[name].to_numpy())
        if outside.any():
            i = int(outside.argmax())
            raise InputError(
                f"{source}: row {frame.index[i]}, column {name!r} holds {frame[name].iloc[i]:g}, "
                f"but {transform.name} needs values {known.domain} (rows are counted from 1 below "
                "the header); correct that row or leave the transform out."
            )


def _pair(option: str) -> tuple[str, str]:
    """Return name and kind of ``NAME=KIND``."""
    name, _, kind = option.rpartition("=")
    if not name.strip() or not kind.strip():
        raise InputError(f"--transform {option}: write NAME=KIND, such as x1=log10.")
    return name.strip(), kind.strip()


def _check_name(name: str, known: Sequence[str]) -> None:
    """Raise an InputError unless a column is known by that name."""
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        raise InputError(
            f"there is no column {name!r} to transform; did you mean {close[0]!r}? There are "
            f"{', '.join(known)}."
        )


def _advised(runs: "Runs", response: str, used: "dict[str, Transform]") -> "dict[str, Transform]":
    """Return the transforms that raise the log score of left-out runs, and say so."""
    from pengp.estimators.advice import advise
    from pengp.model.transforms import IDENTITY

    given = {**used, **runs.levels}
    of_inputs = [given.get(name, IDENTITY) for name in runs.names]
    found = {}
    known = runs.X.to_numpy(), runs.y, of_inputs, used.get(response, IDENTITY), runs.noise_sd
    for advice in advise(*known):
        name = response if advice.column is None else runs.names[advice.column]
        found[name] = advice.transform
        note(f"--log auto: {advice.sentence(name, len(runs.y))}")
    if not found:
        note("--log auto: no other scale of an input or of the response is advised.")
    return found
