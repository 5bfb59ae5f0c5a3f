"""What a run is made of: what must be the same where it goes on, and what a result notes."""

import os
import platform
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import PurePath
from types import FunctionType, MappingProxyType
from typing import Any
from zlib import crc32

import numpy as np
import scipy
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info

from skstream.engine.timeline import Timeline
from skstream.evaluation._folder._read_checksums import PassChecksums
from skstream.evaluation._settings import Settings
from skstream.streams._arrays import ArrayStream, ChunkStream
from skstream.streams._composition._base import sources_of
from skstream.streams._file_stream import FileStream
from skstream.utils._content import PLAIN, NotComparable, content, is_unordered, name_of
from skstream.utils._rows import Schema, is_frame
from skstream.utils._version import __version__

#: What must be the same, as texts by their names, of each of what they are about.
Fingerprint = dict[str, dict[str, str]]

#: Rows that are compared of a stream that is not in memory.
HEAD = 1000
#: Parameters on which no answer and no score depends, and those that are compared resolved.
IGNORED = (
    *("n_jobs", "retries", "progress", "checkpoint"),
    *("metrics", "forgetting"),
)
#: Parameters of a search that are compared; its candidates and its measure are, too.
_OF_SEARCH = ("tuning", "race")
#: Values that their text tells apart.
_BY_TEXT = (*PLAIN, date, datetime, time, timedelta, Decimal, Fraction, PurePath, range, slice)
#: Where the classes of such values are from: those of others may hold more than their text.
_OF_PYTHON = {one.__module__.partition(".")[0] for one in _BY_TEXT}
#: Longest text of a value and most values in one; of others a digest is compared.
_LONGEST, _MOST_VALUES = 20_000, 1000
#: What stands between the kind of a value and the digest of what it holds.
OF_CONTENT = " of content "
#: Names, and begins of names, of what is compared.
CLASS, FILES, PARAMETER, CHECKSUM = "the class", "the files", "the parameter ", "the checksum of "
TYPES = "the types of the columns"
#: What is said of in the plural.
_PLURAL = (FILES, TYPES, "the columns", "the classes")
#: What the facts are about, beside models, monitors and measures.
EVALUATION, STREAM, HOLDOUT = "", "the stream", "the holdout"
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


def fingerprint_of_call(
    evaluator: Any,
    models: Mapping[str, Any],
    settings: Settings,
    stream: Any,
    held_out: Any = None,
    search: Any = None,
) -> Fingerprint:
    """Return what must be the same where this evaluation of a stream goes on.

    `held_out` is the stream of held-out rows, and `search` the search whose candidates the models
    are; None where there is none.

    Raises
    ------
    TypeError
        If something cannot be compared; names it.
    """
    whole = evaluator if search is None else search
    found: Fingerprint = {EVALUATION: {"the evaluator": type(whole).__name__}}
    given = evaluator.get_params(deep=False)
    if search is None:
        del given["error_score"]  # no score before a failure depends on it
    else:
        given |= {name: getattr(search, name) for name in _OF_SEARCH}
    for name, value in given.items():
        if name in IGNORED or (name == "holdout" and held_out is not None):
            continue
        if name == "monitors" and value is not None:
            found[EVALUATION]["the parameter monitors"] = ", ".join(map(str, value))
            for monitor, one in value.items():
                own = {key: its for key, its in one.get_params().items() if key != "detector"}
                _put_parameters(found, f"monitor '{monitor}'", one.detector, own)
            continue
        parts = value if isinstance(value, tuple) else ()
        for k, one in enumerate(parts):
            _put(found, EVALUATION, f"{PARAMETER}{name}[{k}]", one)
        if not parts:
            _put(found, EVALUATION, f"{PARAMETER}{name}", value)
    if search is not None:  # other measures are none of its parameters
        found[EVALUATION]["the parameter metric"] = next(iter(settings.metrics))
    else:
        found[EVALUATION]["the parameter metrics"] = ", ".join(settings.metrics)
    for name, measure in settings.metrics.items():
        how = {"function": measure.function, "formula": measure.formula, "series": measure.series}
        for field, value in {**measure.facts, **how}.items():
            _put(found, f"the measure {name}", f"the {field}", value)
    _put(found, EVALUATION, "the parameter forgetting", settings.forgetting)
    classes = settings.classes
    found[EVALUATION]["the classes"] = "None" if classes is None else str(classes.tolist())
    for name, model in models.items():
        _put_parameters(found, f"model '{name}'", model, parameters_of(model))
        if settings.parameters["warm_start"] or is_compared_whole(model):
            _put(found, f"model '{name}'", "the state", model, compare=content)
    _put_stream(found, STREAM, stream)
    if held_out is not None:
        _put_stream(found, HOLDOUT, held_out)
    return found


def _put_parameters(
    found: Fingerprint, about: str, thing: Any, parameters: Mapping[str, Any]
) -> None:
    """Note the class and each parameter of a model or a monitor's detector."""
    found[about] = {CLASS: name_of(type(thing))}
    text = partial(as_text, listed=listed_in(parameters))
    for name, value in parameters.items():
        _put(found, about, f"{PARAMETER}{name}", value, compare=text)


def _put(
    found: Fingerprint,
    about: str,
    name: str,
    value: Any,
    compare: Callable[[Any], str] = as_text,
) -> None:
    """Note a value, or say that it cannot be compared."""
    try:
        found.setdefault(about, {})[name] = compare(value)
    except NotComparable as error:
        advice = (
            "Define the stream's method row_options, which says what is compared"
            if about in (STREAM, HOLDOUT)
            else "Give an object that can be pickled, such as a number, a text or a function"
        )
        raise TypeError(
            f"checkpoint= compares {_whole_name(about, name)} with that of the run that goes on, "
            f"and {type(value).__name__} cannot be compared: {error}. {advice}, or leave out "
            "checkpoint=."
        ) from error


def _put_stream(found: Fingerprint, about: str, stream: Any) -> None:
    """Note the files, the options and the first rows of a stream; all rows if in memory."""
    facts = found.setdefault(about, {})
    sources = sources_of(stream)
    of_files = [source for source in sources if isinstance(source, FileStream)]
    if of_files:
        names = [os.path.basename(path) for source in of_files for path in source.files]
        contents = [one for source in of_files for one in source.contents()]
        facts[FILES] = ", ".join(names)
        often = Counter(names)
        for k, (size, sample) in enumerate(contents):
            name = names[k] if often[names[k]] == 1 else f"file {k} ({names[k]})"
            facts[f"the size of {name}"] = f"{size:,} bytes"
            if sample is not None:
                facts[f"{CHECKSUM}{name}"] = f"{sample:08x}"
    for name, value in stream.row_options().items():
        _put(found, about, f"{PARAMETER}{name}", value)
    whole = all(map(_is_in_memory, sources))
    facts["the number of rows"] = "unknown" if stream.n_rows is None else f"{stream.n_rows:,}"
    sums = PassChecksums()
    types: dict[str, None] = {}  # in their order
    for chunk in stream:
        head = chunk if whole else chunk.part(0, HEAD - sums.n_rows)
        if not sums.n_rows:
            schema = Schema.of(head.X)
            columns = "" if schema.width is None else f" of {schema.width} columns"
            facts["the kind of rows"] = f"{schema.kind}{columns}"
            if schema.names is not None:
                facts["the columns"] = ", ".join(map(str, schema.names))
        types.setdefault(_types_of(head.X))
        sums.add(*head)
        if sums.n_rows >= HEAD and not whole:
            break
    rows = "" if whole else "first "
    facts[TYPES] = " and then ".join(types)
    for name, checksums in sums.sums().items():
        facts[f"{CHECKSUM}the {rows}{name}"] = f"{crc32(repr(checksums).encode()):08x}"


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


def differences(now: Fingerprint, before: Fingerprint) -> list[str]:
    """Say what differs between two fingerprints."""
    said = []
    for about in {**before, **now}:
        one, other = now.get(about), before.get(about)
        if one is not None and other is not None:
            names = _telling({name: (one.get(name), other.get(name)) for name in {**other, **one}})
            said += [_said(about, name, one.get(name), other.get(name)) for name in names]
        elif not about.startswith("the measure "):  # the names of the measures differ, too
            new = "is in this call and not in the run"
            said.append(f"{about} {'is missing from this call' if one is None else new}")
    more = len(said) - _MOST_SAID
    return [*said[:_MOST_SAID], f"and {more} more differences"] if more > 0 else said


def _telling(pairs: Mapping[str, tuple[str | None, str | None]]) -> list[str]:
    """Return the names of what differs, but for those that follow from others.

    Another class has other parameters, other files have other rows; the parameters of a step follow
    from its class, and the list of steps from the steps in it.
    """
    differing = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if CLASS in differing:
        return [CLASS]
    if TYPES in pairs:  # of a stream
        ranks = {FILES: 0, PARAMETER: 1, TYPES: 3, CHECKSUM: 4}
        rank_of = {
            name: next((rank for begin, rank in ranks.items() if name.startswith(begin)), 2)
            for name in differing
        }
        return [name for name in differing if rank_of[name] == min(rank_of.values())]
    return [name for name in differing if not _follows(name, differing)]


def _follows(name: str, differing: Mapping[str, tuple[str | None, str | None]]) -> bool:
    """Whether a parameter differs since another one does."""
    ends = [k for k in range(len(name)) if name.startswith("__", k)]
    if any(name[:k] in differing for k in ends):
        return True
    one, other = (text or "" for text in differing[name])
    if not one.startswith("["):
        return False
    beside = name[: name.rindex("__") + 2] if ends else PARAMETER
    for step, (its, earlier) in differing.items():
        if step.startswith(beside) and step != name and its is not None and earlier is not None:
            one = one.replace(its, earlier)
    return one == other


def _whole_name(about: str, name: str) -> str:
    return f"{name} of {about}" if about else name


def _said(about: str, name: str, now: str | None, before: str | None) -> str:
    what = _whole_name(about, name)
    if name.startswith(f"{CHECKSUM}the ") and (now is None or before is None):
        # Weights, arrivals or label times, of all rows or of the first.
        given = what.removeprefix(f"{CHECKSUM}the ").removeprefix("first ")
        if now is None:
            return f"no {given} are given, and there were some"
        return f"{given} are given, and there were none"
    one, _, _ = (now or "").rpartition(OF_CONTENT)
    other, _, _ = (before or "").rpartition(OF_CONTENT)
    if one and one == other:
        return f"{what} is {_shown(one, 0)}, of other content"
    are, were = ("are", "were") if name.startswith(_PLURAL) else ("is", "was")
    pairs = enumerate(zip(now or "", before or "", strict=False))
    begin = next((k for k, (a, b) in pairs if a != b), min(len(now or ""), len(before or "")))
    is_long = max(len(now or ""), len(before or "")) > _LONGEST_SHOWN
    begin = max(0, begin - _LONGEST_SHOWN // 2) if is_long else 0  # so that it can be seen
    return f"{what} {are} {_shown(now, begin)} and {were} {_shown(before, begin)}"


def _shown(text: str | None, begin: int) -> str:
    if text is None:
        return "not there"
    start, end = "..." if begin else "", "..." if len(text) > begin + _LONGEST_SHOWN else ""
    return f"{start}{text[begin : begin + _LONGEST_SHOWN]}{end}"


#: Longest text of a timeline, which may hold the delay of every row.
_LONGEST_TIMELINE = 1000


def record(models: Mapping[str, Any], timelines: Sequence[Timeline]) -> dict[str, Any]:
    """Return the versions, the machine, the models and the timelines of an evaluation."""
    texts = [repr(one) for one in timelines]
    return {
        "versions": {**versions(), "scipy": scipy.__version__},
        "platform": dict(_machine()),
        "models": described(models),
        "timelines": [
            one if len(one) <= _LONGEST_TIMELINE else f"{one[:_LONGEST_TIMELINE]}..."
            for one in texts
        ],
    }


def described(models: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the class and the parameters of every model, as texts."""
    found = {}
    for name, model in models.items():
        parameters = parameters_of(model)
        listed = listed_in(parameters)
        texts = {one: _text(value, listed) for one, value in parameters.items()}
        found[name] = {"class": name_of(type(model)), **texts}
    return found


def _text(value: Any, listed: set[int]) -> str:
    try:
        return as_text(value, listed)
    except NotComparable:
        return f"{name_of(type(value))}, which cannot be compared"


@lru_cache(maxsize=1)
def _machine() -> tuple[tuple[str, str], ...]:
    """What the arithmetic of floating-point numbers depends on, beside the versions."""
    blas = [one for one in threadpool_info() if one["user_api"] == "blas"]
    words = {
        " ".join(str(one[key]) for key in ("internal_api", "version", "architecture") if key in one)
        for one in blas
    }
    return (
        ("system", platform.system()),
        ("machine", platform.machine()),
        ("blas", ", ".join(sorted(words))),
    )
