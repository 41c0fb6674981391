"""Neighbour graphs: who lies next to whom, and how rough a function is on them.

W      symmetric weights >= 0, sparse, zero on the diagonal
L      D - W, D the diagonal of the degrees (row sums of W); or, normalised,
       I - D^-1/2 W D^-1/2, zero in the rows of isolated points
f'Lf   = 1/2 sum_ij W_ij (f_i - f_j)^2: small where neighbours have similar values
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import solve
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors

from chemin._checks import Array, check_matrix, check_points, check_positive, is_word
from chemin.kernels._blocks import Index, distinct_rows, repeat_in_place
from chemin.kernels._gram import DenseGram

Sparse = Any  # a scipy.sparse array; its type differs from version to version
WEIGHTS = ("binary", "heat")
BLOCK_ROWS = 512  # of a symmetric product that are formed at once
FEW_COLUMNS = 16  # of K that tell in nearly all cases that no two rows are equal
STRONGEST = (
    1e10  # times what |f|^2 does a graph may count: then round-off is all that is left of it
)
SUM = 1e-12  # of the degree: what is left of a row of L where it adds up to 0
# Weights that differ from those of the transpose by more than this part of the largest.
ASYMMETRY = 1e-10


def neighbor_graph(
    X: Any,
    *,
    n_neighbors: int | None = 7,
    radius: float | None = None,
    weights: str = "binary",
    width: float | None = None,
) -> Sparse:
    """The graph of neighbours of points, as a sparse symmetric matrix of weights.

    Two points are neighbours if one of them is among the nearest of the other, or if they are
    nearer than a radius.

    Parameters
    ----------
    X : array of shape (n, d)
    n_neighbors : int or None
        How many neighbours each point has at least; not used where a radius is given.
    radius : float or None
        Points up to this distance are neighbours.
    weights : "binary" or "heat"
        1 for all neighbours, or exp(-d^2 / (2 width^2)) at the distance d.
    width : float or None
        Of heat weights. None: the root mean square of the distances of neighbours.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)

    Examples
    --------
    >>> graph = neighbor_graph([[0.0], [1.0], [3.0]], n_neighbors=1)
    >>> graph.toarray().astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    points = check_points(X)
    if not is_word(weights, WEIGHTS):
        raise ValueError(
            f"weights must be one of {', '.join(WEIGHTS)} (graph_weights, where a model makes the "
            f"graph), got {weights!r}"
        )
    distance = _distances(points, n_neighbors, radius)
    if weights == "binary":
        distance.data = np.ones_like(distance.data)
    else:
        square = distance.data**2
        wide = square.mean() if width is None else check_positive(width, "width") ** 2
        distance.data = np.exp(-0.5 * square / (wide or 1.0))
    return sparse.csr_array(distance.maximum(distance.T))


def _distances(points: Array, n_neighbors: int | None, radius: float | None) -> Sparse:
    """Distances of neighbours, one row a point. Copies of a point are neighbours at distance 0."""
    n, finder = points.shape[0], NearestNeighbors().fit(points)
    if radius is not None:
        found = finder.radius_neighbors_graph(
            radius=check_positive(radius, "radius"), mode="distance"
        )
        if found.nnz == 0:
            raise ValueError(
                f"radius = {radius:g} leaves no point a neighbour: the graph has no edges, "
                "expected a larger radius"
            )
        return sparse.csr_array(found)
    count: Any = n_neighbors
    whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
    if not whole or count < 1:
        raise ValueError(f"n_neighbors must be a whole number from 1, got {n_neighbors!r}")
    most = min(int(count), n - 1)  # no point has more neighbours than there are others
    return sparse.csr_array(finder.kneighbors_graph(n_neighbors=most, mode="distance"))


def check_graph(graph: Any, n: int) -> Sparse:
    """A user's own graph: a dense or sparse matrix of weights, symmetric, none negative."""
    if sparse.issparse(graph):
        W = sparse.csr_array(graph, dtype=np.float64)
    else:
        W = sparse.csr_array(check_matrix(graph, "graph"))
    if W.shape != (n, n):
        raise ValueError(f"graph must have shape ({n}, {n}), a row for each of X, got {W.shape}")
    if W.nnz and not np.isfinite(W.data).all():
        raise ValueError("graph has weights that are not finite, expected finite ones")
    if W.nnz and W.data.min() < 0:
        raise ValueError(f"graph has the weight {W.data.min():g}, expected none below 0")
    W = W - sparse.diags_array(W.diagonal(), format="csr")  # a point is no neighbour of itself
    W.eliminate_zeros()
    if W.nnz == 0:
        raise ValueError("graph has no edges, expected weights above 0 between points")
    if abs(W - W.T).max() > ASYMMETRY * W.max():
        raise ValueError(
            "graph is not symmetric, expected equal weights both ways; of kneighbors_graph take "
            "W.maximum(W.T)"
        )
    return sparse.csr_array(0.5 * (W + W.T))


def graph_laplacian(graph: Sparse, *, normalized: bool = False) -> Sparse:
    """L = D - W of a graph with weights W, or I - D^-1/2 W D^-1/2.

    Examples
    --------
    >>> graph = chemin.kernels.neighbor_graph([[0.0], [1.0]], n_neighbors=1)
    >>> graph_laplacian(graph).toarray().tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    degree = np.asarray(graph.sum(axis=1)).ravel()
    if not normalized:
        return sparse.csr_array(sparse.diags_array(degree) - graph)
    some = degree > 0
    root = np.zeros_like(degree)
    root[some] = 1.0 / np.sqrt(degree[some])
    scaled = sparse.diags_array(root) @ graph @ sparse.diags_array(root)
    return sparse.csr_array(sparse.diags_array(some.astype(float)) - scaled)


def components(graph: Sparse) -> NDArray[np.intp]:
    """The component of each point, counted from 0."""
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


@dataclass(frozen=True)
class GraphGram(DenseGram):
    """A kernel matrix K and the Laplacian L of a graph on the same points.

    `roughened(rho)` is R = K + rho K L K: b'R b = |f|^2 + rho f'L f for f = K b. It is formed once
    for each rho, and shared by all who ask.
    """

    laplacian: Sparse
    _known: dict[float, Array] = field(default_factory=dict, repr=False, compare=False)

    def roughened(self, rho: float) -> Array:
        """K + rho K L K."""
        if rho == 0:
            return self.matrix
        if rho not in self._known:
            self._known.clear()  # one at a time: each is as large as K
            self._known[rho] = self._formed(rho)
        return self._known[rho]

    def _formed(self, rho: float) -> Array:
        """Its lower half, by blocks of rows, and its mirror image: half of the products.

            rows 0..511     x             LK is formed by a sparse product
            rows 512..1023  x x           K[rows] (LK)[:, up to them]
            ...             x x x

        Points that repeat are one point here, with the edges of all its copies, so that equal
        points have equal rows to the last digit.
        """
        K, L, copy = self.matrix, self.laplacian, _copies(self.matrix)
        if copy is not None:
            first = np.unique(copy, return_index=True)[1]
            fold = sparse.csr_array((np.ones(len(copy)), (copy, np.arange(len(copy)))))
            K, L = np.ascontiguousarray(K[np.ix_(first, first)]), fold @ L @ fold.T
        rough, n = L @ K, len(K)
        whole = np.empty_like(self.matrix)
        out = whole[:n, :n]
        for a in range(0, n, BLOCK_ROWS):
            b = min(a + BLOCK_ROWS, n)
            part = out[a:b, :b]
            np.matmul(K[a:b], rough[:, :b], out=part)
            part *= rho
            part += K[a:b, :b]
            out[:a, a:b] = part[:, :a].T
            corner = part[:, a:]
            corner[...] = np.tril(corner) + np.tril(corner, -1).T
        if copy is not None:
            repeat_in_place(whole, copy, copy)
        return whole

    def expansion(self, rows: NDArray[np.intp], rho: float) -> Array:
        """(I + rho L K)^-1 J', J the rows of the identity that are named.

        K (I + rho L K)^-1 = (K^-1 + rho L)^-1 is the kernel of |f|^2 + rho f'L f: a function
        sum_i c_i k~(x_i, .) over the named points is K b there, with b = (this) c.
        """
        strength = rho * float(self.laplacian.diagonal().max() * self.diagonal().max())
        if not strength <= STRONGEST:
            raise ValueError(
                f"rho = mu/lambda2 must be smaller, got {rho:g}: the graph counts {strength:.1g} "
                f"times what |f|^2 does, and from {STRONGEST:g} on only round-off is left of it"
            )
        system = self.laplacian @ self.matrix
        system *= rho
        system[np.diag_indices_from(system)] += 1.0
        wanted = np.zeros((len(system), len(rows)))
        wanted[rows, np.arange(len(rows))] = 1.0
        self._add_up(system, wanted, 1.0 + rho)
        # By columns, as LAPACK takes it: no copy is made.
        given = {"assume_a": "gen", "overwrite_a": True, "overwrite_b": True}
        return np.asarray(solve(system.T, wanted, transposed=True, **given))

    def _add_up(self, system: Array, wanted: Array, unit: float) -> None:
        """Put the sum of the rows of each component in place of the first of them.

        Where L is 0 on constants its part of the sum is 0: columns of the expansion add up to 1 in
        the component of their point, to 0 in others. A sum of large products has round-off there.
        """
        L = self.laplacian
        flat = np.abs(L.sum(axis=1)) <= SUM * L.diagonal()
        part = components(L)
        for k, first in enumerate(np.unique(part, return_index=True)[1]):
            within = part == k
            if flat[within].all():
                wanted[first] = unit * wanted[within].sum(axis=0)
                system[first] = unit * within


def _copies(K: Array) -> Index | None:
    """For each row of K the first one that is equal to it; None where no two are equal."""
    some = np.linspace(0, len(K) - 1, min(len(K), FEW_COLUMNS)).astype(np.intp)
    first, _ = distinct_rows(np.ascontiguousarray(K[:, some]))
    if len(first) == len(K):
        return None
    first, inverse = distinct_rows(K)
    return None if len(first) == len(K) else inverse


__all__ = [
    "GraphGram",
    "check_graph",
    "components",
    "graph_laplacian",
    "neighbor_graph",
]
