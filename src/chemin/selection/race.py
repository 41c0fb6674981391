"""Candidates of a search: folds walked some at a time, given up when they cannot be the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from .criteria import Criterion, Run, Trial, Walked, Work
from .curve import Curve
from .family import Family, Rows
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
        whole: Callable[[], Family],
        criterion: Criterion,
    ) -> None:
        self.params, self.folds, self.whole, self.criterion = params, folds, whole, criterion
        self.model: Any = None  # of which all this is, where there is one
        self.family: Family | None = None
        self.curve: Curve | None = None  # None: it was given up
        self.walks: list[Walked] = []

    def race(self, best: Candidate | None, width: int) -> None:
        """Walk the folds, `width` at a time, while this can still be better than the best so far.

        It cannot be where the folds that are done cost more already than all folds of the best. And
        it is not thought to be where the best one has a smaller loss on the same folds, from two
        folds on, by half a standard error, even though this one's lambda is chosen for them.
        """
        limit = np.inf if best is None or best.curve is None else best.curve.minimum
        works = [Work.of(fold.family, self.criterion) for fold in self.folds]
        trials = [fold.trial for fold in self.folds]
        for fold in self.folds:
            fold.family.prepare()
        workers = Parallel(n_jobs=self.criterion.n_jobs, prefer="threads")
        for k in range(0, len(trials), width):
            some = zip(works[k : k + width], trials[k : k + width])
            self.walks += workers(delayed(work.walk)(trial) for work, trial in some)
            if len(self.walks) < len(trials) and best is not None and self._behind(best):
                return
        # The way further down for those alone that may be the best.
        run = Run(self.criterion, works[0].family, works, trials, self.walks)
        self.curve = run.of_folds(limit)

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
        return float(total(known).lowest()[0].min()) / len(known)

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


__all__ = ["Candidate", "Fold"]
