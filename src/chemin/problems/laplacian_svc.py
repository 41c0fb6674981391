"""Sparse Laplacian SVM, in lambda1 or in lambda2 at a fixed rho = mu/lambda2.

    min  sum_labelled w_i max(0, 1 - y_i (f(x_i) + b0)) + lambda2/2 (|f|^2 + rho f'L f)
         + lambda1 |b|_1,                       f = sum_j b_j k(x_j, .) over all points

L is the Laplacian of a graph on all points: A = K[labelled], R = K + rho K L K.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import GraphGram
from .base import Columns, Parameter
from .machine import Rows
from .penalised import Penalised, hinge
from .staircase import Floats, Ints


class LaplacianSVC(Penalised):
    """y in {-1, 1}; a point whose weight is 0 has no label, and takes part all the same."""

    name = "laplacian_svc"
    edge_name = "active terms"
    on_graph = True
    parameters = {
        "lambda1": Parameter(0.1, "positive"),
        "lambda2": Parameter(0.01, "positive"),
        "rho": Parameter(100.0, "not negative"),
    }
    along = turns = ("lambda1", "lambda2")

    def __init__(
        self,
        K: GraphGram,
        y: Floats,
        w: Floats,
        *,
        along: str = "lambda1",
        lambda1: float = 0.1,
        lambda2: float = 0.01,
        rho: float = 100.0,
        intercept: bool = True,
    ) -> None:
        self.gram, self.w, self.signs, self.intercept = K, w, y, intercept
        self.parameter, self.lambda1, self.lambda2, self.rho = along, lambda1, lambda2, rho
        self.labelled = np.flatnonzero(w > 0)
        self.y, self.weight = y[self.labelled], w[self.labelled]
        self.A = np.ascontiguousarray(K.matrix[self.labelled])
        self.R = K.roughened(rho)
        self.row_norm = np.sqrt(np.maximum(K.diagonal()[self.labelled], 0.0))
        self._set_up()

    def declare(self, y: Floats) -> Rows:
        return Rows(hinge(y), y[:, 0], self.constant(y[:, 0]))

    def held(self, lambda1: Floats, lambda2: Floats) -> dict[str, Floats]:
        rho = np.full_like(lambda1, self.rho)
        return {"lambda1": lambda1, "lambda2": lambda2, "mu": rho * lambda2, "rho": rho}

    def _named(self, first: Floats, second: Floats) -> tuple[Floats, dict[str, Floats]]:
        return second, self.held(first, second)

    def lambdas(self, c: Columns) -> tuple[Floats, Floats]:
        """No numbers where what a user holds does not fit together, or has another rho."""
        rho, fits = c.given["rho"], c.given["lambda2"] == c.lambda_
        fits &= (rho == self.rho) & np.isclose(c.given["mu"], rho * c.lambda_)
        return c.given["lambda1"], np.where(fits, c.lambda_, np.nan)

    def show_alpha(self, alpha: Floats) -> Floats:
        out = np.zeros((len(self.w), alpha.shape[1]))
        out[self.labelled] = alpha
        return out

    def row_alpha(self, alpha: Floats) -> Floats:
        return alpha[self.labelled]

    @property
    def row_names(self) -> Ints:
        return self.labelled

    @property
    def n_alpha(self) -> int:
        return len(self.w)

    def _along(self, parameter: str, lambda1: float, lambda2: float) -> LaplacianSVC:
        spec = self.spec() | {"along": parameter, "lambda1": lambda1, "lambda2": lambda2}
        return LaplacianSVC(self.gram, self.signs, self.w, **spec)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        fixed = {"along": cls.along[0], "intercept": True}
        return fixed | {name: p.default for name, p in cls.parameters.items()}

    def spec(self) -> dict[str, Any]:
        fixed = {"along": self.parameter, "intercept": self.intercept}
        return fixed | {name: getattr(self, name) for name in self.parameters}
