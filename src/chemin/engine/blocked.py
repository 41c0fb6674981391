"""The fast walk: blocks of steps in the compiled core, verified by one matrix product each.

The same walk as `reference.Walker`, to the letter where it matters; the reference itself takes
over for an event when a pivot vanishes (a jump) or when the inverse is no longer trusted.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from ..problems.staircase import Floats, Ints, StaircaseSystem
from . import _core
from . import reference as ref
from .trace import Recorder, StopWalk

BLOCK = 32  # steps between two verifications
WATCH = 96  # variables looked at in a block, at least
NIL = 1e-13  # relative pivots below are zero,
DOUBT = 1e-8  # and those between are for the reference to judge: an inverse is not that precise
STRAYED = 4.0  # times the tolerance: a block that drifts more is not kept
REGULAR = 1e12  # condition numbers above this are the reference's business
REFRESH = 16  # blocks between two computations of h from scratch


class BlockWalker:
    """A point that walks along the solution of `system`; the interface of `reference.Walker`."""

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
        self.guard = False
        self.core = _core.Core(system, BLOCK)
        for name in ("still", "singular", "indefinite"):
            setattr(self.core, name, getattr(ref, name.upper()))
        self.core.nil, self.core.doubt = NIL, DOUBT
        self.core.longest = ref.LONG
        self.rescues = 0
        self.passed = 0
        self.watch_size = WATCH

    # ------------------------------------------------------------------ the loop

    def walk(self, t_end: float) -> None:
        way = 1.0 if t_end >= self.t else -1.0
        begin = self.t
        self.enter(way)
        blocks = 0
        while True:
            if not self.passed:
                tiny = max(abs(self.t), ref.NEAR_ZERO * abs(begin))
                self.core.tiny_t = ref.NOUGHT * tiny / (1.0 - ref.LONG)
            code = self.block(way, t_end)
            if code == _core.ARRIVED:
                self.leave()
                return
            blocks += 1
            if blocks % REFRESH == 0 or abs(self.core.t) < 0.5 * self.fresh_t:
                self.refresh()
            if code != _core.FULL or not self.mend(way):
                if self.by_reference(way, t_end):
                    return

    def block(self, way: float, t_end: float) -> int:
        """Walk, verify and keep one block of steps.

        A block that passes somebody over is walked again with an eye on him; one that drifts is
        walked again with a fresh inverse, and left to the reference when that does not help.
        """
        core, t0 = self.core, self.core.t
        h_end = np.empty_like(self.h)
        fresh, jumps = False, core.n_jumps
        core.reserve(core.ns + 2 * BLOCK + 2)
        core.precision = ref.PRECISION * min(1.0, self.system.pull(t0))
        watched = self.choose(way)
        while True:
            saved = core.snapshot()
            core.watch(watched, self.h, self.tolerance)
            code = int(core.run(way, t_end))
            missed = core.verify(self.h, t0, h_end)
            if code != _core.BROKEN and len(missed) == 0 and self.holds(h_end, jumps):
                self.take_over(h_end)
                return code
            core.restore(saved)
            if code == _core.BROKEN or (len(missed) == 0 and fresh):
                return _core.BROKEN
            if len(missed):
                watched = np.union1d(watched, missed)
            else:
                fresh = True
                self.enter(way)

    def holds(self, h_end: Floats, jumps: int) -> bool:
        """Whether the free variables have stayed on their treads through the block."""
        free = self.core.free
        free = free[free >= 0]
        s, j = self.system.stairs, self.core.stairs[free]
        level = s.value[free, j] + self.core.t * s.slope[free, j]
        off = np.abs(h_end[free] - level) / self.tolerance[free]
        return bool(np.all(off <= STRAYED)) and (self.core.n_jumps == jumps or self.regular(free))

    def regular(self, free: Ints) -> bool:
        """After jumps: whether G_FF is regular indeed."""
        G = self.system.coupling.block(free, free)
        try:
            H = np.linalg.inv(G)
        except np.linalg.LinAlgError:
            return False
        return bool(np.linalg.norm(G, 1) * np.linalg.norm(H, 1) < REGULAR)

    def take_over(self, h_end: Floats) -> None:
        moves, events = self.core.record()
        self.passed += len(events)
        self.core.commit()
        self.stair = self.core.stairs.copy()
        self.z = self.core.positions(np.where(self.stair % 2 == 1, self.level(0), 0.0))
        self.h, self.t = h_end, self.core.t
        self.recorder.extend(moves, events)

    # ------------------------------------------------------------------ where things stand

    def enter(self, way: float) -> None:
        """Hand the state to the core, with a fresh inverse."""
        free = np.flatnonzero(self.stair % 2 == 0)
        G = self.system.coupling.block(free, free)
        H = scipy.linalg.inv(G, check_finite=False) if len(free) else G
        self.core.load(self.stair, self.z, self.t, way, 0.5 * (H + H.T))
        self.refresh()

    def leave(self) -> None:
        self.stair, self.t = self.core.stairs.copy(), self.core.t

    def refresh(self) -> None:
        """h and its tolerances, from the data."""
        system, t = self.system, self.core.t
        self.z = self.core.positions(np.where(self.stair % 2 == 1, self.level(0), 0.0))
        self.h = system.residual(self.z, t)
        self.size = system.coupling.magnitude(self.z)
        self.fresh_t = abs(t)

    @property
    def tolerance(self) -> Floats:
        system, t = self.system, self.core.t
        size = self.size + np.abs(system.q + t * system.r)
        if self.guard:
            floor = ref.EPS * size.max() / system.pull(t)
            if floor > ref.BLIND:
                raise StopWalk(f"round-off ({floor:.1e} of a margin) hides what comes next")
        return system.tolerances(size, t, ref.PRECISION, ref.ROUNDING)

    def choose(self, way: float) -> Ints:
        """The pinned variables that may block soon."""
        stair, system = self.stair, self.system
        rows = np.flatnonzero(stair % 2 == 1)
        if len(rows) <= self.watch_size:
            return rows
        s, t, j = system.stairs, self.core.t, stair[rows]
        low = s.value[rows, j - 1] + t * s.slope[rows, j - 1]
        high = s.value[rows, j + 1] + t * s.slope[rows, j + 1]
        rate = self.core.rates_of_all(way)[rows]
        below, above = s.slope[rows, j - 1] * way, s.slope[rows, j + 1] * way
        gap_low, gap_high = self.h[rows] - low, high - self.h[rows]
        typical = np.mean(np.abs(rate)) * 0.25 + ref.EPS
        soon = np.minimum(
            gap_low / (np.maximum(below - rate, 0) + typical),
            gap_high / (np.maximum(rate - above, 0) + typical),
        )
        size = max(self.watch_size, int(np.sum(soon <= 0)))
        chosen = np.argpartition(soon, min(size, len(rows) - 1))[:size]
        return np.sort(rows[chosen])

    # ------------------------------------------------------------------ rescue

    def mend(self, way: float) -> bool:
        """Correct drift with the inverse, then with a fresh one; False when that fails."""
        for fresh in (False, True):
            off = self.drift()
            if np.max(np.abs(off) / self.tolerance) <= 2.0:
                return True
            if fresh:
                self.enter(way)
            self.refresh()
            free, off = self.core.free, self.drift()
            step = self.core.correct(off[free])
            z = self.z[free] + step
            if np.any(z < self.level(-1)[free]) or np.any(z > self.level(1)[free]):
                return False
            change = np.zeros_like(self.z)
            change[free] = step
            self.recorder.move(self.t, self.t, change, 1.0)
            self.core.shift(step)
            self.refresh()
            self.core.redirect()
        return bool(np.max(np.abs(self.drift()) / self.tolerance) <= 2.0)

    def drift(self) -> Floats:
        """How far residuals are off their treads, or out of their pins' reach."""
        tread = self.stair % 2 == 0
        reach = np.clip(self.h, self.level(-1), self.level(1))
        return self.h - np.where(tread, self.level(0), reach)

    def level(self, shift: int) -> Floats:
        s, j = self.system.stairs, self.stair + shift
        rows = np.arange(len(self.stair))
        return s.value[rows, j] + self.core.t * s.slope[rows, j]

    def by_reference(self, way: float, t_end: float) -> bool:
        """One event by the reference; True when it has arrived."""
        walker = ref.Walker(self.system, self.stair, self.z, self.t, self.recorder, self.rng)
        walker.guard = self.guard
        walker.passed = self.passed
        arrived = walker.walk(t_end, most=1, t_begin=self.core.tiny_t / ref.NOUGHT * (1.0 - ref.LONG))
        self.passed = walker.passed
        self.stair, self.z, self.t = walker.stair, walker.z, walker.t
        self.rescues += 1
        if not arrived:
            self.enter(way)
        return arrived
