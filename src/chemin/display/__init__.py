"""Figures as objects, in scikit-learn's manner: data first, `plot` when it is wanted.

matplotlib is imported when something is drawn, not before (`pip install chemin[plot]`).
"""

from .comparison import ComparisonDisplay
from .curve import CurveDisplay
from .descent import DescentDisplay
from .path import PathDisplay
from .surface import SurfaceDisplay

__all__ = [
    "ComparisonDisplay",
    "CurveDisplay",
    "DescentDisplay",
    "PathDisplay",
    "SurfaceDisplay",
]
