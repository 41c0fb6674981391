"""Going down a criterion of many hyper-parameters by its gradient, and what was met on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from .._checks import check_positive, is_word
from .piecewise import Floats

SOLVERS = {"lbfgs": "L-BFGS-B", "cg": "CG"}
# A step of L-BFGS that gains less than this part of the criterion is the last: round-off.
SMALLEST_GAIN = 1e-13

Criterion = Callable[[Floats], tuple[float, Floats]]


class UnsolvableError(ValueError):
    """Raised by a criterion where it has no answer: a descent goes another way."""


@dataclass(frozen=True)
class Descent:
    """The way of one descent; row 0 is the start, the last row the end.

    Attributes
    ----------
    parameters : ndarray of shape (k + 1, p)
        The hyper-parameters after each of the k iterations.
    criterion : ndarray of shape (k + 1,)
        The criterion there.
    gradient : ndarray of shape (p,)
        At the end.
    n_evaluations : int
        How often the criterion and its gradient were computed.
    converged : bool
        Whether the gradient is as small as was asked for, or no step gains anything.
    message : str
        What ended the descent.
    """

    parameters: Floats
    criterion: Floats
    gradient: Floats
    n_evaluations: int
    converged: bool
    message: str

    @property
    def end(self) -> Floats:
        """The hyper-parameters where it ended."""
        return self.parameters[-1]

    @property
    def n_iterations(self) -> int:
        return len(self.criterion) - 1

    def __repr__(self) -> str:
        first, last = self.criterion[0], self.criterion[-1]
        return (
            f"<Descent of {self.parameters.shape[1]} hyper-parameters: {first:.6g} to {last:.6g} "
            f"in {self.n_iterations} iterations, {self.message}>"
        )


def check_descent(solver: Any, max_iter: Any, tol: Any) -> None:
    """Refuse options that no descent can have."""
    if not is_word(solver, SOLVERS):
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {solver!r}")
    whole = isinstance(max_iter, (int, np.integer)) and not isinstance(max_iter, bool)
    if not whole or max_iter < 1:
        raise ValueError(f"max_iter must be a whole number from 1, got {max_iter!r}")
    check_positive(tol, "tol")


def descend(
    criterion: Criterion,
    start: Floats,
    *,
    solver: str = "lbfgs",
    max_iter: int = 500,
    tol: float = 1e-6,
    unit: float = 1.0,
    bounds: tuple[Floats, Floats] | None = None,
) -> Descent:
    """Minimise a criterion from a start.

    Parameters
    ----------
    criterion : callable
        Of the hyper-parameters: its value and its gradient.
    start : array of shape (p,)
    solver : "lbfgs" or "cg"
        L-BFGS, or the conjugate gradients of the thesis, both SciPy's.
    max_iter : int
    tol : float
        Stop where no entry of the gradient is larger than tol times the unit.
    unit : float
        The size of the criterion.
    bounds : two arrays of shape (p,) or None
        The least and the largest values; the criterion is never asked beyond them.
    """
    ways = [np.array(start, dtype=float)]
    values: list[float] = []
    walls: list[int] = []  # iterations in which a step led where there is no answer

    def scaled(x: Floats) -> tuple[float, Floats]:
        inside = x if bounds is None else np.clip(x, *bounds)
        try:
            value, gradient = criterion(inside)
        except UnsolvableError:
            if not values:
                raise
            walls.append(len(ways))
            return _wall(x - ways[-1], values[-1] / unit)
        if not values:
            values.append(value)
        # Beyond a bound the criterion is that at the bound, so it does not fall there.
        return value / unit, np.where(inside == x, gradient, 0.0) / unit

    def seen(intermediate_result: Any) -> None:
        ways.append(np.array(intermediate_result.x))
        values.append(float(intermediate_result.fun) * unit)

    options: dict[str, Any] = {"maxiter": max_iter, "gtol": tol}
    if solver == "lbfgs":
        options |= {"ftol": SMALLEST_GAIN, "maxfun": 100 * max_iter}
    found = minimize(
        scaled, ways[0], jac=True, method=SOLVERS[solver], callback=seen, options=options
    )
    steepest = float(np.abs(found.jac).max(initial=0.0))
    limited = found.nit >= max_iter and steepest > tol
    walled = not limited and steepest > tol and len(ways) in walls
    message = f"stopped at max_iter={max_iter}" if limited else _said(steepest, tol, walled)
    parameters = np.array(ways) if bounds is None else np.clip(ways, *bounds)
    return Descent(
        parameters,
        np.array(values),
        np.asarray(found.jac) * unit,
        int(found.nfev),
        not (limited or walled),
        message,
    )


def _wall(step: Floats, value: float) -> tuple[float, Floats]:
    """Where there is no answer the criterion counts as above that of the last iteration by its
    unit, and rises like a square from there: a line search comes back.
    """
    return value + 1.0, 2.0 * step / max(float(step @ step), np.finfo(float).tiny)


def _said(steepest: float, tol: float, walled: bool) -> str:
    if walled:
        return "stopped beside where there is no answer"
    return "gradient within tol" if steepest <= tol else "no step gains more than round-off"


__all__ = ["Descent", "UnsolvableError", "check_descent", "descend"]
