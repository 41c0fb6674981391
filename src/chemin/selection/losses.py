"""Losses of which the whole curve is known: weighted sums over test points, segment by segment.

    sum_i omega_i L_i(f_i(u)),      L: 0/1, squared, or convex with linear and quadratic pieces

Between the places where a point changes sides the sum is constant, or as smooth as f. Those places
are asked of the segments (see `chemin.segments`) and become knots; nothing here knows how f moves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..path import Path
from ..problems.loss import Loss as Shape
from ..segments import Bounded, Parts, Segments
from .piecewise import Floats, Piecewise
from .steps import signs

# ---------------------------------------------------------------------- at given targets


class PointLoss(ABC):
    """L_i(f_i) for m test points."""

    @abstractmethod
    def __call__(self, f: Floats) -> Floats:
        """The loss of each point; f has shape (..., m)."""

    @abstractmethod
    def parts(self, block: Segments, omega: Floats) -> Parts:
        """The sum of omega_i L_i over a block of segments."""

    def over(
        self, blocks: Iterable[Segments], omega: Floats, u_start: float
    ) -> tuple[Piecewise, int]:
        """The sum over a path that starts at `u_start`, and how many points are undecided: their
        loss is told on a whole stretch by what counts as f = 0 alone.
        """
        parts = [self.parts(block, omega) for block in blocks]
        return Piecewise.assemble(Parts.join(parts)).without_repetitions(), 0


@dataclass(frozen=True)
class ZeroOne(PointLoss):
    """1 where the sign of f is not that of y; f = 0 counts as negative."""

    y: Floats

    def __call__(self, f: Floats) -> Floats:
        return np.asarray((f > 0) != (self.y > 0), dtype=float)

    def parts(self, block: Segments, omega: Floats) -> Parts:
        return block.constant([np.zeros(1)], lambda f: self(f) @ omega)

    def over(
        self, blocks: Iterable[Segments | Bounded], omega: Floats, u_start: float
    ) -> tuple[Piecewise, int]:
        """Counted, from one change of a sign to the next."""
        found = signs(blocks, u_start, len(omega))
        undecided = int(np.count_nonzero(found.undecided & (omega > 0)))
        return found.steps().error((self.y > 0).astype(np.intp), omega), undecided


@dataclass(frozen=True)
class Squared(PointLoss):
    """(y - f)^2."""

    y: Floats

    def __call__(self, f: Floats) -> Floats:
        return np.asarray((self.y - f) ** 2)

    def parts(self, block: Segments, omega: Floats) -> Parts:
        return block.parts([], lambda f: (self.y - f) ** 2 @ omega, square=omega)


@dataclass(frozen=True)
class PiecewiseLinear(PointLoss):
    """A convex loss with kinks kappa_1 <= ... <= kappa_K and slopes g_0 <= ... <= g_K at m.

        m = side f
        L(m) = sum_j up_j (m - kappa_j)_+ + down_j (kappa_j - m)_+
        up_j = (g_j)_+ - (g_(j-1))_+,      down_j = (-g_(j-1))_+ - (-g_j)_+

    All terms are non-negative, so that nothing cancels, and L = 0 where the slope changes its sign.
    A loss without a minimum (g_0 > 0 or g_K < 0) has its outer slope as one more term, relative to
    the outer kink.
    """

    kinks: Floats  # (K, m)
    slopes: Floats  # (K + 1, m)
    side: Floats  # (m,) -1 or 1

    def __call__(self, f: Floats) -> Floats:
        m = self.side * f
        rise, fall = np.maximum(self.slopes, 0.0), np.maximum(-self.slopes, 0.0)
        out = np.zeros(np.shape(m))
        for kink, up, down in zip(self.kinks, np.diff(rise, axis=0), -np.diff(fall, axis=0)):
            away = m - kink
            if up.any():
                out += up * np.maximum(away, 0.0)
            if down.any():
                out += down * np.maximum(-away, 0.0)
        for slope, kink in ((rise[0], self.kinks[0]), (-fall[-1], self.kinks[-1])):
            if slope.any():
                out += slope * (m - kink)
        return out

    def parts(self, block: Segments, omega: Floats) -> Parts:
        levels = [self.side * kink for kink in self.kinks]
        return block.parts(levels, lambda f: self(f) @ omega)


@dataclass(frozen=True)
class Bent(PointLoss):
    """A convex loss with quadratic pieces, one or several rows for each point; see `problems.loss`.

    The loss of a point is the sum over its rows; all first rows come first.
    """

    offsets: Floats  # (K, R)
    slopes: Floats  # (K + 1, R)
    side: Floats  # (R,) -1 or 1
    softness: Floats  # (R,)

    def __call__(self, f: Floats) -> Floats:
        m = f.shape[-1]
        e = self.side * np.concatenate([f] * (len(self.side) // m), axis=-1)
        shape = Shape(0.0, tuple(self.offsets), tuple(self.slopes), self.softness)
        return np.asarray(shape.value(e).reshape(*f.shape[:-1], -1, m).sum(axis=-2))

    def parts(self, block: Segments, omega: Floats) -> Parts:
        """Cut where a ramp begins or ends. Between, the loss is quadratic in f: smooth, as f is."""
        levels = []
        for offset, before, after in zip(self.offsets, self.slopes[:-1], self.slopes[1:]):
            for slope in (before, after):
                if np.all(np.isfinite(slope)):
                    ends = self.side * (offset + self.softness * slope)
                    levels += list(ends.reshape(-1, len(omega)))
        return Segments.parts(block, levels, lambda f: self(f) @ omega)


def hinge(y: Floats) -> PiecewiseLinear:
    """max(0, 1 - y f)."""
    one = np.ones((1, len(y)))
    return PiecewiseLinear(one, np.concatenate([-one, 0 * one]), y)


def absolute(y: Floats) -> PiecewiseLinear:
    """|y - f|."""
    one = np.ones((1, len(y)))
    return PiecewiseLinear(y[None], np.concatenate([-one, one]), one[0])


# ---------------------------------------------------------------------- weights of the test points


def of_mean(y: Floats, w: Floats) -> Floats:
    """omega_i = w_i / sum of w."""
    return w / w.sum()


def of_balance(y: Floats, w: Floats) -> Floats:
    """The mean over the classes that are there of the mean over their points."""
    classes = [y == c for c in np.unique(y)]
    return w * sum(here / (len(classes) * w[here].sum()) for here in classes)


def of_variance(y: Floats, w: Floats) -> Floats:
    """omega_i = w_i / sum of w (y - mean)^2: the loss is then 1 - r2."""
    total = float(w @ (y - np.average(y, weights=w)) ** 2)
    if not total > 0:
        raise ValueError(
            f"scoring='r2' needs two different targets among the test points, got {len(y)} "
            "with one target: use larger folds, or scoring='neg_mean_squared_error'"
        )
    return w / total


# ---------------------------------------------------------------------- by name


@dataclass(frozen=True)
class Loss:
    """One exact loss, and the name of the score that it belongs to: score = best - loss.

    `at(problem, y)` is the loss at given targets: labels -1 and 1, or numbers.
    """

    scoring: str
    name: str
    labels: bool | None  # for classification, for regression, or (None) for both
    best: float
    weigh: Callable[[Floats, Floats], Floats]
    at: Callable[[Any, Floats], PointLoss]
    as_in_training: bool = False  # whether class weights count
    of_labels: bool = False  # whether it is told by labels alone, of however many classes
    of_points: bool = True  # whether it is a sum over points

    def on_path(self, path: Path, cross: Floats, y: Floats, omega: Floats) -> Piecewise:
        """The loss over a whole path; `cross` is the kernel between its rows and the points."""
        return self.judged(path, cross, y, omega)[0]

    def judged(
        self, path: Path, cross: Floats, y: Floats, omega: Floats, own: Floats | None = None
    ) -> tuple[Piecewise, int]:
        """The loss over a whole path, and how many points are undecided somewhere on it.

        `own`: k(x, x) at the points, where k is known to be an inner product.
        """
        u_start = float(path.coordinate.to_u(path.start))
        bounded = self.of_labels and own is not None
        blocks: Any = path.sides(cross, own) if bounded else path.segments(cross)
        return self.at(path.problem, y).over(blocks, omega, u_start)


def _zero_one(problem: Any, y: Floats) -> PointLoss:
    return ZeroOne(y)


def _squared(problem: Any, y: Floats) -> PointLoss:
    return Squared(y)


def _hinge(problem: Any, y: Floats) -> PointLoss:
    return hinge(y)


def _absolute(problem: Any, y: Floats) -> PointLoss:
    return absolute(y)


def _own(problem: Any, y: Floats) -> PointLoss:
    """What the problem minimises in training."""
    bends, slopes, side, softness = problem.own_loss(y)
    if softness.any():
        return Bent(bends, slopes, side, softness)
    return PiecewiseLinear(bends, slopes, side)


_KNOWN = (
    Loss("accuracy", "0/1 error", True, 1.0, of_mean, _zero_one, of_labels=True),
    Loss("balanced_accuracy", "balanced error", True, 1.0, of_balance, _zero_one, of_labels=True),
    Loss("neg_hinge_loss", "hinge loss", True, 0.0, of_mean, _hinge),
    Loss("neg_mean_squared_error", "squared error", False, 0.0, of_mean, _squared),
    Loss("neg_mean_absolute_error", "absolute error", False, 0.0, of_mean, _absolute),
    Loss("r2", "1 - r2", False, 1.0, of_variance, _squared),
    Loss("loss", "own loss", None, 0.0, of_mean, _own, as_in_training=True),
)
EXACT = {loss.scoring: loss for loss in _KNOWN}

__all__ = [
    "EXACT",
    "Bent",
    "Loss",
    "PiecewiseLinear",
    "PointLoss",
    "Squared",
    "ZeroOne",
    "absolute",
    "hinge",
]
