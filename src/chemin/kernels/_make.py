"""From scikit-learn's words to a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from chemin._checks import Array, check_number, check_points, check_positive, check_weights
from chemin.kernels._given import Function, Precomputed
from chemin.kernels._kernel import Kernel
from chemin.kernels._named import (
    RBF,
    Cosine,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    check_degree,
)

KNOWN = ("linear", "poly", "polynomial", "rbf", "sigmoid", "laplacian", "cosine", "precomputed")


def make_kernel(
    kernel: str | Kernel | Callable[[Array, Array], Any] = "rbf",
    *,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    X: Any = None,
    sample_weight: Any = None,
) -> Kernel:
    """Return the kernel of that name, with its parameters settled.

    Parameters
    ----------
    kernel : str, callable or Kernel
        One of `KNOWN`, a function k(X, X') that returns a matrix, or a kernel. Of a kernel a copy
        is returned: what was learned with it does not see `set_params` afterwards.
    gamma : float > 0, "scale" or "auto"
        "scale" is 1 / (d Var(X)), "auto" is 1 / d. For rbf, poly, sigmoid and laplacian.
    degree : int >= 1
        For poly.
    coef0 : float
        For poly and sigmoid.
    X : array-like of shape (n, d), optional
        The training points; "scale" and "auto" need them.
    sample_weight : array-like of shape (n,), optional
        Weights in Var(X): a weight of k counts as k rows.

    Examples
    --------
    >>> make_kernel("rbf", gamma="auto", X=[[0.0, 1.0], [2.0, 3.0]])
    RBF(gamma=0.5)
    """
    if isinstance(kernel, Kernel):
        return kernel.copied()
    _check_gamma(gamma)
    degree, coef0 = check_degree(degree), check_number(coef0, "coef0")
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    build: dict[str, Callable[[], Kernel]] = {
        "linear": Linear,
        "poly": lambda: Polynomial(_settle(gamma, X, sample_weight), degree, coef0),
        "rbf": lambda: RBF(_settle(gamma, X, sample_weight)),
        "sigmoid": lambda: Sigmoid(_settle(gamma, X, sample_weight), coef0),
        "laplacian": lambda: Laplacian(_settle(gamma, X, sample_weight)),
        "cosine": Cosine,
        "precomputed": Precomputed,
    }
    build["polynomial"] = build["poly"]
    if not isinstance(kernel, str) or kernel not in build:
        raise ValueError(
            f"kernel must be one of {', '.join(KNOWN)}, a function or a Kernel, got {kernel!r}."
        )
    return build[kernel]()


def _check_gamma(gamma: float | str) -> None:
    if not isinstance(gamma, str):
        check_positive(gamma, "gamma")
    elif gamma not in ("scale", "auto"):
        raise ValueError(f'gamma must be a number > 0, "scale" or "auto", got {gamma!r}.')


def _settle(gamma: float | str, X: Any, sample_weight: Any) -> float:
    """Return gamma as a number."""
    if not isinstance(gamma, str):
        return float(gamma)
    if X is None:
        raise ValueError(f"X must be given for gamma={gamma!r}, got None.")
    points = check_points(X)
    if gamma == "auto":
        return 1.0 / int(points.shape[1])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = weighted_variance(points, sample_weight)
        settled = float(1.0 / (points.shape[1] * variance)) if variance != 0 else 1.0
    if not 0 < settled < np.inf:
        raise ValueError(
            f'gamma="scale" is 1 / (d Var(X)), but the variance of X is {variance:.3g}, expected '
            "one within the range of double precision: rescale X."
        )
    return settled


def weighted_variance(X: Any, sample_weight: Any = None) -> float:
    """Return the variance of all entries of X, each row counted by its weight.

    Var = sum_i w_i sum_j (X_ij - m)² / (d sum_i w_i), m the mean with the same weights.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sample_weight : array-like of shape (n,), optional
    """
    weights = check_weights(sample_weight, X.shape[0])
    X, weights = X[weights > 0], weights[weights > 0]
    if issparse(X):
        return _sparse_variance(X, weights)
    if np.ptp(weights) == 0:
        return float(X.var())  # scikit-learn's very number
    share = weights / weights.sum()
    mean = share @ X.mean(axis=1)
    return float(share @ ((X - mean) ** 2).mean(axis=1))


def _sparse_variance(X: Any, weights: Array) -> float:
    """The same by squares: scikit-learn's very number where weights are equal."""
    squares = X.multiply(X)
    if np.ptp(weights) == 0:
        return float(squares.mean() - X.mean() ** 2)
    share = weights / weights.sum()
    return float(share @ squares.mean(axis=1) - (share @ X.mean(axis=1)) ** 2)
