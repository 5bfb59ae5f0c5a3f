"""Arrays that grow in files: whole at any moment, and right after a return to an earlier state."""

import errno
import os
import pickle
from io import BytesIO

import numpy as np
import pytest

from skstream.utils import _npy
from skstream.utils._npy import GrowingArray, StoredArray


def grown(folder, *blocks, dtype="int8", width=None):
    array = GrowingArray("a.npy", np.dtype(dtype), width)
    array.reopen(folder)
    for block in blocks:
        array.append(np.asarray(block))
        array.write(folder)
    return array


@pytest.mark.parametrize("mode", [None, "r"])
def test_numpy_reads_the_file_after_every_write(mode, tmp_path):
    array = grown(tmp_path)
    for n_rows in (3, 10, 100_000):
        array.append(np.arange(array.n_rows, n_rows) % 100)
        array.write(tmp_path)
        np.testing.assert_array_equal(
            np.load(tmp_path / "a.npy", mmap_mode=mode), np.arange(n_rows) % 100
        )


@pytest.mark.parametrize("dtype", ["int8", "int16", "float64"])
def test_the_header_is_that_of_numpy(dtype, tmp_path):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    grown(tmp_path, values[:1], values[1:], dtype=dtype, width=3)
    own, numpys = (tmp_path / "a.npy").read_bytes(), BytesIO()
    np.save(numpys, values)
    assert len(own) == len(numpys.getvalue())
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), values)


def test_an_array_without_rows_is_read(tmp_path):
    assert grown(tmp_path).stored(tmp_path).open().shape == (0,)
    assert grown(tmp_path, width=4).stored(tmp_path).open().shape == (0, 4)


def test_rows_written_after_a_saved_state_are_written_over(tmp_path):
    array = grown(tmp_path, [1, 2, 3])
    array.append(np.array([4]))  # waits when the state is saved, and is saved with it
    saved = pickle.dumps(array)
    array.append(np.array([5, 6, 7, 8]))
    array.write(tmp_path)
    seen = array.stored(tmp_path).open()
    again = pickle.loads(saved)
    again.reopen(tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), [1, 2, 3])
    again.append(np.array([9]))
    again.write(tmp_path)
    np.testing.assert_array_equal(again.stored(tmp_path).open(), [1, 2, 3, 4, 9])
    np.testing.assert_array_equal(seen, [1, 2, 3, 4, 9, 6, 7, 8])  # the map is still whole


def test_what_is_appended_may_change_later(tmp_path):
    array, block = grown(tmp_path), np.array([1, 2], dtype=np.int8)
    array.append(block)
    block[:] = 7
    array.write(tmp_path)
    np.testing.assert_array_equal(array.stored(tmp_path).open(), [1, 2])


def test_a_file_that_lost_rows_is_refused(tmp_path):
    array = grown(tmp_path, [1, 2, 3])
    path = tmp_path / "a.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"a\.npy does not fit its checkpoint: 3 rows.*130 inst"):
        array.reopen(tmp_path)
    with pytest.raises(ValueError, match=r"a\.npy is damaged"):
        array.stored(tmp_path).open()
    grown(tmp_path, [1, 2])
    with pytest.raises(ValueError, match="has 2 rows, and 3 were written"):
        StoredArray(path, 3, 0).open()
    path.unlink()
    with pytest.raises(FileNotFoundError, match="put the run folder back"):
        array.stored(tmp_path).open()
    with pytest.raises(ValueError, match="has 0 instead of 131 bytes"):
        array.reopen(tmp_path)


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 16
    path.write_bytes(content)


@pytest.mark.parametrize("place", [*range(128), 128, 131, 133])
def test_a_flipped_bit_is_noticed_or_changes_nothing(place, tmp_path):
    values = np.arange(6, dtype=np.int8).reshape(3, 2)
    array = grown(tmp_path, values[:1], values[1:], width=2)
    stored, path = array.stored(tmp_path), tmp_path / "a.npy"
    stored.open()
    _npy._verified.clear()
    flip(path, place)
    try:
        found = stored.open()
    except ValueError as error:
        assert "a.npy is damaged" in str(error)
    else:  # a space of the header
        assert place < 128
        assert found.dtype == np.int8
        np.testing.assert_array_equal(found, values)
    if place >= 128:
        with pytest.raises(ValueError, match=r"a\.npy is damaged: the checksum of its 3 rows"):
            array.reopen(tmp_path)


def test_a_file_is_verified_once_until_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(_npy, "_BLOCK", 2)
    array = grown(tmp_path, [1, 2, 3])
    first, path = array.stored(tmp_path), tmp_path / "a.npy"
    assert first.open().tolist() == [1, 2, 3]
    with monkeypatch.context() as patch:
        patch.setattr(_npy, "zlib", None)  # no checksum is computed
        assert pickle.loads(pickle.dumps(first)).open().tolist() == [1, 2, 3]
    array.append(np.array([4]))
    array.write(tmp_path)
    assert first.open().tolist() == [1, 2, 3]
    assert array.stored(tmp_path).open().tolist() == [1, 2, 3, 4]
    flip(path, 131)
    os.utime(path, (0, 0))
    assert first.open().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="checksum of its 4 rows"):
        array.stored(tmp_path).open()


def test_a_file_of_objects_is_not_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([print], dtype=object))
    for n_rows in (0, 1):
        with pytest.raises(ValueError, match=r"a\.npy is damaged"):
            StoredArray(tmp_path / "a.npy", n_rows, 0).open()


@pytest.mark.skipif("not __import__('os').path.exists('/dev/full')")
def test_a_full_disk_names_the_file_and_loses_nothing(tmp_path):
    array = grown(tmp_path, [1, 2])
    kept = (tmp_path / "a.npy").rename(tmp_path / "kept")
    (tmp_path / "a.npy").symlink_to("/dev/full")
    array.append(np.array([3, 4]))
    with pytest.raises(OSError, match=r"No space left.*a\.npy") as caught:
        array.write(tmp_path)
    assert caught.value.errno == errno.ENOSPC
    (tmp_path / "a.npy").unlink()
    kept.rename(tmp_path / "a.npy")
    array.write(tmp_path)
    np.testing.assert_array_equal(array.stored(tmp_path).open(), [1, 2, 3, 4])
