"""What every kernel can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from chemin._checks import Array, check_matrix, check_memory, check_points
from chemin._threads import threads_for
from chemin.kernels._blocks import (
    Writer,
    distinct_rows,
    equal_rows,
    fill,
    fill_symmetric,
    repeat_in_place,
    told_apart,
)


@dataclass(frozen=True)
class Kernel(ABC):
    """A kernel k(x, x') with its parameters settled: they are the fields of a subclass.

    The matrices that come back are float64 and C-contiguous, to be read only; equal points have
    equal rows and columns, bit by bit.

    Kernels make kernels: `k1 + k2`, `k1 * k2`, `2.0 * k1`, `k1.on(columns)` and
    `k1.after(transformer)`. They have scikit-learn's parameters, with those of their parts:
    `get_params`, `set_params`, `clone`.

    Examples
    --------
    >>> from chemin.kernels import RBF, Linear
    >>> 2.0 * RBF(gamma=0.5) + Linear().on([0, 1])
    2 * RBF(gamma=0.5) + Linear().on([0, 1])
    """

    name: ClassVar[str] = ""
    takes_sparse: ClassVar[bool] = False  # whether points may be sparse
    _by_name: ClassVar[dict[str, type[Kernel]]] = {}

    def __init_subclass__(cls) -> None:
        if cls.name:
            Kernel._by_name[cls.name] = cls

    @abstractmethod
    def gram(self, X: Any) -> Array:
        """Return the exactly symmetric matrix K_ij = k(x_i, x_j).

        Parameters
        ----------
        X : array-like of shape (n, d)
        """

    @abstractmethod
    def cross(self, X_new: Any, X: Any) -> Array:
        """Return the matrix K_ij = k(x_new_i, x_j) of shape (n_new, n).

        Parameters
        ----------
        X_new : array-like of shape (n_new, d)
        X : array-like of shape (n, d)
            The points that the model was trained on.
        """

    def factor(self, X: Any) -> Array | None:
        """Return Z with K = Z Z' where it is known and worth using, or None.

        Parameters
        ----------
        X : array of shape (n, d)
        """
        return None

    def sparse_factor(self, X: Any) -> Any:
        """Return a sparse Z with K = Z Z' where K is too large to be worth storing, or None.

        Parameters
        ----------
        X : array or csr_array of shape (n, d)
        """
        return None

    def combine(self, X_new: Any, X: Any, coef: Array) -> Array:
        """Return sum_j coef_j k(x_new_i, x_j), one column for each column of coef.

        Parameters
        ----------
        X_new : array-like of shape (n_new, d)
        X : array-like of shape (n, d)
        coef : array of shape (n, k)
        """
        return self.cross(X_new, X) @ coef

    def about(self, X: Any) -> Kernel:
        """Return the kernel of points seen from nearer by, if that changes f by a constant alone.

        With an intercept f is the same, and so are its coefficients, which sum up to zero.

        Parameters
        ----------
        X : array of shape (n, d)
        """
        return self

    def lift(self, X: Any, coef: Array) -> Any:
        """Return what `about` adds to intercepts, one number for each column of coef.

        Parameters
        ----------
        X : array of shape (n, d)
        coef : array of shape (n, k)
        """
        return 0.0

    def own(self, X: Any) -> Array | None:
        """Return k(x_i, x_i) where k is known to be an inner product, or None.

        Parameters
        ----------
        X : array of shape (n, d)
        """
        return None

    @property
    def of_strings(self) -> bool:
        """Whether points are strings; otherwise they are rows of numbers."""
        return False

    def points(self, X: Any, name: str = "X") -> Array:
        """Return points as the matrix that the kernel computes with, checked.

        Parameters
        ----------
        X : array-like of shape (n, d), or n strings
        name : str
            What an error calls the argument.
        """
        checked: Array = (check_points if self.takes_sparse else check_matrix)(X, name)
        return checked

    # ------------------------------------------------------------------ the algebra

    def __add__(self, other: Any) -> Kernel:
        from chemin.kernels._algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from chemin.kernels._algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__

    def on(self, columns: int | Sequence[int]) -> Kernel:
        """Return the kernel of these columns alone."""
        from chemin.kernels._algebra import Restricted

        return Restricted(self, columns)  # type: ignore[arg-type]

    def after(self, transformer: Callable[[Any], Any] | Any) -> Kernel:
        """Return k(phi(x), phi(x')), phi a fitted transformer or a function of a matrix."""
        from chemin.kernels._algebra import Mapped

        return Mapped(self, transformer)

    # ------------------------------------------------------------------ parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with those of kernels inside after two underscores.

        Parameters
        ----------
        deep : bool
            Whether to go into kernels inside.
        """
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        if not deep:
            return own
        inside = {
            f"{name}__{key}": value
            for name, part in own.items()
            if isinstance(part, Kernel)
            for key, value in part.get_params().items()
        }
        return own | inside

    def set_params(self, **params: Any) -> Self:
        """Set parameters by the names that `get_params` gives them, and return the kernel.

        Parameters
        ----------
        **params : dict
        """
        own, known = {field.name for field in fields(self)}, self.get_params()
        for key, value in sorted(params.items(), key=lambda item: "__" in item[0]):
            if key not in known and key.partition("__")[0] not in own:
                raise ValueError(
                    f"{self!r} has no parameter {key!r}, only {', '.join(sorted(known))}."
                )
            name, inside, rest = key.partition("__")
            if inside:
                getattr(self, name).set_params(**{rest: value})
            else:
                object.__setattr__(self, name, value)
        check = getattr(self, "__post_init__", None)
        if check is not None:
            check()
        return self

    def copied(self) -> Self:
        """Return a copy that does not see `set_params` of this one; transformers are shared."""
        out = copy(self)
        for field in fields(self):
            part = getattr(self, field.name)
            if isinstance(part, Kernel):
                object.__setattr__(out, field.name, part.copied())
        return out

    def __sklearn_clone__(self) -> Self:
        """Return a copy whose parameters can be set; a transformer inside stays fitted."""
        return deepcopy(self)

    def spec(self) -> dict[str, Any]:
        """Return the name and the parameters, all of which JSON can hold."""
        parameters = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        inside = [value for value in parameters.values() if isinstance(value, dict)]
        if any(value["name"] == "callable" for value in inside):
            return {"name": "callable"}
        return {"name": self.name, **parameters}

    @staticmethod
    def from_spec(spec: Mapping[str, Any]) -> Kernel:
        """Return the kernel that `spec` described.

        Parameters
        ----------
        spec : mapping
            As `spec()` returned it. A callable cannot come back from its name.
        """
        parameters = dict(spec)
        name = parameters.pop("name", None)
        if name == "callable":
            raise ValueError(
                'spec has name "callable": a function cannot be restored from its name, pass the '
                "function itself to make_kernel."
            )
        if name not in Kernel._by_name:
            raise ValueError(
                f"spec must have a name among {', '.join(sorted(Kernel._by_name))}, got {name!r}."
            )
        parameters = {
            key: Kernel.from_spec(value) if isinstance(value, Mapping) else value
            for key, value in parameters.items()
        }
        try:
            return Kernel._by_name[name](**parameters)
        except TypeError as error:
            raise ValueError(f"spec does not fit the kernel {name!r}: {error}.") from error


@dataclass(frozen=True)
class BlockKernel(Kernel):
    """A kernel with a formula, computed by blocks of rows straight into the result.

    A subclass gives its `name`, its parameters, and `_writer`. Points may be sparse (csr_array).
    """

    def gram(self, X: Any) -> Array:
        X = check_points(X)
        n = X.shape[0]
        check_memory(n, "X")
        rows, inverse = distinct_rows(X)
        out, distinct = np.empty((n, n)), rows.shape[0]
        corner = out[:distinct, :distinct]
        one = threads_for(distinct, *rows.shape)
        with one, np.errstate(over="ignore", invalid="ignore"):  # found in each block, as an error
            fill_symmetric(corner, self._writer(rows, rows))
        known = self._self_similarity(rows)
        if known is not None:
            np.fill_diagonal(corner, known)
        repeat_in_place(out, inverse, inverse)
        return out

    def cross(self, X_new: Any, X: Any) -> Array:
        X_new, X = same_features(X_new, X)
        rows_new, inverse_new, place_new = told_apart(X_new)
        rows, inverse, place = told_apart(X)
        out = np.empty((X_new.shape[0], X.shape[0]))
        corner = out[: rows_new.shape[0], : rows.shape[0]]
        with threads_for(len(corner), *rows.shape), np.errstate(over="ignore", invalid="ignore"):
            fill(corner, self._writer(rows_new, rows))
        known = self._self_similarity(rows)
        if known is not None:
            i, j = equal_rows(place_new, place)
            corner[i, j] = known[j]
        repeat_in_place(out, inverse_new, inverse)
        return out

    def own(self, X: Any) -> Array | None:
        return self._self_similarity(X)

    @abstractmethod
    def _writer(self, A: Any, B: Any) -> Writer:
        """Return the function that writes k between rows of A and rows of B into a block."""

    def _self_similarity(self, X: Any) -> Array | None:
        """Return k(x_i, x_i) where it is known exactly, so that round-off cannot move it."""
        return None


def _plain(value: Any) -> Any:
    """A parameter as JSON holds it."""
    if isinstance(value, Kernel):
        return value.spec()
    return value.tolist() if isinstance(value, np.ndarray) else value


def same_features(X_new: Any, X: Any) -> tuple[Any, Any]:
    """Return both as points, which must have the same number of columns.

    Where one of them is sparse, both are.
    """
    new, old = check_points(X_new, "X_new"), check_points(X)
    if new.shape[1] != old.shape[1]:
        raise ValueError(
            f"X_new has {new.shape[1]} features, but {old.shape[1]} features were expected, as in "
            "X."
        )
    if issparse(new) != issparse(old):
        new, old = check_points(csr_array(new)), check_points(csr_array(old))
    return new, old
