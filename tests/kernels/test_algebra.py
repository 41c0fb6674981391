"""Kernels made of kernels, and what tells a kernel from a matrix that is none."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import chemin
from chemin.kernels import (
    RBF,
    Bilinear,
    Cosine,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Spectrum,
    is_kernel,
    kernel_alignment,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 4))
Y = RNG.standard_normal((7, 4))
Q = RNG.standard_normal((4, 3))
a, b = RBF(gamma=0.4), Polynomial(gamma=0.5, degree=2, coef0=1.0)

MADE = {
    "sum": (a + b, lambda k: k(a) + k(b)),
    "product": (a * b, lambda k: k(a) * k(b)),
    "multiple": (2.5 * b, lambda k: 2.5 * k(b)),
    "multiple on the right": (b * 2.5, lambda k: 2.5 * k(b)),
    "nested": (a + 2 * (b * Linear()), lambda k: k(a) + 2 * k(b) * k(Linear())),
    "three": (a + b + Cosine(), lambda k: k(a) + k(b) + k(Cosine())),
}


@pytest.mark.parametrize("name", MADE)
def test_entries_are_those_of_the_parts(name):
    """Oracle: arithmetic on the parts' matrices."""
    kernel, entries = MADE[name]
    np.testing.assert_allclose(kernel.gram(X), entries(lambda k: k.gram(X)), rtol=1e-14)
    np.testing.assert_allclose(kernel.cross(Y, X), entries(lambda k: k.cross(Y, X)), rtol=1e-14)


def test_columns_and_maps():
    """Oracle: the kernel of the columns, and of the mapped points."""
    np.testing.assert_array_equal(a.on([2, 0]).gram(X), a.gram(X[:, [2, 0]]))
    np.testing.assert_array_equal(a.on(1).cross(Y, X), a.cross(Y[:, [1]], X[:, [1]]))
    scaler = StandardScaler().fit(X)
    np.testing.assert_array_equal(a.after(scaler).gram(X), a.gram(scaler.transform(X)))
    np.testing.assert_array_equal(a.after(np.exp).cross(Y, X), a.cross(np.exp(Y), np.exp(X)))


def test_the_course_writes_the_gaussian_by_its_width():
    """Oracle: RBF."""
    np.testing.assert_allclose(Gaussian(0.7).gram(X), RBF(0.5 / 0.49).gram(X), rtol=1e-13)


def test_bilinear():
    """Oracle: x'Bx' by NumPy."""
    B = Q @ Q.T
    np.testing.assert_allclose(Bilinear(B).cross(Y, X), Y @ B @ X.T, rtol=1e-10, atol=1e-12)


ALL = [kernel for kernel, _ in MADE.values()] + [
    a.on([0, 1]) + Laplacian(0.3).on(2),
    Gaussian(0.5),
    Bilinear(Q @ Q.T),
    Linear().after(np.tanh),
    Cosine() * Gaussian(2.0),
    Linear(),
    a,
    *(Polynomial(gamma=0.7, degree=degree, coef0=0.3) for degree in (1, 2, 5)),
    Laplacian(0.5),
    Cosine(),
]


@pytest.mark.parametrize("kernel", ALL, ids=repr)
def test_positive_semi_definite_and_symmetric(kernel):
    """Oracle: eigenvalues, on points that repeat."""
    K = kernel.gram(np.vstack([X, X[:5]]))
    assert is_kernel(K), is_kernel(K)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K[:5], K[40:])


@pytest.mark.parametrize("kernel", [k for k in ALL if k.spec()["name"] != "callable"], ids=repr)
def test_specifications_come_back(kernel):
    """Oracle: the same matrix, bit by bit, after a trip through JSON."""
    again = Kernel.from_spec(json.loads(json.dumps(kernel.spec())))
    np.testing.assert_array_equal(again.gram(X), kernel.gram(X))
    assert repr(again) == repr(kernel)


def test_sums_of_linear_kernels_keep_their_factor():
    """Oracle: Z Z' is the matrix."""
    kernel = Linear().on([0, 1]) + 3.0 * Linear().on(2)
    Z = kernel.factor(X)
    np.testing.assert_allclose(Z @ Z.T, kernel.gram(X), atol=1e-13)
    assert (kernel + a).factor(X) is None


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("coef0", [0.0, 0.7])
def test_explicit_maps_reproduce_polynomial_kernels(degree, coef0):
    """Oracle: the kernel itself."""
    kernel = Polynomial(gamma=0.8, degree=degree, coef0=coef0)
    Z = kernel.feature_map(X)
    assert Z.shape == (40, kernel.n_features(4))
    np.testing.assert_allclose(Z @ Z.T, kernel.gram(X), rtol=1e-10, atol=1e-10)


def test_dimensions_of_the_course():
    """Oracle: the course's counts of monomials, with its slip corrected (11628 is p = 15)."""
    count = lambda p, degree: Polynomial(gamma=1.0, degree=degree).n_features(p)
    assert [count(5, 5), count(10, 5), count(15, 5), count(20, 10)] == [126, 2002, 11628, 20030010]


def test_parameters_of_scikit_learn():
    """Oracle: a kernel made with the other parameters."""
    kernel = 2.0 * RBF(gamma=0.5) + Linear().on([0, 1])
    copy = clone(kernel).set_params(left__kernel__gamma=3.0, right__columns=(2,))
    np.testing.assert_array_equal(copy.gram(X), (2.0 * RBF(3.0) + Linear().on(2)).gram(X))
    assert kernel.get_params()["left__kernel__gamma"] == 0.5
    model = clone(chemin.PathSVC(kernel=kernel)).set_params(kernel__left__scale=5.0)
    assert model.kernel.left.scale == 5.0 and kernel.left.scale == 2.0


def test_parameters_set_after_fit_change_nothing_learned():
    """Oracle: predictions and path before `set_params`."""
    y = np.where(X[:, 0] > 0, 1, -1)
    kernel = RBF(0.4) + Bilinear(np.eye(4))
    for model in (chemin.PathSVC(kernel=kernel, cv=3), chemin.KernelPerceptron(kernel=kernel)):
        before = model.fit(X, y).decision_function(Y)
        model.set_params(kernel__left__gamma=5.0)
        np.testing.assert_array_equal(model.decision_function(Y), before)


def test_a_clone_keeps_its_transformer_fitted():
    """Oracle: the same matrix."""
    kernel = a.after(StandardScaler().fit(X))
    np.testing.assert_array_equal(clone(kernel).gram(X), kernel.gram(X))


def test_paths_take_them_and_save_them(tmp_path):
    """Oracle: the path of the precomputed matrix, and the path before it was saved."""
    kernel = a + 0.5 * Linear().on([0, 3])
    y = np.where(X[:, 0] + 0.5 * RNG.standard_normal(40) > 0, 1, -1)
    path = chemin.svc_path(X, y, kernel=kernel)
    given = chemin.svc_path(kernel.gram(X), y, kernel="precomputed")
    np.testing.assert_allclose(path.breakpoints, given.breakpoints, rtol=1e-9)
    assert path.certificate(path.breakpoints).exact.all()
    path.save(tmp_path / "path")
    again = chemin.load(tmp_path / "path")
    v = path.breakpoints[::5]
    np.testing.assert_array_equal(again.decision_function(Y, v), path.decision_function(Y, v))
    with pytest.raises(ValueError, match="callable"):
        chemin.svc_path(X, y, kernel=a.after(np.tanh)).save(tmp_path / "no")


def test_models_hand_them_over():
    """Oracle: SVC with the same function of points."""
    y = np.where(X[:, 1] + 0.5 * RNG.standard_normal(40) > 0, 1, -1)
    model = chemin.PathSVC(kernel=a + b, cv=3).fit(X, y)
    np.testing.assert_allclose(
        model.to_sklearn().decision_function(Y), model.decision_function(Y), atol=1e-6
    )


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: -2.0 * a, "scale must be .*> 0"),
        (lambda: a.on([]), "columns must be different integers"),
        (lambda: a.on([0, 0]), "columns must be different integers"),
        (lambda: a.on([1.5]), "columns must be different integers"),
        (lambda: a.on([9]).gram(X), "X has 4 columns, but columns has 9"),
        (lambda: a + Spectrum(2), "strings"),
        (lambda: Spectrum(2).on(0), "no columns"),
        (lambda: a.after(StandardScaler()), "not fitted"),
        (lambda: a.after(3), "transformer must be"),
        (lambda: a.after(lambda X: X[:3]).gram(X), "returned 3 rows for 40 points"),
        (lambda: (a + b).cross(Y[:, :2], X), "2 features, but 4 features were expected"),
        (lambda: a.set_params(width=1.0), "no parameter 'width'"),
        (lambda: clone(a).set_params(gamma=-1.0), "gamma must be"),
        (lambda: Gaussian(0.0), "width must be"),
        (lambda: Bilinear([[1.0, 2.0], [2.0, 1.0]]), "B must be positive semi-definite"),
        (lambda: Bilinear(np.eye(3)).gram(X), "B has shape"),
        (lambda: Polynomial(1.0, 2, -1.0).feature_map(X), "coef0 must be >= 0"),
        (lambda: kernel_alignment(np.eye(3), np.eye(4)), "the same points"),
        (lambda: is_kernel(np.ones((2, 3))), "square"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_numbers_do_not_add():
    with pytest.raises(TypeError):
        a + 1.0


def test_what_is_no_kernel_is_told():
    """Oracle: eigenvalues known in closed form, 1 - 2 and 1 + 2."""
    found = is_kernel([[1.0, 2.0], [2.0, 1.0]])
    assert not found and found.n_negative == 1 and "no kernel" in found.advice
    assert found.smallest == pytest.approx(-1.0) and found.largest == pytest.approx(3.0)
    few_digits = np.round(RBF(0.001).gram(X), 9)
    assert not is_kernel(few_digits) and "few digits" in is_kernel(few_digits).advice
    assert "nothing" in is_kernel(np.eye(2)).advice


def test_alignment():
    """Oracle: the formula, entry by entry."""
    K, L, n = a.gram(X), b.gram(X), len(X)
    H = np.eye(n) - 1.0 / n
    K0, L0 = H @ K @ H, H @ L @ H
    expected = (K0 * L0).sum() / np.sqrt((K0 * K0).sum() * (L0 * L0).sum())
    assert kernel_alignment(K, L) == pytest.approx(expected, rel=1e-12)
    y = np.sign(X[:, 0])
    plain = y @ K @ y / (np.linalg.norm(K) * n)
    assert kernel_alignment(K, y, centred=False) == pytest.approx(plain, rel=1e-12)


def test_function_transformers_map_too():
    """Oracle: Newton's law is linear in logarithms: the map makes the fit exact."""
    masses = RNG.uniform(1, 5, size=(60, 3))
    force = np.log(masses[:, 0] * masses[:, 1] / masses[:, 2] ** 2)
    logs = FunctionTransformer(np.log).fit(masses)
    path = chemin.svr_path(masses, force, kernel=Linear().after(logs), epsilon=1e-6, stop=1e-3)
    f = path.decision_function(masses, path.stop)
    assert np.abs(f - force).max() < 1e-5
