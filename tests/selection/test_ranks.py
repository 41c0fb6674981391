"""The area under the ROC curve on the continuum."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from chemin import PathQuadraticSVC, PathSVC, svc_path
from chemin.selection import CrossValidation, Family, LeaveOneOut, LeaveOneOutOnPath

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")


def data(kind):
    X, y = make_classification(90, 4, flip_y=0.2, random_state=1)
    return (np.round(X) if kind == "whole" else X), y


@pytest.mark.parametrize("kind", ["plain", "whole"])
@pytest.mark.parametrize("weights", [False, True])
def test_the_area_is_brute_force(kind, weights):
    """Oracle: roc_auc_score of the paths of the folds, at many values; whole numbers have ties."""
    X, y = data(kind)
    w = 1.0 + np.arange(len(y)) % 3 if weights else np.ones(len(y))
    family = Family(svc_path, X, y, sample_weight=w, gamma=0.4)
    curve = CrossValidation(3, scoring="roc_auc")(family)
    assert curve.exact and curve.scoring == "roc_auc"
    count = 500 if kind == "plain" and not weights else 80
    values = np.geomspace(curve.range[0] * 1.0001, 2 * family.path.start, count)
    expected = []
    for train, test in StratifiedKFold(3).split(X, y):
        path = svc_path(X[train], y[train], sample_weight=w[train], gamma=0.4, stop=values.min())
        f = np.round(path.decision_function(X[test], values), 9)  # ties but for round-off
        expected.append([roc_auc_score(y[test], c, sample_weight=w[test]) for c in f.T])
    np.testing.assert_allclose(curve.score(values), np.mean(expected, axis=0), atol=1e-10)
    assert curve.minimum <= 1 - np.mean(expected, axis=0).max() + 1e-12


def test_the_model_with_the_largest_area():
    """Oracle: the curve at other values."""
    X, y = data("plain")
    model = PathSVC(gamma=0.4, cv=3, scoring="roc_auc").fit(X, y)
    values = np.geomspace(model.curve_.range[0] * 1.01, model.path_.start, 50)
    assert model.curve_.score(model.lambda_) >= model.curve_.score(values).max() - 1e-12


def test_where_it_is_not_exact():
    """Oracle: the attribute, and the messages."""
    X, y = data("plain")
    curved = PathQuadraticSVC(gamma=0.4, cv=3, scoring="roc_auc", stop=5.0).fit(X, y)
    assert not curved.curve_.exact
    order = np.argsort(y, kind="stable")
    one = PathSVC(cv=[(order[:80], order[80:])], scoring="roc_auc")
    with pytest.raises(ValueError, match="both classes among the test points"):
        one.fit(X, y)
    with pytest.raises(ValueError, match="scoring must be one of"):
        PathSVC(cv=LeaveOneOutOnPath(scoring="roc_auc")).fit(X, y)
    with pytest.raises(ValueError, match="roc_auc"):
        PathSVC(cv=LeaveOneOut(scoring="roc_auc"), stop=5.0).fit(X[::5], y[::5])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_moves_that_are_all_cut(seed):
    """Oracle: roc_auc_score. A fold's walk that is carried on may have open intercepts alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(27, 1))
    y = (X[:, 0] + 0.5 * rng.normal(size=27) > 0).astype(int)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    options = {"kernel": "poly", "gamma": 0.5}
    model = PathSVC(scoring="roc_auc", cv=folds, **options).fit(X, y)
    areas = []
    for train, test in folds:
        path = svc_path(X[train], y[train], stop=0.5 * model.lambda_, **options)
        f = np.round(path.decision_function(X[test], model.lambda_), 9)
        areas.append(roc_auc_score(y[test], f))
    assert model.curve_.score(model.lambda_) == pytest.approx(np.mean(areas), abs=1e-10)
