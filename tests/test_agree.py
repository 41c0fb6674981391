"""Agrees with others: scikit-learn, a critical-line tracer, a QP solver, closed forms."""

import numpy as np
import pytest
from cvxcla import CLA
from qpsolvers import solve_qp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_moons
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from chemin import lasso_path, svc_path, svr_path

FRACTIONS = [0.7, 0.1, 0.01, 0.001]  # of the start


def classes(n=120):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:n], y[:n]


def numbers(n=100):
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X)[:n], y[:n] / 50


def signs(y):
    return np.where(y == y.max(), 1.0, -1.0)


# ---------------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("weights", ["none", "samples", "classes", "balanced", "both"])
@pytest.mark.parametrize(
    "kernel",
    [{"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}, {"kernel": "rbf"}],
    ids=lambda k: k["kernel"],
)
def test_svc_meets_scikit_learn(kernel, weights):
    """Oracle: LIBSVM, with C = 1/lambda and a tolerance of 1e-10."""
    X, y = classes()
    w = np.random.default_rng(0).uniform(0.2, 3, len(y))
    sample = w if weights in ("samples", "both") else None
    by_class = {"balanced": "balanced", "classes": {0: 2.5}, "both": {0: 0.5, 1: 2.0}}.get(weights)
    gamma = 0.05
    path = svc_path(X, y, **kernel, gamma=gamma, sample_weight=sample, class_weight=by_class)
    for value in path.start * np.array(FRACTIONS):
        model = SVC(C=1 / value, tol=1e-10, **kernel, gamma=gamma, class_weight=by_class)
        model.fit(X, y, sample_weight=sample)
        f = model.decision_function(X)
        ours = path.decision_function(X, value)
        np.testing.assert_allclose(ours, f, atol=1e-5 * max(1.0, np.abs(f).max()))


def test_gamma_scale_is_that_of_scikit_learn():
    """Oracle: LIBSVM with gamma="scale"."""
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    path = svc_path(X, y)
    model = SVC(C=1 / (0.01 * path.start), tol=1e-10).fit(X, y)
    f = model.decision_function(X)
    np.testing.assert_allclose(path.decision_function(X, 0.01 * path.start), f, atol=1e-5)
    np.testing.assert_array_equal(path.predict(X, 0.01 * path.start), model.predict(X))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("along", ["lambda", "epsilon"])
@pytest.mark.parametrize(
    "kernel",
    [{"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0}, {"kernel": "rbf"}],
    ids=lambda k: k["kernel"],
)
def test_svr_meets_scikit_learn(kernel, along, weighted):
    """Oracle: LIBSVM, with C = 1/lambda and a tolerance of 1e-10."""
    X, y = numbers()
    w = np.random.default_rng(0).uniform(0.2, 3, len(y)) if weighted else None
    gamma = 0.05
    path = svr_path(
        X, y, along=along, epsilon=0.3, lambda_=5.0, **kernel, gamma=gamma, sample_weight=w
    )
    for value in path.start * np.array(FRACTIONS):
        s = path.at(value)
        model = SVR(C=1 / s.lambda_, epsilon=s.epsilon, tol=1e-10, **kernel, gamma=gamma)
        f = model.fit(X, y, sample_weight=w).predict(X)
        ours = path.predict(X, value)
        np.testing.assert_allclose(ours, f, atol=1e-5 * max(1.0, np.abs(f).max()))


# ---------------------------------------------------------------------- critical lines


def critical_line(K, y):
    """Turning points of cvxcla: mean 1, covariance K * yy', y'a = 0 and a in [0, 1]."""
    n = len(y)
    solved = CLA(
        mean=np.ones(n),
        covariance=K * np.outer(y, y),
        lower_bounds=np.zeros(n),
        upper_bounds=np.ones(n),
        a=y[None, :],
        b=np.zeros(1),
    )
    return [t for t in solved.turning_points if np.isfinite(t.lamb)]


@pytest.mark.parametrize("gamma", [0.5, 2.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_breakpoints_are_turning_points(gamma, seed):
    """Oracle: cvxcla, breakpoint by breakpoint, on balanced classes in general position."""
    X, y = make_moons(40, noise=0.2, random_state=seed)
    path = svc_path(X, y, kernel="rbf", gamma=gamma, stop=1e-3)
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    theirs = critical_line(K, signs(y))
    lambdas = np.array([t.lamb for t in theirs if t.lamb > 1.001e-3])
    ours = path.breakpoints
    for found, wanted in ((ours, lambdas), (lambdas, ours[ours > 1.001e-3])):
        for value in wanted:
            alpha = path.at(value).alpha
            # With an empty elbow the intercept is free, and so are the events.
            empty = np.all((alpha < 1e-9) | (alpha > 1 - 1e-9))
            assert empty or np.min(np.abs(found / value - 1)) < 1e-7, f"{value!r} is missing"
    for t in theirs:
        if 1e-3 < t.lamb < path.start:
            np.testing.assert_allclose(path.at(t.lamb).alpha, t.weights, atol=1e-7)


# ---------------------------------------------------------------------- a QP solver


def solve_dual(K, y, lam, epsilon=None, w=None):
    """alpha (or beta) without intercept, by an interior-point method."""
    n = len(y)
    w = np.ones(n) if w is None else w
    if epsilon is None:
        Q = K * np.outer(y, y) / lam
        return solve_qp(Q, -np.ones(n), lb=np.zeros(n), ub=w, solver="clarabel", **TIGHT)
    Q = np.block([[K, -K], [-K, K]]) / lam
    q = np.concatenate([epsilon - y, epsilon + y])
    both = np.concatenate([w, w])
    z = solve_qp(Q, q, lb=np.zeros(2 * n), ub=both, solver="clarabel", **TIGHT)
    return z[:n] - z[n:]


TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


@pytest.mark.filterwarnings("ignore::UserWarning")  # dense matrices are converted
@pytest.mark.parametrize("fraction", [0.5, 0.05, 0.005])
@pytest.mark.parametrize("problem", ["svc", "svr"])
def test_without_intercept_meets_a_qp_solver(problem, fraction):
    """Oracle: Clarabel on the dual; scikit-learn has no machine without intercept."""
    X, y = classes(50) if problem == "svc" else numbers(50)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    options = {"kernel": "precomputed", "intercept": False, "sample_weight": w}
    if problem == "svc":
        path, s, epsilon = svc_path(K, y, **options), signs(y), None
    else:
        path, s, epsilon = svr_path(K, y, epsilon=0.3, **options), y, 0.3
    value = fraction * path.start
    dual = solve_dual(K, s, value, epsilon, w)
    f = K @ (dual * s if problem == "svc" else dual) / value
    np.testing.assert_allclose(path.decision_function(K, value), f, atol=1e-5)


# ---------------------------------------------------------------------- closed forms


@pytest.mark.parametrize("distance", [0.1, 1.0, 30.0])
def test_two_points(distance):
    """Oracle: by hand. alpha = min(1, 2 lambda / d^2), b = -(x1 + x2)/2 w."""
    X = np.array([[2.0], [2.0 + distance]])
    path = svc_path(X, ["no", "yes"], kernel="linear")
    top = distance**2 / 2
    assert path.start == pytest.approx(top)
    for value in top * np.array([0.9, 0.1, 1e-3]):
        s = path.at(value)
        np.testing.assert_allclose(s.alpha, 2 * value / distance**2, rtol=1e-10)
        # The hard margin: f runs from -1 to 1.
        np.testing.assert_allclose(path.decision_function(X, value), [-1, 1], rtol=1e-10)
        assert s.objective == pytest.approx(value / 2 * (2 / distance) ** 2)
    s = path.at(3 * top)
    np.testing.assert_array_equal(s.alpha, 1.0)
    # f rises by slope d between the points, which is less than 2: b may move by the rest.
    slope = distance / (3 * top)
    low, high = s.intercept_interval
    assert high - low == pytest.approx(2 * (1 - slope * distance / 2))
    assert s.intercept == pytest.approx(0.5 * (low + high))
    assert path.decision_function([[2.0 + distance / 2]], 3 * top) == pytest.approx(0, abs=1e-9)


def test_two_targets():
    """Oracle: by hand. Two points d apart and dy high: the flattest line within the tube."""
    X, y, epsilon = np.array([[0.0], [2.0]]), np.array([1.0, 5.0]), 0.5
    path = svr_path(X, y, kernel="linear", epsilon=epsilon)
    slope = (4 - 2 * epsilon) / 2
    assert path.start == pytest.approx(2 / slope)  # beta = 1: |w| = d/lambda
    np.testing.assert_allclose(path.predict(X, 0.01 * path.start), [1.5, 4.5])
    wide = path.predict(X, 2 * path.start)
    assert wide[1] - wide[0] == pytest.approx(slope)  # half the slope, over d = 2


@pytest.mark.parametrize("intercept", [False, True])
def test_lasso_on_orthonormal_columns_is_soft_thresholding(intercept):
    """Oracle: the closed form b_j = sign(c_j) max(0, |c_j| - lambda), c = X'y."""
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(30, 6))
    X = np.linalg.qr(raw - raw.mean(axis=0) if intercept else raw)[0]
    y = rng.normal(size=30) + 4.0 * intercept
    c = X.T @ y
    path = lasso_path(X, y, intercept=intercept, stop=0)
    np.testing.assert_allclose(path.breakpoints, np.sort(np.abs(c))[::-1], rtol=1e-10)
    for value in [0.0, 0.1, 0.5, 1.0, 5.0]:
        soft = np.sign(c) * np.maximum(0, np.abs(c) - value)
        np.testing.assert_allclose(path.at(value).coef, soft, atol=1e-12)


def test_lasso_ends_in_least_squares():
    """Oracle: least squares."""
    X, y = load_diabetes(return_X_y=True)
    s = lasso_path(X, y, stop=0).at(0)
    ones = np.column_stack([X, np.ones(len(y))])
    np.testing.assert_allclose([*s.coef, s.intercept], np.linalg.lstsq(ones, y)[0], rtol=1e-7)
