"""Lasso in lambda.

    min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda sum_j price_j |b_j|

The constant is not penalised, so columns and target are centred; with G = X'X

    h = X'y - G b,      b_j on the staircase: tread -lambda price_j, pin 0, tread +lambda price_j.

Prices are 1, or the standard deviations of the columns. Where signs are given the staircase of
sign_j b_j begins with the pin. With more columns than rows G is never formed.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..certificate import EPS, FLOORS, TINY, Certificate, relative
from ..kernels import Coupling, DenseGram, Gram, LowRankGram
from .base import Columns, Problem, Reading, Start
from .machine import TOLD
from .staircase import Floats, Ints, Mask, Staircases, StaircaseSystem

ZERO = 3  # column of the staircase table: the pin at 0
ENOUGH = 0.1  # of the squares of every column: so much must be left for products to be shared
WIDE = 512  # columns: of more of them, products read those that take part, or strips


class Centred:
    """Rows times the roots of their weights, columns and target centred where there is a constant.

    A column that is constant but for round-off has no length of its own: it is set to 0.
    """

    def __init__(self, X: Floats, y: Floats, w: Floats, intercept: bool) -> None:
        self.intercept, self.root, self.total = intercept, np.sqrt(w), float(w.sum())
        if intercept:
            self.x_mean, self.y_mean = w @ X / self.total, float(w @ y) / self.total
            self.X = X - self.x_mean
            off = w @ self.X / self.total  # to the last digit
            self.x_mean += off
            self.X -= off
        else:
            self.X, self.x_mean, self.y_mean = X.copy(), np.zeros(X.shape[1]), 0.0
        if (w != 1).any():
            self.X *= self.root[:, None]
        self.y = self.root * (y - self.y_mean)
        square = np.ones(len(w)) @ (self.X * self.X)
        length = np.sqrt(square)
        self.constant = length <= 8 * EPS * np.sqrt(square + self.total * self.x_mean**2)
        if self.constant.any():
            self.X[:, self.constant] = 0.0
            length[self.constant] = 1.0
        self.length = length
        self.size = float(self.y @ self.y) ** 0.5 or 1.0

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each column; 1 for constant ones."""
        return np.where(self.constant, 1.0, self.length / np.sqrt(self.total))


class Products:
    """X'X of centred columns on all rows, and on part of them by taking the others away.

    What is left is as precise as a product of its own where it is no small part of the whole.
    """

    def __init__(self, X: Floats, w: Floats) -> None:
        self.X, self.w, self.mean = X, w, w @ X / w.sum()
        self.mean += w @ (X - self.mean) / w.sum()  # to the last digit
        self.whole = self._of(np.arange(len(w)))
        self.squares = self.whole.diagonal().copy()

    def _of(self, rows: Ints) -> Floats:
        """About the mean of all rows."""
        Z = self.X[rows] - self.mean
        if np.any(self.w[rows] != 1):
            Z *= np.sqrt(self.w[rows])[:, None]
        return np.asarray(Z.T @ Z)

    def among(self, rows: Ints) -> DenseGram | None:
        """Of these rows about their own mean; None where it must be computed from them."""
        out = np.ones(len(self.w), bool)
        out[rows] = False
        others = np.flatnonzero(out)
        if 2 * len(others) > len(rows) or len(rows) < self.X.shape[1]:
            return None
        d, w = self.X[others] - self.mean, self.w[others]
        left = self.whole - self._of(others)
        moved = w @ d / np.sqrt(float(self.w[rows].sum()))  # the mean of those that are left
        left -= np.outer(moved, moved)
        if np.any(left.diagonal() < ENOUGH * self.squares):
            return None
        return DenseGram(left)


class Lasso(Problem):
    """Columns are brought to length one and the target too; a constant column never enters."""

    name = "lasso"
    has_kernel = False
    stair_names = ("negative", "zero", "positive")
    first_stair = ZERO - 1
    edge_name = "non-zero coefficients"
    criterion = "neg_mean_squared_error"
    per_row = True
    parameter = "lambda"
    shares_products = True
    one_intercept = True
    above = 1.01  # times the largest correlation: where a walk begins

    def __init__(
        self,
        X: Floats,
        y: Floats,
        w: Floats,
        *,
        intercept: bool = True,
        positive: bool = False,
        standardize: bool = False,
        gram: Gram | None = None,
    ) -> None:
        """`gram`: that of the centred columns, where it is known."""
        self.positive, self.standardize = positive, standardize
        data = Centred(X, y, w, intercept)
        price = data.deviation if standardize else np.ones(X.shape[1])
        self._declare(data, price, positive, gram=gram)

    def _declare(
        self,
        data: Centred,
        price: Floats,
        positive: bool,
        side: Floats | None = None,
        gram: Gram | None = None,
    ) -> None:
        """The system. `positive`: side_j b_j is not negative."""
        self.intercept, self.x_mean, self.y_mean = data.intercept, data.x_mean, data.y_mean
        self.root, self.X, self.y = data.root, data.X, data.y
        self.length, self.size, self.price, self.one_sided = data.length, data.size, price, positive
        p = len(self.length)
        self.side = np.ones(p) if side is None else side
        reach = self.length / price
        top = float(reach.max())
        self.unit = top * self.size
        self.level = level = top / reach  # prices of z, in units of t
        pull = self._correlation / (self.length * self.size)
        low = np.full(p, -np.inf) if positive else np.zeros(p)
        if gram is None:
            wide = p > len(self.X)
            gram = LowRankGram(self.X.T.copy()) if wide else DenseGram(self.X.T @ self.X)
        self.system = StaircaseSystem(
            Coupling(gram, np.arange(p), self.side / self.length, np.empty((p, 0))),
            q=-self.side * pull,
            r=np.zeros(p),
            stairs=Staircases.build(
                p,
                first="tread",
                stairs=[(low, 0.0 if positive else -level), (0.0, 0.0), (0.0, level)],
            ),
            unit=(float(np.abs(pull).max()) or 1.0, 0.0),
        )

    @cached_property
    def _correlation(self) -> Floats:
        """X'y, zero where it is only round-off."""
        product = self.X.T @ self.y
        noise = 8 * EPS * self.length * self.size
        return np.where(np.abs(product) <= noise, 0.0, product)

    def start(self, value: float | None = None) -> Start:
        """All zero, just above the largest correlation."""
        p = len(self.length)
        pull = self.side * self._correlation / self.price
        largest = float((pull if self.one_sided else np.abs(pull)).max()) / self.unit
        t = max(self.above * largest, 0.0) or 1.0
        return Start(np.full(p, ZERO), np.zeros(p), t, highest=True, solved=True)

    def columns(self, z: Floats, t: Floats, without: Ints | None = None) -> Columns:
        coef = z * self._factor[:, None]
        coef[self._dust(z, coef)] = 0.0
        b = self.y_mean - self.x_mean @ coef
        lam = t * self.unit
        return Columns(lam, coef, b, np.array([b, b]), coef, lam)

    def _dust(self, z: Floats, coef: Floats) -> Mask:
        """Which coefficients are what round-off leaves of zeros: by how far they move f.

        Others make a gap by it, and where the fit is nearly perfect the gap is seen.
        """
        size = np.abs(z)
        return np.asarray(size <= TOLD * size.max(axis=0))

    @cached_property
    def reading(self) -> Reading:
        """f = x'b + b0, with b0 = mean of y - (mean of x)'b."""
        factor = self._factor
        rows = np.arange(len(factor))
        return Reading(rows, factor, -self.x_mean * factor, self.y_mean, inverse=False)

    @cached_property
    def _factor(self) -> Floats:
        """Of z: b_j = factor_j z_j."""
        return self.side * self.size / self.length

    def objective(self, c: Columns) -> Floats:
        return self._objective(c, self._residuals(c.coef))

    def _objective(self, c: Columns, r: Floats) -> Floats:
        """r: the residuals of the best intercept."""
        off = self._off(c)
        if off.any():
            r = r + self.root[:, None] * off
        squares = np.ones(len(r)) @ (r * r)
        return 0.5 * squares + c.lambda_ * (self.price @ np.abs(c.coef))

    def _taking_part(self, coef: Floats) -> tuple[Floats, Floats]:
        """X and coef; of wide data the columns that are not 0 everywhere."""
        if self.X.shape[1] <= WIDE:
            return self.X, coef
        some = np.flatnonzero(coef.any(axis=1))
        return np.ascontiguousarray(self.X[:, some]), coef[some]

    def _residuals(self, coef: Floats) -> Floats:
        """y - X b."""
        X, coef = self._taking_part(coef)
        r = X @ coef
        return np.subtract(self.y[:, None], r, out=r)

    def _terms(self, size: Floats, unit: Floats) -> tuple[Floats, Floats]:
        """Sums of absolute terms: |X|'m / unit, the largest, and root'm, m = |X| size + |y|.

        With fewer columns of X than of b |X|'|X| comes first; else a strip of columns at a time.
        """
        (X, size), y = self._taking_part(size), np.abs(self.y)
        A, unit = np.abs(X), unit[:, None]
        in_sum = (self.root @ A) @ size + self.root @ y
        if self.X.shape[1] <= size.shape[1]:
            terms = (A.T @ A) @ size + (y @ A)[:, None]
            return (terms / unit).max(axis=0), in_sum
        m = A @ size + y[:, None]
        if X is self.X:
            return (A.T @ m / unit).max(axis=0), in_sum
        strips = (slice(k, k + WIDE) for k in range(0, self.X.shape[1], WIDE))
        sizes = (np.abs(self.X[:, s]).T @ m / unit[s] for s in strips)
        return np.maximum.reduce([size.max(axis=0) for size in sizes]), in_sum

    def free(self, c: Columns) -> Any:
        return c.coef != 0

    def degrees_of_freedom(self, c: Columns, active: Mask) -> Floats:
        """The number of non-zero coefficients (Zou, Hastie, Tibshirani 2007)."""
        return np.full(len(c.lambda_), np.count_nonzero(active) + float(self.intercept))

    def _off(self, c: Columns) -> Floats:
        """How far the intercept that a user holds is from the one that fits best."""
        return self.y_mean - self.x_mean @ c.coef - c.intercept

    def certificate(self, c: Columns) -> Certificate:
        """In units of correlation: columns and target of length one.

        P - D is taken at the dual point r, coefficient by coefficient; that r is feasible (no
        correlation beyond lambda) is what the violation measures. Columns are centred, so that the
        intercept does not enter their correlations: it is judged by itself, by the sum of r.
        """
        unit, size = self.length * self.size, np.abs(c.coef)
        r = self._residuals(c.coef)
        pull = self.X.T @ r
        x = (self.side / unit)[:, None] * pull
        # b less what the staircase makes of b + x: beyond the level nothing is lost but the level.
        level = (self.price / unit)[:, None] * c.lambda_
        held = (self.side * self.length / self.size)[:, None] * c.coef
        held += x
        np.minimum(held, level, out=held)
        if not self.one_sided:
            np.maximum(held, -level, out=held)
        held -= x
        violation = np.abs(held, out=held).max(axis=0)
        if c.alpha is not c.coef:
            tied = np.abs(c.alpha - c.coef) / np.maximum(np.abs(c.coef).max(axis=0), TINY)
            violation = np.maximum(violation, tied.max(axis=0))
        terms, of_sum = self._terms(size, unit)
        floor = EPS * terms
        short = np.abs(self.price[:, None] * c.lambda_ - np.sign(c.coef) * pull)
        # Large coefficients make much of round-off in their correlations: it does not count.
        short[short <= np.outer(unit, FLOORS * floor)] = 0.0
        gap = np.sum(size * short, axis=0)
        if self.intercept:
            total, of_sum = float(self.root @ self.root), np.maximum(of_sum, TINY)
            # What has cancelled in the intercept is not known better than to its round-off.
            terms = total * (np.abs(self.x_mean) @ size + abs(self.y_mean))
            excess = total * self._off(c)
            off = np.abs(excess)
            floor = np.maximum(floor, EPS * terms / of_sum)
            violation = np.maximum(violation, off / of_sum)
            told = off > FLOORS * EPS * (terms + of_sum)
            if told.any():
                gap[told] += np.abs((c.intercept - self.y_mean) * excess)[told]
        else:
            violation = np.maximum(
                violation, np.linalg.norm(self.root) * np.abs(c.intercept) / self.size
            )
        return Certificate(
            violation, relative(gap, self._objective(c, r), 0.5 * self.size**2), floor
        )

    def spec(self) -> dict[str, Any]:
        return {
            "intercept": self.intercept,
            "positive": self.positive,
            "standardize": self.standardize,
        }

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        return {"intercept": True, "positive": False, "standardize": False}
