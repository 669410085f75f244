"""Of the view of a fitted model: its scales, and its predictive laws where they are transformed."""

from functools import cached_property
from typing import Any

import numpy as np

from pengp._core.arrays import FloatArray
from pengp.estimators.laws import MappedLaw
from pengp.estimators.path_view import PathView
from pengp.model.elementary import Transform
from pengp.model.levels import Integer
from pengp.model.transforms import IDENTITY


class ScaledView(PathView):
    """What `FittedView` knows of transforms; see there."""

    response: str
    ranges: Any  # lower and upper ends [d] of the inputs

    @property
    def input_transforms(self) -> list[Transform]:
        """The transforms of the d inputs."""
        found: list[Transform] = self.estimator.input_transforms_
        return found

    @property
    def response_transform(self) -> Transform:
        """The transform of the response."""
        found: Transform = self.own(self.estimator.response_transform_)
        return found

    @property
    def modelled(self) -> str:
        """What to call the response on the scale on which it is modelled, as in 'log10(y)'."""
        return self.response_transform.of(self.response)

    def on_log_axis(self, p: int | None) -> bool:
        """Whether input p, or the response for None, belongs on a logarithmic axis."""
        transform = self.response_transform if p is None else self.input_transforms[p]
        return transform.is_logarithm

    def grid(self, p: int, low: float, high: float, size: int) -> FloatArray:
        """Return values [size] of input p, equally spaced on its scale from low to high.

        Of an input of whole numbers they are not rounded, so that steps show.
        """
        transform, ends = self.input_transforms[p], np.array([low, high])
        transform = transform.scale if isinstance(transform, Integer) else transform
        first, last = transform.forward(ends).tolist()
        inside = transform.inverse(np.linspace(first, last, size)[1:-1])
        return np.concatenate([ends[:1], inside, ends[1:]])

    @property
    def middle(self) -> FloatArray:
        """The mean [d] of the runs' inputs, on their scales, in the user's units."""
        pairs = zip(self.input_transforms, self.estimator.X_train_.T, strict=True)
        return np.array([float(t.inverse(t.forward(x).mean())) for t, x in pairs])

    def places(self, U: FloatArray) -> FloatArray:
        """Return points U [m, d] of the unit cube in the design region, along the scales.

        Whole numbers and levels are equally frequent where U is even.
        """
        columns = zip(self.input_transforms, U.T, *self.ranges, strict=True)
        return np.stack([transform.spread(u, a, b) for transform, u, a, b in columns], axis=-1)

    @cached_property
    def left_out_law(self) -> MappedLaw | None:
        """The laws behind `left_out`; None for a response without a transform."""
        constant = self.estimator._surrogate.response.constant[self.output]
        if constant or self.response_transform == IDENTITY:
            return None
        found: MappedLaw = self.estimator._loo_law(self.output)
        return found
