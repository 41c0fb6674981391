"""Sparse semi-supervised Laplacian SVM (Gasso, Zapien, Canu): its tables again, ours beside theirs.

    python papers/sparse_laplacian.py [moons] [usps]

Two moons: 200 points, 7 neighbours, a Gaussian kernel of width 0.5, mu = 1; lambda2 = 0.001 with 4
labels and 0.01 with more. The paper does not tell the noise of its moons: ours is 0.05, and was
fixed before the runs. Labels are drawn, half of them in each class; draws are repeated 10 times. Of
the models of the whole path with zero error on all 200 points the one with the fewest terms counts.

USPS, 2 against 5 and 1 against 7: width 10, lambda2 = 0.001, mu = 0.1. Training points are drawn
from the standard training set (847 and 954), all other images of the two digits are for test. The
path stops where its test error comes down to that of the plain Laplacian SVM. The paper's split
cannot be drawn from the standard data, so that rates are compared. Means of 7 draws.
"""

from __future__ import annotations

import gzip
import sys
import time
import warnings
from pathlib import Path as File

import numpy as np
from sklearn.datasets import make_moons

import chemin
from chemin.kernels import RBF, GraphGram, graph_laplacian, neighbor_graph
from chemin.selection import GraphFamily, Validation

NOISE = 0.05
DATA = File(__file__).resolve().parents[2] / "shared" / "data"
MOONS = {4: (48.87, 12.58), 8: (32.2, 11.69), 16: (28.4, 12.81), 32: (23.8, 6.54), 64: (22.5, 2.27)}
USPS = {
    (2, 5): (847, 1274, {16: (132, 19), 32: (126, 13), 64: (105.87, 9)}),
    (1, 7): (954, None, {16: (348, 36.8), 32: (317, 23.25), 64: (408, 13.75)}),
}


def drawn(y, count, rng):
    """Half of the labels from each class, -1 elsewhere."""
    out = np.full(len(y), -1)
    for c in (0, 1):
        out[rng.permutation(np.flatnonzero(y == c))[: count // 2]] = c
    return out


def moons_table(runs=10):
    print(f"Two moons, noise {NOISE}, {runs} draws: terms at zero error, mean (sd)")
    print("|  l | paper | ours | runs with zero error | limit: paper + 2 standard errors |")
    print("|---|---|---|---|---|")
    for count, (theirs, sd) in MOONS.items():
        terms = []
        for run in range(runs):
            X, y = make_moons(200, noise=NOISE, random_state=run)
            labels = drawn(y, count, np.random.default_rng(run))
            path = chemin.laplacian_svc_path(
                X, labels, gamma=2.0, lambda2=0.001 if count == 4 else 0.01, mu=1.0
            )
            curve = Validation(X, y, patience=None)(Known(path))
            if curve.minimum == 0:
                value = curve.sparsest(0.0)
                terms.append(path.at(value).support.size)
        mean, spread = np.mean(terms), np.std(terms, ddof=1)
        error = sd / np.sqrt(10)
        print(
            f"| {count} | {theirs} ({sd}) | {mean:.1f} ({spread:.1f}) | {len(terms)} of {runs} | "
            f"{theirs + 2 * error:.1f} |",
            flush=True,
        )


class Known:
    """A family of one path that has been walked."""

    def __init__(self, path):
        self.path, self.problem, self.classifier = path, type(path.problem), True
        self.options = {"stop": path.stop}

    def remember(self, path):
        pass


def digits(a, b):
    parts = []
    for name in ("train", "test"):
        with gzip.open(DATA / f"usps_{name}.csv.gz", "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1)
        some = np.isin(table[:, -1], (a, b))
        parts += [table[some, :-1], (table[some, -1] == b).astype(int)]
    return parts


def usps_table(pair, runs=7):
    n, n_test, rows = USPS[pair]
    X, y, more, labels_more = digits(*pair)
    print(f"USPS, {pair[0]} against {pair[1]}, {n} training points, {runs} draws")
    print("| l | paper: terms, errors | plain: error rate | sparse: error rate | terms | time |")
    print("|---|---|---|---|---|---|")
    for count, (terms, errors) in rows.items():
        found = []
        for run in range(runs):
            rng = np.random.default_rng(run)
            order = rng.permutation(len(X))
            train, rest = order[:n], order[n:]
            test = np.vstack([X[rest], more]), np.concatenate([y[rest], labels_more])
            found.append(one_run(X[train], y[train], test, count, rng))
        plain, sparse, size, seconds = np.mean(found, axis=0)
        spread = np.std([f[2] for f in found], ddof=1)
        rate = f"{errors} = {100 * errors / n_test:.2f} %" if n_test else f"{errors}"
        print(
            f"| {count} | {terms}, {rate} | {100 * plain:.2f} % | {100 * sparse:.2f} % | "
            f"{size:.0f} ({spread:.0f}) | {seconds:.1f} s |",
            flush=True,
        )


def one_run(X, y, test, count, rng, lambda2=0.001, mu=0.1, width=10.0):
    labels = drawn(y, count, rng)
    gamma = 1.0 / (2.0 * width**2)
    plain = chemin.LaplacianSVC(lambda2=lambda2, rho=mu / lambda2, gamma=gamma).fit(X, labels)
    target = float(np.mean(plain.predict(test[0]) != test[1]))
    begun = time.perf_counter()
    L = graph_laplacian(neighbor_graph(X))
    gram = GraphGram(RBF(gamma=gamma).gram(X), L)
    family = GraphFamily(
        X, labels, laplacian=L, gram=gram, lambda2=lambda2, rho=mu / lambda2, gamma=gamma
    )
    curve = Validation(*test, target=target, patience=None)(stop_at(family, target, test))
    good = curve.sparsest(max(0.0, target - curve.minimum))
    taken = time.perf_counter() - begun
    s = curve.path.at(good)
    error = float(np.mean(curve.path.predict(test[0], good) != test[1]))
    return target, error, s.support.size, taken


def stop_at(family, target, test):
    """The family with a path that ends where the test error comes down to the target."""
    Validation(*test, target=target, patience=1e9)(family)
    return Known(family.path)


def main(which):
    warnings.filterwarnings("ignore", message="the graph has")
    if "moons" in which:
        moons_table()
    if "usps" in which:
        for pair in USPS:
            usps_table(pair)


if __name__ == "__main__":
    main(sys.argv[1:] or ["moons", "usps"])
