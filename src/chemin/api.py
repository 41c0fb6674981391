"""The path functions: from data to a `Path`, with every check before any work."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._checks import (
    check_matrix,
    check_positive,
    check_start_stop,
    check_target,
    check_two_classes,
    check_weights,
    class_weights,
)
from .engine import IndefiniteError, follow
from .kernels import Kernel, make_kernel
from .path import Data, Path, make_problem
from .problems import DenseGram
from .problems.staircase import Floats

KernelLike = Any  # a name, a callable k(X, Y) or a Kernel


def svc_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: KernelLike = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, float] | str | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    check_psd: bool = False,
    verbose: int = 0,
) -> Path:
    """Every solution of the C-SVM while lambda = 1/C moves.

        min  lambda/2 |f|^2 + sum_i w_i max(0, 1 - y_i (f(x_i) + b))

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n labels, two classes
    kernel, gamma, degree, coef0 : as in sklearn.svm.SVC
    start, stop : float or None
        Values of lambda. Default start: the largest at which anything happens (above it the closed
        form holds). Default stop: 1e-4 of the start. 0 means to the end.
    sample_weight, class_weight : as in sklearn.svm.SVC
        A weight of k equals k repeated rows, a weight of 0 a removed row.
    intercept : bool
        Whether f has an intercept, unpenalised.
    max_events : int or None
        Stop after so many events, with what has been walked.
    check_psd : bool
        Look for negative eigenvalues of the kernel matrix first; it costs as much as a path.
    verbose : int
        1 shows progress.

    Returns
    -------
    Path

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = chemin.svc_path(X[:100], y[:100], kernel="linear")
    >>> path.certificate(path.stop).exact
    True

    References
    ----------
    Hastie, Rosset, Tibshirani, Zhu (2004). The entire regularization path for the support vector
    machine. JMLR 5.
    """
    options = {"gamma": gamma, "degree": degree, "coef0": coef0}
    walk = _check_walk(start, stop, max_events, verbose)
    kernel_, points, weight = _kernel_data(X, kernel, options, sample_weight)
    signs, classes = check_two_classes(y, len(points))
    weight = class_weights(class_weight, signs, classes, weight)
    labels = np.asarray(classes)[(signs > 0).astype(np.intp)]
    data = Data(points, labels, weight, kernel_, classes)
    return _trace("svc", data, signs, {"intercept": bool(intercept)}, walk, check_psd)


def svr_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    along: Literal["lambda", "epsilon"] = "lambda",
    epsilon: float = 0.1,
    lambda_: float = 1.0,
    kernel: KernelLike = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    check_psd: bool = False,
    verbose: int = 0,
) -> Path:
    """Every solution of the epsilon-SVR while lambda = 1/C, or epsilon, moves.

        min  lambda/2 |f|^2 + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon)

    The parameters that are not listed are those of `svc_path`.

    Parameters
    ----------
    along : "lambda" or "epsilon"
        The parameter that moves; the other one is held at `lambda_` or `epsilon`.
    epsilon : float, >= 0
        Half the width of the tube, in units of y.
    lambda_ : float, > 0
        1/C, for a path in epsilon.

    References
    ----------
    Gunter, Zhu (2005). Computing the solution path for the regularized support vector regression.
    """
    if along not in ("lambda", "epsilon"):
        raise ValueError(f"along must be 'lambda' or 'epsilon', got {along!r}")
    spec = {
        "along": along,
        "epsilon": check_positive(epsilon, "epsilon", zero=True),
        "lambda_": check_positive(lambda_, "lambda_"),
        "intercept": bool(intercept),
    }
    options = {"gamma": gamma, "degree": degree, "coef0": coef0}
    walk = _check_walk(start, stop, max_events, verbose)
    kernel_, points, weight = _kernel_data(X, kernel, options, sample_weight)
    target = check_target(y, len(points))
    check_target(target[weight > 0], int((weight > 0).sum()))
    data = Data(points, target, weight, kernel_, None)
    return _trace("svr", data, None, spec, walk, check_psd)


def lasso_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    verbose: int = 0,
) -> Path:
    """Every solution of the lasso while lambda moves.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda |b|_1

    lambda is n times the alpha of scikit-learn. The parameters are those of `svc_path`; `stop=0`
    goes to least squares.
    """
    walk = _check_walk(start, stop, max_events, verbose)
    points = check_matrix(X)
    target = check_target(y, len(points))
    weight = check_weights(sample_weight, len(points))
    check_target(target[weight > 0], int((weight > 0).sum()))
    data = Data(points, target, weight, None, None)
    return _trace("lasso", data, None, {"intercept": bool(intercept)}, walk, False)


# ---------------------------------------------------------------------- shared


def _check_walk(
    start: float | None, stop: float | None, max_events: int | None, verbose: int
) -> dict[str, Any]:
    start, stop = check_start_stop(start, stop)
    if start is not None and stop is not None and start == stop:
        raise ValueError(f"start and stop are both {start:g}: there is nothing to walk")
    if max_events is not None and (isinstance(max_events, bool) or int(max_events) < 1):
        raise ValueError(f"max_events must be a whole number from 1, or None, got {max_events!r}")
    return {"begin": start, "stop": stop, "max_events": max_events, "verbose": verbose}


def _kernel_data(
    X: ArrayLike, kernel: KernelLike, options: dict[str, Any], sample_weight: ArrayLike | None
) -> tuple[Kernel, Floats, Floats]:
    points = check_matrix(X, "K" if kernel == "precomputed" else "X")
    weight = check_weights(sample_weight, len(points))
    kernel_ = make_kernel(kernel, X=points, sample_weight=weight, **options)
    return kernel_, points, weight


def _trace(
    name: str,
    data: Data,
    signs: Floats | None,
    spec: dict[str, Any],
    walk: dict[str, Any],
    check_psd: bool,
) -> Path:
    problem = make_problem(name, data, signs, spec)
    gram = problem.system.coupling.gram
    if data.kernel is not None and isinstance(gram, DenseGram):  # Z Z' has no negative eigenvalue
        _refuse_large_entries(gram.matrix)
        if check_psd:
            _refuse_indefinite(gram.matrix)
    begin, stop = (None if v is None else v / problem.unit for v in (walk["begin"], walk["stop"]))
    try:
        trace = follow(
            problem.system,
            problem.start,
            begin=begin,
            stop=stop,
            max_events=walk["max_events"],
            verbose=walk["verbose"],
        )
    except IndefiniteError as error:
        raise ValueError(_indefinite(f"a negative pivot at row {error.variable}")) from None
    return Path(problem, trace, data, closed_above=begin is None)


def _refuse_large_entries(K: Floats) -> None:
    """No entry of a positive semi-definite matrix is larger than the largest of its diagonal."""
    largest, diagonal = max(float(K.max()), -float(K.min())), float(K.diagonal().max())
    if largest > diagonal * (1 + 1e-8):
        how = f"it has an entry of size {largest:.6g}, more than {diagonal:.6g} on its diagonal"
        raise ValueError(_indefinite(how))


def _refuse_indefinite(K: Floats) -> None:
    lowest = np.linalg.eigvalsh(K)
    if lowest[0] < -1e-10 * len(K) * abs(lowest[-1]):
        raise ValueError(_indefinite(f"its smallest eigenvalue is {lowest[0]:.3g}"))


def _indefinite(how: str) -> str:
    return (
        f"the kernel matrix is not positive semi-definite ({how}): a path needs a kernel that is, "
        "such as 'rbf', 'poly' with coef0 >= 0 or 'linear'"
    )
