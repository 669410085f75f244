"""Times of this checkout against another revision: `python -m benchmarks.against REV`.

Cases (a) and (b) of `benchmarks.small`, a whole cross-validated path and single fits with 10
starts. A process with each version stays alive; both fit the same data from the same seeds in
turns, and CPU times are compared in pairs, which a busy machine disturbs alike. What is printed is
the median of the ratios, with the evaluations of both.
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
#: Pairs of each case, and fits in a turn: about half a second.
PAIRS, FITS = 41, {"a": 1}


def problems() -> dict[str, np.ndarray]:
    """Return inputs and responses of each case, by its name."""
    from benchmarks.small import path_runs, single_runs

    found: dict[str, np.ndarray] = {}
    found["a X"], found["a y"] = path_runs()
    for X, y in single_runs().values():
        found[f"b, n = {len(y)} X"], found[f"b, n = {len(y)} y"] = X, y
    return found


def serve() -> None:
    """Fit what is asked for, and answer with the CPU time and the evaluations."""
    import pengp

    with np.load(io.BytesIO(bytes.fromhex(sys.stdin.readline()))) as file:
        data = dict(file)
    known = inspect.signature(pengp.penalized_path).parameters
    constant = {"mean": "constant"} if "mean" in known else {"constant_mean": True}
    settings: dict[str, Any] = {"lams": [0.0], "n_starts": 10, **constant}
    tell(pengp.__file__)
    for line in sys.stdin:
        case, seed, fits = line.rstrip("\n").split("\t")
        how = {"lams": pengp.lambda_grid("paper")} if case == "a" else settings
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


def compare(other: Path) -> None:
    """Print the ratios of this checkout to another one."""
    data, file = problems(), io.BytesIO()
    np.savez(file, **data)  # type: ignore[arg-type]  # names of arrays, not of its options
    versions = [Version(place, file.getvalue().hex()) for place in (ROOT, other)]
    for case in [name.removesuffix(" X") for name in data if name.endswith(" X")]:
        for version in versions:
            version.fit(case, 0)
        pairs = []
        for seed in range(PAIRS):
            turn = versions if seed % 2 else versions[::-1]
            found = {version: version.fit(case, seed) for version in turn}
            pairs.append([found[version] for version in versions])
        seconds, evaluations = np.moveaxis(np.array(pairs), -1, 0)  # [PAIRS, 2] each
        low, middle, high = np.quantile(seconds[:, 0] / seconds[:, 1], [0.25, 0.5, 0.75])
        mine, others = evaluations.sum(0)
        print(
            f"({case:<9}) CPU time x {middle:.3f} (quartiles {low:.3f} to {high:.3f}), "
            f"evaluations {mine:.0f} and {others:.0f}; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    for version in versions:
        version.close()


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
