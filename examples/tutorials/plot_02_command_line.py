"""
Five minutes on the command line
================================

A table of runs becomes a model file, predictions and a report, without programming. What follows
a dollar sign was run when this page was built, and what you see is what it prints.
"""

# %%
# A table of runs
# ---------------
# One column for each input, one for the response, one run in each row: CSV, TSV, Excel or Parquet.
# Here it is the file that ships with pengp.

import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import pengp

folder = Path(tempfile.mkdtemp())
shutil.copy(Path(pengp.__path__[0]) / "datasets" / "piston_slap.csv", folder / "runs.csv")
print((folder / "runs.csv").read_text(encoding="utf-8"))


def shell(command: str) -> None:
    """Run a command of pengp in the folder of the table and print what a terminal would show."""
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    print(f"$ {command}\n{done.stdout}{done.stderr}")


# %%
# Fit
# ---
# It prints how well runs are predicted that were held out, whether that is good enough for an error
# of 4 dB, which inputs matter, the explanations that are averaged, and what to beware of.

shell("pengp fit runs.csv --response noise --tolerance 4 --seed 0")

# %%
# ``--report report.html`` writes a report as well, as ``pengp report runs.pengp`` does later: one
# page that opens without a network, with figures that follow the mouse; see :doc:`/report`.
#
# .. image:: /images/report/findings.png
#    :alt: First screen of a report: what was found, in sentences
#    :width: 80%

# %%
# Predict
# -------
# New settings go into a table with the same columns of inputs.

runs = pd.read_csv(folder / "runs.csv")
inputs = runs.columns.drop("noise")
middle = pd.DataFrame([runs[inputs].mean()] * 30)
middle[inputs[0]] = np.linspace(runs[inputs[0]].min(), runs[inputs[0]].max(), 30)
middle.to_csv(folder / "new.csv", index=False)
shell("pengp predict runs.pengp new.csv --output predictions.csv")

# %%
# The predictions stand beside the inputs, ready for a plot.

found = pd.read_csv(folder / "predictions.csv")
print(found.iloc[:3, -4:].round(2).to_string())
lower, upper = (next(c for c in found.columns if c.endswith(end)) for end in ("lower", "upper"))
mean = next(c for c in found.columns if c.endswith("mean"))
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.fill_between(found[inputs[0]], found[lower], found[upper], alpha=0.3, label="95 % interval")
ax.plot(found[inputs[0]], found[mean], label="prediction")
ax.set(xlabel=inputs[0], ylabel="noise (dB)", title=f"Predictions along the {inputs[0]}")
ax.legend()

# %%
# And then
# --------
# ``pengp validate runs.pengp test.csv`` compares with runs that were kept apart, ``pengp update
# runs.pengp more.csv`` teaches the model new ones, ``pengp info`` shows what a file holds. Every
# command, option, file format and exit code: :doc:`/command-line`.

shutil.rmtree(folder)
