"""HOW: the walk along a staircase system, and what it leaves behind."""

from .follow import follow
from .trace import IndefiniteError, Trace

__all__ = ["IndefiniteError", "Trace", "follow"]
