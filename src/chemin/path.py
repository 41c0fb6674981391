"""What comes back: `Path`, every solution of a regularised model along its parameter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from ._checks import (
    SMALLEST,
    check_count,
    check_level,
    check_matrix,
    check_names,
    check_points,
    check_start_stop,
    check_values,
    check_weights,
    is_word,
)
from ._threads import threads_for
from .certificate import EPS, FLOORS
from .data import Data, make_problem
from .engine import End, Reason, Trace, audited, carry_on
from .engine.tolerances import LOWEST
from .kernels import (
    Kernel,
    Linear,
    exact_sum,
    parted,
)
from .leave_one_out import predictions_without
from .problems import Certificate, Columns, Problem
from .problems.staircase import Floats
from .segments import Bounded, Coordinate, Segments, Terms, coordinate_of, segments
from .solution import KNOWN, Solution
from .storage import Stored, read, restored_laplacian, restored_points, stored_points, write
from .summaries import Roc, crossings, roc

if TYPE_CHECKING:
    from .display import PathDisplay

# Values nearer than this, relative, to an end of the walk are at the end.
END = 1e-12
# Targets nearer than this to f, relative to the largest, are on it.
ON_CURVE = 1e-9
# What f may bend by between two values near 0, relative, to be taken for straight: its cube is what
# a limit is off by.
STRAIGHT = 1e-5
NEARER = 16.0  # times: on the way to 0, the next place at which a curve may be straight
# Columns evaluated at once, so that many values do not need n x (all values) twice over.
CHUNK = 512

EVENT = np.dtype([("value", "f8"), ("variable", "i8"), ("from", "i2"), ("to", "i2")])


class Path:
    """Every solution while a parameter moves; immutable, exact at any value, and self-proving.

    Made by `chemin.svc_path` and its relatives.

    Attributes
    ----------
    parameter : str
        What moves: "lambda", "epsilon", "nu", "tau" or "cost".
    start, stop : float
        The ends of the walk. Above a default start the closed form holds and `at` gives it.
    breakpoints : ndarray
        Value of the parameter at each event, in the order walked.
    events : structured ndarray
        Fields value, variable, from, to: `variable` left stair `from` for stair `to`, counted as
        in `stair_names`.
    complete, reason : bool, str
        Whether the stop was reached, and what ended the walk.
    """

    def __init__(self, problem: Problem, trace: Trace, data: Data) -> None:
        self._problem, self._trace, self._data = problem, trace, data

    # ------------------------------------------------------------------ what it is

    @property
    def problem(self) -> Problem:
        """What is solved: the declaration that the path was walked for."""
        return self._problem

    @property
    def parameter(self) -> str:
        return self._problem.parameter

    @property
    def start(self) -> float:
        t0 = self._trace.t0
        return float(t0[0] * self._problem.unit) if len(t0) else np.nan

    @property
    def stop(self) -> float:
        t1 = self._trace.t1
        return float(t1[-1] * self._problem.unit) if len(t1) else np.nan

    @property
    def complete(self) -> bool:
        return self._trace.end.complete

    @property
    def reason(self) -> str:
        return self._trace.end.text

    @cached_property
    def goes_on(self) -> bool:
        """Whether events lie below the lower end; where a walk could not go on, none can be had."""
        low = min(self.start, self.stop)
        if not low > 0 or (low == self.stop and not self.complete):
            return False
        if self._problem.closed:  # it bends everywhere, unless no column explains anything
            return bool(self._trace.last[1].any())
        if self.settled:
            return False
        t = low / self._problem.unit
        stair, z = self._trace.state(t)
        below = carry_on(self._problem.system, stair, z, t, stop=0.0, max_events=1)
        return len(below.events) > 0

    @property
    def settled(self) -> bool:
        """Whether it is plain that nothing happens below the end, and f stands still.

        With nothing pinned but at 0, t/t_end times the solution is the solution at t < t_end: all
        terms of its residuals are in proportion to t. That is the hard margin, for one.
        """
        if not (self.complete and self.coordinate.inverse and 0 < self.stop < self.start):
            return False
        return self._problem.system.in_proportion and self._trace.to_nothing

    def _explained(self, why: str) -> Path:
        """The same path, with a remark added to its reason."""
        trace = replace(self._trace, end=self._trace.end.remarked(why))
        return Path(self._problem, trace, self._data)

    @property
    def classes_(self) -> NDArray[Any] | None:
        return self._data.classes

    @property
    def y(self) -> NDArray[Any]:
        """The targets that the path was computed from."""
        return self._data.y

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns, where X was a data frame."""
        return self._data.names

    @property
    def weight(self) -> Floats:
        """The weights, those of samples and of classes multiplied."""
        return self._data.weight

    @property
    def stair_names(self) -> tuple[str, ...]:
        return self._problem.stair_names

    @property
    def edge_name(self) -> str:
        """What a multiplier strictly between its bounds is called, in figures."""
        return self._problem.edge_name

    @cached_property
    def events(self) -> NDArray[Any]:
        inner = self._trace.events
        out = np.empty(len(inner), EVENT)
        out["value"] = inner["t"] * self._problem.unit
        out["variable"] = self._variables[inner["variable"]]
        for end in ("from", "to"):
            out[end] = self._problem.name_stairs(inner["variable"], inner[end])
        out.setflags(write=False)
        return out

    @property
    def _variables(self) -> NDArray[np.intp]:
        """The user's row (or column) of each variable; n + j for the j-th unpenalised one."""
        named = self._problem.variables
        if named is not None:
            return named
        coupling = self._problem.system.coupling
        n_all = self._n_coef
        names = np.arange(n_all) if self._linear else self._data.used
        names = names[coupling.index]  # two variables may belong to one row
        return np.concatenate([names, n_all + np.arange(coupling.border.shape[1])])

    @property
    def breakpoints(self) -> Floats:
        return self.events["value"]

    @cached_property
    def s(self) -> Floats:
        """The sum of the absolute coefficients at each event, in the order walked.

        Where the path jumps, several events share a value of the parameter: the first and the last
        of them have s at both ends of the jump.
        """
        reading = self._problem.reading
        size = np.abs(reading.factor)
        norms = np.array([size @ np.abs(z) for z in self._trace.states()])
        at = norms[self._trace.events["move"]]
        s = np.asarray(at / self.breakpoints if reading.inverse else at)
        s.setflags(write=False)
        return s

    @cached_property
    def closed_tube(self) -> Floats:
        """Where the tube of a nu-SVR is closed (epsilon = 0): rows of two values of the parameter,
        in the order walked.

        A path in nu starts where its tube opens: `closed_tube[0]` is 1 and that nu.
        """
        names = list(self.stair_names)
        if "closed" not in names:
            raise AttributeError(f"a path of {self._problem.name} has no tube that closes")
        closed, ends, at = names.index("closed"), [], self.start
        stair = self._trace.stair_start
        inside = int(self._problem.name_stairs(np.arange(len(stair)), stair)[-1]) == closed
        if inside and self.closed_above:
            at = self._problem.highest_value
        for e in self.events[np.isin(self.events["to"], [closed, names.index("open")])]:
            if inside and e["to"] != closed:
                ends.append((at, e["value"]))
            inside, at = bool(e["to"] == closed), e["value"]
        if inside:
            ends.append((at, self.stop))
        return np.array([v for v in ends if v[0] != v[1]]).reshape(-1, 2)

    @property
    def n_events(self) -> int:
        return len(self._trace.events)

    def __len__(self) -> int:
        return self.n_events

    def __bool__(self) -> bool:
        """A path without events is a path too."""
        return True

    def __repr__(self) -> str:
        n, d = self._data.X.shape
        what = f"{self._problem.name} in {self.parameter}"
        state = "" if self.complete else f", incomplete: {self.reason}"
        kernel = "" if self._data.kernel is None else f", {_short(self._data.kernel)}"
        tube = ""
        if self.parameter == "nu" and "closed" in self.stair_names and len(self._trace.t0):
            tube = "".join(f", tube closed from {a:.4g} to {b:.4g}" for a, b in self.closed_tube)
        return (
            f"<Path of {what}: {self.n_events} events from {self.start:.4g} to {self.stop:.4g}"
            f"{tube}, {n} x {d} data{kernel}{state}>"
        )

    @property
    def _linear(self) -> bool:
        return self._data.kernel is None

    @property
    def _n_coef(self) -> int:
        return self._data.X.shape[1] if self._linear else len(self._data.weight)

    # ------------------------------------------------------------------ evaluation

    def _t(self, values: ArrayLike) -> Floats:
        """Values of the parameter as t, checked against what has been walked."""
        if len(self._trace.t0) == 0:
            raise ValueError(f"this path is empty: {self.reason}")
        v = check_values(values, self.parameter)
        top, bottom = max(self.start, self.stop), min(self.start, self.stop)
        if self.closed_above:
            top = self._problem.highest_value
        bad = v[(v < bottom - END * abs(bottom)) | (v > top * (1 + END))]
        if bad.size:
            advice = "" if self.complete else f" ({self.reason})"
            if self.complete and self.stop == bottom > bad[0] >= 0:
                advice = f": path.further({bad[0]:g}) walks on to it"
            raise ValueError(
                f"{self.parameter} = {bad[0]:g} lies outside the walked range "
                f"[{bottom:.6g}, {top:.6g}]{advice}"
            )
        if self.stop <= self.start:
            v = np.maximum(v, bottom)
        if self.coordinate.inverse and np.any(small := (v > 0) & (v < SMALLEST)):
            raise ValueError(
                f"{self.parameter} must be 0 or at least {SMALLEST:g}, got {v[small][0]:g}: "
                "coefficients there are beyond double precision"
            )
        return v / self._problem.unit

    def _refuse_limits(self, values: ArrayLike, name: str) -> None:
        """Multipliers are 0 at lambda = 0, and f is a limit: no walk goes on from there."""
        if self.coordinate.inverse and np.any(check_values(values, self.parameter) == 0):
            raise ValueError(
                f"{name} must be greater than 0, got {self.parameter} = 0: there f is but the "
                "limit of solutions, none of which a walk could go on from"
            )

    def _threads_for(self, values: ArrayLike, points: int | None = None) -> Any:
        """What a product of the data of so many points (None: its own) and solutions is made in."""
        rows, columns = self._data.X.shape
        return threads_for(points or rows, max(rows, columns), max(np.size(values), 1))

    def _columns(self, values: ArrayLike) -> Columns:
        with self._threads_for(values):
            return self._columns_at(values)

    def _columns_at(self, values: ArrayLike) -> Columns:
        t = self._t(values)
        z = self._trace.solutions(t)
        if self._problem.system.limit_at_zero and self.stop == 0:
            low = (t < self._rest) & ((t > 0) | self.coordinate.inverse)
            if low.any():
                z[:, low] = self._near_the_limit(t[low], z[:, low])
                t = np.where(low & (t == 0), self._rest, t)
        return self._problem.columns(z, t)

    def _held(self, values: ArrayLike) -> Columns:
        """Solutions as a user holds them: at lambda = 0 f is a limit, and multipliers are zero."""
        c, limit = self._columns(values), self.coordinate.inverse & (np.atleast_1d(values) == 0)
        if not limit.any():
            return c
        above = np.where(limit, 0.0, 1.0)
        return replace(c, value=c.value * above, alpha=c.alpha * above, lambda_=c.lambda_ * above)

    @cached_property
    def _rest(self) -> float:
        """The t below which z/t, and f with it, is straight, if f has a limit at 0.

        No event lies below twice that, nor at it: z may jump there, if only by round-off. Curves
        bend less and less, while the round-off of z/t grows: the first that is straight enough is
        taken.
        """
        last = float(self.breakpoints[self.breakpoints > 0].min(initial=self.start))
        h = 0.25 * last / self._problem.unit
        if self._trace.moves.degree != 1:
            least = 0.5 * min(last, LOWEST * self.start) / self._problem.unit
            while h > least and not self._way_from(h)[2]:
                h = max(h / NEARER, least)
        return h

    def _near_the_limit(self, t: Floats, z: Floats) -> Floats:
        """z below `_rest` without its own round-off, which is all that is left of it for a small t;
        at t = 0 what gives the limit of f at t = `_rest`. As it is where f has no limit.
        """
        counts, way, has_limit = self._way_to_zero
        if not has_limit:
            if t.all():
                return z
            raise ValueError(
                f"{self.parameter} = 0 has no solution here: f grows without end, for no function "
                "fits these data without loss; ask for a value above 0"
            )
        part = t / self._rest
        newton = np.array([np.ones_like(part), part - 1.0, (part - 1.0) * (part - 2.0)])
        return np.where(counts[:, None], way @ newton * np.where(t == 0, 1.0, part), z)

    @cached_property
    def _way_to_zero(self) -> tuple[Any, Floats, bool]:
        """`_way_from` the t below which it is straight."""
        return self._way_from(self._rest)

    def _way_from(self, h: float) -> tuple[Any, Floats, bool]:
        """Which z take part in f, z/t from h to 0 in units of h, and whether f has a limit there.

        It has one where z/t is nearly constant. On curves z/t is a parabola, by its divided
        differences at 1, 2 and 1/2.
        """
        reading = self._problem.reading
        counts = (reading.factor != 0) | ~self._problem.system.boxed
        near, far, half = self._trace.solutions(np.array([h, 2.0 * h, 0.5 * h])).T
        rise = 0.5 * far - near
        bend = 2.0 * (rise - (0.5 * far - 2.0 * half) / 1.5)
        if self._trace.moves.degree == 1:  # round-off
            bend = np.zeros_like(near)
        way = np.where(counts[:, None], np.column_stack([near, rise, bend]), 0.0)
        # A light row that stays on its pin is seen by its own box, not beside a heavy one.
        box = self._problem.system.stairs.span(h)
        size = np.minimum(np.abs(near[counts]).max(), np.where(box > 0, box, np.inf))
        return counts, way, not np.any(np.abs(way[:, 1]) > STRAIGHT * size)

    @property
    def _still_below(self) -> float:
        """The t below which f stands still on its way to a limit at 0; 0 where it does not."""
        ends = self.stop == 0 and self._problem.system.limit_at_zero and self.coordinate.inverse
        straight = self._trace.moves.degree == 1
        return self._rest if ends and straight and self._way_to_zero[2] else 0.0

    def at(self, value: float) -> Solution:
        """The exact solution at one value of the parameter.

        Parameters
        ----------
        value : float
            A value of what moves: of lambda, or of `parameter`. `chemin.svc_path` says which are
            known; `further` walks on below the stop.

        Examples
        --------
        >>> X, y = chemin.datasets.make_sinexp(60, 0)
        >>> path = chemin.svr_path(X, y)
        >>> path.at(0.5).lambda_
        0.5
        """
        if np.ndim(value) != 0:
            raise ValueError(
                f"at takes one value of {self.parameter}, got {value!r:.60}; decision_function and "
                "predict take arrays"
            )
        c = self._held(value)
        lift = self._lift(c.coef)
        low, high = (c.interval - lift)[:, 0]
        # What moves is what was asked for, to the last digit.
        given = {name: float(v[0]) for name, v in c.given.items()}
        given |= {name: float(value) for name in given if name == self.parameter}
        with self._threads_for(value):
            objective = float(self._problem.objective(c)[0])
        lambda_ = float(value if self.parameter == "lambda" else c.lambda_[0])
        # A limit at lambda = 0 has no loss, but for round-off.
        limit = self.coordinate.inverse and value == 0
        return Solution(
            self._spread(c.coef)[:, 0],
            float((c.intercept - lift)[0]),
            (float(low), float(high)),
            self._spread(c.alpha)[:, 0],
            0.0 if limit else objective,
            lambda_,
            **{name: given.pop(name) for name in KNOWN if name in given},
            more=given,
        )

    def _spread(self, columns: Floats) -> Floats:
        """From rows that take part to all rows: zeros elsewhere."""
        if self._linear or len(self._data.used) == self._n_coef:
            return columns
        out = np.zeros((self._n_coef, columns.shape[1]))
        out[self._data.used] = columns
        return out

    def _lift(self, coef: Floats) -> Any:
        """What intercepts of the path have more than those of a user: see `Kernel.about`."""
        kernel, X = self._data.kernel, self._data.X
        return 0.0 if kernel is None else kernel.lift(X, self._spread(coef))

    def decision_function(self, X: ArrayLike, value: ArrayLike) -> Floats:
        """f at new points; an array of values gives one column each, for one matrix product.

        Where its sign is a label f is 0 if round-off does not tell it from 0.

        Parameters
        ----------
        X : array of shape (n_new, d)
            New points; with kernel="precomputed" the kernel between them and the points of the
            path, (n_new, n).
        value : float or array
            Values of the parameter.

        Returns
        -------
        ndarray of shape (n_new,), or (n_new, k) for k values
        """
        check_names(X, self._data.names)
        points = np.shape(X)[0] if np.ndim(X) else None
        with self._threads_for(value, points):
            f = self._f_of(X, self._columns(value))
        return f[:, 0] if np.ndim(value) == 0 else f

    def _f_of(self, X: ArrayLike, c: Columns) -> Floats:
        """f at new points, one column for each solution."""
        coef, kernel = self._spread(c.coef), self._data.kernel
        if kernel is None:
            X = check_matrix(X)
            if X.shape[1] != self._n_coef:
                raise ValueError(f"X has {X.shape[1]} columns, expected {self._n_coef}")
            f, largest = X @ coef, np.abs(X).max(axis=1)
        elif isinstance(kernel, Linear):  # by X' coef, without the matrix between the points
            f = kernel.combine(X, self._data.X, coef)
            new, old = kernel.seen(check_points(X)), kernel.seen(self._data.X)
            largest = abs(new) @ _largest_in_columns(old)
        else:
            cross = kernel.cross(X, self._data.X)
            f, largest = combined(cross, coef, alike=self._problem.centred is not None)
        return self.terms.rounded(f + c.intercept, np.abs(coef).sum(axis=0), largest[:, None])

    @cached_property
    def terms(self) -> Terms:
        """What the intercept is made up of: by it round-off of f is told where its sign counts."""
        problem: Any = self._problem
        sign_counts = {} if problem.target != "numbers" else {"roundings": 0.0}
        if not problem.spec()["intercept"]:
            return Terms(**sign_counts)
        reach = self._reach if not self._linear else float(np.abs(self._data.X).max(initial=0.0))
        level = {"labels": 1.0, "none": 0.0}.get(problem.target)
        if level is None:
            level = float(np.abs(self._data.y).max())
        return Terms(reach, level, **sign_counts)

    def within(self, values: ArrayLike) -> Floats:
        """Up to which f at values of the parameter may differ by round-off alone, whatever the
        model on the path. By this, f of several classes are told to be equal.
        """
        inverse, most = self._furthest
        u = self.coordinate.to_u(np.asarray(values, dtype=float))
        return self.terms.room(most * u if inverse else most + 0.0 * u, self._reach)

    @cached_property
    def _furthest(self) -> tuple[bool, float]:
        """Whether f is read off by 1/lambda, and the largest sum of sizes that it is made of."""
        reading = self._problem.reading
        states = np.array([z for _, z in self._trace._known] + [self._trace.last[1]])
        return reading.inverse, float((np.abs(states) @ np.abs(reading.factor)).max())

    @cached_property
    def _reach(self) -> float:
        """The largest |k| between points, without what all entries have in common."""
        problem: Any = self._problem
        if problem.centred is not None:
            return float(problem.centred.reach)
        return float(problem.gram.diagonal().max(initial=0.0))

    def predict(self, X: ArrayLike, value: ArrayLike) -> NDArray[Any]:
        """Labels for classification (f = 0 gives classes_[0]), f itself for regression.

        Of the one-class SVM 1 and -1; f = 0, on the boundary, is inside, as in scikit-learn.

        Parameters
        ----------
        X, value : as in `decision_function`

        Returns
        -------
        ndarray of shape (n_new,), or (n_new, k) for k values
        """
        f = self.decision_function(X, value)
        if self._data.classes is None:
            return f
        inside = f >= 0 if self._problem.target == "none" else f > 0
        return self._data.classes[inside.astype(np.intp)]

    def multipliers(self, values: ArrayLike) -> Floats:
        """Dual variables (alpha of `at`) at many values at once, one column a value.

        Parameters
        ----------
        values : float or array
            Values of the parameter.
        """
        return self._spread(self._columns(values).alpha)

    def coefficients(self, values: ArrayLike) -> tuple[Floats, Floats]:
        """Coefficients (one column a value) and intercepts at many values at once.

        Parameters
        ----------
        values : float or array
            Values of the parameter.
        """
        c = self._columns(values)
        return self._spread(c.coef), c.intercept - self._lift(c.coef)

    def states(self, values: ArrayLike) -> Floats:
        """z of the staircase problem at many values at once, one column a value."""
        return self._trace.solutions(self._t(values))

    def degrees_of_freedom(self, values: ArrayLike) -> Any:
        """Of the fitted values, intercept included: what theory has, for linear models.

        By Stein the sum of the derivatives of the fitted values by their own targets; unbiased for
        normal errors of one variance. For the lasso it is the number of non-zero coefficients.

        Parameters
        ----------
        values : float or array
            Values of the parameter.
        """
        t, z = self._t(values), self.states(values)
        each = (self._problem.columns(z[:, [k]], t[[k]]) for k in range(len(t)))
        df = [float(self._problem.degrees_of_freedom(c, c.coef[:, 0] != 0)[0]) for c in each]
        return df[0] if np.ndim(values) == 0 else np.array(df)

    @property
    def coordinate(self) -> Coordinate:
        """The coordinate of `segments`: u = 1/parameter or u = parameter."""
        return coordinate_of(self._problem)

    @property
    def closed_above(self) -> bool:
        """Whether `at` gives the closed form above the start."""
        return self._trace.closed_above

    def segments(self, cross: Floats) -> Iterator[Segments]:
        """f at new points over the whole path, in blocks of segments on which it is smooth.

        `cross` is the kernel between the rows of the path and the points, of shape (rows, points);
        for linear models the points as columns. Segments lie in the `coordinate` u.
        """
        return self._segments(cross, None)

    def sides(self, cross: Floats, own: Floats | None) -> Iterator[Segments | Bounded]:
        """`segments` where only the side of 0 on which f lies is asked for; `own`: k(x, x) at the
        points, or None where it is not known, or k not known to be an inner product.
        """
        return self._segments(cross, own)

    def _segments(self, cross: Floats, own: Floats | None) -> Iterator[Any]:
        if len(self._trace.t0) == 0:
            raise ValueError(f"this path is empty: {self.reason}")
        if np.ndim(cross) != 2 or len(cross) != self._n_coef:
            raise ValueError(
                f"cross must have shape ({self._n_coef}, points), as `Path.cross` gives it, got "
                f"shape {np.shape(cross)}"
            )
        if not self._linear and len(self._data.used) < self._n_coef:
            cross = cross[self._data.used]
        common: Floats | float = 0.0
        if self._problem.centred is not None:
            rest, common = parted(cross.T)
            cross, own = rest.T, None
        return segments(
            self._problem,
            self._trace,
            cross,
            common,
            above=self.closed_above,
            terms=self.terms,
            rest=self._still_below,
            own=own,
        )

    def cross(self, X: ArrayLike) -> Floats:
        """New points as `segments` takes them: the kernel between the rows and the points."""
        check_names(X, self._data.names)
        if self._data.kernel is None:
            return np.ascontiguousarray(check_matrix(X).T)
        return np.ascontiguousarray(self._data.kernel.cross(X, self._data.X).T)

    def roc(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Roc:
        """The exact ROC curve of a path in the cost: every model that it has, and their hull.

        Parameters
        ----------
        X, y : points and their labels
        sample_weight : array of shape (n,) or None

        Returns
        -------
        Roc
            With `fpr`, `tpr`, `cost`, `interval`, `hull` and `auc`.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> path = chemin.svc_path(X[:200], y[:200], along="cost", lambda_=0.1)
        >>> curve = path.roc(X[200:], y[200:])
        >>> print(curve.fpr[0], curve.tpr[-1])
        0.0 1.0
        """
        if self.parameter != "cost" or self.classes_ is None:
            raise ValueError(
                f"roc needs a path in the cost, svc_path(..., along='cost'), got one of "
                f"{self._problem.name} in {self.parameter}"
            )
        labels, cross = np.asarray(y), self.cross(X)
        if labels.shape != (cross.shape[1],):
            raise ValueError(
                f"y must have one label for each of the {cross.shape[1]} rows of X, got shape "
                f"{labels.shape}"
            )
        unknown = np.setdiff1d(labels, self.classes_)
        if unknown.size:
            raise ValueError(f"y has the label {unknown[0]}, expected one of {self.classes_}")
        positive = labels == self.classes_[1]
        weight = check_weights(sample_weight, len(labels))
        for k, name in ((positive, self.classes_[1]), (~positive, self.classes_[0])):
            if not weight[k].sum() > 0:
                raise ValueError(f"y must have points of both classes, got none of {name}")
        return roc(self.segments(cross), self.coordinate, positive, weight)

    def fractions_below(self, value: ArrayLike) -> tuple[Any, Any]:
        """Shares of the weight of targets below f, and of targets below or on f.

        On a path of `chemin.quantile_path` with an intercept tau lies between the two.

        Parameters
        ----------
        value : float or array
            Values of the parameter.

        Returns
        -------
        below, up_to : floats, or arrays with an entry for each value
        """
        if self.classes_ is not None:
            raise ValueError("fractions_below needs targets that are numbers, got labels")
        used = self._data.used
        y, w = self._data.y[used, None], self._data.weight[used]
        f = self.decision_function(self._data.X[used], np.atleast_1d(value))
        if self._data.kernel is not None and self._data.kernel.name == "precomputed":
            f = self.decision_function(self._data.X, np.atleast_1d(value))[used]
        most = np.abs(self._columns(value).coef).sum(axis=0)
        noise = FLOORS * self.terms.floor(most, self._reach)  # what certificates leave open
        noise = np.maximum(ON_CURVE * np.abs(y).max(), noise)
        shares = [w @ (y < f - noise) / w.sum(), w @ (y <= f + noise) / w.sum()]
        if np.ndim(value) == 0:
            return float(shares[0][0]), float(shares[1][0])
        return shares[0], shares[1]

    def crossings(self, X: ArrayLike | None = None) -> NDArray[Any]:
        """Where quantiles cross, on a path in tau: f falls at a point while tau grows.

        Parameters
        ----------
        X : array of shape (m, d) or None
            The points to look at. None: those of the path.

        Returns
        -------
        structured ndarray
            One row for each stretch of tau over which f falls at a point: fields point, from, to
            (values of tau) and drop, in units of y. Empty where no quantiles cross. Small drops are
            common.
        """
        if self.parameter != "tau":
            raise ValueError(f"crossings needs a path in tau, got one in {self.parameter}")
        points = self._data.X if X is None else X
        return crossings(self.segments(self.cross(points)), self.coordinate)

    def certificate(self, value: ArrayLike) -> Certificate:
        """How far from optimal the solutions are, computed afresh from the data.

        Parameters
        ----------
        value : float or array
            Values of the parameter; an array gives a certificate of arrays.
        """
        values = check_values(value, self.parameter)
        parts = (values[i : i + CHUNK] for i in range(0, max(len(values), 1), CHUNK))
        with self._threads_for(values[:CHUNK]):
            judged = Certificate.joined(
                self._problem.certificate(self._held(part)) for part in parts
            )
        return judged.single if np.ndim(value) == 0 else judged

    def certify(self, solution: Solution) -> Certificate:
        """Judge any solution that you hold, by the data of this path.

        It need not lie on the path, nor come from chemin: `coef`, `intercept`, `alpha`, `lambda_`
        and the other parameters are taken as they are.

        Parameters
        ----------
        solution : Solution

        Examples
        --------
        >>> from dataclasses import replace
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> path = chemin.svc_path(X[:100], y[:100])
        >>> solution = path.at(0.1)
        >>> path.certify(solution).verdict
        'exact'
        >>> path.certify(replace(solution, intercept=solution.intercept + 0.001)).verdict
        'wrong'
        """
        if not isinstance(solution, Solution):
            raise ValueError(f"solution must be a chemin Solution, got {solution!r:.60}")
        p: Any = self._problem
        n = self._n_coef
        for name, count in (("coef", n), ("alpha", p.n_alpha or n)):
            if np.shape(getattr(solution, name)) != (count,):
                shape = np.shape(getattr(solution, name))
                raise ValueError(f"solution.{name} must have {count} entries, got shape {shape}")
        used = slice(None) if self._linear else self._data.used
        given = {name: np.array([v], dtype=float) for name, v in solution.given.items()}
        missing = self._given_names - set(given)
        if missing:
            raise ValueError(f"solution.{min(missing)} must be a number, got None")
        b, lam = (
            check_values(getattr(solution, name), f"solution.{name}", finite=False)
            for name in ("intercept", "lambda_")
        )
        coef, alpha = (
            check_values(getattr(solution, name), f"solution.{name}", finite=False)[used, None]
            for name in ("coef", "alpha")
        )
        lift = self._lift(coef)
        judged = p.certificate(
            Columns(lam, coef, b + lift, np.tile(b + lift, (2, 1)), alpha, lam, given)
        ).single
        if np.any(lift):  # which the intercept is known to round-off of
            unit = float(np.ravel(p.margin_unit(given))[0])
            judged = replace(judged, floor=judged.floor + EPS * float(np.abs(lift).max()) / unit)
        if self._linear or len(self._data.used) == n:
            return judged
        # Rows of weight zero take no part: anything that they hold is too much.
        both = (np.asarray(v, dtype=float) for v in (solution.coef, solution.alpha))
        held = [np.delete(v, used) / np.abs(v).max() for v in both if np.any(v)]
        idle = np.abs(held).max(initial=0.0)
        return replace(judged, kkt_violation=float(np.maximum(judged.kkt_violation, idle)))

    @cached_property
    def _given_names(self) -> frozenset[str]:
        """The parameters besides lambda that a solution has."""
        return frozenset(self._columns(self.start).given)

    def free(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which multipliers are strictly between their bounds, one column a value."""
        return self._spread(self._problem.free(self._columns(values)).astype(float)) > 0

    # ------------------------------------------------------------------ carrying on

    def turn(
        self,
        parameter: str,
        *,
        at: float,
        stop: float | None = None,
        max_events: int | None = None,
        verbose: int = 0,
    ) -> Path:
        """Carry on along another parameter, from the exact solution at a value of this one.

        There is no new start: the walk goes on from the solution at `at`.

        - A path of the C-SVM turns to "lambda" or "cost", one of quantile regression to "lambda" or
          "tau".
        - A path of `quadratic_svc_path` turns to "lambda", "rho" or "h", and one of
          `quadratic_svr_path` to "lambda", "epsilon" or "h".
        - A path of `laplacian_svc_path` turns to "lambda1" or "lambda2".
        - Paths of the nu-SVR and of the epsilon-SVR turn to "lambda", "nu" or "epsilon". From one
          to the other the coefficients stay the same, at the equivalent nu or epsilon. Where an
          edge of the tube has no points, intercept and epsilon of a nu-SVR are not unique: the new
          path gives the middle of what they may be.

        Parameters
        ----------
        parameter : str
            What moves on the new path; its start is the value it has in the solution at `at`.
        at : float
            A value of this path's parameter.
        stop : float or None
            Where to end, above or below the start. Default: 1e-4 of the start, and 0.9999 along
            "tau" and "cost".
        max_events, verbose : as in `chemin.svc_path`

        Examples
        --------
        >>> X, y = chemin.datasets.make_sinexp(60, 0)
        >>> path = chemin.nu_svr_path(X, y, nu=0.2)
        >>> wider = path.turn("nu", at=0.1 * path.start, stop=0.1)
        >>> wider.certificate(wider.stop).exact
        True
        """
        p = self._problem
        if not is_word(parameter, p.turns):
            known = " or ".join(map(repr, p.turns)) or "nothing: it has one parameter"
            raise ValueError(f"parameter is {parameter!r}, but a path of {p.name} turns to {known}")
        if np.ndim(at) != 0:
            raise ValueError(f"at must be one value of {self.parameter}, got {at!r:.60}")
        _, stop = check_start_stop(None, stop)
        max_events, verbose = check_count(max_events, "max_events"), check_level(verbose, "verbose")
        self._refuse_limits(at, "at")
        t = float(self._t(at)[0])
        new = p.turned(parameter, *self._trace.state(t), t)
        problem = new.problem
        if stop is not None and stop > problem.highest_value:
            raise ValueError(f"stop must be at most {problem.highest_value:g}, got {stop:g}")
        if problem.default_range is not None:  # between 0 and 1, and upward by default
            stop = problem.default_range[1] if stop is None else stop
            if not 0.0 < stop < 1.0:
                raise ValueError(f"stop must lie between 0 and 1, both excluded, got {stop:g}")
        at = new.value / problem.unit
        walk = partial(carry_on, problem.system, new.stair, new.z, at, regular=new.regular)
        end = None if stop is None else stop / problem.unit
        trace = audited(problem, walk, stop=end, max_events=max_events, verbose=verbose)
        return Path(problem, trace, self._data)

    def state(self, value: float) -> tuple[Any, Floats, float]:
        """Stairs, multipliers and t at a value: from there a walk can be carried on."""
        if value == self.stop:
            return self._trace.last
        t = float(self._t(value)[0])
        return *self._trace.state(t), t

    def further(self, stop: float) -> Path:
        """The same path, carried on from its end to another stop; as it is, if it cannot go on.

        Parameters
        ----------
        stop : float
            Beyond the stop of this path, on the way that it goes.

        Examples
        --------
        >>> X, y = chemin.datasets.make_sinexp(60, 0)
        >>> path = chemin.svr_path(X, y, stop=0.1)
        >>> longer = path.further(0.01)
        >>> (longer.start, longer.stop) == (path.start, 0.01)
        True
        """
        _, stop_ = check_start_stop(None, stop)
        if stop_ is None or (self.stop - stop_) * (self.start - self.stop) < 0:
            raise ValueError(f"stop must lie beyond the end of the path, {self.stop:g}, got {stop}")
        if not self.complete or stop_ == self.stop:
            return self
        p = self._problem
        walk = partial(carry_on, p.system, *self._trace.last)
        more = audited(p, walk, stop=stop_ / p.unit)
        if len(more.moves) == 0:
            return Path(p, replace(self._trace, end=more.end), self._data)
        return Path(p, self._trace.then(more), self._data)

    def leave_one_out(self, values: ArrayLike) -> Floats:
        """f(x_i) of the model without point i, for every point; one column a value.

        Exact: it equals a path without the point, at the same value of the parameter (and, for
        nu-SVR and one-class SVM, at the same nu), with the kernel as it is. From the solution with
        the point its multiplier walks to zero; points that are not support vectors cost nothing.
        Rows of weight zero take no part: f itself is theirs. Without the only point of a class the
        other class is left alone, and every f beyond its margin is optimal: the margin is returned,
        -1 or 1, which is the limit of f as the weight of the point vanishes.

        Parameters
        ----------
        values : float or array
            Values of the parameter.

        Examples
        --------
        >>> X, y = chemin.datasets.make_sinexp(60, 0)
        >>> path = chemin.svr_path(X, y, epsilon=0.1)
        >>> values = [f * path.start for f in (0.3, 0.1, 0.03)]
        >>> errors = abs(y[:, None] - path.leave_one_out(values)).mean(axis=0)
        """
        p: Any = self._problem
        if not p.of_points:
            raise ValueError(
                f"leave_one_out cannot take a point out of a path of {p.name}: use "
                "chemin.selection.LeaveOneOut, which walks again without each point"
            )
        if len(self._data.used) < 3:
            raise ValueError("leave_one_out needs three points with a positive weight at least")
        self._refuse_limits(values, "values")
        out = np.empty((self._n_coef, np.size(values)))
        c = self._columns(values)
        root = np.sqrt(np.maximum(p.gram.diagonal(), 0.0))
        largest = np.minimum(root * root.max(), self._reach)  # no |k| is larger
        for j, t in enumerate(self._t(values)):
            f = predictions_without(p, self._trace, float(t))
            coef_sum = np.abs(c.coef[:, j]).sum()
            out[self._data.used, j] = self.terms.rounded(f, coef_sum, largest)
        idle = np.setdiff1d(np.arange(self._n_coef), self._data.used)
        if idle.size:
            out[idle] = self.decision_function(self._data.X[idle], np.atleast_1d(values))
        return out[:, 0] if np.ndim(values) == 0 else out

    # ------------------------------------------------------------------ out of Python

    def plot(self, **options: Any) -> PathDisplay:
        """Draw the path.

        Parameters
        ----------
        **options
            Those of `chemin.display.PathDisplay.from_path`: what, variables, names, counts, mark,
            ax, xscale, and those of matplotlib's lines.

        Returns
        -------
        PathDisplay
        """
        from .display import PathDisplay

        return PathDisplay.from_path(self, **options)

    def to_frame(self) -> Any:
        """One row an event, as a pandas DataFrame, stairs by name."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        names = np.asarray(self.stair_names)
        e = self.events
        columns = {"value": e["value"], "variable": e["variable"]}
        return pandas.DataFrame(columns | {f: names[e[f]] for f in ("from", "to")})

    def save(self, file: str | FilePath) -> None:
        """Write the path to an .npz file: arrays and a JSON header, no pickle.

        Parameters
        ----------
        file : str or pathlib.Path
            The suffix .npz is added where there is none; `chemin.load` does the same.
        """
        d, t = self._data, self._trace
        if d.kernel is not None and d.kernel.spec()["name"] == "callable":
            raise ValueError(
                "a path with a callable kernel cannot be saved: compute the kernel matrix and "
                "use kernel='precomputed'"
            )
        header = {
            "problem": self._problem.name,
            "spec": self._problem.spec(),
            "kernel": None if d.kernel is None else d.kernel.spec(),
            "end": t.end.reason.name,
            "reason": t.end.text,
            "closed_above": t.closed_above,
            "names": d.names,
        }
        arrays: dict[str, NDArray[Any]] = stored_points(d.X)
        arrays |= {"y": d.y, "weight": d.weight}
        if d.classes is not None:
            arrays["classes"] = d.classes
        if d.laplacian is not None:
            parts = ("data", "indices", "indptr")
            arrays |= {f"laplacian_{name}": getattr(d.laplacian, name) for name in parts}
        arrays |= {f"trace_{name}": array for name, array in t.arrays().items()}
        write(file, Stored(header, arrays))


def _short(kernel: Any) -> str:
    """A kernel with numbers of four digits, for the eye."""
    return re.sub(r"\d+\.\d{4,}(e[-+]\d+)?", lambda found: f"{float(found[0]):.4g}", repr(kernel))


def combined(cross: Floats, coef: Floats, *, alike: bool) -> tuple[Floats, Floats]:
    """cross @ coef, and the largest |k| at each new point; where all entries are `alike`, without
    what they have in common.
    """
    if not alike:
        return cross @ coef, np.abs(cross).max(axis=1, initial=0.0)
    rest, common = parted(cross)
    f = rest @ coef + np.outer(common, exact_sum(coef))
    return f, np.abs(rest).max(axis=1, initial=0.0)


def load(file: str | FilePath) -> Path:
    """Read a path that `Path.save` has written.

    Parameters
    ----------
    file : str or pathlib.Path

    Returns
    -------
    Path

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0)
    >>> chemin.svr_path(X, y).save("sine")
    >>> chemin.load("sine.npz").parameter
    'lambda'
    """
    stored = read(file)
    try:
        return _restored(stored)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{file} is not a saved path, or is damaged: {error}") from None


def _largest_in_columns(X: Any) -> Floats:
    largest = abs(X).max(axis=0)
    return largest.toarray() if issparse(largest) else np.asarray(largest)


def _restored(stored: Stored) -> Path:
    header, arrays = stored.header, stored.arrays
    kernel = None if header["kernel"] is None else Kernel.from_spec(header["kernel"])
    classes = arrays.get("classes")
    points, laplacian = restored_points(arrays), restored_laplacian(arrays)
    names = header.get("names") and tuple(header["names"])
    data = Data(points, arrays["y"], arrays["weight"], kernel, classes, laplacian, names)
    signs = None if classes is None else np.where(data.y == classes[1], 1.0, -1.0)
    problem = make_problem(header["problem"], data, signs, header["spec"])
    kept = {f.removeprefix("trace_"): arrays[f] for f in arrays if f.startswith("trace_")}
    end = End(Reason[header["end"]], header["reason"])
    trace = Trace.from_arrays(kept, problem.system.stairs, end, header["closed_above"])
    return Path(problem, trace, data)


__all__ = ["Path", "load"]
