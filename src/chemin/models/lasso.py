"""Lasso that chooses lambda on its path."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.utils.validation import check_is_fitted

from .._checks import check_target
from ..path import Solution
from ..selection import Family
from ._base import PathEstimator

# Coordinate descent stops at this duality gap, relative to |y|^2.
TIGHT = 1e-14
MOST_ROUNDS = 1_000_000


class PathLasso(RegressorMixin, PathEstimator):
    """Lasso that chooses lambda: the exact minimiser of a criterion.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda |b|_1

    lambda is (the sum of the weights) times the alpha of scikit-learn. Folds are compared at one
    alpha, as LassoCV does.

    Parameters
    ----------
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
        The ends of the path in lambda; see `chemin.lasso_path`.
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

    def __init__(
        self,
        *,
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

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> PathLasso:
        """Choose lambda and learn the coefficients.

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
            points = self._first_inputs(X)
            self._choose(points, check_target(y, len(points)), sample_weight, groups)
        return self

    def _family(self, X: Any, y: Any, sample_weight: Any) -> Family:
        return Family(
            "lasso",
            X,
            y,
            sample_weight=sample_weight,
            intercept=self.intercept,
            **self._walk_options(),
        )

    def _learn(self, family: Family, solution: Solution) -> None:
        self.coef_, self.intercept_ = solution.coef, solution.intercept
        self.support_ = self.coef_ != 0
        self.alpha_ = self.lambda_ / float(family.weight.sum())
        self._data = (family.X, self.path_.y, self.path_.weight)

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """`x'coef_ + intercept_` for each row."""
        return np.asarray(self._inputs(X) @ self.coef_ + self.intercept_)

    def to_sklearn(self) -> Lasso | LinearRegression:
        """The chosen model as `sklearn.linear_model.Lasso(alpha=alpha_)`, fitted on the same rows.

        LinearRegression where `lambda_` is 0.
        """
        check_is_fitted(self)
        if self.alpha_ == 0:
            model: Any = LinearRegression(fit_intercept=self.intercept)
        else:
            model = Lasso(
                self.alpha_, fit_intercept=self.intercept, tol=TIGHT, max_iter=MOST_ROUNDS
            )
        X, y, weight = self._data
        return self._named(model.fit(X, y, sample_weight=weight))
