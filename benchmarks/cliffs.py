"""Are there data on which a path falls off a cliff? Every set, kernel and path, the worst first.

    OMP_NUM_THREADS=1 python benchmarks/cliffs.py
    OMP_NUM_THREADS=1 python benchmarks/cliffs.py --sets a1a --kernels "RBF 1/d,linear" --paths svc

A path is compared with the same path of the same rows with noise (`clean`), and with 100 fits of
scikit-learn, of which 10 are made. What the reference engine did is counted. Seconds are those of
the processor: other work on the machine does not count. Each row has a process of its own, and a
limit. The table is `benchmarks/cliffs.md`: rows that are measured again are replaced there.
"""

from __future__ import annotations

import argparse
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path
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
PATIENCE = 60.0  # seconds by the clock on the wall for a path; then it is left
FIT_PATIENCE = 2.0  # seconds for fits: those not made by then are taken to be no slower
WARM = 40  # rows of a path before, for what is loaded once
NOISE = 0.1  # standard deviations of a feature, added to make rows clean
ALLOWED = 3.0  # times the time an event of the clean path, and once that of the fits
FEWEST = 50  # events: paths of fewer take their time before the first, and are no slower for that
LEAST = 1e-4  # of the start: where the grid of a path that goes to 0 ends
LAMBDA = 100.0  # where a path in epsilon or nu is walked
TOTALS = ("events", "by reference")
Row = list[Any]
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


class Walked(NamedTuple):
    """What a walk has cost, and how it went."""

    events: int
    seconds: float
    free: float  # variables, the mean over events
    calls: int  # of the reference, with the events that it passed and the seconds that it took
    helped: int
    help_seconds: float
    end: str
    ends: tuple[float, float]

    @property
    def each(self) -> float:
        """Microseconds an event."""
        return 1e6 * self.seconds / max(self.events, FEWEST)


def walked(kind: Kind, K: np.ndarray, y: tuple[np.ndarray, ...], limit: float) -> Walked:
    """The path; one that takes too long ends where it is."""
    signal.signal(signal.SIGALRM, _enough)  # a timer of the processor would coarsen its clock
    with counted() as count:
        begin = process_time()
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            path = kind.path(K, *y, kernel="precomputed", **kind.options)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        seconds = process_time() - begin
    end = (
        "yes" if path.complete else f"{limit:g} s" if path.reason == "interrupted" else path.reason
    )
    free, ends = count.free / max(count.weight, 1.0), (path.start, path.stop)
    return Walked(len(path), seconds, free, count.calls, count.events, count.seconds, end, ends)


def fits(
    kind: Kind, K: np.ndarray, y: tuple[np.ndarray, ...], ends: tuple[float, float], number: int
) -> Iterator[float]:
    """The seconds of each of some fits over the range of a path."""
    high, low = max(ends), min(ends)
    begin = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for v in np.geomspace(high, max(low, LEAST * high), number):
            before = process_time()
            try:
                kind.fit(float(v)).fit(K, *y)
            except ValueError:  # nu that no labels allow
                continue
            yield process_time() - before
            if process_time() - begin > FIT_PATIENCE:
                return


def measure(
    to: Connection, kernel: str, kind: str, X: np.ndarray, y: np.ndarray, o: argparse.Namespace
) -> None:
    """In a process of its own: the path, the clean one, and fits one by one."""
    what, target, K = KINDS[kind], targets(kind, y), KERNELS[kernel](X)
    some = np.linspace(0, len(X) - 1, WARM).astype(int)  # files may be sorted by their targets
    walked(what, K[np.ix_(some, some)], tuple(part[some] for part in target), o.limit)
    path = walked(what, K, target, o.limit)
    to.send(path)
    noise = NOISE * X.std(axis=0) * np.random.default_rng(0).standard_normal(X.shape)
    clean = walked(what, KERNELS[kernel](X + noise), target, o.limit)
    to.send(clean)
    ends = clean.ends if clean.end == "yes" else path.ends
    for seconds in fits(what, K, target, ends, o.fits):
        to.send(seconds)


def received(limit: float, *args: Any) -> list[Any]:
    """All that the process of a row has sent before it ended, or was silent for too long."""
    here, there = Pipe(duplex=False)
    child = Process(target=measure, args=(there, *args))
    child.start()
    there.close()
    out = []
    with suppress(EOFError):
        while here.poll(1.5 * limit):
            out.append(here.recv())
    child.kill()
    child.join()
    return out


# ---------------------------------------------------------------------- the table

HEADER = ("of clean", "of 100 fits", "set", "kernel", "path", "events", "free", "clean free", "s")
HEADER += ("µs an event", "calls", "by reference", "time by reference", "complete", "clean")


def row(names: tuple[str, str, str], X: np.ndarray, y: np.ndarray, o: argparse.Namespace) -> Row:
    found = received(o.limit, *names[1:], X, y, o)
    if len(found) < 2:
        nothing = f"no answer in {o.limit:g} s"
        return [np.inf, np.nan, *names, *[0] * 8, *((nothing, "") if not found else ("", nothing))]
    path, clean, *made = found
    return [
        path.each / clean.each,
        path.seconds / (GRID * np.mean(made)) if made else np.nan,
        *names,
        path.events,
        round(path.free),
        round(clean.free),
        path.seconds,
        path.each,
        path.calls,
        path.helped,
        path.help_seconds,
        path.end,
        clean.end,
    ]


def rows(o: argparse.Namespace) -> Iterator[Row]:
    for name in o.sets:
        try:
            X, y = SETS[name]()
        except FileNotFoundError as missing:
            print(f"{name} is left out: {missing}", flush=True)
            continue
        some = np.sort(np.random.default_rng(0).permutation(len(y))[: o.rows])
        for kernel in o.kernels:
            for kind in o.paths:
                line = row((name, kernel, kind), X[some], y[some], o)
                print(*(f"{c:.3g}" if isinstance(c, float) else c for c in line), flush=True)
                yield line


def kept(file: Path) -> list[Row]:
    """The rows of an earlier table."""
    lines = file.read_text().splitlines() if file.exists() else []
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if "|" in line]
    return [[_number(c) for c in line] for line in cells[2:]]


def _number(cell: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(cell)
    return cell


def badness(line: Row) -> float:
    """1 at what is allowed, of the clean path and of the fits."""
    return float(np.nanmax([line[0] / ALLOWED, line[1], 0.0]))


def write(file: Path, found: list[Row], o: argparse.Namespace) -> None:
    """The worst first, and what the reference has done in all of them."""
    found = sorted(found, key=badness, reverse=True)
    events, helped = (sum(int(line[HEADER.index(c)]) for line in found) for c in TOTALS)
    far = sum(badness(line) > 1.0 for line in found)
    file.write_text(
        f"# Cliffs\n\n`python benchmarks/cliffs.py --rows {o.rows}`: {len(found)} paths, "
        f"{events} events, {helped} of them ({100 * helped / max(events, 1):.2g} %) by the "
        f"reference. {far} take more than {ALLOWED:g} times as long an event as a clean path, or "
        f"longer than {GRID} fits. Seconds of the processor, one thread.\n\n"
        + table(HEADER, found)
        + "\n"
    )


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, known in (("sets", SETS), ("kernels", KERNELS), ("paths", KINDS)):
        p.add_argument(f"--{name}", type=lambda text: text.split(","), default=list(known))
    p.add_argument("--rows", type=int, default=600, help="of each set, at the most")
    p.add_argument("--limit", type=float, default=PATIENCE, help="seconds for a path")
    p.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    p.add_argument("--fits", type=int, default=FITS, help="of the grid that are made, 0 for none")
    return p.parse_args()


def main() -> None:
    o = parse()
    svc_path(np.eye(4), [1, -1, 1, -1], kernel="precomputed")  # what is loaded once
    found = {tuple(line[2:5]): line for line in kept(o.out)}
    for line in rows(o):
        found[tuple(line[2:5])] = line
        write(o.out, list(found.values()), o)
    print(f"\n{o.out.read_text()}" if found else "")


if __name__ == "__main__":
    main()
