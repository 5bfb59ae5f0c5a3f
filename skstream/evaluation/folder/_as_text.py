"""Values as short texts that are equal where the values are, in every process."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from types import FunctionType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from skstream.utils._content import PLAIN, content, name_of

#: Values that their text tells apart.
_SHOWN = (*PLAIN, date, datetime, time, timedelta, Decimal, Fraction, PurePath, range, slice)
#: Longest text of a value and most values in one; of others a digest is compared.
_LONGEST, _MOST = 20_000, 1000
#: What stands between the kind of a value and the digest of what it holds.
OF_CONTENT = " of content "


def as_text(value: Any) -> str:
    """Return a text that is the same in every process for equal values, and short.

    Raises
    ------
    NotComparable
        If the value cannot be compared with one of an earlier process.
    """
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if isinstance(value, _SHOWN) and not isinstance(value, Enum):
        return _short(repr(value), value)
    if isinstance(value, dict | list | tuple | set | frozenset) and len(value) >= _MOST:
        return f"{type(value).__name__} of {len(value):,}{OF_CONTENT}{content(value)}"
    if isinstance(value, Mapping):
        pairs = (f"{as_text(key)}: {as_text(one)}" for key, one in value.items())
        return _short(f"{{{', '.join(pairs)}}}", value)
    if isinstance(value, tuple):
        return _short(f"({', '.join(map(as_text, value))})", value)
    if isinstance(value, list):
        return _short(f"[{', '.join(map(as_text, value))}]", value)
    if isinstance(value, set | frozenset):
        return _short(f"{type(value).__name__}({', '.join(sorted(map(as_text, value)))})", value)
    if isinstance(value, np.ndarray) and value.size <= 1 and not np.ma.isMaskedArray(value):
        return f"array {as_text(value.tolist())} of type {value.dtype}"
    if isinstance(value, type):
        return name_of(value)
    if isinstance(value, partial):
        return f"partial{as_text((value.func, value.args, value.keywords))}"
    if hasattr(value, "get_params") and not is_compared_whole(value):
        return f"{name_of(type(value))}{as_text(parameters_of(value))}"
    return f"{_kind_of(value)}{OF_CONTENT}{content(value)}"


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the parameters of a model and of the models in it; none where it cannot say them."""
    try:
        return dict(model.get_params(deep=True))
    except Exception:  # of other libraries, with other ideas of what a parameter is
        return {}


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
