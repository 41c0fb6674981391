"""Sides of 0 by a bound between anchors. Oracle: f at both ends of every segment."""

import numpy as np
import pytest
from chemin.segments._stretches import anchors

import chemin.segments.read as read
from chemin import svc_path
from chemin.kernels import RBF, Cosine, Laplacian
from chemin.segments import Bounded
from chemin.selection.steps import signs

KERNELS = [RBF(0.3), Laplacian(0.2), Cosine(), RBF(20.0), RBF(0.01)]


def drawn(seed, kind):
    """Training and test points, labels and weights; some meet, some are of whole numbers."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(70, 160)), int(rng.integers(1, 6))
    X = rng.normal(size=(n + 40, d)) * rng.choice([0.3, 1.0, 3.0])
    y = np.where(X[:n, 0] + rng.normal(size=n) * rng.choice([0.1, 1.0]) > 0, 1, -1)
    y[:2] = -1, 1
    if kind == "whole":
        X = np.round(X)
    if kind == "copies":
        X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    weight = rng.choice([0.0, 1.0, 1.0, 2.5], n) if kind == "weights" else np.ones(n)
    weight[:2] = 1.0
    return X[:n], y, weight, X[n:]


def both(path, cross, own):
    u = float(path.coordinate.to_u(path.start))
    found, expected = path.sides(cross, own), path.segments(cross)
    return signs(found, u, cross.shape[1]), signs(expected, u, cross.shape[1])


@pytest.mark.parametrize("kind", ["plain", "whole", "copies", "weights", "free"])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_sides(seed, kind, monkeypatch):
    monkeypatch.setattr(read, "FEWEST", 1)
    monkeypatch.setattr(read, "AT_ONCE", 50)
    X, y, weight, points = drawn(seed, kind)
    kernel = KERNELS[seed % len(KERNELS)]
    options = {"intercept": kind != "free", "class_weight": {-1: 1.0, 1: 1.0 + seed % 3}}
    path = svc_path(X, y, kernel=kernel, sample_weight=weight, stop=1e-3, **options)
    cross = path.cross(points)
    found, expected = both(path, cross, kernel.own(points))
    for name in ("point", "up", "first"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.u, expected.u, rtol=1e-9)
    np.testing.assert_array_equal(found.undecided, expected.undecided)
    assert found.ends == expected.ends


def test_most_of_a_path_is_bounded():
    X, y, _, points = drawn(0, "plain")
    path = svc_path(X, y, gamma=0.3)
    blocks = list(path.sides(path.cross(points), np.ones(len(points))))
    bounded = [block for block in blocks if isinstance(block, Bounded)]
    others = sum(len(block) for block in blocks if not isinstance(block, Bounded))
    assert bounded and others < 0.2 * path.n_events


@pytest.mark.parametrize("seed", range(4))
def test_no_point_leaves_its_line_by_more(seed):
    """Oracle: the norm of what is off the line, by the kernel matrix."""
    kind = ["plain", "copies", "weights", "plain"][seed]
    X, y, weight, _ = drawn(100 + seed, kind)
    kernel = [RBF(0.3), Laplacian(0.2), RBF(1.0), Cosine()][seed]
    path = svc_path(X, y, kernel=kernel, sample_weight=weight, stop=1e-3)
    trace, problem = path._trace, path.problem
    moves, reading, system = trace.moves, problem.reading, problem.system
    n, t = len(problem.w), np.append(trace.t0[:1], trace.t1)
    root, z = np.append(system.coupling.root[:n], 0.0), trace.z_start.copy()
    events = np.bincount(trace.events["move"], minlength=len(moves) + 2)[1:]
    pull = system.r + system.stairs.slope[:, 2]
    arrays = moves.index, moves.rate, moves.length, moves.pointer
    at, level, away, off, _ = anchors(
        *arrays, t, 0, 16, z, n, pull, root, reading.level, events, 1e-7
    )
    states = np.array([z.copy() for z in trace.states()])
    np.testing.assert_allclose(at, states[[*range(0, len(moves), 16), len(moves)]], atol=1e-9)
    np.testing.assert_allclose(level, states @ reading.level, atol=1e-9)
    K, ratios = problem.gram.matrix, []
    for s in range(len(away)):
        rows = states[16 * s : 16 * s + 17]
        some = slice(16 * s, 16 * s + 16)
        length = np.where(moves.t0[some] > moves.t1[some], moves.length[some], 0.0)
        way = np.append(0.0, np.cumsum(length))
        if way[-1] == 0:
            continue
        line = rows[:1] + (way / way[-1])[:, None] * (rows[-1:] - rows[:1])
        w = ((rows - line) * reading.factor)[:, :n]
        norm = np.sqrt(np.einsum("ij,jk,ik->i", w, K, w).clip(0).max())
        bound = away[s, 1] * np.abs(reading.factor[:n]).max() * np.sqrt(problem.scale)
        assert norm <= bound * (1 + 1e-9) + 1e-12
        assert np.abs((rows - line) @ reading.level).max() <= off[s, 1] + 1e-12
        ratios.append(norm / bound if norm > 1e-9 else 0.1)
    assert np.median(ratios) > 0.02  # and it is of use
