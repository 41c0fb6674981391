"""Ridge, garrote, adaptive ridge, the lasso with signs and prices: against other solvers."""

import tracemalloc

import numpy as np
import pytest
from qpsolvers import Problem, solve_problem
from scipy.sparse import csc_matrix
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression, Ridge, lars_path

import chemin
from chemin import (
    adaptive_ridge_iteration,
    adaptive_ridge_path,
    garrote_path,
    lasso_path,
    ridge_path,
)
from contract import assert_exact, assert_ordered

PATHS = {
    "ridge": ridge_path,
    "garrote": garrote_path,
    "adaptive ridge": adaptive_ridge_path,
    "positive lasso": lambda *a, **k: lasso_path(*a, positive=True, **k),
    "standardised lasso": lambda *a, **k: lasso_path(*a, standardize=True, **k),
}
every_path = pytest.mark.parametrize("make", PATHS.values(), ids=PATHS.keys())


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def draw(seed=0, n=40, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * rng.lognormal(0, 1.5, d) + 3
    return X, X @ np.where(np.arange(d) % 2, 0.0, 1 / X.std(axis=0)) + 0.7 * rng.normal(size=n)


# ---------------------------------------------------------------------- all of them


@every_path
@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
def test_exact_everywhere(make, intercept):
    """Oracle: the certificate, at breakpoints, midpoints and random values, with weights."""
    X, y = draw()
    w = 10.0 ** np.random.default_rng(3).uniform(-2, 1, len(y))
    for options in ({}, {"sample_weight": w}, {"stop": 0}):
        path = make(X, y, intercept=intercept, **options)
        assert path.complete
        assert_ordered(path)
        assert_exact(path, n_random=50)


@every_path
def test_weight_k_is_k_rows(make):
    """Oracle: an invariant."""
    X, y = draw()
    w = np.random.default_rng(2).integers(0, 4, len(y))
    a, b = make(X, y, sample_weight=w), make(np.repeat(X, w, axis=0), np.repeat(y, w))
    values = np.geomspace(min(a.start, b.start), max(a.stop, b.stop), 30)[1:-1]
    size = np.abs(b.coefficients(values)[0]).max()
    np.testing.assert_allclose(
        a.coefficients(values)[0], b.coefficients(values)[0], atol=1e-10 * size
    )


@every_path
@pytest.mark.parametrize("shape", [(30, 12), (12, 12), (10, 25)], ids=["tall", "square", "wide"])
def test_collinear_and_constant_columns(make, shape):
    """Oracle: the certificate; constant columns never enter."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=shape)
    X[:, 3], X[:, 5], X[:, 7] = X[:, 2], 2.5, X[:, 0] - X[:, 1]
    y = X[:, 2] + 0.3 * rng.normal(size=len(X))
    path = make(X, y)
    assert path.complete, path.reason
    assert_exact(path, n_random=50)
    assert not path.coefficients(np.geomspace(path.start, path.stop, 9))[0][5].any()


@every_path
@pytest.mark.parametrize("n", [30, 7, 6], ids=["tall", "as many as unknowns", "T = M"])
def test_a_perfect_fit(make, n):
    """Oracle: the coefficients that made y; where they are not the only ones, no residual."""
    X = np.random.default_rng(0).normal(size=(n, 6))
    b = np.array([0.0, 2.0, 0.0, 0.0, 1.0, 0.0])
    y = X @ b + 5.0
    path = make(X, y, stop=0)
    assert path.complete, path.reason
    assert_exact(path, n_random=20)
    end = path.at(0.0)
    np.testing.assert_allclose(X @ end.coef + end.intercept, y, atol=1e-12)
    if n > 6:
        np.testing.assert_allclose(end.coef, b, atol=1e-12)
        assert end.intercept == pytest.approx(5.0, abs=1e-12)


@every_path
def test_nothing_but_constant_columns(make):
    """Oracle: the mean of y, at every value."""
    y = np.random.default_rng(0).normal(size=8)
    path = make(np.full((8, 3), 2.5), y)
    for value in (path.start, 0.5 * path.start, path.stop):
        s = path.at(value)
        assert not s.coef.any() and s.intercept == pytest.approx(y.mean(), rel=1e-13)
        assert path.certify(s).verdict == "exact"


@every_path
def test_saved_and_loaded(make, tmp_path):
    """Oracle: the path that was saved, bit by bit."""
    X, y = draw()
    path = make(X, y)
    path.save(tmp_path / "path.npz")
    again = chemin.load(tmp_path / "path.npz")
    values = np.geomspace(path.start, path.stop, 20)
    for a, b in zip(path.coefficients(values), again.coefficients(values)):
        np.testing.assert_array_equal(a, b)
    assert repr(again) == repr(path)


@every_path
def test_what_is_refused(make):
    """Oracle: the messages."""
    X, y = draw()
    with pytest.raises(ValueError, match="y is constant"):
        make(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="NaN"):
        make(np.where(X == X[0, 0], np.nan, X), y)
    with pytest.raises(ValueError, match="intercept must be"):
        make(X, y, intercept="yes")
    with pytest.raises(ValueError, match="stop"):
        make(X, y, stop=-1)
    if make is not ridge_path:
        with pytest.raises(ValueError, match="max_events"):
            make(X, y, max_events=-2)


@every_path
def test_a_part_of_the_path(make):
    """Oracle: the whole path; ends where they were asked for."""
    X, y = draw()
    whole = make(X, y)
    high, low = (np.exp(f * np.log(whole.start / whole.stop)) * whole.stop for f in (0.7, 0.2))
    part = make(X, y, start=high, stop=low)
    np.testing.assert_allclose([part.start, part.stop], [high, low], rtol=1e-12)
    values = np.geomspace(high, low, 20)[1:-1]
    a, b = part.coefficients(values)[0], whole.coefficients(values)[0]
    np.testing.assert_allclose(a, b, atol=1e-10 * np.abs(b).max())
    inner = whole.breakpoints[(whole.breakpoints < high) & (whole.breakpoints > low)]
    np.testing.assert_allclose(part.breakpoints, inner, rtol=1e-9)


# ---------------------------------------------------------------------- ridge


@pytest.mark.parametrize("standardize", [False, True])
def test_ridge_against_solving(diabetes, standardize):
    """Oracle: the normal equations, by scikit-learn, at each value."""
    X, y = diabetes
    scale = X.std(axis=0) if standardize else 1.0
    path = ridge_path(X, y, standardize=standardize, stop=0)
    assert path.n_events == 0 and path.parameter == "lambda"
    for value in [*np.geomspace(path.start, 1e-8 * path.start, 25), 0.0]:
        s = path.at(value)
        other = Ridge(value, solver="svd").fit(X / scale, y)
        np.testing.assert_allclose(s.coef, other.coef_ / scale, rtol=1e-9)
        np.testing.assert_allclose(s.intercept, other.intercept_, rtol=1e-12)


def test_ridge_goes_up_too(diabetes):
    """Oracle: the path that goes down."""
    up = ridge_path(*diabetes, start=1e-3, stop=10.0)
    down = ridge_path(*diabetes)
    assert (up.start, up.stop) == (pytest.approx(1e-3), pytest.approx(10.0))
    values = np.geomspace(1.001e-3, 9.99, 20)
    np.testing.assert_allclose(up.coefficients(values)[0], down.coefficients(values)[0], rtol=1e-9)


def test_ridge_on_wide_data_is_the_shortest():
    """Oracle: the pseudo-inverse at lambda = 0."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 60)), rng.normal(size=20)
    Z, e = X - X.mean(axis=0), y - y.mean()
    b = ridge_path(X, y, stop=0).at(0).coef
    np.testing.assert_allclose(b, np.linalg.pinv(Z) @ e, atol=1e-12)


# ---------------------------------------------------------------------- garrote


def garrote_by_qp(X, y, lam, a=None):
    """min 1/2 |y - Z c|^2 + lam 1'c, c >= 0, by an interior-point method."""
    X, y = X - X.mean(axis=0), y - y.mean()
    a = np.linalg.lstsq(X, y)[0] if a is None else a
    Z = X * a
    unit = np.linalg.norm(Z, axis=0).max() * np.linalg.norm(y)
    P, q = Z.T @ Z / unit, (lam - Z.T @ y) / unit
    tight = {"tol_gap_abs": 1e-14, "tol_gap_rel": 1e-14, "tol_feas": 1e-14}
    qp = Problem(csc_matrix(P), q, lb=np.zeros(len(q)))
    return a * solve_problem(qp, solver="clarabel", **tight).x


def test_garrote_against_a_qp(diabetes):
    """Oracle: a quadratic-programming solver, to 1e-8 of the largest coefficient."""
    X, y = diabetes
    path = garrote_path(X, y, stop=0)
    for value in np.geomspace(0.9 * path.start, 1e-4 * path.start, 12):
        b, other = path.at(value).coef, garrote_by_qp(X, y, value)
        np.testing.assert_allclose(b, other, atol=1e-8 * np.abs(other).max())
    least = LinearRegression().fit(X, y).coef_
    np.testing.assert_allclose(path.at(0).coef, least, rtol=1e-9)
    assert np.all(path.at(0.1 * path.start).coef * least >= 0)


def test_garrote_from_ridge():
    """Oracle: a quadratic program from the ridge estimate, on wide data."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 40))
    y = X[:, 0] - X[:, 1] + 0.2 * rng.normal(size=25)
    path = garrote_path(X, y, ridge=0.1)
    scale = X.std(axis=0)
    a = Ridge(0.1 * 25, solver="svd").fit(X / scale, y).coef_ / scale
    for f in (0.5, 0.05, 0.001):
        other = garrote_by_qp(X, y, f * path.start, a)
        np.testing.assert_allclose(path.at(f * path.start).coef, other, atol=1e-8)
    with pytest.raises(ValueError, match="ridge must be"):
        garrote_path(X, y, ridge=-1.0)


def test_garrote_of_orthonormal_columns():
    """Oracle: Breiman's closed form, c = (1 - lambda / a^2)_+."""
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 5)))
    y = np.random.default_rng(1).normal(size=30)
    path = garrote_path(Q, y, intercept=False, stop=0)
    a = Q.T @ y
    for f in (0.9, 0.4, 0.1, 0.01):
        lam = f * path.start
        np.testing.assert_allclose(path.at(lam).coef, a * np.maximum(0, 1 - lam / a**2), atol=1e-13)


# ---------------------------------------------------------------------- lasso


@pytest.mark.parametrize(
    ("shape", "seed"),
    # Of the last ones round-off takes rows over their treads at up to 5e-10 of the start.
    [((100, 720), 0), ((200, 300), 0), ((60, 60), 0), *(((200, 300), k) for k in (1, 22, 30))],
)
@pytest.mark.filterwarnings("error")
def test_no_events_of_round_off_on_the_way_to_zero(shape, seed):
    """Oracle: lars_path, its breakpoints; with more columns than rows all residuals go to 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    y = X[:, :20] @ rng.normal(size=20) + 2.0 * rng.normal(size=shape[0])
    path = lasso_path(X, y, stop=0)
    alphas, _, _ = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    known = np.unique(alphas[1:-1] * shape[0])
    low, theirs = path.breakpoints[path.breakpoints < 1e-3 * path.start], known
    theirs = theirs[(theirs > 1e-9 * path.start) & (theirs < 1e-3 * path.start)]
    np.testing.assert_allclose(np.unique(low), theirs, rtol=1e-6)
    assert path.complete and path.certificate([0.0, 1e-8 * path.start]).exact.all()


def test_columns_over_twelve_orders_on_the_way_to_zero():
    """Oracle: certificates, and least squares at 0.

    Small columns enter at 1e-12 of the start, where residuals of large ones are not told from 0.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5)) * 10.0 ** np.arange(-6, 9, 3)
    y = X @ (np.array([2.0, 0.0, -1.0, 0.0, 0.0]) / 10.0 ** np.arange(-6, 9, 3))
    y += 0.3 * rng.normal(size=30)
    path = lasso_path(X, y, stop=0)
    assert path.complete and len(path) >= 5
    assert path.certificate(np.append(path.breakpoints, 0.0)).exact.all()
    scale = np.abs(X).max(axis=0)
    b = np.linalg.lstsq((X - X.mean(axis=0)) / scale, y - y.mean())[0] / scale
    np.testing.assert_allclose(path.at(0).coef, b, rtol=1e-6)


def test_wide_data_need_no_matrix_of_their_columns():
    """Oracle: the memory that was taken: a few times X, where X'X is 400 times X."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20_000))
    y = X[:, :5].sum(axis=1) + rng.normal(size=50)
    tracemalloc.start()
    path = lasso_path(X, y, stop=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.complete and peak < 10 * X.nbytes


def test_positive_lasso(diabetes):
    """Oracle: scikit-learn's lars_path with positive=True, at its knots."""
    X, y = diabetes
    path = lasso_path(X, y, positive=True, stop=0)
    alphas, _, coefs = lars_path(X, y - y.mean(), method="lasso", positive=True)
    lams = alphas * len(y)
    some = lams > 1e-6 * lams[0]
    ours = path.coefficients(np.minimum(lams[some], path.start))[0]
    np.testing.assert_allclose(ours, coefs[:, some], atol=1e-8 * np.abs(coefs).max())
    assert path.coefficients(lams[some])[0].min() >= 0


def test_standardised_lasso(load_data):
    """Oracle: the lasso on columns divided by their standard deviations."""
    data = load_data("prostate")
    X, y = data.data, data.target
    path, scale = lasso_path(X, y, standardize=True, stop=0), X.std(axis=0)
    other = lasso_path(X / scale, y, stop=0)
    np.testing.assert_allclose(path.breakpoints, other.breakpoints, rtol=1e-9)
    for f in (0.7, 0.2, 0.01):
        a, b = path.at(f * path.start), other.at(f * path.start)
        np.testing.assert_allclose(a.coef, b.coef / scale, atol=1e-11)
        assert a.intercept == pytest.approx(b.intercept) and a.objective == pytest.approx(
            b.objective
        )


def test_the_published_lasso_of_prostate(load_data):
    """Oracle: Tibshirani (1996): lcavol, lweight and svi at a bound of 0.44 of least squares."""
    data = load_data("prostate")
    path = lasso_path(data.data, data.target, standardize=True, stop=0)
    scale = data.data.std(axis=0)
    values = np.geomspace(path.start, 1e-3 * path.start, 2000)
    norm = scale @ np.abs(path.coefficients(values)[0]) / (scale @ np.abs(path.at(0).coef))
    at = path.at(values[np.argmin(np.abs(norm - 0.44))])
    assert [data.feature_names[j] for j in at.support] == ["lcavol", "lweight", "svi"]


def test_the_textbook_lasso_of_prostate(load_data):
    """Oracle: Hastie, Tibshirani, Friedman, table 3.3: the lasso on 67 men, as printed."""
    data = load_data("prostate")
    X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0, ddof=1)
    path = lasso_path(X[data.train], data.target[data.train], standardize=True, stop=0)
    coefs, _ = path.coefficients(np.geomspace(path.start, 0.1 * path.start, 4000))
    at = coefs[:, np.argmin(np.abs(coefs[3] - 0.002))]
    np.testing.assert_allclose(at, [0.533, 0.169, 0, 0.002, 0.094, 0, 0, 0], atol=6e-4)
    least = [0.680, 0.263, -0.141, 0.210, 0.305, -0.288, -0.021, 0.267]
    np.testing.assert_allclose(path.at(0).coef, least, atol=6e-4)


# ---------------------------------------------------------------------- adaptive ridge


@pytest.mark.parametrize("mu", [10.0, 1.0, 0.1])
def test_adaptive_ridge_against_its_iteration(diabetes, mu):
    """Oracle: the fixed point of the thesis, iterated until it stands: 1e-8. Ten rounds do not."""
    X, y = diabetes
    s = adaptive_ridge_path(X, y).at(mu)
    b, b0, rounds = adaptive_ridge_iteration(X, y, mu, max_rounds=20_000, tol=1e-14)
    size = np.abs(b).max()
    np.testing.assert_allclose(s.coef, b, atol=1e-8 * size)
    assert s.intercept == pytest.approx(b0) and 100 < rounds < 20_000
    early, *_ = adaptive_ridge_iteration(X, y, mu)
    assert 1e-3 < np.abs(early - s.coef).max() / size < 0.1


def test_adaptive_ridge_is_a_lasso(diabetes):
    """Oracle: scikit-learn's lasso at lambda = (mu/M) |b|_1; mu falls with lambda."""
    X, y = diabetes
    path = adaptive_ridge_path(X, y, stop=0)
    for mu in (100.0, 3.0, 0.03):
        s = path.at(mu)
        assert s.lambda_ == pytest.approx(mu / 10 * np.abs(s.coef).sum(), rel=1e-13)
        other = Lasso(s.lambda_ / len(y), tol=1e-14, max_iter=100_000).fit(X, y)
        np.testing.assert_allclose(s.coef, other.coef_, atol=1e-6)
        half = 0.5 * np.sum((y - X @ s.coef - s.intercept) ** 2)
        assert s.objective == pytest.approx(half + mu / 20 * np.abs(s.coef).sum() ** 2)
        assert s.mu == mu
    lasso = lasso_path(X, y, stop=0)
    knots = lasso.breakpoints[lasso.breakpoints < 0.999 * lasso.start]
    norm = np.abs(lasso.coefficients(knots)[0]).sum(axis=0)
    np.testing.assert_allclose(path.breakpoints, 10 * knots / norm, rtol=1e-9)
    np.testing.assert_allclose(path.at(0).coef, LinearRegression().fit(X, y).coef_, rtol=1e-8)


@pytest.mark.filterwarnings("error")
def test_the_iteration_with_nothing_to_explain():
    """Oracle: the mean of y, which constant columns cannot better."""
    y = np.random.default_rng(0).normal(size=8)
    b, b0, rounds = adaptive_ridge_iteration(np.full((8, 3), 2.5), y, 1.0)
    assert not b.any() and rounds == 0 and b0 == pytest.approx(y.mean(), rel=1e-13)


def test_adaptive_ridge_with_nothing_to_explain():
    """Oracle: a target that no column is correlated with."""
    X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    path = adaptive_ridge_path(X, np.array([1.0, -1, -1, 1]))
    assert path.complete and not path.at(path.stop).coef.any()


def test_certificates_can_say_no(diabetes):
    """Oracle: solutions that are not those of the path."""
    from dataclasses import replace

    for make in PATHS.values():
        path = make(*diabetes)
        s = path.at(np.sqrt(path.start * path.stop))
        assert path.certify(s).verdict == "exact"
        assert (
            path.certify(replace(s, coef=1.001 * s.coef, alpha=1.001 * s.alpha)).verdict == "wrong"
        )
        assert path.certify(replace(s, intercept=s.intercept + 1)).verdict == "wrong"
        assert path.certify(replace(s, lambda_=1.01 * s.lambda_)).verdict == "wrong"


# ---------------------------------------------------------------------- degrees of freedom


@pytest.mark.parametrize("make", [ridge_path, garrote_path, adaptive_ridge_path, lasso_path])
@pytest.mark.parametrize("intercept", [True, False])
def test_degrees_of_freedom(make, intercept):
    """Oracle: the divergence of the fitted values by finite differences."""
    X, y = draw(4, n=12)
    whole = make(X, y, intercept=intercept)
    value, step = float(whole.start**0.4 * whole.stop**0.6), 1e-6
    fits = np.empty((2, len(y)))
    for i in range(len(y)):
        for k, sign in enumerate((1, -1)):
            moved = y + sign * step * (np.arange(len(y)) == i)
            path = make(X, moved, intercept=intercept, stop=0.9 * value)
            fits[k, i] = path.predict(X[[i]], value)[0]
    divergence = np.sum(fits[0] - fits[1]) / (2 * step)
    assert whole.degrees_of_freedom(value) == pytest.approx(divergence, abs=1e-5)


def test_no_degrees_of_freedom(diabetes):
    """Oracle: the message."""
    X, y = diabetes
    with pytest.raises(ValueError, match="degrees of freedom of garrote"):
        garrote_path(X, y, ridge=1.0).degrees_of_freedom(100.0)
    with pytest.raises(ValueError, match="degrees of freedom of svr"):
        chemin.svr_path(X[:20], y[:20]).degrees_of_freedom(1.0)
