"""Display classes in scikit-learn's manner: numbers first, drawn by matplotlib when asked for.

Every class has ``from_estimator`` or, if test runs are needed, ``from_test_runs``, which computes
its documented attributes without matplotlib, and ``plot``, which draws them and keeps what it drew
on: ``figure_`` and ``ax_``, or ``axes_`` where there are two panels.
"""

from pengp.plots.choice import CVCurveDisplay, StabilityDisplay
from pengp.plots.coverage import CoverageDisplay
from pengp.plots.effects import EffectsDisplay, InteractionsDisplay, MainEffectsDisplay
from pengp.plots.lambda_axis import LambdaAxis, lambda_positions
from pengp.plots.likelihood import ProfileLikelihoodDisplay
from pengp.plots.next_runs import NextRunsDisplay
from pengp.plots.outcomes import OptimumDisplay, PropagationDisplay
from pengp.plots.pivoted import PivotedErrorsDisplay
from pengp.plots.posterior import ActivityDisplay, ExplanationsDisplay
from pengp.plots.residuals import ResidualsDisplay
from pengp.plots.surface import ContourDisplay, SliceDisplay
from pengp.plots.theta import ThetaPathDisplay
from pengp.plots.validation import LeaveOneOutDisplay

__all__ = [
    "ActivityDisplay",
    "CVCurveDisplay",
    "ContourDisplay",
    "CoverageDisplay",
    "EffectsDisplay",
    "ExplanationsDisplay",
    "InteractionsDisplay",
    "LambdaAxis",
    "LeaveOneOutDisplay",
    "MainEffectsDisplay",
    "NextRunsDisplay",
    "OptimumDisplay",
    "PivotedErrorsDisplay",
    "ProfileLikelihoodDisplay",
    "PropagationDisplay",
    "ResidualsDisplay",
    "SliceDisplay",
    "StabilityDisplay",
    "ThetaPathDisplay",
    "lambda_positions",
]
