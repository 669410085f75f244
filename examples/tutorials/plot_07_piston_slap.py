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
from pengp.datasets import continue_design, scale_design
from pengp.diagnostics import good_enough
from pengp.model import InputScaler
from pengp.plots import ActivityDisplay, ContourDisplay, LeaveOneOutDisplay

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
for finding in diagnose(model).findings:
    print(f"[{finding.code}] {finding.message}")

# %%
# What drives the noise
# ---------------------

display = ActivityDisplay.from_estimator(model).plot()
display.figure_.suptitle("Probability that an input matters, and its lengthscale")

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

scaler = InputScaler.from_data(X.to_numpy())
unit = np.random.default_rng(0).random((4000, X.shape[1]))
bounds = np.column_stack([X.min(), X.max()])
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
# Three settings that fill the gaps of the design; ``pengp design`` writes such tables. When they
# are there, :doc:`plot_10_new_runs` goes on.

gaps = continue_design(scaler.transform(X.to_numpy()), 3, random_state=0)
print(pd.DataFrame(scale_design(gaps, bounds), columns=X.columns).round(2).to_string(index=False))
