"""Couplings made of several matrices, by the L1 path of the Laplacian SVM.

    min  1/2 beta'P beta + lambda1 |beta|_1 + sum of hinges,      f = K beta + b

with P = lambda2 K + mu K L K, L the Laplacian of a graph. As a staircase system:

    M = [ P     -K Y   0 ]   beta:  tread -lambda1, pin 0, tread +lambda1
        [ Y K'   0     y ]   alpha: pin 0, tread 0, pin 1
        [ 0     -y'    0 ]   b:     endless tread
"""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from chemin.engine import Job, follow, walk_out
from chemin.kernels import BlockCoupling
from chemin.problems import StaircaseSystem, Start
from chemin.problems.staircase import Staircases, endless_tread

STOP = 1e-4


class Laplacian:
    """Two moons, m of 100 points labelled; `extra` more of the positive class."""

    def __init__(self, seed, m, extra):
        X, sign = make_moons(100, noise=0.08, random_state=seed)
        sign = 2.0 * sign - 1.0
        positive, negative = np.flatnonzero(sign == 1), np.flatnonzero(sign == -1)
        labelled = np.concatenate([positive[: m // 2 + extra], negative[: m // 2]])
        order = np.concatenate([labelled, np.setdiff1d(np.arange(100), labelled)])
        X, self.y, self.m = X[order], sign[labelled], len(labelled)
        K = rbf_kernel(X, gamma=2.0)
        self.K = 0.5 * (K + K.T)
        W = kneighbors_graph(X, 7, include_self=False).toarray()
        W = np.maximum(W, W.T)
        P = 0.01 * self.K + self.K @ (np.diag(W.sum(axis=1)) - W) @ self.K
        self.P = 0.5 * (P + P.T)

    @property
    def coupling(self):
        n, m = len(self.K), self.m
        zeros = np.zeros(n)
        return BlockCoupling(
            {(0, 0): self.P, (0, 1): self.K[:, :m], (1, 0): self.K[:m]},
            group=np.repeat([0, 1], [n, m]),
            index=np.concatenate([np.arange(n), np.arange(m)]),
            sign=np.concatenate([np.ones(n), -self.y]),
            sigma=np.concatenate([np.ones(n), -np.ones(m), [1.0]]),
            border=np.concatenate([zeros, -self.y])[:, None],
        )

    @property
    def matrix(self):
        """M, formed."""
        n, m, KY = len(self.K), self.m, self.K[:, : self.m] * self.y
        y = self.y[:, None]
        return np.block(
            [
                [self.P, -KY, np.zeros((n, 1))],
                [KY.T, np.zeros((m, m)), y],
                [np.zeros((1, n)), -y.T, np.zeros((1, 1))],
            ]
        )

    @property
    def system(self):
        n, m = len(self.K), self.m
        return StaircaseSystem(
            self.coupling,
            q=np.concatenate([np.zeros(n), -np.ones(m), [0.0]]),
            r=np.zeros(n + m + 1),
            stairs=Staircases.stack(
                Staircases.build(n, first="tread", stairs=[(0.0, -1.0), (0.0, 0.0), (0.0, 1.0)]),
                Staircases.build(m, first="pin", stairs=[(0.0, 0.0), (0.0, 0.0), (1.0, 0.0)]),
                endless_tread(),
            ),
            unit=(1.0, 0.0),
        )

    def start(self, t):
        """All at pins, beta = 0 and alpha = 1, but for one on the elbow."""
        n, m = len(self.K), self.m
        stair = np.concatenate([np.full(n + m, 3), [2]])
        z = np.concatenate([np.zeros(n), np.ones(m), [0.0]])
        stair[n], z[n] = 2, 0.5
        return Start(stair, z, t)

    def path(self):
        t = 1.01 * float(self.K[:, : self.m].sum(axis=1).max())
        return follow(self.system, self.start(t), begin=t, stop=STOP)

    def residual(self, lambda1, z):
        """The natural residual of the optimality conditions, from the data."""
        n, m = len(self.K), self.m
        beta, alpha, b = z[:n], z[n : n + m], z[-1]
        step = beta - (self.P @ beta - self.K[:, :m] @ (self.y * alpha))
        shrunk = np.sign(step) * np.maximum(np.abs(step) - lambda1, 0.0)
        margin = self.y * (self.K[:m] @ beta + b)
        clipped = np.clip(alpha + 1.0 - margin, 0.0, 1.0)
        return max(np.abs(beta - shrunk).max(), np.abs(alpha - clipped).max(), abs(self.y @ alpha))


class Ridge(Laplacian):
    """The same along t = 1 / lambda2, with lambda1 held: R = P / lambda2 stands for P.

    alpha / lambda2 stands for alpha. Treads of beta are at -+ t lambda1, pins of alpha / lambda2 at
    0 and t.
    """

    lambda1, begin, stop = 0.05, 0.1, 100.0

    @property
    def system(self):
        treads = Staircases.build(
            len(self.K),
            first="tread",
            stairs=[(0.0, -self.lambda1), (0.0, 0.0), (0.0, self.lambda1)],
        )
        pins = Staircases.build(self.m, first="pin", stairs=[(0.0, 0.0), (0.0, 0.0), (0.0, 1.0)])
        return replace(super().system, stairs=Staircases.stack(treads, pins, endless_tread()))

    def path(self):
        start, alpha = self.start(self.begin), slice(len(self.K), len(self.K) + self.m)
        start.z[alpha] *= self.begin
        return follow(self.system, start, begin=self.begin, stop=self.stop)

    def residual(self, t, z):
        n, at = len(self.K), copy(self)
        at.P = self.P / t
        z = np.concatenate([z[:n], z[n : n + self.m] / t, z[-1:]])
        return Laplacian.residual(at, self.lambda1, z)


every_problem = pytest.mark.parametrize("m, extra", [(4, 0), (16, 3), (10, 0), (6, 9)])


def test_the_operator_is_the_matrix():
    """Oracle: M, formed; G = diag(sigma) M is symmetric."""
    problem = Laplacian(0, 16, 3)
    c, M = problem.coupling, problem.matrix
    G = c.sigma[:, None] * M
    np.testing.assert_array_equal(G, G.T)
    rng = np.random.default_rng(0)
    z = rng.normal(size=(len(M), 3))
    np.testing.assert_allclose(c.dot(z), M @ z, atol=1e-12)
    np.testing.assert_allclose(c.dot(z[:, 0]), M @ z[:, 0], atol=1e-12)
    np.testing.assert_allclose(c.magnitude(z[:, 0]), np.abs(M) @ np.abs(z[:, 0]), atol=1e-12)
    some, others = rng.permutation(len(M))[:30], rng.permutation(len(M))[:40]
    np.testing.assert_array_equal(c.block(some, others), G[np.ix_(some, others)])
    np.testing.assert_array_equal(c.diagonal(), G.diagonal())
    assert np.all(np.abs(G[:-1, :-1]) <= (1 + 1e-12) * np.outer(c.root, c.root)[:-1, :-1])


@every_problem
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [Laplacian, Ridge], ids=["lambda1", "1 / lambda2"])
def test_laplacian_path(kind, seed, m, extra, monkeypatch):
    """Oracles: the optimality conditions from the data, and the reference."""
    problem = kind(seed, m, extra)
    fast = problem.path()
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    slow = problem.path()
    f = {}
    for name, trace in (("compiled", fast), ("reference", slow)):
        assert trace.end.complete, (name, trace.end.text)
        knots = np.unique(np.concatenate([fast.events["t"], slow.events["t"], fast.t1[-1:]]))
        values = np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])])
        z = trace.solutions(values)
        worst = max(problem.residual(v, z[:, k]) for k, v in enumerate(values))
        assert worst <= 1e-9, (name, worst)
        f[name] = problem.K @ z[: len(problem.K)]
    np.testing.assert_allclose(f["compiled"], f["reference"], atol=1e-8)


def test_rows_may_have_units_of_their_own(monkeypatch):
    """Oracle: the optimality conditions. The unit of beta is lambda1, that of margins 1."""
    problem = Laplacian(1, 16, 3)
    n, m = len(problem.K), problem.m
    unit = (np.repeat([0.0, 1.0, 0.0], [n, m, 1]), np.repeat([1.0, 0.0, 0.0], [n, m, 1]))
    system = replace(problem.system, unit=unit)
    np.testing.assert_array_equal(system.units(0.5), np.repeat([0.5, 1.0, 0.0], [n, m, 1]))
    assert system.pull(0.5) == 0.5 and not system.measured[-1]
    monkeypatch.setattr(Laplacian, "system", system)
    for engine in ("", "reference"):
        monkeypatch.setenv("CHEMIN_ENGINE", engine)
        trace = problem.path()
        assert trace.end.complete, trace.end.text
        values = np.unique(trace.events["t"])
        z = trace.solutions(values)
        assert max(problem.residual(v, z[:, k]) for k, v in enumerate(values)) <= 1e-9


def test_labels_left_out(monkeypatch):
    """Oracle: the reference, with a pin that moves; and the optimality conditions of the others."""
    problem = Laplacian(2, 10, 0)
    n, m, t = len(problem.K), problem.m, 0.05
    stair, z = problem.path().state(t)
    jobs = [Job(np.array([n + i]), np.zeros(len(z))) for i in range(m)]
    ends, failed = walk_out(problem.system, t, stair, z, jobs)
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    slow, slow_failed = walk_out(problem.system, t, stair, z, jobs)
    assert len(failed) == len(slow_failed) == 0
    f, g = (problem.K @ x[:n] for x in (ends, slow))
    np.testing.assert_allclose(f, g, atol=1e-9)
    for i in range(m):
        rest = copy(problem)
        rest.y = np.where(np.arange(m) == i, 0.0, problem.y)  # the point stays, without its label
        z = ends[:, i].copy()
        assert z[n + i] == 0.0
        z[n + i] = 1.0  # where a margin of 0 puts a multiplier that counts for nothing
        assert rest.residual(t, z) <= 1e-9
