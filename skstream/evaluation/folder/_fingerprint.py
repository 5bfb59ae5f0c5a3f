"""Fingerprints: what must be the same where a run goes on."""

import os
import platform
import re
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType
from typing import Any
from zlib import crc32

import joblib
import numpy as np
import sklearn
from scipy import sparse

from skstream.evaluation._passes import PassChecksums
from skstream.evaluation._settings import Settings
from skstream.streams import ArrayStream, ChunkStream
from skstream.streams._open import FirstRows
from skstream.streams._table import TableStream
from skstream.utils._rows import Schema, is_frame

#: What is the same, and its value as text.
Fingerprint = dict[str, str]

#: Rows that are compared of a stream that is not in memory.
HEAD = 1000
#: Parameters on which no answer and no score depends, and those that are compared resolved.
_IGNORED = (
    *("n_jobs", "retries", "progress", "checkpoint", "checkpoint_every"),
    *("metrics", "forgetting"),
)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_OF_MEASURE = " of the measure "
_CLASS = "the class of "
#: Longest text of a value in an error.
_SHOWN = 80
#: Most differences that an error names.
_MOST = 5


def versions() -> dict[str, str]:
    """Return the versions of what wrote a checkpoint."""
    from skstream import __version__  # late: it is set after this module is read

    return {
        "skstream": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def fingerprint(
    evaluator: Any, models: Mapping[str, Any], settings: Settings, stream: Any
) -> Fingerprint:
    """Return what must be the same where this evaluation of a stream goes on."""
    found = {"the evaluator": type(evaluator).__name__}
    for name, value in evaluator.get_params(deep=False).items():
        if name not in _IGNORED:
            parts = value if isinstance(value, tuple) else ()
            found |= {f"the parameter {name}[{k}]": as_text(one) for k, one in enumerate(parts)}
            if not parts:
                found[f"the parameter {name}"] = as_text(value)
    found["the parameter metrics"] = ", ".join(settings.metrics)
    for name, measure in settings.metrics.items():
        how = {"function": measure.function, "formula": measure.formula}
        for field, value in {**measure.facts, **how}.items():
            found[f"the {field}{_OF_MEASURE}{name}"] = as_text(value)
    found["the parameter forgetting"] = as_text(
        {name: mechanism.name for name, mechanism in settings.forgetting.items()}
    )
    found["the classes"] = "None" if settings.classes is None else str(settings.classes.tolist())
    for name, model in models.items():
        found[f"{_CLASS}model '{name}'"] = _name_of(type(model))
        for parameter, value in _parameters(model).items():
            found[f"the parameter {parameter} of model '{name}'"] = as_text(value)
        if settings.parameters["warm_start"]:
            found[f"the fitted state of model '{name}'"] = joblib.hash(model)
    return found | _of_stream(stream)


def _of_stream(stream: Any) -> Fingerprint:
    found = {}
    source = stream.stream if isinstance(stream, FirstRows) else stream
    if isinstance(source, TableStream):
        for path, (size, sample) in zip(source.files, source.contents(), strict=True):
            name = os.path.basename(path)
            found[f"the size of {name}"] = f"{size:,} bytes"
            if sample is not None:
                found[f"the checksum of {name}"] = f"{sample:08x}"
    whole = _is_in_memory(source)
    found["the number of rows"] = "unknown" if stream.n_rows is None else f"{stream.n_rows:,}"
    sums, n_rows, times = PassChecksums(), 0, 0
    for chunk in stream:
        head = chunk if whole else chunk.part(0, HEAD - n_rows)
        if not n_rows:
            schema = Schema.of(head.X)
            found["the kind of rows"] = f"{schema.kind} of {schema.width} columns"
            if schema.names is not None:
                found["the columns"] = ", ".join(map(str, schema.names))
        sums.add(*head)
        if "label_time" in head.meta:
            times = crc32(np.ascontiguousarray(head.meta["label_time"]).tobytes(), times)
        n_rows += len(head.y)
        if n_rows >= HEAD and not whole:
            break
    rows = "" if whole else "first "
    for name, checksums in sums.sums().items():
        found[f"the checksum of the {rows}{name}"] = f"{crc32(repr(checksums).encode()):08x}"
    if times:
        found[f"the checksum of the {rows}label times"] = f"{times:08x}"
    return found


def _is_in_memory(stream: Any) -> bool:
    """Whether all rows can be compared at once: the stream is made of arrays, or a list of them."""
    if isinstance(stream, ChunkStream):
        return isinstance(stream.source, list | tuple)
    return isinstance(stream, ArrayStream)


def _parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of a model and of the models in it."""
    try:
        return dict(model.get_params(deep=True))
    except Exception:  # of other libraries, with other ideas of what a parameter is
        return {}


def as_text(value: Any) -> str:
    """Return a text that is the same in every process for equal values, and short."""
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {as_text(one)}' for key, one in value.items())}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(as_text, value))})"
    if is_frame(value) or hasattr(value, "to_numpy"):
        return _of_array(np.asarray(value), type(value).__name__)
    if sparse.issparse(value):
        parts = value.tocsr()
        return as_text((parts.shape, parts.data, parts.indices, parts.indptr))
    if isinstance(value, np.ndarray):
        return _of_array(value, "array")
    if isinstance(value, list):
        return f"[{', '.join(map(as_text, value))}]" if len(value) < HEAD else _of_list(value)
    if isinstance(value, partial):
        return f"partial{as_text((value.func, value.args, value.keywords))}"
    if isinstance(value, type):
        return _name_of(value)
    if hasattr(value, "get_params"):
        return f"{_name_of(type(value))}{as_text(_parameters(value))}"
    if callable(value):
        return _of_function(value)
    return _ADDRESS.sub("", repr(value))


def _of_list(values: list[Any]) -> str:
    return f"list of {len(values):,}, checksum {crc32(repr(values).encode()):08x}"


def _of_array(values: np.ndarray, kind: str) -> str:
    if values.size <= 1:
        return f"{kind} {values.tolist()!r}"
    data = (
        repr(values.tolist()).encode()
        if values.dtype.hasobject
        else np.ascontiguousarray(values).tobytes()
    )
    return f"{kind} of shape {values.shape}, checksum {crc32(data):08x}"


def _of_function(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    if code is None:
        return _ADDRESS.sub("", repr(function))
    return f"{_name_of(function)} (checksum {crc32(_of_code(code)):08x})"


def _of_code(code: CodeType) -> bytes:
    """Return what a function does, wherever it stands: without places in files and in memory."""
    parts = [code.co_code, " ".join(code.co_names).encode()]
    for value in code.co_consts:
        if isinstance(value, CodeType):
            parts.append(_of_code(value))
        else:
            plain = sorted(map(repr, value)) if isinstance(value, frozenset) else value
            parts.append(_ADDRESS.sub("", repr(plain)).encode())
    return b"\0".join(parts)


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """Say what differs between two fingerprints."""
    differing = [
        what
        for what in {**before, **now}
        # Another measure has other fields: its name says enough.
        if now.get(what) != before.get(what)
        and (_OF_MEASURE not in what or (what in now and what in before))
    ]
    # Another model has other parameters: its class says enough.
    others = [what.removeprefix(_CLASS) for what in differing if what.startswith(_CLASS)]
    parts = tuple(f" of {model}" for model in others)
    said = [
        _said(what, now.get(what), before.get(what))
        for what in differing
        if what.startswith(_CLASS) or not what.endswith(parts)
    ]
    more = len(said) - _MOST
    return [*said[:_MOST], f"and {more} more differences"] if more > 0 else said


def _said(what: str, now: str | None, before: str | None) -> str:
    if what.startswith(_CLASS):
        model = what.removeprefix(_CLASS)
        if now is None:
            return f"{model} is missing from this call"
        if before is None:
            return f"{model} is in this call and not in the run"
    begin = _begin_of_difference(now or "", before or "")
    return f"{what} is {_shown(now, begin)} and was {_shown(before, begin)}"


def _begin_of_difference(one: str, other: str) -> int:
    """Return from where on long texts are shown, so that what differs can be seen."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))
    return max(0, same - _SHOWN // 2) if max(len(one), len(other)) > _SHOWN else 0


def _shown(text: str | None, begin: int) -> str:
    if text is None:
        return "not there"
    start, end = "..." if begin else "", "..." if len(text) > begin + _SHOWN else ""
    return f"{start}{text[begin : begin + _SHOWN]}{end}"
