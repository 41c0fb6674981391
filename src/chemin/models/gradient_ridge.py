"""Ridge regression with one penalty a coefficient, found by the gradient of a criterion."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, check_scale, check_target, check_values, check_weights, is_word
from ..selection import Criterion, CrossValidation, Descent
from ..selection.criteria import check_whole
from ..selection.descent import check_descent, descend
from ..selection.penalties import MOST, Columns, RidgeError, Sample, ridge_coefficients
from ._points import checked_points

Floats = NDArray[np.float64]

SCORINGS = (None, "neg_mean_squared_error")


def _log_mean_exp(penalties: Floats) -> Floats:
    """log(mean(exp)), which follows the larger penalties; the largest is taken out first."""
    top = penalties.max(axis=0)
    return np.asarray(top + np.log(np.mean(np.exp(penalties - top), axis=0)))


AVERAGES = {
    "log_mean_exp": _log_mean_exp,
    "mean": lambda penalties: penalties.mean(axis=0),
    "median": lambda penalties: np.median(penalties, axis=0),
}


class GradientRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Ridge regression with one penalty a coefficient, found by gradient: soft variable selection.

        min  1/n sum_t 1/2 (x_t'b + b0 - y_t)^2 + sum_m lambda_m^2 b_m^2

    The penalties minimise half the squared error of a criterion: cross-validation, a split,
    leave-one-out (in closed form), bootstrap leave-one-out or 0.632. The error has many local
    minima; `n_restarts` descents start at random, from U[0, 1] times the standard deviation of
    each column. With several outputs all share the penalties, and the error is their sum.

    Parameters
    ----------
    average : None, "log_mean_exp", "mean" or "median"
        None: the penalties that minimise the criterion on the data. Otherwise penalties are found
        on `n_samples` bootstrap samples and averaged: log_mean_exp, the thesis' choice, follows
        the larger ones.
    n_samples : int
        Bootstrap samples for an average.
    cv : int, splitter, list of (train, test), or Criterion
        Folds as in scikit-learn, or one of the criteria of `chemin.selection`.
    penalty_groups : array-like of d labels or None
        Columns with the same label share one penalty. None: each has its own.
    intercept : bool
        Whether there is a constant b0, unpenalised.
    solver : "lbfgs" or "cg"
        L-BFGS, or the thesis' conjugate gradients.
    start : array-like of d numbers or None
        Penalties to start from. None: at random.
    n_restarts : int
        Descents from random starts, the best of which counts. With `start` that is the first.
    max_iter : int
        Iterations of a descent.
    tol : float
        A descent ends where no entry of the gradient, in units of the columns, is larger than
        tol times the error of the constant model. It is early stopping: a criterion of many
        penalties that is followed to its end is fitted too well, above all where penalties
        that ran off are averaged. 1e-6 goes to the end.
    random_state : int, RandomState or None
        For starts and bootstrap samples.
    n_jobs : int or None
        Threads for samples and restarts.

    Attributes
    ----------
    penalties_ : ndarray of shape (d,)
        `|lambda_m|`. Below 1e-5 standard deviations of the column a penalty counts as that, above
        1e8 of them too: the coefficient is then as without it, or 0, to round-off.
    coef_ : ndarray of shape (d,), or (k, d) for k outputs
    intercept_ : float, or ndarray of shape (k,)
    criterion_ : float
        Half the squared error of the criterion at `penalties_`, on the data.
    descents_ : list of Descent
        The best descent on each bootstrap sample, or on the data: penalties and criterion along
        the iterations. A group of columns has one entry.
    n_iter_ : int
        Iterations of the longest descent.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names for all its columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientRidge(random_state=0).fit(X, y)
    >>> bool(model.criterion_ < model.descents_[0].criterion[0])
    True

    References
    ----------
    S. Latendresse, Utilisation d'hyper-paramètres pour la sélection de variables, Université de
    Montréal, 1999. Y. Bengio, Gradient-based optimization of hyperparameters, Neural Computation
    12, 2000.
    """

    def __init__(
        self,
        *,
        average: str | None = None,
        n_samples: int = 10,
        cv: Any = 10,
        penalty_groups: ArrayLike | None = None,
        intercept: bool = True,
        solver: str = "lbfgs",
        start: ArrayLike | None = None,
        n_restarts: int = 1,
        max_iter: int = 500,
        tol: float = 1e-2,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.average = average
        self.n_samples = n_samples
        self.cv = cv
        self.penalty_groups = penalty_groups
        self.intercept = intercept
        self.solver = solver
        self.start = start
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> GradientRidge:
        """Find the penalties and learn the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, k)
        sample_weight : array-like of shape (n,) or None
            In training and in the errors; a weight of 0 is a removed row.
        groups : array-like of shape (n,) or None
            For splitters that keep groups of rows together.
        """
        self._check_options()
        points = checked_points(self, X, first=True)
        for j in range(points.shape[1]):
            check_scale(points[:, j], f"column {j} of X")
        y = np.asarray(y)
        target = _check_outputs(y, len(points))
        weight = check_weights(sample_weight, len(points))
        sample = Sample(points, target, weight)
        columns = Columns.of(points, target, weight, self.intercept)
        shared = self._shared(columns)
        descents = self._descents(sample, self._criterion(groups), shared)
        self.descents_ = [_spoken(d, shared) for d in descents]
        self.n_iter_ = max(1, *(d.n_iterations for d in descents))
        self._warn(descents)
        ends = np.array([d.end for d in self.descents_])
        if self.average is None:
            self.penalties_ = shared.spread(ends[0])
            self.criterion_ = float(descents[0].criterion[-1])
        else:
            self.penalties_ = shared.spread(AVERAGES[self.average](ends))
            error = self._error(sample, self._criterion(groups), columns)
            self.criterion_ = error(self.penalties_ / columns.scale)[0]
        b, b0 = ridge_coefficients(points, target, weight, self.penalties_, self.intercept)
        self.coef_: Floats = b[:, 0] if y.ndim < 2 else b.T
        self.intercept_: Any = float(b0[0]) if y.ndim < 2 else b0
        self._data = (points, target, weight)
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """`x'coef_ + intercept_` for each row, a column for each output."""
        check_is_fitted(self)
        points = checked_points(self, X, first=False)
        return np.asarray(points @ self.coef_.T + self.intercept_)

    def coefficients_along(self, descent: Descent) -> Floats:
        """Coefficients on all rows after each iteration of a descent.

        Parameters
        ----------
        descent : Descent
            One of `descents_`.

        Returns
        -------
        ndarray of shape (iterations + 1, d), or (iterations + 1, k, d) for k outputs
        """
        check_is_fitted(self)
        points, target, weight = self._data
        shared = self._shared(Columns.of(points, target, weight, self.intercept))
        fits = [
            ridge_coefficients(points, target, weight, shared.spread(p), self.intercept)[0].T
            for p in descent.parameters
        ]
        return np.array(fits).reshape(len(fits), *self.coef_.shape)

    # ------------------------------------------------------------------ descents

    def _descents(self, sample: Sample, criterion: Criterion, shared: _Shared) -> list[Descent]:
        """The best descent on each sample, in units of the columns."""
        rng = check_random_state(self.random_state)
        samples = [sample]
        if self.average is not None:
            samples = [_drawn(sample, rng) for _ in range(self.n_samples)]
        starts = [[self._start(k, rng, shared) for k in range(self.n_restarts)] for _ in samples]
        jobs = [delayed(self._best)(*pair, criterion, shared) for pair in zip(samples, starts)]
        return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(jobs))

    def _start(self, k: int, rng: np.random.RandomState, shared: _Shared) -> Floats:
        if k == 0 and self.start is not None:
            return shared.gather(check_values(self.start, "start"))
        return np.asarray(rng.uniform(size=len(shared.unit)))

    def _best(
        self, sample: Sample, starts: list[Floats], criterion: Criterion, shared: _Shared
    ) -> Descent:
        # Rows of a bootstrap sample have scales of their own; penalties are those of the data.
        columns = Columns.of(sample.X, sample.y, sample.weight, self.intercept)
        error = self._error(sample, criterion, columns)
        share = sample.weight / sample.weight.sum()
        unit = 0.5 * float(np.sum(share @ (sample.y - columns.level) ** 2))

        def shared_error(penalties: Floats) -> tuple[float, Floats]:
            factor = shared.spread(shared.unit) / columns.scale
            value, gradient = error(shared.spread(penalties) * factor)
            return value, shared.summed(gradient * factor)

        bounds = (np.full(len(shared.unit), -MOST), np.full(len(shared.unit), MOST))
        descents = [
            descend(
                shared_error,
                start,
                solver=self.solver,
                max_iter=self.max_iter,
                tol=self.tol,
                unit=unit,
                bounds=bounds,
            )
            for start in starts
        ]
        return min(descents, key=lambda descent: float(descent.criterion[-1]))

    def _error(self, sample: Sample, criterion: Criterion, columns: Columns) -> RidgeError:
        X, y = columns.apply(sample.X, sample.y)
        return RidgeError(Sample(X, y, sample.weight), criterion, intercept=self.intercept)

    def _criterion(self, groups: Any) -> Criterion:
        if not isinstance(self.cv, Criterion):
            return CrossValidation(self.cv, groups=groups)
        if self.cv.scoring not in SCORINGS:
            raise ValueError(
                "the criterion given as cv must have scoring=None or 'neg_mean_squared_error', "
                f"got {self.cv.scoring!r}"
            )
        return self.cv if groups is None else self.cv.with_groups(groups)

    def _shared(self, columns: Columns) -> _Shared:
        d = len(columns.scale)
        if self.penalty_groups is None:
            return _Shared(np.arange(d), columns.scale)
        labels = np.asarray(self.penalty_groups)
        if labels.shape != (d,):
            raise ValueError(
                f"penalty_groups must have one label for each of the {d} columns, got shape "
                f"{labels.shape}"
            )
        group = np.unique(labels, return_inverse=True)[1]
        unit = np.sqrt(np.bincount(group, columns.scale**2) / np.bincount(group))
        return _Shared(group, unit)

    # ------------------------------------------------------------------ checks

    def _check_options(self) -> None:
        if self.average is not None and not is_word(self.average, AVERAGES):
            raise ValueError(
                f"average must be None or one of {', '.join(AVERAGES)}, got {self.average!r}"
            )
        check_whole(self.n_samples, "n_samples", 1)
        check_whole(self.n_restarts, "n_restarts", 1)
        check_flag(self.intercept, "intercept")
        check_descent(self.solver, self.max_iter, self.tol)

    def _warn(self, descents: list[Descent]) -> None:
        stopped = sum(not d.converged for d in descents)
        if stopped:
            warnings.warn(
                f"{stopped} of {len(descents)} descents stopped at max_iter={self.max_iter}: the "
                "criterion may still fall",
                ConvergenceWarning,
                stacklevel=3,
            )


class _Shared:
    """Which penalty each column has, and in which unit it is counted.

    A penalty that is counted as p is lambda = p times the unit of its group.
    """

    def __init__(self, group: NDArray[np.intp], unit: Floats) -> None:
        self.group, self.unit = group, unit

    def gather(self, penalties: Floats) -> Floats:
        """One number for each group from penalties of columns: their mean."""
        if penalties.shape != self.group.shape:
            raise ValueError(
                f"start must have one penalty for each of the {len(self.group)} columns, got shape "
                f"{penalties.shape}"
            )
        if not np.all(np.isfinite(penalties)):
            raise ValueError(f"start must be finite, got {penalties}")
        return np.asarray(np.bincount(self.group, penalties) / np.bincount(self.group) / self.unit)

    def summed(self, slopes: Floats) -> Floats:
        """From slopes of columns to those of groups."""
        return np.bincount(self.group, weights=slopes, minlength=len(self.unit)).astype(float)

    def spread(self, penalties: Floats) -> Floats:
        """From the penalties of groups to those of columns."""
        return penalties[self.group]


def _spoken(descent: Descent, shared: _Shared) -> Descent:
    """The same descent in the user's units, and in |lambda|: E does not know the signs."""
    return Descent(
        np.abs(descent.parameters) * shared.unit,
        descent.criterion,
        descent.gradient * np.where(descent.end < 0, -1.0, 1.0) / shared.unit,
        descent.n_evaluations,
        descent.converged,
        descent.message,
    )


def _drawn(sample: Sample, rng: np.random.RandomState) -> Sample:
    """As many rows, drawn with replacement from those that take part."""
    used = sample.used
    for _ in range(100):
        rows = used[rng.randint(len(used), size=len(used))]
        if np.any(sample.y[rows] != sample.y[rows[0]]):
            return Sample(sample.X[rows], sample.y[rows], sample.weight[rows])
    raise ValueError("100 bootstrap samples in a row had one target only: there are too few rows")


def _check_outputs(y: NDArray[Any], n: int) -> Floats:
    """y as columns, one for each output."""
    if y.ndim < 2:
        return check_target(y, n)[:, None]
    table = check_array(y, dtype=np.float64, input_name="y")
    return np.column_stack([check_target(column, n) for column in table.T])


__all__ = ["GradientRidge"]
