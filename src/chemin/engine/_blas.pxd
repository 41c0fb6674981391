"""The BLAS of the compiled walks, for row-major matrices."""

from libc.string cimport memset

from scipy.linalg.cython_blas cimport ddot, dgemv

# blas_int: SciPy's own where it has one, a C int before; written by src/meson.build.
include "blas_int.pxi"


cdef inline double dot(blas_int n, const double *x, const double *y) noexcept nogil:
    cdef blas_int one = 1
    return ddot(&n, <double *> x, &one, <double *> y, &one)


cdef inline void gemv_t(
    const double *a, blas_int lda, blas_int rows, blas_int columns, double alpha,
    const double *x, double beta, double *out,
) noexcept nogil:
    """out = alpha A x + beta out, A row-major of `rows` rows; BLAS leaves out when A is empty."""
    cdef char trans = b"T"
    cdef blas_int one = 1
    if rows == 0 or columns == 0:
        if beta == 0.0 and rows > 0:
            memset(out, 0, rows * sizeof(double))
        return
    dgemv(&trans, &columns, &rows, &alpha, <double *> a, &lda, <double *> x, &one, &beta, out, &one)


cdef inline void gemv_n(
    const double *a, blas_int lda, blas_int rows, blas_int columns, double alpha,
    const double *x, double beta, double *out,
) noexcept nogil:
    """out = alpha A' x + beta out, A row-major of `rows` rows."""
    cdef char trans = b"N"
    cdef blas_int one = 1
    if rows == 0:
        return
    dgemv(&trans, &columns, &rows, &alpha, <double *> a, &lda, <double *> x, &one, &beta, out, &one)
