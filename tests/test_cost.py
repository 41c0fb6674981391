"""C-SVM along the cost of the two classes, and its ROC curve."""

import numpy as np
import pytest
from qpsolvers import solve_qp
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from chemin import svc_path, svr_path
from contract import LABELS, assert_walked, make_data, make_tied, random_values

TIGHT = {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}
GAMMA = 0.03


def cancer(n=200):
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:n], y[:n]


def unbalanced():
    """Fifteen points of the first class among 150, in the midst of the others."""
    rng = np.random.default_rng(4)
    X = np.vstack([rng.normal(size=(15, 3)), rng.normal(size=(135, 3)) + 0.7])
    return X, np.repeat([0, 1], [15, 135])


SETS = {"breast cancer": cancer, "unbalanced": unbalanced}
every_set = pytest.mark.parametrize("name", SETS)


def signs(y):
    return np.where(y == y.max(), 1.0, -1.0)


def kernel(X, Z=None):
    return np.exp(-GAMMA * ((X[:, None] - (X if Z is None else Z)[None]) ** 2).sum(axis=2))


def prices(y, cost):
    """What losses weigh: 2c for the positive class, 2(1 - c) for the negative one."""
    return np.where(signs(y) > 0, 2 * cost, 2 * (1 - cost))


def by_class(cost):
    return {0: 2 * (1 - cost), 1: 2 * cost}


# ---------------------------------------------------------------------- others


@every_set
def test_meets_weighted_fits_of_scikit_learn(name):
    """Oracle: LIBSVM with class_weight, at 200 breakpoints; its kernel is of single precision."""
    X, y = SETS[name]()
    lam = 0.3
    K = kernel(X)
    path = svc_path(K, y, kernel="precomputed", along="cost", lambda_=lam)
    assert path.complete and path.parameter == "cost"
    assert (path.start, path.stop) == (1e-4, 1 - 1e-4)
    knots = np.unique(path.breakpoints)
    knots = knots[np.unique(np.linspace(0, len(knots) - 1, 200).astype(int))]
    ours = path.decision_function(K, knots)
    for j, cost in enumerate(knots):
        model = SVC(C=1 / lam, kernel="precomputed", tol=1e-10, class_weight=by_class(cost))
        f = model.fit(K, y).decision_function(K)
        s = path.at(cost)
        low, high = s.intercept_interval
        # Where the elbow is empty any intercept between two is theirs.
        off = np.clip(model.intercept_[0], low, high) - s.intercept
        np.testing.assert_allclose(ours[:, j] + off, f, atol=1e-4 * max(1.0, np.abs(f).max()))
        assert s.cost == pytest.approx(cost) and s.lambda_ == lam
    assert len(knots) == 200


@pytest.mark.filterwarnings("ignore::UserWarning")  # dense matrices are converted
@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@every_set
def test_meets_a_convex_solver(name, weighted, intercept):
    """Oracle: Clarabel on the dual for f without its intercept; the intercept by the hinge losses
    themselves, whose slopes in it have both signs around zero.
    """
    X, y = (part[::2] for part in SETS[name]())
    K, s, n = kernel(X), signs(y), len(y)
    w = 10.0 ** np.random.default_rng(3).uniform(-1, 1, n) if weighted else np.ones(n)
    lam = 0.7
    options = {"along": "cost", "lambda_": lam, "sample_weight": w, "intercept": intercept}
    path = svc_path(K, y, kernel="precomputed", **options)
    balance = {"A": s[None, :], "b": np.zeros(1)} if intercept else {}
    for cost in np.linspace(0.02, 0.98, 10):
        top = w * prices(y, cost)
        Q = K * np.outer(s, s) / lam
        box = {"lb": np.zeros(n), "ub": top}
        alpha = solve_qp(Q, -np.ones(n), **balance, **box, solver="clarabel", **TIGHT)
        theirs = K @ (s * alpha) / lam
        ours = path.at(cost)
        size = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(K @ ours.coef, theirs, atol=1e-7 * size)
        if intercept:
            margins = s * (theirs + ours.intercept)
            up = -(top * s)[margins < 1 - 1e-6 * size].sum()  # of the loss, b a little larger
            near = top[np.abs(margins - 1) <= 1e-6 * size].sum()
            assert abs(up) <= near + 1e-9 * top.sum()
        else:
            assert ours.intercept == 0.0


# ---------------------------------------------------------------------- relatives


@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
@pytest.mark.parametrize("options", [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.3}],
                         ids=["linear", "rbf"])  # fmt: skip
def test_half_and_half_is_the_plain_machine(data, options):
    """Oracle: the path in lambda, where nothing is said of costs."""
    X, y = data(LABELS)
    plain = svc_path(X, y, **options)
    for value in plain.start * np.array([2.0, 0.5, 0.03, 0.002]):
        path = svc_path(X, y, along="cost", lambda_=value, **options)
        f, g = plain.decision_function(X, value), path.decision_function(X, 0.5)
        np.testing.assert_allclose(f, g, atol=1e-8 * max(1.0, np.abs(f).max()))
        assert path.at(0.5).objective == pytest.approx(plain.at(value).objective, rel=1e-8)


def test_costs_are_weights():
    """Oracle: plain paths in lambda with the costs put into the weights of points."""
    X, y = make_data(LABELS)
    w = np.random.default_rng(0).uniform(0.2, 3, len(y))
    of_class = {0: 3.0, 1: 0.5}
    options = {"kernel": "rbf", "gamma": 0.3}
    path = svc_path(
        X, y, along="cost", lambda_=0.2, sample_weight=w, class_weight=of_class, **options
    )
    np.testing.assert_allclose(path.weight, w * np.where(y == 1, 0.5, 3.0))
    for cost in (0.05, 0.3, 0.5, 0.8, 0.97):
        together = w * np.where(y == 1, 0.5, 3.0) * prices(y, cost)
        plain = svc_path(X, y, sample_weight=together, **options)
        given = svc_path(X, y, cost=cost, sample_weight=w, class_weight=of_class, **options)
        f = path.decision_function(X, cost)
        for other in (plain, given):
            g = other.decision_function(X, 0.2)
            np.testing.assert_allclose(f, g, atol=1e-8 * max(1.0, np.abs(f).max()))


@pytest.mark.parametrize("fraction", [0.7, 0.1, 0.01])
@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize("data", [make_data, make_tied], ids=["generic", "tied"])
def test_turning_to_the_cost_and_back(data, intercept, fraction):
    """Oracle: the solution at which the chain began; a path without turns; and certificates."""
    X, y = data(LABELS)
    options = {"kernel": "rbf", "gamma": 0.3, "intercept": intercept}
    path = svc_path(X, y, **options)
    begin = fraction * path.start
    chain = [path.turn("cost", at=begin, stop=0.85)]
    chain.append(chain[-1].turn("lambda", at=0.85, stop=begin / 3))
    chain.append(chain[-1].turn("cost", at=chain[-1].stop, stop=0.5))
    chain.append(chain[-1].turn("lambda", at=0.5, stop=begin))
    for part in chain:
        assert part.complete, part.reason
        assert_walked(part, above=False, n_random=30)
    same_model(path, begin, chain[-1], chain[-1].stop, X)
    straight = svc_path(X, y, along="cost", lambda_=begin, **options)
    for cost in (0.55, 0.7, 0.85):
        same_model(straight, cost, chain[0], cost, X)


def same_model(a, at_a, b, at_b, X):
    s, t = a.at(at_a), b.at(at_b)
    assert (s.lambda_, s.cost) == pytest.approx((t.lambda_, t.cost))
    f, g = a.decision_function(X, at_a), b.decision_function(X, at_b)
    np.testing.assert_allclose(f, g, atol=1e-8 * max(1.0, np.abs(f).max()))


# ---------------------------------------------------------------------- the ROC curve


def rates(labels, y, w=None):
    """(fpr, tpr) of predictions, by hand."""
    w = np.ones(len(y)) if w is None else w
    called, positive = labels == y.max(), y == y.max()
    return [w[called & k].sum() / w[k].sum() for k in (~positive, positive)]


def above_hull(hull, fpr, tpr):
    """How far a point lies above the hull; negative: below it."""
    return tpr - np.interp(fpr, hull[:, 0], hull[:, 1])


@pytest.fixture(scope="module", params=SETS)
def curve(request):
    """A path on one half of a set, the other half, and the ROC curve there."""
    X, y = SETS[request.param]()
    X, y = X[order := np.random.default_rng(0).permutation(len(y))], y[order]
    path = svc_path(X[::2], y[::2], kernel="rbf", gamma=GAMMA, along="cost", lambda_=0.3)
    return path, X[1::2], y[1::2], path.roc(X[1::2], y[1::2]), X[::2]


def test_every_point_of_the_curve_is_a_model(curve):
    """Oracle: `predict` at the cost given, and anywhere in its interval."""
    path, X, y, roc, _ = curve
    assert len(roc.cost) > 5 and np.all(np.diff(roc.cost) > 0)
    for k, (low, high) in enumerate(roc.interval):
        for cost in low + (high - low) * np.array([0.01, 0.5, 0.99]):
            assert rates(path.predict(X, cost), y) == pytest.approx([roc.fpr[k], roc.tpr[k]])
    np.testing.assert_allclose(roc.cost, roc.interval.mean(axis=1))
    # The intervals leave nothing out.
    np.testing.assert_allclose(roc.interval[1:, 0], roc.interval[:-1, 1], rtol=1e-9)
    np.testing.assert_allclose([roc.interval[0, 0], roc.interval[-1, 1]], [1e-4, 1 - 1e-4])


def test_every_model_is_a_point_of_the_curve(curve):
    """Oracle: `predict` on both sides of every breakpoint, and at random costs."""
    path, X, y, roc, _ = curve
    known = {(round(a, 9), round(b, 9)) for a, b in zip(roc.fpr, roc.tpr)}
    costs = np.concatenate([path.breakpoints - 1e-9, path.breakpoints + 1e-9])
    costs = np.concatenate([np.clip(costs, path.start, path.stop), random_values(path, 300)])
    labels = path.predict(X, costs)
    models = {tuple(round(r, 9) for r in rates(column, y)) for column in labels.T}
    assert models <= known, models - known
    assert len(models) > 3


def test_the_hull_encloses_weighted_fits(curve):
    """Oracle: 100 fits of LIBSVM with class_weight: none is above the hull of all models."""
    path, X, y, roc, train = curve
    hull = roc.hull
    np.testing.assert_array_equal([hull[0], hull[-1]], [[0, 0], [1, 1]])
    slopes = np.diff(hull[:, 1]) / np.maximum(np.diff(hull[:, 0]), 1e-300)
    assert np.all(np.diff(slopes) < 0), "not convex"
    assert np.all(above_hull(hull, roc.fpr, roc.tpr) <= 1e-12)
    for cost in np.linspace(0.005, 0.995, 100):
        model = SVC(C=1 / 0.3, kernel="precomputed", tol=1e-8, class_weight=by_class(cost))
        f = model.fit(kernel(train), path.y).decision_function(kernel(X, train))
        sure = np.abs(f) > 1e-5  # a point that f passes by less may be called either way
        both = [rates(np.where(sure, f > 0, way).astype(int), y) for way in (0, 1)]
        assert min(above_hull(hull, *point) for point in both) <= 1e-12
    area = np.sum(np.diff(hull[:, 0]) * (hull[1:, 1] + hull[:-1, 1]) / 2)
    assert roc.auc == pytest.approx(area) and 0.5 <= roc.auc <= 1.0


def test_weighted_rates_count_copies():
    """Oracle: rows repeated as often as their weight says."""
    X, y = make_data(LABELS)
    path = svc_path(X[::2], y[::2], kernel="rbf", gamma=0.3, along="cost", lambda_=0.3)
    times = np.random.default_rng(0).integers(1, 4, len(y))
    ours = path.roc(X, y, sample_weight=times)
    theirs = path.roc(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(ours.cost, theirs.cost, rtol=1e-9)
    for name in ("fpr", "tpr", "hull"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name))
    assert ours.auc != pytest.approx(path.roc(X, y).auc, rel=1e-3), "weights change nothing"


def test_labels_of_any_kind():
    """Oracle: the same curve for 0 and 1."""
    X, y = make_data(LABELS)
    options = {"kernel": "rbf", "gamma": 0.3, "along": "cost", "lambda_": 0.3}
    words = np.where(y == 1, "yes", "no")
    a, b = svc_path(X, y, **options).roc(X, y), svc_path(X, words, **options).roc(X, words)
    np.testing.assert_array_equal(a.tpr, b.tpr)
    np.testing.assert_array_equal(a.fpr, b.fpr)


def test_what_the_curve_needs():
    """Oracle: the messages, which name what came and what was expected."""
    X, y = make_data(LABELS)
    path = svc_path(X, y, along="cost", lambda_=0.3)
    with pytest.raises(ValueError, match=r"both classes, got none of 0"):
        path.roc(X[y == 1], y[y == 1])
    with pytest.raises(ValueError, match=r"both classes, got none of 1"):
        path.roc(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))
    with pytest.raises(ValueError, match=r"y has the label 7, expected one of \[0 1\]"):
        path.roc(X, np.where(np.arange(len(y)) == 3, 7, y))
    with pytest.raises(ValueError, match=r"along='cost'\), got one of svc in lambda"):
        svc_path(X, y).roc(X, y)
    with pytest.raises(ValueError, match=r"along='cost'\), got one of svr in lambda"):
        svr_path(X, y.astype(float)).roc(X, y)
    with pytest.raises(
        ValueError, match=r"y must have one label for each of the 40 rows of X, got"
    ):
        path.roc(X, y[:-1])
