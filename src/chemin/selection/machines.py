"""Support vector machines with one width a feature, by gradient along their paths."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, LinAlgWarning, lstsq, solve
from scipy.special import expit

from .._checks import check_matrix, check_target, check_two_classes, is_word
from ..kernels import RBF
from ..path import Path
from .criteria import CrossValidation
from .descent import Descent, UnsolvableError
from .family import Family
from .piecewise import Floats
from .tunable import WIDTH_OF_ONE, Folds, Widths, splits_of
from .tuning import tune

# A walk that ends this part of lambda below its start has no events in between, but for round-off.
NO_LENGTH = 1e-9
# Logarithms of widths stay within this of where they began, and so does that of lambda: a feature
# whose width is e^8 = 3000 times larger is out.
FARTHEST = 8.0


def _squared(f: Floats, y: Floats) -> tuple[Floats, Floats]:
    return (f - y) ** 2, 2.0 * (f - y)


def _hinge(f: Floats, y: Floats) -> tuple[Floats, Floats]:
    """At the kink y f = 1 the slope is 0, that of the side without loss."""
    return np.maximum(0.0, 1.0 - y * f), np.where(y * f < 1.0, -y, 0.0)


def _logistic_loss(f: Floats, y: Floats) -> tuple[Floats, Floats]:
    return np.logaddexp(0.0, -y * f), -y * expit(-y * f)


LOSSES: dict[str, Callable[[Floats, Floats], tuple[Floats, Floats]]] = {
    "squared": _squared,
    "hinge": _hinge,
    "logistic": _logistic_loss,
}


@dataclass(frozen=True)
class _State:
    """A solution: lambda f = sum_i beta_i k(x_i, .) + b0."""

    lambda_: float
    K: Floats
    beta: Floats
    b0: float
    f: Floats  # at the training points
    free: NDArray[np.intp]  # multipliers strictly between their bounds
    fixing: NDArray[np.intp]  # where none is free: the points at the ends of the intercepts
    constant: bool  # whether there is an intercept


class MachineCriterion:
    """A kernel machine with a piecewise-linear loss, solved on its path, for `tune`.

    Points whose multiplier is free stay on their kink: f(x_i) does not move. All other multipliers
    do not. So, with F the free ones, a change dK and dlambda moves the solution by one solve:

        [K_FF 1; 1' 0] (beta_F', b0')' = ((dlambda f - dK beta)_F, 0)

    and its transpose gives the gradient of anything. Where no multiplier is free, the intercept is
    the middle of its interval and moves with the two points at the ends. At an event a multiplier
    that just reached its bound counts as bound: the derivative is that of this side. Where K_FF is
    singular, the least-squares solution is taken.

    Parameters
    ----------
    model : callable or str
        `chemin.svc_path`, `chemin.svr_path` or `chemin.quantile_path`, or their name; a
        functools.partial of it settles epsilon, tau or intercept.
    X, y : training points and targets
    **options
        For the path function.
    """

    def __init__(self, model: Any, X: Floats, y: NDArray[Any], **options: Any) -> None:
        self.X, self.y, self.own = X, y, Widths(X, X)
        self.model, self.options = model, options

    def path(self, logs: Floats, **ends: float) -> Path:
        """The path with these log widths."""
        scaled = self.X * np.exp(-logs)
        return Family(self.model, scaled, self.y, kernel=WIDTH_OF_ONE, **(self.options | ends)).path

    def solve(self, lambda_: Floats, start: Any = None) -> _State:
        """The exact solution: a walk of no length, begun where it is asked for."""
        at = float(np.exp(lambda_[0]))
        path = self.path(lambda_[1:], start=at, stop=at * (1.0 - NO_LENGTH))
        if not path.complete:
            raise UnsolvableError(f"the path does not reach lambda = {at:.4g}: {path.reason}")
        found, K = path.at(at), self.own.matrix(lambda_[1:])
        f = K @ found.coef + found.intercept
        free, fixing = np.flatnonzero(path.free(at)[:, 0]), np.empty(0, dtype=np.intp)
        constant = bool(path.problem.spec()["intercept"])
        if constant and not len(free):
            fixing = _at_ends(path, f, found.intercept, found.intercept_interval)
        return _State(at, K, at * found.coef, at * found.intercept, f, free, fixing, constant)

    def pull_back(self, lambda_: Floats, b: _State, slope: tuple[Floats, float]) -> Floats:
        """From the slopes of E in beta and b0."""
        a = self._adjoint(b, *slope)
        by_lambda = b.lambda_ * float(a @ b.f)
        widths = self.own.slopes(lambda_[1:], b.K, a, b.beta)
        return np.concatenate([[by_lambda], -widths])

    def _adjoint(self, s: _State, by_beta: Floats, by_b0: float) -> Floats:
        """a with dE = a'(dlambda f - dK beta), zero at points that do not hold the solution."""
        a, F = np.zeros(len(s.beta)), s.free
        if len(s.fixing):
            np.add.at(a, s.fixing, by_b0 / len(s.fixing))
        if len(F):
            G, right = s.K[np.ix_(F, F)], by_beta[F]
            if s.constant:
                ones = np.ones((len(F), 1))
                G = np.block([[G, ones], [ones.T, np.zeros((1, 1))]])
                right = np.append(right, by_b0)
            a[F] = _symmetric_solve(G, right)[: len(F)]
        return a


def _symmetric_solve(G: Floats, right: Floats) -> Floats:
    """The solution, or that of least squares where G is singular."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LinAlgWarning)
            return np.asarray(solve(G, right, assume_a="sym", check_finite=False))
    except (LinAlgError, LinAlgWarning):
        return np.asarray(lstsq(G, right, check_finite=False)[0])


def _at_ends(
    path: Path, f: Floats, intercept: float, interval: tuple[float, float]
) -> NDArray[np.intp]:
    """For each end of the interval of intercepts the point that comes to a kink there.

    Where the interval has closed, both do; each of them holds one end.
    """
    target = path.y if path.classes_ is None else np.where(path.y == path.classes_[1], 1.0, -1.0)
    kinks, _, side, _ = path.problem.own_loss(np.asarray(target, dtype=float))
    out: list[int] = []
    for end in interval:
        if np.isfinite(end):
            off = np.abs(side * (f + (end - intercept)) - kinks).min(axis=0)
            off[out] = np.inf
            out.append(int(np.argmin(off)))
    return np.array(out, dtype=np.intp)


def machine_folds(
    model: Any, X: ArrayLike, y: ArrayLike, cv: Any = 5, *, loss: str | None = None, **options: Any
) -> Folds:
    """A support vector machine, one width a feature, judged by a smooth loss on the folds.

    Parameters
    ----------
    model : callable or str
        `chemin.svc_path`, `chemin.svr_path` or `chemin.quantile_path`.
    X : array-like of shape (n, d)
    y : array-like of n numbers or of n labels
    cv : int, splitter or list of (train, test)
        Stratified for labels.
    loss : "squared", "hinge", "logistic" or None
        None: squared for numbers, logistic for labels.
    **options
        For the path function, such as epsilon.

    Returns
    -------
    Folds
        In log lambda and the logarithms of the d widths.
    """
    points = check_matrix(X)
    classifier = Family(model, points, y, **options).classifier
    labels = np.asarray(y)
    numbers = check_two_classes(y)[0] if classifier else check_target(y, len(points))
    loss = loss or ("logistic" if classifier else "squared")
    if not is_word(loss, LOSSES):
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}, got {loss!r}")
    training, selection = [], []
    for train, test in splits_of(cv, points, labels, classifier):
        training.append(MachineCriterion(model, points[train], labels[train], **options))
        selection.append(_judged(points[train], points[test], numbers[test], LOSSES[loss]))
    return Folds(training, selection)


def _judged(X: Floats, X_test: Floats, y_test: Floats, loss: Any) -> Any:
    cross = Widths(X_test, X)

    def selection(p: Floats, b: _State) -> tuple[float, tuple[Floats, float], Floats]:
        K = cross.matrix(p[1:])
        f = (K @ b.beta + b.b0) / b.lambda_
        losses, slopes = loss(f, y_test)
        pull = slopes / (len(f) * b.lambda_)
        widths = cross.slopes(p[1:], K, pull, b.beta)
        directly = np.concatenate([[-b.lambda_ * float(pull @ f)], widths])
        return float(losses.mean()), (K.T @ pull, float(pull.sum())), directly

    return selection


# ---------------------------------------------------------------------- one width a feature


@dataclass(frozen=True)
class TunedWidths:
    """What `tune_widths` found.

    Attributes
    ----------
    lambda_ : float
    widths : ndarray of shape (d,)
        In units of the features: k(x, x') = exp(-sum_j (x_j - x'_j)^2 / (2 s_j^2)).
    relevances : ndarray of shape (d,)
        How much f changes where a feature changes by one standard deviation: the root mean square
        over the rows of its slope there. It tells noise from a feature on which f depends linearly:
        both have large widths.
    criterion, criterion_before : float
        The mean loss on the folds at the end, and of one width for all features at its best lambda.
    descent : Descent
        In log lambda and log widths.
    path : Path
        On all rows, of the features divided by their widths: `path.predict(X / widths, lambda_)`.
    """

    lambda_: float
    widths: Floats
    relevances: Floats
    criterion: float
    criterion_before: float
    descent: Descent
    path: Path


def tune_widths(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    cv: Any = 5,
    *,
    loss: str | None = None,
    gammas: ArrayLike | None = None,
    solver: str = "lbfgs",
    max_iter: int = 50,
    tol: float = 1e-3,
    **options: Any,
) -> TunedWidths:
    """One width a feature for a support vector machine, from the best that one width for all gives.

    The start is the best lambda of the exact curve of cross-validation with one width, or with the
    best of several; then lambda and all widths follow the gradient of the loss on the same folds.

    Parameters
    ----------
    model : callable or str
        `chemin.svc_path` or `chemin.svr_path`.
    X : array-like of shape (n, d)
        Features with different units are best scaled: they start with one width.
    y : array-like of n numbers or of n labels
    cv : int, splitter or list of (train, test)
    loss : "squared", "hinge", "logistic" or None
        Of the descent. None: squared for numbers, logistic for labels.
    gammas : array-like or None
        1/(2 s^2) of the widths to start from. None: scikit-learn's "scale".
    solver, max_iter, tol : as in `tune`
    **options
        For the path function, such as epsilon.

    Returns
    -------
    TunedWidths
    """
    points = check_matrix(X)
    classifier = Family(model, points, y, **options).classifier
    scoring = "neg_hinge_loss" if classifier else "neg_mean_squared_error"
    if gammas is None:
        gammas = [1.0 / (points.shape[1] * points.var())]
    splits = splits_of(cv, points, np.asarray(y), classifier)
    starts = []
    for gamma in np.atleast_1d(np.asarray(gammas, dtype=float)):
        family = Family(model, points, y, kernel=RBF(float(gamma)), **options)
        curve = CrossValidation(splits, scoring=scoring)(family)
        starts.append((curve.minimum, curve.minimiser, float(gamma)))
    _, best, gamma = min(starts)
    start = np.append(np.log(best), np.full(points.shape[1], -0.5 * np.log(2.0 * gamma)))
    folds = machine_folds(model, points, y, splits, loss=loss, **options)
    found = tune(
        folds.training,
        folds.selection,
        start,
        solver=solver,
        max_iter=max_iter,
        tol=tol,
        bounds=(start - FARTHEST, start + FARTHEST),
    )
    widths, at = np.exp(found.lambda_[1:]), float(np.exp(found.lambda_[0]))
    path = Family(model, points / widths, y, kernel=WIDTH_OF_ONE, stop=at, **options).path
    before = float(found.descent.criterion[0])
    relevances = _slopes(points, widths, path.at(at).coef) * points.std(axis=0)
    return TunedWidths(at, widths, relevances, found.criterion, before, found.descent, path)


def _slopes(X: Floats, widths: Floats, coef: Floats) -> Floats:
    """The root mean square over the rows of the slope of f in each feature."""
    own = Widths(X, X)
    W = own.matrix(np.log(widths)) * coef
    slopes = (W @ own.A - W.sum(axis=1)[:, None] * own.A) / widths**2
    return np.asarray(np.sqrt(np.mean(slopes**2, axis=0)))


__all__ = ["MachineCriterion", "TunedWidths", "machine_folds", "tune_widths"]
