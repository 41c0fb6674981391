"""Exact regularisation paths, compatible with scikit-learn."""

from importlib import metadata as _metadata

from . import datasets, display, kernels, selection
from .api import (
    adaptive_ridge_path,
    elastic_net_path,
    expectile_path,
    garrote_path,
    kernel_ridge_path,
    l1_svc_path,
    laplacian_svc_path,
    lasso_path,
    nu_svr_path,
    one_class_path,
    quadratic_svc_path,
    quadratic_svr_path,
    quantile_path,
    ridge_path,
    svc_path,
    svr_path,
)
from .models import (
    AdaptiveRidge,
    Between,
    GradientRidge,
    KernelPerceptron,
    LaplacianSVC,
    MKLClassifier,
    MKLRegressor,
    NonNegativeGarrote,
    PathLasso,
    PathNuSVR,
    PathQuadraticSVC,
    PathRidge,
    PathSearchCV,
    PathSVC,
    PathSVR,
    RosenblattPerceptron,
    SparseLaplacianSVC,
    StepwiseRegression,
    adaptive_ridge_iteration,
    compare,
    margin_bound,
    margins,
)
from .path import Path, load
from .selection.surface import nu_svr_surface, svr_surface
from .solution import Solution

try:
    __version__ = _metadata.version("chemin")
except _metadata.PackageNotFoundError:  # a source tree on the path, not installed
    __version__ = "0+unknown"

__all__ = [
    "AdaptiveRidge",
    "Between",
    "GradientRidge",
    "KernelPerceptron",
    "LaplacianSVC",
    "MKLClassifier",
    "MKLRegressor",
    "NonNegativeGarrote",
    "Path",
    "PathLasso",
    "PathNuSVR",
    "PathQuadraticSVC",
    "PathRidge",
    "PathSVC",
    "PathSVR",
    "PathSearchCV",
    "RosenblattPerceptron",
    "Solution",
    "SparseLaplacianSVC",
    "StepwiseRegression",
    "__version__",
    "adaptive_ridge_iteration",
    "adaptive_ridge_path",
    "compare",
    "datasets",
    "display",
    "elastic_net_path",
    "expectile_path",
    "garrote_path",
    "kernel_ridge_path",
    "kernels",
    "l1_svc_path",
    "laplacian_svc_path",
    "lasso_path",
    "load",
    "margin_bound",
    "margins",
    "nu_svr_path",
    "nu_svr_surface",
    "one_class_path",
    "quadratic_svc_path",
    "quadratic_svr_path",
    "quantile_path",
    "ridge_path",
    "selection",
    "svc_path",
    "svr_path",
    "svr_surface",
]


def __dir__() -> list[str]:
    """The public names: what a user types and completes."""
    return __all__
