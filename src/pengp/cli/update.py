"""The command `pengp update`: further runs for a model, and what it said about them before."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.printing import facts, note, number, rendered, show, show_json, table, working

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

    from pengp._core.arrays import BoolArray, FloatArray
    from pengp.cli.models import OpenModel
    from pengp.cli.runs import Runs

_LEVEL = 0.95
#: Probability, under the model, below which new runs contradict it.
_CONTRADICTION = 0.01
#: Rows of the table of new runs that are shown.
_MOST_ROWS = 30


def update(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file from pengp fit.")],
    data: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="Table of new runs, response included; - for stdin."),
    ],
    re_estimate: Annotated[
        bool,
        typer.Option(
            "--re-estimate",
            help="Estimate everything anew from all runs, with the settings of the fit.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Model file to write.",
            show_default="MODEL, replaced",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Teach a model new runs, and show how it had predicted them.

    Without --re-estimate, theta, lambda and sigma2 stay as they are and the model only conditions
    on the new runs.
    """
    from pengp.cli.files import check_destination, write_model
    from pengp.cli.models import open_model
    from pengp.cli.runs import read_runs
    from pengp.cli.summary import Summary, check_one_response
    from pengp.persistence import read_info

    place = output or model
    check_destination(place, data)
    opened, info = open_model(model), read_info(model)["info"]
    check_one_response(opened.estimator)
    new = read_runs(data, opened.responses[0], opened.inputs)
    _check(opened, new)
    comparison = Comparison.of(opened, new)
    with working("Updating ..."):
        updated = _refitted(opened, new, info) if re_estimate else _conditioned(opened, new)
    if not re_estimate and comparison.contradicts():
        note("the new runs contradict the model as it was; estimate it anew with --re-estimate.")
    summary = Summary.of(updated, opened.inputs, opened.responses)
    parts = [*comparison.parts(), "", *summary.parts(), "", facts([("Model", str(place))])]
    text = rendered(*parts)
    write_model(updated, _with_history(info, new, re_estimate=re_estimate), place)
    if as_json:
        show_json({"new_runs": comparison.record(), **summary.record(), "model": str(place)})
    else:
        show(text)


@dataclass(frozen=True, eq=False)
class Comparison:
    """New runs and what a model said about them before it knew them.

    Attributes
    ----------
    new : Runs
        The runs.
    response : str
        Name of their response.
    mean, half : [m]
        Predictions, and half the widths of their intervals.
    rmse_before : float
        Leave-one-out error of the model.
    """

    new: "Runs"
    response: str
    mean: "FloatArray"
    half: "FloatArray"
    rmse_before: float

    @classmethod
    def of(cls, opened: "OpenModel", new: "Runs") -> "Comparison":
        """Predict the new runs."""
        from scipy.stats import norm

        from pengp.choosing.scores import rmse

        mean, std = (values[:, 0] for values in opened.predict(new.X))
        half = norm.ppf(0.5 + 0.5 * _LEVEL) * std
        known = opened.estimator
        before = rmse(known.y_train_, known.loo_.mean)
        return cls(new, opened.responses[0], mean, half, before)

    @property
    def inside(self) -> "BoolArray":
        """Whether each run lies in its interval [m]."""
        import numpy as np

        return np.asarray(np.abs(self.new.y - self.mean) <= self.half)

    def contradicts(self) -> bool:
        """Whether, under the model, it was unlikely to see that many runs outside."""
        from scipy.stats import binom

        m, outside = len(self.new.y), int((~self.inside).sum())
        return outside > 0 and bool(binom.sf(outside - 1, m, 1.0 - _LEVEL) < _CONTRADICTION)

    @property
    def rmse(self) -> float:
        """Root mean squared error of the predictions."""
        from pengp.choosing.scores import rmse

        return rmse(self.new.y, self.mean)

    def parts(self) -> "list[RenderableType]":
        """Return the comparison as texts and a table."""
        m = len(self.new.y)
        rows = [
            [str(row), *(number(v, 5) for v in (y, mean, y - mean)), f"+- {number(half, 3)}", word]
            for row, y, mean, half, word in zip(
                self.new.X.index,
                self.new.y,
                self.mean,
                self.half,
                ("yes" if inside else "no" for inside in self.inside),
                strict=True,
            )
        ]
        heading = ["row", self.response, "predicted", "residual", f"{100 * _LEVEL:g} %", "inside"]
        more = [f"and {m - _MOST_ROWS} more"] if m > _MOST_ROWS else []
        return [
            f"{m} new runs of {self.new.source}, predicted before the model knew them:",
            table(heading, rows[:_MOST_ROWS], left=0),
            *more,
            f"RMSE {number(self.rmse)} (leave-one-out of the model before: "
            f"{number(self.rmse_before)}), {self.inside.sum()} of {m} inside their intervals.",
        ]

    def record(self) -> dict[str, Any]:
        """Return the comparison as numbers."""
        return {
            "source": self.new.source,
            "rows": list(self.new.X.index),
            "response": self.new.y,
            "predicted": self.mean,
            "lower": self.mean - self.half,
            "upper": self.mean + self.half,
            "inside": self.inside,
            "level": _LEVEL,
            "rmse": self.rmse,
            "leave_one_out_rmse_before": self.rmse_before,
        }


def _check(opened: "OpenModel", new: "Runs") -> None:
    """Raise an InputError about runs that the model cannot learn; note extrapolations."""
    import numpy as np

    from pengp.cli.models import Extrapolation
    from pengp.cli.runs import check_bounds, check_new_runs

    model = opened.estimator
    check_new_runs(new, model.X_train_, model.nugget)
    if model.input_bounds is not None:
        check_bounds(new, np.asarray(model.input_bounds, dtype=np.float64))
    outside = Extrapolation(opened)
    outside.count(new.X)
    if sentence := outside.sentence():
        note(sentence)


def _conditioned(opened: "OpenModel", new: "Runs") -> Any:
    """Return the model with further runs, nothing estimated."""
    return opened.estimator.condition_on(_as_fitted(opened, new.X), new.y)


def _refitted(opened: "OpenModel", new: "Runs", info: Mapping[str, Any]) -> Any:
    """Return the model estimated anew from all runs, folds dealt anew."""
    import numpy as np
    import pandas as pd
    from sklearn.base import clone

    from pengp.cli.folds import Folds

    model = clone(opened.estimator)
    rows = np.concatenate([opened.estimator.X_train_, new.X.to_numpy()])
    X = pd.DataFrame(rows, columns=new.X.columns)
    y = np.concatenate([opened.estimator.y_train_, new.y])
    plan = Folds.from_info(info, len(y))
    if "cv" in model.get_params():
        model.set_params(cv=plan.deal(X, y))
    if model.random_state is None:
        model.set_params(random_state=plan.seed)
    return model.fit(_as_fitted(opened, X), y)


def _as_fitted(opened: "OpenModel", X: "pd.DataFrame") -> Any:
    """Return inputs as the model was given them: with names, or without."""
    return X if hasattr(opened.estimator, "feature_names_in_") else X.to_numpy()


def _with_history(info: Mapping[str, Any], new: "Runs", *, re_estimate: bool) -> dict[str, Any]:
    """Return the information about a model with this update added."""
    from pengp.cli.files import command_line, now

    step = {
        "command": command_line(),
        "created": now(),
        "source": new.source,
        "runs": len(new.y),
        "re_estimated": re_estimate,
    }
    return {**info, "history": [*info.get("history", []), step]}
