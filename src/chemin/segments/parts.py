"""Sums of losses on parts of segments, as functions that can be added and minimised.

On a part, with s running from 0 at its first end to 1 at its last,

    value(s) = left (1 - s) + right s - s (1 - s) bend(s)

Ends are kept by value, so that nothing cancels there. bend is a polynomial, in each row its
Chebyshev coefficients (see `chebyshev`). Its degree tells how bent the part is:

    no column         the value is constant or affine
    one column        the value is quadratic: the squared loss of a straight f
    more columns      any smooth value, to round-off
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import chebyshev

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """Parts of segments in any order and direction; each from u0 to u1."""

    u0: Floats  # (k,)
    u1: Floats  # (k,)
    left: Floats  # (k,) the value at u0
    right: Floats  # (k,) the value at u1
    bend: Floats  # (k, columns)

    @classmethod
    def join(cls, parts: list[Parts]) -> Parts:
        """All parts of a list."""
        if len(parts) == 1:
            return parts[0]
        width = max(part.bend.shape[1] for part in parts)
        names = ("u0", "u1", "left", "right")
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return cls(**joined, bend=np.concatenate([widened(part.bend, width) for part in parts]))


def widened(bend: Floats, width: int) -> Floats:
    """The same polynomials with more coefficients, which are zero."""
    missing = width - bend.shape[1]
    return bend if missing == 0 else np.pad(bend, ((0, 0), (0, missing)))


def straightened(s: Floats, left: Floats, right: Floats, value: Floats) -> Floats:
    """bend at s, from the value there and at the ends."""
    return np.asarray((left * (1 - s) + right * s - value) / (s * (1 - s)))


def reversed_bend(bend: Floats, back: NDArray[np.bool_]) -> Floats:
    """The bend of parts of which some run from their last end to their first."""
    if bend.shape[1] < 2:
        return bend
    sign = np.where(np.arange(bend.shape[1]) % 2 == 1, -1.0, 1.0)
    return np.where(back[:, None], bend * sign, bend)


def bends(
    value: Callable[[Floats, NDArray[np.intp]], Floats], left: Floats, right: Floats
) -> Floats:
    """The bend of each of k smooth functions on [0, 1].

    Parameters
    ----------
    value : callable
        value(s, k): function k_j at s_j, for arrays.
    left, right : arrays of shape (k,)
        The values at the ends.
    """
    k, s = np.arange(len(left)), chebyshev.nodes()
    row, place = np.repeat(k, len(s)), np.tile(s, len(k))
    inner = value(place, row).reshape(len(k), len(s))
    return chebyshev.fit(straightened(s, left[:, None], right[:, None], inner))


__all__ = ["Parts", "bends", "reversed_bend", "straightened", "widened"]
