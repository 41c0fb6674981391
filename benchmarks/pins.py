"""Paths along which pins move, beside the path in lambda of the same data and beside fits.

C-SVM along the cost of the classes, quantile regression along tau: lambda is held at the median
breakpoint of the path in lambda, so that about as many variables are free. Seconds are those of the
processor: other work on the machine does not count.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import common
import numpy as np
from cliffs import counted
from qpsolvers import solve_qp
from sklearn.svm import SVC

import chemin

FITS = 5  # of 100 that are made; of the quadratic programs one
VALUES = np.linspace(0.05, 0.95, FITS)


def pins(sizes: list[int], repeats: int) -> str:
    """A table: each path along cost or tau after the path in lambda."""
    rows: list[Any] = []
    for n in sizes:
        K, y = common.speed_problem(n, 0)
        target = K[:, :3].sum(axis=1) + 0.3 * np.random.default_rng(0).standard_normal(n)
        for path, goal, along, fit in (
            (chemin.svc_path, y, "cost", _svc),
            (chemin.quantile_path, target, "tau", _quantile),
        ):
            rows += _two(path, K, goal, along, fit, repeats)
    header = ("path", "n", "events", "free", "s", "µs an event", "of lambda's", "100 fits in s")
    return common.table((*header, "times the path"), rows)


def _two(
    path: Callable[..., Any], K: Any, y: Any, along: str, fit: Callable[..., float], repeats: int
) -> list[Any]:
    """The path in lambda and the one whose pins move."""
    n, name = len(y), path.__name__.removesuffix("_path")
    plain, line = _timed(lambda: path(K, y, kernel="precomputed"), repeats)
    value = float(np.median(plain.breakpoints))
    options = {"kernel": "precomputed", "along": along, "lambda_": value}
    _, moving = _timed(lambda: path(K, y, **options), repeats)
    seconds = fit(K, y, value)
    each, times = moving[3] / line[3], seconds / moving[2]
    return [
        (f"{name} in lambda", n, *line, "", "", ""),
        (f"{name} in {along}", n, *moving, each, seconds, times),
    ]


def _timed(call: Callable[[], Any], repeats: int) -> tuple[Any, tuple[Any, ...]]:
    seconds = np.inf
    with counted() as count:
        for _ in range(repeats):
            begin = process_time()
            path = call()
            seconds = min(seconds, process_time() - begin)
    worst = common.certificate_ratio(path, most=200)
    if not path.complete or worst > 1:
        raise AssertionError(f"{path!r}: {path.reason}, {worst:.2g} of what is allowed")
    free = round(count.free / max(count.weight, 1.0))
    return path, (len(path), free, seconds, 1e6 * seconds / len(path))


def _svc(K: Any, y: Any, lambda_: float) -> float:
    """Seconds of 100 fits of scikit-learn with the classes weighed, at its default tolerance."""
    begin = process_time()
    for cost in VALUES:
        weights = {0: 2 * (1 - cost), 1: 2 * cost}
        SVC(C=1 / lambda_, kernel="precomputed", class_weight=weights).fit(K, y)
    return (process_time() - begin) * common.GRID / FITS


def _quantile(K: Any, y: Any, lambda_: float) -> float:
    """Seconds of 100 quadratic programs: the dual of kernel quantile regression."""
    begin, n = process_time(), len(y)
    with warnings.catch_warnings():  # dense matrices are converted
        warnings.simplefilter("ignore")
        solve_qp(
            K / lambda_, -y, A=np.ones((1, n)), b=np.zeros(1), lb=np.full(n, -0.5),
            ub=np.full(n, 0.5), solver="clarabel",
        )  # fmt: skip
    return (process_time() - begin) * common.GRID
