"""nu-SVR: a whole lambda path beside NuSVR, and leave-one-out beside training again."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from common import GRID, best_of, certificate_ratio, rbf, table
from sklearn.svm import SVR, NuSVR

from chemin import nu_svr_path, svr_path
from chemin.datasets import load, make_sinexp

LIBSVM = {"kernel": "precomputed", "tol": 1e-3, "cache_size": 1000}
NUS = (0.01, 0.5, 0.75)
SAMPLE = 60  # breakpoints at which NuSVR is fitted; the time of all is extrapolated
CHECKED = 1000  # certificates at no more values
TOY = 1500
TRAINING = 406  # rows of boston
FRACTIONS = (1e-1, 1e-2, 1e-3)  # of the start, where points are left out
LEFT_OUT = 60  # support vectors without which SMO is trained; the time of all is extrapolated
EPSILON = 0.1


class Case(NamedTuple):
    """A kernel matrix and its targets."""

    name: str
    K: np.ndarray
    y: np.ndarray


def gaussian(X: np.ndarray, width: float) -> np.ndarray:
    """exp(-|x - x'|^2 / (2 width^2))."""
    return rbf(X, 1.0 / (2.0 * width**2))


def cases(toy: int) -> list[Case]:
    X, y = make_sinexp(toy, 0)
    data = load("boston")
    rows = np.random.default_rng(0).permutation(len(data.target))[:TRAINING]
    B, b = data.data[rows], data.target[rows]
    B, b = (B - B.mean(axis=0)) / B.std(axis=0), (b - b.mean()) / b.std()
    return [
        Case(f"toy {toy}, width 0.1", gaussian(X, 0.1), y),
        Case(f"boston {TRAINING}, width 1", gaussian(B, 1.0), b),
        Case(f"boston {TRAINING}, width 0.1", gaussian(B, 0.1), b),
    ]


def nu(toy: int, repeats: int) -> str:
    data = cases(toy)
    paths = [_path(case, nu, repeats) for case in data for nu in NUS]
    header = ("data", "nu", "events", "path s", "every breakpoint s", "ratio of that")
    out = (
        "data",
        "model",
        "lambda",
        "support vectors",
        "leave-one-out s",
        "training again s",
        "ratio",
    )
    return "\n\n".join(
        [
            'Fits of `NuSVR(kernel="precomputed", tol=1e-3, cache_size=1000)` at every breakpoint '
            f"(extrapolated from {SAMPLE} of them, evenly among the events) and on a log grid of "
            f"{GRID} over the walked range, divided by one `nu_svr_path` in lambda on the same "
            f"kernel matrix, from its top to 1e-4 of it, best of {repeats}, in "
            "processor seconds. Data: "
            f"`make_sinexp({toy}, 0)`; {TRAINING} random rows of boston, features and target "
            "standardised; exp(-|x - x'|^2 / (2 width^2)). The certificate as in the other tables, "
            f"at {CHECKED} breakpoints and midpoints at most.",
            table((*header, f"{GRID} values s", "of that", "worst certificate"), paths),
            f"`path.leave_one_out(value)` at one lambda, given as a part of the start, best of "
            f"{repeats}, beside SMO (same tolerance) trained again without each support vector, "
            f"extrapolated from {LEFT_OUT} of them; nu = 0.5, epsilon = {EPSILON:g}. Apart: the "
            "largest difference from SMO, which stops at its tolerance.",
            table((*out, "apart"), [row for case in data for row in _left_out(case, repeats)]),
        ]
    )


# ---------------------------------------------------------------------- paths


def _path(case: Case, nu: float, repeats: int) -> tuple[Any, ...]:
    options = {"kernel": "precomputed", "nu": nu}
    ours, path = best_of(repeats, lambda: nu_svr_path(case.K, case.y, **options), process_time)
    if not path.complete:
        raise RuntimeError(f"the path ended at {path.stop:g}: {path.reason}")
    points = _evenly(path.breakpoints, SAMPLE)
    libsvm = LIBSVM | {"nu": nu}
    every = _fits(case, libsvm, points) * len(path) / len(points)
    grid = _fits(case, libsvm, np.geomspace(path.start, path.stop, GRID))
    times = (ours, every, every / ours, grid, grid / ours)
    return case.name, nu, len(path), *times, certificate_ratio(path, CHECKED)


def _fits(case: Case, libsvm: dict[str, Any], values: np.ndarray) -> float:
    """Seconds for a fit at every value."""
    begin = process_time()
    for value in values:
        NuSVR(C=1 / value, **libsvm).fit(case.K, case.y)
    return process_time() - begin


def _evenly(items: np.ndarray, most: int) -> np.ndarray:
    if len(items) <= most:
        return items
    return items[np.linspace(0, len(items) - 1, most).round().astype(int)]


# ---------------------------------------------------------------------- leave-one-out


def _left_out(case: Case, repeats: int) -> list[tuple[Any, ...]]:
    options = {"kernel": "precomputed"}
    pairs: list[tuple[str, Any, Callable[..., Any]]] = [
        (
            "nu-SVR",
            nu_svr_path(case.K, case.y, nu=0.5, **options),
            lambda value: NuSVR(nu=0.5, C=1 / value, **LIBSVM),
        ),
        (
            "epsilon-SVR",
            svr_path(case.K, case.y, epsilon=EPSILON, **options),
            lambda value: SVR(epsilon=EPSILON, C=1 / value, **LIBSVM),
        ),
    ]
    return [
        (case.name, name, f"{part:g}", *_leave_out(case, path, make, part, repeats))
        for name, path, make in pairs
        for part in FRACTIONS
    ]


def _leave_out(
    case: Case, path: Any, make: Callable[..., Any], part: float, repeats: int
) -> tuple[Any, ...]:
    value = part * path.start
    ours, f = best_of(repeats, lambda: path.leave_one_out(value), process_time)
    support = path.at(value).support
    some = _evenly(support, LEFT_OUT)
    begin = process_time()
    g = np.array([_without(case, int(i), make(value)) for i in some])
    theirs = (process_time() - begin) * len(support) / len(some)
    return len(support), ours, theirs, theirs / ours, float(np.abs(f[some] - g).max())


def _without(case: Case, i: int, model: Any) -> float:
    """f_-i(x_i) by a new model; the matrix without the point is part of the work."""
    rest = np.delete(np.arange(len(case.y)), i)
    model.fit(case.K[np.ix_(rest, rest)], case.y[rest])
    return float(model.predict(case.K[[i]][:, rest])[0])
