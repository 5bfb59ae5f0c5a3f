"""Configuration of the documentation (Sphinx).

`make docs` builds everything, the gallery too, and reads what it has built before. With
SKSTREAM_DOCS=quick the examples of the gallery are shown and not run, and of the pages but a few
(`_outputs.py`). With SKSTREAM_DOCS=online
names of other libraries are links; their inventories are read over the network.
"""

import gc
import json
import os
import re
import sys
from pathlib import Path

import skstream

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from _reference import write_benchmarks, write_reference  # noqa: E402 (the folder of this file has to be known first)

KEYWORDS = re.compile(r"^Keywords: (.*?)\.\n\n", re.MULTILINE | re.DOTALL)
SCORER = HERE.parent / "build" / "scorer.js"
MODE = os.environ.get("SKSTREAM_DOCS", "")

project = "skstream"
author = copyright = "The skstream developers"
version = release = skstream.__version__

extensions = [
    "_outputs",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    *(["sphinx.ext.intersphinx"] if MODE == "online" else []),
]
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
    "pandas": ("https://pandas.pydata.org/docs", None),
    "joblib": ("https://joblib.readthedocs.io/en/stable", None),
    "river": ("https://riverml.xyz/latest", None),
}
# Headings can be linked to, as they can where the pages are read as plain Markdown.
myst_heading_anchors = 3
# Formulas are written as text: MathJax comes over the network, without which readers saw LaTeX.
myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline"]
highlight_language = "none"  # blocks without a language are what programs print
exclude_patterns = ["_build", "gallery/**/*.ipynb"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["skstream.css"]
html_title = f"skstream {version}"
html_logo = html_favicon = "_static/logo.svg"  # a model above the area of the naive guess
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "logo": {"text": "skstream"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
if MODE == "online":  # the list of versions lies beside them: docs/_versions.py writes it
    html_theme_options |= {
        "switcher": {
            "json_url": "../switcher.json",
            "version_match": os.environ.get("SKSTREAM_DOCS_VERSION", version),
        },
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
        "check_switcher": False,
    }
html_search_scorer = str(SCORER)
html_sidebars = {"index": []}
if MODE == "quick":  # looks for errors: no menus beside the pages, and rarely for garbage
    html_sidebars = {"**": []}
    gc.set_threshold(100_000, 50, 100)
html_show_sourcelink = html_domain_indices = False
html_copy_source = False
copybutton_selector = "div:not(.output) > div.highlight > pre"  # nobody copies what was printed
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
default_role = "literal"
autodoc_typehints = "none"
autosummary_generate = True
toc_object_entries_show_parents = "hide"  # the menu has no room for the name of the class
# autodoc shows the members; numpydoc would list them once more.
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "subsection_order": [
        f"../examples/gallery/{part}" for part in ("evaluate", "compare", "late", "search", "drift")
    ],
    "thumbnail_size": (480, 336),
    "capture_repr": (),  # what examples show, they print
    "filename_pattern": r"plot_",
    "plot_gallery": MODE != "quick",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1000,
    "abort_on_example_error": True,
    "within_subsection_order": "_outputs.by_use",
    "image_scrapers": ("_outputs.pictures_of_example",),
    "reset_modules": ("matplotlib", "_outputs.size_pictures"),
}


def without_hint(name, given=skstream.__getattr__):
    # sphinx-gallery asks the package for the names of its parts, and expects an AttributeError.
    try:
        return given(name)
    except ImportError as error:
        raise AttributeError(name) from error


def quote_attributes_in_shapes(app, what, name, value, options, lines):
    # "shape (n_features_in_,)" would be read as a link because of the underscore at its end.
    lines[:] = [re.sub(r"\((\w+_),", r"(``\1``,", line) for line in lines]


def skip_what_others_describe(app, what, name, value, skip, options):
    # What scikit-learn's base classes add links into scikit-learn's own documentation.
    of_sklearn = str(getattr(value, "__module__", "")).startswith("sklearn")
    return skip or of_sklearn or name.endswith("_request")


def write_scorer(file):
    """Write how the search ranks pages, with the lines of keywords below their titles."""
    found = {page.stem: KEYWORDS.search(page.read_text("utf-8")) for page in HERE.glob("*.md")}
    words = json.dumps({name: match[1] for name, match in found.items() if match})
    file.parent.mkdir(exist_ok=True)
    file.write_text((HERE / "_scorer.js").read_text("utf-8").replace("KEYWORDS", words), "utf-8")


def set_keywords_small(app, name, source):
    source[0] = source[0].replace("\n\nKeywords: ", "\n\n{.keywords}\nKeywords: ", 1)


def setup(app):
    skstream.__getattr__ = without_hint
    write_reference(HERE / "api")
    write_scorer(SCORER)
    write_benchmarks(HERE / "benchmarks.md", HERE.parent / "benchmarks")
    app.connect("source-read", set_keywords_small)
    app.connect("autodoc-process-docstring", quote_attributes_in_shapes, priority=400)
    app.connect("autodoc-skip-member", skip_what_others_describe)
