"""Where the time of a path goes: in which library, function and line of Python.

As a script: the process that is looked at.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from common import STOP, speed_problem, table

from chemin import svc_path

FREQUENCY = 997  # samples a second
WALKS = 3
TOP = 12
ATTACH = 0.5  # seconds that perf needs before it samples
CORE = ("_system.", "_factor.", "_record.", "_working_set.", "_loop.", "_verify.", "_leave_out.")
CORE += ("_compensated.",)
KINDS = {
    "blas": "BLAS and LAPACK",
    "core": "compiled engine",
    "numpy": "NumPy and SciPy",
    "python": "Python",
    "rest": "rest",
}


def hotspots(n: int) -> str:
    title = f"The path of the C-SVM at n = {n}, seed 0, kernel matrix given."
    return "\n\n".join([title, _by_perf(n), _by_cprofile(n)])


# ---------------------------------------------------------------------- samples


def _by_perf(n: int) -> str:
    if shutil.which("perf") is None:
        return (
            "The share of BLAS was not measured: there is no `perf` here, and Python's profiler "
            "does not see inside compiled code."
        )
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "perf.data")
        command = [sys.executable, str(Path(__file__)), str(n), data]
        done = subprocess.run(command, capture_output=True, text=True)
        lines = _report(data) if done.returncode == 0 else []
    if not lines:
        return f"The share of BLAS was not measured: perf gave no samples. {done.stderr.strip()}"
    shares: dict[str, float] = defaultdict(float)
    for percent, library, _ in lines:
        shares[_kind(library)] += percent
    total = sum(shares.values())
    first = [(KINDS[k], f"{100 * shares[k] / total:.1f} %") for k in KINDS if k in shares]
    top = [(s, lib, f"{100 * p / total:.1f} %") for p, lib, s in lines[:TOP]]
    text = (
        f"Measured with `perf record`, {FREQUENCY} samples a second of the processor's clock in "
        f"user space, while {WALKS} walks ran; imports and the kernel matrix are left out. A "
        "sample counts for the library that it fell into: the engine's own loops are not BLAS."
    )
    return "\n\n".join(
        [text, table(("where", "share"), first), table(("function", "library", "share"), top)]
    )


def _report(data: str) -> list[tuple[float, str, str]]:
    """Percent, library and function, most first."""
    command = ["perf", "report", "--stdio", "--no-children", "-i", data, "-F", "overhead,dso,sym"]
    command += ["-t", ";", "--percent-limit", "0"]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    lines = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(";", 2)]
        if len(parts) == 3 and parts[0].endswith("%"):
            name = parts[2].removeprefix("[.]").removeprefix("[k]").strip()
            lines.append((float(parts[0].rstrip("%")), parts[1], name))
    return lines


def _kind(library: str) -> str:
    name = library.lower()
    if any(word in name for word in ("openblas", "mkl", "blis", "lapack", "libblas")):
        return "blas"
    if name.startswith(CORE):
        return "core"
    if ".cpython-" in name:
        return "numpy"
    if name.startswith(("libpython", "python")):
        return "python"
    return "rest"


def sampled(n: int, data: str) -> None:
    """Walk while perf watches this very process."""
    K, y = speed_problem(n, 0)
    svc_path(K, y, kernel="precomputed", stop=STOP)
    options = ["-e", "cpu-clock:u", "-F", str(FREQUENCY), "-p", str(os.getpid()), "-o", data]
    watch = subprocess.Popen(["perf", "record", *options], stdout=subprocess.DEVNULL)
    try:
        time.sleep(ATTACH)
        for _ in range(WALKS):
            svc_path(K, y, kernel="precomputed", stop=STOP)
    finally:
        watch.send_signal(signal.SIGINT)
        watch.wait()


# ---------------------------------------------------------------------- Python


def _by_cprofile(n: int) -> str:
    K, y = speed_problem(n, 0)
    svc_path(K, y, kernel="precomputed", stop=STOP)
    profile = cProfile.Profile()
    profile.runcall(svc_path, K, y, kernel="precomputed", stop=STOP)
    stats = pstats.Stats(profile)
    total = stats.total_tt  # type: ignore[attr-defined]
    rows = []
    entries = sorted(stats.stats.items(), key=lambda e: -e[1][2])  # type: ignore[attr-defined]
    for (file, line, name), (_, calls, own, _, _) in entries[:TOP]:
        where = name if file == "~" else f"{Path(file).parent.name}/{Path(file).name}:{line} {name}"
        rows.append((f"`{where}`", calls, f"{100 * own / total:.1f} %"))
    text = (
        f"The Python side, by cProfile (one walk, {total:.3g} s with the profiler on): time of a "
        "function itself, and of the engine's compiled functions that it calls."
    )
    return "\n\n".join([text, table(("function", "calls", "share"), rows)])


if __name__ == "__main__":
    sampled(int(sys.argv[1]), sys.argv[2])
