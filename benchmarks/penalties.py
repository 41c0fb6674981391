"""Penalties by gradient: one factor and its adjoint beside finite differences and a plain loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from common import best_of, table
from scipy.linalg import cho_factor, cho_solve
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
    ways: dict[str, Callable[[], Any]] = {
        "adjoint, rows left out of one factor": lambda: _ours(X, y, folds, start),
        "a loop over folds, each factored afresh": lambda: _loop(_plain, X, y, folds, start),
        "the same with every X'X kept, and one factor for both solves": lambda: _loop(
            _kept(X, y, folds), X, y, folds, start
        ),
    }
    seconds, found = dict.fromkeys(ways, np.inf), {}
    for _ in range(repeats):
        for name, call in ways.items():
            once, found[name] = best_of(1, call, process_time)
            seconds[name] = min(seconds[name], once)
    model, *others = found.values()
    descent = model.descents_[0]
    for other in others:
        same = abs(other.fun - descent.criterion[-1]) <= 1e-6 * other.fun
        if other.nit != descent.n_iterations or not same:
            raise RuntimeError(f"two descents: {other.nit} iterations to {other.fun}, {descent!r}")
    seconds["finite differences of the first loop's error"] = (
        _differences(X, y, folds, start) * descent.n_evaluations
    )
    ours = min(seconds.values())
    rows = [(name, spent, spent / ours) for name, spent in seconds.items()]
    return "\n\n".join(
        [
            f"The same {ITERATIONS} iterations of L-BFGS ({descent.n_evaluations} evaluations) "
            f"from one start, T = {ROWS}, M = {COLUMNS}, {FOLDS} folds, best of {repeats}, seconds "
            "of the processor. The loop forms X'X of each fold's rows and solves twice, for the "
            "coefficients and for the adjoint, with NumPy. Finite differences take M + 1 errors "
            f"for a gradient, of which each needs one solve a fold; {FEW} errors are timed "
            "and multiplied.",
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


def _loop(error: Callable[..., Any], X: Floats, y: Floats, folds: list, start: Floats) -> Any:
    unit = 0.5 * y.var()

    def scaled(p: Floats) -> tuple[float, Floats]:
        value, gradient = error(X, y, folds, p)
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


def _kept(X: Floats, y: Floats, folds: list) -> Callable[..., tuple[float, Floats]]:
    """What one writes next: X'X of each fold once, and Cholesky's factor for both solves."""
    known = []
    for train, test in folds:
        centre, level = X[train].mean(axis=0), y[train].mean()
        Z, t = X[train] - centre, y[train] - level
        known.append((Z.T @ Z / len(Z), Z.T @ t / len(Z), X[test] - centre, y[test] - level))

    def error(_X: Floats, _y: Floats, _folds: list, p: Floats) -> tuple[float, Floats]:
        value, gradient = 0.0, np.zeros(len(p))
        for gram, moment, Z_test, t_test in known:
            factor = cho_factor(gram + 2 * np.diag(p**2), lower=True, check_finite=False)
            b = cho_solve(factor, moment, check_finite=False)
            e = Z_test @ b - t_test
            value += 0.5 * np.mean(e**2) / len(known)
            a = cho_solve(factor, Z_test.T @ e / len(e), check_finite=False)
            gradient -= 4 * p * a * b / len(known)
        return value, gradient

    return error


def _differences(X: Floats, y: Floats, folds: list, start: Floats) -> float:
    """Seconds of one gradient by differences."""
    call: Callable[[], object] = lambda: _plain(X, y, folds, start, slopes=False)
    call()
    begin = process_time()
    for _ in range(FEW):
        call()
    return (process_time() - begin) / FEW * (len(start) + 1)
