"""
Probabilities from a squared hinge
==================================

The squared hinge is smooth, and its best score is a function of the probability of a class. So its
scores tell probabilities. A C-SVM needs a second model for that, fitted to its scores.
"""

# %%
# Two models of the same data
# ---------------------------
# Two Gaussians in the plane, for which the true probability is known. Each model chooses λ on its
# path by its own loss; the scores of the C-SVM are then scaled by a logistic model (Platt), fitted
# on folds.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC

import chemin

SHIFT = 0.8  # of each centre from the origin, in standard deviations
DRAWS = 3
GAMMA = 0.2


def draw(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 2)) + SHIFT * np.array([1.0, 0.0]) * (2 * y[:, None] - 1), y


def squared_hinge(X, y):
    return chemin.PathQuadraticSVC(gamma=GAMMA, intercept=True, scoring="loss").fit(X, y)


def svm_and_platt(X, y):
    chosen = chemin.PathSVC(gamma=GAMMA, scoring="loss").fit(X, y).C_
    return CalibratedClassifierCV(SVC(C=chosen, gamma=GAMMA), ensemble=False).fit(X, y)


models = {"squared hinge": squared_hinge, "C-SVM and Platt": svm_and_platt}
new, labels = draw(5000, 0)
truth = 1 / (1 + np.exp(-2 * SHIFT * new[:, 0]))
predicted = {name: [] for name in models}  # probabilities of the new points, for each draw
for seed in range(1, DRAWS + 1):
    for name, fit in models.items():
        predicted[name].append(fit(*draw(200, seed)).predict_proba(new)[:, 1])

# %%
# How far from the truth
# ----------------------
# The mean squared distance to the true probability, which neither model has seen, and the
# calibration error: among points with prediction p, how far the share of the class is from p, in
# tenths of p. They are about equally well calibrated, and the squared hinge, one model for both
# tasks, is nearer to the truth: Platt's scaling is a function of the score, and cannot undo what
# the score of the C-SVM has flattened.


def tenths(p, values):
    """The mean of the values in each tenth of p, and the share of the points there."""
    tenth = np.minimum(10 * p, 9).astype(int)
    count = np.bincount(tenth, minlength=10)
    return np.bincount(tenth, values, minlength=10) / np.maximum(count, 1), count / len(p)


def calibration_error(p):
    (mean, share), (seen, _) = tenths(p, p), tenths(p, labels)
    return np.sum(share * np.abs(mean - seen))


for name, ps in predicted.items():
    squares = [np.mean((p - truth) ** 2) for p in ps]
    errors = [calibration_error(p) for p in ps]
    print(f"{name}: distance {np.mean(squares):.4f}, calibration error {np.mean(errors):.3f}")

# %%
# The first draw. Points on the diagonal are right. Where the line is on it the model is calibrated:
# it shows the share of the class among points with about the same prediction.

fig, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharey=True)
for ax, (name, ps) in zip(axes, predicted.items()):
    (mean, share), (seen, _) = tenths(ps[0], ps[0]), tenths(ps[0], labels)
    ax.plot([0, 1], [0, 1], color="#999999", lw=1)
    ax.plot(ps[0], truth, ".", ms=1.5, color="#0072b2", alpha=0.4, label="a point")
    ax.plot(mean[share > 0], seen[share > 0], "o-", color="#d55e00", label="share in a tenth")
    ax.set(title=name, xlabel="predicted")
axes[0].set_ylabel("true probability")
axes[0].legend(loc="upper left", frameon=False, markerscale=1.5)
plt.show()
