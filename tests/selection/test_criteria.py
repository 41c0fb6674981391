"""Criteria: what is trained on what, and what bad input gets."""

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification
from sklearn.metrics import f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.svm import SVC

from chemin import PathSVC, lasso_path, svc_path, svr_path
from chemin.selection import (
    EXACT_SCORES,
    Bootstrap632,
    BootstrapLeaveOneOut,
    CrossValidation,
    Family,
    LeaveOneOut,
    Split,
)
from chemin.selection.criteria import knots_and_middles
from chemin.selection.scorers import areas

SCORES = {
    svc_path: list(EXACT_SCORES[:3]),
    svr_path: list(EXACT_SCORES[3:6]),
    lasso_path: list(EXACT_SCORES[3:6]),
}
CASES = [(make, scoring) for make, names in SCORES.items() for scoring in names]


@pytest.fixture(scope="module")
def labels():
    return make_classification(60, 4, flip_y=0.2, weights=[0.4], random_state=0)


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return X[:40], (y[:40] - 150) / 80


def data_for(make, labels, numbers):
    return labels if make is svc_path else numbers


def somewhere(curve, n=40):
    """Values that no knot is near."""
    low, high = max(curve.range[0], 1e-9), curve.top
    return np.exp(np.random.default_rng(3).uniform(np.log(low), np.log(high), n))


# ---------------------------------------------------------------------- invariants


@pytest.mark.parametrize("make, scoring", CASES)
def test_a_weight_is_so_many_rows(make, scoring, labels, numbers):
    """Oracle: repeated rows in the same folds; 0 is a removed row."""
    X, y = data_for(make, labels, numbers)
    rng = np.random.default_rng(0)
    times = rng.integers(0, 3, len(y))
    fold = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), times)
    options = {} if make is lasso_path else {"gamma": 0.5}
    weighted = CrossValidation(PredefinedSplit(fold), scoring=scoring)(
        Family(make, X, y, sample_weight=times, stop=0.05, **options)
    )
    repeated = CrossValidation(PredefinedSplit(fold[rows]), scoring=scoring)(
        Family(make, X[rows], y[rows], stop=0.05, **options)
    )
    v = somewhere(weighted)
    np.testing.assert_allclose(weighted(v), repeated(v), rtol=1e-8, atol=1e-9)
    assert weighted.minimum == pytest.approx(repeated.minimum, rel=1e-8, abs=1e-9)


def test_zero_weights_are_gone_before_the_rows_are_split(labels):
    """Oracle: the same rows removed by hand, folds by number."""
    X, y = labels
    w = np.where(np.arange(len(y)) % 4 == 1, 0.0, 1.0)
    a = CrossValidation(3)(Family(svc_path, X, y, sample_weight=w, gamma=0.5))
    b = CrossValidation(3)(Family(svc_path, X[w > 0], y[w > 0], gamma=0.5))
    v = somewhere(a)
    np.testing.assert_allclose(a(v), b(v), atol=1e-12)


@pytest.mark.parametrize("make, scoring", CASES)
def test_threads_change_nothing(make, scoring, labels, numbers):
    """Oracle: the same on one thread, bit by bit."""
    family = Family(make, *data_for(make, labels, numbers))
    one, two = (CrossValidation(3, scoring=scoring, n_jobs=j)(family) for j in (1, 2))
    np.testing.assert_array_equal(one.knots, two.knots)
    assert one.minimum == two.minimum


@pytest.mark.parametrize(
    "backend, scoring", [("loky", None), ("loky", "roc_auc"), ("multiprocessing", None)]
)
def test_processes_change_nothing(labels, scoring, backend):
    """Oracle: threads, bit by bit. No path and no loss may stay behind in a worker."""
    X, y = labels
    ends = {"start": 2.0, "stop": 1.0} if scoring else {}  # a scorer takes its time
    criterion = CrossValidation(3, scoring=scoring, n_jobs=2)
    here = criterion(Family(svc_path, X, y, **ends))
    with joblib.parallel_config(backend=backend):
        family = Family(svc_path, X, y, **ends)
        there = criterion(family)
    np.testing.assert_array_equal(here.knots, there.knots)
    v = somewhere(here)
    np.testing.assert_array_equal(here.per_fold(v), there.per_fold(v))
    assert here.minimum == there.minimum and here.choose("min") == there.choose("min")
    assert there.path is family.path
    np.testing.assert_array_equal(here.path.breakpoints, there.path.breakpoints)
    np.testing.assert_array_equal(here.path.predict(X, v), there.path.predict(X, v))


def test_a_large_matrix_in_processes(numbers):
    """Oracle: threads. joblib hands arrays of this size over as files that cannot be written."""
    X, y = load_diabetes(return_X_y=True)
    make = lambda: Family("svr", 10 * X, y / 80, epsilon=0.5, start=50.0, stop=20.0)
    assert make().gram.nbytes > 1e6
    here = CrossValidation(2, n_jobs=2)(make())
    with joblib.parallel_config(backend="loky", n_jobs=2):
        there = CrossValidation(2)(make())
    np.testing.assert_array_equal(here.knots, there.knots)
    assert here.minimiser == there.minimiser


def test_the_walk_on_all_rows_is_made_once(labels, monkeypatch):
    """Oracle: a count. Criteria on one family share its path; estimators take the curve's."""
    walked = []
    walk = Family.walk
    monkeypatch.setattr(
        Family, "walk", lambda self, rows, *a, **o: walked.append(rows) or walk(self, rows, *a, **o)
    )
    family = Family(svc_path, *labels)
    first, second = (CrossValidation(3, scoring=s)(family) for s in ("accuracy", "neg_hinge_loss"))
    assert sum(rows is None for rows in walked) == 1
    assert first.path is second.path is family.path


def test_splits_in_every_form(labels):
    """Oracle: the same folds, said in four ways."""
    X, y = labels
    splits = list(StratifiedKFold(4).split(X, y))
    fold = np.zeros(len(y), int)
    masks = []
    for k, (train, test) in enumerate(splits):
        fold[test] = k
        masks.append((np.isin(np.arange(len(y)), train), np.isin(np.arange(len(y)), test)))
    family = Family(svc_path, X, y)
    forms = [4, StratifiedKFold(4), splits, PredefinedSplit(fold), iter(splits), masks]
    curves = [CrossValidation(cv)(family) for cv in forms]
    assert len({curve.minimum for curve in curves}) == 1
    assert all(np.array_equal(c.knots, curves[0].knots) for c in curves)


def test_groups(labels):
    """Oracle: the splitter's own splits."""
    X, y = labels
    groups = np.arange(len(y)) // 7
    family = Family(svc_path, X, y)
    a = CrossValidation(GroupKFold(3), groups=groups)(family)
    b = CrossValidation(list(GroupKFold(3).split(X, y, groups)))(family)
    assert a.minimum == b.minimum and np.array_equal(a.knots, b.knots)


# ---------------------------------------------------------------------- each criterion


def test_leave_one_out_is_as_many_folds(numbers):
    """Oracle: K-fold with n folds."""
    X, y = numbers
    family = Family(lasso_path, X, y)
    a, b = LeaveOneOut()(family), CrossValidation(KFold(len(y)))(family)
    v = somewhere(a)
    np.testing.assert_allclose(a(v), b(v), rtol=1e-12)
    np.testing.assert_allclose(a.standard_error(v), b.standard_error(v), rtol=1e-12)


def test_leave_one_out_pools(labels):
    """Oracle: balanced error of all predictions together, by hand."""
    X, y = labels[0][:24], labels[1][:24]
    family = Family(svc_path, X, y, gamma=0.5)
    curve = LeaveOneOut(scoring="balanced_accuracy")(family)
    value = 0.3
    wrong = np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        wrong[i] = family.walk(rest).predict(X[[i]], value)[0] != y[i]
    assert curve(value) == pytest.approx(np.mean([wrong[y == c].mean() for c in (0, 1)]))


def test_split_is_half_of_the_rows(labels):
    """Oracle: the trial, and its path's predictions."""
    X, y = labels
    family = Family(svc_path, X, y)
    split = Split(random_state=0)
    (trial,) = split.trials(family)
    assert len(trial.train) == len(trial.test) == 30
    assert set(trial.train) | set(trial.test) == set(range(60))
    curve = split(family)
    wrong = family.walk(trial.train).predict(X[trial.test], 0.7) != y[trial.test]
    assert curve(0.7) == pytest.approx(wrong.mean())
    assert np.isnan(curve.standard_error(0.7))


def test_bootstraps(numbers):
    """Oracle: every model by hand; 0.632 of the one and 0.368 of the training error."""
    X, y = numbers[0][:12, :3], numbers[1][:12]
    family = Family(lasso_path, X, y, stop=0.01)
    options = {"n_resamples": 3, "random_state": 0}
    criterion = BootstrapLeaveOneOut(**options)
    trials = criterion.trials(family)
    assert len(trials) == 36
    for trial in trials:
        assert trial.times.sum() == 11 and trial.test[0] not in trial.train
    v = np.array([0.02, 0.05, 0.3])
    own = v * 11 / 12  # lambda per row is the same in models on 11 of 12 rows
    losses = [
        (family.walk(t.train, t.times).predict(X[t.test], own)[0] - y[t.test]) ** 2 for t in trials
    ]
    boot = criterion(family)
    np.testing.assert_allclose(boot(v), np.mean(losses, axis=0), rtol=1e-9)
    training = ((family.path.predict(X, v) - y[:, None]) ** 2).mean(axis=0)
    mixed = Bootstrap632(**options)(family)
    np.testing.assert_allclose(mixed(v), 0.632 * boot(v) + 0.368 * training, rtol=1e-9)


# ---------------------------------------------------------------------- other scorers


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_other_scorers_are_evaluated_at_knots(labels, name):
    """Oracle: cross_val_score of LIBSVM at some of the values."""
    X, y = labels
    scoring = name
    if name == "roc_auc":  # by its name it is exact
        scoring = make_scorer(roc_auc_score, response_method="decision_function")
    curve = CrossValidation(3, scoring=scoring)(Family(svc_path, X, y, gamma=0.5, stop=1.5))
    assert not curve.exact and "not exact" in repr(curve)
    for value in curve.knots[5 :: len(curve.knots) // 4]:
        if value <= curve.top:
            model = SVC(C=1 / value, gamma=0.5, tol=1e-9)
            theirs = cross_val_score(model, X, y, cv=3, scoring=name).mean()
            assert curve.score(value) == pytest.approx(theirs, abs=1e-12)


def test_scorers_of_labels_are_called_once_for_equal_labels(labels):
    """Oracle: scikit-learn's f1 of the labels that each fold's path predicts."""
    X, y = labels
    family, splits = Family(svc_path, X, y, gamma=0.5, stop=1.5), KFold(3)
    calls = []

    def counted(true, predicted):
        calls.append((true.tobytes(), predicted.tobytes()))
        return f1_score(true, predicted)

    curve = CrossValidation(splits, scoring=make_scorer(counted))(family)
    values = curve.knots[curve.knots <= curve.top][:: max(len(curve.knots) // 6, 1)]
    theirs = [
        [f1_score(y[test], family.walk(train).predict(X[test], v)) for v in values]
        for train, test in splits.split(X)
    ]
    np.testing.assert_allclose(-curve.per_fold(values), theirs, rtol=1e-12)
    assert len(set(calls)) == len(calls) > splits.n_splits


def test_areas_of_many_rows_at_once():
    """Oracle: scikit-learn's roc_auc_score, ties included."""
    rng = np.random.default_rng(0)
    f = rng.integers(0, 4, (20, 11)).astype(float)
    positive = np.arange(11) % 3 == 0
    theirs = [roc_auc_score(positive, row) for row in f]
    np.testing.assert_allclose(areas(f, positive), theirs, rtol=1e-14)


def test_knots_that_differ_by_round_off_are_one():
    """Oracle: the values themselves."""
    starts = [np.array([3.0, 1.0]), np.array([3.0 / 0.7 * 0.7, 1.0 + 2e-16, 2.0])]
    values = knots_and_middles(starts, 0.5, 3.0 * (1 + 2e-16))
    np.testing.assert_allclose(values, [0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0])


def test_weights_that_a_scorer_cannot_take_are_said(numbers):
    """Oracle: the warning; a scorer that takes them gives none."""
    X, y = numbers
    w = np.linspace(0.5, 1.5, len(y))
    family = Family(lasso_path, X, y, sample_weight=w, stop=0.01)
    largest = lambda estimator, X, y: -np.abs(estimator.predict(X) - y).max()
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        CrossValidation(3, scoring=largest)(family)
    curve = CrossValidation(3, scoring="neg_root_mean_squared_error")(family)
    squared = CrossValidation(3)(family)
    v = curve.knots[3]
    expected = np.sqrt(squared.per_fold(v)).mean()
    assert curve(v) == pytest.approx(expected)


def test_an_exact_name_for_the_other_kind_is_just_a_scorer(labels):
    """Oracle: scikit-learn, which computes squared errors of labels."""
    X, y = labels
    family = Family(svc_path, X, y, stop=0.3)
    curve = CrossValidation(3, scoring="neg_mean_squared_error")(family)
    exact = CrossValidation(3)(family)
    assert not curve.exact and curve.minimum == pytest.approx(exact.minimum)


# ---------------------------------------------------------------------- bad input


def failing(estimator, X, y):
    raise RuntimeError("no score today")


BAD = [
    ({"scoring": failing}, "fold 1 of 3: the scorer 'failing' failed .*no score today"),
    ({"scoring": lambda e, X, y: np.nan}, "gave nan .*expected a finite number"),
    ({"scoring": "precise"}, "scoring must be a name .*'precise'"),
    ({"cv": GroupKFold(3)}, "needs groups, got None"),
    ({"cv": LeaveOneGroupOut()}, "needs groups, got None"),
    ({"cv": 3, "groups": [1, 2]}, "groups must have one entry for each of the 60 rows"),
    ({"cv": []}, "no folds"),
    ({"cv": [([0, 1], [2])]}, "fold 1 of 1, 2 rows: y has 1 class"),
    ({"cv": [(np.arange(50), [])]}, "fold 1 of 1 has no test rows"),
]


@pytest.mark.parametrize(
    "options, message", BAD, ids=lambda x: x[:12] if isinstance(x, str) else ""
)
def test_bad_input(labels, options, message):
    """Oracle: the message names what is wrong."""
    X, y = labels
    y = np.where(np.arange(len(y)) < 2, 0, y)
    with pytest.raises(ValueError, match=message):
        CrossValidation(**({"cv": 3} | options))(Family(svc_path, X, y))


def test_r2_of_one_point_is_refused(numbers):
    """Oracle: the message."""
    with pytest.raises(ValueError, match="fold 1 of 40: scoring='r2' needs two different targets"):
        CrossValidation(KFold(40), scoring="r2")(Family(lasso_path, *numbers))


def test_small_classes_follow_scikit_learn(labels):
    """Oracle: StratifiedKFold's warning and error."""
    X, y = labels
    few = np.r_[np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)]
    with pytest.warns(UserWarning, match="least populated class"):
        CrossValidation(5)(Family(svc_path, X[few], y[few]))
    few = np.r_[np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)[:3]]
    with pytest.raises(ValueError, match="n_splits=5 cannot be greater"):
        CrossValidation(5)(Family(svc_path, X[few], y[few]))


def test_a_path_that_ends_early_shortens_the_range(labels):
    """Oracle: the stops of the paths."""
    family = Family(svc_path, *labels, max_events=10)
    with pytest.warns(UserWarning, match="a path ended early"):
        curve = CrossValidation(3)(family)
    paths = [family.walk(train) for train, _ in StratifiedKFold(3).split(*labels)]
    assert curve.range[0] == max(path.stop for path in (curve.path, *paths))
    assert not any(path.complete for path in paths)
    with pytest.raises(ValueError, match="outside the range"):
        curve(0.99 * curve.range[0])


def test_a_start_of_ones_own_ends_the_range(labels):
    """Oracle: the argument."""
    curve = CrossValidation(3)(Family(svc_path, *labels, start=2.0, stop=0.1))
    assert curve.range == (0.1, 2.0)
    with pytest.raises(ValueError, match="outside the range"):
        curve(3.0)


@pytest.mark.filterwarnings("ignore:Precision is ill-defined")  # far above no point is positive
@pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")
@pytest.mark.parametrize("scoring", ["f1", "precision", "recall", "average_precision"])
def test_scores_of_a_positive_class_with_labels_that_are_words(scoring):
    """Oracle: the same data with the labels 0 and 1; the positive class is classes_[1]."""
    X, y = make_classification(60, 4, flip_y=0.2, random_state=1)
    words = np.array(["no", "yes"])[y]
    curves = [PathSVC(cv=3, scoring=scoring).fit(X, target).curve_ for target in (y, words)]
    values = np.geomspace(*curves[0].range, 20)[1:-1]
    np.testing.assert_array_equal(curves[0](values), curves[1](values))
