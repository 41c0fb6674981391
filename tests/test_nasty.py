"""Never stuck: random problems from nasty families are all walked to the end, exactly.

Oracle: the certificate, computed from the data at every breakpoint, between them, at 200 random
values and above the start. A path may end before its stop for one reason only: round-off.
"""

import os
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chemin import (
    expectile_path,
    l1_svc_path,
    lasso_path,
    nu_svr_path,
    quadratic_svc_path,
    quadratic_svr_path,
    quantile_path,
    svc_path,
    svr_path,
)
from chemin.engine.blocked import BlockWalker
from contract import (
    CASES,
    MORE,
    ROUND_OFF,
    assert_walked,
    beside_breakpoints,
    partly_labelled,
)

SHARE = 150  # of each problem in `make test`
STRESS = int(os.environ.get("CHEMIN_EXAMPLES", 5000))  # in `make stress`, of each problem

KERNELS = [{"kernel": "linear"}, {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 1.0}] + [
    {"kernel": "rbf", "gamma": g} for g in (0.01, 0.1, 1.0, 10.0, 100.0)
]
POINTS = [
    "normal", "grid", "binary", "symmetric", "collinear", "constant feature", "decimals",
    "twelve orders",
]  # fmt: skip
LABELS = ["random", "alone", "unbalanced", "by sign", "alternating"]
TARGETS = ["normal", "ties", "binary", "of the points", "outlier"]
WEIGHTS = ["none", "zeros", "whole", "huge", "zeros and huge", "one huge", "tiny", "twelve orders"]
ORDINARY_WEIGHTS = ["none", "zeros", "whole"]


@dataclass(frozen=True)
class Recipe:
    """A problem in words and a seed: what a failing case is remembered by."""

    seed: int
    n: int
    d: int
    points: str
    copies: float  # the share of rows that repeat another one
    target: str
    weights: str
    intercept: bool
    options: Any  # pairs of name and value

    def data(self):
        """X, y and weights."""
        rng = np.random.default_rng(self.seed)
        X = make_points(self.points, self.n, self.d, rng)
        copies = rng.random(self.n) < self.copies
        X[copies] = X[rng.integers(0, self.n, copies.sum())]
        make = make_labels if self.target in LABELS else make_target
        y = make(self.target, X, rng)
        return X, y, make_weights(self.weights, y, rng)

    @property
    def ordinary(self):
        """Whether weights and features are of ordinary scales, and the stop is the default one."""
        plain = self.points != "twelve orders" and self.weights in ORDINARY_WEIGHTS
        return plain and dict(self.options).get("stop") is None

    def walk(self, function):
        X, y, w = self.data()
        options = dict(self.options)
        return function(X, y, sample_weight=w, intercept=self.intercept, **options)


def make_points(kind, n, d, rng):
    X = rng.normal(size=(n, d))
    if kind == "grid":
        return rng.integers(0, 4, size=(n, d)).astype(float)
    if kind == "binary":
        return rng.integers(0, 2, size=(n, d)).astype(float)
    if kind == "decimals":
        return np.round(X, 1)
    if kind == "symmetric":  # a point and its mirror image, one after the other
        X = np.round(X, 1)
        X[1::2] = -X[: n - 1 : 2][: len(X[1::2])]
    if kind == "collinear":  # rank one, with whole numbers
        X = np.outer(rng.integers(-3, 4, n), rng.integers(-2, 3, d)).astype(float)
    if kind == "constant feature":
        X[:, 0] = 7.0
    if kind == "twelve orders":
        X *= 10.0 ** rng.integers(-6, 7, d)
    return X


def make_labels(kind, X, rng):
    n = len(X)
    y = rng.integers(0, 2, n)
    if kind == "alone":
        y = np.zeros(n, int)
    if kind == "unbalanced":
        y = (rng.random(n) < 0.15).astype(int)
    if kind == "by sign":
        y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    if kind == "alternating":
        y = np.arange(n) % 2
    if y.min() == y.max():
        y[rng.integers(n)] = 1 - y[0]
    return y


def make_target(kind, X, rng):
    n = len(X)
    y = rng.normal(size=n)
    if kind == "ties":
        y = rng.integers(0, 3, n).astype(float)
    if kind == "binary":
        y = rng.integers(0, 2, n).astype(float)
    if kind == "of the points":  # noiseless, so many points stand on the tube together
        y = X @ rng.integers(-2, 3, X.shape[1])
    if kind == "outlier":
        y[0] = 1e4
    if np.all(y == y[0]):
        y[0] += 1.0
    return y


def make_weights(kind, y, rng):
    n = len(y)
    choices = {
        "zeros": [0.0, 1.0, 1.0],
        "whole": [1.0, 2.0, 3.0],
        "huge": [1.0, 1e6],
        "zeros and huge": [0.0, 1.0, 1e6],
        "tiny": [1e-6, 1.0],
    }
    if kind == "none":
        return None
    w = np.ones(n)
    if kind == "one huge":
        w[rng.integers(n)] = 1e6
        return w
    if kind == "twelve orders":
        return 10.0 ** rng.uniform(-6, 6, n)
    w = rng.choice(choices[kind], n)
    # Two different targets must remain.
    w[np.argmax(y)], w[np.argmin(y)] = (np.maximum(w[i], 1.0) for i in (np.argmax(y), np.argmin(y)))
    return w


def drawn(case, rng):
    """A recipe for one problem of the contract, without hypothesis."""
    own = {k: v[rng.integers(len(v))] for k, v in case.nasty.items() if k != "kernels"}
    kernels = case.nasty.get("kernels", KERNELS) if case.has_kernel else [{}]
    options = kernels[rng.integers(len(kernels))] | own
    targets = LABELS if case.target == "labels" else TARGETS
    return Recipe(
        seed=int(rng.integers(2**32)),
        n=int(rng.integers(2, 17)),
        d=int(rng.integers(1, 5)),
        points=POINTS[rng.integers(len(POINTS))],
        copies=float(rng.choice([0.0, 0.3, 0.7])),
        target=targets[rng.integers(len(targets))],
        weights=WEIGHTS[rng.integers(len(WEIGHTS))],
        intercept=bool(rng.integers(2)),
        options=tuple(sorted(options.items())),
    )


def recipes(targets, options):
    """Recipes for a kind of target, with the options of one problem."""
    return st.builds(
        Recipe,
        seed=st.integers(0, 2**32 - 1),
        n=st.integers(2, 16),
        d=st.integers(1, 4),
        points=st.sampled_from(POINTS),
        copies=st.sampled_from([0.0, 0.3, 0.7]),
        target=st.sampled_from(targets),
        weights=st.sampled_from(WEIGHTS),
        intercept=st.booleans(),
        options=options.map(lambda d: tuple(sorted(d.items()))),
    )


def strategy(case):
    """Recipes for one problem of the contract: its kind of target, a kernel, its own options."""
    own = {k: st.sampled_from(v) for k, v in case.nasty.items() if k != "kernels"}
    kernels = case.nasty.get("kernels", KERNELS) if case.has_kernel else [{}]
    options = st.builds(lambda a, b: a | b, st.sampled_from(kernels), st.fixed_dictionaries(own))
    return recipes(LABELS if case.target == "labels" else TARGETS, options)


def recipe(*words, stop=None, **options):
    """A recipe in the order of its fields, then a kernel, with the other options by name."""
    *fields, kernel = words
    return Recipe(*fields, options=tuple(sorted((kernel | options | {"stop": stop}).items())))


def rbf(gamma):
    return {"kernel": "rbf", "gamma": gamma}


def tube(lambda_):
    return {"along": "epsilon", "lambda_": lambda_}


LINEAR, POLY = KERNELS[:2]


# Cases that failed once. They stay.
# fmt: off
REGRESSIONS = {
    svc_path: [
        recipe(974, 2, 1, "decimals", 0.5, "alternating", "none", False, rbf(1)),
        recipe(677, 2, 1, "grid", 0.5, "alone", "whole", True, POLY),
        recipe(355, 2, 2, "collinear", 0.0, "random", "one huge", True, rbf(1)),
        recipe(585, 2, 2, "grid", 0.5, "by sign", "one huge", False, LINEAR),
        recipe(557, 2, 2, "collinear", 0.0, "unbalanced", "one huge", True, rbf(100)),
        recipe(550, 2, 2, "constant feature", 0.5, "unbalanced", "tiny", True, LINEAR),
        recipe(707, 4, 1, "constant feature", 0.0, "alternating", "tiny", True, rbf(1)),
        recipe(302, 5, 2, "constant feature", 0.0, "unbalanced", "one huge", True, LINEAR),
        recipe(589, 6, 2, "constant feature", 0.5, "unbalanced", "one huge", True, rbf(10)),
        recipe(384, 6, 1, "normal", 0.5, "random", "none", True, rbf(0.01)),
        recipe(541, 7, 2, "collinear", 0.0, "unbalanced", "none", True, POLY),
        recipe(48523033, 11, 4, "collinear", 0.3, "unbalanced", "whole", False, POLY),
        recipe(1031982466, 10, 3, "grid", 0.7, "random", "zeros and huge", True, rbf(1)),
        recipe(160148546, 14, 4, "collinear", 0.0, "alone", "zeros and huge", True, LINEAR),
        recipe(267138033, 3, 2, "symmetric", 0.0, "alternating", "one huge", True, rbf(10), stop=0),
        recipe(2, 2, 1, "normal", 0.3, "random", "huge", False, LINEAR, stop=0),
        recipe(3586103837, 13, 2, "symmetric", 0.3, "unbalanced", "zeros", True, LINEAR),
    ],
    svr_path: [
        recipe(128991, 3, 4, "normal", 0.3, "ties", "zeros and huge", True, LINEAR, epsilon=1.0,
               stop=0.0),
        recipe(3482385915, 6, 2, "collinear", 0.3, "of the points", "twelve orders", True, rbf(1),
               epsilon=0.5, stop=0),
        Recipe(
            seed=2,
            n=2,
            d=1,
            points="normal",
            copies=0.3,
            target="ties",
            weights="one huge",
            intercept=True,
            options=(
                ("along", "lambda"),
                ("epsilon", 0.5),
                ("gamma", 0.1),
                ("kernel", "rbf"),
                ("stop", None),
            ),
        ),
        recipe(190, 2, 2, "constant feature", 0.0, "ties", "whole", False, rbf(100), epsilon=0),
        recipe(944, 2, 2, "collinear", 0.0, "outlier", "none", False, rbf(1), epsilon=0.5),
        recipe(171, 2, 2, "collinear", 0.5, "of the points", "one huge", False, rbf(10), epsilon=0),
        recipe(963, 2, 2, "collinear", 0.5, "ties", "one huge", True, rbf(1), epsilon=0.1),
        recipe(683821176, 6, 4, "binary", 0.0, "binary", "none", True, LINEAR, epsilon=0.5),
        recipe(4198799368, 3, 1, "binary", 0.3, "ties", "whole", True, rbf(0.1), epsilon=0.1),
        recipe(2662748004, 3, 4, "symmetric", 0.7, "binary", "one huge", True, rbf(0.1),
               epsilon=0.1, stop=0),
        recipe(891, 2, 1, "normal", 0.0, "normal", "none", True, POLY | tube(0.01)),
        recipe(485, 2, 2, "decimals", 0.5, "of the points", "whole", True, rbf(1) | tube(100)),
        recipe(578, 2, 2, "collinear", 0.5, "binary", "one huge", True, POLY | tube(0.01), stop=0),
        recipe(954, 3, 1, "normal", 0.5, "normal", "none", False, POLY | tube(0.01), stop=0),
        recipe(72, 4, 1, "constant feature", 0.0, "of the points", "one huge", False,
               POLY | tube(0.01)),
        recipe(1200590983, 8, 2, "grid", 0.0, "binary", "whole", True, LINEAR | tube(1)),
        recipe(415430006, 12, 1, "decimals", 0.0, "ties", "none", True, LINEAR | tube(0.01),
               stop=0),
        recipe(940887474, 15, 4, "collinear", 0.7, "binary", "one huge", True, LINEAR | tube(0.01)),
        recipe(535327840, 9, 1, "collinear", 0.0, "binary", "zeros and huge", True, POLY,
               epsilon=0.5),
        recipe(2159177148, 5, 1, "twelve orders", 0.7, "binary", "none", False,
               rbf(1.0) | tube(100)),
        recipe(3370304366, 4, 1, "normal", 0.0, "of the points", "tiny", True,
               rbf(0.1) | tube(100)),
    ],
    nu_svr_path: [
        recipe(3465024747, 13, 2, "twelve orders", 0.7, "binary", "none", True, rbf(0.01),
               along="nu", lambda_=1.0),
        recipe(546897081, 5, 3, "decimals", 0.0, "outlier", "twelve orders", True,
               {"kernel": "poly", "gamma": 1.0, "degree": 3, "coef0": 1.0}, along="nu",
               lambda_=0.01),
        recipe(3712073953, 12, 1, "twelve orders", 0.7, "ties", "twelve orders", False, rbf(0.1),
               nu=0.83),
    ],
    quadratic_svc_path: [
        recipe(2905040634, 5, 3, "twelve orders", 0.0, "by sign", "twelve orders", False, POLY),
        recipe(3422969884, 2, 2, "twelve orders", 0.0, "by sign", "zeros", True, rbf(100.0),
               rho=0.5, h=0.01),
        recipe(2902361384, 12, 2, "constant feature", 0.0, "alone", "twelve orders", True, rbf(0.1),
               rho=1.0, h=0.2),
        recipe(679470437, 9, 1, "twelve orders", 0.0, "random", "none", True, rbf(0.01), rho=1.1,
               h=0.2),
        recipe(991802847, 13, 1, "normal", 0.7, "alone", "one huge", True, rbf(1.0), rho=1.1,
               h=3.0),
        recipe(1469958801, 13, 4, "constant feature", 0.3, "by sign", "twelve orders", True,
               rbf(100.0)),
        recipe(956250995, 15, 4, "binary", 0.7, "alone", "twelve orders", True, LINEAR),
        recipe(360797730, 15, 2, "twelve orders", 0.0, "by sign", "one huge", True, rbf(0.01)),
        recipe(2032937307, 8, 2, "constant feature", 0.0, "unbalanced", "twelve orders", True,
               LINEAR, rho=1.0, h=0.01),
        recipe(3670821077, 5, 4, "normal", 0.3, "random", "one huge", True, rbf(100.0)),
        recipe(3209016124, 9, 3, "twelve orders", 0.7, "alternating", "one huge", True, rbf(1.0),
               h=0.2),
    ],
    quadratic_svr_path: [
        recipe(2953187443, 16, 3, "normal", 0.0, "binary", "twelve orders", False, POLY,
               epsilon=0.1, h=2.0),
        recipe(4161632975, 12, 2, "grid", 0.7, "binary", "tiny", False, rbf(10.0), epsilon=0.0,
               h=2.0),
        recipe(1031734994, 14, 3, "twelve orders", 0.3, "binary", "tiny", False, rbf(1.0),
               epsilon=0.0, h=0.01),
        recipe(3429537581, 4, 2, "constant feature", 0.3, "normal", "one huge", True, rbf(0.01),
               epsilon=1.0),
        recipe(582104010, 12, 2, "twelve orders", 0.7, "binary", "one huge", False, rbf(100.0)),
        recipe(2255414920, 11, 1, "grid", 0.3, "normal", "twelve orders", False, POLY, epsilon=0.5,
               h=0.5),
        recipe(2813288941, 3, 1, "normal", 0.7, "binary", "huge", True, rbf(0.01), epsilon=0.5),
    ],
    expectile_path: [
        recipe(1068608974, 2, 4, "normal", 0.7, "binary", "none", False, rbf(10.0), tau=0.5),
        recipe(1472751432, 16, 4, "normal", 0.0, "normal", "twelve orders", False,
               {"kernel": "poly", "gamma": 1.0, "degree": 3, "coef0": 1.0}, tau=0.9),
    ],
    lasso_path: [
        recipe(544, 2, 2, "decimals", 0.5, "ties", "none", True, {}, stop=0),
        recipe(749, 2, 1, "collinear", 0.0, "of the points", "none", False, {}, stop=0),
        recipe(294, 2, 2, "grid", 0.0, "normal", "none", False, {}, stop=0),
        recipe(34, 2, 2, "binary", 0.0, "outlier", "none", False, {}, stop=0),
        recipe(15, 3, 2, "binary", 0.0, "outlier", "none", True, {}, stop=0),
        recipe(800, 3, 2, "decimals", 0.5, "ties", "one huge", True, {}, stop=0),
        recipe(934, 5, 2, "collinear", 0.5, "outlier", "tiny", False, {}, stop=0),
        recipe(4148137786, 6, 4, "grid", 0.3, "of the points", "zeros and huge", False, {}, stop=0),
        recipe(2986086055, 7, 3, "twelve orders", 0.3, "outlier", "huge", True, {}, stop=0),
        recipe(4208970248, 3, 4, "normal", 0.3, "binary", "zeros and huge", True, {},
               standardize=True),
    ],
    l1_svc_path: [
        recipe(2, 12, 2, "twelve orders", 0.0, "by sign", "twelve orders", True, {}, lambda2=1e-5,
               stop=0.0),
        recipe(4102402114, 6, 3, "decimals", 0.7, "alternating", "whole", True, {}, lambda2=0.0,
               stop=0),
        recipe(608774154, 10, 4, "normal", 0.0, "random", "none", True, {}, lambda2=0.0, stop=0),
        recipe(3147742111, 15, 4, "decimals", 0.7, "alone", "twelve orders", True, {},
               lambda2=0.01),
        recipe(2052846036, 15, 1, "normal", 0.0, "by sign", "whole", True, {}, stop=0),
        recipe(2770737294, 2, 2, "binary", 0.3, "unbalanced", "zeros", False, {}, stop=0),
        recipe(205622646, 7, 4, "grid", 0.7, "random", "zeros and huge", True, {}, stop=0),
        recipe(1308113419, 2, 4, "grid", 0.3, "by sign", "huge", True, {}, lambda2=1e-5, stop=0),
        recipe(2620333000, 5, 4, "twelve orders", 0.3, "unbalanced", "huge", True, {}, lambda2=1e-5,
               stop=0),
        recipe(1466536000, 4, 2, "twelve orders", 0.3, "alternating", "tiny", True, {},
               lambda2=0.01, stop=0),
    ],
    partly_labelled: [
        recipe(2280359842, 6, 4, "binary", 0.3, "unbalanced", "zeros and huge", True, rbf(0.1),
               lambda2=0.01, rho=0.0),
        recipe(2303874994, 10, 1, "twelve orders", 0.0, "unbalanced", "whole", False, rbf(1.0),
               lambda2=1.0, rho=100.0, stop=0),
        recipe(3367663671, 8, 2, "normal", 0.7, "unbalanced", "twelve orders", True, LINEAR,
               lambda2=0.01, rho=0.0, stop=0),
        recipe(2805485797, 12, 2, "collinear", 0.0, "unbalanced", "huge", True,
               {"kernel": "poly", "gamma": 1.0, "degree": 3, "coef0": 1.0}, lambda2=1.0, rho=100.0),
        recipe(3227644583, 13, 2, "symmetric", 0.0, "unbalanced", "zeros", True, rbf(0.01),
               lambda2=1e-5, rho=100.0, stop=0),
        recipe(3974177389, 5, 2, "normal", 0.7, "alone", "huge", False, POLY, lambda2=1e-5, rho=0.0,
               stop=0),
        recipe(895441871, 4, 1, "binary", 0.0, "unbalanced", "twelve orders", True, LINEAR,
               along="lambda2", lambda1=1.0, rho=0.0),
        recipe(1086880217, 8, 1, "twelve orders", 0.7, "by sign", "zeros", False, LINEAR,
               lambda2=1.0, rho=0.0),
        recipe(1942739313, 16, 2, "twelve orders", 0.7, "unbalanced", "tiny", True, POLY,
               along="lambda2", lambda1=1.0, rho=1.0),
        recipe(1374084507, 15, 3, "symmetric", 0.3, "random", "zeros and huge", True, rbf(0.1),
               lambda2=1e-5, rho=1.0, stop=0),
    ],
}
# fmt: on


def check(case, path):
    """Nowhere wrong. Where round-off hides even the first step there is nothing to certify."""
    if not np.isfinite(path.start):
        assert ROUND_OFF in path.reason
    else:
        assert_walked(path, blind=True)


every_case = pytest.mark.parametrize("case", CASES + MORE, ids=lambda case: case.name)


@every_case
def test_nasty(case):
    """Oracle: the certificate. The same recipes every time."""

    @settings(
        max_examples=SHARE,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(recipe=strategy(case))
    def walk(recipe):
        check(case, recipe.walk(case))

    walk()


@pytest.mark.stress
@pytest.mark.filterwarnings("ignore:the graph has .* components")
@pytest.mark.parametrize("part", range(4))
@every_case
def test_many_more(case, part):
    """Oracle: the certificate. New recipes on every run; what fails goes into REGRESSIONS."""

    @settings(
        max_examples=STRESS // 4,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(recipe=strategy(case))
    def walk(recipe):
        check(case, recipe.walk(case))

    walk()


@pytest.mark.parametrize(
    "function, recipe",
    [pytest.param(f, r, id=f"{f.__name__}-{r.seed}") for f, rs in REGRESSIONS.items() for r in rs],
)
def test_what_failed_once(function, recipe):
    """Oracle: the certificate."""
    assert_walked(recipe.walk(function), blind=True)


# fmt: off
SEEN = [
    recipe(896124794, 3, 2, "symmetric", 0.0, "binary", "whole", True, POLY),
    recipe(909253139, 4, 4, "grid", 0.3, "ties", "whole", True, POLY),
    recipe(4108054070, 11, 3, "symmetric", 0.7, "of the points", "whole", True, POLY),
    recipe(2213217206, 14, 2, "constant feature", 0.3, "normal", "zeros", True, POLY),
]
# fmt: on


@pytest.mark.parametrize("recipe", SEEN, ids=lambda recipe: str(recipe.seed))
def test_a_small_nu_hides_nothing(recipe):
    """Oracle: the certificate. Its floor is in margins, whatever nu is, and the walk goes on while
    that is small: with a perfect fit nu starts to matter at 1e-4 or less.
    """
    path = recipe.walk(partial(nu_svr_path, along="nu", lambda_=0.01))
    assert path.complete, path.reason
    assert_walked(path)


# A multiplier that is a part of 1e-13 of the largest takes away a loss that counts where the
# objective is a part of 1e-9 of all losses, or where coefficients are thousands of margins; a
# coefficient that moves f by as little moves correlations, or is most of the norm.
# fmt: off
TAKEN_FOR_ZERO = [
    ("one-class in nu", [], recipe(3008825995, 9, 4, "decimals", 0.3, "ties", "twelve orders", True,
                                   rbf(10.0))),
    ("nu-svr in nu", [], recipe(1960991498, 13, 3, "symmetric", 0.0, "ties", "zeros and huge",
                                False, rbf(0.1), lambda_=0.01)),
    ("nu-svr in nu", [], recipe(4114935108, 4, 3, "symmetric", 0.3, "ties", "huge", False,
                                rbf(100.0), lambda_=0.01)),
    ("nu-svr in nu", [], recipe(2554767810, 12, 4, "constant feature", 0.7, "normal", "zeros",
                                False, POLY, lambda_=1.0)),
    ("nu-svr in nu", [("lambda", 3.2724636536486436e-06)],
     recipe(2984774408, 15, 4, "constant feature", 0.0, "binary", "twelve orders", True, rbf(1.0),
            lambda_=1.0)),
    ("nu-svr in lambda", [], recipe(3688796584, 7, 3, "binary", 0.3, "of the points",
                                    "twelve orders", True, POLY, nu=0.01)),
    ("nu-svr in lambda", [("nu", 2952.792378892934)],
     recipe(3496603211, 11, 1, "twelve orders", 0.7, "ties", "twelve orders", True, rbf(0.1),
            nu=0.1)),
    ("laplacian svc in lambda2", [],
     recipe(2294274803, 6, 2, "constant feature", 0.7, "by sign", "none", False, POLY, lambda1=0.1,
            rho=100.0)),
    ("laplacian svc in lambda1", [],
     recipe(159507057, 11, 1, "twelve orders", 0.0, "by sign", "huge", True, rbf(0.01),
            lambda2=1.0, rho=1.0, stop=0)),
    ("adaptive ridge in mu", [], recipe(846367803, 13, 2, "twelve orders", 0.7, "ties", "huge",
                                        True, {}, stop=0)),
]
# fmt: on


@pytest.mark.parametrize(
    "name, turns, recipe", TAKEN_FOR_ZERO, ids=[str(r.seed) for _, _, r in TAKEN_FOR_ZERO]
)
def test_just_beside_breakpoints(name, turns, recipe):
    """Oracle: the certificate. Nothing is taken for zero, or for a pin, that a gap can see."""
    path = recipe.walk(next(case for case in CASES + MORE if case.name == name))
    for parameter, at in turns:
        path = path.turn(parameter, at=at)
    assert path.complete
    proof = path.certificate(beside_breakpoints(path))
    assert proof.exact.all(), proof


WITH_COLUMNS = ["lasso", "positive lasso", "elastic net", "garrote", "adaptive ridge"]


@pytest.mark.parametrize("name", WITH_COLUMNS)
def test_wide_data_beside_breakpoints(name):
    """Oracle: the certificate. An outlier makes all else a nearly perfect fit, of which the gap is
    a part: what has just entered counts, however small.
    """
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(8, 16)), rng.normal(size=8), np.where(rng.random(8) < 0.3, 1e6, 1.0)
    y[0] = 1e5
    case = next(case for case in CASES + MORE if case.name.startswith(name))
    path = case(X, y, w)
    assert path.complete
    assert np.all(path.certificate(beside_breakpoints(path)).exact)


# Copies with both labels or with opposite targets take each other's multipliers away.
# fmt: off
AT_REST = [
    (svc_path, recipe(381857516, 12, 3, "constant feature", 0.7, "unbalanced", "none", True,
                      LINEAR)),
    (svc_path, recipe(3597987488, 3, 1, "binary", 0.3, "by sign", "none", True, rbf(0.01))),
    (svr_path, recipe(1858283947, 9, 4, "binary", 0.7, "binary", "zeros", True, rbf(10.0),
                      epsilon=0.0)),
    (svr_path, recipe(3984720581, 11, 1, "grid", 0.7, "binary", "none", False, rbf(0.01),
                      epsilon=0.0)),
    (nu_svr_path, recipe(747607843, 10, 2, "grid", 0.3, "binary", "zeros", True, rbf(1.0),
                         nu=0.1)),
    (quantile_path, recipe(604741936, 2, 3, "collinear", 0.0, "binary", "zeros", False, rbf(1.0),
                           tau=0.3)),
    (quadratic_svc_path, recipe(3225384192, 2, 3, "symmetric", 0.7, "unbalanced", "none", False,
                                rbf(100.0))),
]
# fmt: on


@pytest.mark.parametrize(
    "function, recipe", AT_REST, ids=[f"{f.__name__}-{r.seed}" for f, r in AT_REST]
)
def test_where_nothing_ever_happens_a_path_is_complete(function, recipe):
    """Oracle: f is the same constant at a hundred times the start and at its hundredth."""
    path, X = recipe.walk(function), recipe.data()[0]
    assert path.complete and path.n_events == 0, path
    assert_walked(path)
    f = path.decision_function(X, np.geomspace(1e-2, 1e2, 5) * path.start)
    np.testing.assert_allclose(f, f[0, 0], atol=1e-12)


@pytest.mark.parametrize("seed", [522, 3365, 4833])
def test_a_walk_back_ends(seed, monkeypatch):
    """Oracle: the certificate, and a count of blocks; events once went on in round-off for ever."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 3)) * [1e4, 1e-2, 1e4]
    y = rng.integers(0, 2, 9).astype(float)
    block, walked = BlockWalker.block, []

    def counted(walker, *args):
        walked.append(walker)
        assert len(walked) < 2000
        return block(walker, *args)

    monkeypatch.setattr(BlockWalker, "block", counted)
    assert_walked(nu_svr_path(X, y, nu=0.4, kernel="linear", start=3.5e8, stop=9e7))


def test_permuted_rows_of_a_recipe():
    """Oracle: the certificate. Copies on a line beside a weight of 1e6: each order of the rows has
    other pivots that are zero, and round-off of an unpenalised variable must not hide it.
    """
    case = next(r for r in REGRESSIONS[svr_path] if r.seed == 940887474)
    X, y, w = case.data()
    for seed in range(40):
        order = np.random.default_rng(seed).permutation(len(y))
        path = svr_path(
            X[order], y[order], sample_weight=w[order], intercept=True, **dict(case.options)
        )
        assert_walked(path)
