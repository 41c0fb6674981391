"""
The lasso, from nothing to least squares
========================================

Coefficients of the lasso enter one after the other while λ falls, and may leave again. The path is
walked to λ = 0, where it meets ordinary least squares.
"""

# %%
# The path
# --------
# Diabetes data: 442 patients, ten measurements, and the progress of the disease a year later.

import numpy as np
from sklearn.datasets import load_diabetes

import chemin

X, y = load_diabetes(return_X_y=True, as_frame=True)
path = chemin.lasso_path(X, y, stop=0)
path

# %%
# ``to_frame`` lists which columns entered and left, and where. Column 6 (s3) enters early, leaves
# and comes back with the other sign.

story = path.to_frame()
story["variable"] = X.columns[story["variable"]]
story

# %%
# The picture of it
# -----------------
# Most of the story happens at small λ, so a second walk stops at λ = 0.1 and is drawn on a
# logarithmic axis. Straight pieces look curved there.

display = chemin.lasso_path(X, y, stop=0.1).plot(names=X.columns, counts=True)

# %%
# Beside ``lars_path``
# --------------------
# scikit-learn divides the squares by n, so its alpha is λ/n. Its knots are those of chemin.

from sklearn.linear_model import lars_path

alphas, _, coefs = lars_path(X.to_numpy(), (y - y.mean()).to_numpy(), method="lasso")
knots = np.unique(path.breakpoints)[::-1]
print("knots agree:       ", np.allclose(alphas[:-1] * len(y), knots))
print("coefficients agree:", np.allclose(coefs[:, :-1], path.coefficients(knots)[0]))

# %%
# At λ = 0 it is least squares
# ----------------------------

from sklearn.linear_model import LinearRegression

least_squares = LinearRegression().fit(X, y).coef_
print(f"largest difference: {np.abs(path.at(0).coef - least_squares).max():.0e}")
