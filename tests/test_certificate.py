"""Certificates find what is wrong: solutions changed a little, judged twice.

Whether a changed solution is still optimal is decided here by brute force: its distance from the
graph of the loss's slopes, row by row, and the balance of what is not penalised, from K and y.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from chemin import (
    Path,
    Solution,
    lasso_path,
    nu_svr_path,
    one_class_path,
    quadratic_svr_path,
    quantile_path,
    svc_path,
    svr_path,
)
from chemin.problems import Certificate
from contract import CASES, NUMBERS, Case, above_start, between, bottom, make_data, make_tied

KERNELS = [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.3}]
KINDS = {
    "coef", "intercept by part", "intercept by unit", "alpha", "lambda", "one coefficient",
    "swapped", "swapped alpha", "both scaled", "support to zero", "of another lambda",
}  # fmt: skip
A_LITTLE = 1e-3
# In natural units: below the first a mutant is optimal, above the second it is not; in between
# nothing is asked. Both rise with what double precision can tell.
OPTIMAL, NOT_OPTIMAL = 1e-10, 1e-7

with_kernels = pytest.mark.parametrize(
    "case, options",
    [
        pytest.param(case, options, id=f"{case.name}-{options['kernel']}")
        for case in CASES
        for options in (KERNELS if case.has_kernel else KERNELS[:1])
    ],
)
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def replace(s: Solution, **changes: Any) -> Solution:
    """A changed solution; parameters without a field of their own are in `more`."""
    more = {name: changes.pop(name) for name in list(changes) if name in s.more}
    return dataclasses.replace(s, **changes, more=s.more | more)


# ---------------------------------------------------------------------- the brute-force oracle


def distance(pieces: Any, x: Any, z: Any, x_unit: Any, z_unit: Any) -> Any:
    """From (x, z) to the nearest of some boxes (x from, x to, z from, z to), the larger of two.

    A box with a fifth entry (x, z, dz/dx) is a line within it.
    """
    apart = []
    for x_low, x_high, z_low, z_high, *line in pieces:
        dx = np.maximum(np.maximum(x_low - x, x - x_high), 0.0) / x_unit
        dz = np.maximum(np.maximum(z_low - z, z - z_high), 0.0) / z_unit
        apart.append(np.maximum(dx, dz))
        for x_on, z_on, tilt in line:
            off = np.abs(z - z_on - tilt * (x - x_on)) / (z_unit + np.abs(tilt) * x_unit)
            apart[-1] = np.maximum(apart[-1], off)
    return np.min(apart, axis=0)


@dataclass(frozen=True)
class Data:
    """What a solution is judged by: nothing of it comes from a path."""

    case: Case
    X: Any
    y: Any
    w: Any
    options: dict[str, Any]
    intercept: bool = True

    @property
    def path(self) -> Path:
        return self.case(self.X, self.y, self.w, intercept=self.intercept, **self.options)

    @cached_property
    def K(self) -> Any:
        if self.options["kernel"] == "linear":
            return self.X @ self.X.T
        apart = ((self.X[:, None] - self.X[None]) ** 2).sum(axis=2)
        return np.exp(-self.options["gamma"] * apart)

    @property
    def side(self) -> Any:
        return np.where(self.y == 1, 1.0, -1.0) if self.case.target == "labels" else 1.0

    def unit(self, s: Solution) -> float:
        """Of margins: 1, the spread of the targets, or what a multiplier adds to f."""
        if self.case.target == "labels":
            return 1.0
        if self.case.target == "none":
            return float(s.nu * self.w.mean() * np.diag(self.K).max())
        mean = np.average(self.y, weights=self.w)
        return float(np.sqrt(np.average((self.y - mean) ** 2, weights=self.w)))

    def violation(self, s: Solution) -> float:
        return self._of_machine(s) if self.machine else self._of_lasso(s)

    @cached_property
    def machine(self) -> bool:
        return self.case.has_kernel

    def _pieces(self, s: Solution) -> list[Any]:
        """The graph of side * alpha over f, the same for all mutants with the same parameters."""
        key = tuple(sorted(s.given.items())), s.lambda_, s.epsilon, s.intercept
        if key != self._last.get("key"):
            self._last.update(key=key, pieces=self._graph(s))
        return self._last["pieces"]

    @cached_property
    def _last(self) -> dict[str, Any]:
        return {}

    def _graph(self, s: Solution) -> list[Any]:
        """-w times the slopes of the contract's loss."""
        loss, y = self.case.loss, self.target
        kinks = loss.kinks(s, y, s)
        between = list(pairwise(kinks))
        inside = [kinks[0] - 1.0, *((a + b) / 2 for a, b in between), kinks[-1] + 1.0]
        width = [0.25 + 0.0 * y, *((b - a) / 4 for a, b in between), 0.25 + 0.0 * y]
        flat = []
        for at, h in zip(inside, width):
            rise = loss(s, y, s, at + h) - loss(s, y, s, at - h)
            with np.errstate(divide="ignore", invalid="ignore"):
                flat.append(-self.w * np.where(h > 0, rise / (2 * h), 0.0))
        if loss.curved:
            return list(self._ramps(s, kinks, inside, flat))
        ends = pairwise([-np.inf, *kinks, np.inf])
        pieces = [(a, b, p, p) for (a, b), p in zip(ends, flat)]
        corners = zip(kinks, flat, flat[1:])
        return pieces + [(k, k, np.minimum(p, q), np.maximum(p, q)) for k, p, q in corners]

    def _ramps(self, s: Solution, kinks: Any, inside: Any, middle: Any) -> Any:
        """The same where pieces may be quadratic; the slopes of such a loss do not jump."""
        for (low, high), at, p in zip(pairwise([-np.inf, *kinks, np.inf]), inside, middle):
            h = np.minimum(np.minimum(at - low, high - at), 1.0) / 2
            up, here, down = (self.case.loss(s, self.target, s, at + k * h) for k in (1, 0, -1))
            tilt = -self.w * np.round((up - 2 * here + down) / h**2, 9)
            with np.errstate(invalid="ignore"):
                ends = [np.where(tilt == 0, p, p + tilt * (x - at)) for x in (low, high)]
            yield low, high, np.minimum(*ends), np.maximum(*ends), (at, p, tilt)

    @property
    def target(self) -> Any:
        return self.side if self.case.target == "labels" else np.asarray(self.y, dtype=float)

    def _of_machine(self, s: Solution) -> float:
        K, w, unit = self.K, self.w, self.unit(s)
        total, size = np.abs(s.alpha).sum(), np.abs(s.alpha).max() or np.inf
        each = np.minimum(w, size)
        f = K @ s.coef + s.intercept
        found = [
            distance(self._pieces(s), f, self.side * s.alpha, unit, each).max(),
            (np.abs(s.lambda_ * s.coef - self.side * s.alpha) / each).max(),
        ]
        if self.case.name.startswith("one-class"):
            found.append(abs(total - s.nu * w.sum()) / total if total else 1.0)
        elif not self.intercept:
            found.append(abs(s.intercept) / unit)
        else:
            found.append(abs((self.side * s.alpha).sum()) / (total or 1.0))
        if self.case.name.startswith("nu-svr"):
            most, far = s.nu * w.sum(), np.inf
            tube = [(0, 0, -far, most), (0, far, most, most)]
            found.append(float(distance(tube, s.epsilon, total, unit, most)))
        return float(max(found))

    def _of_lasso(self, s: Solution) -> float:
        root = np.sqrt(self.w)
        mean = np.average(self.X, axis=0, weights=self.w) if self.intercept else 0.0
        level = np.average(self.y, weights=self.w) if self.intercept else 0.0
        length = np.linalg.norm(root[:, None] * (self.X - mean), axis=0)
        size = np.linalg.norm(root * (self.y - level))
        r = self.w * (self.y - self.X @ s.coef - s.intercept)
        pull, far, data = (self.X - mean).T @ r, np.inf, (self.X, self.y, self.w, self.intercept)
        lam, signs = s.lambda_ * self.case.prices(*data), self.case.signs
        graph = [(-lam, -lam, -far, 0), (-lam, lam, 0, 0), (lam, lam, 0, far)]
        if signs is not None:
            graph = [(-far, lam, 0, 0), (lam, lam, 0, far)]
        side = 1.0 if signs is None else signs(*data)
        found = [
            distance(graph, side * pull, side * s.coef, length * size, size / length).max(),
            np.abs(s.alpha - s.coef).max() / (np.abs(s.coef).max() or 1.0),
            abs(r.sum()) / (np.sqrt(self.w.sum()) * size) if self.intercept else abs(s.intercept),
        ]
        return float(max(found))


# ---------------------------------------------------------------------- mutants


def mutants(data: Data, path: Path, s: Solution, rng: Any) -> Any:
    """Pairs of a kind and a changed solution."""
    up, unit = 1.0 + A_LITTLE, data.unit(s)
    n = len(s.coef)
    yield "coef", replace(s, coef=s.coef * up)
    yield "intercept by part", replace(s, intercept=s.intercept * up)
    for sign in (1, -1):
        yield "intercept by unit", replace(s, intercept=s.intercept + sign * A_LITTLE * unit)
    yield "alpha", replace(s, alpha=s.alpha * up)
    for factor in (up, 1 / up):
        yield "lambda", replace(s, lambda_=s.lambda_ * factor)
        yield "of another lambda", replace(s, lambda_=s.lambda_ * factor, coef=s.coef / factor)
        for name, value in s.given.items():
            yield name, replace(s, **{name: value * factor})
        yield "both scaled", replace(s, alpha=s.alpha * factor, coef=s.coef * factor)
    largest = np.abs(s.coef).max()
    for i in [*rng.integers(n, size=2), int(np.argmin(data.w)) % n]:
        yield "one coefficient", replace(s, coef=s.coef + 1e-6 * largest * (np.arange(n) == i))
    for i, j in pairs(data, s, rng):
        order = np.arange(n)
        order[[i, j]] = j, i
        alpha = s.alpha[order]
        yield "swapped alpha", replace(s, alpha=alpha)
        kept = data.side * alpha / s.lambda_ if data.machine else alpha
        yield "swapped", replace(s, alpha=alpha, coef=kept)
    for i in rng.permutation(s.support)[:3]:
        here = np.arange(n) == i
        yield (
            "support to zero",
            replace(s, alpha=np.where(here, 0.0, s.alpha), coef=np.where(here, 0.0, s.coef)),
        )


def pairs(data: Data, s: Solution, rng: Any) -> Any:
    """Two at random, a support vector and another point, and two copies of one."""
    n, zero = len(s.coef), np.flatnonzero(s.coef == 0)
    yield from (rng.choice(n, 2, replace=False) for _ in range(3))
    if len(zero) and len(s.support):
        yield rng.choice(s.support), rng.choice(zero)
    if len(s.coef) == len(data.X):
        apart = np.abs(data.X[:, None] - data.X[None]).max(axis=2)
        copies = np.argwhere(np.triu(apart == 0, 1))
        yield from copies[rng.permutation(len(copies))[:3]]


def values_of(path: Path) -> Any:
    """Inside, at breakpoints, in the middle between them, and above the start."""
    knots = np.unique(np.append(path.breakpoints, [path.start, path.stop]))
    some = knots[[len(knots) // 5, -len(knots) // 3]]
    next_one = knots[np.minimum(np.searchsorted(knots, some) + 1, len(knots) - 1)]
    inside = [between(path, fraction) for fraction in (0.3, 0.05, 0.003)]
    values = np.concatenate([inside, some, 0.5 * (some + next_one), above_start(path, [1.7])])
    return values[(values >= bottom(path)) & (values > 0)]


def settings(case: Case, options: Any) -> Any:
    for make in (make_data, make_tied):
        X, y = make(case)
        weights = 10.0 ** np.random.default_rng(3).uniform(-2, 1, len(y))
        assert weights.max() / weights.min() > 500
        for w in (np.ones(len(y)), weights):
            yield Data(case, X, y, w, options)
        if case.target != "none":
            yield Data(case, X, y, weights, options, intercept=False)


def judged(case: Case, options: Any) -> Any:
    """(kind, brute-force violation, certificate, where) for every mutant."""
    rng = np.random.default_rng(0)
    for data in settings(case, options):
        path = data.path
        for value in values_of(path):
            s = path.at(value)
            where = f"{path!r} at {value!r}, intercept={data.intercept}"
            yield "itself", data.violation(s), path.certify(s), where
            blind = 50 * path.certify(s).floor >= NOT_OPTIMAL
            for kind, mutant in mutants(data, path, s, rng):
                if kind != "one coefficient" or not blind:
                    yield kind, data.violation(mutant), path.certify(mutant), where


@with_kernels
def test_mutants_are_refused_where_they_are_not_optimal(case, options):
    """Oracle: brute force, the distance from the graph of the loss's slopes.

    Every kind of mutant is refused somewhere; those that are optimal are exact.
    """
    told, wrong, tally = Counter(), [], Counter()
    for kind, violation, c, where in judged(case, options):
        if c.verdict == "not certifiable":
            tally["blind"] += 1
            continue
        low, high = max(OPTIMAL, 10 * c.floor), max(NOT_OPTIMAL, 200 * c.floor)
        expected = "exact" if violation <= low else "wrong" if violation >= high else "either"
        tally[expected] += 1
        told[kind, c.verdict] += 1
        if expected not in (c.verdict, "either"):
            wrong.append(f"{kind}: {c.verdict}, brute force {violation:.1e}, {c}: {where}")
    assert not wrong, "\n".join([f"{len(wrong)} of {sum(tally.values())}", *wrong[:10]])
    assert tally["either"] + tally["blind"] <= 0.02 * sum(tally.values()), tally
    assert told["itself", "wrong"] == 0
    path = case(*make_data(case), **options)
    finite = {name for name, value in path.at(path.start).given.items() if np.isfinite(value)}
    kinds = KINDS | (set(path.problem.parameters) & finite)
    never = sorted(kind for kind in kinds if told[kind, "wrong"] == 0)
    assert never == [], "accepted everywhere"


@pytest.mark.parametrize("options", KERNELS, ids=lambda options: options["kernel"])
@pytest.mark.parametrize(
    "case", [c for c in CASES if c.target != "none"], ids=lambda case: case.name
)
def test_models_with_and_without_an_intercept_are_told_apart(case, options):
    """Oracle: brute force. Each is optimal for its own problem; for the other one the balance of
    multipliers is off, or there is an intercept where there is none.
    """
    X, y = make_data(case)
    both = [Data(case, X, y, np.ones(len(y)), options, b) for b in (True, False)]
    paths = [data.path for data in both]
    for fraction in (0.3, 0.05):
        value = between(paths[0], fraction)
        for own, other in ((0, 1), (1, 0)):
            s = paths[own].at(value)
            assert both[own].violation(s) <= 1e-9 and paths[own].certify(s).exact
            assert both[other].violation(s) >= 1e-3
            assert paths[other].certify(s).verdict == "wrong"


# ---------------------------------------------------------------------- what is not unique


def verdict(path: Path, s: Solution, **changed: Any) -> str:
    return path.certify(replace(s, **changed)).verdict


@pytest.mark.parametrize("name", ["svc", "svr", "quantile", "one-class"])
def test_any_intercept_of_the_interval_is_optimal(name):
    """Oracle: brute force. All of `intercept_interval` is optimal, and nothing else."""
    seen = 0
    for case in (case for case in CASES if case.name.startswith(f"{name} ")):
        for make in (make_data, make_tied, make_balanced):
            X, y = make(case)
            judge = Data(case, X, y, np.ones(len(y)), KERNELS[1])
            path, knots = judge.path, np.unique(judge.path.breakpoints)
            above = above_start(path, [1.5, 20.0])
            # At nu = 1 no intercept of a one-class machine is too low.
            for value in np.append(0.5 * (knots[1:] + knots[:-1])[::2], above[above != 1.0]):
                seen += all_of_the_interval(judge, path, path.at(value))
    assert seen > 0 or name == "one-class"  # its weights would have to add up to nu W


def make_balanced(case: Case) -> tuple[Any, Any]:
    """As many points of each class, and an even number of them."""
    X, y = make_data(case)
    return (X, np.arange(len(y)) % 2) if case.target == "labels" else (X, y)


def all_of_the_interval(judge: Data, path: Path, s: Solution) -> bool:
    """Whether it is more than a point."""
    (low, high), unit = s.intercept_interval, judge.unit(s)
    wide = bool(high - low > 1e-6 * unit)
    for b in low + (high - low) * np.array([0.0, 0.01, 0.5, 0.99, 1.0]) if wide else []:
        assert judge.violation(replace(s, intercept=b)) <= 1e-9
        assert verdict(path, s, intercept=b) == "exact"
    for b in (low - 1e-3 * unit, high + 1e-3 * unit):
        assert judge.violation(replace(s, intercept=b)) >= NOT_OPTIMAL
        assert verdict(path, s, intercept=b) == "wrong"
    return wide


def test_nu_of_a_closed_tube_is_open():
    """Oracle: optimality. With epsilon = 0 and sum |alpha| < nu W a larger nu changes nothing."""
    X, y = make_data(NUMBERS)
    path = nu_svr_path(X, y, nu=0.83, kernel="rbf", gamma=0.3)
    seen = 0
    for high, low in path.closed_tube:
        s = path.at(0.5 * (min(high, path.start) + low))
        needed = np.abs(s.alpha).sum() / len(y)
        assert s.epsilon == 0.0
        if needed < 0.83 - 1e-6:
            seen += 1
            for nu in (0.83 * (1 + A_LITTLE), 0.99, needed + 1e-9, 0.5 * (needed + 0.83)):
                assert verdict(path, s, nu=nu) == "exact"
            assert verdict(path, s, nu=needed * (1 - A_LITTLE)) == "wrong"
            assert verdict(path, s, epsilon=A_LITTLE) == "wrong"
    assert seen > 0


def test_a_tube_that_no_point_feels():
    """Oracle: by hand. No point on an edge and none that changes sides: epsilon is free."""
    X = np.arange(4.0)[:, None]
    y = np.array([0.0, 0.1, 5.0, 5.1])
    path = svr_path(X, y, kernel="linear", epsilon=0.5)
    s = path.at(50 * path.start)
    assert np.all(np.abs(s.alpha) == 1.0)  # two above, two below: the middle is anywhere
    for epsilon in (0.5 * (1 + A_LITTLE), 0.5 * (1 - A_LITTLE), 1.0, 0.0):
        assert verdict(path, s, epsilon=epsilon) == "exact"
    assert verdict(path, s, epsilon=3.0) == "wrong"
    wide = svr_path(X, y, kernel="linear", along="epsilon")
    s = wide.at(2 * wide.start)
    assert verdict(wide, s, epsilon=1.9 * wide.start) == "exact"
    assert verdict(wide, s, epsilon=0.9 * wide.start) == "wrong"
    on_edge = path.at(0.1 * path.start)
    for epsilon in (0.5 * (1 + A_LITTLE), 0.5 * (1 - A_LITTLE)):
        assert verdict(path, on_edge, epsilon=epsilon) == "wrong"


def test_tau_where_the_curve_meets_every_target():
    """Oracle: by hand. Multipliers inside of their bounds ask nothing of tau."""
    X, y = make_data(NUMBERS)
    path = quantile_path(X, y, tau=0.3, kernel="rbf", gamma=0.3, stop=1e-4)
    s = path.at(1e-4)
    assert np.all((s.alpha > -0.6) & (s.alpha < 0.2) & (s.alpha != 0.0))
    for tau in (0.3 * (1 + A_LITTLE), 0.3 * (1 - A_LITTLE), 0.39, 0.21):
        assert verdict(path, s, tau=tau) == "exact"
    s = path.at(0.3 * path.start)
    for tau in (0.3 * (1 + A_LITTLE), 0.3 * (1 - A_LITTLE)):
        assert verdict(path, s, tau=tau) == "wrong"


def test_cost_where_no_point_is_inside_the_margin():
    """Oracle: by hand. Multipliers below their bounds ask nothing of the cost."""
    X, y = make_data(CASES[0])
    path = svc_path(X, y, kernel="rbf", gamma=0.3, stop=0)
    s = path.at(0.5 * path.breakpoints.min())
    assert np.all(s.alpha < 0.9)
    for cost in (0.5 * (1 + A_LITTLE), 0.5 * (1 - A_LITTLE), 0.46, 0.54):
        assert verdict(path, s, cost=cost) == "exact"
    s = path.at(0.1 * path.start)
    assert np.any(s.alpha == 1.0)
    for cost in (0.5 * (1 + A_LITTLE), 0.5 * (1 - A_LITTLE)):
        assert verdict(path, s, cost=cost) == "wrong"


@pytest.mark.parametrize("case", [c for c in CASES if c.has_kernel], ids=lambda case: case.name)
def test_copies_share_a_multiplier_as_they_like(case):
    """Oracle: by hand. Two copies of a point have one f: what one gives the other may take."""
    X, y = make_data(case)
    X, y = np.vstack([X, X[:20]]), np.append(y, y[:20])
    judge = Data(case, X, y, np.ones(len(y)), KERNELS[1])
    path, seen = judge.path, 0
    for fraction in (0.7, 0.3, 0.1, 0.05):
        s = path.at(between(path, fraction))
        for i in range(20):
            both = s.alpha[i] + s.alpha[i + 40]
            for part in (0.5, s.alpha[i + 40] / both if both else 0.0):
                alpha = s.alpha.copy()
                alpha[[i, i + 40]] = part * both, (1 - part) * both
                mutant = replace(s, alpha=alpha, coef=judge.side * alpha / s.lambda_)
                assert path.certify(mutant).verdict == "exact"
                seen += np.any(alpha != s.alpha)
    assert seen > 0


# ---------------------------------------------------------------------- three words


def test_three_words():
    """Oracle: the definition. Round-off above 1e-6 hides everything; else what is asked is
    max(1e-9, 50 floor).
    """
    table = [
        (0.0, 0.0, 0.0, "exact"),
        (1e-9, -1e-9, 1e-16, "exact"),
        (1.1e-9, 0.0, 1e-16, "wrong"),
        (0.0, 1.1e-9, 1e-16, "wrong"),
        (0.0, -1.1e-9, 1e-16, "wrong"),
        (4e-9, 0.0, 1e-10, "exact"),
        (6e-9, 0.0, 1e-10, "wrong"),
        (0.9e-6, 0.0, 1.99e-8, "exact"),
        (0.0, 0.0, 2.01e-8, "not certifiable"),
        (1.0, 1.0, 2.01e-8, "not certifiable"),
        (np.nan, 0.0, 1e-16, "not certifiable"),
        (0.0, np.inf, 1e-16, "not certifiable"),
        (0.0, 0.0, np.nan, "not certifiable"),
    ]
    for violation, gap, floor, word in table:
        c = Certificate(violation, gap, floor)
        assert (c.verdict, c.exact) == (word, word == "exact")
    columns = Certificate(*(np.array(column) for column in list(zip(*table))[:3]))
    assert list(columns.verdict) == [row[3] for row in table]
    assert list(columns.exact) == [row[3] == "exact" for row in table]


@every_case
def test_what_is_no_number_is_never_exact(case):
    """Oracle: the definition of exact."""
    X, y = make_data(case)
    path = case(X, y, kernel="rbf", gamma=0.3)
    s = path.at(between(path, 0.3))
    for bad in (np.nan, np.inf):
        for name in ("coef", "alpha"):
            changed = getattr(s, name).copy()
            changed[0] = bad
            with np.errstate(invalid="ignore"):
                assert not path.certify(replace(s, **{name: changed})).exact
        for name in ("intercept", "lambda_", *s.given):
            if s.given.get(name) == bad:  # the squared hinge has an infinite h
                continue
            with np.errstate(invalid="ignore"):
                assert not path.certify(replace(s, **{name: bad})).exact


def test_round_off_hides_the_answer():
    """Oracle: the definition. Far from the origin K is huge beside what tells points apart."""
    X, y = make_data(CASES[0])
    far = X * 1e-3 + 1e6
    path = svc_path(far, y, kernel="linear")
    s = path.at(path.start)
    c = path.certify(replace(s, coef=s.coef * 1e9, alpha=s.alpha, lambda_=s.lambda_ * 1e-9))
    assert 50 * c.floor > 1e-6
    assert c.verdict == "not certifiable" and not c.exact


@every_case
def test_wrong_shapes_are_refused(case):
    """Oracle: the message, which names the field, what came and what was expected."""
    X, y = make_data(case)
    path = case(X, y, kernel="rbf", gamma=0.3)
    s = path.at(between(path, 0.3))
    n = len(s.coef)
    for name in ("coef", "alpha"):
        for bad in (np.zeros(n + 1), np.zeros((n, 1)), 0.0):
            shape = str(np.shape(bad)).replace("(", r"\(").replace(")", r"\)")
            with pytest.raises(ValueError, match=rf"solution.{name} must have {n} .*{shape}"):
                path.certify(replace(s, **{name: bad}))
    for name in s.given:
        with pytest.raises(ValueError, match=f"solution.{name} must be a number, got None"):
            path.certify(replace(s, **{name: None}))


@pytest.mark.parametrize("case", [c for c in CASES if c.has_kernel], ids=lambda case: case.name)
def test_rows_of_weight_zero_hold_nothing(case):
    """Oracle: the definition of f, to which every coefficient adds."""
    X, y = make_data(case)
    w = np.where(np.arange(len(y)) % 4 == 0, 0.0, 1.0)
    path = case(X, y, w, kernel="rbf", gamma=0.3)
    s = path.at(between(path, 0.3))
    assert path.certify(s).verdict == "exact"
    for name in ("coef", "alpha"):
        for much in (1e-6, np.nan):
            changed = getattr(s, name).copy()
            changed[4] = much * np.abs(changed).max()
            assert not path.certify(replace(s, **{name: changed})).exact


def test_solutions_of_others_can_be_judged():
    """Oracle: closed forms. All multipliers zero where the tube holds everything; all of equal
    size where f is constant.
    """
    X, y = make_data(NUMBERS)
    middle, half = 0.5 * (y.max() + y.min()), 0.5 * (y.max() - y.min())
    path = svr_path(X, y, along="epsilon", lambda_=2.0)
    none = np.zeros(len(y))
    wide = Solution(none, middle, (middle, middle), none, 0.0, 2.0, epsilon=half)
    assert path.certify(wide).verdict == "exact"
    assert path.certify(replace(wide, epsilon=half * (1 - 1e-6))).verdict == "wrong"
    lasso = lasso_path(X, y)
    zero = np.zeros(X.shape[1])
    top = np.abs((X - X.mean(axis=0)).T @ y).max()
    flat = Solution(zero, y.mean(), (y.mean(), y.mean()), zero, 0.0, 1.001 * top)
    assert lasso.certify(flat).verdict == "exact"
    assert lasso.certify(replace(flat, lambda_=0.999 * top)).verdict == "wrong"
    one = one_class_path(X + 3.0, kernel="linear")
    full, f = np.ones(len(y)), (X + 3.0) @ (X + 3.0).sum(axis=0)
    every = Solution(full, -f.max(), (-f.max(),) * 2, full, 0.0, 1.0, nu=1.0)
    assert one.certify(every).verdict == "exact"
    assert one.certify(replace(every, intercept=-0.999 * f.max())).verdict == "wrong"


def test_a_tube_narrower_than_round_off_has_two_edges():
    """Oracle: the definition of exact. Both edges lie within the round-off of each other; a point
    on one of them is not taken for one on the other.
    """
    wrong, narrow = [], 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(7, 3)), rng.normal(size=7)
        X[:, 0] = 7.0
        options = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "intercept": False}
        path = svr_path(X, y, along="epsilon", lambda_=1e-2, stop=0, **options)
        values = path.start * np.geomspace(1e-12, 1e-3, 60)
        c = path.certificate(values)
        narrow += np.sum(2 * values < 50 * c.floor * y.std())
        wrong += [(seed, v) for v in values[c.verdict == "wrong"]]
    assert narrow > 0 and wrong == []


def half_norm(X, a):
    """1/2 |sum a_i x_i|^2 in exact arithmetic."""
    f = [sum(Fraction(u) * Fraction(x) for u, x in zip(a, column)) for column in X.T.tolist()]
    return sum(value**2 for value in f) / 2


def test_short_rows_beside_long_ones_are_no_round_off():
    """Oracle: the objective in exact arithmetic at a feasible point, all weight on the shortest
    rows. Lengths differ by twelve orders; f is of the size of the shortest.
    """
    ended, judged = 0, 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(8, 10)) * 10.0 ** rng.uniform(-6, 6, (8, 1))
        path = one_class_path(X, kernel="linear")
        ended += not path.complete and path.reason.startswith("round-off")
        for nu in np.linspace(max(path.stop, 0.05), 1.0, 7):
            share = np.clip(nu * 8 - np.argsort(np.argsort((X**2).sum(axis=1))), 0.0, 1.0)
            if path.certificate(nu).exact:
                judged += 1
                a = path.at(nu).coef.tolist()
                assert half_norm(X, a) <= half_norm(X, share.tolist()) * Fraction(1 + 1e-8)
    assert ended > 0 and judged > 8


def test_a_wrong_solution_on_short_rows_is_refused():
    """Oracle: closed form. Multipliers of rows at right angles go as 1 over squared lengths."""
    nu = 0.25
    for short in (1e-1, 1e-2, 1e-3):
        square = np.array([short**2, 1.0])
        path = one_class_path(np.diag(square), kernel="precomputed", stop=0.2)
        a = 2 * nu / square / np.sum(1 / square)
        rho = a[0] * square[0]
        right = Solution(a, -rho, (-rho, -rho), a, nu, 1.0, nu=nu)
        moved = a + np.array([-1e-6, 1e-6]) * a[1]
        wrong = {"intercept": -rho * (1 - 1e-6)}, {"coef": moved, "alpha": moved}
        assert path.certify(right).verdict == "exact"
        for change in wrong:
            assert path.certify(dataclasses.replace(right, **change)).verdict == "wrong"


@pytest.mark.parametrize("rows", [[4], [4, 5]])
def test_rows_that_are_nothing_are_certified(rows):
    """Oracle: closed form. Where rows of zeros may hold all multipliers, f = 0."""
    rng = np.random.default_rng(0)
    X = np.maximum(rng.normal(size=(30, 8)), 0.0)
    X[rows] = 0.0
    path = one_class_path(X, kernel="linear")
    assert path.complete
    nu = 0.9 * len(rows) / 30
    np.testing.assert_allclose(path.decision_function(X, nu), 0.0, atol=1e-12)
    knots = np.unique(path.breakpoints)
    assert path.certificate(np.union1d(knots, 0.5 * (knots[1:] + knots[:-1]))).exact.all()


def in_epsilon(X, y, **options):
    """Upward, to where the tube holds every point."""
    path = quadratic_svr_path(X, y, **options)
    return path.turn("epsilon", at=0.01 * path.start, stop=3.0 * np.ptp(y))


def in_cost(X, y, **options):
    return svc_path(X, y > 1.0, along="cost", **options)


@pytest.mark.parametrize("weights", [0.0, 6.0], ids=["alike", "six orders"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "walk",
    [
        in_epsilon,
        partial(svr_path, along="epsilon"),
        partial(nu_svr_path, along="nu"),
        partial(quantile_path, along="tau"),
        in_cost,
    ],
    ids=["quadratic", "epsilon", "nu", "tau", "cost"],
)
def test_beside_breakpoints(walk, seed, weights):
    """Oracle: the certificate, at values that come nearer and nearer to every breakpoint. What is
    nearly a corner is not at it, and what is nearly no model is one, by the least weight too.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(8, 2)), rng.integers(0, 4, 8).astype(float)
    w = 10.0 ** rng.uniform(0.0, weights, 8)
    assert_exact_beside(walk(X, y, gamma=1.0, sample_weight=w))


@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_beside_breakpoints_with_one_heavy_row(seed):
    """Oracle: as above. Pins move by the heavy weight; a light row is judged by its own."""
    rng = np.random.default_rng(seed)
    X, y, w = np.where(np.arange(8) == 0, 2.0, 1.0)[:, None], rng.integers(0, 2, 8), np.ones(8)
    y[:2], w[rng.integers(8)] = [0, 1], 1e6
    path = svc_path(X, y, along="cost", lambda_=100.0, gamma=1.0, sample_weight=w)
    assert_exact_beside(path)


def assert_exact_beside(path):
    knots, near = np.unique(path.breakpoints), 10.0 ** np.arange(-11.0, -1.0)
    values = np.concatenate([np.outer(knots, 1.0 + sign * near).ravel() for sign in (1, -1)])
    low, high = sorted([path.start, path.stop])
    values = values[(values >= low) & (values <= high)]
    assert path.complete and len(values) and path.certificate(values).exact.all()
