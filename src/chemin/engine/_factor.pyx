# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The active set of the compiled walk: free variables in slots, and the inverse H of G_FF.

Within a block of steps the inverse is kept as

    H = H0 + sum_j d_j u_j u_j'

so that an event costs one product with H0 (a variable enters) or none (one leaves), and H0 is
brought up to date at the end of the block by two rank-k products (only its lower half is kept):

    enters:  u = (H g; -1), d = 1 / s          s = G_ii - g'H g, the Schur complement
    leaves:  u = H e_k,     d = -1 / H_kk

                       n0      ns
            +----------+-------+
       U =  | u_1 ..................            one row an event
            +----------+-------+
       H0 = | lower    |                        slots are only added within a block; a variable
            | half     |                        that leaves keeps its slot, empty, until the end
            +----------+

**Trades.** Two changes that are regular only together (a row enters that depends on free ones, and
one of those leaves; a slot leaves the last one that held an intercept, and another enters) are one
of rank two, with the vectors above and the 2 x 2 complement S of both:

    H + W S^-1 W',   W = (u_1, u_2)            S_jj = 1 / d_j,  S_12 = -(what u_1 does to the other)

**Pins that move.** Within a block each variable is written in a frame that moves as its pin does:
x = z - v (t - t_e), with v the speed of the pin on which it stands at the block's start, or from
which it has entered at t_e. Those that are free at the start have v = 0. So x of a variable that
stays on its pin stands still, g moves by r + M v all through the block, and only slots change. A
slot that is emptied *coasts*: x' is the speed of its new pin less v, and b feels it. The block's
end takes all back to z, and r + M v with it.

**Doubtful pivots** are judged with the solve converged: residuals as if in twice the precision,
with G_FF gathered for the rest of the block.

**Careful blocks.** An inverse that has been near singular on its way stays imprecise: terms
d_j u_j u_j' that nearly cancel are much larger than their sum. After drift, blocks begin with a
fresh inverse, solves are refined with G_FF itself, and after a frail pivot H0 is computed again
within the block.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, hypot, sqrt
from libc.string cimport memcpy, memset

from scipy.linalg.cython_blas cimport dsymv, dsyrk
from scipy.linalg.cython_lapack cimport dgetrf, dgetri

from chemin.engine._blas cimport (
    blas_int, dot, gemv_n, gemv_t, largest_product, largest_size, sum_of_sizes,
)
from chemin.engine._compensated cimport less_products, residual
from chemin.engine._entries cimport entry, has_row, row

cdef enum:
    LAPACK_BLOCK = 32  # columns that LAPACK takes at a time
    REFINEMENTS = 8  # of a solve, at the most
    FEW = 32  # slots: fewer are looked up as they come
    LEAST = 1024  # slots that there is room for from the start, as far as there are variables;
    PART = 4  # or for this part of the rows of a matrix: what is not used takes no memory

cdef double EPS = np.finfo(np.float64).eps
cdef double TINY = np.finfo(np.float64).tiny
cdef double STANDS = 4.0 * EPS  # a solve that changes by this part is done
cdef double ALIKE = 0.01  # so near to 1 the entry of a copy's slot is, by any inverse that serves


cdef inline void symv(
    const double *h, blas_int ld, blas_int n, const double *x, double beta, double *out,
) noexcept nogil:
    """out = H x + beta out, H symmetric, its lower half row-major."""
    cdef char half = b"U"
    cdef blas_int one = 1
    cdef double alpha = 1.0
    if n > 0:
        dsymv(&half, &n, &alpha, <double *> h, &ld, <double *> x, &one, &beta, out, &one)


cdef inline void add_square(
    double *h, blas_int ld, blas_int n, const double *u, blas_int k, double alpha,
) noexcept nogil:
    """H += alpha U'U, U of k rows; the lower half of H, row-major."""
    cdef char no = b"N"
    cdef char half = b"U"
    cdef double one = 1.0
    if k > 0:
        dsyrk(&half, &no, &n, &k, &alpha, <double *> u, &ld, &one, h, &ld)


cdef class Factor(System):
    """Slots and the inverse; see the module's text."""

    def __init__(self, system, Py_ssize_t block):
        super().__init__(system)
        self.ucap = 2 * block
        self.slot_of = np.full(self.N, -1, dtype=np.intp)
        self.moved, self.flow = np.zeros((block, self.n_flow)), np.zeros(self.n_flow)
        self.pin_speed, self.pushed = np.zeros((2, self.N))
        self.line_edge = np.zeros(self.nb, dtype=np.intp)

    # ------------------------------------------------------------------ memory

    def reserve(self, Py_ssize_t cap):
        """Room for `cap` slots, keeping what there is; returns whether arrays are new."""
        cdef Py_ssize_t old = self.ns if self.cap else 0
        if cap <= self.cap:
            return False
        # No more variables are free than a factor has columns.
        usual = self.rank + self.nb if self.rank else max(LEAST, self.N // PART)
        cap = min(max(cap, usual, 3 * self.cap // 2), self.N + self.ucap + 2)
        cap = (cap + 7) // 16 * 16 + 8  # odd in lines of the cache, which spreads columns over it
        # One piece of memory, also for the rows of the working set: of several pieces the system
        # is given some back after each walk, and new pages are dear. What is not used is not taken.
        spare = 3 * (min(self.N, cap) + self.ucap) * min(cap, LEAST // 2)
        piece = np.empty((cap + 4 * self.ucap) * cap + spare)
        room, self.spare = piece[:-spare].reshape(-1, cap), piece[-spare:]
        H, owners, slots = room[:cap], np.zeros((7, cap), np.intp), np.zeros((19, cap))
        if old:
            H[:old, :old] = self.H[:old, :old]
            owners[:2, :old] = self.owners[:2, :old]
            slots[:9, :old] = self.slots[:9, :old]
        self.array = self.H = H
        self.owners, self.slots = owners, slots
        self.U, self.scaled = room[cap : cap + self.ucap], room[cap + self.ucap :][: self.ucap]
        self.room = room[cap + 2 * self.ucap :]
        self.d, self.work = np.zeros((2, max(self.ucap, cap)))
        self._cut()
        self.cap, self.n_line = cap, 0
        return True

    cdef void _cut(self):
        """One array for each quantity by slots: to make them one by one takes longer than a short
        walk. What is known of slots comes first.
        """
        cdef Py_ssize_t[:, ::1] own = self.owners
        cdef double[:, ::1] x = self.slots
        self.slot_var, self.owner, self.emptied, self.line_slot = own[0], own[1], own[2], own[3]
        self.line_at, self.came_from, self.went_to = own[4], own[5], own[6]
        self.zs, self.z0, self.zd, self.b, self.slot_root = x[0], x[1], x[2], x[3], x[4]
        self.lo, self.los, self.hi, self.his = x[5], x[6], x[7], x[8]
        self.frame, self.since, self.coast, self.line_sign = x[9], x[10], x[11], x[12]
        self.g, self.v, self.wanted, self.lacking = x[13], x[14], x[15], x[16]
        self.change, self.lost = x[17], x[18]

    # ------------------------------------------------------------------ the state

    def load(self, stair, z, double t, double way, H=None, slots=None, double spoilt=0.0):
        """Stand at (stair, z, t); H is the inverse of G_FF, its rows the variables `slots`, or the
        free ones in their order, and `spoilt` what small pivots have left in it.

        Without it the inverse is computed; 0 if there is none: then no z moves, and verification
        fails.
        """
        cdef Py_ssize_t s
        self.stair = np.array(stair, dtype=np.intp)
        free = np.flatnonzero(np.asarray(stair) % 2 == 0) if slots is None else slots
        self.ns = self.n_line = 0
        self.reserve(len(free) + self.ucap // 2 + 2)
        self.slot_of = np.full(self.N, -1, dtype=np.intp)
        self.way = way
        self.measure_pins()
        self.ns = len(free)
        for s in range(self.ns):
            self._new_slot(s, free[s], way)
            self.zs[s] = z[free[s]]
        self.t, self.spoilt, self.flowing = t, spoilt, False
        self.was_wary = self.was_careful = False
        self.era += 1
        if H is None:
            self._invert_once()
            return
        if len(H) > self.cap:  # that of another walk, with room of its own
            self.reserve(len(H))
        if len(H) == self.cap:
            self.array = self.H = H
        else:
            self.array[: self.ns, : self.ns] = H[: self.ns, : self.ns]
        symv(&self.H[0, 0], self.cap, self.ns, &self.b[0], 0.0, &self.zd[0])

    def lend(self):
        """The inverse for `load`, between blocks; None if it is worn.

        It is not copied: this walk can go on only after it has loaded one itself.
        """
        return (self.array, self.free, self.spoilt) if self.spoilt <= self.worn else None

    def _invert_once(self):
        """H from the data, where no block is under way; G_FF is not kept."""
        self.held = False
        self._room_for_G()
        self._room_to_invert()
        with nogil:
            self._hold()
            if not self._invert():
                self._no_inverse()
        self.held = False
        self.GF = self.square = None

    def measure_pins(self):
        """How fast pins move, and g with them, from the data."""
        cdef Py_ssize_t s
        if not self.pins_move:
            return
        stair, system = np.asarray(self.stair), self.system
        slope = np.asarray(self.slope)[np.arange(self.N), stair]
        speed = np.where(stair % 2 == 1, slope, 0.0)
        self.pin_speed, self.fastest = speed, np.abs(speed).max()
        self.r = system.r + system.coupling.dot(speed)
        self.r_size = np.abs(system.r) + system.coupling.magnitude(speed)
        self.frame[:] = 0.0
        self.coast[:] = 0.0
        for s in range(self.ns):
            self._bounds(s, self.way)

    cdef Py_ssize_t _most_slots(self) noexcept nogil:
        """No block comes to more slots than this."""
        return min(self.cap, self.n0 + self.ucap)

    cdef void _new_slot(self, Py_ssize_t s, Py_ssize_t i, double way) noexcept nogil:
        """Variable i, on a tread, takes slot s."""
        self.slot_var[s] = self.owner[s] = i
        self.slot_of[i], self.slot_root[s] = s, self.root[i]
        self._bounds(s, way)

    cdef void _bounds(self, Py_ssize_t s, double way) noexcept nogil:
        """The ends of the tread, in the slot's frame, and b, as if nothing coasted."""
        cdef Py_ssize_t i = self.slot_var[s], j = self.stair[i]
        cdef double v = self.frame[s]
        self.lo[s], self.los[s] = self.value[i, j - 1] + v * self.since[s], self.slope[i, j - 1] - v
        self.hi[s], self.his[s] = self.value[i, j + 1] + v * self.since[s], self.slope[i, j + 1] - v
        self.b[s] = -self.sigma[i] * (self.r[i] + self.slope[i, j]) * way

    cdef double _low(self, Py_ssize_t s) noexcept nogil:
        return self.lo[s] + self.t * self.los[s]

    cdef double _high(self, Py_ssize_t s) noexcept nogil:
        return self.hi[s] + self.t * self.his[s]

    @property
    def free(self):
        return np.asarray(self.slot_var)[: self.ns].copy()

    @property
    def stairs(self):
        return np.asarray(self.stair)

    def positions(self):
        """z: pinned variables at their pins, the free ones where they stand."""
        out = np.empty(self.N)
        cdef double[::1] z = out
        cdef Py_ssize_t i, j
        for i in range(self.N):
            j = self.stair[i]
            if j % 2 == 1:
                z[i] = self.value[i, j] + self.t * self.slope[i, j]
            else:
                z[i] = self.zs[self.slot_of[i]]
        return out

    def terms(self, const double[::1] z):
        """M z and |M| |z|, with one reading of the rows of A; A is not factored."""
        product, sizes = np.empty(self.N), np.zeros(self.N)
        cdef:
            Py_ssize_t[::1] some = np.empty(self.N, dtype=np.intp)
            double[::1] x = np.empty(self.N)
            double[::1] pushed = product, size = sizes
            const double *both[2]
            double *flows[2]
            Py_ssize_t i, e, g, count = 0, n = self.n_rows
            const double *edge = &z[0] + n
        if self.nb:
            product[n:] = np.asarray(self.border).T @ z[:n]
        both[0] = both[1] = &x[0]
        flows[0], flows[1] = &self.moved[0, 0], &self.moved[1, 0]
        with nogil:
            for i in range(n):
                if z[i] == 0.0:
                    continue
                some[count], x[count] = i, z[i]
                count += 1
                for e in range(self.nb):
                    size[n + e] += fabs(self.border[i, e] * z[i])
            for g in range(self.G.n_groups):
                self._sum_rows(g, self.offset[g], count, &some[0], 2, both, flows, True)
            for i in range(n):
                pushed[i] = self.signs[i] * flows[0][self.place[i]]
                size[i] = fabs(self.sign[i]) * flows[1][self.place[i]]
                for e in range(self.nb):
                    pushed[i] += self.edges[e, i] * edge[e]
                    size[i] += fabs(self.edges[e, i] * edge[e])
            for e in range(self.nb):
                pushed[n + e] *= self.sigma[n + e]
        return product, sizes

    # ------------------------------------------------------------------ between blocks

    def shift(self, step):
        np.asarray(self.zs)[: self.ns] += step

    def push(self, const double[::1] step):
        """M x for a step x of the free variables, in slot order."""
        cdef double[::1] pushed = np.empty(self.N)
        cdef const double *x = &step[0]
        cdef double *out = &self.moved[0, 0]
        with nogil:
            self._spread(self.ns, &self.owner[0], 1, &x, &out)
            self._pushed(self.ns, &self.owner[0], out, x, &pushed[0])
        return np.asarray(pushed)

    def refine(self, double way):
        """One step of refinement of z': residuals on treads must move as the treads do.

        Returns h' of every variable.
        """
        rates = np.empty(self.N)
        cdef:
            double[::1] rate = rates
            Py_ssize_t s, i
            const double *x = &self.zd[0]
            double *out = &self.flow[0]
        with nogil:
            if not self.flowing:
                self._spread(self.ns, &self.owner[0], 1, &x, &out)
            self.flowing = False
            self._pushed(self.ns, &self.owner[0], &self.flow[0], &self.zd[0], &rate[0])
            for i in range(self.N):
                rate[i] = -(rate[i] + way * self.r[i])
            for s in range(self.ns):
                i = self.slot_var[s]
                self.g[s] = self.sigma[i] * (rate[i] - way * self.slope[i, self.stair[i]])
            symv(&self.H[0, 0], self.cap, self.ns, &self.g[0], 1.0, &self.zd[0])
        return rates

    # ------------------------------------------------------------------ solves

    cdef void _row(self, Py_ssize_t i, double *out) noexcept nogil:
        """out[s] = G_{i, s} for all slots of the block, those emptied in it too."""
        cdef Py_ssize_t k, s, e, first = self.n_line
        cdef const double *a
        cdef double sign
        if not has_row(&self.G, i):
            first = 0
        if first > 0:
            a, sign = self.G.blocks.a + self.p[i] * self.G.blocks.width, self.sign[i]
            for k in range(self.n_in_line):
                out[self.line_slot[k]] = sign * self.line_sign[k] * a[self.line_at[k]]
            for e in range(self.nb):
                s = self.line_edge[e]
                if s >= 0:
                    out[s] = self.border[i, e]
        row(&self.G, i, self.ns - first, &self.owner[first], out + first)

    cdef void _line_up(self) noexcept nogil:
        """The slots of a block's start in the order of their columns: a row of A is read forwards.

        Memory is quicker that way. A few slots are not worth it.
        """
        cdef Py_ssize_t i, e, s, k = 0
        self.n_line = 0
        if self.ns < FEW or self.G.factored or self.G.n_groups > 1:
            return
        for i in range(self.n_rows):
            s = self.slot_of[i]
            if s >= 0:
                self.line_slot[k], self.line_at[k], self.line_sign[k] = s, self.p[i], self.sign[i]
                k += 1
        for e in range(self.nb):
            self.line_edge[e] = self.slot_of[self.n_rows + e]
        self.n_in_line, self.n_line = k, self.ns

    cdef void _add_inverse(self, const double *g, double *out) noexcept nogil:
        """out += H g = H0 g + U' D U g; entries of empty slots have no meaning."""
        symv(&self.H[0, 0], self.cap, self.n0, g, 1.0, out)
        self._add_changes(g, out)

    cdef void _add_changes(self, const double *g, double *out) noexcept nogil:
        """out += U' D U g."""
        cdef Py_ssize_t x
        gemv_t(&self.U[0, 0], self.cap, self.k, self.ns, 1.0, g, 0.0, &self.work[0])
        for x in range(self.k):
            self.work[x] *= self.d[x]
        gemv_n(&self.U[0, 0], self.cap, self.k, self.ns, 1.0, &self.work[0], 1.0, out)

    cdef void _column(self, Py_ssize_t s, double *out) noexcept nogil:
        """out = H e_s, without a product with H0."""
        cdef Py_ssize_t x
        if s < self.n0:
            memcpy(out, &self.H[s, 0], (s + 1) * sizeof(double))
            for x in range(s + 1, self.n0):
                out[x] = self.H[x, s]
            memset(out + self.n0, 0, (self._most_slots() - self.n0) * sizeof(double))
        else:
            memset(out, 0, self._most_slots() * sizeof(double))
        for x in range(self.k):
            self.work[x] = self.d[x] * self.U[x, s]
        gemv_n(&self.U[0, 0], self.cap, self.k, self.ns, 1.0, &self.work[0], 1.0, out)

    cdef double _diagonal(self, Py_ssize_t s) noexcept nogil:
        """H_ss."""
        cdef Py_ssize_t x
        cdef double out = self.H[s, s] if s < self.n0 else 0.0
        for x in range(self.k):
            out += self.d[x] * self.U[x, s] * self.U[x, s]
        return out

    # ------------------------------------------------------------------ pivots

    cdef double _schur(self, Py_ssize_t i, const double *solved, double *size) noexcept nogil:
        """The Schur complement G_ii - g'v of variable i, v = H g, g its column in the slots.

        `solved`: H0 g, where it is known; then g has the entries of slots emptied in this block,
        too, and H is zero there but for round-off. They are cleared.

        `size` receives the sum of absolute terms. Entries of v without a row are known to round-off
        of the largest entry alone, so they count as it does. A variable without a row has no
        diagonal entry: v may be round-off where g is not zero, so its size is |g|_1 |v|_max. Both
        as in the reference.
        """
        memset(&self.v[0], 0, self.ns * sizeof(double))
        if solved != NULL:
            memcpy(&self.v[0], solved, self.n0 * sizeof(double))
            self._add_changes(&self.g[0], &self.v[0])
            self._clear_empty(&self.g[0])
        else:
            self._clear_empty(&self.g[0])
            self._add_inverse(&self.g[0], &self.v[0])
        self.wrong, self.stands = 0.0, True
        if self.wary:
            self.stands = self._refine(&self.g[0], &self.v[0])
        self._clear_empty(&self.v[0])
        return self._complement(i, size)

    cdef double _complement(self, Py_ssize_t i, double *size) noexcept nogil:
        cdef:
            Py_ssize_t s, e
            double *g = &self.g[0]
            double *v = &self.v[0]
            double own = entry(&self.G, i, i), terms, wide = 0.0, largest
        largest = largest_size(self.ns, v)
        if has_row(&self.G, i):
            terms = fabs(own) + sum_of_sizes(self.ns, g, v)
            for e in range(self.n_rows, self.N):
                s = self.slot_of[e]
                if s >= 0:
                    terms += fabs(g[s]) * largest
        else:
            for s in range(self.ns):
                wide += fabs(g[s])
            terms = wide * largest
        size[0] = terms
        return own - dot(self.ns, g, v)

    cdef bint _judge_entry(self, Py_ssize_t i, double *pivot, double *size) noexcept nogil:
        """The pivot of `_schur` with v to the last digits; False if v does not converge.

        With v = H g + e the complement is G_ii - g'v - v'(g - G_FF v) but for e'G_FF e. That of a
        copy is 0.
        """
        cdef Py_ssize_t ns = self.ns
        cdef const double *v = &self.v[0]
        if self._copies(i):
            self._complement(i, size)
            pivot[0] = 0.0
        else:
            self.n_judged += 1
            if not self._hold() or not self._converge(&self.g[0], &self.v[0]):
                return False
            self.spoilt = max(self.spoilt, self.wrong)
            self._complement(i, size)
            pivot[0] = less_products(entry(&self.G, i, i), ns, &self.g[0], v)
            pivot[0] = less_products(pivot[0], ns, &self.lacking[0], v)
        self.hidden = self._square(v)
        if has_row(&self.G, i):
            self.hidden += self.root[i] * self.root[i]
        self.hidden *= self.entries
        return True

    cdef bint _copies(self, Py_ssize_t i) noexcept nogil:
        """Whether variable i has the row of a slot, or its negative: v is a unit vector then.

        Repeated rows have it, and the two rows of one point. No solve is more precise.
        """
        cdef Py_ssize_t s, x
        cdef double sign, off = 0.0
        s = self._largest_slot(&self.v[0])
        if s < 0 or not fabs(fabs(self.v[s]) - 1.0) < ALIKE:
            return False
        if entry(&self.G, i, i) != entry(&self.G, self.slot_var[s], self.slot_var[s]):
            return False
        sign = 1.0 if self.v[s] > 0.0 else -1.0
        self._row(self.slot_var[s], &self.lost[0])
        for x in range(self.ns):
            if self.slot_var[x] >= 0 and self.g[x] != sign * self.lost[x]:
                return False
        self.v[s] -= sign
        off = largest_size(self.ns, &self.v[0])
        memset(&self.v[0], 0, self.ns * sizeof(double))
        self.v[s] = sign
        self.wrong, self.spoilt = 0.0, max(self.spoilt, off)
        return True

    cdef Py_ssize_t _largest_slot(self, const double *x) noexcept nogil:
        """The slot of the largest entry; -1 if all are empty."""
        cdef Py_ssize_t s, at = -1
        cdef double most = 0.0
        for s in range(self.ns):
            if self.slot_var[s] >= 0 and fabs(x[s]) > most:
                at, most = s, fabs(x[s])
        return at

    cdef double _square(self, const double *u) noexcept nogil:
        """The sum of (root u)^2 over slots with rows: u'G u is not known to less than EPS times it,
        for entries of G are themselves rounded.
        """
        cdef Py_ssize_t s
        cdef double x, total = 0.0
        for s in range(self.ns):
            if has_row(&self.G, self.owner[s]):
                x = self.slot_root[s] * u[s]
                total += x * x
        return total

    cdef void _add_slot(self, Py_ssize_t new, Py_ssize_t ns, double pivot) noexcept nogil:
        """H takes slot `new`, beside the first ns, after `_schur`; z' changes along (v; -1)."""
        cdef Py_ssize_t s
        cdef double gain = (dot(ns, &self.g[0], &self.zd[0]) - self.b[new]) / pivot
        self._as_entry(new, ns, &self.U[self.k, 0])
        self.d[self.k] = 1.0 / pivot
        for s in range(ns):
            self.zd[s] += gain * self.v[s]
        self.zd[new] = -gain
        self._wear()

    cdef void _as_entry(self, Py_ssize_t new, Py_ssize_t ns, double *u) noexcept nogil:
        """u = (v; -1), after `_schur`."""
        memcpy(u, &self.v[0], ns * sizeof(double))
        memset(u + ns, 0, (self._most_slots() - ns) * sizeof(double))
        u[new] = -1.0

    cdef double _leaving(
        self, Py_ssize_t s, double *u, double *size, double *largest
    ) noexcept nogil:
        """The pivot H_ss of a variable that leaves slot s, and u = H e_s.

        g receives the row of G. `size` and `largest`: sum of |g_x u_x|, and the largest |g_x|.
        """
        self._column(s, u)
        self.wrong, self.stands = 0.0, True
        if self.wary:
            memset(&self.wanted[0], 0, self.ns * sizeof(double))
            self.wanted[s] = 1.0
            self.stands = self._refine(&self.wanted[0], u)
        self._clear_empty(u)
        self._row(self.slot_var[s], &self.g[0])
        size[0] = sum_of_sizes(self.ns, &self.g[0], u)
        memcpy(&self.lost[0], &self.g[0], self.ns * sizeof(double))
        self._clear_empty(&self.lost[0])
        largest[0] = largest_size(self.ns, &self.lost[0])
        return u[s]

    cdef bint _judge_leaving(
        self, Py_ssize_t s, double *u, double *pivot, double *size
    ) noexcept nogil:
        """The pivot of `_leaving` with u to the last digits; False if u does not converge.

        `size`: the largest sum of absolute terms of G_FF u, as in the reference.
        """
        cdef Py_ssize_t x, y
        cdef double total
        memset(&self.wanted[0], 0, self.ns * sizeof(double))
        self.wanted[s] = 1.0
        if not self._hold() or not self._converge(&self.wanted[0], u):
            return False
        self.spoilt = max(self.spoilt, self.wrong)
        pivot[0] = u[s] + dot(self.ns, &self.lacking[0], u)
        size[0] = 0.0
        for x in range(self.ns):
            if self.slot_var[x] < 0:
                continue
            total = 0.0
            for y in range(self.ns):
                total += fabs(self.GF[x, y] * u[y])
            size[0] = max(size[0], total)
        self.hidden = self.entries * self._square(u)
        return True

    cdef void _wear(self) noexcept nogil:
        """The last change of H leaves its own rounding in it: EPS |d| u_s^2 G_ss at the most."""
        cdef double most = largest_product(self.ns, &self.U[self.k, 0], &self.slot_root[0])
        self.spoilt += EPS * fabs(self.d[self.k]) * most * most
        self.k += 1
        self.fresh = False

    cdef void _drop_slot(self, Py_ssize_t s) noexcept nogil:
        """H loses slot s, after `_leaving` has put H e_s into the next row of U; z' with it."""
        cdef Py_ssize_t x
        cdef double *u = &self.U[self.k, 0]
        cdef double pivot = u[s], gain = (self.zd[s] - self.coast[s]) / pivot
        for x in range(self.ns):
            self.zd[x] -= gain * u[x]
        self.zd[s] = 0.0
        self.d[self.k] = -1.0 / pivot
        self._wear()

    cdef void _trade(
        self, double p, double q, double r, double first, double second
    ) noexcept nogil:
        """Two changes at once, their vectors u_1, u_2 in the next rows of U, S = (p, q; q, r).

        `first` and `second`: b_i - g_i'z' for a variable that enters; for one that leaves -z'_s,
        and what it does then.
        S is turned to its eigenvectors, and U with it.
        """
        cdef:
            Py_ssize_t x
            double *u = &self.U[self.k, 0]
            double *w = &self.U[self.k + 1, 0]
            double det = p * r - q * q, large, small, c, s, length, a
            double y1 = (r * first - q * second) / det, y2 = (p * second - q * first) / det
        for x in range(self.ns):
            self.zd[x] -= y1 * u[x] + y2 * w[x]
        if p == 0.0 and r == 0.0:  # u w' + w u' is the same for u c, w / c: none is to drown
            c = sqrt(largest_size(self.ns, w) / largest_size(self.ns, u))
            for x in range(self._most_slots()):
                u[x], w[x] = u[x] * c, w[x] / c
        large = 0.5 * (p + r)
        large += hypot(0.5 * (p - r), q) if large > 0.0 else -hypot(0.5 * (p - r), q)
        small = det / large
        # (q, large - p) and (large - r, q) are both eigenvectors: the longer is the more precise.
        if fabs(large - p) > fabs(large - r):
            c, s = q, large - p
        else:
            c, s = large - r, q
        length = hypot(c, s)
        c, s = c / length, s / length
        for x in range(self._most_slots()):
            a = u[x]
            u[x] = c * a + s * w[x]
            w[x] = c * w[x] - s * a
        self.d[self.k], self.d[self.k + 1] = 1.0 / large, 1.0 / small
        self._wear()
        self._wear()

    # ------------------------------------------------------------------ solves to the last digits

    def _room_for_G(self):
        if self.GF is None or self.GF.shape[0] != self.cap:
            self.GF = np.empty((self.cap, self.cap))

    cdef bint _hold(self) noexcept nogil:
        """G_FF by slots, gathered when a block first asks for it; False if memory is short."""
        cdef Py_ssize_t s
        if self.held:
            return True
        with gil:
            try:
                self._room_for_G()
            except MemoryError:
                return False
        for s in range(self.ns):
            self._row(self.owner[s], &self.GF[s, 0])
        self.held = True
        return True

    cdef void _hold_slot(self, Py_ssize_t s) noexcept nogil:
        """The row and the column of slot s, if G_FF is held."""
        cdef Py_ssize_t x
        if not self.held:
            return
        self._row(self.owner[s], &self.GF[s, 0])
        for x in range(self.ns):
            self.GF[x, s] = self.GF[s, x]

    cdef bint _converge(self, const double *b, double *x) noexcept nogil:
        """x = G_FF^-1 b from H b, refined until it stands; `lacking` is b - G_FF x then.

        Residuals are as if in twice the precision, as in the reference. False if it does not
        converge: then the inverse is too poor. `wrong`: by which part x changes at first.
        """
        cdef Py_ssize_t s, _turn
        cdef double size, largest, short, wanted, last = INFINITY
        self.wrong = 0.0
        for _turn in range(REFINEMENTS):
            self._clear_empty(x)
            residual(
                &self.GF[0, 0], self.cap, self.ns, x, b, &self.lacking[0], &self.lost[0]
            )
            self._clear_empty(&self.lacking[0])
            memset(&self.change[0], 0, self.ns * sizeof(double))
            self._add_inverse(&self.lacking[0], &self.change[0])
            self._clear_empty(&self.change[0])
            size = largest = short = wanted = 0.0
            for s in range(self.ns):
                size, largest = max(size, fabs(self.change[s])), max(largest, fabs(x[s]))
                short, wanted = max(short, fabs(self.lacking[s])), max(wanted, fabs(b[s]))
            if size <= STANDS * largest:
                return short <= 0.5 * wanted  # and not because the inverse is 0
            if not size < 0.5 * last:
                return False
            if last == INFINITY:
                self.wrong = size / largest
            for s in range(self.ns):
                x[s] += self.change[s]
            last = size
        return False

    cdef void _clear_empty(self, double *x) noexcept nogil:
        """x = 0 in empty slots: those that were emptied in this block."""
        cdef Py_ssize_t e, s
        for e in range(self.n_emptied):
            s = self.emptied[e]
            if self.slot_var[s] < 0:
                x[s] = 0.0

    # ------------------------------------------------------------------ careful blocks

    def prepare(self):
        """A block begins; a wary one with G_FF, and a fresh inverse if the present one is poor.

        So does the first after wary ones: what their pivots have left in H is known but roughly,
        and nothing refines its solves.
        """
        self.held = self.fresh = False
        self.wary = self.wary_from_the_start or self.renewed or self.spoilt > self.worn
        self.renewed = False
        if not (self.wary or self.was_wary):
            return
        self._room_for_G()
        self._room_to_invert()
        with nogil:
            self._hold()
            if self.careful or self.was_careful or not self._serves():
                self._fresh()
        self.held = self.wary

    cdef bint _serves(self) noexcept nogil:
        """Whether one refinement is enough for a solve with the present inverse; z' is solved for.

        An inverse costs as much as some hundred refinements.
        """
        if not self.spoilt <= self.worn:
            return False
        memset(&self.zd[0], 0, self.ns * sizeof(double))
        self._add_inverse(&self.b[0], &self.zd[0])
        self._refine(&self.b[0], &self.zd[0])
        self.spoilt = max(self.spoilt, self.wrong)
        return self.wrong <= self.worn

    def _room_to_invert(self):
        if self.square is None or self.square.shape[0] != self.cap:
            self.square = np.empty((self.cap, self.cap))
            self.lapack_work = np.empty(LAPACK_BLOCK * self.cap)
            self.swaps = np.zeros(self.cap, dtype=np.dtype(f"i{sizeof(blas_int)}"))

    cdef void _fresh(self) noexcept nogil:
        """The inverse of G_FF and z' from scratch; 0 if G_FF is singular."""
        if not self._invert():
            self._no_inverse()
        self._refine(&self.b[0], &self.zd[0])

    cdef void _no_inverse(self) noexcept nogil:
        """0, and z' with it."""
        cdef Py_ssize_t s
        for s in range(self.ns):
            memset(&self.H[s, 0], 0, (s + 1) * sizeof(double))
        memset(&self.zd[0], 0, self.ns * sizeof(double))

    cdef bint _renew(self) noexcept nogil:
        """The inverse from scratch where G_FF is held; False if it is fresh, or cannot be made."""
        if self.fresh:
            return False
        with gil:
            try:
                self._room_to_invert()
            except MemoryError:
                return False
        if not self._invert():
            return False
        self.renewed = True
        self._refine(&self.b[0], &self.zd[0])
        return True

    cdef bint _refine(self, const double *b, double *x) noexcept nogil:
        """x += H (b - G_FF x) until it stands; 0 in empty slots. `wrong`: by which part x changes.

        One turn leaves the square of what is wrong with H. Where G_FF is nearly singular that is
        more than residuals may drift. False if changes do not become less: the inverse is poor, or
        they are the rounding of b - G_FF x.
        """
        cdef Py_ssize_t _turn
        cdef double first, last
        cdef bint stands = True
        self._refine_once(b, x)
        first = last = self.wrong
        for _turn in range(REFINEMENTS):
            if not self.settled < self.wrong < self.ruined:
                break
            self._refine_once(b, x)
            if self.wrong > 0.5 * last:
                stands = self.wrong <= self.settled
                break
            last = self.wrong
        self.wrong = first
        return stands

    cdef void _refine_once(self, const double *b, double *x) noexcept nogil:
        cdef Py_ssize_t s
        cdef double largest, *change = &self.change[0]
        self._clear_empty(x)
        gemv_t(&self.GF[0, 0], self.cap, self.ns, self.ns, -1.0, x, 0.0, &self.lacking[0])
        for s in range(self.ns):
            self.lacking[s] = self.lacking[s] + b[s] if self.slot_var[s] >= 0 else 0.0
        memset(change, 0, self.ns * sizeof(double))
        self._add_inverse(&self.lacking[0], change)
        self._clear_empty(change)
        largest = max(largest_size(self.ns, x), TINY)
        self.wrong = largest_size(self.ns, change) / largest
        for s in range(self.ns):
            x[s] += change[s]

    cdef void _gather(self) noexcept nogil:
        """square = G_FF without empty slots."""
        cdef Py_ssize_t s, x, i = 0, j
        for s in range(self.ns):
            if self.slot_var[s] < 0:
                continue
            j = 0
            for x in range(self.ns):
                if self.slot_var[x] >= 0:
                    self.square[i, j] = self.GF[s, x]
                    j += 1
            i += 1

    cdef bint _invert(self) noexcept nogil:
        """H0 and z' from scratch, in the middle of a block; False if G_FF is singular."""
        cdef:
            Py_ssize_t s, x, i = 0, j
            blas_int m = 0, info = 0, ld = self.cap, size = LAPACK_BLOCK * self.cap
            double *a = &self.square[0, 0]
        self._gather()
        for s in range(self.ns):
            m += self.slot_var[s] >= 0
        dgetrf(&m, &m, a, &ld, &self.swaps[0], &info)
        if info == 0:
            dgetri(&m, a, &ld, &self.swaps[0], &self.lapack_work[0], &size, &info)
        if info != 0:
            return False
        for s in range(self.ns):
            memset(&self.H[s, 0], 0, (s + 1) * sizeof(double))
            if self.slot_var[s] < 0:
                continue
            j = 0
            for x in range(s + 1):
                if self.slot_var[x] >= 0:
                    self.H[s, x] = 0.5 * (a[i * self.cap + j] + a[j * self.cap + i])
                    j += 1
            i += 1
        self.n0, self.k, self.spoilt = self.ns, 0, 0.0
        self.era += 1
        self.fresh = True
        memset(&self.zd[0], 0, self.ns * sizeof(double))
        self._add_inverse(&self.b[0], &self.zd[0])
        return True

    # ------------------------------------------------------------------ the end of a block

    def commit(self):
        """H0 takes the block's changes, and empty slots go."""
        cdef Py_ssize_t s, x, sign, count = 0, first = 0
        cdef double weight
        cdef double[:, ::1] scaled = self.scaled
        with nogil:
            if self.pins_move:
                self._come_to_rest()
            if self.k:
                for s in range(self.n0, self.ns):
                    memset(&self.H[s, 0], 0, (s + 1) * sizeof(double))
            for sign in range(1, -2, -2):  # u sqrt|d|: first those that add, then the others
                first = count
                for x in range(self.k):
                    if (self.d[x] > 0) == (sign > 0):
                        weight = sqrt(sign * self.d[x])
                        for s in range(self.ns):
                            scaled[count, s] = weight * self.U[x, s]
                        count += 1
                if count > first:
                    add_square(
                        &self.H[0, 0], self.cap, self.ns, &scaled[first, 0], count - first, sign
                    )
            self._close_gaps()
            if self.pins_move:
                for s in range(self.ns):
                    self._bounds(s, self.way)
        self.was_wary, self.was_careful = self.wary, self.careful
        self.n0, self.k, self.n_line = self.ns, 0, 0
        self.era += 1

    cdef void _close_gaps(self) noexcept nogil:
        """Empty slots are taken by the last ones."""
        cdef Py_ssize_t s = 0
        self.n_shifted = 0
        while s < self.ns:
            if self.slot_var[s] >= 0:
                s += 1
                continue
            self.ns -= 1
            if self.ns != s:
                self._move_slot(self.ns, s)
                self.came_from[self.n_shifted], self.went_to[self.n_shifted] = self.ns, s
                self.n_shifted += 1

    cdef void _come_to_rest(self) noexcept nogil:
        """From the frames of slots to z itself; how fast pins move, and g with them."""
        cdef:
            Py_ssize_t s, i
            double *change = &self.change[0]  # of the speeds of pins
            const double *x = change
            double *flow = &self.moved[0, 0]
        for s in range(self.ns):
            change[s] = self.coast[s] - self.way * self.frame[s] * (self.slot_var[s] >= 0)
            self.zs[s] += self.frame[s] * (self.t - self.since[s])
            self.zd[s] += self.way * self.frame[s]
            i = self.owner[s]
            self.pin_speed[i] = self.slope[i, self.stair[i]] if self.stair[i] % 2 else 0.0
            self.frame[s] = self.coast[s] = 0.0
        self._spread(self.ns, &self.owner[0], 1, &x, &flow)
        self._pushed(self.ns, &self.owner[0], flow, change, &self.pushed[0])
        self.fastest = 0.0
        for i in range(self.N):
            self.r[i] += self.way * self.pushed[i]
            self.fastest = max(self.fastest, fabs(self.pin_speed[i]))

    cdef void _move_slot(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        """The last slot, a, moves to b; only the lower half of H counts."""
        cdef Py_ssize_t x
        self.H[b, b] = self.H[a, a]
        for x in range(b):
            self.H[b, x] = self.H[a, x]
        for x in range(b + 1, a):
            self.H[x, b] = self.H[a, x]
        self.slot_var[b], self.owner[b] = self.slot_var[a], self.owner[a]
        self.slot_root[b] = self.slot_root[a]
        self.zs[b], self.zd[b], self.b[b] = self.zs[a], self.zd[a], self.b[a]
        self.lo[b], self.los[b] = self.lo[a], self.los[a]
        self.hi[b], self.his[b] = self.hi[a], self.his[a]
        if self.slot_var[b] >= 0:
            self.slot_of[self.slot_var[b]] = b
