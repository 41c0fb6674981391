"""Curves where round-off could speak: large offsets, losses that vanish, f that is 0, values above
the starts of paths. Oracle: the model's own predictions, or an invariant.
"""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

import chemin
from chemin.selection import CrossValidation, Family


@pytest.mark.parametrize("model", [chemin.PathRidge, chemin.AdaptiveRidge])
def test_an_offset_of_y_changes_no_linear_model(model):
    """Oracle: an invariant. The round-off of a large intercept is no bend of the loss."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X[:, 0] + rng.normal(size=20)
    plain, moved = (model(cv=3).fit(X, y + c).curve_ for c in (0.0, 1e6))
    np.testing.assert_allclose(moved.minimum, plain.minimum, rtol=1e-9)
    assert len(moved.knots) < 10 * len(plain.knots)


@pytest.mark.parametrize(
    "function", [chemin.kernel_ridge_path, chemin.quadratic_svr_path, chemin.expectile_path]
)
def test_an_offset_of_y_changes_no_kernel_machine(function):
    """Oracle: the same invariant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X[:, 0] + rng.normal(size=20)
    criterion = CrossValidation(3, scoring="neg_mean_squared_error")
    plain, moved = (criterion(Family(function, X, y + c, gamma=0.5)) for c in (0.0, 1e4))
    np.testing.assert_allclose(moved.minimum, plain.minimum, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:the minimum of the .* sits at the lower end")
def test_a_loss_that_vanishes():
    """Oracle: f itself. Each test row has a copy in training, so that its loss goes to 0."""
    X = np.repeat(np.random.default_rng(0).normal(size=(15, 2)), 2, axis=0)
    y = (X[:, 0] > 0).astype(int)
    folds = [(np.arange(0, 30, 2), np.arange(1, 30, 2))]
    curve = chemin.PathQuadraticSVC(cv=folds, scoring="loss", gamma=0.5).fit(X, y).curve_
    path = chemin.quadratic_svc_path(X[::2], y[::2], gamma=0.5, start=curve.range[1], stop=1e-4)
    values = np.geomspace(1e-4, 0.9 * curve.range[1], 20)
    margin = np.where(y[1::2] == 1, 1.0, -1.0)[:, None] * path.decision_function(X[1::2], values)
    loss = 0.5 * np.maximum(1.0 - margin, 0.0) ** 2
    np.testing.assert_allclose(curve(values), loss.mean(axis=0), rtol=1e-9)


@pytest.mark.parametrize("gamma", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("flip", [0, 1])
def test_f_that_is_zero_at_every_lambda(gamma, flip):
    """Oracle: predictions. The middle of a mirror image has f = 0, and the label of classes_[0]."""
    X = np.arange(-4.0, 5.0)[:, None]
    y = (X[:, 0] > 0).astype(int) ^ flip
    train, test = [0, 1, 2, 3, 5, 6, 7, 8], [4]
    options = {"gamma": gamma, "intercept": True, "stop": 0.01}
    curve = chemin.PathQuadraticSVC(cv=[(train, test)], **options).fit(X, y).curve_
    path = chemin.quadratic_svc_path(X[train], y[train], start=curve.range[1], **options)
    values = np.geomspace(0.011, curve.range[1], 30)
    error = path.predict(X[test], values) != y[test, None]
    np.testing.assert_array_equal(curve(values), error.mean(axis=0))
    assert curve.on_boundary == 1


def test_quadratic_losses_of_classes_against_the_rest():
    """Oracle: models of each fold. The curve is an error, as that of pairs is."""
    X, y = load_iris(return_X_y=True)
    model = chemin.PathQuadraticSVC(multi_class="ovr", cv=3, gamma=0.5, stop=0.1).fit(X, y)
    value, errors = model.curve_.minimiser, []
    for train, test in StratifiedKFold(3).split(X, y):
        options = {"gamma": 0.5, "start": 4 * value, "stop": value / 2}
        f = [
            chemin.quadratic_svc_path(X[train], y[train] == k, **options).decision_function(
                X[test], value
            )
            for k in range(3)
        ]
        errors.append((np.argmax(f, axis=0).ravel() != y[test]).mean())
    assert not model.curve_.exact and model.curve_.loss == "0/1 error"
    np.testing.assert_allclose(model.curve_.minimum, np.mean(errors), atol=1e-12)
    np.testing.assert_allclose(model.curve_.score(value), 1.0 - np.mean(errors), atol=1e-12)


@pytest.mark.filterwarnings("ignore:the minimum of the 0/1 error sits at the")
@pytest.mark.parametrize("seed", range(4))
def test_pairs_with_starts_of_their_own(seed):
    """Oracle: predictions of the same models, begun higher up."""
    rng = np.random.default_rng(seed)
    y = np.arange(45) % 4
    X = rng.normal(size=(45, 2)) + 0.5 * np.c_[np.cos(2 * y), np.sin(2 * y)]
    train, test = next(StratifiedKFold(3).split(X, y))
    options = {"kernel": "linear", "stop": 0.1}
    curve = chemin.PathQuadraticSVC(cv=[(train, test)], **options).fit(X, y).curve_
    higher = chemin.PathQuadraticSVC(cv=2, start=1e4, **options).fit(X[train], y[train]).path_
    values = np.geomspace(0.11, 0.999 * curve.range[1], 40)
    error = higher.predict(X[test], values) != y[test, None]
    np.testing.assert_allclose(curve(values), error.mean(axis=0), atol=1e-12)


@pytest.mark.filterwarnings("ignore:the graph has 2 components")
@pytest.mark.parametrize("seed", range(3))
def test_a_sparse_model_above_its_start(seed):
    """Oracle: predictions of each fold. Above its start f = 0, which is the label classes_[0]."""
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 2))
    X[:, 0] += 3 * y
    options = {"gamma": 0.5, "n_neighbors": 3, "lambda2": 0.01, "mu": 1.0}
    model = chemin.SparseLaplacianSVC(cv=3, choose="sparsest", stop=0.01, **options)
    curve = model.fit(X, y).curve_
    values, errors = np.geomspace(0.02, 0.999 * curve.range[1], 30), []
    for train, test in StratifiedKFold(3).split(X, y):
        labels = np.full(24, -1)
        labels[train] = y[train]
        path = chemin.laplacian_svc_path(X, labels, stop=0.01, **options)
        errors.append((path.predict(X[test], values) != y[test, None]).mean(axis=0))
    np.testing.assert_allclose(curve(values), np.mean(errors, axis=0), atol=1e-12)
