"""The likelihood where the noise of every response is known, with exact gradient and Hessian.

With known variances v_i of the responses the covariance of the runs is sigma2 R,

    R = phi(s) + g I + tau V,   V = diag(v_i),   tau = 1 / sigma2,

so that sigma2 cannot be profiled in closed form. `NoisyLikelihood` has log tau as its last
parameter; with u = log tau the log likelihood (constants dropped) is

    l = n/2 u - 1/2 log|R| - tau q / 2,   q = (y - F beta)' R^-1 (y - F beta).

R depends on tau through its diagonal alone, as it does on a nugget, and what is left of tau adds

    l_u += n/2 - tau q / 2,   l_uu += 2 e_u - tau q / 2,   l_up += e_p,
    e_p = tau/2 alpha' R_p alpha dp/dlog p

to the derivatives at constant tau, where e_p is what a factor tau does to them. The marginal
likelihood integrates over beta (flat), not over sigma2: n - k for n, and - 1/2 log|F' R^-1 F|.

`ProfiledNoise` maximises over tau at every point. With R0 = R at the smallest tau0, R0 = L L' and
L^-1 V L^-T = U diag(m) U', R = L U diag(1 + (tau - tau0) m) U' L': after one eigendecomposition
l costs O(n) at any tau, and its highest maximum is found on a grid that is refined. The derivatives
of the maximum are those of l at constant tau, the Hessian less l_pu l_uq / l_uu.
"""

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import in_logarithms, inverse_factors
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel
from pengp.model.likelihood import BatchLikelihood, Likelihood, LogLik, Solved
from pengp.model.means import ZERO, Mean
from pengp.model.products import Pieces
from pengp.model.trend import log_information, project

SIGMA2_BOUNDS = (1e-4, 1e8)
"""Range of sigma2 for responses with a variance of about 1: below, all is noise."""

NOISE_AND_NUGGET = (
    "noise_sd and nugget={!r} are two descriptions of one scatter, which the runs cannot tell "
    "apart; give noise_sd with a fixed nugget, or let the nugget be found without noise_sd."
)
"""Why a nugget that the runs decide is refused."""

_MOST_RUNS = 300
"""Runs with known noise: each evaluation takes an eigendecomposition and a Hessian."""

_GRID, _FINER, _TIMES = 33, 9, 4
"""Values of log tau that are tried at first, then around the best one, and how often the latter."""

_CHUNK = 1 << 17
"""Elements [points, values, n] that are worked on at a time."""

_LEAST_CURVATURE = 1e-9
"""Curvature in log tau below which the likelihood counts as flat there."""


class NoisyLikelihood(BatchLikelihood):
    """Log likelihoods of data sets with known noise; the last parameter is tau = 1 / sigma2.

    Parameters
    ----------
    X, y, kernel, mean, isotropic, marginal
        As in `Likelihood`; a marginal one integrates over the trend alone.
    nugget : float
        Fixed nugget g.
    noise : [F, n]
        Variances of the responses.
    """

    def __init__(
        self,
        X: FloatArray,
        y: FloatArray,
        kernel: Kernel,
        nugget: float,
        noise: FloatArray,
        *,
        mean: Mean = ZERO,
        isotropic: bool = False,
        marginal: bool = False,
    ) -> None:
        self._noise = noise
        super().__init__(X, y, kernel, nugget, mean=mean, isotropic=isotropic, marginal=marginal)

    def _prepare(self) -> None:
        """Count tau among the parameters."""
        self.n_params = self.n_theta + 1
        super()._prepare()

    def _nuggets(self, data_set: IntArray, params: FloatArray) -> FloatArray:
        """Return g + tau v_i [B, n]."""
        return (self.nugget or 0.0) + params[:, -1:] * self._of(self._noise, data_set)

    def _quadratic(self, params: FloatArray, q: FloatArray, degrees: IntArray | int) -> FloatArray:
        """Return tau q - n log tau [B]."""
        tau = params[:, -1]
        return tau * q - degrees * np.log(tau)

    def _slopes(
        self, data_set: IntArray, params: FloatArray, at: Solved, pieces: Pieces, D: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return gradient [B, P] and Hessian [B, P, P] in the logarithms of params [B, P]."""
        tau, noise = params[:, -1], self._of(self._noise, data_set)
        ridge = np.broadcast_to(noise, (len(tau), self.n))
        # At constant tau q is not under a logarithm: n / q becomes tau, and its own slope 0.
        fixed = at._replace(degrees=np.inf, weight=tau, ridge=ridge)
        *both, forms = self._derivatives(data_set, fixed, pieces, D)
        gradient, hessian = in_logarithms(params, *both)
        scaled = 0.5 * tau * at.q
        e = 0.5 * tau[:, None] * forms * params
        gradient[:, -1] += 0.5 * at.degrees - scaled
        hessian[:, -1] += e
        hessian[:, :, -1] += e
        hessian[:, -1, -1] -= scaled
        return gradient, hessian

    def evaluate(
        self, data_set: IntArray, point: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets [B] at point [B, P], with or without derivatives."""
        at = super().evaluate(data_set, point, derivatives=derivatives)
        return at._replace(sigma2=np.exp(-point[:, -1]))

    def best_scales(
        self, data_set: IntArray, log_theta: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return the log tau [B] that maximises l at log_theta [B, T], and whether at a bound."""
        step = max(1, _CHUNK // (self.n * max(self.n, _GRID)))
        parts = [
            self._best_scales(data_set[c : c + step], log_theta[c : c + step])
            for c in range(0, len(data_set), step)
        ]
        best = np.concatenate(parts) if parts else np.empty(0)
        low, high = log_tau_bounds()
        return best, (best <= low) | (best >= high)

    def _best_scales(self, data_set: IntArray, log_theta: FloatArray) -> FloatArray:
        """Return them for a few points."""
        B, (low, high) = len(data_set), log_tau_bounds()
        first = np.column_stack([log_theta, np.full(B, low)])
        W = inverse_factors(self._triangles(data_set, np.exp(first)))[0]  # R0^-1 = W W'
        noise = self._of(self._noise, data_set)
        S = W.transpose(0, 2, 1) * np.sqrt(noise)[:, None]  # L^-1 V^1/2
        m, U = np.linalg.eigh(S @ S.transpose(0, 2, 1))
        rotated = self._of(self._right, data_set) @ W @ U  # [B, 1 + k, n]
        u, rows = np.broadcast_to(np.linspace(low, high, _GRID), (B, _GRID)), np.arange(B)
        for size in [_FINER] * _TIMES:
            top = self._values(u, m, rotated).argmax(1)
            before, after = (
                u[rows, np.maximum(top - 1, 0)],
                u[rows, np.minimum(top + 1, len(u[0]) - 1)],
            )
            u = before[:, None] + (after - before)[:, None] * np.linspace(0.0, 1.0, size)
        return _vertex(u, self._values(u, m, rotated))

    def _values(self, u: FloatArray, m: FloatArray, rotated: FloatArray) -> FloatArray:
        """Return l [B, G] at u [B, G], up to a constant for each point.

        m [B, n] are eigenvalues, ``rotated`` [B, 1 + k, n] the responses and columns.
        """
        (B, G), n, k = u.shape, self.n, rotated.shape[1] - 1
        tau = np.exp(u)
        shift = (tau - np.exp(log_tau_bounds()[0]))[:, :, None]
        spectrum = 1.0 + shift * np.maximum(m, 0.0)[:, None]  # [B, G, n]
        scaled = rotated[:, None] / np.sqrt(spectrum)[:, :, None]
        scaled = scaled.reshape(B * G, 1 + k, n)
        z, duals = scaled[:, 0].copy(), scaled[:, 1:].copy()
        squares, _ = project(z, duals, duals, z, np.zeros((B * G, k, 1)))
        degrees: IntArray | int = n
        log_determinant = np.log(spectrum).sum(-1)
        if self.marginal:
            degrees = (n - np.count_nonzero(squares, axis=-1)).reshape(B, G)
            log_determinant += log_information(squares).reshape(B, G)
        q = np.vecdot(z, z).reshape(B, G)
        return 0.5 * (degrees * u - log_determinant - tau * q)


def check_noisy_runs(n: int) -> None:
    """Raise an InputError if n runs are too many for a fit with known noise."""
    if n > _MOST_RUNS:
        raise InputError(
            f"{n:,} runs are too many for a fit with known noise, which takes {_MOST_RUNS} at "
            "most; leave noise_sd out and fit with a nugget that is estimated."
        )


def log_tau_bounds() -> tuple[float, float]:
    """Return the range of log tau."""
    low, high = SIGMA2_BOUNDS
    return -float(np.log(high)), -float(np.log(low))


def _vertex(u: FloatArray, values: FloatArray) -> FloatArray:
    """Return where parabolas through the highest of values [B, G] at u [B, G] are highest [B].

    Each has three neighbours, equally spaced; a value at the end of all is taken as it is.
    """
    rows, top = np.arange(len(u)), values.argmax(1)
    middle = np.clip(top, 1, u.shape[1] - 2)
    left, here, right = (values[rows, middle + k] for k in (-1, 0, 1))
    curvature = left - 2.0 * here + right
    share = np.divide(left - right, curvature, out=np.zeros_like(here), where=curvature < 0.0)
    inner = u[rows, middle] + 0.5 * share * (u[rows, middle + 1] - u[rows, middle])
    return np.where(top == middle, inner, u[rows, top])


class ProfiledNoise(Likelihood):
    """The same maximised over sigma2, so that the thetas alone are parameters.

    Takes what `NoisyLikelihood` takes.
    """

    newton = True

    def __init__(
        self,
        X: FloatArray,
        y: FloatArray,
        kernel: Kernel,
        nugget: float,
        noise: FloatArray,
        *,
        mean: Mean = ZERO,
        isotropic: bool = False,
        marginal: bool = False,
    ) -> None:
        self._joint = NoisyLikelihood(
            X, y, kernel, nugget, noise, mean=mean, isotropic=isotropic, marginal=marginal
        )
        super().__init__(X, y, kernel, nugget, mean=mean, isotropic=isotropic, marginal=marginal)

    def _prepare(self) -> None:
        """Leave it to the likelihood whose maximum this is."""

    def evaluate(
        self, data_set: IntArray, point: FloatArray, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate data sets [B] at point [B, P], with or without derivatives."""
        self.n_evaluations += len(data_set)
        u, at_bound = self._joint.best_scales(data_set, point)
        at = self._joint.evaluate(data_set, np.column_stack([point, u]), derivatives=derivatives)
        if not derivatives:
            return at._replace(gradient=at.gradient[:, :-1], hessian=at.hessian[:, :-1])
        return _maximised(at, at_bound)


def _maximised(at: LogLik, at_bound: BoolArray) -> LogLik:
    """Return the maximum over the last parameter of an expansion near it, unless at a bound.

    The last parameter is known up to a small step, which the expansion takes.
    """
    slope, cross = at.gradient[:, -1], at.hessian[:, :-1, -1]
    curvature = -at.hessian[:, -1, -1]
    inner = at.ok & ~at_bound & (curvature > _LEAST_CURVATURE)
    inverse = np.divide(1.0, curvature, out=np.zeros_like(curvature), where=inner)
    step = inverse * slope
    hessian = at.hessian[:, :-1, :-1] + inverse[:, None, None] * cross[:, :, None] * cross[:, None]
    return at._replace(
        value=at.value + 0.5 * step * slope,
        gradient=at.gradient[:, :-1] + step[:, None] * cross,
        hessian=np.ascontiguousarray(hessian),
        sigma2=at.sigma2 * np.exp(-step),
    )


def sigma2_at(
    X: FloatArray,
    y: FloatArray,
    noise: FloatArray,
    theta: FloatArray,
    *,
    kernel: Kernel,
    nugget: float,
    mean: Mean = ZERO,
    marginal: bool = False,
) -> float:
    """Return the estimate of sigma2 at theta [d] from runs X [n, d], y [n] with variances [n]."""
    runs = X[None], y[None], kernel, nugget, noise[None]
    profiled = ProfiledNoise(*runs, mean=mean, marginal=marginal)
    return float(profiled.evaluate(np.zeros(1, dtype=np.int64), np.log(theta)[None]).sigma2[0])
