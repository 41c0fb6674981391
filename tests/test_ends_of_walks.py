"""Where walks begin: above the first event.

Oracles: NumPy's generator, walks from further above, certificates.
"""

from importlib import import_module

import numpy as np
import pytest

from chemin import nu_svr_path, svc_path
from contract import assert_exact

SHARES = [0.5, 0.15]  # of the positive class


def labelled(share, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(np.argsort(np.argsort(X[:, 0] + rng.normal(size=n))) >= (1 - share) * n, 1, -1)
    return X, y, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("seed", [0, 1])
def test_random_numbers_are_those_of_numpy(seed):
    """Those that are kept, those made later, and any across the end of the kept ones."""
    follow = import_module("chemin.engine.follow")
    offsets, rng = follow._Offsets(seed), np.random.Generator(np.random.PCG64(seed))
    for size in [7, (2, 30), follow.KEPT - 100, 90, (3, 5), follow.KEPT]:
        np.testing.assert_array_equal(offsets.random(size), rng.random(size))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_happens_above_where_a_walk_begins(share, kernel, weighted):
    """Whether entries of K may be negative or not."""
    X, y, w = labelled(share)
    options = {"kernel": kernel, "gamma": 0.3, "stop": 1e-3}
    options["sample_weight"] = w if weighted else None
    path = svc_path(X, y, **options)
    bound = path._problem.start().t * path._problem.unit
    above = svc_path(X, y, start=100 * bound, **options)
    assert path.start <= bound
    values = np.geomspace(10 * bound, path.stop, 50)
    f, g = (p.decision_function(X, values) for p in (path, above))
    np.testing.assert_allclose(f, g, atol=1e-8)
    assert_exact(path)


def nearly_coincident():
    """28 points at three places, but for a millionth: classes and weights."""
    place = [1, 2, 0, 1, 2, 1, 1, 0, 2, 0, 1, 0, 1, 1, 0, 0, 2, 0, 1, 0, 2, 0, 0, 0, 1, 0, 1, 1]
    off = [
        -1408,
        2171,
        -140,
        -665,
        -374,
        430,
        102,
        222,
        2163,
        -421,
        573,
        336,
        -435,
        -1409,
        -559,
        -49,
        -777,
        1788,
        -2744,
        -225,
        -1519,
        -1046,
        713,
        772,
        72,
        -943,
        -33,
        -1156,
        518,
        -572,
        867,
        215,
        538,
        -928,
        98,
        -2058,
        886,
        -152,
        462,
        527,
        275,
        -804,
        711,
        2457,
        -104,
        813,
        -1302,
        1474,
        218,
        -1952,
        218,
        -429,
        -776,
        -1194,
        619,
        768,
    ]
    positive = [2, 11, 14, 15, 17, 21]
    w = [
        46,
        46,
        586,
        287,
        189,
        248,
        260,
        190,
        285,
        288,
        267,
        882,
        210,
        298,
        645,
        787,
        137,
        356,
        36,
        87,
        210,
        803,
        205,
        221,
        279,
        136,
        126,
        106,
    ]
    X = 5.0 * np.array(place)[:, None] + 1e-9 * np.reshape(off, (28, 2))
    return X, np.where(np.isin(np.arange(28), positive), 1, -1), 0.01 * np.array(w)


@pytest.mark.parametrize("stop", [1e-7, 0.0])
def test_walks_back_within_walks_back_come_to_an_end(stop):
    """Oracle: the certificate, of what was walked. Each walk back met drift of its own, until
    Python had no room for more.
    """
    X, y, w = nearly_coincident()
    options = {"kernel": "poly", "degree": 2, "coef0": 1.0, "sample_weight": w}
    path = svc_path(X, y, **options, stop=stop)
    assert path.complete or path.reason.startswith("round-off")
    assert_exact(path)


def test_drift_that_is_walked_away_without_end_comes_to_one():
    """Oracle: the certificate. 36 points at three places, but for a hundred-thousandth: each
    walk back was followed by another a little further down, until the walk was ended by hand.
    """
    place = [
        1,
        0,
        2,
        0,
        0,
        1,
        1,
        1,
        2,
        2,
        2,
        0,
        0,
        2,
        2,
        2,
        1,
        2,
        2,
        1,
        1,
        2,
        0,
        1,
        2,
        2,
        0,
        0,
        0,
        2,
        1,
        2,
        2,
        2,
        2,
        2,
    ]
    off = [
        -1243,
        -1364,
        1504,
        -1238,
        -1570,
        -737,
        -539,
        -2010,
        2013,
        288,
        1044,
        -900,
        2199,
        -2743,
        -4852,
        987,
        -791,
        1611,
        1683,
        -747,
        -313,
        -2986,
        -1012,
        278,
        -1892,
        3640,
        -3023,
        -1048,
        2115,
        -2563,
        666,
        -912,
        710,
        -2259,
        -1804,
        2373,
        2612,
        -536,
        -679,
        457,
        2902,
        2356,
        2072,
        -3494,
        -1078,
        1362,
        -201,
        301,
        2406,
        -1882,
        1004,
        -734,
        -2164,
        2709,
        1261,
        -1424,
        1198,
        173,
        -1930,
        -1949,
        -3021,
        3516,
        857,
        1762,
        -1631,
        -2715,
        2768,
        -1972,
        98,
        -2089,
        -204,
        -2154,
        -2258,
        895,
        109,
        -1765,
        -996,
        4719,
        915,
        839,
        -91,
        1805,
        -3118,
        -901,
        -3035,
        -961,
        776,
        -750,
        3308,
        -800,
        -384,
        -2727,
        2366,
        1452,
        763,
        -2501,
        364,
        1099,
        -1144,
        2615,
        625,
        2860,
        -340,
        1700,
        -1898,
        -919,
        1652,
        1431,
    ]
    y = [
        2,
        2,
        1,
        2,
        2,
        2,
        1,
        1,
        1,
        0,
        1,
        1,
        2,
        2,
        0,
        1,
        1,
        2,
        2,
        0,
        1,
        0,
        0,
        0,
        1,
        2,
        0,
        1,
        1,
        0,
        0,
        2,
        1,
        0,
        2,
        1,
    ]
    w = [
        230,
        286,
        207,
        137,
        260,
        26,
        182,
        244,
        166,
        225,
        254,
        62,
        111,
        167,
        223,
        184,
        93,
        92,
        77,
        35,
        147,
        258,
        97,
        204,
        139,
        248,
        152,
        278,
        250,
        160,
        283,
        249,
        176,
        282,
        243,
        240,
    ]
    X = (500_000_000 * np.array(place)[:, None] + np.reshape(off, (36, 3))) / 1e8
    path = nu_svr_path(X, np.array(y, float), nu=0.4, sample_weight=np.array(w) / 100, stop=10.0)
    assert_exact(path)


def hidden():
    """A C-SVM on repeated points in which nothing happens down to where round-off hides it all."""
    x = [-24, -74, -123, -45, -123, -123, -123, -123, -114, -61]
    x += [-221, -120, 56, -114, -20, -61, -24, -45, -114, -20]
    positive = [1, 2, 4, 5, 8, 14, 17]
    w = [4, 1, 1, 2, 1, 2, 2, 1, 2, 1, 4, 2, 1, 4, 2, 1, 1, 2, 4, 2]
    options = {"gamma": 0.938330816226937, "sample_weight": 0.5 * np.array(w)}
    return 0.01 * np.array(x)[:, None], np.isin(np.arange(20), positive), options


@pytest.mark.parametrize("stop", [None, 0.0])
def test_what_lies_above_a_start_that_is_hidden_is_shown(stop):
    """Oracle: a stop far above, where nothing is hidden. Such paths were empty."""
    X, y, options = hidden()
    shown = svc_path(X, y, **options, stop=stop)
    assert shown.n_events == 0 and shown.stop < 1e-3 < 10 < shown.start
    assert not shown.complete and "hides what comes next" in shown.reason
    assert_exact(shown)
    above, values = svc_path(X, y, **options, stop=1e-3), np.geomspace(1e-3, 100.0, 30)
    f, g = (path.decision_function(X, values) for path in (shown, above))
    np.testing.assert_allclose(f, g, rtol=1e-9)
