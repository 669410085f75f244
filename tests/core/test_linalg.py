"""The batched Cholesky factorisation: right factors, flags, and no harm to neighbours."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from pengp import penalized_path
from pengp._core.arrays import FloatArray
from pengp._core.linalg import (
    ONE_THREAD,
    cholesky,
    log_determinant,
    max_norm,
    positive_inverse,
    positive_solve,
)


def positive(B: int, n: int, seed: int = 0) -> FloatArray:
    """Return B well-conditioned symmetric matrices."""
    A = np.random.default_rng(seed).standard_normal((B, n, n))
    return A @ A.transpose(0, 2, 1) + n * np.eye(n)


def test_factors_and_determinants() -> None:
    A = positive(5, 6)
    L, ok = cholesky(A)
    assert ok.all()
    assert np.allclose(L @ L.transpose(0, 2, 1), A, rtol=1e-13)
    assert (np.tril(L) == L).all()
    assert np.allclose(log_determinant(L), np.linalg.slogdet(A)[1], rtol=1e-13)


BAD = {
    "indefinite": np.diag([1.0, -1.0, 1.0, 1.0]),
    "singular": np.ones((4, 4)),
    "nan": np.full((4, 4), np.nan),
    "zero": np.zeros((4, 4)),
    "repeated": np.kron(np.ones((2, 2)), np.array([[1.0, 0.3], [0.3, 1.0]])),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("place", [0, 2, 6])
def test_a_bad_item_is_flagged_and_its_neighbours_keep_their_bits(kind: str, place: int) -> None:
    good = positive(6, 4)
    expected = np.stack([np.linalg.cholesky(a) for a in good])
    L, ok = cholesky(np.insert(good, place, BAD[kind], axis=0))
    assert not ok[place]
    assert ok.sum() == 6
    assert (L[place] == np.eye(4)).all()
    assert (np.delete(L, place, axis=0) == expected).all()


def test_many_bad_items() -> None:
    A = positive(9, 4)
    A[[0, 1, 4, 8]] = BAD["indefinite"]
    A[5] = BAD["repeated"]
    _, ok = cholesky(A)
    assert ok.tolist() == [False, False, True, True, False, False, True, True, False]


def test_all_bad_and_a_batch_of_one() -> None:
    L, ok = cholesky(np.stack([BAD["indefinite"]] * 3))
    assert not ok.any()
    assert (np.eye(4) == L).all()
    assert not cholesky(BAD["nan"][None])[1][0]
    assert cholesky(np.eye(4)[None])[1][0]


def test_a_pivot_of_rounding_error_counts_as_singular() -> None:
    # LAPACK factors this matrix without complaint; what remains of the second pivot is noise.
    A = np.array([[[1.0, 1.0], [1.0, 1.0 + 2.0**-52]]])
    assert np.linalg.cholesky(A)[0, 1, 1] > 0.0
    assert not cholesky(A)[1][0]
    assert cholesky(np.array([[[1.0, 1.0], [1.0, 1.0 + 1e-14]]]))[1][0]


def test_an_empty_batch() -> None:
    L, ok = cholesky(np.empty((0, 3, 3)))
    assert L.shape == (0, 3, 3)
    assert ok.shape == (0,)


def test_inverses_and_determinants() -> None:
    A = positive(5, 6)
    V, log_det, ok = positive_inverse(A.copy())
    assert ok.all()
    assert np.allclose(V @ A, np.eye(6), atol=1e-13)
    assert (V.transpose(0, 2, 1) == V).all()
    assert np.allclose(log_det, np.linalg.slogdet(A)[1], rtol=1e-13)


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("place", [0, 2, 6])
def test_a_bad_item_has_no_inverse_and_its_neighbours_keep_their_bits(
    kind: str, place: int
) -> None:
    good = positive(6, 4)
    expected = [positive_inverse(a[None].copy()) for a in good]
    V, log_det, ok = positive_inverse(np.insert(good, place, BAD[kind], axis=0))
    assert not ok[place]
    assert ok.sum() == 6
    assert (V[place] == np.eye(4)).all()
    assert log_det[place] == 0.0
    assert (np.delete(V, place, axis=0) == np.concatenate([e[0] for e in expected])).all()
    assert (np.delete(log_det, place) == np.concatenate([e[1] for e in expected])).all()


def test_no_matrices_have_no_inverses() -> None:
    V, log_det, ok = positive_inverse(np.empty((0, 3, 3)))
    assert V.shape == (0, 3, 3)
    assert log_det.shape == ok.shape == (0,)


def test_solutions_and_determinants() -> None:
    A, b = positive(5, 6), np.random.default_rng(1).standard_normal((5, 2, 6))
    x, log_det, ok = positive_solve(A.copy(), b.copy())
    assert ok.all()
    assert np.allclose((A @ x.transpose(0, 2, 1)).transpose(0, 2, 1), b, atol=1e-13)
    assert np.allclose(log_det, np.linalg.slogdet(A)[1], rtol=1e-13)


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_item_has_no_solution_and_its_neighbours_do(kind: str) -> None:
    A, b = positive(3, 4), np.ones((3, 1, 4))
    A[1] = BAD[kind]
    x, log_det, ok = positive_solve(A.copy(), b.copy())
    assert ok.tolist() == [True, False, True]
    assert log_det[1] == 0.0
    assert np.allclose((A[[0, 2]] @ x[[0, 2]].transpose(0, 2, 1))[..., 0], 1.0)


@pytest.mark.parametrize("shape", [(0, 3), (4, 1), (7, 5), (3, 6, 2), (2, 0, 4)])
def test_the_maximum_norm_of_any_shape(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(len(shape)).standard_normal(shape)
    kept = x.copy()
    np.testing.assert_array_equal(max_norm(x), np.abs(x).max(-1))
    np.testing.assert_array_equal(max_norm(x[..., ::-1]), np.abs(x).max(-1))
    np.testing.assert_array_equal(x, kept)


def test_the_maximum_norm_of_what_is_nowhere_is_nan() -> None:
    assert np.isnan(max_norm(np.array([[1.0, np.nan], [2.0, -3.0]]))).tolist() == [True, False]


def blas_threads() -> list[int]:
    """Return the number of threads of each BLAS library."""
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.fixture
def two_threads() -> Iterator[list[int]]:
    """Let every BLAS library have two threads, and no Python thread the say over them."""
    controller = ThreadpoolController()

    def release() -> None:
        for library in controller.lib_controllers:
            getattr(library, "clear_controlling_thread", lambda force: None)(force=True)

    release()
    with threadpool_limits(2, user_api="blas"):
        release()
        before = blas_threads()
        assert set(before) == {2}
        yield before
        release()


def inside() -> list[int]:
    """Return the number of threads that BLAS has inside the context."""
    with ONE_THREAD:
        return blas_threads()


def test_blas_has_one_thread_until_the_last_one_leaves(two_threads: list[int]) -> None:
    first, second = ONE_THREAD, ONE_THREAD
    first.__enter__()
    second.__enter__()
    assert set(blas_threads()) == {1}
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == two_threads
    with pytest.raises(ZeroDivisionError), ONE_THREAD:
        _ = 1 / 0
    assert blas_threads() == two_threads


def test_any_python_thread_may_come_first_and_leave_last(two_threads: list[int]) -> None:
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for pool in (one, other):
            pool.submit(ONE_THREAD.__enter__).result()
            assert set(blas_threads()) == {1}
        one.submit(ONE_THREAD.__exit__, None, None, None).result()
        assert set(blas_threads()) == {1}
        other.submit(ONE_THREAD.__exit__, None, None, None).result()
        assert blas_threads() == two_threads
        assert set(inside()) == set(one.submit(inside).result()) == {1}


def test_limits_of_others_still_work_after_ours(two_threads: list[int]) -> None:
    def limited() -> list[int]:
        with threadpool_limits(1, user_api="blas"):
            return blas_threads()

    with ThreadPoolExecutor(1) as pool:
        assert set(inside()) == {1}
        assert set(pool.submit(limited).result()) == {1}
        assert set(pool.submit(inside).result()) == {1}
        assert set(limited()) == {1}
        assert blas_threads() == two_threads


def test_fits_in_several_threads_leave_blas_as_it_was(two_threads: list[int]) -> None:
    X = np.random.default_rng(0).random((9, 2))
    with ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(lambda k: penalized_path(X, X[:, 0], [0.1], random_state=k), [0] * 12))
        assert blas_threads() == two_threads
    assert all((f.theta == fits[0].theta).all() for f in fits)
