"""Walks that round-off leads into trouble: what they record, how they end, where they are audited.

Points on two circles under a wide Gaussian: rows are mirror images of each other, meet corners
together, and the kernel matrix is singular to round-off.
"""

from dataclasses import replace

import numpy as np
import pytest

from chemin import nu_svr_path, svr_path
from chemin.engine import audit, blocked


def circles(gamma):
    """The kernel matrix of 32 points on a circle and as many on another."""
    angle = 2 * np.pi * np.arange(32) / 32
    circle = np.c_[np.cos(angle), np.sin(angle)]
    X = np.r_[circle, 2 * circle]
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


def wave():
    return np.sin(2 * np.pi * np.arange(64) / 64)


def closed_tube(gamma, stop, weight=None):
    options = {"kernel": "precomputed", "epsilon": 0.0, "stop": stop}
    return svr_path(circles(gamma), wave(), sample_weight=weight, **options)


def assert_right_everywhere(path):
    knots = np.unique(path.breakpoints)
    values = np.union1d(knots, 0.5 * (knots[1:] + knots[:-1]))
    certificate = path.certificate(values[values >= path.stop])
    assert np.all(certificate.exact), certificate.kkt_violation.max()


@pytest.mark.parametrize("gamma, stop", [(0.06, 1e-6), (0.065, 1e-6), (0.1, 6e-7), (0.03, 1e-4)])
def test_drift_that_is_walked_away_is_recorded_as_it_was_walked(gamma, stop):
    """Oracle: the certificate at all breakpoints and between them. Variables that passed their pin
    on the way back, and had gone on from it, were put at it.
    """
    path = closed_tube(gamma, stop)
    assert path.complete
    assert_right_everywhere(path)


def test_states_of_moves_are_those_of_the_walk(monkeypatch):
    """Oracle: z as the walker has it after each block, and after drift was walked away. A walk that
    fails its audit would be walked again, by the reference: here it is taken as it is.
    """
    monkeypatch.setattr(audit, "certified", lambda problem, trace, *_: trace)
    seen = []

    def watched(name):
        method = getattr(blocked.BlockWalker, name)

        def call(self, *args):
            done = method(self, *args)
            if self.recorder.system is not None:
                seen.append((name, self.t, self.z.copy()))
            return done

        monkeypatch.setattr(blocked.BlockWalker, name, call)

    watched("take_over")
    watched("walk_back")
    trace = closed_tube(0.06, 1e-6)._trace
    states = np.array([z.copy() for z in replace(trace, known=()).states()])
    assert any(name == "walk_back" for name, *_ in seen)
    for _, t, z in seen:
        here = states[1:][trace.t1 == t]
        if len(here):  # what is above the start is not kept
            assert np.abs(here - z).max(axis=1).min() <= 1e-13


@pytest.mark.parametrize("seed", [0, 3])
def test_bent_blocks_are_looked_at(seed):
    """Oracle: the certificate. A block that can be no shorter may drift by more than certificates
    see, and is mended where it ends.
    """
    weight = np.random.default_rng(seed).choice([1.0, 1e3], 64)
    assert_right_everywhere(closed_tube(0.065, 0.0, weight))


def test_a_walk_is_audited_where_it_was_in_trouble(monkeypatch):
    """Oracle: the places themselves."""
    path = closed_tube(0.06, 1e-6)
    problem, trace = path._problem, path._trace
    assert len(trace.rescues) > 0
    judged = []
    judge = audit._judged

    def noted(problem, trace, t):
        judged.extend(t)
        return judge(problem, trace, t)

    monkeypatch.setattr(audit, "_judged", noted)
    audit.certified(problem, trace)
    places = np.array(judged)
    assert len(places) < 2 * len(trace.forward)  # a sample
    for t in trace.rescues:
        if trace.t1[-1] < t < trace.t0[0]:
            beside = trace.t1[trace.forward]
            assert np.any(places == beside[beside <= t].max())


def test_round_off_that_goes_round_comes_to_an_end():
    """Oracle: a bound that any walk keeps which does not come back to stairs that it has left: a
    path has no hundred events a variable. This one took minutes; others had 400 a variable.
    """
    weight = 10 ** np.random.default_rng(5).uniform(0, 6, 64)
    target = np.zeros(64)
    target[3] = 1.0
    options = {"kernel": "precomputed", "along": "nu", "lambda_": 10.0, "start": 0.02, "stop": 1.0}
    path = nu_svr_path(circles(1.9e-4), target, sample_weight=weight, **options)
    assert path.n_events < 100 * 128
    values = np.linspace(path.start, path.stop, 200)
    assert np.all(path.certificate(values).exact)


@pytest.mark.parametrize("limit", [100, 3000])
def test_the_limit_of_events_is_that_of_the_user(limit):
    """Oracle: the number that was given. A walk that is carried on has what is left of it."""
    weight = 10 ** np.random.default_rng(1).uniform(0, 6, 64)
    target = np.zeros(64)
    target[5] = 1.0
    options = {"kernel": "precomputed", "along": "nu", "lambda_": 10.0, "start": 0.02, "stop": 1.0}
    path = nu_svr_path(circles(0.003), target, sample_weight=weight, max_events=limit, **options)
    assert path.n_events <= limit
    assert path.complete or "max_events" not in path.reason or f"= {limit} " in path.reason
