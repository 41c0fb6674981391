"""Random pairs of a criterion and a model, for choices by brute force (see `chosen`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from chemin.selection import (
    Bootstrap632,
    BootstrapLeaveOneOut,
    CrossValidation,
    Family,
    GraphFamily,
    LeaveOneOut,
    Split,
)

CLASSIFIERS = ("svc", "quadratic_svc", "l1_svc", "laplacian_svc")
LINEAR = ("lasso", "elastic_net", "garrote", "ridge", "adaptive_ridge", "l1_svc")
# Values of models on fewer rows are those of as many rows less.
PER_ROW = ("lasso", "garrote", "ridge", "adaptive_ridge", "elastic_net")
FIRST = ("svc", "svc", "svc", "svr", "nu_svr", "lasso", "lasso", "quantile")
MORE = (
    "quadratic_svc",
    "quadratic_svr",
    "expectile",
    "kernel_ridge",
    "quantile in tau",
    "svc in cost",
    "laplacian_svc",
    "l1_svc",
    "elastic_net",
    "garrote",
    "ridge",
    "adaptive_ridge",
    "lasso with more",
)
CLASSIFICATION = ("accuracy", "balanced_accuracy", "neg_hinge_loss", "loss", None)
REGRESSION = ("neg_mean_squared_error", "neg_mean_absolute_error", "r2", "loss", None)
UNLABELLED = -1  # of a Laplacian SVM


@dataclass
class Pair:
    """One criterion and one model, drawn at random."""

    name: str
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    options: dict
    criterion: object
    scoring: str | None
    describe: str = ""
    class_weight: dict | None = None
    graph: np.ndarray | None = None

    @property
    def given(self):
        return np.ones(len(self.y)) if self.weight is None else self.weight

    @property
    def w(self):
        """What a row counts: nothing without a label."""
        return self.given if self.graph is None else self.given * (self.y != UNLABELLED)

    @property
    def is_classifier(self):
        return self.name in CLASSIFIERS

    def family(self):
        options = dict(self.options)
        if self.class_weight is not None:
            options["class_weight"] = self.class_weight
        if self.graph is not None:
            laplacian = csr_array(np.diag(self.graph.sum(axis=0)) - self.graph)
            options |= {"laplacian": laplacian, "sample_weight": self.weight}
            return GraphFamily(self.X, self.y, **options)
        return Family(self.name, self.X, self.y, sample_weight=self.weight, **options)


def draw(seed):
    """Of the machines with straight paths, and the lasso."""
    rng = np.random.default_rng(seed)
    return _drawn(seed, rng, str(rng.choice(FIRST)))


def draw_more(seed):
    """Of all others that have exact curves, in turns."""
    return _drawn(seed, np.random.default_rng([seed, 1]), MORE[seed % len(MORE)])


def _drawn(seed, rng, which):
    name = which.split()[0]
    n, d = int(rng.integers(14, 32)), int(rng.integers(1, 5))
    X, kind = _points(rng, n, d)
    classes = name in CLASSIFIERS
    y = _target(rng, X, classes)
    weight, how = _weights(rng, n)
    options = _options(which, name, rng)
    scoring = (CLASSIFICATION if classes else REGRESSION)[rng.integers(5)]
    if scoring == "loss" and (name in (*PER_ROW, "nu_svr") or "along" in options):
        scoring = None
    if scoring is None and options.get("along") == "tau":
        scoring = "neg_mean_absolute_error"
    criterion = _criterion(rng, classes, n, scoring)
    if scoring == "r2" and not isinstance(criterion, CrossValidation):
        criterion.scoring = scoring = "neg_mean_squared_error"
    graph = None
    if name == "laplacian_svc":
        y, graph = _partly_labelled(rng, X, y)
    known = y if graph is None else y[y != UNLABELLED]
    class_weight = {k: float(rng.uniform(0.5, 3)) for k in np.unique(known)} if classes else None
    class_weight = class_weight if rng.random() < 0.3 else None
    describe = f"{seed}: {name} {options} {kind} weights {how} {criterion!r} {class_weight}"
    return Pair(name, X, y, weight, options, criterion, scoring, describe, class_weight, graph)


def _points(rng, n, d):
    X = rng.normal(size=(n, d))
    kind = str(rng.choice(["normal", "whole", "repeated"]))
    if kind == "whole":
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
    elif kind == "repeated":
        X = X[rng.integers(0, n, size=n)]
    return X, kind


def _target(rng, X, classes):
    n, signal = len(X), X[:, 0] * rng.choice([0.0, 1.0, 2.0])
    if not classes:
        y = signal + rng.normal(size=n)
        return np.round(y) if rng.random() < 0.3 else y
    y = np.where(signal + rng.normal(size=n) > rng.choice([0.0, 0.5]), 1, -1)
    y[:4], y[4:8] = 1, -1
    return np.where(y > 0, *[("b", "a"), (1, 0), (1.5, 0.5), (1, -1)][rng.integers(4)])


def _partly_labelled(rng, X, y):
    """A third of the labels hidden, and a graph of points that are near."""
    y = np.where(y == y[0], 1, 0)
    y[8:] = np.where(rng.random(len(y) - 8) < 1 / 3, UNLABELLED, y[8:])
    distance = np.abs(X[:, None] - X[None]).sum(axis=2)
    near = distance <= np.quantile(distance, 0.3)
    return y, near * (1.0 - np.eye(len(y)))


def _weights(rng, n):
    weight = None
    how = str(rng.choice(["none", "none", "whole", "any"]))
    if how == "whole":
        weight = rng.integers(0, 4, size=n).astype(float)
        weight[:8] = np.maximum(weight[:8], 1)
    elif how == "any":
        weight = rng.uniform(0.3, 2.0, size=n)
    return weight, how


def _options(which, name, rng):
    options = {"intercept": bool(rng.random() < 0.8)}
    if name in LINEAR:
        return options | _linear_options(which, name, rng)
    options |= [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": "scale"},
        {"kernel": "rbf", "gamma": 0.5},
        {"kernel": "poly", "gamma": "scale", "degree": 2, "coef0": 1.0},
    ][rng.integers(4)]
    if name == "svr":
        options["epsilon"] = float(rng.choice([0.0, 0.3]))
        if rng.random() < 0.3:
            options |= {"along": "epsilon", "lambda_": 1.0, "stop": 0.01}
            del options["epsilon"]
    elif name == "nu_svr":
        options |= {"nu": float(rng.choice([0.3, 0.55])), "intercept": True}
        if rng.random() < 0.4:
            options |= {"along": "nu", "lambda_": 1.0, "stop": 0.1}
            del options["nu"]
    elif name in ("quantile", "expectile"):
        options["tau"] = float(rng.choice([0.3, 0.5]))
    elif name in ("quadratic_svc", "quadratic_svr"):
        options["h"] = float(rng.choice([np.inf, 0.5, 0.1]))
        if name == "quadratic_svr":
            options["epsilon"] = float(rng.choice([0.0, 0.3]))
    elif name == "laplacian_svc":
        options |= {"lambda2": float(rng.choice([0.1, 1.0])), "rho": float(rng.choice([0.0, 5.0]))}
    if which in ("quantile in tau", "svc in cost"):
        options |= {"along": which.split()[-1], "lambda_": float(rng.choice([0.1, 1.0]))}
        options.pop("tau", None)
    return options


def _linear_options(which, name, rng):
    if name in ("elastic_net", "l1_svc"):
        return {"lambda2": float(rng.choice([0.0, 0.5, 5.0]))}
    if name == "garrote":
        return {"ridge": float(rng.choice([0.0, 0.5]))}
    if name in ("ridge", "adaptive_ridge"):
        return {"standardize": bool(rng.random() < 0.5)}
    if which == "lasso with more":
        return {"standardize": bool(rng.random() < 0.5), "positive": bool(rng.random() < 0.5)}
    return {}


def _criterion(rng, classes, n, scoring):
    state = int(rng.integers(1000))
    k = int(rng.integers(7))
    if k < 2:
        return CrossValidation(int(rng.integers(2, 4)), scoring=scoring)
    if k == 2:
        kind = StratifiedKFold if classes else KFold
        return CrossValidation(kind(3, shuffle=True, random_state=state), scoring=scoring)
    if k == 3:
        return CrossValidation(GroupKFold(2), groups=np.arange(n) % 5, scoring=scoring)
    if k == 4:
        return Split(0.5, random_state=state, scoring=scoring)
    if k == 5:
        return LeaveOneOut(scoring=scoring)
    kind = BootstrapLeaveOneOut if rng.random() < 0.5 else Bootstrap632
    return kind(2, random_state=state, scoring=scoring)
