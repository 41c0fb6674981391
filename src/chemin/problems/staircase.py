"""The one problem that every path in chemin is an instance of, as data.

    find z(t) in R^N with   h_i = -(M z + q + t r)_i  in  S_i(t)(z_i)   for every i

M is monotone (M + M' is positive semi-definite) and each S_i is a *staircase*: a rising graph of
alternating *pins* (z_i is held, the residual h_i moves) and *treads* (h_i is held, z_i moves):

        h
        |          |  pin w            the C-SVM's alpha: pin 0, tread 0, pin w
      0 |   _______|
        |  |   tread 0
        |  | pin 0
        +--+-------+----- z

A tread may rise with z, as a *ramp*: h = level + t soft z. Stairs of one variable share `soft`, so
that t soft z goes to the other side, and M + t diag(soft) stands for M: between events z is then
rational in t. At a fixed t, and to first order anywhere, that is an ordinary staircase problem.

No loss has a name here: a problem enters the engine as a `StaircaseSystem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..certificate import EPS, TINY
from ..kernels import Ridged

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Treads that are nearer to 0 than so many tolerances of their residuals are not told from 0.
CLOSED = 32.0

# A stair is (value at t = 0, slope in t); None means that there is no such stair.
Stair = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Staircases:
    """N staircases as two tables: stair j of variable i stands at `value[i, j] + t slope[i, j]`.

    Even columns are treads, odd columns are pins. A stair lies between the values of its two
    neighbours, and columns of -inf and +inf stand where a staircase has no further neighbour.
    """

    value: Floats
    slope: Floats

    @classmethod
    def build(cls, n: int, *, first: str, stairs: Sequence[Stair]) -> Staircases:
        """n staircases from their stairs, bottom to top; `first` is "pin" or "tread"."""
        lead = {"pin": 1, "tread": 2}[first]
        width = lead + len(stairs) + 1
        value = np.full((n, width), np.inf)
        value[:, :lead] = -np.inf
        slope = np.zeros((n, width))
        for j, (level, rate) in enumerate(stairs, start=lead):
            value[:, j], slope[:, j] = level, rate
        return cls(value, slope)

    @classmethod
    def stack(cls, *parts: Staircases) -> Staircases:
        """The staircases of several groups of variables, one group after the other."""
        shape = sum(map(len, parts)), max(p.value.shape[1] for p in parts)
        value, slope, at = np.full(shape, np.inf), np.zeros(shape), 0
        for p in parts:
            there = slice(at, at + len(p)), slice(p.value.shape[1])
            value[there], slope[there] = p.value, p.slope
            at += len(p)
        return cls(value, slope)

    def __len__(self) -> int:
        return len(self.value)

    @cached_property
    def moving_pins(self) -> bool:
        """Whether a pin moves with t."""
        return bool(self.slope[:, 1::2].any())

    def span(self, t: float = 0.0) -> Floats:
        """How far each variable can move along one of its treads at the most, at t."""
        return self._span(self.value + t * self.slope) if self.moving_pins else self._still_span

    @cached_property
    def vanishing(self) -> Floats:
        """How fast the treads of each variable that are at 0 for t = 0 go away from it, the slowest
        of them; infinite where there is none.
        """
        value, slope = self.value[:, ::2], np.abs(self.slope[:, ::2])
        return np.where((value == 0) & (slope > 0), slope, np.inf).min(axis=1)

    @cached_property
    def _still_span(self) -> Floats:
        return self._span(self.value)

    @staticmethod
    def _span(value: Floats) -> Floats:
        tread, below, above = value[:, 2::2], value[:, 1:-1:2], value[:, 3::2]
        width = min(tread.shape[1], above.shape[1])
        tread, below, above = tread[:, :width], below[:, :width], above[:, :width]
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(tread), above - below, 0.0).max(axis=1)

    @cached_property
    def _first(self) -> Ints:
        """Where the stairs of each variable begin, in the table as one row."""
        return self.value.shape[1] * np.arange(len(self))

    def level(self, stair: Ints, t: float) -> Floats:
        """The value at t of a stair of each variable; `stair` has one column a variable."""
        at = self._first + stair
        return self.value.take(at) + t * self.slope.take(at)

    def off(self, stair: Ints, h: Floats, t: float) -> Floats:
        """How far residuals are off their treads, or out of the reach of their pins."""
        tread = stair % 2 == 0
        reach = np.clip(h, self.level(stair - 1, t), self.level(stair + 1, t))
        return h - np.where(tread, self.level(stair, t), reach)

    def frozen(self, t: float) -> Staircases:
        """The same staircases, standing still where they are at t."""
        out = Staircases(self.value + t * self.slope, np.zeros_like(self.slope))
        known: dict[str, Any] = {"moving_pins": False}
        if not self.moving_pins:
            known["_still_span"] = self._still_span
        out.__dict__.update(known)
        return out


def endless_tread(n: int = 1) -> Staircases:
    """Variables with no constraint (an intercept): their residual is held at 0 for ever."""
    return Staircases.build(n, first="tread", stairs=[(0.0, 0.0)])


@dataclass(frozen=True)
class StaircaseSystem:
    """M, q, r and the staircases: all that the engine ever sees.

    `unit` is (value, slope): the residual of row i is measured by |value_i + t slope_i|. A row
    whose value and slope are both 0 is measured by its own terms. Two numbers are the unit of all
    variables that have a Gram row; the others are then measured by their own terms.

    `boxed` says whose z is a multiplier, measured by the width of its own box; z of the others,
    such as intercepts, is of the residuals' own kind. By default: those that have a Gram row.

    `part` is (value, slope): which part of a margin a unit is. Certificates judge in margins, and
    so does the guard that ends a walk where they see nothing any more.

    `soft` says how fast treads rise with z, for a unit of t; residuals are measured from there:
    h = -(M z + t soft z + q + t r).
    """

    coupling: Any  # a Coupling or a BlockCoupling: the engine asks for what `Bordered` has
    q: Floats
    r: Floats
    stairs: Staircases
    unit: tuple[Any, Any]
    boxed: Any = None
    part: tuple[float, float] = (1.0, 0.0)
    soft: Any = None  # (N,) of ramps, or None where there are none

    def __post_init__(self) -> None:
        rows, (value, slope) = self.coupling.has_row, self.unit
        if np.ndim(value) == 0 and np.ndim(slope) == 0:
            self.__dict__.update(self._of_one_unit(rows, float(value), float(slope)))
        unit = tuple(np.where(rows, x, 0.0) if np.ndim(x) == 0 else x for x in self.unit)
        self.__dict__.update(unit=unit, boxed=rows if self.boxed is None else self.boxed)

    @staticmethod
    def _of_one_unit(rows: Mask, value: float, slope: float) -> dict[str, Any]:
        """What need not be found out where all Gram rows have one unit; there is one at least."""
        if value == slope == 0.0:
            return {}
        return {
            "measured": rows,
            "unit_moves": slope != 0.0,
            "limit_at_zero": value == 0.0,
            "_different": (np.array([value]), np.array([slope])),
        }

    def __len__(self) -> int:
        return len(self.q)

    def frozen(self, t: float, e: Floats) -> StaircaseSystem:
        """The same system at a fixed t, with an artificial residual: g + tau e, along tau."""
        q, stairs = self.q + t * self.r, self.stairs.frozen(t)
        unit = self.units(t), np.zeros(len(self))
        still = {"coupling": self._ridged(t), "soft": None}
        part = self.in_margins(1.0, t), 0.0
        out = replace(self, q=q, r=e, stairs=stairs, unit=unit, part=part, **still)
        out.__dict__.update(measured=self.measured, unit_moves=False)
        return out

    def tangent(self, z: Floats, t: float) -> StaircaseSystem:
        """A system without ramps that is the same at t, for all z, and to first order at (z, t)."""
        if self.soft is None:
            return self
        rise = self.soft * z
        out = replace(
            self, coupling=self._ridged(t), q=self.q - t * rise, r=self.r + rise, soft=None
        )
        out.__dict__.update({name: getattr(self, name) for name in ("measured", "_different")})
        return out

    def boxes(self, t: float, span: Floats) -> Floats:
        """What multipliers are measured by: how far they can go, or what moves a ramp by a unit."""
        box, coupling = np.minimum(1.0, span), self._ridged(t)
        if isinstance(coupling, Ridged):
            rise = coupling.ridge / np.maximum(self.units(t), TINY)
            box = np.minimum(box, 1.0 / np.maximum(rise, 1.0))
        return box

    def _ridged(self, t: float) -> Any:
        return self.coupling if self.soft is None else Ridged(self.coupling, t * self.soft)

    @cached_property
    def measured(self) -> Mask:
        """Whether each row has a unit; the others are measured by their own terms."""
        return (self.unit[0] != 0.0) | (self.unit[1] != 0.0)

    @cached_property
    def in_proportion(self) -> bool:
        """Whether residuals and treads are in proportion to t where z is."""
        treads = self.stairs.value[:, 2::2]
        still = self.soft is None and not self.stairs.moving_pins
        return still and not self.q.any() and not np.any(treads[np.isfinite(treads)])

    @cached_property
    def unit_moves(self) -> bool:
        return bool(self.unit[1].any())

    @cached_property
    def limit_at_zero(self) -> bool:
        """Whether residuals lose their units at t = 0: a path that ends there ends in a limit."""
        return bool(((self.unit[0] == 0.0) & (self.unit[1] != 0.0)).any())

    @cached_property
    def _different(self) -> tuple[Floats, Floats]:
        """The units of measured rows; only one of them if they are all the same."""
        value, slope = (x[self.measured] for x in self.unit)
        same = np.all(value == value[:1]) and np.all(slope == slope[:1])
        return (value[:1], slope[:1]) if same else (value, slope)

    def units(self, t: float) -> Floats:
        """The unit of each row at t; 0 for rows that have none."""
        out = np.zeros(len(self))
        out[self.measured] = self._sizes(t)
        return out

    def _sizes(self, t: float) -> Floats:
        """The different units at t. A unit that vanishes measures nothing: 1 stands for it."""
        value, slope = self._different
        size = np.abs(value + t * slope)
        return np.where(size == 0.0, 1.0, size)

    def pull(self, t: float) -> float:
        """The smallest unit: changes of multipliers are seen by the row that sees most."""
        value, slope = self._different
        if len(value) == 1:
            return abs(float(value[0]) + t * float(slope[0])) or 1.0
        return float(self._sizes(t).min())

    def pulls(self, t: Floats) -> Floats:
        """The same at each of several t."""
        value, slope = self._different
        if len(value) > 1:
            return np.array([self.pull(x) for x in t.tolist()])
        size = np.abs(value + t * slope)
        return np.where(size == 0.0, 1.0, size)

    def floor(self, size: Floats, t: float) -> float:
        """Round-off of residuals, in margins; `size` is the sum of absolute terms."""
        floor = float(EPS * (size[self.measured] / self._sizes(t)).max())
        return self.in_margins(floor, t)

    def in_margins(self, x: float, t: float) -> float:
        """What is x units at t, in margins."""
        return x * abs(self.part[0] + t * self.part[1])

    def tolerances(self, size: Floats, t: float, precision: float, rounding: float) -> Floats:
        """How precisely residuals can and must be known; `size` is the sum of absolute terms."""
        unit = self._sizes(t)
        scale = np.where(self.measured, unit if len(unit) == 1 else self.units(t), size)
        return precision * scale + rounding * size + TINY

    def blind_below(self, tolerance: Floats) -> float:
        """The |t| below which treads that vanish with t are not told from each other."""
        return CLOSED * float((tolerance / self.stairs.vanishing).max(initial=0.0))

    def dimness(self, tolerance: Floats, t: float) -> float:
        """How large the tolerances of residuals are beside treads that vanish with t."""
        return float((tolerance / (abs(t) * self.stairs.vanishing)).max(initial=0.0)) if t else 0.0

    def residual(self, z: Floats, t: float) -> Floats:
        """h = -(M z + q + t r), and t soft z in M z."""
        linear = self.q + t * (self.r if self.soft is None else self.r + self.soft * z)
        return -(self.coupling.dot(z) + linear)
