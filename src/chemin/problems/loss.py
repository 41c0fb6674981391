"""Convex losses as data: kinks and slopes, and everything that follows from them.

    L(m): kinks kappa_1 <= ... <= kappa_K, slopes g_0 <= ... <= g_K, g_j between kappa_j, kappa_j+1

The first slope is at most 0 and the last at least 0, so that L is bounded below; its least value
is taken as 0. Each row of a machine has a loss of its own. Arrays have one row for each of them,
and one column for each solution.

Positions are measured from an origin of each row, e = m - origin, and kinks by their offsets from
it: nothing large cancels. With alpha = -w L'(m) a row stands at the *pin* -w g_j strictly between
two kinks, and on the *tread* of kappa_j, where alpha may be anything between two pins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from .staircase import Floats


@dataclass(frozen=True)
class Loss:
    """L at e = m - origin. Offsets of kinks and slopes ascend; they may be affine in a parameter.

    `curvatures` has room for quadratic pieces, one entry for each slope; none are walked yet.
    """

    origin: Any
    offsets: tuple[Any, ...]
    slopes: tuple[Any, ...]
    curvatures: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if len(self.slopes) != len(self.offsets) + 1:
            raise ValueError(
                f"a loss with {len(self.offsets)} kinks has {len(self.offsets) + 1} slopes, got "
                f"{len(self.slopes)}"
            )
        if self.curvatures:
            raise NotImplementedError("quadratic pieces cannot be walked yet")

    @property
    def kinks(self) -> list[tuple[Any, Any, Any]]:
        """Offset, slope before and slope after, kink by kink."""
        return list(zip(self.offsets, self.slopes[:-1], self.slopes[1:]))

    def value(self, e: Floats) -> Floats:
        """L, 0 at its minimum: each kink adds its bend on the side away from the minimum."""
        total = np.zeros_like(e)
        for kink, before, after in self.kinks:
            rise = np.maximum(after, 0.0) - np.maximum(before, 0.0)
            fall = np.minimum(after, 0.0) - np.minimum(before, 0.0)
            total += rise * np.maximum(e - kink, 0.0) + fall * np.maximum(kink - e, 0.0)
        return total

    def fenchel_gap(self, e: Floats, a: Floats) -> Floats:
        """L(m) + L*(-a) + a m >= 0, zero if and only if -a is a slope of L at m.

        Kink by kink: the part of the bend that -a has passed asks for m above the kink, the rest
        asks for m below it. Every term is non-negative.
        """
        total = np.zeros_like(e)
        for kink, before, after in self.kinks:
            bend = after - before
            passed = np.clip(-a - before, 0.0, bend)
            total += (bend - passed) * np.maximum(e - kink, 0.0)
            total += passed * np.maximum(kink - e, 0.0)
        return total

    def natural_residual(self, e: Floats, a: Floats, size: Floats, unit: Any) -> Floats:
        """|x - R(x - e / unit)|, R the resolvent of the staircase; x = a / size.

        Zero if and only if -a is a slope of L at m. With pins p = -g / size and levels
        l = -kappa / unit, both rising, R(x) = max(p_0, min(x - l_1, p_1), min(x - l_2, p_2), ...);
        here measured from x, so that nothing large cancels.
        """
        with np.errstate(over="ignore"):  # a pin may be further away than numbers reach
            ahead = (-self.slopes[-1] - a) / size
            for kink, before, _ in reversed(self.kinks):
                ahead = np.maximum(ahead, np.minimum((kink - e) / unit, (-before - a) / size))
        return np.abs(ahead)

    def snapped(self, e: Floats, a: Floats, noise: Floats) -> Floats:
        """e, moved to where -a is a slope if that cannot be told from e: not to the next kink."""
        low, high = self.bracket(a, np.zeros_like(a))
        asked = np.clip(e, low, high)
        return np.where(np.abs(asked - e) <= noise, asked, e)

    def bracket(self, a: Floats, near: Floats) -> tuple[Floats, Floats]:
        """Between which offsets e must be for -a to be a slope; within `near` of a pin is at it."""
        low, high = np.full_like(a, -np.inf), np.full_like(a, np.inf)
        for kink, before, after in self.kinks:
            low = np.where(-a > before + near, np.maximum(low, kink), low)
            high = np.where(-a < after - near, np.minimum(high, kink), high)
        return low, high

    def free(self, a: Floats, near: Floats) -> Any:
        """Whether -a is strictly between two slopes: the row is on a tread."""
        return reduce(np.logical_and, [np.abs(a + slope) > near for slope in self.slopes])

    @property
    def steepness(self) -> Any:
        """What a unit of error costs at least: the flatter of the outer slopes that are not 0."""
        left, right = np.abs(self.slopes[0]), np.abs(self.slopes[-1])
        both = (left > 0) & (right > 0)
        return np.where(both, np.minimum(left, right), np.maximum(left, right))
