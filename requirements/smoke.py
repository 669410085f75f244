"""Fits, saves, loads and predicts with an installed pengp, by Python and on the command line."""

import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

import numpy as np

import pengp


def by_python(folder: Path) -> None:
    """Fit the piston-slap runs; a loaded model predicts the same bits."""
    runs = pengp.load_piston_slap()
    model = pengp.PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
    pengp.save(model, folder / "python.pengp")
    mean, std = pengp.load(folder / "python.pengp").predict(runs.X, return_std=True)
    assert np.array_equal(mean, model.predict(runs.X))
    assert np.isfinite(std).all()
    assert (std > 0.0).all()


def by_command(folder: Path) -> None:
    """Fit the same table, write a report and predict it."""
    table = resources.files("pengp.datasets") / "piston_slap.csv"
    (folder / "runs.csv").write_bytes(table.read_bytes())
    commands = [
        ["fit", "runs.csv", "-y", "noise", "-o", "noise.pengp", "--report", "noise.html"],
        ["predict", "noise.pengp", "runs.csv", "-o", "predicted.csv"],
    ]
    for command in commands:
        subprocess.run([sys.executable, "-I", "-m", "pengp", *command], check=True, cwd=folder)
    assert (folder / "noise.html").read_text(encoding="utf-8").count("plotly") > 0
    assert len((folder / "predicted.csv").read_text(encoding="utf-8").splitlines()) == 13


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        by_python(Path(name))
        by_command(Path(name))
