"""The report's page: what the templates are given, and one self-contained HTML file from it."""

import base64
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pandas as pd

from pengp.exceptions import InputError
from pengp.study.base import Study
from pengp.study.claims import STATUSES, Judged, Status, counts
from pengp.study.definitions import STUDIES
from pengp.study.figures.catalogue import Drawn
from pengp.study.judges.base import number, signed
from pengp.study.report_rows import Rows
from pengp.study.store import FailedTask
from pengp.study.tables import Made

#: Tables with more rows are folded away on the page.
_LONG = 14


@dataclass(frozen=True)
class Contents:
    """All that a report says."""

    rows: Rows
    judged: list[Judged]
    figures: list[Drawn]
    tables: list[Made]
    failures: list[FailedTask] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    """Name of the results file."""


def render(contents: Contents) -> str:
    """Return the page; everything that it needs is inside."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(
            "a study report needs jinja2; install it: pip install 'pengp[report]'."
        ) from error
    environment = Environment(
        loader=PackageLoader("pengp.study"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(cell=cell, slug=slug, data_uri=data_uri)
    return environment.get_template("page.html").render(
        statuses=STATUSES,
        counts=counts(contents.judged),
        tested=_tested(counts(contents.judged)),
        summary=summary(counts(contents.judged)),
        sections=[
            _section(study, contents)
            for study in STUDIES.values()
            if study.is_paper or study.name in contents.rows.studies()
        ],
        calls=[_call(call) for call in contents.metadata.get("invocations", [])],
        metadata=contents.metadata,
        source=contents.source,
    )


def _tested(found: dict[Status, int]) -> int:
    """Return how many statements have a verdict."""
    return sum(found.values()) - found["not testable"]


def summary(found: dict[Status, int]) -> str:
    """Return the counts of verdicts in one sentence."""
    near = found["within search tolerance"] + found["within chance"]
    return (
        f"Of {_tested(found)} statements of the paper that were tested, {found['reproduced']} hold "
        f"as they stand and {near} within the tolerance of a search or the chance of a draw; "
        f"{found['depends on the search']} depend on the paper's own search, "
        f"{found['depends on the reading']} on how a word is read, {found['slip']} are slips of "
        "the text where another part of the paper is right, and "
        f"{found['contradicted']} are contradicted."
    )


def _section(study: Study, contents: Contents) -> dict[str, Any]:
    """Return what the page says about one study."""
    judged = [j for j in contents.judged if j.claim.study == study.name]
    parts = [f"{study.name}/{part}" for part in study.sizes["paper"]]
    progress = [(part, *contents.rows.repetitions(part)) for part in parts]
    return {
        "study": study,
        "judged": judged,
        "counts": counts(judged),
        "present": study.name in contents.rows.studies(),
        "incomplete": [(part, have, want) for part, have, want in progress if have < want],
        "tests_missing": [
            part for part in study.test_parts if not contents.rows.has(f"{study.name}/{part}")
        ],
        "figures": [
            (drawn, _about(drawn, judged))
            for drawn in contents.figures
            if drawn.figure.study == study.name
        ],
        "tables": [
            (made, made.frame is not None and len(made.frame) > _LONG)
            for made in contents.tables
            if made.table.study == study.name
        ],
        "failures": [f for f in contents.failures if f.task.study == study.name],
    }


def _about(drawn: Drawn, judged: list[Judged]) -> str:
    """Return the verdicts on the statements that cite a figure."""
    citing = [j for j in judged if drawn.figure.label in j.claim.where]
    if not citing:
        return ""
    found = counts(citing)
    return ", ".join(f"{found[status]} {status}" for status in STATUSES if found[status])


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """Return what the page says about one call that ran tasks."""
    seconds = None
    if call.get("ended"):
        ends = (datetime.fromisoformat(call[end]) for end in ("started", "ended"))
        started, ended = ends
        seconds = (ended - started).total_seconds()
    done = call.get("tasks_done", 0)
    return {
        "call": call,
        "seconds": seconds,
        "rate": done / seconds if seconds else None,
        "arguments": ", ".join(f"{k} = {_plain(v)}" for k, v in _items(call, "arguments")),
        "versions": ", ".join(f"{k} {_plain(v)}" for k, v in _items(call, "versions")),
    }


def _items(call: dict[str, Any], key: str) -> list[tuple[str, Any]]:
    """Return the entries of a dict in a call's record, none if it has no such dict."""
    found = call.get(key)
    return list(found.items()) if isinstance(found, dict) else []


def _plain(value: Any) -> str:
    """Return a value of a record as text."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def cell(value: Any, column: str) -> str:
    """Return the text of a table's cell; what the paper prints keeps all its digits."""
    if isinstance(value, str):
        return value
    if pd.isna(value):
        return "\N{EN DASH}"
    if float(value).is_integer() and abs(value) < 1e6:
        return signed(f"{value:.0f}")
    return f"{value:.6g}" if "paper" in column else number(float(value))


def slug(text: str) -> str:
    """Return a text as a name in CSS."""
    return text.replace(" ", "-")


def data_uri(content: bytes, kind: str) -> str:
    """Return an image as an address that holds it."""
    if kind not in {"svg+xml", "png"}:
        raise InputError(f"no image of kind {kind!r}.")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
