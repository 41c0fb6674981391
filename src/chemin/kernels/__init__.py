"""Similarity between points: kernels by name, by function or by matrix."""

from chemin.kernels._algebra import Mapped, Product, Restricted, Scaled, Sum
from chemin.kernels._compare import KernelCheck, is_kernel, kernel_alignment
from chemin.kernels._coupling import BlockCoupling, Coupling
from chemin.kernels._given import Function, Precomputed
from chemin.kernels._gram import DenseGram, Gram, LowRankGram, as_gram
from chemin.kernels._kernel import Kernel
from chemin.kernels._make import KNOWN, make_kernel, weighted_variance
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
from chemin.kernels._ridged import Ridged
from chemin.kernels._strings import Spectrum

__all__ = [
    "KNOWN",
    "RBF",
    "Bilinear",
    "BlockCoupling",
    "Cosine",
    "Coupling",
    "DenseGram",
    "Function",
    "Gaussian",
    "Gram",
    "Kernel",
    "KernelCheck",
    "Laplacian",
    "Linear",
    "LowRankGram",
    "Mapped",
    "Polynomial",
    "Precomputed",
    "Product",
    "Restricted",
    "Ridged",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Sum",
    "as_gram",
    "is_kernel",
    "kernel_alignment",
    "make_kernel",
    "weighted_variance",
]
