"""Lines through an estimate in the space of theta, and the likelihood along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.path.fitting import Model
from pengp.path.flatness import LEVEL
from pengp.path.penalized import PathFit
from pengp.plots.fitted import OneOutput


class Runs(NamedTuple):
    """The scaled runs of one fit, and the model that was fitted to them."""

    U: FloatArray  # [n, d]
    z: FloatArray  # [n]
    nugget: float
    model: Model

    @classmethod
    def of(cls, fitted: OneOutput) -> Runs:
        """Take them from the path: X_train_ also holds runs learned after ``fit``."""
        path: PathFit = fitted.estimator.path_
        U, z = path._data.X[fitted.output], path._data.y[fitted.output]
        if not z.any():
            raise InputError(f"{fitted.response_name} is constant and has no likelihood to draw.")
        return cls(U, z, float(fitted.first(fitted.estimator.nugget_)), path._model)

    def loglik(self, theta: FloatArray) -> FloatArray:
        """Return log L [G] at theta [G, d]."""
        points = self._points(theta)
        engine = self.model.likelihood(self.U[None], self.z[None])
        which = np.zeros(len(points), dtype=np.int64)
        return engine.evaluate(which, points, derivatives=False).value

    def penalty(self, theta: FloatArray, lam: float) -> FloatArray:
        """Return n p_lambda(theta) [G] at theta [G, d]."""
        term = self.model.term(self.model.likelihood(self.U[None], self.z[None]))
        points = self._points(theta)
        return term.value(np.zeros(len(points), dtype=np.int64), points, np.full(len(points), lam))

    def _points(self, theta: FloatArray) -> FloatArray:
        """Return the logarithms [G, P] of the parameters at theta [G, d]."""
        logs = np.log(theta[:, :1] if self.model.isotropic else theta)
        if self.model.nugget is not None:
            return logs
        return np.column_stack([logs, np.full(len(logs), np.log(self.nugget))])


class Line(NamedTuple):
    """A line through the estimate."""

    theta: Callable[[FloatArray], FloatArray]  # [G] -> [G, d]
    position: Callable[[FloatArray], FloatArray]  # nearest place on the line, [M, d] -> [M]
    ends: tuple[float, float]
    estimate: float
    flat: tuple[float, float] | None  # where it is known
    input: int | None = None
    shared: bool = False


def line_of(fitted: OneOutput, which: int | str | None) -> Line:
    """Return the line of one input, or the ray."""
    model: Model = fitted.estimator.path_._model
    if which is not None and model.isotropic:
        raise InputError("all inputs share one theta (isotropic=True); leave input out.")
    p = None if which is None else fitted.input_index(which)
    if model.isotropic or len(fitted.theta) == 1:
        return _shared(fitted, model.theta_bounds)
    if p is None:
        return _ray(fitted, model.theta_bounds)
    return _one_input(fitted, model.theta_bounds, p)


def _shared(fitted: OneOutput, bounds: tuple[float, float]) -> Line:
    """Return the line on which all thetas are equal, of a model that has only one."""
    d, flat = len(fitted.theta), fitted.estimator.flat_
    return Line(
        theta=lambda grid: np.repeat(grid[:, None], d, axis=1),
        position=lambda theta: theta[:, 0],
        ends=bounds,
        estimate=float(fitted.theta[0]),
        flat=(float(fitted.first(flat.lower)[0]), float(fitted.first(flat.upper)[0])),
        shared=True,
    )


def _ray(fitted: OneOutput, bounds: tuple[float, float]) -> Line:
    """Return the ray c theta-hat, from where all thetas are at one bound to the other."""
    hat, flat = fitted.theta, fitted.estimator.flat_

    def multiple(end: FloatArray) -> float:
        # Where a theta is cut to its bound, its ratio is nearer to 1 than c is.
        logs = np.log(end / hat)
        return float(np.exp(logs[np.abs(logs).argmax()]))

    return Line(
        theta=lambda grid: np.clip(grid[:, None] * hat, *bounds),
        position=lambda theta: np.exp(np.log(theta / hat).mean(axis=1)),
        ends=(bounds[0] / hat.max(), bounds[1] / hat.min()),
        estimate=1.0,
        flat=(multiple(fitted.first(flat.lower)), multiple(fitted.first(flat.upper))),
    )


def _one_input(fitted: OneOutput, bounds: tuple[float, float], p: int) -> Line:
    """Return the line on which theta_p changes and the others keep their estimates."""
    hat = fitted.theta

    def theta(grid: FloatArray) -> FloatArray:
        points = np.tile(hat, (len(grid), 1))
        points[:, p] = grid
        return points

    return Line(
        theta=theta,
        position=lambda theta: theta[:, p],
        ends=bounds,
        estimate=float(hat[p]),
        flat=None,
        input=p,
    )


def flat_stretch(
    runs: Runs, line: Line, grid: FloatArray, heights: FloatArray
) -> tuple[float, float]:
    """Return where log L, with values ``heights`` [G] on the grid [G], leaves its maximum."""

    def height(t: float) -> float:
        return float(runs.loglik(line.theta(np.exp([t])))[0])

    logs, top = np.log(grid), int(heights.argmax())
    around = (logs[max(top - 1, 0)], logs[min(top + 1, len(grid) - 1)])
    peak, best = logs[top], heights[top]
    if around[0] < around[1]:
        finer = minimize_scalar(lambda t: -height(t), bounds=around, method="bounded")
        if -finer.fun > best:
            peak, best = float(finer.x), -float(finer.fun)
    ends = []
    for side, end in ((-1, 0), (1, -1)):
        fallen = logs[(side * (logs - peak) > 0.0) & (heights < best - LEVEL)]
        if not len(fallen):
            ends.append(float(grid[end]))
            continue
        first = fallen[np.abs(fallen - peak).argmin()]
        ends.append(float(np.exp(brentq(lambda t: height(t) - best + LEVEL, peak, first))))
    return ends[0], ends[1]
