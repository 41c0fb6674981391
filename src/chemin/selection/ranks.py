"""The area under the ROC curve over a whole path: exact.

    1 - area = sum over positive i and negative j of omega_i omega_j ([f_i < f_j] + [f_i = f_j] / 2)

Ranks change where the f of a positive and of a negative point meet, and nowhere else: between these
places the area is constant. Differences of f are segments as f itself is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..segments import Parts, Segments, Straight
from .losses import Loss, PointLoss
from .piecewise import Floats, Ints

# Pairs of points times segments that are looked at together.
ROOM = 2e6
# Values of f nearer than this, relative to the largest (and to the margin, 1), are equal: points
# on the margin are, but for the round-off of f, which at small lambda is a sum of large terms.
EQUAL = 1e-10


@dataclass(frozen=True)
class Ranks(PointLoss):
    """Pairs of a positive and a negative point that f puts in the wrong order."""

    y: Floats

    def __call__(self, f: Floats) -> Floats:
        raise NotImplementedError("ranks are of all points together, not of each")

    @property
    def positive(self) -> NDArray[np.bool_]:
        return self.y > 0

    def parts(self, block: Segments, omega: Floats) -> Parts:
        up = self.positive
        weight = np.outer(omega[up], omega[~up]).ravel()
        zero = np.zeros(len(weight))
        return Parts.join(
            [
                some.constant([zero], lambda d: ((d < 0) + 0.5 * (d == 0)) @ weight)
                for some in _differences(block, up)
            ]
        )


def _differences(block: Segments, up: NDArray[np.bool_]) -> Iterator[Segments]:
    """f of positive points minus f of negative ones, every pair a column, some segments at once."""
    pairs = int(up.sum()) * int((~up).sum())
    most = max(1, int(ROOM / max(pairs, 1)))
    for k in range(0, len(block), most):
        some = np.arange(k, min(k + most, len(block)))
        if isinstance(block, Straight):
            ends = (_pairs(f[some], up) for f in (block.f0, block.f1))
            yield Straight(block.u0[some], block.u1[some], *ends)
        else:
            yield _Pairs(block.u0[some], block.u1[some], block, some, up)


def _pairs(f: Floats, up: NDArray[np.bool_]) -> Floats:
    """(k, m) to (k, pairs): 0 where round-off alone parts two points."""
    d = f[:, up, None] - f[:, None, ~up]
    size = 1.0 + np.abs(f).max(axis=1, initial=0.0)
    d[np.abs(d) <= EQUAL * size[:, None, None]] = 0.0
    return d.reshape(len(f), -1)


@dataclass(frozen=True)
class _Pairs(Segments):
    """Differences on some segments of any kind."""

    u0: Floats
    u1: Floats
    inner: Segments
    which: Ints
    up: NDArray[np.bool_]

    def at(self, j: Ints, s: Floats) -> Floats:
        return _pairs(self.inner.at(self.which[j], s), self.up)


def of_classes(y: Floats, w: Floats) -> Floats:
    """omega_i = w_i over the sum of w in the class of i."""
    up = y > 0
    if not (w[up].sum() > 0 and w[~up].sum() > 0):
        raise ValueError(
            f"scoring='roc_auc' needs both classes among the test points, got {len(y)} of one "
            "class: use larger folds, or scoring='accuracy'"
        )
    return w / np.where(up, w[up].sum(), w[~up].sum())


def _ranks(problem: object, y: Floats) -> PointLoss:
    return Ranks(y)


AREA = Loss("roc_auc", "1 - area under ROC", True, 1.0, of_classes, _ranks, of_points=False)

__all__ = ["AREA", "Ranks"]
