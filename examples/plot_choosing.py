"""
The best C, and not the best of a grid
======================================

On a path the cross-validated error is known at every value of the hyper-parameter. Its global
minimum can be read off, with the whole interval on which it is reached.
"""

# %%
# One machine, all values of C
# ----------------------------
# ``PathSVC`` walks one path in each fold and merges the five held-out errors.

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import StandardScaler

from chemin import PathLasso, PathSVC
from chemin.display import CurveDisplay, PathDisplay

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
model = PathSVC(cv=5).fit(X, y)
display = CurveDisplay.from_estimator(model)
_ = display.ax_.set_ylim(0, 0.08)

# %%
# The error is a staircase: it changes where a held-out point crosses the boundary, and nowhere
# else. The minimum is an interval, and ``lambda_`` its middle.

low, high = model.curve_.interval
print(f"lambda from {low:.4g} to {high:.4g}: error {100 * model.curve_.minimum:.2f} %")
print(f"lambda_ = {model.lambda_:.4g}, C_ = {model.C_:.4g}")

# %%
# A grid of twenty values of C, on the same folds, does no better: none can.

import numpy as np

grid = np.geomspace(model.path_.start, model.path_.stop, 20)
print(f"best of the grid: {100 * model.curve_(grid).min():.2f} %")

# %%
# The lasso, and simpler models
# -----------------------------
# The squared error is a parabola on each piece, so that its minimiser has a closed form.
# ``choose="one_se"`` takes the strongest penalty within one standard error of it.

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
best, simple = PathLasso().fit(X, y), PathLasso(choose="one_se").fit(X, y)
print(best.support_.sum(), "variables, and", simple.support_.sum(), "within one standard error")
display = CurveDisplay.from_estimator(simple)

# %%
# The same choice on the path of all rows.

display = PathDisplay.from_estimator(simple)
