"""Elastic net in lambda1, at a fixed lambda2.

    min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda1 |b|_1 + lambda2/2 |b|^2

It is the lasso on more rows: with columns and target centred, sqrt(lambda2) I and zeros below them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..certificate import EPS, FLOORS, TINY, Certificate, relative
from .base import Columns, Parameter, Problem, Reading, Start
from .lasso import Lasso
from .staircase import Floats, Ints


class ElasticNet(Problem):
    """The lasso on more rows, and an intercept."""

    name = "elastic_net"
    has_kernel = False
    stair_names = Lasso.stair_names
    first_stair = Lasso.first_stair
    edge_name = Lasso.edge_name
    criterion = Lasso.criterion
    per_row, also_per_row = True, ("lambda2",)
    parameters = {"lambda2": Parameter(1.0, "not negative")}
    along = ("lambda1",)
    parameter = "lambda1"

    def __init__(
        self, X: Floats, y: Floats, w: Floats, *, lambda2: float = 1.0, intercept: bool = True
    ) -> None:
        self.intercept, self.lambda2, p = intercept, lambda2, X.shape[1]
        self.x_mean = np.average(X, axis=0, weights=w) if intercept else np.zeros(p)
        self.y_mean = float(np.average(y, weights=w)) if intercept else 0.0
        self.root = np.sqrt(w)
        root = self.root[:, None]
        self.X, self.y = root * (X - self.x_mean), self.root * (y - self.y_mean)
        rows = np.vstack([self.X, np.sqrt(lambda2) * np.eye(p)])
        target = np.concatenate([self.y, np.zeros(p)])
        self.lasso = Lasso(rows, target, np.ones(len(rows)), intercept=False)
        self.system, self.unit = self.lasso.system, self.lasso.unit

    def start(self, value: float | None = None) -> Start:
        return self.lasso.start(value)

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        c = self.lasso.columns(z, t)
        b = self.y_mean - self.x_mean @ c.coef
        given = {"lambda1": c.lambda_, "lambda2": np.full(len(t), self.lambda2)}
        return replace(c, intercept=b, interval=np.tile(b, (2, 1)), given=given)

    @property
    def reading(self) -> Reading:
        """f = x'b + b0, with b0 = mean of y - (mean of x)'b."""
        inner = self.lasso.reading
        return replace(inner, level=-self.x_mean * inner.factor, shift=self.y_mean)

    def objective(self, c: Columns) -> Floats:
        return self.lasso.objective(self._inner(c)) + 0.5 * float(self.root @ self.root) * (
            self._off(c) ** 2
        )

    def _inner(self, c: Columns) -> Columns:
        """The same coefficients without an intercept: the lasso has none."""
        fits = (c.given["lambda2"] == self.lambda2) & (c.given["lambda1"] == c.lambda_)
        lam = np.where(fits, c.lambda_, np.nan)
        return replace(c, intercept=np.zeros(len(c.intercept)), lambda_=lam)

    def _off(self, c: Columns) -> Floats:
        """How far the intercept that a user holds is from the one that fits best."""
        return c.intercept - (self.y_mean - self.x_mean @ c.coef)

    def free(self, c: Columns) -> Any:
        return c.coef != 0

    def certificate(self, c: Columns) -> Certificate:
        """That of the lasso on more rows; and the intercept, in units of the target."""
        judged, total = self.lasso.certificate(self._inner(c)), float(self.root @ self.root)
        size = max(float(np.linalg.norm(self.y)), TINY)
        off = np.sqrt(total) * np.abs(self._off(c)) / size
        terms = np.abs(self.x_mean) @ np.abs(c.coef) + np.abs(self.y_mean)
        known = EPS * np.sqrt(total) * terms / size
        gap = np.where(off > FLOORS * known, 0.5 * (off * size) ** 2, 0.0)
        more = relative(gap, self.objective(c), 0.5 * size**2)
        return Certificate(
            np.maximum(judged.kkt_violation, off),
            judged.relative_gap + more,
            np.maximum(judged.floor, known),
        )

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return {"intercept": True, "lambda2": cls.parameters["lambda2"].default}

    def spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "lambda2": self.lambda2}
