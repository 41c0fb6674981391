"""The machine and the versions that a measurement was made with."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import scipy.linalg  # noqa: F401  loads SciPy's BLAS, so that threadpoolctl sees it
from threadpoolctl import threadpool_info

PACKAGES = ("chemin", "numpy", "scipy", "scikit-learn", "cvxcla")


def describe() -> str:
    """A Markdown list."""
    pools = [p for p in threadpool_info() if p["user_api"] == "blas"]
    kinds = {f"{p['internal_api']} {p['version']} ({p.get('architecture', '?')})" for p in pools}
    threads = sorted({p["num_threads"] for p in pools})
    lines = [
        f"processor: {cpu_model()}, {os.cpu_count()} cores, {memory():.0f} GB",
        f"system: {platform.system()} {platform.machine()}, Python {sys.version.split()[0]}",
        "versions: " + ", ".join(f"{name} {release(name)}" for name in PACKAGES),
        f"BLAS: {', '.join(sorted(kinds))}; threads: {', '.join(map(str, threads))}",
        f"engine of chemin: {engine()}",
    ]
    return "\n".join(f"- {line}" for line in lines)


def cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def memory() -> float:
    """In GB; nan where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return float("nan")


def release(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed" if name != "chemin" else "from the source tree"


def engine() -> str:
    missing = importlib.util.find_spec("chemin.engine._verify") is None
    if missing or os.environ.get("CHEMIN_ENGINE") == "reference":
        return "reference (nothing compiled takes part)"
    return "compiled"
