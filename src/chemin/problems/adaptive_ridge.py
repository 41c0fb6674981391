"""Adaptive ridge regression in mu, from one path of the lasso.

    min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + 1/2 sum_j lambda_j b_j^2

over b and over the penalties lambda_j, with 1/mu the mean of 1/lambda_j. The best penalties for a
given b are lambda_j = mu |b|_1 / (M |b_j|), which leaves

    min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + mu/(2 M) |b|_1^2

a lasso at lambda = (mu/M) |b|_1. On a piece of its path |b|_1 is affine in lambda, so b is a ratio
of two affine functions of mu: one pole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..certificate import TINY, Certificate
from ..kernels import Gram
from .base import Columns
from .lasso import Lasso
from .machine import TOLD
from .staircase import Floats, Ints, Mask


class AdaptiveRidge(Lasso):
    """The system is that of the lasso; t = mu / (M times the largest squared column length)."""

    name = "adaptive_ridge"
    closed = True
    parameter = "mu"

    def __init__(
        self,
        X: Floats,
        y: Floats,
        w: Floats,
        *,
        intercept: bool = True,
        standardize: bool = False,
        gram: Gram | None = None,
    ) -> None:
        # A shallow copy: the arrays of the two problems are the same.
        super().__init__(X, y, w, intercept=intercept, standardize=standardize, gram=gram)
        self.lasso, self.count = Lasso.__new__(Lasso), len(self.price)
        vars(self.lasso).update({k: v for k, v in vars(self).items() if k != "lasso"})
        # With lambda in units of |x| |y| and b in units of |y| / |x|.
        self.unit = self.count * (self.unit / self.size) ** 2

    def norm(self, coef: Floats) -> Floats:
        """|b|_1, of standardised columns where those are asked for."""
        return np.asarray(self.price @ np.abs(coef))

    def _dust(self, z: Floats, coef: Floats) -> Mask:
        """By their part of |b|_1, too: that of a short column may be most of it."""
        size = self.price[:, None] * np.abs(coef)
        return np.asarray(super()._dust(z, coef) & (size <= TOLD * size.max(axis=0)))

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        c, mu = super().columns(z, t), t * self.unit
        lam = mu / self.count * self.norm(c.coef)
        return replace(c, value=mu, lambda_=lam, given={"mu": mu})

    def objective(self, c: Columns) -> Floats:
        """Half of lambda |b|_1 is what the lasso's objective has too much."""
        return super().objective(c) - 0.5 * c.lambda_ * self.norm(c.coef)

    def certificate(self, c: Columns) -> Certificate:
        """That of the lasso at (mu/M) |b|_1, and whether lambda is that."""
        norm = self.norm(c.coef)
        lam = c.given["mu"] / self.count * norm
        judged = super().certificate(replace(c, lambda_=lam))
        off = np.abs(c.lambda_ - lam) / np.maximum(np.maximum(lam, c.lambda_), TINY)
        return replace(judged, kkt_violation=np.maximum(judged.kkt_violation, off))

    def penalties(self, coef: Floats, mu: float) -> Floats:
        """lambda_j = mu |b|_1 / (M |b_j|); infinite for coefficients that are 0."""
        b = self.price * np.abs(coef)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(b > 0, mu * b.sum() / (self.count * b), np.inf)

    def degrees_of_freedom(self, c: Columns, active: Mask) -> Floats:
        """The trace of X_A (X_A'X_A + k ss')^-1 X_A', k = mu/M, s = prices and signs of b_A:

        |A| - k q / (1 + k q),      q = s'(X_A'X_A)^-1 s
        """
        if not active.any():
            return np.full(len(c.lambda_), float(self.intercept))
        R = np.linalg.qr(self.X[:, active], mode="r")
        middle = c.coef[active, c.coef.shape[1] // 2]
        s = np.linalg.solve(np.transpose(R), self.price[active] * np.sign(middle))
        k = c.given["mu"] / self.count * float(s @ s)
        return np.count_nonzero(active) - k / (1 + k) + self.intercept

    def spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "standardize": self.standardize}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return {"intercept": True, "standardize": False}
