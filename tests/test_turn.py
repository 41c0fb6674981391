"""Path.turn: from one parameter to another, without a new start."""

from functools import partial

import numpy as np
import pytest

from chemin import (
    laplacian_svc_path,
    lasso_path,
    nu_svr_path,
    quadratic_svr_path,
    svc_path,
    svr_path,
)
from chemin.datasets import make_sinexp
from contract import NUMBERS, assert_walked, beside_breakpoints, make_data, make_tied

KERNELS = [{"kernel": "rbf", "gamma": 0.3}, {"kernel": "linear"}]
DATA = [make_data, make_tied]

every = pytest.mark.parametrize(
    "data, options, intercept",
    [
        pytest.param(d, o, b, id=f"{d.__name__}-{o['kernel']}-{'b' if b else 'no b'}")
        for d in DATA
        for o in KERNELS
        for b in (True, False)
    ],
)


def same(a, b, X, at_a, at_b):
    """The same f, and the same tube."""
    f, g = a.decision_function(X, at_a), b.decision_function(X, at_b)
    np.testing.assert_allclose(f, g, atol=1e-9 * max(1.0, np.abs(f).max()))
    assert a.at(at_a).epsilon == pytest.approx(b.at(at_b).epsilon, abs=1e-9)


@every
@pytest.mark.parametrize("fraction", [1.3, 0.7, 0.1, 0.01])
def test_around_a_rectangle(data, options, intercept, fraction):
    """Oracle: the solution at which the chain began; and certificates all the way."""
    X, y = data(NUMBERS)
    path = nu_svr_path(X, y, nu=0.31, intercept=intercept, **options)
    begin = fraction * path.start
    chain = [path.turn("nu", at=begin, stop=0.77)]
    chain.append(chain[-1].turn("lambda", at=0.77, stop=begin / 3))
    chain.append(chain[-1].turn("nu", at=chain[-1].stop, stop=0.31))
    chain.append(chain[-1].turn("lambda", at=chain[-1].stop, stop=begin))
    for part in chain:
        assert part.complete, part.reason
        assert_walked(part, above=False, n_random=50)
    same(path, chain[-1], X, begin, chain[-1].stop)


@every
def test_around_a_rectangle_of_epsilon(data, options, intercept):
    """Oracle: the solution at which the chain began; and certificates all the way."""
    X, y = data(NUMBERS)
    path = svr_path(X, y, epsilon=0.5, intercept=intercept, **options)
    begin = 0.05 * path.start
    chain = [path.turn("epsilon", at=begin, stop=0.1)]
    chain.append(chain[-1].turn("lambda", at=0.1, stop=begin / 7))
    chain.append(chain[-1].turn("epsilon", at=chain[-1].stop, stop=0.5))
    chain.append(chain[-1].turn("lambda", at=0.5, stop=begin))
    for part in chain:
        assert_walked(part, above=False, n_random=50)
    same(path, chain[-1], X, begin, chain[-1].stop)


@every
def test_from_one_tube_to_the_other_and_back(data, options, intercept):
    """Oracle: the solution at which the chain began. epsilon to nu, along nu, and back."""
    X, y = data(NUMBERS)
    path = svr_path(X, y, epsilon=0.6, intercept=intercept, **options)
    begin = 0.02 * path.start
    first = path.turn("nu", at=begin, stop=0.9)
    expected = np.abs(path.at(begin).alpha).sum() / len(y)
    assert first.start == pytest.approx(expected, rel=1e-9)
    assert_walked(first, above=False, n_random=50)
    f, g = path.decision_function(X, begin), first.decision_function(X, first.start)
    b, c = path.at(begin).intercept, first.at(first.start).intercept
    np.testing.assert_allclose(f - b, g - c, atol=1e-9 * np.abs(f).max())
    tube = first.turn("epsilon", at=0.9 * first.start + 0.1 * first.stop, stop=0.6)
    assert_walked(tube, above=False, n_random=50)
    same(path, tube, X, begin, tube.stop)


def test_a_surface_meets_paths_from_scratch():
    """Oracle: paths with a start of their own."""
    X, y = make_sinexp(80, 0, noise=0.1)
    path = nu_svr_path(X, y, nu=0.4, gamma=30.0)
    for value in path.start * np.array([0.3, 0.03, 0.003]):
        down = path.turn("nu", at=value, stop=0.1)
        fresh = nu_svr_path(X, y, along="nu", lambda_=value, gamma=30.0)
        for nu in (0.35, 0.2, 0.1):
            same(fresh, down, X, nu, nu)


def test_what_cannot_be_turned():
    """Oracle: the errors' words."""
    X, y = make_sinexp(30, 0)
    path = nu_svr_path(X, y)
    with pytest.raises(ValueError, match="turns to 'lambda' or 'nu' or 'epsilon'"):
        path.turn("gamma", at=path.start)
    with pytest.raises(ValueError, match="outside the walked range"):
        path.turn("nu", at=0.1 * path.stop)
    with pytest.raises(ValueError, match="one value"):
        path.turn("nu", at=[path.start])
    with pytest.raises(ValueError, match="stop must be at most 1"):
        path.turn("nu", at=path.start, stop=2.0)
    with pytest.raises(ValueError, match="turns to 'lambda' or 'cost'"):
        svc_path(X, y > 0).turn("nu", at=0.1)
    with pytest.raises(ValueError, match="one parameter"):
        lasso_path(X, y).turn("nu", at=0.1)
    wide = svr_path(X, y, epsilon=2.0)
    with pytest.raises(ValueError, match="no equivalent nu"):
        wide.turn("nu", at=wide.start)


@pytest.mark.parametrize(
    "walk", [partial(nu_svr_path, nu=1.0), partial(quadratic_svr_path, epsilon=0)]
)
def test_from_no_tube_at_all(walk):
    """Oracle: the certificate. A path down from epsilon = 0 is that one point."""
    X, y = make_tied(NUMBERS, 12)
    path = walk(X, y, gamma=1.0)
    at = 0.1 * path.start
    point = path.turn("epsilon", at=at)
    assert point.complete and point.start == point.stop == point.at(0.0).epsilon == 0.0
    assert point.certificate(0.0).exact
    np.testing.assert_allclose(point.at(0.0).coef, path.at(at).coef, atol=1e-9)


def test_down_from_a_tube_of_all_points():
    """Oracle: the certificate. No multiplier but 0, on ramps, and no intercept."""
    rng = np.random.default_rng(0)
    X, y = np.eye(3)[rng.integers(0, 3, 20)], rng.normal(size=20)
    path = quadratic_svr_path(X, y, kernel="linear", epsilon=0.1, intercept=False)
    wide = path.turn("epsilon", at=path.stop, stop=10.0)
    again = wide.turn("epsilon", at=10.0)
    assert again.complete and again.n_events
    assert_walked(again)


def test_a_turned_path_is_saved(tmp_path):
    """Oracle: the path that was saved."""
    import chemin

    X, y = make_sinexp(40, 0)
    path = nu_svr_path(X, y).turn("nu", at=0.1, stop=0.2)
    path.save(tmp_path / "path.npz")
    again = chemin.load(tmp_path / "path.npz")
    same(path, again, X, 0.3, 0.3)
    same(path.turn("lambda", at=0.3), again.turn("lambda", at=0.3), X, 0.05, 0.05)


def test_round_off_at_the_start_is_no_coefficient():
    """Oracle: the certificate. What comes to its pin where a path begins stands there exactly:
    beside a model that has just begun 1e-16 is seen.
    """
    X = [
        [0.2, 0.2, -0.1], [-0.4, -0.0, -0.2], [-0.8, 0.1, -1.0], [-1.4, -0.1, 1.0],
        [-1.7, 0.1, 0.3], [-0.1, -0.7, 0.1], [1.0, -0.7, 1.4], [1.1, -2.8, 0.5],
        [0.1, -0.7, -1.6], [-0.2, 1.2, -0.4], [-0.8, 1.2, -0.8], [-0.5, -0.9, 0.1],
        [2.2, -0.0, -0.7], [1.0, 1.5, -1.1],
    ]  # fmt: skip
    y = [1, 0, -1, 0, 0, -1, 1, 1, -1, 0, 0, -1, 1, 0]
    path = laplacian_svc_path(X, y, lambda2=1.0, rho=1.0, gamma=1.0)
    other = path.turn("lambda2", at=path.breakpoints[10])
    back = other.turn("lambda1", at=0.016490741755119036, stop=0.07)
    assert back.complete
    assert np.all(back.certificate(beside_breakpoints(back)).exact)


@pytest.mark.parametrize("make, to", [(svr_path, "epsilon"), (nu_svr_path, "nu")])
def test_nothing_goes_on_from_a_limit(make, to):
    """Oracle: the message. At lambda = 0 f is a limit, and multipliers are 0."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    path = make(X, X[:, 0], gamma=1.0, stop=0)
    assert path.at(0.0).lambda_ == 0
    with pytest.raises(ValueError, match="at must be greater than 0, got lambda = 0"):
        path.turn(to, at=0.0)
    with pytest.raises(ValueError, match="values must be greater than 0, got lambda = 0"):
        path.leave_one_out([0.1 * path.start, 0.0])
