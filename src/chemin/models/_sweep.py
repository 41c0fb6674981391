"""A QR factor of chosen columns, with all other columns swept by it.

With Q an orthonormal basis of the chosen columns S of a centred X, and y as one more column,

    [X y] = Q W + E,      W = Q'[X y],      E = what the chosen columns do not explain

so that every partial F test is read off: the residual y_e of y and the residual x_e of a column say
what the column would explain, (x_e'y_e)^2 / |x_e|^2, and R = W[:, S] what each chosen one does.
One column in or out is one update, in O(T M); nothing is fitted again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
# A column of which the chosen ones leave less than this part of its length is one of their sums:
# what is left is known to less than three digits. NIST's Filip data keep 1e-7 and more.
DEPENDENT = 1e-10
# Of the length of y: a residual below is round-off, and the fit is perfect.
PERFECT = 1e-13


class Sweep:
    """The chosen columns and what they leave of the others.

    Parameters
    ----------
    X : array of shape (T, M)
        Centred, where there is an intercept, and times the roots of the weights.
    y : array of shape (T,)
        The same of the target.
    size : array of shape (M,)
        The lengths of the columns before they were centred: what their round-off is measured by.
    """

    def __init__(self, X: Floats, y: Floats, size: Floats) -> None:
        self.left = np.column_stack([X, y])  # E, with the residual of y as its last column
        self.length = np.linalg.norm(X, axis=0)
        self.floor = np.maximum(DEPENDENT * self.length, 8 * EPS * size)
        self.total = float(y @ y)
        self.Q = np.empty((len(y), min(X.shape)), order="F")
        self.W = np.empty((min(X.shape), X.shape[1] + 1))
        self.chosen: list[int] = []

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def residual_sum(self) -> float:
        """The sum of squared residuals; 0 where it is round-off."""
        e = self.left[:, -1]
        rest = float(e @ e)
        return rest if rest > PERFECT**2 * self.total else 0.0

    # ------------------------------------------------------------------ in and out

    def enter(self, j: int) -> None:
        """Column j becomes one of the chosen.

        Q  ->  [Q q],      W  ->  [W ]      E  ->  E - q (q'E)
                                  [q'E]
        """
        k, q = len(self), self.left[:, j].copy()
        Q = self.Q[:, :k]
        for _ in range(2):  # what round-off has left of Q in q is taken out: twice is enough
            q /= np.linalg.norm(q)
            q -= Q @ (Q.T @ q)
        q /= np.linalg.norm(q)
        row = q @ self.left
        row[self.chosen] = 0.0
        self.left -= np.outer(q, row)
        self.left[:, j] = 0.0
        self.Q[:, k], self.W[k] = q, row
        self.chosen.append(j)

    def leave(self, j: int) -> None:
        """Column j is no longer chosen: rotations move what it alone explains to the last q.

        R without a column        and after the rotations
        x x x x                   x x x x
          x x x                     x x x
          x x x     (j = 2nd)         x x
            x x                         x
              x                           <- its row of W goes back to E, with its q
        """
        i, k = self.chosen.index(j), len(self)
        del self.chosen[i]
        for r in range(i, k - 1):
            self._rotate(r, self.chosen[r])
        q, row = self.Q[:, k - 1], self.W[k - 1]
        row[self.chosen] = 0.0
        self.left += np.outer(q, row)

    def _rotate(self, r: int, column: int) -> None:
        """Rows r and r + 1 of W so that the second has a zero in a column."""
        a, b = self.W[r, column], self.W[r + 1, column]
        h = float(np.hypot(a, b))
        turn = np.array([[a, b], [-b, a]]) / h
        self.W[r : r + 2] = turn @ self.W[r : r + 2]
        self.W[r + 1, column] = 0.0
        self.Q[:, r : r + 2] = self.Q[:, r : r + 2] @ turn.T

    # ------------------------------------------------------------------ what is read off

    def gains(self) -> Floats:
        """What the sum of squares would lose by each column; 0 for those that add nothing new."""
        E, e = self.left[:, :-1], self.left[:, -1]
        square = np.einsum("ij,ij->j", E, E)
        new = np.sqrt(square) > self.floor
        new[self.chosen] = False
        return np.where(new, (e @ E) ** 2 / np.where(new, square, 1.0), 0.0)

    def rest_with(self, j: int) -> float:
        """The sum of squares with one more column, from the residuals themselves: no difference of
        two sums of squares, of which one could be tiny.
        """
        x, e = self.left[:, j], self.left[:, -1]
        e = e - x * (x @ e / (x @ x))
        rest = float(e @ e)
        return rest if rest > PERFECT**2 * self.total else 0.0

    def losses(self) -> Floats:
        """What the sum of squares would gain without each chosen column: b_j^2 / (R'R)^-1_jj."""
        inverse = self._inverse()
        return (inverse @ self.W[: len(self), -1]) ** 2 / np.sum(inverse**2, axis=1)

    def coefficients(self) -> Floats:
        """Of the chosen columns, in the order in which they came: R^-1 Q'y."""
        return self._inverse() @ self.W[: len(self), -1]

    def covariance(self) -> Floats:
        """(X_S'X_S)^-1."""
        inverse = self._inverse()
        return inverse @ inverse.T

    def _inverse(self) -> Floats:
        k = len(self)
        inverse: Floats = lapack.dtrtri(self.W[:k, self.chosen])[0] if k else np.zeros((0, 0))
        return np.triu(inverse)
