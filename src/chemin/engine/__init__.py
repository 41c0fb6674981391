"""HOW: the walk along a staircase system, and what it leaves behind."""

from .audit import audited, certified
from .follow import DEFAULT_RANGE, carry_on, follow, phase_one, polish
from .leave_out import Job, walk_out
from .reasons import ROUND_OFF, End, IndefiniteError, Reason
from .trace import Trace

__all__ = [
    "DEFAULT_RANGE",
    "ROUND_OFF",
    "End",
    "IndefiniteError",
    "Job",
    "Reason",
    "Trace",
    "audited",
    "carry_on",
    "certified",
    "follow",
    "phase_one",
    "polish",
    "walk_out",
]
