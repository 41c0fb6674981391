"""Choosing variables: stepwise beside refitting, adaptive ridge beside its iteration, the lasso's
choice beside LassoCV and LassoLarsCV, and its path beside lars_path on wide data.
"""

from __future__ import annotations

import warnings
from time import perf_counter, process_time
from typing import Any

import numpy as np
from common import best_of, side_by_side, table
from scipy.optimize import minimize, minimize_scalar
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoCV, LassoLarsCV, lars_path
from sklearn.model_selection import KFold

from chemin import (
    AdaptiveRidge,
    PathLasso,
    StepwiseRegression,
    adaptive_ridge_iteration,
    lasso_path,
)
from chemin.datasets import make_breiman

RANGE = 1e-3  # of the start, as LassoCV's
ROUNDS = 10  # of the iteration for adaptive ridge, as in the thesis
# Or until no coefficient changes by more than this part of the largest: nearly what paths give.
SETTLED, MANY = 1e-6, 10_000


def variables(repeats: int, wide: list[int]) -> str:
    """All tables."""
    with warnings.catch_warnings():
        # A minimum may lie at an end, and coordinate descent may not converge: both see the same.
        warnings.simplefilter("ignore")
        return "\n\n".join([_stepwise(repeats), _adaptive(), _paths(repeats, wide), _choices()])


# ---------------------------------------------------------------------- stepwise


def _stepwise(repeats: int) -> str:
    X, y, _ = make_breiman(400, 0, n_features=200, centres=range(5, 200, 10), h=1)
    ours, model = best_of(repeats, lambda: StepwiseRegression().fit(X, y))
    begin = perf_counter()
    chosen = _by_refitting(X, y)
    theirs = perf_counter() - begin
    if sorted(chosen) != np.flatnonzero(model.support_).tolist():
        raise RuntimeError("refitting has chosen other variables")
    header = ("direction", "steps", "path s", "refits s", "ratio")
    return "\n\n".join(
        [
            "`StepwiseRegression` on 400 rows of 200 variables (`make_breiman`, h = 1, rho = 0.5) "
            "beside fitting every candidate by `numpy.linalg.lstsq` in every step. Both choose the "
            "same variables.",
            table(header, [("stepwise", len(model.steps_), ours, theirs, theirs / ours)]),
        ]
    )


def _by_refitting(X: np.ndarray, y: np.ndarray, alpha: float = 0.05) -> list[int]:
    """Every candidate is fitted by itself."""
    from scipy.stats import f as f_distribution

    X, y = X - X.mean(axis=0), y - y.mean()

    def rest(columns: list[int]) -> float:
        b = np.linalg.lstsq(X[:, columns], y)[0] if columns else np.zeros(0)
        return float(np.sum((y - X[:, columns] @ b) ** 2))

    def p_value(smaller: float, larger: float, count: int) -> float:
        df = len(y) - 1 - count
        return float(f_distribution.sf((smaller - larger) / (larger / df), 1, df))

    chosen: list[int] = []
    while True:
        before, now = list(chosen), rest(chosen)
        others = [j for j in range(X.shape[1]) if j not in chosen]
        with_each = [rest([*chosen, j]) for j in others]
        if p_value(now, min(with_each), len(chosen) + 1) <= alpha:
            chosen.append(others[int(np.argmin(with_each))])
        now = rest(chosen)
        without = [rest([k for k in chosen if k != j]) for j in chosen]
        if without and p_value(min(without), now, len(chosen)) > alpha:
            del chosen[int(np.argmin(without))]
        if chosen == before:
            return chosen


# ---------------------------------------------------------------------- adaptive ridge


def _adaptive() -> str:
    cases = (60, 30, (5, 15, 25)), (400, 200, range(5, 200, 10)), (100, 400, range(5, 400, 20))
    rows = [_one_adaptive(*case, ROUNDS, 0.0, how) for case in cases for how in ("Powell", "Brent")]
    rows.append(_one_adaptive(*cases[0], MANY, SETTLED, "Brent"))
    header = ("rows", "variables", "at most rounds", "search", "its calls", "path s", "search s")
    return "\n\n".join(
        [
            "`AdaptiveRidge(cv=10)` beside the classical way on the same folds: a search for log "
            "mu, by Powell's method from mu = 1 as in the thesis, or by Brent's to three digits "
            "between the ends of the exact curve, which that way does not know; each fold by "
            f"{ROUNDS} rounds of the iteration, which leave a hundredth of a coefficient; in the "
            f"last row until it has settled to {SETTLED:g}. Processor seconds. Error: the "
            "cross-validated squared error at the mu that each found, both by exact solutions.",
            table((*header, "ratio", "error", "search's error"), rows),
        ]
    )


def _one_adaptive(
    n: int, d: int, centres: Any, rounds: int, tol: float, how: str
) -> tuple[Any, ...]:
    X, y, _ = make_breiman(n, 0, n_features=d, centres=centres, h=3)
    folds, calls = list(KFold(10).split(X)), 0
    ours, model = best_of(5, lambda: AdaptiveRidge(cv=folds).fit(X, y), process_time)

    def error(log_mu: Any) -> float:
        nonlocal calls
        calls, total = calls + 1, 0.0
        for train, test in folds:
            mu = float(np.exp(np.ravel(log_mu)[0])) * len(train) / n
            b, b0, _ = adaptive_ridge_iteration(X[train], y[train], mu, max_rounds=rounds, tol=tol)
            total += float(np.mean((y[test] - X[test] @ b - b0) ** 2)) / len(folds)
        return total

    ends = np.log(model.curve_.range)
    begin = process_time()
    if how == "Powell":
        found = minimize(error, [0.0], method="Powell")
    else:
        found = minimize_scalar(error, bounds=ends, method="bounded", options={"xatol": 1e-3})
    theirs = process_time() - begin
    other = float(model.curve_(np.clip(np.exp(np.ravel(found.x)[0]), *model.curve_.range)))
    times = ours, theirs, theirs / ours
    return n, d, rounds, how, calls, *times, model.curve_.minimum, other


# ---------------------------------------------------------------------- lasso


def _draw(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    if (n, d) == (442, 10):
        return load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(n, d)), np.zeros(d)
    coef[:20] = rng.normal(size=20)
    return X, X @ coef + 2.0 * rng.normal(size=n)


def _paths(repeats: int, wide: list[int]) -> str:
    sizes = [(442, 10), (1000, 300), (200, 5000), *((100, d) for d in wide)]
    rows = [_one_path(n, d, repeats if d < 1000 else 1) for n, d in sizes]
    header = ("size", "events", "lars steps", "path s", "lars s", "ratio", "below 1e-6 of start")
    return "\n\n".join(
        [
            '`lasso_path(X, y, stop=0)` beside `lars_path(method="lasso")` on centred data, '
            "centring included. They take turns; processor seconds, the best of all.",
            table(header, rows),
        ]
    )


def _one_path(n: int, d: int, repeats: int) -> tuple[Any, ...]:
    X, y = _draw(n, d)
    (ours, path), (theirs, (alphas, _, _)) = side_by_side(
        repeats,
        lambda: lasso_path(X, y, stop=0),
        lambda: lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso"),
    )
    if not path.complete:
        raise RuntimeError(path.reason)
    noise = int(np.sum(path.breakpoints < 1e-6 * path.start))
    return f"{n} x {d}", len(path), len(alphas) - 1, ours, theirs, theirs / ours, noise


def _choices() -> str:
    rows = [_one_choice(n, d) for n, d in ((442, 10), (1000, 300), (200, 5000))]
    header = ("size", "path s", "LassoCV s", "LassoLarsCV s", "alpha", "LassoCV's", "LassoLarsCV's")
    return "\n\n".join(
        [
            f"`PathLasso(cv=5)` down to {RANGE:g} of the start beside `LassoCV(cv=5)` and "
            "`LassoLarsCV(cv=5)` on the same folds, with the alpha that each chose. They take "
            "turns; processor seconds, the best of all.",
            table(header, rows),
        ]
    )


def _one_choice(n: int, d: int) -> tuple[Any, ...]:
    X, y = _draw(n, d)
    folds = list(KFold(5).split(X))
    start = float(np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max())
    (ours, path), (grid, cv), (steps, lars) = side_by_side(
        1,
        lambda: PathLasso(cv=folds, stop=RANGE * start).fit(X, y),
        lambda: LassoCV(cv=folds).fit(X, y),
        lambda: LassoLarsCV(cv=folds).fit(X, y),
    )
    return f"{n} x {d}", ours, grid, steps, path.alpha_, float(cv.alpha_), float(lars.alpha_)
