"""Any hyper-parameters by gradient: a training criterion, a selection criterion, a start.

    b(lambda) = argmin_b C(lambda, b)              training
    lambda*   = argmin   E(lambda, b(lambda))      selection

At the minimum dC/db = 0, so that, with H the second derivative of C in b (the implicit function),

    dE/dlambda = partial E/partial lambda - d/dlambda [a' dC/db] at fixed a and b,    H a = dE/db
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg

from .descent import Descent, check_descent, descend
from .piecewise import Floats

# Training stops where the gradient is this part of what it was at b = 0.
STATIONARY = 1e-10
# Conjugate gradients solve for a Newton step and for the adjoint to this part of the right side.
ADJOINT = 1e-12
NEWTON_STEPS = 50
# A matrix whose Cholesky factor fails is taken with this part of its mean diagonal added, ten times
# more each time: the answer is then that of a problem so much more penalised. What needs more than
# the second is no matrix that is singular to round-off.
LIFT, MOST_LIFT = 1e-14, 1e-8


class TrainingCriterion(Protocol):
    """What is minimised in training, for `tune`."""

    def solve(self, lambda_: Floats, start: Any) -> Any:
        """The minimiser b; `start` is that of the hyper-parameters before, or None."""

    def pull_back(self, lambda_: Floats, b: Any, slope: Any) -> Floats:
        """From dE/db at the minimiser to what lambda moves E by through b, for each lambda."""


SelectionCriterion = Callable[[Floats, Any], tuple[Any, ...]]


class QuadraticCriterion:
    """C = w(lambda)'b + 1/2 b'H(lambda) b, H positive definite.

    Parameters
    ----------
    H : callable
        Of lambda: the matrix, of shape (m, m).
    w : callable
        Of lambda: the vector, of shape (m,), or (m, k) for k outputs that share H.
    pull_back : callable
        Of lambda, a and b: the gradient in lambda of a'(H(lambda) b + w(lambda)), a and b fixed;
        summed over outputs. For H = G + diag(lambda) that is a * b.

    Examples
    --------
    One penalty a coefficient, the error on rows that are held out:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=60)
    >>> train, test = slice(0, 30), slice(30, 60)
    >>> training = QuadraticCriterion(
    ...     H=lambda p: X[train].T @ X[train] / 30 + 2 * np.diag(p**2),
    ...     w=lambda p: -X[train].T @ y[train] / 30,
    ...     pull_back=lambda p, a, b: 4 * p * a * b,
    ... )
    >>> def selection(p, b):
    ...     e = X[test] @ b - y[test]
    ...     return 0.5 * np.mean(e**2), X[test].T @ e / 30
    >>> found = chemin.selection.tune(training, selection, np.full(5, 0.5))
    >>> bool(found.criterion < found.descent.criterion[0])
    True
    """

    def __init__(
        self,
        H: Callable[[Floats], Floats],
        w: Callable[[Floats], Floats],
        pull_back: Callable[[Floats, Floats, Floats], ArrayLike],
    ) -> None:
        self.H, self.w, self._pull = H, w, pull_back
        self._known: tuple[Floats, Any] | None = None

    def _factor(self, lambda_: Floats) -> Any:
        """The Cholesky factor of H, kept for the adjoint at the same lambda."""
        if self._known is None or not np.array_equal(self._known[0], lambda_):
            self._known = lambda_.copy(), _cholesky(np.asarray(self.H(lambda_), dtype=float))
        return self._known[1]

    def solve(self, lambda_: Floats, start: Floats | None = None) -> Floats:
        """b = -H^-1 w."""
        return -cho_solve(self._factor(lambda_), np.asarray(self.w(lambda_)), check_finite=False)

    def pull_back(self, lambda_: Floats, b: Floats, slope: Floats) -> Floats:
        a = cho_solve(self._factor(lambda_), slope, check_finite=False)
        return -np.asarray(self._pull(lambda_, a, b))


def _cholesky(H: Floats) -> Any:
    lift, mean = 0.0, float(np.mean(np.abs(np.diag(H)))) or 1.0
    while True:
        try:
            return cho_factor(H + lift * mean * np.eye(len(H)), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            if lift >= MOST_LIFT or not np.all(np.isfinite(H)):
                raise ValueError(
                    "H(lambda) must be symmetric, finite and positive definite, and is not"
                ) from None
            lift = max(10.0 * lift, LIFT)


class SmoothCriterion:
    """Any C that is smooth and strictly convex in b, by its derivatives.

    The minimiser comes from Newton's method with conjugate gradients, started from an earlier one;
    the adjoint from conjugate gradients. No matrix is formed.

    Parameters
    ----------
    value : callable
        Of lambda and b: C.
    gradient : callable
        Of lambda and b: dC/db, of shape (m,).
    hessian_product : callable
        Of lambda, b and v: H v.
    pull_back : callable
        Of lambda, a and b: the gradient in lambda of a'dC/db, a and b fixed.
    size : int
        m, the number of parameters.
    """

    def __init__(
        self,
        value: Callable[[Floats, Floats], float],
        gradient: Callable[[Floats, Floats], Floats],
        hessian_product: Callable[[Floats, Floats, Floats], Floats],
        pull_back: Callable[[Floats, Floats, Floats], ArrayLike],
        size: int,
    ) -> None:
        self.value, self.gradient, self.hessian_product = value, gradient, hessian_product
        self._pull, self.size = pull_back, size

    def solve(self, lambda_: Floats, start: Floats | None = None) -> Floats:
        """The minimiser: a trust region far from it, Newton steps near it."""
        zero = np.zeros(self.size)
        enough = STATIONARY * max(float(np.abs(self.gradient(lambda_, zero)).max()), 1e-300)
        found = minimize(
            lambda b: (self.value(lambda_, b), self.gradient(lambda_, b)),
            zero if start is None else start,
            jac=True,
            hessp=lambda b, v: self.hessian_product(lambda_, b, v),
            method="trust-ncg",
            options={"gtol": enough, "maxiter": 1000},
        )
        return self._polished(lambda_, np.asarray(found.x), enough)

    def _polished(self, lambda_: Floats, b: Floats, enough: float) -> Floats:
        """Newton steps while they shrink the gradient: differences of C end at round-off before."""
        g = self.gradient(lambda_, b)
        for _ in range(NEWTON_STEPS):
            if np.abs(g).max() <= enough:
                break
            nearer = b - self._inverse(lambda_, b, g)
            next_g = self.gradient(lambda_, nearer)
            if not np.abs(next_g).max() < np.abs(g).max():
                break
            b, g = nearer, next_g
        return b

    def _inverse(self, lambda_: Floats, b: Floats, right: Floats) -> Floats:
        """H^-1 times a vector."""
        product = lambda v: self.hessian_product(lambda_, b, v)
        H = LinearOperator((self.size, self.size), matvec=product, dtype=float)
        return np.asarray(cg(H, right, rtol=ADJOINT, maxiter=10 * self.size)[0])

    def pull_back(self, lambda_: Floats, b: Floats, slope: Floats) -> Floats:
        return -np.asarray(self._pull(lambda_, self._inverse(lambda_, b, slope), b))


# ---------------------------------------------------------------------- tune


@dataclass(frozen=True)
class Tuned:
    """What `tune` found.

    Attributes
    ----------
    lambda_ : ndarray of shape (p,)
        The hyper-parameters.
    criterion : float
        E there, the mean over the folds.
    solutions : list
        The minimiser b of each training criterion.
    descent : Descent
        Hyper-parameters and criterion along the iterations.
    """

    lambda_: Floats
    criterion: float
    solutions: list[Any]
    descent: Descent


def tune(
    training_criterion: TrainingCriterion | Sequence[TrainingCriterion],
    selection_criterion: SelectionCriterion | Sequence[SelectionCriterion],
    lambda0: ArrayLike,
    *,
    solver: str = "lbfgs",
    max_iter: int = 200,
    tol: float = 1e-6,
    bounds: tuple[ArrayLike, ArrayLike] | None = None,
) -> Tuned:
    """Hyper-parameters that minimise a selection criterion, by its gradient.

    Parameters
    ----------
    training_criterion : QuadraticCriterion, SmoothCriterion, or a sequence of them
        What training minimises; anything with their `solve` and `pull_back`. One a fold. A `solve`
        that raises `UnsolvableError` has no answer there, and the descent turns back.
    selection_criterion : callable, or a sequence of them
        Of lambda and b: E and dE/db, and, where E knows lambda itself, partial E/partial lambda.
        One for each training criterion; their mean is minimised.
    lambda0 : array-like of shape (p,)
        Where to start. Hyper-parameters that must be positive are best given as logarithms.
    solver : "lbfgs" or "cg"
        L-BFGS or conjugate gradients.
    max_iter : int
    tol : float
        Stop where no entry of the gradient is larger than tol times E at the start.
    bounds : two array-likes of shape (p,), or None
        The least and the largest values: beyond them E counts as at the bound.

    Returns
    -------
    Tuned
    """
    check_descent(solver, max_iter, tol)
    training, selection = _pairs(training_criterion, selection_criterion)
    start = np.atleast_1d(np.asarray(lambda0, dtype=float))
    if start.ndim != 1 or not np.all(np.isfinite(start)):
        raise ValueError(f"lambda0 must be one row of finite numbers, got {lambda0!r:.60}")
    error = MeanError(training, selection)
    ends = None
    if bounds is not None:
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), start.shape) for end in bounds)
        ends = low, high
        start = np.clip(start, low, high)
    unit = abs(error(start)[0]) or 1.0
    descent = descend(
        error, start, solver=solver, max_iter=max_iter, tol=tol, unit=unit, bounds=ends
    )
    value = error(descent.end)[0]
    return Tuned(descent.end, value, list(error.solutions), descent)


class MeanError:
    """E and its gradient in lambda: the mean over folds.

    Each solve starts from the solution where E was least: where training has several minima, a
    step that leads to another one and gains nothing is forgotten.
    """

    def __init__(
        self, training: Sequence[TrainingCriterion], selection: Sequence[SelectionCriterion]
    ) -> None:
        self.training, self.selection = training, selection
        self.solutions: list[Any] = [None] * len(training)
        self.least, self.starts = np.inf, self.solutions

    def __call__(self, lambda_: Floats) -> tuple[float, Floats]:
        value, gradient, self.solutions = 0.0, np.zeros(len(lambda_)), []
        for train, select, start in zip(self.training, self.selection, self.starts):
            b = train.solve(lambda_, start)
            self.solutions.append(b)
            more, slope, *own = select(lambda_, b)
            value += float(more)
            gradient += train.pull_back(lambda_, b, slope)
            if own:
                gradient += np.asarray(own[0], dtype=float)
        if value < self.least:
            self.least, self.starts = value, self.solutions
        return value / len(self.training), gradient / len(self.training)


def _pairs(training: Any, selection: Any) -> tuple[list[Any], list[Any]]:
    """Both as lists of equal length."""
    training = [training] if hasattr(training, "solve") else list(training)
    selection = [selection] if callable(selection) else list(selection)
    if len(training) != len(selection) or not training:
        raise ValueError(
            f"selection_criterion must have one entry for each of the {len(training)} training "
            f"criteria, got {len(selection)}"
        )
    return training, selection


__all__ = ["MeanError", "QuadraticCriterion", "SmoothCriterion", "Tuned", "tune"]
