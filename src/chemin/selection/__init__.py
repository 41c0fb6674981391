"""WHICH point of a path: criteria, their exact curves and minimisers."""

from .criteria import (
    Bootstrap632,
    BootstrapLeaveOneOut,
    Criterion,
    CrossValidation,
    LeaveOneOut,
    Split,
    Trial,
)
from .curve import Curve
from .descent import Descent
from .family import Family
from .graph import GraphFamily, Validation
from .information import InformationCriterion
from .losses import EXACT
from .on_path import LeaveOneOutOnPath

EXACT_SCORES = tuple(EXACT)

__all__ = [
    "EXACT_SCORES",
    "Bootstrap632",
    "BootstrapLeaveOneOut",
    "Criterion",
    "CrossValidation",
    "Curve",
    "Descent",
    "Family",
    "GraphFamily",
    "InformationCriterion",
    "LeaveOneOut",
    "LeaveOneOutOnPath",
    "Split",
    "Trial",
    "Validation",
]
