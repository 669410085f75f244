"""Model files of fits with known noise: the same bits come back, and nonsense is refused."""

import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pengp import BayesianGPRegressor, PenalizedGPRegressor, PenalizedGPRegressorCV, load, save
from pengp._core.arrays import FloatArray
from pengp.exceptions import FileError
from tests.persistence.damage import loaded, packed, unpacked
from tests.persistence.test_files import round_trip
from tests.persistence.test_scales import corrupted

pytestmark = pytest.mark.filterwarnings("ignore::pengp.exceptions.PengpWarning")
RNG = np.random.default_rng(0)
X, NEW = RNG.random((10, 2)), RNG.random((6, 2))
SD = np.where(np.arange(10) % 2, 0.3, 0.05)
Y = np.sin(4.0 * X[:, 0]) + SD * RNG.standard_normal(10)
TWO = np.column_stack([Y, Y**2]), np.column_stack([SD, 0.0 * SD])


def makers() -> dict[str, Any]:
    """Return unfitted estimators by name."""
    few: dict[str, Any] = {"kernels": "sqexp", "nugget": 1e-5, "effective_size": 50}
    return {
        "penalized": PenalizedGPRegressor(0.01, random_state=0),
        "cv": PenalizedGPRegressorCV(cv=3, lams=[0.0, 0.1], random_state=0),
        "average": BayesianGPRegressor(**few, max_points=600, random_state=0),
    }


def fitted(name: str, y: FloatArray = Y, noise_sd: FloatArray = SD) -> Any:
    """Return a model that learned two runs later than the others."""
    model = makers()[name].fit(X[:8], y[:8], noise_sd=noise_sd[:8])
    return model.condition_on(X[8:], y[8:], noise_sd=noise_sd[8:])


@pytest.mark.parametrize("several", [False, True], ids=["one", "two"])
@pytest.mark.parametrize("name", makers())
def test_the_same_bits_come_back(name: str, several: bool, tmp_path: Path) -> None:
    model = fitted(name, *TWO) if several else fitted(name)
    for other in (round_trip(model, tmp_path), pickle.loads(pickle.dumps(model))):
        for a, b in zip(model.predict(NEW, True), other.predict(NEW, True), strict=True):
            assert (a == b).all()
        assert (model.noise_sd_ == other.noise_sd_).all()
        assert (model.loo_.std == other.loo_.std).all()
        more = [m.condition_on(NEW[:1], model.y_train_[:1], 0.2) for m in (model, other)]
        assert (more[0].predict(NEW) == more[1].predict(NEW)).all()
    save(load(tmp_path / "model.pengp"), tmp_path / "again.pengp")
    assert (tmp_path / "again.pengp").read_bytes() == (tmp_path / "model.pengp").read_bytes()


def changed(content: bytes, name: str, value: float) -> bytes:
    """Return a file with another first number in an array."""
    header, data = unpacked(content)
    start = 0
    for entry in header["arrays"]:
        if entry["name"] == name:
            new = struct.pack("<d", value)
            return packed(json.dumps(header).encode(), data[:start] + new + data[start + 8 :])
        start += (1 if entry["type"] == "b1" else 8) * int(np.prod(entry["shape"]))
    raise AssertionError(name)


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
@pytest.mark.parametrize("name", ["penalized", "average"])
def test_noise_that_is_none_is_refused(name: str, value: float, tmp_path: Path) -> None:
    path = tmp_path / "model.pengp"
    save(fitted(name), path)
    path.write_bytes(changed(path.read_bytes(), "noise_sd", value))
    with pytest.raises(FileError, match="its contents are not sound"):
        load(path)


@pytest.mark.parametrize("name", ["penalized", "average"])
def test_corruptions_are_refused_or_harmless(name: str, tmp_path: Path) -> None:
    path, refused = tmp_path / "model.pengp", 0
    save(fitted(name), path)
    for edited in corrupted(path.read_bytes(), 120):
        with np.errstate(all="ignore"):
            model = loaded(path, edited)
            refused += model is None
            if model is not None:
                model.predict(NEW, return_std=True)
                _ = model.loo_, str(model), model.noise_sd_
    assert 20 < refused < 120
