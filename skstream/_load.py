"""Loading of all that is saved as data, and what files must hold to be read."""

import json
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import timedelta
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from skstream.core.evaluators.delayed import DelayedResult
from skstream.core.evaluators.delayed_times import Waits
from skstream.core.measures.measure import Measure
from skstream.core.result.result import EvaluationResult, ResultDetails
from skstream.core.rows.stream import Drift
from skstream.core.run.run_outcome import Cost
from skstream.core.run.tape import BASELINES, Tape
from skstream.studies._detector_study import DetectorStudy, StudiedDetector
from skstream.studies._leaderboard import Leaderboard
from skstream.studies._over_seeds import StreamStudy
from skstream.studies._seed_study import SeedStudy
from skstream.utils._choices import check_count
from skstream.utils._saved import FORMAT, RESULT_FILE, Arrays, no_such_file

#: A file may take so much memory, or so many times its own size, without being asked for.
USUAL_BYTES, USUAL_RATIO = 1 << 30, 100
#: Kinds of NumPy values of numbers, of numbers that count, of labels, and of times.
NUMBERS, COUNTS, LABELS, TIMES = "fiu", "iu", "biufUSM", "fM"
#: Classes that a file may hold, by their names.
Classes = Mapping[str, Any]
#: Columns of a tape beside its labels, where it has them.
_COLUMNS = ("weight", "row", "time", *BASELINES)
#: What is said of files that are something else.
HINT = " Checkpoints of runs are loaded with load_run."
#: Classes of all that is in a file of a result.
CLASSES: dict[str, Any] = {
    one.__name__: one
    for one in (
        *(EvaluationResult, DelayedResult, ResultDetails, Measure, Tape, Cost),
        *(Waits, Drift),
    )
}


def load_result(path: str | Path, *, max_bytes: int | None = None) -> EvaluationResult:
    """Load a result saved by ``result.save``: see `skstream.load`."""
    return load_npz(result_in(path), "a result saved by skstream", CLASSES, check_result, max_bytes)


def result_in(path: str | os.PathLike[str]) -> Path:
    """Return the file of the result in a folder of ``--save``; paths of files as they are."""
    path = Path(path)
    if not path.is_dir():
        return path
    if not (path / RESULT_FILE).is_file():
        raise ValueError(
            f"{path} is a folder without {RESULT_FILE}. Give a file written by result.save, or the "
            "folder that --save of the command line made."
        )
    return path / RESULT_FILE


def check_result(result: Any) -> None:
    """Raise an error if an array has a type or a shape that does not fit the others."""
    check_types(result, EvaluationResult)
    n_folds, n_rows = result.n_folds, len(result.checkpoints)
    measured = {str({name: [*one] for name, one in of.items()}) for of in result.values.values()}
    if len(measured) > 1 or [*result.measures] != result.metric_names:
        raise ValueError("its models have different measures")
    n_bins = (len(result.bins),) if isinstance(result, DelayedResult) else ()
    check_types(result.parameters.get("n_warmup", 0), int, "n_warmup")
    if len(result.folds) != n_folds or any(len(n) != n_folds for n in result.failed_at.values()):
        raise ValueError(f"its curves have {n_folds} folds, and the file names others")
    check_array(result.checkpoints, "checkpoints", COUNTS, (None,))
    if result.times is not None:
        check_array(result.times, "times", TIMES, (n_rows,))
    for by_forgetting in result.values.values():
        for by_metric in by_forgetting.values():
            for name, curve in by_metric.items():
                check_array(curve, f"a curve of {name}", "f", (n_rows, n_folds, *n_bins))
    for cost in result.costs.values():
        if cost.curves and len(cost.curves) != n_folds:
            raise ValueError(f"it has {n_folds} folds, and costs of others")
        for noted in cost.curves:
            check_array(noted, "curves of costs", NUMBERS, (None, 3))
    if result.classes is not None:
        check_array(result.classes, "classes", LABELS, (None,))
    if isinstance(result, DelayedResult):
        costs = list(result.waits.poll_costs.values())
        for one in costs:
            check_array(one, "poll_costs", NUMBERS, (len(costs[0]),))
    if result.tape is not None:
        if [*result.tape.answers] != result.model_names:
            raise ValueError("its tape is of other models")
        if not np.array_equal(result.tape.classes, result.classes):
            raise ValueError("the classes of its tape are not those of the result")
        # On the tape are all bins, also where the result is about some.
        _check_tape(result.tape, n_folds, () if not n_bins else (result.n_bins + 2,))
    repr(result), str(result)  # what else has a wrong type shows here, and not later


def _check_tape(tape: Tape, n_folds: int, n_bins: tuple[int, ...]) -> None:
    n_rows, kind = len(tape.y), "f" if tape.classes is None else "i"
    check_array(tape.y, "y", kind, (n_rows,))
    for name in _COLUMNS:
        column = getattr(tape, name)
        if column is not None:
            kinds = {"row": COUNTS, "weight": NUMBERS, "time": TIMES}.get(name, kind)
            check_array(column, name, kinds, (n_rows,))
    for answers in tape.answers.values():
        check_array(answers, "answers", kind, (n_folds, n_rows, *n_bins))
    n_classes = 0 if tape.classes is None else len(tape.classes)
    n_columns = math.prod(n_bins) * (n_classes if n_classes > 2 else 1)
    for scores in tape.scores.values():
        check_array(scores, "scores", "f", (n_folds, n_rows, n_columns))
    if tape.sets is not None:
        for one in tape.sets:
            check_array(one, "sets", COUNTS, (len(tape.sets[0]),))
    if tape.classes is not None:
        for codes in (tape.y, *tape.answers.values()):
            if codes.size and not -2 <= codes.min() <= codes.max() < len(tape.classes):
                raise ValueError(f"its labels are not numbers of {len(tape.classes)} classes")


_STUDIES = (SeedStudy, StreamStudy, DetectorStudy, Leaderboard)
_CLASSES = CLASSES | {one.__name__: one for one in (*_STUDIES, StudiedDetector)}


def load(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Load a saved result or study. No code in the file is executed.

    Checkpoints of runs and searches contain models; load them with `load_run`.

    Parameters
    ----------
    path : str or path-like
        File written by the ``save`` method of a result or a study, or the folder that the option
        ``--save`` of the command line made.
    max_bytes : int, default=None
        Most bytes of memory that the arrays of the file may take, as protection against small files
        made to fill the memory. None: one GiB, or a hundred times the size of the file if that is
        more.

    Returns
    -------
    found : EvaluationResult, DelayedResult, SeedStudy, StreamStudy, DetectorStudy or Leaderboard
        What was saved, without fitted models.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file contains something else, is damaged or incomplete, or has a format that this
        version does not know.

    See Also
    --------
    load_run : Loads a run in order to continue it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skstream import Persistent, PrequentialEvaluator, load
    >>> from skstream.streams import make_demo_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = PrequentialEvaluator("accuracy").evaluate(Persistent(), make_demo_stream(100))
    ...     path = result.save(Path(folder) / "result.npz")
    ...     load(path).scores == result.scores
    True
    """
    if max_bytes is not None:
        check_count(max_bytes, "max_bytes", 1)
    what = "a result or a study saved by skstream"
    return load_npz(result_in(path), what, _CLASSES, _check, max_bytes)


def _check(found: Any) -> None:
    """Raise an error where the parts of a result or study do not fit together."""
    if not isinstance(found, _STUDIES):
        check_result(found)
        return
    studies = list(found.studies.values()) if isinstance(found, StreamStudy) else [found]
    for one in studies:
        for result in one.results if isinstance(one, SeedStudy) else ():
            check_result(result)
    repr(found)  # what else has a wrong type shows here, and not later


class _TooLarge(ValueError):
    """The arrays of a file take more memory than is allowed."""


def load_npz(
    path: Path,
    what: str,
    classes: Classes,
    check: Callable[[Any], Any],
    max_bytes: int | None,
) -> Any:
    """Make the object that `save_npz` has written to a file, which may be anything.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        What the file should be, as in "a result saved by skstream".
    classes : dict of str to type
        The classes of all that may be in the object; the first ones may be the object.
    check : callable
        Raises any error where the parts of the object do not fit together.
    max_bytes : int or None
        Most bytes of memory that its arrays may take. None: the larger one of `USUAL_BYTES` and
        `USUAL_RATIO` times the size of the file.
    """
    arrays, header = _read(path, what, max_bytes)
    try:
        value = of_data(header, classes, arrays)
        check_types(value)
        check(value)
        return value
    except MemoryError:
        raise
    except Exception as error:  # wrong values can end in any error
        why = f"its parts do not fit together ({error})"
        if isinstance(error, KeyError):
            why = f"its part {error} is missing"
        raise ValueError(f"{path} is not {what}: {why}.") from error


def _read(path: Path, what: str, max_bytes: int | None) -> tuple[Arrays, dict[str, Any]]:
    """Read the arrays and the header of a file that may be anything."""
    if not path.exists():
        raise no_such_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
            if max_bytes is None:
                max_bytes = max(USUAL_BYTES, USUAL_RATIO * path.stat().st_size)
            if n_bytes > max_bytes:
                raise _TooLarge(
                    f"{path} takes {n_bytes:,} bytes of memory, more than {max_bytes:,}: it may "
                    "have been made to fill the memory. If you trust the file, load it with "
                    f"max_bytes={n_bytes}."
                )
            damaged = archive.testzip()  # compares every checksum; reading arrays may not do so
            if damaged is not None:
                raise ValueError(f"the checksum of its part {damaged} is wrong")
            for part in archive.infolist():
                _check_size(archive, part)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if "header" not in arrays:
            raise ValueError("it has no header")
        header = json.loads(str(arrays.pop("header")))
        found = header.pop("format", None) if isinstance(header, dict) else None
        if found is None:
            raise ValueError("its header names no format")
        if found == FORMAT and header.pop("parts", None) != sorted(arrays):
            raise ValueError("its parts are not those that its header lists")
    except (FileNotFoundError, PermissionError, MemoryError, _TooLarge):
        raise
    except Exception as error:  # the errors of zipfile and zlib on damaged files are not documented
        # A damaged list of its parts lets zipfile look for them before the beginning of the file.
        is_cut = isinstance(error, OSError | zipfile.BadZipFile)
        why = "its list of parts, at its end, cannot be read" if is_cut else error
        raise ValueError(f"{path} is not {what}, or is damaged: {why}.{HINT}") from error
    if found != FORMAT:
        raise ValueError(
            f"{path} has format {found}; this version of skstream reads {FORMAT}. Load it with the "
            "version that wrote it."
        )
    return arrays, header


def _check_size(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """Raise an error if an array says that it is larger than what there is of it."""
    with archive.open(part) as file:
        if np.lib.format.read_magic(file) == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        if math.prod(shape) * max(1, dtype.itemsize) != part.file_size - file.tell():
            raise ValueError(f"its part {part.filename} does not have the size that it declares")


def of_data(data: Any, classes: Classes, arrays: Arrays) -> Any:
    """Make the object that `as_data` was given; of other classes than those named none is made."""

    def inner(one: Any) -> Any:
        return of_data(one, classes, arrays)

    if isinstance(data, list):
        return list(map(inner, data))
    if not isinstance(data, dict):
        return data
    match next((key for key in data if key.startswith("$")), ""):
        case "$array":
            return arrays[data["$array"]]
        case "$number":
            return float(data["$number"])
        case "$class":
            if data["$class"] not in classes:
                raise ValueError(f"it holds a {data['$class']}")
            own = {name: inner(one) for name, one in data.items() if name != "$class"}
            return classes[data["$class"]](**own)
        case "$pairs":
            return {inner(key): inner(one) for key, one in data["$pairs"]}
        case "$tuple":
            return tuple(map(inner, data["$tuple"]))
        case "$microseconds":
            return timedelta(microseconds=data["$microseconds"])
    return {key: inner(one) for key, one in data.items()}


def check_types(value: Any, hint: Any = None, name: str = "it") -> None:
    """Compare a value, and all that it holds, with its type hint.

    Parameters
    ----------
    value : object
        The value.
    hint : type hint, default=None
        None: the value's own class. The fields of data classes are compared with their hints.
    name : str, default="it"
        The name of the value, for the error.

    Raises
    ------
    TypeError
        If a value has another type.
    """
    hint = type(value) if hint is None else hint
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is Any or kind is Callable:
        return
    if kind in (Union, UnionType):
        for one in inner:
            try:
                return check_types(value, one, name)
            except TypeError:
                continue
        raise _wrong(value, hint, name)
    if kind is float and type(value) is int:
        float(value)  # JSON does not tell whole numbers; they can be too large
        return
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _wrong(value, hint, name)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        for own, of_own in get_type_hints(type(value)).items():
            if hasattr(value, own):  # KW_ONLY is no field
                check_types(getattr(value, own), of_own, own)
    elif isinstance(value, Mapping) and inner:
        for key, one in value.items():
            check_types(key, inner[0], f"a name in {name}")
            check_types(one, inner[1], name)
    elif kind is tuple and inner:
        hints_of = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(hints_of) != len(value):
            raise _wrong(value, hint, name)
        for one, of_one in zip(value, hints_of, strict=True):
            check_types(one, of_one, name)
    elif isinstance(value, list) and inner:
        for one in value:
            check_types(one, inner[0], name)
    elif kind is np.ndarray and inner:
        (scalar,) = get_args(inner[1])
        if scalar is not Any and value.dtype.kind != np.dtype(scalar).kind:
            raise _wrong(value, hint, name)


def check_array(array: Any, name: str, kinds: str, shape: tuple[int | None, ...]) -> None:
    """Compare the type and the shape of an array; of an axis given as None, any length will do.

    Raises
    ------
    ValueError
        If it has another one.
    """
    wanted = tuple("any" if n is None else n for n in shape)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
        raise ValueError(f"{name} has values of a wrong type")
    if array.ndim != len(shape) or any(
        n is not None and n != found for n, found in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(f"{name} has shape {array.shape} instead of {wanted}")


def _wrong(value: Any, hint: Any, name: str) -> TypeError:
    needed = hint.__name__ if isinstance(hint, type) else hint
    return TypeError(f"{name} is {str(value)[:80]!r}, which is not {needed}")
