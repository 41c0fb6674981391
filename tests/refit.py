"""Single models fitted by others, to the last digit: what curves are compared with.

LIBSVM says which multipliers are at which bound; one linear system then gives the exact solution,
and the optimality conditions are checked. Nothing of chemin is used.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import lars_path
from sklearn.svm import SVC, SVR

AT_BOUND = 1e-6  # of the box: LIBSVM at TIGHT leaves much less
TIGHT = 1e-9


def svc(K, y, lam, w=None):
    """coef and intercept of the C-SVM on labels -1, 1; None where a bound cannot be told."""
    model = SVC(C=1 / lam, kernel="precomputed", tol=TIGHT).fit(K, y, sample_weight=w)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    w = np.ones(len(y)) if w is None else w
    return _polished(K, coef, model.intercept_[0], w / lam, y.astype(float), y * coef)


def svr(K, y, lam, epsilon, w=None):
    """coef and intercept of the epsilon-SVR; None where a bound cannot be told."""
    model = SVR(C=1 / lam, kernel="precomputed", tol=TIGHT, epsilon=epsilon)
    model.fit(K, y, sample_weight=w)
    coef = np.zeros(len(y))
    coef[model.support_] = model.dual_coef_[0]
    w = np.ones(len(y)) if w is None else w
    return _polished(
        K, coef, model.intercept_[0], w / lam, y - np.sign(coef) * epsilon, np.abs(coef)
    )


def _polished(K, coef, b, box, level, size):
    """Free coefficients from f = level, the others at their bounds."""
    at_zero, at_top = size <= AT_BOUND * box, size >= (1 - AT_BOUND) * box
    free = ~(at_zero | at_top)
    exact = np.where(at_zero, 0.0, np.where(at_top, np.sign(coef) * box, 0.0))
    if not free.any():
        return exact, b  # the middle of an interval, as LIBSVM has it
    m = free.sum()
    system = np.zeros((m + 1, m + 1))
    system[:m, :m], system[m, :m], system[:m, m] = K[np.ix_(free, free)], 1.0, 1.0
    right = np.append(level[free] - K[free] @ exact, -exact.sum())
    solved = np.linalg.lstsq(system, right, rcond=None)[0]
    if np.abs(system @ solved - right).max() > 1e-9 * max(1.0, np.abs(right).max()):
        return None
    exact[free] = solved[:m]
    if np.abs(exact - coef).max() > 1e-3 * box.max():  # another set of bounds
        return None
    return exact, solved[m]


def lasso(X, y, lams):
    """Coefficients (one column a lambda) and intercepts, between the steps of lars_path."""
    mean, level = X.mean(axis=0), y.mean()
    alphas, _, coefs = lars_path(X - mean, y - level, method="lasso")
    grid = alphas[::-1] * len(y)
    b = np.array([np.interp(lams, grid, row[::-1]) for row in coefs])
    return b, level - mean @ b
