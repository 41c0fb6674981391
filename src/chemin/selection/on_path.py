"""Leave-one-out on one path: no other is walked, the multiplier of each point walks to zero."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from .._checks import check_positive
from ..path import Path
from . import scorers
from .criteria import ABOVE, LeaveOneOut, check_whole, knots_and_middles
from .curve import Curve
from .family import Family, Rows
from .losses import EXACT, Loss, PointLoss
from .piecewise import Floats, Piecewise
from .several import ClassFamily

# Each value costs a walk for every support vector.
MOST_VALUES = 100


class LeaveOneOutOnPath(LeaveOneOut):
    """Each point predicted by the model on all others, from the path on all rows alone.

    `Path.leave_one_out` gives the loss exactly at breakpoints and midpoints of the path, one value
    after the other as it is walked; between them the curve is drawn straight. `LeaveOneOut` walks a
    path without each point instead and is exact everywhere; it costs as many paths as there are
    points, this one a short walk for each support vector at each value. Class weights and
    gamma="scale" are those of all rows.

    Parameters
    ----------
    margin : float or None
        Stop where the loss is above (1 + margin) times the smallest so far: the curve, and its
        range, end there. A rise of that size before the minimum stops it too early. None: go
        through all values.
    n_values : int
        At no more values than this, evenly among breakpoints and midpoints.
    scoring : str or None
        One of `chemin.selection.EXACT_SCORES`. Default: as in `CrossValidation`.
    n_jobs : int or None
        Threads for the values.

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0, noise=0.2)
    >>> criterion = LeaveOneOutOnPath(margin=0.3, scoring="neg_mean_absolute_error")
    >>> model = chemin.PathSVR(gamma=300.0, cv=criterion).fit(X, y)
    >>> bool(model.curve_.minimum <= model.curve_(model.curve_.range[0]))
    True
    """

    def __init__(
        self,
        *,
        margin: float | None = None,
        n_values: int = MOST_VALUES,
        scoring: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(scoring=scoring, n_jobs=n_jobs)
        if margin is not None:
            margin = check_positive(margin, "margin", zero=True)
        check_whole(n_values, "n_values", 2)
        self.margin, self.n_values = margin, n_values

    def __call__(self, family: Family) -> Curve:
        """The curve for a family of paths, of which the one on all rows is walked."""
        if isinstance(family, ClassFamily):
            raise ValueError(
                f"LeaveOneOutOnPath needs two classes, got {len(family.classes)}: expected "
                "LeaveOneOut or CrossValidation for several"
            )
        loss, path = self._known_loss(family), family.path
        values = _as_walked(path, self.n_values)
        by_cost = self.scoring is None or loss.as_in_training
        losses = self._losses(values, _left_out(loss, family, path, by_cost))
        values = values[: len(losses)]
        u = path.coordinate.to_u(values)
        order = np.argsort(u)
        low, high = float(values.min()), float(values.max())
        make = partial(
            Curve,
            [Piecewise.through(u[order], point[order]) for point in losses.T],
            path,
            range=(low, high),
            top=min(high, max(path.start, path.stop)),
            scoring=loss.scoring,
            loss=loss.name,
            best=loss.best,
            how=self.how,
            exact=False,
        )
        curve = make()
        return make(goes_on=path.goes_on) if curve.at_lower_end else curve

    def _known_loss(self, family: Family) -> Loss:
        loss = scorers.find_loss(self.scoring, family.problem, family.classifier)
        if loss is None or not loss.of_points:
            kind = "classification" if family.classifier else "regression"
            names = [k for k, known in EXACT.items() if known.labels in (family.classifier, None)]
            raise ValueError(
                f"scoring must be one of {', '.join(names)} or None for leave-one-out of "
                f"{kind} on its path, got {self.scoring!r}"
            )
        return loss

    def _losses(self, values: Floats, loss_at: Callable[[float], Floats]) -> Floats:
        """Losses of all points, one row a value, up to the one at which the margin is passed."""
        run = Parallel(n_jobs=self.n_jobs, prefer="threads")
        size = len(values) if self.margin is None else effective_n_jobs(self.n_jobs)
        rows: list[Floats] = []
        for k in range(0, len(values), size):
            rows += run(delayed(loss_at)(float(v)) for v in values[k : k + size])
            passed = self._passed(np.mean(rows, axis=1))
            if passed is not None:
                return np.array(rows[: passed + 1])
        return np.array(rows)

    def _passed(self, means: Floats) -> int | None:
        """The first of the losses that is above the smallest before it by the margin."""
        if self.margin is None:
            return None
        above = means > (1.0 + self.margin) * np.minimum.accumulate(means)
        above[:1] = False
        return int(np.argmax(above)) if above.any() else None


@dataclass(frozen=True)
class LeftOut:
    """The loss of each point that takes part as a fold of its own: n omega_i L_i(f_i)."""

    path: Path
    used: Rows
    omega: Floats
    loss: PointLoss

    def __call__(self, value: float) -> Floats:
        f = self.path.leave_one_out(value)
        return np.asarray(self.omega * self.loss(f[self.used]))


def _left_out(loss: Loss, family: Family, path: Path, by_cost: bool) -> LeftOut:
    used, classes = family.used, path.classes_
    y = np.asarray(family.y, dtype=float) if classes is None else family.y == classes[1]
    target = (y if classes is None else np.where(y, 1.0, -1.0))[used]
    # By default losses count as in training; scikit-learn's scores know no class weights.
    weight = (family.cost if by_cost else family.weight)[used]
    omega = len(used) * loss.weigh(target, weight)
    return LeftOut(path, used, omega, loss.at(path.problem, target))


def _as_walked(path: Path, most: int) -> Floats:
    """Breakpoints and midpoints in the order walked, and what lies above the start."""
    if not np.isfinite(path.start):
        raise ValueError(f"the path on all rows is empty: {path.reason}")
    low, top = min(path.start, path.stop), max(path.start, path.stop)
    if not path.complete:
        warnings.warn(
            f"the path ended early, and the curve with it, at {path.parameter} = "
            f"{path.stop:.4g}: {path.reason}",
            stacklevel=4,
        )
    values = knots_and_middles([path.breakpoints], low, top, most)
    if path.stop > path.start:
        return values
    if path.closed_above and path.coordinate.to_infinity:
        # Models without a point may start above; far above f has all but stopped to move.
        values = np.concatenate([values, path.start * np.array([2.0, ABOVE])])
    return values[::-1]


__all__ = ["LeaveOneOutOnPath"]
