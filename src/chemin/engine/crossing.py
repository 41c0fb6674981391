"""Where the first of many rational functions comes to zero, never stepping over.

Each gap between a variable and the end of its stair is, after a length s of a move,

    f(s) = f + s f' + sum_k c_k s^2 / (1 - s p_k),      1 - s p_k > 0

Around any s every pole has its own remainder of second order, and

    f(s + e) = f + f' e + sum_k C_k e^2 / (1 - e q_k),      C_k = c_k / (1 - s p_k)^3,

q_k = p_k / (1 - s p_k). With poles in rising order, phi_k = 1 / (1 - e q_k) and S_k the sum of
the C_j with j >= k, the sum is S_1 phi_1 + sum_k S_k (phi_k - phi_(k-1)), and no difference of
two phi is negative. Let N be the sum of the negative C_k, q the largest q_k. Two bounds are matched
to f in value and slope and stay below it:

    f + f' e + N e^2 / (1 - e q)        for all e: its root is the smallest root of a quadratic
    f + f' e + k(E) e^2                 for e <= E, with each part of the sum at its lowest there

The second one keeps the curvature of f where large C_k cancel, as those of copies do. So f comes
to zero no earlier than the latest of the roots. From there the same is done again: the search
converges quadratically and never passes the root. It is stopped as soon as another function's root
is known to be nearer; nearly all functions need one step.
"""

from __future__ import annotations

import numpy as np

from ..problems.staircase import Floats, Mask
from .reasons import Reason, StuckError
from .reference import Move
from .tolerances import CLOSE, VANISHING

MOST = 100  # steps of one search; it has converged quadratically long before
NEAREST = 4  # functions looked at together once each has made a step,
PATIENT = 20  # for so many steps; then all of them are, since none may come to zero at all
PARTS = np.array([0.25, 0.5, 0.75, 1.0])  # of a move, at which all functions are looked at
FURTHER = 4.0  # times what is known to be safe: the E of another try


class Search:
    """The search for the first crossing, with a count of its work."""

    def __init__(self, early_stop: bool = True) -> None:
        self.early_stop = early_stop
        self.functions = self.steps = 0

    def __call__(
        self, gaps: Floats, move: Move, bends: Floats, near: Floats, reach: float
    ) -> tuple[float, Mask]:
        """The place of the first crossing up to `reach`, or infinity, and who crosses there.

        Parameters
        ----------
        gaps : array of shape (2, N)
            How far each variable is from the stairs below and above, more than 0.
        move : Move
            With the closing speeds to them.
        bends : array of shape (N, k)
            c, of what moves of each variable; the gap above has the opposite sign.
        near : array of shape (k,)
            p.
        """
        finite = np.isfinite(gaps)
        side, k = np.nonzero(finite)
        value = gaps[finite]
        slope = -move.closing[finite]
        rising = np.argsort(near)
        weight = np.where(side == 0, 1.0, -1.0)[:, None] * bends[k][:, rising]
        place, done = self._first(value, slope, weight, near[rising], reach)
        first = float(place.min(initial=np.inf))
        self._check(value, slope, weight, near[rising], min(first, reach))
        blocking = np.zeros(gaps.shape, dtype=bool)
        if first >= reach:
            return np.inf, blocking
        there = done & (place <= first)  # none, where a search was given up
        blocking[side[there], k[there]] = True
        return first, blocking

    def _first(
        self, value: Floats, slope: Floats, weight: Floats, near: Floats, reach: float
    ) -> tuple[Floats, Mask]:
        """The places of those functions that may be first, infinity for the others; and whether
        they are roots. A place that is none has no root before it.
        """
        place, done = np.zeros(len(value)), np.zeros(len(value), dtype=bool)
        self.functions += len(value)
        best, some = reach, np.arange(len(value))
        for step_number in range(MOST):
            self.steps += len(some)
            step = self._safe(value[some], slope[some], weight[some], near, place[some], reach)
            place[some] = np.minimum(place[some] + step, 2.0 * reach)
            there = some[step <= CLOSE * place[some]]
            done[there] = True
            best = min(best, float(place[there].min(initial=best)))
            some = np.flatnonzero(~done & (place < (best if self.early_stop else reach)))
            if not len(some):
                break
            if self.early_stop and len(some) > NEAREST and step_number < PATIENT:
                # Where the nearest root is known, most functions need no further step.
                some = some[np.argpartition(place[some], NEAREST)[:NEAREST]]
        known = done.copy()
        known[some] = True
        return np.where(known, place, np.inf), done

    @staticmethod
    def _check(value: Floats, slope: Floats, weight: Floats, near: Floats, end: float) -> None:
        """No function may be below zero up to `end`, but for round-off: bounds prove it, and what
        the functions themselves are on the way must not say otherwise.
        """
        for s in end * PARTS:
            bend = s * s / (1.0 - s * near)
            f, size = value + s * slope + weight @ bend, value + s * np.abs(slope)
            below = -f - VANISHING * (size + np.abs(weight) @ bend)
            if np.any(below > 0):
                raise StuckError(Reason.OVER(float(below.max())))

    @staticmethod
    def _safe(
        value: Floats, slope: Floats, weight: Floats, near: Floats, s: Floats, reach: float
    ) -> Floats:
        """How far from s each function cannot have come to zero; poles in rising order."""
        if not len(near):
            return smallest_root(value + s * slope, slope, np.zeros_like(s))
        left = 1.0 - s[:, None] * near
        bend, q = weight / left, near / left
        f = np.maximum(value + s * slope + s * s * bend.sum(axis=1), 0.0)
        rate = slope + s * (bend * (2.0 - s[:, None] * near) / left).sum(axis=1)
        C = bend / (left * left)
        N = np.minimum(C, 0.0).sum(axis=1)
        # (f + f' e)(1 - e q) + N e^2 = 0
        safe = smallest_root(f, rate - f * q[:, -1], N - rate * q[:, -1])
        room = np.maximum(reach - s, 0.0)
        for end in (room, np.minimum(FURTHER * safe, room)):
            root = smallest_root(f, rate, lowest_curvature(C, q, end[:, None]))
            safe = np.maximum(safe, np.minimum(root, end))
        return safe


def lowest_curvature(C: Floats, q: Floats, end: Floats) -> Floats:
    """Not more than sum_k C_k / (1 - e q_k) for any e up to `end`, q in rising order."""
    total = np.cumsum(C[:, ::-1], axis=1)[:, ::-1]
    phi = 1.0 / (1.0 - end * q)
    high, low = np.maximum(phi, 1.0), np.minimum(phi[:, 0], 1.0)
    first = np.where(total[:, 0] > 0, low, high[:, 0]) * total[:, 0]
    rises = end * np.diff(q, axis=1) * high[:, 1:] * high[:, :-1]
    return first + (np.minimum(total[:, 1:], 0.0) * rises).sum(axis=1)


def smallest_root(f: Floats, b: Floats, a: Floats) -> Floats:
    """The smallest e > 0 with f + b e + a e^2 = 0, f >= 0; infinity if there is none."""
    square = b * b - 4.0 * a * f
    # A root beyond all numbers is none.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(np.maximum(square, 0.0))
        e = np.where(b <= 0, 2.0 * f / (root - b), -(b + root) / (2.0 * a))
    none = (square < 0) | ((b > 0) & (a >= 0)) | ((root == 0) & (b == 0))
    return np.where(none, np.inf, e)
