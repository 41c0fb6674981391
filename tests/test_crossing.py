"""The first of many rational functions to come to zero."""

import numpy as np
import pytest
from scipy.optimize import brentq

from chemin.engine import crossing
from chemin.engine.crossing import Search
from chemin.engine.reference import Move


def draw(seed, way):
    """Gaps of 30 variables on a move, and the same functions by their definition."""
    rng = np.random.default_rng(seed)
    gaps = rng.uniform(0.1, 2.0, (2, 30))
    gaps[rng.random(gaps.shape) < 0.2] = np.inf
    speed = rng.normal(size=30)
    near = way * rng.uniform(0.0, 1.0, 4)
    bends = rng.normal(size=(30, 4)) * 0.5
    move = Move(speed, speed, -1.0, np.array([-speed, speed]))

    def values(s):
        x = s * speed + bends @ (s * s / (1.0 - s * near))
        return gaps + np.array([x, -x])

    return gaps, move, bends, near, values


def brute(values, reach):
    """Between the sign changes of a fine grid."""
    grid = np.linspace(0.0, reach, 1001)
    negative = np.array([values(s) < 0 for s in grid])
    if not negative.any():
        return np.inf, None
    k = int(np.argmax(negative.any(axis=(1, 2))))
    roots = {
        (i, j): brentq(lambda s, i=i, j=j: values(s)[i, j], grid[k - 1], grid[k], xtol=1e-15)
        for i, j in np.argwhere(negative[k])
    }
    who = min(roots, key=roots.get)
    return roots[who], who


@pytest.mark.parametrize("way", [1.0, -1.0], ids=["down", "up"])
@pytest.mark.parametrize("early", [True, False])
def test_the_first_crossing_is_found(early, way):
    """Oracle: a fine grid, and brentq between its sign changes."""
    for seed in range(12):
        gaps, move, bends, near, values = draw(seed, way)
        reach = 0.75
        step, blocking = Search(early)(gaps, move, bends, near, reach)
        root, who = brute(values, reach)
        assert step == pytest.approx(root, rel=1e-11)
        if who is not None:
            assert blocking[who] and blocking.sum() == 1


def test_a_search_that_is_given_up_is_no_crossing(monkeypatch):
    """Oracle: the functions themselves. None has come to zero, so none may block."""
    monkeypatch.setattr(crossing, "MOST", 2)
    seen = 0
    for seed in range(40):
        gaps, move, bends, near, values = draw(seed, 1.0)
        step, blocking = Search()(gaps, move, bends, near, 0.75)
        if np.isfinite(step) and not blocking.any():
            seen += 1
            assert np.all(values(step) >= 0)
    assert seen > 0


def test_poles_that_cancel_do_not_hold_the_search_up():
    """Oracle: the functions without the poles that cancel. Copies of points have such weights."""
    far, reach = 0.75, 0.7
    for seed in range(10):
        gaps, move, bends, near, _ = draw(seed, 1.0)
        gaps = gaps * 1e-6
        move.closing[:] *= 1e-6
        near = np.append(near, [far, far * (1 + 1e-14), far * (1 + 2e-14)])
        extra = np.array([1.0, -2.0, 1.0]) * np.abs(bends).max()
        with_them = np.hstack([1e-6 * bends, np.tile(extra, (len(bends), 1))])
        plain, full = Search(), Search()
        step, blocking = plain(gaps, move, 1e-6 * bends, near[:4], reach)
        same, also = full(gaps, move, with_them, near, reach)
        assert same == pytest.approx(step, rel=1e-7)
        np.testing.assert_array_equal(also, blocking)
        assert full.steps <= 3 * plain.steps
