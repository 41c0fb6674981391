"""
1. Many lines separate, one is the widest
=========================================

The perceptron stops at the first line that makes no mistake. Which one that is depends on the order
of the points. The support vector machine at the end of its path takes the line that stays as far
from all points as it can.
"""

# %%
# Two clouds
# ----------
# Six perceptrons on the same points in six orders. On a mistake, y (w'x + b) <= 0, the point is
# added: w <- w + y x, b <- b + y R².

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import chemin

BLUE, ORANGE, INK, GREY = "#0072b2", "#d55e00", "#222222", "#b0b0b0"

X, y = make_blobs(60, centers=[[-1.6, -0.8], [1.6, 0.8]], cluster_std=0.6, random_state=3)
orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(6)]
perceptrons = [chemin.RosenblattPerceptron().fit(X[order], y[order]) for order in orders]

# %%
# The dual form counts how often each point was mistaken, alpha_i, and needs products of points
# only. It makes the same mistakes in the same order.

dual = chemin.RosenblattPerceptron(form="dual").fit(X[orders[0]], y[orders[0]])
print("the same mistakes:", (dual.mistakes_ == perceptrons[0].mistakes_).all())

# %%
# Functional and geometric margins
# --------------------------------
# The functional margin of a point is y f(x): positive where the label is right. Divided by \|w\| it
# is the geometric one, the distance from the line. That of a separator is its smallest. The widest
# of all, gamma, bounds the mistakes of every perceptron by (2R/gamma)², which is far from tight.

path = chemin.svc_path(X, y, kernel="linear", stop=0)
print(path.reason)
for model in perceptrons:
    found = chemin.margins(model, X, y)
    print(
        f"{model.n_mistakes_:3d} mistakes of {model.mistake_bound():.0f} at the most; smallest "
        f"margin: functional {found.functional.min():6.2f}, geometric {found.of_separator:.3f}"
    )

# %%
# The dotted lines have f = 1 and f = -1; the points on them are the support vectors.

x = np.linspace(-4, 5, 2)
fig, (ax, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for k, model in enumerate(perceptrons):
    w, b = model.coef_[0], model.intercept_[0]
    ax.plot(x, -(b + w[0] * x) / w[1], color=GREY, lw=1.2, label="" if k else "perceptrons")
end = path.at(0)
w = end.coef @ X
for level, style in ((0, "-"), (1, ":"), (-1, ":")):
    line = (level - end.intercept - w[0] * x) / w[1]
    ax.plot(x, line, style, color=INK, lw=1.6, label="" if level else "widest margin")
for label, colour in ((0, BLUE), (1, ORANGE)):
    ax.plot(*X[y == label].T, "o", ms=5, color=colour)
ax.plot(*X[end.support].T, "o", ms=10, mfc="none", color=INK, label="support vectors")
ax.set(xlim=(-4, 4), ylim=(-4, 3.2), xlabel="first feature", ylabel="second feature")
ax.legend(loc="lower left", frameon=False)

signs = np.where(y == 1, 1, -1)
widest = np.sort(signs * path.decision_function(X, 0) / np.linalg.norm(w))
for k, model in enumerate(perceptrons):
    own = np.sort(chemin.margins(model, X, y).geometric)
    right.plot(own, color=GREY, lw=1.2, label="" if k else "perceptrons")
right.plot(widest, color=INK, lw=1.6, label="widest margin")
right.axhline(widest[0], ls=":", color=INK)
right.set(xlabel="points, the nearest first", ylabel="geometric margin", ylim=(0, None))
right.legend(loc="upper left", frameon=False)
for panel in (ax, right):
    panel.spines[["top", "right"]].set_visible(False)
