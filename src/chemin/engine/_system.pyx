# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""A staircase system as the compiled walks read it: M, r and the table of stairs, never a loss.

Products with M are made in two halves. A *flow* is A S x, one entry for each row of the arrays of
each group; then M x is the flow with signs, at the row of each variable, and the border.
"""

import numpy as np

from libc.math cimport fabs
from libc.string cimport memset

from chemin.engine._blas cimport gemm_t, gemv_t
from chemin.engine._entries cimport Block, Entries, Sparse, add_dense, dot_dense, has_row
from chemin.engine._vector cimport (
    chemin_add_rows, chemin_add_rows_and_sizes, chemin_add_rows_twice,
)

cdef enum:
    TOGETHER = 129  # flows computed by one reading of the rows: a block of moves, and a direction
    ROWS = 8  # rows of A that are read together
    STRIP = 2048  # columns that are summed up at a time: what is written stays in the cache


cdef struct Bunch:  # rows of A that are read together, and their slots; missing ones count nothing
    const double *a[ROWS]
    Py_ssize_t slot[ROWS]
    double sign[ROWS]
    Py_ssize_t count


cdef inline bint weigh(const Bunch *rows, const double *x, double *w) noexcept nogil:
    """w = the rows' signs times their entries of x; whether any is not 0."""
    cdef Py_ssize_t c
    cdef bint some = False
    for c in range(ROWS):
        w[c] = rows.sign[c] * x[rows.slot[c]] if c < rows.count else 0.0
        some = some or w[c] != 0.0
    return some


cdef void _add(
    Bunch *rows, const Bunch *coming, Py_ssize_t length, Py_ssize_t count, const double **x,
    Py_ssize_t at, double **out, bint sizes,
) noexcept nogil:
    """Some rows times their entries of each x, to a strip of each out; two x at a time.

    `coming`: the rows that come next, if they are as many.
    """
    cdef Py_ssize_t k, c, waiting = -1
    cdef double w[ROWS]
    cdef double v[ROWS]
    cdef const double **ahead = <const double **> coming.a if coming.count == ROWS else NULL
    for c in range(rows.count, ROWS):
        rows.a[c] = rows.a[0]
    if sizes:
        weigh(rows, x[0], w)
        for c in range(ROWS):
            v[c] = fabs(w[c])
        chemin_add_rows_and_sizes(length, rows.a, ahead, w, v, out[0] + at, out[1] + at)
        return
    for k in range(count):
        if waiting < 0:
            waiting = k if weigh(rows, x[k], w) else -1
        elif weigh(rows, x[k], v):
            chemin_add_rows_twice(length, rows.a, ahead, w, v, out[waiting] + at, out[k] + at)
            waiting, ahead = -1, NULL
    if waiting >= 0:
        chemin_add_rows(length, rows.a, ahead, w, out[waiting] + at)


cdef class System:
    """The base of the compiled walks; see the module's text."""

    def __init__(self, system):
        self.system, coupling = system, system.coupling
        self.N, self.n_rows = len(system), coupling.n_rows
        self.nb = self.N - self.n_rows
        # Names of arrays, not the views that are kept: to read those as arrays takes long.
        sign = np.ascontiguousarray(coupling.sign, dtype=np.float64)
        sigma = np.ascontiguousarray(coupling.sigma, dtype=np.float64)
        border = np.ascontiguousarray(coupling.border, dtype=np.float64)
        self.sign, self.sigma, self.border = sign, sigma, border
        sigma = sigma[: self.n_rows]
        self.signs = sigma * sign
        self.edges = np.ascontiguousarray((border * sigma[:, None]).T)
        self.root = np.ascontiguousarray(coupling.root)
        self.semidefinite, self.skew = coupling.semidefinite, coupling.skew
        self.r = r = np.array(system.r, dtype=np.float64)
        self.r_size = np.abs(r)
        self.value = np.ascontiguousarray(system.stairs.value)
        self.slope = np.ascontiguousarray(system.stairs.slope)
        self.pins_move = system.stairs.moving_pins
        self.span = span = system.stairs.span()
        self.box = np.minimum(1.0, span)
        self._read(coupling.layout)

    def _read(self, layout):
        """The arrays of the coupling, and where each variable has its row."""
        cdef Py_ssize_t g, h, n = len(layout.counts)
        cdef const double[:, :] a
        cdef Sparse sparse = Sparse(NULL, NULL, NULL, NULL)
        if n > MOST_GROUPS:
            raise ValueError(f"a coupling has at most {MOST_GROUPS} groups, got {n}")
        p = np.ascontiguousarray(layout.index, dtype=np.intp)
        group = np.ascontiguousarray(layout.group, dtype=np.intp)
        self.p, self.group = p, group
        Z = layout.sparse
        self.rank = 0 if Z is None else Z.shape[1]
        if Z is not None:
            self.z_data, self.z_column = Z.data, np.asarray(Z.indices, dtype=np.intc)
            self.z_begin, self.z_spread = np.asarray(Z.indptr, dtype=np.intc), np.zeros(self.rank)
            sparse = Sparse(
                &self.z_data[0], &self.z_column[0], &self.z_begin[0], &self.z_spread[0]
            )
        self.arrays = [
            [None if view is None else np.asarray(view, dtype=np.float64) for view in views]
            for views in layout.blocks
        ]
        for g in range(n):
            self.offset[g + 1] = self.offset[g] + layout.counts[g]
            for h in range(n):
                self.blocks[g * n + h] = Block(NULL, 0)
                if self.arrays[g][h] is not None:
                    a = self.arrays[g][h]
                    if a.strides[1] != sizeof(double):
                        raise ValueError("the rows of a coupling's arrays must be contiguous")
                    self.blocks[g * n + h] = Block(&a[0, 0], a.strides[0] // sizeof(double))
        if layout.factored and Z is None:
            self.rank = self.arrays[0][0].shape[1]
        self.bundle = np.zeros((TOGETHER, self.rank))
        self.n_flow = self.offset[n]
        offset = np.array([self.offset[g] for g in range(n)], dtype=np.intp)
        self.place = place = offset[group] + p
        self.plain = np.array_equal(place, np.arange(self.n_flow))
        self.G = Entries(
            &self.blocks[0], sparse, n, self.rank > 0, &self.group[0], &self.p[0], &self.sign[0],
            &self.border[0, 0], self.n_rows, self.nb,
        )

    cdef void _spread(
        self, Py_ssize_t ns, const Py_ssize_t *owner, Py_ssize_t count, const double **x,
        double **out,
    ) noexcept nogil:
        """out_k = A S x_k for `count` vectors x_k by slots, with one reading of the rows of A.

        With A = Z Z' the rows are those of Z, and what they add up to is multiplied by Z; for those
        out_k that lie one after another by one product.
        """
        cdef:
            Py_ssize_t k, g, together = 1
            double *bundles[TOGETHER]
        if not self.rank:
            for g in range(self.G.n_groups):
                self._sum_rows(g, self.offset[g], ns, owner, count, x, out, False)
            return
        for k in range(count):
            bundles[k] = &self.bundle[k, 0]
        self._sum_rows(0, 0, ns, owner, count, x, bundles, False)
        if self.G.sparse.data != NULL:
            for k in range(count):
                for g in range(self.n_flow):
                    out[k][g] = dot_dense(&self.G.sparse, g, bundles[k])
            return
        while together < count and out[together] == out[0] + together * self.n_flow:
            together += 1
        if together == 1:
            together = 0
        gemm_t(
            bundles[0], self.rank, together, self.blocks[0].a, self.rank, self.n_flow, self.rank,
            out[0], self.n_flow,
        )
        for k in range(together, count):
            gemv_t(
                self.blocks[0].a, self.rank, self.n_flow, self.rank, 1.0, bundles[k], 0.0, out[k],
            )

    cdef void _sum_rows(
        self, Py_ssize_t g, Py_ssize_t first, Py_ssize_t ns, const Py_ssize_t *owner,
        Py_ssize_t count, const double **x, double **out, bint sizes,
    ) noexcept nogil:
        """The part of `_spread` that belongs to group g, from out_k[first] on.

        ROWS rows at a time, in strips. `sizes`: there are two vectors, both the same, and the
        second takes |A| |S| instead.
        """
        cdef:
            Py_ssize_t s, i, k, c, strip, at, length, _turn, n_groups = self.G.n_groups
            Py_ssize_t n = self.rank if self.rank else self.offset[g + 1] - self.offset[g]
            const Block *block
            Bunch first_rows, other_rows
            Bunch *rows = &first_rows
            Bunch *coming = &other_rows
        for k in range(count):
            memset(out[k] + first, 0, n * sizeof(double))
        if self.G.sparse.data != NULL:
            for s in range(ns):
                i = owner[s]
                for k in range(count if has_row(&self.G, i) else 0):
                    if x[k][s] != 0.0:
                        add_dense(&self.G.sparse, self.p[i], self.sign[i] * x[k][s], out[k])
            return
        for strip in range((n + STRIP - 1) // STRIP):
            at = strip * STRIP
            length, rows.count, coming.count = min(n - at, <Py_ssize_t> STRIP), 0, 0
            for s in range(ns):
                i = owner[s]
                if not has_row(&self.G, i):
                    continue
                block = &self.blocks[self.group[i] * n_groups + g]
                if block.a == NULL:
                    continue
                if coming.count == ROWS:
                    if rows.count:
                        _add(rows, coming, length, count, x, first + at, out, sizes)
                    rows, coming = coming, rows
                    coming.count = 0
                c = coming.count
                coming.a[c], coming.slot[c] = block.a + self.p[i] * block.width + at, s
                coming.sign[c] = self.sign[i]
                coming.count += 1
            for _turn in range(2):
                if rows.count:
                    _add(rows, coming, length, count, x, first + at, out, sizes)
                rows, coming = coming, rows
                coming.count = 0

    cdef void _pushed(
        self, Py_ssize_t ns, const Py_ssize_t *owner, const double *flow, const double *x,
        double *out,
    ) noexcept nogil:
        """out = M x for every variable, from flow = A S x, x by slots."""
        cdef Py_ssize_t s, i, e, n = self.n_rows
        for i in range(n):
            out[i] = self.signs[i] * flow[self.place[i]]
        for e in range(self.nb):
            out[n + e] = 0.0
        for s in range(ns):
            i = owner[s]
            if x[s] == 0.0:
                continue
            if has_row(&self.G, i):
                for e in range(self.nb):
                    out[n + e] += self.sigma[n + e] * self.border[i, e] * x[s]
            else:
                for e in range(n):
                    out[e] += self.edges[i - n, e] * x[s]
