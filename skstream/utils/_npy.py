"""Arrays in NPY files that grow row by row, and that are opened when they are wanted."""

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Bytes before the values; the same for any number of rows, so that it can be written over.
_HEADER = 128


@dataclass(frozen=True)
class StoredArray:
    """An array in an NPY file; only its place and length are kept, and pickled.

    Attributes
    ----------
    path : Path
        The file.
    n_rows : int
        How many of its rows belong to the array; others may follow them.
    """

    path: Path
    n_rows: int

    def open(self) -> NDArray[Any]:
        """Return the array as a read-only memory map.

        Raises
        ------
        FileNotFoundError
            If the file is not there any more.
        ValueError
            If the file is something else, or has fewer rows.
        """
        try:
            found = np.lib.format.open_memmap(self.path, mode="r") if self.n_rows else _read(self)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.path} holds labels or answers of this result (keep_tape='disk') and is not "
                "there any more: put the run folder back in its place."
            ) from error
        except (ValueError, EOFError) as error:
            raise ValueError(f"{self.path} is damaged: {error}.") from error
        if len(found) < self.n_rows:
            raise ValueError(
                f"{self.path} is damaged: it has {len(found):,} rows, and {self.n_rows:,} were "
                "written."
            )
        return found[: self.n_rows]


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
            If the file does not have all of them.
        """
        path = folder / self.name
        path.touch()
        known, size = _HEADER + self._n_written * self._row_bytes, path.stat().st_size
        if self._n_written and size < known:
            raise ValueError(
                f"{path} does not fit its checkpoint: {self._n_written:,} rows were written, and "
                f"it has {size:,} instead of {known:,} bytes. Put the file back, or remove "
                f"{folder.parent} to begin again."
            )
        # Not shortened: a result of an earlier attempt may look at the rows after these.
        with path.open("r+b") as file:
            file.write(self._header(self._n_written))

    def write(self, folder: Path, *, sync: bool = False) -> None:
        """Write what waits; if this fails, it still waits.

        Parameters
        ----------
        folder : Path
            The folder of the file.
        sync : bool, default=False
            Whether it shall also survive that the machine loses power.
        """
        if not self._waiting and (self._is_synced or not sync or not self._n_written):
            return
        path, n_rows = folder / self.name, self.n_rows
        try:
            with path.open("r+b") as file:
                file.seek(_HEADER + self._n_written * self._row_bytes)
                for block in self._waiting:
                    file.write(block.data)
                file.flush()  # the header says no more than what is there
                file.seek(0)
                file.write(self._header(n_rows))
                file.flush()
                if sync:
                    os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        self._n_written, self._waiting, self._is_synced = n_rows, [], sync

    def stored(self, folder: Path) -> StoredArray:
        """Return what is written."""
        return StoredArray(folder / self.name, self._n_written)

    @property
    def _row_bytes(self) -> int:
        return self._dtype.itemsize * (1 if self._width is None else self._width)

    def _header(self, n_rows: int) -> bytes:
        shape = (n_rows,) if self._width is None else (n_rows, self._width)
        facts = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": shape,
        }
        start = np.lib.format.magic(1, 0) + struct.pack("<H", _HEADER - 10)
        return start + f"{facts!r}".ljust(_HEADER - 11).encode("ascii") + b"\n"
