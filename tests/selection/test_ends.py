"""The ends of curves: models that do not change any more, and what lies beyond."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVR

import chemin.selection.family as family_module
from chemin import (
    NonNegativeGarrote,
    PathLasso,
    PathSVC,
    PathSVR,
    lasso_path,
    nu_svr_path,
    svc_path,
    svr_path,
)
from chemin.datasets import make_sinexp
from chemin.selection import CrossValidation, Family, Split


def noise(seed, n=100, d=10):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


@pytest.mark.parametrize("seed", range(20))
def test_the_null_model_of_pure_noise(seed):
    """Oracle: the null model's error, and scikit-learn's at a fine grid of alphas below."""
    X, y = noise(seed)
    split = Split(random_state=seed)
    family = Family(lasso_path, X, y)
    (trial,) = split.trials(family)
    curve = split(family)
    i, j = trial.train, trial.test
    null = np.mean((y[j] - y[i].mean()) ** 2)
    largest = np.abs((X[i] - X[i].mean(axis=0)).T @ (y[i] - y[i].mean())).max() / len(i)
    errors = [
        np.mean((y[j] - Lasso(alpha, tol=1e-8).fit(X[i], y[i]).predict(X[j])) ** 2)
        for alpha in np.geomspace(1e-3, 0.999, 60) * largest
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PathLasso(cv=split).fit(X, y)
    assert curve(10 * curve.range[1]) == pytest.approx(null)
    if null < min(errors):
        assert curve.minimum == pytest.approx(null) and not model.coef_.any()
        assert curve.interval[1] == curve.range[1] >= curve.path.start and curve.at_end
        assert curve.sparsest(0.0) >= curve.path.start
    else:
        assert curve.minimum <= min(errors) * (1 + 1e-9)


def test_the_null_model_is_found_where_it_is_best():
    """Oracle: the loss far above all starts is that of the null model."""
    nulls = 0
    for seed in range(60):
        split = Split(random_state=seed)
        curve = split(Family(lasso_path, *noise(seed)))
        if curve(2 * curve.range[1]) <= curve.minimum * (1 + 1e-12):
            nulls += 1
            assert not curve.path.at(curve.minimiser).coef.any()
    assert 15 <= nulls <= 45


def test_one_se_of_noise_is_the_null_model():
    """Oracle: the null model is within one standard error, by its fold errors."""
    for seed in range(10):
        X, y = noise(seed, 60, 5)
        curve = CrossValidation(4)(Family(lasso_path, X, y))
        folds = [np.mean((y[j] - y[i].mean()) ** 2) for i, j in KFold(4).split(X)]
        most = curve.minimum + curve.standard_error(curve.minimiser)
        if np.mean(folds) <= most:
            assert not curve.path.at(curve.one_se()).coef.any()
            assert not curve.path.at(curve.sparsest()).coef.any()


def test_a_curve_in_nu_goes_up_to_one():
    """Oracle: NuSVR's range; above its start a path stands still."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=30)
    family = Family(nu_svr_path, X, y, gamma=1.0, along="nu", lambda_=1.0, stop=0.1)
    curve = CrossValidation(3)(family)
    assert curve.range[1] == 1.0
    splits = list(KFold(3).split(X))
    for v in (1.0, 0.5 * (1 + curve.top), 0.3):
        loss = [np.mean((family.walk(i).predict(X[j], v) - y[j]) ** 2) for i, j in splits]
        assert curve(v) == pytest.approx(np.mean(loss), rel=1e-9)


# ---------------------------------------------------------------------- choices at ends


def test_one_se_stays_where_something_happens():
    """Oracle: the starts and the curve's own jumps; any model is within a large error."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    for family in (
        Family(svc_path, X, y),
        Family(svr_path, X, X[:, 0] + 2 * rng.normal(size=40), epsilon=0.1),
    ):
        curve = CrossValidation(3)(family)
        last = max(curve.top, curve.knots[1:-1].max())
        most = curve.minimum + curve.standard_error(curve.minimiser)
        assert curve(curve.range[1]) <= most
        assert curve.one_se() <= max(last * (1 + 1e-6), curve.minimiser)
        assert curve.sparsest() <= max(last * (1 + 1e-6), curve.minimiser)


def test_scorers_above_the_starts():
    """Oracle: scikit-learn's F1 of the folds' own labels, at every knot, far above as well."""
    moved = 0
    for seed in range(12):
        X, _ = noise(seed, 24, 2)
        y = np.where(X[:, 0] + np.random.default_rng(seed).normal(size=24) > 0.5, 1, 0)
        y[:6] = 1, 1, 1, 0, 0, 0
        splits = list(StratifiedKFold(3).split(X, y))
        family = Family(svc_path, X, y)
        curve = CrossValidation(splits, scoring="f1")(family)
        assert not curve.exact
        paths = [family.walk(i, stop=curve.range[0]) for i, _ in splits]
        for v in (curve.top, 2 * curve.top, curve.range[1]):
            scores = [f1_score(y[j], p.predict(X[j], v)) for p, (_, j) in zip(paths, splits)]
            assert curve.score(v) == pytest.approx(np.mean(scores))
        moved += abs(curve(curve.range[1]) - curve(curve.top)) > 1e-9
    assert moved, "what lies above the starts is not what is at the largest of them"


def test_sparsest_is_never_on_a_jump():
    """Oracle: the loss a little to both sides of the choice."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
        curve = CrossValidation(3)(Family(svc_path, X, y, kernel="linear"))
        for tolerance in (0.0, 0.05, None):
            value = curve.sparsest(tolerance)
            sides = curve(np.clip(value * np.array([1 - 1e-11, 1 + 1e-11]), *curve.range))
            np.testing.assert_allclose(sides, curve(value), atol=1e-12)


# ---------------------------------------------------------------------- what the warning says


def test_a_smaller_stop_is_advised_where_events_lie_below():
    """Oracle: walks of all rows and of the folds to 0, and their last events."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=24) > 0).astype(int)
    rows = [np.arange(24), *(i for i, _ in StratifiedKFold(3).split(X, y))]
    lowest = min(svc_path(X[i], y[i], gamma=1.0, stop=0).breakpoints.min() for i in rows)
    for stop in (None, 1e-6):  # without a warning: it would be an error here
        curve = PathSVC(gamma=1.0, cv=3, stop=stop).fit(X, y).curve_
        assert curve.at_lower_end and not curve.goes_on and lowest > curve.range[0]
    X, y = noise(0, 40, 4)
    y = X.sum(axis=1) + 0.01 * y
    stop = 0.7 * lasso_path(X, y).start
    with pytest.warns(UserWarning, match="at the lower end of the range .* a smaller stop may do"):
        model = PathLasso(cv=3, stop=stop).fit(X, y)
    assert lasso_path(X, y).breakpoints.min() < stop and model.curve_.goes_on


@pytest.mark.parametrize("model", [PathLasso, NonNegativeGarrote])
@pytest.mark.parametrize("noise", [0.0, 0.01, 1.0])
def test_a_minimum_below_the_last_event(model, noise):
    """Oracle: the curve down to 0. Below its last event f still moves, straight to least squares,
    and no warning would say so.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X @ [1.0, 2.0, -1.0, 0.5, 3.0] + noise * rng.normal(size=200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model().fit(X, y)
    whole = model(stop=0).fit(X, y)
    assert found.lambda_ == pytest.approx(whole.lambda_, rel=1e-6, abs=1e-9 * whole.path_.start)
    # Of nothing but round-off the minimum is no number to compare.
    least = 1e-20 * np.var(y)
    assert found.curve_.minimum == pytest.approx(whole.curve_.minimum, rel=1e-9, abs=least)
    if noise == 0:
        np.testing.assert_allclose(found.coef_, [1.0, 2.0, -1.0, 0.5, 3.0], rtol=1e-12)


def test_goes_on():
    """Oracle: the same walk, made to go further."""
    X, y = noise(0, 30, 4)
    whole = lasso_path(X, y, stop=0)
    for stop in (0.5 * whole.start, 0.5 * whole.breakpoints.min(), 0.0):
        path = lasso_path(X, y, stop=stop)
        assert path.goes_on == (whole.breakpoints.min() < stop)
    assert not lasso_path(X, y, max_events=2).goes_on


@pytest.mark.parametrize("ends", [{}, {"start": 0.2, "stop": 0.8}])
def test_a_minimum_at_the_lower_end_of_a_cost_path(ends):
    """Oracle: no exception; nothing lies below the cost at which such paths may begin."""
    X, y = np.arange(6.0)[:, None], [0, 1, 0, 0, 1, 0]
    family = Family(svc_path, X, y, along="cost", kernel="linear", **ends)
    curve = CrossValidation(2)(family)
    assert curve.range[0] >= 1e-4


@pytest.mark.parametrize(
    "model", [PathSVC(), PathSVC(class_weight="balanced"), PathSVR(epsilon=0.3)]
)
@pytest.mark.parametrize("seed", range(4))
def test_large_problems_are_walked_in_stages(monkeypatch, model, seed):
    """Oracle: the curve of the whole range, walked at once to where the stages ended, and the rule
    by which they end.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] ** 2 + X[:, 1] + 0.7 * rng.normal(size=90)
    y = np.where(y > 0.8, 1, 0) if isinstance(model, PathSVC) else y
    monkeypatch.setattr(family_module, "LARGE", 50)
    staged = clone(model).fit(X, y)
    low, high = staged.curve_.range
    whole = clone(model).set_params(stop=low).fit(X, y)
    values = np.geomspace(low * (1 + 1e-9), high, 300)
    np.testing.assert_allclose(staged.curve_(values), whole.curve_(values), rtol=1e-8, atol=1e-12)
    assert staged.lambda_ == pytest.approx(whole.lambda_, rel=1e-8)
    assert staged.path_.stop == pytest.approx(low) and staged.path_.complete
    assert staged.curve_.is_inside(10.0) or not staged.path_.goes_on


def test_stages_end_above_the_default_stop(monkeypatch):
    """Oracle: noise on the labels, which the smallest lambdas fit; a minimum far above them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] + 1.5 * rng.normal(size=120) > 0).astype(int)
    monkeypatch.setattr(family_module, "LARGE", 50)
    staged = PathSVC(gamma=1.0).fit(X, y)
    assert staged.curve_.range[0] > 2e-4 * staged.path_.start
    assert staged.curve_.interval[0] >= 10 * staged.curve_.range[0]


def test_a_default_reaches_what_a_grid_does():
    """Oracle: cross_val_score of SVR at values of C up to 1e4, on data that need a larger one."""
    X, y = make_sinexp(200, 0)
    model = PathSVR().fit(X, y)
    for C in (1.0, 100.0, 1e3, 1e4):
        score = cross_val_score(SVR(C=C, tol=1e-4), X, y, scoring="neg_mean_squared_error").mean()
        assert model.curve_(1 / C) == pytest.approx(-score, rel=1e-3)
        assert model.curve_.minimum < -score
    assert model.curve_.is_inside(10.0) or model.curve_.range[0] <= 1e-8 * model.path_.start
