"""Neighbour graphs, their Laplacians, and kernels that know them."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import euclidean_distances

from chemin.kernels import (
    RBF,
    GraphGram,
    check_graph,
    components,
    graph_laplacian,
    neighbor_graph,
)


@pytest.fixture
def moons():
    return make_moons(80, noise=0.08, random_state=0)[0]


def test_nearest_neighbours_both_ways(moons):
    """Oracle: brute force. Neighbours are those of either point; no point is its own."""
    near = np.argsort(euclidean_distances(moons) + np.diag(np.full(80, np.inf)), axis=1)[:, :5]
    expected = np.zeros((80, 80))
    np.put_along_axis(expected, near, 1.0, axis=1)
    W = neighbor_graph(moons, n_neighbors=5)
    np.testing.assert_array_equal(W.toarray(), np.maximum(expected, expected.T))


def test_radius_and_heat_weights(moons):
    """Oracle: the formula exp(-d^2 / (2 width^2)) on all pairs."""
    d = euclidean_distances(moons)
    expected = np.where((d <= 0.3) & ~np.eye(80, dtype=bool), np.exp(-(d**2) / (2 * 0.04)), 0.0)
    W = neighbor_graph(moons, radius=0.3, weights="heat", width=0.2)
    np.testing.assert_allclose(W.toarray(), expected, atol=1e-12)
    one = neighbor_graph(moons, radius=0.3, weights="heat")
    near = d[(d <= 0.3) & ~np.eye(80, dtype=bool)]
    width = np.sqrt(np.mean(near**2))
    np.testing.assert_allclose(one.max(), np.exp(-(near.min() ** 2) / (2 * width**2)))


def test_more_neighbours_than_points():
    """Oracle: with more neighbours than others every point is a neighbour of all."""
    W = neighbor_graph(np.arange(4.0)[:, None], n_neighbors=9)
    np.testing.assert_array_equal(W.toarray(), 1.0 - np.eye(4))


@pytest.mark.parametrize("normalized", [False, True])
def test_roughness(moons, normalized):
    """Oracle: 1/2 sum W_ij (f_i - f_j)^2, f divided by the root of the degree if normalised."""
    W = neighbor_graph(moons, n_neighbors=4, weights="heat").toarray()
    L = graph_laplacian(sparse.csr_array(W), normalized=normalized)
    f = np.random.default_rng(0).normal(size=80)
    g = f / np.sqrt(W.sum(axis=1)) if normalized else f
    expected = 0.5 * np.sum(W * (g[:, None] - g) ** 2)
    np.testing.assert_allclose(f @ (L @ f), expected)


def test_isolated_points():
    """Oracle: by hand. An isolated point has a row of zeros, normalised or not."""
    X = np.array([[0.0], [0.1], [5.0]])
    W = neighbor_graph(X, radius=1.0)
    for normalized in (False, True):
        L = graph_laplacian(W, normalized=normalized).toarray()
        np.testing.assert_array_equal(L[2], 0.0)
        np.testing.assert_allclose(L[:2, :2], [[1, -1], [-1, 1]])
    np.testing.assert_array_equal(components(W), [0, 0, 1])


@pytest.mark.parametrize("rho", [0.0, 0.3, 100.0])
@pytest.mark.parametrize("repeats", [1, 3])
def test_kernel_and_roughness(moons, rho, repeats):
    """Oracle: K + rho K L K by plain products; equal points have equal rows, bit by bit."""
    X = np.repeat(moons[:700], repeats, axis=0)
    K = RBF(gamma=2.0).gram(X)
    L = graph_laplacian(neighbor_graph(X, n_neighbors=6))
    R = GraphGram(K, L).roughened(rho)
    expected = K + rho * K @ L.toarray() @ K
    np.testing.assert_allclose(R, expected, atol=1e-12 * (1 + rho) * 80 * repeats)
    np.testing.assert_array_equal(R, R.T)
    np.testing.assert_array_equal(R[::repeats], R[repeats - 1 :: repeats])


def test_blocks_of_a_large_matrix():
    """Oracle: plain products, at a size of several blocks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 3))
    K = RBF(gamma=0.5).gram(X)
    L = graph_laplacian(neighbor_graph(X))
    R = GraphGram(K, L).roughened(2.0)
    np.testing.assert_allclose(R, K + 2.0 * K @ (L @ K), atol=1e-10)
    np.testing.assert_array_equal(R, R.T)


def test_expansion(moons):
    """Oracle: the inverse of K^-1 + rho L, with K made well conditioned."""
    K = RBF(gamma=2.0).gram(moons) + np.eye(80)
    L, rows = graph_laplacian(neighbor_graph(moons)), np.array([3, 17, 50])
    deformed = np.linalg.inv(np.linalg.inv(K) + 5.0 * L.toarray())
    T = GraphGram(K, L).expansion(rows, 5.0)
    np.testing.assert_allclose(K @ T, deformed[:, rows], atol=1e-12)


@pytest.mark.parametrize("n_neighbors", [1, 3])
@pytest.mark.parametrize("rho, atol", [(1e2, 1e-13), (1e4, 1e-12), (1e6, 1e-11)])
def test_expansion_of_a_strong_graph(n_neighbors, rho, atol):
    """Oracle: Gaussian elimination in fractions, with one component and with several. Functions
    that are constant on a component were lost in the round-off of what the graph adds."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    K, L = RBF(gamma=0.5).gram(X), graph_laplacian(neighbor_graph(X, n_neighbors=n_neighbors))
    exact, whole = solved(K, L.toarray(), rho), GraphGram(K, L).expansion(np.arange(12), rho)
    np.testing.assert_allclose(K @ whole, K @ exact, rtol=0, atol=atol)


def solved(K, L, rho):
    """(I + rho L K)^-1."""
    n, fraction = len(K), np.vectorize(Fraction, otypes=[object])
    unit = fraction(np.eye(n))
    rows = np.hstack([unit + Fraction(rho) * (fraction(L) @ fraction(K)), unit])
    for k in range(n):
        rows[k] /= rows[k, k]
        for j in set(range(n)) - {k}:
            rows[j] -= rows[j, k] * rows[k]
    return rows[:, n:].astype(float)


def test_a_graph_that_is_too_strong(moons):
    """Oracle: the message. Models had one label for all points, without a word."""
    gram = GraphGram(RBF(gamma=0.5).gram(moons), graph_laplacian(neighbor_graph(moons)))
    with pytest.raises(ValueError, match=r"rho = mu/lambda2 must be smaller, got 1e\+10"):
        gram.expansion(np.arange(3), 1e10)


def test_own_graph():
    """Oracle: the same graph by hand; dense or sparse, the diagonal does not count."""
    W = np.array([[7.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    for graph in (W, sparse.csr_matrix(W), sparse.coo_array(W)):
        found = check_graph(graph, 3).toarray()
        np.testing.assert_array_equal(found, W - np.diag(np.diag(W)))


@pytest.mark.parametrize(
    "graph, message",
    [
        (np.ones((2, 2)), "shape"),
        (np.zeros((3, 3)), "no edges"),
        (-np.ones((3, 3)), "below 0"),
        (np.triu(np.ones((3, 3))), r"not symmetric.*W\.maximum\(W\.T\)"),
        (sparse.csr_array(np.full((3, 3), np.inf)), "not finite"),
    ],
)
def test_graphs_that_are_refused(graph, message):
    """Oracle: each message names what is wrong."""
    with pytest.raises(ValueError, match=message):
        check_graph(graph, 3)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_neighbors": 2.5}, "n_neighbors must be"),
        ({"radius": 1e-6}, "no edges"),
        ({"radius": -1.0}, "radius"),
        ({"weights": "cosine"}, "weights must be"),
        ({"weights": "heat", "width": 0.0}, "width"),
    ],
)
def test_options_that_are_refused(moons, options, message):
    """Oracle: each message names the argument."""
    with pytest.raises(ValueError, match=message):
        neighbor_graph(moons, **options)
