"""Folds as jobs of a cluster of worker processes. Oracle: the same fit in one process."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import RepeatedStratifiedKFold

from chemin import PathSVC


@pytest.fixture(scope="module")
def client():
    """Two worker processes on the loopback, with one thread each: seconds to start, or a minute on
    a machine with much else to do.
    """
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(host="127.0.0.1", processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    return make_classification(120, 5, flip_y=0.1, random_state=0)


def model():
    return PathSVC(cv=RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0))


@pytest.fixture(scope="module")
def alone(data):
    return model().fit(*data)


def assert_same(one, other, X):
    """To the last bit."""
    assert one.lambda_ == other.lambda_ and one.curve_.minimum == other.curve_.minimum
    np.testing.assert_array_equal(one.curve_.knots, other.curve_.knots)
    values = np.geomspace(*one.curve_.range, 50)[1:-1]
    np.testing.assert_array_equal(one.curve_.per_fold(values), other.curve_.per_fold(values))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.stress
def test_a_cluster_gives_the_same(client, data, alone):
    """Oracle: one process; and each worker walks with one thread of BLAS."""
    with joblib.parallel_config(backend="dask"):
        assert_same(model().fit(*data), alone, data[0])
    threads = client.run(_blas_threads)
    assert set(threads.values()) == {1}


@pytest.mark.stress
def test_the_fit_survives_a_worker_that_is_killed(client, data, alone):
    """Oracle: one process. The jobs of the worker are done again by the others."""
    killed, pids = [], client.run(os.getpid)

    def kill_when_busy():
        for _ in range(20_000):
            busy = [worker for worker, tasks in client.processing().items() if tasks]
            if busy:
                os.kill(pids[busy[0]], signal.SIGKILL)
                killed.append(busy[0])
                return
            time.sleep(0.001)

    killer = threading.Thread(target=kill_when_busy)
    killer.start()
    with joblib.parallel_config(backend="dask"):
        found = model().fit(*data)
    killer.join()
    assert killed
    assert_same(found, alone, data[0])


def test_progress_is_over_all_jobs(data, alone, capsys):
    """Oracle: one path of each of the 10 folds, and the one on all rows."""
    found = model().set_params(verbose=1).fit(*data)
    assert "11/11" in capsys.readouterr().out
    assert_same(found, alone, data[0])


def _blas_threads():
    from threadpoolctl import threadpool_info

    return max(
        [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"] or [1]
    )
