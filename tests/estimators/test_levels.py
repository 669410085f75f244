"""Whole numbers and factors in the estimators: by hand, relabelled, refused, saved."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pengp import BayesianGPRegressor, InputError, PenalizedGPRegressor, PenalizedGPRegressorCV
from pengp._core.arrays import FloatArray
from pengp.decisions import effects
from pengp.model.elementary import Log10
from pengp.model.levels import Integer, Levels
from pengp.persistence import load, save

SHIFTS = {"brass": 1.0, "steel": 0.0, "wood": -0.6}
MODELS = {
    "penalized": PenalizedGPRegressor(0.05, random_state=0),
    "cv": PenalizedGPRegressorCV(lams=[0.0, 0.1], cv=3, n_starts=3, random_state=0),
    "average": BayesianGPRegressor(
        kernels=["sqexp", "matern52_product"], effective_size=50, n_components=10, random_state=0
    ),
}
each_model = pytest.mark.parametrize("kind", MODELS)


def table(n: int = 20) -> tuple[pd.DataFrame, FloatArray]:
    """Return runs of an input, a material and a count."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame(
        {
            "x": rng.uniform(0.0, 2.0, n),
            "material": np.array(sorted(SHIFTS))[np.arange(n) % 3],
            "count": rng.integers(1, 6, n),
        }
    )
    shift = X["material"].map(SHIFTS).to_numpy()
    return X, np.sin(2.0 * X["x"]).to_numpy() + shift + 0.3 * X["count"].to_numpy()


def new_inputs() -> pd.DataFrame:
    """Return inputs to predict."""
    return pd.DataFrame({"x": [0.4, 1.1, 1.7], "material": ["wood", "brass", "wood"], "count": 3})


def fitted(kind: str, **settings: Any) -> Any:
    """Return a model of that kind, fitted to the table."""
    return clone(MODELS[kind]).set_params(integer_inputs=["count"], **settings).fit(*table())


def test_predictions_by_hand() -> None:
    (X, y), new, model = table(), new_inputs(), fitted("penalized")

    def correlate(A: pd.DataFrame, B: pd.DataFrame) -> FloatArray:
        low, width = X["x"].min(), np.ptp(X["x"].to_numpy())
        s = np.zeros((len(A), len(B)))
        for i in range(len(A)):
            for j in range(len(B)):
                a, b = A.iloc[i], B.iloc[j]
                s[i, j] = model.theta_[0] * (((a["x"] - low) - (b["x"] - low)) / width) ** 2
                s[i, j] += model.theta_[1] * (a["material"] != b["material"])
                s[i, j] += model.theta_[2] * ((a["count"] - b["count"]) / 4.0) ** 2
        return np.exp(-s)

    z = (y - y.mean()) / y.std(ddof=1)
    R = correlate(X, X) + 1e-5 * np.eye(len(X))
    by_hand = y.mean() + y.std(ddof=1) * correlate(new, X) @ np.linalg.solve(R, z)
    assert np.allclose(model.predict(new), by_hand, rtol=1e-8)
    assert model.lengthscale_[1] == pytest.approx(model.theta_[1] ** -0.5)


@each_model
def test_the_surrogate_is_constant_between_whole_numbers_and_flat_in_levels(kind: str) -> None:
    model, new = fitted(kind), new_inputs()
    near, far = (model.predict(new.assign(count=count), return_std=True) for count in (3.4, 3.6))
    exact = model.predict(new, return_std=True)
    assert all((a == b).all() for a, b in zip(near, exact, strict=True))
    assert (far[0] != exact[0]).all()
    gradient = model.predict_gradient(new)
    assert (gradient[:, 1:] == 0.0).all()
    assert (gradient[:, 0] != 0.0).all()


@each_model
def test_other_names_and_orders_of_the_levels_change_nothing(kind: str) -> None:
    (X, y), new = table(), new_inputs()
    names = {"brass": "z", "steel": "b", "wood": "m"}
    other = clone(MODELS[kind]).set_params(integer_inputs=["count"])
    other.fit(X.assign(material=X["material"].map(names)), y)
    renamed = other.predict(new.assign(material=new["material"].map(names)))
    assert np.allclose(fitted(kind).predict(new), renamed, rtol=1e-6)
    ordered = fitted(kind, factors={"material": ["wood", "brass", "steel"]})
    assert np.allclose(ordered.predict(new), renamed, rtol=1e-6)


@each_model
def test_models_survive_files_pickles_and_new_runs(kind: str, tmp_path: Path) -> None:
    model, new = fitted(kind, input_transforms={"x": "sqrt"}, factors=["material"]), new_inputs()
    save(model, tmp_path / "model.pengp")
    loaded = load(tmp_path / "model.pengp")
    copies = [loaded, pickle.loads(pickle.dumps(model))]
    assert all((copy.predict(new) == model.predict(new)).all() for copy in copies)
    assert loaded.input_transforms_ == model.input_transforms_
    assert loaded.get_params()["factors"] == ["material"]
    run = new.iloc[:1], model.predict(new)[:1] + 0.01
    longer = loaded.condition_on(*run)
    assert longer.predict(new)[0] == pytest.approx(run[1].item(), abs=3e-3)
    assert (longer.predict(new) == model.condition_on(*run).predict(new)).all()
    with pytest.raises(InputError, match=r"'glass' in row 0, column 1 .'material'., which is none"):
        loaded.condition_on(new.iloc[:1].assign(material="glass"), [0.25])


def test_levels_of_numbers_and_of_arrays() -> None:
    X, y = table()
    codes = X["material"].map({"brass": 10.0, "steel": 30.0, "wood": 20.0})
    numbers = X.assign(material=codes).to_numpy()
    model = PenalizedGPRegressor(0.05, factors=[1], integer_inputs=[2], random_state=0)
    model.fit(numbers, y)
    assert (model.X_train_ == numbers).all()
    assert model.input_transforms_[1] == Levels(("10", "20", "30"), (10.0, 20.0, 30.0))
    assert np.allclose(model.predict(numbers), fitted("penalized").predict(X), rtol=1e-6)
    with pytest.raises(InputError, match=r"'15' in row 0, column 1, .* levels 10, 20, 30"):
        model.predict([[0.5, 15.0, 2.0]])
    texts = PenalizedGPRegressor(0.05, factors=[1], integer_inputs=[2], random_state=0)
    texts.fit(X.to_numpy(), y)
    assert np.allclose(texts.predict(X.to_numpy()), fitted("penalized").predict(X), rtol=1e-12)
    assert texts.X_train_[:, 1].tolist() == [float(k % 3) for k in range(20)]
    assert (texts.predict(texts.X_train_) == texts.predict(X.to_numpy())).all()


def test_a_declared_level_without_runs_is_predicted_from_the_others() -> None:
    levels = ["brass", "steel", "wood", "glass"]
    model = fitted("penalized", factors={"material": levels})
    unknown = new_inputs().assign(material="glass")
    mean, std = model.predict(unknown, return_std=True)
    known = [model.predict(unknown.assign(material=one)) for one in SHIFTS]
    assert (mean > np.min(known, axis=0)).all()
    assert (mean < np.max(known, axis=0)).all()
    assert (std > 2.0 * model.predict(new_inputs(), return_std=True)[1]).all()


def test_whole_numbers_on_a_logarithmic_scale() -> None:
    X, y = table()
    model = PenalizedGPRegressor(
        input_transforms={"count": "log10"}, integer_inputs=["count"], random_state=0
    ).fit(X, y)
    assert model.input_transforms_[2] == Integer(Log10())
    places = model._surrogate.scale(model.X_train_)[:, 2]
    assert np.allclose(places, np.log10(X["count"]) / np.log10(5.0))


@pytest.mark.parametrize(
    ("settings", "change", "words"),
    [
        ({}, {"material": [str(k // 2 + (k == 19)) for k in range(20)]}, "11 levels in 20 runs"),
        ({}, {"material": ["steel", None] * 10}, "no level in row 1, column 1"),
        ({"integer_inputs": ["x"]}, {}, "in row 0, column 0 .'x'., which is no whole number"),
        ({"factors": ["colour"]}, {}, "factors names 'colour', which is no input"),
        ({"integer_inputs": ["material"]}, {}, "column 1 .'material'. of X is a factor"),
        ({"input_transforms": {"material": "log"}}, {}, "column 1 .'material'. of X is a factor"),
        ({"mean": "linear"}, {}, "mean='linear' has no slope in a factor"),
        ({"response_transform": Integer()}, {}, "integer is for inputs, not for a response"),
    ],
)
def test_refusals(settings: dict[str, Any], change: dict[str, Any], words: str) -> None:
    X, y = table()
    model = PenalizedGPRegressor(random_state=0, **settings)
    with pytest.raises(InputError, match=words):
        model.fit(X.assign(**change), y)


def test_as_many_levels_as_pairs_of_runs_are_taken() -> None:
    X, y = table()
    model = PenalizedGPRegressor(random_state=0)
    model.fit(X.assign(material=[str(k // 2) for k in range(20)]), y)
    levels = model.input_transforms_[1]
    assert isinstance(levels, Levels)
    assert len(levels.labels) == 10


def test_effects_say_that_they_do_not_know_levels_yet() -> None:
    with pytest.raises(InputError, match="the inputs material, count are whole numbers or levels"):
        effects(fitted("penalized"))
