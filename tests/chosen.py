"""Choices by brute force: every model at a dense set of values, losses and counts by plain loops.

Models come from the public path functions, one for each trial; what is trained on what is read off
the criterion's trials. Nothing else of `chemin.selection` is used to find what is right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import chemin
from chemin.selection import CrossValidation
from drawn import LINEAR, PER_ROW, UNLABELLED, Pair

GRID = 100  # values of an even grid, besides breakpoints and midpoints
MOST = 12_000  # models evaluated: fewer values for criteria of many trials
NEAR = 1e-8  # relative: on a jump a point has f = 0, and two sides are right
CLOSELY = 1000  # values of a stretch on which the loss seems to be smallest
SOME = 40  # values at which the models on all rows are compared
SAME_F = 1e-7  # relative: kernel matrices of small lambda are nearly singular


# ---------------------------------------------------------------------- models by brute force


def gamma_of(X, w):
    """scikit-learn's "scale", each row counted by its weight."""
    mean = sum(wi * xi.sum() for wi, xi in zip(w, X)) / (w.sum() * X.shape[1])
    var = sum(wi * ((xi - mean) ** 2).sum() for wi, xi in zip(w, X)) / (w.sum() * X.shape[1])
    return 1.0 / (X.shape[1] * var) if var > 0 else 1.0


def path_of(pair, rows, times=None, stop=None):
    """The path on some rows, by its public function, and what a value is multiplied by there."""
    w = pair.w[rows] * (1.0 if times is None else times)
    options = dict(pair.options)
    if options.get("gamma") == "scale":
        X, counted = (pair.X[rows], w) if pair.graph is None else (pair.X, pair.given)
        options["gamma"] = gamma_of(X[counted > 0], counted[counted > 0])
    if pair.class_weight is not None:
        options["class_weight"] = pair.class_weight
    share = w.sum() / pair.w.sum() if pair.name in PER_ROW else 1.0
    if options.get("stop") is not None:
        options["stop"] *= share
    if pair.name == "elastic_net":
        options["lambda2"] *= share
    if pair.graph is None:
        X, y, options["sample_weight"] = pair.X[rows], pair.y[rows], w
    else:
        X, y, weight = pair.X, np.full(len(pair.y), UNLABELLED), np.zeros(len(pair.y))
        y[rows], weight[rows] = pair.y[rows], w
        options |= {"sample_weight": weight, "graph": pair.graph}
    make = getattr(chemin, f"{pair.name}_path")
    path = make(X, y, **options)
    if stop is not None and path.stop > (1 + 1e-12) * stop * share:
        path = make(X, y, **options | {"stop": stop * share})
    return path, share


def point_losses(pair, path, f, y):
    """L_i of each test point, by the definition; f of shape (points, values)."""
    default = "accuracy" if pair.is_classifier else "neg_mean_squared_error"
    default = "loss" if pair.name in ("quantile", "expectile") else default
    scoring, out = pair.scoring or default, np.empty(f.shape)
    for i, row in enumerate(f):
        sign = 0.0
        if pair.is_classifier:
            sign = 1.0 if y[i] == path.classes_[1] else -1.0
        if scoring in ("accuracy", "balanced_accuracy"):
            out[i] = (row > 0) != (sign > 0)
        elif scoring == "neg_hinge_loss":
            out[i] = np.maximum(0, 1 - sign * row)
        elif scoring in ("neg_mean_squared_error", "r2"):
            out[i] = (y[i] - row) ** 2
        elif scoring == "neg_mean_absolute_error":
            out[i] = np.abs(y[i] - row)
        else:
            out[i] = own_loss(pair, sign * row if sign else y[i] - row)
    return out


def own_loss(pair, m):
    """Of margins y f, or of residuals y - f."""
    given = pair.options
    if pair.name in ("svc", "l1_svc", "laplacian_svc"):
        return np.maximum(0, 1 - m)
    if pair.name == "svr":
        return np.maximum(0, np.abs(m) - given["epsilon"])
    if pair.name == "quantile":
        return np.where(m > 0, given["tau"] * m, (given["tau"] - 1) * m)
    if pair.name == "expectile":
        return 0.5 * np.where(m < 0, 1 - given["tau"], given["tau"]) * m**2
    if pair.name == "kernel_ridge":
        return 0.5 * m**2
    u = np.maximum(0, 1 - m if pair.is_classifier else np.abs(m) - given["epsilon"])
    with np.errstate(invalid="ignore"):
        return 0.5 * np.where(u <= given["h"], u**2, 2 * given["h"] * u - given["h"] ** 2)


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
    full: object  # on all rows
    model: object  # the same of the curve: multipliers need not be unique, f is

    @classmethod
    def of(cls, pair, curve, trials):
        stop = None if "stop" in pair.options else curve.path.stop
        paths = [path_of(pair, t.train, t.times, stop) for t in trials]
        full, _ = path_of(pair, np.arange(len(pair.y)))
        return cls(pair, trials, paths, full, curve.path)

    def per_fold(self, values):
        pair, pooled = self.pair, not isinstance(self.pair.criterion, CrossValidation)
        used = np.flatnonzero(pair.w > 0)
        whole = np.zeros(len(pair.y))
        if pooled:
            whole[used] = omegas(pair, used)
        folds, everywhere = {}, np.zeros(len(values))
        for trial, (path, share) in zip(self.trials, self.paths):
            f = path.decision_function(pair.X[trial.test], values * share)
            losses = point_losses(pair, path, f, pair.y[trial.test])
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
        """Of repeated rows, or of more than a kernel has dimensions, either may have the weight:
        what is chosen has the multipliers of the curve's own path, and they are counted.
        """
        return np.array([np.count_nonzero(self.model.at(float(v)).coef) for v in values])

    @property
    def top(self):
        """The largest start; of walks upward the smallest end."""
        paths = [(self.full, 1.0), *self.paths]
        if self.full.stop > self.full.start:
            return min(path.stop / share for path, share in paths)
        return max(path.start / share for path, share in paths)

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
        return np.append(values[keep], 2 * self.top) if self.endless else values[keep]

    @property
    def endless(self):
        """Whether one and the same model goes on for ever above the last start."""
        still = self.pair.graph is not None or self.pair.options.get("along") == "epsilon"
        still |= self.pair.name in LINEAR and self.pair.name not in ("ridge", "adaptive_ridge")
        return still and all(path.closed_above for path, _ in [(self.full, 1.0), *self.paths])


# ---------------------------------------------------------------------- judging


def judge(pair):
    """What is wrong with the choices of one pair: a list of sentences, empty if nothing is."""
    family = pair.family()
    trials = pair.criterion.trials(family)
    curve = pair.criterion(family)
    brute = Brute.of(pair, curve, trials)
    return curve, brute, Judge(pair, curve, brute).wrong()


class Judge:
    def __init__(self, pair, curve, brute):
        self.pair, self.curve, self.brute = pair, curve, brute
        self.low, self.high = curve.range
        values = brute.candidates(self.low, self.high)
        self.steps = pair.is_classifier and pair.scoring not in ("neg_hinge_loss", "loss")
        # At a breakpoint alone f may jump, or be 0: neither to its left nor to its right.
        self.jumps = np.union1d(curve.knots[1:-1] if self.steps else [], self._breakpoints())
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
        checks = (self.value, self.model, self.minimum, self.interval, self.one_se, self.sparsest)
        for check in checks:
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

    def model(self):
        """The curve's path on all rows is that of the public function: f, not its multipliers."""
        values = self.values[:: max(1, len(self.values) // SOME)]
        values = values[_apart(values, self.brute.full.breakpoints)]
        paths = self.curve.path, self.brute.full
        a, b = (path.decision_function(self.pair.X, values) for path in paths)
        off = np.abs(a - b).max(axis=0)
        k = int(np.argmax(off))
        if off[k] > SAME_F * np.abs(b).max():
            return f"f is off by {off[k]} at {values[k]}"
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
        least = width(max(low, 1e-9 * high), high) + 1e-6
        wider = [r for r in flat if width(*r) > least and self._is_flat(*r)]
        if wider and not self._continuous_minimum():
            return f"[{low}, {high}] is not the widest: {wider}"
        return None

    def _is_flat(self, low, high):
        """Whether losses are smallest on a whole stretch: looked at more closely."""
        values = np.geomspace(low, high, CLOSELY)
        values = values[~self.on_jump(values)]
        return bool(np.all(self.brute(values) <= self.curve.minimum + 1e-12))

    def _continuous_minimum(self):
        """Whether round-off makes the smallest losses: near a smooth minimum all are equal."""
        told = self.steps or self.pair.name == "svc"
        return not told and self.curve.interval[0] == self.curve.interval[1]

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
        above = self.brute.endless and value < last * (1 - 1e-9)
        better = better[(better <= last * (1 - 1e-9)) | above]
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
