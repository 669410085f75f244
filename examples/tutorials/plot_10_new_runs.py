"""
Updating with new runs
======================

Further runs arrive. First they judge the model, then it learns them, and from time to time it is
fitted anew.
"""

# %%
# Ten runs, then five more
# ------------------------

import matplotlib.pyplot as plt
import numpy as np

from pengp import BayesianGPRegressor
from pengp.datasets import continue_design, latin_hypercube
from pengp.diagnostics import validate


def simulator(U: np.ndarray) -> np.ndarray:
    """Return a bump on a slope."""
    return np.asarray(np.exp(-12 * ((U - [0.7, 0.3]) ** 2).sum(axis=1)) + 0.4 * U[:, 0])


box = [(0.0, 1.0), (0.0, 1.0)]
X = latin_hypercube(10, 2, method="maximin", random_state=3)
model = BayesianGPRegressor(input_bounds=box, random_state=0).fit(X, simulator(X))
more = continue_design(X, 5, random_state=0)

# %%
# They judge
# ----------
# New runs are test runs before they are anything else.

found = validate(model, more, simulator(more))
print({name: round(value, 3) for name, value in found.scores.items()})

# %%
# It learns
# ---------
# ``condition_on`` returns a model that knows the runs. An average weighs its draws of theta anew,
# and samples again where too few of them are left; a penalized fit keeps theta and takes a rank-k
# step. The old model stays as it was.

later = model.condition_on(more, simulator(more))

side = np.linspace(0, 1, 41)
grid = np.array([(a, b) for b in side for a in side])
figure, axes = plt.subplots(1, 2, figsize=(10, 4.3), sharey=True, layout="constrained")
for ax, fitted, runs, title in (
    (axes[0], model, X, "Ten runs"),
    (axes[1], later, np.vstack([X, more]), "Fifteen runs"),
):
    error = np.abs(fitted.predict(grid) - simulator(grid)).reshape(41, 41)
    shown = ax.contourf(side, side, error, levels=np.linspace(0, 0.6, 13), extend="max")
    ax.plot(*runs.T, "wo", markeredgecolor="k")
    ax.set(title=f"{title}: largest error {error.max():.2f}", xlabel="x1")
axes[0].set_ylabel("x2")
figure.colorbar(shown, ax=axes, label="error of the prediction")

# %%
# Or it is fitted anew
# --------------------
# A fit of all fifteen runs costs seconds, and scales and lengthscales follow the new runs. Do it
# when the new runs surprised the old model.

anew = BayesianGPRegressor(input_bounds=box, random_state=0).fit(
    np.vstack([X, more]), simulator(np.vstack([X, more]))
)
for label, fitted in (("before", model), ("conditioned", later), ("anew", anew)):
    print(label, np.sqrt(np.mean((fitted.predict(grid) - simulator(grid)) ** 2)).round(4))

# %%
# On the command line: ``pengp update runs.pengp more.csv`` shows how the new runs had been
# predicted, and teaches them.
