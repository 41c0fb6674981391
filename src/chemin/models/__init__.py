"""scikit-learn estimators that choose their own hyper-parameter."""

from ._least_squares import LeastSquares
from .lasso import (
    AdaptiveRidge,
    NonNegativeGarrote,
    PathLasso,
    PathRidge,
    adaptive_ridge_iteration,
)
from .quadratic import PathQuadraticSVC
from .stepwise import StepwiseRegression
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = [
    "AdaptiveRidge",
    "LeastSquares",
    "NonNegativeGarrote",
    "PathLasso",
    "PathNuSVR",
    "PathQuadraticSVC",
    "PathRidge",
    "PathSVC",
    "PathSVR",
    "StepwiseRegression",
    "adaptive_ridge_iteration",
]
