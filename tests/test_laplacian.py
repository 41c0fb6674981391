"""The sparse Laplacian SVM along lambda1 and lambda2, and turns between them.

min  sum_labelled w_i max(0, 1 - y_i f(x_i)) + lambda2/2 b'K b + mu/2 b'K L K b + lambda1 |b|_1
"""

from dataclasses import replace

import numpy as np
import pytest
from qpsolvers import solve_qp
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import scale

import chemin
from chemin import laplacian_svc_path, svc_path
from chemin.engine.reference import Walker
from chemin.kernels import RBF, GraphGram, graph_laplacian, neighbor_graph
from contract import (
    assert_ordered,
    assert_walked,
    beside_breakpoints,
    between,
    random_values,
    walked_values,
)

OPTIONS = {"gamma": 2.0, "lambda2": 0.01, "mu": 1.0}
# Two moons fall into two components where their noise is small.
pytestmark = pytest.mark.filterwarnings("ignore:the graph has .* components")


def partly(labels, counts, seed=0):
    """Labels 0 and 1 with so many of each class kept, -1 elsewhere."""
    rng, out = np.random.default_rng(seed), np.full(len(labels), -1)
    for c, k in enumerate(counts):
        out[rng.permutation(np.flatnonzero(labels == c))[:k]] = c
    return out


def moons(n=80, counts=(5, 5), seed=0, noise=0.1):
    X, y = make_moons(n, noise=noise, random_state=seed)
    return X, partly(y, counts, seed)


def parts(X, gamma=2.0, n_neighbors=7):
    """K and the Laplacian L, formed without chemin."""
    W = kneighbors_graph(X, n_neighbors, include_self=False).toarray()
    W = np.maximum(W, W.T)
    return rbf_kernel(X, gamma=gamma), np.diag(W.sum(axis=1)) - W


def least(K, L, y, lambda1, lambda2, mu, weight=None):
    """The least objective, by a solver of quadratic programs: b = p - q, b0 = r - s, slacks."""
    labelled = np.flatnonzero(y >= 0)
    n, m = len(K), len(labelled)
    w = np.ones(m) if weight is None else weight[labelled]
    P = lambda2 * K + mu * K @ L @ K
    P = 0.5 * (P + P.T) + 1e-12 * np.eye(n)
    signs = 2.0 * y[labelled] - 1.0
    A = signs[:, None] * K[labelled]
    H = sparse.block_diag([np.block([[P, -P], [-P, P]]), np.zeros((m + 1, m + 1))], format="csc")
    q = np.concatenate([np.full(2 * n, lambda1), [0.0], w])
    G = sparse.csc_matrix(-np.hstack([A, -A, signs[:, None], np.eye(m)]))
    low = np.concatenate([np.zeros(2 * n), [-np.inf], np.zeros(m)])
    tight = {"tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
    x = solve_qp(H, q, G, -np.ones(m), lb=low, solver="clarabel", **tight)
    return 0.5 * x @ (H @ x) + q @ x


# ---------------------------------------------------------------------- against another solver


@pytest.mark.parametrize("counts", [(5, 5), (2, 12)])
@pytest.mark.parametrize("along", ["lambda1", "lambda2"])
def test_least_objective(along, counts):
    """Oracle: an interior-point solver, at ten values."""
    X, y = moons(60, counts)
    K, L = parts(X)
    held = {"lambda2": 0.01} if along == "lambda1" else {"lambda1": 0.05}
    path = laplacian_svc_path(X, y, along=along, rho=100.0, gamma=2.0, **held)
    assert path.complete
    for value in np.geomspace(0.9 * path.start, path.stop, 10):
        s = path.at(value)
        theirs = least(K, L, y, s.lambda1, s.lambda2, s.mu)
        assert s.objective == pytest.approx(theirs, rel=1e-6, abs=1e-7)


def test_weights_of_labels():
    """Oracle: an interior-point solver with the same weights."""
    X, y = moons(60, (4, 9))
    K, L = parts(X)
    w = np.random.default_rng(0).uniform(0.2, 3.0, 60)
    path = laplacian_svc_path(X, y, sample_weight=w, **OPTIONS)
    assert_walked(path)
    for fraction in (0.5, 0.05):
        s = path.at(fraction * path.start)
        theirs = least(K, L, y, s.lambda1, s.lambda2, s.mu, w)
        assert s.objective == pytest.approx(theirs, rel=1e-6)


def test_the_end_is_the_plain_laplacian_svm():
    """Oracle: the C-SVM with the kernel K (I + rho L K)^-1 on the labelled points."""
    X, y = moons(60, (6, 8))
    K, L = parts(X)
    labelled = np.flatnonzero(y >= 0)
    path = laplacian_svc_path(X, y, stop=0, **OPTIONS)
    assert path.complete and path.stop == 0
    T = np.linalg.solve(np.eye(60) + 100.0 * L @ K, np.eye(60)[:, labelled])
    deformed = K[labelled] @ T
    plain = svc_path(0.5 * (deformed + deformed.T), y[labelled], kernel="precomputed", stop=0.005)
    s = plain.at(0.01)
    expected = K @ (T @ s.coef) + s.intercept
    np.testing.assert_allclose(path.decision_function(X, 0.0), expected, atol=1e-7)


def small(seed):
    """Two moons with labels balanced or not, some points twice, and any penalties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 61))
    X, y = make_moons(n, noise=rng.choice([0.05, 0.1, 0.3]), random_state=seed)
    if rng.random() < 0.3:
        X[-(n // 3) :] = X[: n // 3]
    few = int(rng.integers(1, 9))
    counts = (few, few)
    if rng.random() < 0.5:
        counts = (int(rng.integers(1, 4)), int(rng.integers(4, n // 2 - 1)))[:: rng.choice([-1, 1])]
    options = {
        "gamma": float(rng.choice([0.1, 0.5, 2.0, 10.0, 50.0])),
        "lambda2": float(rng.choice([1e-4, 1e-3, 1e-2, 0.1, 1.0])),
        "rho": float(rng.choice([0.0, 1.0, 10.0, 100.0, 1000.0])),
    }
    return X, partly(y, counts, seed), options, rng


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(k, marks=pytest.mark.stress) for k in range(12, 100))]
)
def test_to_zero_or_to_where_it_says(seed):
    """Oracle: the certificate at random values, and at the end f of the plain Laplacian SVM."""
    X, y, options, rng = small(seed)
    path = laplacian_svc_path(X, y, stop=0, **options)
    lowest = max(path.stop, 1e-12 * path.start)
    values = np.exp(rng.uniform(np.log(lowest), np.log(1.2 * path.start), 30))
    assert path.certificate(values).exact.all()
    if not path.complete:
        assert "round-off" in path.reason and path.stop < 1e-4 * path.start
        return
    plain = chemin.LaplacianSVC(**options).fit(X, y)
    f, g = path.decision_function(X, 0.0), plain.decision_function(X)
    np.testing.assert_allclose(f, g, atol=2e-6)


# ---------------------------------------------------------------------- exact all along


@pytest.mark.parametrize("counts", [(1, 1), (8, 8), (2, 20)])
def test_exact_along_both_and_after_turns(counts):
    """Oracle: the certificate, at breakpoints, midpoints, random values and above the start."""
    X, y = moons(100, counts, seed=1)
    first = laplacian_svc_path(X, y, **OPTIONS)
    second = laplacian_svc_path(X, y, along="lambda2", gamma=2.0, rho=100.0, lambda1=0.05)
    down = first.turn("lambda2", at=0.1 * first.start)
    up = first.turn("lambda2", at=0.1 * first.start, stop=1.0)
    back = second.turn("lambda1", at=0.005)
    for path in (first, second, down, up, back):
        assert path.complete
        assert_walked(path)
    assert down.start == up.start == pytest.approx(0.01)
    assert back.start == pytest.approx(0.05)


def test_turns_meet_the_other_path():
    """Oracle: the path that was walked along the other parameter from the beginning."""
    X, y = moons(80, (5, 9))
    first = laplacian_svc_path(X, y, **OPTIONS)
    second = laplacian_svc_path(X, y, along="lambda2", gamma=2.0, rho=100.0, lambda1=0.05)
    there = second.turn("lambda1", at=0.01)
    values = random_values(there, low=1.01 * first.stop)
    f, g = (p.decision_function(X, values) for p in (first, there))
    np.testing.assert_allclose(f, g, atol=1e-7)


SETS = ["moons 200", "moons 1000", "usps 2 5", "usps 1 7", "digits", "breast cancer"]
BALANCED, UNBALANCED = (14, 14), (3, 25)  # 28 labels are 5 % of the breast cancer data


def real(name, load_data):
    """Points, their labels, and what makes the path."""
    options = {"lambda2": 0.01, "mu": 0.1}
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        some = np.isin(y, (3, 8))
        return X[some] / 16, (y[some] == 8).astype(int), options
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return scale(X), y, options
    kind, *rest = name.split()
    if kind == "moons":
        X, y = make_moons(int(rest[0]), noise=0.1, random_state=0)
        return X, y, OPTIONS
    data, (a, b) = load_data("usps_train"), map(int, rest)
    some = np.flatnonzero(np.isin(data.target, (a, b)))
    some = np.random.default_rng(0).permutation(some)[: {2: 847, 1: 954}[a]]
    y = (data.target[some] == b).astype(int)
    return data.data[some], y, {"gamma": 1 / 200, "lambda2": 0.001, "mu": 0.1}


def assert_exact_both_ways(X, y, options, stop):
    path = laplacian_svc_path(X, y, stop=stop, **options)
    assert path.complete
    assert_walked(path, n_random=50)
    assert_walked(path.turn("lambda2", at=0.2 * path.start), n_random=50)
    rho = options["mu"] / options["lambda2"]
    held = {k: v for k, v in options.items() if k == "gamma"} | {"rho": rho}
    other = laplacian_svc_path(X, y, along="lambda2", lambda1=0.05, **held)
    assert other.complete
    assert_walked(other, n_random=50)
    assert_walked(other.turn("lambda1", at=0.2 * other.start), n_random=50)


@pytest.mark.parametrize("name", SETS[2:])
@pytest.mark.parametrize("counts", [BALANCED, UNBALANCED])
def test_exact_on_real_data(load_data, name, counts):
    """Oracle: the certificate."""
    X, y, options = real(name, load_data)
    assert_exact_both_ways(X[:250], partly(y[:250], counts), options, stop=0.01)


@pytest.mark.parametrize(
    "name", SETS[:2] + [pytest.param(name, marks=pytest.mark.stress) for name in SETS[2:]]
)
@pytest.mark.parametrize("counts", [BALANCED, UNBALANCED])
def test_exact_on_whole_sets(load_data, name, counts):
    """Oracle: the certificate. As many points as in the paper's tables, and all of the others."""
    X, y, options = real(name, load_data)
    assert_exact_both_ways(X, partly(y, counts), options, stop=None)


@pytest.mark.parametrize("seed", [0, 15, 16, 25, 32, 37])
def test_just_beside_breakpoints_on_the_way_to_zero(seed):
    """Oracle: the certificate. Coefficients that jumps leave a little beyond 0 are not seen."""
    rng = np.random.default_rng(seed)
    side, a = rng.integers(0, 2, 22), rng.uniform(0, np.pi, 22)
    arcs = [np.cos(a) + side, np.where(side, -1, 1) * np.sin(a) + side / 2]
    X = np.column_stack(arcs) + 0.1 * rng.normal(size=(22, 2))
    y = np.where(rng.random(22) < 0.3, -1, side)
    y[[np.argmin(side), np.argmax(side)]] = 0, 1
    options = {"gamma": 10.0, "lambda2": 1.0, "rho": 1.0, "n_neighbors": 7}
    path = laplacian_svc_path(X, y, kernel="rbf", stop=0, **options)
    assert path.complete
    values = beside_breakpoints(path)
    proof = path.certificate(values[values > 0])
    assert proof.exact.all(), proof


def test_duplicated_points():
    """Oracle: the certificate, where every point has a copy, labels of copies may differ."""
    X, y = moons(50, (5, 5))
    twice = np.repeat(X, 2, axis=0)
    labels = np.repeat(y, 2)
    labels[1::4] = -1
    labels[np.flatnonzero(labels == 0)[0]] = 1
    for along in ("lambda1", "lambda2"):
        path = laplacian_svc_path(twice, labels, along=along, rho=100.0, gamma=2.0)
        assert path.complete
        assert_walked(path)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_other_kernels(kernel, intercept):
    """Oracle: the certificate. Linear kernels are singular: f is unique, coefficients are not."""
    X, y = moons(60, (5, 8))
    path = laplacian_svc_path(X, y, kernel=kernel, lambda2=0.1, mu=0.1, intercept=intercept)
    assert_walked(path)
    assert intercept or path.at(0.1 * path.start).intercept == 0.0


@pytest.mark.parametrize("along", ["lambda1", "lambda2"])
def test_engines_agree(along, monkeypatch):
    """Oracle: the reference engine."""
    X, y = moons(70, (4, 9), seed=3)
    options = {"along": along, "rho": 100.0, "gamma": 2.0}
    fast = laplacian_svc_path(X, y, **options)
    monkeypatch.setenv("CHEMIN_ENGINE", "reference")
    slow = laplacian_svc_path(X, y, **options)
    assert slow.complete
    values = random_values(fast, low=1.001 * slow.stop)
    f, g = (p.decision_function(X, values) for p in (fast, slow))
    np.testing.assert_allclose(f, g, atol=1e-7)


# ---------------------------------------------------------------------- invariants


@pytest.mark.parametrize("along", ["lambda1", "lambda2"])
def test_permuted_points(along):
    """Oracle: an invariant."""
    X, y = moons(60, (4, 7), seed=4)
    order = np.random.default_rng(1).permutation(60)
    options = {"along": along, "rho": 100.0, "gamma": 2.0}
    a, b = laplacian_svc_path(X, y, **options), laplacian_svc_path(X[order], y[order], **options)
    values = random_values(a, low=1.001 * b.stop)
    f, g = (p.decision_function(X, values) for p in (a, b))
    np.testing.assert_allclose(f, g, atol=1e-7)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_do_not_matter(factor):
    """Oracle: an invariant. K, weights and both lambdas scale together; f does not."""
    X, y = moons(60, (4, 7))
    graph, K = neighbor_graph(X), rbf_kernel(X, gamma=2.0)
    options = {"kernel": "precomputed", "graph": graph}
    a = laplacian_svc_path(K, y, lambda2=0.01, mu=1.0, **options)
    # f = K b stays, so b is divided by the factor, |f|^2 too, and f'Lf stays.
    b = laplacian_svc_path(factor * K, y, lambda2=0.01 * factor, mu=1.0, **options)
    assert_walked(b)
    values = random_values(a)
    values = values[values * factor >= b.stop]
    f, g = a.decision_function(K, values), b.decision_function(factor * K, factor * values)
    np.testing.assert_allclose(f, g, atol=1e-7)
    c = laplacian_svc_path(
        K, y, lambda2=0.01 * factor, mu=factor, sample_weight=np.full(60, factor), **options
    )
    assert_walked(c)
    values = values[values * factor >= c.stop]
    g = c.decision_function(K, factor * values)
    np.testing.assert_allclose(a.decision_function(K, values), g, atol=1e-7)


def test_a_label_of_weight_zero_is_no_label():
    """Oracle: the path without that label."""
    X, y = moons(60, (6, 6))
    w, hidden = np.ones(60), y.copy()
    gone = np.flatnonzero(y == 1)[:3]
    w[gone], hidden[gone] = 0.0, -1
    a = laplacian_svc_path(X, y, sample_weight=w, **OPTIONS)
    b = laplacian_svc_path(X, hidden, **OPTIONS)
    np.testing.assert_array_equal(a.events, b.events)
    assert not a.at(0.1 * a.start).alpha[gone].any()


def test_a_start_in_the_middle_and_a_limit():
    """Oracle: the path from the top, at common values."""
    X, y = moons(60, (4, 9))
    whole = laplacian_svc_path(X, y, **OPTIONS)
    for fraction in (0.9, 0.1):
        part = laplacian_svc_path(X, y, start=fraction * whole.start, stop=whole.stop, **OPTIONS)
        assert_walked(part, above=False)
        values = random_values(part)
        f, g = (p.decision_function(X, values) for p in (whole, part))
        np.testing.assert_allclose(f, g, atol=1e-7)
    few = laplacian_svc_path(X, y, max_events=20, **OPTIONS)
    assert not few.complete and few.n_events == 20 and "max_events" in few.reason
    np.testing.assert_allclose(few.breakpoints, whole.breakpoints[:20], rtol=1e-12)


# ---------------------------------------------------------------------- what a path says


def test_events_and_s():
    """Oracle: solutions beside each event. |b|_1 is continuous along lambda1 with R > 0."""
    X, y = moons(60, (4, 9))
    for along in ("lambda1", "lambda2"):
        path = laplacian_svc_path(X, y, along=along, rho=100.0, gamma=2.0)
        assert_ordered(path)
        e = path.events
        assert np.all(np.abs(e["to"] - e["from"]) == 1)
        of_coefficients, of_labels = (
            e["variable"] < 60,
            (60 <= e["variable"]) & (e["variable"] < 120),
        )
        assert np.all(e["from"][of_coefficients] < 3) and np.all(e["from"][of_labels] >= 3)
        assert set(e["variable"][of_labels] - 60) <= set(np.flatnonzero(y >= 0))
        known = np.abs(path.coefficients(path.breakpoints)[0]).sum(axis=0)
        np.testing.assert_allclose(path.s, known, atol=1e-9 * known.max())


def test_solutions_have_their_parameters():
    """Oracle: what was asked for. mu moves with lambda2, rho is held."""
    X, y = moons()
    s = laplacian_svc_path(X, y, lambda2=0.02, mu=3.0).at(0.1)
    assert (s.lambda1, s.lambda2, s.mu, s.rho) == pytest.approx((0.1, 0.02, 3.0, 150.0))
    path = laplacian_svc_path(X, y, along="lambda2", lambda1=0.07, rho=50.0)
    s = path.at(0.1 * path.start)
    assert (s.lambda1, s.rho) == (0.07, 50.0)
    assert s.mu == pytest.approx(50.0 * s.lambda2) and s.lambda_ == s.lambda2


@pytest.mark.parametrize("rho", [1e2, 1e4, 1e6, 1e8])
@pytest.mark.parametrize("counts", [(2, 20), (9, 1)])
def test_starts_where_something_happens(counts, rho):
    """Oracle: the definition. At the start along lambda2 is an event, however strong the graph is
    and however far above it the walk began."""
    X, y = moons(60, counts)
    path = laplacian_svc_path(X, y, along="lambda2", gamma=2.0, rho=rho, lambda1=0.05)
    assert path.complete and path.n_events > 0
    assert path.breakpoints[0] == pytest.approx(path.start, rel=1e-9)
    assert path.at(0.5 * path.start).support.size > 0


@pytest.mark.parametrize("counts", [(2, 12), (12, 2)])
@pytest.mark.parametrize("seed", range(3))
def test_unbalanced_labels_far_apart(counts, seed):
    """Oracle: the certificate. Labelled points are on their margin together, and a coefficient
    moves them by 1e-7: paths ended at their very start.
    """
    X, y = moons(40, counts, seed=seed, noise=0.2)
    path = laplacian_svc_path(X, y, gamma=5.0, lambda2=0.01, mu=1.0)
    assert path.complete
    assert_walked(path)


@pytest.mark.parametrize(
    "n, counts, seed, lambda2, mu", [(41, (2, 4), 34, 1e-6, 100.0), (56, (7, 14), 40, 1e-4, 1.0)]
)
def test_ends_where_round_off_is_near_the_penalty(monkeypatch, n, counts, seed, lambda2, mu):
    """Oracle: a count of corners, and the certificate. With a wide kernel K is nearly singular: on
    the way to 0 walks passed thousands of corners that are round-off, at one value.
    """
    corners, pass_corner = [], Walker.pass_corner
    monkeypatch.setattr(
        Walker, "pass_corner", lambda *args: corners.append(args) or pass_corner(*args)
    )
    X, y = moons(n, counts, seed)
    path = laplacian_svc_path(X, y, gamma=0.01, lambda2=lambda2, mu=mu, stop=0)
    assert not path.complete
    assert "round-off" in path.reason
    assert path.stop < 1e-6 * path.start
    assert path.certificate(path.breakpoints).exact.all()
    assert len(corners) < 20 * n


def test_sparse_at_first():
    """Oracle: the optimality conditions. Terms not in f have correlations below lambda1."""
    X, y = moons(100, (8, 8))
    path = laplacian_svc_path(X, y, **OPTIONS)
    assert path.at(path.start).support.size <= 1
    s = path.at(0.1 * path.start)
    assert 0 < s.support.size < 40
    K, L = parts(X)
    signs = np.where(y == 1, 1.0, np.where(y == 0, -1.0, 0.0))
    v = K @ (signs * s.alpha) - 0.01 * K @ s.coef - K @ (L @ (K @ s.coef))
    assert np.abs(v).max() <= s.lambda1 * (1 + 1e-9)
    np.testing.assert_allclose(v[s.support], s.lambda1 * np.sign(s.coef[s.support]))


def test_certificate_finds_what_is_wrong():
    """Oracle: mutants. Anything changed by a millionth is not exact."""
    X, y = moons(60, (5, 8))
    path = laplacian_svc_path(X, y, **OPTIONS)
    s = path.at(0.1 * path.start)
    assert path.certify(s).verdict == "exact"
    up = 1.0 + 1e-6
    mutants = {
        "coef": replace(s, coef=s.coef * up),
        "alpha": replace(s, alpha=s.alpha * up),
        "intercept": replace(s, intercept=s.intercept + 1e-6),
        "lambda_": replace(s, lambda_=s.lambda_ * up),
        "lambda1": replace(s, more=s.more | {"lambda1": s.lambda1 * up}),
        "rho": replace(s, more=s.more | {"rho": s.rho * up}),
        "support": replace(s, coef=np.where(np.arange(60) == s.support[0], 0.0, s.coef)),
        "nan": replace(s, coef=s.coef * np.nan),
    }
    for name, mutant in mutants.items():
        assert not path.certify(mutant).exact, name
    with pytest.raises(ValueError, match=r"solution\.alpha must have 60"):
        path.certify(replace(s, alpha=s.alpha[:5]))


def test_saved_and_loaded(tmp_path):
    """Oracle: the path that was saved, bit by bit; it turns as the first did."""
    X, y = moons(60, (5, 8))
    path = laplacian_svc_path(X, y, **OPTIONS)
    path.save(tmp_path / "path.npz")
    again = chemin.load(tmp_path / "path.npz")
    values = random_values(path)
    np.testing.assert_array_equal(again.events, path.events)
    f, g = (p.decision_function(X, values) for p in (path, again))
    np.testing.assert_array_equal(f, g)
    np.testing.assert_array_equal(
        path.certificate(values).kkt_violation, again.certificate(values).kkt_violation
    )
    a, b = (p.turn("lambda2", at=between(path, 0.1)) for p in (path, again))
    np.testing.assert_array_equal(a.events, b.events)


def test_precomputed_and_own_graph():
    """Oracle: the same problem from points."""
    X, y = moons(60, (5, 5))
    a = laplacian_svc_path(X, y, **OPTIONS)
    K = RBF(gamma=2.0).gram(X)
    for graph in (neighbor_graph(X), neighbor_graph(X).toarray()):
        b = laplacian_svc_path(K, y, kernel="precomputed", graph=graph, lambda2=0.01, mu=1.0)
        np.testing.assert_allclose(a.breakpoints, b.breakpoints, rtol=1e-8)
    R = GraphGram(K, graph_laplacian(neighbor_graph(X))).roughened(100.0)
    np.testing.assert_array_equal(a.problem.R, R)


# ---------------------------------------------------------------------- labels and bad input


@pytest.mark.parametrize(
    "names, none",
    [((0, 1), -1), ((3.0, 7.5), -1.0), (("a", "b"), ""), (("a", "b"), None), (("a", "b"), -1)],
)
def test_labels_of_any_kind(names, none):
    """Oracle: labels 0 and 1."""
    X, y = moons(50, (5, 5))
    labels = [none if c < 0 else names[c] for c in y]
    expected = laplacian_svc_path(X, y, **OPTIONS)
    for given in (labels, np.array(labels, dtype=object)):
        path = laplacian_svc_path(X, given, **OPTIONS)
        np.testing.assert_array_equal(path.breakpoints, expected.breakpoints)
        assert list(path.classes_) == list(names)
        assert set(path.predict(X, 0.1)) <= set(names)


X3 = np.arange(10.0).reshape(5, 2)


@pytest.mark.parametrize(
    "y, options, message",
    [
        ([-1, 1, 1, -1, -1], {}, "-1 marks points without a label here, so that 1 is one class"),
        ([-1, 0, 0, -1, -1], {}, "only the class 0, expected labelled points of 2 classes"),
        ([-1] * 5, {}, "no labelled point"),
        ([0, 1, 2, -1, -1], {}, "3 classes"),
        ([0, 1, -1, -1, -1], {"mu": -1.0}, "mu"),
        ([0, 1, -1, -1, -1], {"rho": -1.0}, "rho"),
        ([0, 1, -1, -1, -1], {"mu": 1.0, "rho": 1.0}, "mu and rho"),
        ([0, 1, -1, -1, -1], {"lambda2": 0}, "lambda2 must be above 0, got 0: without"),
        ([0, 1, -1, -1, -1], {"lambda2": -1.0}, "lambda2"),
        ([0, 1, -1, -1, -1], {"along": "lambda2", "lambda1": 0.0}, "lambda1"),
        ([0, 1, -1, -1, -1], {"along": "lambda2", "mu": 1.0}, "mu must be None along lambda2"),
        ([0, 1, -1, -1, -1], {"along": "lambda2", "stop": 0}, "stop must be above 0 along lambda2"),
        ([0, 1, -1, -1, -1], {"along": "mu"}, "along must be"),
        ([0, 1, -1, -1, -1], {"radius": 0.1}, "no edges"),
        ([0, 1, -1, -1, -1], {"n_neighbors": 0}, "n_neighbors"),
        ([0, 1, -1, -1, -1], {"graph": np.eye(5)}, "no edges"),
        ([0, 1, -1, -1, -1], {"normalized": 2}, "normalized"),
        ([0, 1, -1, -1], {}, "4 entries"),
        ([0, 1, -1, -1, -1], {"sample_weight": [1, 0, 1, 1, 1]}, "1 class"),
    ],
)
def test_what_is_refused(y, options, message):
    """Oracle: each message names the argument."""
    with pytest.raises(ValueError, match=message):
        laplacian_svc_path(X3, y, **options)


def test_several_classes_are_sent_to_the_estimator():
    """Oracle: the message."""
    X, y = moons()
    y[:3] = 2
    with pytest.raises(ValueError, match="SparseLaplacianSVC takes several classes"):
        laplacian_svc_path(X, y, **OPTIONS)


def test_validation_is_a_pair():
    """Oracle: the message."""
    X, y = moons()
    with pytest.raises(ValueError, match=r"validation must be a pair \(X, y\), got ndarray"):
        chemin.SparseLaplacianSVC().fit(X, y, validation=X)


def test_no_marker_means_that_all_are_labelled():
    """Oracle: an interior-point solver with a loss for every point."""
    X, y = make_moons(40, noise=0.1, random_state=0)
    path = laplacian_svc_path(X, y, **OPTIONS)
    s = path.at(0.1 * path.start)
    theirs = least(*parts(X), y, s.lambda1, s.lambda2, s.mu)
    assert s.objective == pytest.approx(theirs, rel=1e-6)


def test_a_kernel_matrix_needs_a_graph():
    """Oracle: the message."""
    with pytest.raises(ValueError, match="graph must be given with kernel='precomputed'"):
        laplacian_svc_path(np.eye(5), [0, 1, -1, -1, -1], kernel="precomputed")


@pytest.mark.filterwarnings("default:the graph has .* components")
def test_components_are_told():
    """Oracle: by hand. Two groups and a point alone, of which one group has the labels."""
    X = np.concatenate([np.arange(6), 100 + np.arange(4), [500]])[:, None].astype(float)
    y = [0, -1, -1, -1, -1, 1] + [-1] * 5
    with pytest.warns(UserWarning, match="3 components, 2 of them without .* 1 isolated"):
        path = laplacian_svc_path(X, y, radius=1.5, gamma=1.0)
    assert_walked(path)


def test_leave_one_out_is_refused():
    """Oracle: the message."""
    X, y = moons(40, (4, 4))
    path = laplacian_svc_path(X, y, **OPTIONS)
    with pytest.raises(ValueError, match="leave_one_out"):
        path.leave_one_out(0.1)
    assert len(walked_values(path)) > 0
