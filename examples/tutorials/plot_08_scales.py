"""
Scales, integers and factors
============================

A response over several decades and an input over three: what a logarithm is worth, and what the
predictions mean in your own unit; then inputs that are counted or named.
"""

# %%
# A simulator with a power law
# ----------------------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pengp import BayesianGPRegressor
from pengp.choosing import q2
from pengp.datasets import latin_hypercube


def simulator(X: np.ndarray) -> np.ndarray:
    """Return a rate, in 1/s, for a concentration and a temperature in kelvin."""
    c, T = X.T
    return np.asarray(1e6 * c**0.7 * np.exp(-3000.0 / T) * (1.5 + np.sin(T / 25)))


def inputs(n: int, seed: int) -> np.ndarray:
    """Return concentrations spread over three decades, and temperatures."""
    U = latin_hypercube(n, 2, random_state=seed)
    return np.column_stack([10 ** (3 * U[:, 0] - 3), 280 + 100 * U[:, 1]])


X, new = inputs(15, 1), inputs(200, 2)
y, truth = simulator(X), simulator(new)

# %%
# With and without
# ----------------
# ``input_transforms`` goes by number or name of the column, ``response_transform`` is for the
# response. Results come back in the units of the runs.

plain = BayesianGPRegressor(random_state=0).fit(X, y)
scaled = BayesianGPRegressor(
    input_transforms={0: "log10"}, response_transform="log", random_state=0
).fit(X, y)

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, (label, model) in zip(axes, {"as given": plain, "logarithms": scaled}.items(), strict=True):
    lower, upper = model.predict_interval(new, level=0.95)
    middle = model.predict_quantiles(new, [0.5])[:, 0]
    inside = np.mean((truth >= lower) & (truth <= upper))
    ax.vlines(truth, np.maximum(lower, truth.min() / 10), upper, alpha=0.25)
    ax.plot(truth, np.maximum(middle, truth.min() / 10), ".")
    ax.plot([truth.min(), truth.max()], [truth.min(), truth.max()], "k--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="simulator", ylabel="median and 95 % interval")
    ax.set_title(f"{label}: {inside:.0%} inside")

# %%
# Without logarithms many intervals reach below zero, where no rate can be; those of the logarithm
# cannot.

print("intervals below zero:", np.mean(plain.predict_interval(new)[0] < 0).round(2))
print("intervals below zero:", np.mean(scaled.predict_interval(new)[0] < 0).round(2))
print("Q2 as given:", round(q2(truth, plain.predict(new)), 3))
print("Q2 with logarithms:", round(q2(truth, scaled.predict(new)), 3))

# %%
# Mean and median differ
# ----------------------
# The law of a response whose logarithm is symmetric is skewed. ``predict`` returns its mean,
# ``predict_quantiles`` its median; the lengthscale of the ``log10`` input is in decades.

print("mean:", scaled.predict(new[:1]).round(4))
print("median:", scaled.predict_quantiles(new[:1], [0.5])[0].round(4))
print("lengthscales:", scaled.lengthscale_.round(2))

# %%
# On the command line ``--log NAME`` and ``--log-response``, or ``--log auto``, which looks whether
# a logarithm pays. What is exact and what is not: :doc:`/scales`.

# %%
# Integers and factors
# --------------------
# A number of teeth is whole, a material has a name. Columns of text are factors by themselves,
# whole numbers are named in ``integer_inputs``.

rng = np.random.default_rng(0)
runs = pd.DataFrame(
    {
        "speed": rng.uniform(0, 2, 24),
        "material": rng.permutation(["brass", "steel", "wood"] * 8),
        "teeth": rng.integers(1, 6, 24),
    }
)
shift = runs["material"].map({"brass": 1.0, "steel": 0.0, "wood": -0.6})
wear = np.sin(2 * runs["speed"]) + shift + 0.3 * runs["teeth"]
model = BayesianGPRegressor(integer_inputs=["teeth"], random_state=0).fit(runs, wear)

speed = np.linspace(0, 2, 60)
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for colour, material in enumerate(("brass", "steel", "wood")):
    line = pd.DataFrame({"speed": speed, "material": material, "teeth": 3})
    lower, upper = model.predict_interval(line)
    ax.fill_between(speed, lower, upper, alpha=0.25, color=f"C{colour}")
    ax.plot(speed, model.predict(line), color=f"C{colour}", label=material)
ax.set(xlabel="speed", ylabel="wear", title="Three materials, three teeth")
ax.legend()

# %%
# Each material borrows from the others as far as the runs say that they are alike. Levels that no
# run has, transforms of whole numbers and several responses: :doc:`/levels`.
