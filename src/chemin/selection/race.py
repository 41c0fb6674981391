"""Candidates of a search: folds walked some at a time, given up when they cannot be the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from .criteria import WELL_INSIDE, Criterion, Run, Trial, Walked, Work
from .curve import Curve
from .family import Family, Rows
from .piecewise import total


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
        whole: Callable[[], Family],
        criterion: Criterion,
    ) -> None:
        self.params, self.folds, self.whole, self.criterion = params, folds, whole, criterion
        self.model: Any = None  # of which all this is, where there is one
        self.family: Family | None = None
        self.curve: Curve | None = None  # None: it was given up
        self.walks: list[Walked] = []

    def race(self, limit: float, width: int) -> None:
        """Walk the folds, `width` at a time, while the loss can still stay below the limit."""
        works = [Work.of(fold.family, self.criterion) for fold in self.folds]
        trials = [fold.trial for fold in self.folds]
        for fold in self.folds:
            fold.family.prepare()
        run = Parallel(n_jobs=self.criterion.n_jobs, prefer="threads")
        for k in range(0, len(trials), width):
            some = zip(works[k : k + width], trials[k : k + width])
            self.walks += run(delayed(work.walk)(trial) for work, trial in some)
            if len(self.walks) < len(trials) and self._least() > limit:
                return
        # The path on all rows, and the way further down, for those alone that may be the best.
        self.curve = Run(self.criterion, works[0].family, works, trials, self.walks).of_folds()
        error = np.nan_to_num(self.curve.standard_error(self.curve.minimiser))
        near = self.curve.minimum <= limit + error and not self.curve.is_inside(WELL_INSIDE)
        if self.curve.minimum < limit or near:
            self.family = self.whole()
            self.curve = Run(self.criterion, self.family, works, trials, self.walks).curve()

    def _least(self) -> float:
        """The mean over folds is no less, where paths have been: no loss is negative."""
        known = [walk.loss for walk in self.walks if walk.loss is not None]
        if len(known) < len(self.walks):
            return -np.inf
        return float(total(known).lowest()[0].min()) / len(self.folds)


__all__ = ["Candidate", "Fold"]
