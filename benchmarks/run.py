"""Run every benchmark and print its figures; `python -m benchmarks.run small large growth`."""

import sys

from benchmarks.growth import all_growth
from benchmarks.large import one_large_fit
from benchmarks.small import one_fit, whole_path


def main(names: list[str]) -> None:
    """Run the benchmarks of these names, or all."""
    chosen = names or ["small", "large", "growth"]
    if "small" in chosen:
        whole_path()
        one_fit()
    if "large" in chosen:
        one_large_fit()
    if "growth" in chosen:
        all_growth()


if __name__ == "__main__":
    main(sys.argv[1:])
