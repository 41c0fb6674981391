"""scikit-learn estimators that choose their own hyper-parameter."""

from .lasso import PathLasso
from .margins import margin_bound, margins
from .mkl import MKLClassifier, MKLRegressor
from .perceptron import KernelPerceptron, RosenblattPerceptron
from .quadratic import PathQuadraticSVC
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = [
    "KernelPerceptron",
    "MKLClassifier",
    "MKLRegressor",
    "PathLasso",
    "PathNuSVR",
    "PathQuadraticSVC",
    "PathSVC",
    "PathSVR",
    "RosenblattPerceptron",
    "margin_bound",
    "margins",
]
