"""The paper's tables and the numbers behind its figures: which there are, and how they are made."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from pengp.study import tabulated
from pengp.study.decisions import effect_coverage
from pengp.study.methods.summary import (
    by_function,
    by_response,
    overview,
    piston_slap,
    simulator_summary,
    summary,
)
from pengp.study.next_runs import ratios
from pengp.study.report_rows import MissingRowsError, Rows


@dataclass(frozen=True)
class Table:
    """A table of the report.

    Attributes
    ----------
    name : str
        Name of its CSV file, without the ending.
    study : str
        The study whose rows it holds.
    title, shows : str
        A few words; what its columns are.
    make : callable
        From `Rows` to a DataFrame; raises MissingRowsError if rows are missing.
    """

    name: str
    study: str
    title: str
    shows: str
    make: Callable[[Rows], pd.DataFrame]


TABLES = (
    Table(
        "forrester-estimates",
        "forrester",
        "Estimates behind Figure 1",
        "θ̂ of the paper and ours, σ² and g of the surrogates.",
        tabulated.surrogates,
    ),
    Table(
        "forrester-choices",
        "forrester",
        "Chosen λ",
        "λ* and λ_1SE of n-fold CV, and of the random draws of four folds.",
        tabulated.choices,
    ),
    Table(
        "forrester-partitions",
        "forrester",
        "All 105 partitions into four pairs",
        "How many of them choose each λ, for each metric and rule.",
        tabulated.partitions,
    ),
    Table(
        "simulation-settings",
        "simulation",
        "Table 1: simulation settings",
        "Inputs, runs and test runs of each function.",
        tabulated.settings,
    ),
    *(
        Table(
            f"{study}-scores",
            study,
            "Scores relative to pMLE*",
            "Mean, standard error and median over the repetitions of score / score of pMLE* - 1; "
            "the last column is the mean score itself, in the response's unit.",
            partial(tabulated.scores, study=study),
        )
        for study in ("simulation", "simulation-scad")
    ),
    Table(
        "piston-slap-runs",
        "piston-slap",
        "The training runs of Appendix D",
        "Six inputs and the noise.",
        tabulated.piston_slap_table,
    ),
    *(
        Table(
            f"piston-slap-{model}-estimates",
            "piston-slap",
            f"Estimates, {model} model",
            "The paper's table beside ours, at the λ of the grid that the paper prints.",
            partial(tabulated.estimates, model=model),
        )
        for model in ("isotropic", "anisotropic")
    ),
    Table(
        "piston-slap-test-scores",
        "piston-slap",
        "Scores on the test runs",
        "RMSE, CRPS and coverage of the 95 % intervals; responses standardised by the training "
        "runs.",
        tabulated.runs_scores,
    ),
    Table(
        "decisions-effects",
        "decisions",
        "Intervals of Sobol indices",
        "Share of the 90 % intervals that contain the true index, and their mean width.",
        effect_coverage,
    ),
    Table(
        "methods-overview",
        "methods",
        "Ways to fit, both halves",
        "RMSE / CRPS / interval score as 100 times the mean log ratio to maximum likelihood, "
        "negative is better, with the standard error of the CRPS and its worst problem; coverage "
        "of 95 % intervals, with the lowest; seconds of a fit with its predictions.",
        overview,
    ),
    Table(
        "methods-summary",
        "methods",
        "Ways to fit",
        "100 times the mean log ratio of each score to that of maximum likelihood, negative is "
        "better, with standard errors and the worst function; coverage of 95 % intervals.",
        summary,
    ),
    Table(
        "methods-functions",
        "methods",
        "Ways to fit, function by function",
        "The same for each function.",
        by_function,
    ),
    Table(
        "methods-piston-slap",
        "methods",
        "Ways to fit, piston slap",
        "RMSE, CRPS, coverage and interval score on the test runs; responses standardised by the "
        "training runs.",
        piston_slap,
    ),
    Table(
        "methods-real-responses",
        "methods-real",
        "Ways to fit, response by response",
        "The same for each response and number of runs: simulator.response.runs.",
        by_response,
    ),
    Table(
        "methods-real-summary",
        "methods-real",
        "Ways to fit, real simulators",
        "The same over the responses and sizes of real simulators.",
        simulator_summary,
    ),
    Table(
        "next-runs",
        "decisions",
        "Next runs",
        "100 times the mean log ratio of the RMSE after the runs were doubled from 2d to 4d, with "
        "its standard error; negative is better.",
        ratios,
    ),
    Table(
        "fold-designs",
        "folds",
        "Structured folds",
        "100 times the mean log ratio of test scores to those of other folds, with its standard "
        "error over the repetitions; negative is better.",
        tabulated.fold_ways,
    ),
    Table(
        "printed-functions",
        "limits",
        "Functions as Appendix C prints them",
        "Printed over usual value (median), their correlation, and the share of 1000 inputs "
        "without a value.",
        tabulated.printed_functions,
    ),
    Table(
        "limits",
        "limits",
        "Formulas and computation",
        "The limit by the formula, and the value computed at the θ nearest to it.",
        tabulated.limits,
    ),
)


@dataclass(frozen=True)
class Made:
    """A table's content, or what is missing for it."""

    table: Table
    frame: pd.DataFrame | None = None
    missing: str = ""


def make(rows: Rows) -> list[Made]:
    """Make every table for which there are rows."""
    return [_made(table, rows) for table in TABLES]


def _made(table: Table, rows: Rows) -> Made:
    """Make one table."""
    try:
        return Made(table, table.make(rows))
    except MissingRowsError as missing:
        return Made(table, missing=str(missing))
