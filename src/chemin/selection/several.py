"""Paths of several classes over one lambda: problems of two classes on the same rows.

Each problem is a weighting of the rows: those of other classes have weight 0 and take no part. So
the kernel matrix is computed once, coefficients are those of all rows, and one product with them
is f of all problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import many_class_weights
from ..data import Data
from ..path import Path
from ..segments import Coordinate, f_at
from ..solution import Solution
from .classes import Coding
from .family import Family, Given, Rows
from .labels import ROOM, LabelSteps, by_largest, by_votes
from .piecewise import Floats, Ints

# So far below the lowest start all paths go where their default stops leave nothing in common.
COMMON = 0.1


class Paths(Sequence[Path]):
    """The paths of all problems of several classes, over one parameter; immutable.

    `paths[k]` is the path of problem k. With one against one its labels are the two classes of a
    pair, the first of them positive, as in scikit-learn's SVC; with one against rest they are True
    for class k and False for the others. Rows that take no part in a problem have weight 0 there.

    Attributes
    ----------
    classes_ : ndarray
    coding : Coding
        Which problems there are.
    start, stop : float
        All paths are known between them: the largest start (the smallest, where nothing is known
        above starts), and the largest stop.
    """

    def __init__(
        self, paths: Sequence[Path | float], classes: NDArray[Any], coding: Coding
    ) -> None:
        # A class that training rows lack leaves problems without a path: a constant f.
        self._paths, self._classes, self.coding = tuple(paths), classes, coding
        self._walked = [path for path in paths if isinstance(path, Path)]

    @overload
    def __getitem__(self, index: int) -> Path: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Path]: ...

    def __getitem__(self, index: int | slice) -> Path | Sequence[Path]:
        return self._walked[index]

    def __len__(self) -> int:
        return len(self._walked)

    def __repr__(self) -> str:
        kind = "one against one" if self.coding.by_pairs else "one against rest"
        state = "" if self.complete else f", incomplete: {self.reason}"
        return (
            f"<Paths of {len(self)} problems, {self.coding.n_classes} classes {kind}: "
            f"{self.n_events} events from {self.start:.4g} to {self.stop:.4g}{state}>"
        )

    # ------------------------------------------------------------------ as of one path

    @property
    def classes_(self) -> NDArray[Any]:
        return self._classes

    @property
    def each(self) -> Sequence[Path | float]:
        """The path of every problem; the constant f of one that has none."""
        return self._paths

    @property
    def parameter(self) -> str:
        return self[0].parameter

    @property
    def problem(self) -> Any:
        """What the first of them solves."""
        return self[0].problem

    @property
    def coordinate(self) -> Coordinate:
        return self[0].coordinate

    @property
    def start(self) -> float:
        known = np.max if self.closed_above else np.min
        return float(known([path.start for path in self]))

    @property
    def stop(self) -> float:
        return float(np.max([path.stop for path in self]))

    @property
    def complete(self) -> bool:
        return all(path.complete for path in self)

    @property
    def reason(self) -> str:
        """What ended the walks: the first that is not complete tells."""
        return min(self, key=lambda path: path.complete).reason

    @property
    def closed_above(self) -> bool:
        return all(path.closed_above for path in self)

    @property
    def goes_on(self) -> bool:
        return any(path.goes_on for path in self)

    @property
    def settled(self) -> bool:
        """Whether it is plain that nothing happens below the ends of all paths."""
        return all(path.settled for path in self)

    @property
    def n_events(self) -> int:
        return sum(path.n_events for path in self)

    @cached_property
    def breakpoints(self) -> Floats:
        """Of all paths, descending."""
        return np.sort(np.concatenate([path.breakpoints for path in self]))[::-1]

    def coefficients(self, values: ArrayLike) -> tuple[Floats, Floats]:
        """Coefficients, (problems, rows, values), and intercepts, (problems, values)."""
        pairs = [path.coefficients(values) for path in self]
        return np.array([coef for coef, _ in pairs]), np.array([b for _, b in pairs])

    def at(self, value: float) -> list[Solution]:
        """The exact solution of each problem at one value of the parameter."""
        return [path.at(value) for path in self]

    def state(self, value: float) -> list[Any]:
        """`Path.state` of each problem; None where there is no path."""
        return [None if isinstance(p, float) else p.state(value) for p in self._paths]

    def further(self, stop: float) -> Paths:
        """All paths, carried on to another stop; see `Path.further`."""
        paths = [
            p if isinstance(p, float) or p.stop <= stop else p.further(stop) for p in self._paths
        ]
        return Paths(paths, self._classes, self.coding)

    def certificate(self, value: ArrayLike) -> list[Any]:
        """That of each problem."""
        return [path.certificate(value) for path in self]

    # ------------------------------------------------------------------ f and labels

    def decision_function(self, X: ArrayLike, value: float) -> Floats:
        """f of every problem at new points, one column each."""
        return self._columns(lambda path: path.decision_function(X, value))

    def predict(self, X: ArrayLike, value: float) -> NDArray[Any]:
        """Labels at one value of the parameter."""
        f = self.decision_function(X, value)
        return self._classes[self.coding.labels(f, self.within(value)[..., None])]

    def within(self, values: ArrayLike) -> Floats:
        """Differences of f that are round-off, at values of the parameter."""
        return np.max([path.within(values) for path in self], axis=0)

    def f_at(self, cross: Floats, u: Floats) -> Floats:
        """f at test points and values of the coordinate: shape (u, points, problems)."""
        return self._columns(lambda path: f_at(path.segments(cross), u), (len(u), cross.shape[1]))

    def _columns(self, f: Callable[[Path], Floats], shape: Any = ()) -> Floats:
        known = [path if isinstance(path, float) else f(path) for path in self._paths]
        shape = shape or next(np.shape(column) for column in known if np.ndim(column))
        return np.stack([np.broadcast_to(column, shape) for column in known], axis=-1)

    def labels(
        self, cross: Floats, own: Floats | None = None
    ) -> Iterator[tuple[slice, LabelSteps]]:
        """Labels over the whole path, for some of the test points at a time.

        `cross`, `own`: the kernel between all rows and the points, and of each point and itself, as
        `Path.sides` takes them.
        """
        most = max(1, int(ROOM / (1 + self.n_events + len(self))))
        for k in range(0, cross.shape[1], most):
            some = slice(k, min(k + most, cross.shape[1]))
            here, each = cross[:, some], None if own is None else own[some]
            if self.coding.by_pairs:
                pairs = [
                    p if isinstance(p, float) else self._begun(p, here, each) for p in self._paths
                ]
                yield some, by_votes(self.coding, pairs, here.shape[1])
            else:
                rest = [p if isinstance(p, float) else p.segments(here) for p in self._paths]
                yield some, by_largest(self.coding, rest, self._within_at)

    def _within_at(self, u: Floats) -> Floats:
        """`within` at values of the coordinate."""
        return self.within(self.coordinate.to_value(u))

    def _begun(self, path: Path, cross: Floats, own: Floats | None) -> tuple[Iterator[Any], float]:
        """The sides of f over a path, and the u of its start."""
        return path.sides(cross, own), float(self.coordinate.to_u(path.start))


class ClassFamily(Family):
    """A family of paths for several classes: each model is the `Paths` of all problems of two.

    Parameters
    ----------
    coding : "ovo" or "ovr"
        One against one, or one against rest.

    The others are those of `Family`; y has three classes at least. Class weights are those of the
    classes of y: "balanced" weighs class c by W / (k W_c).
    """

    def __init__(self, model: Any, X: Any, y: Any, *, coding: str = "ovo", **options: Any) -> None:
        super().__init__(model, X, y, **options)
        self.classes, self.numbers = np.unique(self.y, return_inverse=True)
        self.coding = Coding(len(self.classes), coding)

    @property
    def _rows_of_a_path(self) -> int:
        return 2 * len(self) // len(self.classes) if self.coding.by_pairs else len(self)

    @cached_property
    def cost(self) -> Floats:
        return self._by_class(np.arange(len(self)), self.weight)

    def _by_class(self, rows: Rows, weight: Floats) -> Floats:
        return many_class_weights(self.class_weight, self.numbers[rows], self.classes, weight)

    def walk(self, rows: Rows | None, weight: Floats | None = None, **options: Any) -> Any:
        given = self._given(rows, weight, self.options | options)
        numbers = self.numbers[given.rows]
        here = np.unique(numbers[given.weight > 0])
        if len(here) < 2:
            raise ValueError(f"y has 1 class ({self.classes[here[0]]!r}), expected 2 at least")
        if rows is None and len(here) < len(self.classes):
            empty = self.classes[np.setdiff1d(np.arange(len(self.classes)), here)[0]]
            raise ValueError(
                f"sample_weight is 0 for all rows of class {empty!r}, expected at least one weight "
                "above 0 in each class: leave these rows out"
            )
        weighed = replace(given, weight=self._by_class(given.rows, given.weight))
        states = weighed.walk.pop("onward", None) or [None] * len(self.coding)
        every = [self._path(k, weighed, numbers, state) for k, state in enumerate(states)]
        paths = Paths(every, self.classes, self.coding)
        # Class weights may set starts so far apart that default stops leave nothing in common.
        lowest = min(path.start for path in paths)
        default = given.walk["stop"] is None and not paths.closed_above
        return paths.further(COMMON * lowest) if default and paths.stop >= lowest else paths

    def _path(self, problem: int, given: Given, numbers: Ints, state: Any) -> Path | float:
        signs = self.coding.signs(problem, numbers)
        weight = np.where(signs != 0, given.weight, 0.0)
        constant = self.coding.without(signs[weight > 0])
        if constant is not None:
            return constant
        labels, names = self.classes[numbers], self._names(problem)
        if not self.coding.by_pairs:
            labels = signs > 0
        data = Data(given.X, labels, weight, given.kernel, names, names=self.names)
        return self._walked(data, signs, replace(given, walk=given.walk | {"onward": state}))

    def _names(self, problem: int) -> NDArray[Any]:
        """The negative class of a problem and the positive one."""
        if self.coding.by_pairs:
            return self.classes[self.coding.pairs[problem][::-1]]
        return np.array([False, True])

    def of_problem(self, problem: int) -> Family:
        """The family of one problem by itself, with the kernel of all rows."""
        signs = self.coding.signs(problem, self.numbers)
        options = self.spec | self.options | {"kernel": self.kernel}
        weight = np.where(signs != 0, self.cost, 0.0)
        labels = np.where(signs > 0, 1, -1)
        family = Family(self.name, self.X, labels, sample_weight=weight, **options)
        family.names = self.names
        if not self.without_gram:
            family.know_gram(self.gram)
        return family


__all__ = ["ClassFamily", "Paths"]
