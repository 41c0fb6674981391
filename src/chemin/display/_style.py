"""What the figures share: colours that are easy to tell apart, axes without junk, labels."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours, for two or three things side by side.
BLUE, ORANGE, GREEN, INK, GREY = "#0072b2", "#d55e00", "#009e73", "#222222", "#b0b0b0"
# Tol's "muted" colours and ink, for up to ten lines with a name.
MANY = (
    "#332288",
    "#cc6677",
    "#117733",
    "#88ccee",
    "#882255",
    "#ddaa33",
    "#44aa99",
    "#aa4499",
    "#999933",
    INK,
)

SYMBOLS = {
    "lambda": "λ",
    "epsilon": "ε",
    "nu": "ν",
    "tau": "τ",
    "lambda1": "λ₁",
    "lambda2": "λ₂",
    "mu": "μ",
}
LOGARITHMIC = ("lambda", "lambda1", "lambda2", "mu")  # the others live on a linear axis


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "figures need matplotlib: pip install matplotlib, or pip install chemin[plot]"
        ) from error
    return plt


def symbol(parameter: str) -> str:
    """How a parameter is written on an axis."""
    return SYMBOLS.get(parameter, parameter)


def scale_of(parameter: str, lowest: float) -> str:
    """Logarithmic for the regularisation parameters, unless they come to 0."""
    return "log" if parameter in LOGARITHMIC and lowest > 0 else "linear"


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or those of a new figure; without a frame above and to the right.

    Legends stand outside the axes: a caller's figure that nobody lays out makes room for them.
    """
    plt = pyplot()
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    root = ax.figure.canvas.figure
    if root.get_layout_engine() is None and ax.get_subplotspec() is not None:
        root.set_layout_engine("constrained")
    bare(ax)
    return ax


def x_label(parameter: str, *, kernel: bool) -> str:
    """The name of a parameter's axis, the same on every figure."""
    if parameter == "lambda":
        return "λ = 1/C" if kernel else "λ"
    if parameter == "epsilon":
        return "ε (half the width of the tube, units of y)"
    return symbol(parameter)


def set_x(ax: Any, scale: str, low: float, high: float) -> None:
    """Range and scale; a logarithmic axis with two powers of ten needs no labels between them."""
    from matplotlib.ticker import NullFormatter

    ax.set(xscale=scale, xlim=(low, high))
    if scale == "log" and high >= 10 * low:
        ax.xaxis.set_minor_formatter(NullFormatter())


def bare(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def split_below(ax: Any) -> Any:
    """A smaller axis below, with the same x: the two share the room that `ax` had."""
    place = ax.get_subplotspec()
    if place is None:  # placed by hand
        x, y, width, height = ax.get_position().bounds
        ax.set_position([x, y + 0.4 * height, width, 0.6 * height])
        small = ax.figure.add_axes([x, y, width, 0.24 * height], sharex=ax)
    else:
        above, below = place.subgridspec(2, 1, height_ratios=[3.0, 1.0])
        ax.set_subplotspec(above)
        small = ax.figure.add_subplot(below, sharex=ax)
    bare(small)
    return small


def legend_beside(ax: Any, handles: list[Any]) -> Any:
    """A column to the right of the axes."""
    return ax.legend(
        handles=handles,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
        frameon=False,
        handlelength=1.4,
    )


def legend_above(ax: Any, handles: list[Any], height: float = 1.0) -> Any:
    """A line or two above the axes, where they cover nothing."""
    if not handles:
        return None
    return ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, height),
        ncols=len(handles) if len(handles) <= 3 else 2,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1.6,
        columnspacing=1.4,
    )
