"""Where walks begin: above the first event.

Oracles: NumPy's generator, walks from further above, certificates.
"""

from importlib import import_module

import numpy as np
import pytest

from chemin import svc_path
from contract import assert_exact

SHARES = [0.5, 0.15]  # of the positive class


def labelled(share, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(np.argsort(np.argsort(X[:, 0] + rng.normal(size=n))) >= (1 - share) * n, 1, -1)
    return X, y, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("seed", [0, 1])
def test_random_numbers_are_those_of_numpy(seed):
    """Those that are kept, those made later, and any across the end of the kept ones."""
    follow = import_module("chemin.engine.follow")
    offsets, rng = follow._Offsets(seed), np.random.Generator(np.random.PCG64(seed))
    for size in [7, (2, 30), follow.KEPT - 100, 90, (3, 5), follow.KEPT]:
        np.testing.assert_array_equal(offsets.random(size), rng.random(size))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_happens_above_where_a_walk_begins(share, kernel, weighted):
    """Whether entries of K may be negative or not."""
    X, y, w = labelled(share)
    options = {"kernel": kernel, "gamma": 0.3, "stop": 1e-3}
    options["sample_weight"] = w if weighted else None
    path = svc_path(X, y, **options)
    bound = path._problem.start().t * path._problem.unit
    above = svc_path(X, y, start=100 * bound, **options)
    assert path.start <= bound
    values = np.geomspace(10 * bound, path.stop, 50)
    f, g = (p.decision_function(X, values) for p in (path, above))
    np.testing.assert_allclose(f, g, atol=1e-8)
    assert_exact(path)
