# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The loop of the compiled walk: a block of steps of the walk that `reference.py` describes.

    step     ratio test over slots and rows, advance to the first that blocks
    settle   take variables over their corners, one at a time, until all can go on
    enter    a row goes from its pin to a tread;    leave: a slot goes from its tread to a pin
    jump     the pivot is zero: along the null vector at a standing t, to the first that blocks;
             what was to enter or to leave does so together with it
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from chemin.engine._blas cimport dot
from chemin.engine._vector cimport CHUNK, chemin_any_meets
from chemin.engine._working_set cimport noise_z

FULL, ARRIVED, SINGULAR_PIVOT, RAY, INDEFINITE_PIVOT, BLIND = range(6)

cdef double EPS = np.finfo(np.float64).eps


cdef inline void copy(void *here, void *kept, size_t size, bint keep) noexcept nogil:
    if keep:
        memcpy(kept, here, size)
    else:
        memcpy(here, kept, size)


cdef class Loop(WorkingSet):
    """Steps, corners, pivots and jumps; see the module's text."""

    def reserve(self, Py_ssize_t cap):
        if not super().reserve(cap):
            return False
        self.jump = np.zeros(self.cap)
        return True

    def load(self, stair, z, double t, double way, *inverse):
        """Stand at (stair, z, t); see `Factor.load`."""
        self.settling = self.arriving = True
        self.off_lo[:] = INFINITY
        self.off_hi[:] = INFINITY
        super().load(stair, z, t, way, *inverse)

    def snapshot(self):
        """Keep what is needed to walk the block again."""
        if self.kept_slots is None or self.kept_slots.shape[1] < self.cap:
            self.kept_slots = np.zeros((7, self.cap))
            self.kept_owners = np.zeros((2, self.cap), dtype=np.intp)
            self.kept_offsets = np.zeros((2, self.N))
            self.kept_stairs = np.zeros((2, self.N), dtype=np.intp)
        self.kept_numbers = self.t, self.ns, self.settling, self.arriving, self.spoilt
        self._exchange(True)

    def restore(self):
        """Back to the block's start: H0 has not been touched."""
        self.t, self.ns, self.settling, self.arriving, self.spoilt = self.kept_numbers
        self._exchange(False)
        self.flowing = False
        self.frame[:] = 0.0
        self.coast[:] = 0.0

    cdef void _exchange(self, bint keep) noexcept nogil:
        """To what is kept, or back."""
        cdef:
            Py_ssize_t x
            size_t numbers = self.ns * sizeof(double), places = self.ns * sizeof(Py_ssize_t)
            double *slots[7]
            Py_ssize_t *owners[2]
            double *offsets[2]
            Py_ssize_t *stairs[2]
        slots[0], slots[1], slots[2] = &self.zs[0], &self.zd[0], &self.b[0]
        slots[3], slots[4], slots[5], slots[6] = (
            &self.lo[0], &self.hi[0], &self.los[0], &self.his[0]
        )
        owners[0], owners[1] = &self.slot_var[0], &self.owner[0]
        offsets[0], offsets[1] = &self.off_lo[0], &self.off_hi[0]
        stairs[0], stairs[1] = &self.stair[0], &self.slot_of[0]
        for x in range(7):
            copy(slots[x], &self.kept_slots[x, 0], numbers, keep)
        for x in range(2):
            copy(owners[x], &self.kept_owners[x, 0], places, keep)
            copy(offsets[x], &self.kept_offsets[x, 0], self.N * sizeof(double), keep)
            copy(stairs[x], &self.kept_stairs[x, 0], self.N * sizeof(Py_ssize_t), keep)

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
        self.straight = False
        self.to_zero = t_end == 0.0 and self.longest == INFINITY
        self._watch_rates(way)
        if self._hardest() > self.hard:
            self._straighten(way, True)
        if self.arriving:
            self._corners(-1, True, 0)
            self.arriving = False
        while True:
            if self.settling:
                code = self._settle(way)
                if code != C_GOES_ON:
                    return code
            if self.n_moves >= self.limit or self._crowded():
                return C_FULL
            if self.spoilt > self.ruined and self.n_events > 0:
                return C_FULL  # the next one has a fresh inverse
            code = self._step(way, t_end, self.look_again * begun)
            if code != C_GOES_ON:
                return code

    cdef bint _crowded(self) noexcept nogil:
        """Whether a jump and its trade would not fit: jumps past a tread change no inverse."""
        return self.k + 4 > self.ucap or self.n_events + 4 > self.ucap or self.ns + 2 > self.cap

    cdef int _step(self, double way, double t_end, double nearest) noexcept nogil:
        """Advance to the first that blocks; variables near corners are given offsets.

        Tolerances shrink with t: a step below `nearest` is left to the next block, which has new
        ones, unless it is the first.
        """
        cdef bint cut = False
        cdef Hit hit = Hit(INFINITY, -1, True, 0)
        cdef Direction onward = self._onward(way)
        self._first_slot(&onward, &hit)
        self._first_row(&onward, &hit)
        # Long ways are cut, as in the reference.
        if fabs(t_end) < fabs(self.t) and fabs(self.t) > max(fabs(t_end), self.tiny_t):
            if hit.step > self.longest * fabs(self.t):
                hit.step, cut = self.longest * fabs(self.t), True
        if t_end == 0.0 and (
            fabs(self.t) <= self.tiny_t
            or (self.longest == INFINITY and fabs(self.t) - hit.step <= self.tiny_t)
        ):
            hit.step = INFINITY
        if self.n_moves > 0 and fabs(self.t + way * min(hit.step, fabs(t_end - self.t))) < nearest:
            return C_FULL
        if hit.step >= fabs(t_end - self.t):
            hit.step = fabs(t_end - self.t)
            if hit.step == INFINITY:
                return C_RAY
            self._advance(hit.step, t_end)
            return C_ARRIVED
        self._advance(hit.step, self.t + way * hit.step)
        self._corners(-1 if cut else hit.at, hit.slot, hit.side)
        return C_GOES_ON

    cdef void _first_slot(self, const Direction *d, Hit *hit) noexcept nogil:
        """The ratio test over the free variables; few of them are looked at one by one."""
        cdef:
            Py_ssize_t chunk, s, some
            const double *zs = &self.zs[0]
            const double *lo = &self.lo[0]
            const double *los = &self.los[0]
            const double *hi = &self.hi[0]
            const double *his = &self.his[0]
        for chunk in range((self.ns + CHUNK - 1) // CHUNK):
            s = chunk * CHUNK
            some = min(self.ns - s, <Py_ssize_t> CHUNK)
            if chemin_any_meets(
                some, zs + s, d.z + s, lo + s, los + s, hi + s, his + s, self.t, d.t, hit.step
            ):
                self._meet_slots(d, s, s + some, hit)

    cdef void _meet_slots(
        self, const Direction *d, Py_ssize_t first, Py_ssize_t last, Hit *hit
    ) noexcept nogil:
        """The ratio test over some slots."""
        cdef Py_ssize_t s
        cdef double up, down, above, below, noise
        for s in range(first, last):
            if self.slot_var[s] < 0:
                continue
            up, down = d.z[s] - self.his[s] * d.t, self.los[s] * d.t - d.z[s]
            above, below = max(self._high(s) - self.zs[s], 0.0), max(self.zs[s] - self._low(s), 0.0)
            noise = noise_z(d, self.blur[self.slot_var[s]])
            if up > noise and above < hit.step * up:
                hit[0] = Hit(above / up, s, True, 1)
            if down > noise and below < hit.step * down:
                hit[0] = Hit(below / down, s, True, -1)

    cdef void _first_row(self, const Direction *d, Hit *hit) noexcept nogil:
        """The ratio test over the watched variables."""
        cdef:
            Py_ssize_t chunk, w, some
            const double *hw = &self.hw[0]
            const double *lo = &self.w_lo[0]
            const double *los = &self.w_los[0]
            const double *hi = &self.w_hi[0]
            const double *his = &self.w_his[0]
        for chunk in range((self.nw + CHUNK - 1) // CHUNK):
            w = chunk * CHUNK
            some = min(self.nw - w, <Py_ssize_t> CHUNK)
            if chemin_any_meets(
                some, hw + w, d.h + w, lo + w, los + w, hi + w, his + w, self.t, d.t, hit.step
            ):
                self._meet_rows(d, w, w + some, hit)

    cdef void _meet_rows(
        self, const Direction *d, Py_ssize_t first, Py_ssize_t last, Hit *hit
    ) noexcept nogil:
        """The ratio test over some rows."""
        cdef Py_ssize_t w
        cdef double up, down, above, below, noise
        for w in range(first, last):
            up, down = d.h[w] - self.w_his[w] * d.t, self.w_los[w] * d.t - d.h[w]
            above = self.w_hi[w] + self.t * self.w_his[w] - self.hw[w]
            below = self.hw[w] - self.w_lo[w] - self.t * self.w_los[w]
            noise = self._noise_h(d, w)
            if up > noise and max(above, 0.0) < hit.step * up:
                if d.t == 0.0 or not self._stays(w, up, above, self.w_hi[w], self.w_his[w]):
                    hit[0] = Hit(max(above, 0.0) / up, w, False, 0)
            if down > noise and max(below, 0.0) < hit.step * down:
                if d.t == 0.0 or not self._stays(w, down, below, self.w_lo[w], self.w_los[w]):
                    hit[0] = Hit(max(below, 0.0) / down, w, False, 0)

    cdef bint _stays(
        self, Py_ssize_t w, double speed, double gap, double end, double slope
    ) noexcept nogil:
        """Whether a row on its way to t = 0 is not told from one that keeps to its tread.

        The tread closes there, at t slope. With as many free variables as A has ranks all rows
        keep to their parts of t, and round-off alone takes them over their treads: by how much, at
        t = 0, is what is left of the speed when the gap is closed.
        """
        if not self.to_zero or end != 0.0 or slope == 0.0:
            return False
        return fabs(self.t) * speed - gap <= self.closed * self.w_tol[w]

    cdef void _advance(self, double step, double t) noexcept nogil:
        cdef Py_ssize_t w
        for w in range(self.nw):
            self.hw[w] += step * self.hd[w]
        self._move(&self.full[0], step, t)
        self._keep_history()
        if self.pins_move:
            self._measure_boxes()

    cdef void _corners(self, Py_ssize_t first, bint slot, int side) noexcept nogil:
        self._find_corners(first, slot, side)
        self.settling = True

    cdef int _settle(self, double way) noexcept nogil:
        """Take variables over their corners until all can go on."""
        cdef:
            Py_ssize_t turns = 0
            Direction onward
            Hit hit
            int code
        while True:
            if self._crowded():
                return C_FULL
            onward = self._onward(way)
            self._first_corner(&onward, &hit)
            if hit.at < 0:
                self._forget_offsets()
                self.settling = False
                return C_GOES_ON
            if not self.straight and self._creeps(&onward, &hit):
                self._straighten(way, hit.slot)
                continue
            turns += 1
            if turns > 20 * self.N + 100:
                return C_SINGULAR  # moved by round-off: left to the reference
            self._move_offsets(&onward, hit.step)
            if hit.slot:
                code = self._leave(hit.at, hit.side, way)
            else:
                code = self._enter(hit.at, hit.side, way)
            if code != C_GOES_ON:
                return code

    cdef bint _creeps(self, const Direction *d, const Hit *hit) noexcept nogil:
        """Whether what blocks is so slow that the rounding of z' may be all that moves it."""
        cdef Py_ssize_t w = hit.at
        cdef double speed
        if hit.slot:
            speed = d.z[w] - d.t * (self.his[w] if hit.side > 0 else self.los[w])
            return fabs(speed) <= self.creeping * max(self._largest_of(d.z), self.fastest)
        speed = d.h[w] - d.t * (self.w_his[w] if hit.side > 0 else self.w_los[w])
        return fabs(speed) <= self.creeping * (self.w_root[w] * d.size + self.w_size[w])

    cdef double _hardest(self) noexcept nogil:
        """The largest H_ss G_ss at the start of a block: how much G_FF^-1 enlarges rounding."""
        cdef Py_ssize_t s, i
        cdef double most = 0.0
        for s in range(self.ns):
            i = self.slot_var[s]
            if i >= 0:
                most = max(most, fabs(self.H[s, s]) * self.root[i] * self.root[i])
        return most

    cdef void _straighten(self, double way, bint slot) noexcept nogil:
        """z' again, with G_FF itself; for a slot, whose speed is part of it, to the last digits."""
        if not self._hold():
            return
        if slot:
            self._converge(&self.b[0], &self.zd[0])
        else:
            self._refine(&self.b[0], &self.zd[0])
        self._watch_rates(way)
        self.straight = True

    # ------------------------------------------------------------------ pivots

    cdef int _enter(self, Py_ssize_t w, int side, double way) noexcept nogil:
        """Row w goes from its pin to a tread."""
        cdef:
            Py_ssize_t i = self.w_var[w], ns = self.ns
            double size = 0.0, schur = 0.0, pivot
            bint doubtful = False
        if self.skew:  # no pivot but 0
            self._row_of(w)
            self._schur(i, self._solved(w), &size)
            return self._enter_by_jump(w, side, way, 0.0)
        if not self._weigh_entry(w, &schur, &size, &doubtful):
            if not self._renew() or not self._weigh_entry(w, &schur, &size, &doubtful):
                return C_SINGULAR
        pivot = self.sigma[i] * schur
        if pivot < -self.indefinite * size:
            return C_INDEFINITE
        if (
            pivot <= self.singular * size or pivot * self.span[i] <= 0.5 * self.tol[i]
            or doubtful and pivot <= self.hidden
        ):
            return self._enter_by_jump(w, side, way, schur)
        self.wary = self.wary or doubtful
        self._occupy(w, side, way)
        self._add_slot(ns, ns, schur)
        return self._go_on(way, pivot < self.frail * size)

    cdef int _leave(self, Py_ssize_t s, int side, double way) noexcept nogil:
        """Slot s goes from its tread to a pin."""
        cdef:
            double size = 0.0, inverse = 0.0, unit = 0.0
            bint doubtful = False
        if self.skew:
            self._leaving(s, &self.U[self.k, 0], &size, &unit)
            return self._leave_by_jump(s, side, way, 0.0)
        if not self._weigh_leaving(s, &inverse, &unit, &size, &doubtful):
            if not self._renew() or not self._weigh_leaving(s, &inverse, &unit, &size, &doubtful):
                return C_SINGULAR
        if doubtful:
            if unit * inverse < -self.indefinite * size:
                return C_INDEFINITE
            if unit * inverse <= max(self.singular * size, unit * self.hidden):
                return self._leave_by_jump(s, side, way, inverse)
            self.U[self.k, s] = inverse
        self.wary = self.wary or doubtful
        self._vacate(s, side)
        self._drop_slot(s)
        return self._go_on(way, 1.0 < self.frail * unit * inverse)

    cdef bint _weigh_entry(
        self, Py_ssize_t w, double *schur, double *size, bint *doubtful
    ) noexcept nogil:
        """The pivot of row w, judged if the inverse does not know it; False if that fails."""
        cdef Py_ssize_t i = self.w_var[w]
        self._row_of(w)
        schur[0] = self._schur(i, self._solved(w), size)
        doubtful[0] = self.sigma[i] * schur[0] <= self._doubt() * size[0]
        doubtful[0] = doubtful[0] or self.wrong > self.ruined or not self.stands
        return not doubtful[0] or self._judge_entry(i, schur, size)

    cdef bint _weigh_leaving(
        self, Py_ssize_t s, double *inverse, double *unit, double *size, bint *doubtful
    ) noexcept nogil:
        """The same for slot s; H e_s goes to the next row of U."""
        cdef double largest = 0.0, *u = &self.U[self.k, 0]
        inverse[0] = self._leaving(s, u, size, &largest)
        unit[0] = self.sigma[self.slot_var[s]] * largest
        doubtful[0] = unit[0] * inverse[0] <= self._doubt() * size[0]
        doubtful[0] = doubtful[0] or self.wrong > self.ruined or not self.stands
        return not doubtful[0] or self._judge_leaving(s, u, inverse, size)

    cdef double _doubt(self) noexcept nogil:
        """The relative pivot below which the inverse does not know it.

        A solve is as wrong as H is spoilt, and one that is refined once by the square of that.
        """
        if self.wary:
            return max(self.doubt_refined, max(self.spoilt, self.wrong) ** 2)
        return max(self.doubt, self.spoilt)

    cdef int _go_on(self, double way, bint frail) noexcept nogil:
        """The speeds after a change of slots; with a new inverse if they show that it is poor.

        After a frail pivot z' may hardly change by refinement and yet stand nowhere: what is wrong
        with H lies along the vector that was nearly null. Residuals as if in twice the precision
        tell that from their rounding.
        """
        cdef bint stands, poor
        if self.wary:
            stands = self._refine(&self.b[0], &self.zd[0])
            poor = max(self.wrong, self.spoilt) > (
                self.worn if frail and self.careful else self.ruined
            )
            if frail and not (stands or poor):
                poor = not self._converge(&self.b[0], &self.zd[0])
            if poor and not self.fresh and not self._renew():
                return C_SINGULAR
        self.straight = False
        self._watch_rates(way)
        return C_GOES_ON

    # ------------------------------------------------------------------ slots and rows

    cdef void _row_of(self, Py_ssize_t w) noexcept nogil:
        """g = the row of G that row w watches; `_schur` clears empty slots."""
        memcpy(&self.g[0], &self.GW[w, 0], self.ns * sizeof(double))

    cdef void _occupy(self, Py_ssize_t w, int side, double way) noexcept nogil:
        """The variable of row w takes a new slot, at the edge of its tread."""
        cdef Py_ssize_t x, i = self.w_var[w], new = self.ns
        self.frame[new], self.since[new] = self.slope[i, self.stair[i]], self.t
        self.coast[new] = 0.0
        self._event(i, side)
        self._new_slot(new, i, way)
        self.b[new] -= dot(new, &self.GW[w, 0], &self.coast[0])
        if self.pins_move:
            self._measure_box(i)
        self.zs[new] = self._low(new) if side > 0 else self._high(new)
        self.z0[new], self.zd[new] = self.zs[new], 0.0
        for x in range(self.k):
            self.U[x, new] = 0.0
        self.ns += 1
        # Row w is no longer looked at, and the other rows take its variable's column.
        self.slot_row[new] = self.first_row[new] = w
        self.w_on[w] = 0
        self.w_lo[w], self.w_los[w], self.w_hi[w], self.w_his[w] = -INFINITY, 0.0, INFINITY, 0.0
        self._new_column(new, i)
        self._hold_slot(new)
        self._corner_behind(i, side)
        self._note_slot(new)

    cdef void _vacate(self, Py_ssize_t s, int side) noexcept nogil:
        """Slot s is emptied: its variable stands at a pin and has a row, g."""
        cdef Py_ssize_t i = self.slot_var[s]
        self._event(i, side)
        self.slot_of[i] = -1
        self.slot_var[s], self.b[s] = -1, 0.0
        self.emptied[self.n_emptied] = s
        self.n_emptied += 1
        self.zs[s] = self._high(s) if side > 0 else self._low(s)
        self._coast(s, i)
        if self.n_moves:  # it stands at its pin exactly, from the last breakpoint on
            self.DZ[self.n_moves - 1, s] = self.zs[s] - self.z0[s]
        self._watch_leaver(s, i, side)
        self._corner_behind(i, side)

    cdef void _coast(self, Py_ssize_t s, Py_ssize_t i) noexcept nogil:
        """Variable i, of slot s, goes on with its pin; g is its row."""
        cdef Py_ssize_t x
        self.coast[s] = self._pin_rate(i) - self.way * self.frame[s]
        if self.coast[s] == 0.0:
            return
        for x in range(self.ns):
            if self.slot_var[x] >= 0:
                self.b[x] -= self.coast[s] * self.g[x]

    cdef double _pin_rate(self, Py_ssize_t i) noexcept nogil:
        """How fast the pin of variable i moves."""
        return self.way * self.slope[i, self.stair[i]]

    cdef void _watch_leaver(self, Py_ssize_t s, Py_ssize_t i, int side) noexcept nogil:
        """Variable i has left slot s for a pin: a row at the end of the tread that it left."""
        cdef Py_ssize_t w = self.nw, tread = self.stair[i] - side
        self._new_row(w, i, self.value[i, tread] + self.t * self.slope[i, tread])
        self.cornered[self.n_cornered] = w
        self.n_cornered += 1
        memcpy(&self.GW[w, 0], &self.g[0], self.ns * sizeof(double))
        self.slot_row[s], self.left_at[s], self.left_from[s] = w, self.n_moves - 1, self.hw[w]
        self.w_born[w], self.w_from[w] = self.n_moves, s
        self.w_was[w], self.w_wass[w] = self.value[i, tread], self.slope[i, tread]
        self.nw += 1

    # ------------------------------------------------------------------ jumps

    cdef int _enter_by_jump(
        self, Py_ssize_t w, int side, double way, double schur
    ) noexcept nogil:
        """Row w depends on the slots: along (-H g; 1) until one of them blocks, or itself."""
        cdef:
            Py_ssize_t s, i = self.w_var[w], new = self.ns
            double pull = dot(new, &self.g[0], &self.zd[0])
            Hit hit
        if self.n_moves >= self.limit or self._crowded():
            return C_FULL
        self._occupy(w, side, way)
        self._as_entry(new, new, &self.U[self.k, 0])
        memcpy(&self.jump[0], &self.U[self.k, 0], self.ns * sizeof(double))
        if schur != 0.0:
            self._balance(schur)
        if not self._jump(-side, &hit):
            return C_BLIND
        if hit.slot and hit.at == new:  # all the way to its next pin
            self._row(i, &self.g[0])
            self._vacate(new, hit.side)
            for s in range(new):
                self.zd[s] -= self.coast[new] * self.U[self.k, s]
        else:
            self._together(&hit, way, schur, self.b[new] - pull)
        return self._go_on(way, False)

    cdef int _leave_by_jump(
        self, Py_ssize_t s, int side, double way, double inverse
    ) noexcept nogil:
        """The other slots are singular without s: along H e_s until a slot or a row blocks."""
        cdef Py_ssize_t i = self.slot_var[s]
        cdef Hit hit
        if self.n_moves >= self.limit or self._crowded():
            return C_FULL
        self._vacate(s, side)
        self.U[self.k, s] = 0.0
        memcpy(&self.jump[0], &self.U[self.k, 0], self.ns * sizeof(double))
        if not self._jump(-self.sigma[i] * side, &hit):
            return C_BLIND
        self.U[self.k, s] = inverse
        self.slot_var[s] = i  # H has it still
        self._together(&hit, way, -inverse, self.coast[s] - self.zd[s])
        self.slot_var[s], self.zd[s], self.b[s] = -1, 0.0, 0.0
        return self._go_on(way, False)

    cdef void _balance(self, double pivot) noexcept nogil:
        """The pivot is round-off, and all of it that of one row: spread it over all of them.

        Of all u = (v + e; -1) the one with the least G u, e = s H v / (1 + |v|^2): what (v; -1)
        leaves in one row becomes less by the factor |v|^2, which can be a million.
        """
        cdef Py_ssize_t s, new = self.ns - 1
        cdef double part
        self.v[new] = 0.0
        part = pivot / (1.0 + dot(new, &self.v[0], &self.v[0]))
        memset(&self.change[0], 0, self.ns * sizeof(double))
        self._add_inverse(&self.v[0], &self.change[0])
        self._clear_empty(&self.change[0])
        for s in range(new):
            self.jump[s] += part * self.change[s]

    cdef bint _jump(self, double sign, Hit *hit) noexcept nogil:
        """Along `jump`, with this sign, to the first that blocks; False if none does.

        The path stands still in t. Offsets come before distances, as in the reference.
        """
        cdef:
            Py_ssize_t s, w
            double scale
            double *u = &self.jump[0]
            Direction along
        scale = sign / self._largest_of(u)
        for s in range(self.ns):
            u[s] *= scale
        self.n_jumps += 1
        along = self._along(u)
        self._first_corner(&along, hit)
        if hit.at < 0:
            self._first_slot(&along, hit)
            self._first_row(&along, hit)
            if hit.at < 0:
                return False
            for w in range(self.nw):
                self.hw[w] += hit.step * self.hj[w]
            self._move(u, hit.step, self.t)
            self._keep_history()
            self._find_corners(hit.at, hit.slot, hit.side)
            self._first_corner(&along, hit)
            if hit.at < 0:
                return False
        self._move_offsets(&along, hit.step)
        return True

    cdef void _together(
        self, const Hit *hit, double way, double p, double first
    ) noexcept nogil:
        """H takes the change in the next row of U, of complement p, with the one that blocks."""
        cdef:
            Py_ssize_t new = self.ns, w = hit.at
            double *u = &self.U[self.k, 0]
            double *other = &self.U[self.k + 1, 0]
            double q, r, second, size = 0.0, largest = 0.0
            # Errors of H grow with the change, unless both of its vectors are solved for.
            bint poor = self.held and self.wrong > self.settled
        if hit.slot:
            r, q = -self._leaving(w, other, &size, &largest), -u[w]
            if poor and self._judge_leaving(w, other, &largest, &size):
                r = -largest
            self._vacate(w, hit.side)
            second = self.coast[w] - self.zd[w]
        else:
            self._row_of(w)
            r = self._schur(self.w_var[w], self._solved(w), &size)
            if poor:
                self._judge_entry(self.w_var[w], &r, &size)
            q = -dot(new, &self.g[0], u)
            second = dot(new, &self.g[0], &self.coast[0]) - dot(new, &self.g[0], &self.zd[0])
            self._occupy(w, hit.side, way)
            self._as_entry(new, new, other)
            second += self.b[new]
        if self.skew:
            r = 0.0
        self._trade(p, q, r, first, second)
        if hit.slot:
            self.zd[w] = 0.0
