"""nu-SVR, in lambda or in nu.

    min  lambda/2 |f|^2 + nu W epsilon + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon),  W = sum w

over f, b and the tube's half width epsilon >= 0. With alpha, alpha* in [0, w], beta = alpha -
alpha*, f = 1/lambda sum beta_i k(x_i, .), b0 = lambda b and d = lambda epsilon:

    h_i  =   lambda (y_i - f(x_i)) - b0 - d,      0 = sum beta_i,
    h*_i = - lambda (y_i - f(x_i)) + b0 - d,      h_d = sum (alpha + alpha*) - nu W,
    alpha, alpha* on the staircase: pin 0, tread 0, pin w;   d: pin 0, then an endless tread.

Both blocks read the same K, with opposite signs. d on its pin is the closed tube: epsilon is 0 and
the constraint on the sum is slack.

**Why two copies of a point.** While the tube is open, h_i + h*_i = -2 d < 0 keeps one of the two at
its pin 0. While it is closed both edges are one: h*_i = -h_i, the copy of a free point stands at
its corner with speed zero, and takes over when the other reaches 0. So no two copies are ever free
together (they would only add the null vector (1, 1)), and no state is special. One variable a point
with treads at +-d would need a border that changes with the stair, which is no staircase system.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..kernels import LowRankGram, as_gram
from .base import (
    AT_BOUND,
    EPS,
    NEARLY_ZERO,
    Certificate,
    Columns,
    Problem,
    Reading,
    Start,
    Turned,
    bound_width,
    edge_blur,
    relative_gap,
    swept,
    taking_part,
)
from .staircase import (
    Coupling,
    Floats,
    Ints,
    Staircases,
    StaircaseSystem,
    endless_tread,
)
from .svr import ABOVE, BELOW, LOWER, SVR, UPPER, WITHIN

ZERO, EDGE, FULL = 1, 2, 3  # columns of the staircase table, for the multipliers
CLOSED, OPEN = 1, 2  # and for d
# Multipliers that add up to less than their share by more than this part of it: the constraint is
# slack. Far above round-off, and below what certificates see.
SLACK = 1e-10
TIED = 64 * EPS  # targets nearer than this, relative to the largest, are equal


class NuSVR(Problem):
    """The target is centred (with an intercept) and scaled; K is never copied."""

    name = "nu_svr"
    fixed_while_moving = False
    stair_names = ("below", "lower edge", "within", "upper edge", "above", "closed", "open")
    first_stair = ZERO
    of_points = True
    turns = ("lambda", "nu", "epsilon")

    def __init__(
        self,
        K: Floats | LowRankGram,
        y: Floats,
        w: Floats,
        *,
        along: Literal["lambda", "nu"] = "lambda",
        nu: float = 0.5,
        lambda_: float = 1.0,
        intercept: bool = True,
    ) -> None:
        self.K, self.y, self.w, self.intercept = K, y, w, intercept
        self.parameter, self.nu, self.lambda_ = along, nu, lambda_
        n, self.scale, self.z_unit = len(y), float(K.diagonal().max()) or 1.0, float(w.max())
        mean = np.average(y, weights=w)
        self.shift = float(mean) if intercept else 0.0
        self.sd = float(np.sqrt(np.average((y - mean) ** 2, weights=w)))
        self.u = (y - self.shift) / self.sd
        force = self.scale * self.z_unit / self.sd  # lambda = force * t
        self.box, self.pull = w / self.z_unit, lambda_ / force
        self.total = float(self.box.sum())  # W in the engine's units
        moves = along == "lambda"
        self.unit = force if moves else 1.0
        self.highest_value = np.inf if moves else 1.0
        signs = np.repeat([1.0, -1.0], n)
        border = np.column_stack([signs, np.ones(2 * n)])[:, 0 if intercept else 1 :]
        edge = np.zeros(border.shape[1])
        target = np.concatenate([-signs * np.tile(self.u, 2), edge])
        share = np.zeros_like(target)
        share[-1] = self.total
        index = np.tile(np.arange(n), 2)
        box = np.tile(self.box, 2)
        self.system = StaircaseSystem(
            Coupling(as_gram(K), index, signs / np.sqrt(self.scale), border),
            q=nu * share if moves else self.pull * target,
            r=target if moves else share,
            stairs=Staircases.stack(
                Staircases.build(2 * n, first="pin", stairs=[(0.0, 0.0), (0.0, 0.0), (box, 0.0)]),
                endless_tread(int(intercept)),
                Staircases.build(1, first="pin", stairs=[(0.0, 0.0), (0.0, 0.0)]),
            ),
            # A share nu of the losses of all points is what the objective amounts to: residuals
            # must be known to that part of the linear term.
            unit=(0.0, nu if moves else self.pull),
        )

    # ------------------------------------------------------------------ where to begin

    @property
    def start(self) -> Start:
        """Large lambda: f is constant, and its tube leaves nu W / 2 outside on either side.

        Large nu: the tube is closed around the median. No multipliers add up to more than W, so
        nothing changes above nu = 1.
        """
        if self.parameter == "nu":
            upper, lower, b, _ = self._outside(1.0)
            beta = upper - lower
            upper, lower = np.maximum(beta, 0.0), np.maximum(-beta, 0.0)
            return self._stand(upper, lower, b, None, 1.0)
        upper, lower, b, width = self._outside(self.nu)
        t = self._top(b, width)
        if width <= 0.0 or np.any((upper > 0) & (lower > 0)):  # the tube is closed
            beta = upper - lower
            return self._stand(np.maximum(beta, 0.0), np.maximum(-beta, 0.0), b, None, t)
        return self._stand(upper, lower, b, width, t)

    def _top(self, b: float, width: float) -> float:
        """Where f, and with it b, moves too little for an edge to meet another target.

        |K beta| is never larger than max sqrt(K_ii) sum sqrt(K_jj) w_j. Targets that an edge does
        meet are equal; which of them share its weight does not depend on lambda.
        """
        root = np.sqrt(np.maximum(self.K.diagonal(), 0.0) / self.scale)
        most = float(root.max() * (root @ self.box)) or 1.0
        levels = self.u if self.intercept else np.append(np.abs(self.u), 0.0)
        edges = [b + width, b - width] if self.intercept else [width]
        apart = np.abs(levels[:, None] - edges)
        apart = apart[apart > TIED * np.abs(levels).max()]
        return 4.0 * most / min(1.0, float(apart.min(initial=1.0)))

    def _outside(self, nu: float) -> tuple[Floats, Floats, float, float]:
        """Multipliers on either side of the best tube around a constant, with its b and width."""
        if self.intercept:
            upper, top = _outermost(self.u, self.box, 0.5 * nu * self.total)
            lower, bottom = _outermost(-self.u, self.box, 0.5 * nu * self.total)
            return upper, lower, 0.5 * (top - bottom), 0.5 * (top + bottom)
        both, width = _outermost(np.abs(self.u), self.box, nu * self.total)
        return np.where(self.u > 0, both, 0.0), np.where(self.u > 0, 0.0, both), 0.0, width

    def _stand(
        self, upper: Floats, lower: Floats, b: float, width: float | None, t: float
    ) -> Start:
        """Everybody on pins but one point an edge; a closed tube (width None) has one edge."""
        level = t if self.parameter == "lambda" else self.pull
        z = np.concatenate([upper, lower])
        stair = np.where(z > 0.5 * np.tile(self.box, 2), FULL, ZERO)
        closed = width is None
        off = np.abs(self.u - b) if closed else np.abs(np.abs(self.u - b) - width)
        n = len(self.u)
        above, below = self.u >= b, self.u < b
        sides = [above | below] if closed else [above, below]
        for side in sides if self.intercept else ([] if closed else [above | below]):
            k = int(np.argmin(np.where(side, off, np.inf)))
            copy = k if (upper[k] > 0 or (lower[k] == 0 and above[k])) else n + k
            stair[copy] = EDGE
        edge = [level * b, level * (width or 0.0)][0 if self.intercept else 1 :]
        ends = [EDGE] * int(self.intercept) + [CLOSED if closed else OPEN]
        # Who is pinned at zero gets the larger distance to spare, so that the artificial residuals
        # of two copies of a point never push both of them up.
        spare = np.append(np.where(stair == ZERO, 4.0, 1.0), np.ones(len(ends)))
        return Start(np.append(stair, ends), np.append(z, edge), t, True, spare)

    # ------------------------------------------------------------------ solutions

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        n = len(self.y)
        along = self.parameter == "lambda"
        lam = t * self.unit if along else np.full(len(t), self.lambda_)
        nu = np.full(len(t), self.nu) if along else t * self.unit
        beta = (z[:n] - z[n : 2 * n]) * self.z_unit
        alpha = swept(beta, self._scale(lam), -self.w[:, None], self.w[:, None])
        coef = alpha / lam
        grown = self.scale * self.z_unit / lam  # from b0 and d to b and epsilon
        b = z[2 * n] * grown + self.shift if self.intercept else np.zeros(len(t))
        eps = np.maximum(z[-1], 0.0) * grown
        interval = np.tile(b, (2, 1))
        loose = np.flatnonzero(self._loose(alpha).any(axis=0))
        if loose.size:
            part = taking_part(n, without, loose)
            share = nu[loose] * (self.w @ part)
            some = (coef[:, loose], alpha[:, loose], b[loose], eps[loose], share, part)
            b[loose], eps[loose], interval[:, loose] = self._middle(*some)
        return Columns(t * self.unit, coef, b, interval, alpha, lam, eps, nu)

    def _scale(self, lam: Floats) -> Floats:
        """What multipliers are measured by: the largest weight, or lambda where that is less."""
        return np.minimum(self.z_unit, lam * self.sd / self.scale)

    def _loose(self, alpha: Floats) -> Any:
        """(2, k): whether the upper and the lower edge have no point that fixes them."""
        near, w = bound_width(alpha, self.w, self.z_unit), self.w[:, None]
        fixes = [(a > near) & (a < w - near) for a in (alpha, -alpha)]
        if not self.intercept:
            fixes = [fixes[0] | fixes[1]] * 2
        return ~np.array([np.any(f, axis=0) for f in fixes])

    def _middle(
        self, coef: Floats, alpha: Floats, b: Floats, eps: Floats, share: Floats, part: Any
    ) -> tuple[Floats, Floats, Floats]:
        """b, epsilon and the interval of b: each loose edge in the middle of where it may be."""
        near = bound_width(alpha, self.w, self.z_unit)
        r = self.y[:, None] - self.K @ coef
        size = np.abs(alpha).sum(axis=0)
        slack = size < share * (1.0 - SLACK)  # the tube is closed, and stays so
        up, low = self._loose(alpha)
        if not self.intercept:
            outside = np.abs(alpha) > near
            inner = np.where(part & ~outside, np.abs(r), 0.0).max(axis=0)
            outer = np.where(part & outside, np.abs(r), np.inf).min(axis=0)
            ok = up & ~slack & (inner <= outer) & np.isfinite(outer)
            eps = np.where(ok, 0.5 * (inner + outer), eps)
            return b, eps, np.tile(b, (2, 1))
        above, below = alpha > near, alpha < -near
        upper = _between(part & ~above, part & above, r, b + eps, up & ~slack)
        lower = _between(part & below, part & ~below, r, b - eps, low & ~slack)
        closed = _between(part & ~above, part & ~below, r, b, up & low & slack)
        ends = np.where(slack, closed, 0.5 * (upper + lower))
        half = np.where(slack, 0.0, 0.25 * (upper - lower).sum(axis=0))
        return ends.mean(axis=0), np.where(slack, eps, np.maximum(half, 0.0)), ends

    def edges(self, c: Columns) -> list[tuple[float, Floats]]:
        """b is the middle of two edges, each where its points are, or between its neighbours."""
        near, w = bound_width(c.alpha, self.w, self.z_unit), self.w[:, None]
        r = self.y[:, None] - self.K @ c.coef
        assert c.nu is not None
        above, below = c.alpha > near, c.alpha < -near
        size = np.abs(c.alpha).sum(axis=0)
        if np.any(size < c.nu * self.w.sum() * (1.0 - SLACK)):  # the tube is closed
            return _halves(0.5, r, ~above, ~below)
        up, low = self._loose(c.alpha).any(axis=1)
        out: list[tuple[float, Floats]] = []
        for loose, under, over, free in (
            (up, ~above, above, above & (c.alpha < w - near)),
            (low, below, ~below, below & (c.alpha > near - w)),
        ):
            out += _halves(0.25, r, under, over) if loose else [(0.5, np.where(free, r, -np.inf))]
        return out

    @property
    def reading(self) -> Reading:
        """lambda f = sum (alpha - alpha*) k + b0, lambda (the shift of y)."""
        inverse, n = self.parameter == "lambda", len(self.y)
        unit = self.z_unit / (1.0 if inverse else self.lambda_)
        rest = np.zeros(1 + int(self.intercept))
        level = np.concatenate([np.zeros(2 * n), rest])
        level[2 * n : len(level) - 1] = self.scale * unit
        return Reading(
            row=np.concatenate([np.arange(n), np.arange(n), rest.astype(np.intp)]),
            factor=np.concatenate([np.full(n, unit), np.full(n, -unit), rest]),
            level=level,
            shift=self.shift,
            inverse=inverse,
        )

    def without(self, i: int, t: float) -> Floats:
        """nu W goes to nu (W - w_i)."""
        e = np.zeros(len(self.system))
        e[-1] = -(self.nu if self.parameter == "lambda" else t) * self.box[i]
        return e

    def _parts(self, c: Columns) -> tuple[Floats, Floats, Floats]:
        """Residuals, |f|^2 lambda/2, and nu W epsilon + the sum of losses."""
        assert c.epsilon is not None
        assert c.nu is not None
        f = self.K @ c.coef
        r = self.y[:, None] - f - c.intercept
        losses = self.w @ np.maximum(0.0, np.abs(r) - c.epsilon)
        tube = c.nu * self.w.sum() * c.epsilon
        return r, 0.5 * c.lambda_ * np.sum(c.coef * f, axis=0), losses + tube

    def objective(self, c: Columns) -> Floats:
        _, norm, losses = self._parts(c)
        return norm + losses

    def certificate(self, c: Columns) -> Certificate:
        r, norm, losses = self._parts(c)
        assert c.epsilon is not None
        assert c.nu is not None
        w = self.w[:, None]
        s = c.alpha + r / self.sd
        soft = np.sign(s) * np.maximum(0.0, np.abs(s) - c.epsilon / self.sd)
        violation = np.max(np.abs(c.alpha - np.clip(soft, -w, w)) / np.maximum(1.0, w), axis=0)
        size = np.abs(c.alpha)
        total, share = size.sum(axis=0), c.nu * self.w.sum()
        if self.intercept:
            floor = np.maximum(total, NEARLY_ZERO * self._scale(c.lambda_))
            violation = np.maximum(violation, np.abs(c.alpha.sum(axis=0)) / floor)
        # epsilon >= 0, the sum <= nu W, and one of the two an equality.
        spare = (share - total) / np.maximum(share, EPS)
        violation = np.maximum(violation, np.abs(np.minimum(c.epsilon / self.sd, spare)))
        dual = (self.y - self.shift) @ c.alpha - norm
        # P - D, summed point by point so that nothing large cancels.
        loss = np.maximum(0.0, np.abs(r) - c.epsilon)
        inner = np.sign(c.alpha) * r - c.epsilon
        gap = np.sum((w - size) * loss + size * (loss - inner), axis=0)
        gap = gap + c.epsilon * (share - total)
        gap = gap - (c.intercept - self.shift) * c.alpha.sum(axis=0)
        terms = self.system.coupling.gram.magnitude(c.coef)
        sizes = terms + np.abs(c.intercept) + np.abs(self.y)[:, None]
        blur = edge_blur(np.abs(r) - c.epsilon, sizes, self.w)
        blur = blur + EPS * (np.abs(c.intercept) + c.epsilon) * total
        relative, noise = relative_gap(gap, norm + losses, dual, self._zero(c.nu), blur)
        floor = np.maximum(EPS * terms.max(axis=0) / self.sd, noise)
        return Certificate(violation, relative, floor)

    def _zero(self, nu: Floats) -> Floats:
        """The objective of the zero model: the largest sum beta_i y_i that nu allows."""
        share = nu * self.w.sum()
        if not self.intercept:
            return _tail(np.abs(self.y), self.w, share)
        y = self.y - self.shift
        return _tail(y, self.w, 0.5 * share) + _tail(-y, self.w, 0.5 * share)

    def name_stairs(self, variable: Ints, stair: Ints) -> Ints:
        """alpha climbs from within to above, alpha* descends to below; d is closed or open."""
        n = len(self.y)
        offset = stair - ZERO
        named = np.where(variable < n, 2 + offset, 2 - offset)
        return np.where(variable < 2 * n, named, np.where(stair == CLOSED, 5, 6))

    def turned(self, parameter: str, stair: Ints, z: Floats, t: float) -> Turned:
        """In lambda and nu every stair and every variable is the same; epsilon has its own."""
        moves = self.parameter == "lambda"
        lam = t * self.unit if moves else self.lambda_
        nu = self.nu if moves else min(t * self.unit, 1.0)
        if parameter == "epsilon":
            return _to_tube(self, stair, z, lam)
        spec = self.spec() | {"along": parameter, "nu": nu, "lambda_": lam}
        return Turned("nu_svr", spec, stair, z, lam if parameter == "lambda" else nu)

    def spec(self) -> dict[str, Any]:
        return {
            "along": self.parameter,
            "nu": self.nu,
            "lambda_": self.lambda_,
            "intercept": self.intercept,
        }


def _outermost(u: Floats, w: Floats, share: float) -> tuple[Floats, float]:
    """Weight given to the largest u until `share` is used up, and the u where that happens."""
    order = np.argsort(-u, kind="stable")
    before = np.cumsum(w[order]) - w[order]
    given = np.zeros_like(u)
    given[order] = np.clip(share - before, 0.0, w[order])
    last = min(int(np.searchsorted(before, share, side="left")), len(u)) - 1
    return given, float(u[order[max(last, 0)]])


def _tail(y: Floats, w: Floats, share: Floats) -> Floats:
    """The sum of the largest y that carry `share` of the weight."""
    order = np.argsort(-y, kind="stable")
    weight = np.concatenate([[0.0], np.cumsum(w[order])])
    return np.interp(share, weight, np.concatenate([[0.0], np.cumsum((w * y)[order])]))


def _halves(weight: float, r: Floats, under: Any, over: Any) -> list[tuple[float, Floats]]:
    """weight (the largest r under an edge + the smallest over it), as a sum of maxima."""
    return [(weight, np.where(under, r, -np.inf)), (-weight, np.where(over, -r, -np.inf))]


def _between(below: Any, above: Any, r: Floats, traced: Floats, loose: Any) -> Floats:
    """(2, k): where an edge may be, above some residuals and below others; or where it is."""
    low = np.where(below, r, -np.inf).max(axis=0)
    high = np.where(above, r, np.inf).min(axis=0)
    ok = loose & (low <= high) & np.isfinite(low) & np.isfinite(high)
    return np.where(ok, [low, high], traced)


# ---------------------------------------------------------------------- to epsilon-SVR and back


def _to_tube(problem: NuSVR, stair: Ints, z: Floats, lam: float) -> Turned:
    """A solution of the nu-SVR as one of the epsilon-SVR: its tube is given now."""
    n = len(problem.y)
    upper, lower = stair[:n], stair[n : 2 * n]
    one = np.full(n, WITHIN)
    for edge, side, block in ((LOWER, BELOW, lower), (UPPER, ABOVE, upper)):
        one = np.where(block == EDGE, edge, np.where(block == FULL, side, one))
    eps = max(float(z[-1]), 0.0) * problem.scale * problem.z_unit / lam
    spec = {
        "along": "epsilon",
        "epsilon": eps,
        "lambda_": lam,
        "intercept": problem.intercept,
    }
    free = slice(2 * n, 2 * n + int(problem.intercept))
    beta = np.append(z[:n] - z[n : 2 * n], z[free])
    # Two copies of a row on opposite edges fix the tube's width; without it they are one too many.
    return Turned("svr", spec, np.append(one, stair[free]), beta, eps, regular=False)


def from_tube(problem: SVR, stair: Ints, z: Floats, lam: float, eps: float) -> Turned:
    """A solution of the epsilon-SVR as one of the nu-SVR, nu W = sum |beta|.

    An edge without points is free to move in the nu-SVR: it is moved to the first point outside.
    """
    n, scale = len(problem.y), float(problem.K.diagonal().max()) or 1.0
    beta, box = z[:n], problem.w / problem.z_unit
    total = float(np.abs(beta).sum())
    if total <= AT_BOUND:
        raise ValueError("every point lies within the tube here: there is no equivalent nu")
    b, d = float(z[n]) if problem.intercept else 0.0, lam * eps / (scale * problem.z_unit)
    blocks = [
        np.where(stair[:n] == edge, EDGE, np.where(stair[:n] == side, FULL, ZERO))
        for edge, side in ((UPPER, ABOVE), (LOWER, BELOW))
    ]
    if d > 0.0:
        pull = lam * problem.sd / (scale * problem.z_unit)
        r = pull * problem.u - problem.K @ beta / scale
        ends = [b + d, d - b]  # heights of the edges above 0, upward and downward
        if problem.intercept:
            loose = [not np.any(block == EDGE) for block in blocks]
        else:
            loose = [not np.any(np.concatenate(blocks) == EDGE)] * 2
        height = [np.where(beta > 0, r, np.inf), np.where(beta < 0, -r, np.inf)]
        if problem.intercept:
            for j in np.flatnonzero(loose):
                k = int(np.argmin(height[j]))
                blocks[j][k], ends[j] = EDGE, float(height[j][k])
        elif loose[0]:
            k = int(np.argmin(np.minimum(*height)))
            blocks[0 if beta[k] > 0 else 1][k] = EDGE
            ends = [float(np.abs(r[k]))] * 2
        b, d = 0.5 * (ends[0] - ends[1]), 0.5 * (ends[0] + ends[1])
    nu = min(total / float(box.sum()), 1.0)
    edge = [b, d][0 if problem.intercept else 1 :]
    stairs = [EDGE] * int(problem.intercept) + [OPEN if d > 0.0 else CLOSED]
    spec = {"along": "nu", "nu": nu, "lambda_": lam, "intercept": problem.intercept}
    both = np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0), edge])
    return Turned("nu_svr", spec, np.concatenate([*blocks, stairs]), both, nu)
