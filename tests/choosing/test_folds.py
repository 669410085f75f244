"""Fold plans: what they must partition, how they are seeded, stored and resolved."""

import json
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsRegressor

from pengp._core.arrays import IntArray
from pengp.choosing.folds import (
    FoldPlan,
    from_splitter,
    given_folds,
    leave_one_out,
    make_folds,
    random_folds,
    space_filling_folds,
    stratified_folds,
)
from pengp.exceptions import InputError

rng = np.random.default_rng(0)
X = rng.random((11, 2))
Y = rng.normal(size=11)
PLANS: dict[str, Callable[[Any], FoldPlan]] = {
    "random": lambda seed: random_folds(11, 4, repeats=3, random_state=seed),
    "stratified": lambda seed: stratified_folds(Y, 4, repeats=3, random_state=seed),
    "space-filling": lambda seed: space_filling_folds(X, 4, repeats=3, random_state=seed),
}


def same(a: FoldPlan, b: FoldPlan) -> bool:
    """Whether two plans hold out the same runs in the same order."""
    return bool(a.to_dict()["test"] == b.to_dict()["test"])


@pytest.mark.parametrize("kind", PLANS)
def test_drawn_plans_partition_the_runs_in_every_repeat(kind: str) -> None:
    plan = PLANS[kind](7)
    assert plan.kind == kind
    assert (len(plan), plan.n_folds, plan.repeats, plan.get_n_splits()) == (12, 4, 3, 12)
    for row in plan.labels:
        assert sorted(np.bincount(row)) == [2, 3, 3, 3]
    for train, test in plan:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(11))


@pytest.mark.parametrize("kind", PLANS)
def test_the_seed_decides(kind: str) -> None:
    make = PLANS[kind]
    assert same(make(7), make(7))
    assert not same(make(7), make(8))
    assert same(make(np.random.default_rng(3)), make(np.random.default_rng(3)))
    assert same(make(np.random.RandomState(3)), make(np.random.RandomState(3)))
    generator = np.random.default_rng(3)
    assert not same(make(generator), make(generator))
    unseeded = make(None)
    assert same(unseeded, make(unseeded.settings["seed"]))


def test_plans_are_the_same_on_every_machine() -> None:
    assert random_folds(8, 4, random_state=1).labels.tolist() == [[1, 0, 1, 0, 2, 2, 3, 3]]
    assert stratified_folds(np.arange(8.0), 4, random_state=1).labels.tolist() == [
        [0, 1, 2, 3, 3, 0, 2, 1]
    ]
    grid = np.stack(np.meshgrid(np.arange(3.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    assert space_filling_folds(grid, 3, random_state=1).labels.tolist() == [
        [0, 1, 2, 1, 2, 0, 2, 0, 1]
    ]


def test_repeats_are_independent_draws() -> None:
    labels = random_folds(11, 4, repeats=3, random_state=7).labels
    assert len({tuple(row) for row in labels.tolist()}) == 3
    assert np.array_equal(labels[0], random_folds(11, 4, random_state=7).labels[0])


def test_repeat_is_a_plan_of_its_own() -> None:
    plan = random_folds(11, 4, repeats=3, random_state=7)
    second = plan.repeat(1)
    assert np.array_equal(second.labels, plan.labels[1:2])
    pairs = list(plan)[4:8]
    for (train, test), (train_2, test_2) in zip(pairs, second.split(), strict=True):
        assert np.array_equal(train, train_2)
        assert np.array_equal(test, test_2)
    with pytest.raises(InputError, match="repeat 3"):
        plan.repeat(3)


def test_leave_one_out_holds_out_each_run_once() -> None:
    plan = leave_one_out(4)
    assert [(a.tolist(), b.tolist()) for a, b in plan] == [
        ([1, 2, 3], [0]),
        ([0, 2, 3], [1]),
        ([0, 1, 3], [2]),
        ([0, 1, 2], [3]),
    ]


@pytest.mark.parametrize(
    "labels", [[3, 1, 4, 3, 1], ["c", "a", "d", "c", "a"], [2.5, 1, 7, 2.5, 1]]
)
def test_given_labels_are_held_out_together_in_their_order(labels: list[Any]) -> None:
    plan = given_folds(labels)
    assert [test.tolist() for test in plan.test] == [[1, 4], [0, 3], [2]]
    assert plan.labels.tolist() == [[1, 0, 2, 1, 0]]


def test_given_labels_of_several_repeats() -> None:
    plan = given_folds([[0, 0, 1, 1], [1, 0, 1, 0]])
    assert plan.labels.tolist() == [[0, 0, 1, 1], [1, 0, 1, 0]]
    assert [test.tolist() for test in plan.test] == [[0, 1], [2, 3], [1, 3], [0, 2]]


def test_stratified_folds_take_one_run_of_every_block() -> None:
    plan = stratified_folds(Y, 4, repeats=20, random_state=2)
    rank = np.argsort(np.argsort(Y))
    for row in plan.labels:
        for block in range(3):
            members = row[rank // 4 == block]
            assert len(set(members.tolist())) == len(members)
    assert same(plan, stratified_folds(Y[:, None], 4, repeats=20, random_state=2))
    # which fold gets which run of a block is random
    assert len({tuple(row) for row in plan.labels.tolist()}) > 10


@pytest.mark.parametrize(
    "splitter",
    [
        KFold(4),
        KFold(3, shuffle=True, random_state=0),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(5, test_size=3, random_state=0),
        ShuffleSplit(5, test_size=3, train_size=4, random_state=0),
        TimeSeriesSplit(3),
        PredefinedSplit([-1, -1, -1, 0, 0, 0, 1, 1, 1, 2, 2]),
    ],
)
def test_a_splitter_is_kept_pair_by_pair(splitter: Any) -> None:
    plan = from_splitter(splitter, X, Y)
    stored = FoldPlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    for kept in (plan, stored):
        for (train, test), (a, b) in zip(kept, splitter.split(X, Y), strict=True):
            assert np.array_equal(train, np.sort(a))
            assert np.array_equal(test, np.sort(b))


def test_passes_of_a_splitter_count_as_repeats() -> None:
    plan = from_splitter(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0), X)
    assert (plan.repeats, plan.n_folds) == (2, 3)
    assert plan.labels.shape == (2, 11)
    overlapping = from_splitter(ShuffleSplit(5, test_size=3, random_state=0), X)
    assert (overlapping.repeats, overlapping.n_folds) == (1, 5)
    with pytest.raises(InputError, match="do not partition"):
        _ = overlapping.labels


def test_groups_reach_the_splitter() -> None:
    groups = np.arange(11) % 3
    plan = make_folds(LeaveOneGroupOut(), X, Y, groups=groups)
    assert np.array_equal(plan.labels[0], groups)
    with pytest.raises(InputError, match="GroupKFold cannot split"):
        make_folds(GroupKFold(3), X, Y)


@pytest.mark.parametrize("kind", PLANS)
def test_json_gives_back_the_plan(kind: str) -> None:
    plan = PLANS[kind](5)
    stored = FoldPlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert stored.to_dict() == plan.to_dict()
    assert np.array_equal(stored.labels, plan.labels)
    assert stored.settings == {"k": 4, "seed": 5}


def test_scikit_learn_takes_a_plan_as_cv() -> None:
    model, plan = KNeighborsRegressor(2), given_folds(np.arange(11) % 3)
    expected = [
        model.fit(X[np.arange(11) % 3 != k], Y[np.arange(11) % 3 != k]).score(
            X[np.arange(11) % 3 == k], Y[np.arange(11) % 3 == k]
        )
        for k in range(3)
    ]
    np.testing.assert_allclose(cross_val_score(model, X, Y, cv=plan), expected)


def test_make_folds_resolves_everything_a_caller_may_pass() -> None:
    assert same(make_folds(4, X, Y, random_state=3), random_folds(11, 4, random_state=3))
    assert same(make_folds(np.int64(4), X, random_state=3), random_folds(11, 4, random_state=3))
    assert same(make_folds(None, X, random_state=3), random_folds(11, 5, random_state=3))
    assert same(make_folds("random:3", X, random_state=3), random_folds(11, 3, random_state=3))
    assert same(make_folds("loo", X), leave_one_out(11))
    spread = space_filling_folds(X, 4, random_state=3)
    assert same(make_folds("space-filling:4", X, random_state=3), spread)
    level = stratified_folds(Y, 5, repeats=2, random_state=3)
    assert same(make_folds("stratified", X, Y, random_state=3, repeats=2), level)
    assert make_folds(spread, X) is spread
    labels = np.arange(11) % 3
    for cv in (labels, labels.tolist(), KFold(3).split(X), list(KFold(3).split(X)), KFold(3)):
        assert len(make_folds(cv, X, Y)) == 3
    assert np.array_equal(make_folds(labels.tolist(), X).labels[0], labels)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (12, "12 folds were asked for but there are only 11 runs"),
        ("random:12", "only 11 runs"),
        ("space-filling:12", "only 11 runs"),
        ("stratified:12", "only 11 runs"),
        (1, "at least 2 folds"),
        (True, "not understood"),
        (2.5, "not understood"),
        ("lou", "unknown folds 'lou'"),
        ("random:x", "unknown folds"),
        ([0, 1, 0], "made for 3 runs but the data have 11"),
        (leave_one_out(5), "made for 5 runs but the data have 11"),
        ([0] * 11, "at least 2 folds"),
        ([np.nan] + [0.0, 1.0] * 5, "none missing"),
        ([[0, 1, 0], [0, 1]], "as many values"),
        ([([0, 1], [1, 2])], "fold 0"),
        ([([0, 1], [11])], "fold 0"),
        ([([0, 1, 2], [])], "fold 0"),
        ([([0.5], [1])], "whole numbers"),
    ],
)
def test_faulty_folds_are_explained(cv: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_folds(cv, X, Y, random_state=0)


def test_faulty_settings_are_explained() -> None:
    with pytest.raises(InputError, match="n must be a whole number from 2 up"):
        leave_one_out(1)
    with pytest.raises(InputError, match="repeats must be a whole number from 1 to 10,000, not 0"):
        random_folds(5, 2, repeats=0)
    with pytest.raises(InputError, match="random_state=-1"):
        random_folds(5, 2, random_state=-1)
    with pytest.raises(InputError, match="one response"):
        stratified_folds(np.ones((5, 2)), 2)
    with pytest.raises(InputError, match="same number in every repeat"):
        given_folds([[0, 1, 2], [0, 0, 1]])
    with pytest.raises(InputError, match="not a stored fold plan"):
        FoldPlan.from_dict({"n": 3})
    with pytest.raises(InputError, match="made for 11 runs"):
        list(random_folds(11, 2, random_state=0).split(X[:5]))
    with pytest.raises(InputError, match="random_state='a'"):
        random_folds(5, 2, random_state=cast(Any, "a"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: random_folds("ten", 2),  # type: ignore[arg-type]
        lambda: random_folds(10.0, 2),  # type: ignore[arg-type]
        lambda: random_folds(10, "two"),  # type: ignore[arg-type]
        lambda: random_folds(10, 2, repeats="two"),  # type: ignore[arg-type]
        lambda: leave_one_out(None),  # type: ignore[arg-type]
        lambda: stratified_folds(["a", "b", "c"], 2),
        lambda: stratified_folds(1.0, 2),
        lambda: stratified_folds([1.0, np.nan, 2.0], 2),
        lambda: space_filling_folds([["a"], ["b"]], 2),
        lambda: space_filling_folds([1.0, 2.0, 3.0], 2),
        lambda: make_folds(2, 5.0),
        lambda: make_folds("loo", 5.0),
        lambda: make_folds([([[0], [1, 2]], [3])], np.zeros((4, 1))),
        lambda: leave_one_out(3).repeat("a"),  # type: ignore[arg-type]
        lambda: leave_one_out(3).repeat(0.5),  # type: ignore[arg-type]
    ],
)
def test_values_of_the_wrong_type_are_refused_in_a_sentence(make: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=r"[;.]"):
        make()


def test_a_plan_of_many_folds_costs_what_its_held_out_sets_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n, touched = 1000, 0

    def count(a: IntArray) -> IntArray:
        nonlocal touched
        touched += len(a)
        return np.array(sorted(set(a.tolist())))

    monkeypatch.setattr(np, "unique", count)
    plan = leave_one_out(n)
    assert touched == n
    for k, (train, test) in enumerate(plan):
        assert test.tolist() == [k]
        assert train.tolist() == [i for i in range(n) if i != k]
