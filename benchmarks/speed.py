"""Paths beside what one would use instead: grids of fits, cvxcla, lars_path. One table each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from common import (
    GRID,
    STOP,
    best_of,
    certificate_ratio,
    mean_free,
    rbf,
    side_by_side,
    speed_problem,
    table,
)
from cvxcla import CLA
from sklearn.datasets import load_diabetes, make_friedman1, make_regression
from sklearn.linear_model import lars_path
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from chemin import lasso_path, svc_path, svr_path

LARGE = 5000  # from here on one repeat, and certificates at CHECKED values
CHECKED = 2000
LEAST = 2.0  # seconds that a path and its fits take turns for
EPSILON = 0.1  # half the tube, in standard deviations of y
LIBSVM = {"kernel": "precomputed", "tol": 1e-3, "cache_size": 1000}


# ---------------------------------------------------------------------- C-SVM


class Run(NamedTuple):
    """One seed of the C-SVM."""

    events: int
    free: float
    ours: float  # seconds
    fits: float  # seconds
    ratio: float
    worst: float  # certificate


def svc(sizes: list[int], seeds: int, large_seeds: int, repeats: int) -> str:
    rows = []
    for n in sizes:
        k, r = (large_seeds, 1) if n >= LARGE else (seeds, repeats)
        runs = [_svc(n, seed, r) for seed in range(k)]
        mean = Run(*np.mean(runs, axis=0).tolist())
        ratios = [run.ratio for run in runs]
        spread = f"{min(ratios):.3g} to {max(ratios):.3g}"
        times = (mean.ours, mean.fits, mean.ratio, spread)
        worst = max(run.worst for run in runs)
        rows.append((n, k, r, round(mean.events), round(mean.free), *times, worst))
    header = ("n", "seeds", "best of", "events", "mean free", "path s", f"{GRID} fits s", "ratio")
    return "\n\n".join(
        [
            f'{GRID} fits of `SVC(kernel="precomputed", tol=1e-3, cache_size=1000)` on a log grid '
            f"over the walked range, divided by one `svc_path` on the same kernel matrix, lambda "
            f"from its top to {STOP:g}. Data: `make_speed_benchmark(n, seed)`, RBF, gamma = 1/20. "
            "Every column is a mean over the seeds, the ratio a mean of ratios; the certificate is "
            "the worst of violation and gap over max(1e-9, 50 floor), at every breakpoint and "
            f"midpoint (from n = {LARGE} on: at {CHECKED} of them), over all seeds: at most 1 is "
            "exact. The two take turns; processor seconds, the best of all.",
            table((*header, "lowest to highest", "worst certificate"), rows),
        ]
    )


def _svc(n: int, seed: int, repeats: int) -> Run:
    K, y = speed_problem(n, seed)
    ours, fits, path = _beside_fits(
        repeats,
        lambda: svc_path(K, y, kernel="precomputed", stop=STOP),
        lambda v: SVC(C=1 / v, **LIBSVM).fit(K, y),
    )
    worst = certificate_ratio(path, CHECKED if n >= LARGE else None)
    return Run(len(path), mean_free(path), ours, fits, fits / ours, worst)


def _beside_fits(
    repeats: int, walk: Callable[[], Any], fit: Callable[[float], Any]
) -> tuple[float, float, Any]:
    """Seconds of a path and of its grid of fits, and the path."""
    path = walk()
    _insist(path)
    grid = np.geomspace(path.start, path.stop, GRID)
    (ours, path), (fits, _) = side_by_side(
        repeats, walk, lambda: [fit(value) for value in grid][-1], least=LEAST
    )
    return ours, fits, path


def _insist(path: Any) -> None:
    """A path that ends early must not be timed."""
    if not path.complete:
        raise RuntimeError(f"the path ended at {path.stop:g}: {path.reason}")


# ---------------------------------------------------------------------- critical lines


def critical_line(K: np.ndarray, signs: np.ndarray) -> Any:
    """The path of the C-SVM by cvxcla: mean 1, covariance K * yy', y'a = 0 and a in [0, 1]."""
    n = len(signs)
    return CLA(
        mean=np.ones(n),
        covariance=K * np.outer(signs, signs),
        lower_bounds=np.zeros(n),
        upper_bounds=np.ones(n),
        a=signs[None, :],
        b=np.zeros(1),
    )


def cvxcla(n: int, repeats: int) -> str:
    K, y = speed_problem(n, 0)
    signs = np.where(y == y.max(), 1.0, -1.0)
    theirs, solved = best_of(1, lambda: critical_line(K, signs), process_time)
    points = [t for t in solved.turning_points if np.isfinite(t.lamb) and t.lamb > STOP]
    rows = []
    for stop in (STOP, 0.0):
        walk = partial(svc_path, K, y, kernel="precomputed", stop=stop)
        ours, path = side_by_side(repeats, walk)[0]
        _insist(path)
        inside = [t for t in points if t.lamb < path.start]
        apart = max(np.abs(path.at(t.lamb).alpha - t.weights).max() for t in inside)
        row = (n, f"{stop:g}", len(path), len(points), ours, theirs, theirs / ours, float(apart))
        rows.append(row)
    header = ("n", "stop", "events", "turning points", "path s", "cvxcla s", "ratio", "apart")
    return "\n\n".join(
        [
            "The same problem, seed 0, by `cvxcla.CLA`, which always walks to lambda = 0: one run "
            f"of it, chemin best of {repeats}, to {STOP:g} as above and to 0. Turning points: "
            f"those above {STOP:g}. Apart: the largest difference of a multiplier at any of them.",
            table(header, rows),
        ]
    )


# ---------------------------------------------------------------------- regression


def svr(sizes: list[int], repeats: int) -> str:
    header = ("n", "events", "path s", f"{GRID} fits s", "ratio", "worst certificate")
    return "\n\n".join(
        [
            f'{GRID} fits of `SVR(kernel="precomputed", tol=1e-3, cache_size=1000)` on a log grid, '
            f"divided by one `svr_path` in lambda, from its top to {STOP:g}; turns and seconds as "
            f"above. Data: `make_friedman1` with noise 1, standardised, RBF, gamma = 1/10, "
            f"epsilon = {EPSILON:g}. The certificate as above.",
            table(header, [_svr(n, repeats) for n in sizes]),
        ]
    )


def _svr(n: int, repeats: int) -> tuple[Any, ...]:
    X, y = make_friedman1(n, noise=1.0, random_state=0)
    K, y = rbf(StandardScaler().fit_transform(X), 1 / X.shape[1]), (y - y.mean()) / y.std()
    options = {"kernel": "precomputed", "epsilon": EPSILON}
    libsvm = LIBSVM | options
    ours, fits, path = _beside_fits(
        repeats,
        lambda: svr_path(K, y, stop=STOP, **options),
        lambda v: SVR(C=1 / v, **libsvm).fit(K, y),
    )
    return n, len(path), ours, fits, fits / ours, certificate_ratio(path)


def lasso(repeats: int) -> str:
    noisy = {"n_informative": 50, "noise": 10.0, "random_state": 0}
    sets = {
        "diabetes": load_diabetes(return_X_y=True),
        "make_regression": make_regression(1000, 300, **noisy),
    }
    header = ("data", "size", "events", "lars steps", "path s", "lars s", "ratio", "apart")
    return "\n\n".join(
        [
            '`lasso_path(X, y, stop=0)` beside scikit-learn\'s `lars_path(method="lasso")` on '
            "centred data, centring included. They take turns; processor seconds, the best of all. "
            "Apart: the largest difference of a coefficient at the steps of `lars_path`, relative "
            "to the largest one.",
            table(header, [_lasso(name, X, y, repeats) for name, (X, y) in sets.items()]),
        ]
    )


def _lasso(name: str, X: np.ndarray, y: np.ndarray, repeats: int) -> tuple[Any, ...]:
    (ours, path), (theirs, (alphas, _, coefs)) = side_by_side(
        repeats, lambda: lasso_path(X, y, stop=0), lambda: _lars(X, y)
    )
    _insist(path)
    apart = np.abs(path.coefficients(len(y) * alphas)[0] - coefs).max() / np.abs(coefs).max()
    size = f"{X.shape[0]} x {X.shape[1]}"
    times = (ours, theirs, theirs / ours)
    return name, size, len(path), len(alphas) - 1, *times, float(apart)


def _lars(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, Any, np.ndarray]:
    return lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
