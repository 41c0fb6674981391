"""The curve of a criterion over the parameter, and the choices that it allows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import check_number, check_positive, check_values
from ..path import Path
from .piecewise import Floats, Piecewise, total

# A loss within this part of the minimum is the minimum: round-off, of f at small lambda above all.
FLAT = 1e-10
# A piece narrower than this part of its place is what round-off makes of two equal crossings.
NARROW = 1e-12
# So far inside a flat interval a choice at its end lies: on the end itself a point has f = 0.
INSIDE = 1e-9
# So far inside where the loss is flat and nothing is lost: nearer to the end f is small beside its
# own terms, and round-off may tell its sign.
TOLD = 1e-7
# So far above all starts, relative, models that jump there have jumped.
BEYOND = 4 * INSIDE
# Ends nearer than this, relative, are one: a value times a share and over it again.
SAME = 1e-12
# Cells narrower than this, relative, are round-off of where their ends are.
THIN = 1e-12


def past_jump(folds: Sequence[Piecewise], path: Any, top: float) -> float:
    """Where a curve ends whose models stand still from `top` on: on a jump there is no choice."""
    jumps = any(fold.jumps(float(path.coordinate.to_u(top))) for fold in folds)
    return top * (1.0 + BEYOND) if jumps else top


class Curve:
    """A loss over the whole range of a parameter, the mean over folds; lower is better.

    Immutable. `curve(value)` is the loss; `curve.score(value)` has scikit-learn's sign.

        score = best - loss      (best: 1 for accuracies and r2, 0 for the "neg_..." scores)

    Without `scoring` errors count as in training, class weights included; scikit-learn's scores
    know sample weights only.

    Attributes
    ----------
    parameter : str
        What moves: "lambda", "epsilon", ...
    scoring, loss : str
        scikit-learn's name of the score, and what the loss is called.
    how : str
        How it was come by: "cross-validated", "held-out", "leave-one-out", "bootstrap".
    top : float
        The largest start of all paths: above it nothing happens but that f becomes constant.
    exact : bool
        Whether the curve is exact everywhere. If not, it was evaluated at `knots` and is drawn
        straight between them. Where round-off does not tell f from 0 it is 0, which is the label
        classes_[0], in curves as in `predict`.
    on_boundary : int
        So many test points (one of several folds counts in each) have f = 0, to round-off, on a
        whole stretch: errors of 0/1 losses there depend on that rule.
    range : tuple of float
        The ends of the parameter. Kernel machines in lambda go beyond the start of their paths:
        the closed form holds there.
    """

    def __init__(
        self,
        folds: Sequence[Piecewise],
        path: Path,
        *,
        range: tuple[float, float],
        top: float,
        scoring: str,
        loss: str,
        best: float = 0.0,
        how: str = "",
        exact: bool = True,
        on_boundary: int = 0,
        goes_on: bool = False,
        closed_above: bool | None = None,
        endless: bool = False,
    ) -> None:
        self.parameter, self.scoring, self.loss, self.exact = path.parameter, scoring, loss, exact
        self.range, self.top, self._best, self._path = range, top, best, path
        self.how = how
        self.on_boundary, self._goes_on, self._endless = on_boundary, goes_on, endless
        # Whether losses are known above the range; None: as the path is.
        self._closed = path.closed_above if closed_above is None else closed_above
        self._coordinate = path.coordinate
        self._folds = tuple(folds)
        ends = np.sort(self._coordinate.to_u(range))
        if self._coordinate.to_infinity:
            # Beyond its last knot a loss is constant: a walk to lambda = 0 needs none at infinity.
            ends = np.minimum(ends, max(f.knots[-1] for f in folds))
        whole = total(self._folds) * (1.0 / len(folds))
        # A knot that only round-off parts from an end is the end.
        first, last = ends + NARROW * np.abs(ends) * [1.0, -1.0]
        inner = whole.knots[(whole.knots > first) & (whole.knots < last)]
        self._mean = whole.on(np.concatenate([ends[:1], inner, ends[1:]])).without_repetitions()
        # The walk's own order: at a jump, the side that the walk came from.
        self._before = self._coordinate.follows(path.start, path.stop)

    @property
    def path(self) -> Path:
        """The path on all rows."""
        return self._path

    # ------------------------------------------------------------------ evaluation

    def _checked(self, values: ArrayLike) -> Floats:
        shape = np.shape(values)
        flat = np.ravel(values) if len(shape) > 1 else values
        v = check_values(flat, self.parameter, finite=False).reshape(shape)
        low, high = self.range
        if self._closed:
            high = np.inf
        slack = 1e-12 * abs(low)  # what going to 1/lambda and back may cost
        bad = v[~((v >= low - slack) & (v <= high * (1 + 1e-12)))]
        if bad.size:
            raise ValueError(
                f"{self.parameter} = {bad.flat[0]:g} lies outside the range of the curve, "
                f"[{low:.6g}, {high:.6g}]"
            )
        return self._coordinate.to_u(v)

    def __call__(self, values: ArrayLike) -> Any:
        """The loss, the mean over folds, at one value or at an array of them."""
        self._checked(values)
        return _plain(self.per_fold(values).mean(axis=0))

    def score(self, values: ArrayLike) -> Any:
        """The loss as a score, with scikit-learn's sign: higher is better.

        It is the score of scikit-learn's scorer with the weights that losses count with: those of
        the samples, and, where no `scoring` was given, those of the classes too.
        """
        return _plain(self._best - self(values))

    def fold_scores(self, value: float) -> Floats:
        """The score of each fold at one value, with scikit-learn's sign."""
        return np.asarray(self._best - self.per_fold(value))

    def per_fold(self, values: ArrayLike) -> Floats:
        """The loss of each fold: shape (folds,) + that of the values."""
        u = self._checked(values)
        return np.array([fold(u, before=self._before) for fold in self._folds])

    def standard_error(self, values: ArrayLike) -> Any:
        """Of the mean over folds: their standard deviation over sqrt(folds); NaN for one fold."""
        losses = self.per_fold(values)
        if self.n_folds < 2:
            return _plain(np.full(losses.shape[1:], np.nan))
        return _plain(losses.std(axis=0, ddof=1) / np.sqrt(self.n_folds))

    @property
    def n_folds(self) -> int:
        return len(self._folds)

    @cached_property
    def knots(self) -> Floats:
        """Where the curve jumps or bends, ascending, with the ends of the range."""
        inner = np.sort(self._coordinate.to_value(self._mean.knots[1:-1]))
        return np.concatenate([self.range[:1], inner, self.range[1:]])

    # ------------------------------------------------------------------ the minimum

    @cached_property
    def _pieces(self) -> tuple[Floats, Floats]:
        """The minimum of each piece and its u; infinite on pieces that only round-off made."""
        f = self._mean
        narrow = np.diff(f.knots) <= NARROW * np.abs(f.knots[1:])
        narrow &= ~narrow.all()
        value, u = f.lowest(float(np.minimum(f.left, f.right)[~narrow].min()))
        return np.where(narrow, np.inf, value), u

    @property
    def _infimum(self) -> float:
        """What the loss comes down to; beside a jump no value may have it."""
        return float(self._pieces[0].min())

    @cached_property
    def minimum(self) -> float:
        """The smallest loss over the whole range: that of the minimiser."""
        return self._infimum if len(self._flat()[0]) else self._lowest[0]

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Where the loss is smallest: the whole interval, or one value twice.

        Of several intervals the widest on the log scale, and of equals the larger values.
        """
        low, high = self._flat()
        if len(low) == 0:
            return self._lowest[1], self._lowest[1]
        k = int(np.argmax(self._widths(low, high)))
        return float(low[k]), float(high[k])

    @cached_property
    def _lowest(self) -> tuple[float, float]:
        """The smallest loss that a value has, and the value; no interval has it."""
        values, best = self._pieces[0], (np.inf, np.nan)
        for k in np.argsort(values, kind="stable"):
            if values[k] >= best[0]:
                break
            best = min(best, self._lowest_of(int(k)))
        return best

    def _lowest_of(self, k: int) -> tuple[float, float]:
        """The same on one piece; where f jumps there, a little inside."""
        value, place = (found[k] for found in self._pieces)
        middle = 0.5 * (self._mean.knots[k] + self._mean.knots[k + 1])
        step = np.clip(middle - place, -INSIDE * abs(middle), INSIDE * abs(middle))
        point, inside = self._inside(self._coordinate.to_value(place + [0.0, step]))
        if self._mean.jumps(place):
            return float(self(inside)), float(inside)
        return float(value), float(point)

    def _flat(self) -> tuple[Floats, Floats]:
        """Intervals on which the loss is constantly smallest, larger values first."""
        f, most = self._mean, self._infimum + FLAT * abs(self._infimum)
        # Pieces that only round-off made do not part their neighbours.
        wide = np.flatnonzero(np.isfinite(self._pieces[0]))
        flat = f.highest()[wide] <= most
        change = np.flatnonzero(np.diff(np.concatenate([[False], flat, [False]]).astype(int)))
        first, after = change.reshape(-1, 2).T
        u = np.column_stack([f.knots[wide[first]], f.knots[wide[after - 1] + 1]])
        ends = self._inside(self._coordinate.to_value(u))
        ends = np.sort(ends, axis=1)
        ends = ends[np.argsort(-ends[:, 1], kind="stable")]
        return ends[:, 0], ends[:, 1]

    def _inside(self, values: Floats) -> Floats:
        """Within the range, which going to 1/lambda and back may miss by the last digit."""
        low, high = self.range
        at_low = self._coordinate.to_u(values) == self._coordinate.to_u(low)
        return np.clip(np.where(at_low, low, values), low, high)

    def _widths(self, low: Floats, high: Floats) -> Floats:
        low, high = self._shown(low, high)
        low, high = np.minimum(low, self.top), np.minimum(high, self.top)
        # Rounded, so that what is equally wide but for round-off is equal.
        return np.asarray(np.round(np.log(high / low), 9))

    def _shown(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Intervals without what lies above the starts of all paths, or at 0, if more is left."""
        # In u = 1/parameter the last knot is the smallest value at which anything happens.
        last = float(self._coordinate.to_value(self._mean.knots[-1:])[0])
        tiny = last if self._coordinate.to_infinity else 0.0
        low = np.maximum(low, tiny or 1e-9 * high)
        return low, np.where(low < self.top, np.minimum(high, self.top), high)

    @cached_property
    def minimiser(self) -> float:
        """The value at which the loss is smallest; the middle of a flat interval on a log scale.

        What lies above the start of all paths is not counted in: nothing happens there. Where f
        itself stands still from there on (lasso, epsilon) an interval that goes so far has no
        middle, and the start is taken.
        """
        low, high = (np.array([end]) for end in self.interval)
        if low[0] == high[0]:
            return float(low[0])
        if self._endless and high[0] >= self.range[1]:
            return self.range[1]
        low, high = self._shown(low, high)
        return float(np.sqrt(low[0]) * np.sqrt(high[0]))

    @property
    def goes_on(self) -> bool:
        """Whether the minimum sits at the lower end and events of the paths lie below it."""
        return self._goes_on

    @property
    def at_lower_end(self) -> bool:
        return self.interval[0] <= self.range[0]

    @property
    def at_end(self) -> bool:
        """Whether the minimum sits at an end of the range: it may go on beyond."""
        low, high = self.interval
        return bool(low <= self.range[0] or high >= self.range[1])

    def is_inside(self, factor: float, rise: float = 1.0) -> bool:
        """Whether the minimum lies this factor above the lower end, and the loss rises below it.

        By `rise` standard errors at least, somewhere between the end and the minimum. A loss of 0
        cannot become smaller.
        """
        factor, rise = check_number(factor, "factor"), check_number(rise, "rise")
        if self.exact and self.minimum <= 0:
            return True
        low = self.interval[0]
        if self.at_lower_end or low < factor * self.range[0]:
            return False
        below = np.append(self.knots[self.knots < low], self.range[0])
        error = self.standard_error(self.minimiser)
        error = float(error) if np.isfinite(error) else 0.0
        return bool(np.max(self(below)) >= self.minimum + rise * error)

    def falls_below(self, value: float) -> bool:
        """Whether the minimum is met nowhere from a value on, and is not 0."""
        value = check_number(value, self.parameter)
        if self.exact and self.minimum <= 0:
            return False
        loss, u = self._pieces
        least = loss <= self.minimum + FLAT * abs(self.minimum)
        return bool(np.max(self._coordinate.to_value(u[least])) < value)

    # ------------------------------------------------------------------ other choices

    def one_se(self) -> float:
        """The largest value, the most regularised, within one standard error of the minimum.

        Of values so large that nothing happens any more the smallest: the start of all paths, or
        the last jump of the curve.
        """
        return self._largest_below(self.minimum + self._one_standard_error())

    def _one_standard_error(self) -> float:
        error = float(self.standard_error(self.minimiser))
        if not np.isfinite(error):
            raise ValueError(
                f"a standard error needs at least 2 folds, but the curve has {self.n_folds}"
            )
        return error

    def _largest_below(self, most: float) -> float:
        low, high = self._below(most)
        k = int(np.argmax(high))
        largest = float(self._stepped(low, high)[1][k])
        # The end of the range is artificial.
        return max(min(largest, max(self._last, float(low[k]))), self.minimiser)

    def _stepped(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Ends of intervals a little inside, where they may be jumps: not at those of the range."""
        step = np.minimum(INSIDE * high, 0.5 * (high - low))
        here, there = self(low + step), self(high - step)
        flat = np.abs(here - there) <= FLAT * np.abs(here)
        step = np.where(flat, np.minimum(TOLD * high, 0.5 * (high - low)), step)
        begin, end = self.range
        first = np.where(low > begin * (1 + SAME), low + step, low)
        return first, np.where(high < end * (1 - SAME), high - step, high)

    @property
    def _last(self) -> float:
        """Above this nothing happens: no path has an event, the curve no jump."""
        if not self._closed:
            return self.range[1]
        last = self.top
        if self._coordinate.to_infinity:  # f goes on to move, and points may pass 0
            last = max(last, float(self.knots[1:-1].max(initial=0.0)))
        return min(last * (1 + BEYOND), self.range[1])

    def _below(self, most: float) -> tuple[Floats, Floats]:
        """Intervals of values, each on one piece, on which the loss is at most `most`."""
        wide = np.isfinite(self._pieces[0])
        u = np.array(self._mean.below(most + FLAT * abs(most), wide))
        ends = np.sort(self._inside(self._coordinate.to_value(u)), axis=0)
        return ends[0], ends[1]

    def sparsest(self, tolerance: float | None = None) -> float:
        """The value with the fewest non-zero coefficients among those nearly as good as the best.

        They are those of `path`: where multipliers are not unique (repeated rows), others may have
        fewer.

        Parameters
        ----------
        tolerance : float or None
            The loss may be larger than the minimum by so much; None: by one standard error.

        Returns
        -------
        float
            Of several, that with the smallest loss.
        """
        if tolerance is None:
            extra = self._one_standard_error()
        else:
            extra = check_positive(tolerance, "tolerance", zero=True, inf=True)
        most = self.minimum + extra
        low, high = self._below(most)
        cells = self._wide(self._cells(low, high))
        # Within the cell, which round-off may leave where it has no width.
        middles = np.clip(np.sqrt(cells[:, 0]) * np.sqrt(cells[:, 1]), *cells.T)
        counts = self.n_coefficients(middles)
        fewest = counts == counts.min()
        cells, middles = cells[fewest], middles[fewest]
        # Ends may be jumps: a little inside, and only where the middle is not as good.
        first, last = self._stepped(cells[:, 0], cells[:, 1])
        lowest = self._inside(self._coordinate.to_value(self._mean.lowest(most)[1]))
        within = np.any((first[:, None] <= lowest) & (lowest <= last[:, None]), axis=0)
        inner = np.concatenate([middles, lowest[within]])
        ends = np.concatenate([first, last])
        losses = self(np.concatenate([inner, ends]))
        most = losses.min() + FLAT * abs(losses.min())
        good = losses <= most
        inner, ends = inner[good[: len(inner)]], ends[good[len(inner) :]]
        best = float(inner.max() if len(inner) else ends.max())
        return self._last if best > self._last and self(self._last) <= most else best

    def _cells(self, low: Floats, high: Floats) -> Floats:
        """Intervals cut at the path's breakpoints: on each the same coefficients are not zero.

        The lower end of the range is a cell of its own: an event that it cuts off may be there.
        """
        cuts = np.unique(self._path.breakpoints)
        first, last = np.searchsorted(cuts, low, "right"), np.searchsorted(cuts, high, "left")
        cells = []
        for a, b, i, j in zip(low, high, first, last):
            ends = np.concatenate([[a], cuts[i:j], [b]])
            cells.append(np.column_stack([ends[:-1], ends[1:]]))
        if low.min() <= self.range[0]:
            cells.append(np.full((1, 2), self.range[0]))
        if self._endless and high.max() >= self.range[1]:
            cells.append(np.full((1, 2), self.range[1]))  # and all that lies above
        return np.concatenate(cells)

    def _wide(self, cells: Floats) -> Floats:
        """Cells without those that round-off has put between the parts of a jump, or between a
        knot of the curve and the breakpoint that makes it.
        """
        width = cells[:, 1] - cells[:, 0]
        thin = (width > 0) & (width <= THIN * cells[:, 1])
        return cells if thin.all() else cells[~thin]

    def n_coefficients(self, values: ArrayLike) -> NDArray[np.intp]:
        """How many coefficients of the model on all rows are not zero."""
        v = check_values(values, self.parameter)
        chunks = [v[i : i + 256] for i in range(0, max(len(v), 1), 256)]
        return np.concatenate([self._counts(c) for c in chunks])

    def _counts(self, values: Floats) -> NDArray[np.intp]:
        some = self._path.coefficients(values)[0] != 0
        if some.ndim == 3:  # of several problems: rows that any of them needs
            some = some.any(axis=0)
        return np.count_nonzero(some, axis=0)

    def choose(self, how: str, tolerance: float | None = None) -> float:
        """The value by name: "min", "one_se" or "sparsest"."""
        if how == "min":
            return self.minimiser
        if how == "one_se":
            return self.one_se()
        if how == "sparsest":
            return self.sparsest(tolerance)
        raise ValueError(f"choose must be 'min', 'one_se' or 'sparsest', got {how!r}")

    def __repr__(self) -> str:
        how = "exact" if self.exact else f"not exact: evaluated at {len(self._mean.knots)} values"
        if self.on_boundary:
            points = "1 test point" if self.on_boundary == 1 else f"{self.on_boundary} test points"
            how += f" (f = 0 to round-off at {points})"
        folds = "1 fold" if self.n_folds == 1 else f"{self.n_folds} folds"
        low, high = self.interval
        where = f"at {low:.4g}" if low == high else f"on [{low:.4g}, {high:.4g}]"
        end = ", at the end of the range" if self.at_end else ""
        return (
            f"<Curve of {self.loss} in {self.parameter}, {folds}, {how}: minimum "
            f"{self.minimum:.4g} {where}{end}>"
        )


def _plain(values: Floats) -> Any:
    return float(values) if np.ndim(values) == 0 else values


__all__ = ["Curve"]
