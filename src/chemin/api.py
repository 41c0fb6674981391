"""The path functions: from data to a `Path`, with every check before any work."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ._checks import (
    MATRIX,
    check_flag,
    check_matrix,
    check_partly_labelled,
    check_points,
    check_positive,
    check_weights,
    column_names,
)
from .data import Data
from .kernels import (
    Kernel,
    check_graph,
    components,
    graph_laplacian,
    make_kernel,
    neighbor_graph,
)
from .path import Path
from .problems.staircase import Floats
from .walk import check_walk, make_data, make_spec, nearby, walk_path

KernelLike = Any  # a name, a callable k(X, Y) or a Kernel


def svc_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    along: Literal["lambda", "cost"] = "lambda",
    cost: float = 0.5,
    lambda_: float = 1.0,
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
    """Every solution of the C-SVM while lambda = 1/C, or the balance of the classes, moves.

        min  lambda/2 |f|^2 + sum_i w_i a_i max(0, 1 - y_i (f(x_i) + b))

    a_i = 2 cost for the positive class and 2 (1 - cost) for the negative one: 1 for both by
    default.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
        Points are copied; a kernel matrix is kept, not copied: leave it as it is.
    y : array of n labels, two classes; the second one, in their order, is the positive class
    along : "lambda" or "cost"
        The parameter that moves; the other one is held at `lambda_` or `cost`. Along the cost the
        models go from one that calls nothing positive to one that calls nothing negative: the
        exact ROC curve, see `Path.roc`.
    cost : float in (0, 1)
        What losses of the positive class weigh, as a part of both.
    lambda_ : float, > 0
        1/C, for a path in the cost.
    kernel, gamma, degree, coef0 : as in sklearn.svm.SVC
    start, stop : float or None
        Values of lambda. Default start: the largest at which anything happens (above it the closed
        form holds). Default stop: 1e-4 of the start. 0 means to the end. Along the cost: by default
        upward, from 0.0001 to 0.9999.
    sample_weight, class_weight : as in sklearn.svm.SVC
        A weight of k equals k repeated rows, a weight of 0 a removed row. So "balanced" counts a
        row by its weight, where scikit-learn counts every row once.
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
    spec = make_spec("svc", along=along, cost=cost, lambda_=lambda_, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    path = _kernel_path("svc", X, y, spec, similar, sample_weight, walk, class_weight)
    return _explain_separation(path) if stop == 0 and path.complete else path


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

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n numbers
    along : "lambda" or "epsilon"
        The parameter that moves; the other one is held at `lambda_` or `epsilon`.
    epsilon : float, >= 0
        Half the width of the tube, in units of y.
    lambda_ : float, > 0
        1/C, for a path in epsilon.
    kernel, gamma, degree, coef0 : as in `svc_path`
    start, stop : float or None
        Values of the moving parameter, as in `svc_path`.
    sample_weight, intercept, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0)
    >>> path = chemin.svr_path(X, y, along="epsilon", lambda_=0.1, stop=0)
    >>> print(path.at(path.start).support.size, path.at(0.3).epsilon)
    0 0.3

    References
    ----------
    Gunter, Zhu (2005). Computing the solution path for the regularized support vector regression.
    """
    spec = make_spec("svr", along=along, epsilon=epsilon, lambda_=lambda_, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    path = _kernel_path("svr", X, y, spec, similar, sample_weight, walk)
    if along == "lambda":
        return _explain_wide_tube(path, path.y[path.weight > 0], spec["epsilon"], intercept)
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

    The tube's half width is the `epsilon` of each solution; `Path.closed_tube` says where it is 0.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n numbers
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
    kernel, gamma, degree, coef0 : as in `svc_path`
    sample_weight, intercept, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0)
    >>> path = chemin.nu_svr_path(X, y, nu=0.2)
    >>> solution = path.at(0.1 * path.start)
    >>> print(solution.epsilon > 0, solution.support.size >= 0.2 * 60)
    True True

    References
    ----------
    Gasso, Zapien, Canu (2007). Regularization paths for nu-SVM and nu-SVR.
    """
    spec = make_spec("nu_svr", along=along, nu=nu, lambda_=lambda_, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    return _kernel_path("nu_svr", X, y, spec, similar, sample_weight, walk)


def quantile_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    along: Literal["lambda", "tau"] = "lambda",
    tau: float = 0.5,
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
    """Every solution of kernel quantile regression while lambda, or tau, moves.

        min  lambda/2 |f|^2 + sum_i w_i max(tau r_i, (tau - 1) r_i),    r_i = y_i - f(x_i) - b

    `Path.fractions_below` tells the shares of points below f, `Path.crossings` where quantiles
    cross.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n numbers
    along : "lambda" or "tau"
        The parameter that moves; the other one is held at `lambda_` or `tau`. Along tau the path
        has every quantile of the conditional distribution.
    tau : float in (0, 1)
        The quantile: with an intercept, at most a share tau of the points lies below f, and at most
        a share 1 - tau above it.
    lambda_ : float, > 0
        1/C, for a path in tau.
    start, stop : float or None
        Values of the moving parameter. Along tau: by default upward, from 0.0001 to 0.9999.
    kernel, gamma, degree, coef0 : as in `svc_path`
    sample_weight, intercept, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(80, 0, noise=0.3)
    >>> path = chemin.quantile_path(X, y, along="tau", lambda_=0.1, gamma=30.0)
    >>> below, up_to = path.fractions_below(0.25)
    >>> print(below <= 0.25 <= up_to)
    True

    References
    ----------
    Takeuchi, Le, Sears, Smola (2006). Nonparametric quantile estimation. JMLR 7.
    Li, Liu, Zhu (2007). Quantile regression in reproducing kernel Hilbert spaces. JASA 102.
    """
    spec = make_spec("quantile", along=along, tau=tau, lambda_=lambda_, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    return _kernel_path("quantile", X, y, spec, similar, sample_weight, walk)


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
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    start, stop : float or None
        Values of nu in (0, 1]. Default start: 1, where every point is outside. It may also go
        upward: start=0.01, stop=1. Default stop: 1e-4.
    kernel, gamma, degree, coef0 : as in `svc_path`
    sample_weight, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> path = chemin.one_class_path(X)
    >>> outside = (path.decision_function(X, 0.1) < -1e-9).sum()
    >>> print(outside <= 0.1 * len(X))
    True

    References
    ----------
    Schölkopf, Platt, Shawe-Taylor, Smola, Williamson (2001). Estimating the support of a
    high-dimensional distribution. Neural Computation 13.
    """
    walk = _walk(start, stop, max_events, verbose, check_psd)
    spec = make_spec("one_class")
    check_walk("one_class", spec, walk)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    kernel_, points, weight = _kernel_data(X, similar, sample_weight)
    y = np.ones(points.shape[0], dtype=np.intp)
    data = Data(points, y, weight, kernel_, np.array([-1, 1]), names=column_names(X))
    return walk_path("one_class", data, spec, target=y.astype(float), **walk)


def lasso_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    positive: bool = False,
    standardize: bool = False,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    verbose: int = 0,
) -> Path:
    """Every solution of the lasso while lambda moves.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda sum_j s_j |b_j|

    lambda is n times the alpha of scikit-learn.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of n numbers
    positive : bool
        Whether no coefficient may be negative.
    standardize : bool
        Whether s_j is the standard deviation of column j (without an intercept: its root mean
        square), as if the columns had been divided by it, and not 1. Coefficients are those of the
        columns as they are.
    start, stop : float or None
        Values of lambda, as in `svc_path`. `stop=0` goes to least squares.
    sample_weight, intercept, max_events, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = chemin.lasso_path(X, y, stop=0)
    >>> print(path.at(path.start).support.size, path.at(0).support.size)
    0 10
    """
    spec = make_spec("lasso", intercept=intercept, positive=positive, standardize=standardize)
    return _linear_path("lasso", X, y, spec, sample_weight, start, stop, max_events, verbose)


def ridge_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    standardize: bool = False,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: bool = True,
) -> Path:
    """Every solution of ridge regression while lambda moves, in closed form from one SVD.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda/2 sum_j s_j^2 b_j^2

    lambda is the alpha of scikit-learn. Coefficients are rational in lambda and nothing happens on
    the way: there are no events.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of n numbers
    standardize : bool
        As in `lasso_path`.
    start, stop : float or None
        Values of lambda. Default: from 1e3 to 1e-6 of the largest squared singular value of the
        centred columns. `stop=0` goes to least squares, the shortest of several.
    sample_weight, intercept : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = chemin.ridge_path(X, y, stop=0)
    >>> [round(float(df), 2) for df in path.degrees_of_freedom([1.0, 0.1, 0])]
    [4.94, 8.64, 11.0]

    References
    ----------
    Hoerl, Kennard (1970). Ridge regression: biased estimation for nonorthogonal problems.
    Technometrics 12.
    """
    spec = make_spec("ridge", intercept=intercept, standardize=standardize)
    return _linear_path("ridge", X, y, spec, sample_weight, start, stop, None, 0)


def garrote_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    ridge: float = 0.0,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    verbose: int = 0,
) -> Path:
    """Every solution of the non-negative garrote while lambda moves.

        min  1/2 sum_i w_i (y_i - sum_j c_j a_j x_ij - b0)^2 + lambda sum_j c_j,      c_j >= 0

    a is least squares, or ridge regression. `coef` is c_j a_j; at lambda = 0 and
    with ridge=0 it is least squares.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of n numbers
    ridge : float, >= 0
        The penalty of the first estimate, per row and on standardised columns. 0: least squares,
        with more columns than rows the shortest of many. It should not be 0 there, nor where
        columns are nearly collinear.
    start, stop : float or None
        Values of lambda, as in `svc_path`.
    sample_weight, intercept, max_events, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = chemin.garrote_path(X, y, stop=0)
    >>> [int(path.at(f * path.start).support.size) for f in (0.5, 0.1, 0.01, 0)]
    [2, 4, 7, 10]

    References
    ----------
    Breiman (1995). Better subset regression using the nonnegative garrote. Technometrics 37.
    """
    spec = make_spec("garrote", intercept=intercept, ridge=ridge)
    return _linear_path("garrote", X, y, spec, sample_weight, start, stop, max_events, verbose)


def adaptive_ridge_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    standardize: bool = False,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    verbose: int = 0,
) -> Path:
    """Every solution of adaptive ridge regression while mu moves, exactly, from one lasso path.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + 1/2 sum_j lambda_j b_j^2

    over b and all penalties lambda_j, of which the harmonic mean is mu. The best penalties make it
    a lasso at lambda = (mu/d) abs(b)_1, d the number of columns: `Solution.lambda_`. Variables come
    and go as on the lasso's path.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of n numbers
    start, stop : float or None
        Values of mu. b vanishes only at an infinite mu; by default the path begins where b has come
        a thousandth of its way to the first event, and ends where the path of the lasso does.
    standardize : bool
        As in `lasso_path`.
    sample_weight, intercept, max_events, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = chemin.adaptive_ridge_path(X, y, stop=0)
    >>> one = path.at(1.0)
    >>> print(one.support.size, bool(abs(one.lambda_ - abs(one.coef).sum() / 10) < 1e-10))
    5 True

    References
    ----------
    Grandvalet, Canu (1998). Outcomes of the equivalence of adaptive ridge with least absolute
    shrinkage. Advances in Neural Information Processing Systems 11.
    """
    spec = make_spec("adaptive_ridge", intercept=intercept, standardize=standardize)
    ends = (start, stop, max_events, verbose)
    return _linear_path("adaptive_ridge", X, y, spec, sample_weight, *ends)


def _linear_path(
    name: str,
    X: ArrayLike,
    y: ArrayLike,
    spec: dict[str, Any],
    sample_weight: ArrayLike | None,
    *ends: Any,
) -> Path:
    """The path of a problem that is linear in the columns of X."""
    points = check_matrix(X)
    weight = check_weights(sample_weight, len(points))
    data, _ = make_data(name, points, y, weight, None, names=column_names(X))
    return walk_path(name, data, spec, **_walk(*ends))


def quadratic_svc_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    rho: float = 1.0,
    h: float = np.inf,
    kernel: KernelLike = "rbf",
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, float] | str | None = None,
    intercept: bool = False,
    max_events: int | None = None,
    check_psd: bool = False,
    verbose: int = 0,
) -> Path:
    """Every solution of the SVM with a squared or Huber-type hinge while lambda moves.

        min  lambda/2 |f|^2 + 1/2 sum_i w_i L(y_i (f(x_i) + b))

        L(m) = 0 above rho, (rho - m)^2 on [rho - h, rho], 2 h (rho - m) - h^2 below

    Between events solutions are rational in lambda; they are followed exactly.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n labels, two classes
    rho : float, > 0
        Margins above it cost nothing.
    h : float, > 0
        How far below rho the loss is quadratic; infinite for the squared hinge.
    intercept : bool
        Whether f has an intercept, unpenalised.
    kernel, gamma, degree, coef0 : as in `svc_path`
    start, stop : float or None
        Values of lambda, as in `svc_path`.
    sample_weight, class_weight, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> path = chemin.quadratic_svc_path(X[50:], y[50:], rho=1.1, h=0.2)
    >>> path.certificate(0.01 * path.start).exact
    True

    References
    ----------
    Karasuyama, Takeuchi (2011). Nonlinear regularization path for quadratic loss support vector
    machines. IEEE Transactions on Neural Networks 22.
    """
    spec = make_spec("quadratic_svc", rho=rho, h=h, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    return _kernel_path("quadratic_svc", X, y, spec, similar, sample_weight, walk, class_weight)


def quadratic_svr_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: float = 0.1,
    h: float = np.inf,
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
    """Every solution of the SVR with squared or Huber-type errors while lambda moves.

        min  lambda/2 |f|^2 + 1/2 sum_i w_i L(u_i),    u_i = max(0, |y_i - f(x_i) - b| - epsilon)

        L(u) = u^2 up to h, 2 h u - h^2 above

    With epsilon = 0 it is Huber's loss.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n numbers
    epsilon : float, >= 0
        Half the width of the tube, in units of y.
    h : float, > 0
        How far outside the tube the loss is quadratic, in units of y; by default everywhere.
    kernel, gamma, degree, coef0 : as in `svc_path`
    start, stop : float or None
        Values of lambda, as in `svc_path`.
    sample_weight, intercept, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0)
    >>> path = chemin.quadratic_svr_path(X, y, epsilon=0.1, h=0.5)
    >>> path.certificate(0.01 * path.start).exact
    True
    """
    spec = make_spec("quadratic_svr", epsilon=epsilon, h=h, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    return _kernel_path("quadratic_svr", X, y, spec, similar, sample_weight, walk)


def expectile_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    tau: float = 0.5,
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
    """Every solution of kernel expectile regression while lambda moves.

        min  lambda/2 |f|^2 + 1/2 sum_i w_i |tau - (r_i < 0)| r_i^2,    r_i = y_i - f(x_i) - b

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n numbers
    tau : float in (0, 1)
        The expectile: with an intercept, what the points above f pull and what those below pull are
        as 1 - tau to tau. 1/2 is the mean.
    kernel, gamma, degree, coef0 : as in `svc_path`
    start, stop : float or None
        Values of lambda, as in `svc_path`.
    sample_weight, intercept, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0, noise=0.3)
    >>> path = chemin.expectile_path(X, y, tau=0.9)
    >>> path.certificate(0.01 * path.start).exact
    True

    References
    ----------
    Newey, Powell (1987). Asymmetric least squares estimation and testing. Econometrica 55.
    """
    spec = make_spec("expectile", tau=tau, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    return _kernel_path("expectile", X, y, spec, similar, sample_weight, walk)


def kernel_ridge_path(
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
    intercept: bool = True,
    max_events: int | None = None,
    check_psd: bool = False,
    verbose: int = 0,
) -> Path:
    """Every solution of kernel ridge regression while lambda moves.

        min  lambda/2 |f|^2 + 1/2 sum_i w_i (y_i - f(x_i) - b)^2

    lambda is the alpha of `sklearn.kernel_ridge.KernelRidge`, which has no intercept. There are no
    events.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
    y : array of n numbers
    kernel, gamma, degree, coef0 : as in `svc_path`
    start, stop : float or None
        Values of lambda, as in `svc_path`.
    sample_weight, intercept, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> X, y = chemin.datasets.make_sinexp(60, 0)
    >>> path = chemin.kernel_ridge_path(X, y, stop=0.01)
    >>> print(path.n_events, path.at(0.01).support.size)
    0 60
    """
    spec = make_spec("kernel_ridge", intercept=intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    return _kernel_path("kernel_ridge", X, y, spec, similar, sample_weight, walk)


def laplacian_svc_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    along: Literal["lambda1", "lambda2"] = "lambda1",
    lambda1: float = 0.1,
    lambda2: float = 0.01,
    mu: float | None = None,
    rho: float | None = None,
    n_neighbors: int = 7,
    radius: float | None = None,
    graph_weights: Literal["binary", "heat"] = "binary",
    normalized: bool = False,
    graph: Any = None,
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
    """Every solution of the sparse Laplacian SVM while lambda1 or lambda2 moves.

        min  sum_labelled w_i max(0, 1 - y_i (f(x_i) + b0)) + lambda2/2 |f|^2 + mu/2 f'L f
             + lambda1 |b|_1,                   f = sum_j b_j k(x_j, .) over all points

    f'L f is small where neighbours have similar values: points without a label tell where the data
    lie. The L1 penalty leaves few kernel terms in f, the active ones, and predictions evaluate no
    others.

    Solutions have `lambda1`, `lambda2`, `mu` and `rho`, their `lambda_` is lambda2, and their alpha
    is 0 at points without a label. `Path.s` has the sum of absolute coefficients at each event. In
    `Path.events` variable j < n is the coefficient of point j, n + i the multiplier of point i, and
    2n the intercept.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) when kernel="precomputed"
        All points, with and without labels.
    y : array of n labels, two classes
        -1 marks points without a label, as in scikit-learn; "" or None among strings.
    along : "lambda1" or "lambda2"
        The parameter that moves. Along lambda2 lambda1 and rho = mu/lambda2 are held, so that mu
        moves with lambda2.
    lambda1 : float, > 0
        For a path in lambda2.
    lambda2 : float, > 0
        For a path in lambda1.
    mu : float, >= 0, or None
        For a path in lambda1. Default: 1, unless rho is given.
    rho : float, >= 0, or None
        mu/lambda2, instead of mu. Default along lambda2: 100.
    n_neighbors, radius, graph_weights : see `chemin.kernels.neighbor_graph`
        How the graph is made; a radius takes the place of n_neighbors.
    normalized : bool
        Whether L is the normalised Laplacian, I - D^-1/2 W D^-1/2, instead of D - W.
    graph : dense or sparse matrix of shape (n, n) or None
        Your own symmetric weights W, instead of neighbours.
    start, stop : float or None
        Values of the moving parameter. Default start: the largest at which anything happens.
        Default stop: 1e-4 of the start. Along lambda1 0 means to the end: the Laplacian SVM itself,
        or as near to it as double precision tells.
    sample_weight : array of shape (n,) or None
        What the loss of a labelled point counts. A point of weight 0 keeps its place in the graph
        and among the kernel terms: only its label is ignored.
    kernel, gamma, degree, coef0 : as in `svc_path`
    class_weight, intercept, max_events, check_psd, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.1, random_state=1)
    >>> labels = [c if i < 10 else -1 for i, c in enumerate(y)]
    >>> path = chemin.laplacian_svc_path(X, labels, gamma=2.0)
    >>> solution = path.at(0.1 * path.start)
    >>> print(solution.support.size < 30, path.certify(solution).verdict)
    True exact

    References
    ----------
    Gasso, Zapien, Canu (2007). L1-norm regularization path for the sparse semi-supervised
    Laplacian SVM.
    Belkin, Niyogi, Sindhwani (2006). Manifold regularization. JMLR 7.
    """
    spec = laplacian_spec(along, lambda1, lambda2, mu, rho, intercept)
    walk = _walk(start, stop, max_events, verbose, check_psd)
    check_walk("laplacian_svc", spec, walk)
    if along == "lambda2" and stop == 0:
        raise ValueError("stop must be above 0 along lambda2, got 0: there |f|^2 counts no more")
    similar = {"kernel": kernel, "gamma": gamma, "degree": degree, "coef0": coef0}
    kernel_, points, weight = _kernel_data(X, similar, sample_weight)
    labels, known = check_partly_labelled(y, points.shape[0])
    made = {"n_neighbors": n_neighbors, "radius": radius, "weights": graph_weights}
    laplacian = make_laplacian(points, known, kernel_, made, graph, normalized)
    data, signs = make_data(
        "laplacian_svc", points, labels, weight, kernel_, class_weight, laplacian
    )
    return walk_path("laplacian_svc", data, spec, target=signs, **walk)


def laplacian_spec(
    along: Any, lambda1: Any, lambda2: Any, mu: Any, rho: Any, intercept: Any
) -> dict[str, Any]:
    """What makes the problem, checked: of mu and rho one is given, or none."""
    if mu is not None and rho is not None:
        raise ValueError("mu and rho were both given, expected one: rho is mu/lambda2")
    if mu is not None and along == "lambda2":
        raise ValueError(
            f"mu must be None along lambda2, got {mu!r}: it moves there, and rho = mu/lambda2 is "
            "what is held"
        )
    if check_positive(lambda2, "lambda2", zero=True) == 0:
        raise ValueError(
            "lambda2 must be above 0, got 0: without |f|^2 solutions are not unique (l1_svc_path "
            "has no quadratic part)"
        )
    if rho is None and along != "lambda2":
        rho = check_positive(1.0 if mu is None else mu, "mu", zero=True) / lambda2
    given = {} if rho is None else {"rho": rho}
    held = {"along": along, "lambda1": lambda1, "lambda2": lambda2, "intercept": intercept}
    return make_spec("laplacian_svc", **held, **given)


def make_laplacian(
    points: Floats,
    known: Any,
    kernel: Kernel,
    made: dict[str, Any],
    graph: Any,
    normalized: Any,
    stacklevel: int = 3,
) -> Any:
    """The Laplacian of a user's graph, or of the neighbours of points; with a warning where the
    graph falls apart.
    """
    check_flag(normalized, "normalized")
    if graph is not None:
        W = check_graph(graph, points.shape[0])
    elif kernel.name == "precomputed":
        raise ValueError(
            "graph must be given with kernel='precomputed', got None: a kernel matrix does not "
            "say which points are neighbours"
        )
    else:
        W = neighbor_graph(points, **made)
    part = components(W)
    count = int(part.max()) + 1
    if count > 1:
        without = count - len(np.unique(part[known]))
        alone = int((np.bincount(part) == 1).sum())
        warnings.warn(
            f"the graph has {count} components, {without} of them without a labelled point, and "
            f"{alone} isolated points: f is smooth within each, and no label is carried across",
            stacklevel=stacklevel,
        )
    return graph_laplacian(W, normalized=normalized)


def l1_svc_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    lambda2: float = 0.0,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    class_weight: dict[Any, float] | str | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    verbose: int = 0,
) -> Path:
    """Every solution of the L1-norm SVM while lambda moves.

        min  sum_i w_i max(0, 1 - y_i (x_i'b + b0)) + lambda |b|_1 + lambda2/2 |b|^2

    Without a ridge (lambda2 = 0) solutions are constant in lambda, but for jumps, at which all
    models between two are optimal: `Path.s`, the sum of absolute coefficients at each event, tells
    both ends of each. `at` gives the end with the smaller s.

    In `Path.events` variable j < d is a coefficient, d + i the multiplier of row i, and d + n the
    intercept.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of n labels, two classes
    lambda2 : float, >= 0
        The weight of a ridge; above 0 this is the doubly regularised SVM, and coefficients are
        piecewise linear in lambda.
    start, stop : float or None
        Values of lambda, as in `svc_path`.
    sample_weight, class_weight, intercept, max_events, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> path = chemin.l1_svc_path(scale(X), y, stop=20.0)
    >>> print(path.at(path.stop).support.size < 10, path.certificate(path.stop).exact)
    True True

    References
    ----------
    Zhu, Rosset, Hastie, Tibshirani (2003). 1-norm support vector machines. NIPS 16.
    Wang, Zhu, Zou (2006). The doubly regularized support vector machine. Statistica Sinica 16.
    """
    spec, walk = (
        make_spec("l1_svc", lambda2=lambda2, intercept=intercept),
        _walk(start, stop, max_events, verbose),
    )
    check_walk("l1_svc", spec, walk)
    points = check_matrix(X)
    weight = check_weights(sample_weight, len(points))
    names = column_names(X)
    data, signs = make_data("l1_svc", points, y, weight, None, class_weight, names=names)
    return walk_path("l1_svc", data, spec, target=signs, **walk)


def elastic_net_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    lambda2: float = 1.0,
    start: float | None = None,
    stop: float | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: bool = True,
    max_events: int | None = None,
    verbose: int = 0,
) -> Path:
    """Every solution of the elastic net while lambda1 moves, at a fixed lambda2.

        min  1/2 sum_i w_i (y_i - x_i'b - b0)^2 + lambda1 |b|_1 + lambda2/2 |b|^2

    In scikit-learn's units this is ElasticNet(alpha=(lambda1 + lambda2) / n,
    l1_ratio=lambda1 / (lambda1 + lambda2)): along the path both of them move.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of n numbers
    lambda2 : float, >= 0
        The weight of the ridge; 0 is the lasso.
    start, stop : float or None
        Values of lambda1, as in `svc_path`. `stop=0` goes to ridge regression.
    sample_weight, intercept, max_events, verbose : as in `svc_path`

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = chemin.elastic_net_path(X, y, lambda2=0.5, stop=0)
    >>> print(path.at(path.start).support.size, path.certificate(0.0).exact)
    0 True

    References
    ----------
    Zou, Hastie (2005). Regularization and variable selection via the elastic net. JRSS B 67.
    """
    spec = make_spec("elastic_net", lambda2=lambda2, intercept=intercept)
    walk = _walk(start, stop, max_events, verbose)
    check_walk("elastic_net", spec, walk)
    points = check_matrix(X)
    weight = check_weights(sample_weight, len(points))
    data, _ = make_data("elastic_net", points, y, weight, None, names=column_names(X))
    return walk_path("elastic_net", data, spec, **walk)


# ---------------------------------------------------------------------- shared


def _explain_separation(path: Path) -> Path:
    """At lambda = 0 a machine that has lost nothing separates the data: the path says so."""
    if path.parameter != "lambda":
        return path
    try:
        end = path.at(0.0)
    except ValueError:  # f grows for ever
        return path
    signs = np.where(path.y == np.asarray(path.classes_)[1], 1.0, -1.0)
    squared = float(end.coef @ (signs - end.intercept))  # |f|²: support vectors have y f = 1
    last = path.breakpoints.min(initial=path.start)
    return path._explained(
        f"the data are separated: from lambda = {last:.4g} down "
        f"nothing changes, and the margin is {1.0 / np.sqrt(squared):.4g}"
    )


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


def _walk(
    start: Any, stop: Any, max_events: Any, verbose: int, check_psd: bool = False
) -> dict[str, Any]:
    names = ("start", "stop", "max_events", "verbose", "check_psd")
    return dict(zip(names, (start, stop, max_events, verbose, check_psd)))


def _kernel_path(
    name: str,
    X: ArrayLike,
    y: ArrayLike,
    spec: dict[str, Any],
    similar: dict[str, Any],
    sample_weight: ArrayLike | None,
    walk: dict[str, Any],
    class_weight: Any = None,
) -> Path:
    """The path of a kernel machine: every check, then the walk."""
    check_walk(name, spec, walk)
    kernel, points, weight = _kernel_data(X, similar, sample_weight)
    kernel, names = nearby(name, spec, kernel, points), column_names(X)
    data, signs = make_data(name, points, y, weight, kernel, class_weight, names=names)
    return walk_path(name, data, spec, target=signs, **walk)


def _kernel_data(
    X: ArrayLike, similar: dict[str, Any], sample_weight: ArrayLike | None
) -> tuple[Kernel, Floats, Floats]:
    given = similar["kernel"]
    matrix = isinstance(given, str) and given == "precomputed"
    if isinstance(given, Kernel):
        points = given.points(X)
    elif matrix:
        points = check_matrix(X, MATRIX)
    else:
        points = (check_matrix if callable(given) else check_points)(X)
    weight = check_weights(sample_weight, points.shape[0])
    return make_kernel(**similar, X=points, sample_weight=weight), points, weight
