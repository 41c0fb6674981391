"""Many points: Nyström's features and the exact linear path, beside stochastic gradients."""

from __future__ import annotations

import resource
from time import thread_time
from typing import Any

import numpy as np
from common import table
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier

from chemin import PathSVC, svc_path

FEATURES = 100
GAMMA, NEW = 0.1, 5000


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
