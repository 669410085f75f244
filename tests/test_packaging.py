import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from importlib.resources import files
from pathlib import Path

import pytest

import pengp
from requirements import sbom

ROOT = Path(__file__).parents[1]
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


def test_the_bill_of_materials_lists_the_locked_packages_and_who_needs_them() -> None:
    lock = (
        "numpy==2.3.1 \\\n    --hash=sha256:"
        + "0" * 64
        + " \\\n    --hash=sha256:"
        + "1" * 64
        + "\n"
        "    # via\n    #   pyproject.toml\n    #   scipy\nscipy==1.16.0 \\\n"
        "    --hash=sha256:" + "2" * 64 + "\n    # via pyproject.toml\n"
    )
    found = sbom.bill(lock)
    root = found["metadata"]["component"]["bom-ref"]
    numpy, scipy = "pkg:pypi/numpy@2.3.1", "pkg:pypi/scipy@1.16.0"
    assert [c["purl"] for c in found["components"]] == [numpy, scipy]
    assert [len(c["properties"]) for c in found["components"]] == [2, 1]
    needs = {entry["ref"]: entry["dependsOn"] for entry in found["dependencies"]}
    assert needs == {root: [numpy, scipy], scipy: [numpy], numpy: []}
    assert sbom.bill(lock) == found


def test_every_dependency_of_users_is_locked_with_hashes() -> None:
    packages = sbom.entries((ROOT / "requirements" / "lock.txt").read_text())
    locked = {name.lower() for name, _, _, _ in packages}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(r for e in ("cli", "report", "dask") for r in extras[e])]
    assert {r.partition(">")[0] for r in wanted} <= locked
    assert all(hashes for _, _, hashes, _ in packages)
    assert "://" not in (ROOT / "requirements" / "lock.txt").read_text()
