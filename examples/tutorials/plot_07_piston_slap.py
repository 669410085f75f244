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

import tempfile
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pengp import BayesianGPRegressor, diagnose, load_piston_slap
from pengp.datasets import scale_design
from pengp.decisions import effects, next_runs
from pengp.diagnostics import good_enough, validate
from pengp.plots import EffectsDisplay, LeaveOneOutDisplay
from pengp.report import write_report

data = load_piston_slap()
runs = pd.DataFrame(data.X, columns=list(data.input_names)).assign(noise=data.y)
print(runs.round(2).to_string(index=False))

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
for line in str(diagnose(model)).splitlines():
    print(textwrap.fill(line, 90))

# %%
# The report
# ----------
# One page for the colleague who asks how sure this is: what was found in sentences, every figure,
# sliders to try settings, the runs. The sentence that is returned compares with the paper's choice.

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "noise.html"
    for sentence in write_report(model, page, info={"response": "noise (dB)"}):
        print(textwrap.fill(sentence, 90))
    print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")

# %%
# What drives the noise
# ---------------------
# Shares of the variance of the noise when all inputs vary over the design region, each with an
# interval that says what the runs leave open: here, a lot.

found = effects(model, response_name="noise")
shares = EffectsDisplay.from_effects(found).plot()
shares.figure_.suptitle("Which inputs drive the noise")

# %%
# The decision
# ------------
# The quietest of 1,000 settings: by its mean, and by the value that it stays below with 95 %
# probability. The second is the careful one, as it does not go where the surrogate knows nothing.
# Both lead to the same corner, next to the quietest run, and promise nothing better than that run:
# the surrogate has no reason yet to leave it.

bounds = np.column_stack([X.min(), X.max()])
unit = np.random.default_rng(0).random((1000, X.shape[1]))
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
for sentence in answer.sentences():
    print(textwrap.fill(sentence, 90))

# %%
# Where to run next
# -----------------
# The three runs that lower the variance over the design region most, and what more runs would buy:
# the mean width of the 95 % intervals. The table that keeps what is planned and what failed:
# :doc:`plot_13_next_runs`; other goals, such as the optimum: :doc:`/next-runs`.

proposed = next_runs(model, 3)
print(proposed.to_frame().round(2).to_string(index=False))
steps = proposed.steps
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot([step.runs for step in steps], [step.width for step in steps], "o-")
ax.set(xlabel="further runs", ylabel="mean width of 95 % intervals (dB)", ylim=(0, None))
ax.set_title("What further runs buy")

# %%
# Validate
# --------
# When the new runs are there, they are test runs first, and then the model learns them
# (:doc:`plot_10_new_runs`). Here they are not, so nine of the twelve runs play the old ones, and
# the other three judge.

order = np.random.default_rng(0).permutation(len(runs))
old, new = order[3:], order[:3]
nine = BayesianGPRegressor(random_state=0, input_bounds=bounds).fit(X.iloc[old], y.iloc[old])
judged = validate(nine, X.iloc[new], y.iloc[new])
mean, (lower, upper) = nine.predict(X.iloc[new]), nine.predict_interval(X.iloc[new])
for found, low, high, true in zip(mean, lower, upper, y.iloc[new], strict=True):
    print(f"predicted {found:.1f} dB, 95 % in {low:.1f} to {high:.1f}; simulator {true:.1f}")
print({name: round(value, 2) for name, value in judged.scores.items()})

# %%
# Two of the three fall outside their intervals: the quiet settings are quieter than nine runs can
# tell. So the decision is not to trust the quiet corner yet, and to do the runs proposed above.
