"""Kernel machines: rows with convex piecewise-linear losses, and everything that follows.

    min  lambda/2 |f|^2 + sum_i w_i L_i(m_i) + W sum_k cost_k c_k,     m_i = s_i f(x_p(i)) + B_i c

Rows i, one or two a point: p(i) is the point, s_i = +-1 its side. Unpenalised terms c_k (an
intercept: B_i = s_i), with a cost for each unit of the total weight W, and perhaps c_k >= 0.
L_i by kinks and slopes (`loss.py`), affine in the parameter that moves. With alpha_i = -w_i L_i':

    f = 1/lambda sum_i s_i alpha_i k(x_p(i), .),        B'alpha = W cost,
    h_i = lambda (origin_i - m_i),   alpha_i on the staircase: pins -w g_j, treads -lambda offset_j

So M = [S K S, B; -B', 0]. A problem says `declare`; the rest is here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..certificate import BLIND, EPS, FLOORS, NEARLY_ZERO, TINY, Certificate, relative
from ..kernels import Centred, Coupling, DenseGram, Gram, Ridged, as_gram, exact_sum
from .affine import MOVING, Affine, affine
from .base import Columns, Problem, Reading, Start, Turned
from .loss import Loss
from .staircase import Floats, Ints, Staircases, StaircaseSystem, endless_tread
from .terms import SLACK, Bounds, Edges, Term

# A multiplier counts as at a pin when it is nearer to it than AT_PIN, relative to its own weight or
# to the largest multiplier, whichever is less; or than TOLD, relative to the largest multiplier, or
# where pins move to the largest weight. Unpenalised terms then stand in the middle of what they may
# be, and are off by that much in balance; in a gap beside a small objective a thousand times it.
AT_PIN = 1e-12
TOLD = 4 * EPS
# Multipliers below this, relative to their scale, are what round-off leaves of zero: ten times what
# walks tell a multiplier from its bounds by. Where the objective is less than a tenth of all losses
# (MUCH) it is as much less, for a loss that a multiplier takes away counts as much more; down to
# TOLD.
DUST = 1e-12
MUCH = 0.1
SMALL = 1e-2  # part of a mean multiplier: without a target the objective is as small as nu squared
# A start with nothing above it is known in closed form. It is taken where no other kink lies nearer
# to the best constant than this, in units of the margin: with a nearer one it would lie far above
# the first event.
ROOM = 0.5
OPEN_ENDS = (1e-4, 1.0 - 1e-4)  # the default walk of a parameter between 0 and 1, both excluded
# Columns of multipliers that differ in fewer than one in so many rows have much in common.
SIMILAR = 8
TIED = 64 * EPS  # kinks nearer than this, relative to the largest, are one


@dataclass(frozen=True)
class Rows:
    """What a problem declares: the losses of its rows, their sides, and the unpenalised terms."""

    loss: Loss
    side: Floats  # (rows,): one block of all points after the other
    terms: tuple[Term, ...]

    @property
    def columns(self) -> Floats:
        """B."""
        out = np.empty((len(self.side), len(self.terms)))
        for k, term in enumerate(self.terms):
            out[:, k] = term.column
        return out


class KernelMachine(Problem):
    """A declaration and its data. The unit of K and that of w go into z and t.

    Where coefficients sum up to zero, a K that is nearly constant is walked, and certified, without
    what its entries have in common: there the intercept is b', see `Centred`. Elsewhere K itself is
    walked and never copied.
    """

    of_points = True
    free_intercept = True

    def __init__(
        self,
        K: Floats | Gram,
        y: Floats,
        w: Floats,
        *,
        along: str = "lambda",
        lambda_: float = 1.0,
        intercept: bool = True,
        **given: float,
    ) -> None:
        self.gram, self.y, self.w, self.intercept = as_gram(K), y, w, intercept
        self.parameter, self.lambda_ = along, lambda_
        self.given = {name: p.default for name, p in self.parameters.items()} | given
        self.rows = self._declared({along: MOVING})
        self.centred = Centred.of(self.gram) if self.balanced else None
        self.walked = self.gram if self.centred is None else self.centred.gram
        self.scale, self.z_unit = float(self.walked.diagonal().max()) or 1.0, float(w.max())
        self.shift, self.sd = self._measures()
        # Slopes of kinks are numbers, those of ramps are errors.
        self.slope_unit = self.sd if np.any(self.rows.loss.softness) else 1.0
        self.z_unit *= self.slope_unit
        self.force = self.scale * self.z_unit / self.sd  # lambda = force t, where lambda moves
        self.unit = self._unit()
        lies = "positive" if along == "lambda" else self.parameters[along].lies
        self.highest_value = 1.0 if lies in ("fraction", "inside") else np.inf
        self.default_range = OPEN_ENDS if lies == "inside" else None
        self.copies = len(self.rows.side) // len(y)
        self.weight = np.tile(w, self.copies)[:, None]
        self.B = self.rows.columns
        self.fixed_while_moving = len(self.rows.terms) == 1 and not self._moving_pins
        self.system = self._system()

    # ------------------------------------------------------------------ what a problem says

    @abstractmethod
    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        """The rows for targets y, of shape (n, 1).

        `given` has the parameters by name: numbers, the moving one as an `Affine`; or arrays with
        an entry for each of several solutions.
        """

    def constant(self, side: Floats) -> tuple[Term, ...]:
        """The intercept, if there is one."""
        return (Term("intercept", side),) if self.intercept else ()

    def first_value(self) -> float:
        """Where a walk in another parameter than lambda begins."""
        if self.default_range is not None:
            return self.default_range[0]
        if self.parameters[self.parameter].of_y:  # so large that every target is near beside it
            return 2.0 * float(np.abs(self.y - self.shift).max())
        raise NotImplementedError(f"{self.name} has no first_value for {self.parameter}")

    def reach(self) -> float:
        """What |K alpha| cannot exceed in the engine's units: max sqrt(K_ii) sum sqrt(K_jj) w_j."""
        root = np.sqrt(np.maximum(self.walked.diagonal(), 0.0) / self.scale)
        return float(root.max() * (root @ self.w)) / self.z_unit or 1.0

    # ------------------------------------------------------------------ units

    def share(self, given: dict[str, Any]) -> Any:
        """Which part of all losses the objective amounts to: what a term costs, where one does."""
        if self._free_of_charge:
            return 1.0
        costs = [affine(term.cost) for term in self._declared(given).terms]
        costs = [cost for cost in costs if np.any(cost.value) or np.any(cost.rate)]
        return 1.0 if not costs else costs[0] if np.any(costs[0].rate) else costs[0].value

    @cached_property
    def _free_of_charge(self) -> bool:
        """Whether no term costs anything, as an intercept."""
        costs = [affine(term.cost) for term in self.rows.terms]
        return not any(np.any(cost.value) or np.any(cost.rate) for cost in costs)

    def margin_unit(self, given: dict[str, Any]) -> Any:
        """What margins are measured by. Without a target: what a mean multiplier adds to f at its
        own point.
        """
        if self.target != "none":
            return self.sd
        return np.maximum(self.share(given) * (self.scale * self.w.mean()), TINY)

    def _precision(self, given: dict[str, Any]) -> Any:
        """What residuals must be known to, in the engine's units and relative to lambda."""
        if self.target == "none":
            return self.share(given) * (SMALL * float(self.w.mean()) / self.z_unit)
        return self.share(given)

    def _alpha_scale(self, lam: Floats, given: dict[str, Any]) -> Floats:
        """What multipliers are measured by: the largest weight, or what moves f by a unit."""
        return np.minimum(self.z_unit, lam * self.margin_unit(given) / self.scale)

    def _measures(self) -> tuple[float, float]:
        """What the intercept is measured from, and the unit of margins."""
        if self.target == "labels":
            return 0.0, 1.0
        if self.target == "none":
            return 0.0, self.scale * self.z_unit
        mean = float(np.average(self.y, weights=self.w))
        sd = float(np.sqrt(np.average((self.y - mean) ** 2, weights=self.w)))
        return mean if self.intercept else 0.0, sd or 1.0

    def _unit(self) -> float:
        if self.parameter == "lambda":
            return self.force
        return self.sd if self.parameters[self.parameter].of_y else 1.0

    @property
    def _pull(self) -> Affine:
        """lambda in the engine's units, in t."""
        return MOVING if self.parameter == "lambda" else Affine(self.lambda_ / self.force)

    def _in_t(self, x: Any) -> Affine:
        """What is affine in the parameter, in t."""
        x = affine(x)
        return Affine(x.value, x.rate * self.unit)

    @cached_property
    def _moving_pins(self) -> bool:
        return any(np.any(affine(slope).rate) for slope in self.rows.loss.slopes)

    @property
    def balanced(self) -> bool:
        """Whether coefficients sum up to zero: there is an intercept, and it costs nothing."""
        terms = [term for term in self.rows.terms if term.name == "intercept"]
        costs = [affine(term.cost) for term in terms]
        free = not any(np.any(cost.value) or np.any(cost.rate) for cost in costs)
        return bool(terms) and free

    @cached_property
    def _zero(self) -> Floats:
        """What each term is measured from: the shift of y for the intercept, 0 for the others."""
        return np.array([self.shift if t.name == "intercept" else 0.0 for t in self.rows.terms])

    @cached_property
    def _zero_at_rows(self) -> Floats:
        return (self.B @ self._zero)[:, None]

    def _system(self) -> StaircaseSystem:
        rows, loss, total = self.rows, self.rows.loss, float(self.w.sum())
        n = len(self.B)
        target = self._pull * ((self._zero_at_rows - loss.origin)[:, 0] / self.sd)
        costs = [self._in_t(term.cost * (total / self.z_unit)) for term in rows.terms]
        moving = {self.parameter: MOVING}
        unit = self._pull * self._in_t(self._precision(moving))
        part = self._in_t(1.0 if self.target == "none" else self.share(moving))
        index, sign = np.tile(np.arange(len(self.w)), self.copies), rows.side / np.sqrt(self.scale)
        coupling, soft = Coupling(self.walked, index, sign, self.B), self._soft
        soft_in_t = soft if self.parameter == "lambda" else None
        linear = np.empty((2, n + len(costs)))
        linear[0, :n], linear[1, :n] = target.value, target.rate
        linear[:, n:] = [c.value for c in costs], [c.rate for c in costs]
        return StaircaseSystem(
            coupling if soft is soft_in_t else Ridged(coupling, self._pull.value * soft),
            q=linear[0],
            r=linear[1],
            stairs=Staircases.stack(self._stairs(n), *(_term_stairs(t) for t in rows.terms)),
            unit=(unit.value, unit.rate),
            part=(float(part.value), float(part.rate)),
            soft=soft_in_t,
        )

    @cached_property
    def _soft(self) -> Floats | None:
        """How fast h rises with z on ramps, relative to lambda; None where there are no ramps."""
        if not np.any(self.rows.loss.softness):
            return None
        rise = self.rows.loss.softness / self.weight * (self.z_unit / self.sd)
        return np.append(rise[:, 0], np.zeros(len(self.rows.terms)))

    def _stairs(self, n: int) -> Staircases:
        """Bottom to top: from the last slope to the first."""
        level = lambda off: self._pull * (self._in_t(off) * (-1.0 / self.sd))
        return row_stairs(self.rows.loss, self.weight / self.z_unit, level, n, self._in_t)

    # ------------------------------------------------------------------ where to begin

    def start(self, value: float | None = None) -> Start:
        """f = 0 and the best constant; one row stands at a kink, so that the constant is fixed.

        As a function of the constant the losses bend where s_i c meets a kink, by w_i times the
        bend of the kink: sort the kinks and add up the slopes. Above a lambda at which f cannot
        bring the constant to another kink nothing changes any more.
        """
        moves = self.parameter == "lambda"
        if value is None and not moves:
            value = self.first_value()
        loss = self.rows.loss if moves else self._declared({self.parameter: np.array([value])}).loss
        bends, slopes = self._bends(loss), self._table(loss.slopes)
        if self._soft is not None:
            return self._start_on_ramps(loss, slopes, value)
        if self.rows.terms:
            w = self.weight[:, 0] / self.z_unit
            stair, z, at = best_constant(self.rows.side, w, bends, slopes)
        else:
            (stair, z), at = self._at_slope((bends < 0).sum(axis=1), slopes), 0.0
        apart = np.abs(bends - at)
        gap = float(apart[apart > TIED * np.abs(bends).max(initial=1.0)].min(initial=2.0))
        if not moves:
            assert value is not None
            return Start(stair, z, value / self.unit)
        most = float(np.abs(slopes).max()) * self.reach()
        if gap < ROOM:
            return Start(stair, z, most)
        most = min(most, self._furthest(slopes))
        return Start(stair, z, 4.0 * most / min(gap, 2.0), highest=True)

    def _furthest(self, slopes: Floats) -> float:
        """What |K alpha| cannot exceed in the engine's units where no entry of K is negative:
        multipliers that pull one way add up.
        """
        if not isinstance(self.walked, DenseGram) or self.walked.least < 0.0:
            return np.inf
        ends = self.rows.side[:, None] * self.weight * slopes[:, [0, -1]]
        pulls = self._summed(np.stack([ends.max(axis=1), -ends.min(axis=1)], axis=1))
        return float((self.walked @ pulls).max()) / (self.scale * self.z_unit) or np.inf

    def _bends(self, loss: Loss) -> Floats:
        """(rows, kinks): the constants at which rows meet their kinks, in units of the margin."""
        origin = loss.origin - self._zero_at_rows
        kinks = self._table([(origin + off) / self.sd for off in loss.offsets])
        return self.rows.side[:, None] * kinks if self.rows.terms else kinks

    def _table(self, columns: Any) -> Floats:
        """(rows, k) from k numbers or columns."""
        return np.hstack([np.zeros_like(self.weight) + column for column in columns])

    def _start_on_ramps(self, loss: Loss, slopes: Floats, value: float | None) -> Start:
        """f = 0 and the best constant, found by bisection; phase one does the rest.

        In lambda at a value where f moves margins by less than a unit.
        """
        side, w, n = self.rows.side[:, None], self.weight / self.z_unit, len(self.B)
        e = np.zeros((n, 1)) - loss.origin + self._zero_at_rows
        if self.rows.terms:
            low, high = loss.bracket(np.zeros((n, 1)), np.zeros((n, 1)))
            ends = side * np.hstack([low - e, high - e])
            ends = ends[np.isfinite(ends)]
            c = bisected(lambda c: float(np.sum(side * w * loss.slope(e + side * c))), ends)
            e = e + side * c
        g = loss.slope(e)
        near = np.abs(g - slopes) <= TIED * np.maximum(np.abs(g), 1.0)
        j = (g > slopes).sum(axis=1) - 1  # the last slope below
        pin, bends = near.any(axis=1), slopes.shape[1] - 1
        stair = np.where(pin, 1 + 2 * (bends - near.argmax(axis=1)), 2 + 2 * (bends - 1 - j))
        if self.rows.terms and pin.all():  # one row fixes the constant
            stair[0] += 1 if stair[0] == 1 else -1
        z = np.append((0.0 - w * g)[:, 0], np.zeros(len(self.rows.terms)))
        stair = np.append(stair, np.full(len(self.rows.terms), 2))
        if value is not None:
            return Start(stair, z, value / self.unit)
        return Start(stair, z, max(float(np.abs(g).max()), TIED) * self.reach())

    def _at_slope(self, j: Ints, slopes: Floats) -> tuple[Ints, Floats]:
        """Every row at the pin of its j-th slope."""
        z = 0.0 - self.weight[:, 0] / self.z_unit * slopes[np.arange(len(j)), j]
        return 1 + 2 * (slopes.shape[1] - 1 - j), z

    # ------------------------------------------------------------------ solutions

    def _declared(self, given: dict[str, Any]) -> Rows:
        """The rows at these parameters: numbers, or arrays with an entry for each column."""
        given = {name: _once(value) for name, value in given.items()}
        return self.declare(self.y[:, None], self.given | given)

    def _parameters(self, t: Floats) -> tuple[Floats, dict[str, Floats]]:
        """lambda and the other parameters at t, one entry a column."""
        given = {name: np.full(len(t), value) for name, value in self.given.items()}
        value = t * self.unit
        if self.parameter == "lambda":
            return value, given
        return np.full(len(t), self.lambda_), given | {self.parameter: value}

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        return self._solutions(z, t, without, multiplied=False)[0]

    def judged(self, z: Floats, t: Floats) -> Certificate:
        """With half a certificate's products where that is enough: where a solution is exact by a
        floor that is too low, and certifiable by one that is too high.
        """
        c, rows, f = self._solutions(z, t, None, multiplied=True)
        assert f is not None
        if self.target == "none":  # the unit itself is made of all terms
            return self._certificate(c, rows, *self._products(c.coef))
        found = self._certificate(c, rows, f, np.zeros_like(f))
        floor = found.floor + EPS * self._most(c.coef) / self.margin_unit(c.given)
        if np.all(found.exact & (FLOORS * floor <= BLIND)):
            return found
        return self._certificate(c, rows, *self._products(c.coef))

    def _solutions(
        self, z: Floats, t: Floats, without: Ints | None, *, multiplied: bool
    ) -> tuple[Columns, Rows, Floats | None]:
        """Columns, the rows at their parameters, and, `multiplied`, f at the points."""
        n, (lam, given) = len(self.B), self._parameters(t)
        rows = self.rows if self.parameter == "lambda" else self._declared(given)
        loss = rows.loss
        low, high = 0.0 - self.weight * loss.slopes[-1], 0.0 - self.weight * loss.slopes[0]
        unit = self._alpha_scale(lam, given)
        own = np.minimum(unit[:, None], (self.weight * self.slope_unit).T).T
        # Without a target f may be as small as its shortest rows.
        share = np.minimum(self.share(given) / MUCH, 1.0)
        part = TOLD if self.target == "none" else np.maximum(DUST * share, TOLD)
        alpha = swept(z[:n] * self.z_unit, part * own, own, low, high, part)
        free = self._tell(loss, alpha)
        coef = self._fold(alpha) / lam
        c = z[n:] * (self.scale * self.z_unit / lam) + self._zero[:, None]
        for k, term in enumerate(self.rows.terms):
            if term.from_zero:
                c[k] = np.maximum(c[k], 0.0)
        f = self._f(coef) if multiplied else None
        interval, f = self._settle(c, rows, alpha, free, coef, lam, given, without, f)
        known = dict(zip((t.name for t in self.rows.terms), c))
        b = known.pop("intercept", np.zeros(len(t)))
        if self.centred is not None:
            lift, _ = self.centred.lift(coef)
            b, interval = b - lift, interval - lift
        shown = alpha if self.copies == 1 else self._fold(alpha)
        columns = Columns(t * self.unit, coef, b, interval, shown, lam, given | known, f)
        return columns, rows, f

    def _fold(self, alpha: Floats) -> Floats:
        """sum of s_i alpha_i over the rows of each point."""
        return self._summed(self.rows.side[:, None] * alpha)

    def _summed(self, x: Floats) -> Floats:
        """Over the rows of each point."""
        return x if self.copies == 1 else x.reshape(self.copies, len(self.w), -1).sum(axis=0)

    def _near(self, alpha: Floats) -> Floats:
        """How near to a pin each multiplier counts as at it, for a unit of its weight."""
        largest = np.abs(alpha).max(axis=0, initial=0.0)
        beside = np.full_like(largest, self.z_unit) if self._moving_pins else largest
        own = np.minimum((self.weight * self.slope_unit).T, largest[:, None])
        return ((AT_PIN * own + TOLD * beside[:, None]) / self.weight.T).T

    def _tell(self, loss: Loss, alpha: Floats) -> Any:
        """Which rows are free. Where none of an edge is, terms are what rows at pins ask for: there
        those that only the round-off of the largest multiplier keeps from a pin are put at it, in
        place.
        """
        a, near = alpha / self.weight, self._near(alpha)
        free = loss.free(a, near)
        hidden = near > 2 * AT_PIN * self.slope_unit  # mostly the round-off of larger multipliers
        if self.rows.terms and hidden.any():
            edges = self._edges_of(np.arange(len(self.rows.terms)))
            hidden &= ~edges.fixed(free)[edges.patterns[1]]
            for slope in loss.slopes:
                pin = np.broadcast_to(0.0 - slope * self.weight, alpha.shape)
                np.copyto(alpha, pin, where=hidden & (np.abs(a + slope) <= near))
        return free

    def _row_alpha(self, alpha: Floats) -> Floats:
        """Multipliers of rows from those that a user holds: two rows of a point by their signs."""
        if self.copies == 1:
            return alpha
        return np.maximum(self.rows.side[:, None] * self._tiled(alpha), 0.0)

    def _tiled(self, x: Floats) -> Floats:
        """From points to rows."""
        return x if self.copies == 1 else np.tile(x, (self.copies, 1))

    def _asked(self, loss: Loss, alpha: Floats, f: Floats) -> Bounds:
        """What each row asks of its B_i c, f without its intercept."""
        a, near = alpha / self.weight, self._near(alpha)
        low, high = loss.bracket(a, near)
        at = loss.origin - self.rows.side[:, None] * self._tiled(f)
        return Bounds(low + at, high + at, loss.free(a, near))

    def _ended(self, alpha: Floats, rows: Rows, weight: Any) -> Any:
        """(terms, k): which terms are at their lower end, and stay there."""
        out = np.zeros((len(self.rows.terms), alpha.shape[1]), dtype=bool)
        for k, term in enumerate(rows.terms):
            if term.from_zero:
                out[k] = term.column @ alpha < term.cost * weight * (1.0 - SLACK)
        return out

    def _settle(
        self,
        c: Floats,
        rows: Rows,
        alpha: Floats,
        free: Any,
        coef: Floats,
        lam: Floats,
        given: Any,
        without: Ints | None,
        f: Floats | None,
    ) -> tuple[Floats, Floats | None]:
        """Terms that no row fixes go to the middle of what they may be, in c itself.

        Returns the interval of intercepts, and f without its intercept, where it was known or is
        asked for here: no numbers in other columns.
        """
        names = [term.name for term in self.rows.terms]
        b = names.index("intercept") if "intercept" in names else None
        interval = np.zeros((2, c.shape[1]))
        if b is not None:
            interval += c[b]
        weight, part, known = self.w.sum(), None, f is not None
        if without is not None:
            part = taking_part(len(self.w), without)
            weight = self.w @ part
            part = np.tile(part, (self.copies, 1))
            free &= part
        if len(c) == 1 and free.any(axis=0).all():  # any free row fixes a term that is alone
            return interval, f
        ended = self._ended(alpha, rows, weight)
        for group, kept in _groups(ended):
            if not len(kept) or (edges := self._edges_of(kept)).from_edges is None:
                continue
            some = group[~edges.fixed(free[:, group]).all(axis=0)]
            if not some.size:
                continue
            part_given = {name: v[some] for name, v in given.items()}
            if not known:
                f = np.full(coef.shape, np.nan) if f is None else f
                f[:, some] = self._f_alike(alpha[:, some], lam[some])
            assert f is not None
            asked = self._asked(self._declared(part_given).loss, alpha[:, some], f[:, some])
            if part is not None:
                asked = asked.among(part[:, some])
            middle, ends = edges.middle(c[np.ix_(kept, some)], asked)
            for row, k in enumerate(kept):
                least = 0.0 if self.rows.terms[k].from_zero else -np.inf
                c[k, some] = np.maximum(middle[row], least)
                if k == b:
                    interval[:, some] = edges.interval(row, ends)
        return interval, f

    def _edges_of(self, kept: Ints) -> Edges:
        key = tuple(int(k) for k in kept)
        if key not in self._edge_cache:
            self._edge_cache[key] = Edges(self.B[:, key])
        return self._edge_cache[key]

    @cached_property
    def _edge_cache(self) -> dict[tuple[int, ...], Edges]:
        return {}

    def free(self, c: Columns) -> Any:
        alpha = self._row_alpha(c.alpha)
        free = self._declared(c.given).loss.free(alpha / self.weight, self._near(alpha))
        return free.reshape(self.copies, len(self.w), -1).any(axis=0)

    def edges(self, c: Columns, width: int) -> list[list[tuple[float, Floats]]]:
        alpha = self._row_alpha(c.alpha)
        rows = self._declared(c.given)
        f = self._f(c.coef) if c.f is None else c.f
        if self.centred is not None:  # the intercept as `reading` has it
            f = f + self.centred.rise @ c.coef
        ended, asked = self._ended(alpha, rows, self.w.sum()), self._asked(rows.loss, alpha, f)
        names, out = [term.name for term in self.rows.terms], []
        for first, last in _alike(ended, width):
            kept = np.flatnonzero(~ended[:, first : first + width].any(axis=1))
            part = Bounds(*(x[:, first:last] for x in (asked.low, asked.high, asked.free)))
            place = [names[j] for j in kept].index("intercept")
            out += self._edges_of(kept).as_maxima(place, part, width)
        return out

    @property
    def reading(self) -> Reading:
        """lambda f = sum s alpha k + b0, lambda (the shift of y)."""
        inverse = self.parameter == "lambda"
        unit = self.z_unit / (1.0 if inverse else self.lambda_)
        of_terms = [self.scale * unit * (t.name == "intercept") for t in self.rows.terms]
        none, factor = np.zeros(len(of_terms)), self.rows.side * unit
        rise = np.zeros(len(self.w)) if self.centred is None else self.centred.rise
        return Reading(
            row=np.concatenate(
                [np.tile(np.arange(len(self.w)), self.copies), none.astype(np.intp)]
            ),
            factor=np.concatenate([factor, none]),
            level=np.concatenate([-factor * np.tile(rise, self.copies), of_terms]),
            shift=self.shift,
            inverse=inverse,
        )

    # ------------------------------------------------------------------ optimality

    def _f(self, coef: Floats) -> Floats:
        """f at the points without its intercept: K coef, or C coef + rise sum (see `Centred`)."""
        return self._with_rise(self.walked @ coef, coef)

    def at_own(self, c: Columns) -> Floats:
        """f(x_i) of the i-th column, for every point."""
        f = self.walked.own(c.coef) + c.intercept
        if self.centred is None:
            return f
        lift, total = self.centred.lift(c.coef)
        return f + lift + self.centred.rise * total

    def _f_alike(self, alpha: Floats, lam: Floats) -> Floats:
        """`_f` from multipliers; where columns have much in common, the matrix is read once."""
        signed = self._fold(alpha)
        change = signed - signed[:, :1]
        differ = np.flatnonzero(change.any(axis=1))
        if SIMILAR * len(differ) > len(signed) or not isinstance(self.walked, DenseGram):
            return self._f(signed / lam)
        first = self.walked @ signed[:, 0]
        f = (first[:, None] + self.walked.rows(differ).T @ change[differ]) / lam
        return self._with_rise(f, signed / lam)

    def _with_rise(self, f: Floats, coef: Floats) -> Floats:
        """What centring has taken out of K, but for what intercepts take up."""
        return f if self.centred is None else f + np.outer(self.centred.rise, exact_sum(coef))

    def _products(self, coef: Floats) -> tuple[Floats, Floats]:
        """f at the points without its intercept, and the sum of its absolute terms."""
        f, terms = self.walked.both(coef)
        f = self._with_rise(f, coef)
        if self.centred is not None:
            terms = terms + np.abs(self.centred.rise) @ np.abs(coef)
        return f, terms

    def _most(self, coef: Floats) -> Floats:
        """No less than the absolute terms of f at any point: |K_ij|^2 <= K_ii K_jj."""
        root = np.sqrt(np.maximum(self.walked.diagonal(), 0.0))
        rise = 0.0 if self.centred is None else np.abs(self.centred.rise)
        return np.asarray((root.max() * root + rise) @ np.abs(coef))

    def _held(self, c: Columns) -> Floats:
        """(terms, k): the unpenalised terms as a user holds them."""
        return self._terms(c, c.intercept)

    def _walked_terms(self, c: Columns) -> Floats:
        """(terms, k): the unpenalised terms, the intercept as that of the matrix that is walked."""
        lift = 0.0 if self.centred is None else self.centred.lift(c.coef)[0]
        return self._terms(c, c.intercept + lift)

    def _terms(self, c: Columns, intercept: Floats) -> Floats:
        held = c.given | {"intercept": intercept}
        terms = [held[term.name] for term in self.rows.terms]
        return np.array(terms).reshape(len(terms), len(c.value))

    def _positions(self, c: Columns, loss: Loss, f: Floats) -> Floats:
        """e = m - origin, the intercept and the origin both taken from the shift of y."""
        m = self.rows.side[:, None] * self._tiled(f)
        m += _by_columns(self.B, self._walked_terms(c) - self._zero[:, None])
        return m - (loss.origin - self._zero_at_rows)

    def objective(self, c: Columns) -> Floats:
        rows, f = self._declared(c.given), self._f(c.coef)
        return self._objective(c, rows, f, self._positions(c, rows.loss, f))

    def _objective(self, c: Columns, rows: Rows, f: Floats, e: Floats) -> Floats:
        costs = sum(t.cost * v for t, v in zip(rows.terms, self._held(c)))
        losses = np.sum(self.weight * rows.loss.value(e), axis=0)
        return 0.5 * c.lambda_ * np.sum(c.coef * f, axis=0) + losses + self.w.sum() * costs

    def certificate(self, c: Columns) -> Certificate:
        limit = c.lambda_ == 0
        if not limit.any():
            return self._certificate(c, self._declared(c.given), *self._products(c.coef))
        order, above = np.argsort(limit, kind="stable"), np.count_nonzero(~limit)
        parts = [self.certificate(c.some(order[:above]))] if above else []
        limits = self._limit(c.some(order[above:]))
        return Certificate.joined([*parts, limits]).some(np.argsort(order))

    def _limit(self, c: Columns) -> Certificate:
        """Of limits at lambda = 0: f has the least norm of all functions without loss.

        That is a machine with lambda = 1, whose multipliers are the coefficients, and with slopes
        that none of them reaches. Weights do not count, and what a user holds as alpha is zero.
        """
        hard, rows = copy(self), self._declared(c.given)
        hard.w, hard.weight = np.ones_like(self.w), np.ones_like(self.weight)
        hard.slope_unit = hard.z_unit = np.inf
        steep = 2.0 * np.maximum(np.abs(c.coef).max(axis=0), self.margin_unit(c.given) / self.scale)
        slopes = tuple(np.sign(slope) * steep for slope in rows.loss.slopes)
        terms = tuple(replace(t, cost=np.sign(t.cost) * steep) for t in rows.terms)
        alpha = self.rows.side[:, None] * c.coef if self.copies == 1 else c.coef
        judged = hard._certificate(
            replace(c, alpha=alpha, lambda_=np.ones_like(c.lambda_)),
            Rows(replace(rows.loss, slopes=slopes, softness=0.0), rows.side, terms),
            *self._products(c.coef),
        )
        held = np.abs(c.alpha).max(axis=0) / self.z_unit
        return replace(judged, kkt_violation=np.maximum(judged.kkt_violation, held))

    def _certificate(self, c: Columns, rows: Rows, f: Floats, terms: Floats) -> Certificate:
        """Natural residuals, coef against alpha, stationarity of terms, and the Fenchel gap.

        From the loss and what a user holds, never from the system that is walked. Each row is
        judged by its own weight, or by the largest multiplier where that is less.
        """
        loss, alpha = rows.loss, self._row_alpha(c.alpha)
        e, a, unit = self._positions(c, loss, f), alpha / self.weight, self._judge(c, terms)
        small = NEARLY_ZERO * self._alpha_scale(c.lambda_, c.given)
        largest = np.maximum(np.abs(alpha).max(axis=0), small)
        size = np.minimum(self.slope_unit, largest[:, None] / self.weight.T).T
        natural = loss.natural_residual(e, a, size, unit)
        each = np.minimum(self.slope_unit * self.w, largest[:, None]).T
        tied = np.abs(c.lambda_ * c.coef - self._fold(alpha)) / each
        sizes = self._sizes(c, loss, terms)
        known = loss.snapped(e, a, FLOORS * EPS * sizes.max(axis=0))
        gap = np.sum(self.weight * loss.fenchel_gap(known, a), axis=0)
        violation = np.maximum(natural.max(axis=0), tied.max(axis=0))
        for term, held, zero in zip(rows.terms, self._walked_terms(c), self._zero):
            off, excess = self._term_balance(term, held, alpha, unit, small)
            violation = np.maximum(violation, off)
            gap = gap + np.abs((held - zero) * excess)
        if all(term.name != "intercept" for term in self.rows.terms):  # none may be held then
            violation = np.maximum(violation, np.abs(c.intercept) / unit)
        least = self.share(c.given) * np.sum(self.weight * loss.cost_of(unit), axis=0)
        relative_gap = relative(gap, self._objective(c, rows, f, e), least)
        return Certificate(violation, relative_gap, EPS * sizes.max(axis=0) / unit)

    def _judge(self, c: Columns, terms: Floats) -> Any:
        """What margins are judged by. Without a target f is measured by its own terms, in the mean
        over multipliers, where these are less than `margin_unit`: multipliers go to the shortest
        rows, and f is of their size, however long the others are. Where rows that are nothing hold
        them all, f = 0.
        """
        unit = self.margin_unit(c.given)
        if self.target != "none":
            return unit
        size = np.abs(c.coef)
        held = size[self.walked.diagonal() > (FLOORS * EPS) ** 2 * self.scale].sum(axis=0)
        own = np.sum(size * terms, axis=0) / np.maximum(held, TINY)
        return np.where(held > BLIND * size.sum(axis=0), np.minimum(unit, own), unit)

    def _sizes(self, c: Columns, loss: Loss, terms: Floats) -> Floats:
        """The sums of absolute terms that make up e. Coefficients count as the largest of them:
        they are known to its round-off. Where pins move, to that of the largest weight.
        """
        largest = np.abs(c.coef).max(axis=0)
        if self._moving_pins:
            largest = np.maximum(largest, self.z_unit / c.lambda_)
        sizes = self._tiled(terms + self.scale * largest) + np.abs(loss.origin)
        return sizes + _by_columns(np.abs(self.B), np.abs(self._held(c)))

    def _term_balance(
        self, term: Term, held: Floats, alpha: Floats, unit: Any, small: Floats
    ) -> tuple[Floats, Floats]:
        """By how much a term violates stationarity, and its pull minus its cost: 0 where that
        cannot be told from round-off.
        """
        pull, cost = term.column @ alpha, term.cost * self.w.sum()
        size = np.maximum(np.abs(term.column) @ np.abs(alpha), small) + np.abs(cost)
        off, excess = (pull - cost) / size, pull - cost
        if term.from_zero:  # c >= 0, the pull at most the cost, and one of the two an equality
            off = np.minimum(held / unit, -off)
        return np.abs(off), np.where(np.abs(excess) <= FLOORS * EPS * size, 0.0, excess)

    # ------------------------------------------------------------------ problems made from this one

    def own_loss(self, target: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        single = len(self.rows.side) == len(self.y)
        if self.parameter != "lambda" or not (single or self._soft is not None):
            return super().own_loss(target)
        rows = self.declare(target[:, None], self.given)
        zero = np.zeros((len(rows.side), 1))
        bends = np.hstack([zero + rows.loss.origin + off for off in rows.loss.offsets])
        slopes = np.hstack([zero + g for g in rows.loss.slopes])
        return bends.T, slopes.T, rows.side, (zero + rows.loss.softness)[:, 0]

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        """Along another parameter every stair and every variable is the same."""
        lam, given = self._parameters(np.array([t]))
        now = {name: float(value[0]) for name, value in given.items()}
        if np.isinf(now.get(parameter, 0.0)):
            raise ValueError(f"{parameter} is infinite here: there is nothing to carry on along it")
        spec = self.spec() | now | {"along": parameter, "lambda_": float(lam[0])}
        problem = type(self)(self.gram, self.y, self.w, **spec)
        return Turned(problem, stair, z, float(lam[0]) if parameter == "lambda" else now[parameter])

    def leaving(self, i: int, t: float) -> Floats:
        """W becomes W - w_i in the costs."""
        e = np.zeros(len(self.system))
        _, given = self._parameters(np.array([t]))
        for k, term in enumerate(self._declared(given).terms):
            e[len(self.B) + k] = -float(np.ravel(term.cost)[0]) * self.w[i] / self.z_unit
        return e

    def among(self, points: Ints) -> KernelMachine:
        return type(self)(self.gram.among(points), self.y[points], self.w[points], **self.spec())

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        fixed = {"along": cls.along[0], "lambda_": 1.0, "intercept": True}
        return fixed | {name: p.default for name, p in cls.parameters.items()}

    def spec(self) -> dict[str, Any]:
        fixed = {"along": self.parameter, "lambda_": self.lambda_, "intercept": self.intercept}
        return fixed | self.given


def _once(value: Any) -> Any:
    """What is the same in all columns, once for all of them: rows then have one column, too."""
    if isinstance(value, np.ndarray) and len(value) and np.all(value == value[0]):
        return value[:1]
    return value


def _by_columns(B: Floats, c: Floats) -> Floats:
    """B c, in the order of memory that columns of solutions have: one after the other."""
    return (c.T @ B.T).T


def best_constant(
    side: Floats, w: Floats, bends: Floats, slopes: Floats
) -> tuple[Ints, Floats, float]:
    """The constant that fits rows best: their stairs and the constant's, z, and the constant.

    `bends` are the constants at which rows meet their kinks, `slopes` those of their losses, one
    row each. One row stands at a kink, so that the constant is fixed.
    """
    kinks, rows = bends.shape[1], np.arange(len(w))
    bent = (w[:, None] * np.diff(slopes, axis=1)).ravel()
    order = np.argsort(bends.ravel(), kind="stable")
    outer = float(w @ np.where(side > 0, slopes[:, 0], -slopes[:, -1]))
    # The first kink at which the slopes are no longer negative: round-off does not count.
    so_far = outer + np.cumsum(bent[order])
    k = int(np.argmax(so_far >= -4 * EPS * np.abs(bent).sum()))
    passed = np.zeros(len(order), dtype=bool)
    passed[order[:k]] = True
    j = passed.reshape(-1, kinks).sum(axis=1)
    j = np.where(side > 0, j, kinks - j)
    stair, z = 1 + 2 * (kinks - j), 0.0 - w * slopes[rows, j]
    i, kink = divmod(int(order[k]), kinks)
    stair[i] = 2 + 2 * (kinks - 1 - kink)
    low, high = -w[i] * slopes[i, kink + 1], -w[i] * slopes[i, kink]
    z[i] = 0.0
    z[i] = np.clip(-side[i] * (side @ z), low, high)
    return np.append(stair, 2), np.append(z, 0.0), float(bends[i, kink])


def row_stairs(
    loss: Loss,
    weight: Floats,
    level: Callable[[Any], Affine],
    n: int,
    in_t: Callable[[Any], Affine] = affine,
) -> Staircases:
    """The staircases of n rows, bottom to top: from the last slope to the first.

    `level` is the residual at which an offset is met, `in_t` what moves in the engine's units.
    """
    pins = [in_t(0.0 - weight * affine(g)) for g in reversed(loss.slopes)]
    treads = [level(off) for off in reversed(loss.offsets)]
    stairs = [_column(pins[0])]
    for tread, pin in zip(treads, pins[1:]):
        stairs += [_column(tread), _column(pin)]
    return Staircases.build(n, first="pin", stairs=stairs)


def bisected(rising: Callable[[float], float], ends: Floats) -> float:
    """Where a rising function comes to zero between the least and the largest of `ends`."""
    low, high = float(ends.min()), float(ends.max())
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


def _column(x: Affine) -> tuple[Floats, Floats]:
    """Value and slope as vectors: of one entry where all rows have the same."""
    return np.reshape(x.value, -1), np.reshape(x.rate, -1)


def _term_stairs(term: Term) -> Staircases:
    """An endless tread, above a pin at 0 where the term is not negative."""
    if term.from_zero:
        return Staircases.build(1, first="pin", stairs=[(0.0, 0.0), (0.0, 0.0)])
    return endless_tread()


def swept(
    alpha: Floats, none: Floats, own: Floats, low: Floats, high: Floats, part: Any = DUST
) -> Floats:
    """Multipliers between their outer pins, on either side of zero, without the dust that round-off
    leaves of zeros.

    Where none of them exceeds `none`, there is no model. `own` measures each of them: beside much
    smaller ones that of a large weight is measured by the largest.
    """
    size = np.abs(alpha)
    largest = size.max(axis=0, initial=0.0)
    dust = part * np.minimum(own, largest)
    np.copyto(dust, none, where=np.all(size <= none, axis=0))
    out = np.clip(alpha, low, high)
    np.copyto(out, 0.0, where=size <= dust)
    return out


def taking_part(n: int, without: Ints) -> Any:
    """(n, columns): which points take part in each column."""
    part = np.ones((n, len(without)), dtype=bool)
    part[without, np.arange(len(without))] = False
    return part


def _alike(ended: Any, width: int) -> list[tuple[int, int]]:
    """Runs of columns, `width` of them or several times that, in which the same terms ended."""
    if not ended.any():
        return [(0, ended.shape[1])]
    return [(k, k + width) for k in range(0, ended.shape[1], width)]


def _groups(ended: Any) -> list[tuple[Ints, Ints]]:
    """Columns in which the same terms are at their lower ends, with the terms that are not."""
    if not ended.any():
        return [(np.arange(ended.shape[1]), np.arange(ended.shape[0]))]
    states, which = np.unique(ended, axis=1, return_inverse=True)
    which = which.reshape(-1)
    return [(np.flatnonzero(which == g), np.flatnonzero(~s)) for g, s in enumerate(states.T)]
