"""Criteria from theory: Cp, AIC, BIC and GCV along one path, from its degrees of freedom.

Between events the residual sum of squares and the degrees of freedom are smooth in the parameter,
and so is every criterion made of them: its curve is exact, with jumps where a variable enters or
leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._checks import check_positive, is_word
from ..path import Path
from ..segments import Curved
from .criteria import Criterion, Trial
from .curve import Curve
from .family import Family
from .losses import EXACT
from .piecewise import Floats, Piecewise

NAMES = {"cp": "Mallows' Cp", "aic": "AIC", "bic": "BIC", "gcv": "GCV"}


class InformationCriterion(Criterion):
    """Mallows' Cp, AIC, BIC or generalised cross-validation: one path, and no folds.

        Cp   RSS / s2 - n + 2 df
        AIC  -2 log likelihood + 2 df            (normal errors)
        BIC  -2 log likelihood + log(n) df
        GCV  (RSS / n) / (1 - df / n)^2

    RSS is the sum of squared residuals, weighted; n the sum of the weights; df the degrees of
    freedom of the fitted values, intercept included (`Path.degrees_of_freedom`).

    For `chemin.lasso_path`, `ridge_path`, `garrote_path` and `adaptive_ridge_path`, and as `cv` of
    their estimators. There is one curve and no folds: no standard error, and no "one_se".

    Parameters
    ----------
    criterion : "cp", "aic", "bic" or "gcv"
    noise_variance : float or None
        s2. None: for Cp that of least squares on all columns, and for AIC and BIC the variance that
        is most likely at each value of the parameter, RSS / n. With as many columns as rows neither
        can be had: a number is needed, and GCV is refused.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = chemin.PathLasso(cv=InformationCriterion("bic")).fit(X, y)
    >>> int(model.support_.sum())
    7

    References
    ----------
    Zou, Hastie, Tibshirani (2007). On the degrees of freedom of the lasso. Annals of Statistics 35.
    """

    def __init__(self, criterion: str = "bic", *, noise_variance: float | None = None) -> None:
        super().__init__()
        if not is_word(criterion, NAMES):
            raise ValueError(f"criterion must be one of {', '.join(NAMES)}, got {criterion!r}")
        if noise_variance is not None:
            noise_variance = check_positive(noise_variance, "noise_variance")
        self.criterion, self.noise_variance = criterion, noise_variance

    def trials(self, family: Family) -> list[Trial]:
        """None: no model but that on all rows."""
        return []

    def __call__(self, family: Family) -> Curve:
        """The curve of this criterion for the path on all rows."""
        if family.problem.has_kernel:
            raise ValueError(
                f"cv must not be {self!r} for {family.name}: nothing is known of its degrees of "
                "freedom; use folds"
            )
        path = family.path
        score = self._score(path.problem, float(family.weight.sum()))
        low, high = sorted((path.start, path.stop))
        make = partial(
            Curve,
            [_along(path, family, score)],
            path,
            range=(low, high),
            top=high,
            scoring=self.criterion,
            loss=NAMES[self.criterion],
            endless=path.closed_above,
        )
        curve = make()
        return make(goes_on=path.goes_on) if curve.at_lower_end else curve

    def _score(self, problem: Any, n: float) -> Callable[[Floats, Floats], Floats]:
        """The criterion as a function of RSS and degrees of freedom."""
        variance, kind = self.noise_variance, self.criterion
        if kind == "gcv" or variance is None:
            estimate = _variance(problem, n, kind)
            variance = estimate if kind == "cp" else variance
        if kind == "gcv":
            return lambda rss, df: rss / n / (1 - df / n) ** 2
        if kind == "cp":
            known = float(variance or 1.0)
            return lambda rss, df: rss / known - n + 2 * df
        price = 2.0 if kind == "aic" else np.log(n)
        if variance is None:
            return lambda rss, df: n * np.log(2 * np.pi * rss / n) + n + price * df
        return lambda rss, df: n * np.log(2 * np.pi * variance) + rss / variance + price * df


def _variance(problem: Any, n: float, kind: str) -> float:
    """RSS of least squares over its degrees of freedom."""
    b, _, rank, _ = np.linalg.lstsq(problem.X, problem.y)
    df, residual = n - rank - problem.intercept, problem.y - problem.X @ b
    rss = float(residual @ residual)
    if df < 1 or rss <= 1e-24 * problem.size**2:
        what = "folds" if kind == "gcv" else "noise_variance"
        raise ValueError(
            f"{kind} needs {what} here: least squares on all columns leaves {df:g} degrees of "
            f"freedom and a residual sum of squares of {rss:.3g}"
        )
    return rss / df


def _along(path: Path, family: Family, score: Callable[[Floats, Floats], Floats]) -> Piecewise:
    """The criterion over a whole path."""
    loss, used = EXACT["neg_mean_squared_error"], family.used
    y = np.asarray(family.y, dtype=float)[used]
    rss = loss.on_path(path, np.ascontiguousarray(family.X[used].T), y, family.weight[used])
    low, high = np.sort(path.coordinate.to_u([path.start, path.stop]))
    inner = path.coordinate.to_u(path.breakpoints)
    inner = np.union1d(rss.knots, inner)
    knots = np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]])
    rss = rss.on(knots)
    middle = path.states(path.coordinate.to_value(0.5 * (knots[1:] + knots[:-1])))
    pieces = [_Piece(path, rss, j, z) for j, z in enumerate(middle.T)]
    inside = [partial(_on_piece, piece, score) for piece in pieces]
    block = Curved(knots[:-1], knots[1:], inside, np.zeros((len(knots) - 1, 1)))
    return Piecewise.assemble(block.parts([], lambda f: f[:, 0]))


class _Piece:
    """A stretch of the path on which the same coefficients are not 0."""

    def __init__(self, path: Path, rss: Piecewise, j: int, z: Floats) -> None:
        self.problem, self.coordinate, self.rss, self.j = path.problem, path.coordinate, rss, j
        self.z = z[:, None]  # in the middle of it

    def __call__(self, s: Floats) -> tuple[Floats, Floats]:
        """RSS and degrees of freedom at places."""
        u0, u1 = self.rss.knots[self.j : self.j + 2]
        t = self.coordinate.to_value(u0 + s * (u1 - u0)) / self.problem.unit
        c = self.problem.columns(np.tile(self.z, len(s)), t)
        df = self.problem.degrees_of_freedom(c, c.coef[:, 0] != 0)
        return self.rss.on_piece(np.full(len(s), self.j), s), df


def _on_piece(piece: _Piece, score: Callable[[Floats, Floats], Floats], s: Floats) -> Floats:
    return score(*piece(s))[:, None]


__all__ = ["InformationCriterion"]
