"""What every problem offers: a staircase system for the engine, and what its solutions mean.

A problem is a declaration. The engine sees `system` and the start; everything else says how a
solution (z, t) turns into coefficients, an intercept and an objective, and what optimality means
for it, computed from the data alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..certificate import Certificate
from ..kernels import Centred
from .staircase import Floats, Ints, Mask, StaircaseSystem


@dataclass(frozen=True)
class Parameter:
    """A number besides lambda that makes a problem: its default, and where it may lie.

    `lies` is "positive", "up to infinity" (and infinity itself), "not negative", "fraction" (above
    0, up to 1) or "inside" (between 0 and 1, both excluded; by default it is walked upward, over
    the whole range).
    """

    default: float
    lies: str
    of_y: bool = False  # whether it is measured in units of y


@dataclass(frozen=True)
class Start:
    """Where a walk may begin: any stairs on which G_FF is regular, z on them, and a t."""

    stair: Ints
    z: Floats
    t: float
    highest: bool = False  # whether it is proven that nothing changes above t
    # How far the residuals of phase one begin from their corners, relative to each other.
    spare: Floats | None = None
    solved: bool = False  # whether it is the solution from t on


@dataclass(frozen=True)
class Turned:
    """The same solution, as a state of a problem in which another parameter moves."""

    problem: Problem
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
    given: dict[str, Floats] = field(default_factory=dict)  # other parameters by name, (k,) each
    # (n, k) f at the points without its intercept: known where the intercept is an interval
    f: Floats | None = None

    def some(self, k: Any) -> Columns:
        """Some of the columns."""
        return replace(
            self,
            value=self.value[k],
            coef=self.coef[:, k],
            intercept=self.intercept[k],
            interval=self.interval[:, k],
            alpha=self.alpha[:, k],
            lambda_=self.lambda_[k],
            given={name: value[k] for name, value in self.given.items()},
            f=None if self.f is None else self.f[:, k],
        )


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


class Problem(ABC):
    """One regularised model and the parameter that moves."""

    name: ClassVar[str]  # under which paths are saved
    stair_names: ClassVar[tuple[str, ...]]  # bottom to top, as `events` counts them
    first_stair: ClassVar[int] = 1  # the column of the staircase table that is stair 0
    turns: ClassVar[tuple[str, ...]] = ()  # parameters along which its solutions can be carried on
    # The score that a value is chosen by, by default: "loss", the training loss, or a name of
    # scikit-learn's.
    criterion: ClassVar[str] = "loss"
    loss_name: ClassVar[str] = "own loss"  # what curves call the loss that training minimises
    # What models on different numbers of rows are compared at: one lambda, or one lambda per row
    # (lambda over the sum of the weights, scikit-learn's alpha of the lasso).
    per_row: ClassVar[bool] = False
    also_per_row: ClassVar[tuple[str, ...]] = ()  # other parameters of which that holds, too
    of_points: ClassVar[bool] = False  # whether each multiplier belongs to a point
    has_kernel: ClassVar[bool] = True  # or it is linear in the features
    shares_products: ClassVar[bool] = False  # whether it takes X'X of its centred columns
    on_graph: ClassVar[bool] = False  # whether points are those of a graph
    target: ClassVar[str] = "numbers"  # "labels" (-1 and 1), "numbers" or "none"
    parameters: ClassVar[dict[str, Parameter]] = {}  # besides lambda, by name
    along: ClassVar[tuple[str, ...]] = ("lambda",)  # what may move, the default first
    closed: ClassVar[bool] = False  # whether solutions are known without a walk of their own
    audit_work: ClassVar[float] = 1.0  # times the usual number of certificates along a walk
    edge_name: ClassVar[str] = "non-zero"  # what figures call a multiplier that is free
    # Whether any multiplier that moves fixes the intercept. Then several intercepts are optimal
    # only where every multiplier is at a bound.
    fixed_while_moving: bool = True
    one_intercept: ClassVar[bool] = False  # whether there is never an interval of intercepts
    # Whether an intercept costs nothing, so that the coefficients of points sum up to zero.
    free_intercept: ClassVar[bool] = False
    centred: Centred | None = None  # what a kernel matrix is without what its entries share
    parameter: str
    unit: float  # parameter = unit * t
    highest_value: float = np.inf  # of the parameter, where it has an upper end
    default_range: tuple[float, float] | None = None  # start and stop by default
    w: Floats  # the weights of the points
    system: StaircaseSystem

    @abstractmethod
    def start(self, value: float | None = None) -> Start:
        """Where the walk may begin: by default, or at a value of the parameter."""

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

    def judged(self, z: Floats, t: Floats) -> Certificate:
        """Certificates of columns of z at the values t."""
        return self.certificate(self.columns(z, t))

    @property
    @abstractmethod
    def reading(self) -> Reading:
        """How f is read off z: what exact curves need."""

    @abstractmethod
    def free(self, c: Columns) -> Any:
        """(n, k): which multipliers are strictly between their bounds."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """What besides the data makes this problem again: JSON-able keyword arguments."""

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """What `spec` is when nothing is said."""
        return {"intercept": True}

    @property
    def variables(self) -> Ints | None:
        """How events name the variables. None: by their rows, and unpenalised ones after them."""
        return None

    @property
    def n_alpha(self) -> int | None:
        """How many multipliers a user holds. None: one for each coefficient."""
        return None

    def edges(self, c: Columns, width: int) -> list[list[tuple[float, Floats]]]:
        """The intercept where points leave an interval of them, as a sum of maxima.

            b = sum_k weight_k max_i bounds_k[i],      bounds_k of shape (rows, width)

        One such sum for every `width` columns of c, those of one move. Each bound is affine between
        events, and -inf where a row asks nothing. For the middle of [largest lower bound, smallest
        upper one]: weights 1/2 and -1/2, upper bounds negated.
        """
        raise NotImplementedError(f"{self.name} does not say which points bound the intercept")

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        """A solution of this problem as one along another of its `turns`."""
        raise NotImplementedError

    def leaving(self, i: int, t: float) -> Floats:
        """What the linear term gains when point i leaves: costs of terms fall with W."""
        return np.zeros(len(self.system))

    def among(self, points: Ints) -> Problem:
        """The same problem on some of the points."""
        raise NotImplementedError

    def own_loss(self, target: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The training loss of m targets: bends (K, R), slopes (K + 1, R), side and softness (R,).

        Convex in side_i f_i, piecewise linear where the softness is 0; see `loss.Loss`. Where
        targets have several rows, all first rows come first. Targets are labels -1 and 1, or
        numbers.
        """
        raise ValueError(
            f"scoring must name a scorer for {self.name} in {self.parameter}: its training loss is "
            "not a criterion on new points"
        )

    def degrees_of_freedom(self, c: Columns, active: Mask) -> Floats:
        """Of the fitted values, for columns that share their non-zero coefficients.

        The intercept counts. By Stein: the sum of the derivatives of the fitted values by their
        own targets.
        """
        raise ValueError(f"nothing is known of the degrees of freedom of {self.name} here")

    def name_stairs(self, variable: Ints, stair: Ints) -> Ints:
        """Columns of the staircase table as positions in `stair_names`."""
        return stair - self.first_stair
