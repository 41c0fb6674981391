# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""What a block of the compiled walk did: its moves, by slots, and its events."""

import numpy as np

from libc.string cimport memcpy, memset


cdef packed struct Event:  # as in `trace.EVENT`
    double t
    long long variable
    short origin
    short target
    long long move


cdef class Record(Factor):
    """Moves and events of a block, beside the slots that they belong to."""

    def __init__(self, system, Py_ssize_t block):
        cdef double[:, ::1] x
        cdef Py_ssize_t[:, ::1] k
        super().__init__(system, block)
        self.bcap = block
        x, k = np.zeros((4, self.ucap)), np.zeros((5, self.ucap), dtype=np.intp)
        self.mt0, self.mt1, self.mlen, self.et = x[0], x[1], x[2], x[3]
        self.mns, self.ev, self.e_from, self.e_to, self.emove = k[0], k[1], k[2], k[3], k[4]

    def reserve(self, Py_ssize_t cap):
        if not super().reserve(cap):
            return False
        self.DZ, self.rates = self.room[: self.bcap], self.room[self.bcap : 2 * self.bcap]
        self.mon = np.empty((self.bcap, self.cap), dtype=np.int8)
        return True

    cdef void _move(self, const double *rate, double step, double t) noexcept nogil:
        """z moves along `rate` for this step; t is where it ends. Slots in use are noted."""
        cdef:
            Py_ssize_t s, ns = self.ns, m = self.n_moves
            char *on = &self.mon[m, 0]
            const Py_ssize_t *slot_var = &self.slot_var[0]
            const double *z0 = &self.z0[0]
            double *zs = &self.zs[0]
            double *dz = &self.DZ[m, 0]
        self.mt0[m], self.mt1[m], self.mlen[m], self.mns[m] = self.t, t, step, ns
        memcpy(&self.rates[m, 0], rate, ns * sizeof(double))
        for s in range(ns):
            on[s] = slot_var[s] >= 0
        for s in range(ns):
            zs[s] += step * rate[s]
        for s in range(ns):
            dz[s] = zs[s] - z0[s]
        memset(dz + ns, 0, (self._most_slots() - ns) * sizeof(double))
        self.t = t
        self.n_moves += 1

    cdef void _event(self, Py_ssize_t i, int side) noexcept nogil:
        """Variable i goes to its next stair."""
        cdef Py_ssize_t e = self.n_events
        self.et[e], self.ev[e], self.emove[e] = self.t, i, self.n_moves
        self.e_from[e] = self.stair[i]
        self.stair[i] += side
        self.e_to[e] = self.stair[i]
        self.n_events += 1

    cdef Py_ssize_t _all_that_moves(self, Py_ssize_t m, int *index, double *rate) noexcept nogil:
        """The variables that move m changes, those on their pins too; returns how many."""
        cdef Py_ssize_t i, s, count = 0
        cdef double way = 0.0 if self.mt1[m] == self.mt0[m] else self.way
        for i in range(self.N):
            self.pushed[i] = way * self.pin_speed[i]
        for s in range(self.mns[m]):
            self.pushed[self.owner[s]] += self.rates[m, s]
        for i in range(self.N):
            if self.pushed[i] != 0.0:
                index[count], rate[count] = <int> i, self.pushed[i]
                count += 1
        return count

    cdef Py_ssize_t _slots_that_move(self, Py_ssize_t m, int *index, double *rate) noexcept nogil:
        """The same where pins stand still."""
        cdef:
            Py_ssize_t s, count = 0
            const char *on = &self.mon[m, 0]
            const Py_ssize_t *owner = &self.owner[0]
            const double *rates = &self.rates[m, 0]
        for s in range(self.mns[m]):
            index[count], rate[count] = <int> owner[s], rates[s]
            count += on[s]
        return count

    def most_entries(self):
        """Of all moves of the block, at the most."""
        cdef Py_ssize_t m, total = 0
        for m in range(self.n_moves):
            total += self.N if self.pins_move else self.mns[m]
        return total

    def record(self, int[::1] index, double[::1] rate, Py_ssize_t at, Event[::1] events):
        """The block's moves: t0, t1, length and number of entries.

        Variables and rates of the moves are written to `index` and `rate`, from `at` on, and events
        to `events`, as many as it has room for; they count their moves from the block's first.
        """
        cdef:
            Py_ssize_t m, e, first
            Py_ssize_t[::1] size = np.empty(self.n_moves, dtype=np.intp)
        with nogil:
            for m in range(self.n_moves):
                first = at
                if self.pins_move:
                    at += self._all_that_moves(m, &index[at], &rate[at])
                else:
                    at += self._slots_that_move(m, &index[at], &rate[at])
                size[m] = at - first
            for e in range(min(self.n_events, events.shape[0])):
                events[e] = Event(
                    self.et[e], self.ev[e], <short> self.e_from[e], <short> self.e_to[e],
                    self.emove[e],
                )
        return (
            [self.mt0[m] for m in range(self.n_moves)], [self.mt1[m] for m in range(self.n_moves)],
            [self.mlen[m] for m in range(self.n_moves)], [size[m] for m in range(self.n_moves)],
        )
