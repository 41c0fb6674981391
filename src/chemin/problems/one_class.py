"""One-class SVM, in nu.

    min  1/2 |f|^2 - nu W rho + sum_i w_i max(0, rho - f(x_i)),    W = sum w,  b = -rho
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Parameter, Start
from .loss import Loss
from .machine import KernelMachine, Rows
from .staircase import Floats
from .terms import Term

# Residuals are measured by this part of what a mean multiplier adds to f: the objective is as small
# as nu squared.
SMALL = 1e-2


class OneClass(KernelMachine):
    """There is no target: y is not looked at. lambda is 1."""

    name = "one_class"
    target = "none"
    stair_names = ("inside", "boundary", "outside")
    edge_name = "on the boundary"
    criterion = "accuracy"
    parameters = {"nu": Parameter(1.0, "fraction")}  # noqa: RUF012
    along = ("nu",)

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        one = np.ones(len(y))
        loss = Loss(origin=np.zeros_like(y), offsets=(0.0,), slopes=(-1.0, 0.0))
        return Rows(loss, one, (Term("intercept", one, cost=given["nu"]),))

    def start(self, value: float | None = None) -> Start:
        """nu = 1: every multiplier is at its weight, and the highest point is the first to move."""
        box = self.w / self.z_unit
        f = self.gram @ box / self.scale
        stair = np.where(np.arange(len(f)) == np.argmax(f), 2, 3)
        return Start(np.append(stair, 2), np.append(box, -f.max()), 1.0, highest=True)

    def share(self, given: dict[str, Any]) -> Any:
        return given["nu"]

    def precision(self, given: dict[str, Any]) -> Any:
        return given["nu"] * (SMALL * float(self.w.mean()) / self.z_unit)

    def margin_unit(self, given: dict[str, Any]) -> Any:
        """What a mean multiplier adds to f at its own point."""
        return np.maximum(given["nu"] * (self.scale * self.w.mean()), np.finfo(float).tiny)
