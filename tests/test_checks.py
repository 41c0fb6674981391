"""Bad input: every error says which argument, what came and what was expected."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.class_weight import compute_class_weight

from chemin import _checks, svc_path
from chemin._checks import (
    available_bytes,
    check_fraction,
    check_gram,
    check_matrix,
    check_memory,
    check_number,
    check_positive,
    check_start_stop,
    check_target,
    check_two_classes,
    check_values,
    check_walk_memory,
    check_weights,
    class_weights,
)


def refuses(*parts):
    """A ValueError whose message has all these parts, in this order."""
    return pytest.raises(ValueError, match=r"(?s)" + ".*".join(parts))


def spd(n, seed=0):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return A @ A.T


# ---------------------------------------------------------------------------- check_matrix


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.int32),
        np.array([[1, 2], [3, 4]], dtype=np.float32, order="F"),
        np.array([[1, 2], [3, 4]], dtype=object),
        np.arange(1.0, 9.0).reshape(2, 4)[:, :2] * [[1, 1], [0.6, 4 / 6]],
        pd.DataFrame({"a": [1, 3], "b": [2.0, 4.0]}),
        pd.DataFrame({"a": [1, 3], "b": [2, 4]}, dtype="Int64"),
    ],
    ids=["list", "int", "fortran", "object", "strided", "frame", "nullable frame"],
)
def test_matrix_of_any_kind_becomes_plain_float64(X):
    out = check_matrix(X)
    assert type(out) is np.ndarray
    assert out.dtype == np.float64 and out.flags.c_contiguous
    np.testing.assert_allclose(out, [[1, 2], [3, 4]], rtol=1e-15)


def test_matrix_takes_what_has_an_array_interface():
    class Frame:  # as polars frames do
        shape = (2, 2)

        def __len__(self):
            return 2

        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2], [3, 4]], dtype=dtype)

    np.testing.assert_array_equal(check_matrix(Frame()), [[1, 2], [3, 4]])


def test_matrix_read_only_and_memory_map(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    X.flags.writeable = False
    assert np.shares_memory(check_matrix(X), X)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(check_matrix(mapped), X)


@pytest.mark.parametrize(
    "X, parts",
    [
        ([[1.0, np.nan], [np.nan, 1.0]], ["X contains NaN", r"\[0, 1\] and 1 more", "finite"]),
        ([[1.0, 2.0], [-np.inf, 1.0]], ["X contains infinity", r"\[1, 0\]\)", "finite"]),
        (pd.DataFrame({"a": [1, None]}, dtype="Int64"), ["X contains NaN", r"\[1, 0\]"]),
        ([1.0, 2.0], ["X must be a two-dim", "1D array", "Reshape your data"]),
        (np.zeros((2, 2, 2)), ["X must be a two-dim", "dim 3"]),
        (np.zeros((0, 3)), ["X must be", "0 sample"]),
        (np.zeros((3, 0)), ["X must be", r"0 feature\(s\)"]),
        ([["a", "b"]], ["X must be a two-dimensional array of numbers", "strings"]),
        ([["1", "2"]], ["X must be a two-dimensional array of numbers", "strings"]),
        (pd.DataFrame({"a": ["u", "v"]}), ["X must be a two-dimensional array of numbers", "'u'"]),
        (np.array([[1j, 2]]), ["X must be", "Complex data not supported"]),
        (np.array([["2020-01-01"]], dtype="M8[D]"), ["X must be", "numbers", "datetime64"]),
        (sparse.csr_matrix(np.eye(3)), ["X is a sparse", r"\(3, 3\)", "toarray", "precomputed"]),
        (sparse.coo_array(np.eye(3)), ["X is a sparse", r"\(3, 3\)", "toarray", "precomputed"]),
        (None, ["X must be", "None"]),
    ],
)
def test_matrix_refused(X, parts):
    with refuses(*parts):
        check_matrix(X)


@pytest.mark.parametrize(
    "more",
    [
        pd.Categorical(["u", "v"]),
        ["u", "v"],
        [1.0, "v"],
        pd.to_datetime(["2020-01-01", "2020-01-02"]),
        pd.to_timedelta([1, 2], unit="D"),
        [1j, 2.0],
    ],
    ids=["category", "text", "mixed", "date", "duration", "complex"],
)
def test_matrix_names_the_column_that_is_no_number(more):
    with refuses("X must be a two-dimensional array of numbers", "column 'kind' holds") as caught:
        check_matrix(pd.DataFrame({"a": [1.0, 2.0], "kind": more}))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "X", [np.arange(9.0), np.zeros((2, 2)) + 1j, None, {"a": 1}, [[1], [1, 2]]]
)
def test_matrix_errors_are_one_line(X):
    with refuses("^X must be a two-dimensional array of numbers") as caught:
        check_matrix(X)
    assert "\n" not in str(caught.value)


def test_masked_entries_are_refused_and_masks_of_none_accepted():
    X, y = np.arange(6.0).reshape(3, 2), np.arange(3)
    np.testing.assert_array_equal(check_matrix(np.ma.masked_array(X)), X)
    np.testing.assert_array_equal(check_target(np.ma.masked_array(y), 3), y)
    with refuses("X has 2 masked entries", "expected none"):
        check_matrix(np.ma.masked_array(X, mask=X > 3))
    with refuses("y has 1 masked entry"):
        check_target(np.ma.masked_array(y, mask=y > 1), 3)
    with refuses("y has 1 masked entry"):
        check_two_classes(np.ma.masked_array(y, mask=y > 1))
    with refuses("sample_weight has 1 masked entry"):
        check_weights(np.ma.masked_array(y, mask=y > 1), 3)


@pytest.mark.parametrize("value", ["balanced", "x", {0: 1.0}])
def test_weights_that_are_no_array(value):
    with refuses("sample_weight should be a 1d array of 3 numbers, or None", "got") as caught:
        check_weights(value, 3)
    assert ("belongs to class_weight" in str(caught.value)) == (value == "balanced")


@pytest.mark.parametrize(
    "values",
    ["x", "0.1", None, np.nan, np.inf, True, 1j, {}, [[1.0]], [1.0, None], np.datetime64("2020")],
)
def test_values_refused(values):
    with refuses("lambda must be a finite number or a 1-D array of them, got"):
        check_values(values, "lambda")


def test_values_of_any_kind():
    for values in (2, 2.0, [2], np.float32(2), np.array([2], dtype=object), pd.Series([2])):
        np.testing.assert_array_equal(check_values(values, "lambda"), [2.0])
    assert check_values([], "lambda").shape == (0,)
    assert np.isnan(check_values(np.nan, "coef", finite=False)).all()


def test_matrix_error_uses_the_name_given():
    with refuses("^X_new contains NaN"):
        check_matrix([[np.nan]], "X_new")


def test_matrix_of_objects_is_a_type_error_too():
    # The oracle is scikit-learn's check_dtype_object.
    X = np.array([[1.0, 2.0]], dtype=object)
    X[0, 0] = {"foo": "bar"}
    with refuses("X must be", "argument must be .* string.* number") as caught:
        check_matrix(X)
    assert isinstance(caught.value, TypeError)


# ---------------------------------------------------------------------------- check_gram


def test_gram_exactly_symmetric_is_not_copied():
    K = spd(300)
    K = (K + K.T) / 2
    K.flags.writeable = False
    assert np.shares_memory(check_gram(K), K)


def test_gram_round_off_is_averaged_and_the_input_left_alone():
    K = spd(2 * _checks.CHECK_ROWS + 7)
    K = (K + K.T) / 2
    noisy = K + 1e-12 * K.max() * np.random.default_rng(1).uniform(-1, 1, K.shape)
    before = noisy.copy()
    out = check_gram(noisy)
    np.testing.assert_array_equal(out, out.T)
    np.testing.assert_allclose(out, (before + before.T) / 2, rtol=1e-15)
    np.testing.assert_array_equal(noisy, before)


@pytest.mark.parametrize("place", [(400, 3), (3, 400), (299, 298)])
def test_gram_asymmetric_says_how_much_and_where(place):
    K = np.eye(500)
    K[place] += 0.25
    K[10, 20] += 0.125  # smaller, and first
    i, j = max(place), min(place)
    with refuses("K must be a symmetric", rf"\[{i}, {j}\] and \[{j}, {i}\]", "differ by 0.25"):
        check_gram(K)


def test_gram_tolerance_is_relative_to_the_largest_entry():
    for scale in (1e-20, 1.0, 1e20):
        K = scale * np.array([[4.0, 1.0], [1.0, 2.0]])
        K[0, 1] += 3e-10 * scale  # 4e-10 is allowed
        check_gram(K)
        K[0, 1] += 3e-10 * scale
        with refuses("K must be a symmetric"):
            check_gram(K)


def test_gram_as_large_as_floats_go():
    K = np.array([[1e308, 1e308], [1e308 * (1 - 1e-15), 1e308]])
    assert np.isfinite(check_gram(K)).all()
    with refuses("K must be a symmetric", "inf"):
        check_gram([[1.0, 1e308], [-1e308, 1.0]])


def test_gram_refused():
    with refuses("K must be a square", r"\(3, 4\)"):
        check_gram(np.ones((3, 4)))
    with refuses("K contains NaN", r"\[0, 1\]"):
        check_gram([[1.0, np.nan], [np.nan, 1.0]])
    with refuses("^X with kernel must be a square"):
        check_gram(np.ones((3, 4)), "X with kernel")


# ---------------------------------------------------------------------------- check_memory


def test_memory_says_how_much_is_needed_and_what_to_use_instead(monkeypatch):
    monkeypatch.setattr(_checks, "available_bytes", lambda: 8 * 10_000**2)
    check_memory(10_000, "X")
    with refuses(
        "X has 200000 rows", r"320\.0 GB", r"0\.8 GB", "10000 rows", "subsample", "linear"
    ):
        check_memory(200_000, "X")
    with refuses("^X has 10001 rows"):
        check_memory(10_001, "X")


def test_memory_of_a_walk(monkeypatch):
    """Oracle: benchmarks/growth.py, twice the matrix at the most, one of which is there."""
    monkeypatch.setattr(_checks, "available_bytes", lambda: 8 * 10_000**2)
    check_walk_memory(10_000, "X")
    with refuses("^K has 10100 rows", "beside their kernel matrix", r"0\.8 GB", "subsample"):
        check_walk_memory(10_100, "K")


def test_a_path_asks_for_the_memory_of_its_walk(monkeypatch):
    """Oracle: the text of the check; a linear kernel of few features needs no matrix."""
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    monkeypatch.setattr(_checks, "ALWAYS_THERE", 0)
    monkeypatch.setattr(_checks, "available_bytes", lambda: 8 * 40**2 // 2)
    with refuses("^X with kernel=.precomputed. has 40 rows: beside their kernel matrix"):
        svc_path(X @ X.T, y, kernel="precomputed")
    assert svc_path(X, y, kernel="linear").complete


def test_memory_unknown_is_no_error(monkeypatch):
    monkeypatch.setattr(_checks, "available_bytes", lambda: None)
    check_memory(10**9, "X")
    check_walk_memory(10**9, "X")


def test_available_bytes_reads_meminfo(monkeypatch, tmp_path):
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:  999 kB\nMemAvailable:    1234 kB\n")
    monkeypatch.setattr(_checks, "MEMINFO", file)
    assert available_bytes() == 1234 * 1024


def test_available_bytes_without_meminfo(monkeypatch, tmp_path):
    monkeypatch.setattr(_checks, "MEMINFO", tmp_path / "none")
    pages = {"SC_AVPHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(_checks.os, "sysconf", pages.__getitem__)
    assert available_bytes() == 40960

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(_checks.os, "sysconf", unknown)
    assert available_bytes() is None


# ---------------------------------------------------------------------------- check_two_classes


@pytest.mark.parametrize(
    "y, classes",
    [
        ([2, 1, 1, 2], [1, 2]),
        ([0.5, -0.5, -0.5, 0.5], [-0.5, 0.5]),
        ([True, False, False, True], [False, True]),
        (["b", "a", "a", "b"], ["a", "b"]),
        (np.array(["b", "a", "a", "b"], dtype=object), ["a", "b"]),
        (np.array([1, 0, 0, 1], dtype=object), [0, 1]),
        (np.array([1, 0, 0, 1], dtype=np.uint8), [0, 1]),
        (pd.Series(["b", "a", "a", "b"]), ["a", "b"]),
        (pd.Series(["b", "a", "a", "b"], dtype="category"), ["a", "b"]),
        # np.unique order, not the order of the categories
        (pd.Categorical(["b", "a", "a", "b"], categories=["b", "a"], ordered=True), ["a", "b"]),
        (pd.Categorical([7, 3, 3, 7]), [3, 7]),
        (pd.array([1, 0, 0, 1], dtype="Int64"), [0, 1]),
        (pd.array([True, False, False, True], dtype="boolean"), [False, True]),
    ],
)
def test_two_classes_of_any_type(y, classes):
    signs, found = check_two_classes(y)
    np.testing.assert_array_equal(signs, [1.0, -1.0, -1.0, 1.0])
    assert signs.dtype == np.float64
    assert found.tolist() == classes
    np.testing.assert_array_equal(found, np.unique(np.asarray(y)))


def test_two_classes_read_only_and_not_modified():
    y = np.array([1, 0, 1])
    y.flags.writeable = False
    np.testing.assert_array_equal(check_two_classes(y)[0], [1, -1, 1])


def test_two_classes_column_is_unrolled_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        signs, _ = check_two_classes([[0], [1]])
    np.testing.assert_array_equal(signs, [-1, 1])


@pytest.mark.parametrize(
    "y, parts",
    [
        ([1, 1, 1], ["y has 1 class", r"\(1\)", "expected 2"]),
        (["a"], ["y has 1 class", "'a'", "expected 2"]),
        ([0, 1, 2], ["y has 3 classes", "0, 1, 2", "PathSVC takes several"]),
        (list("abcdefg"), ["y has 7 classes", r"'a', 'b', 'c', 'd', 'e', \.\.\.", "PathSVC"]),
        ([0.0, 1.0, 2.0], ["y has 3 classes", "PathSVC"]),
        (
            [0.1, 0.2, 0.7],
            ["Unknown label type: continuous", "y has 3 different values", "svr_path"],
        ),
        ([0.0, 1.0, np.nan], ["y contains NaN", r"y\[2\]"]),
        (np.array([0.0, np.nan]), ["y contains NaN", r"\[1\]"]),
        (np.array([0.0, np.inf]), ["y contains infinity", r"\[1\]"]),
        (["a", "b", None], ["y contains NaN", r"y\[2\] is None"]),
        (["a", "b", np.nan], ["y contains NaN", r"y\[2\]"]),
        (pd.array([1, None, 0], dtype="Int64"), ["y contains NaN", r"\[1\]"]),
        (pd.Categorical(["a", "b", None]), ["y contains NaN", r"y\[2\]"]),
        (["a", 1, "a"], ["y has mixed types", "'a'", "1", "one type"]),
        (np.array([1, "a"], dtype=object), ["y has mixed types", "'a'", "1"]),
        ([(0, 1), (1,)], ["y argument must be a string or a real number"]),
        (np.array([1j, 2j]), ["y must be labels", "complex128"]),
        ([[0, 1], [1, 0]], ["y should be a 1d array", r"\(2, 2\)"]),
        (3, ["y should be a 1d array", r"shape \(\)"]),
        (None, ["y should be a 1d array", "None"]),
        ([], ["y is empty", "0 samples"]),
        (sparse.csr_matrix([[1], [0]]), ["y should be a dense", "sparse"]),
    ],
)
def test_two_classes_refused(y, parts):
    with refuses(*parts):
        check_two_classes(y)


def test_two_classes_length():
    check_two_classes([0, 1], 2)
    with refuses("y has 2 entries", "X has 3 rows"):
        check_two_classes([0, 1], 3)


# ---------------------------------------------------------------------------- check_target


@pytest.mark.parametrize(
    "y", [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=object), pd.Series([1, 2]), np.float32([1, 2])]
)
def test_target_of_any_kind(y):
    out = check_target(y, 2)
    assert out.dtype == np.float64
    np.testing.assert_array_equal(out, [1.0, 2.0])


@pytest.mark.parametrize(
    "y, parts",
    [
        ([1.0, 2.0], ["y has 2 entries", "X has 3 rows"]),
        ([2.5, 2.5, 2.5], ["y is constant", "2.5 in 3 samples", "two different"]),
        ([1.0, np.inf, 2.0], ["y contains infinity", r"\[1\]", "finite"]),
        (np.array([1.0, np.nan, 2.0]), ["y contains NaN", r"\[1\]", "finite"]),
        ([1.0, None, 2.0], ["y contains NaN", r"y\[1\] is None"]),
        (["a", "b", "c"], ["y must be numbers", "'a', 'b', 'c'"]),
        (["a", 1.0, 2.0], ["y has mixed types"]),
        (np.array([1j, 2, 3]), ["y must be numbers", "complex"]),
        (np.zeros((3, 2)), ["y should be a 1d array", r"\(3, 2\)"]),
    ],
)
def test_target_refused(y, parts):
    with refuses(*parts):
        check_target(y, 3)


def test_target_of_one_sample_says_so():
    # scikit-learn's check_fit2d_1sample wants these words.
    with refuses("y is constant", "1 sample"):
        check_target([3.0], 1)


def test_target_column_is_unrolled_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        np.testing.assert_array_equal(check_target([[1], [2]], 2), [1, 2])


# ---------------------------------------------------------------------------- weights


def test_weights_none_is_ones():
    np.testing.assert_array_equal(check_weights(None, 3), [1.0, 1.0, 1.0])


def test_weights_are_a_new_array():
    given = np.array([0.0, 1.0, 2.0])
    given.flags.writeable = False
    out = check_weights(given, 3)
    np.testing.assert_array_equal(out, given)
    out[0] = 9
    assert given[0] == 0


@pytest.mark.parametrize(
    "weights, parts",
    [
        ([1.0, -0.5, 1.0], ["sample_weight must not be negative", r"sample_weight\[1\] is -0.5"]),
        ([1.0, 1.0], ["sample_weight has 2 entries", "X has 3 rows"]),
        (np.array([1.0, 1.0, np.nan]), ["sample_weight contains NaN", r"\[2\]"]),
        ([1.0, np.inf, 1.0], ["sample_weight contains infinity", r"\[1\]"]),
        ([0.0, 0.0, 0.0], ["sample_weight is 0 for all 3 samples", "above 0"]),
        (["a", "b", "c"], ["sample_weight must be numbers"]),
        (np.ones((3, 2)), ["sample_weight should be a 1d array", r"\(3, 2\)"]),
        (2.0, ["sample_weight should be a 1d array", r"shape \(\)"]),
    ],
)
def test_weights_refused(weights, parts):
    with refuses(*parts):
        check_weights(weights, 3)


LABELS = np.array(["u", "v", "v", "u", "v", "v", "v"])


def weigh(class_weight, sample_weight=None, labels=LABELS):
    signs, classes = check_two_classes(labels)
    return class_weights(class_weight, signs, classes, check_weights(sample_weight, len(labels)))


def test_class_weight_balanced_is_scikit_learns_with_weights_as_repeated_rows():
    # Integer weights, because compute_class_weight of older scikit-learn takes none.
    for repeats in (np.ones(7, dtype=int), np.array([1, 2, 0, 3, 1, 0, 2])):
        by_class = compute_class_weight(
            "balanced", classes=np.array(["u", "v"]), y=np.repeat(LABELS, repeats)
        )
        expected = repeats * by_class[(LABELS == "v").astype(int)]
        np.testing.assert_allclose(weigh("balanced", repeats), expected, rtol=1e-14)


def test_class_weight_dict_and_none():
    np.testing.assert_array_equal(weigh({"u": 3.0})[:3], [3, 1, 1])
    np.testing.assert_array_equal(weigh({"u": 3, "v": 0.5}, 2 * np.ones(7))[:3], [6, 1, 1])
    np.testing.assert_array_equal(weigh({}), np.ones(7))
    np.testing.assert_array_equal(weigh(None, 2 * np.ones(7)), 2 * np.ones(7))
    # Labels match by value: integer keys for float and boolean classes.
    np.testing.assert_array_equal(weigh({1: 5}, labels=np.array([0.0, 1.0])), [1, 5])
    np.testing.assert_array_equal(weigh({1: 5}, labels=np.array([False, True])), [1, 5])
    np.testing.assert_array_equal(weigh({0.5: 5}, labels=np.array([0.0, 0.5])), [1, 5])


@pytest.mark.parametrize(
    "class_weight, sample_weight, parts",
    [
        ({"w": 2.0}, None, ["class_weight names the class 'w'", "'u', 'v'"]),
        ({"u": -1.0}, None, [r"class_weight\['u'\]", "-1.0"]),
        ({"u": "x"}, None, [r"class_weight\['u'\]", "'x'"]),
        ({"u": np.nan}, None, [r"class_weight\['u'\]", "nan"]),
        ({"u": 0}, None, ["class_weight leaves 1 class", "'u'"]),
        ("auto", None, ["class_weight must be", "balanced", "'auto'"]),
        (3.0, None, ["class_weight must be", "3.0"]),
        (None, [0, 1, 1, 0, 1, 1, 1], ["sample_weight leaves 1 class", "'u'"]),
        ("balanced", [0, 1, 1, 0, 1, 1, 1], ["sample_weight leaves 1 class", "'u'"]),
    ],
)
def test_class_weight_refused(class_weight, sample_weight, parts):
    with refuses(*parts):
        weigh(class_weight, sample_weight)


# ---------------------------------------------------------------------------- numbers


def test_positive_accepts():
    assert check_positive(np.float32(0.5), "h") == 0.5
    assert check_positive(3, "h") == 3.0
    assert type(check_positive(np.int64(3), "h")) is float
    assert check_positive(0, "h", zero=True) == 0.0
    assert check_positive(np.inf, "h", inf=True) == np.inf


@pytest.mark.parametrize(
    "value, options, parts",
    [
        (0, {}, ["h must be a finite number > 0", "got 0"]),
        (-1.5, {"zero": True}, ["h must be a finite number >= 0", "got -1.5"]),
        (np.inf, {}, ["h must be a finite number > 0", "inf"]),
        (np.nan, {"inf": True, "zero": True}, ["h must be a number >= 0", "nan"]),
        (-np.inf, {"inf": True}, ["h must be a number > 0", "-inf"]),
        ("1", {}, ["h must be a finite number > 0", "'1' of type str"]),
        (True, {}, ["h must be a finite number > 0", "True of type bool"]),
        (np.True_, {}, ["h must be a finite number > 0", "True"]),
        (None, {}, ["h must be a finite number > 0", "None"]),
        ([1.0], {}, ["h must be a finite number > 0", r"\[1.0\]", "list"]),
        (10**400, {}, ["h must be a finite number > 0", "beyond double precision"]),
    ],
)
def test_positive_refused(value, options, parts):
    with refuses(*parts):
        check_positive(value, "h", **options)


def test_number():
    assert check_number(-2, "coef0") == -2.0
    for value in (np.nan, np.inf, "1", True):
        with refuses("coef0 must be a finite number", repr(value)):
            check_number(value, "coef0")


def test_fraction():
    assert check_fraction(1, "nu") == 1.0
    assert check_fraction(1e-9, "nu") == 1e-9
    for value in (0, -0.1, 1.0001, np.nan, np.inf, "0.5", True):
        with refuses(r"nu must be a number in \(0, 1\]", repr(value)):
            check_fraction(value, "nu")


def test_start_stop_accepts():
    assert check_start_stop(None, None) == (None, None)
    assert check_start_stop(10, 0) == (10.0, 0.0)
    assert check_start_stop(0.1, np.float64(0.5)) == (0.1, 0.5)


@pytest.mark.parametrize(
    "start, stop, parts",
    [
        (0, None, ["start must be a finite number > 0", "got 0"]),
        (-1, None, ["start must be", "> 0", "got -1"]),
        (np.inf, None, ["start must be a finite number", "inf"]),
        ("1", None, ["start must be a finite number", "'1'"]),
        (True, None, ["start must be a finite number", "True"]),
        (None, -0.5, ["stop must be >= 0", "0 means .to the end.", "-0.5"]),
        (None, np.inf, ["stop must be a finite number >= 0", "inf"]),
        (None, np.nan, ["stop must be a finite number >= 0", "nan"]),
        (None, "0", ["stop must be a finite number >= 0", "'0'"]),
        (None, False, ["stop must be a finite number >= 0", "False"]),
    ],
)
def test_start_stop_refused(start, stop, parts):
    with refuses(*parts):
        check_start_stop(start, stop)
