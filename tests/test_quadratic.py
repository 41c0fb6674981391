"""Losses with quadratic pieces: paths that are rational in lambda, against solvers from outside."""

from functools import partial

import numpy as np
import pytest
from qpsolvers import solve_qp
from scipy.optimize import minimize, minimize_scalar
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from chemin import (
    PathQuadraticSVC,
    expectile_path,
    kernel_ridge_path,
    quadratic_svc_path,
    quadratic_svr_path,
    svc_path,
    svr_path,
)
from chemin.engine.krylov import KrylovWalker
from chemin.engine.rational import RationalWalker
from chemin.engine.reference import Walker
from chemin.problems import Loss, QuadraticSVC, Rows
from contract import LABELS as LABELLED
from contract import NUMBERS, assert_walked, between, make_data, make_tied, walked_values
from test_leave_one_out import retrained

GAMMA = 0.3
with_and_without = pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
converted = pytest.mark.filterwarnings("ignore::UserWarning")  # dense matrices are converted


def labels(n=40):
    X, y = make_data(LABELLED, n)
    return X, y, np.where(y == 1, 1.0, -1.0)


def solved(K, slope, value, lam, intercept):
    """f at the points by a quasi-Newton method on coefficients: a smooth convex problem."""
    n = len(K)
    root = np.linalg.cholesky(K + 1e-13 * np.eye(n))

    def target(x):
        c, b = x[:n], x[n] * intercept
        f = root @ c + b
        g = slope(f)
        gradient = np.append(lam * c + root.T @ g, intercept * g.sum())
        return 0.5 * lam * c @ c + value(f).sum(), gradient

    options = {"maxiter": 20000, "maxfun": 200000, "ftol": 1e-18, "gtol": 1e-12, "maxcor": 60}
    x = minimize(target, np.zeros(n + 1), jac=True, method="L-BFGS-B", options=options).x
    return root @ x[:n] + x[n] * intercept


def dual(K, s, lam, rho, most, soft, intercept):
    """min a'(Q/lambda + diag(soft))a / 2 - rho 1'a, 0 <= a <= most, by a QP solver."""
    n, tight = len(s), {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}
    sum_to_zero = {"A": s[None], "b": np.zeros(1)} if intercept else {}
    P, box = s[:, None] * s * K / lam + np.diag(soft), {"lb": np.zeros(n), "ub": most}
    return solve_qp(P, np.full(n, -rho), **sum_to_zero, **box, solver="clarabel", **tight)


def meets(path, X, lam, f, tolerance=2e-6):
    np.testing.assert_allclose(path.decision_function(X, lam), f, atol=tolerance)


# ---------------------------------------------------------------------- solvers from outside


@with_and_without
@pytest.mark.parametrize("rho, h", [(1.0, np.inf), (1.1, 0.2), (0.7, 1.5)])
def test_svc_meets_a_solver(rho, h, intercept):
    """Oracle: L-BFGS on the smooth primal problem."""
    X, y, s = labels()
    path = quadratic_svc_path(X, y, rho=rho, h=h, gamma=GAMMA, intercept=intercept)
    K = rbf_kernel(X, gamma=GAMMA)

    def value(f):
        u = np.maximum(rho - s * f, 0.0)
        return 0.5 * np.where(u < h, u**2, 2 * min(h, 1e9) * u - min(h, 1e9) ** 2)

    def slope(f):
        return -s * np.clip(rho - s * f, 0.0, h)

    for part in (0.5, 0.03, 0.002):
        lam = between(path, part)
        meets(path, X, lam, solved(K, slope, value, lam, intercept))


@with_and_without
@pytest.mark.parametrize("epsilon, h", [(0.3, np.inf), (0.3, 0.5), (0.0, 0.5)])
def test_svr_meets_a_solver(epsilon, h, intercept):
    """Oracle: L-BFGS on the smooth primal problem."""
    X, y = make_data(NUMBERS)
    path = quadratic_svr_path(X, y, epsilon=epsilon, h=h, gamma=GAMMA, intercept=intercept)
    K = rbf_kernel(X, gamma=GAMMA)

    def value(f):
        u = np.maximum(np.abs(y - f) - epsilon, 0.0)
        return 0.5 * np.where(u < h, u**2, 2 * min(h, 1e9) * u - min(h, 1e9) ** 2)

    def slope(f):
        return -np.sign(y - f) * np.clip(np.abs(y - f) - epsilon, 0.0, h)

    for part in (0.5, 0.03, 0.002):
        lam = between(path, part)
        meets(path, X, lam, solved(K, slope, value, lam, intercept), 1e-5)


@with_and_without
@pytest.mark.parametrize("tau", [0.1, 0.5, 0.8])
def test_expectile_meets_a_solver(tau, intercept):
    """Oracle: L-BFGS on the smooth primal problem."""
    X, y = make_data(NUMBERS)
    path = expectile_path(X, y, tau=tau, gamma=GAMMA, intercept=intercept)
    K = rbf_kernel(X, gamma=GAMMA)

    def slope(f):
        return -np.where(y > f, tau, 1 - tau) * (y - f)

    def value(f):
        return 0.5 * np.where(y > f, tau, 1 - tau) * (y - f) ** 2

    for part in (0.5, 0.03, 0.002):
        lam = between(path, part)
        meets(path, X, lam, solved(K, slope, value, lam, intercept), 1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_ridge_is_that_of_sklearn(weighted):
    """Oracle: sklearn's KernelRidge, which has no intercept; there are no events."""
    X, y = make_data(NUMBERS)
    w = np.random.default_rng(0).uniform(0.1, 3, len(y)) if weighted else None
    path = kernel_ridge_path(X, y, gamma=GAMMA, intercept=False, sample_weight=w)
    assert path.n_events == 0
    assert_walked(path)
    for lam in np.geomspace(path.stop, path.start, 7):
        theirs = KernelRidge(alpha=lam, kernel="rbf", gamma=GAMMA).fit(X, y, sample_weight=w)
        meets(path, X, lam, theirs.predict(X), 1e-9)


def test_kernel_ridge_with_an_intercept_is_a_bordered_system():
    """Oracle: (K + lambda) alpha + b = y, sum alpha = 0, solved directly."""
    X, y = make_data(NUMBERS)
    path = kernel_ridge_path(X, y, gamma=GAMMA)
    assert_walked(path)
    K, n = rbf_kernel(X, gamma=GAMMA), len(y)
    for lam in np.geomspace(path.stop, path.start, 7):
        A = np.block([[K + lam * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        x = np.linalg.solve(A, np.append(y, 0.0))
        s = path.at(lam)
        np.testing.assert_allclose(s.coef, x[:n], atol=1e-9 * np.abs(x).max())
        assert s.intercept == pytest.approx(x[n], rel=1e-10)


def test_squared_hinge_meets_liblinear():
    """Oracle: liblinear on a square root of K. It has |w|^2 / 2 and no half before the losses."""
    X, y, _ = labels()
    path = quadratic_svc_path(X, y, gamma=GAMMA)
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=GAMMA))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    for part in (0.3, 0.03, 0.005):
        lam = between(path, part)
        model = LinearSVC(
            loss="squared_hinge", dual=True, fit_intercept=False, C=1 / (2 * lam), tol=1e-9,
            max_iter=5_000_000,
        )  # fmt: skip
        meets(path, X, lam, model.fit(root, y).decision_function(root), 1e-7)


@converted
@with_and_without
@pytest.mark.parametrize("rho, h", [(1.0, np.inf), (1.1, 0.2)])
def test_svc_meets_a_qp_solver(rho, h, intercept):
    """Oracle: Clarabel on the dual, with weights."""
    X, y, s = labels()
    w = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    path = quadratic_svc_path(X, y, rho=rho, h=h, gamma=GAMMA, intercept=intercept, sample_weight=w)
    K = rbf_kernel(X, gamma=GAMMA)
    for part in (0.5, 0.03, 0.002):
        lam = between(path, part)
        alpha = dual(K, s, lam, rho, w * min(h, 10.0), 1.0 / w, intercept)
        np.testing.assert_allclose(path.at(lam).alpha, alpha, atol=1e-7)


def test_more_accurate_than_smo_at_every_event():
    """Oracle: SMO stopped at 1e-6, from the solution at the event before; its violations."""
    X, y, s = labels()
    rho, h = 1.1, 0.2
    path = quadratic_svc_path(X, y, rho=rho, h=h, gamma=GAMMA)
    Q, alpha = s[:, None] * s * rbf_kernel(X, gamma=GAMMA), np.full(len(y), h)
    assert len(path) > 50

    def violation(lam, alpha):
        return np.abs(alpha - np.clip(rho - Q @ alpha / lam, 0.0, h))

    for lam in path.breakpoints:
        gradient, diagonal = Q @ alpha / lam + alpha - rho, Q.diagonal() / lam + 1.0
        while np.max(off := np.abs(alpha - np.clip(alpha - gradient, 0.0, h))) > 1e-6:
            i = np.argmax(off)
            step = np.clip(alpha[i] - gradient[i] / diagonal[i], 0.0, h) - alpha[i]
            alpha[i] += step
            gradient += step / lam * Q[i]
            gradient[i] += step
        ours, theirs = (violation(lam, a).max() for a in (path.at(lam).alpha, alpha))
        assert ours <= max(1e-3 * theirs, 1e-15)  # SMO is exact with one multiplier to move


def test_expectile_at_a_half_is_kernel_ridge():
    """Oracle: kernel ridge with half the weights."""
    X, y = make_data(NUMBERS)
    path = expectile_path(X, y, tau=0.5, gamma=GAMMA)
    ridge = kernel_ridge_path(X, y, gamma=GAMMA, sample_weight=np.full(len(y), 0.5))
    values = np.geomspace(max(path.stop, ridge.stop), min(path.start, ridge.start), 9)
    f, g = path.decision_function(X, values), ridge.decision_function(X, values)
    np.testing.assert_allclose(f, g, atol=1e-10)


def test_a_wide_h_is_the_squared_hinge():
    """Oracle: the squared hinge. With h beyond every margin nothing is linear."""
    X, y, _ = labels()
    wide = quadratic_svc_path(X, y, h=100.0, gamma=GAMMA)
    squared = quadratic_svc_path(X, y, gamma=GAMMA)
    np.testing.assert_allclose(wide.breakpoints, squared.breakpoints, rtol=1e-11)


def test_a_narrow_h_is_the_svm():
    """Oracle: the C-SVM. The Huber hinge, divided by h, tends to the hinge as h falls."""
    X, y, _ = labels()
    h, lam = 1e-7, 0.05
    huber = quadratic_svc_path(X, y, h=h, gamma=GAMMA, stop=0.5 * lam * h, intercept=True)
    svm = svc_path(X, y, gamma=GAMMA, stop=0.5 * lam)
    np.testing.assert_allclose(
        huber.decision_function(X, lam * h), svm.decision_function(X, lam), atol=1e-5
    )


# ---------------------------------------------------------------------- exact, on anything

CURVED = [
    partial(quadratic_svc_path, rho=1.1, h=0.2),
    quadratic_svc_path,
    partial(quadratic_svr_path, epsilon=0.1, h=0.5),
    quadratic_svr_path,
    partial(expectile_path, tau=0.2),
    kernel_ridge_path,
]
every_loss = pytest.mark.parametrize(
    "make", CURVED, ids=["huber hinge", "hinge", "huber tube", "tube", "expectile", "ridge"]
)


def targets(make, y):
    return y if getattr(make, "func", make) is quadratic_svc_path else y + 0.3 * np.arange(len(y))


@every_loss
@with_and_without
def test_ten_times_what_certificates_ask_for(make, intercept):
    """Oracle: certificates at every event, between them and at 200 random values: 1e-10."""
    X, y, _ = labels(60)
    path = make(X, targets(make, y), gamma=GAMMA, intercept=intercept)
    assert path.complete
    c = path.certificate(walked_values(path, n_random=200))
    for off in (c.kkt_violation, np.abs(c.relative_gap)):
        assert np.all(off <= np.maximum(1e-10, 50 * c.floor))


def two_classes_at_each_point(rng):
    return np.repeat(rng.normal(size=(10, 2)), 2, axis=0), np.tile([0, 1], 10), {"gamma": 0.5}


def constant_features(rng):
    return np.column_stack([rng.normal(size=20), np.full((20, 2), 3.0)]), rng.integers(0, 2, 20), {}


def only_constant_features(rng):
    return np.full((20, 3), 2.0), rng.integers(0, 2, 20), {"kernel": "linear"}


def pairs_of_neighbours(rng):
    X = np.repeat(rng.normal(size=(10, 2)), 2, axis=0)
    return X + 1e-7 * rng.normal(size=X.shape), rng.integers(0, 2, 20), {"gamma": 0.5}


def flat_kernel(rng):
    return rng.normal(size=(20, 2)), rng.integers(0, 2, 20), {"gamma": 1e-5}


def copies(rng):
    pick = rng.integers(0, 6, 20)
    return rng.normal(size=(6, 3))[pick], (pick % 2), {"kernel": "poly", "degree": 3, "coef0": 1.0}


@every_loss
@with_and_without
@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(
    "data",
    [
        *(two_classes_at_each_point, constant_features, only_constant_features),
        *(pairs_of_neighbours, flat_kernel, copies),
    ],
)
def test_down_to_a_tiny_lambda(make, intercept, data, engine, monkeypatch):
    """Oracle: the certificate. Complete down to 1e-8, or stopped for round-off and saying so."""
    monkeypatch.setenv("CHEMIN_ENGINE", engine)
    for seed in range(3):
        X, y, options = data(np.random.default_rng(seed))
        y[:2] = 0, 1
        path = make(X, targets(make, y), intercept=intercept, stop=1e-8, **options)
        assert_walked(path, blind=True)


# ---------------------------------------------------------------------- kinks and ramps


@pytest.fixture
def mixed(monkeypatch):
    """quadratic_svc_path with a loss of its own: a hinge for one class, Huber's for the other."""

    def declare(self, y, given):
        slopes, softness = (-1.0 * given["h"], 0.0), np.where(y > 0, 0.0, 1.0)
        loss = Loss(1.0, offsets=(given["rho"] - 1.0,), slopes=slopes, softness=softness)
        return Rows(loss, y[:, 0], self.constant(y[:, 0]))

    monkeypatch.setattr(QuadraticSVC, "declare", declare)
    return partial(quadratic_svc_path, rho=1.1, h=0.5)


@pytest.mark.parametrize("kernel", [{"gamma": GAMMA}, {"kernel": "linear"}], ids=["rbf", "linear"])
@pytest.mark.parametrize("data", [make_data, make_tied])
@with_and_without
def test_mixed_losses_are_walked(mixed, data, kernel, intercept):
    """Oracles: certificates, also of turns; the reference; retraining for leave-one-out."""
    X, y = data(LABELLED)
    options = {"intercept": intercept, **kernel}
    path = mixed(X, y, **options)
    assert path.complete
    assert_walked(path)
    values = np.array([between(path, part) for part in (0.7, 0.1, 0.01)])
    rows = np.arange(0, len(y), 4)
    f = retrained(mixed, X, y, None, values, rows, **options)
    np.testing.assert_allclose(path.leave_one_out(values)[rows], f, atol=1e-9)
    wider = path.turn("h", at=values[1], stop=0.9)
    for part in (wider, wider.turn("rho", at=0.9, stop=0.7)):
        assert part.complete
        assert_walked(part, above=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHEMIN_ENGINE", "reference")
        slow = mixed(X, y, **options)
    same = path.decision_function(X, values), slow.decision_function(X, values)
    np.testing.assert_allclose(*same, atol=1e-9)


@converted
@with_and_without
def test_mixed_losses_meet_a_qp_solver(mixed, intercept):
    """Oracle: Clarabel on the dual."""
    X, y, s = labels()
    path, K = mixed(X, y, gamma=GAMMA, intercept=intercept), rbf_kernel(X, gamma=GAMMA)
    for part in (0.5, 0.03, 0.002):
        lam = between(path, part)
        alpha = dual(K, s, lam, 1.1, np.full(len(y), 0.5), np.where(s > 0, 0.0, 1.0), intercept)
        np.testing.assert_allclose(path.at(lam).alpha, alpha, atol=1e-7)


# ---------------------------------------------------------------------- starts


def test_the_huber_start_is_known():
    """Oracle: closed form. Without an intercept all are at h for lambda >= h max(Q1)/(rho - h)."""
    X, y, s = labels()
    path = quadratic_svc_path(X, y, rho=1.1, h=0.2, gamma=GAMMA)
    Q = s[:, None] * s * rbf_kernel(X, gamma=GAMMA)
    assert path.start == pytest.approx(0.2 * Q.sum(axis=1).max() / 0.9, rel=1e-12)
    assert path.closed_above
    np.testing.assert_allclose(path.at(10 * path.start).alpha, 0.2, rtol=1e-12)


def test_the_huber_start_with_an_intercept():
    """Oracle: closed forms. Balanced: all at h, and an interval of intercepts; else the minority at
    h, and the majority, f = 0, on the slope at h n_min/n_maj.
    """
    X, rho, h = np.random.default_rng(0).normal(size=(20, 3)), 1.1, 0.2
    options = {"rho": rho, "h": h, "gamma": GAMMA, "intercept": True}
    s = np.tile([-1.0, 1.0], 10)
    path = quadratic_svc_path(X, s, **options)
    assert path.closed_above
    solution = path.at(2.0 * path.start)
    f = h * rbf_kernel(X, gamma=GAMMA) @ s / (2.0 * path.start)
    ends = (-(rho - h) - f[s < 0]).max(), (rho - h - f[s > 0]).min()
    np.testing.assert_allclose(solution.alpha, h, rtol=1e-12)
    np.testing.assert_allclose(solution.intercept_interval, ends, rtol=1e-12)
    minority = np.arange(20) < 6
    top = quadratic_svc_path(X, minority, **options, start=1e9).at(1e9)
    np.testing.assert_allclose(top.alpha, np.where(minority, h, h * 6 / 14), rtol=1e-6)
    assert top.intercept == pytest.approx(h * 6 / 14 - rho, rel=1e-6)


@pytest.mark.parametrize("h", [np.inf, 3.0])
def test_all_are_on_the_slope_at_the_start(h):
    """Oracle: closed form. (Q + lambda) alpha = lambda rho."""
    X, y, s = labels()
    path = quadratic_svc_path(X, y, h=h, gamma=GAMMA)
    Q = s[:, None] * s * rbf_kernel(X, gamma=GAMMA)
    alpha = np.linalg.solve(Q + path.start * np.eye(len(y)), np.full(len(y), path.start))
    np.testing.assert_allclose(path.at(path.start).alpha, alpha, rtol=1e-12)


@pytest.mark.parametrize(
    "make", [quadratic_svc_path, quadratic_svr_path, expectile_path, kernel_ridge_path]
)
def test_where_nothing_happens_the_range_is_the_usual_one(make):
    """Oracle: the constant that is best. With equal points and an intercept f never moves."""
    X, y = np.full((12, 2), 7.0), np.arange(12) % 3 > 0
    path = make(X, y if make is quadratic_svc_path else y.astype(float), intercept=True)
    assert path.complete and path.n_events == 0 and path.stop == pytest.approx(1e-4 * path.start)
    values = np.geomspace(path.stop, path.start, 5)
    assert path.certificate(values).exact.all()
    expected = 1 / 3 if make is quadratic_svc_path else 2 / 3
    if make is not quadratic_svr_path:  # it has a tube
        np.testing.assert_allclose(path.decision_function(X, values), expected, atol=1e-9)


# ---------------------------------------------------------------------- the two walks


@pytest.mark.parametrize("h", [np.inf, 0.2])
@with_and_without
def test_krylov_meets_the_reference(h, intercept):
    """Oracle: the reference, by eigendecompositions: the same events."""
    X, y, _ = labels(120)
    options = {"h": h, "rho": 1.1, "gamma": GAMMA, "intercept": intercept}
    fast = quadratic_svc_path(X, y, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHEMIN_ENGINE", "reference")
        slow = quadratic_svc_path(X, y, **options)
    for name in ("variable", "from", "to"):
        np.testing.assert_array_equal(fast.events[name], slow.events[name])
    np.testing.assert_allclose(fast.breakpoints, slow.breakpoints, rtol=1e-10)
    few, all_ = (np.diff(p._trace.moves.poles).max() for p in (fast, slow))
    assert few < all_ / 3


def test_early_stop_changes_nothing_but_the_work(monkeypatch):
    """Oracle: the same search to the end of every function."""
    X, y, _ = labels(80)
    tally = []  # of the walks up and down, twice

    def walk(early):
        made = RationalWalker.__init__

        def remember(self, *args):
            made(self, *args)
            self.search.early_stop = early
            if isinstance(self, KrylovWalker):
                tally.append(self.search)

        with monkeypatch.context() as patch:
            patch.setattr(RationalWalker, "__init__", remember)
            return quadratic_svc_path(X, y, rho=1.1, h=0.2, gamma=GAMMA)

    some, every = walk(True), walk(False)
    np.testing.assert_allclose(some.breakpoints, every.breakpoints, rtol=1e-12)
    steps = [search.steps / search.functions for search in tally if search.functions]
    assert 1.0 <= steps[0] < 1.3 < steps[1]


# ---------------------------------------------------------------------- turns


@pytest.mark.parametrize("data", [make_data, make_tied])
@with_and_without
def test_around_a_rectangle_of_h_and_rho(data, intercept):
    """Oracle: the solution at which the chain began; and certificates all the way."""
    X, y = data(LABELLED)
    path = quadratic_svc_path(X, y, rho=1.1, h=0.4, gamma=GAMMA, intercept=intercept)
    begin = between(path, 0.05)
    chain = [path.turn("h", at=begin, stop=0.9)]
    chain.append(chain[-1].turn("rho", at=0.9, stop=0.6))
    chain.append(chain[-1].turn("lambda", at=0.6, stop=begin / 3))
    chain.append(chain[-1].turn("h", at=chain[-1].stop, stop=0.4))
    chain.append(chain[-1].turn("rho", at=0.4, stop=1.1))
    chain.append(chain[-1].turn("lambda", at=1.1, stop=begin))
    for part in chain:
        assert part.complete, part.reason
        assert_walked(part, above=False, n_random=50)
    f, g = path.decision_function(X, begin), chain[-1].decision_function(X, begin)
    np.testing.assert_allclose(f, g, atol=1e-9)


def test_turns_of_the_svr():
    """Oracle: a path at the tube and the h turned to."""
    X, y = make_data(NUMBERS)
    path = quadratic_svr_path(X, y, epsilon=0.3, h=0.8, gamma=GAMMA)
    lam = between(path, 0.05)
    wider = path.turn("epsilon", at=lam, stop=0.7)
    steeper = wider.turn("h", at=0.7, stop=2.0)
    for part in (wider, steeper):
        assert_walked(part, above=False)
    direct = quadratic_svr_path(X, y, epsilon=0.7, h=2.0, gamma=GAMMA, stop=0.9 * lam)
    f, g = steeper.decision_function(X, 2.0), direct.decision_function(X, lam)
    np.testing.assert_allclose(f, g, atol=1e-9)


def test_an_infinite_h_does_not_move():
    X, y, _ = labels()
    path = quadratic_svc_path(X, y, gamma=GAMMA)
    with pytest.raises(ValueError, match="infinite"):
        path.turn("h", at=between(path, 0.1))


# ---------------------------------------------------------------------- choosing


@pytest.mark.parametrize("h", [np.inf, 0.2])
def test_curves_are_exact(h):
    """Oracle: predictions of a path for each fold, at random values of lambda."""
    X, y, _ = labels(60)
    folds, options = StratifiedKFold(3), {"rho": 1.1, "h": h, "gamma": GAMMA}
    model = PathQuadraticSVC(cv=folds, **options).fit(X, y)
    assert model.curve_.exact
    low, high = model.curve_.range
    high = min(high, model.path_.start)
    values = np.random.default_rng(0).uniform(np.log(low * 1.001), np.log(high * 0.999), 50)
    values = np.exp(values)
    wrong = np.zeros(len(values))
    for train, test in folds.split(X, y):
        path = quadratic_svc_path(X[train], y[train], start=high, stop=low, **options)
        wrong += (path.predict(X[test], values) != y[test][:, None]).sum(axis=0)
    np.testing.assert_allclose(model.curve_(values), wrong / len(y), atol=1e-12)
    assert model.curve_.minimum <= wrong.min() / len(y) + 1e-12


@pytest.mark.parametrize("rho, h", [(1.0, np.inf), (1.1, 0.2), (0.7, 1.0)])
def test_probabilities_are_those_of_the_loss(rho, h):
    """Oracle: a search. The f that is best for probability p gives p again."""
    model = PathQuadraticSVC(rho=rho, h=h)
    model.classes_ = np.array([0, 1])

    def loss(m):
        u = np.maximum(rho - m, 0.0)
        return np.where(u < h, u**2, 2 * min(h, 1e9) * u - min(h, 1e9) ** 2)

    for p in (0.1, 0.35, 0.8):
        best = minimize_scalar(
            lambda f, p=p: p * loss(f) + (1 - p) * loss(-f), bounds=(-rho, rho), method="bounded",
            options={"xatol": 1e-10},
        ).x  # fmt: skip
        model._f = lambda X, f=best: np.array([f])
        np.testing.assert_allclose(model.predict_proba(None), [[1 - p, p]], atol=1e-5)


def test_there_is_nothing_to_hand_over():
    X, y, _ = labels()
    model = PathQuadraticSVC(cv=3, gamma=GAMMA).fit(X, y)
    with pytest.raises(NotImplementedError, match="scikit-learn"):
        model.to_sklearn()


@pytest.mark.parametrize("tau", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_expectiles_of_a_perfect_fit(tau, kernel):
    """Oracle: interpolation. With K regular f = y at 0, and multipliers go to 0 together; one of
    them may be far smaller than the others.
    """
    for seed in (0, 1, 5, 8, 16, 17, 32, 36):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(5, 4)), rng.normal(size=5)
        path = expectile_path(X, y, tau=tau, kernel=kernel, gamma=0.5, stop=0.0)
        assert path.complete, path.reason
        np.testing.assert_allclose(path.decision_function(X, 0.0), y, atol=1e-7)
        assert path.certificate(path.start * np.geomspace(1e-12, 1.0, 60)).exact.all()


@pytest.mark.parametrize("n, seed", [(8, 11), (14, 4), (14, 35)])
def test_a_multiplier_of_zero_is_no_fit_while_others_are_held(n, seed):
    """Oracle: the walk to a tiny lambda, and interpolation to within the tube at 0. At the start
    one row is free, its multiplier is 0, and all others are inside or held at h.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    options = {"epsilon": 0.1, "h": 0.3, "gamma": 50.0}
    path, part = (quadratic_svr_path(X, y, stop=stop, **options) for stop in (0.0, 1e-3))
    assert path.complete, path.reason
    np.testing.assert_allclose(path.breakpoints[: len(part)], part.breakpoints, rtol=1e-10)
    assert len(part) > 3
    assert np.abs(path.decision_function(X, 0.0) - y).max() <= 0.1 + 1e-9


def test_a_walk_that_passes_no_corner_ends(monkeypatch):
    """Oracle: the definition. A walk that goes on by a part in 1e9 of t each time says so."""
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")

    def creep(self, move, t_end):
        return 1e-9 * abs(self.t), False

    for kind in (Walker, RationalWalker):
        monkeypatch.setattr(kind, "how_far", creep)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 2)), rng.normal(size=5)
    for path in (expectile_path(X, y, start=1.0), svr_path(X, y, start=1.0)):
        assert not path.complete and path.reason.startswith("round-off")


@pytest.mark.parametrize("allowed", [0, 1, 4])
def test_a_system_without_a_solution_is_a_reason(allowed, monkeypatch):
    """Oracle: the reason. What linear algebra cannot decompose ends a walk, and raises nothing."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 2)), rng.normal(size=5)
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    expand, calls = RationalWalker.expand, []

    def fails(self, move, soft):
        calls.append(self.t)
        if len(calls) > allowed:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return expand(self, move, soft)

    monkeypatch.setattr(RationalWalker, "expand", fails)
    path = expectile_path(X, y)
    assert not path.complete and "singular" in path.reason
