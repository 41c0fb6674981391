"""Regression with losses that are quadratic near the target, in lambda.

    min  lambda/2 |f|^2 + 1/2 sum_i w_i L(r_i),      r_i = y_i - f(x_i) - b

    quadratic SVR     L(r) = u^2 with u = max(0, |r| - epsilon), and 2 h u - h^2 where u > h
    expectile         L(r) = tau r^2 where r > 0, (1 - tau) r^2 where r < 0
    kernel ridge      L(r) = r^2

With the half in front alpha_i = w_i r_i for kernel ridge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Parameter
from .loss import Loss
from .machine import KernelMachine, Rows
from .staircase import Floats, Ints


class QuadraticSVR(KernelMachine):
    """h infinite: squared errors beyond the tube; epsilon = 0: Huber's loss."""

    name = "quadratic_svr"
    loss_name = "quadratic tube loss"
    stair_names = ("below", "lower slope", "within", "upper slope", "above")
    edge_name = "on the slopes"
    criterion = "neg_mean_squared_error"
    parameters = {
        "epsilon": Parameter(0.1, "not negative", of_y=True),
        "h": Parameter(np.inf, "up to infinity", of_y=True),
    }
    turns = ("lambda", "epsilon", "h")

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side, epsilon, h = np.ones(len(y)), given["epsilon"], given["h"]
        slopes = (-1.0 * h, 0.0, 1.0 * h)
        loss = Loss(origin=y, offsets=(-1.0 * epsilon, epsilon), slopes=slopes, softness=1.0)
        return Rows(loss, side, self.constant(side))


class Expectile(KernelMachine):
    """Two rows a point, since its two sides bend differently: above f, and below it."""

    name = "expectile"
    loss_name = "asymmetric squared loss"
    stair_names = ("below", "on the curve", "above")
    edge_name = "off the curve"
    parameters = {"tau": Parameter(0.5, "inside")}
    turns = ("lambda",)

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side, tau = np.repeat([1.0, -1.0], len(y)), given["tau"]
        softness = np.where(side[:, None] > 0, 1.0 / tau, 1.0 / (1.0 - tau))
        loss = Loss(np.vstack([y, -y]), (0.0,), slopes=(-np.inf, 0.0), softness=softness)
        return Rows(loss, side, self.constant(side))

    def name_stairs(self, variable: Ints, stair: Ints) -> Ints:
        """A row that pulls names its side; one that does not leaves the point on the curve."""
        side = np.where(variable < len(self.y), 1, -1)
        return 1 + np.where(stair == 2, side, 0)


class KernelRidge(KernelMachine):
    """One ramp without ends: nothing ever happens."""

    name = "kernel_ridge"
    loss_name = "half squared error"
    stair_names = ("below", "on the ramp", "above")
    edge_name = "off the curve"
    criterion = "neg_mean_squared_error"

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side = np.ones(len(y))
        loss = Loss(origin=y, offsets=(0.0,), slopes=(-np.inf, np.inf), softness=1.0)
        return Rows(loss, side, self.constant(side))
