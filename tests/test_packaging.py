"""What is installed is what the source tree holds.

Oracles: the source tree itself, pyproject.toml, NumPy.
"""

import re
import tomllib
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import distribution, version
from pathlib import Path

import numpy as np
import pytest

import chemin

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "chemin"
INSTALLED = Path(chemin.__file__).parent

# Sources of compiled modules stay at home: the core is private, nobody cimports it.
NOT_INSTALLED = {".pyx", ".pxd", ".pxi", ".c", ".h"}

needs_source = pytest.mark.skipif(
    not (ROOT / "pyproject.toml").is_file(),
    reason="the source tree is not beside the tests: nothing to compare the installation with",
)


def files(root):
    """Path below the root -> the file, without caches, hidden files and compiled modules."""
    found = {path.relative_to(root): path for path in root.rglob("*") if path.is_file()}
    return {
        path: file
        for path, file in found.items()
        if not any(part.startswith(".") or part == "__pycache__" for part in path.parts)
        and not path.name.endswith(tuple(EXTENSION_SUFFIXES))
    }


def module_names(root, suffixes):
    """Path below the root, without its suffix, of every file that ends with one of them."""
    found = set()
    for path in root.rglob("*"):
        suffix = next((s for s in suffixes if path.name.endswith(s)), None)
        if suffix is not None:
            found.add(path.relative_to(root).with_name(path.name.removesuffix(suffix)))
    return found


@needs_source
def test_tests_run_on_the_installed_package():
    assert INSTALLED.resolve() != SOURCE.resolve(), "src/ is on the path: use `make test`"


@needs_source
def test_installed_tree_equals_source_tree():
    source = {path for path in files(SOURCE) if path.suffix not in NOT_INSTALLED}
    installed = set(files(INSTALLED))
    assert Path("py.typed") in installed
    assert sorted(source - installed) == [], "missing from the installation"
    assert sorted(installed - source) == [], "installed, but not in the source tree"


@needs_source
def test_installed_files_are_those_of_the_source_tree():
    source = files(SOURCE)
    stale = [
        path
        for path, file in files(INSTALLED).items()
        if path in source and file.read_bytes() != source[path].read_bytes()
    ]
    assert stale == [], "installed from an older source tree: use `make test`"


@needs_source
def test_every_cython_source_is_a_compiled_module():
    assert module_names(INSTALLED, EXTENSION_SUFFIXES) == module_names(SOURCE, [".pyx"])


def test_installation_records_its_files():
    recorded = {str(path) for path in distribution("chemin").files}
    assert "chemin/py.typed" in recorded
    assert any(path.endswith("licenses/LICENSE") for path in recorded)


def test_version_is_that_of_the_metadata():
    assert chemin.__version__ == version("chemin")


@needs_source
def test_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert chemin.__version__ == project["version"]
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == project["version"]


class TestCompiledCore:
    """The extension module imports, and its BLAS agrees with NumPy."""

    @pytest.mark.parametrize("n, free", [(2, 1), (30, 7), (30, 29), (200, 60)])
    def test_push_equals_numpy(self, n, free):
        """Oracle: M x by NumPy, for a step x of the free variables."""
        from chemin.engine._verify import Core

        from chemin.problems import SVC

        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, 3))
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        K = X @ X.T + np.eye(n)
        K.flags.writeable = False  # read-only arrays are welcome
        system = SVC(K, y, np.ones(n)).system
        stair = np.append(np.where(np.arange(n) < free, 2, 1), 2)
        core = Core(system, 16)
        index = np.flatnonzero(stair == 2)
        H = np.linalg.inv(system.coupling.block(index, index))
        core.load(stair, np.zeros(n + 1), 1.0, -1.0, H)
        x = np.zeros(n + 1)
        x[index] = rng.normal(size=len(index))
        np.testing.assert_allclose(core.push(x[index]), system.coupling.dot(x), atol=1e-12)
