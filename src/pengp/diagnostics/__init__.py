"""Whether a surrogate can be trusted: by its own runs, by test runs, and for a tolerance."""

from pengp.diagnostics.diagnosis import CLOSE_MODE, Diagnosis, Finding, diagnose, diagnose_view
from pengp.diagnostics.scoring import IntervalCheck, score_law, score_predictions
from pengp.diagnostics.tolerance import GoodEnough, good_enough
from pengp.diagnostics.validation import Difference, Validation, validate
from pengp.estimators.joint import JointErrors
from pengp.estimators.path_view import Mode

__all__ = [
    "CLOSE_MODE",
    "Diagnosis",
    "Difference",
    "Finding",
    "GoodEnough",
    "IntervalCheck",
    "JointErrors",
    "Mode",
    "Validation",
    "diagnose",
    "diagnose_view",
    "good_enough",
    "score_law",
    "score_predictions",
    "validate",
]
