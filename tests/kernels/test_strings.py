"""Kernels of strings against naive counts."""

from collections import Counter

import numpy as np
import pytest

import chemin
from chemin.kernels import Spectrum, is_kernel

TEXTS = ["abracadabra", "cadabra", "barbara", "abba", "été à la mer", "αβγαβ"]


def naive(x, z, k, blended=False):
    total = 0
    for length in range(1 if blended else k, k + 1):
        a, b = (Counter(s[i : i + length] for i in range(len(s) - length + 1)) for s in (x, z))
        total += sum(a[u] * b[u] for u in a)
    return float(total)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("blended", [False, True])
def test_counts(k, blended):
    """Oracle: a loop over substrings."""
    kernel = Spectrum(k, blended=blended)
    expected = [[naive(x, z, k, blended) for z in TEXTS] for x in TEXTS]
    np.testing.assert_array_equal(kernel.gram(TEXTS), expected)
    np.testing.assert_array_equal(kernel.cross(TEXTS[:2], TEXTS), expected[:2])


def test_normalised():
    """Oracle: K_ij / sqrt(K_ii K_jj)."""
    K = Spectrum(2).gram(TEXTS)
    expected = K / np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    np.testing.assert_allclose(Spectrum(2, normalised=True).gram(TEXTS), expected, rtol=1e-14)


@pytest.mark.parametrize("blended", [False, True])
@pytest.mark.parametrize("normalised", [False, True])
def test_positive_semi_definite(blended, normalised):
    """Oracle: eigenvalues."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abc"), rng.integers(3, 12))) for _ in range(40)]
    for k in (1, 2, 3):
        found = is_kernel(Spectrum(k, blended=blended, normalised=normalised).gram(texts))
        assert found, found


def test_short_strings_of_a_blended_kernel():
    """Oracle: the naive count; strings without any substring are similar to nothing."""
    kernel = Spectrum(3, blended=True, normalised=True)
    K = kernel.gram(["a", "", "abc"])
    assert K[1].tolist() == [0.0, 0.0, 0.0] and K[0, 0] == pytest.approx(1.0)


def promoters(load_data):
    found = load_data("promoters")
    return found.data[:, -1], found.target


def test_promoters(load_data):
    """Oracle: the naive count; and the published errors of 4 (KBANN) to 19 (ID3) out of 106."""
    X, y = promoters(load_data)
    counts = [Counter(x[i : i + 3] for i in range(len(x) - 2)) for x in X]
    expected = [[sum(a[u] * b[u] for u in a) for b in counts] for a in counts]
    np.testing.assert_array_equal(Spectrum(3).gram(X), expected)
    path = chemin.svc_path(X, y, kernel=Spectrum(5, normalised=True))
    f = path.leave_one_out(path.breakpoints[::10])
    wrong = (f > 0) != (y > 0)[:, None]
    assert wrong.sum(axis=0).min() <= 4


@pytest.mark.filterwarnings("ignore:the minimum of the 0/1 error sits at")
def test_models_of_strings(tmp_path):
    """Oracle: the model of the precomputed matrix."""
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("acgt"), 12)) for _ in range(40)]
    y = np.array([t.count("ca") + t.count("ta") > 1 for t in texts])
    kernel = Spectrum(2)
    model = chemin.PathSVC(kernel=kernel, cv=3).fit(texts, y)
    given = chemin.PathSVC(kernel="precomputed", cv=3).fit(kernel.gram(texts), y)
    assert model.lambda_ == pytest.approx(given.lambda_, rel=1e-6)
    new = ["tatacc", "acgt"]
    cross = kernel.cross(new, texts)
    np.testing.assert_allclose(
        model.decision_function(new), given.decision_function(cross), atol=1e-8
    )
    model.path_.save(tmp_path / "strings")
    again = chemin.load(tmp_path / "strings")
    v = model.lambda_
    np.testing.assert_array_equal(
        again.decision_function(new, v), model.path_.decision_function(new, v)
    )


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: Spectrum(0), "k must be a whole number"),
        (lambda: Spectrum(2.5), "k must be a whole number"),
        (lambda: Spectrum(2, blended="yes"), "blended must be True or False"),
        (lambda: Spectrum(3).gram(["abc", 7]), r"X\[1\] is 7 of type int"),
        (lambda: Spectrum(3).gram([["a", "b"]]), "sequence of strings"),
        (lambda: Spectrum(1).gram(np.array([[0.5, 1.2]])), "must hold strings .* got numbers"),
        (lambda: Spectrum(5).gram(["abcdef", "abc"]), r"X\[1\] has 3 letters, .* k = 5"),
        (lambda: Spectrum(2).cross(["a"], ["abc"]), r"X_new\[0\] has 1 letters"),
        (lambda: chemin.svc_path([1, 2], [0, 1], kernel=Spectrum(1)), "must hold strings"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
