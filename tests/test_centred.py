"""Kernels that are nearly constant: walked and certified without what their entries have in common.

The seven recipes ended at round-off, or had no start, when K itself was walked.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from chemin import (
    load,
    nu_svr_path,
    quadratic_svc_path,
    quadratic_svr_path,
    quantile_path,
    svc_path,
    svr_path,
)
from chemin.kernels import RBF, Centred, DenseGram, LowRankGram, exact_sum
from chemin.problems import machine
from chemin.segments import f_at
from contract import assert_walked, inexact
from test_nasty import POLY, rbf, recipe

WIDE = {"kernel": "rbf", "gamma": 0.01}
PATHS = {
    "svc": svc_path,
    "svc in cost": partial(svc_path, along="cost", lambda_=1e-3),
    "svr": partial(svr_path, epsilon=0.1),
    "svr in epsilon": partial(svr_path, along="epsilon", lambda_=1e-3),
    "nu-svr": partial(nu_svr_path, nu=0.4),
    "nu-svr in nu": partial(nu_svr_path, along="nu", lambda_=1e-3),
    "quantile": partial(quantile_path, tau=0.3),
    "quantile in tau": partial(quantile_path, along="tau", lambda_=1e-3),
    "squared hinge": partial(quadratic_svc_path, intercept=True),
    "huber tube": partial(quadratic_svr_path, h=0.5),
}


def data(name, n=25):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2)) + 5.0
    y = X[:, 0] - (X[:, 1] - 5.0) ** 2 + 0.3 * rng.normal(size=n)
    return X, (y > 4.0).astype(int) if "svc" in name or "hinge" in name else y


def kernel_matrix(X, gamma=0.01):
    return np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.parametrize("entries", [1.0, 125_000.0, 3.7e-9])
def test_nothing_is_lost(entries):
    """Oracle: rational arithmetic."""
    K = entries * kernel_matrix(data("svr")[0])
    centred = Centred.of(DenseGram(K))
    C, level, rise = centred.gram.matrix, Fraction(centred.level), map(Fraction, centred.rise)
    rise = list(rise)
    for i, row in enumerate(K):
        for j, entry in enumerate(row):
            assert Fraction(entry) == Fraction(C[i, j]) + level + rise[i] + rise[j]
    assert np.abs(C.mean(axis=0)).max() < 1e-12 * entries
    assert C.diagonal().max() < 0.25 * entries


@pytest.mark.parametrize(
    "K",
    [
        np.eye(4) + 0.1,  # little in common
        kernel_matrix(data("svr")[0], 1e-5),  # so much that the rest is not told from round-off
        np.array([[2.0]]),
    ],
)
def test_left_as_it_is(K):
    assert Centred.of(DenseGram(K)) is None
    assert Centred.of(LowRankGram(np.ones((4, 1)))) is None


def test_a_constant_kernel_has_nothing_left():
    assert not Centred.of(DenseGram(np.full((5, 5), 0.1))).gram.matrix.any()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_exact_sum(n):
    """Oracle: math.fsum."""
    rng = np.random.default_rng(n)
    a = rng.normal(size=(n, 3)) * 10.0 ** rng.integers(0, 8, (n, 3))
    a = np.vstack([a, 1e-3 * rng.normal(size=(1, 3)) - a.sum(axis=0)])  # what is left is small
    np.testing.assert_allclose(exact_sum(a), [math.fsum(column) for column in a.T], rtol=1e-15)


@pytest.mark.parametrize("name", PATHS)
def test_as_if_it_was_not_done(name, monkeypatch, tmp_path):
    """Oracle: the walk of K itself: f, intercepts, intervals, leave-one-out, and certificates of
    solutions of one by the other.
    """
    X, y = data(name)
    path = PATHS[name](X, y, **WIDE)
    assert path.problem.centred is not None
    assert_walked(path)
    with monkeypatch.context() as patched:
        patched.setattr(machine.Centred, "of", lambda gram: None)
        plain = PATHS[name](X, y, **WIDE)
    assert plain.problem.centred is None
    if path.problem.system.soft is None:  # on ramps a start is a bound, and the bounds differ
        np.testing.assert_allclose([path.start, path.stop], [plain.start, plain.stop], rtol=1e-7)
    low = max(min(p.start, p.stop) for p in (path, plain))
    high = min(max(p.start, p.stop) for p in (path, plain))
    values = np.geomspace(2.0 * low, 0.9 * high, 7)
    new = X[:5] + 0.1
    f, g = (p.decision_function(new, values) for p in (path, plain))
    np.testing.assert_allclose(f, g, rtol=1e-6, atol=1e-6 * np.abs(g).max())
    for value in values:
        a, b = path.at(value), plain.at(value)
        np.testing.assert_allclose(a.intercept, b.intercept, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(a.intercept_interval, b.intercept_interval, 1e-5, 1e-5)
        assert path.certify(b).exact
        assert plain.certify(a).exact
    out = (p.leave_one_out(values[:2]) for p in (path, plain))
    np.testing.assert_allclose(*out, rtol=1e-5, atol=1e-5)
    path.save(tmp_path / "path")
    np.testing.assert_array_equal(load(tmp_path / "path").decision_function(new, values), f)


@pytest.mark.parametrize("name", PATHS)
def test_curves_are_those_of_the_models(name):
    """Oracle: decision_function at each value: f over the path, as segments, is the same."""
    X, y = data(name)
    path = PATHS[name](X, y, **WIDE)
    new = X[:4] + 0.1
    knots = np.unique(np.concatenate([path.breakpoints, [path.start, path.stop]]))
    values = 0.5 * (knots[1:] + knots[:-1])
    found = f_at(path.segments(RBF(0.01).cross(X, new)), path.coordinate.to_u(values))
    f = path.decision_function(new, values)
    np.testing.assert_allclose(found.T, f, rtol=1e-6, atol=1e-6 * np.abs(f).max())


# fmt: off
ONCE_HIDDEN = [
    (quantile_path, recipe(1892577308, 13, 2, "decimals", 0.3, "binary", "zeros", True, rbf(0.01),
                           tau=0.3)),
    (quantile_path, recipe(1613331987, 13, 1, "grid", 0.3, "ties", "whole", True, rbf(0.01),
                           tau=0.3)),
    (quantile_path, recipe(3610628752, 11, 2, "symmetric", 0.7, "ties", "none", True, rbf(0.01),
                           tau=0.9)),
    (nu_svr_path, recipe(1521539416, 3, 3, "constant feature", 0.3, "ties", "zeros", True, POLY,
                         along="nu", lambda_=0.01)),
    (nu_svr_path, recipe(3523210506, 15, 1, "constant feature", 0.0, "normal", "whole", True, POLY,
                         along="nu", lambda_=0.01)),
    (nu_svr_path, recipe(1054579440, 12, 2, "constant feature", 0.3, "normal", "none", True, POLY,
                         along="nu", lambda_=0.01)),
    (nu_svr_path, recipe(1873842813, 16, 3, "constant feature", 0.0, "binary", "zeros", True, POLY,
                         along="nu", lambda_=0.01)),
]
# fmt: on


@pytest.mark.parametrize(
    "function, problem", ONCE_HIDDEN, ids=[str(problem.seed) for _, problem in ONCE_HIDDEN]
)
def test_what_was_hidden_once(function, problem):
    """Oracle: the certificate."""
    path = problem.walk(function)
    assert path.complete, path.reason
    assert not inexact(path)
