"""
Which variables? Five ways beside each other
============================================

Few rows, many variables: stepwise regression, ridge regression, the garrote, the lasso and adaptive
ridge regression, each exact in its parameter.
"""

# %%
# Four paths
# ----------
# Diabetes data: 442 patients, ten measurements. Ridge keeps all variables; the others take them in
# one by one. Adaptive ridge has the models of the lasso, at other values of its parameter.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import chemin

X, y = load_diabetes(return_X_y=True, as_frame=True)
paths = {
    "ridge": chemin.ridge_path(X, y, start=10.0, stop=1e-4),
    "garrote": chemin.garrote_path(X, y, stop=100.0),
    "lasso": chemin.lasso_path(X, y, stop=0.3),
    "adaptive ridge": chemin.adaptive_ridge_path(X, y, start=100.0, stop=1e-3),
}
fig, axes = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")
for ax, (name, path) in zip(axes.flat, paths.items()):
    values = np.geomspace(path.start, path.stop, 400)
    lines = ax.plot(values, path.coefficients(values)[0].T, lw=1.2)
    symbol = "μ" if path.parameter == "mu" else "λ"
    ax.set(xscale="log", title=name, xlabel=symbol, ylim=(-900, 900))
    ax.invert_xaxis()
    ax.axhline(0.0, color="0.6", lw=0.6)
fig.supylabel("coefficients")
_ = fig.legend(lines, X.columns, loc="outside right center", frameon=False)

# %%
# Stepwise regression, with its tables
# ------------------------------------

model = chemin.StepwiseRegression().fit(X, y)
print(model.summary())

# %%
# A comparison on Breiman's simulation
# ------------------------------------
# Thirty variables, sixty rows, three coefficients that are not zero. All models see the same draws,
# so their losses are compared pair by pair. A grey bar is not told from the best.


def draw(rng):
    X, y, _ = chemin.datasets.make_breiman(1060, rng, h=1, rho=0.5)
    return X[:60], y[:60], X[60:], y[60:]


models = {
    "least squares": LinearRegression(),
    "stepwise": chemin.StepwiseRegression(),
    "ridge": chemin.PathRidge(cv=10),
    "garrote": chemin.NonNegativeGarrote(cv=10),
    "lasso": chemin.PathLasso(cv=10),
    "adaptive ridge": chemin.AdaptiveRidge(cv=10),
}
found = chemin.compare(models, draw, n_repeats=20, loss="half squared")
print(found.table())

# %%

from chemin.display import ComparisonDisplay

_ = ComparisonDisplay.from_comparison(found)
