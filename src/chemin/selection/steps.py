"""Labels that change at known places: those of m points over a path, and their 0/1 error.

The error is piecewise constant, and it is counted: what has changed since the first place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..segments import Bounded, Segments
from .piecewise import Floats, Ints, Piecewise

# Events that are tied lie apart by round-off, some 1e-15 of their place, and by more where the
# system is nearly singular. What is shorter than this part of its place is no stretch.
STRETCH = 1e-10
# Errors of so many different weights are counted one by one: nothing is left of round-off.
MOST_GROUPS = 64


@dataclass(frozen=True)
class LabelSteps:
    """Labels of m points between two ends of u: those at the first, and every change."""

    first: Ints  # (m,)
    u: Floats  # (e,) where a label changes
    point: Ints  # (e,) whose, ascending; of each point in the order of u
    label: Ints  # (e,) what it is from there on
    ends: tuple[float, float]
    undecided: int = 0  # points with f = 0, to round-off, on a whole stretch

    def error(self, y: Ints, omega: Floats) -> Piecewise:
        """The sum of omega_i over the points whose label is not y_i."""
        wrong = self.label != y[self.point]
        start = self.first != y
        new = np.append(True, self.point[1:] != self.point[:-1])[: len(wrong)]
        before = np.where(new, start[self.point], np.append(False, wrong)[: len(wrong)])
        some = (wrong != before) & (self.u > self.ends[0]) & (self.u < self.ends[1])
        early = (wrong != before) & (self.u <= self.ends[0])
        start = start.copy()
        np.logical_xor.at(start, self.point[early], True)
        order = np.flatnonzero(some)[np.argsort(self.u[some], kind="stable")]
        sums = _running(start, self.point[order], wrong[order], omega)
        knots = np.concatenate([self.ends[:1], self.u[order], self.ends[1:]])
        wide = np.diff(knots) > 0
        return Piecewise.steps(np.append(knots[:-1][wide], knots[-1]), sums[wide])


def _running(start: NDArray[np.bool_], point: Ints, wrong: Any, omega: Floats) -> Floats:
    """The weighted number of errors at first and after each change."""
    values, group = np.unique(omega, return_inverse=True)
    change = np.where(wrong, 1, -1)
    if len(values) > MOST_GROUPS:
        total = float(omega @ start) + np.cumsum(np.append(0.0, change * omega[point]))
        return np.maximum(total, 0.0)
    counts = np.zeros((len(point) + 1, len(values)), np.int64)
    counts[0] = np.bincount(group, start, len(values))
    counts[np.arange(1, len(point) + 1), group[point]] = change
    return np.asarray(np.cumsum(counts, axis=0) @ values)


# ---------------------------------------------------------------------- the sign of f


@dataclass(frozen=True)
class Signs:
    """Whether f > 0 at each point: at the first u, and every change, point after point."""

    first: NDArray[np.bool_]  # (m,)
    u: Floats  # (e,)
    point: Ints  # (e,) ascending
    up: NDArray[np.bool_]  # (e,) what it is from there on
    ends: tuple[float, float]
    undecided: NDArray[np.bool_]  # (m,) f = 0, to round-off, on a whole stretch

    def steps(self) -> LabelSteps:
        """As labels, 1 for f > 0 and 0 for the others."""
        first, label = self.first.astype(np.intp), self.up.astype(np.intp)
        undecided = int(np.count_nonzero(self.undecided))
        return LabelSteps(first, self.u, self.point, label, self.ends, undecided)


def signs(blocks: Iterable[Segments | Bounded], u_start: float, m: int) -> Signs:
    """The sign of f at m points over a path, which starts at `u_start`."""
    found, undecided = [], np.zeros(m, bool)
    for block in blocks:
        found.append(sides := block.sides())
        if isinstance(block, Segments) and sides.zero:
            undecided |= _vanishes(block, u_start)
    begin = np.cumsum([0, *(len(sides.u0) for sides in found)])
    inside = np.concatenate([sides.piece + at for at, sides in zip(begin, found)])
    every = list(zip(*found))[:-1]
    u0, u1, first, last, _, point, u, up = (np.concatenate(column) for column in every)
    order = np.argsort(u0, kind="stable")
    order = order[(u0 < u1)[order]]  # others are told apart by the parameter alone
    place = np.full(len(u0), -1)
    place[order] = np.arange(len(order))
    some = place[inside] >= 0
    inside, point, u, up = place[inside][some], point[some], u[some], up[some]
    ends = float(u0[order[0]]), float(u1[order].max())
    u0, first, last = u0[order], first[order], last[order]
    met = np.flatnonzero((first[1:] != last[:-1]).any(axis=1)) + 1  # from the piece before
    row, other = np.nonzero(first[met] != last[met - 1])
    row = met[row]
    point, u = np.concatenate([other, point]), np.concatenate([u0[row], u])
    up = np.concatenate([first[row, other], up])
    order = np.lexsort((np.concatenate([2 * row, 2 * inside + 1]), point))
    return Signs(first[0], u[order], point[order], up[order], ends, undecided)


def _vanishes(block: Segments, u_start: float) -> NDArray[np.bool_]:
    """Points whose sign is told on a whole stretch by what counts as f = 0 alone.

    A stretch is told from round-off by the place where the path starts, too.
    """
    largest = np.maximum(np.maximum(np.abs(block.u0), np.abs(block.u1)), u_start)
    every = np.flatnonzero(np.abs(block.u1 - block.u0) > STRETCH * largest)
    return block.vanishes(every) if len(every) else np.zeros(1, bool)


__all__ = ["LabelSteps", "Signs", "signs"]
