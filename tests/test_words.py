"""Arguments of another kind than expected: one sentence that names the argument.

Oracle: the promise of the manual (input.md), a ValueError with the argument's name.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import chemin
from chemin import selection

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 3))
y = (X[:, 0] > 0).astype(int)
HUGE = 10**400  # a whole number that no double holds
NO_WORDS = [np.ones(2), pd.NA, sparse.eye(3), [], object(), 1.5]


@pytest.mark.parametrize("word", NO_WORDS, ids=lambda word: type(word).__name__)
def test_no_words(word):
    path = chemin.svc_path(X, y, stop=0.5)
    with pytest.raises(ValueError, match="along must be 'lambda' or 'cost', got"):
        chemin.svc_path(X, y, along=word)
    with pytest.raises(ValueError, match="parameter is"):
        path.turn(word, at=1.0)
    for name, model in [
        ("choose", chemin.PathSVC),
        ("multi_class", chemin.PathSVC),
        ("direction", chemin.StepwiseRegression),
        ("solver", chemin.GradientRidge),
        ("average", chemin.GradientRidge),
        ("form", chemin.RosenblattPerceptron),
        ("weighting", chemin.MKLClassifier),
    ]:
        with pytest.raises(ValueError, match=f"{name} must be"):
            model(**{name: word}).fit(X, y)
    with pytest.raises(ValueError, match="criterion must be one of"):
        selection.InformationCriterion(word)


@pytest.mark.parametrize(
    "ask",
    [
        lambda path: path.at(HUGE),
        lambda path: path.certificate(HUGE),
        lambda path: path.predict(X, [1.0, HUGE]),
        lambda path: path.leave_one_out(HUGE),
    ],
)
def test_numbers_beyond_double_precision(ask):
    with pytest.raises(ValueError, match="lambda must be a finite number, got one beyond double"):
        ask(chemin.svc_path(X, y, stop=0.5))


def test_parameters_beyond_double_precision():
    with pytest.raises(ValueError, match="h must be a number > 0, got one beyond double"):
        chemin.quadratic_svc_path(X, y, h=HUGE)
    with pytest.raises(ValueError, match="norm must be a number > 0, got one beyond double"):
        chemin.MKLClassifier(norm=HUGE).fit(X, y)


@pytest.mark.parametrize("cv", [[1, 2], {"a": 1}, b"x", "x", 2.5], ids=repr)
def test_no_folds(cv):
    family = selection.Family(chemin.svc_path, X, y, stop=0.5)
    for ask in (
        lambda: selection.CrossValidation(cv)(family),
        lambda: chemin.PathSVC(cv=cv).fit(X, y),
    ):
        with pytest.raises(ValueError, match="cv must be a number of folds, a splitter or a list"):
            ask()


@pytest.mark.parametrize("cv", [True, -3, 0, 1, 21], ids=repr)
def test_numbers_of_folds(cv):
    for ask in (
        lambda: selection.CrossValidation(cv)(selection.Family(chemin.svc_path, X, y, stop=0.5)),
        lambda: chemin.PathSVC(cv=cv).fit(X, y),
        lambda: chemin.PathSearchCV(chemin.PathSVC(), {"gamma": [1.0]}, cv=cv).fit(X, y),
        lambda: chemin.GradientRidge(cv=cv).fit(X, y),
        lambda: selection.logistic_folds(X, y, cv=cv),
    ):
        with pytest.raises(ValueError, match=f"cv must be a number of folds from 2 .*, got {cv}$"):
            ask()


@pytest.mark.parametrize("grid", ["gamma", [1.0], 3, None], ids=repr)
def test_no_grid(grid):
    with pytest.raises(ValueError, match="param_grid must be a dict or a list of dicts, got"):
        chemin.PathSearchCV(chemin.PathSVC(), grid).fit(X, y)


def test_a_grid_of_what_the_path_knows():
    with pytest.raises(ValueError, match="param_grid must not have 'C': the path knows"):
        chemin.PathSearchCV(chemin.PathSVC(), {"gamma": [1.0], "C": [1.0]}).fit(X, y)
    degree = chemin.PathSearchCV(chemin.PathSVC(kernel="poly"), {"degree": [1, 2]}, cv=2)
    assert "degree" in degree.fit(X, y).best_params_


def test_what_an_unfitted_model_is_asked_for():
    for model in (chemin.PathSVC(), chemin.PathSVR(), chemin.PathNuSVR()):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            model.to_sklearn()
    with pytest.raises(AttributeError) as error:
        chemin.PathSVC().predict_proba(X)
    assert "needs probability='sigmoid' or 'isotonic', got None" in str(error.value.__cause__)


def test_values_below_the_stop():
    """Oracle: the message is advice that works."""
    path = chemin.svc_path(X, y, stop=0.5)
    with pytest.raises(ValueError, match=r"range \[0.5, inf\]: path.further\(0.2\) walks on to it"):
        path.at(0.2)
    assert path.further(0.2).at(0.2).lambda_ == 0.2
    with pytest.raises(ValueError, match=r"outside the walked range \[0.5, inf\]$"):
        path.at(-1.0)


@pytest.mark.parametrize("n_jobs", [[], np.inf, "x"], ids=repr)
def test_no_jobs(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a whole number or None"):
        chemin.PathSVC(n_jobs=n_jobs).fit(X, y)


def test_no_numbers_as_options():
    family = selection.Family(chemin.svc_path, X, y, stop=0.5)
    for ask, text in [
        (lambda: selection.Split([])(family), "test_size must be a number"),
        (lambda: chemin.MKLClassifier(1.5).fit(X, y), "kernels must be a list of kernels"),
        (lambda: chemin.MKLClassifier(max_iter="x").fit(X, y), "max_iter must be a whole number"),
        (lambda: chemin.KernelPerceptron(max_iter=None).fit(X, y), "max_iter must be a whole"),
        (lambda: chemin.GradientRidge(start=object()).fit(X, y), "start must be a finite number"),
    ]:
        with pytest.raises(ValueError, match=text):
            ask()


@pytest.mark.parametrize("lambda2", [np.nan, -1.0, "x", [], sparse.eye(3)], ids=repr)
def test_lambda2_is_named(lambda2):
    for ask in (
        lambda: chemin.LaplacianSVC(lambda2=lambda2).fit(X, y),
        lambda: chemin.laplacian_svc_path(X, y, lambda2=lambda2),
    ):
        with pytest.raises(ValueError, match=r"lambda2 must be a finite number >=? ?0"):
            ask()


def test_a_kernel_matrix_is_called_by_the_name_of_its_argument():
    with pytest.raises(ValueError, match='X with kernel="precomputed" contains NaN'):
        chemin.svc_path(np.full((20, 20), np.nan), y, kernel="precomputed")
    with pytest.raises(ValueError, match='X with kernel="precomputed" must be a square'):
        chemin.svc_path(X, y, kernel="precomputed")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_points(kernel):
    """Oracle: the same path on dense points."""
    points = sparse.random(24, 5, density=0.4, random_state=0, format="csr")
    labels = np.r_[0, 1, 0, 1, [-1] * 20]
    for ask in (
        lambda P: chemin.one_class_path(P, kernel=kernel, gamma=0.5),
        lambda P: chemin.laplacian_svc_path(P, labels, kernel=kernel, gamma=0.5, n_neighbors=5),
    ):
        ours, dense = ask(points), ask(points.toarray())
        values = np.geomspace(dense.stop, dense.start, 7)
        f = [p.decision_function(points.toarray(), values) for p in (ours, dense)]
        np.testing.assert_allclose(*f, atol=1e-10)
