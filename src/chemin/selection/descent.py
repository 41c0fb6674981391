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
    way = _Way(criterion, np.array(start, dtype=float), unit, bounds)
    options: dict[str, Any] = {"maxiter": max_iter, "gtol": tol}
    if solver == "lbfgs":
        options |= {"ftol": SMALLEST_GAIN, "maxfun": 100 * max_iter}
    found = minimize(
        way, way.places[0], jac=True, method=SOLVERS[solver], callback=way.seen, options=options
    )
    steepest = float(np.abs(found.jac).max(initial=0.0))
    limited = found.nit >= max_iter and steepest > tol
    walled = not limited and steepest > tol and way.at_wall
    message = f"stopped at max_iter={max_iter}" if limited else _said(steepest, tol, walled)
    return Descent(
        np.array([way.inside(place) for place in way.places]),
        np.array(way.values),
        np.asarray(found.jac) * unit,
        int(found.nfev),
        not (limited or walled),
        message,
    )


class _Way:
    """A criterion as SciPy minimises it, in its unit, and where each iteration has led."""

    def __init__(
        self, criterion: Criterion, start: Floats, unit: float, bounds: tuple[Floats, Floats] | None
    ) -> None:
        self.criterion, self.unit, self.bounds = criterion, unit, bounds
        self.places = [start]
        self.values: list[float] = []
        self.walls: set[int] = set()  # iterations in which a step led where there is no answer

    def inside(self, x: Floats) -> Floats:
        return x if self.bounds is None else np.clip(x, *self.bounds)

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        inside = self.inside(x)
        try:
            value, gradient = self.criterion(inside)
        except UnsolvableError:
            if not self.values:
                raise
            self.walls.add(len(self.places))
            return _wall(x - self.places[-1], self.values[-1] / self.unit)
        if not self.values:
            self.values.append(value)
        # Beyond a bound the criterion is that at the bound, so it does not fall there.
        return value / self.unit, np.where(inside == x, gradient, 0.0) / self.unit

    def seen(self, intermediate_result: Any) -> None:
        """SciPy tells this after each iteration, and knows it by the name of its argument."""
        self.places.append(np.array(intermediate_result.x))
        self.values.append(float(intermediate_result.fun) * self.unit)

    @property
    def at_wall(self) -> bool:
        """Whether a step from the last place led where there is no answer."""
        return len(self.places) in self.walls


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
