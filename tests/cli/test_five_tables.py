"""Five tables of everyday kind, from `fit` to `report`, each command a process of its own."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tests.cli import five_tables
from tests.cli.commands import pengp


def walked(
    table: Path, response: str, *options: str, new: pd.DataFrame | None = None
) -> tuple[dict[str, Any], str]:
    """Fit, report and predict; return what fit says, its JSON and its notes."""
    place = table.parent
    fitted = pengp("fit", table, "-y", response, "-o", "m.pengp", "--json", *options, cwd=place)
    assert fitted.returncode == 0, fitted.stderr
    page = pengp("report", "m.pengp", "-o", "m.html", cwd=place)
    assert page.returncode == 0, page.stderr
    assert (place / "m.html").stat().st_size < 4 << 20
    if new is not None:
        new.to_csv(place / "new.csv", index=False)
        done = pengp("predict", "m.pengp", "new.csv", "-o", "out.csv", cwd=place)
        assert done.returncode == 0, done.stderr
    return json.loads(fitted.stdout), fitted.stderr


def test_semicolons_decimal_commas_and_units(tmp_path: Path) -> None:
    table = five_tables.beam(tmp_path)
    options = ("--method", "penalized", "--repeats", "2")
    found, notes = walked(table, "Durchbiegung w [mm]", *options)
    assert (found["runs"], notes) == (20, "")
    assert found["inputs"][0]["name"] == "Länge l [m]"
    made = pengp("predict", "m.pengp", table, "-o", "out.csv", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    first = (tmp_path / "out.csv").read_text(encoding="cp1252").splitlines()[1].split(";")
    assert float(first[5].replace(",", ".")) > 0.0  # the dialect of the table is kept


def test_an_input_over_eight_decades_is_told_and_followed(tmp_path: Path) -> None:
    table = five_tables.seepage(tmp_path)
    new = pd.DataFrame({"k_m_per_d": [1e-4, 1e-2, 1.0], "head_m": 3.0, "label_code": 0.5})
    options = ("--method", "penalized", "--folds", "5", "--repeats", "1")
    found, _ = walked(table, "flow", *options, "--log", "k_m_per_d", new=new)
    truth = 3.0 * np.tanh(0.4 * (np.log10(new["k_m_per_d"]) + 2.0)) + 1.8
    assert np.abs(pd.read_csv(tmp_path / "out.csv")["flow_mean"] - truth).max() < 0.1
    assert [one["active"] for one in found["inputs"]] == [True, True, False]
    plain = pengp("fit", table, "-y", "flow", "-o", "p.pengp", *options, cwd=tmp_path)
    assert "--log k_m_per_d" in " ".join(plain.stdout.split())


def test_a_book_with_a_title_two_responses_and_text(tmp_path: Path) -> None:
    table, response = five_tables.bracket(tmp_path), "Stress (MPa)"
    refused = pengp("fit", table, "-y", response, cwd=tmp_path)
    assert refused.returncode == 3
    assert "--ignore Material" in refused.stderr
    options = ("--ignore", "Material", "--method", "penalized", "--repeats", "1")
    told = pengp("fit", table, "-y", response, *options, cwd=tmp_path)
    assert "leave it out: --ignore 'Displacement (mm)'" in told.stderr
    found, _ = walked(table, response, *options, "--ignore", "Displacement (mm)")
    assert [one["name"] for one in found["inputs"]] == ["Thickness (mm)", "Load (kN)"]
    assert found["held_out"]["q2"] > 0.9


def test_a_book_with_two_responses_and_a_factor(tmp_path: Path) -> None:
    table, names = five_tables.bracket(tmp_path), ["Stress (MPa)", "Displacement (mm)"]
    new = pd.DataFrame({"Thickness (mm)": [3.0, 5.0], "Load (kN)": 30.0, "Material": "steel"})
    options = ("-y", names[1], "--factor", "Material", "--method", "penalized", "--repeats", "1")
    found, notes = walked(table, names[0], *options, new=new)
    assert "'Material' is the same in every run" in " ".join(notes.split())
    assert "column 2" not in notes
    for one in found["responses"]:
        assert one["held_out"]["q2"] > 0.9
    page = (tmp_path / "m.html").read_text()
    assert all(f"<h2>{name}" in page or name in page for name in names)
    made = pd.read_csv(tmp_path / "out.csv")
    truth = 900.0 / new["Thickness (mm)"] + 90.0
    assert np.abs(made["Stress (MPa)_mean"] / truth - 1.0).max() < 0.05
    shown = pengp("info", "m.pengp", cwd=tmp_path)
    assert "1 level: steel" in shown.stdout
    unknown = new.assign(Material="brass")
    unknown.to_csv(tmp_path / "new.csv", index=False)
    refused = pengp("predict", "m.pengp", "new.csv", "-o", "b.csv", cwd=tmp_path)
    assert refused.returncode == 3
    assert "'brass', which is none of its levels steel" in " ".join(refused.stderr.split())


def test_contradictory_duplicates(tmp_path: Path) -> None:
    table = five_tables.repeated(tmp_path)
    refused = pengp("fit", table, "-y", "y", cwd=tmp_path)
    assert refused.returncode == 3
    assert refused.stderr.rstrip().endswith("or use --nugget estimate.")
    found, _ = walked(table, "y", "--nugget", "estimate", "--method", "penalized", "--repeats", "2")
    assert found["lambda"]["metric"] == "pe"
    assert 1e-6 < found["nugget"] < 1.0
    assert found["held_out"]["q2"] > 0.8


def test_a_hundred_and_fifty_runs(tmp_path: Path) -> None:
    table = five_tables.many(tmp_path)
    new = pd.DataFrame({"a": [0.3, 0.6], "b": 0.5, "c": 0.5, "d": 0.2})
    options = ("--lambda-grid", "kkt", "--folds", "2", "--repeats", "1", "--isotropic")
    found, notes = walked(table, "y", "--method", "penalized", *options, new=new)
    assert (found["runs"], notes) == (150, "")
    truth = np.sin(4.0 * new["a"]) + 0.25 + 0.3 * 0.04
    assert np.abs(pd.read_csv(tmp_path / "out.csv")["y_mean"] - truth).max() < 1e-2
