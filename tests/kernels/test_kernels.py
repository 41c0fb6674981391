"""Kernels against scikit-learn's pairwise functions, brute force and closed forms."""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from chemin import _checks
from chemin.kernels import (
    KNOWN,
    RBF,
    Cosine,
    Function,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    _named,
    make_kernel,
    weighted_variance,
)
from chemin.kernels._blocks import BLOCK_ROWS, distinct_rows
from chemin.kernels._named import DIRECT_ABOVE

NAMED = [
    Linear(),
    Polynomial(gamma=0.3, degree=3, coef0=0.5),
    Polynomial(gamma=0.3, degree=1),
    Polynomial(gamma=0.2, degree=6, coef0=-0.5),
    RBF(gamma=0.2),
    RBF(gamma=500.0),
    Sigmoid(gamma=0.1, coef0=-0.2),
    Laplacian(gamma=0.3),
    Cosine(),
]
IDS = [repr(kernel) for kernel in NAMED]


def points(n=2 * BLOCK_ROWS + 37, d=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def by_scikit_learn(kernel, A, B):
    spec = kernel.spec()
    return pairwise_kernels(A, B, metric=spec.pop("name"), **spec)


def refuses(*parts):
    """A ValueError whose message has all these parts, in this order."""
    return pytest.raises(ValueError, match=r"(?s)" + ".*".join(parts))


# ---------------------------------------------------------------------------- values


@pytest.mark.parametrize("kernel", NAMED, ids=IDS)
@pytest.mark.parametrize("n", [1, 2, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 37])
def test_gram_is_scikit_learns(kernel, n):
    X = points(n)
    K = kernel.gram(X)
    np.testing.assert_allclose(K, by_scikit_learn(kernel, X, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    assert K.dtype == np.float64 and K.flags.c_contiguous


@pytest.mark.parametrize("kernel", NAMED, ids=IDS)
@pytest.mark.parametrize("n_new", [1, BLOCK_ROWS + 3])
def test_cross_is_scikit_learns(kernel, n_new):
    A, B = points(n_new, seed=1), points(50, seed=2)
    K = kernel.cross(A, B)
    np.testing.assert_allclose(K, by_scikit_learn(kernel, A, B), rtol=1e-12, atol=1e-12)
    assert K.dtype == np.float64 and K.flags.c_contiguous


@pytest.mark.parametrize("kernel", [k for k in NAMED if not isinstance(k, Cosine)], ids=repr)
def test_gram_is_the_formula_one_pair_at_a_time(kernel):
    formula = {
        "linear": lambda x, z: x @ z,
        "poly": lambda x, z: (kernel.gamma * (x @ z) + kernel.coef0) ** kernel.degree,
        "rbf": lambda x, z: np.exp(-kernel.gamma * np.sum((x - z) ** 2)),
        "sigmoid": lambda x, z: np.tanh(kernel.gamma * (x @ z) + kernel.coef0),
        "laplacian": lambda x, z: np.exp(-kernel.gamma * np.sum(np.abs(x - z))),
    }[kernel.name]
    X = points(12)
    brute = [[formula(x, z) for z in X] for x in X]
    np.testing.assert_allclose(kernel.gram(X), brute, rtol=1e-12, atol=1e-13)


def test_cosine_of_a_zero_row_is_zero():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [6.0, 8.0], [-4.0, 3.0]])
    K = Cosine().gram(X)
    expected = [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(K, expected, atol=1e-15)
    assert K[1, 1] == 0 and K[0, 0] == 1


def test_cosine_of_rows_beyond_squaring():
    X = np.array([[3e200, 4e200], [4e-200, 3e-200], [1.0, 0.0]])
    expected = [[1, 0.96, 0.6], [0.96, 1, 0.8], [0.6, 0.8, 1]]
    np.testing.assert_allclose(Cosine().gram(X), expected, rtol=1e-15)


# ---------------------------------------------------------------------------- accuracy


def brute_rbf(X, gamma):
    """By differences in extended precision."""
    X = X.astype(np.longdouble)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-gamma * squares).astype(np.float64)


def test_rbf_far_from_the_origin():
    # |x|² + |z|² - 2 x'z without centring is off by 1e-3 here.
    X = points(60) + 1e6
    np.testing.assert_allclose(RBF(0.2).gram(X), brute_rbf(X, 0.2), atol=1e-14)
    np.testing.assert_allclose(RBF(0.2).cross(X[:7], X), brute_rbf(X, 0.2)[:7], atol=1e-14)


def test_rbf_centred_is_still_a_matrix_product(monkeypatch):
    def slow(*arguments):
        raise AssertionError("distances were taken coordinate by coordinate")

    monkeypatch.setattr(_named, "cdist", slow)
    X = points(60) + 1e6
    np.testing.assert_allclose(RBF(0.2).gram(X), brute_rbf(X, 0.2), atol=1e-14)


def test_rbf_of_two_tight_clusters_far_apart():
    # Centring does not help: distances within a cluster need differences.
    X = points(60)
    X[:30] += 1e7
    K = RBF(1.0).gram(X)
    np.testing.assert_allclose(K, brute_rbf(X, 1.0), atol=1e-14)
    np.testing.assert_allclose(RBF(1.0).cross(X[:7], X), brute_rbf(X, 1.0)[:7], atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > -1e-13


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_rbf_either_side_of_the_switch_to_differences(factor):
    X = points(80)
    largest = ((X - X.mean(axis=0)) ** 2).sum(axis=1).max()
    gamma = factor * DIRECT_ABOVE / largest
    X[1] = X[0] + 1e-3
    np.testing.assert_allclose(RBF(gamma).gram(X), brute_rbf(X, gamma), atol=5e-13)


def test_rbf_never_above_one():
    # Pairs at 1e-10: round-off alone decides the sign of the squared distance.
    X = points(300)
    K = RBF(0.2).gram(np.vstack([X, X + 1e-10]))
    assert K.max() == 1.0
    assert RBF(0.2).cross(X + 1e-10, X).max() <= 1.0


def test_rbf_of_coordinates_beyond_squaring():
    X = np.array([[1e200, 0.0], [1e200, 1.0], [-1e308, 0.0], [1e308, 0.0]])
    K = RBF(1.0).gram(X)
    expected = np.eye(4)
    expected[0, 1] = expected[1, 0] = np.exp(-1)
    np.testing.assert_allclose(K, expected, atol=1e-15)


# ---------------------------------------------------------------------------- equal points


@pytest.mark.parametrize("kernel", [*NAMED, Function(lambda A, B: np.exp(A @ B.T))], ids=repr)
def test_equal_rows_are_equal_bit_by_bit(kernel):
    rng = np.random.default_rng(3)
    distinct = 0.5 * points(400, d=7)
    which = rng.integers(0, 400, 700)
    X = distinct[which]
    K = kernel.gram(X)
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    assert len(first) < 400  # the oracle found repetitions
    np.testing.assert_array_equal(K, K[first[inverse]])
    np.testing.assert_array_equal(K, K[:, first[inverse]])
    np.testing.assert_array_equal(K, K.T)
    C = kernel.cross(X[300:], X)
    same = first[inverse]
    np.testing.assert_array_equal(C, C[:, same])
    new_first = {g: i for i, g in reversed(list(enumerate(same[300:])))}
    np.testing.assert_array_equal(C, C[[new_first[g] for g in same[300:]]])
    np.testing.assert_allclose(C, K[300:], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(0.3), RBF(1e5), Laplacian(0.3), Cosine()], ids=repr)
def test_equal_points_have_kernel_exactly_one(kernel):
    X = points(500, d=11)[np.random.default_rng(4).integers(0, 500, 600)] + 100.0
    equal = (X[:, None] == X[None]).all(axis=2)
    assert equal.sum() > 600
    assert np.all(kernel.gram(X)[equal] == 1.0)
    assert np.all(kernel.cross(X[:100], X)[equal[:100]] == 1.0)


def test_minus_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 3.0]])
    assert distinct_rows(X)[1].tolist() == [0, 0, 1]
    assert RBF(1.0).gram(X)[0, 1] == 1.0
    assert RBF(1.0).cross(X[1:2], X)[0, 0] == 1.0


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_distinct_rows_put_back_give_the_data(rows):
    X = np.array(rows, dtype=float)
    distinct, inverse = distinct_rows(X)
    np.testing.assert_array_equal(distinct[inverse], X)
    assert len(np.unique(X, axis=0)) == len(distinct)
    assert np.all(inverse <= np.arange(len(X)))
    np.testing.assert_array_equal(Linear().gram(X), X @ X.T)  # integers: exact
    np.testing.assert_array_equal(Linear().cross(X[::-1], X), X[::-1] @ X.T)


# ---------------------------------------------------------------------------- memory, inputs


@pytest.mark.parametrize("kernel", [RBF(0.1), Polynomial(0.1), Laplacian(0.1)], ids=repr)
@pytest.mark.parametrize("repeats", [1, 2])
def test_no_second_matrix_of_that_size(kernel, repeats):
    X = np.repeat(points(2400 // repeats), repeats, axis=0)
    tracemalloc.start()
    K = kernel.gram(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * K.nbytes


@pytest.mark.parametrize("kernel", NAMED, ids=IDS)
def test_inputs_are_left_alone(kernel, tmp_path):
    X = points(40)
    before = X.copy()
    X.flags.writeable = False
    K = kernel.gram(X)
    kernel.cross(X, X)
    np.testing.assert_array_equal(X, before)
    np.save(tmp_path / "X.npy", X)
    np.testing.assert_array_equal(kernel.gram(np.load(tmp_path / "X.npy", mmap_mode="r")), K)
    np.testing.assert_array_equal(kernel.gram(pd.DataFrame(X)), K)


def test_bad_points():
    with refuses("X contains NaN"):
        RBF(1.0).gram([[np.nan]])
    with refuses("X_new contains NaN"):
        RBF(1.0).cross([[np.nan]], [[1.0]])
    with refuses("X_new has 3 features", "2 features"):
        RBF(1.0).cross(np.ones((4, 3)), np.ones((5, 2)))
    with refuses("X is too large", "not finite", "Rescale X"):
        Linear().gram([[1e200]])
    with refuses("X is too large", "not finite", "Rescale X"):
        Polynomial(1.0, 9).cross([[1e40]], [[1.0]])


def test_more_points_than_memory(monkeypatch):
    monkeypatch.setattr(_checks, "ALWAYS_THERE", 0)
    monkeypatch.setattr(_checks, "available_bytes", lambda: 1000)
    for kernel in (RBF(1.0), Function(np.dot)):
        with refuses("X has 12 rows", "GB"):
            kernel.gram(points(12))


# ---------------------------------------------------------------------------- precomputed, callable


def test_precomputed_passes_the_matrix_through():
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    kernel = make_kernel("precomputed")
    np.testing.assert_array_equal(kernel.gram(K), K)
    new = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(kernel.cross(new, K), new)


def test_precomputed_refused():
    kernel = Precomputed()
    with refuses('X with kernel="precomputed"', "square", r"\(3, 2\)"):
        kernel.gram(np.ones((3, 2)))
    with refuses('X with kernel="precomputed"', "symmetric", "differ by 1 "):
        kernel.gram([[1.0, 2.0], [1.0, 3.0]])
    with refuses('X_new with kernel="precomputed"', r"\(n_new, 2\)", r"\(4, 3\)"):
        kernel.cross(np.ones((4, 3)), np.eye(2))
    with refuses("X_new", "NaN"):
        kernel.cross([[np.nan, 1.0]], np.eye(2))


def test_callable_is_called_as_scikit_learn_does():
    def cubic(A, B):
        return (A @ B.T + 1) ** 3

    X, new = points(30), points(4, seed=1)
    kernel = make_kernel(cubic)
    np.testing.assert_allclose(kernel.gram(X), cubic(X, X), rtol=1e-15)
    np.testing.assert_allclose(kernel.cross(new, X), cubic(new, X), rtol=1e-15)
    assert repr(kernel) == "Function(cubic)"
    assert kernel.spec() == {"name": "callable"}


def test_callable_never_has_its_own_array_changed():
    cached = np.array([[2.0, 1.0 + 1e-13], [1.0, 2.0]])
    before = cached.copy()
    K = Function(lambda A, B: cached).gram([[0.0], [1.0]])
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(cached, before)


def test_callable_refused():
    X = points(5)
    with refuses("kernel=<lambda>", r"shape \(\)", r"expected a matrix of shape \(5, 5\)"):
        Function(lambda A, B: 1.0).gram(X)
    with refuses("kernel=two_by_three", r"\(2, 3\)", r"expected a matrix of shape \(5, 5\)"):
        Function(two_by_three).cross(X, X)
    with refuses("kernel=<lambda> returned", "symmetric", "differ"):
        Function(lambda A, B: A[:, :1] + 2 * B[:, :1].T).gram(X)
    with refuses("kernel=<lambda> returned contains NaN"):
        Function(lambda A, B: np.full((len(A), len(B)), np.nan)).gram(X)


def two_by_three(A, B):
    return np.ones((2, 3))


# ---------------------------------------------------------------------------- make_kernel


@pytest.mark.parametrize("name", ["poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.7])
def test_make_kernel_settles_gamma_as_svc_does(name, gamma):
    X = 3 * points(40) + 1
    fitted = SVC(kernel=name, gamma=gamma).fit(X, np.arange(40) % 2)
    assert make_kernel(name, gamma=gamma, X=X).gamma == fitted._gamma


def test_make_kernel_names():
    X = points(4)
    types = [type(make_kernel(name, X=X)) for name in KNOWN]
    named = [Linear, Polynomial, Polynomial, RBF, Sigmoid, Laplacian, Cosine, Precomputed]
    assert types == named
    assert make_kernel("poly", gamma=2, degree=4, coef0=1) == Polynomial(2.0, 4, 1.0)
    assert make_kernel("sigmoid", gamma=2, coef0=1) == Sigmoid(2.0, 1.0)
    kernel = RBF(0.5)
    assert make_kernel(kernel) == kernel
    assert make_kernel(kernel) is not kernel


def test_gamma_scale_a_weight_is_so_many_rows():
    X = points(30)
    repeats = np.random.default_rng(5).integers(0, 4, 30)
    rows = np.repeat(X, repeats, axis=0)
    assert weighted_variance(X, repeats) == pytest.approx(rows.var(), rel=1e-14)
    weighted = make_kernel("rbf", X=X, sample_weight=repeats)
    assert weighted.gamma == pytest.approx(1 / (5 * rows.var()), rel=1e-14)
    # A weight of 0 is no row: exactly, however wild the row.
    X[3] = 1e300
    ones = np.arange(30) != 3
    assert make_kernel("rbf", X=X, sample_weight=ones).gamma == make_kernel("rbf", X=X[ones]).gamma


def test_gamma_scale_of_constant_points_is_one():
    assert make_kernel("rbf", X=np.full((5, 2), 3.0)).gamma == 1.0


@pytest.mark.parametrize(
    "options, parts",
    [
        ({"kernel": "gauss"}, ["kernel must be one of linear, poly", "precomputed", "'gauss'"]),
        ({"kernel": None}, ["kernel must be one of", "None"]),
        ({"kernel": RBF}, ["kernel must be one of", "RBF"]),
        ({"gamma": 0}, ["gamma must be a finite number > 0", "got 0"]),
        ({"gamma": -1.0}, ["gamma must be", "> 0", "-1.0"]),
        ({"gamma": np.inf}, ["gamma must be a finite", "inf"]),
        ({"gamma": True}, ["gamma must be", "True"]),
        ({"gamma": None}, ["gamma must be", "None"]),
        ({"gamma": "big"}, ["gamma must be a number > 0, .scale. or .auto.", "'big'"]),
        ({"gamma": "big", "kernel": "linear"}, ["gamma must be", "'big'"]),
        ({"degree": 0}, ["degree must be an integer >= 1", "0"]),
        ({"degree": 2.5}, ["degree must be an integer >= 1", "2.5"]),
        ({"degree": True}, ["degree must be an integer >= 1", "True"]),
        ({"coef0": np.nan}, ["coef0 must be a finite number", "nan"]),
        ({"X": None}, ["X must be given", "gamma='scale'", "None"]),
        ({"X": [[np.nan]]}, ["X contains NaN"]),
        ({"X": [[1e300], [-1e300]]}, ["gamma=.scale.", "variance of X is inf", "rescale"]),
        ({"X": [[1e-155], [-1e-155]]}, ["gamma=.scale.", "variance of X is", "rescale"]),
        ({"sample_weight": [1.0]}, ["sample_weight has 1 entries", "X has 3 rows"]),
    ],
)
def test_make_kernel_refused(options, parts):
    with refuses(*parts):
        make_kernel(**({"X": points(3)} | options))


# ---------------------------------------------------------------------------- spec and repr


@pytest.mark.parametrize("kernel", [*NAMED, Precomputed()], ids=repr)
def test_spec_survives_json(kernel):
    text = json.dumps(kernel.spec())
    assert Kernel.from_spec(json.loads(text)) == kernel


def test_spec_of_numpy_scalars_survives_json():
    kernel = Polynomial(np.float32(0.5), np.int64(2), np.float32(1.5))
    assert json.loads(json.dumps(kernel.spec())) == {
        "name": "poly",
        "gamma": 0.5,
        "degree": 2,
        "coef0": 1.5,
    }


def test_spec_holds_the_settled_gamma():
    X = points(10)
    assert make_kernel("rbf", X=X).spec() == {"name": "rbf", "gamma": 1 / (5 * X.var())}


def test_from_spec_refused():
    with refuses("spec", "callable", "make_kernel"):
        Kernel.from_spec({"name": "callable"})
    with refuses("spec must have a name among bilinear, cosine", "'gauss'"):
        Kernel.from_spec({"name": "gauss"})
    with refuses("spec does not fit the kernel 'rbf'", "degree"):
        Kernel.from_spec({"name": "rbf", "gamma": 1.0, "degree": 3})
    with refuses("gamma must be"):
        Kernel.from_spec({"name": "rbf", "gamma": -1.0})


def test_repr_is_short_and_frozen():
    assert repr(RBF(0.25)) == "RBF(gamma=0.25)"
    assert repr(Linear()) == "Linear()"
    assert repr(Polynomial(0.5)) == "Polynomial(gamma=0.5, degree=3, coef0=0.0)"
    with pytest.raises(AttributeError):
        RBF(0.25).gamma = 1.0
