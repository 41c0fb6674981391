"""How long after Ctrl-C, in the middle of a walk on 10,000 points, the path is there.

    OMP_NUM_THREADS=1 python benchmarks/interrupt.py
    OMP_NUM_THREADS=1 python benchmarks/interrupt.py --rows 2000 --events 500

The walk sends the signal to its own process once it has passed so many events, from within a block
where no Python runs: a thread waits for it. Seconds by the clock and of the processor.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
from time import perf_counter, process_time, sleep
from typing import Any

from common import speed_problem

from chemin import svc_path
from chemin.engine.blocked import BlockWalker

POLL = 0.01  # seconds between two looks at the walk


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--rows", type=int, default=10_000)
    p.add_argument("--events", type=int, default=2_000, help="before the signal")
    o = p.parse_args()
    K, y = speed_problem(o.rows, 0)
    passed, sent = [0], [0.0, 0.0]
    block = BlockWalker.block

    def counted(self: Any, *args: Any) -> int:
        code = block(self, *args)
        passed[0] = self.passed
        return code

    def interrupt() -> None:
        while passed[0] < o.events:
            sleep(POLL)
        sent[:] = perf_counter(), process_time()
        os.kill(os.getpid(), signal.SIGINT)

    BlockWalker.block = counted  # type: ignore[method-assign]
    threading.Thread(target=interrupt, daemon=True).start()
    path = svc_path(K, y, kernel="precomputed")
    wall, own = perf_counter() - sent[0], process_time() - sent[1]
    print(f"n = {o.rows}: {len(path)} events, {path.reason}; the path came {wall:.2f} s after the")
    print(f"signal, {own:.2f} s of the processor")


if __name__ == "__main__":
    main()
