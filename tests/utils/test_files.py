"""Files are there whole or not at all."""

import os
import stat
import sys

import pytest

from skstream.utils._saved import atomic_write

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("before", [None, "old"])
def test_an_error_leaves_what_was_there(tmp_path, error, before):
    path = tmp_path / "file.csv"
    if before is not None:
        path.write_text(before)
    with pytest.raises(error), atomic_write(path) as temporary:
        temporary.write_text("half of the n")
        raise error
    assert names(tmp_path) == ([] if before is None else ["file.csv"])
    assert before is None or path.read_text() == before


def test_nothing_is_seen_before_the_end(tmp_path):
    path = tmp_path / "scores.csv.gz"
    path.write_text("old")
    with atomic_write(str(path)) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".gz"  # writers choose the format by it
        assert temporary.name.startswith(".")
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["scores.csv.gz"]


def test_a_failing_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")

    def full(descriptor):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"), atomic_write(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


@posix
def test_permissions_are_those_of_the_file_or_of_any_new_file(tmp_path):
    plain = tmp_path / "plain"
    plain.touch()
    with atomic_write(tmp_path / "new") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode
    plain.chmod(0o640)
    with atomic_write(plain) as temporary:
        temporary.write_text("new")
    assert stat.S_IMODE(plain.stat().st_mode) == 0o640


@posix
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_write(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@posix
def test_a_device_is_written_to_and_not_replaced():
    with atomic_write(os.devnull) as temporary:
        assert str(temporary) == os.devnull
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


def test_long_names_fit(tmp_path):
    path = tmp_path / ("n" * 240 + ".txt")
    with atomic_write(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"


def test_what_cannot_be_written_is_said(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"), atomic_write(tmp_path):
        pass
    missing = tmp_path / "no" / "file"
    with pytest.raises(FileNotFoundError, match="Create it first"), atomic_write(missing):
        pass
