"""The reference walk: the whole algorithm, in plain NumPy, made to be read.

A walker stands on the solution of a staircase problem (`problems.staircase`) and follows it while
t moves. Each variable stands on a stair. F is the active set: the variables on treads. Between two
events everything is linear in t, and with G = diag(sigma) M symmetric the direction solves

    G_FF z'_F = -sigma_F (r_F + l'_F + M_FP v'_P),        h' = -(M z' + r),

where l' and v' are the slopes of the treads' levels and of the pins' values. The walk:

    move     solve for the direction
    advance  ratio test: go to the first variable that reaches the end of its stair
    settle   move variables over their corners, one at a time, until all can go on

**Jumps.** When the new G_FF is singular the path stands still in t and moves along the null vector
of G_FF until a variable blocks.

**Ties.** Variables that stand at a corner together are given distinct random offsets, infinitely
small beside every other distance, and the same walk is made in these offsets until none of
them blocks. This is the lexicographic rule with a random order: offsets make the problem generic,
a generic problem never revisits a state, and there are finitely many states.

What to do about round-off (drift, standstill, negative pivots) is in `rescue.py`: the methods
named on_... here are what exact arithmetic would need.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..problems.staircase import Floats, Ints, StaircaseSystem
from .compensated import residual
from .reasons import IndefiniteError, Reason, StuckError
from .tolerances import (
    ASIDE,
    DOWN_FIRST,
    ENDLESS,
    ENTRIES,
    EPS,
    INDEFINITE,
    LONG,
    NEAR_ZERO,
    NOUGHT,
    PRECISION,
    ROUNDING,
    VANISHING,
)
from .trace import Recorder

REFINEMENTS = 8  # at the most; one or two are enough when G_FF is well conditioned
VISITS = 2  # of a state while corners are passed: more are round-off's, for there should be one


@dataclass
class Move:
    """A direction: speeds of z, of h and of t (0 in a jump), with the closing speeds to corners."""

    z: Floats
    h: Floats
    t: float
    closing: Floats  # (2, N): towards the stair below, towards the stair above


class Walker:
    """A point that walks along the solution of `system` while t moves."""

    def __init__(
        self,
        system: StaircaseSystem,
        stair: Ints,
        z: Floats,
        t: float,
        recorder: Recorder,
        rng: np.random.Generator,
    ) -> None:
        self.system, self.stair, self.z, self.t = system, stair.copy(), z.copy(), t
        self.recorder, self.rng = recorder, rng
        self.sigma = system.coupling.sigma
        self.rows = np.arange(len(system))
        self.slack = 1.0  # on tolerances
        self.jump: Floats | None = None
        self.h: Floats
        self.blocking = np.zeros((2, len(system)), dtype=bool)
        self.t_begin, self.far = abs(t), 0.0
        self.carried_from = 0.0  # |t| where another walk began that this one carries on
        self.passed = 0  # corners so far
        self.patience = 20 * len(system) + 100
        self.progress: Callable[[float, int], None] = lambda t, events: None
        self.refresh()
        self.factor()

    # ------------------------------------------------------------------ the loop

    def walk(self, t_end: float, most: int | None = None) -> bool:
        """Follow the solution to t_end (which may be infinite), or for `most` steps.

        Returns whether it has arrived.
        """
        way = 1.0 if t_end >= self.t else -1.0
        self.far = abs(t_end) if np.isfinite(t_end) else 0.0
        move, jumps, first = self.settle(way), 0, abs(self.t)
        idle, passed = 0, self.passed  # moves after which no corner was passed, one after the other
        while most is None or most > 0:
            # The walk begins at its first event; one of a few steps is part of another.
            if not self.passed and most is None:
                self.t_begin = max(abs(self.t), NEAR_ZERO * first, self.carried_from)
            move = self.on_drift(way, move)
            step, arrives = self.how_far(move, t_end)
            if not np.isfinite(step):
                return self.on_ray(t_end)
            t = t_end if arrives and np.isfinite(t_end) else self.t + move.t * step
            jumps = jumps + 1 if t == self.t else 0
            self.on_standstill(jumps)
            self.advance(move, step, t)
            if arrives:  # no variable blocks here: a further walk begins anew
                self.blocking = np.zeros_like(self.blocking)
                return True
            move = self.settle(way)
            idle, passed = idle + 1 if self.passed == passed else 0, self.passed
            if idle > self.patience:
                raise StuckError(Reason.STANDSTILL(idle))
            most = None if most is None else most - (self.jump is None)
        return False

    def how_far(self, move: Move, t_end: float) -> tuple[float, bool]:
        """The length of the next step, and whether it arrives at t_end."""
        step, left = self.first_block(move), abs(t_end - self.t)
        if not move.t:
            return step, False
        if not np.isfinite(left) and step > ENDLESS * abs(self.t):
            return abs(self.t), True
        nought = NOUGHT * self.t_begin / (1.0 - LONG)
        nought = max(nought, self.system.blind_below(self.tolerance))
        # What comes next may be told from 0 no more, where it need not be told from t itself.
        lands = abs(self.t) if self.system.unit_moves else abs(self.t) - step
        if t_end == 0.0 and min(abs(self.t), lands) <= nought:
            return left, True
        # Long ways are cut, so that drift is measured by the tolerance where the way ends.
        shrinks = self.system.unit_moves and abs(self.t) > max(abs(t_end), nought)
        if shrinks and step > LONG * abs(self.t):
            step, self.blocking = LONG * abs(self.t), np.zeros_like(self.blocking)
        return (left, True) if step >= left else (step, False)

    def advance(self, move: Move, step: float, t: float) -> None:
        self.recorder.move(self.t, t, move.z, step)
        self.z = self.z + step * move.z
        self.h = self.h + step * move.h
        self.t = t
        self.progress(t, self.passed)

    # ------------------------------------------------------------------ the state

    def level(self, shift: int) -> Floats:
        """The value of each variable's stair (shift 0) or of its neighbours (-1, 1)."""
        return self.system.stairs.level(self.stair + shift, self.t)

    def gaps(self) -> Floats:
        """(2, N): how far each variable's moving coordinate is from the stairs below and above."""
        x = np.where(self.tread, self.z, self.h)
        return np.array([x - self.level(-1), self.level(1) - x])

    def refresh(self) -> None:
        """h, its tolerances and its drift, from the data."""
        system, t = self.system, self.t
        self.tread = self.stair % 2 == 0
        self.free = np.flatnonzero(self.tread)
        self.span = system.stairs.span(t)
        self.box = system.boxes(t, self.span)
        held = self.level(0)
        self.z[~self.tread] = held[~self.tread]
        self.h, self.size = self.measured()
        self.tolerance = self.slack * system.tolerances(self.size, t, PRECISION, ROUNDING)
        # How precisely z can be known: multipliers are of order 1, or of the linear term; what is
        # no multiplier is of the residuals' own kind.
        nearly = PRECISION * min(1.0, system.pull(t))
        coarsest = self.tolerance[system.measured].max()
        self.blur = np.where(system.boxed, nearly * self.box, coarsest)
        self.drift = system.stairs.off(self.stair, self.h, t)
        self.h[self.tread] = held[self.tread]

    def measured(self) -> tuple[Floats, Floats]:
        """h, and the sums of the absolute terms that make it up, from the data."""
        system, t = self.system, self.t
        size = system.coupling.magnitude(self.z) + np.abs(system.q + t * system.r)
        return system.residual(self.z, t), size

    # ------------------------------------------------------------------ direction and step

    def factor(self) -> None:
        self.G = G = np.ascontiguousarray(self.system.coupling.block(self.free, self.free))
        with warnings.catch_warnings():  # an exact zero pivot: `solve` says what it can
            warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
            self.lu = scipy.linalg.lu_factor(G, check_finite=False) if len(self.free) else None

    def solve(self, b: Floats) -> Floats:
        """G_FF^-1 b, refined with residuals as if in twice the precision.

        Kernel matrices are often near singular, and a slope must not drown in its own noise.
        Refinement gives slopes to full precision while cond(G_FF) EPS < 1.
        """
        b = np.ascontiguousarray(b)
        x = np.zeros_like(b)
        if self.lu is None:
            return x
        last = np.inf
        for _ in range(REFINEMENTS):
            dx = scipy.linalg.lu_solve(self.lu, residual(self.G, x, b), check_finite=False)
            size = np.abs(dx).max()
            if not size < 0.5 * last:
                break
            x, last = x + dx, size
            if size <= 4 * EPS * np.abs(x).max():
                break
        return x

    def move(self, way: float) -> Move:
        """The direction in which the solution goes on: along t, or along a jump."""
        system, coupling = self.system, self.system.coupling
        if self.jump is not None:
            z, t = self.jump, 0.0
        else:
            t, slope = way, way * system.stairs.slope[self.rows, self.stair]
            z = np.where(self.tread, 0.0, slope)
            c = coupling.dot(z) + t * system.r + np.where(self.tread, slope, 0.0)
            z[self.free] = self.solve(-(self.sigma * c)[self.free])
        moved, size = self.product(z)
        h = -(moved + t * system.r)
        x = np.where(self.tread, z, h)
        below, above = (system.stairs.slope[self.rows, self.stair + s] * t for s in (-1, 1))
        closing = np.array([below - x, x - above])
        # A speed that moves less than the tolerance while t goes to zero, or to where the walk
        # ends, or all along a jump, is zero.
        span = max(abs(self.t), self.far, EPS) if t else self.longest_jump(z)
        noise_z = np.maximum((VANISHING if t else ASIDE) * np.abs(z).max(), self.blur / span)
        size = size + np.abs(t * system.r)
        noise_h = (VANISHING * size if t else ASIDE * size.max()) + self.tolerance / span
        closing[np.abs(closing) <= np.where(self.tread, noise_z, noise_h)] = 0.0
        return Move(z, h, t, closing)

    def product(self, z: Floats) -> tuple[Floats, Floats]:
        """M z, and the sums of the absolute terms that make it up."""
        coupling = self.system.coupling
        return coupling.dot(z), coupling.magnitude(z)

    def longest_jump(self, z: Floats) -> float:
        """How far a jump can go before a multiplier has crossed its box; for ever if none moves.

        An unpenalised term has no box: with a large lambda it goes much further than any of them.
        """
        boxed = self.system.boxed & (z != 0)
        return max(1.0, float((self.box[boxed] / np.abs(z[boxed])).min(initial=np.inf)))

    def first_block(self, move: Move) -> float:
        """The ratio test: how far until the first variable reaches the end of its stair."""
        gaps = np.maximum(self.gaps(), 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steps = np.where(move.closing > 0, gaps / move.closing, np.inf)
        self.blocking = steps <= steps.min()
        return float(steps.min())

    # ------------------------------------------------------------------ corners

    def settle(self, way: float) -> Move:
        """Take variables over their corners until all can go on; returns the way on."""
        near = (self.gaps() <= self.corner_width()) | self.blocking
        offset = np.where(near, 1.0 + self.rng.random(near.shape), np.inf)
        offset[1, ~self.tread] += DOWN_FIRST
        narrow = 1.0 + self.rng.random(len(self.rows))  # of stairs that have no width
        visits: Counter[bytes] = Counter()
        for _ in range(self.patience):
            move = self.move(way)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                steps = np.where(near & (move.closing > 0), offset / move.closing, np.inf)
            side, k = np.unravel_index(np.argmin(steps), steps.shape)
            if not np.isfinite(steps[side, k]):
                self.refresh()
                return move
            offset[near] = np.maximum(offset - move.closing * steps[side, k], 0.0)[near]
            self.pass_corner(int(k), 1 if side else -1)
            # The variable now stands at the edge of its new stair, the corner behind it.
            width = self.level(1)[k] - self.level(-1)[k]
            near[:, k] = True, width <= self.corner_width()[k]
            offset[:, k] = 0.0, narrow[k]
            if side == 0:
                near[:, k], offset[:, k] = near[::-1, k].copy(), offset[::-1, k].copy()
            visits[state := self.stair.tobytes()] += 1
            if visits[state] > VISITS:
                break
        raise StuckError(Reason.STANDSTILL(visits.total()))

    def corner_width(self) -> Floats:
        return np.where(self.tread, self.blur, self.tolerance)

    def pass_corner(self, k: int, side: int) -> None:
        """Move variable k to its next stair; a singular system starts or ends a jump."""
        lands = self.jump is not None
        jump = None if lands else self.on_singular(k, side)
        self.recorder.event(self.t, k, int(self.stair[k]), int(self.stair[k]) + side)
        self.passed += 1
        self.stair[k] += side
        self.tread[k] = self.stair[k] % 2 == 0
        self.free = np.flatnonzero(self.tread)
        # It stands exactly at the corner: between the old stair's value and the new one's.
        if self.tread[k]:
            self.h[k] = self.level(0)[k]
        else:
            self.z[k] = self.level(0)[k]
        self.jump = jump
        if jump is None:
            self.factor()
        if lands:
            self.on_landing(k, side)

    def on_singular(self, k: int, side: int) -> Floats | None:
        """The jump to make, if moving k to its next stair leaves a singular G_FF.

        k enters: the pivot is the Schur complement s = G_kk - G_kF v, v = G_FF^-1 G_Fk.
        k leaves: it is v_k, v = G_FF^-1 e_k. The null vector comes out of the same solve.
        """
        coupling, u = self.system.coupling, np.zeros(len(self.rows))
        column = coupling.block(self.free, np.array([k]))[:, 0]
        if self.tread[k]:
            at_k = self.free == k
            v = self.solve(at_k.astype(float))
            pivot = v[at_k][0] * np.abs(column).max()
            size = float((np.abs(self.G) @ np.abs(v)).max())
            u[self.free] = v
            u[k] = 0.0
            u *= -self.sigma[k] * side
        else:
            v = self.solve(column)
            diagonal = coupling.block(np.array([k]), np.array([k]))[0, 0]
            pivot, size = diagonal - column @ v, abs(diagonal) + np.abs(column) @ np.abs(v)
            # Entries of v without a row are known to round-off of the largest alone.
            size += np.abs(column[~coupling.has_row[self.free]]).sum() * np.abs(v).max(initial=0.0)
            if not coupling.has_row[k] and len(v):
                # Without a diagonal entry v may be round-off wherever the column is not zero.
                size = np.abs(column).sum() * np.abs(v).max()
            u[self.free] = -v * side
            u[k] = side
        pivot *= self.sigma[k]
        if pivot < -INDEFINITE * size:
            self.on_negative(k)
        moved = np.where(coupling.has_row, coupling.root * u, 0.0)
        hidden = ENTRIES * float(moved @ moved) * (np.abs(column).max() if self.tread[k] else 1.0)
        # Between two pins a jump of k changes its residual by pivot * span at the most.
        span = np.inf if self.tread[k] else self.span[k]
        least = max(VANISHING * self.slack * size, hidden)
        if pivot <= least or pivot * span <= 0.5 * self.tolerance[k]:
            return u / np.abs(u).max()
        return None

    # ------------------------------------------------------------------ trouble

    def on_negative(self, k: int) -> None:
        """M is monotone, so no pivot is negative."""
        raise IndefiniteError(k)

    def on_ray(self, t_end: float) -> bool:
        """A jump meets no end of a stair."""
        raise StuckError(Reason.ENDLESS())

    def on_standstill(self, jumps: int) -> None:
        """So many jumps in a row at one t; each strictly improves, so they end."""

    def on_landing(self, k: int, side: int) -> None:
        """A jump has ended where k has gone to its next stair: G_FF is regular there."""

    def on_drift(self, way: float, move: Move) -> Move:
        """Residuals have drifted off their stairs by `self.drift`; returns the way on."""
        return move
