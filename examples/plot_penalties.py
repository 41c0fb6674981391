"""
One penalty a coefficient, found by gradient
============================================

A grid over the penalties of ten coefficients is out of reach. `GradientRidge` goes down the
gradient of the cross-validated error instead: penalties of useful variables fall, those of the
others grow.
"""

# %%
# The descent
# -----------
# Three of ten variables are useful. There are forty rows for training, and the truth is known.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import chemin
from chemin.display import DescentDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(5040, 10))
y = X[:, :3] @ [1.0, -0.7, 0.5] + rng.normal(size=5040)
train, test = slice(0, 40), slice(40, None)
names = [f"useful {j + 1}" if j < 3 else f"noise {j - 2}" for j in range(10)]

model = chemin.GradientRidge(tol=1e-3, random_state=0).fit(X[train], y[train])
display = DescentDisplay.from_estimator(model, names=names)

# %%
# Above the error of ten folds, then the penalties on a logarithmic scale, then the coefficients
# that they leave on all rows. A penalty that runs off takes its coefficient to 0.
#
# How far to go
# -------------
# The criterion is an estimate. Followed to its end it is fitted too well, and rows that took no
# part in the descent see it. `tol` stops early.


def half_error(model):
    return 0.5 * np.mean((model.predict(X[test]) - y[test]) ** 2)


print(f"least squares: on other rows {half_error(LinearRegression().fit(X[train], y[train])):.4f}")
for tol in (1e-1, 1e-2, 1e-3, 1e-6):
    model.set_params(tol=tol).fit(X[train], y[train])
    print(
        f"tol = {tol:g}: {model.n_iter_} iterations, criterion {model.criterion_:.4f}, "
        f"on other rows {half_error(model):.4f}"
    )

# %%
# Averaged over bootstrap samples
# -------------------------------
# Penalties that are found on similar data differ much: grey, those of ten bootstrap samples. Their
# average is steadier.

averaged = chemin.GradientRidge(average="log_mean_exp", random_state=0).fit(X[train], y[train])
ends = np.array([descent.end for descent in averaged.descents_])
print(f"averaged: on other rows {half_error(averaged):.4f}")

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot(ends.T, ".", color="#b0b0b0")
ax.plot(averaged.penalties_, "o", color="#d55e00", label="averaged: log of the mean of exp")
ax.set_xticks(range(10), names, rotation=30, ha="right")
ax.set(ylabel="penalties |λ|")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
