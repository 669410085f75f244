"""The record of leave-one-out predictions."""

from dataclasses import dataclass

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut(Shown):
    """Each run predicted from all others, in the user's units.

    The scales are those of all runs. An estimate keeps its theta; an average learns theta anew.

    Attributes
    ----------
    mean, std : [n] or [n, q]
        Predictive mean and standard deviation.
    residual : [n] or [n, q]
        Response less predictive mean.
    standardized_residual : [n] or [n, q]
        residual / std, for a transformed response both on the transformed scale: about standard
        normal for a sound surrogate; 0 for a constant response.
    theta : str
        Whether theta is ``"kept"`` or ``"learned anew"`` without the run.

    See Also
    --------
    pengp.PenalizedGPRegressor : Its ``loo_`` is one.
    """

    mean: FloatArray
    std: FloatArray
    residual: FloatArray
    standardized_residual: FloatArray
    theta: str = "kept"

    def _in_short(self) -> str:
        error = np.sqrt(np.mean(np.square(self.residual), axis=0))
        told = ", ".join(f"{one:.4g}" for one in np.atleast_1d(error))
        return f"{len(self.mean)} runs, RMSE {told} with theta {self.theta}"

    @property
    def columns(self) -> tuple[FloatArray, ...]:
        """The four arrays."""
        return self.mean, self.std, self.residual, self.standardized_residual

    def output(self, k: int) -> "LeaveOneOut":
        """Return the predictions [n] of output k."""
        mean, std, residual, standardized = (column[:, k] for column in self.columns)
        return LeaveOneOut(mean, std, residual, standardized, self.theta)
