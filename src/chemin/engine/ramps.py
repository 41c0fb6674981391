"""The fast walk on ramps: the compiled loop for regular events, the walk in Python for the others.

Regular is a move that ends where one variable alone meets the end of its stair, at speed. The
compiled loop (`_ramps.pyx`) makes such moves as long as they come. Whatever else there is, ties,
jumps, ends, drift and spaces that are too small, is done by `KrylovWalker`, for one step.
"""

from __future__ import annotations

import numpy as np

from ..problems.staircase import StaircaseSystem
from . import _ramps  # type: ignore[attr-defined]
from .krylov import KrylovWalker
from .moves import Form
from .reference import Move
from .rescue import check_sight

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
        core, any_move = self.core, False
        assert core is not None
        core.load(self.stair, self.t)
        while True:
            core.see(self.z, self.h, self.tolerance, self.blur)
            code, moves, events = core.run(self.far, BLOCK)
            if not moves:
                break
            any_move = True
            self.take_over(moves, events)
            if self.guard:
                check_sight(self.system.floor(self.size, self.t))
            if code != FULL or np.any(np.abs(self.drift) > 2.0 * self.tolerance):
                break
        self.search.functions, self.search.steps = core.functions, core.steps
        if not any_move:
            return False
        self.arrival, self.stale = None, True
        if code == CORNER:
            self.blocking[core.corner] = True
        return True

    def take_over(self, moves: list[tuple], events: list[tuple]) -> None:
        """Record what the loop has done, and stand where a replay of it stands."""
        for j, (t0, t1, length, index, rate, near, weight) in enumerate(moves):
            form = Form(near, weight)
            self.recorder.curve(t0, t1, index, rate, length, form)
            self.z[index] += rate * length + form.off(length)
            if j < len(events):
                t, k, origin, target = events[j]
                self.recorder.event(t, k, origin, target)
                self.passed += 1
                self.stair[k] = target
                if target % 2:
                    self.z[k] = self.system.stairs.value[k, target]
        self.t = moves[-1][1]
        self.progress(self.t, self.passed)
        self.refresh()
