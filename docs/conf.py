"""Configuration of the documentation (Sphinx)."""

import re

import skstream

project = "skstream"
author = copyright = "The skstream developers"
version = release = skstream.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
]
# Headings can be linked to, as they can where the pages are read as plain Markdown.
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Exact, fast evaluation of models that learn from streams"}
default_role = "literal"
autodoc_typehints = "none"
# autodoc shows the members; numpydoc would list them once more.
numpydoc_show_class_members = False


def quote_attributes_in_shapes(app, what, name, value, options, lines):
    # "shape (n_features_in_,)" would be read as a link because of the underscore at its end.
    lines[:] = [re.sub(r"\((\w+_),", r"(``\1``,", line) for line in lines]


def skip_metadata_requests(app, what, name, value, skip, options):
    # scikit-learn adds these to every estimator; their text links into its own documentation.
    return skip or name.endswith("_request")


def setup(app):
    app.connect("autodoc-process-docstring", quote_attributes_in_shapes, priority=400)
    app.connect("autodoc-skip-member", skip_metadata_requests)
