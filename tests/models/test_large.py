"""Many points: few features in place of a kernel matrix, and new points in parts."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import chemin
from chemin.kernels import Linear, _blocks

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=400) > 0).astype(int)
    return X, y


def objective(model, Z, y, C):
    loss = np.maximum(0, 1 - np.where(y == 1, 1, -1) * model.decision_function(Z)).sum()
    return 0.5 * np.sum(model.coef_**2) + C * loss


@pytest.mark.parametrize("make", [Nystroem, RBFSampler])
def test_a_map_and_the_linear_path(data, make):
    """Oracle: the objective of LIBSVM on the mapped points at the chosen C, and the certificate."""
    X, y = data
    features = make(gamma=0.3, n_components=20, random_state=0)
    model = make_pipeline(features, chemin.PathSVC(kernel="linear", cv=3)).fit(X, y)
    Z, machine = features.transform(X), model[-1]
    assert Linear().factor(Z) is not None
    svc = SVC(kernel="linear", C=machine.C_, tol=1e-6).fit(Z, y)
    ours, theirs = objective(machine, Z, y, machine.C_), objective(svc, Z, y, machine.C_)
    assert theirs * (1 - 1e-4) <= ours <= theirs * (1 + 1e-9)
    assert machine.path_.certificate(machine.lambda_).exact
    kernel = Linear().after(clone(features).fit(X))
    same = chemin.PathSVC(kernel=kernel, cv=3).fit(X, y)
    assert kernel.factor(X) is not None and same.lambda_ == pytest.approx(machine.lambda_, rel=1e-6)


def test_new_points_in_parts(data, monkeypatch):
    """Oracle: all points at once."""
    X, y = data
    three = y + (X[:, 0] > 1)
    models = [
        chemin.PathSVC(kernel="linear", cv=3),
        chemin.PathSVR(kernel="linear", cv=3),
        chemin.PathSVC(gamma=0.5, cv=3),
    ]
    for labels in (y, three):
        for model in models:
            whole = clone(model).fit(X, labels)
            f = whole.predict(X)
            with monkeypatch.context() as patch:
                patch.setattr(_blocks, "MOST_AT_ONCE", 3000)
                parts = clone(model).fit(X, labels)
                np.testing.assert_allclose(whole.predict(X), f, rtol=1e-10)
            assert parts.lambda_ == pytest.approx(whole.lambda_, rel=1e-8)
            assert parts.curve_.minimum == pytest.approx(whole.curve_.minimum, rel=1e-12)
