"""Points far from the origin, and kernels that are one large number: with an intercept what all
points have in common says nothing, and takes no digits.
"""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

import chemin
from chemin import (
    PathSVC,
    PathSVR,
    kernel_ridge_path,
    load,
    nu_svr_path,
    one_class_path,
    quadratic_svr_path,
    quantile_path,
    svc_path,
    svr_path,
)
from chemin.kernels import RBF, Linear, Scaled, Sum
from chemin.problems import PROBLEMS, KernelMachine
from chemin.segments import f_at
from contract import assert_walked

FAR = 2.0**15  # beside a spread of about 1, and of few digits: what is moved there is moved exactly
PATHS = {
    "svc": svc_path,
    "svr": svr_path,
    "nu-svr": partial(nu_svr_path, nu=0.4),
    "quantile": quantile_path,
    "huber": partial(quadratic_svr_path, h=0.5),
    "kernel ridge": kernel_ridge_path,
}


def data(name="svr", n=40, d=2):
    """Points of which no digit is lost when they are moved far away."""
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(n, d)) * 2**20) / 2**20
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    return X, (y > 0).astype(int) if name == "svc" else y


def values_of(path):
    return np.geomspace(path.start, max(path.stop, 1e-3 * path.start), 7)


@pytest.mark.parametrize("d", [2, 30])  # by a factor, and by a matrix
@pytest.mark.parametrize("name", PATHS)
def test_far_away_is_as_near_by(name, d, tmp_path):
    """Oracle: the same points around the origin: f, coefficients, certificates and their round-off,
    and f(x) = x'w + intercept. It holds after saving, too.
    """
    X, y = data(name, d=d)
    near, far = (PATHS[name](X + at, y, kernel="linear") for at in (0.0, FAR))
    assert_walked(far)
    np.testing.assert_allclose([far.start, far.stop], [near.start, near.stop], rtol=1e-9)
    np.testing.assert_allclose(far.breakpoints, near.breakpoints, rtol=1e-7)
    values, new = values_of(near), X[:5] + 0.25
    f, g = far.decision_function(new + FAR, values), near.decision_function(new, values)
    np.testing.assert_allclose(f, g, rtol=1e-8, atol=1e-8)
    floors = [path.certificate(values).floor for path in (far, near)]
    assert np.all(floors[0] < 10 * floors[1])
    for value in values:
        s = far.at(value)
        assert far.certify(s).verdict == "exact"
        w, total = X.T @ s.coef, sum(map(Fraction, s.coef))
        assert abs(total) < 1e-12 * np.abs(s.coef).sum()
        np.testing.assert_allclose(
            w @ (new + FAR).T + s.intercept, far.decision_function(new + FAR, value), atol=1e-7
        )
    out = (p.leave_one_out(values[3]) for p in (far, near))
    np.testing.assert_allclose(*out, rtol=1e-7, atol=1e-7)
    far.save(tmp_path / "path")
    np.testing.assert_array_equal(load(tmp_path / "path").decision_function(new + FAR, values), f)


@pytest.mark.parametrize("name", ["svc", "svr", "huber"])
def test_curves_far_away(name):
    """Oracle: decision_function at each value: f over the path, as segments, is the same."""
    X, y = data(name)
    path = PATHS[name](X + FAR, y, kernel="linear")
    knots = np.unique(np.concatenate([path.breakpoints, [path.start, path.stop]]))
    values, new = 0.5 * (knots[1:] + knots[:-1]), X[:4] + FAR + 0.25
    found = f_at(path.segments(path.cross(new)), path.coordinate.to_u(values))
    f = path.decision_function(new, values)
    np.testing.assert_allclose(found.T, f, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("d", [2, 30])
@pytest.mark.parametrize("make", [PathSVC, PathSVR])
def test_estimators_far_away(make, d):
    """Oracle: the same points around the origin, and x'coef_ + intercept_ where it is plain."""
    X, y = data("svc" if make is PathSVC else "svr", n=60, d=d)
    near, far = (make(kernel="linear").fit(X + at, y) for at in (0.0, FAR))
    assert far.lambda_ == pytest.approx(near.lambda_, rel=1e-6)
    f = "decision_function" if make is PathSVC else "predict"
    np.testing.assert_allclose(getattr(far, f)(X + FAR), getattr(near, f)(X), atol=1e-7)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6, atol=1e-8)
    assert far.score(X + FAR, y) == pytest.approx(near.score(X, y), abs=1e-7)


def test_parts_of_kernels_far_away():
    """Oracle: the same points around the origin."""
    X, y = data("svc")
    kernel = 2.0 * Linear().on([0]) + RBF(0.5)
    near, far = (svc_path(X + at, y, kernel=kernel) for at in (0.0, FAR))
    assert_walked(far)
    values = values_of(near)
    np.testing.assert_allclose(
        far.decision_function(X + FAR, values), near.decision_function(X, values), atol=1e-6
    )
    s, K = far.at(values[3]), kernel.gram(X)
    assert far.certify(s).verdict == "exact"
    np.testing.assert_allclose(
        K @ s.coef + s.intercept + 2.0 * FAR * (X[:, 0] @ s.coef),
        near.decision_function(X, values[3]),
        atol=1e-6,
    )


def test_the_origin_stays_where_it_counts():
    """Without an intercept, or with one that has a price, f depends on the origin. Oracle: K."""
    X, y = data()
    path = svr_path(X + 100.0, y, kernel="linear", intercept=False)
    s, K = path.at(path.start * 0.1), (X + 100.0) @ (X + 100.0).T
    np.testing.assert_allclose(path.decision_function(X + 100.0, path.start * 0.1), K @ s.coef)
    path = one_class_path(X + 100.0, kernel="linear")
    s = path.at(0.5)
    np.testing.assert_allclose(
        path.decision_function(X + 100.0, 0.5), K @ s.coef + s.intercept, atol=1e-9 * K.max()
    )


@pytest.mark.parametrize("name", [k for k, p in PROBLEMS.items() if issubclass(p, KernelMachine)])
@pytest.mark.parametrize("intercept", [True, False])
def test_where_the_origin_counts(name, intercept):
    """Oracle: the terms that the problem declares."""
    problem = PROBLEMS[name]
    made = problem(np.eye(2), np.array([1.0, -1.0]), np.ones(2), intercept=intercept)
    assert made.balanced == (problem.free_intercept and intercept)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_points_near_the_origin_stay_as_they_are(shift):
    X, _ = data()
    assert Linear().about(X + shift) == Linear()
    assert Sum(Linear(), RBF(1.0)).about(X + shift) == Sum(Linear(), RBF(1.0))
    assert Scaled(Linear(), 2.0).about(X + shift) == Scaled(Linear(), 2.0)


def test_whole_numbers_stay_whole():
    """Oracle: rational arithmetic. Ties of whole numbers stay ties."""
    X = np.random.default_rng(0).integers(0, 5, (20, 3)) + np.array([1000, -77777, 3])
    kernel = Linear().about(X.astype(float))
    seen = kernel.seen(X.astype(float))
    assert np.abs(seen).max() < 50 and np.all(seen == np.round(seen))
    np.testing.assert_array_equal(seen + kernel.origin, X)


def test_an_origin_by_hand():
    """Oracle: the formula, and its parameters."""
    X, _ = data()
    kernel = Linear([1.0, 2.0])
    np.testing.assert_allclose(kernel.gram(X), (X - [1, 2]) @ (X - [1, 2]).T, atol=1e-14)
    assert kernel.about(X + FAR) is kernel
    assert kernel == Linear.from_spec(kernel.spec())
    with pytest.raises(ValueError, match="origin has 2 entries"):
        kernel.gram(np.ones((3, 3)))


@pytest.mark.parametrize("kind", ["precomputed", "sparse"])
@pytest.mark.parametrize("far", [1e4, 3e4, 7e5])
def test_what_cannot_be_moved_says_so(kind, far):
    """A matrix, or sparse points: round-off hides what is left, and paths are not complete.

    Oracle: the same points around the origin, where everything happens below lambda = 100.
    """
    X, y = data("svc", n=60)
    assert svc_path(X, y, kernel="linear").start < 100
    X = X + far
    given = (X @ X.T, "precomputed") if kind == "precomputed" else (csr_array(X), "linear")
    path = svc_path(given[0], y, kernel=given[1])
    assert not path.complete and path.reason.startswith("round-off")


def test_a_least_loss_at_round_off_is_told():
    """Oracle: the loss around the origin, a tenth of it."""
    X, y = data(n=60)
    best = PathSVR(kernel="linear").fit(X, y).curve_.minimum
    K = (X + 1e4) @ (X + 1e4).T
    with pytest.warns(UserWarning, match="ended early.*round-off"):
        found = PathSVR(kernel="precomputed").fit(K, y)
    assert found.curve_.minimum > 2 * best


# ---------------------------------------------------------------------- one large number

Y = np.array([2.0, 3, 5, 2, 1, 2, 4, 2, 5, 0])
CONSTANTS = {  # closed forms: the best constants of the losses
    "svr": (svr_path, Y, 2.1),
    "svc": (svc_path, (Y > 2).astype(int), -1.0),
    "kernel ridge": (kernel_ridge_path, Y, 2.6),
    "quadratic svr": (partial(quadratic_svr_path, epsilon=0.0), Y, 2.6),
}


@pytest.mark.parametrize("entry", [1.0, 9e10, 1e14])
@pytest.mark.parametrize("name", CONSTANTS)
def test_one_large_number(name, entry):
    """Oracle: the best constant, to the round-off that the certificate tells."""
    function, y, best = CONSTANTS[name]
    K = np.full((len(y), len(y)), entry)
    path = function(K, y, kernel="precomputed")
    assert path.complete
    values = np.geomspace(path.start, path.stop, 5)
    proof, f = path.certificate(values), path.decision_function(K, values)
    assert proof.exact.all()
    assert np.all(np.abs(f - best).max(axis=0) <= np.maximum(1e-9, 50 * proof.floor))
    inside = np.sqrt(values[1:] * values[:-1])
    found = f_at(path.segments(path.cross(K)), path.coordinate.to_u(inside))
    np.testing.assert_allclose(found, best, rtol=1e-9)
    if best == 2.6:  # the mean, and without a point that of the others
        others = (y.sum() - y) / (len(y) - 1)
        np.testing.assert_allclose(path.leave_one_out(path.stop), others, rtol=1e-9)


@pytest.mark.parametrize("name", ["svr", "svc"])
def test_nearly_one_large_number(name):
    """Oracle: K without what its entries share, whose f is the same but for the intercept."""
    X, y = data(name)
    C = np.round(RBF(0.3).gram(X) * 2**20) / 2**20
    level = 2.0**9
    shared, plain = (PATHS[name](K, y, kernel="precomputed") for K in (C + level, C))
    assert shared.problem.centred is not None
    values = values_of(plain)
    f, g = shared.decision_function(C + level, values), plain.decision_function(C, values)
    np.testing.assert_allclose(f, g, atol=1e-7)


def test_estimators_of_one_large_number():
    """Oracle: the curve of a constant model, which is constant."""
    X = np.full((16, 1), 1000.0)
    y = np.array([2, 3, 5, 2, 1, 2, 4, 2, 5, 0, -3, -3, -1, -2, 3, 2.0])
    with pytest.warns(UserWarning, match="nearly constant does best"):
        model = chemin.PathNuSVR(kernel="poly", degree=2, coef0=1.0, gamma=0.3, cv=4).fit(X, y)
    loss = np.asarray(model.curve_(np.geomspace(*model.curve_.range, 9)))
    np.testing.assert_allclose(loss, loss[0], rtol=1e-9)
    f = model.predict(X)
    np.testing.assert_allclose(f, f[0], rtol=1e-12)
    assert y.min() < f[0] < y.max()
