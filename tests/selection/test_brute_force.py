"""Curves against brute force: every fold refitted by another solver at random values."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, StratifiedKFold

import refit
from chemin import lasso_path, svc_path, svr_path
from chemin.selection import CrossValidation, Family

N_VALUES = 500
EPSILON = 0.3
NEAR = 1e-6  # a point with |f| below this is on the boundary, where two solvers may differ

# y (points,), f (values, points): one loss a value
CLASSIFICATION = {
    "accuracy": lambda y, f: ((f > 0) != (y > 0)).mean(axis=1),
    "balanced_accuracy": lambda y, f: np.mean(
        [((f > 0) != (y > 0))[:, y == c].mean(axis=1) for c in (-1, 1)], axis=0
    ),
    "neg_hinge_loss": lambda y, f: np.maximum(0, 1 - y * f).mean(axis=1),
}
REGRESSION = {
    "neg_mean_squared_error": lambda y, f: ((y - f) ** 2).mean(axis=1),
    "neg_mean_absolute_error": lambda y, f: np.abs(y - f).mean(axis=1),
    "r2": lambda y, f: 1 - r2_score(np.tile(y[:, None], len(f)), f.T, multioutput="raw_values"),
}


def values(curve, n=N_VALUES, seed=0):
    """Log-uniform over the walked range and a little above it."""
    low, high = np.log(curve.knots[0]), np.log(3 * curve._path.start)
    return np.exp(np.random.default_rng(seed).uniform(low, high, n))


def two_classes(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] - X[:, 1] ** 2 + rng.normal(size=n) > -0.5, 1, -1)
    return X, y, RBF(1.5)(X)


def numbers(n=50, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n), RBF(1.5)(X)


def refitted(fit, K, y, splits, lams):
    """f of each fold at each value: a list of (values, test points); NaN where not told."""
    out = []
    for train, test in splits:
        f = np.full((len(lams), len(test)), np.nan)
        for k, lam in enumerate(lams):
            solved = fit(K[np.ix_(train, train)], y[train], lam)
            if solved is not None:
                f[k] = K[np.ix_(test, train)] @ solved[0] + solved[1]
        out.append(f)
    return out


def brute(metric, fs, y, splits):
    return np.mean([metric(y[test], f) for f, (_, test) in zip(fs, splits)], axis=0)


@pytest.fixture(scope="module")
def classified():
    _, y, K = two_classes()
    splits = list(StratifiedKFold(4).split(K, y))
    family = Family(svc_path, K, y, kernel="precomputed")
    lams = values(CrossValidation(splits)(family))
    return family, splits, lams, refitted(refit.svc, K, y, splits, lams)


@pytest.mark.parametrize("scoring", CLASSIFICATION)
def test_svc_at_500_values(classified, scoring):
    """Oracle: LIBSVM on every fold, polished."""
    family, splits, lams, fs = classified
    told = np.all([np.isfinite(f).all(axis=1) for f in fs], axis=0)
    if scoring != "neg_hinge_loss":
        told &= np.all([np.abs(f).min(axis=1) > NEAR for f in fs], axis=0)
    assert told.mean() > 0.98
    curve = CrossValidation(splits, scoring=scoring)(family)
    told_fs = [f[told] for f in fs]
    expected = brute(CLASSIFICATION[scoring], told_fs, family.y, splits)
    np.testing.assert_allclose(curve(lams[told]), expected, rtol=0, atol=1e-8)
    assert len(np.unique(expected)) > 5


@pytest.fixture(scope="module")
def regressed():
    _, y, K = numbers()
    splits = list(KFold(4).split(K))
    family = Family(svr_path, K, y, kernel="precomputed", epsilon=EPSILON)
    lams = values(CrossValidation(splits)(family))
    fit = lambda K, y, lam: refit.svr(K, y, lam, EPSILON)
    return family, splits, lams, refitted(fit, K, y, splits, lams)


@pytest.mark.parametrize("scoring", REGRESSION)
def test_svr_at_500_values(regressed, scoring):
    """Oracle: LIBSVM on every fold, polished."""
    family, splits, lams, fs = regressed
    told = np.all([np.isfinite(f).all(axis=1) for f in fs], axis=0)
    assert told.mean() > 0.98
    curve = CrossValidation(splits, scoring=scoring)(family)
    expected = brute(REGRESSION[scoring], [f[told] for f in fs], family.y, splits)
    np.testing.assert_allclose(curve(lams[told]), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("scoring", REGRESSION)
def test_lasso_at_500_values(scoring):
    """Oracle: lars_path on every fold."""
    X, y = load_diabetes(return_X_y=True)
    y = (y - y.mean()) / y.std()
    splits = list(KFold(5).split(X))
    curve = CrossValidation(splits, scoring=scoring)(Family(lasso_path, X, y))
    lams = values(curve)
    fits = [refit.lasso(X[train], y[train], lams * len(train) / len(y)) for train, _ in splits]
    fs = [(X[test] @ b + b0).T for (b, b0), (_, test) in zip(fits, splits)]
    expected = brute(REGRESSION[scoring], fs, y, splits)
    np.testing.assert_allclose(curve(lams), expected, rtol=1e-8, atol=1e-8)


def test_svr_in_epsilon():
    """Oracle: LIBSVM on every fold, polished."""
    _, y, K = numbers(40)
    splits = list(KFold(3).split(K))
    family = Family(svr_path, K, y, kernel="precomputed", along="epsilon", lambda_=0.5, stop=0.01)
    curve = CrossValidation(splits)(family)
    assert curve.parameter == "epsilon"
    eps = values(curve, 60)
    fit = lambda K, y, epsilon: refit.svr(K, y, 0.5, epsilon)
    fs = refitted(fit, K, y, splits, eps)
    told = np.all([np.isfinite(f).all(axis=1) for f in fs], axis=0)
    assert told.mean() > 0.9
    expected = brute(REGRESSION["neg_mean_squared_error"], [f[told] for f in fs], y, splits)
    np.testing.assert_allclose(curve(eps[told]), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(5))
def test_svc_and_svr_on_more_rows(seed):
    """Oracle: LIBSVM on every fold, polished, 500 values, 300 rows."""
    _, y, K = two_classes(300, seed)
    splits = list(StratifiedKFold(5).split(K, y))
    curve = CrossValidation(splits)(Family(svc_path, K, y, kernel="precomputed"))
    lams = values(curve, seed=seed)
    fs = refitted(refit.svc, K, y, splits, lams)
    told = np.all([np.abs(np.nan_to_num(f)).min(axis=1) > NEAR for f in fs], axis=0)
    assert told.mean() > 0.9
    expected = brute(CLASSIFICATION["accuracy"], [f[told] for f in fs], y, splits)
    np.testing.assert_allclose(curve(lams[told]), expected, rtol=0, atol=1e-12)
    _, y, K = numbers(300, seed)
    splits = list(KFold(5).split(K))
    family = Family(svr_path, K, y, kernel="precomputed", epsilon=EPSILON)
    curve = CrossValidation(splits)(family)
    lams = values(curve, seed=seed)
    fs = refitted(lambda K, y, lam: refit.svr(K, y, lam, EPSILON), K, y, splits, lams)
    told = np.all([np.isfinite(f).all(axis=1) for f in fs], axis=0)
    assert told.mean() > 0.9
    expected = brute(REGRESSION["neg_mean_squared_error"], [f[told] for f in fs], y, splits)
    np.testing.assert_allclose(curve(lams[told]), expected, rtol=1e-8, atol=1e-8)
