"""`pengp report -o x.pdf`: a PDF where Chromium is found, else one sentence and no file."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pengp import PenalizedGPRegressor, save
from tests.cli.commands import model_file, pengp
from tests.problems import smooth_runs
from tests.report.test_browser import pytestmark as needs_chromium


def words_of(path: Path) -> str:
    """Return the text of a PDF, as pdftotext reads it."""
    command = ["pdftotext", str(path), "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@needs_chromium
def test_a_report_is_printed_on_several_pages(tmp_path: Path) -> None:
    model = PenalizedGPRegressor(0.01, random_state=0).fit(*smooth_runs(8, 2))
    save(model, tmp_path / "model.pengp", info={"response": "noise"})
    done = pengp("report", "model.pengp", "-o", "page.pdf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    pdf = (tmp_path / "page.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert pdf.rstrip().endswith(b"%%EOF")
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert pages > 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.pengp", "page.pdf"]
    if shutil.which("pdftotext") is None:
        assert "Surrogate of noise".encode("utf-16-be") in pdf or b"Surrogate of noise" in pdf
        return
    text = words_of(tmp_path / "page.pdf")
    assert "Surrogate of noise" in text
    assert text.count("\f") == pages
    assert "What if?" not in text  # sliders are for the screen


@pytest.mark.parametrize("command", ["report", "fit"])
def test_without_chromium_a_pdf_is_refused_before_any_work(tmp_path: Path, command: str) -> None:
    model_file(tmp_path)
    (tmp_path / "runs.csv").write_text("x,noise\n0,1\n1,2\n2,4\n3,3\n")
    before = sorted(tmp_path.iterdir())
    options = {
        "report": ("report", "model.pengp", "-o", "page.pdf"),
        "fit": ("fit", "runs.csv", "-y", "noise", "--report", "page.pdf"),
    }
    nowhere = {"PATH": str(tmp_path), "PENGP_CHROMIUM": ""}
    done = pengp(*options[command], cwd=tmp_path, environment=nowhere)
    assert done.returncode == 3
    assert re.fullmatch(r"pengp: a PDF is printed by Chromium .* in a browser\.\n", done.stderr)
    assert sorted(tmp_path.iterdir()) == before
