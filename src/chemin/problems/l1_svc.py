"""L1-norm SVM in lambda, on linear features.

    min  sum_i w_i max(0, 1 - y_i (x_i'b + b0)) + lambda |b|_1

With lambda2 > 0 a ridge joins it, lambda2/2 |b|^2 (the doubly regularised SVM): A = X, R = I.
Without one solutions are constant in lambda, but for jumps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Columns, Parameter
from .machine import Rows
from .penalised import Penalised, hinge
from .staircase import Floats


class L1SVC(Penalised):
    """y in {-1, 1}; rows of weight 0 take no part."""

    name = "l1_svc"
    has_kernel = False
    parameters = {"lambda2": Parameter(0.0, "not negative")}

    def __init__(
        self, X: Floats, y: Floats, w: Floats, *, lambda2: float = 0.0, intercept: bool = True
    ) -> None:
        used = w > 0
        self.w, self.used, self.ridge, self.intercept = w, np.flatnonzero(used), lambda2, intercept
        self.parameter, self.lambda1, self.lambda2 = "lambda", 1.0, lambda2 or 1.0
        self.A, self.y, self.weight = np.ascontiguousarray(X[used]), y[used], w[used]
        self.R = np.eye(X.shape[1]) if lambda2 > 0 else None
        self.row_norm = np.linalg.norm(self.A, axis=1)
        self._set_up()

    def declare(self, y: Floats) -> Rows:
        return Rows(hinge(y), y[:, 0], self.constant(y[:, 0]))

    def column_scale(self) -> Floats:
        """What a column adds to correlations: a multiplier of one, or the ridge on what it asks."""
        largest = np.maximum(np.abs(self.A).max(axis=0), np.sqrt(self.ridge / self.weight.max()))
        return np.where(largest > 0, largest, 1.0)

    def lambdas(self, c: Columns) -> tuple[Floats, Floats]:
        return c.lambda_, c.given["lambda2"]

    def held(self, lambda1: Floats, lambda2: Floats) -> dict[str, Floats]:
        return {"lambda2": np.full_like(lambda1, self.ridge)}

    def show_alpha(self, alpha: Floats) -> Floats:
        out = np.zeros((len(self.w), alpha.shape[1]))
        out[self.used] = alpha
        return out

    def row_alpha(self, alpha: Floats) -> Floats:
        return alpha[self.used]

    @property
    def row_names(self) -> Any:
        return self.used

    @property
    def n_alpha(self) -> int:
        return len(self.w)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return {"intercept": True, "lambda2": 0.0}

    def spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "lambda2": self.ridge}
