"""The audit: a walk that goes wrong is found, walked again, or cut; and walks that were wrong once.

Oracles: certificates computed from the data, the same walk without the damage, closed forms.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import chemin
from chemin import expectile_path, nu_svr_path, quadratic_svc_path, svc_path, svr_path
from chemin.engine import Reason, audit, carry_on
from chemin.engine.moves import StraightMoves
from contract import CASES, assert_exact, make_tied


def make_data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + 0.5 * rng.normal(size=n)


def damaged(trace, move, by):
    """The same walk with one multiplier off from a move on."""
    change = np.zeros(len(trace.z_start))
    free = trace.moves.entries(move)[0]
    change[free] = by
    bad = StraightMoves.jump(float(trace.t0[move]), change)
    first, rest = trace.moves.some(0, move), trace.moves.some(move, len(trace.moves))
    events = trace.events.copy()
    events["move"][events["move"] >= move] += 1
    moves = first.then(bad).then(rest)
    return trace.__class__(
        trace.stair_start, trace.z_start, moves, events, trace.before, trace.stairs, trace.end
    )


@pytest.fixture
def walk():
    X, y = make_data()
    path = svr_path(X, y, epsilon=0.1)
    return path._problem, path._trace


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_damaged_walk_is_cut_before_the_damage(walk, share):
    problem, trace = walk
    move = int(share * len(trace.moves))
    good = audit.certified(problem, damaged(trace, move, 1e-3))
    assert good.end.reason is Reason.ASTRAY
    assert not good.end.complete
    assert 0 < len(good.moves) <= move + 1
    # Nothing more than the damage is lost but jumps and the move before it.
    assert len(good.moves) >= move - 2


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_a_walk_that_is_carried_on_stands_where_the_other_begins(walk, share):
    """Oracle: the states of the other walk, to the last bit. Far below its start a last bit of the
    first walk's multipliers is more than certificates allow.
    """
    problem, trace = walk
    first = trace.cut(int(share * len(trace.moves)), trace.end)
    stair, z, t = first.last
    other = carry_on(problem.system, stair, z, t, stop=float(trace.t1[-1]))
    other = replace(other, z_start=np.nextafter(other.z_start, np.inf))
    joined = first.then(other)
    expected = np.array([state.copy() for state in other.states()])
    states = np.array([state.copy() for state in joined.states()])[-len(expected) :]
    np.testing.assert_array_equal(states, expected)
    values = np.linspace(t, trace.t1[-1], 30)[1:]
    for once in (True, False):
        z = joined.solutions(values, once=once)
        np.testing.assert_array_equal(z, other.solutions(values, once=once))


def test_a_damaged_walk_is_walked_again(walk):
    """Oracle: the walk without the damage."""
    problem, trace = walk
    bad = damaged(trace, len(trace.moves) // 2, 1e-3)
    again = audit.audited(problem, lambda **options: bad)
    assert again.end.complete
    t = np.geomspace(trace.t0[0], trace.t1[-1], 200)
    np.testing.assert_allclose(again.solutions(t), trace.solutions(t), atol=1e-10)


def test_a_damaged_start_is_walked_again(walk):
    problem, trace = walk
    bad = damaged(trace, 0, 1e-3)
    again = audit.audited(problem, lambda again=False, **options: trace if again else bad)
    assert again.end.complete
    assert audit.certified(problem, again) is again


def test_a_walk_that_fails_twice_ends_before_the_bad_stretch(walk, monkeypatch):
    problem, trace = walk
    move = len(trace.moves) // 2
    second = []

    def again(system, stair, z, t, **options):
        good = carry_on(system, stair, z, t, **options)
        second.append(damaged(good, 2, 1e-3))
        return second[-1]

    monkeypatch.setattr(audit, "carry_on", again)
    out = audit.audited(problem, lambda **options: damaged(trace, move, 1e-3))
    assert len(second) == 1
    assert out.end.reason is Reason.ASTRAY
    assert audit.certified(problem, out) is out


def test_the_second_walk_respects_max_events(walk):
    problem, trace = walk
    bad = damaged(trace, len(trace.moves) // 2, 1e-3)
    most = len(trace.events) - 5
    out = audit.audited(problem, lambda **options: bad, max_events=most)
    assert len(out.events) <= most
    assert out.end.reason is Reason.MAX_EVENTS


@pytest.mark.parametrize("seed", [72, 192])
def test_all_points_come_to_the_tube_together(seed):
    """Two targets, a wide kernel on a line: ties of all points in a nearly singular system.

    Oracle: certificates. These walks were lost by the compiled engine; the reference walks them.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    X = rng.integers(-5, 6, size=(n, 1)).astype(float) if seed % 2 else rng.normal(size=(n, 1))
    y = rng.integers(0, 2, n).astype(float)
    lambda_, gamma = float(rng.choice([0.01, 1, 0.1])), float(rng.choice([0.01, 0.1]))
    path = svr_path(X, y, along="epsilon", kernel="rbf", gamma=gamma, lambda_=lambda_)
    assert path.complete
    assert_exact(path)


def test_reasons_have_texts():
    for reason in Reason:
        details = ["1"] * 0 if "{" not in reason.value else [0.5]
        assert reason(*details).text
    assert Reason.STOP().complete
    assert Reason.HIDDEN(1e-7).text.startswith("round-off (1.0e-07 of a margin)")


# ---------------------------------------------------------------------- wrong once


@pytest.mark.parametrize("seed", range(10))
def test_the_start_is_the_first_real_event(seed):
    """Unbalanced classes and a wide kernel: round-off of slopes is no movement.

    Oracle: a walk down to 1e-12 of the bound on the start finds no event above.
    """
    X = np.random.default_rng(seed).normal(size=(50, 5))
    y = np.arange(50) < 12
    path = svc_path(X, y, kernel="rbf", gamma=1e-3)
    assert path.n_events > 10
    assert path.breakpoints[0] == pytest.approx(path.start, rel=1e-9)
    far = svc_path(X, y, kernel="rbf", gamma=1e-3, start=1e6 * path.start, stop=0.99 * path.start)
    assert np.all(far.breakpoints <= path.start * (1 + 1e-6))
    assert_exact(path)


def test_a_stop_above_the_start_gives_the_closed_form():
    """Oracle: the whole path, and the best constant, -1, far above."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    y = X[:, 0] > 0.5
    path, whole = svc_path(X, y, stop=1e4), svc_path(X, y)
    assert path.complete
    assert_exact(path)
    for value in (1e4, 1e5, 1e6):
        assert path.at(value).intercept == pytest.approx(whole.at(value).intercept, abs=1e-12)
    assert path.at(1e9).intercept == pytest.approx(-1.0, abs=1e-6)


@pytest.mark.parametrize("along", ["lambda", "epsilon"])
def test_a_stop_above_the_start_of_a_regression(along):
    X, y = make_data()
    path = svr_path(X, y, epsilon=0.1, along=along, stop=1e4)
    assert path.complete
    assert_exact(path)


def test_upward_from_a_closed_tube():
    """Oracle: certificates all the way; 726 of 727 such turns were wrong once."""
    X, y = np.arange(5.0)[:, None], np.array([0.0, 1.0, 0.0, 1.0, 3.0])
    path = nu_svr_path(X, y, nu=1.0, gamma=1.0)
    wider = path.turn("epsilon", at=10 * path.stop, stop=5.0)
    assert wider.complete
    assert wider.n_events == 3
    assert np.all(wider.certificate(np.linspace(0, 5, 101)).verdict == "exact")


@pytest.mark.parametrize("seed", range(12))
def test_upward_from_random_closed_tubes(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    X, y = rng.integers(0, 4, size=(n, 2)).astype(float), rng.integers(0, 4, n).astype(float)
    y[:2] = 0.0, 1.0
    path = nu_svr_path(X, y, nu=float(rng.choice([0.5, 0.8, 1.0])), gamma=1.0)
    for factor in (1.5, 10, 100, 1000):
        wider = path.turn("epsilon", at=factor * path.stop, stop=10.0)
        assert wider.complete
        assert_exact(wider)


def test_epsilon_upward_past_the_range_of_y():
    """Oracle: every point lies in the tube around any b of [max y - epsilon, min y + epsilon]."""
    X, y = make_data(20)
    path = svr_path(X, y, along="epsilon", lambda_=0.3, start=0.1, stop=10.0)
    for epsilon in (5.0, 10.0):
        solution = path.at(epsilon)
        assert solution.intercept == pytest.approx(0.5 * (y.max() + y.min()))
        ends = y.max() - epsilon, y.min() + epsilon
        np.testing.assert_allclose(solution.intercept_interval, ends)


@pytest.mark.parametrize("seed", range(8))
def test_rows_that_are_nearly_copies(seed):
    """A polynomial kernel and no tube; oracle: certificates at 500 values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    X[6:] = X[:6] + 10.0 ** rng.uniform(-9, -4) * rng.normal(size=(6, 2))
    y = rng.normal(size=12)
    options = {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 1.0}
    path = svr_path(X, y, epsilon=0.0, **options)
    verdict = path.certificate(np.geomspace(path.start, path.stop, 500)).verdict
    assert not np.any(verdict == "wrong")


def test_the_majority_is_not_all_there_is():
    """Oracle: the data: a wide kernel separates what a line separates."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0.7).astype(int)
    model = chemin.PathSVC(kernel="rbf", gamma=1e-3).fit(X, y)
    assert model.score(X, y) > 0.9


# ---------------------------------------------------------------------- found by attacks


@pytest.mark.parametrize("max_events", [1, 2, 3, 4])
def test_few_events_and_a_far_start(max_events):
    """Oracle: the walk with no limit; a limit inside the first block was an IndexError."""
    rng = np.random.default_rng(47)
    n = int(rng.integers(3, 12))
    X, y = rng.normal(size=(n, 1)), rng.normal(size=n)
    labels = (y > np.median(y)).astype(int)
    path = svc_path(X, labels, kernel="linear", max_events=max_events)
    assert path.n_events <= max_events
    assert path.complete or path.reason == f"max_events = {max_events} reached"
    X = np.array([-0.8, -1.3, -0.2, 0.4, 1.1, 0.1, -0.6, -0.8])[:, None]
    y = [7487.5, 16347.8, 2727.7, -12333.3, -1, 1.6, 0.2, -1.7]
    assert nu_svr_path(X, y, nu=0.5, kernel="linear", max_events=max_events).n_events <= max_events


@pytest.mark.parametrize("power", [-40, -24, -20, 0, 20])
def test_one_class_with_small_kernels(power):
    """Oracle: powers of two change no rounding, so the same points are outside at every scale."""
    X = np.random.default_rng(0).normal(size=(20, 2)) + 3
    scale = 2.0**power
    path = chemin.one_class_path(X * scale, kernel="linear")
    plain = chemin.one_class_path(X, kernel="linear")
    np.testing.assert_array_equal(path.predict(X * scale, 0.5), plain.predict(X, 0.5))


def test_an_empty_path_says_why():
    """Oracle: the reason, at any value and in any method."""
    K = np.array([[0.0025954606553391718, -0.004774967144315061],
                  [-0.004774967144315061, 0.008784687674762235]])  # fmt: skip
    weight = [1532.0234331857403, 0.001892115267685973]
    path = svc_path(K, [0, 1], kernel="precomputed", cost=0.9, sample_weight=weight)
    turned = path.turn("cost", at=3.5641915989148263e-09, stop=0.282630117791504)
    if np.isnan(turned.start):
        assert not turned.complete
        with pytest.raises(ValueError, match="this path is empty: round-off"):
            turned.at(turned.start)
    else:
        assert_exact(turned)


@pytest.mark.parametrize("make", [svc_path, quadratic_svc_path, expectile_path, svr_path])
def test_where_nothing_ever_happens(make):
    """Oracle: a closed form. All points are one: f is the best constant, whatever lambda."""
    y = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
    path = make(np.full((5, 1), 7.0), y, kernel="rbf", gamma=1.0, intercept=True)
    assert path.complete and path.n_events == 0
    f = path.decision_function([[7.0]], np.geomspace(path.stop, 1e4 * path.start, 7))
    np.testing.assert_allclose(f, f[0, 0], atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_states_of_the_walker_are_those_of_its_moves(case):
    """Oracle: the moves, added up from the start."""
    X, y = make_tied(case, n=60)
    trace = case(X, y, kernel="rbf", gamma=0.3)._trace
    t = np.linspace(trace.t0[0], trace.t1[-1], 50)
    moves = replace(trace, known=()).solutions(t, once=True)
    for known in (trace.solutions(t), trace.solutions(t, once=True)):
        np.testing.assert_allclose(known, moves, atol=1e-11 * max(np.abs(moves).max(), 1.0))


@pytest.mark.parametrize("gamma", [0.3, 0.05])
def test_multipliers_that_are_zero_but_for_round_off_are_zero(gamma):
    """Oracle: the staircase. A point that is strictly inside the tube is no support vector, and
    what walks cannot tell from a bound is at it.
    """
    X, y = make_tied(next(case for case in CASES if case.name == "nu-svr in nu"))
    path = nu_svr_path(X, y, along="nu", lambda_=0.3, kernel="rbf", gamma=gamma)
    coef = np.abs(path.coefficients(path.breakpoints[path.breakpoints < path.start])[0])
    unit = np.minimum(coef.max(axis=0), min(1.0 / 0.3, y.std()))  # what multipliers are told by
    assert not np.any((coef > 0) & (coef < 1e-12 * unit))


def test_a_short_move_after_a_jump_is_looked_at_where_it_begins():
    """Oracle: the numbers themselves. At the jump stands what was before it: a path was complete
    with a gap of 1.5e-9 in the next number.
    """

    class Moves(list):
        goes_straight = True

    t0, t1 = np.array([1.0, 0.5, 0.5]), np.array([0.5, 0.5, 0.5 - 1e-11])
    trace = SimpleNamespace(t0=t0, t1=t1, forward=np.array([0, 2]), moves=Moves(t0), way=-1.0)
    problem = SimpleNamespace(audit_work=1.0, system=SimpleNamespace(limit_at_zero=False))
    assert np.nextafter(0.5, 0.0) in audit._places(problem, trace)
