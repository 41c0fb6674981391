# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""How far the variables that move have come, move after move: what `Trace.images` multiplies."""

import numpy as np

from libc.math cimport fabs
from libc.string cimport memcpy, memset


def cumulated(
    const int[::1] index, const double[::1] rate, const double[::1] pace,
    const Py_ssize_t[::1] pointer, Py_ssize_t[::1] place,
):
    """The variables that move, in the order in which they first do, how far each has come before,
    between and after the moves, and the sum of the sizes of all steps. One column more is 1.

    Move j changes the variables index[e] by pace[j] rate[e - pointer[0]], e from pointer[j] up to
    pointer[j + 1]. `place` has a -1 for each variable, and is given back so.
    """
    cdef:
        Py_ssize_t j, e, k, width, count = 0, n = pointer.shape[0] - 1
        Py_ssize_t first = pointer[0], last = pointer[n]
        Py_ssize_t[::1] moved = np.empty(min(last - first, place.shape[0]), dtype=np.intp)
        double[:, ::1] out
        double *row
        double step, far = 0.0
    with nogil:
        for e in range(first, last):
            if place[index[e]] < 0:
                place[index[e]], moved[count] = count, index[e]
                count += 1
    width = count + 1
    out = np.empty((n + 1, width))
    with nogil:
        row = &out[0, 0]
        memset(row, 0, count * sizeof(double))
        row[count] = 1.0
        for j in range(n):
            memcpy(row + width, row, width * sizeof(double))
            row += width
            for e in range(pointer[j], pointer[j + 1]):
                step = pace[j] * rate[e - first]
                row[place[index[e]]] += step
                far += fabs(step)
        for k in range(count):
            place[moved[k]] = -1
    return np.asarray(moved)[:count], np.asarray(out), far
