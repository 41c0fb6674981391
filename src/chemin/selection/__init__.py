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
from .descent import Descent, UnsolvableError
from .family import Family
from .graph import GraphClassFamily, GraphFamily, Validation
from .information import InformationCriterion
from .losses import EXACT
from .machines import MachineCriterion, TunedWidths, machine_folds, tune_widths
from .on_path import LeaveOneOutOnPath
from .several import ClassFamily, Paths
from .surface import Line, Surface
from .tunable import Folds, kernel_ridge_folds, logistic_folds
from .tuning import QuadraticCriterion, SmoothCriterion, Tuned, tune

EXACT_SCORES = tuple(EXACT)

__all__ = [
    "EXACT_SCORES",
    "Bootstrap632",
    "BootstrapLeaveOneOut",
    "ClassFamily",
    "Criterion",
    "CrossValidation",
    "Curve",
    "Descent",
    "Family",
    "Folds",
    "GraphClassFamily",
    "GraphFamily",
    "InformationCriterion",
    "LeaveOneOut",
    "LeaveOneOutOnPath",
    "Line",
    "MachineCriterion",
    "Paths",
    "QuadraticCriterion",
    "SmoothCriterion",
    "Split",
    "Surface",
    "Trial",
    "Tuned",
    "TunedWidths",
    "UnsolvableError",
    "Validation",
    "kernel_ridge_folds",
    "logistic_folds",
    "machine_folds",
    "tune",
    "tune_widths",
]
