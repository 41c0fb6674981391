"""What comes back: `Path` and its solutions, and what bad input gets."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import chemin
from chemin import lasso_path, nu_svr_path, quantile_path, storage, svc_path, svr_path
from chemin.engine import Reason, audit, trace
from chemin.storage import FORMAT
from contract import CASES, assert_exact, between, make_data

X3 = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
Y2 = np.array([0, 0, 1, 1])
T4 = np.array([0.0, 1.0, 3.0, 2.0])


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X[50:], y[50:]


@pytest.fixture(scope="module")
def path(iris):
    return svc_path(*iris, gamma=0.2)


# ---------------------------------------------------------------------- what it says


def test_repr_says_what_where_and_how_many(path):
    """Oracle: the attributes."""
    text = repr(path)
    for part in ("svc in lambda", f"{path.n_events} events", "100 x 4", "RBF(gamma=0.2)"):
        assert part in text
    assert f"{path.start:.4g}" in text and f"{path.stop:.4g}" in text
    assert "incomplete" not in text


def test_repr_of_an_incomplete_path_says_why(iris):
    """Oracle: the reason."""
    part = svc_path(*iris, max_events=5)
    assert "incomplete: " + part.reason in repr(part)


def test_repr_has_short_numbers():
    X = np.array([[0.1, 1.0], [1.0, 0.7], [2.0, 2.3], [3.0, 1.1]])
    assert repr(svc_path(X, [0, 0, 1, 1])).endswith(f", RBF(gamma={0.5 / X.var():.4g})>")


def test_repr_of_certificates(path):
    one, some = path.certificate(1.0), path.certificate([1.0, 0.5])
    assert repr(one).startswith("<Certificate: exact: kkt_violation=")
    assert repr(some).startswith("<Certificate: 2 of 2 exact, worst: kkt_violation=")
    assert f"floor={max(some.floor):.2g}>" in repr(some)


def test_repr_of_a_solution(path):
    """Oracle: its attributes."""
    s = path.at(1.0)
    assert repr(s).startswith("Solution(lambda_=1, ") and f"{len(s.support)} of 100" in repr(s)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_path_is_the_callers_no_more(iris, kernel, sparse):
    """Oracle: a path of arrays that nobody changes."""
    X, y = iris
    own, labels, weight = (csr_array(X) if sparse else X.copy()), y.copy(), np.ones(len(y))
    path = svc_path(own, labels, kernel=kernel, sample_weight=weight)
    f, same = path.decision_function(X, 0.5), svc_path(X, y, kernel=kernel)
    (own.data if sparse else own)[:] = 7.0
    labels[:], weight[:] = y[0], 3.0
    np.testing.assert_array_equal(path.decision_function(X, 0.5), f)
    np.testing.assert_allclose(f, same.decision_function(X, 0.5), atol=1e-9)
    assert path.certificate(0.5).exact
    np.testing.assert_array_equal(path.y, y)
    np.testing.assert_array_equal(path.predict(X, 0.5), same.predict(X, 0.5))


def test_targets_are_the_callers_no_more():
    """Oracle: the numbers that were given."""
    y = T4.copy()
    path = svr_path(X3, y)
    y[:] = 0.0
    np.testing.assert_array_equal(path.y, T4)


@pytest.mark.parametrize("name", ["breakpoints", "events", "y", "weight", "classes_", "s"])
def test_what_a_path_hands_out_is_read_only(path, name):
    """A path does not change."""
    with pytest.raises(ValueError, match="read-only"):
        getattr(path, name)[0] = getattr(path, name)[1]


def test_a_kernel_matrix_is_kept_and_not_copied():
    """It may be half of the memory there is. Oracle: the array itself."""
    K = X3 @ X3.T
    assert np.shares_memory(svc_path(K, Y2, kernel="precomputed").problem.gram.matrix, K)


def test_events(path):
    """Oracle: replaying the events from the start, stair by stair."""
    events = path.events
    assert events.dtype.names == ("value", "variable", "from", "to")
    assert len(path) == path.n_events == len(events) == len(path.breakpoints)
    np.testing.assert_array_equal(path.breakpoints, events["value"])
    assert path.stair_names == ("outside", "elbow", "inside")
    stair = {}
    for e in events:
        k = int(e["variable"])
        assert stair.get(k, e["from"]) == e["from"], "left a stair on which it did not stand"
        stair[k] = e["to"]
    s = path.at(path.stop)
    for k, last in stair.items():
        low, high = {0: (0, 0), 1: (0, 1), 2: (1, 1)}[int(last)]
        assert low - 1e-9 <= s.alpha[k] <= high + 1e-9


def test_to_frame(path):
    """Oracle: the events."""
    frame = path.to_frame()
    assert list(frame.columns) == ["value", "variable", "from", "to"] and len(frame) == len(path)
    np.testing.assert_array_equal(frame["value"], path.breakpoints)
    assert set(frame["from"]) | set(frame["to"]) <= set(path.stair_names)
    assert frame["to"][3] == path.stair_names[path.events["to"][3]]


def test_support_and_coefficients(path, iris):
    """Oracle: coef = alpha y / lambda; the support are its non-zeros."""
    s = path.at(0.5)
    signs = np.where(iris[1] == 2, 1.0, -1.0)
    np.testing.assert_allclose(s.coef, s.alpha * signs / 0.5, rtol=1e-15)
    np.testing.assert_array_equal(s.support, np.flatnonzero(s.alpha))
    assert s.lambda_ == 0.5 and s.epsilon is None and s.nu is None
    assert 0 <= s.alpha.min() and s.alpha.max() <= 1 and 0 < len(s.support) < 100


def test_solution_of_a_regression():
    """Oracle: the arguments."""
    X, y = load_diabetes(return_X_y=True)
    p = svr_path(X[:40], y[:40], epsilon=20.0)
    assert p.at(p.start).epsilon == 20.0 and p.at(p.start).lambda_ == pytest.approx(p.start)
    q = svr_path(X[:40], y[:40], along="epsilon", lambda_=0.7)
    assert q.parameter == "epsilon" and q.at(30.0).epsilon == 30.0 and q.at(30.0).lambda_ == 0.7


def test_complete_and_reason(path):
    """Oracle: the stop that was asked for."""
    assert path.complete and path.reason == "the stop was reached"
    assert path.stop == pytest.approx(1e-4 * path.start)


# ---------------------------------------------------------------------- where it ends


def test_below_the_stop_is_refused(path):
    """Oracle: the walked range, which the message names."""
    with pytest.raises(ValueError, match=r"lambda = .* outside the walked range \["):
        path.at(0.5 * path.stop)
    with pytest.raises(ValueError, match="lambda"):
        path.decision_function(X3, [path.start, 0.5 * path.stop])


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_what_is_no_value_is_refused(path, value):
    """Oracle: the message names the parameter."""
    with pytest.raises(ValueError, match="lambda"):
        path.at(value)


def test_at_takes_one_value(path):
    """Oracle: the message names what takes many."""
    with pytest.raises(ValueError, match=r"one value.*decision_function"):
        path.at([1.0, 2.0])


def test_above_a_start_of_the_user_is_refused(iris):
    """Oracle: nothing is known there."""
    p = svc_path(*iris, start=0.5, stop=0.1)
    assert p.start == pytest.approx(0.5) and p.stop == pytest.approx(0.1)
    with pytest.raises(ValueError, match="outside the walked range"):
        p.at(0.6)


def test_interrupt_keeps_what_has_been_walked(iris, monkeypatch):
    """Oracle: the certificate, and the path without an interrupt."""
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    whole = svc_path(*iris, gamma=0.2)
    event = trace.Recorder.event

    def interrupted(self, *arguments):
        event(self, *arguments)
        if self.system is not None and len(self.events) == 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(trace.Recorder, "event", interrupted)
    part = svc_path(*iris, gamma=0.2)
    assert not part.complete and "interrupt" in part.reason
    assert 0 < len(part) <= 30
    np.testing.assert_allclose(part.breakpoints, whole.breakpoints[: len(part)], rtol=1e-12)
    assert_exact(part)


@pytest.mark.parametrize("call", [1, 2])
def test_an_interrupt_of_the_audit_keeps_what_has_been_walked(iris, monkeypatch, call):
    """Oracle: the whole path, and the certificate. `call`: the audit, or that of a second walk."""
    whole, calls, certified = svc_path(*iris, kernel="linear"), [], audit.certified

    def interrupted(problem, trace, *every):
        calls.append(trace)
        if len(calls) == call:
            raise KeyboardInterrupt
        return certified(problem, trace, *every).cut(3, Reason.ASTRAY(1.0))

    monkeypatch.setattr(audit, "certified", interrupted)
    part = svc_path(*iris, kernel="linear")
    assert not part.complete and part.reason == "interrupted"
    np.testing.assert_array_equal(part.breakpoints, whole.breakpoints[: part.n_events])
    assert part.certificate(part.breakpoints).exact.all() and part.n_events


def test_storage_is_sparse():
    """Oracle: a count. A path holds its moves, not a dense solution for each breakpoint."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    n = 400
    p = svc_path(X[:n], y[:n], kernel="linear")
    t = p._trace
    stored = sum(a.nbytes for a in t.arrays().values())
    free = [np.sum((s.alpha > 1e-9) & (s.alpha < 1 - 1e-9)) for s in map(p.at, p.breakpoints)]
    active = np.mean(free) + 5.0
    assert stored < 40 * active * len(p) + 100 * n
    assert stored < 0.5 * 8 * n * len(p)


# ---------------------------------------------------------------------- predictions


def test_predict_at_zero_gives_the_first_class(monkeypatch):
    """Oracle: scikit-learn's rule, f > 0 for the second class."""
    p = svc_path([[-1.0], [1.0]], ["b", "a"], kernel="linear")
    assert p.classes_.tolist() == ["a", "b"]
    f = np.array([0.0, -1.0, 1.0])
    monkeypatch.setattr(type(p), "decision_function", lambda self, X, value: f)
    assert p.predict([[0.0], [1.0], [-1.0]], 0.1).tolist() == ["a", "a", "b"]


def test_interval_of_intercepts_at_the_top():
    """Oracle: by hand. Balanced and all inside: the interval is where no loss changes side."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    p = svc_path(X, y, kernel="linear")
    value = 10 * p.start
    s = p.at(value)
    np.testing.assert_array_equal(s.alpha, 1.0)
    f = X[:, 0] * ((2 + 3 - 0 - 1) / value)
    low, high = -1 - f[:2].min(), 1 - f[2:].max()  # y (f + b) <= 1 for all
    np.testing.assert_allclose(s.intercept_interval, (low, high))
    assert s.intercept == pytest.approx(0.5 * (low + high))
    below = p.at(0.3 * p.start)
    assert below.intercept_interval == (below.intercept, below.intercept)


def test_labels_of_any_kind(iris):
    """Oracle: the path with labels 0 and 1."""
    X, y = iris
    plain = svc_path(X, y, gamma=0.2)
    names = np.array(["no", "yes"])[y - 1]
    kinds = (names, names.tolist(), pd.Series(names, dtype="category"), y == 2, y * 1.5)
    for labels in kinds:
        p = svc_path(X, labels, gamma=0.2)
        np.testing.assert_array_equal(p.breakpoints, plain.breakpoints)
        assert np.mean(p.predict(X, 0.1) == np.asarray(labels)) > 0.9


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_frames_of_pandas(case):
    """Oracle: the path from arrays."""
    X, y = make_data(case)
    w = np.linspace(1, 2, len(y))
    a, b = case(X, y, w), case(pd.DataFrame(X), pd.Series(y), pd.Series(w))
    np.testing.assert_array_equal(a.breakpoints, b.breakpoints)
    value = between(a, 0.1)
    np.testing.assert_array_equal(a.predict(X, value), b.predict(pd.DataFrame(X), value))


@pytest.mark.parametrize("function", [svc_path, lasso_path])
def test_columns_of_another_order_are_refused(function):
    """Oracle: the error's words, and the same numbers without names."""
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    path = function(frame, y)
    with pytest.raises(ValueError, match="column 0 is 'c', expected 'a'"):
        path.predict(frame[["c", "a", "b"]], path.start)
    with pytest.raises(ValueError, match="column 1 is 'd', expected 'b'"):
        path.cross(frame.rename(columns={"b": "d"}))
    f = path.decision_function(frame, path.stop)
    np.testing.assert_array_equal(f, path.decision_function(X, path.stop))


def test_values_beyond_double_precision_are_refused():
    """Oracle: the error's words. A certificate there was "wrong", of a path that is complete."""
    path = quantile_path(np.eye(12), np.sin(np.arange(12.0)), kernel="precomputed", stop=0)
    assert path.complete and path.stop == 0 and path.certificate([0.0, 1e-70]).exact.all()
    with pytest.raises(ValueError, match=r"lambda must be 0 or at least 1e-70, got 4.94066e-324"):
        path.at(np.nextafter(0.0, 1.0))


def test_a_column_name_that_comes_twice():
    """Oracle: the error's words."""
    with pytest.raises(ValueError, match="two of its columns are called 'a'"):
        svc_path(pd.DataFrame(np.eye(3), columns=["a", "b", "a"]), [0, 1, 1])


def test_precomputed_is_as_its_kernel(iris):
    """Oracle: the path from points."""
    X, y = iris
    K = X @ X.T
    a, b = svc_path(X, y, kernel="linear"), svc_path(K, y, kernel="precomputed")
    values = a.start * np.array([0.5, 0.01])
    f, g = a.decision_function(X[:7], values), b.decision_function(K[:7], values)
    np.testing.assert_allclose(f, g, rtol=1e-8)


def test_input_is_not_changed(iris):
    """Oracle: copies. Read-only arrays are welcome too."""
    X, y = (a.copy() for a in iris)
    w = np.ones(len(y))
    for a in (X, y, w):
        a.flags.writeable = False
    svc_path(X, y, sample_weight=w, max_events=5)
    svr_path(X, X[:, 0], sample_weight=w, max_events=5)
    lasso_path(X, X[:, 0] + y, sample_weight=w, max_events=5)
    np.testing.assert_array_equal(X, iris[0])


# ---------------------------------------------------------------------- files


def test_callable_kernels_are_not_saved(tmp_path):
    """Oracle: the message says what to do."""
    p = svc_path(X3, Y2, kernel=lambda A, B: A @ B.T)
    with pytest.raises(ValueError, match=r"callable.*precomputed"):
        p.save(tmp_path / "p.npz")


def test_other_files_are_refused(tmp_path, path):
    """Oracle: the message names what is wrong."""
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"not a saved path.*expected a file that Path\.save"):
        chemin.load(tmp_path / "other.npz")
    path.save(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as stored:
        arrays = dict(stored)
    arrays["header"] = np.array(
        str(arrays["header"]).replace(f'"format": {FORMAT}', '"format": 99')
    )
    np.savez(tmp_path / "new.npz", **arrays)
    with pytest.raises(ValueError, match="format 99"):
        chemin.load(tmp_path / "new.npz")


def test_a_file_without_its_suffix(tmp_path, path):
    """Oracle: the path that was saved; both sides add the same suffix."""
    path.save(tmp_path / "p")
    assert (tmp_path / "p.npz").exists()
    assert len(chemin.load(tmp_path / "p")) == len(chemin.load(tmp_path / "p.npz")) == len(path)


def test_labels_of_pandas_are_saved(tmp_path):
    """Oracle: the labels. Text that pandas holds as objects needs no pickle."""
    labels = pd.Series(["no", "no", "yes", "yes"], dtype=object)
    svc_path(X3, labels).save(tmp_path / "p.npz")
    again = chemin.load(tmp_path / "p.npz")
    assert again.classes_.tolist() == ["no", "yes"] and again.y.tolist() == labels.tolist()


def test_damaged_files_are_refused(tmp_path, path):
    """Oracle: one kind of error, which names the file, wherever the file was cut or changed."""
    path.save(tmp_path / "p.npz")
    whole = (tmp_path / "p.npz").read_bytes()
    rng = np.random.default_rng(0)
    damaged = [whole[: len(whole) * k // 8] for k in range(8)] + [b"text", b"\x00" * 200]
    for _ in range(20):
        place = int(rng.integers(len(whole)))
        damaged.append(
            whole[:place] + bytes(rng.integers(0, 256, 40, dtype=np.uint8)) + whole[place + 40 :]
        )
    refused = 0
    for content in damaged:
        (tmp_path / "bad.npz").write_bytes(content)
        try:
            chemin.load(tmp_path / "bad.npz")
        except ValueError as error:
            refused += "bad.npz" in str(error) and "pickle" not in str(error)
    assert refused >= len(damaged) - 2  # a change of bytes that are never read is no damage
    with pytest.raises(FileNotFoundError):
        chemin.load(tmp_path / "absent.npz")


def rewritten(file, digest=True, **changes):
    """The file with other arrays, and perhaps a digest that agrees with them."""
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files} | changes
    header = json.loads(str(arrays.pop("header")))
    if digest:
        header["digest"] = storage.digest(header, arrays)
    np.savez_compressed(file, header=np.array(json.dumps(header)), **arrays)


def test_what_was_changed_in_a_file_is_refused(tmp_path, path):
    """Oracle: one error for any array that is not as it was, were it by a digit."""
    file = tmp_path / "p.npz"
    path.save(file)
    with np.load(file) as found:
        numbers = {name: found[name] for name in found.files if found[name].dtype.kind in "iuf"}
    for name, array in numbers.items():
        path.save(file)
        changed = array.copy()
        changed.flat[0] = (
            np.nextafter(array.flat[0], 1e9) if array.dtype.kind == "f" else 1 + array.flat[0]
        )
        for other in (array[:-1], array[None], changed):
            rewritten(file, digest=False, **{name: other})
            with pytest.raises(ValueError, match=r"p\.npz is damaged"):
                chemin.load(file)


@pytest.mark.parametrize("name", ["pointer", "index", "stair_start", "z_start", "t0", "t1", "rate"])
def test_walks_that_cannot_be_are_refused(tmp_path, path, name):
    """Oracle: one error for a file that agrees with its digest, and leads nowhere."""
    file = tmp_path / "p.npz"
    path.save(file)
    with np.load(file) as found:
        array = found[f"trace_{name}"]
    wild = np.nan if array.dtype.kind == "f" else 10**6
    for other in (array[:-1], array[:0], array[None], -1 - array, np.full_like(array, wild)):
        if array.dtype.kind == "f" and other.shape == array.shape and np.isfinite(other).all():
            continue  # numbers that can be: certificates judge them
        path.save(file)
        rewritten(file, **{f"trace_{name}": other})
        with pytest.raises(ValueError, match=r"p\.npz is not a saved path, or is damaged"):
            chemin.load(file)


def test_a_path_without_events_is_true():
    """Oracle: nothing happens with a kernel of zeros, and that is a path."""
    path = svc_path(np.zeros((4, 4)), Y2, kernel="precomputed")
    assert len(path) == 0 and path and path.certificate(path.start).exact


# ---------------------------------------------------------------------- bad input

BAD = [
    (svc_path, (X3 * [1, np.nan], Y2), {}, "X", "NaN"),
    (svc_path, (np.where(X3 > 2, np.inf, X3), Y2), {}, "X", "inf"),
    (svc_path, (X3, [1, 1, 1, 1]), {}, "y", "1 class"),
    (svc_path, (X3, [1, 2, 3, 3]), {}, "y", "3 classes", "PathSVC"),
    (svc_path, (X3, [0.5, 1.25, 3.0, 4.0]), {}, "y", "svr_path"),
    (svc_path, (X3, [0, 1, 1]), {}, "y", "3 entries", "4"),
    (svc_path, (X3, Y2), {"kernel": "precomputed"}, "precomputed", "square"),
    (svc_path, (np.arange(16.0).reshape(4, 4), Y2), {"kernel": "precomputed"}, "symmetric"),
    (svc_path, (X3, Y2), {"sample_weight": [1, 1, -1, 1]}, "sample_weight", "negative", "-1"),
    (svc_path, (X3, Y2), {"sample_weight": [1, 1, 0, 0]}, "sample_weight", "1 class"),
    (svc_path, (X3, Y2), {"class_weight": {5: 1.0}}, "class_weight", "5"),
    (svc_path, (X3, Y2), {"class_weight": "equal"}, "class_weight", "balanced", "equal"),
    (svc_path, (X3, Y2), {"stop": -1.0}, "stop", "-1"),
    (svc_path, (X3, Y2), {"start": 0.0}, "start", "0"),
    (svc_path, (X3, Y2), {"start": 1.0, "stop": 1.0}, "start and stop", "1"),
    (svc_path, (X3, Y2), {"max_events": 0}, "max_events", "0"),
    (svc_path, (X3, Y2), {"max_events": 2.7}, "max_events", "2.7"),
    (svc_path, (X3, Y2), {"max_events": "3"}, "max_events", "'3'"),
    (svc_path, (X3, Y2), {"max_events": np.nan}, "max_events", "nan"),
    (svc_path, (X3, Y2), {"intercept": "no"}, "intercept", "'no'"),
    (svc_path, (X3, Y2), {"kernel": "gauss"}, "kernel", "rbf", "gauss"),
    (svc_path, (X3, Y2), {"gamma": -2.0}, "gamma", "-2"),
    (svc_path, (X3, Y2), {"kernel": "poly", "degree": 0}, "degree", "0"),
    (svr_path, (X3 * [1, np.nan], T4), {}, "X", "NaN"),
    (svr_path, (X3, [0, 1, np.nan, 2]), {}, "y", "NaN"),
    (svr_path, (X3, [2.0, 2.0, 2.0, 2.0]), {}, "y", "constant", "2"),
    (svr_path, (X3, T4), {"sample_weight": [1, 0, 0, 0]}, "y", "constant"),
    (svr_path, (X3, ["a", "b", "c", "d"]), {}, "y", "numbers"),
    (svr_path, (X3, T4), {"epsilon": -0.1}, "epsilon", "-0.1"),
    (svr_path, (X3, T4), {"lambda_": 0.0}, "lambda_", "0"),
    (svr_path, (X3, T4), {"along": "nu"}, "along", "epsilon", "nu"),
    (svr_path, (X3, T4), {"stop": -1.0}, "stop", "-1"),
    (lasso_path, (X3 * [1, np.nan], T4), {}, "X", "NaN"),
    (lasso_path, (X3, [1.0, 1.0, 1.0, 1.0]), {}, "y", "constant"),
    (lasso_path, (X3, T4[:3]), {}, "y", "3 entries", "4"),
    (lasso_path, (X3, T4), {"sample_weight": [0, 0, 0, 0]}, "sample_weight", "0"),
    (lasso_path, (X3, T4), {"stop": -1.0}, "stop", "-1"),
    (lasso_path, (X3[:, 0], T4), {}, "X", "two-dimensional"),
    (svc_path, (X3, Y2), {"sample_weight": "balanced"}, "sample_weight", "class_weight"),
    (svc_path, (X3, Y2), {"verbose": "loud"}, "verbose", "'loud'"),
    (svc_path, (X3, Y2), {"check_psd": "no"}, "check_psd", "True or False", "'no'"),
    (svc_path, (X3, Y2), {"cost": 0.0}, "cost", "between 0 and 1", "0.0"),
    (svc_path, (np.diag([1, 1, 1, -1e-3]), Y2), {"kernel": "precomputed"}, "-0.001", "diagonal"),
    (svr_path, (-X3 @ X3.T, T4), {"kernel": "precomputed"}, "semi-definite", "-10", "diagonal"),
]


@pytest.mark.parametrize("function, arguments, options, parts", [(*b[:3], b[3:]) for b in BAD])
def test_bad_input(function, arguments, options, parts):
    """Oracle: the message names the argument, what came and what was expected."""
    with pytest.raises(ValueError) as error:
        function(*arguments, **options)
    for part in parts:
        assert part in str(error.value), str(error.value)


WRONG = [
    ("at", ("1",), "lambda", "'1'"),
    ("at", ([1.0, 2.0],), "one value", "[1.0, 2.0]"),
    ("certificate", (None,), "lambda", "None"),
    ("coefficients", (1j,), "lambda", "1j"),
    ("predict", (X3, {}), "lambda", "{}"),
    ("predict", (X3, True), "lambda", "True"),
    ("leave_one_out", ([[1.0]],), "lambda", "[[1.0]]"),
    ("segments", (X3[:2],), "cross", "(4, points)", "(2, 2)"),
    ("segments", (3,), "cross", "()"),
    ("certify", (None,), "solution", "None"),
    ("save", (3,), "file", "3"),
]


@pytest.mark.parametrize("method, arguments, parts", [(*w[:2], w[2:]) for w in WRONG])
def test_bad_arguments_of_methods(method, arguments, parts):
    """Oracle: the message names the argument, what came and what was expected."""
    with pytest.raises(ValueError) as error:
        getattr(svc_path(X3, Y2, gamma=1.0), method)(*arguments)
    for part in parts:
        assert part in str(error.value), str(error.value)


@pytest.mark.parametrize(
    "option, value",
    [("max_events", 2.5), ("max_events", "3"), ("max_events", 0), ("verbose", "x"), ("at", None)],
)
def test_bad_arguments_of_turns(option, value):
    """Oracle: the message names the argument and what came."""
    options = {"at": 1.0} | {option: value}
    name = "lambda" if option == "at" else option
    with pytest.raises(ValueError, match=rf"^{name} must be .*got {value!r}"):
        svr_path(X3, T4, gamma=1.0).turn("epsilon", **options)


def test_a_solution_is_at_the_value_asked_for():
    """Oracle: the value itself, which goes to the walk's own units and back."""
    values = np.random.default_rng(0).uniform(0.05, 0.95, 50)
    lasso, tau = lasso_path(X3, T4, stop=0), quantile_path(X3, T4, along="tau")
    assert [lasso.at(v).lambda_ for v in values] == values.tolist()
    assert [tau.at(v).tau for v in values] == values.tolist()


def test_no_values_are_no_solutions():
    """Oracle: shapes of arrays with nothing in them."""
    for path in (svc_path(X3, Y2), nu_svr_path(X3, T4), lasso_path(X3, T4)):
        assert path.certificate([]).exact.shape == (0,)
        assert path.coefficients([])[1].shape == (0,)


@pytest.mark.parametrize("along", ["cost", "tau"])
def test_a_kernel_of_zeros(along):
    """Oracle: certificates; a constant is all there is."""
    K = np.zeros((4, 4))
    path = (
        svc_path(K, Y2, kernel="precomputed", along=along)
        if along == "cost"
        else quantile_path(K, T4, kernel="precomputed", along=along)
    )
    assert path.complete and path.certificate(np.linspace(path.start, path.stop, 9)).exact.all()


def test_too_many_points_for_the_memory(monkeypatch):
    """Oracle: the message says how many GB and what to use instead."""
    monkeypatch.setattr("chemin._checks.ALWAYS_THERE", 0)
    monkeypatch.setattr("chemin._checks.available_bytes", lambda: 64)
    with pytest.raises(ValueError, match=r"GB.*expected at most 2 rows.*subsample"):
        svc_path(X3, Y2)


@pytest.mark.parametrize("check", [False, True], ids=["on the way", "looked at first"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("function", [svc_path, svr_path, nu_svr_path])
def test_indefinite_kernel(function, seed, check):
    """Oracle: a matrix with eigenvalues of both signs by construction; it has 30 rows."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    K = (Q * np.where(np.arange(30) < 10, -2.0, 3.0)) @ Q.T
    y = rng.normal(size=30)
    how = r"smallest eigenvalue is -2" if check else r"negative pivot at row [12]?\d\)"
    with pytest.raises(ValueError, match=f"not positive semi-definite.*{how}"):
        function(
            0.5 * (K + K.T),
            y > 0 if function is svc_path else y,
            kernel="precomputed",
            check_psd=check,
        )


@pytest.mark.parametrize("function, y", [(svc_path, Y2), (svr_path, T4)])
def test_small_indefinite_kernel(function, y):
    """Oracle: the smallest eigenvalue is -2, beside a largest of 4."""
    K = np.array([[1, 3, 0, 0], [3, 1, 0, 0], [0, 0, 1, 2], [0, 0, 2, 1.0]])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        function(K, y, kernel="precomputed")


def test_check_psd_lets_a_kernel_pass(iris):
    """Oracle: the path without the check."""
    a, b = (svc_path(*iris, gamma=0.2, check_psd=c) for c in (True, False))
    np.testing.assert_array_equal(a.breakpoints, b.breakpoints)


def test_lambda_0_is_the_hard_margin():
    """Oracle: scikit-learn's SVC with a C beyond all multipliers, to what it reaches."""
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]
    path = svc_path(X, y, kernel="linear", stop=0)
    hard = SVC(kernel="linear", C=1e6, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(path.at(0).coef @ X, hard.coef_[0], atol=1e-5)
    f = path.decision_function(X, [0.0, path.breakpoints[-1] / 3])
    np.testing.assert_allclose(f[:, 0], hard.decision_function(X), atol=1e-5)
    np.testing.assert_allclose(f[:, 0], f[:, 1], atol=1e-10)
    assert path.at(0).lambda_ == 0 and not path.at(0).alpha.any()
    assert path.certificate(0.0).exact


def test_lambda_0_without_a_fit_says_so():
    """Oracle: two equal points with different labels, which no function separates."""
    path = svc_path([[0.0], [0.0], [1.0], [2.0]], [0, 1, 0, 1], kernel="linear", stop=0)
    with pytest.raises(ValueError, match="lambda = 0 "):
        path.at(0)


@pytest.mark.parametrize(
    "function",
    [
        chemin.svc_path,
        chemin.svr_path,
        chemin.nu_svr_path,
        chemin.quantile_path,
        chemin.quadratic_svc_path,
        chemin.quadratic_svr_path,
        chemin.expectile_path,
        chemin.kernel_ridge_path,
    ],
)
def test_the_way_to_zero(function):
    """Oracle: the certificate at the smallest values, and an invariant: f goes to f at 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    y = np.arange(12) % 2 if "svc" in function.__name__ else rng.normal(size=12)
    path = function(X, y, gamma=0.5, stop=0)
    tiny = path.start * 10.0 ** np.array([-10.0, -13.0, -16.0, -20.0, -30.0])
    assert path.complete and path.certificate(tiny).exact.all()
    f = path.decision_function(X, np.append(tiny, 0.0))
    np.testing.assert_allclose(f[:, 2:-1], f[:, -1:] * np.ones(3), rtol=0, atol=1e-9)


def test_the_limit_of_kernel_ridge():
    """Oracle: the linear system of the interpolating function."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    K = rbf_kernel(X, gamma=0.5)
    path = chemin.kernel_ridge_path(X, y, gamma=0.5, intercept=False, stop=0)
    np.testing.assert_allclose(path.at(0.0).coef, np.linalg.solve(K, y), rtol=1e-8)


WITH_LIMITS = {
    "svc": chemin.svc_path,
    "svr": chemin.svr_path,
    "nu-svr": chemin.nu_svr_path,
    "quantile": chemin.quantile_path,
    "squared hinge": partial(chemin.quadratic_svc_path, intercept=True, h=0.2, rho=1.1),
    "huber tube": partial(chemin.quadratic_svr_path, epsilon=0.05, h=1.0),
    "expectile": partial(chemin.expectile_path, tau=0.9),
    "kernel ridge": chemin.kernel_ridge_path,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", WITH_LIMITS)
def test_limits_at_zero_are_certified(name, weighted):
    """Oracle: f without loss, of least norm: what is changed a little is refused, and what fits all
    targets solves their linear system.
    """
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, t = rng.normal(size=(12, 2)), rng.normal(size=12)
        y = (t > 0).astype(int) if name in ("svc", "squared hinge") else t
        w = 10.0 ** rng.uniform(-1.5, 1.5, 12) if weighted else None
        path = WITH_LIMITS[name](X, y, gamma=1.0, sample_weight=w, stop=0)
        if not path.complete:
            continue
        proof, s = path.certificate(0.0), path.at(0.0)
        assert proof.verdict == "exact", (seed, proof)
        assert s.lambda_ == 0 and not s.alpha.any()
        assert path.certify(s) == proof
        values = np.array([0.1 * path.start, 0.0, 0.01 * path.start, 0.0])
        for one, value in zip(path.certificate(values).kkt_violation, values):
            assert one == pytest.approx(path.certificate(value).kkt_violation, abs=1e-12)
        for changed in (
            {"coef": s.coef * (1 + 1e-6)},
            {"intercept": s.intercept + 1e-6},
            {"alpha": s.alpha + 1e-6 * path.weight.max()},
            {"coef": np.roll(s.coef, 1)},
        ):
            assert path.certify(replace(s, **changed)).verdict == "wrong", (seed, changed)
        if name in ("nu-svr", "quantile", "expectile", "kernel ridge"):
            one = np.ones((12, 1))
            M = np.block([[rbf_kernel(X, gamma=1.0), one], [one.T, np.zeros((1, 1))]])
            expected = np.linalg.solve(M, np.append(t, 0.0))
            np.testing.assert_allclose(np.append(s.coef, s.intercept), expected, rtol=1e-6)


def test_a_turn_to_zero_is_certified():
    """Oracle: the certificate, all the way to the limit."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    path = chemin.quadratic_svr_path(X, y, gamma=1.0, epsilon=0.05, h=1.0)
    turned = path.turn("h", at=0.1 * path.start, stop=2.0).turn("lambda", at=2.0, stop=0)
    assert turned.complete and turned.certificate([turned.start, 1e-9, 0.0]).exact.all()


def test_one_class_to_its_end():
    """Oracle: the certificate. Below the last event multipliers go to 0 together."""
    path = chemin.one_class_path(np.random.default_rng(0).normal(size=(12, 2)), stop=0)
    assert path.complete and path.stop == 0
    assert path.certificate([0.3, 1e-3, 1e-8, 1e-20]).exact.all()
    assert not path.at(0.0).alpha.any()


def test_settled_is_proven():
    """Oracle: a walk to 0 from there has no event; a path that is not separated has some."""
    settled = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, weight = 12 + 2 * seed, rng.uniform(0.1, 2.0, size=12 + 2 * seed)
        X = rng.normal(size=(n, 2))
        y = np.where(X[:, 0] + rng.choice([0.0, 0.5]) * rng.normal(size=n) > 0, 1, -1)
        paths = [
            chemin.svc_path(X, y, kernel=kernel, gamma=1.0, sample_weight=weight)
            for kernel in ("linear", "rbf")
        ]
        paths += [chemin.svr_path(X, X[:, 0], gamma=1.0), chemin.quantile_path(X, X[:, 0])]
        for path in paths:
            if path.settled:
                settled += 1
                assert path.further(1e-3 * path.stop).n_events == path.n_events
                assert not path.goes_on
    assert settled > 20


def test_a_path_with_events_to_come_is_not_settled():
    """Oracle: the events of a longer walk."""
    X, y = chemin.datasets.make_speed_benchmark(60, 0)
    path = chemin.svc_path(X, y, gamma=0.05, stop=1.0)
    assert path.further(1e-3).n_events > path.n_events
    assert path.goes_on and not path.settled
