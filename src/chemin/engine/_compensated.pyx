# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Sums of products as if in twice the precision, rounded once (Ogita, Rump and Oishi, 2005).

A sum a + b and a product a b of doubles are each two doubles exactly, what is rounded and what the
rounding has lost (Knuth; Dekker and Veltkamp). The lost parts are added up beside the sum. Nothing
here needs a long double or a fused operation; it needs that the compiler fuses and reorders none.

`compensated.py` has the same in NumPy.
"""

import numpy as np

from libc.string cimport memcpy, memset

cdef double SPLIT = 134217729.0  # 2^27 + 1 cuts the 53 bits of a double in halves


cdef inline double upper(double a) noexcept nogil:
    """The upper half of the bits of a; a - upper(a) is the lower one, exactly."""
    cdef double c = SPLIT * a
    cdef double d = c - a
    return c - d


cdef inline void add(double p, double *total, double *lost) noexcept nogil:
    """total += p; what is rounded off goes to `lost`."""
    cdef double s = total[0] + p
    cdef double q = s - total[0]
    cdef double r = s - q
    lost[0] += (total[0] - r) + (p - q)
    total[0] = s


cdef inline void add_product(double a, double b, double *total, double *lost) noexcept nogil:
    """total += a b; what is rounded off goes to `lost`."""
    cdef double p = a * b
    cdef double a_up = upper(a), b_up = upper(b)
    cdef double a_low = a - a_up, b_low = b - b_up
    cdef double e = a_up * b_up - p
    e += a_up * b_low
    e += a_low * b_up
    lost[0] += e + a_low * b_low
    add(p, total, lost)


cdef void residual(
    const double *g, Py_ssize_t ld, Py_ssize_t n, const double *x, const double *b, double *out,
    double *lost,
) noexcept nogil:
    """out = b - G x, G symmetric; `lost` has room for n.

    Row by row of G, which has all of `out` at once: no sum waits for its last term.
    """
    cdef Py_ssize_t s, k
    cdef const double *row
    cdef double minus
    memcpy(out, b, n * sizeof(double))
    memset(lost, 0, n * sizeof(double))
    for k in range(n):
        if x[k] == 0.0:
            continue
        row, minus = g + k * ld, -x[k]
        for s in range(n):
            add_product(row[s], minus, &out[s], &lost[s])
    for s in range(n):
        out[s] += lost[s]


cdef double less_products(
    double start, Py_ssize_t n, const double *x, const double *y
) noexcept nogil:
    """start - x'y."""
    cdef Py_ssize_t k
    cdef double total = start, lost = 0.0
    for k in range(n):
        add_product(-x[k], y[k], &total, &lost)
    return total + lost


def symmetric_residual(const double[:, ::1] G, const double[::1] x, const double[::1] b):
    """b - G x, G symmetric."""
    cdef Py_ssize_t n = len(b)
    cdef double[::1] out = np.empty(n), lost = np.empty(n)
    if n:
        with nogil:
            residual(&G[0, 0], G.shape[1], n, &x[0], &b[0], &out[0], &lost[0])
    return np.asarray(out)
