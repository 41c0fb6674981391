"""`DescentDisplay`. Oracle: the numbers of the descent itself."""

import matplotlib
import numpy as np
import pytest

from chemin import GradientRidge
from chemin.display import DescentDisplay
from chemin.selection import logistic_folds, tune

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    return X, X[:, 0] + rng.normal(size=30)


def test_a_fitted_estimator(data):
    """Oracle: descents_ and coefficients_along."""
    model = GradientRidge(random_state=0, average="mean", n_samples=2).fit(*data)
    display = DescentDisplay.from_estimator(model, sample=1, names=list("abcd"))
    descent = model.descents_[1]
    criterion, penalties, coefficients = display.lines_
    np.testing.assert_array_equal(criterion[0].get_ydata(), descent.criterion)
    way = model.coefficients_along(descent)
    for j in range(4):
        shown = np.maximum(descent.parameters[:, j], 1e-4 * descent.parameters.max())
        np.testing.assert_array_equal(penalties[j].get_ydata(), shown)
        np.testing.assert_array_equal(coefficients[j].get_ydata(), way[:, j])
    assert display.axes_[1].get_yscale() == "log"
    texts = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert texts == list("abcd") and "4 hyper-parameters" in repr(display)


def test_many_columns_and_groups(data):
    """Oracle: as many lines as penalties and coefficients, no legend."""
    X = np.random.default_rng(1).normal(size=(30, 12))
    model = GradientRidge(penalty_groups=[0] * 6 + [1] * 6, random_state=0).fit(X, data[1])
    display = DescentDisplay.from_estimator(model)
    assert [len(lines) for lines in display.lines_] == [1, 2, 12]
    assert display.axes_[1].get_legend() is None


def test_a_descent_of_tune(data):
    """Oracle: the descent; axes that are given."""
    folds = logistic_folds(data[0], data[1] > 0, 3)
    descent = tune(folds.training, folds.selection, np.full(4, -2.0), max_iter=3).descent
    axes = plt.subplots(2, 1)[1]
    display = DescentDisplay.from_descent(descent, axes=axes, ylabel="log λ")
    assert display.axes_[1] is axes[1] and axes[1].get_ylabel() == "log λ"
    np.testing.assert_array_equal(display.lines_[1][2].get_ydata(), descent.parameters[:, 2])
    with pytest.raises(ValueError, match="axes must be 2 matplotlib Axes, got 1"):
        display.plot(axes[0])
    with pytest.raises(ValueError, match="estimator must be a fitted GradientRidge"):
        DescentDisplay.from_estimator(GradientRidge())
