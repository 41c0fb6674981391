"""The perceptron: linear, in its primal and its dual form, and with a kernel."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, is_word
from ..api import svc_path
from ..kernels import Kernel, Linear, make_kernel
from ..selection.criteria import check_whole
from ._labels import two_classes
from ._points import checked_points

Floats = NDArray[np.float64]


class _Mistakes:
    """The rule of Rosenblatt: on y_i f(x_i) <= 0, point i is added with its sign.

        f <- f + y_i k(x_i, .) + y_i R²,      R² = max_i k(x_i, x_i)

    f at all points is kept, so that the next mistake of a pass is found by one look at a vector.
    """

    def __init__(self, signs: Floats, radius: float) -> None:
        self.signs, self.step = signs, radius**2
        self.f, self.bias = np.zeros(len(signs)), 0.0
        self.counts = np.zeros(len(signs), dtype=np.intp)
        self.sequence: list[int] = []

    def next(self, first: int) -> int | None:
        """The first mistake from a place on; None: there is none to the end of the pass."""
        wrong = np.flatnonzero(self.signs[first:] * (self.f[first:] + self.bias) <= 0)
        return first + int(wrong[0]) if len(wrong) else None

    def learn(self, i: int, similarity: Floats) -> None:
        """Add point i, with its similarity to all points."""
        self.f += self.signs[i] * similarity
        self.bias += self.signs[i] * self.step
        self.counts[i] += 1
        self.sequence.append(i)


class _Perceptron(ClassifierMixin, BaseEstimator):
    """What both perceptrons share: the passes, what is counted, the bound."""

    max_iter: int
    averaged: bool

    @abstractmethod
    def _kernel_of(self, X: Floats) -> Kernel:
        """The kernel, which is linear where there is none."""

    @abstractmethod
    def _similarities(self, X: Floats) -> tuple[float, Callable[[int], Floats]]:
        """R, and for a point i its similarity k(x_i, .) to all points."""

    def _fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        check_whole(self.max_iter, "max_iter", 1)
        check_flag(self.averaged, "averaged")
        points = self._points(X, first=True)
        signs, self.classes_ = two_classes(y, len(points))
        self._kernel = self._kernel_of(points)
        self.radius_, similarity = self._similarities(points)
        rule = _Mistakes(signs, self.radius_)
        average = self._passes(rule, similarity)
        self.mistakes_ = np.array(rule.sequence, dtype=np.intp)
        self.n_mistakes_ = len(rule.sequence)
        self._data = (points, signs)
        counts, bias = average if self.averaged else (rule.counts, rule.bias)
        self._learn(points, signs * counts, float(bias))
        if not self.converged_:
            self._warn()
        return self

    def _points(self, X: ArrayLike, first: bool) -> Floats:
        points: Floats = checked_points(self, X, first=first)
        return points

    def _passes(self, rule: _Mistakes, similarity: Callable[[int], Floats]) -> tuple[Floats, float]:
        """Walk through the points until a pass has no mistake; counts and bias, averaged over all
        points looked at, as they are after each.
        """
        n = len(rule.signs)
        total, weight, self.converged_ = np.zeros(n), 0.0, False
        for passed in range(1, self.max_iter + 1):
            before, at, i = len(rule.sequence), 0, rule.next(0)
            while i is not None:
                total += (i - at) * rule.counts
                weight += (i - at) * rule.bias
                rule.learn(i, similarity(i))
                at, i = i, rule.next(i + 1)
            total += (n - at) * rule.counts
            weight += (n - at) * rule.bias
            self.n_iter_ = passed
            if len(rule.sequence) == before:
                self.converged_ = True
                break
        steps = n * self.n_iter_
        return total / steps, weight / steps

    def _learn(self, points: Floats, coef: Floats, bias: float) -> None:
        self.support_ = np.flatnonzero(coef)
        self.dual_coef_ = coef[None, self.support_]
        self.support_vectors_ = points[self.support_]
        self.intercept_ = np.array([bias])

    def _warn(self) -> None:
        warnings.warn(
            f"the perceptron still made mistakes after max_iter={self.max_iter} passes over the "
            "data: they do not separate, or not by a margin that is wide enough; take more passes, "
            "another kernel, or PathSVC",
            ConvergenceWarning,
            stacklevel=4,
        )

    def mistake_bound(self) -> float:
        """The bound (2 R / gamma)² on the number of mistakes; infinite where data do not separate.

        gamma is the largest geometric margin of all separators, that of the hard-margin support
        vector machine: the end of its path.
        """
        check_is_fitted(self)
        points, signs = self._data
        gamma = hard_margin(self._kernel, points, signs)
        return float((2.0 * self.radius_ / gamma) ** 2) if gamma > 0 else np.inf

    def decision_function(self, X: ArrayLike) -> Floats:
        """f(x) for each row; positive for classes_[1]."""
        check_is_fitted(self)
        points = self._points(X, first=False)
        if len(self.support_) == 0:
            return np.full(len(points), self.intercept_[0])
        f = self._kernel.combine(points, self.support_vectors_, self.dual_coef_.T)
        return np.asarray(f[:, 0] + self.intercept_[0])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels; f = 0 gives classes_[0]."""
        second = (self.decision_function(X) > 0).astype(np.intp)
        return np.asarray(self.classes_[second])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class RosenblattPerceptron(_Perceptron):
    """The perceptron of Rosenblatt, in its primal or its dual form.

        on y_i (w'x_i + b) <= 0:      w <- w + y_i x_i,      b <- b + y_i R²,      R = max |x_i|

    The dual form counts alpha_i, how often point i was mistaken: w = sum_i alpha_i y_i x_i. Both
    make the same mistakes in the same order, (2 R / gamma)² of them at most where a separator with
    margin gamma exists.

    Parameters
    ----------
    form : "primal" or "dual"
    averaged : bool
        Whether w and b are averaged over all points looked at, which is steadier where the data do
        not separate.
    max_iter : int
        Passes over the data.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        w and b.
    dual_coef_, support_, support_vectors_ : ndarray
        y_i alpha_i, and the points mistaken at least once.
    mistakes_ : ndarray of int
        The points mistaken, in their order.
    n_mistakes_, n_iter_, converged_, radius_
        Their number, the passes, whether the last pass had no mistake, and R.
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> model = RosenblattPerceptron().fit([[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0]], [1, 1, 0])
    >>> model.n_mistakes_ <= model.mistake_bound()
    True

    References
    ----------
    Rosenblatt (1958). The perceptron. Novikoff (1962). On convergence proofs for perceptrons.
    """

    def __init__(
        self, *, form: str = "primal", averaged: bool = False, max_iter: int = 1000
    ) -> None:
        self.form = form
        self.averaged = averaged
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Walk through the points, over and over, until none is mistaken.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of n labels, two classes
        """
        if not is_word(self.form, ("primal", "dual")):
            raise ValueError(f"form must be 'primal' or 'dual', got {self.form!r}.")
        return self._fit(X, y)

    def _kernel_of(self, X: Floats) -> Kernel:
        return Linear()

    def _similarities(self, X: Floats) -> tuple[float, Callable[[int], Floats]]:
        radius = float(np.sqrt(np.einsum("ij,ij->i", X, X).max()))

        def products(i: int) -> Floats:
            return X @ X[i]

        # Rows of X X' that are kept, each by the very sums of the primal form: a matrix product
        # would round others, and where y f is 0 the two forms would not make the same mistakes.
        return radius, cache(products) if self.form == "dual" else products

    @property
    def coef_(self) -> Floats:
        """w, with `f(x) = x'coef_ + intercept_`."""
        check_is_fitted(self)
        return np.asarray(self.dual_coef_ @ self.support_vectors_)


class KernelPerceptron(_Perceptron):
    """The perceptron with a kernel.

        on y_i f(x_i) <= 0:      alpha_i <- alpha_i + 1,      b <- b + y_i R²

    with f(x) = sum_i alpha_i y_i k(x_i, x) + b and R² = max_i k(x_i, x_i).

    Parameters
    ----------
    kernel, gamma, degree, coef0 : as in sklearn.svm.SVC, or a kernel of `chemin.kernels`
    averaged : bool
        Whether alpha and b are averaged over all points looked at.
    max_iter : int
        Passes over the data.

    The attributes are those of `RosenblattPerceptron`, without `coef_`.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(60, factor=0.3, noise=0.05, random_state=0)
    >>> KernelPerceptron(kernel="poly", degree=2).fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        averaged: bool = False,
        max_iter: int = 1000,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.averaged = averaged
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Walk through the points, over and over, until none is mistaken.

        Parameters
        ----------
        X : array-like of shape (n, d), or strings for a kernel of strings
        y : array-like of n labels, two classes
        """
        return self._fit(X, y)

    def _points(self, X: ArrayLike, first: bool) -> Floats:
        if isinstance(self.kernel, Kernel) and self.kernel.of_strings:
            return self.kernel.points(X)
        return super()._points(X, first)

    def _kernel_of(self, X: Floats) -> Kernel:
        kernel = make_kernel(
            self.kernel, gamma=self.gamma, degree=self.degree, coef0=self.coef0, X=X
        )
        if kernel.name == "precomputed":
            raise ValueError(
                "kernel must be a kernel of points, got 'precomputed': pass the kernel itself."
            )
        return kernel

    def _similarities(self, X: Floats) -> tuple[float, Callable[[int], Floats]]:
        K = self._kernel.gram(X)
        return float(np.sqrt(K.diagonal().max())), K.__getitem__


def hard_margin(kernel: Kernel, X: Floats, signs: Floats) -> float:
    """The largest geometric margin of all separators; 0 where the data do not separate.

    It is 1 / |f| at the end of the path of the support vector machine, at lambda = 0.
    """
    path = svc_path(X, signs, kernel=kernel, stop=0.0)
    try:
        end = path.at(path.stop)
    except ValueError:  # f grows for ever: no function fits these data without loss
        return 0.0
    f = path.decision_function(X, path.stop)
    if not path.complete or (signs * f).min() <= 0:
        return 0.0
    squared = float(end.coef @ (f - end.intercept))
    # The smallest functional margin is 1 but for round-off.
    return float((signs * f).min() / np.sqrt(squared))
