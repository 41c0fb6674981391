"""Gram matrices as operators: stored, or Z Z' by its factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chemin._checks import Array as Floats
from chemin.kernels._gather import extremes, gathered

Ints = NDArray[np.intp]

# A vector with so many times more entries than non-zeros: reading their rows alone is quicker.
FEW = 8
# So few vectors are multiplied one by one: for a product of matrices A is copied on the way.
SINGLY = 3
STRIP = 512  # rows of a factor whose absolute values are taken at a time, and not kept
# What all entries have in common is taken out where it is most of them: no entry is less than ALIKE
# times the largest, and the largest becomes less by WORTH at least. It leaves LEFT of it at least:
# entries are known to round-off of the whole, and of less than that no pivot could be told.
ALIKE, WORTH, LEFT = 1 / 3, 0.5, 1e-3
CENTRED = 2000  # rows at most: centring takes a copy of the matrix, and one of absolute values
DIGITS = 53  # of a double


def _product(A: Floats, v: Floats) -> Floats:
    """A v, A symmetric."""
    some = np.flatnonzero(v if v.ndim == 1 else v.any(axis=1))
    if FEW * len(some) < len(v):
        return (v[some].T @ A[some]).T
    if v.ndim == 1:
        return A @ v
    if v.shape[1] <= SINGLY:
        return np.array([A @ column for column in v.T]).T
    return (v.T @ A).T  # BLAS reads A faster from this side


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
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest entry."""
        if self.matrix.flags.c_contiguous:
            return extremes(self.matrix)
        return float(self.matrix.min()), float(self.matrix.max())

    @property
    def least(self) -> float:
        """The smallest entry."""
        return self.extremes[0]

    @property
    def nbytes(self) -> int:
        """How much memory the matrix takes."""
        return self.matrix.nbytes

    def diagonal(self) -> Floats:
        return self.matrix.diagonal()

    def block(self, rows: Ints, cols: Ints) -> Floats:
        if len(cols) == len(self) and np.array_equal(cols, np.arange(len(self))):
            return self.matrix[rows]  # whole rows are copied, not gathered
        return self.matrix[np.ix_(rows, cols)]

    def rows(self, i: Ints | int) -> Floats:
        return self.matrix[i]

    def among(self, rows: Ints) -> DenseGram:
        """The matrix of these points alone."""
        matrix, *ends = gathered(np.ascontiguousarray(self.matrix), rows, rows)
        part = DenseGram(matrix)
        vars(part)["extremes"] = tuple(ends)
        return part

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


@dataclass(frozen=True)
class Centred:
    """K_ij = C_ij + level + rise_i + rise_j, C the kernel of the points seen from their mean.

    With coefficients that sum up to zero, f = K coef + b is C coef + b', b' = b + rise'coef. All of
    it is exact: what is taken out of K are multiples of the last digit of its smallest entry.
    """

    gram: DenseGram
    level: float
    rise: Floats

    @classmethod
    def of(cls, gram: Gram) -> Centred | None:
        """None where there is little in common, or too much to tell what is left from round-off."""
        if not isinstance(gram, DenseGram) or not 1 < len(gram) <= CENTRED:
            return None
        largest = float(gram.diagonal().max())
        if not gram.least >= ALIKE * largest > 0:
            return None
        K, digit = gram.matrix, float(np.spacing(gram.least))
        mean = K.mean(axis=0)
        level = float(np.round(mean.mean() / digit)) * digit
        rise = np.round((mean - level) / digit) * digit
        if max(largest - level, level - gram.least) + 2 * np.abs(rise).max() > 2**DIGITS * digit:
            return None
        C = K - level
        C -= rise
        C -= rise[:, None]
        left = float(C.diagonal().max())
        if C.any() and not LEFT * largest <= left <= WORTH * largest:
            return None
        return cls(DenseGram(C), level, rise)

    @property
    def reach(self) -> float:
        """The largest entry without what a row has in common, or more than that."""
        return float(self.gram.diagonal().max() + 2.0 * np.abs(self.rise).max())

    def lift(self, coef: Floats) -> tuple[Floats, Floats]:
        """rise'coef + level times the sum of each column of coef, and that sum, which is round-off.

        K coef = C coef + rise sum + lift.
        """
        total = exact_sum(coef)
        return self.rise @ coef + self.level * total, total


def parted(cross: Floats) -> tuple[Floats, Floats]:
    """The kernel between new points and those of a model, without what each row has in common, and
    that. With it cross @ coef = rest @ coef + common exact_sum(coef): no digit is lost to it.
    """
    common = cross.mean(axis=1)
    return cross - common[:, None], common


def exact_sum(a: Floats) -> Floats:
    """The sum of each column as if in twice the precision: what additions lose is added up too."""
    lost = np.zeros(a.shape[1])
    while len(a) > 1:
        x, y, odd = a[0:-1:2], a[1::2], a[len(a) & ~1 :]
        total = x + y
        part = total - x
        lost += ((x - (total - part)) + (y - part)).sum(axis=0)
        a = np.concatenate([total, odd])
    return a.sum(axis=0) + lost


def as_gram(K: Floats | Gram) -> Gram:
    return DenseGram(K) if isinstance(K, np.ndarray) else K
