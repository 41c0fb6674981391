"""The manual does what it says. Oracle: the output printed beside every example."""

import doctest
from pathlib import Path

import pytest

import chemin
from chemin import display

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("docs/*.md"))
RUN = [p for p in [ROOT / "README.md", *PAGES] if p.is_file() and ">>> " in p.read_text("utf-8")]
OBJECTS = [
    chemin.svc_path,
    chemin.svr_path,
    chemin.quantile_path,
    chemin.lasso_path,
    chemin.PathNuSVR,
    chemin.selection.LeaveOneOutOnPath,
    chemin.Path,
    chemin.load,
    display.PathDisplay,
    display.CurveDisplay,
]


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


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: thing.__name__)
def test_docstring(thing):
    """Oracle: the output printed beside the example; `chemin` is there already."""
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(
        thing, globs={"chemin": chemin, thing.__name__: thing}
    ):
        assert runner.run(test).failed == 0, test.name


def test_reference_names_everything_public():
    """Oracle: `__all__`."""
    page = (ROOT / "docs" / "api.md").read_text("utf-8").split()
    modules = {"": chemin, "display.": display, "selection.": chemin.selection}
    names = [
        prefix + n for prefix, m in modules.items() for n in m.__all__ if callable(getattr(m, n))
    ]
    missing = [n for n in names if n not in page]
    assert missing == [], "one line in docs/api.md"
