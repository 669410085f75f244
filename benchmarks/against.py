"""Times of this checkout against another revision: `python -m benchmarks.against REV`.

Cases (a) and (b) of `benchmarks.small`, a whole cross-validated path and single fits with 10
starts, and (c) of `benchmarks.large`, a fit of 1000 runs from one start. A process with each
version fits the same data from the same seeds in turns, and CPU times are compared in pairs, which
a busy machine disturbs alike. Where a process has its memory changes its times by some percent, so
several pairs of processes take part, and either version starts first in turn. What is printed is
the median of all ratios, with the least and largest median of a pair of processes and the
evaluations of both.
"""

import inspect
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
#: Pairs of processes, pairs of fits of each case in them, and fits in a turn.
PROCESSES, PAIRS, FITS = 9, {"c": 3}, {"a": 1, "c": 1}


def problems() -> dict[str, np.ndarray]:
    """Return inputs and responses of each case, by its name."""
    from benchmarks.large import runs
    from benchmarks.small import path_runs, single_runs

    found: dict[str, np.ndarray] = {}
    found["a X"], found["a y"] = path_runs()
    for X, y in single_runs().values():
        found[f"b, n = {len(y)} X"], found[f"b, n = {len(y)} y"] = X, y
    found["c X"], found["c y"] = runs(1000)
    return found


def serve() -> None:
    """Fit what is asked for, and answer with the CPU time and the evaluations."""
    import pengp

    with np.load(io.BytesIO(bytes.fromhex(sys.stdin.readline()))) as file:
        data = dict(file)
    known = inspect.signature(pengp.penalized_path).parameters
    constant = {"mean": "constant"} if "mean" in known else {"constant_mean": True}
    once: dict[str, Any] = {"lams": [0.0], "n_starts": 1}
    several: dict[str, Any] = {"lams": [0.0], "n_starts": 10, **constant}
    settings = {"a": {"lams": pengp.lambda_grid("paper")}, "c": once}
    tell(pengp.__file__)
    for line in sys.stdin:
        case, seed, fits = line.rstrip("\n").split("\t")
        how = settings.get(case, several)
        X, y = data[f"{case} X"], data[f"{case} y"]
        start, evaluations = time.process_time(), 0
        for k in range(int(fits)):
            fit = pengp.penalized_path(X, y, **how, random_state=int(seed) + k)
            evaluations += fit.n_evaluations
        tell(f"{time.process_time() - start} {evaluations}")


def tell(text: str) -> None:
    """Write a line to whoever asked."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class Version:
    """A process in which one version of the package fits."""

    def __init__(self, checkout: Path, data: str) -> None:
        paths = {"PYTHONPATH": str(checkout / "src"), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **paths},
            cwd=checkout,
        )
        found = Path(self._ask(data))
        if checkout not in found.parents:
            raise SystemExit(f"{found} is imported, which is not in {checkout}.")

    def _ask(self, line: str) -> str:
        """Send a line and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def fit(self, case: str, seed: int) -> tuple[float, int]:
        """Return the CPU time and the evaluations of some fits."""
        seconds, evaluations = self._ask(f"{case}\t{seed}\t{FITS.get(case, 5)}").split()
        return float(seconds), int(evaluations)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def race(versions: list[Version], case: str, first: int) -> np.ndarray:
    """Return CPU times and evaluations [pairs, 2, 2] of two versions that take turns."""
    for version in versions:
        version.fit(case, 0)
    pairs = []
    for seed in range(first, first + PAIRS.get(case, 15)):
        turn = versions if seed % 2 else versions[::-1]
        found = {version: version.fit(case, seed) for version in turn}
        pairs.append([found[version] for version in versions])
    return np.array(pairs)


def compare(other: Path) -> None:
    """Print the ratios of this checkout to another one."""
    data, file = problems(), io.BytesIO()
    np.savez(file, **data)  # type: ignore[arg-type]  # names of arrays, not of its options
    cases = [name.removesuffix(" X") for name in data if name.endswith(" X")]
    results: dict[str, list[np.ndarray]] = {case: [] for case in cases}
    for process in range(PROCESSES):
        order = (ROOT, other) if process % 2 else (other, ROOT)
        started = {place: Version(place, file.getvalue().hex()) for place in order}
        versions = [started[ROOT], started[other]]
        for case, found in results.items():
            found.append(race(versions, case, 100 * process))
        for version in versions:
            version.close()
    for case, found in results.items():
        seconds, evaluations = np.moveaxis(np.array(found), -1, 0)  # [processes, pairs, 2] each
        ratios = seconds[..., 0] / seconds[..., 1]
        each = np.sort(np.median(ratios, axis=1))
        mine, others = evaluations.sum((0, 1))
        print(
            f"({case:<9}) CPU time x {np.median(ratios):.3f} (processes {each[0]:.3f} to "
            f"{each[-1]:.3f}), evaluations {mine:.0f} and {others:.0f}; "
            f"load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


def main(revision: str) -> None:
    """Compare this checkout with a revision, in a worktree of its own."""
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder).resolve() / "other"
        subprocess.run([*git, "add", "--quiet", "--detach", str(other), revision], check=True)
        try:
            compare(other)
        finally:
            subprocess.run([*git, "remove", "--force", str(other)], check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        raise SystemExit(__doc__)
