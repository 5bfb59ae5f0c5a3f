"""Configuration of the documentation (Sphinx)."""

import skstream

project = "skstream"
author = copyright = "The skstream developers"
version = release = skstream.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
]
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Exact, fast evaluation of models that learn from streams"}
default_role = "literal"
autodoc_typehints = "none"
# autodoc shows the members; numpydoc would list them once more.
numpydoc_show_class_members = False


def setup(app):
    # scikit-learn adds these to every estimator; their text links into its own documentation.
    app.connect(
        "autodoc-skip-member",
        lambda app, what, name, value, skip, options: skip or name.endswith("_request"),
    )
