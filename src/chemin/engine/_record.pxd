"""The moves and events of a block."""

from chemin.engine._factor cimport Factor


cdef class Record(Factor):
    cdef:
        readonly Py_ssize_t n_moves, n_events, bcap  # bcap: moves in a block, at most
        double[:, ::1] DZ, rates  # of each move: z at its end less z at the block's start; z'
        char[:, ::1] mon  # whether a slot was in use
        double[::1] mt0, mt1, mlen
        Py_ssize_t[::1] mns  # slots there were
        double[::1] et
        Py_ssize_t[::1] ev, e_from, e_to, emove

    cdef void _move(self, const double *rate, double step, double t) noexcept nogil
    cdef Py_ssize_t _all_that_moves(self, Py_ssize_t m, int *index, double *rate) noexcept nogil
    cdef Py_ssize_t _slots_that_move(self, Py_ssize_t m, int *index, double *rate) noexcept nogil
    cdef void _event(self, Py_ssize_t i, int side) noexcept nogil
