"""What a walk leaves behind: its moves and its events, and from them the solution at any t.

How z changes within a move is the business of `moves`: a `Trace` knows no formula for it. Nothing
dense is stored but a state now and then, so that a solution is at most a few moves away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems.staircase import Floats, Ints, Staircases, StaircaseSystem
from ._cumulate import cumulated, replay, replay_each, replay_some
from .moves import KINDS, Form, Moves, RationalMoves, StraightMoves
from .reasons import End, Reason, StopWalk
from .tolerances import AT_REST, NOTHING, TIED, UNSEEN

# A dense state every so many moves: replaying costs at most this many small additions, and the
# states cost about as much memory as the moves when a move holds N / 64 variables.
CHECKPOINT = 64
LONG = 10_000  # variables: the walker's own states are kept less often, or take as much as K would
# Small problems keep the states of all moves: no more numbers than this, some megabytes.
KEPT = 500_000
# Steps that are replayed for several values at once; more are gone through in order, none twice.
# Where the states of all moves are no more numbers, they are there for a single value too.
AT_ONCE = 16_000
# Room for entries of moves: half as many as the matrix has, but no more than this, at first; then
# twice as many. What is not written takes no memory. Beyond it a quarter more, in place: two copies
# of a hundred megabytes would be the most that a walk needs.
ROOM, GROWTH, LATER = 2**23, 2, 1.25
# Moves whose products are made at a time: more of them change more variables, and what is made of
# fewer does not outweigh the calls. 64 took up to a quarter longer, 512 too.
AT_A_TIME = 192
JUDGED = 64  # moves before the start of a path that are looked at together, at the most
# Blocks of moves whose products are cumulated before a product with all of z wipes out round-off.
AFRESH = 3

State = tuple[int, Floats]  # z when so many moves have been made

EVENT = np.dtype([("t", "f8"), ("variable", "i8"), ("from", "i2"), ("to", "i2"), ("move", "i8")])


class Recorder:
    """Collects moves and events while walking."""

    def __init__(
        self,
        system: StaircaseSystem | None = None,
        z: Floats | None = None,
        t: float = 0.0,
        max_events: int | None = None,
        *,
        from_top: bool = False,
    ) -> None:
        """Of a walk that begins at z and t; without a system, of one whose moves are not kept.

        `from_top`: what comes before something happens is not kept, and its events do not count.
        """
        self.system, self.max_events, self.from_top = system, max_events, from_top
        if system is not None:
            self.t = t
            self.z = np.zeros(len(system)) if z is None else z.copy()  # until something happens
        # Of moves: t0, t1, length and number of entries; the entries of all of them, with room.
        self.moves: tuple[list[Any], ...] = ([], [], [], [])
        self.entries, self.index, self.rate = 0, np.empty(0, np.int32), np.empty(0)
        self.log = np.empty(64, dtype=EVENT)  # the events, with room
        self.passed = 0  # how many there are
        self.first: int | None = None  # the first move in which something happens
        self.states: list[State] = []  # what the walker knows of z on its way
        self.rescues: list[float] = []  # where the walk was in trouble: the audit looks there

    @cached_property
    def box(self) -> Floats:
        """What multipliers are measured by where the walk begins, 1 at the most."""
        assert self.system is not None
        box = self.system.boxes(self.t, self.system.stairs.span(self.t))
        return np.where(self.system.boxed, np.where(box > 0, box, 1.0), np.inf)

    def move(self, t0: float, t1: float, z: Floats, length: float) -> None:
        if self.system is None:
            return
        self._record(t0, t1, z, length)
        self._end_after_max_events()

    def mend(self, t: float, z: Floats) -> None:
        """A correction of round-off: a jump in which nothing happens."""
        if self.system is None:
            return
        first = self.first
        self._record(t, t, z, 1.0)
        self.first = first

    def _record(self, t0: float, t1: float, z: Floats, length: float) -> None:
        index = np.flatnonzero(z).astype(np.int32)
        self._write(index, z[index])
        self._add([t0], [t1], [length], [len(index)])

    def room(self, count: int) -> tuple[NDArray[np.int32], Floats]:
        """Where the entries of the next moves go, from `entries` on: room for so many of them.

        What is not written takes no memory at first, and is not cleared.
        """
        need = self.entries + count
        if need > len(self.index):
            first = 0 if self.system is None else min(self.system.coupling.stored // 2, ROOM)
            if len(self.index) < ROOM:
                size = max(need, first, GROWTH * len(self.index))
                index, rate = np.empty(size, np.int32), np.empty(size)
                index[: self.entries] = self.index[: self.entries]
                rate[: self.entries] = self.rate[: self.entries]
                self.index, self.rate = index, rate
            else:
                size = max(need, int(LATER * len(self.index)))
                for entries in (self.index, self.rate):
                    entries.resize(size, refcheck=False)
        return self.index, self.rate

    def _write(self, index: NDArray[np.int32], rate: Floats) -> None:
        all_index, all_rate = self.room(len(index))
        new = slice(self.entries, self.entries + len(index))
        all_index[new], all_rate[new] = index, rate

    def _add(self, t0: list[float], t1: list[float], length: list[float], sizes: list[int]) -> None:
        """Moves whose entries have been written."""
        if self.first is None and self.system is not None:
            j = next((j for j, size in enumerate(sizes) if size), len(sizes))  # z is still before
            if j < len(sizes) and self._alone(t0[j], t1[j], length[j], sizes[j]):
                self.first = len(self.moves[0]) + j
            else:
                self._look_for_the_first(*map(np.array, (t0, t1, length, sizes)))
        new: tuple[list[Any], ...] = (t0, t1, length, sizes)
        for column, more in zip(self.moves, new):
            column.extend(more)
        self.entries += sum(sizes)

    def _look_for_the_first(self, t0: Floats, t1: Floats, length: Floats, sizes: Ints) -> None:
        """Whether something happens in one of the next moves; mostly in one of the very first."""
        done, together, at = 0, 1, self.entries
        while done < len(t0):
            some = slice(done, done + together)
            move = np.repeat(np.arange(len(t0[some])), sizes[some])
            new = slice(at, at := at + len(move))
            entries = move, self.index[new], self.rate[new]
            happens, self.z = self._happens(t0[some], t1[some], length[some], entries)
            if happens is not None:
                self.first = len(self.moves[0]) + done + happens
                return
            done, together = done + together, min(2 * together, JUDGED)

    def _changes(
        self, t0: Floats, t1: Floats, length: Floats, entries: tuple[Ints, Any, Floats]
    ) -> tuple[Floats, Any]:
        """How much each entry of these moves changes a multiplier on the way to t = 0, or in a
        jump; and whether that is more than nothing. What round-off leaves between the events of a
        tie is no way to go on.
        """
        system, (move, index, rate) = self.system, entries
        assert system is not None
        far = np.maximum(np.abs(t0), np.abs(t1))  # a move that is as short as a jump is one
        size = np.where(_at_once(t0, t1), length, far)
        multiplier = system.boxed[index]
        change = np.where(multiplier, size[move] * rate, 0.0)
        least = NOTHING * np.minimum(self.box[index], system.pulls(t0)[move])
        moving = np.abs(change) > least
        if moving.any():
            # Beside an intercept that goes with t the others stand still, but for round-off.
            fastest = np.zeros((2, len(t0)))
            np.maximum.at(fastest, (multiplier.astype(int), move), np.abs(rate))
            resting = (fastest[1] <= AT_REST * fastest[0])[move]
            change[resting], moving[resting] = 0.0, False
        return change, moving

    def _happens(
        self, t0: Floats, t1: Floats, length: Floats, entries: tuple[Ints, Any, Floats]
    ) -> tuple[int | None, Floats]:
        """In which of these moves something happens first, and z before it; or None, and z after
        all of them.
        """
        change, moving = self._changes(t0, t1, length, entries)
        move, index, rate = entries
        walked, n = length[move] * rate, len(self.z)
        if not moving.any():
            return None, self.z + np.bincount(index, walked, n)
        # One after the other, as the walk went: z before the first move, and after each.
        z, changes = np.zeros((len(t0) + 1, n)), np.zeros((len(t0), n))
        z[0], z[move + 1, index], changes[move, index] = self.z, walked, change
        for j in range(len(t0)):
            z[j + 1] += z[j]
        some = np.flatnonzero(np.bincount(move[moving]))
        far = np.maximum(np.abs(t0), np.abs(t1))[some]
        told = some[self._must_move(far, z[some], changes[some], z[some + 1])]
        return (int(told[0]), z[told[0]].copy()) if len(told) else (None, z[-1].copy())

    def _must_move(self, far: Floats, before: Floats, change: Floats, after: Floats) -> Any:
        """Whether the closed form above the start, in which multipliers stand still, ends in each
        of these moves.

        Multipliers must move where residuals move with them, and where the equation of an
        unpenalised variable asks for it. Where neither is so, they are handed between copies, or
        follow the round-off of a nearly singular system. An unpenalised variable that stands at
        its pin asks for nothing: a closed tube leaves the sum of multipliers free.
        """
        system = self.system
        assert system is not None
        pull, coupling = system.pulls(far)[:, None], system.coupling
        above = np.maximum(before, after) - system.stairs.value[:, 1]
        asks = system.boxed | (above > NOTHING * pull)
        moved = np.abs(coupling.dot(change.T).T)

        def seen(terms: Floats) -> Any:
            return np.any((moved > np.maximum(NOTHING * pull, UNSEEN * terms.T)) & asks, axis=1)

        # What is seen beside a bound on the terms needs no product with the matrix.
        sizes = (np.abs(before) + np.abs(change)).T
        told = seen(coupling.bound(sizes))
        return told if told[0] else told | seen(coupling.magnitude(sizes))

    def _alone(self, t0: float, t1: float, length: float, size: int) -> bool:
        """Whether one multiplier moves in the next move in which anything does, the others being 0,
        and is seen by its own residual. It is the case that is quickly told.
        """
        system = self.system
        assert system is not None
        if size != 1 or self.z.any():
            return False
        i, coupling = int(self.index[self.entries]), system.coupling
        if not (coupling.semidefinite and i < coupling.n_rows and system.boxed[i]):
            return False
        far = max(abs(t0), abs(t1))
        way = length if _at_once(t0, t1) else far
        moved = way * abs(float(self.rate[self.entries]))
        seen = float(coupling.root[i]) ** 2 * moved > NOTHING * system.pull(far)
        return seen and moved > NOTHING * min(1.0, system.pull(t0))

    def event(self, t: float, variable: int, origin: int, target: int) -> None:
        if self.system is None:
            return
        self.room_for_events(1)[0] = (t, variable, origin, target, len(self.moves[0]))
        self.passed += 1

    @property
    def events(self) -> NDArray[Any]:
        return self.log[: self.passed]

    def room_for_events(self, count: int) -> NDArray[Any]:
        """Where the next events go."""
        need = self.passed + count
        if need > len(self.log):
            log = np.empty(max(need, 2 * len(self.log)), dtype=EVENT)
            log[: self.passed] = self.events
            self.log = log
        return self.log[self.passed : need]

    def take_back(self, t: float, variable: int, origin: int, target: int) -> bool:
        """Whether this event undoes the last one, at the same t: then neither has happened."""
        if not self.passed or tuple(self.events[-1])[:4] != (t, variable, target, origin):
            return False
        self.passed -= 1
        return True

    def extend(self, moves: tuple[Any, ...], events: NDArray[Any], z: Floats) -> None:
        """A block of moves and its events, written already, which count their moves from the
        block's first, and z after it.
        """
        offset = len(self.moves[0])
        self._add(*moves)
        last, made = self.states[-1][0] if self.states else 0, len(self.moves[0])
        if made - last >= (CHECKPOINT // 2 if len(z) < LONG else 8 * CHECKPOINT):
            self.states.append((made, z))
        events["move"] += offset
        self.passed += len(events)
        self._end_after_max_events()

    def _end_after_max_events(self) -> None:
        """End the walk at the last event that is asked for. Whether one counts is known when the
        move after it is: above the start nothing happens.
        """
        if self.max_events is None or self.passed < self.max_events:
            return
        if self.from_top and self.first is None:
            return
        first = self.beginning() if self.from_top else 0
        events = self.events
        counted = np.flatnonzero(events["move"] >= first)
        if len(counted) < self.max_events:
            return
        last = int(counted[self.max_events - 1])
        self.passed = last + 1
        self._keep(max(int(events["move"][last]), 1))
        raise StopWalk(Reason.MAX_EVENTS(self.max_events))

    def beginning(self) -> int:
        """The first move of the path: that in which something happens, or jumps right before it.

        Jumps of unpenalised variables there, and moves as short as one, belong to the path: above
        they have not been made.
        """
        t0, t1 = self.moves[:2]
        first = min(self.first or 0, len(t0))
        while first > 0 and _at_once(t0[first - 1], t1[first - 1]):
            first -= 1
        return first

    def _keep(self, count: int) -> None:
        """The first `count` moves, and no more."""
        for column in self.moves:
            del column[count:]
        self.states = [state for state in self.states if state[0] <= count]
        if self.first is not None:
            self.first = min(self.first, count)

    def forget_below(self, t: float) -> None:
        """Nothing has ever happened: keep the walk down to t, and no more."""
        self._keep(sum(t1 >= t for t1 in self.moves[1]))
        self.passed = int(np.count_nonzero(self.events["move"] < len(self.moves[0])))

    @property
    def top(self) -> float | None:
        """The t at which the first thing happens."""
        if self.first is None:
            return None
        return self.moves[0][self.first] if self.first < len(self.moves[0]) else self.moves[1][-1]

    def made(self) -> StraightMoves:
        """The moves of the walk, which is over: no others are recorded."""
        t0, t1, length = (np.array(column) for column in self.moves[:3])
        pointer = np.zeros(len(t0) + 1, np.intp)
        np.cumsum(self.moves[3], dtype=np.intp, out=pointer[1:])
        for entries in (self.index, self.rate):
            entries.resize(int(pointer[-1]), refcheck=False)
        return StraightMoves(t0, t1, pointer, self.index, length, self.rate)


class CurvedRecorder(Recorder):
    """Collects rational moves, too."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.curves: list[tuple[int, Form]] = []  # of moves, by their numbers

    def curve(
        self, t0: float, t1: float, index: Ints, rate: Floats, length: float, form: Form
    ) -> None:
        """A move with poles."""
        if self.system is None:
            return
        self.curves.append((len(self.moves[0]), form))
        self._write(index.astype(np.int32), rate)
        self._add([t0], [t1], [length], [len(index)])
        self._end_after_max_events()

    def made(self) -> RationalMoves:
        straight = super().made()
        forms = {j: form for j, form in self.curves if j < len(straight)}
        count = np.zeros(len(straight), np.intp)
        count[list(forms)] = [len(form.near) for form in forms.values()]
        return RationalMoves(
            **straight.arrays(),
            poles=np.concatenate([[0], np.cumsum(count)]),
            near=np.concatenate([np.empty(0), *(form.near for form in forms.values())]),
            weight=np.concatenate([np.empty(0), *(f.weight.ravel() for f in forms.values())]),
        )


class StandingRecorder(Recorder):
    """Records the moves of a walker that mends: they all happen at one t."""

    def __init__(self, inner: Recorder, t: float) -> None:
        self.inner, self.t = inner, t

    def move(self, t0: float, t1: float, z: Floats, length: float) -> None:
        self.inner.mend(self.t, length * z)

    def event(self, t: float, variable: int, origin: int, target: int) -> None:
        self.inner.event(self.t, variable, origin, target)


@dataclass(frozen=True)
class Trace:
    """The moves and events of one walk, from a first state; t never turns back."""

    stair_start: Ints
    z_start: Floats
    moves: Moves
    events: NDArray[Any]
    before: Floats  # how fast z moved before the first move: the closed form above the start
    stairs: Staircases
    end: End
    closed_above: bool = False  # whether the closed form holds above the start
    known: tuple[State, ...] = ()  # z as the walker had it, here and there
    rescues: tuple[float, ...] = ()  # where it was in trouble

    @classmethod
    def build(
        cls,
        recorder: Recorder,
        stair_start: Ints,
        z_start: Floats,
        stairs: Staircases,
        *,
        trim: bool,
        end: End,
    ) -> Trace:
        moves = recorder.made()
        if recorder.first is not None and recorder.first == len(moves) > 0:  # ends where it starts
            moves = moves.then(moves.jump(float(moves.t1[-1]), np.zeros_like(z_start)))
        events = recorder.events
        still = np.zeros_like(z_start)
        known, rescues = tuple(recorder.states), tuple(recorder.rescues)
        z_start = _at_their_pins(z_start, moves, events, stairs)
        whole = cls(
            stair_start, z_start, moves, events, still, stairs, end, known=known, rescues=rescues
        )
        if not trim or len(moves) == 0 or recorder.system is None:
            return whole
        return whole._from(recorder.beginning(), recorder.system.boxed)

    def _from(self, first: int, multiplier: NDArray[np.bool_]) -> Trace:
        """The same walk without its first moves, in which nothing happens to multipliers."""
        later = int(np.searchsorted(self.events["move"], first))  # they are in the order of moves
        z = self.z_start
        if later or self.moves.pointer[first]:
            self._leap(z := z.copy(), 0, first)
        # How unpenalised variables moved before: the last move that is not a jump.
        before = np.zeros_like(z)
        if not multiplier.all() and (forward := np.flatnonzero(~_at_once(self.t0, self.t1))).size:
            # Or, where there is none, the first of all: nothing changes above it.
            at = int(forward[max(int(np.searchsorted(forward, first)) - 1, 0)])
            before[self.moves.entries(at)] = self.moves.final_rate(at)
            before[multiplier] = 0.0
        events = self.events[later:].copy()
        events["move"] -= first
        return Trace(
            self._stairs_before(first),
            z,
            self.moves.some(first, len(self.moves)),
            events,
            before,
            self.stairs,
            self.end,
            closed_above=True,
            known=tuple((made - first, z) for made, z in self.known if made > first),
            rescues=self.rescues,
        )

    def cut(self, moves: int, end: End) -> Trace:
        """The first `moves` moves alone, with the reason."""
        return replace(
            self,
            moves=self.moves.some(0, moves),
            events=self.events[self.events["move"] < moves],
            end=end,
            known=tuple(state for state in self.known if state[0] <= moves),
        )

    def then(self, other: Trace) -> Trace:
        """This walk, and another that was begun where it ends. Between them lies a jump: what the
        other has corrected at its start.
        """
        if len(other.moves) == 0:
            return replace(self, end=other.end)
        count, (stair, z, _) = len(self.moves), self.last
        changed = np.flatnonzero(other.stair_start != stair)
        t = float(other.t0[0])
        between = [(t, k, stair[k], other.stair_start[k], count + 1) for k in changed]
        later = other.events.copy()
        later["move"] += count + 1
        return replace(
            self,
            moves=self.moves.then(self.moves.jump(t, other.z_start - z)).then(other.moves),
            events=np.concatenate([self.events, np.array(between, dtype=EVENT), later]),
            end=other.end,
            known=(*self.known, *((made + count + 1, state) for made, state in other._known)),
        )

    @property
    def last(self) -> tuple[Ints, Floats, float]:
        """Stairs, z and t at the end; those of the start where there is no move."""
        count, (made, known) = len(self.moves), self._known[-1]
        if "_kept" in vars(self):
            made, known = count, self._kept[-1]
        z = known.copy()
        self._leap(z, made, count)
        return self._stairs_before(count), z, float(self.t1[-1]) if count else np.nan

    @property
    def to_nothing(self) -> bool:
        """Whether z can go to 0 in proportion to t from the end on: what is pinned is at 0, and all
        that is free may be 0.
        """
        stair, every, pins = self.last[0], np.arange(len(self.z_start)), self.stairs.value
        free = stair % 2 == 0
        low, high = pins[every, stair - free], pins[every, stair + free]
        return len(self.moves) > 0 and bool(np.all((low <= 0) & (high >= 0)))

    def _stairs_before(self, move: int) -> Ints:
        """The stairs of all variables when the events before a move's end are made."""
        stair = self.stair_start.copy()
        past = self.events[: np.searchsorted(self.events["move"], move)]
        stair[past["variable"]] = past["to"]  # the last one counts
        return stair

    def state(self, t: float) -> tuple[Ints, Floats]:
        """Stairs and z at t: a regular state, with which the walk came there."""
        z = self.solutions(np.array([t]))[:, 0]
        if len(self.moves) == 0 or self.way * (t - self.t0[0]) <= 0:
            return self.stair_start.copy(), z
        return self._stairs_before(int(self._move_at(np.array([t]))[0]) + 1), z

    # ------------------------------------------------------------------ saving

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What makes this trace again, besides the staircases and how the walk ended."""
        own = ("stair_start", "z_start", "events", "before")
        named = {name: getattr(self, name) for name in own}
        known = {
            "known_after": np.array([made for made, _ in self.known], np.intp),
            "known_z": np.array([z for _, z in self.known]).reshape(-1, len(self.z_start)),
        }
        return named | known | self.moves.arrays() | {"kind": np.array(self.moves.kind)}

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, NDArray[Any]], stairs: Staircases, end: End, closed_above: bool
    ) -> Trace:
        """From what `arrays` gave."""
        arrays = dict(arrays)
        kind = KINDS[str(arrays.pop("kind", StraightMoves.kind))]
        own = [arrays.pop(name) for name in ("stair_start", "z_start", "events", "before")]
        stair_start, z_start, events, before = own
        after, z = arrays.pop("known_after"), arrays.pop("known_z")
        known = tuple((int(made), state) for made, state in zip(after, z, strict=True))
        moves = kind(**arrays)
        trace = cls(stair_start, z_start, moves, events, before, stairs, end, closed_above, known)
        if not trace._fits():
            raise ValueError("the walk does not fit the data")
        return trace

    def _fits(self) -> bool:
        """Whether arrays of unknown origin can be a walk of these staircases."""
        m, e, (n, width) = self.moves, self.events, self.stairs.value.shape
        made, states = [made for made, _ in self.known], [z for _, z in self.known]
        vectors = (self.stair_start, self.z_start, self.before, *states)
        if any(v.shape != (n,) for v in vectors) or e.dtype != EVENT:
            return False
        if not len(m.t0) == len(m.t1) == len(m.pointer) - 1 or np.any(np.diff(m.pointer) < 0):
            return False
        if m.pointer[0] != 0 or m.pointer[-1] != len(m.index) or not _between(m.index, 0, n):
            return False
        numbers = (self.z_start, self.before, m.t0, m.t1, m.ends(slice(0, len(m))), e["t"], *states)
        stairs = np.concatenate([self.stair_start, e["from"], e["to"]])
        return (
            all(np.isfinite(v).all() for v in numbers)
            and len(numbers[4]) == len(m.index)
            and _between(stairs, 1, width - 1)
            and _between(e["variable"], 0, n)
            and _between(e["move"], 0, len(m) + 1)
            and _between(np.array(made, np.intp), 0, len(m) + 1)
            and bool(np.all(np.diff(e["move"]) >= 0) and np.all(np.diff(made) > 0))
        )

    # ------------------------------------------------------------------ replay

    @property
    def t0(self) -> Floats:
        """Where each move begins."""
        return self.moves.t0

    @property
    def t1(self) -> Floats:
        """Where each move ends."""
        return self.moves.t1

    @cached_property
    def forward(self) -> Ints:
        """The moves that are no jumps."""
        return np.flatnonzero(self.t0 != self.t1)

    @property
    def way(self) -> float:
        """+1 or -1: where t goes."""
        return -1.0 if len(self.moves) == 0 or self.t1[-1] <= self.t0[0] else 1.0

    def _leap(self, z: Floats, first: int, last: int) -> None:
        """z from before move `first` to before move `last`, in place.

        A variable that comes to a pin stands at it exactly: what it did before does not count.
        Steps are added one after the other, as the walk made them: the walk has corrected its own
        round-off, and no other.
        """
        if first < last:
            self._leap_all(z[None], np.array([first]), np.array([last]))

    def _leap_all(self, z: Floats, first: Ints, last: Ints) -> None:
        """`_leap` of each row of z, from before move `first` to before move `last` of its own."""
        moves, begin = self.moves, int(first.min())
        steps = moves.steps(slice(begin, int(last.max())))
        replay(z, first, last, steps, moves.index, moves.pointer, self._pins, begin)

    def states(self) -> Iterator[Floats]:
        """z before each move and after the last; to be read at once, and not to be changed."""
        if self._small:
            yield from self._kept
            return
        z = self.z_start.copy()
        yield z
        for j in range(len(self.moves)):
            self._leap(z, j, j + 1)
            yield z

    def stacked(self) -> Iterator[tuple[int, Floats]]:
        """`states` by rows, many at a time, each time with the number of the first."""
        if self._small:
            yield 0, self._kept
            return
        rows: list[Floats] = []
        for j, z in enumerate(self.states()):
            rows.append(z.copy())
            if len(rows) == CHECKPOINT or j == len(self.moves):
                yield j + 1 - len(rows), np.array(rows)
                rows = []

    @property
    def _small(self) -> bool:
        return self._numbers <= KEPT

    @property
    def _numbers(self) -> int:
        """So many make up the states of all moves."""
        return (len(self.moves) + 1) * len(self.z_start)

    @cached_property
    def _kept(self) -> Floats:
        """z before each move and after the last, by rows: `_leap` from each to the next, and from
        where z is known.
        """
        moves, count = self.moves, len(self.moves)
        out, steps = np.empty((count + 1, len(self.z_start))), moves.steps(slice(0, count))
        for (first, z), (last, _) in zip(self._known, [*self._known[1:], (count, None)]):
            out[first] = z
            replay_each(out, first, last, steps, moves.index, moves.pointer, self._pins)
        return out

    @cached_property
    def _pinned(self) -> tuple[Ints, Ints]:
        some = self._to_pins
        k = np.ascontiguousarray(self.events["variable"][some])
        return k, self.events["to"][some].astype(np.intp)

    @cached_property
    def _pinned_move(self) -> Ints:
        return np.ascontiguousarray(self.events["move"][self._to_pins])

    @cached_property
    def _pins(self) -> tuple[Ints, Ints, Floats]:
        """Of events that end at a pin: moves that have been made, the variable, and the pin."""
        (k, to), move = self._pinned, self._pinned_move
        value, slope = self.stairs.value[k, to], self.stairs.slope[k, to]
        return move, k, value + self.t1[move - 1] * slope

    @cached_property
    def _to_pins(self) -> Ints:
        """The events that end at a pin."""
        return np.flatnonzero(self.events["to"] & 1)

    @cached_property
    def _known(self) -> tuple[State, ...]:
        """z at the start, and where the walker has left it."""
        return ((0, self.z_start), *self.known)

    @cached_property
    def _checkpoints(self) -> tuple[State, ...]:
        """z as it is known, and every so many moves between."""
        out: list[State] = []
        for (at, z), (last, _) in zip(self._known, (*self._known[1:], (len(self.moves), None))):
            out.append((at, z))
            z = z.copy()
            for j in range(at + CHECKPOINT, last, CHECKPOINT):
                self._leap(z, j - CHECKPOINT, j)
                out.append((j, z.copy()))
        return tuple(out)

    def _move_at(self, t: Floats) -> Ints:
        """The first move whose end is not before t, in the order walked."""
        move = np.searchsorted(self.way * self.t1, self.way * t, side="left")
        return np.minimum(move, len(self.moves) - 1)

    def solutions(self, t: Floats, *, once: bool = False) -> Floats:
        """z at each t, one column a value; at a jump, the end that the walk came from.

        `once`: the walk is gone through for these values alone, and nothing is kept for others.
        """
        if len(self.moves) == 0:
            return np.tile(self.z_start, (len(t), 1)).T
        move = self._move_at(t)
        few = 4 * len(t) < len(self.moves)  # fewer than are worth all states, unless those are few
        if self._numbers <= (AT_ONCE if few else KEPT):
            return self._from_kept(t, move)
        once = once or len(t) == 1
        known = self._known if once else self._checkpoints
        nearest = np.searchsorted([made for made, _ in known], move, side="right") - 1
        if once:
            begun = np.array([known[k][0] for k in nearest])
            if np.sum(self.moves.pointer[move] - self.moves.pointer[begun]) <= AT_ONCE:
                states = np.array([known[k][1] for k in nearest])
                self._leap_all(states, begun, move)
                return self._advanced(states.T, t, move)
        z, at = self.z_start, -1
        out = np.empty((len(t), len(self.z_start))).T  # columns are what is looked at
        for k in np.argsort(move, kind="stable"):
            j, (made, state) = int(move[k]), known[nearest[k]]
            if made > at:
                z, at = state.copy(), made
            self._leap(z, at, j)
            at = j
            out[:, k] = z
        return self._advanced(out, t, move)

    def within(self, moves: Ints, parts: Floats) -> Floats:
        """z at parts of moves, given in order: one column for each of the parts, move by move."""
        if "_kept" in vars(self):  # for these moves alone they are not worth it
            states = self._kept[moves]
        else:
            states, first = np.empty((len(moves), len(self.z_start))), np.full(len(moves), -1)
            begun = np.searchsorted([made for made, _ in self._known], moves, side="right") - 1
            for k in np.flatnonzero(np.diff(begun, prepend=-1)):
                first[k], states[k] = self._known[begun[k]]
            origin, m = int(first[0]), self.moves
            steps = m.steps(slice(origin, int(moves[-1])))
            replay_some(states, first, moves, steps, m.index, m.pointer, self._pins, origin)
        out = np.repeat(states, parts.shape[1], axis=0)
        every = np.repeat(moves, parts.shape[1])
        self.moves.advance_all(out.T, np.arange(len(every)), every, parts.ravel())
        return out.T

    def _from_kept(self, t: Floats, move: Ints) -> Floats:
        """`solutions` from the states of all moves: on straight lines from each to the next."""
        ahead, length = t - self.t0[move], self.t1[move] - self.t0[move]
        length[length == 0.0] = np.inf  # a jump has not been made
        part = np.minimum(np.maximum(ahead / length, 0.0), 1.0)
        pace, begin = self.moves.pace(move, part), self._kept[move]
        if pace is None:
            return self._advanced(begin.T, t, move)
        begin += pace[:, None] * (self._kept[move + 1] - begin)
        above = self.way * ahead
        if above.min(initial=0.0) < 0:  # the closed form
            begin += np.minimum(above, 0.0)[:, None] * self.before
        return begin.T

    def _advanced(self, out: Floats, t: Floats, move: Ints) -> Floats:
        """Columns of z from the beginnings of these moves to t, in place; above the start by the
        closed form.
        """
        ahead = self.way * (t - self.t0[move])
        length = np.abs(self.t1[move] - self.t0[move])
        above = np.flatnonzero(ahead < 0)
        out[:, above] += self.before[:, None] * ahead[above]
        some = np.flatnonzero((ahead >= 0) & (length > 0))
        # A part of the move, not of t: steep moves are shorter than t can tell.
        part = np.minimum(ahead[some] / length[some], 1.0)
        self.moves.advance_all(out, some, move[some], part)
        return out

    # ------------------------------------------------------------------ all moves at once

    def before_move(self, move: int) -> Floats:
        """z before a move."""
        known = [state for state in self._known if state[0] <= move]
        made, z = known[-1]
        z = z.copy()
        self._leap(z, made, move)
        return z

    def images(self, phi: Any, begin: int = 0, end: int | None = None) -> Iterator[Image]:
        """z'phi over all moves, or from one on up to another, in blocks of moves. phi is an array,
        or what is multiplied and indexed as one.

        A move changes few variables, so a block needs few rows of phi:

            rows of a block = (z before the block)'phi + (changes since the block began)'phi
        """
        end = len(self.moves) if end is None else end
        if (
            self._small
            and 0 < len(self.z_start) <= CHECKPOINT
            and end - begin == len(self.moves) > 0
        ):
            yield self._image(phi)
            return
        z = self.before_move(begin) if begin else self.z_start.copy()
        place = np.full(len(z), -1, np.intp)
        pointer, last = self.moves.pointer, np.empty(0)
        for first in range(begin, end, AT_A_TIME):
            block = slice(first, min(first + AT_A_TIME, end))
            entries = pointer[first : block.stop + 1]
            rate, pace = self.moves.steps(block)
            moved, so_far, far = cumulated(self.moves.index, rate, pace, entries, place)
            # The last column of so_far is 1: the product is that with z before the block, too.
            rows = np.empty((len(moved) + 1, phi.shape[1]))
            phi.take(moved, axis=0, out=rows[:-1], mode="clip")
            rows[-1] = z @ phi if ((first - begin) // AT_A_TIME) % AFRESH == 0 else last
            out = so_far @ rows
            last, so_far = out[-1].copy(), so_far[:, :-1]
            yield Image(self.moves, block, phi, out, z.copy(), moved, so_far, far)
            z[moved] += so_far[-1]

    def _image(self, phi: Any) -> Image:
        """`images` as one, of few variables: any of them may move in any block."""
        block, every = slice(0, len(self.moves)), np.arange(len(self.z_start))
        so_far, far = self._kept - self.z_start, float(np.abs(self.moves.ends(block)).sum())
        return Image(self.moves, block, phi, self._kept @ phi, self.z_start, every, so_far, far)


def _between(values: NDArray[Any], low: int, high: int) -> bool:
    """Whether all are whole numbers from `low` on, below `high`."""
    return values.dtype.kind in "iu" and bool(np.all((low <= values) & (values < high)))


@dataclass(frozen=True)
class Image:
    """z'phi, and z itself, over a block of moves."""

    moves: Moves
    block: slice
    phi: Any
    ends: Floats  # (moves of the block + 1, columns): z'phi before, between and after them
    z: Floats  # before the block
    moved: Ints  # the variables that change in it
    so_far: Floats  # (moves of the block + 1, moved): by how much they have changed
    far: float  # the sum of their steps: no less than any row of so_far adds up to

    def inside(self, k: int) -> Callable[[Floats], Floats]:
        """z'phi as a function of the parts of the k-th move: shape (parts, columns)."""
        change = self.moves.inside(self.block.start + k, self.phi)
        return lambda parts: self.ends[k] + change(parts)


def _at_once(t0: Any, t1: Any) -> Any:
    """Whether a move is a jump, or as short as one."""
    return np.abs(t0 - t1) <= TIED * np.maximum(np.abs(t0), np.abs(t1))


def _at_their_pins(z: Floats, moves: Moves, events: NDArray[Any], stairs: Staircases) -> Floats:
    """z at the start, without the round-off of variables that come to pins before any move.

    Beside a model that has just begun a coefficient of 1e-16 is not nothing.
    """
    first = events[(events["move"] == 0) & (events["to"] % 2 == 1)]
    if len(first) == 0 or len(moves) == 0:
        return z
    z, k, to = z.copy(), first["variable"], first["to"].astype(np.intp)
    z[k] = stairs.value[k, to] + moves.t0[0] * stairs.slope[k, to]
    return z
