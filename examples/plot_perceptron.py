"""
Many lines separate, one is the widest
======================================

The perceptron stops at the first line that makes no mistake. Which one that is depends on the order
of the points. The support vector machine at the end of its path takes the line that stays as far
from all points as it can.
"""

# %%
# Two clouds
# ----------
# Six perceptrons on the same points in six orders, and the widest margin.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import chemin

X, y = make_blobs(60, centers=[[-1.6, -0.8], [1.6, 0.8]], cluster_std=0.6, random_state=3)
orders = [np.random.default_rng(seed).permutation(len(y)) for seed in range(6)]
perceptrons = [chemin.RosenblattPerceptron().fit(X[order], y[order]) for order in orders]
path = chemin.svc_path(X, y, kernel="linear", stop=0)
print(path.reason)

# %%
# Each has made fewer mistakes than the bound (2R/gamma)², which is far from tight.

for model in perceptrons:
    margin = chemin.margins(model, X, y).of_separator
    print(f"{model.n_mistakes_:3d} mistakes of {model.mistake_bound():.0f}, margin {margin:.3f}")

# %%
# The dotted lines have f = 1 and f = -1; the points on them are the support vectors.

x = np.linspace(-4, 5, 2)
fig, ax = plt.subplots(figsize=(6.4, 5), layout="constrained")
for k, model in enumerate(perceptrons):
    w, b = model.coef_[0], model.intercept_[0]
    label = "perceptrons" if k == 0 else None
    ax.plot(x, -(b + w[0] * x) / w[1], color="#b0b0b0", lw=1.2, label=label)
end = path.at(0)
w = end.coef @ X
for level, style in ((0, "-"), (1, ":"), (-1, ":")):
    line = (level - end.intercept - w[0] * x) / w[1]
    ax.plot(x, line, style, color="#222222", lw=1.6, label="widest margin" if level == 0 else None)
for label, colour in ((0, "#d55e00"), (1, "#0072b2")):
    ax.plot(*X[y == label].T, "o", ms=5, color=colour)
ax.plot(*X[end.support].T, "o", ms=10, mfc="none", color="#222222", label="support vectors")
ax.set(xlim=(-4, 4), ylim=(-4, 3.2), xlabel="first feature", ylabel="second feature")
ax.spines[["top", "right"]].set_visible(False)
_ = ax.legend(loc="lower left", frameon=False)
