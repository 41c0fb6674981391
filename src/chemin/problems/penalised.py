"""Coefficients with an L1 penalty: rows with convex piecewise-linear losses, and what follows.

    min  sum_i w_i L_i(m_i) + lambda2/2 b'R b + lambda1 |b|_1,       m_i = s_i (A_i b + b0)

Rows i with features A_i and sides s_i, losses by kinks and slopes (`loss.py`). With
alpha_i = -w_i L_i' and v = A'S alpha - lambda2 R b:

    v_j = lambda1 sign(b_j), or |v_j| <= lambda1 where b_j = 0;       s'alpha = 0

In B = lambda2 b and B0 = lambda2 b0 neither lambda stands in the matrix, so that both are straight:

    M = [ R     -A'S   0 ]   B:     tread -lambda1, pin 0, tread +lambda1
        [ S A    0     s ]   alpha: pins -w g_j, treads at lambda2 (origin + offset_j) from 0
        [ 0     -s'    0 ]   B0:    endless tread

A problem says A, R and `declare`; the rest is here.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from ..certificate import EPS, FLOORS, NEARLY_ZERO, TINY, Certificate, relative
from ..kernels import BlockCoupling
from .affine import MOVING, Affine
from .base import Columns, Problem, Reading, Start, Turned
from .loss import Loss
from .machine import AT_PIN, DUST, TIED, TOLD, Rows, best_constant, row_stairs, swept
from .staircase import Floats, Ints, Staircases, StaircaseSystem, endless_tread
from .terms import Bounds, Edges, Term

NEGATIVE, ZERO, POSITIVE = 2, 3, 4  # columns of the staircase table of B
ABOVE = 1.01  # times the largest correlation: no coefficient moves from there on
# What correlations are measured by along lambda1, as a part of what one multiplier adds to them:
# coefficients may be large there, and what they add to the gap is their product.
PULL = 0.1
NO_MODEL = 1e-10  # of a margin: where no coefficient moves f by more along lambda2, f = 0
FAINT = 1e-9  # of a margin: jumps take coefficients so far beyond 0, see ASIDE
UNSEEN = 1e-10  # part of its weight: a change of a multiplier that no certificate of its row sees
CHUNK = 1024  # columns of R whose absolute values are formed at once


class Penalised(Problem):
    """A declaration and its data. Units: A has entries up to one, and so have weights and R."""

    of_points = False
    target = "labels"
    criterion = "accuracy"
    edge_name = "non-zero coefficients"
    # Their walks jump often, and a wrong stretch after a jump is short: a sample would miss it.
    audit_work = 50.0
    stair_names = ("negative", "zero", "positive", "outside", "elbow", "inside")

    A: Floats  # (m, p) features of the rows
    R: Floats | None  # (p, p), or None where there is no quadratic part
    y: Floats  # (m,)
    weight: Floats  # (m,)
    row_norm: Floats  # (m,): |A_i b|^2 <= row_norm_i^2 b'R b
    lambda1: float
    lambda2: float
    intercept: bool

    def _set_up(self) -> None:
        """All that follows from the data."""
        self.rows = self.declare(self.y[:, None])
        self.side, self.loss = self.rows.side, self.rows.loss
        m, p = self.A.shape
        self.scale = self.column_scale()
        self.w_unit = float(self.weight.max())
        self.top = float(self.scale.max())
        self.force = self.scale * self.w_unit  # the units of correlations
        self.pull = self._pull_unit()  # the unit of lambda2 times margins
        self.unit = self.top * self.w_unit if self.moves_first else self.pull
        self.column = self.weight[:, None]
        self.fixed_while_moving = False
        self.system = self._system(m, p)

    # ------------------------------------------------------------------ what a problem says

    @abstractmethod
    def declare(self, y: Floats) -> Rows:
        """The rows for targets y, of shape (m, 1)."""

    def column_scale(self) -> Floats:
        """(p,) the size of each column of A."""
        return np.full(self.A.shape[1], float(np.abs(self.A).max()) or 1.0)

    @property
    def moves_first(self) -> bool:
        """Whether lambda1 moves; or lambda2."""
        return self.parameter != "lambda2"

    def held(self, lambda1: Floats, lambda2: Floats) -> dict[str, Floats]:
        """The parameters that solutions have besides lambda, by name."""
        return {}

    def lambdas(self, c: Columns) -> tuple[Floats, Floats]:
        """lambda1 and lambda2 of solutions that a user holds."""
        return c.lambda_, np.full_like(c.lambda_, self.lambda2)

    def show_alpha(self, alpha: Floats) -> Floats:
        """Multipliers of rows as a user holds them."""
        return alpha

    def row_alpha(self, alpha: Floats) -> Floats:
        """And back."""
        return alpha

    def penalty(self, lambda1: Any) -> Loss:
        """lambda1 |b|, by its kink and slopes."""
        return Loss(origin=0.0, offsets=(0.0,), slopes=(-1.0 * lambda1, lambda1))

    def constant(self, side: Floats) -> tuple[Term, ...]:
        """The intercept, if there is one."""
        return (Term("intercept", side),) if self.intercept else ()

    # ------------------------------------------------------------------ the system

    @cached_property
    def _stiffness(self) -> float:
        """By how much of their unit R b moves correlations where b moves f by one."""
        largest = 0.0 if self.R is None else float((self.R.diagonal() / self.scale**2).max())
        return largest / self.w_unit

    def _pull_unit(self) -> float:
        """Such that coefficients are of order one: margins of one, or R of order one."""
        natural = 1.0 / self._stiffness if self._stiffness > 0 else np.inf
        if self.moves_first:
            return min(self.lambda2, natural)
        return natural if np.isfinite(natural) else self.lambda2

    def _system(self, m: int, p: int) -> StaircaseSystem:
        second = MOVING if not self.moves_first else Affine(self.lambda2 / self.pull)
        first = MOVING if self.moves_first else Affine(self.lambda1 / (self.top * self.w_unit))
        origin = np.broadcast_to(np.reshape(self.loss.origin, -1), (m,))
        target = second * -origin
        none, terms = np.zeros(p), len(self.rows.terms)
        lower, upper = self.penalty(first * (self.top / self.scale)).slopes
        return StaircaseSystem(
            self._coupling(m, p),
            q=np.concatenate([none, target.value + np.zeros(m), np.zeros(terms)]),
            r=np.concatenate([none, target.rate + np.zeros(m), np.zeros(terms)]),
            stairs=Staircases.stack(
                Staircases.build(
                    p,
                    first="tread",
                    stairs=[(lower.value, lower.rate), (0.0, 0.0), (upper.value, upper.rate)],
                ),
                row_stairs(
                    self.loss, self.column / self.w_unit, lambda off: second * (-1.0 * off), m
                ),
                *(endless_tread() for _ in range(terms)),
            ),
            unit=(
                np.repeat([PULL if self.moves_first else 1.0, second.value, 0.0], [p, m, terms]),
                np.repeat([0.0, second.rate, 0.0], [p, m, terms]),
            ),
        )

    def _coupling(self, m: int, p: int) -> BlockCoupling:
        root = np.sqrt(self.pull / self.w_unit)
        blocks = {(0, 1): np.ascontiguousarray(self.A.T), (1, 0): self.A}
        if self.R is not None:
            blocks[0, 0] = self.R
        terms = len(self.rows.terms)
        return BlockCoupling(
            blocks,
            group=np.repeat([0, 1], [p, m]),
            index=np.concatenate([np.arange(p), np.arange(m)]),
            sign=np.concatenate([root / self.scale, -self.side / root]),
            sigma=np.concatenate([np.ones(p), -np.ones(m), np.ones(terms)]),
            border=np.vstack([np.zeros((p, terms)), -self.rows.columns]),
        )

    @property
    def variables(self) -> Ints:
        """How events name variables: coefficients, then rows, then the intercept."""
        p = self.A.shape[1]
        names = np.concatenate([np.arange(p), p + self.row_names, [p + self.n_alpha]])
        return names[: len(self.system)]

    @property
    def row_names(self) -> Ints:
        """The place of each row among the multipliers that a user holds."""
        return np.arange(len(self.A))

    @property
    def n_alpha(self) -> int:
        """How many multipliers a user holds."""
        return len(self.A)

    def name_stairs(self, variable: Ints, stair: Ints) -> Ints:
        return np.where(variable < self.A.shape[1], stair - NEGATIVE, stair - 1 + 3)

    # ------------------------------------------------------------------ where to begin

    def start(self, value: float | None = None) -> Start:
        """b = 0 and the best constant.

        Along lambda1 that is a solution as long as no correlation exceeds lambda1. Along lambda2
        phase one finds B; f = B/lambda2 moves no row from its place where lambda2 is so large that
        |A B|, which cannot exceed max row_norm_i sum w_j row_norm_j, is less than the distance to
        the next kink.
        """
        m, p = self.A.shape
        slopes = np.hstack([np.zeros((m, 1)) + g for g in self.loss.slopes])
        kinks = np.hstack([np.zeros((m, 1)) + self.loss.origin + off for off in self.loss.offsets])
        w = self.weight / self.w_unit
        if self.rows.terms:
            stair, z, at = best_constant(self.side, w, self.side[:, None] * kinks, slopes)
        else:
            j = (kinks < 0).sum(axis=1)
            stair, z = 1 + 2 * (slopes.shape[1] - 1 - j), -w * slopes[np.arange(m), j]
            at = 0.0
        stair = np.concatenate([np.full(p, ZERO), stair]).astype(np.intp)
        everything = np.concatenate([np.zeros(p), z])
        if value is not None:
            return Start(stair, everything, value / self.unit)
        if self.moves_first:
            largest = float(np.abs(self.A.T @ (self.side * z[:m])).max()) / self.top
            return Start(stair, everything, ABOVE * largest or 1.0, highest=True)
        apart = np.abs(self.side[:, None] * kinks - at)
        gap = float(apart[apart > TIED * np.abs(kinks).max()].min(initial=2.0))
        most = float(np.abs(slopes).max() * self.row_norm.max() * (self.weight @ self.row_norm))
        return Start(stair, everything, 4.0 * most / (gap * self.pull) or 1.0, highest=True)

    # ------------------------------------------------------------------ solutions

    def _values(self, t: Floats) -> tuple[Floats, Floats]:
        """lambda1 and lambda2 at t."""
        value, still = t * self.unit, np.ones_like(t)
        if self.moves_first:
            return value, self.lambda2 * still
        return self.lambda1 * still, value

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        (m, p), (first, second) = self.A.shape, self._values(t)
        coef = self._swept(z[:p] * (self.pull / second), second) / self.scale[:, None]
        low, high = (0.0 - self.column * g for g in (self.loss.slopes[-1], self.loss.slopes[0]))
        # Multipliers vanish with lambda1, and the model does not: none is too small to count.
        none = np.zeros(len(t))
        alpha = swept(z[p : p + m] * self.w_unit, none, self.column, low, high, TOLD)
        b = z[p + m] * (self.pull / second) if self.rows.terms else np.zeros(len(t))
        interval = np.tile(b, (2, 1))
        self._right_signs(coef, alpha, first, second)
        if self.rows.terms:
            self._balance_small(alpha, coef, first, second)
            self._settle(alpha, coef, b, interval)
        value = first if self.moves_first else second
        shown = self.show_alpha(alpha)
        return Columns(value, coef, b, interval, shown, *self._named(first, second))

    def _swept(self, moved: Floats, lambda2: Floats) -> Floats:
        """Coefficients, by how far they move f or, through R, correlations, without the dust that
        round-off leaves of zeros.

        Along lambda1 a walk begins with all of them at their pins: a small model is one there, down
        to what walks leave of zeros in what it moves, margins or correlations.
        """
        endless, none = np.full(1, np.inf), np.full(moved.shape[1], NO_MODEL)
        own = 1.0 / np.maximum(1.0, lambda2 * self._stiffness)
        if self.moves_first:
            none = DUST * own
        return swept(moved, none, np.minimum(own, _unit(moved)), -endless, endless)

    def _named(self, first: Floats, second: Floats) -> tuple[Floats, dict[str, Floats]]:
        """lambda_ of solutions, and the other parameters."""
        return first, self.held(first, second)

    def _near(self) -> Floats:
        """How near to a pin a multiplier counts as at it, for a unit of its weight."""
        return AT_PIN * np.minimum(self.column, self.w_unit) / self.column

    def _right_signs(self, coef: Floats, alpha: Floats, lambda1: Floats, lambda2: Floats) -> None:
        """Coefficients that move f by next to nothing, against what pulls them, become 0, in place.

        Walks know where 0 is to their own precision. Beside a model that has just begun it counts.
        """
        faint = (coef != 0) & (np.abs(coef) <= FAINT / self.scale[:, None])
        for k in np.flatnonzero(faint.any(axis=0)):
            J, b = np.flatnonzero(faint[:, k]), coef[:, k]
            v = self.A[:, J].T @ (self.side * alpha[:, k])
            if self.R is not None:
                v -= lambda2[k] * (self.R[J] @ b)
            b[J[v * np.sign(b[J]) < -0.5 * lambda1[k]]] = 0.0

    def _balance_small(self, alpha: Floats, coef: Floats, lambda1: Floats, lambda2: Floats) -> None:
        """Multipliers that are far below the weights, to digits of their own, in place.

        A walk knows them to round-off of the weights. Where all of them together are less than a
        part of one, those that are free make up for it by the shortest step that solves their own
        equations: A_J'S alpha = lambda1 sign(b_J) + lambda2 (R b)_J and s'alpha = 0. What is
        nothing but round-off of the weights, as at lambda1 = 0, is 0.
        """
        total = np.abs(alpha).sum(axis=0)
        for k in np.flatnonzero((total > 0) & (total < NEARLY_ZERO * self.w_unit)):
            a, b = alpha[:, k], coef[:, k]
            free, J = np.flatnonzero((a != 0) & (a != self.weight)), np.flatnonzero(b)
            if len(free) == 0:
                continue
            pulled = lambda2[k] * (b[J] @ self.R[np.ix_(J, J)]) if self.R is not None else 0.0
            wanted = np.append((lambda1[k] * np.sign(b[J]) + pulled) / self.scale[J], 0.0)
            S = np.vstack([(self.A[:, J] / self.scale[J]).T, np.ones(len(a))]) * self.side
            step = a[free] * np.linalg.lstsq(S[:, free] * a[free], wanted - S @ a)[0]
            if np.all(np.abs(step) <= UNSEEN * self.weight[free]):
                a[free] += step
            if np.abs(a).sum() <= FLOORS * EPS * self.w_unit:
                a[:] = 0.0

    def _settle(self, alpha: Floats, coef: Floats, b: Floats, interval: Floats) -> None:
        """Intercepts that no row fixes go to the middle of what they may be, in place."""
        near = np.broadcast_to(self._near(), alpha.shape)
        some = np.flatnonzero(~self.loss.free(alpha / self.column, near).any(axis=0))
        if some.size:
            asked = self._asked(alpha[:, some], coef[:, some])
            middle, ends = self._edge.middle(b[None, some], asked)
            b[some], interval[:, some] = middle[0], self._edge.interval(0, ends)

    def _asked(self, alpha: Floats, coef: Floats) -> Bounds:
        """What each row asks of s_i b0."""
        a, near = alpha / self.column, np.broadcast_to(self._near(), alpha.shape)
        low, high = self.loss.bracket(a, near)
        at = self.loss.origin - self.side[:, None] * self._f(coef)
        return Bounds(low + at, high + at, self.loss.free(a, near))

    @cached_property
    def _edge(self) -> Edges:
        return Edges(self.rows.columns)

    def edges(self, c: Columns, width: int) -> list[list[tuple[float, Floats]]]:
        asked = self._asked(self.row_alpha(c.alpha), c.coef)
        return self._edge.as_maxima(0, asked, width)

    @property
    def reading(self) -> Reading:
        """lambda2 f = sum B k + B0; along lambda1 lambda2 is a number."""
        m, p = self.A.shape
        unit = self.pull / (self.lambda2 if self.moves_first else 1.0)
        rest = len(self.system) - p
        level = np.zeros(len(self.system))
        level[p + m :] = unit
        return Reading(
            row=np.concatenate([np.arange(p), np.zeros(rest, np.intp)]),
            factor=np.concatenate([unit / self.scale, np.zeros(rest)]),
            level=level,
            shift=0.0,
            inverse=not self.moves_first,
        )

    def free(self, c: Columns) -> Any:
        return c.coef != 0

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        """Along the other lambda every stair is the same; B may have another unit."""
        first, second = (float(v[0]) for v in self._values(np.array([t])))
        problem = self._along(parameter, first, second)
        m, p = self.A.shape
        z = z.copy()
        z[:p] *= self.pull / problem.pull
        z[p + m :] *= self.pull / problem.pull
        return Turned(problem, stair, z, first if problem.moves_first else second)

    def _along(self, parameter: str, lambda1: float, lambda2: float) -> Penalised:
        """The same data along another parameter, at these values of both."""
        raise NotImplementedError

    # ------------------------------------------------------------------ optimality

    def _f(self, coef: Floats) -> Floats:
        """A b."""
        some = _rows_with(coef)
        return self.A[:, some] @ coef[some]

    def _products(self, coef: Floats) -> tuple[Floats, Floats]:
        """R b and |R| |b|, from the rows of R that count."""
        out = np.zeros_like(coef), np.zeros_like(coef)
        if self.R is None:
            return out
        some = _rows_with(coef)
        for k in range(0, len(some), CHUNK):
            part = some[k : k + CHUNK]
            block = self.R[part]
            out[0][...] += block.T @ coef[part]
            out[1][...] += np.abs(block, out=block).T @ np.abs(coef[part])
        return out

    def objective(self, c: Columns) -> Floats:
        return self._objective(c, self._f(c.coef), self._products(c.coef)[0])

    def _objective(self, c: Columns, f: Floats, Rb: Floats) -> Floats:
        first, second = self.lambdas(c)
        e = self.side[:, None] * (f + c.intercept) - self.loss.origin
        losses = np.sum(self.column * self.loss.value(e), axis=0)
        quadratic = 0.5 * second * np.sum(c.coef * Rb, axis=0)
        return losses + quadratic + first * np.abs(c.coef).sum(axis=0)

    def certificate(self, c: Columns) -> Certificate:
        """Natural residuals of rows and of coefficients, the sum of the multipliers, and the gap.

            P - D = sum_i w_i [L + L*](row i) + alpha_i m_i  +  sum_j pen(b_j) + pen*(v_j) - b_j v_j

        Every bracket is >= 0. Margins are measured by 1; correlations v by that of one row of the
        largest weight; coefficients by what moves f by one, or by the largest of them.
        """
        (first, second), alpha = self.lambdas(c), self.row_alpha(c.alpha)
        f, (Rb, terms) = self._f(c.coef), self._products(c.coef)
        e, a = self.side[:, None] * (f + c.intercept) - self.loss.origin, alpha / self.column
        v = self.A.T @ (self.side[:, None] * alpha) - second * Rb
        in_f, in_v = self._sizes(c, alpha, second * terms)
        force, moved = self.force[:, None], c.coef * self.scale[:, None]
        natural = self.loss.natural_residual(e, a, np.ones_like(a), 1.0)
        pen, each = self.penalty(first / force), np.ones_like(v)
        of_b = pen.natural_residual(moved, -v / force, each, _unit(moved))
        off, more = self._balance(c.intercept, alpha)
        known = self.loss.snapped(e, a, FLOORS * EPS * in_f)
        gap = np.sum(self.column * self.loss.fenchel_gap(known, a), axis=0)
        gap += self._gap_of_b(c.coef, v, first, FLOORS * EPS * in_v) + more
        least = np.sum(self.column * self.loss.cost_of(1.0))
        return Certificate(
            np.maximum(np.maximum(natural.max(axis=0), of_b.max(axis=0)), off),
            relative(gap, self._objective(c, f, Rb), least),
            EPS * np.maximum(in_f, (in_v / force).max(axis=0)),
        )

    def _sizes(self, c: Columns, alpha: Floats, terms: Floats) -> tuple[Floats, Floats]:
        """The sums of absolute terms that make up margins, the largest, and correlations, each."""
        size, some = np.abs(c.coef), _rows_with(c.coef)
        in_f = (np.abs(self.A[:, some]) @ size[some]).max(axis=0, initial=0.0)
        in_f = in_f + np.abs(c.intercept) + np.abs(self.loss.origin).max()
        return in_f, np.abs(self.A).T @ np.abs(alpha) + terms

    def _gap_of_b(self, coef: Floats, v: Floats, lambda1: Floats, noise: Floats) -> Floats:
        """sum_j lambda1 |b_j| - b_j v_j: what is beyond round-off, and none below 0."""
        short = np.abs(lambda1 - np.sign(coef) * v)
        return np.asarray(np.sum(np.abs(coef) * np.where(short <= noise, 0.0, short), axis=0))

    def _balance(self, intercept: Floats, alpha: Floats) -> tuple[Floats, Floats]:
        """How far s'alpha is from 0, and what that adds to the gap; without an intercept: b0.

        Measured by its own terms. By weights it could not be: where rows can all be met multipliers
        vanish with lambda1, as the objective does (both are sum alpha then), and an excess of all
        of them, which is a wrong intercept, would be below any part of a weight.
        """
        if not self.rows.terms:
            return np.abs(intercept), np.zeros_like(intercept)
        excess = self.side @ alpha
        size = np.maximum(np.abs(self.side) @ np.abs(alpha), TINY)
        told = np.abs(excess) > FLOORS * EPS * size
        return np.abs(excess) / size, np.where(told, np.abs(intercept * excess), 0.0)

    def own_loss(self, target: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        rows = self.declare(target[:, None])
        zero = np.zeros((len(target), 1))
        bends = np.hstack([zero + rows.loss.origin + off for off in rows.loss.offsets])
        slopes = np.hstack([zero + g for g in rows.loss.slopes])
        return bends.T, slopes.T, rows.side, (zero + rows.loss.softness)[:, 0]


def _rows_with(coef: Floats) -> Ints:
    """The coefficients that are not zero in all columns."""
    return np.flatnonzero(coef.any(axis=1))


def _unit(moved: Floats) -> Floats:
    """What coefficients are measured by, in each column: by 1, or the largest where it is less."""
    return np.clip(np.abs(moved).max(axis=0, initial=0.0), NO_MODEL, 1.0)


def hinge(y: Floats) -> Loss:
    """max(0, 1 - m)."""
    return Loss(origin=1.0, offsets=(0.0,), slopes=(-1.0, 0.0))
