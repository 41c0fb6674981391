"""The fast walk: blocks of steps in the compiled core, each of them verified.

The same walk as `reference.Walker`, to the letter where it matters; the reference itself takes
over for an event when a pivot vanishes (a jump) or when the inverse is no longer trusted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg

from ..problems.staircase import Floats, Ints, StaircaseSystem
from . import _loop, _verify  # type: ignore[attr-defined]
from . import reference as ref
from .trace import Recorder, StopWalk

BLOCK = 64  # steps between two verifications, at most
SHORTEST = 4  # and at least, when drift asks for short blocks
CAREFUL = 32  # blocks with refined solves after one that has drifted,
FEW = 128  # if no more variables are free; with more, care is for blocks that cannot be shorter
WATCH = 96  # variables looked at in a block, at least
NIL = 1e-13  # relative pivots below are zero,
DOUBT = 1e-8  # and those between are for the reference to judge: an inverse is not that precise
DOUBT_REFINED = 1e-11  # unless solves are refined
FRAIL = 1e-4  # pivots below this have the inverse computed again, in careful blocks
# What may drift in a block, in units of the two tolerances: certificates do not see it yet.
KEEP = 10.0, 2.0
MEND = 0.05  # of that: where drift is corrected
REGULAR = 1e12  # condition numbers above this are the reference's business
LOOK_AGAIN = 0.3  # tolerances shrink with the linear term: they are looked at again
# Computed from scratch, h has the rounding of its terms then: it is computed again when the linear
# term, or the terms themselves, have become as small as this beside them.
STALE = 0.3
SHRUNK = 0.3
STALLED = 20  # rescues at one t, before the reference takes over
SOON = 8  # events after a rescue: the next one is longer,
LONGEST = 256  # up to so many steps
REFRESH = 128  # blocks between two computations of h from scratch


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
        self.progress: Callable[[float, int], None] = lambda t, events: None
        self.core = _verify.Core(system, BLOCK)
        for name in ("still", "indefinite"):
            setattr(self.core, name, getattr(ref, name.upper()))
        self.core.nil, self.core.frail = NIL, FRAIL
        self.core.down_first = ref.DOWN_FIRST
        moves = system.unit_moves
        self.core.longest = ref.LONG if moves else np.inf
        self.core.look_again = LOOK_AGAIN if moves else 0.0
        self.box = np.minimum(1.0, system.stairs.span())
        n, width = system.stairs.value.shape
        self.first = width * np.arange(n)  # of each variable's stairs, in the table as one row
        self.passed = 0
        self.stalled, self.rescued_at = 0, np.nan
        self.helping, self.rescued_after = 1, -SOON
        self.length, self.watching, self.careful = BLOCK, WATCH, 0

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
            if code == _loop.ARRIVED:
                self.mend()
                self.leave()
                return
            blocks += 1
            if blocks % REFRESH == 0 or self.stale():
                self.refresh()
            if code != _loop.FULL or not self.mend():
                if self.by_reference(way, t_end):
                    return

    def block(self, way: float, t_end: float) -> int:
        """Walk, verify and keep one block of steps.

        A block that passes somebody over is walked again with an eye on him, and more are watched
        from then on; one that drifts is walked again with care and shorter (first what costs less),
        and left to the reference when nothing helps.
        """
        core, t0 = self.core, self.core.t
        h_end = np.empty_like(self.h)
        few, jumps = core.ns <= FEW, core.n_jumps
        core.reserve(core.ns + 2 * BLOCK + 2)
        self.be_careful(self.careful)
        core.precision = ref.PRECISION * min(1.0, self.system.pull(t0))
        watched, tolerance, keep = self.choose(way), self.tolerance, self.keep
        linear = [KEEP[0] * ref.PRECISION * u for u in self.system.unit]
        keep -= np.abs(linear[0] + t0 * linear[1])
        while True:
            saved = core.snapshot()
            core.limit = self.length
            core.watch(watched, self.h, tolerance, keep, *linear)
            code = int(core.run(way, t_end))
            missed = core.verify(self.h, t0, h_end)
            if code != _loop.BROKEN and len(missed) == 0 and self.holds(jumps):
                self.length = min(2 * self.length, BLOCK)
                self.careful = max(self.careful - 1, 0)
                self.watching = max(WATCH, int(0.95 * self.watching))
                self.take_over(h_end)
                return code
            core.restore(saved)
            if len(missed):
                watched = np.union1d(watched, missed)
                self.watching = int(1.5 * self.watching)
            elif few and not core.careful:
                self.be_careful(CAREFUL)
            elif code != _loop.BROKEN and self.length > SHORTEST:
                self.length = max(min(self.length, core.n_moves) // 4, SHORTEST)
            elif not core.careful:
                self.be_careful(1)
            else:
                return _loop.BROKEN

    def be_careful(self, blocks: int) -> None:
        self.careful, self.core.careful = blocks, blocks > 0
        self.core.doubt = DOUBT_REFINED if blocks else DOUBT

    def holds(self, jumps: int) -> bool:
        """Whether the free variables have stayed on their treads through the block."""
        if max(self.core.off_treads, self.core.off_pins) > 1.0:
            return False
        free = self.core.free
        return self.core.n_jumps == jumps or self.regular(free[free >= 0])

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
        self.progress(self.core.t, self.passed)
        self.core.commit()
        self.stair = self.core.stairs.copy()
        self.z = self.core.positions(np.where(self.stair % 2 == 1, self.level(0), 0.0))
        self.h, self.t = h_end, self.core.t
        self.recorder.extend(moves, events)

    # ------------------------------------------------------------------ where things stand

    def enter(self, way: float) -> None:
        """Hand the state to the core, with a fresh inverse."""
        free = np.flatnonzero(self.stair % 2 == 0)
        self.core.load(self.stair, self.z, self.t, way, self.inverse(free))
        self.refresh()

    def inverse(self, free: Ints) -> Floats:
        """Of G_FF; 0 if there is none: then nobody moves, which verification will not let pass."""
        G = self.system.coupling.block(free, free)
        try:
            H = scipy.linalg.inv(G, check_finite=False) if len(free) else G
        except np.linalg.LinAlgError:
            return np.zeros_like(G)
        return 0.5 * (H + H.T)

    def leave(self) -> None:
        self.stair, self.t = self.core.stairs.copy(), self.core.t

    def refresh(self) -> None:
        """h and its tolerances, from the data."""
        system, t = self.system, self.core.t
        self.z = self.core.positions(np.where(self.stair % 2 == 1, self.level(0), 0.0))
        self.h = system.residual(self.z, t)
        self.size = system.coupling.magnitude(self.z)
        self.fresh, self.fresh_z = system.pull(t), float(np.abs(self.z).sum()) or 1.0

    def stale(self) -> bool:
        """Whether the rounding of h, as old as it is, begins to matter."""
        size = float(np.abs(self.z).sum())
        return self.system.pull(self.core.t) < STALE * self.fresh or size < SHRUNK * self.fresh_z

    @property
    def tolerance(self) -> Floats:
        system, t, size = self.system, self.core.t, self.sizes()
        if self.guard:
            floor = system.floor(size, t)
            if floor > ref.BLIND:
                raise StopWalk(f"round-off ({floor:.1e} of a margin) hides what comes next")
        return system.tolerances(size, t, ref.PRECISION, ref.ROUNDING)

    @property
    def keep(self) -> Floats:
        precision, rounding = KEEP
        system, t, size = self.system, self.core.t, self.sizes()
        return system.tolerances(size, t, precision * ref.PRECISION, rounding * ref.ROUNDING)

    def sizes(self) -> Floats:
        """The sums of absolute terms; they shrink and grow about as the multipliers do."""
        grown = float(np.abs(self.z).sum()) / self.fresh_z
        return grown * self.size + np.abs(self.system.q + self.core.t * self.system.r)

    def choose(self, way: float) -> Ints:
        """The pinned variables that may block soon; the direction is refined on the way."""
        rate = self.core.refine(way)
        n_pinned = len(self.stair) - self.core.ns
        if n_pinned <= self.watching:
            return np.flatnonzero(self.stair % 2 == 1)
        soon = self.core.urgency(self.h, rate, way)
        size = min(max(self.watching, int(np.count_nonzero(soon <= 0.0))), n_pinned - 1)
        # Verification is for variables with a Gram row; the others are always watched.
        chosen = ~self.system.coupling.has_row & (self.stair % 2 == 1)
        chosen[np.argpartition(soon, size)[:size]] = True
        return np.flatnonzero(chosen)

    # ------------------------------------------------------------------ rescue

    def mend(self) -> bool:
        """Correct drift with the inverse; False when the reference must do it."""
        if max(self.core.off_treads, self.core.off_pins) <= MEND:
            return True
        free = self.core.free
        step = self.core.correct(self.drift()[free])
        z = self.z[free] + step
        spare = 10.0 * self.core.precision * self.box[free]  # at a corner, and settled there
        low, high = self.level(-1)[free] - spare, self.level(1)[free] + spare
        if np.all((z >= low) & (z <= high)):
            change = np.zeros_like(self.z)
            change[free] = step
            self.recorder.move(self.t, self.t, change, 1.0)
            self.core.shift(step)
            self.z = self.z + change
            self.h = self.h - self.core.push(step)
        return bool(np.all(np.abs(self.drift()) <= self.keep))

    def drift(self) -> Floats:
        """How far residuals are off their treads, or out of their pins' reach."""
        tread = self.stair % 2 == 0
        reach = np.clip(self.h, self.level(-1), self.level(1))
        return self.h - np.where(tread, self.level(0), reach)

    def level(self, shift: int) -> Floats:
        s, at = self.system.stairs, self.first + self.stair + shift
        return s.value.take(at) + self.core.t * s.slope.take(at)

    def by_reference(self, way: float, t_end: float) -> bool:
        """One event by the reference; True when it has arrived.

        When that leads nowhere again and again, the reference walks on to the end by itself.
        """
        self.stalled = self.stalled + 1 if self.t == self.rescued_at else 0
        self.rescued_at = self.t
        walker = ref.Walker(self.system, self.stair, self.z, self.t, self.recorder, self.rng)
        if walker.lu is not None and self.singular(walker.lu[0]):
            walker = self.on_singular()
        walker.guard = self.guard
        walker.passed = self.passed
        walker.t_begin = self.core.tiny_t / ref.NOUGHT * (1.0 - ref.LONG)
        # Where the matrix is hardly regular rescues follow each other, each longer than the last.
        close = self.passed - self.rescued_after < SOON
        self.helping = min(2 * self.helping, LONGEST) if close else 1
        arrived = walker.walk(t_end, most=self.helping if self.stalled < STALLED else None)
        self.passed = self.rescued_after = walker.passed
        self.stair, self.z, self.t = walker.stair, walker.z, walker.t
        if not arrived:
            self.enter(way)
        return arrived

    def singular(self, lu: Floats) -> bool:
        pivots = np.abs(lu.diagonal())
        return bool(pivots.min() < ref.NULL * pivots.max())

    def on_singular(self) -> ref.Walker:
        """A state that an imprecise pivot has let through: back to a regular one, by a jump."""
        stair, z = ref.regularise(self.system, self.stair, self.z, self.t)
        self.recorder.move(self.t, self.t, z - self.z, 1.0)
        for k in np.flatnonzero(stair != self.stair):
            self.recorder.event(self.t, int(k), int(self.stair[k]), int(stair[k]))
            self.passed += 1
        return ref.Walker(self.system, stair, z, self.t, self.recorder, self.rng)
