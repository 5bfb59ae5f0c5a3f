"""How far a run is: reports of groups, `status` of a run folder, and progress bars."""

import json
import os
import time
from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.evaluation._folder._reports import Report, Reporter, slowest
from skstream.evaluation._folder._status import GroupStatus, RunStatus
from skstream.evaluation._parallel import _groups
from skstream.evaluation._parallel._progress import _in_words, _repeated
from skstream.evaluation._parallel._workers import Workers
from skstream.utils._durations import duration_in_words
from skstream.utils._process import system
from tests.evaluation._models import Breaks, numbered_rows

X, y = numbered_rows(300), np.tile(["a", "b", "b"], 100)
REPORT = Report(
    state="running",
    places=[("a", 0), ("b", 0)],
    seconds_of=[3.0, 1.0],
    n_rows=100,
    first_row=20,
    seconds=4.0,
    host="node1",
    pid=7,
    token="t",
    time=0.0,
)


@pytest.fixture
def folder(tmp_path):
    """A finished run of two models in one group."""
    evaluator = sk.PrequentialEvaluator("accuracy", checkpoint=tmp_path / "run")
    evaluator.evaluate({"last": sk.Persistent(), "most": sk.MajorityClass()}, X, y)
    return tmp_path / "run"


def unfinished(folder, report=None, lock=None):
    """Make a finished run one that has not finished: with this report, and this lock."""
    (folder / "group-0" / "outcome.npz").unlink()
    file = folder / "group-0" / "status.json"
    last = Report.load(file)
    file.unlink()
    if report is not None:
        replace(last, **report).save(file)
    if lock is not None:
        (folder / "lock").write_text(json.dumps(lock))
    return sk.run_status(folder)


def of_this_process(token="t"):
    """Fields of the lock of a process that is alive, and on another machine."""
    return {"host": "node1", "pid": 4711, "token": token}


def test_a_finished_run(folder):
    seen = sk.run_status(folder)
    assert seen.state == "finished"
    assert (seen.n_rows, seen.n_rows_total) == (600, 600)
    assert seen.seconds_left is seen.rows_per_second is None
    (group,) = seen.groups
    assert group.state == "finished"
    assert group.models == (("last", 0), ("most", 0))
    assert group.pid == os.getpid()
    assert all(seconds > 0.0 for seconds in group.seconds.values())
    assert "finished, 100% done" in str(seen)
    assert "600 of 600 rows (each counted for every model)" in str(seen)
    assert "last, most" in str(seen).splitlines()[-1]
    assert repr(seen).startswith("RunStatus(")


def test_a_running_run_on_another_machine(folder):
    report = {"state": "running", "n_rows": 100, "first_row": 20, "seconds": 4.0}
    report |= {"time": time.time(), "token": "t", "seconds_of": [3.0, 1.0]}
    seen = unfinished(folder, report, of_this_process())
    assert seen.state == seen.groups[0].state == "running"
    assert (seen.n_rows, seen.n_rows_total) == (200, 600)
    assert seen.rows_per_second == 40.0
    assert seen.seconds_left == 10.0
    assert seen.slowest == ("last", 0, 0.75)
    assert "running (it is process 4711 on node1), 33% done" in str(seen)
    assert "40 per second, about 10 s left" in str(seen)
    assert "Slowest: last, 75% of the time" in str(seen)


@pytest.mark.parametrize(
    ("report", "lock", "run", "group"),
    [
        (None, None, "stopped", "waiting"),
        ({"state": "running"}, None, "stopped", "stopped"),
        (None, of_this_process(), "running", "waiting"),
        ({"state": "running"}, of_this_process("other"), "running", "waiting"),
        ({"state": "stopped"}, of_this_process(), "running", "stopped"),
        ({"state": "running", "time": 0.0}, of_this_process(), "running", "stale"),
    ],
)
def test_states(folder, report, lock, run, group):
    if report is not None:
        report = {"time": time.time(), "token": "t", **report}
    seen = unfinished(folder, report, lock)
    assert (seen.state, seen.groups[0].state) == (run, group)
    assert seen.seconds_left is None
    assert str(seen)


def test_a_lock_without_signs_of_life_is_stale(folder):
    seen = unfinished(folder, {"state": "running"}, of_this_process())
    os.utime(folder / "lock", (0, 0))
    seen = sk.run_status(folder)
    assert seen.state == seen.groups[0].state == "stale"
    assert "stale (it was process 4711 on node1)" in str(seen)


def test_a_killed_process_of_this_machine_is_stale(folder):
    lock = {"host": "here", "system": system(), "pid": 2**22 + 1, "started": "1", "token": "t"}
    assert unfinished(folder, {"state": "running"}, lock).state == "stale"


def test_time_left_is_that_of_the_slowest_group_at_least():
    group = GroupStatus(
        state="running",
        models=(("a", 0),),
        n_rows=50,
        n_rows_total=100,
        rows_per_second=1.0,
        seconds_left=50.0,
        seconds={("a", 0): 50.0},
        host="h",
        pid=1,
    )
    fast = replace(group, rows_per_second=100.0, seconds_left=0.5, models=(("b", 0),))
    waiting = replace(group, state="waiting", n_rows=0, rows_per_second=None, seconds_left=None)
    run = RunStatus(folder=None, state="running", host=None, pid=None, groups=(group, fast))
    assert run.seconds_left == 50.0
    assert replace(run, groups=(group, waiting)).seconds_left == 150.0
    assert replace(run, groups=(replace(group, n_rows_total=None),)).n_rows_total is None
    assert replace(run, groups=(replace(group, n_rows_total=None),)).seconds_left is None


def test_to_frame(folder):
    pytest.importorskip("pandas")
    frame = sk.run_status(folder).to_frame()
    assert list(frame.model) == ["last", "most"]
    assert list(frame.rows) == [300, 300]
    assert set(frame.state) == {"finished"}


def test_nothing_is_written(folder):
    def files():
        return {p: p.stat().st_mtime_ns for p in folder.rglob("*")}

    before = files()
    sk.run_status(folder)
    assert files() == before


def test_folders_that_hold_no_run(tmp_path, folder):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        sk.run_status(tmp_path / "nothing")
    with pytest.raises(ValueError, match="holds no run: it has no manifest"):
        sk.run_status(tmp_path)
    file = folder / "group-0" / "status.json"
    others = replace(Report.load(file), places=[("other", 0), ("most", 0)])
    for text in ("{", "[]", "{}", '{"places": [["last", 0]], "seconds_of": []}', "\x00"):
        file.write_text(text)
        assert sk.run_status(folder).groups[0].state == "finished"
    others.save(file)
    (folder / "group-0" / "outcome.npz").unlink()
    for text in (file.read_text(), "{"):  # of another run, damaged
        file.write_text(text)
        assert sk.run_status(folder).groups[0].state == "unknown"
        assert "unknown" in str(sk.run_status(folder))
    (folder / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="not the manifest of a run folder"):
        sk.run_status(folder)


def test_a_failing_run_says_that_it_stopped(tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", checkpoint=tmp_path)
    with pytest.raises(sk.ModelError):
        evaluator.evaluate(Breaks(at=30), numbered_rows(60), np.tile(["a", "b", "b"], 20))
    assert Report.load(tmp_path / "group-0" / "status.json").state == "stopped"
    assert sk.run_status(tmp_path).state == "stopped"


def test_reports_are_seldom_and_only_under_the_own_lock(tmp_path):
    class Run:
        seconds_of, path_of, n_rows = {("a", 0): 0.0}, {("a", 0): "loop"}, 0
        failure_of = {}  # noqa: RUF012

    run, file = Run(), tmp_path / "status.json"
    reporter = Reporter(file, tmp_path / "lock", "mine")
    reporter.begin(run)
    assert not file.exists()  # the lock is not held
    (tmp_path / "lock").write_text('{"token": "mine"}')
    reporter.begin(run)
    run.n_rows = 5
    reporter.advance(run)
    assert Report.load(file).n_rows == 0
    reporter.every = 0.0
    reporter.advance(run)
    assert Report.load(file).n_rows == 5
    assert Report.load(file).path_of == {("a", 0): "loop"}
    file.unlink()
    file.mkdir()
    reporter.advance(run)  # cannot be written: the run goes on


def test_rates_do_not_count_rows_of_an_earlier_call():
    assert REPORT.rows_per_second == 20.0
    assert replace(REPORT, n_rows=20).rows_per_second is None
    assert slowest(REPORT.seconds_per_row) == (("a", 0), 0.75)
    assert slowest({("a", 0): 1.0}) is None


def test_a_finished_group_keeps_its_rate_if_the_client_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(_groups, "seconds_per_row", lambda _, models, __: dict.fromkeys(models, 1))
    taken = []

    def end(workers, outcome):
        taken.append("ab".index(outcome.lanes[0].name))
        raise SystemExit

    def evaluate():
        evaluator = sk.PrequentialEvaluator("accuracy", checkpoint=tmp_path, n_jobs=2)
        with parallel_config(backend="threading"):
            evaluator.evaluate({"a": sk.Persistent(), "b": sk.Persistent()}, X, y)

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(Workers, "_take", end)
        evaluate()
    seen = sk.run_status(tmp_path).groups[taken[0]]
    assert (seen.state, seen.n_rows) == ("finished", 300)
    assert seen.rows_per_second > 0.0
    evaluate()
    assert sk.run_status(tmp_path).groups[taken[0]] == seen


def test_a_finished_group_keeps_its_rate_if_its_last_report_is_missing(folder):
    file = folder / "group-0" / "status.json"
    unsaid = replace(Report.load(file), state="running", token="t", n_rows=100, first_row=20)
    for seconds, n_rows, rate in [(4.0, 100, 20.0), (4.0, 20, None)]:
        replace(unsaid, seconds=seconds, n_rows=n_rows).save(file)
        assert sk.run_status(folder).groups[0].rows_per_second == rate
        evaluator = sk.PrequentialEvaluator("accuracy", checkpoint=folder)
        evaluator.evaluate({"last": sk.Persistent(), "most": sk.MajorityClass()}, X, y)
        assert Report.load(file).state == "finished"
        assert sk.run_status(folder).groups[0].rows_per_second == rate


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3600, "1 h"),
        (12_000, "3 h 20 min"),
        (90_000, "1 d 1 h"),
        (86_460, "1 d"),
    ],
)
def test_durations(seconds, text):
    assert duration_in_words(seconds) == text


@pytest.mark.parametrize("kept", [False, True])
def test_progress_of_workers_in_rows(tmp_path, capsys, kept):
    pytest.importorskip("tqdm")
    models = {"last": sk.Persistent(), "most": sk.MajorityClass()}
    evaluator = sk.PrequentialEvaluator("accuracy", engine="loop", n_jobs=2, progress=True)
    evaluator.set_params(checkpoint=tmp_path if kept else None)
    with parallel_config("threading"):
        evaluator.evaluate(models, X, y)
    shown = capsys.readouterr().err
    assert "600/600" in shown
    assert "slowest: " in shown
    assert " (loop), " in shown and "; loop: " in shown
    if kept:  # what is finished already says nothing of the rate
        with parallel_config("threading"):
            evaluator.evaluate(models, X, y)
        assert "600/600" in capsys.readouterr().err


def test_a_bar_names_the_slowest_model_and_the_path_of_every_other():
    paths = {("a", 0): "loop", ("b", 0): "kernel", ("c", 0): "loop"}
    seconds = {("a", 0): 7.0, ("b", 0): 1.0, ("c", 0): 2.0}
    assert _in_words(seconds, paths) == "slowest: a (loop), 70% of the time; kernel: b; loop: c"
    folds = {("a", 0): "loop", ("a", 1): "loop"}
    its = "slowest: a (fold 1) (loop), 75% of the time"
    assert _in_words({("a", 0): 1.0, ("a", 1): 3.0}, folds) == its
    assert _in_words({("a", 0): 0.0}, {("a", 0): "kernel, X by loop"}) == "kernel, X by loop"
    many = {(name, 0): "kernel" for name in "abcdef"}
    assert _in_words({}, many) == "kernel: a, b, c, 3 more"
    assert _in_words({}, {}) == ""


def test_a_bar_in_this_process_says_how_the_parts_of_a_pipeline_are_executed(capsys):
    pytest.importorskip("tqdm")
    pipeline = sk.make_stream_pipeline(StandardScaler(), Breaks())
    sk.PrequentialEvaluator("accuracy", progress=True).evaluate(pipeline, X, y)
    shown = capsys.readouterr().err
    assert "kernel, Breaks by loop" in shown
    assert "300/300" in shown


def test_a_function_is_repeated_while_a_block_runs_and_once_after_it():
    calls, twice = [], Event()

    def look():
        calls.append(None)
        if len(calls) == 2:
            twice.set()

    with _repeated(look, 0.001):
        assert twice.wait(10)
    n_calls = len(calls)
    assert n_calls >= 3
