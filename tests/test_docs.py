"""Every Python block of the guide runs as it stands, or with fewer rows, without a warning."""

import itertools
import re
import runpy
import shlex
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import skstream
from skstream.cli import main
from skstream.streams import as_stream
from tests._data import data_folder, data_path
from tests._programs import PROJECT, Run

OUTPUTS = runpy.run_path(str(PROJECT / "docs" / "_outputs.py"))
#: The page of benchmarks is written while the site is built.
PAGES = sorted({*(PROJECT / "docs").glob("*.md")} - {PROJECT / "docs" / "benchmarks.md"})
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND_LINE = PROJECT / "docs" / "command_line.md"
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
# What a page tells its readers to run: a script of benchmarks or examples, with its options.
SCRIPT = re.compile(r"python -m (benchmarks\.\w+)((?: +\\?\n? *[^\s`|]+)*)")
EXAMPLE = re.compile(r"python (\S*examples/\S+\.py)")
DECIMAL = re.compile(r"^\|.*(?<![\w.])\d*\.\d+(?![\w.])", re.M)
# What readers stop at, and what to write in its place. The list grows.
PHRASES = {
    r"[Tt]he label before\b(?! (the|its|it|each|a|an|them|that|this)\b)": "the previous label",
    r"learnt (first, )?unasked": "used only for training",
    r"[Ww]hoever": "anyone who, or the noun",
    r"[Ss]tands? beside": "appears beside, is next to",
    r"is to be had": "is available",
    r"[Ss]ign of life": "heartbeat",
    r"will not run anything": "readers without Python",
    r"\bA trap\b": "Pitfall",
    r"goes on where it was stopped": "resumes where it stopped",
    r"is not lost for": "you still get",
    r"where (it|they) (was|were) stopped": "where it stopped",
    r"[Uu]nder delayed labels": "with delayed labels",
    r"\b(begins|begun) anew": "restarts, starts again",
    r"(right|wrong) answers": "correct predictions, errors",
    r"\bis no number\b": "is not a number",
    r"must hold numbers": "must contain numbers",
    r"\bis no feature\b": "is not used as a feature",
    r"\bin the place of\b": "instead of",
    r"[Tt]he finding:": "the finding itself, in words",
    r"better direction is": "unknown whether higher is better",
    r"the row learnt last": "the last training row",
    r"[Ww]hat becomes of": "how ... is handled",
    r"of equal ones the": "ties go to the",
    r"whatever yields": "any source of",
    r"\bfor ever\b": "forever",
    r"([Nn]ot|being) told apart": "no significant difference",
    r"demo stream takes (its|their) place": "a demo stream is used",
    r"[Rr]efused by name": "rejected with an error that names it",
    r"[Ww]hom to trust": "which files to trust",
    r"page to hand on": "share a result",
    r"[Ww]ho waits\b": "users see",
    r"[Ww]hich detector to take": "choosing a detector",
    r"[Bb]eside (other libraries|the loop)": "compared with",
    r"\bruns? by (the|its|River's) (own )?loop": "runs in its own loop",
    r"\b(goes|go) on (counting|from here|in the loop|to the same)": "keeps counting, continues",
    r"cannot be promised": "cannot be guaranteed",
    r"keeps? (its|their) promise": "the guarantee holds",
    r"\bThe message is in\b": "is the summary",
    r"bare or by\b": "directly or in",
    r"[Aa]sked before it is learnt": "predicted before it is used for training",
    r"what takes its place": "its replacement",
    r"\b(file|model|class)s? of yours": "your own",
    r"\b(told|tells) apart": "differ, distinguish",
    r"\b[Ll]ikewise\b": "in the same way",
    r"\b[Nn]obody\b": "no one, or the noun",
    r"\b[Uu]nder drift": "with drift",
    r"\b[Tt]old (the last|the previous|no) label": "given the last label",
}
# Less than readers see, where a page would take long: the text of the page, and what runs.
SHORTER = {
    "scoring_alarms": {"    range(30),": "    range(3),"},
    "online_or_retrained": {
        "max_iter=30": "max_iter=2",
        "(4_000)": "(500)",
        "tuning=2_000": "tuning=200",
        "every=336": "every=150",
        "min_rows=1_000": "min_rows=200",
    },
    "other_libraries": {"n_learns=1000": "n_learns=50"},
    "everyday_data": {"make_transactions(3_000)": "make_transactions(600)"},
    "estimators": {
        "0_000": "_000",
        "5_000": "500",
        "max_iter=20": "max_iter=2",
        "every=1_000, window=2_000": "every=200, window=400",
        "2_000:2_500": "500:1_000",
        "2_000": "500",
        "4_000": "1_000",
    },
    "probabilities": {
        'ParquetStream("gmsc.parquet", target="class")': (
            '__import__("skstream").streams.take_rows('
            'ParquetStream("gmsc.parquet", target="class"), 20_000)'
        )
    },
    "benchmark_suites": {"3000": "600", "2000": "400"},
}


def runnable_blocks(text: str, folder: Path) -> list[str]:
    """Python blocks of a page, without those that the site shows without running them."""
    blocks = OUTPUTS["blocks_of"](text)
    return list(itertools.compress(blocks, OUTPUTS["runnable"](blocks, folder)))


def anchors(text: str) -> set[str]:
    """Names of the headings of a page in links to them, as GitHub and MyST form them."""
    headings = re.findall(r"^#{1,3} (.*)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


# The README's runs in tests/test_examples.py, without the extras too.
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run_in_their_order(page: Path, tmp_path: Path, run_program: Run) -> None:
    for extra in ("matplotlib", "pandas", "pyarrow", "river"):
        pytest.importorskip(extra, reason="the guide shows every extra")
    if data_folder().is_dir():
        for file in data_folder().glob("*.parquet"):
            (tmp_path / file.name).symlink_to(file.resolve())
    text = page.read_text("utf-8")
    for long, short in SHORTER.get(page.stem, {}).items():
        assert long in text  # of the whole page: blocks without their data are left out below
        text = text.replace(long, short)
    blocks = runnable_blocks(text, tmp_path)
    if not blocks:
        pytest.skip("this page has no Python that can run here")
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks), "utf-8")
    run_program(program, tmp_path)


@pytest.mark.parametrize("page", [PROJECT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link, anchor in LINK.findall(page.read_text("utf-8")):
        if link.startswith("api/"):
            continue  # written when the site is built, which checks these links
        target = page.parent / link if link else page
        if link.startswith("gallery/"):  # made of these files when the site is built
            target = PROJECT / "examples" / Path(link).with_suffix(".py")
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            broken.append((link, anchor))
    assert not broken


def lost_lines(text: str) -> list[str]:
    """Lines of prose that begin with "%", which MyST takes for comments."""
    return re.findall(r"^\s*%.*", FENCED.sub("", text), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_line_is_a_comment_and_no_formula_is_latex(page: Path) -> None:
    """Formulas are text: the site loads nothing over the network that could draw them."""
    text = page.read_text("utf-8")
    assert not lost_lines(text)
    assert not re.search(r"\$\$|\\frac|\\sum|\$\\", FENCED.sub("", text))


def test_comments_are_found_outside_of_code() -> None:
    assert lost_lines("at 5\n% of\n\n```\n%timeit f()\n```\n 5 % more\n") == ["% of"]


@pytest.mark.parametrize("page", [PROJECT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_rows_of_tables_are_whole(page: Path) -> None:
    """A row broken into two lines, or two rows on one, is no table for a reader of the page."""
    text = FENCED.sub("", page.read_text("utf-8"))
    for table in re.findall(r"(?:^\|.*\n?)+(?:^(?!\||$).*\n)?", text, flags=re.M):
        lines = table.splitlines()
        cells = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
        assert len(set(cells)) == 1, lines[cells.index(next(c for c in cells if c != cells[0]))]


def unknown_commands(text: str) -> list[str]:
    """Commands of a page whose script is not there, or does not have an option that is named."""
    wrong = [name for name in EXAMPLE.findall(text) if not (PROJECT / name.lstrip("./")).is_file()]
    for module, options in SCRIPT.findall(text):
        path = PROJECT / f"{module.replace('.', '/')}.py"
        if not path.is_file():
            wrong.append(module)
            continue
        source = path.read_text("utf-8")
        wrong += [
            f"{module} {option}"
            for option in re.findall(r"(?<!\S)--[\w-]+", options)
            if f'"{option}"' not in source
        ]
    return wrong


@pytest.mark.parametrize("page", [PROJECT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_commands_of_figures_exist(page: Path) -> None:
    assert not unknown_commands(page.read_text("utf-8"))


def test_commands_that_do_not_exist_are_caught() -> None:
    text = "`python -m benchmarks.ratchet`, `python -m benchmarks.testbed --trees --seeds 3`\n"
    assert not unknown_commands(text + "python examples/temporal_dependence.py pictures")
    text = "`python -m benchmarks.none`, `python -m benchmarks.testbed --forests --seeds 3`\n"
    found = unknown_commands(text + "python examples/none.py pictures")
    assert found == ["examples/none.py", "benchmarks.none", "benchmarks.testbed --forests"]


@pytest.mark.parametrize("page", [PROJECT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_figures_name_their_command(page: Path) -> None:
    """A page with figures in a table has the command that prints them, or the code."""
    text = page.read_text("utf-8")
    if DECIMAL.search(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        assert SCRIPT.search(text) or EXAMPLE.search(text) or BLOCK.search(text)


@cache
def in_one_line(file: Path) -> str:
    return re.sub(r"\s+(# )?", " ", file.read_text("utf-8"))


@pytest.mark.parametrize(("phrase", "better"), PHRASES.items())
def test_phrases_that_stop_a_reader_are_not_used(phrase: str, better: str) -> None:
    files = [*PAGES, *(PROJECT / "examples").rglob("*.py"), *(PROJECT / "skstream").rglob("*.py")]
    changes = [PROJECT / "CHANGELOG.md", *(PROJECT / "changelog.d").glob("*.md")]
    for file in [PROJECT / "README.md", *files, *changes]:
        assert not re.search(phrase, in_one_line(file)), f"{file}: {better}"


def test_the_guide_describes_every_page() -> None:
    guide = (PROJECT / "docs" / "guide.md").read_text("utf-8")
    listed = re.findall(r"^- \[.+\]\((\w+)\.md\): \w", guide, re.MULTILINE)
    pages = [
        line
        for one in re.findall(r":hidden:\n\n(.*?)```", guide, re.DOTALL)
        for line in one.split()
    ]
    assert listed == pages


def test_the_readme_is_short() -> None:
    assert len((PROJECT / "README.md").read_text("utf-8").split()) <= 900


def test_anchors_are_headings_and_no_comments_of_code() -> None:
    text = "# A page\n\n```python\n# no heading\n```\n\n## scikit-learn's `fit`, and more\n"
    assert anchors(text) == {"a-page", "scikit-learns-fit-and-more"}


def test_blocks_without_their_data_are_left_out(tmp_path: Path) -> None:
    blocks = ["a = 1\n", 'b = read("absent.parquet")\n', "print(b)\n", "b = 2\n", "print(a, b)\n"]
    text = "".join(f"```python\n{block}```\n" for block in blocks)
    assert runnable_blocks(text, tmp_path) == [blocks[0], *blocks[3:]]


def test_fresh_output_replaces_old_output_under_a_block(tmp_path, run_program, matplotlib):
    text = (
        "```python\nx = 1\n```\n\n```text\nno output\n```\n\n"
        "```python\nprint(x + 1)\n```\n\n```\nold\n```\n\nText.\n\n"
        "```python\nfrom matplotlib import pyplot\nlines = pyplot.plot([x])\n```\n\n![A](old.png)\n"
    )
    new = text.replace("```\nold\n```", ":::{div} block-output\n````\n2\n````\n:::").replace(
        "old.png)", "/outputs/page-2-1.png){.drawn-above}"
    )
    program = tmp_path / "build.py"
    program.write_text(
        f"import pathlib, sys\nsys.path.insert(0, {str(PROJECT / 'docs')!r})\n"
        "import _outputs\n_outputs.KEPT = _outputs.PICTURES = here = pathlib.Path.cwd()\n"
        f"pages = {{'page': {text!r}, 'wrong': {text.replace('x + 1', 'y')!r}}}\n"
        "found = _outputs.run_pages(pages)\n"
        "assert 'NameError' in found['wrong']['error']\n"
        f"assert _outputs.with_outputs({text!r}, found['page']['outputs']) == {new!r}\n"
        "kept = (here / 'page.json').stat().st_mtime_ns\n"
        f"assert _outputs.run_pages({{'page': {text!r}}})['page'] == found['page']\n"
        "assert kept == (here / 'page.json').stat().st_mtime_ns\n"
        "(here / 'page-2-1.png').unlink()\n"
        f"_outputs.run_pages({{'page': {text!r}}})\n"
        "assert (here / 'page-2-1.png').is_file()\n",
        "utf-8",
    )
    run_program(program, tmp_path)


@pytest.mark.parametrize("text", ["import warnings\nwarnings.warn('no')", "raise SystemExit('no')"])
def test_a_page_that_fails_is_caught(text: str, tmp_path: Path, run_program: Run) -> None:
    program = tmp_path / "page.py"
    program.write_text(text, "utf-8")
    with pytest.raises(pytest.fail.Exception, match=r"exit code 1\n(.|\n)*no\n"):
        run_program(program, tmp_path)


def test_the_page_of_the_command_line_writes_its_file(tmp_path, monkeypatch, pd, pa):
    """With what OpenML gives, the program on the page writes the stream that its table is of."""
    source = skstream.ParquetStream(data_path("electricity"), target="class")
    X, y = (np.concatenate([chunk[place] for chunk in source]) for place in (0, 1))
    fetched = as_stream(pd.DataFrame(X, columns=source.feature_names), y)
    monkeypatch.setattr("skstream.streams.fetch_electricity", lambda: fetched)
    program = re.search(r"^python -c '([^']*)'", COMMAND_LINE.read_text("utf-8"), re.M)
    assert program is not None
    monkeypatch.chdir(tmp_path)
    exec(program[1], {})
    written = skstream.ParquetStream(tmp_path / "electricity.parquet", target="class")
    assert written.feature_names == source.feature_names
    for place, expected in ((0, X), (1, y)):
        np.testing.assert_array_equal(np.concatenate([chunk[place] for chunk in written]), expected)


def test_the_table_of_the_command_line_is_what_its_command_prints(pa, monkeypatch, capsys):
    folder = data_path("electricity").parent
    text = COMMAND_LINE.read_text("utf-8")
    found = re.search(r"```\n(skstream evaluate .*?)```\s+```\n(model .*?)```", text, re.DOTALL)
    assert found is not None
    command = shlex.split(found[1].replace("\\\n", " "))
    assert "--plot" not in command
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(command[1:]) == 0
    assert found[2] in capsys.readouterr().out
