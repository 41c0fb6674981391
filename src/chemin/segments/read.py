"""From the moves of a walk to the segments of f.

f is read off z linearly (see `Reading`), so a move is a segment:

    s f(x) = z'phi(x) + s shift,      s: the parameter itself, or 1

Where z is affine in the parameter, f is affine in u = 1/parameter (or in the parameter), and its
values at the ends of the moves are all there is to know. One thing bends between events: where no
point fixes the intercept it is the middle of an interval whose ends are a maximum and a minimum of
affine functions. Those moves are cut where another point takes over. No multiplier is free there,
so that f is straight in u whatever the kind of the moves.

f is 0 where it is not told from 0 (see `rounded`): at the ends of straight segments, anywhere on
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..engine import Trace
from ..engine.moves import ProjectiveMoves, StraightMoves
from ..engine.tolerances import TURNED
from ..engine.trace import Image
from ..kernels import exact_sum
from ..problems import Problem
from ..problems.base import Columns, Reading
from ..problems.machine import AT_PIN, KernelMachine
from ..problems.staircase import Floats, Ints
from ._edges import summed_maxima
from ._ends import positive_rows
from ._stretches import anchors, changes
from .kinds import Bounded, Coordinate, Curved, Projective, Segments, Straight, Told
from .rounded import Terms

INNER = np.array([0.25, 0.75])  # of a move: far from its ends and from each other
INSIDE = 1e-6  # weights: so far from its pins a multiplier lies between them, whatever round-off
TOGETHER = 64  # moves whose solutions are looked at together
# Moves between two anchors, at which f is worked out where only its sign counts. Of 8 anchors took
# longer, of 32 what is in doubt between them.
STRIDE = 16
FEWEST = 32  # moves: of fewer, f itself takes no longer than a bound
AT_ONCE = 512  # moves whose anchors are one product
TINY = float(np.finfo(np.float64).tiny)  # stands for 0 where u is infinite
# A curved move to t = 0 is followed so far; beyond, a difference of z is round-off, and f constant.
OCTAVES = 20


def coordinate_of(problem: Problem) -> Coordinate:
    """The coordinate of the segments of a problem's paths."""
    return Coordinate(problem.reading.inverse)


def segments(
    problem: Problem,
    trace: Trace,
    cross: Floats,
    common: Floats | float = 0.0,
    *,
    above: bool,
    terms: Terms,
    rest: float = 0.0,
    own: Floats | None = None,
) -> Iterator[Any]:
    """f on every segment of a walk, in blocks, roughly in the order walked.

    Parameters
    ----------
    cross : array of shape (coefficients, m)
        The kernel between the rows of the problem and the points, or the points as columns.
    common : array of shape (m,) or 0
        What was taken out of each column, see `parted`: intercepts of segments take it up.
    above : bool
        Whether the closed form holds from the start to infinity; it is included where u = 0 there.
    terms : Terms
        By which round-off of f is told.
    rest : float
        The t below which f stands still on its way to a limit at 0, or 0.
    own : array of shape (m,) or None
        k(x, x) at the points, k being an inner product. Where it is given, sides of 0 are all that
        is asked, and blocks may be `Bounded`.
    """
    reading = problem.reading
    features = _Features(reading, cross)
    reader = _Reader(problem, trace, features, terms, rest, own)
    reader.find_open(top=above and reading.inverse)
    if above and reading.inverse:
        yield reader.top()
    elif above:
        yield from reader.step_up(cross, common)
    for first, last, may_be_bounded in reader.stretches():
        bounded = reader.bounded(first, last) if may_be_bounded else None
        if bounded is not None:
            yield bounded
            continue
        for image in trace.images(features, first, last):
            yield from filter(len, reader.block(image))  # all its moves may be cut, or jumps
    yield from reader.cuts()


class _Features:
    """phi, what z is multiplied by: one column a point, and one more, at which every k(x_i, x) is
    0, for the intercept alone, as it was traced. It is never formed: few of its rows are asked for.
    """

    __array_ufunc__ = None  # products with it are its own

    def __init__(self, reading: Reading, cross: Floats) -> None:
        self.reading, self.cross = reading, cross
        n = len(cross)  # whether every row has one variable, and they come first
        self.plain = bool(
            np.array_equal(reading.row[:n], np.arange(n)) and not reading.factor[n:].any()
        )
        self.shape = len(reading.row), cross.shape[1] + 1

    @cached_property
    def largest(self) -> Floats:
        """The largest |k(x_i, x)| at each point."""
        least, most = (extreme(self.cross, axis=0, initial=0.0) for extreme in (np.min, np.max))
        return np.maximum(-least, most)

    def __rmatmul__(self, z: Floats) -> Floats:
        """z'phi, z by rows."""
        n, reading = len(self.cross), self.reading
        out = np.empty((*z.shape[:-1], self.shape[1]))
        out[..., -1] = z @ reading.level
        if self.plain:
            weight = z[..., :n] * reading.factor[:n]
        else:
            weight = np.zeros((*z.shape[:-1], n))
            np.add.at(weight.T, reading.row, (z * reading.factor).T)
        cross = self.cross
        if z.ndim > 1 and 2 * len(some := np.flatnonzero(weight.any(axis=0))) < n:
            weight, cross = weight[:, some], cross[some]
        np.add(weight @ cross, out[..., -1:], out=out[..., :-1])
        return out

    def __getitem__(self, some: Ints) -> Floats:
        return self.take(some, out=np.empty((len(some), self.shape[1])))

    def take(self, some: Ints, out: Floats, **how: Any) -> Floats:
        """Rows of phi."""
        reading = self.reading
        np.multiply(reading.factor[some, None], self.cross[reading.row[some]], out=out[:, :-1])
        out[:, -1] = 0.0
        if reading.level.any():
            out += reading.level[some, None]
        return out


class _Reader:
    """From products z'phi to f."""

    def __init__(
        self,
        problem: Any,
        trace: Trace,
        features: _Features,
        terms: Terms,
        rest: float,
        own: Floats | None,
    ) -> None:
        self.problem, self.trace, self.features = problem, trace, features
        self.terms, self.rest = terms, rest
        self.still: Floats | None = None  # f below `rest`
        self.reading = problem.reading
        self.size = np.abs(self.reading.factor)  # what one unit of z adds to the coefficients
        self.straight = trace.moves.degree == 1
        moves, self.bend = trace.moves, None
        # f is straight in the pace of such moves, where it is read off z without a division.
        if isinstance(moves, ProjectiveMoves) and not self.reading.inverse:
            self.bend = moves.bend
        self.suspect = (trace.t0 != trace.t1) & (not problem.one_intercept)
        if problem.fixed_while_moving and not problem.one_intercept:
            # Only where they stay within what counts as a bound can all multipliers be at bounds.
            multiplier = problem.system.boxed
            self.suspect &= trace.moves.still(multiplier, AT_PIN)
        # Moves on which several intercepts are optimal; solutions inside them; f at their ends.
        self.is_open = np.zeros(len(trace.t0), bool)
        self.above: Columns | None = None
        self.inner: list[tuple[Ints, Columns, Floats]] = []
        self.at_ends: list[Floats] = []
        self.own = own if own is not None and self._may_be_bounded else None
        self.so_far: tuple[int, Any] = (-1, None)  # a move, and z'phi before it

    @property
    def largest(self) -> Floats:
        return self.features.largest

    @cached_property
    def limit(self) -> float:
        """No less than any |k(x_i, x)|."""
        if self.own is None:
            return float(self.largest.max(initial=0.0))
        return max(float(self.own.max(initial=0.0)), self.problem.scale)

    # ------------------------------------------------------------------ sides of 0 by a bound

    def stretches(self) -> Iterator[tuple[int, int, bool]]:
        """The moves from one up to another, and whether their sides may be told by a bound."""
        if self.own is None:
            yield 0, len(self.trace.moves), False
            return
        others = self.is_open | (self.trace.t1 <= self.rest)
        ends = np.flatnonzero(np.diff(others)) + 1
        for first, last in pairwise([0, *ends.tolist(), len(others)]):
            if others[first] or last - first < FEWEST:
                yield first, last, False
                continue
            parts = -(-(last - first) // AT_ONCE)
            cuts = first + (last - first) * np.arange(parts + 1) // parts
            yield from ((k, stop, True) for k, stop in pairwise(cuts.tolist()))

    @property
    def _may_be_bounded(self) -> bool:
        """Whether moves are straight, one tread is all that a multiplier has, and f is read off as
        it is.
        """
        if not isinstance(self.problem, KernelMachine):
            return False
        reading, system, stairs = self.reading, self.problem.system, self.problem.system.stairs
        treads = np.isfinite(stairs.value[:, 2::2]).sum(axis=1)
        return bool(
            self.straight
            and self.features.plain
            and self.terms.roundings
            and reading.inverse
            and not reading.shift
            and not reading.level[: len(self.features.cross)].any()
            and system.soft is None
            and np.all(treads == 1)
            and np.all(np.isfinite(stairs.value[:, 2]))
        )

    @cached_property
    def events(self) -> Ints:
        """How many are made where each move ends."""
        return np.bincount(self.trace.events["move"], minlength=len(self.trace.moves) + 2)[1:]

    def bounded(self, first: int, last: int) -> Bounded | None:
        """The sides of 0 over these moves; None where round-off may play a part.

        g = z'phi is worked out at every STRIDE-th end of a move, an anchor. Between two of them a
        point leaves its straight line by d'phi, d being how far z is off its own, and

            |d'phi| <= sqrt(k(x, x)) |d|,      |d|^2 = d'Kd

        d is the sum of how much the rates of z turn from move to move. What moves stands on its
        tread, K rate is known there, and |rate|^2 = rate'K rate is a sum over the rate. Where a
        variable enters or leaves, the rate of the fewer is the projection of the other: the square
        of its turn is the difference of both squares. Where that leaves the sign of g in doubt, a
        point is looked at between the anchors, as often as it takes.
        """
        trace, moves, reading = self.trace, self.trace.moves, self.reading
        t = np.append(trace.t0[first], trace.t1[first:last])
        if not (t[-1] > self.rest and t[-1] < t[0] and np.all(np.diff(t) <= 0)):
            return None
        system, n = self.problem.system, len(self.features.cross)
        assert isinstance(moves, StraightMoves) and self.own is not None
        unit = float(self.size.max())
        pull = system.r + system.stairs.slope[:, 2]  # t falls
        z = trace.before_move(first)
        arrays = moves.index, moves.rate, moves.length, moves.pointer
        root = np.zeros(len(z))
        root[:n] = system.coupling.root[:n]
        at, level, away, raised, far = anchors(
            *arrays, t, first, STRIDE, z, n, pull, root, reading.level, self.events, TURNED
        )
        z_sum = float((np.abs(at) @ self.size).max()) + unit * far
        least = self.terms.least(z_sum, self.limit, t[0] * self.problem.unit)
        g, u = self._at_anchors(first, last, at), self.scale(t)
        norm = unit * np.sqrt(self.problem.scale) * np.sqrt(self.own)
        found = changes(
            g,
            self.features.cross,
            reading.factor[:n],
            *arrays,
            u,
            first,
            STRIDE,
            level,
            away,
            raised,
            norm,
            least,
        )
        if found is None:
            return None
        return Bounded((float(u[0]), float(u[-1])), g[0] > 0, g[-1] > 0, *found)

    def _at_anchors(self, first: int, last: int, at: Floats) -> Floats:
        """z'phi of the rows of `at`, states on the way from one move up to another: what changes is
        added to the first of them, which is the last of the moves before, if those are known.
        """
        known = self.so_far[1] if self.so_far[0] == first else at[0] @ self.features
        out = (at - at[0]) @ self.features + known
        self.so_far = last, out[-1]
        return np.ascontiguousarray(out[:, :-1])

    def find_open(self, top: bool) -> None:
        """Tell the moves with an interval of intercepts, and keep the solutions inside them; with
        `top` those above the start, too.

        The interval is as wide as a minimum less a maximum of affine functions of u: a concave
        function, so that it is open all along a move or nowhere inside it.
        """
        suspects, k, n = np.flatnonzero(self.suspect), 0, len(self.trace.z_start)
        top = top and not self.problem.one_intercept
        while k < len(suspects) or top:
            moves = suspects[k : k + TOGETHER]
            t0, t1 = self.trace.t0[moves], self.trace.t1[moves]
            t = self._inner(self._u_ends(moves))
            z = np.empty((n, 0))
            if len(moves):
                z = self.trace.within(moves, (t - t0[:, None]) / (t1 - t0)[:, None])
                some = ~self._fixed(z).reshape(t.shape).any(axis=1)
                moves, t, z = moves[some], t[some], z[:, np.repeat(some, len(INNER))]
            top = top and not self._fixed(self.trace.z_start[:, None])[0]
            if not (len(moves) or top):
                k += TOGETHER
                continue
            inner = self._columns(z, t, top)
            if top:
                above = np.arange(len(INNER))
                self.above, top = inner.some(above), False
                inner = inner.some(np.arange(len(INNER), len(inner.value)))
            is_open = (inner.interval[0] < inner.interval[1]).reshape(t.shape).all(axis=1)
            self.is_open[moves] = is_open
            if is_open.any():
                columns = np.flatnonzero(np.repeat(is_open, len(INNER)))
                z_sums = (self.size @ np.abs(z[:, columns])).reshape(-1, len(INNER)).max(axis=1)
                self.inner.append((moves[is_open], inner.some(columns), z_sums))
            k += TOGETHER

    def _fixed(self, z: Floats) -> Any:
        """Whether it is plain that one intercept alone is optimal: a multiplier lies between its
        pins, and far from them.
        """
        system = self.problem.system
        pins = system.stairs.value[:, 1::2]
        if not self.problem.fixed_while_moving or np.isfinite(pins[system.boxed, 2:]).any():
            return np.zeros(z.shape[1], bool)
        low, high = (pins[:, k, None] + way * INSIDE for k, way in ((0, 1.0), (1, -1.0)))
        return ((z > low) & (z < high))[system.boxed].any(axis=0)

    def _columns(self, z: Floats, t: Floats, top: bool) -> Columns:
        """Solutions inside moves, and above the start before them: one product for all of them."""
        t = t.ravel()
        if top:
            start = self._inner(self.scale(np.array([[np.inf, self.trace.t0[0]]])))[0]
            z = np.hstack([np.tile(self.trace.z_start[:, None], len(INNER)), z])
            t = np.append(start, t)
        return self.problem.columns(z, t)

    def _u_ends(self, moves: Ints) -> Floats:
        """u at the ends of moves; on the way to t = 0 f stands still, and half of it tells all."""
        t0, t1 = self.trace.t0[moves], self.trace.t1[moves]
        halved = self.reading.inverse & (t1 == 0)
        return self.scale(np.column_stack([t0, np.where(halved, 0.5 * t0, t1)]))

    def scale(self, t: Floats) -> Floats:
        """u at t."""
        value = t * self.problem.unit
        if not self.reading.inverse:
            return value
        with np.errstate(divide="ignore"):
            return 1.0 / value

    def unscale(self, u: Floats) -> Floats:
        """t at u."""
        return (1.0 / u if self.reading.inverse else u) / self.problem.unit

    def read(self, image: Floats, t: Floats, out: Floats | None = None) -> Floats:
        """f, the traced intercept in the last column."""
        if self.reading.inverse:
            # At t = 0 f is a limit, and `block` takes it from the other end.
            pace = np.where(t > 0, t * self.problem.unit, np.inf)[:, None]
            image = np.divide(image, pace, out=out)
        if self.reading.shift or image is not out:
            image = np.add(image, self.reading.shift, out=out)
        return image

    def rounded(self, f: Floats, z_sum: Floats | float, u: Floats) -> Floats:
        """f without the traced intercept, 0 where it is not told from 0.

        z_sum is the sum of |factor z|, at each u or at all of them.
        """
        coef_sum = np.broadcast_to(self._coef_sum(z_sum, u), u.shape)
        if self.own is not None and self.terms.tell(f[:, :-1], coef_sum, self.limit):
            return f[:, :-1]
        return self.terms.rounded(f[:, :-1], coef_sum[:, None], self.largest)

    def _coef_sum(self, z_sum: Any, u: Any) -> Any:
        """The sum of the absolute coefficients at u."""
        return np.maximum(z_sum, TINY) * u if self.reading.inverse else z_sum

    # ------------------------------------------------------------------ above the start

    def top(self) -> Straight:
        """From infinity down to the start: multipliers stand still."""
        trace = self.trace
        before, start = np.array([trace.before, trace.z_start]) @ self.features
        rate = trace.way * before / self.problem.unit
        f0, f1 = rate + self.reading.shift, self.read(start, trace.t0[:1])[0]
        z_sum = float(self.size @ np.abs(trace.z_start))
        inner = self.above
        if inner is not None and np.all(inner.interval[0] < inner.interval[1]):
            u = self.scale(np.array([[np.inf, trace.t0[0]]]))
            return self._cut(u, inner, np.array([z_sum]), np.array([[f0, f1]]))
        u0, u1 = np.zeros(1), self.scale(trace.t0[:1])
        return Straight(
            u0, u1, self.rounded(f0[None], z_sum, u0), self.rounded(f1[None], z_sum, u1)
        )

    def step_up(self, cross: Floats, common: Floats | float) -> Iterator[Straight]:
        """Above the start f stands still; where that is not what it is just below it, a segment.

        The intercept may jump there: a tube that is closed leaves more of them than one that opens.
        And the sign of f counts where it is a label: f = 0 has one, and what grows from it another.
        """
        start = self.trace.t0[0]
        if self.problem.one_intercept and not (self.trace.before.any() or self.terms.roundings):
            return  # f is the same, and its sign is nobody's label
        t = np.array([start, min(2.0 * start, self.problem.highest_value / self.problem.unit)])
        if t[1] <= start:
            return
        c = self.problem.columns(self.trace.solutions(t, once=True), t)
        f = cross.T @ c.coef + (c.intercept + np.multiply.outer(common, exact_sum(c.coef)))
        f = f.T
        jumps = np.abs(f[1] - f[0]).max(initial=0.0) > AT_PIN * np.abs(f).max(initial=0.0)
        if jumps or self.terms.roundings:
            u, z_sum = self.scale(t), float(self.size @ np.abs(self.trace.z_start))
            still = self.terms.rounded(f[1:], z_sum, self.largest)
            yield Straight(u[1:], u[:1], still, still)

    # ------------------------------------------------------------------ a block of moves

    def block(self, image: Image) -> Iterator[Segments]:
        """All moves of a block but those with an open interval, whose f at both ends is kept."""
        t0, t1 = self.trace.t0[image.block], self.trace.t1[image.block]
        keep = (t0 != t1) & ~self.is_open[image.block]
        told = self._told(image, np.append(t0[:1], t1), keep)
        if told is not None:
            yield told
            return
        f, end = self._ends(image, t0, t1)
        if self.straight or self.bend is not None:
            u0, u1 = self.scale(t0[keep]), self.scale(end[keep])
            g = f[:, :-1]
            if self.straight and self.terms.roundings:
                u = self.scale(np.append(t0[:1], end))
                if not self.terms.tell(g, self._coef_sum(self._most(image), u.max()), self.largest):
                    g = self.rounded(f, self._sums(image), u)
            f0, f1 = (g[:-1], g[1:]) if keep.all() else (g[:-1][keep], g[1:][keep])
            if self.bend is None:
                yield Straight(u0, u1, f0, f1)
            else:
                yield Projective(u0, u1, f0, f1, self.bend[image.block][keep])
        elif keep.any():
            yield self._curved(image, np.flatnonzero(keep), t0, t1)
        self.at_ends += [f[k : k + 2].copy() for k in np.flatnonzero(self.is_open[image.block])]

    def _told(self, image: Image, t: Floats, keep: Any) -> Told | None:
        """A block of straight moves on which the sign of f counts, where round-off plays no part:
        signs are read off z'phi as it is.
        """
        plain = self.straight and self.reading.inverse and not self.reading.shift
        if not (plain and self.terms.roundings and t[-1] > self.rest and t[-1] < t[0]):
            return None
        u, g = self.scale(t), image.ends[:, :-1]
        up, least = positive_rows(g)
        if not self.terms.told(
            float((least * u).min()), self._coef_sum(self._most(image), u.max()), self.largest
        ):
            return None
        if self.is_open[image.block].any():
            f = self.read(image.ends, t)
            self.at_ends += [f[k : k + 2] for k in np.flatnonzero(self.is_open[image.block])]
        return Told(g, u, up, keep)

    def _sums(self, image: Image) -> Floats:
        """The sum of |factor z| before, between and after the moves of a block."""
        moved, size = image.moved, self.size[image.moved]
        rest = self.size @ np.abs(image.z) - size @ np.abs(image.z[moved])
        return np.asarray(np.abs(image.z[moved] + image.so_far) @ size + rest)

    def _most(self, image: Image) -> float:
        """No less than any of `_sums`."""
        return float(self.size @ np.abs(image.z) + self.size.max() * image.far)

    def _ends(self, image: Image, t0: Floats, t1: Floats) -> tuple[Floats, Floats]:
        """f before, between and after straight moves, and where they end."""
        t = np.append(t0[:1], t1)
        f = self.read(image.ends, t, out=image.ends if self.straight else None)
        if t[-1] < self.rest:  # what moves there is round-off of a small z
            above = np.flatnonzero(t >= self.rest)
            self.still = f[above[-1]].copy() if len(above) else self.still
            f[t < self.rest] = f[0] if self.still is None else self.still
        if not (self.reading.inverse and t[-1] == 0):
            return f, t1
        # f is bounded, so on the way to t = 0 it stands still: half of the way tells all.
        last = int(np.argmax(t == 0))
        f[last:] = f[last - 1] if last else self.reading.shift
        return f, np.where(t1 == 0, 0.5 * t0, t1)

    def _curved(self, image: Image, moves: Ints, t0: Floats, t1: Floats) -> Curved:
        """Moves that are not straight; one that ends at u = infinity is told octave by octave."""
        u, inside, noise, z_sum = [], [], [], self._sums(image)
        for k in moves:
            endless = self.reading.inverse and t1[k] == 0
            t = t0[k] * 0.5 ** np.arange(OCTAVES + 1) if endless else np.array([t0[k], t1[k]])
            most = float(z_sum[k : k + 2].max())
            for ends in zip(self.scale(t[:-1]), self.scale(t[1:])):
                u.append(ends)
                inside.append(self._inside(image, int(k), *ends, most))
                noise.append(self.terms.noise(self._coef_sum(most, max(ends)), self.largest))
        first, last = np.array(u).T
        return Curved(first, last, inside, np.array(noise))

    def _inside(
        self, image: Image, k: int, u0: float, u1: float, z_sum: float
    ) -> Callable[[Floats], Floats]:
        """f on a curved move, as a function of the place between u0 and u1."""
        product, j = image.inside(k), image.block.start + k
        t0, t1 = self.trace.t0[j], self.trace.t1[j]

        def f(s: Floats) -> Floats:
            u = u0 + s * (u1 - u0)
            t = self.unscale(u)
            found = self.read(product(np.clip((t - t0) / (t1 - t0), 0.0, 1.0)), t)
            return self.rounded(found, z_sum, u)

        return f

    def cuts(self) -> Iterator[Straight]:
        """The moves with an open interval, once f is known at their ends."""
        first = 0
        for moves, inner, z_sums in self.inner:
            f = np.array(self.at_ends[first : first + len(moves)])
            yield self._cut(self._u_ends(moves), inner, z_sums, f)
            first += len(moves)

    def _inner(self, u: Floats) -> Floats:
        """t at INNER of moves, given by their ends."""
        return self.unscale(u[:, :1] + INNER * (u[:, 1:] - u[:, :1]))

    def _cut(self, u: Floats, inner: Columns, z_sums: Floats, f: Floats) -> Straight:
        """Moves with an open interval, cut where another point bounds the intercept.

        Bounds are read inside a move, where it is clear which points are at which bound, and drawn
        out to its ends. `f`: at the ends of each, shape (moves, 2, points).
        """
        cut = [summed_maxima(terms, *INNER) for terms in self.problem.edges(inner, len(INNER))]
        sizes = np.array([len(s) for s, _ in cut])
        s, b = (np.concatenate(every) for every in zip(*cut))
        u0, u1 = np.repeat(u.T, sizes, axis=1)
        at = np.where(s < 1.0, u0 + s * (u1 - u0), u1)
        f0, f1 = (f - f[:, :, -1:]).transpose(1, 0, 2).repeat(sizes, axis=1)
        g = self.rounded(
            f0 * (1 - s)[:, None] + f1 * s[:, None] + b[:, None], np.repeat(z_sums, sizes), at
        )
        first = np.ones(len(at), bool)
        first[np.cumsum(sizes) - 1] = False
        begin = np.flatnonzero(first)
        return Straight(at[begin], at[begin + 1], g[begin], g[begin + 1])


__all__ = ["coordinate_of", "segments"]
