"""Kernels that the user brings: a matrix or a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from chemin._checks import MATRIX, Array, check_gram, check_matrix, check_memory
from chemin.kernels._blocks import distinct_rows
from chemin.kernels._kernel import Kernel, same_features


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The kernel matrix itself, where others take points.

    k(x_i, x_j) = X_ij
    """

    name: ClassVar[str] = "precomputed"

    def gram(self, X: Any) -> Array:
        """Return X, a symmetric matrix of shape (n, n). It is not copied if nothing is wrong."""
        return check_gram(X, MATRIX)

    def cross(self, X_new: Any, X: Any) -> Array:
        """Return X_new of shape (n_new, n): the kernel between new points and the n of training.

        Parameters
        ----------
        X_new : array-like of shape (n_new, n)
        X : array-like
            What `gram` was given; only the number of its rows counts.
        """
        matrix = check_matrix(X_new, 'X_new with kernel="precomputed"')
        if matrix.shape[1] != len(X):
            raise ValueError(
                f'X_new with kernel="precomputed" must have shape (n_new, {len(X)}): one row for '
                "each new point and one column for each training point, but has shape "
                f"{matrix.shape}."
            )
        return matrix


@dataclass(frozen=True, repr=False)
class Function(Kernel):
    """A function of two matrices of points.

        K = function(X, X') with K_ij = k(x_i, x'_j)

    It is called once with all distinct points, as scikit-learn does: it may look at all of them.

    Parameters
    ----------
    function : callable
        Takes arrays of shape (n, d) and (m, d), returns one of shape (n, m).
    """

    name: ClassVar[str] = ""
    function: Callable[[Array, Array], Any]

    def gram(self, X: Any) -> Array:
        """Return the exactly symmetric matrix K_ij = k(x_i, x_j)."""
        X = check_matrix(X)
        check_memory(len(X), "X")
        rows, inverse = distinct_rows(X)
        K = check_gram(self._call(rows, rows), self._result)
        return K if len(rows) == len(X) else K[np.ix_(inverse, inverse)]

    def cross(self, X_new: Any, X: Any) -> Array:
        """Return the matrix K_ij = k(x_new_i, x_j) of shape (n_new, n)."""
        new, old = same_features(X_new, X)
        rows_new, inverse_new = distinct_rows(new)
        rows, inverse = distinct_rows(old)
        K = check_matrix(self._call(rows_new, rows), self._result)
        if len(rows_new) == len(new) and len(rows) == len(old):
            return K
        return K[np.ix_(inverse_new, inverse)]

    def spec(self) -> dict[str, Any]:
        """Return the name "callable": JSON holds no function."""
        return {"name": "callable"}

    def __repr__(self) -> str:
        return f"Function({self._label})"

    @property
    def _label(self) -> str:
        return getattr(self.function, "__name__", None) or type(self.function).__name__

    @property
    def _result(self) -> str:
        return f"what kernel={self._label} returned"

    def _call(self, A: Array, B: Array) -> Any:
        K = self.function(A, B)
        if np.shape(K) != (len(A), len(B)):
            raise ValueError(
                f"kernel={self._label} returned shape {np.shape(K)} for points of shapes {A.shape} "
                f"and {B.shape}, expected a matrix of shape {(len(A), len(B))}. A function of two "
                "single points can be wrapped with sklearn.metrics.pairwise.pairwise_kernels."
            )
        return K
