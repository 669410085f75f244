"""Whole numbers and factors in the estimators: by hand, relabelled, refused, saved."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from pengp import (
    BayesianGPRegressor,
    InputError,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    PengpWarning,
)
from pengp._core.arrays import FloatArray
from pengp.diagnostics import validate
from pengp.diagnostics.future import Future
from pengp.estimators.advice import advise
from pengp.estimators.view import view_of
from pengp.model.elementary import Log10
from pengp.model.levels import Integer, Levels
from pengp.model.transforms import IDENTITY
from pengp.persistence import load, save
from pengp.plots import PivotedErrorsDisplay, SliceDisplay

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


def test_texts_that_are_numbers_and_numbers_are_the_same_levels() -> None:
    X, y = table()
    codes = X["material"].map({"brass": 1, "steel": 2, "wood": 10})
    model = PenalizedGPRegressor(0.05, integer_inputs=["count"], random_state=0)
    model.fit(X.assign(material=codes.astype(str)), y)
    assert model.input_transforms_[1] == Levels(("1", "2", "10"), (1.0, 2.0, 10.0))
    expected = fitted("penalized").predict(X)
    for same in (codes, codes.astype(str), codes.astype(float)):
        np.testing.assert_allclose(model.predict(X.assign(material=same)), expected, rtol=1e-6)
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_allclose(model.predict(model.X_train_), expected, rtol=1e-6)


def test_numbers_among_texts_keep_their_own_level() -> None:
    X, y = table()
    mixed = X["material"].map({"brass": 1, "steel": "a", "wood": "b"}).astype(object)
    model = PenalizedGPRegressor(
        0.05, factors=["material"], integer_inputs=["count"], random_state=0
    ).fit(X.assign(material=mixed), y)
    assert model.input_transforms_[1] == Levels(("a", "1", "b"), (0.0, 1.0, 2.0))
    same = model.predict(X.assign(material=mixed))
    np.testing.assert_allclose(same, fitted("penalized").predict(X), rtol=1e-6)
    again = PenalizedGPRegressor(0.05, random_state=0, **model._scale_settings())
    again.fit(model.X_train_, y)
    assert again.input_transforms_ == model.input_transforms_
    assert (again.X_train_ == model.X_train_).all()


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_a_missing_level_is_told_whatever_stands_for_it(missing: Any, kind: Any) -> None:
    X, y = table()
    X["material"] = X["material"].astype(kind)
    model, gap = fitted("penalized"), X.copy()
    gap.loc[3, "material"] = missing
    words = "X has no level in row 3, column 1 .'material'.; fill it in"
    with pytest.raises(InputError, match=words):
        PenalizedGPRegressor(random_state=0).fit(gap, y)
    with pytest.raises(InputError, match=words):
        model.predict(gap)


@each_model
def test_test_runs_may_hold_texts(kind: str) -> None:
    (X, y), model = table(), fitted(kind)
    new = X.assign(x=0.95 * X["x"])
    seen = np.sin(2.0 * new["x"]).to_numpy() + y - np.sin(2.0 * X["x"]).to_numpy()
    coded = new.assign(material=new["material"].map({"brass": 0.0, "steel": 1.0, "wood": 2.0}))
    found, same = validate(model, new, seen), validate(model, coded.to_numpy(dtype=float), seen)
    assert found.scores == same.scores
    assert found.joint is not None
    shown = PivotedErrorsDisplay.from_test_runs(model, new, seen)
    assert shown.distance == found.joint.distance
    with pytest.raises(InputError, match="y has nan in row 2; remove or repair that run"):
        validate(model, new, np.where(np.arange(20) == 2, np.nan, seen))


def test_the_range_of_a_factor_is_that_of_its_levels() -> None:
    levels = ["brass", "steel", "wood", "glass"]
    for bounds in (None, [(0.0, 2.0), (-1.0, 9.0), (1.0, 5.0)]):
        model = fitted("penalized", factors={"material": levels}, input_bounds=bounds)
        low, high = view_of(model).ranges
        assert (low[1], high[1]) == (0.0, 3.0)
        shown = SliceDisplay.from_estimator(model, input="material")
        assert shown.grid.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_further_runs_lie_on_whole_numbers_and_levels() -> None:
    model = fitted("penalized", input_bounds=[(0.0, 2.0), (0.0, 2.0), (1.0, 5.0)])
    future = Future.of(view_of(model))
    materials, counts = np.unique(future.X[:, 1], return_counts=True)
    assert materials.tolist() == [0.0, 0.5, 1.0]
    assert np.ptp(counts) <= 1
    added = model._surrogate.inputs.inverse(future.add)
    assert set(np.unique(added[:, 1])) == {0.0, 1.0, 2.0}
    assert set(np.unique(added[:, 2])) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert set(np.unique(4.0 * future.add[:, 2])) == {0.0, 1.0, 2.0, 3.0, 4.0}
    # What is foretold is what these runs then leave.
    frame = pd.DataFrame(added[:8], columns=["x", "material", "count"])
    more = model.condition_on(frame, np.sin(np.arange(8.0)))
    std = more._surrogate.law(0, future.X).std() / model._surrogate.response.sd[0]
    scale = future.after(8).scale[0]
    nugget = model.nugget_ * model.sigma2_
    np.testing.assert_allclose(scale**2 + nugget, std**2, rtol=1e-6)


def test_runs_that_are_there_are_not_added_again() -> None:
    grid = np.array([(a, b) for a in (1.0, 2.0, 3.0, 4.0) for b in (0.0, 1.0, 2.0)])
    y = grid[:, 0] ** 2 + np.cos(grid[:, 1])
    model = PenalizedGPRegressor(0.01, integer_inputs=[0], factors=[1], random_state=0).fit(
        grid[:9], y[:9]
    )
    add = model._surrogate.inputs.inverse(Future.of(view_of(model)).add)
    assert sorted(map(tuple, add.tolist())) == []
    wider = model.set_params(input_bounds=[(1.0, 4.0), (0.0, 2.0)]).fit(grid[:9], y[:9])
    add = wider._surrogate.inputs.inverse(Future.of(view_of(wider)).add)
    assert sorted(map(tuple, add.tolist())) == [(4.0, 0.0), (4.0, 1.0), (4.0, 2.0)]


def test_advice_keeps_levels_apart() -> None:
    rng = np.random.default_rng(5)
    U = rng.random(24)
    X = np.column_stack([10.0 ** (6.0 * U), np.tile([0.0, 1.0, 2.0], 8)])
    y = np.sin(4.0 * U) + np.array([0.0, 3.0, 0.0])[X[:, 1].astype(int)]
    levels = Levels(("a", "b", "c"), (0.0, 1.0, 2.0))
    (found,) = advise(X, y, [IDENTITY, levels])
    scores = []
    for transform in ("none", "log10"):
        model = PenalizedGPRegressorCV(
            lams=[0.01],
            cv=10,
            kernel="matern52",
            mean="constant",
            input_transforms={0: transform},
            factors=[1],
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PengpWarning)
            scores.append(model.fit(X, y).held_out().log_density.sum())
    assert found.gain == pytest.approx(scores[1] - scores[0], rel=1e-9)
