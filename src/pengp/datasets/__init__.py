"""Data to work with: the piston-slap runs, test functions, designs."""

from pengp.datasets.designs import continue_design, latin_hypercube, scale_design
from pengp.datasets.functions import FUNCTIONS, TestFunction, get_function
from pengp.datasets.piston_slap import Dataset, load_piston_slap

__all__ = [
    "FUNCTIONS",
    "Dataset",
    "TestFunction",
    "continue_design",
    "get_function",
    "latin_hypercube",
    "load_piston_slap",
    "scale_design",
]
