"""The L1-norm SVM, with and without a ridge: what the contract asks, as far as it applies.

min  sum_i w_i max(0, 1 - y_i (x_i'b + b0)) + lambda |b|_1 + lambda2/2 |b|^2
"""

from dataclasses import replace

import numpy as np
import pytest
from qpsolvers import solve_qp
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

import chemin
from chemin import l1_svc_path
from chemin.engine.rescue import Helper
from contract import LABELS, assert_exact, assert_walked, distinct, make_data, make_tied
from contract import random_values as values_of

every_ridge = pytest.mark.parametrize("lambda2", [0.0, 0.3], ids=["no ridge", "ridge"])
with_and_without = pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])


def program(X, y, lam, w=None):
    """The linear program: b = p - q, b0 = r - s, slacks; all of them >= 0."""
    n, d = X.shape
    s = np.where(y > 0, 1.0, -1.0)[:, None]
    cost = np.concatenate([np.full(2 * d, lam), [0.0, 0.0], np.ones(n) if w is None else w])
    return cost, -np.hstack([s * X, -s * X, s, -s, np.eye(n)])


def same_f(a, b, X, values, tolerance=1e-7):
    f, g = (p.decision_function(X, values) for p in (a, b))
    np.testing.assert_allclose(f, g, atol=tolerance * max(1.0, np.abs(f).max()))


# ---------------------------------------------------------------------- against other solvers


@pytest.mark.parametrize("name", ["iris", "breast cancer", "more columns than rows"])
def test_linear_program(name):
    """Oracle: a linear program, at ten values."""
    if name == "iris":
        X, y = (part[50:] for part in load_iris(return_X_y=True))
        X, y = scale(X), (y == 2).astype(int)
    elif name == "breast cancer":
        X, y = (part[:200] for part in load_breast_cancer(return_X_y=True))
        X = scale(X)
    else:
        X, y = make_data(LABELS, n=30, d=50)
    path = l1_svc_path(X, y, stop=0)
    assert path.complete
    for value in np.geomspace(0.95 * path.start, 1e-3 * path.start, 10):
        cost, A = program(X, y, value)
        best = linprog(cost, A_ub=A, b_ub=-np.ones(len(X)), method="highs").fun
        s = path.at(value)
        assert s.objective == pytest.approx(best, rel=1e-9, abs=1e-9)
        b = path.certificate(value)
        assert b.exact


def test_quadratic_program():
    """Oracle: an interior-point solver, with a ridge and weights."""
    X, y = make_data(LABELS)
    w = np.random.default_rng(0).uniform(0.3, 2.0, len(y))
    path, (n, d) = l1_svc_path(X, y, lambda2=0.3, sample_weight=w), X.shape
    for value in np.geomspace(0.9 * path.start, path.stop, 5):
        cost, A = program(X, y, value, w)
        P = 0.3 * np.kron([[1, -1], [-1, 1]], np.eye(d))
        H = sparse.block_diag([P, np.zeros((n + 2, n + 2))], format="csc")
        tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
        x = solve_qp(
            H,
            cost,
            sparse.csc_matrix(A),
            -np.ones(n),
            lb=np.zeros(len(cost)),
            solver="clarabel",
            **tight,
        )
        theirs = 0.5 * x @ (H @ x) + cost @ x
        assert path.at(value).objective == pytest.approx(theirs, rel=1e-7, abs=1e-8)


# ---------------------------------------------------------------------- what the contract asks


@every_ridge
@with_and_without
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
def test_exact_everywhere(data, lambda2, intercept):
    """Oracle: the certificate, at breakpoints, midpoints, 200 random values and above."""
    X, y = data(LABELS)
    path = l1_svc_path(X, y, lambda2=lambda2, intercept=intercept)
    assert path.complete
    assert_walked(path)


@every_ridge
def test_weighted_is_exact(lambda2):
    """Oracle: the certificate, with weights that differ by a factor of a thousand."""
    X, y = make_data(LABELS)
    w = 10.0 ** np.random.default_rng(3).uniform(-2, 1, len(y))
    assert_walked(l1_svc_path(X, y, lambda2=lambda2, sample_weight=w))


@every_ridge
def test_permuted_rows_and_columns(lambda2):
    """Oracle: an invariant."""
    X, y = make_data(LABELS)
    rng = np.random.default_rng(1)
    order, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    a = l1_svc_path(X, y, lambda2=lambda2)
    b = l1_svc_path(X[order], y[order], lambda2=lambda2)
    same_f(a, b, X, values_of(a, low=b.stop))
    c = l1_svc_path(X[:, columns], y, lambda2=lambda2)
    values = values_of(a, low=c.stop)
    f, g = a.decision_function(X, values), c.decision_function(X[:, columns], values)
    np.testing.assert_allclose(f, g, atol=1e-7 * np.abs(f).max())


@every_ridge
def test_weights_are_rows(lambda2):
    """Oracle: an invariant. A weight of k is k rows, a weight of 0 none."""
    X, y = make_data(LABELS, n=25)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = l1_svc_path(X, y, lambda2=lambda2, sample_weight=w.astype(float))
    repeated = l1_svc_path(np.repeat(X, w, axis=0), np.repeat(y, w), lambda2=lambda2)
    same_f(weighted, repeated, X, values_of(weighted, low=repeated.stop))
    assert not weighted.at(0.1 * weighted.start).alpha[w == 0].any()
    assert_exact(repeated)


@every_ridge
@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_do_not_matter(lambda2, factor):
    """Oracle: an invariant. lambda scales with X, and with the weights."""
    X, y = make_data(LABELS)
    plain = l1_svc_path(X, y, lambda2=lambda2)
    values = values_of(plain)
    f = plain.decision_function(X, values)
    other = l1_svc_path(factor * X, y, lambda2=factor**2 * lambda2)
    heavy = l1_svc_path(X, y, lambda2=factor * lambda2, sample_weight=np.full(len(y), factor))
    for path, points in ((other, factor * X), (heavy, X)):
        assert_exact(path)
        some = values * factor >= path.stop
        g = path.decision_function(points, factor * values[some])
        np.testing.assert_allclose(f[:, some], g, atol=1e-7 * np.abs(f).max())


def test_columns_of_any_size():
    """Oracle: the certificate, with columns that differ by six orders."""
    X, y = make_data(LABELS)
    X = X * 10.0 ** np.linspace(-3, 3, X.shape[1])
    for lambda2 in (0.0, 0.01):
        assert_walked(l1_svc_path(X, y, lambda2=lambda2))


@every_ridge
def test_a_start_in_the_middle(lambda2):
    """Oracle: the path from the top, at common values."""
    X, y = make_data(LABELS)
    whole = l1_svc_path(X, y, lambda2=lambda2)
    for fraction in (0.9, 0.3, 0.01):
        start = fraction * whole.start
        part = l1_svc_path(X, y, lambda2=lambda2, start=start, stop=whole.stop)
        assert_walked(part, above=False)
        same_f(whole, part, X, values_of(part))


@every_ridge
def test_saved_and_loaded(lambda2, tmp_path):
    """Oracle: the path that was saved, bit by bit."""
    X, y = make_data(LABELS)
    path = l1_svc_path(X, y, lambda2=lambda2, sample_weight=np.arange(1.0, len(y) + 1))
    path.save(tmp_path / "path.npz")
    again = chemin.load(tmp_path / "path.npz")
    values = values_of(path)
    np.testing.assert_array_equal(again.events, path.events)
    np.testing.assert_array_equal(again.s, path.s)
    f, g = (p.predict(X, values) for p in (path, again))
    np.testing.assert_array_equal(f, g)
    assert repr(again) == repr(path)


@every_ridge
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
def test_engines_agree(monkeypatch, data, lambda2):
    """Oracle: the reference engine."""
    X, y = data(LABELS)
    fast = l1_svc_path(X, y, lambda2=lambda2)
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    slow = l1_svc_path(X, y, lambda2=lambda2)
    same_f(fast, slow, X, values_of(fast, low=slow.stop))


@pytest.mark.parametrize("data", ["generic", "tied", "breast cancer"])
def test_hardly_a_step_is_left_to_the_reference(monkeypatch, data):
    """Oracle: a count, one in a thousand. Every pivot of a linear program is 0."""
    if data == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        X = scale(X)
    else:
        X, y = (make_tied if data == "tied" else make_data)(LABELS)
    steps, walk = [], Helper.walk
    monkeypatch.setattr(Helper, "walk", lambda *args: steps.append(args) or walk(*args))
    path = l1_svc_path(X, y, stop=0)
    assert path.complete
    assert path.certificate(path.breakpoints).exact.all()
    assert len(steps) <= path.n_events // 1000


# ---------------------------------------------------------------------- jumps


def test_s_at_both_ends_of_each_jump():
    """Oracle: linear programs beside each jump. Between jumps s stands still."""
    X, y = make_data(LABELS, n=25)
    path = l1_svc_path(X, y, stop=0.05)
    knots = distinct(path.breakpoints)
    knots = knots[knots > path.stop]
    seen = 0
    for knot in knots:
        here = path.s[np.abs(path.breakpoints - knot) <= 1e-9 * knot]
        ends = []
        for value in (knot * (1 + 1e-6), knot * (1 - 1e-6)):
            cost, A = program(X, y, value)
            x = linprog(cost, A_ub=A, b_ub=-np.ones(len(X)), method="highs").x
            ends.append(x[: 2 * X.shape[1]].sum())
        assert here[0] == pytest.approx(ends[0], abs=1e-7)
        seen += ends[1] > ends[0] + 1e-6
    assert seen > 5
    middles = 0.5 * (knots[1:] + knots[:-1])
    for low, high, middle in zip(knots[:-1], knots[1:], middles):
        a, b = (np.abs(path.at(v).coef).sum() for v in (middle, 0.75 * low + 0.25 * high))
        assert a == pytest.approx(b, abs=1e-9)


def test_certificate_finds_what_is_wrong():
    """Oracle: mutants."""
    X, y = make_data(LABELS)
    path = l1_svc_path(X, y, lambda2=0.3)
    s, up = path.at(0.1 * path.start), 1.0 + 1e-6
    assert path.certify(s).verdict == "exact"
    for mutant in (
        replace(s, coef=s.coef * up),
        replace(s, alpha=s.alpha * up),
        replace(s, lambda_=s.lambda_ * up),
        replace(s, intercept=s.intercept + 1e-6),
        replace(s, more={"lambda2": 0.3 * up}),
    ):
        assert not path.certify(mutant).exact


@pytest.mark.parametrize("light", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_wrong_intercept_that_only_the_balance_sees(light):
    """Oracle: by hand. Every row and the coefficient meet their conditions at b0 = 0, and the sum
    of the multipliers is -light: a third of the objective is left by b = 1/6, b0 = -2/3.
    """
    X, y, w = np.array([[10.0], [-2.0]]), np.array([1, 0]), np.array([1.0, light])
    path = l1_svc_path(X, y, sample_weight=w)
    right = path.at(2.0 * light)
    assert right.objective == pytest.approx(light / 3.0, rel=1e-9)
    assert (right.coef[0], right.intercept) == pytest.approx((1 / 6, -2 / 3), rel=1e-9)
    assert path.certify(right).verdict == "exact"
    alpha = np.array([0.0, light])  # margins 1.5 and 0.3; x'S alpha = 2 light = lambda
    wrong = replace(right, coef=np.array([0.15]), intercept=0.0, alpha=alpha)
    assert path.certify(wrong).verdict == "wrong"


def test_multipliers_balance_however_small():
    """Oracle: the sum, by digits of its own terms; at lambda = 0, where rows can all be met, there
    are none.
    """
    X, y = make_data(LABELS, n=10, d=20)
    path = l1_svc_path(X, y, stop=0)
    s = np.where(y == path.classes_[1], 1.0, -1.0)
    for value in np.geomspace(1e-1, 1e-12, 12) * path.start:
        alpha = path.at(value).alpha
        assert alpha.any()
        assert abs(s @ alpha) <= 1e-9 * alpha.sum()
    assert not path.at(0.0).alpha.any()


@pytest.mark.parametrize(
    "options, message",
    [({"lambda2": -1.0}, "lambda2"), ({"stop": -1.0}, "stop"), ({"intercept": 2}, "intercept")],
)
def test_what_is_refused(options, message):
    """Oracle: each message names the argument."""
    X, y = make_data(LABELS)
    with pytest.raises(ValueError, match=message):
        l1_svc_path(X, y, **options)
