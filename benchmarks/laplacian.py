"""Sparse Laplacian SVM down to its validation minimum, beside forming K and K (L K) with NumPy.

    python benchmarks/laplacian.py [n] [labels]

Times are CPU seconds of one thread, so that what else the machine does counts less. Memory is the
peak of each part above what stood before it, in kernel matrices of n x n doubles.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from threadpoolctl import threadpool_limits

from chemin import LaplacianSVC, SparseLaplacianSVC
from chemin.kernels import graph_laplacian, neighbor_graph

GAMMA, NOISE = 2.0, 0.1


def problem(n: int, labels: int) -> tuple[Any, ...]:
    X, y = make_moons(n, noise=NOISE, random_state=0)
    rng, partly = np.random.default_rng(0), np.full(n, -1)
    for c in (0, 1):
        partly[rng.permutation(np.flatnonzero(y == c))[: labels // 2]] = c
    return X, y, partly, make_moons(1000, noise=NOISE, random_state=1)


def formed(X: Any, L: Any) -> Any:
    """K and K (L K), as one would write it."""
    square = (X * X).sum(axis=1)
    K = np.exp(-GAMMA * np.maximum(square[:, None] + square - 2.0 * X @ X.T, 0.0))
    return K, K @ (L @ K)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def timed(call: Any) -> tuple[float, Any]:
    begun = time.process_time()
    out = call()
    return time.process_time() - begun, out


def main(n: int = 5000, labels: int = 64) -> None:
    warnings.filterwarnings("ignore", message="the graph has")
    threadpool_limits(1)
    X, y, partly, own = problem(n, labels)
    matrix = 8.0 * n * n
    first = np.where(np.arange(300) < 20, y[:300], -1)
    SparseLaplacianSVC(gamma=GAMMA).fit(X[:300], first, validation=own)  # all is loaded then
    before = peak()
    ours, model = timed(lambda: SparseLaplacianSVC(gamma=GAMMA).fit(X, partly, validation=own))
    used = (peak() - before) / matrix
    L = graph_laplacian(neighbor_graph(X))
    theirs, _ = timed(lambda: formed(X, L))
    print(f"n = {n}, {labels} labels, validation error {model.curve_.minimum:.4f}")
    print("| K and K (L K) s | path s | ratio | events | terms | kernel matrices |")
    print("|---|---|---|---|---|---|")
    print(
        f"| {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | {model.path_.n_events} | "
        f"{len(model.support_)} | {used:.2f} |"
    )
    plain = LaplacianSVC(gamma=GAMMA, lambda2=0.01).fit(X[: n // 2], partly[: n // 2])
    fast, _ = timed(lambda: model.predict(own[0]))
    slow, _ = timed(lambda: plain.predict(own[0]))
    print(
        f"prediction of {len(own[0])} points: {1e3 * fast:.1f} ms with {len(model.support_)} terms "
        f"and {1e3 * slow:.1f} ms with {len(plain.support_)}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
