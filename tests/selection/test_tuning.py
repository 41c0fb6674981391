"""tune: hyper-parameters of any model by gradient."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold

from chemin import GradientRidge
from chemin.selection import (
    QuadraticCriterion,
    SmoothCriterion,
    UnsolvableError,
    kernel_ridge_folds,
    logistic_folds,
    tune,
)


def made(n=36, d=4, seed=0):
    """Two useful features of four."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1]) + 0.2 * rng.normal(size=n)


def central(function, p, step=1e-5):
    return np.array(
        [
            (function(p + step * e)[0] - function(p - step * e)[0]) / (2 * step)
            for e in np.eye(len(p))
        ]
    )


def close(function, p, tolerance=1e-6, step=1e-5):
    gradient = function(p)[1]
    return np.abs(central(function, p, step) - gradient).max() <= tolerance * np.abs(gradient).max()


# ---------------------------------------------------------------------- gradients


def test_kernel_ridge_has_the_gradient_of_central_differences():
    """Oracle: central differences, to 1e-6."""
    X, y = made()
    folds = kernel_ridge_folds(X, y, 3)
    rng = np.random.default_rng(1)
    for _ in range(3):
        assert close(folds, rng.normal(size=5))


def test_kernel_ridge_is_that_of_scikit_learn():
    """Oracle: KernelRidge on features divided by their widths."""
    X, y = made()
    p = np.array([-1.0, 0.3, 0.5, 1.0, 0.1])
    error = 0.0
    for train, test in KFold(3).split(X):
        scaled, level = X / np.exp(p[1:]), y[train].mean()
        model = KernelRidge(alpha=np.exp(p[0]), kernel="rbf", gamma=0.5)
        model.fit(scaled[train], y[train] - level)
        error += 0.5 * np.mean((model.predict(scaled[test]) + level - y[test]) ** 2) / 3
    assert kernel_ridge_folds(X, y, 3)(p)[0] == pytest.approx(error, rel=1e-10)


def test_logistic_regression_has_the_gradient_of_central_differences():
    """Oracle: central differences, to 1e-6."""
    X, y = made()
    folds = logistic_folds(X, y > 0, 3)
    rng = np.random.default_rng(2)
    for _ in range(3):
        assert close(folds, rng.normal(size=4) - 2, step=1e-4)


def test_logistic_regression_is_that_of_scikit_learn():
    """Oracle: LogisticRegression on features divided by the roots of their penalties."""
    X, y = made()
    p, labels = np.array([-2.0, -3.0, -1.0, 0.0]), y > 0
    error, roots = 0.0, np.exp(0.5 * p)
    for train, test in StratifiedKFold(3).split(X, labels):
        model = LogisticRegression(C=1 / len(train), tol=1e-12, max_iter=10_000)
        model.fit(X[train] / roots, labels[train])
        error += log_loss(labels[test], model.predict_proba(X[test] / roots)) / 3
    assert logistic_folds(X, labels, 3)(p)[0] == pytest.approx(error, rel=1e-7)


def test_several_outputs_share_a_quadratic_criterion():
    """Oracle: central differences."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 2))
    training = QuadraticCriterion(
        H=lambda p: X[:10].T @ X[:10] + np.diag(np.exp(p)),
        w=lambda p: -X[:10].T @ Y[:10],
        pull_back=lambda p, a, b: np.exp(p) * np.sum(a * b, axis=1),
    )

    def selection(p, b):
        e = X[10:] @ b - Y[10:]
        return 0.5 * np.sum(e**2), X[10:].T @ e

    def function(p):
        b = training.solve(p)
        value, slope = selection(p, b)
        return value, training.pull_back(p, b, slope)

    assert close(function, np.array([0.1, -0.5, 0.7]))


# ---------------------------------------------------------------------- tune


def ridge_pair(X, y, train, test):
    """The thesis' training criterion on centred data, judged on other rows."""
    x_mean, y_mean = X[train].mean(axis=0), y[train].mean()
    Z, t, Z_test, t_test = X[train] - x_mean, y[train] - y_mean, X[test] - x_mean, y[test] - y_mean

    def selection(p, b):
        e = Z_test @ b - t_test
        return 0.5 * np.mean(e**2), Z_test.T @ e / len(e)

    training = QuadraticCriterion(
        H=lambda p: Z.T @ Z / len(Z) + 2 * np.diag(p**2),
        w=lambda p: -Z.T @ t / len(Z),
        pull_back=lambda p, a, b: 4 * p * np.asarray(a) * b,
    )
    return training, selection


@pytest.mark.parametrize("solver", ["lbfgs", "cg"])
def test_tune_finds_what_gradient_ridge_finds(solver):
    """Oracle: GradientRidge from the same start on the same folds."""
    X, y = made()
    X = X / X.std(axis=0)
    folds = list(KFold(4).split(X))
    pairs = [ridge_pair(X, y, *fold) for fold in folds]
    start = np.full(4, 0.4)
    found = tune(*zip(*pairs), start, solver=solver, tol=1e-8, max_iter=2000)
    model = GradientRidge(cv=folds, start=start, solver=solver, tol=1e-8, max_iter=2000).fit(X, y)
    # Conjugate gradients end where their line search sees no gain, short of the minimum.
    assert found.criterion == pytest.approx(model.criterion_, rel=1e-5)
    assert found.descent.criterion[0] == pytest.approx(model.descents_[0].criterion[0], rel=1e-10)
    np.testing.assert_array_equal(found.lambda_, found.descent.end)
    assert len(found.solutions) == 4


def test_widths_of_noise_grow():
    """Oracle: which features the data were made from; the error of one width for all."""
    X, y = made(60)
    folds = kernel_ridge_folds(X, y, 4)
    start = np.array([-1.0, 0.5, 0.5, 0.5, 0.5])
    found = tune(folds.training, folds.selection, start, max_iter=40, tol=1e-3)
    widths = found.lambda_[1:]
    assert widths[:2].max() + 1.0 < widths[2:].min()
    assert found.criterion < 0.5 * found.descent.criterion[0]


def test_penalties_of_noise_grow():
    """Oracle: which features the labels were made from."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=80)
    folds = logistic_folds(X, y > 0, 4)
    found = tune(folds.training, folds.selection, np.full(4, -3.0), max_iter=40, tol=1e-3)
    assert found.lambda_[:2].max() + 4 < found.lambda_[2:].min()
    assert found.criterion < found.descent.criterion[0]


def test_weight_decay_of_a_small_network():
    """One penalty for each layer of a network with fixed first weights is a smooth criterion.

    Oracle: central differences, and a criterion that falls.
    """
    X, y = made(50)
    rng = np.random.default_rng(0)
    hidden = np.tanh(X @ rng.normal(size=(4, 12)))
    Z, half = np.column_stack([hidden, X]), slice(0, 25)
    layer = np.repeat([0, 1], [12, 4])
    A, t = Z[half], y[half]
    training = SmoothCriterion(
        value=lambda p, b: 0.5 * np.mean((A @ b - t) ** 2) + 0.5 * np.exp(p)[layer] @ b**2,
        gradient=lambda p, b: A.T @ (A @ b - t) / 25 + np.exp(p)[layer] * b,
        hessian_product=lambda p, b, v: A.T @ (A @ v) / 25 + np.exp(p)[layer] * v,
        pull_back=lambda p, a, b: np.bincount(layer, np.exp(p)[layer] * a * b),
        size=16,
    )

    def selection(p, b):
        e = Z[25:] @ b - y[25:]
        return 0.5 * np.mean(e**2), Z[25:].T @ e / 25

    def function(p):
        b = training.solve(p)
        value, slope = selection(p, b)
        return value, training.pull_back(p, b, slope)

    assert close(function, np.array([-2.0, -3.0]))
    found = tune(training, selection, [-1.0, -6.0])
    assert found.descent.converged and found.criterion < found.descent.criterion[0]


def test_of_several_minima_of_training_the_one_that_gains_is_followed():
    """Oracle: the criterion at the start, and the gradient at the end. Training minimises
    (b^2 - 1)^2 / 4 - lambda b, with two minima while |lambda| < 0.38: a long step loses the one
    that descents came from, and finds nothing where it leads.
    """
    training = SmoothCriterion(
        value=lambda p, b: float(0.25 * np.sum((b**2 - 1) ** 2) - p @ b),
        gradient=lambda p, b: b * (b**2 - 1) - p,
        hessian_product=lambda p, b, v: (3 * b**2 - 1) * v,
        pull_back=lambda p, a, b: -a,
        size=1,
    )
    asked = []

    def selection(p, b):
        asked.append(float(p[0]))
        return 5.0 * float((b[0] + 0.8) ** 2), 10.0 * (b + 0.8)

    found = tune(training, selection, [-0.6])
    assert max(asked) > 0.385  # beyond the fold only the other minimum is left
    assert found.descent.converged and found.criterion < 1e-8
    np.testing.assert_allclose(found.solutions[0], -0.8, atol=1e-4)


# ---------------------------------------------------------------------- hard cases, bad input


def test_hyper_parameters_running_off_end_at_their_bounds():
    """Oracle: bounds, and finite numbers; the target is noise, so every penalty grows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    folds = kernel_ridge_folds(X, y, 3)
    found = tune(folds.training, folds.selection, np.zeros(4), bounds=(-3.0, 5.0), max_iter=60)
    assert np.all(found.lambda_ >= -3.0) and np.all(found.lambda_ <= 5.0)
    assert np.isfinite(found.criterion) and np.all(np.isfinite(found.descent.gradient))


def test_singular_matrices_give_finite_answers():
    """Oracle: finite numbers where H is singular to round-off, an error where it is indefinite."""
    X = np.repeat(np.arange(6.0)[:, None], 2, axis=0)
    folds = kernel_ridge_folds(X, X[:, 0] ** 2 + np.arange(12), 3)
    value, gradient = folds([-60.0, 0.5])
    assert np.isfinite(value) and np.all(np.isfinite(gradient))
    indefinite = QuadraticCriterion(
        lambda p: np.diag([1.0, -5.0]), lambda p: np.ones(2), lambda p, a, b: [0.0]
    )
    with pytest.raises(ValueError, match=r"H\(lambda\) must be symmetric, finite and positive"):
        indefinite.solve(np.zeros(1))


@pytest.mark.parametrize("solver", ["lbfgs", "cg"])
def test_where_there_is_no_answer_a_descent_turns_back(solver):
    """Oracle: the minimum of a square, beside a region without answers that steps lead into."""

    class Square:
        asked = 0

        def solve(self, lambda_, start):
            if lambda_[0] > 1.5:
                Square.asked += 1
                raise UnsolvableError("too far")
            return lambda_

        def pull_back(self, lambda_, b, slope):
            return slope

    def selection(p, b):
        return 50 * (p[0] - 1) ** 2 + p[1] ** 2, np.array([100 * (p[0] - 1), 2 * p[1]])

    found = tune(Square(), selection, [-4.0, 30.0], solver=solver)
    assert Square.asked > 0 and found.criterion < found.descent.criterion[0]
    assert found.lambda_[0] <= 1.5
    if solver == "cg":  # its line search gives up there, and says so
        assert not found.descent.converged and "no answer" in found.descent.message
    else:
        assert found.descent.converged
        np.testing.assert_allclose(found.lambda_, [1.0, 0.0], atol=1e-2)
    with pytest.raises(UnsolvableError):
        tune(Square(), selection, [2.0, 0.0])


def test_bad_input_is_named():
    """Oracle: the message names the argument, what came and what was expected."""
    X, y = made()
    folds = kernel_ridge_folds(X, y, 3)
    for arguments, options, words in (
        ((folds.training, folds.selection[:2], np.zeros(5)), {}, "one entry for each of the 3"),
        ((folds.training, folds.selection, [np.nan]), {}, "lambda0 must be one row of finite"),
        ((folds.training, folds.selection, np.zeros(5)), {"solver": "x"}, "solver must be one of"),
        ((folds.training, folds.selection, np.zeros(5)), {"tol": -1}, "tol must be"),
    ):
        with pytest.raises(ValueError, match=words):
            tune(*arguments, **options)
