"""Probabilities: fitted on rows left out, and as good as those of scikit-learn's calibration."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from chemin import PathSVC
from chemin.models._probability import Sigmoid, _left_out
from chemin.selection import CrossValidation, LeaveOneOut

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :6]
    return X[:150], y[:150], X[150:400], y[150:400]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_as_good_as_scikit_learns(cancer, method):
    """Oracle: Brier score and log loss of CalibratedClassifierCV around SVC at the same C."""
    X, y, X_test, y_test = cancer
    model = PathSVC(gamma=0.1, probability=method).fit(X, y)
    svc = SVC(C=model.C_, gamma=0.1)
    theirs = CalibratedClassifierCV(svc, method=method, cv=5, ensemble=False).fit(X, y)
    p, q = (m.predict_proba(X_test) for m in (model, theirs))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    ours, expected = (brier_score_loss(y_test, each[:, 1]) for each in (p, q))
    assert ours <= 1.02 * expected
    if method == "sigmoid":
        np.testing.assert_allclose(p, q, atol=2e-3)
        assert log_loss(y_test, p) <= 1.02 * log_loss(y_test, q)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_as_good_on_noisy_labels(load_data, method):
    """Oracle: Brier score and reliability (ten groups of equal size) of CalibratedClassifierCV with
    one SVC at the same C, on german_numer_scale: within a fiftieth of it, and a hundredth.
    """
    data = load_data("german_numer_scale")
    X, y = data.data, (data.target == data.target.max()).astype(int)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    model = PathSVC(probability=method).fit(X, y)
    svc = SVC(C=model.C_)
    theirs = CalibratedClassifierCV(svc, method=method, cv=5, ensemble=False).fit(X, y)
    p, q = (m.predict_proba(X_test)[:, 1] for m in (model, theirs))
    assert brier_score_loss(y_test, p) <= 1.02 * brier_score_loss(y_test, q)
    ours, expected = (
        sum(abs(each[k].sum() - y_test[k].sum()) for k in np.array_split(np.argsort(each), 10))
        for each in (p, q)
    )
    assert ours <= expected + 0.01 * len(y_test)


def test_f_of_rows_left_out(cancer):
    """Oracle: cross_val_predict of SVC."""
    X, y, *_ = cancer
    model = PathSVC(gamma=0.1, cv=3).fit(X, y)
    family = model._family(X, y, None)
    trials = CrossValidation(3).trials(family)
    f = np.empty(len(y))
    for trial in trials:
        f[trial.test] = _left_out(family, trial, model.lambda_)[:, 0]
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
