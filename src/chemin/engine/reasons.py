"""Why walks end: every reason there is, with its text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

ROUND_OFF = "round-off"  # how the texts begin where double precision ends a walk


class Reason(Enum):
    """Why a walk ends; the values are its texts."""

    STOP = "the stop was reached"
    MAX_EVENTS = "max_events = {} reached"
    INTERRUPTED = "interrupted"
    MEMORY = "out of memory"
    HIDDEN = ROUND_OFF + " ({:.1e} of a margin) hides what comes next"
    DIM = ROUND_OFF + " ({:.1e} of the penalty) hides what comes next"
    ASTRAY = ROUND_OFF + " has led the walk astray: a violation of {:.1e} comes next"
    OVER = ROUND_OFF + ": the walk has stepped over a crossing, by {:.1e}"
    STANDSTILL = ROUND_OFF + ": {} moves at one value of the parameter without leaving it"
    LOST = ROUND_OFF + ": {} steps by the reference engine, and no end"
    DRIFT = ROUND_OFF + ": drift was walked away {} times, and no end"
    ENDLESS = ROUND_OFF + ": a jump meets nothing that stops it"
    SINGULAR = ROUND_OFF + ": a system that is singular in double precision has no solution"

    def __call__(self, *details: Any) -> End:
        """The end of a walk for this reason, with its details filled in."""
        return End(self, self.value.format(*details))


# Reasons that a walk with more care, and ties broken otherwise, may not meet.
CHANCE = (
    *(Reason.ASTRAY, Reason.OVER, Reason.STANDSTILL, Reason.LOST, Reason.DRIFT, Reason.ENDLESS),
    Reason.SINGULAR,
)


@dataclass(frozen=True)
class End:
    """How one walk has ended."""

    reason: Reason
    text: str

    @property
    def complete(self) -> bool:
        return self.reason is Reason.STOP

    def remarked(self, remark: str) -> End:
        """The same end, with a remark."""
        return replace(self, text=f"{self.text}; {remark}")


class WalkEnd(Exception):
    """A walk ends here; what has been walked is kept."""

    def __init__(self, end: End) -> None:
        super().__init__(end.text)
        self.end = end


class StopWalk(WalkEnd):
    """A limit was met."""


class StuckError(WalkEnd):
    """The walk cannot go on."""


class IndefiniteError(ValueError):
    """The matrix is not positive semi-definite: a negative pivot at `variable`."""

    def __init__(self, variable: int) -> None:
        super().__init__("the matrix is not positive semi-definite: a pivot is negative")
        self.variable = variable
