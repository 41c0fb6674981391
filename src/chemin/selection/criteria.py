"""Criteria: each turns a family of paths into a curve over the parameter.

A criterion says which models are trained on what and tested on what (its trials); the rest is the
same for all: walk every path, sum the losses, take the mean over folds.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import PredefinedSplit, ShuffleSplit, StratifiedShuffleSplit, check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.parallel import delayed

from .._checks import check_folds
from ..engine import DEFAULT_RANGE, ROUND_OFF
from ..kernels import parts_of
from ..path import Path
from ..segments import Coordinate, f_at
from . import scorers
from .curve import SAME, Curve, past_jump
from .family import Family, Rows
from .jobs import Asking, answered, run_all
from .losses import Loss
from .piecewise import Floats, Piecewise, total
from .several import ClassFamily, Paths

# Kernel machines in lambda are known up to infinity; a choice must be a number. So far above the
# starts of all paths f has moved by this part of what is left, and nothing else happens.
ABOVE = 1e4
# A scorer is called at no more values than this in each fold, evenly among breakpoints and
# midpoints: a call takes a millisecond or more.
MOST_VALUES = 500
# Where no stop is given and criteria walk on: by this factor at a time, to this part of the start,
# or until the minimum lies so far above the end (and the loss has risen by a standard error). Large
# problems are walked to the first part of their start before anybody looks, others to 1e-4; what is
# carried on goes this part further at least.
FIRST_STAGE, LEAST_STAGE = 1e-2, 0.5
ARRIVED = 1.25  # times the lowest value: folds have starts of their own, and end a little apart
ONWARD = 0.1
DEEPEST = 1e-9
WELL_INSIDE = 10.0
# Weight of the bootstrap in the 0.632 criterion: the chance of a point to be in a resample,
# 1 - 1/e, as it is rounded there.
SHARE_632 = 0.632


@dataclass(frozen=True)
class Trial:
    """One model: rows to train on, with multiplicities, and rows to test on.

    The loss of a fold is the sum of its trials' losses, each times its share.
    """

    name: str
    fold: int
    train: Rows
    test: Rows
    times: Floats | None = None
    share: float = 1.0


@dataclass(frozen=True)
class Span:
    """What a curve asks of a path, without the path."""

    parameter: str
    coordinate: Coordinate
    start: float
    stop: float
    closed_above: bool
    problem: Any
    reason: str = ""


@dataclass(frozen=True)
class Walked:
    """The ends of a trial's path, and its loss over the path, or the path itself.

    Ends and loss are in values of the family; see `Family.share`.
    """

    start: float
    stop: float
    complete: bool
    span: Span
    reason: str = ""  # for which it ended
    last: Any = None  # the state at the stop, from which it can be carried on
    loss: Piecewise | None = None  # of an exact loss
    undecided: int = 0  # test points with f = 0, to round-off, on a whole stretch
    path: Path | Paths | None = None  # for any other score
    settled: bool = False  # whether it is plain that nothing happens below the stop
    last_event: float = np.inf  # the lowest value at which something happens


class Criterion(ABC):
    """Which models are trained on what and tested on what.

    Parameters
    ----------
    scoring : str, callable or None
        "accuracy", "balanced_accuracy", "roc_auc", "neg_hinge_loss", "neg_mean_squared_error",
        "neg_mean_absolute_error" and "r2" give exact curves, and so does "loss": what the problem
        itself minimises in training. Any other name that scikit-learn knows, or a callable
        scorer(estimator, X, y), is evaluated at breakpoints and midpoints. Default: what the
        problem names; accuracy for classification, with errors weighed as in training where there
        are class weights, and neg_mean_squared_error for regression.
    n_jobs : int or None
        Workers, as in joblib: threads, unless `joblib.parallel_config` says otherwise.
    """

    # One loss over all test points together, not fold by fold: folds of one point.
    pooled = False
    how: ClassVar[str] = ""  # what figures call the loss by it

    def __init__(self, *, scoring: Any = None, n_jobs: Any = None) -> None:
        if not isinstance(n_jobs, (int, np.integer, type(None))):
            raise ValueError(f"n_jobs must be a whole number or None, got {n_jobs!r:.60}")
        self.scoring, self.n_jobs = scoring, n_jobs

    @abstractmethod
    def trials(self, family: Family) -> list[Trial]:
        """The models to train and to test."""

    def __call__(self, family: Family) -> Curve:
        """The curve of this criterion for a family of paths."""
        scorers.check_scoring(self.scoring)
        return Run(self, family).curve()

    def with_groups(self, groups: ArrayLike) -> Criterion:
        """The same criterion with groups of rows that are kept together, where it can use them."""
        raise ValueError(
            f"groups must be None with cv={self!r}, which cannot use them: expected "
            "CrossValidation with a splitter that keeps groups together"
        )

    def __repr__(self) -> str:
        given = {k: v for k, v in vars(self).items() if v is not None}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items())})"


class CrossValidation(Criterion):
    """The mean over folds of the loss on the rows left out.

    Parameters
    ----------
    cv : int, splitter or list of (train, test)
        As in scikit-learn: an int for classification is stratified.
    groups : array of shape (n,) or None
        For splitters that keep groups together.
    """

    how = "cross-validated"

    def __init__(
        self,
        cv: Any = 5,
        *,
        groups: ArrayLike | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(scoring=scoring, n_jobs=n_jobs)
        # An iterator of pairs gives them once, and they are asked for again.
        self.cv, self.groups = list(cv) if isinstance(cv, Iterator) else cv, groups

    def with_groups(self, groups: ArrayLike) -> Criterion:
        if self.groups is not None:
            raise ValueError("groups must be None: the criterion given as cv has groups of its own")
        other = copy(self)
        other.groups = groups
        return other

    def trials(self, family: Family) -> list[Trial]:
        splits = [_present(family, *split) for split in self._splits(family)]
        if not splits:
            raise ValueError(f"cv={self.cv!r} gives no folds, expected at least 1")
        names = [f"fold {k + 1} of {len(splits)}" for k in range(len(splits))]
        for name, (train, test) in zip(names, splits):
            for part, rows in (("training", train), ("test", test)):
                if len(rows) == 0:
                    raise ValueError(f"{name} has no {part} rows with a weight above 0")
        return [Trial(name, k, *split) for k, (name, split) in enumerate(zip(names, splits))]

    def _splits(self, family: Family) -> Iterable[tuple[Rows, Rows]]:
        groups = None if self.groups is None else _check_groups(self.groups, family)
        y, classifier = _classes_or_numbers(family), family.classifier
        return splits_of(self.cv, family.X, y, groups, used=family.used, classifier=classifier)


class Split(CrossValidation):
    """One split: train on one part, test on the other.

    Parameters
    ----------
    test_size : float or int
        As in scikit-learn; half of the rows by default, the same part of each class.
    """

    how = "held-out"

    def __init__(
        self,
        test_size: Any = 0.5,
        *,
        random_state: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(cv=None, scoring=scoring, n_jobs=n_jobs)
        self.test_size, self.random_state = test_size, random_state

    def with_groups(self, groups: ArrayLike) -> Criterion:
        return Criterion.with_groups(self, groups)

    def _splits(self, family: Family) -> Iterable[tuple[Rows, Rows]]:
        rows = family.used
        y = _classes_or_numbers(family)[rows]
        kind = StratifiedShuffleSplit if family.classifier else ShuffleSplit
        if not isinstance(self.test_size, Real):
            raise ValueError(f"test_size must be a number, got {self.test_size!r:.60}")
        one = kind(1, test_size=self.test_size, random_state=self.random_state)
        return [(rows[train], rows[test]) for train, test in one.split(family.X[rows], y)]


class LeaveOneOut(Criterion):
    """Each point predicted by the model on all others; losses pooled over the points."""

    how = "leave-one-out"
    pooled = True

    def trials(self, family: Family) -> list[Trial]:
        used = family.used
        if len(used) < 2:
            raise ValueError(f"leave-one-out needs at least 2 rows, got {len(used)}")
        return [
            Trial(f"without row {i}", k, np.delete(used, k), used[[k]]) for k, i in enumerate(used)
        ]


class BootstrapLeaveOneOut(Criterion):
    """Each point predicted by models on resamples of the others; losses pooled over the points.

    For each of the n points n_resamples times: n - 1 rows drawn from the others with replacement.

    Parameters
    ----------
    n_resamples : int
    random_state : int, RandomState or None
    """

    how = "bootstrap"
    pooled = True

    def __init__(
        self,
        n_resamples: int = 50,
        *,
        random_state: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(scoring=scoring, n_jobs=n_jobs)
        check_whole(n_resamples, "n_resamples", 1)
        self.n_resamples, self.random_state = n_resamples, random_state

    def trials(self, family: Family) -> list[Trial]:
        used, rng = family.used, check_random_state(self.random_state)
        if len(used) < 3:
            raise ValueError(f"a bootstrap needs at least 3 rows, got {len(used)}")
        out = []
        for k, i in enumerate(used):
            others = np.delete(used, k)
            for r in range(self.n_resamples):
                times = self._resample(family.y[others], rng)
                name = f"resample {r + 1} without row {i}"
                some = times > 0
                train, times = others[some], times[some]
                out.append(Trial(name, k, train, used[[k]], times, 1.0 / self.n_resamples))
        return out

    @staticmethod
    def _resample(y: NDArray[Any], rng: np.random.RandomState) -> Floats:
        """How often each row is drawn; drawn again while all targets are one."""
        for _ in range(100):
            times = np.bincount(rng.randint(len(y), size=len(y)), minlength=len(y)).astype(float)
            drawn = y[times > 0]
            if np.any(drawn != drawn[0]):
                return times
        raise ValueError("100 resamples in a row had one target only: there are too few rows")


class Bootstrap632(BootstrapLeaveOneOut):
    """0.632 of the bootstrap's loss and 0.368 of the loss on the training rows themselves."""

    def trials(self, family: Family) -> list[Trial]:
        drawn = [replace(t, share=SHARE_632 * t.share) for t in super().trials(family)]
        used = family.used
        return [*drawn, Trial("all rows", EVERY, used, used, share=1.0 - SHARE_632)]


EVERY = -1  # a trial that counts in every fold


# ---------------------------------------------------------------------- one trial


@dataclass(frozen=True)
class Work:
    """What the workers do, one trial at a time. Everything is returned, nothing is left behind."""

    family: Family
    scoring: Any
    loss: Loss | None  # None: any other score
    pooled: bool
    named: Loss | None = None  # what the score is called and counted by, exact or not
    by_default: bool = False  # whether no score was asked for

    @classmethod
    def of(cls, family: Family, criterion: Criterion) -> Work:
        """What a criterion asks for on a family."""
        scoring = criterion.scoring
        loss = named = scorers.find_loss(scoring, family.problem, family.classifier)
        if isinstance(family, ClassFamily):
            loss = scorers.for_several_classes(loss, family)
        if loss is not None and not loss.of_points and (criterion.pooled or not family.straight):
            loss = None  # ranks are those of a fold's points, and followed where f is straight
        if loss is None and scoring is None:  # the default is a score without exact curves
            scoring = family.problem.criterion
        return cls(family, scoring, loss, criterion.pooled, named, criterion.scoring is None)

    def walk_all(self, **options: Any) -> Path:
        """The path on all rows; it is one of many, whose progress is shown together."""
        return self.family.walk(None, verbose=0, **options)

    def walk(self, trial: Trial, **options: Any) -> Walked:
        """The path of a trial, and its exact loss."""
        try:
            path = self.family.walk(trial.train, trial.times, **options)
        except ValueError as error:
            raise ValueError(f"{trial.name}, {len(trial.train)} rows: {error}") from error
        if not np.isfinite(path.start):
            raise ValueError(f"{trial.name}: its path is empty: {path.reason}")
        return self._judged(trial, path)

    def _judged(self, trial: Trial, path: Path | Paths) -> Walked:
        share = self.family.share(trial.train, trial.times)
        state = None if path.problem.closed else path.state(path.stop)
        ends = path.start / share, path.stop / share
        kind = type(path.problem)
        span = Span(path.parameter, path.coordinate, *ends, path.closed_above, kind, path.reason)
        known = (*ends, path.complete, span, path.reason, state)
        more: dict[str, Any] = {"settled": not path.problem.closed and path.settled}
        more["last_event"] = np.min(path.breakpoints, initial=np.inf) / share
        if self.loss is None:
            return Walked(*known, path=path, **more)
        loss, undecided = self._exact_loss(self.loss, trial, path)
        loss = loss.stretched(share if span.coordinate.inverse else 1.0 / share)
        return Walked(*known, loss, undecided, **more)

    def walk_on(self, trial: Trial, so_far: Walked, stop: float) -> Walked:
        """A trial carried on to another stop, a value of the family."""
        if so_far.path is not None:
            own = stop * self.family.share(trial.train, trial.times)
            return self._judged(trial, so_far.path.further(own))
        if so_far.last is None:  # solutions that are known without a walk
            return self.walk(trial, stop=stop)
        path = self.family.walk(trial.train, trial.times, stop=stop, onward=so_far.last)
        if not np.isfinite(path.start):
            return replace(so_far, complete=False, reason=path.reason)
        more = self._judged(trial, path)
        assert so_far.loss is not None and more.loss is not None and more.span is not None
        return replace(
            more,
            start=so_far.start,
            span=replace(more.span, start=so_far.start, closed_above=so_far.span.closed_above),
            loss=so_far.loss.joined(more.loss),
            undecided=max(so_far.undecided, more.undecided),
        )

    def has_events(self, trial: Trial, so_far: Walked, lowest: float) -> bool:
        """Whether the path of a trial has events below its lower end, down to the lowest value."""
        if so_far.settled:
            return False
        ask: dict[str, Any] = {"stop": lowest, "max_events": 1, "onward": so_far.last}
        if so_far.stop > so_far.start:
            ask |= {"start": so_far.start, "onward": None}
        path = self.family.walk(trial.train, trial.times, **ask)
        return path.n_events > 0

    def _exact_loss(self, loss: Loss, trial: Trial, path: Path | Paths) -> tuple[Piecewise, int]:
        y = self._target(path)
        try:
            omega = self._omega(loss, y, trial)
        except ValueError as error:
            raise ValueError(f"{trial.name}: {error}") from None
        judged: Any = errors if isinstance(path, Paths) else loss.judged
        found: list[tuple[Piecewise, int]] = []
        for some in self._parts(loss, trial):
            test = trial.test[some]
            cross = self.family.cross(trial.train, test, trial.times)
            own = self.family.own(test) if loss.of_labels else None
            found.append(judged(path, cross, y[test], omega[some], own))
        if len(found) == 1:
            return found[0]
        whole = total([piece for piece, _ in found]).without_repetitions()
        return whole, sum(undecided for _, undecided in found)

    def _parts(self, loss: Loss, trial: Trial) -> list[slice]:
        """Test points that are looked at together: all, unless no kernel matrix is held either."""
        family = self.family
        if family.kernel is None or not (loss.of_points and family.without_gram):
            return [slice(None)]
        return parts_of(len(trial.test), len(trial.train))

    def _target(self, path: Path | Paths) -> Any:
        if isinstance(self.family, ClassFamily):
            return self.family.numbers
        if path.classes_ is None:
            return np.asarray(self.family.y, dtype=float)
        return np.where(self.family.y == path.classes_[1], 1.0, -1.0)

    def _omega(self, loss: Loss, y: Floats, trial: Trial) -> Floats:
        # By default losses count as in training; scikit-learn's scores know no class weights.
        by_cost = self.by_default or loss.as_in_training
        weight = self.family.cost if by_cost else self.family.weight
        if not self.pooled:
            return loss.weigh(y[trial.test], weight[trial.test])
        used = self.family.used
        omega = np.zeros(len(y))
        omega[used] = loss.weigh(y[used], weight[used])
        # The mean over n folds of n omega_i is the pooled loss; the training rows are one loss.
        return omega[trial.test] * (len(used) if trial.fold != EVERY else 1.0)

    def score(self, trial: Trial, path: Path | Paths, values: Floats) -> Piecewise:
        """The best score less the score at some values, straight between them."""
        family, u = self.family, path.coordinate.to_u(values)
        own = values * family.share(trial.train, trial.times)
        cross = family.cross(trial.train, trial.test, trial.times)
        at = path.coordinate.to_u(own)
        f = path.f_at(cross, at) if isinstance(path, Paths) else f_at(path.segments(cross), at)
        X, y = family.inputs(trial.train, trial.test), family.y[trial.test]
        weight = (family.cost if self.by_default else family.weight)[trial.test]
        try:
            loss = scorers.evaluate(self.scoring, path, own, f, X, y, weight)
        except scorers.ScorerError as error:
            raise ValueError(f"{trial.name}: {error}") from error
        order = np.argsort(u)
        return Piecewise.through(u[order], self.best + loss[order])

    @property
    def best(self) -> float:
        """The best score: a loss is what is missing to it, or minus the score without a best."""
        return self.named.best if self.named else 0.0


def errors(
    paths: Paths, cross: Floats, y: Any, omega: Floats, own: Floats | None = None
) -> tuple[Piecewise, int]:
    """The weighted 0/1 error of several classes over all values, and how many are undecided."""
    parts = [(some, steps) for some, steps in paths.labels(cross, own)]
    errors = [steps.error(y[some], omega[some]) for some, steps in parts]
    return total(errors).without_repetitions(), sum(steps.undecided for _, steps in parts)


# ---------------------------------------------------------------------- all trials


class Run:
    """One criterion on one family, or on folds that have families of their own.

    Parameters
    ----------
    criterion : Criterion
    family : Family
        Of the path on all rows, and of all trials unless `works` says otherwise.
    works, trials, walks : lists or None
        One entry for each trial: who does it, the trial, and what has been walked already.
    rise : float
        Where paths walk on: until the loss has risen by so many standard errors.
    """

    def __init__(
        self,
        criterion: Criterion,
        family: Family,
        works: list[Work] | None = None,
        trials: list[Trial] | None = None,
        walks: list[Walked] | None = None,
        rise: float = 1.0,
    ) -> None:
        self.criterion, self.family, self.walks, self.rise = criterion, family, walks, rise
        self._below: dict[float, bool] = {}  # whether there are events below these values
        self.trials = criterion.trials(family) if trials is None else trials
        self.work = Work.of(family, criterion)
        self.scoring = self.work.scoring
        self.works = [self.work] * len(self.trials) if works is None else works
        if self.work.loss is None:
            self._warn_of_weights()

    def _jobs(self, walks: list[Walked], method: str, *more: Any) -> list[Any]:
        """What every trial's worker does next, with what it has walked."""
        return [
            delayed(getattr(work, method))(trial, walk, *more)
            for work, trial, walk in zip(self.works, self.trials, walks)
        ]

    def curve(self) -> Curve:
        path, walks = self._walks()
        curve = self._curve(path, walks)
        while self._must_go_on(curve, path, walks):
            stop, low = max(_next_stop(curve), DEEPEST * curve.path.start), curve.range[0]
            more = self._further(path, walks, stop)
            if not _happened(low, *more) and not self._goes_on(path, walks, low):
                break
            path, walks = more
            curve = self._curve(path, walks)
        if self._moves_below(curve, path, walks):
            path, walks = self._further(path, walks, 0.0)
            curve = self._curve(path, walks)
        self._warn_of_end(path, walks, curve)
        self.family.remember(path)
        if not curve.at_lower_end:
            return curve
        return self._curve(path, walks, goes_on=self._goes_on(path, walks, curve.range[0]))

    def of_folds(self, limit: float) -> Asking:
        """The curve of walks that are known, without the path on all rows.

        They are carried on together, in `walks` itself, while the loss still falls at their end:
        where paths stop by default, or, while it is below the limit, further on.
        """
        assert self.walks is not None
        while True:
            span: Any = self.walks[0].span
            curve = self._curve(span, self.walks)
            lowest = (DEFAULT_RANGE if curve.minimum >= limit else DEEPEST) * span.start
            if not self._is_worth_more(curve, span, self.walks, lowest):
                return curve
            more = yield from self._carrying_on(self.walks, max(_next_stop(curve), lowest))
            deepest = DEEPEST * span.start
            if more[0].last_event >= curve.range[0] and not self.works[0].has_events(
                self.trials[0], self.walks[0], deepest
            ):
                return curve
            self.walks[:] = more

    def _is_worth_more(self, curve: Curve, span: Span, walks: list[Walked], lowest: float) -> bool:
        """Whether walks of folds alone are to be carried on, so far down; see `of_folds`."""
        low = curve.range[0]
        if not self.family.walk_on or span.problem.closed or span.stop > span.start:
            return False
        if not all(walk.complete for walk in walks) or low <= ARRIVED * lowest:
            return False
        return curve.falls_below(WELL_INSIDE * low) and not walks[0].settled

    def pilot(self, width: int, reach: float = FIRST_STAGE) -> Asking:
        """The walks of the first trials, `width` of them: they tell how far down the others go,
        which need not be carried on then. To `reach` of their start at first.
        """
        works, trials = self.works[:width], self.trials[:width]
        walks = yield [delayed(w.walk)(trial, reach=reach) for w, trial in zip(works, trials)]
        yield from Run(self.criterion, self.family, works, trials, walks).of_folds(-np.inf)
        return walks

    def _curve(self, path: Path, walks: list[Walked], **more: Any) -> Curve:
        """The curve of what has been walked."""
        named, scoring = self.work.named, self.scoring
        low, high, top = self._range(path, walks)
        folds = self._folds(self._functions(walks, low, high, top))
        closed = _closed_above(path, walks)
        endless = closed and not path.coordinate.to_infinity and high == top
        return Curve(
            folds,
            path,
            range=(low, past_jump(folds, path, top) if endless else high),
            top=top,
            scoring=named.scoring if named else scorers.scorer_name(scoring),
            loss=named.name if named else scorers.loss_name(scoring),
            best=self.work.best,
            how=self.criterion.how,
            exact=self.work.loss is not None,
            on_boundary=sum(walk.undecided for walk in walks),
            closed_above=closed,
            endless=endless,
            **more,
        )

    def _must_go_on(self, curve: Curve, path: Path, walks: list[Walked]) -> bool:
        """Whether a better value may lie below the end, and is worth the walk, if anything happens
        there: the walk will tell.
        """
        if not self.family.walk_on or path.stop > path.start or path.problem.closed:
            return False
        low = curve.range[0]
        done = not path.complete or not all(walk.complete for walk in walks)
        done |= low <= ARRIVED * DEEPEST * curve.path.start
        return (
            not done
            and not curve.is_inside(WELL_INSIDE, self.rise)
            and not (path.settled and all(walk.settled for walk in walks))
            and self._below.get(low, True)
        )

    def _moves_below(self, curve: Curve, path: Path, walks: list[Walked]) -> bool:
        """Whether a better value may lie below the end, where nothing happens but that f moves on,
        straight to 0: from the lasso to least squares.
        """
        straight = path.parameter == "lambda" and not path.coordinate.inverse
        if not (straight and self.family.walk_on) or path.problem.closed or path.stop > path.start:
            return False
        low = curve.range[0]
        whole = path.complete and all(walk.complete for walk in walks)
        return (
            whole
            and low > 0
            and not curve.is_inside(WELL_INSIDE, self.rise)
            and not self._goes_on(path, walks, low)
        )

    def _further(self, path: Path, walks: list[Walked], stop: float) -> tuple[Path, list[Walked]]:
        """All paths carried on to another stop."""
        return path.further(stop), self._carried_on(walks, stop)

    def _carried_on(self, walks: list[Walked], stop: float) -> list[Walked]:
        """The walks of all trials carried on to another stop, those that end above it."""
        return list(answered([self._carrying_on(walks, stop)], self.criterion.n_jobs)[0])

    def _carrying_on(self, walks: list[Walked], stop: float) -> Asking:
        short = [k for k, w in enumerate(walks) if w.complete and w.stop > stop * (1 + SAME)]
        jobs, out = self._jobs(walks, "walk_on", stop), list(walks)
        found = yield [jobs[k] for k in short]
        for k, walked in zip(short, found):
            out[k] = walked
        return out

    def _goes_on(self, path: Path, walks: list[Walked], low: float) -> bool:
        """Whether a path has events below the range, so far as paths are ever carried on."""
        if low not in self._below:
            self._below[low] = self._has_events(path, walks, low)
        return self._below[low]

    def _has_events(self, path: Path, walks: list[Walked], low: float) -> bool:
        ends = path.problem.default_range
        lowest = DEEPEST * max(path.start, path.stop) if ends is None else ends[0]
        if path.goes_on or not low > lowest:
            return path.goes_on
        every = zip(self.works, self.trials, walks)
        return any(
            walk.complete and work.has_events(trial, walk, lowest) for work, trial, walk in every
        )

    def _warn_of_weights(self) -> None:
        scoring = self.scoring
        equal = np.ptp(self.family.weight[self.family.used]) == 0
        if not equal and not scorers.takes_weights(scorers.find_scorer(scoring)):
            warnings.warn(
                f"the scorer {scorers.scorer_name(scoring)!r} takes no sample_weight: weights "
                "count in training and not in the score",
                stacklevel=5,
            )

    def _parallel(self, jobs: Iterable[Any]) -> list[Any]:
        shown = bool(self.family.options.get("verbose", 0))
        return run_all(jobs, self.criterion.n_jobs, shown=shown)

    def _walks(self) -> tuple[Path, list[Walked]]:
        """The path on all rows, and the walks of all trials: at once, the longest first.

        Without a stop each goes to 1e-4 of its own start, or as far as the pilot of a large problem
        went; one that did not go as far as the path on all rows is carried on.
        """
        self.family.prepare()
        known, stop = self.family.known_path, {}
        if self.family.problem.closed and self.family.stop is None:
            # Those cannot be carried on: the others wait until it is known how far to go.
            known = self.work.walk_all() if known is None else known
            stop = {"stop": known.stop} if np.isfinite(known.stop) else {}
        walks = list(self.walks or ())
        if self.family.in_stages and known is None and self.work.loss is not None:
            if self.walks is None and not self.criterion.pooled:
                n_jobs = self.criterion.n_jobs
                walks = answered([self.pilot(max(1, effective_n_jobs(n_jobs)))], n_jobs)[0]
            if walks:
                stop = {"stop": max(walk.stop for walk in walks)}
        jobs = [] if known is not None else [delayed(self.work.walk_all)(**stop)]
        if self.walks is None:
            every = list(zip(self.works, self.trials))[len(walks) :]
            jobs += [delayed(work.walk)(trial, **stop) for work, trial in every]
        found = self._parallel(jobs)
        path = found.pop(0) if known is None else known
        walks += found
        if np.isnan(path.start):
            raise ValueError(f"the path on all rows is empty: {path.reason}")
        if self.family.stop is not None:
            return path, walks
        reached = max(walk.stop for walk in walks)
        if self.walks is not None and reached < path.stop <= path.start:
            path = path.further(reached)  # as far as the race took the folds
        return path, self._carried_on(walks, path.stop)

    def _range(self, full: Path, walks: list[Walked]) -> tuple[float, float, float]:
        """Where every path has been, and the largest start."""
        starts = [full.start, *(walk.start for walk in walks)]
        stops = [full.stop, *(walk.stop for walk in walks)]
        if full.stop > full.start:  # the parameter grows
            return max(starts), min(stops), min(stops)
        low, top = max(stops), max(starts)
        if low <= full.stop * (1 + SAME):
            low = full.stop
        if not low < top:
            ended = [full.reason, *(walk.reason for walk in walks)][int(np.argmax(stops))]
            raise ValueError(
                f"the paths of the folds have no {full.parameter} in common: one ends at "
                f"{low:.4g}, above the start of all others ({ended})"
            )
        if not _closed_above(full, walks):
            closed = [full.closed_above, *(walk.span.closed_above for walk in walks)]
            known = min(start for start, above in zip(starts, closed) if not above)
            return low, known, min(top, known)
        above = ABOVE * top if full.coordinate.to_infinity else top
        highest = full.problem.highest_value
        return low, (highest if np.isfinite(highest) else above), top

    def _warn_of_end(self, full: Path, walks: list[Walked], curve: Curve) -> None:
        reasons = self._early_ends(full, walks, curve)
        if full.stop <= full.start and reasons:
            warnings.warn(
                f"a path ended early, and the curve with it, at {full.parameter} = "
                f"{curve.range[0]:.4g}: {reasons[0]}",
                stacklevel=5,
            )

    def _early_ends(self, full: Path, walks: list[Walked], curve: Curve) -> list[str]:
        """Why paths did not come as far as they were asked to.

        A default stop asks for no more than double precision gives, unless the loss is least there.
        """
        every: list[Any] = [full, *walks]
        reasons = [str(one.reason) for one in every if not one.complete]
        least = curve.at_lower_end and not (curve.exact and curve.minimum <= 0)
        if self.family.stop is None and not least:
            reasons = [reason for reason in reasons if not reason.startswith(ROUND_OFF)]
        return reasons

    def _functions(
        self, walks: list[Walked], low: float, high: float, top: float
    ) -> list[Piecewise]:
        """The loss of each trial."""
        exact = [walk.loss for walk in walks if walk.loss is not None]
        if self.work.loss is not None:
            return exact
        paths = [walk.path for walk in walks if walk.path is not None]
        shares = [
            work.family.share(trial.train, trial.times)
            for work, trial in zip(self.works, self.trials)
        ]
        knots = [path.breakpoints / share for path, share in zip(paths, shares)]
        values = knots_and_middles(knots, low, top)
        if high > top:  # f goes on to move, straight in 1/parameter: half of the way, and all of it
            values = np.append(values, [2.0 * top, high] if high > 2.0 * top else [high])
        every = zip(self.works, self.trials, paths)
        return self._parallel(delayed(w.score)(trial, path, values) for w, trial, path in every)

    def _folds(self, functions: list[Piecewise]) -> list[Piecewise]:
        """The loss of each fold from those of its trials."""
        folds: dict[int, list[Piecewise]] = {}
        shared = []
        for trial, function in zip(self.trials, functions):
            part = function if trial.share == 1.0 else function * trial.share
            if trial.fold == EVERY:
                shared.append(part)
            else:
                folds.setdefault(trial.fold, []).append(part)
        return [total([*parts, *shared]) for parts in folds.values()]


def _happened(low: float, path: Path, walks: list[Walked]) -> bool:
    """Whether a path has events below a value; where they are known beforehand, they may be."""
    least = min([np.min(path.breakpoints, initial=np.inf), *(walk.last_event for walk in walks)])
    return bool(least < low * (1 - SAME)) or path.problem.closed


def _next_stop(curve: Curve) -> float:
    """How far paths are carried on: until the minimum lies well inside, if it stays where it is."""
    low, wanted = curve.range[0], (1 - SAME) * curve.interval[0] / WELL_INSIDE
    if wanted >= low:  # it does, and the loss has not risen
        return ONWARD * low
    return max(ONWARD * low, min(wanted, LEAST_STAGE * low))


def _closed_above(path: Path, walks: list[Walked]) -> bool:
    """Whether all solutions are known above the starts."""
    return path.closed_above and all(walk.span.closed_above for walk in walks)


def knots_and_middles(
    breakpoints: list[Floats], low: float, top: float, most: int = MOST_VALUES
) -> Floats:
    """Breakpoints of all paths and midpoints between them; of too many an even choice."""
    knots = np.concatenate([[low, top], *breakpoints])
    knots = np.unique(knots[(knots >= low) & (knots <= top) & (knots > 0)])
    # Equal values of several paths, but for round-off, are one.
    knots = knots[np.append(True, np.diff(knots) > SAME * knots[1:])]
    values = np.unique(np.concatenate([knots, 0.5 * (knots[1:] + knots[:-1])]))
    if len(values) <= most:
        return values
    return values[np.linspace(0, len(values) - 1, most).round().astype(int)]


# ---------------------------------------------------------------------- small things


def check_whole(value: Any, name: str, least: int) -> None:
    """Refuse what is not a whole number from `least` on."""
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, got {value!r}")


def why_no_folds(cv: Any, y: NDArray[Any], groups: Any, error: str) -> str:
    """What is missing where a splitter fails; nothing where its own message says it."""
    if groups is None and "groups" in error:
        return f"cv={cv!r} needs groups, got None: pass groups=, one entry for each row"
    if "members in each class" in error:
        sizes = np.unique(y, return_counts=True)[1]
        return (
            f"cv={cv!r}: {error.rstrip('.')}: y has {len(sizes)} classes in {len(y)} rows, none of "
            f"more than {sizes.max()}: take fewer folds, or, if y are numbers to predict, a "
            "regressor such as PathSVR"
        )
    return ""


def splits_of(
    cv: Any, X: Any, y: NDArray[Any], groups: Any, *, used: Rows, classifier: bool
) -> list[tuple[Rows, Rows]]:
    """Splits of the rows that take part: a weight of 0 is a removed row.

    Splits that are lists of row numbers count all rows.
    """
    listed = not isinstance(cv, (int, np.integer, type(None)))
    listed &= not hasattr(cv, "split") or isinstance(cv, PredefinedSplit)
    rows = np.arange(len(y)) if listed else used
    y = y[rows]
    check_folds(cv, len(rows))
    splitter = check_cv(checked_cv(cv), y, classifier=classifier)
    groups = None if groups is None else _safe_indexing(groups, rows)
    try:
        pairs = list(splitter.split(_safe_indexing(X, rows), y, groups))
    except ValueError as error:
        why = why_no_folds(cv, y, groups, str(error))
        if why:
            raise ValueError(why) from error
        raise
    return [(rows[_rows(train)], rows[_rows(test)]) for train, test in pairs]


def checked_cv(cv: Any) -> Any:
    """Folds, a splitter or pairs of rows as they are; an iterator of pairs as a list."""
    splitter = hasattr(cv, "split") and not isinstance(cv, (str, bytes))
    if cv is None or isinstance(cv, Integral) or splitter:
        return cv
    try:
        pairs = list(cv)
        if isinstance(cv, Mapping) or not all(len(pair) == 2 for pair in pairs):
            raise TypeError
    except TypeError:
        raise ValueError(
            f"cv must be a number of folds, a splitter or a list of (train, test), got {cv!r:.60}"
        ) from None
    return pairs


def _rows(index: Any) -> Rows:
    index = np.asarray(index)
    return np.flatnonzero(index) if index.dtype == bool else index.astype(np.intp)


def _classes_or_numbers(family: Family) -> NDArray[Any]:
    """What splitters take for y; labels such as 0.5 and 1.5 they would take for numbers."""
    if not family.classifier or type_of_target(family.y) != "continuous":
        return family.y
    return np.unique(family.y, return_inverse=True)[1]


def _present(family: Family, train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Without the rows of weight 0."""
    return train[family.weight[train] > 0], test[family.weight[test] > 0]


def _check_groups(groups: ArrayLike, family: Family) -> NDArray[Any]:
    array = np.asarray(groups)
    if array.shape != (len(family),):
        raise ValueError(
            f"groups must have one entry for each of the {len(family)} rows, got shape "
            f"{array.shape}"
        )
    return array


__all__ = [
    "Bootstrap632",
    "BootstrapLeaveOneOut",
    "Criterion",
    "CrossValidation",
    "LeaveOneOut",
    "Split",
    "Trial",
]
