"""
The ROC curve of all weighted machines
======================================

Weights of the two classes trade false alarms against misses. A path in the cost has the machine of
every weighting, and so the ROC curve that a list of weightings only samples.
"""

# %%
# One walk
# --------
# Two measurements of the breast cancer data, half of the records held out. ``cost`` is the part of
# the two class weights that the positive class has: 1/2 is the usual machine.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import chemin

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data[:, [1, 8]])  # mean texture, mean symmetry
y = data.target_names[data.target]
X, X_out, y, y_out = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
path = chemin.svc_path(X, y, along="cost", lambda_=1.0, gamma=0.5)
curve = path.roc(X_out, y_out)
curve

# %%
# Twenty of them
# --------------
# The same machines by twenty fits with ``class_weight``, at costs in equal steps.

negative, positive = path.classes_
costs = np.linspace(0.025, 0.975, 20)
rates = []
for c in costs:
    svc = SVC(C=1.0, gamma=0.5, class_weight={negative: 2 * (1 - c), positive: 2 * c}).fit(X, y)
    called = svc.predict(X_out) == positive
    rates.append([called[y_out == negative].mean(), called[y_out == positive].mean()])
rates = np.array(rates)

# %%
# A change of one point's label is a step of the curve. The hull is what can be reached by choosing
# between two models at random.

fig, ax = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
ax.plot([0, 1], [0, 1], ":", color="#b0b0b0", lw=1)
ax.plot(*curve.hull.T, color="#009e73", lw=1.5, label=f"hull, area {curve.auc:.3f}")
every = f"all {len(curve.cost)} models of the path"
ax.plot(curve.fpr, curve.tpr, color="#0072b2", lw=1.5, label=every)
ax.plot(*rates.T, "o", ms=6, mfc="none", color="#d55e00", label="20 weighted fits of SVC")
usual = np.searchsorted(curve.interval[:, 0], 0.5) - 1
ax.plot(curve.fpr[usual], curve.tpr[usual], "s", ms=7, color="#222222", label="cost 1/2")
ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
ax.spines[["top", "right"]].set_visible(False)
_ = ax.legend(loc="lower right", frameon=False)

# %%
# From a budget to a cost
# -----------------------
# At most 10 % false alarms: which cost finds the most? Every model stands on an interval of costs.

allowed = np.flatnonzero(curve.fpr <= 0.1)
best = allowed[curve.tpr[allowed].argmax()]
low, high = curve.interval[best]
print(f"fpr {curve.fpr[best]:.3f}, tpr {curve.tpr[best]:.3f}, cost from {low:.4f} to {high:.4f}")
path.at(curve.cost[best])
