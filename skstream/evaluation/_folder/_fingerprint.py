"""Fingerprints: what must be the same where a run goes on, and what differs, in words."""

import os
import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from types import FunctionType, MappingProxyType
from typing import Any
from zlib import crc32

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator

from skstream.evaluation._folder._read_checksums import PassChecksums
from skstream.evaluation._settings import Settings
from skstream.streams._arrays import ArrayStream, ChunkStream
from skstream.streams._composition._base import sources_of
from skstream.streams._file_stream import FileStream
from skstream.utils._content import PLAIN, NotComparable, content, is_unordered, name_of
from skstream.utils._rows import Schema, is_frame
from skstream.utils._version import __version__

#: What is the same, and its value as text.
Fingerprint = dict[str, str]

#: Rows that are compared of a stream that is not in memory.
HEAD = 1000
#: Parameters on which no answer and no score depends, and those that are compared resolved.
IGNORED = (
    *("n_jobs", "retries", "progress", "checkpoint", "checkpoint_every"),
    *("fingerprint", "callbacks", "metrics", "forgetting"),
)
#: Values that their text tells apart.
_BY_TEXT = (*PLAIN, date, datetime, time, timedelta, Decimal, Fraction, PurePath, range, slice)
#: Where the classes of such values are from: those of others may hold more than their text.
_OF_PYTHON = {one.__module__.partition(".")[0] for one in _BY_TEXT}
#: Longest text of a value and most values in one; of others a digest is compared.
_LONGEST, _MOST_VALUES = 20_000, 1000
#: What stands between the kind of a value and the digest of what it holds.
OF_CONTENT = " of content "
#: Parts of the names of what is compared, from which follows what need not be said.
OF_MEASURE, OF_MODEL, CLASS = " of the measure ", " of model '", "the class of "
FILES, PARAMETER, CHECKSUM = "the files", "the parameter ", "the checksum of "
TYPES = "the types of the columns"
#: What is said of in the plural.
_PLURAL = (FILES, TYPES, "the columns", "the classes")
#: Ends of the names of what is compared of a stream.
STREAMS = OF_STREAM, OF_HOLDOUT = " of the stream", " of the holdout"
#: Longest text of a value in an error.
_LONGEST_SHOWN = 80
#: Most differences that an error names.
_MOST_SAID = 5


def as_text(value: Any, listed: Collection[int] = ()) -> str:
    """Return a text that is the same in every process for equal values, and short.

    Of models in `listed`, by their ids, it is the class: their parameters are compared elsewhere.

    Raises
    ------
    NotComparable
        If the value cannot be compared with one of an earlier process.
    """
    kind, text = type(value), partial(as_text, listed=listed)
    if isinstance(value, np.bool_ | np.integer | np.floating | np.str_ | np.bytes_):
        return text(value.item())
    if isinstance(value, _BY_TEXT) and kind.__module__.partition(".")[0] in _OF_PYTHON:
        return _short(repr(value), value)
    if kind in (dict, list, tuple, set, frozenset) and len(value) >= _MOST_VALUES:
        return f"{kind.__name__} of {len(value):,}{OF_CONTENT}{content(value)}"
    if kind in (dict, MappingProxyType):
        pairs = [f"{text(key)}: {text(one)}" for key, one in value.items()]
        return _short(f"{{{', '.join(sorted(pairs) if is_unordered(value) else pairs)}}}", value)
    if kind is tuple:
        return _short(f"({', '.join(map(text, value))})", value)
    if kind is list:
        return _short(f"[{', '.join(map(text, value))}]", value)
    if kind in (set, frozenset):
        return _short(f"{kind.__name__}({', '.join(sorted(map(text, value)))})", value)
    if kind is np.ndarray and value.size <= 1:
        return f"array {text(value.tolist())} of type {value.dtype}"
    if isinstance(value, type):
        return name_of(value)
    if isinstance(value, partial):
        return f"partial{text((value.func, value.args, value.keywords))}"
    if id(value) in listed:
        return name_of(kind)
    if hasattr(value, "get_params") and not is_compared_whole(value):
        return f"{name_of(type(value))}{text(parameters_of(value))}"
    return f"{_kind_of(value)}{OF_CONTENT}{content(value)}"


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model and of the models in it; none where it cannot say them."""
    try:
        return dict(model.get_params(deep=True))
    except Exception:  # of other libraries, with other ideas of what a parameter is
        return {}


def listed_in(parameters: Mapping[str, Any]) -> set[int]:
    """Return the ids of the models among parameters whose own parameters are also among them."""
    return {
        id(value)
        for name, value in parameters.items()
        if hasattr(value, "get_params")
        and not isinstance(value, type)
        and not is_compared_whole(value)
        and all(f"{name}__{own}" in parameters for own in parameters_of(value))
    }


def is_compared_whole(model: Any) -> bool:
    """Whether a model is more than its parameters: also a copy keeps what it has learnt."""
    try:
        model.get_params(deep=True)
    except Exception:
        return True
    own = getattr(type(model), "__sklearn_clone__", None)  # that of FrozenEstimator, say
    return own is not None and own is not BaseEstimator.__sklearn_clone__


def _short(text: str, value: Any) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{type(value).__name__} of {len(value):,}{OF_CONTENT}{content(value)}"


def _kind_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        kind = "array" if type(value) is np.ndarray else name_of(type(value))
        return f"{kind} of shape {value.shape}"
    if sparse.issparse(value):
        return f"sparse matrix of shape {value.shape}"
    return name_of(value) if isinstance(value, FunctionType) else name_of(type(value))


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
        if name in IGNORED or name in ignored or (name == "holdout" and held_out is not None):
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


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """Say what differs between two fingerprints."""
    differing = [
        what
        for what in {**before, **now}
        # Another measure has other fields: its name says enough.
        if now.get(what) != before.get(what)
        and (OF_MEASURE not in what or (what in now and what in before))
    ]
    # Another model has other parameters: its class says enough.
    others = [what.removeprefix(CLASS) for what in differing if what.startswith(CLASS)]
    parts = tuple(f" of {model}" for model in others)
    causes = {
        end: min((_rank(what) for what in differing if what.endswith(end)), default=0)
        for end in STREAMS
    }
    explained = set(_explained(differing, now, before))
    said = [
        _said(what, now.get(what), before.get(what))
        for what in differing
        if what not in explained
        and (what.startswith(CLASS) or not what.endswith(parts))
        and all(_rank(what) == rank for end, rank in causes.items() if what.endswith(end))
    ]
    more = len(said) - _MOST_SAID
    return [*said[:_MOST_SAID], f"and {more} more differences"] if more > 0 else said


def _explained(
    differing: list[str], now: Mapping[str, str], before: Mapping[str, str]
) -> Iterator[str]:
    """Find parameters of models that differ since another one does.

    The parameters of a step follow from its class, and the list of steps from the steps in it.
    """
    of_models = [what for what in differing if what.startswith(PARAMETER) and OF_MODEL in what]
    for what in of_models:
        name, _, model = what.removeprefix(PARAMETER).partition(OF_MODEL)
        ends = [k for k in range(len(name)) if name.startswith("__", k)]
        if any(f"{PARAMETER}{name[:k]}{OF_MODEL}{model}" in of_models for k in ends):
            yield what
            continue
        one, other = now.get(what, ""), before.get(what, "")
        if not one.startswith("["):
            continue
        beside = f"{PARAMETER}{name.rpartition('__')[0]}"
        for step in of_models:
            of_same = step.startswith(beside) and step.endswith(OF_MODEL + model)
            if of_same and step != what and step in now and step in before:
                one = one.replace(now[step], before[step])
        if one == other:
            yield what


def _rank(what: str) -> int:
    """Return a smaller number for what explains the rest: other files have other rows."""
    for rank, begin in {0: FILES, 1: PARAMETER, 3: TYPES, 4: CHECKSUM}.items():
        if what.startswith(begin):
            return rank
    return 2  # sizes, numbers and kinds


def _said(what: str, now: str | None, before: str | None) -> str:
    if what.startswith(CLASS):
        model = what.removeprefix(CLASS)
        if now is None:
            return f"{model} is missing from this call"
        if before is None:
            return f"{model} is in this call and not in the run"
    if what.startswith(f"{CHECKSUM}the ") and (now is None or before is None):
        # Weights, arrivals or label times, of all rows or of the first.
        given = what.removeprefix(f"{CHECKSUM}the ").removeprefix("first ")
        if now is None:
            return f"no {given} are given, and there were some"
        return f"{given} are given, and there were none"
    one, _, _ = (now or "").rpartition(OF_CONTENT)
    other, _, _ = (before or "").rpartition(OF_CONTENT)
    if one and one == other:
        return f"{what} is {_shown(one, 0)}, of other content"
    begin = _begin_of_difference(now or "", before or "")
    are, were = ("are", "were") if what.startswith(_PLURAL) else ("is", "was")
    return f"{what} {are} {_shown(now, begin)} and {were} {_shown(before, begin)}"


def _begin_of_difference(one: str, other: str) -> int:
    """Return from where on long texts are shown, so that what differs can be seen."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))
    return max(0, same - _LONGEST_SHOWN // 2) if max(len(one), len(other)) > _LONGEST_SHOWN else 0


def _shown(text: str | None, begin: int) -> str:
    if text is None:
        return "not there"
    start, end = "..." if begin else "", "..." if len(text) > begin + _LONGEST_SHOWN else ""
    return f"{start}{text[begin : begin + _LONGEST_SHOWN]}{end}"
