"""Jobs by threads: what they return, what they raise, what they know."""

import threading

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.utils.parallel import delayed

from chemin.selection.jobs import answered, run_all


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1, None])
def test_in_their_order(n_jobs):
    """Oracle: the same calls one after the other."""
    gate = threading.Event()

    def square(k):
        if n_jobs in (2, 5) and k == 0:  # the first is the last to be done
            gate.wait(10)
        if k == 3:
            gate.set()
        return k * k

    assert run_all((delayed(square)(k) for k in range(8)), n_jobs) == [k * k for k in range(8)]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_what_is_raised(error):
    """Oracle: the error of the job, and no job is begun once it is known."""
    begun = []

    def job(k):
        begun.append(k)
        if k == 0:
            raise error
        threading.Event().wait(0.05)

    with pytest.raises(error):
        run_all([delayed(job)(k) for k in range(200)], 2)
    assert len(begun) < 100


def test_workers_know_the_settings():
    """Oracle: what the caller has set, and joblib's own rule for what is nested."""

    def look():
        return sklearn.get_config()["assume_finite"], joblib.effective_n_jobs(-1)

    with sklearn.config_context(assume_finite=True):
        found = run_all([delayed(look)() for _ in range(4)], 2)
    nested = joblib.parallel.ThreadingBackend(nesting_level=1).effective_n_jobs(-1)
    assert found == [(True, nested)] * 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rounds(n_jobs):
    """Oracle: sums by NumPy, of parts that each asks for in rounds of its own."""

    def asking(values):
        total = 0
        while values:
            found = yield [delayed(abs)(v) for v in values[:2]]
            total, values = total + sum(found), values[2:]
        return total

    lists = [[-1, 2, -3], [], [5], list(range(-9, 0))]
    assert answered([asking(v) for v in lists], n_jobs) == [int(np.abs(v).sum()) for v in lists]
