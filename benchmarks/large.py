"""(c) One maximum likelihood fit of n = 1000 runs: time and peak memory, each in a new process."""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.rivals import scikit_learn
from benchmarks.timing import line, verdict
from pengp import penalized_path
from pengp.datasets.functions import FUNCTIONS


def runs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and standardised responses of n random runs of the borehole function."""
    U = np.random.default_rng(0).random((n, 8))
    y = FUNCTIONS["borehole"].unit(U)
    return U, (y - y.mean()) / y.std(ddof=1)


def measure(who: str, n: int) -> dict[str, float]:
    """Fit in this process; return seconds, MB above the imports and the log likelihood reached."""
    U, y = runs(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    if who == "pengp":
        fit = penalized_path(U, y, [0.0], n_starts=1, random_state=0)
        # what the profile likelihood drops
        loglik = float(fit.loglik[0]) + 0.5 * n * (np.log(n) - 1.0 - np.log(2.0 * np.pi))
    else:
        loglik = float(scikit_learn(U, y, 1, 0).log_marginal_likelihood_value_)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "mb": (after - before) / 1024, "loglik": loglik}


def one_large_fit(n: int = 1000) -> None:
    """Compare time and memory of one fit from one start."""
    print(f"(c) n = {n}, d = 8, maximum likelihood from one start")
    results = {}
    for who in ("pengp", "scikit-learn"):
        out = subprocess.run(
            [sys.executable, "-m", "benchmarks.large", who, str(n)],
            capture_output=True,
            text=True,
            check=True,
        )
        results[who] = r = json.loads(out.stdout)
        line(who, r["seconds"], f"{r['mb']:.0f} MB, log likelihood {r['loglik']:.2f}")
    ours, theirs = results["pengp"], results["scikit-learn"]
    faster, memory = theirs["seconds"] / ours["seconds"], ours["mb"] / theirs["mb"]
    verdict("speed, scikit-learn / pengp", faster, "at least 8", faster >= 8.0)
    verdict("memory, pengp / scikit-learn", memory, "at most 0.33", memory <= 1.0 / 3.0)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
