"""Lines through an estimate in the space of theta, and the likelihood along them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.estimators.view import FittedView
from pengp.exceptions import InputError
from pengp.model.likelihood import Likelihood
from pengp.path.fitting import Model
from pengp.path.flatness import flat_stretch
from pengp.path.penalties import term_of


class Runs(NamedTuple):
    """The scaled runs of one fit, and the model that was fitted to them."""

    X: FloatArray  # [n, d]
    y: FloatArray  # [n]
    noise: FloatArray | None  # [n], known variances of y
    nugget: float
    model: Model

    @classmethod
    def of(cls, view: FittedView) -> Runs:
        """Take them from the path: X_train_ also holds runs learned after ``fit``."""
        view.check_penalized()
        if view.is_constant:
            raise InputError(f"{view.response} is constant and has no likelihood to draw.")
        nugget = float(view.own(view.estimator.nugget_))
        return cls(*view.fitted_runs, nugget, view.path._model)

    def loglik(self, theta: FloatArray) -> FloatArray:
        """Return log L [G] at theta [G, d]."""
        points, engine = self._points(theta), self._engine()
        data_set = np.zeros(len(points), dtype=np.int64)
        return engine.evaluate(data_set, points, derivatives=False).value

    def _engine(self) -> Likelihood:
        """Return the likelihood."""
        noise = None if self.noise is None else self.noise[None]
        return self.model.likelihood(self.X[None], self.y[None], noise)

    def penalty(self, theta: FloatArray, lam: float) -> FloatArray:
        """Return n p_lambda(theta) [G] at theta [G, d]."""
        model, points = self.model, self._points(theta)
        term = term_of(model.penalty, self.X[None], model.nugget, isotropic=model.isotropic)
        data_set, lams = np.zeros(len(points), dtype=np.int64), np.full(len(points), lam)
        return term.value(data_set, term.params(points), lams)

    def _points(self, theta: FloatArray) -> FloatArray:
        """Return the logarithms [G, P] of the parameters at theta [G, d]."""
        log_theta = np.log(theta[:, :1] if self.model.isotropic else theta)
        if self.model.nugget is not None:
            return log_theta
        return np.column_stack([log_theta, np.full(len(log_theta), np.log(self.nugget))])

    def flat(self, theta: FloatArray, p: int) -> tuple[float, float]:
        """Return where log L is flat while theta_p alone leaves theta [d]."""
        engine = self._engine()
        nugget, bounds = np.full((1, 1), self.nugget), self.model.theta_bounds
        flat = flat_stretch(engine, theta[None, None], nugget, bounds, only=p)
        return float(flat.lower[0, 0, p]), float(flat.upper[0, 0, p])


class Line(NamedTuple):
    """A line through the estimate."""

    theta: Callable[[FloatArray], FloatArray]  # [G] -> [G, d]
    position: Callable[[FloatArray], FloatArray]  # nearest place on the line, [M, d] -> [M]
    ends: tuple[float, float]
    estimate: float
    flat: tuple[float, float]
    input: int | None = None
    shared: bool = False


def line_of(view: FittedView, runs: Runs, which: int | str | None) -> Line:
    """Return the line of one input, or the ray."""
    model = runs.model
    if which is not None and model.isotropic:
        raise InputError("all inputs share one theta (isotropic=True); leave input out.")
    p = None if which is None else view.input_index(which)
    if model.isotropic or len(view.theta) == 1:
        return _shared(view, model.theta_bounds)
    if p is None:
        return _ray(view, model.theta_bounds)
    return _one_input(view, runs, p)


def _shared(view: FittedView, bounds: tuple[float, float]) -> Line:
    """Return the line on which all thetas are equal, of a model that has only one."""
    d, flat = len(view.theta), view.flat
    return Line(
        theta=lambda grid: np.repeat(grid[:, None], d, axis=1),
        position=lambda theta: theta[:, 0],
        ends=bounds,
        estimate=float(view.theta[0]),
        flat=(float(flat.lower[0]), float(flat.upper[0])),
        shared=True,
    )


def _ray(view: FittedView, bounds: tuple[float, float]) -> Line:
    """Return the ray c theta-hat, from where all thetas are at one bound to the other."""
    hat, flat = view.theta, view.flat

    def multiple(end: FloatArray) -> float:
        # Where a theta is cut to its bound, its ratio is nearer to 1 than c is.
        logs = np.log(end / hat)
        return float(np.exp(logs[np.abs(logs).argmax()]))

    return Line(
        theta=lambda grid: np.clip(grid[:, None] * hat, *bounds),
        position=lambda theta: np.exp(np.log(theta / hat).mean(axis=1)),
        ends=(bounds[0] / hat.max(), bounds[1] / hat.min()),
        estimate=1.0,
        flat=(multiple(flat.lower), multiple(flat.upper)),
    )


def _one_input(view: FittedView, runs: Runs, p: int) -> Line:
    """Return the line on which theta_p changes and the others keep their estimates."""
    hat = view.theta

    def theta(grid: FloatArray) -> FloatArray:
        points = np.tile(hat, (len(grid), 1))
        points[:, p] = grid
        return points

    return Line(
        theta=theta,
        position=lambda theta: theta[:, p],
        ends=runs.model.theta_bounds,
        estimate=float(hat[p]),
        flat=runs.flat(hat, p),
        input=p,
    )
