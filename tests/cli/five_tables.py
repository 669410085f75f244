"""Five tables as engineers hand them over, made from formulas with a seed."""

from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd

from pengp._core.arrays import FloatArray
from pengp.datasets import latin_hypercube, scale_design

SEED = 14


def _design(n: int, *bounds: tuple[float, float]) -> FloatArray:
    """Return a Latin hypercube [n, d] between bounds."""
    d = len(bounds)
    return scale_design(latin_hypercube(n, d, random_state=SEED), np.array(bounds))


def beam(directory: Path) -> Path:
    """20 runs with semicolons, decimal commas and units: deflection F l^3 / (3 E b h^3 / 12)."""
    X = _design(20, (0.5, 2.0), (20.0, 60.0), (40.0, 120.0), (100.0, 900.0))
    length, b, h, force = X.T
    inertia = b * h**3 / 12.0
    deflection = force * (1000.0 * length) ** 3 / (3.0 * 210_000.0 * inertia)
    names = ["Länge l [m]", "Breite b [mm]", "Höhe h [mm]", "Kraft F [N]"]
    table = pd.DataFrame(X, columns=names).assign(**{"Durchbiegung w [mm]": deflection})
    path = directory / "balken.csv"
    table.to_csv(path, sep=";", decimal=",", index=False, encoding="cp1252")
    return path


def seepage(directory: Path) -> Path:
    """40 runs of a flow through permeability k from 1e-6 to 1e2, with an inert input."""
    X = _design(40, (-6.0, 2.0), (1.0, 5.0), (0.0, 1.0))
    exponent, head, inert = X.T
    flow = head * np.tanh(0.4 * (exponent + 2.0)) + 0.2 * head**2
    columns = {"k_m_per_d": 10.0**exponent, "head_m": head, "label_code": inert, "flow": flow}
    path = directory / "seepage.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def bracket(directory: Path) -> Path:
    """16 runs in an Excel book: a title row, two responses and a column of text."""
    X = _design(16, (2.0, 8.0), (10.0, 50.0))
    stress = 900.0 / X[:, 0] + 3.0 * X[:, 1]
    moved = 0.02 * X[:, 1] + 1.0 / X[:, 0]
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Bracket study, week 12"])
    sheet.append(["Thickness (mm)", "Load (kN)", "Material", "Displacement (mm)", "Stress (MPa)"])
    for (t, load), u, s in zip(X.tolist(), moved.tolist(), stress.tolist(), strict=True):
        sheet.append([t, load, "steel", u, s])
    path = directory / "bracket.xlsx"
    book.save(path)
    return path


def repeated(directory: Path) -> Path:
    """9 runs of which two pairs have the same inputs and different responses."""
    x = np.array([0.0, 0.0, 0.2, 0.3, 0.5, 0.5, 0.7, 0.9, 1.0])
    noise = 0.05 * np.random.default_rng(SEED).normal(size=9)
    path = directory / "repeated.csv"
    pd.DataFrame({"x": x, "y": np.sin(3.0 * x) + noise}).to_csv(path, index=False)
    return path


def many(directory: Path) -> Path:
    """150 runs of four inputs."""
    X = _design(150, *[(0.0, 1.0)] * 4)
    y = np.sin(4.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * X[:, 3] ** 2
    path = directory / "many.csv"
    pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(y=y).to_csv(path, index=False)
    return path
