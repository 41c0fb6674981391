"""What every problem offers: a staircase system for the engine, and its reading for people.

A problem is a declaration. The engine sees `system` and the start; everything else says how a
solution (z, t) turns into coefficients, an intercept and an objective, and what optimality means
for it, computed from the data alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .staircase import Floats, Ints, StaircaseSystem

EPS = float(np.finfo(np.float64).eps)
# Multipliers nearer than this to a bound count as at it, relative to their own weight and to the
# largest multiplier there is; or nearer than round-off lets tell, relative to the largest weight.
AT_BOUND = 1e-9
TOLD = 64 * EPS
# Multipliers below this, relative to their scale, are what round-off leaves of zero.
DUST = 16 * EPS
# An objective below this part of the zero model's is a difference of much larger terms: gaps are
# not judged relative to what double precision cannot tell from zero.
NEARLY_ZERO = 1e-2


@dataclass(frozen=True)
class Start:
    """Where a walk may begin: any stairs on which G_FF is regular, z on them, and a t."""

    stair: Ints
    z: Floats
    t: float
    highest: bool = False  # whether it is proven that nothing changes above t
    spare: Floats | None = None  # distances to corners in phase one, beside each other


@dataclass(frozen=True)
class Turned:
    """The same solution, as a state of a problem in which another parameter moves."""

    name: str
    spec: dict[str, Any]
    stair: Ints
    z: Floats
    value: float  # of the parameter that moves now
    regular: bool = True  # whether G_FF is sure to be regular


@dataclass(frozen=True)
class Columns:
    """Solutions at k values of the parameter, one column each."""

    value: Floats  # (k,) the parameter
    coef: Floats  # (n, k)
    intercept: Floats  # (k,)
    interval: Floats  # (2, k): the intercepts that are optimal
    alpha: Floats  # (n, k) dual variables
    lambda_: Floats  # (k,)
    epsilon: Floats | None = None  # (k,) tube width, regression only
    nu: Floats | None = None  # (k,) the share of weight outside the tube, nu-SVR and one-class


@dataclass(frozen=True)
class Reading:
    """How f is read off z, linearly; between events f is affine in 1/parameter or in parameter.

        s f(x) = sum_j factor_j z_j k(x_row_j, x) + sum_j level_j z_j + s shift

    with s the parameter itself where `inverse`, and s = 1 elsewhere. For linear models k(x_j, x) is
    the j-th coordinate of x.
    """

    row: Ints  # (N,) the coefficient that each variable adds to
    factor: Floats  # (N,)
    level: Floats  # (N,) what each variable adds to the intercept
    shift: float
    inverse: bool


@dataclass(frozen=True)
class Certificate:
    """How far a solution is from optimal, computed from the data.

    `kkt_violation` and `relative_gap` are exact when at most max(1e-9, 50 `floor`), where `floor`
    is what double precision allows at that solution.
    """

    kkt_violation: Any
    relative_gap: Any
    floor: Any

    @property
    def exact(self) -> Any:
        """Whether the solution is exact to what double precision allows."""
        worst = np.maximum(np.abs(self.kkt_violation), np.abs(self.relative_gap))
        exact = worst <= np.maximum(1e-9, 50 * np.asarray(self.floor))
        return bool(exact) if np.ndim(exact) == 0 else exact


class Problem(ABC):
    """One regularised model and the parameter that moves."""

    name: ClassVar[str]  # under which paths are saved
    stair_names: ClassVar[tuple[str, ...]]  # bottom to top, as `events` counts them
    first_stair: ClassVar[int]  # the column of the staircase table that is stair 0
    # Whether the intercept is fixed wherever a multiplier moves, so that only those at bounds can
    # leave an interval.
    fixed_while_moving: ClassVar[bool] = True
    turns: ClassVar[tuple[str, ...]] = ()  # parameters along which its solutions can be carried on
    of_points: ClassVar[bool] = False  # whether each multiplier belongs to a point
    has_kernel: ClassVar[bool] = True  # or it is linear in the features
    labels: ClassVar[bool] = False  # whether its targets are two classes
    criterion: ClassVar[str] = "loss"  # the scoring by which its paths are chosen from, by default
    parameter: str
    unit: float  # parameter = unit * t
    highest_value: float = np.inf  # of the parameter, where it has an upper end
    system: StaircaseSystem

    @property
    @abstractmethod
    def start(self) -> Start:
        """Where the walk may begin."""

    @abstractmethod
    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        """Solutions from columns of z at the values t.

        `without` names a point for each column that takes no part in it.
        """

    @abstractmethod
    def objective(self, c: Columns) -> Floats:
        """The primal objective of each column."""

    @abstractmethod
    def certificate(self, c: Columns) -> Certificate:
        """Optimality of each column, from the data."""

    @property
    def reading(self) -> Reading:
        """How f is read off z: what exact curves need."""
        raise NotImplementedError(f"{self.name} does not say how f is read off z")

    def edges(self, c: Columns) -> list[tuple[float, Floats]]:
        """The intercept where points leave an interval of them, as a sum of maxima.

            b = sum_k weight_k max_i bounds_k[i],      bounds_k of shape (n, columns of c)

        Each bound is affine between events, and -inf where a point asks nothing. For the middle of
        [largest lower bound, smallest upper one]: weights 1/2 and -1/2, upper bounds negated.
        """
        raise NotImplementedError(f"{self.name} does not say which points bound the intercept")

    def own_loss(self, target: Floats) -> tuple[Floats, Floats, Floats, Floats | float]:
        """The loss that is minimised in training, at m targets: kinks, slopes, side and shift.

        Convex and piecewise linear in m_i = side_i f_i + shift_i: kinks of shape (K, m), slopes of
        shape (K + 1, m), both ascending; side -1 or 1. Targets are labels -1 and 1, or numbers.
        """
        raise NotImplementedError(f"{self.name} does not say what its loss of a point is")

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        """A solution of this problem as one along another of its `turns`."""
        raise NotImplementedError

    def without(self, i: int, t: float) -> Floats:
        """How g changes when point i leaves, besides its multipliers."""
        return np.zeros(len(self.system))

    def name_stairs(self, variable: Ints, stair: Ints) -> Ints:
        """Columns of the staircase table as positions in `stair_names`."""
        return stair - self.first_stair

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """What besides the data makes this problem again: JSON-able keyword arguments."""


def relative_gap(
    gap: Floats, primal: Floats, dual: Floats, zero: Floats | float, blur: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """(P - D) / max(|P|, |D|, tiny), and round-off in the same unit.

    tiny is a hundredth of the zero model's objective; `blur` is the round-off of the objective.
    """
    size = np.maximum(np.maximum(np.abs(primal), np.abs(dual)), NEARLY_ZERO * zero)
    return gap / size, blur / size


def edge_blur(slack: Floats, terms: Floats, w: Floats) -> Floats:
    """What round-off does to the losses of the points that stand on the edge of theirs."""
    noise = EPS * terms
    return w @ np.where(np.abs(slack) <= 100 * noise, noise, 0.0)


def bound_width(alpha: Floats, w: Floats, unit: float) -> Floats:
    """(n, k): how near to a bound each multiplier counts as at it; unit: the largest weight."""
    return AT_BOUND * np.minimum(w[:, None], np.abs(alpha).max(axis=0)) + TOLD * unit


def swept(alpha: Floats, unit: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Multipliers in their box, without the dust that round-off leaves of zeros."""
    return np.clip(np.where(np.abs(alpha) <= DUST * unit, 0.0, alpha), low, high)


def kernel_reading(factor: Floats, level: float, shift: float, inverse: bool, edge: int) -> Reading:
    """The reading of a kernel machine with `edge` (0 or 1) unpenalised variables."""
    n = len(factor)
    return Reading(
        row=np.concatenate([np.arange(n), np.zeros(edge, int)]),
        factor=np.concatenate([factor, np.zeros(edge)]),
        level=np.concatenate([np.zeros(n), np.full(edge, level)]),
        shift=shift,
        inverse=inverse,
    )


def taking_part(n: int, without: Ints | None, columns: Any) -> Any:
    """(n, k): which points take part in each of the chosen columns."""
    part = np.ones((n, len(columns)), dtype=bool)
    if without is not None:
        part[without[columns], np.arange(len(columns))] = False
    return part


def choose_intercept(traced: Floats, interval: Floats, empty: Floats) -> tuple[Floats, Floats]:
    """The traced intercepts, or the middle of the optimal interval where no point fixes them."""
    low, high = interval
    wide = empty & (low <= high)
    middle = np.where(wide, 0.5 * (low + high), traced)
    return middle, np.where(wide, interval, middle)
