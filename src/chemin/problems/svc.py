"""C-SVM in lambda.

    min  lambda/2 |f|^2 + sum_i w_i max(0, 1 - y_i (f(x_i) + b)),      C = 1/lambda

With alpha in [0, w], f = 1/lambda sum alpha_i y_i k(x_i, .) and b0 = lambda b:

    h_i = lambda - y_i (lambda f(x_i) + b0),   0 = sum alpha_i y_i,
    alpha_i on the staircase: pin 0, tread 0 (the elbow), pin w_i.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import LowRankGram, as_gram
from .base import (
    EPS,
    NEARLY_ZERO,
    Certificate,
    Columns,
    Problem,
    Reading,
    Start,
    bound_width,
    choose_intercept,
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

OUTSIDE, ELBOW, INSIDE = 1, 2, 3  # columns of the staircase table


class SVC(Problem):
    """y in {-1, +1}; K is never copied: units of K and w are carried by signs and by t."""

    name = "svc"
    stair_names = ("outside", "elbow", "inside")
    first_stair = OUTSIDE
    of_points = True
    parameter = "lambda"

    def __init__(
        self, K: Floats | LowRankGram, y: Floats, w: Floats, *, intercept: bool = True
    ) -> None:
        self.K, self.y, self.w, self.intercept = K, y, w, intercept
        n, scale, self.z_unit = len(y), float(K.diagonal().max()) or 1.0, float(w.max())
        self.unit = scale * self.z_unit
        box = Staircases.build(
            n, first="pin", stairs=[(0.0, 0.0), (0.0, 0.0), (w / self.z_unit, 0.0)]
        )
        edge = y[:, None] if intercept else np.empty((n, 0))
        self.system = StaircaseSystem(
            Coupling(as_gram(K), np.arange(n), y / np.sqrt(scale), edge),
            q=np.zeros(n + intercept),
            r=np.concatenate([-np.ones(n), np.zeros(int(intercept))]),
            stairs=Staircases.stack(box, endless_tread(int(intercept))),
            unit=(0.0, 1.0),
        )

    @property
    def start(self) -> Start:
        """All inside the margin; with an intercept, as many of each class as balance allows.

        Above the sum of sqrt(K_ii K_jj) w_j nothing changes any more: |K_ij| is never larger. The
        walk begins at twice that, so that it sees how the intercept moves there.
        """
        n, w = len(self.y), self.w / self.z_unit
        root = np.sqrt(np.maximum(self.K.diagonal(), 0.0) / (self.unit / self.z_unit))
        top = 2.0 * float(root.max() * (root @ w)) or 1.0
        stair, z = np.full(n, INSIDE), w.copy()
        if not self.intercept:
            return Start(stair, z, top, highest=True)
        balance = float(w @ self.y)
        many = np.flatnonzero(self.y == (1.0 if balance >= 0 else -1.0))
        room = w[many].sum() - abs(balance)  # what the larger class may carry
        filled = np.cumsum(w[many])
        k = min(int(np.searchsorted(filled, room * (1 - EPS))), len(many) - 1)
        stair[many[k]], stair[many[k + 1 :]] = ELBOW, OUTSIDE
        z[many[k]], z[many[k + 1 :]] = np.clip(room - filled[k] + w[many[k]], 0, w[many[k]]), 0.0
        return Start(np.append(stair, ELBOW), np.append(z, 0.0), top, highest=True)

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        n, lam = len(self.y), t * self.unit
        alpha = swept(z[:n] * self.z_unit, self._scale(lam), 0.0, self.w[:, None])
        coef = self.y[:, None] * alpha / lam
        if not self.intercept:
            b, interval = np.zeros(len(t)), np.zeros((2, len(t)))
        else:
            low, high = self._at_bounds(alpha)
            empty = np.all(low | high, axis=0)
            interval = np.tile(z[n] / t, (2, 1))
            if empty.any():
                part = taking_part(n, without, np.flatnonzero(empty))
                interval[:, empty] = self._interval(coef[:, empty], low[:, empty], part)
            b, interval = choose_intercept(z[n] / t, interval, empty)
        return Columns(lam, coef, b, interval, alpha, lam)

    def _scale(self, lam: Floats) -> Floats:
        """What multipliers are measured by: the largest weight, or lambda where that is less."""
        return self.z_unit * np.minimum(1.0, lam / self.unit)

    def _at_bounds(self, alpha: Floats) -> tuple[Any, Any]:
        near = bound_width(alpha, self.w, self.z_unit)
        return alpha <= near, alpha >= self.w[:, None] - near

    def _interval(self, coef: Floats, at_zero: Any, part: Any) -> Floats:
        """Intercepts with y (f + b) >= 1 where alpha = 0 and <= 1 where alpha = w."""
        low, high = self._edges(coef, at_zero)
        low, high = np.where(part, low, -np.inf), np.where(part, high, np.inf)
        return np.array([low.max(axis=0), high.min(axis=0)])

    def _edges(self, coef: Floats, at_zero: Any) -> tuple[Floats, Floats]:
        y = self.y[:, None]
        edge = y - self.K @ coef
        from_below = at_zero == (y > 0)
        return np.where(from_below, edge, -np.inf), np.where(from_below, np.inf, edge)

    def edges(self, c: Columns) -> list[tuple[float, Floats]]:
        low, high = self._edges(c.coef, self._at_bounds(c.alpha)[0])
        return [(0.5, low), (-0.5, -high)]

    @property
    def reading(self) -> Reading:
        """lambda f = sum y alpha k + b0."""
        return kernel_reading(self.y * self.z_unit, self.unit, 0.0, True, int(self.intercept))

    def objective(self, c: Columns) -> Floats:
        f = self.K @ c.coef
        margins = self.y[:, None] * (f + c.intercept)
        losses = self.w @ np.maximum(0.0, 1.0 - margins)
        return 0.5 * c.lambda_ * np.sum(c.coef * f, axis=0) + losses

    def certificate(self, c: Columns) -> Certificate:
        f = self.K @ c.coef
        y, w = self.y[:, None], self.w[:, None]
        slack = 1.0 - y * (f + c.intercept)
        natural = np.abs(c.alpha - np.clip(c.alpha + slack, 0.0, w)) / np.maximum(1.0, w)
        violation = natural.max(axis=0)
        if self.intercept:
            total = np.maximum(c.alpha.sum(axis=0), NEARLY_ZERO * self._scale(c.lambda_))
            violation = np.maximum(violation, np.abs(self.y @ c.alpha) / total)
        norm = 0.5 * c.lambda_ * np.sum(c.coef * f, axis=0)
        loss = np.maximum(0.0, slack)
        primal = norm + self.w @ loss
        dual = c.alpha.sum(axis=0) - norm
        # P - D, summed point by point so that nothing large cancels.
        gap = np.sum((w - c.alpha) * loss + c.alpha * np.maximum(0.0, -slack), axis=0)
        gap = gap - c.intercept * (self.y @ c.alpha)
        terms = self.system.coupling.gram.magnitude(c.coef)
        blur = edge_blur(slack, terms + np.abs(c.intercept) + 1.0, self.w)
        blur = blur + EPS * np.abs(c.intercept) * c.alpha.sum(axis=0)
        relative, noise = relative_gap(gap, primal, dual, float(self.w.sum()), blur)
        return Certificate(violation, relative, np.maximum(EPS * terms.max(axis=0), noise))

    def spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept}
