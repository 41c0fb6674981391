"""
5. The width of a kernel, and learning it
=========================================

A Gaussian kernel has a width. Too narrow, and every point is an island; too wide, and the machine
is nearly linear. One may try widths one by one, or give all of them to a machine that weighs
kernels.
"""

# %%
# Seven widths
# ------------
# The two moons, and for each width the C-SVM at the lambda that five folds choose.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import chemin
from chemin.kernels import Gaussian, Linear, Polynomial

BLUE, ORANGE, INK = "#0072b2", "#d55e00", "#222222"

X, y = make_moons(120, noise=0.25, random_state=0)
widths = [0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]
grid = np.stack(np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.6, 2.1, 90)), axis=-1)
fig, axes = plt.subplots(2, 4, figsize=(11, 5), layout="constrained", sharex=True, sharey=True)
for kernel, ax in zip([*map(Gaussian, widths), Linear()], axes.flat):
    model = chemin.PathSVC(kernel=kernel, stop=1e-4).fit(X, y)
    f = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    ax.contourf(*np.moveaxis(grid, -1, 0), f, [-1e3, 0, 1e3], colors=["#cfe3f1", "#f6dccb"])
    ax.contour(*np.moveaxis(grid, -1, 0), f, [0], colors=INK, linewidths=1.2)
    for label, colour in ((0, BLUE), (1, ORANGE)):
        ax.plot(*X[y == label].T, "o", ms=3, color=colour)
    name = f"width {kernel.width:g}" if isinstance(kernel, Gaussian) else "linear"
    ax.set_title(f"{name}: error {model.curve_.minimum:.3f}", fontsize=10)
_ = fig.suptitle("cross-validated error at the best λ of each kernel", fontsize=10)

# %%
# Choosing a kernel
# -----------------
# Rules of thumb: linear in high dimensions, polynomial for sparse counts, Gaussian in general. The
# golden rule: let held-out errors choose. `PathSearchCV` knows them at every lambda of every
# candidate, and reaches into kernels.

grid = [
    {"kernel": [Linear(), Polynomial(1.0, 2, 1.0), Polynomial(1.0, 3, 1.0)]},
    {"kernel": [Gaussian(1.0)], "kernel__width": widths[2:]},
]
search = chemin.PathSearchCV(chemin.PathSVC(), grid).fit(X, y)
print(search.best_estimator_.kernel, f"error {1 - search.best_score_:.3f}")

# %%
# All of them at once
# -------------------
# The same widths and a linear kernel, with the weights learned at several C. With the sparse norm
# some kernels are left; with the norm 2 all have a part. The narrowest kernel is nearly the
# identity: where C is large it takes up the noise.

kernels = [Gaussian(width) for width in widths] + [Linear()]
names = [f"{width:g}" for width in widths] + ["linear"]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for norm, ax in zip((1, 2), axes):
    for C, colour in zip((0.1, 1.0, 10.0), ("#56b4e9", BLUE, INK)):
        model = chemin.MKLClassifier(kernels, C=C, norm=norm).fit(X, y)
        ax.plot(names, model.weights_, "o-", color=colour, label=f"C = {C:g}")
        print(f"norm {norm}, C = {C:g}: {model.n_iter_} steps, gap {model.gap_:.1e}")
    ax.set(title=f"norm {norm}", xlabel="kernel: width of the Gaussian")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("weight")
_ = axes[0].legend(frameon=False)
