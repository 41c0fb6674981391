"""A descent by gradient: the criterion, hyper-parameters and coefficients along its iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..problems.staircase import Floats
from ..selection import Descent
from . import _style as style

# Penalties below this part of the largest are drawn there: on a logarithmic axis 0 has no place.
LOWEST = 1e-4


class DescentDisplay:
    """The criterion, the hyper-parameters and the coefficients after each iteration.

    It is made by `from_descent` or `from_estimator`, which also draw it; `plot` draws it again.

    Parameters
    ----------
    criterion : ndarray of shape (k + 1,)
    parameters : ndarray of shape (k + 1, p)
    coefficients : ndarray of shape (k + 1, d) or None
    names : sequence of p strings or None
        Of the hyper-parameters. Of up to ten each line has a colour of its own.
    log : bool
        Whether hyper-parameters are drawn on a logarithmic axis.
    ylabel : str
        What the hyper-parameters are.

    Attributes
    ----------
    axes_, figure_ : ndarray of matplotlib Axes, and Figure
        Two panels below each other, three with coefficients.
    lines_ : list of lists of matplotlib Line2D
        Of each panel.
    """

    def __init__(
        self,
        criterion: Floats,
        parameters: Floats,
        coefficients: Floats | None = None,
        *,
        names: Sequence[str] | None = None,
        log: bool = False,
        ylabel: str = "hyper-parameters",
    ) -> None:
        self.criterion, self.parameters, self.coefficients = criterion, parameters, coefficients
        self.names, self.log, self.ylabel = names, log, ylabel

    def __repr__(self) -> str:
        return (
            f"<DescentDisplay: {self.parameters.shape[1]} hyper-parameters, "
            f"{len(self.criterion) - 1} iterations>"
        )

    @classmethod
    def from_descent(cls, descent: Descent, *, axes: Any = None, **options: Any) -> DescentDisplay:
        """Draw a descent of `chemin.selection.tune`.

        Parameters
        ----------
        descent : Descent
        axes : array of two matplotlib Axes or None
            Where to draw; None for a new figure.
        **options
            names, log and ylabel.

        Returns
        -------
        DescentDisplay
        """
        return cls(descent.criterion, descent.parameters, **options).plot(axes)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, sample: int = 0, axes: Any = None, **options: Any
    ) -> DescentDisplay:
        """Draw the descent of a fitted `GradientRidge`, with its coefficients on all rows.

        Parameters
        ----------
        estimator : GradientRidge
            With one output.
        sample : int
            Which of `descents_`, where penalties are averaged over bootstrap samples.
        axes : array of three matplotlib Axes or None
        **options
            names, log and ylabel.

        Returns
        -------
        DescentDisplay
        """
        if not hasattr(estimator, "descents_"):
            raise ValueError(
                f"estimator must be a fitted GradientRidge, got {type(estimator).__name__}"
            )
        descent = estimator.descents_[sample]
        way = estimator.coefficients_along(descent)
        names = getattr(estimator, "feature_names_in_", None)
        same = descent.parameters.shape[1] == way.shape[-1]
        look: dict[str, Any] = {"names": names if same else None, "log": True}
        look["ylabel"] = "penalties |λ|"
        way = way.reshape(len(way), -1)
        return cls(descent.criterion, descent.parameters, way, **(look | options)).plot(axes)

    # ------------------------------------------------------------------ drawing

    def plot(self, axes: Any = None) -> DescentDisplay:
        """Draw the panels below each other, with one axis of iterations.

        Parameters
        ----------
        axes : array of matplotlib Axes or None
            As many as there are panels; None for a new figure.

        Returns
        -------
        DescentDisplay
        """
        panels = 2 if self.coefficients is None else 3
        if axes is None:
            size = (7.0, 2.0 + 1.9 * (panels - 1))
            ratios = [0.7, *[1.0] * (panels - 1)]
            _, axes = style.pyplot().subplots(
                panels, 1, figsize=size, sharex=True, layout="constrained", height_ratios=ratios
            )
        axes = np.ravel(axes)
        if len(axes) != panels:
            raise ValueError(f"axes must be {panels} matplotlib Axes, got {len(axes)}")
        for ax in axes:
            style.bare(ax)
        self.axes_, self.figure_ = axes, axes[0].figure
        self.lines_ = [self._draw_criterion(axes[0]), self._draw_parameters(axes[1])]
        if self.coefficients is not None:
            self.lines_.append(self._draw_lines(axes[2], self.coefficients))
            axes[2].axhline(0.0, color=style.GREY, linewidth=0.8, zorder=0)
            axes[2].set_ylabel("coefficients")
        axes[-1].set(xlabel="iteration", xlim=(0, max(1, len(self.criterion) - 1)))
        axes[-1].xaxis.get_major_locator().set_params(integer=True)
        if self.names is not None and len(self.names) <= len(style.MANY):
            handles = [line for line, _ in zip(self.lines_[1], self.names)]
            style.legend_beside(axes[1], handles)
        return self

    def _draw_criterion(self, ax: Any) -> list[Any]:
        ax.set_ylabel("criterion")
        look = {"color": style.INK, "linewidth": 1.5, "marker": ".", "clip_on": False}
        return list(ax.plot(np.arange(len(self.criterion)), self.criterion, **look))

    def _draw_parameters(self, ax: Any) -> list[Any]:
        shown = self.parameters
        if self.log:
            shown = np.abs(shown)
            shown = np.maximum(shown, LOWEST * shown.max())
            ax.set_yscale("log")
        ax.set_ylabel(self.ylabel)
        return self._draw_lines(ax, shown)

    def _draw_lines(self, ax: Any, columns: Floats) -> list[Any]:
        """One line a column: colours where there are few, or else one colour."""
        few = columns.shape[1] <= len(style.MANY)
        named = self.names is not None and len(self.names) == columns.shape[1]
        lines = []
        for j, column in enumerate(columns.T):
            look = {"color": style.MANY[j] if few else style.BLUE, "linewidth": 1.3}
            look |= {} if few else {"alpha": 0.5, "linewidth": 0.9}
            name = str(self.names[j]) if named and self.names is not None else None
            lines += ax.plot(np.arange(len(column)), column, label=name, **look)
        return lines


__all__ = ["DescentDisplay"]
