"""Sums of maxima of lines, between which an intercept lies."""

import numpy as np
import pytest
from chemin.segments._edges import summed_maxima


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_maxima(seed, whole):
    """Oracle: the largest line at many places, and at those between which the sum is straight."""
    rng = np.random.default_rng(seed)
    terms = []
    for weight in (0.5, -0.5, 2.0)[: 1 + seed % 3]:
        shape = (int(rng.integers(1, 40)), 2)
        lines = rng.integers(-3, 4, shape).astype(float) if whole else rng.normal(size=shape)
        lines[1:][rng.random(len(lines) - 1) < 0.3] = -np.inf
        terms.append((weight, lines))
    s, total = summed_maxima(terms, 0.25, 0.75)
    assert s[0] == 0.0 and s[-1] == 1.0 and np.all(np.diff(s) > 0)
    at = np.union1d(np.linspace(0, 1, 1001), s)
    expected = np.zeros(len(at))
    for weight, lines in terms:
        low, high = lines[np.isfinite(lines[:, 0])].T
        expected += weight * (low + np.outer(2.0 * at - 0.5, high - low)).max(axis=1)
    np.testing.assert_allclose(np.interp(at, s, total), expected, rtol=0, atol=1e-13)
