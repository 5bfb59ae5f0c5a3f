"""The page of the papers' tables and figures is whole, and is what its record says."""

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import fidelity
from benchmarks._fidelity import Row, add_json_option, record
from benchmarks._fidelity_items import PAPERS, RUNS, Item

ROOT = Path(__file__).parents[2]
# Numbered tables and figures of each paper, counted in the papers.
NUMBERED = {
    "gama": (3, 10),
    "cervantes": (4, 2),
    "zliobaite": (5, 7),
    "grzenda": (2, 14),
    "bifet": (5, 4),
}
RECORD = fidelity.read_record()
ITEMS = [(key, item) for key, paper in PAPERS.items() for item in paper.items]
IDS = [f"{key}, {item.name}" for key, item in ITEMS]
FIGURE = Row("gama", "Table 2", "LED", "NBa", 486.0, 488.0)


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_table_and_figure_is_there_once(paper: str) -> None:
    n_tables, n_figures = NUMBERED[paper]
    wanted = [f"Table {k + 1}" for k in range(n_tables)]
    wanted += [f"Figure {k + 1}" for k in range(n_figures)]
    assert sorted(item.name for item in PAPERS[paper].items) == sorted(wanted)


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=IDS)
def test_every_item_has_its_figures_or_a_reason(paper: str, item: Item) -> None:
    rows = fidelity.rows_of(RECORD, paper, item)
    assert item.kind in ("figures", *fidelity.STATES)
    assert bool(rows) == bool(item.runs)
    assert item.why or item.kind == "figures"
    if not item.runs:
        assert item.kind != "figures"
    if item.kind == "figures":
        assert fidelity.counted(item, rows)


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=IDS)
def test_what_is_called_reproduced_has_theirs_and_ours(paper: str, item: Item) -> None:
    for row in fidelity.rows_of(RECORD, paper, item):
        for value in (row.theirs, row.ours):
            assert value if isinstance(value, str) else math.isfinite(value), row


def test_every_recorded_row_is_shown() -> None:
    shown = sum(len(fidelity.rows_of(RECORD, paper, item)) for paper, item in ITEMS)
    assert shown == sum(len(run["rows"]) for run in RECORD.values())


@pytest.mark.parametrize("key", RUNS)
def test_commands_name_scripts_and_their_options(key: str) -> None:
    run = RUNS[key]
    source = (ROOT / "benchmarks" / f"{run.script}.py").read_text("utf-8")
    for command in (run.command(), run.command(full=True)):
        for option in (word for word in command.split() if word.startswith("--")):
            assert f'"{option}"' in source, command
    assert "add_json_option(parser)" in source
    assert any(key in item.runs for _, item in ITEMS)


@pytest.mark.parametrize("key", RUNS)
def test_what_is_recorded_was_got_by_the_command_that_is_named(key: str) -> None:
    run = RUNS[key]
    assert RECORD[key]["command"] in (run.command(), run.command(full=True))
    assert RECORD[key]["versions"] and RECORD[key]["date"] and RECORD[key]["note"]


def test_the_page_is_what_the_record_says() -> None:
    assert fidelity.PAGE.read_text("utf-8") == fidelity.page(RECORD)
    assert fidelity.FIGURES.read_text("utf-8") == fidelity.figures_page(RECORD)


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=IDS)
def test_every_row_in_words_has_a_verdict_and_what_does_not_hold_a_reason(paper, item):
    said = fidelity.judged()
    for row in fidelity.rows_of(RECORD, paper, item):
        found, why = fidelity.verdict(item, row, said)
        assert found != "to be judged", row
        if isinstance(row.theirs, str) and row.kind == "shape" and not row.column:
            assert found in fidelity.ORDER[:3] and bool(why) == (found != "holds"), row
            changed = fidelity.verdict(item, replace(row, ours=f"{row.ours}!"), said)
            assert changed == ["to be judged", ""]


def test_another_record_is_another_page() -> None:
    changed = json.loads(json.dumps(RECORD))
    changed["fold_tests"]["rows"][0]["ours"] = 7.0
    assert fidelity.page(changed) != fidelity.page(RECORD)


def test_exact_figures_come_out_again(monkeypatch, tmp_path, pa):
    """The cheapest of the runs, as it stands."""
    monkeypatch.setattr(fidelity, "OUTPUT", tmp_path)
    found, recorded = fidelity.run_script("fold_tests", full=False), RECORD["fold_tests"]
    assert len(found["rows"]) == len(recorded["rows"])
    for row, wanted in zip(found["rows"], recorded["rows"], strict=True):
        assert row == {key: pytest.approx(value) for key, value in wanted.items()}
    assert "Table 5: accuracy 65.00" in (tmp_path / "fold_tests.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("row", "tolerance", "relative", "is_good"),
    [
        (FIGURE, 2.0, False, True),
        (FIGURE, 1.9, False, False),
        (FIGURE, 0.01, True, True),
        (FIGURE, 0.004, True, False),
        (replace(FIGURE, ours="miss"), 1e9, False, False),
        (replace(FIGURE, note="2 missed"), 2.0, False, False),
        (replace(FIGURE, theirs="miss", ours="miss"), 0.0, False, True),
    ],
)
def test_what_is_within_the_tolerance(row, tolerance, relative, is_good):
    assert row.is_within(tolerance, relative=relative) == is_good


def test_stand_ins_are_never_called_reproduced() -> None:
    item = Item("Table 2", "delays", runs=("a",), tolerance=0.15, relative=True)
    stand_in = replace(FIGURE, why="another learner")
    far = replace(FIGURE, ours=800.0)
    assert fidelity.state(item, [stand_in]) == "shape only"
    assert fidelity.state(item, [FIGURE]).startswith("reproduced: 1 of 1")
    assert fidelity.state(item, [FIGURE, far, stand_in]).startswith("reproduced in part: 1 of 2")


def test_none_within_the_tolerance_is_not_called_reproduced() -> None:
    item = Item("Table 2", "delays", runs=("a",), tolerance=0.15, relative=True)
    assert fidelity.state(item, [replace(FIGURE, ours=800.0)]).startswith("not reproduced: 0 of 1")


def test_rows_are_lines_that_are_read_again(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    add_json_option(parser)
    path = parser.parse_args(["--json", str(tmp_path / "rows")]).json
    record([FIGURE], path)
    record([replace(FIGURE, line="RBF")], path)
    record([FIGURE], parser.parse_args([]).json)
    rows = [Row(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    assert rows == [FIGURE, replace(FIGURE, line="RBF")]


def test_a_script_that_fails_is_named(monkeypatch, pa):
    monkeypatch.setitem(RUNS, "fold_tests", replace(RUNS["fold_tests"], options="--part none"))
    with pytest.raises(RuntimeError, match=r"--part none failed:\n(.|\n)*invalid choice"):
        fidelity.run_script("fold_tests", full=False)


def test_one_paper_is_run_alone() -> None:
    assert fidelity.chosen(["cervantes"], []) == ["testbed", "testbed_trees"]
    assert fidelity.chosen(PAPERS, []) == list(RUNS)
    assert fidelity.chosen(PAPERS, ["delayed"]) == ["delayed"]
