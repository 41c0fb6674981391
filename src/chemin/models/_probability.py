"""Probabilities from f: a sigmoid or an isotonic function, fitted on rows left out of training.

    p(x) = mean over folds of s(f_k(x)),      f_k: the model of fold k

s is fitted once, on f of every row by the model that has not seen it: many rows for two numbers.
New points are seen by the same models, so that s is applied to what it was fitted on, and their
mean errs less than any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from ..kernels import Kernel, Precomputed, parts_of
from ..selection import Criterion, CrossValidation, Family
from ..selection.piecewise import Floats
from ..selection.several import ClassFamily

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


@dataclass(frozen=True)
class FoldModel:
    """f of a fold's model at the chosen value: of all problems, one column each."""

    kernel: Kernel
    rows: NDArray[np.intp]  # its support vectors, of all rows
    points: Any  # and where they are
    coef: Floats  # (support vectors, problems)
    intercept: Floats  # (problems,)

    @classmethod
    def of(cls, family: Family, trial: Any, value: Any) -> FoldModel:
        """The model of a trial, at one value for all problems or at one for each."""
        values = np.unique(value)
        ends = {"start": JUST_ABOVE * float(values.max()), "stop": float(values.min())}
        path: Any = family.walk(trial.train, trial.times, **ends)
        every = path.each if isinstance(family, ClassFamily) else [path]
        coef, intercept = np.zeros((len(trial.train), len(every))), np.zeros(len(every))
        for k, (one, at) in enumerate(zip(every, np.broadcast_to(value, len(every)))):
            if isinstance(one, float):  # a class that training rows lack
                intercept[k] = one
            else:
                solution = one.at(float(at))
                coef[:, k], intercept[k] = solution.coef, solution.intercept
        kernel = family.kernel_on(trial.train, trial.times)
        assert kernel is not None
        some = np.flatnonzero(coef.any(axis=1))
        rows, coef = trial.train[some], coef[some]
        points = None
        if not isinstance(kernel, Precomputed):
            points = family.X[rows]
            intercept = intercept + kernel.lift(points, coef)
        return cls(kernel, rows, points, coef, intercept)

    def f(self, X: Any) -> Floats:
        """At new points; of a kernel matrix the columns of all rows."""
        if not len(self.rows):
            return np.tile(self.intercept, (X.shape[0], 1))
        cross = X[:, self.rows] if self.points is None else self.kernel.cross(X, self.points)
        return np.asarray(cross @ self.coef + self.intercept)


@dataclass(frozen=True)
class Calibrated:
    """Probabilities of the positive class of each problem, the mean over the folds' models."""

    functions: list[Any]  # of f, one for each problem
    models: list[FoldModel]

    @classmethod
    def fitted(cls, method: str, family: Family, criterion: Criterion, value: Any) -> Calibrated:
        """From f of each row by a model that has not seen it.

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
        models = [FoldModel.of(family, trial, value) for trial in trials]
        rows = np.concatenate([trial.test for trial in trials])
        f = np.concatenate([m.f(family.X[trial.test]) for m, trial in zip(models, trials)])
        weight, functions = family.weight[rows], []
        make: Any = Sigmoid if method == "sigmoid" else Isotonic
        for k, column in enumerate(f.T):
            sign = _signs(family, k)[rows]
            some = sign != 0
            functions.append(make.fitted(column[some], sign[some] > 0, weight[some]))
        return cls(functions, models)

    def __call__(self, X: Any) -> Floats:
        """At new points, one column for each problem."""
        parts = parts_of(X.shape[0], max(len(model.rows) for model in self.models))
        return np.vstack([self._of(X[some]) for some in parts])

    def _of(self, X: Any) -> Floats:
        out = np.zeros((X.shape[0], len(self.functions)))
        for model in self.models:
            for k, (one, column) in enumerate(zip(self.functions, model.f(X).T)):
                out[:, k] += one(column)
        return out / len(self.models)


def _signs(family: Family, problem: int) -> Floats:
    if isinstance(family, ClassFamily):
        return family.coding.signs(problem, family.numbers)
    return np.where(family.y == np.unique(family.y)[1], 1.0, -1.0)


__all__ = ["METHODS", "Calibrated"]
