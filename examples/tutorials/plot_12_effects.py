"""
Effects: which inputs matter
============================

A lengthscale says how fast a response varies with an input, not how much of it the input decides.
Effects say how much, alone and together with others, and how sure that is.
"""

# %%
# Gears that wear
# ---------------
# A gear wears by its speed, its number of teeth and its material: 24 runs, with a material that has
# a name and teeth that are whole.

import numpy as np
import pandas as pd

from pengp import BayesianGPRegressor
from pengp.decisions import effects
from pengp.plots import EffectsDisplay, InteractionsDisplay, MainEffectsDisplay

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
# Shares of the variance
# ----------------------
# ``first`` is what an input explains alone, ``total`` what stays unknown if all others are known.
# Inputs follow laws: here steel is more frequent than brass and wood. Unless something else is
# said, they are uniform over the design region, on the logarithmic scale where they have one: so
# are the logarithm of the speed and the teeth.

found = effects(model, {"material": "steel:0.7,brass:0.2,wood:0.1"}, response_name="wear")
print(found.to_frame().round(3).head(6).to_string(index=False))

# %%
# An input whose total is larger than its first acts together with others. The intervals tell what
# the runs leave open, and further runs narrow them; they are short here, as wear is a simple
# function.

shares = EffectsDisplay.from_effects(found).plot()
shares.figure_.suptitle("Which inputs decide the wear")

# %%
# How each acts
# -------------
# The mean wear given one input, over all values of the others. Whole numbers and levels have bars:
# there is nothing between them.

curves = MainEffectsDisplay.from_effects(found).plot()
curves.figure_.suptitle("Mean wear given one input")

# %%
# Two together
# ------------
# What material and teeth do beyond each alone, and how sure that is. More teeth
# are worse for wood than for the others.

together = effects(model, pairs=[("material", "teeth")], response_name="wear")
surfaces = InteractionsDisplay.from_effects(together).plot()
surfaces.figure_.suptitle("Material and teeth together")

# %%
# On the command line: ``pengp effects gears.pengp --law material=steel:0.7,brass:0.2,wood:0.1``.
# How it is computed, and how often the intervals are right: :doc:`/effects`.
