"""PathSearchCV against GridSearchCV: the same folds, scores and models, and never a worse one."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import chemin.models.search as search_module
import chemin.selection.family as family_module
from chemin import Between, PathLasso, PathNuSVR, PathSearchCV, PathSVC, PathSVR
from chemin.kernels import RBF, Bilinear, Distances, Gaussian, Linear, Spectrum
from chemin.selection import LeaveOneOut

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(90, 6, n_informative=3, flip_y=0.15, random_state=3)
    return X * np.array([1, 1, 1, 1, 1, 10]), y


@pytest.fixture(scope="module")
def search(data):
    model = make_pipeline(StandardScaler(), SelectKBest(k=3), PathSVC())
    grid = {"selectkbest__k": [2, 4], "pathsvc__gamma": [0.1, 1.0]}
    return PathSearchCV(model, grid, cv=3).fit(*data)


def grid_model(params):
    k, gamma = params["selectkbest__k"], params["pathsvc__gamma"]
    return make_pipeline(StandardScaler(), SelectKBest(k=k), SVC(gamma=gamma, tol=1e-8))


def test_transformers_are_fitted_in_each_fold(data, search):
    """Oracle: cross_val_score of the same pipeline with SVC, at three values of each candidate."""
    X, y = data
    for params, curve in zip(search.cv_results_["params"], search.curves_):
        if curve is None:
            continue
        for value in (2.0, 0.3, curve.minimiser):
            model = grid_model(params).set_params(svc__C=1 / value)
            expected = cross_val_score(model, X, y, cv=3).mean()
            assert curve.score(value) == pytest.approx(expected, abs=1e-12)


def test_no_grid_is_better(data, search):
    """Oracle: GridSearchCV over 8 values of C and the same other parameters."""
    X, y = data
    grid = {
        "selectkbest__k": [2, 4],
        "svc__gamma": [0.1, 1.0],
        "svc__C": np.geomspace(1e-2, 1e2, 8),
    }
    base = make_pipeline(StandardScaler(), SelectKBest(), SVC())
    expected = GridSearchCV(base, grid, cv=3).fit(X, y)
    assert search.best_score_ >= expected.best_score_ - 1e-12
    given_up = np.isnan(search.cv_results_["mean_test_score"])
    for params in np.array(search.cv_results_["params"])[given_up]:
        same = [
            params["pathsvc__gamma"] == p["svc__gamma"]
            and params["selectkbest__k"] == p["selectkbest__k"]
            for p in expected.cv_results_["params"]
        ]
        assert expected.cv_results_["mean_test_score"][same].max() <= search.best_score_ + 1e-12


def test_the_best_model(data, search):
    """Oracle: the same pipeline with SVC on all rows, at the chosen value."""
    X, y = data
    svc = grid_model(search.best_params_).set_params(svc__C=1 / search.best_value_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), svc.predict(X))
    # LIBSVM keeps the kernel in single precision.
    np.testing.assert_allclose(search.decision_function(X), svc.decision_function(X), atol=1e-3)
    assert search.score(X, y) == svc.score(X, y)
    results = search.cv_results_
    assert results["rank_test_score"][search.best_index_] == 1
    splits = [results[f"split{k}_test_score"][search.best_index_] for k in range(3)]
    assert np.mean(splits) == pytest.approx(search.best_score_)
    assert results["best_value"][search.best_index_] == search.best_value_


@pytest.mark.parametrize(
    "model, grid",
    [
        (PathSVR(), {"epsilon": [0.01, 0.3], "gamma": [0.1]}),
        (PathNuSVR(gamma=0.1), {"nu": [0.2, 0.6]}),
        (PathLasso(), {"intercept": [True, False]}),
        (PathSVC(kernel="poly"), [{"degree": [2]}, {"kernel": ["rbf"], "gamma": [0.1, "scale"]}]),
    ],
)
def test_every_estimator(data, model, grid):
    """Oracle: the estimator fitted by itself with the best parameters and the same folds."""
    X, y = data
    search = PathSearchCV(model, grid, cv=3).fit(X, y)
    alone = clone(model).set_params(cv=3, **search.best_params_).fit(X, y)
    assert search.best_value_ == pytest.approx(alone.lambda_, rel=1e-9)
    np.testing.assert_allclose(search.predict(X), alone.predict(X), atol=1e-9)
    assert len(search.curves_) == len(search.cv_results_["params"])


def test_a_continuous_range(data):
    """Oracle: the values of the first round, and refits of SVR at the chosen point."""
    X, y = data
    between = Between(0.01, 10.0, first=4, then=3)
    search = PathSearchCV(PathSVR(epsilon=0.2), {"gamma": between}, cv=3).fit(X, y)
    gammas = [p["gamma"] for p in search.cv_results_["params"]]
    assert len(gammas) == 7 and set(between.values()) <= set(gammas)
    svr = SVR(C=1 / search.best_value_, epsilon=0.2, tol=1e-8, **search.best_params_)
    expected = cross_val_score(svr, X, y, cv=3, scoring="neg_mean_squared_error").mean()
    assert search.best_score_ == pytest.approx(expected, rel=1e-6)
    means = search.cv_results_["mean_test_score"]
    assert search.best_score_ == np.nanmax(means)


@pytest.mark.parametrize("large", [50, 10_000])
def test_the_short_form_is_as_good_as_its_values(monkeypatch, large):
    """Oracle: PathSVC at each of the widths by itself. Whatever the race gives up, the choice is
    within one standard error of the best of them.
    """
    monkeypatch.setattr(family_module, "LARGE", large)
    X, y = make_classification(120, 6, flip_y=0.1, random_state=3)
    model = PathSVC(gamma="path", cv=4).fit(X, y)
    results = model.search_.cv_results_
    widths = [p["gamma"] for p in results["params"]]
    alone = [PathSVC(gamma=g, cv=4).fit(X, y).curve_ for g in widths]
    for curve, own, score in zip(model.search_.curves_, alone, results["mean_test_score"]):
        if curve is not None:
            assert 1 - score == pytest.approx(own.minimum, abs=1e-12)
    best = min(curve.minimum for curve in alone)
    error = model.curve_.standard_error(model.lambda_)
    assert model.curve_.minimum <= best + error
    given_up = [g for g, curve in zip(widths[:5], model.search_.curves_) if curve is None]
    assert len(model.search_.curves_) == 8 and 0 < len(given_up) < 5


def test_what_lies_beyond_is_not_walked(monkeypatch):
    """Oracle: a list of the same values, all walked. gamma = 100 is given up, and so gamma = 1e5 is
    left out; gamma = 1e-4, nearly linear, is not given up, and gamma = 1e-7 is looked at.
    """
    X, y = make_classification(120, 6, flip_y=0.1, random_state=3)
    between, walked = Between(1e-7, 1e5, 5, 0), []
    enter = search_module._State.enter

    def counted(state, group):
        walked.extend(params["gamma"] for params in group)
        return enter(state, group)

    monkeypatch.setattr(search_module._State, "enter", counted)
    search = PathSearchCV(PathSVC(), {"gamma": between, "coef0": [0.0]}, cv=3).fit(X, y)
    given_up = {
        p["gamma"] for p, c in zip(search.cv_results_["params"], search.curves_) if c is None
    }
    assert set(between.values()) - set(walked) == {between.high} < given_up
    listed = PathSearchCV(PathSVC(), {"gamma": list(between.values())}, cv=3).fit(X, y)
    assert len(walked) == 4 + 5 and listed.best_score_ == search.best_score_


@pytest.mark.parametrize("seed", range(3))
def test_several_workers_choose_the_same(seed):
    """Oracle: one worker. Two race two candidates at once, but for the first."""
    X, y = make_classification(90, 5, flip_y=0.1, random_state=seed)
    for values in ([0.01, 0.1, 1.0, 10.0], Between(1e-3, 10.0, 5, 3)):
        one, two = (
            PathSearchCV(PathSVC(), {"gamma": values}, cv=3, n_jobs=k).fit(X, y) for k in (1, 2)
        )
        assert two.best_params_ == one.best_params_ and two.best_value_ == one.best_value_
        params = [[p["gamma"] for p in search.cv_results_["params"]] for search in (one, two)]
        assert params[0] == params[1]


def test_what_is_no_seed(data):
    """Oracle: the message."""
    search = PathSearchCV(PathSVC(), {"gamma": loguniform(0.01, 1.0)}, random_state="a")
    with pytest.raises(ValueError, match="random_state must be a whole number"):
        search.fit(*data)


def test_a_sampler(data):
    """Oracle: the number of candidates, and the range they are drawn from."""
    grid = {"gamma": loguniform(0.01, 1.0)}
    search = PathSearchCV(PathSVC(), grid, n_iter=3, cv=3, random_state=0).fit(*data)
    drawn = [p["gamma"] for p in search.cv_results_["params"]]
    assert len(drawn) == 3 and 0.01 <= min(drawn) < max(drawn) <= 1.0


def test_weights_and_groups(data):
    """Oracle: the estimator by itself, with the same weights and groups."""
    X, y = data
    weight, groups = 1.0 + np.arange(len(y)) % 3, np.arange(len(y)) // 6
    search = PathSearchCV(PathSVC(), {"gamma": [0.1]}, cv=GroupKFold(3))
    search.fit(X, y, sample_weight=weight, groups=groups)
    alone = PathSVC(gamma=0.1, cv=GroupKFold(3)).fit(X, y, weight, groups)
    assert search.best_value_ == pytest.approx(alone.lambda_, rel=1e-9)


@pytest.mark.parametrize("make", [PathSVC, PathSVR])
def test_gamma_on_the_path(data, make):
    """Oracle: the same model at the gamma that was found, and three values of gamma."""
    X, y = data
    X, y = X[:60], y[:60]
    model = make(gamma="path", cv=3).fit(X, y)
    alone = make(gamma=model.gamma_, cv=3).fit(X, y)
    assert model.lambda_ == pytest.approx(alone.lambda_, rel=1e-6)
    np.testing.assert_allclose(model.predict(X), alone.predict(X), atol=1e-8)
    for factor in (0.1, 1.0, 10.0):
        scale = 1 / (X.shape[1] * X.var())
        other = make(gamma=factor * scale, cv=3).fit(X, y)
        assert model.curve_.minimum <= 1.05 * other.curve_.minimum
    assert model.to_sklearn().gamma == model.gamma_
    assert make(gamma="path").get_params()["gamma"] == "path"


def test_several_classes():
    """Oracle: the estimator by itself at the best gamma."""
    X, y = load_iris(return_X_y=True)
    search = PathSearchCV(PathSVC(), {"gamma": [0.05, 0.5]}, cv=3).fit(X[::2], y[::2])
    alone = PathSVC(cv=3, **search.best_params_).fit(X[::2], y[::2])
    assert search.best_value_ == pytest.approx(alone.lambda_)
    np.testing.assert_array_equal(search.classes_, [0, 1, 2])


def test_distances_serve_all_widths():
    """Oracle: each kernel's own matrix; too narrow ones are refused."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[7] = X[3]
    known = Distances(X)
    for gamma in (1e-3, 1.0, 5.0):
        np.testing.assert_allclose(known.gram(RBF(gamma)), RBF(gamma).gram(X), atol=1e-12)
    np.testing.assert_array_equal(known.matrix[3], known.matrix[7])
    assert known.gram(RBF(1e4)) is None


BAD = [
    (SVC(), {"C": [1.0]}, "estimator must be one of chemin's Path estimators"),
    (PathSVC(), {"gamma": Between(1, 2), "coef0": Between(1, 2)}, "one continuous range"),
    (PathSVC(joint=False), {"gamma": [1.0]}, "joint=True"),
    (PathSVC(gamma="path", cv=LeaveOneOut()), None, "cv must be a number of folds"),
    (PathSVC(gamma="path", kernel="linear"), None, "needs a kernel with a gamma"),
    (PathSVC(), {"cv": [3, 5]}, "must not have 'cv': the cv of the search"),
    (make_pipeline(PathSVC()), {"pathsvc__scoring": ["f1"]}, "must not have 'pathsvc__scoring'"),
    (PathSVC(), {"choose": ["one_se"]}, "must not have 'choose'"),
    (PathSVC(), [], "param_grid must be a dict or a list of dicts, got \\[\\]"),
    (PathSVC(gamma="path"), {"coef0": [0.0]}, "must not have gamma='path' in a search"),
    (PathNuSVR(), {"nu": ["path"]}, "must not have nu='path' in a search"),
]


@pytest.mark.parametrize("model, grid, message", BAD)
def test_bad_input(data, model, grid, message):
    """Oracle: the message names what is wrong."""
    with pytest.raises(ValueError, match=message):
        (model if grid is None else PathSearchCV(model, grid)).fit(*data)
    with pytest.raises(ValueError, match="low must be less than high"):
        Between(2.0, 1.0)
    with pytest.raises(ValueError, match="first must be a whole number from 1, got 0"):
        Between(1.0, 2.0, first=0)


def test_bad_folds(data):
    """Oracle: the message names what is wrong, as that of the estimator does."""
    X, y = data
    for cv, message in ((LeaveOneOut(), "number of folds, a splitter"), ("x", "got 'x'")):
        with pytest.raises(ValueError, match=message):
            PathSearchCV(PathSVC(), {"gamma": [1.0]}, cv=cv).fit(X, y)
    with pytest.raises(ValueError, match="needs groups, got None"):
        PathSearchCV(PathSVC(), {"gamma": [1.0]}, cv=GroupKFold(3)).fit(X, y)
    with pytest.raises(ValueError, match="y must have an entry for each row of X, got None"):
        PathSearchCV(PathSVC(), {"gamma": [1.0]}).fit(X, None)
    for model in (PathSVC(), PathSearchCV(PathSVC(), {"gamma": [1.0]})):
        with pytest.raises(ValueError, match="if y are numbers to predict, a regressor"):
            model.fit(X, np.arange(len(y)))


def test_gamma_of_the_grid_counts(data):
    """Oracle: a search without a gamma of the estimator's own."""
    grid = {"gamma": [0.1, 1.0]}
    ours, plain = (PathSearchCV(m, grid, cv=3) for m in (PathSVC(gamma="path"), PathSVC()))
    assert ours.fit(*data).best_params_ == plain.fit(*data).best_params_


# ---------------------------------------------------------------------------- kernel objects


def scores_at(search, model_of, X, y):
    """For each candidate with a curve: its score at its best lambda, and that of SVC there."""
    for params, curve in zip(search.cv_results_["params"], search.curves_):
        if curve is not None:
            kernel = model_of(params)
            svc = SVC(C=1 / curve.minimiser, kernel="precomputed", tol=1e-8)
            expected = cross_val_score(svc, kernel.gram(X), y, cv=3).mean()
            yield curve.score(curve.minimiser), expected


def test_parameters_of_kernels_inside_kernels(data):
    """Oracle: cross_val_score of SVC with the matrix of the same sum."""
    X, y = data
    grid = {"kernel__left__gamma": [0.01, 0.1, 1.0], "kernel__right__scale": [0.1, 1.0]}
    model = PathSVC(kernel=RBF(1.0) + 1.0 * Linear())
    search = PathSearchCV(model, grid, cv=3).fit(X, y)

    def of(params):
        g, s = params["kernel__left__gamma"], params["kernel__right__scale"]
        return RBF(g) + s * Linear()

    for found, expected in scores_at(search, of, X, y):
        assert found == pytest.approx(expected, abs=1e-12)
    assert search.best_estimator_.kernel == of(search.best_params_)
    assert model.kernel == RBF(1.0) + 1.0 * Linear()  # the user's own is as it was


def test_continuous_width_of_a_kernel_object(data):
    """Oracle: the search over gamma, 1 / (2 width²), by the kernel's name."""
    X, y = data
    low, high = 0.5, 8.0
    by_width = PathSearchCV(PathSVC(kernel=Gaussian(1.0)), {"kernel__width": Between(low, high)})
    by_gamma = PathSearchCV(PathSVC(), {"gamma": Between(0.5 / high**2, 0.5 / low**2)})
    one, two = by_width.fit(X, y), by_gamma.fit(X, y)
    assert one.best_score_ == pytest.approx(two.best_score_, abs=1e-12)


def test_letters_of_a_string_kernel():
    """Oracle: cross_val_score of SVC with the matrix of the same kernel; the rule has 2 letters."""
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("acgt"), rng.integers(10, 16))) for _ in range(60)]
    y = np.array([text.count("ca") + text.count("ta") > 1 for text in texts])
    grid = {"kernel__k": [1, 2, 4], "kernel__normalised": [False, True]}
    search = PathSearchCV(PathSVC(kernel=Spectrum(3)), grid, cv=3).fit(texts, y)
    of = lambda params: Spectrum(params["kernel__k"], normalised=params["kernel__normalised"])
    for found, expected in scores_at(search, of, texts, y):
        assert found == pytest.approx(expected, abs=1e-12)
    assert search.best_params_["kernel__k"] == 2
    assert search.predict(texts[:5]).tolist() == search.best_estimator_.predict(texts[:5]).tolist()
    with pytest.raises(ValueError, match="has 10 letters, expected at least k = 20"):
        PathSearchCV(PathSVC(kernel=Spectrum(3)), {"kernel__k": [20]}, cv=3).fit(texts, y)


@pytest.mark.parametrize(
    "kernel, name, values",
    [
        (Bilinear(np.eye(6)), "B", [np.eye(6), np.diag([1, 1, 1, 0, 0, 0.0])]),
        (RBF(0.3).on([0, 1]), "columns", [[0, 1], [1, 2]]),
    ],
)
def test_values_that_are_lists_or_matrices(data, kernel, name, values):
    """Oracle: the values, one a candidate, in the column of cv_results_."""
    search = PathSearchCV(PathSVC(kernel=kernel), {f"kernel__{name}": values}, cv=3).fit(*data)
    column = search.cv_results_[f"param_kernel__{name}"]
    assert column.shape == (2,)
    for found, value in zip(column, values):
        np.testing.assert_array_equal(found, value)


def test_kernels_are_candidates_each_by_itself(data):
    """Oracle: the best model of the search, refitted alone; the kernels of the grid do not move."""
    X, y = data
    shared = RBF(1.0)
    grid = [{"kernel": [shared], "kernel__gamma": [0.1, 10.0]}, {"kernel": [Linear(), "poly"]}]
    search = PathSearchCV(PathSVC(), grid, cv=3).fit(X, y)
    assert shared == RBF(1.0)
    best = clone(search.best_estimator_).set_params(cv=3).fit(X, y)
    assert best.lambda_ == pytest.approx(search.best_value_, rel=1e-9)
    np.testing.assert_allclose(best.decision_function(X), search.decision_function(X), atol=1e-9)


def test_names_that_a_kernel_does_not_have(data):
    with pytest.raises(ValueError, match="has no parameter 'gamma', only left, left__gamma, right"):
        PathSearchCV(PathSVC(kernel=RBF(1.0) + Linear()), {"kernel__gamma": [1.0]}).fit(*data)


@pytest.mark.parametrize("groups", [False, True])
def test_a_weight_of_zero_is_a_removed_row(groups):
    """Oracle: the search without these rows. They moved the folds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=40) > 0, 1, -1)
    w, group = rng.integers(0, 4, 40).astype(float), np.arange(40) // 2
    used, cv = w > 0, GroupKFold(3) if groups else 3
    searches = [
        PathSearchCV(PathSVC(), {"gamma": [0.3, 0.5]}, cv=cv).fit(
            X[some], y[some], sample_weight=w[some], groups=group[some] if groups else None
        )
        for some in (slice(None), used)
    ]
    whole, part = searches
    assert whole.best_params_ == part.best_params_ and whole.best_score_ == part.best_score_
    assert whole.best_value_ == pytest.approx(part.best_value_, rel=1e-9)
