"""The loop of the compiled walk."""

from chemin.engine._system cimport Hit
from chemin.engine._working_set cimport Direction, WorkingSet


cdef enum:  # how a block ends
    C_GOES_ON = -1
    C_FULL = 0
    C_ARRIVED = 1
    C_SINGULAR = 2
    C_RAY = 3
    C_INDEFINITE = 4
    C_BLIND = 5  # a jump meets nothing that is watched


cdef class Loop(WorkingSet):
    cdef:
        bint settling, arriving
        bint straight  # z' has been refined since the slots changed
        readonly Py_ssize_t n_jumps
        double[::1] jump  # a null vector, by slots
        # the block's start: z, z', b and bounds of slots, their variables; offsets; stairs, slots
        object kept_numbers
        double[:, ::1] kept_slots, kept_offsets
        Py_ssize_t[:, ::1] kept_owners, kept_stairs
        public Py_ssize_t limit  # moves in a block, at most bcap
        public double singular, doubt, doubt_refined, indefinite, creeping, hard
        public double longest, tiny_t, look_again, closed
        bint to_zero  # t goes to 0, and tolerances stand still on the way

    cdef void _exchange(self, bint keep) noexcept nogil
    cdef int _run(self, double way, double t_end) noexcept nogil
    cdef bint _crowded(self) noexcept nogil
    cdef int _step(self, double way, double t_end, double nearest) noexcept nogil
    cdef void _first_slot(self, const Direction *d, Hit *hit) noexcept nogil
    cdef void _meet_slots(
        self, const Direction *d, Py_ssize_t first, Py_ssize_t last, Hit *hit
    ) noexcept nogil
    cdef void _first_row(self, const Direction *d, Hit *hit) noexcept nogil
    cdef void _meet_rows(
        self, const Direction *d, Py_ssize_t first, Py_ssize_t last, Hit *hit
    ) noexcept nogil
    cdef bint _stays(
        self, Py_ssize_t w, double speed, double gap, double end, double slope
    ) noexcept nogil
    cdef void _advance(self, double step, double t) noexcept nogil
    cdef void _corners(self, Py_ssize_t first, bint slot, int side) noexcept nogil
    cdef int _settle(self, double way) noexcept nogil
    cdef bint _creeps(self, const Direction *d, const Hit *hit) noexcept nogil
    cdef double _hardest(self) noexcept nogil
    cdef void _straighten(self, double way, bint slot) noexcept nogil
    cdef int _enter(self, Py_ssize_t w, int side, double way) noexcept nogil
    cdef int _leave(self, Py_ssize_t s, int side, double way) noexcept nogil
    cdef bint _weigh_entry(
        self, Py_ssize_t w, double *schur, double *size, bint *doubtful
    ) noexcept nogil
    cdef bint _weigh_leaving(
        self, Py_ssize_t s, double *inverse, double *unit, double *size, bint *doubtful
    ) noexcept nogil
    cdef double _doubt(self) noexcept nogil
    cdef int _go_on(self, double way, bint frail) noexcept nogil
    cdef void _row_of(self, Py_ssize_t w) noexcept nogil
    cdef void _occupy(self, Py_ssize_t w, int side, double way) noexcept nogil
    cdef void _vacate(self, Py_ssize_t s, int side) noexcept nogil
    cdef void _coast(self, Py_ssize_t s, Py_ssize_t i) noexcept nogil
    cdef double _pin_rate(self, Py_ssize_t i) noexcept nogil
    cdef void _watch_leaver(self, Py_ssize_t s, Py_ssize_t i, int side) noexcept nogil
    cdef int _enter_by_jump(
        self, Py_ssize_t w, int side, double way, double schur
    ) noexcept nogil
    cdef int _leave_by_jump(
        self, Py_ssize_t s, int side, double way, double inverse
    ) noexcept nogil
    cdef void _balance(self, double pivot) noexcept nogil
    cdef bint _jump(self, double sign, Hit *hit) noexcept nogil
    cdef void _together(
        self, const Hit *hit, double way, double p, double first
    ) noexcept nogil
