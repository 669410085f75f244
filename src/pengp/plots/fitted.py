"""What displays read off a fitted estimator: one output's share, names, and its table of folds."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pengp._core.arrays import FloatArray
from pengp.choosing.crossval import CVTable
from pengp.choosing.scores import half_width
from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.exceptions import InputError
from pengp.model.kernels import get_kernel

Estimator: TypeAlias = PenalizedGPRegressor | PenalizedGPRegressorCV
#: A point of the input space: values by name, the others in the middle, or all d of them.
Point: TypeAlias = Mapping[str, float] | ArrayLike | None


class OneOutput:
    """One output of a fitted estimator, in plain shapes.

    Parameters
    ----------
    estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    output : int
        Which output.
    input_names : sequence of d strings, optional
        By default those of the frame that was fitted, else x1 to xd.
    response_name : str, optional
        By default "response", or "output 0", ... where there are several.
    """

    def __init__(
        self,
        estimator: Estimator,
        output: int = 0,
        input_names: Sequence[str] | None = None,
        response_name: str | None = None,
    ) -> None:
        if not isinstance(estimator, PenalizedGPRegressor | PenalizedGPRegressorCV):
            raise InputError(
                "displays take a fitted PenalizedGPRegressor or PenalizedGPRegressorCV, not a "
                f"{type(estimator).__name__}; of a pipeline give the last step."
            )
        check_is_fitted(estimator)
        self.estimator = estimator
        self._single = estimator.y_train_.ndim == 1
        q = 1 if self._single else estimator.y_train_.shape[1]
        if not 0 <= output < q:
            raise InputError(f"output={output} does not exist; there are {q}, counted from 0.")
        self.output = output
        self.X = estimator.X_train_  # [n, d]
        self.y = self.last(estimator.y_train_)  # [n]
        self.input_names = self._checked_names(input_names)
        default = "response" if self._single else f"output {output}"
        self.response_name = default if response_name is None else response_name

    def _checked_names(self, given: Sequence[str] | None) -> tuple[str, ...]:
        """Return one name for each input."""
        d = self.estimator.X_train_.shape[1]
        if given is None:
            given = getattr(self.estimator, "feature_names_in_", [f"x{p + 1}" for p in range(d)])
        names = tuple(str(name) for name in given)
        if len(names) != d:
            raise InputError(f"input_names has {len(names)} names, but there are {d} inputs.")
        return names

    def first(self, values: Any) -> Any:
        """Return this output's share of values with the outputs on the first axis, if any."""
        return values if self._single else values[self.output]

    def last(self, values: FloatArray) -> FloatArray:
        """Return this output's share of values with the outputs on the last axis, if any."""
        return values if self._single else values[..., self.output]

    @property
    def theta(self) -> FloatArray:
        """Estimates [d]."""
        return np.asarray(self.first(self.estimator.theta_))

    @property
    def lam(self) -> float:
        """Return the lambda of the estimates."""
        return float(self.first(self.estimator.lam_))

    def find_table(self) -> CVTable | None:
        """Return the table of folds, None where nothing was cross-validated."""
        if not isinstance(self.estimator, PenalizedGPRegressorCV):
            return None
        table: CVTable | None = self.first(self.estimator.cv_table_)
        return table

    def table(self) -> CVTable:
        """Return the table of folds, or say why there is none."""
        table = self.find_table()
        if table is not None:
            return table
        if isinstance(self.estimator, PenalizedGPRegressorCV):
            raise InputError(
                f"{self.response_name} was not cross-validated, because it is constant or has too "
                "few runs; this display needs the table of folds, cv_table_."
            )
        raise InputError(
            "this display needs the table of folds, cv_table_, which a PenalizedGPRegressor does "
            "not have; fit a PenalizedGPRegressorCV."
        )

    def metric(self, metric: str | None) -> str:
        """Return the metric's name, by default that of the one which chose lambda."""
        return next(iter(self.table().values)) if metric is None else metric

    def predict(self, X: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return means [m] and ends of intervals [m], [m] at X [m, d]."""
        z = half_width(level)
        with warnings.catch_warnings():
            # The grid is built from the runs' own columns, so names cannot be mixed up.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            mean, std = (self.last(a) for a in self.estimator.predict(X, return_std=True))
        return mean, mean - z * std, mean + z * std

    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper ends [d] of the inputs: as declared, else those of the runs."""
        if self.estimator.input_bounds is None:
            return self.X.min(axis=0), self.X.max(axis=0)
        declared = np.asarray(self.estimator.input_bounds, dtype=np.float64)
        return declared[:, 0], declared[:, 1]

    def input_index(self, which: int | str) -> int:
        """Return the number of an input given by name or number."""
        d = len(self.input_names)
        if isinstance(which, str):
            if which not in self.input_names:
                raise InputError(f"no input {which!r}; there are {', '.join(self.input_names)}.")
            return self.input_names.index(which)
        if not 0 <= which < d:
            raise InputError(f"no input {which}; there are {d}, counted from 0.")
        return int(which)

    def varying_index(self, which: int | str) -> int:
        """Return the number of an input along which the surrogate can be drawn."""
        p = self.input_index(which)
        low, high = self.ranges()
        if low[p] == high[p]:
            raise InputError(
                f"input {self.input_names[p]!r} has the same value, {low[p]:g}, in all runs; "
                "choose an input that varies."
            )
        return p

    def most_active(self, count: int) -> list[int]:
        """Return the numbers of the varying inputs with the largest theta, in column order."""
        low, high = self.ranges()
        used = np.isfinite(self.first(self.estimator.lengthscale_))
        varying = np.flatnonzero((low < high) & used)
        if len(varying) < count:
            raise InputError(
                f"this display needs {count} inputs that vary, but there is {len(varying)}."
            )
        order = np.argsort(-self.theta[varying], kind="stable")
        return sorted(varying[order[:count]].tolist())

    def point(self, at: Point) -> FloatArray:
        """Return the point [d] that a caller describes; by default the mean of the runs."""
        middle = self.X.mean(axis=0)
        if at is None:
            return middle
        if isinstance(at, Mapping):
            for name, value in at.items():
                middle[self.input_index(name)] = value
        else:
            middle = np.asarray(at, dtype=np.float64)
        if middle.shape != self.X.shape[1:] or not np.isfinite(middle).all():
            raise InputError(
                f"at must be finite values by name of input, or all {self.X.shape[1]} of them."
            )
        return middle

    def distance(self, at: FloatArray, free: Sequence[int]) -> FloatArray:
        """Return how far each run [n] is from the slice through ``at`` [d]: 0 on it, up to 1.

        1 - phi(s)^2 with s the sum over the fixed inputs of theta_p (x_p - at_p)^2: the share of
        the response's variance at the run that is left when it is known at the run's projection
        onto the slice. Inputs that do not matter do not count.
        """
        fixed = np.setdiff1d(np.arange(len(at)), free)
        lengthscale = self.first(self.estimator.lengthscale_)[fixed]
        s = (((self.X - at)[:, fixed] / lengthscale) ** 2).sum(axis=1)
        return np.asarray(1.0 - get_kernel(self.estimator.kernel).phi(s) ** 2)
