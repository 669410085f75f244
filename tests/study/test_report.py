"""The report of a results file: its figures, tables, page and files, all from the rows."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D

from pengp._core.arrays import FloatArray
from pengp.exceptions import FileError
from pengp.plots import lambda_positions
from pengp.study.claims import CLAIMS, STATUSES
from pengp.study.definitions import STUDIES
from pengp.study.figures.catalogue import FIGURES
from pengp.study.figures.comparisons import figure_6, figure_7, signed_root
from pengp.study.figures.folds import figure_4
from pengp.study.figures.forrester import figure_1, figure_2, figure_3
from pengp.study.figures.style import image, spread, style
from pengp.study.report import write_report
from pengp.study.report_rows import Rows
from pengp.study.store import Failure, Store
from pengp.study.tables import TABLES, make
from pengp.study.task import Row, Task
from tests.study.paper_rows import LAMS, LAST, near, paper_rows

PAPERS = [figure for figure in FIGURES if STUDIES[figure.study].is_paper]
HOSTILE = "<script>alert('x')</script><img src=http://evil.example/a.png>"


@cache
def rows() -> Rows:
    return Rows(paper_rows())


def axes_of(figure: Canvas) -> list[Axes]:
    return list(figure.axes)


def save(path: Path, frame: pd.DataFrame, failed: bool = False) -> Path:
    """Write a frame's rows to a results file."""
    with Store.open(path, "w") as store:
        store._connection.execute("PRAGMA synchronous = OFF")  # a test needs no safe disk
        store.begin({"arguments": {"size": "paper", "studies": [HOSTILE]}, "platform": "here"})
        key: Any
        for key, group in frame.groupby(["study", "function", "repetition"]):
            task = Task(key[0], key[1], int(key[2]))  # pandas 2 gives a number of NumPy
            store.add(task, [_row(r) for r in group.to_dict("records")], 0.1)
        if failed:
            failure = Failure("ValueError", HOSTILE, f"Traceback\n{HOSTILE}")
            store.add_failure(Task("forrester", "folds", 99), failure, 0.1)
        store.end()
    return path


def _row(record: dict[Any, Any]) -> Row:
    found: dict[str, Any] = {name: record[name] for name in Row._fields}
    return Row(**found | {name: None for name, value in found.items() if value != value})


def xs(line: Line2D) -> FloatArray:
    return np.asarray(line.get_xdata(), dtype=float)


def ys(line: Line2D) -> FloatArray:
    return np.asarray(line.get_ydata(), dtype=float)


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a report on all studies."""
    folder = tmp_path_factory.mktemp("full")
    return write_report(
        save(folder / "all.sqlite", paper_rows(), failed=True), folder / "out"
    ).parent


def test_a_report_has_every_figure_table_and_claim(full: Path) -> None:
    names = {p.relative_to(full).as_posix() for p in full.rglob("*") if p.is_file()}
    wanted = {f"figures/{f.name}.{kind}" for f in PAPERS for kind in ("svg", "png")}
    tables = [t.name for t in TABLES if STUDIES[t.study].is_paper]  # those that have rows here
    wanted |= {f"tables/{name}.csv" for name in tables} | {"tables/claims.csv", "index.html"}
    assert names == wanted
    claims = pd.read_csv(full / "tables/claims.csv")
    assert list(claims["claim"]) == [c.id for c in CLAIMS]
    assert claims["status"].value_counts().to_dict() == {"reproduced": len(CLAIMS) - 1, "slip": 1}


def test_the_images_are_what_their_names_say_with_200_dots_per_inch(full: Path) -> None:
    png = (full / "figures/figure-2.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    width = int.from_bytes(png[16:20], "big")
    assert width == 5.6 * 200
    svg = (full / "figures/figure-2.svg").read_text()
    assert "<svg" in svg
    assert "dc:date" not in svg


def test_the_page_refers_to_nothing_outside_and_describes_every_figure(full: Path) -> None:
    page = (full / "index.html").read_text()
    assert re.findall(r'(?:src|href)="(?!data:image/|#)', page) == []
    assert "<script" not in page
    assert "url(" not in page
    assert "@import" not in page
    images = re.findall(r"<img [^>]*>", page)
    assert len(images) == len(PAPERS)
    assert all(len(re.findall(r'alt="[^"]{40,}"', tag)) == 1 for tag in images)
    of_paper = [name for name, study in STUDIES.items() if study.is_paper]
    assert all(f'href="#{name}"' in page and f'id="{name}"' in page for name in of_paper)


def test_the_page_counts_the_claims(full: Path) -> None:
    page = (full / "index.html").read_text()
    found = re.findall(r'<div class="count [\w-]+"><b>(\d+)</b> ([\w ]+)</div>', page)
    counted = {status: times for times, status in found}
    assert list(counted) == list(STATUSES)
    nothing = dict.fromkeys(STATUSES, "0")
    assert counted == nothing | {"reproduced": str(len(CLAIMS) - 1), "slip": "1"}
    assert page.count('<span class="badge reproduced">') == len(CLAIMS) - 1
    assert f"Of {len(CLAIMS)} statements of the paper that were tested" in page
    assert "and 0 are contradicted." in page


def test_every_verdict_has_a_style_of_its_own_and_can_be_shown_alone(full: Path) -> None:
    page = (full / "index.html").read_text()
    for status in STATUSES:
        name = status.replace(" ", "-")
        assert f'id="show-{name}"' in page
        assert f"body:has(#show-{name}:checked) .claims tbody tr:not(.{name})" in page


def test_what_a_task_or_a_record_says_is_escaped(full: Path) -> None:
    page = (full / "index.html").read_text()
    assert HOSTILE not in page
    assert "<script>" not in page
    assert page.count("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;") == 3
    assert "forrester/folds/99" in page
    assert str(Task("forrester", "folds", 99).seed) in page


def test_a_later_report_replaces_the_first_and_leaves_other_files(tmp_path: Path) -> None:
    frame = paper_rows("limits", "piston-slap")
    out = tmp_path / "out"
    write_report(save(tmp_path / "both.sqlite", frame), out)
    (out / "mine.txt").write_text("mine")
    before = (out / "index.html").read_bytes()
    assert (out / "tables/limits.csv").exists()
    without = frame[frame["study"] != "limits"]
    write_report(save(tmp_path / "one.sqlite", without), out)
    assert (out / "mine.txt").read_text() == "mine"
    assert (out / "index.html").read_bytes() != before
    assert not (out / "tables/limits.csv").exists()
    assert (out / "figures/figure-7.png").exists()
    assert not [p for p in out.iterdir() if p.name.startswith(".")]


def test_a_failing_report_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = save(tmp_path / "a.sqlite", paper_rows("limits")), tmp_path / "out"
    write_report(source, out)
    before = {p: p.read_bytes() for p in out.rglob("*") if p.is_file()}

    def full_disk(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(FileError, match="disk is full"):
        write_report(source, out)
    assert {p: p.read_bytes() for p in out.rglob("*") if p.is_file()} == before


def test_an_empty_file_gives_a_page_that_says_how_to_get_rows(tmp_path: Path) -> None:
    page = write_report(save(tmp_path / "none.sqlite", paper_rows().iloc[:0]), tmp_path / "out")
    text = page.read_text()
    assert f"<b>{len(CLAIMS)}</b> not testable" in text
    for name in (name for name, study in STUDIES.items() if study.is_paper):
        assert f"pengp study run {name} --size paper --output none.sqlite" in text
    assert not list((tmp_path / "out").rglob("*.svg"))


def test_missing_test_runs_and_repetitions_are_named(tmp_path: Path) -> None:
    frame = paper_rows("piston-slap")
    frame = frame[~frame["function"].str.endswith("-test") & (frame["repetition"] < 2)]
    text = write_report(save(tmp_path / "few.sqlite", frame), tmp_path / "out").read_text()
    assert "--test-runs FILE" in text
    assert "piston-slap/isotropic 2 of 100" in text
    assert "Figure 7" in text
    assert "not drawn" in text


def test_a_missing_results_file_is_an_error_of_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no file"):
        write_report(tmp_path / "absent.sqlite", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_same_rows_give_the_same_image() -> None:
    with style():
        first, second = (image(figure_2(rows()), "svg") for _ in range(2))
    assert first == second


def test_figure_1_draws_the_profiles_with_gaps_and_the_surrogates() -> None:
    axes = axes_of(figure_1(rows()))
    assert len(axes) == 6
    without = ys(axes[0].lines[0])
    assert np.isnan(without).sum() == (np.logspace(-3, 3, 61) < 0.1).sum()
    mean = next(line for line in axes[3].lines if line.get_label() == "mean")
    wanted = rows().along_x("forrester/surrogates", "pmle", "mean")
    np.testing.assert_array_equal(ys(mean), wanted)
    assert "27.444" in axes[3].get_title(loc="left")


def test_figure_2_marks_the_choices_where_they_are() -> None:
    ax = axes_of(figure_2(rows()))[0]
    marks = {str(line.get_marker()): line for line in ax.lines}
    place = dict(zip(LAMS, lambda_positions(LAMS).positions, strict=True))
    assert xs(marks["s"]) == [place[near(0.0231)]]
    assert xs(marks["^"]) == [place[LAST]]
    assert ys(marks["s"]) == [1.0]
    threshold = next(line for line in ax.lines if line.get_linestyle() == "--")
    assert ys(threshold)[0] == pytest.approx(1.0 + 0.9)


def test_figure_3_has_one_curve_for_each_run() -> None:
    ax = axes_of(figure_3(rows()))[0]
    curves = [line for line in ax.lines if len(ys(line)) == 40]
    assert len(curves) == 8
    wanted = rows().grid("forrester/loo", "pe", "cv_fold", "x")[7.0].to_numpy()[1:]
    np.testing.assert_array_equal(ys(curves[6]), wanted)


def test_figure_4_draws_every_draw_and_its_choice_in_one_colour() -> None:
    axes = axes_of(figure_4(rows()))
    assert len([line for line in axes[0].lines if len(ys(line)) == 40]) == 20
    circles = [line for line in axes[3].lines if line.get_marker() == "o"]
    assert len(circles) == 20
    # Equal choices stand above each other, so a column's top is how many there are.
    tops = pd.Series([ys(c)[0] for c in circles]).groupby([xs(c)[0] for c in circles]).max()
    assert sorted(tops) == [3, 5, 12]
    colours = {line.get_color() for line in axes[0].lines if len(ys(line)) == 40}
    assert colours == {circle.get_color() for circle in circles}


def test_figure_6_draws_boxes_on_the_signed_root_scale() -> None:
    ax = axes_of(figure_6(rows(), study="simulation"))[0]
    medians = [line for line in ax.lines if line.get_linewidth() == 1.6]
    # MLE on Lim is 0.30 + 0.15 u, and the u in the middle are -0.01 and 0.01.
    wanted = 0.5 * (np.sqrt(0.2985) + np.sqrt(0.3015))
    assert ys(medians[0])[0] == pytest.approx(wanted)
    assert len(medians) == 7
    np.testing.assert_allclose(signed_root(np.array([-4.0, 0.0, 9.0])), [-2.0, 0.0, 3.0])


def test_figure_6_leaves_the_panels_of_missing_functions_empty() -> None:
    frame = paper_rows("simulation")
    axes = axes_of(figure_6(Rows(frame[frame["function"] == "lim"]), study="simulation"))
    assert [len(ax.lines) > 0 for ax in axes] == [True, False, False, False] * 2
    assert axes[1].texts[0].get_text() == "no rows"


def test_figure_7_draws_the_change_of_every_draw_in_per_cent() -> None:
    ax = axes_of(figure_7(rows()))[0]
    offsets = [np.asarray(c.get_offsets()) for c in ax.collections]
    points = [found for found in offsets if len(found) == 100]
    assert len(points) == 3
    np.testing.assert_array_equal(points[0][:, 1], 0.0)
    wanted = {round(100 * (v / 0.879 - 1), 6) for v in (0.65, 0.75)}
    assert set(np.round(points[2][:, 1], 6)) == wanted
    assert "100 better, 0 worse" in ax.get_xticklabels()[2].get_text()
    assert ax.get_title(loc="left") == "(a) RMSE, MLE 0.879 (paper 0.879)"
    assert np.abs(spread(100)).max() < 1.0
    assert len(set(spread(100))) == 100


def test_tables_hold_the_numbers_of_the_rows() -> None:
    tables: dict[str, Any] = {made.table.name: made.frame for made in make(rows())}
    scores = tables["simulation-scores"]
    found = scores[(scores["function"] == "Lim") & (scores["method"] == "DPE 1SE")]
    found = found[found["score"] == "RMSE"].iloc[0]
    assert found["mean"] == pytest.approx(0.20)
    assert found["standard error"] == pytest.approx(0.15 * np.sqrt(33.33 / 99) / 10)  # sum u^2
    assert found["median"] == pytest.approx(0.20)
    assert found["mean score"] == pytest.approx(2.4)
    choices = tables["forrester-choices"]
    assert choices.set_index("metric").loc["PE", ["at 0", "at 7.389"]].tolist() == [0, 5]
    partitions = tables["forrester-partitions"]
    assert partitions.loc[0, ["lambda", "dpe"]].tolist() == [0.0, 105.0]
    estimates = tables["piston-slap-anisotropic-estimates"]
    np.testing.assert_allclose(estimates["paper"], estimates["ours"])
    assert len(estimates) == 21
    limits = tables["limits"]
    printed = limits[(limits["limit"] == "zero-runs") & (limits["quantity"] == "sigma2")].iloc[0]
    assert (printed["formula"], printed["computed"], printed["theta"]) == (2.0, 16.0, 1e-11)
