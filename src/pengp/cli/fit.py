"""The command `pengp fit`: a surrogate from a table of runs."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pengp.cli.bounds import BOUNDS_HELP, input_bounds
from pengp.cli.choices import choice
from pengp.cli.headers import names_in_option
from pengp.cli.levels import FactorOption, IntegerOption, level_settings, note_whole
from pengp.cli.noise import NoiseOption, check_nugget
from pengp.cli.printing import facts, paragraph, rendered, show, show_json
from pengp.cli.reading import DecimalOption, IgnoreOption, Reading, SheetOption, ThousandsOption
from pengp.cli.scales import LogOption, LogResponseOption, TransformOption, read_scales
from pengp.cli.search import (
    OPTIONS,
    Grid,
    GridOption,
    LambdaOption,
    StartsOption,
    ThetaBoundsOption,
    check_given_lambda,
    search_settings,
)
from pengp.cli.waiting import working
from pengp.exceptions import InputError

if TYPE_CHECKING:
    from pengp.cli.folds import Folds
    from pengp.cli.runs import Runs
    from pengp.cli.summary import Summary
    from pengp.estimators import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV


#: Options of the penalized method alone.
_OF_PENALIZED = {
    **{n: f"--{n}" for n in ("penalty", "metric", "rule", "folds", "repeats", "isotropic")},
    **OPTIONS,
}


class Method(StrEnum):
    """Ways to fit."""

    BAYES = "bayes"
    PENALIZED = "penalized"


def fit(
    ctx: typer.Context,
    data: Annotated[
        str, typer.Argument(metavar="TABLE", help="Table of runs; - for CSV on stdin.")
    ],
    response: Annotated[
        list[str],
        typer.Option(
            "--response",
            "-y",
            metavar="NAME",
            help="Column to be predicted; several, each on its own, if repeated.",
        ),
    ],
    inputs: Annotated[
        str | None,
        typer.Option(
            "--inputs",
            "-x",
            metavar="A,B,...",
            help="Columns that are the inputs.",
            show_default="all others",
        ),
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option("--bounds", "-b", metavar="RANGE|FILE", help=BOUNDS_HELP)
    ] = None,
    log: LogOption = None,
    log_response: LogResponseOption = False,
    transform: TransformOption = None,
    integer: IntegerOption = None,
    factor: FactorOption = None,
    method: Annotated[
        Method,
        typer.Option(
            help="bayes averages over lambda, theta and kernels; penalized chooses one lambda by "
            "cross-validation, as the paper does. The options from --penalty to --isotropic and "
            "from --lambda to --starts belong to penalized and need it."
        ),
    ] = Method.BAYES,
    kernel: Annotated[
        str | None,
        choice(
            "kernel", "Correlation function", "squared exponential and Matern 5/2; penalized: sqexp"
        ),
    ] = None,
    penalty: Annotated[str, choice("penalty", "Penalty on theta")] = "lasso",
    metric: Annotated[
        str | None,
        choice("metric", "What folds are judged by", "dpe; with --nugget estimate: pe"),
    ] = None,
    rule: Annotated[
        str | None, choice("rule", "What chooses lambda", "1se; with --nugget estimate: min")
    ] = None,
    folds: Annotated[
        str,
        typer.Option(
            metavar="K|loo",
            help="Number of folds, or loo to leave out each run in turn; also stratified or "
            "space-filling folds, as in space-filling:4.",
        ),
    ] = "5",
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How often the runs are dealt into folds.",
            show_default="10 for up to 30 runs, else 3",
        ),
    ] = None,
    isotropic: Annotated[
        bool, typer.Option("--isotropic", help="One theta for all inputs.")
    ] = False,
    nugget: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|estimate",
            help="Added to the diagonal of the correlations; bayes averages over estimates.",
            show_default="1e-5; bayes: also 1e-8",
        ),
    ] = None,
    noise_sd: NoiseOption = None,
    mean: Annotated[
        str | None,
        choice("mean", "Prior mean", "zero; bayes: constant, from two inputs on"),
    ] = None,
    lam: LambdaOption = None,
    lambda_grid: GridOption = Grid.PAPER,
    theta_bounds: ThetaBoundsOption = "0.001,1000",
    starts: StartsOption = 10,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the draws, of the folds and of the starts.")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes to use; the result does not depend on it.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Model file to write.",
            show_default="the table's name with .pengp, in this directory",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the model file if there is one.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Also write a report, an HTML page, or a PDF of it (.pdf).",
        ),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="Largest error that does no harm, in the unit of the response: is the surrogate "
            "good enough for it, and how many more runs does it take?"
        ),
    ] = None,
    decimal: DecimalOption = None,
    thousands: ThousandsOption = None,
    sheet: SheetOption = None,
    ignore: IgnoreOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Fit a surrogate to a table of runs and write it to a model file.

    The table has one run a row: inputs and response, in any units. Nothing is chosen that few runs
    cannot tell: the surrogate is an average, unless --method penalized asks for one lambda.
    """
    from pengp.cli.files import check_destination, check_report
    from pengp.cli.readers import check_there

    reading = Reading(decimal, thousands, sheet, ignore or ())
    place = output or Path(f"{'model' if data == '-' else Path(data).stem}.pengp")
    read = [data, *(bounds or [])]
    check_destination(place, *read)
    _check_new_file(place, force=force)
    _check_method(ctx, method)
    if tolerance is not None and not 0.0 < tolerance < float("inf"):
        raise InputError(f"--tolerance {tolerance:g} is no number above 0.")
    check_given_lambda(ctx, lam)
    searching = search_settings(theta_bounds, starts)
    if report is not None:
        check_report(report, *read, place)
    fewest = 3 if method is Method.BAYES else 2
    _check_responses(response, tolerance)
    names, factors = names_in_option(inputs), factor or []
    known: dict[str, Any] = {"factors": factors, "fewest": fewest, "reading": reading}
    check_there(data)
    from pengp.cli.runs import check_runs, merge_runs, note_suspects, read_runs
    from pengp.cli.summary import summaries_of

    runs = read_runs(data, response, names, **known, noise=noise_sd or [])
    region = input_bounds(runs, bounds or [], reading)
    from pengp.cli.folds import Folds  # and what it imports, once the table is known to be sound
    from pengp.estimators.view import view_of

    scales = read_scales(runs, response, log, log_response, transform)
    if names is None:
        note_suspects(runs, scales["input_transforms"] or {})
    scales |= level_settings(runs, integer or [])
    given: dict[str, Any] = {"kernel": kernel, "nugget": _nugget(nugget), "mean": mean}
    check_nugget(runs, given["nugget"])
    check_runs(runs, given["nugget"])
    runs = merge_runs(runs, given["nugget"])
    note_whole(runs, integer or [])
    model: Any = None
    named = response[0] if len(response) == 1 else response
    info: dict[str, Any] = {"response": named, "source": runs.source, "seed": seed}
    info |= {"noise_sd": runs.noise} if runs.noise else {}
    with working(f"Fitting {len(runs.y)} runs ...", quiet=as_json):
        if method is Method.BAYES:
            model = _average(runs, given, input_bounds=region, **scales, random_state=seed)
        else:
            given |= {"penalty": penalty, "isotropic": isotropic, **searching}
            given |= {"input_bounds": region, **scales, "random_state": seed}
            if lam is None:
                plan = Folds.of(folds, repeats, seed, len(runs.y))
                own = {"metric": metric, "rule": rule, "lams": lambda_grid.value, "n_jobs": jobs}
                model = _penalized(runs, plan, given, **own)
                info |= plan.record()
            else:
                model = _at_lambda(runs, lam, given)
        views = [view_of(model, k, response_name=name) for k, name in enumerate(response)]
        summaries = summaries_of(views, tolerance)
    _conclude(summaries, info, place, report, as_json=as_json)


def _average(runs: "Runs", given: dict[str, Any], **settings: Any) -> "BayesianGPRegressor":
    """Return the Bayesian average of the runs; what is not given is left to its defaults."""
    from pengp.estimators import BayesianGPRegressor
    from pengp.model.means import LinearMean

    words: dict[Any, Any] = {
        "estimate": "sample",
        "constant": "integrated",
        "linear": LinearMean(1.0),
    }
    nugget, mean = (words.get(given[name], given[name]) for name in ("nugget", "mean"))
    model = BayesianGPRegressor(kernels=given["kernel"], nugget=nugget, mean=mean, **settings)
    return model.fit(runs.X, runs.y, runs.noise_sd)


def _penalized(
    runs: "Runs", plan: "Folds", given: dict[str, Any], **settings: Any
) -> "PenalizedGPRegressorCV":
    """Return the penalized fit of the runs; what is not given is left to its defaults."""
    from pengp._core.processes import joblib_workers
    from pengp.estimators import PenalizedGPRegressorCV

    chosen = {name: value for name, value in given.items() if value is not None}
    model = PenalizedGPRegressorCV(cv=plan.deal(runs.X, runs.y), **chosen, **settings)
    with joblib_workers(settings["n_jobs"] or 1):
        return model.fit(runs.X, runs.y, runs.noise_sd)


def _at_lambda(runs: "Runs", lam: float, given: dict[str, Any]) -> "PenalizedGPRegressor":
    """Return the penalized fit of the runs at a given lambda."""
    from pengp.estimators import PenalizedGPRegressor

    chosen = {name: value for name, value in given.items() if value is not None}
    return PenalizedGPRegressor(lam=lam, **chosen).fit(runs.X, runs.y, runs.noise_sd)


def _check_responses(responses: list[str], tolerance: float | None) -> None:
    """Raise an InputError about a response that is named twice, or one tolerance for several."""
    if len(set(responses)) < len(responses):
        raise InputError("a column is named twice by --response; name each once.")
    if len(responses) > 1 and tolerance is not None:
        raise InputError("--tolerance is in the unit of one response; fit one at a time for it.")


def _check_new_file(place: Path, *, force: bool) -> None:
    """Refuse to replace a model file unasked."""
    if place.exists() and not force:
        raise InputError(
            f"{place} is there already; replace it with --force, or choose another name with "
            "--output."
        )


def _check_method(ctx: typer.Context, method: Method) -> None:
    """Raise where an option would have no effect."""
    given = [option for name, option in _OF_PENALIZED.items() if _was_given(ctx, name)]
    if given and method is Method.BAYES:
        verb, them = ("belongs", "it") if len(given) == 1 else ("belong", "them")
        raise InputError(
            f"{', '.join(given)} {verb} to the choice of one lambda; add --method penalized, or "
            f"leave {them} out for the average, which chooses none."
        )


def _was_given(ctx: typer.Context, name: str) -> bool:
    """Tell whether an option was written, and not left to its default."""
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _nugget(text: str | None) -> float | str | None:
    """Return the nugget, a number or the word estimate; None if it is not given."""
    try:
        return text if text in (None, "estimate") else float(text or "")
    except ValueError:
        raise InputError(
            f"--nugget {text}: write a number such as 1e-5, or the word estimate."
        ) from None


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
    files = [("Model", str(place)), *([("Report", str(report))] if report else [])]
    text = rendered(
        *all_parts(summaries), "", facts([("Seed", str(info["seed"])), *files, ("Next", next_step)])
    )
    model, about = summaries[0].view.estimator, {"command": command_line(), "created": now()}
    told = write_model(model, {**info, **about}, place, report)
    if as_json:
        paths = {"model": str(place), "report": None if report is None else str(report)}
        show_json({**all_records(summaries), "seed": info["seed"], **paths})
    else:
        show(text + "".join(f"\n{paragraph(sentence)}\n" for sentence in told))
