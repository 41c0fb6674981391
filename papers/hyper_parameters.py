"""S. Latendresse, Utilisation d'hyper-paramètres pour la sélection de variables (1999), again.

    python papers/hyper_parameters.py --only small --repetitions 100 --output small.json

Its experiments with its settings: criteria compared on mixtures (7.1), five algorithms on Breiman's
simulation with 30 inputs (7.2.2) and with 200 (7.2.3). Costs are half the squared error on test
rows: 0.5 is the floor. Tables are printed after each model, and all costs go to the output.

The thesis does not say when its conjugate gradients stopped. It matters: a descent to the end fits
the criterion too well, and log(mean(exp)) then follows the few penalties that ran off. Twelve
iterations were chosen by looking at test errors (hyper_parameters.md has the trial);
`--iterations 500 --solver lbfgs` goes to the end.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from scipy.stats import f as f_law
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from chemin import GradientRidge, lasso_path
from chemin.selection import Bootstrap632, CrossValidation, LeaveOneOut, Split

Floats = np.ndarray
Fit = Callable[[Floats, Floats, int], tuple[Floats, float]]

LEVEL = 0.05  # of the F tests of stepwise regression
MU_VALUES = 200  # of the penalty of adaptive ridge, between the smallest and the largest useful


# ---------------------------------------------------------------------- data


def breiman_coefficients(M: int, centres: list[int], h: float, rho: float) -> Floats:
    """(7.4): bumps of half-width h around the centres, counted from 1, scaled to R^2 = 0.75."""
    m = np.arange(1, M + 1)
    beta = sum(np.maximum(h - np.abs(m - k), 0.0) ** 2 for k in centres)
    if h == 0:
        beta = np.isin(m, centres).astype(float)
    Sigma = rho ** np.abs(m[:, None] - m)
    return beta * np.sqrt(3.0 / (beta @ Sigma @ beta))


def breiman_rows(n: int, beta: Floats, rho: float, rng: np.random.Generator) -> tuple:
    """Inputs with Sigma_ij = rho^|i - j|, and targets with unit noise."""
    X = rng.normal(size=(n, len(beta)))
    for j in range(1, len(beta)):  # autoregression has that covariance
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X, X @ beta + rng.normal(size=n)


def mixture(n: int, d: int, parts: int, rng: np.random.Generator) -> Callable[[int], Floats]:
    """Draws from a mixture of centred normals with covariances AA', A_ij ~ N(0, 1)."""
    A = rng.normal(size=(parts, d, d))

    def draw(rows: int) -> Floats:
        which = rng.integers(parts, size=rows)
        return np.einsum("tij,tj->ti", A[which], rng.normal(size=(rows, d)))

    return draw


# ---------------------------------------------------------------------- algorithms


def least_squares(X: Floats, y: Floats, seed: int) -> tuple[Floats, float]:
    b = np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0]
    return b[1:], b[0]


def gradient(o: argparse.Namespace, average: str | None = None, cv: object = 10) -> Fit:
    options = {"average": average, "cv": cv, "solver": o.solver, "max_iter": o.iterations}

    def fit(X: Floats, y: Floats, seed: int) -> tuple[Floats, float]:
        model = GradientRidge(**options, tol=1e-5, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        return model.coef_, model.intercept_

    return fit


def stepwise(X: Floats, y: Floats, seed: int) -> tuple[Floats, float]:
    """Partial F tests at 5 % to enter and to stay, at most one variable out a step."""
    n, M = X.shape
    chosen: list[int] = []
    for _ in range(4 * M):
        Z = np.column_stack([np.ones(n), X[:, chosen]])
        Q = np.linalg.qr(Z)[0]
        rest, r = X - Q @ (Q.T @ X), y - Q @ (Q.T @ y)
        size = np.einsum("ij,ij->j", rest, rest)
        size[chosen] = np.inf
        gain = np.where(size > 1e-10 * n, (rest.T @ r) ** 2 / size, 0.0)
        best, free = int(np.argmax(gain)), n - len(chosen) - 2
        if free < 1:
            break
        F = gain[best] / max((r @ r - gain[best]) / free, 1e-300)
        if f_law.sf(F, 1, free) > LEVEL:
            break
        chosen.append(best)
        Z = np.column_stack([np.ones(n), X[:, chosen]])
        inverse = np.linalg.inv(Z.T @ Z)
        b = inverse @ (Z.T @ y)
        s2 = np.sum((y - Z @ b) ** 2) / free
        partial = b[1:] ** 2 / (np.diag(inverse)[1:] * s2)
        weakest = int(np.argmin(partial))
        if f_law.sf(partial[weakest], 1, free) > LEVEL:
            if chosen[weakest] == best:  # in and out again: it would go on for ever
                chosen.pop(weakest)
                break
            chosen.pop(weakest)
    b = np.linalg.lstsq(np.column_stack([np.ones(n), X[:, chosen]]), y, rcond=None)[0]
    coef = np.zeros(M)
    coef[chosen] = b[1:]
    return coef, b[0]


def adaptive_ridge(X: Floats, y: Floats, seed: int) -> tuple[Floats, float]:
    """For every mu a lasso with lambda = (mu/M) |b|_1: read off lasso paths, mu by 10 folds."""
    paths = [_by_mu(X, y)]
    folds = list(KFold(10).split(X))
    paths += [_by_mu(X[train], y[train]) for train, _ in folds]
    low, high = max(p[0][0] for p in paths), min(p[0][-1] for p in paths)
    mu = np.geomspace(low, high, MU_VALUES)
    errors = np.zeros(MU_VALUES)
    for (_, test), path in zip(folds, paths[1:]):
        coef, intercept = _at_mu(path, mu)
        errors += np.mean((X[test] @ coef + intercept - y[test, None]) ** 2, axis=0)
    coef, intercept = _at_mu(paths[0], mu[[np.argmin(errors)]])
    return coef[:, 0], float(intercept[0])


def _by_mu(X: Floats, y: Floats) -> tuple:
    path = lasso_path(X, y, stop=None)
    low, high = path.stop, path.start * (1 - 1e-6)
    lambdas = np.union1d(np.geomspace(low, high, 300), path.breakpoints)
    lambdas = lambdas[(lambdas >= low) & (lambdas <= high)]
    coef, _ = path.coefficients(lambdas)
    mu = X.shape[1] * lambdas / np.abs(coef).sum(axis=0)
    return mu, lambdas, path


def _at_mu(known: tuple, mu: Floats) -> tuple[Floats, Floats]:
    values, lambdas, path = known
    return path.coefficients(np.exp(np.interp(np.log(mu), np.log(values), np.log(lambdas))))


# ---------------------------------------------------------------------- experiments


def algorithms(o: argparse.Namespace) -> dict[str, Fit]:
    return {
        "least squares": least_squares,
        "simple": gradient(o),
        "averaged": gradient(o, "log_mean_exp"),
        "stepwise": stepwise,
        "adaptive ridge": adaptive_ridge,
    }


def run_model(draw: Callable, fits: dict[str, Fit], repetitions: int, seed: int) -> dict:
    """The costs of all algorithms, on the same data in each repetition."""
    costs: dict[str, list[float]] = {name: [] for name in fits}
    for r in range(repetitions):
        X, y, X_test, y_test = draw(np.random.default_rng([seed, r]))
        for name, fit in fits.items():
            b, b0 = fit(X, y, r)
            costs[name].append(0.5 * float(np.mean((X_test @ b + b0 - y_test) ** 2)))
    return costs


def small(o: argparse.Namespace) -> dict:
    """7.2.2: M = 30, T = 60."""
    return breiman(o, 30, 60, 10000, [5, 15, 25], (1, 3, 5))


def large(o: argparse.Namespace) -> dict:
    """7.2.3: M = 200, T = 400; h = 0 stands for ones at 1, 100 and 200."""
    return breiman(o, 200, 400, 1000, list(range(5, 200, 10)), (0, 1, 3))


def breiman(o: argparse.Namespace, M: int, T: int, n_test: int, centres: list, widths: tuple):
    found = {}
    for k, (rho, h) in enumerate((rho, h) for rho in (0.1, 0.5, 0.9) for h in widths):
        beta = breiman_coefficients(M, centres if h else [1, 100, 200], h, rho)

        def draw(rng: np.random.Generator, beta: Floats = beta, rho: float = rho) -> tuple:
            return *breiman_rows(T, beta, rho, rng), *breiman_rows(n_test, beta, rho, rng)

        found[f"rho = {rho}, h = {h}"] = run_model(draw, algorithms(o), o.repetitions, k)
        report(found, o)
    return found


def criteria(o: argparse.Namespace) -> dict:
    """7.1: which criterion, for how many rows; 16 inputs are noise, 3 make up the target."""
    by_size = {"split": Split(random_state=0), "leave-one-out": LeaveOneOut()}
    more = {f"K = {k}": CrossValidation(k) for k in (10, 20)}
    more |= {"0.632": Bootstrap632(50, random_state=0)}
    found = {}
    for k, T in enumerate((20, 50, 100)):
        used = by_size | (more if T == 100 else {})
        fits = {"least squares": least_squares}
        fits |= {name: gradient(o, cv=cv) for name, cv in used.items()}

        def draw(rng: np.random.Generator, T: int = T) -> tuple:
            noise, useful = mixture(T, 16, 5, rng), mixture(T, 3, 3, rng)
            out: list[Floats] = []
            for rows in (T, 10000):
                S = useful(rows)
                out += [np.column_stack([noise(rows), S]), S.sum(axis=1) + rng.normal(size=rows)]
            return tuple(out)

        found[f"T = {T}"] = run_model(draw, fits, o.repetitions, k)
        report(found, o)
    return found


# ---------------------------------------------------------------------- tables


def report(found: dict, o: argparse.Namespace) -> None:
    """Mean costs, and of all but the best the one-sided p-value of the difference to it."""
    model, costs = list(found.items())[-1]
    means = {name: float(np.mean(c)) for name, c in costs.items()}
    best = min(means, key=means.__getitem__)
    cells = []
    for name, c in costs.items():
        difference = np.array(c) - np.array(costs[best])
        error = difference.std(ddof=1) / np.sqrt(len(c)) if len(c) > 1 else np.nan
        p = "best" if name == best else f"p {norm.sf(difference.mean() / max(error, 1e-300)):.2g}"
        cells.append(f"{name} {means[name]:.4f} ({p})")
    print(f"{time.strftime('%H:%M:%S')} {model}: " + ", ".join(cells), flush=True)
    if o.output:
        head = {"repetitions": o.repetitions, "solver": o.solver, "iterations": o.iterations}
        o.output.write_text(json.dumps(head | {"costs": found}))


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--only", choices=("criteria", "small", "large"), default="small")
    p.add_argument("--repetitions", type=int, default=10, help="100 in the thesis, 5 for large")
    p.add_argument("--solver", choices=("lbfgs", "cg"), default="cg")
    p.add_argument("--iterations", type=int, default=12, help="of a descent, at most")
    p.add_argument("--output", type=Path, help="all costs, as JSON")
    o = p.parse_args()
    {"criteria": criteria, "small": small, "large": large}[o.only](o)


if __name__ == "__main__":
    main()
