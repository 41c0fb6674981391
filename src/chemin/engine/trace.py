"""What a walk leaves behind: its moves and its events, and from them the solution at any t.

A move is a straight piece: from t0 to t1 the variables `index` change at `rate` (a jump stands at
t0 = t1 and has a length of its own). Nothing dense is stored but a state now and then, so that a
solution is at most a few moves away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problems.staircase import Floats, Ints, Staircases

# A dense state every so many moves: replaying costs at most this many small additions, and the
# states cost about as much memory as the moves when a move holds N / 64 variables.
CHECKPOINT = 64
# Blocks of moves whose products are cumulated before a product with all of z wipes out round-off.
AFRESH = 8
# Before the first move in which a multiplier changes by more than this part of its box (and of t)
# nothing happens to f: the path starts there.
NOTHING = 1e-9

EVENT = np.dtype([("t", "f8"), ("variable", "i8"), ("from", "i2"), ("to", "i2"), ("move", "i8")])


class StuckError(RuntimeError):
    """The walk cannot go on; the message says why."""


class StopWalk(Exception):
    """A limit was met: what has been walked is kept."""


class IndefiniteError(ValueError):
    """The matrix is not positive semi-definite: a negative pivot at `variable`."""

    def __init__(self, variable: int) -> None:
        super().__init__(f"negative pivot at variable {variable}")
        self.variable = variable


class Recorder:
    """Collects moves and events while walking."""

    def __init__(
        self,
        box: Floats | None = None,
        pull: Callable[[float], float] = abs,
        max_events: int | None = None,
    ) -> None:
        # What changes of multipliers are measured by: how far each can go, and the linear term.
        # The box of what is no multiplier is infinite.
        self.box = np.ones(0) if box is None else box
        self.pull, self.max_events = pull, max_events
        # Of moves: t0, t1, length and number of entries; the entries in chunks, as they came.
        self.moves: tuple[list[Any], ...] = ([], [], [], [])
        self.chunks: list[tuple[NDArray[np.int32], Floats]] = []
        self.events: list[tuple[float, int, int, int, int]] = []
        self.first: int | None = None  # the first move in which something happens

    def move(self, t0: float, t1: float, z: Floats, length: float) -> None:
        index = np.flatnonzero(z).astype(np.int32)
        self._add([t0], [t1], [length], [len(index)], index, z[index])

    def _add(
        self,
        t0: list[float],
        t1: list[float],
        length: list[float],
        sizes: list[int],
        index: NDArray[np.int32],
        rate: Floats,
    ) -> None:
        if self.first is None:
            ends = np.cumsum([0, *sizes])
            for j in range(len(t0)):
                part = slice(ends[j], ends[j + 1])
                if self._happens(t0[j], t1[j], length[j], index[part], rate[part]):
                    self.first = len(self.moves[0]) + j
                    break
        new: tuple[list[Any], ...] = (t0, t1, length, sizes)
        for column, more in zip(self.moves, new):
            column.extend(more)
        self.chunks.append((index, rate))

    def _happens(
        self, t0: float, t1: float, length: float, index: NDArray[np.int32], rate: Floats
    ) -> bool:
        """Whether a multiplier moves by more than nothing."""
        if len(self.box) == 0:  # of a walk whose moves are not kept
            return False
        multiplier = np.isfinite(self.box[index])
        core = np.abs(rate[multiplier]) / np.minimum(self.box[index[multiplier]], self.pull(t0))
        size = length if t0 == t1 else max(abs(t0), abs(t1))
        return bool(core.size and core.max() * size > NOTHING)

    def event(self, t: float, variable: int, origin: int, target: int) -> None:
        self.events.append((t, variable, origin, target, len(self.moves[0])))
        if self.max_events is not None and len(self.events) >= self.max_events:
            raise StopWalk(f"max_events = {self.max_events} reached")

    def extend(self, moves: tuple[Any, ...], events: list[Any]) -> None:
        """A block of moves and events; events count their moves from the block's first."""
        offset = len(self.moves[0])
        self._add(*moves)
        room = None if self.max_events is None else self.max_events - len(self.events)
        for t, variable, origin, target, move in events[:room]:
            self.events.append((t, variable, origin, target, offset + move))
        if room is not None and len(events) >= room:
            self._keep(max(self.events[-1][4], 1))
            raise StopWalk(f"max_events = {self.max_events} reached")

    def _keep(self, count: int) -> None:
        """The first `count` moves, and no more."""
        for column in self.moves:
            del column[count:]

    def forget_below(self, t: float) -> None:
        """Nothing has ever happened: keep the walk down to t, and no more."""
        self._keep(sum(t1 >= t for t1 in self.moves[1]))
        self.events = [e for e in self.events if e[4] < len(self.moves[0])]

    @property
    def top(self) -> float | None:
        """The t at which the first thing happens."""
        return None if self.first is None else self.moves[0][self.first]


class StandingRecorder(Recorder):
    """Records the moves of a walker that mends: they all happen at one t."""

    def __init__(self, inner: Recorder, t: float) -> None:
        self.inner, self.t = inner, t

    def move(self, t0: float, t1: float, z: Floats, length: float) -> None:
        self.inner.move(self.t, self.t, z, length)

    def event(self, t: float, variable: int, origin: int, target: int) -> None:
        self.inner.event(self.t, variable, origin, target)


@dataclass(frozen=True)
class Trace:
    """The moves of one walk as arrays; `t0` to `t1` never turns back."""

    stair_start: Ints
    z_start: Floats
    t0: Floats
    t1: Floats
    length: Floats
    pointer: Ints  # move j has entries pointer[j]:pointer[j + 1] of index and rate
    index: NDArray[np.int32]
    rate: Floats
    events: NDArray[Any]
    before: Floats  # how fast z moved before the first move: the closed form above the start
    stairs: Staircases
    complete: bool
    reason: str

    @classmethod
    def build(
        cls,
        recorder: Recorder,
        stair_start: Ints,
        z_start: Floats,
        stairs: Staircases,
        *,
        trim: bool,
        complete: bool,
        reason: str,
    ) -> Trace:
        t0, t1, length = (np.array(column) for column in recorder.moves[:3])
        pointer = np.concatenate([[0], np.cumsum(recorder.moves[3], dtype=np.intp)])
        index, rate = (
            np.concatenate([[], *(chunk[k] for chunk in recorder.chunks)])[: pointer[-1]]
            for k in range(2)
        )
        whole = cls(
            stair_start,
            z_start,
            t0,
            t1,
            length,
            pointer,
            index.astype(np.int32),
            rate,
            np.array(recorder.events, dtype=EVENT),
            np.zeros_like(z_start),
            stairs,
            complete,
            reason,
        )
        first = min(recorder.first or 0, max(len(t0) - 1, 0))
        # Jumps of unpenalised variables right there belong to it: above they have not been made.
        while first > 0 and t0[first - 1] == t1[first - 1]:
            first -= 1
        return whole._from(first, np.isfinite(recorder.box)) if trim and len(t0) else whole

    def _from(self, first: int, multiplier: NDArray[np.bool_]) -> Trace:
        """The same walk without its first moves, in which nothing happens to multipliers."""
        z = self.z_start.copy()
        for j in range(first):
            self._apply(z, j)
        # How unpenalised variables moved before: the last piece that is not a jump.
        before = np.zeros_like(z)
        straight = np.flatnonzero(self.t0 != self.t1)
        if straight.size:  # or, where there is none, the first of all: nothing changes above it
            at = straight[max(int(np.searchsorted(straight, first)) - 1, 0)]
            part = slice(self.pointer[at], self.pointer[at + 1])
            before[self.index[part]] = self.rate[part]
            before[multiplier] = 0.0
        lead = int(self.pointer[first])
        events = self.events[self.events["move"] >= first].copy()
        events["move"] -= first
        return Trace(
            self._stairs_before(first),
            z,
            self.t0[first:],
            self.t1[first:],
            self.length[first:],
            self.pointer[first:] - lead,
            self.index[lead:],
            self.rate[lead:],
            events,
            before,
            self.stairs,
            self.complete,
            self.reason,
        )

    def _stairs_before(self, move: int) -> Ints:
        """The stairs on which everybody stands when the events before a move's end are made."""
        stair = self.stair_start.copy()
        past = self.events[self.events["move"] < move]
        stair[past["variable"]] = past["to"]  # the last one counts
        return stair

    def state(self, t: float) -> tuple[Ints, Floats]:
        """Stairs and z at t: a regular state, with which the walk came there."""
        z = self.solutions(np.array([t]))[:, 0]
        if len(self.t0) == 0 or self.way * (t - self.t0[0]) <= 0:
            return self.stair_start.copy(), z
        move = int(np.searchsorted(self.way * self.t1, self.way * t, side="left"))
        return self._stairs_before(min(move, len(self.t0) - 1) + 1), z

    # ------------------------------------------------------------------ replay

    def _apply(self, z: Floats, j: int) -> None:
        """Move j and the events at its end: who comes to a pin stands at it exactly."""
        part = slice(self.pointer[j], self.pointer[j + 1])
        z[self.index[part]] += self.length[j] * self.rate[part]
        k, to = self._pinned
        part = slice(*np.searchsorted(self._pinned_move, [j + 1, j + 2]))
        i, s = k[part], to[part]
        z[i] = self.stairs.value[i, s] + self.t1[j] * self.stairs.slope[i, s]

    @cached_property
    def _pinned(self) -> tuple[Ints, Ints]:
        e = self.events[self.events["to"] % 2 == 1]
        return e["variable"].astype(np.intp), e["to"].astype(np.intp)

    @cached_property
    def _pinned_move(self) -> Ints:
        return self.events["move"][self.events["to"] % 2 == 1].astype(np.intp)

    @cached_property
    def _checkpoints(self) -> list[Floats]:
        z, out = self.z_start.copy(), []
        for j in range(len(self.t0)):
            if j % CHECKPOINT == 0:
                out.append(z.copy())
            self._apply(z, j)
        return out

    @property
    def way(self) -> float:
        """+1 or -1: where t goes."""
        return -1.0 if len(self.t0) == 0 or self.t1[-1] <= self.t0[0] else 1.0

    def solutions(self, t: Floats) -> Floats:
        """z at each t, one column a value; at a jump, the end that the walk came from."""
        out = np.empty((len(self.z_start), len(t)))
        if len(self.t0) == 0:
            out[:] = self.z_start[:, None]
            return out
        # The first move whose end is not before t, in the order walked.
        move = np.searchsorted(self.way * self.t1, self.way * t, side="left")
        move = np.minimum(move, len(self.t0) - 1)
        z, at = None, -1
        for k in np.argsort(move, kind="stable"):
            j = int(move[k])
            if z is None or j // CHECKPOINT != at // CHECKPOINT:
                at = j - j % CHECKPOINT
                z = self._checkpoints[j // CHECKPOINT].copy()
            while at < j:
                self._apply(z, at)
                at += 1
            column = z.copy()
            part = slice(self.pointer[j], self.pointer[j + 1])
            ahead = self.way * (t[k] - self.t0[j])
            if ahead < 0:
                column += self.before * ahead
            elif self.t1[j] != self.t0[j]:
                # A part of the move, not of t: steep moves are shorter than t can tell.
                done = min(ahead / abs(self.t1[j] - self.t0[j]), 1.0)
                column[self.index[part]] += self.rate[part] * (done * self.length[j])
            out[:, k] = column
        return out

    # ------------------------------------------------------------------ all moves at once

    def changes(self, n_core: int) -> Floats:
        """The largest change of any of the first `n_core` variables in each move."""
        size = np.abs(self.rate) * np.repeat(self.length, np.diff(self.pointer))
        out = np.zeros(len(self.t0))
        some = np.diff(self.pointer) > 0
        if some.any():
            size[self.index >= n_core] = 0.0
            out[some] = np.maximum.reduceat(size, self.pointer[:-1][some])
        return out

    def images(self, phi: Floats) -> Iterator[tuple[slice, Floats, Callable[[int], Floats]]]:
        """z'phi before and after each move, in blocks of moves: one row more than moves.

        With each block comes a function that gives z itself before its k-th move.

        A move changes few variables, so a block needs few rows of phi:

            rows of a block = (z before the block)'phi + cumulated (moves of the block)'phi
        """
        z, place = self.z_start.copy(), np.zeros(len(self.z_start), np.intp)
        size, last = np.diff(self.pointer), None
        for first in range(0, len(self.t0), CHECKPOINT):
            moves = slice(first, min(first + CHECKPOINT, len(self.t0)))
            part = slice(self.pointer[moves.start], self.pointer[moves.stop])
            index, n = self.index[part], moves.stop - moves.start
            step = self.rate[part] * np.repeat(self.length[moves], size[moves])
            moved = np.flatnonzero(np.bincount(index, minlength=len(z)))
            place[moved] = np.arange(len(moved))
            steps = np.zeros((n + 1, len(moved)))
            steps[1 + np.repeat(np.arange(n), size[moves]), place[index]] = step
            out = steps @ phi[moved]
            fresh = last is None or (first // CHECKPOINT) % AFRESH == 0
            out[0] = z @ phi if fresh else last

            def state(k: int, z: Floats = z, moved: Ints = moved, steps: Floats = steps) -> Floats:
                there = z.copy()
                there[moved] += steps[: k + 1].sum(axis=0)
                return there

            yield moves, np.cumsum(out, axis=0, out=out), state
            z[moved] += steps.sum(axis=0)
            last = out[-1].copy()
