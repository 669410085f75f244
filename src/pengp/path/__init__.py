"""theta-hat(lambda): penalties, grids of lambda, and the search for every local maximum."""

from typing import TYPE_CHECKING

from pengp._core.lazy import lazily

if TYPE_CHECKING:
    from pengp.path.flatness import Flat
    from pengp.path.grids import lambda_grid, lambda_max
    from pengp.path.joint import JointlyRobust, JointPenalty, JointTerms
    from pengp.path.penalized import Modes, PathFit, penalized_path
    from pengp.path.penalties import PENALTIES, SCAD, Lasso, NoPenalty, Penalty, Ridge, get_penalty

__all__ = [
    "PENALTIES",
    "SCAD",
    "Flat",
    "JointPenalty",
    "JointTerms",
    "JointlyRobust",
    "Lasso",
    "Modes",
    "NoPenalty",
    "PathFit",
    "Penalty",
    "Ridge",
    "get_penalty",
    "lambda_grid",
    "lambda_max",
    "penalized_path",
]

__getattr__, __dir__ = lazily(
    globals(),
    {
        "flatness": ["Flat"],
        "grids": ["lambda_grid", "lambda_max"],
        "joint": ["JointlyRobust", "JointPenalty", "JointTerms"],
        "penalized": ["Modes", "PathFit", "penalized_path"],
        "penalties": ["PENALTIES", "SCAD", "Lasso", "NoPenalty", "Penalty", "Ridge", "get_penalty"],
    },
)
