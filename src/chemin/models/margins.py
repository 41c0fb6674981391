"""Margins of points and of separators, and what they promise of new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.svm import SVC

from .._checks import check_inside
from ..kernels import Kernel, Linear, make_kernel

Floats = NDArray[np.float64]

SPARE = 1e-6
"""Support vectors on the margin have y f = 1 but for round-off, or for what their solver leaves."""


@dataclass(frozen=True)
class Margins:
    """How far points lie on their side of f = 0.

    Attributes
    ----------
    functional : ndarray of shape (n,)
        y_i f(x_i): positive where the label is right.
    geometric : ndarray of shape (n,)
        y_i f(x_i) / |f|: the distance from the separator, in the space of the kernel.
    norm : float
        |f|, without the intercept.
    of_separator : float
        The smallest geometric margin.
    """

    functional: Floats
    geometric: Floats
    norm: float

    @property
    def of_separator(self) -> float:
        """The smallest geometric margin: positive where all labels are right."""
        return float(self.geometric.min())

    def __repr__(self) -> str:
        wrong = int(np.count_nonzero(self.functional <= 0))
        return (
            f"Margins({len(self.functional)} points, {wrong} on the wrong side, of the separator "
            f"{self.of_separator:.4g})"
        )


def margins(model: Any, X: ArrayLike, y: ArrayLike) -> Margins:
    """Return the functional and the geometric margins of points.

    Parameters
    ----------
    model : fitted classifier of two classes
        Linear (`coef_`), or a kernel machine of chemin or of scikit-learn (`dual_coef_`).
    X : array-like of shape (n, d)
    y : array-like of n labels

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> model = SVC(kernel="linear", C=1e6).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> round(margins(model, [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]).of_separator, 3)
    1.0
    """
    if isinstance(model, type) or not hasattr(model, "decision_function"):
        raise ValueError(f"model must be a fitted classifier of two classes, got {model!r:.60}.")
    f = np.asarray(model.decision_function(X), dtype=np.float64)
    if f.ndim != 1:
        raise ValueError(
            f"model must tell two classes apart, got a decision function of shape {f.shape}."
        )
    signs = _signs(model, y, len(f))
    norm = Expansion.of(model).norm
    with np.errstate(divide="ignore", invalid="ignore"):  # f = constant separates nothing
        return Margins(signs * f, signs * f / norm, norm)


def _signs(model: Any, y: ArrayLike, n: int) -> Floats:
    labels = np.asarray(y)
    unknown = np.setdiff1d(labels, model.classes_)
    if labels.shape != (n,) or len(unknown):
        what = f"the label {unknown[:1].tolist()[0]!r}" if len(unknown) else f"shape {labels.shape}"
        raise ValueError(f"y must be {n} labels among {model.classes_.tolist()}, got {what}.")
    return np.where(labels == model.classes_[1], 1.0, -1.0)


@dataclass(frozen=True)
class Expansion:
    """f(x) = sum_j coef_j k(x_j, x) + intercept of a fitted model."""

    kernel: Kernel
    points: Floats
    coef: Floats

    @classmethod
    def of(cls, model: Any) -> Expansion:
        """The expansion of a linear model or of a kernel machine."""
        kernel = getattr(model, "_kernel", None)
        if isinstance(kernel, Kernel):
            return cls(kernel, model.support_vectors_, np.ravel(model.dual_coef_))
        if isinstance(model, SVC) and model.kernel != "precomputed":
            options = {name: getattr(model, name) for name in ("degree", "coef0")}
            kernel = make_kernel(model.kernel, gamma=model._gamma or "auto", **options, X=[[0.0]])
            return cls(kernel, model.support_vectors_, np.ravel(model.dual_coef_))
        if hasattr(model, "coef_"):
            return cls(Linear(), np.atleast_2d(model.coef_), np.ones(1))
        raise ValueError(
            "model must have coef_, or be a kernel machine of chemin or sklearn.svm.SVC with a "
            f"kernel of points, got {type(model).__name__}."
        )

    @property
    def norm(self) -> float:
        """|f| in the space of the kernel."""
        if len(self.coef) == 0:
            return 0.0
        own = self.kernel.combine(self.points, self.points, self.coef[:, None])[:, 0]
        return float(np.sqrt(max(float(self.coef @ own), 0.0)))

    def radius(self, X: Any) -> float:
        """The largest norm of a point, in the space of the kernel."""
        linear = isinstance(self.kernel, Linear)
        kernel = Linear() if linear else self.kernel  # seen from 0, wherever a path was
        points = kernel.points(X)
        Z = kernel.factor(points)
        if Z is None and linear:
            Z = points
        if Z is not None:
            return float(np.sqrt(np.einsum("ij,ij->i", Z, Z).max()))
        own = [float(kernel.cross(row[None], row[None])[0, 0]) for row in points]
        return float(np.sqrt(max(own)))


@dataclass(frozen=True)
class MarginBound:
    """What margins on the training points promise of new ones.

    Attributes
    ----------
    bound : float
        With probability 1 - delta the error on new points is at most this; 1 or more says nothing.
    course : float
        The same in the shape of the course, violations/n + sqrt((R² log n + log 1/delta) / (gamma²
        n)), whose constant is not known and taken as 1: no bound, a shape.
    violations : int
        Points with a geometric margin below gamma.
    n : int
    gamma, radius : float
        The margin, 1/|f|, and the largest norm of a point.
    delta : float
    """

    bound: float
    course: float
    violations: int
    n: int
    gamma: float
    radius: float
    delta: float

    def __repr__(self) -> str:
        return (
            f"MarginBound(error <= {self.bound:.4g} with probability {1 - self.delta:g}; "
            f"{self.violations} of {self.n} points violate the margin {self.gamma:.4g}, "
            f"R = {self.radius:.4g}; the course's shape: {self.course:.4g})"
        )


def margin_bound(model: Any, X: ArrayLike, y: ArrayLike, delta: float = 0.05) -> MarginBound:
    """Return a bound on the error on new points, from the margins on the training points.

        error <= 1/n sum_i min(1, max(0, 1 - y_i f(x_i)))
                 + 4 r/(rho sqrt(n)) + sqrt(log log2(2 r/rho) / n) + sqrt(log(2/delta) / (2 n))

    for all separators and all rho in (0, r] at once. An intercept is the weight of one coordinate
    more, R for every point: r² = 2 R² and `rho = 1 / sqrt(|f|² + b²/R²)`. The sum is at most
    the share of violations, points with y_i f(x_i) < 1.

    Parameters
    ----------
    model : fitted classifier of two classes, as in `margins`
    X, y : the points it was trained on, and their labels
    delta : float in (0, 1)
        The probability that the bound does not hold.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar (2018). Foundations of machine learning, corollary 5.11 with
    theorem 5.9. Bartlett, Mendelson (2002). Rademacher and Gaussian complexities. JMLR 3.
    """
    delta = check_inside(delta, "delta")
    found = margins(model, X, y)
    n, R = len(found.functional), Expansion.of(model).radius(X)
    if R == 0:
        raise ValueError("X must have a point that is not 0 in the space of the kernel.")
    b = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    length, r = float(np.hypot(found.norm, b / R)), float(np.sqrt(2.0) * R)
    rho = r if length * r <= 1.0 else 1.0 / length
    level = rho * length or 1.0  # the functional margin that rho stands for: 1, or less
    loss = np.clip(1.0 - found.functional / level, 0.0, 1.0).mean()
    complexity = 4.0 * r / (rho * np.sqrt(n)) + np.sqrt(np.log(np.log2(2.0 * r / rho)) / n)
    chance = np.sqrt(np.log(2.0 / delta) / (2.0 * n))
    violations = int(np.count_nonzero(found.functional < 1.0 - SPARE))
    shape = np.sqrt((R**2 * np.log(n) + np.log(1.0 / delta)) * found.norm**2 / n)
    return MarginBound(
        bound=float(loss + complexity + chance),
        course=float(violations / n + shape),
        violations=violations,
        n=n,
        gamma=1.0 / found.norm if found.norm > 0 else np.inf,
        radius=R,
        delta=delta,
    )
