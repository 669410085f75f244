"""The paper's figures, and that of the study of methods, drawn from the rows of a results file."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure as Canvas

from pengp.study.figures.comparisons import figure_6, figure_7, figure_appendix
from pengp.study.figures.folds import figure_4, figure_5
from pengp.study.figures.forrester import figure_1, figure_2, figure_3
from pengp.study.figures.methods import figure_methods
from pengp.study.figures.style import image, settle, style
from pengp.study.report_rows import MissingRowsError, Rows


@dataclass(frozen=True)
class Figure:
    """A figure of the report.

    Attributes
    ----------
    name : str
        Name of its files, without the ending.
    study : str
        The study whose rows it shows.
    label : str
        Its name in the paper, as claims cite it.
    title, shows, paper : str
        A few words; what is drawn; what the paper's own figure shows, empty if it has none.
    draw : callable
        From `Rows` to a figure of matplotlib; raises MissingRowsError if rows are missing.
    """

    name: str
    study: str
    label: str
    title: str
    shows: str
    paper: str
    draw: Callable[[Rows], Canvas]


@dataclass(frozen=True)
class Drawn:
    """A figure's images, or what is missing for it."""

    figure: Figure
    svg: bytes = b""
    png: bytes = b""
    missing: str = ""


FIGURES = (
    Figure(
        "figure-1",
        "forrester",
        "Figure 1",
        "Profile likelihoods and five surrogates",
        "(a) Log likelihoods along θ; shaded up to where that without nugget is at times not "
        "defined, as the correlation matrix has no factor. (b) to (f) Mean and 95 % interval of "
        "five surrogates, with the function (dashed) and the 8 runs; in (c) and (e) also those at "
        "the values that the paper prints.",
        "The same six panels: θ̂ = 1000, 922.203, 27.444, 10.565 and 0.001 in (b) to (f).",
        figure_1,
    ),
    Figure(
        "figure-2",
        "forrester",
        "Figure 2",
        "n-fold prediction error along λ",
        "Mean PE over the 8 folds with one standard error either side; the square is λ*, the "
        "triangle λ_1SE, the dashed line PE(λ*) plus one standard error.",
        "λ* = 0.02 and λ_1SE = 7.39.",
        figure_2,
    ),
    Figure(
        "figure-3",
        "forrester",
        "Figure 3",
        "n-fold prediction error of each fold",
        "(a) PE of each run left out. (b) The surrogate from the other seven runs at the λ that "
        "predicts run 7 best, and at the one that the paper prints.",
        "The curve of run 8 is the highest and nearly constant, that of run 7 changes most; (b) is "
        "at λ = 0.046.",
        figure_3,
    ),
    Figure(
        "figure-4",
        "forrester",
        "Figure 4",
        "4-fold PE, MD and Score of random draws",
        "Each line is the mean over the folds of one random draw of 4 folds, PE and MD on "
        "logarithmic axes; below it the λ* of each draw, a circle of the same colour.",
        "Twenty draws; λ* of PE leaves a gap between 0.073 and 7.389, that of MD and Score one "
        "between 0 and 0.073.",
        figure_4,
    ),
    Figure(
        "figure-5",
        "forrester",
        "Figure 5",
        "DPE of the same draws, θ̂, and the chosen λ",
        "(a) DPE and (b) θ̂, mean over the folds of each draw, on logarithmic axes. (c) λ* (filled) "
        "and λ_1SE (open) of each metric; the area of a point counts the draws, as the legend "
        "says.",
        "DPE chooses λ* = 0 in all twenty draws, and DPE 1SE a small λ; the other metrics with 1SE "
        "almost always 7.389.",
        figure_5,
    ),
    *(
        Figure(
            name,
            study,
            "Figure 6",
            f"Test RMSE and CRPS relative to pMLE* ({penalty})",
            "Box plots over the repetitions of score / score of pMLE* - 1, on the signed "
            "square-root scale; the line is the median, the diamond the mean.",
            paper,
            partial(figure_6, study=study),
        )
        for name, study, penalty, paper in (
            (
                "figure-6",
                "simulation",
                "lasso",
                "MD and Score highest; DPE like MLE; DPE 1SE lower than MLE except on Franke.",
            ),
            (
                "figure-6-scad",
                "simulation-scad",
                "SCAD",
                "Not shown: the paper reports no significant difference between the penalties.",
            ),
        )
    ),
    Figure(
        "figure-7",
        "piston-slap",
        "Figure 7",
        "Isotropic model: change of test scores against the MLE",
        "Each point is one random draw of 4 folds, the bar the median; the dashed line is the MLE "
        "(λ = 0), below it is better. Titles give the scores of the MLE, ours and the paper's, "
        "which lies elsewhere on the same plateau of the likelihood.",
        "PE and DPE lie on the line; DPE 1SE lies below it in all 100 draws.",
        figure_7,
    ),
    Figure(
        "figure-appendix-e",
        "piston-slap",
        "Figure of Appendix E",
        "Anisotropic model: change of test scores against the MLE",
        "As Figure 7, for the anisotropic model.",
        "Small losses, and large gains in some draws, more often with PE and DPE 1SE than with "
        "DPE.",
        figure_appendix,
    ),
    Figure(
        "methods",
        "methods",
        "Ways to fit",
        "CRPS against maximum likelihood, and coverage",
        "Means over the problems on which choices were made (circles) and over those that confirm "
        "them (diamonds), with two standard errors either side; further left is better. The dashed "
        "lines are maximum likelihood and the nominal coverage.",
        "",
        figure_methods,
    ),
)


def draw(rows: Rows) -> list[Drawn]:
    """Draw every figure for which there are rows."""
    with style():
        return [_drawn(figure, rows) for figure in FIGURES]


def _drawn(figure: Figure, rows: Rows) -> Drawn:
    """Draw one figure."""
    try:
        canvas = figure.draw(rows)
    except MissingRowsError as missing:
        return Drawn(figure, missing=str(missing))
    settle(canvas)
    return Drawn(figure, image(canvas, "svg"), image(canvas, "png"))
