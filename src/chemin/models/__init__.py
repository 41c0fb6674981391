"""scikit-learn estimators that choose their own hyper-parameter."""

from .laplacian import LaplacianSVC, SparseLaplacianSVC
from .lasso import PathLasso
from .quadratic import PathQuadraticSVC
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = [
    "LaplacianSVC",
    "PathLasso",
    "PathNuSVR",
    "PathQuadraticSVC",
    "PathSVC",
    "PathSVR",
    "SparseLaplacianSVC",
]
