"""Posterior of theta under a prior: draws, weights, and the mixture of processes they make."""
