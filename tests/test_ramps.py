"""The compiled walk on ramps: against the reference, and how much of a walk it makes itself."""

import numpy as np
import pytest

from chemin import expectile_path, quadratic_svc_path, quadratic_svr_path
from chemin.engine import crossing, ramps
from contract import CASES, assert_walked, make_data, make_tied
from test_engines import assert_same_path, in_both

CURVED = [case for case in CASES if getattr(case.loss, "curved", False)]
KERNELS = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": 0.3, "intercept": False},
    {"kernel": "linear"},
]


@pytest.fixture
def walks(monkeypatch):
    """Short blocks; a list with each walk: all corners, and those that the compiled loop passed."""
    monkeypatch.setattr(ramps, "BLOCK", 5)
    found, made, stretch = [], ramps.RampWalker.__init__, ramps.RampWalker.stretch

    def remembered(self, *args):
        made(self, *args)
        self.compiled = 0
        found.append(self)

    def counted(self):
        before = self.passed
        out = stretch(self)
        self.compiled += self.passed - before
        return out

    monkeypatch.setattr(ramps.RampWalker, "__init__", remembered)
    monkeypatch.setattr(ramps.RampWalker, "stretch", counted)
    return found


@pytest.mark.parametrize("options", KERNELS, ids=["rbf", "no b", "linear"])
@pytest.mark.parametrize("case", CURVED, ids=lambda case: case.name)
def test_every_problem(case, options, walks, monkeypatch):
    """Oracles: the certificate, and the reference for weights; and counts: the loop had work."""
    X, y = make_data(case, n=40)
    assert_walked(case(X, y, **options))
    down = walks[-1]
    assert down.compiled >= 0.8 * down.passed
    weight = 10.0 ** np.random.default_rng(3).uniform(-1, 1, 40)
    fast, slow = in_both(monkeypatch, lambda: case(X, y, weight, **options))
    assert_walked(fast)
    assert_same_path(fast, slow, X)


def test_copies_are_passed_together(walks, monkeypatch):
    """Oracles: the certificate, the reference, and counts. Copies reach their corners together."""
    X, y = make_tied(CURVED[0], n=40)
    fast, slow = in_both(monkeypatch, lambda: quadratic_svc_path(X, y, rho=1.1, h=0.2, gamma=0.3))
    assert_walked(fast)
    assert_same_path(fast, slow, X)
    down = max(walks, key=lambda walk: walk.passed)
    assert down.passed > 20 and down.compiled >= 0.8 * down.passed


@pytest.mark.parametrize("tau", [0.1, 0.7])
def test_the_two_rows_of_an_expectile_change_sides_together(tau, walks, monkeypatch):
    """Oracles: the certificate, the reference, and counts: each event is a tie, and the loop's."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    fast, slow = in_both(monkeypatch, lambda: expectile_path(X, y, tau=tau, gamma=0.3))
    assert_walked(fast)
    assert_same_path(fast, slow, X)
    down = max(walks, key=lambda walk: walk.passed)
    assert down.passed > 20 and down.compiled >= 0.9 * down.passed


def test_pinned_slots_are_used_again(walks):
    """Oracle: the certificate. Many more variables enter and leave than are ever free."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0, 20, 200))[:, None]
    y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=200)
    path = quadratic_svr_path(X, y, epsilon=0.2, h=0.05, gamma=1.0, intercept=False)
    assert_walked(path)
    assert len(path) > 5 * np.diff(path._trace.moves.pointer).max()


def test_max_events_is_met_to_the_event(walks):
    """Oracle: the whole walk. The compiled loop makes blocks of events."""
    X, y = make_data(CURVED[0], n=60)
    whole = quadratic_svc_path(X, y, rho=1.1, h=0.2, gamma=0.3)
    some = quadratic_svc_path(X, y, rho=1.1, h=0.2, gamma=0.3, max_events=17)
    assert len(some) == 17 and not some.complete
    np.testing.assert_array_equal(some.breakpoints, whole.breakpoints[:17])


def assert_exact_at_events(path):
    values = path.breakpoints[path.breakpoints > 0]
    assert len(values) and path.certificate(values).exact.all()


@pytest.mark.parametrize("seed", [1, 23, 26])
def test_ends_of_moves_lie_within_the_boxes(seed):
    """Oracle: the certificate at every event. The two rows of a point come to their pins together,
    and where K + lambda is nearly singular a correction of one moves the other beyond its own.
    """
    rng = np.random.default_rng(seed)
    X, y = np.linspace(0, 1, 20)[:, None], rng.normal(size=20)
    weight = rng.integers(1, 4, 20).astype(float)
    options = {"tau": 0.9, "gamma": 0.5, "intercept": False, "stop": 1e-8}
    assert_exact_at_events(expectile_path(X, y, sample_weight=weight, **options))


@pytest.mark.parametrize("seed", [5, 28, 37])
def test_copies_of_very_different_weights_stay_within_their_boxes(seed):
    """Oracle: the certificate at every event, with a flat kernel and weights over four orders."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(33, 2)))
    y = np.where(X[:, 0] + rng.normal(size=33) > 0, 1, -1)
    weight = 10.0 ** rng.uniform(-2, 2, 33)
    options = {"rho": 0.7, "h": 0.2, "gamma": 1e-3, "stop": 1e-8}
    assert_exact_at_events(quadratic_svc_path(X, y, sample_weight=weight, **options))


def test_events_between_which_t_does_not_change():
    """Oracle: the certificate. Steps shorter than t can tell pass corners all the same."""
    rng = np.random.default_rng(56)
    X, y = np.linspace(0, 1, 30)[:, None], rng.normal(size=30)
    weight = rng.integers(1, 4, 30).astype(float)
    options = {"tau": 0.1, "gamma": 0.5, "intercept": False, "stop": 1e-8}
    assert_exact_at_events(expectile_path(X, y, sample_weight=weight, **options))


def test_a_free_variable_meets_its_pin_where_its_equation_says_so():
    """Oracle: the certificate. Far down its function is less precise than its residual: put at its
    pin where the function ends, it left violations of 1e-7 on the way there.
    """
    rng = np.random.default_rng(806)
    rng.integers(30, 160), rng.integers(1, 5), rng.choice(5)  # what was drawn for other data
    X = rng.normal(size=(89, 2))
    rng.choice(3), rng.integers(1, 4, 89), rng.uniform(size=89), rng.integers(0, 2)
    rng.choice(4), rng.choice(5)
    y = np.round(X[:, 0] + rng.normal(size=89) * rng.choice([0, 0.5, 2]), 1)
    assert_never_wrong(expectile_path(X, y, tau=0.1, gamma=0.5, stop=1e-8))


# ---------------------------------------------------------------------- a guard on crossings


def labels(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)


def huber(n=60):
    X, y = labels(n)
    return quadratic_svc_path(X, y, rho=1.1, h=0.2, gamma=0.3)


def assert_never_wrong(path):
    """What a path has is exact, however densely one looks."""
    if len(path):
        assert path.certificate(path.breakpoints).exact.all()
        assert path.certificate(np.geomspace(path.stop, path.start, 2000)).exact.all()


class Misled:
    """The compiled loop, told wrong residuals now and then: it steps over crossings."""

    def __init__(self, core, off):
        self.core, self.off, self.blocks = core, off, 0

    def __getattr__(self, name):
        return getattr(self.core, name)

    def see(self, z, h, *widths):
        self.blocks += 1
        self.core.see(z, h + (self.off if self.blocks % 3 == 0 else 0.0), *widths)


@pytest.mark.parametrize("off", [-1e-3, 1e-6, 1e-3, 1e-1])
def test_a_loop_that_is_misled_is_found_out(off, monkeypatch):
    """Oracles: the same walk with a loop that is not, and the certificate at 2000 values."""
    plain, made, loops = huber(), ramps.RampWalker.__init__, []

    def misled(self, *args):
        made(self, *args)
        self.core = Misled(self.core, off)
        loops.append(self.core)

    monkeypatch.setattr(ramps.RampWalker, "__init__", misled)
    path = huber()
    assert path.complete and sum(loop.blocks for loop in loops) > 30
    np.testing.assert_allclose(path.breakpoints, plain.breakpoints, rtol=1e-11)
    assert_never_wrong(path)


def bound_without_negative_poles(C, q, end):
    """A bound that is none: what makes a function fall faster and faster is left out."""
    return np.maximum(C, 0.0).sum(axis=1)


def twice_as_far(safe):
    return staticmethod(lambda *args: 2.0 * safe(*args))


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("mutation", ["no bound", "twice as far", "one is overlooked"])
def test_a_search_that_steps_over_is_found_out(mutation, engine, monkeypatch):
    """Oracle: the certificate. With a search that steps over crossings a path is not complete, and
    what there is of it is exact.
    """
    call, safe = crossing.Search.__call__, crossing.Search._safe

    def overlooking(self, gaps, *rest):
        gaps[:, 7] = np.inf
        return call(self, gaps, *rest)

    if mutation == "no bound":
        monkeypatch.setattr(crossing, "lowest_curvature", bound_without_negative_poles)
    elif mutation == "twice as far":
        monkeypatch.setattr(crossing.Search, "_safe", twice_as_far(safe))
    else:
        monkeypatch.setattr(crossing.Search, "__call__", overlooking)
    monkeypatch.setenv("CHEMIN_ENGINE", engine)
    monkeypatch.setattr(ramps.RampWalker, "regular", lambda self, way: False)
    path = huber()
    assert not path.complete and "stepped over a crossing" in path.reason
    assert_never_wrong(path)
