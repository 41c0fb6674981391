"""scikit-learn estimators that choose their own hyper-parameter."""

from .lasso import PathLasso
from .quadratic import PathQuadraticSVC
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = ["PathLasso", "PathNuSVR", "PathQuadraticSVC", "PathSVC", "PathSVR"]
