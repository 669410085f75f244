"""Run every benchmark and print its figures; `python -m benchmarks.run small` runs one."""

import sys

from benchmarks.bayes import against_brute_force, fit_and_predict
from benchmarks.commands import whole_commands
from benchmarks.crossover import newton_or_lbfgs
from benchmarks.effects import effects_of_an_average
from benchmarks.evaluations import single_evaluations
from benchmarks.growth import all_growth
from benchmarks.intervals import coverage_on_new_runs
from benchmarks.large import one_large_fit
from benchmarks.next_runs import next_run
from benchmarks.noisy import known_noise, noisy_runs
from benchmarks.nuts import against_nuts
from benchmarks.powers import powers_of_inputs
from benchmarks.predict import million_points
from benchmarks.refits import against_refits
from benchmarks.small import one_fit, whole_path
from benchmarks.told import noise_told


def main(names: list[str]) -> None:
    """Run the benchmarks of these names, or all."""
    chosen = names or [
        "small",
        "large",
        "predict",
        "crossover",
        "growth",
        "evaluations",
        "bayes",
        "next",
        "intervals",
        "noisy",
        "told",
        "powers",
        "effects",
        "commands",
    ]
    if "small" in chosen:
        whole_path()
        one_fit()
    if "large" in chosen:
        one_large_fit()
    if "predict" in chosen:
        million_points()
    if "crossover" in chosen:
        newton_or_lbfgs()
    if "growth" in chosen:
        all_growth()
    if "bayes" in chosen:
        fit_and_predict()
        against_brute_force()
        against_refits()
        against_nuts()
    if "intervals" in chosen:
        coverage_on_new_runs()
    if "noisy" in chosen:
        noisy_runs()
        known_noise()
    if "told" in chosen:
        noise_told()
    if "powers" in chosen:
        powers_of_inputs()
    if "effects" in chosen:
        effects_of_an_average()
    if "commands" in chosen:
        whole_commands()
    if "next" in chosen:
        next_run()
    if "evaluations" in chosen:
        single_evaluations()


if __name__ == "__main__":
    main(sys.argv[1:])
