"""Choosing C: the exact curve of cross-validation beside a grid."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from common import GAMMA, GRID, best_of, rbf, table
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from chemin import PathSVC
from chemin.datasets import make_speed_benchmark

JOBS = 2
FOLDS = 5
KERNELS = {"RBF": {"kernel": "rbf", "gamma": GAMMA}, "matrix": {"kernel": "precomputed"}}


def choosing(sizes: list[int], seeds: int, repeats: int) -> str:
    """PathSVC beside GridSearchCV(SVC) on the same folds and kernel."""
    rows = [
        _choosing(n, seed, kernel, repeats)
        for n in sizes
        for seed in range(seeds)
        for kernel in KERNELS
    ]
    header = ("n", "seed", "kernel", "path s", f"{GRID} values s", "ratio", "error", "grid's error")
    return "\n\n".join(
        [
            f"`GridSearchCV(SVC(cache_size=1000), {GRID} values of C, cv={FOLDS})` on a log grid "
            "over the walked range of lambda = 1/C, divided by "
            f"`PathSVC(cv={FOLDS})`: the same stratified folds, both with n_jobs={JOBS} and the "
            f"refit on all rows included, best of {repeats} (the processes of joblib are there "
            "already). Data: `make_speed_benchmark(n, seed)`, RBF, gamma = 1/20, or its matrix "
            "handed over as precomputed. Error: the cross-validated 0/1 error that each found.",
            table((*header, "knots of the curve"), rows),
        ]
    )


def _choosing(n: int, seed: int, kernel: str, repeats: int) -> tuple[Any, ...]:
    X, y = make_speed_benchmark(n, seed)
    options = KERNELS[kernel]
    if kernel == "matrix":
        X = rbf(X, GAMMA)
    folds = StratifiedKFold(FOLDS)
    with warnings.catch_warnings():
        # The best lambda may lie at an end: both see the same range.
        warnings.simplefilter("ignore")
        ours, path = best_of(repeats, lambda: PathSVC(**options, cv=folds, n_jobs=JOBS).fit(X, y))
    values = np.geomspace(1 / path.path_.start, 1 / path.path_.stop, GRID)
    search = GridSearchCV(SVC(**options, cache_size=1000), {"C": values}, cv=folds, n_jobs=JOBS)
    theirs, grid = best_of(repeats, lambda: search.fit(X, y))
    error, other = path.curve_.minimum, 1 - grid.best_score_
    if error > other + 1e-9:
        raise RuntimeError(f"the grid found {other}, less than the minimum {error}")
    return n, seed, kernel, ours, theirs, theirs / ours, error, other, len(path.curve_.knots)
