"""The error along the parameter: an exact curve, its minimiser and where it is flat."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..problems.staircase import Floats
from . import _style as style

# How far inside its ends a piece is evaluated, as a part of it: a step is drawn as a step.
INSIDE = 1e-6
# A piece this many roundings wide or less cannot be seen, nor evaluated inside.
ROUNDINGS = 16
# Bent pieces get a point for every such step of the logarithm.
STEP = 0.03
# How much of the picture a flat end may take.
FLAT = 0.08


class CurveLike(Protocol):
    """What is drawn: an error that is known at every value of a parameter."""

    parameter: str
    loss: str  # its name
    exact: bool  # False: known at its knots only
    minimum: float
    minimiser: float
    interval: tuple[float, float]  # where the minimum is attained around the minimiser

    @property
    def knots(self) -> ArrayLike:
        """Values of the parameter, sorted, where the curve bends or jumps, ends included."""

    def __call__(self, values: ArrayLike) -> ArrayLike:
        """The mean loss."""

    def standard_error(self, values: ArrayLike) -> ArrayLike:
        """Of the mean loss."""


class CurveDisplay:
    """The mean loss along the parameter of a path, as it is between its knots too.

    It is made by `from_curve` or `from_estimator`, which also draw it; `plot` draws it again.

    Parameters
    ----------
    values, loss, error : ndarrays of shape (k,)
        Vertices of the curve, ascending, and the standard error there (None for no band). A jump is
        two vertices at (almost) the same value.
    parameter : str
        What moves.
    minimiser, minimum : float
        The lowest point.
    interval : tuple of two floats
        The whole interval on which the minimum is attained.
    exact : bool
        Whether the curve is known between its vertices.
    ylabel : str
        Name of the loss, with its unit.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        The curve, then the minimiser.
    band_ : matplotlib collection or None
        One standard error to both sides.
    interval_ : matplotlib patch or None
        The flat minimum.

    See Also
    --------
    PathDisplay : The solutions along the parameter.
    """

    def __init__(
        self,
        values: Floats,
        loss: Floats,
        error: Floats | None,
        *,
        parameter: str,
        minimiser: float,
        minimum: float,
        interval: tuple[float, float],
        exact: bool = True,
        ylabel: str = "mean loss",
    ) -> None:
        self.values, self.loss, self.error = values, loss, error
        self.parameter, self.exact, self.ylabel = parameter, exact, ylabel
        self.minimiser, self.minimum, self.interval = minimiser, minimum, interval

    def __repr__(self) -> str:
        return (
            f"<CurveDisplay: {self.ylabel} along {self.parameter}, "
            f"lowest at {self.minimiser:.4g} ({self.minimum:.4g})>"
        )

    @classmethod
    def from_curve(
        cls,
        curve: CurveLike,
        *,
        band: bool = True,
        ylabel: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> CurveDisplay:
        """Draw a curve.

        Parameters
        ----------
        curve : chemin.selection.Curve
            The mean loss, callable at values of the parameter.
        band : bool
            Whether to show one standard error to both sides.
        ylabel : str or None
            Name of the loss, with its unit; None for the curve's own.
        ax : matplotlib Axes or None
            Where to draw; None for a new figure.
        **options
            For `plot`.

        Returns
        -------
        CurveDisplay
        """
        values = vertices(curve)
        display = cls(
            values,
            np.asarray(curve(values), dtype=float),
            np.asarray(curve.standard_error(values), dtype=float) if band else None,
            parameter=curve.parameter,
            minimiser=float(curve.minimiser),
            minimum=float(curve.minimum),
            interval=(float(curve.interval[0]), float(curve.interval[1])),
            exact=bool(curve.exact),
            ylabel=ylabel or curve.loss,
        )
        return display.plot(ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> CurveDisplay:
        """Draw the curve on which a fitted estimator has chosen.

        Parameters
        ----------
        estimator : object with `curve_`
            Such as a fitted `PathSVC`.
        **options
            Those of `from_curve`.

        Returns
        -------
        CurveDisplay
        """
        curve = getattr(estimator, "curve_", None)
        if curve is None:
            raise ValueError(
                f"estimator must be fitted and have a curve_, got {type(estimator).__name__}"
            )
        return cls.from_curve(curve, **options)

    # ------------------------------------------------------------------ drawing

    def plot(self, ax: Any = None, *, xscale: str = "auto", **line_options: Any) -> CurveDisplay:
        """Draw the curve, its band, its minimiser and the interval where it is flat.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None for a new figure.
        xscale : "auto", "log" or "linear"
            By default logarithmic for lambda, linear where the parameter comes to 0.
        **line_options
            For the line of the curve: color, linewidth, label, ...

        Returns
        -------
        CurveDisplay
        """
        ax = style.axes(ax, (7.0, 3.6))
        if xscale == "auto":
            xscale = style.scale_of(self.parameter, float(self.values[0]))
        self.ax_, self.figure_ = ax, ax.figure
        how = "exact, at every value" if self.exact else "evaluated at its knots"
        look = {"color": style.INK, "linewidth": 1.5, "label": how, "zorder": 3}
        if not self.exact:
            look |= {"marker": ".", "markersize": 4, "linewidth": 0.8}
        line = ax.plot(self.values, self.loss, **(look | line_options))[0]
        self.band_ = self._draw_band()
        self.interval_ = self._draw_interval()
        self.lines_ = [line, self._draw_minimiser()]
        style.set_x(ax, xscale, *self._limits(xscale))
        ax.set(xlabel=style.symbol(self.parameter), ylabel=self.ylabel)
        handles = [line, self.band_, self.lines_[1], self.interval_]
        style.legend_above(ax, [h for h in handles if h is not None])
        return self

    def _limits(self, xscale: str) -> tuple[float, float]:
        """Where something happens, and a little of the flat ends: ranges may be far wider."""
        x = self.values if xscale != "log" else self.values[self.values > 0]
        loss = self.loss[-len(x) :]
        there, back = (np.log, np.exp) if xscale == "log" else (np.array, np.array)
        moves = np.concatenate(
            [np.flatnonzero(loss != loss[0])[:1], np.flatnonzero(loss != loss[-1])[-1:]]
        )
        if not moves.size:
            return float(x[0]), float(x[-1])
        seen = there(np.append(x[moves], np.clip(self.minimiser, x[0], x[-1])))
        room = FLAT * (seen.max() - seen.min())
        low, high = back(seen.min() - room), back(seen.max() + room)
        return max(float(low), float(x[0])), min(float(high), float(x[-1]))

    def _draw_band(self) -> Any:
        if self.error is None or not np.isfinite(self.error).any():
            return None
        low, high = self.loss - self.error, self.loss + self.error
        return self.ax_.fill_between(
            self.values,
            low,
            high,
            color=style.BLUE,
            alpha=0.18,
            linewidth=0,
            label="± one standard error",
        )

    def _draw_minimiser(self) -> Any:
        label = f"lowest at {style.symbol(self.parameter)} = {self.minimiser:.3g}"
        return self.ax_.plot(
            [self.minimiser],
            [self.minimum],
            linestyle="none",
            marker="o",
            markersize=7,
            markerfacecolor="white",
            markeredgecolor=style.ORANGE,
            markeredgewidth=2,
            label=label,
            zorder=4,
        )[0]

    def _draw_interval(self) -> Any:
        low, high = self.interval
        if not high > low:
            return None
        return self.ax_.axvspan(
            low,
            high,
            facecolor=style.GREEN,
            alpha=0.25,
            linewidth=0,
            label="as low all over here",
        )


# ---------------------------------------------------------------------- data


def vertices(curve: CurveLike) -> Floats:
    """Where a curve is evaluated to be drawn, ascending.

    Just inside both ends of every piece, so that a step is a step; between them too where the
    curve bends. A curve that is not exact is known at its knots, and there it is drawn.
    """
    knots = np.unique(np.asarray(curve.knots, dtype=float))
    if len(knots) < 2:
        raise ValueError(f"the curve must have two knots at least, got {len(knots)}")
    if not curve.exact:
        return knots
    gap = np.diff(knots)
    seen = gap > ROUNDINGS * np.spacing(knots[1:])
    low, high, gap = knots[:-1][seen], knots[1:][seen], gap[seen]
    left, right = low + INSIDE * gap, high - INSIDE * gap
    left[0], right[-1] = low[0], high[-1]  # the ends belong to their pieces
    bent = _bent(curve, left, right)
    inner = [_between(a, b) for a, b in zip(left[bent], right[bent])]
    return np.unique(np.concatenate([left, right, *inner]))


def _bent(curve: CurveLike, left: Floats, right: Floats) -> Any:
    """Pieces whose middle is not on the chord of the drawing."""
    a, middle, b = (np.asarray(curve(v), dtype=float) for v in (left, 0.5 * (left + right), right))
    return ~((a == middle) & (middle == b))


def _between(a: float, b: float) -> Floats:
    if a <= 0:
        return np.linspace(a, b, 34)[1:-1]
    return np.geomspace(a, b, 2 + int(np.log(b / a) / STEP))[1:-1]
