"""Posterior of theta under a prior: draws, weights, and the mixture of processes they make."""

from pengp.bayes.priors import (
    PRIORS,
    Gamma,
    HierarchicalLasso,
    JointlyRobust,
    Prior,
    get_prior,
)

__all__ = ["PRIORS", "Gamma", "HierarchicalLasso", "JointlyRobust", "Prior", "get_prior"]
