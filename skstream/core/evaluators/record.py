"""What an evaluation is made of, as texts: results note it, and checkpoints are compared by it."""

import platform
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import PurePath
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np
import scipy
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_info

from skstream.base import learning_parts
from skstream.core.evaluators.settings import Settings
from skstream.core.timelines.timeline import Timeline
from skstream.utils._content import PLAIN, NotComparable, content, is_unordered, name_of
from skstream.utils._version import __version__

#: Parameters of an evaluator on which no answer and no score before a failure depends.
FREE = ("n_jobs", "progress", "error_score")
#: Values that differ if and only if their texts differ.
_BY_TEXT = (*PLAIN, date, datetime, time, timedelta, Decimal, Fraction, PurePath, range, slice)
#: Where the classes of such values are from: those of others may hold more than their text.
_OF_PYTHON = {kind.__module__.partition(".")[0] for kind in _BY_TEXT}
#: Longest text of a value and most values in one; of others a digest is compared.
_LONGEST, _MOST_VALUES = 20_000, 1000
#: What stands between the kind of a value and the digest of what it holds.
_OF_CONTENT = " of content "
#: End of the texts of values that cannot be told from others.
_NOT_COMPARABLE = ", which cannot be compared"
#: Longest text of a timeline, which may hold the delay of every row.
_LONGEST_TIMELINE = 1000
#: Longest text of a value in an error.
_LONGEST_SHOWN = 80


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
        written = repr(value)
    elif kind in (dict, list, tuple, set, frozenset) and len(value) >= _MOST_VALUES:
        return f"{kind.__name__} of {len(value):,}{_OF_CONTENT}{content(value)}"
    elif kind in (dict, MappingProxyType):
        pairs = [f"{text(key)}: {text(item)}" for key, item in value.items()]
        written = f"{{{', '.join(sorted(pairs) if is_unordered(value) else pairs)}}}"
    elif kind is tuple:
        written = f"({', '.join(map(text, value))})"
    elif kind is list:
        written = f"[{', '.join(map(text, value))}]"
    elif kind in (set, frozenset):
        written = f"{kind.__name__}({', '.join(sorted(map(text, value)))})"
    elif kind is np.ndarray and value.size <= 1:
        return f"array {text(value.tolist())} of type {value.dtype}"
    elif isinstance(value, type):
        return name_of(value)
    elif isinstance(value, partial):
        return f"partial{text((value.func, value.args, value.keywords))}"
    elif id(value) in listed:
        return name_of(kind)
    elif hasattr(value, "get_params") and not _is_compared_whole(value):
        return f"{name_of(type(value))}{text(_parameters_of(value))}"
    else:
        return f"{_kind_of(value)}{_OF_CONTENT}{content(value)}"
    if len(written) <= _LONGEST:
        return written
    return f"{kind.__name__} of {len(value):,}{_OF_CONTENT}{content(value)}"


def _parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model and of the models in it; none where it cannot say them."""
    try:
        return dict(model.get_params(deep=True))
    except Exception:  # of other libraries, with other ideas of what a parameter is
        return {}


def _is_compared_whole(model: Any) -> bool:
    """Whether a model is more than its parameters: also a copy keeps what it has learnt."""
    try:
        model.get_params(deep=True)
    except Exception:
        return True
    own = getattr(type(model), "__sklearn_clone__", None)  # that of FrozenEstimator, say
    return own is not None and own is not BaseEstimator.__sklearn_clone__


def _kind_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        kind = "array" if type(value) is np.ndarray else name_of(type(value))
        return f"{kind} of shape {value.shape}"
    if sparse.issparse(value):
        return f"sparse matrix of shape {value.shape}"
    return name_of(value) if isinstance(value, FunctionType) else name_of(type(value))


# -- what must be the same where an evaluation resumes


def facts_of_call(
    evaluator: Any, models: Mapping[str, Any], settings: Settings, called: Mapping[str, Any]
) -> dict[str, str]:
    """Return, by its name, the text of all that must be the same where an evaluation resumes.

    The rows are not among it: their checksums are compared when they are read. `called` are the
    arguments of the call that decide what comes out.

    Raises
    ------
    TypeError
        If something cannot be compared; names it.
    """
    given: dict[str, Any] = {
        "the evaluator": type(evaluator),
        "the classes": None if settings.classes is None else settings.classes.tolist(),
        "the names of the models": list(models),
    }
    for name, value in {**evaluator._parameters(), **called}.items():
        held_out = name == "holdout" and not isinstance(value, str)  # these rows are compared, too
        if name not in FREE and not held_out:
            given[f"the parameter {name}"] = value
    texts = {name: _text(value) for name, value in given.items()}
    for name, own in described(models).items():
        texts |= {f"{what} of model '{name}'": text for what, text in own.items()}
    for name, model in models.items():
        if called["warm_start"] or _is_compared_whole(model):
            texts[f"what model '{name}' has learnt before"] = _text(model, whole=True)
    for name, text in texts.items():
        if text.endswith(_NOT_COMPARABLE):
            raise TypeError(
                f"checkpoint= compares {name} with that of the earlier call, but {text}: it cannot "
                "be pickled, or never pickles the same way. Use a number, a text or an importable "
                "function, or leave out checkpoint=."
            )
    return texts | {f"the version of {name}": version for name, version in _versions().items()}


def changes(now: Mapping[str, str], before: Mapping[str, str]) -> str:
    """Name the first of the facts that differ, and say how many more do; empty if none does."""
    names = [name for name in {**before, **now} if now.get(name) != before.get(name)]
    if not names:
        return ""
    was, is_now = before.get(names[0], "absent"), now.get(names[0], "absent")
    said = f"{names[0]} is {is_now} and was {was}"
    if max(len(was), len(is_now)) > _LONGEST_SHOWN or _OF_CONTENT in was + is_now:
        said = f"{names[0]} is different"
    return f"{said}, and {len(names) - 1} more differ" if len(names) > 1 else said


# -- what a result notes


def record(models: Mapping[str, Any], timelines: Sequence[Timeline]) -> dict[str, Any]:
    """Return the versions, the machine, the models and the timelines of an evaluation."""
    texts = list(map(repr, timelines))
    for number, text in enumerate(texts):
        if len(text) > _LONGEST_TIMELINE:
            texts[number] = f"{text[:_LONGEST_TIMELINE]}..."
    return {
        "versions": {**_versions(), "scipy": scipy.__version__},
        "platform": dict(_machine()),
        "models": described(models),
        "timelines": texts,
    }


def described(models: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the class and the parameters of every model, as texts."""
    found = {}
    for name, model in models.items():
        parameters = _parameters_of(model)
        found[name] = texts = {"class": name_of(type(model))}
        for part in learning_parts(model, refitted=False):
            if type(part) is Pipeline or getattr(part, "_is_made_of_pipeline", False):
                texts["taken"] = "its Pipeline as a StreamPipeline of the same steps"
        # Models among the parameters whose own parameters are also among them.
        listed = set()
        for parameter, value in parameters.items():
            if not hasattr(value, "get_params") or isinstance(value, type):
                continue
            own = {f"{parameter}__{inner}" for inner in _parameters_of(value)}
            if not _is_compared_whole(value) and own <= parameters.keys():
                listed.add(id(value))
        for parameter, value in parameters.items():
            texts[parameter] = _text(value, listed)
    return found


def _text(value: Any, listed: Collection[int] = (), *, whole: bool = False) -> str:
    try:
        return f"{_OF_CONTENT}{content(value)}" if whole else as_text(value, listed)
    except NotComparable:
        return f"{name_of(type(value))}{_NOT_COMPARABLE}"


def _versions() -> dict[str, str]:
    return {
        "skstream": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


@lru_cache(maxsize=1)
def _machine() -> tuple[tuple[str, str], ...]:
    """What the arithmetic of floating-point numbers depends on, beside the versions."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    words = {
        " ".join(str(pool[k]) for k in ("internal_api", "version", "architecture") if k in pool)
        for pool in pools
    }
    return (
        ("system", platform.system()),
        ("machine", platform.machine()),
        ("blas", ", ".join(sorted(words))),
    )
