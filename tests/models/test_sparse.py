"""Sparse points: the same paths, curves and models as of the same points dense."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import (
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import chemin
from chemin import PathLasso, PathNuSVR, PathSVC, PathSVR, svc_path
from chemin.kernels import SparseGram, make_kernel
from chemin.kernels._make import weighted_variance

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")

KERNELS = {
    "linear": linear_kernel,
    "poly": lambda A, B: polynomial_kernel(A, B, gamma=0.3, coef0=1.0),
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=0.3),
    "sigmoid": lambda A, B: sigmoid_kernel(A, B, gamma=0.3, coef0=1.0),
    "laplacian": lambda A, B: laplacian_kernel(A, B, gamma=0.3),
    "cosine": cosine_similarity,
}


@pytest.fixture(scope="module")
def data():
    """60 points, most entries 0; one row is empty, one is there twice."""
    X, y = make_classification(60, 12, flip_y=0.15, random_state=0)
    X[np.abs(X) < 0.8] = 0.0
    X[5], X[7] = 0.0, X[6]
    return X, y


@pytest.mark.parametrize("name", KERNELS)
def test_kernels(data, name):
    """Oracle: scikit-learn's function on dense points; two equal rows are equal bit by bit."""
    X, _ = data
    kernel = make_kernel(name, gamma=0.3, coef0=1.0)
    S = sparse.csr_matrix(X)
    K = kernel.gram(S)
    np.testing.assert_allclose(K, KERNELS[name](X, X), atol=1e-12)
    np.testing.assert_array_equal(K[6], K[7])
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.cross(S[:9], S), KERNELS[name](X[:9], X), atol=1e-12)
    np.testing.assert_allclose(kernel.cross(X[:9], S), kernel.cross(S[:9], X), atol=1e-12)


def test_distances_without_cancellation():
    """Oracle: dense points, whose distances are taken coordinate by coordinate far from 0."""
    X = sparse.random(40, 30, 0.2, random_state=0).toarray()
    kernel = make_kernel("rbf", gamma=1e4)
    X[:20] = X[20:] + 1e-3 * (X[20:] > 0)
    near = kernel.gram(sparse.csr_array(X))
    np.testing.assert_allclose(near, kernel.gram(X), rtol=1e-10)


@pytest.mark.parametrize("form", ["csr_matrix", "csc_array", "coo_matrix", "lil_array"])
def test_every_form(data, form):
    """Oracle: the dense path; entries that are stored twice are added, stored zeros are zeros."""
    X, y = data
    path, expected = svc_path(getattr(sparse, form)(X), y), svc_path(X, y)
    assert len(path) == len(expected)
    np.testing.assert_allclose(path.breakpoints, expected.breakpoints, rtol=1e-8)
    assert path.certificate(path.stop).exact
    S = sparse.csr_matrix(X)
    doubled = sparse.csr_matrix(
        (np.append(S.data, 0.0), np.append(S.indices, 3), S.indptr), S.shape
    )
    assert svc_path(doubled, y).start == pytest.approx(expected.start)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
@pytest.mark.parametrize("make", [PathSVC, PathSVR, PathNuSVR])
def test_models(data, make, kernel):
    """Oracle: the same fit on dense points, to 1e-10 of the largest f."""
    X, y = data
    options = {"kernel": kernel, "cv": 3, "stop": 0.1}
    dense = make(**options).fit(X, y)
    model = make(**options).fit(sparse.csr_matrix(X), y)
    assert model.lambda_ == pytest.approx(dense.lambda_, rel=1e-8)
    assert model.curve_.minimum == pytest.approx(dense.curve_.minimum, rel=1e-9)
    f, expected = (
        m.decision_function(P) if make is PathSVC else m.predict(P)
        for m, P in ((model, sparse.csc_matrix(X)), (dense, X))
    )
    np.testing.assert_allclose(f, expected, atol=1e-8)
    assert sparse.issparse(model.support_vectors_)
    same = model.path_.decision_function(sparse.csr_matrix(X), dense.lambda_)
    expected = dense.path_.decision_function(X, dense.lambda_)
    np.testing.assert_allclose(same, expected, atol=1e-10 * np.abs(expected).max())


def test_the_scale_of_gamma(data):
    """Oracle: the variance of dense points, with and without weights."""
    X, _ = data
    w = np.arange(len(X)) % 3 * 1.0
    for weight in (None, w):
        got = weighted_variance(sparse.csr_array(X), weight)
        assert got == pytest.approx(weighted_variance(X, weight), rel=1e-12)


def test_saved_and_read(data, tmp_path):
    """Oracle: the path that was saved."""
    X, y = data
    path = svc_path(sparse.csr_matrix(X), y)
    path.save(tmp_path / "sparse")
    again = chemin.load(tmp_path / "sparse")
    value = 0.1 * path.start
    np.testing.assert_array_equal(
        again.decision_function(X, value), path.decision_function(X, value)
    )


def test_text():
    """Oracle: the labels of texts made of the words of their class, in four classes."""
    rng = np.random.default_rng(0)
    words = [f"{topic}{k}" for topic in ("ball", "vote", "star", "bread") for k in range(12)]
    y = np.arange(80) % 4
    texts = [" ".join(rng.choice(words[12 * c : 12 * c + 20], 8)) for c in y]
    model = make_pipeline(TfidfVectorizer(), PathSVC(kernel="linear", cv=3)).fit(texts[:60], y[:60])
    assert model.score(texts[60:], y[60:]) > 0.8
    assert model[-1].coef_.shape == (6, model[0].transform(texts).shape[1])


def test_one_hot():
    """Oracle: the same encoder with dense output."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, 4, (80, 5))
    y = (table[:, 0] + table[:, 1] > 3) ^ (rng.random(80) < 0.1)
    model = make_pipeline(OneHotEncoder(), PathSVC(cv=3)).fit(table, y)
    dense = make_pipeline(OneHotEncoder(sparse_output=False), PathSVC(cv=3)).fit(table, y)
    assert model[-1].lambda_ == pytest.approx(dense[-1].lambda_, rel=1e-6)
    np.testing.assert_array_equal(model.predict(table), dense.predict(table))


def test_bad_input(data):
    """Oracle: the message names what is wrong."""
    X, y = data
    S = sparse.csr_matrix(X)
    S.data[3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        svc_path(S, y)
    with pytest.raises(ValueError, match=r"X with kernel=.precomputed. is a sparse"):
        svc_path(sparse.csr_matrix(X @ X.T), y, kernel="precomputed")
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        PathSVC(kernel=linear_kernel).fit(sparse.csr_matrix(X), y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        PathLasso().fit(sparse.csr_matrix(X), y)


# ---------------------------------------------------------------------- kernels too large to store


@pytest.fixture
def never_stored(monkeypatch):
    """Sparse factors take the place of kernel matrices of any size."""
    monkeypatch.setattr("chemin.kernels._named.LARGE", 0)
    monkeypatch.setattr("chemin.kernels._named.SPARSE", 1)


def random_points(seed, n, d, density=0.08):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, density, "csr", random_state=seed, data_rvs=rng.standard_normal)
    y = np.where(X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0, 1, -1)
    return X, y, rng


def test_sparse_gram_is_the_matrix():
    """Oracle: Z Z' as an array."""
    Z, _, rng = random_points(0, 30, 50)
    gram, K = SparseGram(sparse.csr_array(Z)), (Z @ Z.T).toarray()
    v, some, few = rng.normal(size=(30, 3)), np.array([3, 0, 17]), np.array([5, 2])
    size = np.abs(Z.toarray())
    np.testing.assert_allclose(gram @ v, K @ v, atol=1e-12)
    np.testing.assert_allclose(gram @ v[:, 0], K @ v[:, 0], atol=1e-12)
    np.testing.assert_allclose(gram.magnitude(v), size @ size.T @ np.abs(v), atol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), np.diag(K), atol=1e-12)
    np.testing.assert_allclose(gram.block(some, few), K[np.ix_(some, few)], atol=1e-12)
    np.testing.assert_allclose(gram.rows(some), K[some], atol=1e-12)
    np.testing.assert_allclose(gram.rows(4), K[4], atol=1e-12)
    np.testing.assert_allclose(gram.among(some) @ v[:3], K[np.ix_(some, some)] @ v[:3], atol=1e-12)
    np.testing.assert_allclose(gram.own(K @ K[:, :30]), np.diag(K @ K @ K), atol=1e-9)


@pytest.mark.parametrize("shape", [(60, 30), (150, 400), (300, 100)])
@pytest.mark.parametrize("intercept", [True, False])
def test_path_on_a_sparse_factor(shape, intercept, never_stored):
    """Oracles: the path on the matrix of the same points dense; certificates."""
    X, y, rng = random_points(1, *shape)
    weight = rng.uniform(0.5, 2.0, size=len(y))
    known = svc_path(
        (X @ X.T).toarray(), y, kernel="precomputed", sample_weight=weight, intercept=intercept
    )
    path = svc_path(X, y, kernel="linear", sample_weight=weight, intercept=intercept)
    assert isinstance(path.problem.gram, SparseGram)
    assert path.complete
    values = np.geomspace(path.stop, path.start, 30)
    expected = known.coefficients(values)[0]
    found = path.coefficients(values)[0]
    np.testing.assert_allclose(found, expected, atol=1e-10 * np.abs(expected).max())
    assert path.certificate(values).exact.all()


def test_regression_and_rows_left_out(never_stored):
    """Oracle: the same on dense points; rows of weight 0 take no part, three rows are copies."""
    X, _, rng = random_points(2, 80, 120)
    X = sparse.csr_array(sparse.vstack([X, X[:3]]))
    y, weight = rng.normal(size=83), np.ones(83)
    weight[10:20] = 0.0
    paths = [
        chemin.svr_path(points, y, kernel="linear", sample_weight=weight)
        for points in (X, X.toarray())
    ]
    values = np.geomspace(max(p.stop for p in paths), paths[0].start, 20)
    f, expected = (path.decision_function(X.toarray(), values) for path in paths)
    np.testing.assert_allclose(f, expected, atol=1e-10 * np.abs(expected).max())
    assert paths[0].certificate(values).exact.all()


@pytest.mark.parametrize("classes", [2, 3])
def test_choosing_on_a_sparse_factor(classes, never_stored):
    """Oracle: the same model on dense points, whose kernel matrix is stored."""
    X, _, rng = random_points(3, 90, 150)
    y = (X @ rng.normal(size=(150, classes)) + 0.3 * rng.normal(size=(90, classes))).argmax(axis=1)
    found = PathSVC(kernel="linear", cv=3).fit(X, y)
    expected = PathSVC(kernel="linear", cv=3).fit(X.toarray(), y)
    assert found.curve_.minimum == pytest.approx(expected.curve_.minimum, abs=1e-12)
    assert found.lambda_ == pytest.approx(expected.lambda_, rel=1e-9)
    np.testing.assert_allclose(
        found.decision_function(X), expected.decision_function(X.toarray()), atol=1e-9
    )
