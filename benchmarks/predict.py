"""Prediction at a million points with n = 100 runs: time and peak memory, each in a new process."""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.rivals import scikit_learn
from benchmarks.timing import line, verdict
from pengp import PenalizedGPRegressor
from pengp.datasets.functions import FUNCTIONS


def measure(who: str, m: int, std: bool) -> dict[str, float]:
    """Return the seconds of one call, and MB above the fitted model and its inputs."""
    rng = np.random.default_rng(0)
    U = rng.random((100, 8))
    y = FUNCTIONS["borehole"].unit(U)
    y = (y - y.mean()) / y.std(ddof=1)
    model = (
        PenalizedGPRegressor(n_starts=1, random_state=0).fit(U, y)
        if who == "pengp"
        else scikit_learn(U, y, 1, 0)
    )
    new = rng.random((m, 8))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model.predict(new, return_std=std)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "mb": (peak - before) / 1024, "whole_mb": peak / 1024}


def million_points(m: int = 1_000_000) -> None:
    """Compare prediction with and without standard deviations."""
    print(f"Prediction at {m:,} points, n = 100, d = 8")
    results = {}
    for std in ("mean", "std"):
        for who in ("pengp", "scikit-learn"):
            command = [sys.executable, "-m", "benchmarks.predict", who, str(m), std]
            out = subprocess.run(command, capture_output=True, text=True, check=True)
            results[who, std] = r = json.loads(out.stdout)
            note = f"{r['mb']:.0f} MB more, {r['whole_mb']:.0f} in all"
            line(f"{who}, mean{' and std' * (std == 'std')}", r["seconds"], note)
    ours, theirs = results["pengp", "std"], results["scikit-learn", "std"]
    ratio = ours["seconds"] / theirs["seconds"]
    verdict("pengp / scikit-learn, with std", ratio, "below 1", ratio < 1.0)
    verdict("peak memory in MB / 300", ours["whole_mb"] / 300, "below 1", ours["whole_mb"] < 300)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "std")))
