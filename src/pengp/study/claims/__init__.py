"""The paper's claims as data, each with its judge; `pengp.study.judges` holds the judges."""

from pengp.study.claims.base import Claim
from pengp.study.claims.catalogue import CLAIMS, Judged, counts, judge, readings
from pengp.study.judges.base import STATUSES, Status, Verdict

__all__ = [
    "CLAIMS",
    "STATUSES",
    "Claim",
    "Judged",
    "Status",
    "Verdict",
    "counts",
    "judge",
    "readings",
]
