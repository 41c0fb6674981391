"""Path.leave_one_out: as if each point had never been there."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVR, NuSVR

from chemin import lasso_path, nu_svr_path, svc_path, svr_path
from chemin.datasets import make_sinexp
from contract import CASES, NUMBERS, between, make_data, make_tied

FRACTIONS = np.array([0.7, 0.1, 0.01])
PATHS = {case.name: case for case in CASES if case.has_kernel}
# Whole numbers of points outside: nu n is one before and after a point leaves.
PATHS["nu-svr of whole shares"] = replace(NUMBERS, make=partial(nu_svr_path, nu=0.5))
KERNELS = [{"kernel": "rbf", "gamma": 0.3}, {"kernel": "linear"}]


def retrained(make, X, y, w, values, rows, **options):
    """f_-i(x_i) by a new path without each of the rows."""
    out = []
    for i in rows:
        rest = np.delete(np.arange(len(y)), i)
        weight = None if w is None else w[rest]
        beyond = (
            values[-1] + 1e-3 * (values[-1] - values[-2]) if len(values) > 1 else 0.99 * values[0]
        )
        ends = {"start": values[0], "stop": beyond}
        path = make(X[rest], y[rest], sample_weight=weight, **ends, **options)
        out.append(path.decision_function(X[i : i + 1], values)[0])
    return np.array(out)


@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
@pytest.mark.parametrize("name", PATHS)
def test_equals_retraining(name, kernel, data):
    """Oracle: a new path without the point, its kernel fixed."""
    make = PATHS[name]
    X, y = data(make)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    for intercept in (True, False):
        for w in (None, weights):
            options = kernel | {"intercept": intercept}
            path = make(X, y, sample_weight=w, **options)
            values = np.array([between(path, part) for part in FRACTIONS])
            f = path.leave_one_out(values)
            assert f.shape == (len(y), len(values))
            rows = np.arange(0, len(y), 4)
            g = retrained(make, X, y, w, values, rows, **options)
            np.testing.assert_allclose(f[rows], g, atol=1e-8 * max(1.0, np.abs(f).max()))


@pytest.mark.parametrize("rows", [120, pytest.param(None, marks=pytest.mark.stress)])
@pytest.mark.parametrize("name", ["svr", "nu-svr"])
def test_every_point_of_boston(load_data, name, rows):
    """Oracle: a new path without the point; ten values of lambda."""
    data = load_data("boston")
    X, y = data.data[:rows], data.target[:rows]
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    make = {
        "svr": lambda X, y, **o: svr_path(X, y, epsilon=1.0, **o),
        "nu-svr": lambda X, y, **o: nu_svr_path(X, y, nu=0.4, **o),
    }[name]
    options = {"gamma": 0.1}
    path = make(X, y, **options)
    values = np.geomspace(0.9 * path.start, path.stop, 10)
    f = path.leave_one_out(values)
    chosen = np.arange(0, len(y), 1 if rows is None else 8)
    g = retrained(make, X, y, None, values, chosen, **options)
    np.testing.assert_allclose(f[chosen], g, atol=1e-8 * np.abs(y).max())


def test_agrees_with_scikit_learn():
    """Oracle: SVR and NuSVR without the point, at a tight tolerance."""
    X, y = make_sinexp(60, 0, noise=0.1)
    for path, other in (
        (svr_path(X, y, epsilon=0.1, gamma=30.0), SVR(epsilon=0.1, gamma=30.0, tol=1e-10)),
        (nu_svr_path(X, y, nu=0.3, gamma=30.0), NuSVR(nu=0.3, gamma=30.0, tol=1e-10)),
    ):
        value = 0.03 * path.start
        f = path.leave_one_out(value)
        assert f.shape == (60,)
        for i in range(0, 60, 7):
            rest = np.delete(np.arange(60), i)
            g = other.set_params(C=1 / value).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
            assert f[i] == pytest.approx(g, abs=1e-5)


def test_by_the_reference_alone(monkeypatch):
    """Oracle: the compiled walk. The pins of the point move, in the form of the design."""
    X, y = make_data(NUMBERS)
    path = nu_svr_path(X, y, nu=0.37, gamma=0.3)
    fast = path.leave_one_out(FRACTIONS * path.start)
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    slow = path.leave_one_out(FRACTIONS * path.start)
    np.testing.assert_allclose(fast, slow, atol=1e-10 * np.abs(slow).max())


def test_ends_are_checked(monkeypatch):
    """Oracle: the reference. Walks that see nobody pass many over; their ends do not get through,
    and neither does what is no number.
    """
    from chemin.engine import leave_out

    X, y = make_data(NUMBERS)
    path = svr_path(X, y, epsilon=0.1, gamma=0.3)
    value = 0.05 * path.start
    right = path.leave_one_out(value)
    calls = []
    reference = leave_out.by_reference
    monkeypatch.setattr(leave_out, "by_reference", lambda *a: calls.append(1) or reference(*a))
    monkeypatch.setattr(leave_out, "AGAIN", 1)
    monkeypatch.setattr(leave_out, "SIGHT", 0.0)
    np.testing.assert_allclose(path.leave_one_out(value), right, atol=1e-10)
    assert calls
    calls.clear()
    monkeypatch.setattr(leave_out.np.linalg, "inv", lambda G: np.full_like(G, np.nan))
    np.testing.assert_allclose(path.leave_one_out(value), right, atol=1e-10)
    assert calls


@pytest.mark.parametrize("part", [0.3, 0.1, 0.01])
@pytest.mark.parametrize(
    "name", ["svr in lambda", "nu-svr in lambda", "nu-svr with a closing tube"]
)
def test_walks_by_themselves(name, part, monkeypatch):
    """Oracle: a path without the point, and a count: no walk is left to the reference, with few
    free points (jumps of the intercept) or many.
    """
    from chemin.engine import leave_out

    def refused(*args):
        raise AssertionError("the reference was called")

    monkeypatch.setattr(leave_out, "by_reference", refused)
    X, y = make_sinexp(150, 0)
    make, options = PATHS[name], {"gamma": 50.0}
    path = make(X, y, **options)
    value = part * path.start
    f = path.leave_one_out(value)
    rows = np.arange(0, 150, 10)
    g = retrained(make, X, y, None, np.array([value]), rows, **options)[:, 0]
    np.testing.assert_allclose(f[rows], g, atol=1e-8)


def test_rows_of_weight_zero():
    """Oracle: f itself for them; the others as without them."""
    X, y = make_data(NUMBERS)
    w = np.ones(len(y))
    w[[3, 11]] = 0.0
    kept = w > 0
    path = svr_path(X, y, epsilon=0.2, gamma=0.3, sample_weight=w)
    small = svr_path(X[kept], y[kept], epsilon=0.2, gamma=0.3)
    value = 0.1 * path.start
    f = path.leave_one_out(value)
    np.testing.assert_allclose(f[kept], small.leave_one_out(value), atol=1e-10)
    np.testing.assert_allclose(f[~kept], path.decision_function(X[~kept], value))


@pytest.mark.parametrize("rare", [0, 1])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])
def test_the_only_member_of_a_class(kernel, rare):
    """Oracle: the limit, by a path on which the point weighs almost nothing."""
    rng = np.random.default_rng(rare)
    X, y = rng.standard_normal((12, 2)), np.full(12, 1 - rare)
    y[3] = rare
    path = svc_path(X, y, **kernel)
    values = path.start * np.array([2.0, 0.5, 0.01])
    f = path.leave_one_out(values)
    np.testing.assert_array_equal(f[3], 1.0 - 2.0 * rare)
    light = np.where(np.arange(12) == 3, 1e-9, 1.0)
    limit = svc_path(X, y, sample_weight=light, stop=0.5 * values[-1], **kernel)
    np.testing.assert_allclose(f[3], limit.decision_function(X[3:4], values)[0], atol=1e-5)
    assert np.isfinite(f).all()


def test_what_has_no_points():
    """Oracle: the errors' words."""
    X, y = make_data(NUMBERS)
    path = lasso_path(X, y)
    with pytest.raises(ValueError, match="lasso"):
        path.leave_one_out(path.start)
    pair = svr_path(X[:2], y[:2], epsilon=0.0)
    with pytest.raises(ValueError, match="three points"):
        pair.leave_one_out(pair.start)
