"""The plane of lambda and epsilon (nu): against refits and lines through its best point."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVR, NuSVR

from chemin import PathNuSVR, PathSVR, nu_svr_surface, svr_surface
from chemin.datasets import make_sinexp
from chemin.selection import CrossValidation, Family

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")

GAMMA = 30.0
# LIBSVM keeps the kernel in single precision.
LIBSVM = 2e-5
CASES = {"epsilon": (svr_surface, SVR, PathSVR), "nu": (nu_svr_surface, NuSVR, PathNuSVR)}


@pytest.fixture(scope="module")
def data():
    return make_sinexp(36, 1, noise=0.2)


@pytest.fixture(scope="module", params=CASES)
def case(request, data):
    make, model, estimator = CASES[request.param]
    surface = make(*data, gamma=GAMMA, cv=3, first=3)
    return surface, model, estimator


def refit(model, data, lam, **given):
    """Minus the score of scikit-learn's own model at one point of the plane."""
    svr = model(C=1 / lam, gamma=GAMMA, tol=1e-10, **given)
    return -cross_val_score(svr, *data, cv=3, scoring="neg_mean_squared_error").mean()


def test_the_surface_equals_refits(case, data):
    """Oracle: cross_val_score of SVR and NuSVR at random places of the plane."""
    surface, model, _ = case
    rng = np.random.default_rng(0)
    for _ in range(8):
        lam, value = 10 ** rng.uniform(-1.5, 1.5), 10 ** rng.uniform(-1.5, -0.1)
        expected = refit(model, data, lam, **{surface.other: value})
        assert surface(lam, value) == pytest.approx(expected, rel=LIBSVM)


def test_no_refit_beats_the_best_point(case, data):
    """Oracle: refits on a fine grid along both lines through the point that was found."""
    surface, model, _ = case
    lam, value = surface.lambda_, surface.value
    at_best = refit(model, data, lam, **{surface.other: value})
    assert surface.minimum == pytest.approx(at_best, rel=LIBSVM)
    steps = np.geomspace(0.2, 5.0, 21)
    along = [refit(model, data, s * lam, **{surface.other: value}) for s in steps]
    up_to = steps[steps * value <= (1.0 if surface.other == "nu" else np.inf)]
    across = [refit(model, data, lam, **{surface.other: s * value}) for s in up_to]
    assert min(along + across) >= (1 - LIBSVM) * surface.minimum


def test_lines_through_the_best_point(case):
    """Oracle: both lines themselves, on 2000 values, and every other line."""
    surface, _, _ = case
    assert surface.minimum == min(
        line.curve.minimum for line in surface.lines if line.along == "lambda"
    )
    last = [line for line in surface.lines if line.along == surface.other][-2:]
    for line in (surface.best, *last):
        assert line.fixed in (surface.lambda_, surface.value)
        values = np.clip(np.geomspace(*line.curve.range, 2000), *line.curve.range)
        assert line.curve(values).min() >= (1 - 2e-9) * surface.minimum


def test_a_turned_line_is_a_path_of_its_own(case, data):
    """Oracle: the criterion on paths in epsilon (nu) that were walked from their own start."""
    surface, _, _ = case
    name = {"epsilon": "svr", "nu": "nu_svr"}[surface.other]
    line = [line for line in surface.lines if line.along == surface.other][1]
    low, high = line.curve.range
    family = Family(name, *data, gamma=GAMMA, along=surface.other, lambda_=line.fixed, stop=low)
    curve = CrossValidation(3)(family)
    values = np.linspace(low, min(high, curve.range[1]), 50)[1:-1]
    np.testing.assert_allclose(line.curve(values), curve(values), rtol=1e-8)


def test_the_estimator_takes_the_best_point(case, data):
    """Oracle: the estimator by itself at the tube that was found."""
    surface, _, make = case
    model = make(**{surface.other: "path"}, gamma=GAMMA, cv=3).fit(*data)
    found = {surface.other: getattr(model, f"{surface.other}_")}
    assert found[surface.other] == model.surface_.value
    alone = make(**found, gamma=GAMMA, cv=3).fit(*data)
    assert model.lambda_ == pytest.approx(alone.lambda_, rel=1e-9)
    np.testing.assert_allclose(model.predict(data[0]), alone.predict(data[0]), atol=1e-9)
    assert model.to_sklearn().get_params()[surface.other] == found[surface.other]
    coarse = [line.curve.minimum for line in model.surface_.lines[:5]]
    assert model.curve_.minimum <= min(coarse)


def test_bad_input(data):
    """Oracle: the message names what is wrong."""
    with pytest.raises(ValueError, match="cannot both be 'path'"):
        PathSVR(epsilon="path", gamma="path").fit(*data)
    with pytest.raises(TypeError, match="low and high are its ends"):
        svr_surface(*data, epsilon=0.1)
    with pytest.raises(ValueError, match="low must be less than high"):
        nu_svr_surface(*data, low=0.5, high=0.2)
