"""The audit of a walk: certificates, computed from the data, at places all along it.

The walk verifies its own residuals; certificates know nothing of the walk. A walk that a
certificate refuses is walked again from the last place that is certified, with more care. If it
fails again it ends before the first bad stretch, incomplete, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..problems import Certificate, Problem
from ..problems.staircase import Floats, Ints
from .follow import DEFAULT_RANGE, carry_on, walking
from .reasons import CHANCE, End, Reason
from .tolerances import LOWEST
from .trace import Trace

# All places are looked at where that costs ten milliseconds at most (EVERY). Elsewhere as many as
# cost two or three (WORK): a certificate is one product with the matrix and some passes over a
# column. Large problems have the least number, some hundredths of the walk. Where a walk was in
# trouble so many places more are looked at (AFTER).
EVERY, WORK = 4e6, 1e6
# A walk that is made again, because the first has failed, is looked at everywhere up to this.
AGAIN = 1e9
PASSES = 200
LEAST = 6  # places, however large the problem
AFTER = 4
CHUNK = 256  # certificates computed at once
# Times the start: where the closed form is looked at. Where walks are straight, residuals there are
# affine in 1/t: what holds beside the start and at the other end holds between them.
ABOVE, ABOVE_STRAIGHT = np.array([1.5, 10.0, 1e4]), np.array([1.001, 1e4])
# Parts of a move that are looked at. What is off a curve grows with the length, and is corrected
# where the move ends: most of it lies between the middle and the end.
STRAIGHT, CURVED = np.array([0.5, 1.0]), np.array([0.25, 0.5, 0.725, 0.9, 1.0])
# After a jump the beginning, too: it is not the end of the move before. Other moves of such walks
# are looked at once more elsewhere.
LANDED, BEGUN = np.array([0.25, 0.5, 1.0]), 1e-6
CLOSELY = CURVED.copy()  # the same for problems that are to be looked at more closely
# Times the place where something first happens: what lies above is shown where nothing can be
# certified there.
CLEAR = 100.0
# Times the end of a long straight move down: what is off grows there as 1/t, and at the end itself
# it may be on its pin.
NEAR = 1.5
# What is left of the last move to 0 at further places: at 0 a penalty is gone, and a coefficient of
# the wrong sign is no longer seen.
NEAR_END = np.array([0.2, 0.05, 0.01, 1e-4, 1e-8])


def audited(
    problem: Problem,
    walk: Callable[..., Trace],
    *,
    stop: float | None = None,
    max_events: int | None = None,
    verbose: int = 0,
) -> Trace:
    """The walk, if certificates hold along it; otherwise what others with more care make of it.

    `walk` takes `stop` and `max_events`, in the engine's units, `verbose`, and `again`: see
    `carry_on`.
    """
    limits: dict[str, Any] = {"stop": stop, "max_events": max_events, "verbose": verbose}
    with walking():  # certificates too: their products are no larger
        return _audited(problem, walk, limits)


def _audited(problem: Problem, walk: Callable[..., Trace], limits: dict[str, Any]) -> Trace:
    first = walk(**limits)
    try:
        first = _certified_from_its_start(problem, walk, first, limits)
        first = _to_last_place(first)
        if first.end.reason not in CHANCE:
            return first
        return _with_care(problem, walk, first, limits)
    except KeyboardInterrupt:
        return replace(first, end=Reason.INTERRUPTED())


def _certified_from_its_start(
    problem: Problem, walk: Callable[..., Trace], first: Trace, limits: dict[str, Any]
) -> Trace:
    """`certified`; where round-off hides all that happens, what lies above is shown."""
    good = certified(problem, first)
    hidden = len(good.moves) == 0 < len(first.moves) and good.end.reason is Reason.HIDDEN
    if not (hidden and first.closed_above):
        return good
    above = certified(problem, walk(**limits | {"stop": CLEAR * float(first.t0[0])}))
    return replace(above, end=good.end) if above.end.complete else above


def _with_care(
    problem: Problem, walk: Callable[..., Trace], first: Trace, limits: dict[str, Any]
) -> Trace:
    """What is made of a walk that has failed, and of another: the one that goes further."""
    second = _carried_on(problem, first, limits) if len(first.moves) else first
    if second.end.reason not in CHANCE:
        return _to_last_place(second)
    third = _to_last_place(certified(problem, walk(**limits, again=True), AGAIN))
    return max(second, third, key=_reach)


def _carried_on(problem: Problem, good: Trace, limits: dict[str, Any]) -> Trace:
    """A walk that has failed, carried on from its last certified place with more care."""
    limits, max_events = dict(limits), limits["max_events"]
    stair, z, t = good.last
    if limits["stop"] is None:  # a walk that looks for its start may have gone beyond
        limits["stop"] = min(DEFAULT_RANGE * float(good.t0[0]), t)
    if limits["max_events"] is not None:
        limits["max_events"] -= len(good.events)
    if t == limits["stop"] or limits["max_events"] == 0:
        return good
    begun = abs(float(good.t0[0]))
    on = carry_on(problem.system, stair, z, t, begun=begun, **limits, again=True)
    again = certified(problem, on, AGAIN)
    if again.end.reason is Reason.MAX_EVENTS:  # of both together
        again = replace(again, end=Reason.MAX_EVENTS(max_events))
    return _to_last_place(good.then(again)) if len(again.moves) else good


def _to_last_place(trace: Trace) -> Trace:
    """A walk that has failed without the jumps after its last certified place."""
    if trace.end.reason not in (*CHANCE, Reason.DIM):
        return trace
    return trace.cut(int(trace.forward[-1]) + 1 if len(trace.forward) else 0, trace.end)


def _reach(trace: Trace) -> float:
    """How far a walk goes: what is left of t, and at the end there is nothing better."""
    if trace.end.reason not in CHANCE:
        return np.inf
    return abs(float(trace.t1[-1] - trace.t0[0])) if len(trace.moves) else -1.0


def certified(problem: Problem, trace: Trace, every: float = EVERY) -> Trace:
    """The walk down to the first place at which a certificate is not exact, if there is one.

    All places are looked at where that costs no more than `every`.
    """
    places = _places(problem, trace)
    if len(places) == 0:
        return trace
    some = np.arange(len(places))
    n = len(problem.system)
    each = n * n + PASSES * n
    count = max(LEAST, int(problem.audit_work * WORK / each))
    if count < len(places) and each * len(places) > every:
        some = some[:count] * (len(places) - 1) // (count - 1)
        if trace.rescues:
            some = np.union1d(some, _after_rescues(trace, places))
    above = _above(problem, trace)
    exact = _judged(problem, trace, np.append(above, places[some])).exact
    if not np.all(exact[: len(above)]):
        trace = replace(trace, closed_above=False)
    bad = np.flatnonzero(~exact[len(above) :])
    if len(bad) == 0:
        return trace
    # What lies between the last good place and the first bad one is looked at in full.
    first = int(some[bad[0] - 1]) + 1 if bad[0] else 0
    stretch = np.arange(first, int(some[bad[0]]) + 1)
    verdict = _judged(problem, trace, places[stretch])
    # The last is bad, even if round-off of another product says that it is just not.
    k = int(np.argmax(np.append(~verdict.exact[:-1], True)))
    return trace.cut(_moves_before(problem, trace, int(stretch[k])), _why(verdict, k))


def _after_rescues(trace: Trace, places: Floats) -> Ints:
    """The places before and after those where the walk was in trouble."""
    at = np.searchsorted(trace.way * places, trace.way * np.array(trace.rescues))
    near = np.unique(at[:, None] + np.arange(AFTER) - 1)
    return near[(near >= 0) & (near < len(places))]


def _above(problem: Problem, trace: Trace) -> Floats:
    """Places above the start, where the closed form is given."""
    if not trace.closed_above:
        return np.empty(0)
    above = ABOVE_STRAIGHT if trace.moves.degree == 1 else ABOVE
    return np.minimum(above * trace.t0[0], problem.highest_value / problem.unit)


def _places(problem: Problem, trace: Trace) -> Floats:
    """The start, and parts of every move that is no jump, in the order walked."""
    j = trace.forward
    t0, t1 = trace.t0[j], trace.t1[j]
    parts = _parts(problem, trace)
    t = np.empty(len(parts) * len(j) + (len(trace.t0) > 0))
    t[:1] = trace.t0[:1]
    for k, part in enumerate(parts):
        t[1 + k :: len(parts)] = t0 + part * (t1 - t0) if part < 1 else t1
    if parts is not CURVED:
        late = t[len(parts) - 1 :: len(parts)][: len(j)]  # the last but one
        np.minimum(late, NEAR * t1, out=late, where=(t1 > 0) & (t1 < t0))
    if parts is LANDED or parts is CLOSELY:
        after = np.flatnonzero(j > np.append(-1, j[:-1]) + 1)
        begun = t0[after] + BEGUN * (t1 - t0)[after]
        # At t0 itself stands what was before the jump: of a short move the next number is taken.
        t[1 + len(parts) * after] = np.where(begun == t0[after], np.nextafter(t0, t1)[after], begun)
    if len(j) and t[-1] == 0:
        if problem.system.limit_at_zero:
            t[-1] = min(LOWEST * t[0], 0.5 * t[-2])
        else:
            t = np.concatenate([t[:-1], NEAR_END * t0[-1], [0.0]])
    return t


def _parts(problem: Problem, trace: Trace) -> Floats:
    if not trace.moves.goes_straight:
        return CURVED
    if problem.audit_work > 1:
        return CLOSELY
    return STRAIGHT if len(trace.forward) == len(trace.moves) else LANDED


def _judged(problem: Problem, trace: Trace, t: Floats) -> Certificate:
    chunks = (t[i : i + CHUNK] for i in range(0, len(t), CHUNK))
    return Certificate.joined(
        problem.judged(trace.solutions(part, once=True), part) for part in chunks
    )


def _moves_before(problem: Problem, trace: Trace, place: int) -> int:
    """How many moves end before a place; none before the start."""
    last = len(trace.forward) - 1  # has more places where it ends at 0
    return int(trace.forward[min((place - 1) // len(_parts(problem, trace)), last)]) if place else 0


def _why(verdict: Certificate, k: int) -> End:
    if verdict.verdict[k] == "wrong":
        worst = max(abs(float(verdict.kkt_violation[k])), abs(float(verdict.relative_gap[k])))
        return Reason.ASTRAY(worst)
    return Reason.HIDDEN(float(verdict.floor[k]))
