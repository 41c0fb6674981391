"""Choosing where most points have no label: by folds of the others, or by points of one's own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_matrix, check_partly_labelled, check_positive, check_two_classes
from .._checks import class_weights as weights_by_class
from ..engine import Reason
from ..kernels import GraphGram, Kernel, Precomputed
from ..path import Path
from ..walk import make_data, stretched, walk_path
from . import scorers
from .criteria import Criterion, Trial
from .curve import Curve, past_jump
from .family import Family, Rows
from .losses import Loss
from .piecewise import Floats

STAGE = 0.6  # of the value reached so far: how far a walk goes before its losses are looked at
LOWEST = 1e-4  # of the start: where a walk ends that nothing has ended before


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
        labels, known = check_partly_labelled(y, len(np.asarray(X)))
        super().__init__("laplacian_svc", X, labels, sample_weight=sample_weight, **options)
        self.weight = np.where(known, self.weight, 0.0)
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

    def walk(self, rows: Rows | None, weight: Floats | None = None, **options: Any) -> Path:
        walk, w = self.options | options, np.zeros(len(self))
        if rows is None:
            w[:] = self.weight
        else:
            walk["verbose"] = 0
            np.add.at(w, rows, self._weights(rows, weight))
        data, signs = make_data(
            self.name, self.X, self.y, w, self.kernel, self.class_weight, self.laplacian
        )
        path = walk_path(self.name, data, self.spec, target=signs, gram=self.shared, **walk)
        if path.reason == Reason.INTERRUPTED.value:
            raise KeyboardInterrupt
        return path

    def kernel_on(self, rows: Rows, weight: Floats | None = None) -> Kernel | None:
        return self.kernel

    def cross(self, rows: Rows, test: Rows, weight: Floats | None = None) -> Floats:
        return np.ascontiguousarray(self.gram[:, test])

    def inputs(self, rows: Rows, test: Rows) -> Floats:
        return self.gram[test] if isinstance(self.kernel, Precomputed) else self.X[test]


class Validation(Criterion):
    """The loss on points of one's own, along one path; it may end early.

    The path is walked in stages. It ends where the loss comes down to `target`, where it is 0, or
    where the parameter is `patience` times smaller than where the loss was smallest so far.

    Parameters
    ----------
    X, y : points and their labels or targets
    target : float or None
        A loss that is good enough, such as that of the model without a penalty.
    patience : float or None
        None: go to the stop, or to 1e-4 of the start, in any case.
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
        scoring: Any = None,
    ) -> None:
        super().__init__(scoring=scoring)
        self.X, self.y = check_matrix(X), np.asarray(y)
        if self.y.shape != (len(self.X),):
            raise ValueError(f"y must have {len(self.X)} entries, got shape {self.y.shape}")
        self.target = target if target is None else check_positive(target, "target", zero=True)
        self.patience = patience if patience is None else check_positive(patience, "patience")

    def __repr__(self) -> str:
        return f"Validation({len(self.X)} points, scoring={self.scoring!r})"

    def trials(self, family: Family) -> list[Trial]:
        return []

    def __call__(self, family: Family) -> Curve:
        scorers.check_scoring(self.scoring)
        loss = scorers.find_loss(self.scoring, family.problem, family.classifier)
        if loss is None:
            raise ValueError(f"scoring must have an exact curve, got {self.scoring!r}")
        path = self._walked(family, loss)
        family.remember(path)
        y = self._target(path)
        omega = loss.weigh(y, np.ones(len(y)))
        whole, undecided = loss.judged(path, path.cross(self.X), y, omega)
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

    def _target(self, path: Path) -> Floats:
        """Numbers, or the signs of labels."""
        if path.classes_ is None:
            return np.asarray(self.y, dtype=float)
        unknown = np.setdiff1d(self.y, path.classes_)
        if unknown.size:
            raise ValueError(f"y has the label {unknown[0]}, expected one of {path.classes_}")
        return np.where(self.y == path.classes_[1], 1.0, -1.0)

    def _walked(self, family: Family, loss: Loss) -> Path:
        """Stage by stage, until something ends it."""
        if self.patience is None or family.options["stop"] is not None:
            return family.path
        most = family.options["max_events"] or np.inf
        path = family.walk(None, max_events=1)
        if not np.isfinite(path.start):
            raise ValueError(f"the path on all rows is empty: {path.reason}")
        losses = _Losses(loss, path, path.cross(self.X), self._target(path))
        best, at = np.inf, path.start
        while True:
            path, part = stretched(path, max(STAGE * path.stop, LOWEST * path.start))
            value, place = losses.least(part)
            if value < best:
                best, at = value, place
            done = best <= (self.target or 0.0) or path.stop * self.patience < at
            ended = not path.complete or path.stop <= LOWEST * path.start
            if done or ended or path.n_events >= most:
                return path


class _Losses:
    """The loss on given points at breakpoints and between them: what decides when to stop."""

    def __init__(self, loss: Loss, path: Path, cross: Floats, y: Floats) -> None:
        self.loss, self.cross = loss.at(path.problem, y), cross
        self.omega = loss.weigh(y, np.ones(len(y)))

    def least(self, part: Path) -> tuple[float, float]:
        """The least loss on a part of a path, and where it is."""
        if not np.isfinite(part.start):
            return np.inf, np.nan
        low, high = sorted([part.start, part.stop])
        knots = np.unique(np.concatenate([part.breakpoints, [low, high]]))
        values = np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])])
        values = values[(values >= low) & (values <= high)]
        coef, b = part.coefficients(values)
        some = np.flatnonzero(coef.any(axis=1))
        f = self.cross[some].T @ coef[some] + b
        losses = self.loss(f.T) @ self.omega
        k = int(np.argmin(losses))
        return float(losses[k]), float(values[k])


__all__ = ["GraphFamily", "Validation"]
