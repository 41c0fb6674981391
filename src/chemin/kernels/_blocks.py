"""Filling kernel matrices by blocks of rows, with rows that repeat repeated exactly.

A product of matrices does not promise the same last digit for two equal rows: it depends on where
they stand. A path would see two points where there is one. So each distinct row is computed once,
in the upper left corner of the result, and copied from there:

      distinct  |             1 2 1 3
    +-----------+---+       1 a b a c
    | a b c     |   |       2 b d b e      equal rows are equal bit by bit,
    | b d e     |   |  ->   1 a b a c      and so are equal columns
    | c e f     |   |       3 c e c f
    +-----------+   |
    |               |
    +---------------+
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from chemin._checks import Array
from chemin.kernels._gather import mirror

BLOCK_ROWS = 256
"""Rows written at once. For rbf, n = 5000, d = 20, one thread, 256 rows took 0.17 s, 512 took 0.23
and 1024 took 0.25; one product and one exponential of the full matrix took 0.21 to 0.27."""

MOST_AT_ONCE = 2**24
"""Entries of a kernel matrix between points and new points that are held at once: 128 MB. Beyond
it, new points come in parts, so that predictions take no more memory than training did."""

Writer = Callable[[slice, slice, Array], None]
"""Writes the kernel between some rows of one set and some rows of another into a block."""

Index = NDArray[np.intp]


def parts_of(n: int, width: int) -> list[slice]:
    """Return slices of n new points whose kernel with `width` points is held at once."""
    step = max(1, MOST_AT_ONCE // max(width, 1))
    return [slice(first, min(first + step, n)) for first in range(0, n, step)]


def distinct_rows(X: Any) -> tuple[Any, Index]:
    """Return the distinct rows in order of appearance, and for each row of X which one it is.

    X = rows[inverse], and inverse[i] <= i. The zeros 0.0 and -0.0 are equal.
    """
    if not issparse(X) and all_differ(X):
        return X, np.arange(len(X))
    rows, inverse, _ = told_apart(X)
    return rows, inverse


def all_differ(X: Array) -> bool:
    """Whether it is plain that all rows differ: sums of their bits, in whole numbers, do.

    Equal rows have equal sums, whatever the order of the additions.
    """
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)
    weight = np.random.default_rng(0).integers(1, 2**63, bits.shape[1], dtype=np.uint64)
    return len(np.unique((bits * weight).sum(axis=1))) == len(X)


def told_apart(X: Any) -> tuple[Any, Index, dict[bytes, int]]:
    """`distinct_rows`, and the place of each among them."""
    keys = _keys(X)
    place = dict(zip(keys, range(len(keys))))
    if len(place) == len(keys):
        return X, np.arange(len(keys)), place
    place = {}
    inverse = np.array([place.setdefault(key, len(place)) for key in keys], dtype=np.intp)
    first = np.unique(inverse, return_index=True)[1]
    return X[first] if issparse(X) else np.ascontiguousarray(X[first]), inverse, place


def equal_rows(A: dict[bytes, int], B: dict[bytes, int]) -> tuple[Index, Index]:
    """Return all i and j with equal rows, from the places of distinct ones."""
    pairs = [(i, B[key]) for key, i in A.items() if key in B]
    both = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _keys(X: Any) -> list[bytes]:
    if issparse(X):
        parts = zip(X.indptr[:-1], X.indptr[1:])
        return [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in parts]
    # Adding 0.0 makes 0.0 of -0.0; then equal numbers are equal bytes.
    rows = np.ascontiguousarray(X + 0.0)
    keys: list[bytes] = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()
    return keys


def fill(out: Array, write: Writer) -> None:
    """Write the kernel between two sets of rows into out."""
    for rows in _row_blocks(len(out)):
        block = out[rows]
        write(rows, slice(0, out.shape[1]), block)
        _refuse_overflow(block)


def fill_symmetric(out: Array, write: Writer) -> None:
    """Write the kernel of a set with itself into out: the lower triangle, and its mirror image."""
    for rows in _row_blocks(len(out)):
        block = out[rows, : rows.stop]
        write(rows, slice(0, rows.stop), block)
        _refuse_overflow(block)
    mirror(out)


def repeat_in_place(out: Array, row_of: Index, column_of: Index) -> None:
    """Spread the distinct values in the corner of out over all of it.

    out[i, j] = corner[row_of[i], column_of[j]]

    From the last rows up: row i is written when no row above it needs what stood there, because
    row_of[i] <= i. Only a block of rows is held twice.
    """
    n_distinct = int(column_of.max()) + 1
    all_columns = n_distinct == len(column_of)
    if all_columns and int(row_of.max()) + 1 == len(row_of):
        return
    moved = np.flatnonzero(row_of != np.arange(len(row_of))) if all_columns else [0]
    for rows in reversed(list(_row_blocks(len(out)))):
        if rows.stop > moved[0]:
            some = out[row_of[rows], :n_distinct]
            out[rows] = some if all_columns else some[:, column_of]


def _row_blocks(n: int) -> Iterator[slice]:
    return (slice(a, min(a + BLOCK_ROWS, n)) for a in range(0, n, BLOCK_ROWS))


def _refuse_overflow(block: Array) -> None:
    if not np.isfinite(block).all():
        raise ValueError(
            "X is too large: its kernel has values that are not finite in double precision, "
            "expected finite ones. Rescale X (sklearn.preprocessing.StandardScaler), or lower "
            "gamma, degree or coef0."
        )
