"""
Every quantile of a noisy curve
===============================

The noise of these data grows from left to right, so one curve through their middle says little.
A path in tau has all quantiles of y given x, each of them exact.
"""

# %%
# The fan
# -------
# 200 points of a sine whose noise has a standard deviation from 0.05 to 0.65. One walk along tau,
# from 0.0001 to 0.9999, at a fixed λ.

import matplotlib.pyplot as plt
import numpy as np

import chemin

rng = np.random.default_rng(0)
x = rng.uniform(size=200)
y = np.sin(6 * x) + (0.05 + 0.6 * x) * rng.normal(size=200)
path = chemin.quantile_path(x[:, None], y, along="tau", lambda_=0.1, gamma=5.0)
path

# %%
# The shades lie between pairs of quantiles, tau and 1 - tau. Five quantiles are drawn as lines.

grid = np.linspace(0, 1, 300)
outer = np.linspace(0.02, 0.5, 25)
low, high = (path.predict(grid[:, None], taus) for taus in (outer, 1 - outer))
lines = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
curves = path.predict(grid[:, None], lines)

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for j in range(len(outer)):
    ax.fill_between(grid, low[:, j], high[:, j], color="#0072b2", alpha=0.045, lw=0)
ax.plot(x, y, ".", ms=4, color="#222222")
for tau, curve in zip(lines, curves.T):
    middle = tau == 0.5
    ax.plot(grid, curve, color="#d55e00" if middle else "#0072b2", lw=2 if middle else 0.9)
    ax.annotate(
        f"τ = {tau:g}", (1, curve[-1]), (6, 0), textcoords="offset points", va="center", fontsize=9
    )
ax.set(xlabel="x", ylabel="y", xlim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)

# %%
# Calibrated by construction
# --------------------------
# At every tau the share of points below the curve is at most tau, and with the points on the curve
# it is at least tau. This holds at any λ.

taus = np.linspace(0.01, 0.99, 99)
below, up_to = path.fractions_below(taus)
holds = (below <= taus) & (taus <= up_to)
print(f"true at {holds.sum()} of {len(taus)} values")

# %%
# Where quantiles cross
# ---------------------
# Each quantile is fitted by itself, so a higher one may come to lie below a lower one. A path
# shows where: f at a point falls while tau grows. Small falls are common; those by more than 0.02
# are drawn in orange, at three points and for two models. With strong regularisation they stay in
# the tails, where few points decide. With too little they come everywhere.

wiggly = chemin.quantile_path(x[:, None], y, along="tau", lambda_=0.01, gamma=50.0)
at = np.array([0.25, 0.5, 0.8])
taus = np.linspace(0.001, 0.999, 2000)

fig, axes = plt.subplots(1, 2, figsize=(8.5, 4), sharey=True, layout="constrained")
for ax, model, name in zip(axes, (path, wiggly), ("smooth", "wiggly")):
    found = model.crossings(at[:, None])
    deep = found[found["drop"] > 0.02]
    print(f"{name}: {len(deep)} falls, the deepest by {found['drop'].max():.2f}")
    f = model.predict(at[:, None], taus)
    for k in range(len(at)):
        ax.plot(taus, f[k], color="#0072b2", lw=1.2)
        ax.text(0.28, f[k, 560] + 0.12, f"x = {at[k]:g}", ha="right")
    for fall in deep:
        span = np.linspace(fall["from"], fall["to"], 50)
        ax.plot(span, model.predict(at[[fall["point"]], None], span)[0], color="#d55e00", lw=3)
    kernel = f"λ = {model.at(0.5).lambda_:g}, γ = {50 if model is wiggly else 5}"
    ax.set(xlabel="τ", xlim=(0, 1), ylim=(-2.2, 1.7), title=f"{name}: {kernel}")
    ax.spines[["top", "right"]].set_visible(False)
_ = axes[0].set_ylabel("quantile of y given x")
