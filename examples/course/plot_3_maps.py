"""
3. Other coordinates make it linear
===================================

A law that is not linear may be so in other coordinates, and classes that no line separates may be
separated after a map into more dimensions. The kernel trick is to never compute that map.
"""

# %%
# Newton's law
# ------------
# The force between two masses, G m1 m2 / r², is no linear function of (m1, m2, r). Its logarithm is
# one of (log m1, log m2, log r), with the weights 1, 1 and -2. A linear machine after a map finds
# them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.preprocessing import FunctionTransformer

import chemin
from chemin.kernels import Linear, Polynomial

BLUE, ORANGE, INK, GREY = "#0072b2", "#d55e00", "#222222", "#b0b0b0"

rng = np.random.default_rng(0)
bodies = rng.uniform(1, 5, size=(120, 3))  # m1, m2, r
force = np.log(6.674 * bodies[:, 0] * bodies[:, 1] / bodies[:, 2] ** 2)
train, new = slice(0, 80), slice(80, None)
logs = FunctionTransformer(np.log).fit(bodies)
ends = {}
for name, kernel in (("as measured", Linear()), ("after a log map", Linear().after(logs))):
    path = chemin.svr_path(bodies[train], force[train], kernel=kernel, epsilon=0.01, stop=1e-3)
    ends[name] = path.decision_function(bodies[new], path.stop)
    if "log" in name:
        print("weights:", (path.at(path.stop).coef @ np.log(bodies[train])).round(2))

# %%
# Monomials of degree two
# -----------------------
# Two circles, no line between them. Among x1², x2² and sqrt(2) x1 x2 a plane separates them:
# `feature_map` has these columns, and their products are those of the kernel (x'x)².

X, y = make_circles(80, factor=0.45, noise=0.07, random_state=0)
kernel = Polynomial(gamma=1.0, degree=2)
Z = kernel.feature_map(X)
print("columns:", Z.shape[1], " largest difference:", abs(Z @ Z.T - kernel.gram(X)).max())
implicit = chemin.KernelPerceptron(kernel=kernel).fit(X, y)
explicit = chemin.RosenblattPerceptron().fit(Z, y)
print("the same mistakes:", (implicit.mistakes_ == explicit.mistakes_).all())

fig, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
for (name, f), colour in zip(ends.items(), (GREY, INK)):
    axes[0].plot(force[new], f, "o", ms=4, color=colour, label=name)
axes[0].axline((0, 0), slope=1, color=INK, lw=0.8)
axes[0].set(title="Newton's law", xlabel="log force", ylabel="f on new bodies")
axes[0].legend(frameon=False)
grid = np.stack(np.meshgrid(*[np.linspace(-1.4, 1.4, 120)] * 2), axis=-1)
f = implicit.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
axes[1].contour(*np.moveaxis(grid, -1, 0), f, [0], colors=INK)
axes[1].set(title="a kernel perceptron", xlabel="x1", ylabel="x2", aspect="equal")
w, b = explicit.coef_[0], explicit.intercept_[0]
first = np.array([0.0, 1.6])
axes[2].plot(first, -(b + w[0] * first) / w[2], color=INK)  # where x1 x2 = 0
axes[2].set(title="the same in squares", xlabel="x1²", ylabel="x2²")
axes[2].set(xlim=(-0.05, 1.5), ylim=(-0.05, 1.5))
for label, colour in ((0, BLUE), (1, ORANGE)):
    axes[1].plot(*X[y == label].T, "o", ms=4, color=colour)
    axes[2].plot(*(X[y == label] ** 2).T, "o", ms=4, color=colour)
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The curse of dimension
# ----------------------
# p variables have (p + d - 1 choose d) monomials of degree d. The kernel costs p products whatever
# the degree.

p = np.array([2, 5, 10, 20, 50])
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for degree, colour in zip((2, 3, 5, 10), (GREY, BLUE, ORANGE, INK)):
    counts = [Polynomial(gamma=1.0, degree=degree).n_features(int(q)) for q in p]
    ax.loglog(p, counts, "o-", color=colour, label=f"degree {degree}")
ax.loglog(p, p, ":", color=INK, label="products for the kernel")
ax.set(xlabel="variables", ylabel="monomials", xticks=p, xticklabels=p)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
for q, d in ((5, 5), (10, 5), (20, 10)):
    print(f"p = {q}, d = {d}: {Polynomial(gamma=1.0, degree=d).n_features(q)} dimensions")
