# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The loop of the compiled walk: a block of steps of the walk that `reference.py` describes.

    step     ratio test over slots and rows, advance to the first that blocks
    settle   take variables over their corners, one at a time, until all can go on
    enter    a row goes from its pin to a tread;    leave: a slot goes from its tread to a pin
    jump     the pivot is zero: along the null vector at a standing t, until a slot blocks
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from chemin.engine._blas cimport gemv_t
from chemin.engine._entries cimport entry

FULL, ARRIVED, SINGULAR_PIVOT, RAY, INDEFINITE_PIVOT, BROKEN = range(6)

cdef enum:
    C_GOES_ON = -1
    C_FULL = 0
    C_ARRIVED = 1
    C_SINGULAR = 2
    C_RAY = 3
    C_INDEFINITE = 4
    C_BROKEN = 5

cdef double EPS = np.finfo(np.float64).eps


cdef class Loop(WorkingSet):
    """Steps, corners, pivots and jumps; see the module's text."""

    def reserve(self, Py_ssize_t cap):
        if not super().reserve(cap):
            return False
        self.jump = np.zeros(self.cap)
        return True

    def load(self, stair, z, double t, double way, H):
        """Stand at (stair, z, t); H is the inverse of G_FF in the order of np.flatnonzero."""
        self.settling = self.arriving = True
        self.off_lo, self.off_hi = (np.full(self.N, np.inf) for _ in range(2))
        super().load(stair, z, t, way, H)

    def snapshot(self):
        """What is needed to walk the block again."""
        return (
            self.t, self.ns, self.settling, self.arriving, np.array(self.stair), np.array(self.zs),
            np.array(self.zd), np.array(self.lo), np.array(self.hi), np.array(self.b),
            np.array(self.slot_var), np.array(self.owner), np.array(self.slot_of),
            np.array(self.off_lo), np.array(self.off_hi),
        )

    def restore(self, saved):
        """Back to the block's start: H0 has not been touched."""
        (
            self.t, self.ns, self.settling, self.arriving, self.stair, self.zs, self.zd, self.lo,
            self.hi, self.b,
            self.slot_var, self.owner, self.slot_of, self.off_lo, self.off_hi,
        ) = saved
        self.flowing = False

    # ------------------------------------------------------------------ the loop

    def run(self, double way, double t_end):
        """Walk until the block is full, t_end is reached or a pivot vanishes."""
        cdef int code
        with nogil:
            code = self._run(way, t_end)
        return code

    cdef int _run(self, double way, double t_end) noexcept nogil:
        cdef int code
        cdef double begun = fabs(self.t)
        self.far = fabs(t_end) if fabs(t_end) < INFINITY else 0.0
        self._watch_rates(way)
        if self.arriving:
            self._corners(-1, True)
            self.arriving = False
        while True:
            if self.settling:
                code = self._settle(way)
                if code != C_GOES_ON:
                    return code
            if self.n_moves >= self.limit or self._crowded():
                return C_FULL
            if fabs(self.t) < self.look_again * begun:
                return C_FULL  # tolerances shrink with t: the next block has new ones
            code = self._step(way, t_end)
            if code != C_GOES_ON:
                return code

    cdef bint _crowded(self) noexcept nogil:
        """Whether a jump and its trade would not fit: jumps past a tread change no inverse."""
        return self.k + 4 > self.ucap or self.n_events + 4 > self.ucap or self.ns + 2 > self.cap

    cdef int _step(self, double way, double t_end) noexcept nogil:
        """Advance to the first that blocks; variables near corners are given offsets."""
        cdef double span = max(fabs(self.t), self.far, EPS)
        cdef bint cut = False
        cdef Hit hit = Hit(INFINITY, -1, True, 0)
        self._first_slot(span, &hit)
        self._first_row(way, self._size_zd(), span, &hit)
        # Long ways are cut, as in the reference.
        if fabs(t_end) < fabs(self.t) and fabs(self.t) > max(fabs(t_end), self.tiny_t):
            if hit.step > self.longest * fabs(self.t):
                hit.step, cut = self.longest * fabs(self.t), True
        if t_end == 0.0 and fabs(self.t) <= self.tiny_t:
            hit.step = INFINITY
        if hit.step >= fabs(t_end - self.t):
            hit.step = fabs(t_end - self.t)
            if hit.step == INFINITY:
                return C_RAY
            self._advance(hit.step, t_end)
            return C_ARRIVED
        self._advance(hit.step, self.t + way * hit.step)
        self._corners(-1 if cut else hit.at, hit.slot)
        return C_GOES_ON

    cdef void _first_slot(self, double span, Hit *hit) noexcept nogil:
        """The ratio test over the free variables."""
        cdef Py_ssize_t s, i
        cdef double step, gap, rate, noise, noise_z = self._noise_z()
        for s in range(self.ns):
            i = self.slot_var[s]
            if i < 0:
                continue
            rate = self.zd[s]
            noise = max(noise_z, self.blur[i] / span)
            if rate > noise:
                gap = self.hi[s] - self.zs[s]
            elif rate < -noise:
                gap = self.zs[s] - self.lo[s]
                rate = -rate
            else:
                continue
            step = gap / rate if gap > 0 else 0.0
            if step < hit.step:
                hit[0] = Hit(step, s, True, 0)

    cdef void _first_row(self, double way, double size, double span, Hit *hit) noexcept nogil:
        """The ratio test over the watched variables."""
        cdef:
            Py_ssize_t w, at = -1
            double up, down, above, below, noise, best = hit.step, t = self.t
            const double *hw = &self.hw[0]
            const double *hd = &self.hd[0]
            const double *lo = &self.w_lo[0]
            const double *los = &self.w_los[0]
            const double *hi = &self.w_hi[0]
            const double *his = &self.w_his[0]
        for w in range(self.nw):
            up, down = hd[w] - his[w] * way, los[w] * way - hd[w]
            above, below = hi[w] + t * his[w] - hw[w], hw[w] - lo[w] - t * los[w]
            # Few pass this; no branch that cannot be foreseen, no division before it.
            if not (above < best * up) | (below < best * down):
                continue
            noise = self._noise_h(w, size, span)
            if up > noise and max(above, 0.0) < best * up:
                best, at = max(above, 0.0) / up, w
            if down > noise and max(below, 0.0) < best * down:
                best, at = max(below, 0.0) / down, w
        if at >= 0:
            hit[0] = Hit(best, at, False, 0)

    cdef void _advance(self, double step, double t) noexcept nogil:
        cdef Py_ssize_t w
        for w in range(self.nw):
            self.hw[w] += step * self.hd[w]
        self._move(&self.zd[0], step, t)

    cdef void _corners(self, Py_ssize_t first, bint slot) noexcept nogil:
        self._find_corners(first, slot)
        self.settling = True

    cdef int _settle(self, double way) noexcept nogil:
        """Take variables over their corners until all can go on."""
        cdef:
            Py_ssize_t i, jumps, turns = 0
            double size, noise_z, span = max(fabs(self.t), self.far, EPS)
            Hit hit
            int code
        while True:
            if self._crowded():
                return C_FULL
            noise_z, size = self._noise_z(), self._size_zd()
            self._first_corner(way, noise_z, size, span, &hit)
            if hit.at < 0:
                self._forget_offsets()
                self.settling = False
                return C_GOES_ON
            turns += 1
            if turns > 20 * self.N + 100:
                return C_SINGULAR  # moved by round-off: left to the reference
            self._move_offsets(hit.step, way, noise_z, size, span)
            i = self.slot_var[hit.at] if hit.slot else self.w_var[hit.at]
            jumps = self.n_jumps
            if hit.slot:
                code = self._leave(hit.at, hit.side, way)
            else:
                code = self._enter(hit.at, hit.side, way, -1)
            if code != C_GOES_ON:
                return code
            if self.n_jumps == jumps:
                self._corner_behind(i, hit.side)

    # ------------------------------------------------------------------ pivots

    cdef int _enter(self, Py_ssize_t w, int side, double way, Py_ssize_t slot) noexcept nogil:
        """Row w goes from its pin to a tread, in a new slot or (after a jump) in this one."""
        cdef:
            Py_ssize_t i = self.w_var[w], s, ns = self.ns, new = self.ns if slot < 0 else slot
            double pivot, size = 0.0
        for s in range(ns):
            self.g[s] = self.GW[w, s] if self.slot_var[s] >= 0 else 0.0
        pivot = self.sigma[i] * self._schur(i, &size)
        if pivot < -self.indefinite * size:
            return C_INDEFINITE
        if pivot <= self.nil * size or pivot * self.span[i] <= 0.5 * self.tol[i]:
            return self._jump(w, side, way, size) if slot < 0 else C_BROKEN
        if pivot <= self.doubt * size:
            return C_SINGULAR
        self._event(i, side)
        self._new_slot(new, i, way)
        if slot < 0:
            self.zs[new] = self.lo[new] if side > 0 else self.hi[new]
            self.z0[new] = self.zs[new]
            self.ns += 1
        self._add_slot(new, ns, self.sigma[i] * pivot)
        return self._after_entry(w, new, way, pivot < self.frail * size)

    cdef int _after_entry(
        self, Py_ssize_t w, Py_ssize_t new, double way, bint frail
    ) noexcept nogil:
        """Row w is no longer looked at, and the other rows take its variable's column."""
        cdef Py_ssize_t s, i = self.w_var[w]
        self.slot_row[new] = w
        self.w_on[w] = 0
        self.w_lo[w], self.w_los[w], self.w_hi[w], self.w_his[w] = -INFINITY, 0.0, INFINITY, 0.0
        self._new_column(new, i)
        if self.careful:
            self._row(i, &self.GF[new, 0])
            for s in range(self.ns):
                self.GF[s, new] = self.GF[new, s]
            if frail and not self._invert():
                return C_SINGULAR
            self._refine(&self.b[0], &self.zd[0])
        self._watch_rates(way)
        return C_GOES_ON

    cdef int _leave(self, Py_ssize_t s, int side, double way) noexcept nogil:
        """Slot s goes from its tread to a pin."""
        cdef Py_ssize_t i = self.slot_var[s]
        cdef double size = 0.0, largest = 0.0
        cdef double pivot = self.sigma[i] * self._leaving(s, &size, &largest)
        if pivot * largest <= self.doubt * size:
            return C_SINGULAR
        self._event(i, side)
        self._drop_slot(s)
        self.zs[s] = self.hi[s] if side > 0 else self.lo[s]
        if self.n_moves:  # it stands at its pin exactly, from the last breakpoint on
            self.DZ[self.n_moves - 1, s] = self.zs[s] - self.z0[s]
        self._watch_leaver(s, i, side)
        if self.careful:
            if 1.0 < self.frail * pivot * largest and not self._invert():
                return C_SINGULAR
            self._refine(&self.b[0], &self.zd[0])
        self._watch_rates(way)
        return C_GOES_ON

    cdef void _watch_leaver(self, Py_ssize_t s, Py_ssize_t i, int side) noexcept nogil:
        """Variable i has left slot s for a pin: a row at the end of the tread that it left."""
        cdef Py_ssize_t w = self.nw, tread = self.stair[i] - side
        self._new_row(w, i, self.value[i, tread] + self.t * self.slope[i, tread])
        self.cornered[self.n_cornered] = w
        self.n_cornered += 1
        memcpy(&self.GW[w, 0], &self.g[0], self.ns * sizeof(double))
        self.slot_row[s], self.left_at[s], self.left_from[s] = w, self.n_moves - 1, self.hw[w]
        self.nw += 1

    # ------------------------------------------------------------------ jumps

    cdef int _jump(self, Py_ssize_t w, int side, double way, double size) noexcept nogil:
        """Row w cannot enter: move along the null vector (-H g; 1) until a slot blocks, and trade.

        H g is in v and stays there. The path stands still in t. Only free variables can block: a
        null vector of a positive semi-definite matrix moves no residual (this is checked).
        """
        cdef:
            Py_ssize_t i = self.w_var[w], new = self.ns, m = self.n_moves, last
            double scale, v
            int code
            Hit hit
        if m == self.bcap or self._crowded():
            return C_FULL if m else C_SINGULAR
        scale = self._null_vector(i, side)
        if self._moves_rows(w):
            return C_SINGULAR
        # Row w itself may reach its next pin before a slot blocks.
        last = self.stair[i] + 2 * side
        hit = Hit(fabs(self.value[i, last] - self.value[i, self.stair[i]]) * scale, new, True, side)
        if self._first_in_jump(&hit):
            hit.step = 0.0
        if hit.step == INFINITY:
            return C_SINGULAR
        if hit.at != new:  # the trade is regular when the blocking slot is part of the null vector
            v = self.v[hit.at]
            if v * v <= self.doubt * size * fabs(self._diagonal(hit.at)):
                return C_SINGULAR
        self._seat(w)
        if hit.step > 0.0:
            self._move(&self.jump[0], hit.step, self.t)
            self.mon[m, new] = 1
        if hit.at == new:  # all the way to its next pin
            self._event(i, side)
            self._event(i, side)
            self.zs[new] = self.value[i, self.stair[i]]
            self._look_around(w)
        else:
            code = self._leave(hit.at, hit.side, way)
            if code != C_GOES_ON or self._enter(w, side, way, new) != C_GOES_ON:
                return C_BROKEN
        self.n_jumps += 1
        self._corners(-1, True)
        return C_GOES_ON

    cdef double _null_vector(self, Py_ssize_t i, int side) noexcept nogil:
        """jump = (-v; 1) side / scale, of largest entry 1; returns the scale."""
        cdef Py_ssize_t s
        cdef double scale = 1.0
        for s in range(self.ns):
            scale = max(scale, fabs(self.v[s]))
        for s in range(self.ns):
            self.jump[s] = -self.v[s] * side / scale
        self.jump[self.ns] = side / scale
        return scale

    cdef bint _moves_rows(self, Py_ssize_t w) noexcept nogil:
        """Whether the null vector, with row w in the next slot, moves a residual."""
        cdef Py_ssize_t s, x, j, i = self.w_var[w]
        cdef double *u = &self.jump[0]
        cdef double total = self.root[i] * fabs(u[self.ns])
        for s in range(self.ns):
            if self.slot_var[s] >= 0:
                total += self.root[self.slot_var[s]] * fabs(u[s])
        gemv_t(&self.GW[0, 0], self.cap, self.nw, self.ns, 1.0, u, 0.0, &self.hj[0])
        for x in range(self.nw):
            j = self.w_var[x]
            if self.w_on[x] and x != w and fabs(
                self.hj[x] + entry(&self.G, j, i) * u[self.ns]
            ) > self.still * self.root[j] * total + self.tol[j]:
                return True
        return False

    cdef bint _first_in_jump(self, Hit *hit) noexcept nogil:
        """The ratio test along a jump; True if it ends at once: offsets come before distances."""
        cdef:
            Py_ssize_t s, j
            double step, offset
            const double *u = &self.jump[0]
            bint near = False
        for s in range(self.ns):
            j = self.slot_var[s]
            if j < 0 or fabs(u[s]) <= self.still:
                continue
            offset = self.off_hi[j] if u[s] > 0 else self.off_lo[j]
            if offset < INFINITY:
                step = offset / fabs(u[s])
                if near and step >= hit.step:
                    continue
                near = True
            elif near:
                continue
            else:
                step = max(self.hi[s] - self.zs[s] if u[s] > 0 else self.zs[s] - self.lo[s], 0.0)
                step /= fabs(u[s])
                if step >= hit.step:
                    continue
            hit[0] = Hit(step, s, True, 1 if u[s] > 0 else -1)
        return near

    cdef void _seat(self, Py_ssize_t w) noexcept nogil:
        """Row w takes the next slot, which stays empty until the trade is made."""
        cdef Py_ssize_t x, i = self.w_var[w], new = self.ns
        self.slot_var[new], self.owner[new], self.b[new], self.zd[new] = -1, i, 0.0, 0.0
        self.zs[new] = self.z0[new] = self.value[i, self.stair[i]]
        self.slot_row[new] = w
        self._new_column(new, i)
        for x in range(self.k):
            self.U[x, new] = 0.0
        self.ns += 1
