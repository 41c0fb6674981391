"""The SVM with a squared or Huber-type hinge, which chooses lambda on its path."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .svm import Floats, PathSVC


class PathQuadraticSVC(PathSVC):
    """SVM with a squared or Huber-type hinge that chooses lambda.

        min  lambda/2 |f|^2 + 1/2 sum_i w_i L(y_i (f(x_i) + b))

        L(m) = 0 above rho, (rho - m)^2 on [rho - h, rho], 2 h (rho - m) - h^2 below

    Its scores tell probabilities: f that is best for the loss is a function of the probability of
    the second class, and `predict_proba` is its inverse.

    Parameters
    ----------
    rho : float, > 0
        Margins above it cost nothing.
    h : float, > 0
        How far below rho the loss is quadratic; infinite for the squared hinge.
    intercept : bool
        Whether f has an intercept, unpenalised; by default it has none.
    kernel, gamma, degree, coef0, class_weight : as in `PathSVC`
    multi_class, joint, decision_function_shape : as in `PathSVC`
    cv, scoring, choose, tolerance, start, stop, n_jobs, max_events, verbose : as in `PathSVC`

    Attributes
    ----------
    classes_, lambda_, C_, curve_, path_ : as in `PathSVC`
    support_, support_vectors_, dual_coef_, intercept_ : as in `PathSVC`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PathQuadraticSVC(stop=0.01).fit(X[50:], y[50:])
    >>> model.predict_proba(X[50:53]).shape
    (3, 2)

    References
    ----------
    Zhang (2004). Statistical behavior and consistency of classification methods based on convex
    risk minimization. Annals of Statistics 32.
    """

    _problem = "quadratic_svc"

    def __init__(
        self,
        *,
        rho: float = 1.0,
        h: float = np.inf,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: Any = None,
        intercept: bool = False,
        multi_class: str = "ovo",
        joint: bool = True,
        decision_function_shape: str = "ovr",
        cv: Any = 5,
        scoring: Any = None,
        choose: str = "min",
        tolerance: float | None = None,
        start: float | None = None,
        stop: float | None = None,
        n_jobs: int | None = None,
        max_events: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            class_weight=class_weight,
            intercept=intercept,
            multi_class=multi_class,
            joint=joint,
            decision_function_shape=decision_function_shape,
            cv=cv,
            scoring=scoring,
            choose=choose,
            tolerance=tolerance,
            start=start,
            stop=stop,
            n_jobs=n_jobs,
            max_events=max_events,
            verbose=verbose,
        )
        self.rho = rho
        self.h = h

    def _spec(self) -> dict[str, Any]:
        return super()._spec() | {"rho": self.rho, "h": self.h}

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of the classes, one column each, as the loss implies them.

        With probability p the best f satisfies p L'(f) = (1 - p) L'(-f). Where rho > h every f with
        `|f| <= rho - h` is best for p = 1/2. Weights of the classes are not undone. Of several
        classes those of the pairs are coupled, as in sklearn.svm.SVC, or (one against rest) divided
        by their sum; the largest need not belong to the label of `predict`.
        """
        f = self._f(X)
        pull, push = (np.clip(self.rho + side * f, 0.0, self.h) for side in (1.0, -1.0))
        p = pull / (pull + push)
        if self._several:
            return self.path_.coding.probabilities(p)
        return np.column_stack([1.0 - p, p])

    def to_sklearn(self) -> NoReturn:
        """There is no such model in scikit-learn."""
        raise NotImplementedError("scikit-learn has no kernel machine with this loss")


__all__ = ["PathQuadraticSVC"]
