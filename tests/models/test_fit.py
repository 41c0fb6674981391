"""What fit leaves behind: after Ctrl-C nothing, after anything the BLAS threads that there were."""

import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

from chemin import PathLasso, PathNuSVR, PathSVC, PathSVR, svc_path
from chemin._threads import ONE_THREAD, threads_for
from chemin.engine import trace
from chemin.kernels import RBF
from chemin.selection import (
    Bootstrap632,
    BootstrapLeaveOneOut,
    CrossValidation,
    Family,
    LeaveOneOut,
    LeaveOneOutOnPath,
    Split,
)

MODELS = [PathSVC, PathSVR, PathNuSVR, PathLasso]


@pytest.fixture(scope="module")
def data():
    return make_classification(40, 4, flip_y=0.2, random_state=0)


def learned(model):
    return [name for name in vars(model) if name.endswith("_") or name in ("_data", "_kernel")]


def interrupt(monkeypatch, after):
    """Ctrl-C at the moment when so many moves have been recorded, in whatever walk."""
    add, count = trace.Recorder._add, [0]

    def interrupted(self, *arguments):
        count[0] += 1
        if count[0] > after:
            raise KeyboardInterrupt
        return add(self, *arguments)

    monkeypatch.setattr(trace.Recorder, "_add", interrupted)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("after", [1, 4, 8])
@pytest.mark.parametrize("make", MODELS)
def test_an_interrupted_fit_raises(make, after, n_jobs, data, monkeypatch):
    """Oracle: KeyboardInterrupt in the path on all rows and in folds, and an empty model."""
    model = make(cv=3, n_jobs=n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wherever the minimum is
        model.fit(*data)
        assert learned(model)
        interrupt(monkeypatch, after)
        with pytest.raises(KeyboardInterrupt):
            model.fit(*data)
    assert not learned(model)


def test_interrupts_in_processes(data):
    """Oracle: KeyboardInterrupt. A scorer stands for the signal, which workers get too."""

    def stop(estimator, X, y):
        raise KeyboardInterrupt

    with joblib.parallel_config(backend="loky"), pytest.raises(KeyboardInterrupt):
        PathSVC(cv=3, scoring=stop, n_jobs=2).fit(*data)


def test_a_path_keeps_what_was_walked(data, monkeypatch):
    """Oracle: the whole path, as far as it was walked."""
    whole = svc_path(*data)
    interrupt(monkeypatch, 1)
    path = svc_path(*data)
    assert path.reason == "interrupted" and not path.complete
    assert len(path) < len(whole)


def test_a_fit_that_fails_leaves_nothing(data):
    """Oracle: the attributes; a model that was fitted before is none of the new data."""
    X, y = data
    model = PathSVC(cv=3).fit(X, y)
    with pytest.raises(ValueError, match="groups"):
        model.set_params(cv=GroupKFold(3)).fit(X, y)
    assert not learned(model)


# ---------------------------------------------------------------------- BLAS threads


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_its_threads_again(data, n_jobs):
    """Oracle: threadpoolctl, before and after."""
    with threadpool_limits(3, "blas"):
        before = blas_threads()
        assert 3 in before
        PathSVC(cv=5, n_jobs=n_jobs).fit(*data)
        assert blas_threads() == before


def test_walks_that_overlap_in_threads_share_one_limit():
    """Oracle: threadpoolctl; the first walk ends while the second goes on, and the other way."""
    with threadpool_limits(3, "blas"):
        before = blas_threads()
        inside, leave = threading.Event(), threading.Event()

        def walk():
            with ONE_THREAD:
                inside.set()
                leave.wait()

        with ONE_THREAD:
            other = threading.Thread(target=walk)
            other.start()
            inside.wait()
        assert set(blas_threads()) == {1}
        leave.set()
        other.join()
        assert blas_threads() == before
        with pytest.raises(RuntimeError), ONE_THREAD:
            raise RuntimeError
        assert blas_threads() == before


@pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")
def test_small_products_are_not_shared(data, monkeypatch):
    """Oracle: the threads that BLAS has, seen from inside a kernel's formula and a scorer."""
    seen = []

    def scorer(model, X, y):
        seen.append(set(blas_threads()))
        return 0.0

    write = RBF._writer

    def watched(self, A, B):
        seen.append(set(blas_threads()))
        return write(self, A, B)

    monkeypatch.setattr(RBF, "_writer", watched)
    with threadpool_limits(3, "blas"):
        model = PathSVC(cv=2).fit(*data)
        model.predict(data[0])
        PathSVC(cv=2, scoring=scorer, stop=3.0).fit(*data)
        with threads_for(2000, 2000, 2000):
            assert 3 in blas_threads()
    assert len(seen) > 5 and all(threads == {1} for threads in seen)


# ---------------------------------------------------------------------- groups and numbers


@pytest.mark.parametrize(
    "criterion",
    [Split(), LeaveOneOut(), LeaveOneOutOnPath(), BootstrapLeaveOneOut(2), Bootstrap632(2)],
    ids=lambda c: type(c).__name__,
)
def test_groups_beside_a_criterion_that_cannot_use_them(data, criterion):
    """Oracle: the message."""
    with pytest.raises(ValueError, match=r"groups must be None with cv=.*expected CrossValidation"):
        PathSVC(cv=criterion).fit(*data, groups=np.arange(40) // 4)


def test_groups_beside_cross_validation(data):
    """Oracle: the same splitter without a criterion around it."""
    groups = np.arange(40) // 4
    a = PathSVC(cv=CrossValidation(GroupKFold(3))).fit(*data, groups=groups)
    b = PathSVC(cv=GroupKFold(3)).fit(*data, groups=groups)
    assert a.lambda_ == b.lambda_
    with pytest.raises(ValueError, match="groups of its own"):
        PathSVC(cv=CrossValidation(GroupKFold(3), groups=groups)).fit(*data, groups=groups)


@pytest.mark.parametrize("number", [1.5, 0, True, "3", np.nan])
def test_numbers_of_resamples_are_whole(number):
    """Oracle: the message."""
    with pytest.raises(ValueError, match="n_resamples must be a whole number from 1, got"):
        BootstrapLeaveOneOut(number)
    with pytest.raises(ValueError, match="n_values must be a whole number from 2, got"):
        LeaveOneOutOnPath(n_values=number)


# ---------------------------------------------------------------------- as scikit-learn does it


def test_scores_of_folds_are_those_of_grid_search(data):
    """Oracle: GridSearchCV(SVC()) with gamma="scale", fold by fold; folds of different spread."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        X = rng.normal(size=(60, 2)) * np.exp(rng.normal(size=(60, 1)))
        y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
        model = PathSVC(cv=3).fit(X, y)
        C = 1 / np.geomspace(model.curve_.range[0] * 1.5, model.curve_.top, 12)
        search = GridSearchCV(SVC(tol=1e-8), {"C": C}, cv=3).fit(X, y)
        folds = [search.cv_results_[f"split{k}_test_score"] for k in range(3)]
        np.testing.assert_allclose(1 - model.curve_.per_fold(1 / C), folds, atol=1e-12)
        assert model.path_._data.kernel.gamma == pytest.approx(1 / (2 * X.var()))


def test_gamma_of_a_resample_counts_its_rows():
    """Oracle: the same rows, written out as often as they were drawn."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
    family = Family(svc_path, X, y)
    for trial in BootstrapLeaveOneOut(1, random_state=0).trials(family)[:4]:
        rows = np.repeat(trial.train, trial.times.astype(int))
        kernel = family.kernel_on(trial.train, trial.times)
        assert kernel.gamma == pytest.approx(1 / (2 * X[rows].var()))


def test_labels_that_look_like_numbers_are_stratified():
    """Oracle: the labels 0 and 1 in the same places."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.sort(rng.integers(0, 2, 40))  # one class after the other: folds in a row would have one
    a, b = (PathSVC(cv=4, stop=0.01).fit(X, labels) for labels in (y, y + 0.5))
    assert a.lambda_ == b.lambda_ and list(b.classes_) == [0.5, 1.5]
    np.testing.assert_array_equal(a.curve_.knots, b.curve_.knots)
    given = CrossValidation(StratifiedKFold(4))(Family(svc_path, X, y + 0.5, stop=0.01))
    np.testing.assert_array_equal(a.curve_.knots, given.knots)
    split = Split(random_state=0)
    one, two = (split(Family(svc_path, X, labels)) for labels in (y, y + 0.5))
    np.testing.assert_array_equal(one.knots, two.knots)


def test_the_score_with_class_weights(data):
    """Oracle: accuracy_score with weights of the samples that are the classes'."""
    X, y = data
    weights = {0: 1.0, 1: 4.0}
    w = np.where(y == 1, 4.0, 1.0)
    model = PathSVC(cv=3, gamma=0.3, class_weight=weights).fit(X, y)
    named = PathSVC(cv=3, gamma=0.3, class_weight=weights, scoring="accuracy").fit(X, y)
    C = 1 / model.lambda_
    other = SVC(C=C, gamma=0.3, class_weight=weights, tol=1e-9)
    plain = cross_val_score(other, X, y, cv=3).mean()
    assert named.curve_.score(model.lambda_) == pytest.approx(plain)
    weighted = []
    for i, j in StratifiedKFold(3).split(X, y):
        right = other.fit(X[i], y[i]).predict(X[j]) == y[j]
        weighted.append(np.average(right, weights=w[j]))
    assert model.curve_.score(model.lambda_) == pytest.approx(np.mean(weighted))


def test_svc_hands_over_its_own_intercept():
    """Oracle: the model; with all multipliers at bounds an interval of intercepts is optimal."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        x = X[:, 0] + rng.normal(size=60)
        y = np.where(x > np.median(x), "b", "a")  # as many of each
        start = svc_path(X, y).start
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # wherever the minimum is
            model = PathSVC(cv=3, stop=5 * start).fit(X, y)
        low, high = model.path_.at(model.lambda_).intercept_interval
        assert high - low > 1e-3
        other, f = model.to_sklearn(), model.decision_function(X)
        # LIBSVM keeps the kernel matrix in single precision.
        np.testing.assert_allclose(other.decision_function(X), f, atol=1e-5)
        told = np.abs(f) > 1e-5
        np.testing.assert_array_equal(other.predict(X)[told], model.predict(X)[told])
        np.testing.assert_array_equal(other.intercept_, model.intercept_)
