"""Stepwise regression: variables in and out by partial F tests."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._checks import (
    check_columns_scale,
    check_flag,
    check_fraction,
    check_target,
    check_weights,
    is_word,
)
from .._threads import ONE_THREAD
from ._least_squares import LeastSquares, f_test
from ._points import checked_points
from ._sweep import Sweep

Floats = NDArray[np.float64]

DIRECTIONS = ("stepwise", "forward", "backward", "all")
STEP = np.dtype(
    [("variable", "i8"), ("enters", "?"), ("F", "f8"), ("p", "f8"), ("residual_sum", "f8")]
    + [("r2", "f8")]
)
TIED = 1e-9  # of a sum of squares: the difference is round-off, and the first column counts
CHOSEN = "The same data have chosen the variables: p-values are too small, intervals too short."


class StepwiseRegression(RegressorMixin, BaseEstimator):
    """Least squares on variables that partial F tests have chosen.

        F = (S_p - S_q) / (S_q / (n - q - 1)),      q = p + 1

    S_p and S_q are the sums of squared residuals without and with a variable. "stepwise" begins
    with none. Each step takes the variable with the largest F in, if its p-value is at most
    `alpha_enter`; then the variable with the smallest F goes out, if its p-value is larger than
    `alpha_remain`. It ends when neither happens. "forward" never takes one out, "backward" begins
    with all of them and takes none in, "all" is least squares on all variables.

    Each step updates a QR factor of the chosen columns, centred; nothing is fitted again.

    Parameters
    ----------
    direction : "stepwise", "forward", "backward" or "all"
    alpha_enter, alpha_remain : float in (0, 1]
        The levels of the tests. `alpha_remain` must not be below `alpha_enter`: a variable could
        enter and leave for ever.
    intercept : bool
        Whether there is a constant. It is never tested.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        0 for variables that were not chosen.
    intercept_ : float
    support_ : ndarray of bool of shape (d,)
        The variables that were chosen.
    steps_ : structured ndarray
        One row a step: variable, enters (or leaves), F, p, residual_sum and r2 after it. For
        "backward" the variables that it begins with are not listed.
    result_ : LeastSquares
        The fit on the chosen variables: tests, intervals, the table of variance.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has names for all its columns.

    Notes
    -----
    A constant column never enters, nor one that is a sum of chosen ones: with "backward" and "all",
    which begin with everything, a warning names those that are left out, the later ones first. They
    need more rows than variables and say so. Of variables with the same F, to round-off, the
    first counts. A perfect fit ends the search, with a warning.

    A weight of k counts as k rows, in the tests too. For weights that say how precise rows are
    (one over the variance of the error), scale them so that their sum is the number of rows: the
    tests are then those of weighted least squares.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = StepwiseRegression().fit(X, y)
    >>> [int(j) for j in model.steps_["variable"]]
    [2, 8, 3, 4, 1, 5]

    References
    ----------
    Draper, Smith (1998). Applied Regression Analysis, third edition, chapter 15.
    """

    def __init__(
        self,
        *,
        direction: str = "stepwise",
        alpha_enter: float = 0.05,
        alpha_remain: float = 0.05,
        intercept: bool = True,
    ) -> None:
        self.direction = direction
        self.alpha_enter = alpha_enter
        self.alpha_remain = alpha_remain
        self.intercept = intercept

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StepwiseRegression:
        """Choose variables and fit them.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of n numbers
        sample_weight : array-like of shape (n,) or None
            A weight of k is k rows, a weight of 0 a removed row.
        """
        self._check_levels()
        points: Floats = checked_points(self, X, first=True)
        check_columns_scale(points)
        target = check_target(y, len(points))
        weight = check_weights(sample_weight, len(points))
        used = weight > 0
        check_target(target[used], int(used.sum()))
        with ONE_THREAD:  # products this small lose by sharing
            search = _Search(points[used], target[used], weight[used], self.intercept)
            steps = search.run(self.direction, self.alpha_enter, self.alpha_remain)
            self.steps_ = np.array(steps, dtype=STEP)
            self._learn(search)
        return self

    def _check_levels(self) -> None:
        if not is_word(self.direction, DIRECTIONS):
            known = ", ".join(DIRECTIONS)
            raise ValueError(f"direction must be one of {known}, got {self.direction!r}")
        check_flag(self.intercept, "intercept")
        enter = check_fraction(self.alpha_enter, "alpha_enter")
        remain = check_fraction(self.alpha_remain, "alpha_remain")
        if self.direction == "stepwise" and remain < enter:
            raise ValueError(
                f"alpha_remain must be at least alpha_enter ({enter:g}), got {remain:g}: a "
                "variable could enter and leave for ever"
            )

    def _learn(self, search: _Search) -> None:
        chosen = np.array(sorted(search.sweep.chosen), dtype=np.intp)
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[chosen] = True
        if hasattr(self, "feature_names_in_"):
            names = [str(name) for name in self.feature_names_in_[chosen]]
        else:
            names = [f"x{j}" for j in chosen]
        self.result_ = search.result(names, "" if self.direction == "all" else CHOSEN)
        self.coef_ = np.zeros(self.n_features_in_)
        self.coef_[chosen] = self.result_.coef[int(self.intercept) :]
        self.intercept_ = float(self.result_.coef[0]) if self.intercept else 0.0

    def predict(self, X: ArrayLike) -> Floats:
        """`x'coef_ + intercept_` for each row."""
        check_is_fitted(self)
        points: Floats = checked_points(self, X, first=False)
        return np.asarray(points @ self.coef_ + self.intercept_)

    def summary(self, level: float = 0.95) -> str:
        """The steps, the fit, the table of variance and the coefficients, as text."""
        check_is_fitted(self)
        return "\n".join([*self._steps_text(), self.result_.summary(level)])

    def _steps_text(self) -> list[str]:
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        lines = [f"{'step':<6}{'':<8}{'variable':<16}{'F':>12}{'p':>12}{'R²':>12}"]
        for k, s in enumerate(self.steps_, start=1):
            way, name = "enters" if s["enters"] else "leaves", str(names[s["variable"]])[:15]
            lines.append(f"{k:<6}{way:<8}{name:<16}{s['F']:>12.6g}{s['p']:>12.4g}{s['r2']:>12.6g}")
        return [*lines, ""] if len(self.steps_) else []


class _Search:
    """One search: the sweep, and what a test needs besides."""

    def __init__(self, X: Floats, y: Floats, w: Floats, intercept: bool) -> None:
        self.intercept, self.n = intercept, float(w.sum())
        self.x_mean = np.average(X, axis=0, weights=w) if intercept else np.zeros(X.shape[1])
        if intercept:  # the mean to the last digit: sums along columns lose some
            self.x_mean += np.average(X - self.x_mean, axis=0, weights=w)
        self.y_mean = float(np.average(y, weights=w)) if intercept else 0.0
        root = np.sqrt(w)
        size = np.linalg.norm(root[:, None] * X, axis=0)
        self.sweep = Sweep(root[:, None] * (X - self.x_mean), root * (y - self.y_mean), size)
        if self.n - intercept < 1:
            raise ValueError(
                f"sample_weight has the sum {self.n:.4g}, which counts as so many rows: expected "
                "at least 2"
            )

    def df(self, variables: int) -> float:
        """Degrees of freedom of the residuals of so many variables."""
        return self.n - self.intercept - variables

    def run(self, direction: str, enter: float, remain: float) -> list[tuple[Any, ...]]:
        """All steps; the sweep has what is left at the end."""
        if direction in ("backward", "all"):
            self._take_all()
        steps: list[tuple[Any, ...]] = []
        while direction != "all":
            before = len(steps)
            if direction != "backward":
                steps += self._best_in(enter)
            if direction != "forward" and not (steps and self.sweep.residual_sum == 0):
                steps += self._worst_out(remain)
            if len(steps) == before:
                break
        if self.sweep.residual_sum == 0:
            warnings.warn(
                f"{len(self.sweep)} variables fit y perfectly: no test says which of them matter",
                stacklevel=4,
            )
        return steps

    def _take_all(self) -> None:
        every = len(self.sweep.length)
        if self.df(every) < 1:
            raise ValueError(
                f"direction must be 'stepwise' or 'forward' with {every} variables and "
                f"{self.n:g} rows: the others need at least {every + 1 + self.intercept} rows"
            )
        left_out = []
        for j in range(every):
            if np.linalg.norm(self.sweep.left[:, j]) > self.sweep.floor[j]:
                self.sweep.enter(j)
            else:
                left_out.append(j)
        if left_out:
            columns = ", ".join(map(str, left_out))
            warnings.warn(
                f"columns of X that are constant or sums of earlier ones are left out: {columns}",
                stacklevel=5,
            )

    def _best_in(self, alpha: float) -> list[tuple[Any, ...]]:
        """The variable with the largest F enters, if its test says so."""
        df = self.df(len(self.sweep) + 1)
        if df < 1 or self.sweep.residual_sum == 0:
            return []
        gains = self.sweep.gains()
        if not gains.max() > 0:
            return []
        j = int(np.argmax(gains >= (1 - TIED) * gains.max()))
        rest = self.sweep.rest_with(j)
        F = gains[j] * df / rest if rest > 0 else np.inf
        p = f_test(F, 1, df)
        if p > alpha:
            return []
        self.sweep.enter(j)
        return [self._step(j, True, F, p)]

    def _worst_out(self, alpha: float) -> list[tuple[Any, ...]]:
        """The variable with the smallest F leaves, if its test says so."""
        if len(self.sweep) == 0:
            return []
        df, rest, losses = self.df(len(self.sweep)), self.sweep.residual_sum, self.sweep.losses()
        tied = np.flatnonzero(losses <= (1 + TIED) * losses.min())
        k = int(tied[np.argmin(np.array(self.sweep.chosen)[tied])])
        F = losses[k] * df / rest if rest > 0 else np.inf
        p = f_test(F, 1, df)
        if p <= alpha:
            return []
        j = self.sweep.chosen[k]
        self.sweep.leave(j)
        return [self._step(j, False, F, p)]

    def _step(self, j: int, enters: bool, F: float, p: float) -> tuple[Any, ...]:
        rest = self.sweep.residual_sum
        return j, enters, F, p, rest, 1.0 - rest / self.sweep.total

    def result(self, names: list[str], note: str) -> LeastSquares:
        """The fit on the chosen variables, by their numbers."""
        order = np.argsort(self.sweep.chosen)
        chosen = np.array(self.sweep.chosen, dtype=np.intp)[order]
        b = self.sweep.coefficients()[order]
        C = self.sweep.covariance()[np.ix_(order, order)]
        if self.intercept:
            # b0 = mean of y - (mean of x)'b, and the mean of y is independent of b.
            m = self.x_mean[chosen]
            b, names = np.append(self.y_mean - m @ b, b), ["const", *names]
            edge = -C @ m
            C = np.block([[np.array([[1 / self.n + m @ C @ m]]), edge[None]], [edge[:, None], C]])
        rest = self.sweep.residual_sum
        return LeastSquares(names, b, C, self.n, rest, self.sweep.total, self.intercept, note)


__all__ = ["StepwiseRegression"]
