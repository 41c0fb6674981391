"""Leave-one-out on one path: as if a path had been walked without each point."""

from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_classification

from chemin import PathNuSVR, PathSVR, lasso_path, nu_svr_path, svc_path, svr_path
from chemin.datasets import make_sinexp
from chemin.selection import EXACT_SCORES, Family, LeaveOneOut, LeaveOneOutOnPath

MAKERS = {
    "svc": svc_path,
    "svr": partial(svr_path, epsilon=0.2),
    "svr in epsilon": partial(svr_path, along="epsilon", lambda_=0.3),
    "nu-svr": partial(nu_svr_path, nu=0.31),
}
SCORES = {"svc": (None, *EXACT_SCORES[:3]), "nu-svr": EXACT_SCORES[3:6]}
CASES = [(name, scoring) for name in MAKERS for scoring in SCORES.get(name, (None,))]
ROWS = 24


@pytest.fixture(scope="module")
def labels():
    return make_classification(ROWS, 4, flip_y=0.2, weights=[0.4], random_state=0)


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return 10 * X[:ROWS], (y[:ROWS] - 150) / 80


def family_of(name, labels, numbers, **options):
    X, y = labels if name == "svc" else numbers
    return Family(MAKERS[name], X, y, gamma=0.3, **options)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name, scoring", CASES)
def test_equals_a_path_without_each_point(name, scoring, weighted, labels, numbers):
    """Oracle: LeaveOneOut, which walks n paths, at the values evaluated."""
    w = np.random.default_rng(0).integers(0, 4, ROWS).astype(float) if weighted else None
    weights = {"class_weight": {1: 2.0}} if name == "svc" else {}
    family = family_of(name, labels, numbers, sample_weight=w, **weights)
    curve = LeaveOneOutOnPath(scoring=scoring, n_values=25)(family)
    exact = LeaveOneOut(scoring=scoring)(family)
    assert not curve.exact and curve.scoring == exact.scoring and curve.loss == exact.loss
    assert curve.n_folds == exact.n_folds
    u = curve._folds[0].knots
    v = family.path.coordinate.to_value(u)
    v = v[(v >= exact.range[0]) & (v <= exact.range[1])]
    assert len(v) >= 20
    np.testing.assert_allclose(curve(v), exact(v), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(curve.standard_error(v), exact.standard_error(v), rtol=1e-6)
    assert curve.minimum >= exact.minimum - 1e-9


def test_stops_when_the_minimum_is_passed():
    """Oracle: the curve without a margin, and where it first rises by so much."""
    family = Family(partial(nu_svr_path, nu=0.3), *make_sinexp(40, 1, noise=0.3), gamma=300.0)
    options = {"n_values": 40, "scoring": "neg_mean_absolute_error"}
    whole = LeaveOneOutOnPath(**options)(family)
    part = LeaveOneOutOnPath(margin=0.1, **options)(family)
    v = whole.knots[::-1]
    losses = whole(v)
    first = np.argmax(losses > 1.1 * np.minimum.accumulate(losses))
    assert first > 0 and part.range == (pytest.approx(v[first]), whole.range[1])
    np.testing.assert_allclose(part(v[: first + 1]), losses[: first + 1], rtol=1e-12)
    assert not part.at_end and part.minimum == pytest.approx(losses[: first + 1].min())
    far = LeaveOneOutOnPath(margin=100.0, **options)(family)
    assert far.range == whole.range


def test_threads_change_nothing(numbers):
    """Oracle: the same on one thread, bit by bit, with and without a margin."""
    family = family_of("nu-svr", None, numbers)
    for margin in (None, 0.05):
        one, two = (LeaveOneOutOnPath(margin=margin, n_values=12, n_jobs=j)(family) for j in (1, 2))
        np.testing.assert_array_equal(one.knots, two.knots)
        assert one.minimum == two.minimum


def test_processes_change_nothing(numbers):
    """Oracle: threads, bit by bit."""
    criterion = LeaveOneOutOnPath(n_values=8, n_jobs=2)
    here = criterion(family_of("svr", None, numbers))
    with joblib.parallel_config(backend="multiprocessing"):
        there = criterion(family_of("svr", None, numbers))
    np.testing.assert_array_equal(here.per_fold(here.knots), there.per_fold(here.knots))
    assert here.minimiser == there.minimiser


def test_in_place_of_folds(numbers):
    """Oracle: the criterion itself."""
    X, y = numbers
    criterion = LeaveOneOutOnPath(margin=0.2, n_values=20)
    for model, name in ((PathSVR(epsilon=0.2), "svr"), (PathNuSVR(nu=0.31), "nu-svr")):
        model.set_params(gamma=0.3, cv=criterion).fit(X, y)
        assert model.lambda_ == criterion(family_of(name, None, numbers)).minimiser
        np.testing.assert_allclose(model.predict(X), model.path_.predict(X, model.lambda_))


def test_a_path_that_grows(numbers):
    """Oracle: Path.leave_one_out itself."""
    make = partial(nu_svr_path, along="nu", lambda_=0.3)
    family = Family(make, *numbers, gamma=0.3, start=0.1, stop=0.9)
    curve = LeaveOneOutOnPath(n_values=20)(family)
    assert curve.range == (0.1, 0.9) and curve.parameter == "nu"
    v = curve.knots[3]
    f = family.path.leave_one_out(v)
    assert curve(v) == pytest.approx(np.mean((numbers[1] - f) ** 2))


def test_bad_input(labels, numbers):
    """Oracle: the message names what is wrong; a path that ends early is said."""
    for options, message in (
        ({"margin": -0.1}, "margin must be"),
        ({"margin": np.nan}, "margin must be"),
        ({"n_values": 1}, "n_values must be"),
    ):
        with pytest.raises(ValueError, match=message):
            LeaveOneOutOnPath(**options)
    with pytest.raises(ValueError, match=r"scoring must be one of .*got 'roc_auc'"):
        LeaveOneOutOnPath(scoring="roc_auc")(family_of("svc", labels, numbers))
    with pytest.raises(ValueError, match="lasso"):
        LeaveOneOutOnPath()(Family(lasso_path, *numbers))
    with pytest.warns(UserWarning, match="the path ended early"):
        LeaveOneOutOnPath()(family_of("svr", labels, numbers, max_events=5))
