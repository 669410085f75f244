"""The penalized estimator at one lambda."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from pengp._core.arrays import RandomState
from pengp._core.checks import as_seed, check_lams
from pengp.estimators.display import FittedDisplayMixin
from pengp.estimators.on_path import PathMixin
from pengp.estimators.scales import InputTransforms, ResponseTransform
from pengp.estimators.summary import SummaryMixin
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, KernelName
from pengp.model.means import MeanLike
from pengp.path.penalties import AnyPenalty, PenaltyName

__all__ = ["PenalizedGPRegressor"]


class PenalizedBase(SummaryMixin, FittedDisplayMixin, PathMixin, RegressorMixin, BaseEstimator):
    """What both estimators are made of."""

    def __sklearn_tags__(self) -> Any:
        """Say that several outputs are understood."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class PenalizedGPRegressor(PenalizedBase):
    """Gaussian-process surrogate of a deterministic simulator, by penalized likelihood.

    Maximises Q(theta) = log L(theta) - n p_lambda(theta), the penalized profile likelihood of the
    paper's Section 2, for inputs scaled to the unit cube and a response that is centred and divided
    by its standard deviation (ddof = 1). Results are in the units of X and y unless noted.

    Parameters
    ----------
    lam : float
        Weight lambda of the penalty; 0 is maximum likelihood.
    kernel : str or Kernel
        Correlation function, of the distance ("sqexp", "matern52", "matern32") or, a product, of
        the inputs one by one ("matern52_product", "matern32_product", "matern52_additive").
    penalty : {"lasso", "scad", "ridge", "none", "jointly-robust"}, Penalty or JointPenalty
        Penalty on theta.
    isotropic : bool
        Whether all inputs share one theta.
    nugget : float or "estimate"
        Fixed nugget g, or one more parameter of the likelihood.
    mean : {"zero", "constant", "linear"}, basis function or Mean
        Prior mean of the centred response: 0 as in the paper, or with coefficients that are
        estimated. A function maps inputs [n, d] in the unit cube to the columns [n, k] of a basis.
    likelihood : {"profile", "marginal"}
        Whether sigma2 and the mean's coefficients are maximised over or integrated out, while theta
        is estimated; predictions are those at the estimate in either case.
    theta_bounds : (float, float)
        Range of every theta.
    input_bounds : array, shape [d, 2], optional
        Lower and upper end of each input, the design region; by default the range of the runs.
    input_transforms : transform, or mapping from names or numbers of columns to transforms
        Scales on which inputs enter: "log", "log10", "sqrt", "logit", a `Transform` such as
        ``Logit(0, 100)`` or ``BoxCox(0.5)``, or a scikit-learn transformer; one for all, or by
        input.
    response_transform : transform, or sequence of q transforms
        Scale on which the response is modelled: as for inputs, also "boxcox" and "yeojohnson",
        whose power maximises Q at `lam` with the Jacobian counted. Results are in the units of y.
    integer_inputs : sequence of names or numbers of columns, optional
        Inputs that are whole numbers: rounded before the correlation, so that the surrogate is
        constant in between.
    factors : sequence of names or numbers of columns, or mapping from them to levels, optional
        Inputs whose values have no order. Any two levels are equally correlated, exp(-theta) for
        the squared exponential, by the one theta of the input. Columns of a frame that hold
        categories or texts are factors without being named. A mapping names the levels, also those
        that no run has; where they are texts, numbers in X are their places, from 0.
    n_starts : int or array, shape [S, d] (isotropic: [S, 1])
        Number of starts that are chosen, or thetas to start from; see `penalized_path`.
    random_state : int, Generator, RandomState or None
        Seed of the random starts; an integer gives the same model each time, None another one.

    Attributes
    ----------
    theta_ : [d] or [q, d]
        Estimates, for inputs in the unit cube; as for all attributes, q outputs y [n, q] lead.
    lengthscale_ : [d] or [q, d]
        Distance in the input's unit at which theta_p dx_p^2 = 1; inf for an ignored input. Of a
        transformed input it is a distance on the transformed scale.
    sigma2_ : float or [q]
        Scale of the covariance, of the standardised response.
    nugget_ : float or [q]
        The fixed or estimated nugget.
    mean_ : float or [q]
        Prior mean, averaged over the runs; of the transformed response if there is a transform.
    trend_ : [k] or [q, k]
        Coefficients of the mean's basis functions f, in the units of y: the prior mean at an input
        that is u in the unit cube is the average response in ``fit``, after its transform, plus
        f(u)' trend_.
    input_transforms_ : list of d Transform
        The transforms of the inputs.
    response_transform_ : Transform, or list of q
        The transform of the response, its power estimated.
    lam_ : float or [q]
        The lambda of these estimates.
    path_ : PathFit
        Estimates from all runs at every lambda, on the scaled inputs and response.
    modes_ : Modes
        All local maxima found at lam_.
    flat_ : Flat
        Where the likelihood is flat along the ray through theta_; computed when asked for.
    loo_ : LeaveOneOut
        Leave-one-out predictions at theta_.
    condition_ : float or [q]
        Estimated condition number of the correlation matrix; above 1e12 ``fit`` warns.
    X_train_ : [n, d]
        Inputs of the runs that the surrogate knows.
    y_train_ : [n] or [n, q]
        Their responses.
    noise_sd_ : [n] or [n, q], or None
        Their known standard deviations.
    n_features_in_ : int
        Number of inputs d.
    feature_names_in_ : [d]
        Names of the inputs, for frames.

    Examples
    --------
    >>> from pengp import PenalizedGPRegressor, load_piston_slap
    >>> runs = load_piston_slap()
    >>> model = PenalizedGPRegressor(lam=0.0578, random_state=0).fit(runs.X, runs.y)
    >>> model.theta_.round(2)  # 0 where the input is inactive
    array([0.39, 0.  , 0.  , 0.91, 0.02, 0.43])
    >>> mean, std = model.predict(runs.X.mean(0, keepdims=True), return_std=True)
    >>> mean.round(1), std.round(1)  # in dB
    (array([55.]), array([0.3]))
    """

    def __init__(
        self,
        lam: float = 0.0,
        *,
        kernel: KernelName | Kernel = "sqexp",
        penalty: PenaltyName | AnyPenalty = "lasso",
        isotropic: bool = False,
        nugget: float | Literal["estimate"] = 1e-5,
        mean: MeanLike = "zero",
        likelihood: Literal["profile", "marginal"] = "profile",
        theta_bounds: tuple[float, float] = (1e-3, 1e3),
        input_bounds: ArrayLike | None = None,
        input_transforms: InputTransforms = None,
        response_transform: ResponseTransform = None,
        integer_inputs: Sequence[Any] | None = None,
        factors: Any = None,
        n_starts: int | ArrayLike = 10,
        random_state: RandomState = None,
    ) -> None:
        self.lam = lam
        self.kernel = kernel
        self.penalty = penalty
        self.isotropic = isotropic
        self.nugget = nugget
        self.mean = mean
        self.likelihood = likelihood
        self.theta_bounds = theta_bounds
        self.input_bounds = input_bounds
        self.input_transforms = input_transforms
        self.response_transform = response_transform
        self.integer_inputs = integer_inputs
        self.factors = factors
        self.n_starts = n_starts
        self.random_state = random_state

    def fit(self, X: Any, y: Any, noise_sd: Any = None) -> Self:
        """Estimate theta and condition on the runs.

        Parameters
        ----------
        X : array or frame, shape [n, d]
            Inputs of the runs in any units, n >= 2.
        y : array, shape [n] or [n, q]
            Responses in any units; several outputs are fitted independently, in one batch.
        noise_sd : float, array of shape [n] or [n, q], optional
            Known standard deviations of the responses' noise, in the units of y: one for all runs,
            for each run, or for each output of each run; 0 for a run without noise. Runs with the
            same inputs are then replaced by their mean. Predictions are of the response without
            noise.
        """
        runs = self._runs(X, y, noise_sd)
        model, lams, seed = self._model(), check_lams(self.lam), as_seed(self.random_state)
        if np.ndim(self.lam) != 0:
            raise InputError("lam must be one number; PenalizedGPRegressorCV takes several, lams.")
        data = self._prepared(runs, model, float(lams[0]), seed)
        path = self._path(data, model, lams, seed)
        self._keep(data, path, np.zeros(path.objective.shape[:-1], dtype=np.int64))
        self._warn_untrusted()
        self._warn_of_doubts()
        return self
