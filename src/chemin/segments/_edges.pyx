# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Maxima of straight lines over [0, 1]: see `Problem.edges`."""

import numpy as np

from libc.math cimport INFINITY, isfinite


cdef Py_ssize_t kinks(
    Py_ssize_t n, const double *first, const double *last, double *place
) noexcept nogil:
    """Where in (0, 1) the largest of n lines changes, in order; how many places there are.

    Lines go from `first` to `last`. Where several meet, the steepest is the largest from there on.
    """
    cdef Py_ssize_t i, top = 0, other, count = 0
    cdef double s, least, steep
    for i in range(1, n):
        if first[i] > first[top] or (first[i] == first[top] and last[i] > last[top]):
            top = i
    while True:
        steep, least, other = last[top] - first[top], 1.0, top
        for i in range(n):
            if last[i] - first[i] > steep:
                s = (first[top] - first[i]) / ((last[i] - first[i]) - steep)
                if s < least or (s == least and last[i] - first[i] > last[other] - first[other]):
                    least, other = s, i
        if other == top or not least < 1.0:
            return count
        top = other
        if least > 0.0:
            place[count] = least
            count += 1


def summed_maxima(terms, double a, double b):
    """The sum of weight times the largest of some lines, for each (weight, lines): the places in
    [0, 1] between which it is straight, and its values there.

    Lines are rows of two values, those at a and at b; rows that are not finite are left out.
    """
    cdef:
        Py_ssize_t i, j, k, count, most = max([len(lines) for _, lines in terms])
        double[:, ::1] first = np.empty((len(terms), most)), last = np.empty((len(terms), most))
        double[::1] place = np.empty(most), at, total
        Py_ssize_t[::1] size = np.zeros(len(terms), np.intp)
        const double[:, :] lines
        double weight, slope, largest
    known = [[0.0, 1.0]]
    for j, (_, lines) in enumerate(terms):
        k = 0
        for i in range(lines.shape[0]):
            if isfinite(lines[i, 0]):
                slope = (lines[i, 1] - lines[i, 0]) / (b - a)
                first[j, k], last[j, k] = lines[i, 0] - a * slope, lines[i, 1] + (1.0 - b) * slope
                k += 1
        size[j] = k
        count = kinks(k, &first[j, 0], &last[j, 0], &place[0])
        known.append(np.array(place[:count]))
    at = np.unique(np.concatenate(known))
    total = np.zeros(at.shape[0])
    for j, (weight, _) in enumerate(terms):
        for k in range(at.shape[0]):
            largest = -INFINITY
            for i in range(size[j]):
                largest = max(largest, first[j, i] * (1.0 - at[k]) + last[j, i] * at[k])
            total[k] += weight * largest
    return np.asarray(at), np.asarray(total)
