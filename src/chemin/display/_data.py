"""What a figure of a path is made of: where it is evaluated, its lines, groups and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..path import Path
from ..problems.staircase import Floats
from . import _style as style

# Solutions evaluated at once, so that a long path never needs all of its variables twice over.
CHUNK = 512
# Between knots further apart than this factor (its logarithm) points are added: what is straight
# in lambda is curved on a logarithmic axis, and the drawing stays within a tenth of a pixel.
STEP = 0.03
# A jump is drawn at its knot and this little beyond, relative.
HAIR = 1e-9
NAMED = len(style.MANY)  # lines that can have a colour and a name of their own


@dataclass(frozen=True)
class Counts:
    """How many variables are in use on each piece between two edges of the parameter."""

    edges: Floats
    pieces: dict[str, NDArray[np.intp]]


def exact_values(path: Path) -> Floats:
    """Where a path is evaluated to be drawn, ascending: every knot, and what the eye needs.

    A knot with several events may be a jump, so it is joined by a value a hair beyond it; wide gaps
    get more points, see `STEP`.
    """
    if not np.isfinite(path.start):
        raise ValueError(f"this path is empty, there is nothing to draw: {path.reason}")
    knots = all_knots(path)
    tied, times = np.unique(path.breakpoints, return_counts=True)
    way = np.sign(path.stop - path.start)
    beyond = tied[times > 1] * (1 + way * HAIR)
    low, high = knots[:-1], knots[1:]
    wide = np.flatnonzero((low > 0) & (high > low * np.exp(STEP)))
    more = [
        np.geomspace(a, b, 2 + int(np.log(b / a) / STEP))[1:-1]
        for a, b in zip(low[wide], high[wide])
    ]
    inside = (beyond > knots[0]) & (beyond < knots[-1])
    return np.unique(np.concatenate([knots, beyond[inside], *more]))


def all_knots(path: Path) -> Floats:
    """The events and the ends, ascending. A kernel machine is a limit at 0: just above is drawn."""
    low, high = sorted((path.start, path.stop))
    if low == 0 and path.parameter == "lambda" and not path._linear:
        low = 1e-12 * high
    return np.union1d(np.clip(path.breakpoints, low, high), [low, high])


def evaluate(path: Path, values: Floats, what: str, rows: NDArray[np.intp]) -> Floats:
    """Coefficients, multipliers or weights of some rows, one column a value."""
    parts = []
    for i in range(0, len(values), CHUNK):
        chunk = values[i : i + CHUNK]
        all_rows = path.multipliers(chunk) if what == "alpha" else path.coefficients(chunk)[0]
        if what == "weights":
            kernel: Any = path._data.kernel
            all_rows = kernel.weights(path._data.X, all_rows)
        parts.append(all_rows[rows])
    return np.hstack(parts)


def count_of(path: Path, what: str) -> int:
    """How many lines there are to choose from; weights are those of a linear kernel."""
    if what != "weights":
        return path._n_coef
    kernel = path._data.kernel
    if kernel is None or kernel.name != "linear":
        raise ValueError(f"what='weights' needs a linear kernel, got {kernel!r}")
    return int(path._data.X.shape[1])


def without_flats(values: Floats, curves: Floats) -> list[Floats]:
    """One polyline a row, without the points inside its constant runs: the same line, shorter."""
    same = curves[:, 1:] == curves[:, :-1]
    needed = np.ones(curves.shape, dtype=bool)
    needed[:, 1:-1] = ~(same[:, 1:] & same[:, :-1])
    return [np.column_stack([values[keep], row[keep]]) for keep, row in zip(needed, curves)]


def rows(variables: ArrayLike | None, n: int) -> NDArray[np.intp]:
    if variables is None:
        return np.arange(n)
    rows = np.asarray(variables)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
        raise ValueError(f"variables must be indices or a mask of length {n}, got {variables!r}")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(
            f"variables must lie between 0 and {n - 1}, got {rows.min()}..{rows.max()}"
        )
    return rows.astype(np.intp)


def groups(
    path: Path, rows: NDArray[np.intp], curves: Floats, names: Sequence[str] | None, what: str
) -> list[tuple[str, NDArray[np.intp]]] | None:
    """By name, else by class, else (a few coefficients) by column."""
    columns = path._linear or what == "weights"
    if names is None and columns:
        names = path.feature_names
    if names is not None:
        expected = count_of(path, what)
        if len(names) != expected:
            raise ValueError(f"names has {len(names)} entries, expected {expected}")
        names = [str(names[row]) for row in rows]
    elif path.classes_ is not None and not columns:
        labels = path._data.y[rows]
        found = [(str(c), np.flatnonzero(labels == c)) for c in path.classes_]
        found = [(name, lines) for name, lines in found if len(lines)]
        return found if len(found) > 1 else None  # one colour tells nothing
    elif columns and len(rows) <= NAMED:
        names = [f"x{row}" for row in rows]
    if names is None:
        return None
    largest = np.argsort(-np.abs(curves).max(axis=1), kind="stable")[:NAMED]
    # The others stay grey and have no name.
    return [(names[row], np.array([row])) for row in np.sort(largest)]


def counts(path: Path) -> Counts:
    """Between two knots no variable changes stairs: counted once, in the middle of each piece."""
    edges = all_knots(path)
    middle = 0.5 * (edges[1:] + edges[:-1])
    what = "coef" if path._linear else "alpha"
    used = evaluate(path, middle, what, rows(None, path._n_coef)) != 0
    if path._linear:
        return Counts(edges, {"non-zero coefficients": used.sum(axis=0)})
    free = np.hstack([path.free(middle[i : i + CHUNK]) for i in range(0, len(middle), CHUNK)])
    return Counts(edges, {"support vectors": used.sum(axis=0), path.edge_name: free.sum(axis=0)})


def xlabel(path: Path) -> str:
    return style.x_label(path.parameter, kernel=not path._linear)


def ylabel(path: Path, what: str) -> str:
    if what == "weights":
        return "weight of a feature"
    if path._linear:
        return "coefficient\n(units of y per unit of x)"
    if what == "coef":
        return "coefficient of k(xᵢ, ·)"
    return "multiplier α" if path.classes_ is not None else "multiplier β"
