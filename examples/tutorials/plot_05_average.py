"""
Not choosing it: the average
============================

With a dozen runs no lambda, theta or kernel deserves trust alone. The average keeps them all, with
weights, and tells what it is an average of.
"""

# %%
# The same runs, no choice
# ------------------------
# Beside the average stands the paper's choice of lambda. Its fit warns that held-out runs are
# predicted no better than by their mean; see :doc:`plot_06_checks`.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from pengp import BayesianGPRegressor, PenalizedGPRegressorCV, load_piston_slap
from pengp.plots import ExplanationsDisplay

runs = load_piston_slap()
average = BayesianGPRegressor(random_state=0).fit(runs.X, runs.y)
with warnings.catch_warnings(record=True, action="always") as told:
    chosen = PenalizedGPRegressorCV(cv=4, random_state=0).fit(runs.X, runs.y)
print(told[0].message)

# %%
# Explanations and their weights
# ------------------------------
# Each peak of the posterior is one explanation of the runs: which inputs matter and how fast the
# response varies with them. An average must not hide that there are several.

display = ExplanationsDisplay.from_estimator(average, input_names=runs.input_names).plot()
display.figure_.suptitle("Kernels and explanations, with their weights")
print({name: round(weight, 2) for name, weight in average.kernel_weights_.items()})

# %%
# What it changes
# ---------------
# Predictions between the runs, with intervals that carry what is open. The chosen fit knows one
# theta and believes it.

ends = np.array([runs.X[runs.y.argmin()], runs.X[runs.y.argmax()]])
along = np.linspace(0.0, 1.0, 60)
line = ends[0] + along[:, None] * (ends[1] - ends[0])
figure, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
for label, model, colour in (("average", average, "C0"), ("lambda chosen", chosen, "C1")):
    lower, upper = model.predict_interval(line, level=0.95)
    ax.fill_between(along, lower, upper, alpha=0.25, color=colour)
    ax.plot(along, model.predict(line), color=colour, label=label)
ax.plot([0, 1], [runs.y.min(), runs.y.max()], "ko", label="runs")
ax.set(
    xlabel="from the quietest to the loudest run", ylabel="noise (dB)", title="Two kinds of belief"
)
ax.legend()

# %%
# Who is right
# ------------
# Runs that were held out, with everything learned anew: CRPS scores the whole law (lower is
# better), coverage is the share of runs inside their 95 % intervals.

for label, model in (("average", average), ("lambda chosen", chosen)):
    print(label, {k: round(v, 2) for k, v in model.held_out().scores().items()})

# %%
# CRPS prefers the chosen fit here, but a third of the runs fall outside its intervals: log score
# and interval score, which punish that, prefer the average. Twelve held-out runs cannot decide
# much; the hundred test runs of this simulator did (:doc:`/average`): an RMSE of 0.62 for the
# average and 0.77 for maximum likelihood, in standard deviations, and all 100 inside against 50.
#
# Is the sampler to be believed?
# ------------------------------
# Draws that count, the error of the evidence, and the Pareto shape of the weights (below 0.7). A
# fit for which one of these is bad warns.

print(round(average.effective_size_), round(average.log_evidence_error_, 3))
print(round(average.pareto_shape_, 2))

# %%
# The model, its prior and its limits: :doc:`/average`. What to use when: :doc:`/which-method`.
