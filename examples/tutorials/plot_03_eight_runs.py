"""
Why maximum likelihood fails on eight runs
==========================================

The story of the paper's introduction: eight runs of a smooth function, and a likelihood that has
nothing to say about the lengthscale.
"""

# %%
# Eight runs
# ----------
# The Forrester function at eight equally spaced inputs. A person would draw a good curve through
# them.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from pengp import (
    BayesianGPRegressor,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    PengpWarning,
    get_function,
    lambda_grid,
    profile_loglik,
)

forrester = get_function("forrester")
X = np.linspace(0.0, 1.25, 8)[:, None]
y = forrester(X)
grid = np.linspace(0.0, 1.25, 301)[:, None]

# %%
# The likelihood is flat
# ----------------------
# The profile log likelihood of theta, with inputs in the unit interval and the response
# standardised. It rises, and then it is level: from theta = 715 on it changes by less than a
# millionth. Its maximum is at the bound, where the surrogate no longer learns from its neighbours.

unit, standard = X / 1.25, (y - y.mean()) / y.std(ddof=1)
theta = np.geomspace(1e-3, 1e3, 200)
loglik = np.array([profile_loglik(unit, standard, [t]).value for t in theta])

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.semilogx(theta, loglik)
ax.axvline(theta[loglik.argmax()], color="C3", linestyle=":", label="maximum likelihood")
ax.set(xlabel="theta", ylabel="log L(theta)", title="A likelihood that identifies nothing")
ax.legend()

# %%
# What comes of it
# ----------------
# ``lam=0`` is maximum likelihood. ``flat_`` says between which values of theta the likelihood
# cannot choose. The fit warns by itself.

with warnings.catch_warnings(record=True, action="always") as told:
    mle = PenalizedGPRegressor(lam=0.0, random_state=0).fit(X, y)
print(told[0].message)
print("theta at maximum likelihood:", mle.theta_.round(1))
print("flat between", mle.flat_.lower.round(1), "and", mle.flat_.upper.round(1))

# %%
# A penalty on theta asks for the smoothest surface that explains the runs about as well:
# Q(theta) = log L(theta) - n lambda theta. The paper finds theta = 27.4 at lambda = 0.005. Fits of
# eight runs warn of one thing or the other; from here on this page does not repeat it.

warnings.simplefilter("ignore", PengpWarning)

penalized = PenalizedGPRegressor(lam=0.005, random_state=0).fit(X, y)
print("theta at lambda = 0.005:", penalized.theta_.round(2))

# %%
# Cross-validation chooses lambda with the paper's metric, DPE, and the one-standard-error rule;
# or nothing is chosen, and the average weighs every theta by its posterior.

chosen = PenalizedGPRegressorCV(lams=lambda_grid("paper"), cv=4, random_state=0).fit(X, y)
average = BayesianGPRegressor(random_state=0).fit(X, y)
print("lambda chosen:", round(float(chosen.lam_), 4), "theta:", chosen.theta_.round(2))

figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True, layout="constrained")
models = {"Maximum likelihood": mle, "Penalized, lambda by DPE": chosen, "Average": average}
for ax, (title, model) in zip(axes, models.items(), strict=True):
    lower, upper = model.predict_interval(grid, level=0.95)
    ax.fill_between(grid[:, 0], lower, upper, alpha=0.25, label="95 % interval")
    ax.plot(grid[:, 0], model.predict(grid), label="prediction")
    ax.plot(grid[:, 0], forrester(grid), "k--", linewidth=1, label="simulator")
    ax.plot(X[:, 0], y, "ko", markersize=4, label="runs")
    error = np.sqrt(np.mean((model.predict(grid) - forrester(grid)) ** 2))
    ax.set(title=f"{title}\nRMSE {error:.2f}", xlabel="x")
axes[0].legend(fontsize="small")

# %%
# The dashed line is the simulator, which no method saw. Maximum likelihood returns to the mean
# between the runs; the other two do what a person would. One design proves nothing:
# :doc:`/methods` has twelve functions and eleven real simulators.
