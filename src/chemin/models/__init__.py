"""scikit-learn estimators that choose their own hyper-parameter."""

from ._least_squares import LeastSquares
from .compare import Comparison, compare
from .gradient_ridge import GradientRidge
from .lasso import (
    AdaptiveRidge,
    NonNegativeGarrote,
    PathLasso,
    PathRidge,
    adaptive_ridge_iteration,
)
from .margins import margin_bound, margins
from .mkl import MKLClassifier, MKLRegressor
from .perceptron import KernelPerceptron, RosenblattPerceptron
from .quadratic import PathQuadraticSVC
from .stepwise import StepwiseRegression
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = [
    "AdaptiveRidge",
    "Comparison",
    "GradientRidge",
    "KernelPerceptron",
    "LeastSquares",
    "MKLClassifier",
    "MKLRegressor",
    "NonNegativeGarrote",
    "PathLasso",
    "PathNuSVR",
    "PathQuadraticSVC",
    "PathRidge",
    "PathSVC",
    "PathSVR",
    "RosenblattPerceptron",
    "StepwiseRegression",
    "adaptive_ridge_iteration",
    "compare",
    "margin_bound",
    "margins",
]
