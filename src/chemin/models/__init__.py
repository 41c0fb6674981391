"""FOR WHOM: scikit-learn estimators that choose their own hyper-parameter."""

from .lasso import PathLasso
from .svm import PathSVC, PathSVR

__all__ = ["PathLasso", "PathSVC", "PathSVR"]
