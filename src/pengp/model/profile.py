"""The profile log likelihood for callers: of given data once, or prepared for many evaluations."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pengp._core.arrays import FloatArray, IntArray, as_floats, check_sizes
from pengp._core.checks import check_flag, check_nugget
from pengp._core.datasets import check_inputs, check_response, check_runs
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, KernelName, get_kernel
from pengp.model.likelihood import BatchLikelihood, LogLik
from pengp.model.means import MeanLike, get_mean

#: Sizes whose squares and products stay finite.
_LARGEST_INPUT, _LARGEST_THETA = 1e40, 1e50


class ProfileLikelihood:
    """The profile log likelihood of given data, prepared once for evaluations at many points.

    Parameters
    ----------
    X : [..., n, d]
        Inputs.
    y : [..., n]
        Responses. The leading axes of X and y broadcast.
    kernel : str or Kernel
        Correlation function, of the distance ("sqexp", "matern52", "matern32") or, a product, of
        the inputs one by one ("matern52_product", "matern32_product", "matern52_additive").
    nugget : float or "estimate"
        Fixed nugget; "estimate" makes it an argument of every call, and the last parameter.
    mean : {"zero", "constant", "linear"}, basis function or Mean
        Prior mean.
    isotropic : bool
        Whether all inputs share one theta.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import ProfileLikelihood, get_function
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> loglik = ProfileLikelihood(X, y - y.mean())
    >>> loglik([[0.1], [10.0], [1000.0]]).value.round(2)
    array([-32.23, -25.12, -22.32])
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        kernel: KernelName | Kernel = "sqexp",
        nugget: float | Literal["estimate"] = 1e-5,
        mean: MeanLike = "zero",
        isotropic: bool = False,
    ) -> None:
        inputs, response = as_floats(X, "X"), as_floats(y, "y")
        check_sizes(inputs, "X", _LARGEST_INPUT)
        check_sizes(response, "y", np.inf)
        check_response(response)
        if inputs.ndim < 2 or response.shape[-1:] != inputs.shape[-2:-1]:
            raise InputError(f"X {inputs.shape} and y {response.shape} do not fit together.")
        n, d = inputs.shape[-2:]
        check_runs(n)
        check_inputs(d)
        self._sets = np.broadcast_shapes(inputs.shape[:-2], response.shape[:-1])
        self._engine = BatchLikelihood(
            np.broadcast_to(inputs, (*self._sets, n, d)).reshape(-1, n, d),
            np.broadcast_to(response, (*self._sets, n)).reshape(-1, n),
            get_kernel(kernel),
            check_nugget(nugget),
            mean=get_mean(mean),
            isotropic=check_flag(isotropic, "isotropic"),
        )

    def __call__(
        self, theta: ArrayLike, nugget: ArrayLike | None = None, *, derivatives: bool = True
    ) -> LogLik:
        """Evaluate at any number of points.

        Parameters
        ----------
        theta : [..., d], or [..., 1] if isotropic
            Where to evaluate; the leading axes broadcast with those of the data sets.
        nugget : [...], optional
            Nugget, if it is "estimate"; else the fixed one is taken.
        derivatives : bool
            Whether to compute gradient and Hessian, which take most of the time; without them,
            the gradient is 0 and the Hessian [..., P, 0].

        Returns
        -------
        LogLik
            With the broadcast leading axes in place of B, and P parameters: the thetas, and the
            nugget if it is "estimate".
        """
        derivatives = check_flag(derivatives, "derivatives")
        params = self._parameters(theta, nugget)
        shape = params.shape[:-1]
        if self._sets:
            shape = np.broadcast_shapes(shape, self._sets)
            params = np.broadcast_to(params, (*shape, params.shape[-1]))
        with np.errstate(divide="ignore"):
            point = np.log(params).reshape(-1, params.shape[-1])
        data_set = self._data_sets(shape, len(point))
        at = self._engine.evaluate(data_set, point, derivatives=derivatives)
        return LogLik._make([a.reshape(shape + a.shape[1:]) for a in at])

    def _parameters(self, theta: ArrayLike, nugget: ArrayLike | None) -> FloatArray:
        """Return the parameters [..., P]."""
        thetas = as_floats(theta, "theta")
        check_sizes(thetas, "theta", _LARGEST_THETA, least=0.0)
        if thetas.shape[-1:] != (self._engine.n_theta,):
            raise InputError(
                f"X {self._engine.X.shape[1:]} and theta {thetas.shape} do not fit together: the "
                f"last axis of theta must have {self._engine.n_theta} values."
            )
        if (nugget is None) is (self._engine.nugget is None):
            given = "is fixed, so none can be given" if nugget is not None else "must be given"
            raise InputError(f"the nugget {given} with theta; nugget='estimate' makes it free.")
        if nugget is None:
            return thetas
        nuggets = as_floats(nugget, "nugget")
        check_sizes(nuggets, "nugget", _LARGEST_THETA, least=0.0)
        shape = np.broadcast_shapes(thetas.shape[:-1], nuggets.shape)
        parts = np.broadcast_to(thetas, (*shape, thetas.shape[-1])), np.broadcast_to(nuggets, shape)
        return np.concatenate([parts[0], parts[1][..., None]], axis=-1)

    def _data_sets(self, shape: tuple[int, ...], points: int) -> IntArray:
        """Return the data set of each point."""
        if not self._sets:
            return np.zeros(points, dtype=np.int64)
        sets = np.arange(len(self._engine.y)).reshape(self._sets)
        return np.broadcast_to(sets, shape).ravel()


def profile_loglik(
    X: ArrayLike,
    y: ArrayLike,
    theta: ArrayLike,
    *,
    kernel: KernelName | Kernel = "sqexp",
    nugget: ArrayLike = 1e-5,
    mean: MeanLike = "zero",
    isotropic: bool = False,
    derivatives: bool = True,
) -> LogLik:
    """Evaluate the profile log likelihood, its gradient and Hessian, at any number of points.

    For many calls with the same data, `ProfileLikelihood` prepares them once.

    Parameters
    ----------
    X : [..., n, d]
        Inputs.
    y : [..., n]
        Responses.
    theta : [..., d], or [..., 1] if isotropic
        Where to evaluate. The leading axes of X, y, theta and nugget broadcast.
    kernel, mean, isotropic, derivatives
        As in `ProfileLikelihood`.
    nugget : [...]
        Nugget; the derivatives in its logarithm come last.

    Returns
    -------
    LogLik
        With the broadcast leading axes in place of B, and P = number of thetas + 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pengp import get_function, profile_loglik
    >>> X = np.linspace(0, 1, 8)[:, None]
    >>> y = get_function("forrester")(X)
    >>> found = profile_loglik(X, y - y.mean(), [10.0])
    >>> round(float(found.value), 2), found.gradient.round(2)  # in log theta, and in log nugget
    (-25.12, array([11.53,  0.02]))
    """
    prepared = ProfileLikelihood(
        X, y, kernel=kernel, nugget="estimate", mean=mean, isotropic=isotropic
    )
    return prepared(theta, nugget, derivatives=derivatives)
