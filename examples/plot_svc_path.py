"""
Every support vector machine on one data set
============================================

A C-SVM has a hyper-parameter, C, or its inverse λ. Here it is not searched on a grid: the
solution is followed while λ moves, and all solutions are there to be looked at.
"""

# %%
# The path
# --------
# Breast cancer data, 569 records of 30 measurements, brought to the same scale. The walk starts
# where every point is a support vector and goes down to a ten-thousandth of that λ.

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import chemin

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
y = data.target_names[data.target]
path = chemin.svc_path(X, y, kernel="rbf")
path

# %%
# Between two events every multiplier α is a straight line in λ (curved on a logarithmic axis). It
# is 1 for a point inside the margin, 0 for a point well outside, and between them for a point
# on the elbow, right on the margin. The picture has a vertex at each event, and no grid.

display = path.plot(counts=True)

# %%
# As λ falls the fit gets closer and support vectors are released one after the other. In the end
# nearly all that remain stand on the elbow: hardly any point is left inside the margin.
#
# One value, exactly
# ------------------
# ``at`` gives the solution at any λ between the ends, not at the nearest of a list.

solution = path.at(0.3)
solution

# %%
# scikit-learn's ``SVC`` at C = 1/λ finds the same machine, to the tolerance of its solver.

import numpy as np
from sklearn.svm import SVC

svc = SVC(C=1 / 0.3, tol=1e-8).fit(X, y)
difference = np.abs(svc.decision_function(X) - path.decision_function(X, 0.3)).max()
print(f"largest difference of the decision values: {difference:.0e}")

# %%
# Ten points, followed
# --------------------
# These ten stay on the elbow for most of the path: they hold the margin.

knots = np.unique(path.breakpoints)
alpha = path.multipliers(knots)
share = ((alpha > 0) & (alpha < 1)).mean(axis=1)
holders = np.argsort(-share)[:10]
display = path.plot(variables=holders, mark=0.3)
