"""chemin beside what one would use instead, in one run on one machine.

    make bench
    python benchmarks/run.py --sizes 200,500 --only svc,lasso

Prints tables, and after a run of everything writes them to benchmarks/results.md, with the machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

RESULTS = Path(__file__).with_name("results.md")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TITLES = {
    "svc": "C-SVM against 100 fits",
    "audit": "What the audit of a walk costs",
    "cvxcla": "C-SVM against cvxcla",
    "svr": "epsilon-SVR against 100 fits",
    "nu": "nu-SVR against NuSVR, and leave-one-out",
    "quadratic": "Quadratic losses against eigendecompositions and liblinear",
    "lasso": "Lasso against lars_path",
    "pins": "C-SVM along the cost, quantile regression along tau",
    "penalties": "Penalties by gradient against finite differences and a plain loop",
    "variables": "Choosing variables: stepwise, adaptive ridge, lasso",
    "choosing": "Choosing C by cross-validation",
    "shares": "What choosing takes beside its walks",
    "tasks": "Choosing on tasks: C, several classes, gamma",
    "mkl": "Weights of kernels against grid searches",
    "large": "Many points: a map with few features and the linear path",
    "sparse": "Many sparse points and features",
    "growth": "Growth",
    "profile": "Where the time goes",
}


def whole_numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def sections(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(TITLES):
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is none of {', '.join(TITLES)}")
    return names


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(
        description="chemin beside what one would use instead.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    p.add_argument("--only", type=sections, help=f"some of {','.join(TITLES)} (default: all)")
    p.add_argument("--threads", type=int, default=1, help="threads of BLAS")
    p.add_argument("--repeats", type=int, default=3, help="best of so many runs")
    p.add_argument("--sizes", type=whole_numbers, default=[200, 500, 1000, 2000, 5000])
    p.add_argument("--seeds", type=int, default=3, help="seeds of the C-SVM")
    p.add_argument("--large-seeds", type=int, default=3, help="the same from n = 5000 on")
    p.add_argument("--cvxcla", type=int, default=800, metavar="N", help="size against cvxcla")
    p.add_argument("--svr", type=whole_numbers, default=[200, 500, 1000, 2000], metavar="SIZES")
    p.add_argument("--nu", type=int, default=1500, metavar="N", help="size of the toy of nu-SVR")
    p.add_argument("--pins", type=whole_numbers, default=[300, 1000, 2000], metavar="SIZES")
    p.add_argument("--wide", type=whole_numbers, default=[50_000], metavar="SIZES")
    p.add_argument("--choosing", type=whole_numbers, default=[500, 1000, 2000], metavar="SIZES")
    p.add_argument("--tasks", type=whole_numbers, default=[400, 800, 1600], metavar="SIZES")
    p.add_argument("--choosing-seeds", type=int, default=1, help="seeds of choosing")
    p.add_argument(
        "--growth",
        type=whole_numbers,
        default=[200, 500, 1000, 2000, 5000],
        metavar="SIZES",
        help="sizes, up to 10000 if you have the time",
    )
    p.add_argument(
        "--large", type=int, default=20_000, metavar="N", help="points of `large`, `sparse`"
    )
    p.add_argument("--profile", type=int, default=2000, metavar="N", help="size of the profile")
    p.add_argument("--output", type=Path, help=f"file (default: {RESULTS.name}, when all is run)")
    return p.parse_args()


def benchmarks(o: argparse.Namespace) -> dict[str, Callable[[], str]]:
    """What to call for each table; imported here, after the threads have been set."""
    import audit
    import choosing
    import growth
    import hotspots
    import large
    import mkl
    import nu
    import penalties
    import pins
    import quadratic
    import shares
    import speed
    import tasks
    import variables

    return {
        "svc": lambda: speed.svc(o.sizes, o.seeds, o.large_seeds, o.repeats),
        "audit": lambda: audit.audit(o.sizes, 3 * o.repeats),
        "cvxcla": lambda: speed.cvxcla(o.cvxcla, o.repeats),
        "svr": lambda: speed.svr(o.svr, o.repeats),
        "nu": lambda: nu.nu(o.nu, o.repeats),
        "quadratic": lambda: quadratic.quadratic(o.repeats),
        "lasso": lambda: speed.lasso(o.repeats),
        "pins": lambda: pins.pins(o.pins, o.repeats),
        "penalties": lambda: penalties.penalties(o.repeats),
        "variables": lambda: variables.variables(o.repeats, o.wide),
        "choosing": lambda: choosing.choosing(o.choosing, o.choosing_seeds, o.repeats),
        "shares": lambda: shares.shares([500, 1500], 2 * o.repeats),
        "tasks": lambda: tasks.tasks(o.tasks, o.repeats),
        "mkl": lambda: mkl.mkl(1000, o.repeats),
        "large": lambda: large.large(o.large),
        "sparse": lambda: large.sparse(o.large),
        "growth": lambda: growth.growth(o.growth),
        "profile": lambda: hotspots.hotspots(o.profile),
    }


def main() -> None:
    options = parse()
    for name in THREADS:  # before NumPy is imported, and for the processes that are started
        os.environ[name] = str(options.threads)
    calls = benchmarks(options)
    import machine

    output = options.output or (RESULTS if options.only is None else None)
    command = (
        " ".join(["python benchmarks/run.py", *sys.argv[1:]]) if sys.argv[1:] else "make bench"
    )
    date = time.strftime("%Y-%m-%d")
    text = f"# Benchmarks\n\nMade by `{command}`, {date}.\n\n{machine.describe()}\n"
    print(text)
    for name in options.only or TITLES:
        begin = time.perf_counter()
        part = f"## {TITLES[name]}\n\n{calls[name]()}\n"
        print(f"{part}\n({name}: {time.perf_counter() - begin:.0f} s)\n", flush=True)
        text += f"\n{part}"
        if output is not None:  # after each, so that what is done is kept
            output.write_text(text)


if __name__ == "__main__":
    main()
