"""Semi-supervised machines: the Laplacian SVM, and the sparse one that answers fast."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._checks import check_partly_labelled, check_positive, check_weights
from ..api import laplacian_spec, make_laplacian
from ..kernels import GraphGram, Kernel, make_kernel
from ..selection import Curve, Family, GraphFamily, Validation
from ._base import PathEstimator
from ._points import checked_points

Floats = NDArray[np.float64]


class _GraphMachine(ClassifierMixin, PathEstimator):
    """What both share: a graph, a kernel, one machine for each class against the rest."""

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    mu: float | None
    rho: float | None
    n_neighbors: int
    radius: float | None
    graph_weights: str
    normalized: bool
    graph: Any
    intercept: bool
    class_weight: Any

    @abstractmethod
    def _binary(
        self, gram: GraphGram, y: Floats, fold: dict[str, Any]
    ) -> tuple[Curve, Floats, float]:
        """Choose and learn one machine: its curve, coefficients of all points, the intercept.

        y is 1, 0, or -1 where there is no label.
        """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        validation: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Choose the parameter and learn the model.

        Parameters
        ----------
        X : array-like of shape (n, d), or (n, n) when kernel="precomputed"
            All points, with and without labels.
        y : array-like of n labels
            -1 marks points without a label; "" or None among strings.
        sample_weight : array-like of shape (n,) or None
            What the loss of labelled points counts. A weight of 0 hides a label.
        validation : (X, y) or None
            Labelled points to choose by, instead of folds of the labelled points of X.
        """
        with self._whole_or_nothing():
            points = self._first_inputs(X)
            labels, known = check_partly_labelled(y, len(points))
            check_classification_targets(labels[known])
            weight = check_weights(sample_weight, len(points))
            self.classes_ = np.unique(labels[known])
            gram = self._gram(points, known)
            if validation is not None and not (
                isinstance(validation, tuple | list) and len(validation) == 2
            ):
                raise ValueError(
                    f"validation must be a pair (X, y), got {type(validation).__name__}"
                )
            checked = None if validation is None else self._checked(*validation)
            self._learn_all(points, labels, known, weight, gram, checked)
        return self

    def _checked(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[Any]]:
        points = checked_points(self, X, first=False)
        return points, np.asarray(y)

    def _gram(self, points: Floats, known: Any) -> GraphGram:
        names = ("kernel", "gamma", "degree", "coef0")
        similar = {name: getattr(self, name) for name in names}
        self._kernel: Kernel = make_kernel(**similar, X=points, sample_weight=np.ones(len(points)))
        made = {
            "n_neighbors": self.n_neighbors,
            "radius": self.radius,
            "weights": self.graph_weights,
        }
        L = make_laplacian(points, known, self._kernel, made, self.graph, self.normalized)
        return GraphGram(self._kernel.gram(points), L)

    def _learn_all(
        self, points: Floats, labels: Any, known: Any, weight: Floats, gram: GraphGram, own: Any
    ) -> None:
        positive = self.classes_ if len(self.classes_) > 2 else self.classes_[1:]
        curves, coefs, levels = [], [], []
        for c in positive:
            y = np.where(known, (labels == c).astype(float), -1.0)
            fold: dict[str, Any] = {"X": points, "weight": weight}
            if own is not None:
                fold["validation"] = own[0], (own[1] == c).astype(float)
            curve, coef, b = self._binary(gram, y, fold)
            curves.append(curve)
            coefs.append(coef)
            levels.append(b)
        every = np.array(coefs)
        self.support_ = np.flatnonzero(every.any(axis=0))
        self.dual_coef_, self.intercept_ = every[:, self.support_], np.array(levels)
        pairwise = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if pairwise else points[self.support_]
        self.curves_, self.paths_ = curves, [curve.path for curve in curves]
        self.curve_, self.path_ = curves[0], self.paths_[0]
        f = gram.matrix[:, self.support_] @ self.dual_coef_.T + self.intercept_
        self.transduction_ = self._labels(f)

    def _labels(self, f: Floats) -> NDArray[Any]:
        if f.shape[1] == 1:
            return np.asarray(self.classes_[(f[:, 0] > 0).astype(np.intp)])
        return np.asarray(self.classes_[np.argmax(f, axis=1)])

    def _f(self, X: ArrayLike) -> Floats:
        points = self._inputs(X)
        if self._kernel.name == "precomputed":
            cross = points[:, self.support_]
        elif len(self.support_) == 0:
            cross = np.empty((len(points), 0))
        else:
            cross = self._kernel.cross(points, self.support_vectors_)
        return np.asarray(cross @ self.dual_coef_.T + self.intercept_)

    def decision_function(self, X: ArrayLike) -> Floats:
        """f(x) for each row; one column for each class where there are more than two."""
        check_is_fitted(self)
        f = self._f(X)
        return f[:, 0] if f.shape[1] == 1 else f

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels; f = 0 gives classes_[0] where there are two."""
        check_is_fitted(self)
        return self._labels(self._f(X))

    def _value(self, values: list[float]) -> Any:
        return values[0] if len(values) == 1 else np.array(values)

    def _walked(self, family: Family, own: Any) -> Curve:
        if own is not None:
            patience = getattr(self, "patience", None)
            return Validation(*own, patience=patience, scoring=self.scoring)(family)
        return self._criterion(None)(family)

    def _family(self, X: Any, y: Any, sample_weight: Any) -> Family:
        raise NotImplementedError

    def _learn(self, family: Family, solution: Any) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


class SparseLaplacianSVC(_GraphMachine):
    """Laplacian SVM with few kernel terms: chooses lambda1 on its exact path.

        min  sum_labelled w_i max(0, 1 - y_i (f(x_i) + b0)) + lambda2/2 |f|^2 + mu/2 f'L f
             + lambda1 |b|_1,                   f = sum_j b_j k(x_j, .) over all points

    Predictions evaluate the active terms alone. Several classes are each told from the rest.

    Parameters
    ----------
    lambda2, mu, rho, n_neighbors, radius, graph_weights, normalized, graph :
        As in `chemin.laplacian_svc_path`.
    kernel, gamma, degree, coef0, class_weight, intercept : as in `PathSVC`
        gamma="scale" is taken from all points, with and without labels.
    cv : int, splitter, list of (train, test), or Criterion
        Folds of the labelled points; models on a part of them still know all points. Not used where
        `fit` is given validation points.
    scoring : str, callable or None
        Default: accuracy.
    choose : "sparsest", "min" or "one_se"
        The fewest terms within `tolerance` of the smallest loss; the minimiser; the largest lambda1
        within one standard error.
    tolerance : float or None
        For choose="sparsest". 0: the sparsest of those with the smallest loss.
    patience : float or None
        With validation points: the walk ends where lambda1 is so many times smaller than where the
        loss was smallest, or where the loss is 0. None: go to the stop.
    start, stop, n_jobs, max_events, verbose : as in `PathSVC`

    Attributes
    ----------
    lambda1_ : float, or an array with one for each class
    classes_ : ndarray
    support_ : ndarray of int
        The points whose kernel terms are active, in any of the classes.
    support_vectors_ : ndarray of shape (terms, d)
    dual_coef_ : ndarray of shape (1 or classes, terms)
    intercept_ : ndarray
    transduction_ : ndarray of shape (n,)
        The labels that the model gives to all points of `fit`.
    curve_, path_ : Curve, Path
        Of the first class; `curves_` and `paths_` have all.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(120, noise=0.1, random_state=1)
    >>> labels = [c if i < 16 else -1 for i, c in enumerate(y)]
    >>> own = make_moons(100, noise=0.1, random_state=1)
    >>> model = SparseLaplacianSVC(gamma=5.0).fit(X, labels, validation=own)
    >>> print(len(model.support_) < 60, model.score(X, y) > 0.9)
    True True
    """

    def __init__(
        self,
        *,
        lambda2: float = 0.01,
        mu: float | None = None,
        rho: float | None = None,
        n_neighbors: int = 7,
        radius: float | None = None,
        graph_weights: str = "binary",
        normalized: bool = False,
        graph: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: Any = None,
        intercept: bool = True,
        cv: Any = 5,
        scoring: Any = None,
        choose: str = "sparsest",
        tolerance: float | None = 0.0,
        patience: float | None = 10.0,
        start: float | None = None,
        stop: float | None = None,
        n_jobs: int | None = None,
        max_events: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lambda2 = lambda2
        self.mu = mu
        self.rho = rho
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph_weights = graph_weights
        self.normalized = normalized
        self.graph = graph
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.intercept = intercept
        self.cv = cv
        self.scoring = scoring
        self.choose = choose
        self.tolerance = tolerance
        self.patience = patience
        self.start = start
        self.stop = stop
        self.n_jobs = n_jobs
        self.max_events = max_events
        self.verbose = verbose

    def _learn_all(self, *args: Any) -> None:
        self._chosen: list[float] = []
        super()._learn_all(*args)
        self.lambda1_ = self._value(self._chosen)
        del self._chosen

    def _binary(
        self, gram: GraphGram, y: Floats, fold: dict[str, Any]
    ) -> tuple[Curve, Floats, float]:
        spec = laplacian_spec("lambda1", 0.1, self.lambda2, self.mu, self.rho, self.intercept)
        options = {k: spec[k] for k in ("lambda2", "rho", "intercept")} | self._walk_options()
        options |= {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0")}
        family = GraphFamily(
            fold["X"],
            y,
            laplacian=gram.laplacian,
            gram=gram,
            sample_weight=fold["weight"],
            class_weight=self.class_weight,
            **options,
        )
        curve = self._walked(family, fold.get("validation"))
        value = curve.choose(self.choose, self.tolerance)
        self._chosen.append(value)
        s = curve.path.at(value)
        return curve, s.coef, s.intercept


class LaplacianSVC(_GraphMachine):
    """Laplacian SVM without an L1 penalty: chooses lambda2 on its exact path, at a fixed rho.

        min  sum_labelled w_i max(0, 1 - y_i (f(x_i) + b0)) + lambda2/2 (|f|^2 + rho f'L f)

    On the labelled points this is the C-SVM with the kernel K (I + rho L K)^-1, so its path in
    lambda2 is that of the C-SVM. f has a kernel term for every point, with or without a label:
    `SparseLaplacianSVC` has few.

    Parameters
    ----------
    lambda2 : float, > 0, or None
        None: chosen by cross-validation on the labelled points.
    rho : float, >= 0
        mu/lambda2.
    choose, tolerance, cv, scoring : as in `PathSVC`

    The other parameters and attributes are those of `SparseLaplacianSVC`.

    Attributes
    ----------
    lambda2_ : float, or an array with one for each class

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(120, noise=0.1, random_state=1)
    >>> labels = [c if i < 16 else -1 for i, c in enumerate(y)]
    >>> bool(LaplacianSVC(gamma=5.0).fit(X, labels).score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        *,
        lambda2: float | None = None,
        rho: float = 100.0,
        n_neighbors: int = 7,
        radius: float | None = None,
        graph_weights: str = "binary",
        normalized: bool = False,
        graph: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: Any = None,
        intercept: bool = True,
        cv: Any = 5,
        scoring: Any = None,
        choose: str = "min",
        tolerance: float | None = None,
        start: float | None = None,
        stop: float | None = None,
        n_jobs: int | None = None,
        max_events: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.lambda2 = lambda2
        self.rho = rho
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph_weights = graph_weights
        self.normalized = normalized
        self.graph = graph
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.intercept = intercept
        self.cv = cv
        self.scoring = scoring
        self.choose = choose
        self.tolerance = tolerance
        self.start = start
        self.stop = stop
        self.n_jobs = n_jobs
        self.max_events = max_events
        self.verbose = verbose

    def _learn_all(self, *args: Any) -> None:
        self._chosen: list[float] = []
        super()._learn_all(*args)
        self.lambda2_ = self._value(self._chosen)
        del self._chosen

    def _binary(
        self, gram: GraphGram, y: Floats, fold: dict[str, Any]
    ) -> tuple[Curve, Floats, float]:
        rho = laplacian_spec("lambda2", 0.1, 1.0, None, self.rho, self.intercept)["rho"]
        known = np.flatnonzero(y >= 0)
        T = gram.expansion(known, rho)
        deformed = gram.matrix[known] @ T
        options: dict[str, Any] = self._walk_options()
        if self.lambda2 is not None:
            held = check_positive(self.lambda2, "lambda2")
            options |= {"start": None, "stop": min(held, options["stop"] or held)}
        family = Family(
            "svc",
            0.5 * (deformed + deformed.T),
            y[known],
            sample_weight=fold["weight"][known],
            kernel="precomputed",
            intercept=self.intercept,
            class_weight=self.class_weight,
            **options,
        )
        curve = self._curve(family, fold, T)
        value = curve.choose(self.choose, self.tolerance) if self.lambda2 is None else self.lambda2
        self._chosen.append(value)
        s = curve.path.at(value)
        return curve, T @ s.coef, s.intercept

    def _curve(self, family: Family, fold: dict[str, Any], T: Floats) -> Curve:
        own = fold.get("validation")
        if own is not None:  # the deformed kernel between those points and the labelled ones
            points, y = own
            cross = points if self._kernel.name == "precomputed" else None
            cross = self._kernel.cross(points, fold["X"]) if cross is None else cross
            return self._walked(family, (cross @ T, y))
        if self.lambda2 is not None:  # nothing is chosen: the training points tell the loss
            return Validation(family.X, family.y, patience=None, scoring=self.scoring)(family)
        return self._walked(family, None)


__all__ = ["LaplacianSVC", "SparseLaplacianSVC"]
