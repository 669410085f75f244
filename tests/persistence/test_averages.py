"""Files of `BayesianGPRegressor`: what is loaded is what was saved, and nonsense is refused."""

import json
import pickle
import struct
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from pengp import BayesianGPRegressor, load, save
from pengp._core.arrays import FloatArray
from pengp.bayes.priors import Gamma, HierarchicalLasso, JointlyRobust
from pengp.exceptions import FileError, InputError, PengpWarning
from pengp.model.kernels import Matern52
from pengp.model.means import LinearMean
from pengp.persistence import read_info
from tests.persistence import damage as corruption
from tests.persistence.test_files import (
    MyKernel,
    MyMean,
    assert_same,
    frame,
    new_inputs,
    round_trip,
    runs,
    two_outputs,
)

Maker = Callable[[], BayesianGPRegressor]


def fitted(X: Any, y: Any, **settings: Any) -> BayesianGPRegressor:
    """Return a model of few draws, of one kernel unless others are asked for."""
    few = {"kernels": "sqexp", "nugget": 1e-5, "effective_size": 50, "max_points": 400}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)  # few draws, constants
        return BayesianGPRegressor(**{**few, "random_state": 1, **settings}).fit(X, y)


def with_constants() -> BayesianGPRegressor:
    """Return a model of a constant input, and of a constant response among others."""
    X, y = runs()
    X[:, 1] = 5.0
    return fitted(X, np.column_stack([np.full(len(y), 2.5), y]), random_state=None)


def conditioned() -> BayesianGPRegressor:
    """Return a model in a frame's units that learned further runs."""
    X, y = frame()
    model = fitted(X[:9], y[:9], input_bounds=[[40.0, 50.0]] * 3)
    return model.condition_on(X[9:], y[9:] + 0.1)


def surprised() -> BayesianGPRegressor:
    """Return a model whose new runs made it draw anew."""
    X, y = runs()
    model = fitted(X[:8], y[:8], n_components=15)
    return model.condition_on(X[8:], y[8:])


MODELS: dict[str, Maker] = {
    "defaults": lambda: fitted(*runs(), kernels=None, nugget=None),
    "frame": lambda: fitted(*frame(), kernels={"sqexp": 2, Matern52(): np.float64(1.0)}),
    "two outputs": lambda: fitted(*two_outputs(), prior=Gamma(2.0, 1.5), nugget=[1e-6, 1e-4]),
    "one column of outputs": lambda: fitted(runs()[0], runs()[1][:, None], prior="jointly-robust"),
    "constants": with_constants,
    "constant": lambda: fitted(runs()[0], np.full(11, 2.5)),
    "sampled nugget": lambda: fitted(*runs(), nugget="sample", mean=LinearMean(1.0)),
    "one input": lambda: fitted(*runs(1), kernels=["matern52"], prior=HierarchicalLasso(a=1.0)),
    "three runs": lambda: fitted(runs()[0][:3], runs()[1][:3]),
    "conditioned": conditioned,
    "drawn anew": surprised,
}
ATTRIBUTES = [
    "components_",
    "kernel_weights_",
    "log_evidence_",
    "log_evidence_error_",
    "effective_size_",
    "pareto_shape_",
    "thinning_",
    "activity_",
    "explanations_",
    "theta_",
    "lengthscale_",
    "X_train_",
    "y_train_",
]


@pytest.fixture(scope="module", params=MODELS, ids=lambda name: name)
def model(request: pytest.FixtureRequest) -> BayesianGPRegressor:
    return MODELS[request.param]()


def left_out(model: Any) -> Any:
    """Return the leave-one-out predictions in all detail, or the sentence that refuses them."""
    try:
        held = [model.held_out(k, 0.9) for k, a in enumerate(model._averages) if a is not None]
        return model.loo_, held
    except InputError as error:
        return str(error)


def answers(model: Any) -> dict[str, Any]:
    """Return everything that a model can be asked."""
    few, many = new_inputs(model, 3), new_inputs(model, 40)
    return {
        "few": model.predict(few, return_std=True),
        "many": model.predict(many, return_std=True),
        "mean": model.predict(many),
        "cov": model.predict(few, return_cov=True),
        "interval": model.predict_interval(few, 0.9),
        "quantiles": model.predict_quantiles(few, [0.1, 0.5]),
        "gradient": model.predict_gradient(many),
        "sample": model.sample_y(few, n_samples=4, random_state=5),
        "left out": left_out(model),
        "text": str(model),
        **{name: getattr(model, name) for name in ATTRIBUTES},
    }


def kept(model: Any) -> list[Any]:
    """Return what the averages hold, but for the members' classes and the sampler."""
    fields = [{} if a is None else dict(vars(a)) for a in model._averages]
    return [{n: f[n] for n in f if n not in ("source", "held_out", "members")} for f in fields]


def test_a_loaded_model_gives_the_same_answers(model: Any, tmp_path: Path) -> None:
    before = answers(model)
    loaded: Any = round_trip(model, tmp_path)
    assert_same(before, answers(loaded))
    assert_same(kept(model), kept(loaded))
    assert_same(model.get_params(), loaded.get_params())
    assert (model._settings, model._seeds) == (loaded._settings, loaded._seeds)
    assert set(vars(loaded)) == set(vars(model))
    assert read_info(tmp_path / "model.pengp")["class_name"] == "BayesianGPRegressor"


@pytest.mark.parametrize(("nugget", "step"), [(0.1, 0.0), (1e-5, 5.0)], ids=["known", "surprise"])
def test_a_loaded_model_learns_further_runs_like_the_saved_one(
    nugget: float, step: float, tmp_path: Path
) -> None:
    enough = {"effective_size": 400, "max_points": 3000}  # more than are needed to go on with
    model = fitted(*two_outputs(), nugget=nugget, **enough)
    loaded, few = round_trip(model, tmp_path), model.X_train_[:1] + 0.05
    y = model.predict(few) + step * np.std(model.y_train_, axis=0)
    after = [m.condition_on(few, y) for m in (model, loaded)]
    first = model._averages[0]
    assert first is not None
    old, new = first.draws.theta, after[0].components_[0].theta
    assert np.isin(new, old).all() == (step == 0.0)  # a surprise makes it draw anew
    assert_same(answers(after[0]), answers(after[1]))


def test_the_same_model_gives_the_same_bytes(model: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "1.pengp", tmp_path / "2.pengp"
    save(model, first)
    save(load(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_a_pickled_model_gives_the_same_answers(model: Any) -> None:
    assert_same(answers(model), answers(pickle.loads(pickle.dumps(model))))


def test_a_loaded_model_needs_no_sampler_and_can_be_fitted_again(tmp_path: Path) -> None:
    model = fitted(*runs(), prior=JointlyRobust(a=0.3))
    loaded: Any = round_trip(model, tmp_path)
    assert loaded._averages[0].source is loaded._averages[0].held_out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PengpWarning)
        assert_same(answers(model), answers(clone(loaded).fit(*runs())))


class MyPrior(Gamma):
    """A prior that the package does not know."""


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prior": MyPrior()}, "parameter prior is a MyPrior, .* use one of hierarchical-lasso"),
        ({"kernels": [MyKernel()]}, "parameter kernel is a MyKernel, .* use one of sqexp"),
        ({"mean": MyMean(1.0)}, "parameter mean is a MyMean, .* use one of zero, constant"),
    ],
)
def test_code_that_the_model_needs_is_refused(settings: Any, words: str, tmp_path: Path) -> None:
    model = fitted(*runs(), **settings)
    with pytest.raises(InputError, match=words):
        save(model, tmp_path / "model.pengp")
    other = fitted(*runs()).set_params(**settings)
    with pytest.raises(InputError, match=words):
        save(other, tmp_path / "model.pengp")
    assert not list(tmp_path.iterdir())


def test_what_is_not_fitted_or_not_sound_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the model is not fitted"):
        save(BayesianGPRegressor(), tmp_path / "model.pengp")
    model = fitted(*runs())
    draws: FloatArray = model._averages[0].draws.weight  # type: ignore[union-attr]
    draws[0] += 0.5
    with pytest.raises(InputError, match=r"the fit is not sound.*draws\.weight do not sum to 1"):
        save(model, tmp_path / "model.pengp")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the file of a model with two members, a frame and few components."""
    path = tmp_path_factory.mktemp("averages") / "model.pengp"
    save(fitted(*frame(), nugget=[1e-5, 1e-4], n_components=5), path)
    return path.read_bytes()


def version_2(content: bytes) -> bytes:
    """Return a file that says it is of version 2."""
    return corruption.sealed(content[:8] + struct.pack("<I", 2) + content[12:])


def with_header(content: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """Return the file with another header."""
    header, data = corruption.unpacked(content)
    change(header)
    return version_2(corruption.packed(json.dumps(header).encode(), data))


def with_number(content: bytes, name: str, value: float) -> bytes:
    """Return the file with another first number in an array."""
    header, data = corruption.unpacked(content)
    start = 0
    for entry in header["arrays"]:
        size = 1 if entry["type"] == "b1" else 8
        if entry["name"] == name:
            new = struct.pack("<q" if entry["type"] == "i8" else "<d", value)
            changed = data[:start] + new + data[start + 8 :]
            return version_2(corruption.packed(json.dumps(header).encode(), changed))
        start += size * int(np.prod(entry["shape"]))
    raise AssertionError(name)


NUMBERS: list[tuple[str, float]] = [
    ("inputs", np.inf),
    ("inputs", 1e9),
    ("input_lower", 1e9),
    ("outputs.0.members.log_evidence", 1e3),
    *((f"outputs.0.{name}.weight", 0.9) for name in ("components", "draws", "explanations")),
    *((f"outputs.0.{name}.weight", -0.1) for name in ("components", "draws", "explanations")),
    ("outputs.0.components.weight", np.nan),
    ("outputs.0.left_out.weight", 0.5),
    ("outputs.0.left_out.weight", -0.0025),
    *((f"outputs.0.{name}.member", 2) for name in ("components", "draws", "explanations")),
    *((f"outputs.0.{name}.member", -1) for name in ("components", "draws", "explanations")),
    ("outputs.0.draws.half", 2),
    ("outputs.0.components.theta", 0.0),
    ("outputs.0.draws.theta", -1.0),
    ("outputs.0.draws.theta", np.nan),
    ("outputs.0.explanations.theta", np.inf),
    ("outputs.0.components.nugget", 0.0),
    ("outputs.0.components.nugget", np.inf),
    ("outputs.0.draws.nugget", -1e-5),
    ("outputs.0.draws.sigma2", -1.0),
    ("outputs.0.left_out.scale", 0.0),
    ("outputs.0.left_out.location", np.nan),
    ("outputs.0.left_out.std", -1.0),
    ("outputs.0.members.log_evidence", np.nan),
]


@pytest.mark.parametrize(("name", "value"), NUMBERS)
def test_numbers_that_make_no_sense_are_refused(
    name: str, value: float, content: bytes, tmp_path: Path
) -> None:
    changed = with_number(content, name, value)
    assert changed != content
    assert corruption.loaded(tmp_path / "model.pengp", changed) is None


def first(header: dict[str, Any]) -> dict[str, Any]:
    """Return the first member."""
    member: dict[str, Any] = header["settings"]["members"][0]
    return member


def rename(header: dict[str, Any], name: str, new: str) -> None:
    """Give an array another name."""
    corruption.entry(header, name).update(name=new)


LASSO = {"a": None, "rates": {"tuple": [0.1, 100.0]}, "n_rates": 20}
HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "other class": lambda h: h.update({"class": "PenalizedGPRegressor"}),
    "no average": lambda h: h["averages"].__setitem__(0, None),
    "two averages": lambda h: h["averages"].append(None),
    "no seed": lambda h: h.update(seeds=[]),
    "negative seed": lambda h: h.update(seeds=[-1]),
    "huge seed": lambda h: h.update(seeds=[2**32]),
    "half a seed": lambda h: h.update(seeds=[0.5]),
    "one output of 1": lambda h: h.update(one_output=1),
    "several outputs": lambda h: h["settings"]["members"].pop(),
    "no members": lambda h: h["settings"].update(members=[]),
    "weights of members": lambda h: first(h).update(weight=0.75),
    "negative weight": lambda h: first(h).update(weight=-0.5),
    "nugget of 0": lambda h: first(h).update(nugget=0.0),
    "nugget of text": lambda h: first(h).update(nugget="sample"),
    "range upside down": lambda h: first(h).update(nugget=[1.0, 1e-8]),
    "mean without a prior": lambda h: first(h).update(mean="constant"),
    "improper mean": lambda h: first(h).update(
        mean={"name": "linear", "settings": {"variance": None}}
    ),
    "effective size": lambda h: h["settings"].update(effective_size=0.0),
    "no points": lambda h: h["settings"].update(max_points=0),
    "half a component": lambda h: h["settings"].update(n_components=0.5),
    "prior of number": lambda h: h["settings"].update(prior=5),
    "settings of another prior": lambda h: h["settings"].update(
        prior={"name": "gamma", "settings": LASSO}
    ),
    "countless rates": lambda h: h["settings"].update(
        prior={"name": "hierarchical-lasso", "settings": LASSO | {"n_rates": 10**12}}
    ),
    "one rate": lambda h: h["settings"].update(
        prior={"name": "hierarchical-lasso", "settings": LASSO | {"rates": {"tuple": [0.1]}}}
    ),
    "prior of two inputs": lambda h: h["settings"].update(
        prior={
            "name": "jointly-robust",
            "settings": {"a": 0.2, "b": 1.0, "scales": {"tuple": [1.0, 1.0]}},
        }
    ),
    "countless points": lambda h: h["parameters"].update(max_points=10**12),
    "no nugget": lambda h: h["parameters"].update(nugget=0.0),
    "bounds upside down": lambda h: h["parameters"].update(input_bounds=[[1.0, 0.0]] * 2),
    "runs of another fit": lambda h: h.update(n_fit=h["n_fit"] - 1),
    "more runs than there are": lambda h: h.update(batches=[h["n_fit"], 1]),
    "fewer than no points": lambda h: h["averages"][0].update(n_more=-1),
    "fewer than no runs": lambda h: h["averages"][0].update(n_thin=-1),
    "unknown parameter": lambda h: h["parameters"].update(shell=True),
    "pairs of three": lambda h: h["parameters"].update(kernels={"pairs": [[1, 2, 3]]}),
    "pairs of lists": lambda h: h["parameters"].update(kernels={"pairs": [[[], 1.0]]}),
    "unknown array": lambda h: rename(h, "outputs.0.draws.half", "outputs.0.draws.eggs"),
    "array of another output": lambda h: rename(h, "outputs.0.draws.half", "outputs.1.draws.half"),
    "other shape": lambda h: corruption.entry(h, "outputs.0.draws.theta").update(axes=[0]),
    "two names": lambda h: h["input_names"].pop(),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_that_make_no_sense_are_refused(name: str, content: bytes, tmp_path: Path) -> None:
    changed = with_header(content, HEADERS[name])
    with corruption.little_memory():
        assert corruption.loaded(tmp_path / "model.pengp", changed) is None


def test_the_edits_above_do_not_break_a_file_by_themselves(content: bytes, tmp_path: Path) -> None:
    same = (with_header(content, lambda h: None), with_number(content, "outputs.0.halves.mean", 0))
    for changed in same:
        assert corruption.loaded(tmp_path / "model.pengp", changed) is not None


def test_names_of_anything_but_pengps_priors_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.pengp"
    path.write_bytes(with_header(content, lambda h: h["settings"].update(prior="eval")))
    with pytest.raises(FileError, match=r"needs the prior 'eval', which is none of pengp's own"):
        load(path)


def use(model: Any) -> None:
    """Ask a model of doubtful numbers for everything; it may say no, it may not crash."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        X = new_inputs(model, 2)
        try:
            model.predict(X, return_std=True)
            model.predict_gradient(X)
            model.predict_interval(X)
            _ = [getattr(model, name) for name in (*ATTRIBUTES, "loo_")]
            _ = str(model), model.get_params()
            model.predict(X, return_cov=True)
        except ValueError:
            pass  # numbers so large that they overflow on the way


def test_corruptions_under_a_right_checksum_are_refused_or_harmless(
    content: bytes, tmp_path: Path
) -> None:
    rng, path = np.random.default_rng(1), tmp_path / "model.pengp"
    edits = [corruption.edit_header, corruption.edit_text, corruption.edit_numbers]
    kinds = [*edits, corruption.edit_header, *corruption.CORRUPTIONS]
    counts = np.zeros(2, dtype=int)
    with corruption.little_memory(), threadpool_limits(1):
        for k in range(120):
            changed = kinds[k % len(kinds)](rng, content, corruption.MODEL)
            if len(changed) >= corruption.PREFIX.size + 32:
                changed = version_2(changed)
            model = corruption.loaded(path, changed)
            counts[int(model is None)] += 1
            if model is not None:
                use(model)
    assert counts.min() > 8  # both ends were met
