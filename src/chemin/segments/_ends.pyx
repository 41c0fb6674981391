# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""What the ends of straight segments tell, with one reading of f."""

import numpy as np

from libc.math cimport INFINITY, fabs


cdef const double[:, :] by_rows(const double[:, :] f):
    """The same array with entries of a row side by side."""
    return f if f.strides[1] == sizeof(double) else np.ascontiguousarray(f)


cdef inline double smaller(double a, double b) noexcept nogil:
    return a if a < b else b


def least_size(const double[:, :] f):
    """The smallest |f|; infinity where there is none."""
    cdef:
        Py_ssize_t j, i, m = f.shape[1]
        double a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY
        const double *x
    if f.size == 0:
        return INFINITY
    f = by_rows(f)
    with nogil:
        for j in range(f.shape[0]):
            x, i = &f[j, 0], 0
            while i + 4 <= m:  # four chains, so that none waits for another
                a, b = smaller(fabs(x[i]), a), smaller(fabs(x[i + 1]), b)
                c, d = smaller(fabs(x[i + 2]), c), smaller(fabs(x[i + 3]), d)
                i += 4
            while i < m:
                a = smaller(fabs(x[i]), a)
                i += 1
    return smaller(smaller(a, b), smaller(c, d))


def positive(const double[:, :] f0, const double[:, :] f1):
    """Whether f > 0 at both ends of every segment, where the two differ (numbers of entries, row
    after row), and whether f = 0 at any first end.
    """
    cdef:
        Py_ssize_t j, i, k, n = f0.shape[0], m = f0.shape[1], count = 0
        Py_ssize_t differ
        bint zero = False
        int none
        const double *x
        const double *y
        unsigned char[:, ::1] first = np.empty((n, m), np.uint8)
        unsigned char[:, ::1] last = np.empty((n, m), np.uint8)
        unsigned char *a
        unsigned char *b
        Py_ssize_t[::1] differs = np.zeros(n, np.intp)
        Py_ssize_t[::1] found
    if n and m:
        f0, f1 = by_rows(f0), by_rows(f1)
        with nogil:
            for j in range(n):
                x, y, a, b = &f0[j, 0], &f1[j, 0], &first[j, 0], &last[j, 0]
                differ, none = 0, 0
                for i in range(m):
                    a[i] = x[i] > 0.0
                for i in range(m):
                    b[i] = y[i] > 0.0
                for i in range(m):
                    none |= x[i] == 0.0
                for i in range(m):
                    differ += a[i] ^ b[i]
                differs[j], zero = differ, zero or none
                count += differ
    found, k = np.empty(count, np.intp), 0
    with nogil:
        for j in range(n):
            if differs[j] == 0:
                continue
            for i in range(m):
                if first[j, i] != last[j, i]:
                    found[k] = j * m + i
                    k += 1
    return np.asarray(first).view(bool), np.asarray(last).view(bool), np.asarray(found), bool(zero)


def positive_rows(const double[:, :] f):
    """Whether each f > 0, and the smallest |f| of every row: with one reading."""
    cdef:
        Py_ssize_t j, i, n = f.shape[0], m = f.shape[1]
        double a, b, c, d
        const double *x
        unsigned char[:, ::1] up = np.empty((n, m), np.uint8)
        unsigned char *to
        double[::1] least = np.full(n, INFINITY)
    if n and m:
        f = by_rows(f)
        with nogil:
            for j in range(n):
                x, to, i = &f[j, 0], &up[j, 0], 0
                a = b = c = d = INFINITY
                while i + 4 <= m:
                    a, b = smaller(fabs(x[i]), a), smaller(fabs(x[i + 1]), b)
                    c, d = smaller(fabs(x[i + 2]), c), smaller(fabs(x[i + 3]), d)
                    i += 4
                while i < m:
                    a = smaller(fabs(x[i]), a)
                    i += 1
                for i in range(m):
                    to[i] = x[i] > 0.0
                least[j] = smaller(smaller(a, b), smaller(c, d))
    return np.asarray(up).view(bool), np.asarray(least)
