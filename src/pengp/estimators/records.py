"""The registries behind the estimators' parameters, which all layers above read."""

from typing import Any

from pengp._core.registry import Registry
from pengp.choosing.metrics import FOLD_METRICS
from pengp.choosing.rules import RULES
from pengp.model.kernels import KERNELS
from pengp.model.means import MEANS
from pengp.path.penalties import PENALTIES

_REGISTRIES: tuple[Registry[Any], ...] = (KERNELS, MEANS, PENALTIES, FOLD_METRICS, RULES)
#: By the name of the parameter.
RECORDS = {registry.kind: registry for registry in _REGISTRIES}
