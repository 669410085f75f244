import re
import subprocess
import sys
from importlib.metadata import requires
from importlib.resources import files

import pytest

import pengp

# scikit-learn itself loads pandas where it is installed.
OPTIONAL = {"dask", "distributed", "jinja2", "matplotlib", "plotly", "rich", "typer"}


def test_the_library_depends_on_four_packages_only() -> None:
    required = [line for line in requires("pengp") or [] if "extra ==" not in line]
    names = {re.split(r"[^\w-]", line)[0] for line in required}
    assert names == {"numpy", "scipy", "scikit-learn", "joblib"}


def test_the_marker_of_a_typed_package_is_in_place() -> None:
    assert (files("pengp") / "py.typed").is_file()


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, pengp; print(pengp.__version__, *sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "sklearn"} & set(run.stdout.split())


def test_every_public_name_is_loaded_on_first_use() -> None:
    assert set(pengp.__all__) <= set(dir(pengp))
    for name in pengp.__all__:
        assert getattr(getattr(pengp, name), "__name__", name) == name
    with pytest.raises(AttributeError, match="'pengp' has no attribute 'penalised_path'"):
        pengp.penalised_path  # noqa: B018  # the access is the test


def test_using_the_estimators_loads_no_optional_dependency() -> None:
    code = (
        "import sys; from pengp import PenalizedGPRegressorCV, diagnose, save; "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "numpy" in loaded
    assert not loaded & OPTIONAL
