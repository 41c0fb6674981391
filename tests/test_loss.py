"""Losses with kinks and ramps: values, slopes, gaps and residuals."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from chemin.problems import Loss

INF = np.inf
LOSSES = {
    "hinge": Loss(1.0, (0.0,), (-1.0, 0.0)),
    "tube": Loss(0.3, (-0.2, 0.2), (-1.0, 0.0, 1.0)),
    "tilted": Loss(0.3, (0.0,), (-0.3, 0.7)),
    "squared hinge": Loss(1.0, (0.0,), (-INF, 0.0), 1.0),
    "huber hinge": Loss(1.0, (0.1,), (-0.2, 0.0), 1.0),
    "squared tube": Loss(0.3, (-0.2, 0.2), (-INF, 0.0, INF), 0.7),
    "huber tube": Loss(0.3, (-0.2, 0.2), (-0.5, 0.0, 1.5), 0.7),
    "huber": Loss(0.3, (0.0, 0.0), (-0.5, 0.0, 0.5), 2.0),
    "square": Loss(0.3, (0.0,), (-INF, INF), 0.4),
}
every = pytest.mark.parametrize("name", LOSSES)
PLACES = np.concatenate([np.linspace(-3, 3, 25) + 0.011, [-0.2, 0.0, 0.2]])


def column(x):
    return np.atleast_1d(np.asarray(x, dtype=float))[:, None]


def value(loss, e):
    return float(loss.value(column(e))[0, 0])


def slopes_of(loss):
    """Multipliers to try: at pins, between them and beyond infinite ones."""
    ends = [g for g in loss.slopes if np.isfinite(g)]
    low = min(ends, default=0.0) - (3.0 if np.isinf(loss.slopes[0]) else 0.0)
    high = max(ends, default=0.0) + (3.0 if np.isinf(loss.slopes[-1]) else 0.0)
    return -np.unique(np.concatenate([ends, np.linspace(low, high, 9)]))


@every
def test_slope_is_the_derivative(name):
    """Oracle: finite differences of the value, away from kinks; and its integral is the value."""
    loss = LOSSES[name]
    for e in PLACES[:25]:
        slope = (value(loss, e + 1e-6) - value(loss, e - 1e-6)) / 2e-6
        assert loss.slope(column(e))[0, 0] == pytest.approx(slope, abs=1e-7)
    rise = value(loss, 2.0) - value(loss, -2.0)
    bends = [o + loss.softness * g for o in loss.offsets for g in loss.slopes if np.isfinite(g)]
    area = quad(lambda e: float(loss.slope(column(e))[0, 0]), -2, 2, points=sorted(bends))[0]
    assert rise == pytest.approx(area, abs=1e-10)


@every
def test_the_least_value_is_zero(name):
    """Oracle: a grid."""
    values = LOSSES[name].value(column(np.linspace(-4, 4, 8001)))
    assert values.min() == pytest.approx(0.0, abs=1e-6) and values.min() >= 0.0


@every
def test_gap_is_fenchels(name):
    """Oracle: the conjugate by a search. L(m) + max_x (-a x - L(x)) + a m."""
    loss = LOSSES[name]
    for a in slopes_of(loss):
        found = [
            minimize_scalar(
                lambda x, a=a: value(loss, x) + a * x, bounds=(c - 1, c + 1), method="bounded",
                options={"xatol": 1e-9},
            ).fun
            for c in np.linspace(-8, 8, 17)
        ]  # fmt: skip
        for e in PLACES:
            gap = float(loss.fenchel_gap(column(e), column(a))[0, 0])
            assert gap >= 0.0
            assert gap == pytest.approx(value(loss, e) + a * e - min(found), abs=1e-7)


@every
def test_residual_is_zero_where_the_gap_is(name):
    """Oracle: the gap, and the bracket: three ways to say that -a is a slope at e."""
    loss, seen = LOSSES[name], 0
    for a in slopes_of(loss):
        low, high = (float(x[0, 0]) for x in loss.bracket(column(a), np.zeros((1, 1))))
        ends = [x for x in (low, high) if np.isfinite(x)]
        for e in np.concatenate([PLACES, ends, [np.mean(ends)]]):
            gap = float(loss.fenchel_gap(column(e), column(a))[0, 0])
            off = float(loss.natural_residual(column(e), column(a), np.ones((1, 1)), 1.0)[0, 0])
            inside = low - 1e-14 <= e <= high + 1e-14
            assert (gap <= 1e-26) == (off <= 1e-13) == inside, (e, a, gap, off)
            seen += inside
    assert seen >= 5


@every
@pytest.mark.parametrize("size, unit", [(1.0, 1.0), (0.01, 3.0)])
def test_residual_is_a_resolvent(name, size, unit):
    """Oracle: a root by bisection. r + l(r) = x - e / unit, l the rising levels of the stairs."""
    loss = LOSSES[name]
    pins = [-g / size for g in loss.slopes[::-1]]

    def level(r):
        """-e / unit where the slope is -r size; a kink is one level for all of its slopes."""
        j = min(np.searchsorted(pins, r, side="right"), len(pins) - 1)
        offset = loss.offsets[::-1][max(j, 1) - 1]
        return -(offset - loss.softness * size * r) / unit

    for a in slopes_of(loss):
        for e in PLACES:
            x = a / size
            off = loss.natural_residual(column(e), column(a), np.full((1, 1), size), unit)[0, 0]
            low, high = max(pins[0], -1e4), min(pins[-1], 1e4)

            def beyond(r, x=x, e=e):
                return r + level(r) - (x - e / unit)

            if beyond(low) >= 0:
                root = low
            elif beyond(high) <= 0:
                root = high
            else:
                root = brentq(beyond, low, high, xtol=1e-14)
            assert off == pytest.approx(abs(x - root), abs=1e-9)


@every
def test_free_is_strictly_between_slopes(name):
    """Oracle: the definition."""
    loss = LOSSES[name]
    for a in slopes_of(loss):
        expected = all(abs(a + g) > 1e-9 for g in loss.slopes)
        assert bool(loss.free(column(a), np.full((1, 1), 1e-9))[0, 0]) == expected


@every
def test_cost_of_an_error(name):
    """Oracle: the value so far outside of where it is zero, on the cheaper side that costs."""
    loss = LOSSES[name]
    low, high = (float(x[0, 0]) for x in loss.bracket(np.zeros((1, 1)), np.zeros((1, 1))))
    costs = [value(loss, x) for x in (low - 0.7, high + 0.7) if np.isfinite(x)]
    assert float(loss.cost_of(0.7)) == pytest.approx(min(c for c in costs if c > 0))


def test_a_negative_softness_is_refused():
    """Oracle: such a loss is not convex."""
    with pytest.raises(ValueError, match="softness"):
        Loss(0.0, (0.0,), (-1.0, 0.0), -1.0)
    with pytest.raises(ValueError, match="slopes"):
        Loss(0.0, (0.0,), (-1.0, 0.0, 1.0))
