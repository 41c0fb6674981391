"""Many points: Nyström's features and the exact linear path, beside stochastic gradients."""

from __future__ import annotations

import resource
from time import thread_time
from typing import Any

import numpy as np
from common import table
from scipy.sparse import random
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier

from chemin import PathSVC, svc_path

FEATURES = 100
GAMMA, NEW = 0.1, 5000
DENSITY = 0.01


def problem(n: int) -> tuple[Any, Any]:
    """Labels of a function of four of eight variables, with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    return X, (f + 0.5 * rng.normal(size=n) > 0).astype(int)


def timed(call: Any) -> tuple[float, Any]:
    """Processor seconds of this thread, and what came back."""
    begin = thread_time()
    result = call()
    return thread_time() - begin, result


def row(n: int, m: int) -> tuple[Any, ...]:
    X, y = problem(n + NEW)
    map_ = Nystroem(gamma=GAMMA, n_components=m, random_state=0).fit(X[:n])
    Z, Z_new, y, y_new = map_.transform(X[:n]), map_.transform(X[n:]), y[:n], y[n:]
    walked, path = timed(lambda: svc_path(Z, y, kernel="linear"))
    chosen, model = timed(lambda: PathSVC(kernel="linear").fit(Z, y))
    gradient = SGDClassifier(alpha=model.lambda_ / n, average=True, random_state=0)
    descended, gradient = timed(lambda: gradient.fit(Z, y))
    errors = [f"{100 * (1 - one.score(Z_new, y_new)):.1f}" for one in (model, gradient)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return (n, m, path.n_events, walked, chosen, memory, errors[0], descended, errors[1])


def sparse_row(n: int) -> tuple[Any, ...]:
    """Random sparse points, to a hundredth of the start, with labels that are noisy."""
    rng = np.random.default_rng(0)
    d = n // 4
    X = random(n, d, DENSITY, "csr", random_state=0, data_rvs=rng.standard_normal)
    signal = X @ rng.normal(size=d) / np.sqrt(DENSITY * d)
    y = np.where(signal + 0.5 * rng.normal(size=n) > 0, 1, -1)
    start = svc_path(X, y, kernel="linear", max_events=1).start
    walked, path = timed(lambda: svc_path(X, y, kernel="linear", stop=1e-2 * start))
    exact = path.certificate(np.geomspace(path.stop, path.start, 7)).exact.all()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return (n, d, path.n_events, walked, memory, "yes" if path.complete and exact else "no")


def sparse(n: int) -> str:
    head = ("n", "features", "events", "path s", "most memory GB", "complete and certified")
    return "\n\n".join(
        [
            f"Sparse points, {100 * DENSITY:.0f} % of their entries not 0, linear kernel, to 1e-2 "
            "of the start: neither the kernel matrix nor the points are ever dense. The memory is "
            "that of the whole process so far.",
            table(head, [sparse_row(n)]),
        ]
    )


def large(n: int, features: int = FEATURES) -> str:
    head = ("n", "features", "events", "path s", "5 folds and path s", "most memory GB")
    head = (*head, "error %", "SGD s", "SGD error %")
    return "\n\n".join(
        [
            f'`Nystroem(n_components=...)` of a Gaussian and `PathSVC(kernel="linear")`, in '
            "processor seconds of one thread; the memory is that of the whole process so far. The "
            f"kernel matrix would have {8 * n * n / 1e9:.1f} GB. `SGDClassifier` at the lambda "
            f"that the folds chose. Errors on {NEW} new points.",
            table(head, [row(n, features)]),
        ]
    )
