"""
Choosing lambda
===============

One table holds every metric for every lambda and fold. How the choice comes about, which choices
there are, and how much of it is the luck of the folds.
"""

# %%
# One fit, one table
# ------------------
# ``PenalizedGPRegressorCV`` fits all folds and all 41 lambdas of the paper's grid as one batch. It
# warns: with twelve runs and six inputs held-out runs are predicted no better than by their mean.

import warnings

import matplotlib.pyplot as plt

from pengp import PenalizedGPRegressorCV, load_piston_slap, random_folds
from pengp.plots import CVCurveDisplay, StabilityDisplay, ThetaPathDisplay

runs = load_piston_slap()
folds = random_folds(len(runs.y), 4, repeats=20, random_state=0)
model = PenalizedGPRegressorCV(cv=folds, metric="dpe", rule="1se", random_state=0)
with warnings.catch_warnings(record=True, action="always") as told:
    model.fit(runs.X, runs.y)
print(told[0].message)
table = model.cv_table_
print(table.to_frame().head().round(3))

# %%
# Metrics
# -------
# PE squares errors. MD divides them by their predicted covariance, DPE does so without the scale
# sigma2, and Score adds the log determinant. The star is the best mean, the square the largest
# lambda within one standard error of it, the diamond what was chosen by DPE.

figure, axes = plt.subplots(2, 2, figsize=(11, 7), layout="constrained")
for ax, metric in zip(axes.flat, ("pe", "md", "score", "dpe"), strict=True):
    CVCurveDisplay.from_estimator(model, metric=metric).plot(ax)
    ax.get_legend().remove()
    ax.set_title(f"{metric.upper()}: best {table.best(metric):.4f}, 1SE {table.one_se(metric):.4f}")

# %%
# The paper prefers DPE: MD and Score reward a large sigma2, PE does not know that errors of
# neighbours are alike.
#
# The one-standard-error rule
# ---------------------------
# Among lambdas that predict about equally well it takes the one that penalizes most: the smoothest
# surface, with the fewest active inputs.

print("best:", table.best("dpe"), "one standard error:", round(table.one_se("dpe"), 4))
display = ThetaPathDisplay.from_estimator(model, input_names=runs.input_names).plot()
display.figure_.suptitle("Which inputs are active, from which lambda on")

# %%
# The luck of the folds
# ---------------------
# Twelve runs in four folds can be dealt in 15,400 ways. Each of the twenty repeats alone would have
# chosen this:

stability = StabilityDisplay.from_estimator(model).plot()
stability.figure_.suptitle("What twenty ways to deal the folds would choose")
print(table.stability("dpe", "1se").round(4))

# %%
# A choice that changes by a factor of a hundred with the folds is no property of the runs. Repeat
# the folds, as here, spread them over the input space (``cv="space-filling:4"``), or do not choose:
# :doc:`plot_05_average`. Metrics, rules and folds of your own: :doc:`/choosing`.
