"""
Reading the checks
==================

Four questions to a fit, and what the answers look like when they are bad.
"""

# %%
# Do the runs identify theta?
# ---------------------------
# One theta for all six inputs of the piston-slap runs, by maximum likelihood. The stretch over
# which log L stays within 1e-4 of its maximum is shaded: it reaches the upper bound.

import textwrap
import warnings

import matplotlib.pyplot as plt

from pengp import BayesianGPRegressor, PenalizedGPRegressor, PengpWarning, diagnose
from pengp.choosing import q2
from pengp.datasets import load_piston_slap
from pengp.plots import (
    CoverageDisplay,
    LeaveOneOutDisplay,
    ProfileLikelihoodDisplay,
    ResidualsDisplay,
)

warnings.simplefilter("ignore", PengpWarning)  # this page makes bad fits on purpose
runs = load_piston_slap()
bad = PenalizedGPRegressor(lam=0.0, isotropic=True, random_state=0).fit(runs.X, runs.y)
display = ProfileLikelihoodDisplay.from_estimator(bad).plot()
display.figure_.suptitle("Flat up to the bound: theta is not identified")

# %%
# Is there another maximum?
# -------------------------
# With a theta for each input the likelihood has several. Those close to the best one explain the
# runs about as well, and may predict quite differently.

mle = PenalizedGPRegressor(lam=0.0, random_state=0).fit(runs.X, runs.y)
for mode in diagnose(mle).modes[:3]:
    print(f"objective {mode.objective:.2f}  theta {mode.theta.round(2)}")

# %%
# Is leave-one-out honest?
# ------------------------
# The usual check keeps theta, which has seen the run that is left out: it flatters. ``held_out``
# learns theta anew. Squares are runs outside their intervals.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
LeaveOneOutDisplay.from_estimator(mle, response_name="noise (dB)").plot(axes[0])
LeaveOneOutDisplay.from_held_out(mle, response_name="noise (dB)").plot(axes[1])
for ax in axes:
    ax.get_legend().remove()
axes[0].set_title(f"theta kept: Q2 {q2(runs.y, mle.loo_.mean):.2f}")
axes[1].set_title(f"theta learned anew: Q2 {mle.held_out().scores()['q2']:.2f}")

# %%
# Do the intervals hold what they promise?
# ----------------------------------------
# Share of runs inside their intervals, for all levels, beside the residuals that should be about
# standard normal. Below the diagonal the intervals are too narrow.

average = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
figure, axes = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
for ax, label, model in ((axes[0], "MLE", mle), (axes[1], "average", average)):
    CoverageDisplay.from_held_out(model).plot(ax)
    ax.get_legend().remove()
    ax.set_title(f"Coverage of held-out runs, {label}")
residuals = ResidualsDisplay.from_held_out(average, response_name="noise (dB)").plot()
residuals.figure_.suptitle("Standardised residuals of the average")

# %%
# All of it in sentences
# ----------------------
# ``diagnose`` asks all of these and says what was seen and what to do, the gravest first.

for line in str(diagnose(mle)).splitlines():
    print(textwrap.fill(line, 90))

# %%
# :doc:`/accuracy` has tolerances, test runs and intervals from errors that were seen.
