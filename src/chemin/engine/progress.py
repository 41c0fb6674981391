"""A line that says how far a walk has come: never a tick per event."""

from __future__ import annotations

import math
from time import monotonic
from typing import Any

PAUSE = 0.1  # seconds between two updates


class Progress:
    """Shows log t on its way from the start to the stop, with the events so far."""

    def __init__(self, t_stop: float, shown: bool) -> None:
        self.t_stop, self.shown, self.last = t_stop, shown, -math.inf
        self.bar: Any = None
        self.task: Any = None
        self.t_start: float | None = None

    def __enter__(self) -> Progress:
        if self.shown:
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            events = TextColumn("{task.fields[events]} events{task.fields[helped]}")
            self.bar = Bar(TextColumn("path"), BarColumn(), events, TimeElapsedColumn())
            self.task = self.bar.add_task("path", total=1.0, events=0, helped="")
            self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, t: float, events: int, helped: int = 0) -> None:
        """The walk stands at t after so many events, some of them by the reference's help."""
        if self.bar is None:
            return
        if self.t_start is None:
            self.t_start = t
        now = monotonic()
        if now - self.last >= PAUSE:
            self.last = now
            said = f", {helped} by the reference" if helped else ""
            self.bar.update(self.task, completed=self.part(t), events=events, helped=said)

    def part(self, t: float) -> float:
        """How much of the way lies behind, on the log scale where that is possible."""
        assert self.t_start is not None
        ends = (self.t_start, max(self.t_stop, 1e-12 * self.t_start), t)
        a, b, x = (math.log(max(v, 1e-300)) for v in ends)
        return 1.0 if a == b else min(max((x - a) / (b - a), 0.0), 1.0)
