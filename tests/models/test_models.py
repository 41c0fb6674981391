"""The estimators: what they choose, what they learn, and how they fit into scikit-learn."""

import pickle
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Lasso
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVR

from chemin import PathLasso, PathNuSVR, PathSVC, PathSVR, lasso_path, nu_svr_path, svc_path
from chemin.selection import Bootstrap632, CrossValidation, Family, LeaveOneOut

CLOSE = 1e-6


@pytest.fixture(scope="module")
def labels():
    X, y = load_breast_cancer(return_X_y=True)
    keep = np.random.default_rng(0).permutation(len(y))[:120]
    return StandardScaler().fit_transform(X[keep]), y[keep]


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return X[:120], (y[:120] - 150) / 80


@pytest.fixture(scope="module")
def noisy():
    """The best C lies well inside the range."""
    return make_classification(120, 6, n_informative=3, flip_y=0.15, random_state=2)


@pytest.fixture(scope="module")
def svc(noisy):
    return PathSVC(cv=4).fit(*noisy)


@pytest.fixture(scope="module")
def svr(numbers):
    return PathSVR(epsilon=0.3, cv=4).fit(*numbers)


@pytest.fixture(scope="module")
def lasso(numbers):
    return PathLasso(cv=4).fit(*numbers)


# ---------------------------------------------------------------------- what they choose


def test_the_curve_is_that_of_the_criterion(noisy, svc):
    """Oracle: the criterion on the family, put together by hand."""
    curve = CrossValidation(4)(Family(svc_path, *noisy))
    assert svc.lambda_ == curve.minimiser and svc.C_ == 1 / svc.lambda_
    np.testing.assert_array_equal(svc.curve_.knots, curve.knots)


def test_the_curve_of_nu_svr(numbers):
    """Oracle: the criterion on the family; NuSVR refitted in each fold at the chosen lambda."""
    X, y = numbers
    model = PathNuSVR(nu=0.3, gamma=20.0, cv=4).fit(X, y)
    curve = CrossValidation(4)(Family(partial(nu_svr_path, nu=0.3), X, y, gamma=20.0))
    assert model.lambda_ == curve.minimiser and model.C_ == 1 / model.lambda_
    other = NuSVR(nu=0.3, C=model.C_, gamma=20.0, tol=1e-10)
    scores = cross_val_score(other, X, y, cv=4, scoring="neg_mean_squared_error")
    np.testing.assert_allclose(model.curve_.per_fold(model.lambda_), -scores, rtol=1e-6)


def test_choices(numbers):
    """Oracle: the curve's own choices."""
    for choose, value in (
        ("min", lambda c: c.minimiser),
        ("one_se", lambda c: c.one_se()),
        ("sparsest", lambda c: c.sparsest(0.05)),
    ):
        model = PathLasso(cv=4, choose=choose, tolerance=0.05).fit(*numbers)
        assert model.lambda_ == value(model.curve_)
    with pytest.raises(ValueError, match="choose must be one of min, one_se, sparsest"):
        PathLasso(choose="best").fit(*numbers)


def test_a_criterion_in_place_of_folds(numbers):
    """Oracle: the criterion itself."""
    X, y = numbers[0][:20, [2, 3, 8]], numbers[1][:20]
    model = PathLasso(cv=LeaveOneOut(scoring="neg_mean_absolute_error")).fit(X, y)
    assert model.curve_.n_folds == 20 and model.curve_.scoring == "neg_mean_absolute_error"
    criterion = Bootstrap632(2, random_state=0)
    assert (
        PathLasso(cv=criterion).fit(X, y).lambda_ == criterion(Family(lasso_path, X, y)).minimiser
    )


def test_predictions_are_those_of_the_path(noisy, numbers, svc, svr, lasso):
    """Oracle: Path.decision_function at the chosen value."""
    for model, (X, _) in ((svc, noisy), (svr, numbers), (lasso, numbers)):
        f = model.path_.decision_function(X, model.lambda_)
        mine = model.decision_function(X) if model is svc else model.predict(X)
        np.testing.assert_allclose(mine, f, atol=1e-10)


def test_the_minimum_at_an_end_is_said(noisy, numbers):
    """Oracle: a range that ends before the minimum; targets that are noise."""
    with pytest.warns(
        UserWarning, match=r"sits at the lower end of the range of lambda.*smaller stop"
    ):
        PathLasso(cv=3, stop=10.0).fit(*numbers)
    X, y = numbers
    noise = np.random.default_rng(0).normal(size=len(y))
    with pytest.warns(UserWarning, match=r"sits at the upper end"):
        PathLasso(cv=3).fit(X, noise)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PathSVC(cv=3).fit([[0.0], [1], [2], [10], [11], [12]], [0, 0, 0, 1, 1, 1])


def test_class_weights_count_in_the_default_loss_only(noisy):
    """Oracle: weights of the samples that are the same."""
    X, y = noisy
    w = np.where(y == 1, 3.0, 1.0)
    a = PathSVC(cv=3, class_weight={1: 3.0}, gamma=0.1).fit(X, y)
    b = PathSVC(cv=3, gamma=0.1).fit(X, y, sample_weight=w)
    assert a.lambda_ == pytest.approx(b.lambda_)
    named = PathSVC(cv=3, class_weight={1: 3.0}, gamma=0.1, scoring="accuracy").fit(X, y)
    v = named.lambda_
    folds = list(StratifiedKFold(3).split(X, y))
    wrong = [
        np.mean(
            SVC(C=1 / v, gamma=0.1, class_weight={1: 3.0}, tol=1e-8).fit(X[i], y[i]).predict(X[j])
            != y[j]
        )
        for i, j in folds
    ]
    assert named.curve_(v) == pytest.approx(np.mean(wrong))


# ---------------------------------------------------------------------- handing over

MACHINES = {"svc": (PathSVC, SVC), "svr": (PathSVR, SVR), "nu-svr": (PathNuSVR, NuSVR)}


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "precomputed"])
@pytest.mark.parametrize("kind", MACHINES)
def test_to_sklearn(kind, kernel, noisy, numbers):
    """Oracle: LIBSVM at the same C, as scikit-learn fits it."""
    X, y = noisy if kind == "svc" else numbers
    X = X[:70] / X.std()
    new = X[:20] + 0.1
    if kernel == "precomputed":
        X, new = rbf_kernel(X, gamma=0.3), rbf_kernel(new, X, gamma=0.3)
    options = {"kernel": kernel, "cv": 3, "coef0": 1.0, "degree": 2, "stop": 0.2}
    make, theirs = MACHINES[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wherever the minimum is
        model = make(**options).fit(X, y[:70])
    other = model.to_sklearn()
    assert isinstance(other, theirs) and other.C == model.C_
    how = "decision_function" if kind == "svc" else "predict"
    np.testing.assert_allclose(getattr(other, how)(new), getattr(model, how)(new), atol=CLOSE)
    if kind == "svc":
        np.testing.assert_array_equal(other.predict(new), model.predict(new))
    if kernel == "linear":
        np.testing.assert_allclose(other.coef_, model.coef_, atol=CLOSE)
        assert model.coef_.shape == (1, X.shape[1]) and model.intercept_.shape == (1,)
    elif kernel == "rbf":
        np.testing.assert_array_equal(np.sort(other.support_), model.support_)


def test_to_sklearn_with_weights(noisy):
    """Oracle: LIBSVM with the same weights of classes and samples."""
    X, y = noisy
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = PathSVC(cv=3, class_weight="balanced").fit(X, y, sample_weight=w)
    f = model.to_sklearn().decision_function(X)
    np.testing.assert_allclose(f, model.decision_function(X), atol=CLOSE)
    with pytest.raises(ValueError, match="intercept=False cannot be handed over"):
        PathSVC(cv=3, intercept=False).fit(X, y).to_sklearn()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
def test_nu_svr_to_sklearn(numbers, nu, weighted):
    """Oracle: NuSVR at the chosen lambda; the tube is where its points on the edge are."""
    X, y = numbers
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    model = PathNuSVR(nu=nu, gamma=20.0, cv=3).fit(X, y, sample_weight=w)
    other = model.to_sklearn()
    assert other.nu == model.nu_ == nu and other.C == model.C_
    # LIBSVM keeps kernel entries, which are at most 1 here, in single precision.
    single = np.abs(model.dual_coef_).sum() * 2.0**-24
    np.testing.assert_allclose(other.predict(X), model.predict(X), atol=single)
    box = np.ones(len(y)) if w is None else w
    beta = np.abs(other.dual_coef_[0]) * model.lambda_
    edge = other.support_[(beta > 1e-4) & (beta < box[other.support_] - 1e-4)]
    assert len(edge) > 0
    width = np.abs(y - other.predict(X))[edge]
    np.testing.assert_allclose(width, model.epsilon_, atol=single)


def test_nu_svr_hands_over_its_own_intercept(numbers):
    """Oracle: the model; at a whole nu n every intercept of an interval is as good."""
    X, y = numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wherever the minimum is
        model = PathNuSVR(nu=0.3, gamma=20.0, cv=3, stop=30.0).fit(X, y)
    low, high = model.path_.at(model.lambda_).intercept_interval
    assert high - low > 1e-3
    other = model.to_sklearn()
    np.testing.assert_array_equal(other.intercept_, model.intercept_)
    np.testing.assert_allclose(other.predict(X), model.predict(X), atol=CLOSE)


def test_lasso_to_sklearn(numbers, lasso):
    """Oracle: scikit-learn's coordinate descent at the same alpha."""
    X, y = numbers
    other = lasso.to_sklearn()
    assert isinstance(other, Lasso) and other.alpha == lasso.alpha_
    np.testing.assert_allclose(other.coef_, lasso.coef_, atol=CLOSE)
    np.testing.assert_allclose(other.predict(X), lasso.predict(X), atol=CLOSE)
    np.testing.assert_array_equal(lasso.support_, lasso.coef_ != 0)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = PathLasso(cv=3).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.to_sklearn().predict(X), model.predict(X), atol=CLOSE)


# ---------------------------------------------------------------------- within scikit-learn


def test_precomputed_is_the_same_model(noisy):
    """Oracle: the kernel computed inside."""
    X, y = noisy
    a = PathSVC(gamma=0.2, cv=3).fit(X, y)
    b = PathSVC(kernel="precomputed", cv=3).fit(rbf_kernel(X, gamma=0.2), y)
    assert a.lambda_ == pytest.approx(b.lambda_, rel=1e-6)
    f = b.decision_function(rbf_kernel(X[:7], X, gamma=0.2))
    np.testing.assert_allclose(f, a.decision_function(X[:7]), atol=1e-6)
    assert b.__sklearn_tags__().input_tags.pairwise
    scores = cross_val_score(b, rbf_kernel(X, gamma=0.2), y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(a, X, y, cv=3), atol=1e-12)


def test_frames_in_and_names_out(noisy):
    """Oracle: the array; scikit-learn's message for unseen columns."""
    X, y = noisy
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    target = pd.Series(np.where(y == 1, "yes", "no"))
    model = PathSVC(cv=3).fit(frame, target)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert list(model.classes_) == ["no", "yes"]
    plain = PathSVC(cv=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(frame) == "yes", plain.predict(X) == 1)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"x0": "other"}))
    np.testing.assert_array_equal(model.to_sklearn().predict(frame), model.predict(frame))


def test_pipeline_search_clone_and_pickle(noisy):
    """Oracle: the model itself."""
    X, y = noisy
    pipe = make_pipeline(StandardScaler(), PathSVC(cv=3))
    search = GridSearchCV(pipe, {"pathsvc__gamma": [0.05, 0.5]}, cv=2).fit(X, y)
    scores = [
        cross_val_score(clone(pipe).set_params(pathsvc__gamma=g), X, y, cv=2).mean()
        for g in (0.05, 0.5)
    ]
    assert scores[0] != scores[1]
    assert search.best_params_["pathsvc__gamma"] == (0.05, 0.5)[int(np.argmax(scores))]
    assert search.best_score_ == pytest.approx(max(scores), abs=1e-12)
    model = search.best_estimator_[-1]
    again = pickle.loads(pickle.dumps(model))
    Z = search.best_estimator_[0].transform(X)
    np.testing.assert_array_equal(again.decision_function(Z), model.decision_function(Z))
    assert again.curve_.minimum == model.curve_.minimum
    assert clone(model).get_params() == model.get_params()
    assert "PathSVC" in search._repr_html_()


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_processes_learn_the_same(noisy, numbers, backend):
    """Oracle: threads. The path on all rows comes back from its worker and is not walked again."""
    for make, (X, y) in ((PathSVC, noisy), (PathLasso, numbers)):
        here = make(cv=3, n_jobs=2).fit(X, y)
        with joblib.parallel_config(backend=backend):
            there = make(cv=3, n_jobs=2).fit(X, y)
        assert there.lambda_ == here.lambda_ and there.curve_.minimum == here.curve_.minimum
        assert there.path_ is there.curve_.path and len(there.path_) == len(here.path_)
        np.testing.assert_array_equal(there.predict(X), here.predict(X))
        assert there.path_.certificate(there.lambda_).exact


def test_lasso_selects_variables(numbers, lasso):
    """Oracle: the coefficients that are not zero."""
    X, y = numbers
    chosen = SelectFromModel(PathLasso(cv=4), threshold=1e-10).fit(X, y).get_support()
    np.testing.assert_array_equal(chosen, lasso.support_)


def test_groups_and_weights_are_routed(noisy):
    """Oracle: the same call without a pipeline."""
    X, y = noisy
    groups, w = np.arange(len(y)) // 10, np.linspace(0.5, 1.5, len(y))
    direct = PathSVC(cv=GroupKFold(3)).fit(X, y, sample_weight=w, groups=groups)
    with config_context(enable_metadata_routing=True):
        model = PathSVC(cv=GroupKFold(3)).set_fit_request(sample_weight=True, groups=True)
        pipe = make_pipeline(StandardScaler(with_mean=False, with_std=False), model)
        pipe[0].set_fit_request(sample_weight=False)
        pipe.fit(X, y, sample_weight=w, groups=groups)
    assert pipe[-1].lambda_ == direct.lambda_
    with pytest.raises(ValueError, match="needs groups, got None"):
        PathSVC(cv=GroupKFold(3)).fit(X, y)


# ---------------------------------------------------------------------- bad input


def failing(estimator, X, y):
    raise RuntimeError("no score today")


BAD = [
    ({"scoring": failing}, {}, "the scorer 'failing' failed"),
    ({}, {"y": [0, "a"] * 60}, "mixed types"),
    ({}, {"y": np.zeros(120)}, "1 class"),
    ({"cv": [(np.arange(40), np.arange(40, 120))]}, {"y": np.arange(120) >= 40}, "y has 1 class"),
    ({"kernel": "gauss"}, {}, "kernel must be one of"),
    ({"stop": -1.0}, {}, "stop must be >= 0"),
    ({"class_weight": "equal"}, {}, "class_weight must be"),
]


@pytest.mark.parametrize("options, data, message", BAD)
def test_bad_input(noisy, options, data, message):
    """Oracle: the message names what is wrong."""
    X, y = noisy
    with pytest.raises(ValueError, match=message):
        PathSVC(**({"cv": 3} | options)).fit(X, data.get("y", y))
