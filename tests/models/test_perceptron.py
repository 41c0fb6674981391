"""Perceptrons and margins."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR

from chemin import (
    KernelPerceptron,
    PathSVC,
    RosenblattPerceptron,
    margin_bound,
    margins,
    svc_path,
)
from chemin.kernels import RBF, Polynomial, Spectrum


def separable(seed, n=40, d=2, gap=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    f = X @ w + 0.2
    X = X + gap * np.sign(f)[:, None] * w
    return X, (f > 0).astype(int)


def by_the_book(K, y, passes=1000):
    """The dual algorithm of the course, point by point."""
    n, R2 = len(y), K.diagonal().max()
    alpha, b, mistakes = np.zeros(n), 0.0, []
    for _ in range(passes):
        before = len(mistakes)
        for i in range(n):
            if y[i] * (K[i] @ (alpha * y) + b) <= 0:
                alpha[i] += 1
                b += y[i] * R2
                mistakes.append(i)
        if len(mistakes) == before:
            return alpha, b, mistakes
    raise AssertionError("the data do not separate")


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_mistakes_stay_below_the_bound(seed, d):
    """Oracle: Novikoff's theorem, with the margin of the hard-margin machine."""
    X, y = separable(seed, d=d)
    if len(np.unique(y)) < 2:
        return
    model = RosenblattPerceptron().fit(X, y)
    assert model.converged_ and model.score(X, y) == 1.0
    assert 1 <= model.n_mistakes_ <= model.mistake_bound()


@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
@settings(max_examples=40, deadline=None)
def test_both_forms_make_the_same_mistakes(seed, d, gridded):
    """Oracle: each other, bit by bit; on a grid of decimals y f is often 0 but for round-off."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((40, d)), rng.standard_normal(d)
    if gridded:
        X, w = X.round(1), w.round(1)
    y = X @ w + 0.2 > 0
    if len(np.unique(y)) < 2:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        primal, dual = (
            RosenblattPerceptron(form=form, max_iter=100).fit(X, y) for form in ("primal", "dual")
        )
    np.testing.assert_array_equal(primal.mistakes_, dual.mistakes_)
    np.testing.assert_array_equal(primal.coef_, dual.coef_)
    assert primal.intercept_ == dual.intercept_


@pytest.mark.parametrize("seed", range(5))
def test_primal_dual_and_the_book(seed):
    """Oracle: the course's algorithm in plain loops."""
    X, y = separable(seed)
    signs = np.where(y == 1, 1.0, -1.0)
    alpha, b, mistakes = by_the_book(X @ X.T, signs)
    for form in ("primal", "dual"):
        model = RosenblattPerceptron(form=form).fit(X, y)
        assert model.mistakes_.tolist() == mistakes
        np.testing.assert_allclose(model.coef_[0], (alpha * signs) @ X, rtol=1e-12)
        assert model.intercept_[0] == pytest.approx(b)


@pytest.mark.parametrize("degree, coef0", [(3, 1.0), (4, 0.5), (3, 0.0)])
def test_kernel_and_explicit_map_make_the_same_mistakes(degree, coef0):
    """Oracle: the perceptron on the monomials themselves."""
    X, y = make_moons(60, noise=0.05, random_state=0)
    if coef0 == 0.0:  # monomials of one degree are odd in x
        y = (X - X.mean(axis=0)) @ [1.0, 2.0] > 0
        X = X - X.mean(axis=0)
    kernel = Polynomial(gamma=1.0, degree=degree, coef0=coef0)
    model = KernelPerceptron(kernel=kernel).fit(X, y)
    explicit = RosenblattPerceptron().fit(kernel.feature_map(X), y)
    np.testing.assert_array_equal(model.mistakes_, explicit.mistakes_)
    new = np.random.default_rng(0).standard_normal((9, 2))
    np.testing.assert_allclose(
        model.decision_function(new),
        explicit.decision_function(kernel.feature_map(new)),
        rtol=1e-8,
    )


def test_the_average_is_that_of_all_points_looked_at():
    """Oracle: a plain loop that adds up after each point."""
    X, y = separable(3)
    signs = np.where(y == 1, 1.0, -1.0)
    w, b, R2, total, shift, steps = np.zeros(2), 0.0, (X**2).sum(axis=1).max(), 0.0, 0.0, 0
    for _ in range(RosenblattPerceptron().fit(X, y).n_iter_):
        for x, s in zip(X, signs):
            if s * (w @ x + b) <= 0:
                w, b = w + s * x, b + s * R2
            total, shift, steps = total + w, shift + b, steps + 1
    model = RosenblattPerceptron(averaged=True).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], total / steps, rtol=1e-10)
    assert model.intercept_[0] == pytest.approx(shift / steps)


def test_data_that_do_not_separate():
    """Oracle: two labels at one point can never be right."""
    X, y = np.array([[0.0], [0.0], [1.0]]), [0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="max_iter=7 passes"):
        model = RosenblattPerceptron(max_iter=7).fit(X, y)
    assert not model.converged_ and model.n_iter_ == 7 and model.mistake_bound() == np.inf


def test_strings():
    """Oracle: a separable rule."""
    texts = ["abab", "abba", "cdcd", "cddc"]
    model = KernelPerceptron(kernel=Spectrum(2)).fit(texts, [0, 0, 1, 1])
    assert model.predict(["ab", "dc"]).tolist() == [0, 1]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda X, y: RosenblattPerceptron(form="both").fit(X, y), "form must be"),
        (lambda X, y: RosenblattPerceptron(max_iter=0).fit(X, y), "max_iter must be"),
        (lambda X, y: KernelPerceptron(averaged="no").fit(X, y), "averaged must be"),
        (lambda X, y: KernelPerceptron(kernel="precomputed").fit(X, y), "kernel must be"),
        (lambda X, y: RosenblattPerceptron().fit(X, np.arange(len(y)) % 3), "binary"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call(*separable(0))


# ---------------------------------------------------------------------------- margins


def test_margins_are_distances():
    """Oracle: the distance from a line in the plane."""
    X, y = make_blobs(50, centers=2, random_state=1)
    model = LogisticRegression().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    found = margins(model, X, y)
    signs = np.where(y == 1, 1, -1)
    np.testing.assert_allclose(found.geometric, signs * (X @ w + b) / np.linalg.norm(w))
    np.testing.assert_allclose(found.functional, signs * model.decision_function(X))
    assert found.of_separator == found.geometric.min()


@pytest.mark.parametrize("model", [3, None, SVC, SVR()])
def test_margins_are_those_of_a_classifier(model):
    """Oracle: the message."""
    with pytest.raises(ValueError, match="model must be a fitted classifier of two classes"):
        margins(model, [[0.0], [1.0]], [0, 1])


def test_norms_of_kernel_machines():
    """Oracle: the norm of the weights on the explicit map."""
    X, y = make_moons(40, noise=0.1, random_state=0)
    kernel = Polynomial(gamma=0.5, degree=3, coef0=1.0)
    Z = kernel.feature_map(X)
    machine = SVC(kernel="poly", gamma=0.5, degree=3, coef0=1.0, C=2.0, tol=1e-8).fit(X, y)
    plain = SVC(kernel="linear", C=2.0, tol=1e-8).fit(Z, y)
    expected = np.linalg.norm(plain.coef_)
    assert margins(machine, X, y).norm == pytest.approx(expected, rel=1e-5)
    path = PathSVC(kernel=kernel, cv=3).fit(X, y)
    weights = path.dual_coef_[0] @ kernel.feature_map(path.support_vectors_)
    assert margins(path, X, y).norm == pytest.approx(np.linalg.norm(weights), rel=1e-10)


def test_the_hard_margin_is_the_widest():
    """Oracle: LIBSVM with a huge C."""
    X, y = separable(1)
    gamma = margins(SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y), X, y).of_separator
    model = RosenblattPerceptron().fit(X, y)
    assert model.mistake_bound() == pytest.approx((2 * model.radius_ / gamma) ** 2, rel=1e-4)
    assert margins(model, X, y).of_separator <= gamma * (1 + 1e-6)


def test_bound():
    """Oracle: the formula written once more; the bound falls with n and holds on new points."""
    gaps = []
    for n in (200, 20_000):
        X, y = make_blobs(n, centers=[[-4, 0], [4, 0]], random_state=0)
        model = LogisticRegression(C=0.01).fit(X, y)
        found = margin_bound(model, X, y, delta=0.1)
        R = np.linalg.norm(X, axis=1).max()
        w, b = np.linalg.norm(model.coef_), model.intercept_[0]
        r, rho = np.sqrt(2) * R, 1 / np.hypot(w, b / R)
        f = np.where(y == 1, 1, -1) * model.decision_function(X)
        expected = np.clip(1 - f, 0, 1).mean() + 4 * r / rho / np.sqrt(n)
        expected += np.sqrt(np.log(np.log2(2 * r / rho)) / n) + np.sqrt(np.log(20) / (2 * n))
        assert found.bound == pytest.approx(expected, rel=1e-9)
        assert found.violations == (f < 1).sum()
        gaps.append(found.bound)
        new, labels = make_blobs(5000, centers=[[-4, 0], [4, 0]], random_state=1)
        assert (model.predict(new) != labels).mean() <= found.bound
    assert gaps[1] < gaps[0] and gaps[1] < 1


def test_bound_of_a_kernel_machine():
    """Oracle: R = 1 for a Gaussian, gamma = 1/|f|."""
    X, y = make_moons(100, noise=0.1, random_state=0)
    model = PathSVC(kernel=RBF(1.0), cv=3).fit(X, y)
    found = margin_bound(model, X, y)
    assert found.radius == pytest.approx(1.0)
    assert found.gamma == pytest.approx(1 / margins(model, X, y).norm)
    with pytest.raises(ValueError, match="delta must be"):
        margin_bound(model, X, y, delta=1.5)
    with pytest.raises(ValueError, match="labels among"):
        margins(model, X, y + 5)


def test_a_path_of_separated_data_says_so():
    """Oracle: LIBSVM with a huge C for the margin; overlapping classes are not separated."""
    X, y = separable(1)
    gamma = margins(SVC(kernel="linear", C=1e8, tol=1e-10).fit(X, y), X, y).of_separator
    reason = svc_path(X, y, kernel="linear", stop=0).reason
    assert "separated" in reason and float(reason.rsplit(maxsplit=1)[-1]) == pytest.approx(
        gamma, rel=1e-3
    )
    y[:4] = 1 - y[:4]
    assert "separated" not in svc_path(X, y, kernel="linear", stop=0).reason
