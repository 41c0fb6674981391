"""What the estimators share: a problem, a path, a criterion."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._checks import is_word
from ..kernels import Kernel
from ..path import Path
from ..segments import Terms
from ..selection import Criterion, CrossValidation, Curve, Family
from ..solution import Solution
from ._points import checked_points

CHOICES = ("min", "one_se", "sparsest")
PRIVATE = (
    "_data",
    "_kernel",
    "_probabilities",
    "_equal",
)  # what is learned besides attributes that end in _


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

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Points and targets of fit as the family takes them."""
        raise NotImplementedError(f"{type(self).__name__} has no search over other parameters")

    def _family_of(self, X: Any, y: Any, sample_weight: Any) -> Family:
        """The family of a search: checked, and without an end where no stop is given."""
        return self._named_family(*self._checked(X, y), sample_weight)

    def _named_family(self, X: Any, y: Any, sample_weight: Any) -> Family:
        """The paths to choose from, with the names of the columns."""
        family = self._family(X, y, sample_weight)
        family.walk_on = self.stop is None
        if hasattr(self, "feature_names_in_"):
            family.names = tuple(map(str, self.feature_names_in_))
        return family

    def _choose(self, X: Any, y: Any, sample_weight: Any, criterion: Criterion) -> None:
        """Walk all paths, choose the value, and learn the model there."""
        if not is_word(self.choose, CHOICES):
            raise ValueError(f"choose must be one of {', '.join(CHOICES)}, got {self.choose!r}")
        family = self._named_family(X, y, sample_weight)
        self._adopt(family, criterion(family))

    def _adopt(self, family: Family, curve: Curve) -> None:
        """Choose the value on a curve, and learn the model there."""
        self.curve_ = curve
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

    def _inputs(self, X: ArrayLike) -> Any:
        """New points, checked against those of fit."""
        check_is_fitted(self)
        if self._of_strings:
            return self.kernel.points(X)
        return checked_points(self, X, first=False, sparse=self._takes_sparse)

    @property
    def _takes_sparse(self) -> bool:
        """Whether points may be sparse."""
        return False

    def _first_inputs(self, X: ArrayLike) -> Any:
        if self._of_strings:
            return self.kernel.points(X)
        return checked_points(self, X, first=True, sparse=self._takes_sparse)

    @property
    def _of_strings(self) -> bool:
        """Whether points are strings, which have no features."""
        return isinstance(self.kernel, Kernel) and self.kernel.of_strings

    def _named(self, model: Any) -> Any:
        """A scikit-learn model that knows the columns this one knows."""
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_
        return model


def rounded(
    f: NDArray[np.float64], coef_sum: Any, largest: Any, paths: Sequence[Path]
) -> NDArray[np.float64]:
    """f of each problem, 0 where it is not told from 0. `coef_sum`: of absolute coefficients, one a
    problem; `largest`: |k(x_i, x)| at each point.
    """
    each = [path.terms for path in paths]
    reach, level = np.array([(terms.reach, terms.level) for terms in each]).T
    terms = Terms(reach, level, each[0].roundings)
    return terms.rounded(f, coef_sum, largest[:, None])


def _warn_at_end(curve: Curve) -> None:
    """A minimum at the end may go on beyond it; a loss of 0 cannot."""
    if not curve.at_end or (curve.exact and curve.minimum <= 0):
        return
    low, high = curve.range
    if curve.at_lower_end:
        if not curve.goes_on:  # there is nothing below
            return
        end, advice = "lower", "a smaller stop may do better"
    else:
        end, advice = "upper", "a model that is nearly constant does best"
    warnings.warn(
        f"the minimum of the {curve.loss} sits at the {end} end of the range of "
        f"{curve.parameter}, [{low:.4g}, {high:.4g}]: {advice}",
        stacklevel=4,
    )
