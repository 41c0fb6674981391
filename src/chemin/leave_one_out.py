"""f(x_i) of the model without point i, from the solution with it: its multipliers walk to zero."""

from __future__ import annotations

import numpy as np

from .engine import Job, Trace, phase_one, polish, walk_out
from .kernels import exact_sum, parted
from .problems import KernelMachine, Problem
from .problems.staircase import Floats, Ints


def predictions_without(problem: KernelMachine, trace: Trace, t: float) -> Floats:
    """f_-i(x_i) for every point that takes part."""
    system, n = problem.system, len(problem.w)
    stair, z = polish(system, *trace.state(t), t, np.random.default_rng(0))
    Z, failed = _solutions_without(problem, t, stair, z)
    c = problem.columns(Z, np.full(n, t), np.arange(n))
    out = problem.at_own(c)
    for i in failed:
        out[i] = _afresh(problem, t, i)
    return out


def _solutions_without(
    problem: Problem, t: float, stair: Ints, z: Floats
) -> tuple[Floats, list[int]]:
    """z without each point, one column each, and the points for which no walk leads there.

    Without a point that is no support vector the solution stays as it is, unless a term has a cost:
    W is then smaller by the weight of the point. All such points of equal weight share one walk. A
    point whose own multiplier does not stay zero on it gets a walk of its own.
    """
    system, n, w = problem.system, len(problem.w), problem.w
    index = system.coupling.index
    after = np.cumsum(np.bincount(index, minlength=n))
    own = np.split(np.argsort(index, kind="stable"), after[:-1])
    support = np.array([bool(np.any(z[v])) for v in own])
    none, idle = np.empty(0, dtype=np.intp), np.flatnonzero(~support)
    weights, group = np.unique(w[idle], return_inverse=True)
    first = [int(idle[np.argmax(group == g)]) for g in range(len(weights))]
    ends, failed = walk_out(system, t, stair, z, [Job(none, problem.leaving(i, t)) for i in first])
    Z, walks = np.empty((len(z), n)), list(np.flatnonzero(support))
    for i, g in zip(idle, group):
        Z[:, i] = ends[:, g]
        if g in failed or np.any(ends[own[i], g]):
            walks.append(i)
    jobs = [Job(own[i], problem.leaving(int(i), t)) for i in walks]
    Z[:, walks], failed = walk_out(system, t, stair, z, jobs)
    return Z, [int(walks[j]) for j in failed]


def _afresh(problem: KernelMachine, t: float, i: int) -> float:
    """f_-i(x_i) from a start of its own, where no walk from the solution leads to it."""
    rest = np.delete(np.arange(len(problem.w)), i)
    other = problem.among(rest)
    value = t * problem.unit
    at = value / other.unit
    _, z = phase_one(other.system, other.start(value), at, np.random.default_rng(0))
    c = other.columns(z[:, None], np.array([at]))
    row, common = parted(problem.gram.block(np.array([i]), rest))
    return float((row @ c.coef + common * exact_sum(c.coef) + c.intercept)[0, 0])
