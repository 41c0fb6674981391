"""The compiled engine against the reference: the same path, by two programs."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_moons

from chemin import lasso_path, svc_path, svr_path


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
