"""Model files, damaged or crafted: refused in a sentence, or a model with sound answers."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pengp import BayesianGPRegressor, save
from tests.fuzz.inputs import counted, no_hang, share
from tests.persistence.damage import CORRUPTIONS, EDITS, MODEL, VERSION_1, another, loaded, sealed

SEEDS = st.integers(0, 2**40)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Return files of all kinds: both versions, two outputs, an average."""
    rng, path = np.random.default_rng(5), tmp_path_factory.mktemp("models") / "model.pengp"
    few: dict[str, Any] = {"effective_size": 20, "max_points": 400, "n_components": 4}
    average = BayesianGPRegressor(kernels="sqexp", random_state=0, **few)
    save(average.fit(rng.random((6, 2)), rng.random(6)), path)
    return [MODEL, VERSION_1, another(), path.read_bytes()]


def use(model: Any) -> None:
    """Assert that a model of doubtful numbers predicts numbers, or refuses."""
    X = np.random.default_rng(0).random((4, model.n_features_in_)) * 10.0 + 50.0
    with warnings.catch_warnings(), np.errstate(all="ignore"), no_hang():
        warnings.simplefilter("ignore")
        mean, std = model.predict(X, return_std=True)
        assert str(model)
    assert np.isfinite(mean).all()
    assert (std >= 0.0).all()


def test_damaged_files(files: list[bytes], tmp_path: Path) -> None:
    @share(500, few=50)  # in `make test` tests.persistence has thousands more
    @given(counted(SEEDS))
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        content, other = files[seed % 4], files[seed // 4 % 4]
        changed = CORRUPTIONS[seed // 16 % len(CORRUPTIONS)](rng, content, other)
        with no_hang():
            model = loaded(tmp_path / "model.pengp", changed)
        assert model is None or changed in files  # such as a piece put where it had been

    check()


def test_crafted_files(files: list[bytes], tmp_path: Path) -> None:
    kinds = [*EDITS, *CORRUPTIONS]

    @share(500, few=50)
    @given(counted(SEEDS))
    @example(0)
    def check(seed: int) -> None:
        rng = np.random.default_rng(seed)
        content, other = files[seed % 4], files[seed // 4 % 4]
        changed = kinds[seed // 16 % len(kinds)](rng, content, other)
        with no_hang():
            model = loaded(tmp_path / "model.pengp", sealed(changed))
        if model is not None:
            use(model)

    check()
