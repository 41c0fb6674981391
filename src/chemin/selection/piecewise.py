"""Functions that are smooth on each of many pieces, kept by values so that nothing cancels.

On a piece, with s running from 0 at its left end to 1 at its right end,

    value(s) = left (1 - s) + right s - s (1 - s) bend(s)

bend is a polynomial: a constant where the function is quadratic, none where it is affine (see
`segments.parts`). Neighbours need not meet: a step is a jump between the right end of one piece
and the left end of the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..segments import Parts, chebyshev
from ..segments.parts import reversed_bend, straightened, widened

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

# Jumps of several functions at one place lie apart by round-off: seen from so far beside, relative,
# all have happened. What is smaller than the second number, relative, is no jump.
BESIDE, JUMP = 1e-11, 1e-9
TOGETHER = 16  # functions that are added up at once
# Columns of a bend below this part of the values at a piece's ends are lost in them. Parts of
# pieces with up to so many columns above it are refitted with no more of them.
ROUND_OFF = 1e-16
FEWER_COLUMNS = (4, 6, 8, 11)


@dataclass(frozen=True)
class Piecewise:
    """left, right and bend on the pieces between consecutive knots; constant outside."""

    knots: Floats  # (m + 1,) ascending
    left: Floats  # (m,)
    right: Floats  # (m,)
    bend: Floats  # (m, columns): Chebyshev coefficients

    @classmethod
    def assemble(cls, parts: Parts) -> Piecewise:
        """From adjoining parts in any order and direction; those of no length are dropped."""
        back = parts.u0 > parts.u1
        first = np.minimum(parts.u0, parts.u1)
        order = np.argsort(first, kind="stable")
        order = order[(parts.u0 != parts.u1)[order]]
        knots = np.append(first[order], max(parts.u0[order[-1]], parts.u1[order[-1]]))
        left, right = parts.left, parts.right
        if back.any():
            left, right = np.where(back, right, left), np.where(back, left, right)
        bend = reversed_bend(parts.bend, back)
        return cls(knots, left[order], right[order], bend[order])

    @classmethod
    def through(cls, knots: Floats, values: Floats) -> Piecewise:
        """Straight lines from knot to knot."""
        return cls(knots, values[:-1], values[1:], np.zeros((len(knots) - 1, 0)))

    @classmethod
    def steps(cls, knots: Floats, values: Floats) -> Piecewise:
        """A constant on each piece."""
        return cls(knots, values, values, np.zeros((len(values), 0)))

    @property
    def is_quadratic(self) -> bool:
        """Whether every piece is quadratic, affine or constant: closed forms hold."""
        return self.bend.shape[1] <= 1

    # ------------------------------------------------------------------ values

    def __call__(self, u: ArrayLike, *, before: bool = True) -> Floats:
        """Values at u; at a jump that of the piece before it, or of the piece after it."""
        u = np.asarray(u, dtype=float)
        side = "left" if before else "right"
        j = np.searchsorted(self.knots, u, side=side) - 1  # type: ignore[call-overload]
        j = np.clip(j, 0, len(self.left) - 1)
        return self.on_piece(j, self._place(j, u))

    def _place(self, j: Ints, u: Floats) -> Floats:
        start = self.knots[j]
        return np.clip((u - start) / (self.knots[j + 1] - start), 0.0, 1.0)

    def _bend(self, j: Ints, s: Floats) -> Floats:
        if self.bend.shape[1] == 0:
            return np.zeros(np.shape(s))
        if self.bend.shape[1] == 1:
            return self.bend[j, 0]
        return chebyshev.evaluate(self.bend[j.ravel()], s.ravel()).reshape(s.shape)

    def on_piece(self, j: Ints, s: Floats) -> Floats:
        """The value at places s of pieces j."""
        return self.left[j] * (1 - s) + self.right[j] * s - self._bend(j, s) * s * (1 - s)

    def on(self, knots: Floats) -> Piecewise:
        """The same function on finer knots, or cut to theirs."""
        return Piecewise(knots, *self._between(self._pieces_on(knots), knots[:-1], knots[1:]))

    def _pieces_on(self, knots: Floats) -> Ints:
        """Which piece lies between consecutive knots; the first or last where none does."""
        middle = 0.5 * (knots[:-1] + knots[1:])
        j = np.searchsorted(self.knots, middle) - 1
        return np.minimum(np.maximum(j, 0), len(self.left) - 1)

    def _between(self, j: Ints, first: Floats, last: Floats) -> tuple[Floats, Floats, Floats]:
        """left, right and bend of parts of pieces j, each between two places u."""
        s0, s1 = self._place(j, first), self._place(j, last)
        k, s = np.tile(j, 2), np.concatenate([s0, s1])
        below = self._bend(k, s) * s * (1 - s)  # the chord
        left, right = (self.left[k] * (1 - s) + self.right[k] * s - below).reshape(2, -1)
        if self.is_quadratic:
            return left, right, self.bend[j] * ((s1 - s0) ** 2)[:, None]
        return left, right, self._refitted(j, s0, s1, *below.reshape(2, -1))

    def _refitted(self, j: Ints, s0: Floats, s1: Floats, g0: Floats, g1: Floats) -> Floats:
        """The bend between two places of a piece: a polynomial of the degree that it has there.

        With s = s0 + x (s1 - s0) and g(s) = s (1 - s) bend(s), which is g0 and g1 at the two
        places, it is g less its chord between them, over -x (1 - x).
        """
        out, part = self.bend[j], (s0 > 0) | (s1 < 1)
        out[part] = 0.0
        columns = np.where(part, self._columns(j, s1 - s0), -1)
        degrees = (*(n for n in FEWER_COLUMNS if n < self.bend.shape[1]), self.bend.shape[1])
        for fewer, n in zip((-1, *degrees), degrees):
            some = np.flatnonzero((columns > fewer) & (columns <= n))
            if len(some) == 0:
                continue
            x = chebyshev.nodes(n)
            s = s0[some, None] + (s1 - s0)[some, None] * x
            g = chebyshev.evaluate_many(self.bend[j[some]], s) * s * (1 - s)
            out[some, :n] = -chebyshev.fit(straightened(x, g0[some, None], g1[some, None], g))
        return out

    def _columns(self, j: Ints, width: Floats) -> Ints:
        """How many columns a part of piece j of some width needs: others are lost in its values."""
        size, out = np.maximum(np.abs(self.left), np.abs(self.right)), np.zeros(len(j), np.intp)
        halvings = chebyshev.halvings(width)
        for h in np.unique(halvings):
            some = np.flatnonzero(halvings == h)
            sizes = np.abs(self.bend) @ chebyshev.narrowed(self.bend.shape[1], int(h))
            out[some] = chebyshev.columns_above(sizes, ROUND_OFF * size)[j[some]]
        return out

    def jumps(self, u: float) -> bool:
        """Whether there is a jump at u, or so near to it that round-off may have moved it there.

        What round-off puts between the jumps of a sum is not looked at.
        """
        first, last = sorted((u * (1.0 - BESIDE), u * (1.0 + BESIDE)))
        if last <= self.knots[0] or first >= self.knots[-1]:
            return False
        sides = self(np.array([first, last]))
        return bool(abs(sides[1] - sides[0]) > JUMP * np.abs(sides).max())

    # ------------------------------------------------------------------ sums

    def __mul__(self, factor: float) -> Piecewise:
        return Piecewise(self.knots, factor * self.left, factor * self.right, factor * self.bend)

    def stretched(self, factor: float) -> Piecewise:
        """The same values, at `factor` times the u."""
        return Piecewise(factor * self.knots, self.left, self.right, self.bend)

    def __add__(self, other: Piecewise) -> Piecewise:
        return _sum([self, other])

    def joined(self, other: Piecewise) -> Piecewise:
        """This function, and another that begins (or ends) where it ends (or begins)."""
        a, b = (self, other) if self.knots[0] <= other.knots[0] else (other, self)
        width = max(a.bend.shape[1], b.bend.shape[1])
        return Piecewise(
            np.concatenate([a.knots[:-1], b.knots]),
            np.concatenate([a.left, b.left]),
            np.concatenate([a.right, b.right]),
            np.concatenate([widened(a.bend, width), widened(b.bend, width)]),
        )

    def without_repetitions(self) -> Piecewise:
        """Neighbours with one and the same constant become one piece."""
        constant = (self.left == self.right) & ~self.bend.any(axis=1)
        same = constant[1:] & constant[:-1] & (self.left[1:] == self.left[:-1])
        if not same.any():
            return self
        keep = np.concatenate([[True], ~same])
        knots = np.append(self.knots[:-1][keep], self.knots[-1])
        return Piecewise(knots, self.left[keep], self.right[keep], self.bend[keep])

    # ------------------------------------------------------------------ minima and levels

    def lowest(self, most: float = np.inf) -> tuple[Floats, Floats]:
        """The minimum of each piece, and its u; of its ends where a piece stays above `most`."""
        quadratic = self.is_quadratic
        value, s = self._lowest_of_quadratics() if quadratic else self._lowest_of_any(most)
        return value, self.knots[:-1] + s * np.diff(self.knots)

    def _lowest_of_quadratics(self) -> tuple[Floats, Floats]:
        """At s = (bend + left - right) / (2 bend) where that is inside; at an end elsewhere."""
        s = np.where(self.right < self.left, 1.0, 0.0)
        value = np.minimum(self.left, self.right)
        if self.bend.shape[1] == 0:
            return value, s
        bend = self.bend[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = 0.5 + 0.5 * (self.left - self.right) / bend
        convex = (bend > 0) & (inside > 0) & (inside < 1)
        vertex = self.left - bend * np.where(convex, inside, 0.0) ** 2
        return np.where(convex, vertex, value), np.where(convex, inside, s)

    def _lowest_of_any(self, most: float) -> tuple[Floats, Floats]:
        """At an end or where the derivative vanishes, whichever is lower.

        Roots are dear, and few pieces are low enough to be worth them.
        """
        ends = np.minimum(self.left, self.right)
        deep = np.flatnonzero(ends - self._depth <= most)
        row, s = chebyshev.roots(chebyshev.derivative(self._polynomials(deep)))
        every = np.arange(len(self.left))
        j = np.concatenate([every, every, deep[row]])
        s = np.concatenate([np.zeros(len(every)), np.ones(len(every)), s])
        value = self.on_piece(j, s)
        first = np.lexsort((value, j))
        first = first[np.searchsorted(j[first], every)]
        return value[first], s[first]

    def _polynomials(self, j: Ints) -> Floats:
        """Chebyshev coefficients of the values on pieces j."""
        left, right, bend = self.left[j], self.right[j], self.bend[j]
        out = bend @ chebyshev.times_bump(bend.shape[1])
        out[:, 0] += 0.5 * (left + right)
        out[:, 1] += 0.5 * (right - left)
        return np.asarray(out)

    def highest(self) -> Floats:
        """A bound from above on the values of each piece, and on how far they fall below it."""
        return np.maximum(self.left, self.right) + self._depth

    @property
    def _depth(self) -> Floats:
        """How far a piece may be from its chord: s (1 - s) is a quarter at the most."""
        return 0.25 * np.abs(self.bend).sum(axis=1)

    def below(self, most: float, among: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Intervals of u, each within one of the pieces `among`, with values of at most `most`."""
        j, s = self._below_of_quadratics(most) if self.is_quadratic else self._below_of_any(most)
        j, s = j[among[j]], s[:, among[j]]
        start, width = self.knots[j], np.diff(self.knots)[j]
        return start + s[0] * width, start + s[1] * width

    def _below_of_quadratics(self, most: float) -> tuple[Ints, Floats]:
        j = np.flatnonzero(self.lowest()[0] <= most)
        bend = self.bend[j, 0] if self.bend.shape[1] else np.zeros(len(j))
        return j, _where_below(self.left[j], self.right[j], bend, most)

    def _below_of_any(self, most: float) -> tuple[Ints, Floats]:
        """Between roots of value = most, where the middle is low enough; and the minima alone."""
        every = np.arange(len(self.left))
        reached = np.minimum(self.left, self.right) - self._depth <= most
        crossed = np.flatnonzero(reached & (self.highest() >= most))
        rows = self._polynomials(crossed)
        rows[:, 0] -= most
        row, s = chebyshev.roots(rows)
        j = np.concatenate([every, every, crossed[row]])
        s = np.concatenate([np.zeros(len(every)), np.ones(len(every)), s])
        order = np.lexsort((s, j))
        j, s = j[order], s[order]
        inner = np.flatnonzero(j[1:] == j[:-1])
        good = self.on_piece(j[inner], 0.5 * (s[inner] + s[inner + 1])) <= most
        value, u = self.lowest(most)
        deep = np.flatnonzero(value <= most)
        place = self._place(deep, u[deep])
        first, last = s[inner[good]], s[inner[good] + 1]
        ends = np.array([np.concatenate([first, place]), np.concatenate([last, place])])
        return np.concatenate([j[inner[good]], deep]), ends


def _where_below(left: Floats, right: Floats, bend: Floats, most: float) -> Floats:
    """Ends of {s in [0, 1]: left (1 - s) + right s - bend s (1 - s) <= most}, shape (2, pieces).

    bend >= 0, so it is an interval; where it is not all of [0, 1] its ends are roots.
    """
    a, b, c = bend, right - left - bend, left - most
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
        q = -0.5 * (b + np.where(b >= 0, root, -root))
        roots = np.sort(np.array([q / a, c / q]), axis=0)
        single = -c / b
    straight = bend <= np.finfo(float).eps * np.abs(b)
    low = np.where(left <= most, 0.0, np.where(straight, single, roots[0]))
    high = np.where(right <= most, 1.0, np.where(straight, single, roots[1]))
    return np.clip(np.nan_to_num([low, high]), 0.0, 1.0)


def total(functions: Sequence[Piecewise]) -> Piecewise:
    """Their sum, a few at a time: sums of many have many knots, on which each is looked at."""
    sums = list(functions)
    while len(sums) > 1:
        sums = [_sum(sums[k : k + TOGETHER]) for k in range(0, len(sums), TOGETHER)]
    return sums[0]


def _sum(functions: list[Piecewise]) -> Piecewise:
    """On the knots of all of them. They are looked at as one, with a piece of no use after each."""
    knots = np.unique(np.concatenate([f.knots for f in functions]))
    sizes = [len(f.knots) for f in functions]
    columns = max(f.bend.shape[1] for f in functions)
    (left, right), bend = np.zeros((2, sum(sizes))), np.zeros((sum(sizes), columns))
    j, at = [], 0
    for f, size in zip(functions, sizes):
        some = slice(at, at + size - 1)
        left[some], right[some], bend[some, : f.bend.shape[1]] = f.left, f.right, f.bend
        j.append(at + f._pieces_on(knots))
        at += size
    every = Piecewise(np.concatenate([f.knots for f in functions]), left, right, bend)
    ends = (np.tile(end, len(functions)) for end in (knots[:-1], knots[1:]))
    found = every._between(np.concatenate(j), *ends)
    sums = (x.reshape(len(functions), len(knots) - 1, *x.shape[1:]).sum(axis=0) for x in found)
    return Piecewise(knots, *sums)


__all__ = ["Piecewise", "total"]
