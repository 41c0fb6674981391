"""scikit-learn estimators that choose their own hyper-parameter."""

from ._least_squares import LeastSquares
from .lasso import PathLasso
from .quadratic import PathQuadraticSVC
from .stepwise import StepwiseRegression
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = [
    "LeastSquares",
    "PathLasso",
    "PathNuSVR",
    "PathQuadraticSVC",
    "PathSVC",
    "PathSVR",
    "StepwiseRegression",
]
