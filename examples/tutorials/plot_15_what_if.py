"""
What if? Answers without a program
==================================

A colleague asks "what if the speed were twice as high?". The report answers: one page, one slider
for each input, the prediction with its interval computed in the page, without a network.
"""

# %%
# The page
# --------
# A surrogate of two inputs, one of them on a logarithmic scale.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pengp import BayesianGPRegressor
from pengp.datasets import latin_hypercube
from pengp.report import write_report

unit = latin_hypercube(12, 2, method="maximin", random_state=0)
runs = pd.DataFrame({"speed": 10 ** (2 * unit[:, 0]), "load": 50 + 100 * unit[:, 1]})
wear = np.log10(runs["speed"]) + np.sin(runs["load"] / 25)
model = BayesianGPRegressor(input_transforms={"speed": "log10"}, random_state=0).fit(runs, wear)
with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "wear.html"
    write_report(model, page, info={"response": "wear"})
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB, one file")

# %%
# Send the file, or open it from disk. Under "What if?" sliders go along the scale of each input, in
# steps for whole numbers and by name for factors; a mark says when a setting is outside the runs.
#
# .. image:: /images/report/what_if.png
#    :alt: A slider for each of six inputs, and the prediction with its interval
#    :width: 80%
#
# The same in Python
# ------------------
# What a slider does is a prediction at settings that differ in one input.

asked = pd.DataFrame({"speed": [20.0, 40.0], "load": [80.0, 80.0]})
lower, upper = model.predict_interval(asked)
for speed, mean, low, high in zip(asked["speed"], model.predict(asked), lower, upper, strict=True):
    print(f"speed {speed:.0f}: wear {mean:.2f}, 95 % in {low:.2f} to {high:.2f}")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
line = pd.DataFrame({"speed": np.geomspace(1, 100, 60), "load": 80.0})
ax.fill_between(line["speed"], *model.predict_interval(line), alpha=0.3, label="95 % interval")
ax.semilogx(line["speed"], model.predict(line), label="prediction")
ax.plot(asked["speed"], model.predict(asked), "ko", label="asked")
ax.set(xlabel="speed", ylabel="wear", title="What if the speed were twice as high?")
ax.legend()

# %%
# Every section of the page: :doc:`/report`.
