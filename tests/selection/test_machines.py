"""Support vector machines with one width a feature: derivatives along their paths."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.svm import SVC, SVR

from chemin import quantile_path, svc_path, svr_path
from chemin.selection import MachineCriterion, machine_folds, tune, tune_widths

LAMBDAS = (0.02, 0.5, 8.0)


HALVES = [(np.arange(0, 30, 2), np.arange(1, 30, 2)), (np.arange(1, 30, 2), np.arange(0, 30, 2))]


def made(n=30, d=2, seed=0):
    """One useful feature, the others noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n)


def central(function, p, step):
    return np.array(
        [
            (function(p + step * e)[0] - function(p - step * e)[0]) / (2 * step)
            for e in np.eye(len(p))
        ]
    )


CASES = {
    "svr, squared": (partial(svr_path, epsilon=0.1), "squared", False),
    "svr without intercept": (partial(svr_path, epsilon=0.1, intercept=False), "squared", False),
    "quantile, squared": (partial(quantile_path, tau=0.3), "squared", False),
    "svc, hinge": (svc_path, "hinge", True),
    "svc, logistic": (svc_path, "logistic", True),
    "svc, squared": (svc_path, "squared", True),
}


@pytest.mark.parametrize("lambda_", LAMBDAS)
@pytest.mark.parametrize("name", CASES)
def test_the_gradient_is_that_of_central_differences(name, lambda_):
    """Oracle: central differences of exact solutions away from events, to 1e-5."""
    model, loss, labels = CASES[name]
    X, y = made()
    folds = machine_folds(model, X, y > 0 if labels else y, HALVES, loss=loss)
    p = np.log([lambda_, 1.1, 1.4])
    value, gradient = folds(p)
    assert np.isfinite(value)
    difference = central(folds, p, 1e-6)
    assert np.abs(difference - gradient).max() <= 1e-5 * max(np.abs(gradient).max(), 1e-3)


def test_values_are_those_of_libsvm():
    """Oracle: SVR and SVC on features divided by their widths, in each fold."""
    X, y = made()
    p = np.log([0.3, 1.1, 1.4])
    scaled = X / np.exp(p[1:])
    error = hinge = 0.0
    for train, test in HALVES:
        model = SVR(C=1 / 0.3, epsilon=0.1, gamma=0.5, tol=1e-10).fit(scaled[train], y[train])
        error += np.mean((model.predict(scaled[test]) - y[test]) ** 2) / 2
        svc = SVC(C=1 / 0.3, gamma=0.5, tol=1e-10).fit(scaled[train], y[train] > 0)
        signs = np.where(y[test] > 0, 1.0, -1.0)
        hinge += np.mean(np.maximum(0, 1 - signs * svc.decision_function(scaled[test]))) / 2
    assert machine_folds("svr", X, y, HALVES, epsilon=0.1)(p)[0] == pytest.approx(error, rel=1e-6)
    assert machine_folds("svc", X, y > 0, HALVES, loss="hinge")(p)[0] == pytest.approx(hinge, 1e-6)


def test_where_no_multiplier_is_free():
    """Oracle: central differences; balanced classes above the start have no free multiplier."""
    X, _ = made(20)
    y = np.arange(20) % 2
    folds = [(np.arange(20), np.arange(20))]
    function = machine_folds("svc", X, y, folds, loss="logistic")
    p = np.log([300.0, 1.0, 1.0])
    state = function.training[0].solve(p)
    assert len(state.free) == 0 and len(state.fixing) == 2
    gradient = function(p)[1]
    assert np.abs(central(function, p, 1e-5) - gradient).max() <= 1e-5 * np.abs(gradient).max()


def test_at_an_event_the_derivative_is_one_sided():
    """Oracle: differences to one side and the other; the answer is one of them, and finite."""
    X, y = made(24)
    folds = [(np.arange(24), np.arange(24))]
    function = machine_folds(partial(svr_path, epsilon=0.1), X, y, folds)
    logs, step = np.zeros(2), 1e-6
    path = function.training[0].path(logs, stop=1e-3)
    for event in path.breakpoints[3:24:5]:
        p = np.append(np.log(event), logs)
        value, gradient = function(p)
        assert np.all(np.isfinite(gradient))
        for j, e in enumerate(np.eye(3)):
            sides = [(function(p + s * step * e)[0] - value) / (s * step) for s in (1, -1)]
            assert min(abs(gradient[j] - side) for side in sides) <= 1e-3 * np.abs(gradient).max()


def test_copies_give_finite_derivatives():
    """Oracle: central differences; K_FF of copies on one kink is singular."""
    X, y = made(16)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    folds = [(np.arange(32), np.arange(32))]
    function = machine_folds(partial(svr_path, epsilon=0.1), X, y, folds)
    p = np.log([0.2, 1.0, 1.2])
    gradient = function(p)[1]
    assert np.abs(central(function, p, 1e-6) - gradient).max() <= 1e-5 * np.abs(gradient).max()


def test_one_free_multiplier_moves_by_one_solve():
    """Oracle: the solution itself at a slightly different kernel and lambda."""
    X, y = made(20)
    machine = MachineCriterion(partial(svr_path, epsilon=0.1), X, y)
    p, step = np.log([0.4, 1.0, 1.0]), 1e-6
    state = machine.solve(p)
    for j, e in enumerate(np.eye(3)):
        after, before = machine.solve(p + step * e), machine.solve(p - step * e)
        moved = (after.beta - before.beta) / (2 * step)
        for i in state.free[:3]:
            pulled = machine.pull_back(p, state, (np.eye(20)[i], 0.0))
            assert abs(pulled[j] - moved[i]) <= 1e-5 * max(1.0, np.abs(moved).max())
        assert np.abs(np.delete(moved, state.free)).max() <= 1e-8 * np.abs(moved).max()


# ---------------------------------------------------------------------- one width a feature


def test_widths_of_noise_grow():
    """Oracle: which feature the data were made from; the error of one width for all."""
    X, y = made(40)
    found = tune_widths(svr_path, X, y, 2, epsilon=0.1, max_iter=10)
    assert np.argmin(found.widths) == 0 and found.widths[1] > 3 * found.widths[0]
    assert found.criterion < found.criterion_before
    f = found.path.predict(X / found.widths, found.lambda_)
    assert np.mean((f - y) ** 2) < 0.5 * y.var()


def test_widths_of_a_classifier():
    """Oracle: which feature the labels were made from."""
    X, y = made(40)
    found = tune_widths(svc_path, X, y > 0, 2, max_iter=8, gammas=[0.2, 1.0])
    assert np.argmin(found.widths) == 0
    assert found.criterion < found.criterion_before


def test_friedman():
    """Oracle: friedman1, whose last five features of ten are noise: they come last. One width for
    all, at its best of five and at its best lambda, has far more error.
    """
    X, y = make_friedman1(200, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = tune_widths(svr_path, X, y, 5, epsilon=0.1, gammas=np.geomspace(0.005, 0.5, 5))
    assert found.widths[:5].max() < found.widths[5:].min()
    assert found.criterion < 0.1 * found.criterion_before


@pytest.mark.parametrize("seed", [0, 1])
def test_relevances_of_noise_come_last_where_y_is_noisy(seed):
    """Oracle: friedman1 with noise of standard deviation 1, in which the fifth feature is linear:
    its width is large, as those of noise are, and its relevance is not.
    """
    X, y = make_friedman1(200, noise=1.0, random_state=seed)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = tune_widths(svr_path, X, y, 5, epsilon=0.1, gammas=[0.015, 0.05], max_iter=25)
    assert found.relevances[:5].min() > 1.2 * found.relevances[5:].max()
    assert found.criterion < 0.5 * found.criterion_before


@pytest.mark.parametrize("model, loss", [(svr_path, "squared"), (svc_path, "logistic")])
def test_relevances_are_slopes(model, loss):
    """Oracle: central differences of f at all rows, for one standard deviation."""
    X, y = made(30, d=3)
    X *= [1.0, 10.0, 0.1]
    y = y > 0 if model is svc_path else y
    found = tune_widths(model, X, y, 2, loss=loss, max_iter=3, gammas=[0.05])
    step, f = 1e-5, lambda X: found.path.decision_function(X / found.widths, found.lambda_)
    for j, unit in enumerate(X.std(axis=0)):
        e = step * unit * np.eye(3)[j]
        slope = (f(X + e) - f(X - e)) / (2 * step)
        assert found.relevances[j] == pytest.approx(np.sqrt(np.mean(slope**2)), rel=1e-5)


def test_bad_input_is_named():
    """Oracle: the message names the argument, what came and what was expected."""
    X, y = made()
    with pytest.raises(ValueError, match="loss must be one of squared, hinge, logistic, got 'l1'"):
        machine_folds("svr", X, y, loss="l1")
    folds = machine_folds("svr", X, y, 3)
    with pytest.raises(ValueError, match="lambda0 must be"):
        tune(folds.training, folds.selection, [[np.inf]])
