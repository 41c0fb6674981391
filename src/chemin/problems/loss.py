"""Convex losses as data: kinks, ramps and slopes, and everything that follows from them.

    L(m): bends at kappa_1 <= ... <= kappa_K, slopes g_0 <= ... <= g_K, g_j between two bends

The first slope is at most 0 and the last at least 0, so that L is bounded below; its least value
is taken as 0. Each row of a machine has a loss of its own. Arrays have one row for each of them,
and one column for each solution.

A bend is a *kink*, or a *ramp* where L is quadratic. With the softness s, one over the curvature,

    slope g is met at      m = kappa_j + s g,       g from g_(j-1) to g_j

so that a kink is a ramp of softness 0. All bends of a row share its softness: two rows of a point
can have two. The outer slopes may be infinite where s > 0.

        s = 0     ____/             s > 0      __
                 |  kinks                    /    ramps: L' rises by 1/s
             ____|                        __/

Positions are measured from an origin of each row, e = m - origin, and bends by their offsets from
it: nothing large cancels. With alpha = -w L'(m) a row stands at the *pin* -w g_j strictly between
two bends, and on the *tread* of kappa_j, where alpha may be anything between two pins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from .staircase import Floats


@dataclass(frozen=True)
class Loss:
    """L at e = m - origin. Offsets of bends and slopes ascend; they may be affine in a parameter.

    `softness` is one number, or one for each row; it does not move.
    """

    origin: Any
    offsets: tuple[Any, ...]
    slopes: tuple[Any, ...]
    softness: Any = 0.0

    def __post_init__(self) -> None:
        if len(self.slopes) != len(self.offsets) + 1:
            raise ValueError(
                f"a loss with {len(self.offsets)} bends has {len(self.offsets) + 1} slopes, got "
                f"{len(self.slopes)}"
            )
        if np.any(np.less(self.softness, 0.0)):
            raise ValueError("the softness of a loss must not be negative: it would not be convex")

    @property
    def bends(self) -> list[tuple[Any, Any, Any]]:
        """Offset, slope before and slope after, bend by bend."""
        return list(zip(self.offsets, self.slopes[:-1], self.slopes[1:]))

    @property
    def _hard(self) -> bool:
        """Whether all bends are kinks."""
        return np.ndim(self.softness) == 0 and self.softness == 0.0

    def value(self, e: Floats) -> Floats:
        """L, 0 at its minimum: the gap to the slope 0."""
        return self.fenchel_gap(e, 0.0)

    def fenchel_gap(self, e: Floats, a: Any) -> Floats:
        """L(m) + L*(-a) + a m >= 0, zero if and only if -a is a slope of L at m.

        Bend by bend: what L has risen between where its slope is -a and m. Every term is
        non-negative.
        """
        total = np.zeros_like(e)
        for offset, before, after in self.bends:
            passed = np.clip(-a, before, after)
            if self._hard:  # all of it at once
                away = e - offset
                total += np.maximum(away, 0.0) * (after - passed)
                total += np.minimum(away, 0.0) * (before - passed)
                continue
            away = e - (offset + self.softness * passed)
            total += self._risen(away, after - passed) + self._risen(-away, passed - before)
        return total

    def _risen(self, away: Floats, room: Any) -> Floats:
        """The rise of a function whose slope begins at 0 and grows by up to `room`."""
        away, soft = np.maximum(away, 0.0), np.asarray(self.softness)
        if self._hard:  # all of it at once
            return np.asarray(away * room)
        steep = np.full(np.broadcast_shapes(away.shape, soft.shape), np.inf)
        np.divide(away, soft, out=steep, where=soft > 0)
        steep = np.where(away > 0, np.minimum(steep, room), 0.0)
        return np.asarray(steep * (away - 0.5 * soft * steep))

    def slope(self, e: Floats) -> Floats:
        """L' at e; at a kink the one before it."""
        out = self.slopes[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            for offset, _, after in self.bends:
                risen = np.where(e > offset, np.inf, -np.inf)
                soft = np.broadcast_to(self.softness, risen.shape)
                np.divide(e - offset, soft, out=risen, where=soft > 0)
                out = np.maximum(out, np.minimum(risen, after))
        return np.asarray(out)

    def natural_residual(self, e: Floats, a: Floats, size: Floats, unit: Any) -> Floats:
        """|x - R(x - e / unit)|, R the resolvent of the staircase; x = a / size.

        Zero if and only if -a is a slope of L at m. With pins p = -g / size and levels
        l = -kappa / unit, both rising, R(x) = max(p_0, min(x - l_1, p_1), min(x - l_2, p_2), ...);
        here measured from x, so that nothing large cancels. A ramp of softness s yields less, by
        1 + s size / unit.
        """
        with np.errstate(over="ignore"):  # a pin may be further away than numbers reach
            ahead = (-self.slopes[-1] - a) / size
            for offset, before, _ in reversed(self.bends):
                asked = offset - e if self._hard else offset - self.softness * a - e
                asked = asked / (unit if self._hard else unit + self.softness * size)
                ahead = np.maximum(ahead, np.minimum(asked, (-before - a) / size))
        return np.abs(ahead)

    def snapped(self, e: Floats, a: Floats, noise: Floats) -> Floats:
        """e, moved to where -a is a slope if that cannot be told from e: not to the next bend."""
        low, high = self.bracket(a, 0.0)
        asked = np.clip(e, low, high)
        np.copyto(asked, e, where=np.abs(asked - e) > noise)
        return asked

    def bracket(self, a: Floats, near: Any) -> tuple[Floats, Floats]:
        """Between which offsets e must be for -a to be a slope; within `near` of a pin is at it."""
        low: Any = -np.inf
        high: Any = np.inf
        for offset, before, after in self.bends:
            at = offset if self._hard else offset + self.softness * np.clip(-a, before, after)
            low = np.maximum(low, np.where(-a > before + near, at, -np.inf))
            high = np.minimum(high, np.where(-a < after - near, at, np.inf))
        return low, high

    def free(self, a: Floats, near: Floats) -> Any:
        """Whether -a is strictly between two slopes: the row is on a tread."""
        return reduce(np.logical_and, [np.abs(a + slope) > near for slope in self.slopes])

    def cost_of(self, error: Any) -> Any:
        """What an error of this size costs at least: on the cheaper side of those that cost."""
        left, right = self._risen(error, -self.slopes[0]), self._risen(error, self.slopes[-1])
        both = (left > 0) & (right > 0)
        return np.where(both, np.minimum(left, right), np.maximum(left, right))
