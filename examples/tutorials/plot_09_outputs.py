"""
Many outputs
============

A simulator rarely returns one number. Responses [n, q] are fitted as one batch, each output with a
lambda, a theta and a check of its own.
"""

# %%
# Three responses of one table
# ----------------------------

import matplotlib.pyplot as plt
import numpy as np

from pengp import PenalizedGPRegressorCV, diagnose, get_function
from pengp.datasets import latin_hypercube, scale_design
from pengp.plots import LeaveOneOutDisplay, SliceDisplay

branin = get_function("branin")
U = latin_hypercube(20, 2, method="maximin", random_state=1)
X = scale_design(U, branin.bounds)
Y = np.column_stack([branin(X), np.sin(4 * U[:, 0]), U @ [1.0, 2.0]])
print(Y.shape)

# %%
# One fit
# -------
# Fitted attributes have an axis of the outputs.

model = PenalizedGPRegressorCV(cv=5, random_state=0).fit(X, Y)
print("lambda:", np.round(model.lam_, 4))
print("theta:", model.theta_.round(3), sep="\n")

# %%
# The second response depends on the first input alone, and its theta says so. Predictions are
# [m, q], and so are their standard deviations.

mean, std = model.predict(X[:2], return_std=True)
print(mean.round(2), std.round(4), sep="\n")

# %%
# One output at a time
# --------------------
# Displays, ``diagnose`` and reports take ``output=``.

names = ("branin", "wave", "plane")
figure, axes = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
for k, name in enumerate(names):
    SliceDisplay.from_estimator(model, input=0, output=k, response_name=name).plot(axes[0, k])
    LeaveOneOutDisplay.from_held_out(model, output=k, response_name=name).plot(axes[1, k])
    axes[0, k].get_legend().remove()
    axes[1, k].get_legend().remove()
    axes[0, k].set_title(f"{name}: along the first input")
    axes[1, k].set_title(f"{name}: held-out runs")
    print(name, [finding.code for finding in diagnose(model, output=k).findings])

# %%
# Outputs do not learn from each other: each is a surrogate of its own. For a curve or a field with
# hundreds of values, fit a few coefficients of it, such as principal components. A
# ``BayesianGPRegressor`` takes responses [n, q] as well.
