"""Above 100 runs the threads of BLAS may change the last digits, and no more than those."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

FIT = """
import sys
import numpy as np
from threadpoolctl import threadpool_info
from pengp import PenalizedGPRegressor
rng = np.random.default_rng(0)
X = rng.random((150, 2))
y = np.sin(5.0 * X[:, 0]) + X[:, 1]
model = PenalizedGPRegressor(0.1, n_starts=1, random_state=0).fit(X, y)
mean, std = model.predict(rng.random((50, 2)), return_std=True)
threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
np.savez(sys.argv[1], theta=model.theta_, mean=mean, std=std, threads=threads)
"""


def test_another_number_of_threads_changes_the_last_digits_only(tmp_path: Path) -> None:
    found = []
    for threads in ("1", "2"):
        path = tmp_path / f"{threads}.npz"
        env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run([sys.executable, "-c", FIT, str(path)], env=env, check=True, timeout=300)
        found.append(np.load(path))
    one, two = found
    if os.cpu_count() != 1:
        assert max(one["threads"]) < max(two["threads"])
    for name in ("theta", "mean", "std"):
        np.testing.assert_allclose(two[name], one[name], rtol=1e-9, atol=0.0, err_msg=name)
