"""Opening a stream from the names of its files, for the command line."""

from collections.abc import Sequence
from typing import Any

from skstream.streams._csv import CSVStream
from skstream.streams._file_system import find, has_password, is_uri
from skstream.streams._parquet import ParquetStream
from skstream.streams._table import TableStream

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".tsv", ".txt", ".data", ".dat")
_PACKED = (".gz", ".bz2", ".zst", ".lz4")
# Parameters of CSV files only.
_CSV_ALONE = ("delimiter", "decimal", "header", "encoding", "null_values")


def open_files(paths: Sequence[str], target: str, **options: Any) -> TableStream:
    """Open files by their endings.

    Parameters
    ----------
    paths : sequence of str
        One file, one folder, or several files in their order; paths or URIs.
    target : str
        Column of the labels or targets.
    **options : object
        Parameters of `CSVStream` or `ParquetStream`; None stands for the default.

    Returns
    -------
    CSVStream or ParquetStream
        The stream.

    Raises
    ------
    ValueError
        If the files are of no kind that can be read, or of two kinds, or a URI holds a password.
    """
    for path in paths:
        if has_password(path):
            raise ValueError(
                "A URI holds a password, which others could read on the command line. Leave it "
                "out: file systems find credentials in their settings and environment variables."
            )
    endings = [ending + packed for ending in _CSV for packed in ("", *_PACKED)]
    files = find(paths[0] if len(paths) == 1 else paths, [*_PARQUET, *endings]).names
    kinds = {_kind(file): file for file in files}
    if None in kinds:
        raise ValueError(f"{kinds[None]} is neither a Parquet nor a CSV file ({_endings()}).")
    if len(kinds) > 1:
        raise ValueError(f"{kinds['csv']} is a CSV file and {kinds['parquet']} a Parquet file.")
    options = {name: value for name, value in options.items() if value is not None}
    if "parquet" in kinds:
        wrong = [name for name in _CSV_ALONE if name in options]
        if wrong:
            raise ValueError(f"{wrong[0]}= is about CSV files, but {files[0]} is a Parquet file.")
        return ParquetStream(files, target, **options)
    if _without_packing(files[0]).endswith(".tsv"):
        options.setdefault("delimiter", "\t")
    return CSVStream(files, target, **options)


def _without_packing(file: str) -> str:
    name = file.partition("?")[0] if is_uri(file) else file
    name = name.lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name


def _kind(file: str) -> str | None:
    name = _without_packing(file)
    if name.endswith(_PARQUET):
        return "parquet"
    return "csv" if name.endswith(_CSV) else None


def _endings() -> str:
    return f"{', '.join(_PARQUET + _CSV)}; texts may be compressed, as in .csv.gz"
