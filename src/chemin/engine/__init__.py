"""HOW: the walk along a staircase system, and what it leaves behind."""

from .audit import audited
from .follow import carry_on, follow, phase_one, polish
from .leave_out import Job, walk_out
from .trace import ROUND_OFF, IndefiniteError, Trace

__all__ = [
    "ROUND_OFF",
    "IndefiniteError",
    "Job",
    "Trace",
    "audited",
    "carry_on",
    "follow",
    "phase_one",
    "polish",
    "walk_out",
]
