"""The two pictures of the README, from the folder of the repository:

make demo
.venv/bin/python examples/readme_figure.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from PIL import Image

IMAGES = Path("docs/images")
BLUE, ORANGE, INK = "#0072b2", "#d55e00", "#222222"  # safe for the colour-blind

# Corners from bottom to top, ticks of z and of h, where stairs are named and what they are called.
STAIRCASES = {
    "C-SVM": {
        "corners": [(-0.6, -1), (-0.6, 0), (0.6, 0), (0.6, 1)],
        "z": {-0.6: "0", 0.6: "w"},
        "h": {0: "0"},
        "names": [(-0.52, -0.6, "outside"), (-0.17, 0.09, "elbow"), (0.1, 0.6, "inside")],
    },
    "ε-SVR": {
        "corners": [(-0.8, -1), (-0.8, -0.45), (0, -0.45), (0, 0.45), (0.8, 0.45), (0.8, 1)],
        "z": {-0.8: "−w", 0: "0", 0.8: "w"},
        "h": {-0.45: "−λε", 0.45: "λε"},
        "names": [
            (-0.72, -0.8, "below"),
            (-0.75, -0.36, "lower edge"),
            (0.08, -0.06, "within"),
            (0.05, 0.54, "upper edge"),
            (0.33, 0.82, "above"),
        ],
    },
    "lasso": {
        "corners": [(-1, -0.5), (0, -0.5), (0, 0.5), (1, 0.5)],
        "z": {0: "0"},
        "h": {-0.5: "−λ", 0.5: "λ"},
        "names": [(-0.8, -0.41, "negative"), (0.08, -0.06, "zero"), (0.2, 0.59, "positive")],
    },
}


def draw_staircases():
    """Pins stand, treads lie."""
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "chemin"})
    fig, axes = plt.subplots(1, 3, figsize=(8.4, 2.7), layout="constrained")
    for axis, (title, stairs) in zip(axes, STAIRCASES.items()):
        for (x0, y0), (x1, y1) in zip(stairs["corners"], stairs["corners"][1:]):
            axis.plot([x0, x1], [y0, y1], color=BLUE if x0 == x1 else ORANGE, lw=3)
        for x, y, name in stairs["names"]:
            axis.text(x, y, name, color=INK, fontsize=9)
        axis.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.1), xlabel="variable", title=title)
        axis.set_xticks(list(stairs["z"]), stairs["z"].values())
        axis.set_yticks(list(stairs["h"]), stairs["h"].values())
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("residual")
    handles = [plt.Line2D([], [], color=colour, lw=3) for colour in (BLUE, ORANGE)]
    labels = ["pin: the variable is held", "tread: the residual is held"]
    fig.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    fig.savefig(IMAGES / "staircases.svg", metadata={"Date": None})


def main():
    IMAGES.mkdir(parents=True, exist_ok=True)
    draw_staircases()
    with Image.open("demo.png") as picture:
        picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(
            IMAGES / "demo.png", optimize=True
        )


if __name__ == "__main__":
    main()
