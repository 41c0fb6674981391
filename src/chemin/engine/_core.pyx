# cython: boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The compiled core, on the BLAS that SciPy carries.

Inputs are ``const`` memoryviews, so that read-only arrays (joblib's memory maps) are welcome.
"""

from scipy.linalg.cython_blas cimport dgemv

# blas_int: SciPy's own where it has one, a C int before; written by src/meson.build.
include "blas_int.pxi"


cdef void _gemv_rows(
    const double *A, const double *x, double *out, blas_int n_rows, blas_int n_columns
) noexcept nogil:
    """out = A x for a row-major A, which BLAS reads as the transpose of a column-major one."""
    cdef:
        char trans = b"T"
        blas_int step = 1
        double one = 1.0
        double zero = 0.0

    dgemv(
        &trans, &n_columns, &n_rows, &one, <double *> A, &n_columns, <double *> x, &step, &zero,
        out, &step,
    )


def gemv_rows(const double[:, ::1] A, const double[::1] x, double[::1] out):
    """Product of every row of A with x, written into out: ``out = A @ x``.

    Parameters
    ----------
    A : C-contiguous float64 array of shape (n_rows, n_columns)
    x : contiguous float64 array of shape (n_columns,)
    out : contiguous, writable float64 array of shape (n_rows,)
    """
    cdef Py_ssize_t n_rows = A.shape[0], n_columns = A.shape[1], i

    if x.shape[0] != n_columns:
        raise ValueError(f"x has {x.shape[0]} elements, expected {n_columns}: one a column of A")
    if out.shape[0] != n_rows:
        raise ValueError(f"out has {out.shape[0]} elements, expected {n_rows}: one a row of A")

    with nogil:
        if n_columns == 0:  # BLAS returns at once and leaves out as it was
            for i in range(n_rows):
                out[i] = 0.0
        elif n_rows > 0:
            _gemv_rows(&A[0, 0], &x[0], &out[0], <blas_int> n_rows, <blas_int> n_columns)
