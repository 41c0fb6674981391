"""A tour of chemin: all support vector machines on one data set, and the best of them.

    make demo

Follows the C-SVM on the breast cancer data over all values of lambda = 1/C, proves that the
solutions are exact, finds the lambdas with the fewest held-out errors without a grid, and sets a
grid of scikit-learn's SVC beside them. Writes demo.png.
"""

from time import perf_counter

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import chemin

GRID = 20
FIGURE = "demo.png"
BLUE, ORANGE, GREEN, INK = "#0072b2", "#d55e00", "#009e73", "#222222"  # safe for the colour-blind


def load():
    """Two thirds to train on, one third held out; the scale comes from the first part alone."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_out, y, y_out = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_out), y_out


def middles(edges):
    return np.sqrt(edges[1:] * edges[:-1])


def pieces(path, X_out):
    """Edges of the pieces of lambda on which no held-out point changes side.

    Between two breakpoints, and with a point on the elbow as everywhere here, lambda f(x) is affine
    in lambda: its zeros are known exactly.
    """
    knots = np.union1d(path.breakpoints, [path.start, path.stop])
    g = knots * path.decision_function(X_out, knots)
    point, left = np.nonzero(g[:, 1:] * g[:, :-1] < 0)
    before, after = g[point, left], g[point, left + 1]
    zeros = knots[left] + np.diff(knots)[left] * before / (before - after)
    return np.union1d(knots, zeros)


def score(f, y_out):
    """Errors and mean hinge loss of each column of decision values; labels are 0 and 1."""
    side = np.where(y_out == 1, 1.0, -1.0)[:, None]
    errors = np.count_nonzero((f > 0) != (side > 0), axis=0)
    return errors, np.maximum(0.0, 1.0 - side * f).mean(axis=0)


def best(errors, hinge):
    """Fewest errors; the hinge loss breaks ties."""
    return np.lexsort((hinge, errors))[0]


def intervals(edges, chosen):
    """Neighbouring pieces that are chosen, joined: pairs of edges."""
    steps = np.diff(np.concatenate([[0], chosen.astype(int), [0]]))
    return np.column_stack([edges[np.flatnonzero(steps > 0)], edges[np.flatnonzero(steps < 0)]])


def draw(path, y, edges, errors, lowest, pick, grid, grid_errors):
    """Multipliers above, held-out errors below, on one axis of lambda."""
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    fig, (top, bottom) = plt.subplots(
        2, 1, figsize=(8.4, 6.4), sharex=True, height_ratios=[1.15, 1], layout="constrained"
    )
    values = np.geomspace(path.stop, path.start, 500)
    alpha = np.array([path.at(value).alpha for value in values])
    for label, colour, name in ((0, ORANGE, "malignant"), (1, BLUE, "benign")):
        shown = np.flatnonzero(y == label)[::4]
        top.plot(values, alpha[:, shown], color=colour, lw=0.9, alpha=0.7)
        top.plot([], [], color=colour, lw=2, label=name)
    top.set(ylabel="multiplier", ylim=(-0.03, 1.03), yticks=[0, 0.5, 1])
    top.set_title("Every solution (one training point in four is drawn)", loc="left", pad=9)
    top.legend(loc="upper left", frameon=False, bbox_to_anchor=(0, 0.97))

    for k, (low, high) in enumerate(lowest):
        bottom.axvspan(low, high, fc=GREEN, alpha=0.25, label=None if k else "fewest errors")
    bottom.stairs(errors, edges, color=INK, lw=1.5, baseline=None, label="exact, at every λ")
    circles = {"ms": 7, "mfc": "white", "mec": ORANGE, "mew": 1.8, "clip_on": False}
    bottom.plot(grid, grid_errors, "o", **circles, label=f"a grid of {GRID} SVCs")
    bottom.set(xscale="log", xlim=(path.stop, path.start), ylim=(errors.min() - 1, None))
    bottom.set(xlabel="λ = 1/C", ylabel="held-out errors")
    bottom.set_title("The error of every solution, and what a grid sees of it", loc="left", pad=9)
    for axis in (top, bottom):
        chosen = axis.axvline(pick, color=GREEN, lw=1.8, ls="--")
    chosen.set_label("the λ chosen")
    fig.legend(
        *bottom.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
    )
    fig.savefig(FIGURE, dpi=110)


def main():
    say = Console(highlight=False, width=90).print
    X, y, X_out, y_out = load()

    # The path, and its best value.
    begin = perf_counter()
    path = chemin.svc_path(X, y, kernel="rbf")
    walked = perf_counter() - begin
    edges = pieces(path, X_out)
    errors, hinge = score(path.decision_function(X_out, middles(edges)), y_out)
    at = best(errors, hinge)
    pick, took = middles(edges)[at], perf_counter() - begin

    # What one would do otherwise.
    begin = perf_counter()
    grid = np.geomspace(path.start, path.stop, GRID)
    fits = [SVC(C=1 / value).fit(X, y).decision_function(X_out) for value in grid]
    grid_errors, grid_hinge = score(np.column_stack(fits), y_out)
    at_grid, grid_took = best(grid_errors, grid_hinge), perf_counter() - begin

    # The proof, computed afresh from the data.
    knots = np.unique(path.breakpoints)
    proof = path.certificate(np.union1d(knots, middles(knots)))
    kkt, gap = np.max(proof.kkt_violation), np.max(proof.relative_gap)
    verdict = "exact" if np.all(proof.exact) else "NOT exact"

    say(
        f"\n[bold]Every C-SVM on {len(y)} records of breast cancer[/], {len(y_out)} more held out\n"
    )
    say(f"  path         {len(path)} events from λ = {path.start:.3g} to {path.stop:.2g}", end="")
    say(f", walked in {walked:.2f} s")
    say(f"  certificate  [bold]{verdict}[/] at all {len(proof.floor)} breakpoints and midpoints:")
    say(f"               KKT violation at most {kkt:.1g}, relative gap at most {gap:.1g}\n")

    table = Table("", "errors", "hinge loss", "best λ", "solutions seen", "time", box=SIMPLE_HEAD)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, wrong, loss, value, seen, time in (
        ("chemin", errors[at], hinge[at], pick, "all", took),
        ("grid", grid_errors[at_grid], grid_hinge[at_grid], grid[at_grid], str(GRID), grid_took),
    ):
        table.add_row(name, str(wrong), f"{loss:.4f}", f"{value:.4f}", seen, f"{time:.2f} s")
    say(table)

    lowest = intervals(edges, errors == errors.min())
    met = sum(np.any((low < grid) & (grid < high)) for low, high in lowest)
    say(f"  The held-out error changes {np.count_nonzero(np.diff(errors))} times along the path.")
    say(f"  Intervals of λ where it is lowest: {len(lowest)}. The grid met {met} of them.")
    draw(path, y, edges, errors, lowest, pick, grid, grid_errors)
    say(f"  Picture: [bold]{FIGURE}[/]\n")


if __name__ == "__main__":
    main()
