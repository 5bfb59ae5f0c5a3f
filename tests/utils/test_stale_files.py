"""Temporary files that killed processes have left."""

import os
import subprocess
import sys
import time

import pytest

from skstream.utils import _files
from skstream.utils._files import SECONDS_UNTIL_STALE, atomic_write


def test_old_temporary_files_of_the_same_file_are_removed(tmp_path):
    path = tmp_path / "run.joblib"
    names = [
        f".{stem}.76543210-1-0123456789a{k}.tmp.joblib"
        for stem in ("run", "runs")
        for k in range(2)
    ]
    for name in names:
        (tmp_path / name).write_text("left")
    old = time.time() - SECONDS_UNTIL_STALE - 60
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (old, old))
    with atomic_write(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert {one.name for one in tmp_path.iterdir()} == {"run.joblib", *names[1:]}


def left_by(process: int, system: str) -> str:
    return f".run.{system}-{process}-0123456789ab.tmp.joblib"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not say who runs")
def test_what_ended_processes_of_this_system_left_is_removed_at_once(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    here = _files.system()
    gone = [left_by(ended.pid, here), left_by(os.getpid(), here)]
    kept = [left_by(os.getppid(), here), left_by(ended.pid, "76543210"), left_by(10**30, here)]
    for name in (*gone, *kept):
        (tmp_path / name).write_text("left")
    path = tmp_path / "run.joblib"
    with atomic_write(path) as first:
        first.write_text("first")
        with atomic_write(path) as second:  # as another thread does
            second.write_text("second")
        assert path.read_text() == "second"
        assert first.exists()
    assert path.read_text() == "first"
    assert {one.name for one in tmp_path.iterdir()} == {"run.joblib", *kept}


def test_the_writer_is_in_the_name(tmp_path):
    with atomic_write(tmp_path / "run.joblib") as temporary:
        assert f".{_files.system()}-{os.getpid()}-" in temporary.name
