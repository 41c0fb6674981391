"""Stepwise regression: its choices, its tests and its tables."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_diabetes

from chemin import StepwiseRegression
from chemin.models._sweep import Sweep

CLOSE = 1e-10  # of statsmodels, relative


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def draw(seed, n=60, d=12, rho=0.7):
    """Correlated columns, some of which matter."""
    rng = np.random.default_rng(seed)
    cov = rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    X = rng.multivariate_normal(np.zeros(d), cov, size=n) * rng.lognormal(0, 2, d) + 5
    beta = np.where(rng.random(d) < 0.4, rng.normal(size=d), 0.0) / X.std(axis=0)
    return X, X @ beta + rng.normal(size=n)


def design(X, columns, intercept=True):
    return np.column_stack([*([np.ones(len(X))] if intercept else []), X[:, columns]])


def by_refitting(X, y, enter, remain, direction="stepwise"):
    """Every candidate fitted by itself; (variable, enters, F, p) of each step."""

    def partial_test(smaller, larger):
        return (
            sm.OLS(y, design(X, larger)).fit().compare_f_test(sm.OLS(y, design(X, smaller)).fit())
        )

    chosen = list(range(X.shape[1])) if direction == "backward" else []
    steps = []
    while True:
        before = len(steps)
        if direction != "backward":
            others = [j for j in range(X.shape[1]) if j not in chosen]
            tests = {j: partial_test(chosen, [*chosen, j]) for j in others}
            best = max(tests, key=lambda j: tests[j][0], default=None)
            if best is not None and tests[best][1] <= enter:
                chosen.append(best)
                steps.append((best, True, *tests[best][:2]))
        if direction != "forward" and chosen:
            tests = {j: partial_test([k for k in chosen if k != j], chosen) for j in chosen}
            worst = min(tests, key=lambda j: tests[j][0])
            if tests[worst][1] > remain:
                chosen.remove(worst)
                steps.append((worst, False, *tests[worst][:2]))
        if len(steps) == before:
            return steps


# ---------------------------------------------------------------------- textbooks


def test_hald_cement(load_data):
    """Oracle: Draper and Smith's account of these data, chapter 15."""
    data = load_data("hald_cement")
    model = StepwiseRegression(alpha_enter=0.15, alpha_remain=0.15).fit(data.data, data.target)
    names = [data.feature_names[j] for j in model.steps_["variable"]]
    assert names == ["x4", "x1", "x2", "x4"]
    assert model.steps_["enters"].tolist() == [True, True, True, False]
    np.testing.assert_allclose(model.steps_["F"], [22.80, 108.22, 5.03, 1.86], atol=5e-3)
    np.testing.assert_allclose(model.result_.coef, [52.58, 1.47, 0.66], atol=5e-3)
    at_five = StepwiseRegression().fit(data.data, data.target)
    assert [data.feature_names[j] for j in at_five.steps_["variable"]] == ["x4", "x1"]


LONGLEY = {  # certified by NIST: estimate and standard deviation
    "const": (-3482258.63459582, 890420.383607373),
    "GNPDEFL": (15.0618722713733, 84.9149257747669),
    "GNP": (-0.358191792925910e-01, 0.334910077722432e-01),
    "UNEMP": (-2.02022980381683, 0.488399681651699),
    "ARMED": (-1.03322686717359, 0.214274163161675),
    "POP": (-0.511041056535807e-01, 0.226073200069370),
    "YEAR": (1829.15146461355, 455.478499142212),
}


def test_longley(load_data):
    """Oracle: NIST's certified values, to 9 digits."""
    data = load_data("longley")
    frame = pd.DataFrame(data.data, columns=data.feature_names)
    result = StepwiseRegression(direction="all").fit(frame, data.target).result_
    assert result.names == list(LONGLEY)
    estimate, deviation = np.array(list(LONGLEY.values())).T
    np.testing.assert_allclose(result.coef, estimate, rtol=5e-10)
    np.testing.assert_allclose(result.standard_errors, deviation, rtol=5e-10)
    np.testing.assert_allclose(np.sqrt(result.variance), 304.854073561965, rtol=5e-10)
    np.testing.assert_allclose(result.r2, 0.995479004577296, rtol=5e-10)
    regression, residual, _ = result.anova
    np.testing.assert_allclose(regression["sum_of_squares"], 184172401.944494, rtol=5e-10)
    np.testing.assert_allclose(regression["F"], 330.285339234588, rtol=5e-10)
    np.testing.assert_allclose(residual["sum_of_squares"], 836424.055505915, rtol=5e-10)
    np.testing.assert_allclose(residual["mean_square"], 92936.0061673238, rtol=5e-10)
    assert (regression["df"], residual["df"]) == (6, 9)


@pytest.mark.parametrize("direction", ["stepwise", "forward", "backward"])
def test_prostate(load_data, direction):
    """Oracle: the published subsets, Tibshirani (1996) on all men, Hastie et al. on 67 of them."""
    data = load_data("prostate")
    for rows, names in (
        (np.ones(97, bool), ["lcavol", "lweight", "svi"]),
        (data.train, ["lcavol", "lweight"]),
    ):
        model = StepwiseRegression(direction=direction).fit(data.data[rows], data.target[rows])
        assert list(np.array(data.feature_names)[model.support_]) == names


# ---------------------------------------------------------------------- statsmodels


@pytest.mark.parametrize("direction", ["stepwise", "forward", "backward"])
@pytest.mark.parametrize("seed", range(4))
def test_every_step_against_refitting(seed, direction):
    """Oracle: statsmodels, every candidate fitted by itself."""
    X, y = draw(seed)
    level = [0.05, 0.3][seed % 2]
    model = StepwiseRegression(direction=direction, alpha_enter=level, alpha_remain=level).fit(X, y)
    steps = by_refitting(X, y, level, level, direction)
    assert [(s["variable"], s["enters"]) for s in model.steps_] == [s[:2] for s in steps]
    # The oracle takes the difference of two sums of squares: digits of a small F are lost in it.
    np.testing.assert_allclose(model.steps_["F"], [s[2] for s in steps], rtol=CLOSE, atol=1e-11)
    np.testing.assert_allclose(model.steps_["p"], [s[3] for s in steps], rtol=CLOSE)


def check_table(result, other, rtol=CLOSE):
    """All numbers of a fit against those of statsmodels."""
    np.testing.assert_allclose(result.coef, other.params, rtol=rtol)
    np.testing.assert_allclose(result.standard_errors, other.bse, rtol=rtol)
    np.testing.assert_allclose(result.t, other.tvalues, rtol=rtol)
    np.testing.assert_allclose(result.p, other.pvalues, rtol=rtol)
    size = np.outer(other.bse, other.bse)
    np.testing.assert_allclose(result.covariance / size, other.cov_params() / size, atol=rtol)
    np.testing.assert_allclose(result.confidence_intervals(0.9), other.conf_int(0.1), rtol=rtol)
    pairs = {"r2": "rsquared", "adjusted_r2": "rsquared_adj", "F": "fvalue", "F_p": "f_pvalue"}
    pairs |= {"df": "df_resid", "df_model": "df_model", "residual_sum": "ssr"}
    for ours, theirs in pairs.items():
        np.testing.assert_allclose(getattr(result, ours), getattr(other, theirs), rtol=rtol)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_tables_against_statsmodels(diabetes, intercept):
    """Oracle: statsmodels on the chosen columns."""
    X, y = diabetes
    model = StepwiseRegression(intercept=intercept).fit(X, y)
    columns = np.flatnonzero(model.support_)
    other = sm.OLS(y, design(X, columns, intercept)).fit()
    check_table(model.result_, other)
    for name, theirs in (("aic", "aic"), ("bic", "bic"), ("log_likelihood", "llf")):
        np.testing.assert_allclose(getattr(model.result_, name), getattr(other, theirs), rtol=CLOSE)
    F, p, _ = other.compare_f_test(sm.OLS(y, design(X, columns[:-1], intercept)).fit())
    np.testing.assert_allclose([model.result_.t[-1] ** 2, model.result_.p[-1]], [F, p], rtol=CLOSE)


def test_weights(diabetes):
    """Oracle: repeated rows; statsmodels' weighted least squares where weights have the sum n."""
    X, y = diabetes[0][:80], diabetes[1][:80]
    rng = np.random.default_rng(0)
    times = rng.integers(0, 3, size=80)
    model = StepwiseRegression().fit(X, y, sample_weight=times)
    rows = np.repeat(np.arange(80), times)
    repeated = StepwiseRegression().fit(X[rows], y[rows])
    assert model.steps_["variable"].tolist() == repeated.steps_["variable"].tolist()
    np.testing.assert_allclose(model.result_.p, repeated.result_.p, rtol=1e-9)
    weight = rng.random(80)
    weight *= 80 / weight.sum()
    result = StepwiseRegression(direction="all").fit(X, y, sample_weight=weight).result_
    check_table(result, sm.WLS(y, design(X, range(10)), weights=weight).fit(), rtol=1e-9)


def test_the_summary_has_the_numbers(diabetes):
    """Oracle: the numbers of statsmodels, as they are printed."""
    X, y = diabetes
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(10)])
    model = StepwiseRegression().fit(frame, y)
    text = model.summary()
    other = sm.OLS(y, design(X, np.flatnonzero(model.support_))).fit()
    assert f"{other.rsquared:.6g}" in text and f"{other.params[1]:.4g}" in text
    assert (
        "v2" in text and "enters" in text and "97.5 %" in text and "p-values are too small" in text
    )
    assert max(map(len, model.result_.summary().splitlines()[:-1])) <= 78


# ---------------------------------------------------------------------- the factor


def test_columns_in_and_out():
    """Oracle: a factor of the same columns, made afresh; [X y] = Q W + E with Q orthonormal."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 12)), rng.normal(size=30)
    X[:, 5] = X[:, 2] + 1e-5 * X[:, 5]  # nearly the same
    sweep = Sweep(X, y, np.linalg.norm(X, axis=0))
    for _ in range(300):
        j = int(rng.integers(12))
        sweep.leave(j) if j in sweep.chosen else sweep.enter(j)
    chosen, k = sweep.chosen, len(sweep)
    assert 0 < k < 12
    np.testing.assert_allclose(sweep.Q[:, :k].T @ sweep.Q[:, :k], np.eye(k), atol=1e-13)
    np.testing.assert_allclose(
        sweep.Q[:, :k] @ sweep.W[:k] + sweep.left, np.column_stack([X, y]), atol=1e-12
    )
    b, rest, *_ = np.linalg.lstsq(X[:, chosen], y)
    np.testing.assert_allclose(sweep.coefficients(), b, rtol=1e-8)
    np.testing.assert_allclose(sweep.residual_sum, rest[0], rtol=1e-12)
    for j in range(12):
        others = [i for i in chosen if i != j] + ([j] if j not in chosen else [])
        other = np.linalg.lstsq(X[:, others], y)[1][0]
        change = sweep.gains()[j] if j not in chosen else -sweep.losses()[chosen.index(j)]
        np.testing.assert_allclose(rest[0] - other, change, rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------------- nasty data


def test_collinear_and_constant_columns(diabetes):
    """Oracle: the same data without those columns."""
    X, y = diabetes
    wide = np.column_stack([X, np.full(len(y), 3.7), -2 * X[:, 2], X[:, 2] + 4])
    for direction in ("stepwise", "forward"):
        model = StepwiseRegression(direction=direction).fit(wide, y)
        plain = StepwiseRegression(direction=direction).fit(X, y)
        assert not model.support_[10:].any()
        np.testing.assert_allclose(model.coef_[:10], plain.coef_, rtol=1e-8)
    with pytest.warns(UserWarning, match="left out: 10, 11, 12"):
        model = StepwiseRegression(direction="all").fit(wide, y)
    full = sm.OLS(y, design(X, range(10))).fit()
    np.testing.assert_allclose(model.coef_[:10], full.params[1:], rtol=1e-8)


def test_more_columns_than_rows():
    """Oracle: a model with three variables; the counts of degrees of freedom."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 200))
    y = X[:, [3, 50, 77]] @ [3.0, -2.0, 4.0] + 0.1 * rng.normal(size=40)
    model = StepwiseRegression(alpha_enter=1e-4, alpha_remain=1e-4).fit(X, y)
    assert np.flatnonzero(model.support_).tolist() == [3, 50, 77]
    greedy = StepwiseRegression(direction="forward", alpha_enter=1.0).fit(X, y)
    assert greedy.support_.sum() == 38 and greedy.result_.df == 1
    for direction in ("backward", "all"):
        with pytest.raises(ValueError, match="need at least 202 rows"):
            StepwiseRegression(direction=direction).fit(X, y)
        with pytest.raises(ValueError, match="need at least 42 rows"):  # T = M
            StepwiseRegression(direction=direction).fit(X[:, :40], y)


def test_a_perfect_fit():
    """Oracle: a target that two columns make."""
    X = np.random.default_rng(0).normal(size=(30, 6))
    y = 2 * X[:, 1] - X[:, 4] + 5
    for direction in ("stepwise", "forward", "all"):
        with pytest.warns(UserWarning, match="fit y perfectly"):
            model = StepwiseRegression(direction=direction).fit(X, y)
        np.testing.assert_allclose(model.coef_, [0, 2, 0, 0, -1, 0], atol=1e-12)
        assert model.result_.r2 == 1.0 and model.result_.residual_sum == 0.0
        assert "inf" in model.summary()
    assert StepwiseRegression(direction="forward").fit(X[:, :4], y).support_[1]


def test_what_is_refused(diabetes):
    """Oracle: the messages."""
    X, y = diabetes
    fit = lambda **given: StepwiseRegression(**given).fit(X, y)
    with pytest.raises(ValueError, match="direction must be one of stepwise, forward"):
        fit(direction="both")
    with pytest.raises(ValueError, match=r"alpha_remain must be at least alpha_enter \(0.05\)"):
        fit(alpha_remain=0.01)
    with pytest.raises(ValueError, match="alpha_enter must be"):
        fit(alpha_enter=1.5)
    with pytest.raises(ValueError, match="y is constant"):
        StepwiseRegression().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="NaN"):
        StepwiseRegression().fit(np.where(X == X[0, 0], np.nan, X), y)
    with pytest.raises(ValueError, match="sample_weight has the sum 1"):
        StepwiseRegression().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))


def test_nothing_enters():
    """Oracle: a target that no column explains: the mean, and tables without variables."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    model = StepwiseRegression(alpha_enter=1e-6, alpha_remain=1e-6).fit(X, y)
    assert not model.support_.any() and model.intercept_ == pytest.approx(y.mean())
    assert np.isnan(model.result_.F) and model.result_.r2 == pytest.approx(0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "const" in model.summary()
