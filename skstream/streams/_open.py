"""Opening a stream from the names of its files, for the command line."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

from skstream.streams._arff import ARFFStream
from skstream.streams._csv import CSVStream
from skstream.streams._files import FileStream, find, is_uri, shown_uri
from skstream.streams._parquet import ParquetStream
from skstream.streams._svmlight import SVMLightStream
from skstream.utils._choices import did_you_mean

_PACKED = (".gz", ".bz2", ".zst", ".lz4")
#: Kinds of files by their names in messages: endings, and streams.
_KINDS: dict[str, tuple[tuple[str, ...], type[FileStream]]] = {
    "a Parquet": ((".parquet", ".pq"), ParquetStream),
    "a CSV": ((".csv", ".tsv", ".txt", ".data", ".dat"), CSVStream),
    "an ARFF": ((".arff",), ARFFStream),
    "an SVMlight": ((".svm", ".svmlight", ".libsvm"), SVMLightStream),
}


def _parameters(kind: type[FileStream]) -> set[str]:
    """Names of all that says how files of a kind are read."""
    return {*signature(kind).parameters, *kind.default_options} - {"path", "options"}


#: Those of all kinds.
PARAMETERS_OF_READERS = set[str]().union(*(_parameters(kind) for _, kind in _KINDS.values()))


def open_files(paths: Sequence[str], target: str | None, **options: Any) -> FileStream:
    """Open files by their endings.

    Parameters
    ----------
    paths : sequence of str
        One file, one folder, or several files in their order; paths or URIs.
    target : str or None
        Column of the labels or targets; None for SVMlight files, whose lines begin with them.
    **options : object
        Parameters of the stream, and keys of its `options`; None stands for the default.

    Returns
    -------
    ParquetStream, CSVStream, ARFFStream or SVMLightStream
        The stream.

    Raises
    ------
    ValueError
        If the files are of no kind that can be read, or of two kinds, or a URI holds a password, or
        an option is not one of this kind of files.
    """
    for path in paths:
        if shown_uri(path) != path:
            raise ValueError(
                "A URI contains a password, which others could see on the command line. Leave it "
                "out: file systems find credentials in their settings and environment variables."
            )
    endings = [end for ends, _ in _KINDS.values() for end in ends]
    packed = [end + packing for end in endings for packing in ("", *_PACKED)]
    files = list(find(paths[0] if len(paths) == 1 else paths, packed).files)
    kinds = {_kind(file): file for file in files}
    if "" in kinds:
        all_kinds = " nor ".join(f"{kind} file" for kind in _KINDS)
        raise ValueError(
            f"{kinds['']} is neither {all_kinds} ({', '.join(endings)}; texts may be compressed, "
            "as in .csv.gz)."
        )
    if len(kinds) > 1:
        raise ValueError(
            " and ".join(f"{file} is {kind} file" for kind, file in sorted(kinds.items())) + "."
        )
    (kind,) = kinds
    opened: Any = _KINDS[kind][1]
    options = {name: value for name, value in options.items() if value is not None}
    if target is not None:
        options["target"] = target
    elif "target" in signature(opened).parameters:
        raise ValueError(f"{files[0]} is {kind} file: pass the column of its labels as target=.")
    known = _parameters(opened)
    for name in options.keys() - known:
        raise ValueError(
            f"{name}= is not a parameter of streams of files such as {files[0]}, which is {kind} "
            f"file.{did_you_mean(name, known)} Known are {', '.join(sorted(known))}."
        )
    if _without_packing(files[0]).endswith(".tsv"):
        options.setdefault("delimiter", "\t")
    reading = {name: options.pop(name) for name in list(options) if name in opened.default_options}
    return opened(files, **options, options=reading)


def _without_packing(file: str) -> str:
    name = (file.partition("?")[0] if is_uri(file) else file).lower()
    for ending in _PACKED:
        name = name.removesuffix(ending)
    return name


def _kind(file: str) -> str:
    """Return the kind of a file by its ending; nothing if it is unknown."""
    name = _without_packing(file)
    return next((kind for kind, (endings, _) in _KINDS.items() if name.endswith(endings)), "")
