"""Random nasty problems beyond the suite's: how each walk ends, by problem and by scale.

    python benchmarks/nasty.py 5000 --seed 1 --jobs 2

Oracle: the certificate at every breakpoint, between them, at random values and above the start.
"wrong" must be 0 everywhere: a walk that is complete, or has been kept, with a solution that its
certificate refuses. "exceptions" must be 0. What is incomplete has ended at round-off, and says so.
"""

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from contract import CASES, inexact
from test_nasty import drawn

ENDS = ["complete", "incomplete", "empty", "wrong", "exceptions"]
CHUNK = 100


def judged(case, recipe):
    """How the walk of a recipe ends, and what is wrong with it."""
    try:
        path = recipe.walk(case)
        if not np.isfinite(path.start):
            return "empty", path.reason
        wrong = inexact(path, blind=True, n_random=30)
    except Exception as error:  # an exception is what we look for
        return "exceptions", repr(error)
    if wrong:
        return "wrong", wrong[0]
    return ("complete", "") if path.complete else ("incomplete", path.reason)


def counts(name, seed, n):
    """Ends of n recipes, and those that must not be."""
    warnings.simplefilter("ignore")
    case = next(case for case in CASES if case.name == name)
    rng = np.random.default_rng(seed)
    ends, bad = Counter(), []
    for _ in range(n):
        recipe = drawn(case, rng)
        end, why = judged(case, recipe)
        ends[recipe.ordinary, end] += 1
        if end in ("wrong", "exceptions") or (recipe.ordinary and end != "complete"):
            bad.append((end, recipe, why))
    return ends, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="recipes of each problem")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="part of a problem's name")
    parser.add_argument("--show", type=int, default=2, help="cases shown of each problem")
    args = parser.parse_args()
    print("| problem | scales |", " | ".join(ENDS), "|")
    print("|---|---|" + "---:|" * len(ENDS))
    cases = [case for case in CASES if args.only is None or args.only in case.name]
    for number, case in enumerate(cases):
        jobs = (
            delayed(counts)(case.name, [args.seed, number, first], min(CHUNK, args.count - first))
            for first in range(0, args.count, CHUNK)
        )
        ends, bad = Counter(), []
        for some, worst in Parallel(n_jobs=args.jobs)(jobs):
            ends += some
            bad += worst
        for ordinary, scales in ((True, "ordinary"), (False, "extreme")):
            print(f"| {case.name} | {scales} |", end="")
            print("".join(f" {ends[ordinary, end]} |" for end in ENDS), flush=True)
        bad.sort(key=lambda found: ENDS.index(found[0]), reverse=True)
        for end, recipe, why in bad[: args.show]:
            print(f"    {end}: {recipe}: {why}", flush=True)


if __name__ == "__main__":
    main()
