"""nu-SVR, in lambda or in nu.

    min  lambda/2 |f|^2 + nu W epsilon + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon),  W = sum w

over f, b and the tube's half width epsilon >= 0: two rows a point, one for each edge of the tube,

    m_i = f(x_i) + b + epsilon, kink at y_i,        m*_i = -f(x_i) - b + epsilon, kink at -y_i,

and two unpenalised terms, b and epsilon, of which epsilon costs nu W and is not negative.

While the tube is open one of the two rows of a point is at its pin 0. While it is closed the second
row of a free point stands at its corner: no two rows of a point are ever free together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Parameter, Start, Turned
from .loss import Loss
from .machine import TIED, KernelMachine, Rows
from .staircase import Floats, Ints
from .terms import Term

# Columns of the staircase table, for multipliers and for epsilon.
ZERO, EDGE, FULL, CLOSED, OPEN = 1, 2, 3, 1, 2


class NuSVR(KernelMachine):
    name = "nu_svr"
    loss_name = "epsilon-insensitive loss"
    stair_names = ("below", "lower edge", "within", "upper edge", "above", "closed", "open")
    edge_name = "on the edge of the tube"
    criterion = "neg_mean_squared_error"
    parameters = {"nu": Parameter(0.5, "fraction")}
    along = ("lambda", "nu")
    turns = ("lambda", "nu", "epsilon")

    def declare(self, y: Floats, given: dict[str, Any]) -> Rows:
        side = np.repeat([1.0, -1.0], len(y))
        origin = np.concatenate([y, -y])
        tube = Term("epsilon", np.ones(len(side)), cost=given["nu"], from_zero=True)
        loss = Loss(origin, offsets=(0.0,), slopes=(-1.0, 0.0))
        return Rows(loss, side, (*self.constant(side), tube))

    def start(self, value: float | None = None) -> Start:
        """Large lambda: f is constant, and its tube leaves nu W / 2 outside on either side.

        nu = 1, above which nothing changes: the tube is closed around the median.
        """
        moves = self.parameter == "lambda"
        upper, lower, b, width = self._outside(self.given["nu"] if moves else 1.0)
        t = self._top(b, width) if moves else 1.0
        closed = not moves or width <= 0.0 or bool(np.any((upper > 0) & (lower > 0)))
        if closed:
            beta = upper - lower
            upper, lower = np.maximum(beta, 0.0), np.maximum(-beta, 0.0)
        return self._stand(upper, lower, b, None if closed else width, t)

    @property
    def _u(self) -> Floats:
        return (self.y - self.shift) / self.sd

    def _top(self, b: float, width: float) -> float:
        """Where f, and with it b, moves too little for an edge to meet another target.

        Targets that an edge meets are equal: how they share its weight does not depend on lambda.
        """
        levels = self._u if self.intercept else np.append(np.abs(self._u), 0.0)
        edges = [b + width, b - width] if self.intercept else [width]
        apart = np.abs(levels[:, None] - edges)
        apart = apart[apart > TIED * np.abs(levels).max()]
        return 4.0 * self.reach() / min(1.0, float(apart.min(initial=1.0)))

    def _outside(self, nu: float) -> tuple[Floats, Floats, float, float]:
        """Multipliers on either side of the best tube around a constant, with its b and width."""
        box, u = self.w / self.z_unit, self._u
        share = nu * float(box.sum())
        if self.intercept:
            upper, top = _outermost(u, box, 0.5 * share)
            lower, bottom = _outermost(-u, box, 0.5 * share)
            return upper, lower, 0.5 * (top - bottom), 0.5 * (top + bottom)
        both, width = _outermost(np.abs(u), box, share)
        return np.where(u > 0, both, 0.0), np.where(u > 0, 0.0, both), 0.0, width

    def _stand(
        self, upper: Floats, lower: Floats, b: float, width: float | None, t: float
    ) -> Start:
        """All rows at pins but one an edge; a closed tube (width None) has one edge."""
        level = t if self.parameter == "lambda" else self.lambda_ / self.force
        z, u, n = np.concatenate([upper, lower]), self._u, len(self.y)
        stair = np.where(z > 0.5 * self.weight[:, 0] / self.z_unit, FULL, ZERO)
        closed = width is None
        off = np.abs(u - b) if closed else np.abs(np.abs(u - b) - width)
        above = u >= b
        both = np.ones(n, dtype=bool)
        sides = [both] if closed else [above, ~above]
        for side in sides if self.intercept else ([] if closed else [both]):
            k = int(np.argmin(np.where(side, off, np.inf)))
            stair[k if (upper[k] > 0 or (lower[k] == 0 and above[k])) else n + k] = EDGE
        edge = [level * b, level * (width or 0.0)][0 if self.intercept else 1 :]
        ends = [EDGE] * int(self.intercept) + [CLOSED if closed else OPEN]
        # Rows pinned at zero get the larger distance to spare, so that the artificial residuals of
        # two rows of a point never push both of them up.
        spare = np.append(np.where(stair == ZERO, 4.0, 1.0), np.ones(len(ends)))
        return Start(np.append(stair, ends), np.append(z, edge), t, True, spare)

    def name_stairs(self, variable: Ints, stair: Ints) -> Ints:
        """Upper rows climb from within to above, lower rows descend to below."""
        n = len(self.y)
        named = np.where(variable < n, 1 + stair, 3 - stair)
        return np.where(variable < 2 * n, named, np.where(stair == CLOSED, 5, 6))

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        if parameter != "epsilon":
            return super().turned(parameter, stair, z, t)
        from .tubes import share_to_tube

        return share_to_tube(self, stair, z, t)


def _outermost(u: Floats, w: Floats, share: float) -> tuple[Floats, float]:
    """Weight given to the largest u until `share` is used up, and the u where that happens."""
    order = np.argsort(-u, kind="stable")
    before = np.cumsum(w[order]) - w[order]
    given = np.zeros_like(u)
    given[order] = np.clip(share - before, 0.0, w[order])
    last = min(int(np.searchsorted(before, share, side="left")), len(u)) - 1
    return given, float(u[order[max(last, 0)]])
