"""Comparisons on repeated draws, and the simulators that they draw from."""

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression

from chemin import StepwiseRegression, compare
from chemin.datasets import breiman_coefficients, make_breiman, make_mixture
from chemin.display import ComparisonDisplay


def draw(rng):
    X, y, _ = make_breiman(160, rng, n_features=12, centres=(3, 9), h=1)
    return X[:40], y[:40], X[40:], y[40:]


MODELS = {
    "mean": DummyRegressor(),
    "least squares": LinearRegression(),
    "stepwise": StepwiseRegression(),
}


@pytest.fixture(scope="module")
def comparison():
    return compare(MODELS, draw, n_repeats=12, loss="half squared", random_state=3)


def test_losses_are_those_of_the_fits(comparison):
    """Oracle: the draws and fits, by hand."""
    for k, seed in enumerate(np.random.SeedSequence(3).spawn(12)):
        X, y, X_test, y_test = draw(np.random.default_rng(seed))
        for j, model in enumerate(MODELS.values()):
            f = model.fit(X, y).predict(X_test)
            assert comparison.losses[k, j] == pytest.approx(0.5 * np.mean((y_test - f) ** 2))


def test_statistics(comparison):
    """Oracle: scipy's standard errors, and the normal distribution."""
    losses, best = comparison.losses, comparison.best
    assert comparison.names[best] == "stepwise"
    np.testing.assert_allclose(comparison.standard_error, stats.sem(losses, axis=0))
    for k in range(3):
        d = losses[:, k] - losses[:, best]
        assert comparison.difference[k] == pytest.approx(d.mean())
        if k == best:
            assert np.isnan(comparison.p[k]) and not comparison.significant[k]
            continue
        assert comparison.p[k] == pytest.approx(stats.norm.sf(d.mean() / stats.sem(d)))
        assert comparison.significant[k] == (d.mean() > 2 * stats.sem(d))
    assert comparison.significant[0]


def test_table_frame_and_figure(comparison):
    """Oracle: the numbers; bars that are as long as the differences."""
    lines = comparison.table().splitlines()
    assert lines[1].startswith("stepwise") and "worse" in lines[-1] and "mean" in lines[-1]
    frame = comparison.to_frame()
    assert frame.loc["mean", "significant"] and frame.shape == (3, 6)
    display = ComparisonDisplay.from_comparison(comparison)
    lengths = sorted(bar.get_width() for bar in display.ax_.patches)
    np.testing.assert_allclose(lengths, np.sort(comparison.difference))
    import matplotlib.pyplot as plt

    plt.close(display.figure_)
    assert "stepwise is best" in repr(comparison)


def test_processes_and_callables(comparison):
    """Oracle: the same losses in one process; equal estimators are not told apart."""
    two = {"a": LinearRegression(), "b": LinearRegression()}
    twice = compare(two, draw, n_repeats=3, loss=lambda y, f: float(np.abs(y - f).max()))
    assert not twice.significant.any() and twice.p[1] == 0.5


def test_warnings_are_counted():
    """Oracle: an estimator that always warns."""

    def perfect(rng):
        X = rng.normal(size=(20, 3))
        return X, X[:, 0], X, X[:, 0]

    found = compare({"a": StepwiseRegression(), "b": LinearRegression()}, perfect, n_repeats=4)
    assert sum(found.remarks.values()) == 4 and "perfectly" in next(iter(found.remarks))


def test_what_is_refused():
    """Oracle: the messages."""
    with pytest.raises(ValueError, match="estimators must have at least 2"):
        compare({"a": LinearRegression()}, draw)
    with pytest.raises(ValueError, match="n_repeats must be"):
        compare(MODELS, draw, n_repeats=1)
    with pytest.raises(ValueError, match="loss must be one of squared, half squared, absolute"):
        compare(MODELS, draw, loss="cubed")
    with pytest.raises(ValueError, match="the loss of 'mean' on draw 0 is nan"):
        compare(MODELS, draw, n_repeats=2, loss=lambda y, f: float("nan"))


# ---------------------------------------------------------------------- simulators


@pytest.mark.parametrize("rho", [0.1, 0.5, 0.9])
def test_breiman(rho):
    """Oracle: the numbers of the thesis; covariances and R² of a large draw."""
    assert [np.count_nonzero(breiman_coefficients(h=h, rho=rho)) for h in (1, 3, 5)] == [3, 15, 27]
    large = tuple(range(5, 200, 10))
    counts = [np.count_nonzero(breiman_coefficients(200, large, h=h)) for h in (1, 3)]
    assert counts == [20, 100]
    few = breiman_coefficients(200, (1, 100, 200), h=0, rho=rho)
    assert np.flatnonzero(few).tolist() == [0, 99, 199] and np.ptp(few[few > 0]) == 0
    X, y, coef = make_breiman(100_000, 0, h=3, rho=rho)
    place = np.arange(30)
    covariance = rho ** np.abs(np.subtract.outer(place, place))
    np.testing.assert_allclose(np.cov(X.T), covariance, atol=0.03)
    assert coef @ covariance @ coef == pytest.approx(3)
    assert np.var(X @ coef) / np.var(y) == pytest.approx(0.75, abs=0.01)
    np.testing.assert_allclose(coef[2:7] / coef[4], np.array([1, 4, 9, 4, 1]) / 9)


def test_mixture():
    """Oracle: least squares on many rows; draws of their own for each seed."""
    X, y = make_mixture(20_000, 1)
    fit = LinearRegression().fit(X, y)
    np.testing.assert_allclose(fit.coef_, [0.0] * 16 + [1.0] * 3, atol=0.03)
    assert np.mean((y - fit.predict(X)) ** 2) == pytest.approx(1.0, abs=0.04)
    np.testing.assert_array_equal(make_mixture(5, 1)[0], make_mixture(5, 1)[0])
    assert stats.kurtosis(X[:, 0]) > 0.1  # no normal: a mixture


@pytest.mark.parametrize(
    "given", [{"h": -1}, {"centres": (0,)}, {"centres": ()}, {"rho": 1.0}, {"r2": 1.5}, {"n": 0}]
)
def test_simulators_refuse(given):
    """Oracle: the name of the argument."""
    with pytest.raises(ValueError, match=next(iter(given))):
        make_breiman(**given)
