"""The plane of two parameters with paths: lambda, and the tube's epsilon or nu.

A line of the plane is a curve: the loss at every lambda of one epsilon, or at every epsilon of one
lambda. Lines in lambda are walked from their own start. A line in epsilon is joined to one of them:
the path of each fold is walked down to a lambda and turned there, both ways.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_positive
from ..path import Path
from .criteria import Criterion, CrossValidation, check_whole
from .curve import Curve
from .family import Family, Rows
from .piecewise import Floats

# The other parameter goes from this part of its largest value to that value.
LEAST = 1e-3
# A line that is better by less than this part of the loss is no better: round-off and what two
# nearly equal minima differ by.
BETTER = 1e-9
# Rounds of two lines each. Some ten are usual.
MOST_ROUNDS = 50

OTHER = {"svr": "epsilon", "nu_svr": "nu"}  # the parameter besides lambda


class TurnedFamily(Family):
    """The paths of a family in lambda, each turned to another parameter at one lambda."""

    def __init__(self, family: Family, parameter: str, at: float, stop: float) -> None:
        vars(self).update({k: v for k, v in vars(family).items() if k != "path"})
        self.options = family.options | {"stop": stop}
        self.walk_on = False
        self._family, self._parameter, self._at = family, parameter, at

    def walk(self, rows: Rows | None, weight: Floats | None = None, **options: Any) -> Path:
        known = self._family.known_path if rows is None else None
        reached = known is not None and known.stop <= self._at
        path = known if reached else self._family.walk(rows, weight, stop=self._at)
        assert path is not None
        if not path.complete:
            return path
        stop = options.get("stop", self.options["stop"])
        return path.turn(self._parameter, at=self._at, stop=stop, max_events=self._most(options))

    def _most(self, options: dict[str, Any]) -> int | None:
        most: int | None = options.get("max_events", self.options["max_events"])
        return most


@dataclass(frozen=True)
class Line:
    """The exact loss along one line of the plane.

    Attributes
    ----------
    along : str
        What moves: "lambda", "epsilon" or "nu".
    fixed : float
        The value of the other one.
    curve : Curve
    """

    along: str
    fixed: float
    curve: Curve
    family: Family = field(repr=False)

    @property
    def point(self) -> tuple[float, float]:
        """lambda and the other parameter, where the loss is smallest on the line."""
        here = self.curve.minimiser
        return (here, self.fixed) if self.along == "lambda" else (self.fixed, here)


class Surface:
    """The exact error over lambda and epsilon (or nu), by lines; made by `svr_surface`.

    Attributes
    ----------
    other : str
        The parameter besides lambda: "epsilon" or "nu".
    lines : list of Line
        All lines that were followed, in that order.
    best : Line
        The line in lambda through the best point; along neither line through that point is the loss
        smaller.
    lambda_, value : float
        The best point.
    minimum : float
        The loss there.
    """

    def __init__(self, criterion: Criterion, make: Callable[[float], Family], other: str) -> None:
        self.criterion, self.other, self._make = criterion, other, make
        self.lines: list[Line] = []

    @property
    def best(self) -> Line:
        whole = [line for line in self.lines if line.along == "lambda"]
        return min(whole, key=lambda line: line.curve.minimum)

    @property
    def lambda_(self) -> float:
        return self.best.point[0]

    @property
    def value(self) -> float:
        return self.best.fixed

    @property
    def minimum(self) -> float:
        return self.best.curve.minimum

    def __repr__(self) -> str:
        return (
            f"<Surface of {self.best.curve.loss} over lambda and {self.other}: {len(self.lines)} "
            f"lines, minimum {self.minimum:.4g} at lambda = {self.lambda_:.4g}, {self.other} = "
            f"{self.value:.4g}>"
        )

    def __call__(self, lambda_: float, value: float) -> float:
        """The loss anywhere: the folds are walked to that point."""
        family = self._make(value)
        family.options["stop"] = check_positive(lambda_, "lambda_")
        family.walk_on = False
        return float(self.criterion(family)(lambda_))

    def follow(self, values: Floats, ends: tuple[float, float]) -> Surface:
        """Lines in lambda at some values, then both ways from the best until neither improves."""
        self.lines += [self._in_lambda(float(value)) for value in values]
        for _ in range(MOST_ROUNDS):
            lam, value, loss = self.lambda_, self.value, self.minimum
            both = [self._across(lam, value, stop) for stop in ends if stop != value]
            self.lines += both
            better = min(both, key=lambda line: line.curve.minimum)
            if not better.curve.minimum < loss - BETTER * abs(loss):
                break
            self.lines.append(self._in_lambda(better.point[1]))
        return self

    def _in_lambda(self, value: float) -> Line:
        """The line of one value of the other parameter."""
        family = self._make(value)
        return Line("lambda", value, self.criterion(family), family)

    def _across(self, lam: float, value: float, stop: float) -> Line:
        """The line from a point to another value of the other parameter, at one lambda."""
        family = TurnedFamily(self._make(value), self.other, lam, stop)
        with warnings.catch_warnings():  # minima at its ends, of which one is the point itself
            warnings.simplefilter("ignore")
            return Line(self.other, lam, self.criterion(family), family)


def first_values(other: str, low: float, high: float, first: int) -> Floats:
    """Where lines in lambda begin: evenly inside the ends, for epsilon on a log scale."""
    spaced = np.linspace if other == "nu" else np.geomspace
    return np.asarray(spaced(low, high, first + 2)[1:-1])


def ends_of(
    other: str, y: Any, low: float | None = None, high: float | None = None
) -> tuple[float, float]:
    """The range of the other parameter, checked."""
    largest = 1.0 if other == "nu" else 0.5 * float(np.ptp(np.asarray(y, dtype=float)))
    high = largest if high is None else check_positive(high, "high")
    low = LEAST * high if low is None else check_positive(low, "low")
    if not low < high or (other == "nu" and high > 1.0):
        raise ValueError(f"low must be less than high (at most 1 for nu), got {low:g} and {high:g}")
    return low, high


def _surface(
    name: str, X: Any, y: Any, criterion: Criterion, ends: Any, first: int, options: dict[str, Any]
) -> Surface:
    check_whole(first, "first", 1)
    other = OTHER[name]
    if other in options or "along" in options:
        raise TypeError(f"{name}_surface has no argument {other!r}: low and high are its ends")
    whole = Family(name, X, y, **options)  # all families share its kernel matrix

    def make(value: float) -> Family:
        family = whole.at(**{other: value})
        family.walk_on = family.stop is None
        return family

    low, high = ends_of(other, y, *ends)
    values = first_values(other, low, high, first)
    return Surface(criterion, make, other).follow(values, (low, high))


def svr_surface(
    X: ArrayLike,
    y: ArrayLike,
    *,
    cv: Any = 5,
    scoring: Any = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    low: float | None = None,
    high: float | None = None,
    first: int = 5,
    **options: Any,
) -> Surface:
    """The exact cross-validated error of the epsilon-SVR over lambda *and* epsilon.

    Lines in lambda at a few values of epsilon are walked first. From the best point on the paths of
    the folds are turned to epsilon, then lines in lambda and in epsilon follow in turn, each exact,
    until neither improves. The error is not convex: it is a minimum along both lines, the best of
    all that was looked at, and not proven to be the best of the plane.

    Parameters
    ----------
    X, y : as in `chemin.svr_path`
    cv, scoring, groups, n_jobs : as in `chemin.selection.CrossValidation`
    low, high : float or None
        Ends of epsilon. Default: half the range of y, beyond which f is constant, and a thousandth
        of it.
    first : int
        So many lines in lambda, evenly spaced on a log scale, are walked first.
    **options
        The other arguments of `chemin.svr_path`: the kernel, weights, stop.

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0, noise=0.2)
    >>> surface = svr_surface(X, y, gamma=30.0, cv=3, first=2)
    >>> surface.minimum <= min(line.curve.minimum for line in surface.lines[:2])
    True
    """
    criterion = CrossValidation(cv, groups=groups, scoring=scoring, n_jobs=n_jobs)
    return _surface("svr", X, y, criterion, (low, high), first, options)


def nu_svr_surface(
    X: ArrayLike,
    y: ArrayLike,
    *,
    cv: Any = 5,
    scoring: Any = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    low: float | None = None,
    high: float | None = None,
    first: int = 5,
    **options: Any,
) -> Surface:
    """The exact cross-validated error of the nu-SVR over lambda *and* nu; see `svr_surface`.

    Parameters
    ----------
    X, y, cv, scoring, groups, n_jobs, first : as in `svr_surface`
    low, high : float or None
        Ends of nu. Default: 0.001 and 1.
    **options
        The other arguments of `chemin.nu_svr_path`: the kernel, weights, stop.

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0, noise=0.2)
    >>> surface = nu_svr_surface(X, y, gamma=30.0, cv=3, first=2)
    >>> 0 < surface.value <= 1
    True
    """
    criterion = CrossValidation(cv, groups=groups, scoring=scoring, n_jobs=n_jobs)
    return _surface("nu_svr", X, y, criterion, (low, high), first, options)


__all__ = ["Line", "Surface", "nu_svr_surface", "svr_surface"]
