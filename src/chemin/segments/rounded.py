"""What is zero: |f| below the round-off of the terms that make it up.

    |f(x)| <= ROUNDINGS eps (|coef|_1 max_i |k(x_i, x)|)      counts as f(x) = 0

An intercept is itself a difference of terms, y_j - sum_i coef_i k(x_i, x_j): where there is one,
the maximum is over the rows x_j too, and the largest |y_j| (1 for labels) is added.

On whole numbers f is zero on whole stretches of a path, and round-off would decide on the label
there: otherwise for a kernel than for its matrix. This rule is the only one, for predictions and
for curves. Where f predicts a number its sign decides nothing, and f is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._ends import least_size

Floats = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# Zeros of integer-valued problems are met at up to a thousand roundings (a walk corrects its
# residuals when they are off by hundreds), other values of f there from a hundred million on.
ROUNDINGS = 4096.0
SUM = 16.0  # roundings of a sum of many terms, which go either way


@dataclass(frozen=True)
class Terms:
    """What an intercept is made up of: the largest |k| between rows, the largest |y|.

    Zeros where there is none; arrays where there are several f. `roundings` is 0 where f predicts a
    number.
    """

    reach: Any = 0.0
    level: Any = 0.0
    roundings: float = ROUNDINGS

    def rounded(self, f: Floats, coef_sum: ArrayLike, largest: ArrayLike) -> Floats:
        """f, with 0 where it is not told from 0; all arguments broadcast.

        Parameters
        ----------
        f : array
        coef_sum : array
            The sum of the absolute coefficients.
        largest : array
            The largest |k(x_i, x)| at each point.
        """
        if not self.roundings or self.tell(f, coef_sum, largest):
            return f
        zero = np.abs(f) <= self.roundings * EPS * self._size(coef_sum, largest)
        return np.where(zero, 0.0, f)

    def tell(self, f: Floats, coef_sum: ArrayLike, largest: ArrayLike) -> bool:
        """Whether all of f is told from 0 for sure: no f is as small as what the largest coef_sum
        would ask for.
        """
        return not f.size or self.told(least_size(np.atleast_2d(f)), coef_sum, largest)

    def told(self, least: float, coef_sum: ArrayLike, largest: ArrayLike) -> bool:
        """Whether f is told from 0 for sure, by the smallest |f|."""
        most = self.roundings * EPS * np.max(self._size(np.max(coef_sum), np.max(largest)))
        return bool(least > most)

    def least(self, z_sum: float, largest: float, scale: float) -> float:
        """What scale f must be above to be told from 0, z_sum being scale times coef_sum."""
        size = z_sum * max(largest, self.reach) + scale * self.level
        return float(self.roundings * EPS * size)

    def room(self, coef_sum: ArrayLike, largest: ArrayLike) -> Floats:
        """Differences of two f that may be round-off."""
        return np.asarray(self.roundings * EPS * self._size(coef_sum, largest))

    def noise(self, coef_sum: ArrayLike, largest: ArrayLike) -> Floats:
        """What one evaluation of f is off by."""
        return SUM * self.floor(coef_sum, largest)

    def floor(self, coef_sum: ArrayLike, largest: ArrayLike) -> Floats:
        """No less than the floor of a certificate, in units of f."""
        return EPS * self._size(coef_sum, largest)

    def _size(self, coef_sum: ArrayLike, largest: ArrayLike) -> Floats:
        return np.asarray(np.multiply(coef_sum, np.maximum(largest, self.reach)) + self.level)


__all__ = ["Terms"]
