"""The elastic net in lambda1, at a fixed lambda2."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet, Ridge

import chemin
from chemin import elastic_net_path, lasso_path
from contract import NUMBERS, assert_walked, make_data, make_tied, random_values

every_data = pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("lambda2", [0.01, 1.0, 30.0])
def test_scikit_learn(lambda2, intercept):
    """Oracle: ElasticNet(alpha=(l1 + l2) / n, l1_ratio=l1 / (l1 + l2)), at ten values."""
    X, y = load_diabetes(return_X_y=True)
    n, w = len(X), np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    for weight in (None, w):
        path = elastic_net_path(X, y, lambda2=lambda2, intercept=intercept, sample_weight=weight)
        total = n if weight is None else w.sum()
        for l1 in np.geomspace(0.9 * path.start, path.stop, 10):
            model = ElasticNet(
                alpha=(l1 + lambda2) / total,
                l1_ratio=l1 / (l1 + lambda2),
                fit_intercept=intercept,
                tol=1e-14,
                max_iter=100_000,
            ).fit(X, y, sample_weight=weight)
            s = path.at(l1)
            np.testing.assert_allclose(s.coef, model.coef_, atol=1e-6 * np.abs(y).max())
            assert s.intercept == pytest.approx(model.intercept_, rel=1e-8, abs=1e-8)


def test_ends():
    """Oracle: ridge regression at lambda1 = 0, and the lasso at lambda2 = 0."""
    X, y = make_data(NUMBERS)
    path = elastic_net_path(X, y, lambda2=2.0, stop=0)
    ridge = Ridge(alpha=2.0, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(path.at(0.0).coef, ridge.coef_, atol=1e-9)
    a, b = elastic_net_path(X, y, lambda2=0.0), lasso_path(X, y)
    np.testing.assert_allclose(a.breakpoints, b.breakpoints, rtol=1e-9)


@every_data
@pytest.mark.parametrize("intercept", [True, False])
def test_exact_everywhere(data, intercept):
    """Oracle: the certificate. More columns than rows too."""
    X, y = data(NUMBERS)
    w = 10.0 ** np.random.default_rng(3).uniform(-2, 1, len(y))
    for weight in (None, w):
        path = elastic_net_path(X, y, lambda2=0.3, intercept=intercept, sample_weight=weight)
        assert path.complete
        assert_walked(path)
    wide = np.hstack([X, X[::-1] * X[:, :1], np.random.default_rng(0).normal(size=(len(X), 60))])
    assert_walked(elastic_net_path(wide, y, lambda2=0.3, intercept=intercept))


def test_saved_and_certified(tmp_path):
    """Oracles: the path that was saved; and mutants."""
    X, y = make_data(NUMBERS)
    path = elastic_net_path(X, y, lambda2=0.3)
    path.save(tmp_path / "path.npz")
    again = chemin.load(tmp_path / "path.npz")
    values = random_values(path)
    f, g = (p.decision_function(X, values) for p in (path, again))
    np.testing.assert_array_equal(f, g)
    s, up = path.at(0.1 * path.start), 1.0 + 1e-6
    assert (s.lambda1, s.lambda2) == (0.1 * path.start, 0.3)
    assert path.certify(s).verdict == "exact"
    for mutant in (
        replace(s, coef=s.coef * up, alpha=s.alpha * up),
        replace(s, intercept=s.intercept * up),
        replace(s, lambda_=s.lambda_ * up),
        replace(s, more=s.more | {"lambda2": 0.3 * up}),
    ):
        assert not path.certify(mutant).exact
    known = np.abs(path.coefficients(path.breakpoints)[0]).sum(axis=0)
    np.testing.assert_allclose(path.s, known, atol=1e-9 * known.max())


def test_what_is_refused():
    """Oracle: the message names the argument."""
    X, y = make_data(NUMBERS)
    with pytest.raises(ValueError, match="lambda2"):
        elastic_net_path(X, y, lambda2=-1.0)
