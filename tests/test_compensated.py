"""Residuals as if in twice the precision. Oracle: exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from chemin.engine import compensated
from chemin.engine.compensated import residual, residual_by_numpy

EPS = np.finfo(np.float64).eps


def cancelling(seed, n=7):
    """A symmetric matrix of entries that differ by 1e12, and b = G x but for its rounding."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-6, 7, (n, n))
    G, x = A + A.T, rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)
    return G, x, G @ x


def in_fractions(G, x, b):
    exact = [[Fraction(v) for v in row] for row in G]
    return [
        Fraction(c) - sum((g * Fraction(v) for g, v in zip(row, x)), Fraction(0))
        for row, c in zip(exact, b)
    ]


@pytest.mark.parametrize("function", [residual, residual_by_numpy])
@pytest.mark.parametrize("seed", range(20))
def test_residual_of_a_solution(function, seed):
    """Oracle: fractions. The error is one rounding of the result, and EPS^2 of the terms."""
    G, x, b = cancelling(seed)
    exact = in_fractions(G, x, b)
    terms = np.abs(G) @ np.abs(x) + np.abs(b)
    for got, want, size in zip(function(G, x, b), exact, terms):
        assert abs(Fraction(got) - want) <= EPS * abs(want) + len(b) ** 2 * EPS**2 * Fraction(size)


@pytest.mark.parametrize("n", [0, 1, 2, 33])
def test_compiled_as_by_numpy(n):
    """Oracle: the NumPy version, bit by bit; it does the same operations in the same order."""
    G, x, b = cancelling(n, n)
    np.testing.assert_array_equal(residual(G, x, b), residual_by_numpy(G, x, b))


def test_the_tests_see_the_compiled_version():
    assert compensated.residual is not compensated.residual_by_numpy
