"""The figure of a surface: the lines that were followed in the plane, coloured by their loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..selection.surface import Line, Surface
from ._style import INK, axes, scale_of, symbol

Floats = NDArray[np.float64]

POINTS = 200  # of a line, evenly spaced on the scale of its axis


@dataclass
class SurfaceDisplay:
    """The plane of lambda and epsilon (or nu), with every line by its exact loss.

    Attributes
    ----------
    surface : Surface
    segments : list of arrays of shape (points, 3)
        For each line lambda, the other parameter and the loss.
    ax_, figure_ : matplotlib objects, after `plot`

    Examples
    --------
    >>> SurfaceDisplay.from_surface(surface)  # doctest: +SKIP
    """

    surface: Surface
    segments: list[Floats] = field(repr=False)
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_surface(cls, surface: Surface, *, ax: Any = None) -> SurfaceDisplay:
        """Draw a surface."""
        return cls(surface, [_points(line) for line in surface.lines]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SurfaceDisplay:
        """Draw it, on `ax` or on a figure of its own."""
        ax = axes(ax, (6.4, 4.2))
        surface, every = self.surface, np.concatenate(self.segments)
        # The worst third of the losses is one colour: what counts is near the minimum.
        norm = {"vmin": surface.minimum, "vmax": float(np.quantile(every[:, 2], 2 / 3))}
        dots = ax.scatter(every[:, 0], every[:, 1], c=every[:, 2], s=9, cmap="viridis_r", **norm)
        ax.plot(surface.lambda_, surface.value, "*", ms=14, mfc="white", mec=INK)
        low = float(every[:, 1].min())
        ax.set(xscale="log", yscale="linear" if surface.other == "nu" or low <= 0 else "log")
        ax.set(xlabel=f"{symbol('lambda')} = 1/C", ylabel=symbol(surface.other))
        ax.figure.colorbar(dots, ax=ax, label=f"cross-validated {surface.best.curve.loss}")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _points(line: Line) -> Floats:
    low, high = line.curve.range
    high = min(high, max(line.curve.path.start, line.curve.path.stop))
    spaced = np.geomspace if scale_of(line.along, low) == "log" else np.linspace
    values = np.clip(spaced(low, high, POINTS), low, high)
    fixed = np.full(POINTS, line.fixed)
    pair = (values, fixed) if line.along == "lambda" else (fixed, values)
    return np.column_stack([*pair, line.curve(values)])


__all__ = ["SurfaceDisplay"]
