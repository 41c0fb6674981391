"""Simulated data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def make_sinexp(
    n: int = 100, random_state: int | np.random.Generator | None = None, *, noise: float = 0.0
) -> tuple[Array, Array]:
    """Return a curve that oscillates faster and faster.

    y = sin(exp(3 x)) + noise e, x uniform on [0, 1], e standard normal

    Parameters
    ----------
    n : int
        Number of points.
    random_state : int, Generator or None
        Seed. The x are the same with and without noise.
    noise : float >= 0
        Standard deviation of the noise.

    Returns
    -------
    X : ndarray of shape (n, 1)
    y : ndarray of shape (n,)
    """
    if n < 1:
        raise ValueError(f"n must be an integer >= 1, got {n!r}.")
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}.")
    rng = np.random.default_rng(random_state)
    x = rng.uniform(size=n)
    return x[:, None], np.sin(np.exp(3 * x)) + noise * rng.standard_normal(n)


def make_speed_benchmark(n: int, seed: int = 0) -> tuple[Array, NDArray[np.int64]]:
    """Return the two classes on which chemin is timed.

    scikit-learn's make_classification with 20 features, 8 of them informative, 5 % of the labels
    flipped and class_sep = 0.8; each feature with mean 0 and variance 1.

    Parameters
    ----------
    n : int
        Number of points.
    seed : int

    Returns
    -------
    X : ndarray of shape (n, 20)
    y : ndarray of shape (n,)
        Labels 0 and 1.
    """
    # Here, not above: scikit-learn takes seconds to import, and `load` does without it.
    from sklearn.datasets import make_classification
    from sklearn.preprocessing import StandardScaler

    X, y = make_classification(
        n, 20, n_informative=8, flip_y=0.05, class_sep=0.8, random_state=seed
    )
    return StandardScaler().fit_transform(X), y


def breiman_coefficients(
    n_features: int = 30,
    centres: Sequence[int] = (5, 15, 25),
    *,
    h: int = 3,
    rho: float = 0.5,
    r2: float = 0.75,
) -> Array:
    """Return the coefficients of Breiman's simulation: bumps around some of the variables.

    b_m = c sum_i ((h - abs(m - k_i))_+)^2, m from 1 on; with h = 0: c at the centres k_i

    and c so that the variables explain the share r2 of the variance of the target.

    Parameters
    ----------
    n_features : int
    centres : sequence of int
        The k_i, counted from 1.
    h : int >= 0
        How wide the bumps are: 2 h - 1 coefficients of each are not 0.
    rho : float in (-1, 1)
        The covariance of variables i and j is rho ** abs(i - j).
    r2 : float in (0, 1)

    Returns
    -------
    coef : ndarray of shape (n_features,)

    Examples
    --------
    >>> [int((breiman_coefficients(h=h) != 0).sum()) for h in (1, 3, 5)]
    [3, 15, 27]
    """
    if h < 0 or h != int(h):
        raise ValueError(f"h must be an integer >= 0, got {h!r}.")
    outside = [k for k in centres if not 1 <= k <= n_features]
    if outside or len(centres) == 0:
        raise ValueError(f"centres must lie between 1 and {n_features}, got {tuple(centres)!r}.")
    if not -1 < rho < 1:
        raise ValueError(f"rho must be a number between -1 and 1, both excluded, got {rho!r}.")
    if not 0 < r2 < 1:
        raise ValueError(f"r2 must be a number between 0 and 1, both excluded, got {r2!r}.")
    place = np.arange(1, n_features + 1)
    away = np.abs(place[:, None] - np.asarray(centres))
    bumps = np.maximum(h - away, 0.0) ** 2 if h else (away == 0).astype(float)
    shape = bumps.sum(axis=1)
    covariance = float(rho) ** np.abs(np.subtract.outer(place, place))
    return np.asarray(shape * np.sqrt(r2 / (1 - r2) / (shape @ covariance @ shape)))


def make_breiman(
    n: int = 60,
    random_state: int | np.random.Generator | None = None,
    *,
    n_features: int = 30,
    centres: Sequence[int] = (5, 15, 25),
    h: int = 3,
    rho: float = 0.5,
    r2: float = 0.75,
) -> tuple[Array, Array, Array]:
    """Return a draw of Breiman's simulation of regression with many variables.

    y = X coef + e, e standard normal, the rows of X normal with covariances rho ** abs(i - j)

    The experiments with it have 30 variables, centres 5, 15 and 25, h = 1, 3 or 5 and 60 rows, or
    200 variables, centres 5, 15, ..., 195, h = 1 or 3 and 400 rows, or centres 1, 100 and 200 with
    h = 0; all with rho = 0.1, 0.5 and 0.9.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, Generator or None
        Seed.
    n_features, centres, h, rho, r2 : as in `breiman_coefficients`

    Returns
    -------
    X : ndarray of shape (n, n_features)
    y : ndarray of shape (n,)
    coef : ndarray of shape (n_features,)

    References
    ----------
    Breiman (1996). Heuristics of instability and stabilization in model selection. Annals of
    Statistics 24.
    """
    if n < 1:
        raise ValueError(f"n must be an integer >= 1, got {n!r}.")
    coef = breiman_coefficients(n_features, centres, h=h, rho=rho, r2=r2)
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n, n_features))
    new = np.sqrt(1 - rho * rho)
    for j in range(1, n_features):  # each variable is a part of the one before, and something new
        X[:, j] = rho * X[:, j - 1] + new * X[:, j]
    return X, X @ coef + rng.standard_normal(n), coef


def make_mixture(
    n: int = 100, random_state: int | np.random.Generator | None = None
) -> tuple[Array, Array]:
    """Return 16 variables that are noise and 3 that count, from mixtures of normals.

    y = x_17 + x_18 + x_19 + e, e standard normal

    The noise comes from a mixture of five normals, the useful variables from one of three, all
    with mean zero and covariances A A', the entries of A standard normal. Every call draws its own
    mixtures: take rows for training and for testing from one call.

    Parameters
    ----------
    n : int
        Number of rows.
    random_state : int, Generator or None
        Seed, of the mixtures too.

    Returns
    -------
    X : ndarray of shape (n, 19)
    y : ndarray of shape (n,)
    """
    if n < 1:
        raise ValueError(f"n must be an integer >= 1, got {n!r}.")
    rng = np.random.default_rng(random_state)
    noise, useful = (_mixture(n, size, count, rng) for size, count in ((16, 5), (3, 3)))
    return np.hstack([noise, useful]), useful.sum(axis=1) + rng.standard_normal(n)


def _mixture(n: int, size: int, count: int, rng: np.random.Generator) -> Array:
    """Rows of so many variables, each from one of so many normals."""
    A = rng.standard_normal((count, size, size))
    which = rng.integers(count, size=n)
    return np.einsum("nij,nj->ni", A[which], rng.standard_normal((n, size)))
