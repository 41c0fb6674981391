"""Many paths at once: no race, no leak."""

import gc
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_regression

from chemin import lasso_path, svc_path, svr_path

THREADS = 8


def classes(seed, n=120):
    return make_classification(n, 8, n_informative=4, flip_y=0.1, random_state=seed)


def ties(seed, n=60):
    """Points on a grid, many of them twice: jumps and events at one value."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    return X, (X.sum(axis=1) + rng.integers(-1, 2, size=n) > 2).astype(int)


def numbers(seed, n=80):
    X, y = make_regression(n, 6, noise=5.0, random_state=seed)
    return X, y / y.std()


PATHS = {
    "svc": lambda seed: svc_path(*classes(seed), gamma=0.1, stop=1e-3),
    "svc with ties": lambda seed: svc_path(*ties(seed), kernel="linear"),
    "svr": lambda seed: svr_path(*numbers(seed), epsilon=0.1, gamma=0.2),
    "lasso": lambda seed: lasso_path(*numbers(seed), stop=0),
}


def written(path):
    """All that a path says, in bytes."""
    values = np.geomspace(path.start, max(path.stop, 1e-6 * path.start), 7)
    coef, intercept = path.coefficients(values)
    return path.reason, path.events.tobytes(), coef.tobytes(), intercept.tobytes()


def in_threads(calls):
    """The results of all calls, which begin at one moment."""
    gate = Barrier(len(calls))

    def run(call):
        gate.wait(timeout=60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@pytest.mark.parametrize("name", PATHS)
def test_paths_in_threads_are_paths_alone(name):
    """Oracle: the same paths one after the other, to the last bit."""
    alone = [written(PATHS[name](seed)) for seed in range(THREADS)]
    together = in_threads([lambda s=seed: written(PATHS[name](s)) for seed in range(THREADS)])
    assert together == alone


def test_one_path_read_by_many_threads():
    """Oracle: a second path of the same data, read by one thread."""
    path, other = PATHS["svc"](0), PATHS["svc"](0)
    alone = written(other)
    assert in_threads([lambda: written(path)] * THREADS) == [alone] * THREADS


def test_threads_share_one_kernel_matrix():
    """Oracle: paths alone; and the matrix is as it was."""
    X, y = classes(0)
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    before = K.copy()
    walk = lambda: written(svc_path(K, y, kernel="precomputed", stop=1e-3))
    assert in_threads([walk] * THREADS) == [walk()] * THREADS
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize("name", PATHS)
def test_a_path_forgotten_is_memory_returned(name):
    """Oracle: what Python and NumPy hold after many paths, against after a few."""

    def held(times):
        for seed in range(times):
            PATHS[name](seed % 3)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        few = held(3)
        more = held(12) - few
    finally:
        tracemalloc.stop()
    assert more < 50_000, f"{more} bytes are left of 12 paths"
