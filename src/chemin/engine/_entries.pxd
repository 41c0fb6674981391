"""Entries of G (`problems.staircase.Coupling`), for the compiled walks."""


cdef struct Entries:
    const double *a  # the matrix A, or its factor Z when it is Z Z'
    Py_ssize_t width  # of a row of it
    bint factored
    const Py_ssize_t *p
    const double *sign
    const double *border
    Py_ssize_t n_core, nb


cdef inline double similarity(const Entries *g, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """A_ij."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    if not g.factored:
        return g.a[i * g.width + j]
    for k in range(g.width):
        total += g.a[i * g.width + k] * g.a[j * g.width + k]
    return total


cdef inline double entry(const Entries *g, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """G_ij."""
    if i < g.n_core:
        if j < g.n_core:
            return g.sign[i] * g.sign[j] * similarity(g, g.p[i], g.p[j])
        return g.border[i * g.nb + j - g.n_core]
    if j < g.n_core:
        return g.border[j * g.nb + i - g.n_core]
    return 0.0


cdef inline void row(
    const Entries *g, Py_ssize_t i, Py_ssize_t count, const Py_ssize_t *columns, double *out
) noexcept nogil:
    """out[s] = G_ij, j = columns[s]."""
    cdef Py_ssize_t s, j
    cdef const double *a
    cdef double sign
    if i >= g.n_core or g.factored:
        for s in range(count):
            out[s] = entry(g, i, columns[s])
        return
    a = g.a + g.p[i] * g.width
    sign = g.sign[i]
    for s in range(count):
        j = columns[s]
        if j < g.n_core:
            out[s] = sign * g.sign[j] * a[g.p[j]]
        else:
            out[s] = g.border[i * g.nb + j - g.n_core]
