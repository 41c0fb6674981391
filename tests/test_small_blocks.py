"""Every problem of the contract with tiny blocks and a tiny working set.

Problems of the contract are smaller than the usual working set, so that no pinned variable is ever
left to verification. Here blocks have 4 steps and watch 3 variables.
"""

from functools import partial

import numpy as np
import pytest

from chemin.engine import blocked
from contract import CASES, assert_walked, make_data, make_tied
from test_block_coupling import Laplacian, Ridge
from test_engines import assert_same_path, in_both

KERNELS = [{"kernel": "rbf", "gamma": 0.3}, {"kernel": "linear"}]


@pytest.fixture
def violated(monkeypatch):
    """Tiny blocks; a list with the variables of each block that verification has found violated."""
    monkeypatch.setattr(blocked, "BLOCK", 4)
    monkeypatch.setattr(blocked, "SHORTEST", 2)
    monkeypatch.setattr(blocked, "WATCH", 3)
    monkeypatch.setattr(blocked, "REFRESH", 5)
    monkeypatch.setattr(blocked, "MANY", 16)
    found, watch_more = [], blocked.BlockWalker.watch_more

    def noted(self, watched, missed):
        found.append(missed)
        return watch_more(self, watched, missed)

    monkeypatch.setattr(blocked.BlockWalker, "watch_more", noted)
    return found


# Quadratic losses are walked by moves of their own, without blocks.
IN_BLOCKS = [case for case in CASES if not getattr(case.loss, "curved", False)]


@pytest.mark.parametrize("case", IN_BLOCKS, ids=lambda case: case.name)
def test_every_problem(case, violated, monkeypatch):
    """Oracles: the certificate and the reference; and a count, so that verification had work."""
    generic = make_data(case, n=60, d=5 if case.has_kernel else 40)
    weight = 10.0 ** np.random.default_rng(3).uniform(-1, 1, 60)
    for (X, y), w in ((generic, None), (generic, weight), (make_tied(case, n=60), None)):
        for options in KERNELS:
            make = partial(case, X, y, w, **options)
            fast, slow = in_both(monkeypatch, make)
            assert_walked(fast)
            assert_same_path(fast, slow, X)
    assert violated


@pytest.mark.parametrize("kind", [Laplacian, Ridge])
def test_block_coupling(kind, violated):
    """Oracles: the optimality conditions from the data; and a count."""
    problem = kind(0, 16, 3)
    trace = problem.path()
    assert trace.end.complete, trace.end.text
    knots = np.unique(trace.events["t"])
    values = np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])])
    z = trace.solutions(values)
    assert max(problem.residual(v, z[:, k]) for k, v in enumerate(values)) <= 1e-9
    assert violated
