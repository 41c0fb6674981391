"""Data sets against the numbers in their README, simulators against their formulas."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from chemin.datasets import available, load, make_sinexp, make_speed_benchmark
from chemin.datasets._files import _folder

ROOT = Path(__file__).parents[1]


@pytest.fixture
def shared(data_names):
    if not data_names:
        pytest.skip("needs the data folder: set CHEMIN_DATA")


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("CHEMIN_DATA", str(tmp_path))
    return tmp_path


# ---------------------------------------------------------------------------- the real files


def test_a_folder_beside_the_checkout_is_found(data_names):
    """Oracle: the folder itself. Where it is, no test may be skipped for want of it."""
    beside = [p / "shared" / "data" for p in (ROOT, *ROOT.parents)]
    there = [str(folder) for folder in beside if folder.is_dir()]
    assert data_names or not there, f"{there[0]} is there, but CHEMIN_DATA leads elsewhere"


def test_a_set_that_is_missing_is_skipped_only_without_a_folder(load_data, data_names):
    """Oracle: what pytest raises. In a folder that is there a missing set is a failure."""
    outcome = pytest.fail.Exception if data_names else pytest.skip.Exception
    with pytest.raises(outcome, match="bostn is not there"):
        load_data("bostn")


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "name, shape, mean, sd",
    [
        ("boston", (506, 13), 22.5328, 9.1971),
        ("abalone_scale", (4177, 8), 9.93368, 3.22417),
        ("longley", (16, 6), 65317, 3511.97),
        ("hald_cement", (13, 4), 95.4231, 15.0437),
        ("prostate", (97, 8), 2.47839, 1.15433),
    ],
)
def test_regression_sets_match_the_readme(name, shape, mean, sd):
    found = load(name)
    assert found.data.shape == shape and len(found.feature_names) == shape[1]
    assert found.data.dtype == found.target.dtype == np.float64
    assert found.target_names is None
    assert found.target.mean() == pytest.approx(mean, rel=1e-5)
    assert found.target.std(ddof=1) == pytest.approx(sd, rel=1e-5)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "name, shape, counts",
    [
        ("australian", (690, 14), {-1: 383, 1: 307}),
        ("a1a_train", (1605, 123), {-1: 1210, 1: 395}),
        ("svmguide1_train", (3089, 4), {0: 1089, 1: 2000}),
        ("svmpath_unbalanced_separated", (11, 2), {-1: 4, 1: 7}),
        (
            "usps_test",
            (2007, 256),
            dict(enumerate([359, 264, 198, 166, 200, 160, 170, 147, 166, 177])),
        ),
    ],
)
def test_classification_sets_match_the_readme(name, shape, counts):
    found = load(name)
    assert found.data.shape == shape and found.data.dtype == np.float64
    values, numbers = np.unique(found.target, return_counts=True)
    assert dict(zip(values.tolist(), numbers.tolist())) == counts
    assert found.target.dtype == np.int64
    assert found.target_names == [str(value) for value in counts]


@pytest.mark.usefixtures("shared")
def test_prostate_split_is_no_feature_and_gives_the_published_fit():
    found = load("prostate")
    assert "train" not in found.feature_names
    assert found.train.dtype == bool and found.train.sum() == 67
    scaled = (found.data - found.data.mean(axis=0)) / found.data.std(axis=0, ddof=1)
    X = np.column_stack([np.ones(67), scaled[found.train]])
    coef = np.linalg.lstsq(X, found.target[found.train])[0]
    # Hastie, Tibshirani, Friedman, The Elements of Statistical Learning, table 3.2.
    table = [2.46, 0.68, 0.26, -0.14, 0.21, 0.31, -0.29, -0.02, 0.27]
    np.testing.assert_allclose(coef, table, atol=0.0051)


@pytest.mark.usefixtures("shared")
def test_promoters_are_strings_with_names():
    found = load("promoters")
    assert found.data.shape == (106, 1) and found.feature_names == ["sequence"]
    assert {len(text) for text in found.data[:, 0]} == {57}
    assert set("".join(found.data[:, 0])) == set("acgt")
    assert len(set(found.row_names)) > 100 and found.row_names[0] == "S10"
    assert np.bincount(found.target + 1).tolist() == [53, 0, 53]


@pytest.mark.usefixtures("shared")
def test_every_file_is_available_and_loads():
    names = available()
    assert names == sorted(path.name.split(".csv")[0] for path in _folder().glob("*.csv*"))
    for name in names:
        found = load(name)
        assert len(found.data) == len(found.target) > 0
        assert found.data.shape[1] == len(found.feature_names)


# ---------------------------------------------------------------------------- files of our own


def test_numbers_come_back_exactly(folder):
    values = np.random.default_rng(0).standard_normal((7, 3)) * 10.0 ** np.arange(-8, -5)
    lines = ["a,b,target", *(",".join(repr(float(v)) for v in row) for row in values)]
    with gzip.open(folder / "exact.csv.gz", "wt") as file:
        file.write("\n".join(lines) + "\n")
    found = load("exact")
    np.testing.assert_array_equal(found.data, values[:, :2])
    np.testing.assert_array_equal(found.target, values[:, 2])
    assert found.feature_names == ["a", "b"]
    assert found.train is None and found.row_names is None
    assert repr(found) == "Dataset('exact', 7 x 2, regression)"


def test_one_row_and_one_feature(folder):
    (folder / "tiny.csv").write_text("a,target\n1.5,2\n")
    assert load("tiny").data.tolist() == [[1.5]]


def test_whole_numbers_with_many_values_are_no_classes(folder):
    rows = "\n".join(f"{i},{i}" for i in range(11))
    (folder / "eleven.csv").write_text("a,target\n" + rows + "\n")
    assert load("eleven").target_names is None
    rows = "\n".join(f"{i},{i}" for i in range(10))
    (folder / "ten.csv").write_text("a,target\n" + rows + "\n")
    assert len(load("ten").target_names) == 10
    assert repr(load("ten")) == "Dataset('ten', 10 x 1, 10 classes)"


def test_unknown_name_says_what_there_is(folder):
    (folder / "tiny.csv").write_text("a,target\n1.5,2\n")
    with pytest.raises(FileNotFoundError, match=r"'bostn'.*tiny.*CHEMIN_DATA must point"):
        load("bostn")


def test_folder_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("CHEMIN_DATA", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match=r"CHEMIN_DATA is .*none.*must point to the folder"):
        load("boston")
    monkeypatch.delenv("CHEMIN_DATA")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"CHEMIN_DATA: it must point to the folder"):
        available()


def test_folder_is_found_above_the_current_directory(monkeypatch, tmp_path):
    data = tmp_path / "shared" / "data"
    data.mkdir(parents=True)
    (data / "tiny.csv").write_text("a,target\n1.5,2\n")
    below = tmp_path / "main" / "docs"
    below.mkdir(parents=True)
    monkeypatch.delenv("CHEMIN_DATA", raising=False)
    for place in (tmp_path / "main", below):
        monkeypatch.chdir(place)
        assert available() == ["tiny"]


# ---------------------------------------------------------------------------- simulators


def test_sinexp_is_its_formula():
    X, y = make_sinexp(200, 3)
    assert X.shape == (200, 1) and X.min() >= 0 and X.max() <= 1
    np.testing.assert_allclose(y, np.sin(np.exp(3 * X[:, 0])), rtol=1e-15)
    np.testing.assert_array_equal(make_sinexp(200, 3)[0], X)
    assert not np.array_equal(make_sinexp(200, 4)[0], X)


def test_sinexp_noise_has_its_standard_deviation():
    X, y = make_sinexp(20_000, 0, noise=0.3)
    np.testing.assert_array_equal(X, make_sinexp(20_000, 0)[0])
    residuals = y - np.sin(np.exp(3 * X[:, 0]))
    assert residuals.std() == pytest.approx(0.3, rel=0.03)  # five standard errors are 0.025


@pytest.mark.parametrize(
    "arguments, parts",
    [({"n": 0}, "n must be.*0"), ({"noise": -1}, "noise.*-1"), ({"noise": np.nan}, "noise.*nan")],
)
def test_sinexp_refused(arguments, parts):
    with pytest.raises(ValueError, match=parts):
        make_sinexp(**arguments)


def test_speed_benchmark_is_scikit_learns_data_standardised():
    X, y = make_speed_benchmark(300, 7)
    raw, labels = make_classification(
        300, 20, n_informative=8, flip_y=0.05, class_sep=0.8, random_state=7
    )
    np.testing.assert_array_equal(y, labels)
    np.testing.assert_allclose(X, (raw - raw.mean(axis=0)) / raw.std(axis=0), atol=1e-12)


def test_import_does_not_import_scikit_learn():
    def imported(module):
        code = f"import sys, {module}; print('sklearn' in sys.modules)"
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return run.stdout

    # The package around it may; the data sets must not add to that.
    assert imported("chemin.datasets") == imported("chemin")
