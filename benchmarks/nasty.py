"""Random nasty problems beyond the suite's: how each walk ends, by problem and by scale.

    python benchmarks/nasty.py 5000 --seed 1 --jobs 2
    python benchmarks/nasty.py 5000 --seed 1 --only "svr in epsilon"

Oracle: the certificate at every breakpoint, between them, at random values and above the start.
"wrong" must be 0 everywhere: a walk that is complete, or has been kept, with a solution that its
certificate refuses. "exceptions" must be 0. What is incomplete has ended at round-off, and says so.
A recipe that takes more than `--limit` seconds of the processor counts as slow, and nothing more is
known of it.

Prints the table as it grows and writes it to benchmarks/nasty.md: rows of the problems that were
run replace those that stand there.
"""

import argparse
import os
import signal
import sys
import time
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before NumPy is imported
    os.environ.setdefault(name, "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np  # noqa: E402
from joblib import Parallel, delayed  # noqa: E402

from contract import CASES, MORE, inexact  # noqa: E402
from test_nasty import POINTS, drawn  # noqa: E402

PROBLEMS = CASES + MORE
RESULTS = Path(__file__).with_name("nasty.md")
ENDS = ["complete", "incomplete", "empty", "slow", "wrong", "exceptions"]
NEVER = ("slow", "wrong", "exceptions")
HEAD = ["problem", "scales", "seed", "recipes", *ENDS, "not complete, %", "longest, s"]
HEAD += ["worst family, %"]
CHUNK = 100


class TooLong(BaseException):
    """The time of a recipe is up. No walk takes it for an error or an interrupt of its own."""


@contextmanager
def at_most(seconds):
    """Ends what takes more processor time than that, where the system has such an alarm."""

    def ring(*_):
        raise TooLong

    if not hasattr(signal, "SIGPROF"):
        yield
        return
    old = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, old)


def judged(case, recipe, limit=np.inf):
    """How the walk of a recipe ends, and what is wrong with it."""
    try:
        with at_most(limit):
            path = recipe.walk(case)
            if not np.isfinite(path.start):
                return "empty", path.reason
            wrong = inexact(path, blind=True, n_random=30)
    except TooLong:
        return "slow", f"not done after {limit:g} s"
    except Exception as error:  # an exception is what we look for
        return "exceptions", repr(error)
    if wrong:
        return "wrong", wrong[0]
    return ("complete", "") if path.complete else ("incomplete", path.reason)


def counts(name, seed, n, limit):
    """Ends of n recipes by scales and family, the longest time of each scale, and those that must
    not be.
    """
    warnings.simplefilter("ignore")
    case = next(case for case in PROBLEMS if case.name == name)
    rng = np.random.default_rng(seed)
    ends, longest, bad = Counter(), {True: 0.0, False: 0.0}, []
    for _ in range(n):
        recipe = drawn(case, rng)
        begun = time.process_time()
        end, why = judged(case, recipe, limit)
        longest[recipe.ordinary] = max(longest[recipe.ordinary], time.process_time() - begun)
        ends[recipe.ordinary, recipe.points, end] += 1
        if end in NEVER or (recipe.ordinary and end != "complete"):
            bad.append((end, recipe, why))
    return ends, longest, bad


def rows(name, args, ends, longest):
    """Two rows of the table: ordinary scales and extreme ones."""
    for ordinary, scales in ((True, "ordinary"), (False, "extreme")):
        found = {points: [ends[ordinary, points, end] for end in ENDS] for points in POINTS}
        total = [sum(column) for column in zip(*found.values())]
        shares = {points: left(some) for points, some in found.items()}
        worst = max(shares, key=lambda points: shares[points])
        cells = [name, scales, args.seed, sum(total), *total, f"{left(total):.2f}"]
        shown = f"{worst} {shares[worst]:.1f}" if shares[worst] else ""
        cells += [f"{longest[ordinary]:.1f}", shown]
        yield "| " + " | ".join(str(cell) for cell in cells) + " |"


def left(found):
    """The share that is not complete, in per cent."""
    return 100.0 * (sum(found) - found[0]) / sum(found) if sum(found) else 0.0


def written(new):
    """The table on file with new rows in the order of the problems; rows by problem and scales."""

    def key(row):
        return tuple(cell.strip() for cell in row.split("|")[1:3])

    old = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    held = {key(row): row for row in [r for r in old if r.startswith("| ")][1:]}
    # Rows that were made before a column was are shorter.
    held = {k: row + "  |" * (len(HEAD) + 1 - row.count("|")) for k, row in held.items()}
    held |= {key(row): row for row in new}
    order = [(case.name, scales) for case in PROBLEMS for scales in ("ordinary", "extreme")]
    title = "# Random nasty problems\n\n" + INTRODUCTION + "\n"
    head = ["| " + " | ".join(HEAD) + " |", "|---|---|" + "---:|" * (len(HEAD) - 2)]
    RESULTS.write_text("\n".join([title, *head, *(held[k] for k in order if k in held)]) + "\n")


INTRODUCTION = """\
2 to 16 points, one to four features: grids, copies, points on a line, binary and constant features,
mirror images; one class of a single member, ties, outliers; weights. Ordinary scales are features
and weights of order one and the default stop; the others have weights or features over twelve
orders of magnitude, or a stop of 0. Incomplete: the path ends at round-off before its stop, and
says so; empty: round-off hides even its start. Slow: given up after the time limit. Wrong: a
certificate refuses a solution of the path somewhere. Worst family: of the points, the one with the
largest share that is not complete. Made by `python benchmarks/nasty.py`."""


def run(case, number, args):
    """All recipes of one problem."""
    jobs = (
        delayed(counts)(case.name, [args.seed, number, first], size, args.limit)
        for first in range(0, args.count, CHUNK)
        for size in [min(CHUNK, args.count - first)]
    )
    ends, longest, bad = Counter(), {True: 0.0, False: 0.0}, []
    for some, seconds, worst in Parallel(n_jobs=args.jobs)(jobs):
        ends += some
        longest = {k: max(v, seconds[k]) for k, v in longest.items()}
        bad += worst
    bad.sort(key=lambda found: ENDS.index(found[0]), reverse=True)
    return ends, longest, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="recipes of each problem")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="part of a problem's name")
    parser.add_argument("--limit", type=float, default=60.0, help="processor seconds a recipe")
    parser.add_argument("--show", type=int, default=2, help="cases shown of each problem")
    parser.add_argument("--dry", action="store_true", help="do not write benchmarks/nasty.md")
    args = parser.parse_args()
    print("|", " | ".join(HEAD), "|")
    print("|---|---|" + "---:|" * (len(HEAD) - 2))
    for number, case in enumerate(PROBLEMS):
        if args.only is not None and args.only not in case.name:
            continue
        ends, longest, bad = run(case, number, args)
        new = list(rows(case.name, args, ends, longest))
        print("\n".join(new), flush=True)
        if not args.dry:
            written(new)
        for end, recipe, why in bad[: args.show]:
            print(f"    {end}: {recipe}: {why}", flush=True)


if __name__ == "__main__":
    main()
