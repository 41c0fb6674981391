"""Exact on real data, for every kernel, from the top to 1e-4 of it (1e-6 on small sets).

Oracle: the certificate, at every breakpoint, at every midpoint and at 200 random values; for lasso
also scikit-learn's `lars_path`. Features are standardised, except in sets whose name ends in
`_scale`. All rows of each set for the compiled engine, ROWS of them, drawn at
random, for the reference; of a1a_train the first 500 rows, of svmguide1_train every sixth.
"""

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_moons,
)
from sklearn.linear_model import lars_path

from chemin import lasso_path, svc_path, svr_path
from contract import ROUND_OFF, assert_walked

ROWS = 200  # for `make test`

KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "coef0": 1.0},
    **{f"rbf {g:g}": {"kernel": "rbf", "gamma": g} for g in (0.01, 0.1, 1.0, 10.0, 100.0)},
}

# Set -> how far below the start to go. Sets of the data folder are named as their files.
CLASSES = {
    "breast cancer": 1e-4,
    "digits 3 8": 1e-4,
    "iris 0 1": 1e-6,
    "iris 0 2": 1e-6,
    "iris 1 2": 1e-6,
    "wine 0 1": 1e-4,
    "wine 1 2": 1e-4,
    "moons": 1e-4,
    "ionosphere_scale": 1e-4,
    "diabetes_pima": 1e-4,
    "svmpath_mixture": 1e-4,
    "svmpath_balanced_overlap": 1e-6,
    "svmpath_balanced_separated": 1e-6,
    "svmpath_unbalanced_separated": 1e-6,
    "a1a_train": 1e-4,
    "svmguide1_train": 1e-4,
}
NUMBERS = {"diabetes": 1e-4, "boston": 1e-4, "mpg_scale": 1e-4}

# Cases that stop early, where round-off hides what comes next: at most a tenth of all.
STOPS_EARLY: set[tuple[str, str]] = set()


def pair(X, y, a, b):
    """Two of several classes."""
    keep = (y == a) | (y == b)
    return X[keep], y[keep]


def toy(name):
    """A set that comes with scikit-learn; None for one of the data folder."""
    first, *labels = name.split()
    loaders = {"iris": load_iris, "digits": load_digits, "wine": load_wine}
    if first in loaders:
        return pair(*loaders[first](return_X_y=True), *map(int, labels))
    if name == "breast cancer":
        return load_breast_cancer(return_X_y=True)
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    if name == "moons":
        return make_moons(200, noise=0.25, random_state=0)
    return None


@pytest.fixture
def load(load_data):
    """A function from a name and a number of rows to features and target."""

    def load(name, rows=None):
        found = toy(name)
        if found is None:
            stored = load_data(name)
            found = stored.data, stored.target
        X, y = found
        if name == "a1a_train":
            X, y = X[:500], y[:500]
        if name == "svmguide1_train":  # its first 2000 rows are of one class
            X, y = X[::6], y[::6]
        if rows is not None and len(y) > rows:
            chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
            X, y = X[chosen], y[chosen]
        return X if name.endswith("_scale") else standardised(X), y

    return load


def standardised(X):
    """Mean 0 and variance 1; constant features become 0."""
    centred = X - X.mean(axis=0)
    size = centred.std(axis=0)
    return centred / np.where(size > 1e-12, size, 1.0)


def check(function, X, y, options, depth, name):
    path = function(X, y, **options)
    path = function(X, y, **options, stop=depth * path.start) if depth != 1e-4 else path
    assert_walked(path)
    assert path.complete or (ROUND_OFF in path.reason and name in STOPS_EARLY), path.reason


@pytest.fixture(params=["compiled", "reference"])
def rows(request, monkeypatch):
    """All rows for the compiled engine, ROWS of them for the reference."""
    monkeypatch.setenv("CHEMIN_ENGINE", request.param)
    return None if request.param == "compiled" else ROWS


both = [(s, k) for s in CLASSES for k in KERNELS], [(s, k) for s in NUMBERS for k in KERNELS]


@pytest.mark.parametrize("name, kernel", both[0])
def test_classification(load, name, kernel, rows):
    """Oracle: the certificate."""
    X, y = load(name, rows)
    check(svc_path, X, y, KERNELS[kernel], CLASSES[name], (name, kernel))


@pytest.mark.parametrize("name, kernel", both[1])
def test_regression(load, name, kernel, rows):
    """Oracle: the certificate. The tube is a tenth of the standard deviation of y."""
    X, y = load(name, rows)
    options = KERNELS[kernel] | {"epsilon": 0.1 * y.std()}
    check(svr_path, X, y, options, NUMBERS[name], (name, kernel))


@pytest.mark.parametrize("name, kernel", both[1])
def test_regression_in_epsilon(load, name, kernel, rows):
    """Oracle: the certificate."""
    X, y = load(name, rows)
    options = KERNELS[kernel] | {"along": "epsilon", "lambda_": 1.0 / y.std()}
    check(svr_path, X, y, options, NUMBERS[name], (name, kernel, "epsilon"))


@pytest.mark.stress
@pytest.mark.parametrize("kernel", ["linear", "rbf 0.1", "rbf 1"])
@pytest.mark.parametrize("name", ["a1a_train", "svmguide1_train", "abalone_scale"])
def test_large(load_data, name, kernel):
    """Oracle: the certificate. Every row of the larger sets."""
    data = load_data(name)
    X = data.data if name.endswith("_scale") else standardised(data.data)
    if name == "abalone_scale":
        path = svr_path(X, data.target, epsilon=0.5 * data.target.std(), **KERNELS[kernel])
    else:
        path = svc_path(X, data.target, **KERNELS[kernel])
    assert_walked(path)


def test_few_stop_early():
    """Oracle: the tenth that is allowed."""
    assert len(STOPS_EARLY) <= 0.1 * (len(both[0]) + 2 * len(both[1]))


@pytest.mark.parametrize("name", ["diabetes", "boston", "prostate", "mpg_scale", "longley"])
def test_lasso_meets_lars(load, name):
    """Oracle: scikit-learn's lars_path, at its breakpoints; its alpha is lambda / n."""
    X, y = load(name)
    y = y - y.mean()
    alphas, _, theirs = lars_path(X - X.mean(axis=0), y, method="lasso")
    path = lasso_path(X, y, stop=0)
    assert_walked(path)
    lambdas = alphas * len(y)
    for value, coef in zip(lambdas, theirs.T):
        ours = path.at(value).coef
        np.testing.assert_allclose(ours, coef, atol=1e-8 * np.abs(theirs).max())
    for value in path.breakpoints[path.breakpoints > 1e-9 * path.start]:
        assert np.min(np.abs(lambdas / value - 1)) < 1e-8


@pytest.mark.parametrize("name", ["iris 1 2", "wine 0 1", "breast cancer", "digits 3 8"])
def test_lasso_on_classes(load, name):
    """Oracle: the certificate. Labels as numbers: many ties, more columns than rank in digits."""
    X, y = load(name)
    assert_walked(lasso_path(X, y.astype(float)))
