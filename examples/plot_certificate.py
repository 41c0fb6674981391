"""
A path that proves itself
=========================

How do you know that a solution is optimal? The certificate computes it afresh from the data: how
far the optimality conditions are violated, and the gap between the objective and its lower bound.
Beside it stands the finest result that double precision allows.
"""

# %%
# Exact, at every event and between
# ---------------------------------
# Digits 3 and 8. The certificate is taken at all breakpoints, in the middle between them, and below
# the last one, where the two digits are separated and nothing happens any more.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import chemin

X, y = load_digits(return_X_y=True)
X, y = X[np.isin(y, [3, 8])], y[np.isin(y, [3, 8])]
path = chemin.svc_path(X, y, gamma=0.001)
knots = np.unique(path.breakpoints)
middles = np.sqrt(knots[1:] * knots[:-1])
values = np.unique(np.concatenate([knots, middles, np.geomspace(path.stop, knots[0], 100)]))
proof = path.certificate(values)
print(f"{len(values)} solutions, all exact: {proof.exact.all()}")

# %%
# The same question to a solver
# -----------------------------
# The objective of ``SVC`` is computed from its coefficients and compared with the exact one at the
# same λ = 1/C. A solver stops when no margin is off by more than ``tol``. At small λ the
# objective itself is small, so the same ``tol`` weighs more there.

K = np.exp(-0.001 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
signs = np.where(y == 8, 1.0, -1.0)


def objective(svc, value):
    """lambda/2 |f|^2 + the sum of the hinge losses."""
    coef = np.zeros(len(y))
    coef[svc.support_] = svc.dual_coef_[0]
    f = K @ coef
    hinge = np.maximum(0.0, 1.0 - signs * (f + svc.intercept_))
    return 0.5 * value * coef @ f + hinge.sum()


grid = np.geomspace(path.stop, path.start, 30)
best = np.array([path.at(value).objective for value in grid])
excess = {
    tol: [objective(SVC(C=1 / v, kernel="precomputed", tol=tol).fit(K, y), v) for v in grid]
    for tol in (1e-3, 1e-6)
}

# %%
# Side by side
# ------------
# What lies below the dotted line counts as exact. Values of zero are drawn at the bottom.

bottom = 1e-17
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for (tol, found), colour in zip(excess.items(), ("#d55e00", "#cc79a7")):
    ax.plot(grid, np.maximum(np.array(found) / best - 1, bottom), "o-", ms=4, lw=1, color=colour)
    ax.plot([], [], "o-", ms=4, color=colour, label=f"SVC, tol = {tol:g}: excess of the objective")
gap = np.maximum(np.abs(proof.relative_gap), bottom)
ax.plot(values, gap, ".", ms=3, color="#0072b2")
ax.plot([], [], "o", ms=5, color="#0072b2", label="chemin: relative gap")
limit = np.maximum(1e-9, 50 * proof.floor)
ax.plot(values, limit, ":", color="#222222", label="exact below")
ax.set(xscale="log", yscale="log", xlabel="λ = 1/C", ylabel="relative to the objective")
ax.spines[["top", "right"]].set_visible(False)
legend = fig.legend(loc="outside upper left", frameon=False, ncols=2)
