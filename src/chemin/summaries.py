"""What a whole path says of points, exactly: its ROC curve, quantiles that cross."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .problems.staircase import Floats
from .segments import Coordinate, Segments

CROSSING = np.dtype([("point", "i8"), ("from", "f8"), ("to", "f8"), ("drop", "f8")])
# Drops below this part of the largest |f| are round-off.
NO_DROP = 1e-10
# Places of a segment at which f is compared; where f is affine in tau its ends are enough.
INSIDE = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


@dataclass(frozen=True)
class Roc:
    """The exact ROC curve of a path in the cost: one entry for each set of predictions.

    Made by `Path.roc`. Entries are in the order of the cost; neighbours differ in a prediction.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (k,)
        Shares of the negative and of the positive points that are called positive.
    cost : ndarray of shape (k,)
        A cost that gives these predictions, ascending: the middle of `interval`.
    interval : ndarray of shape (k, 2)
        The costs between which the predictions are these. Of no width inside a jump, where several
        models are optimal at one cost: there `Path.predict` gives the end that the walk came from.
    hull : ndarray of shape (h, 2)
        The upper convex hull of all (fpr, tpr), from (0, 0) to (1, 1). A random choice between two
        models reaches any point of it.
    """

    fpr: Floats
    tpr: Floats
    cost: Floats
    interval: Floats
    hull: Floats

    @property
    def auc(self) -> float:
        """The area under the hull."""
        return float(np.trapezoid(self.hull[:, 1], self.hull[:, 0]))

    def __repr__(self) -> str:
        return f"<Roc: {len(self.cost)} models, {len(self.hull)} on the hull, area {self.auc:.4g}>"


def roc(
    blocks: Iterable[Segments], coordinate: Coordinate, positive: NDArray[np.bool_], weight: Floats
) -> Roc:
    """The ROC curve from f at points; f = 0 is called negative."""
    rows = []
    for block in blocks:
        j, s0, s1 = block.cut([np.zeros(len(positive))])
        called = block.at(j, 0.5 * (s0 + s1)) > 0
        shares = [
            called @ np.where(k, weight, 0.0) / weight[k].sum() for k in (~positive, positive)
        ]
        ends = [coordinate.to_value(block.u(j, s)) for s in (s0, s1)]
        rows.append(np.column_stack([np.minimum(*ends), np.maximum(*ends), *shares]))
    table = np.concatenate(rows)
    table = table[np.argsort(table[:, 0], kind="stable")]
    first = np.append(True, np.any(table[1:, 2:] != table[:-1, 2:], axis=1))
    last = np.append(first[1:], True)
    interval = np.column_stack([table[first, 0], table[last, 1]])
    fpr, tpr = table[first, 2], table[first, 3]
    return Roc(fpr, tpr, interval.mean(axis=1), interval, upper_hull(fpr, tpr))


def upper_hull(fpr: Floats, tpr: Floats) -> Floats:
    """The upper convex hull with the corners (0, 0) and (1, 1), from left to right."""
    points = np.unique(np.column_stack([np.append(fpr, [0, 1]), np.append(tpr, [0, 1])]), axis=0)
    hull: list[Floats] = []
    for p in points:
        while len(hull) > 1:
            a, b = hull[-1] - hull[-2], p - hull[-2]
            if a[0] * b[1] - a[1] * b[0] < 0:  # a turn to the right: the last point is on the hull
                break
            hull.pop()
        hull.append(p)
    return np.array(hull)


def crossings(blocks: Iterable[Segments], coordinate: Coordinate) -> NDArray[np.void]:
    """Where f falls while the parameter grows: for each point, the stretches and the drops."""
    values, fs = [], []
    for block in blocks:
        j = np.repeat(np.arange(len(block)), len(INSIDE))
        s = np.tile(INSIDE, len(block))
        values.append(coordinate.to_value(block.u(j, s)))
        fs.append(block.at(j, s))
    value, f = np.concatenate(values), np.concatenate(fs)
    order = np.argsort(value, kind="stable")
    value, f = value[order], f[order]
    step = np.diff(f, axis=0)
    # The place where two segments meet comes twice, with equal f: a fall goes on through it.
    falls = (step < 0) | ((step == 0) & (np.diff(value) == 0)[:, None])
    out = []
    for i in np.flatnonzero(falls.any(axis=0)):
        edge = np.diff(np.concatenate([[False], falls[:, i], [False]]).astype(int))
        for a, b in zip(np.flatnonzero(edge > 0), np.flatnonzero(edge < 0)):
            out.append((i, value[a], value[b], f[a, i] - f[b, i]))
    found = np.array(out, dtype=CROSSING)
    return found[found["drop"] > NO_DROP * np.abs(f).max(initial=0.0)]
