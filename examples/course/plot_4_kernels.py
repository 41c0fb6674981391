"""
4. What is a kernel, and what is none
=====================================

A symmetric function is a kernel if it is a product of points in some space: then, and only then,
its matrices have no negative eigenvalue. Sums, products and positive multiples of kernels are
kernels.
"""

# %%
# Kernels made of kernels
# -----------------------
# Forty points on a line, sorted: each matrix is a picture of who is like whom.

import matplotlib.pyplot as plt
import numpy as np

import chemin
from chemin.kernels import Bilinear, Gaussian, Linear, Polynomial, Spectrum, is_kernel

BLUE, ORANGE, INK, GREY = "#0072b2", "#d55e00", "#222222", "#b0b0b0"

x = np.linspace(-2, 2, 40)[:, None]
kernels = {
    "linear": Linear(),
    "polynomial, degree 3": Polynomial(gamma=1.0, degree=3, coef0=1.0),
    "Gaussian, width 0.5": Gaussian(0.5),
    "linear + Gaussian": Linear() + Gaussian(0.5),
    "linear * Gaussian": Linear() * Gaussian(0.5),
    "Gaussian of |x|": Gaussian(0.5).after(np.abs),
}
fig, axes = plt.subplots(2, 3, figsize=(8, 5.4), layout="constrained")
for (name, kernel), ax in zip(kernels.items(), axes.flat):
    K = kernel.gram(x)
    ax.imshow(K, cmap="RdBu_r", vmin=-abs(K).max(), vmax=abs(K).max())
    ax.set(title=name, xticks=[], yticks=[])
    found = is_kernel(K)
    print(f"{name:21s} smallest eigenvalue {found.smallest:8.1e}, a kernel: {found.valid}")
_ = fig.suptitle("kernel matrices: blue negative, white 0, red positive", fontsize=10)

# %%
# x'B x' is a kernel where B is positive semi-definite; another B is refused.

Bilinear([[2.0, 1.0], [1.0, 2.0]])
try:
    Bilinear([[1.0, 2.0], [2.0, 1.0]])
except ValueError as error:
    print(error)

# %%
# What is none
# ------------
# A distance, the difference of two kernels, a polynomial with a negative constant and the
# hyperbolic tangent look like similarities. Their eigenvalues tell.

similar = {
    "Gaussian": Gaussian(0.5).gram(x),
    "minus the distance": -abs(x - x.T),
    "Gaussian - linear": Gaussian(0.5).gram(x) - Linear().gram(x),
    "(x x' - 1)²": (x @ x.T - 1) ** 2,
    "tanh(x x' - 1)": np.tanh(x @ x.T - 1),
}
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for place, K in enumerate(similar.values()):
    values = np.linalg.eigvalsh(K)
    colours = np.where(values < -is_kernel(K).tolerance, ORANGE, BLUE)
    heights = np.full(len(values), place)
    ax.scatter(values / abs(values).max(), heights, s=40, marker="|", color=colours)
ax.axvline(0, color=GREY, lw=0.8, zorder=0)
ax.set(yticks=range(len(similar)), yticklabels=similar)
ax.set_xlabel("eigenvalues, divided by the largest in size; negative ones in orange")
ax.invert_yaxis()
ax.spines[["top", "right", "left"]].set_visible(False)
print(is_kernel(similar["minus the distance"]).advice)

# %%
# Strings
# -------
# Points need not be numbers. `Spectrum(k)` counts the substrings of k letters that two strings
# share. Here all strings are random but for six letters, the same ones in two orders: tataat and
# ttaata. Single letters do not tell them apart, four letters do.

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 30)
texts = []
for label in y:
    around, at = "".join(rng.choice(list("acgt"), 10)), rng.integers(0, 10)
    texts.append(around[:at] + ("tataat", "ttaata")[label] + around[at:])
print(texts[:2], texts[-2:])

fig, axes = plt.subplots(1, 3, figsize=(9, 3.5), layout="constrained")
for k, ax in zip((1, 2, 4), axes):
    spectrum = Spectrum(k, normalised=True)
    path = chemin.svc_path(texts, y, kernel=spectrum)
    wrong = (path.leave_one_out(path.breakpoints) > 0) != (y > 0)[:, None]
    ax.imshow(spectrum.gram(texts), cmap="Greys", vmin=0, vmax=1)
    ax.set(title=f"k = {k}: {wrong.sum(axis=0).min()} of {len(y)} wrong", xticks=[], yticks=[])
axes[0].set_ylabel("30 strings of each kind")
_ = fig.suptitle("spectrum kernels, and leave-one-out errors at the best λ", fontsize=10)
