"""Exact regularisation paths, compatible with scikit-learn."""

from importlib.metadata import PackageNotFoundError, version

from . import datasets, selection
from .api import (
    elastic_net_path,
    expectile_path,
    kernel_ridge_path,
    l1_svc_path,
    laplacian_svc_path,
    lasso_path,
    nu_svr_path,
    one_class_path,
    quadratic_svc_path,
    quadratic_svr_path,
    quantile_path,
    svc_path,
    svr_path,
)
from .models import (
    LaplacianSVC,
    PathLasso,
    PathNuSVR,
    PathQuadraticSVC,
    PathSVC,
    PathSVR,
    SparseLaplacianSVC,
)
from .path import Path, Solution, load

try:
    __version__ = version("chemin")
except PackageNotFoundError:  # a source tree on the path, not installed
    __version__ = "0+unknown"

__all__ = [
    "LaplacianSVC",
    "Path",
    "PathLasso",
    "PathNuSVR",
    "PathQuadraticSVC",
    "PathSVC",
    "PathSVR",
    "Solution",
    "SparseLaplacianSVC",
    "__version__",
    "datasets",
    "elastic_net_path",
    "expectile_path",
    "kernel_ridge_path",
    "l1_svc_path",
    "laplacian_svc_path",
    "lasso_path",
    "load",
    "nu_svr_path",
    "one_class_path",
    "quadratic_svc_path",
    "quadratic_svr_path",
    "quantile_path",
    "selection",
    "svc_path",
    "svr_path",
]
