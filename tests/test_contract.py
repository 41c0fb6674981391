"""What every problem must pass. A problem joins by one line in `contract.CASES`."""

import numpy as np
import pytest

import chemin
from contract import (
    CASES,
    assert_exact,
    assert_ordered,
    assert_walked,
    bends,
    between,
    bottom,
    distinct,
    kernel_part,
    make_data,
    make_tied,
    random_values,
    within,
)

KERNELS = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 3, "coef0": 1.0},
    {"kernel": "rbf", "gamma": 0.3},
]

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
with_kernels = [
    pytest.param(case, options, id=f"{case.name}-{options['kernel']}")
    for case in CASES
    for options in (KERNELS if case.has_kernel else KERNELS[:1])
]
with_units = [  # labels have none, and where there is no target there is none either
    pytest.param(case, what, id=f"{case.name}-{what}")
    for case in CASES
    for what in ("X", "w", "y")
    if case.target == "numbers" or what != "y"
]
with_and_without = pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])


def same_f(a, b, X, values, tolerance=1e-7):
    """f is the same for two paths, beside its own size."""
    f, g = a.decision_function(X, values), b.decision_function(X, values)
    np.testing.assert_allclose(f, g, atol=tolerance * max(1.0, np.abs(f).max()), rtol=0)


# ---------------------------------------------------------------------- exact


@pytest.mark.parametrize("case, options", with_kernels)
@with_and_without
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
def test_exact_everywhere(case, data, options, intercept):
    """Oracle: the certificate, at breakpoints, midpoints, 200 random values and above."""
    X, y = data(case)
    path = case(X, y, intercept=intercept, **options)
    assert path.complete
    assert_walked(path)


@every_case
def test_weighted_is_exact(case):
    """Oracle: the certificate, with weights that differ by a factor of a thousand."""
    X, y = make_data(case)
    w = 10.0 ** np.random.default_rng(3).uniform(-2, 1, len(y))
    assert_walked(case(X, y, w, kernel="rbf", gamma=0.3))


@every_case
def test_breakpoints_never_turn_back(case):
    """Oracle: the order of numbers; and every event is from a stair to one beside it."""
    X, y = make_tied(case)
    path = case(X, y, kernel="rbf", gamma=0.3)
    assert_ordered(path)
    assert np.all(np.abs(path.events["to"] - path.events["from"]) == 1)
    assert np.all((path.events["to"] >= 0) & (path.events["to"] < len(path.stair_names)))


@every_case
@pytest.mark.parametrize("fraction", [0.9, 0.3, 0.01])
def test_a_start_in_the_middle(case, fraction):
    """Oracle: the path from the top, at common values."""
    X, y = make_data(case)
    whole = case(X, y, kernel="rbf", gamma=0.3)
    start = between(whole, fraction)
    part = case(X, y, kernel="rbf", gamma=0.3, start=start, stop=whole.stop)
    assert part.start == pytest.approx(start)
    assert_walked(part, above=False)
    same_f(whole, part, X, within(part, random_values(part)))


# ---------------------------------------------------------------------- invariants


@every_case
@with_and_without
def test_permuted_rows(case, intercept):
    """Oracle: an invariant. Same breakpoints, same f."""
    X, y = make_data(case)
    order = np.random.default_rng(1).permutation(len(y))
    options = {"kernel": "rbf", "gamma": 0.3, "intercept": intercept}
    a, b = case(X, y, **options), case(X[order], y[order], **options)
    low = 1.001 * max(bottom(a), bottom(b))
    np.testing.assert_allclose(bends(a, X, low), bends(b, X, low), rtol=1e-8)
    same_f(a, b, X, random_values(a, low=bottom(b)))


@every_case
def test_permuted_rows_with_ties(case):
    """Oracle: an invariant. Same bends, same f, whatever the order of the events."""
    X, y = make_tied(case)
    order = np.random.default_rng(1).permutation(len(y))
    options = {"kernel": "rbf", "gamma": 0.3}
    a, b = case(X, y, **options), case(X[order], y[order], **options)
    low = 1.001 * max(bottom(a), bottom(b))
    np.testing.assert_allclose(bends(a, X, low), bends(b, X, low), rtol=1e-7)
    same_f(a, b, X, random_values(a, low=bottom(b)))


@every_case
@with_and_without
def test_weight_k_is_k_rows(case, intercept):
    """Oracle: an invariant. Same bends, same f."""
    X, y = make_data(case, n=25)
    w = np.random.default_rng(2).integers(1, 4, len(y))
    options = {"kernel": "rbf", "gamma": "scale", "intercept": intercept}
    weighted = case(X, y, w.astype(float), **options)
    repeated = case(np.repeat(X, w, axis=0), np.repeat(y, w), **options)
    same_f(weighted, repeated, X, random_values(weighted, low=bottom(repeated)))
    low = 1.001 * max(bottom(weighted), bottom(repeated))
    np.testing.assert_allclose(bends(weighted, X, low), bends(repeated, X, low), rtol=1e-7)
    assert_exact(repeated)


@every_case
@with_and_without
def test_weight_zero_is_no_row(case, intercept):
    """Oracle: an invariant. Same breakpoints, same f, and the row has no multiplier."""
    X, y = make_data(case, n=30)
    w = np.ones(len(y))
    w[[0, 7, 8, 29]] = 0.0
    kept = w > 0
    options = {"kernel": "rbf", "gamma": "scale", "intercept": intercept}
    weighted, removed = case(X, y, w, **options), case(X[kept], y[kept], **options)
    np.testing.assert_allclose(weighted.breakpoints, removed.breakpoints, rtol=1e-12)
    same_f(weighted, removed, X, random_values(weighted, low=bottom(removed)), 1e-12)
    if case.has_kernel:
        assert not weighted.at(between(weighted, 0.1)).alpha[~kept].any()
        assert set(weighted.events["variable"]) <= {*np.flatnonzero(kept), len(y), len(y) + 1}


@pytest.mark.parametrize("case, what", with_units)
@with_and_without
@pytest.mark.parametrize("factor", [1e-6, 0.3, 1e6])
def test_units_do_not_matter(case, what, factor, intercept):
    """Oracle: an invariant. lambda, epsilon and f scale with X, the weights and y."""
    X, y = make_data(case)
    scaled = {"X": X, "y": y, "w": np.ones(len(y))}
    scaled[what] = scaled[what] * factor
    grown = factor ** case.powers[what]  # what lambda is multiplied by
    options, held = {"kernel": "linear", "intercept": intercept}, {}
    stretch = factor ** case.f_powers[what]  # what f and epsilon are multiplied by
    plain = case(X, y, **options)
    s = plain.at(plain.start)
    if plain.parameter != "lambda" and "lambda_" in case.arguments:
        held["lambda_"] = s.lambda_ * grown
    if plain.parameter != "epsilon" and "epsilon" in case.arguments:
        held["epsilon"] = s.epsilon * stretch
    if "h" in case.arguments and case.target == "numbers":
        held["h"] = s.h * stretch
    other = case(scaled["X"], scaled["y"], scaled["w"], **options, **held)
    ratio = {"lambda": grown, "epsilon": stretch}.get(plain.parameter, 1.0)
    np.testing.assert_allclose(
        bends(other, scaled["X"], 1.001 * bottom(other)),
        ratio * bends(plain, X, 1.001 * bottom(plain)),
        rtol=1e-7,
    )
    assert_exact(other)
    values = random_values(plain)
    values = values[values * ratio >= bottom(other)]
    f = plain.decision_function(X, values)
    g = other.decision_function(scaled["X"], values * ratio) / stretch
    np.testing.assert_allclose(f, g, atol=1e-7 * np.abs(f).max())


# ---------------------------------------------------------------------- evaluation


@every_case
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
def test_continuous(case, data):
    """Oracle: an invariant. f without its intercept does not jump at breakpoints."""
    X, y = data(case)
    path = case(X, y, kernel="rbf", gamma=0.3)
    knots = distinct(path.breakpoints)
    knots = knots[(knots > bottom(path) * (1 + 1e-6)) & (knots > 0)]
    knots = within(path, knots * (1 + 1e-6)) / (1 + 1e-6)
    at = kernel_part(path, X, knots)
    size = np.abs(at).max() + 1.0
    for side in (1 - 1e-10, 1 + 1e-10):
        beside = np.minimum(side * knots, 1.0) if path.parameter == "nu" else side * knots
        np.testing.assert_allclose(kernel_part(path, X, beside), at, atol=1e-6 * size)


@every_case
def test_many_values_are_as_one_by_one(case):
    """Oracle: the same path, one value at a time; and f from the coefficients."""
    X, y = make_data(case)
    path = case(X, y, kernel="linear")
    new = np.random.default_rng(4).normal(size=(7, X.shape[1]))
    values = random_values(path, 30)
    together = path.decision_function(new, values)
    assert together.shape == (7, len(values))
    for j, value in enumerate(values):
        alone, size = path.decision_function(new, value), np.abs(together[:, j]).max()
        np.testing.assert_allclose(alone, together[:, j], rtol=0, atol=1e-11 * size)
        s = path.at(value)
        features = new @ X.T if case.has_kernel else new
        np.testing.assert_allclose(features @ s.coef + s.intercept, alone, atol=1e-9 * size)
    predicted = path.predict(new, values)
    if path.classes_ is not None:
        np.testing.assert_array_equal(predicted, path.classes_[(together > 0).astype(int)])
    else:
        np.testing.assert_array_equal(predicted, together)


@every_case
def test_saved_and_loaded(case, tmp_path):
    """Oracle: the path that was saved, bit by bit."""
    X, y = make_data(case)
    path = case(X, y, np.arange(1.0, len(y) + 1), kernel="rbf", gamma="scale")
    path.save(tmp_path / "path.npz")
    again = chemin.load(tmp_path / "path.npz")
    values = random_values(path)
    np.testing.assert_array_equal(again.events, path.events)
    for name in ("decision_function", "predict"):
        a, b = (getattr(p, name)(X[:5], values) for p in (path, again))
        np.testing.assert_array_equal(a, b)
    a, b = path.certificate(values), again.certificate(values)
    np.testing.assert_array_equal(a.kkt_violation, b.kkt_violation)
    np.testing.assert_array_equal(a.relative_gap, b.relative_gap)
    assert repr(again) == repr(path)
    s, t = path.at(values[0]), again.at(values[0])
    np.testing.assert_array_equal(s.coef, t.coef)
    assert (s.intercept, s.objective, s.lambda_) == (t.intercept, t.objective, t.lambda_)
    assert (again.complete, again.reason) == (path.complete, path.reason)


@every_case
@pytest.mark.parametrize("limit", [1, 2, 3, "half"])
def test_a_limit_of_events(case, limit):
    """Oracle: the whole path, of which this is the beginning; and the certificate."""
    X, y = make_data(case)
    whole = case(X, y, kernel="rbf", gamma=0.3)
    limit = whole.n_events // 2 if limit == "half" else limit
    part = case(X, y, kernel="rbf", gamma=0.3, max_events=limit)
    assert not part.complete and "max_events" in part.reason and str(limit) in part.reason
    assert part.n_events == limit and part.start == pytest.approx(whole.start, rel=1e-12)
    np.testing.assert_allclose(part.breakpoints, whole.breakpoints[:limit], rtol=1e-12)
    assert abs(part.stop - whole.start) <= abs(whole.stop - whole.start)
    assert_exact(part)
    with pytest.raises(ValueError, match="max_events"):
        part.at(0.5 * (part.stop + whole.stop))


@every_case
def test_objective_is_least(case):
    """Oracle: other solutions of the path. None has a smaller objective at this value."""
    X, y = make_data(case)
    path = case(X, y, kernel="linear")
    s = path.at(between(path, 0.05))
    K = X @ X.T if case.has_kernel else None
    best = objective(case, s, s, X, y, K)
    assert s.objective == pytest.approx(best, rel=1e-9)
    for other in random_values(path, 20):
        t = path.at(other)
        assert objective(case, s, t, X, y, K) >= best - 1e-12 * abs(best)


def objective(case, at, s, X, y, K):
    """The objective at the parameters of `at` of the model `s`, written again."""
    y = np.where(y > 0, 1, -1) if case.target == "labels" else y
    if K is None:
        prices = case.prices(X, y, np.ones(len(y)), True)
        penalty, f = np.sum(prices * np.abs(s.coef)), X @ s.coef
    else:
        penalty, f = 0.5 * s.coef @ K @ s.coef, K @ s.coef
    return at.lambda_ * penalty + case.loss(at, y, s, f + s.intercept).sum()
