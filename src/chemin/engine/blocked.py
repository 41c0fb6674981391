"""The fast walk: blocks of steps in the compiled core, each of them verified.

The same walk as `reference.Walker`, event by event. The reference itself takes over for a step when
no inverse is precise enough: the last resort.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems.staircase import CLOSED, Floats, Ints, StaircaseSystem
from . import _loop, _verify  # type: ignore[attr-defined]
from . import tolerances as tol
from .reasons import Reason, StuckError
from .rescue import BLINDLY, Helper, check_sight, check_treads
from .trace import Recorder

# The sizes of blocks; tests make them small, so that every branch is taken on small problems.
BLOCK = 48  # steps between two verifications, at most
SHORTEST = 4  # and at least, when drift asks for short blocks
WATCH = 80  # pinned variables that a block looks at, at least
LONG_ROWS = 4000  # variables: from here on more of both, for verification is dear
LONGER, MORE_WATCHED = 4 / 3, 1.4
SHORT_ROWS, WIDER = 1500, 1.2  # below so many, times as many are watched: a row costs little
FEW_ROWS = 512  # variables, none of a border: below, at most so many:
FEWER_STEPS, FEWER_WATCHED = 32, 64
DEEP = 64  # columns of a factor: from here on fewer steps too, for nothing is gained by more
MORE, FEWER = 1.25, 0.98  # times that: after a block that has missed one, after one that has not
CAREFUL = 32  # blocks with refined solves and fresh inverses after one that has drifted; with
FEW = 128  # inverses after frail pivots too if no more variables are free, or if it drifts again
CAUTION = 2  # with more free, inverses are dear: so many at first, twice as many each time
MANY, QUARTER = 512, 4  # with so many free, blocks are first made shorter, to a part of the longest
REFRESH = 128  # blocks between two computations of h from the data
STANDING = 8  # blocks at one t in a row, or 40 events a variable: they go round in round-off
ROUND = 16  # events of a block at one t, at least: more than half of them lead to known stairs
AT_ONCE = 4  # events a move: with more the next block is wary, for where nothing moves, none drifts
LOST = 200, 20  # steps of the reference in one walk, events in a walk back; and a variable: more
# lead nowhere, nor do so many events to a start where round-off hides residuals
BACK = 100  # walks back in a walk that is not kept: the same
NESTED = 4  # walks back within walks back, each of drift of the one before: the same

BROKEN = -1  # the code of a block that could not be walked


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
        self.progress: Callable[[float, int, int], None] = lambda t, events, helped: None
        self.most, self.least = BLOCK, WATCH
        if len(system) >= LONG_ROWS:
            self.most, self.least = int(LONGER * BLOCK), int(MORE_WATCHED * WATCH)
        if len(system) < SHORT_ROWS:
            self.least = int(WIDER * self.least)
        few = len(system) < FEW_ROWS and len(system) == system.coupling.n_rows
        if few:
            self.most, self.least = min(BLOCK, FEWER_STEPS), min(WATCH, FEWER_WATCHED)
        self.core = core = _verify.Core(system, self.most)
        if few:  # room for all, once
            core.reserve(len(system) + 2 * self.most + 2)
        if core.rank >= DEEP:  # every breakpoint costs the same, and short sight is clear
            self.most = min(BLOCK, FEWER_STEPS)
        core.still, core.indefinite = tol.VANISHING, tol.INDEFINITE
        core.singular, core.aside, core.down_first = tol.NIL, tol.ASIDE, tol.DOWN_FIRST
        core.entries = tol.ENTRIES
        # H_ss G_ss is one over the pivot of a free variable, relative to its diagonal entry.
        core.frail, core.hard = tol.FRAIL, 1.0 / tol.FRAIL
        core.doubt, core.doubt_refined, core.creeping = tol.DOUBT, tol.DOUBT_REFINED, tol.DOUBT
        core.settled, core.worn, core.ruined = tol.SETTLED, tol.WORN, tol.RUINED
        core.least, core.rounding = tol.PRECISION, tol.ROUNDING
        core.drift_least = tol.KEEP_PRECISION * tol.PRECISION
        core.drift_rounding = tol.KEEP_ROUNDING * tol.ROUNDING
        core.spare = tol.SPARE
        core.longest = tol.LONG if system.unit_moves else np.inf
        look_again = tol.FADED if len(system) < SHORT_ROWS else tol.FADING
        core.look_again = look_again if system.unit_moves else 0.0
        core.closed = CLOSED
        self.passed, self.nought = 0, 0.0
        self.round = False  # whether the last block has gone round
        self.tied = False  # whether it has passed many corners at once
        self.helper = Helper()
        self.lost = LOST[0] + LOST[1] * len(system)
        self.patience = max(STANDING, 40 * len(system) // self.most)
        self.length, self.watching = self.most, self.least
        self.careful, self.afresh = 0, False  # blocks to be careful for, with inverses in between
        self.caution = CAUTION
        self.inverse: tuple[Floats, Ints, float] | None = None  # lent by another walk that is here
        self.edge: Floats | None = None
        self.mends = False  # whether it walks drift of another walk away
        self.backs = 0  # how often its own drift was walked away
        self.depth = 0  # how many walks back it is part of
        self.dim = 0.0  # then: the dimness where it does
        self.mended: float | None = None  # the t at which drift was last walked away
        self.floor = 0.0  # the largest round-off of a residual, in its unit

    # ------------------------------------------------------------------ the loop

    def walk(self, t_end: float) -> None:
        way = 1.0 if t_end >= self.t else -1.0
        begin = self.t
        self.enter(way)
        blocks = standing = 0
        while True:
            if not self.passed:
                tiny = max(abs(self.t), tol.NEAR_ZERO * abs(begin))
                self.nought = tol.NOUGHT * tiny / (1.0 - tol.LONG)
            t, code = self.t, self.block(way, t_end)
            if code == _loop.ARRIVED:
                self.mend()
                self.leave()
                return
            blocks += 1
            if blocks % REFRESH == 0 or self.stale():
                self.core.measure_pins()
                self.refresh()
            standing = standing + 1 if self.t == t else 0
            if self.passed > self.lost:
                if self.mends:
                    raise StuckError(Reason.LOST(self.passed))
                if self.recorder.system is None:  # not kept, and no other limit ends it
                    check_sight(self.system.in_margins(self.floor, self.t))
            stuck = self.round or standing > self.patience
            if code != _loop.FULL or stuck or not self.mend():
                if not self.walk_back(way) and self.by_reference(way, t_end):
                    return

    def block(self, way: float, t_end: float) -> int:
        """Walk, verify and keep one block of steps.

        A block in which an unwatched variable has passed a corner is walked again with that
        variable watched, and later blocks watch more. A block that drifts is walked again with
        care, or shorter, whichever costs less: care takes fresh inverses. The shortest may drift
        more, for it is mended. Then it is left to the reference.
        """
        core, t0 = self.core, self.core.t
        h_end = np.empty_like(self.h)
        few = core.ns <= FEW
        if core.ns + 2 * self.most + 2 > core.cap:
            core.reserve(core.ns + 2 * self.most + 2)
        self.be_careful(self.careful, few or self.afresh)
        if self.tied:
            core.wary_from_the_start = True
        watched = self.choose(way)
        self.gauge()
        while True:
            core.snapshot()
            core.limit = self.length
            core.watch(watched, self.h)
            code = int(core.run(way, t_end))
            blind = code == _loop.BLIND  # a jump meets nothing that is watched
            missed = self.unwatched(watched) if blind else core.verify(self.h, t0, h_end)
            # Where z stands still, verification knows nothing of pivots.
            lost = code == _loop.SINGULAR_PIVOT and not core.careful
            seen = not (blind or lost or len(missed))
            if seen and (self.holds() or self.holds_at_its_end(t0, h_end)):
                self.length = min(2 * self.length, self.most)
                self.careful = max(self.careful - 1, 0)
                self.watching = max(self.least, int(FEWER * self.watching))
                self.take_over(h_end)
                return code
            core.restore()
            if len(missed):
                watched = self.watch_more(watched, missed)
            elif core.ns >= MANY and not self.careful and QUARTER * core.n_moves > self.most:
                self.length = core.n_moves // 2
            elif not self.careful:
                self.be_careful(CAREFUL if few else self.caution, few)
                self.caution = min(2 * self.caution, CAREFUL)
            elif not core.careful:
                self.afresh = True
                self.be_careful(CAREFUL, True)
            elif not blind and self.length > SHORTEST:
                self.length = max(min(self.length, core.n_moves) // 4, SHORTEST)
            else:
                return BROKEN

    def watch_more(self, watched: Ints, missed: Ints) -> Ints:
        """Those watched, and those that verification has found beyond a corner."""
        self.watching = int(MORE * self.watching)
        return np.concatenate([watched, missed])

    def be_careful(self, blocks: int, afresh: bool) -> None:
        """Refined solves for so many blocks; `afresh`: with inverses after frail pivots too."""
        self.careful, self.afresh = blocks, blocks > 0 and self.afresh
        self.core.wary_from_the_start, self.core.careful = blocks > 0, blocks > 0 and afresh

    def holds(self) -> bool:
        """Whether residuals have stayed on their stairs through the block.

        Coefficients with a penalty have no box, and what is off adds its product with them to the
        gap: their blocks are not kept bent.
        """
        core = self.core
        bends = core.careful and self.length <= SHORTEST and self.system.coupling.semidefinite
        most = tol.BENT if bends else 1.0
        return bool(core.off_treads <= most and core.off_pins <= most)  # no number is not

    def holds_at_its_end(self, t0: float, h_end: Floats) -> bool:
        """The same, by the sizes of terms where the block ends: where multipliers begin at 0 those
        of its start say nothing.
        """
        core, system, boxed = self.core, self.system, self.system.boxed
        if system.stairs.moving_pins or core.n_moves == 0:
            return False
        z = core.positions()
        if np.abs(self.z[boxed]).sum() > tol.FROM_ZERO * np.abs(z[boxed]).sum():
            return False
        total = float(np.abs(z).sum())
        core.gauge(z, system.coupling.magnitude(z), total, system.q, system.r, self.edge)
        if not len(core.verify(self.h, t0, h_end)) and self.holds():
            return True
        core.restore()
        self.gauge()
        return False

    def unwatched(self, watched: Ints) -> Ints:
        """The pinned variables that the block does not look at."""
        return np.setdiff1d(np.flatnonzero(self.stair % 2 == 1), watched)

    def take_over(self, h_end: Floats) -> None:
        core, recorder = self.core, self.recorder
        self.passed += core.n_events
        self.tied = core.n_events > AT_ONCE * max(core.n_moves, 1)
        self.progress(core.t, self.passed, self.helper.events)
        if recorder.system is not None:
            index, rate = recorder.room(core.most_entries())
            events = recorder.room_for_events(core.n_events)
            moves = core.record(index, rate, recorder.entries, events)
            self.round = core.t == self.t and self.goes_round(events)
            if max(core.off_treads, core.off_pins) > 1.0:  # kept bent
                recorder.rescues.extend(moves[1])
        core.commit()
        self.stair = core.stairs.copy()
        self.z = core.positions()
        self.h, self.t = h_end, core.t
        if self.system.stairs.moving_pins:
            self.measure_boxes()
        if recorder.system is not None:
            recorder.extend(moves, events, self.z)

    def goes_round(self, events: NDArray[Any]) -> bool:
        """Whether events at one t lead back, time and again, to stairs on which the walk has been.

        Ties are broken so that this cannot be, but by round-off.
        """
        if len(events) < ROUND:
            return False
        marks = self.marks
        steps = marks[events["variable"], events["from"]] ^ marks[events["variable"], events["to"]]
        states = np.bitwise_xor.accumulate(steps)
        return 2 * len(np.unique(states)) < len(states)

    @cached_property
    def marks(self) -> Ints:
        """A random number for each variable on each stair: all of them together mark a state."""
        shape = self.system.stairs.value.shape
        return np.random.default_rng(0).integers(np.iinfo(np.int64).max, size=shape)

    # ------------------------------------------------------------------ the state

    def enter(self, way: float) -> None:
        """Hand the state to the core, with a fresh inverse if none is known."""
        known, self.inverse = self.inverse or (), None
        self.core.load(self.stair, self.z, self.t, way, *known)
        self.refresh()

    def leave(self) -> None:
        self.stair, self.t = self.core.stairs.copy(), self.core.t

    def refresh(self) -> None:
        """h and the sizes of its terms, from the data."""
        system, t = self.system, self.core.t
        self.z = self.core.positions()
        if self.core.rank:
            self.h = system.residual(self.z, t)
            self.size = system.coupling.magnitude(self.z)
        else:
            pushed, self.size = self.core.terms(self.z)
            self.h = -(pushed + system.q + t * system.r)
        self.fresh, self.fresh_z = system.pull(t), float(np.abs(self.z).sum()) or 1.0
        if self.edge is None or system.stairs.moving_pins:
            self.measure_boxes()

    def measure_boxes(self) -> None:
        """How far each variable can go, and what the border makes of it at the most."""
        system, t = self.system, self.core.t
        self.box = np.minimum(1.0, system.stairs.span(t))
        has_row, border = system.coupling.has_row, np.abs(system.coupling.border)
        self.edge = (border * self.box[has_row, None]).max(axis=0, initial=0.0)

    def stale(self) -> bool:
        """Whether the rounding of h, as old as it is, begins to matter, or is known no more: where
        multipliers have grown that much, most of their terms are those of other rows.
        """
        size = float(np.abs(self.z).sum())
        if size < tol.STALE * self.fresh_z or tol.STALE * size > self.fresh_z:
            return True
        return self.system.pull(self.core.t) < tol.STALE * self.fresh

    def gauge(self) -> None:
        """How precisely everything is known here; |M| |z| goes about as the multipliers do."""
        system, core = self.system, self.core
        _, self.floor = core.gauge(self.z, self.size, self.fresh_z, system.q, system.r, self.edge)
        core.tiny_t = self.nought
        if self.guard:
            check_sight(system.in_margins(self.floor, core.t))

    def choose(self, way: float) -> Ints:
        """The pinned variables that may block soon, the first of them first.

        The direction is refined on the way.
        """
        soon, at_once = self.core.urgency(self.h, self.core.refine(way), way)
        n_pinned = len(soon) - self.core.ns
        size = min(max(self.watching, at_once), n_pinned)
        if len(soon) < FEW_ROWS:  # few enough to sort them all, and to begin with all of them
            return soon.argsort()[: size if self.passed else n_pinned]
        if size == n_pinned:
            return soon.argsort()[:size]
        some = soon.argpartition(size)[:size]
        return some[soon[some].argsort()]

    # ------------------------------------------------------------------ rescue

    def mend(self) -> bool:
        """Correct drift by one step with the inverse; False when that is no help.

        Pinned variables may be pushed a little beyond their corners: the next block begins with
        them, and they enter there.
        """
        if max(self.core.off_treads, self.core.off_pins) <= tol.MEND:
            return True
        step = self.core.correction(self.h)
        if step is not None:
            change = np.zeros_like(self.z)
            change[self.core.free] = step
            self.recorder.mend(self.t, change)
            self.core.shift(step)
            self.z = self.z + change
            self.h = self.h - self.core.push(step)
        self.gauge()
        self.core.measure_drift(self.h)
        most = 1.0 if step is not None else tol.WALKED
        return bool(self.core.off_treads <= most and self.core.off_pins <= tol.SPARE)

    def walk_back(self, way: float) -> bool:
        """Walk drift away, as an artificial residual, at a standing t; False if that is no help."""
        self.refresh()
        drift = self.drift()
        self.backs += 1
        if self.backs > (BACK if self.recorder.system is None else self.lost):
            raise StuckError(Reason.DRIFT(self.backs))
        if self.mended == self.t or self.depth == NESTED:
            return False
        if np.all(np.abs(drift) <= tol.MEND * self.core.allowed()):
            return False
        system = self.system.frozen(self.t, drift)
        mender = BlockWalker(system, self.stair, self.z, 1.0, Recorder(), self.rng)
        self.mended, mender.mended, mender.helper = self.t, mender.t, self.helper
        mender.mends, mender.inverse, mender.depth = True, self.core.lend(), self.depth + 1
        mender.dim = max(self.dim, self.system.dimness(self.core.tolerance, self.t))
        try:
            mender.walk(tol.EPS)
        except StuckError:
            return False
        self.recorder.rescues.append(self.t)
        self.recorder.mend(self.t, mender.z - self.z)
        # An event puts a variable at the pin to which it comes; some have gone on from there.
        pins, z = self.system.stairs.frozen(self.t).value, mender.z.copy()
        for k in np.flatnonzero(mender.stair != self.stair):
            side = 1 if mender.stair[k] > self.stair[k] else -1
            for j in range(int(self.stair[k]), int(mender.stair[k]), side):
                if not self.recorder.take_back(self.t, int(k), j, j + side):
                    self.recorder.event(self.t, int(k), j, j + side)
                    z[k] = pins[k, j + side] if (j + side) % 2 else z[k]
                self.passed += 1
        if np.any(z != mender.z):
            self.recorder.mend(self.t, mender.z - z)
        self.stair, self.z = mender.stair, mender.z
        if np.array_equal(mender.core.stairs, mender.stair):  # not where the reference has arrived
            self.inverse = mender.core.lend()
        self.enter(way)
        return True

    def drift(self) -> Floats:
        return self.system.stairs.off(self.stair, self.h, self.core.t)

    def by_reference(self, way: float, t_end: float) -> bool:
        """One step by the reference; True when it has arrived.

        Where double precision is blind it finds no way either: some steps, and no more.
        """
        calls = self.helper.calls
        if calls >= BLINDLY:
            check_sight(self.system.in_margins(self.floor, self.t))
            check_treads(self.system.dimness(self.core.tolerance, self.t))
        if calls >= self.lost:
            raise StuckError(Reason.LOST(calls))
        self.recorder.rescues.append(self.t)
        arrived = self.helper.walk(self, t_end)
        if not arrived:
            self.enter(way)
        return arrived
