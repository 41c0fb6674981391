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


class OneClass(KernelMachine):
    name = "one_class"
    target = "none"
    free_intercept = False
    stair_names = ("inside", "boundary", "outside")
    edge_name = "on the boundary"
    criterion = "accuracy"
    parameters = {"nu": Parameter(1.0, "fraction")}
    along = ("nu",)

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        one = np.ones(len(y))
        loss = Loss(origin=0.0, offsets=(0.0,), slopes=(-1.0, 0.0))
        return Rows(loss, one, (Term("intercept", one, cost=given["nu"]),))

    def start(self, value: float | None = None) -> Start:
        """nu = 1: every multiplier is at its weight, and the highest point is the first to move."""
        box = self.w / self.z_unit
        f = self.walked @ box / self.scale
        stair = np.where(np.arange(len(f)) == np.argmax(f), 2, 3)
        return Start(np.append(stair, 2), np.append(box, -f.max()), 1.0, highest=True)
