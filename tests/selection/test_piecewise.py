"""Piecewise quadratics: sums, refinements and minima."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from chemin.segments import Parts
from chemin.segments.parts import widened
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


def widest(f, columns=12):
    """The same function with room for more coefficients of the bend: no closed form is used."""
    return replace(f, bend=widened(f.bend, columns))


@pytest.mark.parametrize("as_it_is", [lambda f: f, widest], ids=["quadratic", "any degree"])
def test_lowest(as_it_is):
    """Oracle: numpy's polynomials, at the ends and at the roots of the derivative."""
    f = random_function(np.random.default_rng(1), 40)
    value, u = as_it_is(f).lowest()
    for j in range(40):
        left, right, bend = f.left[j], f.right[j], f.bend[j, 0]
        p = Polynomial([left, right - left - bend, bend])
        places = [0.0, 1.0, *(s for s in p.deriv().roots() if 0 <= s <= 1)]
        best = min(places, key=p)
        assert value[j] == pytest.approx(p(best), abs=1e-12)
        where = f.knots[j] + best * (f.knots[j + 1] - f.knots[j])
        assert u[j] == pytest.approx(where, abs=1e-9)


def test_lowest_up_to_a_level():
    """Oracle: all minima; those at or below the level are the same, none of the others is."""
    rng = np.random.default_rng(5)
    f = replace(random_function(rng, 60), bend=rng.normal(size=(60, 5)))
    value, u = f.lowest()
    for most in (value.min(), np.median(value)):
        some, where = f.lowest(most)
        low = value <= most
        np.testing.assert_array_equal((some[low], where[low]), (value[low], u[low]))
        assert np.all(some[~low] > most)


@pytest.mark.parametrize("most", [-1.0, 0.0, 0.5])
def test_below(most):
    """Oracle: values at 20,000 places; closed forms and general ones say the same."""
    f = random_function(np.random.default_rng(2), 30)
    every = np.ones(30, dtype=bool)
    u = np.random.default_rng(3).uniform(f.knots[0], f.knots[-1], 20_000)
    for function in (f, widest(f)):
        low, high = function.below(most, every)
        within = np.zeros(len(u), dtype=bool)
        for a, b in zip(low, high):
            within |= (a <= u) & (u <= b)
        told = np.abs(f(u) - most) > 1e-9
        np.testing.assert_array_equal(within[told], (f(u) <= most)[told])


def test_a_smooth_function_on_finer_knots():
    """Oracle: its values; sums of such functions likewise."""
    rng = np.random.default_rng(4)
    f, g = (replace(random_function(rng), bend=rng.normal(size=(7, k))) for k in (6, 9))
    u = np.sort(rng.uniform(0, 10, 400))
    knots = np.unique(np.concatenate([f.knots, rng.uniform(f.knots[0], f.knots[-1], 50)]))
    np.testing.assert_allclose(f.on(knots)(u), f(u), atol=1e-12)
    np.testing.assert_allclose((f + g * 2.0)(u), f(u) + 2 * g(u), atol=1e-11)


def test_a_sum_of_functions_of_many_kinds():
    """Oracle: each function on its own, wherever one of them has a piece; bends of any degree."""
    rng = np.random.default_rng(3)
    functions = []
    for columns in (0, 1, 5, 12, 16):
        knots = np.concatenate([[0.0], np.sort(rng.uniform(0, 10, 30)), [10.0]])
        fall = 3.0 ** -np.arange(columns)
        bend = fall * rng.normal(size=(31, columns))
        functions.append(Piecewise(knots, *rng.normal(size=(2, 31)), bend))
    u = rng.uniform(0, 10, 2000)
    expected = np.sum([f(u) for f in functions], axis=0)
    np.testing.assert_allclose(total(functions)(u), expected, rtol=0, atol=1e-14 * 50)


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
