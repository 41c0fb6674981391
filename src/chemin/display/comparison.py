"""The figure of a comparison: how far each estimator is behind the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..models.compare import FAR, Comparison
from ._style import BLUE, GREY, INK, axes


@dataclass
class ComparisonDisplay:
    """Mean losses behind the best, with two standard errors of the differences.

    A bar whose whisker comes to 0 is not told from the best, and is grey.

    Attributes
    ----------
    comparison : Comparison
    ax_, figure_ : matplotlib objects, after `plot`

    Examples
    --------
    >>> ComparisonDisplay.from_comparison(comparison)  # doctest: +SKIP
    """

    comparison: Comparison
    ax_: Any = field(default=None, repr=False)
    figure_: Any = field(default=None, repr=False)

    @classmethod
    def from_comparison(cls, comparison: Comparison, *, ax: Any = None) -> ComparisonDisplay:
        """Draw a comparison."""
        return cls(comparison).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ComparisonDisplay:
        """Draw it, on `ax` or on a figure of its own."""
        c = self.comparison
        order = np.argsort(c.mean, kind="stable")[::-1]
        ax = axes(ax, (6.0, 0.9 + 0.42 * len(order)))
        place = np.arange(len(order))
        colours = [BLUE if c.significant[k] else GREY for k in order]
        ax.barh(place, c.difference[order], color=colours, height=0.6)
        some = order != c.best
        ax.errorbar(
            c.difference[order][some],
            place[some],
            xerr=FAR * c.difference_error[order][some],
            fmt="none",
            ecolor=INK,
            capsize=3,
            lw=1.2,
        )
        ax.axvline(0.0, color=INK, lw=0.8)
        ax.set_yticks(place, [c.names[k] for k in order])
        ax.set_xlabel(f"mean loss behind {c.names[c.best]} ({c.mean[c.best]:.3g})")
        self.ax_, self.figure_ = ax, ax.figure
        return self


__all__ = ["ComparisonDisplay"]
