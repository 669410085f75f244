"""Whether a surrogate can be trusted: by its own runs, by test runs, and for a tolerance."""

from pengp.diagnostics.comparison import Comparison, Judged, compare
from pengp.diagnostics.tolerance import GoodEnough, good_enough
from pengp.diagnostics.validation import Difference, Validation, validate
from pengp.estimators.diagnosis import Diagnosis, diagnose, diagnose_view
from pengp.estimators.findings import CLOSE_MODE, Finding
from pengp.estimators.joint import JointErrors
from pengp.estimators.path_view import Mode
from pengp.estimators.scoring import IntervalCheck, score_law, score_predictions

__all__ = [
    "CLOSE_MODE",
    "Comparison",
    "Diagnosis",
    "Difference",
    "Finding",
    "GoodEnough",
    "IntervalCheck",
    "JointErrors",
    "Judged",
    "Mode",
    "Validation",
    "compare",
    "diagnose",
    "diagnose_view",
    "good_enough",
    "score_law",
    "score_predictions",
    "validate",
]
