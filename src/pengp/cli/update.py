"""The command `pengp update`: further runs for a model, and what it said about them before."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.noise import LikeFitOption
from pengp.cli.options import JsonOption, ModelFile
from pengp.cli.printing import facts, note, number, rendered, show, show_json, table
from pengp.cli.reading import Reading
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pengp._core.arrays import BoolArray, FloatArray
    from pengp.cli.runs import Runs
    from pengp.cli.summary import Summary
    from pengp.estimators.view import FittedView

_LEVEL = 0.95
#: Rows of the table of new runs that are shown.
_MOST_ROWS = 30


NewRunsTable = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="Table of new runs, response included; - for stdin."),
]
ReEstimateOption = Annotated[
    bool,
    typer.Option(
        "--re-estimate",
        help="Estimate everything anew from all runs, with the settings of the fit.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Model file to write.",
        show_default="MODEL, replaced",
    ),
]


def update(
    model: ModelFile,
    data: NewRunsTable,
    *,
    re_estimate: ReEstimateOption = False,
    output: OutputOption = None,
    noise_sd: LikeFitOption = None,
    reading: Reading,
    as_json: JsonOption = False,
) -> None:
    """Teach a model new runs, and show how it had predicted them.

    Without --re-estimate the model only conditions on the new runs: theta, lambda and sigma2 stay
    as they are, and the processes of an average are weighted anew.
    """
    from pengp.cli.files import check_destination, write_model
    from pengp.cli.levels import levels_in
    from pengp.cli.models import open_model
    from pengp.cli.noise import noise_of_model
    from pengp.cli.runs import read_runs
    from pengp.cli.summary import summaries_of
    from pengp.persistence import read_info

    place = output or model
    check_destination(place, data)
    info, views = read_info(model)["info"], open_model(model, data)
    from pengp.estimators.view import view_of

    view, responses = views[0], [view.response for view in views]
    noise = noise_sd or noise_of_model(info, responses)
    _check_noise(view, noise, re_estimate=re_estimate)
    known: dict[str, Any] = {"factors": levels_in(view), "reading": reading, "noise": noise}
    new = read_runs(data, responses, view.names, **known)
    _check(views, new)
    compared = [Comparison.of(view, one) for view, one in zip(views, new.each(), strict=True)]
    with working("Updating ...", quiet=as_json):
        updated = _refitted(view, new, info) if re_estimate else _conditioned(view, new)
        again = [view_of(updated, k, view.names, name) for k, name in enumerate(responses)]
        summaries = summaries_of(again)
    if not re_estimate and any(comparison.contradicts() for comparison in compared):
        note("the new runs contradict the model as it was; estimate it anew with --re-estimate.")
    write_model(updated, _with_history(info, new, re_estimate=re_estimate), place)
    _tell(compared, summaries, place, as_json=as_json)


@dataclass(frozen=True, eq=False)
class Comparison:
    """New runs and what a model said about them before it knew them.

    Attributes
    ----------
    new : Runs
        The runs.
    response : str
        Name of their response.
    mean, lower, upper : [m]
        Predictions, and the ends of their intervals.
    rmse_before : float
        Error of the model on its own runs, held out; nan where none could be.
    """

    new: "Runs"
    response: str
    mean: "FloatArray"
    lower: "FloatArray"
    upper: "FloatArray"
    rmse_before: float

    @classmethod
    def of(cls, view: "FittedView", new: "Runs") -> "Comparison":
        """Predict the new runs."""
        held_out = view.held_out(_LEVEL)
        before = float("nan") if held_out is None else held_out.scores()["rmse"]
        predicted = view.predict(new.X.to_numpy(), _LEVEL)
        if new.noise_sd is not None:
            ends = view.law(new.X.to_numpy(), new.noise_sd).interval(_LEVEL)
            predicted = (predicted[0], ends[:, 0], ends[:, 1])
        return cls(new, view.response, *predicted, before)

    @property
    def inside(self) -> "BoolArray":
        """Whether each run lies in its interval [m]."""
        import numpy as np

        return np.asarray((self.lower <= self.new.y) & (self.new.y <= self.upper))

    def contradicts(self) -> bool:
        """Whether the new runs contradict the intervals."""
        from pengp.diagnostics import IntervalCheck

        return IntervalCheck(int(self.inside.sum()), len(self.new.y), _LEVEL).contradicted

    @property
    def rmse(self) -> float:
        """Root mean squared error of the predictions."""
        from pengp.choosing.scores import rmse

        return rmse(self.new.y, self.mean)

    def parts(self) -> "list[RenderableType]":
        """Return the comparison as texts and a table."""
        m = len(self.new.y)
        rows = [
            [
                str(row),
                *(number(v, 5) for v in (y, mean, y - mean)),
                f"{number(lower)} to {number(upper)}",
                word,
            ]
            for row, y, mean, lower, upper, word in zip(
                self.new.X.index,
                self.new.y,
                self.mean,
                self.lower,
                self.upper,
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
            f"RMSE {number(self.rmse)} (held-out runs of the model before: "
            f"{number(self.rmse_before)}), {self.inside.sum()} of {m} inside their intervals.",
        ]

    def record(self) -> dict[str, Any]:
        """Return the comparison as numbers."""
        return {
            "source": self.new.source,
            "rows": list(self.new.X.index),
            "response": self.new.y,
            "predicted": self.mean,
            "lower": self.lower,
            "upper": self.upper,
            "inside": self.inside,
            "level": _LEVEL,
            "rmse": self.rmse,
            "held_out_rmse_before": self.rmse_before,
        }


def _tell(
    compared: list[Comparison], summaries: "list[Summary]", place: Path, *, as_json: bool
) -> None:
    """Tell what became of the new runs, and about the model that knows them."""
    from pengp.cli.summary import all_parts, all_records

    if as_json:
        records = [comparison.record() for comparison in compared]
        shown = records[0] if len(records) == 1 else records
        show_json({"new_runs": shown, **all_records(summaries), "model": str(place)})
        return
    parts = [part for comparison in compared for part in (*comparison.parts(), "")]
    show(rendered(*parts, *all_parts(summaries), "", facts([("Model", str(place))])))


def _check(views: "list[FittedView]", new: "Runs") -> None:
    """Raise an InputError about runs that the model cannot learn; note extrapolations."""
    import numpy as np

    from pengp.cli.models import Extrapolation, check_inputs
    from pengp.cli.runs import check_bounds, check_new_runs
    from pengp.cli.scales import check_domains

    view = views[0]
    check_inputs(view, new.X, new.source)
    for one, runs in zip(views, new.each(), strict=True):
        column = new.X.assign(**{one.response: runs.y})
        check_domains(new.source, column, {one.response: one.response_transform})
    check_new_runs(new, view.X, view.estimator.nugget)
    if view.estimator.input_bounds is not None:
        check_bounds(new, np.transpose(view.ranges))
    outside = Extrapolation(view)
    outside.count(new.X)
    if sentence := outside.sentence():
        note(sentence)


def _conditioned(view: "FittedView", new: "Runs") -> Any:
    """Return the model with further runs, nothing estimated."""
    from pengp.cli.models import as_fitted

    sd = 0.0 if view.noise_sd is not None and new.noise_sd is None else new.noise_sd
    return view.estimator.condition_on(as_fitted(view, new.X), new.y, sd)


def _refitted(view: "FittedView", new: "Runs", info: Mapping[str, Any]) -> Any:
    """Return the model estimated anew from all runs, folds dealt anew."""
    import numpy as np
    import pandas as pd
    from sklearn.base import clone

    from pengp.cli.folds import Folds
    from pengp.cli.models import as_fitted
    from pengp.cli.runs import merge_runs

    model = clone(view.estimator)
    X = pd.DataFrame(np.concatenate([view.X, new.X.to_numpy()]), columns=new.X.columns)
    y = np.concatenate([view.estimator.y_train_, new.y])
    runs = replace(new, X=X, y=y, noise_sd=_all_noise(view, new))
    runs = merge_runs(runs, view.estimator.nugget)
    plan = Folds.from_info(info, len(runs.y))
    if "cv" in model.get_params():
        model.set_params(cv=plan.deal(runs.X, runs.y))
    if model.random_state is None:
        model.set_params(random_state=plan.seed)
    return model.fit(as_fitted(view, runs.X), runs.y, runs.noise_sd)


def _check_noise(view: "FittedView", noise: Any, *, re_estimate: bool) -> None:
    """Raise an InputError if the new runs have noise and the model's had none, or vice versa."""
    if view.noise_sd is not None and not noise:
        raise InputError(
            "the model was fitted with known noise; give that of the new runs with --noise-sd, 0 "
            "for runs without noise."
        )
    if view.noise_sd is None and noise and not re_estimate:
        raise InputError(
            "the model was fitted without noise, and so its estimates are; add --re-estimate to "
            "fit it anew with the noise of the new runs."
        )


def _all_noise(view: "FittedView", new: "Runs") -> Any:
    """Return the noise of all runs, those of the model first; None if there is none."""
    import numpy as np

    known, sd = view.estimator.noise_sd_, new.noise_sd
    if known is None and sd is None:
        return None
    parts = (known, view.estimator.y_train_), (sd, new.y)
    return np.concatenate([np.zeros(y.shape) if sd is None else sd for sd, y in parts])


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
