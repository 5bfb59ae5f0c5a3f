"""Loops compiled by numba where it is installed and wanted, plain Python otherwise."""

import functools
import os
from collections.abc import Callable
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from threading import local
from time import perf_counter
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from skstream.utils._optional import optional_import

P = ParamSpec("P")
R = TypeVar("R")

# Both must be unset or "0" for numba to be used.
DISABLING_VARIABLES = ("SKSTREAM_DISABLE_NUMBA", "NUMBA_DISABLE_JIT")
#: If it is 1, loops are compiled however little there is to do.
ALWAYS_COMPILE = "SKSTREAM_ALWAYS_COMPILE"


@functools.cache
def _is_installed() -> bool:
    return find_spec("numba") is not None


def numba_enabled() -> bool:
    """Whether loops run compiled: depends on the configuration, never on the data.

    True if numba is installed and neither environment variable ``SKSTREAM_DISABLE_NUMBA`` nor
    ``NUMBA_DISABLE_JIT`` is set to anything but 0. Does not import numba.
    """
    for name in DISABLING_VARIABLES:
        if os.environ.get(name, "") not in ("", "0"):
            return False
    return _is_installed()


class _OfThread(local):
    """What compiling has cost a thread.

    Attributes
    ----------
    seconds : float
        In which it has imported numba, compiled functions, or loaded their code.
    n_spared : int
        Calls that ran as plain Python, since compiling would have taken longer.
    """

    seconds = 0.0
    n_spared = 0


LOADING = _OfThread()
_LOADED = False  # whether numba was imported for a function


def numba_in_use() -> bool:
    """Whether a function was compiled, or its code loaded, in this process before."""
    return _LOADED


class Jitted(Generic[P, R]):
    """A function that runs compiled or as plain Python; made by `jit`.

    Calling it runs the compiled function if `numba_enabled`, else the plain one.

    Attributes
    ----------
    plain : callable
        The function as written.
    seconds : float
        What compiling it takes, set where that is long; callers then announce their work.
    """

    def __init__(self, function: Callable[P, R], **options: Any):
        self.plain = function
        self.seconds = self._announced = self._expected = 0.0
        self._options = options
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function, compiled or plain."""
        enabled = numba_enabled()
        if enabled and not self.pays:
            LOADING.n_spared += 1
        elif enabled:
            started = perf_counter()
            # Types of arguments for which there is machine code; -1: numba was not asked.
            made: Any = vars(self).get("compiled")
            n_known = -1 if made is None else len(made.overloads)
            answer = self.compiled(*args, **kwargs)
            made = self.compiled
            if len(made.overloads) > n_known:  # the call is as short as the first rows of a run
                LOADING.seconds += perf_counter() - started
            return answer
        with np.errstate(all="ignore"):  # compiled code warns of nothing
            return self.uncompiled(*args, **kwargs)

    def announce(self, seconds: float) -> None:
        """Say that there is work, which takes so many seconds as plain Python."""
        self._announced += seconds

    def expect(self, seconds: float) -> None:
        """Say that so much work will be announced, of which some may have been before."""
        self._expected = max(self._expected, seconds)

    @property
    def pays(self) -> bool:
        """Whether there is machine code, or making it takes no longer than the work without it."""
        worth = max(self._announced, self._expected) >= self.seconds
        return worth or os.environ.get(ALWAYS_COMPILE) == "1" or self._is_at_hand

    @property
    def _is_at_hand(self) -> bool:
        """Whether there is machine code of the function in this process, or in numba's files."""
        compiled: Any = self.compiled
        try:  # not documented: where numba has changed, the function is compiled
            return bool(compiled.overloads or compiled._cache._cache_file._load_index())
        except Exception:
            return type(getattr(compiled, "_cache", None)).__name__ != "NullCache"

    @property
    def is_compiled(self) -> bool:
        """Whether the function was compiled already in this process."""
        return "compiled" in vars(self)

    @functools.cached_property
    def uncompiled(self) -> Callable[P, R]:
        """The function as written, calling the functions that it uses as written, too."""
        return _calling_helpers(self.plain, "uncompiled")

    @functools.cached_property
    def compiled(self) -> Callable[P, R]:
        """The function compiled by numba, which is imported now at the latest."""
        global _LOADED
        numba = optional_import("numba", "A compiled loop")
        _LOADED = True
        # Without fastmath LLVM neither reorders sums nor fuses a product with a sum, so that
        # every operation rounds as it does in Python. error_model: 1 / 0 is inf, as in C.
        options: dict[str, Any] = {"nogil": True, "fastmath": False, "error_model": "numpy"}
        function = _calling_helpers(self.plain, "compiled")
        # Not all of these are documented. An option that this numba does not have is left out: the
        # code is right without it, and slower.
        known = getattr(getattr(numba.core, "cpu", None), "CPUTargetOptions", None)
        options |= {name: v for name, v in self._options.items() if hasattr(known, name)}
        try:
            compiled = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no directory in which the machine code can be stored
            compiled = numba.njit(**options)(function)
        return cast(Callable[P, R], compiled)


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Compile a function at its first call if numba is enabled; a decorator.

    The function may call others decorated the same way, which are globals of its file. Machine code
    is kept on disk, and made anew when this file changes, or one from which it imports them.

    Parameters
    ----------
    function : callable
        Written in the subset of Python that numba knows.

    Returns
    -------
    Jitted
        Behaves like the function.

    Examples
    --------
    >>> from skstream.utils._numba import jit
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> double.plain(2.0)
    4.0
    """
    return Jitted(function)


def jit_of_row(function: Callable[P, R]) -> Jitted[P, R]:
    """Compile a function that is called at every row with many arrays; a decorator like `jit`.

    It is put into its callers, and references to arrays are not counted: each of the two would
    take longer than what such a function does. It may not make an array, nor copy one into a slice,
    and neither may its callers, which have this decorator, or `jit_without_arrays`.

    Parameters
    ----------
    function : callable
        Written in the subset of Python that numba knows.

    Returns
    -------
    Jitted
        Behaves like the function.
    """
    return Jitted(function, _nrt=False, forceinline=True)


def jit_without_arrays(function: Callable[P, R]) -> Jitted[P, R]:
    """Compile a function that makes no arrays, as `jit_of_row`, but not into its callers.

    Parameters
    ----------
    function : callable
        Written in the subset of Python that numba knows.

    Returns
    -------
    Jitted
        Behaves like the function.
    """
    return Jitted(function, _nrt=False)


def is_dispatcher(value: Any) -> bool:
    """Whether numba made it of a function, which is its `py_func`."""
    return type(value).__module__.startswith("numba.") and hasattr(value, "py_func")


def _calling_helpers(function: Callable[P, R], form: str) -> Callable[P, R]:
    """Copy of a function that calls jitted functions directly in one form, an attribute of them."""
    assert isinstance(function, FunctionType)
    names = function.__globals__
    helpers = {
        name: getattr(names[name], form)
        for name in function.__code__.co_names
        if isinstance(names.get(name), Jitted)
    }
    if not helpers:
        return function
    copy = functools.update_wrapper(
        FunctionType(function.__code__, {**names, **helpers}, function.__name__), function
    )
    others = _other_files(function)
    if others:
        # numba notices when the file of a function changes, and keeps code by its name.
        contents = b"".join(Path(file).read_bytes() for file in sorted(others))
        copy.__qualname__ += f"_{blake2b(contents, digest_size=8).hexdigest()}"
    return copy


def _other_files(function: Callable[..., Any]) -> set[str]:
    """Other files with jitted functions that the file of a function imports, to any depth."""
    found: set[str] = set()
    todo = [function]
    for one in todo:
        for value in one.__globals__.values():
            if isinstance(value, Jitted):
                file = value.plain.__code__.co_filename
                if file not in {*found, function.__code__.co_filename}:
                    found.add(file)
                    todo.append(value.plain)
    return found
