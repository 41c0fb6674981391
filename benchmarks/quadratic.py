"""Quadratic losses: the rational path beside eigendecompositions, and beside liblinear."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from common import GRID, best_of, certificate_ratio, rbf, table
from sklearn.svm import LinearSVC

from chemin import quadratic_svc_path
from chemin.datasets import load
from chemin.engine.rational import RationalWalker

SETS = {"australian_scale": 552, "german_numer_scale": 800}  # a random 80 % of each
HUBER = {"rho": 1.1, "h": 0.2}
STOP = 1e-5
SAMPLE = 30  # breakpoints at which liblinear is fitted; the time of all is extrapolated
TOLERANCE, ROUNDS = 1e-6, 100_000  # of liblinear
CHECKED = 1000  # certificates at no more values
SLIDES = {"australian_scale": (1274.9, 1.05), "german_numer_scale": (1821.8, 1.04)}


def quadratic(repeats: int) -> str:
    data = {name: _draw(name, rows) for name, rows in SETS.items()}
    huber = [_against_reference(name, *d, repeats) for name, d in data.items()]
    squared = [_against_liblinear(name, *d, repeats) for name, d in data.items()]
    first = ("data", "events", "of the slides", "steps a function", "without early stop")
    second = (
        "data",
        "events",
        "path s",
        "every breakpoint s",
        "ratio",
        f"{GRID} values s",
        "of that",
    )
    return "\n\n".join(
        [
            f"Huber-type hinge, rho = {HUBER['rho']:g}, h = {HUBER['h']:g}, RBF with gamma = 1/d, "
            f"no intercept, a random 80 % of the rows, down to lambda = {STOP:g}; best of "
            f"{repeats}, the reference once. Reference: an eigendecomposition for each event. The "
            "slides have 1.05 and 1.04 steps a function with the early stop, and 12 to 16 without.",
            table((*first, "path s", "reference s", "ratio", "worst certificate"), huber),
            "Squared hinge, rho = 1, on the same kernel matrices. Liblinear: `LinearSVC(loss="
            f'"squared_hinge", dual=True, tol={TOLERANCE:g}, max_iter={ROUNDS})` on a square root '
            f"of K, which is not timed, at every breakpoint (extrapolated from {SAMPLE}) and on a "
            f"log grid of {GRID} over the same range.",
            table(second, squared),
        ]
    )


def _draw(name: str, rows: int) -> tuple[np.ndarray, np.ndarray]:
    data = load(name)
    some = np.random.default_rng(0).permutation(len(data.target))[:rows]
    return rbf(data.data[some], 1.0 / data.data.shape[1]), data.target[some]


def _path(K: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    return quadratic_svc_path(K, y, kernel="precomputed", stop=STOP, **options)


def _against_reference(name: str, K: np.ndarray, y: np.ndarray, repeats: int) -> tuple[Any, ...]:
    seconds, path = best_of(repeats, lambda: _path(K, y, **HUBER))
    steps = []
    for early in (True, False):
        with _counted(early) as tally:
            _path(K, y, **HUBER)
        steps.append(sum(s.steps for s in tally) / sum(s.functions for s in tally))
    os.environ["CHEMIN_ENGINE"] = "reference"
    try:
        slow, _ = best_of(1, lambda: _path(K, y, **HUBER))
    finally:
        del os.environ["CHEMIN_ENGINE"]
    told = f"{SLIDES[name][0]:.0f}"
    counts = (f"{steps[0]:.2f}", f"{steps[1]:.1f}")
    times = (f"{seconds:.2f}", f"{slow:.1f}", f"{slow / seconds:.0f}")
    return (name, len(path), told, *counts, *times, f"{certificate_ratio(path, CHECKED):.2g}")


@contextmanager
def _counted(early: bool) -> Iterator[list[Any]]:
    """The searches of all walks made within, with or without the early stop."""
    tally: list[Any] = []
    made = RationalWalker.__init__

    def remember(self: Any, *args: Any) -> None:
        made(self, *args)
        self.search.early_stop = early
        tally.append(self.search)

    RationalWalker.__init__ = remember  # type: ignore[method-assign]
    try:
        yield tally
    finally:
        RationalWalker.__init__ = made  # type: ignore[method-assign]


def _against_liblinear(name: str, K: np.ndarray, y: np.ndarray, repeats: int) -> tuple[Any, ...]:
    seconds, path = best_of(repeats, lambda: _path(K, y))
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))

    def fits(lams: np.ndarray) -> float:
        begin = perf_counter()
        for lam in lams:
            LinearSVC(
                loss="squared_hinge",
                dual=True,
                fit_intercept=False,
                C=1.0 / (2.0 * lam),
                tol=TOLERANCE,
                max_iter=ROUNDS,
            ).fit(root, y)
        return perf_counter() - begin

    some = np.linspace(0, len(path) - 1, SAMPLE).round().astype(int)
    each = fits(path.breakpoints[some]) * len(path) / SAMPLE
    grid = fits(np.geomspace(path.start, path.stop, GRID))
    ratios = (f"{each / seconds:.0f}", f"{grid:.1f}", f"{grid / seconds:.1f}")
    return (name, len(path), f"{seconds:.2f}", f"{each:.0f}", *ratios)
