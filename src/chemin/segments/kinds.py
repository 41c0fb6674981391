"""The kinds of segments: f at m points over a block of segments, in one coordinate u.

Places on segment j are told by s in [0, 1]: u = u0_j + s (u1_j - u0_j). Segments may run either
way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import chebyshev
from ._ends import positive
from .parts import Parts, bends

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
Summed = Callable[[Floats], Floats]  # f of shape (k, m) -> a weighted sum of losses, shape (k,)

# A segment is halved at most so often before a polynomial must do.
MOST_HALVINGS = 40
# How much nearer a pole may come on one part. With b = 1 - 1/1.7 it stays 1/b = 2.4 parts away from
# the beginning: 16 Chebyshev coefficients fall by 7.6 each, to 1e-13.
NEARER = 1.7


@dataclass(frozen=True)
class Coordinate:
    """The coordinate of segments: u = 1/parameter or u = parameter."""

    inverse: bool

    @property
    def to_infinity(self) -> bool:
        """Whether an infinite parameter is a finite u."""
        return self.inverse

    def to_u(self, values: ArrayLike) -> Floats:
        """u at values of the parameter; 1/0 is the largest number there is."""
        v = np.asarray(values, dtype=float)
        if not self.inverse:
            return v
        with np.errstate(divide="ignore"):
            return np.minimum(1.0 / v, np.finfo(float).max)

    def to_value(self, u: Floats) -> Floats:
        """The parameter at u."""
        return 1.0 / np.maximum(u, np.finfo(float).tiny) if self.inverse else u

    def follows(self, start: float, stop: float) -> bool:
        """Whether u grows on the way from start to stop."""
        return self.inverse == (stop <= start)


class Sides(NamedTuple):
    """Whether f > 0 at m points over pieces of segments, with u from u0 up to u1 on each."""

    u0: Floats  # (k,)
    u1: Floats  # (k,)
    first: Bools  # (k, m) right above u0
    last: Bools  # (k, m) right below u1
    piece: Ints  # (e,) where it changes inside a piece, once a point
    point: Ints  # (e,) whose
    u: Floats  # (e,) and where in it, of each point in order
    up: Bools  # (e,) the side from there on
    zero: bool  # whether f = 0 anywhere, or may be


class Segments(ABC):
    """f at m points on c segments.

    A kind must say `at`. `crossings` and `parts` follow from it, for any f that is smooth on each
    segment, by polynomials that are right to round-off; a kind with better formulas has its own.
    """

    u0: Floats  # (c,)
    u1: Floats  # (c,)

    def __len__(self) -> int:
        return len(self.u0)

    @abstractmethod
    def at(self, j: Ints, s: Floats) -> Floats:
        """f on segment j_k at place s_k: shape (k, m). At 0 and 1 the limit from inside."""

    def noise(self, j: Ints) -> Floats:
        """Round-off of f on segments: shape (k, m), or one number for all."""
        return np.zeros((1, 1))

    def u(self, j: Ints, s: Floats) -> Floats:
        """u at places; exactly that of a segment at its ends, so that neighbours meet."""
        u0, u1 = self.u0[j], self.u1[j]
        return np.where(s == 1, u1, u0 + s * (u1 - u0))

    # ------------------------------------------------------------------ where f passes a level

    def crossings(self, level: Floats) -> tuple[Ints, Floats]:
        """Where f_i passes level_i for any of the points i: segments and places, in any order.

        A place at which f touches its level without passing it may be among them.
        """
        found = [(np.empty(0, np.intp), np.empty(0))]
        for j, s0, s1, rows in self._resolved():
            shifted = rows.copy()
            shifted[:, :, 0] -= level
            # A polynomial cannot vanish where its mean is larger than all the rest.
            near = np.abs(shifted[..., 0]) <= np.abs(shifted[..., 1:]).sum(axis=-1)
            k, _ = np.nonzero(near)
            row, place = chebyshev.roots(shifted[near])
            k = k[row]
            found.append((j[k], s0[k] + place * (s1 - s0)[k]))
        return np.concatenate([a for a, _ in found]), np.concatenate([b for _, b in found])

    def _resolved(self) -> list[tuple[Any, ...]]:
        """f as polynomials: segments, their places from and to, coefficients (k, m, columns)."""

        def look(j: Ints, s0: Floats, s1: Floats) -> tuple[Floats, tuple[Floats]]:
            s = s0[:, None] + (s1 - s0)[:, None] * chebyshev.nodes()
            f = self.at(np.repeat(j, s.shape[1]), s.ravel())
            rows = chebyshev.fit(np.moveaxis(f.reshape(*s.shape, -1), 1, 2))
            size = np.maximum(np.abs(f).max(initial=0.0), self.noise(j) / chebyshev.RESOLVED)
            return chebyshev.roughness(rows, size).max(axis=1, initial=0.0), (rows,)

        every = np.arange(len(self), dtype=np.intp)
        return _refined((every, np.zeros(len(every)), np.ones(len(every))), look)

    def cut(self, levels: Sequence[Floats]) -> tuple[Ints, Floats, Floats]:
        """Segments cut wherever f_i passes level_i, for each of several levels of every point.

        Which segment, and from where to where on it.
        """
        return self._cut_at([self.crossings(level) for level in levels])

    def _cut_at(self, found: list[tuple[Ints, Floats]]) -> tuple[Ints, Floats, Floats]:
        """Segments cut at places, given as `crossings` gives them."""
        j = np.concatenate([np.arange(len(self)), *(k for k, _ in found)])
        s0 = np.concatenate([np.zeros(len(self)), *(s for _, s in found)])
        order = np.lexsort((s0, j))
        j, s0 = j[order], s0[order]
        last = np.append(j[1:] != j[:-1], True)
        s1 = np.where(last, 1.0, np.append(s0[1:], 1.0))
        some = s1 > s0
        return j[some], s0[some], s1[some]

    def sides(self) -> Sides:
        """On which side of 0 f is, over all segments."""
        j, s0, s1 = self.cut([np.zeros(1)])
        u0, u1 = np.sort([self.u(j, s0), self.u(j, s1)], axis=0)
        up, none = self.at(j, 0.5 * (s0 + s1)) > 0, np.empty(0, np.intp)
        return Sides(u0, u1, up, up, none, none, np.empty(0), np.empty(0, bool), True)

    def vanishes(self, j: Ints) -> Bools:
        """Points at which f = 0 on all of one of these segments: shape (m,)."""
        places = (self.at(j, np.full(len(j), s)) for s in (0.0, 0.5, 1.0))
        return np.asarray(np.logical_and.reduce([f == 0 for f in places]).any(axis=0))

    # ------------------------------------------------------------------ sums of losses

    def constant(self, levels: Sequence[Floats], loss: Summed) -> Parts:
        """A loss that is constant while no point passes a level."""
        j, s0, s1 = self.cut(levels)
        value = loss(self.at(j, 0.5 * (s0 + s1)))
        return Parts(self.u(j, s0), self.u(j, s1), value, value, np.zeros((len(j), 0)))

    def parts(self, levels: Sequence[Floats], loss: Summed, square: Floats | None = None) -> Parts:
        """A loss that is smooth in f while no point passes a level.

        Parameters
        ----------
        levels : sequence of arrays of shape (m,)
            Where the loss of each point has its kinks.
        loss : callable
            From f of shape (k, m) to the sum over the points, shape (k,).
        square : array of shape (m,) or None
            The loss is affine in f between levels; or quadratic, with these coefficients of f^2.
        """
        size = 0.0

        def look(j: Ints, s0: Floats, s1: Floats) -> tuple[Floats, tuple[Floats, ...]]:
            nonlocal size

            def value(s: Floats, k: Ints) -> Floats:
                return loss(self.at(j[k], s0[k] + s * (s1 - s0)[k]))

            f, noise = (self.at(j, s0), self.at(j, s1)), self.noise(j)
            left, right = map(loss, f)
            size = max(size, np.abs(left).max(initial=0.0), np.abs(right).max(initial=0.0))
            # What round-off of f does to the loss is no bend of it.
            jitter = np.max([np.abs(loss(x + noise) - loss(x - noise)) for x in f], axis=0)
            rows = bends(value, left, right)
            rough = chebyshev.roughness(rows, np.maximum(size, jitter / chebyshev.RESOLVED))
            return rough, (left, right, rows)

        return self._joined(_refined(self.cut(levels), look))

    def _joined(self, found: list[tuple[Any, ...]]) -> Parts:
        """Parts from what `_refined` has found: left, right and bend."""
        return Parts.join(
            [
                Parts(self.u(j, s0), self.u(j, s1), left, right, rows)
                for j, s0, s1, left, right, rows in found
            ]
        )


def _refined(
    cut: tuple[Ints, Floats, Floats],
    look: Callable[[Ints, Floats, Floats], tuple[Floats, tuple[Floats, ...]]],
) -> list[tuple[Any, ...]]:
    """Parts of segments, halved until they are smooth, and what `look` has found on them.

    `look` takes segments and their places from and to; it returns how rough they are, and arrays
    with one entry for each.
    """
    (j, s0, s1), out = cut, []
    before = np.full(len(j), np.inf)
    for halving in range(MOST_HALVINGS + 1):
        rough, found = look(j, s0, s1)
        done = chebyshev.is_resolved(rough, before) | (halving == MOST_HALVINGS)
        out.append((j[done], s0[done], s1[done], *(x[done] for x in found)))
        if done.all():
            break
        before = np.tile(rough[~done], 2)
        j, s0, s1 = _halved(j[~done], s0[~done], s1[~done])
    return out


def _halved(j: Ints, s0: Floats, s1: Floats) -> tuple[Ints, Floats, Floats]:
    middle = 0.5 * (s0 + s1)
    return np.tile(j, 2), np.concatenate([s0, middle]), np.concatenate([middle, s1])


@dataclass(frozen=True)
class Straight(Segments):
    """f is affine in u: f(s) = f0 + s (f1 - f0)."""

    u0: Floats  # (c,)
    u1: Floats  # (c,)
    f0: Floats  # (c, m), the limit from inside the segment
    f1: Floats  # (c, m)

    def at(self, j: Ints, s: Floats) -> Floats:
        f0 = self.f0[j]
        return f0 + s[:, None] * (self.f1[j] - f0)

    def crossings(self, level: Floats) -> tuple[Ints, Floats]:
        """s = (level - f0) / (f1 - f0) where the ends are on different sides."""
        r0, r1 = self.f0 - level, self.f1 - level
        j, i = np.nonzero((r0 > 0) != (r1 > 0))
        first, last = r0[j, i], r1[j, i]
        return j, first / (first - last)

    def sides(self) -> Sides:
        """From the ends: on most segments f passes 0 nowhere."""
        first, last, found, zero = positive(self.f0, self.f1)
        back = self.u0 > self.u1
        j, i = np.divmod(found, first.shape[1])
        f0 = self.f0[j, i]
        u = self.u(j, f0 / (f0 - self.f1[j, i]))
        if not back.any():
            return Sides(self.u0, self.u1, first, last, j, i, u, last[j, i], zero)
        turned = back[:, None]
        u0, u1 = np.sort([self.u0, self.u1], axis=0)
        low, high = np.where(turned, last, first), np.where(turned, first, last)
        return Sides(u0, u1, low, high, j, i, u, high[j, i], zero)

    def vanishes(self, j: Ints) -> Bools:
        """At both ends of one of these segments."""
        zero = self.f0 == 0
        if not zero.any():
            return np.zeros(zero.shape[1], bool)
        return np.asarray((zero & (self.f1 == 0))[j].any(axis=0))

    def parts(self, levels: Sequence[Floats], loss: Summed, square: Floats | None = None) -> Parts:
        """Affine, or quadratic with bend = sum square (f1 - f0)^2."""
        u0, u1, f0, f1 = self.u0, self.u1, self.f0, self.f1
        if len(levels):
            j, s0, s1 = self.cut(levels)
            u0, u1, f0, f1 = self.u(j, s0), self.u(j, s1), self.at(j, s0), self.at(j, s1)
        bend = np.zeros((len(u0), 0)) if square is None else ((f1 - f0) ** 2 @ square)[:, None]
        return Parts(u0, u1, loss(f0), loss(f1), bend)


class Told(Straight):
    """Straight segments one after the other, u growing, whose sides of 0 are known.

    f = g u, which is worked out where it is asked for: on most segments its side is all that is.
    """

    g: Floats  # (k + 1, m), at the ends of k segments
    ends: Floats  # (k + 1,) their u
    up: Bools  # (k + 1, m) whether f > 0
    some: Any  # those of the segments that count

    def __init__(self, g: Floats, u: Floats, up: Bools, some: Bools) -> None:
        known = {"g": g, "ends": u, "up": up, "some": slice(None) if some.all() else some}
        for name, value in known.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "u0", u[:-1][self.some])
        object.__setattr__(self, "u1", u[1:][self.some])

    @cached_property
    def f0(self) -> Floats:
        return self.g[:-1][self.some] * self.u0[:, None]

    @cached_property
    def f1(self) -> Floats:
        return self.g[1:][self.some] * self.u1[:, None]

    def sides(self) -> Sides:
        first, last = self.up[:-1][self.some], self.up[1:][self.some]
        j, i = np.divmod(np.flatnonzero(first != last), first.shape[1])
        row = np.arange(len(self.ends) - 1)[self.some][j]
        f0, f1 = (self.g[k, i] * self.ends[k] for k in (row, row + 1))
        u = self.u(j, f0 / (f0 - f1))
        return Sides(self.u0, self.u1, first, last, j, i, u, last[j, i], False)

    def vanishes(self, j: Ints) -> Bools:
        """Nowhere: f is told from 0."""
        return np.zeros(self.up.shape[1], bool)


@dataclass(frozen=True)
class Bounded:
    """Segments one after the other, u growing, of which the sides of 0 alone are known."""

    ends: tuple[float, float]
    first: Bools  # (m,) whether f > 0 at the first end
    last: Bools  # (m,) and at the last
    point: Ints  # (e,) which changes its side
    u: Floats  # (e,) where, of each point in order
    up: Bools  # (e,) the side from there on

    def sides(self) -> Sides:
        """All of them as one piece."""
        u0, u1 = (np.array([u]) for u in self.ends)
        piece = np.zeros(len(self.point), np.intp)
        first, last = self.first[None], self.last[None]
        return Sides(u0, u1, first, last, piece, self.point, self.u, self.up, False)


@dataclass(frozen=True)
class Projective(Segments):
    """f goes straight from f0 to f1, at a pace that is a ratio of affine functions of u:

    f(s) = f0 + pace (f1 - f0),      pace = s (1 - bend) / (1 - s bend)
    """

    u0: Floats  # (c,)
    u1: Floats  # (c,)
    f0: Floats  # (c, m)
    f1: Floats  # (c, m)
    bend: Floats  # (c,), below 1

    def at(self, j: Ints, s: Floats) -> Floats:
        bend, f0 = self.bend[j], self.f0[j]
        pace = s * (1.0 - bend) / (1.0 - s * bend)
        return f0 + pace[:, None] * (self.f1[j] - f0)

    def crossings(self, level: Floats) -> tuple[Ints, Floats]:
        """At the pace (level - f0) / (f1 - f0), where the ends are on different sides."""
        j, pace = Straight(self.u0, self.u1, self.f0, self.f1).crossings(level)
        return j, pace / (1.0 - self.bend[j] * (1.0 - pace))

    def parts(self, levels: Sequence[Floats], loss: Summed, square: Floats | None = None) -> Parts:
        """A quadratic of the pace between two values, with b the segment's own bend:

        bend(s) = (right - left) b / (1 - s b) + (sum square (f1 - f0)^2) (1 - b) / (1 - s b)^2
        """
        if len(levels) or square is None:
            return super().parts(levels, loss, square)
        first, last = loss(self.f0), loss(self.f1)
        bent, size = (self.f1 - self.f0) ** 2 @ square, max(first.max(), last.max())

        def look(j: Ints, s0: Floats, s1: Floats) -> tuple[Floats, tuple[Floats, ...]]:
            b = self.bend[j]
            p0, p1 = (s * (1.0 - b) / (1.0 - s * b) for s in (s0, s1))
            left, right = (
                first[j] * (1 - p) + last[j] * p - bent[j] * p * (1 - p) for p in (p0, p1)
            )
            b = ((s1 - s0) * b / (1.0 - s0 * b))[:, None]  # of the part between them
            left_over = 1.0 - chebyshev.nodes() * b
            rows = (right - left)[:, None] * b / left_over
            rows += (bent[j] * (p1 - p0) ** 2)[:, None] * (1.0 - b) / left_over**2
            rows = chebyshev.fit(rows)
            return chebyshev.roughness(rows, size), (left, right, rows)

        return self._joined(_refined(self._divided(), look))

    def _divided(self) -> tuple[Ints, Floats, Floats]:
        """Segments cut so that 1 - s bend, the distance of the pole, changes by NEARER at most."""
        left = np.log1p(-self.bend)  # log of what is left of the distance at the end
        count = np.maximum(np.ceil(np.abs(left) / np.log(NEARER)).astype(np.intp), 1)
        j = np.repeat(np.arange(len(count)), count)
        place = np.arange(len(j)) - np.repeat(np.cumsum(count) - count, count)
        bend = self.bend[j]
        with np.errstate(invalid="ignore"):
            s0 = np.where(place == 0, 0.0, -np.expm1(left[j] * place / count[j]) / bend)
        last = np.append(place[1:] == 0, True)
        return j, s0, np.where(last, 1.0, np.append(s0[1:], 1.0))


@dataclass(frozen=True)
class Curved(Segments):
    """f is smooth in u: on segment j it is the function inside[j] of s, shape (k,) to (k, m)."""

    u0: Floats  # (c,)
    u1: Floats  # (c,)
    inside: Sequence[Callable[[Floats], Floats]]
    round_off: Floats  # (c, m)

    def noise(self, j: Ints) -> Floats:
        return self.round_off[j]

    def at(self, j: Ints, s: Floats) -> Floats:
        out = np.empty((len(j), self.round_off.shape[1]))
        for k in np.unique(j):
            here = j == k
            out[here] = self.inside[k](s[here])
        return out


def f_at(blocks: Iterable[Segments], u: Floats) -> Floats:
    """f at each u, one row each, from adjoining segments in any order and of any kind.

    Where two of them meet, the one with the larger u counts; beyond them all f is constant.
    """
    known = list(blocks)
    which = np.repeat(np.arange(len(known)), [len(block) for block in known])
    number = np.concatenate([np.arange(len(block)) for block in known])
    u0, u1 = (np.concatenate([getattr(block, name) for block in known]) for name in ("u0", "u1"))
    low = np.minimum(u0, u1)
    order = np.argsort(low)
    order = order[(u0 != u1)[order]]  # ends that only the parameter tells apart
    u = np.clip(u, low.min(), np.maximum(u0, u1).max())
    k = order[np.searchsorted(low[order], u, "right") - 1]
    s = np.clip((u - u0[k]) / (u1[k] - u0[k]), 0.0, 1.0)
    parts = {b: np.flatnonzero(which[k] == b) for b in np.unique(which[k])}
    rows = np.concatenate([known[b].at(number[k[here]], s[here]) for b, here in parts.items()])
    out = np.empty_like(rows)
    out[np.concatenate(list(parts.values()))] = rows
    return out


__all__ = ["Coordinate", "Curved", "Projective", "Segments", "Straight", "f_at"]
