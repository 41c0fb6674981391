"""
Hyper-parameters of any model, by gradient
==========================================

`tune` goes down the gradient of a selection criterion. It asks for little: what training minimises,
by its derivatives, and what the result is judged by. Here three models: kernel ridge with one width
a feature, logistic regression with one penalty a feature, and a small network with one weight decay
a layer.
"""

# %%
# One width a feature
# -------------------
# Two features of six matter to a kernel ridge regression. Training is quadratic, so each gradient
# takes one more solve with a factor that is there. Widths of noise grow until it is out. `tol`
# stops where little is left to gain: at its end, the criterion is fitted too well.

import matplotlib.pyplot as plt
import numpy as np

from chemin.display import DescentDisplay
from chemin.selection import SmoothCriterion, kernel_ridge_folds, logistic_folds, tune

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 6))
y = np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1]) + 0.2 * rng.normal(size=100)
names = ["useful 1", "useful 2", "noise 1", "noise 2", "noise 3", "noise 4"]

folds = kernel_ridge_folds(X, y, cv=5)
start = np.append(np.log(0.1), np.full(6, np.log(2.0)))  # log λ and log widths
found = tune(folds.training, folds.selection, start, tol=1e-2, bounds=(start - 6, start + 6))
before, after = found.descent.criterion[0], found.criterion
print(f"half the squared error of five folds: {before:.4f} with one width, {after:.4f} with six")

display = DescentDisplay(
    found.descent.criterion,
    np.exp(found.descent.parameters[:, 1:]),
    names=names,
    log=True,
    ylabel="widths",
).plot()

# %%
# One penalty a feature
# ---------------------
# Logistic regression is not quadratic. Its minimum comes from Newton's method, and the gradient
# from implicit differentiation there: one more solve, by conjugate gradients.

labels = X[:, 0] - X[:, 1] + 0.7 * rng.normal(size=100) > 0
folds = logistic_folds(X, labels, cv=5)
found = tune(folds.training, folds.selection, np.full(6, -3.0), tol=1e-3, bounds=(-8.0, 8.0))
before, after = found.descent.criterion[0], found.criterion
print(f"logistic loss of five folds: {before:.4f} with equal penalties, {after:.4f} with six")

display = DescentDisplay(
    found.descent.criterion,
    np.exp(found.descent.parameters),
    names=names,
    log=True,
    ylabel="penalties",
).plot()

# %%
# The weight decay of a small network
# -----------------------------------
# Eight hidden units, trained on 30 points and judged on 60 others. The decay of each layer is a
# hyper-parameter. Training needs the gradient of its criterion and products with its second
# derivative; parameters are counted from the random weights at which it begins. The criterion is
# not convex: `tune` follows one of its minima as the decays move.

HIDDEN = 8


class Network:
    """f(x) = v'tanh(W x + c) + v0, with a decay for W and one for v."""

    def __init__(self, x, y, first):
        self.x, self.y, self.first = x[:, None], y, first
        # W, c, v, v0: which decay each of them has; those of constants are 0.
        self.layer = np.repeat([0, 2, 1, 2], [HIDDEN, HIDDEN, HIDDEN, 1])

    def decay(self, p):
        return np.append(np.exp(p), 0.0)[self.layer]

    def parts(self, b):
        return np.split(b, [HIDDEN, 2 * HIDDEN, 3 * HIDDEN])

    def forward(self, b, x):
        W, c, v, v0 = self.parts(b)
        Z = np.tanh(x * W + c)
        return Z, Z @ v + v0

    def value(self, p, d):
        b = self.first + d
        error = self.forward(b, self.x)[1] - self.y
        return 0.5 * np.mean(error**2) + 0.5 * self.decay(p) @ b**2

    def backward(self, Z, error, v):
        """From the slopes of C in f to those in the weights."""
        D = error[:, None] * v * (1 - Z**2)
        return np.concatenate([(self.x * D).sum(0), D.sum(0), Z.T @ error, [error.sum()]])

    def gradient(self, p, d):
        b = self.first + d
        Z, f = self.forward(b, self.x)
        slopes = self.backward(Z, f - self.y, self.parts(b)[2])
        return slopes / len(f) + self.decay(p) * b

    def hessian_product(self, p, d, direction):
        """The gradient, differentiated along a direction."""
        b = self.first + d
        v = self.parts(b)[2]
        dW, dc, dv, dv0 = self.parts(direction)
        Z, f = self.forward(b, self.x)
        error, dZ = f - self.y, (1 - Z**2) * (self.x * dW + dc)
        df = dZ @ v + Z @ dv + dv0
        D = error[:, None] * (dv * (1 - Z**2) - 2 * v * Z * dZ)
        moved = self.backward(Z, df, v)
        moved[: 2 * HIDDEN] += np.concatenate([(self.x * D).sum(0), D.sum(0)])
        moved[2 * HIDDEN : 3 * HIDDEN] += dZ.T @ error
        return moved / len(f) + self.decay(p) * direction

    def pull_back(self, p, a, d):
        """The gradient in p of a'dC/db."""
        return np.bincount(self.layer, self.decay(p) * a * (self.first + d))[:2]

    def judged_on(self, x, y):
        """Half the squared error at other points, and its slopes in the weights."""

        def selection(p, d):
            b = self.first + d
            other = Network(x, y, self.first)
            Z, f = self.forward(b, other.x)
            slopes = other.backward(Z, f - y, self.parts(b)[2])
            return 0.5 * np.mean((f - y) ** 2), slopes / len(y)

        return selection


def truth(x):
    return np.sin(3 * x)


rng = np.random.default_rng(2)
x = np.sort(rng.uniform(-2, 2, 90))
t = truth(x) + 0.3 * rng.normal(size=90)
train = np.arange(90) % 3 == 0
network = Network(x[train], t[train], rng.normal(size=3 * HIDDEN + 1))
training = SmoothCriterion(
    network.value, network.gradient, network.hessian_product, network.pull_back, 3 * HIDDEN + 1
)
begin = np.log([1e-5, 1e-5])
found = tune(
    training, network.judged_on(x[~train], t[~train]), begin, bounds=(-16.0, 2.0), tol=1e-3
)
before, after = found.descent.criterion[0], found.criterion
print(f"half the squared error on other points: {before:.4f} at the start, {after:.4f} at the end")
print(f"decays: {np.exp(found.lambda_)}")

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(np.exp(found.descent.parameters), marker=".", label=["first layer", "second layer"])
left.set(yscale="log", xlabel="iteration", ylabel="weight decay")
left.legend(frameon=False)
fine = np.linspace(-2, 2, 200)
for b, name, colour in (
    (training.solve(begin), "hardly any decay", "#b0b0b0"),
    (found.solutions[0], "the decays found", "#d55e00"),
):
    fit = network.forward(network.first + b, fine[:, None])[1]
    right.plot(fine, fit, color=colour, label=name)
right.plot(fine, truth(fine), color="#202020", linestyle=":", label="truth")
right.plot(x[train], t[train], ".", color="#202020", markersize=4)
right.set(xlabel="x", ylabel="f", ylim=(-1.9, 1.5))
right.legend(frameon=False, ncols=3, loc="lower center", fontsize="small")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
