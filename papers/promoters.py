"""Promoters of E. coli: spectrum kernels beside the published leave-one-out errors.

    CHEMIN_DATA=folder python papers/promoters.py [--nested]

106 sequences of 57 letters, half of them promoters (Towell, Shavlik, Noordewier 1990). The C-SVM
with `Spectrum(k, normalised=True)`: its exact leave-one-out errors at every breakpoint, the
smallest of which is chosen on those errors themselves. With --nested each sequence in turn is left
out of the choice too: lambda is chosen by ten folds of the other 105.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter

import numpy as np

import chemin
from chemin.kernels import Spectrum

PUBLISHED = {"KBANN": 4, "back-propagation": 8, "nearest neighbour": 13, "ID3": 19}


def naive(texts, k):
    """The kernel matrix by counting substrings in loops."""
    counts = [Counter(t[i : i + k] for i in range(len(t) - k + 1)) for t in texts]
    return np.array([[sum(a[u] * b[u] for u in a) for b in counts] for a in counts], dtype=float)


def left_out(texts, y, k):
    """The fewest leave-one-out errors on the path, and where."""
    path = chemin.svc_path(texts, y, kernel=Spectrum(k, normalised=True))
    wrong = (path.leave_one_out(path.breakpoints) > 0) != (y > 0)[:, None]
    errors = wrong.sum(axis=0)
    assert path.certificate(path.breakpoints).exact.all()
    return int(errors.min()), float(path.breakpoints[errors.argmin()])


def nested(texts, y, k):
    """Errors where lambda is chosen without the sequence that is predicted."""
    kernel, wrong = Spectrum(k, normalised=True), 0
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        model = chemin.PathSVC(kernel=kernel, cv=10).fit(texts[rest], y[rest])
        wrong += int(model.predict(texts[[i]])[0] != y[i])
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nested", action="store_true", help="choose lambda without the left out")
    options = parser.parse_args()
    found = chemin.datasets.load("promoters")
    texts, y = found.data[:, -1], found.target
    head = "| k | equals the naive count | errors of 106 at the best lambda | lambda |"
    print(head + (" nested errors |" if options.nested else ""))
    print("|---|---|---|---|" + ("---|" if options.nested else ""))
    for k in (2, 3, 4, 5):
        same = np.array_equal(Spectrum(k).gram(texts), naive(texts, k))
        errors, lambda_ = left_out(texts, y, k)
        more = f" {nested(texts, y, k)} |" if options.nested else ""
        print(f"| {k} | {same} | {errors} | {lambda_:.3g} |{more}", flush=True)
    print("Published:", ", ".join(f"{name} {count}" for name, count in PUBLISHED.items()))


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="the minimum of the 0/1 error sits at")
    main()
