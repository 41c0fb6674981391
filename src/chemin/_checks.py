"""Bad input stops here.

Every check runs before any work. Each error is a `ValueError` that names the argument, what came
and what was expected. Nothing is modified: what comes back is the input itself where it already
has the right form, so treat it as read-only.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array

try:
    from ._symmetry import is_symmetric
except ImportError:  # a source tree on the path, nothing compiled: NumPy looks for differences
    is_symmetric = None

Array = NDArray[np.float64]

SYMMETRY_TOLERANCE = 1e-10
"""Largest |K - K'| relative to the largest |K| that passes for symmetric. Round-off of a product
leaves about 1e-15, a matrix written as text with 12 digits 1e-12; a matrix that is not a kernel
is far above."""

LAST_DIGITS = 8 * float(np.finfo(np.float64).eps)
"""Differences up to this, relative again, are no more than the entries' own round-off: nothing is
gained by a second matrix of the size of K."""

LARGEST, SMALLEST = 1e70, 1e-70
"""What the sizes of data must lie between. The longest products that are made of them have four
factors, such as K alpha² / lambda in an objective: they neither overflow nor vanish."""

CHECK_ROWS = 256
"""Rows compared at once: no second matrix of the size of K is ever held."""

MATRIX = 'X with kernel="precomputed"'
"""What errors call a kernel matrix that a user gives."""

MEMINFO = Path("/proc/meminfo")

RELAXED: dict[str, Any] = {"dtype": "numeric", "order": "C", "ensure_all_finite": False}

GIGABYTE = 1e9
BESIDE_THE_MATRIX = 1.0  # times it: what a walk needs at its peak (benchmarks/growth.py)
ALWAYS_THERE = 2**24  # bytes: to ask how much memory there is takes as long as to use so little


class NotNumbersError(TypeError, ValueError):
    """Entries that are not numbers.

    chemin promises a ValueError; scikit-learn's estimator checks want NumPy's TypeError. It is
    both.
    """


# --------------------------------------------------------------------------------------
# Matrices
# --------------------------------------------------------------------------------------


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a data frame, if all are strings."""
    names = getattr(X, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return tuple(names)


def check_names(X: Any, expected: tuple[str, ...] | None, name: str = "X") -> None:
    """Refuse a data frame whose columns are not those expected, in their order.

    Parameters
    ----------
    X : data frame, or anything else, which has no names
    expected : tuple of str or None
        None: any names will do.
    name : str
        What the error calls the argument.
    """
    names = column_names(X)
    if names is None or expected is None or len(names) != len(expected):
        return
    for k, (found, wanted) in enumerate(zip(names, expected)):
        if found != wanted:
            raise ValueError(
                f"{name} must have the columns of the path in their order, but column {k} is "
                f"{found!r}, expected {wanted!r}."
            )


def check_matrix(X: Any, name: str = "X") -> Array:
    """Return X as a finite, C-contiguous float64 matrix with one row at least.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Array, list of lists, pandas or polars frame. Sparse matrices are refused; `check_points`
        takes them.
    name : str
        What the error calls the argument.
    """
    if _is_plain(X):
        _refuse_not_finite(X, name)
        return X
    if issparse(X):
        raise ValueError(
            f"{name} is a sparse {X.__class__.__name__} of shape {X.shape}, expected a dense "
            "array: densify it with .toarray(), or pass its kernel matrix with "
            'kernel="precomputed" (kernels by name take sparse points).'
        )
    _refuse_masked(X, name)
    expected = f"{name} must be a two-dimensional array of numbers"
    _refuse_other_shapes(X, expected)
    try:
        # Finiteness is checked below, where the error can say which entry it is.
        array = X if _is_plain_matrix(X) else check_array(X, **RELAXED, input_name=name)
        if array.dtype.kind not in "biuf":  # dates and durations would pass for numbers
            raise TypeError(f"got {array.dtype}")
        matrix: Array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = NotNumbersError if isinstance(error, TypeError) else ValueError
        # What follows on other lines is the array itself.
        found = _column_that_is_no_number(X) or _name_that_comes_twice(X)
        found = found or str(error).partition("\n")[0]
        raise kind(f"{expected}: {found}") from error
    _refuse_not_finite(matrix, name)
    return matrix


def _name_that_comes_twice(X: Any) -> str:
    """What is wrong with the names of a frame's columns, if anything is."""
    names = column_names(X) or ()
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    return "" if twice is None else f"two of its columns are called {twice!r}."


def _is_plain_matrix(X: Any) -> bool:
    """Whether scikit-learn's check would change nothing, which takes as long as a small path."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype == np.float64


def check_points(X: Any, name: str = "X") -> Any:
    """Return X as `check_matrix` does, or, where it is sparse, as a canonical csr_array.

    Canonical: float64, indices in order, none twice, no zero stored. Such an array comes back as it
    is, without a copy.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
    name : str
        What the error calls the argument.
    """
    if not issparse(X):
        return check_matrix(X, name)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"{name} must have one row and one column at least, got shape {X.shape}.")
    if X.dtype.kind not in "biuf":
        raise NotNumbersError(f"{name} must be a matrix of numbers, got {X.dtype}.")
    points = csr_array(X, dtype=np.float64)
    if not (points.has_canonical_format and points.data.all()):
        points = points.copy() if points.data is getattr(X, "data", None) else points
        points.sum_duplicates()
        points.eliminate_zeros()
    _refuse_not_finite(points.data, name)
    return points


def refuse_no_numbers(X: Any, name: str = "X") -> None:
    """Refuse masked entries, columns of a frame that hold no numbers or share a name, and dates.

    For estimators, which leave all other checks of points to scikit-learn.
    """
    _refuse_masked(X, name)
    expected = f"{name} must be a two-dimensional array of numbers"
    if found := _column_that_is_no_number(X):
        raise NotNumbersError(f"{expected}: {found}")
    if found := _name_that_comes_twice(X):
        raise ValueError(f"{expected}: {found}")
    kind = getattr(X, "dtype", None)
    if getattr(kind, "kind", "") in ("m", "M"):  # they would pass for numbers
        raise NotNumbersError(f"{expected}, got {kind}.")


def frozen(a: Any) -> Any:
    """Return a copy to be read only; what is that already, and nobody else's, comes back as it is.

    Parameters
    ----------
    a : array, csr_array or None
    """
    if a is None or all(part.flags.owndata and not part.flags.writeable for part in _parts(a)):
        return a
    return sealed(a.copy())


def sealed(a: Any) -> Any:
    """Return the same array or csr_array, to be read only from now on."""
    for part in _parts(a):
        part.setflags(write=False)
    return a


def _parts(a: Any) -> tuple[Array, ...]:
    return (a.data, a.indices, a.indptr) if issparse(a) else (a,)


def check_gram(K: Any, name: str = "K") -> Array:
    """Return K as a finite float64 matrix, symmetric to its last digits.

    A difference max |K - K'| <= SYMMETRY_TOLERANCE max |K| is round-off, and (K + K')/2 comes
    back; a matrix that is symmetric to its last digits comes back as it is, without a copy.

    Parameters
    ----------
    K : array-like of shape (n, n)
    name : str
        What the error calls the argument.
    """
    if _is_plain(K) and K.shape[0] == K.shape[1] and is_symmetric is not None and is_symmetric(K):
        return K
    matrix = check_matrix(K, name)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be a square kernel matrix, one row and one column for each point, but "
            f"has shape {matrix.shape}."
        )
    difference, row, column = _largest_asymmetry(matrix)
    largest = _largest_entry(matrix) if difference > 0 else 0.0
    if difference <= LAST_DIGITS * largest:
        return matrix
    if difference > SYMMETRY_TOLERANCE * largest:
        raise ValueError(
            f"{name} must be a symmetric kernel matrix, but its entries [{row}, {column}] and "
            f"[{column}, {row}] differ by {difference:.3g} (the largest difference; at most "
            f"{SYMMETRY_TOLERANCE:g} of the largest entry {largest:.3g} passes for round-off)."
        )
    return _symmetrised(matrix)


def check_scale(values: Array, name: str) -> None:
    """Refuse an array whose largest entry is so large or so small that products leave the range
    of double precision.

    Parameters
    ----------
    values : array of numbers
        A matrix is judged by the largest entry of all. Zeros alone pass.
    name : str
        What the error calls the argument.
    """
    largest = _largest_entry(values)
    if largest == 0 or SMALLEST <= largest <= LARGEST:
        return
    raise ValueError(
        f"{name} must have a largest entry between {SMALLEST:g} and {LARGEST:g} in size, or none "
        f"but zeros, got {largest:.3g}: rescale it."
    )


def check_columns_scale(X: Array, name: str = "X") -> None:
    """`check_scale` for each column of X: where columns are taken for themselves.

    The largest of n entries lies between the root of their mean square and that of their sum.
    """
    squares = np.einsum("ij,ij->j", X, X)
    if np.all((squares >= len(X) * SMALLEST**2) & (squares <= LARGEST**2)):
        return
    largest = np.maximum(X.max(axis=0, initial=0.0), -X.min(axis=0, initial=0.0))
    off = (largest != 0) & ~((largest >= SMALLEST) & (largest <= LARGEST))
    for j in np.flatnonzero(off):
        check_scale(X[:, j], f"{name}[:, {j}]")


def check_size(number: float, name: str, least: float = SMALLEST) -> float:
    """Return a number whose products with data stay within double precision."""
    if not least <= number <= LARGEST:
        raise ValueError(f"{name} must lie between {least:g} and {LARGEST:g}, got {number:g}.")
    return number


def check_memory(n_rows: int, name: str = "X") -> None:
    """Refuse a kernel matrix of 8 n² bytes that the available memory cannot hold.

    Parameters
    ----------
    n_rows : int
        n, the number of points.
    name : str
        What the error calls the argument that has these rows.
    """
    needed = 8 * int(n_rows) ** 2
    if (available := _too_little_for(needed)) is None:
        return
    raise ValueError(
        f"{name} has {n_rows} rows: their kernel matrix needs {needed / GIGABYTE:.1f} GB and "
        f"{available / GIGABYTE:.1f} GB of memory are available, expected at most "
        f"{int((available / 8) ** 0.5)} rows. Use a subsample, a linear kernel, or a feature map "
        "(sklearn.kernel_approximation.Nystroem) with a linear kernel."
    )


def check_walk_memory(n_rows: int, name: str = "X") -> None:
    """Refuse a walk on a kernel matrix, which is there already, that memory cannot hold.

    Parameters
    ----------
    n_rows : int
        n, the number of points.
    name : str
        What the error calls the argument that has these rows.
    """
    needed = int(BESIDE_THE_MATRIX * 8 * int(n_rows) ** 2)
    if (available := _too_little_for(needed)) is None:
        return
    raise ValueError(
        f"{name} has {n_rows} rows: beside their kernel matrix a path needs up to "
        f"{needed / GIGABYTE:.1f} GB and {available / GIGABYTE:.1f} GB of memory are available. "
        "Use a subsample, a linear kernel, or a feature map "
        "(sklearn.kernel_approximation.Nystroem) with a linear kernel."
    )


def check_array_memory(n_rows: int, n_columns: int, what: str) -> None:
    """Refuse an array of 8 n m bytes that the available memory cannot hold.

    Parameters
    ----------
    n_rows, n_columns : int
    what : str
        What the error calls the array.
    """
    needed = 8 * int(n_rows) * int(n_columns)
    if (available := _too_little_for(needed)) is None:
        return
    raise ValueError(
        f"{what} has {n_rows} rows and {n_columns} columns and needs {needed / GIGABYTE:.1f} GB, "
        f"but {available / GIGABYTE:.1f} GB of memory are available."
    )


def _too_little_for(needed: int) -> int | None:
    """The available memory if that is less than needed; None if there is enough, or none tells."""
    if needed <= ALWAYS_THERE:
        return None
    available = available_bytes()
    return None if available is None or needed <= available else available


def available_bytes() -> int | None:
    """Return the memory that can be taken without swapping; None where nothing tells."""
    try:
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


# --------------------------------------------------------------------------------------
# Targets and weights
# --------------------------------------------------------------------------------------


def check_two_classes(
    y: Any, n: int | None = None, takes_several: str = "PathSVC"
) -> tuple[Array, NDArray[Any]]:
    """Return the signs of two classes, and the classes.

    signs_i = +1 where y_i = classes[1], -1 where y_i = classes[0]; classes sorted as by np.unique.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: integers, floats, booleans, strings or a pandas categorical.
    n : int, optional
        How many labels there must be.
    takes_several : str
        The estimator for more than two.
    """
    labels = _labels(y)
    if n is not None:
        _check_length(labels, n, "y")
    classes = np.unique(labels)
    if len(classes) == 1:
        raise ValueError(f"y has 1 class ({_show(classes)}), expected 2 classes.")
    if len(classes) > 2:
        raise ValueError(_too_many_classes(classes, takes_several))
    return np.where(labels == classes[1], 1.0, -1.0), classes


def check_partly_labelled(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return n labels, and which of them are labels: -1, None and "" mark points without one; among
    strings, NaN does so too.

    Labels that are text have "" where there is none, numbers -1.

    Parameters
    ----------
    y : array-like of shape (n,)
    n : int
        The number of rows of X.
    """
    try:
        labels = check_labels(_marked(y), n)
    except ValueError as error:
        if "NaN" not in str(error):
            raise
        raise ValueError(f"{str(error).rstrip('.')}. Points without a label have -1.") from None
    if labels.dtype.kind in "OUS":
        known = np.asarray(labels != "", dtype=bool)
    else:
        known = np.ones(n, bool) if labels.dtype.kind == "b" else np.asarray(labels != -1)
    classes = np.unique(labels[known])
    if len(classes) < 2:
        what = f"only the class {classes[0]}" if len(classes) else "no labelled point"
        why = ""
        if labels.dtype.kind in "if" and np.array_equal(np.unique(labels), [-1, 1]):
            why = ": -1 marks points without a label here, so that 1 is one class (use 0 and 1)"
        raise ValueError(f"y has {what}, expected labelled points of 2 classes{why}")
    return labels, known


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Return n labels of one type, however many classes, none of them missing.

    Parameters
    ----------
    y : array-like of shape (n,)
    n : int
        The number of rows of X.
    """
    labels = _labels(y)
    _check_length(labels, n, "y")
    return labels


def check_target(y: Any, n: int) -> Array:
    """Return y as n finite float64 numbers that are not all the same.

    Parameters
    ----------
    y : array-like of shape (n,)
    n : int
        The number of rows of X.
    """
    target = _numbers(y, "y")
    _check_length(target, n, "y")
    check_scale(target, "y")
    if np.all(target == target[0]):
        samples = "1 sample" if n == 1 else f"{n} samples"
        raise ValueError(
            f"y is constant ({target[0]:g} in {samples}), expected a target with at least two "
            "different values."
        )
    return target


def check_weights(sample_weight: Any, n: int) -> Array:
    """Return n finite weights >= 0, not all 0, as a new array; ones for None.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
    n : int
        The number of rows of X.
    """
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, (str, Mapping)):
        belongs = ", which belongs to class_weight" if _is_balanced(sample_weight) else ""
        raise ValueError(
            f"sample_weight should be a 1d array of {n} numbers, or None, got "
            f"{sample_weight!r}{belongs}."
        )
    weights = _numbers(sample_weight, "sample_weight")
    _check_length(weights, n, "sample_weight")
    if np.any(weights < 0):
        i = int(np.argmin(weights))
        raise ValueError(
            f"sample_weight must not be negative, but sample_weight[{i}] is {weights[i]:g}."
        )
    if not np.any(weights):
        raise ValueError(
            f"sample_weight is 0 for all {n} samples (no weight but zero), expected at least one "
            "weight above 0."
        )
    _check_weights_scale(weights, "sample_weight")
    return weights.copy()


def class_weights(
    class_weight: Mapping[Any, float] | str | None,
    y_signs: Array,
    classes: NDArray[Any],
    sample_weight: Array,
) -> Array:
    """Return sample_weight_i times the weight of the class of i.

    "balanced" weighs class c by W / (k W_c): W_c the sum of the sample weights in c, W their sum
    and k = 2, as scikit-learn's compute_class_weight does when it is given sample weights. So a
    weight of k is k rows and a weight of 0 is none. (Its SVC does not give them, and counts rows.)

    Parameters
    ----------
    class_weight : mapping from class to weight, "balanced" or None
        A class that the mapping does not name has weight 1.
    y_signs, classes : ndarray
        From `check_two_classes`.
    sample_weight : ndarray of shape (n,)
        From `check_weights`.
    """
    upper = (y_signs > 0).astype(np.intp)
    totals = np.bincount(upper, sample_weight, 2).astype(np.float64)
    _refuse_empty_class(totals, classes, "sample_weight")
    factors = _class_factors(class_weight, totals, classes)
    _refuse_empty_class(totals * factors, classes, "class_weight")
    weights: Array = sample_weight * factors[upper]
    _check_weights_scale(weights, "class_weight")
    return weights


def many_class_weights(
    class_weight: Mapping[Any, float] | str | None,
    numbers: NDArray[np.intp],
    classes: NDArray[Any],
    sample_weight: Array,
) -> Array:
    """`class_weights` for any number of classes: rows tell theirs by `numbers`.

    A class without weights above 0 takes no part, and is not counted in k; two must be left.
    """
    totals = np.bincount(numbers, sample_weight, len(classes)).astype(np.float64)
    factors = _class_factors(class_weight, totals, classes)
    if np.count_nonzero(totals * factors) < 2:
        name = "sample_weight" if np.count_nonzero(totals) < 2 else "class_weight"
        raise ValueError(f"{name} leaves 1 class with weights above 0, expected 2 at least.")
    weights: Array = sample_weight * factors[numbers]
    _check_weights_scale(weights, "class_weight")
    return weights


def _class_factors(class_weight: Any, totals: Array, classes: NDArray[Any]) -> Array:
    """The weight of each class, from the sums of the sample weights in it."""
    if class_weight is None:
        return np.ones(len(classes))
    if _is_balanced(class_weight):
        some = totals > 0
        return np.where(some, totals.sum() / (some.sum() * np.where(some, totals, 1.0)), 1.0)
    if isinstance(class_weight, Mapping):
        return _factors(class_weight, classes)
    raise ValueError(
        f'class_weight must be a dict from class to weight, "balanced" or None, got '
        f"{class_weight!r}."
    )


# --------------------------------------------------------------------------------------
# Numbers
# --------------------------------------------------------------------------------------


def check_number(value: Any, name: str) -> float:
    """Return value as a finite float; strings and booleans are no numbers."""
    number = _real(value, name, "a finite number")
    if not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    return number


def check_positive(value: Any, name: str, *, zero: bool = False, inf: bool = False) -> float:
    """Return value as a float > 0.

    Parameters
    ----------
    value : number
    name : str
        What the error calls the argument.
    zero, inf : bool
        Whether 0 and infinity are allowed too.
    """
    expected = f"a {'' if inf else 'finite '}number {'>= 0' if zero else '> 0'}"
    number = _real(value, name, expected)
    # Written so that NaN fails.
    enough = number >= 0 if zero else number > 0
    if not enough or (np.isinf(number) and not inf):
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
    return number


def check_values(values: Any, name: str, *, finite: bool = True) -> Array:
    """Return numbers as float64 in one dimension; a single one as an array of one.

    Parameters
    ----------
    values : number or array-like of shape (k,)
    name : str
        What the error calls them.
    finite : bool
        Whether NaN and infinity are refused.
    """
    _refuse_masked(values, name)
    array = np.atleast_1d(np.asarray(values))
    if array.dtype.kind == "O" and all(_is_real(value) for value in array.flat):
        array = np.vectorize(lambda x: _real(x, name, "a finite number"), [float])(array)
    numbers = array.ndim == 1 and (array.dtype.kind in "iuf" or array.size == 0)
    if not numbers or (finite and not np.isfinite(array).all()):
        kind = "a finite number" if finite else "a number"
        raise ValueError(f"{name} must be {kind} or a 1-D array of them, got {values!r:.60}.")
    return np.ascontiguousarray(array, dtype=np.float64)


def check_fraction(value: Any, name: str) -> float:
    """Return value as a float in (0, 1]."""
    number = _real(value, name, "a number in (0, 1]")
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be a number in (0, 1], got {value!r}.")
    return number


def check_inside(value: Any, name: str) -> float:
    """Return value as a float between 0 and 1, both excluded."""
    expected = "a number between 0 and 1, both excluded"
    number = _real(value, name, expected)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be {expected}, got {value!r}.")
    return number


def check_count(value: Any, name: str) -> int | None:
    """Return value as an int >= 1, or None."""
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if value is not None and (not whole or value < 1):
        raise ValueError(f"{name} must be a whole number from 1, or None, got {value!r}")
    return None if value is None else int(value)


def check_folds(cv: Any, n: int) -> None:
    """Refuse a number of folds that n rows cannot be split into; what is no number passes."""
    if isinstance(cv, Integral) and not 2 <= int(cv) <= n:
        raise ValueError(
            f"cv must be a number of folds from 2 to the number of rows, {n}, got {cv}"
        )


def check_level(value: Any, name: str) -> int:
    """Return value as an int; True counts as 1."""
    if not isinstance(value, (Integral, np.bool_)):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return int(value)


def check_flag(value: Any, name: str) -> bool:
    """Return value as a bool; nothing else counts as true or false."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def is_word(value: Any, words: Iterable[str]) -> bool:
    """Whether it is one of the words; arrays and other things are none."""
    return isinstance(value, str) and value in words


def check_start_stop(start: Any, stop: Any) -> tuple[float | None, float | None]:
    """Return the ends of a path: start > 0 and stop >= 0, finite; None is left to the problem.

    Which of them must be the larger depends on the way the parameter moves, so it is not
    checked here.
    """
    if start is not None:
        start = check_positive(start, "start")
    if stop is not None:
        if _real(stop, "stop", "a finite number >= 0") < 0:
            raise ValueError(f'stop must be >= 0 (0 means "to the end"), got {stop!r}.')
        stop = check_positive(stop, "stop", zero=True)
    return start, stop


# --------------------------------------------------------------------------------------
# Inside
# --------------------------------------------------------------------------------------


def _refuse_masked(values: Any, name: str) -> None:
    # Arrays of pandas have a mask too: their gaps are found as NaN.
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        count = int(np.ma.count_masked(values))
        raise ValueError(
            f"{name} has {count} masked {'entry' if count == 1 else 'entries'}, expected none: "
            "remove these rows, or fill them (numpy.ma.filled)."
        )


def _refuse_other_shapes(X: Any, expected: str) -> None:
    """Refuse what has not two dimensions, in one line; a frame has its own shape."""
    try:
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    except ValueError:
        raise ValueError(f"{expected}, got rows of different lengths.") from None
    if len(shape) == 0:
        raise ValueError(f"{expected}, got {X!r:.50} of type {type(X).__name__}.")
    if len(shape) == 1:
        raise ValueError(
            f"{expected}, got a 1D array of {shape[0]} entries. Reshape your data with "
            ".reshape(-1, 1) if it is one feature, or .reshape(1, -1) if it is one sample."
        )


def _column_that_is_no_number(X: Any) -> str:
    """The first column of a frame that holds no numbers, with what it holds; "" for arrays."""
    if not hasattr(X, "columns"):
        return ""
    for label in X.columns:
        column = np.asarray(X[label])
        if column.ndim == 1 and not _holds_numbers(column):
            found = next(value for value in column.tolist() if not _is_real(value))
            return f"column {label!r} holds {found!r} of type {type(found).__name__}."
    return ""


def _holds_numbers(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "O":
        try:
            column.astype(np.float64)
        except (TypeError, ValueError):
            return False
        return True
    return column.dtype.kind in "biuf"


def _check_weights_scale(weights: Array, name: str) -> None:
    """Each row is measured by its own weight, so the smallest counts as the largest does."""
    smallest, largest = float(weights[weights > 0].min()), float(weights.max())
    if not SMALLEST <= smallest <= largest <= LARGEST:
        raise ValueError(
            f"{name} must be 0 or lie between {SMALLEST:g} and {LARGEST:g}, got weights from "
            f"{smallest:.3g} to {largest:.3g}: rescale them."
        )


def _is_balanced(value: Any) -> bool:
    return isinstance(value, str) and value == "balanced"


def _is_plain(X: Any) -> bool:
    """Whether X is what `check_matrix` returns, but for entries that are not finite."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.size == 0:
        return False
    return X.dtype == np.float64 and X.dtype.isnative and X.flags.c_contiguous


def _refuse_not_finite(values: Array, name: str) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # so are all terms; that of large ones need not be
            return
    finite = np.isfinite(values)
    if finite.all():
        return
    where = np.unravel_index(int(np.argmin(finite)), values.shape)
    index = ", ".join(str(int(i)) for i in where)
    found = "NaN" if np.isnan(values[where]) else "infinity"
    others = values.size - int(finite.sum()) - 1
    more = f" and {others} more such entries" if others else ""
    raise ValueError(
        f"{name} contains {found} (at [{index}]{more}); expected finite numbers, neither NaN nor "
        "inf."
    )


def _tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the lower triangle, by tiles: whole columns are slow to read."""
    blocks = [slice(a, min(a + CHECK_ROWS, n)) for a in range(0, n, CHECK_ROWS)]
    return ((rows, columns) for k, rows in enumerate(blocks) for columns in blocks[: k + 1])


def _largest_asymmetry(K: Array) -> tuple[float, int, int]:
    """Return the largest |K_ij - K_ji| and its i > j, looking at the lower triangle only."""
    largest, place = 0.0, (0, 0)
    for rows, columns in _tiles(len(K)):
        tile, mirrored = K[rows, columns], K[columns, rows].T
        if np.array_equal(tile, mirrored):
            continue
        with np.errstate(over="ignore"):  # an infinite difference is one too
            difference = np.abs(tile - mirrored)
        i, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
        if difference[i, j] > largest:
            largest, place = float(difference[i, j]), (rows.start + int(i), columns.start + int(j))
    return largest, max(place), min(place)


def _largest_entry(K: Array) -> float:
    return float(max(K.max(), -K.min()))


def _symmetrised(K: Array) -> Array:
    """Return (K + K')/2: the sum is the same in either order, so the result is exactly symmetric.

    Each term is halved first: the sum of two large entries could overflow.
    """
    out = np.empty_like(K)
    for rows, columns in _tiles(len(K)):
        tile = 0.5 * K[rows, columns]
        tile += 0.5 * K[columns, rows].T
        out[rows, columns], out[columns, rows] = tile, tile.T
    return out


def _column(y: Any, name: str) -> NDArray[Any]:
    """Return y as a one-dimensional array of whatever type; a column is unrolled with a warning."""
    if y is None:
        raise ValueError(f"{name} should be a 1d array, got None instead.")
    if issparse(y):
        raise ValueError(f"{name} should be a dense 1d array, got a sparse matrix instead.")
    _refuse_masked(y, name)
    # A list of labels must not become strings because one of them is.
    array = np.asarray(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        message = (
            f"A column-vector {name} was passed when a 1d array was expected; pass {name}.ravel()."
        )
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        array = array.ravel()
    if array.ndim != 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {array.shape} instead."
        )
    if len(array) == 0:
        raise ValueError(f"{name} is empty (0 samples), expected at least 1.")
    return array


def _numbers(y: Any, name: str) -> Array:
    """Return y as finite float64 numbers in one dimension."""
    array = _column(y, name)
    if array.dtype.kind == "O":
        array = _plain(array, name)
    if array.dtype.kind not in "biuf":
        raise NotNumbersError(f"{name} must be numbers, got {array.dtype} ({_show(array)}).")
    numbers: Array = np.ascontiguousarray(array, dtype=np.float64)
    _refuse_not_finite(numbers, name)
    return numbers


def _labels(y: Any) -> NDArray[Any]:
    """Return y as labels of one type: numbers, booleans or strings, none of them missing."""
    labels = _column(y, "y")
    if labels.dtype.kind == "O":
        plain = _plain(labels, "y")
        # Strings that came in an object array keep it, as scikit-learn's classes_ do.
        labels = labels if plain.dtype.kind in "US" and not isinstance(y, (list, tuple)) else plain
    if labels.dtype.kind == "f":
        _refuse_not_finite(labels, "y")
    elif labels.dtype.kind not in "biuUSO":
        raise ValueError(
            f"y must be labels (integers, floats, booleans or strings), got {labels.dtype} "
            f"({_show(labels)})."
        )
    return labels


def _plain(objects: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array of Python objects as numbers or as strings, refusing a mix and gaps."""
    values = objects.tolist()
    for i, value in enumerate(values):
        if _is_missing(value):
            raise ValueError(f"{name} contains NaN ({name}[{i}] is {value!r}); expected no gaps.")
    strings = [isinstance(value, str) for value in values]
    if any(strings) and not all(strings):
        text, other = values[strings.index(True)], values[strings.index(False)]
        raise ValueError(
            f"{name} has mixed types, strings such as {text!r} and others such as {other!r}; "
            "expected one type."
        )
    if not strings[0]:
        for value in values:
            if not isinstance(value, (Real, np.bool_)):
                raise NotNumbersError(
                    f"{name} argument must be a string or a real number in each entry, got "
                    f"{value!r}."
                )
    plain = np.array(values)
    # Integers beyond 64 bits stay objects; as targets they are floats.
    return plain if plain.dtype.kind != "O" else plain.astype(np.float64)


def _marked(y: Any) -> Any:
    """y with "" or -1 where it has None; among strings -1 and NaN stand for "" as well."""
    objects = isinstance(y, (list, tuple)) or getattr(getattr(y, "dtype", None), "kind", "") == "O"
    if not objects or np.ndim(np.asarray(y, dtype=object)) != 1:
        return y
    values = list(y)
    if any(isinstance(v, str) for v in values):
        return ["" if _is_missing(v) or (_is_real(v) and v == -1) else v for v in values]
    return [-1 if v is None else v for v in values]


def _is_missing(value: Any) -> bool:
    # pandas.NA and NaT by name: pandas is no dependency, and NA refuses to be compared.
    gap = value is None or type(value).__name__ in ("NAType", "NaTType")
    return gap or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))


def _check_length(array: NDArray[Any], n: int, name: str) -> None:
    if len(array) != n:
        raise ValueError(f"{name} has {len(array)} entries, but X has {n} rows.")


def _too_many_classes(classes: NDArray[Any], takes_several: str) -> str:
    if classes.dtype.kind == "f" and np.any(classes != np.floor(classes)):
        return (
            f"Unknown label type: continuous. y has {len(classes)} different values "
            f"({_show(classes)}), expected 2 classes; for a numeric target use svr_path or "
            "PathSVR."
        )
    return (
        f"y has {len(classes)} classes ({_show(classes)}), expected 2: {takes_several} takes "
        "several classes."
    )


def _show(values: NDArray[Any], most: int = 5) -> str:
    shown = [repr(value) for value in values[:most].tolist()]
    return ", ".join(shown + ["..."] * (len(values) > most))


def _factors(class_weight: Mapping[Any, float], classes: NDArray[Any]) -> Array:
    labels = classes.tolist()
    for key in class_weight:
        if key not in labels:
            raise ValueError(
                f"class_weight names the class {key!r}, which is not in y; the classes are "
                f"{_show(classes)}."
            )
    return np.array(
        [
            check_positive(class_weight.get(label, 1.0), f"class_weight[{label!r}]", zero=True)
            for label in labels
        ]
    )


def _refuse_empty_class(totals: Array, classes: NDArray[Any], name: str) -> None:
    if not totals.all():
        empty = classes.tolist()[int(np.argmin(totals))]
        raise ValueError(
            f"{name} leaves 1 class with weights above 0 (the weights of class {empty!r} are all "
            "0), expected 2 classes."
        )


def _is_real(value: Any) -> bool:
    """Whether it is a number; booleans and durations are none."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def _real(value: Any, name: str, expected: str) -> float:
    if not _is_real(value):
        raise ValueError(
            f"{name} must be {expected}, got {value!r} of type {type(value).__name__}."
        )
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be {expected}, got one beyond double precision.") from None
