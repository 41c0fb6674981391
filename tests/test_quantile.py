"""Kernel quantile regression, in lambda and in tau."""

import numpy as np
import pytest
from qpsolvers import solve_qp
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from chemin import quantile_path, svr_path
from contract import NUMBERS, assert_walked, make_data, make_tied, random_values

TIGHT = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}
GAMMA = 0.1

with_and_without = pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
both_ways = pytest.mark.parametrize("along", ["lambda", "tau"])


def numbers(n=50):
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X)[:n], y[:n] / 50


def kernel(X, Z=None):
    return np.exp(-GAMMA * ((X[:, None] - (X if Z is None else Z)[None]) ** 2).sum(axis=2))


def weights(n, weighted):
    return 10.0 ** np.random.default_rng(3).uniform(-2, 1, n) if weighted else np.ones(n)


def solve_dual(K, y, lam, tau, w, intercept):
    """K coef and the middle of the intercepts, by an interior-point method.

    max y'a - a'Ka / (2 lambda) with -w (1 - tau) <= a <= w tau, and 1'a = 0 with an intercept.
    """
    n = len(y)
    shift = np.median(y) if intercept else 0.0
    sum_to_zero = {"A": np.ones((1, n)), "b": np.zeros(1)} if intercept else {}
    box = {"lb": -w * (1 - tau), "ub": w * tau}
    a = solve_qp(K / lam, shift - y, **sum_to_zero, **box, solver="clarabel", **TIGHT)
    return K @ a / lam


def bends(r, w, tau):
    """The ends of the interval of constants that are best for the residuals r: w-quantiles."""
    order = np.argsort(r)
    share = np.cumsum(w[order]) / w.sum()
    low = r[order][np.searchsorted(share, tau * (1 - 1e-9))]
    high = r[order][np.searchsorted(share, tau * (1 + 1e-9))]
    return low, high


# ---------------------------------------------------------------------- a convex solver


@pytest.mark.filterwarnings("ignore::UserWarning")  # dense matrices are converted
@weighted
@with_and_without
@both_ways
def test_meets_a_convex_solver(along, intercept, weighted):
    """Oracle: Clarabel on the dual for f without its intercept; for that the tau-quantile of what
    is left of the targets.
    """
    X, y = numbers()
    K, w = kernel(X), weights(len(y), weighted)
    options = {"kernel": "precomputed", "intercept": intercept, "sample_weight": w}
    path = quantile_path(K, y, along=along, tau=0.3, lambda_=0.4, **options)
    if along == "lambda":
        values = path.start * np.geomspace(1.2, 2e-3, 10)
    else:
        values = np.linspace(0.03, 0.97, 10)
    for value in values:
        s = path.at(value)
        assert (s.lambda_, s.tau) == pytest.approx(
            (value, 0.3) if along == "lambda" else (0.4, value)
        )
        theirs = solve_dual(K, y, s.lambda_, s.tau, w, intercept)
        size = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(K @ s.coef, theirs, atol=1e-7 * size)
        if intercept:
            low, high = bends(y - theirs, w, s.tau)
            assert low - 1e-6 * size <= s.intercept <= high + 1e-6 * size
        else:
            assert s.intercept == 0.0


# ---------------------------------------------------------------------- fractions


@weighted
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
@pytest.mark.parametrize("options", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.3}],
                         ids=["linear", "rbf"])  # fmt: skip
def test_fractions_obey_tau(data, options, weighted):
    """Oracle: optimality of the intercept. Weight below f is at most tau, up to f at least."""
    X, y = data(NUMBERS)
    w = weights(len(y), weighted)
    path = quantile_path(X, y, along="tau", lambda_=0.3, sample_weight=w, **options)
    values = np.concatenate([np.linspace(1e-4, 1 - 1e-4, 50), path.breakpoints])
    below, up_to = path.fractions_below(values)
    assert np.all(below <= values + 1e-9) and np.all(values <= up_to + 1e-9)
    # Counted once more by hand, where a point on f is told from one beside it.
    f = path.decision_function(X, values)
    for j in range(0, len(values), 7):
        apart = y - f[:, j]
        assert below[j] == pytest.approx(w[apart < -1e-7].sum() / w.sum())
        assert up_to[j] == pytest.approx(w[apart <= 1e-7].sum() / w.sum())
    single = path.fractions_below(float(values[7]))
    assert single == pytest.approx((below[7], up_to[7]))
    assert all(type(v) is float for v in single)


def test_fractions_obey_tau_where_coefficients_are_large():
    """Oracle: as above. f is known to a millionth of y there: what certificates leave open is on
    the curve.
    """
    rng = np.random.default_rng(0)
    X, y = np.eye(3)[rng.integers(0, 3, 22)], 0.3 * rng.normal(size=22)
    path = quantile_path(X, y, along="tau", lambda_=1e-6, gamma=1.5e-4)
    values = np.linspace(0.01, 0.99, 300)
    below, up_to = path.fractions_below(values)
    assert path.complete and path.certificate(values).exact.all()
    assert np.all(below <= values + 1e-9) and np.all(values <= up_to + 1e-9)


def test_fractions_need_the_intercept():
    """Oracle: by hand. Without it f = 0 at a large lambda, below all of these targets."""
    X, y = make_data(NUMBERS)
    path = quantile_path(X, np.abs(y) + 1, tau=0.3, intercept=False)
    assert path.fractions_below(1e4 * path.start) == (0.0, 0.0)


def test_fractions_of_a_precomputed_kernel_and_idle_rows():
    """Oracle: the path on X itself, without the rows of weight zero."""
    X, y = make_data(NUMBERS)
    w = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    options = {"along": "tau", "lambda_": 0.3}
    whole = quantile_path(kernel(X), y, kernel="precomputed", sample_weight=w, **options)
    part = quantile_path(X[w > 0], y[w > 0], kernel="rbf", gamma=GAMMA, **options)
    values = np.linspace(0.05, 0.95, 20)
    for ours, theirs in zip(whole.fractions_below(values), part.fractions_below(values)):
        np.testing.assert_allclose(ours, theirs)


# ---------------------------------------------------------------------- crossings


def fan(n=40, seed=0):
    """Targets whose spread shrinks to nothing and would be negative beyond: lines cross there."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 1, n)
    return x[:, None], 1 + x + (1 - x) * rng.normal(size=n)


def falls(path, X, n=4001):
    """Brute force: where f falls from one value of a fine grid of tau to the next."""
    grid = np.linspace(path.start, path.stop, n)
    f = path.decision_function(X, grid)
    return grid, f, np.diff(f, axis=1) < -1e-12 * np.abs(f).max()


def test_crossings_are_found_where_they_are():
    """Oracle: brute force, f on a fine grid of tau."""
    X, y = fan()
    path = quantile_path(X, y, along="tau", lambda_=1e-3, kernel="linear")
    new = np.array([[0.5], [1.0], [1.5], [3.0]])
    grid, f, fall = falls(path, new)
    found = path.crossings(new)
    assert fall[2].any() and fall[3].any()
    for i in range(len(new)):
        mine = found[found["point"] == i]
        assert np.all(mine["from"] < mine["to"]) and np.all(mine["drop"] > 0)
        inside = np.zeros(len(grid) - 1, dtype=bool)  # steps that meet a stretch
        held = np.zeros(len(grid) - 1, dtype=bool)  # and those that lie in one
        for row in mine:
            inside |= (grid[1:] > row["from"]) & (grid[:-1] < row["to"])
            held |= (grid[:-1] >= row["from"]) & (grid[1:] <= row["to"])
            ends = path.decision_function(new, [row["from"], row["to"]])[i]
            np.testing.assert_allclose(row["drop"], ends[0] - ends[1], atol=1e-7)
        assert np.all(inside[fall[i]]), "f falls where no crossing is said to be"
        assert np.all(np.diff(f[i])[held] <= 1e-9), "f rises where a crossing is said to be"


def test_crossings_of_the_path_s_own_points():
    """Oracle: the same points given by hand."""
    X, y = make_data(NUMBERS)
    path = quantile_path(X, y, along="tau", lambda_=1e-2, kernel="rbf", gamma=0.3)
    own, given = path.crossings(), path.crossings(X)
    assert len(own) > 0
    np.testing.assert_array_equal(own, given)


def test_no_crossings_where_f_rises():
    """Oracle: a closed form. At a large lambda f is constant, the tau-quantile: it only rises.

    And brute force, on a fine grid.
    """
    X, y = make_data(NUMBERS)
    path = quantile_path(X, y, along="tau", lambda_=1e7, kernel="rbf", gamma=0.3)
    spread = np.linspace(-3, 3, 20)[:, None] * np.ones(X.shape[1])
    assert not falls(path, spread)[2].any()
    assert len(path.crossings(spread)) == 0
    for tau in (0.13, 0.51, 0.77):  # no whole numbers of 40 points: one target is the quantile
        quantile = np.sort(y)[int(tau * len(y))]
        np.testing.assert_allclose(path.predict(X, tau), quantile, atol=1e-3)


def test_crossings_need_tau():
    """Oracle: the message."""
    X, y = make_data(NUMBERS)
    with pytest.raises(ValueError, match="crossings needs a path in tau, got one in lambda"):
        quantile_path(X, y).crossings()


# ---------------------------------------------------------------------- relatives


@with_and_without
@weighted
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
def test_the_median_is_an_svr_without_a_tube(data, weighted, intercept):
    """Oracle: svr_path. The loss at tau = 1/2 is half of |r|, so that

        lambda/2 |f|^2 + 1/2 sum w |r|  =  1/2 (2 lambda/2 |f|^2 + sum w |r|):

    the SVR with epsilon = 0 has twice the lambda, twice the multipliers and twice the objective.
    """
    X, y = data(NUMBERS)
    options = {"kernel": "rbf", "gamma": 0.3, "intercept": intercept}
    options["sample_weight"] = weights(len(y), weighted)
    path = quantile_path(X, y, tau=0.5, **options)
    tube = svr_path(X, y, epsilon=0.0, stop=2 * path.stop, **options)
    for value in random_values(path, 20):
        ours, theirs = path.at(value), tube.at(2 * value)
        f, g = (p.decision_function(X, s.lambda_) for p, s in ((path, ours), (tube, theirs)))
        np.testing.assert_allclose(f, g, atol=1e-8 * max(1.0, np.abs(f).max()))
        assert theirs.objective == pytest.approx(2 * ours.objective, rel=1e-8)
        if data is make_data:  # copies of a point may share a multiplier as they like
            np.testing.assert_allclose(theirs.alpha, 2 * ours.alpha, atol=1e-8)


@pytest.mark.parametrize("tau", [0.2, 0.5, 0.9])
def test_two_targets(tau):
    """Oracle: by hand. A line through two points: multipliers +-a with a = lambda dy/d^2, until
    that is min(tau, 1 - tau); then f rises by a d^2/lambda.
    """
    X, y = np.array([[0.0], [2.0]]), np.array([1.0, 5.0])
    path = quantile_path(X, y, tau=tau, kernel="linear")
    top = min(tau, 1 - tau)
    for lam in (0.1 * top, 0.9 * top):
        np.testing.assert_allclose(path.predict(X, lam), y)
        np.testing.assert_allclose(path.at(lam).alpha, [-lam, lam], atol=1e-12)
    for lam in (2 * top, 4 * top):
        np.testing.assert_allclose(np.diff(path.predict(X, lam)), 4 * top / lam)


@with_and_without
@weighted
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
@pytest.mark.parametrize("fraction", [0.7, 0.1, 0.01])
def test_turning_to_tau_and_back(data, weighted, intercept, fraction):
    """Oracle: the solution at which the chain began; paths without turns; and certificates."""
    X, y = data(NUMBERS)
    options = {"kernel": "rbf", "gamma": 0.3, "intercept": intercept}
    options["sample_weight"] = weights(len(y), weighted)
    path = quantile_path(X, y, tau=0.3, **options)
    begin = fraction * path.start
    chain = [path.turn("tau", at=begin, stop=0.8)]
    chain.append(chain[-1].turn("lambda", at=0.8, stop=begin / 3))
    chain.append(chain[-1].turn("tau", at=chain[-1].stop, stop=0.3))
    chain.append(chain[-1].turn("lambda", at=0.3, stop=begin))
    for part in chain:
        assert part.complete, part.reason
        assert_walked(part, above=False, n_random=30)
    same_model(path, begin, chain[-1], chain[-1].stop, X)
    straight = quantile_path(X, y, along="tau", lambda_=begin, **options)
    for tau in (0.35, 0.5, 0.77):
        same_model(straight, tau, chain[0], tau, X)


def same_model(a, at_a, b, at_b, X):
    """The same f, where need be up to an intercept that is not unique."""
    s, t = a.at(at_a), b.at(at_b)
    assert (s.lambda_, s.tau) == pytest.approx((t.lambda_, t.tau))
    f, g = a.decision_function(X, at_a), b.decision_function(X, at_b)
    np.testing.assert_allclose(f, g, atol=1e-8 * max(1.0, np.abs(f).max()))


@with_and_without
@both_ways
def test_leave_one_out_is_a_path_without_the_point(along, intercept):
    """Oracle: retraining."""
    X, y = make_data(NUMBERS, n=25)
    w = weights(len(y), True)
    options = {"along": along, "tau": 0.3, "lambda_": 0.4, "intercept": intercept}
    options |= {"kernel": "rbf", "gamma": 0.3, "stop": 0.95 if along == "tau" else 1e-3}
    path = quantile_path(X, y, sample_weight=w, **options)
    values = [0.2, 0.53, 0.9] if along == "tau" else path.start * np.array([0.3, 0.03, 0.003])
    ours = path.leave_one_out(values)
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        without = quantile_path(X[kept], y[kept], sample_weight=w[kept], **options)
        theirs = without.decision_function(X[[i]], values)[0]
        np.testing.assert_allclose(ours[i], theirs, atol=1e-7 * max(1.0, np.abs(theirs).max()))
