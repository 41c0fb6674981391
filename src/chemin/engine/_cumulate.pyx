# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Moves added up one after the other: states of a walk, and what `Trace.images` multiplies."""

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


cdef struct Walk:  # the steps of moves from `origin` on, and the pins that variables come to
    const int *index
    const double *rate
    const double *pace
    const Py_ssize_t *pointer
    Py_ssize_t origin, lead
    const Py_ssize_t *move  # so many moves have been made when variable k comes to its pin
    const Py_ssize_t *k
    const double *pin
    Py_ssize_t pins


cdef Py_ssize_t pins_before(const Walk *w, Py_ssize_t move) noexcept nogil:
    """How many pins are come to when fewer than `move` moves have been made."""
    cdef Py_ssize_t low = 0, high = w.pins, middle
    while low < high:
        middle = (low + high) // 2
        if w.move[middle] < move:
            low = middle + 1
        else:
            high = middle
    return low


cdef void leap(double *z, Py_ssize_t first, Py_ssize_t last, const Walk *w) noexcept nogil:
    """z from before move `first` to before move `last`: pins that are come to count exactly."""
    cdef Py_ssize_t j, e, at = pins_before(w, first + 1)
    cdef double pace
    for j in range(first, last):
        pace = w.pace[j - w.origin]
        for e in range(w.pointer[j], w.pointer[j + 1]):
            z[w.index[e]] += pace * w.rate[e - w.lead]
        while at < w.pins and w.move[at] == j + 1:
            z[w.k[at]] = w.pin[at]
            at += 1


cdef Walk walk_of(
    steps, const int[::1] index, const Py_ssize_t[::1] pointer, pins, Py_ssize_t origin
):
    """`steps` are what `Moves.steps` gives from move `origin` on; `pins` the moves made before, the
    variables, and where they stand then, in the order of the walk. The caller holds the arrays.
    """
    cdef:
        Walk walk
        const double[::1] rate = steps[0], pace = steps[1], pin = pins[2]
        const Py_ssize_t[::1] move = pins[0], variable = pins[1]
    walk.rate = &rate[0] if rate.shape[0] else NULL
    walk.pace = &pace[0] if pace.shape[0] else NULL
    walk.index = &index[0] if index.shape[0] else NULL
    walk.pointer, walk.origin, walk.lead = &pointer[0], origin, pointer[origin]
    walk.pins = move.shape[0]
    if walk.pins:
        walk.move, walk.k, walk.pin = &move[0], &variable[0], &pin[0]
    return walk


def replay(
    double[:, ::1] z, const Py_ssize_t[::1] first, const Py_ssize_t[::1] last, steps,
    const int[::1] index, const Py_ssize_t[::1] pointer, pins, Py_ssize_t origin,
):
    """Each row of z from before move first_k to before move last_k, in place.

    Steps are added one after the other, as the walk made them: the walk has corrected its own
    round-off, and no other. A variable that comes to a pin stands at it exactly. See `walk_of`.
    """
    cdef Py_ssize_t k
    cdef Walk walk = walk_of(steps, index, pointer, pins, origin)
    with nogil:
        for k in range(z.shape[0]):
            leap(&z[k, 0], first[k], last[k], &walk)


def replay_each(
    double[:, ::1] z, Py_ssize_t first, Py_ssize_t last, steps, const int[::1] index,
    const Py_ssize_t[::1] pointer, pins,
):
    """Row j of z, the state before move j, for j from first + 1 to last, by `replay` of the one
    before it; `steps` are those of all moves.
    """
    cdef Py_ssize_t j
    cdef Walk walk = walk_of(steps, index, pointer, pins, 0)
    with nogil:
        for j in range(first, last):
            memcpy(&z[j + 1, 0], &z[j, 0], z.shape[1] * sizeof(double))
            leap(&z[j + 1, 0], j, j + 1, &walk)


def replay_some(
    double[:, ::1] z, const Py_ssize_t[::1] first, const Py_ssize_t[::1] last, steps,
    const int[::1] index, const Py_ssize_t[::1] pointer, pins, Py_ssize_t origin,
):
    """Row k of z from before move first_k to before move last_k, in place; where first_k is
    negative, from the row before it. See `replay`.
    """
    cdef Py_ssize_t k
    cdef Walk walk = walk_of(steps, index, pointer, pins, origin)
    with nogil:
        for k in range(z.shape[0]):
            if first[k] >= 0:
                leap(&z[k, 0], first[k], last[k], &walk)
            else:
                memcpy(&z[k, 0], &z[k - 1, 0], z.shape[1] * sizeof(double))
                leap(&z[k, 0], last[k - 1], last[k], &walk)


def still(
    const int[::1] index, const double[::1] rate, const double[::1] length,
    const Py_ssize_t[::1] pointer, const unsigned char[::1] among, double most,
):
    """The moves in which none of the chosen variables changes by more than `most`: nearly always
    the first entry tells that it is not so.
    """
    cdef Py_ssize_t j, e, n = length.shape[0]
    cdef unsigned char[::1] out = np.ones(n, np.uint8)
    with nogil:
        for j in range(n):
            for e in range(pointer[j], pointer[j + 1]):
                if among[index[e]] and fabs(length[j] * rate[e]) > most:
                    out[j] = 0
                    break
    return np.asarray(out).view(bool)


def advance(
    double[:, ::1] z, const Py_ssize_t[::1] rows, const Py_ssize_t[::1] moves,
    const double[::1] pace, const double[::1] rate, const int[::1] index,
    const Py_ssize_t[::1] pointer,
):
    """Some rows of z, each on a move of its own: its entries go as far as pace_k rate."""
    cdef Py_ssize_t k, e
    with nogil:
        for k in range(rows.shape[0]):
            for e in range(pointer[moves[k]], pointer[moves[k] + 1]):
                z[rows[k], index[e]] += pace[k] * rate[e]
