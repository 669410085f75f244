"""What a claim of the paper is."""

from dataclasses import dataclass

from pengp.study.judges.base import Judge

PRINTED = "equal to within one unit of the last printed digit"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, counted once, and how the rows are asked about it.

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
        How it is read, fixed before the rows are seen.
    judge : Judge
        From `Rows` to a `Verdict`, on all of its lines.

    Examples
    --------
    >>> from pengp.study import CLAIMS
    >>> CLAIMS[0].id, CLAIMS[0].where
    ('forrester-nugget-defines-likelihood', 'Section 1, Figure 1(a)')
    """

    id: str
    study: str
    where: str
    paper: str
    test: str
    judge: Judge
