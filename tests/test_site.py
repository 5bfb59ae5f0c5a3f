"""The search of the built site leads readers to the right page."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests._programs import PROJECT

# Node runs the site's own search over its own index, as a browser does.
SEARCH = r"""
const fs = require("fs"), vm = require("vm"), [site, ...queries] = process.argv.slice(1);
const element = {lastChild: null, dataset: {}};
const page = {document: {getElementById: () => element, documentElement: element,
  addEventListener() {}, readyState: "loading"}, SPHINX_HIGHLIGHT_ENABLED: false, URLSearchParams};
page.window = vm.createContext(page);
const run = (file) => vm.runInContext(fs.readFileSync(`${site}/${file}`, "utf8"), page);
["documentation_options", "doctools", "language_data", "searchtools"].forEach(
  (name) => run(`_static/${name}.js`));
vm.runInContext("this.Search = Search", page);
run("searchindex.js");
console.log(JSON.stringify(queries.map((query) => {
  page.location = {search: "?q=" + encodeURIComponent(query)};
  const {Search} = page;
  return Search._performSearch(...Search._parseQuery(query)).reverse().map((hit) => hit[0]);
})));
"""
QUESTIONS = {
    "How do I evaluate my model on my CSV?": "first_steps",
    "Labels come a week late.": "delayed_labels",
    "Is A better than B?": "k_fold_and_significance",
    "Grid-search the fading factor.": "prequential_search",
    "Which measure for 1 % frauds?": "probabilities",
    "Resume after a crash.": "long_runs",
    "Use my River model.": "other_libraries",
    "Plot accuracy over time.": "results",
    "What is kappa_temporal?": "measures",
    "How fast is it, against what?": "exact_and_fast",
    "Which learner works on streams?": "what_works",
    "benchmark of learners": "what_works",
    "install": "installation",
    "quickstart": "first_steps",
    "tutorial": "first_steps",
    "getting started": "first_steps",
    "resume": "long_runs",
    "crash": "long_runs",
    "restart": "long_runs",
    "checkpoint": "long_runs",
    "imbalanced": "probabilities",
    "significance": "k_fold_and_significance",
    "late labels": "delayed_labels",
    "speed": "exact_and_fast",
    "backtest": "time_splits",
    "walk-forward": "time_splits",
    "monitoring": "drift",
    "csv": "first_steps",
    "river": "other_libraries",
    "plot": "results",
}


def built_site() -> Path:
    """The site that was built last; skips the test if the pages are newer."""
    sites = [PROJECT / "build" / name / "searchindex.js" for name in ("quick-docs", "docs")]
    built = sorted((one for one in sites if one.is_file()), key=lambda one: one.stat().st_mtime)
    pages = [*(PROJECT / "docs").glob("*.md"), *(PROJECT / "docs").glob("_*.*")]
    newest = max(page.stat().st_mtime for page in pages if page.name != "benchmarks.md")
    if not built or built[-1].stat().st_mtime < newest:
        pytest.skip("no site is built of these pages; make quick-docs builds it")
    return built[-1].parent


def test_questions_lead_to_their_page() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("the search of the site runs in node, which is not installed")
    program = [node, "-e", SEARCH, str(built_site()), *QUESTIONS]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    hits = zip(QUESTIONS.items(), json.loads(done.stdout), strict=True)
    lost = {query: found[:3] for (query, page), found in hits if page not in found[:2]}
    assert not lost
