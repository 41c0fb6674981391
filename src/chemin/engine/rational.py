"""The walk on ramps: between events z is rational in t, not linear. Same states, same corners.

With ramps (see `problems.staircase`) the free variables obey, G = diag(sigma) M symmetric,

    (G_FF + t D) z_F = b0 + t b1,      D = diag(soft_F) >= 0, zero on plain treads

so that with A = G_FF + t D and y = A^-1 (b1 - D z), all at the place where a move begins,

    z(t + d) = z + d y - d^2 A^-1 D^1/2 (I + d S)^-1 D^1/2 y,      S = D^1/2 A^-1 D^1/2.

With S = U diag(theta) U' every one of the N functions of d is a line and a sum over poles:

    x_i(d) = x_i + d x_i' + sum_k c_ik d^2 / (1 + d theta_k)

z'(t) is the direction of the ordinary walk on the system's tangent. Corners, jumps, ties and rescue
from round-off happen at one t, so that they are the reference's own: here is only how far a move
goes, and where z is then.

`RationalWalker` takes all of U, by an eigendecomposition for each event: made to be read, and the
oracle of the other. `KrylovWalker` takes as much of it as a move needs.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg

from ..problems.staircase import Floats, Mask, StaircaseSystem
from .crossing import Search
from .moves import Form
from .reasons import Reason, StuckError
from .reference import Move
from .rescue import RescuedWalker
from .tolerances import (
    CLOSE,
    DISTANT,
    EVEN,
    FAINT,
    FITTED,
    GENTLE,
    LONG,
    NOUGHT,
    SEEN,
    SEEN_ROUNDING,
    TAIL,
)
from .trace import CurvedRecorder

ARRIVALS = 3  # corrections of where a free variable meets its pin


class RationalWalker(RescuedWalker):
    """The reference on ramps: an eigendecomposition for each event."""

    recorder: CurvedRecorder
    form: Form | None = None
    at_pin: Mask  # free variables that were put at their pins where the last move has ended

    def __init__(self, system: StaircaseSystem, *args: object) -> None:
        self.curved = system
        self.search = Search()
        super().__init__(system, *args)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ the state

    def refresh(self) -> None:
        """The same, on the tangent of the system at this place."""
        pinned = self.stair % 2 == 1
        self.z[pinned] = self.curved.stairs.level(self.stair, self.t)[pinned]
        self.system = self.curved.tangent(self.z, self.t)
        super().refresh()

    # ------------------------------------------------------------------ how far

    def how_far(self, move: Move, t_end: float) -> tuple[float, bool]:
        self.form = None
        soft = self.curved.soft[self.free]
        if not move.t or not np.any(soft):
            return super().how_far(move, t_end)
        left, size = abs(t_end - self.t), abs(self.t)
        falls = abs(t_end) < size
        reach = min(left, (LONG if falls else DISTANT) * size)
        step = self.first_crossing(move, soft, reach)
        nought = NOUGHT * self.t_begin / (1.0 - LONG)
        fitted = self.bent() <= FITTED and self.misfit(soft) <= FITTED
        if t_end == 0.0 and (size <= nought or fitted):
            self.blocking = np.zeros_like(self.blocking)
            if self.bent() > GENTLE:
                self.form = None
            return left, True
        if falls and self.faint(soft):
            reach = left
            step = self.by_all_poles(move, soft, left)
            if step >= (1.0 - TAIL) * left:
                self.blocking = np.zeros_like(self.blocking)
                return left, True
        if not np.isfinite(left) and not self.blocking.any():
            return min(step, size), True  # nothing is met, or told from the limit at infinity
        if step < reach:
            return self.arrival_at(move, step, reach), False
        self.blocking = np.zeros_like(self.blocking)
        return reach, reach == left

    def bent(self) -> float:
        """How much moves bend on the way to 0; 1 where a pole lies there."""
        assert self.form is not None
        return abs(self.t) * float(np.abs(self.form.near).max(initial=0.0))

    def misfit(self, soft: Floats) -> float:
        """How far margins are from the feet of their ramps. Where multipliers go to 0 together all
        of them come there at once, and before that their corners are round-off. A multiplier that
        is held elsewhere does not go to 0, and there is no fit.
        """
        if np.any(self.z[~self.tread]):
            return np.inf
        return float((soft * np.abs(self.z[self.free])).max())

    def faint(self, soft: Floats) -> bool:
        """Whether a margin will soon be so near the foot of its ramp that it counts as there, and
        moves are nearly straight all the way to 0. Then the rest of the way is looked at as a
        whole: near a perfect fit all margins come to their feet at 0, and none before.
        """
        off = soft * np.abs(self.z[self.free])
        return bool(off[off > 0].min(initial=np.inf) <= FAINT) and self.bent() <= EVEN

    def first_crossing(self, move: Move, soft: Floats, reach: float) -> float:
        """Where the first variable meets the end of its stair, infinity if none does by `reach`."""
        return self.by_all_poles(move, soft, reach)

    def by_all_poles(self, move: Move, soft: Floats, reach: float) -> float:
        """The same, by an eigendecomposition."""
        self.form = self.expand(move, soft)
        bends, near = self.bends(), self.form.near
        gaps = self.open_gaps(move, bends, near, reach)
        step, self.blocking = self.search(gaps, move, bends, near, reach)
        return step

    def open_gaps(self, move: Move, bends: Floats, near: Floats, reach: float) -> Floats:
        """Gaps that can close. What stands at a corner has been settled to leave it, and what is
        left of it is round-off: it stands as far as that from it, and cannot be there by moving
        less.
        """
        gaps, width = self.gaps(), self.corner_width()
        moves = np.abs(bends) @ np.abs(reach * reach / (1.0 - reach * near))
        still = (gaps <= width) & (reach * np.abs(move.closing) + moves <= width)
        return np.where(still, np.inf, np.maximum(gaps, width))

    def bends(self) -> Floats:
        """(N, k): the weights of the poles in what moves of each variable, z or h."""
        assert self.form is not None
        out = np.zeros((len(self.rows), len(self.form.near)))
        out[self.free] = self.form.weight
        h = self.system.coupling.dot(out)
        return np.where(self.tread[:, None], out, -h)

    def expand(self, move: Move, soft: Floats) -> Form:
        """All poles: S = U diag(theta) U'."""
        root = np.sqrt(soft)
        on_ramp = np.flatnonzero(root)
        assert self.lu is not None
        right = np.zeros((len(root), len(on_ramp)))
        right[on_ramp, np.arange(len(on_ramp))] = root[on_ramp]
        solved = scipy.linalg.lu_solve(self.lu, right, check_finite=False)  # A^-1 D^1/2
        if not np.all(np.isfinite(solved)):
            raise StuckError(Reason.SINGULAR())
        S = root[on_ramp, None] * solved[on_ramp]
        theta, U = np.linalg.eigh(0.5 * (S + S.T))
        theta = np.clip(theta, 0.0, 1.0 / abs(self.t))  # G is positive semi-definite on rows
        part = U.T @ (root * move.z[self.free])[on_ramp]
        return Form(-move.t * theta, np.ascontiguousarray(-move.t * (solved @ U) * part))

    def arrival_at(self, move: Move, step: float, reach: float) -> float:
        """The length after which a free variable meets its pin, by the equations there.

        Where G_FF + t D is nearly singular its own function is less precise than its residual: if
        it were held at its pin too early, or too late, its equation would not hold all the way.
        """
        k = np.flatnonzero((self.blocking & self.tread).any(axis=0))
        if len(k) == 0 or self.form is None:
            return step
        nobody, at = np.zeros(len(self.free), dtype=bool), np.searchsorted(self.free, k[:1])
        for _ in range(ARRIVALS):
            z, t = self.z + step * move.z, self.t + move.t * step
            z[self.free] += self.form.off(step)
            z[self.free] += self.left_over(move, z, t, nobody)
            pins = self.system.stairs.level(self.stair + np.where(self.blocking[1], 1, -1), t)
            speed = move.z[k[0]] + self.form.rate(step)[at][0]
            further = (pins - z)[k[0]] / speed if speed else 0.0
            if not 0.0 < step + further < reach:
                break
            step += further
            if abs(further) <= CLOSE * step:
                break
        return step

    def advance(self, move: Move, step: float, t: float) -> None:
        """To the new place. The end of a rational move is solved for, not extrapolated: what meets
        a pin stands at it, and the others as they must.
        """
        if self.form is None:
            super().advance(move, step, t)
            self.refresh()
            self.factor()
            return
        free, came_from, z = self.free, self.t, self.z + step * move.z
        z[free] += self.form.off(step)
        end = self.end_of(move, z, t)
        rate = move.z[free] + (end - z)[free] / step
        # As a replay of the move has it, to the last bit: its round-off is seen and corrected next.
        self.z[free] += rate * step + self.form.off(step)
        self.t = t
        self.refresh()
        self.check_ends()
        self.recorder.curve(came_from, t, free, rate, step, self.form)
        self.factor()
        self.progress(t, self.passed)

    def check_ends(self) -> None:
        """Where a move ends no variable but those that end it may be beyond its stair, by the data:
        it would have stepped over a crossing. Held ones are not, nor does one that was put at its
        pin ask to go on.
        """
        others = ~self.blocking.any(axis=0) & (~self.tread | self.at_pin)
        beyond = np.where(others, np.abs(self.drift), 0.0)
        if np.any(beyond > self.system.tolerances(self.size, self.t, SEEN, SEEN_ROUNDING)):
            raise StuckError(Reason.OVER(float(beyond.max()) / self.system.pull(self.t)))

    def end_of(self, move: Move, z: Floats, t: float) -> Floats:
        """The end of a move, from z, which is near it.

        What meets a pin is held there. No crossing was stepped over: what would be beyond a pin
        meets its own together with what ends the move, but for round-off, and is held there too.
        """
        below, above = (self.system.stairs.level(self.stair + side, t) for side in (-1, 1))
        low, high = self.blocking & self.tread
        while True:
            end, held = np.where(low, below, np.where(high, above, z)), low | high
            end[self.free] += self.left_over(move, end, t, held[self.free])
            beyond = self.tread & ~held & ((end < below) | (end > above))
            if not (self.blocking.any() and beyond.any()):
                self.at_pin = held
                return end
            low, high = low | (beyond & (end < below)), high | (beyond & (end > above))

    def left_over(self, move: Move, z: Floats, t: float, held: Mask) -> Floats:
        """What free variables are off the solution at t, but for those that are held."""
        system = self.curved.frozen(t, np.zeros_like(z))
        drift = system.stairs.off(self.stair, system.residual(z, 0.0), 0.0)
        off, rest = np.zeros(len(self.free)), self.free[~held]
        if len(rest):
            A = system.coupling.block(rest, rest)
            with warnings.catch_warnings():  # nearly singular: what is off is little all the same
                warnings.simplefilter("ignore", scipy.linalg.LinAlgWarning)
                lu = scipy.linalg.lu_factor(A, check_finite=False)
            x = scipy.linalg.lu_solve(lu, (self.sigma * drift)[rest], check_finite=False)
            off[~held] = np.where(np.isfinite(x), x, 0.0)
        return off
