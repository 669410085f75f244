"""Transforms in model files: only pengp's own, and nothing that contradicts the runs."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pengp import PenalizedGPRegressor, load, save
from pengp.exceptions import FileError
from pengp.model import Logit
from tests.persistence.damage import PREFIX, edit_header, edit_numbers, loaded, sealed

RNG = np.random.default_rng(5)
X = np.column_stack([10.0 ** RNG.uniform(-6, 2, 9), RNG.uniform(1, 5, 9)])
Y = np.exp(X[:, 1]) / (1.0 + X[:, 0])
NEW = X[:4] * 1.1


def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.pengp"
    settings: dict[str, Any] = {"input_transforms": {0: "log10", 1: Logit(0.0, 6.0)}}
    save(PenalizedGPRegressor(0.1, response_transform="boxcox", **settings).fit(X, Y), path)
    return path


def changed(content: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return the file with another header, lengths and checksum right."""
    import json

    magic, version, length, _ = PREFIX.unpack_from(content)
    header = json.loads(content[PREFIX.size : PREFIX.size + length])
    change(header)
    new, data = json.dumps(header).encode(), content[PREFIX.size + length : -32]
    total = PREFIX.size + len(new) + len(data) + 32
    return sealed(PREFIX.pack(magic, version, len(new), total) + new + data + bytes(32))


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of one place of the header's transforms."""

    def change(header: dict[str, Any]) -> None:
        tree = header["transforms"]
        for key in path[:-1]:
            tree = tree[key]
        tree[path[-1]] = value

    return change


UNSOUND = {
    "one transform for two inputs": put("inputs", value=["log10"]),
    "a logarithm of other runs": put("inputs", 1, value={"name": "logit", "settings": {}}),
    "ends inside the runs": put("inputs", 1, "settings", value={"low": 2.0, "high": 6.0}),
    "ends the wrong way round": put("inputs", 1, "settings", value={"low": 6.0, "high": 0.0}),
    "no power": put("responses", 0, "settings", "power", value=None),
    "a power beyond the range": put("responses", 0, "settings", "power", value=-1.0),
    "a power that is no number": put("responses", 0, "settings", "power", value=[1.0]),
    "settings of another": put("responses", 0, "settings", value={"low": 0.0, "high": 1.0}),
    "no list": put("responses", value="log"),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_transforms_that_make_no_sense_are_refused(name: str, tmp_path: Path) -> None:
    path = model_file(tmp_path)
    path.write_bytes(changed(path.read_bytes(), UNSOUND[name]))
    with pytest.raises(FileError, match="its contents are not sound"):
        load(path)


@pytest.mark.parametrize("name", ["transformer", "os.system", "none.py"])
def test_only_pengps_transforms_are_resolved(name: str, tmp_path: Path) -> None:
    path = model_file(tmp_path)
    path.write_bytes(changed(path.read_bytes(), put("inputs", 0, value=name)))
    with pytest.raises(FileError, match=f"needs the transform '{name}', which is none of pengp's"):
        load(path)


def test_a_change_that_makes_sense_is_read(tmp_path: Path) -> None:
    path = model_file(tmp_path)
    power = load(path).response_transform_.power
    path.write_bytes(changed(path.read_bytes(), put("inputs", 0, value="log10")))
    assert load(path).response_transform_.power == power


def corrupted(content: bytes, count: int) -> Iterator[bytes]:
    """Yield so many files with an edit each, lengths and checksum right."""
    rng = np.random.default_rng(0)
    for k in range(count):
        edited = (edit_header, edit_numbers)[k % 2](rng, content, content)
        magic, _, length, total = PREFIX.unpack_from(edited)
        yield sealed(PREFIX.pack(magic, 2, length, total) + edited[PREFIX.size :])


def test_corruptions_of_transformed_models_are_refused_or_harmless(tmp_path: Path) -> None:
    path, refused = model_file(tmp_path), 0
    for edited in corrupted(path.read_bytes(), 300):
        with np.errstate(all="ignore"):
            model = loaded(path, edited)
            refused += model is None
            if model is not None:
                model.predict(NEW, return_std=True)
                _ = model.loo_, model.predict_quantiles(NEW, [0.1]), str(model)
    assert 50 < refused < 300
