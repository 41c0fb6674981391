"""The watched pinned variables, and those at corners."""

from chemin.engine._record cimport Record
from chemin.engine._system cimport Hit


cdef struct Direction:  # z' of the slots, h' of the rows, t': 0 in a jump
    const double *z
    const double *h
    double t
    # speeds that are zero: of a slot below max(still_z, blur / span), of a row below
    # still_h + part_h (root size + the size of r) + tol / span
    double still_z, still_h, part_h, size, span


cdef inline double noise_z(const Direction *d, double blur) noexcept nogil:
    """Below this the z of a slot does not move."""
    return max(d.still_z, blur / d.span)


cdef class WorkingSet(Record):
    cdef:
        # rows: the watched pinned variables
        readonly Py_ssize_t nw, wcap, width
        Py_ssize_t[::1] w_var
        char[::1] w_on
        # of each row: the stairs below and above, infinite once its variable has left its pin; and
        # what belongs to the variable
        double[::1] w_lo, w_los, w_hi, w_his, w_tol, w_root, w_r, w_size, w_sigma
        double[::1] hw, hd, hj  # h, h', and h' along a jump
        double[:, ::1] GW, HG  # rows of G, by slots; those of the block's start times H0
        Py_ssize_t[::1] w_solved  # the era of H0 in which that was computed
        double[:, ::1] abreast  # rows that are multiplied by H0 together, and the products
        Py_ssize_t n_gathered  # rows of GW that belong to the slots of the block's start
        # the rows of the last block, by its slots as they are now, and where each variable's is
        double[:, ::1] known
        Py_ssize_t[::1] known_at
        Py_ssize_t n_known
        double[::1] column
        double[::1] full  # z' of all slots, the emptied ones too
        double largest, size  # of `full`: the largest, and the sum with the roots
        # residuals of the rows at the start and at every breakpoint; where a row is younger than
        # that: the first breakpoint that it knows, the slot that it left and the level before
        double[:, ::1] history
        Py_ssize_t[::1] w_born, w_from, first_row  # first_row: of a slot of this block
        double[::1] w_was, w_wass
        Py_ssize_t n_begun  # slots at the block's start
        # of each slot: where GW has the row of a variable that entered or left in this block, and
        # the breakpoint at which it left, from this level
        Py_ssize_t[::1] slot_row, left_at
        double[::1] left_from
        # of every variable
        const char[::1] in_box, has_unit  # whether it is boxed, and measured
        const double[::1] unit_value, unit_slope
        # how precisely residuals are known, how far they may drift beyond drift_least units, and
        # how precisely z is known; by units and by the rounding of terms
        double[::1] tol, keep, blur
        double coarsest  # the blur of what is no multiplier
        public double least, rounding, drift_least, drift_rounding
        # corners: offsets are infinite away from them
        double[::1] off_lo, off_hi
        Py_ssize_t[::1] cornered, tied  # rows and slots with offsets
        Py_ssize_t n_cornered, n_tied
        unsigned long long seed
        double far  # |t| where the walk ends, or 0
        readonly double precision
        public double still, aside, down_first

    cdef const double *_solved(self, Py_ssize_t w) noexcept nogil
    cdef void _solve_abreast(self, Py_ssize_t w) noexcept nogil
    cdef Py_ssize_t _soonest(self, Py_ssize_t w, Py_ssize_t *some) noexcept nogil
    cdef void _keep_rows(self) noexcept nogil
    cdef void _rows_of(self, const Py_ssize_t[::1] variables, Py_ssize_t first) noexcept nogil
    cdef void _new_row(self, Py_ssize_t w, Py_ssize_t i, double h) noexcept nogil
    cdef void _look_around(self, Py_ssize_t w) noexcept nogil
    cdef void _new_column(self, Py_ssize_t s, Py_ssize_t i) noexcept nogil
    cdef void _keep_history(self) noexcept nogil
    cdef double _was(self, Py_ssize_t w, Py_ssize_t j, double t) noexcept nogil
    cdef void _note_slot(self, Py_ssize_t s) noexcept nogil
    cdef void _measure_boxes(self) noexcept nogil
    cdef void _measure_box(self, Py_ssize_t i) noexcept nogil
    cdef void _watch_rates(self, double way) noexcept nogil
    cdef Direction _onward(self, double way) noexcept nogil
    cdef Direction _along(self, const double *z) noexcept nogil
    cdef double _longest_jump(self, const double *z) noexcept nogil
    cdef double _noise_h(self, const Direction *d, Py_ssize_t w) noexcept nogil
    cdef double _size(self, const double *z) noexcept nogil
    cdef double _largest_of(self, const double *z) noexcept nogil
    cdef double _random(self) noexcept nogil
    cdef void _find_corners(self, Py_ssize_t first, bint slot, int side) noexcept nogil
    cdef void _row_corners(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first
    ) noexcept nogil
    cdef void _slot_corners(
        self, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t first, int side
    ) noexcept nogil
    cdef void _first_corner(self, const Direction *d, Hit *hit) noexcept nogil
    cdef void _move_offsets(self, const Direction *d, double step) noexcept nogil
    cdef void _forget_offsets(self) noexcept nogil
    cdef void _corner_behind(self, Py_ssize_t i, int side) noexcept nogil
