# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The compiled walk of `leave_out.py`: one point leaves, with a small working set.

Free variables have slots, and so do variables that come to a tread. A variable that leaves a tread
leaves its slot empty and is watched from then on, like the pinned variables that the caller names.
No others take part in ratio tests: the caller checks whether the end is a solution.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from chemin.engine._blas cimport dot, gemv_t
from chemin.engine._entries cimport entry, has_row, row
from chemin.engine._system cimport Hit, System

cdef enum:
    ROOM = 60  # variables that may come to a tread in a walk,
    DEPARTURES = 60  # and leave one
    PATIENCE = 400  # events, before a walk is given to the reference
    JUMPS = 20

cdef enum Code:
    GOES_ON
    DONE
    DOUBTFUL


cdef class Walk(System):
    """Made once for a solution, used for one point after the other."""

    cdef:
        Py_ssize_t m, room  # m free variables at the start; room: slots there are
        double unit  # of entries of G
        # the solution from which all walks begin
        const double[:, ::1] H, GF
        const Py_ssize_t[::1] free, where, stair0
        const double[::1] z0, h0
        # the walk
        Py_ssize_t[::1] own, stair
        const double[::1] e
        double[::1] own_speed
        double total_own, largest_own, noise_z, noise_h, jumped
        Py_ssize_t n_slots, k, n_jumps
        Py_ssize_t[::1] slot_var, owner, slot_of
        double[::1] z, zd, lo, hi, g, v, work, start
        double[:, ::1] U
        double[::1] d
        # rows: the watched variables
        Py_ssize_t nw
        Py_ssize_t[::1] w_var
        char[::1] w_on
        double[::1] hw, hd, w_lo, w_hi, w_z, w_pull
        double[:, ::1] GW
        public double doubt, nil, still, later

    def __init__(self, system, stair, z, h, free, G, H):
        super().__init__(system)
        self.m, self.unit = len(free), np.max(np.square(self.root[: self.n_rows]))
        self.H, self.GF, self.free = np.ascontiguousarray(H), np.ascontiguousarray(G), free
        where = np.full(self.N, -1, dtype=np.intp)
        where[free] = np.arange(self.m)
        self.where, self.stair0, self.z0, self.h0 = where, stair, z, h
        self.room = self.m + ROOM
        self.slot_var, self.owner = (np.zeros(self.room, dtype=np.intp) for _ in range(2))
        self.z, self.zd, self.lo, self.hi = (np.zeros(self.room) for _ in range(4))
        self.g, self.v, self.start = (np.zeros(self.room) for _ in range(3))
        self.U = np.zeros((ROOM + DEPARTURES, self.room))
        self.d, self.work = (np.zeros(ROOM + DEPARTURES) for _ in range(2))

    # ------------------------------------------------------------------ from outside

    def run(
        self, own, const double[::1] e, const Py_ssize_t[::1] watched, direction, bint jumps,
        bint mend,
    ):
        """The point with these variables leaves, while g moves by e.

        `direction` is z' of the free variables, if it is known. Jumps may move every residual: they
        are made only if `jumps` says that all are watched. With `mend`, residuals on treads are
        corrected at the end. Returns whether the walk has arrived.
        """
        cdef Py_ssize_t s, w, most = len(watched) + DEPARTURES
        cdef const double[::1] zd = direction
        cdef Code code
        if self.GW is None or self.GW.shape[0] < most:
            self.GW = np.zeros((most, self.room))
            self.w_var, self.w_on = np.zeros(most, dtype=np.intp), np.zeros(most, dtype=np.int8)
            self.hw, self.hd, self.w_lo, self.w_hi = (np.zeros(most) for _ in range(4))
            self.w_z, self.w_pull = np.zeros(most), np.zeros(most)
        self.own, self.e = own, e
        self.own_speed = -np.asarray(self.z0)[own]
        self.total_own = self.largest_own = 0.0
        for s in range(len(own)):
            self.total_own += fabs(self.own_speed[s])
            self.largest_own = max(self.largest_own, fabs(self.own_speed[s]))
        self.stair = np.array(self.stair0)
        self.slot_of = np.array(self.where)
        self.n_slots, self.k, self.nw, self.n_jumps = self.m, 0, 0, 0 if jumps else JUMPS
        with nogil:
            for s in range(self.m):
                self._new_slot(s, self.free[s], self.z0[self.free[s]])
            for w in range(watched.shape[0]):
                self._watch(watched[w], self.h0[watched[w]])
            code = self._set_out(zd)
            if code == GOES_ON:
                code = self._walk()
            if code == DONE and mend:
                self._mend()
        return code == DONE

    def end(self, double[::1] z):
        """z there, written over that of the start; returns the stairs."""
        cdef Py_ssize_t s
        for s in range(self.n_slots):
            z[self.owner[s]] = self.z[s]
        for s in range(self.nw):
            if self.w_on[s]:
                z[self.w_var[s]] = self.w_z[s]
        for s in range(len(self.own)):
            z[self.own[s]] = 0.0
        return np.asarray(self.stair)

    # ------------------------------------------------------------------ the loop

    cdef Code _set_out(self, const double[::1] zd) noexcept nogil:
        """The point's own variables are no longer free: their pins begin to move."""
        cdef Py_ssize_t x, s, i
        memset(&self.zd[0], 0, self.room * sizeof(double))
        for x in range(self.own.shape[0]):
            s = self.slot_of[self.own[x]]
            if s >= 0 and self._leave(s, 1 if self.z[s] >= 0.0 else -1, True) != GOES_ON:
                return DOUBTFUL
        if zd is not None:
            for s in range(self.m):
                self.zd[s] = zd[s] if self.slot_var[s] >= 0 else 0.0
            return GOES_ON
        for s in range(self.n_slots):
            i = self.owner[s]
            self.v[s] = -self.sigma[i] * self.e[i]
        for x in range(self.own.shape[0]):
            if self.own_speed[x] != 0.0:
                row(&self.G, self.own[x], self.n_slots, &self.owner[0], &self.g[0])
                for s in range(self.n_slots):
                    self.v[s] -= self.own_speed[x] * self.g[s]
        for s in range(self.n_slots):
            if self.slot_var[s] < 0:
                self.v[s] = 0.0
        self._solve(&self.v[0], &self.zd[0])
        return GOES_ON

    cdef Code _walk(self) noexcept nogil:
        cdef Py_ssize_t _
        cdef double step, done = 0.0
        cdef Hit hit
        cdef Code code
        for _ in range(PATIENCE):
            self._rates(&self.zd[0], False, -1, 0.0)
            hit = self._first_block(&self.zd[0], -1, -1)
            step = min(hit.step, 1.0 - done)
            self._advance(&self.zd[0], step)
            done += step
            if done >= 1.0:
                return DONE
            code = self._pass(&hit)
            if code != GOES_ON:
                return code
        return DOUBTFUL

    cdef void _rates(
        self, const double *zd, bint jump, Py_ssize_t row_, double speed
    ) noexcept nogil:
        """h' of the rows, and the speeds below which nothing moves.

        Along a jump neither the point nor g moves, but a row may, at this speed.
        """
        cdef Py_ssize_t w, s, i
        cdef double largest = fabs(speed), total = 0.0
        if not jump:
            total, largest = self.total_own, self.largest_own
        elif row_ >= 0 and has_row(&self.G, self.w_var[row_]):
            total = fabs(speed)
        for s in range(self.n_slots):
            largest = max(largest, fabs(zd[s]))
            if has_row(&self.G, self.owner[s]):
                total += fabs(zd[s])
        self.noise_z, self.noise_h = self.still * largest, self.still * self.unit * total
        gemv_t(&self.GW[0, 0], self.room, self.nw, self.n_slots, 1.0, zd, 0.0, &self.hd[0])
        for w in range(self.nw):
            i = self.w_var[w]
            if not jump:
                self.hd[w] = -self.sigma[i] * (self.hd[w] + self.w_pull[w]) - self.e[i]
                continue
            if row_ >= 0:
                self.hd[w] += entry(&self.G, i, self.w_var[row_]) * speed
            self.hd[w] *= -self.sigma[i]

    cdef Code _pass(self, const Hit *hit) noexcept nogil:
        """The blocking variable goes over its corner."""
        if hit.slot:
            return self._leave(hit.at, hit.side, False)
        return self._enter(hit.at, hit.side)

    cdef Hit _first_block(
        self, const double *zd, Py_ssize_t but_slot, Py_ssize_t but_row
    ) noexcept nogil:
        """The ratio test, without one slot and one row."""
        cdef Py_ssize_t s, w
        cdef double step, late, best = INFINITY
        cdef Hit hit = Hit(INFINITY, -1, True, 0)
        for s in range(self.n_slots):
            if fabs(zd[s]) <= self.noise_z or self.slot_var[s] < 0 or s == but_slot:
                continue
            step = max(((self.hi[s] if zd[s] > 0.0 else self.lo[s]) - self.z[s]) / zd[s], 0.0)
            if step < best:
                best = step
                hit = Hit(step, s, True, 1 if zd[s] > 0.0 else -1)
        for w in range(self.nw):
            if fabs(self.hd[w]) <= self.noise_h or not self.w_on[w] or w == but_row:
                continue
            late = self.w_hi[w] if self.hd[w] > 0.0 else self.w_lo[w]
            step = max((late - self.hw[w]) / self.hd[w], 0.0)
            # Of two that block together the one that goes down from a pin is first.
            late = step * (1.0 + self.later) if self.hd[w] > 0.0 else step
            if late < best:
                best = late
                hit = Hit(step, w, False, 1 if self.hd[w] > 0.0 else -1)
        return hit

    cdef void _advance(self, const double *zd, double step) noexcept nogil:
        cdef Py_ssize_t s, w
        for s in range(self.n_slots):
            self.z[s] += step * zd[s]
        for w in range(self.nw):
            self.hw[w] += step * self.hd[w]

    # ------------------------------------------------------------------ slots and rows

    cdef void _new_slot(self, Py_ssize_t s, Py_ssize_t i, double z) noexcept nogil:
        cdef Py_ssize_t j = self.stair[i]
        self.slot_var[s] = self.owner[s] = i
        self.slot_of[i] = s
        self.z[s] = self.start[s] = z
        self.lo[s], self.hi[s] = self.value[i, j - 1], self.value[i, j + 1]

    cdef void _watch(self, Py_ssize_t i, double h) noexcept nogil:
        """Variable i, at a pin with residual h, is looked at from now on."""
        cdef Py_ssize_t w = self.nw, j = self.stair[i], x
        self.w_var[w], self.w_on[w], self.hw[w] = i, True, h
        self.w_lo[w], self.w_hi[w] = self.value[i, j - 1], self.value[i, j + 1]
        self.w_z[w], self.w_pull[w] = self.value[i, j], 0.0
        row(&self.G, i, self.n_slots, &self.owner[0], &self.GW[w, 0])
        for x in range(self.own.shape[0]):
            if self.own_speed[x] != 0.0:
                self.w_pull[w] += entry(&self.G, i, self.own[x]) * self.own_speed[x]
        self.nw += 1

    # ------------------------------------------------------------------ the inverse

    cdef void _solve(self, const double *g, double *out) noexcept nogil:
        """out = H g = H0 g + U' D U g over the slots; 0 in empty ones."""
        cdef Py_ssize_t s, m = self.m
        gemv_t(&self.H[0, 0], m, m, m, 1.0, g, 0.0, out)
        memset(out + m, 0, (self.n_slots - m) * sizeof(double))
        for s in range(self.k):
            self.work[s] = self.d[s] * dot(self.n_slots, &self.U[s, 0], g)
        self._add_changes(out)

    cdef void _column(self, Py_ssize_t x, double *out) noexcept nogil:
        """out = H e_x, without a product."""
        cdef Py_ssize_t s
        memset(out, 0, self.n_slots * sizeof(double))
        if x < self.m:
            memcpy(out, &self.H[x, 0], self.m * sizeof(double))
        for s in range(self.k):
            self.work[s] = self.d[s] * self.U[s, x]
        self._add_changes(out)

    cdef void _add_changes(self, double *out) noexcept nogil:
        """out += U' work."""
        cdef Py_ssize_t s, x
        for x in range(self.k):
            for s in range(self.n_slots):
                out[s] += self.work[x] * self.U[x, s]
        for s in range(self.n_slots):
            if self.slot_var[s] < 0:
                out[s] = 0.0

    cdef void _change(self, const double *u, double d) noexcept nogil:
        """H += d u u'."""
        memset(&self.U[self.k, 0], 0, self.room * sizeof(double))
        memcpy(&self.U[self.k, 0], u, self.n_slots * sizeof(double))
        self.d[self.k] = d
        self.k += 1

    cdef void _mend(self) noexcept nogil:
        """Take away the drift of residuals on treads, computed from their start."""
        cdef:
            Py_ssize_t s, x, i, n = self.n_slots
            double level
            double *off = &self.zd[0]  # the direction is no longer needed
            double *moved = &self.start[0]
            double *g = &self.g[0]
        for s in range(n):
            moved[s] = self.z[s] - moved[s]
        gemv_t(&self.GF[0, 0], self.m, self.m, self.m, 1.0, moved, 0.0, off)
        for x in range(self.m, n):
            row(&self.G, self.owner[x], n, &self.owner[0], g)
            for s in range(self.m):
                off[s] += g[s] * moved[x]
            off[x] = dot(n, g, moved)
        for x in range(self.own.shape[0]):
            if self.own_speed[x] != 0.0:
                row(&self.G, self.own[x], n, &self.owner[0], g)
                for s in range(n):
                    off[s] += g[s] * self.own_speed[x]
        for s in range(n):
            i = self.slot_var[s]
            if i < 0:
                off[s] = 0.0
                continue
            level = self.value[i, self.stair[i]]
            off[s] = self.sigma[i] * (self.h0[i] - self.e[i] - level) - off[s]
        self._solve(off, &self.v[0])
        for s in range(n):
            self.z[s] += self.v[s]

    # ------------------------------------------------------------------ corners

    cdef Code _enter(self, Py_ssize_t w, int side) noexcept nogil:
        """Row w comes from its pin to a tread."""
        cdef:
            Py_ssize_t i = self.w_var[w], s, new = self.n_slots, stair = self.stair[i]
            double *g = &self.g[0]
            double *v = &self.v[0]
            double pivot, size, wide, largest, speed, sigma = self.sigma[i]
        while True:
            if new == self.room or self.k == ROOM + DEPARTURES:
                return DOUBTFUL
            for s in range(new):
                g[s] = self.GW[w, s] if self.slot_var[s] >= 0 else 0.0
            self._solve(g, v)
            pivot = size = entry(&self.G, i, i)
            wide = largest = 0.0
            for s in range(new):
                pivot -= g[s] * v[s]
                size += fabs(g[s] * v[s])
                wide += fabs(g[s])
                largest = max(largest, fabs(v[s]))
            for s in range(new):  # as in the reference: such entries count as the largest does
                if self.slot_var[s] >= 0 and not has_row(&self.G, self.slot_var[s]):
                    size += fabs(g[s]) * largest
            if not has_row(&self.G, i):  # as in the reference: v may be round-off
                size = wide * largest
            if sigma * pivot > self.doubt * size:
                break
            if sigma * pivot > self.nil * size or not has_row(&self.G, i):
                return DOUBTFUL
            # A jump: along the null vector, at a standing s, until a variable blocks.
            for s in range(new):
                v[s] = -side * v[s]
            if self._jump(v, -1, w, side) != GOES_ON:
                return DOUBTFUL
            if self.stair[i] != stair:  # it has gone all the way to its next pin
                return GOES_ON
            new = self.n_slots
        # The speed that keeps the residual on its tread; w_pull is the part of the point itself.
        speed = -sigma * self.e[i] - dot(new, g, &self.zd[0]) - self.w_pull[w]
        speed /= pivot
        for s in range(new):
            self.zd[s] -= speed * v[s]
        self.zd[new] = speed
        self._change(v, 1.0 / pivot)
        self.U[self.k - 1, new] = -1.0
        self.stair[i] += side
        self.n_slots += 1
        self._new_slot(new, i, self.w_z[w])
        self.w_on[w] = False
        for s in range(self.nw):
            self.GW[s, new] = entry(&self.G, i, self.w_var[s])
        return GOES_ON

    cdef Code _leave(self, Py_ssize_t x, int side, bint own) noexcept nogil:
        """Slot x goes to a pin; the point itself (own) stays where it is, and its pin with it."""
        cdef:
            Py_ssize_t i = self.slot_var[x], s, old = self.stair[i]
            double *u = &self.v[0]
            double *g = &self.g[0]
            double pivot, size, largest, sigma = self.sigma[i], h = self.value[i, old]
        while True:
            if self.k == ROOM + DEPARTURES or (not own and self.nw == self.GW.shape[0]):
                return DOUBTFUL
            self._column(x, u)
            row(&self.G, i, self.n_slots, &self.owner[0], g)
            size = largest = 0.0
            for s in range(self.n_slots):
                if self.slot_var[s] >= 0:
                    size += fabs(g[s] * u[s])
                    largest = max(largest, fabs(g[s]))
            pivot = sigma * u[x] * largest
            if pivot > self.doubt * size:
                break
            if pivot > self.nil * size or not has_row(&self.G, i):
                return DOUBTFUL
            for s in range(self.n_slots):
                u[s] = -side * sigma * u[s]
            u[x] = 0.0
            if self._jump(u, x, -1, 0) != GOES_ON:
                return DOUBTFUL
            h += side * self.jumped  # G u = e_x: its residual is the one that moves
        pivot = self.zd[x] / u[x]
        for s in range(self.n_slots):
            self.zd[s] -= pivot * u[s]
        self.zd[x] = 0.0
        self._change(u, -1.0 / u[x])
        self.slot_var[x], self.slot_of[i] = -1, -1
        if not own:
            self.stair[i] = old + side
            self.z[x] = self.value[i, old + side]
            self._watch(i, h)
        return GOES_ON

    cdef Code _jump(self, double *u, Py_ssize_t x, Py_ssize_t w, int side) noexcept nogil:
        """Along u, with row w (if any) going to its side, until a variable blocks and goes over."""
        cdef Py_ssize_t s, i, j
        cdef Hit hit
        cdef double step, largest = 1.0 if w >= 0 else 0.0
        cdef Code code
        self.n_jumps += 1
        if self.n_jumps > JUMPS or self.k + 2 > ROOM + DEPARTURES:
            return DOUBTFUL
        for s in range(self.n_slots):
            largest = max(largest, fabs(u[s]))
        if not largest > 0.0:
            return DOUBTFUL
        for s in range(self.n_slots):
            u[s] /= largest
        self._rates(u, True, w, side / largest)
        hit = self._first_block(u, x, w)
        step = hit.step
        if w >= 0:
            i = self.w_var[w]
            j = self.stair[i] + 2 * side
            if fabs(self.value[i, j] - self.w_z[w]) * largest <= step:
                step = fabs(self.value[i, j] - self.w_z[w]) * largest
                self._advance(u, step)
                self.stair[i] = j
                self.hw[w], self.w_z[w] = self.value[i, j - side], self.value[i, j]
                self.w_lo[w], self.w_hi[w] = self.value[i, j - 1], self.value[i, j + 1]
                return GOES_ON
        if step == INFINITY:
            return DOUBTFUL
        self._advance(u, step)
        if w >= 0:
            self.w_z[w] += step * side / largest
        code = self._pass(&hit)
        self.jumped = step / largest
        return code
