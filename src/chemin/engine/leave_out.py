"""Leave one point out, exactly: its multipliers walk to zero from the solution with it.

At a fixed t the variables of point i are held at (1 - s) z_i while s goes from 0 to 1, and g moves
by s e, which the problem tells (a constraint may count the points). All others stay on their
staircases: the walk of `reference.py`, with one moving pin and some six events. At s = 1 the others
stand where they would without the point, whatever its own residual.

What the points share is computed once: the inverse H0 of G_FF, the rows of the free variables and
the residuals. A walk leaves them alone and keeps its own changes as H = H0 + sum_j d_j u_j u_j':

    k enters:  u = (H g; -1), d = 1 / s        s = G_kk - g'H g,  g = G_Fk
    k leaves:  u = H e_k,     d = -1 / H_kk

An inverse is no proof. All ends are checked together, by residuals computed from the data; walks
with a doubtful pivot, a tie that goes round or an end that does not hold are walked again by the
reference, in the form of the design: the pins of the point move from w_i to 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..problems.staircase import Floats, Ints, Staircases, StaircaseSystem
from .reference import EPS, Walker
from .trace import Recorder, StuckError

DOUBT = 1e-7  # pivots below this, relative to the terms that make them up, are for the reference,
NIL = 1e-12  # but for those that are zero: jumps
JUMPS = 20  # at the most
STILL = 1e-11  # a speed below this, relative to the terms that make it up, is zero
ROOM = 60  # variables that may enter in a walk
NOBODY = -1  # in a slot: the last entry of a row, which is 0
PATIENCE = 400  # events, before a walk is given to the reference
LATER = 1e-9  # of two that block together the one that goes down from a pin is first
HOLDS = 1e-11  # of the linear term: how precisely residuals at the end must be on their stairs
INSIDE = 1e-12  # how far a multiplier may stand outside its box for round-off


@dataclass(frozen=True)
class Job:
    """Whom to leave out: variables that go to zero, and how g moves meanwhile."""

    variables: Ints
    e: Floats


class Doubt(Exception):
    """The fast walk does not vouch for what it does here."""


class Shared:
    """What all walks from one solution have in common."""

    def __init__(self, system: StaircaseSystem, stair: Ints, z: Floats) -> None:
        self.system, self.stair, self.z = system, stair, z
        coupling = system.coupling
        self.table = system.stairs.value
        self.rows = np.arange(len(system))
        self.h = system.residual(z, 0.0)
        self.free = np.flatnonzero(stair % 2 == 0)
        self.m, self.n_core = len(self.free), coupling.n_core
        G = coupling.block(self.free, self.free)
        try:
            H = np.linalg.inv(G) if self.m else G
        except np.linalg.LinAlgError:
            H = np.full_like(G, np.nan)
        # One step of Newton's, for the last digits.
        H = H + H @ (np.eye(self.m) - G @ H) if self.m else H
        self.H = 0.5 * (H + H.T)
        self.gram, self.p, self.sign = coupling.gram, coupling.index, coupling.sign
        self.border, self.sigma = coupling.border, coupling.sigma
        self.unit = float(np.max(self.sign**2 * self.gram.diagonal()[self.p]))  # of entries of G
        self.plain = coupling.plain
        self.core = self.free[self.free < self.n_core]
        self.panel = self.sign[self.core, None] * self.gram.rows(self.p[self.core])
        self.in_panel = np.zeros(len(system), dtype=bool)
        self.in_panel[self.core] = True
        self.tread = stair % 2 == 0
        self.low, self.high = (self.table[self.rows, stair + k] for k in (-1, 1))
        self.slots = np.full(self.m + ROOM, NOBODY)
        self.slots[: self.m] = self.free
        self.where = np.full(len(system), -1)
        self.where[self.free] = np.arange(self.m)

    def row(self, k: int) -> Floats:
        """G between k and everybody; and 0 for nobody, at the end."""
        n = self.n_core
        out = np.zeros(len(self.rows) + 1)
        if k < n:
            a = self.gram.rows(int(self.p[k]))
            out[:n] = self.sign[k] * self.sign * (a if self.plain else a[self.p])
            out[n:-1] = self.border[k]
        else:
            out[:n] = self.border[:, k - n]
        return out


class Walk:
    """One point on its way out."""

    def __init__(self, shared: Shared, job: Job) -> None:
        s = self.shared = shared
        self.job, self.stair, self.tread = job, s.stair.copy(), s.tread.copy()
        self.z, self.h, self.zd = s.z.copy(), s.h.copy(), np.zeros(len(s.z))
        self.low, self.high = s.low.copy(), s.high.copy()
        self.low[job.variables], self.high[job.variables] = -np.inf, np.inf
        # The variable in each slot; who leaves keeps the slot, empty.
        self.slots, self.where = s.slots.copy(), s.where.copy()
        self.n_slots = s.m
        self.U: list[Floats] = []
        self.d: list[float] = []
        self.extra: set[int] = set()  # variables that are not in the panel
        self.jumps = 0

    # ------------------------------------------------------------------ the loop

    def run(self) -> Floats:
        for k in self.job.variables:
            if self.tread[k]:  # its pin comes from the side of its weight
                self.leave(int(k), 1 if self.z[k] >= 0.0 else -1, own=True)
        self.direct()
        done = 0.0
        for _ in range(PATIENCE):
            rate, self.hd = self.rates(self.zd, self.job.e)
            k, side, step = self.first_block(rate)
            step = min(step, 1.0 - done)
            self.z += step * self.zd
            self.h += step * self.hd
            done += step
            if done >= 1.0:
                self.z[self.job.variables] = 0.0
                return self.z
            if self.tread[k]:
                self.leave(k, side)
            else:
                self.enter(k, side)
        raise Doubt

    def first_block(self, rate: Floats) -> tuple[int, int, float]:
        """Who reaches the end of a stair first, on which side, and how far that is."""
        moving = np.flatnonzero(rate)
        if moving.size == 0:
            return 0, 0, np.inf
        rate = rate[moving]
        up, tread = rate > 0.0, self.tread[moving]
        end = np.where(up, self.high[moving], self.low[moving])
        steps = (end - np.where(tread, self.z[moving], self.h[moving])) / rate
        np.maximum(steps, 0.0, out=steps)
        first = int(np.argmin(np.where(up & ~tread, 1.0 + LATER, 1.0) * steps))
        return int(moving[first]), 1 if up[first] else -1, float(steps[first])

    def rates(self, zd: Floats, e: Floats | float) -> tuple[Floats, Floats]:
        """z' on treads and h' on pins, 0 for who stands still; and h' of all."""
        s = self.shared
        n = s.n_core
        kz = zd[s.core] @ s.panel
        for k in self.extra:
            if zd[k]:
                kz += (zd[k] * s.sign[k]) * s.gram.rows(int(s.p[k]))
        core = s.sign * (kz if s.plain else kz[s.p])
        if zd[n:].any():
            core += s.border @ zd[n:]
        hd = np.concatenate([-core, zd[:n] @ s.border]) - e
        size = np.abs(zd)
        noise = np.where(self.tread, STILL * size.max(), STILL * s.unit * size[:n].sum())
        rate = np.where(self.tread, zd, hd)
        rate[np.abs(rate) <= noise] = 0.0
        rate[self.job.variables] = 0.0
        return rate, hd

    def jump(self, k: int, u: Floats) -> None:
        """Along a null vector, at a standing s, until somebody blocks, who makes way for k."""
        self.jumps += 1
        if self.jumps > JUMPS:
            raise Doubt
        largest = float(np.abs(u).max())
        if not largest > 0.0:
            raise Doubt
        u = u / largest
        rate, hd = self.rates(u, 0.0)
        rate[k] = 0.0
        j, side, step = self.first_block(rate)
        if not np.isfinite(step):
            raise Doubt
        self.z += step * u
        self.h += step * hd
        if self.tread[j]:
            self.leave(j, side)
        else:
            self.enter(j, side)

    # ------------------------------------------------------------------ the inverse

    def row(self, k: int) -> Floats:
        """G between k and the slots; 0 for empty ones."""
        return self.shared.row(k)[self.slots[: self.n_slots]]

    def solve(self, g: Floats) -> Floats:
        """H g over the slots."""
        m = self.shared.m
        v = np.zeros(self.n_slots)
        v[:m] = self.shared.H @ g[:m]
        for u, d in zip(self.U, self.d):
            v[: len(u)] += (d * (u @ g[: len(u)])) * u
        v[self.slots[: self.n_slots] == NOBODY] = 0.0
        return v

    def move(self, change: Floats) -> None:
        """Adds to z' of those in the slots."""
        slots = self.slots[: self.n_slots]
        used = slots != NOBODY
        self.zd[slots[used]] += change[used]

    def direct(self) -> None:
        """z' of everybody: the pins of the point, and with them those on treads."""
        s, job = self.shared, self.job
        self.zd[:] = 0.0
        self.zd[job.variables] = -self.z[job.variables]
        b = np.append(-s.sigma * job.e, 0.0)[self.slots[: self.n_slots]]
        for k in job.variables:
            if self.zd[k]:
                b -= self.zd[k] * self.row(int(k))
                if not s.in_panel[k]:
                    self.extra.add(int(k))
        self.move(self.solve(b))

    def enter(self, k: int, side: int) -> None:
        s, n = self.shared, self.n_slots
        if n == len(self.slots):
            raise Doubt
        whole = s.row(k)
        g = whole[self.slots[:n]]
        v = self.solve(g)
        diagonal = whole[k]
        pivot, size = diagonal - g @ v, diagonal + np.abs(g) @ np.abs(v)
        if k >= s.n_core:  # as in the reference: v may be round-off where g is not zero
            size = np.abs(g).sum() * np.abs(v).max(initial=0.0)
        if not s.sigma[k] * pivot > DOUBT * size:
            if s.sigma[k] * pivot > NIL * size or k >= s.n_core:
                raise Doubt
            u = np.zeros(len(self.z) + 1)
            u[self.slots[:n]] = -side * v
            u[k], u[-1] = side, 0.0
            self.extra.add(k)
            self.jump(k, u[:-1])
            return self.enter(k, side)
        # What the row asks for, less what it has: G_k z' for all that move, the point among them.
        speed = (-s.sigma[k] * self.job.e[k] - whole[:-1] @ self.zd) / pivot
        self.move(-speed * v)
        self.zd[k] = speed
        self.U.append(np.append(v, -1.0))
        self.d.append(1.0 / pivot)
        self.slots[n], self.where[k] = k, n
        self.n_slots += 1
        if k < s.n_core and not s.in_panel[k]:
            self.extra.add(k)
        self.step_over(k, side)

    def leave(self, k: int, side: int, own: bool = False) -> None:
        """k goes to a pin; the point itself (own) stays where it is, and its pin with it."""
        x = int(self.where[k])
        unit = np.zeros(self.n_slots)
        unit[x] = 1.0
        u = self.solve(unit) if x >= self.shared.m else self.column(x)
        g = self.row(k)
        pivot, size = self.shared.sigma[k] * u[x] * np.abs(g).max(), np.abs(g) @ np.abs(u)
        if not pivot > DOUBT * size:
            if pivot > NIL * size or k >= self.shared.n_core:
                raise Doubt
            null = np.zeros(len(self.z) + 1)
            null[self.slots[: self.n_slots]] = -side * self.shared.sigma[k] * u
            null[k] = null[-1] = 0.0
            self.jump(k, null[:-1])
            return self.leave(k, side, own)
        self.move((-self.zd[k] / u[x]) * u)
        self.zd[k] = 0.0
        self.U.append(u)
        self.d.append(-1.0 / u[x])
        self.slots[x] = NOBODY
        if own:
            self.tread[k] = False
        else:
            self.step_over(k, side)

    def column(self, x: int) -> Floats:
        """H e_x, without a product."""
        u = np.zeros(self.n_slots)
        u[: self.shared.m] = self.shared.H[x]
        for other, d in zip(self.U, self.d):
            if x < len(other):
                u[: len(other)] += (d * other[x]) * other
        u[self.slots[: self.n_slots] == NOBODY] = 0.0
        return u

    def mend(self, off: Floats) -> Floats:
        """The step of those on treads that takes away what is off."""
        slots = self.slots[: self.n_slots]
        step = np.zeros(len(off) + 1)
        step[slots] = self.solve(np.append(self.shared.sigma * off, 0.0)[slots])
        return step[:-1]

    def step_over(self, k: int, side: int) -> None:
        """To the next stair, exactly at the corner."""
        s = self.shared
        old = s.table[k, self.stair[k]]
        self.stair[k] += side
        new = s.table[k, self.stair[k]]
        self.tread[k] = self.stair[k] % 2 == 0
        if self.tread[k]:
            self.h[k] = new
        else:
            self.z[k], self.h[k] = new, old
        self.low[k], self.high[k] = s.table[k, self.stair[k] - 1], s.table[k, self.stair[k] + 1]


# ---------------------------------------------------------------------- all of them


def walk_out(
    system: StaircaseSystem, t: float, stair: Ints, z: Floats, jobs: list[Job]
) -> tuple[Floats, Ints]:
    """z without each job's variables, one column each, and which columns could not be had."""
    still = system.frozen(t, np.zeros(len(system)))
    shared = Shared(replace(still, r=np.zeros(len(system))), stair, z)
    ends = np.tile(z[:, None], (1, len(jobs)))
    walks: list[Walk | None] = [Walk(shared, job) for job in jobs]
    for j, walk in enumerate(walks):
        try:
            ends[:, j] = walk.run()  # type: ignore[union-attr]
        except Doubt:
            walks[j] = None
    failed = []
    for k in np.flatnonzero(~_hold(shared, jobs, walks, ends)):
        try:
            ends[:, k] = by_reference(still, stair, z, jobs[k])
        except StuckError:
            failed.append(k)
    return ends, np.array(failed, dtype=np.intp)


def _hold(shared: Shared, jobs: list[Job], walks: list[Walk | None], ends: Floats) -> Any:
    """Whether each end is a solution. Who is off by little is mended, once."""
    fine = np.zeros(len(walks), dtype=bool)
    for _ in range(2):
        open_ = [j for j, walk in enumerate(walks) if walk is not None and not fine[j]]
        if not open_:
            break
        off, holds = _check(shared, [jobs[j] for j in open_], ends[:, open_], _stairs(walks, open_))
        fine[open_] = holds
        for x, j in enumerate(open_):
            if not holds[x]:
                ends[:, j] += walks[j].mend(off[:, x])  # type: ignore[union-attr]
    return fine


def _stairs(walks: list[Walk | None], which: list[int]) -> Ints:
    return np.array([walks[j].stair for j in which]).T  # type: ignore[union-attr]


def _check(shared: Shared, jobs: list[Job], z: Floats, stairs: Ints) -> tuple[Floats, Any]:
    """How far residuals, computed from the data, are off; and whether that is nothing."""
    s = shared
    rows = s.rows[:, None]
    tread = stairs % 2 == 0
    low, held, high = (s.table[rows, stairs + k] for k in (-1, 0, 1))
    e = np.array([job.e for job in jobs]).T
    size = s.system.coupling.magnitude(s.z) + np.abs(s.system.q)
    tolerance = s.system.tolerances(size, 0.0, HOLDS, 64 * EPS)[:, None]
    h = -(s.system.coupling.dot(z) + s.system.q[:, None] + e)
    off = h - np.where(tread, held, np.clip(h, low, high))
    out = tread & ((z < low - INSIDE) | (z > high + INSIDE))
    for j, job in enumerate(jobs):
        off[job.variables, j], out[job.variables, j] = 0.0, False
    return off, ~np.any((np.abs(off) > tolerance) | out, axis=0)


def by_reference(still: StaircaseSystem, stair: Ints, z: Floats, job: Job) -> Floats:
    """The pins of the point go from w_i to 0 while t goes from 1 to 2."""
    value, slope = still.stairs.value.copy(), still.stairs.slope.copy()
    pins = value[job.variables, 1::2]
    pins = np.where(np.isfinite(pins), pins, 0.0)
    value[job.variables, 1::2] += pins
    slope[job.variables, 1::2] = -pins
    moving = replace(still, q=still.q - job.e, r=job.e, stairs=Staircases(value, slope))
    walker = Walker(moving, stair, z, 1.0, Recorder(), np.random.default_rng(0))
    walker.walk(2.0)
    end = walker.z.copy()
    end[job.variables] = 0.0
    return end
