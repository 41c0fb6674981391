"""One walk: from checked data and a problem to its `Path`. The public functions and the families
of paths both come here.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import (
    LARGEST,
    MATRIX,
    SMALLEST,
    check_columns_scale,
    check_count,
    check_flag,
    check_fraction,
    check_inside,
    check_level,
    check_partly_labelled,
    check_positive,
    check_scale,
    check_size,
    check_start_stop,
    check_target,
    check_two_classes,
    check_walk_memory,
    class_weights,
    is_word,
)
from .closed import closed_trace
from .data import Data, gram_of, make_problem
from .engine import IndefiniteError, audited, carry_on, follow
from .kernels import DenseGram, Gram, Kernel
from .path import Path
from .problems import PROBLEMS, Problem
from .problems.staircase import Floats

# What round-off may add to entries of a kernel matrix, as a part of the largest.
IMPOSSIBLE = 1e-8


def make_spec(name: str, **given: Any) -> dict[str, Any]:
    """What makes a problem, checked, with defaults for what is not given."""
    problem = PROBLEMS[name]
    defaults = problem.defaults()
    unknown = sorted(set(given) - set(defaults))
    if unknown:
        raise TypeError(f"{name} has no argument {unknown[0]!r}, only {', '.join(defaults)}")
    spec = defaults | given
    if "along" in spec and not is_word(spec["along"], problem.along):
        known = " or ".join(map(repr, problem.along))
        raise ValueError(f"along must be {known}, got {spec['along']!r}")
    if "lambda_" in spec:
        spec["lambda_"] = check_size(check_positive(spec["lambda_"], "lambda_"), "lambda_")
    for key, parameter in problem.parameters.items():
        spec[key] = _check_place(spec[key], key, parameter.lies)
    flags = [key for key, default in defaults.items() if isinstance(default, bool)]
    return spec | {key: check_flag(spec[key], key) for key in flags}


def _check_place(value: Any, name: str, lies: str) -> float:
    """The value as a number, in the range where the parameter lies; see `problems.Parameter`."""
    if lies == "fraction":
        return check_size(check_fraction(value, name), name)
    if lies == "inside":
        return check_size(check_inside(value, name), name)
    if lies == "up to infinity":
        number = check_positive(value, name, inf=True)
        return number if np.isinf(number) else check_size(number, name)
    zero = lies == "not negative"
    return check_size(check_positive(value, name, zero=zero), name, 0.0 if zero else SMALLEST)


def nearby(name: str, spec: dict[str, Any], kernel: Kernel, X: Any) -> Kernel:
    """The kernel, its points seen from nearer by where an intercept takes up the difference."""
    return kernel.about(X) if PROBLEMS[name].free_intercept and spec["intercept"] else kernel


def make_data(
    name: str,
    X: Floats,
    y: ArrayLike,
    weight: Floats,
    kernel: Kernel | None,
    class_weight: Any = None,
    laplacian: Any = None,
    names: tuple[str, ...] | None = None,
) -> tuple[Data, Floats | None]:
    """The data of a path with its targets checked, and the signs of labels (None: numbers).

    On a graph, given by its Laplacian, rows may have no label: their weight is 0.
    """
    if laplacian is not None:
        labels, known = check_partly_labelled(y, X.shape[0])
        known, signs = known & (weight > 0), np.zeros(X.shape[0])
        signs[known], classes = check_two_classes(labels[known], takes_several="SparseLaplacianSVC")
        weight = np.where(known, weight, 0.0)
        weight[known] = class_weights(class_weight, signs[known], classes, weight[known])
        return Data(X, labels, weight, kernel, classes, laplacian), signs
    if PROBLEMS[name].target == "labels":
        signs, classes = check_two_classes(y, X.shape[0])
        weight = class_weights(class_weight, signs, classes, weight)
        labels = np.asarray(classes)[(signs > 0).astype(np.intp)]
        return Data(X, labels, weight, kernel, classes, names=names), signs
    target = check_target(y, X.shape[0])
    used = weight > 0
    if not used.all():
        check_target(target[used], int(used.sum()))
    return Data(X, target, weight, kernel, None, names=names), None


def walk_path(
    name: str,
    data: Data,
    spec: dict[str, Any],
    *,
    target: Floats | None = None,
    start: float | None = None,
    stop: float | None = None,
    max_events: int | None = None,
    verbose: int = 0,
    check_psd: bool = False,
    gram: Any = None,
    onward: Any = None,
    reach: float | None = None,
) -> Path:
    """Walk the path of one problem.

    Parameters
    ----------
    name : str
        Of the problem, one of `PROBLEMS`.
    data : Data
        What the path is computed from, checked.
    spec : dict
        What besides the data makes the problem; see `make_spec`.
    target : array of shape (n,) or None
        The signs -1 and 1 of labels. None: the targets of the data.
    start, stop, max_events, verbose, check_psd : as in `chemin.svc_path`
    gram : array of shape (n, n), Gram or None
        The kernel matrix of all rows, where it is known already; that of a graph is taken as it is.
        Of the lasso: that of the centred columns.
    onward : tuple or None
        What `Path.state` gave of a path of the same problem: the walk carries on there.
    reach : float or None
        Without a stop the walk ends at this part of the start; None: where paths do by default.
    """
    start, stop = check_walk(name, spec, {"start": start, "stop": stop, "max_events": max_events})
    if data.kernel is None:
        check_columns_scale(data.X)
        K: Gram | None = gram  # X'X of centred columns, where it is known
    else:
        if data.kernel.name != "precomputed":
            check_scale(data.X, "X")
        if gram is None or type(gram) in (np.ndarray, DenseGram):
            gram = gram_of(data, data.kernel, gram)
        K = gram
        _check_kernel_matrix(K, data.kernel, check_psd)
        if isinstance(K, DenseGram):
            check_walk_memory(len(K), MATRIX if data.kernel.name == "precomputed" else "X")
    problem = make_problem(name, data, target, spec, K)
    if problem.default_range is not None:
        start, stop = (d if v is None else v for v, d in zip((start, stop), problem.default_range))
    begin, end = (None if v is None else v / problem.unit for v in (start, stop))
    _check_ends(begin, end, problem.unit)
    if problem.closed:
        trace = closed_trace(problem, (begin, end), max_events=max_events, verbose=verbose)
        return Path(problem, trace, data)
    if onward is None:
        walk = partial(follow, problem.system, problem.start(start), begin=begin)
        walk = walk if reach is None else partial(walk, reach=reach)
    else:
        walk = partial(carry_on, problem.system, *onward)
    try:
        trace = audited(problem, walk, stop=end, max_events=max_events, verbose=verbose)
    except IndefiniteError as error:
        raise ValueError(_indefinite(_pivot(problem, data, error.variable))) from None
    return Path(problem, trace, data)


def stretched(path: Path, stop: float, verbose: int = 0) -> tuple[Path, Path]:
    """A path carried on to a smaller stop, and what was added to it alone."""
    problem, trace, data = path.problem, path._trace, path._data
    stair, z, t = trace.last
    walk = partial(carry_on, problem.system, stair, z, t)
    more = audited(problem, walk, stop=stop / problem.unit, verbose=verbose)
    whole = trace.then(more) if len(more.moves) else replace(trace, end=more.end)
    return Path(problem, whole, data), Path(problem, more, data)


def check_walk(
    name: str, spec: dict[str, Any], walk: dict[str, Any]
) -> tuple[float | None, float | None]:
    """start and stop, checked as max_events is. The stop of a "fraction" may be 0, as a limit."""
    start, stop = check_start_stop(walk["start"], walk["stop"])
    check_count(walk["max_events"], "max_events")
    check_flag(walk.get("check_psd", False), "check_psd")
    check_level(walk.get("verbose", 0), "verbose")
    if start is not None and stop is not None and start == stop:
        raise ValueError(f"start and stop are both {start:g}: there is nothing to walk")
    moving = PROBLEMS[name].parameters.get(spec.get("along", "lambda"))
    if moving is not None and moving.lies in ("fraction", "inside"):
        if start is not None:
            _check_place(start, "start", moving.lies)
        if stop or (stop is not None and moving.lies == "inside"):
            _check_place(stop, "stop", moving.lies)
    return start, stop


def _check_ends(begin: float | None, end: float | None, unit: float) -> None:
    """Ends of a walk, in units of its problem. A stop may be as small as it likes."""
    for name, t, least in (("start", begin, SMALLEST), ("stop", end, 0.0)):
        if t is not None and not least <= t <= LARGEST:
            raise ValueError(
                f"{name} must lie between {least * unit:.3g} and {LARGEST * unit:.3g} for these "
                f"data, got {t * unit:.3g}"
            )


# ---------------------------------------------------------------------- kernel matrices


def _check_kernel_matrix(gram: Gram, kernel: Kernel, check_psd: bool) -> None:
    if isinstance(gram, DenseGram):  # Z Z' has no negative eigenvalue
        _refuse_impossible_entries(gram)
    check_scale(gram.diagonal(), f"the kernel matrix of X ({kernel!r})")
    if check_psd and isinstance(gram, DenseGram):
        _refuse_indefinite(gram.matrix)


def _refuse_impossible_entries(gram: DenseGram) -> None:
    """No entry of a positive semi-definite matrix is larger than the largest of its diagonal, on
    which nothing is negative.
    """
    least, most = gram.extremes
    largest, diagonal = max(most, -least), gram.diagonal()
    if float(diagonal.min()) < -IMPOSSIBLE * largest:
        raise ValueError(_indefinite(f"it has {float(diagonal.min()):.6g} on its diagonal"))
    if largest > float(diagonal.max()) * (1 + IMPOSSIBLE):
        how = (
            f"it has an entry of size {largest:.6g}, more than {float(diagonal.max()):.6g} on its "
            "diagonal"
        )
        raise ValueError(_indefinite(how))


def _refuse_indefinite(K: Floats) -> None:
    lowest = np.linalg.eigvalsh(K)
    if lowest[0] < -1e-10 * len(K) * abs(lowest[-1]):
        raise ValueError(_indefinite(f"its smallest eigenvalue is {lowest[0]:.3g}"))


def _pivot(problem: Problem, data: Data, variable: int) -> str:
    """Which of the user's rows a variable belongs to; an unpenalised term belongs to none."""
    index = problem.system.coupling.index
    at = f" at row {data.used[index[variable]]}" if variable < len(index) else ""
    return f"a negative pivot{at}"


def _indefinite(how: str) -> str:
    return (
        f"the kernel matrix is not positive semi-definite ({how}): a path needs a kernel that is, "
        "such as 'rbf', 'poly' with coef0 >= 0 or 'linear'"
    )


__all__ = ["check_walk", "make_data", "make_spec", "nearby", "stretched", "walk_path"]
