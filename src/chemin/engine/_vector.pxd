"""Inner loops of the compiled walks, for several processors."""

cdef enum:
    CHUNK = 16  # variables of which it is asked together whether any is to be looked at


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
