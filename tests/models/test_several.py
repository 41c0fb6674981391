"""Several classes: labels, curves and choices, against scikit-learn's SVC and brute force."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from chemin import PathQuadraticSVC, PathSVC, svc_path
from chemin.selection import BootstrapLeaveOneOut, LeaveOneOutOnPath, Split
from chemin.selection.classes import Coding

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def iris():
    """Noise in the labels: more jumps."""
    X, y = scaled(load_iris)
    rng = np.random.default_rng(0)
    noisy = rng.random(len(y)) < 0.1
    y[noisy] = rng.integers(0, 3, noisy.sum())
    return X[:, 1:3], y


@pytest.fixture(scope="module")
def fitted(iris):
    return {kind: PathSVC(multi_class=kind, gamma=0.7, cv=3).fit(*iris) for kind in ("ovo", "ovr")}


def by_votes(f, pairs, k):
    """Votes one by one; f has shape (pairs, values, points)."""
    votes = np.zeros((k, *f.shape[1:]))
    for (i, j), one in zip(pairs, f):
        votes[i] += one > 0
        votes[j] += one <= 0
    return votes.argmax(axis=0)


def brute_force(X, y, kind, values, splits, **options):
    """The mean error of labels from paths of two classes, walked one by one."""
    k = len(np.unique(y))
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    errors = []
    for train, test in splits:
        f = []
        for problem in pairs if kind == "ovo" else range(k):
            if kind == "ovo":
                rows = train[np.isin(y[train], problem)]
                target = y[rows] == problem[0]
            else:
                rows, target = train, y[train] == problem
            path = svc_path(X[rows], target, stop=values.min(), **options)
            f.append(path.decision_function(X[test], values).T)
        f = np.array(f)
        label = by_votes(f, pairs, k) if kind == "ovo" else f.argmax(axis=0)
        errors.append((label != y[test]).mean(axis=1))
    return np.mean(errors, axis=0)


@pytest.mark.parametrize("kind", ["ovo", "ovr"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_joint_curve_is_brute_force(iris, kind, kernel):
    """Oracle: paths of two classes and votes by hand, at 200 values and between them."""
    X, y = iris
    model = PathSVC(multi_class=kind, kernel=kernel, gamma=0.7, cv=3).fit(X, y)
    low, high = model.curve_.range[0], model.path_.start
    values = np.geomspace(low * (1 + 1e-9), 2 * high, 200)
    splits = list(StratifiedKFold(3).split(X, y))
    expected = brute_force(X, y, kind, values, splits, kernel=kernel, gamma=0.7)
    np.testing.assert_allclose(model.curve_(values), expected, atol=1e-12)
    assert model.curve_.exact
    assert model.curve_.minimum <= expected.min() + 1e-12
    assert np.isclose(model.curve_(model.lambda_), model.curve_.minimum)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_scikit_learns_errors(load):
    """Oracle: cross_val_score of SVC; gamma="scale" is that of each fold."""
    X, y = scaled(load)
    model = PathSVC(cv=5).fit(X, y)
    values = np.geomspace(model.curve_.range[0] * 1.01, model.path_.start, 12)
    expected = [1 - cross_val_score(SVC(C=1 / v, tol=1e-8), X, y, cv=5).mean() for v in values]
    np.testing.assert_allclose(model.curve_(values), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
@pytest.mark.parametrize("weights", [{}, {"class_weight": "balanced"}, {"class_weight": {1: 3.0}}])
def test_the_model_is_scikit_learns(iris, kernel, weights):
    """Oracle: SVC at the same C: f, coefficients, intercepts, labels, in both shapes."""
    X, y = iris
    points = X @ X.T if kernel == "precomputed" else X
    model = PathSVC(kernel=kernel, gamma=0.7, cv=3, **weights).fit(points, y)
    for shape in ("ovr", "ovo"):
        model.set_params(decision_function_shape=shape)
        svc = SVC(
            C=model.C_,
            kernel=kernel,
            gamma=0.7,
            tol=1e-8,
            decision_function_shape=shape,
            **weights,
        ).fit(points, y)
        # Where f is 0 LIBSVM's tolerance decides on the vote.
        told = np.abs(model._f(points)).min(axis=1) > 1e-5
        f, expected = (m.decision_function(points)[told] for m in (model, svc))
        np.testing.assert_allclose(f, expected, atol=1e-5)
        handed = model.to_sklearn().predict(points)
        np.testing.assert_array_equal(model.predict(points)[told], handed[told])
    np.testing.assert_allclose(model.intercept_, svc.intercept_, atol=1e-5)
    if kernel == "linear":
        np.testing.assert_allclose(model.coef_, svc.coef_, atol=1e-5)


def test_every_problem_is_certified(fitted):
    """Oracle: certificates of all problems, at the chosen value."""
    for model in fitted.values():
        assert all(c.exact for c in model.path_.certificate(model.lambda_))
        assert len(model.path_) == 3 == len(model.dual_coef_)


def test_one_against_rest(iris, fitted):
    """Oracle: the largest f of three models of two classes."""
    X, y = iris
    model = fitted["ovr"]
    paths = [svc_path(X, y == c, gamma=0.7) for c in range(3)]
    f = np.column_stack([path.decision_function(X, model.lambda_) for path in paths])
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), f.argmax(axis=1))
    np.testing.assert_array_equal(model.path_.predict(X, model.lambda_), model.predict(X))
    with pytest.raises(ValueError, match="SVC is one against one"):
        model.to_sklearn()


@pytest.mark.parametrize("kind", ["ovo", "ovr"])
def test_a_lambda_for_each_problem(iris, kind):
    """Oracle: a model of two classes on the rows of each problem."""
    X, y = iris
    model = PathSVC(multi_class=kind, gamma=0.7, cv=3, joint=False).fit(X, y)
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.isin(y, [i, j]) if kind == "ovo" else np.full(len(y), True)
        target = y[rows] == (i if kind == "ovo" else k)
        alone = PathSVC(gamma=0.7, cv=3).fit(X[rows], target)
        assert np.isclose(model.lambda_[k], alone.lambda_, rtol=1e-8)
        f = model.path_[k].decision_function(X, model.lambda_[k])
        np.testing.assert_allclose(f, alone.decision_function(X), atol=1e-6)
    assert model.score(X, y) > 0.7 and len(model.curves_) == 3
    with pytest.raises(ValueError, match="joint=False"):
        model.to_sklearn()


def test_labels_of_any_type(iris):
    """Oracle: the same fit with numbers."""
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])
    model, plain = (PathSVC(cv=3).fit(X, labels) for labels in (names[y], y))
    assert model.lambda_ == plain.lambda_
    np.testing.assert_array_equal(model.predict(X), names[plain.predict(X)])


def test_a_class_that_a_fold_lacks(iris):
    """Oracle: SVC trained on the classes that are there."""
    X, y = iris
    rng = np.random.default_rng(1)
    rows = rng.permutation(len(y))
    train = rows[:100][y[rows[:100]] != 1]
    splits = [(train, rows[100:]), (rows[:100], rows[100:])]
    for kind in ("ovo", "ovr"):
        model = PathSVC(multi_class=kind, gamma=0.7, cv=splits).fit(X, y)
        value = model.lambda_ * 1.01
        got = model.curve_.per_fold(value)[0]
        expected = np.mean(
            SVC(C=1 / value, gamma=0.7).fit(X[train], y[train]).predict(X[rows[100:]])
            != y[rows[100:]]
        )
        if kind == "ovo":
            assert got == pytest.approx(expected)
        else:
            assert got >= (y[rows[100:]] == 1).mean()


def test_other_scores(iris):
    """Oracle: cross_val_score with the same name."""
    X, y = iris
    X, y = X[::5], y[::5]
    model = PathSVC(gamma=0.7, cv=3, stop=0.05, scoring="f1_macro").fit(X, y)
    expected = cross_val_score(
        SVC(C=model.C_, gamma=0.7, tol=1e-8), X, y, cv=3, scoring="f1_macro"
    ).mean()
    assert model.curve_.score(model.lambda_) == pytest.approx(expected, abs=1e-9)
    balanced = PathSVC(gamma=0.7, cv=3, stop=0.05, scoring="balanced_accuracy").fit(X, y)
    expected = cross_val_score(
        SVC(C=balanced.C_, gamma=0.7, tol=1e-8), X, y, cv=3, scoring="balanced_accuracy"
    ).mean()
    assert balanced.curve_.exact
    assert balanced.curve_.score(balanced.lambda_) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError, match="needs two classes, got 3"):
        PathSVC(scoring="neg_hinge_loss").fit(X, y)


def test_weights_are_rows(iris):
    """Oracle: rows that are there as often as their weight says, in folds of their own."""
    X, y = iris
    X, y = X[::2], y[::2]
    weight = 1 + (np.arange(len(y)) % 3 == 0).astype(int)
    rows = np.repeat(np.arange(len(y)), weight)
    halves = [
        (np.flatnonzero(np.arange(len(y)) % 2 == k), np.flatnonzero(np.arange(len(y)) % 2 != k))
        for k in (0, 1)
    ]
    again = [tuple(np.flatnonzero(np.isin(rows, part)) for part in half) for half in halves]
    weighted = PathSVC(gamma=0.7, cv=halves).fit(X, y, sample_weight=weight)
    repeated = PathSVC(gamma=0.7, cv=again).fit(X[rows], y[rows])
    values = np.geomspace(weighted.curve_.range[0] * 1.01, weighted.path_.start, 50)
    np.testing.assert_allclose(weighted.curve_(values), repeated.curve_(values), atol=1e-12)


@pytest.mark.parametrize("choose", ["one_se", "sparsest"])
def test_other_choices(iris, fitted, choose):
    """Oracle: the definition of each, on a fine grid."""
    X, y = iris
    model = PathSVC(gamma=0.7, cv=3, choose=choose).fit(X, y)
    curve = fitted["ovo"].curve_
    most = curve.minimum + curve.standard_error(curve.minimiser)
    assert curve(model.lambda_) <= most + 1e-12
    values = np.geomspace(curve.range[0] * 1.01, curve.path.start, 60)
    good = values[curve(values) <= most]
    if choose == "one_se":
        assert model.lambda_ >= good.max() * (1 - 1e-6)
    else:
        assert len(model.support_) <= curve.n_coefficients(good).min()


def test_other_criteria(iris):
    """Oracle: the criterion's own trials: a split is one fold, a bootstrap has one for each row."""
    X, y = iris
    X, y = X[::9], y[::9]
    split = PathSVC(gamma=0.7, cv=Split(0.5, random_state=0)).fit(X, y)
    assert split.curve_.n_folds == 1 and split.curve_.exact
    drawn = PathSVC(gamma=0.7, cv=BootstrapLeaveOneOut(1, random_state=0)).fit(X, y)
    assert drawn.curve_.n_folds == len(y)
    with pytest.raises(ValueError, match="two classes"):
        PathSVC(cv=LeaveOneOutOnPath()).fit(X, y)


def test_no_worse_than_a_grid():
    """Oracle: GridSearchCV over 25 values of C, on digits."""
    X, y = load_digits(return_X_y=True)
    some = np.flatnonzero(y < 5)[:200]
    X, y = X[some] / 16.0, y[some]
    model = PathSVC(cv=3).fit(X, y)
    grid = {"C": np.geomspace(1.0 / model.path_.start, 1.0 / model.curve_.range[0] / 1.01, 25)}
    search = GridSearchCV(SVC(), grid, cv=3).fit(X, y)
    assert 1 - model.curve_.minimum >= search.best_score_ - 1e-12
    np.testing.assert_allclose(
        model.curve_.score(1 / grid["C"]), search.cv_results_["mean_test_score"], atol=1e-12
    )


@pytest.mark.parametrize("kind", ["ovo", "ovr"])
def test_quadratic_losses(iris, kind):
    """Oracle: probabilities of the pairs or classes one by one, and their sum."""
    X, y = iris
    model = PathQuadraticSVC(multi_class=kind, gamma=0.7, cv=3, stop=2.0).fit(X[::2], y[::2])
    p = model.predict_proba(X)
    assert p.shape == (len(y), 3) and np.all(p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(p.argmax(axis=1) == model.predict(X)) > 0.95
    assert model.curve_.exact == (kind == "ovo")


def test_coupling_undoes_pairs():
    """Oracle: p itself, from p_i / (p_i + p_j)."""
    p = np.random.default_rng(0).dirichlet(np.ones(5), 20)
    coding = Coding(5, "ovo")
    first, second = coding.pairs.T
    pairs = p[:, first] / (p[:, first] + p[:, second])
    np.testing.assert_allclose(coding.probabilities(pairs), p, atol=1e-8)


BAD = [
    ({"multi_class": "all"}, {}, "multi_class must be 'ovo' or 'ovr', got 'all'"),
    ({"decision_function_shape": 1}, {}, "decision_function_shape must be 'ovo' or 'ovr', got 1"),
    ({"joint": "yes"}, {}, "joint must be True or False"),
    ({"class_weight": {7: 2.0}}, {}, "class_weight names the class 7"),
    ({}, {"sample_weight": "zero"}, "sample_weight is 0 for all rows of class"),
]


@pytest.mark.parametrize("options, fit, message", BAD)
def test_bad_input(iris, options, fit, message):
    """Oracle: the message names what is wrong."""
    X, y = iris
    if fit:
        fit = {"sample_weight": (y != 1).astype(float)}
    with pytest.raises(ValueError, match=message):
        PathSVC(**({"cv": 3} | options)).fit(X, y, **fit)


def test_the_path_function_names_the_estimator(iris):
    """Oracle: the message."""
    with pytest.raises(ValueError, match=r"y has 3 classes .* PathSVC takes several"):
        svc_path(*iris)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("whole", [True, False])
def test_classes_whose_machines_are_constant_tie(seed, whole):
    """Oracle: `predict` of the paths of the folds. f = -1 for several classes, but for round-off
    that grows as lambda falls: of equals the first wins, in the curve as there.
    """
    rng = np.random.default_rng(seed)
    k = 3 if whole else 4
    y = rng.permutation(np.arange(48) % k)
    X = rng.integers(0, 4, size=(48, 2)) if whole else 0.7 * y[:, None] + rng.normal(size=(48, 1))
    folds = list(StratifiedKFold(3).split(X, y))
    options = {"kernel": "linear", "multi_class": "ovr", "stop": 1e-3}
    curve = PathSVC(cv=folds, **options).fit(X, y).curve_
    knots = curve.knots[curve.knots < curve.top]
    apart = knots[1:] > knots[:-1] * (1 + 1e-9)
    values = np.sqrt(knots[1:] * knots[:-1])[apart]
    for j, (train, test) in enumerate(folds):
        path = PathSVC(cv=2, **options).fit(X[train], y[train]).path_
        errors = (path.predict(X[test], values) != y[test][:, None]).mean(axis=0)
        np.testing.assert_allclose(curve.per_fold(values)[j], errors, atol=1e-12)
