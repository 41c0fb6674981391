"""Least squares with what statisticians read off it: tests, intervals, the table of variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr, stdtrit

from .._checks import check_inside

Floats = NDArray[np.float64]

WIDTH = 78  # of a summary
ANOVA = np.dtype(
    [("source", "U10"), ("df", "f8"), ("sum_of_squares", "f8"), ("mean_square", "f8")]
    + [("F", "f8"), ("p", "f8")]
)


def f_test(F: float, df1: float, df2: float) -> float:
    """The probability of a larger F, if the tested coefficients are 0."""
    return float(fdtrc(df1, df2, F)) if np.isfinite(F) else 0.0


@dataclass(frozen=True)
class LeastSquares:
    """A fit by least squares and its tests.

    The tests hold for errors that are independent, normal and of one variance, and for variables
    that were named before the data were seen. Where the same data have chosen them p-values are too
    small and intervals too short.

    Attributes
    ----------
    names : list of str
        Of the coefficients; "const" is the first where there is an intercept.
    coef, standard_errors, t, p : ndarray
        Estimates, their standard errors, t = coef / standard error, and the probability of a larger
        abs(t) if the coefficient is 0.
    covariance : ndarray
        Of the estimates.
    n : float
        Rows: the sum of the weights.
    df, df_model : float
        Degrees of freedom: of the residuals, and of the variables.
    residual_sum, total_sum : float
        Sums of squares: of residuals, and of y around its mean (around 0 without intercept).
    variance : float
        residual_sum / df, the estimate of the variance of the errors.
    r2, adjusted_r2, F, F_p : float
        How much is explained, and the test of all variables together.
    log_likelihood, aic, bic : float
        Of normal errors, as statsmodels counts them: the variance is no parameter.
    """

    names: list[str]
    coef: Floats
    unscaled: Floats = field(repr=False)  # the covariance for errors of variance 1
    n: float
    residual_sum: float
    total_sum: float
    intercept: bool
    note: str = ""

    @property
    def df_model(self) -> float:
        return float(len(self.coef) - self.intercept)

    @property
    def df(self) -> float:
        return self.n - len(self.coef)

    @property
    def variance(self) -> float:
        return self.residual_sum / self.df if self.df > 0 else float("nan")

    @property
    def covariance(self) -> Floats:
        return self.variance * self.unscaled

    @cached_property
    def standard_errors(self) -> Floats:
        return np.sqrt(self.covariance.diagonal())

    @cached_property
    def t(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):  # a perfect fit: infinite, or no test
            return np.asarray(self.coef / self.standard_errors)

    @cached_property
    def p(self) -> Floats:
        return np.asarray(2.0 * stdtr(self.df, -np.abs(self.t)))

    def confidence_intervals(self, level: float = 0.95) -> Floats:
        """One row a coefficient: the ends of the interval that covers it at a level."""
        wide = stdtrit(self.df, 0.5 + 0.5 * check_inside(level, "level"))
        half = wide * self.standard_errors
        return np.column_stack([self.coef - half, self.coef + half])

    # ------------------------------------------------------------------ the whole fit

    @property
    def r2(self) -> float:
        return 1.0 - self.residual_sum / self.total_sum

    @property
    def adjusted_r2(self) -> float:
        mean_total = self.total_sum / (self.n - self.intercept)
        return 1.0 - self.variance / mean_total

    @property
    def F(self) -> float:
        if self.df_model == 0:
            return float("nan")
        mean = (self.total_sum - self.residual_sum) / self.df_model
        return mean / self.variance if self.variance != 0 else float("inf")

    @property
    def F_p(self) -> float:
        return f_test(self.F, self.df_model, self.df) if self.df_model else float("nan")

    @property
    def anova(self) -> NDArray[Any]:
        """The analysis of variance: regression, residual and total, as a structured array."""
        explained, none = self.total_sum - self.residual_sum, float("nan")
        mean = explained / self.df_model if self.df_model else none
        whole = self.n - self.intercept
        rows = [
            ("regression", self.df_model, explained, mean, self.F, self.F_p),
            ("residual", self.df, self.residual_sum, self.variance, none, none),
            ("total", whole, self.total_sum, none, none, none),
        ]
        return np.array(rows, dtype=ANOVA)

    @property
    def log_likelihood(self) -> float:
        with np.errstate(divide="ignore"):
            spread = np.log(2 * np.pi * self.residual_sum / self.n)
        return float(-0.5 * self.n * (spread + 1.0))

    @property
    def aic(self) -> float:
        return -2.0 * self.log_likelihood + 2.0 * len(self.coef)

    @property
    def bic(self) -> float:
        return float(-2.0 * self.log_likelihood + np.log(self.n) * len(self.coef))

    # ------------------------------------------------------------------ to be read

    def summary(self, level: float = 0.95) -> str:
        """All of it as text: the fit, the table of variance, the coefficients."""
        lines = ["Least squares".center(WIDTH), "=" * WIDTH, *self._head(), "-" * WIDTH]
        lines += [*self._variance_table(), "-" * WIDTH, *self._coefficient_table(level)]
        return "\n".join([*lines, "=" * WIDTH, *([self.note] if self.note else [])])

    def _head(self) -> list[str]:
        pairs = [
            (("rows", self.n), ("R²", self.r2)),
            (("variables", self.df_model), ("adjusted R²", self.adjusted_r2)),
            (("df of residuals", self.df), ("F", self.F)),
            (("residual std", np.sqrt(self.variance)), ("p of F", self.F_p)),
            (("AIC", self.aic), ("BIC", self.bic)),
        ]
        half = WIDTH // 2 - 1
        return ["  ".join(f"{k:<20}{v:>{half - 20}.6g}" for k, v in pair) for pair in pairs]

    def _variance_table(self) -> list[str]:
        head = ("source", "df", "sum of squares", "mean square", "F", "p")
        rows = [(str(r["source"]), *(float(r[k]) for k in ANOVA.names[1:])) for r in self.anova]  # type: ignore[index]
        return _table(head, rows, (14, 9, 17, 14, 12, 12))

    def _coefficient_table(self, level: float) -> list[str]:
        low, high = self.confidence_intervals(level).T
        tail = 50.0 * (1.0 - level)
        head = ("", "coef", "std error", "t", "p", f"{tail:g} %", f"{100 - tail:g} %")
        columns = (self.coef, self.standard_errors, self.t, self.p, low, high)
        rows = list(zip(self.names, *(c.tolist() for c in columns)))
        return _table(head, rows, (14, 11, 11, 10, 10, 11, 11))


def _table(
    head: Sequence[str], rows: Sequence[tuple[Any, ...]], widths: Sequence[int]
) -> list[str]:
    def cell(x: Any, width: int) -> str:
        if isinstance(x, str):
            return x[: width - 1].ljust(width)
        whole = abs(x) < 1e7 and x == round(x)
        text = "" if np.isnan(x) else f"{x:.0f}" if whole else f"{x:.{min(6, width - 7)}g}"
        return text.rjust(width)

    first = head[0].ljust(widths[0]) + "".join(h.rjust(w) for h, w in zip(head[1:], widths[1:]))
    return [first, *("".join(map(cell, row, widths)) for row in rows)]


__all__ = ["LeastSquares", "f_test"]
