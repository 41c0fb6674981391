"""The manual does what it says. Oracle: the output printed beside every example."""

import doctest
from pathlib import Path

import pytest

import chemin
from chemin import display

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("docs/*.md"))
RUN = [p for p in [ROOT / "README.md", *PAGES] if p.is_file() and ">>> " in p.read_text("utf-8")]
MODULES = {
    "": chemin,
    "datasets.": chemin.datasets,
    "display.": display,
    "kernels.": chemin.kernels,
    "selection.": chemin.selection,
}


def examples(thing):
    """The docstrings with examples of an object and its methods; `chemin` is known there."""
    known = {"chemin": chemin, thing.__name__: thing}
    return [t for t in doctest.DocTestFinder().find(thing, globs=known) if t.examples]


def public():
    """Every public function and class, by name."""
    for prefix, module in MODULES.items():
        for name in module.__all__:
            if callable(thing := getattr(module, name)):
                yield prefix + name, thing


OBJECTS = {name: thing for name, thing in public() if examples(thing)}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Files that an example writes, and figures that it opens, do not stay."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_page(page):
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("name", OBJECTS)
def test_docstring(name):
    """Oracle: the output printed beside the example."""
    runner = doctest.DocTestRunner()
    for test in examples(OBJECTS[name]):
        assert runner.run(test).failed == 0, test.name


def test_functions_and_estimators_show_an_example():
    """Oracle: `__all__`. What a newcomer calls first has an example that is run."""
    first = [n for n in chemin.__all__ if n.endswith("_path") or n.startswith("Path")]
    assert len(first) > 5
    assert [n for n in first if n not in OBJECTS] == [], "no example in the docstring"


def test_reference_names_everything_public():
    """Oracle: `__all__`."""
    page = (ROOT / "docs" / "api.md").read_text("utf-8").split()
    missing = [name for name, _ in public() if name not in page]
    assert missing == [], "one line in docs/api.md"


def test_the_first_page_lists_all_paths():
    """Oracle: the public names that end in _path."""
    page = (ROOT / "docs/start.md").read_text("utf-8")
    missing = [name for name in chemin.__all__ if name.endswith("_path") and name not in page]
    assert not missing
