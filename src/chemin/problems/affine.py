"""Numbers that are affine in the moving parameter, so that a declaration reads as a formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Affine:
    """value + v rate, v the moving parameter; value and rate are numbers or arrays.

    Sums and multiples with numbers and arrays are affine again: `1 - tau`, `y - epsilon`.
    """

    value: Any
    rate: Any = 0.0

    __array_ufunc__ = None  # arrays leave the arithmetic to this class

    def __add__(self, other: Any) -> Affine:
        o = affine(other)
        return Affine(self.value + o.value, self.rate + o.rate)

    def __mul__(self, factor: Any) -> Affine:
        """A multiple. A product of two that move would not be affine."""
        o = affine(factor)
        if o.moves and self.moves:
            raise ValueError("a product of two moving numbers is not affine")
        # What stands still has no rate, even where it is infinite.
        rate = self.rate * o.value if self.moves else 0.0
        return Affine(self.value * o.value, rate + (self.value * o.rate if o.moves else 0.0))

    @property
    def moves(self) -> bool:
        rate = self.rate
        return rate != 0.0 if isinstance(rate, float) else bool(np.any(rate))

    def __neg__(self) -> Affine:
        return Affine(-self.value, -self.rate)

    def __sub__(self, other: Any) -> Affine:
        return self + (-affine(other))

    def __rsub__(self, other: Any) -> Affine:
        return affine(other) - self

    __radd__, __rmul__ = __add__, __mul__


def affine(x: Any) -> Affine:
    return x if isinstance(x, Affine) else Affine(x)


MOVING = Affine(0.0, 1.0)  # the moving parameter itself
