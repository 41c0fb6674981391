"""scikit-learn estimators that choose their own hyper-parameter."""

from .gradient_ridge import GradientRidge
from .lasso import PathLasso
from .quadratic import PathQuadraticSVC
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = ["GradientRidge", "PathLasso", "PathNuSVR", "PathQuadraticSVC", "PathSVC", "PathSVR"]
