"""One-class SVM, in nu.

    min  1/2 |f|^2 - nu W rho + sum_i w_i max(0, rho - f(x_i)),    W = sum w,  b = -rho

With alpha in [0, w] and f = sum alpha_i k(x_i, .):

    h_i = rho - f(x_i),   nu W = sum alpha_i,
    alpha_i on the staircase: pin 0, tread 0 (the boundary), pin w_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import LowRankGram, as_gram
from .base import (
    EPS,
    Certificate,
    Columns,
    Problem,
    Reading,
    Start,
    bound_width,
    edge_blur,
    kernel_reading,
    relative_gap,
    swept,
    taking_part,
)
from .staircase import (
    Coupling,
    Floats,
    Ints,
    Staircases,
    StaircaseSystem,
    endless_tread,
)

SMALL = 1e-2  # part of a mean multiplier
INSIDE, BOUNDARY, OUTSIDE = 1, 2, 3  # columns of the staircase table


class OneClass(Problem):
    """There is no target: y is not looked at. K is never copied."""

    name = "one_class"
    stair_names = ("inside", "boundary", "outside")
    first_stair = INSIDE
    of_points = True
    parameter = "nu"
    unit = 1.0
    highest_value = 1.0

    def __init__(self, K: Floats | LowRankGram, y: Floats, w: Floats) -> None:
        self.K, self.w = K, w
        n, self.scale, self.z_unit = len(w), float(K.diagonal().max()) or 1.0, float(w.max())
        self.box = w / self.z_unit
        self.system = StaircaseSystem(
            Coupling(as_gram(K), np.arange(n), np.full(n, self.scale**-0.5), -np.ones((n, 1))),
            q=np.zeros(n + 1),
            r=np.append(np.zeros(n), -self.box.sum()),
            stairs=Staircases.stack(
                Staircases.build(n, first="pin", stairs=[(0.0, 0.0), (0.0, 0.0), (self.box, 0.0)]),
                endless_tread(),
            ),
            # There is no linear term but nu W: residuals are measured by what a small part of a
            # mean multiplier adds to f, for the objective is as small as nu squared.
            unit=(0.0, SMALL * float(self.box.mean())),
        )

    @property
    def start(self) -> Start:
        """nu = 1: every multiplier is at its weight, and the highest point is the first to move."""
        f = self.K @ self.box / self.scale
        stair = np.full(len(f), OUTSIDE)
        stair[np.argmax(f)] = BOUNDARY
        z = np.append(self.box, f.max())
        return Start(np.append(stair, BOUNDARY), z, 1.0, highest=True)

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        n = len(self.w)
        alpha = swept(z[:n] * self.z_unit, t * self.w.mean(), 0.0, self.w[:, None])
        rho = swept(
            z[n] * self.scale * self.z_unit, self.scale * t * self.w.mean(), -np.inf, np.inf
        )
        near = bound_width(alpha, self.w, self.z_unit)
        full = alpha >= self.w[:, None] - near
        empty = np.flatnonzero(np.all(full | (alpha <= near), axis=0))
        interval = np.tile(rho, (2, 1))
        if empty.size:
            f = self.K @ alpha[:, empty]
            part = taking_part(n, without, empty)
            low = np.where(full[:, empty] & part, f, -np.inf).max(axis=0)
            high = np.where(full[:, empty] | ~part, np.inf, f).min(axis=0)
            ok = np.isfinite(low) & np.isfinite(high) & (low <= high)
            interval[:, empty] = np.where(ok, [low, high], rho[empty])
        one = np.ones(len(t))
        return Columns(t, alpha, -interval.mean(axis=0), -interval[::-1], alpha, one, nu=t)

    def edges(self, c: Columns) -> list[tuple[float, Floats]]:
        """-rho is the middle of what the points at their weights and those at zero leave."""
        f = self.K @ c.alpha
        full = c.alpha >= self.w[:, None] - bound_width(c.alpha, self.w, self.z_unit)
        return [(-0.5, np.where(full, f, -np.inf)), (0.5, np.where(full, -np.inf, -f))]

    @property
    def reading(self) -> Reading:
        """f = sum alpha k - rho."""
        factor = np.full(len(self.w), self.z_unit)
        return kernel_reading(factor, -self.scale * self.z_unit, 0.0, False, 1)

    def without(self, i: int, t: float) -> Floats:
        """nu W goes to nu (W - w_i)."""
        e = np.zeros(len(self.system))
        e[-1] = t * self.box[i]
        return e

    def objective(self, c: Columns) -> Floats:
        assert c.nu is not None
        f = self.K @ c.alpha
        losses = self.w @ np.maximum(0.0, -c.intercept - f)
        return 0.5 * np.sum(c.alpha * f, axis=0) + c.nu * self.w.sum() * c.intercept + losses

    def certificate(self, c: Columns) -> Certificate:
        """In units of the mean multiplier, and of what it alone adds to f at its own point."""
        assert c.nu is not None
        f, w = self.K @ c.alpha, self.w[:, None]
        slack = -c.intercept - f
        unit = np.maximum(c.nu * self.w.mean(), np.finfo(np.float64).tiny)
        a, box = c.alpha / unit, w / unit
        natural = np.abs(a - np.clip(a + slack / (self.scale * unit), 0.0, box))
        violation = np.max(natural / np.maximum(1.0, a), axis=0)
        total, share = c.alpha.sum(axis=0), c.nu * self.w.sum()
        violation = np.maximum(violation, np.abs(total - share) / np.maximum(share, EPS))
        loss = np.maximum(0.0, slack)
        dual = -0.5 * np.sum(c.alpha * f, axis=0)
        # P - D, summed point by point so that nothing large cancels.
        gap = np.sum((w - c.alpha) * loss + c.alpha * (loss - slack), axis=0)
        gap = gap - c.intercept * (total - share)
        terms = self.system.coupling.gram.magnitude(c.alpha)
        blur = edge_blur(slack, terms + np.abs(c.intercept), self.w)
        blur = blur + EPS * np.abs(c.intercept) * total
        # As if the points had nothing in common and all the same share.
        alone = 0.5 * c.nu**2 * float(self.w**2 @ self.K.diagonal())
        relative, noise = relative_gap(gap, self.objective(c), dual, alone, blur)
        floor = np.maximum(EPS * terms.max(axis=0) / (self.scale * unit), noise)
        return Certificate(violation, relative, floor)

    def spec(self) -> dict[str, Any]:
        return {}
