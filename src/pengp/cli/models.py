"""A model file opened for prediction: its names, its predictions, and where it extrapolates."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pengp.cli.printing import note
from pengp.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

    from pengp._core.arrays import BoolArray, FloatArray, IntArray
    from pengp.estimators.view import FittedView

__all__ = [
    "Extrapolation",
    "as_fitted",
    "check_inputs",
    "check_level",
    "interval_all",
    "one_view",
    "open_model",
    "other_choice",
    "predict_all",
]

#: Relative distance from which on another lambda than that asked for is told.
_TOLD = 0.01


def open_model(path: Path, *tables: str) -> "list[FittedView]":
    """Return the view of each response in a model file.

    Names that it does not hold become x1, x2, ... and response. Tables that are to be read next and
    are not there are told first, before much is imported.
    """
    from pengp.cli.readers import check_there

    for table in tables:
        check_there(table)
    from pengp.persistence import load, read_info

    info, estimator = read_info(path)["info"], load(path)
    from pengp.estimators.view import count_outputs, view_of

    given, q = info.get("response", "response"), count_outputs(estimator)
    names = [str(name) for name in given] if isinstance(given, list) else [str(given)]
    if len(names) != q:
        names = [f"{names[0]}_{k + 1}" for k in range(q)]
    return [view_of(estimator, k, response_name=name) for k, name in enumerate(names)]


def check_inputs(view: "FittedView", frame: "pd.DataFrame", source: str) -> None:
    """Raise an InputError if an input of the frame, rows as in the file, has no transform."""
    from pengp.cli.scales import check_domains

    check_domains(source, frame, dict(zip(view.names, view.input_transforms, strict=True)))


def other_choice(
    views: "list[FittedView]", lam: float | None, mode: int | None
) -> "list[FittedView]":
    """Return the views at another lambda of the path, and at another mode there, if wanted."""
    import numpy as np

    from pengp.estimators.view import view_of

    estimator: Any = views[0].estimator
    asked = [word for word, value in (("--lambda", lam), ("--mode", mode)) if value is not None]
    if not asked:
        return views
    if not views[0].is_penalized:
        raise InputError(
            f"{asked[0]} belongs to models of one lambda, and this one is an average; fit one with "
            "pengp fit --method penalized."
        )
    if lam is not None:
        lams = views[0].path.lams
        nearest = float(lams[np.abs(lams - lam).argmin()])
        if abs(nearest - lam) > _TOLD * max(lam, nearest):
            note(f"of the {len(lams)} values of lambda that were tried, {nearest:.4g} is nearest.")
        estimator = estimator.at_lambda(nearest)
    if mode is not None:
        estimator = estimator.at_mode(mode)
    return [view_of(estimator, view.output, view.names, view.response) for view in views]


def one_view(path: Path, response: str | None) -> "FittedView":
    """Return the view of one response of a model file, which need be named if there are several."""
    views = open_model(path)
    chosen = [view for view in views if response in (None, view.response)]
    if len(chosen) != 1:
        known = ", ".join(view.response for view in views)
        raise InputError(f"{path} has the responses {known}; name one of them with --response.")
    return chosen[0]


def as_fitted(view: "FittedView", frame: "pd.DataFrame") -> Any:
    """Return inputs as the model was given them: with names, or without."""
    return frame if hasattr(view.estimator, "feature_names_in_") else frame.to_numpy()


def predict_all(
    views: "list[FittedView]", frame: "pd.DataFrame"
) -> "tuple[FloatArray, FloatArray]":
    """Return means and standard deviations of all responses, each [m, q], at the inputs [m, d]."""
    mean, std = views[0].estimator.predict(as_fitted(views[0], frame), return_std=True)
    return mean.reshape(len(frame), -1), std.reshape(len(frame), -1)


def interval_all(
    views: "list[FittedView]", frame: "pd.DataFrame", level: float, intervals: str = "model"
) -> "tuple[FloatArray, FloatArray]":
    """Return the ends of the intervals of all responses, each [m, q], at the inputs [m, d]."""
    X = as_fitted(views[0], frame)
    lower, upper = views[0].estimator.predict_interval(X, level, intervals)
    return lower.reshape(len(frame), -1), upper.reshape(len(frame), -1)


def check_level(level: float) -> None:
    """Raise an InputError unless an interval can have this level."""
    if not 0.0 < level < 1.0:
        hint = f"; did you mean {level / 100:g}?" if 1.0 < level < 100.0 else ", such as 0.95."
        raise InputError(f"--level {level:g} does not lie between 0 and 1{hint}")


class Extrapolation:
    """Counts rows outside the range of the runs, or outside the bounds that were declared for fit.

    Parameters
    ----------
    view : FittedView
        Of the model whose range counts.
    """

    def __init__(self, view: "FittedView") -> None:
        import numpy as np

        declared = view.estimator.input_bounds is not None
        self._names, (self.lower, self.upper) = view.names, view.ranges
        self._what = "the bounds given to fit" if declared else "the range of the runs"
        self.rows, self.rows_outside = 0, 0
        self.outside: IntArray = np.zeros(len(self._names), dtype=np.int64)

    def count(self, frame: "pd.DataFrame") -> "BoolArray":
        """Add the inputs frame [m, d]; return which of its rows lie outside [m]."""
        import numpy as np

        X = frame.to_numpy()
        outside = (self.lower > X) | (self.upper < X)
        self.rows += len(X)
        self.rows_outside += int(outside.any(axis=1).sum())
        self.outside += outside.sum(axis=0)
        return np.asarray(outside.any(axis=1))

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
