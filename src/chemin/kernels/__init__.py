"""Similarity between points: kernels by name, by function or by matrix."""

from chemin.kernels._coupling import BlockCoupling, Coupling
from chemin.kernels._given import Function, Precomputed
from chemin.kernels._gram import DenseGram, Gram, LowRankGram, as_gram
from chemin.kernels._graph import (
    GraphGram,
    check_graph,
    components,
    graph_laplacian,
    neighbor_graph,
)
from chemin.kernels._kernel import Kernel
from chemin.kernels._make import KNOWN, make_kernel, weighted_variance
from chemin.kernels._named import RBF, Cosine, Laplacian, Linear, Polynomial, Sigmoid
from chemin.kernels._ridged import Ridged

__all__ = [
    "KNOWN",
    "RBF",
    "BlockCoupling",
    "Cosine",
    "Coupling",
    "DenseGram",
    "Function",
    "Gram",
    "GraphGram",
    "Kernel",
    "Laplacian",
    "Linear",
    "LowRankGram",
    "Polynomial",
    "Precomputed",
    "Ridged",
    "Sigmoid",
    "as_gram",
    "check_graph",
    "components",
    "graph_laplacian",
    "make_kernel",
    "neighbor_graph",
    "weighted_variance",
]
