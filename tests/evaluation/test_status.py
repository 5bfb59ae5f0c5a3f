"""How far a run is: reports of groups, `status` of a run folder, and progress bars."""

import json
import os
import time
from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.preprocessing import StandardScaler

import skstream as sk
from skstream.evaluation._folder._reports import Report, Reporter, slowest
from skstream.utils._files import system
from tests.evaluation._models import Breaks, numbered_rows

X, y = numbered_rows(300), np.tile(["a", "b", "b"], 100)
REPORT = Report(
    state="running",
    seconds_of={("a", 0): 3.0, ("b", 0): 1.0},
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
    report |= {"time": time.time(), "token": "t"}
    report |= {"seconds_of": {("last", 0): 3.0, ("most", 0): 1.0}}
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
    others = replace(Report.load(file), seconds_of={("other", 0): 1.0, ("most", 0): 1.0})
    for text in ("{", "[]", "{}", '{"$class": "Report", "seconds_of": []}', "\x00"):
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


def test_a_bar_in_this_process_says_how_the_parts_of_a_pipeline_are_executed(capsys):
    pytest.importorskip("tqdm")
    pipeline = sk.make_stream_pipeline(StandardScaler(), Breaks())
    sk.PrequentialEvaluator("accuracy", progress=True).evaluate(pipeline, X, y)
    shown = capsys.readouterr().err
    assert "kernel, Breaks by loop" in shown
    assert "300/300" in shown
