"""Paths that need no walk of their own: ridge regression by its poles, adaptive ridge regression
from a path of the lasso. Both become traces with poles, and are read as all others are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from .engine import Reason, Trace, audited, carry_on, certified, follow
from .engine.follow import DEFAULT_RANGE
from .engine.moves import ProjectiveMoves, RationalMoves, StraightMoves
from .engine.reasons import CHANCE
from .engine.trace import EVENT
from .problems import AdaptiveRidge, Problem, Ridge
from .problems.staircase import Floats, Ints

# A move of ridge regression spans so much of lambda at most: 1 - s/D of its poles keeps all but the
# last digit.
SPAN = 10.0
# Adaptive ridge regression has no start: b vanishes at an infinite mu. A path begins where b has
# come so far on the first piece of the lasso's path.
FIRST = 1e-3


def closed_trace(problem: Problem, ends: tuple[float | None, float | None], **limits: Any) -> Trace:
    """The trace of a closed problem between two values of t, certified.

    `limits`: max_events and verbose, of the walk below adaptive ridge regression.
    """
    if isinstance(problem, Ridge):
        return certified(problem, _ridge(problem, *ends))
    assert isinstance(problem, AdaptiveRidge)
    trace = certified(problem, _adaptive(problem, *ends, careful=False, **limits))
    if trace.end.reason not in CHANCE:
        return trace
    return certified(problem, _adaptive(problem, *ends, careful=True, **limits))


# ---------------------------------------------------------------------- ridge


def _ridge(problem: Ridge, start: float | None, stop: float | None) -> Trace:
    """Moves from t_0 to t_1, t_0 / t_1 = SPAN at most. With D = s_k^2 + t_0 and t = t_0 - s

    1 / (s_k^2 + t) = 1/D + s/D^2 + (1/D^3) s^2 / (1 - s/D)
    """
    first, last = (d if e is None else e for e, d in zip((start, stop), problem.default_ends))
    t = _decades(first, last, float(problem.s.min(initial=1.0)) ** 2)
    p, k = problem.V.shape
    count = len(t) - 1
    moves = [_ridge_move(problem, a) for a in t[:-1]]
    every = np.arange(p, dtype=np.int32)
    straight = {
        "t0": t[:-1],
        "t1": t[1:],
        "pointer": p * np.arange(count + 1),
        "index": np.tile(every, count),
        "length": np.abs(np.diff(t)),
        "rate": np.concatenate([rate for rate, _, _ in moves]),
    }
    way = np.sign(t[0] - t[-1])
    rational = RationalMoves(
        **straight,
        poles=k * np.arange(count + 1),
        near=np.concatenate([near for _, near, _ in moves]),
        weight=np.concatenate([weight.ravel() for _, _, weight in moves]),
    )
    if way < 0:  # upward: s is counted against t
        rational = replace(rational, rate=-rational.rate, near=-rational.near)
    z = problem.start(float(t[0]) * problem.unit).z
    none = np.empty(0, dtype=EVENT)
    stairs = np.full(p, problem.first_stair)
    end = Reason.STOP()
    return Trace(stairs, z, rational, none, np.zeros(p), problem.system.stairs, end)


def _ridge_move(problem: Ridge, t: float) -> tuple[Floats, Floats, Floats]:
    """Rate, one over the distances of poles, and weights of a move down from t."""
    distance = problem.s**2 + t
    terms = problem.V * (problem.s * problem.image / distance**2)
    return terms.sum(axis=1), 1.0 / distance, terms / distance


def _decades(first: float, last: float, small: float) -> Floats:
    """From first to last, at most SPAN apart; below the smallest pole all of it is one move."""
    low, high = min(first, last), max(first, last)
    bottom = max(low, min(small, high))
    count = max(int(np.ceil(np.log(high / bottom) / np.log(SPAN))), 1)
    t = np.geomspace(high, bottom, count + 1) if bottom < high else np.array([high])
    t[0] = high
    t = np.append(t[:-1], [bottom, low] if low < bottom else [low])
    return t if last < first else t[::-1]


# ---------------------------------------------------------------------- adaptive ridge


def _adaptive(
    problem: AdaptiveRidge,
    start: float | None,
    stop: float | None,
    *,
    careful: bool,
    max_events: int | None,
    verbose: int,
) -> Trace:
    """`careful`: whether the path of the lasso is judged. What is read off it is judged again, so
    that a first walk need not be.
    """
    lasso = problem.lasso
    begin = lasso.start()
    walk = partial(follow, lasso.system, begin)
    limits: dict[str, Any] = {"max_events": max_events, "verbose": verbose}
    lowest = DEFAULT_RANGE * begin.t / lasso.above
    trace = audited(lasso, walk, stop=lowest, **limits) if careful else walk(stop=lowest, **limits)
    pieces = _Pieces(problem, trace)
    if stop is None or not trace.end.complete or pieces.lowest <= stop:
        return pieces.trace(start, stop)
    # The norm grows on the way down: mu comes to the stop between here and this lambda.
    goal = stop * float(pieces.norm[-1])
    if careful:
        trace = audited(lasso, walk, stop=goal, **limits)
    else:
        if max_events is not None:
            limits["max_events"] = max_events - len(trace.events)
        trace = trace.then(carry_on(lasso.system, *trace.last, stop=goal, **limits))
    return _Pieces(problem, trace).trace(start, stop)


class _Pieces:
    """The moves of a path of the lasso, in mu; both in the units of t, in which mu = lambda / norm.

    On a move down from lambda_0, lambda = lambda_0 - s, the norm is P + Q s. With mu = mu_0 - u and
    D = 1 + mu_0 Q

        s = (P/D) u / (1 - u Q/D)

    so that a straight move in lambda is a projective one in mu.
    """

    def __init__(self, problem: AdaptiveRidge, trace: Trace) -> None:
        assert isinstance(trace.moves, StraightMoves)
        self.problem, self.walked, self.moves = problem, trace, trace.moves
        level, moves = problem.level, trace.moves
        count = len(moves)
        self.norm, z = np.zeros(count + 1), np.zeros(len(moves.index))
        which = np.repeat(np.arange(count), np.diff(moves.pointer))
        for first, states in trace.stacked():
            last = first + len(states)
            self.norm[first:last] = np.abs(states) @ level
            some = slice(moves.pointer[first], moves.pointer[min(last, count)])
            z[some] = states[which[some] - first, moves.index[some]]
        self.jump = trace.t0 == trace.t1
        # Which way each coefficient goes from 0: where it stands, or where it starts to.
        growth = level[moves.index] * moves.rate * np.sign(np.where(z != 0, z, moves.rate))
        self.slope = np.where(self.jump, 0.0, np.bincount(which, growth, count))
        t = np.append(trace.t0, trace.t1[-1:])
        with np.errstate(divide="ignore", invalid="ignore"):
            mu = np.where(self.norm > 0, t / self.norm, np.inf)
        self.mu = np.minimum.accumulate(mu)
        # The first move on which anything grows; before it mu is infinite.
        self.first = int(np.argmax(self.norm[1:] > 0)) if count else 0

    @property
    def lowest(self) -> float:
        return float(self.mu[-1])

    def trace(self, start: float | None, stop: float | None) -> Trace:
        """The trace in mu, from `start` (or nearly infinity) to `stop` (or as far as it goes)."""
        if not self.norm[-1] > 0:
            return self._nothing()
        j, s = self._begin(start)
        last, end = len(self.slope), self.walked.end
        if stop is not None and stop >= self.lowest:
            last = max(j, int(np.searchsorted(-self.mu[1:], -stop))) + 1
            end = Reason.STOP()
        whole = stop is None or self.mu[last] >= stop  # whether the last move is
        moves, z, which = self._moves(j, s, last, stop)
        events, stair = self.walked.events, self.walked.stair_start.copy()
        before = events[events["move"] <= j]
        stair[before["variable"]] = before["to"]
        later = events[(events["move"] > j) & (events["move"] < last + whole)].copy()
        later["move"] = np.searchsorted(which, later["move"] - j)
        later["t"] = moves.t1[later["move"] - 1]
        return Trace(stair, z, moves, later, np.zeros_like(z), self.walked.stairs, end)

    def _nothing(self) -> Trace:
        """No column explains anything: b = 0 at every mu, told on one move."""
        z = np.zeros_like(self.walked.z_start)
        moves = replace(ProjectiveMoves.jump(1.0, z), t1=np.zeros(1))
        events, stair = self.walked.events[:0], self.walked.stair_start
        return Trace(stair, z, moves, events, z, self.walked.stairs, Reason.STOP())

    def _begin(self, start: float | None) -> tuple[int, float]:
        """The move on which the path begins, and how far along it in lambda."""
        if start is None:
            return self.first, FIRST * float(self.moves.length[self.first])
        if start <= self.lowest:
            raise ValueError(
                f"start must lie above {self.lowest * self.problem.unit:.4g}, where the path in mu "
                f"ends, got {start * self.problem.unit:.4g}"
            )
        j = max(int(np.searchsorted(-self.mu[1:], -start)), self.first)
        # mu (P + Q s) = lambda_0 - s
        s = (self.walked.t0[j] - start * self.norm[j]) / (1.0 + start * self.slope[j])
        return j, float(np.clip(s, 0.0, self.moves.length[j]))

    def _moves(
        self, j: int, s: float, last: int, stop: float | None
    ) -> tuple[ProjectiveMoves, Floats, Ints]:
        """Moves j to last in mu, the first from s on; z where they begin; which one each is of."""
        some, jump = self.moves.some(j, last), self.jump[j:last]
        z = next(islice(self.walked.states(), j, None)).copy()
        self.moves.advance(z, j, s / float(self.moves.length[j]))
        norm, slope, mu = self.norm[j:last].copy(), self.slope[j:last], self.mu[j : last + 1].copy()
        norm[0] += s * slope[0]
        mu[0] = (self.walked.t0[j] - s) / norm[0]
        if stop is not None:
            mu[-1] = max(mu[-1], stop)
        mu = np.minimum.accumulate(mu)
        mu[1:] = np.where(jump, mu[:-1], mu[1:])
        which, t0, t1 = _divided(mu, slope)
        slope, jump = slope[which], jump[which]
        # On a move of the lasso norm (1 + mu Q) is constant.
        norm = norm[which] * (1.0 + mu[which] * slope) / (1.0 + t0 * slope)
        scale = np.where(jump, 1.0, norm / (1.0 + t0 * slope))
        near = np.where(jump, 0.0, slope / (1.0 + t0 * slope))
        size = np.diff(some.pointer)[which]
        behind = some.pointer[which] - np.cumsum(size) + size
        entries = np.arange(size.sum()) + np.repeat(behind, size)
        moves = ProjectiveMoves(
            *(t0, t1, np.concatenate([[0], np.cumsum(size)]), some.index[entries]),
            length=np.where(jump, some.length[which], t0 - t1),
            rate=some.rate[entries] * np.repeat(scale, size),
            near=near,
        )
        return moves, z, which


def _divided(mu: Floats, slope: Floats) -> tuple[Ints, Floats, Floats]:
    """Moves cut so that 1 + mu Q, and with it what is left of 1 - u Q/D, falls by SPAN at most.

    Which move each part belongs to, and where it begins and ends.
    """
    high, low = 1.0 + mu[:-1] * slope, 1.0 + mu[1:] * slope
    count = np.maximum(np.ceil(np.log(high / low) / np.log(SPAN)).astype(np.intp), 1)
    which = np.repeat(np.arange(len(count)), count)
    first = np.cumsum(count) - count
    place = np.arange(len(which)) - first[which]
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (high[which] * (low / high)[which] ** (place / count[which]) - 1.0) / slope[which]
    t0 = np.where(place == 0, mu[which], inner)
    t1 = np.append(t0[1:], mu[-1])
    return which, t0, t1


__all__ = ["closed_trace"]
