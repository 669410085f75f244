"""Noise that nobody mentioned: the Bayes factor by brute force, and when it is told."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

from pengp import (
    BayesianGPRegressor,
    DoubtWarning,
    PenalizedGPRegressor,
    PenalizedGPRegressorCV,
    diagnose,
    load,
    save,
)
from pengp._core.arrays import FloatArray
from pengp.bayes.members import Member
from pengp.bayes.noise import noise_in
from pengp.bayes.priors import HierarchicalLasso
from pengp.datasets import latin_hypercube
from pengp.estimators.unknown_noise import _found, unknown_noise
from pengp.estimators.view import view_of
from pengp.model.kernels import get_kernel
from tests.bayes.data import Runs, brute_force

ALL = (BayesianGPRegressor, PenalizedGPRegressorCV, PenalizedGPRegressor)
SD = 0.3


def runs(noise: float = SD, n: int = 30, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return runs of a smooth function of two inputs, its standard deviation about 1.4."""
    X = latin_hypercube(n, 2, random_state=seed)
    y = 2.0 * np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2
    return X, y + noise * np.random.default_rng(seed).standard_normal(n)


def told(model: Any) -> list[str]:
    """Return what is said of unknown noise."""
    return [finding.message for finding in unknown_noise(view_of(model))]


def test_the_factor_is_that_of_brute_force() -> None:
    X, y = runs(n=12)
    y = y - y.mean()
    prior = HierarchicalLasso()
    members = [Member(get_kernel(name), 1e-5) for name in ("sqexp", "matern52")]
    edges = np.linspace(np.log(1e-4), 0.0, 13)
    nuggets = np.exp(0.5 * (edges[1:] + edges[:-1])).tolist()
    noisy = [Member(members[0].kernel, g) for g in nuggets]
    new = np.full((1, 2), 0.5)
    exact, own = (
        logsumexp([brute_force(Runs(X, y), m, new, 10_000, prior).log_evidence for m in several])
        - np.log(len(several))
        for several in (members, noisy)
    )
    found = noise_in(X, y, members, prior)
    assert found.log_factor == pytest.approx(own - exact, abs=0.3)


@pytest.mark.parametrize("kind", ALL)
def test_noise_is_told_with_its_size_and_its_cure(kind: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtWarning)
        model = kind(random_state=0).fit(*runs())
    (message,) = told(model)
    (size,) = re.findall(r"standard deviation ([\d.]+)", message)
    assert float(size) == pytest.approx(SD, rel=0.4)
    word = "sample" if kind is BayesianGPRegressor else "estimate"
    assert f"nugget='{word}'" in message
    assert "noise_sd" in message
    assert message in [finding.message for finding in diagnose(model).findings]
    assert message in str(model.summary())
    assert not told(kind(nugget=word, random_state=0).fit(*runs()))
    assert not told(kind(random_state=0).fit(*runs(), noise_sd=SD))


@pytest.mark.parametrize("kind", ALL[:2])
def test_a_fit_warns_of_noise(kind: Any) -> None:
    with pytest.warns(DoubtWarning, match="suggest noise that the model does not know"):
        kind(random_state=0).fit(*runs())


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("n", [12, 30])
def test_runs_without_noise_are_silent(kind: Any, n: int) -> None:
    assert not told(kind(random_state=0).fit(*runs(0.0, n)))


def test_a_rough_function_is_not_noisy() -> None:
    X = latin_hypercube(30, 2, random_state=0)
    y = np.abs(X[:, 0] - 0.37) + np.abs(X[:, 1] - 0.6)
    assert not told(BayesianGPRegressor(random_state=0).fit(X, y))


@pytest.mark.filterwarnings("ignore::pengp.DoubtWarning")
def test_the_size_is_in_the_unit_on_which_the_response_is_modelled() -> None:
    X, y = runs()
    model = PenalizedGPRegressor(0.01, random_state=0)
    model.fit(X, np.column_stack([y, 1000.0 * y]))
    sizes = [
        float(re.findall(r"standard deviation ([\de.+]+)", finding.message)[0])
        for k in (0, 1)
        for finding in unknown_noise(view_of(model, k))
    ]
    assert sizes[1] == pytest.approx(1000.0 * sizes[0], rel=1e-6)
    log = BayesianGPRegressor(response_transform="log", random_state=0).fit(X, np.exp(y))
    (message,) = told(log)
    assert "in the unit of log(response)" in message


@pytest.mark.filterwarnings("ignore::pengp.DoubtWarning")
def test_a_loaded_model_says_the_same(tmp_path: Path) -> None:
    model = BayesianGPRegressor(random_state=0).fit(*runs())
    save(model, tmp_path / "noisy.pengp")
    assert told(load(tmp_path / "noisy.pengp")) == told(model) != []


@pytest.mark.filterwarnings("ignore::pengp.DoubtWarning")
def test_the_average_uses_the_evidences_that_it_has() -> None:
    X, y = runs(n=16)
    known = _found(view_of(BayesianGPRegressor(random_state=0).fit(X, y)))
    assert known is not None
    average = BayesianGPRegressor(kernels=["sqexp", "matern52"], nugget=1e-5, random_state=0)
    other = _found(view_of(average.fit(X, y)))
    single = _found(
        view_of(BayesianGPRegressor(kernels="sqexp", nugget=1e-5, random_state=0).fit(X, y))
    )
    assert other is not None
    assert single is not None  # both kernels are judged, though the fit has one
    assert other.log_factor == pytest.approx(single.log_factor, abs=0.4)
    assert [other.std, single.std] == pytest.approx([known.std] * 2, rel=0.01)


@pytest.mark.filterwarnings("ignore::pengp.DoubtWarning")
def test_many_runs_are_judged_by_some_and_few_not_at_all() -> None:
    many = PenalizedGPRegressor(0.01, n_starts=2, random_state=0).fit(*runs(n=130))
    assert len(told(many)) == 1
    few = PenalizedGPRegressor(0.01, random_state=0).fit(*runs(n=7))
    assert _found(view_of(few)) is None
