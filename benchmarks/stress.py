"""The stress table: how many paths are exact, refused or wrong on data that break tracers.

    python benchmarks/stress.py

C-SVM on small problems of seven families, linear and RBF kernels, 40 seeds each: chemin beside
cvxcla. Prints the table and writes it to benchmarks/stress.md.
"""

from __future__ import annotations

import argparse
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before NumPy is imported
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from common import knots_and_middles, rbf, table  # noqa: E402
from speed import critical_line  # noqa: E402

from chemin import svc_path  # noqa: E402

RESULTS = Path(__file__).with_name("stress.md")
N = 60
TOLERANCE = 1e-6
RANGE = 1e-5  # of the bound on the start, n max K_ii: where a path ends
RANDOM = 50  # values at which a path is checked, beyond its own
EXACT, REFUSED, WRONG = OUTCOMES = ("exact", "refused", "wrong")
BELOW = "refused below the range"  # counted as refused, and told apart under the table


# ---------------------------------------------------------------------- data


def labels(X: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Noisy labels -1 and +1, with the given share of +1 among the rows."""
    score = X @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))
    y = np.full(len(X), -1.0)
    y[np.argsort(-score, kind="stable")[: round(share * len(X))]] = 1.0
    return y


def balanced(rng: np.random.Generator, d: int, share: float = 0.5) -> Any:
    X = rng.normal(size=(N, d))
    return X, labels(X, share, rng)


def unbalanced(rng: np.random.Generator, d: int) -> Any:
    return balanced(rng, d, 0.3)


def some_duplicates(rng: np.random.Generator, d: int) -> Any:
    """A tenth of the rows repeats another row, with its label."""
    X, y = balanced(rng, d)
    order = rng.permutation(N)
    copies, origins = order[: N // 10], order[N // 10 : 2 * (N // 10)]
    X[copies], y[copies] = X[origins], y[origins]
    return X, y


def all_duplicated(rng: np.random.Generator, d: int) -> Any:
    X, y = balanced(rng, d)
    half = rng.permutation(N)[: N // 2]
    return np.tile(X[half], (2, 1)), np.tile(_two_classes(y[half]), 2)


def gridded(rng: np.random.Generator, d: int) -> Any:
    X = rng.integers(0, 4, size=(N, d)).astype(float)
    return X, labels(X, 0.5, rng)


def binary(rng: np.random.Generator, d: int) -> Any:
    X = rng.integers(0, 2, size=(N, d)).astype(float)
    return X, labels(X, 0.5, rng)


def conflicting(rng: np.random.Generator, d: int) -> Any:
    """A fifth of the rows repeats another row, with the opposite label."""
    X, y = balanced(rng, d)
    order = rng.permutation(N)
    copies, origins = order[: N // 5], order[N // 5 : 2 * (N // 5)]
    X[copies], y[copies] = X[origins], -y[origins]
    return X, y


def _two_classes(y: np.ndarray) -> np.ndarray:
    if np.all(y == y[0]):
        y[0] = -y[0]
    return y


FAMILIES: dict[str, Callable[..., Any]] = {
    "balanced": balanced,
    "30/70": unbalanced,
    "10 % duplicates": some_duplicates,
    "all duplicated": all_duplicated,
    "gridded": gridded,
    "binary features": binary,
    "conflicting labels": conflicting,
}
KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda X: X @ X.T,
    "rbf": lambda X: rbf(X, 1 / X.shape[1]),
}


# ---------------------------------------------------------------------- the judge


def optimal(K: np.ndarray, y: np.ndarray, alpha: np.ndarray, lam: float) -> bool:
    """Whether some intercept b makes every condition of optimality hold within TOLERANCE.

        |alpha_i - clip(alpha_i + 1 - y_i f_i, 0, 1)| <= TOLERANCE,    |y'alpha| <= TOLERANCE n

    with f = K (y alpha) / lambda + b. The first says 1 - y_i f_i <= TOLERANCE unless alpha_i is
    within TOLERANCE of 1, and >= -TOLERANCE unless it is of 0: each an interval for b.
    """
    e = TOLERANCE
    if alpha.min() < -e or alpha.max() > 1 + e or abs(y @ alpha) > e * len(y):
        return False
    slack = 1.0 - y * (K @ (y * alpha)) / lam  # at b = 0
    not_above, not_below = alpha < 1 - e, alpha > e  # y_i b >= slack_i - e, y_i b <= slack_i + e
    lowest = np.concatenate(
        [(slack - e)[not_above & (y > 0)], (-slack - e)[not_below & (y < 0)], [-np.inf]]
    )
    highest = np.concatenate(
        [(slack + e)[not_below & (y > 0)], (e - slack)[not_above & (y < 0)], [np.inf]]
    )
    return bool(lowest.max() <= highest.min())


def random_values(top: float, rng: np.random.Generator) -> np.ndarray:
    """Log-uniform, from the end of a path to above its start."""
    return np.exp(rng.uniform(np.log(RANGE * top), np.log(top), RANDOM))


# ---------------------------------------------------------------------- the judged


def judge_chemin(K: np.ndarray, y: np.ndarray, top: float, rng: np.random.Generator) -> str:
    try:
        path = svc_path(K, y, kernel="precomputed", stop=RANGE * top)
    except Exception:
        return REFUSED
    if not path.complete:
        return REFUSED
    values = np.concatenate([knots_and_middles(path), random_values(top, rng)])
    alphas = y[:, None] * path.coefficients(values)[0] * values
    kept = all(optimal(K, y, a, v) for a, v in zip(alphas.T, values))
    return EXACT if kept and np.all(path.certificate(values).exact) else WRONG


def judge_cvxcla(K: np.ndarray, y: np.ndarray, top: float, rng: np.random.Generator) -> str:
    try:
        points = critical_line(K, y).turning_points
    except Exception as error:
        at = re.search(r"lambda=([-+.e\d]*\d)", str(error))
        return BELOW if at and float(at[1]) < RANGE * top else REFUSED
    lams, alphas = np.array([p.lamb for p in points]), np.array([p.weights for p in points])
    if not lams[-1] <= RANGE * top:
        return REFUSED
    first = alphas[0]  # holds down to the first finite turning point
    lams, alphas = lams[np.isfinite(lams)], alphas[np.isfinite(lams)]
    middles = 0.5 * (lams[1:] + lams[:-1]), 0.5 * (alphas[1:] + alphas[:-1])
    random = random_values(top, rng)
    pairs = [*zip(lams, alphas), *zip(*middles)]
    pairs += [(v, _between(lams, alphas, first, v)) for v in random]
    return EXACT if all(optimal(K, y, a, v) for v, a in pairs if v >= RANGE * top) else WRONG


def _between(lams: np.ndarray, alphas: np.ndarray, first: np.ndarray, v: float) -> np.ndarray:
    """alpha at v, linear between turning points; they come in decreasing order."""
    j = int(np.searchsorted(-lams, -v))
    if j == 0:
        return first
    part = (lams[j - 1] - v) / (lams[j - 1] - lams[j])
    return alphas[j - 1] + part * (alphas[j] - alphas[j - 1])


JUDGES = {"chemin": judge_chemin, "cvxcla": judge_cvxcla}


# ---------------------------------------------------------------------- the table


def run(family: str, kernel: str, seeds: int) -> dict[str, Counter]:
    """Outcomes of every tracer over the seeds."""
    counts = {name: Counter() for name in JUDGES}
    for seed in range(seeds):
        rng = np.random.default_rng([seed, *family.encode()])
        X, y = FAMILIES[family](rng, 2 + seed % 4)
        K = KERNELS[kernel](X)
        top = len(y) * float(K.diagonal().max())
        for name, judge in JUDGES.items():
            counts[name][judge(K, y, top, np.random.default_rng(seed))] += 1
    return counts


def main() -> None:
    p = argparse.ArgumentParser(description="Exact, refused and wrong paths.")
    p.add_argument("--seeds", type=int, default=40)
    p.add_argument("--output", type=Path, default=RESULTS, help="(default: %(default)s)")
    options = p.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rows, total = [], {name: Counter() for name in JUDGES}
    for kernel in KERNELS:
        for family in FAMILIES:
            counts = run(family, kernel, options.seeds)
            rows.append((kernel, family, *_cells(counts)))
            print(*rows[-1], flush=True)
            for name in JUDGES:
                total[name] += counts[name]
    rows.append(("all", "", *_cells(total)))
    header = ("kernel", "family", *(f"{name} {o}" for name in JUDGES for o in OUTCOMES))
    below = (
        f"Of the {rows[-1][-2]} refusals of cvxcla, {total['cvxcla'][BELOW]} came at a lambda "
        "below that range: it always walks to 0, and an error leaves nothing."
    )
    text = f"# The stress table\n\n{about(options.seeds)}\n\n{table(header, rows)}\n\n{below}\n"
    print(text)
    options.output.write_text(text)


def _cells(counts: dict[str, Counter]) -> list[int]:
    extra = {REFUSED: BELOW}
    return [counts[n][o] + counts[n][extra.get(o)] for n in JUDGES for o in OUTCOMES]


def about(seeds: int) -> str:
    return (
        f"Paths of the C-SVM in lambda, {N} points with 2 to 5 features, {seeds} seeds a row, RBF "
        f"with gamma = 1/features, from the top to {RANGE:g} n max k(x, x). Refused: an error, or "
        "a path that ends early. Exact: the conditions of optimality |alpha - clip(alpha + 1 - y "
        f"f, 0, 1)| <= {TOLERANCE:g}, computed from the kernel matrix and the labels alone, with "
        "the best intercept, hold at every breakpoint, at every midpoint between two and at "
        f"{RANDOM} random values; for chemin also its own, stricter certificate. Wrong: returned, "
        "and not exact. Made by `python benchmarks/stress.py`."
    )


if __name__ == "__main__":
    main()
