"""Every table and figure of the five papers: run what answers for them, and write the page.

Each script runs in a process of its own and records its figures beside the paper's. When it ends,
they are kept in docs/fidelity.json, all or none, and docs/fidelity.md, docs/fidelity_figures.md and
docs/fidelity_note.md are made from it. So a run that is stopped loses only the scripts that had not
ended, and one paper can be run alone. The scripts wait in one queue, the longest first, for
``--n-jobs`` processors. What they print is in build/fidelity.

Whether what a paper says of a curve holds is computed from the figures of the row, by the rules in
benchmarks/_fidelity_rules.py.

    python -m benchmarks.fidelity --n-jobs 2
    python -m benchmarks.fidelity --paper bifet
    python -m benchmarks.fidelity --runs fold_tests --full
    python -m benchmarks.fidelity --page            (write the page again, run nothing)

Short are KDD99 (its first 100,000 rows) and Tables 2 to 4 of Bifet et al. (the first rows of each
stream, few repetitions); ``--full`` takes the papers' numbers, which takes about a day. The real
streams are read from the folder that SKSTREAM_DATA names.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks._fidelity import Row
from benchmarks._fidelity_items import PAPERS, RUNS, Item, Paper
from benchmarks._fidelity_rules import (
    FAILS,
    HOLDS,
    IN_PART,
    UNJUDGED,
    answers,
    judge,
    question,
    reason,
    recounted,
)
from benchmarks._kernel_speed import versions

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "fidelity.json"
PAGE = ROOT / "docs" / "fidelity.md"
FIGURES = ROOT / "docs" / "fidelity_figures.md"
NOTE = ROOT / "docs" / "fidelity_note.md"
OUTPUT = ROOT / "build" / "fidelity"
HEAD = """# Fidelity

Does what the five papers say hold here? One line for each of their numbered tables and figures,
with the row that decides. All rows, and how they were got: [all figures](fidelity_figures.md). What
we would like to ask the authors: [a note](fidelity_note.md).

- **reproduced**: the figures in print are within the tolerance; what is drawn needs three seeds or
  more. **In part**: some are, or some are not counted, as another learner or stream stands in for
  the paper's. **Not reproduced**: none of those that are counted is.
- **holds**, **holds in part**, **does not hold**: what the paper says of a curve, asked of our
  figures as questions that are answered by yes or no: all yes, some, or none. The questions stand
  with the figures. Such shapes may rest on one seed, or on a stand-in for the paper's learner or
  stream: the last column says so where one holds, the page of the figures for all.
- "In part" can be nearly all or hardly any: the share beside it says how many of the figures agree,
  in how many rows all questions are answered with yes, or, where there is one row, how many
  questions.

`make fidelity` runs all of it on two processors in about {minutes:.0f} minutes ([the
runs](fidelity_figures.md#the-runs)), and writes these pages; `make fidelity PAPER={example}` runs
one paper.

Two of the runs are short: {short}. `FULL=1` takes the papers' own numbers, but for Covertype,
whose features end at row 20,000 here; it takes about a day.
"""
FIGURES_HEAD = """# All figures of the papers

Every figure that [Fidelity](fidelity.md) rests on: the paper's, ours, and the command. Figures got
with another learner or stream than the paper's do not count as reproduced; the reason is said.
"""
NOTE_HEAD = """# A note for the authors

Dear authors, thank you for papers that can be run again. We did so, with code written anew from the
text. Here is what did not agree, what looks misprinted, and what we could not find in the
text. It may be we who are wrong: the command of each item runs it. Please tell us; what you answer
goes into these pages. All verdicts: [Fidelity](fidelity.md).
"""
#: How rows begin to say why, where the paper gives another setting as well, which fits.
BESIDE = "the other reading"
#: From good to bad.
ORDER = (HOLDS, IN_PART, FAILS, UNJUDGED)
STATES = {"shape": "shape only", "absent": "not possible here", "words": "no computation"}


def run_script(key: str, *, full: bool) -> dict[str, Any]:
    """Run one script; the seconds of a processor that it took, and what it recorded."""
    run = RUNS[key]
    command = run.command(full=full)
    print(f"{command} ...", flush=True)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file, errors = Path(folder) / "rows.jsonl", Path(folder) / "errors.txt"
        arguments = [sys.executable, *command.split()[1:], "--json", str(file)]
        env = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
        with (OUTPUT / f"{key}.txt").open("w") as out, errors.open("w") as err:
            process = subprocess.Popen(arguments, cwd=ROOT, env=env, stdout=out, stderr=err)
            # Of this process alone: another one may run beside it.
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command} failed:\n{errors.read_text()[-2000:]}")
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    seconds = used.ru_utime + used.ru_stime
    print(f"{command}: {len(rows)} figures, {seconds:.0f} s", flush=True)
    return {
        "command": command,
        "note": "as in the paper" if full and run.full is not None else run.note,
        "processor_seconds": round(seconds),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "versions": versions("scikit-learn", "numpy", "scipy", "numba"),
        "rows": rows,
    }


def read_record() -> dict[str, Any]:
    """What has been recorded, by run."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.is_file() else {}


def write_record(record: dict[str, Any]) -> None:
    """Keep the runs in the order of the list, a line for each row."""
    parts = []
    for key in (key for key in RUNS if key in record):
        about = {name: value for name, value in record[key].items() if name != "rows"}
        head = json.dumps(about, ensure_ascii=False)[:-1]
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in record[key]["rows"])
        parts.append(f'{json.dumps(key)}: {head}, "rows": [\n{lines}\n]}}')
    # Whole or not at all: who is stopped here leaves the file from before.
    new = RECORD.with_suffix(".new")
    new.write_text("{\n" + ",\n".join(parts) + "\n}\n", "utf-8")
    new.replace(RECORD)


def rows_of(record: dict[str, Any], paper: str, item: Item) -> list[Row]:
    """What the runs of an item recorded for it; what is drawn by too few seeds says so."""
    found = ((key, Row(**row)) for key in item.runs for row in record.get(key, {}).get("rows", ()))
    every = [(key, row) for key, row in found if row.paper == paper]
    rows = [
        (key, recounted(row, [one for _, one in every]))
        for key, row in every
        if row.item == item.name
    ]
    if item.kind == "shape":
        # The paper says nothing of such a setting.
        lines = dict(item.left_out)
        rows = [
            (key, replace(row, theirs="", why="tried") if row.line in lines else row)
            for key, row in rows
        ]
    out = dict(item.left_out) | second_reading(item, [row for _, row in rows])
    return [
        replace(
            row,
            why=("tried" if row.theirs == "" else "")
            or out.get(row.line)
            or out.get(row.column)
            or row.why
            or RUNS[key].too_few(row.column),
        )
        for key, row in rows
    ]


def second_reading(item: Item, rows: list[Row]) -> dict[str, str]:
    """Lines of the reading of a setting that is farther from the paper's figures, and why."""
    of = {name: [row for row in rows if row.line.startswith(name)] for name in item.readings}
    if not of or not all(of.values()):
        return {}
    gaps = {
        name: statistics.mean(abs(row.difference or 0) for row in some) for name, some in of.items()
    }
    near = min(gaps.values(), default=0)
    why = f"{BESIDE}: {max(gaps.values()):.1f} points away in the mean, the nearer one {near:.1f}"
    return {row.line: why for name, some in of.items() if gaps[name] > near for row in some}


def rows_of_paper(record: dict[str, Any], key: str, paper: Paper) -> tuple[Row, ...]:
    """What has been recorded for all items of a paper."""
    return tuple(row for item in paper.items for row in rows_of(record, key, item))


def shown(value: float | str, digits: int) -> str:
    """A value in a cell."""
    if isinstance(value, str):
        return value
    return (f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}").replace("-", "−")


def difference(row: Row, digits: int) -> str:
    """Ours less theirs, with its sign."""
    if row.difference is None:
        return "none" if row.theirs == row.ours else ""
    size = shown(abs(row.difference), digits)
    if not float(size.replace(",", "")):
        return size
    return f"{'+' if row.difference > 0 else '−'}{size}"


def counted(item: Item, rows: list[Row]) -> list[Row]:
    """The rows that can be called reproduced."""
    return [row for row in rows if item.kind == "figures" and row.kind == "figure"]


def struck(item: Item, compared: list[Row]) -> list[Row]:
    """Figures within the tolerance that do not agree, as seeds missed what was sought."""
    return [
        row
        for row in compared
        if row.note and replace(row, note="").is_within(item.tolerance, relative=item.relative)
    ]


def state(item: Item, rows: list[Row]) -> str:
    """Reproduced or not, in words."""
    if not item.runs:
        return f"{STATES[item.kind]}: {item.why}"
    if not rows:
        return "not run"
    compared = counted(item, rows)
    if not compared:
        return STATES["shape"]
    n_good = sum(row.is_within(item.tolerance, relative=item.relative) for row in compared)
    whole = "reproduced in part" if n_good else "not reproduced"
    by_shape = [row for row in rows if row not in compared and not row.why.startswith(BESIDE)]
    in_print = sum(row.difference is not None or row.column != "" for row in by_shape)
    if n_good == len(compared) and not in_print and not item.n_absent:
        whole = "reproduced"
    n_struck = len(struck(item, compared))
    rest = f"; {n_struck} more, but with seeds missed or early" if n_struck else ""
    rest += f"; {in_print} not counted" if in_print else ""
    n_beside = sum(row.why.startswith(BESIDE) for row in rows)
    rest += f", and {n_beside} of the other reading" if n_beside else ""
    rest += f"; {len(by_shape) - in_print} by shape" if len(by_shape) > in_print else ""
    rest += f"; {item.n_absent} not here" if item.n_absent else ""
    share = f" ({100 * n_good / len(compared):.0f} %)" * (0 < n_good < len(compared))
    return f"{whole}: {n_good} of {len(compared)} figures{share} {item.allowed}{rest}"


def verdict(item: Item, row: Row, rows: tuple[Row, ...]) -> list[str]:
    """Whether a row holds, and why not; nothing where figures of another setting say nothing."""
    if row.difference is not None or row.kind == "figure":
        if row.kind == "shape" and not item.tolerance:
            return ["", ""]
        good = row.is_within(item.tolerance, relative=item.relative)
        return [HOLDS if good else FAILS, ""]
    if isinstance(row.theirs, float) or row.column:
        return [HOLDS if row.theirs == row.ours else FAILS, ""]
    found = judge(row, rows)
    return [found, reason(row) if found in (IN_PART, FAILS) else ""]


def share(row: Row, rows: tuple[Row, ...]) -> str:
    """How many of the questions about a row are answered with yes."""
    parts = answers(row, rows)
    return f"{sum(parts)} of {len(parts)} questions"


def overall(item: Item, rows: list[Row], of_paper: tuple[Row, ...]) -> tuple[str, Row | None, str]:
    """The verdict of an item, the row that decides it, and a sentence."""
    compared = counted(item, rows)
    if compared:
        far = [r for r in compared if not r.is_within(item.tolerance, relative=item.relative)]
        return state(item, rows), (far or compared)[0], item.why
    found = [(verdict(item, row, of_paper), row) for row in rows]
    found = [(one, row) for one, row in found if one[0]]
    if not found:
        return ("not judged" if rows else state(item, rows).partition(":")[0]), None, item.why
    (_, why), row = max(found, key=lambda one: ORDER.index(one[0][0]))
    counts = [sum(one[0] == name for one, _ in found) for name in ORDER]
    whole = next(
        (name for name, n in zip(ORDER, counts, strict=True) if n == len(found)), "holds in part"
    )
    if whole == HOLDS:
        why = item.stand_in
    if counts[-1]:
        whole = "to be judged"
    if whole == IN_PART and len(found) == 1:
        whole += f": {share(row, of_paper)}"
    elif whole == IN_PART:
        n_in_part = f", {counts[1]} in part" * bool(counts[1])
        whole += f": {counts[0]} of {len(found)} rows ({100 * counts[0] / len(found):.0f} %)"
        whole += n_in_part
    return whole, row, why


def summary(record: dict[str, Any], key: str, paper: Paper) -> list[str]:
    """One row for each table and figure."""
    lines = [
        "| item | what it shows | verdict | theirs | ours | why |",
        "|---|---|---|---|---|---|",
    ]
    of_paper = rows_of_paper(record, key, paper)
    for item in paper.items:
        rows = rows_of(record, key, item)
        whole, row, why = overall(item, rows, of_paper)
        name = item.name
        if rows:
            name = f"[{name}](fidelity_figures.md#{anchor(paper, item)})"
        cells = [name, item.shows, f"**{whole}**" if rows else whole, "", "", why]
        if row is not None:
            place = ", ".join(filter(None, (row.line, row.column)))
            cells[3] = f"{place}: {shown(row.theirs, item.digits)}"
            cells[4] = shown(row.ours, item.digits)
            if row.note and row.kind == "figure":
                n_seeds = RUNS[item.runs[0]].seeds
                note = re.sub(r"(\d+) (missed|early)", rf"\1 of {n_seeds} seeds \2", row.note)
                cells[4] += f" ({note})"
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def heading(paper: Paper, item: Item) -> str:
    """The title of the part of an item; no two are equal."""
    return f"{item.name} of {paper.title.partition(' ')[0].rstrip(',')}"


def anchor(paper: Paper, item: Item) -> str:
    """Where a heading can be linked to."""
    return heading(paper, item).lower().replace(" ", "-")


def details(
    record: dict[str, Any], paper: Paper, item: Item, rows: list[Row], of_paper: tuple[Row, ...]
) -> list[str]:
    """All figures of an item, and how they were got."""
    lines = [f"### {heading(paper, item)}", "", f"{item.shows[0].upper()}{item.shows[1:]}."]
    lines += [f"{state(item, rows)[0].upper()}{state(item, rows)[1:]}."]
    if item.why:
        lines += [f"{item.why[0].upper()}{item.why[1:]}."]
    if item.stand_in:
        lines += [f"It rests on this: {item.stand_in}."]
    for key in item.runs:
        if key in record:
            run = record[key]
            lines += [f"`{run['command']}`: {run['note']}."]
    reasons = list(dict.fromkeys(row.why for row in rows if row.kind == "shape" and row.why))
    marks = {why: f"<sup>{number}</sup>" for number, why in enumerate(reasons, 1)}
    if item.kind == "figures" and len(reasons) > 0:
        lines += ["Not counted: " + "; ".join(f"{marks[why]} {why}" for why in reasons) + "."]
    if item.kind != "figures":
        marks = dict.fromkeys(reasons, "")
    lines += [""]
    lines += listed(item, [row for row in rows if not row.column], marks, of_paper)
    lines += matrix(item, [row for row in rows if row.column], marks)
    if item.picture is not None:
        file, seen, command = item.picture
        lines += [f"![{seen}](images/{file})", "", f"{seen}:"]
        lines += [f"`python -m benchmarks.{command} --pictures docs/images`.", ""]
    return lines


def listed(
    item: Item, rows: list[Row], marks: dict[str, str], of_paper: tuple[Row, ...]
) -> list[str]:
    """Rows one below the other."""
    if not rows:
        return []
    asked = dict.fromkeys(filter(None, map(question, rows)))
    lines = [f"Asked of “{claim}”: {said}" for claim, said in asked] + [""] * bool(asked)
    lines += ["| what | theirs | ours | difference | verdict |", "|---|---|---|---|---|"]
    for row in rows:
        found, why = verdict(item, row, of_paper)
        found += f" ({share(row, of_paper)})" * (found == IN_PART)
        cells = [
            row.line + marks.get(row.why, ""),
            *(shown(v, item.digits) for v in (row.theirs, row.ours)),
            difference(row, item.digits),
            ": ".join(filter(None, (found, why))),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def matrix(item: Item, rows: list[Row], marks: dict[str, str]) -> list[str]:
    """Rows by line and column: ours, and theirs in brackets; what is too far off is bold."""
    if not rows:
        return []
    columns = list(dict.fromkeys(row.column for row in rows))
    cells = {(row.line, row.column): row for row in rows}
    bold = " (bold: not counted as reproduced)" if item.kind == "figures" else ""
    lines = [
        f"Ours, and in brackets theirs{bold}:",
        "",
        "| | " + " | ".join(columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for line in dict.fromkeys(row.line for row in rows):
        texts = []
        for column in columns:
            row = cells.get((line, column))
            if row is None:
                texts.append("")
                continue
            ours, theirs = shown(row.ours, item.digits), shown(row.theirs, item.digits)
            far = row.kind == "figure" and not row.is_within(item.tolerance, relative=item.relative)
            if far and item.kind == "figures":
                ours = f"**{ours}**"
            ours += f" ({row.note})" if row.note else ""
            texts.append(f"{ours} [{theirs}]{marks.get(row.why, '')}")
        lines.append(f"| {line} | " + " | ".join(texts) + " |")
    gaps = [abs(row.difference) for row in counted(item, rows) if row.difference is not None]
    if gaps:
        lines += [
            "",
            f"Difference: {statistics.median(gaps):.{item.digits}f} {item.unit} in the median, "
            f"{max(gaps):.{item.digits}f} at most.",
        ]
    return [*lines, ""]


def page(record: dict[str, Any]) -> str:
    """The page with a verdict for every table and figure."""
    notes = [f"`{run.script}` ({run.note})" for run in RUNS.values() if run.full is not None]
    short = ", and ".join(notes)
    text = [HEAD.format(example="bifet", minutes=round(minutes(record, 2), -1), short=short)]
    for key, paper in PAPERS.items():
        text += [f"## {paper.title}", "", f"{paper.reference}.", ""]
        text += [*summary(record, key, paper), ""]
    return "\n".join(text).rstrip() + "\n"


def figures_page(record: dict[str, Any]) -> str:
    """The page with all figures, and how they were got."""
    text = [FIGURES_HEAD]
    for key, paper in PAPERS.items():
        text += [f"## {paper.title}", ""]
        of_paper = rows_of_paper(record, key, paper)
        for item in paper.items:
            rows = rows_of(record, key, item)
            if rows:
                text += details(record, paper, item, rows, of_paper)
    return "\n".join([*text, *runs_of(record)]).rstrip() + "\n"


def note_page(record: dict[str, Any]) -> str:
    """What the authors of each paper are told and asked."""
    text = [NOTE_HEAD]
    for key, paper in PAPERS.items():
        of_paper = rows_of_paper(record, key, paper)
        told, good = [], 0
        for item in paper.items:
            rows = rows_of(record, key, item)
            whole, row, why = overall(item, rows, of_paper)
            compared = counted(item, rows)
            if compared:
                whole = apart(item, compared) or HOLDS
            if whole == HOLDS:
                good += 1
            elif rows and row is not None:
                told.append(told_of(paper, item, whole, row, "" if compared else why))
        text += [f"## {paper.title}", ""]
        text += [
            f"{good} of {good + len(told)} tables and figures that could be run agree in all that "
            "is counted."
        ]
        text += ["", "**In part, or not:**", "", *told] if told else []
        text += ["", "**Looks misprinted:**", "", *(f"- {one}" for one in paper.slips)]
        text += ["", "**We could not find:**", "", *(f"- {one}" for one in paper.asked), ""]
    return "\n".join(text).rstrip() + "\n"


def apart(item: Item, compared: list[Row]) -> str:
    """How many figures do not agree; nothing where all do."""
    far = sum(not row.is_within(item.tolerance, relative=item.relative) for row in compared)
    n_struck = len(struck(item, compared))
    if not n_struck:
        return f"{far} of {len(compared)} figures are not {item.allowed}" if far else ""
    return (
        f"{len(compared) - far} of {len(compared)} figures agree; {n_struck} more are "
        f"{item.allowed}, but seeds missed the change or alarmed early; {far - n_struck} are "
        "farther away"
    )


def told_of(paper: Paper, item: Item, whole: str, row: Row, why: str) -> str:
    """What is said of an item that does not agree."""
    told = f"- [{item.name}](fidelity_figures.md#{anchor(paper, item)}), {item.shows}: {whole}."
    if row.kind == "shape" and isinstance(row.theirs, str):
        figures = f" {row.ours}." if len(str(row.ours)) <= 110 else ""
        told += f" *{row.line}: {row.theirs}?*{figures}"
        told += f" {why[0].upper()}{why[1:]}." if why else ""
    return f"{told} `{RUNS[item.runs[0]].command()}`"


def runs_of(record: dict[str, Any]) -> list[str]:
    """How long each command took, when, and with which versions."""
    one, two = (round(minutes(record, n), -1) for n in (1, 2))
    lines = [
        "## The runs",
        "",
        "Seconds of a processor; “at most”: measured beside other work. One script after the "
        f"other takes about {one:.0f} minutes; two at once, which wait in one queue, the longest "
        f"first, take about {two:.0f} (`make fidelity`).",
        "",
        "| command | of the paper's setting | seconds | date | versions |",
        "|---|---|---|---|---|",
    ]
    for key in (key for key in RUNS if key in record):
        run = record[key]
        seconds = run.get("processor_seconds", f"at most {run.get('seconds')}")
        cells = f"`{run['command']}`", run["note"], seconds, run["date"], run["versions"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def seconds_of(record: dict[str, Any], key: str) -> int:
    """What a run took when it was recorded; 0: never."""
    run = record.get(key, {})
    return run.get("processor_seconds", run.get("seconds", 0))


def minutes(record: dict[str, Any], n_processors: int) -> float:
    """How long all runs take if each waits for a free processor, the longest first."""
    free_at = [0] * n_processors
    for seconds in sorted((seconds_of(record, key) for key in RUNS), reverse=True):
        free_at[free_at.index(min(free_at))] += seconds
    return max(free_at) / 60


def chosen(papers: Iterable[str], runs: Iterable[str]) -> list[str]:
    """The runs of some papers, or those that are named, in the order of the list."""
    wanted = set(runs) or {
        run for paper in papers for item in PAPERS[paper].items for run in item.runs
    }
    return [key for key in RUNS if key in wanted]


def attempt(key: str, *, full: bool) -> tuple[str, dict[str, Any] | str]:
    """Run a script; what it recorded, or why it failed."""
    try:
        return key, run_script(key, full=full)
    except RuntimeError as error:
        return key, str(error)


def run_all(keys: list[str], *, full: bool, n_jobs: int) -> list[str]:
    """Run scripts, so many at once, and keep what each found when it ends; those that failed."""
    before, failures = read_record(), []
    keys = sorted(keys, key=lambda key: seconds_of(before, key), reverse=True)
    # Threads: the scripts themselves are processes.
    queue = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered")
    for key, found in queue(delayed(attempt)(key, full=full) for key in keys):
        if isinstance(found, str):
            failures.append(key)
            print(f"  {found}", flush=True)
        else:
            # Read again: another run may have finished meanwhile.
            write_record(read_record() | {key: found})
    return failures


def main() -> None:
    """Run, record, write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paper", nargs="+", choices=list(PAPERS), default=list(PAPERS))
    parser.add_argument("--runs", nargs="+", choices=list(RUNS), default=[])
    parser.add_argument("--full", action="store_true", help="as large as in the papers")
    parser.add_argument("--n-jobs", type=int, default=1, help="scripts that run at once")
    parser.add_argument("--page", action="store_true", help="write the page, run nothing")
    options = parser.parse_args()
    keys = [] if options.page else chosen(options.paper, options.runs)
    failures = run_all(keys, full=options.full, n_jobs=options.n_jobs)
    PAGE.write_text(page(read_record()), "utf-8")
    FIGURES.write_text(figures_page(read_record()), "utf-8")
    NOTE.write_text(note_page(read_record()), "utf-8")
    print("docs/fidelity.md, docs/fidelity_figures.md and docs/fidelity_note.md are written.")
    if failures:
        raise SystemExit(f"Failed: {', '.join(failures)}. Their figures are those from before.")


if __name__ == "__main__":
    main()
