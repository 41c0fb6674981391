"""What compiled loops tell of straight segments and of moves. Oracle: NumPy's own."""

import numpy as np
import pytest
from chemin.engine._cumulate import cumulated
from chemin.segments._ends import least_size, positive, positive_rows
from sklearn.datasets import make_classification

from chemin import svc_path
from chemin.segments import Straight
from chemin.segments.kinds import Told
from chemin.selection.steps import signs


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7, 13)])
def test_signs_at_both_ends(shape):
    rng = np.random.default_rng(0)
    whole = rng.integers(-1, 2, (2, shape[0], shape[1] + 1)).astype(float)
    f0, f1 = whole[:, :, :-1]  # rows are not side by side
    first, last, found, zero = positive(f0, f1)
    np.testing.assert_array_equal(first, f0 > 0)
    np.testing.assert_array_equal(last, f1 > 0)
    np.testing.assert_array_equal(found, np.flatnonzero((f0 > 0) != (f1 > 0)))
    assert zero == bool((f0 == 0).any())
    assert least_size(f0) == np.abs(f0).min(initial=np.inf)
    assert least_size(np.asfortranarray(f0 + 0.5)) == np.abs(f0 + 0.5).min(initial=np.inf)
    up, least = positive_rows(f0)
    np.testing.assert_array_equal(up, f0 > 0)
    np.testing.assert_array_equal(least, np.abs(f0).min(axis=1, initial=np.inf))


@pytest.mark.parametrize("points", ["apart", "tied"])
def test_signs_that_are_told_without_f(points):
    """Oracle: the same segments by f at their ends."""
    X, y = make_classification(90, 4, flip_y=0.1, random_state=0)
    if points == "tied":  # jumps, and labels that only round-off would tell
        X = X.round()
    path = svc_path(X[:60], y[:60], gamma=0.3)
    cross = path.cross(X[60:] + (points == "apart") * 1e-3)
    blocks = list(path.segments(cross))
    told = [block for block in blocks if isinstance(block, Told)]
    assert told and sum(len(block) for block in told) > 0.5 * path.n_events
    plain = [Straight(block.u0, block.u1, block.f0, block.f1) for block in blocks]
    for block, other in zip(blocks, plain):
        for found, expected in zip(block.sides(), other.sides()):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    u = float(path.coordinate.to_u(path.start))
    ours, theirs = (signs(each, u, cross.shape[1]) for each in (blocks, plain))
    np.testing.assert_array_equal(ours.point, theirs.point)
    np.testing.assert_allclose(ours.u, theirs.u, rtol=1e-12)
    values = np.geomspace(path.start, path.stop, 50)[1:-1]
    f = path.decision_function(X[60:] + (points == "apart") * 1e-3, values)
    at = ours.steps().error(np.ones(cross.shape[1], np.intp), np.ones(cross.shape[1]))
    np.testing.assert_allclose(at(path.coordinate.to_u(values)), (f <= 0).sum(axis=0))


def test_moves_are_added_up():
    """Oracle: the sum of the steps, one after the other."""
    rng = np.random.default_rng(1)
    sizes = np.array([0, 3, 1, 0, 4])
    pointer = np.concatenate([[5], 5 + np.cumsum(sizes)])
    index = rng.integers(0, 6, pointer[-1]).astype(np.int32)
    rate, pace, place = rng.normal(size=8), rng.normal(size=5), np.full(6, -1)
    moved, so_far, far = cumulated(index, rate, pace, pointer, place)
    step = rate * np.repeat(pace, sizes)
    dense = np.zeros((6, 6))
    np.add.at(dense, (1 + np.repeat(np.arange(5), sizes), index[5:]), step)
    np.testing.assert_allclose(so_far[:, :-1], np.cumsum(dense, axis=0)[:, moved], atol=1e-14)
    assert np.all(so_far[:, -1] == 1) and far == pytest.approx(np.abs(step).sum())
    assert set(moved) == set(index[5:]) and np.all(place == -1)


@pytest.mark.parametrize("back", [False, True])
def test_the_last_change_at_one_place_counts(back):
    """Oracle: the sign of f. It touches 0 at a knot and goes back: two changes at one place."""
    knots, f = np.array([1.0, 2.0, 3.0, 4.0]), np.array([[1.0], [0.0], [2.0], [-1.0]])
    u0, u1, f0, f1 = knots[:-1], knots[1:], f[:-1], f[1:]
    if back:
        u0, u1, f0, f1 = u1[::-1], u0[::-1], f1[::-1], f0[::-1]
    found = signs([Straight(u0, u1, f0, f1)], 1.0, 1)
    assert found.first.tolist() == [True] and found.ends == (1.0, 4.0)
    assert found.u[-1] == pytest.approx(3 + 2 / 3) and not found.up[-1]
    error = found.steps().error(np.array([1]), np.ones(1))
    np.testing.assert_array_equal(error(np.array([1.5, 2.5, 3.5, 3.9])), [0, 0, 0, 1])
