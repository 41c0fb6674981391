# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Verification of a block: every variable at every breakpoint, and drift.

The residual of every variable is computed at the *anchors*, a few breakpoints of the block. Between
two of them it differs from the straight line by A d, d the difference of z from its own straight
line, and when A is positive semi-definite

    |(A d)_i| <= sqrt(A_ii) sqrt(d'A d),

which is small, being of second order. Variables that come nearer to a corner than this bound are
computed at every breakpoint. When A is not semi-definite every breakpoint is an anchor.

A block that fails is forgotten and walked again: H0 has not been touched.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

from chemin.engine._blas cimport dot, gemm_t, gemv_t, sum_of_sizes
from chemin.engine._entries cimport dot_dense, has_row
from chemin.engine._loop cimport Loop

cdef enum:
    MOST = 128  # moves in a block
    DOUBTFUL = 256  # one in so many may be looked at closely before anchors are set nearer
    PACK = 64  # rows of a factor that are looked at closely by one product


cdef struct Reach:  # of each variable with a row: its residual must stay in [lo, hi]
    double *lo
    double *los
    double *hi
    double *his
    double *bound


cdef bint outside(Py_ssize_t n, double t, const double *x, const Reach *reach) noexcept nogil:
    """Whether any x is outside [lo + t los + bound, hi + t his - bound]; no branch: vectorised."""
    cdef:
        Py_ssize_t i
        int bad = 0
        const double *lo = reach.lo
        const double *los = reach.los
        const double *hi = reach.hi
        const double *his = reach.his
        const double *bound = reach.bound
    for i in range(n):
        bad |= (x[i] < lo[i] + t * los[i] + bound[i]) | (x[i] > hi[i] + t * his[i] - bound[i])
    return bad != 0


cdef inline bint within(const Reach *r, Py_ssize_t i, double t, double x, double b) noexcept nogil:
    """Whether x is as far as b inside the reach of variable i at t."""
    return x >= r.lo[i] + t * r.los[i] + b and x <= r.hi[i] + t * r.his[i] - b


cdef inline double worse(double a, double b) noexcept nogil:
    """The larger; what is no number is worse than any, and stays."""
    return a if a >= b or a != a else b


cdef class Core(Loop):
    """The compiled walk: blocks of steps, each of them verified; see the module's text."""

    cdef:
        Reach reach
        double[:, ::1] reaches  # where it points to
        double[::1] before
        char[::1] missed
        Py_ssize_t[::1] anchor
        readonly Py_ssize_t stride
        double[:, ::1] bent
        double[:, ::1] marks  # of slots: see `_mark_slots`
        double[::1] total, bent_border
        double[:, ::1] pack, packed, crossed  # rows of a factor, and their products
        Py_ssize_t[::1] in_pack
        readonly double off_treads, off_pins
        public double spare  # precision of z: so far beyond a pin a correction may lead

    def __init__(self, system, Py_ssize_t block):
        if block > MOST:
            raise ValueError(f"blocks have at most {MOST} moves, got {block}")
        super().__init__(system, block)
        self.stride = MOST if self.semidefinite else 1
        self.anchor = np.zeros(block, dtype=np.intp)
        self.total = np.zeros(block)
        self.bent_border = np.zeros(self.nb)
        self.pack, self.packed = np.zeros((PACK, self.rank)), np.zeros((PACK, MOST))
        self.crossed, self.in_pack = np.zeros((self.nb, MOST)), np.zeros(PACK, dtype=np.intp)
        self.before, self.missed = np.zeros(self.N), np.zeros(self.N, dtype=np.int8)
        self.reaches = np.zeros((5, self.n_rows))
        self.reach = Reach(
            &self.reaches[0, 0], &self.reaches[1, 0], &self.reaches[2, 0], &self.reaches[3, 0],
            &self.reaches[4, 0],
        )
        self.reserve(64)

    def reserve(self, Py_ssize_t cap):
        if not super().reserve(cap):
            return False
        self.bent = self.room[2 * self.bcap : 3 * self.bcap]
        self.marks = np.empty((1 + 2 * self.nb, self.cap))
        return True

    def verify(self, const double[::1] h, double t0, double[::1] h_end):
        """Check every variable at every breakpoint; returns those that passed a corner unseen.

        h is the residual at the block's start, t0; h_end receives it at the end.
        """
        h_end[:] = h
        if self.n_moves == 0:
            self._measure_drift(&h_end[0])
            return np.empty(0, dtype=np.intp)
        self.missed[:] = 0
        with nogil:
            self._look_at_the_rest()
            self._check(&h[0], t0, &h_end[0])
            self._border(&h[0], t0, &h_end[0])
            self._measure_drift(&h_end[0])
            self._measure_departures(&h[0], t0)
        return np.flatnonzero(np.asarray(self.missed))

    cdef void _look_at_the_rest(self) noexcept nogil:
        """The reach of variables that no ratio test has seen; infinite for all others."""
        cdef Py_ssize_t i, j, k
        cdef Reach r = self.reach
        for i in range(self.n_rows):
            j = self.stair[i]
            r.lo[i] = self.value[i, j - 1] - self.tol[i]
            r.hi[i] = self.value[i, j + 1] + self.tol[i]
            r.los[i], r.his[i] = self.slope[i, j - 1], self.slope[i, j + 1]
        for k in range(self.ns + self.nw):
            i = self.owner[k] if k < self.ns else self.w_var[k - self.ns]
            if has_row(&self.G, i):
                r.lo[i], r.hi[i], r.los[i], r.his[i] = -INFINITY, INFINITY, 0.0, 0.0

    cdef void _check(self, const double *h, double t0, double *h_end) noexcept nogil:
        """From anchor to anchor: residuals there, and a bound between them."""
        cdef:
            Py_ssize_t n = self.n_rows, k, a = -1, b, m = self._anchors(), doubtful = 0, few
            double t = t0
        self._flows(m)
        memcpy(&self.before[0], h, self.N * sizeof(double))
        for k in range(m):
            b = self.anchor[k]
            self._residuals(b, self.mt1[b] - t0, &self.moved[k, 0], h, h_end)
            self._bend(a, b, t)
            if outside(n, t, &self.before[0], &self.reach) or outside(
                n, self.mt1[b], h_end, &self.reach
            ):
                doubtful += self._look_closely(a, b, t0, t, h, h_end)
            memcpy(&self.before[0], h_end, n * sizeof(double))
            a, t = b, self.mt1[b]
        if not self.semidefinite:
            return
        # Looking closely at many costs more than more anchors, at few less. With a factor it costs
        # as much as an anchor for each of the breakpoints between two.
        few = max(self.stride // 2, 1) if self.rank else DOUBTFUL
        if doubtful * few > m * n:
            self.stride = max(self.stride // 2, 1)
        elif doubtful * 4 * few < m * n:
            self.stride = min(2 * self.stride, MOST)

    cdef Py_ssize_t _anchors(self) noexcept nogil:
        """Breakpoints at which every residual is computed: every `stride`-th, and the last."""
        cdef Py_ssize_t count = 0, j = -1
        while j < self.n_moves - 1:
            j = min(j + self.stride, self.n_moves - 1)
            self.anchor[count] = j
            count += 1
        return count

    cdef void _flows(self, Py_ssize_t m) noexcept nogil:
        """A S dz at m anchors, and A S z' at the end, for `refine`, with one reading of A."""
        cdef:
            Py_ssize_t k
            const double *x[MOST + 1]
            double *out[MOST + 1]
        for k in range(m):
            x[k], out[k] = &self.DZ[self.anchor[k], 0], &self.moved[k, 0]
        for k in range(self.ns):  # at rest again, outside of all frames
            self.full[k] = self.zd[k] + self.way * self.frame[k] * (self.slot_var[k] >= 0)
        x[m], out[m] = &self.full[0], &self.flow[0]
        self.flowing = True
        self._spread(self.ns, &self.owner[0], m + 1, x, out)

    cdef void _residuals(
        self, Py_ssize_t j, double dt, const double *flow, const double *h, double *out
    ) noexcept nogil:
        """h at breakpoint j, from its value at the block's start and the flow of the change."""
        cdef:
            Py_ssize_t i, s, n = self.n_rows
            const double *signs = &self.signs[0]
            const double *edge
            const double *r = &self.r[0]
            double x
        if self.plain:
            for i in range(n):
                out[i] = h[i] - signs[i] * flow[i] - dt * r[i]
        else:
            for i in range(n):
                out[i] = h[i] - signs[i] * flow[self.place[i]] - dt * r[i]
        for s in range(self.ns):
            if has_row(&self.G, self.owner[s]):
                continue
            x = self.DZ[j, s]
            edge = &self.edges[self.owner[s] - n, 0]
            for i in range(n):
                out[i] -= edge[i] * x

    cdef void _border(self, const double *h, double t0, double *h_end) noexcept nogil:
        """h at the end for variables of the border; on pins they are always watched."""
        cdef Py_ssize_t e, i, s, last = self.n_moves - 1
        for e in range(self.nb):
            i = self.n_rows + e
            h_end[i] = h[i] - (self.mt1[last] - t0) * self.r[i]
            for s in range(self.ns):
                if has_row(&self.G, self.owner[s]):
                    h_end[i] -= self.sigma[i] * self.border[self.owner[s], e] * self.DZ[last, s]

    # ------------------------------------------------------------------ the bound

    cdef void _bend(self, Py_ssize_t a, Py_ssize_t b, double t) noexcept nogil:
        """How far each residual may be from a straight line between breakpoints a (at t) and b."""
        cdef:
            Py_ssize_t i, e, n = self.n_rows
            double *bound = self.reach.bound
            double most
        memset(bound, 0, n * sizeof(double))
        if b - a < 2:
            return
        self._differences(a, b, t)
        self._squares(a, b, t)
        most = self._largest(b - a - 1)
        for i in range(n):
            bound[i] = self.root[i] * most
        for e in range(self.nb):
            for i in range(n):
                bound[i] += fabs(self.edges[e, i]) * self.bent_border[e]

    cdef void _differences(self, Py_ssize_t a, Py_ssize_t b, double t) noexcept nogil:
        """bent_j = d at breakpoint a + 1 + j: z less its straight line from a (at t) to b."""
        cdef Py_ssize_t j, s, ns = self.ns
        cdef double part, way = self.mt1[b] - t
        cdef double *d
        for j in range(b - a - 1):
            part = (self.mt1[a + 1 + j] - t) / way if way != 0.0 else 0.0
            d = &self.bent[j, 0]
            for s in range(ns):
                d[s] = self.DZ[a + 1 + j, s] - part * self.DZ[b, s]
            if a >= 0:
                for s in range(ns):
                    d[s] -= (1.0 - part) * self.DZ[a, s]

    cdef void _squares(self, Py_ssize_t a, Py_ssize_t b, double t) noexcept nogil:
        """total_j = sum of d_s (G d)_s over the slots that entered or left in this block.

        A variable that is free all the way has a residual that stays on its straight line, so that
        (A d)_s = -(B d)_s there: d'A d needs only those that entered or left, and the border, for
        which see `_largest`. They have been watched: (G d)_s is how far their residual is from the
        straight line.
        """
        cdef Py_ssize_t j, s, w
        cdef double part, first, last, way = self.mt1[b] - t
        cdef double *total = &self.total[0]
        memset(total, 0, (b - a - 1) * sizeof(double))
        for s in range(self.ns):
            w = self.slot_row[s]
            if w < 0 or not has_row(&self.G, self.owner[s]):
                continue
            first, last = self._was(w, a, t), self._was(w, b, self.mt1[b])
            for j in range(b - a - 1):
                part = (self.mt1[a + 1 + j] - t) / way if way != 0.0 else 0.0
                total[j] += self.bent[j, s] * (
                    (1.0 - part) * first + part * last
                    - self._was(w, a + 1 + j, self.mt1[a + 1 + j])
                )

    cdef double _largest(self, Py_ssize_t inner) noexcept nogil:
        """The largest sqrt(d'A d), with what the residuals' tolerances may add to it.

        bent_border receives the largest |d| of each variable of the border.
        """
        cdef:
            Py_ssize_t j, e, ns = self.ns
            double size, tilt, tol = self._mark_slots(), most = 0.0
            double *d
        memset(&self.bent_border[0], 0, self.nb * sizeof(double))
        for j in range(inner):
            d = &self.bent[j, 0]
            size = sum_of_sizes(ns, d, &self.marks[0, 0])
            for e in range(self.nb):
                tilt = dot(ns, d, &self.marks[1 + e, 0])
                self.total[j] -= tilt * dot(ns, d, &self.marks[1 + self.nb + e, 0])
                self.bent_border[e] = max(self.bent_border[e], fabs(tilt))
            most = max(most, fabs(self.total[j]) + 4.0 * tol * size)
        return sqrt(most)

    cdef double _mark_slots(self) noexcept nogil:
        """Which slots have rows, which are variables of the border, and what its columns are there.

        Returns the largest tolerance of residuals.
        """
        cdef Py_ssize_t s, e, i
        cdef double tol = 0.0
        cdef bint has
        for s in range(self.ns):
            i = self.owner[s]
            has = has_row(&self.G, i)
            self.marks[0, s] = has
            for e in range(self.nb):
                self.marks[1 + e, s] = i == self.n_rows + e
                self.marks[1 + self.nb + e, s] = self.border[i, e] if has else 0.0
            if has:
                tol = max(tol, self.tol[i])
        return tol

    cdef Py_ssize_t _look_closely(
        self, Py_ssize_t a, Py_ssize_t b, double t0, double t, const double *h, const double *h_b,
    ) noexcept nogil:
        """Compute the breakpoints from a to b of variables that may have passed a corner."""
        cdef:
            Py_ssize_t i, count = 0, pack = 0
            double bound
            const Reach *r = &self.reach
        if self.rank:
            self._bundles(a, b)
        for i in range(self.n_rows):
            bound = r.bound[i]
            if self.missed[i] or (
                within(r, i, t, self.before[i], bound) and within(r, i, self.mt1[b], h_b[i], bound)
            ):
                continue
            count += 1
            if not within(r, i, self.mt1[b], h_b[i], 0.0):
                self.missed[i] = 1
            elif self.rank:
                self.in_pack[pack] = i
                pack += 1
                if pack == PACK:
                    self._look_at_pack(pack, a, b, t0, h)
                    pack = 0
            else:
                self._look_at_row(i, a, b, t0, h)
        self._look_at_pack(pack, a, b, t0, h)
        return count

    cdef void _look_at_row(
        self, Py_ssize_t i, Py_ssize_t a, Py_ssize_t b, double t0, const double *h
    ) noexcept nogil:
        """Whether variable i stays inside its reach at the breakpoints between a and b."""
        cdef Py_ssize_t j
        cdef double *x = &self.work[0]
        self._row(i, &self.v[0])
        gemv_t(&self.DZ[a + 1, 0], self.cap, b - a - 1, self.ns, 1.0, &self.v[0], 0.0, x)
        for j in range(a + 1, b):
            self._judge(i, j, t0, h[i] - self.sigma[i] * x[j - a - 1])

    cdef void _judge(self, Py_ssize_t i, Py_ssize_t j, double t0, double x) noexcept nogil:
        """Whether variable i is inside its reach at breakpoint j; x: its residual but for r."""
        x -= (self.mt1[j] - t0) * self.r[i]
        if not within(&self.reach, i, self.mt1[j], x, 0.0):
            self.missed[i] = 1

    cdef void _bundles(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        """Z'S dz at the breakpoints between a and b; `crossed`: dz of the border's variables."""
        cdef:
            Py_ssize_t k, s
            const double *x[MOST]
            double *out[MOST]
        for k in range(b - a - 1):
            x[k], out[k] = &self.DZ[a + 1 + k, 0], &self.bundle[k, 0]
        self._sum_rows(0, 0, self.ns, &self.owner[0], b - a - 1, x, out, False)
        self.crossed[:, :] = 0.0
        for s in range(self.ns):
            if not has_row(&self.G, self.owner[s]):
                for k in range(b - a - 1):
                    self.crossed[self.owner[s] - self.n_rows, k] += self.DZ[a + 1 + k, s]

    cdef void _look_at_pack(
        self, Py_ssize_t pack, Py_ssize_t a, Py_ssize_t b, double t0, const double *h
    ) noexcept nogil:
        """`_look_at_row` for several rows of a factor, by one product with the bundles."""
        cdef Py_ssize_t i, j, k, e, rank = self.rank
        cdef double x
        if self.G.sparse.data != NULL:
            for k in range(pack):
                i = self.p[self.in_pack[k]]
                for j in range(b - a - 1):
                    self.packed[k, j] = dot_dense(&self.G.sparse, i, &self.bundle[j, 0])
        else:
            for k in range(pack):
                memcpy(
                    &self.pack[k, 0], self.blocks[0].a + self.p[self.in_pack[k]] * rank,
                    rank * sizeof(double),
                )
            gemm_t(
                &self.pack[0, 0], rank, pack, &self.bundle[0, 0], rank, b - a - 1, rank,
                &self.packed[0, 0], MOST,
            )
        for k in range(pack):
            i = self.in_pack[k]
            for j in range(a + 1, b):
                x = h[i] - self.signs[i] * self.packed[k, j - a - 1]
                for e in range(self.nb):
                    x -= self.edges[e, i] * self.crossed[e, j - a - 1]
                self._judge(i, j, t0, x)

    # ------------------------------------------------------------------ drift

    def measure_drift(self, const double[::1] h):
        """How far residuals are off their stairs between blocks, in units of what may drift."""
        self.n_moves = 0
        self._measure_drift(&h[0])

    def correction(self, const double[::1] h):
        """The step of the free variables, by slots, that takes their residuals back to their
        treads: H sigma (h - level). None if it leads out of a box.
        """
        cdef:
            Py_ssize_t s, i, j
            double z, spare
            double[::1] step = np.zeros(self.ns)
        for s in range(self.ns):
            i = self.slot_var[s]
            j = self.stair[i]
            self.g[s] = self.sigma[i] * (h[i] - self.value[i, j] - self.t * self.slope[i, j])
        if self.ns:
            self._add_inverse(&self.g[0], &step[0])
        for s in range(self.ns):
            z, spare = self.zs[s] + step[s], self.spare * self.precision * self.box[self.owner[s]]
            if not self._low(s) - spare <= z <= self._high(s) + spare:
                return None
        return np.asarray(step)

    cdef void _measure_drift(self, const double *h) noexcept nogil:
        """How far residuals are off their treads or out of pins' reach, in units of `keep`."""
        cdef Py_ssize_t i, j
        cdef double x, level, keep
        self.off_treads = self.off_pins = 0.0
        for i in range(self.N):
            j = self.stair[i]
            keep = self.keep[i] + self.drift_least * fabs(
                self.unit_value[i] + self.t * self.unit_slope[i]
            )
            if not has_row(&self.G, i):
                keep += self.drift_rounding * self._border_terms(i - self.n_rows)
            if j % 2 == 0:
                level = self.value[i, j] + self.t * self.slope[i, j]
                self.off_treads = worse(self.off_treads, fabs(h[i] - level) / keep)
            else:
                x = self.value[i, j - 1] + self.t * self.slope[i, j - 1] - h[i]
                x = max(x, h[i] - self.value[i, j + 1] - self.t * self.slope[i, j + 1])
                self.off_pins = worse(self.off_pins, x / keep)

    cdef double _border_terms(self, Py_ssize_t e) noexcept nogil:
        """The sum of absolute terms that the block has added to a residual of the border.

        At a start with z = 0 there are none before, and no unit that would make up for them.
        """
        cdef Py_ssize_t s, last = self.n_moves - 1
        cdef double total = 0.0
        if last < 0:
            return 0.0
        if self.pins_move:
            total = self.r_size[self.n_rows + e] * fabs(self.mt1[last] - self.mt0[0])
        for s in range(self.ns):
            if has_row(&self.G, self.owner[s]):
                total += fabs(self.border[self.owner[s], e] * self.DZ[last, s])
        return total

    cdef void _measure_departures(self, const double *h, double t0) noexcept nogil:
        """The same for variables that left a tread, at the breakpoint where they did."""
        cdef Py_ssize_t s, i, j
        cdef double x, keep
        for s in range(self.ns):
            i, j = self.owner[s], self.left_at[s]
            if j < 0 or not has_row(&self.G, i):
                continue
            x = h[i] - self.sigma[i] * dot(self.ns, &self.GW[self.slot_row[s], 0], &self.DZ[j, 0])
            x -= (self.mt1[j] - t0) * self.r[i]
            keep = self.keep[i] + self.drift_least * fabs(
                self.unit_value[i] + self.mt1[j] * self.unit_slope[i]
            )
            self.off_treads = worse(self.off_treads, fabs(x - self.left_from[s]) / keep)
