"""HOW: the walk along a staircase system, and what it leaves behind."""

from .follow import carry_on, follow, phase_one, polish
from .leave_out import Job, walk_out
from .trace import ROUND_OFF, IndefiniteError, Trace, hidden

__all__ = [
    "ROUND_OFF",
    "IndefiniteError",
    "Job",
    "Trace",
    "carry_on",
    "follow",
    "hidden",
    "phase_one",
    "polish",
    "walk_out",
]
