"""
A real case, from table to decision
===================================

A piston that tilts in its cylinder is heard as noise. Twelve runs of a simulator of an engine, six
inputs: which setting is quiet, how sure is that, and where would further runs help?
"""

# %%
# The table
# ---------
# A data frame as it comes from a file. Names of columns are kept, in plots as in predictions.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pengp import BayesianGPRegressor, diagnose, load_piston_slap
from pengp.datasets import scale_design
from pengp.decisions import effects, next_runs
from pengp.diagnostics import good_enough
from pengp.plots import ContourDisplay, EffectsDisplay, LeaveOneOutDisplay

data = load_piston_slap()
runs = pd.DataFrame(data.X, columns=list(data.input_names)).assign(noise=data.y)
print(runs.round(2).to_string())

# %%
# Fit and check
# -------------
# First the runs that were held out, then what there is to beware of. The answer is sobering:
# between its twelve runs the surrogate knows little more than their mean. Its intervals know that.

X, y = runs.drop(columns="noise"), runs["noise"]
model = BayesianGPRegressor(random_state=0).fit(X, y)
figure, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
LeaveOneOutDisplay.from_held_out(model, response_name="noise (dB)").plot(ax)
figure.suptitle("Each run predicted from the other eleven")
print({name: round(value, 2) for name, value in model.held_out().scores().items()})
print(diagnose(model))

# %%
# What drives the noise
# ---------------------
# Shares of the variance of the noise when all inputs vary over the design region, each with an
# interval that says what the runs leave open: here, a lot.

found = effects(model, response_name="noise")
shares = EffectsDisplay.from_effects(found).plot()
shares.figure_.suptitle("Which inputs drive the noise")

# %%
# The two inputs that move the noise most, the others at the mean of the runs: the prediction, and
# how wide its interval is.

first, second = (X.columns[i] for i in model.activity_.change[:, 1].argsort()[::-1][:2])
contour = ContourDisplay.from_estimator(model, inputs=(first, second), response_name="noise (dB)")
contour.plot().figure_.suptitle(f"Noise over {first} and {second}")

# %%
# The decision
# ------------
# The quietest of 4,000 settings: by its mean, and by the value that it stays below with 95 %
# probability. The second is the careful one, as it does not go where the surrogate knows nothing.
# Both lead to the same corner, next to the quietest run, and promise nothing better than that run:
# the surrogate has no reason yet to leave it.

bounds = np.column_stack([X.min(), X.max()])
unit = np.random.default_rng(0).random((4000, X.shape[1]))
settings = pd.DataFrame(scale_design(unit, bounds), columns=X.columns)
mean = model.predict(settings)
high = model.predict_quantiles(settings, [0.95])[:, 0]
for label, best in (("by the mean", mean.argmin()), ("by the 95 % quantile", high.argmin())):
    print(f"{label}: {mean[best]:.1f} dB, below {high[best]:.1f} with 95 %")
    print(settings.iloc[[int(best)]].round(2).to_string(index=False))
print(f"quietest run so far: {y.min():.1f} dB")

# %%
# Good enough?
# ------------
# For an error of 2 dB in nine of ten settings it is not, and ``good_enough`` estimates how many
# more runs that would take.

answer = good_enough(model, tolerance=2.0, probability=0.9)
print("\n".join(answer.sentences()))

# %%
# Where to run next
# -----------------
# The three runs that lower the variance over the design region most, and what more runs would buy:
# the mean width of the 95 % intervals. When they are there, :doc:`plot_10_new_runs` goes on; other
# goals, such as the optimum, are in :doc:`/next-runs`.

proposed = next_runs(model, 3)
print(proposed.to_frame().round(2).to_string(index=False))
steps = proposed.steps
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot([step.runs for step in steps], [step.width for step in steps], "o-")
ax.set(xlabel="further runs", ylabel="mean width of 95 % intervals (dB)", ylim=(0, None))
ax.set_title("What further runs buy")
