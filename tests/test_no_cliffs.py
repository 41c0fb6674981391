"""Ties, copies, empty elbows and near singular systems stay in the compiled core.

Oracles: the certificate at every breakpoint, the reference engine, and a count of its calls as the
last resort.
"""

import numpy as np
import pytest

from chemin import nu_svr_path, one_class_path, svc_path, svr_path
from chemin.engine import blocked, rescue, trace
from contract import assert_exact
from test_engines import assert_same_path, in_both


@pytest.fixture
def calls(monkeypatch):
    """The t of each call of the reference."""
    made, walk = [], rescue.Helper.walk

    def noted(self, blocks, t_end):
        made.append(blocks.t)
        return walk(self, blocks, t_end)

    monkeypatch.setattr(rescue.Helper, "walk", noted)
    return made


def one_hot(n, seed=0):
    """Rows of zeros and ones, a third of them copies of others, with labels of their own."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.4).astype(float)
    X[2 * n // 3 :] = X[: n - 2 * n // 3]
    y = np.where(X @ rng.standard_normal(12) + 0.8 * rng.standard_normal(n) > 0, 1, -1)
    return X, y


@pytest.mark.parametrize(
    "function, options",
    [
        (svc_path, {}),
        (svr_path, {"epsilon": 0.05}),
        (svr_path, {"along": "epsilon", "lambda_": 10.0}),
        (nu_svr_path, {"nu": 0.5}),
        (nu_svr_path, {"along": "nu", "lambda_": 10.0}),
        (one_class_path, {}),
    ],
)
@pytest.mark.parametrize("gamma", [0.2, 10.0])
def test_copies(function, options, gamma, calls, monkeypatch):
    """A copy of a free row enters with a zero pivot. Calls are left at the ends of a path: G_FF of
    a start may be singular, and drift near the stop may have to be walked back.
    """
    X, y = one_hot(150)
    target = () if function is one_class_path else (y,)
    fast, slow = in_both(
        monkeypatch, lambda: function(X, *target, kernel="rbf", gamma=gamma, **options)
    )
    assert fast.complete
    assert_exact(fast)
    assert_same_path(fast, slow, X, tolerance=1e-7)
    assert len(calls) <= 2


@pytest.mark.parametrize("function, along", [(svr_path, "epsilon"), (nu_svr_path, "nu")])
def test_empty_elbows(function, along, calls):
    """With a large lambda the intercept and one point are free; when that point leaves, the
    intercept jumps. In nu the same happens wherever nu n is a whole number.
    """
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(300)
    path = function(X, y, along=along, lambda_=100.0, gamma=0.3)
    assert path.complete and len(path) > 500
    assert_exact(path)
    assert len(calls) <= 2


def test_a_correction_of_drift_is_no_event():
    """Oracle: the start by the reference. Wide kernel, copies, labels as numbers: nothing happens
    on the first eight tenths of the range but corrections of drift, which are large where the
    matrix is nearly singular.
    """
    X, y = one_hot(150)
    path = nu_svr_path(X, y, nu=0.5, gamma=0.02)
    assert path.start == pytest.approx(0.000764915, rel=1e-5)


def test_more_ties_than_a_block_holds(calls):
    """All kernel values are nearly 0 and all targets are +1 or -1, so that hundreds of points come
    to the edge of the tube at once: one corner takes several blocks, and none forgets its offsets.
    """
    X, y = one_hot(400, seed=2)
    X = X + 0.01 * np.random.default_rng(0).standard_normal(X.shape)
    path = svr_path(X, y.astype(float), along="epsilon", lambda_=10.0, gamma=1000.0)
    assert path.complete
    assert_exact(path)
    assert len(calls) <= 1


@pytest.mark.parametrize("function, along", [(svr_path, "epsilon"), (nu_svr_path, "nu")])
def test_everything_meets_at_once(function, along, calls):
    """Two values of y, a linear kernel on groups of one-hot features: all points meet their tube at
    one epsilon. What follows there is a linear program, walked by hundreds of jumps, with G_FF
    nearly singular again and again.
    """
    events = 0
    for seed in (1, 2, 3):
        rng = np.random.default_rng(seed)
        X = np.eye(6)[rng.integers(6, size=(300, 12))].reshape(300, 72)
        y = np.where(X @ rng.standard_normal(72) + 1.5 * rng.standard_normal(300) > 0, 1.0, -1.0)
        path = function(X, y, kernel="linear", along=along, lambda_=100.0)
        assert path.complete
        assert_exact(path)
        events += len(path)
    assert 1000 * len(calls) < events  # round-off decides which pivot no solve is sure of


@pytest.mark.parametrize("seed", [2, 3, 6])
def test_a_tie_of_all_points_in_rare_noisy_features(seed, calls):
    """Two values of y, features that are rarely on, with noise as large as they vary: what enters
    after as many as there are features has no pivot but the rounding of the matrix's entries.
    """
    rng = np.random.default_rng(seed)
    X = (rng.random((300, 60)) < 0.5 ** rng.integers(1, 7, 60)).astype(float)
    X += 0.1 * X.std(axis=0) * rng.standard_normal((300, 60))
    y = np.where(rng.random(300) < 0.25, 1.0, -1.0)
    path = svr_path(X, y, kernel="linear", along="epsilon", lambda_=100.0)
    assert path.complete and 100 * len(calls) < len(path)
    assert_exact(path)


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_terms_that_grow_are_measured_again(seed):
    """Oracle: the certificates of a first walk, and no rescue. At a wide tube multipliers are
    nearly 0, and they grow by a factor of a million: what is known of round-off there was taken to
    grow with them, and drift was let pass that certificates refuse. Four features as they were
    measured, none of them scaled, so that G_FF is nearly singular time and again.
    """
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    more = y > 0
    X = np.c_[
        np.where(more, np.exp(rng.normal(3.3, 0.8, 300)), np.exp(rng.normal(1.0, 1.2, 300))),
        np.where(more, rng.normal(90, 40, 300), rng.normal(50, 60, 300)),
        rng.normal(0, 0.2, 300),
        rng.normal(125, 25, 300),
    ]
    K = np.round(X, 5) @ np.round(X, 5).T
    path = svr_path(K, y, kernel="precomputed", along="epsilon", lambda_=100.0)
    assert path.complete and not path._trace.rescues
    assert_exact(path)


def test_after_careful_blocks_the_inverse_is_made_again(calls):
    """Oracle: the certificate, and no call of the reference. All points meet their tube at one
    epsilon, and what follows are thousands of jumps with as many free variables as there can be.
    The first block without care took over an inverse in which it saw nothing wrong, and let in one
    variable more.
    """
    rng = np.random.default_rng(8)
    X = (rng.random((300, 70)) < 0.5 ** rng.integers(1, 7, 70)).astype(float)
    X += 0.1 * X.std(axis=0) * rng.standard_normal((300, 70))
    y = np.where(rng.random(300) < 0.25, 1.0, -1.0)
    path = svr_path(X @ X.T, y, kernel="precomputed", along="epsilon", lambda_=100.0)
    assert path.complete and not calls
    assert_exact(path)


def test_all_points_free_in_two_copies():
    """Oracle: the closed form. With a tube of no width all residuals are 0 and coefficients are
    those of the interpolant: nothing happens before nu is the sum of their sizes. Each point has
    two rows, one of them a copy of the other wherever the tube is closed.
    """
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 5)), rng.standard_normal(120)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=-1))
    lam = 0.1 / np.linalg.cond(K)
    bordered = np.block([[K, np.ones((120, 1))], [np.ones((1, 120)), 0.0]])
    coef = np.linalg.solve(bordered, np.append(y, 0.0))[:120]
    path = nu_svr_path(K, y, kernel="precomputed", along="nu", lambda_=lam)
    assert path.complete
    assert path.start == pytest.approx(lam * np.abs(coef).mean(), rel=1e-9)
    assert_exact(path)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_copies_are_told_by_their_rows(seed, monkeypatch):
    """Oracle: a count of variables that entered after a solve to the last digits. Copies of free
    rows enter, with a pivot of 0, and their rows say so.
    """
    cores = []

    class Noted(blocked._verify.Core):
        def __init__(self, *args):
            super().__init__(*args)
            cores.append(self)

    monkeypatch.setattr(blocked._verify, "Core", Noted)
    X, y = one_hot(150, seed)
    path = nu_svr_path(X, y.astype(float), gamma=0.2, along="nu", lambda_=0.1)
    assert path.complete and len(path) > 150
    assert sum(core.n_judged for core in cores) == 0
    assert_exact(path)


def test_multipliers_that_begin_at_zero(monkeypatch):
    """Oracle: a count of blocks that ask for care. With a narrow kernel and two values of y all
    multipliers leave 0 at one epsilon. What such a block drifts is the round-off of its end. By
    that of its start it was walked four times.
    """
    careful, be_careful = [], blocked.BlockWalker.be_careful

    def noted(self, blocks, afresh):
        careful.append(blocks)
        be_careful(self, blocks, afresh)

    monkeypatch.setattr(blocked.BlockWalker, "be_careful", noted)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 4)), np.where(rng.random(300) < 0.37, 1.0, -1.0)
    path = svr_path(X, (y - y.mean()) / y.std(), gamma=90.0, along="epsilon", lambda_=100.0)
    assert path.complete and not any(careful)
    assert_exact(path)


def test_a_walk_to_a_start_that_is_blind_ends(monkeypatch):
    """Oracle: a count. A polynomial kernel of features up to some hundreds: round-off is a
    hundredth of a margin, and the walk to the start went on for as long as noise moved it.
    """
    monkeypatch.setattr(blocked, "LOST", (0, 1))
    passed, take_over = [0], blocked.BlockWalker.take_over

    def noted(self, h_end):
        take_over(self, h_end)
        if self.recorder.system is None and not self.mends:
            passed.append(self.passed)

    monkeypatch.setattr(blocked.BlockWalker, "take_over", noted)
    for seed in (0, 5, 11):
        rng = np.random.default_rng(seed)
        X = np.abs(rng.standard_normal((150, 4))) * [30.0, 60.0, 0.2, 200.0] + [0, 0, 0, 100.0]
        y = np.where(rng.random(150) < 0.3, 1.0, -1.0)
        K = (X @ X.T / 4) ** 3
        path = nu_svr_path(K, y, kernel="precomputed", along="nu", lambda_=100.0)
        assert not path.complete and "hides what comes next" in path.reason
    assert 0 < max(passed) < 302 + 2 * 2 * blocked.BLOCK  # one a variable, and a block more


def test_round_off_is_judged_where_a_walk_stands_still():
    """Oracle: the arithmetic. A system that is frozen at t has the part of a margin that units are
    at t, whatever tau is.
    """
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    system = nu_svr_path(X, y, along="nu", lambda_=1.0)._problem.system
    frozen = system.frozen(0.3, np.ones(len(system)))
    for tau in (1.0, 1e-9):
        assert frozen.in_margins(2.0, tau) == system.in_margins(2.0, 0.3)


def test_an_inverse_that_is_no_number(calls, monkeypatch):
    """Verification refuses what is no number, and the walk begins again from the data."""
    spoilt = []

    class Spoilt(blocked._verify.Core):
        def load(self, stair, z, t, way):
            free = int(np.sum(stair % 2 == 0))
            if len(spoilt) == 3:
                return super().load(stair, z, t, way)
            spoilt.append(free)
            return super().load(stair, z, t, way, np.full((free, free), np.nan))

    monkeypatch.setattr(blocked._verify, "Core", Spoilt)
    X, y = one_hot(60)
    path = svc_path(X + 0.1 * np.random.default_rng(0).random(X.shape), y, gamma=0.2)
    assert path.complete and len(spoilt) == 3
    assert_exact(path)


@pytest.mark.parametrize("along", ["epsilon", "nu"])
def test_moves_before_the_start_are_judged_together(along, monkeypatch):
    """Of a tie in which multipliers are handed between copies. Oracle: one move at a time; and a
    count, so that there were several to judge.
    """
    X, y = one_hot(60)
    function = svr_path if along == "epsilon" else nu_svr_path
    judged, happens = [], trace.Recorder._happens

    def noted(self, t0, *args):
        judged.append(len(t0))
        return happens(self, t0, *args)

    monkeypatch.setattr(trace.Recorder, "_happens", noted)
    together = function(X, y, kernel="linear", along=along, lambda_=10.0)
    assert max(judged) > 1
    monkeypatch.setattr(trace, "JUDGED", 1)
    singly = function(X, y, kernel="linear", along=along, lambda_=10.0)
    assert together.start == singly.start
    np.testing.assert_array_equal(together.events, singly.events)


def test_room_for_moves_grows_in_place(monkeypatch):
    """Oracle: the same walk with room for all of its moves from the start."""
    X, y = one_hot(60)
    at_once = svc_path(X, y, kernel="rbf", gamma=0.2)
    monkeypatch.setattr(trace, "ROOM", 8)
    grown = svc_path(X, y, kernel="rbf", gamma=0.2)
    np.testing.assert_array_equal(grown.events, at_once.events)
    values = np.geomspace(at_once.stop, at_once.start, 50)
    np.testing.assert_array_equal(grown.coefficients(values)[0], at_once.coefficients(values)[0])


def test_an_event_that_is_undone_has_not_happened():
    """Oracle: the events that are left."""
    recorder = trace.Recorder(object(), np.zeros(8))
    recorder.event(2.0, 4, 3, 2)
    recorder.event(1.0, 7, 2, 1)
    assert not recorder.take_back(1.0, 7, 2, 1)  # the same again
    assert not recorder.take_back(0.9, 7, 1, 2)  # further on
    assert not recorder.take_back(1.0, 4, 1, 2)  # another
    assert recorder.take_back(1.0, 7, 1, 2)
    assert not recorder.take_back(2.0, 7, 2, 3)
    assert [tuple(e)[:4] for e in recorder.events] == [(2.0, 4, 3, 2)]
    assert recorder.passed == 1
    assert recorder.take_back(2.0, 4, 2, 3) and not recorder.take_back(2.0, 4, 2, 3)
