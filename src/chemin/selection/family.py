"""A family of paths: one model on subsets and weightings of the same rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import check_matrix, check_two_classes, check_weights, class_weights
from ..kernels import Precomputed, make_kernel
from ..path import Path
from .piecewise import Floats

KERNEL_OPTIONS = ("kernel", "gamma", "degree", "coef0")

Rows = NDArray[np.intp]


class Family:
    """What a criterion needs: paths of one model on any of the rows, and the kernel between rows.

    The kernel matrix is computed once, on all rows, and gamma is settled once: a model on part of
    the rows reads part of the matrix. A linear kernel on many points has no need of one.

    Parameters
    ----------
    make : callable
        A path function: `chemin.svc_path`, `chemin.svr_path`, `chemin.lasso_path` or one like them.
    X, y, sample_weight : as the path function takes them
        Rows of weight 0 take no part, neither in training nor in testing.
    start, stop : float or None
        The ends of the walk, for all paths of the family. Default stop: that of the path on all
        rows.
    classifier : bool or None
        Whether y are labels; None: whether the path function knows class weights.
    **options
        The other arguments of the path function.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> family = Family(chemin.lasso_path, *load_diabetes(return_X_y=True))
    >>> family.path.parameter
    'lambda'
    """

    def __init__(
        self,
        make: Callable[..., Path],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        start: float | None = None,
        stop: float | None = None,
        classifier: bool | None = None,
        **options: Any,
    ) -> None:
        self.make, self.start, self.stop, self.options = make, start, stop, options
        known = inspect.signature(make).parameters
        has_kernel = "kernel" in known
        self.classifier = "class_weight" in known if classifier is None else classifier
        given = options.get("kernel", "rbf")
        name = "K" if has_kernel and isinstance(given, str) and given == "precomputed" else "X"
        self.X = check_matrix(X, name)
        self.y = y if isinstance(y, np.ndarray) else np.asarray(y)
        if len(self.y) != len(self.X):
            raise ValueError(f"y has {len(self.y)} entries, but {name} has {len(self.X)} rows")
        self.weight = check_weights(sample_weight, len(self.X))
        self.kernel = None
        if has_kernel:
            chosen = {k: self.options.pop(k) for k in KERNEL_OPTIONS if k in self.options}
            self.kernel = make_kernel(**chosen, X=self.X, sample_weight=self.weight)

    @cached_property
    def cost(self) -> Floats:
        """What an error on each row costs in training: its weight and that of its class."""
        class_weight = self.options.get("class_weight")
        if class_weight is None:
            return self.weight
        signs, classes = check_two_classes(self.y)
        return class_weights(class_weight, signs, classes, self.weight)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        kernel = "" if self.kernel is None else f", {self.kernel!r}"
        return f"<Family of {_name(self.make)}: {self.X.shape[0]} x {self.X.shape[1]} data{kernel}>"

    @cached_property
    def gram(self) -> Floats:
        assert self.kernel is not None
        return self.kernel.gram(self.X)

    @cached_property
    def _without_gram(self) -> bool:
        return self.kernel is None or self.kernel.factor(self.X) is not None

    def prepare(self) -> None:
        """Compute what all paths share, before threads ask for it."""
        if not self._without_gram:
            _ = self.gram

    @property
    def used(self) -> Rows:
        """Rows with a positive weight."""
        return np.flatnonzero(self.weight > 0)

    @cached_property
    def path(self) -> Path:
        """The path on all rows."""
        return self.walk(None)

    def walk(self, rows: Rows | None, weight: Floats | None = None, **options: Any) -> Path:
        """The path on some rows (None: all), whose own weights are multiplied by `weight`."""
        all_rows = rows is None
        rows = np.arange(len(self)) if rows is None else rows
        walk = {"start": self.start, "stop": self.stop} | self.options | options
        if not all_rows:  # many at once: progress is shown for the path on all rows
            walk.pop("verbose", None)
        w = self.weight[rows] if weight is None else weight * self.weight[rows]
        X = self.X if all_rows else self.X[rows]
        if self.kernel is None:
            return self.make(X, self.y[rows], sample_weight=w, **walk)
        if self._without_gram:
            return self.make(X, self.y[rows], kernel=self.kernel, sample_weight=w, **walk)
        K = self.gram if all_rows else self.gram[np.ix_(rows, rows)]
        path = self.make(K, self.y[rows], kernel="precomputed", sample_weight=w, **walk)
        known = K if isinstance(self.kernel, Precomputed) else X
        return path.with_kernel(self.kernel, known)

    def cross(self, rows: Rows, test: Rows) -> Floats:
        """What `Path.pieces` takes: the kernel between rows and test points."""
        if self.kernel is None:
            return np.ascontiguousarray(self.X[test].T)
        if self._without_gram:
            return self.kernel.cross(self.X[rows], self.X[test])
        return self.gram[np.ix_(rows, test)]

    def inputs(self, rows: Rows, test: Rows) -> Floats:
        """The test points as the path on these rows takes them."""
        if isinstance(self.kernel, Precomputed):
            return self.gram[np.ix_(test, rows)]
        return self.X[test]


def _name(make: Any) -> str:
    return getattr(getattr(make, "func", make), "__name__", repr(make))


__all__ = ["Family"]
