"""A family of paths: one model on subsets and weightings of the same rows."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property, partial
from inspect import Parameter, signature
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import api
from .._checks import (
    check_matrix,
    check_points,
    check_two_classes,
    check_weights,
    class_weights,
    frozen,
    sealed,
)
from ..data import Data
from ..engine import Reason
from ..kernels import DenseGram, Kernel, Precomputed, gathered, make_kernel
from ..path import Path
from ..problems import PROBLEMS, Problem
from ..problems.lasso import Products
from ..walk import check_walk, make_data, make_spec, nearby, walk_path
from .piecewise import Floats

KERNEL_OPTIONS = ("kernel", "gamma", "degree", "coef0")
WALK_OPTIONS = ("start", "stop", "max_events", "verbose", "check_psd")

ROOM = 2**28  # bytes of matrices that are kept for walks that go on

MANY = 64  # columns: of fewer, products take no time

LARGE = 800  # rows: with more, a walk to the default stop takes longer than what carries one on

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Given:
    """What a path is walked from."""

    rows: Rows
    X: Floats
    weight: Floats
    kernel: Kernel | None
    gram: Any  # an array or a Gram, where it is known
    walk: dict[str, Any]  # start, stop, ...


class Family:
    """What a criterion needs: paths of one model on any of the rows, and the kernel between rows.

    Models on different rows are compared at one value of the parameter, as scikit-learn compares
    them: C = 1/lambda, epsilon, nu, tau and cost are the same in all folds, and for the lasso
    alpha = lambda / (sum of the weights) is. Values are always those of the model on all rows.

    gamma="scale" is settled for each model from its own rows, counted by their weights. Any other
    kernel is one for all: its matrix is computed once, on all rows, and a model on part of the rows
    reads part of it. A linear kernel on many points has no need of one.

    Parameters
    ----------
    model : callable or str
        A path function, such as `chemin.svc_path`, or the name of its problem, such as "svc".
    X, y, sample_weight : as the path function takes them
        Rows of weight 0 take no part, neither in training nor in testing.
    **options
        The other arguments of the path function. `start` and `stop` are the ends of all paths of
        the family; the default stop is that of the path on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> family = Family(chemin.lasso_path, *load_diabetes(return_X_y=True))
    >>> family.path.parameter
    'lambda'
    """

    on_graph: ClassVar[bool] = False  # whether points are those of a graph

    def __init__(
        self,
        model: Callable[..., Path] | str,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        self.name, settled = _problem_of(model)
        if self.problem.on_graph and not self.on_graph:
            raise ValueError(
                f"{self.name} needs the graph of its points: take chemin.selection.GraphFamily"
            )
        options = settled | options
        similar = _taken(options, KERNEL_OPTIONS) if self.problem.has_kernel else {}
        self.options: dict[str, Any] = {"start": None, "stop": None, "max_events": None}
        self.options |= _taken(options, WALK_OPTIONS)
        self.class_weight = options.pop("class_weight", None) if self.classifier else None
        self.spec = make_spec(self.name, **options)
        check_walk(self.name, self.spec, self.options)
        given = similar.get("kernel", "rbf")
        label = "K" if isinstance(given, str) and given == "precomputed" else "X"
        if isinstance(given, Kernel):
            self.X = given.points(X)
        else:
            by_name = self.problem.has_kernel and label == "X" and not callable(given)
            self.X = (check_points if by_name else check_matrix)(X, label)
        self.y = y if isinstance(y, np.ndarray) else np.asarray(y)
        if len(self.y) != len(self):
            raise ValueError(f"y has {len(self.y)} entries, but {label} has {len(self)} rows")
        self.weight = check_weights(sample_weight, len(self))
        self.names: tuple[str, ...] | None = None  # of the columns of X, for its paths
        self.walk_on = False  # without a stop, criteria walk on until the minimum lies inside
        self._kept: dict[Any, Floats] = {}  # matrices of folds, for walks that go on
        self._similar = similar
        self.kernel: Kernel | None = None
        if self.problem.has_kernel:
            made = make_kernel(**similar, X=self.X, sample_weight=self.weight)
            self.kernel = nearby(self.name, self.spec, made, self.X)
        if not isinstance(self.kernel, Precomputed):
            self.X = frozen(self.X)  # all paths share it

    @property
    def problem(self) -> type[Problem]:
        """What is solved."""
        return PROBLEMS[self.name]

    @property
    def classifier(self) -> bool:
        """Whether y are labels."""
        return self.problem.target == "labels"

    @property
    def in_stages(self) -> bool:
        """Whether paths are walked a little at a time, until it is seen where the minimum is."""
        moving = self.spec.get("along", "lambda") == "lambda"
        walks = self.walk_on and self.stop is None and moving and not self.problem.closed
        return walks and self.problem.has_kernel and self._rows_of_a_path >= LARGE

    @property
    def _rows_of_a_path(self) -> int:
        return len(self)

    @property
    def stop(self) -> float | None:
        """Where all paths end, if that was said."""
        return self.options["stop"]

    @cached_property
    def straight(self) -> bool:
        """Whether f of a classifier is affine in 1/lambda between events."""
        two = np.array([1.0, -1.0])
        make: Any = self.problem
        return make(DenseGram(np.eye(2)), two, np.ones(2), **self.spec).system.soft is None

    @cached_property
    def cost(self) -> Floats:
        """What an error on each row costs in training: its weight and that of its class."""
        if self.class_weight is None:
            return self.weight
        signs, classes = check_two_classes(self.y)
        return class_weights(self.class_weight, signs, classes, self.weight)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        kernel = "" if self.kernel is None else f", {self.kernel!r}"
        return f"<Family of {self.name}: {self.X.shape[0]} x {self.X.shape[1]} data{kernel}>"

    @cached_property
    def gram(self) -> Floats:
        assert self.kernel is not None
        return np.ascontiguousarray(self.kernel.gram(self.X))

    @cached_property
    def whole(self) -> DenseGram:
        """The kernel matrix of all rows, with what is known of it."""
        return DenseGram(self.gram)

    @cached_property
    def without_gram(self) -> bool:
        """Whether paths are walked without a kernel matrix."""
        if self.kernel is None or self.kernel.sparse_factor(self.X) is not None:
            return True
        return self.kernel.factor(self.X) is not None

    def at(self, **given: float) -> Family:
        """The same family at other values of what does not move; it shares the kernel matrix."""
        self.prepare()
        other = copy(self)
        vars(other).pop("path", None)
        other.options = dict(self.options)
        other.spec = make_spec(self.name, **(self.spec | given))
        return other

    @cached_property
    def products(self) -> Products | None:
        """X'X on all rows, where folds can share it and it is worth it."""
        n, p = self.X.shape
        if not (self.problem.shares_products and self.spec["intercept"] and MANY <= p <= n):
            return None
        return Products(self.X, self.weight)

    def know_gram(self, gram: Floats) -> None:
        """Take a kernel matrix that was computed elsewhere."""
        vars(self)["gram"] = gram
        vars(self).pop("whole", None)

    def prepare(self) -> None:
        """Compute what all paths share, before several workers ask for it."""
        if not self.without_gram:
            _ = self.gram
        _ = self.products

    @property
    def used(self) -> Rows:
        """Rows with a positive weight."""
        return np.flatnonzero(self.weight > 0)

    # ------------------------------------------------------------------ paths

    @cached_property
    def path(self) -> Path:
        """The path on all rows."""
        return self.walk(None)

    @property
    def known_path(self) -> Path | None:
        """The path on all rows, if it has been walked."""
        return vars(self).get("path")

    def remember(self, path: Path) -> None:
        """Keep the path on all rows, which was walked elsewhere."""
        vars(self)["path"] = path

    def walk(self, rows: Rows | None, weight: Floats | None = None, **options: Any) -> Path:
        """The path on some rows (None: all), whose own weights are multiplied by `weight`.

        Its parameter is its own (see `share`); start and stop are values of the family. With
        `onward`, what `Path.state` gave of the path on the same rows, the walk carries on there.
        """
        given = self._given(rows, weight, self.options | options)
        data, signs = make_data(
            self.name,
            given.X,
            self.y[given.rows],
            given.weight,
            given.kernel,
            self.class_weight,
            names=self.names,
        )
        return self._walked(data, signs, given)

    def _given(self, rows: Rows | None, weight: Floats | None, walk: dict[str, Any]) -> Given:
        """What a path on some rows (None: all) is walked from."""
        if rows is None:
            rows = np.arange(len(self))
            X, K, kernel = self.X, None if self.without_gram else self.whole, self.kernel
        else:
            walk["verbose"] = 0  # many at once: progress is shown for the path on all rows
            share = self.share(rows, weight)
            walk |= {end: _times(walk[end], share) for end in ("start", "stop")}
            X, kernel = sealed(self.X[rows]), self.kernel_on(rows, weight)
            K = None if self.without_gram else self._gram_on(rows, weight, X, kernel)
        if K is not None and isinstance(kernel, Precomputed):
            X = K.matrix
        gram: Any = K
        if weight is None and self.products is not None:
            gram = self.products.among(rows)
        return Given(rows, X, self._weights(rows, weight), kernel, gram, walk)

    def _gram_on(self, rows: Rows, weight: Floats | None, X: Any, kernel: Any) -> DenseGram:
        """The kernel matrix of the path on some rows."""

        def make() -> DenseGram:
            return self.whole.among(rows) if kernel == self.kernel else DenseGram(kernel.gram(X))

        return self._remembered(_key("gram", rows, weight), make)

    def _remembered(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives; where walks go on it is kept for the next time, while there is room.

        Workers in other processes have none of it.
        """
        if not self.walk_on:
            return make()
        if key not in self._kept:
            new = make()
            if new.nbytes + sum(known.nbytes for known in list(self._kept.values())) > ROOM:
                return new
            self._kept[key] = new
        return self._kept[key]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_kept": {}}

    def _walked(self, data: Data, signs: Floats | None, given: Given) -> Path:
        part = self._part(data.weight)
        spec = self.spec | {name: part * self.spec[name] for name in self.problem.also_per_row}
        path = walk_path(self.name, data, spec, target=signs, gram=given.gram, **given.walk)
        if path.reason == Reason.INTERRUPTED.value:  # a choice from part of the paths is none
            raise KeyboardInterrupt
        return path

    def _weights(self, rows: Rows, weight: Floats | None) -> Floats:
        return self.weight[rows] if weight is None else weight * self.weight[rows]

    def share(self, rows: Rows, weight: Floats | None = None) -> float:
        """A value of the family times this is the value of the path on some rows."""
        return self._part(self._weights(rows, weight))

    def _part(self, weight: Floats) -> float:
        """Which part of all weights some rows have, where that matters."""
        return float(weight.sum() / self.weight.sum()) if self.problem.per_row else 1.0

    def kernel_on(self, rows: Rows, weight: Floats | None = None) -> Kernel | None:
        """The kernel of the path on some rows: gamma="scale" is taken from them."""
        given = isinstance(self._similar.get("kernel"), Kernel)
        if self.kernel is None or given or self._similar.get("gamma", "scale") != "scale":
            return self.kernel
        weights = self._weights(rows, weight)
        kernel = make_kernel(**self._similar, X=self.X[rows], sample_weight=weights)
        return nearby(self.name, self.spec, kernel, self.X)

    def cross(self, rows: Rows, test: Rows, weight: Floats | None = None) -> Floats:
        """What `Path.segments` takes: the kernel between rows and test points."""
        kernel = self.kernel_on(rows, weight)
        if kernel is None:
            return np.ascontiguousarray(self.X[test].T)
        if self.without_gram:
            return kernel.cross(self.X[rows], self.X[test])

        def make() -> Floats:
            if kernel == self.kernel:
                return gathered(self.gram, rows, test)[0]
            return kernel.cross(self.X[rows], self.X[test])

        return cast(Floats, self._remembered(_key("cross", rows, weight, test), make))

    def own(self, test: Rows) -> Floats | None:
        """The kernel of each test point and itself, where it is known to be an inner product."""
        return None if self.kernel is None else self.kernel.own(self.X[test])

    def inputs(self, rows: Rows, test: Rows) -> Floats:
        """The test points as the path on these rows takes them."""
        if isinstance(self.kernel, Precomputed):
            return gathered(self.gram, test, rows)[0]
        return self.X[test]


def _problem_of(model: Any) -> tuple[str, dict[str, Any]]:
    """The name of a problem, and the arguments that a partial path function has settled."""
    if isinstance(model, partial) and not model.args:
        name, inner = _problem_of(model.func)
        return name, inner | model.keywords
    name = model if isinstance(model, str) else getattr(model, "__name__", "")
    name = name.removesuffix("_path")
    function = getattr(api, f"{name}_path", None)
    if name not in PROBLEMS or not (isinstance(model, str) or function is model):
        raise ValueError(
            "model must be a path function of chemin or the name of a problem "
            f"({', '.join(PROBLEMS)}), got {model!r}"
        )
    return name, dict(_defaults_of(function, tuple(PROBLEMS[name].defaults())))


@cache
def _defaults_of(function: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """What a path function settles where nothing is given; problems may have other defaults.

    None settles nothing: the function works such a value out for itself.
    """
    known = {} if function is None else signature(function).parameters
    settled = {k: known[k].default for k in names if k in known}
    return {k: v for k, v in settled.items() if v is not None and v is not Parameter.empty}


def _key(name: str, *parts: NDArray[Any] | None) -> tuple[Any, ...]:
    return (name, *(None if part is None else part.tobytes() for part in parts))


def _times(value: float | None, share: float) -> float | None:
    return None if value is None else share * value


def _taken(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those of the options, which are removed from the rest."""
    return {name: options.pop(name) for name in names if name in options}


__all__ = ["Family"]
