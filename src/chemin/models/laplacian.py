"""Semi-supervised machines: the Laplacian SVM, and the sparse one that answers fast."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from functools import partial
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from .._checks import (
    check_partly_labelled,
    check_positive,
    check_weights,
    many_class_weights,
)
from ..api import laplacian_spec, make_laplacian
from ..kernels import GraphGram, Kernel, make_kernel
from ..selection import (
    ClassFamily,
    Criterion,
    CrossValidation,
    Curve,
    Family,
    GraphClassFamily,
    GraphFamily,
    Validation,
)
from ..selection.graph import InStages
from ._base import PathEstimator
from ._points import checked_points

Floats = NDArray[np.float64]
RHO = 100.0  # mu/lambda2, where neither is given


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
        points, labels = checked_points(self, X, first=False), np.asarray(y)
        if labels.shape != (len(points),):
            raise ValueError(
                f"validation must have one label for each of its {len(points)} points, got labels "
                f"of shape {labels.shape}"
            )
        known = self.classes_.tolist()
        for label in labels.tolist():
            if label not in known:
                raise ValueError(f"validation has the label {label!r}, expected one of {known}")
        return points, labels

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

    @abstractmethod
    def _learn_all(
        self, points: Floats, labels: Any, known: Any, weight: Floats, gram: GraphGram, own: Any
    ) -> None:
        """Choose and learn; `own` are points to choose by, and their labels."""

    def _keep(self, points: Floats, gram: GraphGram, coefs: list[Floats], b: list[float]) -> None:
        """Set what the model predicts with: coefficients of all points, and intercepts."""
        every = np.array(coefs)
        self.support_ = np.flatnonzero(every.any(axis=0))
        self.dual_coef_, self.intercept_ = every[:, self.support_], np.array(b)
        pairwise = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if pairwise else points[self.support_]
        f = gram.matrix[:, self.support_] @ self.dual_coef_.T + self.intercept_
        self.transduction_ = self._labels(f)

    def _plain(
        self, gram: GraphGram, T: Floats, y: Any, known: Any, weight: Floats, **options: Any
    ) -> Family:
        """The Laplacian SVM as a C-SVM on the labelled points, with their labels y; T makes
        coefficients of all points of its own.
        """
        deformed = gram.matrix[known] @ T
        several = len(np.unique(y)) > 2
        kind: Any = partial(ClassFamily, coding="ovr") if several else Family
        return cast(
            Family,
            kind(
                "svc",
                0.5 * (deformed + deformed.T),
                y,
                sample_weight=weight[known],
                kernel="precomputed",
                intercept=self.intercept,
                **options,
            ),
        )

    def _splits(self, family: Family) -> tuple[Criterion, Criterion]:
        """The criterion on all points, and the same on the labelled ones alone.

        Lists of splits name rows of X; folds are drawn once for both.
        """
        criterion = self._criterion(None)
        if type(criterion) is not CrossValidation:
            return criterion, criterion
        known, given = family.used, {"scoring": criterion.scoring, "n_jobs": criterion.n_jobs}
        pairs = [(trial.train, trial.test) for trial in criterion.trials(family)]
        among = [tuple(np.searchsorted(known, part) for part in pair) for pair in pairs]
        return CrossValidation(pairs, **given), CrossValidation(among, **given)

    def _own(self, own: Any, points: Floats, T: Floats, patience: Any = None) -> Validation:
        """Points to choose by, as the plain model takes them: the deformed kernel."""
        X, y = own
        cross = X if self._kernel.name == "precomputed" else self._kernel.cross(X, points)
        return Validation(cross @ T, y, patience=patience, scoring=self.scoring)

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

    Predictions evaluate the active terms alone. Of several classes each is told from the rest, all
    at one lambda1, and the largest f counts.

    Parameters
    ----------
    lambda2 : float, > 0, or None
        None: the one with which the model without an L1 penalty does best, by the same folds or
        validation points. The walk ends where the sparse model does as well.
    mu, rho : float, >= 0, or None
        One of them, or none; rho is mu/lambda2, and all that can be given where lambda2 is None.
        Default: rho = 100; mu = 1 where lambda2 is given.
    n_neighbors, radius, graph_weights, normalized, graph : as in `chemin.laplacian_svc_path`
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
        Walks end where lambda1 is so many times smaller than where the loss was smallest, and
        smaller than without a model, or where it is 0. None: all go to the stop.
    start, stop, n_jobs, max_events, verbose : as in `PathSVC`

    Attributes
    ----------
    lambda1_, lambda2_ : float
    classes_ : ndarray
    support_ : ndarray of int
        The points whose kernel terms are active, in any of the classes.
    support_vectors_ : ndarray of shape (terms, d)
    dual_coef_ : ndarray of shape (1 or classes, terms)
    intercept_ : ndarray
    transduction_ : ndarray of shape (n,)
        The labels that the model gives to all points of `fit`.
    curve_ : Curve
    path_ : Path, or Paths where there are several classes
        `path_[k]` is that of class k against the rest.
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
        lambda2: float | None = None,
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
        patience: float | None = 100.0,
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

    def _learn_all(
        self, points: Floats, labels: Any, known: Any, weight: Floats, gram: GraphGram, own: Any
    ) -> None:
        options: dict[str, Any] = self._walk_options() | {"intercept": self.intercept}
        options |= {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0")}
        options |= {"laplacian": gram.laplacian, "gram": gram, "sample_weight": weight}
        options |= {"class_weight": self.class_weight} | self._penalties()
        kind = GraphClassFamily if len(self.classes_) > 2 else GraphFamily
        family: Any = kind(points, labels, **options)
        target, folds, among = None, None, None
        if own is None:
            folds, among = self._splits(family)
        if self.lambda2 is None:
            lambda2, target = self._of_plain(family, points, gram, own, among)
            family = family.at(lambda2=lambda2)
        self.lambda2_ = family.spec["lambda2"]
        self.curve_ = self._walked(family, own, folds, target)
        self.path_ = self.curve_.path
        self.lambda1_ = self.curve_.choose(self.choose, self.tolerance)
        found: Any = self.path_.at(self.lambda1_)
        found = found if isinstance(found, list) else [found]
        self._keep(points, gram, [s.coef for s in found], [s.intercept for s in found])
        if len(self.support_) == 0:
            warnings.warn(
                f"the model has no kernel term and gives all points one label: no model of the "
                f"path has a {self.curve_.loss} below {self.curve_.minimum:.4g}; more labels, "
                "class_weight='balanced' or scoring='balanced_accuracy' may help",
                stacklevel=4,
            )

    def _penalties(self) -> dict[str, float]:
        """lambda2 and rho; where lambda2 is to be chosen rho alone counts."""
        lambda2, rho = self.lambda2, self.rho
        if lambda2 is None:
            if self.mu is not None and check_positive(self.mu, "mu", zero=True) > 0:
                raise ValueError(
                    f"mu must be None where lambda2 is chosen, got {self.mu!r}: give rho = "
                    "mu/lambda2, or lambda2 as well"
                )
            lambda2, rho = 1.0, RHO if rho is None and self.mu is None else rho
        spec = laplacian_spec("lambda1", 0.1, lambda2, self.mu, rho, self.intercept)
        return {name: spec[name] for name in ("lambda2", "rho")}

    def _of_plain(
        self, family: GraphFamily, points: Floats, gram: GraphGram, own: Any, among: Any
    ) -> tuple[float, float]:
        """The lambda2 with which the model without an L1 penalty is best, and its loss there."""
        known = family.used
        options = {"class_weight": self.class_weight, "verbose": self.verbose}
        rho = family.spec["rho"]
        T = gram.expansion(known, rho)
        plain = self._plain(gram, T, family.y[known], known, family.weight, **options)
        criterion = among if own is None else self._own(own, points, T)
        curve = criterion(plain)
        return curve.minimiser, curve.minimum

    def _walked(self, family: GraphFamily, own: Any, folds: Any, target: float | None) -> Curve:
        if own is not None:
            scoring = self.scoring
            return Validation(*own, target=target, patience=self.patience, scoring=scoring)(family)
        if self.patience is None or family.stop is not None:
            return cast(Curve, folds(family))
        patience = check_positive(self.patience, "patience")
        return InStages(folds, family, patience, target).curve()


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
    curve_, path_ : Curve, Path
        Of the first class; `curves_` and `paths_` have all.

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

    def _learn_all(
        self, points: Floats, labels: Any, known: Any, weight: Floats, gram: GraphGram, own: Any
    ) -> None:
        rows, several = np.flatnonzero(known), len(self.classes_) > 2
        positive = self.classes_ if several else self.classes_[1:]
        balance = self.class_weight
        if several and isinstance(balance, dict):  # one against the rest has no names for them
            numbers, cost = np.searchsorted(self.classes_, labels[rows]), weight.copy()
            cost[rows] = many_class_weights(balance, numbers, self.classes_, weight[rows])
            weight, balance = cost, None
        rho = laplacian_spec("lambda2", 0.1, 1.0, None, self.rho, self.intercept)["rho"]
        options = self._ends() | {"class_weight": balance}
        T, folds = gram.expansion(rows, rho), self._folds(rows, len(points))
        curves, values, coefs, levels = [], [], [], []
        for c in positive:
            y, mine = labels[rows], own
            if several:
                y, mine = y == c, own and (own[0], own[1] == c)
            family = self._plain(gram, T, y, rows, weight, **options)
            curve = self._criterion_of(family, points, T, mine, folds)(family)
            value = self.lambda2
            if value is None:
                value = curve.choose(self.choose, self.tolerance)
            s = curve.path.at(value)
            curves.append(curve)
            values.append(value)
            coefs.append(T @ s.coef)
            levels.append(s.intercept)
        self.lambda2_ = values[0] if len(values) == 1 else np.array(values)
        self.curves_, self.paths_ = curves, [curve.path for curve in curves]
        self.curve_, self.path_ = curves[0], self.paths_[0]
        self._keep(points, gram, coefs, levels)

    def _ends(self) -> dict[str, Any]:
        """How far the path is walked: to lambda2, where it is given."""
        options: dict[str, Any] = self._walk_options()
        if self.lambda2 is not None:
            held = check_positive(self.lambda2, "lambda2")
            options |= {"start": None, "stop": min(held, options["stop"] or held)}
        return options

    def _folds(self, rows: Any, n: int) -> Criterion:
        """The criterion; lists of splits name rows of X, and it sees the labelled ones alone."""
        cv, listed = self.cv, isinstance(self.cv, (list, tuple)) or hasattr(self.cv, "__next__")
        if not listed and not isinstance(cv, PredefinedSplit):
            return self._criterion(None)
        pairs = cv if listed else cv.split()
        among = [
            tuple(np.searchsorted(rows, np.intersect1d(np.arange(n)[part], rows)) for part in pair)
            for pair in pairs
        ]
        return CrossValidation(among, scoring=self.scoring, n_jobs=self.n_jobs)

    def _criterion_of(
        self, family: Family, points: Floats, T: Floats, own: Any, folds: Criterion
    ) -> Criterion:
        if own is not None:
            return self._own(own, points, T)
        if self.lambda2 is not None:  # nothing is chosen: the training points tell the loss
            return Validation(family.X, family.y, patience=None, scoring=self.scoring)
        return folds


__all__ = ["LaplacianSVC", "SparseLaplacianSVC"]
