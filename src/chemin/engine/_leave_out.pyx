# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The compiled walks of `leave_out.py`: one block of the loop for each point that leaves.

All walks begin at one solution. A block leaves H0 as it is, so the next walk only has to begin
again. The point's own variables are held at (1 - t) z while t goes from 0 to 1: what they do to
residuals is part of r, or of a slot that coasts to 0. They have no rows: nothing is asked of their
residuals. The caller says which other variables are watched, and checks the end.
"""

import numpy as np

from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from chemin.engine._blas cimport gemv_t
from chemin.engine._entries cimport entry
from chemin.engine._loop cimport C_ARRIVED, C_GOES_ON, Loop
from chemin.engine._system cimport Hit

cdef enum:
    ROOM = 64  # moves in a walk, before it is given to the reference


cdef class Walk(Loop):
    """Made once for a solution, used for one point after the other."""

    cdef:
        Py_ssize_t m  # free variables at the start
        const Py_ssize_t[::1] free0, stair0
        Py_ssize_t[::1] where
        const double[::1] z_start, h_start, e
        Py_ssize_t[::1] own
        bint may_jump
        Py_ssize_t out  # the variable that is being taken out of its slot; or -1

    def __init__(self, system, stair, z, h, H):
        super().__init__(system, ROOM)
        self.load(stair, z, 0.0, 1.0, H)
        self.limit = ROOM
        self.longest = self.settled = self.worn = self.ruined = self.hard = INFINITY
        self.m, self.free0, self.stair0 = self.ns, self.free, np.array(stair)
        self.where, self.z_start, self.h_start = np.array(self.slot_of), z, h
        self.out = -1
        self._room_for_G()
        self._hold()

    # ------------------------------------------------------------------ from outside

    def run(
        self, own, const double[::1] e, const Py_ssize_t[::1] watched, direction, bint jumps,
        bint mend,
    ):
        """The point with these variables leaves, while g moves by e.

        `direction` is z' of the free variables, if it is known. Jumps may move every residual: they
        are made only if `jumps` says that all are watched. With `mend`, residuals on treads are
        corrected at the end. Returns whether the walk has arrived.
        """
        cdef const double[::1] zd = direction
        cdef int code
        self.own, self.e, self.may_jump = own, e, jumps
        self._begin(watched.shape[0], &watched[0])
        self.watch(watched, self.h_start)
        self.held = True  # G_FF of the start, and a block adds its own
        with nogil:
            if zd is None:
                self._add_inverse(&self.b[0], &self.zd[0])
            code = self._take_out()
            if code == C_GOES_ON:
                if zd is not None:
                    memcpy(&self.zd[0], &zd[0], self.m * sizeof(double))
                    self._clear_empty(&self.zd[0])
                code = self._run(1.0, 1.0)
            if code == C_ARRIVED and mend:
                self._mend()
        return code == C_ARRIVED

    def end(self, double[::1] z):
        """z there, written over that of the start; returns the stairs."""
        cdef Py_ssize_t s
        for s in range(self.ns):
            z[self.owner[s]] = self.zs[s]
        for s in range(len(self.own)):
            z[self.own[s]] = 0.0
        return np.asarray(self.stair)

    # ------------------------------------------------------------------ what is special

    cdef void _begin(self, Py_ssize_t nw, const Py_ssize_t *watched) noexcept nogil:
        """Back to the solution; g begins to move."""
        cdef Py_ssize_t s
        self._forget_offsets()
        self.t, self.spoilt, self.ns = 0.0, 0.0, self.m
        self.settling = self.arriving = True
        memcpy(&self.stair[0], &self.stair0[0], self.N * sizeof(Py_ssize_t))
        memcpy(&self.slot_of[0], &self.where[0], self.N * sizeof(Py_ssize_t))
        memset(&self.zd[0], 0, self.cap * sizeof(double))
        memset(&self.coast[0], 0, self.cap * sizeof(double))
        self._set_out(self.m, &self.free0[0])
        self._set_out(nw, watched)
        for s in range(self.m):
            self._new_slot(s, self.free0[s], 1.0)
            self.zs[s] = self.z_start[self.free0[s]]

    cdef void _set_out(self, Py_ssize_t count, const Py_ssize_t *variables) noexcept nogil:
        """r of these variables: e, and what the point's own variables at pins do to them."""
        cdef Py_ssize_t x, k, i, j
        cdef double v, change
        self.fastest = 0.0
        for k in range(count):
            i = variables[k]
            self.r[i], self.r_size[i] = self.e[i], fabs(self.e[i])
        for x in range(self.own.shape[0]):
            j = self.own[x]
            v = -self.z_start[j]
            self.fastest = max(self.fastest, fabs(v))
            if v == 0.0 or self.where[j] >= 0:
                continue
            for k in range(count):
                i = variables[k]
                change = self.sigma[i] * entry(&self.G, i, j) * v
                self.r[i] += change
                self.r_size[i] += fabs(change)

    cdef int _take_out(self) noexcept nogil:
        """The point's own variables are no longer free: their slots coast to 0."""
        cdef Py_ssize_t x, s
        cdef int code = C_GOES_ON
        for x in range(self.own.shape[0]):
            self.out = self.own[x]
            s = self.slot_of[self.out]
            if s >= 0 and code == C_GOES_ON:
                self.lo[s] = self.hi[s] = self.zs[s]  # a pin where it stands
                code = self._leave(s, 1 if self.zs[s] >= 0.0 else -1, 1.0)
        self.out = -1
        return code

    cdef double _pin_rate(self, Py_ssize_t i) noexcept nogil:
        return -self.z_start[i] if i == self.out else Loop._pin_rate(self, i)

    cdef void _watch_leaver(self, Py_ssize_t s, Py_ssize_t i, int side) noexcept nogil:
        if i != self.out:
            Loop._watch_leaver(self, s, i, side)

    cdef void _corner_behind(self, Py_ssize_t i, int side) noexcept nogil:
        if i != self.out:
            Loop._corner_behind(self, i, side)

    cdef bint _renew(self) noexcept nogil:
        return False  # the next walk begins with the same inverse

    cdef bint _jump(self, double sign, Hit *hit) noexcept nogil:
        return self.may_jump and Loop._jump(self, sign, hit)

    cdef void _mend(self) noexcept nogil:
        """Take away the drift of residuals on treads, computed from their start."""
        cdef:
            Py_ssize_t s, i, n = self.ns
            double *moved = &self.change[0]
            double *off = &self.lacking[0]
        for s in range(n):
            moved[s] = self.zs[s] - self.z0[s]
        gemv_t(&self.GF[0, 0], self.cap, n, n, 1.0, moved, 0.0, off)
        for s in range(n):
            i = self.slot_var[s]
            if i < 0:
                off[s] = 0.0
                continue
            off[s] = self.sigma[i] * (
                self.h_start[i] - self.r[i] - self.value[i, self.stair[i]]
            ) - off[s]
        memset(moved, 0, n * sizeof(double))
        self._add_inverse(off, moved)
        self._clear_empty(moved)
        for s in range(n):
            self.zs[s] += moved[s]
