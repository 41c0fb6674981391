# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Rows and columns of a matrix, gathered with one reading of it."""

import numpy as np

from libc.string cimport memcpy


cdef void look(const double *x, Py_ssize_t n, double *least, double *most) noexcept nogil:
    """Widen [least, most] to hold n numbers: four chains, so that none waits for another."""
    cdef Py_ssize_t k, i = 0
    cdef double low[4]
    cdef double high[4]
    for k in range(4):
        low[k], high[k] = least[0], most[0]
    while i + 4 <= n:
        for k in range(4):
            low[k] = x[i + k] if x[i + k] < low[k] else low[k]
            high[k] = x[i + k] if x[i + k] > high[k] else high[k]
        i += 4
    while i < n:
        low[0] = x[i] if x[i] < low[0] else low[0]
        high[0] = x[i] if x[i] > high[0] else high[0]
        i += 1
    for k in range(4):
        least[0] = low[k] if low[k] < least[0] else least[0]
        most[0] = high[k] if high[k] > most[0] else most[0]


def gathered(const double[:, ::1] K, const Py_ssize_t[::1] rows, const Py_ssize_t[::1] columns):
    """K[rows][:, columns], and its smallest and its largest entry.

    Rows of folds are mostly runs of neighbours, which are copied whole.
    """
    cdef:
        Py_ssize_t i, k, n = rows.shape[0], m = columns.shape[0]
        double least = 0.0, most = 0.0
        double[:, ::1] out = np.empty((n, m))
        Py_ssize_t[::1] begin, size
        double *to
        const double *row
    array = np.asarray(columns)
    starts = np.flatnonzero(np.diff(array, prepend=-2) != 1)
    begin, size = array[starts], np.diff(starts, append=m)
    if n and m:
        for index, length in ((np.asarray(rows), K.shape[0]), (array, K.shape[1])):
            if index.min() < 0 or index.max() >= length:
                raise IndexError(f"an index lies outside the {length} of the matrix")
        least = most = K[rows[0], columns[0]]
    with nogil:
        for i in range(n):
            row, to = &K[rows[i], 0], &out[i, 0]
            for k in range(begin.shape[0]):
                memcpy(to, row + begin[k], size[k] * sizeof(double))
                to += size[k]
            look(&out[i, 0], m, &least, &most)
    return np.asarray(out), least, most


def extremes(const double[:, ::1] K):
    """The smallest and the largest entry."""
    cdef Py_ssize_t i
    cdef double least = 0.0, most = 0.0
    if K.shape[0] and K.shape[1]:
        least = most = K[0, 0]
        with nogil:
            for i in range(K.shape[0]):
                look(&K[i, 0], K.shape[1], &least, &most)
    return least, most


def mirror(double[:, :] K):
    """Make a square matrix symmetric, in place: what lies below the diagonal is copied above it.

    By tiles of 32 rows and columns: they stay in the cache.
    """
    cdef Py_ssize_t i, j, a, b, end, last, n = K.shape[0]
    with nogil:
        for a in range(0, n, 32):
            end = a + 32 if a + 32 < n else n
            for b in range(0, a + 1, 32):
                for i in range(a, end):
                    last = b + 32 if b + 32 < i else i
                    for j in range(b, last):
                        K[j, i] = K[i, j]
