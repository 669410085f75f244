"""Whole numbers and levels in model files: nothing that contradicts the runs or the kernels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pengp import BayesianGPRegressor, PenalizedGPRegressor, load, save
from pengp.exceptions import FileError
from tests.persistence.damage import loaded
from tests.persistence.test_scales import changed, corrupted, put

RNG = np.random.default_rng(5)
X = np.empty((14, 3), dtype=object)
X[:, 0], X[:, 2] = RNG.uniform(size=14), RNG.integers(1, 4, 14)
X[:, 1] = np.array(["a", "b", "c"])[np.arange(14) % 3]
Y = np.column_stack([np.sin(4.0 * X[:, 0].astype(float)) + (X[:, 1] == "b") + X[:, 2], X[:, 0]])
Y = Y.astype(float)
MODELS: dict[str, Any] = {
    "penalized": PenalizedGPRegressor(0.1, response_transform=[None, "sqrt"], random_state=0),
    "average": BayesianGPRegressor(effective_size=30, n_components=5, random_state=0),
}


def model_file(kind: str, tmp_path: Path) -> Path:
    path, settings = tmp_path / "model.pengp", {"factors": [1], "integer_inputs": [2]}
    save(MODELS[kind].set_params(**settings).fit(X, Y), path)
    return path


def kernel_levels(value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of what the kernel says of levels."""

    def change(header: dict[str, Any]) -> None:
        header["model"]["kernel"] = {"name": "sqexp", "settings": {"levels": value}}

    return change


SETTINGS = {"labels": {"tuple": ["a", "b", "c"]}, "values": {"tuple": [0.0, 1.0, 2.0]}}
UNSOUND = {
    "fewer levels than the runs have": put(
        "inputs",
        1,
        "settings",
        value={"labels": {"tuple": ["a", "b"]}, "values": {"tuple": [0.0, 1.0]}},
    ),
    "two levels of one name": put(
        "inputs", 1, "settings", "labels", value={"tuple": ["a", "a", "c"]}
    ),
    "a label that is a number": put(
        "inputs", 1, "settings", "labels", value={"tuple": ["a", 1, "c"]}
    ),
    "values that fall": put("inputs", 1, "settings", "values", value={"tuple": [2.0, 1.0, 0.0]}),
    "no labels": put("inputs", 1, "settings", value={"values": SETTINGS["values"]}),
    "an input of levels that is plain": put("inputs", 1, value="none"),
    "a plain input that has levels": put(
        "inputs", 2, value={"name": "levels", "settings": SETTINGS}
    ),
    "rounded twice": put(
        "inputs",
        2,
        "settings",
        "scale",
        value={"transform": {"name": "integer", "settings": {"scale": {"transform": "none"}}}},
    ),
    "a scale that is a number": put("inputs", 2, "settings", "scale", value=3),
    "a response with steps": put(
        "responses",
        1,
        value={"name": "integer", "settings": {"scale": {"transform": "none"}}},
    ),
    "a kernel without levels": kernel_levels({"tuple": []}),
    "a kernel with levels elsewhere": kernel_levels({"tuple": [0]}),
    "a kernel with levels beyond the inputs": kernel_levels({"tuple": [7]}),
    "a kernel whose levels are no numbers": kernel_levels("1"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_levels_that_make_no_sense_are_refused(name: str, tmp_path: Path) -> None:
    path = model_file("penalized", tmp_path)
    path.write_bytes(changed(path.read_bytes(), UNSOUND[name]))
    with pytest.raises(FileError, match="its contents are not sound"):
        load(path)


@pytest.mark.parametrize("kind", MODELS)
def test_corruptions_are_refused_or_harmless(kind: str, tmp_path: Path) -> None:
    path, refused = model_file(kind, tmp_path), 0
    for edited in corrupted(path.read_bytes(), 100):
        with np.errstate(all="ignore"):
            model = loaded(path, edited)
            refused += model is None
            if model is not None:
                model.predict(X[:4], return_std=True)
    assert 15 < refused < 100
