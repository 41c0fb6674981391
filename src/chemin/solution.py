"""One model on a path."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .problems.staircase import Floats

KNOWN = ("epsilon", "nu", "tau", "cost")  # parameters that every solution has a field for


@dataclass(frozen=True, eq=False)  # of arrays: == has no single answer, and each is itself
class Solution:
    """The model at one value of the parameter: f(x) = sum coef_i k(x_i, x) + intercept.

    For linear models f(x) = x'coef + intercept.

    Attributes
    ----------
    coef : ndarray of shape (n,), or (d,) for linear models
    intercept : float
        Where several are optimal, the middle of `intercept_interval`.
    intercept_interval : tuple of two floats
        The least and the largest optimal intercept.
    alpha : ndarray
        Dual variables, -w times the slope of the loss: lambda coef, up to the label in
        classification. For the lasso the coefficients themselves.
    objective : float
        The primal objective.
    lambda_ : float
    epsilon, nu, tau, cost : float or None
        The other parameters, where the problem has them; also `epsilon` of the nu-SVR, which is
        found with the model.
    support : ndarray of int
        Indices of the non-zero coefficients.
    """

    coef: Floats
    intercept: float
    intercept_interval: tuple[float, float]
    alpha: Floats
    objective: float
    lambda_: float
    epsilon: float | None = None
    nu: float | None = None
    tau: float | None = None
    cost: float | None = None
    more: dict[str, float] = field(default_factory=dict)  # parameters with other names

    def __getattr__(self, name: str) -> float:
        more = self.__dict__.get("more", {})
        if name not in more:
            raise AttributeError(f"a solution has no {name}")
        return float(more[name])

    @property
    def given(self) -> dict[str, float]:
        """The parameters besides lambda, by name."""
        known = {name: getattr(self, name) for name in KNOWN}
        return {name: v for name, v in (known | self.more).items() if v is not None}

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the non-zero coefficients."""
        return np.flatnonzero(self.coef)

    def __repr__(self) -> str:
        # A cost of 1/2 is no balance at all: it is not shown.
        shown = {k: v for k, v in self.given.items() if (k, v) != ("cost", 0.5)}
        given = "".join(f", {name}={value:.6g}" for name, value in shown.items())
        return (
            f"Solution(lambda_={self.lambda_:.6g}{given}, {len(self.support)} of {len(self.coef)} "
            f"coefficients, intercept={self.intercept:.6g})"
        )


__all__ = ["Solution"]
