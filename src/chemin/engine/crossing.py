"""Where the first of many rational functions comes to zero, never stepping over.

Each gap between a variable and the end of its stair is, after a length s of a move,

    f(s) = f + s f' + sum_k c_k s^2 / (1 - s p_k),      1 - s p_k > 0

Around any s, with P the sum over positive c_k and Q that over negative ones, f = line + P - Q,

    P(s + e) >= P + P' e,       Q(s + e) <= Q + Q' e + K e^2 / (1 - e p),    K = Q''/2,

p the nearest of the poles as seen from s: both are matched in value and slope. So f comes to zero
no earlier than the smallest root of a quadratic. From there the same is done again: the search
converges quadratically and never passes the root. It is stopped as soon as another function's root
is known to be nearer; nearly all functions need one step.
"""

from __future__ import annotations

import numpy as np

from ..problems.staircase import Floats, Mask
from .reference import Move
from .tolerances import EPS

MOST = 100  # steps of one search; it has converged quadratically long before
NEAREST = 4  # functions looked at together once each has made a step,
PATIENT = 20  # for so many steps; then all of them are, since none may come to zero at all
CLOSE = 4 * EPS  # relative to the place: nearer than this is there


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
        weight = np.where(side[:, None] == 0, bends[k], -bends[k])
        place, done = self._first(value, slope, weight, near, reach)
        first = float(place.min(initial=np.inf))
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
            step = self._safe(value[some], slope[some], weight[some], near, place[some])
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
    def _safe(value: Floats, slope: Floats, weight: Floats, near: Floats, s: Floats) -> Floats:
        """How far from s each function cannot have come to zero."""
        top = near.max() if len(near) else 0.0
        if not s.any():  # where the move begins there is nothing to evaluate
            f, rate, K, p = value, slope, -np.minimum(weight, 0.0).sum(axis=1), top
        else:
            left = 1.0 - s[:, None] * near
            bend = weight / left
            f = np.maximum(value + s * slope + s * s * bend.sum(axis=1), 0.0)
            rate = slope + s * (bend * (2.0 - s[:, None] * near) / left).sum(axis=1)
            K = np.maximum(-bend / (left * left), 0.0).sum(axis=1)
            p = top / (1.0 - s * top)
        # f + (rate - f p) e - (rate p + K) e^2 = 0: the smallest positive root.
        b, a = rate - f * p, rate * p + K
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(b * b + 4.0 * a * f, 0.0))
            e = np.where(b <= 0, 2.0 * f / (root - b), (b + root) / (2.0 * a))
        none = (b * b + 4.0 * a * f < 0) | ((b > 0) & (a <= 0)) | ((root == 0) & (b == 0))
        return np.where(none, np.inf, e)
