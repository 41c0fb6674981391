"""Kernels made of kernels: sums, products, positive multiples, columns and maps.

What goes in is positive semi-definite, and so is what comes out:

    k1 + k2,   k1 k2,   a k  (a > 0),   k on some columns,   k(phi(x), phi(x'))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from chemin._checks import Array, check_matrix, check_positive
from chemin.kernels._kernel import Kernel
from chemin.kernels._named import narrow


@dataclass(frozen=True, repr=False)
class _Pair(Kernel):
    """Two kernels of the same points, entry by entry."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        for side in ("left", "right"):
            check_kernel(getattr(self, side), side)
        if self.left.of_strings != self.right.of_strings:
            raise ValueError(
                f"{self.left!r} and {self.right!r} must be kernels of the same kind of points, but "
                "one takes strings and the other takes numbers."
            )

    @property
    def of_strings(self) -> bool:
        return self.left.of_strings

    def points(self, X: Any, name: str = "X") -> Array:
        return self.left.points(X, name)

    def _joined(self, left: Array, right: Array) -> Array:
        raise NotImplementedError

    def gram(self, X: Any) -> Array:
        """Return the exactly symmetric matrix K_ij = k(x_i, x_j)."""
        return self._joined(self.left.gram(X), self.right.gram(X))

    def cross(self, X_new: Any, X: Any) -> Array:
        """Return the matrix K_ij = k(x_new_i, x_j) of shape (n_new, n)."""
        return self._joined(self.left.cross(X_new, X), self.right.cross(X_new, X))


@dataclass(frozen=True, repr=False)
class Sum(_Pair):
    """k(x, x') = left(x, x') + right(x, x')."""

    name: ClassVar[str] = "sum"

    def _joined(self, left: Array, right: Array) -> Array:
        return left + right

    def about(self, X: Any) -> Kernel:
        return replace(self, left=self.left.about(X), right=self.right.about(X))

    def lift(self, X: Any, coef: Array) -> Any:
        return self.left.lift(X, coef) + self.right.lift(X, coef)

    def factor(self, X: Array) -> Array | None:
        """Return the factors of both, side by side."""
        left = self.left.factor(X)
        right = None if left is None else self.right.factor(X)
        if left is None or right is None or not narrow(left.shape[1] + right.shape[1], len(X)):
            return None
        return np.hstack([left, right])

    def __repr__(self) -> str:
        return f"{self.left!r} + {self.right!r}"


@dataclass(frozen=True, repr=False)
class Product(_Pair):
    """k(x, x') = left(x, x') right(x, x')."""

    name: ClassVar[str] = "product"

    def _joined(self, left: Array, right: Array) -> Array:
        return left * right

    def __repr__(self) -> str:
        return f"{_bracketed(self.left)} * {_bracketed(self.right)}"


@dataclass(frozen=True, repr=False)
class _Around(Kernel):
    """Another kernel, of points or with values that are not quite its own."""

    kernel: Kernel

    def __post_init__(self) -> None:
        check_kernel(self.kernel, "kernel")

    @property
    def of_strings(self) -> bool:
        return self.kernel.of_strings

    def points(self, X: Any, name: str = "X") -> Array:
        return self.kernel.points(X, name)


@dataclass(frozen=True, repr=False)
class Scaled(_Around):
    """k(x, x') = scale kernel(x, x')

    Parameters
    ----------
    kernel : Kernel
    scale : float > 0
    """

    name: ClassVar[str] = "scaled"
    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "scale", check_positive(self.scale, "scale"))

    def gram(self, X: Any) -> Array:
        """Return the exactly symmetric matrix K_ij = k(x_i, x_j)."""
        return self.scale * self.kernel.gram(X)

    def cross(self, X_new: Any, X: Any) -> Array:
        """Return the matrix K_ij = k(x_new_i, x_j) of shape (n_new, n)."""
        return self.scale * self.kernel.cross(X_new, X)

    def factor(self, X: Array) -> Array | None:
        Z = self.kernel.factor(X)
        return None if Z is None else np.sqrt(self.scale) * Z

    def about(self, X: Any) -> Kernel:
        return replace(self, kernel=self.kernel.about(X))

    def lift(self, X: Any, coef: Array) -> Any:
        return self.scale * self.kernel.lift(X, coef)

    def __repr__(self) -> str:
        return f"{self.scale:g} * {_bracketed(self.kernel)}"


@dataclass(frozen=True, repr=False)
class Restricted(_Around):
    """The kernel of some of the columns alone.

        k(x, x') = kernel(x[columns], x'[columns])

    Parameters
    ----------
    kernel : Kernel
        Of numbers.
    columns : sequence of int >= 0
    """

    name: ClassVar[str] = "restricted"
    columns: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        columns: list[Any] = np.atleast_1d(np.asarray(self.columns, dtype=object)).tolist()
        whole = all(_is_index(j) for j in columns)
        if not columns or not whole or len(set(columns)) < len(columns):
            raise ValueError(
                f"columns must be different integers >= 0, at least one, got {self.columns!r}."
            )
        if self.of_strings:
            raise ValueError(f"{self.kernel!r} takes strings, which have no columns to restrict.")
        object.__setattr__(self, "columns", tuple(int(j) for j in columns))

    def gram(self, X: Any) -> Array:
        """Return the exactly symmetric matrix K_ij = k(x_i, x_j)."""
        return self.kernel.gram(self._chosen(X, "X"))

    def cross(self, X_new: Any, X: Any) -> Array:
        """Return the matrix K_ij = k(x_new_i, x_j) of shape (n_new, n)."""
        return self.kernel.cross(self._chosen(X_new, "X_new"), self._chosen(X, "X"))

    def factor(self, X: Array) -> Array | None:
        return self.kernel.factor(self._chosen(X, "X"))

    def about(self, X: Any) -> Kernel:
        return replace(self, kernel=self.kernel.about(self._chosen(X, "X")))

    def lift(self, X: Any, coef: Array) -> Any:
        return self.kernel.lift(self._chosen(X, "X"), coef)

    def _chosen(self, X: Any, name: str) -> Array:
        points = check_matrix(X, name)
        if max(self.columns) >= points.shape[1]:
            raise ValueError(
                f"{name} has {points.shape[1]} columns, but columns has {max(self.columns)}, "
                f"expected numbers below {points.shape[1]}."
            )
        return np.ascontiguousarray(points[:, list(self.columns)])

    def __repr__(self) -> str:
        return f"{_bracketed(self.kernel)}.on({list(self.columns)})"


@dataclass(frozen=True, repr=False)
class Mapped(_Around):
    """The kernel of mapped points.

        k(x, x') = kernel(phi(x), phi(x'))

    Parameters
    ----------
    kernel : Kernel
    transformer : fitted transformer of scikit-learn, or function of a matrix
        phi. A path with it cannot be saved: no file holds a function.
    """

    name: ClassVar[str] = ""
    transformer: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if hasattr(self.transformer, "transform"):
            check_is_fitted(self.transformer)
        elif not callable(self.transformer):
            raise ValueError(
                "transformer must be a fitted transformer or a function of a matrix, got "
                f"{self.transformer!r}."
            )

    @property
    def of_strings(self) -> bool:
        return False

    def points(self, X: Any, name: str = "X") -> Array:
        return check_matrix(X, name)

    def gram(self, X: Any) -> Array:
        """Return the exactly symmetric matrix K_ij = k(x_i, x_j)."""
        return self.kernel.gram(self._mapped(X))

    def cross(self, X_new: Any, X: Any) -> Array:
        """Return the matrix K_ij = k(x_new_i, x_j) of shape (n_new, n)."""
        return self.kernel.cross(self._mapped(X_new), self._mapped(X))

    def factor(self, X: Array) -> Array | None:
        return self.kernel.factor(self._mapped(X))

    def about(self, X: Any) -> Kernel:
        return replace(self, kernel=self.kernel.about(self._mapped(X)))

    def lift(self, X: Any, coef: Array) -> Any:
        return self.kernel.lift(self._mapped(X), coef)

    def spec(self) -> dict[str, Any]:
        """Return the name "callable": JSON holds no function."""
        return {"name": "callable"}

    def _mapped(self, X: Any) -> Array:
        phi: Callable[[Any], Any] = getattr(self.transformer, "transform", self.transformer)
        mapped = check_matrix(phi(X), f"what {self._label} returned")
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(mapped) != n:
            raise ValueError(
                f"{self._label} returned {len(mapped)} rows for {n} points, expected one for each."
            )
        return mapped

    @property
    def _label(self) -> str:
        return getattr(self.transformer, "__name__", None) or type(self.transformer).__name__

    def __repr__(self) -> str:
        return f"{_bracketed(self.kernel)}.after({self._label})"


def check_kernel(value: Any, name: str) -> Kernel:
    """Return a kernel object; a name alone has no parameters."""
    if not isinstance(value, Kernel):
        raise ValueError(
            f"{name} must be a kernel object, such as chemin.kernels.RBF(gamma=1.0), got {value!r}."
        )
    return value


def _is_index(value: Any) -> bool:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    return whole and int(value) >= 0


def _bracketed(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, (Sum, Scaled)) else repr(kernel)
