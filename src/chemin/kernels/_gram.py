"""Gram matrices as operators: stored, or Z Z' by its factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chemin._checks import Array as Floats

Ints = NDArray[np.intp]

# A vector with so many times more entries than non-zeros: reading their rows alone is quicker.
FEW = 8
STRIP = 512  # rows of a factor whose absolute values are taken at a time, and not kept


def _product(A: Floats, v: Floats) -> Floats:
    """A v, A symmetric."""
    if v.ndim == 1:
        some = np.flatnonzero(v)
        if FEW * len(some) < len(v):
            return v[some] @ A[some]
        return A @ v
    return np.ascontiguousarray((v.T @ A).T)  # BLAS reads A faster from this side


@dataclass(frozen=True)
class DenseGram:
    """A symmetric matrix that is stored."""

    matrix: Floats

    def __len__(self) -> int:
        return len(self.matrix)

    def dot(self, v: Floats) -> Floats:
        return _product(self.matrix, v)

    __matmul__ = dot

    def magnitude(self, v: Floats) -> Floats:
        """|A| |v|: what round-off in `dot` is proportional to."""
        return _product(self.absolute, np.abs(v))

    def both(self, v: Floats) -> tuple[Floats, Floats]:
        """A v and |A| |v|, with one reading of the matrix where it has no negative entry."""
        if self.absolute is not self.matrix:
            return self.dot(v), self.magnitude(v)
        out = _product(self.matrix, np.hstack([v, np.abs(v)]))
        return out[:, : v.shape[1]], out[:, v.shape[1] :]

    @cached_property
    def absolute(self) -> Floats:
        return self.matrix if self.least >= 0 else np.abs(self.matrix)

    @cached_property
    def least(self) -> float:
        """The smallest entry."""
        return float(self.matrix.min())

    def diagonal(self) -> Floats:
        return self.matrix.diagonal()

    def block(self, rows: Ints, cols: Ints) -> Floats:
        if len(cols) == len(self) and np.array_equal(cols, np.arange(len(self))):
            return self.matrix[rows]  # whole rows are copied, not gathered
        return self.matrix[np.ix_(rows, cols)]

    def rows(self, i: Ints | int) -> Floats:
        return self.matrix[i]

    def among(self, rows: Ints) -> Floats:
        """The matrix of these points alone."""
        return np.ascontiguousarray(self.block(rows, rows))

    def own(self, v: Floats) -> Floats:
        """The diagonal of A v."""
        return np.einsum("ij,ji->i", self.matrix, v)


@dataclass(frozen=True)
class LowRankGram:
    """Z Z', never formed: a product costs twice the size of Z, an entry one row of it."""

    factor: Floats

    def __len__(self) -> int:
        return len(self.factor)

    def dot(self, v: Floats) -> Floats:
        if v.ndim > 1:
            return self.factor @ (self.factor.T @ v)
        some = np.flatnonzero(v)
        if len(some) == 0:
            return np.zeros(len(self))
        return self.factor @ (v[some] @ self.factor[some])

    __matmul__ = dot

    def magnitude(self, v: Floats) -> Floats:
        """|Z| |Z'| |v|: what round-off in `dot` is proportional to."""
        if v.ndim > 1:
            return self.absolute @ (self.absolute.T @ np.abs(v))
        some = np.flatnonzero(v)
        if len(some) == 0:
            return np.zeros(len(self))
        inner = np.abs(v[some]) @ np.abs(self.factor[some])
        rows = (self.factor[k : k + STRIP] for k in range(0, len(self), STRIP))
        return np.concatenate([np.abs(part) @ inner for part in rows])

    def both(self, v: Floats) -> tuple[Floats, Floats]:
        """A v and |A| |v|."""
        return self.dot(v), self.magnitude(v)

    @cached_property
    def absolute(self) -> Floats:
        return np.abs(self.factor)

    def diagonal(self) -> Floats:
        return np.einsum("ij,ij->i", self.factor, self.factor)

    def block(self, rows: Ints, cols: Ints) -> Floats:
        return self.factor[rows] @ self.factor[cols].T

    def rows(self, i: Ints | int) -> Floats:
        return self.factor[i] @ self.factor.T

    def among(self, rows: Ints) -> LowRankGram:
        return LowRankGram(np.ascontiguousarray(self.factor[rows]))

    def own(self, v: Floats) -> Floats:
        return np.einsum("ij,ji->i", self.factor, self.factor.T @ v)


@dataclass(frozen=True)
class SparseGram(LowRankGram):
    """Z Z' with a sparse Z (csr_array, columns in order), of which nothing is ever dense."""

    factor: Any

    def __len__(self) -> int:
        return int(self.factor.shape[0])

    def dot(self, v: Floats) -> Floats:
        return np.asarray(self.factor @ (self.factor.T @ v))

    __matmul__ = dot

    def magnitude(self, v: Floats) -> Floats:
        return np.asarray(self.absolute @ (self.absolute.T @ np.abs(v)))

    @cached_property
    def absolute(self) -> Any:
        return abs(self.factor)

    def diagonal(self) -> Floats:
        return np.asarray(self.factor.multiply(self.factor).sum(axis=1))

    def block(self, rows: Ints, cols: Ints) -> Floats:
        return np.asarray((self.factor[rows] @ self.factor[cols].T).toarray())

    def rows(self, i: Ints | int) -> Floats:
        some = (self.factor[np.atleast_1d(i)] @ self.factor.T).toarray()
        return np.asarray(some if np.ndim(i) else some[0])

    def among(self, rows: Ints) -> SparseGram:
        return SparseGram(self.factor[rows])

    def own(self, v: Floats) -> Floats:
        return np.asarray(self.factor.multiply((self.factor.T @ v).T).sum(axis=1))


Gram = DenseGram | LowRankGram


def as_gram(K: Floats | Gram) -> Gram:
    return DenseGram(K) if isinstance(K, np.ndarray) else K
