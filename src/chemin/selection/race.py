"""Candidates of a search: folds walked some at a time, given up when they cannot be the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import delayed

from ..engine import DEFAULT_RANGE
from .criteria import FIRST_STAGE, Criterion, Run, Trial, Walked, Work
from .curve import Curve
from .family import Family, Rows
from .jobs import Asking
from .piecewise import total

# A candidate is behind by so many standard errors of the best before it is given up.
MARGIN = 0.5
# A path is walked on until its minimum lies inside, however little the loss rises below it.
RISE = 0.0


@dataclass(frozen=True)
class Fold:
    """Rows of a family to train on and to test on. Folds may have families of their own."""

    family: Family
    trial: Trial

    @classmethod
    def of_rows(cls, family: Family, k: int, train: Rows, test: Rows) -> Fold:
        """Fold k, without the rows of weight 0."""
        w = family.weight
        return cls(family, Trial(f"fold {k + 1}", k, train[w[train] > 0], test[w[test] > 0]))


class Candidate:
    """One choice of the parameters that have no path.

    Parameters
    ----------
    params : dict
    folds : list of Fold
    whole : callable
        Makes the family of all rows, once it is needed.
    criterion : Criterion
        With the scoring and the number of workers.
    """

    def __init__(
        self,
        params: dict[str, Any],
        folds: list[Fold],
        whole: Callable[[], Any],
        criterion: Criterion,
    ) -> None:
        self.params, self.folds, self.whole, self.criterion = params, folds, whole, criterion
        self.model: Any = None  # of which all this is, where there is one
        self.family: Family | None = None
        self.curve: Curve | None = None  # None: it was given up
        self.walks: list[Walked] = []
        self.raced = False

    def race(self, best: Candidate | None, width: Callable[[], int]) -> Asking:
        """Walk the folds, `width` at a time, while this can still be better than the best so far.

        It cannot be where the folds that are done cost more already than all folds of the best. And
        it is not thought to be where the best one has a smaller loss on the same folds, from two
        folds on, by half a standard error, even though this one's lambda is chosen for them.
        """
        yield from self._racing(best, width)
        self.raced = True

    def _racing(self, best: Candidate | None, width: Callable[[], int]) -> Asking:
        limit = np.inf if best is None or best.curve is None else best.curve.minimum
        works = [Work.of(fold.family, self.criterion) for fold in self.folds]
        trials = [fold.trial for fold in self.folds]
        for fold in self.folds:
            fold.family.prepare()
        run, stop = Run(self.criterion, works[0].family, works, trials, self.walks), {}
        if works[0].family.in_stages and works[0].loss is not None:
            self.walks += yield from run.pilot(width(), _part_walked(best))
            stop = {"stop": max(walk.stop for walk in self.walks)}
        while len(self.walks) < len(trials):
            if self.walks and best is not None and self._behind(best):
                return
            some = slice(len(self.walks), len(self.walks) + width())
            every = zip(works[some], trials[some])
            self.walks += yield [delayed(work.walk)(trial, **stop) for work, trial in every]
        # The way further down for those alone that may be the best.
        self.curve = yield from run.of_folds(limit)

    def finish(self) -> None:
        """Walk the path on all rows: of the best candidate alone."""
        self.family = self.whole()
        works = [Work.of(fold.family, self.criterion) for fold in self.folds]
        trials = [fold.trial for fold in self.folds]
        self.curve = Run(self.criterion, self.family, works, trials, self.walks, RISE).curve()

    @property
    def loss(self) -> float:
        """The smallest loss; of a candidate that was given up that of the folds it has."""
        if self.curve is not None:
            return self.curve.minimum
        known = [walk.loss for walk in self.walks if walk.loss is not None]
        return float(total(known).lowest()[0].min()) / len(known) if known else np.inf

    def _behind(self, best: Candidate) -> bool:
        """Whether folds that are done tell that this is not the best; see `race`."""
        curve, done = best.curve, len(self.walks)
        known = [walk.loss for walk in self.walks if walk.loss is not None]
        if curve is None or len(known) < done:
            return False
        least = float(total(known).lowest()[0].min())  # of the sum over these folds
        there = curve.per_fold(curve.minimiser)
        error = np.nan_to_num(curve.standard_error(curve.minimiser))
        same = float(np.sum(there[:done])) + done * MARGIN * error
        return least > float(np.sum(there)) or (done > 1 and least > same)


def _part_walked(best: Candidate | None) -> float:
    """Of the start, how far down the best candidate so far was walked; within what pilots do."""
    if best is None or best.curve is None:
        return FIRST_STAGE
    return float(np.clip(best.curve.range[0] / best.curve.top, DEFAULT_RANGE, FIRST_STAGE))


__all__ = ["Candidate", "Fold"]
