"""Functions that are quadratic on each of many pieces, kept by values so that nothing cancels.

On a piece, with s running from 0 at its left end to 1 at its right end,

    value(s) = left (1 - s) + right s - bend s (1 - s)

Neighbours need not meet: a step is a jump between the right end of one piece and the left end of
the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Piecewise:
    """left, right and bend on the pieces between consecutive knots; constant outside."""

    knots: Floats  # (m + 1,) ascending
    left: Floats  # (m,)
    right: Floats  # (m,)
    bend: Floats  # (m,)

    @classmethod
    def assemble(
        cls, u0: Floats, u1: Floats, left: Floats, right: Floats, bend: Floats
    ) -> Piecewise:
        """From adjoining pieces in any order and direction; those of no length are dropped."""
        back = u0 > u1
        u0, u1 = np.where(back, u1, u0), np.where(back, u0, u1)
        left, right = np.where(back, right, left), np.where(back, left, right)
        order = np.argsort(u0, kind="stable")
        order = order[(u1 > u0)[order]]
        knots = np.append(u0[order], u1[order[-1]])
        return cls(knots, left[order], right[order], bend[order])

    @classmethod
    def through(cls, knots: Floats, values: Floats) -> Piecewise:
        """Straight lines from knot to knot."""
        return cls(knots, values[:-1], values[1:], np.zeros(len(knots) - 1))

    def __call__(self, u: ArrayLike, *, before: bool = True) -> Floats:
        """Values at u; at a jump that of the piece before it, or of the piece after it."""
        u = np.asarray(u, dtype=float)
        side = "left" if before else "right"
        j = np.searchsorted(self.knots, u, side=side) - 1  # type: ignore[call-overload]
        j = np.clip(j, 0, len(self.left) - 1)
        return self._value(j, self._place(j, u))

    def _place(self, j: NDArray[np.intp], u: Floats) -> Floats:
        start = self.knots[j]
        return np.clip((u - start) / (self.knots[j + 1] - start), 0.0, 1.0)

    def _value(self, j: NDArray[np.intp], s: Floats) -> Floats:
        return self.left[j] * (1 - s) + self.right[j] * s - self.bend[j] * s * (1 - s)

    def on(self, knots: Floats) -> Piecewise:
        """The same function on finer knots, or cut to theirs."""
        middle = 0.5 * (knots[:-1] + knots[1:])
        j = np.clip(np.searchsorted(self.knots, middle) - 1, 0, len(self.left) - 1)
        s0, s1 = self._place(j, knots[:-1]), self._place(j, knots[1:])
        bend = self.bend[j] * (s1 - s0) ** 2
        return Piecewise(knots, self._value(j, s0), self._value(j, s1), bend)

    def __mul__(self, factor: float) -> Piecewise:
        return Piecewise(self.knots, factor * self.left, factor * self.right, factor * self.bend)

    def __add__(self, other: Piecewise) -> Piecewise:
        knots = np.union1d(self.knots, other.knots)
        a, b = self.on(knots), other.on(knots)
        return Piecewise(knots, a.left + b.left, a.right + b.right, a.bend + b.bend)

    def without_repetitions(self) -> Piecewise:
        """Neighbours with one and the same constant become one piece."""
        constant = (self.left == self.right) & (self.bend == 0)
        same = constant[1:] & constant[:-1] & (self.left[1:] == self.left[:-1])
        keep = np.concatenate([[True], ~same])
        knots = np.append(self.knots[:-1][keep], self.knots[-1])
        return Piecewise(knots, self.left[keep], self.right[keep], self.bend[keep])

    def lowest(self) -> tuple[Floats, Floats]:
        """The minimum of each piece, and where: s = (bend + left - right) / (2 bend) inside."""
        s = np.where(self.right < self.left, 1.0, 0.0)
        value = np.minimum(self.left, self.right)
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = 0.5 + 0.5 * (self.left - self.right) / self.bend
        convex = (self.bend > 0) & (inside > 0) & (inside < 1)
        s = np.where(convex, inside, s)
        vertex = self.left - self.bend * np.where(convex, inside, 0.0) ** 2
        return np.where(convex, vertex, value), self.knots[:-1] + s * np.diff(self.knots)


def total(functions: Sequence[Piecewise]) -> Piecewise:
    """Their sum, two by two: as many passes over all knots as there are doublings."""
    sums = list(functions)
    while len(sums) > 1:
        odd = sums[-1:] if len(sums) % 2 else []
        sums = [a + b for a, b in zip(sums[::2], sums[1::2])] + odd
    return sums[0]


__all__ = ["Piecewise", "total"]
