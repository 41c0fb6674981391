"""The kernels with a name, as in scikit-learn: inner products and distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import comb
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from scipy.special import gammaln
from sklearn.preprocessing import PolynomialFeatures

from chemin._checks import (
    Array,
    check_array_memory,
    check_gram,
    check_matrix,
    check_number,
    check_points,
    check_positive,
)
from chemin.kernels._blocks import (
    BLOCK_ROWS,
    Writer,
    distinct_rows,
    fill_symmetric,
    repeat_in_place,
)
from chemin.kernels._compare import is_kernel
from chemin.kernels._kernel import BlockKernel, same_features

DIRECT_ABOVE = 256.0
"""Largest gamma |x - mean|² for which squared distances may come from a matrix product. Their
error is about eps (|x|² + |x'|²), so that of exp(-gamma d²) stays below 4 eps 256 = 2e-13. Above,
differences are taken coordinate by coordinate: exact to the last digits, and slower."""


NARROW = 8
"""With at least so many points to a feature, products with X cost far less than with X X': an
entry costs d products then, but no more than d + 1 variables are ever free."""


LARGE = 2**30
"""Bytes of a kernel matrix from which on a sparse factor takes its place. Below, a walk that reads
entries is quicker than one that computes them."""

SPARSE = 8
"""Entries for one that is not 0, at least, in a sparse factor."""

FAR = 8.0
"""Times the spread of a column, as a power of two: origins are whole multiples of it. Points that
are no further from 0 stay as they are, whole numbers stay whole, and differences are exact."""


def narrow(width: int, n: int) -> bool:
    """Whether a factor of so many columns is worth using for n points."""
    return NARROW * width <= n


def _products(A: Any, B: Any, finish: Callable[[Array], object] | None = None) -> Writer:
    """Write x'x' by matrix product, then `finish` the block in place."""

    def write(rows: slice, columns: slice, out: Array) -> None:
        if issparse(A):
            out[...] = (A[rows] @ B[columns].T).toarray()
        else:
            np.matmul(A[rows], B[columns].T, out=out)
        if finish is not None:
            finish(out)

    return write


def _distances(A: Any, B: Any, metric: str, gamma: float) -> Writer:
    """Write exp(-gamma d(x, x')), d by coordinate; of sparse points some rows are dense at once."""
    step = BLOCK_ROWS if issparse(A) else max(B.shape[0], 1)

    def write(rows: slice, columns: slice, out: Array) -> None:
        left = dense(A[rows])
        for a in range(columns.start, columns.stop, step):
            b = min(a + step, columns.stop)
            part = out[:, a - columns.start : b - columns.start]
            np.multiply(cdist(left, dense(B[a:b]), metric), -gamma, out=part)
        np.exp(out, out=out)

    return write


def dense(X: Any) -> Array:
    """Return points as an array."""
    return X.toarray() if issparse(X) else X


@dataclass(frozen=True)
class Linear(BlockKernel):
    """The inner product.

        k(x, x') = (x - origin)'(x' - origin)

    Parameters
    ----------
    origin : sequence of d numbers, or none
        None: 0. With an intercept it changes nothing but round-off, which grows with the square of
        the distance: paths choose it by themselves where points are far from 0. Whoever has chosen
        it, intercepts are those of f(x) = x'w + intercept, not of the sum of coef_i k(x_i, x).
    """

    name: ClassVar[str] = "linear"
    takes_sparse: ClassVar[bool] = True
    origin: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        origin = () if self.origin is None else np.asarray(self.origin, dtype=np.float64)
        object.__setattr__(self, "origin", tuple(np.ravel(origin).tolist()))

    def spec(self) -> dict[str, Any]:
        """Return the name, and the origin where there is one."""
        return {key: value for key, value in super().spec().items() if value != ()}

    def seen(self, X: Any) -> Any:
        """Return points as the origin sees them.

        Parameters
        ----------
        X : array of shape (n, d)
        """
        if not self.origin:
            return X
        if X.shape[1] != len(self.origin):
            raise ValueError(
                f"X has {X.shape[1]} columns, but origin has {len(self.origin)} entries."
            )
        return dense(X) - self.origin

    def weights(self, X: Any, coef: Array) -> Array:
        """Return w of f(x) = x'w + intercept, one column for each column of coef.

        Parameters
        ----------
        X : array of shape (n, d)
        coef : array of shape (n, k)
        """
        return np.asarray(self.seen(X).T @ coef)

    def about(self, X: Any) -> Linear:
        if self.origin or issparse(X):  # seen from elsewhere, sparse points would be dense
            return self
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mean = X.mean(axis=0)
            spread = np.abs(X - mean).max(axis=0)
            step = np.exp2(np.ceil(np.log2(FAR * spread)))
            origin = np.where(spread > 0, np.round(mean / step) * step, X[0])
        return Linear(origin) if origin.any() and np.all(np.isfinite(origin)) else self

    def lift(self, X: Any, coef: Array) -> Any:
        return np.array(self.origin) @ self.weights(X, coef) if self.origin else 0.0

    def _writer(self, A: Any, B: Any) -> Writer:
        return _products(self.seen(A), self.seen(B))

    def factor(self, X: Any) -> Array | None:
        if not narrow(X.shape[1], X.shape[0]):
            return None
        Z = dense(self.seen(X))  # an eighth of the kernel matrix, at most
        return Z if np.isfinite(np.einsum("ij,ij->", Z, Z)) else None

    def sparse_factor(self, X: Any) -> Any:
        n, d = X.shape
        worth = issparse(X) and 8 * n * n > LARGE and 0 < SPARSE * X.nnz <= n * d
        return X if worth and not self.origin and np.isfinite(X.data @ X.data) else None

    def combine(self, X_new: Any, X: Any, coef: Array) -> Array:
        X_new, X = same_features(X_new, X)
        return self.seen(X_new) @ self.weights(X, coef)


@dataclass(frozen=True)
class Polynomial(BlockKernel):
    """Monomials up to a degree; of that degree only when coef0 = 0.

        k(x, x') = (gamma x'x + coef0)^degree

    Parameters
    ----------
    gamma : float > 0
    degree : int >= 1
    coef0 : float
        Positive semi-definite for coef0 >= 0.
    """

    name: ClassVar[str] = "poly"
    takes_sparse: ClassVar[bool] = True
    gamma: float
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive(self.gamma, "gamma"))
        object.__setattr__(self, "degree", check_degree(self.degree))
        object.__setattr__(self, "coef0", check_number(self.coef0, "coef0"))

    def _writer(self, A: Any, B: Any) -> Writer:
        return _products(self.gamma * A, B, self._finish)

    def _finish(self, block: Array) -> None:
        block += self.coef0
        base = block.copy()
        # Squaring, and one factor more for each further binary digit: far faster than pow.
        for digit in bin(self.degree)[3:]:
            np.multiply(block, block, out=block)
            if digit == "1":
                block *= base

    def n_features(self, d: int) -> int:
        """Return how many monomials the kernel has: the dimension of `feature_map`.

        Parameters
        ----------
        d : int
            The number of columns of X.

        Examples
        --------
        >>> Polynomial(gamma=1.0, degree=5).n_features(10)
        2002
        """
        return comb(d + self.degree - (self.coef0 == 0), self.degree)

    def feature_map(self, X: Any) -> Array:
        """Return phi with k(x, x') = phi(x)'phi(x'), one column a monomial x^a, a >= 0:

            phi_a(x) = sqrt(degree! / (a! (degree - |a|)!) gamma^|a| coef0^(degree - |a|)) x^a

        over `|a| <= degree`, and `|a| = degree` where coef0 = 0.

        Parameters
        ----------
        X : array-like of shape (n, d)
        """
        points = check_matrix(X)
        if self.coef0 < 0:
            raise ValueError(f"coef0 must be >= 0 for a feature map, got {self.coef0:g}.")
        n, d = points.shape
        check_array_memory(n, self.n_features(d), "the feature map of X")
        least = self.degree if self.coef0 == 0 else 0
        monomials = PolynomialFeatures((least, self.degree), include_bias=least == 0).fit(points)
        powers = monomials.powers_
        total = powers.sum(axis=1)
        log_size = gammaln(self.degree + 1) - gammaln(powers + 1).sum(axis=1)
        log_size -= gammaln(self.degree - total + 1)
        size = np.exp(log_size) * self.gamma**total * self.coef0 ** (self.degree - total)
        features: Array = monomials.transform(points)
        return features * np.sqrt(size)


@dataclass(frozen=True, eq=False, repr=False)
class Bilinear(BlockKernel):
    """A weighted inner product.

        k(x, x') = x'B x'

    Parameters
    ----------
    B : array of shape (d, d)
        Symmetric and positive semi-definite.
    """

    name: ClassVar[str] = "bilinear"
    B: Any

    def __post_init__(self) -> None:
        B = check_gram(self.B, "B")
        found = is_kernel(B)
        if not found:
            raise ValueError(
                f"B must be positive semi-definite, but its smallest eigenvalue is "
                f"{found.smallest:.3g} and its largest {found.largest:.3g}."
            )
        object.__setattr__(self, "B", B)
        values, vectors = np.linalg.eigh(B)
        object.__setattr__(self, "_root", vectors * np.sqrt(np.maximum(values, 0.0)))

    def _features(self, X: Array, name: str = "X") -> Array:
        root: Array = self._root  # type: ignore[attr-defined]
        if X.shape[1] != len(root):
            raise ValueError(
                f"{name} has {X.shape[1]} columns, but B has shape {self.B.shape}, expected as "
                "many rows as X has columns."
            )
        return X @ root

    def _writer(self, A: Array, B: Array) -> Writer:
        return _products(self._features(A), self._features(B))

    def factor(self, X: Array) -> Array | None:
        return Linear().factor(self._features(X))

    def __repr__(self) -> str:
        return f"Bilinear(B of shape {self.B.shape})"


@dataclass(frozen=True)
class Sigmoid(BlockKernel):
    """The hyperbolic tangent, which in general is not positive semi-definite.

        k(x, x') = tanh(gamma x'x + coef0)

    Parameters
    ----------
    gamma : float > 0
    coef0 : float
    """

    name: ClassVar[str] = "sigmoid"
    takes_sparse: ClassVar[bool] = True
    gamma: float
    coef0: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive(self.gamma, "gamma"))
        object.__setattr__(self, "coef0", check_number(self.coef0, "coef0"))

    def _writer(self, A: Any, B: Any) -> Writer:
        return _products(self.gamma * A, B, self._finish)

    def _finish(self, block: Array) -> None:
        block += self.coef0
        np.tanh(block, out=block)


@dataclass(frozen=True)
class RBF(BlockKernel):
    """The Gaussian.

        k(x, x') = exp(-gamma |x - x'|²)

    Parameters
    ----------
    gamma : float > 0
        1 / (2 s²) for a width s.
    """

    name: ClassVar[str] = "rbf"
    takes_sparse: ClassVar[bool] = True
    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive(self.gamma, "gamma"))

    def _writer(self, A: Any, B: Any) -> Writer:
        if issparse(A):
            return self._sparse_writer(A, B)
        with np.errstate(over="ignore", invalid="ignore"):
            left, right, largest = self._exponents(A, B)
        # Written so that NaN, from coordinates beyond 1e154, takes distances too.
        if not largest <= DIRECT_ABOVE:
            return _distances(A, B, "sqeuclidean", self.gamma)
        return _products(left, right, _exp_not_above_one)

    def _sparse_writer(self, A: Any, B: Any) -> Writer:
        """As for dense points, without centring: it would make them dense."""
        with np.errstate(over="ignore", invalid="ignore"):
            half_a, half_b = (self.gamma * X.multiply(X).sum(axis=1) for X in (A, B))
            largest = float(max(half_a.max(), half_b.max()))
        if not largest <= DIRECT_ABOVE:
            return _distances(A, B, "sqeuclidean", self.gamma)
        product = _products((2 * self.gamma) * A, B)

        def write(rows: slice, columns: slice, out: Array) -> None:
            product(rows, columns, out)
            out -= half_a[rows, None]
            out -= half_b[columns]
            _exp_not_above_one(out)

        return write

    def _exponents(self, A: Array, B: Array) -> tuple[Array, Array, float]:
        """Return factors whose product is -gamma |x - x'|², and the largest gamma |x|².

        With u = sqrt(2 gamma) x after centring, which distances do not see:

            -gamma |x - x'|² = (u, -|u|²/2, 1) (u', 1, -|u'|²/2)'
        """
        centre = B.mean(axis=0)
        scale = np.sqrt(2 * self.gamma)
        U, V = scale * (A - centre), scale * (B - centre)
        half_u, half_v = 0.5 * np.einsum("ij,ij->i", U, U), 0.5 * np.einsum("ij,ij->i", V, V)
        left = np.column_stack([U, -half_u, np.ones(len(U))])
        right = np.column_stack([V, np.ones(len(V)), -half_v])
        return left, right, float(max(half_u.max(), half_v.max()))

    def _self_similarity(self, X: Any) -> Array:
        return np.ones(X.shape[0])


class Distances:
    """Squared distances between points, once for Gaussians of many widths.

    Parameters
    ----------
    X : array of shape (n, d)
    """

    def __init__(self, X: Array) -> None:
        rows, inverse = distinct_rows(check_points(X))
        left, right, largest = RBF(0.5)._exponents(rows, rows)
        self.largest = 2.0 * largest  # |x|^2 after centring
        self.matrix = np.empty((X.shape[0], X.shape[0]))
        corner = self.matrix[: len(rows), : len(rows)]
        fill_symmetric(corner, _products(-2.0 * left, right))
        np.maximum(corner, 0.0, out=corner)
        np.fill_diagonal(corner, 0.0)
        repeat_in_place(self.matrix, inverse, inverse)

    def gram(self, kernel: RBF) -> Array | None:
        """The kernel matrix; None where these distances are not precise enough for it."""
        if not kernel.gamma * self.largest <= DIRECT_ABOVE:
            return None
        return np.exp(-kernel.gamma * self.matrix)


@dataclass(frozen=True)
class Gaussian(BlockKernel):
    """The Gaussian by its width: RBF(gamma = 1 / (2 width²)).

        k(x, x') = exp(-|x - x'|² / (2 width²))

    Parameters
    ----------
    width : float > 0
    """

    name: ClassVar[str] = "gaussian"
    takes_sparse: ClassVar[bool] = True
    width: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_positive(self.width, "width"))

    def _writer(self, A: Any, B: Any) -> Writer:
        return RBF(0.5 / self.width**2)._writer(A, B)

    def _self_similarity(self, X: Any) -> Array:
        return np.ones(X.shape[0])


def _exp_not_above_one(block: Array) -> None:
    np.minimum(block, 0.0, out=block)
    np.exp(block, out=block)


@dataclass(frozen=True)
class Laplacian(BlockKernel):
    """The exponential of the distance in city blocks.

        k(x, x') = exp(-gamma |x - x'|_1)

    Parameters
    ----------
    gamma : float > 0
    """

    name: ClassVar[str] = "laplacian"
    takes_sparse: ClassVar[bool] = True
    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive(self.gamma, "gamma"))

    def _writer(self, A: Any, B: Any) -> Writer:
        return _distances(A, B, "cityblock", self.gamma)

    def _self_similarity(self, X: Any) -> Array:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Cosine(BlockKernel):
    """The cosine of the angle between two points; 0 where one of them is the origin.

    `k(x, x') = x'x / (|x| |x'|)`
    """

    name: ClassVar[str] = "cosine"
    takes_sparse: ClassVar[bool] = True

    def _writer(self, A: Any, B: Any) -> Writer:
        return _products(_unit_rows(A), _unit_rows(B))

    def _self_similarity(self, X: Any) -> Array:
        some = np.diff(X.indptr) > 0 if issparse(X) else (X != 0).any(axis=1)
        return np.where(some, 1.0, 0.0)


def _unit_rows(X: Any) -> Any:
    # By the largest entry first: the squares of the rest can neither overflow nor vanish.
    if issparse(X):
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        size = np.zeros(X.shape[0])
        np.maximum.at(size, row, np.abs(X.data))
        part = X.data / size[row]
        norm = np.sqrt(np.bincount(row, part * part, X.shape[0]))
        return csr_array((part / norm[row], X.indices, X.indptr), X.shape)
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / np.where(largest > 0, largest, 1.0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    unit: Array = scaled / np.where(norms > 0, norms, 1.0)
    return unit


def check_degree(degree: Any) -> int:
    """Return the degree of a polynomial as an int >= 1."""
    if isinstance(degree, bool) or not isinstance(degree, Integral) or degree < 1:
        raise ValueError(f"degree must be an integer >= 1, got {degree!r}.")
    return int(degree)
