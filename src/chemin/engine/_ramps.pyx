# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The fast walk on ramps, compiled: regular events, one after the other.

Free variables have slots, and H is the inverse of A0 = G_FF + t0 D at a t0 near by. An event
changes H by a term of rank one; t moves on without it. With d = t - t0, c = b1 - D z and
y0 = H c, the solution at t + e is

    z + e (A0 + (d + e) D)^-1 c  =  z + e y0 - e (d + e) H D^1/2 (I + (d + e) S)^-1 D^1/2 y0

S = D^1/2 H D^1/2, and one Krylov space of S has all of it (`krylov.py` is the case d = 0). With the
eigenvalues theta and the vectors x of the space,

    z + e y + sum_k w_k e^2 / (1 + e p_k),     w = -x / (1 + d theta)^2,   p = theta / (1 + d theta)
                                               y = y0 + sum_k w_k d (1 + d theta_k).

What the space leaves of the equations is |e| (d + e)^2 beta |u_k| D^1/2 v: it grows on the way
down, so that a space that is good where the move ends was good all along it. Where the move ends
the equations of all free variables are evaluated from the data, and what they are off is corrected
within the move.

        variables, N                     slots
       +------------------+             +------+
    R  | row of G         |  a slot  H  |      |  an empty slot has a row and a column of zeros
       +------------------+             +------+

Where several variables stand at corners together they are passed one after the other, none twice,
until all of them leave their corners at speed: then, whatever the order was, this is the way on.
Jumps, ends and everything doubtful, ties that do not end so too, are left to the walk in Python.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, fmax, sqrt
from libc.string cimport memcpy, memset

from scipy.linalg.cython_blas cimport dgemm, dsymv, dsyr
from scipy.linalg.cython_lapack cimport dpotrf, dpotri, dstev

from chemin.engine._blas cimport blas_int, dot, gemv_t
from chemin.engine._entries cimport has_row, row
from chemin.engine._system cimport System

from chemin.engine import tolerances as tol

cdef enum:
    MOST = 24  # poles; a move that asks for more is left to the walk in Python
    LEAST = 3  # poles to begin with
    ROUNDS = 1000  # steps of one search for a crossing
    MENDS = 8  # refinements of what is off at the end of a move
    TRIES = 4  # searches for the end of one move

cdef enum Code:
    GOES_ON = 0
    FULL = 1  # so many moves were made, or t has moved so far, that sizes are to be seen again
    CORNER = 2  # a variable stands at a corner that is not plainly to be passed
    LEFT = 3  # nothing was done: the next move is not for this walk
    AGAIN = 4  # where the move ends was not known well enough; now it is
    TIED = 5  # another variable stands at a corner that is plainly to be passed before t moves

cdef double FURTHER = 4.0  # see `crossing.py`
cdef double SPARE = 1e-4  # of what a space may leave: one pole less will do the next time
cdef double DEAR = 0.2  # of an inverse: once H has cost this in further poles, it is made again

# From the table of tolerances, which says what they are.
cdef double ARRIVED, AWAY, SPANNED, CLOSE, LONG, LOST, MENDED, NEARBY, REALLY, SLIPS, UNSOLVED
cdef double VANISHING, WEAK


cdef void read_tolerances():
    global ARRIVED, AWAY, SPANNED, CLOSE, LONG, LOST, MENDED, NEARBY, REALLY, SLIPS, UNSOLVED
    global VANISHING, WEAK
    ARRIVED, AWAY, SPANNED, CLOSE = tol.ARRIVED, tol.AWAY, tol.SPANNED, tol.CLOSE
    LONG, LOST, MENDED, NEARBY = tol.LONG, tol.LOST, tol.MENDED, tol.NEARBY
    REALLY, SLIPS, UNSOLVED = tol.REALLY, tol.SLIPS, tol.UNSOLVED
    VANISHING, WEAK = tol.VANISHING, tol.WEAK


cdef inline double smallest_root(double f, double b, double a) noexcept nogil:
    """The smallest e > 0 with f + b e + a e^2 = 0, f >= 0; infinity if there is none."""
    cdef double square = b * b - 4.0 * a * f, root
    if square < 0 or (b > 0 and a >= 0):
        return INFINITY
    root = sqrt(square)
    if b > 0:
        return -(b + root) / (2.0 * a)
    return INFINITY if root - b == 0 else 2.0 * f / (root - b)


cdef class Ramps(System):
    """A walk down along rational functions; see the module's text."""

    cdef:
        readonly double t
        double t0, sized, norm, step, top, spent, reach, there
        double[:, ::1] R, H, G_FF, V, X, acted, bends, C, weight, work
        double[::1] soft, root_soft, q, z, h, tolerance, blur, lin, c, y, x, off, spare, lately
        double[::1] alpha, beta, theta, d, e, near, shape, old_z, old_h
        double[:, ::1] Q, place
        Py_ssize_t[::1] stair, owner, everyone, passed_at
        Py_ssize_t[::1] slot_of
        Py_ssize_t cap, ns, poles, least, k, who, rows_free
        int side
        bint worn, fresh, tied
        Py_ssize_t places
        readonly Py_ssize_t functions, steps

    def __init__(self, system):
        super().__init__(system)
        read_tolerances()
        n = self.N
        self.soft = np.ascontiguousarray(system.soft, dtype=np.float64)
        self.root_soft, self.q = np.sqrt(self.soft), np.ascontiguousarray(system.q)
        self.everyone, self.passed_at = np.arange(n), np.zeros(n, np.intp)
        self.z, self.h, self.old_z, self.old_h, self.tolerance, self.blur = np.zeros((6, n))
        self.lin, self.lately = np.zeros((2, n))
        self.place = np.zeros((2, n))
        self.acted, self.bends = np.zeros((MOST + 1, n)), np.zeros((MOST, n))
        self.alpha, self.beta, self.theta, self.d, self.e, self.near, self.shape = np.zeros(
            (7, MOST + 1)
        )
        self.C, self.Q = np.zeros((2, MOST, MOST))
        self.poles = LEAST
        self.reserve(64)

    def reserve(self, Py_ssize_t least):
        """Room for so many slots; what was there is lost."""
        cdef Py_ssize_t cap = min(max(least, 64), self.N)
        if cap <= self.cap:
            return
        cap = self.cap = min(3 * cap // 2, self.N)
        self.R = np.zeros((cap, self.N))
        self.H, self.G_FF, self.work = np.zeros((3, cap, cap))
        self.V, self.X = np.zeros((2, MOST + 1, cap))
        self.weight = np.zeros((MOST, cap))
        self.c, self.y, self.x, self.off = np.zeros((4, cap))
        self.spare = np.zeros(max(4 * MOST, cap))
        self.owner = np.full(cap, -1)

    # ------------------------------------------------------------------ the state

    def load(self, stair, double t):
        """Stand on these stairs at t; z and h are told by `see`."""
        cdef Py_ssize_t i
        self.stair, self.t = np.array(stair, dtype=np.intp), t
        self.slot_of = np.full(self.N, -1)
        self.reserve(np.count_nonzero(np.asarray(stair) % 2 == 0) + 32)
        np.asarray(self.owner)[:] = -1
        np.asarray(self.H)[:] = 0.0
        np.asarray(self.G_FF)[:] = 0.0
        self.ns = self.rows_free = 0
        self.worn = True
        self.places += 1
        for i in range(self.N):
            if self.stair[i] % 2 == 0:
                self._take_slot(i)

    def see(self, z, h, tolerance, blur):
        """Where the walk stands, from the data, and how well that can be known."""
        self.z, self.h = np.array(z), np.array(h)
        self.tolerance, self.blur = np.array(tolerance), np.array(blur)
        self.sized = self.t

    @property
    def residuals(self):
        """h, as the walk has it."""
        return np.array(self.h)

    @property
    def corner(self):
        """The side and the variable of the corner at which the walk stands."""
        return self.side, self.who

    cdef inline double _level(self, Py_ssize_t i, int shift) noexcept nogil:
        cdef Py_ssize_t j = self.stair[i] + shift
        return self.value[i, j] + self.t * self.slope[i, j]

    cdef inline double _width(self, Py_ssize_t i) noexcept nogil:
        """As near as this to a corner a variable stands at it."""
        return self.blur[i] if self.stair[i] % 2 == 0 else self.tolerance[i]

    cdef double _nearest(self, Py_ssize_t i) noexcept nogil:
        """How far variable i is from the nearer end of its stair."""
        cdef double x = self.z[i] if self.stair[i] % 2 == 0 else self.h[i]
        cdef double below = x - self._level(i, -1), above = self._level(i, 1) - x
        return below if below < above else above

    cdef bint _alone(self, Py_ssize_t but) noexcept nogil:
        """Whether no other variable stands at a corner."""
        cdef Py_ssize_t i
        for i in range(self.N):
            if i != but and self._nearest(i) <= self._width(i):
                return False
        return True

    # ------------------------------------------------------------------ slots and the inverse

    cdef Py_ssize_t _take_slot(self, Py_ssize_t i) noexcept nogil:
        """A slot for variable i, with its row of G; -1 if there is no room."""
        cdef Py_ssize_t s, j
        for s in range(self.ns):
            if self.owner[s] < 0:
                break
        else:
            s = self.ns
        if s == self.cap:
            return -1
        self.ns = max(self.ns, s + 1)
        self.owner[s], self.slot_of[i] = i, s
        self.rows_free += has_row(&self.G, i)
        row(&self.G, i, self.N, &self.everyone[0], &self.R[s, 0])
        for j in range(self.ns):
            if self.owner[j] >= 0:
                self.G_FF[s, j] = self.G_FF[j, s] = self.R[s, self.owner[j]]
        return s

    cdef inline void _symv(self, double[:, ::1] a, const double *x, double *out) noexcept nogil:
        """out = a x, a symmetric by slots."""
        cdef char half = b"U"
        cdef blas_int n = self.ns, ld = self.cap, one = 1
        cdef double alpha = 1.0, beta = 0.0
        dsymv(&half, &n, &alpha, &a[0, 0], &ld, <double *> x, &one, &beta, out, &one)

    cdef void _add(self, double factor, double *u) noexcept nogil:
        """H += factor u u', u by slots."""
        cdef char half = b"U"
        cdef blas_int n = self.ns, ld = self.cap, one = 1
        dsyr(&half, &n, &factor, u, &one, &self.H[0, 0], &ld)

    cdef void _border(self, Py_ssize_t s) noexcept nogil:
        """Slot s joins H: H + v v'/p with v = (H g; -1), p the Schur complement."""
        cdef Py_ssize_t i = self.owner[s]
        cdef double diagonal = self.G_FF[s, s] + self.t0 * self.soft[i], pivot
        memcpy(&self.c[0], &self.G_FF[s, 0], self.ns * sizeof(double))
        self.c[s] = 0.0
        self._symv(self.H, &self.c[0], &self.x[0])
        pivot = diagonal - dot(self.ns, &self.c[0], &self.x[0])
        if fabs(pivot) <= WEAK * diagonal or (pivot < 0) == has_row(&self.G, i) or pivot == 0.0:
            self.worn = True
            return
        self.x[s] = -1.0
        self._add(1.0 / pivot, &self.x[0])

    cdef void _enter(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t s = self._take_slot(i)
        if not self.worn:
            self._border(s)

    cdef void _leave(self, Py_ssize_t i) noexcept nogil:
        """The slot of variable i is empty: H - u u'/u_s, u = H e_s."""
        cdef Py_ssize_t j, s = self.slot_of[i]
        if not self.worn:
            self._column(s, &self.x[0])
            if self.x[s] > 0:
                self._add(-1.0 / self.x[s], &self.x[0])
            else:
                self.worn = True
        for j in range(self.ns):
            self.G_FF[s, j] = self.G_FF[j, s] = 0.0
            self.H[s, j] = self.H[j, s] = 0.0
        self.owner[s] = self.slot_of[i] = -1
        self.rows_free -= has_row(&self.G, i)

    cdef void _column(self, Py_ssize_t s, double *out) noexcept nogil:
        """H e_s; H has its lower half."""
        cdef Py_ssize_t j
        for j in range(self.ns):
            out[j] = self.H[s, j] if j <= s else self.H[j, s]

    cdef bint _invert(self) noexcept nogil:
        """H afresh, at this t; whether it could be done."""
        cdef Py_ssize_t i, s, r, m = 0
        cdef char half = b"U"
        cdef blas_int n, ld = self.cap, info = 0
        self.t0, self.worn, self.fresh = self.t, False, True
        self.spent, self.least = 0.0, MOST
        for s in range(self.ns):
            if self.owner[s] >= 0 and has_row(&self.G, self.owner[s]):
                i = 0
                for r in range(s + 1):
                    if self.owner[r] >= 0 and has_row(&self.G, self.owner[r]):
                        self.work[m, i] = self.G_FF[s, r]
                        i += 1
                self.work[m, m] += self.t * self.soft[self.owner[s]]
                m += 1
        n = m
        dpotrf(&half, &n, &self.work[0, 0], &ld, &info)
        if info == 0:
            dpotri(&half, &n, &self.work[0, 0], &ld, &info)
        if info != 0:
            return False
        m = 0
        for s in range(self.ns):
            memset(&self.H[s, 0], 0, self.ns * sizeof(double))
            if self.owner[s] >= 0 and has_row(&self.G, self.owner[s]):
                i = 0
                for r in range(s + 1):
                    if self.owner[r] >= 0 and has_row(&self.G, self.owner[r]):
                        self.H[s, r] = self.work[m, i]
                        i += 1
                m += 1
        for s in range(self.ns):
            if self.owner[s] >= 0 and not has_row(&self.G, self.owner[s]):
                self._border(s)
        return not self.worn

    # ------------------------------------------------------------------ the functions of a move

    cdef bint _direction(self) noexcept nogil:
        """y0 = H c, refined once; whether H is precise enough."""
        cdef Py_ssize_t s, i
        cdef double change = 0.0, size = 0.0
        for s in range(self.ns):
            i = self.owner[s]
            self.c[s] = 0.0
            if i >= 0:
                self.c[s] = -self.sigma[i] * (
                    self.r[i] + self.soft[i] * self.z[i] + self.slope[i, self.stair[i]]
                )
        self._symv(self.H, &self.c[0], &self.X[0, 0])
        self._symv(self.G_FF, &self.X[0, 0], &self.y[0])
        for s in range(self.ns):
            i = self.owner[s]
            if i >= 0:
                self.y[s] = self.c[s] - self.y[s] - self.t0 * self.soft[i] * self.X[0, s]
        self._symv(self.H, &self.y[0], &self.x[0])
        for s in range(self.ns):
            change = fmax(change, fabs(self.x[s]))
            self.X[0, s] += self.x[s]
            size = fmax(size, fabs(self.X[0, s]))
        return change <= (LOST if self.fresh else SLIPS) * size

    cdef bint _grow(self, Py_ssize_t k) noexcept nogil:
        """Lanczos' space with k vectors, or all there are; X has H D^1/2 v from row 1 on."""
        cdef Py_ssize_t s, i, j, n = self.k, _again
        cdef double part
        if n == 0:
            for s in range(self.ns):
                i = self.owner[s]
                self.V[0, s] = self.root_soft[i] * self.X[0, s] if i >= 0 else 0.0
            self.norm = sqrt(dot(self.ns, &self.V[0, 0], &self.V[0, 0]))
            if not 0.0 < self.norm < INFINITY:
                return False
            for s in range(self.ns):
                self.V[0, s] /= self.norm
        while n < k and not (n and self.beta[n - 1] == 0.0):
            for s in range(self.ns):
                i = self.owner[s]
                self.y[s] = self.root_soft[i] * self.V[n, s] if i >= 0 else 0.0
            self._symv(self.H, &self.y[0], &self.X[n + 1, 0])
            for s in range(self.ns):
                i = self.owner[s]
                self.y[s] = self.root_soft[i] * self.X[n + 1, s] if i >= 0 else 0.0
            self.alpha[n] = dot(self.ns, &self.V[n, 0], &self.y[0])
            for _again in range(2):  # twice is enough
                for j in range(n + 1):
                    part = dot(self.ns, &self.V[j, 0], &self.y[0])
                    for s in range(self.ns):
                        self.y[s] -= part * self.V[j, s]
            self.beta[n] = sqrt(dot(self.ns, &self.y[0], &self.y[0]))
            n += 1
            if not self.beta[n - 1] > SPANNED * self.alpha[0] or n == self.rows_free:
                self.beta[n - 1] = 0.0
                break
            for s in range(self.ns):
                self.V[n, s] = self.y[s] / self.beta[n - 1]
        self.k = n
        return True

    cdef bint _spectrum(self) noexcept nogil:
        """theta and Q of T, and from them the poles and the weights C of the vectors of X."""
        cdef:
            Py_ssize_t i, j, k = self.k
            blas_int n = k, ld = MOST, info = 0
            char job = b"V"
            double away = self.t - self.t0, left
        for j in range(k):
            self.d[j], self.e[j] = self.alpha[j], self.beta[j]
        dstev(&job, &n, &self.d[0], &self.e[0], &self.Q[0, 0], &ld, &self.spare[0], &info)
        self.top = 0.0
        for j in range(k):
            self.theta[j] = min(max(self.d[j], 0.0), 1.0 / self.t0)
            left = 1.0 + away * self.theta[j]
            self.near[j] = self.theta[j] / left
            self.top = fmax(self.top, self.near[j])
            self.shape[j] = away * left  # what y has of each bend
            for i in range(k):
                self.C[j, i] = -self.norm * self.Q[j, i] * self.Q[j, 0] / (left * left)
        return info == 0

    cdef void _act(self, Py_ssize_t first) noexcept nogil:
        """What the rows of X do to every variable, from row `first` on: G x."""
        cdef char no = b"N"
        cdef blas_int N = self.N, n = self.k + 1 - first, m = self.ns, ld = self.cap
        cdef double one = 1.0, zero = 0.0
        if n > 0:
            dgemm(
                &no, &no, &N, &n, &m, &one, &self.R[0, 0], &N, &self.X[first, 0], &ld, &zero,
                &self.acted[first, 0], &N,
            )

    cdef void _mix(self, double *rows, Py_ssize_t n, blas_int width, double *out) noexcept nogil:
        """Rows for vectors of the space become rows for poles, by C."""
        cdef char no = b"N"
        cdef blas_int columns = n, k = self.k, ld = MOST
        cdef double one = 1.0, zero = 0.0
        dgemm(
            &no, &no, &columns, &k, &k, &one, rows, &width, &self.C[0, 0], &ld, &zero, out, &width
        )

    cdef void _functions(self) noexcept nogil:
        """What moves of each variable, z or h: a speed `lin` and `bends`, on the way down."""
        cdef Py_ssize_t i, j, s
        self._mix(&self.acted[1, 0], self.N, self.N, &self.bends[0, 0])
        self._mix(&self.X[1, 0], self.ns, self.cap, &self.weight[0, 0])
        memcpy(&self.lin[0], &self.acted[0, 0], self.N * sizeof(double))
        memcpy(&self.y[0], &self.X[0, 0], self.ns * sizeof(double))
        for j in range(self.k):
            for i in range(self.N):
                self.lin[i] += self.shape[j] * self.bends[j, i]
                self.bends[j, i] *= -self.sigma[i]
            for s in range(self.ns):
                self.y[s] += self.shape[j] * self.weight[j, s]
        for i in range(self.N):
            self.lin[i] = self.sigma[i] * self.lin[i] + self.r[i] + self.soft[i] * self.z[i]
        for s in range(self.ns):
            i = self.owner[s]
            if i < 0:
                continue
            self.lin[i] = -self.y[s]
            for j in range(self.k):
                self.bends[j, i] = self.weight[j, s]

    # ------------------------------------------------------------------ the first crossing

    cdef inline double _gap(self, Py_ssize_t i, int side) noexcept nogil:
        """How far variable i is from the stair below or above; at least a width."""
        cdef double x = self.z[i] if self.stair[i] % 2 == 0 else self.h[i]
        cdef double gap = self._level(i, 1) - x if side else x - self._level(i, -1)
        return fmax(gap, self._width(i))

    cdef inline double _slope(self, Py_ssize_t i, int side) noexcept nogil:
        """How fast that gap opens where the move begins."""
        cdef double stair = self.slope[i, self.stair[i] + (1 if side else -1)]
        return -stair - self.lin[i] if side else self.lin[i] + stair

    cdef double _further(self, Py_ssize_t i, int side, double s) noexcept nogil:
        """The next safe place of one function, from the place s; see `crossing.py`."""
        cdef double f = self._gap(i, side), slope = self._slope(i, side)
        cdef double sign = -1.0 if side else 1.0
        cdef double rate = slope, N = 0.0, q = self.top / (1.0 - s * self.top), left, bend, safe
        cdef Py_ssize_t j
        f += s * slope
        for j in range(self.k):
            left = 1.0 - s * self.near[j]
            bend = sign * self.bends[j, i] / left
            f += s * s * bend
            rate += s * bend * (2.0 - s * self.near[j]) / left
            self.d[j], self.e[j] = bend / (left * left), self.near[j] / left
            N += min(self.d[j], 0.0)
        f = fmax(f, 0.0)
        safe = smallest_root(f, rate - f * q, N - rate * q)
        safe = fmax(safe, self._bent(f, rate, self.reach - s))
        return s + fmax(safe, self._bent(f, rate, min(FURTHER * safe, self.reach - s)))

    cdef double _bent(self, double f, double rate, double end) noexcept nogil:
        """How far up to `end` no function with the C and q of `_further` has come to zero."""
        cdef double total = 0.0, curvature = 0.0, phi, below
        cdef Py_ssize_t j
        for j in range(self.k - 1, 0, -1):
            total += self.d[j]
            phi, below = 1.0 / (1.0 - end * self.e[j]), 1.0 / (1.0 - end * self.e[j - 1])
            curvature += min(total, 0.0) * end * (self.e[j] - self.e[j - 1]) * phi * below
        total += self.d[0]
        curvature += total if total > 0 else total / (1.0 - end * self.e[0])
        return min(smallest_root(f, rate, curvature), end)

    cdef bint _search(self) noexcept nogil:
        """The first to come to the end of its stair before the reach: `who`, `side`, at `step`.

        All functions make one step. Then the nearest one goes on, again and again: once it has
        converged no other can be before it. False if that takes too long.
        """
        cdef Py_ssize_t i, j, _round, before = self.functions
        cdef int side
        cdef double below, above, place, f, rate
        self.who = -1
        for i in range(self.N):
            below = above = 0.0
            for j in range(self.k):
                below += min(self.bends[j, i], 0.0)
                above -= fmax(self.bends[j, i], 0.0)
            for side in range(2):
                self.place[side, i] = INFINITY
                if fabs(self._level(i, 1 if side else -1)) < INFINITY:
                    self.functions += 1
                    f, rate = self._gap(i, side), self._slope(i, side)
                    self.place[side, i] = smallest_root(
                        f, rate - f * self.top, (above if side else below) - rate * self.top
                    )
        self.steps += self.functions - before
        for _round in range(ROUNDS):
            self.step, self.who = self.reach, -1
            for side in range(2):
                for i in range(self.N):
                    if self.place[side, i] < self.step:
                        self.step, self.who, self.side = self.place[side, i], i, side
            if self.who < 0:
                return True
            place = self._further(self.who, self.side, self.step)
            self.steps += 1
            if place - self.step <= CLOSE * place:
                self.step = place
                return True
            self.place[self.side, self.who] = place
        return False

    cdef double _noise(self, Py_ssize_t i) noexcept nogil:
        """A speed of variable i below this is not told from zero."""
        cdef Py_ssize_t s
        cdef double size = 0.0, most = 0.0
        for s in range(self.ns):
            if self.owner[s] >= 0:
                most = fmax(most, fabs(self.y[s]))
                size += self.root[self.owner[s]] * fabs(self.y[s])
        if self.stair[i] % 2 == 0:
            return fmax(VANISHING * most, self.blur[i] / self.t)
        return VANISHING * (size * self.root[i] + fabs(self.r[i])) + self.tolerance[i] / self.t

    cdef Code _settled(self) noexcept nogil:
        """Whether all that stand at corners leave them, at speed; or `who` is to pass its own."""
        cdef Py_ssize_t i
        cdef int side
        cdef double x
        cdef Code code = GOES_ON
        for i in range(self.N):
            if self._nearest(i) > self._width(i):
                continue
            x = self.z[i] if self.stair[i] % 2 == 0 else self.h[i]
            side = self._level(i, 1) - x <= self._width(i)
            if side and x - self._level(i, -1) <= self._width(i):
                return LEFT
            if self._slope(i, side) > self._noise(i):
                continue
            if self.passed_at[i] == self.places or not self._passes(i, side, -self._slope(i, side)):
                return LEFT
            self.who, self.side, code = i, side, TIED
        return code

    cdef double _leaves(self) noexcept nogil:
        """The largest residual that the space leaves where the move ends."""
        cdef Py_ssize_t j, s, n = self.k
        cdef double d = self.t - self.t0 - self.step, last = 0.0, most = 0.0
        if self.beta[n - 1] == 0.0:
            return 0.0
        for j in range(n):
            last += self.Q[j, n - 1] * self.Q[j, 0] / (1.0 + d * self.theta[j])
        for s in range(self.ns):
            if self.owner[s] >= 0:
                most = fmax(most, fabs(self.root_soft[self.owner[s]] * self.V[n, s]))
        return self.step * d * d * self.beta[n - 1] * self.norm * fabs(last) * most

    cdef bint _dear(self) noexcept nogil:
        """Whether a new inverse is cheaper than going on with this one."""
        cdef double m = self.ns
        if self.t0 - self.t > AWAY * self.t:
            return True
        return 2.0 * self.spent * (m + self.N) > DEAR * m * m

    cdef Code _find(self, double t_end, bint first) noexcept nogil:
        """The next move: its functions, and where it ends."""
        cdef Py_ssize_t acted = 0, s, poles = self.poles
        cdef double allowed = INFINITY, left
        cdef Code code
        self.reach = min(self.t - t_end, LONG * self.t)
        if self.worn or self._dear():
            if not self._invert():
                return LEFT
        if not self._direction():
            if self.fresh or not self._invert() or not self._direction():
                return LEFT
        for s in range(self.ns):
            if self.owner[s] >= 0 and self.soft[self.owner[s]] > 0:
                allowed = min(allowed, self.tolerance[self.owner[s]])
        self.k = 0
        while True:
            if not self._grow(poles) or not self._spectrum():
                return LEFT
            self._act(acted)
            acted = self.k + 1
            self._functions()
            if first:
                code = self._settled()
                if code != GOES_ON:
                    return code
            if not self._search():
                return LEFT
            left = self._leaves()
            # Residuals are measured by t: on the way down tolerances shrink with it.
            if left <= UNSOLVED * allowed * (self.t - self.step) / self.sized:
                break
            if poles >= MOST:
                return LEFT
            poles += 1
        if left < SPARE * UNSOLVED * allowed:
            poles -= 1
        self.poles = max(min(poles, self.k), LEAST)
        self.least = min(self.least, self.k)
        self.spent += self.k - self.least
        return LEFT if self.who < 0 else GOES_ON

    # ------------------------------------------------------------------ to its end

    cdef Code _end(self) noexcept nogil:
        """To the end of the move; where that is not known well enough it is looked for again."""
        cdef Py_ssize_t tries
        cdef Code code
        for tries in range(TRIES):
            self.there = ARRIVED * (1 + tries)
            code = self._arrive()
            if code != AGAIN:
                return code
            if self.slot_of[self.who] < 0 and not (self._search() and self.who >= 0):
                return LEFT
        return LEFT

    cdef Code _arrive(self) noexcept nogil:
        """To the end of the move, if the equations hold there."""
        cdef Py_ssize_t i, j, s, held = self.slot_of[self.who]
        cdef double step = self.step, before = self.t, change
        cdef Code code = GOES_ON
        memcpy(&self.old_z[0], &self.z[0], self.N * sizeof(double))
        for j in range(self.k):
            self.shape[j] = step * step / (1.0 - step * self.near[j])
        for s in range(self.ns):
            i = self.owner[s]
            if i >= 0:
                change = -self.y[s] * step
                for j in range(self.k):
                    change += self.weight[j, s] * self.shape[j]
                self.z[i] += change
        self.t -= step
        if not self._unsolved():
            code = LEFT
        else:
            self._mend()
            code = GOES_ON if held < 0 else self._pinned(held)
            for s in range(self.ns):
                i = self.owner[s]
                if i >= 0:
                    self.z[i] += self.x[s]
            if held < 0:
                code = self._meets()
        if code == GOES_ON:
            memcpy(&self.old_h[0], &self.h[0], self.N * sizeof(double))
            for i in range(self.N):
                if self.stair[i] % 2 == 1:
                    self.h[i] += step * self.lin[i]
                    for j in range(self.k):
                        self.h[i] += self.shape[j] * self.bends[j, i]
            if self._inside():
                return GOES_ON
            memcpy(&self.h[0], &self.old_h[0], self.N * sizeof(double))
            code = LEFT
        self.t = before
        memcpy(&self.z[0], &self.old_z[0], self.N * sizeof(double))
        return code

    cdef bint _inside(self) noexcept nogil:
        """Whether no other variable is beyond the end of its stair.

        Where G_FF + t D is nearly singular the correction at the end of a move may put a free one
        there, though no crossing was stepped over. One that is held is there if one was.
        """
        cdef Py_ssize_t i
        cdef double spare
        for i in range(self.N):
            spare = self.blur[i] if self.stair[i] % 2 == 0 else REALLY * self.tolerance[i]
            if i != self.who and self._nearest(i) < -spare:
                return False
        return True

    cdef void _mend(self) noexcept nogil:
        """x, by which free variables are off: A^-1 off. H is that of t0: it is refined."""
        cdef Py_ssize_t i, s, _round
        cdef double left
        memset(&self.x[0], 0, self.ns * sizeof(double))
        memcpy(&self.c[0], &self.off[0], self.ns * sizeof(double))
        for _round in range(MENDS):
            self._symv(self.H, &self.c[0], &self.spare[0])
            for s in range(self.ns):
                self.x[s] += self.spare[s]
            self._symv(self.G_FF, &self.x[0], &self.c[0])
            left = 0.0
            for s in range(self.ns):
                i = self.owner[s]
                if i >= 0:
                    self.c[s] = self.off[s] - self.c[s] - self.t * self.soft[i] * self.x[s]
                    left = fmax(left, fabs(self.c[s]) / self.tolerance[i])
            if left <= MENDED:
                return

    cdef Code _pinned(self, Py_ssize_t held) noexcept nogil:
        """The variable that is to come to its pin stands there, the others as they must.

        If it is not quite there, the step is corrected.
        """
        cdef Py_ssize_t s
        cdef double gap = self._level(self.who, 1 if self.side else -1)
        gap -= self.z[self.who] + self.x[held]
        self._column(held, &self.c[0])
        if fabs(gap) > self.there * self.tolerance[self.who] * self.c[held]:
            self.step += gap / self._speed(self.who)
            return AGAIN if 0.0 < self.step < self.reach else LEFT
        for s in range(self.ns):
            self.x[s] += self.c[s] * gap / self.c[held]
        return GOES_ON

    cdef double _speed(self, Py_ssize_t i) noexcept nogil:
        """How fast what moves of variable i moves where the move ends."""
        cdef Py_ssize_t j
        cdef double rate = self.lin[i], left, s = self.step
        for j in range(self.k):
            left = 1.0 - s * self.near[j]
            rate += self.bends[j, i] * s * (2.0 - s * self.near[j]) / (left * left)
        return rate

    cdef bint _unsolved(self) noexcept nogil:
        """What the equations of free variables are off, from the data; False if it is too much."""
        cdef Py_ssize_t i, s
        cdef double linear
        gemv_t(&self.R[0, 0], self.N, self.ns, self.N, -1.0, &self.z[0], 0.0, &self.off[0])
        for s in range(self.ns):
            i = self.owner[s]
            if i < 0:
                self.off[s] = 0.0
                continue
            linear = self.q[i] + self.t * (self.r[i] + self.soft[i] * self.z[i])
            self.off[s] -= self.sigma[i] * (linear + self._level(i, 0))
            if not fabs(self.off[s]) <= REALLY * self.tolerance[i] * self.t / self.sized:
                return False
        return True

    cdef Code _meets(self) noexcept nogil:
        """Whether the pinned variable that is to come to a tread is there, from the data.

        If it is not quite, its h has gathered round-off, and is corrected.
        """
        cdef Py_ssize_t i = self.who
        cdef double h
        row(&self.G, i, self.N, &self.everyone[0], &self.lately[0])
        h = self.sigma[i] * dot(self.N, &self.lately[0], &self.z[0])
        h += self.q[i] + self.t * (self.r[i] + self.soft[i] * self.z[i])
        h = -h - self._level(i, 1 if self.side else -1)
        self.h[i] += h
        if fabs(h) <= self.there * self.tolerance[i]:
            return GOES_ON
        return AGAIN if fabs(h) <= REALLY * self.tolerance[i] else LEFT

    cdef bint _plain(self) noexcept nogil:
        """Whether the corner where a move ends is plainly to be passed.

        The speed at which it goes on has the same sign: pivots are positive.
        """
        cdef double speed = self._speed(self.who)
        speed += self.slope[self.who, self.stair[self.who] + (1 if self.side else -1)]
        return self._passes(self.who, self.side, speed if self.side else -speed)

    cdef bint _passes(self, Py_ssize_t i, int side, double closing) noexcept nogil:
        """Whether variable i passes its corner at speed, to a wide stair."""
        cdef Py_ssize_t target = self.stair[i] + (1 if side else -1)
        cdef double left = self.value[i, target + 1] - self.value[i, target - 1]
        if not closing > self._noise(i) or (self.stair[i] % 2 == 0 and self.rows_free < 2):
            return False
        left += self.t * (self.slope[i, target + 1] - self.slope[i, target - 1])
        return left > fmax(self.blur[i], self.tolerance[i])

    cdef void _pass(self) noexcept nogil:
        """Variable `who` goes over its corner."""
        cdef Py_ssize_t i = self.who
        cdef double level = self._level(i, 0)
        self.stair[i] += 1 if self.side else -1
        if self.stair[i] % 2 == 0:
            self._enter(i)
        else:
            self.h[i], self.z[i] = level, self._level(i, 0)
            self._leave(i)
        self.fresh, self.passed_at[i] = False, self.places

    # ------------------------------------------------------------------ the loop

    def run(self, double t_end, Py_ssize_t most):
        """Regular events down to t_end, no more than `most`.

        Returns why it has ended, the moves (t0, t1, step, variables, rates, near, weights) and
        the events (moves before it, t, variable, from, to).
        """
        cdef Code code = GOES_ON
        cdef double t
        moves, events = [], []
        self.tied = True  # for all that is known
        while True:
            if len(moves) >= most or self.sized - self.t > NEARBY * self.t:
                return FULL, moves, events
            if self.ns + 1 >= self.cap and self.cap < self.N:
                return FULL, moves, events
            with nogil:
                t = self.t
                code = self._find(t_end, self.tied)
                if code == GOES_ON:
                    code = self._end()
            if code == GOES_ON:
                moves.append(self._made(t))
                self.places += 1
                if not self._plain():
                    return CORNER, moves, events
            elif code != TIED:
                return code, moves, events
            origin = self.stair[self.who]
            self._pass()
            events.append((len(moves), self.t, self.who, origin, self.stair[self.who]))
            self.tied = code == TIED or not self._alone(self.who)

    def _made(self, double before):
        """The move that ends here. What was corrected at its end is part of its rate."""
        live = np.flatnonzero(np.asarray(self.owner)[: self.ns] >= 0)
        index = np.asarray(self.owner)[live]
        bent = np.asarray(self.weight)[: self.k, live].T.copy()
        rate = np.asarray(self.x)[live] / self.step - np.asarray(self.y)[live]
        near = np.asarray(self.near)[: self.k].copy()
        return before, self.t, self.step, index, rate, near, bent
