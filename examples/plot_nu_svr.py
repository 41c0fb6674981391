"""
A tube that finds its own width
===============================

The nu-SVR is told which share of the points may lie outside its tube, and finds the width itself.
On its path the model and its tube are known for every λ.
"""

# %%
# The curve and its tube
# ----------------------
# sin(exp(3x)) oscillates faster and faster. ``PathNuSVR`` chooses λ by cross-validation: no more
# than 30 % of the points may lie outside.

import matplotlib.pyplot as plt
import numpy as np

import chemin

X, y = chemin.datasets.make_sinexp(150, 0, noise=0.2)
model = chemin.PathNuSVR(nu=0.3, gamma=300.0, stop=0.03).fit(X, y)
residuals = np.abs(y - model.predict(X))
outside = residuals > model.epsilon_ + 1e-9
print(f"lambda_ = {model.lambda_:.3g}, epsilon_ = {model.epsilon_:.3g}")
print(f"{outside.mean():.1%} outside, {len(model.support_) / len(y):.1%} support vectors")

x = np.linspace(0, 1, 500)
f = model.predict(x[:, None])
figure, ax = plt.subplots(layout="constrained")
low, high = f - model.epsilon_, f + model.epsilon_
ax.fill_between(x, low, high, alpha=0.2, label="tube")
ax.plot(x, f, label="model")
ax.plot(x, np.sin(np.exp(3 * x)), "--", color="0.5", linewidth=1, label="sin(exp(3x))")
ax.plot(X[~outside, 0], y[~outside], ".", color="0.4", label="points inside, or on the edge")
ax.plot(X[outside, 0], y[outside], "x", color="C3", label="points outside")
ax.set(xlabel="x", ylabel="y", title=f"nu = {model.nu_:g}, λ = {model.lambda_:.3g}")
_ = ax.legend(ncols=2, loc="lower left", fontsize="small")
_ = ax.set_ylim(top=1.9, bottom=-2.9)

# %%
# The width along the path
# ------------------------
# Every solution has its tube, for any nu. With a large nu the tube closes where the model has
# become flexible enough.

figure, ax = plt.subplots(layout="constrained")
for nu in (0.1, 0.3, 0.6, 0.9):
    path = chemin.nu_svr_path(X, y, nu=nu, gamma=300.0, stop=0.03)
    values = np.geomspace(path.start, path.stop, 150)
    ax.plot(values, [path.at(v).epsilon for v in values], label=f"nu = {nu:g}")
ax.plot(model.lambda_, model.epsilon_, "o", color="k", label="chosen")
ax.set(xscale="log", xlabel="λ = 1/C", ylabel="epsilon, half the width of the tube")
ax.invert_xaxis()
_ = ax.legend()

# %%
# The other way round
# -------------------
# From the chosen solution the walk turns and goes on along nu: the same λ, every width.

across = model.path_.turn("nu", at=model.lambda_, stop=0.05)
for nu in (0.3, 0.2, 0.1, 0.05):
    print(f"nu = {nu:g}: epsilon = {across.at(nu).epsilon:.3f}")

# %%
# And leave-one-out at the chosen λ: what the model says at each point without having seen it.

errors = np.abs(y - model.path_.leave_one_out(model.lambda_))
print(f"mean absolute error {residuals.mean():.3f}, leave-one-out {errors.mean():.3f}")
