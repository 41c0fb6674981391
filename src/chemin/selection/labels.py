"""The label of each test point over a whole path of several classes, and its error.

Labels are constant between the values at which a problem's f passes 0 (votes of pairs), or at which
the f of two classes meet (the largest wins): the 0/1 error is piecewise constant, with jumps that
are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..segments import Segments
from .classes import Coding, first_largest, room
from .piecewise import Floats, Ints
from .steps import LabelSteps, signs

# So near an end of an interval, as a part of it, f tells who wins there: at the very end two may
# be equal, as all but one are at lambda = infinity.
NEAR = 1e-9
# Intervals between knots looked at together, and segments times test points kept at once.
CHUNK = 256
ROOM = 1e7


# ---------------------------------------------------------------------- votes of pairs


def by_votes(
    coding: Coding, problems: Sequence[tuple[Iterable[Segments], float] | float], m: int
) -> LabelSteps:
    """Labels from f of every pair: its segments and the u of its start, or one f for all."""
    up, ends, undecided = np.zeros((m, len(coding)), bool), (0.0, np.inf), np.zeros(m, bool)
    found: list[tuple[Floats, Ints, Ints, NDArray[np.bool_]]] = []
    for k, blocks in enumerate(problems):
        if isinstance(blocks, float):
            up[:, k] = blocks > 0
            continue
        pieces = signs(*blocks, m)
        up[:, k], undecided = pieces.first, undecided | pieces.undecided
        found.append((pieces.u, pieces.point, np.full(len(pieces.u), k), pieces.up))
        ends = max(ends[0], pieces.ends[0]), min(ends[1], pieces.ends[1])
    u, point, problem, turned = (np.concatenate(column) for column in zip(*found))
    order = np.lexsort((u, point))
    u, point, problem, turned = u[order], point[order], problem[order], turned[order]
    votes = coding.votes(np.where(up, 1.0, -1.0)).astype(np.int32)
    change = np.cumsum(coding.change[problem] * np.where(turned, 1, -1)[:, None], axis=0)
    begin = np.searchsorted(point, point)  # the first change of the same point
    before = np.concatenate([np.zeros((1, coding.n_classes), np.int32), change])[begin]
    label = np.argmax(votes[point] + change - before, axis=1)
    # Of changes at one u the last tells.
    last = np.append((point[1:] != point[:-1]) | (u[1:] != u[:-1]), True)[: len(u)]
    first = np.argmax(votes, axis=1)
    return LabelSteps(first, u[last], point[last], label[last], ends, int(undecided.sum()))


# ---------------------------------------------------------------------- the largest f


@dataclass(frozen=True)
class _Lines:
    """f at m points, affine between knots: one row a segment."""

    u0: Floats
    u1: Floats
    f0: Floats
    f1: Floats

    @classmethod
    def of(cls, blocks: Iterable[Any]) -> _Lines:
        """From straight segments in any order and direction."""
        known = list(blocks)
        u0, u1, f0, f1 = (
            np.concatenate([getattr(block, name) for block in known])
            for name in ("u0", "u1", "f0", "f1")
        )
        back = u0 > u1
        low, high = np.where(back, u1, u0), np.where(back, u0, u1)
        left = np.where(back[:, None], f1, f0)
        right = np.where(back[:, None], f0, f1)
        order = np.argsort(low, kind="stable")
        order = order[(high > low)[order]]
        return cls(low[order], high[order], left[order], right[order])

    def between(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """f near both ends of intervals, each within one segment (or beyond all)."""
        j = np.clip(np.searchsorted(self.u0, 0.5 * (a + b), "right") - 1, 0, len(self.u0) - 1)
        start, width, f0 = self.u0[j], self.u1[j] - self.u0[j], self.f0[j]
        slope = self.f1[j] - f0
        s = (np.clip((u - start) / width, 0.0, 1.0)[:, None] for u in (a, b))
        first, last = (f0 + place * slope for place in s)
        return first, last


def by_largest(
    coding: Coding, problems: Sequence[Iterable[Any] | float], within: Callable[[Floats], Floats]
) -> LabelSteps:
    """Labels from f of every class, affine between knots: the upper envelope of lines.

    `within` tells at each u which differences of f are round-off.
    """
    present = [k for k, blocks in enumerate(problems) if not isinstance(blocks, float)]
    lines = [_Lines.of(problems[k]) for k in present]  # type: ignore[arg-type]
    ends = max(line.u0[0] for line in lines), min(line.u1[-1] for line in lines)
    knots = np.unique(np.concatenate([line.u0 for line in lines]))
    knots = np.concatenate([ends[:1], knots[(knots > ends[0]) & (knots < ends[1])], ends[1:]])
    now, found = np.empty(0, np.intp), []
    for k in range(0, len(knots) - 1, CHUNK):
        some = knots[k : k + CHUNK + 1]
        pairs = [line.between(some[:-1], some[1:]) for line in lines]
        f0, f1 = (np.stack(f, axis=-1) for f in zip(*pairs))
        near, equal = NEAR * (f1 - f0), within(some)[:, None, None]
        left = first_largest(f0 + near, equal[:-1])
        right = first_largest(f1 - near, equal[1:])
        if k == 0:
            now = first = left[0]
        found.append(_at_knots(np.vstack([now, right[:-1]]), left, some))
        found.append(_inside(f0, f1, left, right, some, within(some)))
        now = right[-1]
    u, point, label = (np.concatenate(column) for column in zip(*found))
    order = np.lexsort((u, point))
    names = np.array(present)
    return LabelSteps(names[first], u[order], point[order], names[label[order]], ends)


def _at_knots(before: Ints, after: Ints, knots: Floats) -> tuple[Floats, Ints, Ints]:
    """Changes where intervals meet: an intercept may jump."""
    j, point = np.nonzero(before != after)
    return knots[j], point, after[j, point]


def _inside(
    f0: Floats, f1: Floats, left: Ints, right: Ints, knots: Floats, within: Floats
) -> tuple[Floats, Ints, Ints]:
    """Changes within intervals, from the winner at the left end to that at the right end.

    Of lines that end above it the first to be met takes over. Of those that meet together the
    highest at the right end is on top from there on, and of equals the first.
    """
    j, point = np.nonzero(left != right)
    f0, f1 = f0[j, point], f1[j, point]
    here, goal, s = left[j, point], right[j, point], np.zeros(len(j))
    out: list[tuple[Floats, Ints, Ints]] = [(np.empty(0), np.empty(0, np.intp), here[:0])]
    while len(j):
        each, slope = here[:, None], f1 - f0
        ahead, rise = (x - np.take_along_axis(x, each, 1) for x in (f1, slope))
        equal = within[j + 1][:, None]  # u grows, and round-off with it
        above = (ahead > room(np.take_along_axis(f1, each, 1), equal)) & (rise > 0)
        meet = np.full_like(f0, np.inf)
        np.divide(np.take_along_axis(f0, each, 1) - f0, rise, out=meet, where=above)
        meet = np.maximum(meet, s[:, None])
        # Where round-off leaves no line to meet, the goal is met at the right end.
        lost = ~(meet.min(axis=1) <= 1.0)
        s = np.where(lost, 1.0, meet.min(axis=1))
        f = f0 + s[:, None] * slope
        on_top = np.take_along_axis(f, each, 1)
        met = above & (f >= on_top - room(on_top, equal))
        here = np.where(lost, goal, first_largest(np.where(met, f1, -np.inf), equal))
        out.append((knots[j] + s * np.diff(knots)[j], point, here))
        on = here != goal
        j, point, f0, f1, goal = j[on], point[on], f0[on], f1[on], goal[on]
        here, s = here[on], s[on]
    u, whose, label = (np.concatenate(column) for column in zip(*out))
    return u, whose, label


__all__ = ["LabelSteps", "by_largest", "by_votes"]
