"""The report as a file: complete, safe, and with the model's own numbers; no browser needed."""

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from pengp import PenalizedGPRegressor, PenalizedGPRegressorCV, load, save
from pengp._core.arrays import FloatArray
from pengp.choosing.folds import random_folds
from pengp.choosing.validation import VALIDATION_SCORES
from pengp.datasets import load_piston_slap
from pengp.diagnostics import score_predictions
from pengp.estimators import diagnosis
from pengp.estimators.records import RECORDS
from pengp.exceptions import FileError, InputError, PengpWarning
from pengp.model.kernels import RadialKernel
from pengp.model.posterior import Posterior
from pengp.report import write_report
from pengp.report.page import _when
from pengp.report.sentences import _TITLES
from pengp.report.text import inert, number, plain
from tests.problems import smooth_runs

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</script><script>alert(3)</script>",
    "{{7*7}} {% raw %}",
    '<a href="javascript:alert(4)">click</a><b>bold</b>',
    "$\\frac{1}{2}$ %{x} &lt; \u2028 höhe\u202e 高さ",
]


class Page(NamedTuple):
    """A report that was read back."""

    text: str
    tags: list[tuple[str, dict[str, str | None]]]
    words: str
    data: dict[str, Any]

    def by_id(self, id: str) -> dict[str, str | None]:
        """Return the attributes of an element."""
        return next(attributes for _, attributes in self.tags if attributes.get("id") == id)

    def array(self, name: str) -> Any:
        """Return an array as the script decodes it."""
        array = self.data["arrays"][name]
        if isinstance(array, list):
            return array
        kind = "f4" if "f4" in array else "f8"
        raw = base64.b64decode(array[kind])
        return np.frombuffer(raw, dtype=f"<{kind}").reshape(array["shape"])


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.scripts: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] += data
        elif self._open != "style":
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


def read(path: Path) -> Page:
    """Read a report back."""
    text, reader = path.read_text(encoding="utf-8"), _Reader()
    reader.feed(text)
    words = re.sub(r"\s+", " ", "".join(reader.words))
    return Page(text, reader.tags, words, json.loads(reader.scripts[0]))


@cache
def piston() -> PenalizedGPRegressorCV:
    """Return the piston-slap model, with repeated folds."""
    runs = load_piston_slap()
    X = pd.DataFrame(runs.X, columns=list(runs.input_names))
    plan = random_folds(12, 4, repeats=3, random_state=1)
    return PenalizedGPRegressorCV(cv=plan, random_state=1).fit(X, runs.y)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Return the report on the piston-slap model."""
    path = tmp_path_factory.mktemp("report") / "piston.html"
    info = {"response": "noise", "source": "runs.csv", "command": "pengp fit runs.csv", "seed": 1}
    write_report(piston(), path, info=info)
    return read(path)


def test_numbers_of_every_lambda_are_those_of_the_model_there(page: Page) -> None:
    model = piston()
    inside, outside = page.array("o0-loo.in"), page.array("o0-loo.outside")
    shown = np.where(np.isnan(inside), outside, inside)
    texts = page.array("o0-score-line")
    for k, lam in enumerate(model.path_.lams):
        at = model.at_lambda(lam)
        np.testing.assert_allclose(shown[k], at.loo_.mean, rtol=1e-6)
        scores = score_predictions(at.y_train_, at.loo_.mean, at.loo_.std)
        assert f"RMSE {number(scores['rmse'], 3)}, Q² {number(scores['q2'], 3)}, " in texts[k]
        assert page.array("o0-score-crps")[k] == number(scores["crps"])
        for p in range(6):
            assert page.array(f"o0-input{p}-lengthscale")[k] == number(at.lengthscale_[p])


def test_intervals_decide_the_symbol_of_a_run(page: Page) -> None:
    model = piston()
    at = model.at_lambda(model.path_.lams[-1])  # hardly any input left, so some runs are missed
    missed = np.abs(at.loo_.residual) > 1.959964 * at.loo_.std
    assert missed.any()
    np.testing.assert_array_equal(np.isnan(page.array("o0-loo.outside")[-1]), ~missed)
    for side in ("above", "below"):
        half = page.array(f"o0-loo.{side}")
        np.testing.assert_allclose(half[-1], 1.959964 * at.loo_.std, rtol=1e-6)


def test_slices_are_predictions_with_the_other_inputs_at_their_means(page: Page) -> None:
    model = piston()
    order = np.argsort(-model.theta_, kind="stable")
    x, mean, upper = (page.array(f"o0-slice.{name}") for name in ("x", "mean", "upper"))
    for k in (0, 20, 40):
        at = model.at_lambda(model.path_.lams[k])
        for j, p in enumerate(order[:3]):
            X = np.tile(model.X_train_.mean(axis=0), (x.shape[1], 1))
            X[:, p] = x[j]
            frame = pd.DataFrame(X, columns=model.feature_names_in_)
            expected, std = at.predict(frame, return_std=True)
            np.testing.assert_allclose(mean[k, j], expected, rtol=2e-6)
            np.testing.assert_allclose(upper[k, j], expected + 1.959964 * std, rtol=2e-6)


def test_every_binding_fits_its_array_and_its_place(page: Page) -> None:
    check_bindings(page)


def check_bindings(page: Page) -> None:
    """Check that the script finds what it is to copy, and where."""
    data = page.data
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert data["bindings"]
    for binding in data["bindings"]:
        part = page.array(binding["array"])
        for key in binding["by"]:
            assert 0 <= data["state"][key] < len(part)
            part = part[data["state"][key]]
        if "element" in binding:
            assert binding["element"] in ids
            continue
        target = data["figures"][binding["figure"]]
        *way, last = binding["path"].split(".")
        for step in way:
            target = target[int(step)] if isinstance(target, list) else target[step]
        if part is None:  # plotly's own choice
            assert target.get(last) is None
            continue
        now = target[last]
        if isinstance(now, dict):
            now = np.frombuffer(base64.b64decode(now["bdata"]), dtype=f"<{now['dtype']}")
            if "shape" in target[last]:
                now = now.reshape([int(v) for v in target[last]["shape"].split(",")])
        if isinstance(now, str) or (isinstance(now, list) and now and isinstance(now[0], str)):
            assert part == now
            continue
        first, again = (np.asarray(values, dtype=float) for values in (now, part))
        np.testing.assert_allclose(first, again, rtol=1e-6, atol=1e-30, err_msg=str(binding))
    assert {i for i in ids if i in data["figures"]} == set(data["figures"])


def test_every_figure_has_alternative_text_with_numbers(page: Page) -> None:
    for id in page.data["figures"]:
        attributes = page.by_id(id)
        assert attributes["role"] == "img"
        label = attributes["aria-label"] or ""
        assert len(label) > 60, id
        assert re.search(r"\d", label), id
    scores = score_predictions(piston().y_train_, piston().loo_.mean, piston().loo_.std)
    assert f"RMSE {number(scores['rmse'], 3)}" in (page.by_id("o0-loo")["aria-label"] or "")


def test_the_page_refers_to_nothing_outside(page: Page) -> None:
    for tag, attributes in page.tags:
        assert tag not in {"iframe", "object", "embed", "form", "base", "img"}
        for name in ("src", "href", "action", "data", "srcset"):
            assert str(attributes.get(name) or "#").startswith(("#", "data:,")), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes)


def test_only_the_page_s_own_scripts_may_run(page: Page) -> None:
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a) or ""
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    scripts = re.findall(r"<script>(.*?)</script>", page.text, re.DOTALL)
    (packed,) = re.findall(r'<script type="text/plain" id="plotly">(.*?)</script>', page.text)
    scripts.append(gzip.decompress(base64.b64decode(packed)).decode())
    assert len(scripts) == 3  # what the page does, what if, and plotly
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_the_summary_says_what_was_found(page: Page) -> None:
    model = piston()
    spread = float(np.std(model.y_train_, ddof=1))
    held, kept = model.held_out().scores(), float(np.sqrt(np.mean(model.loo_.residual**2)))
    assert "3 of 6 inputs matter" in page.words
    assert f"cylinder liner ({number(model.lengthscale_[0], 3)})" in page.words
    share = number(100 * held["rmse"] / spread, 3)
    assert f"{number(held['rmse'], 3)} (RMSE), which is {share} % of the standard" in page.words
    assert f"With θ kept, which has seen the run, RMSE would be {number(kept, 3)}" in page.words
    assert f"λ\xa0=\xa0{number(model.lam_, 3)} was chosen among 41 values" in page.text
    assert "4 folds, dealt 3 times" in page.words
    assert "Caution: There is another explanation." in page.words
    assert "<title>Surrogate of noise</title>" in page.text
    assert "from runs.csv" in page.words
    assert "pengp fit runs.csv" in page.words


def test_held_out_runs_come_before_those_with_theta_kept(page: Page) -> None:
    held, text = piston().held_out(), page.text
    assert text.index('id="o0-predict"') < text.index('id="o0-kept"')
    table = text[text.index('<table id="o0-held">') :]
    for name, score in VALIDATION_SCORES.items():
        value = held.scores().get(name)
        if value is not None and score.greater_is_better is not None:
            row = table[table.index(f">{score.label}<") :]
            assert re.search(r'class="number">([^<]*)<', row)[1] == number(value)  # type: ignore[index]  # there is a cell
    first = page.data["figures"]["o0-held-predicted"]["data"][1]
    numbers = np.frombuffer(base64.b64decode(first["customdata"]["bdata"]), dtype=np.int8)
    np.testing.assert_array_equal(numbers, held.run + 1)
    assert "which flatters" in page.words


def test_settings_list_every_parameter_and_estimate(page: Page) -> None:
    model = piston()
    for name, value in model.get_params(deep=False).items():
        assert f"<dt>{name}</dt>" in page.text
        if isinstance(value, str | int | float):
            label = RECORDS[name].label(value) if name in RECORDS else value
            shown = value if label == value else f"{value} ({label})"
            assert f"<dt>{name}</dt><dd>{shown}</dd>" in page.text
    assert f"<dd>{model.lam_!r}</dd>" in page.text
    assert ", ".join(map(repr, model.theta_.tolist())) in page.words


def test_the_table_of_runs_holds_the_runs(page: Page) -> None:
    model, table = piston(), page.text[page.text.index('<table id="o0-runs">') :]
    rows = re.findall(r"<tr>(.*?)</tr>", table[: table.index("</table>")], re.DOTALL)[1:]
    values = [[float(v) for v in re.findall(r'data-value="([^"]*)"', row)] for row in rows]
    loo = model.loo_
    predicted = [loo.mean, loo.std, loo.residual, loo.standardized_residual]
    expected = np.column_stack([np.arange(1, 13), model.X_train_, model.y_train_, *predicted])
    np.testing.assert_allclose(values, expected, rtol=1e-9)


def test_headings_are_in_order_and_tables_can_be_sorted_by_keyboard(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    heads = page.text.count('aria-sort="none"')
    assert heads == len(re.findall(r'aria-sort="none"[^>]*><button type="button">', page.text)) > 20


def test_names_are_shown_as_they_are_and_stay_inert(tmp_path: Path) -> None:
    X, y = smooth_runs(10, len(HOSTILE))
    model = _cv(pd.DataFrame(X, columns=HOSTILE), y)
    info = {"response": HOSTILE[0], "source": HOSTILE[1], "command": HOSTILE[2], HOSTILE[4]: "x"}
    write_report(model, tmp_path / "report.html", info=info)
    page = read(tmp_path / "report.html")
    assert [tag for tag, _ in page.tags].count("script") == 4
    assert "img" not in {tag for tag, _ in page.tags}
    assert all(str(a.get("href", "#")).startswith(("#", "data:,")) for _, a in page.tags)
    for name in HOSTILE:
        assert re.sub(r"\s+", " ", plain(name)) in page.words
    labels = json.dumps([page.data["figures"], page.array("o0-slice.label")], ensure_ascii=False)
    assert "<script" not in labels
    assert "<a " not in labels
    assert "<b>" not in labels
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in labels
    check_bindings(page)


def test_long_names_and_odd_characters_do_no_harm(tmp_path: Path) -> None:
    X, y = smooth_runs(8, 2)
    frame = pd.DataFrame(X, columns=["x" * 5000, "a\x00b\nc\r"])
    model = PenalizedGPRegressor(lam=0.01, random_state=0).fit(frame, y)
    info = {"history": [{"rows": 8, "note": "\x00\ud800"}], "long": "y" * 10**5}
    write_report(model, tmp_path / "report.html", info=info)
    page = read(tmp_path / "report.html")
    assert "x" * 119 + "…" in page.words
    assert "a b c " in page.words
    assert "(100000 characters)" in page.words
    check_bindings(page)


def test_labels_for_plotly_hold_neither_markup_nor_templates() -> None:
    assert inert("<b>&amp;</b>") == "&lt;b&gt;&amp;amp;&lt;/b&gt;"
    assert inert("%{x} $a$") == "&#37;&#123;x} &#36;a&#36;"
    assert inert("n" * 50) == "n" * 37 + "…"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.inf, "infinite"),
        (-np.inf, "minus infinity"),
        (np.nan, "not defined"),
        (0.0, "0"),
        (1234.5678, "1235"),
        (-0.25, "\N{MINUS SIGN}0.25"),
        (1.5e-7, "1.5 \N{MULTIPLICATION SIGN} 10⁻⁷"),
    ],
)
def test_numbers_as_words(value: float, text: str) -> None:
    assert number(value) == text


LAMS = np.concatenate([[0.0], np.geomspace(1e-3, 5.0, 8)])


def _cv(X: Any, y: Any, lams: Any = LAMS, **parameters: Any) -> PenalizedGPRegressorCV:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)  # about constant columns and few runs
        return PenalizedGPRegressorCV(lams=lams, random_state=0, **parameters).fit(X, y)


def _with_constant_column(**parameters: Any) -> PenalizedGPRegressorCV:
    X, y = smooth_runs(10, 3)
    X[:, 1] = 7.0
    return _cv(X, y, **parameters)


def _extended() -> PenalizedGPRegressorCV:
    X, y = smooth_runs(12, 2)
    return _cv(X[:9], y[:9]).condition_on(X[9:], y[9:])


def _several() -> PenalizedGPRegressorCV:
    X, y = smooth_runs(9, 2)
    return _cv(X, np.column_stack([y, -(y**2)]))


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "one input": (lambda: _cv(*smooth_runs(8, 1)), "1 of 1 input matters"),
    "twenty inputs": (lambda: _cv(*smooth_runs(12, 20), lams=LAMS[:4]), "Input of panel 6"),
    "a hundred runs": (lambda: _cv(*smooth_runs(100, 2), lams=LAMS[:4]), "100 runs of a simulator"),
    "given lambda": (
        lambda: PenalizedGPRegressor(lam=0.01, random_state=0).fit(*smooth_runs(10, 3)),
        "λ\xa0=\xa00.01 was given, not chosen from the runs.",
    ),
    "estimated nugget": (
        lambda: _cv(*smooth_runs(10, 2), nugget="estimate", mean="constant"),
        "<dt>nugget</dt><dd>estimate</dd>",
    ),
    "isotropic": (lambda: _cv(*smooth_runs(10, 3), isotropic=True), "All inputs share one θ and"),
    "constant column": (_with_constant_column, "x2 was constant and could not be judged."),
    "isotropic with constant column": (
        lambda: _with_constant_column(isotropic=True),
        'data-value="1.7e+308">infinite</td>',
    ),
    "extended": (
        _extended,
        "The model knows 12 runs, but λ and θ were estimated from the first 9 of them",
    ),
    "constant response": (
        lambda: _cv(smooth_runs(8, 2)[0], np.full(8, 3.0)),
        "The response is constant; it is predicted as that constant",
    ),
    "two runs": (lambda: _cv(*smooth_runs(2, 2)), "cross-validation was not possible"),
    "several outputs": (_several, "<h2>yield, output 2</h2>"),
    "one lambda": (lambda: _cv(*smooth_runs(8, 1), lams=[0.0]), "among 1 value by"),
    "own rule": (
        lambda: _cv(*smooth_runs(8, 1), rule=lambda lams, values: 2, metric=lambda r, R, s: r @ r),
        "as the choice of a rule of your own",
    ),
    "far from zero": (
        lambda: _cv(1e6 + smooth_runs(9, 2)[0], 1e9 + smooth_runs(9, 2)[1]),
        "Surrogate of yield",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_kind_of_model_has_a_report(name: str, tmp_path: Path) -> None:
    make, words = CASES[name]
    path = tmp_path / "report.html"
    write_report(make(), path, info={"response": "yield"})
    page = read(path)
    assert words in page.text
    check_bindings(page)
    assert path.stat().st_size < 4e6
    assert not re.search(r">\s*(nan|inf|-inf|None)\s*<", page.text.replace("<dd>None<", ""))


def test_numbers_far_from_zero_keep_their_digits(tmp_path: Path) -> None:
    X, y = smooth_runs(9, 2)
    model = _cv(1e6 + X, 1e9 + y)
    write_report(model, tmp_path / "report.html")
    x = read(tmp_path / "report.html").array("o0-slice.x")
    assert len(np.unique(x[0])) >= 41
    p = int(model.theta_.argmax())
    assert x[0, 0] == model.X_train_[:, p].min()


def test_every_process_of_a_page_leaves_its_runs_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, compute = list[Posterior](), Posterior.loo

    def counted(self: Posterior) -> Any:
        asked.append(self)
        return compute(self)

    monkeypatch.setattr(Posterior, "loo", counted)
    runs = load_piston_slap()
    write_report(_cv(runs.X, runs.y), tmp_path / "page.html")
    assert 0 < len(asked) == len({id(posterior) for posterior in asked}) <= 1 + len(LAMS)


def test_a_long_grid_of_lambda_is_thinned_but_keeps_every_choice(tmp_path: Path) -> None:
    model = _cv(*smooth_runs(8, 1), lams=np.geomspace(1e-4, 5.0, 150))
    write_report(model, tmp_path / "report.html")
    page = read(tmp_path / "report.html")
    assert 58 <= int(page.by_id("o0-slider")["max"] or 0) + 1 <= 61
    texts = page.array("o0-slider")
    for lam in (model.lam_, model.lam_min_, model.lam_1se_):
        assert any(text.startswith(f"λ\xa0=\xa0{number(lam, 3)} (") for text in texts)


def test_outputs_have_their_own_names_and_sliders(tmp_path: Path) -> None:
    model = _several()
    write_report(model, tmp_path / "report.html", info={"response": ["torque", "noise"]})
    page = read(tmp_path / "report.html")
    assert "<h2>torque</h2>" in page.text
    assert "<h2>noise</h2>" in page.text
    for k in range(2):
        places = {key: value for key, value in page.data["state"].items() if key == f"o{k}.lam"}
        assert model.path_.lams[places[f"o{k}.lam"]] == model.lam_[k]
        theta = page.array(f"o{k}-input0-theta")
        assert theta[places[f"o{k}.lam"]] == number(model.theta_[k, 0])


def test_the_time_is_written_for_a_reader() -> None:
    assert _when("2026-11-16T00:11:32+00:00") == "2026-11-16 00:11 UTC"
    assert _when("last week") == "last week"


def test_near_copies_of_a_mode_are_listed_once(page: Page) -> None:
    modes = piston().modes_
    count = int(modes.count)
    log_theta = np.log(modes.theta[:count])
    apart = np.abs(log_theta[:, None] - log_theta).max(axis=-1) >= 1e-2
    distinct = [k for k in range(count) if apart[k, :k].all()]
    assert f"{len(distinct)} maxima of the penalized likelihood were found" in page.words


def test_a_model_read_back_from_its_file_gives_the_same_bytes(tmp_path: Path) -> None:
    model = _extended()
    save(model, tmp_path / "model.pengp")
    for name, same in (("a.html", model), ("b.html", load(tmp_path / "model.pengp"))):
        write_report(same, tmp_path / name)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_what_cannot_be_reported_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a pipeline that ends in one, not a str"):
        write_report("model", tmp_path / "report.html")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ValueError, match="not fitted yet"):
        write_report(PenalizedGPRegressor(), tmp_path / "report.html")
    with pytest.raises(FileError, match="its directory does not exist"):
        write_report(piston(), tmp_path / "missing" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_missing_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [m for m in sys.modules if m.startswith("pengp.report.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'needs jinja2; install it: pip install "pengp\[report'):
        write_report(piston(), tmp_path / "report.html")


def test_importing_the_report_loads_nothing_heavy() -> None:
    code = "import sys, pengp.report; print({'plotly', 'jinja2', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


def test_text_contrasts_with_its_background_in_both_themes() -> None:
    css = (Path(write_report.__code__.co_filename).parent / "templates/report.css").read_text()
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css[css.index(start) :].split("}")[0]))
        for start in (":root {", ':root[data-theme="dark"] {')
    )
    pairs = [("ink", "page"), ("ink", "surface"), ("ink", "caution"), ("muted", "page")]
    pairs += [("muted", "surface"), ("accent", "page"), ("moved", "page"), ("page", "accent")]
    for theme in (light, dark):
        for text, ground in pairs:
            first, second = sorted(_luminance(theme[c]) for c in (text, ground))
            assert (second + 0.05) / (first + 0.05) >= 4.5, (text, ground)


def _luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_every_finding_has_a_title() -> None:
    sources = Path(diagnosis.__file__).parent.glob("*.py")
    found = (re.findall(r'Finding\(\s*"(\w+)"', path.read_text("utf-8")) for path in sources)
    codes = {code for each in found for code in each}
    assert {"useless", "noise", "flat"} <= codes
    assert codes <= set(_TITLES)


@dataclass(frozen=True)
class Rational(RadialKernel):
    """phi(s) = 1 / (1 + s), which the page's script does not know."""

    name: ClassVar[str] = "rational"
    label: ClassVar[str] = "rational quadratic"

    def phi(self, s: FloatArray) -> FloatArray:
        return 1.0 / (1.0 + s)

    def derivatives(self, s: FloatArray, phi: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -(phi**2), 2.0 * phi**3


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({}, ""),
        ({"kernel": Rational()}, "kernel"),
        ({"mean": np.cos}, "mean"),
        ({"response_transform": StandardScaler()}, "transform of the response"),
        ({"input_transforms": {0: StandardScaler()}}, "scale of an input"),
    ],
    ids=["known", "kernel", "mean", "response", "input"],
)
def test_the_page_says_what_keeps_it_from_predicting(
    settings: dict[str, Any], part: str, tmp_path: Path
) -> None:
    X, y = smooth_runs(8, 2)
    model = PenalizedGPRegressor(0.01, random_state=0, **settings).fit(X, np.exp(y))
    write_report(model, tmp_path / "page.html")
    page = read(tmp_path / "page.html")
    said = f"cannot predict by itself: it does not know the {part} of this model"
    assert (said in page.words) is bool(part)
    assert ("o0-what-if" in {attributes.get("id") for _, attributes in page.tags}) is not bool(part)
