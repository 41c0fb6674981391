"""Families of paths: how they are made, and what they walk."""

import pickle
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification
from sklearn.metrics.pairwise import rbf_kernel

import chemin
from chemin import lasso_path, load, nu_svr_path, svc_path, svr_path
from chemin.selection import Family

CLOSE = 1e-9  # a part of a matrix product is not the product of parts, to the last digits


@pytest.fixture(scope="module")
def labels():
    return make_classification(50, 4, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return 10 * X[:40], (y[:40] - 150) / 80


MODELS = {
    "svc": (svc_path, {"gamma": 0.5, "class_weight": "balanced"}),
    "svr": (svr_path, {"gamma": 0.5, "epsilon": 0.2}),
    "nu_svr": (nu_svr_path, {"gamma": 0.5, "nu": 0.3}),
    "lasso": (lasso_path, {"intercept": False}),
}


@pytest.mark.parametrize("name", MODELS)
def test_by_name_by_function_and_partial(name, labels, numbers):
    """Oracle: the path function itself, on all rows and on some with weights."""
    make, options = MODELS[name]
    X, y = labels if name == "svc" else numbers
    rows, times = np.arange(3, 33), np.tile([1.0, 2.0, 3.0], 10)
    whole = make(X, y, **options)
    part = make(X[rows], y[rows], sample_weight=times, **options)
    for model, rest in ((name, options), (make, options), (partial(make, **options), {})):
        family = Family(model, X, y, **rest)
        assert family.name == name and name in repr(family)
        np.testing.assert_array_equal(family.path.breakpoints, whole.breakpoints)
        np.testing.assert_allclose(
            family.walk(rows, times).breakpoints, part.breakpoints, rtol=CLOSE
        )


def test_paths_know_their_points(labels, tmp_path):
    """Oracle: the path function, given the points; and a path that was saved."""
    X, y = labels
    path = Family("svc", X, y, gamma=0.5).walk(np.arange(40))
    v = 0.1 * path.start
    expected = svc_path(X[:40], y[:40], gamma=0.5).decision_function(X[40:], v)
    np.testing.assert_allclose(path.decision_function(X[40:], v), expected, rtol=CLOSE)
    path.save(tmp_path / "path.npz")
    again = load(tmp_path / "path.npz")
    np.testing.assert_allclose(again.decision_function(X[40:], v), expected, rtol=CLOSE)
    K = rbf_kernel(X, gamma=0.5)
    given = Family("svc", K, y, kernel="precomputed").walk(np.arange(40))
    np.testing.assert_allclose(given.decision_function(K[40:, :40], v), expected, atol=1e-9)


def test_a_pickled_family_walks_the_same(labels):
    """Oracle: the family itself."""
    family = Family("svc", *labels)
    again = pickle.loads(pickle.dumps(family))
    assert again.known_path is None
    np.testing.assert_array_equal(again.path.breakpoints, family.path.breakpoints)
    assert family.known_path is family.path


def test_bad_arguments(labels, numbers):
    """Oracle: the message names what is wrong."""
    for model in ("svm", len, lambda X, y: None):
        with pytest.raises(ValueError, match=r"model must be a path function .*svc"):
            Family(model, *labels)
    with pytest.raises(TypeError, match="lasso has no argument 'gamma', only intercept"):
        Family("lasso", *numbers, gamma=1.0)
    with pytest.raises(TypeError, match="svr has no argument 'class_weight'"):
        Family("svr", *numbers, class_weight="balanced")
    with pytest.raises(ValueError, match="epsilon must be"):
        Family("svr", *numbers, epsilon=-1.0)
    with pytest.raises(ValueError, match="along must be 'lambda' or 'nu'"):
        Family("nu_svr", *numbers, along="epsilon")
    with pytest.raises(ValueError, match="stop must be"):
        Family("svr", *numbers, stop=-1.0)
    with pytest.raises(ValueError, match="y has 3 entries, but X has 50 rows"):
        Family("svc", labels[0], [0, 1, 0])


def test_defaults_are_those_of_the_path_function():
    """Oracle: the path function itself, whose intercept is False by default."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] + rng.normal(size=30) > 0.5).astype(int)
    alone = chemin.quadratic_svc_path(X, y, gamma=0.5).at(1.0)
    for model in (chemin.quadratic_svc_path, "quadratic_svc"):
        path = Family(model, X, y, gamma=0.5).path
        np.testing.assert_allclose(path.at(1.0).coef, alone.coef, atol=1e-12)
        assert path.at(1.0).intercept == 0.0


def test_a_graph_has_a_family_of_its_own():
    """Oracle: the message."""
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.arange(10) % 2
    with pytest.raises(ValueError, match=r"needs the graph of its points: take .*GraphFamily"):
        Family(chemin.laplacian_svc_path, X, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_share_products(weighted):
    """Oracle: X'X of the centred columns of a fold, by themselves."""
    rng = np.random.default_rng(0)
    X, y = 3.0 + rng.normal(size=(300, 70)), rng.normal(size=300)
    w = rng.integers(1, 4, 300).astype(float) if weighted else np.ones(300)
    family = Family("lasso", X, y, sample_weight=w)
    rows = np.delete(np.arange(300), slice(20, 80))
    Z = X[rows] - np.average(X[rows], axis=0, weights=w[rows])
    expected = (Z * w[rows, None]).T @ Z
    gram = family.products.among(rows)
    np.testing.assert_allclose(gram.matrix, expected, atol=1e-13 * np.abs(expected).max())
    assert family.walk(rows).certificate(family.walk(rows).breakpoints).exact.all()


def test_products_that_would_cancel_are_not_shared():
    """Oracle: the certificate of the path, and none is shared where little of a column is left."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 64)), rng.normal(size=200)
    X[:10, 3] *= 1e9
    family = Family("lasso", X, y)
    rows = np.arange(10, 200)
    assert family.products.among(rows) is None
    assert family.walk(rows).certificate(family.walk(rows).breakpoints).exact.all()
