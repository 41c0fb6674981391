"""Linear models that choose their penalty on its path: lasso, ridge, garrote, adaptive ridge."""

from __future__ import annotations

from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.utils.validation import check_is_fitted

from .. import problems
from .._checks import check_matrix, check_positive, check_target
from ..path import Path
from ..selection import Family
from ..solution import Solution
from ._base import PathEstimator

# Coordinate descent stops at this duality gap, relative to |y|^2.
TIGHT = 1e-14
MOST_ROUNDS = 1_000_000


class LinearPathEstimator(RegressorMixin, PathEstimator):
    """fit: the exact minimiser of a criterion on the path of a linear problem."""

    problem: ClassVar[str]  # its name
    options: ClassVar[tuple[str, ...]]  # arguments that make it
    intercept: bool

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the penalty and learn the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of n numbers
        sample_weight : array-like of shape (n,) or None
            In training and in the scores; a weight of 0 is a removed row.
        groups : array-like of shape (n,) or None
            For splitters that keep groups together.
        """
        with self._whole_or_nothing():
            self._choose(*self._checked(X, y), sample_weight, self._criterion(groups))
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        points = self._first_inputs(X)
        return points, check_target(y, len(points))

    def _family(self, X: Any, y: Any, sample_weight: Any) -> Family:
        options = {name: getattr(self, name) for name in ("intercept", *self.options)}
        walk = self._walk_options()
        return Family(self.problem, X, y, sample_weight=sample_weight, **options, **walk)

    def _learn(self, family: Family, solution: Solution) -> None:
        self.coef_, self.intercept_ = solution.coef, solution.intercept
        self.support_ = self.coef_ != 0
        self._data = (family.X, self.path_.y, self.path_.weight)

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """`x'coef_ + intercept_` for each row."""
        return np.asarray(self._inputs(X) @ self.coef_ + self.intercept_)


class PathLasso(LinearPathEstimator):
    """Lasso that chooses lambda: the exact minimiser of a criterion.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda sum_j s_j |b_j|

    lambda is (the sum of the weights) times the alpha of scikit-learn. Folds are compared at one
    alpha, as LassoCV does.

    Parameters
    ----------
    positive : bool
        Whether no coefficient may be negative.
    standardize : bool
        Whether s_j is the standard deviation of column j (without an intercept: its root mean
        square) in the rows that a model is trained on, and not 1: as if the columns had been
        divided by it.
    intercept : bool
        Whether there is a constant b0, unpenalised.
    cv : int, splitter, list of (train, test), or Criterion
        Folds as in scikit-learn, or one of the criteria of `chemin.selection`, which then brings
        its own scoring and n_jobs.
    scoring : str, callable or None
        Default: neg_mean_squared_error. See `chemin.selection.CrossValidation`.
    choose : "min", "one_se" or "sparsest"
        The minimiser; the largest lambda within one standard error of the minimum; the fewest
        variables within `tolerance` of it.
    tolerance : float or None
        For choose="sparsest", in units of the loss; None: one standard error.
    start, stop : float or None
        The ends of the path in lambda; see `chemin.lasso_path`. Without a stop folds are walked on
        until the minimum lies well inside, or to 0 where no events remain.
    n_jobs : int or None
        Threads for the folds.
    max_events : int or None
        Every path stops after so many events, with what has been walked.
    verbose : int
        1 shows the progress of the path on all rows.

    Attributes
    ----------
    lambda_, alpha_ : float
        The chosen value, and the same in scikit-learn's unit.
    scale_ : ndarray of shape (d,)
        s: what columns were divided by in the penalty, 1 without `standardize`. `coef_` belongs to
        the columns as they are.
    curve_ : Curve
        The criterion over all lambda.
    path_ : Path
        The path on all rows.
    coef_ : ndarray of shape (d,)
    intercept_ : float
    support_ : ndarray of bool of shape (d,)
        The variables that were chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names for all its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> int(PathLasso(choose="one_se").fit(X, y).support_.sum())
    6
    """

    problem = "lasso"
    options = ("positive", "standardize")

    def __init__(
        self,
        *,
        positive: bool = False,
        standardize: bool = False,
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
        self.positive = positive
        self.standardize = standardize
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

    def _learn(self, family: Family, solution: Solution) -> None:
        super()._learn(family, solution)
        self.alpha_ = self.lambda_ / float(family.weight.sum())
        self.scale_ = _scale(self.path_)

    def to_sklearn(self) -> Lasso | LinearRegression:
        """The chosen model as `sklearn.linear_model.Lasso(alpha=alpha_)`, fitted on the same rows.

        LinearRegression where `lambda_` is 0.
        """
        check_is_fitted(self)
        if np.any(self.scale_ != 1):
            raise ValueError(
                "to_sklearn needs standardize=False, got True: scikit-learn's Lasso has one "
                "penalty for all columns; divide the columns by scale_ and fit again"
            )
        sided = {"positive": self.positive, "fit_intercept": self.intercept}
        if self.alpha_ == 0:
            model: Any = LinearRegression(**sided)
        else:
            model = Lasso(self.alpha_, **sided, tol=TIGHT, max_iter=MOST_ROUNDS)
        X, y, weight = self._data
        return self._named(model.fit(X, y, sample_weight=weight))


class StandardizedEstimator(LinearPathEstimator):
    """Those with one option of their own: columns divided by their deviations in the penalty."""

    options = ("standardize",)

    def __init__(
        self,
        *,
        standardize: bool = False,
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
        self.standardize = standardize
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

    def _learn(self, family: Family, solution: Solution) -> None:
        super()._learn(family, solution)
        self.scale_ = _scale(self.path_)


class PathRidge(StandardizedEstimator):
    """Ridge regression that chooses lambda: the exact minimiser of a criterion.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda/2 sum_j s_j^2 b_j^2

    lambda is the alpha of scikit-learn's Ridge. Folds are compared at one lambda per row, each by
    one SVD.

    Parameters
    ----------
    standardize : bool
        Whether s_j is the standard deviation of column j (without an intercept: its root mean
        square), and not 1.
    intercept : bool
        Whether there is a constant b0, unpenalised.
    cv : int, splitter, list of (train, test), or Criterion
        Folds as in scikit-learn, or one of the criteria of `chemin.selection`, which then brings
        its own scoring and n_jobs.
    scoring : str, callable or None
        Default: neg_mean_squared_error. See `chemin.selection.CrossValidation`.
    choose : "min", "one_se" or "sparsest"
        The minimiser; the largest lambda within one standard error of the minimum; the fewest
        variables within `tolerance` of it.
    tolerance : float or None
        For choose="sparsest", in units of the loss; None: one standard error.
    start, stop : float or None
        The ends of the path in lambda; see `chemin.ridge_path`.
    n_jobs : int or None
        Threads for the folds.
    max_events : int or None
        Every path stops after so many events, with what has been walked.
    verbose : int
        1 shows the progress of the path on all rows.

    Attributes
    ----------
    lambda_ : float
        The chosen value.
    scale_ : ndarray of shape (d,)
        s: what columns were divided by in the penalty.
    curve_ : Curve
        The criterion over all lambda.
    path_ : Path
        The path on all rows.
    coef_ : ndarray of shape (d,)
    intercept_ : float
    support_ : ndarray of bool of shape (d,)
        The variables with a coefficient that is not 0: all but constant ones.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names for all its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PathRidge(cv=5).fit(X, y)
    >>> 1e-4 < model.lambda_ < 1e-3
    True
    """

    problem = "ridge"


class NonNegativeGarrote(LinearPathEstimator):
    """Non-negative garrote that chooses lambda: the exact minimiser of a criterion.

        min  1/2 sum_i w_i (y_i - sum_j c_j a_j x_ij - b0)^2 + lambda sum_j c_j,      c_j >= 0

    a is the first estimate, by least squares or ridge regression; every fold has its own. It does
    not depend on the scale of the columns. Folds are compared at one lambda per row.

    Parameters
    ----------
    ridge : float, >= 0
        The penalty of the first estimate, per row and on standardised columns; 0: least squares.
    intercept : bool
        Whether there is a constant b0, unpenalised.
    cv : int, splitter, list of (train, test), or Criterion
        Folds as in scikit-learn, or one of the criteria of `chemin.selection`, which then brings
        its own scoring and n_jobs.
    scoring : str, callable or None
        Default: neg_mean_squared_error. See `chemin.selection.CrossValidation`.
    choose : "min", "one_se" or "sparsest"
        The minimiser; the largest lambda within one standard error of the minimum; the fewest
        variables within `tolerance` of it.
    tolerance : float or None
        For choose="sparsest", in units of the loss; None: one standard error.
    start, stop : float or None
        The ends of the path in lambda; see `chemin.garrote_path`.
    n_jobs : int or None
        Threads for the folds.
    max_events : int or None
        Every path stops after so many events, with what has been walked.
    verbose : int
        1 shows the progress of the path on all rows.

    Attributes
    ----------
    lambda_ : float
        The chosen value.
    initial_ : ndarray of shape (d,)
        a: the first estimate.
    shrinkage_ : ndarray of shape (d,)
        c: `coef_` is c times a.
    curve_ : Curve
        The criterion over all lambda.
    path_ : Path
        The path on all rows.
    coef_ : ndarray of shape (d,)
    intercept_ : float
    support_ : ndarray of bool of shape (d,)
        The variables that were chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names for all its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> int(NonNegativeGarrote(choose="one_se").fit(X, y).support_.sum())
    6

    References
    ----------
    Breiman (1995). Better subset regression using the nonnegative garrote. Technometrics 37.
    """

    problem = "garrote"
    options = ("ridge",)

    def __init__(
        self,
        *,
        ridge: float = 0.0,
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
        self.ridge = ridge
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

    def _learn(self, family: Family, solution: Solution) -> None:
        super()._learn(family, solution)
        self.initial_ = cast(problems.Garrote, self.path_.problem).initial
        some = self.initial_ != 0
        self.shrinkage_ = np.where(some, self.coef_ / np.where(some, self.initial_, 1.0), 0.0)


class AdaptiveRidge(StandardizedEstimator):
    """Adaptive ridge regression that chooses mu: the exact minimiser of a criterion.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + 1/2 sum_j lambda_j b_j^2

    over b and all penalties lambda_j, of which the harmonic mean is mu. One path of the lasso has
    the solution at every mu. Folds are compared at one mu per row. `adaptive_ridge_iteration` is
    the classical iteration for one mu.

    Parameters
    ----------
    standardize : bool
        Whether columns are divided by their standard deviations in the penalty.
    intercept : bool
        Whether there is a constant b0, unpenalised.
    cv : int, splitter, list of (train, test), or Criterion
        Folds as in scikit-learn, or one of the criteria of `chemin.selection`, which then brings
        its own scoring and n_jobs.
    scoring : str, callable or None
        Default: neg_mean_squared_error. See `chemin.selection.CrossValidation`.
    choose : "min", "one_se" or "sparsest"
        The minimiser; the largest mu within one standard error of the minimum; the fewest
        variables within `tolerance` of it.
    tolerance : float or None
        For choose="sparsest", in units of the loss; None: one standard error.
    start, stop : float or None
        The ends of the path in mu; see `chemin.adaptive_ridge_path`.
    n_jobs : int or None
        Threads for the folds.
    max_events : int or None
        Every path stops after so many events, with what has been walked.
    verbose : int
        1 shows the progress of the path on all rows.

    Attributes
    ----------
    mu_ : float
        The chosen value.
    lambda_ : float
        The penalty of the lasso that has the same solution: `mu_ / d` times the sum of
        absolute values of `coef_`.
    penalties_ : ndarray of shape (d,)
        The lambda_j; infinite for variables that were not chosen.
    scale_ : ndarray of shape (d,)
        What columns were divided by in the penalty.
    curve_ : Curve
        The criterion over all mu.
    path_ : Path
        The path on all rows.
    coef_ : ndarray of shape (d,)
    intercept_ : float
    support_ : ndarray of bool of shape (d,)
        The variables that were chosen.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names for all its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AdaptiveRidge(cv=10, choose="one_se").fit(X, y)
    >>> harmonic_mean = 10 / sum(1 / model.penalties_)
    >>> print(model.support_.sum(), bool(abs(harmonic_mean / model.mu_ - 1) < 1e-12))
    4 True

    References
    ----------
    Grandvalet, Canu (1998). Outcomes of the equivalence of adaptive ridge with least absolute
    shrinkage. Advances in Neural Information Processing Systems 11.
    """

    problem = "adaptive_ridge"

    def _learn(self, family: Family, solution: Solution) -> None:
        super()._learn(family, solution)
        self.mu_, self.lambda_ = self.lambda_, solution.lambda_
        problem = cast(problems.AdaptiveRidge, self.path_.problem)
        self.penalties_ = problem.penalties(self.coef_, self.mu_)


def _scale(path: Path) -> NDArray[np.float64]:
    """What columns are divided by in the penalty."""
    return np.asarray(path.problem.price)  # type: ignore[attr-defined]


def adaptive_ridge_iteration(
    X: ArrayLike,
    y: ArrayLike,
    mu: float,
    *,
    max_rounds: int = 10,
    tol: float = 0.0,
    intercept: bool = True,
) -> tuple[NDArray[np.float64], float, int]:
    """Adaptive ridge regression at one mu, by its classical iteration.

        b_j = c_j g_j,      c_j^2 = d g_j^2 / sum_k g_k^2
        g = (C X'X C + mu I)^-1 C X'y,      C = diag(c)

    from ridge regression (c = 1). It is the reference: `adaptive_ridge_path` has the limit, for
    every mu. Ten rounds leave errors of a hundredth; nine digits can take thousands.

    Parameters
    ----------
    X, y : array-like of shape (n, d) and (n,)
    mu : float, > 0
    max_rounds : int
    tol : float
        It ends when no coefficient has changed by more than this part of the largest.
    intercept : bool
        Whether columns and target are centred.

    Returns
    -------
    coef, intercept, rounds
    """
    points = check_matrix(X)
    target = check_target(y, len(points))
    mu = check_positive(mu, "mu")
    x_mean = points.mean(axis=0) if intercept else np.zeros(points.shape[1])
    y_mean = float(target.mean()) if intercept else 0.0
    Z, e, d = points - x_mean, target - y_mean, points.shape[1]
    G, g0 = Z.T @ Z, Z.T @ e
    c, gamma = np.ones(d), np.linalg.solve(G + mu * np.eye(d), g0)
    b, rounds, change = gamma, 0, np.inf
    while rounds < max_rounds and change > tol and gamma.any():  # zeros stay what they are
        rounds += 1
        c = np.sqrt(d) * np.abs(gamma) / np.linalg.norm(gamma)
        gamma = np.linalg.solve(c[:, None] * G * c + mu * np.eye(d), c * g0)
        before, b = b, c * gamma
        change = float(np.abs(b - before).max() / np.abs(b).max())
    return np.asarray(b, dtype=np.float64), float(y_mean - x_mean @ b), rounds
