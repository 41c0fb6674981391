"""Quadratic losses: the rational path beside eigendecompositions, liblinear and SMO.

Seconds are of the processor. What would take hours is run at a sample of values, each in the middle
of its share of them, and extrapolated: every table says which.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from common import GRID, best_of, certificate_ratio, rbf, table
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from chemin import quadratic_svc_path
from chemin.datasets import load
from chemin.engine.rational import RationalWalker

HUBER = {"rho": 1.1, "h": 0.2}
STOP = 1e-5
DRAWS = 10  # as in the slides; the first one is timed
APART = (0.5, 1.0)  # distances of the means of two Gaussians
LIBLINEAR = {  # tolerance, most rounds, and at how many breakpoints it is fitted
    "defaults": (1e-4, 1000, 50),
    "tight": (1e-6, 100_000, 10),
}
SMO_TOLERANCE, SMO_SAMPLE, SMO_STEPS = 1e-6, 12, 300_000
BETWEEN = 200  # random values between the ends of a path
CHECKED = 1000  # certificates at no more values


class Slides(NamedTuple):
    """What the slides report, with standard deviations."""

    events: str
    steps: str
    without: str


SETS = {  # a random 80 % of the rows
    "australian_scale": (552, Slides("1275 ± 31", "1.05", "")),
    "german_numer_scale": (800, Slides("1822 ± 25", "1.04", "")),
}
GAUSSIANS = {
    100: Slides("150 ± 15", "1.20", "11.99"),
    200: Slides("287 ± 15", "1.12", "14.72"),
    400: Slides("533 ± 33", "1.07", "16.28"),
}


def quadratic(repeats: int) -> str:
    data = {name: _draw(name, rows) for name, (rows, _) in SETS.items()}
    huber = [_against_reference(name, *d, repeats) for name, d in data.items()]
    events = _all_counts()
    squared = [row for name, d in data.items() for row in _against_liblinear(name, *d, repeats)]
    exact = [_accuracy(name, *d) for name, d in data.items()]
    worst = ", ".join(
        f"{min(row[column] for row in rows):.1f} times {what}"
        for rows, column, what in (
            (huber, -1, "faster than the reference"),
            (squared, 6, "than liblinear at every breakpoint"),
            (squared, 8, f"than {GRID} fits of it"),
        )
    )
    return "\n\n".join([f"Worst ratios: {worst}.", *_texts(repeats, huber, events, squared, exact)])


def _texts(
    repeats: int, huber: list[Any], events: list[Any], squared: list[Any], exact: list[Any]
) -> list[str]:
    fits = "; ".join(
        f"{name}: tol={tol:g}, max_iter={rounds}, at {sample} breakpoints"
        for name, (tol, rounds, sample) in LIBLINEAR.items()
    )
    return [
        f"Huber-type hinge, rho = {HUBER['rho']:g}, h = {HUBER['h']:g}, RBF with gamma = 1/d, no "
        f"intercept, a random 80 % of the rows, down to lambda = {STOP:g}; best of {repeats}, the "
        "reference once, all of it. Reference: an eigendecomposition for each event. Apart: the "
        "largest relative difference of a breakpoint.",
        table(
            ("data", "events", "path s", "reference s", "apart", "ratio"),
            [(*row[:-1], f"{row[-1]:.1f}") for row in huber],
        ),
        f"Events, over {DRAWS} draws with their standard deviation, and steps of the searches for "
        "crossings, a function. The slides draw other rows of the real data; of their two normal "
        "distributions in the plane they tell neither means nor variances: here unit variances and "
        "two distances of the means. Their count without the early stop is of searches that all "
        "end at a root. Here a search also ends where it is known that there is none before a "
        "quarter of lambda, which one or two steps tell of most functions.",
        table(
            ("data", "events", "slides", "steps", "slides ", "without early stop", "slides  "),
            events,
        ),
        "Squared hinge, rho = 1, on the same kernel matrices. Liblinear: `LinearSVC(loss="
        '"squared_hinge", dual=True, fit_intercept=False, C=1/(2 lambda))` on a square root of K, '
        f"which is not timed. {fits}, extrapolated to all of them; and on a log grid of {GRID} "
        "over the same range (defaults: all of it; tight: extrapolated from as many as "
        "breakpoints). Unfinished: the part of the fits at breakpoints that were cut at max_iter. "
        "Excess: by how much its objective there is above that of the path, relative; the least "
        "and the largest.",
        table(
            (
                *("data", "events", "path s", "liblinear", "unfinished", "each breakpoint s"),
                *("ratio", f"{GRID} values s", "of it", "excess"),
            ),
            [(*r[:6], f"{r[6]:.0f}", r[7], f"{r[8]:.1f}", r[9]) for r in squared],
        ),
        "Violations |alpha - clip(rho - y f, 0, h)|, f from alpha, of the Huber-type hinge: the "
        f"largest at all breakpoints, and at {BETWEEN} random values between them. SMO: steps "
        "along the multiplier that violates most, from the last solution, until none violates by "
        f"more than {SMO_TOLERANCE:g} or after {SMO_STEPS} steps, at {SMO_SAMPLE} breakpoints; its "
        "least violation there. Squared hinge: the path's largest at all breakpoints. Certificate: "
        f"of the Huber-type hinge, violation and gap over max(1e-9, 50 floor) at {CHECKED} values, "
        "at most 1 where exact.",
        table(
            ("data", "breakpoints", "between", "SMO", "SMO s", "squared hinge", "certificate"),
            exact,
        ),
    ]


# ---------------------------------------------------------------------- data


def _draw(name: str, rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    data = load(name)
    some = np.random.default_rng(seed).permutation(len(data.target))[:rows]
    return rbf(data.data[some], 1.0 / data.data.shape[1]), data.target[some]


def _gaussians(n: int, apart: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % 2
    X = np.random.default_rng(seed).normal(size=(n, 2)) + apart * y[:, None] / np.sqrt(2.0)
    return rbf(X, 0.5), y


def _path(K: np.ndarray, y: np.ndarray, **options: Any) -> Any:
    return quadratic_svc_path(K, y, kernel="precomputed", stop=STOP, **options)


def _some(values: np.ndarray, count: int) -> np.ndarray:
    """So many of the values, each in the middle of its share of them."""
    return values[((np.arange(count) + 0.5) * len(values) / count).astype(int)]


# ---------------------------------------------------------------------- events and steps


def _all_counts() -> list[tuple[Any, ...]]:
    out = []
    for name, (rows, slides) in SETS.items():
        out.append(_counts(name, [_draw(name, rows, seed) for seed in range(DRAWS)], slides))
    for n, slides in GAUSSIANS.items():
        for apart in APART:
            label = f"two Gaussians, n = {n}, {apart:g} apart"
            draws = [_gaussians(n, apart, seed) for seed in range(DRAWS)]
            out.append(_counts(label, draws, slides))
    return out


def _counts(label: str, draws: list[Any], slides: Slides) -> tuple[Any, ...]:
    events = [len(_path(*draw, **HUBER)) for draw in draws]
    steps = []
    for early in (True, False):
        with _counted(early) as tally:
            _path(*draws[0], **HUBER)
        steps.append(sum(s.steps for s in tally) / sum(s.functions for s in tally))
    spread = f"{np.mean(events):.0f} ± {np.std(events, ddof=1):.0f}"
    ours = f"{steps[0]:.3f}", f"{steps[1]:.2f}"
    return label, spread, slides.events, ours[0], slides.steps, ours[1], slides.without


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


# ---------------------------------------------------------------------- speed


def _against_reference(name: str, K: np.ndarray, y: np.ndarray, repeats: int) -> tuple[Any, ...]:
    seconds, path = best_of(repeats, lambda: _path(K, y, **HUBER), process_time)
    os.environ["CHEMIN_ENGINE"] = "reference"
    try:
        slow, reference = best_of(1, lambda: _path(K, y, **HUBER), process_time)
    finally:
        del os.environ["CHEMIN_ENGINE"]
    apart = "other events"
    if len(path) == len(reference):
        apart = f"{np.abs(path.breakpoints / reference.breakpoints - 1.0).max():.0e}"
    return name, len(path), f"{seconds:.2f}", f"{slow:.1f}", apart, slow / seconds


def _against_liblinear(
    name: str, K: np.ndarray, y: np.ndarray, repeats: int
) -> Iterator[tuple[Any, ...]]:
    seconds, path = best_of(repeats, lambda: _path(K, y), process_time)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    grid = np.geomspace(path.start, path.stop, GRID)
    for label, (tolerance, rounds, sample) in LIBLINEAR.items():
        lams = _some(path.breakpoints, sample)
        each, models = _fits(root, y, lams, tolerance, rounds)
        each *= len(path) / sample
        cut = np.mean([np.max(model.n_iter_) >= rounds for model in models])
        excess = [_excess(path, lam, model, root, y) for lam, model in zip(lams, models)]
        some = grid if label == "defaults" else _some(grid, sample)
        all_values = _fits(root, y, some, tolerance, rounds)[0] * GRID / len(some)
        yield (
            *(name, len(path), f"{seconds:.2f}", label, f"{100 * cut:.0f} %", f"{each:.0f}"),
            *(each / seconds, f"{all_values:.1f}", all_values / seconds),
            f"{min(excess):.0e} to {max(excess):.0e}",
        )


def _fits(
    root: np.ndarray, y: np.ndarray, lams: np.ndarray, tolerance: float, rounds: int
) -> tuple[float, list[LinearSVC]]:
    """Seconds of liblinear at these values of lambda, and what it has found."""
    begin = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            LinearSVC(
                loss="squared_hinge",
                dual=True,
                fit_intercept=False,
                C=1.0 / (2.0 * lam),
                tol=tolerance,
                max_iter=rounds,
            ).fit(root, y)
            for lam in lams
        ]
    return process_time() - begin, models


def _excess(path: Any, lam: float, model: LinearSVC, root: np.ndarray, y: np.ndarray) -> float:
    """How much the objective of a model is above that of the path at lambda, relative."""
    slack = np.maximum(0.0, 1.0 - _signs(y) * model.decision_function(root))
    best = path.at(lam).objective
    return float(0.5 * lam * np.sum(model.coef_**2) + 0.5 * slack @ slack - best) / best


# ---------------------------------------------------------------------- accuracy


def _accuracy(name: str, K: np.ndarray, y: np.ndarray) -> tuple[Any, ...]:
    path, squared = _path(K, y, **HUBER), _path(K, y)
    u = np.random.default_rng(0).uniform(*np.log([path.stop, path.start]), BETWEEN)
    ours = [path.certificate(v).kkt_violation.max() for v in (path.breakpoints, np.exp(u))]
    s = _signs(y)
    Q, alpha, left = s[:, None] * s * K, np.zeros(len(y)), []
    begin = process_time()
    for lam in _some(path.breakpoints, SMO_SAMPLE):
        alpha = _smo(Q, lam, alpha)
        left.append(_violation(Q, lam, alpha))
    seconds = (process_time() - begin) * len(path) / SMO_SAMPLE
    own = squared.certificate(squared.breakpoints).kkt_violation.max()
    violations = [f"{x:.1e}" for x in (*ours, min(left), own)]
    worst = certificate_ratio(path, CHECKED)
    return (name, *violations[:3], f"{seconds:.0f}", violations[3], f"{worst:.2g}")


def _signs(y: np.ndarray) -> np.ndarray:
    return np.where(y == y.max(), 1.0, -1.0)


def _violation(Q: np.ndarray, lam: float, alpha: np.ndarray) -> float:
    asked = np.clip(HUBER["rho"] - Q @ alpha / lam, 0.0, HUBER["h"])
    return float(np.abs(alpha - asked).max())


def _smo(Q: np.ndarray, lam: float, alpha: np.ndarray) -> np.ndarray:
    """min alpha'(Q/lambda + I)alpha / 2 - rho sum alpha in [0, h], one multiplier at a time."""
    rho, h, alpha = HUBER["rho"], HUBER["h"], alpha.copy()
    diagonal = Q.diagonal() / lam + 1.0
    gradient = Q @ alpha / lam + alpha - rho
    for _ in range(SMO_STEPS):
        violation = np.abs(alpha - np.clip(alpha - gradient, 0.0, h))
        i = int(np.argmax(violation))
        if violation[i] <= SMO_TOLERANCE:
            break
        step = min(max(alpha[i] - gradient[i] / diagonal[i], 0.0), h) - alpha[i]
        alpha[i] += step
        gradient += step / lam * Q[i]
        gradient[i] += step
    return alpha
