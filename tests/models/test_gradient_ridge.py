"""GradientRidge: what it finds, what it learns, and how it fits into scikit-learn."""

import pickle
import warnings
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from chemin import GradientRidge
from chemin.models.gradient_ridge import AVERAGES
from chemin.selection import (
    Bootstrap632,
    BootstrapLeaveOneOut,
    CrossValidation,
    LeaveOneOut,
    Split,
)
from chemin.selection.penalties import LEAST, Sample
from thesis import by_the_thesis

CRITERIA = {
    "split": Split(random_state=0),
    "K-fold": CrossValidation(4),
    "leave-one-out": LeaveOneOut(),
    "bootstrap": BootstrapLeaveOneOut(2, random_state=0),
    "0.632": Bootstrap632(2, random_state=0),
}
SCALES = np.array([1.0, 100.0, 0.01, 3.0, 1.0, 1.0])


def made(outputs=1, n=24, seed=0, noise=1.0):
    """Three useful columns of six, of very different scales."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * SCALES + 5 * SCALES
    b = np.zeros((6, outputs))
    b[:3] = 1 / SCALES[:3, None] * (1 + np.arange(outputs))
    return X, X @ b + noise * rng.normal(size=(n, outputs))


@parametrize_with_checks([GradientRidge(cv=3)])
def test_estimator(estimator, check):
    """Oracle: scikit-learn's estimator checks, none excused."""
    check(estimator)


# ---------------------------------------------------------------------- gradients, end to end


@pytest.mark.filterwarnings("ignore:.*stopped at max_iter:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("average", [None, "log_mean_exp"], ids=["simple", "averaged"])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("name", CRITERIA)
def test_descents_report_the_criterion_and_gradient_of_the_thesis(name, outputs, average):
    """Oracle: the three-stage back-propagation through Cholesky on the rows as given, to 1e-10."""
    X, y = made(outputs)
    options = {"n_samples": 2, "max_iter": 2, "random_state": 3, "cv": deepcopy(CRITERIA[name])}
    model = GradientRidge(average=average, **options).fit(X, y if outputs > 1 else y[:, 0])
    rows = [np.arange(len(X))]
    if average:
        rng = check_random_state(3)
        rows = [rng.randint(len(X), size=len(X)) for _ in range(2)]
    assert len(model.descents_) == len(rows)
    for descent, drawn in zip(model.descents_, rows):
        sample = Sample(X[drawn], y[drawn], np.ones(len(X)))
        expected, slope = by_the_thesis(sample, CRITERIA[name], descent.end)
        assert abs(descent.criterion[-1] - expected) <= 1e-10 * expected
        unit = X.std(axis=0)  # penalties of columns in units of their scales are alike
        assert np.abs((descent.gradient - slope) * unit).max() <= 1e-10 * np.abs(slope * unit).max()


# ---------------------------------------------------------------------- what it finds


@pytest.mark.parametrize("solver", ["lbfgs", "cg"])
def test_the_descent_ends_where_the_gradient_vanishes(solver):
    """Oracle: the gradient of the thesis there, and no random step that finds less. Penalties that
    have come down to the least there is have nowhere to go if the criterion grows with them.
    """
    X, y = made(n=40)
    model = GradientRidge(cv=5, solver=solver, tol=1e-7, random_state=0, max_iter=5000)
    model.fit(X, y[:, 0])
    sample, descent = Sample(X, y, np.ones(len(X))), model.descents_[0]
    value, slope = by_the_thesis(sample, CrossValidation(5), descent.end)
    at_least = descent.end <= LEAST * X.std(axis=0) * (1 + 1e-9)
    assert np.all(slope[at_least] >= 0)
    assert np.abs(slope * X.std(axis=0))[~at_least].max() <= 1e-6 * y.var()
    assert np.all(np.diff(descent.criterion) <= 1e-12 * value)
    rng = np.random.default_rng(0)
    for _ in range(30):
        near = descent.end * np.exp(0.05 * rng.normal(size=6))
        assert by_the_thesis(sample, CrossValidation(5), near)[0] >= value * (1 - 1e-6)


def test_noise_is_penalised_and_signal_is_not():
    """Oracle: which columns the data were made from."""
    X, y = made(n=80, noise=0.5)
    model = GradientRidge(cv=LeaveOneOut(), random_state=0).fit(X, y[:, 0])
    penalties = model.penalties_ / X.std(axis=0)
    assert penalties[:3].max() < 0.3 < penalties[3:].min()
    size = np.abs(model.coef_) * X.std(axis=0)
    assert size[3:].max() < 0.1 * size[:3].min()


def test_the_model_is_ridge_at_its_penalties():
    """Oracle: scikit-learn's Ridge on columns divided by their penalties."""
    X, y = made(2)
    model = GradientRidge(cv=4, random_state=1).fit(X, y)
    divided = X / model.penalties_
    ridge = Ridge(2.0 * len(X)).fit(divided, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(divided), rtol=1e-7, atol=1e-7)
    assert model.coef_.shape == (2, 6) and model.intercept_.shape == (2,)


def test_averages_of_penalties():
    """Oracle: the formulas on the ends of the descents."""
    X, y = made()
    for name in AVERAGES:
        model = GradientRidge(average=name, n_samples=3, cv=4, random_state=0).fit(X, y[:, 0])
        ends = np.abs([d.end for d in model.descents_])
        expected = {
            "mean": ends.mean(axis=0),
            "median": np.median(ends, axis=0),
            "log_mean_exp": ends.max(axis=0)
            + np.log(np.mean(np.exp(ends - ends.max(axis=0)), axis=0)),
        }[name]
        np.testing.assert_allclose(model.penalties_, expected, rtol=1e-12)
    huge = np.array([[1e5, 1.0], [1.0, 2.0]])
    found = AVERAGES["log_mean_exp"](huge)
    np.testing.assert_allclose(found, [1e5 - np.log(2), np.log((np.e + np.e**2) / 2)])


def test_columns_that_share_a_penalty():
    """Oracle: equal penalties; the gradient of the thesis, added up over the group."""
    X, y = made()
    X[:, 1:3] /= SCALES[1:3]
    groups = np.array(["a", "a", "a", "b", "b", "c"])
    model = GradientRidge(penalty_groups=groups, cv=4, random_state=0, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="1 of 1 descents stopped at max_iter=2"):
        model.fit(X, y[:, 0])
    assert [len(set(model.penalties_[groups == g])) for g in "abc"] == [1, 1, 1]
    descent = model.descents_[0]
    assert descent.parameters.shape == (3, 3)
    sample = Sample(X, y, np.ones(len(X)))
    slope = by_the_thesis(sample, CrossValidation(4), model.penalties_)[1]
    summed = [slope[groups == g].sum() for g in "abc"]
    np.testing.assert_allclose(descent.gradient, summed, rtol=1e-9)


def test_restarts_keep_the_best():
    """Oracle: the criterion of single descents from the same starts."""
    X, y = made(n=20, seed=4)
    many = GradientRidge(cv=4, n_restarts=4, random_state=0).fit(X, y[:, 0])
    rng, single = np.random.RandomState(0), []
    for _ in range(4):
        start = rng.uniform(size=6) * X.std(axis=0)
        single.append(GradientRidge(cv=4, start=start).fit(X, y[:, 0]).criterion_)
    assert many.criterion_ == pytest.approx(min(single), rel=1e-10)


def test_units_of_columns_do_not_matter():
    """Oracle: the same model on columns in other units, with penalties in those units."""
    X, y = made()
    one = GradientRidge(cv=4, random_state=0).fit(X, y[:, 0])
    other = GradientRidge(cv=4, random_state=0).fit(X / SCALES, y[:, 0])
    np.testing.assert_allclose(one.penalties_ / SCALES, other.penalties_, rtol=1e-4)
    np.testing.assert_allclose(one.predict(X), other.predict(X / SCALES), rtol=1e-6)


def test_weights_are_copies_in_training():
    """Oracle: at given folds, rows that are there twice."""
    X, y = made(n=20)
    weight = np.where(np.arange(20) % 3 == 0, 2.0, 1.0)
    times = np.repeat(np.arange(20), weight.astype(int))
    folds = np.arange(20) % 4
    cuts = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(4)]
    again = [
        (np.flatnonzero(folds[times] != k), np.flatnonzero(folds[times] == k)) for k in range(4)
    ]
    start = np.full(6, 0.3) * X.std(axis=0)
    one = GradientRidge(cv=cuts, start=start).fit(X, y[:, 0], sample_weight=weight)
    other = GradientRidge(cv=again, start=start).fit(X[times], y[times, 0])
    assert one.criterion_ == pytest.approx(other.criterion_, rel=1e-8)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-4)


def test_coefficients_along_a_descent():
    """Oracle: the fitted coefficients at its end, and Ridge at its start."""
    X, y = made(2)
    for target, shape in ((y[:, 0], (6,)), (y, (2, 6))):
        model = GradientRidge(cv=4, random_state=1).fit(X, target)
        descent = model.descents_[0]
        way = model.coefficients_along(descent)
        assert way.shape == (descent.n_iterations + 1, *shape)
        np.testing.assert_allclose(way[-1], model.coef_, rtol=1e-10)
        ridge = Ridge(2.0 * len(X)).fit(X / descent.parameters[0], target)
        np.testing.assert_allclose(way[0], ridge.coef_ / descent.parameters[0], rtol=1e-8)


# ---------------------------------------------------------------------- hard data


@pytest.mark.parametrize("average", [None, "log_mean_exp"])
@pytest.mark.parametrize("cv", [CrossValidation(5), LeaveOneOut()], ids=["K-fold", "loo"])
@pytest.mark.parametrize("what", ["collinear", "wide", "constant", "no noise", "noise alone"])
def test_hard_data_end_in_finite_models(what, cv, average):
    """Oracle: finite numbers throughout, and a criterion not above that of the start."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 30 if what == "wide" else 6))
    y = X[:, 0] + 0.1 * rng.normal(size=15)
    if what == "collinear":
        X[:, 1:4] = X[:, :1] + 1e-9 * rng.normal(size=(15, 3))
    elif what == "constant":
        X[:, 1], X[:, 2] = 7.0, 0.0
    elif what == "no noise":
        y = X[:, 0] - 2 * X[:, 1]
    elif what == "noise alone":
        y = rng.normal(size=15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GradientRidge(cv=cv, average=average, n_samples=2, random_state=0).fit(X, y)
    assert np.all(np.isfinite(model.coef_)) and np.isfinite(model.criterion_)
    assert np.all(np.isfinite(model.penalties_))
    for descent in model.descents_:
        assert np.all(np.isfinite(descent.parameters))
        assert descent.criterion[-1] <= descent.criterion[0]


# ---------------------------------------------------------------------- options


def test_bad_options_are_named():
    """Oracle: the message names the argument, what came and what was expected."""
    X, y = made()
    for options, words in (
        ({"average": "geometric"}, "average must be None or one of log_mean_exp, mean, median"),
        ({"solver": "newton"}, "solver must be one of lbfgs, cg, got 'newton'"),
        ({"n_restarts": 0}, "n_restarts must be a whole number from 1, got 0"),
        ({"max_iter": 0}, "max_iter must be a whole number from 1, got 0"),
        ({"penalty_groups": [1, 2]}, "penalty_groups must have one label for each of the 6"),
        ({"start": [1.0]}, "start must have one penalty for each of the 6 columns"),
        ({"cv": LeaveOneOut(scoring="r2")}, "must have scoring=None or"),
    ):
        with pytest.raises(ValueError, match=words):
            GradientRidge(**options).fit(X, y[:, 0])


def test_groups_of_rows_reach_the_splitter():
    """Oracle: the same folds as a list."""
    X, y = made()
    groups = np.arange(24) // 4
    folds = list(GroupKFold(3).split(X, y, groups))
    one = GradientRidge(cv=GroupKFold(3), random_state=0).fit(X, y[:, 0], groups=groups)
    other = GradientRidge(cv=folds, random_state=0).fit(X, y[:, 0])
    assert one.criterion_ == other.criterion_


def test_seeds_copies_and_pickles():
    """Oracle: the same numbers again."""
    X, y = made()
    model = GradientRidge(average="median", n_samples=3, cv=3, random_state=5, n_jobs=2)
    model.fit(X, y[:, 0])
    for other in (clone(model).fit(X, y[:, 0]), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.penalties_, model.penalties_)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))


def test_it_beats_least_squares_where_columns_are_noise():
    """Oracle: least squares, judged by rows held out, over several draws."""
    ours = theirs = 0.0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(540, 25))
        y = X[:, :3].sum(axis=1) + rng.normal(size=540)
        model = GradientRidge(random_state=0).fit(X[:40], y[:40])
        plain = LinearRegression().fit(X[:40], y[:40])
        ours += np.mean((model.predict(X[40:]) - y[40:]) ** 2)
        theirs += np.mean((plain.predict(X[40:]) - y[40:]) ** 2)
    assert ours < 0.9 * theirs


def test_diabetes():
    """Oracle: the criterion of the thesis at the found penalties and of one shared penalty."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150] / X.std(axis=0), y[:150]
    one = GradientRidge(penalty_groups=np.zeros(10), random_state=0).fit(X, y)
    each = GradientRidge(start=one.penalties_).fit(X, y)
    sample = Sample(X, y[:, None], np.ones(150))
    value = by_the_thesis(sample, CrossValidation(10), each.penalties_)[0]
    assert each.criterion_ == pytest.approx(value, rel=1e-9)
    assert each.criterion_ < one.criterion_
