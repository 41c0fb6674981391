"""
2. A softer margin
==================

Where no line separates, margins may be violated, at a price: the hinge loss. C sets the price, and
the path has the machine of every C. The hard margin of the first example is the end of such a path,
which is reached where the data separate.
"""

# %%
# One path, all C
# ---------------
# Two clouds that overlap. Along the path lambda = 1/C falls: violations cost more and more, and the
# margin 1/\|w\| gets narrower.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import chemin

BLUE, ORANGE, GREEN, INK, GREY = "#0072b2", "#d55e00", "#009e73", "#222222", "#b0b0b0"

X, y = make_blobs(80, centers=[[-1.1, -0.6], [1.1, 0.6]], cluster_std=0.85, random_state=4)
signs = np.where(y == 1, 1, -1)
path = chemin.svc_path(X, y, kernel="linear", stop=1e-2)
print(path)

# %%
# Optimality says where every point lies: alpha = 0 outside the margin, alpha = 1 inside it or on
# the wrong side (in LIBSVM's units C), and between 0 and 1 on the margin itself.

x = np.linspace(-4, 4, 2)
fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained", sharey=True)
for C, ax in zip((0.02, 0.2, 20.0), axes):
    model = path.at(1 / C)
    w = model.coef @ X
    for level, style in ((0, "-"), (1, ":"), (-1, ":")):
        ax.plot(x, (level - model.intercept - w[0] * x) / w[1], style, color=INK, lw=1.4)
    for label, colour in ((0, BLUE), (1, ORANGE)):
        ax.plot(*X[y == label].T, "o", ms=4, color=colour)
    inside = model.alpha > 1 - 1e-9
    on = (model.alpha > 1e-9) & ~inside
    ax.plot(*X[inside].T, "o", ms=8, mfc="none", color=GREY, label=f"{inside.sum()} violate")
    ax.plot(*X[on].T, "s", ms=9, mfc="none", color=INK, label=f"{on.sum()} on the margin")
    ax.set(xlim=(-3.6, 3.6), ylim=(-3.6, 3.6))
    ax.set_title(f"C = {C:g}, margin {1 / np.linalg.norm(w):.2f}")
    ax.legend(loc="lower right", fontsize=8, handletextpad=0.2)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("second feature")
_ = axes[1].set_xlabel("first feature")

# %%
# The hinge
# ---------
# Without constraints the machine minimises lambda/2 \|w\|² + sum of max(0, 1 - y f(x)). The hinge
# is convex, an upper bound on the 0/1 error, and 0 from a functional margin of 1 on.

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
z = np.linspace(-2, 3, 201)
ax.plot(z, np.maximum(0, 1 - z), color=BLUE, label="hinge, max(0, 1 - y f)")
ax.plot(z, np.maximum(0, 1 - z) ** 2, color=ORANGE, ls="--", label="squared hinge")
ax.plot([-2, 0, 0, 3], [1, 1, 0, 0], color=INK, lw=1.2, label="0/1 error")
ax.set(ylim=(-0.1, 4), xlabel="functional margin y f(x)", ylabel="loss")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Stochastic gradient
# -------------------
# That form needs no matrix between points, and the gradient of one point at a time is enough: the
# way for very many points. It goes near the minimum; the exact path says how near. scikit-learn's
# alpha is lambda/n.

from sklearn.linear_model import SGDClassifier

lambda_ = 1.0
passes = [1, 3, 10, 30, 100, 300, 1000]
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for average, colour in ((False, GREY), (True, GREEN)):
    above = []
    for most in passes:
        sgd = SGDClassifier(alpha=lambda_ / len(y), max_iter=most, tol=None, average=average)
        sgd.set_params(random_state=0).fit(X, y)
        hinge = np.maximum(0, 1 - signs * sgd.decision_function(X)).sum()
        above.append((lambda_ / 2 * np.sum(sgd.coef_**2) + hinge) / path.at(lambda_).objective - 1)
    ax.loglog(passes, above, "o-", color=colour, label="averaged" if average else "last step")
ax.set(xlabel="passes over the data", ylabel="objective above the minimum")
ax.legend(frameon=False, title="stochastic gradient")
ax.spines[["top", "right"]].set_visible(False)
