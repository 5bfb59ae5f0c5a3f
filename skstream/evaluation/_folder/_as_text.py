"""Values as short texts that are equal where the values are, in every process."""

from collections.abc import Collection, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from skstream.utils._content import PLAIN, content, is_unordered, name_of

#: Values that their text tells apart.
_SHOWN = (*PLAIN, date, datetime, time, timedelta, Decimal, Fraction, PurePath, range, slice)
#: Where the classes of such values are from: those of others may hold more than their text.
_OF_PYTHON = {one.__module__.partition(".")[0] for one in _SHOWN}
#: Longest text of a value and most values in one; of others a digest is compared.
_LONGEST, _MOST = 20_000, 1000
#: What stands between the kind of a value and the digest of what it holds.
OF_CONTENT = " of content "


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
    if isinstance(value, _SHOWN) and kind.__module__.partition(".")[0] in _OF_PYTHON:
        return _short(repr(value), value)
    if kind in (dict, list, tuple, set, frozenset) and len(value) >= _MOST:
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
