"""nu-SVR and one-class SVM: exact on real data, and as scikit-learn and the theory have it."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.svm import NuSVR, OneClassSVM

from chemin import nu_svr_path, one_class_path, svr_path
from chemin.datasets import make_sinexp
from contract import assert_exact, assert_walked

ROWS = 150  # of the larger sets, for `make test`
NUS = [0.01, 0.1, 0.5, 0.75, 0.99]
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "coef0": 1.0},
    "wide": {"kernel": "rbf", "gamma": 0.05},
    "narrow": {"kernel": "rbf", "gamma": 5.0},
}
SETS = ["sinexp", "diabetes", "boston", "mpg_scale", "abalone_scale"]


@pytest.fixture
def load(load_data):
    """A function from a name and a number of rows to features and target."""

    def load(name, rows=ROWS):
        if name == "sinexp":
            X, y = make_sinexp(rows, 0)
            return 3.2 * X, y  # "narrow" is the width of the paper, 0.1
        if name == "diabetes":
            X, y = load_diabetes(return_X_y=True)
        else:
            stored = load_data(name)
            X, y = stored.data, stored.target
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:rows])
        X, y = X[chosen], y[chosen]
        return X if name.endswith("_scale") else (X - X.mean(axis=0)) / X.std(axis=0), y

    return load


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_exact_in_lambda(load, name, kernel):
    """Oracle: the certificate, at breakpoints, midpoints, random values and above."""
    X, y = load(name)
    for nu in NUS:
        assert_walked(nu_svr_path(X, y, nu=nu, **KERNELS[kernel]), n_random=50)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SETS)
def test_exact_in_nu(load, name, kernel):
    """Oracle: the certificate; and the path upward meets the one downward."""
    X, y = load(name)
    lambda_ = 1.0 / y.std()
    down = nu_svr_path(X, y, along="nu", lambda_=lambda_, **KERNELS[kernel])
    assert_walked(down, n_random=50)
    up = nu_svr_path(X, y, along="nu", lambda_=lambda_, start=0.01, stop=1.0, **KERNELS[kernel])
    assert_walked(up, above=False, n_random=50)
    values = np.linspace(0.01, 1.0, 23)
    f, g = (p.decision_function(X, values) for p in (down, up))
    np.testing.assert_allclose(f, g, atol=1e-7 * np.abs(f).max())


@pytest.mark.stress
@pytest.mark.parametrize("nu", NUS)
@pytest.mark.parametrize("kernel", ["linear", "wide", "narrow"])
def test_large(load_data, kernel, nu):
    """Oracle: the certificate. The first 2000 rows of abalone."""
    data = load_data("abalone_scale")
    assert_walked(nu_svr_path(data.data[:2000], data.target[:2000], nu=nu, **KERNELS[kernel]))


@pytest.mark.stress
@pytest.mark.parametrize("nu", NUS)
def test_large_curve(nu):
    """Oracle: the certificate. sin(exp(3x)) with 1500 points and width 0.1."""
    X, y = make_sinexp(1500, 0)
    assert_walked(nu_svr_path(X, y, nu=nu, gamma=50.0))


@pytest.mark.parametrize("with_copies", [False, True])
@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
def test_ties_and_copies(nu, with_copies):
    """Oracle: the certificate. Few different targets, and rows that repeat."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60).astype(float)
    if with_copies:
        X[30:] = X[:30]
    for kernel in KERNELS.values():
        assert_walked(nu_svr_path(X, y, nu=nu, **kernel), n_random=50)
        along = {"along": "nu", "lambda_": 0.1}
        assert_walked(nu_svr_path(X, y, **along, **kernel), n_random=50)


# ---------------------------------------------------------------------- others


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.75])
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_scikit_learn(load, nu, weighted):
    """Oracle: NuSVR at a tight tolerance, C = 1/lambda. The tube: its points on the edge."""
    X, y = load("boston")
    w = np.random.default_rng(0).integers(1, 4, len(y)).astype(float) if weighted else None
    path = nu_svr_path(X, y, nu=nu, gamma=0.05, sample_weight=w)
    for value in path.start * np.array([0.5, 0.05, 0.005]):
        other = NuSVR(nu=nu, C=1 / value, gamma=0.05, tol=1e-10).fit(X, y, w)
        s = path.at(value)
        low, high = s.intercept_interval
        if high - low > 1e-9:  # any intercept in there is as good
            assert low - 1e-5 <= other.intercept_[0] <= high + 1e-5
        else:
            np.testing.assert_allclose(s.intercept, other.intercept_[0], atol=1e-5 * y.std())
        f, g = path.predict(X, value) - s.intercept, other.predict(X) - other.intercept_[0]
        np.testing.assert_allclose(f, g, atol=1e-5 * y.std())
        if high - low > 1e-9:
            continue
        beta = np.zeros(len(y))
        beta[other.support_] = other.dual_coef_[0] * value
        box = np.ones(len(y)) if w is None else w
        free = (np.abs(beta) > 1e-4) & (np.abs(beta) < box - 1e-4)
        width = np.abs(y - other.predict(X))[free]
        np.testing.assert_allclose(width, s.epsilon, atol=1e-5 * y.std())
        assert s.nu == nu and s.lambda_ == pytest.approx(value)


def test_one_class_labels_agree_with_its_own_f():
    """Oracle: the sign of f, with 0 inside, and OneClassSVM away from the boundary."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    path = one_class_path(X, gamma=0.5)
    f, labels = path.decision_function(X, 0.3), path.predict(X, 0.3)
    assert np.any(f == 0)  # points on the boundary, to round-off
    np.testing.assert_array_equal(labels, np.where(f >= 0, 1, -1))
    away = np.abs(f) > 1e-3
    other = OneClassSVM(nu=0.3, gamma=0.5, tol=1e-9).fit(X)
    np.testing.assert_array_equal(labels[away], other.predict(X)[away])
    assert "nu=0.3" in repr(path.at(0.3)) and "in nu" in repr(path)


def test_one_class_agrees_with_scikit_learn(load):
    """Oracle: OneClassSVM at a tight tolerance."""
    X, _ = load("boston")
    path = one_class_path(X, gamma=0.05)
    for nu in (0.03, 0.2, 0.7):
        other = OneClassSVM(nu=nu, gamma=0.05, tol=1e-10).fit(X)
        np.testing.assert_allclose(
            path.decision_function(X, nu), other.decision_function(X), atol=1e-6
        )
        clear = np.abs(other.decision_function(X)) > 1e-5
        np.testing.assert_array_equal(path.predict(X, nu)[clear], other.predict(X)[clear])


# ---------------------------------------------------------------------- theory


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    nu=st.floats(0.02, 1.0),
    fraction=st.sampled_from([0.5, 0.05, 0.005]),
    weighted=st.booleans(),
)
def test_nu_bounds_the_fractions(seed, nu, fraction, weighted):
    """Oracle: theory. Errors weigh at most nu W, support vectors at least nu W if the tube is open;
    and nu W is the sum of the multipliers then, more where it is closed.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=25)
    w = rng.integers(1, 4, 25).astype(float) if weighted else np.ones(25)
    path = nu_svr_path(X, y, nu=nu, gamma=0.5, sample_weight=w)
    s = path.at(fraction * path.start)
    r = np.abs(y - path.predict(X, fraction * path.start))
    outside = r > s.epsilon + 1e-9
    share = nu * w.sum()
    assert w[outside].sum() <= share + 1e-7
    assert np.abs(s.alpha).sum() <= share + 1e-7
    if s.epsilon > 1e-9:
        assert w[np.abs(s.alpha) > 0].sum() >= share - 1e-7
        assert np.abs(s.alpha).sum() == pytest.approx(share, rel=1e-9)


def test_the_tube_closes_and_says_where():
    """Oracle: epsilon itself. Beyond that nu it is zero and nothing changes any more."""
    X, y = make_sinexp(80, 0, noise=0.2)
    path = nu_svr_path(X, y, along="nu", lambda_=0.3, gamma=30.0)
    (top, opens), *rest = path.closed_tube
    assert top == 1.0 and not rest and opens == path.start
    assert path.at(1.0).epsilon == 0.0 and path.at(0.99 * opens).epsilon > 0
    np.testing.assert_allclose(path.at(1.0).coef, path.at(opens).coef, atol=1e-12)
    assert np.abs(path.at(1.0).alpha).sum() / 80 == pytest.approx(opens)
    assert f"tube closed from 1 to {opens:.4g}" in repr(path)


def test_closed_stretches_of_lambda():
    """Oracle: epsilon itself, in the middle of every stretch and outside of them."""
    X, y = make_sinexp(60, 0)
    path = nu_svr_path(X, y, nu=0.9, gamma=11.0)
    assert_exact(path)
    spans = path.closed_tube
    values = np.geomspace(path.start, path.stop, 301)
    closed = np.any([(values <= a) & (values >= b) for a, b in spans], axis=0)
    edges = np.min(np.abs(values[:, None] / spans.ravel() - 1), axis=1) < 1e-6
    for value, inside, edge in zip(values, closed, edges):
        assert edge or (path.at(value).epsilon <= 1e-12) == inside
    with pytest.raises(AttributeError, match="no tube"):
        _ = svr_path(X, y).closed_tube


@pytest.mark.parametrize("intercept", [True, False])
def test_a_tube_that_holds_everything_explains_itself(intercept):
    """Oracle: the words of the path."""
    X, y = make_sinexp(30, 0)
    path = svr_path(X, y, epsilon=1.5, intercept=intercept)
    assert not path.at(path.start).coef.any()
    assert "every coefficient is zero" in path.reason and "epsilon = 1.5" in path.reason
    assert "zero" not in svr_path(X, y, epsilon=0.1, intercept=intercept).reason


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.5, np.nan, "half", None])
def test_nu_outside_its_range(nu):
    """Oracle: the error's words."""
    X, y = make_sinexp(20, 0)
    with pytest.raises(ValueError, match="nu"):
        nu_svr_path(X, y, nu=nu)
    for name in ("start", "stop"):
        if nu not in (0.0, None):
            with pytest.raises(ValueError, match=name):
                nu_svr_path(X, y, along="nu", **{name: nu})


def test_values_beyond_one():
    """Oracle: the error's words."""
    X, y = make_sinexp(20, 0)
    for path in (nu_svr_path(X, y, along="nu"), one_class_path(X)):
        with pytest.raises(ValueError, match="outside the walked range"):
            path.at(1.1)
    with pytest.raises(ValueError, match="along"):
        nu_svr_path(X, y, along="epsilon")


def test_a_tube_that_opens_in_a_moment():
    """Oracle: the certificate. Copies but for 1e-9 open the tube within round-off of nu: above it
    is closed, and does not go on to open at that pace.
    """
    X = [
        [1.3073276991937433, 1.289986249748821, 0.21836265266545232, -1.329307331507726],
        [2.1314722202465206, -0.13859423930406342, 0.3043407826273393, -1.2574542730892608],
        [2.1314722202085594, -0.13859423960380562, 0.3043407835044063, -1.25745427342572],
        [1.3073276984792472, 1.28998625168922, 0.2183626498279461, -1.3293073322261195],
        [1.3073276979291633, 1.2899862479218105, 0.21836265246895367, -1.3293073315590642],
        [1.4924366349371978, 2.093779385650105, -0.5228096407479363, -1.8429442691468911],
        [1.492436634309646, 2.093779384673817, -0.5228096391223573, -1.8429442694376046],
    ]
    y = [0.0, 1.0, 0.0, 1.0, 0.0, 2.0, 0.0]
    path = nu_svr_path(X, y, along="nu", lambda_=0.1, gamma=10.0)
    assert path.complete
    assert path.closed_above
    above = path.start * (1.0 + np.array([1e-9, 1e-6, 1e-3, 1e-2]))
    assert np.all(path.certificate(above).exact)
