"""Array types used in every signature; shapes stand in the docstrings."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
