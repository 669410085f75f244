"""The fitted state of an estimator: scalers and one posterior per output, in the user's units."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import numpy as np

from pengp._core.arrays import FloatArray, IntArray
from pengp.bayes.mixture import ProcessMixture
from pengp.model.posterior import Posterior, condition
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.path.flatness import Flat
from pengp.path.penalized import Modes, PathFit

#: New inputs that are scaled at a time, so that predictions need no scaled copy of all of them.
_BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Each run predicted from all others, in the user's units; theta and the scales are kept.

    Attributes
    ----------
    mean, std : [n] or [n, q]
        Predictive mean and standard deviation.
    residual : [n] or [n, q]
        Response less predictive mean.
    standardized_residual : [n] or [n, q]
        residual / std, about standard normal for a sound surrogate; 0 for a constant response.
    """

    mean: FloatArray
    std: FloatArray
    residual: FloatArray
    standardized_residual: FloatArray

    def output(self, k: int) -> "LeaveOneOut":
        """Return the predictions [n] of output k."""
        return LeaveOneOut(*(getattr(self, f.name)[:, k] for f in fields(self)))


_Record = TypeVar("_Record", Modes, Flat)
_Process = TypeVar("_Process", bound=Posterior | ProcessMixture)


@dataclass(frozen=True, eq=False)
class Surrogate(Generic[_Process]):
    """Fitted surrogates of q outputs; inputs and results are in the user's units.

    Attributes
    ----------
    inputs : InputScaler
        Maps d inputs to the unit cube; columns that were constant are ignored.
    response : ResponseScaler
        Standardises q outputs.
    posteriors : tuple of Posterior or ProcessMixture
        One for each output, on scaled inputs and standardised responses.
    y_raw : [n, q]
        Responses of the runs, in the user's units.
    batches : tuple of int
        Runs that were learned together: those that were conditioned on first, then those of each
        `extend`. They tell how to arrive at the same bits again.
    """

    inputs: InputScaler
    response: ResponseScaler
    posteriors: tuple[_Process, ...]
    y_raw: FloatArray
    batches: tuple[int, ...]

    def scale(self, X_raw: FloatArray) -> FloatArray:
        """Return the inputs X_raw [m, d] in the unit cube, ignored columns as 0."""
        return scale_inputs(self.inputs, X_raw)

    def mean(self, X_raw: FloatArray) -> FloatArray:
        """Return predictive means [m, q] at X_raw [m, d]."""
        mean = np.empty((len(X_raw), len(self.posteriors)))
        for rows, X in self._blocks(X_raw):
            for k, posterior in enumerate(self.posteriors):
                mean[rows, k] = posterior.predict_mean(X)
        return self.response.inverse(mean)

    def mean_and_std(self, X_raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return predictive means [m, q] and standard deviations [m, q] at X_raw [m, d]."""
        mean, std = np.empty((2, len(X_raw), len(self.posteriors)))
        for rows, X in self._blocks(X_raw):
            for k, posterior in enumerate(self.posteriors):
                mean[rows, k], variance = posterior.predict(X)
                std[rows, k] = np.sqrt(posterior.sigma2 * variance)
        return self.response.inverse(mean), self.response.inverse_std(std)

    def mean_and_cov(self, X_raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return predictive means [m, q] and covariances [m, m, q] at X_raw [m, d]."""
        X = self.scale(X_raw)
        parts = [posterior.predict_cov(X) for posterior in self.posteriors]
        mean = np.stack([mean for mean, _ in parts], axis=-1)
        scaled = [p.sigma2 * cov for p, (_, cov) in zip(self.posteriors, parts, strict=True)]
        return self.response.inverse(mean), self.response.inverse_cov(np.stack(scaled, axis=-1))

    def gradient(self, X_raw: FloatArray) -> FloatArray:
        """Return the derivatives [m, q, d] of the means in the inputs, at X_raw [m, d]."""
        gradient = np.empty((len(X_raw), len(self.posteriors), X_raw.shape[1]))
        for rows, X in self._blocks(X_raw):
            for k, posterior in enumerate(self.posteriors):
                gradient[rows, k] = posterior.mean_gradient(X)
        gradient[..., self.inputs.constant] = 0.0
        with np.errstate(over="ignore", under="ignore"):
            # Chain rule: y_raw = mean + sd y and x = (x_raw - lower) / width.
            return np.asarray(self.response.sd[:, None] * gradient / self.inputs.width)

    def sample(
        self, X_raw: FloatArray, n_samples: int, rng: np.random.Generator | np.random.RandomState
    ) -> FloatArray:
        """Return draws [m, q, n_samples] at X_raw [m, d], the outputs independent."""
        X = self.scale(X_raw)
        draws = [self.posteriors[k].sample(X, n_samples, rng) for k in range(len(self.posteriors))]
        return np.moveaxis(self.response.inverse(np.stack(draws, axis=-1)), 0, -1)

    def extend(self, X_raw: FloatArray, y_raw: FloatArray) -> "Surrogate[_Process]":
        """Return the surrogate that also knows X_raw [k, d], y_raw [k, q], at its theta."""
        X, outputs = self.scale(X_raw), self.response.transform(y_raw).T
        pairs = zip(self.posteriors, outputs, strict=True)
        posteriors: tuple[Any, ...] = tuple(posterior.extend(X, y) for posterior, y in pairs)
        batches = (*self.batches, len(X_raw))
        y_all = np.concatenate([self.y_raw, y_raw])
        return replace(self, posteriors=posteriors, y_raw=y_all, batches=batches)

    @cached_property
    def loo(self) -> LeaveOneOut:
        """The leave-one-out predictions [n, q], in closed form; nobody may write to them."""
        parts = [posterior.loo() for posterior in cast(tuple[Posterior, ...], self.posteriors)]
        y = np.stack([posterior.y for posterior in self.posteriors], axis=-1)
        mean = np.stack([mean for mean, _ in parts], axis=-1)
        variances = [p.sigma2 * v for p, (_, v) in zip(self.posteriors, parts, strict=True)]
        std = np.sqrt(np.stack(variances, axis=-1))
        residual = y - mean
        standardized = np.divide(residual, std, out=np.zeros_like(std), where=std > 0.0)
        units = self.response
        loo = LeaveOneOut(
            units.inverse(mean), units.inverse_std(std), units.inverse_std(residual), standardized
        )
        for field in fields(loo):
            getattr(loo, field.name).flags.writeable = False
        return loo

    def _blocks(self, X_raw: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield rows of X_raw [m, d] and their inputs in the unit cube, a block at a time."""
        for start in range(0, len(X_raw), _BLOCK):
            rows = slice(start, start + _BLOCK)
            yield rows, self.scale(X_raw[rows])


def scale_inputs(inputs: InputScaler, X_raw: FloatArray) -> FloatArray:
    """Return X_raw [m, d] in the unit cube; a column that was constant in the runs becomes 0."""
    X = inputs.transform(X_raw)
    X[:, inputs.constant] = 0.0
    return X


def condition_all(
    X: FloatArray, y_raw: FloatArray, inputs: InputScaler, response: ResponseScaler, chosen: PathFit
) -> Surrogate[Posterior]:
    """Condition every output on its runs at the estimates of a path with one lambda.

    Parameters
    ----------
    X : [n, d]
        Inputs in the unit cube.
    y_raw : [n, q]
        Responses in the user's units.
    inputs, response : InputScaler, ResponseScaler
        From the user's units to those of the model.
    chosen : PathFit
        Estimates of the q outputs, from `path_at`.
    """
    model, outputs = chosen._model, np.ascontiguousarray(response.transform(y_raw).T)
    theta = chosen.theta.reshape(len(outputs), -1)
    nugget, sigma2 = chosen.nugget.ravel(), chosen.sigma2.ravel()
    posteriors = [
        condition(
            X,
            y,
            theta[k],
            kernel=model.kernel,
            nugget=float(nugget[k]),
            mean=model.mean,
            sigma2=float(sigma2[k]),
        )
        for k, y in enumerate(outputs)
    ]
    return Surrogate(inputs, response, tuple(posteriors), y_raw, (len(X),))


def path_at(path: PathFit, index: IntArray) -> PathFit:
    """Return the path at one lambda of each output: lams[index], index [...].

    Its arrays keep a lambda axis, of length 1; `lams` holds the first output's.
    """

    def pick(record: PathFit | Modes) -> dict[str, Any]:
        arrays = {f.name: getattr(record, f.name) for f in fields(record) if f.name != "lams"}
        place = (*np.indices(index.shape), index)
        return {
            name: np.expand_dims(a[place], index.ndim)
            for name, a in arrays.items()
            if isinstance(a, np.ndarray)
        }

    lams = path.lams[index.ravel()[:1]]
    return replace(path, lams=lams, modes=Modes(**pick(path.modes)), **pick(path))


def without_axis(record: _Record, axis: int) -> _Record:
    """Return a record of arrays without the given axis, of which item 0 is kept."""
    arrays = {f.name: getattr(record, f.name) for f in fields(record)}
    return replace(record, **{name: a.take(0, axis) for name, a in arrays.items()})
