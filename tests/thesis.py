"""Ridge regression with one penalty a coefficient, as the thesis writes it: entry by entry.

It propagates the gradient of E back through the Cholesky solution in three stages (section 6.4.3).
"""

from copy import deepcopy

import numpy as np

from chemin.selection.criteria import EVERY


def trained(sample, criterion):
    """For each trial: training rows with weights, test rows, weights of their errors in E."""
    trials = sample.trials(deepcopy(criterion))
    for t in trials:
        v = sample.weight[t.train] * (1.0 if t.times is None else t.times)
        w = sample.weight[t.test]
        pooled = criterion.pooled and t.fold != EVERY
        omega = t.share * w / (sample.weight.sum() if pooled else w.sum())
        yield t.train, v / v.sum(), t.test, omega / (1 if criterion.pooled else len(trials))


def with_constant(X):
    return np.column_stack([np.ones(len(X)), X])


def cholesky(H):
    """(6.21) and (6.22)."""
    M = len(H)
    L = np.zeros((M, M))
    for i in range(M):
        L[i, i] = np.sqrt(H[i, i] - sum(L[i, k] ** 2 for k in range(i)))
        for j in range(i + 1, M):
            L[j, i] = (H[i, j] - sum(L[i, k] * L[j, k] for k in range(i))) / L[i, i]
    return L


def solved(L, w):
    """(6.26) to (6.29): L u = -w, L'b = u."""
    M = len(w)
    u, b = np.zeros(M), np.zeros(M)
    for i in range(M):
        u[i] = -(w[i] + sum(L[i, j] * u[j] for j in range(i))) / L[i, i]
    for i in reversed(range(M)):
        b[i] = (u[i] - sum(L[j, i] * b[j] for j in range(i + 1, M))) / L[i, i]
    return u, b


def back_propagated(L, u, b, dEdb):
    """dE/dH, upper triangle, by the three stages of section 6.4.3."""
    M, dEdb = len(b), dEdb.copy()
    dEdL, dEdu, dEdH = np.zeros((M, M)), np.zeros(M), np.zeros((M, M))
    for i in range(M):  # through L'b = u
        dEdu[i] = dEdb[i] / L[i, i]
        dEdL[i, i] -= dEdb[i] * b[i] / L[i, i]
        for k in range(i + 1, M):
            dEdb[k] -= dEdb[i] * L[k, i] / L[i, i]
            dEdL[k, i] -= dEdb[i] * b[k] / L[i, i]
    for i in reversed(range(M)):  # through L u = -w
        dEdL[i, i] -= dEdu[i] * u[i] / L[i, i]
        for k in range(i):
            dEdu[k] -= dEdu[i] * L[i, k] / L[i, i]
            dEdL[i, k] -= dEdu[i] * u[k] / L[i, i]
    for i in reversed(range(M)):  # through H = LL'
        for j in reversed(range(i + 1, M)):
            dEdL[i, i] -= dEdL[j, i] * L[j, i] / L[i, i]
            dEdH[i, j] = dEdL[j, i] / L[i, i]
            for k in range(i):
                dEdL[i, k] -= dEdL[j, i] * L[j, k] / L[i, i]
                dEdL[j, k] -= dEdL[j, i] * L[i, k] / L[i, i]
        dEdH[i, i] = 0.5 * dEdL[i, i] / L[i, i]
        for k in range(i):
            dEdL[i, k] -= dEdL[i, i] * L[i, k] / L[i, i]
    return dEdH


def by_the_thesis(sample, criterion, penalties):
    """E and dE/dlambda: a loop over trials and outputs, each factored and propagated by itself."""
    value, gradient = 0.0, np.zeros(len(penalties))
    for train, v, test, omega in trained(sample, criterion):
        X, X_test = with_constant(sample.X[train]), with_constant(sample.X[test])
        H = X.T @ (v[:, None] * X) + 2 * np.diag(np.append(0, penalties**2))
        L = cholesky(H)
        for y in sample.y.T:
            u, b = solved(L, -X.T @ (v * y[train]))
            error = X_test @ b - y[test]
            value += 0.5 * omega @ error**2
            dEdH = back_propagated(L, u, b, X_test.T @ (omega * error))
            gradient += np.diag(dEdH)[1:] * 4 * penalties
    return value, gradient
