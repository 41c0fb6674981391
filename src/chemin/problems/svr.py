"""epsilon-SVR, in lambda or in epsilon.

min  lambda/2 |f|^2 + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Parameter, Turned
from .loss import Loss
from .machine import KernelMachine, Rows
from .staircase import Floats, Ints


class SVR(KernelMachine):
    name = "svr"
    loss_name = "epsilon-insensitive loss"
    stair_names = ("below", "lower edge", "within", "upper edge", "above")
    edge_name = "on the edge of the tube"
    criterion = "neg_mean_squared_error"
    parameters = {"epsilon": Parameter(0.1, "not negative", of_y=True)}
    along = ("lambda", "epsilon")
    turns = ("lambda", "epsilon", "nu")

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side, epsilon = np.ones(len(y)), given["epsilon"]
        loss = Loss(origin=y, offsets=(-1.0 * epsilon, epsilon), slopes=(-1.0, 0.0, 1.0))
        return Rows(loss, side, self.constant(side))

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        if parameter != "nu":
            return super().turned(parameter, stair, z, t)
        from .tubes import tube_to_share

        return tube_to_share(self, stair, z, t)
