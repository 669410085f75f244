"""Members of the average: a kernel with its nugget and mean, and how much is expected of each."""

from dataclasses import dataclass, replace

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.exceptions import InputError
from pengp.model.folded import correlation_matrix
from pengp.model.kernels import Kernel, get_kernel
from pengp.model.likelihood import BatchLikelihood
from pengp.model.posterior import Posterior, condition


@dataclass(frozen=True)
class Member:
    """One model of the average.

    Attributes
    ----------
    kernel : Kernel
        Correlation.
    nugget : float or (float, float)
        Fixed g, or the range over which log g is uniform a priori.
    mean_variance : float
        c^2, prior variance of the constant mean divided by sigma2; 0 for a zero mean.
    weight : float
        Prior weight.
    """

    kernel: Kernel
    nugget: float | tuple[float, float] = 1e-5
    mean_variance: float = 9.0
    weight: float = 1.0

    @property
    def label(self) -> str:
        """Return the kernel's name and the nugget."""
        name = getattr(self.kernel, "name", type(self.kernel).__name__)
        g = self.nugget
        text = f"{g:g}" if isinstance(g, float) else f"{g[0]:g} to {g[1]:g}"
        return f"{name}, nugget {text}"

    def likelihood(self, X: FloatArray, y: FloatArray) -> BatchLikelihood:
        """Return the likelihood of runs X [n, d], y [n]."""
        nugget = self.nugget if isinstance(self.nugget, float) else None
        return BatchLikelihood(X[None], y[None], Shifted(self.kernel, self.mean_variance), nugget)

    def condition(
        self, X: FloatArray, y: FloatArray, theta: FloatArray, nugget: float
    ) -> Posterior:
        """Return the process at theta [d], conditioned on runs X [n, d], y [n]."""
        return condition(X, y, theta, kernel=self.kernel, nugget=nugget)


    def covariance(self, X: FloatArray, theta: FloatArray, nugget: FloatArray) -> FloatArray:
        """Return R, the mean's part included, [B, n, n] for theta [B, d] and nugget [B]."""
        inputs = np.broadcast_to(X, (len(theta), *X.shape))
        return correlation_matrix(inputs, theta, nugget, Shifted(self.kernel, self.mean_variance))


@dataclass(frozen=True)
class Shifted:
    """phi(s) + c^2: the correlation with a constant mean integrated out, R + c^2 1 1'."""

    kernel: Kernel
    shift: float

    def phi(self, s: FloatArray) -> FloatArray:
        """Return phi(s) + c^2."""
        return self.kernel.phi(s) + self.shift

    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the kernel's derivatives."""
        return self.kernel.derivatives(s, phi - self.shift)


def default_members(d: int) -> tuple[Member, ...]:
    """Return the members of the default average for d inputs.

    The squared exponential with two nuggets, the radial and the tensor-product Matern 5/2, a third
    each. With one input the two Materns are the same: the squared exponential with the smaller
    nugget has 2/3 and Matern 1/3, and the mean is zero.
    """
    if d == 1:
        smooth, rough = get_kernel("sqexp"), get_kernel("matern52")
        return Member(smooth, 1e-8, 0.0, 2 / 3), Member(rough, 1e-5, 0.0, 1 / 3)
    return (
        Member(get_kernel("sqexp"), 1e-5, weight=1 / 6),
        Member(get_kernel("sqexp"), 1e-8, weight=1 / 6),
        Member(get_kernel("matern52"), 1e-5, weight=1 / 3),
    )


def checked(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Return the members with weights that sum to 1."""
    total = sum(member.weight for member in members)
    sound = all(0.0 < member.weight < np.inf for member in members)
    if not members or not sound:
        raise InputError("the average needs members, each with a positive prior weight.")
    return tuple(replace(member, weight=member.weight / total) for member in members)
