"""The paper's claims, one module a study, and how the rows of a results file judge them."""

from pengp.study.claims.base import STATUSES, Claim, Status, Verdict
from pengp.study.claims.catalogue import CLAIMS, Judged, counts, judge

__all__ = ["CLAIMS", "STATUSES", "Claim", "Judged", "Status", "Verdict", "counts", "judge"]
