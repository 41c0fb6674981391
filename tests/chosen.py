"""Choices by brute force: every model at a dense set of values, losses and counts by plain loops.

Models come from the public path functions, one for each trial; what is trained on what is read off
the criterion's trials. Nothing else of `chemin.selection` is used to find what is right.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

import chemin
from chemin.selection import (
    Bootstrap632,
    BootstrapLeaveOneOut,
    CrossValidation,
    Family,
    LeaveOneOut,
    Split,
)

GRID = 100  # values of an even grid, besides breakpoints and midpoints
MOST = 12_000  # models evaluated: fewer values for criteria of many trials
NEAR = 1e-8  # relative: on a jump a point has f = 0, and two sides are right
CLASSIFICATION = ("accuracy", "balanced_accuracy", "neg_hinge_loss", "loss", None)
REGRESSION = ("neg_mean_squared_error", "neg_mean_absolute_error", "r2", "loss", None)


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
    start_stop: dict = field(default_factory=dict)

    @property
    def w(self):
        return np.ones(len(self.y)) if self.weight is None else self.weight

    def family(self):
        options = self.options | self.start_stop
        if self.class_weight is not None:
            options["class_weight"] = self.class_weight
        return Family(self.name, self.X, self.y, sample_weight=self.weight, **options)


# ---------------------------------------------------------------------- drawing


def draw(seed):
    rng = np.random.default_rng(seed)
    name = str(rng.choice(["svc", "svc", "svc", "svr", "nu_svr", "lasso", "lasso", "quantile"]))
    n, d = int(rng.integers(14, 32)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    kind = str(rng.choice(["normal", "whole", "repeated"]))
    if kind == "whole":
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
    elif kind == "repeated":
        X = X[rng.integers(0, n, size=n)]
    signal = X[:, 0] * rng.choice([0.0, 1.0, 2.0])
    if name == "svc":
        y = np.where(signal + rng.normal(size=n) > rng.choice([0.0, 0.5]), 1, -1)
        y[:4], y[4:8] = 1, -1
        y = np.where(y > 0, *[("b", "a"), (1, 0), (1.5, 0.5), (1, -1)][rng.integers(4)])
    else:
        y = signal + rng.normal(size=n)
        y = np.round(y) if rng.random() < 0.3 else y
    weight = None
    how = str(rng.choice(["none", "none", "whole", "any"]))
    if how == "whole":
        weight = rng.integers(0, 4, size=n).astype(float)
        weight[:8] = np.maximum(weight[:8], 1)
    elif how == "any":
        weight = rng.uniform(0.3, 2.0, size=n)
    options = _options(name, X, rng)
    classes = name == "svc"
    scoring = (CLASSIFICATION if classes else REGRESSION)[rng.integers(5)]
    if scoring == "loss" and (name in ("lasso", "nu_svr") or "along" in options):
        scoring = None
    criterion = _criterion(rng, classes, n, scoring)
    if scoring == "r2" and not isinstance(criterion, CrossValidation):
        criterion.scoring = scoring = "neg_mean_squared_error"
    class_weight = {k: float(rng.uniform(0.5, 3)) for k in np.unique(y)} if classes else None
    class_weight = class_weight if rng.random() < 0.3 else None
    describe = f"{seed}: {name} {options} {kind} weights {how} {criterion!r} {class_weight}"
    return Pair(name, X, y, weight, options, criterion, scoring, describe, class_weight)


def _options(name, X, rng):
    options = {"intercept": bool(rng.random() < 0.8)}
    if name == "lasso":
        return options
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
    elif name == "quantile":
        options["tau"] = float(rng.choice([0.3, 0.5]))
    return options


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


# ---------------------------------------------------------------------- models by brute force


def gamma_of(X, w):
    """scikit-learn's "scale", each row counted by its weight."""
    mean = sum(wi * xi.sum() for wi, xi in zip(w, X)) / (w.sum() * X.shape[1])
    var = sum(wi * ((xi - mean) ** 2).sum() for wi, xi in zip(w, X)) / (w.sum() * X.shape[1])
    return 1.0 / (X.shape[1] * var) if var > 0 else 1.0


def path_of(pair, rows, times=None, stop=None):
    """The path on some rows, by its public function, and what a value is multiplied by there."""
    w = pair.w[rows] * (1.0 if times is None else times)
    options = pair.options | pair.start_stop
    if stop is not None:
        options["stop"] = stop
    if options.get("gamma") == "scale":
        used = w > 0
        options["gamma"] = gamma_of(pair.X[rows][used], w[used])
    if pair.class_weight is not None:
        options["class_weight"] = pair.class_weight
    share = w.sum() / pair.w.sum() if pair.name == "lasso" else 1.0
    if options.get("stop") is not None:
        options["stop"] *= share
    make = getattr(chemin, f"{pair.name}_path")
    return make(pair.X[rows], pair.y[rows], sample_weight=w, **options), share


def point_losses(pair, path, f, y, value):
    """L_i of each test point, by the definition; f of shape (points, values)."""
    scoring = pair.scoring or ("accuracy" if pair.name == "svc" else "neg_mean_squared_error")
    if pair.scoring is None and pair.name == "quantile":
        scoring = "loss"
    out = np.empty(f.shape)
    for i, row in enumerate(f):
        if pair.name == "svc":
            sign = 1.0 if y[i] == path.classes_[1] else -1.0
            hinge = scoring in ("neg_hinge_loss", "loss")
            out[i] = np.maximum(0, 1 - sign * row) if hinge else (row > 0) != (sign > 0)
        elif scoring in ("neg_mean_squared_error", "r2"):
            out[i] = (y[i] - row) ** 2
        elif scoring == "neg_mean_absolute_error":
            out[i] = np.abs(y[i] - row)
        else:
            out[i] = own_loss(pair, path, y[i] - row, value)
    return out


def own_loss(pair, path, residual, value):
    if pair.name == "quantile":
        tau = pair.options["tau"]
        return np.where(residual > 0, tau * residual, (tau - 1) * residual)
    if pair.name == "svr":
        return np.maximum(0, np.abs(residual) - pair.options["epsilon"])
    raise NotImplementedError(pair.name)


def omegas(pair, rows):
    """Weights of the losses of some points, that sum up to one; with r2, to one over variance."""
    y, w = pair.y[rows], pair.w[rows].copy()
    if pair.class_weight is not None and pair.scoring in (None, "loss"):
        w = np.array([wi * pair.class_weight[yi] for wi, yi in zip(w, y)])
    if pair.scoring == "balanced_accuracy":
        classes = np.unique(y)
        out = np.zeros(len(y))
        for c in classes:
            out[y == c] = w[y == c] / w[y == c].sum() / len(classes)
        return out
    if pair.scoring == "r2":
        mean = (w @ y) / w.sum()
        return w / (w @ (y - mean) ** 2)
    return w / w.sum()


@dataclass
class Brute:
    """All models of a criterion, evaluated at will."""

    pair: Pair
    trials: list
    paths: list  # (path, share) of each trial
    full: object

    @classmethod
    def of(cls, pair, curve, trials):
        stop = None if "stop" in pair.options else curve.path.stop
        paths = [path_of(pair, t.train, t.times, stop) for t in trials]
        full, _ = path_of(pair, np.arange(len(pair.y)))
        return cls(pair, trials, paths, full)

    def per_fold(self, values):
        pair, pooled = self.pair, not isinstance(self.pair.criterion, CrossValidation)
        used = np.flatnonzero(pair.w > 0)
        whole = np.zeros(len(pair.y))
        if pooled:
            whole[used] = omegas(pair, used)
        folds, everywhere = {}, np.zeros(len(values))
        for trial, (path, share) in zip(self.trials, self.paths):
            f = path.decision_function(pair.X[trial.test], values * share)
            losses = point_losses(pair, path, f, pair.y[trial.test], values * share)
            if not pooled:
                folds[trial.fold] = omegas(pair, trial.test) @ losses
            elif trial.name == "all rows":
                everywhere = trial.share * (whole[trial.test] @ losses)
            else:
                part = trial.share * len(used) * (whole[trial.test] @ losses)
                folds[trial.fold] = folds.get(trial.fold, 0.0) + part
        return np.array([fold + everywhere for fold in folds.values()])

    def __call__(self, values):
        return self.per_fold(np.atleast_1d(values)).mean(axis=0)

    def error(self, value):
        losses = self.per_fold(np.array([value]))[:, 0]
        return losses.std(ddof=1) / np.sqrt(len(losses))

    def counts(self, values):
        return np.array([np.count_nonzero(self.full.at(float(v)).coef) for v in values])

    @property
    def top(self):
        starts = [path.start / share for path, share in self.paths]
        return max(self.full.start, *starts)

    def candidates(self, low, high):
        """Breakpoints of all paths, midpoints, and a grid, up to the largest start and a bit."""
        knots = [path.breakpoints / share for path, share in self.paths]
        knots = np.unique(np.concatenate([*knots, self.full.breakpoints, [low, self.top]]))
        grid = np.geomspace(max(low, 1e-6 * self.top), min(high, 3 * self.top), GRID)
        knots = knots[(knots >= low) & (knots <= high)]
        middles = np.sqrt(knots[1:] * knots[:-1])
        values = np.concatenate([knots, middles, 0.5 * (knots[1:] + knots[:-1]), grid])
        values = np.unique(np.clip(values, low, high))
        most = max(200, MOST // len(self.paths))
        keep = np.linspace(0, len(values) - 1, min(most, len(values))).round().astype(int)
        return values[keep]


# ---------------------------------------------------------------------- judging


def judge(seed):
    """What is wrong with the choices of one pair: a list of sentences, empty if nothing is."""
    pair = draw(seed)
    family = pair.family()
    trials = pair.criterion.trials(family)
    curve = pair.criterion(family)
    brute = Brute.of(pair, curve, trials)
    return pair, curve, brute, Judge(pair, curve, brute).wrong()


class Judge:
    def __init__(self, pair, curve, brute):
        self.pair, self.curve, self.brute = pair, curve, brute
        self.low, self.high = curve.range
        values = brute.candidates(self.low, self.high)
        steps = pair.name == "svc" and pair.scoring not in ("neg_hinge_loss", "loss")
        # At a breakpoint alone f may jump, or be 0: neither to its left nor to its right.
        self.jumps = np.union1d(curve.knots[1:-1] if steps else [], self._breakpoints())
        self.values = values[~self.on_jump(values)]
        self.losses = brute(self.values)
        scale = np.abs(self.losses).max()
        self.tol = 1e-9 * scale + 1e-12

    def _breakpoints(self):
        paths = self.brute.paths
        return np.unique(np.concatenate([path.breakpoints / share for path, share in paths]))

    def on_jump(self, values):
        return ~_apart(values, self.jumps)

    def wrong(self):
        out = []
        for check in (self.value, self.minimum, self.interval, self.one_se, self.sparsest):
            found = check()
            if found:
                out.append(f"{check.__name__}: {found}")
        return out

    def value(self):
        off = np.abs(self.curve(self.values) - self.losses)
        k = int(np.argmax(off))
        if off[k] > self.tol:
            return f"{self.curve(self.values[k])} at {self.values[k]}, not {self.losses[k]}"
        return None

    def minimum(self):
        c = self.curve
        if c.minimum > self.losses.min() + self.tol:
            return f"{c.minimum}, but {self.losses.min()}"
        there = self.brute(c.minimiser)[0]
        if abs(there - c.minimum) > self.tol:
            return f"{c.minimum}, but {there} at the minimiser {c.minimiser}"
        return None

    def _runs(self, good):
        """Stretches of neighbouring candidates that are good: first and last of each."""
        change = np.flatnonzero(np.diff(np.concatenate([[0], good.astype(int), [0]])))
        return [(self.values[i], self.values[j - 1]) for i, j in change.reshape(-1, 2)]

    def interval(self):
        low, high = self.curve.interval
        if not low <= self.curve.minimiser <= high:
            return f"the minimiser {self.curve.minimiser} is not in [{low}, {high}]"
        inner = np.geomspace(max(low, 1e-300), high, 7)[1:-1] if low < high else np.array([low])
        inner = inner[~self.on_jump(inner)]
        if np.any(np.abs(self.brute(inner) - self.curve.minimum) > self.tol):
            return f"not flat on [{low}, {high}]"
        flat = [r for r in self._runs(self.losses <= self.curve.minimum + 1e-12) if r[0] < r[1]]
        top = self.brute.top
        width = lambda a, b: np.log(max(min(b, top), a) / a) if a > 0 else 0.0
        widest = max((width(a, b) for a, b in flat), default=0.0)
        near = self._continuous_minimum()
        if not near and widest > width(max(low, 1e-9 * high), high) + 1e-6:
            return f"[{low}, {high}] is not the widest: {flat}"
        return None

    def _continuous_minimum(self):
        """Whether round-off makes the smallest losses: near a smooth minimum all are equal."""
        return self.pair.name != "svc" and self.curve.interval[0] == self.curve.interval[1]

    def _extra(self):
        if self.curve.n_folds < 2:
            return None
        error = self.brute.error(self.curve.minimiser)
        if abs(error - self.curve.standard_error(self.curve.minimiser)) > self.tol:
            return np.nan
        return error

    def one_se(self):
        extra = self._extra()
        if extra is None:
            return None
        if np.isnan(extra):
            return "the standard error is wrong"
        most, value = self.curve.minimum + extra, self.curve.one_se()
        if self.on_jump(np.array([value]))[0] and self._really_jumps(value):
            return f"{value} is on a jump"
        if self.brute(value)[0] > most + self.tol:
            return f"{self.brute(value)[0]} at {value}, more than {most}"
        better = self.values[(self.values > value * (1 + 1e-6)) & (self.losses <= most - self.tol)]
        # Above the last event nothing happens, and the least of those values is meant.
        last = self._last()
        better = better[better <= last * (1 - 1e-9)]
        if len(better):
            return f"{value}, but {better[-1]} is larger and its loss is not above {most}"
        if value > max(last, self.curve.minimiser) * (1 + 1e-6) and self._beyond(value, most):
            return f"{value} lies above {last}, where nothing happens"
        return None

    def _last(self):
        """The largest start of the walked paths, or knot of the curve: f may bend above."""
        knots = self.curve.knots[1:-1] if self.curve.path.coordinate.inverse else np.empty(0)
        return max(self.brute.top, self.curve.top, knots.max(initial=0.0))

    def _beyond(self, value, most):
        """Whether a value nearer to the last event would do as well."""
        last = self._last()
        return self.brute(last * (1 + 1e-7))[0] <= most - self.tol

    def _really_jumps(self, value):
        sides = self.brute(np.clip(value * np.array([1 - 3e-8, 1 + 3e-8]), self.low, self.high))
        return abs(sides[0] - sides[1]) > 1e-5 * (np.abs(sides).max() + 1e-12) and (
            np.min(np.abs(self.jumps - value)) <= 1e-11 * value
        )

    def sparsest(self):
        extra = self._extra()
        if extra is None or np.isnan(extra):
            extra = 0.05 * self.losses.max()
        value = self.curve.sparsest(extra)
        if self._really_jumps(value) if self.on_jump(np.array([value]))[0] else False:
            return f"{value} is on a jump"
        loss, count = self.brute(value)[0], self.brute.counts([value])[0]
        if loss > self.curve.minimum + extra + self.tol:
            return f"{loss} at {value}, more than {self.curve.minimum + extra}"
        # At a breakpoint alone a coefficient may be 0 for a moment: that is no choice.
        inside = self.losses <= self.curve.minimum + extra - self.tol
        inside &= _apart(self.values, self.brute.full.breakpoints)
        counts = self.brute.counts(self.values[inside])
        if np.any(counts < count):
            v = self.values[inside][int(np.argmin(counts))]
            return f"{count} coefficients at {value}, but {counts.min()} at {v}"
        same = self.losses[inside][counts == count]
        if len(same) and same.min() < loss - max(self.tol, 1e-7 * abs(loss)):
            return f"{loss} at {value}, but {same.min()} with as many coefficients"
        return None


def _apart(values, others):
    """Which values are not near any of the others."""
    if len(others) == 0:
        return np.ones(len(values), bool)
    return np.abs(values[:, None] - others).min(axis=1) > NEAR * values
