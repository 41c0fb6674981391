"""Choosing where most points have no label: by folds of the others, or by points of one's own."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_matrix, check_partly_labelled, check_positive, check_two_classes
from .._checks import class_weights as weights_by_class
from ..data import Data
from ..kernels import GraphGram, Kernel, Precomputed
from ..path import Path
from ..walk import make_data, stretched
from . import scorers
from .classes import Coding
from .criteria import Criterion, Run, Trial, errors
from .curve import Curve, past_jump
from .family import Family, Given, Rows
from .losses import Loss
from .piecewise import Floats
from .several import ClassFamily, Paths

STAGE = 0.6  # of the value reached so far: how far a walk goes before its losses are looked at
FIRST = 0.1  # of the start: as far folds go before anybody looks
LOWEST = 1e-4  # of the start: where a walk ends that nothing has ended before
DEEPER = 1e-7  # of the start: the same, where the number of terms bounds the walk
LOOKS = 16  # at the loss of several classes in a stage


class GraphFamily(Family):
    """Paths of the sparse Laplacian SVM on all points, with some of the labels.

    Points without a label have weight 0: criteria split the labelled points alone. A model on part
    of them still knows all points, their kernel and their graph; gamma="scale" is taken from all
    points. The kernel matrix, and K + rho K L K, are formed once for all paths.

    Parameters
    ----------
    X, y, sample_weight : as `chemin.laplacian_svc_path` takes them
    laplacian : sparse matrix of shape (n, n)
        Of the graph on all points.
    **options
        The other arguments of the path function, without those that make the graph.
    """

    on_graph = True
    straight = True  # f is affine in either lambda, or in 1/lambda

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        laplacian: Any,
        gram: GraphGram | None = None,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        labels, self.known = check_partly_labelled(y, len(np.asarray(X)))
        super().__init__("laplacian_svc", X, labels, sample_weight=sample_weight, **options)
        self.weight = np.where(self.known, self.weight, 0.0)
        self.laplacian = laplacian
        if gram is not None:
            vars(self)["shared"] = gram

    @cached_property
    def shared(self) -> GraphGram:
        """The kernel matrix of all points, with their graph."""
        assert self.kernel is not None
        return GraphGram(self.kernel.gram(self.X), self.laplacian)

    @property
    def gram(self) -> Floats:
        return self.shared.matrix

    def prepare(self) -> None:
        _ = self.shared.roughened(self.spec["rho"])

    @cached_property
    def cost(self) -> Floats:
        if self.class_weight is None:
            return self.weight
        used, out = self.used, np.zeros(len(self))
        signs, classes = check_two_classes(self.y[used])
        out[used] = weights_by_class(self.class_weight, signs, classes, self.weight[used])
        return out

    def walk(self, rows: Rows | None, weight: Floats | None = None, **options: Any) -> Any:
        given = self._given(rows, weight, self.options | options)
        data, signs = make_data(
            self.name,
            given.X,
            self.y,
            given.weight,
            self.kernel,
            self.class_weight,
            self.laplacian,
        )
        return self._walked(data, signs, given)

    def _given(self, rows: Rows | None, weight: Floats | None, walk: dict[str, Any]) -> Given:
        """All points; those that are not among the rows have no label."""
        w = np.zeros(len(self))
        if rows is None:
            w[:] = self.weight
        else:
            walk["verbose"] = 0
            np.add.at(w, rows, self._weights(rows, weight))
        return Given(np.arange(len(self)), self.X, w, self.kernel, self.shared, walk)

    def kernel_on(self, rows: Rows, weight: Floats | None = None) -> Kernel | None:
        return self.kernel

    def cross(self, rows: Rows, test: Rows, weight: Floats | None = None) -> Floats:
        return np.ascontiguousarray(self.gram[:, test])

    def inputs(self, rows: Rows, test: Rows) -> Floats:
        return self.gram[test] if isinstance(self.kernel, Precomputed) else self.X[test]


class GraphClassFamily(GraphFamily, ClassFamily):
    """The same for several classes: each is told from the rest, all at one value of lambda1.

    The parameters are those of `GraphFamily`.
    """

    def __init__(self, X: ArrayLike, y: ArrayLike, **options: Any) -> None:
        super().__init__(X, y, coding="ovr", **options)
        self.classes = np.unique(self.y[self.known])
        self.numbers = np.zeros(len(self), np.intp)  # of points without a label it says nothing
        self.numbers[self.known] = np.searchsorted(self.classes, self.y[self.known])
        self.coding = Coding(len(self.classes), "ovr")

    @cached_property
    def cost(self) -> Floats:
        return self._by_class(np.arange(len(self)), self.weight)

    def walk(self, rows: Rows | None, weight: Floats | None = None, **options: Any) -> Any:
        return ClassFamily.walk(self, rows, weight, **options)

    def _walked(self, data: Data, signs: Floats | None, given: Given) -> Path:
        return super()._walked(replace(data, laplacian=self.laplacian), signs, given)


class InStages(Run):
    """A criterion on a family whose paths are all walked a little at a time, and end early.

    They end where the loss comes down to `target`, where it is 0, where the model has more than
    `most_terms` kernel terms, or where the loss has been smallest, and smaller than without a
    model, at a value `patience` times as large.
    """

    def __init__(
        self,
        criterion: Criterion,
        family: Family,
        *,
        patience: float,
        target: float,
        most_terms: int,
    ) -> None:
        scorers.check_scoring(criterion.scoring)
        super().__init__(criterion, family)
        self.patience, self.target, self.most_terms = patience, target, most_terms

    def curve(self) -> Curve:
        family, start = self.family, self.family.walk(None, max_events=1).start
        if not np.isfinite(start):
            return super().curve()  # which says why
        family.options["stop"] = FIRST * start
        try:
            path, walks = self._walks()
        finally:
            family.options["stop"] = None
        curve = self._curve(path, walks)
        while not self._done(curve) and path.complete and all(walk.complete for walk in walks):
            low = curve.range[0]
            if low <= DEEPER * start or _terms(path, path.stop) > self.most_terms:
                break
            path, walks = self._further(path, walks, max(STAGE * low, DEEPER * start))
            curve = self._curve(path, walks)
        self._warn_of_end(path, walks, curve)
        family.remember(path)
        return curve

    def _done(self, curve: Curve) -> bool:
        if curve.minimum <= self.target:
            return True
        better = curve.minimum < curve(curve.range[1])
        return better and not curve.falls_below(self.patience * curve.range[0])


class Validation(Criterion):
    """The loss on points of one's own, along one path; it may end early.

    The path is walked in stages. It ends where the loss comes down to `target`, where it is 0, or
    where it has been smallest, and smaller than at the start, at a value `patience` times as large.

    Parameters
    ----------
    X, y : points and their labels or targets
    target : float or None
        A loss that is good enough, such as that of the model without a penalty.
    patience : float or None
        None: go to the stop, or to 1e-4 of the start, in any case.
    most_terms : int or None
        The path ends as well where a model has more kernel terms.
    scoring : str or None
        One of `chemin.selection.EXACT_SCORES`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> family = chemin.selection.Family(chemin.svc_path, X[:400], y[:400])
    >>> curve = Validation(X[400:], y[400:])(family)
    >>> curve.exact
    True
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        target: float | None = None,
        patience: float | None = 10.0,
        most_terms: int | None = None,
        scoring: Any = None,
    ) -> None:
        super().__init__(scoring=scoring)
        self.X, self.y = check_matrix(X), np.asarray(y)
        if self.y.shape != (len(self.X),):
            raise ValueError(f"y must have {len(self.X)} entries, got shape {self.y.shape}")
        self.target = target if target is None else check_positive(target, "target", zero=True)
        self.patience = patience if patience is None else check_positive(patience, "patience")
        self.most_terms = np.inf if most_terms is None else most_terms

    def __repr__(self) -> str:
        return f"Validation({len(self.X)} points, scoring={self.scoring!r})"

    def trials(self, family: Family) -> list[Trial]:
        return []

    def __call__(self, family: Family) -> Curve:
        scorers.check_scoring(self.scoring)
        loss = scorers.find_loss(self.scoring, family.problem, family.classifier)
        if loss is None:
            raise ValueError(f"scoring must have an exact curve, got {self.scoring!r}")
        if isinstance(family, ClassFamily):
            loss = scorers.for_several_classes(loss, family)
        assert loss is not None  # of several classes: GraphClassFamily is straight
        path = self._walked(family, loss)
        family.remember(path)
        y = self._target(path)
        omega = loss.weigh(y, np.ones(len(y)))
        judged: Any = errors if isinstance(path, Paths) else loss.judged
        whole, undecided = judged(path, _cross(path, self.X), y, omega)
        endless = path.closed_above and not path.coordinate.to_infinity
        high = past_jump([whole], path, path.start) if endless else path.start
        return Curve(
            [whole],
            path,
            range=(path.stop, high),
            top=path.start,
            scoring=loss.scoring,
            loss=loss.name,
            best=loss.best,
            on_boundary=undecided,
            endless=endless,
        )

    def _target(self, path: Path | Paths) -> Any:
        """Numbers, the signs of labels, or which of several classes."""
        if path.classes_ is None:
            return np.asarray(self.y, dtype=float)
        unknown = np.setdiff1d(self.y, path.classes_)
        if unknown.size:
            raise ValueError(f"y has the label {unknown[0]}, expected one of {path.classes_}")
        if isinstance(path, Paths):
            return np.searchsorted(path.classes_, self.y)
        return np.where(self.y == path.classes_[1], 1.0, -1.0)

    def _walked(self, family: Family, loss: Loss) -> Any:
        """Stage by stage, until something ends it."""
        if self.patience is None or family.options["stop"] is not None:
            return family.path
        most = family.options["max_events"] or np.inf
        path: Any = family.walk(None, max_events=1)
        if not np.isfinite(path.start):
            raise ValueError(f"the path on all rows is empty: {path.reason}")
        losses = _Losses(loss, path, _cross(path, self.X), self._target(path))
        first = best = losses.least(path, path.start, path.start)[0]
        at, goal = path.start, self.target or 0.0
        lowest = path.start * (LOWEST if np.isinf(self.most_terms) else DEEPER)
        while True:
            high, stop = path.stop, max(STAGE * path.stop, lowest)
            if isinstance(path, Paths):
                path = path.further(stop) if path.complete else family.walk(None, stop=stop)
                value, place = losses.least(path, path.stop, high)
            else:
                path, part = stretched(path, stop)
                value, place = losses.least(part, part.stop, part.start)
            if value < best:
                best, at = value, place
            done = best <= goal or (best < first and path.stop * self.patience < at)
            done |= _terms(path, path.stop) > self.most_terms
            ended = not path.complete or path.stop <= lowest
            if done or ended or path.n_events >= most:
                return path


class _Losses:
    """The loss on given points at breakpoints and between them: what decides when to stop."""

    def __init__(self, loss: Loss, path: Path | Paths, cross: Floats, y: Any) -> None:
        self.cross, self.y = cross, y
        self.loss = None if isinstance(path, Paths) else loss.at(path.problem, y)
        self.omega = loss.weigh(y, np.ones(len(y)))

    def least(self, part: Path | Paths, stop: float, start: float) -> tuple[float, float]:
        """The least loss on a part of a path, and where it is."""
        if not np.isfinite(start):
            return np.inf, np.nan
        low, high = sorted([start, stop])
        if isinstance(part, Paths):  # they have many breakpoints together
            values = np.geomspace(high, low, LOOKS).clip(low, high)
            coef, b = part.coefficients(values)
            f = np.moveaxis(np.tensordot(self.cross, coef, (0, 1)) + b, 1, -1)
            losses = self.omega @ (part.coding.labels(f) != self.y[:, None])
        else:
            knots = np.unique(np.concatenate([part.breakpoints, [low, high]]))
            values = np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])])
            values = values[(values >= low) & (values <= high)]
            coef, b = part.coefficients(values)
            some = np.flatnonzero(coef.any(axis=1))
            assert self.loss is not None
            losses = self.loss((self.cross[some].T @ coef[some] + b).T) @ self.omega
        k = int(np.argmin(losses))
        return float(losses[k]), float(values[k])


def _terms(path: Path | Paths, value: float) -> int:
    """Kernel terms of the model at a value, of all classes together."""
    coef, _ = path.coefficients([value])
    return int(np.count_nonzero(coef.any(axis=0) if isinstance(path, Paths) else coef))


def _cross(path: Path | Paths, X: Any) -> Floats:
    return (path[0] if isinstance(path, Paths) else path).cross(X)


__all__ = ["GraphClassFamily", "GraphFamily", "InStages", "Validation"]
