"""The compiled engine against the reference: the same path, by two programs."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from chemin import lasso_path, nu_svr_path, quantile_path, svc_path, svr_path
from chemin.datasets import make_sinexp
from chemin.engine import rescue
from chemin.kernels import Linear
from contract import CASES, assert_exact, distinct, kernel_part, make_data, make_tied

KERNELS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 3, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.3, "intercept": False},
]
problems = [
    pytest.param(case, options, id=f"{case.name}-{'-'.join(map(str, options.values()))}")
    for case in CASES
    for options in (KERNELS if case.has_kernel else [{}, {"intercept": False}])
]


def assert_same_path(a, b, X, tolerance=1e-8):
    """The same start, stop and f.

    f without its intercept is continuous, and piecewise linear (times lambda, along lambda): what
    agrees at every breakpoint of both agrees everywhere. The intercept may jump at breakpoints, so
    f itself is compared between them, which is where a rational path may differ too.
    """
    np.testing.assert_allclose([a.start, a.stop], [b.start, b.stop], rtol=1e-10)
    values = np.unique(np.concatenate([a.breakpoints, b.breakpoints, [a.start, a.stop]]))
    values = values[(values >= max(min(p.start, p.stop) for p in (a, b))) & (values > 0)]
    knots = distinct(values)
    f, g = kernel_part(a, X, knots), kernel_part(b, X, knots)
    np.testing.assert_allclose(f, g, atol=tolerance * np.abs(g).max())
    middles = 0.5 * (knots[1:] + knots[:-1])
    if len(middles):
        f, g = a.decision_function(X, middles), b.decision_function(X, middles)
        np.testing.assert_allclose(f, g, atol=tolerance * np.abs(g).max())


def in_both(monkeypatch, make):
    """The path by the compiled engine and by the reference."""
    fast = make()
    with monkeypatch.context() as patch:
        patch.setenv("CHEMIN_ENGINE", "reference")
        return fast, make()


@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
@pytest.mark.parametrize("case, options", problems)
def test_same_path(case, options, data, monkeypatch):
    """Oracle: the reference."""
    X, y = data(case, n=100)
    fast, slow = in_both(monkeypatch, lambda: case(X, y, **options))
    assert_same_path(fast, slow, X)


def classes():
    X, y = load_breast_cancer(return_X_y=True)
    return ((X - X.mean(axis=0)) / X.std(axis=0))[:250], y[:250]


def numbers():
    X, y = load_diabetes(return_X_y=True)
    return 20 * X[:200], y[:200]


REAL = {
    "svc rbf": (svc_path, classes, {"gamma": 0.03}),
    "svc linear": (svc_path, classes, {"kernel": "linear"}),
    "svr rbf": (svr_path, numbers, {"gamma": 0.1, "epsilon": 10.0}),
    "svr linear": (svr_path, numbers, {"kernel": "linear", "epsilon": 10.0}),
    "lasso": (lasso_path, numbers, {}),
    "svc cost": (svc_path, classes, {"gamma": 0.03, "along": "cost", "lambda_": 0.1}),
    "quantile tau": (quantile_path, numbers, {"gamma": 0.1, "along": "tau", "lambda_": 0.1}),
}


@pytest.mark.parametrize("name", REAL)
def test_same_path_on_real_data(name, monkeypatch):
    """Oracle: the reference, on problems that are larger than the working set."""
    function, data, options = REAL[name]
    X, y = data()
    fast, slow = in_both(monkeypatch, lambda: function(X, y, **options))
    assert_same_path(fast, slow, X)


def copied():
    """Digits three and five in black and white, of 8 by 8 points: one row in five is a copy."""
    X, y = load_digits(return_X_y=True)
    some = np.flatnonzero((y == 3) | (y == 5))[:100]
    some = np.append(some, some[:25])
    return (X[some] > 7).astype(float), y[some]


@pytest.mark.parametrize("function, along", [(svc_path, "cost"), (quantile_path, "tau")])
def test_pins_that_move_stay_in_the_core(function, along, monkeypatch):
    """Oracles: the reference; and a count of its calls, on data of which many rows are copies."""
    X, y = copied()
    make = lambda: function(X, y, gamma=0.01, along=along, lambda_=0.1)
    fast, slow = in_both(monkeypatch, make)
    assert_same_path(fast, slow, X)
    monkeypatch.setattr(rescue.Helper, "walk", None)
    np.testing.assert_array_equal(make().breakpoints, fast.breakpoints)


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
        (svc_path, "classes", {"along": "cost", "lambda_": 0.5}),
        (quantile_path, "numbers", {"along": "tau", "lambda_": 0.5}),
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
    ends = np.array([[min(p.start, p.stop), max(p.start, p.stop)] for p in (path, dense)])
    low, high = ends[:, 0].max(), ends[:, 1].min()
    values = dense.breakpoints[(dense.breakpoints >= low) & (dense.breakpoints <= high)]
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
