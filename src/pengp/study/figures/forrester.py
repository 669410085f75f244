"""Figures 1 to 3: the likelihoods, surrogates and n-fold cross-validation of the Forrester runs."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pengp.plots.drawing import BAND, BLACK, BLUE, GREEN, GREY, ORANGE, PALETTE, VERMILLION
from pengp.plots.lambda_axis import draw_lambda_axis, draw_lambda_line, lambda_positions
from pengp.study.figures.style import letter, panels
from pengp.study.report_rows import Rows

_PROFILES = "forrester/profiles"
_SURROGATES, _LOO = "forrester/surrogates", "forrester/loo"
_CURVES = (
    ("no_nugget", "loglik", "g = 0", PALETTE[3], "-"),
    ("fixed_nugget", "loglik", r"$g = 10^{-5}$", VERMILLION, "-."),
    ("estimated_nugget", "loglik", "g estimated", BLUE, "--"),
    ("penalized", "objective", r"penalized, $\lambda = 0.005$", ORANGE, ":"),
)
#: Surrogates of Figure 1: method, title, and the method at the value that the paper prints.
_FITS = (
    ("mle", r"MLE, $g = 10^{-5}$", None),
    ("mle_nugget", "MLE, g estimated", "mle_nugget_printed"),
    ("pmle", r"$\lambda = 0.005$", None),
    ("pe", r"n-fold PE, $\lambda^*$", "pe_printed"),
    ("pe_1se", r"n-fold PE, $\lambda_{1SE}$", None),
)
_FOLD_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)), "-", "--")


def figure_1(rows: Rows) -> Figure:
    """Draw the profile likelihoods and the five surrogates."""
    figure, axes = panels(2, 3, (9.0, 5.4))
    _profiles(axes[0, 0], rows)
    letter(axes[0, 0], 0, "Profile log likelihoods")
    for k, (method, name, printed) in enumerate(_FITS, start=1):
        ax = axes.flat[k]
        theta = rows.number(_SURROGATES, method, "theta")
        surrogate(ax, rows, _SURROGATES, method)
        if printed is not None:
            as_printed(ax, rows, _SURROGATES, printed)
        ax.set_ylim(-3.1, 2.7)
        letter(ax, k, rf"{name}: $\hat\theta$ = {theta:.5g}")
    handles, labels = axes.flat[2].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    return figure


def _profiles(ax: Axes, rows: Rows) -> None:
    """Draw log L and Q along theta; where a likelihood is not defined its line has a gap."""
    for method, metric, name, colour, dashes in _CURVES:
        curve = rows.along_x(_PROFILES, method, metric)
        shown = curve.where(np.isfinite(curve))
        ax.plot(shown.index, shown, color=colour, linestyle=dashes, label=name)
        if shown.isna().any():
            end = shown.index[shown.isna()].max()
            ax.axvspan(curve.index[0], end, color=colour, alpha=0.13, linewidth=0)
            ax.text(
                0.03,
                0.03,
                rf"g = 0: factors missing up to $\theta$ = {end:.2g}",
                transform=ax.transAxes,
                fontsize=6.5,
                color=colour,
            )
    ax.set(xscale="log", xlabel=r"$\theta$", ylabel="log likelihood", ylim=(-26.0, -5.5))
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.83), fontsize=7)


def surrogate(ax: Axes, rows: Rows, part: str, method: str) -> None:
    """Draw a surrogate's mean and 95 % interval over the function and the runs."""
    mean, lower, upper = (rows.along_x(part, method, m) for m in ("mean", "lower", "upper"))
    truth = rows.along_x(_SURROGATES, "truth", "response")
    runs = rows.along_x(_SURROGATES, "runs", "response")
    ax.fill_between(
        mean.index, lower, upper, color=BLUE, alpha=BAND, linewidth=0, label="95 % interval"
    )
    ax.plot(truth.index, truth, color=GREY, linestyle="--", label="function")
    ax.plot(mean.index, mean, color=BLUE, label="mean")
    ax.plot(runs.index, runs, "o", color=BLACK, markersize=4, label="runs", linestyle="none")
    ax.set(xlabel="input x (scaled)", ylabel="response y (standardised)")


def as_printed(ax: Axes, rows: Rows, part: str, method: str) -> None:
    """Draw the mean and the ends of the interval at a value that the paper prints."""
    look: dict[str, Any] = {"color": VERMILLION, "linewidth": 1.0}
    mean, lower, upper = (rows.along_x(part, method, m) for m in ("mean", "lower", "upper"))
    ax.plot(mean.index, mean, linestyle="-.", label="mean, as printed", **look)
    ax.plot(lower.index, lower, linestyle=":", label="interval, as printed", **look)
    ax.plot(upper.index, upper, linestyle=":", **look)


def figure_2(rows: Rows) -> Figure:
    """Draw the mean n-fold PE with its standard errors and both choices of lambda."""
    figure, axes = panels(1, 1, (5.6, 3.6))
    ax = axes[0, 0]
    mean, se = (rows.along_lam(_LOO, "pe", metric) for metric in ("cv_mean", "cv_se"))
    axis = lambda_positions(mean.index)
    bars = {"fmt": "o", "color": BLACK, "markersize": 2.5, "elinewidth": 0.8}
    ax.errorbar(axis.positions, mean, yerr=se, label="mean ± 1 SE", **bars)
    best, one_se = (rows.number(_LOO, method, "chosen") for method in ("pe", "pe_1se"))
    line = {"color": GREEN, "linestyle": "--", "label": r"PE($\lambda^*$) + 1 SE"}
    ax.axhline(mean[best] + se[best], **line)
    place = dict(zip(mean.index, axis.positions, strict=True))
    for lam, marker, colour, name in (
        (best, "s", VERMILLION, rf"$\lambda^*$ = {best:.4f}"),
        (one_se, "^", ORANGE, rf"$\lambda_{{1SE}}$ = {one_se:.3f}"),
    ):
        ax.plot(place[lam], mean[lam], marker, color=colour, markersize=8, label=name, zorder=3)
    draw_lambda_axis(ax, axis)
    ax.set_ylabel("n-fold PE")
    ax.legend(loc="upper left", ncols=2)
    ax.set_ylim(top=1.35 * float((mean + se).max()))
    return figure


def figure_3(rows: Rows) -> Figure:
    """Draw PE of each fold, and the surrogate without run 7."""
    figure, axes = panels(1, 2, (9.4, 3.8))
    left, right = axes[0]
    _fold_curves(left, rows)
    letter(left, 0, "n-fold PE of each run left out, 1 to 8")
    surrogate(right, rows, _LOO, "without_7")
    as_printed(right, rows, _LOO, "without_7_printed")
    held = rows.along_x(_LOO, "without_7", "response")
    yellow = {"color": "#F0E442", "markeredgecolor": BLACK, "markersize": 8}
    right.plot(held.index, held, "o", label="run 7, left out", **yellow)
    right.legend(loc="lower left", fontsize=6.5)
    lam = float(rows.pick(_LOO, "without_7", "theta")["lam"].iloc[0])
    letter(right, 1, rf"Surrogate without run 7, $\lambda$ = {lam:.4f}")
    return figure


def _fold_curves(ax: Axes, rows: Rows) -> None:
    """Draw PE of each fold along lambda."""
    curves = rows.grid(_LOO, "pe", "cv_fold", "x")
    lams = curves.index.to_numpy(dtype=float)
    for k, (fold, values) in enumerate(zip(curves.columns, curves.to_numpy().T, strict=True)):
        colour = PALETTE[k] if k < len(PALETTE) else GREY
        look = {"color": colour, "linestyle": _FOLD_STYLES[k % len(_FOLD_STYLES)]}
        draw_lambda_line(ax, lams, values, f"{fold:.0f}", **look)
    draw_lambda_axis(ax, lambda_positions(lams))
    ax.set(ylabel="PE of the run left out")
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        ncols=8,
        handlelength=2.6,
        columnspacing=0.9,
    )
