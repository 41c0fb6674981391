"""Probabilities from f: a sigmoid or an isotonic function, fitted on rows left out of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from ..segments import f_at
from ..selection import Criterion, CrossValidation, Family
from ..selection.piecewise import Floats
from ..selection.several import ClassFamily, Paths

METHODS = ("sigmoid", "isotonic")
# A path begins so little above the value that is asked for.
JUST_ABOVE = 1.0 + 1e-6


@dataclass(frozen=True)
class Sigmoid:
    """p = 1 / (1 + exp(-(a f + b))), Platt's."""

    a: float
    b: float

    @classmethod
    def fitted(cls, f: Floats, positive: Any, weight: Floats) -> Sigmoid:
        """The most likely one, with targets a little inside 0 and 1 as Platt (1999) has them."""
        n, m = weight[positive].sum(), weight[~positive].sum()
        target = np.where(positive, (n + 1.0) / (n + 2.0), 1.0 / (m + 2.0))
        both, label = np.tile(f, 2)[:, None], np.repeat([1, 0], len(f))
        parts = np.concatenate([weight * target, weight * (1.0 - target)])
        model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(both, label, parts)
        return cls(float(model.coef_[0, 0]), float(model.intercept_[0]))

    def __call__(self, f: Floats) -> Floats:
        return np.asarray(expit(self.a * f + self.b))


@dataclass(frozen=True)
class Isotonic:
    """A step function that rises with f, straight between its steps."""

    model: IsotonicRegression

    @classmethod
    def fitted(cls, f: Floats, positive: Any, weight: Floats) -> Isotonic:
        model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        return cls(model.fit(f, positive.astype(float), weight))

    def __call__(self, f: Floats) -> Floats:
        return np.asarray(self.model.predict(f))


def calibrated(method: str, family: Family, criterion: Criterion, value: Any) -> list[Any]:
    """One function for each problem, from f of each row by a model that has not seen it.

    Parameters
    ----------
    method : "sigmoid" or "isotonic"
    family : Family
    criterion : Criterion
        Whose folds are used.
    value : float or array
        lambda, of all problems or of each.
    """
    if not isinstance(criterion, CrossValidation):
        raise ValueError(f"probability needs folds, got cv={criterion!r}")
    trials = criterion.trials(family)
    parts = [_left_out(family, trial, value) for trial in trials]
    rows = np.concatenate([trial.test for trial in trials])
    f, weight = np.concatenate(parts), family.weight[rows]
    make: Any = Sigmoid if method == "sigmoid" else Isotonic
    out = []
    for k, column in enumerate(f.T):
        sign = _signs(family, k)[rows]
        some = sign != 0
        out.append(make.fitted(column[some], sign[some] > 0, weight[some]))
    return out


def _signs(family: Family, problem: int) -> Floats:
    if isinstance(family, ClassFamily):
        return family.coding.signs(problem, family.numbers)
    return np.where(family.y == np.unique(family.y)[1], 1.0, -1.0)


def _left_out(family: Family, trial: Any, value: Any) -> Floats:
    """f at the test rows of a trial, one column for each problem."""
    values = np.unique(value)
    ends = {"start": JUST_ABOVE * float(values.max()), "stop": float(values.min())}
    path: Any = family.walk(trial.train, trial.times, **ends)
    cross = family.cross(trial.train, trial.test, trial.times)
    if isinstance(path, Paths):
        f = path.f_at(cross, path.coordinate.to_u(np.ravel(value)))
        return f[0] if np.ndim(value) == 0 else np.einsum("kmk->mk", f)
    return f_at(path.segments(cross), path.coordinate.to_u(np.array([value])))[0][:, None]


__all__ = ["METHODS", "calibrated"]
