"""Entries of G (`problems.staircase.Bordered`), for the compiled walks."""

from chemin.engine._blas cimport dot

cdef enum:
    SHORT = 16  # rows of Z up to this length are multiplied here: a call of BLAS would cost more


cdef struct Block:
    const double *a  # A_gh; NULL where it is zero
    Py_ssize_t width  # the distance of two rows


cdef struct Entries:
    const Block *blocks  # n_groups times n_groups; the factor Z alone when A is Z Z'
    Py_ssize_t n_groups
    bint factored
    const Py_ssize_t *group
    const Py_ssize_t *p
    const double *sign
    const double *border
    Py_ssize_t n_rows, nb


cdef inline bint has_row(const Entries *g, Py_ssize_t i) noexcept nogil:
    """Whether variable i has a row of A; the others belong to the border."""
    return i < g.n_rows


cdef inline double similarity(const Entries *g, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """A_ij, for variables i and j that have rows."""
    cdef const Block *block = g.blocks
    cdef const double *x
    cdef const double *y
    cdef Py_ssize_t k
    cdef double total = 0.0
    if g.factored:
        x, y = block.a + g.p[i] * block.width, block.a + g.p[j] * block.width
        if block.width > SHORT:
            return dot(block.width, x, y)
        for k in range(block.width):
            total += x[k] * y[k]
        return total
    if g.n_groups > 1:
        block = &g.blocks[g.group[i] * g.n_groups + g.group[j]]
        if block.a == NULL:
            return 0.0
    return block.a[g.p[i] * block.width + g.p[j]]


cdef inline double entry(const Entries *g, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """G_ij."""
    if i < g.n_rows:
        if j < g.n_rows:
            return g.sign[i] * g.sign[j] * similarity(g, i, j)
        return g.border[i * g.nb + j - g.n_rows]
    if j < g.n_rows:
        return g.border[j * g.nb + i - g.n_rows]
    return 0.0


cdef inline void row(
    const Entries *g, Py_ssize_t i, Py_ssize_t count, const Py_ssize_t *columns, double *out
) noexcept nogil:
    """out[s] = G_ij, j = columns[s]."""
    cdef Py_ssize_t s, j
    cdef const double *a
    cdef double sign
    if i >= g.n_rows or g.factored or g.n_groups > 1:
        for s in range(count):
            out[s] = entry(g, i, columns[s])
        return
    a = g.blocks.a + g.p[i] * g.blocks.width
    sign = g.sign[i]
    for s in range(count):
        j = columns[s]
        if j < g.n_rows:
            out[s] = sign * g.sign[j] * a[g.p[j]]
        else:
            out[s] = g.border[i * g.nb + j - g.n_rows]
