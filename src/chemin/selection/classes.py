"""Several classes as problems of two: which rows, which signs, and how their f make a label.

one against one     f > 0 is a vote for the first class of a pair, f <= 0 for the second; most
                    votes win, and of equals the first: scikit-learn's SVC
one against rest    the largest f wins, and of equals the first
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import is_word
from .piecewise import Floats, Ints

# Values of f nearer than this, relative to the largest (and to the margin, 1), are equal.
EQUAL = 4096 * float(np.finfo(np.float64).eps)

CODINGS = ("ovo", "ovr")


@dataclass(frozen=True)
class Coding:
    """How k >= 3 classes, told by their numbers 0 to k - 1, are told apart by problems of two.

    Parameters
    ----------
    n_classes : int
    kind : "ovo" or "ovr"
        One against one, one against rest.
    """

    n_classes: int
    kind: str

    def __post_init__(self) -> None:
        if not is_word(self.kind, CODINGS):
            raise ValueError(f"multi_class must be 'ovo' or 'ovr', got {self.kind!r}")

    @property
    def by_pairs(self) -> bool:
        return self.kind == "ovo"

    @cached_property
    def pairs(self) -> Ints:
        """The classes of each problem of one against one, in the order of SVC."""
        return np.array(list(combinations(range(self.n_classes), 2)))

    def __len__(self) -> int:
        """The number of problems."""
        return len(self.pairs) if self.by_pairs else self.n_classes

    def signs(self, problem: int, y: Ints) -> Floats:
        """+1 for rows of the first class, -1 for those of the other, 0 for rows of none."""
        if not self.by_pairs:
            return np.where(y == problem, 1.0, -1.0)
        first, second = self.pairs[problem]
        return (y == first) * 1.0 - (y == second) * 1.0

    def without(self, signs: Floats) -> float | None:
        """f of a problem whose rows are of one class at most, None for any other.

        A class without rows gets no votes, and its f is below all others.
        """
        if np.any(signs > 0) and np.any(signs < 0):
            return None
        if not self.by_pairs:
            return np.inf if np.any(signs > 0) else -np.inf
        return 1.0 if np.any(signs > 0) else -1.0

    # ------------------------------------------------------------------ from f to labels

    def labels(self, f: Floats, within: float | Floats = 0.0) -> Ints:
        """The class of each point; f has shape (..., problems), and within so much is equal."""
        if self.by_pairs:
            return np.argmax(self.votes(f), axis=-1)
        return first_largest(f, within)

    def votes(self, f: Floats) -> NDArray[np.int16]:
        """How many problems vote for each class: shape (..., classes)."""
        return np.where(f > 0, 1, 0).astype(np.int16) @ self.change + self._base

    @cached_property
    def change(self) -> NDArray[np.int16]:
        """What one vote for the first class of each pair changes: (problems, classes)."""
        out = np.zeros((len(self), self.n_classes), np.int16)
        every = np.arange(len(self))
        out[every, self.pairs[:, 0]], out[every, self.pairs[:, 1]] = 1, -1
        return out

    @cached_property
    def _base(self) -> NDArray[np.int16]:
        """Votes where every pair votes for its second class."""
        return np.bincount(self.pairs[:, 1], minlength=self.n_classes).astype(np.int16)

    def decision(self, f: Floats, shape: str = "ovr") -> Floats:
        """One column a class, or ("ovo") one a pair, as SVC.decision_function gives them.

        Of one against one the columns of classes are their votes, and the sums of f between -1/3
        and 1/3, by which equal votes are told apart. Of one against rest they are f itself.
        """
        if not self.by_pairs or shape == "ovo":
            return f
        sums = f @ self.change
        return self.votes(f) + sums / (3.0 * (np.abs(sums) + 1.0))

    def probabilities(self, p: Floats) -> Floats:
        """Of the classes, from those of the first class of each problem; both (points, ...)."""
        if not self.by_pairs:
            total = p.sum(axis=1, keepdims=True)
            return np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / self.n_classes)
        return coupled(p, self.pairs, self.n_classes)


def first_largest(f: Floats, within: Any = 0.0) -> Ints:
    """The first of the largest along the last axis; what is equal but for round-off, or `within`
    so much, is equal.
    """
    most = f.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(f >= most - room(most, within), axis=-1))


def room(f: Floats, within: Any = 0.0) -> Floats:
    """How far below f another one is equal to it."""
    return np.asarray(np.maximum(EQUAL * (1.0 + np.abs(f)), within))


def coupled(p: Floats, pairs: Ints, k: int) -> Floats:
    """Probabilities of k classes from those of pairs: the second method of Wu, Lin and Weng (2004).

        min  sum over pairs of (p_ji p_i - p_ij p_j)^2      with  sum_i p_i = 1

    p_ij is the probability of i among i and j.
    """
    r = np.zeros((len(p), k, k))
    r[:, pairs[:, 0], pairs[:, 1]], r[:, pairs[:, 1], pairs[:, 0]] = p, 1.0 - p
    system = np.zeros((len(p), k + 1, k + 1))
    system[:, :k, :k] = -r * r.swapaxes(1, 2)
    every = np.arange(k)
    system[:, every, every] = (r * r).sum(axis=1)
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((len(p), k + 1, 1))
    right[:, k] = 1.0
    out = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return np.asarray(out / out.sum(axis=1, keepdims=True))


__all__ = ["CODINGS", "Coding", "coupled"]
