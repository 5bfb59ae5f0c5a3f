"""Digests of what objects hold: the same in every process, and another one for another content."""

import copyreg
import random
from collections.abc import Iterable
from functools import lru_cache, partial
from hashlib import blake2b
from inspect import getattr_static
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any

import numpy as np
from scipy import sparse

from skstream.utils._numba import Jitted, is_dispatcher
from skstream.utils._rows import is_frame
from skstream.utils._sklearn import ADDRESSES

#: Values that are equal if their texts are.
PLAIN = (NoneType, bool, int, float, complex, str, bytes, type(...), type(NotImplemented))

_CACHE = type(lru_cache(len))
_RANDOM = (random.Random, np.random.RandomState, np.random.Generator)
#: What a function does; not where in a file it is written.
_PARTS_OF_CODE = (
    *("co_code", "co_exceptiontable", "co_consts", "co_names", "co_flags"),
    *("co_varnames", "co_freevars", "co_cellvars"),
    *("co_argcount", "co_posonlyargcount", "co_kwonlyargcount"),
)


class NotComparable(TypeError):
    """An object cannot be compared with the one of an earlier process."""


def content(value: Any, *, with_random: bool = True) -> str:
    """Return a digest of all that a value holds, with or without the states of random generators.

    Raises
    ------
    NotComparable
        If there is none: the object cannot be pickled, or never pickles alike.
    """
    reading = _Reading(with_random)
    try:
        found = reading.digest(value)
        if reading.has_objects and _Reading(with_random).digest(value) != found:
            raise NotComparable("its content differs each time that it is read")
    except NotComparable:
        raise
    except RecursionError as error:
        raise NotComparable("it is nested too deeply") from error
    except Exception as error:  # of the __reduce__ of any class
        raise NotComparable(str(error) or type(error).__name__) from error
    return found.hex()


def name_of(thing: Any) -> str:
    """Return where a class or function comes from, and its name there."""
    name = getattr(thing, "__qualname__", None) or thing.__name__
    return f"{getattr(thing, '__module__', None) or ''}.{name}".removeprefix(".")


def is_unordered(pairs: dict[Any, Any]) -> bool:
    """Whether a dict maps plain values to plain values, such as weights of classes.

    The order of such a dict is that of a set where it was made of one, another one in each process.
    """
    return all(type(one) in PLAIN for item in pairs.items() for one in item)


class _Reading:
    """Digests of one object and of the objects in it.

    Attributes
    ----------
    has_objects : bool
        Whether some are known by what they would be pickled as.
    """

    def __init__(self, with_random: bool) -> None:
        self.has_objects = False
        self._with_random = with_random
        self._known: dict[int, tuple[bytes, Any]] = {}  # with the object, so that its id stays
        self._open: dict[int, int] = {}

    def digest(self, value: Any) -> bytes:
        """Return the digest of a value."""
        if type(value) in PLAIN:
            return _hashed(type(value).__name__, repr(value).encode())
        if id(value) in self._open:  # it holds itself
            return _hashed("above", str(self._open[id(value)]).encode())
        if id(value) not in self._known:
            self._open[id(value)] = len(self._open)
            try:
                self._known[id(value)] = self._of(value), value
            finally:
                del self._open[id(value)]
        return self._known[id(value)][0]

    def _all(self, kind: str, values: Iterable[Any]) -> bytes:
        return _hashed(kind, *map(self.digest, values))

    def _of(self, value: Any) -> bytes:
        kind = type(value)
        if kind in (list, tuple):
            return self._all(kind.__name__, value)
        if kind is dict:
            return _hashed("dict", *self._pairs(value.items(), has_no_order=is_unordered(value)))
        if isinstance(value, set | frozenset):
            members = sorted(map(self.digest, value))
            return _hashed(name_of(kind), *members, *self._attributes(value))
        if isinstance(value, np.ma.MaskedArray):
            parts = np.asarray(value.data), np.ma.getmaskarray(value), value.fill_value
            return self._all("masked array", parts)
        if isinstance(value, np.ndarray | np.generic):
            plain = kind is np.ndarray or isinstance(value, np.generic | np.memmap)
            array = self._of_array(np.asarray(value))
            return array if plain else _hashed(name_of(kind), array, *self._attributes(value))
        if is_frame(value) or (hasattr(value, "to_numpy") and hasattr(value, "__len__")):
            return self._all(name_of(kind), _parts_of_table(value))
        if sparse.issparse(value):
            rows = value.tocsr()
            return self._all("sparse", (rows.shape, rows.data, rows.indices, rows.indptr))
        return self._of_code(value) or self._of_object(value)

    def _pairs(self, pairs: Iterable[tuple[Any, Any]], has_no_order: bool) -> list[bytes]:
        found = [self._all("pair", pair) for pair in pairs]
        return sorted(found) if has_no_order else found

    def _attributes(self, value: Any) -> list[bytes]:
        """Return the digest of the attributes of a container of a class of its own, if any."""
        own = getattr(value, "__dict__", None)
        return [self.digest(_in_order(own))] if own else []

    def _of_array(self, values: np.ndarray) -> bytes:
        about = repr((values.dtype, values.shape)).encode()
        if values.dtype.hasobject or values.dtype.kind == "T":
            return _hashed("array", about, self.digest(values.tolist()))
        if not values.nbytes:
            return _hashed("array", about)
        return _hashed("array", about, np.ascontiguousarray(values).reshape(-1).view(np.uint8))

    def _of_code(self, value: Any) -> bytes | None:
        """Return the digest of a function or of what holds code; None for other objects."""
        if isinstance(value, type | ModuleType):
            return _hashed(type(value).__name__, name_of(value).encode())
        if isinstance(value, FunctionType):
            parts = value.__code__, value.__defaults__, value.__kwdefaults__, value.__closure__
            return self._all(name_of(value), [*parts, _in_order(value.__dict__)])
        if isinstance(value, CodeType):
            return self._all("code", [getattr(value, part) for part in _PARTS_OF_CODE])
        if isinstance(value, CellType):
            try:
                return self._all("cell", [value.cell_contents])
            except ValueError:
                return _hashed("empty cell")
        if isinstance(value, MethodType):
            return self._all("method", (value.__func__, value.__self__))
        if isinstance(value, partial):
            return self._all("partial", (value.func, value.args, value.keywords))
        if isinstance(value, _CACHE):
            return self._all("cache", [value.__wrapped__, value.cache_parameters()])
        if isinstance(value, Jitted):  # compiled or not yet
            return self._all("jitted", [value.plain])
        if is_dispatcher(value):
            return self._all("compiled", [value.py_func, _in_order(value.targetoptions)])
        return None

    def _of_object(self, value: Any) -> bytes:
        """Return the digest of what an object would be pickled as."""
        if value is np.random.mtrand._rand:  # whatever has been drawn from it
            return _hashed("the random numbers of NumPy")
        if not self._with_random and isinstance(value, _RANDOM):
            return _hashed("random numbers")
        self.has_objects = True
        reduce = copyreg.dispatch_table.get(type(value))
        reduced: Any = value.__reduce_ex__(4) if reduce is None else reduce(value)
        if isinstance(reduced, str):
            return _hashed("global", f"{getattr(value, '__module__', None)}.{reduced}".encode())
        make, arguments, state, items, pairs = (list(reduced) + [None] * 3)[:5]
        named = isinstance(make, FunctionType | BuiltinFunctionType)
        own = getattr_static(type(value), "__call__", None)
        return self._all(
            name_of(type(value)),
            [
                name_of(make) if named else make,
                arguments,
                _in_order(state),
                None if items is None else list(items),
                None if pairs is None else self._pairs(pairs, has_no_order=False),
                own if isinstance(own, FunctionType) else None,  # a function with a memory
            ],
        )


def _in_order(state: Any) -> Any:
    """Return the attributes of an object by their names, whenever they were set."""
    if isinstance(state, dict):
        kept = (item for item in state.items() if item[0] not in ADDRESSES)
        return sorted(kept, key=lambda item: str(item[0]))
    if isinstance(state, tuple):  # those of a class with slots
        return [_in_order(one) for one in state]
    return state


def _parts_of_table(table: Any) -> list[Any]:
    """Return what makes up a frame, a column or an index of pandas or polars."""
    if is_frame(table):
        columns = table.iloc if hasattr(table, "iloc") else table
        own = [columns[:, k] for k in range(table.shape[1])]
        return [list(table.columns), getattr(table, "index", None), *own]
    kind = getattr(table, "dtype", None)
    return [
        str(kind),
        getattr(kind, "categories", None),
        getattr(table, "name", None),
        getattr(table, "index", None) if hasattr(table, "iloc") else None,
        np.asarray(table),
    ]


def _hashed(kind: str, *parts: Any) -> bytes:
    found = blake2b(kind.encode(), digest_size=8)
    for part in parts:
        found.update(len(part).to_bytes(8))
        found.update(part)
    return found.digest()
