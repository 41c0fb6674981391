"""The error of ridge regression in its penalties: value and gradient, for every criterion."""

from copy import deepcopy

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, ShuffleSplit

from chemin.selection import (
    Bootstrap632,
    BootstrapLeaveOneOut,
    CrossValidation,
    LeaveOneOut,
    Split,
)
from chemin.selection import penalties as module
from chemin.selection.penalties import LEAST, MOST, RidgeError, Sample, ridge_coefficients
from thesis import by_the_thesis, trained

CRITERIA = {
    "split": Split(random_state=0),
    "K-fold": CrossValidation(4),
    "K-fold, unequal": CrossValidation(5),
    "shuffled": CrossValidation(ShuffleSplit(3, test_size=4, train_size=9, random_state=0)),
    "leave-one-out": LeaveOneOut(),
    "bootstrap": BootstrapLeaveOneOut(3, random_state=0),
    "0.632": Bootstrap632(3, random_state=0),
}
OUTPUTS = (1, 2)


def made(outputs=1, *, weighted=False, seed=0, n=16, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.3
    y = X @ rng.normal(size=(d, outputs)) + rng.normal(size=(n, outputs))
    weight = rng.uniform(0.5, 2.0, size=n) if weighted else np.ones(n)
    return Sample(X, y, weight), rng.uniform(0.05, 1.0, size=d)


# ---------------------------------------------------------------------- value and gradient


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weighted rows"])
@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("name", CRITERIA)
def test_the_gradient_is_that_of_the_thesis(name, outputs, weighted):
    """Oracle: the three-stage back-propagation through Cholesky, to 1e-10."""
    sample, penalties = made(outputs, weighted=weighted)
    value, gradient = RidgeError(sample, deepcopy(CRITERIA[name]))(penalties)
    expected, slope = by_the_thesis(sample, CRITERIA[name], penalties)
    assert abs(value - expected) <= 1e-10 * expected
    assert np.abs(gradient - slope).max() <= 1e-10 * np.abs(slope).max()


@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("name", CRITERIA)
def test_the_gradient_is_that_of_central_differences(name, outputs):
    """Oracle: central differences, to 1e-6."""
    sample, penalties = made(outputs, seed=1)
    error = RidgeError(sample, deepcopy(CRITERIA[name]))
    gradient, step = error(penalties)[1], 1e-5
    for m, unit in enumerate(np.eye(len(penalties))):
        difference = error(penalties + step * unit)[0] - error(penalties - step * unit)[0]
        assert abs(difference / (2 * step) - gradient[m]) <= 1e-6 * np.abs(gradient).max()


@pytest.mark.parametrize("name", CRITERIA)
def test_the_value_is_that_of_separate_fits(name):
    """Oracle: scikit-learn's Ridge(alpha=2 n) on columns divided by their penalties, each trial."""
    sample, penalties = made(2, weighted=True)
    value = 0.0
    for train, v, test, omega in trained(sample, CRITERIA[name]):
        ridge = Ridge(2.0, tol=1e-12).fit(sample.X[train] / penalties, sample.y[train], v)
        error = ridge.predict(sample.X[test] / penalties) - sample.y[test]
        value += 0.5 * np.sum(omega[:, None] * error**2)
    assert RidgeError(sample, deepcopy(CRITERIA[name]))(penalties)[0] == pytest.approx(value, 1e-9)


def test_rows_left_out_in_closed_form():
    """Oracle: a factor of its own for each fold."""
    sample, penalties = made(2, weighted=True, n=30, d=12)
    for criterion in (LeaveOneOut(), CrossValidation(KFold(5)), CrossValidation(2)):
        for intercept in (True, False):
            closed, each = (
                RidgeError(sample, criterion, intercept=intercept, closed_form=how)(penalties)
                for how in (True, False)
            )
            assert closed[0] == pytest.approx(each[0], rel=1e-12)
            np.testing.assert_allclose(closed[1], each[1], rtol=1e-9, atol=1e-13)


def test_matrices_that_are_not_kept(monkeypatch):
    """Oracle: the same with all of them kept."""
    sample, penalties = made()
    kept = RidgeError(sample, BootstrapLeaveOneOut(3, random_state=0))(penalties)
    monkeypatch.setattr(module, "MOST_BYTES", 5 * 8 * 36)
    part = RidgeError(sample, BootstrapLeaveOneOut(3, random_state=0))
    assert len(part.parts[0].cuts) == 10
    found = part(penalties)
    assert found[0] == pytest.approx(kept[0], rel=1e-14)
    np.testing.assert_allclose(found[1], kept[1], rtol=1e-12)


def test_a_weight_of_zero_is_a_removed_row():
    """Oracle: the same without the row."""
    sample, penalties = made(weighted=True)
    sample.weight[3] = 0.0
    keep = np.arange(len(sample)) != 3
    less = Sample(sample.X[keep], sample.y[keep], sample.weight[keep])
    for criterion in (LeaveOneOut(), CrossValidation(3)):
        one, other = (RidgeError(s, criterion)(penalties) for s in (sample, less))
        assert one[0] == pytest.approx(other[0], rel=1e-12)
        np.testing.assert_allclose(one[1], other[1], rtol=1e-10)


# ---------------------------------------------------------------------- hard cases


@pytest.mark.parametrize("name", ["K-fold", "leave-one-out", "bootstrap", "0.632", "split"])
@pytest.mark.parametrize("what", ["collinear", "wide", "constant", "copies"])
def test_penalties_at_their_ends_give_finite_answers(name, what):
    """Oracle: finite values; beyond the ends the value at the end and no slope."""
    sample, penalties = made(n=12, d=20) if what == "wide" else made(n=14)
    X = sample.X
    if what == "collinear":
        X[:, 1] = X[:, 0] * (1 + 1e-9) + 1e-9 * X[:, 2]
    elif what == "constant":
        X[:, 1] = 1.0
    elif what == "copies":
        X[:, 1] = X[:, 0]
    error = RidgeError(sample, deepcopy(CRITERIA[name]))
    for size in (0.0, 1e-300, LEAST, 1e-3, 1e3, MOST, 1e150):
        value, gradient = error(np.full(len(penalties), size))
        assert np.isfinite(value) and value > 0 and np.all(np.isfinite(gradient))
    assert not np.any(error(np.zeros(len(penalties)))[1])
    at_end, beyond = (error(np.full(len(penalties), size)) for size in (MOST, 1e150))
    assert at_end[0] == beyond[0] and not np.any(beyond[1])


def test_an_endless_penalty_removes_its_column():
    """Oracle: the error without the column."""
    sample, penalties = made()
    without = Sample(sample.X[:, 1:], sample.y, sample.weight)
    for name in CRITERIA:
        penalties[0] = MOST
        value, gradient = RidgeError(sample, deepcopy(CRITERIA[name]))(penalties)
        fewer, slopes = RidgeError(without, deepcopy(CRITERIA[name]))(penalties[1:])
        assert value == pytest.approx(fewer, rel=1e-10) and abs(gradient[0]) < 1e-12
        np.testing.assert_allclose(gradient[1:], slopes, rtol=1e-8, atol=1e-12)


def test_coefficients_on_all_rows():
    """Oracle: scikit-learn's Ridge on columns divided by their penalties."""
    sample, penalties = made(2, weighted=True)
    for intercept in (True, False):
        b, b0 = ridge_coefficients(sample.X, sample.y, sample.weight, penalties, intercept)
        ridge = Ridge(2.0 * sample.weight.sum(), fit_intercept=intercept)
        ridge.fit(sample.X / penalties, sample.y, sample.weight)
        np.testing.assert_allclose(b.T, ridge.coef_ / penalties, rtol=1e-9)
        np.testing.assert_allclose(b0, ridge.intercept_, rtol=1e-9)
