"""How variables act on each other: M = diag(sigma) G, from Gram matrices or blocks and borders.

Dense, low-rank and block matrices have one interface, `Bordered`; the compiled walks read its
`layout`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chemin._checks import Array as Floats
from chemin.kernels._gram import Gram, LowRankGram, SparseGram

Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]

FEW = 0.25  # of the variables: up to so many a product reads their rows, not the whole matrix


@dataclass(frozen=True)
class Rows:
    """The row of a matrix with `count` rows that each variable of a group has.

    Several variables may share a row: alpha_i and alpha*_i of the nu-SVR share row i of K.
    """

    index: Ints
    count: int

    @cached_property
    def plain(self) -> bool:
        """Whether variable i has row i."""
        return np.array_equal(self.index, np.arange(self.count))

    @cached_property
    def layers(self) -> int:
        """How many variables share each row, if the rows come in order so many times; or 0."""
        times, rest = divmod(len(self.index), self.count)
        return 0 if rest or np.any(self.index != np.tile(np.arange(self.count), times)) else times

    def fold(self, x: Floats) -> Floats:
        """From variables to rows: entries of variables that share a row are added up."""
        if self.plain:
            return x
        if x.ndim == 1:
            return np.asarray(np.bincount(self.index, x, self.count), dtype=np.float64)
        if self.layers:
            return np.asarray(x.reshape(self.layers, self.count, -1).sum(axis=0))
        folded = np.zeros((self.count, *x.shape[1:]))
        np.add.at(folded, self.index, x)
        return folded

    def unfold(self, x: Floats) -> Floats:
        """From rows to variables."""
        return x if self.plain else x[self.index]


@dataclass(frozen=True)
class Layout:
    """A coupling as the compiled walks read it.

    `blocks[g][h]` is A_gh, whose rows are contiguous, or None where it is zero. With `factored`
    there is one group and its only block is the factor Z of A = Z Z'; or that is `sparse`, by rows,
    columns in order.
    """

    group: Ints
    index: Ints
    blocks: list[list[Floats | None]]
    counts: list[int]
    factored: bool = False
    sparse: Any = None


class Bordered(ABC):
    """M = diag(sigma) G with G symmetric, described and never formed:

        G = [ S A S   B ]      S = diag(sign), A = what the subclass stores
            [ B'      0 ]      B = border: one column a variable without a row of A

    Layout: the variables that have a row of A come first, then those of the border. sigma is +1 or
    -1 for each variable; M is skew between variables whose sigma differs.
    """

    sign: Floats
    border: Floats
    sigma: Floats
    semidefinite: bool  # A is positive semi-definite and sigma = +1 on its variables
    skew: bool  # M is skew, as that of a linear program: G couples only where sigma differs

    @property
    @abstractmethod
    def layout(self) -> Layout: ...

    @property
    def stored(self) -> int:
        """How many numbers A is made of."""
        return sum(a.size for row in self.layout.blocks for a in row if a is not None)

    @abstractmethod
    def _dot(self, x: Floats) -> Floats:
        """A x, x by variables."""

    @abstractmethod
    def _magnitude(self, x: Floats) -> Floats:
        """A bound on |A| x, x >= 0 by variables."""

    @abstractmethod
    def _block(self, i: Ints, j: Ints) -> Floats:
        """A[i, j], i and j variables."""

    @abstractmethod
    def _diagonal(self) -> Floats: ...

    @property
    def n_rows(self) -> int:
        """How many variables have a row of A."""
        return len(self.sign)

    @cached_property
    def has_row(self) -> Mask:
        """Whether each variable has a row of A; the others couple by the border alone."""
        return np.arange(len(self)) < self.n_rows

    def __len__(self) -> int:
        return self.n_rows + self.border.shape[1]

    def dot(self, z: Floats) -> Floats:
        """M z, for one vector or a matrix of columns."""
        core, edge = z[: self.n_rows], z[self.n_rows :]
        top = (self.sign * self._dot((self.sign * core.T).T).T).T + self.border @ edge
        return (self.sigma * np.concatenate([top, self.border.T @ core]).T).T

    def magnitude(self, z: Floats) -> Floats:
        """A bound on |M| |z|, for tolerances; for one vector or a matrix of columns."""
        core, edge = np.abs(z[: self.n_rows]), np.abs(z[self.n_rows :])
        size = np.abs(self.sign)
        top = (size * self._magnitude((size * core.T).T).T).T + np.abs(self.border) @ edge
        return np.concatenate([top, np.abs(self.border).T @ core])

    def bound(self, z: Floats) -> Floats:
        """No less than `magnitude`, without a product with A."""
        core, edge, root = np.abs(z[: self.n_rows]), np.abs(z[self.n_rows :]), self.root
        own, border = root[: self.n_rows], np.abs(self.border)
        top = np.multiply.outer(own, own @ core) + border @ edge
        return np.concatenate([top, border.T @ core])

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """G[rows, cols]."""
        r, c = rows < self.n_rows, cols < self.n_rows
        i, j = rows[r], cols[c]
        if r.all() and c.all():
            out = self._block(i, j)
            out *= self.sign[i][:, None]
            out *= self.sign[j]
            return out
        out = np.zeros((len(rows), len(cols)))
        out[np.ix_(r, c)] = self.sign[i][:, None] * self._block(i, j) * self.sign[j]
        out[np.ix_(r, ~c)] = self.border[i][:, cols[~c] - self.n_rows]
        out[np.ix_(~r, c)] = self.border[j][:, rows[~r] - self.n_rows].T
        return out

    @property
    @abstractmethod
    def root(self) -> Floats:
        """|G_ij| <= root_i root_j, for variables that have rows: what round-off is measured by."""

    def diagonal(self) -> Floats:
        """The diagonal of G."""
        return np.append(self.sign**2 * self._diagonal(), np.zeros(self.border.shape[1]))


@dataclass(frozen=True)
class Coupling(Bordered):
    """A = K[p, p], one Gram matrix K with p = index; M = [S A S, B; -B', 0]."""

    gram: Gram
    index: Ints
    sign: Floats
    border: Floats
    sigma: Floats = field(init=False)

    semidefinite, skew = True, False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", np.where(self.has_row, 1.0, -1.0))

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.index, len(self.gram))

    @property
    def layout(self) -> Layout:
        group, counts = np.zeros(self.n_rows, dtype=np.intp), [len(self.gram)]
        if isinstance(self.gram, SparseGram):
            sparse = self.gram.factor
            return Layout(group, self.index, [[None]], counts, factored=True, sparse=sparse)
        if isinstance(self.gram, LowRankGram):
            factor = np.ascontiguousarray(self.gram.factor)
            return Layout(group, self.index, [[factor]], counts, factored=True)
        return Layout(group, self.index, [[_by_rows(self.gram.matrix)]], counts)

    @cached_property
    def root(self) -> Floats:
        return np.where(self.has_row, np.sqrt(np.abs(self.diagonal())), 1.0)

    def _dot(self, x: Floats) -> Floats:
        return self.rows.unfold(self.gram.dot(self.rows.fold(x)))

    def _magnitude(self, x: Floats) -> Floats:
        return self.rows.unfold(self.gram.magnitude(self.rows.fold(x)))

    def _block(self, i: Ints, j: Ints) -> Floats:
        return self.gram.block(self.index[i], self.index[j])

    def _diagonal(self) -> Floats:
        return self.gram.diagonal()[self.index]


@dataclass(frozen=True)
class BlockCoupling(Bordered):
    """A from views of several dense arrays, for variables in groups:

        A_ij = A_gh[p_i, p_j]      i of group g, j of group h, p = index

    `blocks[g, h]` is A_gh. Where it is missing, the transpose of A_hg stands for it, and zero if
    that is missing too. The compiled walks read rows: give both views of a symmetric matrix (K[:m]
    and K[:, :m]), or the transpose is copied.
    """

    blocks: Mapping[tuple[int, int], Floats]
    group: Ints
    index: Ints
    sign: Floats
    sigma: Floats  # of the variables of the border, too
    border: Floats

    semidefinite = False

    @cached_property
    def skew(self) -> bool:  # type: ignore[override]
        """Whether M is skew: no two variables of one sigma are coupled."""
        rows, edge = self.sigma[: self.n_rows], self.sigma[self.n_rows :]
        sides = [np.unique(rows[m]) for m in self.members]
        apart = all(np.intersect1d(sides[g], sides[h]).size == 0 for g, h in self.blocks)
        return apart and not np.any(self.border[rows[:, None] == edge])

    def view(self, g: int, h: int) -> Floats | None:
        """A_gh, or None where it is zero."""
        if (g, h) in self.blocks:
            return self.blocks[g, h]
        return self.blocks[h, g].T if (h, g) in self.blocks else None

    @cached_property
    def counts(self) -> list[int]:
        """How many rows the arrays of each group have."""
        n_groups = 1 + max(max(pair) for pair in self.blocks)
        counts = [0] * n_groups
        for (g, h), a in self.blocks.items():
            counts[g], counts[h] = a.shape
        return counts

    @cached_property
    def members(self) -> list[Ints]:
        return [np.flatnonzero(self.group == g) for g in range(len(self.counts))]

    @cached_property
    def rows(self) -> list[Rows]:
        return [Rows(self.index[m], n) for m, n in zip(self.members, self.counts)]

    @cached_property
    def layout(self) -> Layout:
        groups = range(len(self.counts))
        blocks = [[_by_rows(self.view(g, h)) for h in groups] for g in groups]
        return Layout(self.group, self.index, blocks, self.counts)

    @cached_property
    def root(self) -> Floats:
        """The root of the largest entry of each row: the smaller of two is below their mean."""
        largest = np.abs(self.border).max(axis=1, initial=0.0)
        for g, members in enumerate(self.members):
            for h, others in enumerate(self.members):
                a = self.view(g, h)
                if a is not None and len(others):
                    entries = np.maximum(a.max(axis=1), -a.min(axis=1))[self.index[members]]
                    entries = entries * np.abs(self.sign[members]) * np.abs(self.sign[others]).max()
                    largest[members] = np.maximum(largest[members], entries)
        return np.append(np.sqrt(largest), np.ones(self.border.shape[1]))

    @cached_property
    def absolute(self) -> BlockCoupling:
        """The same groups with |A|."""
        return replace(self, blocks={k: np.abs(a) for k, a in self.blocks.items()})

    def _dot(self, x: Floats) -> Floats:
        out = np.zeros_like(x)
        for h, (columns, from_h) in enumerate(zip(self.members, self.rows)):
            folded = from_h.fold(x[columns])
            for g, (rows, to_g) in enumerate(zip(self.members, self.rows)):
                a = self.view(g, h)
                if a is not None:
                    out[rows] += (a @ folded)[to_g.index]
        return out

    def _magnitude(self, x: Floats) -> Floats:
        """|A| x; where few of x are not 0 their rows alone are looked at."""
        some = np.flatnonzero(x if x.ndim == 1 else x.any(axis=1))
        if len(some) > FEW * len(x):
            return self.absolute._dot(x)
        out = np.zeros_like(x)
        for h in range(len(self.counts)):
            mine = some[self.group[some] == h]
            for g, (rows, to_g) in enumerate(zip(self.members, self.rows)):
                a = self.view(h, g)
                if a is not None and len(mine):
                    out[rows] += (np.abs(a[self.index[mine]]).T @ x[mine])[to_g.index]
        return out

    def _block(self, i: Ints, j: Ints) -> Floats:
        out = np.zeros((len(i), len(j)))
        for g in range(len(self.counts)):
            for h in range(len(self.counts)):
                a, r, c = self.view(g, h), self.group[i] == g, self.group[j] == h
                if a is not None:
                    out[np.ix_(r, c)] = a[np.ix_(self.index[i[r]], self.index[j[c]])]
        return out

    def _diagonal(self) -> Floats:
        out = np.zeros(self.n_rows)
        for g, (members, rows) in enumerate(zip(self.members, self.rows)):
            a = self.view(g, g)
            if a is not None:
                out[members] = a.diagonal()[rows.index]
        return out


def _by_rows(a: Floats | None) -> Floats | None:
    """The same array with contiguous rows: a view where it can be."""
    if a is None or a.strides[1] == a.itemsize:
        return a
    return np.ascontiguousarray(a)
