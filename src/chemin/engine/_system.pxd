"""A staircase system as the compiled walks read it."""

from chemin.engine._entries cimport Block, Entries

cdef enum:
    MOST_GROUPS = 8


cdef struct Hit:  # what a ratio test finds
    double step
    Py_ssize_t at  # a slot or a row; -1: none
    bint slot
    int side


cdef class System:
    cdef:
        # the coupling
        object arrays  # those that G points to
        Block blocks[MOST_GROUPS * MOST_GROUPS]
        Py_ssize_t offset[MOST_GROUPS + 1]  # of each group's rows in a flow
        Entries G
        const Py_ssize_t[::1] group, p, place  # place: of each variable's row in a flow
        const double[::1] sign, sigma, signs  # signs: sigma sign
        const double[:, ::1] border, edges  # edges: sigma border, by columns
        const double[::1] root  # |G_ij| <= root_i root_j
        bint semidefinite, skew, plain  # plain: place[i] = i
        readonly Py_ssize_t N, n_rows, nb, n_flow, rank  # rank: columns of Z; 0 for blocks
        double[:, ::1] bundle
        const double[::1] z_data  # of a sparse factor; see `Sparse`
        const int[::1] z_column, z_begin
        double[::1] z_spread
        # the rest of the system
        object system
        double[::1] r  # and what moving pins add to it: see `Factor`
        double[::1] r_size  # the sum of absolute terms
        const double[:, ::1] value, slope
        bint pins_move
        double[::1] span, box  # box: the span, at most 1

    cdef void _spread(
        self, Py_ssize_t ns, const Py_ssize_t *owner, Py_ssize_t count, const double **x,
        double **out,
    ) noexcept nogil
    cdef void _sum_rows(
        self, Py_ssize_t g, Py_ssize_t first, Py_ssize_t ns, const Py_ssize_t *owner,
        Py_ssize_t count, const double **x, double **out, bint sizes,
    ) noexcept nogil
    cdef void _pushed(
        self, Py_ssize_t ns, const Py_ssize_t *owner, const double *flow, const double *x,
        double *out,
    ) noexcept nogil
