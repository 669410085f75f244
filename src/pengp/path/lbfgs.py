"""Bounded maximisation of expensive objectives, one after another, by SciPy's L-BFGS-B."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from pengp._core.arrays import FloatArray, IntArray
from pengp.path import settings
from pengp.path.lockstep import Bounds, Ended, Objective, together
from pengp.path.newton import Expansion, projected_gradient, pushes_outward


class OneByOne:
    """The same as `Lockstep`, by SciPy's L-BFGS-B and one row a round: for expensive objectives.

    The objective's Hessian is not used; in its place the rows carry zeros. ``scale(cell)`` gives
    the length [B, P] of a typical step in each coordinate, 1 if it is omitted.
    """

    def __init__(
        self,
        objective: Objective,
        bounds: Bounds,
        *,
        max_rounds: int = settings.MOST_ROUNDS,
        scale: Callable[[IntArray], FloatArray] | None = None,
    ) -> None:
        self._objective, self._bounds, self._max_rounds = objective, bounds, max_rounds
        self._scale = scale
        self._waiting: list[tuple[IntArray, IntArray, FloatArray]] = []

    def __len__(self) -> int:
        """Return the number of rows that wait."""
        return len(self._waiting)

    def add(self, cell: IntArray, row: IntArray, point: FloatArray) -> None:
        """Let ``row`` [B] start in ``cell`` [B] at point [B, P], which must lie in their boxes."""
        self._waiting += [(cell[k : k + 1], row[k : k + 1], point[k]) for k in range(len(cell))]

    def advance(self) -> Ended:
        """Maximise the next row and return it."""
        cell, row, start = self._waiting.pop(0)
        point, P = start[None], len(start)
        scale = np.ones(P) if self._scale is None else self._scale(cell)[0]
        for gain in settings.LBFGS_GAINS:
            point, inverse = self._climb(cell, point, scale, gain)
            point, at, slope = self._polish(cell, point, inverse)
            if slope[0] <= settings.LBFGS_GRADIENT:
                break
        here = at._replace(hessian=np.zeros((1, P, P)))
        return Ended(cell, row, point, here, slope, point, at.objective, np.ones(1, dtype=bool))

    def finish(self) -> Ended:
        """Maximise all rows and return them."""
        return together([self.advance() for _ in range(len(self))])

    def _climb(
        self, cell: IntArray, start: FloatArray, scale: FloatArray, gain: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return where L-BFGS-B leads from start [1, P], and the inverse of -Hessian [P, P]."""
        lower, upper = self._bounds(cell)
        if (lower == upper).all():
            return start, np.zeros((len(scale), len(scale)))
        low, high = lower[0] / scale, upper[0] / scale
        ceiling = np.inf

        def unscaled(z: FloatArray) -> FloatArray:
            point = np.clip(z * scale, lower, upper)
            return np.where(z <= low, lower, np.where(z >= high, upper, point))

        def negative(z: FloatArray) -> tuple[float, FloatArray]:
            nonlocal ceiling
            at = self._objective(cell, unscaled(z))
            value = min(-float(at.objective[0]), ceiling)
            ceiling = value + settings.IMPOSSIBLE if ceiling == np.inf else ceiling
            return value, -at.gradient[0] * scale

        found = minimize(
            negative,
            start[0] / scale,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={
                "maxiter": self._max_rounds,
                "gtol": settings.LBFGS_GRADIENT * float(scale.min()),
                "ftol": gain,
            },
        )
        inverse = found.hess_inv @ np.eye(len(scale))  # it comes as an operator
        return unscaled(np.asarray(found.x)), inverse * scale[:, None] * scale

    def _polish(
        self, cell: IntArray, point: FloatArray, inverse: FloatArray
    ) -> tuple[FloatArray, Expansion, FloatArray]:
        """Return point [1, P], the expansion there and its slope [1], after quasi-Newton steps.

        Near the maximum, values tell a line search nothing any more; gradients still do. They also
        improve ``inverse`` [P, P], that of the negative Hessian, by the formula of BFGS.
        """
        lower, upper = self._bounds(cell)
        at = self._objective(cell, point)
        best = point, at, projected_gradient(at.gradient, point, lower, upper)
        for _ in range(settings.LBFGS_LAST_STEPS):
            if best[2][0] <= settings.LBFGS_GRADIENT:
                break
            free = ~pushes_outward(at.gradient, point, lower, upper)
            trial = np.clip(point + (at.gradient * free) @ inverse * free, lower, upper)
            tried, highest = self._objective(cell, trial), best[1].objective[0]
            if highest - tried.objective[0] > settings.ROUND_OFF * (1.0 + abs(highest)):
                break
            change = ((at.gradient - tried.gradient) * free)[0]
            inverse = _bfgs(inverse, (trial - point)[0], change)
            point, at = trial, tried
            slope = projected_gradient(at.gradient, point, lower, upper)
            best = (point, at, slope) if slope[0] < best[2][0] else best
        return best


def _bfgs(inverse: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Return the inverse [P, P] after a step [P] that changed the negative gradient [P]."""
    curvature = float(step @ change)
    if curvature <= 0.0:
        return inverse
    A = np.eye(len(step)) - np.outer(step, change) / curvature
    return A @ inverse @ A.T + np.outer(step, step) / curvature
