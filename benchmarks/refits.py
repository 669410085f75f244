"""Held-out runs by reweighting against fits without them, on twenty data sets."""

import numpy as np

from benchmarks.bayes import all_draws, runs
from pengp.bayes.heldout import leave_out
from pengp.bayes.sample import sample_posterior

_CASES = (
    *(("forrester", 8), ("forrester", 16), ("lim", 8), ("franke", 12), ("branin", 20)),
    *(("gramacy_lee", 12), ("hartmann3", 15), ("ishigami", 10), ("ishigami", 30)),
    *(("friedman", 10), ("friedman", 25), ("otl_circuit", 12), ("otl_circuit", 30)),
    *(("piston", 14), ("piston", 40), ("borehole", 16), ("borehole", 40)),
    *(("wing_weight", 10), ("wing_weight", 20), ("wing_weight", 40)),
)


def against_refits() -> None:
    """Compare each run's prediction by reweighting with that of a fit without it, y as it is."""
    print("Leave one out by reweighting, and a fit without each run with the same response's scale")
    print("  function, n, d; |difference of means| in sd: mean, largest; log ratio of sds: rms;")
    print("  runs whose reweighted effective size was below 100, points drawn for them, least size")
    every = []
    for name, n in _CASES:
        X, y = runs(name, n)
        sample = sample_posterior(X, y, random_state=0)
        left = leave_out(sample)
        found = []
        for i in range(n):
            others = np.arange(n) != i
            refit = sample_posterior(X[others], y[others], random_state=100 + i)
            found.append(all_draws(refit, X[i : i + 1]))
        mean, sd = (np.concatenate(part) for part in zip(*found, strict=True))
        apart = np.abs(left.mean - mean) / sd
        every.append(apart.mean())
        ratio = np.sqrt(np.mean(np.log(left.std / sd) ** 2))
        print(
            f"  {name:<12}{n:3d} {X.shape[1]:3d}  {apart.mean():6.3f} {apart.max():6.3f}"
            f"  {ratio:6.3f}  {left.n_thin:3d} {left.n_more:6d} {left.effective_size.min():6.0f}",
            flush=True,
        )
    print(
        f"  mean over the data sets {np.mean(every):.3f}, largest {np.max(every):.3f} (goal 0.05)"
    )


if __name__ == "__main__":
    against_refits()
