"""
Five minutes in Python
======================

Twelve runs of an engine simulator become a surrogate: fit, look, predict, check, validate, save.
"""

# %%
# The runs
# --------
# The piston-slap runs ship with pengp: six inputs of an engine, and the noise that the simulator
# computes from them. Inputs and response stay in your units everywhere.

import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pengp
from pengp import BayesianGPRegressor, diagnose, load_piston_slap
from pengp.diagnostics import good_enough, validate
from pengp.plots import ActivityDisplay, LeaveOneOutDisplay, SliceDisplay

runs = load_piston_slap()
print(runs.X.shape, runs.input_names)
print(f"{runs.response_name}: {runs.y.min():.1f} to {runs.y.max():.1f} {runs.unit}")

# %%
# Fit
# ---
# ``BayesianGPRegressor`` averages over everything that twelve runs cannot tell: lengthscales, the
# weight of the penalty, the kernel. ``random_state`` makes the fit repeatable to the last bit.

model = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)

# %%
# Predict
# -------
# Mean and standard deviation, an interval, or any quantile of the predictive law.

x = runs.X.mean(axis=0, keepdims=True)
mean, std = model.predict(x, return_std=True)
lower, upper = model.predict_interval(x, level=0.95)
print(
    f"{mean[0]:.1f} dB, standard deviation {std[0]:.1f}, 95 % in {lower[0]:.1f} to {upper[0]:.1f}"
)
print(model.predict_quantiles(x, [0.1, 0.5, 0.9]).round(1))

# %%
# The prediction as one input moves, the others held at the mean of the runs.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
SliceDisplay.from_estimator(
    model, input="cylinder liner", input_names=runs.input_names, response_name="noise (dB)"
).plot(ax)
figure.suptitle("Prediction along the cylinder liner")

# %%
# Which inputs matter
# -------------------
# With which probability an input moves the response, and how fast the response varies with it.

display = ActivityDisplay.from_estimator(model, input_names=runs.input_names).plot()
display.figure_.suptitle("Which of the six inputs matter")

# %%
# Check
# -----
# Each run is predicted from the other eleven, with everything learned anew. This is the first thing
# to look at: a surrogate is worth what it predicts of runs that it does not know.

figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
LeaveOneOutDisplay.from_held_out(model, response_name="noise (dB)").plot(ax)
figure.suptitle("Runs that were held out")
print({name: round(value, 2) for name, value in model.held_out().scores().items()})

# %%
# Twelve runs are few for six inputs, and ``diagnose`` says so in a sentence. Whether it does harm
# depends on what you need: ``good_enough`` answers for a tolerance of yours, here an error
# of at most 4 dB for nine of ten new runs.

for line in str(diagnose(model)).splitlines():
    print(textwrap.fill(line, 90))
for sentence in good_enough(model, tolerance=4.0, probability=0.9).sentences():
    print(textwrap.fill(sentence, 90))

# %%
# Validate
# --------
# Runs that were kept apart are the best judge. The piston-slap simulator is not at hand here, so
# that this is a formula with two inputs.


def simulator(X: np.ndarray) -> np.ndarray:
    """Return a response that takes no hour to compute."""
    return np.asarray(np.sin(5 * X[:, 0]) + X[:, 1])


rng = np.random.default_rng(0)
train, test = rng.random((20, 2)), rng.random((30, 2))
other = BayesianGPRegressor(random_state=0, input_bounds=[(0, 1), (0, 1)])
found = validate(other.fit(train, simulator(train)), test, simulator(test))
print({name: round(value, 3) for name, value in found.scores.items()})

# %%
# Save
# ----
# A loaded model predicts with the same bits. The file holds no code and loading runs none.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "noise.pengp"
    pengp.save(model, path, info={"response": "noise", "unit": "dB"})
    loaded = pengp.load(path)
print(bool((loaded.predict(runs.X) == model.predict(runs.X)).all()))
