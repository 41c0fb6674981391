"""Losses of which the whole curve is known: weighted sums over test points, piece by piece.

    sum_i omega_i L(y_i, f_i(u)),      L: 0/1, hinge, absolute or squared

f is affine in u on a piece, so the sum is constant, affine or quadratic between the places where
a point changes sides; those are found in closed form and become knots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..affine import Pieces
from ..path import Path
from .piecewise import Floats, Piecewise

Part = tuple[Floats, Floats, Floats, Floats, Floats]  # u0, u1, left, right, bend


@dataclass(frozen=True)
class Loss:
    """One exact loss, and scikit-learn's name for the score that it belongs to.

    score = best - loss
    """

    scoring: str
    name: str
    labels: bool  # for classification (y = -1 or 1), or for regression
    best: float
    parts: Callable[[Pieces, Floats, Floats], Part]
    weigh: Callable[[Floats, Floats], Floats]
    of_point: Callable[[Floats, Floats], Floats]  # L(y, f)

    def on_path(self, path: Path, cross: Floats, y: Floats, omega: Floats) -> Piecewise:
        """The loss over a whole path; `cross` is the kernel between its rows and the points."""
        parts = [self.parts(block, y, omega) for block in path.pieces(cross)]
        u0, u1, left, right, bend = (np.concatenate(part) for part in zip(*parts))
        return Piecewise.assemble(u0, u1, left, right, bend).without_repetitions()


# ---------------------------------------------------------------------- between crossings


def _refine(block: Pieces, r0: Floats, r1: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Pieces cut where an r changes sign: which piece, and from where to where on it."""
    j, i = np.nonzero((r0 > 0) != (r1 > 0))
    start, end = r0[j, i], r1[j, i]
    piece = np.concatenate([np.arange(len(r0)), j])
    s0 = np.concatenate([np.zeros(len(r0)), start / (start - end)])
    order = np.lexsort((s0, piece))
    piece, s0 = piece[order], s0[order]
    last = np.append(piece[1:] != piece[:-1], True)
    s1 = np.where(last, 1.0, np.append(s0[1:], 1.0))
    some = s1 > s0
    return piece[some], s0[some], s1[some]


def _between(a: Floats, b: Floats, piece: NDArray[np.intp], s: Floats) -> Floats:
    return a[piece] + s[:, None] * (b - a)[piece]


def _places(block: Pieces, piece: NDArray[np.intp], s0: Floats, s1: Floats) -> list[Floats]:
    """u at the ends; exactly that of the piece at its own ends, so that neighbours meet."""
    u0, u1 = block.u0[piece], block.u1[piece]
    return [np.where(s == 1, u1, u0 + s * (u1 - u0)) for s in (s0, s1)]


def zero_one(block: Pieces, y: Floats, omega: Floats) -> Part:
    """1 where the sign of f is not that of y; f = 0 counts as negative. Constant on pieces."""
    piece, s0, s1 = _refine(block, block.f0, block.f1)
    middle = _between(block.f0, block.f1, piece, 0.5 * (s0 + s1))
    value = ((middle > 0) != (y > 0)) @ omega
    return (*_places(block, piece, s0, s1), value, value, np.zeros_like(value))


def _straight(block: Pieces, r0: Floats, r1: Floats, loss: Any, omega: Floats) -> Part:
    """A loss that is affine in r on either side of r = 0."""
    piece, s0, s1 = _refine(block, r0, r1)
    left, right = (loss(_between(r0, r1, piece, s)) @ omega for s in (s0, s1))
    return (*_places(block, piece, s0, s1), left, right, np.zeros_like(left))


def hinge(block: Pieces, y: Floats, omega: Floats) -> Part:
    """max(0, 1 - y f): kinks where a point meets its margin."""
    r0, r1 = 1.0 - y * block.f0, 1.0 - y * block.f1
    return _straight(block, r0, r1, lambda r: np.maximum(r, 0.0), omega)


def absolute(block: Pieces, y: Floats, omega: Floats) -> Part:
    """|y - f|: kinks where the prediction passes the target."""
    return _straight(block, y - block.f0, y - block.f1, np.abs, omega)


def squared(block: Pieces, y: Floats, omega: Floats) -> Part:
    """(y - f)^2: bend = sum omega (f1 - f0)^2."""
    left, right = ((y - f) ** 2 @ omega for f in (block.f0, block.f1))
    return block.u0, block.u1, left, right, (block.f1 - block.f0) ** 2 @ omega


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


# ---------------------------------------------------------------------- point by point


def point_zero_one(y: Floats, f: Floats) -> Floats:
    return ((f > 0) != (y > 0)).astype(float)


def point_hinge(y: Floats, f: Floats) -> Floats:
    return np.maximum(0.0, 1.0 - y * f)


def point_absolute(y: Floats, f: Floats) -> Floats:
    return np.abs(y - f)


def point_squared(y: Floats, f: Floats) -> Floats:
    return (y - f) ** 2


EXACT = {
    loss.scoring: loss
    for loss in (
        Loss("accuracy", "0/1 error", True, 1.0, zero_one, of_mean, point_zero_one),
        Loss(
            "balanced_accuracy", "balanced error", True, 1.0, zero_one, of_balance, point_zero_one
        ),
        Loss("neg_hinge_loss", "hinge loss", True, 0.0, hinge, of_mean, point_hinge),
        Loss(
            "neg_mean_squared_error", "squared error", False, 0.0, squared, of_mean, point_squared
        ),
        Loss(
            "neg_mean_absolute_error",
            "absolute error",
            False,
            0.0,
            absolute,
            of_mean,
            point_absolute,
        ),
        Loss("r2", "1 - r2", False, 1.0, squared, of_variance, point_squared),
    )
}
DEFAULT = {True: EXACT["accuracy"], False: EXACT["neg_mean_squared_error"]}

__all__ = ["DEFAULT", "EXACT", "Loss"]
