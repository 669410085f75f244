"""The paper's claims, all of them, and the verdict of a results file's rows on each."""

from typing import NamedTuple

import pandas as pd

from pengp.study.claims import folds, forrester, limits, nfold, piston, simulation
from pengp.study.claims.base import Claim
from pengp.study.judges.base import STATUSES, Status, Verdict
from pengp.study.report_rows import MissingRowsError, Rows

#: Every claim, in the order of the studies and of the paper.
CLAIMS: tuple[Claim, ...] = (
    *forrester.CLAIMS,
    *nfold.CLAIMS,
    *folds.CLAIMS,
    *simulation.CLAIMS,
    *piston.CLAIMS,
    *limits.CLAIMS,
)


class Judged(NamedTuple):
    """A claim and the verdict on it.

    See Also
    --------
    judge : Returns a list of them.
    """

    claim: Claim
    verdict: Verdict


def judge(rows: pd.DataFrame | Rows) -> list[Judged]:
    """Return the verdict of the rows on each of `CLAIMS`.

    Parameters
    ----------
    rows : DataFrame
        As `Store.rows` returns them. A claim whose rows are missing or too few is "not testable".

    Examples
    --------
    >>> from pengp.study import Store, get_study, judge, run_studies
    >>> with Store.open("judged.sqlite", "w") as store:
    ...     done = run_studies([get_study("limits")], store, "tiny")
    ...     judged = judge(store.rows())
    >>> first = next(found for found in judged if found.claim.study == "limits")
    >>> first.verdict.status
    'reproduced'
    """
    rows = rows if isinstance(rows, Rows) else Rows(rows)
    return [Judged(claim, _judge(claim, rows)) for claim in CLAIMS]


def _judge(claim: Claim, rows: Rows) -> Verdict:
    """Return the verdict on one claim."""
    try:
        return claim.judge(rows)
    except MissingRowsError as missing:
        return Verdict("not testable", str(missing))


def counts(judged: list[Judged]) -> dict[Status, int]:
    """Return how many claims have each status.

    Examples
    --------
    >>> from pengp.study import CLAIMS, Store, counts, get_study, judge, run_studies
    >>> with Store.open("counted.sqlite", "w") as store:
    ...     done = run_studies([get_study("limits")], store, "tiny")
    ...     found = counts(judge(store.rows()))
    >>> sum(found.values()) == len(CLAIMS), found["contradicted"]
    (True, 0)
    """
    return {status: sum(j.verdict.status == status for j in judged) for status in STATUSES}


def readings() -> str:
    """Return all statements and how they are read, as a Markdown table."""
    head = ("| statement | where | what the paper says | how it is read |", "|---|---|---|---|")
    cells = [(f"`{claim.id}`", claim.where, claim.paper, claim.test) for claim in CLAIMS]
    lines = ["| " + " | ".join(map(_escaped, row)) + " |" for row in cells]
    return "\n".join((*head, *lines)) + "\n"


def _escaped(text: str) -> str:
    """Return a text for a cell of a Markdown table."""
    return text.replace("*", r"\*").replace("|", r"\|")
