"""Models with many hyper-parameters, fold by fold, for `tune`.

Kernel models have a Gaussian kernel with one width a feature (automatic relevance determination),

    k(x, x') = exp(-sum_j (x_j - x'_j)^2 / (2 s_j^2))

and hyper-parameters (log lambda, log s_1, ..., log s_d): the width of a feature that says nothing
grows until the feature is out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.model_selection import check_cv

from .._checks import check_folds, check_matrix, check_target, check_two_classes
from ..kernels import RBF
from .piecewise import Floats
from .tuning import MeanError, QuadraticCriterion, SmoothCriterion

WIDTH_OF_ONE = RBF(0.5)


@dataclass(frozen=True)
class Folds:
    """Training and selection criteria, one pair a fold.

    `tune(folds.training, folds.selection, start)` minimises their mean; `folds(lambda_)` is that
    mean and its gradient.
    """

    training: list[Any]
    selection: list[Any]

    def __call__(self, lambda_: ArrayLike) -> tuple[float, Floats]:
        return MeanError(self.training, self.selection)(np.asarray(lambda_, dtype=float))


def splits_of(cv: Any, X: Floats, y: NDArray[Any], classifier: bool) -> list[Any]:
    check_folds(cv, len(X))
    return list(check_cv(cv, y, classifier=classifier).split(X, y))


# ---------------------------------------------------------------------- the kernel and its widths


class Widths:
    """The Gaussian kernel with one width a feature between two sets of points, and its slopes."""

    def __init__(self, A: Floats, B: Floats) -> None:
        # Distances do not see the centre, and round-off of their squares does.
        centre = B.mean(axis=0)
        self.A, self.B = A - centre, B - centre

    def matrix(self, logs: Floats) -> Floats:
        """K at log widths."""
        scale = np.exp(-logs)
        return WIDTH_OF_ONE.cross(self.A * scale, self.B * scale)

    def slopes(self, logs: Floats, K: Floats, u: Floats, v: Floats) -> Floats:
        """The gradient of u'Kv in the log widths: sum_pq u_p v_q K_pq (a_pj - b_qj)^2 / s_j^2."""
        W = u[:, None] * K * v
        squares = W.sum(axis=1) @ self.A**2 + W.sum(axis=0) @ self.B**2
        products = np.einsum("pj,pj->j", self.A, W @ self.B)
        return np.asarray((squares - 2.0 * products) * np.exp(-2.0 * logs))


# ---------------------------------------------------------------------- kernel ridge


def kernel_ridge_folds(X: ArrayLike, y: ArrayLike, cv: Any = 5) -> Folds:
    """Kernel ridge regression, one width a feature, judged by half the squared error.

        min  lambda/2 |f|^2 + 1/2 sum_i (y_i - m - f(x_i))^2,      m the mean of y

    A quadratic criterion: (K + lambda I) coef = y - m.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of n numbers
    cv : int, splitter or list of (train, test)

    Returns
    -------
    Folds
        In log lambda and the logarithms of the d widths.
    """
    points = check_matrix(X)
    target = check_target(y, len(points))
    pairs = [
        _kernel_ridge(points[train], target[train], points[test], target[test])
        for train, test in splits_of(cv, points, target, False)
    ]
    return Folds([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _kernel_ridge(X: Floats, y: Floats, X_test: Floats, y_test: Floats) -> tuple[Any, Any]:
    own, cross, level = Widths(X, X), Widths(X_test, X), float(y.mean())

    def pull_back(p: Floats, a: Floats, b: Floats) -> Floats:
        K = own.matrix(p[1:])
        return np.concatenate([[np.exp(p[0]) * (a @ b)], own.slopes(p[1:], K, a, b)])

    def selection(p: Floats, b: Floats) -> tuple[float, Floats, Floats]:
        K = cross.matrix(p[1:])
        error = K @ b + level - y_test
        pull = error / len(error)
        directly = np.concatenate([[0.0], cross.slopes(p[1:], K, pull, b)])
        return 0.5 * float(np.mean(error**2)), K.T @ pull, directly

    def H(p: Floats) -> Floats:
        K = own.matrix(p[1:])
        K.flat[:: len(K) + 1] += np.exp(p[0])
        return K

    return QuadraticCriterion(H, lambda p: level - y, pull_back), selection


# ---------------------------------------------------------------------- logistic regression


def logistic_folds(X: ArrayLike, y: ArrayLike, cv: Any = 5) -> Folds:
    """Logistic regression with one penalty a feature, judged by the logistic loss.

        min  1/n sum_i log(1 + exp(-y_i (x_i'b + b0))) + 1/2 sum_m exp(lambda_m) b_m^2

    A smooth criterion. The constant b0, the last parameter, is not penalised.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of n labels, two different ones
    cv : int, splitter or list of (train, test)

    Returns
    -------
    Folds
        In the logarithms of the d penalties.
    """
    points = check_matrix(X)
    signs, _ = check_two_classes(y, len(points))
    pairs = [
        _logistic(points[train], signs[train], points[test], signs[test])
        for train, test in splits_of(cv, points, signs, True)
    ]
    return Folds([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _logistic(X: Floats, y: Floats, X_test: Floats, y_test: Floats) -> tuple[Any, Any]:
    Z = y[:, None] * np.column_stack([X, np.ones(len(X))])
    Z_test = y_test[:, None] * np.column_stack([X_test, np.ones(len(X_test))])

    def penalty(p: Floats) -> Floats:
        return np.append(np.exp(p), 0.0)

    def value(p: Floats, b: Floats) -> float:
        return float(np.mean(np.logaddexp(0.0, -Z @ b)) + 0.5 * penalty(p) @ b**2)

    def gradient(p: Floats, b: Floats) -> Floats:
        return -Z.T @ expit(-Z @ b) / len(Z) + penalty(p) * b

    def hessian_product(p: Floats, b: Floats, v: Floats) -> Floats:
        chance = expit(-Z @ b)
        return Z.T @ (chance * (1.0 - chance) * (Z @ v)) / len(Z) + penalty(p) * v

    def pull_back(p: Floats, a: Floats, b: Floats) -> Floats:
        return np.exp(p) * a[:-1] * b[:-1]

    def selection(p: Floats, b: Floats) -> tuple[float, Floats]:
        margin = Z_test @ b
        return float(np.mean(np.logaddexp(0.0, -margin))), -Z_test.T @ expit(-margin) / len(margin)

    return SmoothCriterion(value, gradient, hessian_product, pull_back, Z.shape[1]), selection


__all__ = ["WIDTH_OF_ONE", "Folds", "Widths", "kernel_ridge_folds", "logistic_folds", "splits_of"]
