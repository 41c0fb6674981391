"""Scores of which no exact curve is known: scikit-learn's other scorers, and callables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, roc_auc_score

from ..path import Path
from ..problems import Problem
from .losses import EXACT, Loss
from .piecewise import Floats
from .ranks import AREA
from .several import ClassFamily, Paths

Scorer = Callable[..., float]


class ScorerError(ValueError):
    """A scorer failed; the message names it."""


def find_loss(scoring: Any, problem: type[Problem], classifier: bool) -> Loss | None:
    """The exact loss of that name for this kind of target, if there is one.

    Without a name, the one that the problem names as its `criterion`.
    """
    name = problem.criterion if scoring is None else scoring
    loss = (EXACT | {AREA.scoring: AREA}).get(name) if isinstance(name, str) else None
    if loss is None or loss.labels not in (classifier, None):
        return None
    return replace(loss, name=problem.loss_name) if loss.as_in_training else loss


def for_several_classes(loss: Loss | None, family: ClassFamily) -> Loss | None:
    """The same loss where it is a 0/1 error and labels are followed exactly, or None.

    Raises where the loss is one of margins: it has no meaning for several classes.
    """
    if loss is not None and not loss.of_labels:
        raise ValueError(
            f"scoring={loss.scoring!r} needs two classes, got {len(family.classes)}: expected "
            "'accuracy', 'balanced_accuracy', None or a scorer of scikit-learn for several classes"
        )
    return loss if family.coding.by_pairs or family.straight else None


def check_scoring(scoring: Any) -> None:
    """Refuse what is neither a name that scikit-learn or chemin knows nor a callable."""
    if scoring is None or callable(scoring) or (isinstance(scoring, str) and scoring in EXACT):
        return
    find_scorer(scoring)


def find_scorer(scoring: Any) -> Scorer:
    if callable(scoring):
        return scoring
    try:
        return get_scorer(scoring)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"scoring must be a name that scikit-learn knows (those with an exact curve: "
            f"{', '.join((*EXACT, AREA.scoring))}), a callable scorer(estimator, X, y) or None, "
            f"got {scoring!r}"
        ) from error


def scorer_name(scoring: Any) -> str:
    if isinstance(scoring, str):
        return scoring
    function = getattr(scoring, "_score_func", scoring)
    return getattr(function, "__name__", None) or type(scoring).__name__


def loss_name(scoring: Any) -> str:
    """What minus the score is called: without scikit-learn's "neg_", or with a minus."""
    name = scorer_name(scoring)
    return name.removeprefix("neg_").replace("_", " ") if name.startswith("neg_") else f"-{name}"


class _At(BaseEstimator):
    """The model of a path at one value, as a fitted estimator; f at the test points is known."""

    def __init__(self, path: Any, value: float, X: Any = None, f: Any = None) -> None:
        self.path, self.value, self.X, self.f = path, value, X, f

    def fit(self, X: ArrayLike, y: ArrayLike) -> _At:
        raise TypeError("this model stands at one point of a path and cannot be fitted")

    def _f(self, X: Any) -> Floats:
        return self.f if X is self.X else self.path.decision_function(X, self.value)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ClassifierAt(ClassifierMixin, _At):
    @property
    def classes_(self) -> NDArray[Any]:
        assert self.path.classes_ is not None
        return self.path.classes_

    def decision_function(self, X: ArrayLike) -> Floats:
        return self._f(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        return self.classes_[(self._f(X) > 0).astype(np.intp)]


class NumberedAt(ClassifierAt):
    """Labels 0 and 1 instead of the classes."""

    @property
    def classes_(self) -> NDArray[Any]:
        return np.array([0, 1])


class SeveralAt(ClassifierMixin, _At):
    @property
    def classes_(self) -> NDArray[Any]:
        return np.asarray(self.path.classes_)

    def decision_function(self, X: ArrayLike) -> Floats:
        return self.path.coding.decision(self._f(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        within = self.path.within(self.value)
        return self.classes_[self.path.coding.labels(self._f(X), within)]


class RegressorAt(RegressorMixin, _At):
    def predict(self, X: ArrayLike) -> Floats:
        return self._f(X)


def evaluate(
    scoring: Any,
    path: Path | Paths,
    values: Floats,
    f: Floats,
    X: Floats,
    y: NDArray[Any],
    weight: Floats,
) -> Floats:
    """The loss, minus the score, at each value; f has a row for each."""
    scorer, kind = find_scorer(scoring), _kind(path)
    known = _weights(scorer, weight)
    two = path.classes_ is not None and not isinstance(path, Paths)
    if _is_area(scorer) and not known and two:
        assert path.classes_ is not None
        positive = np.asarray(y) == path.classes_[1]
        if 0 < positive.sum() < len(positive):  # or scikit-learn says what is wrong
            return -areas(f, positive)
    if two and isinstance(scoring, str) and 1 not in path.classes_.tolist():  # type: ignore
        # scikit-learn's scores of a positive class look for 1: it is classes_[1].
        kind, y = NumberedAt, (np.asarray(y) == path.classes_[1]).astype(int)  # type: ignore
    out = np.empty(len(values))
    told: dict[bytes, float] = {}
    for k, value in enumerate(values):
        seen = _seen(scorer, path, f[k])
        if seen is not None and seen in told:
            out[k] = told[seen]
            continue
        try:
            score = scorer(kind(path, float(value), X, f[k]), X, y, **known)
            out[k] = -float(score)
        except Exception as error:
            raise ScorerError(
                f"the scorer {scorer_name(scoring)!r} failed at {path.parameter} = {value:g}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not np.isfinite(out[k]):
            raise ScorerError(
                f"the scorer {scorer_name(scoring)!r} gave {score} at {path.parameter} = "
                f"{value:g}, expected a finite number"
            )
        if seen is not None:
            told[seen] = out[k]
    return out


def _is_area(scorer: Scorer) -> bool:
    """Whether this is the area under the ROC curve of f, as scikit-learn's "roc_auc" has it."""
    if getattr(scorer, "_score_func", None) is not roc_auc_score:
        return False
    how = getattr(scorer, "_response_method", None)
    first = how[0] if isinstance(how, (tuple, list)) and how else how
    plain = not getattr(scorer, "_kwargs", True) and getattr(scorer, "_sign", 0) == 1
    return plain and first == "decision_function"


def areas(f: Floats, positive: NDArray[np.bool_]) -> Floats:
    """The area under the ROC curve for each row of f, from ranks; ties count one half."""
    ranks = rankdata(f, axis=1)
    n, m = positive.sum(), (~positive).sum()
    return np.asarray((ranks[:, positive].sum(axis=1) - n * (n + 1) / 2) / (n * m))


def _seen(scorer: Scorer, path: Path | Paths, f: Floats) -> bytes | None:
    """All that a scorer of labels sees of f: their signs. Others see f itself."""
    if path.classes_ is None or getattr(scorer, "_response_method", None) != "predict":
        return None
    return (path.coding.labels(f) if isinstance(path, Paths) else f > 0).tobytes()


def _kind(path: Path | Paths) -> Callable[..., Any]:
    if isinstance(path, Paths):
        return SeveralAt
    return RegressorAt if path.classes_ is None else ClassifierAt


def _weights(scorer: Scorer, weight: Floats) -> dict[str, Floats]:
    """sample_weight for a scorer that takes it; equal weights are none."""
    equal = np.ptp(weight) == 0
    return {} if equal or not takes_weights(scorer) else {"sample_weight": weight}


def takes_weights(scorer: Scorer) -> bool:
    function = getattr(scorer, "_score_func", scorer)
    return "sample_weight" in inspect.signature(function).parameters


__all__ = [
    "ScorerError",
    "check_scoring",
    "evaluate",
    "find_loss",
    "find_scorer",
    "for_several_classes",
    "loss_name",
    "scorer_name",
    "takes_weights",
]
