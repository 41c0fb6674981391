"""The path functions: from data to a `Path`, with every check before any work."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._checks import (
    check_fraction,
    check_matrix,
    check_positive,
    check_start_stop,
    check_target,
    check_two_classes,
    check_weights,
    class_weights,
)
from .engine import IndefiniteError, follow
from .kernels import DenseGram, Kernel, make_kernel
from .path import Data, Path, make_problem
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
    path = _trace("svr", data, None, spec, walk, check_psd)
    if along == "lambda":
        return _explain_wide_tube(path, target[weight > 0], spec["epsilon"], intercept)
    return path


def nu_svr_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    along: Literal["lambda", "nu"] = "lambda",
    nu: float = 0.5,
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
    """Every solution of the nu-SVR while lambda = 1/C, or nu, moves.

        min  lambda/2 |f|^2 + nu W epsilon + sum_i w_i max(0, |y_i - f(x_i) - b| - epsilon)

    over f, b and epsilon >= 0; W is the sum of the weights, n without any. nu bounds the share of
    points outside the tube from above and the share of support vectors from below.

    Parameters
    ----------
    along : "lambda" or "nu"
        The parameter that moves; the other one is held at `lambda_` or `nu`.
    nu : float in (0, 1]
        nu and lambda are those of `sklearn.svm.NuSVR(nu=nu, C=1 / lambda_)`.
    lambda_ : float, > 0
        1/C, for a path in nu.
    start, stop : float or None
        Values of the moving parameter. A path in nu starts where the tube closes: beyond that nu
        epsilon is 0, nothing changes any more, and `at` gives it up to nu = 1. It may also go
        upward: start=0.01, stop=1. Default stop: 1e-4 of the start.

    The other parameters are those of `svc_path`. The tube's half width is the `epsilon` of each
    solution; `Path.closed_tube` says where it is 0.

    References
    ----------
    Gasso, Zapien, Canu (2007). Regularization paths for nu-SVM and nu-SVR.
    """
    if along not in ("lambda", "nu"):
        raise ValueError(f"along must be 'lambda' or 'nu', got {along!r}")
    spec = {
        "along": along,
        "nu": check_fraction(nu, "nu"),
        "lambda_": check_positive(lambda_, "lambda_"),
        "intercept": bool(intercept),
    }
    options = {"gamma": gamma, "degree": degree, "coef0": coef0}
    walk = _check_walk(start, stop, max_events, verbose)
    if along == "nu":
        _check_nu_walk(walk)
    kernel_, points, weight = _kernel_data(X, kernel, options, sample_weight)
    target = check_target(y, len(points))
    check_target(target[weight > 0], int((weight > 0).sum()))
    data = Data(points, target, weight, kernel_, None)
    return _trace("nu_svr", data, None, spec, walk, check_psd)


def one_class_path(
    X: ArrayLike,
    *,
    kernel: KernelLike = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    max_events: int | None = None,
    check_psd: bool = False,
    verbose: int = 0,
) -> Path:
    """Every solution of the one-class SVM while nu moves.

        min  1/2 |f|^2 - nu W rho + sum_i w_i max(0, rho - f(x_i))

    W is the sum of the weights, n without any. The intercept is -rho: `decision_function` is
    positive inside the boundary, and `predict` gives 1 there and -1 elsewhere, as
    `sklearn.svm.OneClassSVM(nu=nu)` does.

    Parameters
    ----------
    start, stop : float or None
        Values of nu in (0, 1]. Default start: 1, where every point is outside. It may also go
        upward: start=0.01, stop=1. Default stop: 1e-4.

    The other parameters are those of `svc_path`.

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola, Williamson (2001). Estimating the support of a
    high-dimensional distribution. Neural Computation 13.
    """
    options = {"gamma": gamma, "degree": degree, "coef0": coef0}
    walk = _check_walk(start, stop, max_events, verbose)
    _check_nu_walk(walk)
    kernel_, points, weight = _kernel_data(X, kernel, options, sample_weight)
    y = np.ones(len(points), dtype=np.intp)
    data = Data(points, y, weight, kernel_, np.array([-1, 1]))
    return _trace("one_class", data, y.astype(float), {}, walk, check_psd)


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


def _explain_wide_tube(path: Path, y: Floats, epsilon: Any, intercept: bool) -> Path:
    """A tube that holds all targets leaves nothing to learn: the path says so."""
    half = 0.5 * float(y.max() - y.min()) if intercept else float(np.abs(y).max())
    if epsilon < half:
        return path
    what = "half the range of y" if intercept else "the largest |y|"
    return path._explained(
        f"every coefficient is zero: epsilon = {epsilon:g} is at least {what} ({half:g}), "
        "so that all targets lie within the tube"
    )


def _check_nu_walk(walk: dict[str, Any]) -> None:
    """nu lies in (0, 1]; a stop of 0 is the limit."""
    if walk["begin"] is not None:
        check_fraction(walk["begin"], "start")
    if walk["stop"]:
        check_fraction(walk["stop"], "stop")


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
