"""Draws from the model itself: what DPE and MD of held-out runs follow where theta is known."""

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.choosing.external import external_sigma2
from pengp.choosing.metrics import fold_metrics
from pengp.model.folded import batch_predict
from pengp.model.kernels import correlation, get_kernel
from pengp.study.rows import NUGGET, chained, counted, curve_rows, forrester_runs, timed
from pengp.study.task import Row, Task

#: Data sets; theta and sigma2 behind them; every second run is held out.
DRAWS, THETA, SIGMA2 = 4000, 10.0, 2.0


def model_draws(task: Task) -> list[Row]:
    """Return DPE / n_v over sigma2, and MD with the true and with the estimated sigma2."""
    found, seconds = timed(_metrics, task.seed)
    held_out = Row("true", None, "n_v", None, float(len(forrester_runs().y) // 2), seconds)
    return chained(
        [held_out],
        *(
            curve_rows(method, None, metric, counted(values), values, seconds)
            for (method, metric), values in found.items()
        ),
    )


def _metrics(seed: int) -> dict[tuple[str, str], FloatArray]:
    """Return values [DRAWS] by method and metric."""
    X, theta = forrester_runs().X, np.array([THETA])
    L = np.linalg.cholesky(SIGMA2 * correlation(X, theta, nugget=NUGGET))
    y = np.random.default_rng(seed).standard_normal((DRAWS, len(X))) @ L.T

    def repeated(values: FloatArray) -> FloatArray:
        return np.broadcast_to(values, (DRAWS, *values.shape))

    found = batch_predict(
        repeated(X[::2]),
        y[:, ::2],
        repeated(X[1::2]),
        repeated(theta),
        kernel=get_kernel("sqexp"),
        nugget=NUGGET,
    )
    r, R = y[:, 1::2] - found.mean, found.scaled_cov
    scales = {"true": np.full(DRAWS, SIGMA2), "estimated": found.sigma2}
    md = {m: fold_metrics(r, R, s, ("md",))["md"] for m, s in scales.items()}
    return {
        ("true", "sigma2_ratio"): external_sigma2(r, R) / SIGMA2,
        **{(method, "md"): values for method, values in md.items()},
    }
