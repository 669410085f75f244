"""
Decisions with a material and whole numbers
===========================================

A gear wears by its speed, its number of teeth and its material. Which of them matters, what comes
out in use, which runs to do next, and where wear is smallest: each with its uncertainty, and with
materials and teeth as they are.
"""

import numpy as np
import pandas as pd

from pengp import BayesianGPRegressor
from pengp.decisions import effects, next_runs, optimum, propagate
from pengp.plots import InteractionsDisplay, MainEffectsDisplay, NextRunsDisplay

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
# Effects
# -------
#
# The material is equally often brass, steel and wood unless a law says otherwise. Whole numbers and
# levels have bars: there is nothing between them.

found = effects(model, {"material": "steel:0.7,brass:0.2,wood:0.1"}, response_name="wear")
found.to_frame().head(6).round(3)

# %%

curves = MainEffectsDisplay.from_effects(found).plot()
curves.figure_.suptitle("Mean wear given one input")

# %%
# Material and teeth act together: what they do beyond each alone, and how sure that is.

together = effects(model, pairs=[("material", "teeth")], response_name="wear")
surfaces = InteractionsDisplay.from_effects(together).plot()
surfaces.figure_.suptitle("Material and teeth together")

# %%
# What comes out
# --------------
#
# Speeds vary in use, and the gears are of steel: how often is there too much wear?

laws = {"speed": "lognormal:3,0.5", "material": "steel", "teeth": "4:0.5,5:0.5"}
out = propagate(model, laws, constraint="wear < 1.6", response_name="wear")
out.to_frame().round(3)

# %%
# Next runs
# ---------
#
# Proposals are whole numbers and names of levels; conditions name levels too.

proposed = next_runs(model, 2, where="material != wood")
among = NextRunsDisplay.from_next_runs(proposed).plot()
among.figure_.suptitle("Proposed runs among the others")

# %%

proposed.to_frame().round(3)

# %%
# The optimum
# -----------
#
# Where wear is smallest, how probably that beats the best run, and where else it may be.

best = optimum(model)
print(best.inputs(best.x), f"wear {best.mean:.2f}, {best.lower:.2f} to {best.upper:.2f}")
best.to_frame().round(3)
