"""A search over what has no path, with the path's own parameter exact at every candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse, vstack
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._checks import check_positive, check_weights
from ..kernels import RBF, Distances, make_kernel
from ..selection import Criterion, CrossValidation, Family
from ..selection.criteria import check_whole, splits_of
from ..selection.jobs import answered
from ..selection.race import Candidate, Fold
from ..selection.surface import OTHER
from ._base import PathEstimator

GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
# What grids of other tools hold, and a path needs no list of.
OF_THE_PATH = ("C", "alpha", "lambda_")
# What the search has in place of the estimator's own.
OF_THE_SEARCH = ("cv", "scoring", "choose")


@dataclass(frozen=True)
class Between:
    """A continuous range of a positive parameter, searched on a log scale.

    Parameters
    ----------
    low, high : float, > 0
        Its ends.
    first : int
        So many values, evenly spaced, are looked at first.
    then : int
        So many more by golden section, around the best of them.
    """

    low: float
    high: float
    first: int = 7
    then: int = 6

    def __post_init__(self) -> None:
        low, high = check_positive(self.low, "low"), check_positive(self.high, "high")
        if not low < high:
            raise ValueError(f"low must be less than high, got {low:g} and {high:g}")
        check_whole(self.first, "first", 1)
        check_whole(self.then, "then", 0)

    def values(self) -> NDArray[np.float64]:
        """The first values, those in the middle first: good ones early make the race short."""
        grid = np.geomspace(self.low, self.high, self.first)
        return grid[np.argsort(np.abs(np.arange(self.first) - (self.first - 1) / 2), kind="stable")]

    def inner(self, value: float) -> float | None:
        """The next of the first values on the way to the middle; None in the middle."""
        grid, middle = np.sort(self.values()), (self.first - 1) / 2
        k = int(np.argmin(np.abs(grid - value)))
        if abs(k - middle) < 1:
            return None
        return float(grid[k + 1 if k < middle else k - 1])


class PathSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Like GridSearchCV, for an estimator whose own parameter is exact on its path.

    For every candidate of the other parameters (kernel width, epsilon, nu, degree, those of
    transformers) the cross-validated loss is known for all values of the path's parameter.
    Transformers of a pipeline are fitted in each fold, on its training rows alone.

    Candidates race: one is given up when the folds that are done cost more already than all folds
    of the best so far, or, from two folds on, when it is half a standard error worse than the best
    on the same folds, at the lambda that is best for them. Of a continuous range the middle comes
    first, and what lies beyond a value that was given up is not looked at.

    Parameters
    ----------
    estimator : PathSVC, PathSVR, PathNuSVR, PathQuadraticSVC, PathLasso, or a Pipeline that ends in
        one
    param_grid : dict or list of dicts
        From names to lists of values, as in GridSearchCV; to distributions (with `rvs`), as in
        RandomizedSearchCV, of which `n_iter` are drawn; or, one name, to `Between(low, high)`.
    cv, scoring, choose : as in PathSVC
        In place of the estimator's own.
    n_iter : int
        How many candidates are drawn where a distribution is given.
    n_jobs : int or None
        Workers for the folds: threads, unless `joblib.parallel_config` says otherwise.
    random_state : int, RandomState or None
        For distributions.

    Attributes
    ----------
    best_params_ : dict
        The other parameters.
    best_value_ : float
        The path's parameter.
    best_score_ : float
        The cross-validated score there, with scikit-learn's sign.
    best_estimator_ : estimator
        Fitted on all rows.
    cv_results_ : dict
        In GridSearchCV's form; "best_value" has the path's parameter of each candidate. Scores of
        candidates that were given up are NaN.
    curves_ : list of Curve
        The loss over the path's parameter, one for each candidate; None for those given up.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = PathSearchCV(chemin.PathSVC(), {"gamma": [0.1, 1.0]}, cv=3).fit(X, y)
    >>> sorted(search.best_params_)
    ['gamma']
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        cv: Any = 5,
        scoring: Any = None,
        choose: str = "min",
        n_iter: int = 10,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.choose = choose
        self.n_iter = n_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ------------------------------------------------------------------ fit

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> PathSearchCV:
        """Walk the paths of all candidates, and learn the best on all rows.

        Parameters
        ----------
        X : whatever the estimator takes
        y : array-like of n targets
        sample_weight : array-like of shape (n,) or None
            In training and in the scores; not for transformers.
        groups : array-like of shape (n,) or None
            For splitters that keep groups together.
        """
        if np.ndim(y) == 0:
            raise ValueError(f"y must have an entry for each row of X, got {y!r:.60}")
        data = _Data(X, np.asarray(y), sample_weight)
        _parts(self.estimator)
        splits = self._splits(data, groups)
        state = _State(self, data, splits)
        name, between = self._continuous()
        for group in state.groups(self._candidates(), name, between):
            if between is not None and state.lies_beyond(group[0], name, between):
                state.pass_by(group[0])
            else:
                state.enter(group)
        if between is not None:
            state.refine(name, between)
        self._finish(state)
        return self

    def _splits(self, data: _Data, groups: Any) -> list[Any]:
        """The folds: of all candidates the same."""
        if isinstance(self.cv, Criterion):
            raise ValueError(
                "cv must be a number of folds, a splitter or a list of (train, test), got "
                f"{self.cv!r:.60}"
            )
        classifier = is_classifier(self.estimator)
        return splits_of(self.cv, data.X, data.y, groups, used=data.used, classifier=classifier)

    def _grids(self) -> list[Any]:
        """The grids, as a list of dicts."""
        grid = self.param_grid
        grids = (
            list(grid) if isinstance(grid, Iterable) and not isinstance(grid, Mapping) else [grid]
        )
        if not grids or not all(isinstance(one, Mapping) for one in grids):
            raise ValueError(f"param_grid must be a dict or a list of dicts, got {grid!r:.60}")
        known = self.estimator.get_params()
        prefix = f"{self.estimator.steps[-1][0]}__" if isinstance(self.estimator, Pipeline) else ""
        for name in {name for one in grids for name in one}:
            own = name.removeprefix(prefix)
            if own in OF_THE_SEARCH and name == prefix + own:
                raise ValueError(
                    f"param_grid must not have {name!r}: the {own} of the search counts for all "
                    f"candidates, PathSearchCV(..., {own}=...)"
                )
        for name in {name for one in grids for name in one} - set(known):
            if name.split("__")[-1] in OF_THE_PATH:
                raise ValueError(
                    f"param_grid must not have {name!r}: the path knows every lambda (1/C in an "
                    "SVM), and best_value_ is the one that is chosen"
                )
        return grids

    def _continuous(self) -> tuple[str, Between | None]:
        """The name and the range of the continuous parameter, if there is one."""
        grids = self._grids()
        found = [(k, v) for g in grids for k, v in g.items() if isinstance(v, Between)]
        if len(found) > 1:
            names = " and ".join(k for k, _ in found)
            raise ValueError(f"param_grid may have one continuous range, got those of {names}")
        return found[0] if found else ("", None)

    def _candidates(self) -> Iterator[dict[str, Any]]:
        self._continuous()
        listed = [
            {k: v.values() if isinstance(v, Between) else v for k, v in grid.items()}
            for grid in self._grids()
        ]
        check_whole(self.n_iter, "n_iter", 1)
        try:
            check_random_state(self.random_state)
        except ValueError:
            raise ValueError(
                "random_state must be a whole number, a RandomState or None, got "
                f"{self.random_state!r:.60}"
            ) from None
        if any(hasattr(v, "rvs") for grid in listed for v in grid.values()):
            return iter(ParameterSampler(listed, self.n_iter, random_state=self.random_state))
        return iter(ParameterGrid(listed))

    def _finish(self, state: _State) -> None:
        best = state.best
        best.finish()
        assert best.family is not None and best.curve is not None
        self.n_splits_ = len(state.splits)
        self.best_params_, self.best_index_ = best.params, state.tried.index(best)
        self.best_estimator_ = best.model
        _, final = _parts(best.model)
        final._adopt(best.family, best.curve)
        if getattr(final, "probability", None) is not None:
            final._calibrate(best.family, CrossValidation(cv=state.splits))
        self.best_value_ = float(final.lambda_)
        self.best_score_ = float(final.curve_.score(final.lambda_))
        self.curves_ = [candidate.curve for candidate in state.tried]
        self.cv_results_ = _results(state.tried)
        if hasattr(final, "classes_"):
            self.classes_ = final.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    # ------------------------------------------------------------------ the best model

    def predict(self, X: Any) -> Any:
        """Of the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Of the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Of the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def score(self, X: Any, y: ArrayLike) -> float:
        """Of the best estimator: accuracy, or r2."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.regressor_tags, tags.input_tags = inner.regressor_tags, inner.input_tags
        return tags


# ---------------------------------------------------------------------- one search


class _Data:
    """What was given to fit."""

    def __init__(self, X: Any, y: NDArray[Any], sample_weight: Any) -> None:
        self.X, self.y = X, y
        self.weight = None if sample_weight is None else check_weights(sample_weight, len(y))

    @property
    def used(self) -> NDArray[np.intp]:
        """The rows that take part."""
        return np.arange(len(self.y)) if self.weight is None else np.flatnonzero(self.weight)

    def rows(self, index: NDArray[np.intp]) -> tuple[Any, NDArray[Any], Any]:
        weight = None if self.weight is None else self.weight[index]
        return _safe_indexing(self.X, index), self.y[index], weight


class _State:
    """The candidates so far."""

    def __init__(self, search: PathSearchCV, data: _Data, splits: Sequence[Any]) -> None:
        self.search, self.data, self.splits = search, data, splits
        self.tried: list[Candidate] = []
        self.criterion = CrossValidation(cv=None, scoring=search.scoring, n_jobs=search.n_jobs)
        self._distances: Distances | None = None  # of all rows, once for all widths

    @property
    def best(self) -> Candidate:
        return min(self.tried, key=lambda c: np.inf if c.curve is None else c.curve.minimum)

    def with_params(self, params: Mapping[str, Any]) -> Any:
        """The estimator with these parameters, and the criterion of the search."""
        own = {name: clone(value, safe=False) for name, value in params.items()}
        model = clone(self.search.estimator).set_params(**own)
        _, final = _parts(model)
        final.set_params(scoring=self.search.scoring, choose=self.search.choose)
        return model

    def groups(
        self, every: Iterable[dict[str, Any]], name: str, between: Between | None
    ) -> Iterator[list[dict[str, Any]]]:
        """Candidates that are looked at together, one a worker; the first by itself, as what the
        others are measured by. One that may be passed by waits for the one that tells.
        """
        group: list[dict[str, Any]] = []
        for params in every:
            inner = None if between is None or name not in params else between.inner(params[name])
            waits = any(inner is not None and other.get(name) == inner for other in group)
            beyond = between is not None and self.lies_beyond(params, name, between)
            if group and (waits or beyond or not self.tried or len(group) == self._workers):
                yield group
                group = []
            group.append(params)
            if beyond:
                yield group
                group = []
        if group:
            yield group

    def enter(self, group: Sequence[Mapping[str, Any]]) -> list[Candidate]:
        """Walk the folds of candidates, as long as they can still be the best."""
        candidates = [self._candidate(params) for params in group]
        best = self.best if self.tried else None

        def width() -> int:  # the workers that each of those still in the race has
            running = sum(not candidate.raced for candidate in candidates)
            return max(1, self._workers // max(1, running))

        answered([c.race(best, width) for c in candidates], self.search.n_jobs)
        self.tried += candidates
        return candidates

    def _candidate(self, params: Mapping[str, Any]) -> Candidate:
        model = self.with_params(params)
        steps, final = _parts(model)
        for name in ("gamma", *OTHER.values()):
            if isinstance(value := getattr(final, name, None), str) and value == "path":
                raise ValueError(
                    f"estimator must not have {name}='path' in a search: give {name} in param_grid"
                )
        if getattr(final, "joint", True) is False:
            raise ValueError("estimator must have joint=True for a search, got joint=False")
        if steps is None:
            family = self._shared(final)
            folds = [Fold.of_rows(family, k, *split) for k, split in enumerate(self.splits)]
            candidate = Candidate(dict(params), folds, lambda: family, self.criterion)
        else:
            folds, data = self._one_by_one(steps, final), self.data

            def whole() -> Family:
                points = steps.fit_transform(data.X, data.y)
                return final._family_of(points, data.y, data.weight)

            candidate = Candidate(dict(params), folds, whole, self.criterion)
        candidate.model = model
        return candidate

    def lies_beyond(self, params: Mapping[str, Any], name: str, between: Between) -> bool:
        """Whether the next value on the way to the middle was given up: what is farther out is
        taken to be no better.
        """
        inner = between.inner(params[name]) if name in params else None
        if inner is None:
            return False
        rest = {key: value for key, value in params.items() if key != name}

        def is_next(other: Mapping[str, Any]) -> bool:
            same = all(other.get(key) is value for key, value in rest.items())
            return same and other.get(name) == inner

        return any(known.curve is None for known in self.tried if is_next(known.params))

    def pass_by(self, params: Mapping[str, Any]) -> None:
        """A candidate of which no fold is walked."""
        self.tried.append(Candidate(dict(params), [], lambda: None, self.criterion))

    @property
    def _workers(self) -> int:
        """Folds that are walked together before the race is looked at."""
        return max(1, effective_n_jobs(self.search.n_jobs))

    def _shared(self, final: PathEstimator) -> Family:
        """One family for all folds: the kernel matrix is computed once, from known distances."""
        family = final._family_of(self.data.X, self.data.y, self.data.weight)
        if isinstance(family.kernel, RBF) and final._settled and not issparse(family.X):
            if self._distances is None:
                self._distances = Distances(family.X)
            gram = self._distances.gram(family.kernel)
            if gram is not None:
                family.know_gram(gram)
        return family

    def _one_by_one(self, steps: Any, final: PathEstimator) -> list[Fold]:
        """Each fold with transformers of its own."""
        folds = []
        for k, (train, test) in enumerate(self.splits):
            X, y, weight = self.data.rows(train)
            X_test, y_test, weight_test = self.data.rows(test)
            own = clone(steps)
            points = _stacked(own.fit_transform(X, y), own.transform(X_test))
            both = None if weight is None else np.append(weight, weight_test)
            family = final._family_of(points, np.append(y, y_test), both)
            rows = np.arange(len(y) + len(y_test))
            folds.append(Fold.of_rows(family, k, rows[: len(y)], rows[len(y) :]))
        return folds

    def refine(self, name: str, between: Between) -> None:
        """Golden section around the best value of a continuous range, on the log scale."""
        known = np.log(sorted({c.params[name] for c in self.tried}))
        best = dict(self.best.params)
        at = int(np.argmin(np.abs(known - np.log(best[name]))))
        a, b = known[max(at - 1, 0)], known[min(at + 1, len(known) - 1)]
        looked: dict[float, float] = {}

        def loss(x: float) -> float:
            if x not in looked and len(looked) < between.then:
                look(x)
            return looked.get(x, np.inf)

        def look(*places: float) -> None:
            entered = self.enter([best | {name: float(np.exp(x))} for x in places])
            looked.update(zip(places, (candidate.loss for candidate in entered)))

        c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        if self._workers > 1 and between.then > 1 and b - a > 1e-3:  # the first two are known
            look(c, d)
        while len(looked) < between.then and b - a > 1e-3:
            if loss(c) <= loss(d):
                b, d = d, c
                c = b - GOLDEN * (b - a)
            else:
                a, c = c, d
                d = a + GOLDEN * (b - a)


def _parts(model: Any) -> tuple[Any, PathEstimator]:
    """The transformers (None: no pipeline) and the estimator with a path."""
    steps, final = (model[:-1], model[-1]) if isinstance(model, Pipeline) else (None, model)
    if not isinstance(final, PathEstimator):
        raise ValueError(
            "estimator must be one of chemin's Path estimators or a Pipeline that ends in one, got "
            f"{model!r:.60}"
        )
    return (steps if steps is not None and len(steps) else None), final


def _stacked(A: Any, B: Any) -> Any:
    if issparse(A):
        return vstack([A, B]).tocsr()
    return np.vstack([np.asarray(A), np.asarray(B)])


def _results(tried: Sequence[Candidate]) -> dict[str, Any]:
    """In the form of GridSearchCV's cv_results_."""
    out: dict[str, Any] = {"params": [c.params for c in tried]}
    for name in sorted({name for c in tried for name in c.params}):
        values = np.empty(len(tried), dtype=object)  # a value may itself be a list or a matrix
        values[:] = [c.params.get(name) for c in tried]
        missing = [name not in c.params for c in tried]
        out[f"param_{name}"] = np.ma.masked_array(values, missing)
    best = np.array([np.nan if c.curve is None else c.curve.minimiser for c in tried])
    out["best_value"] = best
    folds = max(len(c.folds) for c in tried)
    scores = np.full((folds, len(tried)), np.nan)
    for j, (candidate, value) in enumerate(zip(tried, best)):
        if candidate.curve is not None:
            scores[:, j] = candidate.curve.fold_scores(float(value))
    out |= {f"split{k}_test_score": row for k, row in enumerate(scores)}
    out["mean_test_score"], out["std_test_score"] = scores.mean(axis=0), scores.std(axis=0)
    filled = np.where(np.isnan(out["mean_test_score"]), -np.inf, out["mean_test_score"])
    out["rank_test_score"] = rankdata(-filled, method="min").astype(np.int32)
    return out


# ---------------------------------------------------------------------- gamma="path"

WIDEST = 1e2  # gamma="path" looks so far to both sides of "scale", a value a decade first
FIRST, THEN = 5, 3


def search_width(model: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> dict[str, Any]:
    """What a model with gamma="path" learns: all that the best one has, `gamma_` and `search_`."""
    if isinstance(model.cv, Criterion):
        raise ValueError(
            f"cv must be a number of folds or a splitter with gamma='path', got {model.cv!r}"
        )
    if model.kernel not in ("rbf", "poly", "polynomial", "sigmoid", "laplacian"):
        raise ValueError(f"gamma='path' needs a kernel with a gamma, got kernel={model.kernel!r}")
    plain = clone(model).set_params(gamma="scale")
    points, _ = plain._checked(X, y)
    middle = make_kernel("rbf", X=points, sample_weight=sample_weight).spec()["gamma"]
    search = PathSearchCV(
        plain,
        {"gamma": Between(middle / WIDEST, middle * WIDEST, FIRST, THEN)},
        cv=model.cv,
        scoring=model.scoring,
        choose=model.choose,
        n_jobs=model.n_jobs,
    ).fit(X, y, sample_weight, groups)
    best = search.best_estimator_
    found = {name: value for name, value in vars(best).items() if name not in best.get_params()}
    return found | {"gamma_": search.best_params_["gamma"], "search_": search}


__all__ = ["Between", "PathSearchCV"]
