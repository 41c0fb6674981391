"""What the estimators share: a problem, a path, a criterion."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..kernels import Kernel
from ..path import Solution
from ..selection import Criterion, CrossValidation, Curve, Family

CHOICES = ("min", "one_se", "sparsest")
PRIVATE = ("_data", "_kernel")  # what is learned besides attributes that end in _


class PathEstimator(BaseEstimator):
    """fit: a family of paths, a criterion on it, one point of the path on all rows."""

    kernel: Any = None  # of models that have one
    cv: Any
    scoring: Any
    choose: str
    tolerance: float | None
    start: float | None
    stop: float | None
    n_jobs: int | None
    max_events: int | None
    verbose: int

    @abstractmethod
    def _family(self, X: Any, y: Any, sample_weight: Any) -> Family:
        """The paths to choose from."""

    @abstractmethod
    def _learn(self, family: Family, solution: Solution) -> None:
        """Set what the model predicts with."""

    def _choose(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        """Walk all paths, choose the value, and learn the model there."""
        if self.choose not in CHOICES:
            raise ValueError(f"choose must be one of {', '.join(CHOICES)}, got {self.choose!r}")
        family = self._family(X, y, sample_weight)
        self.curve_ = self._criterion(groups)(family)
        self.path_ = self.curve_.path
        self.lambda_ = self.curve_.choose(self.choose, self.tolerance)
        _warn_at_end(self.curve_)
        self._learn(family, self.path_.at(self.lambda_))

    @contextmanager
    def _whole_or_nothing(self) -> Iterator[None]:
        """What a fit has learned goes where it does not come to its end, Ctrl-C included."""
        try:
            yield
        except BaseException:
            for name in [name for name in vars(self) if name.endswith("_") or name in PRIVATE]:
                delattr(self, name)
            raise

    def _walk_options(self) -> dict[str, Any]:
        names = ("start", "stop", "max_events", "verbose")
        return {name: getattr(self, name) for name in names}

    def _criterion(self, groups: Any) -> Criterion:
        if isinstance(self.cv, Criterion):
            return self.cv if groups is None else self.cv.with_groups(groups)
        return CrossValidation(self.cv, groups=groups, scoring=self.scoring, n_jobs=self.n_jobs)

    def _inputs(self, X: ArrayLike) -> NDArray[np.float64]:
        """New points, checked against those of fit."""
        check_is_fitted(self)
        if self._of_strings:
            return self.kernel.points(X)
        checked: NDArray[np.float64] = validate_data(
            self, X, dtype=np.float64, order="C", reset=False
        )
        return checked

    def _first_inputs(self, X: ArrayLike) -> NDArray[np.float64]:
        if self._of_strings:
            return self.kernel.points(X)
        checked: NDArray[np.float64] = validate_data(
            self, X, dtype=np.float64, order="C", ensure_min_samples=2
        )
        return checked

    @property
    def _of_strings(self) -> bool:
        """Whether points are strings, which have no features."""
        return isinstance(self.kernel, Kernel) and self.kernel.of_strings

    def _named(self, model: Any) -> Any:
        """A scikit-learn model that knows the columns this one knows."""
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model


def _warn_at_end(curve: Curve) -> None:
    """A minimum at the end may go on beyond it; a loss of 0 cannot."""
    if not curve.at_end or (curve.exact and curve.minimum <= 0):
        return
    low, high = curve.range
    if curve.at_lower_end:
        more = "a smaller stop may do better" if curve.goes_on else "no event lies below"
        end, advice = "lower", more if low > 0 else "nothing lies beyond"
    else:
        end, advice = "upper", "a model that is nearly constant does best"
    warnings.warn(
        f"the minimum of the {curve.loss} sits at the {end} end of the range of "
        f"{curve.parameter}, [{low:.4g}, {high:.4g}]: {advice}",
        stacklevel=4,
    )
