"""`PathDisplay`: what is drawn is the path. Oracles: `Path.coefficients`, `Path.at`, counts."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import chemin
from chemin.display import PathDisplay

matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def svc():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return chemin.svc_path(X[:150], np.array(["bad", "good"])[y[:150]])


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def lasso(diabetes):
    return chemin.lasso_path(*diabetes)


def segments(display):
    return display.lines_.get_segments()


def assert_is_the_path(display, evaluate):
    """Every vertex is a solution, and straight lines between them pass through all knots."""
    values, columns = display.values, evaluate(display.values)
    for line, row in zip(segments(display), columns, strict=True):
        np.testing.assert_allclose(np.interp(values, *line.T), row, rtol=1e-12, atol=1e-12)
        assert np.isin(line[:, 0], values).all()


def test_lines_of_the_lasso_are_its_coefficients(lasso):
    """Oracle: `Path.coefficients` at the knots, all of which are vertices."""
    display = lasso.plot()
    assert isinstance(display, PathDisplay) and isinstance(display.lines_, LineCollection)
    assert np.isin(lasso.breakpoints, display.values).all()
    assert_is_the_path(display, lambda values: lasso.coefficients(values)[0])


def test_lines_of_a_kernel_machine_are_its_multipliers(svc):
    """Oracle: alpha of `Path.at`, one value at a time."""
    display = svc.plot()
    assert_is_the_path(
        display, lambda values: np.column_stack([svc.at(value).alpha for value in values])
    )
    assert len(segments(display)) == 150
    shorter = sum(map(len, segments(display)))
    assert shorter < 0.5 * display.curves.size, "flat runs need no points inside"


def test_coefficients_of_a_kernel_machine(svc):
    """Oracle: `Path.coefficients`."""
    display = svc.plot(what="coef", variables=[3, 0, 77])
    assert_is_the_path(display, lambda values: svc.coefficients(values)[0][[3, 0, 77]])


def test_multipliers_at_many_values(svc):
    """Oracle: `Path.at`."""
    values = [svc.start, 0.1, svc.stop]
    expected = np.column_stack([svc.at(value).alpha for value in values])
    np.testing.assert_array_equal(svc.multipliers(values), expected)


def test_curved_pieces_are_drawn_curved(lasso):
    """Oracle: the path, halfway between neighbours on the logarithmic axis."""
    display = lasso.plot()
    halfway = np.sqrt(display.values[1:] * display.values[:-1])
    drawn = 0.5 * (display.curves[:, 1:] + display.curves[:, :-1])
    height = np.ptp(display.curves)
    error = np.abs(drawn - lasso.coefficients(halfway)[0]).max()
    assert error < 3e-4 * height, "a tenth of a pixel, on axes 300 pixels high"


def test_a_jump_is_drawn_at_its_knot():
    """Oracle: by hand. Duplicated points on a line: at lambda = 1.5 multipliers jump."""
    X = np.repeat(np.arange(6.0), 2)[:, None]
    path = chemin.svc_path(X, [0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1], kernel="linear")
    display = path.plot()
    tied, times = np.unique(path.breakpoints, return_counts=True)
    for knot in tied[times > 1]:
        near = display.values[np.abs(display.values - knot) < 1e-6]
        assert len(near) == 2 and knot in near, "both ends of what may be a jump"
    assert_is_the_path(display, path.multipliers)


def test_counts_below(svc):
    """Oracle: supports counted one piece at a time."""
    display = svc.plot(counts=True)
    edges = display.counts.edges
    some = np.arange(0, len(edges) - 1, 7)
    solutions = [svc.at(0.5 * (edges[k] + edges[k + 1])) for k in some]
    support = [len(s.support) for s in solutions]
    elbow = [np.sum((s.alpha > 1e-9) & (s.alpha < 1 - 1e-9)) for s in solutions]
    np.testing.assert_array_equal(display.counts.pieces["support vectors"][some], support)
    np.testing.assert_array_equal(display.counts.pieces["on the elbow"][some], elbow)
    below = display.counts_ax_
    assert below.get_xlim() == display.ax_.get_xlim() and below.get_xlabel() == "λ = 1/C"
    heights = below.patches[0].get_data().values
    np.testing.assert_array_equal(heights, display.counts.pieces["support vectors"])


def test_counts_of_the_lasso(lasso):
    """Oracle: the support, halfway between the knots."""
    display = lasso.plot(counts=True)
    edges, count = display.counts.edges, display.counts.pieces["non-zero coefficients"]
    middle = 0.5 * (edges[1:] + edges[:-1])
    np.testing.assert_array_equal(count, [len(lasso.at(value).support) for value in middle])


def test_counts_of_a_sparse_machine():
    """Oracle: the support, halfway between the knots; multipliers are those of the points."""
    X = np.random.default_rng(0).normal(size=(30, 6))
    path = chemin.l1_svc_path(X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, 0))
    display = path.plot(counts=True)
    edges, count = display.counts.edges, display.counts.pieces["non-zero coefficients"]
    middle = 0.5 * (edges[1:] + edges[:-1])
    np.testing.assert_array_equal(count, [len(path.at(value).support) for value in middle])


@pytest.mark.parametrize("place", ["new", "subplot", "by hand"])
def test_axes_given_are_used(lasso, place):
    """Oracle: the figure. The small axis lies below, inside the room of the one given."""
    ax = None
    if place == "subplot":
        ax = plt.subplots(1, 2)[1][0]
    elif place == "by hand":
        ax = plt.figure().add_axes([0.1, 0.2, 0.7, 0.6])
    display = lasso.plot(ax=ax, counts=True)
    assert ax is None or display.ax_ is ax
    assert display.ax_.figure is display.figure_ is display.counts_ax_.figure
    display.figure_.canvas.draw()
    above, below = (a.get_position() for a in (display.ax_, display.counts_ax_))
    assert below.y1 < above.y0 and below.x0 == pytest.approx(above.x0)


def texts(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_labels_and_scales(svc, lasso, diabetes):
    """Oracle: the problem's parameter and its units."""
    ax = svc.plot(mark=0.25).ax_
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("λ = 1/C", "multiplier α", "log")
    assert texts(ax.get_legend()) == ["bad", "good", "λ = 0.25"]
    ax = lasso.plot(names=diabetes[0].columns).ax_
    assert ax.get_xlabel() == "λ" and ax.get_ylabel().startswith("coefficient")
    end = lasso.at(lasso.stop).coef
    assert texts(ax.get_legend()) == list(diabetes[0].columns[np.argsort(-end)])
    assert chemin.lasso_path(*diabetes, stop=0).plot().ax_.get_xscale() == "linear"
    assert lasso.plot(xscale="linear").ax_.get_xscale() == "linear"


def test_epsilon_path(diabetes):
    """Oracle: the parameter's unit, and the ends of the walk."""
    X, y = diabetes
    path = chemin.svr_path(X[:80], y[:80], along="epsilon", stop=0)
    ax = path.plot(counts=True).counts_ax_
    assert "units of y" in ax.get_xlabel() and ax.get_xscale() == "linear"
    assert ax.get_xlim() == pytest.approx((0, path.start))


def test_kernel_path_to_zero_is_finite(svc):
    """Oracle: the limit; what is drawn is finite, on a linear axis that ends at 0."""
    X, y = load_breast_cancer(return_X_y=True)
    path = chemin.svc_path(X[:40] / X.std(axis=0), y[:40], stop=0)
    assert path.stop == 0
    display = path.plot()
    assert np.isfinite(display.curves).all() and display.values[0] < 1e-9


def test_only_ten_lines_have_a_name(diabetes):
    """Oracle: the ten largest maxima."""
    X, y = diabetes
    wide = np.hstack([X, X**2 * 20])
    path = chemin.lasso_path(wide, y)
    names = [f"column {k}" for k in range(20)]
    display = path.plot(names=names)
    shown = set(texts(display.ax_.get_legend()))
    largest = np.argsort(-np.abs(display.curves).max(axis=1))[:10]
    assert shown == {names[k] for k in largest}


def test_from_estimator(lasso, diabetes):
    """Oracle: `from_path` with the chosen value."""

    class Fitted:
        path_, lambda_, feature_names_in_ = lasso, 7.5, diabetes[0].columns

    display = PathDisplay.from_estimator(Fitted())
    assert display.mark == 7.5 and "λ = 7.5" in texts(display.ax_.get_legend())
    np.testing.assert_array_equal(display.curves, lasso.plot().curves)
    with pytest.raises(ValueError, match=r"path_.*object"):
        PathDisplay.from_estimator(object())


def test_options_reach_the_lines(lasso):
    """Oracle: what was passed; and a second drawing is the first."""
    display = lasso.plot(linewidths=3.0, alpha=0.5)
    assert display.lines_.get_linewidth() == [3.0] and display.lines_.get_alpha() == 0.5
    first = segments(display)
    for a, b in zip(first, segments(display.plot())):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "options, parts",
    [
        ({"what": "beta"}, ["what", "alpha", "beta"]),
        ({"names": ["a", "b"]}, ["names", "2 entries", "10"]),
        ({"variables": [10]}, ["variables", "9", "10"]),
        ({"variables": [0.5]}, ["variables", "indices"]),
        ({"mark": "a"}, ["mark", "number", "'a'"]),
    ],
)
def test_bad_options(lasso, options, parts):
    """Oracle: the message names the argument, what came and what was expected."""
    with pytest.raises(ValueError) as error:
        lasso.plot(**options)
    for part in parts:
        assert part in str(error.value)


def test_one_class_needs_no_legend():
    """Oracle: the path: one colour for all lines, since there is nothing to tell apart."""
    path = chemin.one_class_path(np.random.default_rng(0).normal(size=(30, 2)))
    display = path.plot()
    assert display.groups is None and display.ax_.get_legend() is None


def test_a_sparse_machine_shows_its_coefficients():
    """Oracle: the path itself. Multipliers of a few labels hardly move, coefficients do."""
    X, y = load_iris(return_X_y=True)
    labels = np.where(np.arange(100) % 10 == 0, y[50:], -1)
    path = chemin.laplacian_svc_path(X[50:], labels)
    display = path.plot()
    assert display.curves == pytest.approx(path.coefficients(display.values)[0], abs=1e-12)


def test_repr(lasso):
    """Oracle: the counts."""
    display = lasso.plot()
    assert repr(display) == f"<PathDisplay: 10 lines along lambda, {len(display.values)} solutions>"


def test_variables_by_mask(lasso):
    """Oracle: the same lines by index."""
    mask = np.zeros(10, dtype=bool)
    mask[[2, 8]] = True
    np.testing.assert_array_equal(
        lasso.plot(variables=mask).curves, lasso.plot(variables=[2, 8]).curves
    )


def test_without_matplotlib(lasso, monkeypatch):
    """Oracle: the message says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matplotlib.*chemin\[plot\]"):
        lasso.plot()


def test_matplotlib_is_imported_when_something_is_drawn():
    """Oracle: the modules of a new process."""
    code = "import sys, chemin, chemin.display; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_thousands_of_events_times_hundreds_of_lines():
    """Oracle: a count. Vertices stay in proportion to what moves, not to events times variables."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    y = X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=700) > 0
    path = chemin.svc_path(X, y)
    display = path.plot()
    assert len(path) > 1000
    assert sum(map(len, segments(display))) < 0.3 * display.curves.size


def test_several_classes_have_several_paths():
    """Oracle: the message, and one of the paths."""
    X, y = load_iris(return_X_y=True)
    model = chemin.PathSVC(cv=3).fit(X[::3], y[::3])
    with pytest.raises(ValueError, match="estimator has 3 paths"):
        PathDisplay.from_estimator(model)
    assert PathDisplay.from_path(model.path_[0]).lines_


def test_weights_of_a_linear_kernel_by_name(diabetes):
    """Oracle: coef_ of PathSVR at the same lambda, names of the data frame."""
    X, y = diabetes
    path = chemin.svr_path(X, y, kernel="linear", epsilon=20.0)
    display = path.plot(what="weights")
    assert path.feature_names == tuple(X.columns)
    assert sorted(texts(display.ax_.get_legend())) == sorted(X.columns)
    at = len(display.values) // 2
    expected = X.to_numpy().T @ path.at(display.values[at]).coef
    np.testing.assert_allclose(display.curves[:, at], expected, rtol=1e-12)
    with pytest.raises(ValueError, match="needs a linear kernel"):
        chemin.svr_path(X[:30], y[:30]).plot(what="weights")


def test_names_of_a_data_frame_are_saved(diabetes, tmp_path):
    """Oracle: the columns; `names` need not be given."""
    X, y = diabetes
    path = chemin.lasso_path(X, y)
    path.save(tmp_path / "path.npz")
    assert chemin.load(tmp_path / "path.npz").feature_names == tuple(X.columns)
    assert sorted(texts(path.plot().ax_.get_legend())) == sorted(X.columns)
    assert chemin.lasso_path(X.to_numpy(), y).feature_names is None


@pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")
@pytest.mark.parametrize("options", [{}, {"joint": False}])
def test_paths_of_estimators_know_the_names(diabetes, options):
    """Oracle: the columns of the data frame that an estimator was fitted on."""
    X, y = diabetes
    X, labels = X[:60], (np.arange(60) % 3).astype(str)
    model = chemin.PathLasso(cv=2).fit(X, y[:60])
    assert sorted(texts(model.path_.plot().ax_.get_legend())) == sorted(X.columns)
    several = chemin.PathSVC(kernel="linear", cv=2, stop=1.0, **options).fit(X, labels)
    assert all(path.feature_names == tuple(X.columns) for path in several.path_)
