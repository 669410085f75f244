"""
What comes out in use, and the optimum
======================================

Uncertain inputs make an uncertain response; and somewhere the response is best. Both answers come
with what the runs leave open.
"""

# %%
# Gears that wear
# ---------------
# The runs of :doc:`plot_12_effects`: speed, teeth and material decide how fast a gear wears.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pengp import BayesianGPRegressor
from pengp.decisions import optimum, propagate

rng = np.random.default_rng(1)
n = 24
runs = pd.DataFrame(
    {
        "speed": rng.uniform(1.0, 100.0, n),
        "teeth": rng.integers(1, 7, n),
        "material": rng.permutation(["brass", "steel", "wood"] * (n // 3)),
    }
)
shift = runs["material"].map({"brass": 0.4, "steel": 0.0, "wood": 1.0})
wear = (
    np.log10(runs["speed"]) + shift * (1.0 + 0.2 * runs["teeth"]) + 0.1 * (runs["teeth"] - 4) ** 2
)
model = BayesianGPRegressor(
    integer_inputs=["teeth"], input_transforms={"speed": "log10"}, random_state=0
).fit(runs, wear)

# %%
# What comes out
# --------------
# In use speeds vary, gears have four or five teeth and are of steel. What is the wear, and how
# often is it above 1.6?

laws = {"speed": "lognormal:3,0.5", "material": "steel", "teeth": "4:0.5,5:0.5"}
out = propagate(model, laws, constraint="wear < 1.6", response_name="wear")
print(out.to_frame().round(3).to_string(index=False))

# %%
# Each number has an interval, which is about the surrogate and narrows with further runs; the
# spread of the wear itself, from one gear to the next, does not. The quantiles, as a curve:

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
found = out.quantiles
ax.fill_betweenx(out.levels, found.lower, found.upper, alpha=0.3, label="95 % interval")
ax.plot(found.mean, out.levels, "o-", label="quantiles")
ax.axvline(1.6, color="C3", linestyle=":", label="constraint")
ax.set(xlabel="wear", ylabel="probability to be below", title="Wear of gears in use")
ax.legend()

# %%
# The optimum
# -----------
# Where wear is smallest, how probably that beats the best run, and where else it may be: the places
# where functions drawn from the posterior have their optimum.

best = optimum(model)
print(", ".join(f"{name} {value}" for name, value in best.inputs(best.x.round(2)).items()))
print(f"wear {best.mean:.2f}, 95 % in {best.lower:.2f} to {best.upper:.2f}")
print(f"better than the best run with probability {best.probability:.2f}")
print(best.to_frame().round(2).to_string(index=False))

# %%
# Steel, four teeth and the lowest speed of the runs: one place, and no doubt about it. Where there
# are several, or the probability is low, the next run belongs there: ``next_runs(model,
# goal="optimum")``.
#
# On the command line: ``pengp propagate`` and ``pengp optimize``. More on both: :doc:`/effects`,
# :doc:`/next-runs`.
