"""Multiple kernel learning: a machine and the weights of its kernels, solved together.

    min over d >= 0, |d|_p <= 1, and f:   lambda/2 |f|²_d + sum_i w_i L_i(f(x_i) + b)

with |f|_d the norm in the space of K_d = sum_m d_m K_m. Several classes have one machine each, the
class against the rest, and share the weights: the sum of their objectives is minimised.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._checks import (
    check_array_memory,
    check_positive,
    check_target,
    check_weights,
    is_word,
    many_class_weights,
)
from ..kernels import Kernel, Scaled, Sum, kernel_alignment, make_kernel
from ..selection.classes import Coding, first_largest
from ..selection.criteria import check_whole
from ._labels import numbered
from ._points import checked_points
from ._weighing import NEGLIGIBLE, Machine, Place, Weighing

Floats = NDArray[np.float64]

WIDTHS = np.logspace(-2, 2, 9)
"""Of the default kernels: RBF with gamma = these times 1 / (d Var(X))."""


class _MKL(BaseEstimator):
    """What the classifier and the regressor share: kernels, weights, predictions."""

    kernels: Any
    C: float
    norm: float
    weighting: str
    normalise: bool
    intercept: bool
    tol: float
    max_iter: int

    @abstractmethod
    def _machine(self, y: Floats, weight: Floats) -> Machine:
        """The machine to weigh kernels for."""

    def _fit(self, points: Floats, targets: Floats, weight: Floats) -> Self:
        """Learn; `targets` has a column for each machine."""
        self._check()
        used = weight > 0
        parts = self._parts(points, weight)
        check_array_memory(len(parts) * int(used.sum()), int(used.sum()), "the stack of kernels")
        matrices = np.stack([part.gram(points[used]) for part in parts])
        scales = np.array([K.diagonal().mean() if self.normalise else 1.0 for K in matrices])
        if np.any(scales <= 0):
            raise ValueError(
                f"kernels[{int(scales.argmin())}] is 0 at all points, expected one that is not."
            )
        matrices /= scales[:, None, None]
        machines = [self._machine(y[used], weight[used]) for y in targets.T]
        weighing = Weighing(matrices, machines, self.norm, self.intercept)
        place, self.n_iter_ = self._weigh(weighing, targets[used])
        self.weights_ = np.where(place.d > NEGLIGIBLE * place.d.max(), place.d, 0.0)
        self.gap_ = place.left / abs(place.value) if place.value else place.left
        self.objective_ = place.value
        if self.weighting == "mkl" and self.gap_ > self.tol:
            warnings.warn(
                f"the relative duality gap is {self.gap_:.2g} after {self.n_iter_} steps, above "
                f"tol={self.tol:g}: raise max_iter, or tol where round-off allows no less",
                ConvergenceWarning,
                stacklevel=3,
            )
        active = np.flatnonzero(self.weights_)
        share = self.weights_ / scales
        scaled: list[Kernel] = [Scaled(parts[m], float(share[m])) for m in active]
        self.kernel_ = reduce(Sum, scaled)
        self._learn(points, used, place)
        return self

    def _weigh(self, weighing: Weighing, targets: Floats) -> tuple[Place, int]:
        M = len(weighing.matrices)
        if self.weighting == "mkl" and M > 1:
            return weighing.descend(self.tol, self.max_iter)
        d = np.ones(M)
        if self.weighting == "alignment":
            ideal = targets @ targets.T
            d = np.array([max(kernel_alignment(K, ideal), 0.0) for K in weighing.matrices])
            d = d if d.any() else np.ones(M)
        return weighing.at(d / np.linalg.norm(d, self.norm)), 0

    def _learn(self, points: Floats, used: Any, place: Place) -> None:
        coef = np.zeros((len(place.solved), len(points)))
        coef[:, used] = [one.coef for one in place.solved]
        self.support_ = np.flatnonzero(coef.any(axis=0))
        self.dual_coef_ = coef[:, self.support_]
        self.support_vectors_ = points[self.support_]
        self.intercept_ = np.concatenate([one.columns.intercept for one in place.solved])
        self.lambda_, self.C_ = 1.0 / float(self.C), float(self.C)

    def _check(self) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter", 1)
        norm = check_positive(self.norm, "norm", inf=True)
        if norm < 1.0:
            raise ValueError(f"norm must be a number >= 1, got {self.norm!r}.")
        if np.isinf(norm):
            raise ValueError('norm must be finite: for equal weights use weighting="uniform".')
        known = ("mkl", "uniform", "alignment")
        if not is_word(self.weighting, known):
            raise ValueError(
                f"weighting must be one of {', '.join(known)}, got {self.weighting!r}."
            )

    def _parts(self, points: Floats, weight: Floats) -> list[Kernel]:
        if self.kernels is None:
            scale: Any = make_kernel("rbf", X=points, sample_weight=weight)
            return [make_kernel("rbf", gamma=width * scale.gamma) for width in WIDTHS]
        if isinstance(self.kernels, (str, Kernel)) or not isinstance(self.kernels, Sequence):
            raise ValueError(f"kernels must be a list of kernels, got {self.kernels!r}.")
        if len(self.kernels) == 0:
            raise ValueError("kernels must have one kernel at least, got an empty list.")
        parts = [make_kernel(kernel, X=points, sample_weight=weight) for kernel in self.kernels]
        if any(part.name == "precomputed" for part in parts):
            raise ValueError("kernels must be kernels of points, got 'precomputed'.")
        if len({part.of_strings for part in parts}) > 1:
            raise ValueError(
                "kernels must take the same kind of points, but some of them take strings and "
                f"others take numbers: {self.kernels!r}."
            )
        return parts

    def _points(self, X: ArrayLike, first: bool) -> Floats:
        listed = self.kernels if isinstance(self.kernels, Sequence) else []
        strings = [k for k in listed if isinstance(k, Kernel) and k.of_strings]
        if strings:
            return strings[0].points(X)
        points: Floats = checked_points(self, X, first=first)
        return points

    def _f(self, X: ArrayLike) -> Floats:
        """f of each machine, one column each."""
        check_is_fitted(self)
        points = self._points(X, first=False)
        if len(self.support_) == 0:
            return np.tile(self.intercept_, (len(points), 1))
        f = self.kernel_.combine(points, self.support_vectors_, self.dual_coef_.T)
        return np.asarray(f + self.intercept_)

    @property
    def _kernel(self) -> Kernel:
        return self.kernel_


class MKLClassifier(ClassifierMixin, _MKL):
    """C-SVM with a combination of kernels that is learned with it.

        min over d >= 0, |d|_p <= 1:   lambda/2 |f|²_d + sum_i w_i max(0, 1 - y_i (f(x_i) + b))

    with `|f|_d` the norm of K_d = sum_m d_m K_m and lambda = 1/C. Weights and machine are solved
    together, to a duality gap that is reported. Several classes have one machine each, the class
    against the rest, with the same weights of kernels: the sum of their objectives is minimised.

    Parameters
    ----------
    kernels : list of kernels or None
        Objects of `chemin.kernels`, names or functions. None: nine RBF kernels from wide to narrow.
    C : float > 0
    norm : float >= 1
        p. 1 makes most weights zero, larger values spread them.
    weighting : "mkl", "uniform" or "alignment"
        Learned; all equal; by the centred alignment of each kernel with the labels.
    normalise : bool
        Whether each kernel is divided by its mean self-similarity first.
    class_weight : dict, "balanced" or None
    intercept : bool
    tol : float
        The relative duality gap to reach.
    max_iter : int
        Newton steps at the most.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
    gap_ : float
        The relative duality gap, from the kernel matrices and the labels.
    kernel_ : Kernel
        The combination, kernels of weight 0 left out.
    objective_, n_iter_, lambda_, C_
    support_, support_vectors_, dual_coef_, intercept_, classes_
        As in sklearn.svm.SVC; of several classes one row and one intercept a class.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from chemin.kernels import RBF, Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier([Linear()] + [RBF(0.1).on(j) for j in range(5)]).fit(X, y)
    >>> bool(model.gap_ <= 1e-6)
    True

    References
    ----------
    Rakotomamonjy, Bach, Canu, Grandvalet (2008). SimpleMKL. JMLR 9.
    Kloft, Brefeld, Sonnenburg, Zien (2011). lp-norm multiple kernel learning. JMLR 12.
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        C: float = 1.0,
        norm: float = 1.0,
        weighting: str = "mkl",
        normalise: bool = True,
        class_weight: Any = None,
        intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.norm = norm
        self.weighting = weighting
        self.normalise = normalise
        self.class_weight = class_weight
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the weights of the kernels and the machine.

        Parameters
        ----------
        X : array-like of shape (n, d), or strings for kernels of strings
        y : array-like of n labels, two classes or more
        sample_weight : array-like of shape (n,) or None
        """
        points = self._points(X, first=True)
        numbers, self.classes_ = numbered(y, len(points))
        weight = check_weights(sample_weight, len(points))
        weight = many_class_weights(self.class_weight, numbers, self.classes_, weight)
        gone = np.setdiff1d(np.arange(len(self.classes_)), numbers[weight > 0])
        if len(gone):
            raise ValueError(
                f"all rows of class {self.classes_[gone].tolist()[0]!r} have weight 0, expected a "
                "weight above 0 in each class: leave these rows out."
            )
        if len(self.classes_) == 2:
            signs = np.where(numbers == 1, 1.0, -1.0)[:, None]
        else:
            coding = Coding(len(self.classes_), "ovr")
            signs = np.column_stack([coding.signs(k, numbers) for k in range(len(coding))])
        return self._fit(points, signs, weight)

    def _machine(self, y: Floats, weight: Floats) -> Machine:
        return Machine("svc", y, weight, 1.0 / self.C, intercept=self.intercept)

    def decision_function(self, X: ArrayLike) -> Floats:
        """f(x) for each row, positive for classes_[1]; of several classes one column each."""
        f = self._f(X)
        return f if len(self.classes_) > 2 else f[:, 0]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels; f = 0 gives classes_[0]. Of several classes that with the largest f."""
        f = self._f(X)
        if len(self.classes_) > 2:
            return np.asarray(self.classes_[first_largest(f)])
        return np.asarray(self.classes_[(f[:, 0] > 0).astype(np.intp)])


class MKLRegressor(RegressorMixin, _MKL):
    """epsilon-SVR with a combination of kernels that is learned with it.

        min over d >= 0, |d|_p <= 1:   lambda/2 |f|²_d + sum_i w_i max(0, |y_i - f(x_i) - b| - eps)

    Parameters
    ----------
    epsilon : float >= 0
        Half the width of the tube, in units of y.
    kernels, C, norm, weighting, normalise, intercept, tol, max_iter : as in `MKLClassifier`

    Attributes
    ----------
    weights_, kernel_, gap_ : as in `MKLClassifier`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from chemin.kernels import RBF
    >>> X, y = load_diabetes(return_X_y=True)
    >>> kernels = [RBF(100.0).on(j) for j in range(10)]
    >>> model = MKLRegressor(kernels, C=10.0, epsilon=20.0).fit(X[:200], y[:200])
    >>> bool(model.gap_ <= 1e-6)
    True
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        norm: float = 1.0,
        weighting: str = "mkl",
        normalise: bool = True,
        intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.norm = norm
        self.weighting = weighting
        self.normalise = normalise
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the weights of the kernels and the machine.

        Parameters
        ----------
        X : array-like of shape (n, d), or strings for kernels of strings
        y : array-like of n numbers
        sample_weight : array-like of shape (n,) or None
        """
        points = self._points(X, first=True)
        target = check_target(y, len(points))
        return self._fit(points, target[:, None], check_weights(sample_weight, len(points)))

    def _machine(self, y: Floats, weight: Floats) -> Machine:
        options = {"intercept": self.intercept, "epsilon": self.epsilon}
        return Machine("svr", y, weight, 1.0 / self.C, **options)

    def predict(self, X: ArrayLike) -> Floats:
        """f(x) for each row."""
        return self._f(X)[:, 0]
