"""Ridge regression in lambda, in closed form.

    min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda/2 sum_j price_j^2 b_j^2

With X = U S V' (columns centred, and divided by their prices) the coefficients are

    price_j b_j = sum_k V_jk s_k (u_k'y) / (s_k^2 + lambda)

one pole for each singular value. As a staircase system: (X'X + lambda) b = X'y, treads that rise
with lambda b and never end; nothing happens on it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..certificate import EPS, FLOORS, TINY, Certificate, relative
from ..kernels import Coupling, DenseGram, LowRankGram
from .base import Columns, Problem, Reading, Start
from .lasso import Centred
from .staircase import Floats, Ints, Mask, StaircaseSystem, endless_tread

ALL, NONE = 1e3, 1e-6  # of the largest squared singular value: where a path starts and stops


class Ridge(Problem):
    """z = price b s_1 / |y|, and t = lambda / s_1^2, s_1 the largest singular value."""

    name = "ridge"
    has_kernel = False
    closed = True
    stair_names = ("free",)
    first_stair = 2
    edge_name = "non-zero coefficients"
    criterion = "neg_mean_squared_error"
    per_row = True
    parameter = "lambda"

    def __init__(
        self,
        X: Floats,
        y: Floats,
        w: Floats,
        *,
        intercept: bool = True,
        standardize: bool = False,
    ) -> None:
        data = Centred(X, y, w, intercept)
        self.intercept, self.standardize = intercept, standardize
        self.x_mean, self.y_mean, self.root = data.x_mean, data.y_mean, data.root
        self.price = data.deviation if standardize else np.ones(X.shape[1])
        self.X, self.y, self.size = data.X / self.price, data.y, data.size
        U, s, Vt = np.linalg.svd(self.X, full_matrices=False)
        top = float(s[0]) if s[0] > 0 else 1.0
        some = s > EPS * max(self.X.shape) * top
        self.s, self.V, self.image = s[some] / top, Vt[some].T, U[:, some].T @ self.y / self.size
        self.V = np.where(data.constant[:, None], 0.0, self.V)  # no round-off of them
        self.top, self.unit = top, top * top

    @property
    def default_ends(self) -> tuple[float, float]:
        """Of t: where hardly anything is left of b, and where hardly anything is shrunk."""
        return ALL, NONE

    @cached_property
    def system(self) -> StaircaseSystem:  # type: ignore[override]
        p = self.X.shape[1]
        wide = p > len(self.X)
        gram = LowRankGram(self.X.T.copy()) if wide else DenseGram(self.X.T @ self.X)
        q = -(self.X.T @ self.y) / (self.top * self.size)
        return StaircaseSystem(
            Coupling(gram, np.arange(p), np.full(p, 1 / self.top), np.empty((p, 0))),
            q=q,
            r=np.zeros(p),
            stairs=endless_tread(p),
            unit=(float(np.abs(q).max()) or 1.0, 0.0),
            soft=np.ones(p),
        )

    def start(self, value: float | None = None) -> Start:
        p, t = self.X.shape[1], ALL if value is None else value / self.unit
        return Start(np.full(p, 2), self.V @ (self.s * self.image / (self.s**2 + t)), t)

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        coef = z * (self.size / (self.top * self.price))[:, None]
        b = self.y_mean - self.x_mean @ coef
        lam = t * self.unit
        return Columns(lam, coef, b, np.tile(b, (2, 1)), coef, lam)

    @property
    def reading(self) -> Reading:
        """f = x'b + b0, with b0 = mean of y - (mean of x)'b."""
        factor = self.size / (self.top * self.price)
        rows = np.arange(len(factor))
        return Reading(rows, factor, -self.x_mean * factor, self.y_mean, inverse=False)

    def objective(self, c: Columns) -> Floats:
        r, b = self._residuals(c), self.price[:, None] * c.coef
        return 0.5 * np.sum(r * r, axis=0) + 0.5 * c.lambda_ * np.sum(b * b, axis=0)

    def _residuals(self, c: Columns) -> Floats:
        off = self.y_mean - self.x_mean @ c.coef - c.intercept
        fit = self.X @ (self.price[:, None] * c.coef)
        return self.y[:, None] - fit + self.root[:, None] * off

    def free(self, c: Columns) -> Any:
        return c.coef != 0

    def degrees_of_freedom(self, c: Columns, active: Mask) -> Floats:
        """The trace of the hat matrix: sum_k s_k^2 / (s_k^2 + lambda)."""
        square = (self.s * self.top)[:, None] ** 2
        return np.sum(square / (square + c.lambda_), axis=0) + self.intercept

    def certificate(self, c: Columns) -> Certificate:
        """In units of correlation: X'r = lambda b. The gap is |X'r - lambda b|^2 / (2 lambda)."""
        b, unit = self.price[:, None] * c.coef, self.top * self.size
        off = self.X.T @ (self.y[:, None] - self.X @ b) - c.lambda_ * b
        tied = np.abs(c.alpha - c.coef) / np.maximum(np.abs(c.coef).max(axis=0), TINY)
        violation = np.maximum(np.abs(off).max(axis=0) / unit, tied.max(axis=0))
        parts = np.abs(self.X) @ np.abs(b) + np.abs(self.y)[:, None]
        floor = EPS * (np.abs(self.X).T @ parts / unit).max(axis=0)
        square = np.sum(off * off, axis=0)
        told = np.sqrt(square) > FLOORS * np.maximum(EPS, floor) * unit
        gap = np.where(told, square / np.maximum(2 * c.lambda_, TINY), 0.0)
        # The intercept is judged by the sum of residuals, as that of the lasso is.
        total = float(self.root @ self.root)
        terms = np.abs(self.x_mean) @ np.abs(c.coef) + np.abs(self.y_mean)
        fits = self.y_mean - self.x_mean @ c.coef if self.intercept else np.zeros(len(c.lambda_))
        size = np.maximum(self.root @ parts, TINY)
        floor = np.maximum(floor, EPS * total * terms / size)
        violation = np.maximum(violation, total * np.abs(c.intercept - fits) / size)
        return Certificate(violation, relative(gap, self.objective(c), 0.5 * self.size**2), floor)

    def spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "standardize": self.standardize}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return {"intercept": True, "standardize": False}
