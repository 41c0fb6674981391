# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The sign of f at many points over straight moves, from f at few of their ends: see `bounded`."""

import numpy as np

from libc.math cimport fabs, fmax, fmin, sqrt
from libc.string cimport memcpy, memset

cdef enum:
    TOGETHER = 32  # points whose columns are gathered row by row


cdef struct Stretch:  # of moves, and one point
    Py_ssize_t first  # row at which it begins
    Py_ssize_t width  # variables that move in it
    const double *moved  # how far they have come, row after row
    const double *column  # what one unit of each adds to g at the point
    const double *level  # g without the point: the intercept, at each row
    const double *away  # how far g may be off its straight line on each part of the stretch
    const double *raised  # how far the intercept is
    double root, begin, least
    const double *u
    # What is found: where, and the side from there on.
    Py_ssize_t count
    double *place
    unsigned char *up
    bint doubt


cdef inline double product(Py_ssize_t n, const double *x, const double *y) noexcept nogil:
    """Four sums at a time, so that none waits for another."""
    cdef Py_ssize_t i = 0
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    while i + 4 <= n:
        a += x[i] * y[i]
        b += x[i + 1] * y[i + 1]
        c += x[i + 2] * y[i + 2]
        d += x[i + 3] * y[i + 3]
        i += 4
    while i < n:
        a += x[i] * y[i]
        i += 1
    return (a + b) + (c + d)


cdef double off_line(
    const double *way, const double *slope, Py_ssize_t count
) noexcept nogil:
    """How far a function with these slopes is off the straight line between its ends, at most."""
    cdef Py_ssize_t j
    cdef double total = 0.0, far = way[count] - way[0], at = 0.0, most = 0.0
    if far <= 0.0:
        return 0.0
    for j in range(count):
        total += (way[j + 1] - way[j]) * slope[j]
    for j in range(count):
        at += (way[j + 1] - way[j]) * (slope[j] - total / far)
        most = fmax(most, fabs(at))
    return most


cdef void fill(
    Py_ssize_t node, Py_ssize_t first, Py_ssize_t last, const double *way, const double *slope,
    const double *jump, const double *level, double *away, double *raised,
) noexcept nogil:
    """The bounds of a part of a stretch, from row `first` to row `last`, and of its halves."""
    cdef Py_ssize_t j, middle
    cdef double far = way[last] - way[first], part, most
    if last - first < 2:
        return
    most = off_line(way + first, slope + first, last - first)
    for j in range(first, last):
        most += jump[j]
    away[node], most = most, 0.0
    for j in range(first + 1, last):
        part = (way[j] - way[first]) / far if far > 0.0 else 0.0
        part = level[j] - level[first] - part * (level[last] - level[first])
        most = fmax(most, fabs(part))
    raised[node], middle = most, (first + last) // 2
    fill(2 * node, first, middle, way, slope, jump, level, away, raised)
    fill(2 * node + 1, middle, last, way, slope, jump, level, away, raised)


def anchors(
    const int[::1] index, const double[::1] rate, const double[::1] length,
    const Py_ssize_t[::1] pointer, const double[::1] t, Py_ssize_t first, Py_ssize_t stride,
    double[::1] z, Py_ssize_t n, const double[::1] pull, const double[::1] root,
    const double[::1] level, const Py_ssize_t[::1] events, double slack,
):
    """z at one row in `stride`, and how far g can be off its straight lines between those rows.

    Rows are the ends of the moves from `first` on; t has one entry a row. z is taken from the first
    row to the last in place. The first n variables are multipliers; level is 0 for them. So many
    events are made where each move ends.

    Returns
    -------
    z at the anchors; level'z at every row; for each stretch between anchors, for its halves, for
    their halves and so on, how large the norm of what is off can be, and how far level'z is off;
    the largest sum of |steps| in a stretch.
    """
    cdef:
        Py_ssize_t count = t.shape[0] - 1, parts = (count + stride - 1) // stride
        Py_ssize_t i, j, k, e, s, made = 0
        bint begun = False
        double[:, ::1] at = np.empty((parts + 1, z.shape[0]))
        double[::1] raised = np.zeros(count + 1), slope = np.zeros(count), jump = np.zeros(count)
        double[::1] way = np.zeros(count + 1)
        double[:, ::1] away = np.zeros((parts, 2 * stride)), off = np.zeros((parts, 2 * stride))
        double far = 0.0, most = 0.0, change, fall = 0.0, b = 0.0, a, steepest = 0.0
        double square, size, last_square = 0.0, last_size = 0.0
    with nogil:
        for i in range(z.shape[0]):
            b += level[i] * z[i]
            steepest = fmax(steepest, fabs(pull[i]))
        raised[0] = b
        for j in range(count):
            k = first + j
            if j % stride == 0:
                at[j // stride, :] = z
                far, fall, begun = 0.0, 0.0, False
            square, size, a = 0.0, 0.0, length[k]
            for e in range(pointer[k], pointer[k + 1]):
                i = index[e]
                z[i] += a * rate[e]
                square += rate[e] * pull[i]
                size += fabs(rate[e])
                if i >= n:
                    b += level[i] * a * rate[e]
            raised[j + 1], way[j + 1], far = b, way[j], far + a * size
            most = fmax(most, far)
            if t[j] == t[j + 1]:
                for e in range(pointer[k], pointer[k + 1]):
                    jump[j] += fabs(a * rate[e]) * root[index[e]]
                made += events[k]
                continue
            way[j + 1], size = way[j] + a, steepest * size
            if begun:
                # After one event one set of what moves holds the other, and the rate of the fewer
                # is the projection of the other's.
                change = fabs(square - last_square)
                if made > 1:
                    change = sqrt(fmax(square, 0.0)) + sqrt(fmax(last_square, 0.0))
                    change *= change
                fall += sqrt(change + slack * (size + last_size))
            slope[j], begun, last_square, last_size, made = fall, True, square, size, events[k]
        at[parts, :] = z
        for s in range(parts):
            j = s * stride
            fill(
                1, 0, min(stride, count - j), &way[j], &slope[j], &jump[j], &raised[j],
                &away[s, 0], &off[s, 0],
            )
    return np.asarray(at), np.asarray(raised), np.asarray(away), np.asarray(off), float(most)


cdef void look(
    Stretch *s, Py_ssize_t node, Py_ssize_t first, Py_ssize_t last, double left, double right
) noexcept nogil:
    """Where g changes its sign between two rows of a stretch, with values left and right."""
    cdef Py_ssize_t middle
    cdef double g, f0, f1
    if s.doubt:
        return
    if last - first == 1:
        if (left > 0.0) != (right > 0.0):
            f0, f1 = left * s.u[first], right * s.u[last]
            s.place[s.count] = s.u[first] + f0 / (f0 - f1) * (s.u[last] - s.u[first])
            s.up[s.count] = right > 0.0
            s.count += 1
        return
    if (left > 0.0) == (right > 0.0):
        g = s.away[node] * s.root + s.raised[node] + s.least
        if fmin(fabs(left), fabs(right)) > g:
            return
    middle = (first + last) // 2
    g = product(s.width, s.moved + (middle - s.first) * s.width, s.column)
    g += s.begin + (s.level[middle] - s.level[s.first])
    if not fabs(g) > s.least:
        s.doubt = True
        return
    look(s, 2 * node, first, middle, left, g)
    look(s, 2 * node + 1, middle, last, g, right)


cdef Py_ssize_t cumulate(
    const int *index, const double *rate, const double *length, const Py_ssize_t *pointer,
    Py_ssize_t count, const double[::1] factor, Py_ssize_t *place, Py_ssize_t *names, double *out,
) noexcept nogil:
    """How far the multipliers that move have come, times their factors, row after row; how many
    they are. `place` has a -1 for each, and is given back so.
    """
    cdef Py_ssize_t j, k, e, width = 0, n = factor.shape[0]
    cdef double *row
    for e in range(pointer[0], pointer[count]):
        if index[e] < n and place[index[e]] < 0:
            place[index[e]], names[width] = width, index[e]
            width += 1
    memset(out, 0, width * sizeof(double))
    for j in range(count):
        row = out + (j + 1) * width
        memcpy(row, row - width, width * sizeof(double))
        for e in range(pointer[j], pointer[j + 1]):
            if index[e] < n:
                row[place[index[e]]] += length[j] * rate[e] * factor[index[e]]
    for k in range(width):
        place[names[k]] = -1
    return width


def changes(
    const double[:, ::1] g, const double[:, :] cross, const double[::1] factor,
    const int[::1] index, const double[::1] rate, const double[::1] length,
    const Py_ssize_t[::1] pointer, const double[::1] u, Py_ssize_t first, Py_ssize_t stride,
    const double[::1] level, const double[:, ::1] away, const double[:, ::1] raised,
    const double[::1] root, double least,
):
    """Where g changes its sign at the points (their numbers, the places, the sides from there on),
    from g at the anchors and what `anchors` has found; None where |g| is not above `least`.
    """
    cdef:
        Py_ssize_t count = u.shape[0] - 1, parts = g.shape[0] - 1, m = g.shape[1]
        Py_ssize_t n = cross.shape[0], s, i, j, k, e, begin, end, width, some, last, done
        double[::1] columns = np.empty(TOGETHER * n), bound = np.empty(m)
        double[::1] moved = np.empty((stride + 1) * n)
        Py_ssize_t[::1] doubtful = np.empty(m, np.intp), names = np.empty(n, np.intp)
        Py_ssize_t[::1] place = np.full(n, -1, np.intp), point
        double[::1] at
        unsigned char[::1] up
        Stretch now
        double left, right
        bint doubt = False
    now.level, now.u, now.least, now.moved = &level[0], &u[0], least, &moved[0]
    lists = [(np.empty(0, np.intp), np.empty(0), np.empty(0, bool))]
    for s in range(parts):
        begin, end, some = s * stride, min((s + 1) * stride, count), 0
        with nogil:
            for i in range(m):
                left, right = g[s, i], g[s + 1, i]
                doubt |= not (fmin(fabs(left), fabs(right)) > least)
                bound[i] = fmin(left, right) if left > 0.0 else -fmax(left, right)
            left, right = away[s, 1], raised[s, 1] + least
            for i in range(m):
                doubtful[some] = i
                some += not (bound[i] > left * root[i] + right)
        if doubt:
            return None
        if some == 0:
            continue
        point = np.empty(some * (end - begin), np.intp)
        at, up = np.empty(len(point)), np.empty(len(point), np.uint8)
        with nogil:
            width = cumulate(
                &index[0], &rate[0], &length[first + begin], &pointer[first + begin], end - begin,
                factor, &place[0], &names[0], &moved[0],
            )
            now.first, now.width, now.count, now.doubt = begin, width, 0, False
            now.away, now.raised = &away[s, 0], &raised[s, 0]
            now.place, now.up = &at[0], &up[0]
            done = 0
            while done < some and not now.doubt:
                last = min(done + TOGETHER, some)
                for k in range(width):
                    for j in range(done, last):
                        columns[(j - done) * width + k] = cross[names[k], doubtful[j]]
                for j in range(done, last):
                    i, k = doubtful[j], now.count
                    now.column, now.root, now.begin = &columns[(j - done) * width], root[i], g[s, i]
                    look(&now, 1, begin, end, g[s, i], g[s + 1, i])
                    for e in range(k, now.count):
                        point[e] = i
                done = last
        if now.doubt:
            return None
        if now.count:
            found = np.asarray(point), np.asarray(at), np.asarray(up).view(bool)
            lists.append(tuple(part[: now.count].copy() for part in found))
    return tuple(np.concatenate(part) for part in zip(*lists))
