"""The fitted state of an estimator: scalers and one posterior per output, in the user's units."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.bayes.mixture import ProcessMixture
from pengp.choosing.laws import NormalLaw
from pengp.estimators.laws import MappedLaw, law_of
from pengp.estimators.left_out import LeaveOneOut
from pengp.estimators.scales import check_domain
from pengp.exceptions import InputError
from pengp.model.posterior import Posterior, condition
from pengp.model.scaling import InputScaler, ResponseScaler
from pengp.model.transforms import IDENTITY
from pengp.path.penalized import PathFit

#: New inputs that are scaled at a time, so that predictions need no scaled copy of all of them.
_BLOCK = 1 << 14


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
    noise_sd : [n, q] or None
        Known standard deviations of y_raw, in the user's units.
    """

    inputs: InputScaler
    response: ResponseScaler
    posteriors: tuple[_Process, ...]
    y_raw: FloatArray
    batches: tuple[int, ...]
    noise_sd: FloatArray | None = None

    def scale(self, X_raw: FloatArray) -> FloatArray:
        """Return the inputs X_raw [m, d] in the unit cube, ignored columns as 0."""
        return scale_inputs(self.inputs, X_raw)

    def standardised(self, y: FloatArray, output: int) -> FloatArray:
        """Return responses y [m] of one output as its process knows them."""
        if self.response.transforms:
            check_domain(y, self.response.transforms[output], "y has {} in row {}")
        columns = np.broadcast_to(y[..., None], (*y.shape, len(self.posteriors)))
        with np.errstate(invalid="ignore", divide="ignore"):  # in other outputs
            return self.response.transform(columns)[..., output]

    def noise(self, y: FloatArray, noise_sd: FloatArray, output: int) -> FloatArray:
        """Return the variances [m] of standardised responses of which y [m] have noise_sd [m]."""
        shape = (*y.shape, len(self.posteriors))
        pair = (np.broadcast_to(a[..., None], shape) for a in (y, noise_sd))
        with np.errstate(invalid="ignore", divide="ignore"):  # in other outputs
            return self.response.noise_variance(*pair)[..., output]

    def in_units(self, values: FloatArray, output: int) -> FloatArray:
        """Return values [...] of the process of one output in the user's units."""
        columns = np.broadcast_to(values[..., None], (*values.shape, len(self.posteriors)))
        return self.response.inverse(columns)[..., output]

    def mean(self, X_raw: FloatArray) -> FloatArray:
        """Return predictive means [m, q] at X_raw [m, d]."""
        if self.response.transforms:
            return self.mean_and_std(X_raw)[0]
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
                if self.response.transforms:
                    mean[rows, k], std[rows, k] = self.law(k, X).moments()
                    continue
                mean[rows, k], variance = posterior.predict(X)
                std[rows, k] = np.sqrt(posterior.sigma2 * variance)
        if self.response.transforms:
            return mean, std
        return self.response.inverse(mean), self.response.inverse_std(std)

    def law(self, k: int, X: FloatArray) -> MappedLaw:
        """Return the predictive laws of output k at X [m, d] in the unit cube, in its unit."""
        return self.mapped(k, law_of(self.posteriors[k], X))

    def mapped(self, k: int, law: Any) -> MappedLaw:
        """Return laws of the standardised output k in the user's unit."""
        units = self.response
        transform = units.transforms[k] if units.transforms else IDENTITY
        return MappedLaw(law, float(units.mean[k]), float(units.sd[k]), transform)

    def quantiles(self, X_raw: FloatArray, levels: FloatArray) -> FloatArray:
        """Return quantiles [m, q, k] of the predictive laws at X_raw [m, d], levels [k]."""
        found = np.empty((len(X_raw), len(self.posteriors), len(levels)))
        found[:] = self.response.inverse(np.zeros((1, len(self.posteriors))))[..., None]
        for rows, X in self._blocks(X_raw):
            for k in np.flatnonzero(~self.response.constant):
                found[rows, k] = self.law(int(k), X).quantiles(levels)
        return found

    def mean_and_cov(self, X_raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return predictive means [m, q] and covariances [m, m, q] at X_raw [m, d]."""
        if self.response.transforms:
            raise InputError(
                "a transformed response has no predictive covariance that would describe it; use "
                "return_std, or joint draws: sample_y."
            )
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
                if self.response.transforms:
                    gradient[rows, k] = _mean_gradient(posterior, X, self.law(k, X))
                else:
                    gradient[rows, k] = self.response.sd[k] * posterior.mean_gradient(X)
        gradient[..., self.inputs.constant] = 0.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            # Chain rule: x = (t(x_raw) - lower) / width.
            if not self.inputs.transforms:
                return np.asarray(gradient / self.inputs.width)
            slope = self.inputs.slope(X_raw)[:, None]
            return np.where(self.inputs.constant, 0.0, gradient * slope)

    def sample(
        self, X_raw: FloatArray, n_samples: int, rng: np.random.Generator | np.random.RandomState
    ) -> FloatArray:
        """Return draws [m, q, n_samples] at X_raw [m, d], the outputs independent."""
        X = self.scale(X_raw)
        draws = [self.posteriors[k].sample(X, n_samples, rng) for k in range(len(self.posteriors))]
        stacked = np.stack(draws, axis=-1).reshape(-1, len(draws))
        mapped = self.response.inverse(stacked).reshape(n_samples, len(X), -1)
        return np.moveaxis(mapped, 0, -1)

    def extend(
        self, X_raw: FloatArray, y_raw: FloatArray, noise_sd: FloatArray | None = None
    ) -> "Surrogate[_Process]":
        """Return the surrogate that also knows X_raw [k, d], y_raw [k, q], at its theta.

        Where the noise of the runs is known, theirs is noise_sd [k, q].
        """
        X, outputs = self.scale(X_raw), self.response.transform(y_raw).T
        noise: Any = [None] * len(outputs)
        sds = self.noise_sd
        if sds is not None and noise_sd is not None:
            noise = self.response.noise_variance(y_raw, noise_sd).T
            sds = np.concatenate([sds, noise_sd])
        each = zip(self.posteriors, outputs, noise, strict=True)
        posteriors: tuple[Any, ...] = tuple(p.extend(X, y, v) for p, y, v in each)
        batches = (*self.batches, len(X_raw))
        y_all = np.concatenate([self.y_raw, y_raw])
        return replace(self, posteriors=posteriors, y_raw=y_all, batches=batches, noise_sd=sds)

    @cached_property
    def loo(self) -> LeaveOneOut:
        """The leave-one-out predictions [n, q], in closed form; nobody may write to them."""
        laws = [self.loo_law(k) for k in range(len(self.posteriors))]
        y = np.stack([posterior.y for posterior in self.posteriors], axis=-1)
        mean = np.stack([law.base.mean() for law in laws], axis=-1)
        std = np.stack([law.base.std() for law in laws], axis=-1)
        return leave_one_out_in(self, y - mean, mean, std, self.loo_law)

    def loo_law(self, k: int) -> MappedLaw:
        """Return the laws [n] of the runs of output k, each predicted from the others."""
        posterior = cast(Posterior, self.posteriors[k])
        mean, variance = posterior.loo()
        return self.mapped(k, NormalLaw(mean, np.sqrt(posterior.sigma2 * variance)))

    def _blocks(self, X_raw: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield rows of X_raw [m, d] and their inputs in the unit cube, a block at a time."""
        for start in range(0, len(X_raw), _BLOCK):
            rows = slice(start, start + _BLOCK)
            yield rows, self.scale(X_raw[rows])


def _mean_gradient(process: Any, X: FloatArray, law: MappedLaw) -> FloatArray:
    """Return the derivatives [m, d] of the mean of a process's mapped law, at X [m, d].

    sum_j (dE/dlocation_j dlocation_j/dx + dE/dscale_j dscale_j/dx) over the components j.
    """
    in_location, in_scale = law.mean_slopes()
    total = np.zeros(X.shape)
    for j, component in enumerate(getattr(process, "components", [process])):
        scale = law.parts.scale[:, [j]]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = 0.5 * component.sigma2 * component.variance_gradient(X) / scale
        total += in_location[:, [j]] * component.mean_gradient(X)
        total += in_scale[:, [j]] * np.where(scale > 0.0, slope, 0.0)
    return total


def leave_one_out_in(
    known: Surrogate[Any],
    residual: FloatArray,
    mean: FloatArray,
    std: FloatArray,
    law: Callable[[int], MappedLaw],
    theta: str = "kept",
) -> LeaveOneOut:
    """Return predictions [n, q] of standardised responses in the user's units, read-only.

    ``law`` gives those of an output that is transformed; ``theta`` is kept or learned anew.
    """
    units = known.response
    standardized = np.divide(residual, std, out=np.zeros_like(std), where=std > 0.0)
    moments, left = (units.inverse(mean), units.inverse_std(std)), units.inverse_std(residual)
    if units.transforms:
        for k in np.flatnonzero(~units.constant):
            moments[0][:, k], moments[1][:, k] = law(int(k)).moments()
        left = known.y_raw[: len(mean)] - moments[0]
    loo = LeaveOneOut(*moments, left, standardized, theta)
    for column in loo.columns:
        column.flags.writeable = False
    return loo


def scale_inputs(inputs: InputScaler, X_raw: FloatArray) -> FloatArray:
    """Return X_raw [m, d] in the unit cube; a column that was constant in the runs becomes 0."""
    X = inputs.transform(X_raw)
    X[:, inputs.constant] = 0.0
    return X


def condition_all(
    X: FloatArray,
    y_raw: FloatArray,
    inputs: InputScaler,
    response: ResponseScaler,
    chosen: PathFit,
    noise_sd: FloatArray | None = None,
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
    noise_sd : [n, q], optional
        Known standard deviations of y_raw.
    """
    model, outputs = chosen._model, np.ascontiguousarray(response.transform(y_raw).T)
    theta = chosen.theta.reshape(len(outputs), -1)
    nugget, sigma2 = chosen.nugget.ravel(), chosen.sigma2.ravel()
    noise: Any = [None] * len(outputs)
    if noise_sd is not None:
        noise = np.ascontiguousarray(response.noise_variance(y_raw, noise_sd).T)
    posteriors = [
        condition(
            X,
            y,
            theta[k],
            kernel=model.kernel,
            nugget=float(nugget[k]),
            mean=model.mean,
            sigma2=float(sigma2[k]),
            noise=noise[k],
        )
        for k, y in enumerate(outputs)
    ]
    return Surrogate(inputs, response, tuple(posteriors), y_raw, (len(X),), noise_sd)
