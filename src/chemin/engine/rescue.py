"""Rescue from round-off: what the walks do when exact arithmetic would do otherwise.

**Drift.** h is computed from the data after every event. What has drifted off its stair is
corrected by one step with G_FF when that step stays inside the boxes. Otherwise it is walked back
by the walk itself: the drift is an artificial residual e, and g + tau e is followed from tau = 1
to 0.

**Standstill.** Many jumps at one t follow round-off: tolerances are widened until the walk moves.

**Singular states.** A state that an imprecise pivot has let through is made regular by a jump.

`RescuedWalker` is the reference walk with all of these. `Helper` calls it for the compiled walk.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problems.staircase import Floats, Ints, StaircaseSystem
from .reasons import IndefiniteError, Reason, StopWalk, StuckError
from .reference import Move, Walker
from .tolerances import BLIND, DIM, EPS, INDEFINITE, LONG, LOOSEST, NEAR_ZERO, NOUGHT, NULL
from .trace import StandingRecorder

MENDER = -1.0  # a walk that corrects drift starts no other for its own
STALLED = 20  # rescues at one t, before the reference takes over for good
BLINDLY = 8  # rescues where round-off may hide what comes next
HELPED = 1  # corners a variable that the reference passes for a compiled walk before they are noise


def check_sight(floor: float) -> None:
    """Stop the walk where double precision no longer tells residuals from their round-off.

    `floor`: round-off of residuals, in margins.
    """
    if floor > BLIND:
        raise StopWalk(Reason.HIDDEN(floor))


def check_treads(dimness: float) -> None:
    """Stop a walk that finds no way where treads are hardly told from each other."""
    if dimness > DIM:
        raise StopWalk(Reason.DIM(dimness))


class RescuedWalker(Walker):
    """The reference walk, with an eye on round-off."""

    guard = False  # whether to stop where double precision is blind
    mended: float | None = None  # the t at which drift was last corrected
    drifts = 0  # how often it was walked away
    dim = 0.0  # of a walk that corrects drift: the dimness where it does
    since = 0  # corners that had been passed when t, or the tolerances, last changed

    def refresh(self) -> None:
        """Jumps along noise may lead beyond all numbers."""
        if not np.all(np.isfinite(self.z)):
            raise StuckError(Reason.ENDLESS())
        super().refresh()

    def on_negative(self, k: int) -> None:
        """Raise if M of the free variables and k has a negative eigenvalue indeed.

        M is skew between variables whose sigma differs: each sign is judged by itself.
        """
        some = np.append(self.free, k)
        for sign in (1.0, -1.0):
            part = some[self.sigma[some] == sign]
            if len(part) == 0:
                continue
            values = np.linalg.eigvalsh(sign * self.system.coupling.block(part, part))
            if values[0] < -INDEFINITE * max(values[-1], -values[0]):
                raise IndefiniteError(k)

    def on_ray(self, t_end: float) -> bool:
        """At an end of the range solutions need not be unique, and any will do."""
        there = abs(self.t - t_end) <= NOUGHT * abs(t_end)
        if not there and (t_end != 0.0 or abs(self.t) > NEAR_ZERO * self.t_begin):
            return super().on_ray(t_end)
        self.jump = None
        self.recorder.move(self.t, t_end, np.zeros_like(self.z), abs(self.t))
        self.t = t_end
        return True

    def on_standstill(self, jumps: int) -> None:
        """Jumps strictly improve, so many of them at one t, or many corners between them, follow
        round-off: widen tolerances.
        """
        if jumps == 0:
            self.slack, self.since = 1.0, self.passed
        elif jumps % (len(self.free) + 10) == 0 or self.passed - self.since > self.patience:
            self.slack, self.since = 10.0 * self.slack, self.passed
            if self.slack > LOOSEST:
                raise StuckError(Reason.STANDSTILL(jumps))

    def settle(self, way: float) -> Move:
        """Corners that are passed over and over follow round-off: widen tolerances."""
        while True:
            try:
                return super().settle(way)
            except StuckError:
                check_treads(self.dimness())
                self.slack *= 10.0
                if self.slack > LOOSEST:
                    raise
                self.blocking = np.zeros_like(self.blocking)  # what blocked may stand elsewhere now
                self.refresh()

    def on_landing(self, k: int, side: int) -> None:
        """A jump along what is a null vector but for round-off may end where G_FF is singular.

        It goes on along the null vector of what is left, away from the corner that k has passed.
        """
        if self.lu is None or not singular(self.lu[0]):
            return
        values, vectors = np.linalg.eigh(self.G)
        u = np.zeros_like(self.z)
        u[self.free] = vectors[:, np.abs(values).argmin()]
        ahead = u[k] if self.tread[k] else -self.system.coupling.dot(u)[k]
        self.jump = u * (np.copysign(1.0, side * ahead) / np.abs(u).max())

    def dimness(self) -> float:
        return max(self.dim, self.system.dimness(self.tolerance, self.t))

    def on_drift(self, way: float, move: Move) -> Move:
        """Correct residuals that have drifted off their stairs, and settle again."""
        if self.guard:
            check_sight(self.system.floor(self.size, self.t))
        self.blocking = np.zeros((2, len(self.rows)), dtype=bool)
        off = float(np.max(np.abs(self.drift) / self.tolerance))
        if off <= 2.0 or self.jump is not None or self.mended in (self.t, MENDER):
            return move
        self.mended = self.t
        if not self.correct():
            self.drifts += 1
            if self.drifts > BLINDLY:
                check_treads(self.dimness())
            self.walk_back(off)
        self.refresh()
        self.factor()
        return self.settle(way)

    def correct(self) -> bool:
        """Take drift away by one step with G_FF; False if that would leave a box."""
        correction = np.zeros_like(self.z)
        correction[self.free] = self.solve((self.sigma * self.drift)[self.free])
        z = self.z + correction
        inside = (z >= self.level(-1)) & (z <= self.level(1))
        if not np.all(np.where(self.tread, inside, np.abs(self.drift) <= self.tolerance)):
            return False
        self.recorder.mend(self.t, correction)
        self.z = z
        return True

    def walk_back(self, off: float) -> None:
        """Walk drift away: along tau, from 1 to where what is left is within the tolerance."""
        system = self.system.frozen(self.t, self.drift)
        recorder = StandingRecorder(self.recorder, self.t)
        mender = RescuedWalker(system, self.stair, self.z, 1.0, recorder, self.rng)
        mender.mended, mender.dim = MENDER, self.dimness()
        mender.walk(0.5 / off)
        self.stair, self.z = mender.stair, mender.z


def regularise(system: StaircaseSystem, stair: Ints, z: Floats, t: float) -> tuple[Ints, Floats]:
    """The same solution with G_FF regular: along null vectors until variables reach pins.

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


class Helper:
    """The reference, called by a compiled walk as the last resort, for one step at a time.

    When calls lead nowhere again and again, the reference walks on to the end. Where t has not
    moved since, tolerances are as wide as the last call has left them.
    """

    def __init__(self) -> None:
        self.stalled, self.last_t = 0, np.nan
        self.slack = 1.0
        self.calls = self.events = 0  # how often it was called, and what it did

    def walk(self, blocks: Any, t_end: float) -> bool:
        """Walk on from the state of `blocks`, and write the new one there; whether it arrived."""
        self.stalled = self.stalled + 1 if blocks.t == self.last_t else 0
        self.last_t = blocks.t
        before = blocks.passed
        walker = self.prepare(blocks)
        walker.guard, walker.passed, walker.since = blocks.guard, before, before
        walker.dim = blocks.dim
        walker.patience = HELPED * len(blocks.system) + 100
        if self.stalled and self.slack > 1.0:
            walker.slack = self.slack
            walker.refresh()
        walker.t_begin = blocks.nought / NOUGHT * (1.0 - LONG)
        arrived = walker.walk(t_end, most=1 if self.stalled < STALLED else None)
        self.calls += 1
        self.slack = walker.slack
        self.events += walker.passed - before
        blocks.passed = walker.passed
        blocks.stair, blocks.z, blocks.t = walker.stair, walker.z, walker.t
        return arrived

    def prepare(self, blocks: Any) -> RescuedWalker:
        """A walker at the state of `blocks`; a singular state is made regular first, by a jump."""
        stair, z = blocks.stair, blocks.z

        def walker() -> RescuedWalker:
            return RescuedWalker(blocks.system, stair, z, blocks.t, blocks.recorder, blocks.rng)

        first = walker()
        if first.lu is None or not singular(first.lu[0]):
            return first
        stair, z = regularise(blocks.system, stair, z, blocks.t)
        blocks.recorder.move(blocks.t, blocks.t, z - blocks.z, 1.0)
        for k in np.flatnonzero(stair != blocks.stair):
            blocks.recorder.event(blocks.t, int(k), int(blocks.stair[k]), int(stair[k]))
            blocks.passed += 1
        return walker()


def singular(lu: Floats) -> bool:
    pivots = np.abs(lu.diagonal())
    return bool(pivots.min() < NULL * pivots.max())
