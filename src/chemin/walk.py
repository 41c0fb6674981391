"""From checked data to a path: the problem of that name, walked. No argument is checked here."""

from __future__ import annotations

from typing import Any

import numpy as np

from .engine import IndefiniteError, Trace, follow
from .kernels import DenseGram, Gram
from .path import Data, Path, make_problem
from .problems import Problem
from .problems.certificate import BLIND, FLOORS
from .problems.staircase import Floats


def walk_path(
    name: str,
    data: Data,
    spec: dict[str, Any],
    *,
    target: Floats | None = None,
    start: float | None = None,
    stop: float | None = None,
    max_events: int | None = None,
    verbose: int = 0,
    check_psd: bool = False,
    gram: Floats | None = None,
) -> Path:
    """The path of a problem.

    Parameters
    ----------
    name, spec : the problem, and what besides the data makes it
    data : what the path is computed from
    target : -1 and 1 for labels; None: `data.y` itself
    start, stop : values of the parameter
    gram : the kernel matrix of all rows, if it is known
    """
    problem = make_problem(name, data, target, spec, gram)
    matrix = problem.system.coupling.gram
    if data.kernel is not None and isinstance(matrix, DenseGram):
        refuse_large_entries(matrix.matrix)
        if check_psd:
            refuse_indefinite(matrix)
    if problem.default_range is not None:
        start, stop = (d if v is None else v for v, d in zip((start, stop), problem.default_range))
    begin, end = (None if v is None else v / problem.unit for v in (start, stop))
    try:
        trace = follow(
            problem.system,
            problem.start(start),
            begin=begin,
            stop=end,
            max_events=max_events,
            verbose=verbose,
        )
    except IndefiniteError as error:
        raise ValueError(_indefinite(f"a negative pivot at row {error.variable}")) from None
    return Path(problem, _certifiable(problem, trace), data, closed_above=begin is None)


def _certifiable(problem: Problem, trace: Trace) -> Trace:
    """The walk down to where round-off hides whether a solution is optimal.

    Round-off grows along a walk, so the end is looked at first, and the place by bisection.
    """
    ends = np.flatnonzero(trace.t0 != trace.t1)

    def hidden(k: int) -> float:
        t = trace.t1[ends[k] : ends[k] + 1]
        if t[0] == 0 and problem.reading.inverse:
            return 0.0
        floor = float(problem.certificate(problem.columns(trace.solutions(t), t)).floor[0])
        return floor if not FLOORS * floor <= BLIND else 0.0

    if not len(ends) or not hidden(len(ends) - 1):
        return trace
    good, bad = -1, len(ends) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if hidden(middle) else (middle, bad)
    why = f"round-off ({hidden(bad):.1e} of a margin) hides what comes next"
    return trace.cut(int(ends[good]) + 1 if good >= 0 else 0, why)


def refuse_large_entries(K: Floats) -> None:
    """No entry of a positive semi-definite matrix is larger than the largest of its diagonal."""
    largest, diagonal = max(float(K.max()), -float(K.min())), float(K.diagonal().max())
    if largest > diagonal * (1 + 1e-8):
        how = f"it has an entry of size {largest:.6g}, more than {diagonal:.6g} on its diagonal"
        raise ValueError(_indefinite(how))


def refuse_indefinite(gram: Gram) -> None:
    """Z Z' has no negative eigenvalue; a matrix may."""
    if not isinstance(gram, DenseGram):
        return
    lowest = np.linalg.eigvalsh(gram.matrix)
    if lowest[0] < -1e-10 * len(gram) * abs(lowest[-1]):
        raise ValueError(_indefinite(f"its smallest eigenvalue is {lowest[0]:.3g}"))


def _indefinite(how: str) -> str:
    return (
        f"the kernel matrix is not positive semi-definite ({how}): a path needs a kernel that is, "
        "such as 'rbf', 'poly' with coef0 >= 0 or 'linear'"
    )
