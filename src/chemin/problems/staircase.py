"""The one problem that every path in chemin is an instance of, as data.

    find z(t) in R^N with   h_i = -(M z + q + t r)_i  in  S_i(t)(z_i)   for every i

M is monotone (M + M' is positive semi-definite) and each S_i is a *staircase*: a rising graph of
alternating *pins* (z_i is held, the residual h_i moves) and *treads* (h_i is held, z_i moves):

        h
        |          |  pin w            the C-SVM's alpha: pin 0, tread 0, pin w
      0 |   _______|
        |  |   tread 0
        |  | pin 0
        +--+-------+----- z

No loss has a name here: a problem enters the engine as a `StaircaseSystem`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels import Gram

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

# A stair is (value at t = 0, slope in t); None means that there is no such stair.
Stair = tuple[ArrayLike, ArrayLike]


@dataclass(frozen=True)
class Staircases:
    """N staircases as two tables: stair j of variable i stands at `value[i, j] + t slope[i, j]`.

    Even columns are treads, odd columns are pins. A stair lies between the values of its two
    neighbours, and columns of -inf and +inf stand where a staircase has no further neighbour.
    """

    value: Floats
    slope: Floats

    @classmethod
    def build(cls, n: int, *, first: str, stairs: Sequence[Stair]) -> Staircases:
        """n staircases from their stairs, bottom to top; `first` is "pin" or "tread"."""
        lead = {"pin": 1, "tread": 2}[first]
        width = lead + len(stairs) + 1
        value = np.full((n, width), np.inf)
        value[:, :lead] = -np.inf
        slope = np.zeros((n, width))
        for j, (level, rate) in enumerate(stairs, start=lead):
            value[:, j], slope[:, j] = level, rate
        return cls(value, slope)

    @classmethod
    def stack(cls, *parts: Staircases) -> Staircases:
        """The staircases of several groups of variables, one group after the other."""
        width = max(p.value.shape[1] for p in parts)

        def pad(table: Floats, filler: float) -> Floats:
            return np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=filler)

        return cls(
            np.vstack([pad(p.value, np.inf) for p in parts]),
            np.vstack([pad(p.slope, 0.0) for p in parts]),
        )

    def __len__(self) -> int:
        return len(self.value)

    def span(self, t: float = 0.0) -> Floats:
        """How far each variable can move along one of its treads at the most, at t."""
        value = self.value + t * self.slope if self.moving_pins else self.value
        tread, below, above = value[:, 2::2], value[:, 1:-1:2], value[:, 3::2]
        width = min(tread.shape[1], above.shape[1])
        tread, below, above = tread[:, :width], below[:, :width], above[:, :width]
        with np.errstate(invalid="ignore"):
            return np.where(np.isfinite(tread), above - below, 0.0).max(axis=1)

    @cached_property
    def moving_pins(self) -> bool:
        """Whether a pin moves with t."""
        return bool(np.any(self.slope[:, 1::2]))

    def frozen(self, t: float) -> Staircases:
        """The same staircases, standing still where they are at t."""
        return Staircases(self.value + t * self.slope, np.zeros_like(self.slope))


def endless_tread(n: int = 1) -> Staircases:
    """Variables with no constraint (an intercept): their residual is held at 0 for ever."""
    return Staircases.build(n, first="tread", stairs=[(0.0, 0.0)])


@dataclass(frozen=True)
class Coupling:
    """M = diag(sigma) G with G symmetric, described and never formed:

        G = [ S A[p, p] S   B ]      S = diag(sign), p = index: variables share rows of A
            [ B'            0 ]      B = border: one column an unpenalised variable

    sigma is +1 except on the border, where M is skew: M = [S A S, B; -B', 0].
    """

    gram: Gram
    index: Ints
    sign: Floats
    border: Floats

    @property
    def n_core(self) -> int:
        return len(self.index)

    @cached_property
    def plain(self) -> bool:
        """Whether variable i has row i of A."""
        return np.array_equal(self.index, np.arange(len(self.gram)))

    def fold(self, core: Floats) -> Floats:
        """From variables to rows of A, adding up those that share one."""
        if self.plain:
            return core
        if core.ndim == 1:
            return np.asarray(np.bincount(self.index, core, len(self.gram)), dtype=np.float64)
        if self.layers:
            return np.asarray(core.reshape(self.layers, len(self.gram), -1).sum(axis=0))
        folded = np.zeros((len(self.gram), *core.shape[1:]))
        np.add.at(folded, self.index, core)
        return folded

    @cached_property
    def layers(self) -> int:
        """How many variables share each row of A, if all rows come in order so many times; or 0."""
        times, rest = divmod(len(self.index), len(self.gram))
        return (
            0 if rest or np.any(self.index != np.tile(np.arange(len(self.gram)), times)) else times
        )

    @cached_property
    def sigma(self) -> Floats:
        sigma = np.ones(self.n_core + self.border.shape[1])
        sigma[self.n_core :] = -1.0
        return sigma

    def dot(self, z: Floats) -> Floats:
        """M z, for one vector or a matrix of columns."""
        core, edge = z[: self.n_core], z[self.n_core :]
        folded = self.fold((self.sign * core.T).T)
        top = (self.sign * self.gram.dot(folded)[self.index].T).T + self.border @ edge
        return np.concatenate([top, -self.border.T @ core])

    def magnitude(self, z: Floats) -> Floats:
        """A bound on |M| |z|, for tolerances."""
        core, edge = np.abs(z[: self.n_core]), np.abs(z[self.n_core :])
        size = np.abs(self.sign)
        top = size * self.gram.magnitude(self.fold(size * core))[self.index]
        top += np.abs(self.border) @ edge
        return np.concatenate([top, np.abs(self.border).T @ core])

    def block(self, rows: Ints, cols: Ints) -> Floats:
        """G[rows, cols]."""
        out = np.zeros((len(rows), len(cols)))
        r, c = rows < self.n_core, cols < self.n_core
        i, j = rows[r], cols[c]
        a = self.gram.block(self.index[i], self.index[j])
        out[np.ix_(r, c)] = self.sign[i][:, None] * a * self.sign[j]
        out[np.ix_(r, ~c)] = self.border[i][:, cols[~c] - self.n_core]
        out[np.ix_(~r, c)] = self.border[j][:, rows[~r] - self.n_core].T
        return out


@dataclass(frozen=True)
class StaircaseSystem:
    """M, q, r and the staircases: all that the engine ever sees."""

    coupling: Coupling
    q: Floats
    r: Floats
    stairs: Staircases
    unit: tuple[float, float]  # residuals are measured by |unit[0] + t unit[1]|

    def __len__(self) -> int:
        return len(self.q)

    def frozen(self, t: float, e: Floats) -> StaircaseSystem:
        """The same system at a fixed t, with an artificial residual: g + tau e, along tau."""
        q, stairs = self.q + t * self.r, self.stairs.frozen(t)
        return replace(self, q=q, r=e, stairs=stairs, unit=(self.pull(t), 0.0))

    def pull(self, t: float) -> float:
        """The size of the linear term, in one number: what residuals are measured by."""
        return abs(self.unit[0] + t * self.unit[1]) or 1.0

    def tolerances(self, size: Floats, t: float, precision: float, rounding: float) -> Floats:
        """How precisely residuals can and must be known: unpenalised rows by their own terms."""
        scale = np.full(len(self), self.pull(t))
        scale[self.coupling.n_core :] = size[self.coupling.n_core :]
        return precision * scale + rounding * size + np.finfo(np.float64).tiny

    def residual(self, z: Floats, t: float) -> Floats:
        """h = -(M z + q + t r)."""
        return -(self.coupling.dot(z) + self.q + t * self.r)
