"""What the Python blocks of the pages print and draw, put under them when the site is built.

The blocks of a page run one after another in one process, as a reader would run them. Fresh output
replaces what a page has under a block by hand, text or pictures. Blocks that read absent files are
shown as they are written, and so are all pages but those in `QUICK` if SKSTREAM_DOCS is "quick".
`build/docs-outputs` keeps what came, until the blocks, the package or the files of data change.

    python docs/_outputs.py [PAGE ...]      # run pages, print their outputs and how long they took
"""

import ast
import contextlib
import hashlib
import importlib
import io
import itertools
import json
import multiprocessing
import os
import pickle
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from multiprocessing.connection import wait
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
PROJECT = HERE.parent
KEPT = PROJECT / "build" / "docs-outputs"
#: Pictures lie among the sources, where Sphinx looks for them; git ignores the folder.
PICTURES = HERE / "outputs"
#: So wide in inches are pictures of the pages and of the gallery that texts are read on a phone.
PICTURE_INCHES = (5.6, 3.6)
#: So large are those of the gallery's overview: there they take a third of the width.
THUMBNAIL_INCHES = (3.4, 2.4)
#: Examples of the gallery, the most used first; others follow.
BY_USE = ["any_model", "naive_guess", "frauds", "live_run", "worst_group", "late_labels"]
BY_USE += ["prediction_log", "alarms_beside_chance"]
#: The pages that are run for a quick site: the tests run the blocks of all.
QUICK = {"first_steps"}
#: A block of Python, and what may follow it by hand: an output, pictures.
BLOCK = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n?^```(?:text)?\n.*?^```$)?((?:\n\n?!\[[^\]]*\]\([^)]*\))*)",
    re.DOTALL | re.MULTILINE,
)
#: A line of a table: its spaces say what belongs together.
TABLE_LINE = re.compile(r"\S {2,}\S|^-+$")
# Blocks read real streams by their bare names, as a user would in the folder of the data.
DATA_FILE = re.compile(r"\"([\w]+\.parquet)\"")
DATA = Path(os.environ.get("SKSTREAM_DATA", PROJECT.parent / "shared" / "data"))


def size_pictures(gallery_conf: dict[str, Any], file: str) -> None:
    """Set the size of the pictures of the gallery, before each example."""
    from matplotlib import pyplot

    pyplot.rcParams["figure.figsize"] = PICTURE_INCHES


def by_use(file: str) -> tuple[int, str]:
    """Order the examples of the gallery, by their file names."""
    name = Path(file).stem.removeprefix("plot_")
    return BY_USE.index(name) if name in BY_USE else len(BY_USE), name


def pictures_of_example(block: Any, names: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the pictures of the gallery, and before the first one what its overview shows of it."""
    from matplotlib import pyplot
    from sphinx_gallery.scrapers import matplotlib_scraper

    if pyplot.get_fignums() and not len(names["image_path_iterator"]):
        small = pickle.loads(pickle.dumps(pyplot.figure(pyplot.get_fignums()[0])))
        first, *others = small.axes
        if not others:
            small.set_size_inches(THUMBNAIL_INCHES)
        legends = [first.get_legend(), *small.legends]
        for part in [*others, *(legend for legend in legends if legend is not None)]:
            part.set_visible(False)
        small.savefig(next(names["image_path_iterator"]), dpi=160, bbox_inches="tight")
        pyplot.close(small)
    return matplotlib_scraper(block, names, gallery_conf)


def blocks_of(text: str) -> list[str]:
    """Python blocks of a page."""
    return [match[1] for match in BLOCK.finditer(text)]


def runnable(blocks: Sequence[str], folder: Path) -> list[bool]:
    """Which blocks can run: not those that read absent files, or use what such a block defines."""
    can, absent = [], set()
    for block in blocks:
        names = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Name)]
        made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        files = DATA_FILE.findall(block)
        can.append(all((folder / f).is_file() for f in files) and not (used - made) & absent)
        absent = absent - made if can[-1] else absent | made
    return can


def execute(name: str, blocks: Sequence[str], folder: Path) -> list[dict[str, Any]]:
    """Run the blocks of a page; for each what it printed, and the names of its pictures."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["figure.figsize"] = PICTURE_INCHES

    os.chdir(folder)
    for file in DATA.glob("*.parquet"):
        (folder / file.name).symlink_to(file.resolve())
    program = folder / "page.py"
    sys.modules["__main__"] = module = ModuleType("__main__")  # as if it were a program
    module.__file__ = str(program)
    program.write_text("\n".join(blocks), "utf-8")
    outputs: list[dict[str, Any]] = []
    n_lines = 0
    for block, can in zip(blocks, runnable(blocks, folder), strict=True):
        printed = io.StringIO()
        if can:
            code = compile("\n" * n_lines + block, str(program), "exec")
            with contextlib.redirect_stdout(printed):
                exec(code, module.__dict__)
        n_lines += block.count("\n") + 1
        pictures = []
        for number in pyplot.get_fignums():
            pictures.append(f"{name}-{len(outputs)}-{number}.png")
            pyplot.figure(number).savefig(PICTURES / pictures[-1], dpi=144, bbox_inches="tight")
        pyplot.close("all")
        outputs.append({"text": printed.getvalue().rstrip(), "pictures": pictures})
    return outputs


def _run_page(name: str, blocks: Sequence[str], digest: str) -> None:
    """In a process of its own: run a page and keep what came."""
    started = time.perf_counter()
    kept: dict[str, Any] = {"digest": digest}
    with tempfile.TemporaryDirectory() as folder:
        try:
            kept["outputs"] = execute(name, blocks, Path(folder))
        except Exception:
            kept["error"] = traceback.format_exc()
        os.chdir(PROJECT)
    kept["seconds"] = round(time.perf_counter() - started, 1)
    (KEPT / f"{name}.json").write_text(json.dumps(kept), "utf-8")


def _digests(pages: dict[str, str]) -> dict[str, str]:
    """For each page that has blocks, a digest of all that its outputs depend on."""
    package = hashlib.sha256(Path(__file__).read_bytes())
    for file in sorted((PROJECT / "skstream").rglob("*.py")):
        package.update(file.read_bytes())
    package.update("".join(sorted(file.name for file in DATA.glob("*.parquet"))).encode())
    return {
        name: hashlib.sha256(package.digest() + "\n".join(blocks).encode()).hexdigest()
        for name, text in pages.items()
        if (blocks := blocks_of(text))
    }


def _kept(name: str, digest: str) -> dict[str, Any]:
    """What is kept of a page; nothing if it is out of date."""
    file = KEPT / f"{name}.json"
    kept: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    pictures = [one for output in kept.get("outputs", ()) for one in output["pictures"]]
    whole = "outputs" in kept and all((PICTURES / one).is_file() for one in pictures)
    return kept if whole and kept.get("digest") == digest else {}


def run_pages(pages: dict[str, str], *, quick: bool = False) -> dict[str, dict[str, Any]]:
    """Outputs of pages, given by name and text; for a `quick` site of those kept and in `QUICK`."""
    for folder in (KEPT, PICTURES):
        folder.mkdir(parents=True, exist_ok=True)
    digests = _digests(pages)
    found = {name: _kept(name, digest) for name, digest in digests.items()}
    waiting = [name for name, kept in found.items() if not kept and (not quick or name in QUICK)]
    if waiting:  # imported once; every page runs in a copy of this process
        for module in ("matplotlib.pyplot", "pandas", "sklearn.linear_model", "skstream.plotting"):
            importlib.import_module(module)
    os.environ["COLUMNS"] = "80"
    context = multiprocessing.get_context("fork")
    running: list[Any] = []
    for name in waiting:
        arguments = name, blocks_of(pages[name]), digests[name]
        (KEPT / f"{name}.json").unlink(missing_ok=True)
        running.append(context.Process(target=_run_page, args=arguments))
        running[-1].start()
        while len(running) >= (os.cpu_count() or 1):
            wait([one.sentinel for one in running])
            running = [one for one in running if one.is_alive()]
    for process in running:
        process.join()
    for name in waiting:
        file = KEPT / f"{name}.json"
        found[name] = (
            json.loads(file.read_text("utf-8")) if file.is_file() else {"error": "it ended"}
        )
    return {name: page for name, page in found.items() if page}


def with_outputs(text: str, outputs: Sequence[dict[str, Any]]) -> str:
    """Return the text of a page with the output of each block under it."""
    remaining = iter(outputs)

    def shown(match: re.Match[str]) -> str:
        output = next(remaining)
        if not output["text"] and not output["pictures"]:
            return match[0]
        parts = [f"```python\n{match[1]}```"]
        if output["text"]:
            parts.append(f":::{{div}} block-output\n````\n{output['text']}\n````\n:::")
        alts = re.findall(r"!\[([^\]]*)\]", match[2]) if output["pictures"] else ()
        for i, picture in enumerate(output["pictures"]):
            alt = alts[i] if i < len(alts) else "The picture that the block above draws"
            parts.append(f"![{alt}](/outputs/{picture}){{.drawn-above}}")
        return "\n\n".join(parts) + ("" if output["pictures"] else match[2])

    return BLOCK.sub(shown, text)


def part_prose_from_tables(app: Any, page: Any) -> None:
    """Cut what is printed into sentences, which wrap on a phone, and tables, which scroll."""
    from docutils import nodes

    for block in list(page.findall(nodes.literal_block)):
        if "sphx-glr-script-out" not in block["classes"] and "block-output" not in block.parent.get(
            "classes", ()
        ):
            continue
        parts = []
        for is_table, lines in itertools.groupby(
            block.rawsource.split("\n"), lambda line: TABLE_LINE.search(line) is not None
        ):
            text = "\n".join(lines).strip("\n")
            if not text:
                continue
            part = nodes.literal_block(text, text, **block.attributes)
            part["classes"] = [*block["classes"], "output", *([] if is_table else ["prose"])]
            parts.append(part)
        block.replace_self(parts)


def _pages(names: Sequence[str]) -> dict[str, str]:
    files = {name: HERE / f"{name}.md" for name in names}
    return {name: file.read_text("utf-8") for name, file in files.items() if file.is_file()}


def setup(app: Any) -> dict[str, bool]:
    """Run what is going to be read anew before reading begins; show outputs as pages are read."""
    from sphinx.util import logging

    logger = logging.getLogger(__name__)
    found: dict[str, dict[str, Any]] = {}

    def outdated(app: Any, env: Any, *changes: Any) -> list[str]:
        digests = _digests(_pages(sorted(env.all_docs)))
        return [name for name, digest in digests.items() if not _kept(name, digest)]

    def before(app: Any, env: Any, names: list[str]) -> None:
        found.update(run_pages(_pages(names), quick=os.environ.get("SKSTREAM_DOCS") == "quick"))
        for name, page in found.items():
            if "error" in page:
                logger.warning(
                    "a Python block of this page fails\n%s", page["error"], location=name
                )

    def read(app: Any, name: str, source: list[str]) -> None:
        if "outputs" in found.get(name, ()):
            source[0] = with_outputs(source[0], found[name]["outputs"])

    app.connect("env-get-outdated", outdated)
    app.connect("env-before-read-docs", before)
    app.connect("source-read", read)
    app.connect("doctree-read", part_prose_from_tables)
    return {"parallel_read_safe": False}


if __name__ == "__main__":
    names = sys.argv[1:] or [file.stem for file in sorted(HERE.glob("*.md"))]
    for name, page in run_pages(_pages(names)).items():
        print(f"== {name}: {page['seconds']} seconds")
        print(page.get("error", ""), end="")
        for output in page.get("outputs", ()):
            print(output["text"], *output["pictures"], sep="\n")
