"""Several estimators on repeated draws: paired differences, and which of them are told apart."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Any, Any, Any, Any]]

FAR = 2.0  # standard errors: a difference beyond is significant


@dataclass(frozen=True)
class Comparison:
    """Losses of several estimators on the same draws, one row a draw.

    Each estimator is compared with the one whose mean loss is smallest, by the differences of their
    losses draw by draw:

        D = mean of the differences,      S = their standard deviation / sqrt(draws)

    A difference is significant if D > 2 S. p is the chance of such a mean, or of a larger one, if
    both were equally good: 1 - Phi(D / S), one-sided and normal. The best was found by the same
    losses: of many estimators that are equally good one will look best.

    Attributes
    ----------
    names : list of str
    losses : ndarray of shape (draws, estimators)
    mean, standard_error : ndarray of shape (estimators,)
    best : int
        The estimator with the smallest mean.
    difference, difference_error : ndarray of shape (estimators,)
        D and S; 0 for the best.
    p : ndarray of shape (estimators,)
        NaN for the best.
    significant : ndarray of bool of shape (estimators,)
    remarks : dict
        What the fits have warned of, and how often.
    """

    names: list[str]
    losses: Floats
    remarks: dict[str, int]

    @property
    def mean(self) -> Floats:
        return self.losses.mean(axis=0)

    @property
    def standard_error(self) -> Floats:
        return _standard_error(self.losses)

    @property
    def best(self) -> int:
        return int(np.argmin(self.mean))

    @property
    def _differences(self) -> Floats:
        return self.losses - self.losses[:, [self.best]]

    @property
    def difference(self) -> Floats:
        return self._differences.mean(axis=0)

    @property
    def difference_error(self) -> Floats:
        return _standard_error(self._differences)

    @property
    def p(self) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            out = np.asarray(ndtr(-self.difference / self.difference_error))
        out[np.isnan(out)] = 0.5  # losses that are all the same
        out[self.best] = np.nan
        return out

    @property
    def significant(self) -> NDArray[np.bool_]:
        far = self.difference > FAR * self.difference_error
        far[self.best] = False
        return far

    def to_frame(self) -> Any:
        """One row an estimator, as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        names = ("mean", "standard_error", "difference", "difference_error", "p", "significant")
        columns = {name: getattr(self, name) for name in names}
        return pandas.DataFrame(columns, index=self.names)

    def table(self) -> str:
        """One line an estimator, the best first."""
        wide = max(10, *map(len, self.names))
        head = ("mean", "± s.e.", "behind", "± s.e.", "p", "")
        lines = ["".ljust(wide) + "".join(h.rjust(11) for h in head)]
        for k in np.argsort(self.mean, kind="stable"):
            cells = [self.mean[k], self.standard_error[k]]
            cells += [] if k == self.best else [self.difference[k], self.difference_error[k]]
            text = [f"{x:.4g}" for x in cells]
            if k != self.best:
                word = "worse" if self.significant[k] else "not told"
                text += [f"{self.p[k]:.2g}", word]
            lines.append(self.names[k].ljust(wide) + "".join(t.rjust(11) for t in text))
        return "\n".join(lines)

    def __repr__(self) -> str:
        tied = int(np.count_nonzero(~self.significant)) - 1
        draws, name = len(self.losses), self.names[self.best]
        return (
            f"<Comparison of {len(self.names)} estimators on {draws} draws: {name} is best, "
            f"{tied} not told from it>"
        )


def compare(
    estimators: Mapping[str, Any],
    draw: Draw,
    *,
    n_repeats: int = 100,
    loss: str | Callable[[Floats, Floats], float] = "squared",
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Fit several estimators on repeated draws of data, and compare their losses pair by pair.

    Parameters
    ----------
    estimators : dict of name: estimator
        Each is cloned for every draw.
    draw : callable
        `draw(rng)` returns X, y, X_test, y_test; rng is a NumPy Generator of its own for each draw.
    n_repeats : int, at least 2
    loss : "squared", "half squared", "absolute" or callable
        The mean over the test rows, or loss(y_test, predictions) as a number; lower is better.
    random_state : int or None
    n_jobs : int or None
        Processes, as in joblib.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> def draw(rng):
    ...     X, y, _ = chemin.datasets.make_breiman(560, rng, h=1)
    ...     return X[:60], y[:60], X[60:], y[60:]
    >>> models = {"least squares": LinearRegression(), "stepwise": chemin.StepwiseRegression()}
    >>> compare(models, draw, n_repeats=10)
    <Comparison of 2 estimators on 10 draws: stepwise is best, 0 not told from it>
    """
    if len(estimators) < 2:
        raise ValueError(f"estimators must have at least 2 entries, got {len(estimators)}")
    if isinstance(n_repeats, bool) or n_repeats != int(n_repeats) or n_repeats < 2:
        raise ValueError(f"n_repeats must be an integer >= 2, got {n_repeats!r}")
    score = _LOSSES.get(loss) if isinstance(loss, str) else loss
    if score is None:
        raise ValueError(f"loss must be one of {', '.join(_LOSSES)} or a callable, got {loss!r}")
    seeds = np.random.SeedSequence(random_state).spawn(int(n_repeats))
    run = delayed(_one_draw)
    found = Parallel(n_jobs=n_jobs)(run(dict(estimators), draw, score, seed) for seed in seeds)
    losses = np.array([row for row, _ in found])
    if not np.isfinite(losses).all():
        k, j = np.argwhere(~np.isfinite(losses))[0]
        raise ValueError(f"the loss of {list(estimators)[j]!r} on draw {k} is {losses[k, j]}")
    remarks: Counter[str] = sum((heard for _, heard in found), Counter())
    return Comparison(list(estimators), losses, dict(remarks))


def _one_draw(
    estimators: dict[str, Any], draw: Draw, score: Callable[..., float], seed: Any
) -> tuple[list[float], Counter[str]]:
    """The losses of one draw, and what the fits have warned of."""
    X, y, X_test, y_test = draw(np.random.default_rng(seed))
    losses, heard = [], Counter[str]()
    for name, estimator in estimators.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            f = clone(estimator).fit(X, y).predict(X_test)
        heard.update(f"{name}: {w.message}".partition(" of the range")[0] for w in caught)
        losses.append(float(score(np.asarray(y_test), np.asarray(f))))
    return losses, heard


def _standard_error(columns: Floats) -> Floats:
    return np.asarray(columns.std(axis=0, ddof=1) / np.sqrt(len(columns)))


_LOSSES: dict[str, Callable[[Floats, Floats], float]] = {
    "squared": lambda y, f: float(np.mean((y - f) ** 2)),
    "half squared": lambda y, f: float(0.5 * np.mean((y - f) ** 2)),
    "absolute": lambda y, f: float(np.mean(np.abs(y - f))),
}

__all__ = ["Comparison", "compare"]
