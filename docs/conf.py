"""The manual: `make docs` builds it into docs/_build/html, with warnings as errors."""

import sys
from importlib import metadata
from pathlib import Path

import matplotlib
from docutils import nodes

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parent))  # gallery_order

project = "chemin"
author = "chemin contributors"
copyright = "chemin contributors"
try:
    release = metadata.version("chemin")
except metadata.PackageNotFoundError:  # a source tree on the path, not installed
    release = "0"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/**.ipynb", "auto_examples/**.py"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
pygments_style = "friendly"

# ---------------------------------------------------------------------- reference

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False  # the page of a class lists them, see _templates
default_role = "literal"


def formulas(app, what, name, obj, options, lines):
    """An indented block before the first section of a docstring is a formula, as it stands."""
    before = True  # the line above is blank and belongs to plain text
    for k, line in enumerate(lines):
        if line.startswith("---"):
            return
        if before and line.startswith("    "):
            lines[k:k] = [".. code-block:: text", ""]
            return
        before = not line.strip()


def inherited(app, what, name, obj, skip, options):
    """What estimators have from scikit-learn is described there."""
    return True if str(getattr(obj, "__module__", "")).startswith("sklearn.") else None


def without_blank_ends(app, doctree):
    """Examples end with a blank line, where doctest wants one; a page has no use for it."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip()
        block.children = [nodes.Text(block.rawsource)]


def setup(app):
    app.connect("doctree-read", without_blank_ends)
    app.connect("autodoc-process-docstring", formulas, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", inherited)


# ---------------------------------------------------------------------- gallery

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"(^|[/\\])(?!plot_)[^/\\]+\.py$",  # demo.py is for `make demo`
    "doc_module": ("chemin",),
    "backreferences_dir": "auto_examples/uses",
    "reference_url": {"chemin": None},
    "within_subsection_order": "gallery_order.Order",
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "min_reported_time": 5,
    "abort_on_example_error": True,
}

# ---------------------------------------------------------------------- pages

html_theme = "pydata_sphinx_theme"
html_title = "chemin"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["chemin.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
# A list of neighbours stands beside the pages of the guide and of the reference.
html_sidebars = {page: [] for page in ("index", "start", "search", "genindex", "auto_examples/**")}
