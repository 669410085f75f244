"""A fitted model as a weighted set of processes in the unit cube, whatever made it.

A penalized fit is one Gaussian process, an average several Student t processes with n degrees of
freedom each. All verbs speak of the function itself, without the nugget, on the model's scale:
inputs in the unit cube, responses standardised. `Processes.to_unit` and `Processes.in_units` lead
there and back.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.student import inflation
from pengp.decisions.wrapped import after, before, not_a_scaling, undoing
from pengp.estimators.view import FittedView, names_of_inputs, view_of
from pengp.model.elementary import Identity, Transform
from pengp.model.levels import Levels
from pengp.model.posterior import Posterior
from pengp.model.scaling import InputScaler


@dataclass(frozen=True, eq=False)
class Processes:
    """A weighted set of M processes for d inputs, made by `processes_of`.

    Attributes
    ----------
    names : tuple of d strings
        Names of the inputs.
    response : str
        Name of the response.
    lower, upper : [d]
        Ends of the design region, in the user's units.
    constant : [d]
        Inputs that had one value in all runs, which the processes ignore.
    components : tuple of M Posterior
        The processes, conditioned on the runs; ``sigma2`` is the squared scale of each.
    weight : [M]
        Weights, which sum to 1.
    df : float
        Degrees of freedom of every process; infinite for a Gaussian one.
    origin, unit : float
        The response is origin + unit times the model's.
    undo : callable or None
        From responses of the model, in its units, to those of the user, where they were
        transformed; None for none.
    transforms : tuple of d Transform
        Of the inputs, before they are scaled to the unit cube; empty for none at all.
    """

    names: tuple[str, ...]
    response: str
    lower: FloatArray
    upper: FloatArray
    constant: BoolArray
    components: tuple[Posterior, ...]
    weight: FloatArray
    df: float
    origin: float
    unit: float
    undo: Callable[[FloatArray], FloatArray] | None = None
    transforms: tuple[Transform, ...] = ()

    @property
    def X(self) -> FloatArray:  # noqa: N802 (the paper's X_n)
        """Inputs of the runs [n, d] in the unit cube."""
        return self.components[0].X

    @cached_property
    def y(self) -> FloatArray:
        """Responses of the runs [n], standardised; where they have noise, their predictions."""
        one = self.components[0]
        return one.y if one.noise is None else np.asarray(self.weight @ self.means(one.X))

    @property
    def d(self) -> int:
        """Number of inputs."""
        return len(self.names)

    @cached_property
    def inputs(self) -> InputScaler:
        """From the design region to the unit cube."""
        return InputScaler(self.lower, self.upper, self.constant, self.transforms)

    def to_unit(self, X_raw: FloatArray) -> FloatArray:
        """Return inputs X_raw [m, d] in the unit cube; a constant input as 0."""
        X = self.inputs.transform(X_raw)
        X[:, self.constant] = 0.0
        return X

    def in_units(self, X: FloatArray) -> FloatArray:
        """Return inputs X [m, d] of the unit cube in the user's units."""
        return self.inputs.inverse(X)

    @property
    def each_transform(self) -> tuple[Transform, ...]:
        """The transform of each of the d inputs."""
        return self.transforms or (Identity(),) * self.d

    def square_distances(
        self, A: FloatArray, B: FloatArray, weight: FloatArray | None = None
    ) -> FloatArray:
        """Return squared distances [a, b] in the unit cube; 1 between two levels of an input.

        Parameters
        ----------
        A, B : [a, d], [b, d]
            Points.
        weight : [d], optional
            Factors of the inputs' differences.
        """
        found = np.zeros((len(A), len(B)))
        for p, transform in enumerate(self.each_transform):
            delta = A[:, None, p] - B[:, p]
            square = delta != 0.0 if isinstance(transform, Levels) else delta * delta
            found += square if weight is None else weight[p] ** 2 * square
        return found

    @property
    def inflation(self) -> float:
        """Variance over squared scale; infinite up to df = 2."""
        return inflation(self.df)

    def means(self, X: FloatArray) -> FloatArray:
        """Return the mean of each process [M, m] at X [m, d]."""
        return np.stack([process.predict_mean(X) for process in self.components])

    def means_and_scales(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means and squared scales [M, m] at X [m, d]; `inflation` makes them variances."""
        means, squares = np.empty((2, len(self.components), len(X)))
        for j, process in enumerate(self.components):
            means[j], scaled = process.predict(X)
            squares[j] = process.sigma2 * np.maximum(scaled - process.nugget, 0.0)
        return means, squares

    def covariances(self, A: FloatArray, B: FloatArray) -> FloatArray:
        """Return the squared scales [M, a, b] between A [a, d] and B [b, d]."""
        return np.stack([p.sigma2 * scaled_covariance(p, A, B) for p in self.components])

    def mean_and_variance(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance [m] of the whole set at X [m, d]."""
        means, squares = self.means_and_scales(X)
        mean = self.weight @ means
        return mean, self.weight @ (self.inflation * squares + (means - mean) ** 2)

    def choose(self, size: int, rng: np.random.Generator) -> IntArray:
        """Return ``size`` components, ascending, each as often as its weight says up to one."""
        edges = (np.arange(size) + rng.random()) / size
        last = len(self.weight) - 1
        return np.minimum(np.searchsorted(np.cumsum(self.weight), edges), last)

    def stretches(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return factors [size] that turn draws of a Gaussian process into those of a t process."""
        if np.isinf(self.df):
            return np.ones(size)
        return np.sqrt(self.df / rng.chisquare(self.df, size))

    def portions(
        self, size: int, most: int, rng: np.random.Generator
    ) -> Iterator[tuple[Posterior, slice, FloatArray]]:
        """Yield the processes that ``size`` draws are to come from, at most so many.

        With each process come the rows of its draws and the `stretches` of these.
        """
        chosen, stretch = self.choose(min(most, size), rng), self.stretches(size, rng)
        ends = np.round(np.arange(len(chosen) + 1) * size / len(chosen)).astype(np.int64)
        for j in np.unique(chosen):
            mine = np.flatnonzero(chosen == j)
            rows = slice(int(ends[mine[0]]), int(ends[mine[-1] + 1]))
            yield self.components[j], rows, stretch[rows]

    def draws(
        self, X: FloatArray, size: int, rng: np.random.Generator, most: int = 1 << 30
    ) -> FloatArray:
        """Return joint draws [size, m] of the function at X [m, d], from at most so many processes.

        Draws of one process follow each other.
        """
        out = np.empty((size, len(X)))
        for process, rows, stretch in self.portions(size, most, rng):
            root = symmetric_root(process.sigma2 * scaled_covariance(process, X, X))
            steps = rng.standard_normal((len(stretch), len(X))) @ root
            out[rows] = process.predict_mean(X) + stretch[:, None] * steps
        return out

    def to_response(self, values: FloatArray) -> FloatArray:
        """Return values of the model's scale in the user's units; undoes transformations too."""
        scaled = self.origin + self.unit * values
        return scaled if self.undo is None else self.undo(scaled)


def scaled_covariance(process: Posterior, A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the covariance [a, b] of the function at A [a, d] and B [b, d] divided by sigma2.

    k - r' R^-1 r + u' u with the correlations r with the runs and the errors u of the trend.
    """
    K: FloatArray = process.kernel.pairwise(A[None], B[None], process.theta[None])[0]
    (v, u), (w, t) = _parts(process, A), _parts(process, B)
    return K - v.T @ w + u.T @ t


def _parts(process: Posterior, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return L^-1 r [n, m] and u [k, m] at X [m, d]."""
    r = process.kernel.pairwise(X[None], process.X[None], process.theta[None])[0]
    u = process.basis_map @ process.mean.columns(X).T - process.basis_alpha @ r.T
    return solve_triangular(process.L, r.T, lower=True, check_finite=False), u


def inner_precision(process: Posterior) -> FloatArray:
    """Return Q [n + k, n + k], with which the covariance divided by sigma2 is k - h' Q h.

    h = (r, f) are the correlations with the runs and the mean's basis functions. With the rows a_j
    and c_j of `Posterior`, the variance is k - r' R^-1 r + |C f - A r|^2, so that
    Q = [[R^-1 - A' A, A' C], [C' A, -C' C]].
    """
    n, A, C = len(process.X), process.basis_alpha, process.basis_map
    half = solve_triangular(process.L, np.eye(n), lower=True)
    if not process.trend.size:
        return np.asarray(half.T @ half)
    return np.block([[half.T @ half - A.T @ A, A.T @ C], [C.T @ A, -C.T @ C]])


def symmetric_root(C: FloatArray) -> FloatArray:
    """Return the symmetric root [m, m] of a covariance, negative eigenvalues taken as 0."""
    values, vectors = np.linalg.eigh(0.5 * (C + C.T))
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def processes_of(
    model: Any,
    output: int = 0,
    input_names: Sequence[str] | None = None,
    response_name: str | None = None,
) -> Processes:
    """Return the processes behind one output of a fitted model.

    Parameters
    ----------
    model : estimator, Pipeline, TransformedTargetRegressor or FittedView
        Fitted. The steps of a pipeline before the estimator must scale each input for itself, as
        StandardScaler and MinMaxScaler do.
    output : int
        Which output.
    input_names : sequence of d strings, optional
        By default those that the model was fitted with, else x1 to xd.
    response_name : str, optional
        By default "response", or "output 0", ... where there are several.
    """
    outer, steps, undo = model, [], None
    while isinstance(model, Pipeline | TransformedTargetRegressor):
        if isinstance(model, Pipeline):
            steps.append(model[:-1])
            model = model[-1]
        else:
            undo = undoing(model, undo)
            model = model.regressor_
    view = view_of(model, output, None if steps else input_names, response_name)
    lower, upper = view.estimator._surrogate.inputs.lower, view.estimator._surrogate.inputs.upper
    names = view.names
    if steps:
        if view.estimator._surrogate.inputs.transforms:
            raise not_a_scaling()
        names = names_of_inputs(outer, input_names, len(lower))
        for step in reversed(steps):
            lower, upper = before(step, lower, upper)
    return _of_view(view, names, lower, upper, undo)


def _of_view(
    view: FittedView, names: tuple[str, ...], lower: FloatArray, upper: FloatArray, undo: Any
) -> Processes:
    """Return the processes of a view, for inputs with these names and ends [d]."""
    known = view.estimator._surrogate
    posterior = known.posteriors[view.output]
    if known.response.transforms:
        transform = known.response.transforms[view.output]
        if not isinstance(transform, Identity):
            undo = after(transform.inverse, undo)
    several = isinstance(posterior, ProcessMixture)
    return Processes(
        names,
        view.response,
        lower,
        upper,
        known.inputs.constant,
        tuple(posterior.components) if several else (posterior,),
        posterior.weight if several else np.ones(1),
        float(posterior.df) if several else np.inf,
        float(known.response.mean[view.output]),
        float(known.response.sd[view.output]),
        undo,
        known.inputs.transforms,
    )
