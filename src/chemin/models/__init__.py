"""scikit-learn estimators that choose their own hyper-parameter."""

from .lasso import PathLasso
from .svm import PathNuSVR, PathSVC, PathSVR

__all__ = ["PathLasso", "PathNuSVR", "PathSVC", "PathSVR"]
