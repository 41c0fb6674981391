"""Polynomials on [0, 1] by Chebyshev coefficients, one in each row of an array.

    p(s) = sum_k c_k T_k(2 s - 1)

Smooth functions are kept this way: NODES values determine a row, and its last coefficients tell
whether they are enough.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

Floats = NDArray[np.float64]

NODES = 16  # values that determine a polynomial of degree 15
# The last coefficients are round-off when they are below this part of the largest value.
RESOLVED = 1e-13
# Or below this part, and a halving of the interval leaves a quarter of them or more: halvings that
# gain so little where a function is nearly resolved are made of round-off alone.
NEARLY_RESOLVED, GAIN = 1e-6, 0.25
# Coefficients below this part of the largest are no part of a polynomial whose roots are wanted.
NEGLIGIBLE = 1e-15
# Roots whose imaginary part is below this are real: those of multiplicity two split by so much.
REAL = 1e-6
POLISH = 2  # steps of Newton
MOST_HALVINGS = 6  # of an interval, for bounds on coefficients: narrower parts have no more of them


@cache
def nodes(n: int = NODES) -> Floats:
    """Where values are taken: the zeros of T_n in (0, 1)."""
    return 0.5 - 0.5 * np.cos(np.pi * (np.arange(n) + 0.5) / n)


@cache
def _transform(n: int) -> Floats:
    matrix = 2.0 / n * chebyshev.chebvander(2.0 * nodes(n) - 1.0, n - 1).T
    matrix[0] *= 0.5
    return np.asarray(matrix, dtype=float)


def fit(values: Floats) -> Floats:
    """Coefficients from values at the nodes, along the last axis."""
    return values @ _transform(values.shape[-1]).T


def evaluate(rows: Floats, s: Floats) -> Floats:
    """Row k at s_k."""
    return np.asarray(chebyshev.chebval(2.0 * s - 1.0, rows.T, tensor=False))


def evaluate_many(rows: Floats, s: Floats) -> Floats:
    """Row k at all s_k, by Clenshaw's recurrence: s has a row of places for each row."""
    x = 2.0 * s - 1.0
    last, before = np.zeros_like(x), np.zeros_like(x)
    for k in range(rows.shape[1] - 1, 0, -1):
        last, before = rows[:, k, None] + 2.0 * x * last - before, last
    return np.asarray(rows[:, :1] + x * last - before)


def columns_above(rows: Floats, least: Floats) -> NDArray[np.intp]:
    """How many columns of each row, from the first on, hold all its entries above `least`."""
    counts = np.abs(rows) > least[:, None]
    first = rows.shape[1] - np.argmax(counts[:, ::-1], axis=1)
    return np.where(counts.any(axis=1), first, 0)


def halvings(width: Floats) -> NDArray[np.intp]:
    """How often [0, 1] can be halved and is as wide as a part of it; MOST_HALVINGS at the most."""
    with np.errstate(divide="ignore"):
        return np.minimum(np.floor(-np.log2(width)), MOST_HALVINGS).astype(np.intp)


@cache
def narrowed(columns: int, halvings: int) -> Floats:
    """Bounds on the coefficients of T_k on any part of [0, 1] so often halved, in row k.

    On the ellipse around a part of width w with axes of sum rho w, |T_k| is at most r^k with

        r + 1/r = 2 + w (rho + 1/rho - 2)

    and coefficient m there is at most 2 r^k / rho^m (Bernstein): the smallest over rho.
    """
    rho = np.geomspace(1.0, 1e4, 400)
    half = 1.0 + 0.5 ** (halvings + 1) * (rho + 1.0 / rho - 2.0)
    r = half + np.sqrt(half * half - 1.0)
    k = np.arange(columns)
    bounds = 2.0 * r ** k[:, None, None] / rho ** k[:, None]
    return np.asarray(np.minimum(bounds.min(axis=-1), 2.0))


@cache
def times_bump(columns: int) -> Floats:
    """The coefficients of -s (1 - s) T_k in row k: s (1 - s) = (T_0 - T_2) / 8."""
    out = np.zeros((columns, columns + 2))
    for k in range(columns):  # 2 T_2 T_k = T_(k + 2) + T_|k - 2|
        out[k, k] -= 1 / 8
        out[k, k + 2] += 1 / 16
        out[k, abs(k - 2)] += 1 / 16
    return out


def roughness(rows: Floats, scale: Any) -> Floats:
    """The last coefficients along the last axis, as a part of values of that size."""
    last = np.abs(rows[..., -2:]).max(axis=-1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.divide(last, scale, out=np.zeros_like(last), where=last > 0))


def is_resolved(rough: Floats, before: Floats) -> NDArray[np.bool_]:
    """Whether a function needs no halving, by its roughness and that of the interval before."""
    stands = (rough <= NEARLY_RESOLVED) & (rough >= GAIN * before)
    return np.asarray((rough <= RESOLVED) | stands)


def derivative(rows: Floats) -> Floats:
    """Of each row, in s."""
    return np.asarray(2.0 * chebyshev.chebder(rows, axis=1))


def roots(rows: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Real roots in [0, 1] of every row: the number of the row, and the root.

    A row without a sign change may have a root more (of multiplicity two, or nearly one).
    """
    size = np.abs(rows).max(axis=1, initial=0.0)
    counts = np.abs(rows) > NEGLIGIBLE * size[:, None]
    degree = np.where(size > 0, rows.shape[1] - 1 - np.argmax(counts[:, ::-1], axis=1), 0)
    row, s = [np.empty(0, np.intp)], [np.empty(0)]
    for d in np.unique(degree[degree > 0]):
        some = np.flatnonzero(degree == d)
        x = np.linalg.eigvals(_companions(rows[some, : d + 1]))
        k, j = np.nonzero((np.abs(x.imag) <= REAL) & (np.abs(x.real) <= 1.0 + REAL))
        row.append(some[k])
        s.append(np.asarray(0.5 + 0.5 * x.real[k, j], dtype=float))
    which, place = np.concatenate(row), np.concatenate(s)
    return which, np.clip(_polished(rows[which], place), 0.0, 1.0)


def _polished(rows: Floats, s: Floats) -> Floats:
    slope = derivative(rows)
    for _ in range(POLISH):
        value, rate = evaluate(rows, s), evaluate(slope, s)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.nan_to_num(value / rate, posinf=0.0, neginf=0.0)
        s = s - np.clip(step, -REAL, REAL)
    return s


def _companions(rows: Floats) -> Floats:
    """Matrices whose eigenvalues are the roots of rows of one degree, in x = 2 s - 1.

    x T_0 = T_1,    x T_k = (T_(k-1) + T_(k+1)) / 2,    T_d = -(c_0 T_0 + ...) / c_d
    """
    degree = rows.shape[1] - 1
    matrix = np.zeros((len(rows), degree, degree))
    k = np.arange(1, degree)
    matrix[:, k, k - 1] = 0.5
    matrix[:, k - 1, k] = 0.5
    if degree > 1:
        matrix[:, 0, 1] = 1.0
    last = 0.5 if degree > 1 else 1.0
    matrix[:, -1] -= last * rows[:, :-1] / rows[:, -1:]
    return matrix


__all__ = [
    "NODES",
    "RESOLVED",
    "columns_above",
    "derivative",
    "evaluate",
    "evaluate_many",
    "fit",
    "halvings",
    "is_resolved",
    "narrowed",
    "nodes",
    "roots",
    "roughness",
    "times_bump",
]
