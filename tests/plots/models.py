"""Fitted estimators that the tests of displays share."""

from functools import cache

import numpy as np

from pengp import PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp.choosing.folds import random_folds
from pengp.datasets import load_piston_slap
from pengp.datasets.functions import get_function

LAMS = np.array([0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 1.0])


@cache
def piston() -> PenalizedGPRegressorCV:
    """Return a fit of the 12 piston-slap runs, four folds dealt three times."""
    runs = load_piston_slap()
    plan = random_folds(12, 4, repeats=3, random_state=0)
    return PenalizedGPRegressorCV(lams=LAMS, cv=plan, random_state=0).fit(runs.X, runs.y)


@cache
def forrester() -> PenalizedGPRegressorCV:
    """Return a fit of the paper's 8 runs of one input, four folds dealt once."""
    X = np.linspace(0.0, 1.25, 8)[:, None]
    y = get_function("forrester")(X)
    return PenalizedGPRegressorCV(lams=LAMS, cv=4, random_state=0).fit(X, y)


@cache
def plain() -> PenalizedGPRegressor:
    """Return a fit of the piston-slap runs at one lambda."""
    runs = load_piston_slap()
    return PenalizedGPRegressor(0.01, random_state=0).fit(runs.X, runs.y)


@cache
def two_outputs() -> PenalizedGPRegressorCV:
    """Return a fit of two outputs, the second another function of the same two inputs."""
    X = np.random.default_rng(1).uniform([0.0, 10.0], [2.0, 30.0], (10, 2))
    y = np.stack([np.sin(3.0 * X[:, 0]) + 0.1 * X[:, 1], X[:, 0] * X[:, 1]], axis=1)
    plan = random_folds(10, 5, repeats=2, random_state=0)
    return PenalizedGPRegressorCV(lams=LAMS, cv=plan, random_state=0).fit(X, y)
