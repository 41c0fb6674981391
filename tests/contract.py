"""The contract that every problem must pass, and the list of problems.

A problem joins by one line in CASES; `test_contract.py` does the rest.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from chemin import (
    Path,
    adaptive_ridge_path,
    elastic_net_path,
    expectile_path,
    garrote_path,
    kernel_ridge_path,
    l1_svc_path,
    laplacian_svc_path,
    lasso_path,
    nu_svr_path,
    one_class_path,
    quadratic_svc_path,
    quadratic_svr_path,
    quantile_path,
    ridge_path,
    svc_path,
    svr_path,
)
from chemin.problems.machine import DUST

ROUND_OFF = "round-off"  # the one reason for which a path may end before its stop


@dataclass(frozen=True)
class Case:
    """One problem: its name, what makes a path of it, its kind of target, and its loss once more.

    `make(X, y, sample_weight=..., **options)` gives a path. `loss(at, y, s, f)` are the losses of
    points for the solution `s` with values f, at the parameters of `at`; labels are -1 and 1.
    `powers` says how lambda grows when X (with a linear kernel), y or the weights are multiplied:
    lambda times factor ** power, and `f_powers` says the same of f. `nasty` has the options that
    random problems are drawn with.
    """

    name: str
    make: Callable[..., Path]
    target: str  # "labels", "numbers" or "none"
    loss: Callable[..., Any]
    nasty: dict[str, list[Any]] = field(default_factory=dict)
    powers: dict[str, int] = field(default_factory=lambda: {"X": 2, "w": 1, "y": -1})
    f_powers: dict[str, int] = field(default_factory=lambda: {"X": 0, "w": 0, "y": 1})
    # Of linear problems: (X, y, w, intercept) -> prices of |b_j|, and signs that b_j may have.
    prices: Callable[..., Any] = lambda X, *rest: np.ones(X.shape[1])
    signs: Callable[..., Any] | None = None

    @property
    def has_kernel(self) -> bool:
        return "kernel" in self.arguments

    @property
    def arguments(self) -> Any:
        return inspect.signature(self.make).parameters

    def __call__(
        self, X: Any, y: Any, w: Any = None, *, sample_weight: Any = None, **options: Any
    ) -> Path:
        if not self.has_kernel:
            options = {k: v for k, v in options.items() if k not in KERNEL_OPTIONS}
        return self.make(X, y, sample_weight=sample_weight if w is None else w, **options)


KERNEL_OPTIONS = ("kernel", "gamma", "degree", "coef0", "check_psd")


def one_class(
    X: Any, y: Any, *, kernel: Any = "rbf", intercept: bool = True, **options: Any
) -> Path:
    """There is no target, and always an intercept."""
    return one_class_path(X, kernel=kernel, **options)


def partly_labelled(X: Any, y: Any, *, kernel: Any = "rbf", **options: Any) -> Path:
    """A third of the points have no label; one of each class keeps its own."""
    labels = np.where(np.arange(len(y)) % 3 == 2, -1, y)
    for kept in (np.argmin(y), np.argmax(y)):
        labels[kept] = y[kept]
    neighbours = min(7, len(y) - 1)
    return laplacian_svc_path(X, labels, kernel=kernel, n_neighbors=neighbours, **options)


def bending_at(kinks: Callable[..., list[Any]], curved: bool = False) -> Callable[[Any], Any]:
    """A loss that is linear or (`curved`) quadratic between the values of f given, rising."""

    def mark(loss: Any) -> Any:
        loss.kinks, loss.curved = kinks, curved
        return loss

    return mark


@bending_at(lambda at, y, s: [y])
def hinge(at: Any, y: Any, s: Any, f: Any) -> Any:
    return np.where(y > 0, 2 * at.cost, 2 * (1 - at.cost)) * np.maximum(0, 1 - y * f)


@bending_at(lambda at, y, s: [y - at.epsilon, y + at.epsilon])
def tube(at: Any, y: Any, s: Any, f: Any) -> Any:
    return np.maximum(0, np.abs(y - f) - at.epsilon)


@bending_at(lambda at, y, s: [y - s.epsilon, y + s.epsilon])
def own_tube(at: Any, y: Any, s: Any, f: Any) -> Any:
    return np.maximum(0, np.abs(y - f) - s.epsilon) + at.nu * s.epsilon


@bending_at(lambda at, y, s: [y])
def pinball(at: Any, y: Any, s: Any, f: Any) -> Any:
    return np.maximum(at.tau * (y - f), (at.tau - 1) * (y - f))


@bending_at(lambda at, y, s: [0.0 * y])
def outside(at: Any, y: Any, s: Any, f: Any) -> Any:
    return np.maximum(0, -f) + at.nu * s.intercept


def quadratic_hinge(at: Any, y: Any, s: Any, f: Any) -> Any:
    m, h = y * f, at.h
    far = 0.0 if np.isinf(h) else 2 * h * (at.rho - m) - h * h
    return 0.5 * np.where(m > at.rho, 0.0, np.where(m < at.rho - h, far, (at.rho - m) ** 2))


squared_hinge = bending_at(lambda at, y, s: [at.rho * y], curved=True)(
    lambda at, y, s, f: quadratic_hinge(at, y, s, f)
)
huber_hinge = bending_at(
    lambda at, y, s: np.sort([(at.rho - at.h) * y, at.rho * y], axis=0), curved=True
)(lambda at, y, s, f: quadratic_hinge(at, y, s, f))


@bending_at(
    lambda at, y, s: [y - at.epsilon - at.h, y - at.epsilon, y + at.epsilon, y + at.epsilon + at.h],
    curved=True,
)
def huber_tube(at: Any, y: Any, s: Any, f: Any) -> Any:
    u = np.maximum(0, np.abs(y - f) - at.epsilon)
    return 0.5 * np.where(u < at.h, u**2, 2 * at.h * u - at.h**2)


@bending_at(lambda at, y, s: [y - at.epsilon, y + at.epsilon], curved=True)
def squared_tube(at: Any, y: Any, s: Any, f: Any) -> Any:
    return 0.5 * np.maximum(0, np.abs(y - f) - at.epsilon) ** 2


@bending_at(lambda at, y, s: [y], curved=True)
def asymmetric(at: Any, y: Any, s: Any, f: Any) -> Any:
    return 0.5 * np.where(y > f, at.tau, 1 - at.tau) * (y - f) ** 2


def square(at: Any, y: Any, s: Any, f: Any) -> Any:
    return 0.5 * (y - f) ** 2


def rooted(X: Any, y: Any, w: Any, intercept: bool) -> tuple[Any, Any]:
    """Columns and target centred, rows times the roots of their weights."""
    mean = (np.average(a, axis=0, weights=w) if intercept else 0.0 for a in (X, y))
    root = np.sqrt(w)
    return root[:, None] * (X - next(mean)), root * (y - next(mean))


EPSILONS, LAMBDAS, NUS, TAUS = (
    [0.0, 0.1, 0.5, 1.0],
    [0.01, 1.0, 100.0],
    [0.01, 0.1, 0.5, 0.75, 0.99],
    [0.02, 0.3, 0.5, 0.9],
)
SQUARED = {"X": 2, "w": 1, "y": 0}  # powers of squared errors
RBF = [{"kernel": "rbf", "gamma": g} for g in (0.01, 0.1, 1.0, 10.0, 100.0)]

CASES = [
    Case("svc in lambda", svc_path, "labels", hinge, {"stop": [None, None, 0.0]}),
    Case(
        "svc in cost",
        partial(svc_path, along="cost", lambda_=0.3),
        "labels",
        hinge,
        {"lambda_": LAMBDAS},
    ),
    Case(
        "svr in lambda",
        partial(svr_path, epsilon=0.2),
        "numbers",
        tube,
        {"epsilon": EPSILONS, "stop": [None, None, 0.0]},
    ),
    Case(
        "svr in epsilon",
        partial(svr_path, along="epsilon", lambda_=0.3),
        "numbers",
        tube,
        {"lambda_": LAMBDAS, "stop": [None, 0.0]},
    ),
    Case("nu-svr in lambda", partial(nu_svr_path, nu=0.31), "numbers", own_tube, {"nu": NUS}),
    Case("nu-svr with a closing tube", partial(nu_svr_path, nu=0.83), "numbers", own_tube),
    Case(
        "nu-svr in nu",
        partial(nu_svr_path, along="nu", lambda_=0.3),
        "numbers",
        own_tube,
        {"lambda_": LAMBDAS},
    ),
    Case("quantile in lambda", partial(quantile_path, tau=0.3), "numbers", pinball, {"tau": TAUS}),
    Case(
        "quantile in tau",
        partial(quantile_path, along="tau", lambda_=0.3),
        "numbers",
        pinball,
        {"lambda_": LAMBDAS},
    ),
    Case("squared hinge in lambda", quadratic_svc_path, "labels", squared_hinge),
    Case(
        "huber hinge in lambda",
        partial(quadratic_svc_path, rho=1.1, h=0.2),
        "labels",
        huber_hinge,
        {"rho": [0.5, 1.0, 1.1], "h": [0.01, 0.2, 1.0, 3.0, np.inf]},
    ),
    Case(
        "squared tube in lambda",
        partial(quadratic_svr_path, epsilon=0.2),
        "numbers",
        squared_tube,
        {"epsilon": EPSILONS},
        powers=SQUARED,
    ),
    Case(
        "huber tube in lambda",
        partial(quadratic_svr_path, epsilon=0.2, h=0.7),
        "numbers",
        huber_tube,
        {"epsilon": EPSILONS, "h": [0.01, 0.5, 2.0, np.inf]},
        powers=SQUARED,
    ),
    Case(
        "expectile in lambda",
        partial(expectile_path, tau=0.3),
        "numbers",
        asymmetric,
        {"tau": TAUS},
        powers=SQUARED,
    ),
    Case(
        "one-class in nu", one_class, "none", outside, {"kernels": RBF}, f_powers={"X": 2, "w": 1}
    ),
    Case(
        "lasso in lambda",
        lasso_path,
        "numbers",
        square,
        {"stop": [None, 0.0]},
        powers={"X": 1, "w": 1, "y": 1},
    ),
    Case(
        "positive lasso in lambda",
        partial(lasso_path, positive=True),
        "numbers",
        square,
        {"stop": [None, 0.0]},
        powers={"X": 1, "w": 1, "y": 1},
        signs=lambda X, *rest: np.ones(X.shape[1]),
    ),
    Case(
        "standardised lasso in lambda",
        partial(lasso_path, standardize=True),
        "numbers",
        square,
        {"stop": [None, 0.0]},
        powers={"X": 0, "w": 1, "y": 1},
        prices=lambda *data: np.sqrt(np.sum(rooted(*data)[0] ** 2, axis=0) / np.sum(data[2])),
    ),
    Case(
        "garrote in lambda",
        garrote_path,
        "numbers",
        square,
        {"stop": [None, 0.0]},
        powers={"X": 0, "w": 1, "y": 2},
        prices=lambda *data: 1 / np.abs(np.linalg.lstsq(*rooted(*data))[0]),
        signs=lambda *data: np.sign(np.linalg.lstsq(*rooted(*data))[0]),
    ),
]


RIDGES = [0.0, 1e-5, 0.01, 1.0]

# Problems whose other tests are their own: random nasty recipes alone are drawn for them.
MORE = [
    Case(
        "l1-svc in lambda",
        l1_svc_path,
        "labels",
        hinge,
        {"lambda2": RIDGES, "stop": [None, None, 0.0]},
    ),
    Case(
        "laplacian svc in lambda1",
        partly_labelled,
        "labels",
        hinge,
        {"lambda2": RIDGES[1:], "rho": [0.0, 1.0, 100.0], "stop": [None, None, 0.0]},
    ),
    Case(
        "laplacian svc in lambda2",
        partial(partly_labelled, along="lambda2"),
        "labels",
        hinge,
        {"lambda1": [0.01, 0.1, 1.0], "rho": [0.0, 1.0, 100.0]},
    ),
    Case(
        "elastic net in lambda1",
        elastic_net_path,
        "numbers",
        square,
        {"lambda2": RIDGES, "stop": [None, 0.0]},
    ),
    Case("ridge in lambda", ridge_path, "numbers", square),
    Case("adaptive ridge in mu", adaptive_ridge_path, "numbers", square, {"stop": [None, 0.0]}),
    Case("kernel ridge in lambda", kernel_ridge_path, "numbers", square),
]


LABELS, NUMBERS = (
    next(c for c in CASES if c.name == n) for n in ("svc in lambda", "svr in lambda")
)


# ---------------------------------------------------------------------- data


def make_data(case: Case, n: int = 40, d: int = 5, seed: int = 0) -> tuple[Any, Any]:
    """Points in general position: no two events at one value. Classes are unbalanced."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = X[:, 0] - 0.7 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    if case.target == "none":
        return X + 3.0, f  # around the origin a linear kernel has nothing to say
    return X, (f > -0.3).astype(int) if case.target == "labels" else 3.0 + 2.0 * f


def make_tied(case: Case, n: int = 30, seed: int = 0) -> tuple[Any, Any]:
    """Integer points, many of them repeated, with equal and with opposite targets."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    y = (X.sum(axis=1) + rng.integers(-1, 2, size=n) > 2).astype(int)
    return X, y if case.target == "labels" else y + X[:, 0]


# ---------------------------------------------------------------------- oracles


def walked_values(path: Path, n_random: int = 200, seed: int = 0) -> np.ndarray:
    """Every breakpoint, every midpoint and log-uniform random values of what has been walked."""
    ends = np.array([path.start, path.stop])
    low, high = ends.min(), ends.max()
    knots = np.unique(np.concatenate([path.breakpoints, ends]))
    knots = knots[(knots >= low) & (knots <= high)]
    lowest = max(low, 1e-12 * high)  # for walks that end at zero
    spread = np.exp(np.random.default_rng(seed).uniform(np.log(lowest), np.log(high), n_random))
    spread = np.clip(spread, low, high)
    return np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1]), spread])


def inexact(
    path: Path, *, above: bool = True, n_random: int = 200, blind: bool = False
) -> list[str]:
    """What is wrong with a path; empty when it is certified exact everywhere.

    `blind`: solutions may also be not certifiable, for round-off; never wrong.
    """
    values = walked_values(path, n_random)
    if path.parameter == "lambda":
        values = values[values > 0]  # f is a limit there
    if above:
        values = np.concatenate([values, above_start(path, [1.0 + 1e-9, 1.5, 10.0, 1e4])])
    c = path.certificate(values)
    bad = np.flatnonzero(c.verdict == "wrong" if blind else ~np.asarray(c.exact))
    return [
        f"{path.parameter} = {values[i]!r} ({values[i] / path.start:.3g} of the start): violation "
        f"{c.kkt_violation[i]:.2e}, gap {c.relative_gap[i]:.2e}, floor {c.floor[i]:.1e}"
        for i in bad[:5]
    ] + ([f"... {len(bad)} of {len(values)} values are not exact: {path!r}"] if len(bad) else [])


def beside_breakpoints(path: Path) -> np.ndarray:
    """Just above and just below every breakpoint, as near as numbers get."""
    near = np.array([s * f * 10.0**-k for k in range(7, 16) for s in (1, -1) for f in (1, 3)])
    knots = np.unique(path.breakpoints)
    return within(path, np.outer(knots, 1.0 + near).ravel())


def bottom(path: Path) -> float:
    """The lower end of what has been walked."""
    return min(path.start, path.stop)


def between(path: Path, fraction: float) -> float:
    """A value inside of what has been walked, this part of the start where the walk goes down."""
    if path.stop > path.start:
        return path.start + (1.0 - fraction) * (path.stop - path.start)
    return fraction * path.start


def within(path: Path, values: Any) -> np.ndarray:
    """Those of the values at which a path is known."""
    values = np.asarray(values)
    top = np.inf if path.closed_above else max(path.start, path.stop)
    return values[(values >= bottom(path)) & (values <= top)]


def above_start(path: Path, factors: Any) -> np.ndarray:
    """Values above the walked range, where the closed form holds; nu ends at 1."""
    if not path.closed_above:
        return np.empty(0)
    values = max(path.start, path.stop) * np.array(factors)
    return np.minimum(values, 1.0) if path.parameter == "nu" else values


def assert_exact(path: Path, **options: Any) -> None:
    """The path's own certificates hold at every breakpoint, between them and above the start."""
    wrong = inexact(path, **options)
    assert not wrong, "\n".join(wrong)


def assert_ordered(path: Path) -> None:
    """Breakpoints never turn back, and lie between the start and the stop."""
    way = np.sign(path.stop - path.start)
    steps = way * np.diff(np.concatenate([[path.start], path.breakpoints, [path.stop]]))
    slack = 1e-12 * max(abs(path.start), abs(path.stop))
    assert np.all(steps >= -slack), f"turns back by {-steps.min():.3g}"


def assert_walked(path: Path, **options: Any) -> None:
    """Complete, or stopped at the floor of double precision; exact all along, in order."""
    assert path.complete or ROUND_OFF in path.reason, path.reason
    assert_ordered(path)
    assert_exact(path, **options)


def random_values(path: Path, n: int = 50, seed: int = 1, low: float = 0.0) -> np.ndarray:
    """Log-uniform values of what has been walked, and a few above the start."""
    bottom, top = sorted([path.start, path.stop])
    bottom = max(bottom, low, 1e-9 * top)
    spread = np.exp(np.random.default_rng(seed).uniform(np.log(bottom), np.log(top), n))
    return np.concatenate([np.clip(spread, bottom, top), above_start(path, [1.01, 20.0])])


def kernel_part(path: Path, X: Any, values: Any) -> np.ndarray:
    """f without its intercept: continuous, and unique at every value."""
    intercepts = np.array([path.at(v).intercept for v in np.atleast_1d(values)])
    return path.decision_function(X, np.atleast_1d(values)) - intercepts


def bends(path: Path, X: Any, low: float = 0.0) -> np.ndarray:
    """Breakpoints above `low` at which f bends.

    Others are no property of the problem: an event while the elbow is empty (it is the intercept
    that moves), or multipliers handed from one copy of a point to another.
    """
    knots = distinct(path.breakpoints)
    knots = knots[(knots > low) & (knots > 0)]
    if not path.closed_above:
        knots = knots[(knots > bottom(path)) & (knots < max(path.start, path.stop))]
    if path.parameter == "nu":
        knots = knots[knots < 1.0 - 1e-9]  # there is nothing beyond
    if len(knots) < 2:
        return knots
    top = above_start(path, [1.5 * knots[-1] / path.start])
    top = top if len(top) else [max(path.start, path.stop)]
    ends = np.concatenate([[max(low, bottom(path), 0.5 * knots[0])], knots, top])
    middles = 0.5 * (ends[1:] + ends[:-1])
    unit = (lambda v: v) if path.parameter == "lambda" else np.ones_like
    at, around = (unit(v) * kernel_part(path, X, v) for v in (knots, middles))
    rate = np.abs(np.diff(around) / np.diff(middles)).max(axis=0)
    slopes = [(around[:, s] - at) / (middles[s] - knots) for s in (slice(1, None), slice(-1))]
    change = np.abs(slopes[0] - slopes[1]).max(axis=0)
    if not at.any():
        return knots[:0]
    size = np.abs(at).max()
    # Where f stands still on both sides its slopes are round-off, of the size that floors tell, or
    # of multipliers that walks do not tell from zero.
    near = np.minimum(middles[1:] - knots, knots - middles[:-1])
    noise = np.maximum(DUST, 10 * path.certificate(knots).floor)
    seen = change * near > noise * size
    return knots[seen & (change > 1e-6 * np.maximum(rate, 1e-9 * size / knots))]


def distinct(breakpoints: Any, rel: float = 1e-9) -> np.ndarray:
    """Breakpoints without repetitions."""
    b = np.unique(breakpoints)
    keep = np.concatenate([[True], np.diff(b) > rel * np.abs(b[1:])]) if len(b) else b.astype(bool)
    return b[keep]
