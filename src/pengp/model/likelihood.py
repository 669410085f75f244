"""Profile log likelihood with exact gradient and Hessian, for a batch of (data set, theta) pairs.

With R the correlations and the nugget g on their diagonal, alpha = R^-1 (y - F beta) and
q = (y - F beta)' alpha, the paper's profile log likelihood (constants dropped) is

    l = -n/2 log q - 1/2 log|R|,

F beta being 0 or the generalised least squares estimate of a trend with the basis F. With
R_p = dR/dparameter_p and P = R^-1 - R^-1 F (F' R^-1 F)^-1 F' R^-1, its derivatives are

    l_p  = n/(2q) alpha' R_p alpha - 1/2 tr(R^-1 R_p)
    l_pq = n/(2q^2) (alpha' R_p alpha)(alpha' R_q alpha) - n/q alpha' R_p P R_q alpha
           + 1/2 tr(R^-1 R_p R^-1 R_q) + sum_ij (n/(2q) alpha alpha' - 1/2 R^-1)_ij (R_pq)_ij.

For a theta the kernel gives R_p and R_pq, for the nugget R_p is the identity. A proper prior on
beta adds variance F F' to R, around a zero mean. The marginal likelihood, over beta (flat) and
sigma2 (prior 1 / sigma2), is

    l = -(n - k)/2 log q - 1/2 log|R| - 1/2 log|F' R^-1 F|;

its derivatives are the same with n - k for n and P for R^-1, since d log|F' R^-1 F| makes
tr(P R_p) of tr(R^-1 R_p). All derivatives are returned in the logarithms of the parameters.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import (
    BUFFER_BYTES,
    diagonals,
    in_logarithms,
    positive_inverse,
    positive_solve,
    work_array,
)
from pengp._core.shown import shown
from pengp.model.kernels import Kernel
from pengp.model.means import ZERO, Mean
from pengp.model.products import Pieces
from pengp.model.trend import ProfiledTrend, log_information, projected

_CACHE_BYTES = 3 << 17
"""Size of the two arrays that are used again and again, both of which the cache is to hold."""

_SMALL_BYTES = 1 << 18
"""The same for an array of matrices that is made anew: so much need not come from the system."""


@shown
class LogLik(NamedTuple):
    """Profile or marginal log likelihood at B points.

    Where R is not positive definite, ``ok`` is False, the value -inf and the derivatives zero.

    See Also
    --------
    profile_loglik : Returns it for given data.
    ProfileLikelihood : Returns it at many points of the same data.
    """

    value: FloatArray  # [B]
    gradient: FloatArray  # [B, P], in the logarithm of each parameter
    hessian: FloatArray  # [B, P, P], likewise; [B, P, 0] where it was not asked for
    sigma2: FloatArray  # [B]
    mean: FloatArray  # [B], the prior mean, averaged over the runs
    ok: BoolArray  # [B]


class Solved(NamedTuple):
    """What the first part of an evaluation leaves for the derivatives."""

    V: FloatArray  # [B, n, n], R^-1, or P if the likelihood is marginal
    solved: FloatArray  # [B, 1 + k, n]: alpha, and R^-1 w_j for the columns of a trend, unless P
    squares: FloatArray  # [B, k], 1 / (w_j' R^-1 w_j)
    q: FloatArray  # [B]
    degrees: FloatArray | IntArray | float  # [B], n, or n - k if the likelihood is marginal
    weight: FloatArray  # [B], degrees / q
    ridge: FloatArray  # [n] or [B, n], the diagonal of R_p for the parameter that is no theta


class Likelihood(ABC):
    """Log likelihoods of F data sets of one size.

    The order of parameters is theta (d of them, or one if isotropic), then the nugget if it is
    estimated. The attribute ``newton`` tells a search whether Hessians are to be had.

    Parameters
    ----------
    X : [F, n, d]
        Inputs, in the unit cube by convention.
    y : [F, n]
        Responses.
    kernel : Kernel
        The correlation function.
    nugget : float or None
        Fixed nugget g; None makes it the last parameter.
    mean : Mean
        The prior mean.
    isotropic : bool
        Whether all inputs share one theta.
    marginal : bool
        Whether the trend and sigma2 are integrated out instead of maximised over.
    """

    newton: ClassVar[bool]

    def __init__(
        self,
        X: FloatArray,
        y: FloatArray,
        kernel: Kernel,
        nugget: float | None,
        *,
        mean: Mean = ZERO,
        isotropic: bool = False,
        marginal: bool = False,
    ) -> None:
        self.X, self.y, self.kernel = X, y, kernel
        self.nugget, self.mean, self.isotropic, self.marginal = nugget, mean, isotropic, marginal
        self.n = y.shape[1]
        self.n_theta = 1 if isotropic else X.shape[2]
        self.n_params = self.n_theta + (nugget is None)
        self.n_evaluations = 0
        self._trend = ProfiledTrend(mean, X, y)
        self._prepare()

    @property
    def undefined(self) -> BoolArray:
        """Which data sets [F] follow their mean exactly, where no likelihood exists."""
        return self._trend.exact

    @abstractmethod
    def _prepare(self) -> None:
        """Compute what all evaluations share."""

    @abstractmethod
    def evaluate(
        self, data_set: IntArray, point: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets [B] at point [B, P], with or without derivatives."""


class BatchLikelihood(Likelihood):
    """Log likelihoods with Hessians, many points at a time: the engine for small data sets.

    An item's result does not depend on the other items of a call.
    """

    newton = True

    def _prepare(self) -> None:
        """Keep the squared differences, and where their lower triangles are."""
        n = self.n
        columns = self.X.transpose(0, 2, 1).copy()
        D = self.kernel.squares(columns[:, :, :, None] - columns[:, :, None, :], 1)
        self._right = np.concatenate([self._trend.z[:, None], self._trend.rows], axis=1)
        self._lower = np.tri(n, k=-1, dtype=bool).ravel().nonzero()[0]
        self._row, self._column = np.divmod(self._lower, n)
        kept = self.kernel.blocks(D, isotropic=self.isotropic)
        self._blocks = kept.reshape(len(D), -1, n * n)  # [F, d or 1, n * n]
        self._pairs = self._blocks.take(self._lower, axis=2)  # [F, d or 1, m]
        self._steps = self.kernel.steps(self._pairs)
        self._place = np.zeros(n * n, dtype=np.int64)  # of each pair in R, as j > i
        self._place[self._column * n + self._row] = np.arange(len(self._lower))
        self._repeated = bool((self._pairs.max(1, initial=0.0) == 0.0).any())
        largest = max(self.n_params, self._blocks.shape[1])
        self.batch = max(1, BUFFER_BYTES // (8 * n * n * largest))
        self._ones = np.ones(n)

    def evaluate(
        self, data_set: IntArray, point: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets [B] at point [B, P], with or without derivatives."""
        self.n_evaluations += len(data_set)
        size = self.batch if derivatives else max(1, _SMALL_BYTES // (8 * self.n**2))
        if len(data_set) <= size:
            return self._evaluate(data_set, point, derivatives)
        parts = [
            self._evaluate(data_set[c : c + size], point[c : c + size], derivatives)
            for c in range(0, len(data_set), size)
        ]
        return LogLik._make(np.concatenate(a) for a in zip(*parts, strict=True))

    def _evaluate(self, data_set: IntArray, point: FloatArray, derivatives: bool) -> LogLik:
        """Evaluate one batch that fits the work arrays."""
        B, T, n = len(data_set), self.n_theta, self.n
        params = np.exp(point)
        right = self._of(self._right, data_set)
        if derivatives:
            D = self._differences(data_set)
            phi, kept = self.kernel.correlate(params[:, :T], D)
            R = phi.astype(np.float64)  # a copy
            R[:, :: n + 1] = 1.0 + self._nuggets(data_set, params)
            R = R.reshape(B, n, n)
            if self._trend.prior is not None:
                R += self._of(self._trend.prior, data_set)
            V, log_determinant, ok = positive_inverse(R)
            solved = right @ V
        else:
            each = right.repeat(B, axis=0) if len(right) == 1 else right
            solved, log_determinant, ok = positive_solve(self._triangles(data_set, params), each)
        squares, mean = self._trend.remove(data_set, solved[:, 0], solved[:, 1:])
        q = np.vecdot(solved[:, 0], self._of(self._trend.z, data_set))
        ok &= q > 0.0
        sound = np.logical_and.reduce(ok)
        if not sound:
            q[~ok] = 1.0
        degrees: int | IntArray = n
        if self.marginal:
            degrees = n - np.count_nonzero(squares, axis=-1)
            log_determinant = log_determinant + log_information(squares)
        value = -0.5 * (self._quadratic(params, q, degrees) + log_determinant)
        if derivatives:
            if self.marginal:
                V, solved, squares = projected(V, solved, squares)
            at = Solved(V, solved, squares, q, degrees, degrees / q, self._ones)
            pieces = self.kernel.pieces(params[:, :T], D, phi, kept)
            gradient, hessian = self._slopes(data_set, params, at, pieces, D)
        else:
            gradient, hessian = np.zeros_like(params), np.zeros((*params.shape, 0))
        if not sound:
            value[~ok], gradient[~ok], hessian[~ok] = -np.inf, 0.0, 0.0
        return LogLik(value, gradient, hessian, q / n, mean, ok)

    def _of(self, table: FloatArray, data_set: IntArray) -> FloatArray:
        """Return the entries [B, ...] of a table of the data sets; a single one stays [1, ...]."""
        return table if len(table) == 1 else table.take(data_set, axis=0)

    def _nuggets(self, data_set: IntArray, params: FloatArray) -> FloatArray | float:
        """Return what is added to the diagonal at params [B, P]: a number, [B, 1] or [B, n]."""
        return params[:, self.n_theta :] if self.nugget is None else self.nugget

    def _quadratic(self, params: FloatArray, q: FloatArray, degrees: IntArray | int) -> FloatArray:
        """Return -2 log L - log|R| [B] at params [B, P]."""
        return np.multiply(degrees, np.log(q))

    def _slopes(
        self, data_set: IntArray, params: FloatArray, at: Solved, pieces: Pieces, D: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return gradient [B, P] and Hessian [B, P, P] in the logarithms of params [B, P]."""
        return in_logarithms(params, *self._derivatives(data_set, at, pieces, D)[:2])

    def _triangles(self, data_set: IntArray, params: FloatArray) -> FloatArray:
        """Return R [B, n, n] at params [B, P], only the triangle j >= i of which is filled."""
        T, n = self.n_theta, self.n
        values = self.kernel.values(params[:, :T], self._of(self._steps, data_set))
        pairs = np.asarray(values, dtype=np.float64)
        on_diagonal = 1.0 + self._nuggets(data_set, params)
        if self._trend.prior is not None:
            prior = self._of(self._trend.prior, data_set).reshape(-1, n * n)
            pairs = pairs + prior.take(self._lower, axis=1)
            on_diagonal = on_diagonal + prior[:, :: n + 1]
        # Below the diagonal stands anything; to take is several times as fast as to place.
        one_run = np.empty((len(pairs), 1))
        R = pairs.take(self._place, axis=1, mode="clip") if n > 1 else one_run
        R[:, :: n + 1] = on_diagonal
        return R.reshape(-1, n, n)

    def _differences(self, data_set: IntArray) -> FloatArray:
        """Return the squared differences [B or 1, d or 1, n * n], in a work array if copied."""
        if len(self._blocks) == 1:
            return self._blocks
        out = work_array(2, (len(data_set), *self._blocks.shape[1:]))
        return np.take(self._blocks, data_set, axis=0, out=out, mode="clip")

    def _derivatives(
        self, data_set: IntArray, at: Solved, pieces: Pieces, D: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return gradient [B, P], Hessian [B, P, P] and alpha' R_p alpha [B, P], no logarithms."""
        T, weight = self.n_theta, at.weight[:, None]
        b, trace, hessian = self._products(at, pieces)
        along = at.solved @ b.transpose(0, 2, 1)
        gradient = weight * along[:, 0]
        gradient -= trace
        gradient *= 0.5
        # P - alpha alpha' / (2 q), between R_p alpha and R_q alpha, is V less 1 + k squares.
        half = at.weight / (2.0 * at.degrees)
        squares = np.concatenate([half[:, None], at.squares], axis=1)
        curved = b @ (at.V @ b.transpose(0, 2, 1))
        curved -= along.transpose(0, 2, 1) @ (squares[:, :, None] * along)
        curved *= weight[:, :, None]
        hessian *= 0.5
        hessian -= curved
        E = self._of(self._pairs, data_set) if pieces.E is D else pieces.E.take(self._lower, axis=2)
        hessian[:, :T, :T] += self._curvature(at, pieces, E)
        return gradient, hessian, along[:, 0]

    def _curvature(self, at: Solved, pieces: Pieces, E: FloatArray) -> FloatArray:
        """Return the Hessian's last term [B, T, T], given E [B or 1, T, m] of the pairs i > j."""
        alpha, V = at.solved[:, 0], at.V.reshape(-1, self.n**2)
        # Each pair stands for R_ij and R_ji, which takes the factor 1/2 away.
        W = (at.weight[:, None] * alpha).take(self._row, axis=1)
        W *= alpha.take(self._column, axis=1)
        W -= V.take(self._lower, axis=1)
        second = pieces.second.take(self._lower, axis=1)
        if self._repeated:
            second[np.isinf(second)] = 0.0  # E_p E_q = 0 beats phi'' = inf
        second *= W
        weighted = np.multiply(second[:, None], E, out=work_array(0, (len(W), *E.shape[1:])))
        curvature: FloatArray = weighted @ E.transpose(0, 2, 1)
        if pieces.extra is not None:
            on_diagonal = diagonals(curvature)
            on_diagonal += np.einsum("bm,btm->bt", W, pieces.extra.take(self._lower, axis=2))
        return curvature

    def _products(self, at: Solved, pieces: Pieces) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return R_p alpha [B, P, n], tr(V R_p) [B, P] and tr(V R_p V R_q) [B, P, P].

        The matrices R_p are the bulk of an evaluation, and a few items at a time stay in the cache.
        """
        few = max(1, _CACHE_BYTES // (8 * self.n * self.n * self.n_params))
        E, d1, V, alpha = pieces.E, pieces.first, at.V, at.solved[:, 0, :, None]
        if len(d1) <= few:
            return self._some_products(E, d1, V, alpha, at.ridge)
        cuts = [slice(c, c + few) for c in range(0, len(d1), few)]
        ridges = [at.ridge if at.ridge.ndim == 1 else at.ridge[k] for k in cuts]
        parts = [
            self._some_products(E if len(E) == 1 else E[k], d1[k], V[k], alpha[k], ridge)
            for k, ridge in zip(cuts, ridges, strict=True)
        ]
        b, trace, traces = (np.concatenate(a) for a in zip(*parts, strict=True))
        return b, trace, traces

    def _some_products(
        self, E: FloatArray, d1: FloatArray, V: FloatArray, alpha: FloatArray, ridge: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the same for a few items."""
        B, T, P, n = len(d1), self.n_theta, self.n_params, self.n
        Rp, RV = work_array(0, (B, P, n * n)), work_array(1, (B, P, n * n))
        np.multiply(d1[:, None], E, out=Rp[:, :T])
        if P > T:
            Rp[:, T] = 0.0
            Rp[:, T, :: n + 1] = ridge
        tall, square = (B, P * n, n), (B, P, n, n)
        b = (Rp.reshape(tall) @ alpha).reshape(B, P, n)
        np.matmul(Rp.reshape(tall), V, out=RV.reshape(tall))
        trace = np.add.reduce(RV[:, :, :: n + 1], axis=-1)
        VR = Rp  # R_p is not needed any more
        np.copyto(VR.reshape(square), RV.reshape(square).transpose(0, 1, 3, 2))
        # tr(V R_p V R_q) = sum_ij (R_p V)_ij (V R_q)_ij
        return b, trace, RV @ VR.transpose(0, 2, 1)
