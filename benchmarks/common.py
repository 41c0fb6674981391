"""What the benchmarks share: clocks, kernel matrices, checks and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter, process_time
from typing import Any

import numpy as np

from chemin.datasets import make_speed_benchmark

GAMMA = 1 / 20  # of the RBF kernel on make_speed_benchmark
STOP = 1e-3  # lambda goes from its top to here
GRID = 100  # fits that a path is compared with


def best_of(
    repeats: int, call: Callable[[], Any], clock: Callable[[], float] = perf_counter
) -> tuple[float, Any]:
    """The shortest of so many runs in seconds, and what the last one returned."""
    seconds, result = [], None
    for _ in range(repeats):
        result = None  # so that two results are never held at once
        begin = clock()
        result = call()
        seconds.append(clock() - begin)
    return min(seconds), result


def side_by_side(
    repeats: int, *calls: Callable[[], Any], least: float = 0.2
) -> list[tuple[float, Any]]:
    """Processor seconds of each call, the shortest of so many rounds in which all take turns, and
    what the last one returned. What takes milliseconds is called until `least` seconds are over.
    """
    best: list[tuple[float, Any]] = [(float("inf"), None)] * len(calls)
    spent, rounds = 0.0, 0
    while rounds < repeats or spent < least:
        for k, call in enumerate(calls):
            begin = process_time()
            result = call()
            seconds = process_time() - begin
            best[k] = (min(best[k][0], seconds), result)
            spent += seconds
        rounds += 1
    return best


def rbf(X: np.ndarray, gamma: float) -> np.ndarray:
    squares = np.sum(X * X, axis=1)
    distances = squares[:, None] + squares - 2.0 * (X @ X.T)
    np.fill_diagonal(distances, 0.0)
    return np.exp(-gamma * np.maximum(distances, 0.0))


def speed_problem(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Kernel matrix and labels of the problem on which chemin is timed."""
    X, y = make_speed_benchmark(n, seed)
    return rbf(X, GAMMA), y


def knots_and_middles(path: Any) -> np.ndarray:
    """Every breakpoint and every midpoint between two of them, the ends of the walk included."""
    knots = np.unique(np.concatenate([path.breakpoints, [path.start, path.stop]]))
    return np.unique(np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])]))


def certificate_ratio(path: Any, most: int | None = None) -> float:
    """The worst of violation and gap over max(1e-9, 50 floor): at most 1 when the path is exact.

    At every breakpoint and midpoint, or at `most` of them, evenly spread.
    """
    values = knots_and_middles(path)
    if most is not None and len(values) > most:
        values = values[np.linspace(0, len(values) - 1, most).round().astype(int)]
    c = path.certificate(values)
    worst = np.maximum(np.abs(c.kkt_violation), np.abs(c.relative_gap))
    return float(np.max(worst / np.maximum(1e-9, 50 * c.floor)))


def mean_free(path: Any) -> float:
    """The mean number of points on the elbow, over the pieces of a path of the C-SVM.

    Counted back from the stop: everybody strictly between the bounds there is on the elbow.
    """
    elbow = path.stair_names.index("elbow")
    events = path.events
    change = (events["to"] == elbow).astype(int) - (events["from"] == elbow).astype(int)
    alpha = path.at(path.stop).alpha
    last = int(np.sum((alpha > 0) & (alpha < 1)))
    return float(np.mean(last - np.append(np.cumsum(change[::-1])[::-1], 0)))


def table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table; numbers are aligned to the right."""
    cells = [[_text(cell) for cell in row] for row in rows]
    header = list(header)
    width = [max(len(row[j]) for row in [header, *cells]) for j in range(len(header))]
    numbers = [all(_is_number(row[j]) for row in cells) for j in range(len(header))]

    def line(row: list[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, width, numbers))
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * (w + 1) + (":" if r else "-") for w, r in zip(width, numbers)]
    return "\n".join([line(header), "|" + "|".join(rule) + "|", *map(line, cells)])


def _text(cell: Any) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:.0f}"


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip(" %"))
    except ValueError:
        return text == ""
    return True
