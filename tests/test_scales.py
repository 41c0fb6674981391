"""Data, weights and parameters of any size: walked as they are, or refused by name."""

import re
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest

import chemin
from chemin import (
    lasso_path,
    nu_svr_path,
    one_class_path,
    quantile_path,
    svc_path,
    svr_path,
)
from chemin._checks import LARGEST, SMALLEST
from chemin.engine.reasons import Reason, StuckError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 3))
Y = X[:, 0] + RNG.standard_normal(20)
ONE_COLUMN = X * [1.0, 1e160, 1.0]
K = X @ X.T

# ---------------------------------------------------------------------- beyond double precision

BEYOND = [
    (lasso_path, (X * 1e200, Y), {}, "X"),
    (lasso_path, (X * 1e-200, Y), {}, "X"),
    (lasso_path, (ONE_COLUMN, Y), {}, "X[:, 1]"),
    (lasso_path, (X, Y * 1e200), {}, "y"),
    (lasso_path, (X, Y * 1e-200), {}, "y"),
    (lasso_path, (X, Y), {"sample_weight": np.full(20, 1e150)}, "sample_weight"),
    (svr_path, (X * 1e200, Y), {}, "X"),
    (svr_path, (X * 1e-200, Y), {}, "X"),
    (svr_path, (ONE_COLUMN, Y), {"gamma": 1.0}, "X"),
    (svr_path, (X * 1e60, Y), {"kernel": "linear"}, "kernel matrix of X (Linear"),
    (svr_path, (X * 1e-60, Y), {"kernel": "linear"}, "kernel matrix of X (Linear"),
    (svr_path, (X * 1e30, Y), {"kernel": "poly", "gamma": 1.0}, "kernel matrix of X (Polynomial"),
    (svr_path, (X * 1e60, Y), {"kernel": "poly", "gamma": 1.0}, "X"),
    (svr_path, (X, Y * 1e200), {}, "y"),
    (svr_path, (X, Y * 1e-200), {}, "y"),
    (svr_path, (X, Y), {"sample_weight": np.full(20, 1e150)}, "sample_weight"),
    (svr_path, (X, Y), {"sample_weight": np.append(np.ones(19), 1e-150)}, "sample_weight"),
    (svr_path, (X, Y), {"along": "epsilon", "lambda_": 1e300}, "lambda_"),
    (svr_path, (X, Y), {"along": "epsilon", "lambda_": 1e-300}, "lambda_"),
    (svr_path, (X, Y), {"epsilon": 1e300}, "epsilon"),
    (svr_path, (X, Y), {"start": 1e300}, "start"),
    (svr_path, (X, Y), {"start": 1e-300}, "start"),
    (svr_path, (X, Y), {"start": 1.0, "stop": 1e300}, "stop"),
    (quantile_path, (X, Y), {"tau": 1e-300}, "tau"),
    (nu_svr_path, (X, Y), {"nu": 1e-300}, "nu"),
    (svc_path, (X, Y > 0), {"class_weight": {True: 1e100}}, "class_weight"),
    (svc_path, (K * 1e200, Y > 0), {"kernel": "precomputed"}, "kernel matrix of X"),
    (one_class_path, (K * 1e-200,), {"kernel": "precomputed"}, "kernel matrix of X"),
]


@pytest.mark.parametrize("function, data, options, name", BEYOND)
def test_refused_by_name(function, data, options, name):
    """Oracle: the message names the argument; a warning on the way is an error."""
    with pytest.raises(ValueError, match=re.escape(name)) as error:
        function(*data, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("function", [svc_path, svr_path, nu_svr_path, quantile_path])
@pytest.mark.parametrize("power", [-220, -120, -54, 54, 120, 220])
def test_kernel_matrices_of_any_size(function, power):
    """Oracle: the path of K itself. lambda goes with K, and a power of two changes no digit.

    2^120 is 1e36: solutions were not finite there.
    """
    y = Y > 0 if function is svc_path else Y
    one = function(K, y, kernel="precomputed")
    other = function(K * 2.0**power, y, kernel="precomputed")
    assert other.complete and other.n_events == one.n_events > 0
    np.testing.assert_allclose(other.breakpoints, one.breakpoints * 2.0**power, rtol=1e-9)
    f, g = (path.decision_function(K, path.breakpoints) for path in (one, other))
    np.testing.assert_array_equal(other.coefficients(other.breakpoints)[0].shape, f.shape)
    scaled = other.decision_function(K * 2.0**power, other.breakpoints)
    assert np.isfinite(g).all()
    np.testing.assert_allclose(scaled, f, atol=1e-8)


@pytest.mark.parametrize("power", [-100, -27, 27, 100])
def test_lasso_of_any_size(power):
    """Oracle: the path of X and y themselves; lambda goes with both."""
    one = lasso_path(X, Y, stop=0)
    for a, b in ((power, 0), (0, power), (power, power)):
        other = lasso_path(X * 2.0**a, Y * 2.0**b, stop=0)
        assert other.complete
        np.testing.assert_allclose(other.breakpoints, one.breakpoints * 2.0 ** (a + b), rtol=1e-12)
        np.testing.assert_allclose(other.at(0).coef, one.at(0).coef * 2.0 ** (b - a), rtol=1e-9)


@pytest.mark.parametrize(
    "gamma, limit", [(1e300, np.eye(20)), (1e-300, np.ones((20, 20)))], ids=["narrow", "wide"]
)
def test_limits_of_the_gaussian(gamma, limit):
    """Oracle: the identity and the matrix of ones, given as they are."""
    a = svr_path(X, Y, gamma=gamma)
    b = svr_path(limit, Y, kernel="precomputed")
    assert a.complete
    np.testing.assert_allclose(a.breakpoints, b.breakpoints, rtol=1e-12)


# ---------------------------------------------------------------------- large lambda: constants

LARGE = (1e10, 1e13, 1e15, 1e19)


@pytest.mark.parametrize("lambda_", LARGE)
def test_quantiles_of_y_alone(lambda_):
    """Oracle: order statistics. f is 0 to round-off, and the intercept is the quantile of y."""
    for seed in range(2):
        y = np.random.default_rng(seed).standard_normal(20)
        path = quantile_path(X, y, along="tau", lambda_=lambda_)
        assert path.complete, path.reason
        for tau in (0.03, 0.27, 0.52, 0.98):
            assert path.at(tau).intercept == pytest.approx(
                np.quantile(y, tau, method="inverted_cdf"), abs=1e-7
            )


@pytest.mark.parametrize("lambda_", LARGE)
def test_cost_of_classes_alone(lambda_):
    """Oracle: the heavier class has the intercept at its margin. All of it happens at one cost, at
    which exact arithmetic passes each corner once or twice.
    """
    for seed in range(2):
        labels = np.random.default_rng(seed).random(20) < 0.4
        path = svc_path(X, labels, along="cost", lambda_=lambda_)
        assert path.complete, path.reason
        assert len(path.events) < 5000  # it does not go round in round-off
        even = 1.0 - labels.mean()  # of the cost: both classes weigh the same
        for cost, b in ((0.5 * even, -1.0), (0.5 + 0.5 * even, 1.0)):
            assert path.at(cost).intercept == pytest.approx(b, abs=1e-7)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("lambda_", LARGE)
def test_tubes_around_constants(lambda_, intercept):
    """Oracle: the tube that leaves nu n points outside, half of them on either side."""
    for seed in range(2):
        y = np.random.default_rng(seed).standard_normal(20)
        path = nu_svr_path(X, y, along="nu", lambda_=lambda_, intercept=intercept)
        assert path.complete, path.reason
        for nu in (0.07, 0.33, 0.57):
            out = nu * 20
            if intercept:
                top, bottom = np.sort(y)[::-1][int(out / 2)], np.sort(y)[int(out / 2)]
                width, b = 0.5 * (top - bottom), 0.5 * (top + bottom)
            else:
                width, b = np.sort(np.abs(y))[::-1][int(out)], 0.0
            solution = path.at(nu)
            assert (solution.epsilon, solution.intercept) == pytest.approx((width, b), abs=1e-7)


def test_polynomials_of_small_features():
    """Oracle: certificates. Features of 1e-4 made kernels of 1e-24: "unbounded", it was said."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        points = 1e-4 * rng.standard_normal((15, 2))
        path = nu_svr_path(
            points, rng.standard_normal(15), along="nu", kernel="poly", gamma=1.0, lambda_=1.0
        )
        assert path.complete, path.reason
        assert path.certificate(path.breakpoints).exact.all()


# ---------------------------------------------------------------------- no internal exception


@pytest.mark.parametrize("broken", ["phase_one", "polish"])
def test_a_start_that_is_stuck_is_an_empty_path(monkeypatch, broken):
    """Oracle: the contract, a path with its reason."""
    first = svr_path(X, Y, stop=0.1)

    def stuck(*arguments):
        raise StuckError(Reason.ENDLESS())

    monkeypatch.setattr(import_module("chemin.engine.follow"), broken, stuck)
    path = svr_path(X, Y) if broken == "phase_one" else first.turn("epsilon", at=1.0)
    assert not path.complete and path.reason == Reason.ENDLESS.value and len(path) == 0
    assert f"incomplete: {path.reason}" in repr(path)
    with pytest.raises(ValueError, match=f"this path is empty: {path.reason}"):
        path.at(1.0)


@dataclass(frozen=True)
class Along:
    make: object
    moving: str
    labels: bool = False


WAYS = [
    Along(svc_path, "lambda", labels=True),
    Along(svc_path, "cost", labels=True),
    Along(svr_path, "lambda"),
    Along(svr_path, "epsilon"),
    Along(nu_svr_path, "lambda"),
    Along(nu_svr_path, "nu"),
    Along(quantile_path, "lambda"),
    Along(quantile_path, "tau"),
]
KERNELS = ["linear", "rbf", "poly", "laplacian", "cosine"]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way.make.__name__} {way.moving}")
@pytest.mark.parametrize("seed", range(3))
def test_any_scale_ends_well(way, seed):
    """Oracle: certificates, and no exception or warning but a ValueError of one sentence.

    Features of 1e-8 to 1e8, lambda_ of 1e-15 to 1e15, weights over twelve orders.
    """
    rng = np.random.default_rng([seed, WAYS.index(way)])
    for kernel in KERNELS:
        n, d = rng.integers(5, 16), rng.integers(1, 4)
        points = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-8, 9)
        y = rng.standard_normal(n) * 10.0 ** rng.integers(-8, 9)
        options = {"along": way.moving, "lambda_": 10.0 ** rng.integers(-15, 16)}
        if rng.random() < 0.5:
            options["sample_weight"] = 10.0 ** rng.uniform(-6, 6, n)
        path = way.make(
            points, y > np.median(y) if way.labels else y, kernel=kernel, max_events=200, **options
        )
        if len(path.breakpoints):
            ends = [path.start, path.stop]
            values = np.linspace(min(ends), max(ends), 5)
            coef, b = path.coefficients(values)
            assert np.isfinite(coef).all() and np.isfinite(b).all()
            assert path.certificate(values).exact.all()


def test_the_range_is_wide_enough():
    """Oracle: products of four factors at the ends of the range are finite, and not zero."""
    assert np.isfinite(LARGEST**4) and SMALLEST**4 > 0
    assert np.isfinite(LARGEST**2 / SMALLEST**2)
    assert chemin.svr_path(X * 1e8, Y, kernel="poly", gamma=1.0).n_events > 0
