"""What was loaded from a file that may be anything: whether its values have the types they need."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

#: Kinds of NumPy values of numbers, of numbers that count, and of labels.
NUMBERS, COUNTS, LABELS, TIMES = "fiu", "iu", "biufUSM", "fM"


@contextmanager
def fitting(path: Path, what: str) -> Iterator[None]:
    """Raise one error that names the file where what was read from it does not fit together.

    Parameters
    ----------
    path : Path
        The file.
    what : str
        What it should be, as in "a result saved by skstream".
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # wrong values can end in any error
        why = f"its parts do not fit together ({error})"
        if isinstance(error, KeyError):
            why = f"its part {error} is missing"
        raise ValueError(f"{path} is not {what}: {why}.") from error


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
    if is_dataclass(kind):
        hints = get_type_hints(type(value))
        for field in fields(value):
            check_types(getattr(value, field.name), hints[field.name], field.name)
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
