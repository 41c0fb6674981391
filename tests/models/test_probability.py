"""Probabilities: fitted on rows left out, and as good as those of scikit-learn's calibration."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from chemin import PathSearchCV, PathSVC
from chemin.models._probability import FoldModel, Sigmoid
from chemin.selection import CrossValidation, LeaveOneOut

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :6]
    return X[:150], y[:150], X[150:400], y[150:400]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_the_mean_over_the_folds(cancer, method):
    """Oracle: SVC in each fold, and the one function that CalibratedClassifierCV fits to the f of
    rows that were left out.
    """
    X, y, X_test, _ = cancer
    model = PathSVC(gamma=0.1, probability=method).fit(X, y)
    svc = SVC(C=model.C_, gamma=0.1, tol=1e-9)
    theirs = CalibratedClassifierCV(svc, method=method, cv=5, ensemble=False).fit(X, y)
    (function,) = theirs.calibrated_classifiers_[0].calibrators
    splits = StratifiedKFold(5).split(X, y)
    f = [clone(svc).fit(X[k], y[k]).decision_function(X_test) for k, _ in splits]
    expected = np.mean([function.predict(column) for column in f], axis=0)
    p = model.predict_proba(X_test)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(p[:, 1], expected, atol=2e-3)


@pytest.mark.parametrize("name", ["breast cancer", "german_numer_scale"])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_as_good_as_scikit_learns(load_data, method, name):
    """Oracle: Brier score, reliability (ten groups of equal size) and log loss of
    CalibratedClassifierCV with SVC at the same C, the mean over three splits: within a fiftieth, a
    hundredth and, with sigmoids, a fiftieth of them.
    """
    X, y = load_breast_cancer(return_X_y=True)
    if name != "breast cancer":
        data = load_data(name)
        X, y = data.data, (data.target == data.target.max()).astype(int)
    X, found = StandardScaler().fit_transform(X), []
    for seed in range(3):
        parts = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=y)
        train, test, y_train, y_test = parts
        model = PathSVC(probability=method).fit(train, y_train)
        theirs = CalibratedClassifierCV(SVC(C=model.C_), method=method, cv=5).fit(train, y_train)
        found.append([_quality(m.predict_proba(test)[:, 1], y_test) for m in (model, theirs)])
    (brier, off, log), expected = np.mean(found, axis=0)
    assert brier <= 1.02 * expected[0]
    assert off <= expected[1] + 0.01
    assert method == "isotonic" or log <= 1.02 * expected[2]


def _quality(p, y):
    """Brier score, how far the groups' sums of probabilities are from their counts, log loss."""
    groups = np.array_split(np.argsort(p), 10)
    off = sum(abs(p[k].sum() - y[k].sum()) for k in groups) / len(y)
    return brier_score_loss(y, p), off, log_loss(y, p)


def test_f_of_rows_left_out(cancer):
    """Oracle: cross_val_predict of SVC."""
    X, y, *_ = cancer
    model = PathSVC(gamma=0.1, cv=3).fit(X, y)
    family = model._family(X, y, None)
    trials = CrossValidation(3).trials(family)
    f = np.empty(len(y))
    for trial in trials:
        f[trial.test] = FoldModel.of(family, trial, model.lambda_).f(X[trial.test])[:, 0]
    svc = SVC(C=model.C_, gamma=0.1, tol=1e-9)
    expected = cross_val_predict(svc, X, y, cv=3, method="decision_function")
    np.testing.assert_allclose(f, expected, atol=1e-4)


def test_the_most_likely_sigmoid():
    """Oracle: the likelihood with Platt's targets, minimised by another method."""
    rng = np.random.default_rng(0)
    f, w = rng.normal(size=60), 1.0 + np.arange(60) % 2
    positive = f + rng.normal(size=60) > 0.3
    found = Sigmoid.fitted(f, positive, w)
    n, m = w[positive].sum(), w[~positive].sum()
    t = np.where(positive, (n + 1) / (n + 2), 1 / (m + 2))

    def loss(ab):
        g = ab[0] * f + ab[1]
        return w @ (np.logaddexp(0.0, -g) * t + np.logaddexp(0.0, g) * (1 - t))

    best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    np.testing.assert_allclose([found.a, found.b], best.x, atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}, {"joint": False}])
def test_several_classes(options):
    """Oracle: the labels: the largest probability belongs to nearly all of them."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    model = PathSVC(cv=3, probability="sigmoid", **options).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (len(y), 3) and len(model.calibrators_) == 3
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(p.argmax(axis=1) == model.predict(X)) > 0.9
    assert log_loss(y, p) < 0.3


def test_only_where_it_was_asked_for(cancer):
    """Oracle: hasattr, and the messages."""
    X, y, *_ = cancer
    assert not hasattr(PathSVC(), "predict_proba")
    with pytest.raises(ValueError, match="probability must be 'sigmoid', 'isotonic' or None"):
        PathSVC(probability="platt").fit(X, y)
    with pytest.raises(ValueError, match="probability needs folds"):
        PathSVC(cv=LeaveOneOut(), probability="sigmoid", stop=20.0).fit(X[::5], y[::5])


def test_after_a_search(cancer):
    """Oracle: the same model without a search. A copy by pickle gives the same probabilities."""
    X, y, X_test, _ = cancer
    inner = PathSVC(probability="sigmoid")
    search = PathSearchCV(inner, {"gamma": [0.1, 10.0]}, cv=3).fit(X, y)
    plain = PathSVC(gamma=search.best_params_["gamma"], probability="sigmoid", cv=3).fit(X, y)
    p = search.predict_proba(X_test)
    np.testing.assert_allclose(p, plain.predict_proba(X_test), atol=1e-8)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict_proba(X_test), p)
    width = PathSVC(gamma="path", probability="sigmoid", cv=3).fit(X[:60], y[:60])
    assert width.predict_proba(X_test).shape == (len(X_test), 2)


def test_of_a_kernel_matrix(cancer):
    """Oracle: the same kernel by name."""
    X, y, X_test, _ = cancer
    named = PathSVC(gamma=0.1, probability="sigmoid", cv=3).fit(X, y)
    given = PathSVC(kernel="precomputed", probability="sigmoid", cv=3).fit(
        rbf_kernel(X, gamma=0.1), y
    )
    p = given.predict_proba(rbf_kernel(X_test, X, gamma=0.1))
    np.testing.assert_allclose(p, named.predict_proba(X_test), atol=1e-8)


@pytest.mark.parametrize("options", [{"probability": "sigmoid"}, {"joint": False}])
def test_folds_that_are_given_once(options):
    """Oracle: the same folds as a list."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    folds = list(StratifiedKFold(3).split(X, y))
    listed, once = (PathSVC(cv=cv, **options).fit(X, y) for cv in (folds, iter(folds)))
    method = "predict_proba" if "probability" in options else "decision_function"
    np.testing.assert_array_equal(getattr(listed, method)(X), getattr(once, method)(X))
