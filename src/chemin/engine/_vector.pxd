"""Inner loops of the compiled walks, for several processors."""

cdef enum:
    CHUNK = 16  # variables of which it is asked together whether any is to be looked at
    ABREAST = 8  # vectors that one reading of a symmetric matrix multiplies


cdef extern from *:
    """
    /* Compiled for several processors, the best is taken at run time, as in BLAS. No operation is
       contracted or reordered: all of them give the same numbers. */
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) \\
        && !defined(__SANITIZE_ADDRESS__)
    #define CHEMIN_CLONES \\
        __attribute__((target_clones("avx512f", "avx2", "default"), visibility("hidden"), unused))
    #elif defined(__GNUC__)
    #define CHEMIN_CLONES static __attribute__((unused))
    #else
    #define CHEMIN_CLONES static
    #endif

    /* The sum of eight rows at column j, each times its weight. */
    #define CHEMIN_SUM(w, x) \\
        (((w##0 * x(a0) + w##1 * x(a1)) + (w##2 * x(a2) + w##3 * x(a3))) \\
         + ((w##4 * x(a4) + w##5 * x(a5)) + (w##6 * x(a6) + w##7 * x(a7))))
    #define CHEMIN_ROWS(a) \\
        const double *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3], \\
            *a4 = a[4], *a5 = a[5], *a6 = a[6], *a7 = a[7];
    #define CHEMIN_WEIGHTS(w, of) \\
        const double w##0 = of[0], w##1 = of[1], w##2 = of[2], w##3 = of[3], \\
            w##4 = of[4], w##5 = of[5], w##6 = of[6], w##7 = of[7];
    #define CHEMIN_ENTRY(a) a[j]
    #define CHEMIN_SIZE(a) __builtin_fabs(a[j])

    /* Columns from 0 to n, some at a time; the rows that come next are fetched meanwhile, for where
       rows are not neighbours no processor knows what comes next. */
    #if defined(__GNUC__)
    #define CHEMIN_FETCH(x) __builtin_prefetch(x, 0, 2)
    #else
    #define CHEMIN_FETCH(x)
    #endif
    #define CHEMIN_EACH(sums) \\
        for (Py_ssize_t some = 0; some < n; some += 64) { \\
            const Py_ssize_t end = n - some < 64 ? n : some + 64; \\
            if (ahead != NULL) \\
                for (int row = 0; row < 8; row++) \\
                    for (Py_ssize_t j = some; j < end; j += 8) \\
                        CHEMIN_FETCH(ahead[row] + j); \\
            for (Py_ssize_t j = some; j < end; j++) { sums } \\
        }

    /* out += the rows times their weights. */
    CHEMIN_CLONES void chemin_add_rows(
        Py_ssize_t n, const double **a, const double **ahead, const double *weight,
        double *restrict out)
    {
        CHEMIN_ROWS(a)
        CHEMIN_WEIGHTS(w, weight)
        CHEMIN_EACH(out[j] += CHEMIN_SUM(w, CHEMIN_ENTRY);)
    }

    /* The same for two sets of weights, with one reading of the rows. */
    CHEMIN_CLONES void chemin_add_rows_twice(
        Py_ssize_t n, const double **a, const double **ahead, const double *first,
        const double *second, double *restrict out, double *restrict other)
    {
        CHEMIN_ROWS(a)
        CHEMIN_WEIGHTS(w, first)
        CHEMIN_WEIGHTS(v, second)
        CHEMIN_EACH(
            out[j] += CHEMIN_SUM(w, CHEMIN_ENTRY);
            other[j] += CHEMIN_SUM(v, CHEMIN_ENTRY);
        )
    }

    /* The same, the second time with the absolute values of the rows. */
    CHEMIN_CLONES void chemin_add_rows_and_sizes(
        Py_ssize_t n, const double **a, const double **ahead, const double *first,
        const double *second, double *restrict out, double *restrict other)
    {
        CHEMIN_ROWS(a)
        CHEMIN_WEIGHTS(w, first)
        CHEMIN_WEIGHTS(v, second)
        CHEMIN_EACH(
            out[j] += CHEMIN_SUM(w, CHEMIN_ENTRY);
            other[j] += CHEMIN_SUM(v, CHEMIN_SIZE);
        )
    }

    /* y = H x for ABREAST vectors, entry j of all of them side by side; H is symmetric of n rows,
       and its lower half counts. A product with one vector waits for H: eight take little longer.
       Four rows at a time, so that sums stay in registers. */
    CHEMIN_CLONES void chemin_symmetric_times(
        Py_ssize_t n, const double *h, Py_ssize_t width, const double *restrict x,
        double *restrict y)
    {
        Py_ssize_t i = 0;
        for (; i + 4 <= n; i += 4) {
            const double *h0 = h + i * width, *h1 = h0 + width, *h2 = h1 + width, *h3 = h2 + width;
            const double *x0 = x + 8 * i, *x1 = x0 + 8, *x2 = x1 + 8, *x3 = x2 + 8;
            double s0[8] = {0}, s1[8] = {0}, s2[8] = {0}, s3[8] = {0};
            for (Py_ssize_t j = 0; j < i; j++)
                for (int k = 0; k < 8; k++) {
                    const double xj = x[8 * j + k];
                    s0[k] += h0[j] * xj;
                    s1[k] += h1[j] * xj;
                    s2[k] += h2[j] * xj;
                    s3[k] += h3[j] * xj;
                    y[8 * j + k] += (h0[j] * x0[k] + h1[j] * x1[k])
                                    + (h2[j] * x2[k] + h3[j] * x3[k]);
                }
            h0 += i, h1 += i, h2 += i, h3 += i; /* the square on the diagonal */
            for (int k = 0; k < 8; k++) {
                const double a = x0[k], b = x1[k], c = x2[k], d = x3[k];
                double *yi = y + 8 * i + k;
                yi[0] = s0[k] + ((h0[0] * a + h1[0] * b) + (h2[0] * c + h3[0] * d));
                yi[8] = s1[k] + ((h1[0] * a + h1[1] * b) + (h2[1] * c + h3[1] * d));
                yi[16] = s2[k] + ((h2[0] * a + h2[1] * b) + (h2[2] * c + h3[2] * d));
                yi[24] = s3[k] + ((h3[0] * a + h3[1] * b) + (h3[2] * c + h3[3] * d));
            }
        }
        for (; i < n; i++) {
            const double *h0 = h + i * width, *x0 = x + 8 * i;
            double s0[8] = {0};
            for (Py_ssize_t j = 0; j < i; j++)
                for (int k = 0; k < 8; k++) {
                    s0[k] += h0[j] * x[8 * j + k];
                    y[8 * j + k] += h0[j] * x0[k];
                }
            for (int k = 0; k < 8; k++)
                y[8 * i + k] = s0[k] + h0[i] * x0[k];
        }
    }

    /* Whether any x, which moves by v, meets lo + t los or hi + t his before `best`. */
    CHEMIN_CLONES int chemin_any_meets(
        Py_ssize_t n, const double *x, const double *v, const double *lo, const double *los,
        const double *hi, const double *his, double t, double way, double best)
    {
        int any = 0;
        for (Py_ssize_t i = 0; i < n; i++)
            any |= (hi[i] + t * his[i] - x[i] < best * (v[i] - his[i] * way))
                 | (x[i] - lo[i] - t * los[i] < best * (los[i] * way - v[i]));
        return any;
    }

    /* Whether any x is as near as tol, or as tols[i], to lo + t los or hi + t his. */
    CHEMIN_CLONES int chemin_any_near(
        Py_ssize_t n, const double *x, const double *lo, const double *los, const double *hi,
        const double *his, double t, double tol)
    {
        int any = 0;
        for (Py_ssize_t i = 0; i < n; i++)
            any |= (x[i] - lo[i] - t * los[i] <= tol) | (hi[i] + t * his[i] - x[i] <= tol);
        return any;
    }
    CHEMIN_CLONES int chemin_any_as_near(
        Py_ssize_t n, const double *x, const double *lo, const double *los, const double *hi,
        const double *his, double t, const double *tols)
    {
        int any = 0;
        for (Py_ssize_t i = 0; i < n; i++)
            any |= (x[i] - lo[i] - t * los[i] <= tols[i]) | (hi[i] + t * his[i] - x[i] <= tols[i]);
        return any;
    }
    """
    void chemin_add_rows(
        Py_ssize_t n, const double **a, const double **ahead, const double *weight, double *out
    ) nogil
    void chemin_add_rows_twice(
        Py_ssize_t n, const double **a, const double **ahead, const double *first,
        const double *second, double *out, double *other,
    ) nogil
    void chemin_add_rows_and_sizes(
        Py_ssize_t n, const double **a, const double **ahead, const double *first,
        const double *second, double *out, double *other,
    ) nogil
    void chemin_symmetric_times(
        Py_ssize_t n, const double *h, Py_ssize_t width, const double *x, double *y
    ) nogil
    bint chemin_any_meets(
        Py_ssize_t n, const double *x, const double *v, const double *lo, const double *los,
        const double *hi, const double *his, double t, double way, double best,
    ) nogil
    bint chemin_any_near(
        Py_ssize_t n, const double *x, const double *lo, const double *los, const double *hi,
        const double *his, double t, double tol,
    ) nogil
    bint chemin_any_as_near(
        Py_ssize_t n, const double *x, const double *lo, const double *los, const double *hi,
        const double *his, double t, const double *tols,
    ) nogil
