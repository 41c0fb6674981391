"""f = 0 is one rule: below round-off, in predictions and in curves alike."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from chemin import PathSVC, svc_path
from chemin.selection import CrossValidation, Family, LeaveOneOut, LeaveOneOutOnPath

DRAWS = 12


def whole_numbers(seed):
    """Points on a small grid: f is exactly zero at some of them, over whole stretches."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(16, 40)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    y[:3], y[3:6] = 1, -1
    return X, y


def off_jumps(curve, n=300):
    """Values of the range that no jump is near."""
    values = np.geomspace(1.01 * curve.range[0], curve.top, n)
    near = np.abs(curve.knots[:, None] / values - 1).min(axis=0)
    return values[near > 1e-9]


@pytest.mark.parametrize("seed", range(DRAWS))
def test_a_kernel_and_its_matrix_give_one_curve(seed):
    """Oracle: the linear kernel's own matrix, which is exact: whole numbers."""
    X, y = whole_numbers(seed)
    splits = list(StratifiedKFold(3).split(X, y))
    a = CrossValidation(splits)(Family(svc_path, X, y, kernel="linear"))
    b = CrossValidation(splits)(Family(svc_path, X @ X.T, y, kernel="precomputed"))
    v = off_jumps(a)
    np.testing.assert_allclose(a(v), b(v), atol=1e-12)
    assert a.minimiser == pytest.approx(b.minimiser, rel=1e-6)
    assert a.on_boundary == b.on_boundary


@pytest.mark.parametrize("seed", range(DRAWS))
def test_curves_and_predictions_agree(seed):
    """Oracle: labels of the folds' paths, of models at one value, and by a scorer."""
    X, y = whole_numbers(seed)
    splits = list(StratifiedKFold(3).split(X, y))
    family = Family(svc_path, X, y, kernel="linear")
    curve = CrossValidation(splits)(family)
    v = off_jumps(curve, 100)
    wrong = [
        family.walk(i, stop=curve.range[0]).predict(X[j], v) != y[j][:, None] for i, j in splits
    ]
    np.testing.assert_allclose(curve(v), np.mean([w.mean(axis=0) for w in wrong], axis=0))
    scored = CrossValidation(splits, scoring=lambda e, X, y: np.mean(e.predict(X) == y))(family)
    knots = scored.knots[1:-1]
    # At a breakpoint alone f may be 0: neither to its left nor to its right.
    walked = np.concatenate([family.walk(i, stop=curve.range[0]).breakpoints for i, _ in splits])
    knots = knots[np.abs(walked[:, None] / knots - 1).min(axis=0) > 1e-9]
    knots = knots[np.abs(curve.knots[:, None] / knots - 1).min(axis=0) > 1e-9]
    np.testing.assert_allclose(1 + scored(knots), curve(knots), atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wherever the minimum is
        model = PathSVC(kernel="linear", cv=splits).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.path_.predict(X, model.lambda_))
    np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)


def test_leaving_out_on_the_path_is_the_same_rule():
    """Oracle: a path without each point."""
    for seed in range(4):
        X, y = whole_numbers(seed)
        family = Family(svc_path, X, y, kernel="linear")
        curve, exact = LeaveOneOutOnPath(n_values=30)(family), LeaveOneOut()(family)
        v = curve.knots[1:-1]
        v = v[np.abs(exact.knots[:, None] / v - 1).min(axis=0) > 1e-9]
        np.testing.assert_allclose(curve(v), exact(v), atol=1e-12)


def test_the_curve_says_where_the_rule_decides():
    """Oracle: f = x for labels that are the sign of x: 0 at 0, everywhere on the path."""
    X, y = np.array([[-2.0], [-1], [1], [2], [0]]), np.array([0, 0, 1, 1, 1])
    curve = CrossValidation([(np.arange(4), [4])])(Family(svc_path, X, y, kernel="linear"))
    assert curve.exact and curve.on_boundary == 1 and curve.minimum == 1
    assert "f = 0 to round-off at 1 test point" in repr(curve)
    X[-1] = 1e-3
    curve = CrossValidation([(np.arange(4), [4])])(Family(svc_path, X, y, kernel="linear"))
    assert curve.on_boundary == 0 and curve.minimum == 0


def test_what_is_small_by_its_terms_is_not_zero():
    """Oracle: without an intercept f is a sum of positive terms, however small they are."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    path = svc_path(X, y, intercept=False)
    far = np.array([[9.0]])
    f = path.decision_function(far, path.stop)
    assert 0 < abs(f[0]) < 1e-8
