"""Configuration of the documentation (Sphinx)."""

import skstream

project = "skstream"
author = copyright = "The skstream developers"
version = release = skstream.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Exact, fast evaluation of models that learn from streams"}
default_role = "literal"
autosummary_generate = True
autodoc_typehints = "none"
# Members are listed by autosummary; numpydoc would list them twice, without their own pages.
numpydoc_show_class_members = False
