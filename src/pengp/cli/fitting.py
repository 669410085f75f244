"""What `pengp fit` does: the runs are read and fitted, the model and its report written."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pengp.cli.bounds import input_bounds
from pengp.cli.files import check_destination, check_report
from pengp.cli.headers import names_in_option
from pengp.cli.levels import note_whole
from pengp.cli.noise import check_nugget
from pengp.cli.printing import facts, paragraph, rendered, show, show_json
from pengp.cli.readers import check_there
from pengp.cli.reading import Reading
from pengp.cli.scales import Scales
from pengp.cli.search import Grid
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from pengp.cli.folds import Folds
    from pengp.cli.runs import Runs
    from pengp.cli.summary import Summary
    from pengp.estimators import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV


class Table(NamedTuple):
    """Which runs are fitted: where they stand, their columns and ranges."""

    path: str
    responses: list[str]
    inputs: str | None
    bounds: list[str]
    factors: list[str]
    noise_sd: list[str]
    reading: Reading


class Choice(NamedTuple):
    """How the penalized method chooses lambda, or the one that is given."""

    lam: float | None
    grid: Grid
    metric: str | None
    rule: str | None
    folds: str
    repeats: int | None
    jobs: int | None


ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Model file to write.",
        show_default="the table's name with .pengp, in this directory",
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace the model file if there is one.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Also write a report, an HTML page, or a PDF of it (.pdf).",
    ),
]


@dataclass(frozen=True)
class Files:
    """Which files are written; each field is an option of `fit`."""

    output: ModelOption = None
    force: ForceOption = False
    report: ReportOption = None

    def model(self, table: Table) -> Path:
        """Return the model file, called like the table unless told otherwise."""
        name = "model" if table.path == "-" else Path(table.path).stem
        return self.output or Path(f"{name}.pengp")

    def check(self, table: Table) -> None:
        """Raise an InputError about files that cannot be written, or not unasked."""
        model, read = self.model(table), [table.path, *table.bounds]
        check_destination(model, *read)
        if model.exists() and not self.force:
            raise InputError(
                f"{model} is there already; replace it with --force, or choose another name with "
                "--output."
            )
        if self.report is not None:
            check_report(self.report, *read, model)


def fit_table(
    table: Table,
    scales: Scales,
    settings: dict[str, Any],
    how: Choice | None,
    files: Files,
    tolerance: float | None,
    *,
    as_json: bool,
) -> None:
    """Read the runs, fit them, an average if not told how to choose lambda, write and tell."""
    check_there(table.path)
    from pengp.cli.summary import summaries_of  # with NumPy, once there is something to read

    runs, of_runs = _read(table, scales, settings["nugget"], fewest=3 if how is None else 2)
    from pengp.cli.folds import Folds  # and what it imports, once the table is known to be sound
    from pengp.estimators.view import view_of

    names, seed = table.responses, settings["random_state"]
    info: dict[str, Any] = {"response": names[0] if len(names) == 1 else names}
    info |= {"source": runs.source, "seed": seed}
    info |= {"noise_sd": runs.noise} if runs.noise else {}
    settings = settings | of_runs
    with working(f"Fitting {len(runs.y)} runs ...", quiet=as_json):
        model: Any = None
        if how is None:
            model = _average(runs, **settings)
        elif how.lam is not None:
            model = _at_lambda(runs, how.lam, settings)
        else:
            plan = Folds.of(how.folds, how.repeats, seed, len(runs.y))
            model = _penalized(runs, plan, how, settings)
            info |= plan.record()
        views = [view_of(model, k, response_name=name) for k, name in enumerate(names)]
        summaries = summaries_of(views, tolerance)
    _conclude(summaries, info, files.model(table), files.report, as_json=as_json)


def _read(
    table: Table, scales: Scales, nugget: float | str | None, fewest: int
) -> tuple["Runs", dict[str, Any]]:
    """Return the runs, checked, and the estimators' parameters that speak of their columns."""
    from pengp.cli.runs import check_runs, merge_runs, note_suspects, read_runs

    known: dict[str, Any] = {"factors": table.factors, "fewest": fewest, "noise": table.noise_sd}
    names = names_in_option(table.inputs)
    runs = read_runs(table.path, table.responses, names, **known, reading=table.reading)
    region = input_bounds(runs, table.bounds, table.reading)
    settings = {"input_bounds": region, **scales.settings(runs, table.responses)}
    if names is None:
        note_suspects(runs, settings["input_transforms"] or {})
    check_nugget(runs, nugget)
    check_runs(runs, nugget)
    runs = merge_runs(runs, nugget)
    note_whole(runs, scales.integer or [])
    return runs, settings


def _average(
    runs: "Runs", *, kernel: Any, nugget: Any, mean: Any, **settings: Any
) -> "BayesianGPRegressor":
    """Return the Bayesian average of the runs; what is not given is left to its defaults."""
    from pengp.estimators import BayesianGPRegressor
    from pengp.model.means import LinearMean

    nugget = "sample" if nugget == "estimate" else nugget
    mean = {"constant": "integrated", "linear": LinearMean(1.0)}.get(mean, mean)
    model = BayesianGPRegressor(kernels=kernel, nugget=nugget, mean=mean, **settings)
    return model.fit(runs.X, runs.y, runs.noise_sd)


def _penalized(
    runs: "Runs", plan: "Folds", how: Choice, settings: dict[str, Any]
) -> "PenalizedGPRegressorCV":
    """Return the penalized fit of the runs; what is not given is left to its defaults."""
    from pengp._core.processes import joblib_workers
    from pengp.estimators import PenalizedGPRegressorCV

    chosen: dict[str, Any] = {"metric": how.metric, "rule": how.rule, "lams": how.grid.value}
    given = {name: value for name, value in settings.items() if value is not None}
    model = PenalizedGPRegressorCV(cv=plan.deal(runs.X, runs.y), **given, **chosen, n_jobs=how.jobs)
    with joblib_workers(how.jobs or 1):
        return model.fit(runs.X, runs.y, runs.noise_sd)


def _at_lambda(runs: "Runs", lam: float, settings: dict[str, Any]) -> "PenalizedGPRegressor":
    """Return the penalized fit of the runs at a given lambda."""
    from pengp.estimators import PenalizedGPRegressor

    given = {name: value for name, value in settings.items() if value is not None}
    return PenalizedGPRegressor(lam=lam, **given).fit(runs.X, runs.y, runs.noise_sd)


def _conclude(
    summaries: "list[Summary]",
    info: dict[str, Any],
    place: Path,
    report: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write the files, then tell about the model."""
    from pengp.cli.files import command_line, now, write_model
    from pengp.cli.summary import all_parts, all_records

    next_step = f"pengp predict {shlex.quote(str(place))} new.csv -o predictions.csv"
    written = [("Model", str(place)), *([("Report", str(report))] if report else [])]
    told_last = [("Seed", str(info["seed"])), *written, ("Next", next_step)]
    text = rendered(*all_parts(summaries), "", facts(told_last))
    model, about = summaries[0].view.estimator, {"command": command_line(), "created": now()}
    told = write_model(model, {**info, **about}, place, report)
    if as_json:
        paths = {"model": str(place), "report": None if report is None else str(report)}
        show_json({**all_records(summaries), "seed": info["seed"], **paths})
    else:
        show(text + "".join(f"\n{paragraph(sentence)}\n" for sentence in told))
