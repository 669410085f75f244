"""The Bayesian average: theta, lambda and the kernel are not chosen but integrated over."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from pengp._core.arrays import FloatArray, RandomState
from pengp._core.checks import (
    ILL_CONDITIONED,
    as_seed,
    check_count,
    check_jobs,
    is_real,
    warn,
    warn_ill_conditioned,
)
from pengp._core.datasets import constant_columns
from pengp._core.linalg import ONE_THREAD
from pengp._core.progress import part
from pengp.bayes.average import FEWEST, Average, Settings, average, members_of
from pengp.bayes.mixture import ProcessMixture
from pengp.bayes.priors import Prior, PriorName, get_prior
from pengp.estimators.averaged import AverageMixin
from pengp.estimators.data import TrainingData, scale_runs
from pengp.estimators.display import FittedDisplayMixin
from pengp.estimators.scales import InputTransforms, ResponseTransform, judge_of
from pengp.estimators.summary import SummaryMixin
from pengp.estimators.surrogate import Surrogate
from pengp.exceptions import InputError
from pengp.model.kernels import Kernel, KernelName
from pengp.model.means import Mean
from pengp.path.fitting import Model, checked_model

__all__ = ["BayesianGPRegressor"]

_MOST_POINTS, _MOST_COMPONENTS = 1_000_000, 10_000
"""Draws, and processes that predict; the memory that they take grows with them."""


#: What names or is the kernels of an average; a mapping gives them prior weights.
KernelsLike: TypeAlias = (
    KernelName | Kernel | Sequence[KernelName | Kernel] | Mapping[Any, float] | None
)


class BayesianGPRegressor(
    SummaryMixin, FittedDisplayMixin, AverageMixin, RegressorMixin, BaseEstimator
):
    """Gaussian-process surrogate that averages over lambda, theta and kernels.

    The penalized estimate theta-hat(lambda) of the paper is the posterior mode under independent
    exponential priors with rate n lambda. Here lambda has a prior as well and is integrated out
    with theta, the variance and the kernel, so that the predictions carry what few runs leave
    open: they are mixtures of Student t distributions. The posterior is sampled by adaptive
    importance sampling, which says when it is not to be trusted.

    Parameters
    ----------
    kernels : str, Kernel, sequence or mapping, optional
        Correlation functions that are averaged: names or kernels, or a mapping from them to prior
        weights. By default squared exponential, radial, product and nearly additive Matern 5/2, a
        quarter each; with one input squared exponential (2/3) and Matern 5/2.
    prior : {"hierarchical-lasso", "gamma", "jointly-robust"} or Prior
        Prior of theta; your own object has value, gradient and hessian in log theta.
    mean : {"integrated", "zero"}, Mean or None
        A constant that is integrated out, with a prior variance of 9 sigma2; zero; or a mean with a
        prior on its coefficients, such as ``LinearMean(1.0)``. None integrates a constant for two
        inputs or more.
    nugget : float, sequence of floats, "sample" or None
        Fixed nugget, several that are averaged, or one more parameter, log uniform from 1.49e-8 to
        1. None takes 1e-5, and 1e-8 as well for the squared exponential.
    effective_size : float
        Effective number of draws at which the sampler stops.
    max_points : int
        Points, those by which the sampler adapts included, at which it stops; up to 2,000 of each
        kernel and nugget are drawn before that.
    n_components : int
        Most processes that are kept for predictions; ``thinning_`` says what that changes.
    input_bounds : array, shape [d, 2], optional
        Lower and upper end of each input, the design region; by default the range of the runs.
    input_transforms, response_transform, integer_inputs, factors
        As in `PenalizedGPRegressor`. A power maximises the profile likelihood of the first kernel
        with a constant mean, the Jacobian counted, and is kept: it is not averaged over.
    random_state : int, Generator, RandomState or None
        Seed of the draws.
    n_jobs : int, optional
        Processes or threads for several outputs; the result does not depend on it.

    Attributes
    ----------
    components_ : Components, or list of q
        The processes that predict: kernel, theta, nugget and weight. They keep the predictive means
        and variances of all draws; their weights by kernel are not ``kernel_weights_``.
    kernel_weights_ : dict of float, or list of q
        Posterior probability of each kernel.
    log_evidence_, log_evidence_error_ : float or [q]
        Logarithm of the probability density of the standardised responses, which tells kernels and
        priors apart but not transforms of the response, and its Monte Carlo standard error.
    effective_size_ : float or [q]
        Effective number of draws.
    pareto_shape_ : float or [q]
        Largest Pareto shape of the weights of a kernel that counts; above 0.7 they are not trusted.
    activity_ : Activity, or list of q
        Posterior probability that each input matters, quantiles of the change of the response from
        end to end, and of the lengthscale in the input's unit.
    explanations_ : tuple of Explained, or list of q
        The modes of the posterior, the weightiest first: kernel, nugget, weight, theta, lengthscale
        and which inputs matter. Those that differ in the nugget alone are one.
    condition_ : float or [q]
        Largest estimated condition number of the processes' correlation matrices.
    thinning_ : float or [q]
        Root mean square change of the predictive mean, in predictive standard deviations, between
        all draws and the components that are kept; estimated at points that had no part in keeping
        them.
    theta_, lengthscale_ : [d] or [q, d]
        Posterior medians; lengthscales in the input's unit, inf for an ignored input.
    loo_ : LeaveOneOut
        Each run predicted from the others, theta learned anew; see `held_out`.
    X_train_, y_train_, n_features_in_, feature_names_in_
        As in `PenalizedGPRegressor`.

    Examples
    --------
    >>> from pengp import BayesianGPRegressor, load_piston_slap
    >>> runs = load_piston_slap()  # 12 runs, 6 inputs, noise in dB
    >>> model = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    >>> centre = runs.X.mean(0, keepdims=True)
    >>> model.predict_quantiles(centre, [0.1, 0.5, 0.9]).round()
    array([[55., 57., 59.]])
    >>> runs.input_names[model.activity_.probability.argmax()]  # what most surely matters
    'cylinder liner'
    """

    def __init__(
        self,
        *,
        kernels: KernelsLike = None,
        prior: PriorName | Prior = "hierarchical-lasso",
        mean: Literal["integrated", "zero"] | Mean | None = None,
        nugget: float | Sequence[float] | Literal["sample"] | None = None,
        effective_size: float = 800.0,
        max_points: int = 30_000,
        n_components: int = 100,
        input_bounds: ArrayLike | None = None,
        input_transforms: InputTransforms = None,
        response_transform: ResponseTransform = None,
        integer_inputs: Sequence[Any] | None = None,
        factors: Any = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernels = kernels
        self.prior = prior
        self.mean = mean
        self.nugget = nugget
        self.effective_size = effective_size
        self.max_points = max_points
        self.n_components = n_components
        self.input_bounds = input_bounds
        self.input_transforms = input_transforms
        self.response_transform = response_transform
        self.integer_inputs = integer_inputs
        self.factors = factors
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, noise_sd: Any = None) -> Self:
        """Sample the posterior and condition on the runs.

        Parameters
        ----------
        X : array or frame, shape [n, d]
            Inputs of the runs in any units, n >= 3.
        y : array, shape [n] or [n, q]
            Responses in any units; several outputs are fitted independently.
        noise_sd : float, array of shape [n] or [n, q], optional
            Known standard deviations of the responses' noise, as in `PenalizedGPRegressor.fit`.
            sigma2 is then drawn with theta, and the predictions are mixtures of normal laws.
        """
        runs = self._runs(X, y, noise_sd, least=FEWEST)
        constant = int(constant_columns(runs.X).sum())
        self._settings = self._checked_settings(runs.X.shape[1], constant)
        names, bounds, seed = self._names(), self.input_bounds, as_seed(self.random_state)
        nugget = self._fixed_nugget()
        data = scale_runs(
            runs.X,
            runs.y,
            names,
            input_bounds=bounds,
            scales=self._scales(),
            judge=judge_of(self._maximised(), 0.0, seed),
            nugget=nugget,
            estimated=self._estimated_nugget,
            noise_sd=runs.noise_sd,
        )
        self._seeds = np.random.SeedSequence(seed).generate_state(len(data.y)).tolist()
        averages, mixtures = zip(*self._averaged(data), strict=True)
        self.X_train_ = data.X_raw
        self.y_train_ = data.y_raw[:, 0] if self._one_output else data.y_raw
        known = data.inputs, data.response, mixtures, data.y_raw, (len(data.X),)
        self._keep(averages, Surrogate(*known, data.noise_sd))
        self._warn()
        self._warn_of_doubts()
        return self

    def __sklearn_tags__(self) -> Any:
        """Say that several outputs are understood."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _checked_settings(self, d: int, n_constant: int = 0) -> Settings:
        """Return what is to be fitted to runs with d inputs, some of them constant, checked."""
        size = self.effective_size
        if not is_real(size) or not size > 0.0:
            raise InputError(f"effective_size={size!r} must be a number above 0.")
        members = members_of(d, self.kernels, self.nugget, self.mean, n_constant=n_constant)
        return Settings(
            tuple(self._with_levels(member) for member in members),
            get_prior(self.prior),
            float(size),
            check_count(self.max_points, "max_points", 1, _MOST_POINTS),
            check_count(self.n_components, "n_components", 1, _MOST_COMPONENTS),
        )

    def _maximised(self) -> Model:
        """Return the model by whose likelihood powers of transforms are estimated."""
        return checked_model(
            kernel=self._settings.members[0].kernel,
            penalty="none",
            isotropic=False,
            nugget=self._fixed_nugget() or 1e-5,
            mean="constant",
            theta_bounds=(1e-3, 1e3),
        )

    def _averaged(self, data: TrainingData) -> list[tuple[Average | None, ProcessMixture]]:
        """Return average and mixture of each output; see `_average`."""
        noise: Any = [None] * len(data.y) if data.noise is None else data.noise
        jobs = [
            (data.X, y, self._settings, seed, v, (k, len(data.y)))
            for k, (y, seed, v) in enumerate(zip(data.y, self._seeds, noise, strict=True))
        ]
        if len(jobs) == 1 or joblib.effective_n_jobs(check_jobs(self.n_jobs)) == 1:
            return [_average(*job) for job in jobs]
        with ONE_THREAD:
            parallel = joblib.Parallel(n_jobs=self.n_jobs)
            return list(parallel(joblib.delayed(_average)(*job) for job in jobs))

    def _keep(
        self, averages: tuple[Average | None, ...], surrogate: Surrogate[ProcessMixture]
    ) -> None:
        """Set what was learned, from runs or from a file; None for a constant response."""
        self._averages = averages
        self._hold(surrogate)
        inputs = surrogate.inputs
        medians = [np.full(len(inputs.lower), np.nan) if a is None else a.medians for a in averages]
        self.theta_ = self._of_outputs(np.array(medians))
        lengthscale = inputs.lengthscale(self.theta_)
        self.lengthscale_ = np.where(inputs.constant, np.inf, lengthscale)

    def _warn(self) -> None:
        """Say what speaks against the draws."""
        for k, found in enumerate(self._averages):
            for sentence in () if found is None else found.problems:
                which = "" if self._one_output else f" of output {k}"
                warn(f"the posterior{which} cannot be trusted: {sentence}")
        least = min(float(np.min(member.nugget)) for member in self._settings.members)
        if len(self.X_train_) ** 1.5 / least > ILL_CONDITIONED:  # more it cannot be
            warn_ill_conditioned(float(np.max(self.condition_)))


def _average(
    X: FloatArray,
    y: FloatArray,
    settings: Settings,
    seed: int,
    noise: FloatArray | None,
    place: tuple[int, int],
) -> tuple[Average | None, ProcessMixture]:
    """Return average and mixture of runs X [n, d], y [n]; no average for a constant response.

    It is the response of this place, from 0, among so many.
    """
    with part(*place, "response"):
        return average(X, y, settings, seed, noise) if y.any() else (None, _flat(X, settings))


def _flat(X: FloatArray, settings: Settings) -> ProcessMixture:
    """Return the mixture for a constant response: one process, 0 and without spread."""
    one, zero = np.ones(1), np.zeros(1, dtype=np.int64)
    theta = np.ones((1, X.shape[1]))
    return ProcessMixture(X, np.zeros(len(X)), settings.members, zero, theta, 1e-5 * one, one)
