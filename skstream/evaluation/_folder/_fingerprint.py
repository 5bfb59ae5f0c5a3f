"""Fingerprints: what must be the same where a run goes on."""

import os
import platform
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
import sklearn

from skstream.evaluation._folder._as_text import (
    as_text,
    is_compared_whole,
    listed_in,
    parameters_of,
)
from skstream.evaluation._folder._differences import (
    CHECKSUM,
    CLASS,
    FILES,
    OF_MEASURE,
    PARAMETER,
    STREAMS,
    TYPES,
)
from skstream.evaluation._folder._read_checksums import PassChecksums
from skstream.evaluation._settings import Settings
from skstream.streams._arrays import ArrayStream, ChunkStream
from skstream.streams._composition import sources_of
from skstream.streams._file_stream import FileStream
from skstream.utils._content import NotComparable, content, name_of
from skstream.utils._rows import Schema, is_frame
from skstream.utils._version import __version__

#: What is the same, and its value as text.
Fingerprint = dict[str, str]

#: Rows that are compared of a stream that is not in memory.
HEAD = 1000
#: Parameters on which no answer and no score depends, and those that are compared resolved.
_IGNORED = (
    *("n_jobs", "retries", "progress", "checkpoint", "checkpoint_every"),
    *("metrics", "forgetting"),
)
OF_STREAM, OF_HOLDOUT = STREAMS


def versions() -> dict[str, str]:
    """Return the versions of what wrote a checkpoint."""
    return {
        "skstream": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def fingerprint(
    evaluator: Any,
    models: Mapping[str, Any],
    settings: Settings,
    stream: Any,
    held_out: Any = None,
    ignored: Collection[str] = (),
) -> Fingerprint:
    """Return what must be the same where this evaluation of a stream goes on.

    `held_out` is the stream of held-out rows, None where there is none; `ignored` are parameters
    of the evaluator that are compared in another form.

    Raises
    ------
    TypeError
        If something cannot be compared; names it.
    """
    found, is_search = {"the evaluator": type(evaluator).__name__}, hasattr(evaluator, "metric")
    for name, value in evaluator.get_params(deep=False).items():
        if name in _IGNORED or name in ignored or (name == "holdout" and held_out is not None):
            continue
        if name == "error_score" and not is_search:
            continue  # no score before a failure depends on it
        if name == "monitors" and value is not None:
            _put_monitors(found, value)
            continue
        parts = value if isinstance(value, tuple) else ()
        for k, one in enumerate(parts):
            _put(found, f"the parameter {name}[{k}]", one)
        if not parts:
            _put(found, f"the parameter {name}", value)
    if is_search:  # other measures are none of its parameters
        found["the parameter metric"] = next(iter(settings.metrics))
    else:
        found["the parameter metrics"] = ", ".join(settings.metrics)
    for name, measure in settings.metrics.items():
        how = {"function": measure.function, "formula": measure.formula, "series": measure.series}
        for field, value in {**measure.facts, **how}.items():
            _put(found, f"the {field}{OF_MEASURE}{name}", value)
    _put(found, "the parameter forgetting", settings.forgetting)
    found["the classes"] = "None" if settings.classes is None else str(settings.classes.tolist())
    for name, model in models.items():
        found[f"{CLASS}model '{name}'"] = name_of(type(model))
        parameters = parameters_of(model)
        text = partial(as_text, listed=listed_in(parameters))
        for parameter, value in parameters.items():
            _put(found, f"{PARAMETER}{parameter} of model '{name}'", value, compare=text)
        if settings.parameters["warm_start"] or is_compared_whole(model):
            _put(found, f"the state of model '{name}'", model, compare=content)
    found |= _of_stream(stream, OF_STREAM)
    return found if held_out is None else found | _of_stream(held_out, OF_HOLDOUT)


def _put_monitors(found: Fingerprint, monitors: Mapping[str, Any]) -> None:
    """Note each parameter of each monitor, as of models."""
    found["the parameter monitors"] = ", ".join(map(str, monitors))
    for name, monitor in monitors.items():
        found[f"{CLASS}monitor '{name}'"] = name_of(type(monitor.detector))
        for parameter, value in monitor.get_params().items():
            if parameter != "detector":
                _put(found, f"{PARAMETER}{parameter} of monitor '{name}'", value)


def _put(
    found: Fingerprint, what: str, value: Any, compare: Callable[[Any], str] = as_text
) -> None:
    """Note a value, or say that it cannot be compared."""
    try:
        found[what] = compare(value)
    except NotComparable as error:
        advice = (
            "Define the stream's method row_options, which says what is compared"
            if what.endswith(STREAMS)
            else "Give an object that can be pickled, such as a number, a text or a function"
        )
        raise TypeError(
            f"checkpoint= compares {what} with that of the run that goes on, and "
            f"{type(value).__name__} cannot be compared: {error}. {advice}, or leave out "
            "checkpoint=."
        ) from error


def _of_stream(stream: Any, of: str) -> Fingerprint:
    found: Fingerprint = {}
    sources = sources_of(stream)
    of_files = [source for source in sources if isinstance(source, FileStream)]
    if of_files:
        names = [os.path.basename(path) for source in of_files for path in source.files]
        contents = [one for source in of_files for one in source.contents()]
        found[f"{FILES}{of}"] = ", ".join(names)
        often = Counter(names)
        for k, (size, sample) in enumerate(contents):
            name = names[k] if often[names[k]] == 1 else f"file {k} ({names[k]})"
            found[f"the size of {name}{of}"] = f"{size:,} bytes"
            if sample is not None:
                found[f"{CHECKSUM}{name}{of}"] = f"{sample:08x}"
    for name, value in stream.row_options().items():
        _put(found, f"the parameter {name}{of}", value)
    whole = all(map(_is_in_memory, sources))
    n_known = stream.n_rows
    found[f"the number of rows{of}"] = "unknown" if n_known is None else f"{n_known:,}"
    sums = PassChecksums()
    types: dict[str, None] = {}  # in their order
    for chunk in stream:
        head = chunk if whole else chunk.part(0, HEAD - sums.n_rows)
        if not sums.n_rows:
            schema = Schema.of(head.X)
            columns = "" if schema.width is None else f" of {schema.width} columns"
            found[f"the kind of rows{of}"] = f"{schema.kind}{columns}"
            if schema.names is not None:
                found[f"the columns{of}"] = ", ".join(map(str, schema.names))
        types.setdefault(_types_of(head.X))
        sums.add(*head)
        if sums.n_rows >= HEAD and not whole:
            break
    rows = "" if whole else "first "
    found[f"{TYPES}{of}"] = " and then ".join(types)
    for name, checksums in sums.sums().items():
        found[f"{CHECKSUM}the {rows}{name}{of}"] = f"{crc32(repr(checksums).encode()):08x}"
    return found


def _types_of(X: Any) -> str:
    """Return the types of the values of rows; of categories also which, and their order."""
    if not is_frame(X):
        return _type_as_text(X.dtype)
    types = zip(X.columns, X.dtypes, strict=True)
    return ", ".join(f"{name}: {_type_as_text(dtype)}" for name, dtype in types)


def _type_as_text(dtype: Any) -> str:
    if isinstance(dtype, np.dtype):
        return {"U": "str", "S": "bytes"}.get(dtype.kind, str(dtype))
    if not hasattr(dtype, "ordered"):
        return str(dtype)
    categories = as_text(list(dtype.categories))
    return f"{'ordered ' if dtype.ordered else ''}{dtype} {categories}"


def _is_in_memory(stream: Any) -> bool:
    """Whether all rows can be compared at once: the stream is made of arrays, or a list of them."""
    if isinstance(stream, ChunkStream):
        return isinstance(stream.source, list | tuple)
    return isinstance(stream, ArrayStream)
