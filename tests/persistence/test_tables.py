"""A model of everything at once: scales, a factor, whole numbers, two transformed responses."""

import contextlib
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

from pengp import BayesianGPRegressor, PenalizedGPRegressor, PengpWarning, load, save
from pengp._core.arrays import FloatArray
from pengp.cli.app import app
from tests.persistence.damage import loaded
from tests.persistence.test_scales import corrupted

ANSWERS = ("predict", "predict_interval")


def table(n: int, seed: int) -> tuple[pd.DataFrame, FloatArray]:
    """Return runs of an input over eight decades, whole numbers and a factor; two responses."""
    rng = np.random.default_rng(seed)
    z, teeth = rng.uniform(-6.0, 2.0, n), rng.integers(1, 5, n)
    metal = np.array(["brass", "steel", "wood"])[rng.permutation(n) % 3]
    first = 2.0 + np.sin(0.5 * z) + 0.2 * teeth + 0.3 * (metal == "steel")
    second = np.exp(0.3 * z + 0.2 * teeth - 0.5 * (metal == "wood"))
    X = pd.DataFrame({"k": 10.0**z, "teeth": teeth, "metal": metal})
    return X, np.column_stack([first, second])


SETTINGS: dict[str, Any] = {
    "input_transforms": {"k": "log10"},
    "integer_inputs": ["teeth"],
    "response_transform": ["sqrt", "log"],
    "random_state": 0,
}
MODELS: dict[str, Any] = {
    "penalized": PenalizedGPRegressor(0.05, **SETTINGS),
    "average": BayesianGPRegressor(effective_size=50, n_components=5, **SETTINGS),
}
X, Y = table(16, 0)
MORE, Y_MORE = table(3, 1)
Y_MORE *= 1.1  # which the former runs do not say
NEW, _ = table(9, 2)


def fitted(kind: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)  # few draws are enough
        return clone(MODELS[kind]).fit(X, Y)


def answers(model: Any) -> list[FloatArray]:
    return [np.asarray(getattr(model, name)(NEW)) for name in ANSWERS]


@pytest.mark.parametrize("kind", MODELS)
def test_it_survives_files_pickles_and_further_runs(kind: str, tmp_path: Path) -> None:
    model = fitted(kind)
    save(model, tmp_path / "a.pengp")
    read = load(tmp_path / "a.pengp")
    pickled = pickle.loads(pickle.dumps(model))
    for again in (read, pickled):
        for one, other in zip(answers(model), answers(again), strict=True):
            np.testing.assert_array_equal(one, other)
    later = model.condition_on(MORE, Y_MORE)
    save(later, tmp_path / "b.pengp")
    for again in (read.condition_on(MORE, Y_MORE), load(tmp_path / "b.pengp")):
        for one, other in zip(answers(later), answers(again), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
    before, after = (np.abs(np.asarray(one.predict(MORE)) - Y_MORE) for one in (model, later))
    assert (after < 0.8 * before).all()  # it has learned


@pytest.mark.parametrize("kind", MODELS)
def test_corruptions_of_it_are_refused_or_harmless(kind: str, tmp_path: Path) -> None:
    path, refused = tmp_path / "model.pengp", 0
    save(fitted(kind), path)
    for edited in corrupted(path.read_bytes(), 100):
        with np.errstate(all="ignore"):
            model = loaded(path, edited)
            refused += model is None
            if model is not None:
                model.predict(NEW, return_std=True)
    assert 15 < refused < 100


def test_the_command_updates_it(tmp_path: Path) -> None:
    for name, (inputs, responses) in {"runs": (X, Y), "more": (MORE, Y_MORE)}.items():
        runs = inputs.assign(stress=responses[:, 0], flow=responses[:, 1])
        runs.to_csv(tmp_path / f"{name}.csv", index=False)
    scales = ["--log", "k", "--integer", "teeth", "--factor", "metal"]
    scales += ["--transform", "stress=sqrt", "--transform", "flow=log"]
    fit = ["fit", "runs.csv", "-y", "stress", "-y", "flow", *scales, "-o", "m.pengp"]
    update = ["update", "m.pengp", "more.csv", "-o", "n.pengp"]
    with contextlib.chdir(tmp_path):
        for command in ([*fit, "--method", "penalized", "--lambda", "0.05"], update):
            done = CliRunner().invoke(app, command)
            assert done.exit_code == 0, done.stderr
    model, later = load(tmp_path / "m.pengp"), load(tmp_path / "n.pengp")
    for one, other in zip(answers(model.condition_on(MORE, Y_MORE)), answers(later), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
