"""Kernels of strings: what they share of short substrings.

A path works with matrices of numbers, so strings enter as their code points, one row a string, with
`PAD` after its end. `encode` makes them at the door.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from chemin._checks import Array, check_count, check_flag, check_matrix, check_memory
from chemin.kernels._kernel import Kernel

PAD = -1.0  # no character has this code


@dataclass(frozen=True)
class Spectrum(Kernel):
    """How often two strings have the same substrings of k letters.

        k(x, x') = sum_u c_u(x) c_u(x'),      c_u(x): how often u occurs in x

    Parameters
    ----------
    k : int >= 1
        The length of the substrings u.
    blended : bool
        Whether substrings of 1 to k letters count.
    normalised : bool
        Whether to divide by sqrt(k(x, x) k(x', x')): then long strings weigh no more than short.

    References
    ----------
    Leslie, Eskin, Noble (2002). The spectrum kernel: a string kernel for SVM protein
    classification. PSB 7.

    Examples
    --------
    >>> Spectrum(k=2).gram(["abab", "abba"])
    array([[5., 3.],
           [3., 3.]])
    """

    name: ClassVar[str] = "spectrum"
    k: int = 3
    blended: bool = False
    normalised: bool = False

    def __post_init__(self) -> None:
        if self.k is None:
            raise ValueError("k must be an integer >= 1, got None.")
        check_count(self.k, "k")
        object.__setattr__(self, "k", int(self.k))
        for flag in ("blended", "normalised"):
            object.__setattr__(self, flag, check_flag(getattr(self, flag), flag))

    @property
    def of_strings(self) -> bool:
        return True

    def points(self, X: Any, name: str = "X") -> Array:
        """Return strings as rows of code points, none shorter than k."""
        codes = encode(X, name)
        lengths = (codes != PAD).sum(axis=1)
        if not self.blended and lengths.min() < self.k:
            i = int(lengths.argmin())
            raise ValueError(
                f"{name}[{i}] has {lengths[i]} letters, expected at least k = {self.k}: it has no "
                "substring of that length."
            )
        return codes

    def gram(self, X: Any) -> Array:
        """Return the exactly symmetric matrix K_ij = k(x_i, x_j)."""
        codes = self.points(X)
        check_memory(len(codes), "X")
        counts = self._counts(codes)
        return self._divided((counts @ counts.T).toarray(), counts, counts)

    def cross(self, X_new: Any, X: Any) -> Array:
        """Return the matrix K_ij = k(x_new_i, x_j) of shape (n_new, n)."""
        new, old = self.points(X_new, "X_new"), self.points(X)
        counts = self._counts(_one_below_the_other(new, old))
        new_counts, old_counts = counts[: len(new)], counts[len(new) :]
        return self._divided((new_counts @ old_counts.T).toarray(), new_counts, old_counts)

    def _counts(self, codes: Array) -> csr_array:
        """How often each substring occurs in each string, one column a substring."""
        parts = []
        for length in range(1 if self.blended else self.k, self.k + 1):
            parts.append(_occurrences(codes, length))
        first = np.cumsum([0] + [width for *_, width in parts])
        row = np.concatenate([row for row, _, _ in parts])
        column = np.concatenate([start + col for start, (_, col, _) in zip(first, parts)])
        ones = np.ones(len(row))
        counts = csr_array((ones, (row, column)), shape=(len(codes), int(first[-1])))
        counts.sum_duplicates()
        return counts

    def _divided(self, K: Array, left: csr_array, right: csr_array) -> Array:
        if not self.normalised:
            return K
        norms = [np.sqrt((part * part).sum(axis=1)) for part in (left, right)]
        scale = [np.where(norm > 0, norm, 1.0) for norm in norms]
        return K / scale[0][:, None] / scale[1]


def _occurrences(codes: Array, length: int) -> tuple[Any, Any, int]:
    """Of substrings of one length: the string and the number of each that occurs, and how many
    different ones there are.
    """
    if codes.shape[1] < length:
        return np.empty(0, np.intp), np.empty(0, np.intp), 0
    windows = np.lib.stride_tricks.sliding_window_view(codes, length, axis=1)
    row, place = np.nonzero(windows[:, :, -1] != PAD)  # what ends inside the string lies inside
    if len(row) == 0:
        return row, place, 0
    different, number = np.unique(windows[row, place], axis=0, return_inverse=True)
    return row, number.ravel(), len(different)


def encode(X: Any, name: str = "X") -> Array:
    """Return strings as code points, one row a string, `PAD` after its end.

    Parameters
    ----------
    X : sequence of n strings, or what `encode` returned
    name : str
        What an error calls the argument.
    """
    # A list of strings must not take numbers among them for strings.
    values = np.asarray(X, dtype=object) if isinstance(X, (list, tuple)) else np.asarray(X)
    if values.ndim == 2 and values.dtype.kind == "f":  # encoded already
        codes = check_matrix(X, name)
        if np.any(codes != np.floor(codes)) or codes.min() < PAD:
            raise ValueError(
                f"{name} must hold strings for a kernel of strings, got numbers in an array of "
                f"shape {codes.shape}."
            )
        return codes
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"{name} must be a sequence of strings for a kernel of strings, got an array of shape "
            f"{values.shape}."
        )
    strings = values.tolist()
    for i, text in enumerate(strings):
        if not isinstance(text, str):
            raise ValueError(
                f"{name} must hold strings for a kernel of strings, but {name}[{i}] is {text!r} of "
                f"type {type(text).__name__}."
            )
    longest = max(map(len, strings))
    codes = np.full((len(strings), max(longest, 1)), PAD)
    for row, text in zip(codes, strings):
        row[: len(text)] = [ord(letter) for letter in text]
    return codes


def _one_below_the_other(above: Array, below: Array) -> Array:
    width = max(above.shape[1], below.shape[1])
    out = np.full((len(above) + len(below), width), PAD)
    out[: len(above), : above.shape[1]] = above
    out[len(above) :, : below.shape[1]] = below
    return out
