"""The fast walk on ramps: the compiled loop for regular events, the walk in Python for the others.

Regular is a move that ends where a variable meets the end of its stair, at speed, and all that
stand at corners then leave theirs at speed, once some of them have passed. The compiled loop
(`_ramps.pyx`) makes such moves as long as they come. Whatever else there is, other ties, jumps,
ends, drift and spaces that are too small, is done by `KrylovWalker`, for one step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..problems.staircase import StaircaseSystem
from . import _ramps  # type: ignore[attr-defined]
from .krylov import KrylovWalker
from .moves import Form
from .reference import Move
from .rescue import check_sight
from .tolerances import REALLY

BLOCK = 32  # moves between two computations of all residuals from the data
FULL, CORNER = 1, 2  # why the compiled loop has ended; see there


class RampWalker(KrylovWalker):
    """The same walk, most of it compiled."""

    def __init__(self, system: StaircaseSystem, *args: object) -> None:
        super().__init__(system, *args)
        has_row = system.coupling.has_row
        self.core = None
        # A plain tread, or several unpenalised variables, may leave a singular system.
        if np.all(system.soft[has_row] > 0) and np.count_nonzero(~has_row) <= 1:
            self.core = _ramps.Ramps(system)

    def on_drift(self, way: float, move: Move) -> Move:
        """What has drifted is corrected; from there on, as many regular events as come."""
        move, begun = super().on_drift(way, move), np.inf
        # Steps may be shorter than t can tell: what stands still is for the other walk to judge.
        while self.regular(way) and self.t < begun:
            begun = self.t
            if not self.stretch():
                break
            move = super().on_drift(way, self.settle(way))
        return move

    def regular(self, way: float) -> bool:
        """Whether the compiled loop may go on from here: down, on a plain state."""
        plain = self.jump is None and self.slack == 1.0 and self.search.early_stop
        return self.core is not None and plain and way < 0 < self.passed and self.t > 0

    def stretch(self) -> bool:
        """Regular events as they come; whether there was any move."""
        core, any_move, corner = self.core, False, False
        assert core is not None
        core.load(self.stair, self.t)
        while True:
            core.see(self.z, self.h, self.tolerance, self.blur)
            code, moves, events = core.run(self.far, BLOCK)
            if not moves or not self.take_over(moves, events):
                break
            any_move, corner = True, code == CORNER
            stands = moves[0][0] == moves[-1][1]
            if self.guard:
                check_sight(self.system.floor(self.size, self.t))
            if code != FULL or stands or np.any(np.abs(self.drift) > 2.0 * self.tolerance):
                break
        self.search.functions, self.search.steps = core.functions, core.steps
        if not any_move:
            return False
        self.arrival, self.stale = None, True
        if corner:
            self.blocking[core.corner] = True
        return True

    def take_over(self, moves: list[tuple], events: list[tuple]) -> bool:
        """Stand where a replay of a block of moves stands, and record it.

        The loop has followed the residuals of all variables by the functions among which it looked
        for crossings, and has seen that none was beyond its stair where a move ends. If these
        residuals are not those of the data where the block ends, the functions were wrong, and
        nothing of it is kept.
        """
        assert self.core is not None
        here = self.t, self.z.copy(), self.stair.copy()
        self.replay(moves, events)
        off = np.abs(self.core.residuals - self.h)
        if np.any(~self.tread & ~(off <= REALLY * self.tolerance)):
            self.t, self.z, self.stair = here
            self.refresh()
            return False
        for event, move in in_order(moves, events):
            if event is not None:
                self.recorder.event(*event)
            if move is not None:
                t0, t1, length, index, rate, near, weight = move
                self.recorder.curve(t0, t1, index, rate, length, Form(near, weight))
        self.passed += len(events)
        self.progress(self.t, self.passed)
        return True

    def replay(self, moves: list[tuple], events: list[tuple]) -> None:
        """To the end of the last of these moves; pins do not move."""
        for event, move in in_order(moves, events):
            if event is not None:
                _, k, _, target = event
                self.stair[k] = target
                if target % 2:
                    self.z[k] = self.system.stairs.value[k, target]
            if move is not None:
                _, _, length, index, rate, near, weight = move
                self.z[index] += rate * length + Form(near, weight).off(length)
        self.t = moves[-1][1]
        self.refresh()


def in_order(moves: list[tuple], events: list[tuple]) -> Iterator[tuple[Any, Any]]:
    """An event or a move, one after the other; events say how many moves were made before them."""
    for j, move in enumerate([*moves, None]):
        for _, *event in (e for e in events if e[0] == j):
            yield event, None
        yield None, move
