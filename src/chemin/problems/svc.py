"""C-SVM, in lambda or in the cost of the two classes.

    min  lambda/2 |f|^2 + sum_i w_i a_i max(0, 1 - y_i (f(x_i) + b)),      C = 1/lambda

a_i = 2c for the positive class and 2(1 - c) for the negative one: 1 for both at c = 1/2.
"""

from __future__ import annotations

from typing import Any

from .base import Parameter
from .loss import Loss
from .machine import KernelMachine, Rows
from .staircase import Floats


class SVC(KernelMachine):
    """y in {-1, 1}; the cost c is the balance of the two classes."""

    name = "svc"
    loss_name = "hinge loss"
    target = "labels"
    stair_names = ("outside", "elbow", "inside")
    edge_name = "on the elbow"
    criterion = "accuracy"
    parameters = {"cost": Parameter(0.5, "inside")}
    along = turns = ("lambda", "cost")

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side, positive, c = y[:, 0], 0.5 * (y + 1.0), given["cost"]
        dear = 2.0 * (positive * c + (1.0 - positive) * (1.0 - c))
        loss = Loss(origin=1.0, offsets=(0.0,), slopes=(-1.0 * dear, 0.0))
        return Rows(loss, side, self.constant(side))
