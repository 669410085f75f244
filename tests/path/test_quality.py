"""The global search against the best of 50 random starts for each fold and lambda.

`data/best_of_50.npz` is described in `data/README.md`.
"""

import numpy as np
import pytest

from pengp import lambda_grid, penalized_path
from pengp._core.arrays import FloatArray
from tests.problems import DATA

FUNCTIONS = ("forrester", "lim", "franke", "piston", "borehole")
CELLS = 20 * 5 * 41


def shortfalls(name: str) -> tuple[FloatArray, bool]:
    """Return best of 50 starts minus ours [100, 41], and whether all of ours converged."""
    with np.load(DATA / "best_of_50.npz") as file:
        X, y, fold, best = (file[f"{name}_{key}"] for key in ("X", "y", "fold", "best"))
    train = [(r, fold[r] != k) for r in range(20) for k in range(5)]
    fit = penalized_path(
        [X[r][rows] for r, rows in train],
        [y[r][rows] for r, rows in train],
        lambda_grid("paper"),
        random_state=0,
    )
    return best.reshape(100, 41) - fit.objective, bool(fit.converged.all())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_cells_reach_the_best_of_fifty_starts(name: str) -> None:
    short, converged = shortfalls(name)
    assert short.size == CELLS
    assert converged
    assert np.isfinite(short).all()
    assert short.max() <= 0.05
    # Of all 20,500 cells of the five functions 0.5 % may fall short; each function keeps its share.
    assert (short > 1e-5).sum() <= 0.005 * CELLS
    # The reference has been beaten nowhere by so much that it could not tell good from bad.
    assert (short < -0.05).mean() < 0.05
