"""The error along the parameter: an exact curve, its minimiser and where it is flat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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
# How much of the picture a flat end may take, and what is left free above and below.
FLAT, ROOM = 0.08, 0.06
# Counts on top, and how high the legend stands above them, in heights of the axes.
TICKS, ABOVE_COUNTS = 7, 1.14


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
    ylabel, xlabel : str
        Names of the loss, with its unit, and of the parameter.
    chosen : float or None
        The value that was chosen, where it is another than the minimiser.
    top : float
        Above it nothing happens.
    counts : callable or None
        From values of the parameter to numbers of non-zero coefficients, shown on top.
    sign : 1 or -1
        -1 for a score that is shown as it is: its best is its highest point.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        The curve, then the minimiser, then, where there are any, the line of one standard error
        and the chosen value.
    counts_ax_ : matplotlib axis or None
        The one on top.
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
        xlabel: str | None = None,
        chosen: float | None = None,
        top: float = np.inf,
        counts: tuple[str, Callable[[Floats], Any]] | None = None,
        sign: int = 1,
    ) -> None:
        self.values, self.loss, self.error = values, loss, error
        self.parameter, self.exact, self.ylabel = parameter, exact, ylabel
        self.minimiser, self.minimum, self.interval = minimiser, minimum, interval
        self.xlabel, self.chosen, self.top = xlabel or style.symbol(parameter), chosen, top
        self.counts, self.sign = counts, sign

    @property
    def _best(self) -> str:
        return "lowest" if self.sign > 0 else "highest"

    def __repr__(self) -> str:
        return (
            f"<CurveDisplay: {self.ylabel} along {self.parameter}, "
            f"{self._best} at {self.minimiser:.4g} ({self.minimum:.4g})>"
        )

    @classmethod
    def from_curve(
        cls,
        curve: CurveLike,
        *,
        band: bool = True,
        ylabel: str | None = None,
        chosen: float | None = None,
        counts: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> CurveDisplay:
        """Draw a curve.

        A loss that is minus a score of scikit-learn, or 1 less such a score, is drawn as the score
        itself: r2, the area under the ROC curve, ...

        Parameters
        ----------
        curve : chemin.selection.Curve
            The mean loss, callable at values of the parameter.
        band : bool
            Whether to show one standard error to both sides.
        ylabel : str or None
            Name of the loss, with its unit; None for the curve's own.
        chosen : float or None
            A value to mark, besides the minimiser.
        counts : bool
            Whether to show on top how many coefficients are not zero.
        ax : matplotlib Axes or None
            Where to draw; None for a new figure.
        **options
            For `plot`.

        Returns
        -------
        CurveDisplay
        """
        values, path = vertices(curve), getattr(curve, "path", None)
        known = getattr(curve, "n_coefficients", None) if counts else None
        name, shown, sign = _shown(curve.loss)
        kernel = path is not None and path.problem.has_kernel
        of_what = "support vectors" if kernel else "non-zero coefficients"
        display = cls(
            values,
            np.asarray(shown(curve(values)), dtype=float),
            np.asarray(curve.standard_error(values), dtype=float) if band else None,
            parameter=curve.parameter,
            minimiser=float(curve.minimiser),
            minimum=float(shown(curve.minimum)),
            interval=(float(curve.interval[0]), float(curve.interval[1])),
            exact=bool(curve.exact),
            ylabel=ylabel or f"{getattr(curve, 'how', '')} {name}".strip(),
            xlabel=style.x_label(curve.parameter, kernel=kernel),
            chosen=chosen,
            top=float(getattr(curve, "top", np.inf)),
            counts=None if known is None else (of_what, known),
            sign=sign,
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
            raise ValueError(f"estimator must be fitted and have a curve_, got {estimator!r:.60}")
        value = getattr(estimator, f"{curve.parameter}_", None)
        if value is not None and np.ndim(value) == 0:
            options.setdefault("chosen", float(value))
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
        more = [m for m in (self._draw_one_error(), self._draw_chosen()) if m is not None]
        style.set_x(ax, xscale, *self._limits(xscale))
        self._set_y()
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel)
        self.counts_ax_ = self._draw_counts(xscale)
        handles = [line, self.band_, self.lines_[1], self.interval_, *more]
        self.lines_ += more
        height = 1.0 if self.counts_ax_ is None else ABOVE_COUNTS
        style.legend_above(ax, [h for h in handles if h is not None], height)
        return self

    def _set_y(self) -> None:
        """What is seen of the curve, and its band where it is best."""
        low, high = self.ax_.get_xlim()
        seen = self.loss[(self.values >= low) & (self.values <= high)]
        error = self._error_at_best() or 0.0
        ends = [seen.min(), seen.max(), self.minimum - error, self.minimum + error]
        room = ROOM * (max(ends) - min(ends))
        if room > 0:
            bottom = min(ends) - room
            self.ax_.set_ylim(max(bottom, -room) if seen.min() >= 0 else bottom, max(ends) + room)

    def _error_at_best(self) -> float | None:
        if self.error is None:
            return None
        at = int(np.argmin(np.abs(self.values - self.minimiser)))
        return float(self.error[at]) if np.isfinite(self.error[at]) else None

    def _draw_one_error(self) -> Any:
        """As good as the best, but for one standard error."""
        error = self._error_at_best()
        if not error:
            return None
        level = self.minimum + self.sign * error
        look = {"color": style.BLUE, "linewidth": 1.0, "linestyle": ":", "zorder": 2}
        return self.ax_.axhline(level, **look, label=f"one standard error from the {self._best}")

    def _draw_chosen(self) -> Any:
        if self.chosen is None or self.chosen == self.minimiser:
            return None
        label = f"chosen: {style.symbol(self.parameter)} = {self.chosen:.3g}"
        look = {"color": style.GREEN, "linewidth": 1.8, "linestyle": "--"}
        return self.ax_.axvline(self.chosen, **look, label=label)

    def _draw_counts(self, xscale: str) -> Any:
        """An axis on top, with the number of coefficients at some values."""
        if self.counts is None:
            return None
        name, count = self.counts
        low, high = self.ax_.get_xlim()
        spaced = np.geomspace if xscale == "log" else np.linspace
        at = np.clip(spaced(low, high, 2 * TICKS + 1)[1::2], self.values[0], self.values[-1])
        top = self.ax_.secondary_xaxis("top")
        top.set_xticks(at, [str(k) for k in count(at)])
        top.set_xticks([], minor=True)
        top.tick_params(length=0)
        top.spines["top"].set_visible(False)
        top.set_xlabel(name)
        return top

    def _limits(self, xscale: str) -> tuple[float, float]:
        """Where something happens, and a little of the flat ends: ranges may be far wider."""
        x = self.values if xscale != "log" else self.values[self.values > 0]
        if self.minimiser <= self.top < x[-1]:  # what lies above is a plateau, or becomes one
            x = np.append(x[x <= self.top], self.top)
        loss = self.loss[len(self.loss) - len(self.values[self.values >= x[0]]) :][: len(x)]
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
        label = f"{self._best} at {style.symbol(self.parameter)} = {self.minimiser:.3g}"
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
            label=f"as {'low' if self.sign > 0 else 'high'} all over here",
        )


# ---------------------------------------------------------------------- data


def _shown(loss: str) -> tuple[str, Callable[[Any], Any], int]:
    """What is drawn for a loss, how it comes from it, and -1 where it is a score: more is better.

    Scores are shown as they are, "1 - r2" and "-f1" as r2 and f1.
    """
    for before, best in (("1 - ", 1.0), ("-", 0.0)):
        if loss.startswith(before):
            return loss.removeprefix(before), partial(np.subtract, best), -1
    return loss, np.asarray, 1


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
