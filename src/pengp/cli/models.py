"""A model file opened for prediction: its names, its predictions, and where it extrapolates."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import FloatArray, IntArray

__all__ = ["Extrapolation", "OpenModel", "check_level", "open_model"]


@dataclass(frozen=True, eq=False)
class OpenModel:
    """A fitted estimator and the names that go with it.

    Attributes
    ----------
    estimator : PenalizedGPRegressor or PenalizedGPRegressorCV
        Fitted.
    inputs : list of d strings
        Names of the inputs, in the estimator's order.
    responses : list of q strings
        Names of the outputs.
    """

    estimator: Any
    inputs: list[str]
    responses: list[str]

    def predict(self, frame: "pd.DataFrame") -> "tuple[FloatArray, FloatArray]":
        """Return means and standard deviations, each [m, q], at the inputs frame [m, d]."""
        named = hasattr(self.estimator, "feature_names_in_")
        X = frame if named else frame.to_numpy()
        mean, std = self.estimator.predict(X, return_std=True)
        return mean.reshape(len(frame), -1), std.reshape(len(frame), -1)


def open_model(path: Path) -> OpenModel:
    """Read a model file; names that it does not hold become x1, x2, ... and response."""
    from pengp.persistence import load, read_info

    estimator, info = load(path), read_info(path)["info"]
    d = estimator.n_features_in_
    q = 1 if estimator.y_train_.ndim == 1 else estimator.y_train_.shape[1]
    inputs = getattr(estimator, "feature_names_in_", [f"x{p + 1}" for p in range(d)])
    given = info.get("response", "response")
    names = [str(name) for name in given] if isinstance(given, list) else [str(given)]
    if len(names) != q:
        names = [f"{names[0]}_{k + 1}" for k in range(q)]
    return OpenModel(estimator, [str(name) for name in inputs], names)


def check_level(level: float) -> None:
    """Raise an InputError unless an interval can have this level."""
    if not 0.0 < level < 1.0:
        hint = f"; did you mean {level / 100:g}?" if 1.0 < level < 100.0 else ", such as 0.95."
        raise InputError(f"--level {level:g} does not lie between 0 and 1{hint}")


class Extrapolation:
    """Counts rows outside the range of the runs, or outside the bounds that were declared for fit.

    Parameters
    ----------
    model : OpenModel
        Whose range counts.
    """

    def __init__(self, model: OpenModel) -> None:
        import numpy as np

        X, declared = model.estimator.X_train_, model.estimator.input_bounds
        self._names = model.inputs
        self._what = "the range of the runs" if declared is None else "the bounds given to fit"
        lower, upper = (X.min(0), X.max(0)) if declared is None else np.transpose(declared)
        self.lower: FloatArray = np.asarray(lower, dtype=np.float64)
        self.upper: FloatArray = np.asarray(upper, dtype=np.float64)
        self.rows, self.rows_outside = 0, 0
        self.outside: IntArray = np.zeros(len(self._names), dtype=np.int64)

    def count(self, frame: "pd.DataFrame") -> None:
        """Add the inputs frame [m, d]."""
        X = frame.to_numpy()
        outside = (self.lower > X) | (self.upper < X)
        self.rows += len(X)
        self.rows_outside += int(outside.any(axis=1).sum())
        self.outside += outside.sum(axis=0)

    def sentence(self) -> str:
        """Say how many rows lie outside, and in which inputs; nothing if none does."""
        if not self.rows_outside:
            return ""
        several = (self.outside > 0).sum() > 1
        where = [
            f"{name} ({low:g} to {high:g}" + (f": {count:,} rows)" if several else ")")
            for name, low, high, count in zip(
                self._names, self.lower, self.upper, self.outside, strict=True
            )
            if count
        ]
        return (
            f"{self.rows_outside:,} of {self.rows:,} rows lie outside {self._what} in "
            f"{', '.join(where)}; predictions there are extrapolations."
        )

    def record(self) -> dict[str, Any]:
        """Return the counts for JSON."""
        inputs = {
            name: {"rows": count, "lower": low, "upper": high}
            for name, count, low, high in zip(
                self._names, self.outside, self.lower, self.upper, strict=True
            )
            if count
        }
        return {"rows": self.rows_outside, "inputs": inputs}
