"""Newton steps of many small bounded problems: where one step leads, and what it should gain.

Nothing here knows of Gaussian processes. All functions work on B problems of P coordinates at once,
and what they return for one of them does not depend on the others.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import diagonals, max_norm
from pengp.path import settings

_LEAST = float(np.finfo(np.float64).tiny)
"""The smallest divisor."""


class Expansion(NamedTuple):
    """Second-order expansion of B objectives at B points; -inf marks an impossible point."""

    objective: FloatArray  # [B]
    gradient: FloatArray  # [B, P]
    hessian: FloatArray  # [B, P, P]

    def take(self, rows: IntArray) -> "Expansion":
        """Return the expansions of some rows."""
        # With several axes NumPy's take is three times as fast as an index.
        gradient, hessian = self.gradient.take(rows, axis=0), self.hessian.take(rows, axis=0)
        return Expansion(self.objective[rows], gradient, hessian)


def pushes_outward(
    gradient: FloatArray, point: FloatArray, lower: FloatArray, upper: FloatArray
) -> BoolArray:
    """Tell which coordinates [B, P] sit at a bound that the gradient pushes against."""
    return ((point <= lower) & (gradient <= 0.0)) | ((point >= upper) & (gradient >= 0.0))


def projected_gradient(
    gradient: FloatArray, point: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Return the maximum norm [B] of the gradient without what pushes against a bound."""
    outward = pushes_outward(gradient, point, lower, upper)
    return max_norm(np.where(outward, 0.0, gradient))


def newton_point(
    at: Expansion, point: FloatArray, lower: FloatArray, upper: FloatArray, radius: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return where a projected Newton step leads from point [B, P], and which steps [B] were cut.

    Coordinates that the gradient pushes against a bound stay. Over the others the step is -H^-1 g
    where the objective is concave, and cut to ``radius`` [B]. Elsewhere it is that of
    `shifted_step`.
    """
    outward = pushes_outward(at.gradient, point, lower, upper)
    g = np.where(outward, 0.0, at.gradient)
    step, cut = newton_step(g, at.hessian, outward, radius)
    return np.minimum(np.maximum(point + step, lower), upper), cut


def newton_step(
    g: FloatArray, H: FloatArray, fixed: BoolArray, radius: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return steps [B, P] for g [B, P], which is 0 where it is fixed, and which were cut.

    A Cholesky factor is much cheaper than eigenvalues, and exists where the objective is concave.
    """
    A, step = -H, g.copy()
    np.copyto(diagonals(A), settings.FIXED_CURVATURE, where=fixed)
    items = enumerate(zip(A.transpose(0, 2, 1), step, strict=True))
    # Options by position (lower, overwrite a, overwrite b) are much faster than by name.
    failed = [k for k, (a, b) in items if dposv(a, b, 0, 1, 1)[2]]
    np.copyto(step, 0.0, where=fixed)  # and not a trace of the fixed curvature
    length = np.sqrt(np.vecdot(step, step))
    shifted = None
    if failed or not np.maximum.reduce(length, initial=0.0) <= settings.LONGEST_STEP:
        flat = ~(length <= settings.LONGEST_STEP)
        flat[failed] = True
        rows = flat.nonzero()[0]
        step[rows], shifted = shifted_step(g[rows], H[rows], fixed[rows], radius[rows])
        length[rows] = 0.0
    cut = length > radius
    if cut.any():
        step *= np.where(cut, radius / np.where(cut, length, 1.0), 1.0)[:, None]
    if shifted is not None:
        cut[rows] = shifted
    return step, cut


def shifted_step(
    g: FloatArray, H: FloatArray, fixed: BoolArray, radius: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return steps as `newton_step` does, but (mu I - H)^-1 g whether H is definite or not.

    mu is the least shift >= 0 for which the step ascends, and no component of it along an
    eigenvector of H exceeds the radius; the step counts as cut if mu > 0.
    """
    A = -H
    np.copyto(A, 0.0, where=fixed[:, :, None] | fixed[:, None])  # rows and columns of the identity
    np.copyto(diagonals(A), 1.0, where=fixed)
    values, vectors = np.linalg.eigh(A)
    along = (g[:, None] @ vectors)[:, 0]
    least = np.abs(along)
    least /= np.maximum(radius, settings.SHORTEST_STEP)[:, None]
    shift = least - values
    mu = np.maximum.reduce(shift, axis=-1)
    mu = np.maximum(mu, np.maximum(settings.LEAST_CURVATURE - values[:, 0], 0.0))[:, None]
    # values + mu >= least, but beside a huge eigenvalue the sum may vanish.
    along /= np.maximum(values + mu, np.maximum(0.5 * least, _LEAST))
    step = (vectors @ along[:, :, None])[..., 0]
    np.copyto(step, 0.0, where=fixed)
    return step, mu[:, 0] > 0.0


def predicted_gain(at: Expansion, step: FloatArray) -> FloatArray:
    """Return by how much [B] steps [B, P] raise the objectives, according to the expansions."""
    curved = (at.hessian @ (0.5 * step[:, :, None]))[..., 0]
    return np.vecdot(step, at.gradient + curved)
