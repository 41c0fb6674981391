"""The error of ridge regression as a function of one penalty a coefficient, with its gradient.

Training, on rows with weights v that sum to n (the constant is never penalised):

    b = argmin  1/n sum_t v_t 1/2 (x_t'b - y_t)^2 + sum_m lambda_m^2 b_m^2,   H b = c
    H = X'VX/n + 2 diag(lambda^2),   c = X'Vy/n

Selection: E = sum over trials, over test rows, of omega_t 1/2 (x_t'b - y_t)^2.

Gradient, by one more solve with H in each trial (the adjoint):

    H a = sum_t omega_t (x_t'b - y_t) x_t,     dE/dlambda_m = -4 lambda_m sum over trials of a_m b_m
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dpotrs

from .criteria import EVERY, Criterion, Trial
from .family import Family, Rows
from .piecewise import Floats

# In units of a column's standard deviation. Below the first a penalty is a part 2e-10 of the
# column's curvature, far below what data determine, and yet H can be factored in double precision;
# above the second it is 2e16 of it, and the coefficient is 0 to round-off.
LEAST, MOST = 1e-5, 1e8
# Matrices H of all trials are kept while they take no more than this.
MOST_BYTES = 2**28


@dataclass(frozen=True)
class Sample:
    """Rows for a criterion to draw its trials from."""

    X: Floats
    y: Floats
    weight: Floats
    classifier: bool = False

    def __len__(self) -> int:
        return len(self.X)

    @property
    def used(self) -> Rows:
        """Rows with a positive weight."""
        return np.flatnonzero(self.weight > 0)

    def trials(self, criterion: Criterion) -> list[Trial]:
        """The trials of a criterion, which asks for no more than rows."""
        return criterion.trials(cast(Family, self))


class RidgeError:
    """E and its gradient in the penalties.

    Parameters
    ----------
    sample : Sample
        X of shape (n, d), centred and scaled by `Columns`; y of shape (n, k) for k outputs.
    criterion : Criterion
        What is trained on what and tested on what.
    intercept : bool
        Whether every trial has a constant of its own, unpenalised.
    closed_form : bool or None
        Whether rows are left out in closed form. None: where that is cheaper.

    Calling it with d penalties in units of the columns gives E and its gradient. Penalties outside
    [LEAST, MOST] count as the nearer end, where the gradient is 0.
    """

    def __init__(
        self,
        sample: Sample,
        criterion: Criterion,
        *,
        intercept: bool = True,
        closed_form: bool | None = None,
    ) -> None:
        X = np.column_stack([np.ones(len(sample)), sample.X]) if intercept else sample.X
        self.free = int(intercept)  # so many columns in front are not penalised
        trials = sample.trials(criterion)
        tests = [_Test(t, _test_weights(t, sample, criterion.pooled)) for t in trials]
        n_folds = 1 if criterion.pooled else len(tests)
        self.parts: list[_LeftOut | _Trained] = []
        left_out, others = _sorted_out(tests, sample, X.shape[1], closed_form)
        for n, group in left_out:
            self.parts.append(_LeftOut(X, sample, n, group, n_folds))
        for group in others:
            self.parts.append(_Trained(X, sample, group, n_folds))

    def __call__(self, penalties: Floats) -> tuple[float, Floats]:
        size = np.clip(np.abs(penalties), LEAST, MOST)
        diagonal = np.concatenate([np.zeros(self.free), 2.0 * size**2])
        value, slope = 0.0, np.zeros(len(diagonal))
        for part in self.parts:
            more, by_diagonal = part(diagonal)
            value += more
            slope += by_diagonal
        inside = size == np.abs(penalties)
        return value, np.where(inside, 4.0 * penalties * slope[self.free :], 0.0)


@dataclass(frozen=True)
class _Test:
    """A trial, and the weights of its test rows in E."""

    trial: Trial
    weight: Floats  # summing to the share of the trial


def _test_weights(trial: Trial, sample: Sample, pooled: bool) -> Floats:
    """Test rows count by their weights; pooled, all rows of all folds are one mean."""
    weight = sample.weight[trial.test]
    one_mean = pooled and trial.fold != EVERY
    whole = sample.weight[sample.used].sum() if one_mean else weight.sum()
    return cast(Floats, trial.share * weight / whole)


def _sorted_out(
    tests: Sequence[_Test], sample: Sample, width: int, closed_form: bool | None
) -> tuple[list[tuple[float, list[_Test]]], list[list[_Test]]]:
    """Trials on all rows but their test rows, by weight and number, and all others by number.

    Leaving rows out of one factor beats a factor for each trial while they are few.
    """
    left: dict[tuple[float, int], list[_Test]] = defaultdict(list)
    others: dict[int, list[_Test]] = defaultdict(list)
    for test in tests:
        rows, size = test.trial.test, len(test.trial.test)
        wanted = 2 * size <= width if closed_form is None else closed_form
        complement = test.trial.times is None and np.array_equal(
            np.sort(test.trial.train), np.setdiff1d(sample.used, rows)
        )
        if wanted and complement:
            total = float(sample.weight[test.trial.train].sum())
            left[total, size].append(test)
        else:
            others[size].append(test)
    return [(n, group) for (n, _), group in left.items()], list(others.values())


# ---------------------------------------------------------------------- rows left out of one factor


class _LeftOut:
    """Trials that train on all rows but their own, of equal number and of equal total weight n.

    With rows scaled by sqrt(v/n), A = X'X + diag and P = X_k A^-1 X_k' for the rows k left out:

        e = (I - P)^-1 (y_k - X_k A^-1 X'y)          the error of the rows k without them
        b = A^-1 (X'y - X_k' e)                      the coefficients without them
        H^-1 X_k' = A^-1 X_k' (I - P)^-1             which gives the adjoint

    One Cholesky factor A = LL' serves all folds. Leave-one-out is rows of one.
    """

    def __init__(
        self, X: Floats, sample: Sample, n: float, tests: list[_Test], n_folds: int
    ) -> None:
        root = np.sqrt(sample.weight / n)[:, None]
        X, y = root * X, root * sample.y
        self.gram, self.moment = X.T @ X, X.T @ y
        rows = np.array([test.trial.test for test in tests])
        self.X, self.y = X[rows], y[rows]  # (trials, rows, columns), (trials, rows, outputs)
        self.stacked = np.asfortranarray(X[rows.ravel()])
        # In E a squared error counts omega; of the scaled rows omega n/v, one number a trial.
        counts = np.array(
            [test.weight.sum() / sample.weight[test.trial.test].sum() for test in tests]
        )
        self.counts = (n / n_folds) * counts[:, None, None]

    def __call__(self, diagonal: Floats) -> tuple[float, Floats]:
        L = _cholesky(_with_diagonal(self.gram, diagonal))
        b = dpotrs(L, self.moment, lower=1)[0]
        half = dtrsm(1.0, L, self.stacked, side=1, lower=1, trans_a=1)  # X_k L'^-1 of all trials
        trials, rows, width = self.X.shape
        V = half.reshape(trials, rows, width)  # a view
        keep = np.eye(rows) - V @ V.transpose(0, 2, 1)  # I - P
        e = _solved(keep, self.y - self.X @ b)
        q = _solved(keep, e) * self.counts
        both = np.concatenate([V.transpose(0, 2, 1) @ e, V.transpose(0, 2, 1) @ q], axis=2)
        moved = dtrsm(1.0, L, both.transpose(1, 0, 2).reshape(width, -1), lower=1, trans_a=1)
        moved = moved.reshape(width, trials, -1)
        outputs = e.shape[2]
        coef, adjoint = b[:, None] - moved[..., :outputs], moved[..., outputs:]
        value = 0.5 * float(np.sum(self.counts * e * e))
        return value, np.einsum("mkj,mkj->m", coef, adjoint)


def _with_diagonal(gram: Floats, diagonal: Floats) -> Floats:
    A = gram.copy(order="F")
    A.reshape(-1, order="F")[:: len(A) + 1] += diagonal
    return A


def _cholesky(A: Floats) -> Floats:
    """L in the lower triangle of A itself, A = LL'."""
    L, failed = dpotrf(A, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise FloatingPointError(f"H is not positive definite: pivot {failed} is not positive")
    return cast(Floats, L)


def _solved(matrices: Floats, right: Floats) -> Floats:
    """Of systems of one equation a division."""
    if matrices.shape[1] == 1:
        return right / matrices
    return cast(Floats, np.linalg.solve(matrices, right))


# ---------------------------------------------------------------------- one factor for each trial


class _Trained:
    """Any trials with equal numbers of test rows: H of each is factored, all in one batch.

    H Z = [c, X_test'] gives b and, with the errors e of the test rows, the adjoint a = Z e.
    """

    def __init__(self, X: Floats, sample: Sample, tests: list[_Test], n_folds: int) -> None:
        self.X_all, self.y_all, self.weight, self.tests = X, sample.y, sample.weight, tests
        rows = np.array([test.trial.test for test in tests])
        self.X, self.y = X[rows], sample.y[rows]
        self.omega = np.array([test.weight for test in tests])[:, :, None] / n_folds
        each = 8 * X.shape[1] ** 2
        size = max(1, MOST_BYTES // each)
        cuts = [slice(i, i + size) for i in range(0, len(tests), size)]
        self.kept = {0: self._moments(cuts[0])} if len(cuts) == 1 else {}
        self.cuts = cuts

    def _moments(self, part: slice) -> tuple[Floats, Floats]:
        """X'VX/n and X'Vy/n of some trials."""
        tests, width = self.tests[part], self.X_all.shape[1]
        grams = np.empty((len(tests), width, width))
        moments = np.empty((len(tests), width, self.y_all.shape[1]))
        for k, test in enumerate(tests):
            rows, times = test.trial.train, test.trial.times
            v = self.weight[rows] if times is None else times * self.weight[rows]
            root = np.sqrt(v / v.sum())[:, None]
            Z = root * self.X_all[rows]
            np.matmul(Z.T, Z, out=grams[k])
            np.matmul(Z.T, root * self.y_all[rows], out=moments[k])
        return grams, moments

    def __call__(self, diagonal: Floats) -> tuple[float, Floats]:
        value, slope = 0.0, np.zeros(len(diagonal))
        for i, part in enumerate(self.cuts):
            grams, moments = self.kept[i] if i in self.kept else self._moments(part)
            more, by_diagonal = self._some(part, grams, moments, diagonal)
            value += more
            slope += by_diagonal
        return value, slope

    def _some(
        self, part: slice, grams: Floats, moments: Floats, diagonal: Floats
    ) -> tuple[float, Floats]:
        X, y, omega = self.X[part], self.y[part], self.omega[part]
        width, outputs = len(diagonal), y.shape[2]
        # Ones on the diagonal of H: penalties may be 1e16 times others.
        unit = 1.0 / np.sqrt(np.einsum("kmm->km", grams) + diagonal)[:, :, None]
        H = grams * unit * unit.transpose(0, 2, 1)
        H[:, range(width), range(width)] = 1.0
        right = np.concatenate([moments, X.transpose(0, 2, 1)], axis=2)
        Z = unit * np.linalg.solve(H, unit * right)
        b = Z[:, :, :outputs]
        e = X @ b - y
        a = Z[:, :, outputs:] @ (omega * e)
        return 0.5 * float(np.sum(omega * e * e)), -np.einsum("kmj,kmj->m", a, b)


# ---------------------------------------------------------------------- columns


@dataclass(frozen=True)
class Columns:
    """Centres and scales of the columns of X and y, by which the data enter E.

    E does not change when X and y are centred; in units of their standard deviations columns
    are alike, and so are penalties: lambda is scale times the penalty of the scaled column.
    """

    centre: Floats
    scale: Floats
    level: Floats  # of y

    @classmethod
    def of(cls, X: Floats, y: Floats, weight: Floats, intercept: bool) -> Columns:
        """Of the data; without a constant nothing is centred."""
        share = weight / weight.sum()
        centre = share @ X if intercept else np.zeros(X.shape[1])
        level = share @ y if intercept else np.zeros(y.shape[1])
        scale = np.sqrt(share @ (X - centre) ** 2)
        # What is constant to round-off has no scale.
        size = np.abs(X).max(axis=0)
        return cls(
            centre, np.where(scale > 1e-14 * size, scale, np.where(size > 0, size, 1.0)), level
        )

    def apply(self, X: Floats, y: Floats) -> tuple[Floats, Floats]:
        return (X - self.centre) / self.scale, y - self.level


def ridge_coefficients(
    X: Floats, y: Floats, weight: Floats, penalties: Floats, intercept: bool
) -> tuple[Floats, Floats]:
    """Coefficients (d, k) and constants (k,) of the training criterion on all rows.

    Penalties outside [LEAST, MOST] columns' scales count as the nearer end.
    """
    columns = Columns.of(X, y, weight, intercept)
    Z, target = columns.apply(X, y)
    root = np.sqrt(weight / weight.sum())[:, None]
    Z, target = root * Z, root * target
    size = np.clip(np.abs(penalties) / columns.scale, LEAST, MOST)
    A = _with_diagonal(Z.T @ Z, 2.0 * size**2)
    b: Any = dpotrs(_cholesky(A), Z.T @ target, lower=1)[0]
    b = b / columns.scale[:, None]
    return b, columns.level - columns.centre @ b


__all__ = ["LEAST", "MOST", "Columns", "RidgeError", "Sample", "ridge_coefficients"]
