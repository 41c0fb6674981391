"""What ten times more and ten times less of each tolerance does, on the stress families.

    python benchmarks/tolerances.py
    python benchmarks/tolerances.py --seeds 8 --only DOUBT,NIL

Every tolerance of `chemin/engine/tolerances.py` is changed by itself, and paths of seven kinds are
walked on seven families with two kernels. Counted are paths that are not exact although they are
complete (this must never be: certificates judge), paths that are not complete, events of the
reference, and seconds of the processor, as a ratio.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any, NamedTuple

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before NumPy is imported
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from cliffs import counted  # noqa: E402
from common import knots_and_middles, table  # noqa: E402
from stress import FAMILIES, KERNELS  # noqa: E402

from chemin import (  # noqa: E402
    nu_svr_path,
    quadratic_svc_path,
    quadratic_svr_path,
    quantile_path,
    svc_path,
    svr_path,
)
from chemin.engine import tolerances  # noqa: E402

FACTOR = 10.0
LAMBDA = 0.1
PATHS: dict[str, Callable[..., Any]] = {
    "svc": lambda K, y: svc_path(K, y, kernel="precomputed"),
    "svc cost": lambda K, y: svc_path(K, y, along="cost", lambda_=LAMBDA, kernel="precomputed"),
    "svr": lambda K, y: svr_path(K, _target(K, y), kernel="precomputed"),
    "nu": lambda K, y: nu_svr_path(
        K, _target(K, y), along="nu", lambda_=LAMBDA, kernel="precomputed"
    ),
    "tau": lambda K, y: quantile_path(
        K, _target(K, y), along="tau", lambda_=LAMBDA, kernel="precomputed"
    ),
    "huber": lambda K, y: quadratic_svc_path(K, y, rho=1.1, h=0.2, kernel="precomputed"),
    "squared": lambda K, y: quadratic_svr_path(K, _target(K, y), kernel="precomputed"),
}


class Outcome(NamedTuple):
    wrong: int
    incomplete: int
    helped: int
    seconds: float


def _target(K: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Numbers with ties: copies have the same one."""
    return y + np.round(K[:, :3].sum(axis=1), 1)


def problems(seeds: int) -> list[tuple[np.ndarray, np.ndarray]]:
    out = []
    for family, make in FAMILIES.items():
        for seed in range(seeds):
            rng = np.random.default_rng([seed, *family.encode()])
            X, y = make(rng, 2 + seed % 4)
            out += [(kernel(X), y) for kernel in KERNELS.values()]
    return out


def outcome(some: list[tuple[np.ndarray, np.ndarray]]) -> Outcome:
    """All paths on all problems."""
    wrong = incomplete = 0
    seconds = 0.0
    with counted() as count:
        for K, y in some:
            for walk in PATHS.values():
                begin = process_time()
                try:
                    path = walk(K, y)
                except Exception:  # a tolerance that breaks a walk is what we look for
                    incomplete += 1
                    continue
                seconds += process_time() - begin
                incomplete += not path.complete
                values = knots_and_middles(path) if len(path) else np.empty(0)
                wrong += not path.certificate(values).exact.all() if len(values) else 0
    return Outcome(wrong, incomplete, count.events, seconds)


@contextmanager
def changed(name: str, value: float) -> Iterator[None]:
    """While this is open, every module of the engine has another value of a tolerance."""
    modules = [m for key, m in sys.modules.items() if key.startswith("chemin.engine")]
    holders = [m for m in modules if name in vars(m)]
    before = getattr(tolerances, name)
    for m in holders:
        setattr(m, name, value)
    try:
        yield
    finally:
        for m in holders:
            setattr(m, name, before)


def documented() -> list[tuple[str, float, str, str]]:
    """Name, value, unit and reason of each tolerance, from the table itself."""
    line = re.compile(r"^([A-Z_]+) = .*?  # ([^:\n]+): (.+)$", re.MULTILINE)
    source = inspect.getsource(tolerances)
    return [(n, getattr(tolerances, n), unit, why) for n, unit, why in line.findall(source)]


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--seeds", type=int, default=2, help="problems of each family")
    p.add_argument("--only", type=lambda text: text.split(","), help="some of the tolerances")
    options = p.parse_args()
    warnings.simplefilter("ignore")
    some = problems(options.seeds)
    outcome(some[:4])  # what is loaded once
    plain = outcome(some)
    print(f"{len(some) * len(PATHS)} paths; as they are: {plain}", flush=True)
    rows = []
    for name, value, unit, why in documented():
        if options.only and name not in options.only:
            continue
        row: list[Any] = [name, f"{value:.2g}", unit, why]
        for factor in (1.0 / FACTOR, FACTOR):
            with changed(name, value * factor):
                found = outcome(some)
            row += [found.wrong, found.incomplete, found.helped, found.seconds / plain.seconds]
        rows.append(row)
        print(*row[:2], *(f"{c:.3g}" for c in row[4:]), flush=True)
    one = ("wrong", "incomplete", "helped", "time")
    header = ("tolerance", "value", "unit", "reason", *(f"{c} /10" for c in one))
    print(f"\nAs they are: {plain}\n")
    print(table((*header, *(f"{c} x10" for c in one)), rows))


if __name__ == "__main__":
    main()
