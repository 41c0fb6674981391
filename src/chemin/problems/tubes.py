"""From the tube of the epsilon-SVR to the share of the nu-SVR and back: the same solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Turned
from .machine import AT_PIN
from .nu_svr import CLOSED, EDGE, FULL, OPEN, ZERO, NuSVR
from .staircase import Floats, Ints
from .svr import SVR

BELOW, LOWER, WITHIN, UPPER, ABOVE = 1, 2, 3, 4, 5  # columns of the staircase table of the SVR


def share_to_tube(problem: NuSVR, stair: Ints, z: Floats, t: float) -> Turned:
    """A solution of the nu-SVR as one of the epsilon-SVR: its tube is given now."""
    n, lam = len(problem.y), float(problem._parameters(np.array([t]))[0][0])
    upper, lower = stair[:n], stair[n : 2 * n]
    one = np.full(n, WITHIN)
    for edge, side, block in ((LOWER, BELOW, lower), (UPPER, ABOVE, upper)):
        one = np.where(block == EDGE, edge, np.where(block == FULL, side, one))
    eps = max(float(z[-1]), 0.0) * problem.scale * problem.z_unit / lam
    options: dict[str, Any] = {"along": "epsilon", "lambda_": lam, "intercept": problem.intercept}
    tube = SVR(problem.gram, problem.y, problem.w, epsilon=eps, **options)
    free = slice(2 * n, 2 * n + int(problem.intercept))
    beta = np.append(z[:n] - z[n : 2 * n], z[free])
    # Two rows of a point on opposite edges fix the tube's width; without it they are one too many.
    return Turned(tube, np.append(one, stair[free]), beta, eps, regular=False)


def tube_to_share(problem: SVR, stair: Ints, z: Floats, t: float) -> Turned:
    """A solution of the epsilon-SVR as one of the nu-SVR, nu W = sum |beta|.

    An edge without points is free to move in the nu-SVR: it is moved to the first point outside.
    """
    n = len(problem.y)
    lam, given = problem._parameters(np.array([t]))
    pull = float(lam[0]) / problem.force
    beta, total = z[:n], float(np.abs(z[:n]).sum())
    if total <= AT_PIN:
        raise ValueError("every point lies within the tube here: there is no equivalent nu")
    b = float(z[n]) if problem.intercept else 0.0
    d = pull * float(given["epsilon"][0]) / problem.sd
    blocks = [
        np.where(stair[:n] == edge, EDGE, np.where(stair[:n] == side, FULL, ZERO))
        for edge, side in ((UPPER, ABOVE), (LOWER, BELOW))
    ]
    if d > 0.0:
        b, d = _hold_edges(problem, blocks, beta, b, d, pull)
    nu = min(total * problem.z_unit / float(problem.w.sum()), 1.0)
    edge = [b, d][0 if problem.intercept else 1 :]
    stairs = [EDGE] * int(problem.intercept) + [OPEN if d > 0.0 else CLOSED]
    options: dict[str, Any] = {
        "along": "nu",
        "lambda_": float(lam[0]),
        "intercept": problem.intercept,
    }
    share = NuSVR(problem.gram, problem.y, problem.w, nu=nu, **options)
    both = np.concatenate([np.maximum(beta, 0.0), np.maximum(-beta, 0.0), edge])
    return Turned(share, np.concatenate([*blocks, stairs]), both, nu)


def _hold_edges(
    problem: SVR, blocks: list[Ints], beta: Floats, b: float, d: float, pull: float
) -> tuple[float, float]:
    """b and d with every edge of the tube held by a point, which is put on it in `blocks`."""
    r = pull * (problem.y - problem.shift) / problem.sd - problem.walked @ beta / problem.scale
    height = [np.where(beta > 0, r, np.inf), np.where(beta < 0, -r, np.inf)]
    held = [bool(np.any(block == EDGE)) for block in blocks]
    ends = [b + d, d - b]  # heights of the edges above 0, upward and downward
    if problem.intercept:
        for j in (0, 1):
            if not held[j]:
                k = int(np.argmin(height[j]))
                blocks[j][k], ends[j] = EDGE, float(height[j][k])
    elif not any(held):
        k = int(np.argmin(np.minimum(*height)))
        blocks[0 if beta[k] > 0 else 1][k] = EDGE
        ends = [float(np.abs(r[k]))] * 2
    return 0.5 * (ends[0] - ends[1]), 0.5 * (ends[0] + ends[1])
