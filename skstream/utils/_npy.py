"""Arrays in NPY files that grow row by row, and that are opened when they are wanted."""

import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from skstream.utils._files import naming

#: Bytes before the values; the same for any number of rows, so that it can be written over.
_HEADER = 128
#: Bytes that are read at once to compare a checksum.
_BLOCK = 1 << 20
#: Files whose checksum was right: what was compared, and the size and time of the file then.
_verified: dict[Path, tuple[int, ...]] = {}


@dataclass(frozen=True)
class StoredArray:
    """An array in an NPY file; its place, length and checksum are all that is kept, and pickled.

    Attributes
    ----------
    path : Path
        The file.
    n_rows : int
        How many of its rows belong to the array; others may follow them.
    checksum : int
        CRC-32 of the type, the width and the values of these rows.
    """

    path: Path
    n_rows: int
    checksum: int

    def open(self) -> NDArray[Any]:
        """Return the array as a read-only memory map.

        The checksum is compared the first time, and again after the file has changed.

        Raises
        ------
        FileNotFoundError
            If the file is not there any more.
        ValueError
            If the file is something else, has fewer rows, or has other values.
        """
        try:
            found = np.lib.format.open_memmap(self.path, mode="r") if self.n_rows else _read(self)
            n_rows = len(found)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.path} holds labels or answers of this result (keep_tape='disk') and is not "
                f"there any more: put the run folder back in its place, or {_advice(self.path)}"
            ) from error
        except (PermissionError, MemoryError):
            raise
        except Exception as error:  # a damaged header can end in nearly any error
            raise self._damaged(str(error)) from error
        if n_rows < self.n_rows:
            raise self._damaged(f"it has {n_rows:,} rows, and {self.n_rows:,} were written")
        found = found[: self.n_rows]
        self._verify(found)
        return found

    def _verify(self, found: NDArray[Any]) -> None:
        facts = self.path.stat()
        state = self.n_rows, self.checksum, facts.st_size, facts.st_mtime_ns
        if _verified.get(self.path) == state:
            return
        checksum, n_left = _first_checksum(found.dtype, found.shape[1:]), found.nbytes
        with self.path.open("rb") as file:  # not through the map: its pages would stay in memory
            file.seek(getattr(found, "offset", _HEADER))
            while n_left and (block := file.read(min(n_left, _BLOCK))):
                checksum = zlib.crc32(block, checksum)
                n_left -= len(block)
        if checksum != self.checksum or not found.flags.c_contiguous:
            raise self._damaged(
                f"the checksum of its {self.n_rows:,} rows is not the one noted when they were "
                "written"
            )
        _verified[self.path] = state

    def _damaged(self, why: str) -> ValueError:
        return ValueError(
            f"{self.path} is damaged: {why}. Put a whole copy back, or {_advice(self.path)}"
        )


def _advice(path: Path) -> str:
    """Say how to get a file of a run folder again, which is below the folder "tape" of a group."""
    tape = next((folder for folder in path.parents if folder.name == "tape"), path.parent)
    group = tape.parent
    if not group.is_dir():
        return "make the result again where the folder is now, with skstream.load(folder)."
    return f"remove {group.name} in {group.parent} and make the same call again to compute it anew."


def _first_checksum(dtype: np.dtype[Any], shape: tuple[int, ...]) -> int:
    """Return the checksum of no rows, which covers what the header says of each row."""
    return zlib.crc32(f"{dtype.str} {shape}".encode())


def _read(array: StoredArray) -> NDArray[Any]:
    """Read a file that may have no rows, which cannot be mapped."""
    with array.path.open("rb") as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


class GrowingArray:
    """Appends rows to an NPY file, which has a right header after every write.

    The object can be pickled. With `reopen` it continues where it was, whatever was written to the
    file since: what comes later is written over it.

    Parameters
    ----------
    name : str
        Name of the file in its folder.
    dtype : dtype
        Type of the values.
    width : int, default=None
        Values in a row. None: one, and the array has one axis.
    """

    def __init__(self, name: str, dtype: np.dtype[Any], width: int | None = None) -> None:
        self.name = name
        self._dtype = dtype
        self._width = width
        self._waiting: list[NDArray[Any]] = []
        self._n_written = 0
        self._checksum = _first_checksum(dtype, () if width is None else (width,))  # of these
        self._is_synced = False

    def append(self, values: NDArray[Any]) -> int:
        """Take the next rows, which `write` writes; return their bytes."""
        block = np.ascontiguousarray(values, dtype=self._dtype)
        self._waiting.append(block.copy() if block is values else block)
        return block.nbytes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._n_written + sum(map(len, self._waiting))

    def reopen(self, folder: Path) -> None:
        """Make the file, or go on in it after the rows that are known.

        Raises
        ------
        ValueError
            If the file does not have all of them, or if they have changed.
        """
        path = folder / self.name
        path.touch()
        known, size = _HEADER + self._n_written * self._row_bytes, path.stat().st_size
        if self._n_written and size < known:
            raise ValueError(
                f"{path} does not fit its checkpoint: {self._n_written:,} rows were written, and "
                f"it has {size:,} instead of {known:,} bytes. Put the file back, or {_advice(path)}"
            )
        # Not shortened: a result of an earlier attempt may look at the rows after these.
        with naming(path), path.open("r+b") as file:
            self._write_header(file, self._n_written)
        if self._n_written:
            self.stored(folder).open()

    def write(self, folder: Path, *, sync: bool = False) -> None:
        """Write what waits; if this fails, it still waits.

        Parameters
        ----------
        folder : Path
            The folder of the file.
        sync : bool, default=False
            Whether it must also be safe after a power failure.
        """
        if not self._waiting and (self._is_synced or not sync or not self._n_written):
            return
        path, n_rows, checksum = folder / self.name, self.n_rows, self._checksum
        with naming(path), path.open("r+b") as file:
            file.seek(_HEADER + self._n_written * self._row_bytes)
            for block in self._waiting:
                values = block.view(np.int64) if block.dtype.kind == "M" else block
                file.write(values.data)
                checksum = zlib.crc32(values.data, checksum)
            file.flush()  # the header says no more than what is there
            self._write_header(file, n_rows)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        self._n_written, self._checksum = n_rows, checksum
        self._waiting, self._is_synced = [], sync

    def stored(self, folder: Path) -> StoredArray:
        """Return what is written."""
        return StoredArray(folder / self.name, self._n_written, self._checksum)

    @property
    def _row_bytes(self) -> int:
        return self._dtype.itemsize * (1 if self._width is None else self._width)

    def _write_header(self, file: BinaryIO, n_rows: int) -> None:
        # NumPy leaves room for a larger number, so that the header always has the same length.
        facts = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (n_rows,) if self._width is None else (n_rows, self._width),
        }
        file.seek(0)
        np.lib.format.write_array_header_1_0(file, facts)


def opened(column: Any) -> Any:
    """Return a column as an array, a memory map if it is in a file."""
    return column.open() if isinstance(column, StoredArray) else column
