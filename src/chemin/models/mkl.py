"""Multiple kernel learning: a machine and the weights of its kernels, solved together.

    min over d >= 0, |d|_p <= 1, and f:   lambda/2 |f|²_d + sum_i w_i L_i(f(x_i) + b)

with |f|_d the norm in the space of K_d = sum_m d_m K_m. For given weights d this is a machine like
any other; its minimum J(d) is convex, and with f = sum_j c_j k_d(x_j, .)

    dJ/dd_m = -lambda/2 s_m,      s_m = c'K_m c

Its dual value does not depend on d but by c, so that what is left to gain is known:

    J(d) - min J <= lambda/2 (|s|_q - d's) + the machine's own gap,      1/p + 1/q = 1
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .._checks import (
    check_array_memory,
    check_positive,
    check_target,
    check_weights,
    class_weights,
    is_word,
)
from ..engine.follow import ONE_THREAD, phase_one
from ..engine.reasons import WalkEnd
from ..kernels import DenseGram, Kernel, Scaled, Sum, kernel_alignment, make_kernel
from ..problems import PROBLEMS, Columns, Problem
from ..problems.base import Start
from ..selection.criteria import check_whole
from ..walk import make_spec
from ._labels import two_classes
from ._points import checked_points

Floats = NDArray[np.float64]

EPS = float(np.finfo(np.float64).eps)
WIDTHS = np.logspace(-2, 2, 9)
"""Of the default kernels: RBF with gamma = these times 1 / (d Var(X))."""
NEGLIGIBLE = 1e-8
"""Weights below this part of the largest leave the model: what they add is below the gap."""
DAMPING = 1e-9
"""Of the mean curvature: keeps the Newton step unique where kernels are alike."""
HALVINGS = 30  # of a step that does not improve, before the weights count as final


class Machine:
    """The machine of one problem at one lambda, for any kernel matrix; solved from the last one."""

    def __init__(self, name: str, y: Floats, weight: Floats, lambda_: float, **spec: Any) -> None:
        self.name, self.y, self.weight, self.lambda_ = name, y, weight, lambda_
        self.spec = make_spec(name, **spec)
        self.state: tuple[Any, Floats] | None = None

    def solve(self, K: Floats) -> Solved:
        """The exact solution, walked to from the solution with the last matrix."""
        make: Any = PROBLEMS[self.name]
        problem: Problem = make(DenseGram(K), self.y, self.weight, **self.spec)
        t = self.lambda_ / problem.unit
        start = problem.start(self.lambda_)
        if self.state is not None:
            start = Start(*self.state, t)
        solved = self._from(problem, start, t)
        if solved is None or not bool(solved.exact):
            solved = self._from(problem, problem.start(self.lambda_), t) or solved
        if solved is None:
            raise ValueError(
                "the machine could not be solved at this C: its kernel matrix is singular to "
                "round-off; take a smaller C or other kernels"
            )
        self.state = solved.stair, solved.z
        return solved

    def _from(self, problem: Problem, start: Start, t: float) -> Solved | None:
        rng = np.random.default_rng(0)
        try:
            with ONE_THREAD:
                stair, z = phase_one(problem.system, start, t, rng)
        except (WalkEnd, np.linalg.LinAlgError):
            return None
        return Solved(problem, stair, z, problem.columns(z[:, None], np.array([t])))


@dataclass(frozen=True)
class Solved:
    """A solution, with what it is a solution of."""

    problem: Problem
    stair: Any
    z: Floats
    columns: Columns

    @property
    def coef(self) -> Floats:
        return self.columns.coef[:, 0]

    @property
    def exact(self) -> bool:
        return bool(self.problem.certificate(self.columns).exact[0])

    @property
    def objective(self) -> float:
        return float(self.problem.objective(self.columns)[0])

    @property
    def own_gap(self) -> float:
        """What the machine itself leaves of its objective; round-off."""
        gap = abs(float(self.problem.certificate(self.columns).relative_gap[0]))
        return gap * abs(self.objective)

    @property
    def free(self) -> NDArray[np.intp]:
        """Rows whose margin is held while the kernel changes."""
        return np.flatnonzero(self.problem.free(self.columns)[:, 0])


@dataclass
class Weighing:
    """The weights of kernels, on their way to the minimum of J."""

    matrices: Floats  # (M, n, n)
    machine: Machine
    norm: float
    intercept: bool

    def at(self, d: Floats) -> Place:
        K = np.tensordot(d, self.matrices, axes=1)
        solved = self.machine.solve(0.5 * (K + K.T))
        pulls = self.matrices @ solved.coef  # K_m c
        s = np.maximum(pulls @ solved.coef, 0.0)
        half = 0.5 * self.machine.lambda_
        left = half * (self.dual_norm(s) - float(d @ s)) + solved.own_gap
        return Place(d, solved, pulls, s, solved.objective, left)

    def dual_norm(self, s: Floats) -> float:
        """max d's over d >= 0 with |d|_p <= 1."""
        if self.norm == 1.0:
            return float(s.max())
        q = self.norm / (self.norm - 1.0) if np.isfinite(self.norm) else 1.0
        return float(np.linalg.norm(s, q))

    def fixed_point(self, place: Place) -> Floats:
        """What minimises over d with every f_m as it is: d_m ~ |f_m|^(2/(p + 1))."""
        d = (place.d**2 * place.s) ** (1.0 / (self.norm + 1.0))
        return d / np.linalg.norm(d, self.norm)

    def newton(self, place: Place) -> Floats:
        """The minimum of the second-order model of J over the feasible weights."""
        gradient = -0.5 * self.machine.lambda_ * place.s
        hessian = self._hessian(place)
        hessian += np.eye(len(hessian)) * (DAMPING * np.trace(hessian) / len(hessian) or 1.0)
        if self.norm == 1.0:
            return _on_simplex(hessian, hessian @ place.d - gradient)
        return self._on_sphere(place.d, gradient, hessian)

    def _hessian(self, place: Place) -> Floats:
        """lambda P' H P, P = (K_m c) at the free rows, H the inverse of K_FF on what the intercept
        leaves free.
        """
        free = place.solved.free
        pulls, n_free = place.pulls[:, free], len(free)
        border = np.ones((n_free, 1)) if self.intercept else np.empty((n_free, 0))
        K = np.tensordot(place.d, self.matrices[:, free[:, None], free], axes=1)
        corner = np.zeros((border.shape[1], border.shape[1]))
        system = np.block([[K, border], [border.T, corner]])
        right = np.vstack([pulls.T, np.zeros((border.shape[1], len(pulls)))])
        change = scipy.linalg.lstsq(system, right, lapack_driver="gelsd")[0][:n_free]
        hessian = self.machine.lambda_ * (pulls @ change)
        return 0.5 * (hessian + hessian.T)

    def _on_sphere(self, d: Floats, gradient: Floats, hessian: Floats) -> Floats:
        """One Newton step on the conditions of the minimum with |d|_p = 1."""
        p = self.norm
        slope = d ** (p - 1.0)
        mu = float(-gradient @ slope / (slope @ slope))  # multiplier of sum d^p / p = 1 / p
        bent = hessian + np.diag(mu * (p - 1.0) * np.maximum(d, NEGLIGIBLE) ** (p - 2.0))
        system = np.block([[bent, slope[:, None]], [slope[None], np.zeros((1, 1))]])
        right = np.append(-gradient, (1.0 - np.sum(d**p)) / p)
        step = scipy.linalg.lstsq(system, right, lapack_driver="gelsd")[0][:-1]
        new = np.maximum(d + step, 0.1 * d)
        return new / np.linalg.norm(new, p)

    def descend(self, tol: float, max_iter: int) -> tuple[Place, int]:
        """Newton steps, halved until J falls, down to a relative gap of tol."""
        M = len(self.matrices)
        d = np.full(M, 1.0 / M if self.norm == 1.0 else M ** (-1.0 / self.norm))
        place = self.at(d)
        for done in range(max_iter):
            if place.left <= tol * abs(place.value):
                return place, done
            better = self._better(place)
            if better is None:
                return place, done
            place = better
        return place, max_iter

    def _better(self, place: Place) -> Place | None:
        """A place with a smaller J on the way of a Newton step; None: there is none."""
        goals = [self.newton(place)]
        if self.norm > 1.0:
            goals.append(self.fixed_point(place))
        for goal in goals:
            step = 1.0
            for _ in range(HALVINGS):
                d = place.d + step * (goal - place.d)
                if self.norm > 1.0:
                    d /= np.linalg.norm(d, self.norm)
                new = self.at(d)
                if new.value < place.value or new.left < place.left:
                    return new
                step *= 0.5
        return None


@dataclass(frozen=True)
class Place:
    """Weights, the machine there, and what is left to gain."""

    d: Floats
    solved: Solved
    pulls: Floats  # (M, n): K_m c
    s: Floats  # (M,): c'K_m c
    value: float  # J
    left: float  # the gap: J - min J is at most this


def _on_simplex(hessian: Floats, pull: Floats) -> Floats:
    """argmin 1/2 d'Hd - pull'd over d >= 0 with sum 1, by an active set.

    As Lawson and Hanson do it: the weight that gains most enters, and the minimum over those that
    are in is gone to until one of them is 0, which leaves.
    """
    M = len(pull)
    d, inside = np.zeros(M), np.zeros(M, dtype=bool)
    first = int(np.argmin(0.5 * hessian.diagonal() - pull))
    d[first], inside[first] = 1.0, True
    for _ in range(10 * M):
        new, mu = _with_sum_one(hessian, pull, inside)
        while np.any(new[inside] <= 0):
            falls = inside & (new <= 0)
            step = float(np.min(d[falls] / (d[falls] - new[falls])))
            d += step * (new - d)
            inside &= ~(falls & (d <= NEGLIGIBLE**2))
            d[~inside] = 0.0
            new, mu = _with_sum_one(hessian, pull, inside)
        d = new
        gain = np.where(inside, -np.inf, pull - hessian @ d - mu)
        enters = int(gain.argmax())
        if gain[enters] <= np.sqrt(EPS) * DAMPING * np.abs(pull).max():
            break
        inside[enters] = True
    return d / d.sum()


def _with_sum_one(hessian: Floats, pull: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, float]:
    """The minimum over the weights inside, without a sign, and the multiplier of their sum."""
    some = np.flatnonzero(inside)
    ones = np.ones((len(some), 1))
    system = np.block([[hessian[np.ix_(some, some)], ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(pull[some], 1.0))
    d = np.zeros(len(pull))
    d[some] = solution[:-1]
    return d, float(solution[-1])


class _MKL(BaseEstimator):
    """What the classifier and the regressor share: kernels, weights, predictions."""

    kernels: Any
    C: float
    norm: float
    weighting: str
    normalise: bool
    intercept: bool
    tol: float
    max_iter: int

    @abstractmethod
    def _machine(self, y: Floats, weight: Floats) -> Machine:
        """The machine to weigh kernels for."""

    def _fit(self, X: ArrayLike, points: Floats, y: Floats, weight: Floats) -> Self:
        self._check()
        used = weight > 0
        parts = self._parts(points, weight)
        check_array_memory(len(parts) * int(used.sum()), int(used.sum()), "the stack of kernels")
        matrices = np.stack([part.gram(points[used]) for part in parts])
        scales = np.array([K.diagonal().mean() if self.normalise else 1.0 for K in matrices])
        if np.any(scales <= 0):
            raise ValueError(
                f"kernels[{int(scales.argmin())}] is 0 at all points, expected one that is not."
            )
        matrices /= scales[:, None, None]
        weighing = Weighing(
            matrices, self._machine(y[used], weight[used]), self.norm, self.intercept
        )
        place, self.n_iter_ = self._weigh(weighing, y[used])
        self.weights_ = np.where(place.d > NEGLIGIBLE * place.d.max(), place.d, 0.0)
        self.gap_ = place.left / abs(place.value) if place.value else place.left
        self.objective_ = place.value
        if self.weighting == "mkl" and self.gap_ > self.tol:
            warnings.warn(
                f"the relative duality gap is {self.gap_:.2g} after {self.n_iter_} steps, above "
                f"tol={self.tol:g}: raise max_iter, or tol where round-off allows no less",
                ConvergenceWarning,
                stacklevel=3,
            )
        active = np.flatnonzero(self.weights_)
        share = self.weights_ / scales
        scaled: list[Kernel] = [Scaled(parts[m], float(share[m])) for m in active]
        self.kernel_ = reduce(Sum, scaled)
        self._learn(points, used, place.solved)
        return self

    def _weigh(self, weighing: Weighing, y: Floats) -> tuple[Place, int]:
        M = len(weighing.matrices)
        if self.weighting == "mkl" and M > 1:
            return weighing.descend(self.tol, self.max_iter)
        d = np.ones(M)
        if self.weighting == "alignment":
            d = np.array([max(kernel_alignment(K, y), 0.0) for K in weighing.matrices])
            d = d if d.any() else np.ones(M)
        return weighing.at(d / np.linalg.norm(d, self.norm)), 0

    def _learn(self, points: Floats, used: Any, solved: Solved) -> None:
        coef = np.zeros(len(points))
        coef[used] = solved.coef
        self.support_ = np.flatnonzero(coef)
        self.dual_coef_ = coef[None, self.support_]
        self.support_vectors_ = points[self.support_]
        self.intercept_ = solved.columns.intercept.copy()
        self.lambda_, self.C_ = 1.0 / float(self.C), float(self.C)

    def _check(self) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter", 1)
        norm = check_positive(self.norm, "norm", inf=True)
        if norm < 1.0:
            raise ValueError(f"norm must be a number >= 1, got {self.norm!r}.")
        if np.isinf(norm):
            raise ValueError('norm must be finite: for equal weights use weighting="uniform".')
        known = ("mkl", "uniform", "alignment")
        if not is_word(self.weighting, known):
            raise ValueError(
                f"weighting must be one of {', '.join(known)}, got {self.weighting!r}."
            )

    def _parts(self, points: Floats, weight: Floats) -> list[Kernel]:
        if self.kernels is None:
            scale: Any = make_kernel("rbf", X=points, sample_weight=weight)
            return [make_kernel("rbf", gamma=width * scale.gamma) for width in WIDTHS]
        if isinstance(self.kernels, (str, Kernel)) or not isinstance(self.kernels, Sequence):
            raise ValueError(f"kernels must be a list of kernels, got {self.kernels!r}.")
        if len(self.kernels) == 0:
            raise ValueError("kernels must have one kernel at least, got an empty list.")
        parts = [make_kernel(kernel, X=points, sample_weight=weight) for kernel in self.kernels]
        if any(part.name == "precomputed" for part in parts):
            raise ValueError("kernels must be kernels of points, got 'precomputed'.")
        return parts

    def _points(self, X: ArrayLike, first: bool) -> Floats:
        listed = self.kernels if isinstance(self.kernels, Sequence) else []
        strings = [k for k in listed if isinstance(k, Kernel) and k.of_strings]
        if strings:
            return strings[0].points(X)
        points: Floats = checked_points(self, X, first=first)
        return points

    def _f(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        points = self._points(X, first=False)
        if len(self.support_) == 0:
            return np.full(len(points), self.intercept_[0])
        f = self.kernel_.combine(points, self.support_vectors_, self.dual_coef_.T)
        return np.asarray(f[:, 0] + self.intercept_[0])

    @property
    def _kernel(self) -> Kernel:
        return self.kernel_


class MKLClassifier(ClassifierMixin, _MKL):
    """C-SVM for two classes with a combination of kernels that is learned with it.

        min over d >= 0, |d|_p <= 1:   lambda/2 |f|²_d + sum_i w_i max(0, 1 - y_i (f(x_i) + b))

    with `|f|_d` the norm of K_d = sum_m d_m K_m and lambda = 1/C. Weights and machine are solved
    together, to a duality gap that is reported.

    Parameters
    ----------
    kernels : list of kernels or None
        Objects of `chemin.kernels`, names or functions. None: nine RBF kernels from wide to narrow.
    C : float > 0
    norm : float >= 1
        p. 1 makes most weights zero, larger values spread them.
    weighting : "mkl", "uniform" or "alignment"
        Learned; all equal; by the centred alignment of each kernel with the labels.
    normalise : bool
        Whether each kernel is divided by its mean self-similarity first.
    class_weight : dict, "balanced" or None
    intercept : bool
    tol : float
        The relative duality gap to reach.
    max_iter : int
        Newton steps at the most.

    Attributes
    ----------
    weights_ : ndarray of shape (M,)
    gap_ : float
        The relative duality gap, from the kernel matrices and the labels.
    kernel_ : Kernel
        The combination, kernels of weight 0 left out.
    objective_, n_iter_, lambda_, C_
    support_, support_vectors_, dual_coef_, intercept_, classes_
        As in sklearn.svm.SVC.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from chemin.kernels import RBF, Linear
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = MKLClassifier([Linear()] + [RBF(0.1).on(j) for j in range(5)]).fit(X, y)
    >>> bool(model.gap_ <= 1e-6)
    True

    References
    ----------
    Rakotomamonjy, Bach, Canu, Grandvalet (2008). SimpleMKL. JMLR 9.
    Kloft, Brefeld, Sonnenburg, Zien (2011). lp-norm multiple kernel learning. JMLR 12.
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        C: float = 1.0,
        norm: float = 1.0,
        weighting: str = "mkl",
        normalise: bool = True,
        class_weight: Any = None,
        intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.norm = norm
        self.weighting = weighting
        self.normalise = normalise
        self.class_weight = class_weight
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the weights of the kernels and the machine.

        Parameters
        ----------
        X : array-like of shape (n, d), or strings for kernels of strings
        y : array-like of n labels, two classes
        sample_weight : array-like of shape (n,) or None
        """
        points = self._points(X, first=True)
        signs, self.classes_ = two_classes(y, len(points))
        weight = check_weights(sample_weight, len(points))
        weight = class_weights(self.class_weight, signs, self.classes_, weight)
        return self._fit(X, points, signs, weight)

    def _machine(self, y: Floats, weight: Floats) -> Machine:
        return Machine("svc", y, weight, 1.0 / self.C, intercept=self.intercept)

    def decision_function(self, X: ArrayLike) -> Floats:
        """f(x) for each row; positive for classes_[1]."""
        return self._f(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels; f = 0 gives classes_[0]."""
        second = (self._f(X) > 0).astype(np.intp)
        return np.asarray(self.classes_[second])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class MKLRegressor(RegressorMixin, _MKL):
    """epsilon-SVR with a combination of kernels that is learned with it.

        min over d >= 0, |d|_p <= 1:   lambda/2 |f|²_d + sum_i w_i max(0, |y_i - f(x_i) - b| - eps)

    Parameters
    ----------
    epsilon : float >= 0
        Half the width of the tube, in units of y.

    The other parameters and attributes are those of `MKLClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from chemin.kernels import RBF
    >>> X, y = load_diabetes(return_X_y=True)
    >>> kernels = [RBF(100.0).on(j) for j in range(10)]
    >>> model = MKLRegressor(kernels, C=10.0, epsilon=20.0).fit(X[:200], y[:200])
    >>> bool(model.gap_ <= 1e-6)
    True
    """

    def __init__(
        self,
        kernels: Any = None,
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        norm: float = 1.0,
        weighting: str = "mkl",
        normalise: bool = True,
        intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.norm = norm
        self.weighting = weighting
        self.normalise = normalise
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the weights of the kernels and the machine.

        Parameters
        ----------
        X : array-like of shape (n, d), or strings for kernels of strings
        y : array-like of n numbers
        sample_weight : array-like of shape (n,) or None
        """
        points = self._points(X, first=True)
        target = check_target(y, len(points))
        return self._fit(X, points, target, check_weights(sample_weight, len(points)))

    def _machine(self, y: Floats, weight: Floats) -> Machine:
        options = {"intercept": self.intercept, "epsilon": self.epsilon}
        return Machine("svr", y, weight, 1.0 / self.C, **options)

    def predict(self, X: ArrayLike) -> Floats:
        """f(x) for each row."""
        return self._f(X)
