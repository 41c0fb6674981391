"""Similarity between points: kernels by name, by function or by matrix, and made of kernels."""

from chemin.kernels._algebra import Mapped, Product, Restricted, Scaled, Sum
from chemin.kernels._compare import KernelCheck, is_kernel, kernel_alignment
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
from chemin.kernels._make import make_kernel
from chemin.kernels._named import (
    RBF,
    Bilinear,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
)
from chemin.kernels._strings import Spectrum

# For the layers above, not for users: how variables act on each other.
from chemin.kernels._coupling import BlockCoupling as BlockCoupling  # isort: skip
from chemin.kernels._coupling import Coupling as Coupling  # isort: skip
from chemin.kernels._make import KNOWN as KNOWN  # isort: skip
from chemin.kernels._make import weighted_variance as weighted_variance  # isort: skip
from chemin.kernels._ridged import Ridged as Ridged  # isort: skip

__all__ = [
    "RBF",
    "Bilinear",
    "Cosine",
    "Function",
    "Gaussian",
    "Gram",
    "GraphGram",
    "Kernel",
    "KernelCheck",
    "Laplacian",
    "Linear",
    "Mapped",
    "Polynomial",
    "Precomputed",
    "Product",
    "Restricted",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Sum",
    "as_gram",
    "check_graph",
    "components",
    "graph_laplacian",
    "is_kernel",
    "kernel_alignment",
    "make_kernel",
    "neighbor_graph",
    "weighted_variance",
]
