"""What comes back: `Path`, every solution of a regularised model along its parameter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import check_matrix
from .affine import Pieces, pieces
from .engine import Trace
from .kernels import Kernel
from .problems import SVC, SVR, Certificate, Columns, Lasso, LowRankGram, Problem
from .problems.staircase import Floats

if TYPE_CHECKING:
    from .display import PathDisplay

FORMAT = 1  # of saved paths
# Values nearer than this, relative, to an end of the walk are at the end.
END = 1e-12
# Columns evaluated at once, so that many values do not need n x (all values) twice over.
CHUNK = 512

EVENT = np.dtype([("value", "f8"), ("variable", "i8"), ("from", "i2"), ("to", "i2")])
PROBLEMS: dict[str, type[Problem]] = {p.name: p for p in (SVC, SVR, Lasso)}


@dataclass(frozen=True)
class Solution:
    """The model at one value of the parameter: f(x) = sum coef_i k(x_i, x) + intercept.

    For linear models f(x) = x'coef + intercept.
    """

    coef: Floats
    intercept: float
    intercept_interval: tuple[float, float]
    alpha: Floats
    objective: float
    lambda_: float
    epsilon: float | None = None
    nu: float | None = None

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the non-zero coefficients."""
        return np.flatnonzero(self.coef)

    def __repr__(self) -> str:
        tube = "" if self.epsilon is None else f", epsilon={self.epsilon:.6g}"
        return (
            f"Solution(lambda_={self.lambda_:.6g}{tube}, {len(self.support)} of {len(self.coef)} "
            f"coefficients, intercept={self.intercept:.6g})"
        )


@dataclass(frozen=True)
class Data:
    """What a path was computed from, as it was given."""

    X: Floats  # points, or the kernel matrix when the kernel is precomputed
    y: NDArray[Any]
    weight: Floats
    kernel: Kernel | None  # None for linear models
    classes: NDArray[Any] | None  # two labels for classification

    @cached_property
    def used(self) -> NDArray[np.intp]:
        """Rows with a positive weight: the others take no part."""
        return np.flatnonzero(self.weight > 0)


class Path:
    """Every solution while a parameter moves; immutable, exact at any value, and self-proving.

    Made by `chemin.svc_path` and its relatives.

    Attributes
    ----------
    parameter : str
        What moves: "lambda", "epsilon", ...
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

    def __init__(self, problem: Problem, trace: Trace, data: Data, *, closed_above: bool) -> None:
        self._problem, self._trace, self._data = problem, trace, data
        self._closed_above = closed_above

    # ------------------------------------------------------------------ what it is

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
        return self._trace.complete

    @property
    def reason(self) -> str:
        return self._trace.reason

    @property
    def classes_(self) -> NDArray[Any] | None:
        return self._data.classes

    @property
    def y(self) -> NDArray[Any]:
        """The targets that the path was computed from."""
        return self._data.y

    @property
    def weight(self) -> Floats:
        """The weights, those of samples and of classes multiplied."""
        return self._data.weight

    @property
    def stair_names(self) -> tuple[str, ...]:
        return self._problem.stair_names

    @cached_property
    def events(self) -> NDArray[Any]:
        inner = self._trace.events
        out = np.empty(len(inner), EVENT)
        out["value"] = inner["t"] * self._problem.unit
        out["variable"] = self._variables[inner["variable"]]
        out["from"] = inner["from"] - self._problem.first_stair
        out["to"] = inner["to"] - self._problem.first_stair
        return out

    @property
    def _variables(self) -> NDArray[np.intp]:
        """The user's row (or column) of each variable; n + j for the j-th unpenalised one."""
        coupling = self._problem.system.coupling
        n_all = self._n_coef
        names = np.arange(n_all) if self._linear else self._data.used
        return np.concatenate([names, n_all + np.arange(coupling.border.shape[1])])

    @property
    def breakpoints(self) -> Floats:
        return self.events["value"]

    @property
    def n_events(self) -> int:
        return len(self._trace.events)

    def __len__(self) -> int:
        return self.n_events

    def __repr__(self) -> str:
        n, d = self._data.X.shape
        what = f"{self._problem.name} in {self.parameter}"
        state = "" if self.complete else f", incomplete: {self.reason}"
        kernel = "" if self._data.kernel is None else f", {self._data.kernel!r}"
        return (
            f"<Path of {what}: {self.n_events} events from {self.start:.4g} to {self.stop:.4g}"
            f", {n} x {d} data{kernel}{state}>"
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
        v = np.atleast_1d(np.asarray(values, dtype=float))
        if v.ndim != 1 or not np.all(np.isfinite(v)):
            raise ValueError(f"{self.parameter} must be a finite number or a 1-D array of them")
        if len(self._trace.t0) == 0:
            raise ValueError(f"this path is empty: {self.reason}")
        top, bottom = max(self.start, self.stop), min(self.start, self.stop)
        if self._closed_above:
            top = np.inf
        bad = v[(v < bottom - END * abs(bottom)) | (v > top * (1 + END))]
        if bad.size:
            raise ValueError(
                f"{self.parameter} = {bad[0]:g} lies outside the walked range "
                f"[{bottom:.6g}, {top:.6g}]" + ("" if self.complete else f" ({self.reason})")
            )
        if self.stop <= self.start:
            v = np.maximum(v, bottom)
        return v / self._problem.unit

    def _columns(self, values: ArrayLike) -> Columns:
        t = self._t(values)
        return self._problem.columns(self._trace.solutions(t), t)

    def at(self, value: float) -> Solution:
        """The exact solution at one value of the parameter."""
        if np.ndim(value) != 0:
            raise ValueError("at takes one value; decision_function and predict take arrays")
        c = self._columns(value)
        objective = float(self._problem.objective(c)[0])
        low, high = c.interval[:, 0]
        return Solution(
            self._spread(c.coef)[:, 0],
            float(c.intercept[0]),
            (float(low), float(high)),
            self._spread(c.alpha)[:, 0],
            objective,
            float(c.lambda_[0]),
            None if c.epsilon is None else float(c.epsilon[0]),
        )

    def _spread(self, columns: Floats) -> Floats:
        """From rows that take part to all rows: zeros elsewhere."""
        if self._linear or len(self._data.used) == self._n_coef:
            return columns
        out = np.zeros((self._n_coef, columns.shape[1]))
        out[self._data.used] = columns
        return out

    def decision_function(self, X: ArrayLike, value: ArrayLike) -> Floats:
        """f at new points; an array of values gives one column each, for one matrix product."""
        c = self._columns(value)
        if self._data.kernel is None:
            X = check_matrix(X)
            if X.shape[1] != self._n_coef:
                raise ValueError(f"X has {X.shape[1]} columns, expected {self._n_coef}")
            f = X @ c.coef
        else:
            f = self._data.kernel.combine(X, self._data.X, self._spread(c.coef))
        f = f + c.intercept
        return f[:, 0] if np.ndim(value) == 0 else f

    def predict(self, X: ArrayLike, value: ArrayLike) -> NDArray[Any]:
        """Labels for classification (f = 0 gives classes_[0]), f itself for regression."""
        f = self.decision_function(X, value)
        if self._data.classes is None:
            return f
        return self._data.classes[(f > 0).astype(np.intp)]

    def multipliers(self, values: ArrayLike) -> Floats:
        """Dual variables (alpha of `at`) at many values at once, one column a value."""
        return self._spread(self._columns(values).alpha)

    def coefficients(self, values: ArrayLike) -> tuple[Floats, Floats]:
        """Coefficients (one column a value) and intercepts at many values at once."""
        c = self._columns(values)
        return self._spread(c.coef), c.intercept

    @property
    def affine_in_inverse(self) -> bool:
        """Whether f is affine in 1/parameter between events; if not, in the parameter."""
        return self._problem.reading.inverse

    @property
    def closed_above(self) -> bool:
        """Whether `at` gives the closed form above the start."""
        return self._closed_above

    def pieces(self, cross: Floats) -> Iterator[Pieces]:
        """f at new points over the whole path, in blocks of pieces on which it is affine in u.

        `cross` is the kernel between the rows of the path and the points, of shape (rows, points);
        for linear models the points as columns. u is 1/parameter or the parameter, as
        `affine_in_inverse` says.
        """
        if len(self._trace.t0) == 0:
            raise ValueError(f"this path is empty: {self.reason}")
        if not self._linear and len(self._data.used) < self._n_coef:
            cross = cross[self._data.used]
        return pieces(self._problem, self._trace, cross, above=self._closed_above)

    def with_kernel(self, kernel: Kernel, X: Floats) -> Path:
        """The same path of a precomputed kernel matrix, knowing the points and the kernel."""
        data = replace(self._data, X=X, kernel=kernel)
        return Path(self._problem, self._trace, data, closed_above=self._closed_above)

    def certificate(self, value: ArrayLike) -> Certificate:
        """How far from optimal the solutions are, computed afresh from the data."""
        values = np.atleast_1d(np.asarray(value, dtype=float))
        parts = [
            self._problem.certificate(self._columns(values[i : i + CHUNK]))
            for i in range(0, max(len(values), 1), CHUNK)
        ]
        fields = [
            np.concatenate([np.atleast_1d(getattr(p, f)) for p in parts])
            for f in ("kkt_violation", "relative_gap", "floor")
        ]
        if np.ndim(value) == 0:
            return Certificate(*(float(f[0]) for f in fields))
        return Certificate(*fields)

    # ------------------------------------------------------------------ out of Python

    def plot(self, **options: Any) -> PathDisplay:
        """Draw the path: `PathDisplay.from_path` with this path, and its options."""
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
        """Write the path to an .npz file: arrays and a JSON header, no pickle."""
        d, t = self._data, self._trace
        if d.kernel is not None and d.kernel.spec()["name"] == "callable":
            raise ValueError(
                "a path with a callable kernel cannot be saved: compute the kernel matrix and "
                "use kernel='precomputed'"
            )
        header = {
            "format": FORMAT,
            "problem": self._problem.name,
            "spec": self._problem.spec(),
            "kernel": None if d.kernel is None else d.kernel.spec(),
            "complete": t.complete,
            "reason": t.reason,
            "closed_above": self._closed_above,
        }
        arrays: dict[str, NDArray[Any]] = {"X": d.X, "y": d.y, "weight": d.weight}
        if d.classes is not None:
            arrays["classes"] = d.classes
        for field in _TRACE_FIELDS:
            arrays[f"trace_{field}"] = getattr(t, field)
        arrays["header"] = np.array(json.dumps(header))
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


_TRACE_FIELDS = ("z_start", "t0", "t1", "length", "pointer", "index", "rate", "events", "before")


def make_problem(name: str, data: Data, signs: Floats | None, spec: dict[str, Any]) -> Problem:
    """The problem of a path, from its data."""
    w, y = data.weight, data.y if signs is None else signs
    if data.kernel is None:
        return PROBLEMS[name](data.X, y, w, **spec)  # type: ignore[call-arg]
    used = data.used
    all_used = len(used) == len(w)
    Z = data.kernel.factor(data.X)
    if Z is not None:
        K: Any = LowRankGram(Z if all_used else np.ascontiguousarray(Z[used]))
    else:
        K = data.kernel.gram(data.X)
        K = K if all_used else np.ascontiguousarray(K[np.ix_(used, used)])
    return PROBLEMS[name](K, y[used], w[used], **spec)  # type: ignore[call-arg]


def load(file: str | FilePath) -> Path:
    """Read a path that `Path.save` has written."""
    with np.load(file, allow_pickle=False) as stored:
        if "header" not in stored:
            raise ValueError(f"{file} is not a saved path: it has no header")
        header = json.loads(str(stored["header"]))
        if header["format"] != FORMAT:
            raise ValueError(f"{file} has format {header['format']}, this version reads {FORMAT}")
        kernel = None if header["kernel"] is None else Kernel.from_spec(header["kernel"])
        classes = stored["classes"] if "classes" in stored else None
        data = Data(stored["X"], stored["y"], stored["weight"], kernel, classes)
        signs = None if classes is None else np.where(data.y == classes[1], 1.0, -1.0)
        problem = make_problem(header["problem"], data, signs, header["spec"])
        trace = Trace(
            **{field: stored[f"trace_{field}"] for field in _TRACE_FIELDS},
            stairs=problem.system.stairs,
            complete=header["complete"],
            reason=header["reason"],
        )
    return Path(problem, trace, data, closed_above=header["closed_above"])


__all__ = ["Path", "Solution", "load"]
