"""Temporary files that killed processes have left."""

import os
import time

from skstream.utils._files import SECONDS_UNTIL_STALE, atomic_write


def test_old_temporary_files_of_the_same_file_are_removed(tmp_path):
    path = tmp_path / "run.joblib"
    names = [f".{stem}.0123456789a{k}.tmp.joblib" for stem in ("run", "runs") for k in range(2)]
    for name in names:
        (tmp_path / name).write_text("left")
    old = time.time() - SECONDS_UNTIL_STALE - 60
    for name in (names[0], names[2]):
        os.utime(tmp_path / name, (old, old))
    with atomic_write(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert {one.name for one in tmp_path.iterdir()} == {"run.joblib", *names[1:]}
