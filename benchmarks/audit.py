"""What the audit of a walk costs: seconds within the same calls, as a share of them.

Seconds of this thread: other work on the machine does not count. Walks have one BLAS thread.
"""

from __future__ import annotations

from time import thread_time
from typing import Any

import common
import numpy as np

import chemin
from chemin.engine import audit as certificates


class Clock:
    """A function that knows how long its calls take."""

    def __init__(self, function: Any) -> None:
        self.function, self.seconds = function, 0.0

    def __call__(self, *args: Any, **options: Any) -> Any:
        begin = thread_time()
        try:
            return self.function(*args, **options)
        finally:
            self.seconds += thread_time() - begin


def audit(sizes: list[int], repeats: int) -> str:
    """A table for C-SVMs: the smallest share of some runs, each with its own audit."""
    rows = []
    for n in sizes:
        K, y = common.speed_problem(n, 0)
        shares, seconds = [], []
        for _ in range(repeats):
            clock = Clock(certificates.certified)
            certificates.certified, original = clock, certificates.certified
            try:
                begin = thread_time()
                chemin.svc_path(K, y, kernel="precomputed", stop=common.STOP)
                whole = thread_time() - begin
            finally:
                certificates.certified = original
            shares.append(clock.seconds / whole)
            seconds.append(whole)
        k = int(np.argmin(seconds))
        rows.append((n, f"{seconds[k]:.4f}", f"{100 * shares[k]:.1f} %"))
    return common.table(("n", "path in seconds", "audit"), rows)
