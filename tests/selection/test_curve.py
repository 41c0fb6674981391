"""The curve and its choices."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LassoCV, LassoLarsCV, LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from chemin import PathLasso, PathSVC, PathSVR, lasso_path, svc_path, svr_path
from chemin.datasets import make_sinexp
from chemin.segments import Coordinate
from chemin.selection import Bootstrap632, CrossValidation, Curve, Family
from chemin.selection.piecewise import Piecewise

GRID = 10_000
ROWS = 150  # of each data set
SETS = {
    "breast_cancer": svc_path,
    "digits": svc_path,
    "ionosphere_scale": svc_path,
    "german_numer_scale": svc_path,
    "australian_scale": svc_path,
    "diabetes_pima": svc_path,
    "boston": svr_path,
    "diabetes": lasso_path,
}

BUNDLED = {"breast_cancer": load_breast_cancer, "digits": load_digits, "diabetes": load_diabetes}


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def lasso_curve(diabetes):
    return CrossValidation(5)(Family(lasso_path, *diabetes))


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X[:200] - X.mean(axis=0)) / X.std(axis=0), y[:200]


@pytest.fixture(scope="module")
def cancer_curve(cancer):
    return CrossValidation(5)(Family(svc_path, *cancer))


# ---------------------------------------------------------------------- nothing is lower


def rows_of(name, load_data):
    """At most ROWS rows, both classes among them, columns scaled."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
    else:
        data = load_data(name)
        X, y = data.data, data.target
    if name == "digits":
        X, y = X[np.isin(y, (3, 8))], y[np.isin(y, (3, 8))]
    keep = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = X[keep], y[keep]
    return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0), y


def losses_on_grid(family, splits, grid, classes):
    """The mean over folds, by the predictions of each fold's path, column by column.

    Folds of the lasso are compared at one lambda per row.
    """
    folds = []
    for train, test in splits:
        path = family.walk(train, stop=family.path.stop)
        share = len(train) / len(family) if family.name == "lasso" else 1.0
        f = path.predict(family.inputs(train, test), grid * share)
        y = family.y[test][:, None]
        folds.append((f != y).mean(axis=0) if classes else ((f - y) ** 2).mean(axis=0))
    return np.mean(folds, axis=0)


@pytest.mark.parametrize("name", SETS)
def test_no_value_of_a_fine_grid_is_lower(name, load_data):
    """Oracle: the paths' own predictions at 10,000 values, on eight data sets."""
    X, y = rows_of(name, load_data)
    classes = SETS[name] is svc_path
    splits = list((StratifiedKFold(3) if classes else KFold(3)).split(X, y))
    family = Family(SETS[name], X, y)
    curve = CrossValidation(splits)(family)
    grid = np.geomspace(family.path.stop, 1.2 * family.path.start, GRID)
    grid = np.clip(grid, curve.range[0], None)
    losses = losses_on_grid(family, splits, grid, classes)
    assert curve.minimum <= losses.min() * (1 + 1e-9)
    # On a jump a point has f = 0, and round-off says on which side.
    knot = np.clip(np.searchsorted(curve.knots, grid), 1, len(curve.knots) - 1)
    near = np.minimum(curve.knots[knot] - grid, grid - curve.knots[knot - 1]) <= 1e-9 * grid
    near &= classes
    assert near.mean() < 0.01
    np.testing.assert_allclose(curve(grid[~near]), losses[~near], rtol=1e-9, atol=1e-12)
    there = losses_on_grid(family, splits, np.array([curve.minimiser]), classes)[0]
    assert curve.minimum == pytest.approx(there, rel=1e-9, abs=1e-12)


def test_grid_search_finds_no_less(cancer, cancer_curve):
    """Oracle: GridSearchCV over 25 values of C, same folds and kernel."""
    X, y = cancer
    gamma = 1 / (X.shape[1] * X.var())
    low, high = cancer_curve.range[0], cancer_curve._path.start
    search = GridSearchCV(SVC(gamma=gamma, tol=1e-8), {"C": 1 / np.geomspace(low, high, 25)}, cv=5)
    search.fit(X, y)
    assert cancer_curve.minimum <= 1 - search.best_score_ + 1e-12
    at_their_best = cancer_curve(1 / search.best_params_["C"])
    assert at_their_best == pytest.approx(1 - search.best_score_, abs=1e-9)


@pytest.mark.parametrize("cv", [5, [(np.arange(100), np.arange(100, 440)), (np.arange(300), [1])]])
def test_lasso_cv_finds_no_less(diabetes, cv):
    """Oracle: LassoCV's errors at its own alphas, fold by fold, whatever the size of the folds."""
    X, y = diabetes
    model = LassoCV(alphas=50, cv=cv, tol=1e-10, max_iter=100_000).fit(X, y)
    curve = CrossValidation(cv)(Family(lasso_path, X, y))
    lams = model.alphas_ * len(y)
    inside = (lams >= curve.range[0]) & (lams <= curve.range[1])
    theirs = model.mse_path_[inside]
    np.testing.assert_allclose(curve.per_fold(lams[inside]).T, theirs, rtol=1e-6)
    assert curve.minimum <= theirs.mean(axis=1).min() * (1 + 1e-9)


@pytest.mark.parametrize("shape", [(442, 10), (300, 60), (60, 200)], ids=["long", "tall", "wide"])
def test_lasso_chooses_between_the_alphas_of_others(diabetes, shape):
    """Oracle: LassoCV on a fine grid, LassoLarsCV at the breakpoints of all folds. Their choices
    are one step of their grids away at the most.
    """
    X, y = diabetes
    if shape != X.shape:
        rng = np.random.default_rng(0)
        X = rng.normal(size=shape)
        y = X[:, :8] @ rng.normal(size=8) + rng.normal(size=shape[0])
    folds = list(KFold(5).split(X))
    stop = 1e-3 * lasso_path(X, y).start
    alpha = PathLasso(cv=folds, stop=stop).fit(X, y).alpha_
    grid = LassoCV(cv=folds, alphas=150, tol=1e-6, max_iter=100_000).fit(X, y)
    lars = LassoLarsCV(cv=folds, max_n_alphas=100_000).fit(X, y)
    for theirs, known in ((grid.alpha_, grid.alphas_), (lars.alpha_, lars.cv_alphas_)):
        known = np.unique(known)
        k = int(np.argmin(np.abs(known - theirs)))
        assert known[max(k - 1, 0)] <= alpha <= known[min(k + 1, len(known) - 1)]


# ---------------------------------------------------------------------- made by hand


class Walk:
    """What a curve asks of a path."""

    parameter, start, stop, closed_above = "lambda", 10.0, 1.0, True
    coordinate = Coordinate(inverse=False)
    breakpoints = np.array([8.0, 4.0, 2.0])

    def coefficients(self, values):
        counts = np.searchsorted(-self.breakpoints, -np.asarray(values), side="right")
        return (np.arange(3)[:, None] < counts).astype(float), None


def made(*folds, **options):
    options = {"range": (1.0, 10.0), "top": 10.0, "scoring": "s", "loss": "loss"} | options
    return Curve(folds, Walk(), **options)


def steps(knots, values):
    values = np.asarray(values, dtype=float)
    return Piecewise.steps(np.asarray(knots, dtype=float), values)


def test_the_widest_flat_interval_is_chosen():
    """Oracle: by hand; on the log scale [1, 2] is wider than [8, 10]."""
    curve = made(steps([1, 2, 4, 8, 10], [0, 1, 2, 0]))
    assert curve.minimum == 0 and curve.interval == (1.0, 2.0)
    assert curve.minimiser == pytest.approx(np.sqrt(2.0)) and curve.at_end
    np.testing.assert_array_equal(curve.knots, [1, 2, 4, 8, 10])


def test_what_round_off_made_parts_no_interval():
    """Oracle: by hand; between two equal steps there is a piece of a few roundings."""
    curve = made(steps([1, 2, 2 * (1 + 1e-14), 4, 10], [0, 1, 0, 5]))
    assert curve.interval == (1.0, 4.0) and curve.minimiser == pytest.approx(2.0)


def test_a_parabola():
    """Oracle: (v - 4)^2 on [1, 10]; of two folds the mean."""
    u = np.array([1.0, 10.0])
    f = Piecewise(u, (u[:1] - 4) ** 2, (u[1:] - 4) ** 2, np.array([[81.0]]))
    curve = made(f, f * 3.0)
    v = np.linspace(1, 10, 30)
    np.testing.assert_allclose(curve(v), 2 * (v - 4) ** 2, atol=1e-12)
    assert curve.minimiser == pytest.approx(4) and curve.interval[0] == curve.interval[1]
    assert curve.minimum == pytest.approx(0, abs=1e-12) and not curve.at_end
    np.testing.assert_allclose(curve.standard_error(v), (v - 4) ** 2, atol=1e-12)
    np.testing.assert_allclose(curve.score(v), -curve(v))


def test_one_standard_error():
    """Oracle: by hand; folds (v - 4)^2 and (v - 4)^2 + 2, so the error is 1 everywhere."""
    u = np.array([1.0, 10.0])
    ends = (u - 4) ** 2
    folds = [Piecewise(u, ends[:1] + c, ends[1:] + c, np.array([[81.0]])) for c in (0.0, 2.0)]
    curve = made(*folds)
    assert float(curve.standard_error(4.0)) == pytest.approx(1)
    assert curve.one_se() == pytest.approx(5, rel=1e-6) and curve.one_se() <= 5


def test_one_standard_error_of_steps():
    """Oracle: by hand; just inside the last step that is low enough."""
    curve = made(steps([1, 2, 4, 8, 10], [0, 0.1, 0.9, 5]), steps([1, 2, 4, 8, 10], [1, 1, 1, 5]))
    assert curve.minimum == 0.5 and float(curve.standard_error(1.5)) == pytest.approx(0.5)
    value = curve.one_se()
    assert value == pytest.approx(8, rel=1e-6) and value < 8
    assert curve(value) <= curve.minimum + 0.5


def test_one_se_does_not_step_off_the_end():
    """Oracle: by hand; the loss is low enough up to the end, which is no jump."""
    curve = made(steps([1, 4, 10], [0, 0.1]), steps([1, 4, 10], [1, 1]))
    assert curve.one_se() == 10.0


def test_sparsest():
    """Oracle: by hand; 3, 2, 1, 0 coefficients below 2, 4, 8, 10."""
    curve = made(steps([1, 3, 6, 9, 10], [0.0, 0.5, 0.6, 2.0]))
    # The middle, on a log scale, of [2, 3]: at 2 there is a coefficient more, at 3 a larger loss.
    assert curve.sparsest(0.0) == pytest.approx(np.sqrt(6), rel=1e-12)
    assert curve.sparsest(0.1) == pytest.approx(np.sqrt(6), rel=1e-12)
    value = curve.sparsest(0.7)  # likewise of [8, 9]
    assert value == pytest.approx(np.sqrt(72), rel=1e-12)
    assert curve.n_coefficients(value)[0] == 0 and curve(value) == 0.6
    with pytest.raises(ValueError, match="tolerance must be a number >= 0"):
        curve.sparsest(-1.0)


def test_what_needs_two_folds_says_so():
    """Oracle: the message."""
    curve = made(steps([1, 10], [1.0]))
    assert np.isnan(curve.standard_error(2.0))
    with pytest.raises(ValueError, match="at least 2 folds, but the curve has 1"):
        curve.one_se()


def test_outside_the_range():
    """Oracle: the message."""
    curve = made(steps([1, 10], [1.0]))
    with pytest.raises(ValueError, match=r"lambda = 0\.5 lies outside the range of the curve"):
        curve(0.5)
    with pytest.raises(ValueError, match="choose must be"):
        curve.choose("best")


@pytest.mark.parametrize("value", ["a", None, ["a"], True])
def test_what_is_no_value(value):
    """Oracle: the message."""
    curve = made(steps([1, 10], [1.0]))
    with pytest.raises(ValueError, match="lambda must be a number or a 1-D array of them"):
        curve(value)
    with pytest.raises(ValueError, match="lambda must be a finite number"):
        curve.falls_below(value)


# ---------------------------------------------------------------------- of real paths


def test_repr_and_names(lasso_curve, diabetes):
    """Oracle: the attributes."""
    text = repr(lasso_curve)
    assert "squared error in lambda, 5 folds, exact" in text
    assert f"{lasso_curve.minimum:.4g}" in text
    other = CrossValidation(3, scoring="neg_median_absolute_error")(Family(lasso_path, *diabetes))
    assert not other.exact and "not exact: evaluated at" in repr(other)
    assert other.loss == "median absolute error"


def test_choices_are_ordered(lasso_curve, cancer_curve):
    """Oracle: invariants; more regularised, and within one standard error."""
    for curve in (lasso_curve, cancer_curve):
        best, value = curve.minimiser, curve.one_se()
        assert value >= best
        most = curve.minimum + curve.standard_error(best)
        assert curve(value) <= most * (1 + 1e-9)
        above = np.geomspace(value * (1 + 1e-6), curve.range[1], 500)
        assert np.all(curve(np.minimum(above, curve.range[1])) > most)
        few = curve.sparsest()
        assert curve(few) <= most * (1 + 1e-9)
        assert curve.n_coefficients(few)[0] <= curve.n_coefficients(value * (1 + 1e-9))[0]
        good = curve.knots[curve(curve.knots) <= most]
        assert curve.n_coefficients(few)[0] <= curve.n_coefficients(good).min()


def test_mean_and_folds_agree(cancer_curve):
    """Oracle: the folds themselves, at knots and between."""
    v = np.concatenate([cancer_curve.knots[1:-1] * (1 + 1e-7), [0.01, 1.0]])
    v = v[v > cancer_curve.range[0]]
    np.testing.assert_allclose(cancer_curve(v), cancer_curve.per_fold(v).mean(axis=0))
    u = 1 / v
    np.testing.assert_allclose(cancer_curve._mean(u), cancer_curve(v), atol=1e-12)


def test_a_walk_to_zero(diabetes, cancer):
    """Oracle: least squares at 0; the predictions of the folds' paths, of hard margins, at 0."""
    X, y = diabetes
    curve = CrossValidation(3)(Family(lasso_path, X, y, stop=0))
    scores = cross_val_score(LinearRegression(), X, y, cv=3, scoring="neg_mean_squared_error")
    assert curve.range[0] == 0
    np.testing.assert_allclose(curve.per_fold(0.0), -scores, rtol=1e-9)
    X, y = cancer
    family = Family(svc_path, X, y, stop=0)
    curve = CrossValidation(3)(family)
    assert curve.range[0] == 0 and curve.minimiser > 0
    assert curve(0.0) == curve(1e-12)
    splits = list(StratifiedKFold(3).split(X, y))
    assert curve(0.0) == pytest.approx(losses_on_grid(family, splits, np.zeros(1), True)[0])


def test_values_that_are_none():
    """Oracle: the message names the parameter, and what came."""
    X, y = make_sinexp(30, 0)
    curve = PathSVR(gamma=30.0, cv=2, stop=0.1).fit(X, y).curve_
    for bad in ("a", None, 1j, [1.0, "b"]):
        with pytest.raises(ValueError, match="lambda must be a number or a 1-D array of them, got"):
            curve(bad)
    assert curve([[0.2, 0.3]]).shape == (1, 2) and curve(1) == curve(1.0) and curve(np.inf) > 0


def test_sparsest_stands_off_the_event_that_makes_a_knot():
    """Oracle: counts in the middles between breakpoints. Round-off parts a knot of the curve from
    the event of the whole path that makes it; between the two lay a place of its own.
    """
    X = [5.016347626152575e-3, 7.974556712758002, -1.2092157755528557e-2, 1.5227597477435795]
    X += [1.4934339784014773e-2, -7.870187816304752, -3.6802502005291323e-3, 6.074777197742934]
    X += [-1.1432723273797378e-2, -8.575813245367073, 4.4824884367658594e-4, 6.372543951207831]
    X += [-4.464087053647878e-3, -10.142777645000544, -9.625773889436611e-4, -7.322024205473426]
    X += [-2.2191020345513684e-3, 24.184279432849284, 8.606261885603586e-3, 7.176810773791653]
    X, y, w = np.reshape(X, (10, 2)), np.tile([-1, 1], 5), [0.5, 2, 1, 0.5, 2, 2, 2, 0.5, 0.5, 0.5]
    criterion = Bootstrap632(scoring="neg_hinge_loss", n_resamples=2, random_state=441)
    model = PathSVC(kernel="linear", class_weight="balanced", cv=criterion, choose="sparsest")
    curve = model.fit(X, y, sample_weight=w).curve_
    ends = np.unique(np.concatenate([curve.range, curve.path.breakpoints, curve.knots]))
    middles = np.sqrt(ends[1:] * ends[:-1])
    most = curve.minimum + curve.standard_error(curve.minimiser)
    good = middles[(curve(middles) < most) & (middles >= curve.range[0])]
    assert curve.n_coefficients([model.lambda_])[0] == curve.n_coefficients(good).min()
