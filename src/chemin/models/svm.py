"""Support vector machines that choose lambda = 1/C on their path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.svm import SVC, SVR, NuSVR
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, check_target, is_word
from .._threads import threads_for
from ..kernels import Kernel, Linear, parts_of
from ..path import Path, combined
from ..selection import Criterion, Family
from ..selection.classes import CODINGS
from ..selection.several import ClassFamily, Paths
from ..selection.surface import OTHER, Surface, ends_of, first_values
from ..solution import Solution
from ._base import PathEstimator, rounded
from ._labels import numbered
from ._probability import METHODS, Calibrated

Floats = NDArray[np.float64]

# LIBSVM stops at this violation of optimality, or at what round-off allows.
TIGHT = 1e-10
ABOVE_FLOOR = 100.0
FIRST_LINES = 5  # in lambda, where epsilon or nu is chosen too
OF_LIBSVM = ("linear", "poly", "rbf", "sigmoid")  # kernels; others are handed over as functions


def _has_probability(model: Any) -> bool:
    if model.probability is None:
        raise AttributeError("predict_proba needs probability='sigmoid' or 'isotonic', got None")
    return True


def _is_path(gamma: Any) -> bool:
    """Whether gamma is to be chosen too."""
    return isinstance(gamma, str) and gamma == "path"


class _PathMachine(PathEstimator):
    """What the classifier and the regressors share: a kernel, support vectors, a hand-over."""

    _problem: ClassVar[str]  # its name
    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    intercept: bool

    @abstractmethod
    def _spec(self) -> dict[str, Any]:
        """What besides the data and the kernel makes the problem."""

    def _family(self, X: Any, y: Any, sample_weight: Any) -> Family:
        options = self._kernel_options() | self._walk_options() | self._spec()
        return Family(self._problem, X, y, sample_weight=sample_weight, **options)

    def _kernel_options(self) -> dict[str, Any]:
        names = ("kernel", "gamma", "degree", "coef0")
        return {name: getattr(self, name) for name in names}

    @property
    def _takes_sparse(self) -> bool:
        return isinstance(self.kernel, str) and not self._precomputed

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _learn(self, family: Family, solution: Solution) -> None:
        self._keep(family, [solution])

    def _keep(self, family: Family, models: Sequence[Solution]) -> None:
        """Keep the models of all problems: one row of `dual_coef_` each."""
        coef = np.array([model.coef for model in models])
        self.C_ = 1.0 / self.lambda_
        self.support_ = np.flatnonzero(coef.any(axis=0))
        self.dual_coef_ = coef[:, self.support_]
        self.intercept_ = np.array([model.intercept for model in models])
        self.support_vectors_ = np.empty((0, 0)) if self._precomputed else family.X[self.support_]
        self._kernel = family.kernel
        self._data = (family.X, family.y, family.cost)

    @property
    def coef_(self) -> Floats:
        """`f(x) = x'coef_ + intercept_`, for the linear kernel."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        kernel = self._known_kernel
        assert isinstance(kernel, Linear)
        return kernel.weights(self.support_vectors_, self.dual_coef_.T).T

    @property
    def _known_kernel(self) -> Kernel:
        assert self._kernel is not None
        return self._kernel

    def _f(self, X: ArrayLike) -> Floats:
        """f of each problem, one column each."""
        points = self._inputs(X)
        parts = parts_of(points.shape[0], len(self.support_))
        with threads_for(points.shape[0], *self.dual_coef_.shape):
            if len(parts) == 1:
                return self._part_of_f(points)
            return np.vstack([self._part_of_f(points[some]) for some in parts])

    def _part_of_f(self, points: Any) -> Floats:
        if self._precomputed:
            cross = points[:, self.support_]
        elif len(self.support_) == 0:
            cross = np.empty((points.shape[0], 0))
        else:
            cross = self._known_kernel.cross(points, self.support_vectors_)
        coef = self.dual_coef_.T
        alike = any(path.problem.centred is not None for path in self._paths)
        f, largest = combined(cross, coef, alike=alike and len(coef) > 0)
        lift = self._known_kernel.lift(self.support_vectors_, coef)
        sums = np.abs(self.dual_coef_).sum(axis=1)
        return rounded(f + (self.intercept_ + lift), sums, largest, self._paths)

    @property
    def _paths(self) -> Sequence[Path]:
        """One for each problem."""
        return [self.path_]

    def _search(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        """Choose the width of the kernel too."""
        from .search import search_width  # which knows estimators such as this one

        found = search_width(self, X, y, sample_weight, groups)
        for name, value in found.items():
            setattr(self, name, value)
        return self

    @property
    def _settled(self) -> bool:
        """Whether gamma is a number, or a kernel has its own: it is the same in all folds."""
        return isinstance(self.kernel, Kernel) or not isinstance(self.gamma, str)

    def _hand_over(self, make: Any) -> Any:
        """A model of scikit-learn with the same kernel and C, fitted to what LIBSVM can reach."""
        check_is_fitted(self)
        if not self.intercept:
            raise ValueError(
                "intercept=False cannot be handed over: scikit-learn's models always have one"
            )
        floor = max(float(path.certificate(self.lambda_).floor) for path in self._paths)
        options = self._kernel_options()
        if _is_path(self.gamma):
            options["gamma"] = self.gamma_
        if not self._precomputed and not callable(self.kernel):
            settled = self._known_kernel.spec()
            options |= {k: v for k, v in settled.items() if k in options}
            options["kernel"] = settled["name"]
            if settled["name"] not in OF_LIBSVM:
                options["kernel"] = self._known_kernel.cross
        model = make(C=self.C_, tol=max(TIGHT, ABOVE_FLOOR * floor), cache_size=1000, **options)
        X, y, weight = self._data
        return self._named(self._with_intercept(model.fit(X, y, sample_weight=weight)))

    def _with_intercept(self, model: Any) -> Any:
        """LIBSVM takes any of an interval of optimal intercepts; it is given this model's own."""
        ends = np.array([path.at(self.lambda_).intercept_interval for path in self._paths])
        is_open = ends[:, 0] < ends[:, 1]
        if is_open.any():
            # LIBSVM predicts with another copy, of the other sign where there are two classes.
            sign = -1.0 if isinstance(model, SVC) and len(self._paths) == 1 else 1.0
            model.intercept_ = np.where(is_open, self.intercept_, model.intercept_)
            model._intercept_ = sign * model.intercept_
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = self._takes_sparse
        return tags


class PathSVC(ClassifierMixin, _PathMachine):
    """C-SVM that chooses lambda = 1/C: the exact minimiser of a criterion.

        min  lambda/2 |f|^2 + sum_i w_i max(0, 1 - y_i (f(x_i) + b)),      C = 1/lambda

    The cross-validated loss is known for every lambda, so no grid is needed and none can do better.
    Several classes are told apart by problems of two on the same kernel matrix.

    Parameters
    ----------
    kernel, gamma, degree, coef0, class_weight : as in sklearn.svm.SVC
        gamma="scale" uses the weighted variance of the rows a model is trained on: in each fold
        that of its training rows, as GridSearchCV(SVC()) does. gamma="path" chooses gamma too, on
        a continuous range around "scale"; see `PathSearchCV`, of which it is the short form.
    intercept : bool
        Whether f has an intercept, unpenalised.
    multi_class : "ovo" or "ovr"
        How several classes are told apart: one against one with votes, as in sklearn.svm.SVC, or
        one against rest with the largest f.
    joint : bool
        Several classes: one lambda for all problems, the minimiser of the cross-validated error of
        the labels; or (False) one for each, by its own error, with the kernel of all rows.
    decision_function_shape : "ovr" or "ovo"
        As in sklearn.svm.SVC; see `decision_function`.
    probability : "sigmoid", "isotonic" or None
        How `predict_proba` makes probabilities of f: by a function fitted to f of the folds' models
        at the chosen lambda, on rows that they have not seen; of new points it gives the mean over
        these models. None: there is no `predict_proba`.
    cv : int, splitter, list of (train, test), or Criterion
        Folds as in scikit-learn, or one of the criteria of `chemin.selection`, which then brings
        its own scoring and n_jobs.
    scoring : str, callable or None
        Default: accuracy, errors weighed by class_weight as they are in training. Names have
        scikit-learn's meaning, without class weights. See `chemin.selection.CrossValidation`.
    choose : "min", "one_se" or "sparsest"
        The minimiser; the largest lambda within one standard error of the minimum; the fewest
        support vectors within `tolerance` of it.
    tolerance : float or None
        For choose="sparsest", in units of the loss; None: one standard error.
    start, stop : float or None
        The ends of the path in lambda; see `chemin.svc_path`. Without a stop folds are walked on
        until the minimum lies well inside.
    n_jobs : int or None
        Threads for the folds.
    max_events : int or None
        Every path stops after so many events, with what has been walked.
    verbose : int
        1 shows the progress of the path on all rows.

    Attributes
    ----------
    lambda_, C_ : float
        The chosen value, and `1/lambda_`. With joint=False an array, one for each problem.
    curve_ : Curve
        The criterion over all lambda.
    curves_ : list of Curve
        Several classes with joint=False: one for each problem, in place of `curve_`.
    path_ : Path
        The path on all rows; of several classes `Paths`, a sequence with one for each problem.
    classes_ : ndarray
    support_ : ndarray of int
        Rows that are support vectors.
    calibrators_ : list
        With `probability`: from f to the probability of the positive class, for each problem.
    gamma_, search_ : float, PathSearchCV
        With gamma="path": the chosen width, and the search.
    support_vectors_, dual_coef_, intercept_, coef_ : ndarray
        `f = K dual_coef_.T + intercept_`, K between points and support vectors: one row a problem.
        `coef_` for the linear kernel only. Of several classes one against one, problems and signs
        are those of sklearn.svm.SVC.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names for all its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PathSVC().fit(X, y)
    >>> bool(model.curve_.minimum <= model.curve_(1.0))
    True
    """

    _problem = "svc"
    path_: Any  # Path, or Paths of several classes
    lambda_: Any  # a number, or an array of several

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: Any = None,
        intercept: bool = True,
        multi_class: str = "ovo",
        joint: bool = True,
        decision_function_shape: str = "ovr",
        probability: str | None = None,
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.intercept = intercept
        self.multi_class = multi_class
        self.joint = joint
        self.decision_function_shape = decision_function_shape
        self.probability = probability
        self.cv = cv
        self.scoring = scoring
        self.choose = choose
        self.tolerance = tolerance
        self.start = start
        self.stop = stop
        self.n_jobs = n_jobs
        self.max_events = max_events
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> PathSVC:
        """Choose lambda and learn the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or (n, n) when kernel="precomputed"
        y : array-like of n labels, two classes or more
        sample_weight : array-like of shape (n,) or None
            In training and in the scores; a weight of 0 is a removed row.
        groups : array-like of shape (n,) or None
            For splitters that keep groups together.
        """
        with self._whole_or_nothing():
            if _is_path(self.gamma):
                return self._search(X, y, sample_weight, groups)
            points, labels = self._checked(X, y)
            choose = self._choose_each if self._several and not self.joint else self._choose
            criterion = self._criterion(groups)
            choose(points, labels, sample_weight, criterion)
            if self.probability is not None:
                self._calibrate(self._family(points, labels, sample_weight), criterion)
        return self

    def _calibrate(self, family: Family, criterion: Criterion) -> None:
        """Fit what `predict_proba` needs, where it was asked for."""
        if self.probability is not None:
            value = self.lambda_
            self._probabilities = Calibrated.fitted(self.probability, family, criterion, value)
            self.calibrators_ = self._probabilities.functions

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        self._check_shapes()
        points = self._first_inputs(X)
        numbers, self.classes_ = numbered(y, points.shape[0])
        return points, self.classes_[numbers]

    def _spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "class_weight": self.class_weight}

    def _family(self, X: Any, y: Any, sample_weight: Any) -> Family:
        if not self._several:
            return super()._family(X, y, sample_weight)
        options = self._kernel_options() | self._walk_options() | self._spec()
        return ClassFamily(
            self._problem, X, y, sample_weight=sample_weight, coding=self.multi_class, **options
        )

    def _learn(self, family: Family, solution: Any) -> None:
        self._keep(family, solution if self._several else [solution])

    def _choose_each(self, X: Any, y: Any, sample_weight: Any, criterion: Criterion) -> None:
        """Choose a value for each problem by itself, and learn the models there."""
        family = self._named_family(X, y, sample_weight)
        family.walk_on = False
        assert isinstance(family, ClassFamily)
        problems = range(len(family.coding))
        family.prepare()
        self.curves_ = [criterion(family.of_problem(k)) for k in problems]
        self.path_ = Paths([curve.path for curve in self.curves_], self.classes_, family.coding)
        self.lambda_ = np.array([c.choose(self.choose, self.tolerance) for c in self.curves_])
        self._keep(family, [p.at(v) for p, v in zip(self.path_, self.lambda_)])

    @property
    def _several(self) -> bool:
        return len(self.classes_) > 2

    @property
    def _paths(self) -> Sequence[Path]:
        return self.path_ if self._several else [self.path_]

    def decision_function(self, X: ArrayLike) -> Floats:
        """f(x) for each row: of two classes one number, positive for classes_[1].

        Of several classes as in scikit-learn's SVC: with multi_class="ovo" one column a class, made
        of votes and f, or, with decision_function_shape="ovo", one column a pair, positive for its
        first class. With multi_class="ovr" one column a class, f itself.
        """
        f = self._f(X)
        if not self._several:
            return f[:, 0]
        return self.path_.coding.decision(f, self.decision_function_shape)

    @available_if(_has_probability)
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of the classes, one column each.

        The mean over the folds' models at the chosen lambda, each by one sigmoid or isotonic
        function of its f, which was fitted on rows that these models have not seen. It need not be
        1/2 where f of the model on all rows is 0: near there the largest probability may belong to
        another class than the label of `predict`, as in sklearn.svm.SVC. Of several classes those
        of the pairs are coupled (Wu, Lin and Weng), or, one against rest, divided by their sum.
        """
        p = self._probabilities(self._inputs(X))
        if self._several:
            return self.path_.coding.probabilities(p)
        return np.column_stack([1.0 - p[:, 0], p[:, 0]])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels. Of two classes f = 0 gives classes_[0].

        Of several classes the one with most votes, or with the largest f; of equals the first.
        """
        f = self._f(X)
        if not self._several:
            return np.asarray(self.classes_[(f[:, 0] > 0).astype(np.intp)])
        coding, within = self.path_.coding, 0.0
        if not coding.by_pairs:  # f of several problems are compared
            each = np.broadcast_to(self.lambda_, len(self.path_))  # one value for all, or for each
            within = max(path.within(value) for path, value in zip(self.path_, each))
        return np.asarray(self.classes_[coding.labels(f, within)])

    def to_sklearn(self) -> SVC:
        """The chosen model as sklearn.svm.SVC(C=C_), fitted on the same rows and weights."""
        check_is_fitted(self)
        if self._several and (self.multi_class != "ovo" or not self.joint):
            raise ValueError(
                "several classes can be handed over with multi_class='ovo' and joint=True alone: "
                "scikit-learn's SVC is one against one and has one C, got "
                f"multi_class={self.multi_class!r}, joint={self.joint!r}"
            )
        return self._hand_over(partial(SVC, decision_function_shape=self.decision_function_shape))

    def _check_shapes(self) -> None:
        for name in ("multi_class", "decision_function_shape"):
            if not is_word(getattr(self, name), CODINGS):
                raise ValueError(f"{name} must be 'ovo' or 'ovr', got {getattr(self, name)!r}")
        check_flag(self.joint, "joint")
        if self.probability is not None and not is_word(self.probability, METHODS):
            known = ", ".join(map(repr, METHODS))
            raise ValueError(f"probability must be {known} or None, got {self.probability!r}")


class _PathRegressor(RegressorMixin, _PathMachine):
    """What the regressors share: everything but the tube."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose lambda and learn the model; the parameters are those of `PathSVC.fit`."""
        with self._whole_or_nothing():
            if _is_path(self._tube):
                return self._on_plane(X, y, sample_weight, groups)
            if _is_path(self.gamma):
                return self._search(X, y, sample_weight, groups)
            self._choose(*self._checked(X, y), sample_weight, self._criterion(groups))
        return self

    @property
    def _tube(self) -> Any:
        """epsilon or nu, as it was given."""
        return getattr(self, OTHER[self._problem])

    def _on_plane(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Self:
        """Choose epsilon or nu too: exact lines in it and in lambda, until neither improves."""
        other = OTHER[self._problem]
        if _is_path(self.gamma):
            raise ValueError(f"gamma and {other} cannot both be 'path': give one of them a value")
        points, target = self._checked(X, y)
        low, high = ends_of(other, target)
        plain = clone(self).set_params(**{other: high})
        whole = plain._family_of(points, target, sample_weight)

        def make(value: float) -> Family:
            return whole.at(**{other: value})

        self.surface_ = Surface(self._criterion(groups), make, other)
        self.surface_.follow(first_values(other, low, high, FIRST_LINES), (low, high))
        best = self.surface_.best
        self._adopt(best.family, best.curve)
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        points = self._first_inputs(X)
        return points, check_target(y, points.shape[0])

    def predict(self, X: ArrayLike) -> Floats:
        """f(x) for each row."""
        return self._f(X)[:, 0]


class PathSVR(_PathRegressor):
    """epsilon-SVR that chooses lambda = 1/C: the exact minimiser of a criterion.

        min  lambda/2 |f|^2 + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon)

    Parameters
    ----------
    epsilon : float, >= 0, or "path"
        Half the width of the tube, in units of y. "path" chooses it too, between half the range of
        y and a thousandth of that: `chemin.svr_surface`.
    kernel, gamma, degree, coef0, intercept : as in `PathSVC`
    scoring : str, callable or None
        Default: neg_mean_squared_error. See `chemin.selection.CrossValidation`.
    cv, choose, tolerance, start, stop, n_jobs, max_events, verbose : as in `PathSVC`

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube.
    surface_ : Surface
        With epsilon="path": the lines that were followed.
    lambda_, C_, curve_, path_, support_, support_vectors_, dual_coef_, intercept_ : as in `PathSVC`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PathSVR(kernel="linear", epsilon=20.0).fit(X, y)
    >>> model.curve_.exact
    True
    """

    _problem = "svr"

    def __init__(
        self,
        *,
        epsilon: Any = 0.1,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
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
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
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

    def _spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "epsilon": self.epsilon}

    def _learn(self, family: Family, solution: Solution) -> None:
        super()._learn(family, solution)
        assert solution.epsilon is not None
        self.epsilon_ = solution.epsilon

    def to_sklearn(self) -> SVR:
        """The chosen model as sklearn.svm.SVR(C=C_), fitted on the same rows and weights."""
        check_is_fitted(self)
        return self._hand_over(partial(SVR, epsilon=self.epsilon_))


class PathNuSVR(_PathRegressor):
    """nu-SVR that chooses lambda = 1/C: the exact minimiser of a criterion, at a given nu.

        min  lambda/2 |f|^2 + nu W epsilon + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon)

    over f, b and the tube's half width epsilon; W is the sum of the weights, n without any.

    Parameters
    ----------
    nu : float in (0, 1], or "path"
        At most this share of the points lies outside the tube, and at least this share are support
        vectors (where the tube is open). "path" chooses it too: `chemin.nu_svr_surface`.
    kernel, gamma, degree, coef0, intercept : as in `PathSVC`
    scoring : str, callable or None
        Default: neg_mean_squared_error. See `chemin.selection.CrossValidation`.
    cv, choose, tolerance, start, stop, n_jobs, max_events, verbose : as in `PathSVC`

    Attributes
    ----------
    nu_ : float
        The nu of the chosen solution.
    epsilon_ : float
        Half the width of its tube, in units of y.
    surface_ : Surface
        With nu="path": the lines that were followed.
    lambda_, C_, curve_, path_, support_, support_vectors_, dual_coef_, intercept_ : as in `PathSVC`

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(150, 0, noise=0.1)
    >>> model = PathNuSVR(nu=0.3, gamma=300.0, stop=0.01).fit(X, y)
    >>> outside = abs(y - model.predict(X)) > model.epsilon_ + 1e-9
    >>> bool(outside.mean() <= model.nu_)
    True
    """

    _problem = "nu_svr"

    def __init__(
        self,
        *,
        nu: Any = 0.5,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
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
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
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

    def _spec(self) -> dict[str, Any]:
        return {"intercept": self.intercept, "nu": self.nu}

    def _learn(self, family: Family, solution: Solution) -> None:
        super()._learn(family, solution)
        assert solution.nu is not None and solution.epsilon is not None
        self.nu_, self.epsilon_ = solution.nu, solution.epsilon

    def to_sklearn(self) -> NuSVR:
        """The chosen model as sklearn.svm.NuSVR(nu=nu_, C=C_), on the same rows and weights."""
        check_is_fitted(self)
        return self._hand_over(partial(NuSVR, nu=self.nu_))
