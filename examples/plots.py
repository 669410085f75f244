"""Draw every display for the twelve piston-slap runs into a directory."""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

from pengp import BayesianGPRegressor, PenalizedGPRegressorCV, random_folds
from pengp.datasets import load_piston_slap
from pengp.plots import (
    ActivityDisplay,
    ContourDisplay,
    CoverageDisplay,
    CVCurveDisplay,
    ExplanationsDisplay,
    LeaveOneOutDisplay,
    ProfileLikelihoodDisplay,
    ResidualsDisplay,
    SliceDisplay,
    StabilityDisplay,
    ThetaPathDisplay,
)


def main(directory: str) -> None:
    """Fit with four folds, dealt twenty times, and an average; save one PNG for each display."""
    mpl.use("Agg")
    runs = load_piston_slap()
    folds = random_folds(12, 4, repeats=20, random_state=0)
    model = PenalizedGPRegressorCV(cv=folds, random_state=0).fit(runs.X, runs.y)
    average = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
    names, response = runs.input_names, f"{runs.response_name} ({runs.unit})"
    displays: dict[str, Any] = {
        "cv_curve": CVCurveDisplay.from_estimator(model),
        "stability": StabilityDisplay.from_estimator(model),
        "theta_path": ThetaPathDisplay.from_estimator(model, input_names=names),
        "profile_ray": ProfileLikelihoodDisplay.from_estimator(model),
        "profile_input": ProfileLikelihoodDisplay.from_estimator(
            model, input="skirt length", input_names=names
        ),
        "slice": SliceDisplay.from_estimator(model, input_names=names, response_name=response),
        "contour": ContourDisplay.from_estimator(model, input_names=names, response_name=response),
        "activity": ActivityDisplay.from_estimator(average, input_names=names),
        "explanations": ExplanationsDisplay.from_estimator(average, input_names=names),
        "held_out": LeaveOneOutDisplay.from_held_out(model, response_name=response),
        "leave_one_out": LeaveOneOutDisplay.from_estimator(model, response_name=response),
        "residuals": ResidualsDisplay.from_estimator(model, response_name=response),
        "coverage": CoverageDisplay.from_estimator(model),
    }
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    for name, display in displays.items():
        figure = display.plot().figure_
        figure.savefig(target / f"{name}.png", dpi=110)
        plt.close(figure)
        print(target / f"{name}.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/plots.py DIRECTORY")
    main(sys.argv[1])
