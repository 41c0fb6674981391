"""A coupling with a diagonal added to it: what ramps make of M at a fixed parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chemin._checks import Array as Floats
from chemin.kernels._coupling import Coupling

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Ridged:
    """M + diag(ridge), ridge >= 0 and zero for variables whose sigma is -1."""

    inner: Coupling
    ridge: Floats

    def __len__(self) -> int:
        return len(self.inner)

    @property
    def sigma(self) -> Floats:
        return self.inner.sigma

    @property
    def has_row(self) -> Any:
        return self.inner.has_row

    @property
    def gram(self) -> Any:
        return self.inner.gram

    @property
    def stored(self) -> int:
        return self.inner.stored

    @property
    def border(self) -> Floats:
        return self.inner.border

    @property
    def index(self) -> Ints:
        return self.inner.index

    @property
    def n_rows(self) -> int:
        return self.inner.n_rows

    @property
    def semidefinite(self) -> bool:
        return self.inner.semidefinite

    skew = False

    @property
    def root(self) -> Floats:
        return np.sqrt(self.inner.root**2 + self.ridge)

    def dot(self, z: Floats) -> Floats:
        return self.inner.dot(z) + (self.ridge * z.T).T

    def magnitude(self, z: Floats) -> Floats:
        return self.inner.magnitude(z) + (self.ridge * np.abs(z).T).T

    def bound(self, z: Floats) -> Floats:
        return self.inner.bound(z) + (self.ridge * np.abs(z).T).T

    def block(self, rows: Ints, cols: Ints) -> Floats:
        out = self.inner.block(rows, cols)
        if rows is cols:
            out[np.diag_indices(len(rows))] += self.ridge[rows]
            return out
        return out + np.where(rows[:, None] == cols, self.ridge[cols], 0.0)

    def diagonal(self) -> Floats:
        return self.inner.diagonal() + self.ridge


__all__ = ["Ridged"]
