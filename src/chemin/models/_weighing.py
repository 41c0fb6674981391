"""The weights of kernels: the minimum over them of what one machine or several leave.

For given weights d each machine k has its minimum J_k(d), convex, and with its function
f_k = sum_j c_kj k_d(x_j, .)

    J(d) = sum_k J_k(d),      dJ/dd_m = -lambda/2 s_m,      s_m = sum_k c_k'K_m c_k

Their dual values do not depend on d but by c, so that what is left to gain is known:

    J(d) - min J <= lambda/2 (|s|_q - d's) + the machines' own gaps,      1/p + 1/q = 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from .._threads import ONE_THREAD
from ..engine.follow import phase_one
from ..engine.reasons import WalkEnd
from ..kernels import DenseGram
from ..problems import PROBLEMS, Columns, Problem
from ..problems.base import Start
from ..walk import make_spec

Floats = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
NEGLIGIBLE = 1e-8
"""Weights below this part of the largest leave the model: what they add is below the gap."""
DAMPING = 1e-9
"""Of the mean curvature: keeps the Newton step unique where kernels are alike."""
LEVEL = 1e-12  # relative: a rise of J that is round-off of the machines
HALVINGS = 30  # of a step that does not improve, before the weights count as final


class Machine:
    """The machine of one problem at one lambda, for any kernel matrix; solved from the last one."""

    def __init__(self, name: str, y: Floats, weight: Floats, lambda_: float, **spec: Any) -> None:
        self.name, self.y, self.weight, self.lambda_ = name, y, weight, lambda_
        self.spec = make_spec(name, **spec)
        self.state: tuple[Any, Floats] | None = None

    def solve(self, K: Floats) -> Solved:
        """The exact solution, walked to from the solution with the last matrix."""
        make: Any = PROBLEMS[self.name]
        problem: Problem = make(DenseGram(K), self.y, self.weight, **self.spec)
        t = self.lambda_ / problem.unit
        start = problem.start(self.lambda_)
        if self.state is not None:
            start = Start(*self.state, t)
        solved = self._from(problem, start, t)
        if solved is None or not bool(solved.exact):
            solved = self._from(problem, problem.start(self.lambda_), t) or solved
        if solved is None:
            raise ValueError(
                "the machine could not be solved at this C: its kernel matrix is singular to "
                "round-off; take a smaller C or other kernels"
            )
        self.state = solved.stair, solved.z
        return solved

    def _from(self, problem: Problem, start: Start, t: float) -> Solved | None:
        rng = np.random.default_rng(0)
        try:
            with ONE_THREAD:
                stair, z = phase_one(problem.system, start, t, rng)
        except (WalkEnd, np.linalg.LinAlgError):
            return None
        return Solved(problem, stair, z, problem.columns(z[:, None], np.array([t])))


@dataclass(frozen=True)
class Solved:
    """A solution, with what it is a solution of."""

    problem: Problem
    stair: Any
    z: Floats
    columns: Columns

    @property
    def coef(self) -> Floats:
        return self.columns.coef[:, 0]

    @property
    def exact(self) -> bool:
        return bool(self.problem.certificate(self.columns).exact[0])

    @property
    def objective(self) -> float:
        return float(self.problem.objective(self.columns)[0])

    @property
    def own_gap(self) -> float:
        """What the machine itself leaves of its objective; round-off."""
        gap = abs(float(self.problem.certificate(self.columns).relative_gap[0]))
        return gap * abs(self.objective)

    @property
    def free(self) -> NDArray[np.intp]:
        """Rows whose margin is held while the kernel changes."""
        return np.flatnonzero(self.problem.free(self.columns)[:, 0])


@dataclass
class Weighing:
    """The weights of kernels, on their way to the minimum of J."""

    matrices: Floats  # (M, n, n)
    machines: Sequence[Machine]  # of one lambda
    norm: float
    intercept: bool

    @property
    def lambda_(self) -> float:
        return self.machines[0].lambda_

    def at(self, d: Floats) -> Place:
        K = np.tensordot(d, self.matrices, axes=1)
        solved = [machine.solve(0.5 * (K + K.T)) for machine in self.machines]
        coef = np.array([one.coef for one in solved])
        pulls = coef @ self.matrices  # c_k'K_m: (M, k, n)
        s = np.maximum(np.einsum("mkn,kn->m", pulls, coef), 0.0)
        left = 0.5 * self.lambda_ * (self.dual_norm(s) - float(d @ s))
        value, own = sum(one.objective for one in solved), sum(one.own_gap for one in solved)
        return Place(d, solved, pulls, s, value, left + own)

    def dual_norm(self, s: Floats) -> float:
        """max d's over d >= 0 with |d|_p <= 1."""
        if self.norm == 1.0:
            return float(s.max())
        q = self.norm / (self.norm - 1.0) if np.isfinite(self.norm) else 1.0
        return float(np.linalg.norm(s, q))

    def fixed_point(self, place: Place) -> Floats:
        """What minimises over d with every f_m as it is: d_m ~ |f_m|^(2/(p + 1))."""
        d = (place.d**2 * place.s) ** (1.0 / (self.norm + 1.0))
        return d / np.linalg.norm(d, self.norm)

    def newton(self, place: Place) -> Floats:
        """The minimum of the second-order model of J over the feasible weights."""
        gradient = -0.5 * self.lambda_ * place.s
        hessian = sum(self._hessian(place, k) for k in range(len(self.machines)))
        assert isinstance(hessian, np.ndarray)
        hessian += np.eye(len(hessian)) * (DAMPING * np.trace(hessian) / len(hessian) or 1.0)
        if self.norm == 1.0:
            return _on_simplex(hessian, hessian @ place.d - gradient)
        return self._on_sphere(place.d, gradient, hessian)

    def _hessian(self, place: Place, k: int) -> Floats:
        """Of one machine: lambda P' H P, P = (K_m c) at the free rows, H the inverse of K_FF on
        what the intercept leaves free.
        """
        free = place.solved[k].free
        pulls, n_free = place.pulls[:, k, free], len(free)
        border = np.ones((n_free, 1)) if self.intercept else np.empty((n_free, 0))
        K = np.tensordot(place.d, self.matrices[:, free[:, None], free], axes=1)
        corner = np.zeros((border.shape[1], border.shape[1]))
        system = np.block([[K, border], [border.T, corner]])
        right = np.vstack([pulls.T, np.zeros((border.shape[1], len(pulls)))])
        change = scipy.linalg.lstsq(system, right, lapack_driver="gelsd")[0][:n_free]
        hessian = self.lambda_ * (pulls @ change)
        return 0.5 * (hessian + hessian.T)

    def _on_sphere(self, d: Floats, gradient: Floats, hessian: Floats) -> Floats:
        """One Newton step on the conditions of the minimum with |d|_p = 1."""
        p = self.norm
        slope = d ** (p - 1.0)
        mu = float(-gradient @ slope / (slope @ slope))  # multiplier of sum d^p / p = 1 / p
        bent = hessian + np.diag(mu * (p - 1.0) * np.maximum(d, NEGLIGIBLE) ** (p - 2.0))
        system = np.block([[bent, slope[:, None]], [slope[None], np.zeros((1, 1))]])
        right = np.append(-gradient, (1.0 - np.sum(d**p)) / p)
        step = scipy.linalg.lstsq(system, right, lapack_driver="gelsd")[0][:-1]
        new = np.maximum(d + step, 0.1 * d)
        return new / np.linalg.norm(new, p)

    def descend(self, tol: float, max_iter: int) -> tuple[Place, int]:
        """Newton steps, halved until J falls, down to a relative gap of tol."""
        M = len(self.matrices)
        d = np.full(M, 1.0 / M if self.norm == 1.0 else M ** (-1.0 / self.norm))
        place = self.at(d)
        for done in range(max_iter):
            if place.left <= tol * abs(place.value):
                return place, done
            better = self._better(place)
            if better is None:
                return place, done
            place = better
        return place, max_iter

    def _better(self, place: Place) -> Place | None:
        """A place with a smaller J on the way of a Newton step; None: there is none."""
        goals = [self.newton(place)]
        if self.norm > 1.0:
            goals.append(self.fixed_point(place))
        for goal in goals:
            step = 1.0
            for _ in range(HALVINGS):
                d = place.d + step * (goal - place.d)
                if self.norm > 1.0:
                    d /= np.linalg.norm(d, self.norm)
                new = self.at(d)
                # Near the minimum J is level but for round-off, and the gap alone tells.
                level = new.value <= place.value + LEVEL * abs(place.value)
                if new.value < place.value or (level and new.left < place.left):
                    return new
                step *= 0.5
        return None


@dataclass(frozen=True)
class Place:
    """Weights, the machines there, and what is left to gain."""

    d: Floats
    solved: Sequence[Solved]
    pulls: Floats  # (M, k, n): K_m c_k
    s: Floats  # (M,): sum_k c_k'K_m c_k
    value: float  # J
    left: float  # the gap: J - min J is at most this


def _on_simplex(hessian: Floats, pull: Floats) -> Floats:
    """argmin 1/2 d'Hd - pull'd over d >= 0 with sum 1, by an active set.

    As Lawson and Hanson do it: the weight that gains most enters, and the minimum over those that
    are in is gone to until one of them is 0, which leaves.
    """
    M = len(pull)
    d, inside = np.zeros(M), np.zeros(M, dtype=bool)
    first = int(np.argmin(0.5 * hessian.diagonal() - pull))
    d[first], inside[first] = 1.0, True
    for _ in range(10 * M):
        new, mu = _with_sum_one(hessian, pull, inside)
        while np.any(new[inside] <= 0):
            falls = inside & (new <= 0)
            step = float(np.min(d[falls] / (d[falls] - new[falls])))
            d += step * (new - d)
            inside &= ~(falls & (d <= NEGLIGIBLE**2))
            d[~inside] = 0.0
            new, mu = _with_sum_one(hessian, pull, inside)
        d = new
        gain = np.where(inside, -np.inf, pull - hessian @ d - mu)
        enters = int(gain.argmax())
        if gain[enters] <= np.sqrt(EPS) * DAMPING * np.abs(pull).max():
            break
        inside[enters] = True
    return d / d.sum()


def _with_sum_one(hessian: Floats, pull: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, float]:
    """The minimum over the weights inside, without a sign, and the multiplier of their sum."""
    some = np.flatnonzero(inside)
    ones = np.ones((len(some), 1))
    system = np.block([[hessian[np.ix_(some, some)], ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(pull[some], 1.0))
    d = np.zeros(len(pull))
    d[some] = solution[:-1]
    return d, float(solution[-1])
