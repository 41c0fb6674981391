"""Leave one point out, exactly: its multipliers walk to zero from the solution with it.

At a fixed t the variables of point i are held at (1 - s) z_i while s goes from 0 to 1. Meanwhile g
moves by s e, where e comes from the problem: a constraint may count the points. All others stay on
their staircases: the walk of `reference.py`, with one moving pin and some six events. At s = 1 the
others stand where they would without the point, whatever its own residual.

The residuals and the inverse H0 of G_FF are computed once for all points. A walk (compiled,
`_leave_out.pyx`) does not change them. It keeps its own changes as H = H0 + sum_j d_j u_j u_j':

    k enters:  u = (H g; -1), d = 1 / s        s = G_kk - g'H g,  g = G_Fk
    k leaves:  u = H e_k,     d = -1 / H_kk

**Only the end counts.** A state that is optimal at s = 1 is the solution, however it was found. So
a walk watches only the variables that its first direction takes near a corner, and all ends are
checked together, by residuals computed from the data. A variable found out of reach there is
watched when the walk is made again. Walks with a doubtful pivot, and walks that do not arrive, are
made by the reference: the pins of the point move from w_i to 0. A row with ramps may have no w_i to
begin with, and D is not affine in it: there the pins move from its own multiplier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..kernels import Ridged
from ..problems.staircase import Floats, Ints, Staircases, StaircaseSystem
from . import tolerances as tol
from .reasons import StuckError
from .rescue import RescuedWalker
from .tolerances import reference_asked_for
from .trace import Recorder

try:
    from ._leave_out import Walk
except ImportError:  # a source tree on the path, nothing compiled
    Walk = None

SIGHT = 2.0  # times as far as the first direction moves it: a residual so near a corner is watched
AGAIN = 5  # times at the most, a walk that has passed a corner unseen is made again
TOGETHER = 2e6  # entries of the matrices of ends that are checked at a time


@dataclass(frozen=True)
class Job:
    """What to leave out: variables that go to zero, and how g moves meanwhile."""

    variables: Ints
    e: Floats


def walk_out(
    system: StaircaseSystem, t: float, stair: Ints, z: Floats, jobs: list[Job]
) -> tuple[Floats, Ints]:
    """z without each job's variables, one column each, and which columns could not be had."""
    still = system.frozen(t, np.zeros(len(system)))
    ends = np.tile(z, (len(jobs), 1))
    doubtful = list(range(len(jobs)))
    ramps = isinstance(still.coupling, Ridged)
    if Walk is not None and not ramps and not reference_asked_for():
        ground = Ground(replace(still, r=np.zeros(len(system))), stair, z)
        some = max(int(TOGETHER / len(z)), 1)
        parts = [slice(k, k + some) for k in range(0, len(jobs), some)]
        doubtful = [p.start + k for p in parts for k in ground.leave(jobs[p], ends[p])]
    failed = []
    for k in doubtful:
        try:
            ends[k] = by_reference(still, stair, z, jobs[k])
        except StuckError:
            failed.append(k)
    return ends.T, np.array(failed, dtype=np.intp)


class Ground:
    """The solution from which all walks begin. Matrices have a row for each job."""

    def __init__(self, system: StaircaseSystem, stair: Ints, z: Floats) -> None:
        self.system, self.stair, self.z = system, stair, z
        self.h = system.residual(z, 0.0)
        self.low, self.high = (system.stairs.level(stair + side, 0.0) for side in (-1, 1))
        self.pinned = stair % 2 == 1
        size = system.coupling.magnitude(z) + np.abs(system.q)
        self.tolerance = system.tolerances(size, 0.0, tol.HOLDS, tol.VANISHING)
        self.free = np.flatnonzero(~self.pinned)
        self.G = system.coupling.block(self.free, self.free)
        try:
            H = np.linalg.inv(self.G) if len(self.free) else self.G
        except np.linalg.LinAlgError:
            H = np.full_like(self.G, np.nan)
        H = H + H @ (np.eye(len(H)) - self.G @ H)  # one step of Newton's, for the last digits
        self.H = 0.5 * (H + H.T)
        self.walk = walk = Walk(system, stair, z, self.h, self.H)
        walk.least, walk.rounding = tol.PRECISION, tol.ROUNDING
        size, total = system.coupling.magnitude(z), float(np.abs(z).sum()) or 1.0
        walk.gauge(z, size, total, system.q, system.r, np.zeros(len(z)))
        walk.still, walk.aside, walk.down_first = tol.VANISHING, tol.ASIDE, tol.DOWN_FIRST
        walk.doubt = walk.doubt_refined = tol.DOUBT_REFINED  # the inverse is fresh
        walk.singular, walk.indefinite, walk.entries = tol.NIL, tol.INDEFINITE, tol.ENTRIES

    def leave(self, jobs: list[Job], ends: Floats) -> list[int]:
        """Put z at the end of each walk into `ends`; returns the jobs left to the reference."""
        e, own = np.array([job.e for job in jobs]), np.zeros(ends.shape, dtype=bool)
        for j, job in enumerate(jobs):
            own[j, job.variables] = True
        stairs = np.tile(self.stair, (len(jobs), 1))
        directions, clear = self.directions(own, e)
        watched = self.near(own, e, directions, clear)
        arrived, fine, mend = (np.zeros(len(jobs), dtype=bool) for _ in range(3))
        left = np.arange(len(jobs))
        for _ in range(AGAIN):
            complete = np.all(watched | own | ~self.pinned, axis=1)
            for j in map(int, left):
                arrived[j] = self.walk.run(
                    jobs[j].variables,
                    e[j],
                    np.flatnonzero(watched[j]),
                    directions[j] if clear[j] else None,
                    complete[j],
                    mend[j],
                )
                if arrived[j]:
                    ends[j] = self.z
                    stairs[j] = self.walk.end(ends[j])
            there, lost = left[arrived[left]], left[~arrived[left]]
            wrong = self.wrong(ends[there], stairs[there], e[there]) & ~own[there]
            fine[there] = ~wrong.any(axis=1)
            # Next time a walk watches what it has missed; and all variables, if it must jump.
            unseen = wrong & self.pinned & ~watched[there]
            worth = ~fine[there] & (unseen.any(axis=1) | ~mend[there])
            watched[there] |= unseen
            watched[lost] = self.pinned & ~own[lost]
            mend[there] = True
            left = np.concatenate([there[worth], lost[~complete[lost]]])
            if len(left) == 0:
                break
        return [int(j) for j in np.flatnonzero(~fine)]

    def directions(self, own: Any, e: Floats) -> tuple[Floats, Any]:
        """The first z' of the free variables, and for which jobs it is known.

        With b = -(sigma e)_F - G_Fi z'_i for a point at its pin, z' = H b. For a point that is free
        z' = H b + c H e_i, with c such that z'_i = -z_i.
        """
        free, H, sigma = self.free, self.H, self.system.coupling.sigma
        b = -(sigma * e)[:, free]
        j, i = np.nonzero(own & self.pinned & (self.z != 0.0))
        np.subtract.at(b, j, -self.z[i, None] * self.system.coupling.block(i, free))
        out = b @ H
        j, s = np.nonzero(own[:, free])
        pivot = sigma[free[s]] * H[s, s] * np.abs(self.G[s]).max(axis=1, initial=0.0)
        known = pivot > tol.DOUBT_REFINED * np.sum(np.abs(self.G[s] * H[s]), axis=1)
        clear = np.bincount(j, minlength=len(own)) <= 1
        clear[j[~known]] = False
        j, s = j[known], s[known]
        out[j] += ((-self.z[free[s]] - out[j, s]) / H[s, s])[:, None] * H[s]
        return out, clear & np.isfinite(out).all(axis=1)

    def near(self, own: Any, e: Floats, directions: Floats, clear: Any) -> Any:
        """The variables that each walk must watch, judged by its first direction.

        Pinned variables without a Gram row always, and all where the direction is not known.
        """
        moves = np.where(own, -self.z, 0.0)
        moves[:, self.free] = np.where(clear[:, None], directions, 0.0)
        sight = SIGHT * np.abs(self.system.coupling.dot(moves.T).T + e)
        room = np.minimum(self.h - self.low, self.high - self.h)
        always = ~self.system.coupling.has_row
        return ((room <= sight) | always | ~clear[:, None]) & self.pinned & ~own

    def wrong(self, ends: Floats, stairs: Ints, e: Floats) -> Any:
        """Where residuals, computed from the data, are off their stairs, or z outside of them."""
        table = self.system.stairs
        h = -(self.system.coupling.dot(ends.T).T + self.system.q + e)
        low, high = (table.level(stairs + side, 0.0) for side in (-1, 1))
        outside = (stairs % 2 == 0) & ((ends < low - tol.INSIDE) | (ends > high + tol.INSIDE))
        # Not >: NaN is wrong.
        return ~(np.abs(table.off(stairs, h, 0.0)) <= self.tolerance) | outside


def by_reference(still: StaircaseSystem, stair: Ints, z: Floats, job: Job) -> Floats:
    """The pins of the point go from w_i to 0 while t goes from 1 to 2."""
    value, slope = still.stairs.value.copy(), still.stairs.slope.copy()
    pins = value[job.variables, 1::2]
    if isinstance(still.coupling, Ridged):
        own = z[job.variables, None]
        pins = np.clip(pins, np.minimum(own, 0.0), np.maximum(own, 0.0))
        value[job.variables, 1::2] = pins
    pins = np.where(np.isfinite(pins), pins, 0.0)
    value[job.variables, 1::2] += pins
    slope[job.variables, 1::2] = -pins
    moving = replace(still, q=still.q - job.e, r=job.e, stairs=Staircases(value, slope))
    walker = RescuedWalker(moving, stair, z, 1.0, Recorder(), np.random.default_rng(0))
    walker.walk(2.0)
    end = walker.z.copy()
    end[job.variables] = 0.0
    return end
