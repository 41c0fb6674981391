"""What a matrix says of itself: whether it is a kernel's, and how like another it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from chemin._checks import Array, check_gram, check_target

EPS = float(np.finfo(np.float64).eps)
ROUNDINGS = 10.0
"""Eigenvalues of a symmetric matrix of n rows are known to some n eps times the largest. A negative
one within this many times that may be a zero."""


@dataclass(frozen=True)
class KernelCheck:
    """Whether a matrix is positive semi-definite, and what its eigenvalues say.

    It counts as True where the matrix is one of a kernel.

    Attributes
    ----------
    valid : bool
    smallest, largest : float
        Eigenvalues.
    tolerance : float
        Below minus this an eigenvalue is negative, above it may be round-off.
    n_negative : int
        How many eigenvalues are negative.
    """

    valid: bool
    smallest: float
    largest: float
    tolerance: float
    n_negative: int

    def __bool__(self) -> bool:
        return self.valid

    @property
    def advice(self) -> str:
        """What to do about it."""
        if self.valid:
            return "The matrix is positive semi-definite: nothing need be done."
        part = abs(self.smallest) / max(self.largest, abs(self.smallest))
        if part < 1e-6:
            return (
                f"The matrix is positive semi-definite but for {part:.1g} of its largest "
                "eigenvalue, as if it had been written with few digits: compute it in double "
                "precision, or set negative eigenvalues to 0."
            )
        many = f"{self.n_negative} eigenvalues are negative, the smallest"
        count = "1 eigenvalue is negative," if self.n_negative == 1 else many
        return (
            f"{count} {self.smallest:.3g} beside a largest of {self.largest:.3g}: this is no "
            "kernel. Take another one (RBF, or a polynomial with coef0 >= 0), or use the rows of "
            "the matrix as features, whose products K K' are a kernel."
        )

    def __repr__(self) -> str:
        return (
            f"KernelCheck({self.valid}, smallest eigenvalue {self.smallest:.3g}, largest "
            f"{self.largest:.3g})"
        )


def is_kernel(K: Any) -> KernelCheck:
    """Return whether K is positive semi-definite, with its extreme eigenvalues.

    A symmetric function is a kernel if sum_ij c_i c_j k(x_i, x_j) >= 0 for all points and all c.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric.

    Examples
    --------
    >>> is_kernel([[2.0, 1.0], [1.0, 2.0]])
    KernelCheck(True, smallest eigenvalue 1, largest 3)
    >>> bool(is_kernel([[1.0, 2.0], [2.0, 1.0]]))
    False
    """
    matrix = check_gram(K, "K")
    values = np.linalg.eigvalsh(matrix)
    smallest, largest = float(values[0]), float(values[-1])
    tolerance = ROUNDINGS * len(values) * EPS * max(abs(smallest), abs(largest))
    negative = int(np.count_nonzero(values < -tolerance))
    return KernelCheck(negative == 0, smallest, largest, tolerance, negative)


def kernel_alignment(K: Any, other: Any, *, centred: bool = True) -> float:
    """Return the cosine between two kernel matrices, or between one and the labels' own.

        A = <K1, K2> / (|K1| |K2|),      K2 = y y' where labels or targets are given

    Parameters
    ----------
    K : array-like of shape (n, n)
    other : array-like of shape (n, n), or n numbers
        Another kernel matrix, or y.
    centred : bool
        Whether means are taken away in feature space first. Without it unbalanced classes make
        any kernel look good.

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff, Kandola (2001). On kernel-target alignment. NIPS 14.
    Cortes, Mohri, Rostamizadeh (2012). Algorithms for learning kernels based on centered alignment.
    JMLR 13.

    Examples
    --------
    >>> y = [-1.0, -1.0, 1.0, 1.0]
    >>> K = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> round(kernel_alignment(K, y), 12)
    1.0
    """
    first = check_gram(K, "K")
    if np.ndim(other) == 1:
        y = check_target(other, len(first))
        second = np.outer(y, y)
    else:
        second = check_gram(other, "other")
    if len(second) != len(first):
        raise ValueError(
            f"other has {len(second)} rows, but K has {len(first)}: expected the same points."
        )
    if centred:
        first, second = _centred(first), _centred(second)
    norms = np.linalg.norm(first) * np.linalg.norm(second)
    if norms == 0:
        raise ValueError("K and other must not be constant: there is nothing to align.")
    return float(np.vdot(first, second) / norms)


def _centred(K: Array) -> Array:
    """K with the mean taken away in feature space."""
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()
