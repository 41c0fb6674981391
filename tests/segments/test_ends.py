"""What compiled loops tell of straight segments and of moves. Oracle: NumPy's own."""

import numpy as np
import pytest
from chemin.engine._cumulate import cumulated
from chemin.segments._ends import least_size, positive

from chemin.segments import Straight
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
