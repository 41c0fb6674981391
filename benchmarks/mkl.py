"""Learning the weights of kernels beside a grid search for each kernel."""

from __future__ import annotations

from time import thread_time

import numpy as np
from common import table
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from chemin import MKLClassifier
from chemin.kernels import RBF, Kernel, Linear

GRID = np.logspace(-2, 2, 10)  # values of C, in five folds
EVERY = 4  # so many kernels apart are those searched for; the time of all is extrapolated


def kernels_of(d: int) -> list[Kernel]:
    """Twenty: widths from wide to narrow, single features, and the linear one."""
    widths = [RBF(gamma=g / d) for g in np.logspace(-1, 1, 9)]
    return [Linear(), *widths, *(RBF(gamma=0.5).on(j) for j in range(10))]


def mkl(n: int, repeats: int) -> str:
    X, y = make_classification(n, 20, n_informative=6, flip_y=0.1, random_state=0)
    kernels = kernels_of(X.shape[1])
    seconds = []
    for _ in range(repeats):
        begin = thread_time()
        model = MKLClassifier(kernels).fit(X, y)
        seconds.append(thread_time() - begin)
    sample = kernels[::EVERY]
    begin = thread_time()
    for kernel in sample:
        search = GridSearchCV(SVC(kernel="precomputed"), {"C": GRID}, cv=5)
        search.fit(kernel.gram(X), y)
    searched = (thread_time() - begin) * len(kernels) / len(sample)
    own = min(seconds)
    row = (n, len(kernels), model.n_iter_, model.gap_, own, searched, searched / own)
    head = ("n", "kernels", "steps", "gap", "weights and machine s", "grid searches s", "ratio")
    return "\n\n".join(
        [
            f"`MKLClassifier` with {len(kernels)} kernels at C = 1, best of {repeats}, beside "
            f"`GridSearchCV(SVC(), {len(GRID)} values of C, 5 folds)` for each of them "
            f"(extrapolated from {len(sample)}), all in processor seconds of one thread.",
            table(head, [row]),
        ]
    )
