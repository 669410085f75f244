"""The command `pengp propagate`: what comes out when the inputs follow their laws."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.laws import Laws, Level, Seed, laws_by_name
from pengp.cli.options import JsonOption, ModelFile
from pengp.cli.printing import number, paragraph, rendered, show, show_json, table
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp.decisions import Propagation
    from pengp.estimators.view import FittedView


def propagate(
    model: ModelFile,
    law: Laws = None,
    constraint: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help='What the response is to be, such as "y < 60"; how probable it is that it is not '
            "comes with an interval.",
        ),
    ] = None,
    level: Level = 0.9,
    seed: Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Show the law of the response when the inputs follow theirs."""
    from pengp.cli.models import check_level, open_model
    from pengp.decisions import propagate as find

    check_level(level)
    laws, views = laws_by_name(law), open_model(model)
    if constraint is not None:
        views = _constrained(views, constraint)
    with working("Drawing functions ...", quiet=as_json):
        found = [
            find(view, laws, constraint=constraint, level=level, random_state=seed)
            for view in views
        ]
    if as_json:
        show_json({"file": str(model), "propagation": [_record(one) for one in found]})
    else:
        show(rendered(*(part for one in found for part in _parts(one))))


def _constrained(views: "list[FittedView]", constraint: str) -> "list[FittedView]":
    """Return the response that a constraint is about; of several it names one."""
    from pengp.decisions.constraints import constrained

    name = constrained(constraint)
    named = [view for view in views if view.response == name]
    if len(views) > 1 and not named and name is not None:
        known = " and ".join(repr(view.response) for view in views)
        raise InputError(
            f"the constraint {constraint!r} is about {name!r}, but the responses are {known}."
        )
    return named or views[:1]


def _record(found: "Propagation") -> dict[str, Any]:
    """Return all that is known, as numbers and names."""
    failure = found.failure
    return {
        "response": found.response,
        "laws": dict(zip(found.names, found.laws, strict=True)),
        "level": found.level,
        "mean": found.mean._asdict(),
        "std": found.std._asdict(),
        "quantiles": {"levels": found.levels, **found.quantiles._asdict()},
        "constraint": None if found.constraint is None else str(found.constraint),
        "failure": None if failure is None else failure._asdict(),
    }


def _parts(found: "Propagation") -> "list[RenderableType]":
    """Return the table of one response."""
    said = (
        f"{found.response} when the inputs follow their laws ({', '.join(_laws(found))}), with "
        f"{100 * found.level:g} % intervals of what the surrogate knows of each number."
    )
    rows = [
        [row["what"], number(row["mean"]), f"{number(row['lower'])} to {number(row['upper'])}"]
        for row in found.records()
    ]
    remark = ["", paragraph(found.remark)] if found.remark else []
    return [paragraph(said), "", table(["", "estimate", "interval"], rows), *remark, ""]


def _laws(found: "Propagation") -> list[str]:
    """Return each input with its law."""
    return [f"{name}={law}" for name, law in zip(found.names, found.laws, strict=True)]
