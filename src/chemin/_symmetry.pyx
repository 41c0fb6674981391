# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Whether a matrix is finite, and symmetric to its last bit: one reading of it, by tiles."""

cdef enum:
    TILE = 64  # rows and columns that are compared at a time: they stay in the cache


cdef bint differ(
    const double *a, const double *b, Py_ssize_t width, Py_ssize_t rows, Py_ssize_t columns
) noexcept nogil:
    """Whether a tile at `a` differs from the transpose of that at `b`, or is not finite."""
    cdef Py_ssize_t i, j
    cdef int bad = 0
    cdef const double *x
    cdef const double *y
    for j in range(0, columns - 3, 4):
        for i in range(rows):
            # An infinite number less itself is none, and what is none is unequal to 0.
            x, y = a + i * width + j, b + j * width + i
            bad |= (x[0] - y[0] != 0.0) | (x[1] - y[width] != 0.0)
            bad |= (x[2] - y[2 * width] != 0.0) | (x[3] - y[3 * width] != 0.0)
    for j in range(columns & ~3, columns):
        for i in range(rows):
            bad |= a[i * width + j] - b[j * width + i] != 0.0
    return bad != 0


def is_symmetric(const double[:, ::1] K):
    """Whether K_ij = K_ji for all i and j, and all are finite."""
    cdef:
        Py_ssize_t i, j, a, b, n = K.shape[0], tiles = (n + TILE - 1) // TILE
        bint found = False
    with nogil:
        for i in range(tiles):
            for j in range(i + 1):
                a, b = i * TILE, j * TILE
                found = found or differ(
                    &K[a, b], &K[b, a], n, min(n - a, <Py_ssize_t> TILE),
                    min(n - b, <Py_ssize_t> TILE),
                )
            if found:
                break
    return not found
