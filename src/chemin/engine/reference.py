"""The reference tracer: the whole algorithm, in plain NumPy, made to be read.

A walker stands on the solution of a staircase problem (`problems.staircase`) and follows it while
t moves. Each variable stands on a stair; F are those on treads. Between two events everything is
linear in t, and with G = diag(sigma) M symmetric the motion solves

    G_FF z'_F = -sigma_F (r_F + l'_F + M_FP v'_P),        h' = -(M z' + r),

where l' and v' are the slopes of the treads' levels and of the pins' values. The walk:

    move     solve for the direction
    advance  go to the first variable that reaches the end of its stair
    settle   move variables over their corners, one at a time, until all can go on

**Jumps.** When the new G_FF is singular the path stands still in t and moves along the null vector
of G_FF until somebody blocks.

**Ties.** Variables that stand at a corner together are given distinct random offsets, infinitely
small beside every other distance, and the same walk is made in these offsets until none of
them blocks. This is the lexicographic rule with a random order: offsets make the problem generic,
a generic problem never revisits a state, and there are finitely many states.

**Drift.** h is computed from the data after every event. What has drifted is walked back, by
the same walk: the drift is an artificial residual e, and g + tau e is followed from tau = 1 to 0.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..problems.staircase import Floats, Ints, StaircaseSystem
from .trace import IndefiniteError, Recorder, StandingRecorder, StopWalk, StuckError

EPS = float(np.finfo(np.float64).eps)

# Residuals are judged in two units: what the certificate can see (it asks for 1e-9 of the linear
# term), and round-off: EPS times the sum of the absolute values of the terms that make them up.
PRECISION = 1e-13
ROUNDING = 8 * EPS
STILL = 64 * EPS  # a speed below this, relative to the terms that make it up, is zero
ASIDE = 1e-10  # in a jump: who moves less than this part of the first may not end it
SINGULAR = 64 * EPS  # a pivot below this, likewise, is zero
MENDER = -1.0  # a walker sent to mend drift does not send others
LONG = 0.75  # of the way to zero: the longest step
REFINEMENTS = 8  # at the most; one or two are enough when G_FF is well conditioned
INDEFINITE = 1e-8  # a pivot below minus this: no rounding, the matrix is indefinite
LOOSEST = 1e4  # times the tolerances, before a walk that stands still is given up
BLIND = 1e-6  # a path stops where round-off exceeds this fraction of the linear term
NOUGHT = 1e-13  # of where the walk began: what happens below is not told from the end at 0
# Added to the offsets of pins' upper ends, among offsets in [1, 2). Any distinct offsets will do;
# so large, those of two variables that oppose each other (one row of the matrix, with two signs)
# never add up to a state that only both together can leave.
DOWN_FIRST = 3.0
NULL = 1e-14  # an eigenvalue of m rows below m times this, relative to the largest, is zero
NEAR_ZERO = 1e-9  # likewise: where solutions need not be unique any more
ENDLESS = 1e9  # on the way to infinity: what comes later than this many times t is noise


def asked_for() -> bool:
    """Whether this engine is to do everything: CHEMIN_ENGINE=reference."""
    return os.environ.get("CHEMIN_ENGINE") == "reference"


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
        self.jump: Floats | None = None
        self.h: Floats
        self.mended: float | None = None  # the t at which drift was last walked back
        self.span = system.stairs.span()
        self.box = np.minimum(1.0, self.span)  # multipliers are measured by how far they can go
        self.t_begin = abs(t)
        self.slack = 1.0
        self.passed = 0  # corners so far
        self.progress: Callable[[float, int], None] = lambda t, events: None
        self.guard = False  # stop where double precision is blind
        self.patience = 20 * len(system) + 100
        self.blocking = np.zeros((2, len(system)), dtype=bool)
        self.refresh()
        self.factor()

    # ------------------------------------------------------------------ the loop

    def walk(self, t_end: float, most: int | None = None) -> bool:
        """Follow the solution to t_end (which may be infinite), or for `most` steps.

        Returns whether it has arrived.
        """
        way = 1.0 if t_end >= self.t else -1.0
        move, jumps, first = self.settle(way), 0, abs(self.t)
        while most is None or most > 0:
            if not self.passed:  # the walk begins where something happens
                self.t_begin = max(abs(self.t), NEAR_ZERO * first)
            move = self.on_drift(way, move)
            step, arrives = self.how_far(move, t_end)
            if not np.isfinite(step):
                return self.on_ray(t_end)
            t = t_end if arrives and np.isfinite(t_end) else self.t + move.t * step
            jumps = jumps + 1 if t == self.t else 0
            self.on_standstill(jumps)
            self.advance(move, step, t)
            if arrives:  # nobody has been met: a further walk must not think so
                self.blocking = np.zeros_like(self.blocking)
                return True
            move = self.settle(way)
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
        if t_end == 0.0 and abs(self.t) <= nought:
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

    # ------------------------------------------------------------------ where things stand

    def level(self, shift: int, t: float | None = None) -> Floats:
        """The value, at t, of each variable's stair (shift 0) or of its neighbours (-1, 1)."""
        s, j = self.system.stairs, self.stair + shift
        return s.value[self.rows, j] + (self.t if t is None else t) * s.slope[self.rows, j]

    def gaps(self) -> Floats:
        """(2, N): how far each variable's moving coordinate is from the stairs below and above."""
        x = np.where(self.tread, self.z, self.h)
        return np.array([x - self.level(-1), self.level(1) - x])

    def refresh(self) -> None:
        """h and its round-off unit, from the data."""
        self.tread = self.stair % 2 == 0
        self.free = np.flatnonzero(self.tread)
        held = self.level(0)
        self.z[~self.tread] = held[~self.tread]
        self.h = self.system.residual(self.z, self.t)
        size = self.system.coupling.magnitude(self.z)
        size += np.abs(self.system.q + self.t * self.system.r)
        self.floor = self.system.floor(size, self.t)
        nearly = PRECISION * min(1.0, self.system.pull(self.t))  # multipliers are of order 1, or t
        self.tolerance = self.slack * self.system.tolerances(size, self.t, PRECISION, ROUNDING)
        # How precisely z can be known; what is no multiplier is of the residuals' own kind.
        coarsest = self.tolerance[self.system.measured].max()
        self.blur = np.where(self.system.boxed, nearly * self.box, coarsest)
        # Off its tread, or out of its pin's reach.
        reach = np.clip(self.h, self.level(-1), self.level(1))
        self.drift = self.h - np.where(self.tread, held, reach)
        self.h[self.tread] = held[self.tread]

    # ------------------------------------------------------------------ direction and step

    def factor(self) -> None:
        G = self.system.coupling.block(self.free, self.free)
        self.G = G.astype(np.longdouble)
        with warnings.catch_warnings():  # an exact zero pivot: `solve` says what it can
            warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
            self.lu = scipy.linalg.lu_factor(G, check_finite=False) if len(self.free) else None

    def solve(self, b: Floats) -> Floats:
        """G_FF^-1 b, refined with residuals in extended precision.

        Kernel matrices are often near singular; slopes whose noise is as large as they are would
        send the walk astray. Refinement gives them to full precision while cond(G_FF) EPS < 1.
        """
        x = np.zeros_like(b)
        if self.lu is None:
            return x
        last = np.inf
        for _ in range(REFINEMENTS):
            residual = (b - self.G @ x).astype(np.float64)
            dx = scipy.linalg.lu_solve(self.lu, residual, check_finite=False)
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
        h = -(coupling.dot(z) + t * system.r)
        x = np.where(self.tread, z, h)
        below, above = (system.stairs.slope[self.rows, self.stair + s] * t for s in (-1, 1))
        closing = np.array([below - x, x - above])
        # What moves less than its tolerance while t goes to zero stands still.
        span = max(abs(self.t), EPS) if t else 1.0
        noise_z = np.maximum((STILL if t else ASIDE) * np.abs(z).max(), self.blur / span)
        size = coupling.magnitude(z) + np.abs(t * system.r)
        noise_h = (STILL * size if t else ASIDE * size.max()) + self.tolerance / span
        closing[np.abs(closing) <= np.where(self.tread, noise_z, noise_h)] = 0.0
        return Move(z, h, t, closing)

    def first_block(self, move: Move) -> float:
        """How far until the first variable reaches the end of its stair."""
        gaps = np.maximum(self.gaps(), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
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
        for _ in range(self.patience):
            move = self.move(way)
            with np.errstate(divide="ignore", invalid="ignore"):
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
        raise StuckError(f"{self.patience} moves at t = {self.t!r} without leaving it")

    def corner_width(self) -> Floats:
        return np.where(self.tread, self.blur, self.tolerance)

    def pass_corner(self, k: int, side: int) -> None:
        """Move variable k to its next stair; a singular system starts or ends a jump."""
        jump = self.on_singular(k, side) if self.jump is None else None
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

    def on_singular(self, k: int, side: int) -> Floats | None:
        """The jump to make, if moving k to its next stair leaves a singular G_FF.

        k enters: the pivot is the Schur complement s = G_kk - G_kF v, v = G_FF^-1 G_Fk.
        k leaves: it is v_k, v = G_FF^-1 e_k. The null vector comes out of the same solve.
        """
        column = self.system.coupling.block(self.rows[self.free], np.array([k]))[:, 0]
        u = np.zeros(len(self.rows))
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
            diagonal = self.system.coupling.block(np.array([k]), np.array([k]))[0, 0]
            pivot, size = diagonal - column @ v, abs(diagonal) + np.abs(column) @ np.abs(v)
            if not self.system.coupling.has_row[k] and len(v):
                # It may have nothing in common with what it depends on: v is round-off then, but
                # for the one entry that it does not see.
                size = np.abs(column).sum() * np.abs(v).max()
            u[self.free] = -v * side
            u[k] = side
        # M is monotone, so the pivot is not negative but by round-off or by a bad kernel.
        pivot *= self.sigma[k]
        if pivot < -INDEFINITE * size and self.indefinite(k):
            raise IndefiniteError(k)
        # Between two pins a jump of k changes its residual by pivot * span at the most.
        span = np.inf if self.tread[k] else self.span[k]
        if pivot <= SINGULAR * size or pivot * span <= 0.5 * self.tolerance[k]:
            return u / np.abs(u).max()
        return None

    def indefinite(self, k: int) -> bool:
        """Whether M of the free variables and k has a negative eigenvalue indeed.

        M is skew between variables whose sigma differs: each sign is judged by itself.
        """
        some = np.append(self.free, k)
        for sign in (1.0, -1.0):
            part = some[self.sigma[some] == sign]
            if len(part) == 0:
                continue
            values = np.linalg.eigvalsh(sign * self.system.coupling.block(part, part))
            if values[0] < -INDEFINITE * max(values[-1], -values[0]):
                return True
        return False

    # ------------------------------------------------------------------ rescue

    def on_ray(self, t_end: float) -> bool:
        """A jump that meets nothing: at an end of the range solutions need not be unique, and any
        will do.
        """
        there = abs(self.t - t_end) <= NOUGHT * abs(t_end)
        if not there and (t_end != 0.0 or abs(self.t) > NEAR_ZERO * self.t_begin):
            raise StuckError("a jump meets nothing that stops it: the solution is unbounded")
        self.jump = None
        self.recorder.move(self.t, t_end, np.zeros_like(self.z), abs(self.t))
        self.t = t_end
        return True

    def on_standstill(self, jumps: int) -> None:
        """Jumps strictly improve, so many of them at one t follow round-off: look less closely."""
        if jumps == 0:
            self.slack = 1.0
        elif jumps % (len(self.free) + 10) == 0:
            self.slack *= 10.0
            if self.slack > LOOSEST:
                raise StuckError(f"{jumps} jumps at t = {self.t!r} without leaving it")

    def on_drift(self, way: float, move: Move) -> Move:
        """Walk residuals that have drifted off their treads back onto them."""
        if self.guard and self.floor > BLIND:
            raise StopWalk(f"round-off ({self.floor:.1e} of a margin) hides what comes next")
        self.blocking = np.zeros((2, len(self.rows)), dtype=bool)
        off = np.max(np.abs(self.drift) / self.tolerance)
        if off <= 2.0 or self.jump is not None or self.mended in (self.t, MENDER):
            return move
        self.mended = self.t
        correction = np.zeros_like(self.z)
        correction[self.free] = self.solve((self.sigma * self.drift)[self.free])
        z = self.z + correction
        inside = (z >= self.level(-1)) & (z <= self.level(1))
        if np.all(np.where(self.tread, inside, np.abs(self.drift) <= self.tolerance)):
            self.recorder.move(self.t, self.t, correction, 1.0)
            self.z = z
        else:
            system = self.system.frozen(self.t, self.drift)
            mender = Walker(
                system, self.stair, self.z, 1.0, StandingRecorder(self.recorder, self.t), self.rng
            )
            mender.mended = MENDER
            mender.walk(0.5 / off)  # what is left then is within the tolerance
            self.stair, self.z = mender.stair, mender.z
        self.refresh()
        self.factor()
        return self.settle(way)


def regularise(system: StaircaseSystem, stair: Ints, z: Floats, t: float) -> tuple[Ints, Floats]:
    """The same solution with G_FF regular: along a null vector until somebody reaches a pin.

    Null vectors of a positive semi-definite matrix move no residual.
    """
    stair, z = stair.copy(), z.copy()
    table = system.stairs.frozen(t).value
    for _ in range(len(z)):
        free = np.flatnonzero(stair % 2 == 0)
        if len(free) == 0:
            break
        values, vectors = np.linalg.eigh(system.coupling.block(free, free))
        least = int(np.argmin(np.abs(values)))
        if abs(values[least]) > NULL * len(free) * np.abs(values).max():
            break
        u = vectors[:, least]
        end = table[free, stair[free] + np.where(u > 0, 1, -1)]
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(np.abs(u) > np.sqrt(EPS), (end - z[free]) / u, np.inf)
        k = int(np.argmin(steps))
        if not np.isfinite(steps[k]):
            break
        z[free] += max(steps[k], 0.0) * u
        stair[free[k]] += 1 if u[k] > 0 else -1
        z[free[k]] = end[k]
    return stair, z
