"""The compiled engine against the reference: the same path, by two programs."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_moons

from chemin import lasso_path, nu_svr_path, svc_path, svr_path
from chemin.datasets import make_sinexp
from chemin.kernels import Linear
from contract import assert_exact


def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0))[:250], y[:250]


def numbers():
    X, y = load_diabetes(return_X_y=True)
    return 20 * X[:200], y[:200]


CASES = {
    "svc rbf": (svc_path, classes, {"gamma": 0.03}),
    "svc linear": (svc_path, classes, {"kernel": "linear"}),
    "svc poly": (svc_path, lambda: make_moons(150, noise=0.3, random_state=1), {"kernel": "poly"}),
    "svc without intercept": (svc_path, classes, {"gamma": 0.1, "intercept": False}),
    "svr rbf": (svr_path, numbers, {"gamma": 0.1, "epsilon": 10.0}),
    "svr linear": (svr_path, numbers, {"kernel": "linear", "epsilon": 10.0}),
    "svr in epsilon": (svr_path, numbers, {"along": "epsilon", "lambda_": 0.1, "gamma": 0.1}),
    "lasso": (lasso_path, numbers, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_same_path(name, monkeypatch):
    """Oracle: the reference. lambda f is piecewise linear in lambda: what agrees at every
    breakpoint of both agrees everywhere.
    """
    function, data, options = CASES[name]
    X, y = data()
    fast = function(X, y, **options)
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    slow = function(X, y, **options)
    np.testing.assert_allclose([fast.start, fast.stop], [slow.start, slow.stop], rtol=1e-10)
    values = np.union1d(fast.breakpoints, slow.breakpoints)
    values = values[values >= max(fast.stop, slow.stop)]
    f, g = fast.decision_function(X, values), slow.decision_function(X, values)
    np.testing.assert_allclose(f, g, atol=1e-8 * np.abs(g).max())


def many(target):
    """400 points in the plane of 6 features, some of them twice, some with no weight."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 6))
    X[300:350] = X[:50]
    signal = X[:, 0] - X[:, 1] ** 2 + rng.normal(size=400)
    weight = np.where(np.arange(400) % 7 == 0, 0.0, 1.0)
    return X, (signal > -1.0).astype(int) if target == "classes" else signal, weight


@pytest.mark.parametrize(
    "function, target, options",
    [
        (svc_path, "classes", {}),
        (svc_path, "classes", {"intercept": False}),
        (svr_path, "numbers", {"epsilon": 0.2}),
        (svr_path, "numbers", {"along": "epsilon", "lambda_": 0.5}),
    ],
)
def test_linear_kernel_without_its_matrix(function, target, options, monkeypatch):
    """Oracle: the same path of the matrix XX', which the linear kernel must not form here."""
    X, y, weight = many(target)
    dense = function(X @ X.T, y, kernel="precomputed", sample_weight=weight, **options)

    def refuse(self, X):
        raise AssertionError("the matrix was formed")

    monkeypatch.setattr(Linear, "gram", refuse)
    path = function(X, y, kernel="linear", sample_weight=weight, **options)
    assert path.certificate(path.breakpoints).exact.all()
    np.testing.assert_allclose([path.start, path.stop], [dense.start, dense.stop], rtol=1e-9)
    values = dense.breakpoints[dense.breakpoints >= max(path.stop, dense.stop)]
    f, g = path.decision_function(X, values), dense.decision_function(X @ X.T, values)
    np.testing.assert_allclose(f, g, atol=1e-8 * np.abs(g).max())


def test_nearly_singular_matrices_stay_in_the_core(monkeypatch):
    """Oracle: the certificate, and a count. Neighbours on a line, much closer than the kernel is
    wide: the reference is called for three of the events at most.
    """
    from chemin.engine.blocked import BlockWalker

    calls = []
    rescue = BlockWalker.by_reference
    monkeypatch.setattr(
        BlockWalker, "by_reference", lambda self, *a: calls.append(1) or rescue(self, *a)
    )
    X, y = make_sinexp(500, 0)
    path = nu_svr_path(X, y, nu=0.75, gamma=50.0)
    assert path.complete and len(path) > 1000
    assert len(calls) <= 3
    assert_exact(path)
