"""One walk: from checked data and a problem to its `Path`. The public functions and the families
of paths both come here.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import (
    check_fraction,
    check_positive,
    check_start_stop,
    check_target,
    check_two_classes,
    class_weights,
)
from .engine import IndefiniteError, audited, follow
from .kernels import DenseGram, Kernel
from .path import Data, Path, make_problem
from .problems import PROBLEMS
from .problems.staircase import Floats


def make_spec(name: str, **given: Any) -> dict[str, Any]:
    """What makes a problem, checked, with defaults for what is not given."""
    problem = PROBLEMS[name]
    defaults = problem.defaults()
    unknown = sorted(set(given) - set(defaults))
    if unknown:
        raise TypeError(f"{name} has no argument {unknown[0]!r}, only {', '.join(defaults)}")
    spec = defaults | given
    if "along" in spec and spec["along"] not in problem.along:
        known = " or ".join(map(repr, problem.along))
        raise ValueError(f"along must be {known}, got {spec['along']!r}")
    if "lambda_" in spec:
        spec["lambda_"] = check_positive(spec["lambda_"], "lambda_")
    for key, parameter in problem.parameters.items():
        spec[key] = _check_place(spec[key], key, parameter.lies)
    if not isinstance(spec["intercept"], (bool, np.bool_)):
        raise ValueError(f"intercept must be True or False, got {spec['intercept']!r}")
    return spec | {"intercept": bool(spec["intercept"])}


def _check_place(value: Any, name: str, lies: str) -> float:
    """The value as a number, in the range where the parameter lies; see `problems.Parameter`."""
    if lies == "fraction":
        return check_fraction(value, name)
    number = check_positive(value, name, zero=lies == "not negative", inf=lies == "up to infinity")
    if lies == "inside" and not number < 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, both excluded, got {value!r}")
    return number


def make_data(
    name: str,
    X: Floats,
    y: ArrayLike,
    weight: Floats,
    kernel: Kernel | None,
    class_weight: Any = None,
) -> tuple[Data, Floats | None]:
    """The data of a path with its targets checked, and the signs of labels (None: numbers)."""
    if PROBLEMS[name].target == "labels":
        signs, classes = check_two_classes(y, len(X))
        weight = class_weights(class_weight, signs, classes, weight)
        labels = np.asarray(classes)[(signs > 0).astype(np.intp)]
        return Data(X, labels, weight, kernel, classes), signs
    target = check_target(y, len(X))
    check_target(target[weight > 0], int((weight > 0).sum()))
    return Data(X, target, weight, kernel, None), None


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
    gram: Floats | None = None,
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
    gram : array of shape (n, n) or None
        The kernel matrix of all rows, where it is known already.
    """
    start, stop = check_walk(name, spec, {"start": start, "stop": stop, "max_events": max_events})
    problem = make_problem(name, data, target, spec, gram)
    _check_kernel_matrix(problem, data, check_psd)
    if problem.default_range is not None:
        start, stop = (d if v is None else v for v, d in zip((start, stop), problem.default_range))
    begin, end = (None if v is None else v / problem.unit for v in (start, stop))
    try:
        trace = follow(
            problem.system,
            problem.start(start),
            begin=begin,
            stop=end,
            max_events=max_events,
            verbose=verbose,
        )
    except IndefiniteError as error:
        raise ValueError(_indefinite(f"a negative pivot at row {error.variable}")) from None
    return Path(problem, audited(problem, trace, end, max_events), data)


def check_walk(
    name: str, spec: dict[str, Any], walk: dict[str, Any]
) -> tuple[float | None, float | None]:
    """start and stop, checked as max_events is. The stop of a "fraction" may be 0, as a limit."""
    start, stop = check_start_stop(walk["start"], walk["stop"])
    max_events = walk["max_events"]
    if start is not None and stop is not None and start == stop:
        raise ValueError(f"start and stop are both {start:g}: there is nothing to walk")
    whole = isinstance(max_events, Integral) and not isinstance(max_events, bool)
    if max_events is not None and (not whole or max_events < 1):
        raise ValueError(f"max_events must be a whole number from 1, or None, got {max_events!r}")
    moving = PROBLEMS[name].parameters.get(spec.get("along", "lambda"))
    if moving is not None and moving.lies in ("fraction", "inside"):
        if start is not None:
            _check_place(start, "start", moving.lies)
        if stop or (stop is not None and moving.lies == "inside"):
            _check_place(stop, "stop", moving.lies)
    return start, stop


# ---------------------------------------------------------------------- kernel matrices


def _check_kernel_matrix(problem: Any, data: Data, check_psd: bool) -> None:
    gram = problem.system.coupling.gram
    if data.kernel is None or not isinstance(gram, DenseGram):
        return  # Z Z' has no negative eigenvalue
    _refuse_large_entries(gram.matrix)
    if check_psd:
        _refuse_indefinite(gram.matrix)


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


__all__ = ["check_walk", "make_data", "make_spec", "walk_path"]
