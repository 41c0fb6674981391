"""SVM with a loss that is quadratic near the margin, in lambda, rho or h.

    min  lambda/2 |f|^2 + 1/2 sum_i w_i L(y_i (f(x_i) + b))

    L(m) = 0 above rho, (rho - m)^2 on [rho - h, rho], 2 h (rho - m) - h^2 below

h infinite: the squared hinge. rho = 1 + eps, h = 2 eps: the Huber-type hinge. With the half in
front alpha_i = w_i (rho - m_i) on the slope.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Parameter
from .loss import Loss
from .machine import KernelMachine, Rows
from .staircase import Floats


class QuadraticSVC(KernelMachine):
    """y in {-1, 1}."""

    name = "quadratic_svc"
    loss_name = "quadratic hinge loss"
    target = "labels"
    stair_names = ("outside", "slope", "inside")
    edge_name = "on the slope"
    criterion = "accuracy"
    parameters = {"rho": Parameter(1.0, "positive"), "h": Parameter(np.inf, "up to infinity")}
    turns = ("lambda", "rho", "h")

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side, rho, h = y[:, 0], given["rho"], given["h"]
        slopes = (-1.0 * h, 0.0)
        loss = Loss(origin=1.0, offsets=(rho - 1.0,), slopes=slopes, softness=1.0)
        return Rows(loss, side, self.constant(side))
