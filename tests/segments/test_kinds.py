"""Segments that are not straight: losses and curves know them by the interface alone.

Two kinds are made up here. One has f rational in u; the other has z rational in t, as moves of a
walk have it whose losses are quadratic in the middle.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.optimize import brentq

from chemin import lasso_path, svc_path, svr_path
from chemin.engine.moves import StraightMoves
from chemin.path import Path
from chemin.segments import Coordinate, Curved, Parts, Segments, Straight, chebyshev, f_at
from chemin.segments.kinds import Projective
from chemin.selection import Curve
from chemin.selection.losses import EXACT, PiecewiseLinear
from chemin.selection.piecewise import Piecewise, total

LOW, HIGH = 0.5, 6.0
ROUND = 1e-12


class Rational(Segments):
    """f_i(u) = p_i + q_i / (u + r_i) + q'_i / (u + r'_i): known by its values alone."""

    def __init__(self, u0, u1, p, q, r):
        self.u0, self.u1, self.p, self.q, self.r = u0, u1, p, q, r

    def f(self, u):
        return self.p + (self.q / (np.asarray(u)[:, None, None] + self.r)).sum(axis=1)

    def at(self, j, s):
        return self.f(self.u(j, s))


class Mobius(Rational):
    """The same with one pole, and a formula of its own for its roots."""

    def crossings(self, level):
        with np.errstate(divide="ignore"):
            root = self.q[0] / (level - self.p) - self.r[0]
        low, high = np.minimum(self.u0, self.u1), np.maximum(self.u0, self.u1)
        j, i = np.nonzero((low[:, None] < root) & (root < high[:, None]))
        return j, (root[i] - self.u0[j]) / (self.u1[j] - self.u0[j])


class Run:
    """What losses and curves ask of a path; its segments in blocks, some of them backwards."""

    parameter, start, stop, closed_above = "lambda", HIGH, LOW, False
    coordinate = Coordinate(inverse=False)
    breakpoints, problem = np.array([]), None

    def __init__(self, kind, m=20, poles=2, seed=0):
        rng = np.random.default_rng(seed)
        self.q = 5 * rng.normal(size=(poles, m))
        self.r = rng.uniform(0.1, 2.0, (poles, m))
        # Every f is 0 somewhere.
        self.p = -(self.q / (rng.uniform(LOW, HIGH, m) + self.r)).sum(axis=0)
        self.kind, self.m = kind, m
        self.knots = np.concatenate([[LOW], np.sort(rng.uniform(LOW, HIGH, 9)), [HIGH]])

    def segments(self, cross):
        for part in (slice(5, 10), slice(0, 5)):
            u0, u1 = self.knots[:-1][part], self.knots[1:][part]
            yield self.kind(u1, u0, self.p, self.q, self.r)

    def f(self, u):
        return Rational(*np.zeros((2, 1)), self.p, self.q, self.r).f(np.atleast_1d(u))


@pytest.fixture(params=[(Rational, 2), (Rational, 1), (Mobius, 1)], ids=["two", "one", "own roots"])
def run(request):
    kind, poles = request.param
    return Run(kind, poles=poles)


def losses_of(run, scoring, seed=1):
    """An exact curve of a toy path, and the same loss by its definition."""
    rng = np.random.default_rng(seed)
    omega = rng.uniform(0.5, 2, run.m)
    labels = EXACT[scoring].labels
    y = rng.choice([-1.0, 1.0], run.m) if labels else run.f(rng.uniform(LOW, HIGH))[0]
    y = y if labels else y + 0.3 * rng.normal(size=run.m)
    function = EXACT[scoring].on_path(run, None, y, omega)
    of = {
        "accuracy": lambda f: (f > 0) != (y > 0),
        "neg_hinge_loss": lambda f: np.maximum(0, 1 - y * f),
        "neg_mean_absolute_error": lambda f: np.abs(y - f),
        "neg_mean_squared_error": lambda f: (y - f) ** 2,
    }[scoring]
    return function, lambda u: of(run.f(u)) @ omega, y


SCORES = ["accuracy", "neg_hinge_loss", "neg_mean_absolute_error", "neg_mean_squared_error"]


def lowest_by_search(brute):
    """A grid, and finer and finer ones around the best of its points."""
    low, high = LOW, HIGH
    for _ in range(6):
        grid = np.linspace(low, high, 20_001)
        k = int(np.argmin(brute(grid)))
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    return brute(grid).min()


@pytest.mark.parametrize("scoring", SCORES)
def test_values_and_minimum(run, scoring):
    """Oracle: the loss by its definition, at random places; its minimum by a search."""
    function, brute, _ = losses_of(run, scoring)
    u = np.random.default_rng(2).uniform(LOW, HIGH, 2000)
    np.testing.assert_allclose(function(u), brute(u), rtol=ROUND, atol=ROUND)
    options = {"range": (LOW, HIGH), "top": HIGH, "scoring": scoring, "loss": scoring}
    curve = Curve([function, function * 3.0], run, **options)
    np.testing.assert_allclose(curve(u), 2 * brute(u), rtol=ROUND, atol=ROUND)
    assert curve.minimum == pytest.approx(2 * lowest_by_search(brute), rel=1e-10)
    assert curve(curve.minimiser) == pytest.approx(curve.minimum, rel=ROUND)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_hinge_loss", "neg_mean_absolute_error"])
def test_roots_are_knots(run, scoring):
    """Oracle: brentq between the sign changes of a fine grid."""
    function, _, y = losses_of(run, scoring)
    level = np.zeros(run.m) if scoring == "accuracy" else y
    grid = np.linspace(LOW, HIGH, 20_001)
    sign = run.f(grid) > level
    k, i = np.nonzero(sign[1:] != sign[:-1])
    found = [
        brentq(lambda u, i=i: run.f(u)[0, i] - level[i], *grid[[k, k + 1]], xtol=1e-14)
        for k, i in zip(k, i)
    ]
    assert len(found) >= 5
    apart = np.abs(np.array(found)[:, None] - function.knots).min(axis=1)
    assert apart.max() < 1e-11
    if scoring == "accuracy":  # nothing else changes it by more than round-off
        assert np.sum(np.abs(function.left[1:] - function.right[:-1]) > ROUND) == len(found)


@pytest.mark.parametrize("scoring", SCORES)
def test_what_is_below_a_level(run, scoring):
    """Oracle: the loss by its definition on a fine grid: inside the intervals and outside."""
    function, brute, _ = losses_of(run, scoring)
    u = np.linspace(LOW, HIGH, 5001)[1:-1]
    most = float(np.quantile(brute(u), 0.3))
    low, high = function.below(most, np.ones(len(function.left), bool))
    within = np.any((low[:, None] <= u) & (u <= high[:, None]), axis=0)
    told = np.abs(brute(u) - most) > 1e-10
    np.testing.assert_array_equal(within[told], (brute(u) <= most)[told])
    largest = Curve(
        [function], run, range=(LOW, HIGH), top=HIGH, scoring="s", loss="l"
    )._largest_below(most)
    assert brute(largest)[0] <= most * (1 + 1e-9)
    assert np.all(brute(u[u > largest * (1 + 1e-6)]) > most * (1 - 1e-9))


def test_sums_of_kinds(run):
    """Oracle: values. A straight function and a curved one have a sum, on the knots of both."""
    function, brute, _ = losses_of(run, "neg_mean_squared_error")
    u0, f0 = np.array([LOW, 3.0]), np.array([[1.0], [2.0]])
    straight = Straight(u0, np.array([3.0, HIGH]), f0, np.array([[2.0], [5.0]]))
    loss = EXACT["neg_mean_squared_error"].at(None, np.zeros(1))
    other = Piecewise.assemble(loss.parts(straight, np.ones(1)))
    u = np.linspace(LOW, HIGH, 500)
    expected = brute(u) + np.interp(u, [LOW, 3.0, HIGH], [1.0, 2.0, 5.0]) ** 2
    np.testing.assert_allclose(total([function, other])(u), expected, rtol=ROUND)
    value, where = total([function, other]).lowest()
    np.testing.assert_allclose(total([function, other])(where[1:-1]), value[1:-1], rtol=1e-10)


def test_f_at(run):
    """Oracle: the formula; constant outside."""
    u = np.random.default_rng(0).uniform(LOW, HIGH, 100)
    np.testing.assert_allclose(f_at(run.segments(None), u), run.f(u), rtol=ROUND, atol=ROUND)
    beyond = f_at(run.segments(None), np.array([0.0, 2 * HIGH]))
    np.testing.assert_allclose(beyond, run.f([LOW, HIGH]), rtol=ROUND, atol=ROUND)


def test_a_steep_function_is_cut_until_it_is_resolved():
    """Oracle: its formula; a pole 1e-4 from the end needs many pieces."""
    f = lambda s: (1e-4 / (s + 1e-4))[:, None]
    block = Curved(np.zeros(1), np.ones(1), [f], np.zeros((1, 1)))
    j, s = block.crossings(np.array([0.37]))
    assert s == pytest.approx([1e-4 * (1 / 0.37 - 1)], rel=1e-10) and j.tolist() == [0]
    loss = EXACT["neg_mean_squared_error"].at(None, np.zeros(1))
    function = Piecewise.assemble(loss.parts(block, np.ones(1)))
    u = np.geomspace(1e-6, 1, 300)
    np.testing.assert_allclose(function(u), f(u)[:, 0] ** 2, rtol=0, atol=1e-12)


def test_roots_of_polynomials():
    """Oracle: chosen roots, of degrees from 0 to 5, in one batch."""
    rng = np.random.default_rng(0)
    inside = [np.sort(rng.uniform(0.05, 0.95, d)) for d in range(6)]
    rows = np.zeros((6, 6))
    for d, roots in enumerate(inside):
        rows[d, : d + 1] = np.polynomial.chebyshev.chebfromroots(2 * roots - 1)
    row, s = chebyshev.roots(rows)
    for d, roots in enumerate(inside):
        np.testing.assert_allclose(np.sort(s[row == d]), roots, atol=1e-10)
    x = rng.uniform(size=6)
    by_product = [np.prod(2 * (x[d] - roots)) for d, roots in enumerate(inside)]
    np.testing.assert_allclose(chebyshev.evaluate(rows, x), by_product, atol=1e-12)


@pytest.mark.parametrize("width", [1.0, 0.7, 0.5, 0.2, 0.03, 1e-3])
def test_coefficients_on_a_part_are_bounded(width):
    """Oracle: coefficients on parts anywhere, the ends included, from values at 40 places."""
    bounds = chebyshev.narrowed(16, int(chebyshev.halvings(np.array([width]))[0]))
    for first in np.linspace(0.0, 1.0 - width, 23):
        x = 2.0 * (first + width * chebyshev.nodes(40)) - 1.0
        found = chebyshev.fit(np.polynomial.chebyshev.chebvander(x, 15).T)
        assert np.all(np.abs(found[:, :16]) <= bounds + 1e-13)
        assert np.all(np.abs(found[:, 16:]) <= 1e-13)


# ---------------------------------------------------------------------- moves of another kind


class RationalMoves(StraightMoves):
    """z(p) = z(0) + g(p) length rate, g(p) = p (1 + pole) / (1 + pole p): the same ends."""

    degree = None
    pole = 0.8

    def change(self, j, parts):
        return super().change(j, parts * (1 + self.pole) / (1 + self.pole * parts))

    def advance(self, z, j, part=1.0):
        z[self.entries(j)] += self.change(j, np.array([part]))[0]


def bent(path, kind=RationalMoves):
    """The same path with moves of another kind between the same ends."""
    moves = path._trace.moves
    other = kind(**{f.name: getattr(moves, f.name) for f in fields(moves)})
    trace = replace(path._trace, moves=other)
    return Path(path._problem, trace, path._data)


class Renamed(StraightMoves):
    """Straight moves that do not say so."""

    degree = None


PATHS = {
    "svc": (svc_path, {"gamma": 0.5, "stop": 0.05}, ("accuracy", "neg_hinge_loss")),
    "svr": (svr_path, {"gamma": 0.5, "epsilon": 0.2, "stop": 0.05}, SCORES[2:]),
    "lasso": (lasso_path, {}, SCORES[2:]),
}


def data_for(name):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=30)
    return X, (np.where(y > 0, 1, -1) if name == "svc" else y)


def curve_of(path, name, scoring):
    X, y = data_for(name)
    rng = np.random.default_rng(4)
    new, target = X[:9] + 0.2 * rng.normal(size=(9, 3)), y[:9].astype(float)
    cross = path._data.kernel.cross(X, new) if name != "lasso" else new.T
    omega = rng.uniform(0.5, 2.0, 9)
    function = EXACT[scoring].on_path(path, cross, target, omega)
    options = {"range": (path.stop, path.start), "top": path.start, "scoring": "s", "loss": "l"}
    point = EXACT[scoring].at(None, target)
    brute = lambda v: point(path.decision_function(new, v).T) @ omega
    return Curve([function], path, **options), brute


@pytest.mark.parametrize("name, scoring", [(n, s) for n in PATHS for s in PATHS[n][2]])
def test_moves_of_another_kind(name, scoring):
    """Oracle: predictions of the same path, which replay its moves; the minimum by their grid."""
    make, options, _ = PATHS[name]
    path = bent(make(*data_for(name), **options))
    assert any(isinstance(b, Curved) for b in path.segments(np.zeros((path._n_coef, 1))))
    curve, brute = curve_of(path, name, scoring)
    v = np.exp(np.random.default_rng(5).uniform(*np.log([path.stop, path.start]), 400))
    straight, _ = curve_of(make(*data_for(name), **options), name, scoring)
    assert np.abs(curve(v) - straight(v)).max() > 1e-3, "bent and straight are the same"
    np.testing.assert_allclose(curve(v), brute(v), rtol=1e-9, atol=1e-9)
    assert curve.minimum <= brute(v).min() * (1 + 1e-9)
    assert brute(np.array([curve.minimiser]))[0] == pytest.approx(curve.minimum, rel=1e-9)


@pytest.mark.parametrize("name", ["svc", "lasso"])
def test_moves_of_another_kind_to_zero(name):
    """Oracle: predictions of the same path, down to a millionth of its last breakpoint."""
    X, y = data_for(name)
    y = np.where(X[:, 0] > 0, 1, -1) if name == "svc" else y
    options = {"gamma": 0.5} if name == "svc" else {}
    path = bent(PATHS[name][0](X, y, stop=0, **options))
    assert path.stop == 0
    cross = path._data.kernel.gram(X) if name == "svc" else X.T
    last = path.breakpoints[path.breakpoints > 0].min()
    v = np.geomspace(2e-6 * last, path.start, 500)
    f = f_at(path.segments(cross), path.coordinate.to_u(v))
    np.testing.assert_allclose(f.T, path.decision_function(X, v), rtol=0, atol=1e-8)


@pytest.mark.parametrize("name, scoring", [(n, s) for n in PATHS for s in PATHS[n][2]])
def test_straight_moves_need_not_say_so(name, scoring):
    """Oracle: the closed forms of straight segments."""
    make, options, _ = PATHS[name]
    path = make(*data_for(name), **options)
    a, _ = curve_of(path, name, scoring)
    b, _ = curve_of(bent(path, Renamed), name, scoring)
    v = np.geomspace(path.stop, path.start, 333)[1:-1]
    np.testing.assert_allclose(b(v), a(v), rtol=1e-10, atol=1e-10)
    assert b.minimum == pytest.approx(a.minimum, rel=1e-10)


# ---------------------------------------------------------------------- piecewise-linear losses


def by_slopes(kinks, slopes, m):
    """L at m by integration of the slopes from the place of the minimum, point by point."""
    reference = [k for k, a, b in zip(kinks, slopes, slopes[1:]) if a <= 0 <= b]
    zero = reference[0] if reference else (kinks[0] if slopes[0] > 0 else kinks[-1])
    ends = np.concatenate([[-np.inf], kinks, [np.inf]])
    sign = 1.0 if m >= zero else -1.0
    low, high = min(m, zero), max(m, zero)
    reach = np.clip(np.minimum(ends[1:], high) - np.maximum(ends[:-1], low), 0, None)
    return sign * float(reach @ slopes)


@pytest.mark.parametrize("bounded", [True, False])
def test_any_convex_piecewise_linear_loss(bounded):
    """Oracle: the integral of the slopes; the smallest value is 0 where there is one."""
    rng = np.random.default_rng(0)
    kinks = np.sort(rng.normal(size=(3, 8)), axis=0)
    slopes = np.sort(rng.normal(size=(4, 8)), axis=0) + (0 if bounded else 5)
    if bounded:
        slopes[0], slopes[-1] = -np.abs(slopes[0]), np.abs(slopes[-1])
    side = rng.choice([-1.0, 1.0], 8)
    loss = PiecewiseLinear(kinks, slopes, side)
    f = 3 * rng.normal(size=(50, 8))
    m = side * f
    expected = [
        [by_slopes(kinks[:, i], slopes[:, i], m[k, i]) for i in range(8)] for k in range(50)
    ]
    np.testing.assert_allclose(loss(f), expected, atol=1e-12)
    if bounded:
        least = loss(side * kinks).min(axis=0)
        np.testing.assert_allclose(least, 0, atol=1e-12)


def test_parts_of_a_piecewise_linear_loss(run):
    """Oracle: its values at places; its kinks are knots."""
    rng = np.random.default_rng(1)
    middle = run.f(3.0)[0]
    kinks = middle + np.sort(rng.normal(size=(2, run.m)), axis=0)
    side = rng.choice([-1.0, 1.0], run.m)
    kinks = np.sort(side * kinks, axis=0)
    slopes = np.array([-0.3, 0.0, 1.5])[:, None] * np.ones(run.m)
    loss, omega = PiecewiseLinear(kinks, slopes, side), rng.uniform(0.5, 2, run.m)
    blocks = run.segments(None)
    function = Piecewise.assemble(Parts.join([loss.parts(b, omega) for b in blocks]))
    u = rng.uniform(LOW, HIGH, 1000)
    np.testing.assert_allclose(function(u), loss(run.f(u)) @ omega, rtol=ROUND, atol=ROUND)


def test_squares_of_a_projective_f():
    """Oracle: what every kind of segment has, polynomials through values of f itself."""
    rng = np.random.default_rng(6)
    u = np.sort(rng.uniform(0.0, 5.0, 13))[::-1]
    f0, f1 = rng.normal(size=(2, 12, 9))
    block = Projective(u[:-1], u[1:], f0, f1, rng.uniform(-5.0, 0.95, 12))
    y, omega = rng.normal(size=9), rng.uniform(size=9)

    def loss(f):
        return (y - f) ** 2 @ omega

    known, other = block.parts([], loss, square=omega), Segments.parts(block, [], loss)
    at = rng.uniform(u[-1], u[0], 500)
    expected = Piecewise.assemble(other)(at)
    np.testing.assert_allclose(Piecewise.assemble(known)(at), expected, rtol=1e-11)
    np.testing.assert_allclose(expected, loss(f_at([block], at)), rtol=1e-11)
