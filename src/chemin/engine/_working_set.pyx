# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The working set of the compiled walk: the pinned variables that a block looks at, in rows.

Only variables on treads (slots) and watched ones (rows) take part in ratio tests; verification
looks at all others afterwards. A variable that leaves its tread gets a row of its own.

Ties are resolved as in `reference.py`: variables at a corner have random offsets, infinitely small
beside every other distance, and the ratio test is made in the offsets until none of them blocks.
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from chemin.engine._blas cimport gemv_t, largest_size, sum_of_sizes
from chemin.engine._entries cimport has_row, row
from chemin.engine._vector cimport (
    ABREAST, CHUNK, chemin_any_as_near, chemin_any_near, chemin_symmetric_times,
)

cdef enum:
    WIDE = 384  # slots that rows have room for from the start
    WORTH_IT = 64  # slots: below, a product with H0 takes less than to look for others to be made

cdef double EPS = np.finfo(np.float64).eps
cdef double TINY = np.finfo(np.float64).tiny


cdef class WorkingSet(Record):
    """Rows and corners; see the module's text."""

    def __init__(self, system, Py_ssize_t block):
        super().__init__(system, block)
        self.has_unit = np.ascontiguousarray(system.measured, dtype=np.int8)
        value, slope = system.unit
        self.unit_value = np.ascontiguousarray(value, dtype=float)
        self.unit_slope = np.ascontiguousarray(slope, dtype=float)
        self.tol, self.keep, self.blur = np.zeros((3, self.N))
        self.in_box = np.ascontiguousarray(system.boxed, dtype=np.int8)
        self.off_lo, self.off_hi = np.full((2, self.N), np.inf)
        self.known_at = np.full(self.N, -1, dtype=np.intp)
        self.seed = 88172645463325252ULL

    def reserve(self, Py_ssize_t cap):
        cdef Py_ssize_t[:, ::1] k
        if not super().reserve(cap):
            return False
        k = np.zeros((4, self.cap), dtype=np.intp)
        self.slot_row, self.left_at, self.tied, self.first_row = k[0], k[1], k[2], k[3]
        self.left_from, self.full = np.zeros((2, self.cap))
        self.abreast = np.zeros((2, ABREAST * self.cap))
        self.width = 0  # rows go to the new piece of memory
        return True

    def _reserve_rows(self, Py_ssize_t need):
        """Room for `need` rows, and in them for the slots of a block."""
        cdef double[:, ::1] x
        cdef Py_ssize_t[:, ::1] k
        cdef Py_ssize_t wide = min(self.ns + self.ucap + 2, self.cap)
        if need <= self.wcap and wide <= self.width:
            return
        if wide > self.width:  # no wider than that: columns are written, each entry in its row
            wide = min(max(wide, WIDE, 3 * self.width // 2), self.cap)
            self.width = (wide + 7) // 16 * 16 + 8
            self.wcap = min(self.wcap, 2 * need)  # the first blocks may watch far more than others
        self.wcap, self.n_gathered = max(need, self.wcap), 0
        self._forget_rows()
        size = 3 * self.wcap * self.width
        rows = self.spare[:size] if size <= len(self.spare) else np.empty(size)
        self.GW, self.known, self.HG = rows.reshape(3, self.wcap, self.width)
        self.history = np.empty((self.bcap + 1, self.wcap))
        self.w_on = np.zeros(self.wcap, dtype=np.int8)
        k, x = np.zeros((5, self.wcap), dtype=np.intp), np.zeros((15, self.wcap))
        self.w_born, self.w_from, self.w_var, self.cornered = k[0], k[1], k[2], k[3]
        self.w_solved = k[4]
        self.w_was, self.w_wass, self.hw, self.hd, self.hj = x[0], x[1], x[2], x[3], x[4]
        self.w_lo, self.w_los, self.w_hi, self.w_his = x[5], x[6], x[7], x[8]
        self.w_tol, self.w_root, self.w_r, self.w_sigma = x[9], x[10], x[11], x[12]
        self.w_size, self.column = x[13], x[14]

    # ------------------------------------------------------------------ the watch list

    def urgency(self, const double[::1] h, const double[::1] rate, double way):
        """For every pinned variable, about how soon it may block; infinite for the free. And how
        many must be watched.

        Verification is for variables that have a row: those of the border are to be watched, as are
        those that stand at a corner at which the last block has ended.
        """
        soon = np.empty(self.N)
        cdef:
            double[::1] out = soon
            Py_ssize_t i, j, at_once = 0
            double typical = 0.0, low, high
        with nogil:
            for i in range(self.N):
                typical += fabs(rate[i])
            typical = 0.25 * typical / self.N + EPS
            for i in range(self.N):
                j = self.stair[i]
                if j % 2 == 0:
                    out[i] = INFINITY
                    continue
                low = h[i] - self.value[i, j - 1] - self.t * self.slope[i, j - 1]
                low /= max(self.slope[i, j - 1] * way - rate[i], 0.0) + typical
                high = self.value[i, j + 1] + self.t * self.slope[i, j + 1] - h[i]
                high /= max(rate[i] - self.slope[i, j + 1] * way, 0.0) + typical
                low = min(low, high)
                out[i] = min(low, DBL_MAX) if low == low else 0.0
                if (
                    not has_row(&self.G, i) or self.off_lo[i] < INFINITY
                    or self.off_hi[i] < INFINITY
                ):
                    out[i] = -INFINITY
                at_once += out[i] <= 0.0
        return soon, at_once

    def gauge(
        self, const double[::1] z, const double[::1] size, double fresh,
        const double[::1] q, const double[::1] r, const double[::1] edge,
    ):
        """How precisely residuals and z can and must be known at the present t, from here on.

        |M| |z| was `size` when the sum of |z| was `fresh`, and goes about as that does; for the
        border, which may have begun at z = 0, it is computed. q + t r is the linear term, and
        `edge` what the border makes of the box of one variable. Returns the smallest unit, and the
        largest round-off of a residual in its unit.
        """
        cdef:
            Py_ssize_t i, e, n = self.n_rows
            double total, unit, scale, tol, least = INFINITY, worst = 0.0, shrunk = 0.0
            double[::1] terms = np.zeros(self.nb)
        with nogil:
            self.coarsest = 0.0
            for i in range(n):
                if z[i] != 0.0:
                    shrunk += fabs(z[i])
                    for e in range(self.nb):
                        terms[e] += fabs(self.border[i, e] * z[i])
            for i in range(n, self.N):
                shrunk += fabs(z[i])
            shrunk /= fresh
            for i in range(self.N):
                total = shrunk * size[i] if i < n else terms[i - n]
                total += fabs(q[i] + self.t * r[i])
                unit = fabs(self.unit_value[i] + self.t * self.unit_slope[i])
                scale = total
                if self.has_unit[i]:  # one that vanishes measures nothing: 1 stands for it
                    scale = unit if unit > 0.0 else 1.0
                    least, worst = min(least, scale), max(worst, EPS * total / scale)
                tol = self.least * scale + self.rounding * total
                # The part that moves with t is added where drift is measured.
                self.keep[i] = self.drift_least * (scale - unit)
                self.keep[i] += self.drift_rounding * total + TINY
                self.tol[i] = tol + TINY
                if self.has_unit[i]:
                    self.coarsest = max(self.coarsest, self.tol[i])
            self.precision = self.least * min(1.0, least)
            for e in range(self.nb):
                self.keep[n + e] += self.drift_least * min(1.0, least) * edge[e]
            # What is no multiplier is of the residuals' own kind.
            for i in range(self.N):
                self.blur[i] = self.precision * self.box[i] if self.in_box[i] else self.coarsest
        return least, worst

    @property
    def tolerance(self):
        """How precisely residuals are known, at the t of the last `gauge`."""
        return np.asarray(self.tol)

    def allowed(self):
        """How far residuals may drift, at the t of the last `gauge`."""
        value, slope = np.asarray(self.unit_value), np.asarray(self.unit_slope)
        return np.asarray(self.keep) + self.drift_least * np.abs(value + self.t * slope)

    def watch(self, const Py_ssize_t[::1] variables, const double[::1] h):
        """Begin a block, looking at these pinned variables, the first of which are likely to enter.

        A block that is walked again has its rows still, and many are those of the block before.
        """
        cdef Py_ssize_t i, w, gathered
        self._reserve_rows(len(variables) + self.ucap + 1)
        if self.pins_move:
            self.span = self.system.stairs.span(self.t)
            self.box = np.minimum(1.0, self.span)
            boxed, z = np.asarray(self.in_box) != 0, self.precision * np.asarray(self.box)
            self.blur = np.where(boxed, z, self.coarsest)
        self.nw = len(variables)
        gathered = min(self.nw, self.n_gathered)
        if gathered == 0:
            self.GW, self.known = self.known, self.GW
        self.n0, self.k, self.n_moves, self.n_events = self.ns, 0, 0, 0
        self.n_cornered = self.n_tied = self.n_emptied = 0
        self.n_begun = self.ns
        with nogil:
            self._line_up()
            memcpy(&self.z0[0], &self.zs[0], self.ns * sizeof(double))
            for w in range(self.cap):
                self.slot_row[w] = self.left_at[w] = -1
            for w in range(self.ns):
                i = self.owner[w]
                if self.off_lo[i] < INFINITY or self.off_hi[i] < INFINITY:
                    self._note_slot(w)
            for w in range(gathered):
                if self.w_var[w] != variables[w]:
                    gathered = w
                    break
            self._rows_of(variables, gathered)
            for w in range(self.nw):
                i = variables[w]
                self.w_born[w] = -1
                if w >= gathered:
                    self.w_solved[w] = 0
                self._new_row(w, i, h[i])
                if self.off_lo[i] < INFINITY or self.off_hi[i] < INFINITY:
                    self.cornered[self.n_cornered] = w
                    self.n_cornered += 1
        self._keep_history()
        self.n_gathered = self.nw
        self.prepare()

    def load(self, stair, z, double t, double way, *inverse):
        """Stand at (stair, z, t); see `Factor.load`."""
        self.n_gathered = 0
        self._forget_rows()
        super().load(stair, z, t, way, *inverse)

    def commit(self):
        """H0 takes the block's changes, and empty slots go."""
        self.n_gathered = 0
        super().commit()
        self._keep_rows()

    def _forget_rows(self):
        self.n_known = 0
        self.known_at[:] = -1

    cdef const double *_solved(self, Py_ssize_t w) noexcept nogil:
        """H0 times row w; NULL if the block did not begin with that row, or if H0 is soon read."""
        if w >= self.n_gathered or self.n0 < WORTH_IT:
            return NULL
        if self.w_solved[w] != self.era:
            self._solve_abreast(w)
        return &self.HG[w, 0]

    cdef void _solve_abreast(self, Py_ssize_t w) noexcept nogil:
        """H0 times row w, and times those that are likely to enter next: H0 is read once."""
        cdef:
            Py_ssize_t some[ABREAST]
            Py_ssize_t k, s, count = self._soonest(w, some)
            double *rows = &self.abreast[0, 0]
            double *products = &self.abreast[1, 0]
        for k in range(ABREAST):
            for s in range(self.n0):
                rows[s * ABREAST + k] = self.GW[some[k], s] if k < count else 0.0
        chemin_symmetric_times(self.n0, &self.H[0, 0], self.cap, rows, products)
        for k in range(count):
            for s in range(self.n0):
                self.HG[some[k], s] = products[s * ABREAST + k]
            self.w_solved[some[k]] = self.era

    cdef Py_ssize_t _soonest(self, Py_ssize_t w, Py_ssize_t *some) noexcept nogil:
        """Row w, and rows without a product with H0 that will meet a tread soon; returns how many.

        The first of them first; a speed may change, so that each counts as if it were a bit faster.
        """
        cdef:
            Py_ssize_t x, k, count = 1
            double typical = 0.0, low, high
            double soon[ABREAST]
        some[0], soon[0] = w, -INFINITY
        for x in range(self.n_gathered):
            typical += fabs(self.hd[x])
        typical = 0.25 * typical / self.n_gathered + EPS
        for x in range(self.n_gathered):
            if x == w or not self.w_on[x] or self.w_solved[x] == self.era:
                continue
            low = self.hw[x] - self.w_lo[x] - self.t * self.w_los[x]
            low /= max(self.w_los[x] * self.way - self.hd[x], 0.0) + typical
            high = self.w_hi[x] + self.t * self.w_his[x] - self.hw[x]
            high /= max(self.hd[x] - self.w_his[x] * self.way, 0.0) + typical
            low = min(low, high)
            if count == ABREAST and not low < soon[ABREAST - 1]:
                continue
            k = min(count, <Py_ssize_t> ABREAST - 1)
            while k > 1 and low < soon[k - 1]:
                some[k], soon[k] = some[k - 1], soon[k - 1]
                k -= 1
            some[k], soon[k] = x, low
            count = min(count + 1, <Py_ssize_t> ABREAST)
        return count

    cdef void _keep_rows(self) noexcept nogil:
        """The rows of the block, by the slots as they are when it has ended."""
        cdef Py_ssize_t w, x
        cdef double *g
        for w in range(self.nw):
            g = &self.GW[w, 0]
            for x in range(self.n_shifted):
                g[self.went_to[x]] = g[self.came_from[x]]
            self.known_at[self.w_var[w]] = w
        self.n_known = self.nw

    cdef void _rows_of(self, const Py_ssize_t[::1] variables, Py_ssize_t first) noexcept nogil:
        """GW from row `first` on: what the last block knew of them, or read."""
        cdef Py_ssize_t w, at
        for w in range(first, self.nw):
            at = self.known_at[variables[w]]
            if at >= 0:
                memcpy(&self.GW[w, 0], &self.known[at, 0], self.ns * sizeof(double))
            else:
                self._row(variables[w], &self.GW[w, 0])
        for w in range(self.n_known):
            self.known_at[self.w_var[w]] = -1
        self.n_known = 0

    cdef void _new_row(self, Py_ssize_t w, Py_ssize_t i, double h) noexcept nogil:
        """Row w watches variable i, at a pin, with residual h."""
        self.w_var[w], self.w_on[w], self.hw[w] = i, 1, h
        self.w_tol[w], self.w_root[w] = self.tol[i], self.root[i]
        self.w_r[w], self.w_size[w], self.w_sigma[w] = self.r[i], self.r_size[i], self.sigma[i]
        self._look_around(w)

    cdef void _look_around(self, Py_ssize_t w) noexcept nogil:
        """Which treads are below and above the pin of row w."""
        cdef Py_ssize_t i = self.w_var[w], j = self.stair[self.w_var[w]]
        self.w_lo[w], self.w_los[w] = self.value[i, j - 1], self.slope[i, j - 1]
        self.w_hi[w], self.w_his[w] = self.value[i, j + 1], self.slope[i, j + 1]

    cdef void _new_column(self, Py_ssize_t s, Py_ssize_t i) noexcept nogil:
        """Slot s of variable i in all rows of GW: along a row of G, for it is symmetric."""
        cdef Py_ssize_t w
        row(&self.G, i, self.nw, &self.w_var[0], &self.column[0])
        for w in range(self.nw):
            self.GW[w, s] = self.column[w]

    # ------------------------------------------------------------------ boxes, where pins move

    cdef void _measure_boxes(self) noexcept nogil:
        """How far free variables can go, and how precisely they are known, at the present t."""
        cdef Py_ssize_t s
        for s in range(self.ns):
            if self.slot_var[s] >= 0:
                self._measure_box(self.slot_var[s])

    cdef void _measure_box(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t j
        cdef double width, widest = 0.0
        for j in range(2, self.value.shape[1] - 1, 2):
            if fabs(self.value[i, j]) < INFINITY:
                width = self.value[i, j + 1] - self.value[i, j - 1]
                width += self.t * (self.slope[i, j + 1] - self.slope[i, j - 1])
                widest = max(widest, width)
        self.span[i], self.box[i] = widest, min(1.0, widest)
        self.blur[i] = self.precision * self.box[i] if self.in_box[i] else self.coarsest

    cdef void _keep_history(self) noexcept nogil:
        """Residuals of the rows at the breakpoint that has been reached, or at the start."""
        memcpy(&self.history[self.n_moves, 0], &self.hw[0], self.nw * sizeof(double))

    cdef double _was(self, Py_ssize_t w, Py_ssize_t j, double t) noexcept nogil:
        """The residual of row w at breakpoint j, at t; -1 is the block's start.

        A row of a variable that left a slot knows nothing of the time before: then it was on its
        tread, or, if it had entered in this block, it had another row.
        """
        cdef Py_ssize_t s
        while j < self.w_born[w]:
            s = self.w_from[w]
            if s < self.n_begun:
                return self.w_was[w] + t * self.w_wass[w]
            w = self.first_row[s]
        return self.history[j + 1, w]

    # ------------------------------------------------------------------ speeds and their noise

    cdef void _watch_rates(self, double way) noexcept nogil:
        """h' of the rows: -(sigma G z' + r)."""
        cdef Py_ssize_t w, s
        cdef double *hd = &self.hd[0]
        cdef const double *sigma = &self.w_sigma[0]
        cdef const double *r = &self.w_r[0]
        for s in range(self.ns):
            self.full[s] = self.zd[s] + self.coast[s]
        self.largest = largest_size(self.ns, &self.full[0])
        self.size = self._size(&self.full[0])
        gemv_t(&self.GW[0, 0], self.width, self.nw, self.ns, 1.0, &self.full[0], 0.0, hd)
        for w in range(self.nw):
            hd[w] = -(sigma[w] * hd[w] + r[w] * way)

    cdef Direction _onward(self, double way) noexcept nogil:
        """The way on along t."""
        cdef const double *z = &self.full[0]
        cdef Direction d = Direction(
            z, &self.hd[0], way, self.still * max(self.largest, self.fastest), 0.0,
            self.still, self.size, max(fabs(self.t), self.far, EPS),
        )
        return d

    cdef Direction _along(self, const double *z) noexcept nogil:
        """The way along a null vector, at a standing t; h' of the rows goes to hj."""
        cdef Py_ssize_t w
        cdef double largest = 0.0, size = self._size(z)
        gemv_t(&self.GW[0, 0], self.width, self.nw, self.ns, 1.0, z, 0.0, &self.hj[0])
        for w in range(self.nw):
            self.hj[w] *= -self.w_sigma[w]
            largest = max(largest, self.w_root[w])
        for w in range(self.ns):
            largest = max(largest, self.root[self.owner[w]])
        cdef Direction d = Direction(
            z, &self.hj[0], 0.0, self.aside * self._largest_of(z), self.aside * largest * size,
            0.0, size, self._longest_jump(z),
        )
        return d

    cdef double _longest_jump(self, const double *z) noexcept nogil:
        """How far a jump can go before a multiplier has crossed its box, as in the reference."""
        cdef Py_ssize_t s, i
        cdef double least = INFINITY
        for s in range(self.ns):
            i = self.owner[s]
            if z[s] != 0.0 and self.in_box[i]:
                least = min(least, self.box[i] / fabs(z[s]))
        return max(1.0, least)

    cdef double _noise_h(self, const Direction *d, Py_ssize_t w) noexcept nogil:
        """Below this the residual of row w does not move."""
        return (
            d.still_h + d.part_h * (self.w_root[w] * d.size + self.w_size[w])
            + self.w_tol[w] / d.span
        )

    cdef double _largest_of(self, const double *z) noexcept nogil:
        return largest_size(self.ns, z)

    cdef double _size(self, const double *z) noexcept nogil:
        """A bound on |G| |z|, divided by the root of its row."""
        return sum_of_sizes(self.ns, &self.slot_root[0], z)

    # ------------------------------------------------------------------ corners

    cdef double _random(self) noexcept nogil:
        """In [1, 2): offsets at corners (xorshift, a seed of its own)."""
        self.seed ^= self.seed << 13
        self.seed ^= self.seed >> 7
        self.seed ^= self.seed << 17
        return 1.0 + <double> (self.seed >> 11) / 9007199254740992.0

    cdef void _find_corners(self, Py_ssize_t first, bint slot, int side) noexcept nogil:
        """Offsets for all that stand at a corner; the slot or row `first`, which blocks, does."""
        cdef:
            Py_ssize_t chunk, x, some
            const double *zs = &self.zs[0]
            const double *hw = &self.hw[0]
            double blurred = max(self.precision, self.coarsest)  # boxes are at most 1
        self._forget_offsets()
        for chunk in range((self.ns + CHUNK - 1) // CHUNK):
            x = chunk * CHUNK
            some = min(self.ns - x, <Py_ssize_t> CHUNK)
            if (slot and x <= first < x + some) or chemin_any_near(
                some, zs + x, &self.lo[x], &self.los[x], &self.hi[x], &self.his[x], self.t, blurred
            ):
                self._slot_corners(x, x + some, first if slot else -1, side)
        for chunk in range((self.nw + CHUNK - 1) // CHUNK):
            x = chunk * CHUNK
            some = min(self.nw - x, <Py_ssize_t> CHUNK)
            if (not slot and x <= first < x + some) or chemin_any_as_near(
                some, hw + x, &self.w_lo[x], &self.w_los[x], &self.w_hi[x], &self.w_his[x], self.t,
                &self.w_tol[x],
            ):
                self._row_corners(x, x + some, -1 if slot else first)

    cdef void _row_corners(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first
    ) noexcept nogil:
        """Of some rows; `first`: the one that blocks."""
        cdef Py_ssize_t w, i
        cdef double x, y, near
        for w in range(begin, end):
            x = self.hw[w] - self.w_lo[w] - self.t * self.w_los[w]
            y = self.w_hi[w] + self.t * self.w_his[w] - self.hw[w]
            if min(x, y) > self.w_tol[w] and w != first:
                continue
            i = self.w_var[w]
            near = max(self.w_tol[w], min(x, y))  # the blocking one does, whatever its rounding
            if x <= near:
                self.off_lo[i] = self._random()
            if y <= near:
                self.off_hi[i] = self._random() + self.down_first
            self.cornered[self.n_cornered] = w
            self.n_cornered += 1

    cdef void _slot_corners(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first, int side
    ) noexcept nogil:
        """Of some slots; `first`: the one that blocks, at its lower or upper end."""
        cdef Py_ssize_t s, i
        cdef double below, above
        for s in range(begin, end):
            i = self.owner[s]
            below = self.zs[s] - self.lo[s] - self.t * self.los[s]
            above = self.hi[s] + self.t * self.his[s] - self.zs[s]
            if (min(below, above) > self.blur[i] and s != first) or self.slot_var[s] < 0:
                continue
            if below <= self.blur[i] or (s == first and side < 0):
                self.off_lo[i] = self._random()
            if above <= self.blur[i] or (s == first and side > 0):
                self.off_hi[i] = self._random()
            self._note_slot(s)

    cdef void _note_slot(self, Py_ssize_t s) noexcept nogil:
        """Slot s has offsets."""
        self.tied[self.n_tied] = s
        self.n_tied += 1

    cdef void _first_corner(self, const Direction *d, Hit *hit) noexcept nogil:
        """The ratio test in the offsets; hit.at = -1 when none of them blocks."""
        cdef Py_ssize_t s, w, x, i
        cdef double rate, noise
        hit[0] = Hit(INFINITY, -1, True, 0)
        for x in range(self.n_tied):
            s = self.tied[x]
            i = self.slot_var[s]
            if i < 0:
                continue
            noise, rate = noise_z(d, self.blur[i]), d.z[s] - self.his[s] * d.t
            if rate > noise and self.off_hi[i] < INFINITY:
                if self.off_hi[i] / rate < hit.step:
                    hit[0] = Hit(self.off_hi[i] / rate, s, True, 1)
            rate = self.los[s] * d.t - d.z[s]
            if rate > noise and self.off_lo[i] < INFINITY:
                if self.off_lo[i] / rate < hit.step:
                    hit[0] = Hit(self.off_lo[i] / rate, s, True, -1)
        for x in range(self.n_cornered):
            w = self.cornered[x]
            if not self.w_on[w]:
                continue
            i, noise = self.w_var[w], self._noise_h(d, w)
            rate = d.h[w] - self.w_his[w] * d.t
            if rate > noise and self.off_hi[i] < INFINITY:
                if self.off_hi[i] / rate < hit.step:
                    hit[0] = Hit(self.off_hi[i] / rate, w, False, 1)
            rate = self.w_los[w] * d.t - d.h[w]
            if rate > noise and self.off_lo[i] < INFINITY:
                if self.off_lo[i] / rate < hit.step:
                    hit[0] = Hit(self.off_lo[i] / rate, w, False, -1)

    cdef void _move_offsets(self, const Direction *d, double step) noexcept nogil:
        """Offsets after a step of the ratio test in them."""
        cdef Py_ssize_t s, w, x, i
        cdef double rate, noise
        for x in range(self.n_tied):
            s = self.tied[x]
            i = self.slot_var[s]
            if i < 0:
                continue
            noise, rate = noise_z(d, self.blur[i]), d.z[s] - self.his[s] * d.t
            if self.off_hi[i] < INFINITY and fabs(rate) > noise:
                self.off_hi[i] = max(self.off_hi[i] - step * rate, 0.0)
            rate = self.los[s] * d.t - d.z[s]
            if self.off_lo[i] < INFINITY and fabs(rate) > noise:
                self.off_lo[i] = max(self.off_lo[i] - step * rate, 0.0)
        for x in range(self.n_cornered):
            w = self.cornered[x]
            if not self.w_on[w]:
                continue
            i, noise = self.w_var[w], self._noise_h(d, w)
            rate = d.h[w] - self.w_his[w] * d.t
            if self.off_hi[i] < INFINITY and fabs(rate) > noise:
                self.off_hi[i] = max(self.off_hi[i] - step * rate, 0.0)
            rate = self.w_los[w] * d.t - d.h[w]
            if self.off_lo[i] < INFINITY and fabs(rate) > noise:
                self.off_lo[i] = max(self.off_lo[i] - step * rate, 0.0)

    cdef void _forget_offsets(self) noexcept nogil:
        cdef Py_ssize_t x, i
        for x in range(self.n_tied):
            i = self.owner[self.tied[x]]
            self.off_lo[i] = self.off_hi[i] = INFINITY
        self.n_tied = 0
        for x in range(self.n_cornered):
            i = self.w_var[self.cornered[x]]
            self.off_lo[i] = self.off_hi[i] = INFINITY
        self.n_cornered = 0

    cdef void _corner_behind(self, Py_ssize_t i, int side) noexcept nogil:
        """The variable stands at the edge of its new stair, the corner behind it."""
        cdef Py_ssize_t j = self.stair[i]
        cdef double width = (
            self.value[i, j + 1] - self.value[i, j - 1]
            + self.t * (self.slope[i, j + 1] - self.slope[i, j - 1])
        )
        cdef double corner = self.blur[i] if j % 2 == 0 else self.tol[i]
        cdef double ahead = self._random() if width <= corner else INFINITY
        if side > 0:
            self.off_lo[i], self.off_hi[i] = 0.0, ahead
        else:
            self.off_hi[i], self.off_lo[i] = 0.0, ahead
