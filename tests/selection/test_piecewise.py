"""Piecewise quadratics: sums, refinements and minima."""

import numpy as np

from chemin.segments import Parts
from chemin.selection.piecewise import Piecewise, total


def random_function(rng, m=7):
    knots = np.sort(rng.uniform(0, 10, m + 1))
    return Piecewise(knots, *rng.normal(size=(2, m)), rng.uniform(0, 4, (m, 1)))


def at(f, u):
    """Value by the formula, one u at a time."""
    j = int(np.clip(np.searchsorted(f.knots, u) - 1, 0, len(f.left) - 1))
    s = np.clip((u - f.knots[j]) / (f.knots[j + 1] - f.knots[j]), 0, 1)
    return f.left[j] * (1 - s) + f.right[j] * s - f.bend[j, 0] * s * (1 - s)


def test_sum_is_the_sum_of_values():
    """Oracle: each function on its own; constant outside its knots."""
    rng = np.random.default_rng(0)
    functions = [random_function(rng) for _ in range(5)]
    u = rng.uniform(-1, 11, 300)
    expected = [sum(at(f, v) for f in functions) for v in u]
    inside = (u > min(f.knots[0] for f in functions)) & (u < max(f.knots[-1] for f in functions))
    got = total(functions)(u)
    np.testing.assert_allclose(got[inside], np.array(expected)[inside], atol=1e-12)


def test_lowest_is_below_a_grid():
    """Oracle: 1,000 values on each piece."""
    rng = np.random.default_rng(1)
    f = random_function(rng, 20)
    value, u = f.lowest()
    for j in range(20):
        grid = np.linspace(f.knots[j], f.knots[j + 1], 1000)[1:-1]
        values = f(grid)
        assert value[j] <= values.min() + 1e-12
        assert value[j] >= min(values.min(), f.left[j], f.right[j]) - 1e-4
        assert f.knots[j] <= u[j] <= f.knots[j + 1]


def test_assemble_takes_pieces_in_any_order_and_direction():
    """Oracle: the function from left to right."""
    knots, left = np.array([0.0, 1.0, 3.0, 4.0]), np.array([5.0, 2.0, 1.0])
    right, bend = np.array([4.0, 0.0, 9.0]), np.array([[0.0], [1.0], [0.5]])
    f = Piecewise(knots, left, right, bend)
    u0, u1 = knots[:-1], knots[1:]
    back = np.array([1, 2, 0])
    g = Piecewise.assemble(Parts(u1[back], u0[back], right[back], left[back], bend[back]))
    u = np.linspace(0.01, 3.99, 50)
    np.testing.assert_allclose(f(u), g(u))


def test_repetitions_go_and_jumps_stay():
    """Oracle: by hand."""
    value = np.array([1.0, 1.0, 2.0, 2.0, 1.0])
    f = Piecewise.steps(np.arange(6.0), value).without_repetitions()
    np.testing.assert_array_equal(f.knots, [0, 2, 4, 5])
    assert f(2.0) == 1 and f(2.0, before=False) == 2
