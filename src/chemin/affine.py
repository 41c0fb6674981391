"""f over a whole path, exactly: pieces on which f is affine at every point.

Between events s f(x) is affine in the parameter (see `Reading`), so f is affine in

    u = 1/parameter (kernel machines in lambda)   or   u = parameter (lasso, epsilon, nu),

and its values at the ends of the moves are all there is to know. One thing bends between events:
where no point fixes the intercept it is the middle of an interval whose ends are a maximum and a
minimum of affine functions. Those pieces are cut where another point takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .engine import Trace
from .problems import Problem
from .problems.base import AT_BOUND
from .problems.staircase import Floats

INNER = np.array([0.25, 0.75])  # of a move: far from its ends and from each other


@dataclass(frozen=True)
class Pieces:
    """f at m points on c pieces: from f0 at u0 to f1 at u1, straight."""

    u0: Floats  # (c,)
    u1: Floats  # (c,)
    f0: Floats  # (c, m), the limit from inside the piece
    f1: Floats  # (c, m)


def pieces(problem: Problem, trace: Trace, cross: Floats, *, above: bool) -> Iterator[Pieces]:
    """f on every piece of a walk, in blocks, roughly in the order walked.

    Parameters
    ----------
    cross : array of shape (coefficients, m)
        The kernel between the rows of the problem and the points, or the points as columns.
    above : bool
        Whether the closed form holds from the start to infinity; it is included where u = 0 there.
    """
    reading = problem.reading
    # One column more, at which every k(x_i, x) is 0: the intercept alone, as it was traced.
    phi = np.zeros((len(reading.row), cross.shape[1] + 1))
    np.multiply(reading.factor[:, None], cross[reading.row], out=phi[:, :-1])
    phi += reading.level[:, None]
    reader = _Reader(problem, trace, phi)
    if above and reading.inverse:
        yield reader.top()
    elif above:
        yield from reader.step_up(cross)
    for moves, image, state in trace.images(phi):
        yield from reader.block(moves, image, state)


class _Reader:
    """From products z'phi to f."""

    def __init__(self, problem: Problem, trace: Trace, phi: Floats) -> None:
        self.problem, self.trace, self.phi = problem, trace, phi
        self.reading = problem.reading
        self.suspect = trace.t0 != trace.t1
        if problem.fixed_while_moving:
            # Only where they stay within what counts as a bound can all multipliers be at bounds.
            self.suspect &= trace.changes(problem.system.coupling.n_rows) <= AT_BOUND

    def open(self, z: list[Floats], t: Floats) -> list[bool]:
        """Whether there is an interval of intercepts."""
        if not z:
            return []
        low, high = self.problem.columns(np.column_stack(z), t).interval
        return list(low < high)

    def scale(self, t: Floats) -> Floats:
        """u at t."""
        value = t * self.problem.unit
        if not self.reading.inverse:
            return value
        with np.errstate(divide="ignore"):
            return 1.0 / value

    def read(self, image: Floats, t: Floats) -> Floats:
        """f, the traced intercept in the last column."""
        if self.reading.inverse:
            # At t = 0 f is a limit, and `block` takes it from the other end.
            image = image / np.where(t > 0, t * self.problem.unit, np.inf)[:, None]
        return image + self.reading.shift

    def top(self) -> Pieces:
        """From infinity down to the start: multipliers stand still."""
        trace = self.trace
        rate = trace.way * (trace.before @ self.phi) / self.problem.unit
        f0, f1 = rate + self.reading.shift, self.read(trace.z_start @ self.phi, trace.t0[:1])[0]
        if self.open([trace.z_start], 2.0 * trace.t0[:1])[0]:
            return self._cut((trace.z_start, trace.z_start), np.inf, trace.t0[0], f0, f1)
        return Pieces(np.zeros(1), self.scale(trace.t0[:1]), f0[None, :-1], f1[None, :-1])

    def step_up(self, cross: Floats) -> Iterator[Pieces]:
        """Above the start f stands still; where it stands elsewhere than at the start, a piece.

        The intercept may jump there: a tube that is closed leaves more of them than one that opens.
        """
        start = self.trace.t0[0]
        t = np.array([start, min(2.0 * start, self.problem.highest_value / self.problem.unit)])
        if t[1] <= start:
            return
        c = self.problem.columns(self.trace.solutions(t), t)
        f = (cross.T @ c.coef + c.intercept).T
        if np.abs(f[1] - f[0]).max(initial=0.0) > AT_BOUND * np.abs(f).max(initial=0.0):
            u = self.scale(t)
            yield Pieces(u[1:], u[:1], f[1:], f[1:])

    def block(
        self, moves: slice, image: Floats, state: Callable[[int], Floats]
    ) -> Iterator[Pieces]:
        t0, t1 = self.trace.t0[moves], self.trace.t1[moves]
        f0, f1 = self.read(image[:-1], t0), self.read(image[1:], t1)
        if self.reading.inverse and t1[-1] == 0:
            # f is bounded, so on the way to t = 0 it stands still: half of the way tells all.
            last = t1 == 0
            t1, f1[last] = np.where(last, 0.5 * t0, t1), f0[last]
        suspect = np.flatnonzero(self.suspect[moves])
        z = [(state(int(k)), state(int(k) + 1)) for k in suspect]
        is_open = self.open([0.5 * (a + b) for a, b in z], 0.5 * (t0 + t1)[suspect])
        keep = t0 != t1
        keep[suspect[is_open]] = False
        yield Pieces(self.scale(t0[keep]), self.scale(t1[keep]), f0[keep, :-1], f1[keep, :-1])
        for k, ends, cut in zip(suspect, z, is_open):
            if cut:
                yield self._cut(ends, t0[k], t1[k], f0[k], f1[k])

    def _cut(
        self, z: tuple[Floats, Floats], t0: float, t1: float, f0: Floats, f1: Floats
    ) -> Pieces:
        """One move with an open interval, cut where another point bounds the intercept.

        Bounds are read inside the move, where it is clear who is at which bound, and drawn out to
        its ends.
        """
        u = self.scale(np.array([t0, t1]))
        value = u[0] + INNER * (u[1] - u[0])
        t = (1.0 / value if self.reading.inverse else value) / self.problem.unit
        done = (t - t0) / (t1 - t0) if np.isfinite(t0) else np.zeros(2)
        columns = self.problem.columns(z[0][:, None] + done * (z[1] - z[0])[:, None], t)
        edges = [(weight, _drawn_out(bounds)) for weight, bounds in self.problem.edges(columns)]
        s = np.unique(np.concatenate([[0.0, 1.0], *(_kinks(lines) for _, lines in edges)]))
        b = sum(weight * _line(lines, s).max(axis=0) for weight, lines in edges)
        without = np.column_stack([f0[:-1] - f0[-1], f1[:-1] - f1[-1]])
        f = _line(without, s).T + np.asarray(b)[:, None]
        knots = np.append(u[0] + s[:-1] * (u[1] - u[0]), u[1])
        return Pieces(knots[:-1], knots[1:], f[:-1], f[1:])


def _line(ends: Floats, s: Floats) -> Floats:
    return ends[:, :1] * (1 - s) + ends[:, 1:] * s


def _drawn_out(inner: Floats) -> Floats:
    """Lines through values at INNER, by their values at 0 and 1; those at -inf are left out."""
    inner = inner[np.isfinite(inner[:, 0])]
    slope = (inner[:, 1] - inner[:, 0]) / (INNER[1] - INNER[0])
    return np.column_stack([inner[:, 0] - INNER[0] * slope, inner[:, 1] + INNER[0] * slope])


def _kinks(ends: Floats) -> list[float]:
    """Where in (0, 1) the largest of the lines from ends[:, 0] to ends[:, 1] changes."""
    value, slope = ends[:, 0], ends[:, 1] - ends[:, 0]
    out: list[float] = []
    # Among equals the steepest is the largest from there on.
    top = int(np.lexsort((slope, value))[-1])
    while True:
        steeper = np.flatnonzero(slope > slope[top])
        if not steeper.size:
            return out
        s = (value[top] - value[steeper]) / (slope[steeper] - slope[top])
        first = s.min()
        if first >= 1:
            return out
        tied = steeper[s <= first]
        top = int(tied[np.argmax(slope[tied])])
        if first > 0:
            out.append(float(first))


__all__ = ["Pieces", "pieces"]
