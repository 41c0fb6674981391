"""What a path is computed from: the data as they were given, and the problem that they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import frozen
from .kernels import DenseGram, Gram, GraphGram, Kernel, LowRankGram, SparseGram, as_gram
from .problems import PROBLEMS, Problem
from .problems.staircase import Floats


@dataclass(frozen=True)
class Data:
    """What a path was computed from, as it was given.

    Copies, to be read only: what becomes of the caller's arrays does not matter. A kernel matrix
    that was given is kept as it is, for it may be as large as everything else together.
    """

    X: Any  # points, dense or csr_array, or the kernel matrix when the kernel is precomputed
    y: NDArray[Any]
    weight: Floats
    kernel: Kernel | None  # None for linear models
    classes: NDArray[Any] | None  # two labels for classification
    laplacian: Any = None  # sparse, of a graph on all rows
    names: tuple[str, ...] | None = None  # of the columns, where X was a data frame

    def __post_init__(self) -> None:
        given = self.kernel is not None and self.kernel.name == "precomputed"
        kept = {name: frozen(getattr(self, name)) for name in ("y", "weight", "classes")}
        self.__dict__.update(kept, X=self.X if given else frozen(self.X))

    @cached_property
    def used(self) -> NDArray[np.intp]:
        """Rows with a positive weight: the others take no part. On a graph all rows do."""
        if self.laplacian is not None:
            return np.arange(len(self.weight))
        return np.flatnonzero(self.weight > 0)


def make_problem(
    name: str,
    data: Data,
    target: Floats | None,
    spec: dict[str, Any],
    gram: Gram | None = None,
) -> Problem:
    """The problem of a path, from its data; `gram`: what `gram_of` gives, if it is known."""
    w, y = data.weight, data.y if target is None else target
    make: Any = PROBLEMS[name]
    if data.kernel is None:
        return make(data.X, y, w, **spec) if gram is None else make(data.X, y, w, **spec, gram=gram)
    K = gram_of(data, data.kernel) if gram is None else gram
    return make(K, y[data.used], w[data.used], **spec)


def gram_of(data: Data, kernel: Kernel, matrix: Floats | DenseGram | None = None) -> Gram:
    """The kernel matrix of the rows that take part; `matrix`: that of all rows, if it is known."""
    used = data.used
    all_used = len(used) == len(data.weight)
    if data.laplacian is not None:
        whole = as_gram(kernel.gram(data.X) if matrix is None else matrix)
        assert isinstance(whole, DenseGram)
        return GraphGram(whole.matrix, data.laplacian)
    Z = None if matrix is not None else kernel.sparse_factor(data.X)
    if Z is not None:
        return SparseGram(Z if all_used else Z[used])
    Z = None if matrix is not None else kernel.factor(data.X)
    if Z is not None:
        return LowRankGram(Z if all_used else np.ascontiguousarray(Z[used]))
    K = as_gram(kernel.gram(data.X) if matrix is None else matrix)
    return K if all_used else K.among(used)


__all__ = ["Data", "gram_of", "make_problem"]
