"""Simulated data."""

from __future__ import annotations

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
