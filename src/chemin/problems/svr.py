"""epsilon-SVR, in lambda or in epsilon.

    min  lambda/2 |f|^2 + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon)

With beta in [-w, w], f = 1/lambda sum beta_i k(x_i, .) and b0 = lambda b:

    h_i = lambda (y_i - f(x_i)) - b0,   0 = sum beta_i,
    beta_i on the staircase: pin -w, tread -lambda epsilon, pin 0, tread +lambda epsilon, pin w.
"""

from __future__ import annotations

from typing import Any, Literal

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
    Turned,
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

BELOW, LOWER, WITHIN, UPPER, ABOVE = 1, 2, 3, 4, 5  # columns of the staircase table


class SVR(Problem):
    """The target is centred (with an intercept) and scaled; K is never copied."""

    name = "svr"
    stair_names = ("below", "lower edge", "within", "upper edge", "above")
    first_stair = BELOW
    of_points = True
    turns = ("lambda", "epsilon", "nu")

    def __init__(
        self,
        K: Floats | LowRankGram,
        y: Floats,
        w: Floats,
        *,
        along: Literal["lambda", "epsilon"] = "lambda",
        epsilon: float = 0.1,
        lambda_: float = 1.0,
        intercept: bool = True,
    ) -> None:
        self.K, self.y, self.w, self.intercept = K, y, w, intercept
        self.parameter, self.epsilon, self.lambda_ = along, epsilon, lambda_
        n, scale, self.z_unit = len(y), float(K.diagonal().max()) or 1.0, float(w.max())
        mean = np.average(y, weights=w)
        self.shift = float(mean) if intercept else 0.0
        self.sd = float(np.sqrt(np.average((y - mean) ** 2, weights=w)))
        self.u = (y - self.shift) / self.sd
        force = scale * self.z_unit / self.sd  # lambda = force * t
        if along == "lambda":
            self.unit, pull, tube = force, 1.0, (0.0, epsilon / self.sd)
        else:
            self.unit, pull, tube = self.sd, lambda_ / force, (0.0, lambda_ / force)
        box = w / self.z_unit
        edge = (-tube[0], -tube[1])
        ones = np.ones((n, int(intercept)))
        target = np.concatenate([-pull * self.u, np.zeros(int(intercept))])
        moves = along == "lambda"
        self.system = StaircaseSystem(
            Coupling(as_gram(K), np.arange(n), np.full(n, 1.0 / np.sqrt(scale)), ones),
            q=np.zeros_like(target) if moves else target,
            r=target if moves else np.zeros_like(target),
            stairs=Staircases.stack(
                Staircases.build(
                    n, first="pin", stairs=[(-box, 0.0), edge, (0.0, 0.0), tube, (box, 0.0)]
                ),
                endless_tread(int(intercept)),
            ),
            unit=(0.0, 1.0) if moves else (pull, 0.0),
        )

    @property
    def start(self) -> Start:
        """Large lambda: f is constant, and points outside the tube around the median are pinned.

        Large epsilon: everything lies within the tube.
        """
        w = self.w / self.z_unit
        epsilon = self.epsilon / self.sd
        if self.parameter == "epsilon":
            t = epsilon = 2.0 * float(np.abs(self.u).max())
        else:
            # Where the kernel part could move f by no more than a standard deviation.
            scale = self.unit / self.z_unit * self.sd
            root = np.sqrt(np.maximum(self.K.diagonal(), 0.0) / scale)
            t = float(root.max() * (root @ w)) or 1.0
        if not self.intercept:
            b = 0.0
        else:
            order = np.argsort(self.u)
            half = np.searchsorted(np.cumsum(w[order]), 0.5 * w.sum())
            b = float(self.u[order[half]])
        off = self.u - b
        stair = np.where(off > epsilon, ABOVE, np.where(off < -epsilon, BELOW, WITHIN))
        z = np.where(off > epsilon, w, np.where(off < -epsilon, -w, 0.0))
        if not self.intercept:
            return Start(stair, z, t)
        # One point stands on the edge of the tube, so that the intercept is fixed.
        k = int(np.argmin(np.abs(np.abs(off) - epsilon)))
        up = off[k] >= 0
        stair[k], z[k] = (UPPER, 0.5 * w[k]) if up else (LOWER, -0.5 * w[k])
        return Start(np.append(stair, 2), np.append(z, 0.0), t)

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        n = len(self.y)
        along = self.parameter == "lambda"
        lam = t * self.unit if along else np.full(len(t), self.lambda_)
        eps = np.full(len(t), self.epsilon) if along else t * self.unit
        alpha = swept(z[:n] * self.z_unit, self._scale(lam), -self.w[:, None], self.w[:, None])
        coef = alpha / lam
        if not self.intercept:
            b, interval = np.zeros(len(t)), np.zeros((2, len(t)))
        else:
            # b0 = lambda b in the engine's units
            scale = float(self.K.diagonal().max()) or 1.0
            traced = z[n] * scale * self.z_unit / lam + self.shift
            empty = np.all(self._pinned(alpha), axis=0)
            interval = np.tile(traced, (2, 1))
            if empty.any():
                part = taking_part(n, without, np.flatnonzero(empty))
                some = (coef[:, empty], alpha[:, empty], eps[empty], part)
                interval[:, empty] = self._interval(*some)
            b, interval = choose_intercept(traced, interval, empty)
        return Columns(lam if along else eps, coef, b, interval, alpha, lam, eps)

    def _scale(self, lam: Floats) -> Floats:
        """What multipliers are measured by: the largest weight, or lambda where that is less."""
        scale = float(self.K.diagonal().max()) or 1.0
        return np.minimum(self.z_unit, lam * self.sd / scale)

    def _pinned(self, alpha: Floats) -> Any:
        near, size = bound_width(alpha, self.w, self.z_unit), np.abs(alpha)
        return (size <= near) | (size >= self.w[:, None] - near)

    def _interval(self, coef: Floats, alpha: Floats, eps: Floats, part: Any) -> Floats:
        """Intercepts that keep every point on its side of the tube."""
        low, high = self._edges(coef, alpha, eps)
        low, high = np.where(part, low, -np.inf), np.where(part, high, np.inf)
        return np.array([low.max(axis=0), high.min(axis=0)])

    def _edges(self, coef: Floats, alpha: Floats, eps: Floats) -> tuple[Floats, Floats]:
        near = bound_width(alpha, self.w, self.z_unit)
        r = self.y[:, None] - self.K @ coef
        low = np.where(alpha < -near, r + eps, np.where(alpha > near, -np.inf, r - eps))
        high = np.where(alpha > near, r - eps, np.where(alpha < -near, np.inf, r + eps))
        return low, high

    def edges(self, c: Columns) -> list[tuple[float, Floats]]:
        assert c.epsilon is not None
        low, high = self._edges(c.coef, c.alpha, c.epsilon)
        return [(0.5, low), (-0.5, -high)]

    @property
    def reading(self) -> Reading:
        """lambda f = sum beta k + b0, lambda (the shift of y)."""
        inverse = self.parameter == "lambda"
        s = 1.0 if inverse else self.lambda_
        level = (float(self.K.diagonal().max()) or 1.0) * self.z_unit
        factor = np.full(len(self.y), self.z_unit / s)
        return kernel_reading(factor, level / s, self.shift, inverse, int(self.intercept))

    def _parts(self, c: Columns) -> tuple[Floats, Floats, Floats]:
        """Residuals, |f|^2 lambda/2 and the sum of losses."""
        f = self.K @ c.coef
        r = self.y[:, None] - f - c.intercept
        losses = self.w @ np.maximum(0.0, np.abs(r) - c.epsilon)
        return r, 0.5 * c.lambda_ * np.sum(c.coef * f, axis=0), losses

    def objective(self, c: Columns) -> Floats:
        _, norm, losses = self._parts(c)
        return norm + losses

    def certificate(self, c: Columns) -> Certificate:
        r, norm, losses = self._parts(c)
        w = self.w[:, None]
        assert c.epsilon is not None
        s = c.alpha + r / self.sd
        soft = np.sign(s) * np.maximum(0.0, np.abs(s) - c.epsilon / self.sd)
        violation = np.max(np.abs(c.alpha - np.clip(soft, -w, w)) / np.maximum(1.0, w), axis=0)
        size = np.abs(c.alpha).sum(axis=0)
        if self.intercept:
            total = np.maximum(size, NEARLY_ZERO * self._scale(c.lambda_))
            violation = np.maximum(violation, np.abs(c.alpha.sum(axis=0)) / total)
        # The shift costs nothing in exact arithmetic (sum beta = 0) and saves digits in this one.
        dual = (self.y - self.shift) @ c.alpha - c.epsilon * size - norm
        # P - D, summed point by point so that nothing large cancels.
        loss = np.maximum(0.0, np.abs(r) - c.epsilon)
        inner = np.sign(c.alpha) * r - c.epsilon
        size = np.abs(c.alpha)
        gap = np.sum((w - size) * loss + size * (loss - inner), axis=0)
        gap = gap - (c.intercept - self.shift) * c.alpha.sum(axis=0)
        terms = self.system.coupling.gram.magnitude(c.coef)
        sizes = terms + np.abs(c.intercept) + np.abs(self.y)[:, None]
        blur = edge_blur(np.abs(r) - c.epsilon, sizes, self.w)
        zero = float(self.w @ np.abs(self.y - self.shift))
        blur = blur + EPS * np.abs(c.intercept) * size.sum(axis=0)
        relative, noise = relative_gap(gap, norm + losses, dual, zero, blur)
        floor = np.maximum(EPS * terms.max(axis=0) / self.sd, noise)
        return Certificate(violation, relative, floor)

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        """In lambda and epsilon every stair and every variable is the same; nu has its own."""
        moves = self.parameter == "lambda"
        lam = t * self.unit if moves else self.lambda_
        eps = self.epsilon if moves else t * self.unit
        if parameter == "nu":
            from .nu_svr import from_tube

            return from_tube(self, stair, z, lam, eps)
        spec = self.spec() | {"along": parameter, "epsilon": eps, "lambda_": lam}
        return Turned("svr", spec, stair, z, lam if parameter == "lambda" else eps)

    def spec(self) -> dict[str, Any]:
        return {
            "along": self.parameter,
            "epsilon": self.epsilon,
            "lambda_": self.lambda_,
            "intercept": self.intercept,
        }
