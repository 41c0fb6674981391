"""
7. Large margins for regression
===============================

Support vector regression does not mind errors below epsilon: around f lies a tube, and only points
on its border or outside it are support vectors. A kernel bends the tube.
"""

# %%
# The loss
# --------
# max(0, \|y - f\| - epsilon), beside the squared and the absolute error.

import matplotlib.pyplot as plt
import numpy as np

import chemin
from chemin.kernels import Gaussian, Linear

BLUE, ORANGE, INK, GREY = "#0072b2", "#d55e00", "#222222", "#b0b0b0"

r = np.linspace(-2, 2, 201)
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(r, np.maximum(0, abs(r) - 0.5), color=BLUE, lw=2, label="insensitive, ε = 0.5")
ax.plot(r, abs(r), color=INK, lw=1.2, label="absolute")
ax.plot(r, r**2, color=ORANGE, ls="--", label="squared")
ax.set(ylim=(-0.05, 2), xlabel="y - f(x)", ylabel="loss")
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
ax.spines[["top", "right"]].set_visible(False)

# %%
# A straight tube and a bent one
# ------------------------------
# For both kernels the path in lambda is walked once, and five folds choose the point on it.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 3, 60))[:, None]
y = x[:, 0] + 0.6 * np.sin(4 * x[:, 0]) + 0.2 * rng.normal(size=60)
t = np.linspace(0, 3, 200)[:, None]
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
for kernel, ax in zip((Linear(), Gaussian(0.5)), axes):
    model = chemin.PathSVR(kernel=kernel, epsilon=0.2).fit(x, y)
    f = model.predict(t)
    ax.fill_between(t[:, 0], f - 0.2, f + 0.2, color="#cfe3f1", label="tube")
    ax.plot(t, f, color=INK)
    ax.plot(x, y, "o", ms=4, color=GREY)
    ax.plot(x[model.support_], y[model.support_], "o", ms=4, color=ORANGE, label="support vectors")
    ax.set(title=f"{kernel!r}: {len(model.support_)} of {len(y)} points, C = {model.C_:.2g}")
    ax.set_xlabel("x")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("y")
_ = axes[0].legend(frameon=False, loc="upper left")

# %%
# The width of the tube
# ---------------------
# Along epsilon there is a path too. The wider the tube, the fewer points hold f, nearly everywhere.

path = chemin.svr_path(x, y, kernel=Gaussian(0.5), along="epsilon", lambda_=1.0, stop=0.0)
print(path)
eps = np.linspace(path.start, path.stop, 300)
coef, _ = path.coefficients(eps)
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(eps, (abs(coef) > 1e-12).sum(axis=0), color=BLUE)
ax.set(xlabel="ε", ylabel="support vectors", xlim=(0, None), ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
