"""`CurveDisplay`. Oracle: brute force of a small curve with the same interface as the real ones."""

from dataclasses import dataclass

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import chemin
from chemin.display import CurveDisplay

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@dataclass
class Steps:
    """A 0/1 error: constant between its knots, three folds."""

    heights: np.ndarray  # (folds, pieces)
    knots: np.ndarray
    parameter: str = "lambda"
    loss: str = "error"
    exact: bool = True

    def _pieces(self, values):
        piece = np.searchsorted(self.knots, values, side="right") - 1
        return self.heights[:, np.clip(piece, 0, self.heights.shape[1] - 1)]

    def __call__(self, values):
        return self._pieces(values).mean(axis=0)

    def standard_error(self, values):
        return self._pieces(values).std(axis=0, ddof=1) / np.sqrt(len(self.heights))

    @property
    def minimum(self):
        return self.heights.mean(axis=0).min()

    @property
    def _best(self):
        return self.heights.mean(axis=0).argmin()

    @property
    def interval(self):
        return self.knots[self._best], self.knots[self._best + 1]

    @property
    def minimiser(self):
        return np.sqrt(np.prod(self.interval))


class Squared(Steps):
    """A squared error: on each piece a + b/lambda + c/lambda^2, continuous."""

    def __call__(self, values):
        return 1 + (1 / np.asarray(values) - 2) ** 2

    minimum, minimiser, interval = 1.0, 0.5, (0.5, 0.5)


@pytest.fixture
def steps():
    rng = np.random.default_rng(0)
    knots = np.geomspace(0.01, 10, 41) * rng.uniform(0.95, 1.05, 41)
    heights = np.abs(np.log(knots[1:]) + 1)[None] * 0.1 + 0.05 * rng.random((3, 40))
    return Steps(heights, np.sort(knots))


def test_steps_are_steps(steps):
    """Oracle: the height of every piece, at its middle, and its ends at the knots."""
    display = CurveDisplay.from_curve(steps)
    x, y = display.lines_[0].get_data()
    middle = 0.5 * (steps.knots[1:] + steps.knots[:-1])
    assert len(x) == 2 * len(middle)
    np.testing.assert_array_equal(y[0::2], steps(middle))
    np.testing.assert_array_equal(y[1::2], steps(middle))
    gap = 1e-6 * np.diff(steps.knots)  # just inside, but at the ends of the range
    np.testing.assert_allclose(x[2::2], (steps.knots[:-1] + gap)[1:], rtol=1e-13)
    np.testing.assert_allclose(x[1:-1:2], (steps.knots[1:] - gap)[:-1], rtol=1e-13)
    assert x[0] == steps.knots[0] and x[-1] == steps.knots[-1]


def test_bent_pieces_have_points_inside(steps):
    """Oracle: the curve, at the vertices and between them on the logarithmic axis."""
    display = CurveDisplay.from_curve(Squared(steps.heights, np.array([0.1, 0.4, 2.0])))
    x, y = display.lines_[0].get_data()
    np.testing.assert_allclose(y, Squared(steps.heights, x)(x), rtol=1e-14)
    halfway = np.sqrt(x[1:] * x[:-1])
    drawn = 0.5 * (y[1:] + y[:-1])
    exact = Squared(steps.heights, x)(halfway)
    assert np.abs(drawn - exact).max() < 1e-3 * np.ptp(y)


def test_band_is_one_standard_error(steps):
    """Oracle: mean and standard error of the folds."""
    display = CurveDisplay.from_curve(steps)
    drawn = display.band_.get_paths()[0].vertices
    values = display.values
    for sign in (-1.0, 1.0):
        edge = np.column_stack([values, steps(values) + sign * steps.standard_error(values)])
        apart = np.abs(edge[:, None] - drawn).max(axis=2).min(axis=1)
        assert apart.max() < 1e-12
    assert CurveDisplay.from_curve(steps, band=False).band_ is None


def test_minimiser_and_its_interval(steps):
    """Oracle: the smallest mean height, and the knots around it."""
    display = CurveDisplay.from_curve(steps)
    x, y = display.lines_[1].get_data()
    assert (x[0], y[0]) == (steps.minimiser, steps.minimum)
    span = display.interval_.get_extents().transformed(display.ax_.transData.inverted())
    assert (span.x0, span.x1) == pytest.approx(steps.interval)
    assert y[0] == pytest.approx(display.lines_[0].get_ydata().min())


@pytest.mark.parametrize("loss, name, best", [("1 - r2", "r2", 1.0), ("-f1", "f1", 0.0)])
def test_scores_are_drawn_as_they_are(steps, loss, name, best):
    """Oracle: the best score less the loss; the lowest loss is the highest point."""
    steps.loss = loss
    display = CurveDisplay.from_curve(steps)
    x, y = display.lines_[0].get_data()
    np.testing.assert_allclose(y, best - steps(x), rtol=1e-13)
    assert display.ax_.get_ylabel() == name
    assert display.minimum == best - steps.minimum == pytest.approx(y.max())
    assert display.lines_[1].get_label().startswith("highest")
    assert display.interval_.get_label().startswith("as high")


def test_a_single_minimiser_has_no_interval(steps):
    """Oracle: the interval of length zero."""
    curve = Squared(steps.heights, np.array([0.1, 0.4, 2.0]))
    assert CurveDisplay.from_curve(curve).interval_ is None


def test_flat_ends_are_cut(steps):
    """Oracle: by hand. Four decades in which nothing happens stay outside; the data keeps them."""
    knots, heights = np.append(steps.knots, 1e5), steps.heights[:, [*range(40), 39]]
    display = CurveDisplay.from_curve(Steps(heights, knots))
    low, high = display.ax_.get_xlim()
    assert low == knots[0] and knots[39] < high < 5 * knots[39]
    assert display.values[-1] == 1e5
    flat = CurveDisplay.from_curve(Steps(np.ones((2, 1)), np.array([0.1, 2.0])))
    assert flat.ax_.get_xlim() == (0.1, 2.0)


def test_labels(steps):
    """Oracle: parameter and loss."""
    ax = CurveDisplay.from_curve(steps, ylabel="errors (part of the points)").ax_
    assert (ax.get_xlabel(), ax.get_xscale()) == ("λ", "log")
    assert ax.get_ylabel() == "errors (part of the points)"
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said[0] == "exact, at every value" and f"λ = {steps.minimiser:.3g}" in said[2]
    steps.parameter = "epsilon"
    ax = CurveDisplay.from_curve(steps).ax_
    assert (ax.get_xscale(), ax.get_ylabel()) == ("linear", "error")
    assert ax.get_xlabel() == "ε (half the width of the tube, units of y)"


def test_repr(steps):
    """Oracle: the attributes."""
    said = repr(CurveDisplay.from_curve(steps, ylabel="error"))
    assert said.startswith("<CurveDisplay: error along lambda, lowest at ")
    assert f"{steps.minimiser:.4g} ({steps.minimum:.4g})" in said


def test_what_is_not_exact_says_so(steps):
    """Oracle: the curve at its knots, and nothing between them."""
    steps.exact = False
    display = CurveDisplay.from_curve(steps)
    np.testing.assert_array_equal(display.lines_[0].get_xdata(), steps.knots)
    assert "at its knots" in display.ax_.get_legend().get_texts()[0].get_text()


def test_repeated_and_neighbouring_knots(steps):
    """Oracle: the curve without them. Pieces as thin as round-off are not drawn."""
    plain = CurveDisplay.from_curve(steps).loss
    knots = steps.knots.copy()
    more = Steps(steps.heights, knots)
    more.knots = np.sort(np.concatenate([knots, knots[3:5], np.nextafter(knots[7:9], 1)]))
    more._pieces = steps._pieces
    np.testing.assert_array_equal(CurveDisplay.from_curve(more).loss, plain)


def test_from_estimator_and_axes_given(steps):
    """Oracle: `from_curve`; the axes given."""

    class Fitted:
        curve_ = steps

    ax = plt.subplots()[1]
    display = CurveDisplay.from_estimator(Fitted(), ax=ax, color="red")
    assert display.ax_ is ax and display.figure_ is ax.figure
    assert display.lines_[0].get_color() == "red"
    np.testing.assert_array_equal(display.loss, CurveDisplay.from_curve(steps).loss)
    with pytest.raises(ValueError, match=r"curve_.*object"):
        CurveDisplay.from_estimator(object())
    with pytest.raises(ValueError, match="two knots"):
        CurveDisplay.from_curve(Steps(steps.heights, np.array([1.0])))


@pytest.fixture(scope="module")
def fitted():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X[:120] - X[:120].mean(axis=0)) / X[:120].std(axis=0)
    return chemin.PathSVC(cv=3, choose="one_se").fit(X, y[:120]), X, y[:120]


def test_a_curve_of_an_estimator_says_what_it_is(fitted):
    """Oracle: the estimator and its curve: what was chosen, one standard error, counts on top."""
    model, *_ = fitted
    display = CurveDisplay.from_estimator(model)
    ax, curve = display.ax_, model.curve_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("λ = 1/C", "cross-validated 0/1 error")
    error, chosen = display.lines_[2:]
    level = curve.minimum + curve.standard_error(curve.minimiser)
    assert error.get_ydata()[0] == pytest.approx(level)
    assert chosen.get_xdata()[0] == model.lambda_ == curve.one_se()
    ticks = display.counts_ax_.get_xticks()
    shown = [int(text.get_text()) for text in display.counts_ax_.get_xticklabels()]
    assert shown == [len(model.path_.at(value).support) for value in ticks]
    assert display.counts_ax_.get_xlabel() == "support vectors"
    assert ax.get_xlim()[1] <= 1.01 * curve.top  # no plateau above the start
    assert CurveDisplay.from_estimator(model, counts=False).counts_ax_ is None


def test_scores_are_shown_as_scores(fitted):
    """Oracle: the scorer of scikit-learn, by `Curve.score`."""
    _, X, y = fitted
    names = np.array(["bad", "good"])[y]
    model = chemin.PathSVC(cv=3, scoring="f1").fit(X, names)
    display = CurveDisplay.from_estimator(model)
    np.testing.assert_allclose(display.loss, model.curve_.score(display.values))
    assert display.minimum > 0.8
    assert display.minimum == pytest.approx(model.curve_.score(model.lambda_))
    assert display.ax_.get_ylabel() == "cross-validated f1" and "highest at" in repr(display)


def test_a_callers_axes_have_room(fitted):
    """Oracle: where matplotlib has put things: legends lie in the figure and on no other axes."""
    figure, both = plt.subplots(2, 1, figsize=(6, 8))
    for ax in both:
        CurveDisplay.from_estimator(fitted[0], ax=ax)
    figure.canvas.draw()
    whole, upper = figure.bbox, both[0].get_tightbbox()
    legend = both[1].get_legend().get_window_extent()
    assert whole.y0 <= legend.y0 and both[0].get_legend().get_window_extent().y1 <= whole.y1
    assert legend.y1 <= upper.y0 + 1.0
