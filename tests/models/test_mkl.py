"""Multiple kernel learning against convex solvers, single kernels and its own gap."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, SVR

from chemin import MKLClassifier, MKLRegressor, PathSVC
from chemin.kernels import RBF, Linear, Spectrum

KERNELS = [Linear(), RBF(0.05), RBF(1.0), RBF(0.3).on([0, 1]), RBF(0.3).on(5)]


@pytest.fixture(scope="module")
def labels():
    return make_classification(60, 6, n_informative=2, n_redundant=0, shuffle=False, random_state=0)


@pytest.fixture(scope="module")
def numbers():
    X, y = make_friedman1(80, n_features=8, noise=0.5, random_state=0)
    return X, (y - y.mean()) / y.std()


def stack(kernels, X):
    matrices = np.stack([kernel.gram(X) for kernel in kernels])
    return matrices / matrices.diagonal(axis1=1, axis2=2).mean(axis=1)[:, None, None]


def dual_by_conic_solver(matrices, S, gain, C, norm):
    """max gain'a - |s|_q / (2 lambda), s_m = (Sa)'K_m(Sa), over 0 <= a <= 1 with 1'Sa = 0: conic.

    q is infinite for norm 1, and 2 for norm 2. The variables are a, u >= s / (2 lambda) and t, at
    least the norm of u.
    """
    M, N = len(matrices), S.shape[1]
    width = N + M + 1
    rows = [np.append(S.sum(axis=0), np.zeros(M + 1))[None], -np.eye(N, width), np.eye(N, width)]
    rhs = [np.zeros(1), np.zeros(N), np.ones(N)]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(2 * N)]
    for m, K in enumerate(matrices):  # |R S a|² <= 2 lambda u_m
        values, vectors = np.linalg.eigh(K)
        keep = values > 1e-12 * values.max()
        R = np.sqrt(values[keep])[:, None] * vectors[:, keep].T
        A = np.zeros((len(R) + 2, width))
        A[:2, N + m] = -1.0
        A[2:, :N] = -2.0 * R @ S / np.sqrt(2.0 / C)
        rows.append(A)
        rhs.append(np.concatenate([[1.0, -1.0], np.zeros(len(R))]))
        cones.append(clarabel.SecondOrderConeT(len(R) + 2))
    u, t = np.eye(M, width, k=N), np.eye(1, width, k=width - 1)
    rows.append(u - t if norm == 1 else -np.vstack([t, u]))
    rhs.append(np.zeros(len(rows[-1])))
    cones.append(
        (clarabel.NonnegativeConeT if norm == 1 else clarabel.SecondOrderConeT)(len(rhs[-1]))
    )
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    q = np.concatenate([-gain, np.zeros(M), [1.0]])
    A, b = sp.csc_matrix(np.vstack(rows)), np.concatenate(rhs)
    empty = sp.csc_matrix((width, width))
    return -clarabel.DefaultSolver(empty, q, A, b, cones, settings).solve().obj_val


@pytest.mark.parametrize("norm", [1, 2])
def test_minimum_is_that_of_a_conic_solver(labels, numbers, norm):
    """Oracle: the dual, by an interior-point solver."""
    X, y = labels
    signs = np.where(y == 1, 1.0, -1.0)
    for C in (0.3, 3.0):
        model = MKLClassifier(KERNELS, C=C, norm=norm).fit(X, y)
        args = stack(KERNELS, X), np.diag(signs), np.ones(len(y)), C, norm
        assert model.gap_ <= 1e-6
        assert model.objective_ == pytest.approx(dual_by_conic_solver(*args), rel=2e-6)
    X, y = numbers[0][:50], numbers[1][:50]
    kernels = [RBF(1.0).on(j) for j in range(4)]
    model = MKLRegressor(kernels, epsilon=0.2, norm=norm).fit(X, y)
    both, gain = np.hstack([np.eye(50), -np.eye(50)]), np.append(y, -y) - 0.2
    expected = dual_by_conic_solver(stack(kernels, X), both, gain, 1.0, norm)
    assert model.gap_ <= 1e-6 and model.objective_ == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("norm", [1.0, 1.3, 2.0, 4.0])
def test_gap_is_a_bound_on_what_any_weights_gain(labels, norm):
    """Oracle: SVC's objective at random feasible weights is never below J minus the gap."""
    X, y = labels
    model = MKLClassifier(KERNELS, norm=norm).fit(X, y)
    assert model.gap_ <= 1e-6
    assert np.linalg.norm(model.weights_, norm) == pytest.approx(1.0, rel=1e-6)
    matrices, rng = stack(KERNELS, X), np.random.default_rng(0)
    for _ in range(10):
        d = rng.exponential(size=len(KERNELS)) ** 2
        K = np.tensordot(d / np.linalg.norm(d, norm), matrices, axes=1)
        svc = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, y)
        c = np.zeros(len(y))
        c[svc.support_] = svc.dual_coef_[0]
        f = K @ c + svc.intercept_
        loss = np.maximum(0, 1 - np.where(y == 1, 1, -1) * f).sum()
        assert 0.5 * c @ K @ c + loss >= model.objective_ * (1 - 1e-6)


def test_one_kernel_is_the_machine(labels, numbers):
    """Oracle: LIBSVM."""
    X, y = labels
    model = MKLClassifier([RBF(0.3)], C=2.0, normalise=False).fit(X, y)
    svc = SVC(gamma=0.3, C=2.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-5)
    X, y = numbers
    model = MKLRegressor([RBF(0.3)], C=2.0, epsilon=0.2, normalise=False).fit(X, y)
    svr = SVR(gamma=0.3, C=2.0, epsilon=0.2, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.predict(X), svr.predict(X), atol=1e-5)


def test_noise_gets_no_weight(numbers):
    """Oracle: friedman1, whose target does not depend on features 5 to 7."""
    X, y = numbers
    model = MKLRegressor([RBF(1.0).on(j) for j in range(8)], C=0.1).fit(X, y)
    assert model.gap_ <= 1e-6
    assert model.weights_[5:].tolist() == [0.0, 0.0, 0.0] and model.weights_.argmax() == 3


def test_predictions_are_those_of_the_combined_kernel(labels):
    """Oracle: the sum of kernels, by its formula."""
    X, y = labels
    model = MKLClassifier(KERNELS, C=1.0).fit(X, y)
    scale = [k.gram(X).diagonal().mean() for k in KERNELS]
    cross = sum(d / s * k.cross(X[:7], X) for d, s, k in zip(model.weights_, scale, KERNELS))
    coef = np.zeros(len(X))
    coef[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(
        model.decision_function(X[:7]), cross @ coef + model.intercept_, atol=1e-10
    )


def test_weights_of_rows_are_rows(labels):
    """Oracle: rows of weight two are rows twice, rows of weight 0 are none."""
    X, y = labels
    weight = np.ones(len(y))
    weight[:10], weight[10:15] = 2.0, 0.0
    keep = np.r_[0:10, 0:10, 15 : len(y)]
    kernels = [Linear(), RBF(0.2), RBF(2.0)]
    one = MKLClassifier(kernels, normalise=False).fit(X, y, sample_weight=weight)
    two = MKLClassifier(kernels, normalise=False).fit(X[keep], y[keep])
    assert one.objective_ == pytest.approx(two.objective_, rel=2e-6)


def test_baselines(labels):
    """Oracle: equal weights; none of the baselines is below the minimum."""
    X, y = labels
    learned = MKLClassifier(KERNELS).fit(X, y)
    uniform = MKLClassifier(KERNELS, weighting="uniform").fit(X, y)
    aligned = MKLClassifier(KERNELS, weighting="alignment").fit(X, y)
    np.testing.assert_allclose(uniform.weights_, 1 / len(KERNELS))
    assert aligned.weights_[3] > aligned.weights_[4]
    for model in (uniform, aligned):
        assert model.objective_ >= learned.objective_ * (1 - 1e-6)
        assert model.objective_ * (1 - model.gap_) <= learned.objective_ * (1 + 1e-6)


def three_classes():
    X, y = load_iris(return_X_y=True)
    return X[::2], np.array(["setosa", "versicolor", "virginica"])[y[::2]]


IRIS = [Linear(), RBF(0.1), RBF(1.0), RBF(1.0).on(2), RBF(1.0).on(1)]


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_several_classes_share_the_weights(norm):
    """Oracle: SVC, a class against the rest: no feasible weights have a smaller sum than J - gap;
    and at the weights found the sum is J.
    """
    X, y = three_classes()
    model = MKLClassifier(IRIS, norm=norm).fit(X, y)
    assert model.gap_ <= 1e-6 and model.weights_.shape == (5,)
    matrices, rng = stack(IRIS, X), np.random.default_rng(0)

    def value(d):
        K, total = np.tensordot(d, matrices, axes=1), 0.0
        for one in model.classes_:
            svc = SVC(kernel="precomputed", C=1.0, tol=1e-8).fit(K, y == one)
            c = np.zeros(len(y))
            c[svc.support_] = svc.dual_coef_[0]
            margin = np.where(y == one, 1, -1) * (K @ c + svc.intercept_)
            total += 0.5 * c @ K @ c + np.maximum(0, 1 - margin).sum()
        return total

    assert value(model.weights_) == pytest.approx(model.objective_, rel=1e-5)
    for _ in range(10):
        d = rng.exponential(size=5) ** 2
        assert value(d / np.linalg.norm(d, norm)) >= model.objective_ * (1 - 1e-6)


def test_several_classes_predict_by_the_largest():
    """Oracle: f by the sum of kernels; one kernel is SVC, a class against the rest."""
    X, y = three_classes()
    model = MKLClassifier(IRIS, C=5.0).fit(X, y)
    f = model.decision_function(X)
    cross = model.kernel_.cross(X, model.support_vectors_)
    np.testing.assert_allclose(f, cross @ model.dual_coef_.T + model.intercept_, atol=1e-10)
    assert f.shape == (len(X), 3) and model.score(X, y) > 0.95
    np.testing.assert_array_equal(model.predict(X), model.classes_[f.argmax(axis=1)])
    one = MKLClassifier([RBF(0.3)], C=2.0, normalise=False).fit(X, y)
    rest = OneVsRestClassifier(SVC(gamma=0.3, C=2.0, tol=1e-8)).fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), rest.decision_function(X), atol=1e-5)
    for options in ({"weighting": "alignment"}, {"class_weight": "balanced"}):
        assert MKLClassifier(IRIS, **options).fit(X, y).score(X, y) > 0.9
    with pytest.raises(ValueError, match="all rows of class 'setosa' have weight 0"):
        MKLClassifier(IRIS).fit(X, y, sample_weight=y != "setosa")


def test_a_chosen_C(labels):
    """Oracle: cross_val_score at each C, and SVC with the learned kernel at the path's own C."""
    X, y = labels
    parts = KERNELS[:3]
    search = GridSearchCV(MKLClassifier(parts), {"C": [0.1, 3.0]}, cv=3).fit(X, y)
    means = [cross_val_score(MKLClassifier(parts, C=C), X, y, cv=3).mean() for C in (0.1, 3.0)]
    assert search.best_score_ == max(means)
    kernel = search.best_estimator_.kernel_
    model = PathSVC(kernel=kernel, cv=3).fit(X, y)
    svc = SVC(kernel="precomputed", C=model.C_)
    expected = cross_val_score(svc, kernel.gram(X), y, cv=3).mean()
    assert model.curve_.score(model.lambda_) == pytest.approx(expected, abs=1e-12)


def test_strings_and_defaults(labels):
    """Oracle: the certified gap."""
    texts = ["abab", "abba", "baba", "cdcd", "cddc", "dcdc"]
    model = MKLClassifier([Spectrum(1), Spectrum(2)]).fit(texts, [0, 0, 0, 1, 1, 1])
    assert model.gap_ <= 1e-6 and model.predict(["ab", "cd"]).tolist() == [0, 1]
    assert MKLClassifier(C=0.5).fit(*labels).gap_ <= 1e-6
    with pytest.raises(ValueError, match="the same kind of points"):
        MKLClassifier([Spectrum(1), RBF(1.0)]).fit(texts, [0, 0, 0, 1, 1, 1])


def test_a_gap_that_is_not_reached_is_said(labels):
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        MKLClassifier(KERNELS, max_iter=1, tol=1e-12).fit(*labels)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"kernels": []}, "one kernel at least"),
        ({"kernels": "rbf"}, "list of kernels"),
        ({"kernels": ["precomputed"]}, "kernels of points"),
        ({"kernels": [RBF(1.0), Spectrum(2)]}, "must hold strings"),
        ({"norm": 0.5}, "norm must be"),
        ({"norm": np.inf}, "uniform"),
        ({"weighting": "best"}, "weighting must be one of"),
        ({"C": -1.0}, "C must be"),
    ],
)
def test_what_is_refused(labels, options, words):
    with pytest.raises(ValueError, match=words):
        MKLClassifier(**options).fit(*labels)


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_the_weights_of_a_tube_are_found(seed):
    """Oracle: the gap. A smaller gap at a larger objective is no step: such steps went round."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(22, 3))
    X[:, 2] = X[:, 1]
    y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=22)
    kernels = [RBF(0.5).on([j]) for j in range(3)] + [Linear()]
    model = MKLRegressor(kernels, C=10.0 ** rng.uniform(-1, 1)).fit(X, y)
    assert model.gap_ <= 1e-6 and model.n_iter_ < 50
