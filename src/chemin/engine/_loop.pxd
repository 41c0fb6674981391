"""The loop of the compiled walk."""

from chemin.engine._system cimport Hit
from chemin.engine._working_set cimport WorkingSet


cdef class Loop(WorkingSet):
    cdef:
        bint settling, arriving
        readonly Py_ssize_t n_jumps
        double[::1] jump  # a null vector, by slots
        public Py_ssize_t limit  # moves in a block, at most bcap
        public double nil, doubt, indefinite
        public double longest, tiny_t, look_again
        double far  # |t| where the walk ends, or 0

    cdef int _run(self, double way, double t_end) noexcept nogil
    cdef bint _crowded(self) noexcept nogil
    cdef int _step(self, double way, double t_end) noexcept nogil
    cdef void _first_slot(self, double span, Hit *hit) noexcept nogil
    cdef void _first_row(self, double way, double size, double span, Hit *hit) noexcept nogil
    cdef void _advance(self, double step, double t) noexcept nogil
    cdef void _corners(self, Py_ssize_t first, bint slot) noexcept nogil
    cdef int _settle(self, double way) noexcept nogil
    cdef int _enter(self, Py_ssize_t w, int side, double way, Py_ssize_t slot) noexcept nogil
    cdef int _after_entry(
        self, Py_ssize_t w, Py_ssize_t new, double way, bint frail
    ) noexcept nogil
    cdef int _leave(self, Py_ssize_t s, int side, double way) noexcept nogil
    cdef void _watch_leaver(self, Py_ssize_t s, Py_ssize_t i, int side) noexcept nogil
    cdef int _jump(self, Py_ssize_t w, int side, double way, double size) noexcept nogil
    cdef double _null_vector(self, Py_ssize_t i, int side) noexcept nogil
    cdef bint _moves_rows(self, Py_ssize_t w) noexcept nogil
    cdef bint _first_in_jump(self, Hit *hit) noexcept nogil
    cdef void _seat(self, Py_ssize_t w) noexcept nogil
