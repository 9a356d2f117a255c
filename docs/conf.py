"""Sphinx configuration: ``make docs``."""

from invarlearn import __version__

project = "invarlearn"
author = "The invarlearn developers"
copyright = "2026, the invarlearn developers"
release = version = __version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
html_theme = "pydata_sphinx_theme"
html_title = "invarlearn"
html_theme_options = {"navigation_with_keys": False}
exclude_patterns = ["_build"]
autosummary_generate = True
autosummary_imported_members = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
myst_heading_anchors = 3
# docstrings inherited from scikit-learn refer to labels of its own documentation
suppress_warnings = ["ref.ref"]
