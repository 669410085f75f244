"""
Next runs: the table is the state
=================================

A loop of a few runs at a time: propose, run, fill in, ask again. What is done, planned or failed
stands in the table, so that several people, or a queue, can work on one file.
"""

# %%
# Ten runs
# --------
# A reactor by its temperature and pressure. What the simulator computes is known here, so that it
# can answer; above 90 bar and 460 K it crashes, which happened to one of the ten.

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pengp.datasets import latin_hypercube, scale_design

folder = tempfile.TemporaryDirectory()
table = Path(folder.name) / "runs.csv"


def simulator(runs: pd.DataFrame) -> pd.Series:
    """Return the yield in per cent, nothing where the simulator crashes."""
    t, p = (runs["temperature"] - 400) / 100, runs["pressure"] / 100
    found = 50 + 20 * np.sin(4 * t) * p + 15 * np.exp(-20 * (t - 0.3) ** 2)
    return found.where((t < 0.6) | (p < 0.9)).round(2)


design = latin_hypercube(10, 2, method="maximin", random_state=2)
box = np.array([[400.0, 500.0], [10.0, 100.0]])
runs = pd.DataFrame(scale_design(design, box).round(1), columns=["temperature", "pressure"])
runs["yield"] = simulator(runs)
runs["status"] = np.where(runs["yield"].isna(), "failed", "done")
runs.to_csv(table, index=False)
print(runs.tail(3).to_string(index=False))


def shell(command: str) -> None:
    """Run a command of pengp in the folder of the table and print what a terminal would show."""
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder.name, capture_output=True, text=True, check=True)
    print(f"$ {command}\n{done.stdout}{done.stderr}")


# %%
# Ask
# ---
# Three runs that lower the variance over the whole design region most. The second table is the one
# that helps to stop: how much narrower intervals become with more runs. Nothing is proposed close
# to the failed run (``--radius``; ``--retry`` allows it again).

ask = "pengp next runs.csv --response yield -n 3 -b temperature=400:500 -b pressure=10:100"
shell(f"{ask} -o planned.csv")

# %%
# Add them
# --------
# The rows of ``planned.csv`` go into the table. The first crashed as well and gets the word
# ``failed``, the second is done, the third still waits in the queue: no response, ``planned``.

planned = pd.read_csv(Path(folder.name) / "planned.csv").round(1)
planned["yield"] = simulator(planned).where(planned.index < 2)
planned["status"] = ["failed", "done", "planned"]
state = pd.concat([runs, planned], ignore_index=True)
state.to_csv(table, index=False)
print(state.tail(4).to_string(index=False))

# %%
# Ask again
# ---------
# The planned run counts as known, so that it is not proposed twice.

shell(f"{ask} -o again.csv")

# %%
# Old and new in one picture.

again = pd.read_csv(Path(folder.name) / "again.csv")
figure, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for status, mark in (("done", "ko"), ("failed", "rx"), ("planned", "bs")):
    of = state[state["status"] == status]
    ax.plot(of["temperature"], of["pressure"], mark, label=status)
ax.plot(again["temperature"], again["pressure"], "C1*", markersize=13, label="proposed now")
ax.set(xlabel="temperature (K)", ylabel="pressure (bar)", title="The table, and what it asks for")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
folder.cleanup()

# %%
# In Python the same state is ``planned=`` and ``avoid=`` of ``next_runs``, and ``condition_on`` for
# what is done (:doc:`plot_10_new_runs`). Other goals, such as the optimum, a threshold, or to tell
# two explanations apart: :doc:`/next-runs`.
