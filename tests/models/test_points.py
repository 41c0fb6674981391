"""Points that are no numbers are refused by every estimator, in fit and in predict, by name."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, is_regressor

import chemin
from chemin.kernels import RBF

NEED = {"MKLClassifier": {"kernels": [RBF(1.0)]}, "MKLRegressor": {"kernels": [RBF(1.0)]}}
META = ("PathSearchCV",)  # hands its points on
MODELS = sorted(
    name
    for name, value in vars(chemin).items()
    if inspect.isclass(value) and issubclass(value, BaseEstimator) and name not in META
)

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 2))
y = np.tile([0, 1, 1, 0], 6)
MASKED = np.ma.masked_array(X, mask=np.arange(48).reshape(24, 2) == 7)
DATES = np.arange(48).reshape(24, 2).astype("M8[s]")
COLUMNS = {
    "text": list("abc") * 8,
    "categories": pd.Categorical(list("abc") * 8),
    "dates": pd.date_range("2020", periods=24),
}


def made(name):
    return getattr(chemin, name)(**NEED.get(name, {}))


@pytest.mark.parametrize("name", MODELS)
def test_no_numbers(name):
    """Oracle: the text of the manual (input.md). Values under a mask are never used."""
    model = made(name)
    with pytest.raises(ValueError, match="X has 1 masked entry, expected none"):
        model.fit(MASKED, y)
    with pytest.raises(ValueError, match=r"X must be .* of numbers, got datetime64"):
        model.fit(DATES, y)
    for column in COLUMNS.values():
        with pytest.raises(ValueError, match=r"X must be .* of numbers: column 'colour' holds"):
            model.fit(pd.DataFrame({"size": X[:, 0], "colour": column}), y)


@pytest.mark.parametrize("name", MODELS)
def test_a_column_name_that_comes_twice(name):
    """Oracle: the error's words, those of path functions."""
    with pytest.raises(ValueError, match=r"^X must be .* two of its columns are called 'a'"):
        made(name).fit(pd.DataFrame(X, columns=["a", "a"]), y)


@pytest.mark.filterwarnings("ignore:the graph has 2 components")
@pytest.mark.parametrize("name", MODELS)
def test_no_numbers_to_predict(name):
    """Oracle: the same texts."""
    target = X[:, 0] + 0.1 * rng.normal(size=24) if is_regressor(made(name)) else y
    model = made(name).fit(X + 20.0 * y[:, None], target)
    with pytest.raises(ValueError, match="X has 1 masked entry, expected none"):
        model.predict(MASKED)
