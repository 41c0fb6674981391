"""Penalties by gradient: one factor and its adjoint beside finite differences and a plain loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter

import numpy as np
from common import best_of, table
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from chemin import GradientRidge

ROWS, COLUMNS, FOLDS, ITERATIONS = 400, 200, 10, 20
USEFUL = 20
FEW = 5  # evaluations of finite differences, M + 1 errors each, that are timed

Floats = np.ndarray


def penalties(repeats: int) -> str:
    """GradientRidge beside the same descent with other gradients, on the same folds and start."""
    X, y, start = _data()
    folds = list(KFold(FOLDS).split(X))
    ours, model = best_of(repeats, lambda: _ours(X, y, folds, start))
    descent = model.descents_[0]
    loop, found = best_of(repeats, lambda: _loop(X, y, folds, start))
    same = abs(found.fun - descent.criterion[-1]) <= 1e-6 * found.fun
    if found.nit != descent.n_iterations or not same:
        raise RuntimeError(f"two descents: {found.nit} iterations to {found.fun}, {descent!r}")
    difference = _differences(X, y, folds, start) * descent.n_evaluations
    rows = [
        ("adjoint, rows left out of one factor", ours, 1.0),
        ("a loop over folds, each factored afresh", loop, loop / ours),
        ("finite differences of that loop's error", difference, difference / ours),
    ]
    return "\n\n".join(
        [
            f"The same {ITERATIONS} iterations of L-BFGS ({descent.n_evaluations} evaluations) "
            f"from one start, T = {ROWS}, M = {COLUMNS}, {FOLDS} folds, best of {repeats}. The "
            "loop forms X'X of each fold's rows and solves twice, for the coefficients and for the "
            "adjoint, with NumPy. Finite differences take M + 1 errors for a gradient, of which "
            f"each needs one solve a fold; {FEW} errors are timed and multiplied.",
            table(("gradient by", "seconds", "ratio"), rows),
        ]
    )


def _data() -> tuple[Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    X /= X.std(axis=0)
    return X, X[:, :USEFUL].sum(axis=1) + rng.normal(size=ROWS), rng.uniform(size=COLUMNS)


def _ours(X: Floats, y: Floats, folds: list, start: Floats) -> GradientRidge:
    model = GradientRidge(cv=folds, start=start, max_iter=ITERATIONS, tol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def _loop(X: Floats, y: Floats, folds: list, start: Floats) -> object:
    unit = 0.5 * y.var()

    def scaled(p: Floats) -> tuple[float, Floats]:
        value, gradient = _plain(X, y, folds, p)
        return value / unit, gradient / unit

    options = {"maxiter": ITERATIONS, "gtol": 1e-12, "ftol": 1e-13}
    found = minimize(scaled, start, jac=True, method="L-BFGS-B", options=options)
    found.fun *= unit
    return found


def _plain(
    X: Floats, y: Floats, folds: list, p: Floats, slopes: bool = True
) -> tuple[float, Floats]:
    """What one writes first: the folds one after the other."""
    value, gradient = 0.0, np.zeros(len(p))
    for train, test in folds:
        centre, level = X[train].mean(axis=0), y[train].mean()
        Z, t = X[train] - centre, y[train] - level
        H = Z.T @ Z / len(Z) + 2 * np.diag(p**2)
        b = np.linalg.solve(H, Z.T @ t / len(Z))
        Z_test = X[test] - centre
        e = Z_test @ b + level - y[test]
        value += 0.5 * np.mean(e**2) / len(folds)
        if slopes:
            a = np.linalg.solve(H, Z_test.T @ e / len(e))
            gradient -= 4 * p * a * b / len(folds)
    return value, gradient


def _differences(X: Floats, y: Floats, folds: list, start: Floats) -> float:
    """Seconds of one gradient by differences."""
    call: Callable[[], object] = lambda: _plain(X, y, folds, start, slopes=False)
    call()
    begin = perf_counter()
    for _ in range(FEW):
        call()
    return (perf_counter() - begin) / FEW * (len(start) + 1)
