"""
6. What a margin promises
=========================

A wide margin on the training points bounds the error on new ones, whatever the number of features.
The bound has the right shape, and is far above the error.
"""

# %%
# More points
# -----------
# Two clouds in the plane and a linear machine. `margin_bound` has every constant (Rademacher
# complexity) and holds with probability 0.95. "The course's shape" is violations/n +
# sqrt((R² log n + log 1/delta) / (gamma² n)), whose constant is not known and taken as 1.

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.svm import LinearSVC

import chemin

BLUE, ORANGE, INK, GREY = "#0072b2", "#d55e00", "#222222", "#b0b0b0"

centers = [[-2.5, 0.0], [2.5, 0.0]]
X_new, y_new = make_blobs(100_000, centers=centers, random_state=1)
sizes = [100, 300, 1000, 3000, 10_000, 30_000, 100_000]
rows = []
for n in sizes:
    X, y = make_blobs(n, centers=centers, random_state=0)
    model = LinearSVC(loss="hinge", C=10 / n, intercept_scaling=10.0, max_iter=50_000).fit(X, y)
    found = chemin.margin_bound(model, X, y)
    rows.append((found.bound, found.course, found.violations / n, 1 - model.score(X_new, y_new)))
print(found)

names = ("bound", "the course's shape", "violations on training points", "error on new points")
fig, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
for values, name, colour in zip(zip(*rows), names, (INK, GREY, BLUE, ORANGE)):
    ax.loglog(sizes, values, "o-", color=colour, label=name)
ax.axhline(1, color=INK, ls=":", lw=1)
ax.text(sizes[-1], 1.1, "above 1 a bound says nothing", fontsize=9, color=INK, ha="right")
ax.set(xlabel="training points", ylabel="share of points")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
ax.spines[["top", "right"]].set_visible(False)
