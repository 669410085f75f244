"""Bounded maximisation against SciPy, closed forms, and rows run alone."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from pengp._core.arrays import BoolArray, FloatArray, IntArray
from pengp.path.lbfgs import OneByOne, _bfgs
from pengp.path.lockstep import Ended, Lockstep, together
from pengp.path.newton import (
    Expansion,
    newton_point,
    newton_step,
    projected_gradient,
    pushes_outward,
    shifted_step,
)

Solver: TypeAlias = type[Lockstep] | type[OneByOne]
StepOf: TypeAlias = Callable[
    [FloatArray, FloatArray, BoolArray, FloatArray], tuple[FloatArray, BoolArray]
]
each_solver = pytest.mark.parametrize("solver", [Lockstep, OneByOne])
Box: TypeAlias = tuple[FloatArray, FloatArray]


def solve(
    solver: Solver,
    objective: Callable[[IntArray, FloatArray], Expansion],
    box: Box,
    tag: IntArray,
    x0: FloatArray,
    **options: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Run all rows; return x [B, d], value [B] and slope [B] in the order of x0."""

    def bounds(tags: IntArray) -> Box:
        return tuple(np.broadcast_to(b, (len(tags), x0.shape[1])) for b in box)  # type: ignore[return-value]

    run = solver(objective, bounds, max_rounds=int(options.get("max_rounds", 200)))
    run.add(tag, np.arange(len(tag)), x0)
    assert len(run) == len(tag)
    x, value, slope = np.empty_like(x0), np.empty(len(tag)), np.empty(len(tag))
    while len(run):
        done: Ended = run.advance()
        k = done.row
        x[k], value[k], slope[k] = done.point, done.at.objective, done.slope
    return x, value, slope


class Quadratics:
    """-1/2 |A x - b|^2 for several A and b."""

    def __init__(self, B: int, d: int) -> None:
        rng = np.random.default_rng(d)
        self.A, self.b = rng.standard_normal((B, d + 2, d)), rng.standard_normal((B, d + 2))

    def __call__(self, tag: IntArray, x: FloatArray) -> Expansion:
        A = self.A[tag]
        r = (A @ x[:, :, None])[..., 0] - self.b[tag]
        gradient = -(A.transpose(0, 2, 1) @ r[:, :, None])[..., 0]
        return Expansion(-0.5 * (r * r).sum(-1), gradient, -A.transpose(0, 2, 1) @ A)


def wavy(tag: IntArray, x: FloatArray) -> Expansion:
    """Many maxima: sum_p cos(3 x_p + tag) - x_p^2 / 10, with a coupling term."""
    z = 3.0 * x + tag[:, None]
    total = x.sum(-1)
    value = (np.cos(z) - 0.1 * x**2).sum(-1) - 0.05 * total**2
    gradient = -3.0 * np.sin(z) - 0.2 * x - 0.1 * total[:, None]
    k = np.arange(x.shape[1])
    hessian = np.full((*x.shape, x.shape[1]), -0.1)
    hessian[:, k, k] += -9.0 * np.cos(z) - 0.2
    return Expansion(value, gradient, hessian)


@each_solver
@pytest.mark.parametrize("d", [1, 3, 6])
def test_quadratics_in_a_box(solver: Solver, d: int) -> None:
    problems, tag = Quadratics(12, d), np.arange(12)
    low, high = np.full(d, -0.15), np.full(d, 0.2)
    x, value, slope = solve(solver, problems, (low, high), tag, np.zeros((12, d)))
    bound = 0
    for k in range(12):
        best = lsq_linear(problems.A[k], problems.b[k], bounds=(low, high), tol=1e-15)
        assert value[k] == pytest.approx(-best.cost, rel=1e-9, abs=1e-12)
        assert np.allclose(x[k], best.x, atol=1e-5)
        bound += int(((x[k] == low) | (x[k] == high)).any())
    assert bound > 3  # the box matters
    assert (slope < 1e-5).all()


@each_solver
def test_nonconcave_functions_end_at_local_maxima(solver: Solver) -> None:
    rng = np.random.default_rng(0)
    tag, x0 = np.repeat([0, 1, 2], 20), rng.uniform(-3.0, 3.0, (60, 3))
    box = (np.full(3, -3.0), np.full(3, 3.0))
    x, value, slope = solve(solver, wavy, box, tag, x0)
    assert (slope < 1e-5).all()
    assert (value >= wavy(tag, x0).objective).all()
    assert ((x >= -3.0) & (x <= 3.0)).all()
    for k in range(60):

        def negative(z: FloatArray, k: int = k) -> float:
            return -float(wavy(tag[k : k + 1], z[None]).objective[0])

        again = minimize(
            negative,
            x[k],
            method="L-BFGS-B",
            bounds=[(-3.0, 3.0)] * 3,
            options={"gtol": 1e-9},
        )
        assert -again.fun <= value[k] + 1e-7


def test_lockstep_finds_the_best_that_scipy_finds() -> None:
    rng = np.random.default_rng(1)
    x0 = rng.uniform(-3.0, 3.0, (80, 2))
    box = (np.full(2, -3.0), np.full(2, 3.0))
    tag = np.full(80, 2)
    ours, theirs = (solve(s, wavy, box, tag, x0)[1].max() for s in (Lockstep, OneByOne))
    assert ours == pytest.approx(theirs, abs=1e-9)


@each_solver
def test_a_fixed_coordinate_stays(solver: Solver) -> None:
    problems, tag = Quadratics(6, 3), np.arange(6)
    low, high = np.array([-5.0, 0.25, -5.0]), np.array([5.0, 0.25, 5.0])
    x, _, slope = solve(solver, problems, (low, high), tag, np.tile([0.0, 0.25, 0.0], (6, 1)))
    assert (x[:, 1] == 0.25).all()
    assert (slope < 1e-5).all()
    for k in range(6):
        A, b = problems.A[k], problems.b[k]
        rest = np.linalg.lstsq(A[:, [0, 2]], b - 0.25 * A[:, 1], rcond=None)[0]
        assert np.allclose(x[k, [0, 2]], rest, atol=1e-5)


@each_solver
def test_all_coordinates_fixed(solver: Solver) -> None:
    here = np.array([0.1, -0.2])
    x, value, slope = solve(solver, wavy, (here, here), np.array([1]), here[None])
    assert (x == here).all()
    assert value[0] == wavy(np.array([1]), here[None]).objective[0]
    assert slope[0] == 0.0


@each_solver
def test_rows_do_not_depend_on_their_company(solver: Solver) -> None:
    rng = np.random.default_rng(2)
    tag, x0 = rng.integers(0, 4, 23), rng.uniform(-3.0, 3.0, (23, 3))
    box = (np.full(3, -3.0), np.full(3, 3.0))
    together = solve(solver, wavy, box, tag, x0)
    for k in (0, 7, 22):
        alone = solve(solver, wavy, box, tag[k : k + 1], x0[k : k + 1])
        assert all((a[k] == b[0]).all() for a, b in zip(together, alone, strict=True))


def test_rows_added_later_do_not_change_the_earlier() -> None:
    rng = np.random.default_rng(3)
    x0 = rng.uniform(-3.0, 3.0, (9, 2))
    tag, box = np.zeros(9, dtype=np.int64), (np.full((1, 2), -3.0), np.full((1, 2), 3.0))
    expected = solve(Lockstep, wavy, (box[0][0], box[1][0]), tag, x0)[0]
    run = Lockstep(wavy, lambda tags: (box[0].repeat(len(tags), 0), box[1].repeat(len(tags), 0)))
    found: dict[int, FloatArray] = {}
    for k in range(200):
        if k < 9:
            run.add(tag[:1], np.array([k]), x0[k : k + 1])
        done = run.advance()
        found |= {int(k): x for k, x in zip(done.row, done.point, strict=True)}
        if k >= 9 and not len(run):
            break
    assert all((found[k] == expected[k]).all() for k in range(9))


def hole(tag: IntArray, x: FloatArray) -> Expansion:
    """-(x - 1)^2, impossible for x > 1.5."""
    value = np.where(x[:, 0] > 1.5, -np.inf, -((x[:, 0] - 1.0) ** 2))
    gradient = np.where(x > 1.5, 0.0, -2.0 * (x - 1.0))
    return Expansion(value, gradient, np.where(x > 1.5, 0.0, -2.0)[:, :, None])


@each_solver
def test_impossible_regions_are_left_alone(solver: Solver) -> None:
    box = (np.array([-9.0]), np.array([9.0]))
    starts = np.array([[-8.0], [0.0], [1.49], [4.0]])
    x, value, _ = solve(solver, hole, box, np.zeros(4, dtype=np.int64), starts)
    assert np.allclose(x[:3], 1.0, atol=1e-4)
    assert np.isfinite(value[:3]).all()
    assert value[3] == -np.inf  # it started there, and is reported so


def cliff(tag: IntArray, x: FloatArray) -> Expansion:
    """Rises up to a cliff at x = 1, beyond which nothing is possible."""
    value = np.where(x[:, 0] > 1.0, -np.inf, x[:, 0])
    return Expansion(value, np.ones_like(x), np.zeros((len(x), 1, 1)))


def test_lockstep_ends_at_a_cliff() -> None:
    box = (np.array([-9.0]), np.array([9.0]))
    x, value, slope = solve(Lockstep, cliff, box, np.array([0]), np.array([[-3.0]]))
    assert 0.9 < x[0, 0] <= 1.0
    assert value[0] == x[0, 0]
    assert slope[0] == 1.0  # and does not claim to be at a maximum


def test_max_rounds_ends_a_row() -> None:
    box = (np.full(3, -3.0), np.full(3, 3.0))
    x0 = np.full((2, 3), 2.2)
    _, value, slope = solve(Lockstep, wavy, box, np.array([0, 1]), x0, max_rounds=1)
    assert (value == wavy(np.array([0, 1]), x0).objective).all()
    assert (slope > 1e-3).all()


def test_bfgs_satisfies_the_secant_equation_and_keeps_symmetry() -> None:
    rng = np.random.default_rng(0)
    step, change = rng.normal(size=(2, 3))
    change *= np.sign(step @ change)
    old = np.diag([1.0, 2.0, 3.0])
    new = _bfgs(old, step, change)
    np.testing.assert_allclose(new @ change, step, rtol=1e-12)
    np.testing.assert_allclose(new, new.T, atol=1e-14)
    assert np.linalg.matrix_rank(new - old, tol=1e-10) == 2
    assert _bfgs(old, step, -change) is old


def test_a_scale_saves_evaluations_and_steps_by_gradients_end_at_the_maximum() -> None:
    bends = np.array([1e4, 1.0, 1e-2])

    def objective(tag: IntArray, x: FloatArray) -> Expansion:
        seen.append(x.copy())
        wave = np.cos(x - 0.3)  # curved by 1 at its maximum, and not quadratic
        value = (bends * (wave - 1.0)).sum(-1)
        return Expansion(value, -bends * np.sin(x - 0.3), np.zeros((len(x), 3, 3)))

    box = np.full((1, 3), 1.0)
    counts = []
    for scale in (None, lambda tag: 1.0 / np.sqrt(bends)[None]):
        seen: list[FloatArray] = []
        solver = OneByOne(objective, lambda tag: (-box, box), scale=scale)
        solver.add(np.array([0]), np.array([0]), np.array([[0.5, -0.4, 0.9]]))
        done = solver.advance()
        assert done.slope[0] <= 5e-6
        np.testing.assert_allclose(done.point, 0.3, atol=1e-3)
        counts.append(len(seen))
    assert counts[1] < 0.7 * counts[0]


def test_newton_point_is_the_maximum_of_a_concave_quadratic() -> None:
    problems = Quadratics(5, 3)
    x = np.random.default_rng(0).standard_normal((5, 3))
    far = np.full((5, 3), 1e9)
    target, cut = newton_point(problems(np.arange(5), x), x, -far, far, np.full(5, 1e9))
    best = [np.linalg.lstsq(problems.A[k], problems.b[k], rcond=None)[0] for k in range(5)]
    assert np.allclose(target, best, rtol=1e-8)
    assert not cut.any()
    short, cut_short = newton_point(problems(np.arange(5), x), x, -far, far, np.full(5, 0.01))
    assert np.allclose(np.linalg.norm(short - x, axis=-1), 0.01)
    assert np.allclose((short - x) / 0.01, (best - x) / np.linalg.norm(best - x, axis=-1)[:, None])
    assert cut_short.all()


def test_newton_point_ascends_from_convex_ground() -> None:
    at = Expansion(np.zeros(1), np.array([[0.3, -0.2]]), np.array([[[2.0, 0.5], [0.5, -1.0]]]))
    x, far = np.zeros((1, 2)), np.full((1, 2), 9.0)
    step, _ = newton_point(at, x, -far, far, np.array([0.1]))
    assert float((step * at.gradient).sum()) > 0.0


def indefinite() -> tuple[Expansion, FloatArray]:
    """Return 40 expansions in 4 coordinates, and lower bounds that stop some second ones."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((40, 4, 4))
    at = Expansion(np.zeros(40), rng.standard_normal((40, 4)), A + A.transpose(0, 2, 1))
    low = np.full((40, 4), -1e9)
    low[:, 1] = 0.0  # where the gradient points down, the second coordinate stays
    return at, low


def least_shift(g: FloatArray, H: FloatArray, radius: float) -> float:
    """Return the least mu >= 0 for which mu I - H is definite and the step's parts are short."""
    values, Q = np.linalg.eigh(-H)

    def fits(mu: float) -> bool:
        return bool((values + mu > 0.0).all() and (abs(Q.T @ g) <= radius * (values + mu)).all())

    low, high = -1.0, 1e3
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return max(high, 0.0)


@pytest.mark.parametrize("radius", [0.3, 2.0, 50.0])
@pytest.mark.parametrize("step_of", [newton_step, shifted_step], ids=["newton", "shifted"])
def test_steps_are_shifted_over_the_free_coordinates(step_of: StepOf, radius: float) -> None:
    at, _ = indefinite()
    fixed = np.zeros((40, 4), dtype=bool)
    fixed[:, 1] = at.gradient[:, 1] < 0.0
    g = np.where(fixed, 0.0, at.gradient)
    step, cut = step_of(g, at.hessian, fixed, np.full(40, radius))
    concave = 0
    for k in range(40):
        free = np.flatnonzero(~fixed[k])
        H = at.hessian[k][np.ix_(free, free)]
        mu, definite = least_shift(g[k, free], H, radius), bool(np.linalg.eigvalsh(H)[-1] < 0.0)
        expected = np.linalg.solve(mu * np.eye(len(free)) - H, g[k, free])
        if definite and step_of is newton_step:
            expected = np.linalg.solve(-H, g[k, free])
            length = float(np.linalg.norm(expected))
            mu = max(0.0, length - radius)
            expected *= min(1.0, radius / length)
        assert np.allclose(step[k, free], expected, rtol=1e-6, atol=1e-6 * radius)
        assert (step[k, fixed[k]] == 0.0).all()
        assert cut[k] == (mu > 1e-7)
        concave += definite
    assert 0 < concave < 40


def test_a_shifted_step_stays_short_where_rounding_errors_hide_the_curvature() -> None:
    """Beside eigenvalues of 1e46 the sum of one and its shift may vanish, the radius must not."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        A = rng.standard_normal((3, 3))
        H = (1e46 * (A + A.T))[None]
        g, radius = 1e46 * rng.standard_normal((1, 3)), np.array([3.0])
        step, _ = shifted_step(g, H, np.zeros((1, 3), dtype=np.bool_), radius)
        assert np.linalg.norm(step) <= 2.0 * 3.0 * np.sqrt(3.0)


def test_newton_point_leaves_what_is_pushed_against_a_bound() -> None:
    at, low = indefinite()
    x, far = np.zeros((40, 4)), np.full((40, 4), 1e9)
    target, _ = newton_point(at, x, low, far, np.full(40, 2.0))
    stopped = at.gradient[:, 1] < 0.0
    assert 5 < stopped.sum() < 35
    assert (target[stopped, 1] == 0.0).all()
    assert (target[~stopped, 1] >= 0.0).all()


def test_newton_point_survives_flat_directions() -> None:
    H = np.stack([np.zeros((2, 2)), np.diag([-1e-14, -1.0]), np.diag([-1e-320, -1.0])])
    at = Expansion(np.zeros(3), np.array([[1.0, 0.5], [1e-3, 0.5], [0.0, 0.5]]), H)
    x, far = np.zeros((3, 2)), np.full((3, 2), 9.0)
    target, cut = newton_point(at, x, -far, far, np.full(3, 2.0))
    assert np.allclose(target[0], [2.0, 1.0])  # along the gradient, no part beyond the radius
    assert target[1, 0] == pytest.approx(2.0)
    assert np.allclose(target[2], [0.0, 0.5])
    assert cut.tolist() == [True, True, False]


def test_every_row_has_its_own_deadline() -> None:
    wide = np.full((1, 3), 3.0)
    run = Lockstep(wavy, lambda t: (-wide.repeat(len(t), 0), wide.repeat(len(t), 0)), max_rounds=3)
    run.add(np.array([0]), np.array([0]), np.full((1, 3), 2.2))
    assert len(run.advance().row) == 0
    run.add(np.array([0]), np.array([1]), np.full((1, 3), 2.2))
    ends = [run.advance().row.tolist() for _ in range(3)]
    assert ends == [[], [0], [1]]


def test_a_row_is_given_up_unless_it_has_arrived() -> None:
    def bowl(tag: IntArray, x: FloatArray) -> Expansion:
        return Expansion(-((x[:, 0] - 5.0) ** 2), -2.0 * (x - 5.0), np.full((len(x), 1, 1), -2.0))

    wide, start = np.full((1, 1), 99.0), np.array([[3.0], [-9.0]])
    run = Lockstep(
        bowl,
        lambda t: (-wide.repeat(len(t), 0), wide.repeat(len(t), 0)),
        near=0.1,
        give_up=lambda steps: np.abs(steps.trial - start[steps.row]).max(-1) > 3.0,
    )
    # From 3 one step leads to 5, where the row has arrived before it is given up. From -9 it is
    # given up on the way, at some point between.
    run.add(np.zeros(2, dtype=np.int64), np.arange(2), start)
    ends = []
    while len(run):
        done = run.advance()
        ends += list(zip(done.row, done.near, done.point[:, 0], strict=True))
    (_, arrived, at), (_, second, gave_up_at) = sorted(ends)
    assert arrived
    assert at == 5.0
    assert not second
    assert -9.0 < gave_up_at < 0.0


@pytest.mark.parametrize("bend", [-1e-9, -1e-7, 1e-9])
@pytest.mark.parametrize("concave", [True, False])
def test_a_row_on_a_plateau_ends_where_it_is(concave: bool, bend: float) -> None:
    def plateau(tag: IntArray, x: FloatArray) -> Expansion:
        beyond = np.minimum(x[:, 0] + 0.1, 0.0)  # a cliff that the expansion at 0 does not show
        return Expansion(-(beyond**2), np.full_like(x, -5e-8), np.full((len(x), 1, 1), bend))

    wide = np.full((1, 1), 9.0)
    run = Lockstep(plateau, lambda t: (-wide, wide), near=0.03, concave=concave)
    run.add(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros((1, 1)))
    done = run.advance()
    assert len(run) == 0
    assert not done.near[0]
    assert (done.maximum[0, 0], done.objective[0]) == (0.0, 0.0)


@pytest.mark.parametrize("concave", [True, False])
def test_a_small_gain_is_an_end_unless_the_step_is_cut(concave: bool) -> None:
    def slope(tag: IntArray, x: FloatArray) -> Expansion:
        bend = np.array([-1e-3, 1e-3])[tag]  # the second is convex
        value = 1e-4 * x[:, 0] + 0.5 * bend * x[:, 0] ** 2
        return Expansion(value, 1e-4 + bend[:, None] * x, bend[:, None, None].copy())

    wide = np.full((1, 1), 9.0)
    bounds = lambda t: (-wide.repeat(len(t), 0), wide.repeat(len(t), 0))  # noqa: E731
    run = Lockstep(slope, bounds, near=1e-3, gain=1e-5, concave=concave)
    run.add(np.array([0, 1]), np.array([0, 1]), np.zeros((2, 1)))
    first = run.advance()
    assert first.cell.tolist() == [0]
    assert first.near.tolist() == [True]
    assert first.maximum[0, 0] == pytest.approx(0.1)
    assert first.objective[0] == pytest.approx(5e-6)
    assert run.finish().point.tolist() == [[9.0]]


@pytest.mark.parametrize("concave", [True, False])
def test_rows_end_at_the_same_maxima_with_or_without_cholesky_factors(concave: bool) -> None:
    rng = np.random.default_rng(5)
    tag, x0 = np.arange(3).repeat(20), rng.uniform(-3.0, 3.0, (60, 3))
    wide = np.full((1, 3), 3.0)
    bounds = lambda t: (-wide.repeat(len(t), 0), wide.repeat(len(t), 0))  # noqa: E731
    run = Lockstep(wavy, bounds, concave=concave, max_rounds=200)
    run.add(tag, np.arange(60), x0)
    done = run.finish()
    assert len(done.slope) == 60
    assert (done.slope < 1e-6).all()
    for k in range(3):
        best = done.at.objective[done.cell == k].max()
        tries = np.full(400, k), rng.uniform(-3.0, 3.0, (400, 3))
        assert best >= solve(OneByOne, wavy, (-wide[0], wide[0]), *tries)[1].max() - 1e-9


@each_solver
def test_finish_returns_what_advance_would(solver: Solver) -> None:
    x0 = np.random.default_rng(6).uniform(-3.0, 3.0, (7, 2))
    wide = np.full((1, 2), 3.0)
    runs = []
    for _ in range(2):
        run = solver(wavy, lambda t: (-wide.repeat(len(t), 0), wide.repeat(len(t), 0)))
        run.add(np.zeros(7, dtype=np.int64), np.arange(7), x0)
        runs.append(run)
    parts = []
    while len(runs[0]):
        parts.append(runs[0].advance())
    whole, again = runs[1].finish(), together(parts)
    assert sorted(whole.row) == list(range(7))
    for a, b in zip(whole.at, again.at, strict=True):
        assert np.array_equal(a, b)
    for name in set(Ended._fields) - {"at"}:
        assert np.array_equal(getattr(whole, name), getattr(again, name))


def test_the_height_of_a_row_is_that_of_its_target() -> None:
    problems, far = Quadratics(4, 3), np.full((1, 3), 99.0)
    run = Lockstep(problems, lambda t: (-far.repeat(len(t), 0), far.repeat(len(t), 0)), near=99.0)
    run.add(np.arange(4), np.arange(4), np.zeros((4, 3)))
    done = run.advance()
    moved = done.near
    assert moved.any()
    expected = problems(done.cell, done.maximum).objective
    assert np.allclose(done.objective[moved], expected[moved], rtol=1e-12)
    assert (np.abs(done.maximum - done.point).max(-1)[moved] > 1e-3).all()


def test_gradient_at_the_bounds() -> None:
    x, low, high = np.array([[0.0, 1.0, 0.5]]), np.zeros((1, 3)), np.ones((1, 3))
    outward = np.array([[-2.0, 3.0, 0.1]])
    assert pushes_outward(outward, x, low, high).tolist() == [[True, True, False]]
    assert projected_gradient(outward, x, low, high)[0] == 0.1
    assert projected_gradient(-outward, x, low, high)[0] == 3.0


def test_advance_without_rows_is_a_mistake() -> None:
    with pytest.raises(RuntimeError, match="call add first"):
        Lockstep(wavy, lambda tags: (np.zeros((1, 1)), np.ones((1, 1)))).advance()


def test_a_saddle_is_no_end_in_whatever_company() -> None:
    def ridge(tag: IntArray, x: FloatArray) -> Expansion:
        z, first = x[:, 0], tag == 0
        value = np.where(first, 1e-8 * z + z**2 - z**4, -(z**2))
        gradient = np.where(first, 1e-8 + 2.0 * z - 4.0 * z**3, -2.0 * z)
        bend = np.where(first, 2.0 - 12.0 * z**2, -2.0)
        return Expansion(value, gradient[:, None], bend[:, None, None])

    for tags in ([0], [0, 1]):
        run = Lockstep(ridge, lambda t: (np.full((len(t), 1), -5.0), np.full((len(t), 1), 5.0)))
        run.add(np.array(tags), np.array(tags), np.zeros((len(tags), 1)))
        done = run.finish()
        assert done.point[done.cell == 0, 0] == pytest.approx(np.sqrt(0.5), abs=1e-6)


@pytest.mark.parametrize("concave", [True, False])
def test_a_step_that_a_bound_spoils_raises_no_height(concave: bool) -> None:
    H, g = np.array([[-1.0, 0.99], [0.99, -1.0]]), np.array([-1e-3, 1e-2])

    def saddleback(tag: IntArray, x: FloatArray) -> Expansion:
        B = len(tag)
        value = x @ g + 0.5 * ((x @ H) * x).sum(-1)
        return Expansion(value, g + x @ H, np.tile(H, (B, 1, 1)))

    low, high = np.full((1, 2), -9.0), np.array([[9.0, 1e-6]])
    run = Lockstep(saddleback, lambda t: (low, high), near=9.0, concave=concave)
    run.add(np.array([0]), np.array([0]), np.zeros((1, 2)))
    done = run.advance()
    assert done.near.tolist() == [True]
    assert done.maximum[0, 0] > 0.1  # the second coordinate was to go along
    assert saddleback(np.array([0]), done.maximum).objective[0] < -1e-3
    assert done.objective[0] == 0.0


def test_a_coordinate_without_slope_moves_with_the_others() -> None:
    H = np.array([[-2.0, 1.0], [1.0, -2.0]])

    def bowl(tag: IntArray, x: FloatArray) -> Expansion:
        y = x - [0.4, 0.2]
        return Expansion(0.5 * ((y @ H) * y).sum(-1), y @ H, np.tile(H, (len(x), 1, 1)))

    wide = np.full((1, 2), 9.0)
    run = Lockstep(bowl, lambda t: (-wide, wide), near=9.0)
    run.add(np.array([0]), np.array([0]), np.zeros((1, 2)))  # where the second slope is 0
    assert run.advance().maximum[0] == pytest.approx([0.4, 0.2])
