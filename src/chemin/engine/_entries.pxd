"""Entries of G (`problems.staircase.Bordered`), for the compiled walks."""

from chemin.engine._blas cimport dot

cdef enum:
    SHORT = 16  # rows of Z up to this length are multiplied here: a call of BLAS would cost more


cdef struct Block:
    const double *a  # A_gh; NULL where it is zero
    Py_ssize_t width  # the distance of two rows


cdef struct Sparse:  # the rows of a factor by their entries that are not 0
    const double *data  # NULL: the factor is stored as it is
    const int *column
    const int *begin
    double *spread  # one row, all of its columns; zeros between two uses


cdef struct Entries:
    const Block *blocks  # n_groups times n_groups; the factor Z alone when A is Z Z'
    Sparse sparse  # Z, where few of its entries are not 0
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


cdef inline double dot_dense(const Sparse *z, Py_ssize_t i, const double *x) noexcept nogil:
    """Row i of a sparse factor times a vector."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(z.begin[i], z.begin[i + 1]):
        total += z.data[k] * x[z.column[k]]
    return total


cdef inline void add_dense(
    const Sparse *z, Py_ssize_t i, double factor, double *x
) noexcept nogil:
    """x plus a multiple of row i of a sparse factor."""
    cdef Py_ssize_t k
    for k in range(z.begin[i], z.begin[i + 1]):
        x[z.column[k]] += factor * z.data[k]


cdef inline double dot_sparse(const Sparse *z, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Row i of a sparse factor times row j; columns are in order."""
    cdef Py_ssize_t a = z.begin[i], b = z.begin[j]
    cdef double total = 0.0
    while a < z.begin[i + 1] and b < z.begin[j + 1]:
        if z.column[a] == z.column[b]:
            total += z.data[a] * z.data[b]
            a += 1
            b += 1
        elif z.column[a] < z.column[b]:
            a += 1
        else:
            b += 1
    return total


cdef inline void sparse_row(
    const Entries *g, Py_ssize_t i, Py_ssize_t count, const Py_ssize_t *columns, double *out
) noexcept nogil:
    """`row` of a variable with a row of a sparse factor, which is spread out for it."""
    cdef Py_ssize_t s, j, k
    cdef const Sparse *z = &g.sparse
    add_dense(z, g.p[i], 1.0, z.spread)
    for s in range(count):
        j = columns[s]
        if j < g.n_rows:
            out[s] = g.sign[i] * g.sign[j] * dot_dense(z, g.p[j], z.spread)
        else:
            out[s] = g.border[i * g.nb + j - g.n_rows]
    for k in range(z.begin[g.p[i]], z.begin[g.p[i] + 1]):
        z.spread[z.column[k]] = 0.0


cdef inline double similarity(const Entries *g, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """A_ij, for variables i and j that have rows."""
    cdef const Block *block = g.blocks
    cdef const double *x
    cdef const double *y
    cdef Py_ssize_t k
    cdef double total = 0.0
    if g.sparse.data != NULL:
        return dot_sparse(&g.sparse, g.p[i], g.p[j])
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
    if i < g.n_rows and g.sparse.data != NULL:
        sparse_row(g, i, count, columns, out)
        return
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
