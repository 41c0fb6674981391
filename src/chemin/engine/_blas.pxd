"""The BLAS of the compiled walks, for row-major matrices."""

from libc.math cimport fabs
from libc.string cimport memset

from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv

# blas_int: SciPy's own where it has one, a C int before; written by src/meson.build.
include "blas_int.pxi"


cdef inline double dot(blas_int n, const double *x, const double *y) noexcept nogil:
    cdef blas_int one = 1
    return ddot(&n, <double *> x, &one, <double *> y, &one)


cdef inline double sum_of_sizes(
    Py_ssize_t n, const double *x, const double *y
) noexcept nogil:
    """The sum of |x_i y_i|; four sums at a time, so that none waits for another."""
    cdef Py_ssize_t i = 0
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    while i + 4 <= n:
        a += fabs(x[i] * y[i])
        b += fabs(x[i + 1] * y[i + 1])
        c += fabs(x[i + 2] * y[i + 2])
        d += fabs(x[i + 3] * y[i + 3])
        i += 4
    while i < n:
        a += fabs(x[i] * y[i])
        i += 1
    return (a + b) + (c + d)


cdef inline double largest_size(Py_ssize_t n, const double *x) noexcept nogil:
    """The largest |x_i|; what is no number does not count."""
    cdef Py_ssize_t i = 0
    cdef double a = 0.0, b = 0.0
    while i + 2 <= n:
        a = max(a, fabs(x[i]))
        b = max(b, fabs(x[i + 1]))
        i += 2
    if i < n:
        a = max(a, fabs(x[i]))
    return max(a, b)


cdef inline double largest_product(
    Py_ssize_t n, const double *x, const double *y
) noexcept nogil:
    """The largest |x_i y_i|; what is no number does not count."""
    cdef Py_ssize_t i = 0
    cdef double a = 0.0, b = 0.0
    while i + 2 <= n:
        a = max(a, fabs(x[i] * y[i]))
        b = max(b, fabs(x[i + 1] * y[i + 1]))
        i += 2
    if i < n:
        a = max(a, fabs(x[i] * y[i]))
    return max(a, b)


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


cdef inline void gemm_t(
    const double *a, blas_int lda, blas_int rows, const double *b, blas_int ldb, blas_int columns,
    blas_int inner, double *out, blas_int ldo,
) noexcept nogil:
    """out = A B', all row-major: A of `rows` rows, B of `columns` rows, both `inner` wide."""
    cdef char yes = b"T", no = b"N"
    cdef double one = 1.0, zero = 0.0
    if rows == 0 or columns == 0:
        return
    dgemm(
        &yes, &no, &columns, &rows, &inner, &one, <double *> b, &ldb, <double *> a, &lda, &zero,
        out, &ldo,
    )
