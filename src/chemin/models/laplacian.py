"""Semi-supervised machines: the Laplacian SVM, and the sparse one that answers fast."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
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
    is_word,
)
from ..api import laplacian_spec, make_laplacian
from ..kernels import GraphGram, Kernel, make_kernel, parts_of
from ..path import combined
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
from ..selection.classes import first_largest
from ..selection.curve import FLAT
from ..selection.graph import InStages
from ._base import CHOICES, PathEstimator, rounded
from ._points import checked_points

Floats = NDArray[np.float64]
RHO = 100.0  # mu/lambda2, where neither is given
HELD = 1e-4  # lambda2, where labels are too few to choose it
FOLDS = 5  # at most, where nobody says how many
ASKED = 1000  # points at most that a sparse model is to label as the plain one does
OTHERWISE = 0.02  # the part of each class, on average, of which it may say something else


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
    lambda2: float | None

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
            checked = None if validation is None else self._checked_own(*validation)
            self._learn_all(points, labels, known, weight, gram, checked)
        return self

    def _checked_own(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[Any]]:
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
        L = make_laplacian(
            points, known, self._kernel, made, self.graph, self.normalized, stacklevel=4
        )
        return GraphGram(self._kernel.gram(points), L)

    @abstractmethod
    def _learn_all(
        self, points: Floats, labels: Any, known: Any, weight: Floats, gram: GraphGram, own: Any
    ) -> None:
        """Choose and learn; `own` are points to choose by, and their labels."""

    def _keep(self, points: Floats, gram: GraphGram, value: float, T: Floats | None = None) -> None:
        """Set what the model predicts with: that of `path_` at a value, whose coefficients T makes
        those of all points.
        """
        every, self.intercept_, self._coef_sum = _model_at(self.path_, value, T)
        self.support_ = np.flatnonzero(every.any(axis=0))
        self.dual_coef_ = every[:, self.support_]
        pairwise = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if pairwise else points[self.support_]
        self._equal = _equal(self.path_, value)
        cross = gram.matrix[:, self.support_]
        f = _f_of(cross, self.dual_coef_, self.intercept_, self._coef_sum, self.path_)
        self.transduction_ = self._labels(f, self._equal)

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

    def _folded(self, y: NDArray[Any]) -> Criterion:
        """Folds of labelled points, whose labels these are: no more than a class has labels."""
        if not is_word(self.cv, ("auto",)):
            return self._criterion(None)
        counts = np.unique(y, return_counts=True)[1]
        if not _spare(counts):
            raise ValueError(
                "a class has one label only, which folds cannot leave out: give points to choose "
                "by to fit, validation=(X, y)"
            )
        folds = int(np.clip(counts.min(), 2, FOLDS))
        return CrossValidation(folds, scoring=self.scoring, n_jobs=self.n_jobs)

    def _held(self, y: NDArray[Any], own: Any) -> float | None:
        """lambda2, where it is given, or where these labels are too few to choose it."""
        by_folds = self.lambda2 is None and own is None and is_word(self.cv, ("auto",))
        if not by_folds or _spare(np.unique(y, return_counts=True)[1]):
            return self.lambda2
        warnings.warn(
            "a class has one label only, which folds cannot leave out to choose lambda2: "
            f"lambda2 = {HELD:g}; validation=(X, y) chooses it",
            stacklevel=4,
        )
        return HELD

    def _splits(self, family: Family) -> tuple[Criterion, Criterion]:
        """The criterion on all points, and the same on the labelled ones alone.

        Lists of splits name rows of X; folds are drawn once for both.
        """
        criterion = self._folded(family.y[family.used])
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

    def _labels(self, f: Floats, within: float) -> NDArray[Any]:
        """Of equals the first class; within so much f of several classes are equal."""
        if f.shape[1] == 1:
            return np.asarray(self.classes_[(f[:, 0] > 0).astype(np.intp)])
        return np.asarray(self.classes_[first_largest(f, within)])

    def _f(self, X: ArrayLike) -> Floats:
        points = self._inputs(X)
        parts = parts_of(len(points), len(self.support_))
        return np.vstack([self._part_of_f(points[some]) for some in parts])

    def _part_of_f(self, points: Floats) -> Floats:
        if self._kernel.name == "precomputed":
            cross = points[:, self.support_]
        elif len(self.support_) == 0:
            cross = np.empty((len(points), 0))
        else:
            cross = self._kernel.cross(points, self.support_vectors_)
        return _f_of(cross, self.dual_coef_, self.intercept_, self._coef_sum, self.path_)

    def decision_function(self, X: ArrayLike) -> Floats:
        """f(x) for each row; one column for each class where there are more than two."""
        check_is_fitted(self)
        f = self._f(X)
        return f[:, 0] if f.shape[1] == 1 else f

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels. Of two classes f = 0 gives classes_[0]; of several that are equal the first."""
        check_is_fitted(self)
        return self._labels(self._f(X), self._equal)

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
        None: the one with which the model without an L1 penalty does best, by folds or by
        validation points; 1e-4, with a warning, where one label a class is too few for folds.
    mu, rho : float, >= 0, or None
        One of them, or none; rho is mu/lambda2, and all that can be given where lambda2 is None.
        Default: rho = 100; mu = 1 where lambda2 is given.
    n_neighbors, radius, graph_weights, normalized, graph : as in `chemin.laplacian_svc_path`
    kernel, gamma, degree, coef0, class_weight, intercept : as in `PathSVC`
        gamma="scale" is taken from all points, with and without labels.
    cv : "auto", int, splitter, list of (train, test), or Criterion
        Folds of the labelled points; models on a part of them still know all points. "auto": five,
        or as many as each class has labels. Not used where `fit` is given validation points.
    scoring : str, callable or None
        Default: accuracy.
    choose : "auto", "agreeing", "sparsest", "min" or "one_se"
        "agreeing": the fewest terms that give the points, with and without labels, the labels of
        the model without an L1 penalty, but for `tolerance`. By folds or validation points: the
        fewest terms within `tolerance` of the smallest loss; the minimiser; the largest lambda1
        within one standard error. "auto": "sparsest" with validation points, else "agreeing": few
        labels say little about how many terms it takes, all points say more.
    tolerance : "auto", float or None
        For "agreeing" the part of each class, on average, that may have another label ("auto":
        0.02; at most 1,000 of the points are asked). For "sparsest" what the loss may be above the
        smallest ("auto": 0).
    patience : float or None
        Walks end where the sparse model is as good as the one without an L1 penalty, where half of
        the points are active, or where lambda1 is so many times smaller than where the loss was
        smallest, and smaller than without a model. None: all go to the stop.
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
        cv: Any = "auto",
        scoring: Any = None,
        choose: str = "auto",
        tolerance: Any = "auto",
        patience: float | None = 1e7,
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
        agreeing, rows = self._agreeing(own), family.used
        held = self._held(family.y[rows], own)
        T = gram.expansion(rows, family.spec["rho"])
        given = {"class_weight": self.class_weight, "verbose": self.verbose, "stop": held}
        plain = self._plain(gram, T, family.y[rows], rows, family.weight, **given)
        folds: Any = None
        among: Any = None
        if agreeing and held is not None:
            path = plain.path
        else:  # the model without an L1 penalty is the one to be as good as
            if own is None:
                folds, among = self._splits(family)
            else:
                among = self._own(own, points, T)
            curve = among(plain)
            held, path = curve.minimiser if held is None else held, curve.path
            target = float(curve(held)) * (1.0 + FLAT)
        family = family.at(lambda2=held)
        self.lambda2_ = family.spec["lambda2"]
        if agreeing:
            some = np.unique(np.linspace(0, len(points) - 1, ASKED).astype(np.intp))
            f = _f_of(gram.matrix[some], *_model_at(path, self.lambda2_, T), path)
            told = self._labels(f, _equal(path, self.lambda2_))
            self._agree(family, points[some], told)
        else:
            self.curve_ = self._walked(family, own, folds, target)
            if self.curve_.minimum > target:
                _warn_of_more(
                    f"a {curve.loss} of {self.curve_.minimum:.2g}, the model without an L1 penalty "
                    f"{target:.2g}",
                    self.curve_,
                    stacklevel=4,
                )
            choose = "sparsest" if is_word(self.choose, ("auto",)) else self.choose
            tolerance = 0.0 if is_word(self.tolerance, ("auto",)) else self.tolerance
            self.lambda1_ = self.curve_.choose(choose, cast(Any, tolerance))
        self.path_ = self.curve_.path
        self._keep(points, gram, self.lambda1_)
        if len(self.support_) == 0:
            why = f"no model of the path has a {self.curve_.loss} below {self.curve_.minimum:.4g}"
            if agreeing and len(np.unique(told)) == 1:
                why = "the model without an L1 penalty does, too"
            warnings.warn(
                f"the model has no kernel term and gives all points one label: {why}; more labels, "
                "class_weight='balanced' or scoring='balanced_accuracy' may help",
                stacklevel=3,
            )

    def _agreeing(self, own: Any) -> bool:
        """Whether lambda1 is chosen by what the plain model says of the points."""
        choices = ("auto", "agreeing", *CHOICES)
        if not is_word(self.choose, choices):
            raise ValueError(f"choose must be one of {', '.join(choices)}, got {self.choose!r}")
        return self.choose == "agreeing" or (self.choose == "auto" and own is None)

    def _agree(self, family: GraphFamily, points: Floats, labels: NDArray[Any]) -> None:
        """Choose the fewest terms that give these points the labels of the plain model."""
        tolerance: Any = OTHERWISE if is_word(self.tolerance, ("auto",)) else self.tolerance
        tolerance = check_positive(tolerance, "tolerance", zero=True)
        # By classes, so that a model without terms does not agree where one class is rare.
        by = {"target": tolerance, "scoring": "balanced_accuracy"} | self._ends_of(family)
        self.curve_ = curve = Validation(points, labels, **by)(family)
        self.lambda1_ = curve.sparsest(max(0.0, tolerance - curve.minimum))
        if curve.minimum > tolerance:
            _warn_of_more(
                f"{100 * curve.minimum:.2g} % of the points another label than the model without "
                f"an L1 penalty, asked were {100 * tolerance:.2g}",
                curve,
                stacklevel=5,
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

    def _ends_of(self, family: GraphFamily) -> dict[str, Any]:
        """What ends a walk besides a loss that is small enough."""
        if self.patience is None:
            return {"patience": None}
        patience = check_positive(self.patience, "patience")
        return {"patience": patience, "most_terms": len(family) // 2}

    def _walked(self, family: GraphFamily, own: Any, folds: Any, target: float) -> Curve:
        ends = self._ends_of(family) | {"target": target}
        if own is not None:
            return Validation(*own, scoring=self.scoring, **ends)(family)
        if self.patience is None or family.stop is not None:
            return cast(Curve, folds(family))
        return InStages(folds, family, **ends).curve()


def _warn_of_more(what: str, curve: Curve, stacklevel: int) -> None:
    """Few terms do not do what the model without an L1 penalty does."""
    warnings.warn(
        f"the sparse model gives {what}: LaplacianSVC is that model, and "
        f"stop={0.01 * curve.range[0]:.1g} may come nearer",
        stacklevel=stacklevel,
    )


def _spare(counts: NDArray[Any]) -> bool:
    """Whether folds leave labels of two classes to learn from, of so many in each."""
    return len(counts) < 2 or bool((counts > 1).sum() > 1)


def _each(found: Any) -> Sequence[Any]:
    """Solutions or paths of several classes, or the one of two."""
    return found if isinstance(found, Sequence) else [found]


def _model_at(path: Any, value: float, T: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Coefficients of all points, T being those of each coefficient of the path, intercepts, and
    sums of the path's absolute coefficients; one of each for a problem.
    """
    found = _each(path.at(value))
    coef = np.array([s.coef for s in found])
    b = np.array([s.intercept for s in found])
    return coef if T is None else coef @ T.T, b, np.abs(coef).sum(axis=1)


def _f_of(cross: Floats, coef: Floats, b: Floats, coef_sum: Floats, path: Any) -> Floats:
    """f of each problem, from the kernel between new points and those of its terms.

    The coefficients of the path tell what counts as 0: those of the plain model on all points may
    be far larger, and cancel.
    """
    f, largest = combined(cross, coef.T, alike=False)
    return rounded(f + b, coef_sum, largest, _each(path))


def _equal(path: Any, value: float) -> float:
    """What f of several classes may differ by through round-off."""
    return float(max(each.within(value) for each in _each(path)))


class LaplacianSVC(_GraphMachine):
    """Laplacian SVM without an L1 penalty: chooses lambda2 on its exact path, at a fixed rho.

        min  sum_labelled w_i max(0, 1 - y_i (f(x_i) + b0)) + lambda2/2 (|f|^2 + rho f'L f)

    On the labelled points this is the C-SVM with the kernel K (I + rho L K)^-1, so its path in
    lambda2 is that of the C-SVM. f has a kernel term for every point, with or without a label:
    `SparseLaplacianSVC` has few.

    Parameters
    ----------
    lambda2 : float, > 0, or None
        None: chosen by cross-validation on the labelled points, one for all classes; 1e-4, with a
        warning, where one label a class is too few for folds.
    rho : float, >= 0
        mu/lambda2.
    choose, tolerance, cv, scoring : as in `PathSVC`

    The other parameters and attributes are those of `SparseLaplacianSVC`.

    Attributes
    ----------
    lambda2_ : float
    curve_ : Curve
    path_ : Path, or Paths where there are several classes
        `path_[k]` is that of class k against the rest.

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
        cv: Any = "auto",
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
        rows = np.flatnonzero(known)
        rho = laplacian_spec("lambda2", 0.1, 1.0, None, self.rho, self.intercept)["rho"]
        value = self._held(labels[known & (weight > 0)], own)
        T, options = gram.expansion(rows, rho), self._ends(value)
        family = self._plain(gram, T, labels[rows], rows, weight, **options)
        criterion = self._criterion_of(family, rows, points, T, own, value)
        self.curve_ = curve = criterion(family)
        self.path_ = curve.path
        if value is None:
            value = curve.choose(self.choose, self.tolerance)
        self.lambda2_ = value
        self._keep(points, gram, value, T)

    def _ends(self, held: float | None) -> dict[str, Any]:
        """Options of the path, which goes to lambda2 where it is given."""
        options: dict[str, Any] = self._walk_options() | {"class_weight": self.class_weight}
        if held is not None:
            held = check_positive(held, "lambda2")
            options |= {"start": None, "stop": min(held, options["stop"] or held)}
        return options

    def _criterion_of(
        self, family: Family, rows: Any, points: Floats, T: Floats, own: Any, held: float | None
    ) -> Criterion:
        if own is not None:
            return self._own(own, points, T)
        if held is not None:  # nothing is chosen: the training points tell the loss
            return Validation(family.X, family.y, patience=None, scoring=self.scoring)
        cv, listed = self.cv, isinstance(self.cv, (list, tuple)) or hasattr(self.cv, "__next__")
        if not listed and not isinstance(cv, PredefinedSplit):
            return self._folded(family.y[family.used])
        # Lists of splits name rows of X, and the labelled ones alone are seen.
        pairs, every = cv if listed else cv.split(), np.arange(len(points))
        among = [
            tuple(np.searchsorted(rows, np.intersect1d(every[part], rows)) for part in pair)
            for pair in pairs
        ]
        return CrossValidation(among, scoring=self.scoring, n_jobs=self.n_jobs)


__all__ = ["LaplacianSVC", "SparseLaplacianSVC"]
