"""
The width of a kernel, and learning it
======================================

A Gaussian kernel has a width. Too narrow, and every point is an island; too wide, and the machine
is nearly linear. One may try widths one by one, or give all of them to a machine that weighs
kernels.
"""

# %%
# Six widths
# ----------
# The two moons, and for each width the C-SVM at the lambda that five folds choose.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import chemin
from chemin.kernels import Gaussian, Linear

X, y = make_moons(120, noise=0.25, random_state=0)
widths = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
grid = np.stack(np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.6, 2.1, 90)), axis=-1)
fig, axes = plt.subplots(2, 3, figsize=(9, 5.4), layout="constrained", sharex=True, sharey=True)
for width, ax in zip(widths, axes.flat):
    model = chemin.PathSVC(kernel=Gaussian(width), stop=1e-5).fit(X, y)
    f = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(*np.moveaxis(grid, -1, 0), f, [-1e3, 0, 1e3], colors=["#f6dccb", "#cfe3f1"])
    ax.contour(*np.moveaxis(grid, -1, 0), f, [0], colors="#222222", linewidths=1.2)
    for label, colour in ((0, "#d55e00"), (1, "#0072b2")):
        ax.plot(*X[y == label].T, "o", ms=3, color=colour)
    ax.set_title(f"width {width:g}: cross-validated error {model.curve_.minimum:.3f}", fontsize=9)

# %%
# All of them at once
# -------------------
# The same widths and a linear kernel, with the weights learned at several C. With the sparse norm
# one or two kernels are left; with the norm 2 all have a part.

kernels = [Gaussian(width) for width in widths] + [Linear()]
names = [f"{width:g}" for width in widths] + ["linear"]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for norm, ax in zip((1, 2), axes):
    for C, colour in zip((0.1, 1.0, 10.0), ("#56b4e9", "#0072b2", "#222222")):
        model = chemin.MKLClassifier(kernels, C=C, norm=norm).fit(X, y)
        ax.plot(names, model.weights_, "o-", color=colour, label=f"C = {C:g}")
        print(f"norm {norm}, C = {C:g}: {model.n_iter_} steps, gap {model.gap_:.1e}")
    ax.set(title=f"norm {norm}", xlabel="kernel: width of the Gaussian")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("weight")
_ = axes[0].legend(frameon=False)
