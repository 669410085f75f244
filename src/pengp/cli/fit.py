"""The command `pengp fit`: a surrogate from a table of runs."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from pengp.cli.bounds import BoundsOption
from pengp.cli.choices import choice
from pengp.cli.fitting import Choice, Files, Table, fit_table
from pengp.cli.levels import FactorOption
from pengp.cli.noise import NoiseOption
from pengp.cli.options import InputsOption, JsonOption
from pengp.cli.reading import Reading
from pengp.cli.scales import Scales
from pengp.cli.search import (
    OPTIONS,
    FoldsOption,
    Grid,
    GridOption,
    IsotropicOption,
    LambdaOption,
    MetricOption,
    PenaltyOption,
    RepeatsOption,
    RuleOption,
    StartsOption,
    ThetaBoundsOption,
    check_given_lambda,
    given_options,
    search_settings,
)
from pengp.exceptions import InputError


class Method(StrEnum):
    """Ways to fit."""

    BAYES = "bayes"
    PENALIZED = "penalized"


MethodOption = Annotated[
    Method,
    typer.Option(
        "--method",
        help="bayes averages over lambda, theta and kernels; penalized chooses one lambda by "
        "cross-validation, as the paper does. The options from --penalty to --isotropic and "
        "from --lambda to --starts belong to penalized and need it.",
    ),
]
KernelOption = Annotated[
    str | None,
    choice(
        "kernel",
        "Correlation function",
        "squared exponential, and radial, product and nearly additive Matern 5/2; penalized: sqexp",
    ),
]
NuggetOption = Annotated[
    str | None,
    typer.Option(
        "--nugget",
        metavar="NUMBER|estimate",
        help="Added to the diagonal of the correlations; with estimate, bayes averages over "
        "nuggets and penalized takes the likeliest.",
        show_default="1e-5; bayes: also 1e-8",
    ),
]
MeanOption = Annotated[
    str | None, choice("mean", "Prior mean", "zero; bayes: constant, from two inputs on")
]
ResponsesOption = Annotated[
    list[str],
    typer.Option(
        "--response",
        "-y",
        metavar="NAME",
        help="Column to be predicted; several, each on its own, if repeated.",
    ),
]
RunsTable = Annotated[
    str, typer.Argument(metavar="TABLE", help="Table of runs; - for CSV on stdin.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, help="Seed of the draws, of the folds and of the starts.")
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="Processes to use; the result does not depend on it."),
]
ToleranceOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        help="Largest error that does no harm, in the unit of the response: is the surrogate "
        "good enough for it, and how many more runs does it take?",
    ),
]


def fit(
    ctx: typer.Context,
    data: RunsTable,
    response: ResponsesOption,
    *,
    inputs: InputsOption = None,
    bounds: BoundsOption = None,
    scales: Scales,
    factor: FactorOption = None,
    method: MethodOption = Method.BAYES,
    kernel: KernelOption = None,
    penalty: PenaltyOption = "lasso",
    metric: MetricOption = None,
    rule: RuleOption = None,
    folds: FoldsOption = "5",
    repeats: RepeatsOption = None,
    isotropic: IsotropicOption = False,
    nugget: NuggetOption = None,
    noise_sd: NoiseOption = None,
    mean: MeanOption = None,
    lam: LambdaOption = None,
    lambda_grid: GridOption = Grid.PAPER,
    theta_bounds: ThetaBoundsOption = "0.001,1000",
    starts: StartsOption = 10,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    files: Files,
    tolerance: ToleranceOption = None,
    reading: Reading,
    as_json: JsonOption = False,
) -> None:
    """Fit a surrogate to a table of runs and write it to a model file.

    The table has one run a row: inputs and response, in any units. Nothing is chosen that few runs
    cannot tell: the surrogate is an average, unless --method penalized asks for one lambda.
    """
    table = Table(data, response, inputs, bounds or [], factor or [], noise_sd or [], reading)
    files.check(table)
    _check_method(ctx, method)
    _check_responses(response, tolerance)
    check_given_lambda(ctx, lam)
    settings: dict[str, Any] = {"kernel": kernel, "nugget": _nugget(nugget), "mean": mean}
    settings["random_state"] = seed
    how = None
    if method is Method.PENALIZED:
        how = Choice(lam, lambda_grid, metric, rule, folds, repeats, jobs)
        settings |= {"penalty": penalty, "isotropic": isotropic}
        settings |= search_settings(theta_bounds, starts)
    fit_table(table, scales, settings, how, files, tolerance, as_json=as_json)


def _check_responses(responses: list[str], tolerance: float | None) -> None:
    """Raise an InputError about a response that is named twice, or a tolerance that is none."""
    if tolerance is not None and not 0.0 < tolerance < float("inf"):
        raise InputError(f"--tolerance {tolerance:g} is no number above 0.")
    if len(set(responses)) < len(responses):
        raise InputError("a column is named twice by --response; name each once.")
    if len(responses) > 1 and tolerance is not None:
        raise InputError("--tolerance is in the unit of one response; fit one at a time for it.")


def _check_method(ctx: typer.Context, method: Method) -> None:
    """Raise where an option would have no effect."""
    given = given_options(ctx, OPTIONS)
    if given and method is Method.BAYES:
        verb, them = ("belongs", "it") if len(given) == 1 else ("belong", "them")
        raise InputError(
            f"{', '.join(given)} {verb} to the choice of one lambda; add --method penalized, or "
            f"leave {them} out for the average, which chooses none."
        )


def _nugget(text: str | None) -> float | str | None:
    """Return the nugget, a number or the word estimate; None if it is not given."""
    try:
        return text if text in (None, "estimate") else float(text or "")
    except ValueError:
        raise InputError(
            f"--nugget {text}: write a number such as 1e-5, or the word estimate."
        ) from None
