"""What a claim of the paper is."""

from collections.abc import Callable
from dataclasses import dataclass

from pengp.study.judges.base import Verdict
from pengp.study.report_rows import Rows

PRINTED = "equal to within one unit of the last printed digit"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and how the rows are asked about it.

    Attributes
    ----------
    id : str
        Name that does not change.
    study : str
        The study whose rows are asked.
    where : str
        Section, figure or table of the paper.
    paper : str
        What the paper says.
    test : str
        What is tested, in one sentence.
    judge : callable
        From `Rows` to a `Verdict`; raises MissingRowsError if rows are missing.
    """

    id: str
    study: str
    where: str
    paper: str
    test: str
    judge: Callable[[Rows], Verdict]
