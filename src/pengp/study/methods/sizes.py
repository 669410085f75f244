"""Which problems the study of methods has, how many runs each, and how they are split in halves."""

import hashlib
from collections.abc import Iterable

#: Runs of each test function; the first four as in the paper's Section 4.
FUNCTION_RUNS = {
    "lim": 10,
    "franke": 10,
    "piston": 15,
    "borehole": 15,
    "branin": 12,
    "otl_circuit": 15,
    "wing_weight": 20,
    "ishigami": 15,
    "friedman": 15,
    "gramacy_lee": 12,
    "hartmann3": 15,
    "forrester": 8,
}
#: The part that predicts the user's test runs from the 12 piston-slap runs.
PISTON_SLAP = "piston-slap"
#: Inputs of each simulator, whose table has them first, and how many of its responses are studied.
SIMULATORS = {
    "irsn5d": (5, 1),
    "sir": (3, 2),
    "canopy": (5, 1),
    "clm5": (6, 2),
    "heart_activation": (6, 2),
    "heart_inflation": (9, 2),
    "truss": (6, 2),
    "crm_wing": (2, 2),
    "b777_engine": (3, 2),
    "spotweld": (4, 1),
    "rat_heart_sham": (8, 2),
}
#: Runs of a simulator are this many times the inputs, brought between the next two.
_TIMES, _FEWEST, _MOST = (2, 5), 10, 40


def _simulator_parts() -> list[str]:
    """Return simulator.response.runs of every problem."""
    parts = []
    for name, (d, responses) in SIMULATORS.items():
        sizes = dict.fromkeys(min(max(k * d, _FEWEST), _MOST) for k in _TIMES)
        parts += [f"{name}.{response + 1}.{n}" for response in range(responses) for n in sizes]
    return parts


#: Parts of the study for real simulators.
SIMULATOR_PARTS = tuple(_simulator_parts())
#: Parts of the studies of decisions that continue the runs of test functions and of simulators,
#: those that have runs enough to choose from.
NEXT_FUNCTIONS = tuple(
    f"next-{name}"
    for name in ("franke", "branin", "friedman", "hartmann3", "otl_circuit", "piston")
)
NEXT_SIMULATORS = tuple(
    f"next-{name}" for name in SIMULATORS if name not in ("crm_wing", "spotweld")
)


def halves(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split names in two: those on which choices are made, and those that confirm them.

    The order of the names' SHA-256 digests decides, so that nobody does.
    """
    order = sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    half = (len(order) + 1) // 2
    return tuple(order[:half]), tuple(order[half:])
