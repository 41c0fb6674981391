"""How events, free variables, time and memory grow with n: each n in a process of its own.

As a script: one measurement, as JSON.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from common import GAMMA, STOP, best_of, mean_free, table

from chemin import svc_path
from chemin.datasets import make_speed_benchmark

MB = 1e6


def growth(sizes: list[int]) -> str:
    runs = [_in_a_process(n) for n in sizes]
    rows = []
    for run in runs:
        kernel = 8 * run["n"] ** 2 / MB
        used = (run["peak"] - run["before"]) / MB
        times = used / kernel
        grown = (run["n"], run["events"], round(run["free"]), run["seconds"])
        rows.append((*grown, kernel, used, times))
    header = ("n", "events", "mean free", "path s", "kernel matrix MB", "peak MB", "peak / matrix")
    text = (
        "`svc_path(X, y)` with the RBF kernel, data and range as above, seed 0, one run each in a "
        "process of its own. The time includes the kernel matrix. Peak: what the process needed at "
        "most, beyond what it held when the call began (imports and data)."
    )
    return "\n\n".join([text, table(header, rows), *_exponents(runs)])


def _exponents(runs: list[dict[str, float]]) -> list[str]:
    """Slopes on logarithmic axes, by least squares."""
    if len(runs) < 2:
        return []
    n = np.log([run["n"] for run in runs])
    slope = {k: np.polyfit(n, np.log([run[k] for run in runs]), 1)[0] for k in _GROWS}
    return ["Growth: " + ", ".join(f"{_GROWS[k]} n^{s:.2f}" for k, s in slope.items()) + "."]


_GROWS = {"events": "events", "free": "free variables", "seconds": "time"}


def _in_a_process(n: int) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__)), str(n)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(n: int) -> dict[str, float]:
    svc_path([[0.0], [1.0]], [0, 1])  # what is imported or set up on a first call
    X, y = make_speed_benchmark(n, 0)
    before = memory("VmRSS")
    call = lambda: svc_path(X, y, kernel="rbf", gamma=GAMMA, stop=STOP)
    seconds, path = best_of(1, call)
    peak = memory("VmHWM")  # before `mean_free`, which is not part of the path
    if not path.complete:
        raise RuntimeError(f"the path ended at {path.stop:g}: {path.reason}")
    free = mean_free(path)
    return {
        "n": n,
        "events": len(path),
        "free": free,
        "seconds": seconds,
        "before": before,
        "peak": peak,
    }


def memory(field: str) -> int:
    """Bytes of this process: VmRSS, what it holds, or VmHWM, the most it has held.

    From /proc where there is one: getrusage counts what the parent held when it started us. Else
    both are the most it has held.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith(f"{field}:"):
                return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
