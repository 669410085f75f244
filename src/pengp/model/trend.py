"""The one generalised least squares solve: a mean's basis on the runs, and its projection.

With the basis F [n, k] on the runs and G = F' R^-1 F, all that an estimated trend changes is

    beta = G^-1 F' R^-1 y,   P = R^-1 - R^-1 F G^-1 F' R^-1,   alpha = P y = R^-1 (y - F beta),

and u' G^-1 u with u = f(x) - F' R^-1 r(x) in the variance. `project` gets there one column at a
time, by Gram-Schmidt in the inner product of R^-1: with R^-1-orthogonal columns w_j in place of
those of F, G is diagonal, and P is R^-1 less the squares of R^-1 w_j.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.checks import warn
from pengp._core.datasets import DataSets, is_constant
from pengp._core.linalg import max_norm
from pengp.exceptions import InputError
from pengp.model.means import Mean

_EPS = float(np.finfo(np.float64).eps)

_DEPENDENT = 1e-10
"""Part of a column that is not in the span of those before it, below which it is left out."""


class Columns(NamedTuple):
    """The basis on the runs of B data sets.

    Without a prior, each column is orthogonal to those before it (one that depends on them is 0),
    and z is y less its least squares fit: a trend makes that part of y immaterial, but not its
    rounding error. With a prior on the coefficients, the basis and y are as given.
    """

    z: FloatArray  # [B, n]
    rows: FloatArray  # [B, k, n], the columns
    carry: FloatArray  # [B, k, k], rows = carry F'
    offset: FloatArray  # [B, k], y = z + F offset
    level: FloatArray  # [B, k], averages of F over the runs


def columns_of(mean: Mean, X: FloatArray, y: FloatArray) -> Columns:
    """Return the basis of a mean on the runs X [B, n, d], y [B, n]."""
    F = mean.columns(X)
    (B, _, k), z = F.shape, y.copy()
    rows, carry, offset = F.swapaxes(1, 2).copy(), np.zeros((B, k, k)), np.zeros((B, k))
    carry[:] = np.eye(k)
    if mean.variance is None:
        for j in range(k):
            if j:
                _orthogonalise(rows, carry, j)
            own = rows[:, j]
            share = _share(z, own)
            z -= share * own
            offset += share * carry[:, j]
    return Columns(z, rows, carry, offset, np.add.reduce(F, axis=1) / F.shape[1])


def _orthogonalise(rows: FloatArray, carry: FloatArray, j: int) -> None:
    """Make row j of rows [B, k, n] orthogonal to those before it, 0 if it depends on them."""
    own, least = rows[:, j], _DEPENDENT**2 * (rows[:, j] ** 2).sum(-1)
    for i in [*range(j)] * 2:  # once more, for what rounding has left
        other = rows[:, i]
        share = _share(own, other)
        own -= share * other
        carry[:, j] -= share * carry[:, i]
    lost = (own * own).sum(-1) <= least
    own[lost], carry[lost, j] = 0.0, 0.0


def _share(z: FloatArray, row: FloatArray) -> FloatArray:
    """Return the least squares coefficient [B, 1] of z [B, n] on row [B, n], 0 for a row of 0."""
    product, square = np.vecdot(z, row), np.vecdot(row, row)
    square[square == 0.0] = np.inf  # by which anything is 0
    return (product / square)[:, None]


def project(
    alpha: FloatArray, duals: FloatArray, rows: FloatArray, z: FloatArray, carry: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Take the estimated trend out of alpha.

    Parameters
    ----------
    alpha : [B, n]
        R^-1 z, overwritten by P z.
    duals : [B, k, n]
        R^-1 times the columns; overwritten by R^-1 w_j for R^-1-orthogonal columns w_j.
    rows : [B, k, n]
        The columns. With L^-1 in place of R^-1 everywhere, the same arrays as duals and alpha.
    z : [B, n]
        Responses.
    carry : [B, k, c]
        Anything linear in the columns, overwritten by the same for w_j if k > 1.

    Returns
    -------
    squares : [B, k]
        1 / (w_j' R^-1 w_j), 0 for a column that is 0.
    found : [B, c]
        The carried quantity of the estimated trend.
    """
    B, k, _ = duals.shape
    squares, found = np.empty((B, k)), np.zeros((B, carry.shape[2]))
    for j in range(k):
        dual = duals[:, j]
        total = np.vecdot(dual, rows[:, j])
        total[total <= 0.0] = np.inf  # by which anything is 0
        np.reciprocal(total, out=squares[:, j])
        if j + 1 < k:
            rest = slice(j + 1, None)
            share = ((dual[:, None] * rows[:, rest]).sum(-1) / total[:, None])[..., None]
            duals[:, rest] -= share * dual[:, None]
            carry[:, rest] -= share * carry[:, j, None]
        shift = (np.vecdot(dual, z) / total)[:, None]
        alpha -= shift * dual
        found += shift * carry[:, j]
    return squares, found


def log_information(squares: FloatArray) -> FloatArray:
    """Return log|F' R^-1 F| [B] from squares [B, k] of `project`; columns that are 0 do not count.

    The w_j are the columns of F, each less a combination of those before it, and R^-1-orthogonal.
    """
    return -np.log(np.where(squares > 0.0, squares, 1.0)).sum(-1)


def projected(
    V: FloatArray, solved: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return P [B, n, n] for V = R^-1, alpha [B, 1, n], and no squares [B, 0] that are left.

    ``solved`` [B, 1 + k, n] holds alpha and R^-1 w_j.
    """
    duals = solved[:, 1:]
    P = V - duals.transpose(0, 2, 1) @ (squares[:, :, None] * duals)
    return P, solved[:, :1], squares[:, :0]


class ProfiledTrend:
    """The trends of F data sets as a profile likelihood needs them, many points at a time.

    Attributes
    ----------
    z : [F, n]
        Responses less what a trend makes immaterial.
    rows : [F, k, n]
        The columns whose coefficients are estimated; k = 0 with a prior on them.
    prior : [F, n, n] or None
        variance F F', to be added to R, with a prior.
    exact : [F]
        Whether y is in the span of the basis, where no likelihood exists.
    """

    def __init__(self, mean: Mean, X: FloatArray, y: FloatArray) -> None:
        basis = columns_of(mean, X, y)
        self.z, self.rows, self.prior = basis.z, basis.rows, None
        k = basis.rows.shape[1]
        self.exact = max_norm(basis.z) <= 8.0 * k * _EPS * max_norm(y)
        self._offset = np.vecdot(basis.offset, basis.level)  # [F]
        self._carry = basis.carry @ basis.level[:, :, None]  # [F, k, 1]
        self._loading: FloatArray | None = None
        if mean.variance is not None:
            F = basis.rows.swapaxes(1, 2)
            self.prior = mean.variance * F @ basis.rows
            self._loading = mean.variance * (F @ basis.level[:, :, None])[:, :, 0]  # [F, n]
            self.rows = basis.rows[:, :0]

    def remove(
        self, data_set: IntArray, alpha: FloatArray, duals: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Take the trends out of alpha [B, n], given R^-1 times the columns [B, k, n], in place.

        Return squares [B, k] as in `project`, and the prior mean, averaged over the runs [B].
        """
        if self._loading is not None:  # E(beta | y) = variance F' alpha
            return np.zeros((len(alpha), 0)), np.vecdot(self._loading[data_set], alpha)
        if not self.rows.shape[1]:
            return np.zeros((len(alpha), 0)), self._offset.take(data_set)
        rows, z, carry = self.rows, self.z, self._carry
        if len(self.z) > 1:  # a single data set need not be repeated
            rows, z = rows.take(data_set, axis=0), z.take(data_set, axis=0)
        if len(self.z) > 1 or rows.shape[1] > 1:
            carry = carry.take(data_set, axis=0)
        squares, found = project(alpha, duals, rows, z, carry)
        return squares, self._offset.take(data_set) + found[:, 0]


class Halves(NamedTuple):
    """What a trend leaves of B data sets whose R has the factor L: everything times L^-1."""

    z: FloatArray  # [B, n], L^-1 (y - F beta)
    duals: FloatArray  # [B, k, n], rows e_j: P = L^-T (I - sum_j e_j e_j') L^-1
    carry: FloatArray  # [B, k, k]: u_j = carry_j f(x) - e_j' L^-1 r(x), and u' G^-1 u = sum_j u_j^2
    coefficients: FloatArray  # [B, k], beta
    quadratic: FloatArray  # [B], y' P y


def trend_of(mean: Mean, basis: Columns, half_z: FloatArray, half_rows: FloatArray) -> Halves:
    """Estimate the trend of B data sets, given L^-1 z [B, n] and L^-1 times the columns [B, k, n].

    A proper prior is k more runs, of the coefficients themselves, with response 0.
    """
    n, k = half_z.shape[1], half_rows.shape[1]
    z, duals, carry = half_z.copy(), half_rows.copy(), basis.carry.copy()
    if mean.variance is not None:
        z = np.pad(z, ((0, 0), (0, k)))
        prior = np.eye(k)[None].repeat(len(z), 0) / np.sqrt(mean.variance)
        duals = np.concatenate([duals, prior], axis=2)
    squares, found = project(z, duals, duals, z, carry)
    scale = np.sqrt(squares)[:, :, None]
    quadratic = (z * z).sum(-1)
    return Halves(z[:, :n], scale * duals[:, :, :n], scale * carry, basis.offset + found, quadratic)


def half_solved(L: FloatArray, basis: Columns) -> tuple[FloatArray, FloatArray]:
    """Return L^-1 z [1, n] and L^-1 times the columns [1, k, n], for one factor L [n, n]."""
    right = np.concatenate([basis.z[:, None], basis.rows], axis=1)
    half = solve_triangular(L, right[0].T, lower=True).T[None]
    return half[:, 0], half[:, 1:]


def too_few_runs(mean: Mean, X: FloatArray) -> str:
    """Return words that say that X [n, d] are too few runs for a mean, none if they are enough."""
    if mean.variance is not None:
        return ""
    k = mean.columns(X[:1]).shape[1]
    if len(X) > k:
        return ""
    basis = columns_of(mean, X[None], np.zeros((1, len(X))))
    if basis.rows[0].any(-1).sum() < len(X):  # some of the functions depend on the others
        return ""
    return f"mean={mean.name!r} has {k} coefficients and needs at least {k + 1} runs"


def follows(mean: Mean, X: FloatArray, y: FloatArray) -> BoolArray:
    """Tell which y [B, n] are in the span of the basis on X [B, n, d]: they have no likelihood."""
    return ProfiledTrend(mean, X, y).exact


def check_trend(data: DataSets, mean: Mean) -> None:
    """Raise an InputError about data that are too few for a mean."""
    for f, X in enumerate(data.X):
        if words := too_few_runs(mean, X):
            raise InputError(f"X{data.label(f)} has {len(X)} runs, but {words}.")


def warn_of_trend(data: DataSets, mean: Mean, exact: Sequence[bool] | BoolArray) -> None:
    """Warn about data that need nothing but the mean, which they follow if ``exact`` [F]."""
    for f, y in enumerate(data.y):
        if is_constant(y) or exact[f]:
            around = "the estimated mean" if mean.columns(data.X[f][:1]).size else "a zero mean"
            state = "is constant" if is_constant(y) else f"follows mean={mean.name!r} exactly"
            warn(
                f"y{data.label(f)} {state}, so a correlation cannot be estimated around {around}; "
                "the smoothest one is returned."
            )
