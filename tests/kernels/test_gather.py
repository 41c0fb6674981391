"""Matrices gathered, mirrored and looked through by compiled loops. Oracle: NumPy's own."""

import numpy as np
import pytest
from chemin.kernels._gather import extremes, mirror

from chemin.kernels import RBF, DenseGram, gathered
from chemin.kernels._blocks import all_differ

RNG = np.random.default_rng(0)
K = RNG.normal(size=(70, 70))


@pytest.mark.parametrize("rows, columns", [(70, 70), (23, 41), (1, 1), (5, 0), (0, 5)])
def test_gathered(rows, columns):
    i, j = RNG.integers(0, 70, rows), np.sort(RNG.permutation(70)[:columns])
    out, least, largest = gathered(K, i, j)
    np.testing.assert_array_equal(out, K[np.ix_(i, j)])
    if out.size:
        assert (least, largest) == (out.min(), out.max())


def test_gathered_refuses_other_indices():
    for rows, columns in (([70], [0]), ([0], [-1])):
        with pytest.raises(IndexError, match="outside"):
            gathered(K, np.array(rows), np.array(columns))


def test_extremes_of_a_part_are_its_own():
    """Oracle: the smallest and the largest entry of the part."""
    S = K + K.T
    part = DenseGram(S).among(np.array([3, 4, 5, 9, 40]))
    assert part.extremes == (part.matrix.min(), part.matrix.max())
    assert extremes(S) == (S.min(), S.max())
    assert DenseGram(np.asfortranarray(K)).extremes == (K.min(), K.max())


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 70])
def test_mirror(n):
    part = np.full((80, 80), np.nan)
    part[:n, :n] = K[:n, :n]
    mirror(part[:n, :n])
    np.testing.assert_array_equal(part[:n, :n], np.tril(K[:n, :n]) + np.tril(K[:n, :n], -1).T)
    assert np.isnan(part[n:]).all() and np.isnan(part[:, n:]).all()


def test_rows_that_differ_are_told():
    """Oracle: sets of rows. Equal rows must never count as different; 0.0 and -0.0 are equal."""
    X = RNG.integers(0, 2, (60, 5)).astype(float)
    assert not all_differ(X)
    assert all_differ(np.unique(X, axis=0))
    assert not all_differ(np.array([[0.0, 1.0], [-0.0, 1.0]]))
    X = RNG.normal(size=(300, 3))
    assert all_differ(X) and not all_differ(np.vstack([X, X[7:8]]))
    G = RBF(0.5).gram(np.vstack([X, X[7:8]]))
    np.testing.assert_array_equal(G[7], G[-1])
