"""What comes out and where the optimum is: the numbers of `propagate` and `optimum`."""

import base64
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pengp import BayesianGPRegressor, PenalizedGPRegressor
from pengp.datasets import latin_hypercube
from pengp.decisions import optimum, propagate
from pengp.report import write_report
from pengp.report.text import number
from tests.problems import smooth_runs
from tests.report.test_average import average
from tests.report.test_page import Page, Rational, check_bindings, piston, read
from tests.report.test_what_if import MIXED, mixed_runs

QUICK: dict[str, Any] = {"kernels": "sqexp", "nugget": 1e-5, "effective_size": 100.0}


def mixed() -> BayesianGPRegressor:
    """Return an average over a logarithmic input, whole numbers, a factor; of a log response."""
    X, y = mixed_runs()
    return BayesianGPRegressor(response_transform="log", **MIXED, **QUICK).fit(X, np.exp(y / 4.0))


MODELS: dict[str, Callable[[], Any]] = {"one lambda": piston, "average": average, "mixed": mixed}


@pytest.fixture(scope="module", params=MODELS)
def shown(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a model and the report on it."""
    model = MODELS[request.param]()
    path = tmp_path_factory.mktemp("outcomes") / "page.html"
    write_report(model, path, info={"response": "noise"})
    assert path.stat().st_size < 4e6
    found = read(path)
    check_bindings(found)
    return model, found


def rows_of(page: Page, id: str) -> list[list[str]]:
    """Return the words in the rows of a table."""
    table = page.text[page.text.index(f'<table id="{id}">') :]
    body = table[table.index("<tbody>") : table.index("</tbody>")]
    cells = r"<t[dh][^>]*>(.*?)</t[dh]>"
    return [[unescape(cell) for cell in re.findall(cells, row)] for row in body.split("<tr>")[1:]]


def range_of(low: float, high: float, digits: int = 4) -> str:
    """Return two numbers as the page writes an interval."""
    return f"{number(low, digits)} to {number(high, digits)}"


def values_of(trace: dict[str, Any], key: str) -> np.ndarray:
    """Return the numbers of a trace."""
    found = trace[key]
    if isinstance(found, list):
        return np.array(found)
    return np.frombuffer(base64.b64decode(found["bdata"]), dtype=found["dtype"])


def test_the_law_of_the_response_is_that_of_propagate(shown: Any) -> None:
    model, page = shown
    found = propagate(model, response_name="noise")
    expected = [
        [row["what"], number(row["mean"]), range_of(row["lower"], row["upper"])]
        for row in found.records()
    ]
    assert rows_of(page, "o0-law") == expected
    assert f"noise has the mean {expected[0][1]} ({expected[0][2]})" in page.words
    lower, upper, mean = page.data["figures"]["o0-outcomes"]["data"]
    y = values_of(mean, "y")
    at = [int(np.abs(y - q).argmin()) for q in found.levels]
    np.testing.assert_allclose(y[at], found.levels)
    for trace, values in zip((mean, lower, upper), found.quantiles, strict=True):
        np.testing.assert_allclose(values_of(trace, "x")[at], values)
    assert [trace.get("fill") for trace in (lower, upper, mean)] == [None, "tonextx", None]


@pytest.mark.parametrize("shown", ["one lambda", "average"], indirect=True)
def test_the_mean_is_that_of_predictions_all_over_the_design_region(shown: Any) -> None:
    model, page = shown
    ends = model._surrogate.inputs
    U = latin_hypercube(1024, len(ends.lower), random_state=5)
    predicted = model.predict(pd.DataFrame(ends.inverse(U), columns=model.feature_names_in_))
    told = float(rows_of(page, "o0-law")[0][1])
    assert told == pytest.approx(predicted.mean(), abs=4.0 * predicted.std() / 32.0)


def test_the_optima_are_those_of_the_library(shown: Any) -> None:
    model, page = shown
    values, places = rows_of(page, "o0-optima"), rows_of(page, "o0-places")
    assert [row[0] for row in values] == ["smallest", "largest"]
    for row, maximize in zip(values, (False, True), strict=True):
        found = optimum(model, maximize=maximize)
        assert row[1:3] == [number(found.mean), range_of(found.lower, found.upper)]
        assert found.best_run is not None
        assert found.best is not None
        assert found.probability is not None
        assert row[3:5] == [str(found.best_run + 1), number(found.best)]
        assert f"{number(found.mean)} (95 % interval {row[2]}); it is" in page.words
        assert share(row[5]) == pytest.approx(found.probability, abs=0.006)
        mine = [one for one in places if one[0].startswith(row[0])]
        told = found.inputs(found.x).values()
        assert mine[0][2:] == [x if isinstance(x, str) else number(x) for x in told]
        listed = [row for row in mine if ", place" in row[0]]
        assert len(listed) == min(len(found.places), 3) > 0
        for row, place in zip(listed, found.places, strict=False):
            assert share(row[1]) == pytest.approx(place.probability, abs=0.006)
            for p, name in enumerate(found.names):
                ends = place.lower[p], place.upper[p]
                words = range_of(*ends, digits=3)
                if number(ends[0], 3) == number(ends[1], 3):
                    words = number(ends[0], 3)
                assert row[2 + p] == ", ".join(place.levels.get(name, [words]))
        rest = [share(row[1]) for row in mine if ", elsewhere" in row[0]]
        left = 1.0 - sum(place.probability for place in found.places[:3])
        assert sum(rest) == pytest.approx(left, abs=0.006)


def share(words: str) -> float:
    """Return a probability that is written in percent."""
    return float(re.sub("[^0-9.]", "", words)) / 100.0


@pytest.mark.filterwarnings("ignore:y is constant:pengp.PengpWarning")
@pytest.mark.parametrize(
    ("settings", "constant", "sections"),
    [
        ({}, False, {"outcomes", "optima"}),
        ({"kernel": Rational()}, False, {"optima"}),
        ({"mean": np.cos}, False, {"optima"}),
        ({}, True, set()),
    ],
    ids=["known", "kernel", "mean", "constant"],
)
def test_what_cannot_be_known_is_left_out(
    settings: dict[str, Any], constant: bool, sections: set[str], tmp_path: Path
) -> None:
    X, y = smooth_runs(8, 2)
    model = PenalizedGPRegressor(0.01, random_state=0, **settings)
    write_report(model.fit(X, np.ones(8) if constant else y), tmp_path / "page.html")
    page = read(tmp_path / "page.html")
    ids = {attributes.get("id") for _, attributes in page.tags}
    links = {attributes.get("href") for _, attributes in page.tags}
    for name in ("outcomes", "optima"):
        assert (f"o0-{name}-section" in ids) is (name in sections)
        assert (f"#o0-{name}-section" in links) is (name in sections)
