"""Are there data on which a path falls off a cliff? Every set, kernel and path, the worst first.

    OMP_NUM_THREADS=1 python benchmarks/cliffs.py
    OMP_NUM_THREADS=1 python benchmarks/cliffs.py --sets a1a --kernels "RBF 1/d,linear" --paths svc

A path is compared with the same path of the same rows with noise (`clean`), and with 100 fits of
scikit-learn, of which 10 are made. What the reference engine did is counted. Seconds are those of
the processor: other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from common import GRID, rbf, table
from sklearn.datasets import load_digits
from sklearn.svm import SVC, SVR, NuSVR, OneClassSVM

from chemin import nu_svr_path, one_class_path, svc_path, svr_path
from chemin.datasets import load
from chemin.engine import blocked, rescue

FITS = 10  # of the grid that are made
PATIENCE = 60.0  # seconds for a path; then it is left
FIT_PATIENCE = 10.0  # seconds for fits: those not made by then are taken to be no slower
NOISE = 0.1  # standard deviations of a feature, added to make rows clean
ALLOWED = 3.0  # times the time an event of the clean path, and once that of the fits
LEAST = 1e-4  # of the start: where the grid of a path that goes to 0 ends
LAMBDA = 100.0  # where a path in epsilon or nu is walked
LIBSVM = {"kernel": "precomputed", "tol": 1e-3, "cache_size": 1000}


# ---------------------------------------------------------------------- data


def _file(name: str) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def read() -> tuple[np.ndarray, np.ndarray]:
        data = load(name)
        return data.data, data.target

    return read


def usps() -> tuple[np.ndarray, np.ndarray]:
    """Twos and fives, black or white."""
    X, y = _file("usps_train")()
    some = (y == 2) | (y == 5)
    return (X[some] > 0).astype(float), y[some]


SETS = {
    "a1a": _file("a1a_train"),
    "abalone": _file("abalone_scale"),
    "svmguide1": _file("svmguide1_train"),
    "german": _file("german_numer_scale"),
    "USPS 2/5": usps,
    "digits": lambda: load_digits(return_X_y=True),
}
KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda X: X @ X.T,
    "poly 3": lambda X: (X @ X.T / X.shape[1]) ** 3,
    "RBF 0.1/d": lambda X: rbf(X, 0.1 / X.shape[1]),
    "RBF 1/d": lambda X: rbf(X, 1.0 / X.shape[1]),
    "RBF 10/d": lambda X: rbf(X, 10.0 / X.shape[1]),
    "RBF 10": lambda X: rbf(X, 10.0),
}


class Kind(NamedTuple):
    """A path, and the fit of scikit-learn at one of its values."""

    path: Callable[..., Any]
    options: dict[str, Any]
    fit: Callable[[float], Any]


KINDS = {
    "svc": Kind(svc_path, {}, lambda v: SVC(C=1 / v, **LIBSVM)),
    "svr": Kind(svr_path, {}, lambda v: SVR(C=1 / v, epsilon=0.1, **LIBSVM)),
    "svr epsilon": Kind(
        svr_path,
        {"along": "epsilon", "lambda_": LAMBDA},
        lambda v: SVR(C=1 / LAMBDA, epsilon=v, **LIBSVM),
    ),
    "nu-svr": Kind(nu_svr_path, {}, lambda v: NuSVR(C=1 / v, nu=0.5, **LIBSVM)),
    "nu-svr nu": Kind(
        nu_svr_path,
        {"along": "nu", "lambda_": LAMBDA},
        lambda v: NuSVR(C=1 / LAMBDA, nu=v, **LIBSVM),
    ),
    "one-class": Kind(one_class_path, {}, lambda v: OneClassSVM(nu=v, **LIBSVM)),
}


def targets(kind: str, y: np.ndarray) -> tuple[np.ndarray, ...]:
    """Labels, numbers or nothing; the largest class, or what lies above the median, is positive."""
    if kind == "one-class":
        return ()
    if kind != "svc":
        return ((y - y.mean()) / y.std(),)
    values, counts = np.unique(y, return_counts=True)
    few = len(values) <= 10
    return (np.where(y == values[counts.argmax()] if few else y > np.median(y), 1, -1),)


# ---------------------------------------------------------------------- one path


class Count:
    """What blocks and the reference did in a path."""

    def __init__(self) -> None:
        self.calls = self.events = 0
        self.seconds = self.free = self.weight = 0.0


@contextmanager
def counted() -> Iterator[Count]:
    """While this is open, what the walks do is counted."""
    count, helped, taken = Count(), rescue.Helper.walk, blocked.BlockWalker.take_over

    def walk(self: Any, blocks: Any, *args: Any) -> bool:
        begin, before = process_time(), blocks.passed
        try:
            return helped(self, blocks, *args)
        finally:
            count.calls += 1
            count.seconds += process_time() - begin
            count.events += blocks.passed - before

    def take_over(self: Any, *args: Any) -> None:
        weight = self.core.n_events
        taken(self, *args)
        count.free += weight * self.core.ns
        count.weight += weight

    rescue.Helper.walk, blocked.BlockWalker.take_over = walk, take_over  # type: ignore[method-assign]
    try:
        yield count
    finally:
        rescue.Helper.walk, blocked.BlockWalker.take_over = helped, taken  # type: ignore[method-assign]


def _enough(*_: object) -> None:
    raise KeyboardInterrupt


def timed(kind: Kind, K: np.ndarray, y: tuple[np.ndarray, ...]) -> tuple[Any, float, Count]:
    """The path, its seconds and its counts; a walk that takes too long ends where it is."""
    signal.signal(signal.SIGPROF, _enough)
    with counted() as count:
        begin = process_time()
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        try:
            path = kind.path(K, *y, kernel="precomputed", **kind.options)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        return path, process_time() - begin, count


def fits(kind: Kind, K: np.ndarray, y: tuple[np.ndarray, ...], path: Any, number: int) -> float:
    """The seconds of 100 fits over the range of the path, from some of them."""
    if number == 0:
        return np.nan
    high, low = max(path.start, path.stop), min(path.start, path.stop)
    grid = np.geomspace(high, max(low, LEAST * high), number)
    begin, made = process_time(), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for v in grid:
            try:
                kind.fit(float(v)).fit(K, *y)
            except ValueError:  # nu that no labels allow
                continue
            made += 1
            if process_time() - begin > FIT_PATIENCE:
                break
    return (process_time() - begin) * GRID / max(made, 1)


def row(names: tuple[str, str, str], X: np.ndarray, y: np.ndarray, number: int) -> tuple[Any, ...]:
    kernel, kind, target = KERNELS[names[1]], KINDS[names[2]], targets(names[2], y)
    K = kernel(X)
    path, seconds, count = timed(kind, K, target)
    noise = NOISE * X.std(axis=0) * np.random.default_rng(0).standard_normal(X.shape)
    clean, clean_seconds, clean_count = timed(kind, kernel(X + noise), target)
    events, each = len(path), 1e6 * seconds / max(len(path), 1)
    clean_each = 1e6 * clean_seconds / max(len(clean), 1)
    done = "yes" if path.complete else path.reason
    return (
        each / clean_each,
        seconds / fits(kind, K, target, path, number),
        *names,
        events,
        round(count.free / max(count.weight, 1.0)),
        round(clean_count.free / max(clean_count.weight, 1.0)),
        seconds,
        each,
        count.calls,
        f"{100 * count.events / max(events, 1):.2g} %",
        f"{100 * count.seconds / seconds:.2g} %",
        done,
    )


HEADER = ("of clean", "of 100 fits", "set", "kernel", "path", "events", "free", "clean free", "s")
HEADER += ("µs an event", "calls", "events by reference", "time by reference", "complete")


def rows(o: argparse.Namespace) -> Iterator[Any]:
    for name in o.sets:
        try:
            X, y = SETS[name]()
        except FileNotFoundError as missing:
            print(f"{name} is left out: {missing}", flush=True)
            continue
        some = np.sort(np.random.default_rng(0).permutation(len(y))[: o.rows])
        for kernel in o.kernels:
            for kind in o.paths:
                try:
                    line = row((name, kernel, kind), X[some], y[some], o.fits)
                except KeyboardInterrupt:  # before the walk has begun
                    print(name, kernel, kind, f"no path in {PATIENCE:g} s", flush=True)
                    continue
                print(*(f"{c:.3g}" if isinstance(c, float) else c for c in line), flush=True)
                yield line


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, known in (("sets", SETS), ("kernels", KERNELS), ("paths", KINDS)):
        p.add_argument(f"--{name}", type=lambda text: text.split(","), default=list(known))
    p.add_argument("--rows", type=int, default=1605, help="of each set, at the most")
    p.add_argument("--fits", type=int, default=FITS, help="of the grid that are made, 0 for none")
    return p.parse_args()


if __name__ == "__main__":
    found = sorted(rows(parse()), key=lambda line: -np.nanmax([line[0] / ALLOWED, line[1]]))
    print()
    print(table(HEADER, found))
