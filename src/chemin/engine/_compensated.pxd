"""Sums of products as if in twice the precision."""


cdef void residual(
    const double *g, Py_ssize_t ld, Py_ssize_t n, const double *x, const double *b, double *out,
    double *lost,
) noexcept nogil
cdef double less_products(
    double start, Py_ssize_t n, const double *x, const double *y
) noexcept nogil
