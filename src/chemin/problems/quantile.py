"""Kernel quantile regression, in lambda or in tau.

min  lambda/2 |f|^2 + sum_i w_i max(tau r_i, (tau - 1) r_i),      r_i = y_i - f(x_i) - b
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Parameter
from .loss import Loss
from .machine import KernelMachine, Rows
from .staircase import Floats


class Quantile(KernelMachine):
    name = "quantile"
    loss_name = "pinball loss"
    stair_names = ("below", "on the curve", "above")
    edge_name = "on the curve"
    parameters = {"tau": Parameter(0.5, "inside")}
    along = turns = ("lambda", "tau")

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side, tau = np.ones(len(y)), given["tau"]
        loss = Loss(origin=y, offsets=(0.0,), slopes=(-1.0 * tau, 1.0 - tau))
        return Rows(loss, side, self.constant(side))
