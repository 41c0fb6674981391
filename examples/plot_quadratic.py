"""
Probabilities from a squared hinge
==================================

The squared hinge is smooth, and its best score is a function of the probability of a class. So its
scores tell probabilities. A C-SVM needs a second model for that, fitted to its scores.
"""

# %%
# Two models of the same data
# ---------------------------
# Two Gaussians in the plane, for which the true probability is known. Both models choose λ on their
# paths by the hinge loss; the scores of the C-SVM are then scaled by a logistic model (Platt),
# fitted on folds.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

import chemin

SHIFT = 0.8  # of each centre from the origin, in standard deviations


def draw(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) + SHIFT * np.array([1.0, 0.0]) * (2 * y[:, None] - 1), y


X, y = draw(200, 0)
new, _ = draw(2000, 1)
truth = 1 / (1 + np.exp(-2 * SHIFT * new[:, 0]))

squared = chemin.PathQuadraticSVC(gamma=0.2, intercept=True, scoring="neg_hinge_loss").fit(X, y)
squared

# %%
svm = chemin.PathSVC(gamma=0.2, scoring="neg_hinge_loss").fit(X, y)
platt = CalibratedClassifierCV(SVC(C=svm.C_, gamma=0.2), ensemble=False).fit(X, y)

# %%
# How far from the truth
# ----------------------
# The mean squared distance to the true probability, which neither model has seen. On these data
# the squared hinge is a little nearer. On other draws Platt's scaling is: it is fitted to the
# labels once more, while the squared hinge has one model for both tasks.

named = {"squared hinge": squared.predict_proba(new), "C-SVM and Platt": platt.predict_proba(new)}
for name, p in named.items():
    print(f"{name}: {np.mean((p[:, 1] - truth) ** 2):.4f}")

# %%
# Points on the diagonal are right.

fig, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for ax, (name, p) in zip(axes, named.items()):
    ax.plot([0, 1], [0, 1], color="#999999", lw=1)
    ax.plot(truth, p[:, 1], ".", ms=2, color="#0072b2")
    ax.set(title=name, xlabel="true probability")
axes[0].set_ylabel("predicted")
plt.show()
