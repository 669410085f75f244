"""The estimators keep scikit-learn's contract."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pengp.estimators import PenalizedGPRegressor, PenalizedGPRegressorCV

CHEAP = {"n_starts": 1}


@parametrize_with_checks(
    [
        PenalizedGPRegressor(**CHEAP),
        PenalizedGPRegressor(0.01, mean="constant", nugget="estimate", isotropic=True, **CHEAP),
        PenalizedGPRegressorCV(lams=[0.0, 0.01], cv=2, isotropic=True, **CHEAP),
    ]
)
def test_scikit_learn_checks_pass(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
