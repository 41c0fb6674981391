"""Unpenalised terms: how the rows hold them, and what is left open where no row does.

A term c_k enters m = s f + B c. Rows with the same column of B, up to a sign, see one *edge*
e = B_i c. A row on a tread fixes its edge; rows at pins only bound it. An edge that no row fixes
lies anywhere between its bounds: the middle is returned. With as many edges as terms, c follows.

        C-SVM      b, one edge: b
        nu-SVR     b and d, two edges: b + d (the upper one) and b - d; one, b, when d = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .staircase import Floats, Ints

# Where the multipliers pull at a term with less than its cost, by more than this part of the cost,
# the term is at its lower end and stays there. Far above round-off, below what certificates see.
SLACK = 1e-10


@dataclass(frozen=True)
class Term:
    """An unpenalised coefficient: its column in m, its cost for a unit of weight, its lower end."""

    name: str
    column: Floats  # one entry a row
    cost: Any = 0.0  # may be affine in the moving parameter
    from_zero: bool = False  # whether it is >= 0


@dataclass(frozen=True)
class Bounds:
    """What each row asks of its own B_i c: between low and high, with equality where it is free."""

    low: Floats  # (rows, k)
    high: Floats
    free: Any

    def among(self, part: Any) -> Bounds:
        """Of some rows, in each column its own; the others ask for nothing."""
        low, high = np.where(part, self.low, -np.inf), np.where(part, self.high, np.inf)
        return Bounds(low, high, self.free & part)


@dataclass(frozen=True)
class Edges:
    """The edges of the terms whose columns are B."""

    B: Floats  # (rows, terms)

    @cached_property
    def patterns(self) -> tuple[Floats, Ints, Floats]:
        """Distinct rows of B up to a sign; which of them each row has; and the sign."""
        first = (self.B != 0).argmax(axis=1)
        sign = np.sign(self.B[np.arange(len(self.B)), first])
        rows = sign[:, None] * self.B
        if np.all(rows == rows[:1]):  # one edge, as nearly always: nothing to sort
            return rows[:1], np.zeros(len(rows), dtype=np.intp), sign
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        return distinct, which.reshape(-1), sign

    @cached_property
    def from_edges(self) -> Floats | None:
        """The matrix that gives c from its edges, where there are as many of them."""
        distinct = self.patterns[0]
        if distinct.shape[0] != distinct.shape[1]:
            return None
        return np.asarray(np.linalg.inv(distinct), dtype=np.float64)

    def fixed(self, free: Any) -> Any:
        """(edges, k): whether a row fixes the edge."""
        distinct, which, _ = self.patterns
        return np.array([free[which == g].any(axis=0) for g in range(len(distinct))])

    def bounds(self, edge: int, asked: Bounds) -> Bounds:
        """What the rows of an edge ask of it."""
        _, which, sign = self.patterns
        rows = which == edge
        up = (sign[rows] > 0)[:, None]
        low, high = asked.low[rows], asked.high[rows]
        return Bounds(np.where(up, low, -high), np.where(up, high, -low), asked.free[rows])

    def middle(self, traced: Floats, asked: Bounds) -> tuple[Floats, Floats]:
        """(terms, k) with each loose edge in the middle of its bounds, and (2, edges, k) bounds."""
        distinct = self.patterns[0]
        along = distinct @ traced
        ends = np.empty((2, *along.shape))
        for g in range(len(distinct)):
            b = self.bounds(g, asked)
            low, high = b.low.max(axis=0), b.high.min(axis=0)
            # One class alone bounds its edge on one side: there it ends as its rival's weight
            # vanishes.
            low, high = (
                np.where(np.isfinite(low), low, high),
                np.where(np.isfinite(high), high, low),
            )
            loose = ~b.free.any(axis=0) & (low <= high) & np.isfinite(low) & np.isfinite(high)
            ends[:, g] = np.where(loose, [low, high], along[g])
        assert self.from_edges is not None
        return self.from_edges @ ends.mean(axis=0), ends

    def interval(self, term: int, ends: Floats) -> Floats:
        """(2, k): between which values a term may lie, each edge within its own bounds."""
        assert self.from_edges is not None
        weight = self.from_edges[term][:, None]
        both = np.sort(weight * ends, axis=0)
        return both.sum(axis=1)

    def as_maxima(self, term: int, asked: Bounds, width: int) -> list[list[tuple[float, Floats]]]:
        """A term as a sum of maxima over rows, for every `width` columns; see `Problem.edges`."""
        parts = [slice(k, k + width) for k in range(0, asked.low.shape[1], width)]
        out: list[list[tuple[float, Floats]]] = [[] for _ in parts]
        assert self.from_edges is not None
        for g, weight in enumerate(map(float, self.from_edges[term])):
            b = self.bounds(g, asked)
            held = np.where(b.free, b.low, -np.inf) if b.free.any() else b.low
            for terms, p in zip(out, parts):
                if b.free[:, p].any():
                    terms.append((weight, held[:, p]))
                else:
                    terms += [(0.5 * weight, b.low[:, p]), (-0.5 * weight, -b.high[:, p])]
        return out
