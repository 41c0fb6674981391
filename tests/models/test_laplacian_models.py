"""Estimators of the Laplacian SVM, plain and sparse."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_moons,
)
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from chemin import (
    LaplacianSVC,
    PathSearchCV,
    SparseLaplacianSVC,
    laplacian_svc_path,
    svc_path,
)
from chemin.kernels import RBF, _blocks, neighbor_graph
from chemin.models import laplacian
from chemin.selection import Family, GraphFamily, Validation

pytestmark = [
    pytest.mark.filterwarnings("ignore:the graph has .* components"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
    pytest.mark.filterwarnings("ignore:a path ended early:UserWarning"),
]

MINUS_ONE = "y has -1 and 1 there, and -1 marks points without a label"
ANOTHER_POINT = "a repeated point is another kernel term, and another point of the graph"
EXPECTED = {"check_classifiers_classes": MINUS_ONE}
SPARSE = {"check_sample_weight_equivalence_on_dense_data": ANOTHER_POINT}


@pytest.mark.filterwarnings("ignore:the sparse model gives:UserWarning")  # they fit noise
@pytest.mark.filterwarnings("ignore:the model has no kernel term:UserWarning")
@parametrize_with_checks(
    [LaplacianSVC(), LaplacianSVC(cv=2), SparseLaplacianSVC(), SparseLaplacianSVC(cv=2, mu=0.0)],
    expected_failed_checks=lambda estimator: (
        EXPECTED | (SPARSE if isinstance(estimator, SparseLaplacianSVC) else {})
    ),
)
def test_estimator(estimator, check):
    """Oracle: scikit-learn's estimator checks, but those whose labels are -1 and 1."""
    check(estimator)


def moons(n=100, each=8, seed=0):
    X, y = make_moons(n, noise=0.1, random_state=seed)
    labels = np.full(n, -1)
    for c in (0, 1):
        labels[np.flatnonzero(y == c)[:each]] = c
    return X, y, labels


def test_few_terms_predict():
    """Oracle: the path at the chosen value; and all points but the active ones are not needed."""
    X, y, labels = moons()
    model = SparseLaplacianSVC(gamma=2.0, lambda2=0.01).fit(X, labels)
    path = laplacian_svc_path(X, labels, gamma=2.0)
    new = make_moons(50, noise=0.1, random_state=5)[0]
    np.testing.assert_allclose(
        model.decision_function(new), path.decision_function(new, model.lambda1_), atol=1e-8
    )
    assert len(model.support_vectors_) == len(model.support_) < 50
    np.testing.assert_array_equal(model.transduction_, model.predict(X))
    assert model.score(X, y) > 0.9


def test_cross_validation_on_labels():
    """Oracle: paths in which the labels of a fold are hidden, at random values."""
    X, _, labels = moons(80, 9)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = SparseLaplacianSVC(gamma=2.0, lambda2=0.01, cv=cv, choose="sparsest").fit(X, labels)
    known = np.flatnonzero(labels >= 0)
    values = np.geomspace(*model.curve_.range, 12)[1:-1]
    errors = []
    for _, test in cv.split(X[known], labels[known]):
        hidden = labels.copy()
        hidden[known[test]] = -1
        path = laplacian_svc_path(X, hidden, gamma=2.0, stop=model.curve_.range[0])
        wrong = path.predict(X[known[test]], values) != labels[known[test], None]
        errors.append(wrong.mean(axis=0))
    np.testing.assert_allclose(model.curve_(values), np.mean(errors, axis=0), atol=1e-12)


def test_sparsest_of_the_best():
    """Oracle: brute force over breakpoints and midpoints."""
    X, _, labels = moons(80, 9)
    model = SparseLaplacianSVC(gamma=2.0, lambda2=0.01, cv=3, choose="sparsest").fit(X, labels)
    curve = model.curve_
    knots = np.unique(np.concatenate([curve.knots, model.path_.breakpoints]))
    knots = knots[(knots >= curve.range[0]) & (knots <= curve.range[1])]
    middles = np.sqrt(knots[1:] * knots[:-1])
    best = curve(middles) <= curve.minimum + 1e-12
    assert len(model.support_) <= curve.n_coefficients(middles[best]).min()


def test_validation_points_and_early_stop():
    """Oracle: the whole path. The loss is the same where both are known, and the minimum is met."""
    X, _, labels = moons(120, 5, seed=2)
    own = make_moons(60, noise=0.1, random_state=7)
    model = SparseLaplacianSVC(gamma=2.0, lambda2=0.01).fit(X, labels, validation=own)
    whole = SparseLaplacianSVC(gamma=2.0, lambda2=0.01, patience=None).fit(
        X, labels, validation=own
    )
    assert model.path_.stop > whole.path_.stop
    values = np.geomspace(model.path_.start, model.path_.stop, 30)
    f, g = (m.path_.decision_function(own[0], values) for m in (model, whole))
    np.testing.assert_allclose(f, g, atol=1e-8)
    errors = (model.path_.predict(own[0], values) != own[1][:, None]).mean(axis=0)
    np.testing.assert_allclose(model.curve_(values), errors, atol=1e-12)
    assert model.curve_.minimum == pytest.approx((model.predict(own[0]) != own[1]).mean())


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("lambda2", [None, 1e-4])
@pytest.mark.parametrize("by", ["points", "folds"])
def test_features_of_any_scale(load, lambda2, by):
    """Oracle: the plain model on the same points or folds. Where a few features hide the others
    lambda1 has to become small: walks ended 100 times below the best model with one or two terms,
    with up to 40 % more errors."""
    X, y = load(return_X_y=True)
    own = np.arange(len(y)) % 4 == 0
    labels, rng = np.full(len(y), -1), np.random.default_rng(0)
    for c in np.unique(y):
        labels[rng.permutation(np.flatnonzero((y == c) & ~own))[:10]] = c
    given = {"points": {"validation": (X[own], y[own])}, "folds": {}}[by]
    plain = LaplacianSVC(lambda2=lambda2).fit(X[~own], labels[~own], **given)
    if by == "folds":  # lambda2 is given there for the training points alone
        curve = LaplacianSVC().fit(X[~own], labels[~own]).curve_
        target = curve(plain.lambda2_)
    else:
        target = 1.0 - plain.score(X[own], y[own])
    given_rho = {} if lambda2 is None else {"rho": 100.0}
    model = SparseLaplacianSVC(lambda2=lambda2, choose="sparsest", **given_rho)
    model.fit(X[~own], labels[~own], **given)
    assert model.curve_(model.lambda1_) <= target + 1e-12
    assert len(model.support_) < 60


def test_fewer_terms_than_it_takes_are_told():
    """Oracle: the definition. The walk ends before the sparse model is as good as the plain one."""
    X, _, labels = moons()
    own = make_moons(100, noise=0.1, random_state=7)
    with pytest.warns(UserWarning, match="a 0/1 error of .*, the model without an L1 penalty"):
        model = SparseLaplacianSVC(gamma=2.0, max_events=5).fit(X, labels, validation=own)
    assert model.curve_.minimum > 1.0 - LaplacianSVC(gamma=2.0).fit(
        X, labels, validation=own
    ).score(*own)


def test_stop_at_a_target():
    """Oracle: the definition. The walk ends soon after the loss comes down to the target."""
    X, _, labels = moons(120, 5, seed=2)
    own = make_moons(60, noise=0.1, random_state=7)
    family = GraphFamily(
        X, labels, laplacian=laplacian_svc_path(X, labels)._data.laplacian, gamma=2.0
    )
    full = Validation(*own, patience=None)(family)
    target = full.minimum + 0.05
    again = GraphFamily(X, labels, laplacian=family.laplacian, gamma=2.0)
    curve = Validation(*own, target=target)(again)
    assert curve.minimum <= target
    assert curve.path.stop > full.path.stop


@pytest.mark.filterwarnings("ignore:the sparse model gives:UserWarning")  # it is stopped before
@pytest.mark.parametrize("lambda2, rho, stop", [(1e-4, 100.0, 0.3), (1e-3, 10.0, 0.15)])
def test_classes_without_terms_are_equal(lambda2, rho, stop):
    """Oracle: the path, and the curve by which the model was chosen. Of classes without a term f
    is -1 but for round-off, which told who wins."""
    X, y = load_wine(return_X_y=True)
    own = np.arange(len(y)) % 4 == 0
    for seed in range(8):
        labels, rng = np.full(len(y), -1), np.random.default_rng(seed)
        for c in range(3):
            labels[rng.permutation(np.flatnonzero((y == c) & ~own))[:5]] = c
        model = SparseLaplacianSVC(lambda2=lambda2, rho=rho, stop=stop)
        model.fit(X[~own], labels[~own], validation=(X[own], y[own]))
        told = model.predict(X[own])
        np.testing.assert_array_equal(told, model.path_.predict(X[own], model.lambda1_))
        assert (told != y[own]).mean() == pytest.approx(model.curve_(model.lambda1_))


def test_points_on_the_boundary_have_the_first_class():
    """Oracle: symmetry. With the data turned round f changes its sign, so that it is 0 where a
    point is its own opposite."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = np.vstack([[[0.0, 0.0]], rng.integers(-4, 5, (60, 2)).astype(float)])
        y, labels = (X.sum(axis=1) > 0).astype(int), np.full(61, -1)
        some = 1 + rng.permutation(60)[:8]
        labels[some] = y[some]
        labels = np.concatenate([labels, np.where(labels < 0, -1, 1 - labels)])
        model = LaplacianSVC(kernel="linear", lambda2=0.01).fit(np.vstack([X, -X]), labels)
        assert model.decision_function(X[:1])[0] == 0.0
        assert model.transduction_[0] == model.transduction_[61] == 0


@pytest.mark.parametrize("seed", [7, 10, 17])
def test_no_choice_on_the_jump_at_the_start(seed):
    """Oracle: predictions. One term tells these classes apart; the start itself has none."""
    X, y = make_blobs(80, centers=[[0, 0], [3, 3]], cluster_std=0.7, random_state=seed)
    labels = np.full(80, -1)
    for c in (0, 1):
        labels[np.flatnonzero(y == c)[:4]] = c
    model = SparseLaplacianSVC(gamma=0.5, lambda2=0.01, tolerance=0.1).fit(
        X, labels, validation=(X, y)
    )
    error = 1.0 - model.score(X, y)
    assert error == pytest.approx(model.curve_(model.lambda1_), abs=1e-12)
    assert error <= model.curve_.minimum + 0.1 + 1e-12


def test_validation_is_not_for_graphs_alone():
    """Oracle: predictions of the path."""
    X, y, _ = moons(120)
    own = make_moons(60, noise=0.1, random_state=7)
    curve = Validation(*own)(Family(svc_path, X, y))
    values = np.geomspace(curve.path.start, curve.path.stop, 20)
    errors = (curve.path.predict(own[0], values) != own[1][:, None]).mean(axis=0)
    np.testing.assert_allclose(curve(values), errors, atol=1e-12)


def test_plain_model_is_the_end_of_the_sparse_path():
    """Oracle: the sparse path at lambda1 = 0."""
    X, _, labels = moons(70, 6)
    plain = LaplacianSVC(lambda2=0.01, rho=100.0, gamma=2.0).fit(X, labels)
    path = laplacian_svc_path(X, labels, gamma=2.0, lambda2=0.01, rho=100.0, stop=0)
    assert path.complete
    np.testing.assert_allclose(
        plain.decision_function(X), path.decision_function(X, 0.0), atol=1e-6
    )
    assert plain.lambda2_ == 0.01 and len(plain.support_) == 70


@pytest.mark.parametrize("gamma", [0.05, 1.0])
@pytest.mark.parametrize("rho, atol", [(1e2, 1e-9), (1e4, 1e-7), (1e6, 3e-5)])
def test_plain_model_of_a_strong_graph(gamma, rho, atol):
    """Oracle: the C-SVM on the labelled points, of which it is the extension to all points. It was
    2e-5 of a margin off with rho = 1e4, and 8e-2 with 1e6."""
    X, _, labels = moons(200)
    model = LaplacianSVC(gamma=gamma, rho=rho, lambda2=0.01 / rho).fit(X, labels)
    path = model.path_
    f = path.decision_function(path._data.X, model.lambda2_)
    np.testing.assert_allclose(model.decision_function(X[labels >= 0]), f, atol=atol)


def test_plain_model_chooses_lambda2():
    """Oracle: hidden labels, one fold after the other, at some values."""
    X, _, labels = moons(80, 9)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = LaplacianSVC(gamma=2.0, cv=cv).fit(X, labels)
    known = np.flatnonzero(labels >= 0)
    for value in (0.01, model.lambda2_):
        errors = []
        for _, test in cv.split(X[known], labels[known]):
            hidden = labels.copy()
            hidden[known[test]] = -1
            one = LaplacianSVC(gamma=2.0, lambda2=value).fit(X, hidden)
            errors.append((one.predict(X[known[test]]) != labels[known[test]]).mean())
        assert model.curve_(value) == pytest.approx(np.mean(errors))


def flowers(each=10):
    X, y = load_iris(return_X_y=True)
    return X, y, np.where(np.arange(150) % 50 < each, y, -1)


def by_hand(X, labels, hidden, values, points, **options):
    """f at some points of each class against the rest, at many values of lambda1."""
    out = []
    for c in np.unique(labels[labels >= 0]):
        one = np.where((labels >= 0) & ~hidden, labels == c, -1)
        path = laplacian_svc_path(X, one, stop=values.min(), **options)
        out.append(path.decision_function(points, np.minimum(values, path.start)))
    return np.array(out)


@pytest.mark.filterwarnings("ignore:the sparse model gives a 0/1 error of 0.02:UserWarning")
def test_several_classes():
    """Oracle: paths by hand, one a class, and the errors of the largest f, the first of equals."""
    X, y, labels = flowers()
    own, options = (X[1::3], y[1::3]), {"gamma": 0.5, "lambda2": 0.01, "rho": 100.0}
    model = SparseLaplacianSVC(**options).fit(X, labels, validation=own)
    none, curve = np.zeros(150, bool), model.curve_
    f = by_hand(X, labels, none, np.array([model.lambda1_, curve.range[0]]), X, **options)
    np.testing.assert_allclose(model.decision_function(X), f[..., 0].T, atol=1e-8)
    values = np.geomspace(*curve.range, 25)[1:-1]
    f = by_hand(X, labels, none, values, own[0], **options)
    np.testing.assert_allclose(
        curve(values), (f.round(9).argmax(axis=0) != own[1][:, None]).mean(axis=0), atol=1e-12
    )
    assert curve.exact
    assert SparseLaplacianSVC(gamma=0.5).fit(X, labels, validation=own).score(X, y) > 0.9
    assert LaplacianSVC(gamma=0.5).fit(X, labels).score(X, y) > 0.9


def test_several_classes_by_folds():
    """Oracle: the same with the labels of a fold hidden."""
    X, _, labels = flowers(6)
    X, labels = X[::2], labels[::2]
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    options = {"gamma": 0.5, "lambda2": 0.01, "rho": 10.0}
    model = SparseLaplacianSVC(**options, cv=cv, choose="sparsest").fit(X, labels)
    known, losses = np.flatnonzero(labels >= 0), []
    values = np.geomspace(*model.curve_.range, 15)[1:-1]
    for _, test in cv.split(X[known], labels[known]):
        hidden = np.isin(np.arange(75), known[test])
        points = X[hidden]
        f = by_hand(X, labels, hidden, values, points, **options)
        losses.append((f.round(9).argmax(axis=0) != labels[hidden][:, None]).mean(axis=0))
    np.testing.assert_allclose(model.curve_(values), np.mean(losses, axis=0), atol=1e-12)
    assert model.path_.complete


def test_lambda2_is_that_of_the_plain_model():
    """Oracle: the plain model on the same folds; the walk ends where the sparse one is as good."""
    X, _, labels = moons(80, 9)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    plain = LaplacianSVC(gamma=2.0, cv=cv).fit(X, labels)
    model = SparseLaplacianSVC(gamma=2.0, cv=cv, choose="sparsest").fit(X, labels)
    assert model.lambda2_ == pytest.approx(plain.lambda2_)
    assert model.curve_.minimum <= plain.curve_.minimum
    assert model.path_.stop > 1e-4 * model.path_.start
    path = laplacian_svc_path(X, labels, gamma=2.0, lambda2=model.lambda2_, rho=100.0)
    np.testing.assert_allclose(
        model.decision_function(X), path.decision_function(X, model.lambda1_), atol=1e-7
    )


def test_lambda2_of_validation_points():
    """Oracle: the plain model with the same points."""
    X, _, labels = moons(80, 9)
    own = make_moons(60, noise=0.1, random_state=7)
    plain = LaplacianSVC(gamma=2.0).fit(X, labels, validation=own)
    model = SparseLaplacianSVC(gamma=2.0).fit(X, labels, validation=own)
    assert model.lambda2_ == pytest.approx(plain.lambda2_)
    assert model.curve_.minimum <= plain.curve_.minimum


@pytest.mark.parametrize("classes", [2, 3])
def test_agreeing(classes):
    """Oracle: brute force. The fewest terms that give the points the labels of the plain model."""
    X, y, labels = flowers() if classes == 3 else moons(150, 10, seed=3)
    gamma, rho = {2: 2.0, 3: 0.5}[classes], 10.0
    model = SparseLaplacianSVC(gamma=gamma, rho=rho).fit(X, labels)
    plain = LaplacianSVC(gamma=gamma, rho=rho).fit(X, labels)
    assert model.lambda2_ == pytest.approx(plain.lambda2_)
    told = plain.transduction_
    path, (low, high) = model.path_, model.curve_.range
    knots = np.unique(np.concatenate([path.breakpoints, [low, high]]))
    knots = knots[(knots >= low) & (knots <= high)]
    wide = [(a, b) for a, b in pairwise(knots) if b > a * (1 + 1e-9)]  # no two at once
    values = np.concatenate([np.geomspace(a, b, 5)[1:-1] for a, b in wide])
    coef = path.coefficients(values)[0].reshape(-1, len(X), len(values))
    terms = coef.any(axis=0).sum(axis=0)
    if classes == 2:
        labelled = path.predict(X, values)
    else:
        labelled = np.column_stack([path.predict(X, value) for value in values])
    wrong = labelled != told[:, None]
    otherwise = np.mean([wrong[told == c].mean(axis=0) for c in range(classes)], axis=0)
    np.testing.assert_allclose(model.curve_(values), otherwise, atol=1e-12)
    assert 0 < len(model.support_) <= terms[otherwise <= 0.02].min()
    differ = model.transduction_ != told
    assert np.mean([differ[told == c].mean() for c in range(classes)]) <= 0.02 + 1e-12
    assert model.score(X, y) > 0.9


def test_agreeing_does_not_forget_a_rare_class():
    """Oracle: predictions. A model without terms agrees on 95 % of these points."""
    X, y = make_blobs([190, 10], centers=[[0, 0], [3, 3]], cluster_std=0.5, random_state=0)
    labels = np.where(np.arange(200) % 5 == 0, y, -1)
    model = SparseLaplacianSVC().fit(X, labels)
    assert len(model.support_) > 0 and np.array_equal(model.transduction_, y)


def test_what_does_not_agree_is_told():
    """Oracle: the definition. Too few events to come near the plain model."""
    X, _, labels = moons()
    with pytest.warns(UserWarning, match="% of the points another label than the model without"):
        model = SparseLaplacianSVC(gamma=2.0, max_events=5).fit(X, labels)
    assert model.curve_.minimum > 0.02


@pytest.mark.filterwarnings("default:the graph has .* components")
@pytest.mark.parametrize(
    "options, counts, own, message",
    [
        ({"radius": 0.2}, (8, 8), False, "the graph has"),
        ({"max_events": 5}, (8, 8), False, "of the points another label"),
        ({"max_events": 5}, (8, 8), True, "a 0/1 error of"),
        ({}, (1, 1), False, "a class has one label only"),
        ({"choose": "sparsest"}, (2, 20), False, "the model has no kernel term"),
    ],
)
def test_warnings_name_the_line_that_called_fit(options, counts, own, message):
    """Oracle: this file."""
    X, y = make_moons(100, noise=0.1, random_state=0)
    labels = np.full(100, -1)
    for c, k in enumerate(counts):
        labels[np.flatnonzero(y == c)[:k]] = c
    more = make_moons(100, noise=0.1, random_state=7) if own else None
    model = SparseLaplacianSVC(gamma=2.0, **options)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(X, labels, validation=more)
    assert {w.filename for w in found if message in str(w.message)} == {__file__}


@pytest.mark.parametrize("pairwise", [False, True])
def test_predictions_in_parts(pairwise, monkeypatch):
    """Oracle: all points at once. As many are looked at together as memory should hold."""
    X, _, labels = moons()
    K = RBF(gamma=2.0).gram(X)
    options = {"kernel": "precomputed", "graph": neighbor_graph(X)} if pairwise else {"gamma": 2.0}
    model = LaplacianSVC(lambda2=0.01, **options).fit(K if pairwise else X, labels)
    new = RBF(gamma=2.0).cross(X + 0.1, X) if pairwise else X + 0.1
    whole, sizes, together = model.decision_function(new), [], laplacian.combined
    monkeypatch.setattr(_blocks, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(
        laplacian,
        "combined",
        lambda cross, *a, **k: sizes.append(cross.size) or together(cross, *a, **k),
    )
    np.testing.assert_allclose(model.decision_function(new), whole, atol=1e-12)
    assert max(sizes) <= 1000


def test_ten_classes_of_digits():
    """Oracle: predictions, and the machine that knows the labelled points alone. Walks end where
    half of the points are active: they did not finish in minutes."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    rng, labels = np.random.default_rng(0), np.full(600, -1)
    for c in range(10):
        labels[rng.permutation(np.flatnonzero(y == c))[:5]] = c
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the sparse model gives")
        model = SparseLaplacianSVC().fit(X, labels)
    alone = SVC().fit(X[labels >= 0], y[labels >= 0])
    assert model.score(X, y) > alone.score(X, y)
    assert len(model.support_) < 400
    assert LaplacianSVC().fit(X, labels).score(X, y) > 0.9


@pytest.mark.parametrize("each", [2, 3])
def test_fewer_labels_than_folds(each):
    """Oracle: as many folds as each class has labels."""
    X, _, labels = flowers(each)
    for make in (LaplacianSVC, SparseLaplacianSVC):
        a, b = (make(gamma=0.5, cv=cv).fit(X, labels) for cv in ("auto", each))
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
        assert a.score(X, np.arange(150) // 50) > 0.8


@pytest.mark.parametrize("make", [LaplacianSVC, SparseLaplacianSVC])
@pytest.mark.parametrize("counts", [(1, 1), (1, 6)])
def test_one_label(make, counts):
    """Oracle: the same lambda2 by hand. No fold can leave out the only label of a class."""
    X, y = make_moons(100, noise=0.03, random_state=0)
    labels = np.full(100, -1)
    for c, count in enumerate(counts):
        labels[np.flatnonzero(y == c)[:count]] = c
    with pytest.warns(UserWarning, match="one label only, .* lambda2 = 0.0001; validation"):
        model = make(gamma=2.0).fit(X, labels)
    other = make(gamma=2.0, lambda2=1e-4, rho=100.0).fit(X, labels)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))
    assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="one label only, which folds cannot leave out"):
        SparseLaplacianSVC(gamma=2.0, lambda2=0.01, choose="min").fit(X, labels)


@pytest.mark.parametrize("make", [LaplacianSVC, SparseLaplacianSVC])
def test_one_label_of_all_classes_but_one(make):
    """Oracle: the same lambda2 by hand. Both single labels are left out by one fold, which then has
    a single class to learn from."""
    X, y = load_iris(return_X_y=True)
    labels = np.full(150, -1)
    for c, count in enumerate((1, 5, 1)):
        labels[np.flatnonzero(y == c)[:count]] = c
    with pytest.warns(UserWarning, match="one label only, .* lambda2 = 0.0001; validation"):
        model = make(gamma=0.5).fit(X, labels)
    other = make(gamma=0.5, lambda2=1e-4, rho=100.0).fit(X, labels)
    np.testing.assert_array_equal(model.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("make", [LaplacianSVC, SparseLaplacianSVC])
def test_no_search_over_other_parameters(make):
    """Oracle: the message; an attribute was missing."""
    X, _, labels = moons()
    with pytest.raises(NotImplementedError, match=f"{make.__name__} has no search"):
        PathSearchCV(make(), {"gamma": [1.0, 2.0]}).fit(X, labels)


def test_plain_model_chooses_one_lambda2_for_all_classes():
    """Oracle: hidden labels and the largest f. Each class by itself had a lambda2 of its own, and
    with two labels a class one of them was never told."""
    X, y, labels = flowers(2)
    cv = StratifiedKFold(2)
    model = LaplacianSVC(gamma=0.5, cv=cv).fit(X, labels)
    known = np.flatnonzero(labels >= 0)
    for value in (1e-3, model.lambda2_):
        errors = []
        for _, test in cv.split(X[known], labels[known]):
            hidden = labels.copy()
            hidden[known[test]] = -1
            one = LaplacianSVC(gamma=0.5, lambda2=value).fit(X, hidden)
            errors.append((one.predict(X[known[test]]) != labels[known[test]]).mean())
        assert model.curve_(value) == pytest.approx(np.mean(errors))
    assert model.score(X, y) > 0.9


def test_mu_without_lambda2_is_refused():
    """Oracle: the message."""
    X, _, labels = moons(40)
    with pytest.raises(ValueError, match="mu must be None where lambda2 is chosen"):
        SparseLaplacianSVC(mu=1.0).fit(X, labels)


def digits_of_two(each):
    X, y = load_digits(return_X_y=True)
    some = np.isin(y, (3, 8))
    X, y, labels = X[some], y[some], np.full(some.sum(), -1)
    rng = np.random.default_rng(0)
    for c, count in zip((3, 8), each):
        labels[rng.permutation(np.flatnonzero(y == c))[:count]] = c
    return X, y, labels


def test_few_labels_of_unequal_classes():
    """Oracle: predictions. With mu = 1, whatever lambda2, all points had one label."""
    X, y, labels = digits_of_two((6, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparseLaplacianSVC(cv=4).fit(X, labels)
    assert len(model.support_) > 0 and model.score(X, y) > 0.85


def test_a_model_without_terms_is_told():
    """Oracle: the definition. Two labels of one class, which no fold tells from the others."""
    X, _, labels = digits_of_two((2, 8))
    X, labels = X[labels >= 0], labels[labels >= 0]
    with pytest.warns(UserWarning, match="no kernel term and gives all points one label"):
        model = SparseLaplacianSVC(lambda2=1.0, mu=100.0).fit(X, labels)
    assert len(model.support_) == 0 and set(model.predict(X)) == {8}


@pytest.mark.parametrize("make", [LaplacianSVC, SparseLaplacianSVC])
@pytest.mark.parametrize("classes", [2, 3])
def test_class_weights_by_name(make, classes):
    """Oracle: the same weights given to the labelled points one by one."""
    X, y, labels = flowers()
    X, names = X[y < classes][:, :2], np.array(["a", "b", "c", ""])[labels[y < classes]]
    weights = {"a": 1.0, "b": 3.0, "c": 0.5}
    options = {"gamma": 0.5, "lambda2": 0.01, "rho": 10.0, "cv": 3}
    chosen = {name: weights[name] for name in "abc"[:classes]}
    one = make(**options, class_weight=chosen).fit(X, names)
    each = [weights.get(name, 1.0) for name in names]
    other = make(**options).fit(X, names, sample_weight=each)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("make", [LaplacianSVC, SparseLaplacianSVC])
def test_lists_of_splits_name_rows_of_X(make):
    """Oracle: the same splits with the labelled points first, as they come one after the other."""
    X, _, labels = moons(60, 6)
    order = np.argsort(labels < 0, kind="stable")
    one = [(np.arange(0, 12, 2), np.arange(1, 12, 2)), (np.arange(1, 12, 2), np.arange(0, 12, 2))]
    a = make(gamma=2.0, cv=one).fit(X[order], labels[order])
    b = make(gamma=2.0, cv=((order[i], order[j]) for i, j in one)).fit(X, labels)
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-6)


def test_missing_strings_of_pandas_are_no_labels():
    """Oracle: the same with None; among numbers the message."""
    pandas = pytest.importorskip("pandas")
    X, _, labels = moons(60, 6)
    names = np.array(["no", "yes", None], dtype=object)[labels]
    a = LaplacianSVC(gamma=2.0).fit(X, names)
    for series in (pandas.Series(names), pandas.Series(names).astype("category")):
        b = LaplacianSVC(gamma=2.0).fit(X, series)
        np.testing.assert_array_equal(a.predict(X), b.predict(X))
    with pytest.raises(ValueError, match=r"NaN.* Points without a label have -1"):
        LaplacianSVC().fit(X, np.where(labels < 0, np.nan, labels))


def test_labels_of_validation_points_are_checked():
    """Oracle: the messages."""
    X, _, labels = moons(60, 6)
    for own, words in (
        ((X, labels), "label -1, expected"),
        ((X, labels[:5]), "one label for each"),
    ):
        with pytest.raises(ValueError, match=f"validation .*{words}"):
            SparseLaplacianSVC().fit(X, labels, validation=own)


def test_strings_without_labels():
    """Oracle: the same labels as numbers."""
    X, _, labels = moons(60, 6)
    names = np.array(["no", "yes", ""], dtype=object)[labels]
    a = SparseLaplacianSVC(gamma=2.0, lambda2=0.01, cv=3).fit(X, labels)
    b = SparseLaplacianSVC(gamma=2.0, lambda2=0.01, cv=3).fit(X, names)
    np.testing.assert_array_equal(names[a.predict(X)], b.predict(X))


def test_labels_minus_one_and_one_are_explained():
    """Oracle: the message."""
    X, y, _ = moons(40)
    for model in (LaplacianSVC(), SparseLaplacianSVC()):
        with pytest.raises(ValueError, match="-1 marks points without a label"):
            model.fit(X, 2 * y - 1)


def test_unlabelled_points_help():
    """Oracle: the machine that knows the labelled points alone does worse."""
    X, y = load_digits(return_X_y=True)
    some = np.isin(y, (3, 8))
    X, y = X[some][:300] / 16, (y[some][:300] == 8).astype(int)
    labels = np.full(300, -1)
    for c in (0, 1):
        labels[np.flatnonzero(y == c)[:4]] = c
    model = LaplacianSVC(lambda2=1e-3, rho=100.0).fit(X, labels)
    alone = LaplacianSVC(lambda2=1e-3, rho=0.0).fit(X, labels)
    assert model.score(X, y) > alone.score(X, y)
