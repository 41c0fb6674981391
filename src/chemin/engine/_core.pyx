# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The compiled core: a block of steps of the walk that `reference.py` describes.

It knows M, q, r and staircases, never a loss. Within a block the inverse of G_FF is kept as

    H = H0 + sum_j d_j u_j u_j'

so that an event costs one product with H0 (a variable enters) or none (one leaves), and H0 is
brought up to date at the end of the block by rank-k products (only its lower half is kept):

    enters:  u = (H g; -1), d = 1 / s          slots of free variables only grow within a block;
    leaves:  u = H e_k,     d = -1 / H_kk      who leaves keeps its slot, empty, until the end

Only variables on treads and on the watch list are looked at; `verify` then checks everybody: at a
few breakpoints by a product with A, between them by a bound. A block that fails is forgotten and
walked again: H0 has not been touched.

**Careful blocks.** An inverse that has been near singular on its way stays imprecise: d_j u_j u_j'
that nearly cancel are much larger than their sum. After drift, blocks begin with a fresh inverse,
solves are refined with G_FF itself, and a frail pivot has H0 computed again there and then.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

from scipy.linalg.cython_blas cimport daxpy, dsymv, dsyrk
from scipy.linalg.cython_lapack cimport dgetrf, dgetri

from chemin.engine._blas cimport blas_int, dot, gemv_n, gemv_t
from chemin.engine._entries cimport Entries, entry, row

FULL, ARRIVED, SINGULAR_PIVOT, RAY, INDEFINITE_PIVOT, BROKEN = range(6)

cdef enum:
    C_GOES_ON = -1
    C_FULL = 0
    C_ARRIVED = 1
    C_SINGULAR = 2
    C_RAY = 3
    C_INDEFINITE = 4
    C_BROKEN = 5

cdef enum:
    MOST = 64  # moves in a block
    LAPACK_BLOCK = 32  # columns that LAPACK takes at a time
    DOUBTFUL = 256  # one in so many may be looked at closely before anchors are set nearer

cdef double EPS = np.finfo(np.float64).eps


cdef inline void symv(
    const double *h, blas_int ld, blas_int n, const double *x, double beta, double *out,
) noexcept nogil:
    """out = H x + beta out, H symmetric, its lower half row-major."""
    cdef char half = b"U"
    cdef blas_int one = 1
    cdef double alpha = 1.0
    if n > 0:
        dsymv(&half, &n, &alpha, <double *> h, &ld, <double *> x, &one, &beta, out, &one)


cdef bint outside(
    Py_ssize_t n, double t, const double *x, const double *lo, const double *los,
    const double *hi, const double *his, const double *bound,
) noexcept nogil:
    """Whether any x is outside [lo + t los + bound, hi + t his - bound]; no branch: vectorised."""
    cdef Py_ssize_t i
    cdef int bad = 0
    for i in range(n):
        bad |= (x[i] < lo[i] + t * los[i] + bound[i]) | (x[i] > hi[i] + t * his[i] - bound[i])
    return bad != 0


cdef class Core:
    """Free variables in slots, watched ones in rows; see the module's text."""

    cdef:
        # the system
        const double[:, ::1] A  # the matrix, or its factor Z when it is Z Z'
        Py_ssize_t rank  # columns of Z; 0 for a matrix
        const Py_ssize_t[::1] p
        const double[::1] sign, sigma, r
        const double[:, ::1] border, value, slope, edges  # edges: sigma border, by columns
        const double[::1] signs  # sigma sign
        readonly Py_ssize_t N, n_core, nA, nb
        Entries G
        # slots: the free variables
        readonly Py_ssize_t ns, n0, cap
        Py_ssize_t[::1] slot_var, slot_of, owner  # owner outlives its leaving, until the block ends
        double[::1] zs, z0, zd, lo, hi, b, root
        double[:, ::1] H, U
        double[::1] d, g, v, work, jump
        Py_ssize_t k, ucap
        # watch list
        readonly Py_ssize_t nw, wcap
        Py_ssize_t[::1] w_var
        char[::1] w_on
        # of each row: the stairs below and above, no stairs for who has left; and what belongs to
        # its variable
        double[::1] w_lo, w_los, w_hi, w_his, w_tol, w_root, w_r, w_sigma
        Py_ssize_t[::1] cornered  # rows at corners: those with offsets
        Py_ssize_t n_cornered
        double[::1] hw, hd, hj
        double[:, ::1] GW
        # everybody
        Py_ssize_t[::1] stair
        double[::1] tol, keep, span, box, off_lo, off_hi  # box: the span, at most 1
        bint settling, arriving
        readonly Py_ssize_t n_jumps
        unsigned long long seed
        # what the block did
        readonly Py_ssize_t n_moves, n_events, bcap
        public Py_ssize_t limit  # moves in a block, at most bcap
        double[:, ::1] DZ, rates, scaled, bent
        double[:, ::1] moved
        double[::1] turned, total
        double[::1] bent_border, flow, bundle
        bint flowing  # flow is A S z' of the present direction
        Py_ssize_t[::1] anchor, slot_row  # slot_row: where GW has the row of who came or went
        Py_ssize_t[::1] left_at  # and the breakpoint at which it went, from this level
        double[::1] left_from
        readonly Py_ssize_t stride
        double[::1] mt0, mt1, mlen
        Py_ssize_t[::1] mns
        char[:, ::1] mon
        double[::1] et
        Py_ssize_t[::1] ev, e_from, e_to, emove
        readonly double t, off_treads, off_pins
        double keep_0, keep_1
        bint plain  # variable i has row i of A
        public double precision, still, nil, doubt, indefinite, down_first
        double edge  # the tolerance of unpenalised variables: they are of the residuals' own kind
        public double longest, tiny_t, look_again
        public bint careful
        public double frail  # pivots below this part of the diagonal spoil an updated inverse
        double[:, ::1] GF, square  # G_FF by slots, in careful blocks
        double[::1] wanted, lacking, lapack_work
        blas_int[::1] swaps

    def __init__(self, system, Py_ssize_t block):
        coupling = system.coupling
        gram = coupling.gram
        self.rank = gram.factor.shape[1] if hasattr(gram, "factor") else 0
        self.A = np.ascontiguousarray(gram.factor if self.rank else gram.matrix)
        self.p = np.ascontiguousarray(coupling.index, dtype=np.intp)
        self.sign = np.ascontiguousarray(coupling.sign)
        self.border = np.ascontiguousarray(coupling.border)
        self.sigma = np.ascontiguousarray(coupling.sigma)
        self.r = np.ascontiguousarray(system.r)
        self.value = np.ascontiguousarray(system.stairs.value)
        self.slope = np.ascontiguousarray(system.stairs.slope)
        self.N, self.n_core, self.nA = len(system), coupling.n_core, len(coupling.gram)
        self.nb = self.N - self.n_core
        self.G = Entries(
            &self.A[0, 0], self.A.shape[1], self.rank > 0, &self.p[0], &self.sign[0],
            &self.border[0, 0], self.n_core, self.nb,
        )
        self.plain = self.nA == self.n_core and bool(np.all(np.diff(self.p) == 1))
        self.signs = np.asarray(self.sigma)[: self.n_core] * np.asarray(self.sign)
        self.edges = np.ascontiguousarray(
            (np.asarray(self.border) * np.asarray(self.sigma)[: self.n_core, None]).T
        )
        self.slot_of = np.full(self.N, -1, dtype=np.intp)
        self.span = system.stairs.span()
        self.box = np.minimum(1.0, self.span)
        self.off_lo = np.full(self.N, np.inf)
        self.off_hi = np.full(self.N, np.inf)
        self.seed = 88172645463325252ULL
        if block > MOST:
            raise ValueError(f"blocks have at most {MOST} moves, got {block}")
        self.bcap = block
        self.ucap = 2 * block
        self.cap = 0
        self.settling = True
        self.stride = MOST
        self.bent_border, self.bundle = np.zeros(self.nb), np.zeros(self.rank)
        self.moved, self.flow = np.zeros((block, self.nA)), np.zeros(self.nA)
        self.anchor = np.zeros(block, dtype=np.intp)
        self.total, self.turned = np.zeros(block), np.zeros(block)
        self.reserve(64)
        diagonal = gram.diagonal()[np.asarray(self.p)]
        root = np.ones(self.N)
        root[: self.n_core] = np.sqrt(np.abs(diagonal)) * np.abs(self.sign)
        self.root = root

    # ------------------------------------------------------------------ memory

    def reserve(self, Py_ssize_t cap):
        """Room for `cap` slots, keeping what there is."""
        cdef Py_ssize_t old = self.ns if self.cap else 0
        if cap <= self.cap:
            return
        cap = min(max(cap, 256, 3 * self.cap // 2), self.N + self.ucap + 2)

        def grown(a, shape, dtype=np.float64):
            out = np.zeros(shape, dtype=dtype)
            if old:
                if out.ndim == 1:
                    out[:old] = np.asarray(a)[:old]
                else:
                    out[:old, :old] = np.asarray(a)[:old, :old]
            return out

        self.H = grown(self.H if old else None, (cap, cap))
        self.slot_var = grown(self.slot_var if old else None, cap, np.intp)
        self.owner = grown(self.owner if old else None, cap, np.intp)
        self.zs = grown(self.zs if old else None, cap)
        self.z0 = grown(self.z0 if old else None, cap)
        self.zd = grown(self.zd if old else None, cap)
        self.lo = grown(self.lo if old else None, cap)
        self.hi = grown(self.hi if old else None, cap)
        self.b = grown(self.b if old else None, cap)
        self.U = np.zeros((self.ucap, cap))
        self.d = np.zeros(self.ucap)
        self.g = np.zeros(cap)
        self.v = np.zeros(cap)
        self.wanted, self.lacking = np.zeros(cap), np.zeros(cap)
        self.jump = np.zeros(cap)
        self.work = np.zeros(max(self.ucap, cap))
        self.DZ = np.zeros((self.bcap, cap))
        self.rates = np.zeros((self.bcap, cap))
        self.scaled = np.zeros((self.ucap, cap))
        self.bent = np.zeros((self.bcap, cap))
        self.slot_row = np.zeros(cap, dtype=np.intp)
        self.left_at, self.left_from = np.zeros(cap, dtype=np.intp), np.zeros(cap)
        self.mon = np.zeros((self.bcap, cap), dtype=np.int8)
        self.mt0, self.mt1, self.mlen = (np.zeros(self.bcap) for _ in range(3))
        self.mns = np.zeros(self.bcap, dtype=np.intp)
        self.et = np.zeros(self.ucap)
        self.ev, self.e_from, self.e_to, self.emove = (
            np.zeros(self.ucap, dtype=np.intp) for _ in range(4)
        )
        self.cap = cap

    # ------------------------------------------------------------------ the state

    def load(self, stair, z, double t, double way, H):
        """Stand at (stair, z, t); H is the inverse of G_FF in the order of np.flatnonzero."""
        self.stair = np.array(stair, dtype=np.intp)
        free = np.flatnonzero(np.asarray(stair) % 2 == 0)
        self.ns = 0
        self.reserve(len(free) + self.bcap + 2)
        self.slot_of = np.full(self.N, -1, dtype=np.intp)
        for i in free:
            self._new_slot(i, z[i], way)
        self.ns = len(free)
        np.asarray(self.H)[: self.ns, : self.ns] = H
        self.t = t
        self.settling = self.arriving = True
        self.off_lo = np.full(self.N, np.inf)
        self.off_hi = np.full(self.N, np.inf)
        self.redirect()

    cdef void _new_slot(self, Py_ssize_t i, double z, double way) noexcept:
        cdef Py_ssize_t s = self.ns
        self.slot_var[s] = self.owner[s] = i
        self.slot_of[i] = s
        self.zs[s] = z
        self._bounds(s, way)
        self.ns += 1

    cdef void _bounds(self, Py_ssize_t s, double way) noexcept nogil:
        cdef Py_ssize_t i = self.slot_var[s], j = self.stair[i]
        self.lo[s] = self.value[i, j - 1]
        self.hi[s] = self.value[i, j + 1]
        self.b[s] = -self.sigma[i] * (self.r[i] + self.slope[i, j]) * way

    def redirect(self):
        """z' = H b, afresh."""
        symv(&self.H[0, 0], self.cap, self.ns, &self.b[0], 0.0, &self.zd[0])
        self.flowing = False

    @property
    def free(self):
        return np.asarray(self.slot_var)[: self.ns].copy()

    @property
    def stairs(self):
        return np.asarray(self.stair)

    def positions(self, z):
        """z with the free variables where they stand."""
        z = np.array(z)
        z[self.free] = np.asarray(self.zs)[: self.ns]
        return z

    def correct(self, drift):
        """The step of the free variables that takes `drift` (in slot order) away: H sigma drift."""
        cdef double[::1] b = np.asarray(self.sigma)[self.free] * drift
        cdef double[::1] out = np.zeros(self.ns)
        if self.ns:
            symv(&self.H[0, 0], self.cap, self.ns, &b[0], 0.0, &out[0])
        return np.asarray(out)

    def shift(self, step):
        np.asarray(self.zs)[: self.ns] += step

    # ------------------------------------------------------------------ entries of G

    cdef inline double _entry(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        return entry(&self.G, i, j)

    cdef inline void _row(self, Py_ssize_t i, double *out) noexcept nogil:
        """out[s] = G_{i, s} for all slots of the block, those emptied in it too."""
        row(&self.G, i, self.ns, &self.owner[0], out)

    cdef void _spread(
        self, Py_ssize_t count, const double **x, double **out
    ) noexcept nogil:
        """out_k = A S x_k for `count` vectors x_k by slots, with one reading of the rows of A.

        With A = Z Z' the rows are those of Z, and what they add up to is multiplied by Z.
        """
        cdef:
            Py_ssize_t s, i, k
            blas_int n = self.A.shape[1], one = 1
            double weight
            double *similar
        for k in range(count):
            memset(out[k], 0, n * sizeof(double))
        for s in range(self.ns):
            i = self.owner[s]
            if i >= self.n_core:
                continue
            similar = <double *> &self.A[self.p[i], 0]
            for k in range(count):
                if x[k][s] != 0.0:
                    weight = self.sign[i] * x[k][s]
                    daxpy(&n, &weight, similar, &one, out[k], &one)
        if self.rank:
            for k in range(count):
                memcpy(&self.bundle[0], out[k], n * sizeof(double))
                gemv_t(&self.A[0, 0], n, self.nA, n, 1.0, &self.bundle[0], 0.0, out[k])

    cdef void _pushed(self, const double *a, const double *x, double *out) noexcept nogil:
        """out = M x for everybody, from a = A S x, x by slots."""
        cdef Py_ssize_t s, i, e, n = self.n_core
        for i in range(n):
            out[i] = self.signs[i] * a[self.p[i]]
        for e in range(self.nb):
            out[n + e] = 0.0
        for s in range(self.ns):
            i = self.owner[s]
            if x[s] == 0.0:
                continue
            if i >= n:
                for e in range(n):
                    out[e] += self.edges[i - n, e] * x[s]
            else:
                for e in range(self.nb):
                    out[n + e] += self.sigma[n + e] * self.border[i, e] * x[s]

    def push(self, const double[::1] step):
        """M x for a step x of the free variables, in slot order."""
        cdef double[::1] pushed = np.empty(self.N)
        cdef const double *x = &step[0]
        cdef double *out = &self.moved[0, 0]
        with nogil:
            self._spread(1, &x, &out)
            self._pushed(out, x, &pushed[0])
        return np.asarray(pushed)

    def refine(self, double way):
        """One step of refinement of z': residuals on treads must move as the treads do.

        Returns h' of every variable.
        """
        cdef:
            double[::1] rate = np.empty(self.N)
            Py_ssize_t s, i
            const double *x = &self.zd[0]
            double *out = &self.flow[0]
        with nogil:
            if not self.flowing:
                self._spread(1, &x, &out)
            self.flowing = False
            self._pushed(&self.flow[0], &self.zd[0], &rate[0])
            for i in range(self.N):
                rate[i] = -(rate[i] + way * self.r[i])
            for s in range(self.ns):
                i = self.slot_var[s]
                self.g[s] = self.sigma[i] * (rate[i] - way * self.slope[i, self.stair[i]])
            symv(&self.H[0, 0], self.cap, self.ns, &self.g[0], 1.0, &self.zd[0])
        return np.asarray(rate)

    def urgency(self, const double[::1] h, const double[::1] rate, double way):
        """For every pinned variable, about how soon it may block; infinite for the free."""
        cdef:
            double[::1] out = np.empty(self.N)
            Py_ssize_t i, j
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
                out[i] = min(low, high)
        return np.asarray(out)

    # ------------------------------------------------------------------ a block

    def watch(
        self, const Py_ssize_t[::1] variables, const double[::1] h, const double[::1] tol,
        const double[::1] keep, double keep_0, double keep_1,
    ):
        """Begin a block, looking at these pinned variables."""
        cdef Py_ssize_t i, w, need = len(variables) + self.ucap + 1
        if need > self.wcap or self.GW.shape[1] != self.cap:
            self.wcap = max(need, self.wcap)
            self.GW = np.zeros((self.wcap, self.cap))
            self.w_var = np.zeros(self.wcap, dtype=np.intp)
            self.w_on = np.zeros(self.wcap, dtype=np.int8)
            self.cornered = np.zeros(self.wcap, dtype=np.intp)
            self.hw, self.hd, self.hj = (np.zeros(self.wcap) for _ in range(3))
            self.w_lo, self.w_los, self.w_hi, self.w_his = (np.zeros(self.wcap) for _ in range(4))
            self.w_tol, self.w_root, self.w_r = (np.zeros(self.wcap) for _ in range(3))
            self.w_sigma = np.zeros(self.wcap)
        self.tol, self.keep = np.array(tol), np.array(keep)
        self.edge = np.max(np.asarray(tol)[: self.n_core])
        self.keep_0, self.keep_1 = keep_0, keep_1
        self.nw = len(variables)
        self.n0, self.k, self.n_moves, self.n_events = self.ns, 0, 0, 0
        self.n_cornered = 0
        with nogil:
            memcpy(&self.z0[0], &self.zs[0], self.ns * sizeof(double))
            for w in range(self.cap):
                self.slot_row[w] = self.left_at[w] = -1
            for w in range(self.nw):
                i = variables[w]
                self._new_row(w, i, h[i])
                self._row(i, &self.GW[w, 0])
                if self.off_lo[i] < INFINITY or self.off_hi[i] < INFINITY:
                    self._corner(w)
        if self.careful:
            if self.GF is None or self.GF.shape[0] != self.cap:
                self.GF, self.square = (np.zeros((self.cap, self.cap)) for _ in range(2))
                self.lapack_work = np.zeros(LAPACK_BLOCK * self.cap)
                self.swaps = np.zeros(self.cap, dtype=np.dtype(f"i{sizeof(blas_int)}"))
            with nogil:
                for w in range(self.ns):
                    self._row(self.owner[w], &self.GF[w, 0])
                if not self._invert():
                    for w in range(self.ns):
                        memset(&self.H[w, 0], 0, (w + 1) * sizeof(double))
                    memset(&self.zd[0], 0, self.ns * sizeof(double))
                self._refine(&self.b[0], &self.zd[0])

    cdef void _new_row(self, Py_ssize_t w, Py_ssize_t i, double h) noexcept nogil:
        """Row w watches variable i, at a pin, with residual h."""
        self.w_var[w], self.w_on[w], self.hw[w] = i, 1, h
        self.w_tol[w], self.w_root[w] = self.tol[i], self.root[i]
        self.w_r[w], self.w_sigma[w] = self.r[i], self.sigma[i]
        self._look_around(w)

    cdef inline void _corner(self, Py_ssize_t w) noexcept nogil:
        """Row w has offsets."""
        self.cornered[self.n_cornered] = w
        self.n_cornered += 1

    cdef void _look_around(self, Py_ssize_t w) noexcept nogil:
        """Which treads are below and above the pin of row w."""
        cdef Py_ssize_t i = self.w_var[w], j = self.stair[self.w_var[w]]
        self.w_lo[w], self.w_los[w] = self.value[i, j - 1], self.slope[i, j - 1]
        self.w_hi[w], self.w_his[w] = self.value[i, j + 1], self.slope[i, j + 1]

    def run(self, double way, double t_end):
        """Walk until the block is full, t_end is reached or a pivot vanishes."""
        cdef int code
        with nogil:
            code = self._run(way, t_end)
        return code

    cdef int _run(self, double way, double t_end) noexcept nogil:
        cdef int code
        cdef double begun = fabs(self.t)
        self._watch_rates(way)
        if self.arriving:
            self._find_corners(-1, True)
            self.arriving = False
        while True:
            if self.settling:
                code = self._settle(way)
                if code != C_GOES_ON:
                    return code
            if self.n_moves >= self.limit or self._crowded():
                return C_FULL
            if fabs(self.t) < self.look_again * begun:
                return C_FULL  # tolerances shrink with t: they are looked at again
            code = self._step(way, t_end)
            if code != C_GOES_ON:
                return code

    cdef inline bint _crowded(self) noexcept nogil:
        """Whether a jump and its trade would not fit: jumps past a tread change no inverse."""
        return self.k + 4 > self.ucap or self.n_events + 4 > self.ucap or self.ns + 2 > self.cap

    cdef void _watch_rates(self, double way) noexcept nogil:
        """h' of the watched: -(sigma G z' + r)."""
        cdef Py_ssize_t w
        cdef double *hd = &self.hd[0]
        cdef const double *sigma = &self.w_sigma[0]
        cdef const double *r = &self.w_r[0]
        gemv_t(&self.GW[0, 0], self.cap, self.nw, self.ns, 1.0, &self.zd[0], 0.0, hd)
        for w in range(self.nw):
            hd[w] = -(sigma[w] * hd[w] + r[w] * way)

    cdef double _noise_z(self) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t s
        for s in range(self.ns):
            if fabs(self.zd[s]) > largest:
                largest = fabs(self.zd[s])
        return self.still * largest

    cdef inline double _still_z(self, Py_ssize_t i, double noise, double span) noexcept nogil:
        """Below this z_i does not move."""
        return max(noise, self._blur(i) / span)

    cdef inline double _blur(self, Py_ssize_t i) noexcept nogil:
        """How precisely z_i can be known."""
        return self.precision * self.box[i] if i < self.n_core else self.edge

    cdef inline double _noise_h(self, Py_ssize_t w, double size, double span) noexcept nogil:
        """Below this the residual of row w does not move."""
        return self.still * (self.w_root[w] * size + fabs(self.w_r[w])) + self.w_tol[w] / span

    cdef double _size_zd(self) noexcept nogil:
        """A bound on |G| |z'| divided by sqrt(G_ii)."""
        cdef double total = 0.0
        cdef Py_ssize_t s
        for s in range(self.ns):
            if self.slot_var[s] >= 0:
                total += self.root[self.slot_var[s]] * fabs(self.zd[s])
        return total

    cdef int _step(self, double way, double t_end) noexcept nogil:
        """Advance to the first block; near corners are given offsets."""
        cdef Py_ssize_t s, w, i, who = -1
        cdef double best = INFINITY, step, gap, rate, noise, size, noise_z, t = self.t
        cdef double span = max(fabs(self.t), EPS)
        cdef double up, down, above, below
        cdef const double *hw = &self.hw[0]
        cdef const double *hd = &self.hd[0]
        cdef const double *lo = &self.w_lo[0]
        cdef const double *los = &self.w_los[0]
        cdef const double *hi = &self.w_hi[0]
        cdef const double *his = &self.w_his[0]
        cdef bint slot = True, cut = False
        noise_z = self._noise_z()
        size = self._size_zd()
        for s in range(self.ns):
            i = self.slot_var[s]
            if i < 0:
                continue
            rate = self.zd[s]
            noise = self._still_z(i, noise_z, span)
            if rate > noise:
                gap = self.hi[s] - self.zs[s]
            elif rate < -noise:
                gap = self.zs[s] - self.lo[s]
                rate = -rate
            else:
                continue
            step = gap / rate if gap > 0 else 0.0
            if step < best:
                best, who, slot = step, s, True
        for w in range(self.nw):
            up, down = hd[w] - his[w] * way, los[w] * way - hd[w]
            above, below = hi[w] + t * his[w] - hw[w], hw[w] - lo[w] - t * los[w]
            # Few pass this; no branch that cannot be foreseen, no division before it.
            if not (above < best * up) | (below < best * down):
                continue
            noise = self._noise_h(w, size, span)
            if up > noise and max(above, 0.0) < best * up:
                best, who, slot = max(above, 0.0) / up, w, False
            if down > noise and max(below, 0.0) < best * down:
                best, who, slot = max(below, 0.0) / down, w, False
        # Long ways are cut, as in the reference.
        if fabs(t_end) < fabs(self.t) and fabs(self.t) > max(fabs(t_end), self.tiny_t):
            if best > self.longest * fabs(self.t):
                best, cut = self.longest * fabs(self.t), True
        if t_end == 0.0 and fabs(self.t) <= self.tiny_t:
            best = INFINITY
        if best >= fabs(t_end - self.t):
            best, cut = fabs(t_end - self.t), True
            if best == INFINITY:
                return C_RAY
            self._advance(best, way, t_end)
            return C_ARRIVED
        self._advance(best, way, self.t + way * best)
        self._find_corners(-1 if cut else who, slot)
        return C_GOES_ON

    cdef void _advance(self, double step, double way, double t) noexcept nogil:
        cdef Py_ssize_t s, w, m = self.n_moves
        self.mt0[m], self.mt1[m], self.mlen[m], self.mns[m] = self.t, t, step, self.ns
        for s in range(self.ns):
            self.mon[m, s] = self.slot_var[s] >= 0
            self.rates[m, s] = self.zd[s]
            self.zs[s] += step * self.zd[s]
        for w in range(self.nw):
            self.hw[w] += step * self.hd[w]
        self.t = t
        self._note(m)
        self.n_moves += 1

    cdef void _note(self, Py_ssize_t m) noexcept nogil:
        """Where z stands, relative to the block's start."""
        cdef Py_ssize_t s
        for s in range(self.ns):
            self.DZ[m, s] = self.zs[s] - self.z0[s]
        memset(&self.DZ[m, self.ns], 0, (self.cap - self.ns) * sizeof(double))

    cdef double _random(self) noexcept nogil:
        """In [1, 2): offsets at corners (xorshift, a seed of its own)."""
        self.seed ^= self.seed << 13
        self.seed ^= self.seed >> 7
        self.seed ^= self.seed << 17
        return 1.0 + <double> (self.seed >> 11) / 9007199254740992.0

    cdef void _find_corners(self, Py_ssize_t who, bint slot) noexcept nogil:
        """Offsets for all that stand at a corner, the blocking one among them."""
        cdef Py_ssize_t s, w, i
        cdef double x, y, near, t = self.t
        cdef bint blocks
        self._forget_offsets()
        for s in range(self.ns):
            i = self.slot_var[s]
            if i < 0:
                continue
            x = self.zs[s]
            near = self._blur(i)
            blocks = slot and s == who
            if x - self.lo[s] <= near or (blocks and self.zd[s] < 0):
                self.off_lo[i] = self._random()
            if self.hi[s] - x <= near or (blocks and self.zd[s] > 0):
                self.off_hi[i] = self._random()
        for w in range(self.nw):
            x = self.hw[w] - self.w_lo[w] - t * self.w_los[w]
            y = self.w_hi[w] + t * self.w_his[w] - self.hw[w]
            if min(x, y) > self.w_tol[w] and (slot or w != who):
                continue
            i = self.w_var[w]
            near = max(self.w_tol[w], min(x, y))  # who blocks does, whatever its rounding says
            if x <= near:
                self.off_lo[i] = self._random()
            if y <= near:
                self.off_hi[i] = self._random() + self.down_first
            self._corner(w)
        self.settling = True

    cdef int _settle(self, double way) noexcept nogil:
        """Take variables over their corners until all can go on."""
        cdef Py_ssize_t s, w, x, i, who, jumps, turns = 0
        cdef double best, step, rate, noise, size, noise_z
        cdef double span = max(fabs(self.t), EPS)
        cdef bint slot
        cdef int side, code
        while True:
            if self._crowded():
                return C_FULL
            best, who, slot, side = INFINITY, -1, True, 0
            noise_z = self._noise_z()
            size = self._size_zd()
            for s in range(self.ns):
                i = self.slot_var[s]
                if i < 0:
                    continue
                rate = self.zd[s]
                noise = self._still_z(i, noise_z, span)
                if rate > noise and self.off_hi[i] < INFINITY:
                    step = self.off_hi[i] / rate
                    if step < best:
                        best, who, slot, side = step, s, True, 1
                elif rate < -noise and self.off_lo[i] < INFINITY:
                    step = -self.off_lo[i] / rate
                    if step < best:
                        best, who, slot, side = step, s, True, -1
            for x in range(self.n_cornered):
                w = self.cornered[x]
                if not self.w_on[w]:
                    continue
                i = self.w_var[w]
                noise = self._noise_h(w, size, span)
                rate = self.hd[w] - self.w_his[w] * way
                if rate > noise and self.off_hi[i] < INFINITY:
                    step = self.off_hi[i] / rate
                    if step < best:
                        best, who, slot, side = step, w, False, 1
                rate = self.w_los[w] * way - self.hd[w]
                if rate > noise and self.off_lo[i] < INFINITY:
                    step = self.off_lo[i] / rate
                    if step < best:
                        best, who, slot, side = step, w, False, -1
            if who < 0:
                self._forget_offsets()
                self.settling = False
                return C_GOES_ON
            turns += 1
            if turns > 20 * self.N + 100:
                return C_SINGULAR  # round-off plays with us: let the reference look closely
            self._move_offsets(best, way, noise_z, size, span)
            i = self.slot_var[who] if slot else self.w_var[who]
            jumps = self.n_jumps
            code = self._leave(who, side, way) if slot else self._enter(who, side, way)
            if code != C_GOES_ON:
                return code
            if self.n_jumps == jumps:
                self._corner_behind(i, side)

    cdef void _move_offsets(
        self, double step, double way, double noise_z, double size, double span
    ) noexcept nogil:
        cdef Py_ssize_t s, w, x, i
        cdef double rate, noise
        for s in range(self.ns):
            i = self.slot_var[s]
            if i < 0:
                continue
            rate = self.zd[s]
            if fabs(rate) <= self._still_z(i, noise_z, span):
                continue
            if self.off_hi[i] < INFINITY:
                self.off_hi[i] = max(self.off_hi[i] - step * rate, 0.0)
            if self.off_lo[i] < INFINITY:
                self.off_lo[i] = max(self.off_lo[i] + step * rate, 0.0)
        for x in range(self.n_cornered):
            w = self.cornered[x]
            if not self.w_on[w]:
                continue
            i = self.w_var[w]
            noise = self._noise_h(w, size, span)
            rate = self.hd[w] - self.w_his[w] * way
            if self.off_hi[i] < INFINITY and fabs(rate) > noise:
                self.off_hi[i] = max(self.off_hi[i] - step * rate, 0.0)
            rate = self.w_los[w] * way - self.hd[w]
            if self.off_lo[i] < INFINITY and fabs(rate) > noise:
                self.off_lo[i] = max(self.off_lo[i] - step * rate, 0.0)

    cdef void _forget_offsets(self) noexcept nogil:
        cdef Py_ssize_t x, i
        for x in range(self.ns):
            i = self.owner[x]
            self.off_lo[i] = self.off_hi[i] = INFINITY
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
        cdef double corner = self._blur(i) if j % 2 == 0 else self.tol[i]
        cdef double ahead = self._random() if width <= corner else INFINITY
        if side > 0:
            self.off_lo[i], self.off_hi[i] = 0.0, ahead
        else:
            self.off_hi[i], self.off_lo[i] = 0.0, ahead

    # ------------------------------------------------------------------ pivots

    cdef void _event(self, Py_ssize_t i, int side) noexcept nogil:
        cdef Py_ssize_t e = self.n_events
        self.et[e], self.ev[e], self.emove[e] = self.t, i, self.n_moves
        self.e_from[e] = self.stair[i]
        self.stair[i] += side
        self.e_to[e] = self.stair[i]
        self.n_events += 1

    cdef void _add_inverse(self, const double *g, double *out) noexcept nogil:
        """out += H g = H0 g + U' D U g; what empty slots get is of no use."""
        cdef Py_ssize_t x
        symv(&self.H[0, 0], self.cap, self.n0, g, 1.0, out)
        gemv_t(&self.U[0, 0], self.cap, self.k, self.ns, 1.0, g, 0.0, &self.work[0])
        for x in range(self.k):
            self.work[x] *= self.d[x]
        gemv_n(&self.U[0, 0], self.cap, self.k, self.ns, 1.0, &self.work[0], 1.0, out)

    cdef void _refine(self, const double *b, double *x) noexcept nogil:
        """x += H (b - G_FF x); 0 in empty slots."""
        cdef Py_ssize_t s
        for s in range(self.ns):
            if self.slot_var[s] < 0:
                x[s] = 0.0
        gemv_t(&self.GF[0, 0], self.cap, self.ns, self.ns, -1.0, x, 0.0, &self.lacking[0])
        for s in range(self.ns):
            self.lacking[s] = self.lacking[s] + b[s] if self.slot_var[s] >= 0 else 0.0
        self._add_inverse(&self.lacking[0], x)
        for s in range(self.ns):
            if self.slot_var[s] < 0:
                x[s] = 0.0

    cdef bint _invert(self) noexcept nogil:
        """H0 and z' from scratch, in the middle of a block; False if G_FF is singular."""
        cdef:
            Py_ssize_t s, x, i, j
            blas_int m = 0, info = 0, ld = self.cap, size = LAPACK_BLOCK * self.cap
            double *a = &self.square[0, 0]
        for s in range(self.ns):
            if self.slot_var[s] < 0:
                continue
            i = 0
            for x in range(self.ns):
                if self.slot_var[x] >= 0:
                    a[m * self.cap + i] = self.GF[s, x]
                    i += 1
            m += 1
        dgetrf(&m, &m, a, &ld, &self.swaps[0], &info)
        if info == 0:
            dgetri(&m, a, &ld, &self.swaps[0], &self.lapack_work[0], &size, &info)
        if info != 0:
            return False
        i = 0
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
        self.n0, self.k = self.ns, 0
        memset(&self.zd[0], 0, self.ns * sizeof(double))
        self._add_inverse(&self.b[0], &self.zd[0])
        return True

    cdef int _enter(
        self, Py_ssize_t w, int side, double way, Py_ssize_t slot=-1
    ) noexcept nogil:
        """A watched variable goes from its pin to a tread: u = (H g; -1), d = 1 / s."""
        cdef:
            Py_ssize_t i = self.w_var[w], s, x, new = self.ns if slot < 0 else slot
            blas_int ns = self.ns
            double *g = &self.g[0]
            double *v = &self.v[0]
            double diagonal = self._entry(i, i), pivot, size, gain, largest
        for s in range(ns):
            g[s] = self.GW[w, s] if self.slot_var[s] >= 0 else 0.0
        memset(v, 0, ns * sizeof(double))
        self._add_inverse(g, v)
        if self.careful:
            self._refine(g, v)
        pivot, size = diagonal, fabs(diagonal)
        largest = 0.0
        for s in range(ns):
            if self.slot_var[s] < 0:
                v[s] = 0.0
            pivot -= g[s] * v[s]
            size += fabs(g[s] * v[s])
            largest = max(largest, fabs(v[s]))
        for s in range(ns):  # as in the reference: v of the unpenalised is known to round-off of all
            if self.slot_var[s] >= self.n_core:
                size += fabs(g[s]) * largest
        if i >= self.n_core:  # as in the reference: v may be round-off where g is not zero
            size, largest = 0.0, 0.0
            for s in range(ns):
                size += fabs(g[s])
                largest = max(largest, fabs(v[s]))
            size *= largest
        pivot *= self.sigma[i]
        if pivot < -self.indefinite * size:
            return C_INDEFINITE
        if pivot <= self.nil * size or pivot * self.span[i] <= 0.5 * self.tol[i]:
            return self._jump(w, side, way, size) if slot < 0 else C_BROKEN
        if pivot <= self.doubt * size:
            return C_SINGULAR
        pivot *= self.sigma[i]
        self._event(i, side)
        self.slot_var[new] = self.owner[new] = i
        self.slot_of[i], self.slot_row[new] = new, w
        self._bounds(new, way)
        if slot < 0:
            self.zs[new] = self.lo[new] if side > 0 else self.hi[new]
            self.z0[new] = self.zs[new]
            self.ns += 1
        # z' changes along u
        gain = (dot(ns, g, &self.zd[0]) - self.b[new]) / pivot
        memset(&self.U[self.k, 0], 0, self.cap * sizeof(double))
        memcpy(&self.U[self.k, 0], v, ns * sizeof(double))
        self.U[self.k, new] = -1.0
        self.d[self.k] = 1.0 / pivot
        for s in range(ns):
            self.zd[s] += gain * v[s]
        self.zd[new] = -gain
        self.k += 1
        self.w_on[w] = 0
        self.w_lo[w], self.w_los[w], self.w_hi[w], self.w_his[w] = -INFINITY, 0.0, INFINITY, 0.0
        for x in range(self.nw):
            self.GW[x, new] = self._entry(i, self.w_var[x])  # along a row of A, for it is symmetric
        if self.careful:
            self._row(i, &self.GF[new, 0])
            for s in range(self.ns):
                self.GF[s, new] = self.GF[new, s]
            if fabs(pivot) < self.frail * size and not self._invert():
                return C_SINGULAR
            self._refine(&self.b[0], &self.zd[0])
        self._watch_rates(way)
        return C_GOES_ON

    cdef int _jump(self, Py_ssize_t w, int side, double way, double size) noexcept nogil:
        """w cannot enter: move along the null vector (-H g; 1) until somebody blocks, and trade.

        H g is in v and stays there. The path stands still in t. Only free variables can block, for
        with M symmetric on the pinned ones the null vector moves no residual.
        """
        cdef:
            Py_ssize_t i = self.w_var[w], new = self.ns, s, x, j, who = new, m = self.n_moves
            double scale = 1.0, total, best, step, offset, pivot
            double *u = &self.jump[0]
            bint near = False
            int code, out = side
        if m == self.bcap or self._crowded():
            return C_FULL if m else C_SINGULAR
        for s in range(self.ns):
            scale = max(scale, fabs(self.v[s]))
        for s in range(self.ns):
            u[s] = -self.v[s] * side / scale
        u[new] = side / scale
        total = self.root[i] / scale
        for s in range(self.ns):
            if self.slot_var[s] >= 0:
                total += self.root[self.slot_var[s]] * fabs(u[s])
        gemv_t(&self.GW[0, 0], self.cap, self.nw, self.ns, 1.0, u, 0.0, &self.hj[0])
        for x in range(self.nw):
            j = self.w_var[x]
            if self.w_on[x] and x != w and fabs(self.hj[x] + self._entry(j, i) * u[new]) > (
                self.still * self.root[j] * total + self.tol[j]
            ):
                return C_SINGULAR
        # Who blocks: those at corners by their offsets, before all others; or w, at its next pin.
        best = fabs(self.value[i, self.stair[i] + 2 * side] - self.value[i, self.stair[i]]) * scale
        for s in range(self.ns):
            j = self.slot_var[s]
            if j < 0 or fabs(u[s]) <= self.still:
                continue
            offset = self.off_hi[j] if u[s] > 0 else self.off_lo[j]
            if offset < INFINITY:
                step = offset / fabs(u[s])
                if near and step >= best:
                    continue
                near = True
            elif near:
                continue
            else:
                step = max(self.hi[s] - self.zs[s] if u[s] > 0 else self.zs[s] - self.lo[s], 0.0)
                step /= fabs(u[s])
                if step >= best:
                    continue
            best, who, out = step, s, 1 if u[s] > 0 else -1
        if best == INFINITY:
            return C_SINGULAR
        if near:
            best = 0.0
        if who != new:  # the trade is regular when the blocking one has a say in the null vector
            pivot = self.H[who, who] if who < self.n0 else 0.0
            for x in range(self.k):
                pivot += self.d[x] * self.U[x, who] * self.U[x, who]
            if self.v[who] * self.v[who] <= self.doubt * size * fabs(pivot):
                return C_SINGULAR
        # w takes a slot, empty until the trade is made
        self.slot_var[new], self.owner[new], self.b[new], self.zd[new] = -1, i, 0.0, 0.0
        self.zs[new] = self.z0[new] = self.value[i, self.stair[i]]
        self.slot_row[new] = w
        for x in range(self.nw):
            self.GW[x, new] = self._entry(i, self.w_var[x])
        for x in range(self.k):
            self.U[x, new] = 0.0
        self.ns += 1
        if best > 0.0:
            self.mt0[m], self.mt1[m], self.mlen[m], self.mns[m] = self.t, self.t, best, self.ns
            for s in range(self.ns):
                self.mon[m, s] = self.slot_var[s] >= 0 or s == new
                self.rates[m, s] = u[s]
                self.zs[s] += best * u[s]
            self._note(m)
            self.n_moves += 1
        if who == new:  # all the way to its next pin
            self._event(i, side)
            self._event(i, side)
            self.zs[new] = self.value[i, self.stair[i]]
            self._look_around(w)
        else:
            code = self._leave(who, out, way)
            if code == C_GOES_ON:
                code = self._enter(w, side, way, new)
            if code != C_GOES_ON:
                return C_BROKEN
        self.n_jumps += 1
        self._find_corners(-1, True)
        return C_GOES_ON

    cdef int _leave(self, Py_ssize_t s, int side, double way) noexcept nogil:
        """A free variable goes from its tread to a pin: u = H e_s, d = -1 / H_ss."""
        cdef:
            Py_ssize_t i = self.slot_var[s], x, y, w = self.nw
            blas_int ns = self.ns
            double *u = &self.U[self.k, 0]
            double pivot, size = 0.0, largest = 0.0, gain
        if s < self.n0:
            memcpy(u, &self.H[s, 0], (s + 1) * sizeof(double))
            for x in range(s + 1, self.n0):
                u[x] = self.H[x, s]
            memset(u + self.n0, 0, (self.cap - self.n0) * sizeof(double))
        else:
            memset(u, 0, self.cap * sizeof(double))
        for x in range(self.k):
            self.work[x] = self.d[x] * self.U[x, s]
        gemv_n(&self.U[0, 0], self.cap, self.k, ns, 1.0, &self.work[0], 1.0, u)
        if self.careful:
            memset(&self.wanted[0], 0, ns * sizeof(double))
            self.wanted[s] = 1.0
            self._refine(&self.wanted[0], u)
        self._row(i, &self.g[0])
        for x in range(ns):
            if self.slot_var[x] < 0:
                u[x] = 0.0
                continue
            size += fabs(self.g[x] * u[x])
            largest = max(largest, fabs(self.g[x]))
        pivot = u[s]
        if self.sigma[i] * pivot * largest <= self.doubt * size:
            return C_SINGULAR
        self._event(i, side)
        gain = self.zd[s] / pivot
        for x in range(ns):
            self.zd[x] -= gain * u[x]
        self.zd[s] = 0.0
        self.zs[s] = self.hi[s] if side > 0 else self.lo[s]
        if self.n_moves:  # it stands at its pin exactly, from the last breakpoint on
            self.DZ[self.n_moves - 1, s] = self.zs[s] - self.z0[s]
        self.d[self.k] = -1.0 / pivot
        self.k += 1
        self.slot_var[s], self.slot_of[i], self.b[s] = -1, -1, 0.0
        # From now on it is watched; it stands at the end of the tread that it leaves.
        y = self.stair[i] - side
        self._new_row(w, i, self.value[i, y] + self.t * self.slope[i, y])
        self._corner(w)
        self.slot_row[s] = w
        memcpy(&self.GW[w, 0], &self.g[0], ns * sizeof(double))
        self.left_at[s], self.left_from[s] = self.n_moves - 1, self.hw[w]
        self.nw += 1
        if self.careful:
            if 1.0 < self.frail * fabs(pivot) * largest and not self._invert():
                return C_SINGULAR
            self._refine(&self.b[0], &self.zd[0])
        self._watch_rates(way)
        return C_GOES_ON

    # ------------------------------------------------------------------ the end of a block

    cdef Py_ssize_t _anchors(self) noexcept nogil:
        """Breakpoints at which everybody is computed: every `stride`-th, and the last."""
        cdef Py_ssize_t count = 0, j = -1
        while j < self.n_moves - 1:
            j = min(j + self.stride, self.n_moves - 1)
            self.anchor[count] = j
            count += 1
        return count

    def verify(self, const double[::1] h, double t0, double[::1] h_end):
        """Check everybody at every breakpoint; returns who was passed over unseen.

        h is the residual at the block's start; h_end receives it at the end. Everybody's residual
        is computed at the anchors. Between two of them it differs from the straight line by A d, d
        the difference of z from its own straight line, and

            |(A d)_i| <= sqrt(A_ii) sqrt(d'A d),

        which is small, being of second order. Who comes nearer to a corner than that is computed.
        """
        cdef:
            Py_ssize_t n = self.n_core, i, j, k, e, w, a = -1, b, m, near, doubtful = 0
            double t = t0
            double[::1] lo = np.full(n, -np.inf), hi = np.full(n, np.inf)
            double[::1] los = np.zeros(n), his = np.zeros(n), bound = np.zeros(n)
            double[::1] before = np.array(h)
            const double *x[MOST + 1]
            double *out[MOST + 1]
            char[::1] seen = np.zeros(self.N, dtype=np.int8)
        h_end[:] = h
        if self.n_moves == 0:
            return np.empty(0, dtype=np.intp)
        with nogil:
            for i in range(n):
                j = self.stair[i]
                lo[i] = self.value[i, j - 1] - self.tol[i]
                hi[i] = self.value[i, j + 1] + self.tol[i]
                los[i], his[i] = self.slope[i, j - 1], self.slope[i, j + 1]
            for k in range(self.ns + self.nw):  # they have been looked at on the way
                i = self.owner[k] if k < self.ns else self.w_var[k - self.ns]
                if i < n:
                    lo[i], hi[i], los[i], his[i] = -INFINITY, INFINITY, 0.0, 0.0
            m = self._anchors()
            for k in range(m):
                x[k], out[k] = &self.DZ[self.anchor[k], 0], &self.moved[k, 0]
            x[m], out[m] = &self.zd[0], &self.flow[0]  # the direction at the end, for `refine`
            self.flowing = True
            self._spread(m + 1, x, out)
            for k in range(m):
                b = self.anchor[k]
                self._residuals(b, self.mt1[b] - t0, &self.moved[k, 0], &h[0], &h_end[0])
                self._bend(a, b, t, &bound[0])
                near = outside(n, t, &before[0], &lo[0], &los[0], &hi[0], &his[0], &bound[0])
                near |= outside(
                    n, self.mt1[b], &h_end[0], &lo[0], &los[0], &hi[0], &his[0], &bound[0]
                )
                if near:
                    doubtful += self._look_closely(
                        a, b, t0, t, &h[0], &before[0], &h_end[0],
                        &lo[0], &los[0], &hi[0], &his[0], &bound[0], &seen[0],
                    )
                memcpy(&before[0], &h_end[0], n * sizeof(double))
                a, t = b, self.mt1[b]
            for e in range(self.nb):
                i = n + e
                h_end[i] = h[i] - (self.mt1[a] - t0) * self.r[i]
                for w in range(self.ns):
                    if self.owner[w] < n:
                        h_end[i] -= self.sigma[i] * self.border[self.owner[w], e] * self.DZ[a, w]
            self._measure_drift(&h_end[0])
            self._measure_departures(&h[0], t0)
            # Many doubtful cost more than computing all at more anchors, few less.
            if doubtful * DOUBTFUL > m * n:
                self.stride = max(self.stride // 2, 1)
            elif doubtful * 4 * DOUBTFUL < m * n:
                self.stride = min(2 * self.stride, MOST)
        return np.flatnonzero(np.asarray(seen))

    cdef void _residuals(
        self, Py_ssize_t j, double dt, const double *c, const double *h, double *out
    ) noexcept nogil:
        """h at breakpoint j, from its value at the block's start and A times the change of z."""
        cdef:
            Py_ssize_t i, s, n = self.n_core
            const double *signs = &self.signs[0]
            const double *edge
            const double *r = &self.r[0]
            double x
        if self.plain:
            for i in range(n):
                out[i] = h[i] - signs[i] * c[i] - dt * r[i]
        else:
            for i in range(n):
                out[i] = h[i] - signs[i] * c[self.p[i]] - dt * r[i]
        for s in range(self.ns):
            if self.owner[s] < n:
                continue
            x = self.DZ[j, s]
            edge = &self.edges[self.owner[s] - n, 0]
            for i in range(n):
                out[i] -= edge[i] * x

    cdef void _bend(self, Py_ssize_t a, Py_ssize_t b, double t, double *bound) noexcept nogil:
        """How far each residual may be from a straight line between breakpoints a (at t) and b.

        With d the difference of z from its own straight line: who is free all the way has a
        residual that stays on one, so (A d)_s = -(B d)_s there, and d'A d needs the rows of A of
        those only who came or went. They have been watched.
        """
        cdef:
            Py_ssize_t j, s, e, i, n = self.n_core
            blas_int inner = b - a - 1, ns = self.ns
            double part, size, most = 0.0, way = self.mt1[b] - t, tol = 0.0
            double *d
            double *border = &self.work[0]
            double *total = &self.total[0]
            double *turned = &self.turned[0]
        memset(bound, 0, n * sizeof(double))
        if inner < 1:
            return
        for j in range(inner):
            part = (self.mt1[a + 1 + j] - t) / way if way != 0.0 else 0.0
            d = &self.bent[j, 0]
            for s in range(ns):
                d[s] = self.DZ[a + 1 + j, s] - part * self.DZ[b, s]
            if a >= 0:
                for s in range(ns):
                    d[s] -= (1.0 - part) * self.DZ[a, s]
        memset(total, 0, inner * sizeof(double))
        for s in range(ns):
            if self.owner[s] >= n:
                continue
            tol = max(tol, self.tol[self.owner[s]])
            if self.slot_row[s] >= 0:
                d = &self.GW[self.slot_row[s], 0]
                gemv_t(&self.bent[0, 0], self.cap, inner, ns, 1.0, d, 0.0, turned)
                for j in range(inner):
                    total[j] += self.bent[j, s] * turned[j]
        memset(&self.bent_border[0], 0, self.nb * sizeof(double))
        for j in range(inner):
            d = &self.bent[j, 0]
            memset(border, 0, self.nb * sizeof(double))
            for s in range(ns):
                if self.owner[s] >= n:
                    border[self.owner[s] - n] += d[s]
            # d'A d, and what the residuals' tolerances may add to it
            size = 0.0
            for s in range(ns):
                i = self.owner[s]
                if i >= n:
                    continue
                size += fabs(d[s])
                for e in range(self.nb):
                    total[j] -= d[s] * self.border[i, e] * border[e]
            most = max(most, fabs(total[j]) + 4.0 * tol * size)
            for e in range(self.nb):
                self.bent_border[e] = max(self.bent_border[e], fabs(border[e]))
        most = sqrt(most)
        for i in range(n):
            bound[i] = self.root[i] * most
        for e in range(self.nb):
            for i in range(n):
                bound[i] += fabs(self.edges[e, i]) * self.bent_border[e]

    cdef Py_ssize_t _look_closely(
        self, Py_ssize_t a, Py_ssize_t b, double t0, double t, const double *h, const double *x0,
        const double *x1, const double *lo, const double *los, const double *hi,
        const double *his, const double *bound, char *seen,
    ) noexcept nogil:
        """Compute the breakpoints from a to b of those who may have come too near to a corner."""
        cdef Py_ssize_t i, j, count = 0
        cdef double x, t1 = self.mt1[b]
        for i in range(self.n_core):
            if seen[i] or (
                x0[i] >= lo[i] + t * los[i] + bound[i] and x0[i] <= hi[i] + t * his[i] - bound[i]
                and x1[i] >= lo[i] + t1 * los[i] + bound[i]
                and x1[i] <= hi[i] + t1 * his[i] - bound[i]
            ):
                continue
            count += 1
            if x1[i] < lo[i] + t1 * los[i] or x1[i] > hi[i] + t1 * his[i]:
                seen[i] = 1
                continue
            self._row(i, &self.v[0])
            for j in range(a + 1, b):
                x = h[i] - self.sigma[i] * dot(self.ns, &self.v[0], &self.DZ[j, 0])
                x -= (self.mt1[j] - t0) * self.r[i]
                if x < lo[i] + self.mt1[j] * los[i] or x > hi[i] + self.mt1[j] * his[i]:
                    seen[i] = 1
                    break
        return count

    cdef void _measure_drift(self, const double *h) noexcept nogil:
        """How far residuals are off their treads or out of pins' reach, in units of `keep`."""
        cdef Py_ssize_t i, j
        cdef double x, level, keep, moving = fabs(self.keep_0 + self.t * self.keep_1)
        self.off_treads = self.off_pins = 0.0
        for i in range(self.N):
            j = self.stair[i]
            keep = self.keep[i] + (moving if i < self.n_core else 0.0)
            if j % 2 == 0:
                level = self.value[i, j] + self.t * self.slope[i, j]
                self.off_treads = max(self.off_treads, fabs(h[i] - level) / keep)
            else:
                x = self.value[i, j - 1] + self.t * self.slope[i, j - 1] - h[i]
                x = max(x, h[i] - self.value[i, j + 1] - self.t * self.slope[i, j + 1])
                self.off_pins = max(self.off_pins, x / keep)

    cdef void _measure_departures(self, const double *h, double t0) noexcept nogil:
        """The same for those who left a tread on the way, at the breakpoint where they did."""
        cdef Py_ssize_t s, i, j
        cdef double x, keep
        for s in range(self.ns):
            i, j = self.owner[s], self.left_at[s]
            if j < 0 or i >= self.n_core:
                continue
            x = h[i] - self.sigma[i] * dot(self.ns, &self.GW[self.slot_row[s], 0], &self.DZ[j, 0])
            x -= (self.mt1[j] - t0) * self.r[i]
            keep = self.keep[i] + fabs(self.keep_0 + self.mt1[j] * self.keep_1)
            self.off_treads = max(self.off_treads, fabs(x - self.left_from[s]) / keep)

    def record(self):
        """The block's moves (t0, t1, length, size; variables, rates) and its events."""
        cdef:
            Py_ssize_t m, s, total = 0, at = 0
            int[::1] index
            double[::1] rate
            Py_ssize_t[::1] size = np.zeros(self.n_moves, dtype=np.intp)
        for m in range(self.n_moves):
            total += self.mns[m]
        index, rate = np.empty(total, dtype=np.int32), np.empty(total)
        with nogil:
            for m in range(self.n_moves):
                for s in range(self.mns[m]):
                    if self.mon[m, s]:
                        index[at], rate[at] = <int> self.owner[s], self.rates[m, s]
                        at += 1
                        size[m] += 1
        columns = np.array([self.mt0, self.mt1, self.mlen])[:, : self.n_moves].tolist()
        entries = np.asarray(index)[:at].copy(), np.asarray(rate)[:at].copy()
        moves = (*columns, np.asarray(size).tolist(), *entries)
        events = [
            (self.et[m], self.ev[m], self.e_from[m], self.e_to[m], self.emove[m])
            for m in range(self.n_events)
        ]
        return moves, events

    def commit(self):
        """H0 takes the block's changes, and empty slots go."""
        cdef:
            blas_int ns = self.ns, more = 0, less = 0, ld = self.cap
            char no = b"N"
            char half = b"U"
            double one = 1.0, minus = -1.0
            Py_ssize_t s, x, last
            double[:, ::1] scaled = self.scaled
        if self.k:
            with nogil:
                # u sqrt|d|, those that add before those that take away
                for x in range(self.k):
                    if self.d[x] > 0:
                        for s in range(self.ns):
                            scaled[more, s] = sqrt(self.d[x]) * self.U[x, s]
                        more += 1
                for x in range(self.k):
                    if self.d[x] <= 0:
                        for s in range(self.ns):
                            scaled[more + less, s] = sqrt(-self.d[x]) * self.U[x, s]
                        less += 1
                for s in range(self.n0, self.ns):
                    memset(&self.H[s, 0], 0, (s + 1) * sizeof(double))
                if more:
                    dsyrk(&half, &no, &ns, &more, &one, &scaled[0, 0], &ld, &one,
                          &self.H[0, 0], &ld)
                if less:
                    dsyrk(&half, &no, &ns, &less, &minus, &scaled[more, 0], &ld, &one,
                          &self.H[0, 0], &ld)
        with nogil:
            s = 0
            while s < self.ns:
                if self.slot_var[s] >= 0:
                    s += 1
                    continue
                last = self.ns - 1
                if last != s:
                    self._move_slot(last, s)
                self.ns = last
        self.n0, self.k = self.ns, 0

    cdef void _move_slot(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        """The last slot, a, moves to b; only the lower half of H counts."""
        cdef Py_ssize_t x
        self.H[b, b] = self.H[a, a]
        for x in range(b):
            self.H[b, x] = self.H[a, x]
        for x in range(b + 1, a):
            self.H[x, b] = self.H[a, x]
        self.slot_var[b], self.owner[b] = self.slot_var[a], self.owner[a]
        self.zs[b], self.zd[b], self.b[b] = self.zs[a], self.zd[a], self.b[a]
        self.lo[b], self.hi[b] = self.lo[a], self.hi[a]
        if self.slot_var[b] >= 0:
            self.slot_of[self.slot_var[b]] = b

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
