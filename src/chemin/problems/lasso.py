"""Lasso in lambda.

    min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda |b|_1

The constant is not penalised, so columns and target are centred; with G = X'X

    h = X'y - G b,      b_j on the staircase: tread -lambda, pin 0, tread +lambda.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate import EPS, FLOORS, TINY, Certificate, relative
from ..kernels import Coupling, DenseGram
from .base import Columns, Problem, Reading, Start
from .staircase import Floats, Ints, Staircases, StaircaseSystem

ZERO = 3  # column of the staircase table: the pin at 0


class Lasso(Problem):
    """Columns are brought to length one and the target too; a constant column never enters."""

    name = "lasso"
    has_kernel = False
    stair_names = ("negative", "zero", "positive")
    first_stair = ZERO - 1
    edge_name = "non-zero coefficients"
    criterion = "neg_mean_squared_error"
    per_row = True
    parameter = "lambda"

    def __init__(self, X: Floats, y: Floats, w: Floats, *, intercept: bool = True) -> None:
        self.intercept = intercept
        self.x_mean = np.average(X, axis=0, weights=w) if intercept else np.zeros(X.shape[1])
        self.y_mean = float(np.average(y, weights=w)) if intercept else 0.0
        self.root = np.sqrt(w)
        root = self.root[:, None]
        self.X, self.y = root * (X - self.x_mean), self.root * (y - self.y_mean)
        length = np.linalg.norm(self.X, axis=0)
        # A column that is constant but for round-off has no length of its own.
        noise = 8 * EPS * np.linalg.norm(root * X, axis=0)
        self.X[:, length <= noise] = 0.0
        self.length = np.where(length <= noise, 1.0, length)
        self.size = float(np.linalg.norm(self.y)) or 1.0
        p, top = X.shape[1], float(self.length.max())
        self.unit = top * self.size
        level = top / self.length
        self.system = StaircaseSystem(
            Coupling(DenseGram(self.X.T @ self.X), np.arange(p), 1 / self.length, np.empty((p, 0))),
            q=-self._correlation() / (self.length * self.size),
            r=np.zeros(p),
            stairs=Staircases.build(
                p, first="tread", stairs=[(0.0, -level), (0.0, 0.0), (0.0, level)]
            ),
            unit=(float(np.abs(self._correlation() / (self.length * self.size)).max()) or 1.0, 0.0),
        )

    def _correlation(self) -> Floats:
        """X'y, zero where it is only round-off."""
        product = self.X.T @ self.y
        noise = 8 * EPS * (np.abs(self.X).T @ np.abs(self.y))
        return np.where(np.abs(product) <= noise, 0.0, product)

    def start(self, value: float | None = None) -> Start:
        """All zero, just above the largest correlation."""
        p = len(self.length)
        largest = float(np.abs(self._correlation()).max()) / self.unit
        return Start(np.full(p, ZERO), np.zeros(p), 1.01 * largest or 1.0, highest=True)

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        coef = z * (self.size / self.length)[:, None]
        b = self.y_mean - self.x_mean @ coef
        lam = t * self.unit
        return Columns(lam, coef, b, np.tile(b, (2, 1)), coef, lam)

    @property
    def reading(self) -> Reading:
        """f = x'b + b0, with b0 = mean of y - (mean of x)'b."""
        factor = self.size / self.length
        rows = np.arange(len(factor))
        return Reading(rows, factor, -self.x_mean * factor, self.y_mean, inverse=False)

    def objective(self, c: Columns) -> Floats:
        r = self.y[:, None] - self.X @ c.coef + self.root[:, None] * self._off(c)
        return 0.5 * np.sum(r * r, axis=0) + c.lambda_ * np.abs(c.coef).sum(axis=0)

    def free(self, c: Columns) -> Any:
        return c.coef != 0

    def _off(self, c: Columns) -> Floats:
        """How far the intercept that a user holds is from the one that fits best."""
        return self.y_mean - self.x_mean @ c.coef - c.intercept

    def certificate(self, c: Columns) -> Certificate:
        """In units of correlation: columns and target of length one.

        P - D is taken at the dual point r, coefficient by coefficient; that r is feasible (no
        correlation beyond lambda) is what the violation measures. Columns are centred, so that the
        intercept does not enter their correlations: it is judged by itself, by the sum of r.
        """
        unit, b = self.length[:, None] * self.size, c.coef * self.length[:, None] / self.size
        pull = self.X.T @ (self.y[:, None] - self.X @ c.coef)
        s = b + pull / unit
        soft = np.sign(s) * np.maximum(0.0, np.abs(s) - c.lambda_ / unit)
        tied = np.abs(c.alpha - c.coef) / np.maximum(np.abs(c.coef).max(axis=0), TINY)
        violation = np.maximum(np.abs(b - soft).max(axis=0), tied.max(axis=0))
        gap = np.sum(c.lambda_ * np.abs(c.coef) - c.coef * pull, axis=0)
        parts = np.abs(self.X) @ np.abs(c.coef) + np.abs(self.y)[:, None]
        floor = EPS * (np.abs(self.X).T @ parts / unit).max(axis=0)
        if self.intercept:
            total, size = float(self.root @ self.root), np.maximum(self.root @ parts, TINY)
            # What has cancelled in the intercept is not known better than to its round-off.
            terms = np.abs(self.x_mean) @ np.abs(c.coef) + np.abs(self.y_mean)
            floor, excess = np.maximum(floor, EPS * total * terms / size), total * self._off(c)
            violation = np.maximum(violation, np.abs(excess) / size)
            told = np.abs(excess) > FLOORS * EPS * (total * terms + size)
            gap = gap + np.where(told, np.abs((c.intercept - self.y_mean) * excess), 0.0)
        else:
            violation = np.maximum(
                violation, np.linalg.norm(self.root) * np.abs(c.intercept) / self.size
            )
        return Certificate(violation, relative(gap, self.objective(c), 0.5 * self.size**2), floor)

    def spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept}
