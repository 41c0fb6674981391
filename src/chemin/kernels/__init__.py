"""Similarity between points: kernels by name, by function or by matrix, and made of kernels."""

from chemin.kernels._algebra import Mapped, Product, Restricted, Scaled, Sum
from chemin.kernels._compare import KernelCheck, is_kernel, kernel_alignment
from chemin.kernels._given import Function, Precomputed
from chemin.kernels._graph import graph_laplacian, neighbor_graph
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
from chemin.kernels._blocks import parts_of as parts_of  # isort: skip
from chemin.kernels._coupling import BlockCoupling as BlockCoupling  # isort: skip
from chemin.kernels._coupling import Coupling as Coupling  # isort: skip
from chemin.kernels._gather import gathered as gathered  # isort: skip
from chemin.kernels._gram import Centred as Centred  # isort: skip
from chemin.kernels._gram import DenseGram as DenseGram  # isort: skip
from chemin.kernels._gram import Gram as Gram  # isort: skip
from chemin.kernels._gram import LowRankGram as LowRankGram  # isort: skip
from chemin.kernels._gram import SparseGram as SparseGram  # isort: skip
from chemin.kernels._gram import as_gram as as_gram  # isort: skip
from chemin.kernels._gram import exact_sum as exact_sum  # isort: skip
from chemin.kernels._gram import parted as parted  # isort: skip
from chemin.kernels._graph import GraphGram as GraphGram  # isort: skip
from chemin.kernels._graph import check_graph as check_graph  # isort: skip
from chemin.kernels._graph import components as components  # isort: skip
from chemin.kernels._make import KNOWN as KNOWN  # isort: skip
from chemin.kernels._make import weighted_variance as weighted_variance  # isort: skip
from chemin.kernels._named import Distances as Distances  # isort: skip
from chemin.kernels._ridged import Ridged as Ridged  # isort: skip

__all__ = [
    "RBF",
    "Bilinear",
    "Cosine",
    "Function",
    "Gaussian",
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
    "graph_laplacian",
    "is_kernel",
    "kernel_alignment",
    "make_kernel",
    "neighbor_graph",
]
