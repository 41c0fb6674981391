"""Free variables in slots, and the inverse of G_FF."""

from chemin.engine._blas cimport blas_int
from chemin.engine._system cimport System


cdef class Factor(System):
    cdef:
        # slots: the free variables; a slot emptied in a block keeps its owner until it ends
        readonly Py_ssize_t ns, n0, cap  # n0: slots at the beginning of the block
        Py_ssize_t[:, ::1] owners  # what the arrays of whole numbers by slots are cut from
        double[:, ::1] slots  # and those of numbers
        double[:, ::1] room  # rows by slots, for the classes that follow
        object spare  # and numbers in no order
        Py_ssize_t[::1] slot_var, slot_of, owner, emptied  # emptied: slots, in this block
        Py_ssize_t n_emptied
        Py_ssize_t[::1] came_from, went_to  # slots that were moved when the last block ended
        Py_ssize_t n_shifted
        # the first n_line slots in the order of their columns of A: slot, column, sign; and those
        # of the border. None are in line between blocks.
        Py_ssize_t n_line, n_in_line
        Py_ssize_t[::1] line_slot, line_at, line_edge
        double[::1] line_sign
        double[::1] zs, z0, zd, b  # z, z at the block's start, z', right-hand side
        double[::1] lo, los, hi, his  # bounds: value and slope in t
        double[::1] slot_root  # the root of each owner
        # pins that move: slopes of pins, at the block's start; how fast the frame of a slot moves,
        # and since when; z' of emptied slots
        double[::1] pin_speed, frame, since, coast, pushed
        double fastest  # of all pins
        double way
        Py_ssize_t[::1] stair
        readonly double t
        # H = H0 + sum_j d_j u_j u_j'
        double[:, ::1] H, U, scaled
        object array  # what H is a view of: it is lent whole, for views of views have no end
        double[::1] d, g, v, work
        Py_ssize_t k, ucap
        Py_ssize_t era  # how often H0 has changed
        # directions
        double[::1] flow
        double[:, ::1] moved
        bint flowing  # flow is A S z' of the present direction
        # G_FF by slots, when `held`; solves are refined with it when `wary`
        bint held, wary
        public bint wary_from_the_start
        bint was_wary, was_careful  # the block before
        double[:, ::1] GF
        double[::1] wanted, lacking, change, lost
        readonly double spoilt  # about |1 - H G_FF|: what small pivots have left in H
        public double worn, ruined  # of that: a block begins with a fresh inverse; it ends
        double wrong  # by which part the first refinement has changed a solve: |1 - H G_FF|
        bint stands  # whether changes have become less while the last pivot was solved for
        public double settled  # of that: a solve is refined again while it changes by more
        bint fresh  # H0 is the inverse of G_FF, as it was computed
        bint renewed  # H0 is not that of the block's start
        public double entries  # how precisely entries of G are known, by the roots of both
        readonly Py_ssize_t n_judged  # variables that entered after a solve to the last digits
        double hidden  # what that makes of the pivot that was judged last
        # careful blocks, and what inverting G_FF needs
        public bint careful
        public double frail  # pivots below this part of the diagonal spoil an updated inverse
        double[:, ::1] square
        double[::1] lapack_work
        blas_int[::1] swaps

    cdef void _cut(self)
    cdef Py_ssize_t _most_slots(self) noexcept nogil
    cdef void _new_slot(self, Py_ssize_t s, Py_ssize_t i, double way) noexcept nogil
    cdef void _bounds(self, Py_ssize_t s, double way) noexcept nogil
    cdef double _low(self, Py_ssize_t s) noexcept nogil
    cdef double _high(self, Py_ssize_t s) noexcept nogil
    cdef void _come_to_rest(self) noexcept nogil
    cdef void _row(self, Py_ssize_t i, double *out) noexcept nogil
    cdef void _line_up(self) noexcept nogil
    cdef void _add_inverse(self, const double *g, double *out) noexcept nogil
    cdef void _column(self, Py_ssize_t s, double *out) noexcept nogil
    cdef double _diagonal(self, Py_ssize_t s) noexcept nogil
    cdef void _add_changes(self, const double *g, double *out) noexcept nogil
    cdef double _schur(self, Py_ssize_t i, const double *solved, double *size) noexcept nogil
    cdef double _complement(self, Py_ssize_t i, double *size) noexcept nogil
    cdef bint _judge_entry(self, Py_ssize_t i, double *pivot, double *size) noexcept nogil
    cdef bint _copies(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t _largest_slot(self, const double *x) noexcept nogil
    cdef double _square(self, const double *u) noexcept nogil
    cdef void _add_slot(self, Py_ssize_t new, Py_ssize_t ns, double pivot) noexcept nogil
    cdef void _as_entry(self, Py_ssize_t new, Py_ssize_t ns, double *u) noexcept nogil
    cdef double _leaving(
        self, Py_ssize_t s, double *u, double *size, double *largest
    ) noexcept nogil
    cdef bint _judge_leaving(
        self, Py_ssize_t s, double *u, double *pivot, double *size
    ) noexcept nogil
    cdef void _wear(self) noexcept nogil
    cdef void _drop_slot(self, Py_ssize_t s) noexcept nogil
    cdef void _trade(
        self, double p, double q, double r, double first, double second
    ) noexcept nogil
    cdef bint _hold(self) noexcept nogil
    cdef void _hold_slot(self, Py_ssize_t s) noexcept nogil
    cdef bint _converge(self, const double *b, double *x) noexcept nogil
    cdef void _clear_empty(self, double *x) noexcept nogil
    cdef bint _refine(self, const double *b, double *x) noexcept nogil
    cdef void _refine_once(self, const double *b, double *x) noexcept nogil
    cdef void _gather(self) noexcept nogil
    cdef void _close_gaps(self) noexcept nogil
    cdef bint _invert(self) noexcept nogil
    cdef bint _renew(self) noexcept nogil
    cdef bint _serves(self) noexcept nogil
    cdef void _fresh(self) noexcept nogil
    cdef void _no_inverse(self) noexcept nogil
    cdef void _move_slot(self, Py_ssize_t a, Py_ssize_t b) noexcept nogil
