"""The batched Cholesky factorisation: right factors, flags, and no harm to neighbours."""

import numpy as np
import pytest

from pengp._linalg import cholesky, inverse, log_determinant
from pengp._typing import FloatArray


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


def test_a_singular_item_has_no_inverse_and_its_neighbours_do() -> None:
    A = np.stack([np.diag([1.0, 2.0, 4.0])] * 5)
    A[2] = 0.0
    V, ok = inverse(A)
    assert ok.tolist() == [True, True, False, True, True]
    assert (V[2] == np.eye(3)).all()
    assert (V[ok] == np.diag([1.0, 0.5, 0.25])).all()
