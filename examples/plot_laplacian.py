"""
Few labels, many points
=======================

Two moons, 400 points, three labels in each. A support vector machine that knows the labels alone
cuts across the moons. The Laplacian SVM lets f change little between neighbours, and follows them.
With an L1 penalty a few kernel terms say the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import chemin

X, y = make_moons(400, noise=0.08, random_state=3)
rng = np.random.default_rng(1)
labels = np.full(len(X), -1)
for c in (0, 1):
    labels[rng.permutation(np.flatnonzero(y == c))[:3]] = c
known = labels >= 0

# %%
# The whole path in lambda1, from the empty model on. Every solution on it is certified.

path = chemin.laplacian_svc_path(X, labels, gamma=5.0, lambda2=0.001, mu=1.0)
print(path)
print("exact at every event:", bool(path.certificate(path.breakpoints).exact.all()))

# %%
# How many terms are active, and how many of the 400 points are told wrong, at every event.

values = np.unique(path.breakpoints)
coef, _ = path.coefficients(values)
terms = np.count_nonzero(coef, axis=0)
wrong = (path.predict(X, values) != y[:, None]).sum(axis=0)
fewest = terms[wrong == wrong.min()].min()
best = values[(wrong == wrong.min()) & (terms == fewest)].max()
print(f"{wrong.min()} errors with {fewest} of {len(X)} terms, at lambda1 = {best:.3g}")

fig, left = plt.subplots(figsize=(6, 3.6), layout="constrained")
left.semilogx(values, terms, color="#1f6f8b", label="active terms")
left.semilogx(values, wrong, color="#c1440e", label="errors")
left.axvline(best, color="0.6", linewidth=1, linestyle=":", label="fewest errors and terms")
left.set(xlabel="λ₁", ylabel="of 400 points", xlim=(values.max(), values.min()))
_ = left.legend(frameon=False)

# %%
# Where both decide: the machine that knows six points, and the sparse model of the path.

alone = chemin.svc_path(X[known], labels[known], gamma=5.0, stop=0.01)
grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.2, 1.7, 120)), axis=-1)
flat = grid.reshape(-1, 2)
solution = path.at(best)
fig, right = plt.subplots(figsize=(6, 4.2), layout="constrained")
right.scatter(*X.T, c=np.where(y == 1, "#a9cde4", "#f0bb99"), s=8, linewidths=0)
for machine, value, style, name in (
    (alone, 0.01, "--", "six labels alone"),
    (path, best, "-", f"{fewest} terms of the path"),
):
    f = machine.decision_function(flat, value).reshape(grid.shape[:2])
    right.contour(grid[..., 0], grid[..., 1], f, [0.0], colors="0.15", linestyles=style)
    right.plot([], [], color="0.15", linestyle=style, label=name)
right.scatter(*X[solution.support].T, marker="s", facecolors="none", edgecolors="0.35", s=28)
right.scatter(
    *X[known].T, c=np.where(y[known] == 1, "#0072b2", "#d55e00"), s=60, edgecolors="white"
)
right.set(xticks=[], yticks=[])
_ = right.legend(frameon=False, loc="lower left", fontsize=8)
