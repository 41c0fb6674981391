"""Non-negative garrote in lambda.

    min  1/2 sum_i w_i (y_i - sum_j c_j a_j x_ij - b0)^2 + lambda sum_j c_j,      c_j >= 0

a is a first estimate: least squares, or ridge regression at a fixed penalty. In b_j = c_j a_j that
is a lasso with the prices 1/|a_j| and the signs of a.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Columns, Parameter
from .lasso import Centred, Lasso
from .staircase import Floats, Mask

# Estimates that differ by more than this: the smaller ones are round-off, and 0.
SPREAD = 1e13


class Garrote(Lasso):
    """`ridge` is the penalty of the first estimate, per row and on standardised columns."""

    name = "garrote"
    shares_products = False  # columns of first estimates that are 0 are left out
    edge_name = "non-zero coefficients"
    parameters = {"ridge": Parameter(0.0, "not negative")}

    def __init__(
        self, X: Floats, y: Floats, w: Floats, *, intercept: bool = True, ridge: float = 0.0
    ) -> None:
        self.ridge = ridge
        data = Centred(X, y, w, intercept)
        self.initial = first_estimate(data, ridge)
        out = self.initial == 0
        data.X[:, out], data.length = 0.0, np.where(out, 1.0, data.length)
        # The price of what can never enter is any number of the others' size.
        reach = data.length * np.abs(self.initial)
        reach[out] = reach[~out].max(initial=0.0) or 1.0
        side = np.where(self.initial < 0, -1.0, 1.0)
        self._declare(data, data.length / reach, True, side)

    def degrees_of_freedom(self, c: Columns, active: Mask) -> Floats:
        """Stein's, of least squares first: |A| + lambda sum_A (X_A'X_A)^-1_jj / a_j^2.

        On A the garrote solves X_A'(y - X_A b_A) = lambda / a_A, in which a moves with y too.
        """
        if self.ridge > 0:
            return super(Lasso, self).degrees_of_freedom(c, active)
        R = np.linalg.qr(self.X[:, active], mode="r")
        inverse = np.linalg.inv(R)
        steep = float(np.sum(np.sum(inverse**2, axis=1) / self.initial[active] ** 2))
        return np.count_nonzero(active) + c.lambda_ * steep + self.intercept

    def spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "ridge": self.ridge}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return {"intercept": True, "ridge": 0.0}


def first_estimate(data: Centred, ridge: float) -> Floats:
    """Least squares (the shortest of several, on columns of length one), or ridge regression.

    One SVD of the columns at length one: a = V s / (s^2 + ridge) U'y.
    """
    U, s, Vt = np.linalg.svd(data.X / data.length, full_matrices=False)
    noise = np.finfo(float).eps * max(data.X.shape) * s.max(initial=0.0)
    some = s > noise
    s, size = s[some], U[:, some].T @ data.y
    # Columns of length one are standardised ones over the root of n: a penalty per row is `ridge`.
    a = Vt[some].T @ (size * s / (s * s + ridge)) / data.length
    told = np.abs(a) * data.length
    return np.where(told * SPREAD > told.max(initial=0.0), a, 0.0)
