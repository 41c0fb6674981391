"""The door of the estimators for points: scikit-learn's checks, and ours before them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from .._checks import refuse_no_numbers

SPARSE = "csr"  # the format of sparse points


def checked_points(estimator: Any, X: Any, *, first: bool, sparse: bool = False) -> Any:
    """Points of `fit` (`first`), or new ones, which must have the same columns."""
    refuse_no_numbers(X)
    return validate_data(
        estimator,
        X,
        dtype=np.float64,
        order="C",
        reset=first,
        ensure_min_samples=1 + first,
        accept_sparse=SPARSE if sparse else False,
    )
