"""f over a whole path: segments against the path's own predictions."""

import numpy as np
import pytest

from chemin.kernels import make_kernel
from chemin.segments import Straight, f_at
from contract import CASES, NUMBERS, make_data, make_tied, random_values

CURVED = [case for case in CASES if getattr(case.loss, "curved", False)]
STRAIGHT = [case for case in CASES if case not in CURVED]
GAMMA = 0.5
CLOSE = 1e-11  # or, where round-off is larger than that,
FLOORS = 10  # times what the certificate says of it
# Below this part of the start the last digits of f are lost to round-off by the path itself.
TOLD = 1e-5


def gathered(path, cross):
    """u and f at both ends of all segments, which are straight."""
    blocks = list(path.segments(cross))
    assert all(isinstance(block, Straight) for block in blocks)
    return [np.concatenate([getattr(b, n) for b in blocks]) for n in ("u0", "u1", "f0", "f1")]


def to_zero(case, wished):
    """A stop of 0, where the parameter may come there."""
    return 0 if wished and "inside" not in lies(case) else None


def lies(case):
    """Where the moving parameter of a case may lie."""
    problem = case(*make_data(case)).problem
    moving = problem.parameters.get(problem.parameter)
    return "" if moving is None else moving.lies


def crossing(case, kernel, X, new):
    return make_kernel(kernel, gamma=GAMMA).cross(X, new) if case.has_kernel else new.T


def distance(path, pieces, new, values):
    """The largest |f - prediction|, by the best of the pieces that touch at a value; at most 1 is
    round-off.
    """
    allowed = np.maximum(CLOSE, FLOORS * path.certificate(values).floor)
    u0, u1, f0, f1 = pieces
    low, high = np.minimum(u0, u1), np.maximum(u0, u1)
    u = path.coordinate.to_u(values)
    predicted = path.decision_function(new, values).T
    worst = 0.0
    for k in range(len(u)):
        touching = np.flatnonzero((low <= u[k]) & (u[k] <= high))
        if not path.coordinate.to_infinity and u[k] > high.max():
            touching = [np.argmax(high)]  # constant above
        assert len(touching), f"no piece at {values[k]}"
        s = np.clip((u[k] - u0[touching]) / (u1 - u0)[touching], 0, 1)[:, None]
        apart = np.abs(f0[touching] * (1 - s) + f1[touching] * s - predicted[k]).max(axis=1)
        worst = max(worst, apart.min() / (1 + np.abs(predicted[k]).max()) / allowed[k])
    return worst


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("make", [make_data, make_tied])
@pytest.mark.parametrize("case", STRAIGHT, ids=lambda case: case.name)
def test_pieces_are_the_predictions(case, make, kernel):
    """Oracle: Path.decision_function at random values, above the start too."""
    rng = np.random.default_rng(0)
    for seed in range(4):
        X, y = make(case, seed=seed)
        w = rng.integers(0, 3, len(y)).astype(float) if seed % 2 else None
        path = case(X, y, w, kernel=kernel, gamma=GAMMA, stop=to_zero(case, seed == 3))
        new = rng.normal(size=(5, X.shape[1]))
        pieces = gathered(path, crossing(case, kernel, X, new))
        values = random_values(path, 60, low=TOLD * path.start)
        if path.coordinate.to_infinity:
            values = np.append(values, path.start * np.array([1.3, 2.5, 1e4]))
        assert distance(path, pieces, new, values) < 1.0


@pytest.mark.parametrize("case", CURVED, ids=lambda case: case.name)
def test_curved_pieces_are_the_predictions(case):
    """Oracle: Path.decision_function at random values."""
    X, y = make_data(case)
    path = case(X, y, kernel="rbf", gamma=GAMMA)
    new = np.random.default_rng(0).normal(size=(5, X.shape[1]))
    values = random_values(path, 60)
    values = values[values <= path.start]
    f = f_at(path.segments(crossing(case, "rbf", X, new)), path.coordinate.to_u(values))
    predicted = path.decision_function(new, values).T
    np.testing.assert_allclose(f, predicted, rtol=0, atol=1e-9 * np.abs(predicted).max())


@pytest.mark.parametrize("case", STRAIGHT, ids=lambda case: case.name)
def test_pieces_adjoin(case):
    """Oracle: an invariant, no gap and no overlap from one end to the other."""
    X, y = make_data(case)
    path = case(X, y, kernel="rbf", gamma=GAMMA)
    u0, u1, *_ = gathered(path, crossing(case, "rbf", X, X[:2]))
    low, high = np.minimum(u0, u1), np.maximum(u0, u1)
    order = np.argsort(low)
    np.testing.assert_allclose(low[order][1:], high[order][:-1], rtol=1e-12)
    ends = np.array([path.start, path.stop])
    if path.coordinate.to_infinity:
        assert low.min() == 0 and high.max() == 1 / path.stop
    else:
        assert (low.min(), high.max()) == (ends.min(), ends.max())


def test_the_middle_of_an_interval_bends_between_events():
    """Oracle: the intercept of `at`; without cuts it would be off by much more."""
    rng = np.random.default_rng(1)
    X, y, case = rng.normal(size=(8, 1)), rng.normal(size=8), NUMBERS
    path = case(X, y, kernel="rbf", gamma=GAMMA)
    new = np.array([[0.3], [3.0]])
    pieces = gathered(path, crossing(case, "rbf", X, new))
    values = path.start * np.geomspace(1.0, 100.0, 200)
    assert distance(path, pieces, new, values) < 1.0
    top = pieces[1] <= 1 / path.start * (1 + 1e-12)
    assert top.sum() > 1, "nothing bends: the test would prove nothing"
