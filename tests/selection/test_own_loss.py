"""Each problem's own loss as a criterion, and the default that it names."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import KFold, StratifiedKFold

from chemin import (
    PathSVC,
    expectile_path,
    kernel_ridge_path,
    lasso_path,
    nu_svr_path,
    quadratic_svc_path,
    quadratic_svr_path,
    quantile_path,
    svc_path,
    svr_path,
)
from chemin.problems import SVC, Problem
from chemin.selection import CrossValidation, Family, LeaveOneOut, LeaveOneOutOnPath

EPSILON = 0.3


@pytest.fixture(scope="module")
def labels():
    return make_classification(60, 4, flip_y=0.2, weights=[0.4], random_state=0)


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return 10 * X[:60], (y[:60] - 150) / 80


def by_hand(family, splits, values, loss):
    """Predictions of each fold's path, and the definition."""
    folds = []
    for train, test in splits:
        f = family.walk(train, stop=family.path.stop).decision_function(family.X[test], values)
        folds.append(np.average(loss(family.y[test][:, None], f), axis=0))
    return np.mean(folds, axis=0)


def test_of_svc_is_the_hinge(labels):
    """Oracle: neg_hinge_loss."""
    family = Family(svc_path, *labels, gamma=0.5)
    own, hinge = (CrossValidation(3, scoring=s)(family) for s in ("loss", "neg_hinge_loss"))
    assert own.exact and own.scoring == "loss"
    np.testing.assert_array_equal(own.knots, hinge.knots)
    assert own.minimum == hinge.minimum and own.minimiser == hinge.minimiser


def test_class_weights_count_in_it(labels):
    """Oracle: weights of the samples that are the same."""
    X, y = labels
    options = {"cv": 3, "gamma": 0.5, "scoring": "loss"}
    a = PathSVC(class_weight={1: 3.0}, **options).fit(X, y)
    b = PathSVC(**options).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    assert a.lambda_ == pytest.approx(b.lambda_)
    assert a.curve_.minimum == pytest.approx(b.curve_.minimum)


def test_of_svr_is_the_tube(numbers):
    """Oracle: predictions of the folds' paths, by the definition."""
    family = Family(svr_path, *numbers, gamma=0.3, epsilon=EPSILON, stop=0.05)
    splits = list(KFold(3).split(numbers[0]))
    curve = CrossValidation(splits, scoring="loss")(family)
    v = np.exp(np.random.default_rng(0).uniform(*np.log([0.05, 2 * family.path.start]), 300))
    tube = lambda y, f: np.maximum(0, np.abs(y - f) - EPSILON)
    np.testing.assert_allclose(curve(v), by_hand(family, splits, v, tube), rtol=1e-9, atol=1e-11)
    assert curve.minimum <= curve(v).min()
    there = by_hand(family, splits, np.array([curve.minimiser]), tube)[0]
    assert curve.minimum == pytest.approx(there, rel=1e-9)


def test_of_quantiles_is_the_pinball(numbers):
    """Oracle: scikit-learn's mean_pinball_loss of the folds' paths. It is the default there."""
    family = Family(quantile_path, *numbers, gamma=0.3, tau=0.3, stop=0.05)
    splits = list(KFold(3).split(numbers[0]))
    curve = CrossValidation(splits)(family)
    assert curve.scoring == "loss" and curve.exact
    for v in (0.06, 0.3, 1.0):
        losses = []
        for train, test in splits:
            f = family.walk(train, stop=family.path.stop).predict(family.X[test], v)
            losses.append(mean_pinball_loss(family.y[test], f, alpha=0.3))
        assert curve(v) == pytest.approx(np.mean(losses), rel=1e-9)


def test_on_the_path(numbers):
    """Oracle: LeaveOneOut, which walks n paths."""
    X, y = numbers[0][:20], numbers[1][:20]
    family = Family(svr_path, X, y, gamma=0.3, epsilon=EPSILON, stop=0.1)
    curve = LeaveOneOutOnPath(scoring="loss", n_values=12)(family)
    exact = LeaveOneOut(scoring="loss")(family)
    v = curve.knots[(curve.knots >= exact.range[0]) & (curve.knots <= exact.range[1])]
    np.testing.assert_allclose(curve(v), exact(v), rtol=1e-7, atol=1e-9)


def test_the_default_is_what_the_problem_names(labels, numbers, monkeypatch):
    """Oracle: the attribute."""
    named = [(svc_path, labels), (svr_path, numbers), (nu_svr_path, numbers), (lasso_path, numbers)]
    for make, data in named:
        family = Family(make, *data)
        assert CrossValidation(3)(family).scoring == family.problem.criterion
    assert Problem.criterion == "loss"
    monkeypatch.setattr(SVC, "criterion", "loss")
    assert CrossValidation(3)(Family(svc_path, *labels)).loss == "hinge loss"
    monkeypatch.setattr(SVC, "criterion", "average_precision")
    curve = CrossValidation(3)(Family(svc_path, *labels, start=2.0, stop=1.0))
    assert curve.scoring == "average_precision" and not curve.exact
    monkeypatch.setattr(SVC, "criterion", "loss")
    splits = list(StratifiedKFold(3).split(*labels))
    monkeypatch.setattr(SVC, "own_loss", Problem.own_loss)
    with pytest.raises(ValueError, match="scoring must name a scorer for svc in "):
        CrossValidation(splits)(Family(svc_path, *labels))


@pytest.mark.parametrize("h", [np.inf, 0.4])
def test_of_quadratic_losses_of_labels(labels, h):
    """Oracle: predictions of the folds' paths, by the definition with its half."""
    X, y = labels
    family = Family(quadratic_svc_path, X, y, gamma=0.5, rho=1.1, h=h, start=3.0, stop=0.05)
    splits = list(StratifiedKFold(3).split(X, y))
    curve = CrossValidation(splits, scoring="loss")(family)
    assert curve.exact

    def loss(y, f):
        u = np.maximum(0, 1.1 - np.where(y > 0, 1.0, -1.0) * f)
        return 0.5 * np.where(u < h, u**2, 2 * min(h, 9.0) * u - min(h, 9.0) ** 2)

    check_curve(curve, family, splits, loss)


@pytest.mark.parametrize("make", [quadratic_svr_path, expectile_path, kernel_ridge_path])
def test_of_quadratic_losses_of_numbers(numbers, make):
    """Oracle: predictions of the folds' paths, by the definition with its half."""
    given = {quadratic_svr_path: {"epsilon": EPSILON, "h": 0.3}, expectile_path: {"tau": 0.3}}
    options = given.get(make, {})
    family = Family(make, *numbers, gamma=0.3, start=3.0, stop=0.05, **options)
    splits = list(KFold(3).split(numbers[0]))
    curve = CrossValidation(splits, scoring="loss")(family)
    assert curve.exact
    losses = {
        quadratic_svr_path: lambda y, f: huber(np.maximum(0, np.abs(y - f) - EPSILON), 0.3),
        expectile_path: lambda y, f: 0.5 * np.where(y > f, 0.3, 0.7) * (y - f) ** 2,
        kernel_ridge_path: lambda y, f: 0.5 * (y - f) ** 2,
    }
    check_curve(curve, family, splits, losses[make])


def huber(u, h):
    return 0.5 * np.where(u < h, u**2, 2 * h * u - h**2)


def check_curve(curve, family, splits, loss):
    v = np.exp(np.random.default_rng(0).uniform(*np.log([0.05, 3.0]), 300))
    np.testing.assert_allclose(curve(v), by_hand(family, splits, v, loss), rtol=1e-9, atol=1e-11)
    assert curve.minimum <= curve(v).min() * (1 + 1e-12)
    there = by_hand(family, splits, np.array([curve.minimiser]), loss)[0]
    assert curve.minimum == pytest.approx(there, rel=1e-9)
