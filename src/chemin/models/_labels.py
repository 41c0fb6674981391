"""Labels as signs of two classes, or as numbers of several."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import type_of_target

from .._checks import check_labels, check_two_classes


def two_classes(y: ArrayLike, n: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """The signs of n labels, +1 for the second class, and the two classes."""
    labels = check_labels(y, n)
    classes = np.unique(labels)
    if len(classes) > 2 and type_of_target(labels) == "multiclass":
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{len(classes)} classes, expected 2 (for several, wrap the model in "
            "sklearn.multiclass.OneVsOneClassifier)."
        )
    return check_two_classes(labels, n)


def numbered(y: ArrayLike, n: int) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """For n labels the number of the class of each, and the classes: two, or more."""
    labels = check_labels(y, n)
    classes = np.unique(labels)
    if len(classes) > 2 and type_of_target(labels) == "multiclass":
        return np.searchsorted(classes, labels), classes
    signs, classes = check_two_classes(labels, n)
    return (signs > 0).astype(np.intp), classes
