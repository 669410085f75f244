"""Bounded maximisation of expensive objectives, one after another, by SciPy's L-BFGS-B."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from pengp._core.arrays import FloatArray, IntArray
from pengp.path.newton import (
    ROUND_OFF,
    Bounds,
    Done,
    Expansion,
    Objective,
    Rows,
    projected_gradient,
    pushes_outward,
    together,
)

_LBFGS_GRADIENT, _LBFGS_GAINS, _LAST_STEPS = 5e-6, (1e-8, 1e-13), 8
"""Projected gradient at which L-BFGS-B may stop, or relative gain, at the first and second try; how
many steps by gradients alone may follow each."""


class OneByOne:
    """The same as `Lockstep`, by SciPy's L-BFGS-B and one row a round: for expensive objectives.

    The objective's Hessian is not used; in its place the rows carry zeros. ``scale(tag)`` gives the
    length [B, d] of a typical step in each coordinate, 1 if it is omitted.
    """

    def __init__(
        self,
        objective: Objective,
        bounds: Bounds,
        *,
        reach: float = 0.0,
        max_rounds: int = 100,
        scale: Callable[[IntArray], FloatArray] | None = None,
    ) -> None:
        self._objective, self._bounds, self._max_rounds = objective, bounds, max_rounds
        self._scale = scale
        self._waiting: list[tuple[IntArray, FloatArray, FloatArray]] = []

    def __len__(self) -> int:
        """Return the number of rows that wait."""
        return len(self._waiting)

    def add(self, tag: IntArray, memo: FloatArray, x: FloatArray, *, spent: int = 0) -> None:
        """Let the problems ``tag`` start at x [B, d], which must lie in their boxes.

        All have the same patience, whatever they have ``spent``.
        """
        self._waiting += [(tag[k : k + 1], memo[k : k + 1], x[k]) for k in range(len(tag))]

    def advance(self) -> Done:
        """Maximise the next row and return it."""
        tag, memo, x0 = self._waiting.pop(0)
        x, d = x0[None], len(x0)
        scale = np.ones(d) if self._scale is None else self._scale(tag)[0]
        for gain in _LBFGS_GAINS:
            x, inverse = self._climb(tag, x, scale, gain)
            x, at, slope = self._polish(tag, x, inverse)
            if slope[0] <= _LBFGS_GRADIENT:
                break
        rows = Rows(tag, memo, x, at._replace(hessian=np.zeros((1, d, d))))
        return Done(rows, slope, x, at.value, np.ones(1, dtype=bool))

    def finish(self) -> Done:
        """Maximise all rows and return them."""
        return together([self.advance() for _ in range(len(self))])

    def _climb(
        self, tag: IntArray, x0: FloatArray, scale: FloatArray, gain: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return where L-BFGS-B leads from x0 [1, d], and the inverse [d, d] of -Hessian there."""
        lower, upper = self._bounds(tag)
        if (lower == upper).all():
            return x0, np.zeros((len(scale), len(scale)))
        low, high = lower[0] / scale, upper[0] / scale
        ceiling = np.inf

        def unscaled(z: FloatArray) -> FloatArray:
            x = np.clip(z * scale, lower, upper)
            return np.where(z <= low, lower, np.where(z >= high, upper, x))

        def negative(z: FloatArray) -> tuple[float, FloatArray]:
            nonlocal ceiling
            at = self._objective(tag, unscaled(z))
            value = min(-float(at.value[0]), ceiling)
            # An impossible point is much worse than the start, but not so much as to upset the
            # line search.
            ceiling = value + 1e4 if ceiling == np.inf else ceiling
            return value, -at.gradient[0] * scale

        found = minimize(
            negative,
            x0[0] / scale,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={
                "maxiter": self._max_rounds,
                "gtol": _LBFGS_GRADIENT * float(scale.min()),
                "ftol": gain,
            },
        )
        inverse = found.hess_inv @ np.eye(len(scale))  # it comes as an operator
        return unscaled(np.asarray(found.x)), inverse * scale[:, None] * scale

    def _polish(
        self, tag: IntArray, x: FloatArray, inverse: FloatArray
    ) -> tuple[FloatArray, Expansion, FloatArray]:
        """Return x [1, d], the expansion there and its slope [1], after a few quasi-Newton steps.

        Near the maximum, values tell a line search nothing any more; gradients still do. They also
        improve ``inverse`` [d, d], that of the negative Hessian, by the formula of BFGS.
        """
        lower, upper = self._bounds(tag)
        at = self._objective(tag, x)
        best = x, at, projected_gradient(at.gradient, x, lower, upper)
        for _ in range(_LAST_STEPS):
            if best[2][0] <= _LBFGS_GRADIENT:
                break
            free = ~pushes_outward(at.gradient, x, lower, upper)
            there = np.clip(x + (at.gradient * free) @ inverse * free, lower, upper)
            trial = self._objective(tag, there)
            if best[1].value[0] - trial.value[0] > ROUND_OFF * (1.0 + abs(best[1].value[0])):
                break
            inverse = _bfgs(inverse, (there - x)[0], ((at.gradient - trial.gradient) * free)[0])
            x, at = there, trial
            slope = projected_gradient(at.gradient, x, lower, upper)
            best = (x, at, slope) if slope[0] < best[2][0] else best
        return best


def _bfgs(inverse: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Return the inverse [d, d] after a step [d] that changed the negative gradient [d]."""
    bend = float(step @ change)
    if bend <= 0.0:
        return inverse
    A = np.eye(len(step)) - np.outer(step, change) / bend
    return A @ inverse @ A.T + np.outer(step, step) / bend
