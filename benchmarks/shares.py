"""What a fit of PathSVC takes beside its walks."""

from __future__ import annotations

import warnings
from contextlib import ExitStack
from time import thread_time
from typing import Any
from unittest import mock

from common import GAMMA, table

from chemin import PathSVC, path, walk
from chemin.datasets import make_speed_benchmark
from chemin.problems.machine import KernelMachine
from chemin.selection.criteria import Work
from chemin.selection.family import Family

# Where clocks stand: with its audit, a walk is `audited`; none of them is inside another.
PARTS = {
    "walks": [(KernelMachine, "start"), (walk, "audited"), (path, "audited")],
    "held-out f": [(Work, "_exact_loss")],
    "matrices": [(Family, "prepare"), (Family, "_gram_on"), (walk, "_check_kernel_matrix")],
    "problems": [(walk, "make_problem")],
}


def shares(sizes: list[int], repeats: int) -> str:
    """Parts of the processor time of a fit, of the shortest of several."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wherever the minimum lies
        for n in sizes:
            X, y = make_speed_benchmark(n, 0)
            seconds, parts = min((_fit(X, y) for _ in range(repeats)), key=lambda found: found[0])
            percent = [100 * part / seconds for part in parts.values()]
            rows.append((n, 1e3 * seconds, *percent, 100 - sum(percent)))
    text = (
        f"`PathSVC(cv=5)`, RBF, gamma = 1/20, one worker, best of {repeats}, processor time. "
        "Percent: walks with their starts and audits, f of held-out rows and its errors, kernel "
        "matrices and their checks, what a problem is made of, and the rest."
    )
    return f"{text}\n\n{table(('n', 'ms', *PARTS, 'rest'), rows)}"


def _fit(X: Any, y: Any) -> tuple[float, dict[str, float]]:
    spent = dict.fromkeys(PARTS, 0.0)

    def clocked(part: str, function: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            begin = thread_time()
            try:
                return function(*given, **named)
            finally:
                spent[part] += thread_time() - begin

        return call

    with ExitStack() as stack:
        for part, places in PARTS.items():
            for owner, name in places:
                timed = clocked(part, getattr(owner, name))
                stack.enter_context(mock.patch.object(owner, name, timed))
        begin = thread_time()
        PathSVC(gamma=GAMMA).fit(X, y)
        return thread_time() - begin, spent
