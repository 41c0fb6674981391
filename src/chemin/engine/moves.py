"""Moves: what happens to z between two events. Each kind of move is one class.

A walk is a chain of moves. On move j the parameter goes from t0_j to t1_j and the variables
`entries(j)` change; the others stand still. A jump stands at t0 = t1. How far a move has come is
told by its *part* p in [0, 1], not by t: t = t0 + p (t1 - t0), and a jump has parts too.

    straight       z(p) = z(0) + s rate,                                             s = p length
    projective     z(p) = z(0) + s rate / (1 - s near)
    rational       z(p) = z(0) + s rate + sum_k weight_k s^2 / (1 - s near_k)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..problems.staircase import Floats, Ints
from ._cumulate import advance, still


@dataclass(frozen=True)
class Moves(ABC):
    """All moves of one walk; t never turns back."""

    t0: Floats  # (moves,)
    t1: Floats  # (moves,)
    pointer: Ints  # move j changes the variables index[pointer[j]:pointer[j + 1]]
    index: NDArray[np.int32]

    kind: ClassVar[str]  # under which moves are saved
    degree: ClassVar[int | None]  # of z as a polynomial in t within a move; None: it is none
    goes_straight: ClassVar[bool] = False  # whether z goes along a line, at whatever pace

    def __len__(self) -> int:
        return len(self.t0)

    def part(self, j: int) -> slice:
        """Where the entries of move j are."""
        return slice(int(self.pointer[j]), int(self.pointer[j + 1]))

    def entries(self, j: int) -> NDArray[np.int32]:
        """The variables that change in move j."""
        return self.index[self.part(j)]

    # ------------------------------------------------------------------ what a kind says

    @abstractmethod
    def change(self, j: int, parts: Floats) -> Floats:
        """How far `entries(j)` have come after each part of move j: shape (parts, entries)."""

    @abstractmethod
    def ends(self, moves: slice) -> Floats:
        """How far the entries of each of these moves come in all, one after the other."""

    @abstractmethod
    def final_rate(self, j: int) -> Floats:
        """How fast `entries(j)` move at the end of move j, for one unit of |t|."""

    @abstractmethod
    def some(self, first: int, last: int) -> Moves:
        """The moves from `first` on, up to `last`, which is not among them."""

    @abstractmethod
    def then(self, other: Any) -> Moves:
        """These moves, and others of the same kind after them."""

    @classmethod
    @abstractmethod
    def jump(cls, t: float, change: Floats) -> Moves:
        """One move that stands at t."""

    # ------------------------------------------------------------------ what follows from it

    def steps(self, moves: slice) -> tuple[Floats, Floats]:
        """`ends` as numbers of the entries, and what multiplies those of each move."""
        return self.ends(moves), np.ones(moves.stop - moves.start)

    def advance(self, z: Floats, j: int, part: float = 1.0) -> None:
        """z from the beginning of move j to a part of it, in place."""
        z[self.entries(j)] += self.change(j, np.array([part]))[0]

    def advance_all(self, z: Floats, columns: Ints, moves: Ints, parts: Floats) -> None:
        """`advance` of several columns of z, each on a move of its own."""
        for column, j, part in zip(columns, moves, parts):
            self.advance(z[:, column], int(j), float(part))

    def pace(self, moves: Ints, parts: Floats) -> Floats | None:
        """How far parts of several moves are on the straight lines from end to end; None where
        there are no such lines.
        """
        return None

    def inside(self, j: int, phi: Floats) -> Callable[[Floats], Floats]:
        """The change of z'phi as a function of the parts of move j: shape (parts, columns)."""
        rows = phi[self.entries(j)]
        return lambda parts: self.change(j, parts) @ rows

    def largest_changes(self, among: NDArray[np.bool_]) -> Floats:
        """The largest change of any of the chosen variables in each move, from end to end."""
        size = np.abs(self.ends(slice(0, len(self))))
        size[~among[self.index]] = 0.0
        out, some = np.zeros(len(self)), np.diff(self.pointer) > 0
        if some.any():
            out[some] = np.maximum.reduceat(size, self.pointer[:-1][some])
        return out

    def still(self, among: NDArray[np.bool_], most: float) -> NDArray[np.bool_]:
        """Moves in which none of the chosen variables changes by more than `most`."""
        return self.largest_changes(among) <= most

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class StraightMoves(Moves):
    """z changes at a constant rate: z(p) = z(0) + p length rate."""

    length: Floats  # (moves,): |t1 - t0|, or how far a jump goes
    rate: Floats  # of the entries, one move after the other

    kind = "straight"
    degree: ClassVar[int | None] = 1
    goes_straight = True

    def change(self, j: int, parts: Floats) -> Floats:
        return (parts * self.length[j])[:, None] * self.rate[self.part(j)]

    def advance(self, z: Floats, j: int, part: float = 1.0) -> None:
        entries = self.part(j)
        z[self.index[entries]] += (part * self.length[j]) * self.rate[entries]

    def _paces(self, moves: Ints, parts: Floats) -> Floats:
        """What multiplies the rates, after parts of several moves."""
        return parts * self.length[moves]

    def pace(self, moves: Ints, parts: Floats) -> Floats | None:
        return parts if type(self).change is StraightMoves.change else None

    def advance_all(self, z: Floats, columns: Ints, moves: Ints, parts: Floats) -> None:
        """All entries of all moves at once, where `_paces` says all there is to know."""
        if type(self).change not in (StraightMoves.change, ProjectiveMoves.change):
            return super().advance_all(z, columns, moves, parts)
        pace = self._paces(moves, parts)
        advance(z.T, columns, moves, pace, self.rate, self.index, self.pointer)

    def ends(self, moves: slice) -> Floats:
        first, last = moves.start, moves.stop
        entries = slice(self.pointer[first], self.pointer[last])
        size = np.diff(self.pointer[first : last + 1])
        return self.rate[entries] * np.repeat(self.length[moves], size)

    def steps(self, moves: slice) -> tuple[Floats, Floats]:
        if type(self).ends is not StraightMoves.ends:
            return super().steps(moves)
        return self.rate[self.pointer[moves.start] : self.pointer[moves.stop]], self.length[moves]

    def still(self, among: NDArray[np.bool_], most: float) -> NDArray[np.bool_]:
        if type(self).ends is not StraightMoves.ends:
            return super().still(among, most)
        chosen = among.view(np.uint8)
        return np.asarray(still(self.index, self.rate, self.length, self.pointer, chosen, most))

    def final_rate(self, j: int) -> Floats:
        return self.rate[self.part(j)]

    def some(self, first: int, last: int) -> StraightMoves:
        lead, end = int(self.pointer[first]), int(self.pointer[last])
        return StraightMoves(
            self.t0[first:last],
            self.t1[first:last],
            self.pointer[first : last + 1] - lead,
            self.index[lead:end],
            self.length[first:last],
            self.rate[lead:end],
        )

    def then(self, other: StraightMoves) -> StraightMoves:
        pointer = np.append(self.pointer, self.pointer[-1] + other.pointer[1:])
        names = ("t0", "t1", "index", "length", "rate")
        both = {n: np.concatenate([getattr(self, n), getattr(other, n)]) for n in names}
        return StraightMoves(pointer=pointer, **both)

    @classmethod
    def jump(cls, t: float, change: Floats) -> StraightMoves:
        index = np.flatnonzero(change).astype(np.int32)
        at, pointer = np.array([t]), np.array([0, len(index)])
        return cls(at, at, pointer, index, np.ones(1), change[index])


@dataclass(frozen=True)
class ProjectiveMoves(StraightMoves):
    """z goes straight ahead, at a pace with one pole: z(p) = z(0) + s rate / (1 - s near)."""

    near: Floats  # (moves,): one over the distance of the pole; 0 for straight moves and jumps

    kind = "projective"
    degree = None

    def _paces(self, moves: Any, parts: Floats) -> Floats:
        s = parts * self.length[moves]
        return np.asarray(s / (1.0 - s * self.near[moves]))

    def pace(self, moves: Ints, parts: Floats) -> Floats | None:
        bend = self.bend[moves]
        return np.asarray(parts * (1.0 - bend) / (1.0 - parts * bend))

    def change(self, j: int, parts: Floats) -> Floats:
        return self._paces(j, parts)[:, None] * self.rate[self.part(j)]

    def advance(self, z: Floats, j: int, part: float = 1.0) -> None:
        Moves.advance(self, z, j, part)

    def ends(self, moves: slice) -> Floats:
        slow = 1.0 - self.length[moves] * self.near[moves]
        size = np.diff(self.pointer[moves.start : moves.stop + 1])
        return super().ends(moves) / np.repeat(slow, size)

    def final_rate(self, j: int) -> Floats:
        return self.rate[self.part(j)] / (1.0 - self.length[j] * self.near[j]) ** 2

    @property
    def bend(self) -> Floats:
        """How far each move is from a straight one: s near at its end."""
        return self.length * self.near

    def some(self, first: int, last: int) -> ProjectiveMoves:
        straight = super().some(first, last)
        return ProjectiveMoves(**straight.arrays(), near=self.near[first:last])

    def then(self, other: ProjectiveMoves) -> ProjectiveMoves:  # type: ignore[override]
        near = np.append(self.near, other.near)
        return ProjectiveMoves(**super().then(other).arrays(), near=near)

    @classmethod
    def jump(cls, t: float, change: Floats) -> ProjectiveMoves:
        return cls(**StraightMoves.jump(t, change).arrays(), near=np.zeros(1))


@dataclass(frozen=True)
class Form:
    """How entries leave their straight line after a length s: sum_k weight_k s^2 / (1 - s near_k).

    `near` is one over the distance of each pole; negative for poles that lie behind.
    """

    near: Floats  # (k,)
    weight: Floats  # (entries, k)

    def bends(self, s: Floats) -> Floats:
        """(len(s), k): s^2 / (1 - s near_k)."""
        s = s[:, None]
        return s * s / (1.0 - s * self.near)

    def off(self, s: float) -> Floats:
        """(entries,) how far from their line."""
        return self.weight @ self.bends(np.array([s]))[0]

    def rate(self, s: float) -> Floats:
        """(entries,) and how fast from there."""
        left = 1.0 - s * self.near
        return self.weight @ (s * (2.0 - s * self.near) / (left * left))


@dataclass(frozen=True)
class RationalMoves(StraightMoves):
    """z(p) = z(0) + s rate + sum_k weight_k s^2 / (1 - s near_k), s = p length.

    Move j has the poles near[poles[j]:poles[j + 1]], each with a weight for each of its entries.
    One without poles is straight, and so is a jump.
    """

    poles: Ints  # (moves + 1,)
    near: Floats  # one over the distance of each pole
    weight: Floats  # (entries, poles) of each move by rows, one move after the other

    kind = "rational"
    degree = None
    goes_straight = False

    @cached_property
    def _weights(self) -> Ints:
        """Where the weights of each move begin."""
        return np.concatenate([[0], np.cumsum(np.diff(self.pointer) * np.diff(self.poles))])

    def form(self, j: int) -> Form:
        near = self.near[self.poles[j] : self.poles[j + 1]]
        weight = self.weight[self._weights[j] : self._weights[j + 1]]
        return Form(near, weight.reshape(len(self.entries(j)), len(near)))

    def change(self, j: int, parts: Floats) -> Floats:
        form = self.form(j)
        return super().change(j, parts) + form.bends(parts * self.length[j]) @ form.weight.T

    def advance(self, z: Floats, j: int, part: float = 1.0) -> None:
        Moves.advance(self, z, j, part)

    def inside(self, j: int, phi: Floats) -> Callable[[Floats], Floats]:
        """The weights meet phi once for all parts."""
        form, length, rows = self.form(j), self.length[j], phi[self.entries(j)]
        line, bent = length * (self.rate[self.part(j)] @ rows), form.weight.T @ rows
        return lambda parts: parts[:, None] * line + form.bends(parts * length) @ bent

    def ends(self, moves: slice) -> Floats:
        first = self.pointer[moves.start]
        return self._whole[first : self.pointer[moves.stop]].copy()

    @cached_property
    def _whole(self) -> Floats:
        """What each entry comes to in its move."""
        out = super().ends(slice(0, len(self)))
        for j in map(int, np.flatnonzero(np.diff(self.poles))):
            out[self.part(j)] += self.form(j).off(self.length[j])
        return out

    def final_rate(self, j: int) -> Floats:
        return self.rate[self.part(j)] + self.form(j).rate(self.length[j])

    def some(self, first: int, last: int) -> RationalMoves:
        straight = super().some(first, last)
        lead, end = int(self.poles[first]), int(self.poles[last])
        return RationalMoves(
            **straight.arrays(),
            poles=self.poles[first : last + 1] - lead,
            near=self.near[lead:end],
            weight=self.weight[self._weights[first] : self._weights[last]],
        )

    def then(self, other: RationalMoves) -> RationalMoves:  # type: ignore[override]
        return RationalMoves(
            **super().then(other).arrays(),
            poles=np.append(self.poles, self.poles[-1] + other.poles[1:]),
            near=np.append(self.near, other.near),
            weight=np.append(self.weight, other.weight),
        )

    @classmethod
    def jump(cls, t: float, change: Floats) -> RationalMoves:
        return cls.without_poles(StraightMoves.jump(t, change))

    @classmethod
    def without_poles(cls, straight: StraightMoves) -> RationalMoves:
        """Straight moves as such of this kind."""
        none = np.zeros(len(straight) + 1, np.intp)
        return cls(**straight.arrays(), poles=none, near=np.empty(0), weight=np.empty(0))


KINDS: dict[str, type[Moves]] = {
    kind.kind: kind for kind in (StraightMoves, ProjectiveMoves, RationalMoves)
}


__all__ = ["KINDS", "Moves", "ProjectiveMoves", "RationalMoves", "StraightMoves"]
