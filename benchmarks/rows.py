"""Memory of `pengp predict` over ten million rows: ``python -m benchmarks.rows``.

The rows are written to the command's standard input as it reads them; its resident memory is noted
after each tenth of them.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.timing import verdict
from pengp import PenalizedGPRegressor, save

_PIECE = 20_000
"""Rows that are written at a time, again and again."""


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    text = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in text.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def many_rows(m: int = 10_000_000) -> None:
    """Predict m rows and print the memory after each tenth."""
    rng = np.random.default_rng(0)
    X = rng.random((20, 2))
    model = PenalizedGPRegressor(0.01, n_starts=2, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pengp"
        save(model.fit(X, np.sin(5.0 * X[:, 0]) + X[:, 1]), path, info={"response": "y"})
        command = [sys.executable, "-m", "pengp", "predict", str(path), "-"]
        piece = "".join(f"{a:.6f},{b:.6f}\n" for a, b in rng.random((_PIECE, 2))).encode()
        start, seen = time.perf_counter(), []
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            process.stdin.write(b"x1,x2\n")
            for k in range(m // _PIECE):
                process.stdin.write(piece)
                if (k + 1) % (m // _PIECE // 10) == 0:
                    seen.append(resident(process.pid))
                    print(f"  {(k + 1) * _PIECE:>12,} rows {seen[-1]:8.1f} MB", flush=True)
            process.stdin.close()
            code = process.wait()
    print(f"exit code {code} after {time.perf_counter() - start:.0f} s")
    ratio = seen[-1] / seen[1]
    verdict("memory, last tenth / second", ratio, "below 1.05", ratio < 1.05)


if __name__ == "__main__":
    many_rows(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
