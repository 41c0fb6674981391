"""Curves of the linear models against brute force, and criteria from theory."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet, LassoLarsIC, LinearRegression, Ridge
from sklearn.model_selection import KFold

import chemin
from chemin import AdaptiveRidge, NonNegativeGarrote, PathLasso, PathRidge
from chemin.selection import CrossValidation, Family, InformationCriterion, LeaveOneOut
from test_shrinkage import garrote_by_qp

MODELS = {
    "ridge": (PathRidge, chemin.ridge_path),
    "garrote": (NonNegativeGarrote, chemin.garrote_path),
    "adaptive_ridge": (AdaptiveRidge, chemin.adaptive_ridge_path),
    "lasso": (PathLasso, chemin.lasso_path),
}


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return X[:120], (y[:120] - y.mean()) / y.std()


def by_normal_equations(X, y, lam):
    return Ridge(lam, solver="cholesky").fit(X, y).coef_


def by_iteration(X, y, mu):
    return chemin.adaptive_ridge_iteration(X, y, mu, max_rounds=5_000, tol=1e-12)[0]


SOLVERS = {
    "ridge": by_normal_equations,
    "garrote": garrote_by_qp,
    "adaptive_ridge": by_iteration,
}


@pytest.mark.parametrize("name", SOLVERS)
def test_folds_against_other_solvers(data, name):
    """Oracle: every fold solved again at random values, by another method."""
    X, y = data
    splits = list(KFold(3).split(X))
    curve = CrossValidation(splits)(Family(name, X, y))
    assert curve.exact
    low, high = np.log(curve.range)
    # Far down the iteration for adaptive ridge takes for ever.
    values = np.exp(np.random.default_rng(0).uniform(0.5 * (low + high), high, 12))
    for value in values:
        errors = []
        for train, test in splits:
            b = SOLVERS[name](X[train], y[train], value * len(train) / len(y))
            b0 = y[train].mean() - X[train].mean(axis=0) @ b
            errors.append(np.mean((y[test] - X[test] @ b - b0) ** 2))
        np.testing.assert_allclose(curve.per_fold(value), errors, rtol=1e-7)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("criterion", [CrossValidation(3), LeaveOneOut()], ids=["folds", "loo"])
def test_the_minimum_over_the_continuum(data, name, criterion):
    """Oracle: the folds' own paths on a fine grid; the curve at its minimiser."""
    X, y = data[0][:20, :6], data[1][:20]
    family = Family(name, X, y)
    curve = criterion(family)
    trials = criterion.trials(family)
    grid = np.geomspace(curve.range[0], curve.range[1], 400)[1:-1]
    losses = np.zeros(len(grid))
    for t in trials:
        path = family.walk(t.train, stop=0)
        f = path.predict(X[t.test], grid * family.share(t.train))
        losses += np.mean((y[t.test][:, None] - f) ** 2, axis=0) / len(trials)
    np.testing.assert_allclose(curve(grid), losses, rtol=1e-9)
    assert curve.minimum <= losses.min() * (1 + 1e-12)
    assert curve(curve.minimiser) == pytest.approx(curve.minimum, rel=1e-9)
    most = curve.minimum + curve.standard_error(curve.minimiser)
    assert curve(curve.one_se()) <= most * (1 + 1e-9)
    larger = grid[grid > curve.one_se() * (1 + 1e-6)]
    assert np.all(curve(larger) > most * (1 - 1e-9))


@pytest.mark.parametrize("name", MODELS)
def test_estimators_have_the_model_of_the_path(data, name):
    """Oracle: the path at the chosen value; what is reported besides."""
    X, y = data
    model = MODELS[name][0](cv=4, choose="one_se").fit(X, y)
    value = model.mu_ if name == "adaptive_ridge" else model.lambda_
    assert value == model.curve_.one_se()
    s = MODELS[name][1](X, y).at(value)
    np.testing.assert_allclose(model.coef_, s.coef, atol=1e-10 * np.abs(s.coef).max())
    np.testing.assert_allclose(model.predict(X), X @ s.coef + s.intercept, atol=1e-9)
    np.testing.assert_array_equal(model.support_, model.coef_ != 0)
    if name == "garrote":
        least = LinearRegression().fit(X, y).coef_
        np.testing.assert_allclose(model.initial_, least, rtol=1e-9)
        np.testing.assert_allclose(model.shrinkage_ * least, model.coef_, atol=1e-12)
    if name == "adaptive_ridge":
        assert 1 / np.mean(1 / model.penalties_) == pytest.approx(model.mu_)
        b = np.linalg.solve(  # ridge regression with these penalties
            *_normal(X[:, model.support_], y, model.penalties_[model.support_])
        )
        np.testing.assert_allclose(model.coef_[model.support_], b, rtol=1e-8)


def _normal(X, y, penalties):
    X, y = X - X.mean(axis=0), y - y.mean()
    return X.T @ X + np.diag(penalties), X.T @ y


def test_standardised_and_positive_estimators(data):
    """Oracle: the lasso on divided columns; what columns were divided by is reported."""
    X, y = data[0] * np.logspace(0, 3, 10), data[1]
    model = PathLasso(cv=4, standardize=True).fit(X[:40], y[:40])
    np.testing.assert_allclose(model.scale_, X[:40].std(axis=0))
    with pytest.raises(ValueError, match="standardize=False"):
        model.to_sklearn()
    with pytest.warns(UserWarning, match="a smaller stop may do better"):
        plain = PathLasso(cv=3, positive=True, stop=0.5).fit(data[0], y)
    assert plain.coef_.min() == 0.0
    np.testing.assert_array_equal(plain.scale_, np.ones(10))
    np.testing.assert_allclose(plain.to_sklearn().coef_, plain.coef_, atol=1e-6)


# ---------------------------------------------------------------------- from theory


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["cp", "aic", "bic", "gcv"])
def test_criteria_by_their_formulas(data, name, kind):
    """Oracle: the formulas, from residuals and degrees of freedom at each value."""
    X, y = data
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    family = Family(name, X, y, sample_weight=w)
    curve = InformationCriterion(kind)(family)
    path, n = family.path, w.sum()
    edges = np.sort(np.concatenate([path.breakpoints, curve.range]))
    values = np.exp(np.random.default_rng(1).uniform(*np.log(curve.range), 100))
    values = values[np.abs(values[:, None] / edges - 1).min(axis=1) > 1e-9]
    f = path.predict(X, values)
    rss, df = w @ (y[:, None] - f) ** 2, path.degrees_of_freedom(values)
    full = LinearRegression().fit(X, y, sample_weight=w).predict(X)
    variance = w @ (y - full) ** 2 / (n - 11)
    likelihood = -0.5 * n * (np.log(2 * np.pi * rss / n) + 1)
    expected = {
        "cp": rss / variance - n + 2 * df,
        "aic": -2 * likelihood + 2 * df,
        "bic": -2 * likelihood + np.log(n) * df,
        "gcv": rss / n / (1 - df / n) ** 2,
    }[kind]
    np.testing.assert_allclose(curve(values), expected, rtol=1e-9, atol=1e-9)
    assert curve.minimum <= expected.min() + 1e-9 * abs(expected.min())
    with pytest.raises(ValueError, match="at least 2 folds"):
        curve.one_se()


@pytest.mark.parametrize("kind", ["aic", "bic"])
def test_lasso_criteria_against_scikit_learn(kind):
    """Oracle: LassoLarsIC, which has no count for the intercept, at its own choice."""
    X, y = load_diabetes(return_X_y=True)
    other = LassoLarsIC(criterion=kind).fit(X, y)
    criterion = InformationCriterion(kind, noise_variance=other.noise_variance_)
    model = PathLasso(cv=criterion, stop=0).fit(X, y)
    assert model.lambda_ == pytest.approx(other.alpha_ * len(y))
    price = 2 if kind == "aic" else np.log(len(y))
    assert model.curve_.minimum == pytest.approx(other.criterion_.min() + price)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-6)


def test_what_criteria_refuse(data):
    """Oracle: the messages."""
    X, y = data
    with pytest.raises(ValueError, match="criterion must be one of cp, aic, bic, gcv, got 'press'"):
        InformationCriterion("press")
    with pytest.raises(ValueError, match="noise_variance must be"):
        InformationCriterion("cp", noise_variance=0)
    with pytest.raises(ValueError, match="nothing is known of its degrees of freedom"):
        InformationCriterion()(Family("svr", X, y))
    wide = np.random.default_rng(0).normal(size=(20, 30))
    for kind, needs in (("cp", "noise_variance"), ("bic", "noise_variance"), ("gcv", "folds")):
        with pytest.raises(ValueError, match=f"{kind} needs {needs}"):
            InformationCriterion(kind)(Family("lasso", wide, y[:20]))
    curve = InformationCriterion("bic", noise_variance=0.5)(Family("lasso", wide, y[:20]))
    assert curve.range[0] < curve.minimiser <= curve.range[1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", [PathLasso, PathRidge, NonNegativeGarrote, AdaptiveRidge])
def test_nothing_to_choose_from(model):
    """Oracle: the mean of y. Nothing is said of a better value beyond the range: there is none."""
    y = np.random.default_rng(0).normal(size=30)
    fitted = model(cv=3).fit(np.full((30, 3), 2.5), y)
    assert not fitted.coef_.any() and fitted.intercept_ == pytest.approx(y.mean(), rel=1e-12)


def test_folds_of_the_elastic_net(data):
    """Oracle: ElasticNet at one alpha and l1_ratio in all folds, as ElasticNetCV compares them."""
    X, y = data
    folds, n, lambda2 = list(KFold(3).split(X)), len(y), 0.3
    curve = CrossValidation(folds)(Family(chemin.elastic_net_path, X, y, lambda2=lambda2))
    for value in (0.05, 0.3, 1.0):
        total = value + lambda2
        net = ElasticNet(total / n, l1_ratio=value / total, tol=1e-12, max_iter=10**6)
        errors = [
            np.mean((y[test] - net.fit(X[train], y[train]).predict(X[test])) ** 2)
            for train, test in folds
        ]
        np.testing.assert_allclose(curve.per_fold(value), errors, rtol=1e-6)
