"""Data that ships with the package: the piston-slap noise runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp._core.shown import Shown, named


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Shown):
    """Runs of a computer experiment, as read; nothing is scaled.

    Attributes
    ----------
    X : ndarray [n, d]
        Inputs, one run a row.
    y : ndarray [n]
        Response of every run.
    input_names : tuple of str
        What each column of X is, in column order.
    response_name : str
        What y is.
    unit : str
        Unit of y.
    reference : str
        Where the runs were published.

    See Also
    --------
    pengp.load_piston_slap : Returns one.
    """

    X: FloatArray
    y: FloatArray
    input_names: tuple[str, ...]
    response_name: str
    unit: str
    reference: str

    def _in_short(self) -> str:
        n, d = self.X.shape
        return f"{n} runs of {d} inputs, {self.response_name} in {self.unit}"

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        names = (*self.input_names, self.response_name)
        return (named(names, (*x, y)) for x, y in zip(self.X, self.y, strict=True))


def load_piston_slap() -> Dataset:
    """Return the 12 training runs of the piston-slap noise experiment.

    The simulator gives the noise of a piston's secondary motion in an engine cylinder; a run took
    24 hours. The inputs, x1 to x6 of the published table, are the cylinder liner (the clearance
    between it and the piston), the location of peak pressure, the length, profile and ovality of
    the piston skirt, and the pin offset. Skirt profile and ovality take the values 1, 2
    and 3, the other inputs six equally spaced values each.

    Returns
    -------
    Dataset
        X [12, 6] and y [12] in dB, in the order of the published table. The arrays are new at
        every call.

    References
    ----------
    .. [1] Hoffman, Sudjianto, Du and Stout (2003), SAE Technical Paper 2003-01-0148.
    .. [2] Li and Sudjianto (2005), Technometrics 47, 111-120.

    Examples
    --------
    >>> from pengp import load_piston_slap
    >>> runs = load_piston_slap()
    >>> runs.X.shape, runs.response_name, runs.unit
    ((12, 6), 'piston slap noise', 'dB')
    >>> runs.input_names[0], runs.X[:3, 0], runs.y[:3]
    ('cylinder liner', array([71., 15., 29.]), array([56.75, 57.65, 53.97]))
    """
    with files("pengp.datasets").joinpath("piston_slap.csv").open(encoding="utf-8") as file:
        *names, _ = file.readline().strip().split(",")
        runs = np.loadtxt(file, delimiter=",", dtype=np.float64)
    return Dataset(
        X=runs[:, :-1].copy(),
        y=runs[:, -1].copy(),
        input_names=tuple(names),
        response_name="piston slap noise",
        unit="dB",
        reference="Hoffman, Sudjianto, Du and Stout (2003), SAE Technical Paper 2003-01-0148; "
        "Li and Sudjianto (2005), Technometrics 47, 111-120.",
    )
