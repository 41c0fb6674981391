"""Exact regularisation paths, compatible with scikit-learn."""

from importlib.metadata import PackageNotFoundError, version

from . import datasets, kernels, selection
from .api import (
    adaptive_ridge_path,
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
    GradientRidge,
    KernelPerceptron,
    MKLClassifier,
    MKLRegressor,
    NonNegativeGarrote,
    PathLasso,
    PathNuSVR,
    PathQuadraticSVC,
    PathRidge,
    PathSVC,
    PathSVR,
    RosenblattPerceptron,
    StepwiseRegression,
    adaptive_ridge_iteration,
    compare,
    margin_bound,
    margins,
)
from .path import Path, Solution, load

try:
    __version__ = version("chemin")
except PackageNotFoundError:  # a source tree on the path, not installed
    __version__ = "0+unknown"

__all__ = [
    "AdaptiveRidge",
    "GradientRidge",
    "KernelPerceptron",
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
    "RosenblattPerceptron",
    "Solution",
    "StepwiseRegression",
    "__version__",
    "adaptive_ridge_iteration",
    "adaptive_ridge_path",
    "compare",
    "datasets",
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
    "one_class_path",
    "quadratic_svc_path",
    "quadratic_svr_path",
    "quantile_path",
    "ridge_path",
    "selection",
    "svc_path",
    "svr_path",
]
