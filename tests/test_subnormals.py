"""Numbers below 1e-308 are 0 within a walk, and numbers again after it."""

import numpy as np
import pytest

from chemin import svc_path
from chemin.engine import blocked
from contract import CASES, make_data


def are_numbers():
    return np.float64(5e-324) * np.float64(1.0) > 0.0


@pytest.mark.parametrize("ends", [None, KeyboardInterrupt, ZeroDivisionError])
def test_the_process_is_left_as_it_was(monkeypatch, ends):
    """Oracle: what a product of such a number is, before a walk, in it and after it."""
    X, y = make_data(CASES[0], n=30)
    seen = []

    def choose(self, way, choose=blocked.BlockWalker.choose):
        seen.append(are_numbers())
        if ends is not None and self.recorder.system is not None:
            raise ends
        return choose(self, way)

    monkeypatch.setattr(blocked.BlockWalker, "choose", choose)
    assert are_numbers()
    if ends is ZeroDivisionError:
        with pytest.raises(ends):
            svc_path(X, y)
    else:
        path = svc_path(X, y)
        assert path.complete == (ends is None)
    assert are_numbers()
    assert seen and not any(seen)


def test_a_narrow_kernel_is_exact():
    """Oracle: the certificate, computed afterwards from a matrix with such numbers in it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1, -1)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = np.exp(-squares * (720.0 / np.median(squares)))
    assert np.any((K > 0) & (K < 1e-308))
    path = svc_path(K, y, kernel="precomputed", stop=0)
    assert path.complete
    assert np.all(path.certificate(path.breakpoints).exact)
