"""Sphinx configuration: ``make docs``."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

from invarlearn import __version__

project = "invarlearn"
author = "The invarlearn developers"
copyright = "2026, the invarlearn developers"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
html_theme = "pydata_sphinx_theme"
html_title = "invarlearn"
html_theme_options = {"navigation_with_keys": False, "show_prev_next": False}
# pages without subpages have no list of subpages
html_sidebars = {"index": [], "start": []}
exclude_patterns = ["_build"]
autosummary_generate = True
autosummary_imported_members = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
# inherited docstrings refer to labels in the documentation of scikit-learn
suppress_warnings = ["ref.ref", "config.cache"]


def figures_of(block, block_vars, gallery_conf):
    """Save the figures that a block of a tutorial created without pyplot."""
    seen = block_vars["example_globals"].setdefault("_shown", [])
    values = block_vars["example_globals"].values()
    new = [value for value in values if isinstance(value, Figure) and value not in seen]
    seen += new
    paths = []
    for figure, path in zip(new, block_vars["image_path_iterator"], strict=False):
        figure.savefig(path, dpi=110)
        paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "image_scrapers": (figures_of,),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "show_signature": False,
    "capture_repr": (),
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": "$^",
}
