"""Maxima followed along lambda: predictions at the neighbouring lambdas, and rows that leave them.

The likelihood does not depend on lambda, so that its expansion at a maximum predicts the maximum at
the next lambda without an evaluation, to first order; the error of the last prediction gives the
second.
"""

import numpy as np

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp._core.linalg import max_norm
from pengp.path import settings
from pengp.path.lockstep import Ended, NextSteps
from pengp.path.newton import newton_point
from pengp.path.objective import CellObjective

_BOTH_WAYS = np.array([-1, 1])
"""Steps along lambda."""


class Branches:
    """What the rows of a search follow: the maximum of a neighbour, or nothing if they are starts.

    Attributes
    ----------
    direction : [R]
        Step along lambda by which row r came from its neighbour; 0 for a start.
    prediction : [R, P]
        First-order prediction of the maximum that it follows.
    """

    def __init__(self, n_params: int) -> None:
        self.direction = np.empty(0, dtype=np.int64)
        self.prediction = np.empty((0, n_params))

    def add(self, direction: IntArray, prediction: FloatArray) -> IntArray:
        """Add rows with directions [B] and predictions [B, P]; return their numbers [B]."""
        first = len(self.direction)
        self.direction = np.concatenate([self.direction, direction])
        self.prediction = np.concatenate([self.prediction, prediction])
        return np.arange(first, len(self.direction))

    def left_by(self, steps: NextSteps) -> BoolArray:
        """Tell which rows [B] are about to leave the maximum that they follow."""
        away = max_norm(steps.trial - self.prediction.take(steps.row, axis=0))
        follows = self.direction.take(steps.row) != 0
        return follows & (away > settings.LEFT_BRANCH)

    def neighbours(self, ended: Ended, n_lams: int, *, newton: bool) -> tuple[Ended, IntArray]:
        """Return the rows once for each neighbouring lambda that they lead to, and the steps.

        Without Hessians maxima are not known well enough to be followed back.
        """
        B = len(ended.cell)
        rows, step = np.tile(np.arange(B), 2), np.repeat(_BOTH_WAYS, B)
        there = ended.cell[rows] % n_lams + step
        wanted = (there >= 0) & (there < n_lams)
        if not newton:
            wanted &= self.direction[ended.row[rows]] != -step
        return ended.take(rows[wanted]), step[wanted]

    def second_order(self, ended: Ended, lams: FloatArray, step: IntArray) -> FloatArray:
        """Return the second-order term [B, P] of predictions at the next lambdas.

        It is learned from the error of the last prediction, which grows as the square of the
        distance along lambda.
        """
        at = ended.cell % len(lams)
        known = self.direction[ended.row] == step
        last = lams[at] - lams[np.where(known, at - step, at)]
        ratio = np.where(known, (lams[at + step] - lams[at]) / np.where(known, last, 1.0), 0.0)
        error = ended.maximum - self.prediction[ended.row]
        small = max_norm(error) < settings.LEARNED_ERROR
        return np.where(small, ratio**2, 0.0)[:, None] * error


def first_order(objective: CellObjective, ended: Ended, step: IntArray) -> FloatArray:
    """Return the maxima [B, P] at the neighbouring lambdas that the rows' expansions predict.

    It is a Newton step from the rows' points, their expansions moved in place to the other penalty.
    """
    objective.move(ended.at, ended.cell, ended.point, step)
    radius = np.full(len(step), settings.LONGEST_PREDICTION)
    return newton_point(ended.at, ended.point, *objective.bounds(ended.cell), radius)[0]
