"""Modules that are loaded on first use."""

import subprocess
import sys


def python(code: str) -> list[str]:
    """Run code in a Python of its own and return the words that it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_deferred_module_is_loaded_by_its_first_use_and_is_then_itself() -> None:
    code = """
import sys
from pengp._core.lazy import defer
defer("wsgiref.util")
import wsgiref.util as early
print("wsgiref.headers" in sys.modules, hasattr(early, "nothing"))
from wsgiref.util import FileWrapper
import wsgiref.util as late
print(late.__file__ is not None, early.FileWrapper is FileWrapper is late.FileWrapper)
defer("wsgiref.util")
print(sys.modules["wsgiref.util"] is late)
"""
    assert python(code) == ["False", "False", "True", "True", "True"]


def test_a_deferred_package_gives_its_modules() -> None:
    code = """
from pengp._core.lazy import defer
defer("scipy.stats")
import scipy.stats
from scipy import stats
import scipy.stats.qmc
from scipy.stats.distributions import norm
print(stats.norm is norm, scipy.stats.qmc.Sobol is stats.qmc.Sobol)
"""
    assert python(code) == ["True", "True"]
