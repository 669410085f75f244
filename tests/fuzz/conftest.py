"""Profiles of hypothesis: few examples in `make test`, always the same; many in `make fuzz`."""

import os

from hypothesis import HealthCheck, settings

_MANY = int(os.environ.get("PENGP_FUZZ_EXAMPLES", "12500"))  # of each of the eight tests: 100,000

for name, count, repeatable in (("short", 60, True), ("long", _MANY, False)):
    settings.register_profile(
        name,
        max_examples=count,
        derandomize=repeatable,
        print_blob=not repeatable,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile("short")
