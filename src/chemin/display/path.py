"""The solutions along a path: coefficients or multipliers, exact at every knot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import check_number, is_word
from ..path import Path
from ..problems.staircase import Floats
from . import _data as data
from . import _style as style
from ._data import NAMED, Counts


class PathDisplay:
    """Coefficients or multipliers along the parameter of a path.

    Every vertex is a solution of the path: the knots are the events themselves, not a grid. It is
    made by `from_path`, `from_estimator` or `Path.plot`, which also draw it; `plot` draws it again.

    Parameters
    ----------
    values : ndarray of shape (k,)
        Values of the parameter, ascending.
    curves : ndarray of shape (m, k)
        What is drawn: one row a variable.
    parameter : str
        What moves: "lambda", "epsilon", "nu".
    xlabel, ylabel : str
        Labels of the axes.
    groups : sequence of (label, rows)
        Lines that share a colour and a place in the legend; None for one colour.
    counts : Counts or None
        What the second axis shows.
    mark : float or None
        A chosen value of the parameter.

    Attributes
    ----------
    ax_ : matplotlib Axes
        With the lines.
    counts_ax_ : matplotlib Axes or None
        The small one below, with the counts.
    figure_ : matplotlib Figure
        The figure of both.
    lines_ : matplotlib LineCollection
        All lines, one a variable.

    See Also
    --------
    CurveDisplay : The error along the parameter.

    Examples
    --------
    >>> import chemin
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> path = chemin.lasso_path(X, y)
    >>> display = path.plot(names=X.columns, mark=50.0)
    >>> display.ax_.get_ylabel()
    'coefficient\\n(units of y per unit of x)'
    """

    def __init__(
        self,
        values: Floats,
        curves: Floats,
        *,
        parameter: str,
        xlabel: str,
        ylabel: str,
        groups: Sequence[tuple[str, NDArray[np.intp]]] | None = None,
        counts: Counts | None = None,
        mark: float | None = None,
    ) -> None:
        self.values, self.curves, self.parameter = values, curves, parameter
        self.xlabel, self.ylabel = xlabel, ylabel
        self.groups, self.counts, self.mark = groups, counts, mark

    def __repr__(self) -> str:
        lines, vertices = self.curves.shape
        return f"<PathDisplay: {lines} lines along {self.parameter}, {vertices} solutions>"

    @classmethod
    def from_path(
        cls,
        path: Path,
        *,
        what: Literal["auto", "coef", "alpha", "weights"] = "auto",
        variables: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        counts: bool = False,
        mark: float | None = None,
        ax: Any = None,
        **options: Any,
    ) -> PathDisplay:
        """Draw a path.

        Parameters
        ----------
        path : Path
            From `chemin.svc_path` and its relatives.
        what : "auto", "coef", "alpha" or "weights"
            Coefficients, multipliers, or, of a linear kernel, the weights of the features. By
            default coefficients of linear models and of the Laplacian SVM, and multipliers of other
            kernel machines.
        variables : array of indices or a boolean mask, or None
            The rows (columns for linear models) to draw; None for all.
        names : sequence of str or None
            Of all coefficients; by default those of the data frame. The ten largest lines drawn get
            a colour and a place in the legend.
        counts : bool
            Show below how many variables are in use between the knots.
        mark : float or None
            A value of the parameter to mark.
        ax : matplotlib Axes or None
            Where to draw; None for a new figure.
        **options
            For `plot`.

        Returns
        -------
        PathDisplay
        """
        mark = None if mark is None else check_number(mark, "mark")
        if not is_word(what, ("auto", "coef", "alpha", "weights")):
            raise ValueError(f"what must be 'auto', 'coef', 'alpha' or 'weights', got {what!r}")
        if what == "auto":
            what = "coef" if path._linear or path._problem.on_graph else "alpha"
        rows = data.rows(variables, data.count_of(path, what))
        values = data.exact_values(path)
        curves = data.evaluate(path, values, what, rows)
        display = cls(
            values,
            curves,
            parameter=path.parameter,
            xlabel=data.xlabel(path),
            ylabel=data.ylabel(path, what),
            groups=data.groups(path, rows, curves, names, what),
            counts=data.counts(path) if counts else None,
            mark=mark,
        )
        return display.plot(ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> PathDisplay:
        """Draw the path of a fitted estimator, with the value that it has chosen.

        Parameters
        ----------
        estimator : object with `path_` and the chosen value (`lambda_`, ...)
            Such as a fitted `PathSVC`.
        **options
            Those of `from_path`.

        Returns
        -------
        PathDisplay
        """
        path = getattr(estimator, "path_", None)
        if path is None:
            raise ValueError(f"estimator must be fitted and have a path_, got {estimator!r:.60}")
        if isinstance(path, Sequence):
            raise ValueError(
                f"estimator has {len(path)} paths, one for each problem of two classes, expected "
                "one: draw one of them, such as estimator.path_[0].plot()"
            )
        options.setdefault("mark", getattr(estimator, f"{path.parameter}_", None))
        if path._linear or options.get("what") == "weights":
            options.setdefault("names", getattr(estimator, "feature_names_in_", None))
        return cls.from_path(path, **options)

    # ------------------------------------------------------------------ drawing

    def plot(self, ax: Any = None, *, xscale: str = "auto", **line_options: Any) -> PathDisplay:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes or None
            Where to draw; None for a new figure.
        xscale : "auto", "log" or "linear"
            By default logarithmic for lambda, linear where the parameter comes to 0.
        **line_options
            For matplotlib's LineCollection: linewidths, alpha, colors, ...

        Returns
        -------
        PathDisplay
        """
        ax = style.axes(ax, (7.0, 5.0 if self.counts else 4.0))
        if xscale == "auto":
            xscale = style.scale_of(self.parameter, float(self.values[0]))
        self.ax_, self.figure_, self.counts_ax_ = ax, ax.figure, None
        self.lines_ = self._draw_lines(line_options)
        style.set_x(ax, xscale, self.values[0], self.values[-1])
        ax.set(xlabel=self.xlabel, ylabel=self.ylabel)
        ax.axhline(0.0, color=style.INK, linewidth=0.6, zorder=0.5)
        self._draw_legend([] if self.mark is None else [self._draw_mark(ax)])
        if self.counts is not None:
            self._draw_counts(self.counts)
        return self

    def _draw_lines(self, options: dict[str, Any]) -> Any:
        from matplotlib.collections import LineCollection

        n = len(self.curves)
        few, some = n <= NAMED, n <= 200
        defaults: dict[str, Any] = {
            "colors": self._colours(),
            "linewidths": 1.6 if few else 1.0 if some else 0.7,
            "alpha": 1.0 if few else 0.7 if some else 0.45,
            "joinstyle": "round",
        }
        lines = LineCollection(data.without_flats(self.values, self.curves), **(defaults | options))
        self.ax_.add_collection(lines, autolim=True)
        self.ax_.autoscale_view(scalex=False)
        return lines

    def _colours(self) -> list[str]:
        if self.groups is None:
            return [style.BLUE]
        colours = [style.GREY] * len(self.curves)
        for colour, (_, rows) in zip(self._palette(), self.groups):
            for row in rows:
                colours[row] = colour
        return colours

    def _palette(self) -> Sequence[str]:
        return (style.ORANGE, style.BLUE) if len(self.groups or []) <= 2 else style.MANY

    def _draw_legend(self, marks: list[Any]) -> None:
        """Two groups stand above the axes; more stand to the right, in the order of the lines."""
        from matplotlib.lines import Line2D

        groups = self.groups or []
        handles = [
            Line2D([], [], color=colour, linewidth=2, label=label)
            for colour, (label, _) in zip(self._palette(), groups)
        ]
        if len(groups) <= 2:
            style.legend_above(self.ax_, handles + marks)
        else:
            high_first = np.argsort([-self.curves[rows[0], 0] for _, rows in groups])
            style.legend_beside(self.ax_, [handles[k] for k in high_first] + marks)

    def _draw_mark(self, ax: Any) -> Any:
        label = f"{style.symbol(self.parameter)} = {self.mark:.3g}"
        return ax.axvline(self.mark, color=style.GREEN, linewidth=1.8, linestyle="--", label=label)

    def _draw_counts(self, counts: Counts) -> None:
        """A small axis below, which takes its room from the one above."""
        ax, small = self.ax_, style.split_below(self.ax_)
        for (label, count), look in zip(counts.pieces.items(), ("-", "--")):
            small.stairs(
                count, counts.edges, baseline=None, color=style.INK, linestyle=look, label=label
            )
        if self.mark is not None:
            self._draw_mark(small)
        small.set_ylim(0, 1.08 * max(1, max(c.max() for c in counts.pieces.values())))
        small.set(xlabel=self.xlabel, ylabel="number")
        lines = small.get_legend_handles_labels()[0][: len(counts.pieces)]
        style.legend_above(small, lines)
        ax.set_xlabel("")
        ax.tick_params(axis="x", which="both", labelbottom=False)
        self.counts_ax_ = small
